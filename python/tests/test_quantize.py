# SPDX-License-Identifier: BSD-3-Clause
"""Quantized operands: both sides, in GEMMs, and what is refused.  tests/number/test_quantizer.c
checks the rules."""

import unittest

from helper import Folder, needs_numpy, numpy

import bitcut

UNITS = (("fp8-tensor", "hopper/wgmma.m64n8k32.f32.e4m3", "epilogue"),
         ("fp8-rows", "hopper/wgmma.m64n8k32.f32.e4m3", "epilogue"),
         ("fp8-1x128", "hopper/wgmma.m64n8k32.f32.e4m3", "promoted"),
         ("mxfp8", "blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e4m3", "unit"),
         ("mxfp4", "blackwell/tcgen05.m128n8k64.mxf4.f32.e2m1", "unit"),
         ("nvfp4", "blackwell/tcgen05.m128n8k64.nvf4.f32.e2m1", "unit"))


@needs_numpy
class Quantizers(Folder):
    def setUp(self):
        super().setUp()
        rng = numpy.random.default_rng(1)
        self.a = rng.normal(size=(24, 256)).astype("f4")
        self.b = rng.normal(size=(256, 16)).astype("f4")

    def test_sides(self):
        """B is quantized as A transposed."""
        for name in bitcut.quantizers().names():
            x, y = bitcut.quantize(self.b.T.copy(), name), bitcut.quantize(self.b, name, "b")
            self.assertTrue((x.values == y.values.T).all(), name)
            self.assertTrue((x.scales == y.scales.T).all(), name)
            self.assertEqual((x.block, x.matrix_scale), (y.block, y.matrix_scale))
            self.assertTrue((x.dequantized() == y.dequantized().T).all(), name)
            error = numpy.abs(y.dequantized() - self.b).max()
            self.assertLess(0, error)
            self.assertLess(error, 1, name)

    def test_gemm(self):
        """D is the product of the dequantized matrices, up to errors of the unit."""
        for name, unit, scaling in UNITS:
            x, y = bitcut.quantize(self.a, name), bitcut.quantize(self.b, name, "b")
            d = bitcut.gemm(x.values, y.values, recipe="plain", unit=unit, scaling=scaling,
                            scale_a=x.scales, scale_b=y.scales, block_a=x.block,
                            block_b=y.block, format_scale_a=x.scale_format,
                            format_scale_b=y.scale_format,
                            alpha=x.matrix_scale * y.matrix_scale).d
            want = x.dequantized() @ y.dequantized()
            self.assertLess(numpy.linalg.norm(d - want), 1e-3 * numpy.linalg.norm(want), name)

    def test_program(self):
        """bitcut gemm --quantize-a --quantize-b has the same bits, and verify accepts them."""
        self.save(A=self.a, B=self.b)
        for name, unit, scaling in UNITS:
            x, y = bitcut.quantize(self.a, name), bitcut.quantize(self.b, name, "b")
            alpha = float(numpy.float32(x.matrix_scale) * numpy.float32(y.matrix_scale))
            want = bitcut.gemm(x.values, y.values, recipe="plain", unit=unit, scaling=scaling,
                               scale_a=x.scales, scale_b=y.scales, block_a=x.block,
                               block_b=y.block, format_scale_a=x.scale_format,
                               format_scale_b=y.scale_format, alpha=alpha).d
            words = ("-a", "A.npy", "-b", "B.npy", "--recipe", "plain", "--unit", unit,
                     "--quantize-a", name, "--quantize-b", name)
            row, = self.program("gemm", *words, "-o", "D.npy")
            self.same_bits(self.load("D"), want, name)
            self.assertEqual(row["scaling"], scaling)
            for key, q, full in (("quantization_a", x, self.a.astype("f8")),
                                 ("quantization_b", y, self.b.astype("f8"))):
                error = numpy.linalg.norm(q.dequantized() - full) / numpy.linalg.norm(full)
                self.assertAlmostEqual(row[key]["error"], error, 12)
                self.assertEqual(row[key]["zeros"], ((full != 0) & (q.values == 0)).sum())
            row, = self.program("verify", *words, "-d", "D.npy")
            self.assertEqual((row["mismatches"], row["quantization_b"]["quantizer"]), (0, name))

    def test_kept(self):
        """What is kept, against NumPy and against bitcut split."""
        self.save(A=self.a, B=self.b)
        for name in bitcut.quantizers().names():
            for side, x, words in (("a", self.a, ("-a", "A.npy")),
                                   ("b", self.b, ("-a", "B.npy", "--as-b"))):
                q, full = bitcut.quantize(x, name, side), x.astype("f8")
                error = numpy.abs(q.dequantized() - full)
                ulp = 2.0 ** (numpy.floor(numpy.log2(numpy.abs(full))) - 23)
                with numpy.errstate(divide="ignore"):
                    bits = numpy.where(error > 0, 23 - numpy.floor(numpy.log2(error / ulp)), 24)
                self.assertAlmostEqual(q.retained, numpy.maximum(bits, 0).mean(), 12, name)
                self.assertEqual(q.max_error, (error / numpy.abs(full)).max(), name)
                self.assertAlmostEqual(q.error * numpy.linalg.norm(full), numpy.linalg.norm(error))
                self.assertEqual((q.elements, q.zeros), (x.size, (q.values == 0).sum()))
                self.assertEqual((q.scale_min, q.scale_max), (q._factors.min(), q._factors.max()))
                row, = self.program("split", "--quantize", name, *words)
                for key in ("error", "bits", "retained", "max_error", "zeros", "saturated", "subnormal",
                            "elements", "scale_min", "scale_max", "matrix_scale"):
                    self.assertEqual(row[key], getattr(q, key), f"{name}: {key}")

    def test_refused(self):
        for wrong, words in ((lambda: bitcut.quantize(self.a, "fp9"), "unknown quantizer"),
                             (lambda: bitcut.quantize(self.a, "mxfp8", "c"), "neither 'a' nor 'b'"),
                             (lambda: bitcut.quantize(self.a[0], "mxfp8"), "1 dimensions"),
                             (lambda: bitcut.quantize(self.a / 0, "mxfp8"), "is not finite"),
                             (lambda: bitcut.quantize(self.a.T, "mxfp8"), "copy=True")):
            with numpy.errstate(divide="ignore"), self.assertRaisesRegex(bitcut.BadArgument, words):
                wrong()
        with self.assertRaises(bitcut.BadType):
            bitcut.quantize(self.a.astype("f2"), "mxfp8")

    def test_formats(self):
        """Every format has an array type that holds it, also those of 4, 6 and 7 bits."""
        for name in bitcut.formats().names():
            x = bitcut.convert(numpy.float32([1, 2]), name)
            self.assertEqual(bitcut.convert(x, format=name).tolist(), [1, 2], name)


if __name__ == "__main__":
    unittest.main()
