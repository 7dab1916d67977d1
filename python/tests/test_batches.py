# SPDX-License-Identifier: BSD-3-Clause
"""Batches: what is found on all GEMMs is what each GEMM alone gives."""

import unittest

from helper import needs_numpy, numpy

import bitcut
import bitcut.testing

WAY = {"recipe": "ootomo", "unit": "h100"}


def batch(*shape, seed):
    return numpy.random.default_rng(seed).standard_normal(shape).astype("f4")


@needs_numpy
class Explanations(unittest.TestCase):
    def setUp(self):
        self.a, self.b = batch(4, 8, 48, seed=1), batch(4, 48, 8, seed=2)
        self.d = bitcut.gemm(self.a, self.b, **WAY).d

    def explain(self, d, a=None, b=None, **more):
        return bitcut.explain(d, self.a if a is None else a, self.b if b is None else b, **more)

    def test_explain_pair(self):
        """Two results of one GEMM: both explained, and what differs."""
        a, b = self.a[0], self.b[0]
        results = [bitcut.gemm(a, b, recipe="ootomo", unit=unit).d for unit in ("a100", "h100")]
        pair = bitcut.explain_pair(*results, a, b)
        self.assertFalse(pair)
        self.assertEqual((pair.differ, pair.total),
                         (numpy.count_nonzero(results[0] != results[1]), results[0].size))
        self.assertIn("ampere", pair.first.line)
        self.assertIn("hopper", pair.second.line)
        self.assertTrue(pair.first and pair.second and pair.ulps)
        self.assertRegex(str(pair), "D is on ampere.*D2 on hopper")
        row, column = pair.row, pair.column
        self.assertNotEqual(results[0][row, column], results[1][row, column])
        self.assertTrue(bitcut.explain_pair(results[0], results[0], a, b, recipe="ootomo"))
        for wrong in ((results[0], results[1][:-1], a, b), (self.d, self.d, self.a, self.b)):
            with self.assertRaises(bitcut.BadArgument):
                bitcut.explain_pair(*wrong)

    def test_all(self):
        for d, a, b in ((self.d, self.a, self.b),
                        (numpy.asfortranarray(self.d), self.a[::1], self.b)):
            e = self.explain(numpy.ascontiguousarray(d), a, b)
            self.assertTrue(e)
            self.assertEqual((e.gemms, e.explained, e.gemm, e.compared, e.total),
                             (4, 4, 4, 256, 256))
            self.assertTrue(e.runs)
            self.assertTrue(e.line.startswith("ootomo@hopper/mma.m16n8k16.f32.f16"), e.line)
            self.assertIn("in all 4 GEMMs", e.text)

    def test_shared(self):
        d = bitcut.gemm(self.a, self.b[0], **WAY).d
        self.assertEqual(self.explain(d, b=self.b[0]).explained, 4)

    def test_c(self):
        c = batch(4, 8, 8, seed=3)
        d = bitcut.gemm(self.a, self.b, c=c, **WAY).d
        self.assertEqual(self.explain(d, c=c).explained, 4)
        other = self.explain(d, c=c[::-1].copy(), seconds=0.2)
        self.assertFalse(other)

    def test_some(self):
        for i in (0, 2):
            d = self.d.copy()
            d[i] = bitcut.gemm(self.a[i], self.b[i], recipe="plain", unit="h100").d
            e = self.explain(d, seconds=0.4)
            self.assertFalse(e)
            self.assertFalse(e.runs)
            self.assertEqual((e.explained, e.gemm), (3, i))
            self.assertIn(f"D of GEMM {i} is not", e.text)

    def test_one(self):
        e = self.explain(self.d[:1], self.a[:1], self.b[:1])
        self.assertEqual((e.gemms, e.explained, e.total), (1, 1, 64))
        self.assertEqual(self.explain(self.d[1], self.a[1], self.b[1]).gemms, 1)

    def test_pointers(self):  # matrices apart from each other, and rows with gaps
        wide = numpy.zeros((4, 8, 64), "f4")
        wide[:, :, :48] = self.a
        self.assertEqual(self.explain(self.d, wide[:, :, :48]).explained, 4)

    def test_refused(self):
        with self.assertRaisesRegex(bitcut.BadArgument, "D is"):
            self.explain(self.d[:3])
        with self.assertRaisesRegex(bitcut.BadArgument, "empty|no elements"):
            self.explain(self.d[:0], self.a[:0], self.b[:0])


@needs_numpy
class Advice(unittest.TestCase):
    """The error of a batch, of groups or of a sparse A is the largest of its GEMMs."""

    def errors(self, a, b, pairs, given=None, unit="hopper/mma.m16n8k16.f32.bf16"):
        """Of all, and of each pair: by advise, and by the judge of the result."""
        how = {"recipe": "plain", "unit": unit}
        given = given or {}
        one = {key: given[key] for key in given if not key.startswith("offsets")}
        found = bitcut.advise(a, b, **how, **given, want=1e-9)
        alone = [bitcut.advise(x, y, **how, **one, want=1e-9).error for x, y in pairs]
        judged = [bitcut.judge(bitcut.gemm(x, y, **how, **one).d, x, y, **one).relres
                  for x, y in pairs]
        self.assertEqual(found.error, max(alone))
        numpy.testing.assert_allclose(alone, judged, rtol=1e-12)
        return found

    def test_batches(self):
        a, b = batch(3, 12, 40, seed=31), batch(3, 40, 9, seed=32)
        a[1, :, 20:], b[1, 20:] = -1.001 * a[1, :, :20], b[1, :20]  # products cancel
        found = self.errors(a, b, list(zip(a, b)))
        self.assertGreater(found.error, 10 * bitcut.advise(a[0], b[0], recipe="plain",
                                                           unit=found.unit).error)
        self.errors(a, b[0], [(x, b[0]) for x in a])

    def test_groups(self):
        a, b = batch(20, 40, seed=33), batch(3, 40, 9, seed=34)
        a[8:, 20:], b[2, 20:] = -1.001 * a[8:, :20], b[2, :20]
        self.errors(a, b, [(a[:8], b[0]), (a[8:], b[2])], {"offsets": [8, 8, 20]})
        a, b = batch(8, 40, seed=35), batch(40, 9, seed=36)
        a[:, 28:], b[28:] = -1.001 * a[:, 16:28], b[16:28]
        self.errors(a, b, [(a[:, :16], b[:16]), (a[:, 16:], b[16:])], {"offsets_k": [16, 16, 40]})

    def test_sparse(self):
        a, b = batch(2, 12, 64, seed=37), batch(64, 9, seed=38)
        a.reshape(-1, 4)[:, 1::2] = 0
        self.errors(a, b, [(x, b) for x in a], {"sparse_a": True})
        b[1] = numpy.nan  # k = 1 is kept nowhere
        at = numpy.tile(numpy.array([0, 2], "u1"), (12, 32))[:, :32]
        self.errors(a[0], b, [(a[0], b)], {"positions_a": at})
        found = bitcut.advise(a[0], b, unit="h100", sparse_a=True, quantize_a="fp8-rows", want=0.2)
        self.assertTrue(found.reaches, found)
        with self.assertRaisesRegex(bitcut.BadArgument, "does not run"):  # factors of blocks
            bitcut.advise(a[0], b, unit="h100", sparse_a=True, quantize_a="fp8-1x128")

    def test_integers(self):
        """A unit of integers multiplies A and B of its formats alone, and exactly."""
        draw = numpy.random.default_rng(39)
        s8, u8 = (draw.integers(low, low + 256, (12, 64)).astype(kind)
                  for low, kind in ((-128, "i1"), (0, "u1")))
        for a, b, unit in ((s8, s8.T, "s32.s8"), (u8, u8.T, "s32.u8"), (s8, u8.T, "s32.s8.u8"),
                           (s8.astype("f4"), s8.T, "f32.f16"), (s8, s8.T / 2, "f32.f16")):
            found = bitcut.advise(numpy.ascontiguousarray(a), numpy.ascontiguousarray(b, b.dtype),
                                  unit="a100", want=1e-12)
            self.assertTrue(found.unit.endswith(unit), (found.unit, unit))
            self.assertEqual((found.error, found.reaches), (0, True))

    def test_refused(self):
        a, b = batch(3, 12, 40, seed=31), batch(3, 40, 9, seed=32)
        for words, x, y, more in (("at least 1 is required", a[:, :0], b, {}),
                                  ("at least 1 is required", a[0][:0], b, {"offsets": [0, 0, 0]}),
                                  ("batches of", a, b[:2], {}),
                                  ("zero points require", a[0], b[0], {"zero_a": 1})):
            with self.assertRaisesRegex(bitcut.BadArgument, words):
                bitcut.advise(x, y, **more)


@needs_numpy
class Limits(unittest.TestCase):
    def setUp(self):
        self.a, self.b = batch(3, 6, 64, seed=4), batch(3, 64, 7, seed=5)
        self.d = bitcut.gemm(self.a, self.b, **WAY).d

    def test_judge(self):
        """The verdict on a batch is made of those on its GEMMs by the same limits."""
        off = self.d.copy()
        off[2, 5, 3] *= 1 + 2**-12
        off[1, 0, 6] = numpy.nan
        for order in (None, "any"):
            t = bitcut.tolerance(self.a, self.b, **WAY, order=order, runs=20)
            for d in (self.d, off):
                v = t.judge(d, self.a, self.b, **WAY, order=order)
                each = [t.judge(d[i], self.a[i], self.b[i], **WAY, order=order) for i in range(3)]
                worst = max(range(3), key=lambda i: each[i].component)
                self.assertEqual(bool(v), all(each))
                self.assertEqual((v.gemm, list(v.worst_at)), (worst, list(each[worst].worst_at)))
                for name in ("component", "norm", "with_underflow", "relres"):
                    self.assertEqual(getattr(v, name), max(getattr(x, name) for x in each))
                for name in ("above", "beyond", "wrong"):
                    self.assertEqual(getattr(v, name), sum(getattr(x, name) for x in each))
            self.assertTrue(t.judge(self.d, self.a, self.b, **WAY, order=order))
            self.assertEqual((v.wrong, v.gemm), (1, 1))

    def test_outputs_are_counted(self):
        """Of equal GEMMs the runs are equal, and limits grow with their number alone."""
        a, b = self.a[0], self.b[0]
        limits = [bitcut.tolerance(numpy.stack([a] * n), b, **WAY, runs=40).limit
                  for n in (2, 16, 128)]
        self.assertEqual(sorted(set(limits)), limits)
        one = bitcut.tolerance(a[None], b, **WAY, runs=40)
        self.assertEqual(one.to_dict(), bitcut.tolerance(a, b, **WAY, runs=40).to_dict())

    def test_every_gemm_has_runs(self):
        """A GEMM of small sums and one of a large element are both in the typical range."""
        a = self.a.copy()
        a[1] = 1e-30
        small = bitcut.tolerance(a, self.b, **WAY, runs=20).underflow
        self.assertGreater(small, bitcut.tolerance(self.a, self.b, **WAY, runs=20).underflow)

    def test_assertion(self):
        bitcut.testing.assert_gemm_close(self.d, self.a, self.b, **WAY)
        for i in range(3):
            d = self.d.copy()
            d[i, 2, 4] += 1e-3
            with self.assertRaisesRegex(AssertionError, rf"output \({i}, 2, 4\)"):
                bitcut.testing.assert_gemm_close(d, self.a, self.b, effort=0, **WAY)
            d[i] = numpy.roll(self.d[i], 1, 0)
            with self.assertRaisesRegex(AssertionError, rf"output \({i}, "):
                bitcut.testing.assert_gemm_close(d, self.a, self.b, effort=0, **WAY)
        with self.assertRaisesRegex(bitcut.testing.TestTooWeak, "zeros"):
            bitcut.testing.assert_gemm_close(0 * self.d, 0 * self.a, self.b, **WAY)

    def test_refused(self):
        with self.assertRaisesRegex(bitcut.BadArgument, "number of GEMMs"):
            bitcut.tolerance(self.a[:0], self.b[:0], **WAY)


@needs_numpy
class Groups(unittest.TestCase):
    """Groups of rows against gemm() of each group."""

    def test_random(self):
        for seed in range(30):
            draw = numpy.random.default_rng(seed)
            rows = draw.integers(0, 5, int(draw.integers(1, 6)))
            rows[-1] += 1
            ends, groups = numpy.cumsum(rows), len(rows)
            m, n, k = int(ends[-1]), int(draw.integers(1, 7)), int(draw.integers(1, 50))
            a, b = batch(m, k, seed=seed), batch(groups, k, n, seed=seed + 1000)
            out = numpy.zeros((m, n), "f4")
            if seed % 2:
                a, out = numpy.asfortranarray(a), numpy.asfortranarray(out)
            if seed % 3 == 1:
                b = b[0]
            rowwise = {"bias": batch(m, seed=seed), "bias_rows": True, "epilogue": "fused",
                       "scale_a": batch(m, 1, seed=seed + 1), "block_a": (1, 0)}
            rowwise = rowwise if seed % 5 > 2 else {}
            d = bitcut.gemm(a, b, **WAY, **rowwise, offsets=ends, out=out).d
            self.assertEqual(d.shape, (m, n))
            for i in range(groups):
                of = slice(int(ends[i] - rows[i]), int(ends[i]))
                own = {**rowwise, **{x: rowwise[x][of] for x in ("bias", "scale_a") if x in rowwise}}
                one = bitcut.gemm(a[of], b if b.ndim == 2 else b[i], **WAY, **own).d
                self.assertEqual(d[of].tobytes(), one.tobytes(), (seed, i, rows))
            self.assertTrue(bitcut.verify(d, a, b, **WAY, **rowwise, offsets=ends))
            off = d.copy()
            at = [int(draw.integers(m)), int(draw.integers(n))]
            off[tuple(at)] += 1
            found = bitcut.verify(off, a, b, **WAY, **rowwise, offsets=ends)
            self.assertEqual((found.differ, found.first["at"]), (1, at))
            group = int(numpy.searchsorted(ends, at[0], "right"))
            errors = [bitcut.judge(off, a, b, **WAY, index=i, offsets=ends,
                                   **rowwise).relres if rows[i] else 0 for i in range(groups)]
            self.assertEqual(int(numpy.argmax(errors)), group)

    def test_limits(self):
        ends = [2, 2, 7, 12]
        a, b = batch(12, 64, seed=6), batch(4, 64, 7, seed=7)
        d = bitcut.gemm(a, b, **WAY, offsets=ends).d
        t = bitcut.tolerance(a, b, **WAY, runs=20, offsets=ends)
        self.assertEqual(t.outputs, 14)  # of the smallest group
        self.assertTrue(t.judge(d, a, b, **WAY, offsets=ends))
        off = d.copy()
        off[8, 3] *= 1.01
        v = t.judge(off, a, b, **WAY, offsets=ends)
        self.assertEqual((bool(v), v.gemm, list(v.worst_at), v.above), (False, 3, [1, 3], 1))

    def test_refused(self):
        a, b = batch(6, 8, seed=1), batch(3, 8, 5, seed=2)
        for offsets, words in (([2, 2, 5], "end with 5, but A has 6 rows"), ([4, 2, 6], "ascend"),
                               ([2, 6], "2 groups, but B has 3"), ([], "0 groups")):
            with self.assertRaisesRegex(bitcut.BadArgument, words):
                bitcut.gemm(a, b, **WAY, offsets=offsets)
        with self.assertRaisesRegex(bitcut.BadArgument, "2 dimensions"):
            bitcut.gemm(batch(3, 2, 8, seed=1), b, **WAY, offsets=[1, 2, 2])
        for call in (bitcut.bound, bitcut.budget):
            with self.assertRaisesRegex(bitcut.BadArgument, "invalid GEMM index"):
                call(a, b, **WAY, offsets=[2, 2, 6], index=3)
        x = numpy.ones((2, 4, 8), "i1")
        with self.assertRaisesRegex(bitcut.BadArgument, "one GEMM of integers"):
            bitcut.explain(numpy.full((2, 4, 4), 8, "i4"), x, x.transpose(0, 2, 1).copy())
        with self.assertRaisesRegex(bitcut.BadArgument, r"bias: shape \(3, 5\); a batch has \(3, 1, 5\)"):
            bitcut.gemm(batch(3, 6, 8, seed=1), b, **WAY, bias=batch(3, 5, seed=3))

    def test_values_of_integers(self):
        """A batch of whole numbers whose D is limited: no rule of integers, no crash."""
        a = numpy.rint(batch(2, 6, 40, seed=4) * 100).astype("f4")
        b = numpy.rint(batch(2, 40, 5, seed=5) * 100).astype("f4")
        d = numpy.clip(a @ b, -128, 127).astype("f4")
        found = bitcut.explain(d, a, b, seconds=0.2)
        self.assertFalse(found.found)

    def test_explain_groups(self):
        """Groups are explained as GEMMs; the bias of rows and the factors are those of the group."""
        a, b = batch(90, 64, seed=6), batch(4, 64, 24, seed=7)
        offsets = [0, 30, 64, 90]
        given = {"bias": batch(90, seed=8), "bias_rows": True, "format_d": "f16",
                 "scale_a": batch(90, 1, seed=9)}
        for more in ({}, given, {**given, "epilogue": "scales+round+bias"}):
            d = bitcut.gemm(a, b, **WAY, offsets=offsets, **more).d
            told = {key: more[key] for key in more if key != "epilogue"}
            found = bitcut.explain(d, a, b, **WAY, offsets=offsets, **told)
            self.assertEqual((found.gemms, found.explained, found.total), (4, 4, 90 * 24), found)
            self.assertTrue(found and found.runs, found)
            self.assertIn("in all 4 groups", found.text)
        wrong = d.copy()
        wrong[30:64] = bitcut.gemm(a[30:64], b[3], **WAY, bias=given["bias"][30:64],
                                   bias_rows=True, scale_a=given["scale_a"][30:64],
                                   epilogue="scales+round+bias", format_d="f16").d
        found = bitcut.explain(wrong, a, b, **WAY, offsets=offsets, **told)
        self.assertEqual((found.explained, found.gemm), (3, 2))
        self.assertIn("Group 2: the same, with B of group 3", found.text)
        told["bias"] = numpy.roll(told["bias"], 1)
        found = bitcut.explain(d, a, b, **WAY, offsets=offsets, seconds=0.2, **told)
        self.assertEqual((found.explained, found.gemm), (0, 1))
        self.assertIn("the bias that was given is not added", found.text)

    def test_groups_without_numbers(self):
        """An assertion on groups that have no exact result is too weak."""
        a, b = numpy.full((6, 8), numpy.nan, "f4"), batch(3, 8, 5, seed=2)
        d = bitcut.gemm(a, b, **WAY, offsets=[2, 2, 6]).d
        with self.assertRaises(bitcut.testing.TestTooWeak):
            bitcut.testing.assert_gemm_close(d, a, b, **WAY, offsets=[2, 2, 6])
        with self.assertRaisesRegex(bitcut.BadArgument, "block of factors"):
            bitcut.gemm(a, b, **WAY, offsets=[1, 2, 6], scale_a=batch(3, 1, seed=1),
                        block_a=(2, 0))


@needs_numpy
class GroupsOfK(unittest.TestCase):
    """Groups of k against gemm() of copies of each group's slices."""

    WAYS = ({**WAY}, {"recipe": "plain", "unit": "mi300", "order": {"slices": 3}},
            {**WAY, "equilibrate": True}, {"recipe": "plain", "unit": "h100", "tile_k": 16, "promote": 2},
            {"recipe": "plain", "unit": "h100", "high": "sr", "round_seed": 3},
            {"recipe": "plain", "unit": "h100", "sum_rounding": "rz"},
            {"recipe": "plain", "unit": "fma/f32", "order": {"lanes": 4}})

    def draw(self, seed):
        """Matrices, groups, and what is varied."""
        r = numpy.random.default_rng(seed)
        depth, scales = 32, seed % 4 == 3
        sizes = r.integers(0, 3, int(r.integers(1, 6))) * depth if scales else \
            r.integers(0, 70, int(r.integers(1, 6)))
        if seed % 4:
            sizes[r.integers(len(sizes))] = 0
        ends, groups = numpy.cumsum(sizes), len(sizes)
        k, m, n = int(ends[-1]), int(r.integers(1, 9)), int(r.integers(1, 9))
        a, b = (r.standard_normal(s).astype("f4") for s in ((m, k), (k, n)))
        if seed % 2:
            a = numpy.asfortranarray(a)
        if seed % 3:
            b = numpy.asfortranarray(b)
        way = dict(self.WAYS[seed % len(self.WAYS)])
        way["c"] = [None, r.standard_normal((groups, m, n)).astype("f4"),
                    r.standard_normal((m, n)).astype("f4")][seed % 3]
        if seed % 5 == 1:
            way["format_d"] = "f16"
        if seed % 5 == 2:
            way.update(bias=r.standard_normal(n).astype("f4"), epilogue="fused")
        if scales and k:
            way = {"recipe": "plain", "unit": "h100", "scaling": "promoted", "block_a": (1, depth),
                   "block_b": (0, depth), "scale_a": r.random((m, k // depth)).astype("f4"),
                   "scale_b": r.random((k // depth, 1)).astype("f4"), "c": way["c"]}
        return r, a, b, sizes, ends, way

    def one(self, a, b, way, i, of):
        """Group i alone."""
        own, c = dict(way), way["c"]
        own["c"] = None if c is None else c if c.ndim == 2 else c[i]
        if "scale_a" in way:
            blocks = slice(of.start // 32, of.stop // 32)
            own.update(scale_a=way["scale_a"][:, blocks].copy(), scale_b=way["scale_b"][blocks].copy())
            if of.start == of.stop:  # no block of factors
                for name in ("scale_a", "scale_b", "scaling", "block_a", "block_b"):
                    own.pop(name)
        return bitcut.gemm(a[:, of].copy(), b[of].copy(), **own).d

    def test_random(self):
        for seed in range(120):
            r, a, b, sizes, ends, way = self.draw(seed)
            d = bitcut.gemm(a, b, **way, offsets_k=ends, threads=1 + seed % 3).d
            self.assertEqual(d.shape, (len(sizes), len(a), b.shape[1]))
            for i, end in enumerate(ends):
                of = slice(int(end - sizes[i]), int(end))
                self.assertEqual(d[i].tobytes(), self.one(a, b, way, i, of).tobytes(), (seed, i, sizes, way))
            self.assertTrue(bitcut.verify(d, a, b, **way, offsets_k=ends))
            off, at = d.copy(), [int(r.integers(x)) for x in d.shape]
            off[tuple(at)] += 1
            found = bitcut.verify(off, a, b, **way, offsets_k=ends)
            self.assertEqual((found.differ, found.first["at"]), (1, at), seed)

    def test_empty(self):
        """A group without k is +0, or beta C."""
        a, b = -numpy.ones((2, 5), "f4"), numpy.ones((5, 3), "f4")
        c = numpy.full((2, 3), -3, "f4")
        for given, empty in (({}, 0), ({"c": c, "beta": 2}, -6)):
            d = bitcut.gemm(a, b, **WAY, **given, offsets_k=[0, 5, 5]).d
            want = numpy.full((2, 3), empty, "f4").tobytes()
            self.assertEqual((d[0].tobytes(), d[2].tobytes()), (want, want))
            self.assertEqual(d[1, 0, 0], empty - 5)
        x = numpy.random.default_rng(3).integers(-128, 128, (4, 21)).astype("i1")
        d = bitcut.gemm(x, x.T.copy(), recipe="plain", unit="turing/mma.m8n8k16.s32.s8", zero_a=3,
                        zero_b=-5, offsets_k=[0, 17, 21]).d
        y, z = x.astype("i4") - 3, x.astype("i4") + 5
        want = [y[:, :0] @ z[:, :0].T, y[:, :17] @ z[:, :17].T, y[:, 17:] @ z[:, 17:].T]
        self.assertEqual(d.tolist(), numpy.stack(want).tolist())
        none = bitcut.gemm(a[:, :0], b[:0], **WAY, offsets_k=[0, 0]).d
        self.assertEqual(none.tobytes(), bytes(2 * 2 * 3 * 4))
        self.assertEqual(bitcut.gemm(a[:, :0], b[:0], **WAY, offsets_k=[]).d.shape, (0, 2, 3))

    def test_one(self):
        a, b = batch(6, 40, seed=1), batch(40, 5, seed=2)
        d = bitcut.gemm(a, b, **WAY, offsets_k=[40]).d
        self.assertEqual(d.tobytes(), bitcut.gemm(a, b, **WAY).d.tobytes())
        self.assertTrue(bitcut.explain(d, a, b, offsets_k=[40]).found)

    def test_limits_and_explanations(self):
        ends = [64, 64, 160, 300]
        a, b = batch(24, 300, seed=3), batch(300, 20, seed=4)
        d = bitcut.gemm(a, b, **WAY, offsets_k=ends).d
        e = bitcut.explain(d, a, b, offsets_k=ends)
        self.assertEqual((e.found, e.gemms, e.explained, e.total), (True, 4, 4, 4 * 24 * 20))
        self.assertIn("in all 4 groups", e.text)
        other = d.copy()
        other[3] = bitcut.gemm(a[:, 160:].copy(), b[160:].copy(), recipe="plain", unit="h100").d
        e = bitcut.explain(other, a, b, offsets_k=ends, seconds=0.5)
        self.assertEqual((e.found, e.explained, e.gemm), (False, 3, 3))
        self.assertIn("Group 3: D is plain", e.text)
        other[3] = d[2]
        e = bitcut.explain(other, a, b, offsets_k=ends, seconds=0.5)
        self.assertIn("Group 3: the same, with A and B of group 2", e.text)
        t = bitcut.tolerance(a, b, **WAY, offsets_k=ends, runs=20)
        self.assertTrue(t.judge(d, a, b, **WAY, offsets_k=ends))
        for at, by in (((2, 2, 3), 0.01), ((1, 5, 7), 1e-3)):  # and of the empty group
            off = d.copy()
            off[at] += by
            v = t.judge(off, a, b, **WAY, offsets_k=ends)
            self.assertEqual((bool(v), v.gemm, tuple(v.worst_at), v.above), (False, at[0], at[1:], 1))
            with self.assertRaisesRegex(AssertionError, rf"output \({at[0]}, {at[1]}, {at[2]}\)"):
                bitcut.testing.assert_gemm_close(off, a, b, **WAY, offsets_k=ends, effort=0)
        bitcut.testing.assert_gemm_close(d, a, b, **WAY, offsets_k=ends)
        for i, k in enumerate(([0, 64], [64, 64], [64, 160], [160, 300])):
            own = slice(*k)
            self.assertEqual(bitcut.judge(d, a, b, **WAY, offsets_k=ends, index=i).to_dict(),
                             bitcut.judge(d[i], a[:, own].copy(), b[own].copy(), **WAY).to_dict())
        # the largest k decides the worst case
        whole = bitcut.tolerance(a[:, 160:].copy(), b[160:].copy(), **WAY, runs=20)
        for order in (ends, [140, 204, 204, 300], [20, 160, 300]):
            t = bitcut.tolerance(a, b, **WAY, offsets_k=order, runs=20)
            self.assertEqual(t.bound, whole.bound)

    def test_bounds_and_budgets(self):
        """Bounds and budgets of a group, of k and of rows, are those of its GEMM alone."""
        a, b, three = batch(24, 90, seed=7), batch(90, 9, seed=8), batch(3, 90, 9, seed=9)
        bias = batch(9, seed=10)
        ends = [24, 24, 90]
        for given in ({}, {"bias": bias}, {"format_d": "f16"}, {"recipe": "plain", "unit": "a100"}):
            way = {**WAY, **given}
            for i, k in enumerate(([0, 24], [24, 24], [24, 90])):
                alone = a[:, slice(*k)].copy(), b[slice(*k)].copy()
                got = bitcut.bound(a, b, **way, offsets_k=ends, index=i)
                self.assertEqual(got.tobytes(), bitcut.bound(*alone, **way).tobytes())
                d = bitcut.gemm(a, b, **way, offsets_k=ends).d[i].astype("f8")
                exact = alone[0].astype("f8") @ alone[1].astype("f8") + (bias if "bias" in given else 0)
                self.assertTrue((abs(d - exact) <= got).all())
                self.assertEqual(str(bitcut.budget(a, b, **way, offsets_k=ends, index=i)),
                                 str(bitcut.budget(*alone, **way)))
            rows = [5, 5, 24]
            for i, of in enumerate(([0, 5], [5, 5], [5, 24])):
                alone = a[slice(*of)].copy(), three[i]
                got = bitcut.bound(a, three, **way, offsets=rows, index=i)
                self.assertEqual(got.shape, (of[1] - of[0], 9))
                self.assertEqual(got.tobytes(), bitcut.bound(*alone, **way).tobytes())
                if of[1] > of[0]:
                    self.assertEqual(str(bitcut.budget(a, three, **way, offsets=rows, index=i)),
                                     str(bitcut.budget(*alone, **way)))

    def test_runs_have_products(self):
        """Limits with empty groups are those of as many GEMMs with products."""
        a, b = batch(12, 64, seed=5), batch(64, 9, seed=6)
        want = bitcut.tolerance(numpy.stack([a] * 3), b, **WAY, runs=30)
        for ends in ([0, 64, 64], [64, 64, 64], [0, 0, 64]):
            found = bitcut.tolerance(a, b, **WAY, offsets_k=ends, runs=30)
            self.assertEqual(found.to_dict(), want.to_dict())

    def test_refused(self):
        a, b = batch(4, 8, seed=1), batch(8, 5, seed=2)
        for offsets, words in (([2, 2, 5], "end with 5, but k is 8"), ([4, 2, 8], "ascend"),
                               ([2, 9], "end with 9, but k is 8"), ([], "end with 0, but k is 8")):
            with self.assertRaisesRegex(bitcut.BadArgument, words):
                bitcut.gemm(a, b, **WAY, offsets_k=offsets)
        for given, words in (({"a": batch(2, 4, 8, seed=1)}, "A and B have 2 dimensions"),
                             ({"c": batch(3, 4, 5, seed=1)}, "2 groups, but C has 3 matrices"),
                             ({"offsets": [2, 4]}, "not both"), ({"sparse_a": True}, "sparse A"),
                             ({"out": numpy.zeros((4, 5), "f4")}, r"not \(2, 4, 5\)"),
                             ({"out": numpy.lib.stride_tricks.as_strided(
                                 numpy.zeros((5, 5), "f4"), (2, 4, 5), (20, 20, 4))}, "overlap"),
                             ({"scale_a": batch(4, 2, seed=1), "block_a": (1, 4), "scaling": "promoted",
                               "recipe": "plain", "tile_k": 4, "offsets_k": [3, 8]},
                              "group 1 does not begin with a block of factors of A"),
                             ({"scale_b": batch(2, 5, seed=1), "block_b": (1, 4), "scaling": "promoted",
                               "recipe": "plain", "tile_k": 4, "offsets_k": [3, 8]},
                              "group 1 does not begin with a block of factors of B")):
            with self.assertRaisesRegex(bitcut.BadArgument, words):
                bitcut.gemm(**{"a": a, "b": b, **WAY, "offsets_k": [2, 8], **given})
        for call in (bitcut.bound, bitcut.budget):
            with self.assertRaisesRegex(bitcut.BadArgument, "invalid GEMM index"):
                call(a, b, **WAY, offsets_k=[2, 8], index=2)


if __name__ == "__main__":
    unittest.main()
