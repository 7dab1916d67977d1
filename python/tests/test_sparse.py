# SPDX-License-Identifier: BSD-3-Clause
"""2:4 sparse A: results that cuSPARSELt gave on a GPU, every form of A, batches and groups, and
what refuses it."""

import os
import unittest

from helper import needs_numpy, numpy

import bitcut

WAY = {"recipe": "ootomo", "unit": "h100"}
DATA = os.path.join(os.environ.get("BITCUT_DATA", ""), "sparse")
RECORDED = (  # file, operands, D, unit, steps
    ("f16", "f16", "f16", "hopper/wgmma.m64n8k16.f32.f16", None),
    ("f16_512", "f16", "f16", "hopper/wgmma.m64n8k16.f32.f16", None),
    ("f16_transposed", "f16", "f16", "hopper/wgmma.m64n8k16.f32.f16", None),
    ("bf16", "bf16", "bf16", "hopper/wgmma.m64n8k16.f32.bf16", None),
    ("e4m3_f32", "e4m3", "f32", "hopper/wgmma.m64n8k32.f32.e4m3", None),
    ("e4m3_f16", "e4m3", "f16", "hopper/wgmma.m64n8k32.f32.e4m3", None),
    ("s8", "s8", "s8", "hopper/wgmma-sat.m64n8k32.s32.s8", "saturate"),
    ("s8_s32", "s8", "s32", "hopper/wgmma-sat.m64n8k32.s32.s8", None),
)


def normal(*shape, seed):
    return numpy.random.default_rng(seed).standard_normal(shape).astype("f4")


def sparse(*shape, seed):
    """A matrix whose kept elements have random positions, and its positions."""
    draw = numpy.random.default_rng(seed)
    fours = draw.random((*shape[:-1], shape[-1] // 4, 4)).argsort(-1)[..., :2]
    at = numpy.sort(fours, -1).reshape(*shape[:-1], shape[-1] // 2)
    k = at + numpy.repeat(numpy.arange(0, shape[-1], 4), 2)
    a = numpy.zeros(shape, "f4")
    numpy.put_along_axis(a, k, draw.standard_normal(k.shape).astype("f4"), -1)
    return a, at.astype("u1"), k


def equal(x, y):
    return numpy.asarray(x).tobytes() == numpy.asarray(y).tobytes()


@needs_numpy
class Sparse(unittest.TestCase):
    @unittest.skipUnless(os.path.isdir(DATA), "BITCUT_DATA has no recordings")
    def test_recorded(self):
        for name, format, result, unit, steps in RECORDED:
            with numpy.load(os.path.join(DATA, name + ".npz")) as file:
                a, b, d = file["a"], file["b"], file["d"]
            found = bitcut.verify(d, a, b, recipe="plain", unit=unit, format_a=format, format_b=format,
                                  format_d=result, epilogue=steps, sparse_a=True)
            self.assertTrue(found, name)
            self.assertEqual(found.compared, d.size)

    @unittest.skipUnless(os.path.isdir(DATA), "BITCUT_DATA has no recordings")
    def test_recorded_explained(self):
        """What a GPU gave is explained by the dense unit; without the positions it is not."""
        for name, format, result, unit, _ in RECORDED:
            if name not in ("f16", "bf16", "e4m3_f32", "s8_s32"):
                continue
            with numpy.load(os.path.join(DATA, name + ".npz")) as file:
                a, b, d = file["a"], file["b"], file["d"]
            how = {"format_a": format, "format_b": format, "format_d": result, "effort": 0.2}
            found = bitcut.explain(d, a, b, sparse_a=True, **how)
            self.assertTrue(found.found, (name, found.text))
            if format != "s8":
                self.assertIn("plain on hopper/", found.text)

    def test_explained(self):
        """explain names the GEMM of every form of A, and the GEMM that it returns gives D."""
        a, at, k = sparse(2, 20, 96, seed=13)
        b, kept = normal(2, 96, 12, seed=14), numpy.take_along_axis(a, k, -1)
        for x, how in ((a, {"sparse_a": True}), (a, {"positions_a": at}), (kept, {"positions_a": at})):
            for one in (slice(None), 1):
                each = {n: m if m is True else m[one] for n, m in how.items()}
                d = bitcut.gemm(x[one], b[one], **WAY, order="slices=2", **each).d
                found = bitcut.explain(d, x[one], b[one], **each)
                self.assertTrue(found.found, found.text)
                self.assertTrue(found.line.startswith("ootomo@") or not found.fault, found.line)

    def test_forms(self):
        a, at, k = sparse(5, 48, seed=1)
        b = normal(48, 7, seed=2)
        want = numpy.concatenate([bitcut.gemm(a[i:i + 1, k[i]], b[k[i]], **WAY).d for i in range(5)])
        self.assertTrue(equal(bitcut.gemm(a, b, **WAY, sparse_a=True).d, want))
        short = numpy.take_along_axis(a, k, -1)
        filled = numpy.full_like(a, numpy.nan)
        numpy.put_along_axis(filled, k, short, -1)
        for x in (a, short, filled, numpy.asfortranarray(short)):
            for p in (at, numpy.asfortranarray(at)):
                self.assertTrue(equal(bitcut.gemm(x, b, **WAY, positions_a=p).d, want))
        self.assertTrue(bitcut.verify(want, short, b, **WAY, positions_a=at))
        self.assertFalse(bitcut.verify(want, a, b, **WAY))  # zeros take part in the sums

    def test_several(self):
        a, at, k = sparse(3, 4, 32, seed=3)
        b = normal(3, 32, 5, seed=4)
        d = bitcut.gemm(a, b, **WAY, sparse_a=True).d
        short = numpy.take_along_axis(a, k, -1)
        self.assertTrue(equal(bitcut.gemm(short, b, **WAY, positions_a=at).d, d))
        for i in range(3):
            self.assertTrue(equal(bitcut.gemm(a[i], b[i], **WAY, sparse_a=True).d, d[i]))
        rows = bitcut.gemm(short.reshape(12, 16), b, **WAY, positions_a=at.reshape(12, 16), offsets=[4, 8, 12])
        self.assertTrue(equal(rows.d, d.reshape(12, 5)))
        same = bitcut.gemm(short[0], b, **WAY, positions_a=at[0]).d
        self.assertTrue(equal(same[2], bitcut.gemm(a[0], b[2], **WAY, sparse_a=True).d))

    def test_judge(self):
        a, at, k = sparse(1, 32, seed=5)
        b = normal(32, 6, seed=6)
        b[~numpy.isin(numpy.arange(32), k[0])] = numpy.inf
        d = bitcut.gemm(a, b, **WAY, sparse_a=True).d
        whole = bitcut.judge(d, a, b, **WAY, sparse_a=True)
        short = bitcut.judge(d, a[:, k[0]], b[k[0]], **WAY)
        self.assertEqual(whole.wrong, 0)
        for name in ("relres", "max_error", "ulp_max", "backward_max", "grade", "grade_worst"):
            self.assertEqual(getattr(whole, name), getattr(short, name), name)

    def test_limits(self):
        """Bounds and tolerances of a sparse A, in both forms, accept D and no other one."""
        a, at, k = sparse(12, 64, seed=11)
        b, kept = normal(64, 9, seed=12), numpy.take_along_axis(a, k, -1)
        for x, how in ((a, {"sparse_a": True}), (kept, {"positions_a": at})):
            d = bitcut.gemm(x, b, **WAY, **how).d
            error = abs(d - a.astype("f8") @ b.astype("f8"))
            self.assertTrue((error <= bitcut.bound(x, b, **WAY, **how)).all())
            limits = bitcut.tolerance(x, b, runs=10, **WAY, **how)
            self.assertTrue(limits.judge(d, x, b, **WAY, **how).accepted)
            self.assertFalse(limits.judge(d * 2, x, b, **WAY, **how).accepted)

    def test_refused(self):
        a, at, _ = sparse(3, 8, seed=7)
        b = normal(8, 2, seed=8)
        d = numpy.zeros((3, 2), "f4")
        full = a.copy()
        full[1, 4:7] = 1
        falling, wide = at.copy(), at.copy()
        falling[2, :2] = (3, 1)
        wide[0, 3] = 4
        for words, x, more in (
                ("row 1 has more than two elements other than 0 at k = 4 to 7", full, {"sparse_a": True}),
                ("row 2 has 3 and 1 at k = 0 to 3", a, {"positions_a": falling}),
                ("and 4 at k = 4 to 7", a, {"positions_a": wide}),
                ("positions_a: 3 x 3, not 3 x 4", a, {"positions_a": at[:, :3]}),
                ("do not multiply", a[:, :4], {"sparse_a": True}),
                ("elements of f4 do not hold u8", a, {"positions_a": at.astype("f4")}),
                ("positions_a: 2 matrices", a, {"positions_a": numpy.stack([at, at])})):
            with self.assertRaisesRegex(bitcut.BadArgument, words):
                bitcut.gemm(x, b, **WAY, **more)
        with self.assertRaisesRegex(bitcut.BadArgument, "multiple of 4, found 6"):
            bitcut.gemm(a[:, :6], b[:6], **WAY, sparse_a=True)
        with self.assertRaisesRegex(bitcut.BadArgument, "a device does not take a sparse A"):
            bitcut.gemm(a, b, recipe="plain", device="cpu", sparse_a=True)

    def test_budget(self):
        """Of the kept elements alone, whichever way they are given."""
        rng = numpy.random.default_rng(8)
        at = numpy.sort(rng.permuted(numpy.tile(numpy.arange(4, dtype="u1"), (5, 6, 1)), axis=2)[:, :, :2], axis=2)
        at = numpy.repeat(at[:1], 5, axis=0).reshape(5, 12)  # the same k in every row
        full, b = rng.normal(size=(5, 24)).astype("f4"), rng.normal(size=(24, 3)).astype("f4")
        k = numpy.arange(12) // 2 * 4 + at[0]
        a = numpy.zeros_like(full)
        a[:, k] = full[:, k]
        want = bitcut.budget(full[:, k], b[k], **WAY).to_dict()
        for x, how in ((a, {"sparse_a": True}), (full, {"positions_a": at}), (full[:, k], {"positions_a": at})):
            self.assertEqual(bitcut.budget(x, b, **WAY, **how).to_dict(), want)


if __name__ == "__main__":
    unittest.main()
