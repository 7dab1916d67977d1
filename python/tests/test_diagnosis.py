# SPDX-License-Identifier: BSD-3-Clause
"""Kernels whose bits no model has, with one fault each: explain names it by the error that it leaves.
Faults that tests/identify has as well, and variations of a case, only with BITCUT_WHOLE."""

import os
import re
import unittest

from helper import needs_all, needs_numpy, numpy, part

import bitcut

SEED = int(os.environ.get("BITCUT_SEED", "1"))
EFFORT = 0.005


def product(a, b, draw):
    """A B in FP32: blocks of k of drawn lengths in a drawn order, each added in pairs."""
    k = a.shape[1]
    ends = numpy.unique(numpy.append(draw.integers(1, k, 5), k))
    blocks = [slice(i, j) for i, j in zip(numpy.append(0, ends[:-1]), ends)]
    draw.shuffle(blocks)
    d = numpy.zeros((len(a), b.shape[1]), "f4")
    for block in blocks:
        terms = a[:, block, None] * b[None, block]
        while terms.shape[1] > 1:
            half = terms.shape[1] // 2
            terms = numpy.concatenate((terms[:, :half] + terms[:, -half:],
                                       terms[:, half:-half]), axis=1)
        d += terms[:, 0]
    return d


def chain(a, b, draw):
    """A B in FP32, one chain in a drawn order of k: its errors are as large as they become."""
    d = numpy.zeros((len(a), b.shape[1]), "f4")
    for k in draw.permutation(a.shape[1]):
        d += a[:, k, None] * b[None, k]
    return d


@needs_numpy
class Diagnosis(unittest.TestCase):
    def setUp(self):
        self.draw = numpy.random.default_rng(SEED)
        self.m, self.n, self.k = (int(x) for x in self.draw.integers((40, 40, 160), (70, 70, 300)))
        self.a, self.b = self.normal(self.m, self.k), self.normal(self.k, self.n)

    def normal(self, *shape):
        return self.draw.standard_normal(shape).astype("f4")

    def explain(self, d, **told):
        found = bitcut.explain(d, self.a, self.b, effort=EFFORT, **told)
        self.assertFalse(found, f"seed {SEED}: {found}")
        return found

    def names(self, d, fault, words, **told):
        found = self.explain(d, **told)
        self.assertEqual((found.diagnosis, found.fault), ("fault", fault), f"seed {SEED}: {found}")
        self.assertRegex(str(found), words, f"seed {SEED}")

    def test_right(self):
        found = self.explain(product(self.a, self.b, self.draw))
        self.assertEqual(found.diagnosis, "rounding", f"seed {SEED}: {found}")

    def test_right_in_steps(self):
        """A correct kernel in an order that no model has is no fault, however near a fault comes to its bits."""
        def short(x):
            return bitcut.convert(bitcut.convert(x, "bf16"), "f32", format="bf16")
        highs = [short(x) for x in (self.a, self.b)]
        lows = [short(x - high) for x, high in zip((self.a, self.b), highs)]
        terms = [(x.astype("f8"), y.astype("f8")) for x, y in ((lows[0], highs[1]), (highs[0], lows[1]), highs)]
        d = numpy.zeros((self.m, self.n), "f4")
        for first in range(0, self.k, 8):
            for x, y in terms:
                d = (d + x[:, first:first + 8] @ y[first:first + 8]).astype("f4")
        for effort in part((0.01, 0.05)):
            found = bitcut.explain(d, self.a, self.b, recipe="bf16x3", effort=effort)
            self.assertTrue(found or found.diagnosis in ("rounding", "operands"), f"seed {SEED}: {found}")
            self.assertIsNone(None if found else found.fault, f"seed {SEED}: {found}")

    @needs_all
    def test_registers(self):
        """Registers c1 and c2 of each accumulator are stored in each other's place."""
        d = product(self.a, self.b, self.draw)
        row, column = numpy.indices(d.shape)
        moved = (row // 8 % 2 != column % 2) & (row < self.m // 16 * 16) & (column < self.n // 8 * 8)
        wrong = d[numpy.where(moved, row ^ 8, row), numpy.where(moved, column ^ 1, column)]
        found = self.explain(wrong)
        self.assertRegex(str(found), "^In each 16 x 8 tile of D, .* c1 and c2 are exchanged", f"seed {SEED}")

    @needs_all
    def test_stale_tile(self):
        """A tile of D read a tile of B that was two steps old."""
        wide = int(self.draw.choice([8, 16]))
        first = wide * int(self.draw.integers(2, self.k // wide))
        stale = self.b.copy()
        stale[first:first + wide] = self.b[first - 2 * wide:first - wide]
        d = product(self.a, self.b, self.draw)
        d[8:24, 16:32] = product(self.a, stale, self.draw)[8:24, 16:32]
        self.names(d, "k of B stale", f"of k from {first} to {first + wide - 1} have the elements of B "
                                      f"of k from {first - 2 * wide} to {first - wide - 1}")

    @needs_all
    def test_moved(self):
        """A tile of D holds the results of another place."""
        right = product(self.a, self.b, self.draw)
        for down, across, words in ((8, -3, "8 rows below and 3 columns to the left"),
                                    (-9, 0, "9 rows above"), (1, 11, "1 row below and 11 columns to the right")):
            d = right.copy()
            d[10:18, 16:24] = right[10 + down:18 + down, 16 + across:24 + across]
            self.names(d, "moved", f"they hold the results of the outputs {words}[.;]")

    def test_bias_missing(self):
        """The last columns are stored without the bias."""
        bias, from_column = self.normal(self.n), self.n - int(self.draw.integers(4, 10))
        d = product(self.a, self.b, self.draw)
        d[:, :from_column] += bias[:from_column]
        self.names(d, "step missing", "step bias of the epilogue is missing", bias=bias)

    def test_told(self):
        """Some rows have the factors of A or the bias once too often, or not at all."""
        factors, bias = numpy.exp(self.normal(self.m)), self.normal(self.n)
        plain = product(self.a, self.b, self.draw)
        right = plain * factors[:, None] + bias
        last = self.m - int(self.draw.integers(5, 9))
        for wrong, fault, words in ((plain + bias, "factors ignored", "the factors of A are ignored"),
                                    (right + bias, "step twice", "step bias of the epilogue is applied twice")):
            d = right.copy()
            d[last:] = wrong[last:]
            self.names(d, fault, words, scale_a=factors, bias=bias)

    @needs_all
    def test_most(self):
        """More than half of the rows are stored without the bias."""
        bias = self.normal(self.n)
        d = chain(self.a, self.b, self.draw)
        d[:int(self.m * self.draw.uniform(0.42, 0.48))] += bias
        self.names(d, "step missing", "step bias of the epilogue is missing", bias=bias)

    def test_scaled(self):
        """All results are a little too large."""
        by = 2.0**-int(self.draw.integers(16, 21))
        found = self.explain(product(self.a, self.b, self.draw) * numpy.float32(1 + by))
        self.assertEqual(found.fault, "result scaled", f"seed {SEED}: {found}")
        named = float(re.search(r"1 \+ (\S+) times", str(found))[1])
        self.assertLess(abs(named / by - 1), 0.25, f"seed {SEED}: {found}")

    def directed(self, way):
        """One chain whose every sum is rounded down (-1) or up (1)."""
        d = numpy.zeros((self.m, self.n), "f4")
        for k in range(self.k):
            exact = d + self.a[:, k, None].astype("f8") * self.b[None, k]
            d = exact.astype("f4")
            d = numpy.where((d - exact) * way < 0, numpy.nextafter(d, numpy.float32(way * numpy.inf)), d)
        return d

    def test_biased(self):
        """Sums that drift are no fault of a range or a part; the sentence names the direction."""
        for way, words in part(((1, "upward"), (-1, "downward"))):
            found = self.explain(self.directed(way))
            self.assertEqual(found.diagnosis, "rounding", f"seed {SEED}, {words}: {found}")
            self.assertIn(f"the errors are biased {words}", str(found), f"seed {SEED}")
        self.assertNotRegex(str(self.explain(chain(self.a, self.b, self.draw))), "biased", f"seed {SEED}")

    def test_by_sign(self):
        """Positive and negative products apart: a correct order, whose errors are a few times the usual ones."""
        d = [numpy.zeros((self.m, self.n), "f4") for sign in range(2)]
        for k in self.draw.permutation(self.k):
            terms = self.a[:, k, None].astype("f8") * self.b[None, k]
            d = [(d[0] + numpy.maximum(terms, 0)).astype("f4"), (d[1] + numpy.minimum(terms, 0)).astype("f4")]
        found = self.explain(d[0] + d[1])
        self.assertEqual(found.diagnosis, "rounding", f"seed {SEED}: {found}")

    @needs_all
    def test_every_second_column(self):
        """Odd columns read the k of B before."""
        d = product(self.a, self.b, self.draw)
        before = numpy.concatenate((self.b[:1], self.b[:-1]))
        d[:, 1::2] = product(self.a, before, self.draw)[:, 1::2]
        self.names(d, "wrong k", r"one column in 2: k of B are shifted: k - 1 is read")

    @needs_all
    def test_part_of_truncated(self):
        """The bias is missing in most rows, of a kernel that truncates."""
        bias, first = self.normal(self.n), int(self.draw.integers(self.m // 3, self.m // 2))
        d = bitcut.gemm(self.a, self.b, recipe="markidis", unit="volta/mma.m8n8k4.f32.f16").d
        noise = self.draw.integers(-1, 2, d.shape).astype("f4") * numpy.spacing(numpy.abs(d))
        d = d + noise  # an order that no model has
        d[:first] += bias
        found = self.explain(d, bias=bias)
        self.assertEqual(found.fault, "step missing", f"seed {SEED}: {found}")
        self.assertIn("In the other outputs only rounding differs", str(found), f"seed {SEED}")

    def test_stuck(self):
        """A bit that is always set makes results larger in the mean, but not all of them."""
        d = chain(self.a, self.b, self.draw)
        found = self.explain((d.view("u4") | numpy.uint32(8)).view("f4"))
        self.assertNotEqual(found.diagnosis, "fault", f"seed {SEED}: {found}")

    def parts(self):
        """The high and the low parts of A and of B, in f16 with a scale of 2^11."""
        highs = [x.astype("f2").astype("f4") for x in (self.a, self.b)]
        lows = [((x - high) * numpy.float32(2048)).astype("f2").astype("f4")
                for x, high in zip((self.a, self.b), highs)]
        return highs, lows

    def test_hidden(self):
        """A short format of D hides the fault in most outputs."""
        (high_a, high_b), (low_a, low_b) = self.parts()
        low = product(high_a, low_b, self.draw) + product(low_a, high_b, self.draw)
        for by, words in part(((2**-10, r"scaled by 2\^-10|multiplied by 2\^1\b"),
                               (2**-8, r"scaled by 2\^-8|multiplied by 2\^3"))):
            d = product(high_a, high_b, self.draw) + low * numpy.float32(by)
            found = self.explain(bitcut.convert(d, "bf16"), format_d="bf16")
            self.assertEqual(found.diagnosis, "fault", f"seed {SEED}: {found}")
            self.assertRegex(str(found), words, f"seed {SEED}")

    def test_high_sums_short(self):
        """The sums of the high parts are rounded to f16, those of the corrections are not."""
        (high_a, high_b), (low_a, low_b) = self.parts()
        low = product(high_a, low_b, self.draw) + product(low_a, high_b, self.draw)
        high, ends = numpy.zeros((self.m, self.n), "f2"), range(0, self.k, 16)
        for first in self.draw.permutation(ends):
            k = slice(first, first + 16)
            high = (high + product(high_a[:, k], high_b[k], self.draw)).astype("f2")
        self.names(high.astype("f4") + low * numpy.float32(2**-11), "accumulator short", "sums are rounded to f16")

    def test_parts_short(self):
        """Many partial sums of the high parts are rounded to f16, and added in FP32."""
        (high_a, high_b), (low_a, low_b) = self.parts()
        d = (product(high_a, low_b, self.draw) + product(low_a, high_b, self.draw)) * numpy.float32(2**-11)
        for first in range(0, self.k, 16):
            k = slice(first, first + 16)
            d += product(high_a[:, k], high_b[k], self.draw).astype("f2").astype("f4")
        self.names(d, "partial sums short", "partial sums are rounded to f16")

    @needs_all
    def test_findings(self):
        """A fault that explains all of D comes before findings that nearly do."""
        c, rows = self.normal(self.m, self.n), numpy.arange(self.m) ^ 8
        rows[rows >= self.m] = numpy.arange(self.m)[rows >= self.m]
        d = product(self.a[rows], self.b, self.draw) + c
        self.names(d, "wrong rows or columns", "row i xor 8", c=c)
        d = product(self.a, self.b, self.draw) + c
        d[:, numpy.arange(self.n) // 8 % 4 == 1] *= -1
        self.names(d.astype("f2"), "result negated", "the result has the wrong sign", c=c)

    def test_stored_twice(self):
        """Results are cut to bf16 and then stored in f16."""
        d = product(self.a, self.b, self.draw)
        d = (d.view("u4") & numpy.uint32(0xffff0000)).view("f4")
        self.names(d.astype("f2"), "store truncated", r"rounded to bf16 \(rz\)")

    def test_stale_k(self):
        """Every third k has the operands of the k before."""
        k = numpy.arange(self.k)
        k[2::3] -= 1
        d = bitcut.gemm(self.a[:, k], self.b[k], recipe="fp32", unit="fma/f32").d
        found = bitcut.explain(d, self.a, self.b, effort=EFFORT)
        self.assertEqual(found.fault, "k stale", f"seed {SEED}: {found}")
        self.assertIn("in every 3 steps of 1 k, step 2", str(found), f"seed {SEED}")

    def test_swapped(self):
        """Two k of A, or of B, are in each other's place."""
        of_a = self.draw.integers(2)
        p, q = sorted(int(x) for x in self.draw.choice(self.k, 2, replace=False))
        wrong, order = self.a.T.copy() if of_a else self.b.copy(), [q, p]
        wrong[[p, q]] = wrong[order]
        d = product(*((wrong.T, self.b) if of_a else (self.a, wrong)), self.draw)
        self.names(d, "k swapped", f"one operand at k = {p} and k = {q} are swapped")

    def test_one_output(self):
        """One output is not a rounding difference, wherever it is."""
        d = product(self.a, self.b, self.draw)
        i, j = int(self.draw.integers(self.m)), int(self.draw.integers(self.n))
        d[i, j] += numpy.abs(self.a[i]) @ numpy.abs(self.b[:, j]) * numpy.float32(2**-6)
        found = self.explain(d)
        self.assertEqual(found.diagnosis, "unexplained", f"seed {SEED}: {found}")
        self.assertRegex(str(found), f"row {i}, column {j}\\b", f"seed {SEED}")

    def off(self, d, by):
        """D with one output off by so many u |A||B|, and where it is."""
        i, j = int(self.draw.integers(len(d))), int(self.draw.integers(self.n))
        d[i, j] += numpy.abs(self.a[i]) @ numpy.abs(self.b[:, j]) * numpy.float32(by * 2**-24)
        return d, rf"row {i}, column {j}\b"

    @needs_all
    def test_one_output_of_rounded(self):
        """The same of rounded operands, whose roundings are much larger."""
        rounded = (self.a.astype("f2").astype("f4"), self.b.astype("f2").astype("f4"))
        d, where = self.off(product(*rounded, self.draw), 12)
        found = self.explain(d)
        self.assertEqual(found.diagnosis, "unexplained", f"seed {SEED}: {found}")
        self.assertRegex(str(found), where, f"seed {SEED}")

    def test_one_output_of_rest(self):
        """Some rows have an order that no model has, and one output is off."""
        d, half = bitcut.gemm(self.a, self.b, recipe="fp32", unit="fma/f32").d.copy(), self.m * 2 // 3
        d[half:] = chain(self.a[half:], self.b, self.draw)
        self.assertEqual(self.explain(d.copy()).diagnosis, "rounding", f"seed {SEED}")
        d, where = self.off(d, 25)
        found = self.explain(d)
        self.assertEqual(found.diagnosis, "unexplained", f"seed {SEED}: {where}: {found}")
        self.assertRegex(str(found), where, f"seed {SEED}")

    @needs_all
    def test_one_output_of_many(self):
        """The same in a wide D. A sample has few of its columns."""
        self.m, self.n = 24, 300
        self.a, self.b = self.normal(self.m, self.k), self.normal(self.k, self.n)
        d = bitcut.gemm(self.a, self.b, recipe="fp32", unit="fma/f32").d.copy()
        d[16:] = chain(self.a[16:], self.b, self.draw)
        d[20, 299] += numpy.abs(self.a[20]) @ numpy.abs(self.b[:, 299]) * numpy.float32(2**-19)
        found = self.explain(d)
        self.assertEqual(found.diagnosis, "unexplained", f"seed {SEED}: {found}")
        self.assertRegex(str(found), r"row 20, column 299\b", f"seed {SEED}")

    def test_not_masked(self):
        """Rows of A are read beyond their end; what follows the last row is unknown."""
        self.k = self.k // 16 * 16 + int(self.draw.integers(1, 16))
        pad, unit = -self.k % 16, "hopper/mma.m16n8k16.f32.f16"
        a, b = (self.normal(*size).astype("f2").astype("f4") for size in ((self.m, self.k), (self.k, self.n)))
        after = numpy.append(a[1:, :pad], self.normal(1, pad).astype("f2").astype("f4"), axis=0)
        d = bitcut.gemm(numpy.append(a, after, axis=1), numpy.append(b, b[-1:].repeat(pad, axis=0), axis=0),
                        recipe="plain", unit=unit).d
        found = bitcut.explain(d, a, b, recipe="plain", unit=unit, effort=EFFORT)
        self.assertEqual(found.fault, "not masked", f"seed {SEED}: {found}")

    def test_overflow(self):
        """An element overflows in f16: its outputs are infinite or NaN, or it is saturated."""
        row = int(self.draw.integers(self.m))
        self.a[row, int(self.draw.integers(self.k))] = 1e5
        d = product(self.a, self.b, self.draw)
        d[row] = numpy.inf
        found = self.explain(d)
        self.assertEqual(found.diagnosis, "operands", f"seed {SEED}: {found}")
        self.assertRegex(str(found), f"{self.n} of {self.m * self.n} outputs are infinite or NaN", f"seed {SEED}")
        a, b = (numpy.clip(x, -65504, 65504).astype("f2").astype("f4") for x in (self.a, self.b))
        found = self.explain(product(a, b, self.draw))
        self.assertEqual(found.diagnosis, "operands", f"seed {SEED}: {found}")
        self.assertIn("rounded to f16 to nearest, and what overflows to the largest number", str(found), f"seed {SEED}")

    @needs_all
    def test_by_sign_of_rounded(self):
        """Errors that are larger than in other orders are not the errors of other operands."""
        a, b = (bitcut.convert(bitcut.convert(x, "bf16"), "f32", format="bf16") for x in (self.a, self.b))
        d = numpy.zeros((2, self.m, self.n), "f4")
        for k in range(self.k):
            term = a[:, k, None] * b[None, k]
            d[0] += numpy.maximum(term, 0)
            d[1] += numpy.minimum(term, 0)
        self.a, self.b = a, b
        self.assertNotEqual(self.explain(d[0] + d[1]).diagnosis, "operands", f"seed {SEED}")

    def test_nan(self):
        """One output of quantized operands is NaN or infinite."""
        values = [bitcut.quantize(x, "fp8-tensor", side).dequantized().astype("f4")
                  for x, side in ((self.a, "a"), (self.b, "b"))]
        for value in part((numpy.nan, -numpy.inf)):
            d = product(*values, self.draw)
            i, j = int(self.draw.integers(self.m)), int(self.draw.integers(self.n))
            d[i, j] = value
            self.assertRegex(str(self.explain(d)), rf"row {i}, column {j}\b|D\[{i}, {j}\]", f"seed {SEED}")

    def test_leading_dimension(self):
        self.n = self.n // 8 * 8 + 5
        self.b = self.normal(self.k, self.n)
        ld = (self.n + 7) // 8 * 8
        flat = numpy.append(self.b.ravel(), numpy.zeros(self.k * 8, "f4"))
        wrong = flat[:self.k * ld].reshape(self.k, ld)[:, :self.n]
        self.names(product(self.a, wrong, self.draw), "leading dimension",
                   f"B is read with the leading dimension {ld} instead of {self.n}")

    def test_quantized(self):
        for name in part(("fp8-tensor", "fp8-rows", "mxfp8"), 3):
            values = [bitcut.quantize(x, name, side).dequantized().astype("f4")
                      for x, side in ((self.a, "a"), (self.b, "b"))]
            found = self.explain(product(*values, self.draw))
            self.assertEqual(found.diagnosis, "operands", f"seed {SEED}: {found}")
            self.assertIn(f"A and B are quantized by {name}", str(found), f"seed {SEED}")

    def test_transposed_with_c(self):
        """D is stored by columns and C is not, or both are; in both shapes."""
        for self.n in (self.m, self.n):
            self.b, c = self.normal(self.k, self.n), self.normal(self.m, self.n)
            d = bitcut.gemm(self.a, self.b, recipe="fp32", unit="fma/f32").d
            for of_c, words in ((False, "D"), (True, "C, D")):
                stored = numpy.ascontiguousarray(c.T).reshape(c.shape) if of_c else c
                wrong = numpy.ascontiguousarray((d + c).T).reshape(d.shape)
                found = bitcut.explain(wrong, self.a, self.b, c=stored, effort=EFFORT)
                self.assertTrue(found, f"seed {SEED}: {found}")
                self.assertRegex(str(found), rf"(transposed|stored by columns): {words}[;:]", f"seed {SEED}")

    @needs_all
    def test_negated_columns(self):
        """Most columns have the wrong sign; those with the right one are not shown."""
        d, wrong = product(self.a, self.b, self.draw), self.draw.permutation(self.n)[:self.n * 5 // 8]
        d[:, wrong] *= -1
        found = self.explain(d, c=self.normal(self.m, self.n), beta=0)
        self.assertNotRegex(str(found), r"column \d+: (1|0\.9)", f"seed {SEED}")
        self.assertRegex(str(found), "column [0-9]+: -|wrong sign", f"seed {SEED}")

    @needs_all
    def test_factors_ignored(self):
        """Factors of many sizes are ignored in most rows: the errors there are those of the sums."""
        factors, bias = numpy.exp(3 * self.normal(self.m)), self.normal(self.n)
        plain = chain(self.a, self.b, self.draw)
        d = plain * factors[:, None] + bias
        d[self.m // 3:] = plain[self.m // 3:] + bias
        found = self.explain(d, scale_a=factors, bias=bias)
        self.assertEqual(found.fault, "factors ignored", f"seed {SEED}: {found}")

    def test_fault_of_most(self):
        """A fault of all results, and an unknown one in some of them: these are not called right."""
        d = product(self.a[:, :-1], self.b[:-1], self.draw)
        rows, cols = self.m // 4, self.n * 2 // 3
        d[-rows:, :cols] = product(self.normal(rows, self.k), self.b[:, :cols], self.draw)
        found = self.explain(d)
        self.assertEqual((found.diagnosis, found.fault), ("fault", "k lost"), f"seed {SEED}: {found}")
        self.assertRegex(str(found), f"most outputs.*the products of k = {self.k - 1} are missing"
                                     ".*The median error of the other outputs", f"seed {SEED}")

    def test_slices_overlap(self):
        """Each slice after the first begins one k early."""
        slices = int(self.draw.integers(3, 6))
        length = -(-self.k // slices)
        d = numpy.zeros((self.m, self.n), "f4")
        for first in range(0, self.k, length):
            k = slice(max(first - 1, 0), first + length)
            d += product(self.a[:, k], self.b[k], self.draw)
        self.names(d, "slices overlap", f"slices of {length}; each slice after the first begins 1 k early")

    def test_drift(self):
        """Sums of short operands become a little larger at each step: several faults together are near, too."""
        for to in part(("bf16", "f16")):
            a, b = (bitcut.convert(bitcut.convert(x, to), "f32", format=to) for x in (self.a, self.b))
            d = numpy.zeros((self.m, self.n), "f4")
            for first in range(0, self.k, 16):
                k = slice(first, first + 16)
                d = ((d + a[:, k].astype("f8") @ b[k]) * (1 + 2**-22)).astype("f4")
            found = self.explain(d)
            self.assertEqual(found.diagnosis, "operands", f"seed {SEED}: {found}")
            self.assertRegex(str(found), f"rounded to {to}.*biased away from zero", f"seed {SEED}")

    def test_chance(self):
        """A few outputs agree with one of many hypotheses by chance; many outputs do not."""
        b = self.b[:, :1]
        for rows in (2, 3, 3):
            self.a = self.normal(rows, self.k)
            found = bitcut.explain(chain(self.a, b, self.draw), self.a, b, effort=0.05)
            self.assertTrue(not found or found.by_chance > 0.01, f"seed {SEED}: {found}")
            self.assertEqual("chance" in str(found), bool(found), f"seed {SEED}: {found}")
            self.assertNotIn("nearest hypothesis", str(found), f"seed {SEED}")
        self.a = self.normal(16, self.k)
        found = bitcut.explain(bitcut.gemm(self.a, b, recipe="fp32", unit="fma/f32").d, self.a, b)
        self.assertTrue(found and found.by_chance < 1e-3, f"seed {SEED}: {found}")
        self.assertNotIn("chance", str(found), f"seed {SEED}")

    @needs_all
    def test_one_ulp_of_short(self):
        """One result in bf16 is one ulp off: a second search adds orders, and gives no more of D."""
        draw = numpy.random.default_rng(SEED + 1)
        a, b, bias = (bitcut.convert(bitcut.convert(draw.standard_normal(size).astype("f4"), "bf16"), "f32",
                                     format="bf16") for size in ((100, 313), (313, 300), 300))
        d = bitcut.gemm(a, b, recipe="plain", unit="hopper/mma.m16n8k16.f32.bf16", bias=bias, format_d="bf16").d
        d = d.view("u2").copy()
        d[int(draw.integers(100)), int(draw.integers(300))] += 1
        found = bitcut.explain(d, a, b, bias=bias, format_d="bf16", effort=0.2)
        self.assertEqual((bool(found), found.differ), (False, 1), f"seed {SEED}: {found}")


if __name__ == "__main__":
    unittest.main()
