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


@needs_numpy
class Advice(Folder):
    """Few outputs: samples are all of them, so that errors are those of whole matrices."""

    def setUp(self):
        super().setUp()
        rng = numpy.random.default_rng(3)
        self.a = rng.normal(size=(24, 256)).astype("f4")
        self.b = rng.normal(size=(256, 16)).astype("f4")
        self.exact = self.a.astype("f8") @ self.b.astype("f8")
        self.save(A=self.a, B=self.b)

    def relres(self, d):
        return numpy.linalg.norm(d - self.exact) / numpy.linalg.norm(self.exact)

    def confirm(self, trial, *words):
        """gemm has the error that was said, and quantize() and convert() its sources."""
        own = [x for side in "ab" for x in (f"--quantize-{side}", trial[f"quantizer_{side}"]) if x and
               trial[f"quantizer_{side}"]]
        self.program("gemm", "-a", "A.npy", "-b", "B.npy", "--recipe", trial["recipe"], "--unit",
                     trial["unit"], *own, *words, "--reference", "none", "-o", "D.npy")
        d = self.load("D")
        d = d.astype("f8") if d.dtype.kind == "f" else bitcut.convert(d, format="bf16").astype("f8")
        self.assertAlmostEqual(self.relres(d) / trial["error"], 1, 9)
        sides = [bitcut.quantize(x, trial[f"quantizer_{side}"], side).dequantized()
                 if trial[f"quantizer_{side}"] else x.astype("f8")
                 for side, x in (("a", self.a), ("b", self.b))]
        self.assertAlmostEqual(self.relres(sides[0] @ sides[1]) / trial["quantization"], 1, 5)

    def test_given(self):
        """The quantizers and the format of D that are asked for."""
        for a, b, unit, want in (("fp8-1x128", "fp8-128x128", "h100", 0.1), ("fp8-rows", None, "h100", 0.1),
                                 (None, "int8-rows", "a100", 0.1), ("nvfp4", "nvfp4", "b200", 0.5),
                                 ("fp8-tensor", "fp8-rows", "mi300", 0.1),
                                 ("fp8-1x128", "fp8-rows", "h100", 0.1)):
            given = [x for side, q in (("a", a), ("b", b)) if q for x in (f"--quantize-{side}", q)]
            row, = self.program("advise", "-a", "A.npy", "-b", "B.npy", "--unit", unit, "--want", str(want),
                                *given, "--format-d", "bf16")
            best = row["advice"]
            self.assertTrue(row["all"])
            self.assertEqual((best["quantizer_a"], best["quantizer_b"], best["format_d"]), (a, b, "bf16"))
            self.confirm(best, "--format-d", "bf16")
            short = bitcut.convert(bitcut.convert(self.exact.astype("f4"), "bf16"), format="bf16")
            self.assertAlmostEqual(self.relres(short) / best["rounding"], 1, 3)
            self.assertIsNone(best["bound"])
            if "nvf4" in best["unit"]:
                continue  # a GEMM on it alone needs its scales
            got = bitcut.advise(self.a, self.b, unit=best["unit"], want=want, quantize_a=a, quantize_b=b,
                                recipe=best["recipe"], format_d="bf16")
            for key in ("error", "quantization", "rounding", "reaches"):
                self.assertEqual(getattr(got, key), best[key], key)
            self.assertEqual((got.quantize_a, got.quantize_b, got.unit), (a, b, best["unit"]))

    def test_every(self):
        """Candidates: each runs as gemm does; nothing is quantized without being asked for."""
        row, = self.program("advise", "-a", "A.npy", "-b", "B.npy", "--unit", "b200", "--unit", "h100",
                            "--quantizers", "--want", "1e-9", status=1)
        tried = [trial for trial in row["tried"] if "quantizer_a" in trial]
        names = {trial["quantizer_a"] for trial in tried}
        self.assertTrue(names >= {"fp8-rows", "mxfp8", "mxfp4", "nvfp4", "fp8-128x128", "int8-rows"}, names)
        for trial in tried:
            self.assertEqual(trial["quantizer_a"], trial["quantizer_b"])
            trial["quantization"] = self.relres(
                bitcut.quantize(self.a, trial["quantizer_a"]).dequantized() @
                bitcut.quantize(self.b, trial["quantizer_a"], "b").dequantized())
            self.confirm(trial)
        scaled = {trial["quantizer_a"] for trial in tried if "mxf" in trial["unit"] or "nvf" in trial["unit"]}
        self.assertTrue(scaled >= {"mxfp8", "mxfp4", "nvfp4"}, scaled)
        row, = self.program("advise", "-a", "A.npy", "-b", "B.npy", "--unit", "b200")
        self.assertFalse(any("quantizer_a" in trial or "rounding" in trial for trial in row["tried"]))
        best = bitcut.advise(self.a, self.b, unit="hopper/mma.m16n8k32.f32.e4m3", want=0.039,
                             quantizers=True)
        self.assertIn(best.quantize_a, bitcut.quantizers().names())
        self.assertLess(abs(best.error - best.quantization), 1e-4)
        self.assertIsNone(best.rounding)

    def test_samples(self):
        """Samples of rows and columns estimate the error of all outputs."""
        rng = numpy.random.default_rng(4)
        self.a = (rng.normal(size=(150, 512)) * rng.uniform(0.1, 10, (150, 1))).astype("f4")
        self.b = (rng.normal(size=(512, 110)) * rng.uniform(0.1, 10, (1, 110))).astype("f4")
        self.exact = self.a.astype("f8") @ self.b.astype("f8")
        self.save(A=self.a, B=self.b)
        row, = self.program("advise", "-a", "A.npy", "-b", "B.npy", "--unit", "h100", "--want", "0.1",
                            "--quantize-a", "fp8-1x128", "--quantize-b", "fp8-128x128")
        best = row["advice"]
        self.assertFalse(row["all"])
        self.program("gemm", "-a", "A.npy", "-b", "B.npy", "--recipe", best["recipe"], "--unit", best["unit"],
                     "--quantize-a", "fp8-1x128", "--quantize-b", "fp8-128x128", "--reference", "none",
                     "-o", "D.npy")
        whole = self.relres(self.load("D"))
        for key in ("error", "checked", "quantization"):
            self.assertLess(abs(best[key] / whole - 1), 0.1, key)
        self.assertLess(whole, best["high"])

    def test_refused(self):
        self.a[3, 4] = numpy.inf
        self.save(I=self.a)
        for words in (("--quantize-a", "fp9"), ("--quantize-b", "mxfp8", "--quantizers"),
                      ("--format-d", "s8"), ("--format-d", "f99")):
            self.program("advise", "-a", "A.npy", "-b", "B.npy", *words, status=2)
        self.program("advise", "-a", "I.npy", "-b", "B.npy", "--quantize-a", "mxfp8", status=2)
        for given, words in (({"quantize_a": "fp9"}, "unknown quantizer"),
                             ({"quantize_a": "mxfp8", "quantizers": True}, "cannot be combined"),
                             ({"quantize_a": "mxfp8"}, "is not finite"),
                             ({"format_d": "s8"}, "")):
            with self.assertRaisesRegex(bitcut.BadArgument, words):
                bitcut.advise(self.a, self.b, unit="hopper/mma.m16n8k32.f32.e4m3", **given)
        for given in ({"quantizers": True}, {"quantize_b": "fp8-rows"}):  # all units of a chip
            found = bitcut.advise(self.b.T.copy(), self.b, unit="h100", want=0.1, **given)
            self.assertRegex(found.unit, "^hopper/.*(8|e4m3|e5m2)$")
            self.assertTrue(found.reaches and found.quantize_b)


if __name__ == "__main__":
    unittest.main()
