# SPDX-License-Identifier: BSD-3-Clause
"""Biases, factors, starts and steps of an epilogue: arguments, shapes, and what is refused.
tests/emu/test_gemm.c compares their bits."""

import fractions
import unittest

from helper import Folder, needs_numpy, numpy, uniform

import bitcut
import bitcut.testing

WAY = {"recipe": "fp32", "unit": "fma/f32"}
M, N, K = 6, 5, 256


def whole(*shape, seed=0, most=4):
    """Small whole numbers, whose sums are exact."""
    return numpy.random.default_rng(seed).integers(-most, most + 1, shape).astype("f4")


@needs_numpy
class Epilogues(Folder):
    def setUp(self):
        super().setUp()
        self.a, self.b, self.c = whole(M, K), whole(K, N, seed=1), whole(M, N, seed=2)

    def gemm(self, **more):
        return bitcut.gemm(self.a, self.b, **WAY, **more)

    def test_bias(self):
        bias, rows = whole(N, seed=3), whole(M, seed=4)
        product = self.a @ self.b
        for given in (bias, bias[None, :]):
            self.assertTrue((self.gemm(bias=given).d == product + bias).all())
        for given in (rows, rows[None, :], rows[:, None]):
            self.assertTrue((self.gemm(bias=given, bias_rows=True).d ==
                             product + rows[:, None]).all())
        g = self.gemm(bias=bias, epilogue="fused-relu")
        self.assertEqual(g.epilogue, "fused-relu")
        self.assertTrue((g.d == numpy.maximum(product + bias, 0)).all())
        with self.assertRaisesRegex(bitcut.BadArgument, "bias: 6 elements, not 5"):
            self.gemm(bias=rows)

    def test_starts(self):
        product = self.a @ self.b
        for start in ("c", "slice-c"):
            g = self.gemm(c=self.c, start=start)
            self.assertEqual(g.start, start)
            self.assertTrue((g.d == product + self.c).all())
        with self.assertRaisesRegex(bitcut.BadArgument, "requires a bias"):
            self.gemm(start="bias")

    def test_factors(self):
        """Powers of two multiply exactly, wherever they are applied."""
        two = 2.0 ** whole(M, 1, seed=5)
        of_b = 2.0 ** whole(1, N, seed=6)
        product = self.a @ self.b
        for given, block in ((two, None), (two[:, 0], None), (two, (1, 0))):
            g = self.gemm(scale_a=given, scale_b=of_b, block_a=block)
            self.assertTrue((g.d == two * product * of_b).all())
        self.assertTrue((self.gemm(scale_a=0.5, scale_b=4).d == 2 * product).all())
        blocks, of_b = 2.0 ** whole(M, 2, seed=7), 2.0 ** whole(2, 1, seed=8)
        want = sum(blocks[:, i:i + 1] * (self.a[:, 128 * i:128 * i + 128] @
                                         self.b[128 * i:128 * i + 128]) * of_b[i]
                   for i in range(2))
        for scaling in ("promoted", "promoted-apart", "promoted-turns", "operand"):
            g = self.gemm(scale_a=blocks, scale_b=of_b, scaling=scaling)
            self.assertEqual((g.scaling, g.tile_k), (scaling, 0 if scaling == "operand" else 128))
            self.assertTrue((g.d == want).all(), scaling)
            self.assertTrue(bitcut.verify(g.d, self.a, self.b, scale_a=blocks, scale_b=of_b,
                                          scaling=scaling, **WAY))
            self.assertEqual(bitcut.judge(g.d, self.a, self.b, scale_a=blocks, scale_b=of_b,
                                          scaling=scaling, **WAY).relres, 0)
        with self.assertRaisesRegex(bitcut.BadArgument, "block_a or block_b says"):
            self.gemm(scale_a=numpy.ones((M, 3), "f4"))
        with self.assertRaisesRegex(bitcut.BadArgument, "do not fit blocks of 1 lines and 100 k"):
            self.gemm(scale_a=blocks, block_a=(1, 100))

    def test_block_scales(self):
        """A unit with block scales takes them as encodings."""
        unit = "blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e4m3"
        a, b = self.a[:, :64], self.b[:64]
        of_a = numpy.full((M, 2), 127 + 3, "u1")
        of_b = numpy.full((2, N), 127 - 1, "u1")
        g = bitcut.gemm(a, b, recipe="plain", unit=unit, scaling="unit", scale_a=of_a,
                        scale_b=of_b, block_a=(1, 32), block_b=(1, 32),
                        format_scale_a="ue8m0", format_scale_b="ue8m0")
        self.assertTrue((g.d == 4 * (a @ b)).all())
        with self.assertRaisesRegex(bitcut.BadArgument, "requires block scales: factors of A"):
            bitcut.gemm(a, b, recipe="plain", unit=unit, scaling="unit", scale_a=2.0)

    def test_short(self):
        """The bias before and after the rounding to D."""
        a, b, bias = uniform(M, K), uniform(K, N, seed=2), uniform(1, N, seed=3)
        way = {**WAY, "bias": bias, "format_d": "f16"}
        one, two = (bitcut.gemm(a, b, epilogue=e, **way).d for e in ("fused", "layer"))
        product = bitcut.gemm(a, b, **WAY).d
        self.assertTrue((one == (product + bias).astype("f2")).all())
        self.assertTrue((two == (product.astype("f2") + bias).astype("f2")).all())
        self.assertFalse((one == two).all())
        self.assertFalse(bitcut.verify(one, a, b, epilogue="layer", **way))

    def test_clamp(self):
        d = self.gemm(epilogue="fused+clamp", clamp=(0, 6)).d
        self.assertTrue((d == numpy.clip(self.a @ self.b, 0, 6)).all())
        with self.assertRaisesRegex(bitcut.BadType, "a pair of numbers"):
            self.gemm(clamp=3)

    def test_refused(self):
        bias = whole(N)
        with self.assertRaisesRegex(bitcut.BadArgument, "unknown epilogue"):
            self.gemm(epilogue="rounds")
        with self.assertRaisesRegex(bitcut.BadArgument, "step bias of the epilogue requires"):
            bitcut.advise(self.a, self.b, epilogue="layer", **WAY)
        with self.assertRaisesRegex(bitcut.BadArgument, "cannot be combined with factors"):
            bitcut.advise(self.a, self.b, scale_a=2.0, quantizers=True)
        with self.assertRaisesRegex(bitcut.BadArgument, "zero points"):
            bitcut.advise(self.a, self.b, zero_a=2, **WAY)
        with self.assertRaisesRegex(bitcut.BadArgument, "step bias of the epilogue requires a bias"):
            bitcut.explain(self.c, self.a, self.b, epilogue="layer")

    def test_advise(self):
        a, b = uniform(M, K), uniform(K, N, seed=2)
        for given in ({"bias": uniform(1, N, seed=3)}, {"scale_a": 3.0, "alpha": 0.5},
                      {"c": uniform(M, N, seed=4), "beta": 2.0, "format_d": "f16"},
                      {"epilogue": "fused+relu+clamp", "clamp": (-1, 2)},
                      {"bias": uniform(1, N, seed=3), "start": "bias"}):
            advice = bitcut.advise(a, b, want=1, **WAY, **given)
            d = bitcut.gemm(a, b, **WAY, **given).d
            error = bitcut.judge(d, a, b, **WAY, **given).relres
            self.assertAlmostEqual(advice.error / error, 1, 9, given)
            self.assertEqual(advice.recipe, WAY["recipe"])

    def test_advise_zeros(self):
        """Of integers with zero points: on their unit, and on one of FP32, less the zero points."""
        rng = numpy.random.default_rng(3)
        a, b = rng.integers(0, 256, (M, 90)).astype("u1"), rng.integers(-128, 128, (90, N)).astype("i1")
        of = {"zero_a": 117, "zero_b": -5, "alpha": 0.3}
        exact = float(numpy.float32(0.3)) * ((a.astype("i8") - 117) @ (b.astype("i8") + 5))
        for unit in ("ampere/mma.m16n8k32.s32.u8.s8", "fma/f32"):
            advice = bitcut.advise(a, b, unit=unit, want=1, **of)
            left = {} if unit == "fma/f32" else of
            x, y = (a.astype("f4") - 117, b.astype("f4") + 5) if unit == "fma/f32" else (a, b)
            d = bitcut.gemm(x, y, recipe=advice.recipe, unit=unit, **{"alpha": 0.3, "format_d": "f32", **left}).d
            error = numpy.linalg.norm(d - exact) / numpy.linalg.norm(exact)
            self.assertAlmostEqual(advice.error / error, 1, 6, unit)
            self.assertLessEqual(advice.checked, advice.bound)
            self.assertEqual("zero_a" in advice.line, False, advice.line)

    def test_explain(self):
        rng = numpy.random.default_rng(5)
        a, b = rng.normal(size=(16, 96)).astype("f2"), rng.normal(size=(96, 24)).astype("f2")
        given = {"bias": rng.normal(size=24).astype("f4"), "epilogue": "layer",
                 "format_d": "f16"}
        d = bitcut.gemm(a, b, **WAY, **given).d
        found = bitcut.explain(d, a, b, **WAY, **given)
        self.assertTrue(found and found.runs and "epilogue=layer" in found.line, found)
        given["bias"] = numpy.roll(given["bias"], 1)
        self.assertFalse(bitcut.explain(d, a, b, seconds=0.2, **WAY, **given))

    def test_tolerance(self):
        """A right D of each kind is close; one with a fault of its epilogue is not."""
        rng = numpy.random.default_rng(11)
        a, b = rng.normal(size=(16, K)).astype("f4"), rng.normal(size=(K, 24)).astype("f4")
        bias = rng.normal(size=24).astype("f4")
        rows, cols = rng.uniform(0.5, 2, (16, 1)), rng.uniform(0.5, 2, (1, 24))
        blocks = rng.uniform(0.5, 2, (16, 2)).astype("f4")
        rows, cols = rows.astype("f4"), cols.astype("f4")
        cases = (
            ({"bias": bias, "format_d": "bf16"}, {"bias": numpy.roll(bias, 1)}),
            ({"scale_a": rows, "scale_b": cols}, {"scale_a": rows * rows}),
            ({"scale_a": blocks, "block_a": (1, 128), "scaling": "promoted", "promote": 8},
             {"scale_a": numpy.roll(blocks, 1, 1)}),
            ({"bias": bias, "epilogue": "fused-relu"}, {"bias": bias * 0}),
        )
        for given, fault in cases:
            way = {"recipe": "plain", "unit": "h100", **given}
            close = {**way, "order": None, "effort": 0, "runs": 30}
            bitcut.testing.assert_gemm_close(bitcut.gemm(a, b, **way).d, a, b, **close)
            with self.assertRaisesRegex(AssertionError, "not close"):
                bitcut.testing.assert_gemm_close(bitcut.gemm(a, b, **{**way, **fault}).d,
                                                 a, b, **close)

    def test_tables(self):
        self.assertIn("fused", bitcut.epilogues().names())
        self.assertIn("round", bitcut.steps().names())
        self.assertIn("promoted", bitcut.scalings().names())
        self.assertIn("c", bitcut.starts().names())

    def test_bounds(self):
        """No error of a GEMM with a bias, factors and a clamp is above its bound."""
        rng = numpy.random.default_rng(7)
        a, b = rng.normal(size=(M, K)).astype("f4"), rng.normal(size=(K, N)).astype("f4")
        bias = rng.normal(size=N).astype("f4")
        rows = rng.uniform(0.5, 2, (M, 1)).astype("f4")
        given = {"recipe": "plain", "unit": "h100", "bias": bias, "scale_a": rows,
                 "epilogue": "fused+clamp", "clamp": (-3, 3)}
        exact = (rows.astype("f8") * a) @ b.astype("f8") + bias
        error = abs(bitcut.gemm(a, b, **given).d - numpy.clip(exact, -3, 3))
        limit = bitcut.bound(a, b, **given)
        self.assertTrue((error <= limit).all() and (limit < 1).all() and error.max() > 0)
        parts = bitcut.budget(a, b, format_d="bf16", **given).to_dict()
        self.assertEqual(list(parts)[-2:], ["result", "error"])
        total = sum(part["mean"] for part in parts.values()) - parts["error"]["mean"]
        self.assertAlmostEqual(total, parts["error"]["mean"], 12)
        self.assertGreater(parts["result"]["rms"], 0)

    def test_fused_with_alpha(self):
        """cuBLAS's SGEMM: alpha times the sum is added to the rounded beta C, in orders of k that give most
        of D with the other rounding, too."""
        rng = numpy.random.default_rng(9)
        m, n, k = 30, 26, 120
        a, b, c = (rng.normal(size=x).astype("f4") for x in ((m, k), (k, n), (m, n)))
        for step, order in ((k, "fp32 on fma/f32, but alpha times the product"), (8, "slices of 8,|8 at a time")):
            d = numpy.zeros((m, n), "f4")
            for first in range(0, k, step):
                d = d + bitcut.gemm(a[:, first:first + step].copy(), b[first:first + step], **WAY).d
            alpha, beta = numpy.float32(1.37), numpy.float32(-0.81)
            d = (numpy.full_like(d, alpha).astype("f8") * d + (beta * c).astype("f8")).astype("f4")
            found = bitcut.explain(d, a, b, c=c, alpha=float(alpha), beta=float(beta))
            self.assertTrue(found, found)
            self.assertIsNone(found.fault)
            self.assertIn("one rounding", str(found))
            self.assertRegex(str(found), order)


@needs_numpy
class Budgets(Folder):
    def test_batch(self):
        """The budget of one GEMM of a batch is that of the GEMM alone."""
        rng = numpy.random.default_rng(9)
        a = rng.normal(size=(5, M, K)).astype("f4")
        b = rng.normal(size=(5, K, N)).astype("f4")
        for i in range(5):
            self.assertEqual(bitcut.budget(a, b, recipe="plain", unit="h100", index=i).to_dict(),
                             bitcut.budget(a[i], b[i], recipe="plain", unit="h100").to_dict())

    def test_program(self):
        """The program prints the same budget, and the parts of an output add up to its error."""
        rng = numpy.random.default_rng(8)
        a, b = rng.normal(size=(M, K)).astype("f4"), rng.normal(size=(K, N)).astype("f4")
        bias = rng.normal(size=N).astype("f4")
        self.save(A=a, B=b, bias=bias)
        parts = bitcut.budget(a, b, recipe="plain", unit="h100", bias=bias, start="bias",
                              epilogue="fused+relu", format_d="f16").to_dict()
        row, = self.program("gemm", "-a", "A.npy", "-b", "B.npy", "--recipe", "plain", "--unit", "h100",
                            "--bias", "BIAS.npy", "--start", "bias", "--epilogue", "fused+relu",
                            "--format-d", "f16", "--budget", "--at", "0,1", "--worst", "2")
        self.assertEqual(list(parts), [part["name"] for part in row["budget"]["parts"]])
        for part in row["budget"]["parts"]:
            self.assertEqual(part["u"], parts[part["name"]])

        def exact(part):
            digits, power = part["exact"].split("*2^")
            return fractions.Fraction(int(digits)) * fractions.Fraction(2) ** int(power)
        for one in (row["at"], *row["worst"]):
            total = sum(map(exact, one["parts"]))
            want = fractions.Fraction(one["d"]) - self.relu(a, b, bias, one["i"], one["j"])
            self.assertEqual(total, want)

    @staticmethod
    def relu(a, b, bias, i, j):
        terms = (fractions.Fraction(float(x)) * fractions.Fraction(float(y)) for x, y in zip(a[i], b[:, j]))
        return max(sum(terms) + fractions.Fraction(float(bias[j])), 0)


if __name__ == "__main__":
    unittest.main()
