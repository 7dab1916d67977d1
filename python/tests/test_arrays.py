# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of any layout are read and written where they are; what cannot be is one clear
exception."""

import array
import ctypes
import unittest

from helper import Folder, needs_numpy, numpy, python, uniform
from helper import random as helper_random

import bitcut

WAY = {"recipe": "ootomo", "unit": "a100"}
M, N, K = 9, 7, 20


def turned(x):
    return numpy.asfortranarray(x)


def gaps(x):
    """In a larger array, row by row."""
    big = numpy.full(x.shape[:-2] + (x.shape[-2], x.shape[-1] + 3), 7, x.dtype)
    big[..., :-3] = x
    return big[..., :-3]


def turned_gaps(x):
    return numpy.swapaxes(gaps(numpy.ascontiguousarray(numpy.swapaxes(x, -1, -2))), -1, -2)


def every_other_row(x):
    big = numpy.full(x.shape[:-2] + (2 * x.shape[-2], x.shape[-1]), 7, x.dtype)
    big[..., ::2, :] = x
    return big[..., ::2, :]


LAYOUTS = [numpy and numpy.ascontiguousarray, turned, gaps, turned_gaps, every_other_row]


class Interface:
    """An object with nothing but __array_interface__."""

    def __init__(self, **changes):
        self.numbers = (ctypes.c_float * 4)(1, 2, 3, 4)
        self.__array_interface__ = {
            "version": 3, "shape": (2, 2), "typestr": "<f4",
            "data": (ctypes.addressof(self.numbers), False), **changes}


@needs_numpy
class Layouts(Folder):
    def test_all(self):
        a, b, c = uniform(M, K), uniform(K, N, seed=2), uniform(M, N, seed=3)
        want = bitcut.gemm(a, b, c=c, **WAY).d
        for of_a in LAYOUTS:
            for of_b in LAYOUTS:
                x, y, z = of_a(a), of_b(b), of_b(c)
                d = of_a(numpy.zeros((M, N), "f4"))
                base = d.base if d.base is not None else d
                before = base.copy()
                got = bitcut.gemm(x, y, c=z, out=d, **WAY)
                self.assertIs(got.d, d)
                self.same_bits(d, want, f"{of_a.__name__} {of_b.__name__}")
                self.assertTrue(bitcut.verify(d, x, y, c=z, **WAY))
                self.assertEqual(got.judge().relres,
                                 bitcut.judge(want, a, b, c=c, **WAY).relres)
                d[...] = 0
                self.same_bits(base, before if base is not d else base)

    def test_batches(self):
        a, b = uniform(4, M, K), uniform(4, K, N, seed=2)
        want = numpy.stack([bitcut.gemm(x, y, **WAY).d for x, y in zip(a, b)])
        for of in [numpy.ascontiguousarray, gaps, turned_gaps, every_other_row,
                   lambda x: numpy.repeat(x, 2, axis=0)[::2]]:
            self.same_bits(bitcut.gemm(of(a), of(b), **WAY).d, want)
        shared = numpy.stack([bitcut.gemm(x, b[0], **WAY).d for x in a])
        self.same_bits(bitcut.gemm(a, b[0], **WAY).d, shared)
        self.same_bits(bitcut.gemm(a, b[:1], **WAY).d, shared)
        broadcast = numpy.broadcast_to(b[0], b.shape)
        self.same_bits(bitcut.gemm(a, broadcast, **WAY).d, shared)
        shared[2, 3, 4] += 1
        self.assertEqual(bitcut.verify(shared, a, b[0], **WAY).first["at"], [2, 3, 4])
        self.assertEqual(bitcut.gemm(a[:0], b[:0], **WAY).d.shape, (0, M, N))

    def test_no_copy(self):
        """What is read is the array itself."""
        a, b = uniform(M, K), uniform(K, N)
        for x in (a, turned(a), gaps(a)):
            kept = bitcut.gemm(x, b, **WAY)._problem.a.view
            self.assertEqual(kept.address, x.ctypes.data)

    def test_formats(self):
        a, b = uniform(M, K), uniform(K, N)
        for name, kind in (("f16", "f2"), ("bf16", "u2"), ("e4m3", "u1"), ("tf32", "u4")):
            words = bitcut.split(a, {"f16": "half", "bf16": "bf16", "tf32": "tf32-rn",
                                     "e4m3": "half-e4m3"}[name])
            x = words[len(words) - 1]
            back = numpy.empty((M, K), "f4")
            bitcut._arrays.convert(back.ctypes.data, "f32", x.ctypes.data, name, x.size)
            self.assertEqual(x.dtype, numpy.dtype(kind))
            self.same_bits(bitcut.gemm(x, b, format_a=name, **WAY).d,
                           bitcut.gemm(back, b, **WAY).d, name)
            d = bitcut.gemm(a, b, format_d=name, **WAY).d
            self.assertEqual(d.dtype, numpy.dtype(kind))
            self.assertTrue(bitcut.verify(d, a, b, format_d=name, **WAY))

    def test_convert(self):
        """By integers and by the rounding of NumPy; of bf16 the upper half of FP32."""
        x = numpy.concatenate([uniform(40, 50).ravel() * 2.0**p for p in (-130, -20, -10, 0, 9)])
        x = numpy.append(x, [numpy.inf, -numpy.inf, 0.0, -0.0]).astype("f4")
        with numpy.errstate(over="ignore"):
            self.same_bits(bitcut.convert(x, "f16"), x.astype("f2"))
        self.same_bits(bitcut.convert(x, "f64"), x.astype("f8"))
        self.same_bits(bitcut.convert(x.astype("f2"), copy=True), x.astype("f2").astype("f4"))
        cut = numpy.asarray(bitcut.convert(x, "bf16", rounding="rz")).view("u2")
        self.assertTrue((cut == x.view("u4") >> 16).all())
        back = bitcut.convert(cut, format="bf16")
        self.same_bits(back, (x.view("u4") & 0xffff0000).view("f4"))
        largest = bitcut.convert(numpy.float32([1e9, -1e9, 3]), "e4m3", rounding="rn-sat")
        self.assertEqual(bitcut.convert(largest, format="e4m3").tolist(), [448, -448, 3])
        self.assertEqual(bitcut.convert(x[:0], "e4m3").shape, (0,))
        for given, why in (((cut,), "encodings; format names"), ((x, "f17"), "f17"),
                           ((x[::2], "f16"), "copy=True")):
            with self.assertRaisesRegex(bitcut.Error, why):
                bitcut.convert(*given)
        with self.assertRaisesRegex(bitcut.BadArgument, "do not hold bf16"):
            bitcut.convert(x, format="bf16")
        with self.assertRaisesRegex(bitcut.BadArgument, "unknown rounding"):
            bitcut.convert(x, rounding="up")

    def test_mufu(self):
        """Every function, against results that a device gave, and by powers of two."""
        for row in bitcut.functions():
            kind = {"f16": "f2", "f32": "f4", "f64": "f8", "bf16": "u2"}[row["format"]]
            one = numpy.full(3, 0x3f80, "u2") if kind == "u2" else numpy.ones(3, kind)
            y = bitcut.mufu(one, row["name"])
            self.assertEqual(y.shape, (3,))
            wide = bitcut.convert(numpy.asarray(y).view("u2"), format="bf16") if kind == "u2" else y
            function = {"ex2": numpy.exp2, "rcp": numpy.reciprocal, "lg2": numpy.log2,
                        "rsqrt": numpy.reciprocal, "sqrt": numpy.sqrt, "tanh": numpy.tanh,
                        "sin": numpy.sin, "cos": numpy.cos}[row["name"].split(".")[0]]
            self.assertLess(abs(float(wide[0]) - function(1.0)), 4e-3, row["name"])
        x = numpy.float32([[0.5, 3], [-128, 128]])
        self.assertEqual(bitcut.mufu(x).view("u4").tolist(),
                         [[0x3fb504f3, 0x41000000], [0, 0x7f800000]])
        self.assertEqual(bitcut.mufu(x[:0]).shape, (0, 2))
        for given, why in (((x, "ex2"), "unknown function"), ((x, "ex2.approx.f16"), "do not hold f16"),
                           ((x.T, ), "copy=True")):
            with self.assertRaisesRegex(bitcut.BadArgument, why):
                bitcut.mufu(*given)
        self.same_bits(bitcut.mufu(x.T, copy=True), bitcut.mufu(x).T.copy())

    def test_copies(self):
        a, b = uniform(M, 2 * K)[:, ::2], uniform(K, N)[::-1]
        with self.assertRaisesRegex(bitcut.BadArgument, "A: strides .*copy=True"):
            bitcut.gemm(a, b, **WAY)
        self.same_bits(bitcut.gemm(a, b, copy=True, **WAY).d,
                       bitcut.gemm(a.copy(), b.copy(), **WAY).d)
        with self.assertRaisesRegex(bitcut.BadArgument, "A: strides .*copy=True"):
            bitcut.exact(a, b.copy())
        self.same_bits(bitcut.exact(a, b, copy=True), bitcut.exact(a.copy(), b.copy()))
        with self.assertRaisesRegex(bitcut.BadArgument, "copy=True"):
            bitcut.split(a)
        self.same_bits(bitcut.split(a, copy=True)[0], bitcut.split(a.copy())[0])
        half = a.astype("f2")
        self.same_bits(bitcut.exact(half, b, copy=True),
                       bitcut.exact(half.astype("f4"), b.copy()))

    def test_in_place(self):
        a, b, c = uniform(M, K), uniform(K, N), uniform(M, N)
        want = bitcut.gemm(a, b, c=c, **WAY).d
        bitcut.gemm(a, b, c=c, out=c, **WAY)
        self.same_bits(c, want)


@needs_numpy
class Integers(unittest.TestCase):
    """Arrays of integers are operands of units of integers; D is s32."""

    def test_exact(self):
        a = (numpy.arange(6 * 40) * 37 % 256).astype("u1").reshape(6, 40)
        b = (numpy.arange(40 * 5) * 91 % 256).astype("u1").view("i1").reshape(40, 5)
        how = {"recipe": "plain", "unit": "avx512/vpdpbusd.m1n16k4.s32.u8.s8"}
        exact = a.astype("i8") @ b.astype("i8")
        d = bitcut.gemm(a, b, **how).d
        self.assertEqual(d.dtype, "i4")
        self.assertTrue((d == exact).all())
        self.assertTrue(bitcut.verify(d, a, b, **how))
        short = bitcut.gemm(a, b, format_d="s8", **how).d
        self.assertEqual(short.dtype, "i1")
        self.assertTrue((short == exact.astype("i1")).all())
        self.assertIn("modulo 2^8 (s8)", str(bitcut.explain(short, a, b)))
        with self.assertRaisesRegex(bitcut.BadArgument, "A has the format s8"):
            bitcut.gemm(b.T, a.T, **how)

    def test_zero_points(self):
        random = helper_random()
        a = random.integers(0, 256, (6, 40)).astype("u1")
        b = random.integers(-128, 128, (40, 5)).astype("i1")
        how = {"recipe": "plain", "unit": "avx512/vpdpbusd.m1n16k4.s32.u8.s8", "zero_a": 121,
               "zero_b": -7}
        exact = (a.astype("i8") - 121) @ (b.astype("i8") + 7)
        d = bitcut.gemm(a, b, **how).d
        self.assertTrue((d == exact).all())
        self.assertTrue(bitcut.verify(d, a, b, **how))
        self.assertFalse(bitcut.verify(d, a, b, **{**how, "zero_b": 7}))
        self.assertTrue((bitcut.gemm(a, b, epilogue="zeros", **how).d == exact).all())
        wide = a.astype("f4") * 2 + numpy.float32(0.25)  # rounded, and limited to 255
        limited = numpy.rint(wide).clip(0, 255).astype("i8")
        self.assertTrue((bitcut.gemm(wide, b.astype("f4"), **how).d ==
                         (limited - 121) @ (b.astype("i8") + 7)).all())
        scale, bias = numpy.float32(1 / 512), random.integers(-9, 9, 5).astype("f4") / 4
        v = exact.astype("f4") * scale + bias
        for epilogue, q in (("requantized-zero", numpy.rint(v) + 5),
                            ("requantized-zero-first", numpy.rint(v + numpy.float32(5)))):
            got = bitcut.gemm(a, b, **how, scale_a=scale, bias=bias, epilogue=epilogue, zero_d=5,
                              format_d="u8").d
            self.assertTrue((got == q.clip(0, 255)).all(), epilogue)
        for more, words in (({"zero_a": 2**31}, "zero_a: 2147483648 is not"),
                            ({"zero_d": 1}, "a zero point of D, which no step"),
                            ({"unit": "fma/f32"}, "require a unit of integers")):
            with self.assertRaisesRegex(bitcut.BadArgument, words):
                bitcut.gemm(a, b, **{**how, **more})


@needs_numpy
class Refused(unittest.TestCase):
    def refused(self, words, call, *arguments, kind=bitcut.BadArgument, **more):
        with self.assertRaisesRegex(kind, words) as caught:
            call(*arguments, **{**WAY, **more})
        self.assertNotIn("\n", str(caught.exception))
        self.assertIsInstance(caught.exception, bitcut.Error)

    def test_types(self):
        a, b = uniform(M, K), uniform(K, N)
        for x in (a.astype("i8"), a.astype("c8"), a.astype("?"), a.astype("f8").astype("g"),
                  a.astype(">f4"), a.astype("M8[s]"), a.astype("S4"), a.astype(object)):
            self.refused("^A: elements", bitcut.gemm, x, b, kind=bitcut.BadType)
        for x in (None, 3, "A", [[1.0]], object(), {}):
            self.refused("^A: .* no array", bitcut.gemm, x, b, kind=bitcut.BadType)
        self.refused("^A: .*format_a", bitcut.gemm, a.view("u2")[:, ::2], b)
        self.refused("do not hold", bitcut.gemm, a, b, format_a="bf16")
        self.refused("unknown format", bitcut.gemm, a, b, format_a="f17")
        self.refused("masked", bitcut.gemm, numpy.ma.masked_array(a, a > 0), b,
                     kind=bitcut.BadType)
        self.refused("values are none of FP32", bitcut.gemm, a.astype("f8") + 1e-12, b)
        self.refused("values are none of FP32", bitcut.gemm, numpy.full((M, K), 1e300), b)

    def test_shapes(self):
        a, b = uniform(M, K), uniform(K, N)
        self.refused("do not multiply", bitcut.gemm, a, b.T)
        for x in (a[0], a[0, 0], a[None, None]):
            self.refused("^A: . dimensions", bitcut.gemm, x, b)
        self.refused("batches of", bitcut.gemm, uniform(2, M, K), uniform(3, K, N))
        self.refused("^C is", bitcut.gemm, a, b, c=a)
        self.refused("^D is", bitcut.gemm, a, b, out=numpy.zeros((N, M), "f4"))
        self.refused("^D is", bitcut.verify, a, a, b)
        self.refused("invalid GEMM index", bitcut.judge, uniform(M, N), a, b, index=1)
        self.refused("at least 1", bitcut.tolerance, a[:0], b)

    def test_zero_sizes(self):
        a, b = uniform(M, K), uniform(K, N)
        self.assertEqual(bitcut.gemm(a[:0], b, **WAY).d.shape, (0, N))
        self.assertEqual(bitcut.gemm(a[:, :0], b[:0], **WAY).d.tolist(), [[0.0] * N] * M)
        self.assertEqual(bitcut.exact(a[:, :0], b[:0]).tolist(), [[0.0] * N] * M)
        self.assertEqual(bitcut.exact(a[:0], b[:, :0]).shape, (0, 0))
        self.assertEqual(bitcut.split(a[:0])[1].shape, (0, K))
        self.assertTrue(bitcut.verify(uniform(0, N), a[:0], b, **WAY))

    def test_strides(self):
        a, b = uniform(M, K), uniform(K, N)
        wild = numpy.lib.stride_tricks.as_strided
        for strides in ((2**62, 4), (4, 2**62), (-2**62, 4), (4000, 4), (2**40, 4)):
            self.refused("^A: ", bitcut.gemm, wild(a, (M, K), strides), b)
        for strides in ((0, 4), (4, 0), (2, 4), (4, 4)):
            self.refused("^A: strides", bitcut.gemm, wild(a, (M, K), strides), b)
        for huge in ((2**40, K), (2**30, 2**20)):
            self.refused("^A: ", bitcut.gemm, wild(a, huge, (0, 0)), b)
        odd = numpy.frombuffer(bytes(4 * M * K + 1), "u1")[1:].view("f4").reshape(M, K)
        self.refused("not aligned", bitcut.gemm, odd, b)
        self.refused("more bytes than|out of memory", bitcut.gemm,
                     numpy.zeros((2**40, 0), "f4"), numpy.zeros((0, 2**40), "f4"),
                     kind=(bitcut.BadArgument, bitcut.NoMemory))

    def test_outputs(self):
        a, b = uniform(M, K), uniform(K, N)
        d = numpy.zeros((M, N), "f4")
        d.flags.writeable = False
        self.refused("cannot be written", bitcut.gemm, a, b, out=d)
        self.refused("cannot be written", bitcut.gemm, a, b, out=memoryview(bytes(4 * M * N))
                     .cast("f", (M, N)))
        self.refused("neither row-major", bitcut.gemm, a, b,
                     out=numpy.zeros((M, 2 * N), "f4")[:, ::2], copy=True)
        square = uniform(8, 8)
        self.refused("D overlaps A", bitcut.gemm, square, square.copy(), out=square)
        self.refused("D overlaps C", bitcut.gemm, square.copy(), square.copy(), c=square,
                     out=square.T)
        self.refused("float64", bitcut.gemm, a, b, out=numpy.zeros((M, N)), kind=bitcut.BadType)

    def test_numbers_and_names(self):
        a, b = uniform(M, K), uniform(K, N)
        for more, words in (({"recipe": "ootom"}, "did you mean"), ({"unit": "a101"}, "did you mean"),
                            ({"unit": ""}, "no name"), ({"recipe": "x,scale=3"}, "no name"),
                            ({"scale": -1}, "scale"), ({"promote": 2**40}, "promote"),
                            ({"threads": -1}, "threads"), ({"threads": 2**31}, "threads"),
                            ({"order": "sheep=3"}, "sheep"), ({"order": {"tile": -1}}, "tile"),
                            ({"split": "half", "dropped_term": True}, ""),
                            ({"beta": 1.0}, "no C"), ({"recipe": "a\0b"}, "character 0")):
            self.refused(words, bitcut.gemm, a, b, **more)
        for more in ({"scale": 1.5}, {"alpha": "x"}, {"recipe": 3}, {"order": 3},
                     {"threads": None}):
            self.refused("", bitcut.gemm, a, b, kind=bitcut.BadType, **more)
        self.refused("no argument", bitcut.judge, a, a, b, kind=bitcut.BadType, sheep=1)
        self.refused("metric", bitcut.advise, a, b, metric="x")
        self.refused("bound", bitcut.bound, a, b, name="x")

    def test_nothing_but_nan(self):
        nan = numpy.full((8, 8), numpy.nan, "f4")
        self.assertTrue(numpy.isnan(bitcut.gemm(nan, nan, **WAY).d).all())
        self.assertEqual(bitcut.exact(nan, nan).view("u4").tolist(), [[0x7fc00000] * 8] * 8)
        self.assertNotEqual(bitcut.budget(nan, nan, **WAY).error["rms"], 0)
        self.assertTrue(numpy.isnan(bitcut.bound(nan, nan, **WAY)).all())
        bitcut.tolerance(nan, nan, **WAY)
        bitcut.explain(nan, nan, nan, seconds=1)
        bitcut.advise(nan, nan, unit="a100")

    def test_fragments(self):
        a, b, c = uniform(16, 16).astype("f2"), uniform(16, 8).astype("f2"), uniform(16, 8)
        unit = {"unit": "ampere/mma.m16n8k16.f32.f16"}
        for x, y, z, words in ((a, b, c[:3], "do not fit"), (a[None], b, c, "dimensions"),
                               (a.astype("f4"), b, c, "the unit takes f16"),
                               (a[:, :8], b[:8], c, "")):
            with self.assertRaisesRegex(bitcut.Error, words):
                bitcut.mma(x, y, z, **unit)
        with self.assertRaisesRegex(bitcut.BadArgument, "unknown unit"):
            bitcut.mma(a, b, c, unit="x")
        with self.assertRaises(bitcut.BadArgument):  # bits outside the format
            bitcut.mma(a.view("u2").astype("u4") + 2**20, b, c, **unit)


class Interfaces(unittest.TestCase):
    def test_own(self):
        """Objects of anyone, with and without NumPy here."""
        one = Interface()
        got = bitcut.exact(one, one)
        self.assertEqual(got.tolist(), [[7.0, 10.0], [15.0, 22.0]])
        plain = memoryview(array.array("f", [1, 2, 3, 4])).cast("B").cast("f", (2, 2))
        self.assertEqual(bitcut.exact(plain, one).tolist(), [[7.0, 10.0], [15.0, 22.0]])
        read_only = memoryview(bytes(plain)).cast("f", (2, 2))
        self.assertEqual(bitcut.gemm(read_only, plain, **WAY).d.tolist(),
                         [[7.0, 10.0], [15.0, 22.0]])

    def test_broken(self):
        good = Interface()
        for changes in ({"data": (0, False)}, {"shape": (-1, 2)}, {"strides": (4,)},
                        {"shape": ("x", 2)}, {"typestr": "<i4"}, {"typestr": "|V4"},
                        {"strides": (2**63, 4)}, {"data": None}, {"shape": (2**40, 2**40)}):
            with self.assertRaisesRegex(bitcut.Error, "^A: "):
                bitcut.exact(Interface(**changes), good)

    @needs_numpy
    def test_copies_of_out(self):
        """What only gives a copy is no place for D."""
        class Copied:
            def __array__(self, dtype=None, copy=None):
                return numpy.zeros((2, 2), "f4")

        one = numpy.ones((2, 2), "f4")
        with self.assertRaisesRegex(bitcut.BadArgument, "D: only a copy"):
            bitcut.gemm(one, one, recipe="plain", unit="a100", out=Copied())
        self.assertEqual(bitcut.gemm(Copied(), one, recipe="plain", unit="a100").d.sum(), 0)

    def test_odd_words(self):
        good = Interface()
        for call in (lambda: bitcut.gemm(good, good, recipe="\udcff", unit="a100"),
                     lambda: bitcut.gemm(good, good, alpha=10**400, recipe="plain", unit="a100"),
                     lambda: bitcut.gemm(good, good, format_a=["f32"], recipe="plain", unit="a100"),
                     lambda: bitcut.exact(Interface(typestr=""), good),
                     lambda: bitcut.exact(Interface(typestr=5), good),
                     lambda: bitcut.exact(Interface(data=("x", False)), good),
                     lambda: bitcut.gemm(good, good, recipe="plain", unit="a100", stream=3),
                     lambda: bitcut.gemm(good, good, recipe="plain", unit="a100", kernel="x")):
            with self.assertRaises(bitcut.Error):
                call()

    @needs_numpy
    def test_narrow_types(self):
        """Arrays of ml_dtypes' types, or of their names, and PyTorch's bf16."""
        ones = numpy.array([[0x3f80, 0x4000], [0x4040, 0x4080]], "u2")  # 1, 2, 3, 4
        want = bitcut.gemm(ones, ones, recipe="plain", unit="a100", format_a="bf16",
                           format_b="bf16").d
        self.assertEqual(want.tolist(), [[7, 10], [15, 22]])

        class Named:
            __array_interface__ = {**ones.__array_interface__, "typestr": "<V2"}
            dtype = type("dtype", (), {"name": "bfloat16"})

        arrays = [Named()]
        for library, make in (("ml_dtypes", lambda x: ones.view(x.bfloat16)),
                              ("torch", lambda x: x.tensor([[1.0, 2], [3, 4]]).bfloat16())):
            try:
                arrays.append(make(__import__(library)))
            except ImportError:
                pass
        for x in arrays:
            got = bitcut.gemm(x, x, recipe="plain", unit="a100").d
            self.assertEqual(got.tobytes(), want.tobytes(), type(x))

    def test_without_numpy(self):
        done = python("""
import sys
sys.modules["numpy"] = None
import array, bitcut
x = memoryview(array.array("f", [1, 2.5, 3, 4])).cast("B").cast("f", (2, 2))
g = bitcut.gemm(x, x, recipe="ootomo", unit="a100")
print(g.d.tolist(), bitcut.exact(x, x).tolist(), g.d, bool(bitcut.verify(
    g.d, x, x, recipe="ootomo", unit="a100")), bitcut.split(x)[1].tolist())
print(bitcut.gemm(x, x, recipe="plain", unit="a100", format_d="f16").d.tolist())
print(bitcut.bound(x, x, recipe="plain", unit="a100").shape, g.judge().wrong)
print(len(g.d.memoryview()))
""")
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.splitlines(), [
            "[[8.5, 12.5], [15.0, 23.5]] [[8.5, 12.5], [15.0, 23.5]] "
            "<bitcut.Array (2, 2) of f32> True [[0.0, 0.0], [0.0, 0.0]]",
            "[[8.5, 12.5], [15.0, 23.5]]", "(2, 2) 0.0", "4"])

    def test_results(self):
        one = Interface()
        got = bitcut.gemm(one, one, **WAY)
        self.assertIn("ootomo", got._repr_html_())
        self.assertIn("recipe", str(got))
        self.assertNotIn("d", got.to_dict())
        self.assertTrue(got.line.startswith("ootomo@ampere/"))


if __name__ == "__main__":
    unittest.main()
