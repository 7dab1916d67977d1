# SPDX-License-Identifier: BSD-3-Clause
"""GEMMs in the memory of a device, on a module without a GPU whose memory is the host's: arrays
that say where they are, CuPy's and PyTorch's ways to allocate and their streams, by stand-ins;
D is the emulator's."""

import contextlib
import os
import pathlib
import sys
import types
import unittest

from helper import Folder, needs_numpy, numpy, python, uniform

import bitcut

MODULE = pathlib.Path(bitcut.library).resolve().parent.parent / "tests" / ".libs"
M, N, K = 70, 50, 96


class There:
    """An array of numpy's that says that it is in a GPU's memory."""

    def __init__(self, x, stream=None, number=0, **more):
        self.x, self.number = x, number
        self.said = {**x.__array_interface__, "version": 3, **more}
        if stream:
            self.said["stream"] = stream

    @property
    def __cuda_array_interface__(self):
        return self.said

    def __dlpack_device__(self):
        return 2, self.number


class OnlyDlpack:
    """The same, of one that only has DLPack."""

    def __init__(self, x, kind=2):
        self.x, self.kind = x, kind

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, stream=None):
        self.asked = stream
        return self.x.__dlpack__()


def stand_in(name):
    """A library of that name, as bitcut calls it; what it did is in `did`."""
    library = types.ModuleType(name)
    library.did = did = []
    library.current, library.capturing, library.number = 0x100, False, 0

    class Tensor(There):
        def get(self):
            return self.x

    Tensor.__module__ = name + ".core"

    def empty(shape, kind, **more):
        did.append(("empty", tuple(shape), kind, library.current))
        bytes_of = int(numpy.prod(shape)) * numpy.dtype(kind).itemsize
        room = numpy.empty(bytes_of + 256, "u1")  # aligned, as memory of a device is
        room = room[-room.ctypes.data % 256:][:bytes_of]
        return Tensor(room.view(kind).reshape(shape), number=library.number)

    @contextlib.contextmanager
    def on(stream, number=0):
        before, library.current = library.current, stream
        yield
        library.current = before

    class Stream:
        def __init__(self, ptr, device=0):
            self.ptr = self.cuda_stream = ptr
            self.on = on(ptr)

        def __enter__(self):
            return self.on.__enter__()

        def __exit__(self, *what):
            return self.on.__exit__(*what)

        def is_capturing(self):
            return library.capturing

    library.array = Tensor
    library.empty = empty
    Tensor.dtype = property(lambda self: self.x.dtype)
    Tensor.shape = property(lambda self: self.x.shape)
    if name == "cupy":
        library.cuda = types.SimpleNamespace(
            Device=lambda number: contextlib.nullcontext(), ExternalStream=Stream, Stream=Stream,
            get_current_stream=lambda: Stream(library.current))
        library.asnumpy = Tensor.get
        library.ndarray = Tensor
        Tensor.strides = property(lambda self: self.x.strides)
        Tensor.data = property(lambda self: types.SimpleNamespace(
            ptr=self.x.ctypes.data, device_id=self.number))
    else:
        library._C = types.SimpleNamespace()
        library.nn = types.SimpleNamespace(Parameter=type("Parameter", (Tensor,), {}))
        Tensor.stride = lambda self: tuple(s // self.x.itemsize for s in self.x.strides)
        Tensor.get_device = lambda self: self.number
        Tensor.data_ptr = lambda self: self.x.ctypes.data
        Tensor.requires_grad = False
        Tensor.is_neg = lambda self: False
        library.float32, library.uint8 = "f4", "u1"
        library.empty = lambda shape, dtype, device: empty(shape, dtype)
        library.device = lambda kind, number: f"{kind}:{number}"
        library.cuda = types.SimpleNamespace(
            ExternalStream=Stream, stream=lambda s: s,
            current_stream=lambda number: Stream(library.current))
        library.Tensor = Tensor
        Tensor.record_stream = lambda self, stream: None
        Tensor.detach = lambda self: self
        Tensor.cpu = Tensor.get
    return library


@contextlib.contextmanager
def library_in_place(name):
    """The stand-in for a library, as if it had been imported."""
    sys.modules[name], before = stand_in(name), sys.modules.get(name)
    try:
        yield sys.modules[name]
    finally:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before


@needs_numpy
@unittest.skipUnless((MODULE / "bitcut-cuda.so").exists(), "needs the model of a module: the package check, and make check")
class Model(Folder):
    """Tests on the model of a module."""

    def setUp(self):
        super().setUp()
        self.before = os.environ.get("BITCUT_MODULES")
        os.environ["BITCUT_MODULES"] = str(MODULE)
        self.a, self.b = uniform(M, K), uniform(K, N, seed=2)

    def tearDown(self):
        if self.before is None:
            del os.environ["BITCUT_MODULES"]
        else:
            os.environ["BITCUT_MODULES"] = self.before

    def emulated(self, g, a, b, **more):
        """D as the emulator gives it of the GEMM that ran."""
        way = {key: getattr(g, key) for key in ("recipe", "unit", "split", "split_b", "scale",
                                                "promote", "tile_k", "equilibrate")}
        way["split_a"] = way.pop("split")
        if g.recipe in ("plain", "fp32"):
            way = {"recipe": g.recipe, "unit": g.unit}
        return bitcut.gemm(a, b, **way, order={"slices": g.split_k}, **more).d

    def room(self, a, b, **given):
        return There(numpy.zeros(max(bitcut.workspace(a, b, **given), 1) + 256, "u1"))

    def aligned(self, room):
        """A workspace at a multiple of 256."""
        first = -room.x.ctypes.data % 256
        return There(room.x[first:])

    def run_there(self, a, b, **given):
        a, b = There(a), There(b)
        d = There(numpy.full((*a.x.shape[:-1], b.x.shape[-1]), numpy.nan, "f4"))
        room = self.aligned(self.room(a, b, **given))
        g = bitcut.gemm(a, b, out=d, workspace=room, **given)
        self.assertIs(g.d, d)
        return g


class Devices(Model):
    def test_recipes(self):
        for recipe in ("ootomo", "tf32x3", "markidis", "plain"):
            g = self.run_there(self.a, self.b, recipe=recipe)
            self.assertEqual((g.recipe, g.device), (recipe, "cuda:0"))
            self.assertIn(recipe, g.kernel)
            self.same_bits(g.d.x, self.emulated(g, self.a, self.b), recipe)

    def test_variations(self):
        for given in ({"scale": 10}, {"equilibrate": True}, {"order": "slices=2"}, {"promote": 4},
                      {"alpha": 2.5}, {"unit": "h100"}, {"unit": "h100", "split": "bitcut"},
                      {"split": "bitcut"}, {"split_a": "bitcut", "scale": 10}):
            g = self.run_there(self.a, self.b, recipe="ootomo", **given)
            self.same_bits(g.d.x, self.emulated(g, self.a, self.b, alpha=given.get("alpha", 1)),
                           str(given))

    def test_kernel_named(self):
        g = self.run_there(self.a, self.b, recipe="ootomo")
        h = self.run_there(self.a, self.b, kernel=g.kernel)
        self.assertEqual((h.kernel, h.unit), (g.kernel, g.unit))
        self.same_bits(h.d.x, g.d.x)
        with self.assertRaisesRegex(bitcut.BadArgument, "nothing"):
            self.run_there(self.a, self.b, kernel="nothing")

    def test_chosen(self):
        """What is left open the device chooses, also another promotion where that is allowed."""
        g = self.run_there(self.a, self.b, recipe="ootomo", any_promotion=True)
        self.assertEqual((g.kernel, g.promote), ("vary.ootomo.f16", 4))
        self.same_bits(g.d.x, self.emulated(g, self.a, self.b))
        a, b = uniform(16, 2048), uniform(2048, 8)
        g = self.run_there(a, b, recipe="ootomo", any_promotion=True, any_slices=True)
        self.assertEqual((g.kernel, g.split_k), ("vary.ootomo.f16", 3))
        self.same_bits(g.d.x, self.emulated(g, a, b))
        for given, slices in (({}, 3), ({"any_slices": False}, 1), ({"order": "slices=1"}, 1),
                              ({"order": "slices=2"}, 2)):
            g = self.run_there(a, b, recipe="ootomo", promote=4, **given)
            self.assertEqual((g.kernel, g.split_k), ("vary.ootomo.f16", slices))
            self.same_bits(g.d.x, self.emulated(g, a, b))
        a, b = uniform(2, 100), uniform(100, 30)
        g = self.run_there(a, b, recipe="markidis", unit="h100", any_slices=False)
        self.assertEqual((g.kernel, g.unit), ("narrow.markidis.f16", "hopper/wgmma.m64n8k16.f32.f16"))
        self.same_bits(g.d.x, self.emulated(g, a, b))
        a, b = There(uniform(40, 30).astype("f2")), There(uniform(30, 20).astype("f2"))
        d = There(numpy.zeros((40, 20), "f2"))
        g = bitcut.gemm(a, b, recipe="fp32", out=d)
        self.assertEqual((g.kernel, g.unit), ("batch.fma.64", "fma/f32"))
        self.same_bits(d.x, self.emulated(g, a.x, b.x, format_d="f16"))

    def check_emulated(self, g, recipe, unit, method, a, b, **more):
        """That no kernel computed D, but this method of emulation, and that D is the host's."""
        want = bitcut.gemm(a, b, recipe=recipe, unit=unit, **more)
        self.assertEqual((g.kernel, g.method, g.unit, g.line),
                         (None, method, want.unit, want.line), recipe)
        self.assertEqual({**want.to_dict(), "device": "cuda:0", "kernel": None,
                          "method": method}, g.to_dict())
        self.same_bits(g.d.x, want.d, f"{recipe} {unit} {more}")

    def test_any_unit(self):
        """What the device has no kernel for it emulates: chips by the format of the words."""
        for recipe, unit, method, given in (
                ("plain", "a100", "tensor", {}), ("ootomo", "a100", "tensor", {}),
                ("tf32x3", "a100", "tensor", {}), ("ootomo", "v100", "tensor", {}),
                ("legemm", "h100", "native", {}), ("legemm", "mi210", "simt", {}),
                ("bf16x9", "mi300", "cut", {"order": "lanes=2,chunk=1"}),
                ("fp32", "fma/f32", "simt", {"alpha": 0.5}),
                ("markidis", "ideal/rz25", "steps", {"equilibrate": True}),
                ("half-fp8", "h100", ["cut", "cut", "native"], {}),
                ("plain", "volta/mma.m8n8k4.f16.f16", "cut", {}),
                ("ootomo", "a100", "tensor", {"split": "bitcut", "promote": 3, "dropped_term": True}),
                ("ootomo", "a100", "tensor", {"order": "slices=3", "any_promotion": True})):
            g = self.run_there(self.a, self.b, recipe=recipe, unit=unit, **given)
            given.pop("any_promotion", None)
            self.check_emulated(g, recipe, unit, method, self.a, self.b, **given)
        g = self.run_there(self.a, self.b, recipe="ootomo", unit="h100")
        self.assertEqual((g.kernel, hasattr(g, "method")), ("gemm.ootomo.f16", False))

    def test_any_unit_of_formats(self):
        """Matrices that the emulator takes and no kernel does: f16, encodings, C of another."""
        a, b, c = uniform(40, 30).astype("f2"), uniform(30, 20), uniform(40, 20).astype("f2")
        for recipe, unit, method in (("ootomo", "a100", "tensor"), ("plain", "mi300", "cut")):
            for kind, format in (("f2", "f16"), ("u2", "bf16"), ("f4", "f32")):
                d, more = There(numpy.zeros((40, 20), kind)), {"beta": -2, "format_d": format}
                x, y, z = There(a), There(b), There(c)
                room = self.aligned(self.room(x, y, recipe=recipe, unit=unit, c=z, **more))
                g = bitcut.gemm(x, y, c=z, recipe=recipe, unit=unit, out=d, workspace=room, **more)
                self.check_emulated(g, recipe, unit, method, a, b, c=c, **more)

    def test_any_unit_in_batches(self):
        """One after the other, in the memory of one."""
        a, b = uniform(3, 20, 40, seed=3), uniform(3, 40, 30, seed=4)
        there, way = (There(a), There(b)), {"recipe": "ootomo", "unit": "a100"}
        one = bitcut.workspace(There(a[0]), There(b[0]), **way)
        self.assertEqual(bitcut.workspace(*there, **way), one)
        g = self.run_there(a, b, **way)
        self.check_emulated(g, *way.values(), "tensor", a, b)
        with library_in_place("cupy") as cupy:
            with contextlib.suppress(bitcut.BadArgument):  # where it was allocated is not aligned
                bitcut.gemm(cupy.array(a), cupy.array(b), **way)
            self.assertEqual(cupy.did[1][:3], ("empty", (one,), "u1"))
            cupy.did.clear()
            with contextlib.suppress(bitcut.BadArgument):
                bitcut.gemm(cupy.array(a), cupy.array(b), recipe="ootomo")
            each = bitcut.workspace(*there, recipe="ootomo")  # by a kernel, all at once
            self.assertEqual(cupy.did[1][:3], ("empty", (3 * each,), "u1"))

    def test_layouts_and_batches(self):
        a, b = uniform(3, K, M, seed=3), uniform(3, N, K, seed=4)
        turned = numpy.swapaxes(a, 1, 2), numpy.swapaxes(b, 1, 2)
        g = self.run_there(*turned, recipe="ootomo")
        self.same_bits(g.d.x, self.emulated(g, *turned))

    def test_allocated(self):
        for name in ("cupy", "torch"):
            with self.subTest(name), library_in_place(name) as library:
                self.check_allocated(library)

    def check_allocated(self, library):
        a, b = library.array(self.a), library.array(self.b)
        want = None
        for stream in (None, 0x100, 0x200):
            library.did.clear()
            try:
                g = bitcut.gemm(a, b, recipe="ootomo", stream=stream)
            except bitcut.BadArgument as error:  # where it was allocated is not aligned
                self.assertRegex(str(error), "workspace is not aligned")
                g = None
            self.assertEqual([x[:3] for x in library.did][0], ("empty", (M, N), "f4"))
            self.assertEqual([x[2] for x in library.did], ["f4", "u1"])
            self.assertEqual({x[3] for x in library.did}, {stream or 0x100})
            self.assertEqual(library.current, 0x100)
            if g:
                want = self.emulated(g, self.a, self.b) if want is None else want
                self.same_bits(g.d.x, want)
        with self.assertRaisesRegex(bitcut.BadType, "A: in the memory of cuda:0; copy=True"):
            bitcut.verify(self.a, a, b, recipe="ootomo", unit="h100")
        d = bitcut.gemm(self.a, self.b, recipe="ootomo", unit="h100").d
        self.assertTrue(bitcut.verify(library.array(d), a, b, recipe="ootomo", unit="h100",
                                      copy=True))
        if library.__name__ == "cupy":
            library.capturing = True
            with self.assertRaisesRegex(bitcut.BadArgument, "workspace=: missing: a graph"):
                bitcut.gemm(a, b, recipe="ootomo")

    def run_scheme(self, a, b, **given):
        """D of an FP64 GEMM there; its bits are the emulator's on the unit that ran."""
        shape = (*(a.shape[:-2] or b.shape[:-2]), a.shape[-2], b.shape[-1])
        there = {name: There(x) if name == "c" else x for name, x in given.items()}
        d = There(numpy.full(shape, numpy.nan))
        room = self.aligned(self.room(There(a), There(b), **there))
        g = bitcut.gemm(There(a), There(b), out=d, workspace=room, **there)
        given.pop("kernel", None)
        want = bitcut.gemm(a, b, **{**given, "unit": g.unit})
        self.assertEqual((g.device, g.unit, g.line),
                         ("cuda:0", "hopper/wgmma.m64n8k32.s32.s8", want.line))
        self.same_bits(d.x, want.d, str(given))
        return g

    def test_schemes(self):
        """FP64 GEMMs by a scheme: layouts, factors, and batches that share an operand."""
        a, b, c = (x.astype("f8") for x in (self.a, self.b, uniform(M, N, seed=3)))
        g = self.run_scheme(a, b, scheme="ozimmu-ef")
        self.assertEqual((g.kernel, g.parts), ("model.ozimmu-ef.s8", 8))
        self.run_scheme(a.T.copy().T, b.T.copy().T, scheme="ozimmu-h", parts=9)
        self.run_scheme(a, b, scheme="ozimmu-ef", unit="h100", parts=3, c=c, alpha=0.3, beta=-1.7)
        self.run_scheme(a, b, scheme="ozimmu-ef", kernel="model.ozimmu-ef.s8", c=c)
        batch = numpy.stack([a, 2 * a, a / 3])
        self.run_scheme(batch, b, scheme="ozimmu-ef")
        self.run_scheme(batch, numpy.stack([b, b + 1, b - 1]), scheme="ozimmu-h", c=c, alpha=2.5)
        one, three = (bitcut.workspace(There(x), There(b), scheme="ozimmu-ef") for x in (a, batch))
        self.assertEqual(one, three)

    def test_schemes_refused(self):
        a, b = There(self.a.astype("f8")), There(self.b.astype("f8"))
        d, f4 = There(numpy.zeros((M, N))), There(self.a)
        room = self.aligned(self.room(a, b, scheme="ozimmu-ef"))
        for error, words, x, given in (
                (bitcut.Unsupported, "no kernel of Models computes scheme gemmul8", a, {"scheme": "gemmul8"}),
                (bitcut.Unsupported, "runs on hopper/wgmma.m64n8k32.s32.s8, not ampere", a, {"unit": "a100"}),
                (bitcut.BadArgument, "supports 1 to 9 parts", a, {"scheme": "ozimmu-h", "parts": 10}),
                (bitcut.BadArgument, "computes scheme ozimmu-ef, not ozimmu", a,
                 {"scheme": "ozimmu", "kernel": "model.ozimmu-ef.s8"}),
                (bitcut.BadArgument, "no kernel of FP64 GEMMs is called", a, {"kernel": "x"}),
                (bitcut.BadArgument, "takes A in f64, not in f32", f4, {}),
                (bitcut.BadArgument, "the workspace has 0 bytes", a,
                 {"workspace": There(room.x[:0])})):
            with self.assertRaisesRegex(error, words):
                bitcut.gemm(x, b, **{"scheme": "ozimmu-ef", "out": d, "workspace": room, **given})
        host = self.a.astype("f8"), self.b.astype("f8")
        with self.assertRaisesRegex(bitcut.BadArgument, "kernel: of arrays on a GPU alone"):
            bitcut.gemm(*host, scheme="ozimmu-ef", kernel="model.ozimmu-ef.s8")
        with self.assertRaisesRegex(bitcut.Unsupported, "computes scheme ozimmu-ef|no device"):
            bitcut.gemm(*host, scheme="ozimmu-ef", device="cpu")

    def test_dlpack(self):
        a, b = OnlyDlpack(self.a), OnlyDlpack(self.b)
        d = numpy.zeros((M, N), "f4")
        g = bitcut.gemm(a, b, recipe="ootomo", out=OnlyDlpack(d),
                        workspace=self.aligned(self.room(a, b, recipe="ootomo")))
        self.assertEqual((a.asked, g.device), (-1, "cuda:0"))
        self.same_bits(d, self.emulated(g, self.a, self.b))
        here = bitcut.gemm(OnlyDlpack(self.a, 1), self.b, recipe="ootomo", unit=g.unit)
        self.same_bits(here.d, d)

    def test_dlpack_device(self):
        """What an array's author says of its device, and is none."""
        def raises():
            raise ValueError
        for said in (("x", 0), (1,), (1, 0, 0), 7, None, (None, 0), (2, "cuda"), "", raises):
            x = OnlyDlpack(self.a)
            x.__class__ = type("Said", (OnlyDlpack,), {
                "__dlpack_device__": lambda self: said() if callable(said) else said})
            with self.assertRaises(bitcut.BadType, msg=repr(said)):
                bitcut.gemm(x, self.b, recipe="ootomo", unit="h100")

    def test_bad(self):
        a, b, d = There(self.a), There(self.b), There(numpy.zeros((M, N), "f4"))
        for error, words, call in (
                (bitcut.BadArgument, "out=: missing", lambda: bitcut.gemm(a, b, recipe="ootomo")),
                (bitcut.BadArgument, "workspace=: missing",
                 lambda: bitcut.gemm(a, b, recipe="ootomo", out=d)),
                (bitcut.BadArgument, "the workspace has 64 bytes",
                 lambda: bitcut.gemm(a, b, recipe="ootomo", out=d,
                                     workspace=There(numpy.zeros(64, "u1")))),
                (bitcut.BadArgument, "several memories: A in that of cuda:0, B in that of the host",
                 lambda: bitcut.gemm(a, self.b, recipe="ootomo", out=d)),
                (bitcut.BadArgument, "several memories",
                 lambda: bitcut.gemm(a, There(self.b, number=1), recipe="ootomo", out=d)),
                (bitcut.BadArgument, "D is in the memory of the host",
                 lambda: bitcut.gemm(a, b, recipe="ootomo", out=d.x)),
                (bitcut.BadArgument, "D is in the memory of cuda:0",
                 lambda: bitcut.gemm(self.a, self.b, recipe="ootomo", unit="h100", out=d)),
                (bitcut.BadArgument, "several streams",
                 lambda: bitcut.gemm(a, There(self.b, stream=7), recipe="ootomo", out=d)),
                (bitcut.BadArgument, "its stream is none",
                 lambda: bitcut.gemm(There(self.a, stream=-7), b, recipe="ootomo", out=d)),
                (bitcut.BadType, "stream: str",
                 lambda: bitcut.gemm(a, b, recipe="ootomo", out=d, stream="fast")),
                (bitcut.BadArgument, "not a recipe|unknown recipe",
                 lambda: bitcut.gemm(a, b, recipe="none", out=d)),
                (bitcut.BadArgument, "unknown split",
                 lambda: bitcut.gemm(a, b, recipe="ootomo", split="none", out=d)),
                (bitcut.BadArgument, "unknown rounding",
                 lambda: bitcut.gemm(a, b, recipe="ootomo", high="none", out=d)),
                (bitcut.BadType, "in the memory of cuda:0; copy it", lambda: bitcut.split(a)),
                (bitcut.BadType, "DLPack's type 4",
                 lambda: bitcut.gemm(OnlyDlpack(self.a, 4), b, recipe="ootomo")),
                (bitcut.BadArgument, "of the host, where", lambda: bitcut.workspace(
                    self.a, self.b, recipe="ootomo")),
                (bitcut.BadArgument, "unit and kernel cannot be combined", lambda: bitcut.gemm(
                    a, b, recipe="ootomo", unit="h100", kernel="x", out=d)),
                (bitcut.BadArgument, "a recipe or a kernel is required",
                 lambda: bitcut.gemm(a, b, unit="a100", out=d)),
                (bitcut.BadArgument, "has parts in tf32, but", lambda: bitcut.gemm(
                    a, b, recipe="tf32x3", unit="ampere/mma.m16n8k16.f32.f16", out=d)),
                (bitcut.BadArgument, "the workspace has 64 bytes; required: 320", lambda: bitcut.gemm(
                    a, b, recipe="ootomo", unit="a100", out=d,
                    workspace=There(numpy.zeros(64, "u1")))),
                (bitcut.BadArgument, "no promotion .supported: every", lambda: bitcut.gemm(
                    a, b, recipe="ootomo", promote=0, out=d)),
                (bitcut.Unsupported, "liar", lambda: bitcut.gemm(a, b, recipe="legemm", out=d)),
                (bitcut.BadArgument, ": of arrays on a GPU alone", lambda: bitcut.gemm(
                    self.a, self.b, recipe="ootomo", kernel="x"))):
            with self.assertRaisesRegex(error, words):
                call()
        g = self.run_there(self.a, self.b, recipe="ootomo")
        with self.assertRaisesRegex(bitcut.BadArgument, "D is in the memory of cuda:0; judge"):
            g.judge()

    def test_far(self):
        """What the device does not reach is refused by the library."""
        done = python("import sys, numpy, bitcut; sys.path.insert(0, sys.argv[0])\n"
                      "class There:\n"
                      "    def __init__(self, x): self.__cuda_array_interface__ = "
                      "x.__array_interface__; self.x = x\n"
                      "a = There(numpy.ones((16, 16), 'f4'))\n"
                      "d = There(numpy.ones((16, 16), 'f4'))\n"
                      "w = There(numpy.ones(99999, 'u1'))\n"
                      "try: bitcut.gemm(a, a, recipe='ootomo', out=d, workspace=w)\n"
                      "except bitcut.BadArgument as error: print(error)",
                      DEVICE_FAULT="far memory")
        self.assertEqual((done.stdout, done.stderr), ("A is far away\n", ""))

    def test_no_module(self):
        done = python("import numpy, bitcut\n"
                      "print(bitcut.devices().names())\n"
                      "class There:\n"
                      "    def __init__(self, x): self.__cuda_array_interface__ = "
                      "x.__array_interface__; self.x = x\n"
                      "a = There(numpy.ones((16, 16), 'f4'))\n"
                      "d = There(numpy.ones((16, 16), 'f4'))\n"
                      "try: bitcut.gemm(a, a, recipe='ootomo', out=d)\n"
                      "except bitcut.Unsupported as error: print(error)",
                      BITCUT_MODULES=self.folder.name)
        self.assertRegex(done.stdout + done.stderr,
                         r"^\[('cpu')?\]\nno GPU backend: bitcut-cuda.so not found in")

    def test_devices(self):
        names = bitcut.devices().names()
        self.assertEqual(names[:1], ["cuda:0"])
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
