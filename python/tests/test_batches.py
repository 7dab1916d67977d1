# SPDX-License-Identifier: BSD-3-Clause
"""Batches: what is found on all GEMMs is what each GEMM alone gives."""

import unittest

from helper import needs_numpy, numpy

import bitcut

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
        other = self.explain(d, c=c[::-1].copy(), seconds=2)
        self.assertFalse(other)

    def test_some(self):
        for i in (0, 2):
            d = self.d.copy()
            d[i] = bitcut.gemm(self.a[i], self.b[i], recipe="plain", unit="h100").d
            e = self.explain(d, seconds=4)
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


if __name__ == "__main__":
    unittest.main()
