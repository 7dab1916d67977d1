# SPDX-License-Identifier: BSD-3-Clause
"""FP64 GEMMs by a scheme: gemm(), verify() and judge() of float64 arrays."""

import math
import unittest
from fractions import Fraction

import helper  # noqa: F401
import bitcut

try:
    import numpy as np
except ImportError:
    np = None


@unittest.skipIf(np is None, "numpy is not installed")
class Schemes(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(48)
        self.a, self.b = rng.uniform(-1, 1, (9, 40)), rng.uniform(-1, 1, (40, 7))

    def exact(self, i, j):
        return sum(Fraction(x) * Fraction(y) for x, y in zip(self.a[i].tolist(),
                                                             self.b[:, j].tolist()))

    def test_d_is_near_the_exact_product(self):
        for row in bitcut.schemes():
            unit = {"f64": "fma/f64", "e4m3": "b200"}.get(row["part"], "h100")
            done = bitcut.gemm(self.a, self.b, scheme=row["name"], unit=unit)
            if row["name"] == "cublas-dynamic":  # as many as A and B require
                self.assertLessEqual(done.parts, row["parts"])
            else:
                self.assertEqual(done.parts, row["parts"])
            self.assertEqual(done.d.dtype, np.float64)
            for i, j in ((0, 0), (8, 6)):
                error = abs(Fraction(done.d[i, j].item()) - self.exact(i, j))
                self.assertLess(float(error), 2e-15, row["name"])

    def test_fewer_parts_lose_bits(self):
        errors = [bitcut.gemm(self.a, self.b, scheme="ozimmu-h", unit="h100", parts=parts).judge().relres
                  for parts in (2, 4, 6, 8)]
        self.assertEqual(errors, sorted(errors, reverse=True))
        self.assertLess(errors[3], 2e-16)
        self.assertGreater(errors[0], 1e-6)

    def test_layouts_alpha_beta_and_out(self):
        c = np.ones((9, 7))
        whole = bitcut.gemm(self.a, self.b, c=c, alpha=0.1, beta=-0.3, scheme="ozimmu", unit="a100")
        out = np.zeros((9, 7))
        again = bitcut.gemm(np.asfortranarray(self.a), np.asfortranarray(self.b), c=c, alpha=0.1,
                            beta=-0.3, scheme="ozimmu", unit="a100", out=out)
        self.assertIs(again.d, out)
        self.assertTrue((whole.d == out).all())
        self.assertTrue(np.allclose(out, 0.1 * (self.a @ self.b) - 0.3, atol=1e-15))
        self.assertTrue(bitcut.verify(out, self.a, self.b, c=c, alpha=0.1, beta=-0.3,
                                      scheme="ozimmu", unit="a100"))

    def test_verify_finds_a_bit(self):
        d = bitcut.gemm(self.a, self.b, scheme="gemmul8", unit="h100").d
        self.assertTrue(bitcut.verify(d, self.a, self.b, scheme="gemmul8", unit="h100"))
        d[3, 2] = np.nextafter(d[3, 2], 9)
        found = bitcut.verify(d, self.a, self.b, scheme="gemmul8", unit="h100")
        self.assertFalse(found)
        self.assertEqual(found.first["at"], [3, 2])
        self.assertIn("gemmul8 with 15 parts", str(found))

    def test_judge_of_float64_needs_no_scheme(self):
        d = self.a @ self.b
        found = bitcut.judge(d, self.a, self.b)
        self.assertLess(found.backward_max, 40)
        self.assertEqual(found.grade, 3)
        error = max(abs(Fraction(d[i, j].item()) - self.exact(i, j)) /
                    sum(abs(Fraction(x) * Fraction(y))
                        for x, y in zip(self.a[i].tolist(), self.b[:, j].tolist()))
                    for i in range(9) for j in range(7))
        self.assertTrue(math.isclose(found.backward_max, float(error) * 2**53, rel_tol=1e-9))

    def test_batches(self):
        a = np.stack([self.a, 2 * self.a])
        d = bitcut.gemm(a, self.b, scheme="ozimmu-ef", unit="h100", parts=9).d
        one = bitcut.gemm(self.a, self.b, scheme="ozimmu-ef", unit="h100", parts=9).d
        self.assertEqual(d.shape, (2, 9, 7))
        self.assertTrue((d[0] == one).all() and (d[1] == 2 * one).all())

    def test_refusals(self):
        for words, why in (({"scheme": "ozimmu"}, "unit: missing"),
                           ({"parts": 3}, "parts: missing scheme"),
                           ({"scheme": "none", "unit": "h100"}, "none: unknown scheme"),
                           ({"scheme": "ozimmu", "unit": "h100", "promote": 4},
                            "promote: of FP32 GEMMs"),
                           ({"scheme": "ozimmu", "unit": "h100", "parts": 40}, "1 to 18 parts"),
                           ({"scheme": "ozimmu", "unit": "h100", "beta": 1}, "no C")):
            with self.assertRaisesRegex(bitcut.BadArgument, why):
                bitcut.gemm(self.a, self.b, **words)


if __name__ == "__main__":
    unittest.main()
