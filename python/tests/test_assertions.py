# SPDX-License-Identifier: BSD-3-Clause
"""What assert_gemm and assert_gemm_close pass and catch: faults of kernels, and tests that
cannot fail; and that the plugin gives them to pytest."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from helper import PACKAGE, needs_numpy, numpy, part, uniform, wide

import bitcut
from bitcut.testing import TestTooWeak, assert_gemm, assert_gemm_close

WAY = {"recipe": "ootomo", "unit": "a100"}
M, N, K = 24, 20, 64


def kernel(a, b, **more):
    return bitcut.gemm(a, b, **{**WAY, **more}).d


def caught(d, a, b, test=assert_gemm_close, **more):
    """What the test says of it; None: nothing."""
    try:
        test(d, a, b, **{**WAY, "effort": 0, **more})
    except AssertionError as error:
        return error
    return None


@needs_numpy
class Passes(unittest.TestCase):
    def test_right_kernels(self):
        a, b, c = uniform(M, K), uniform(K, N, seed=2), uniform(M, N, seed=3)
        for order in (None, "slices=2", "slices=4,reduction=tree"):
            self.assertIsNone(caught(kernel(a, b, order=order), a, b), order)
        self.assertIsNone(caught(kernel(a, b), a, b, order=None))
        self.assertIsNone(caught(kernel(a, b, c=c, alpha=2), a, b, c=c, alpha=2))
        self.assertIsNone(caught(kernel(a.T.copy().T, b), a, b))
        self.assertIsNone(caught(kernel(a, b), a, b, assert_gemm))
        self.assertIsNone(caught(kernel(a, b, format_d="f16"), a, b, assert_gemm))
        x, y = wide(M, K), wide(K, N)
        self.assertIsNone(caught(kernel(x, y), x, y, assert_gemm))

    def test_numpy_for_fp32(self):
        """A product of NumPy is one of FP32 in some order."""
        a, b = uniform(M, K), uniform(K, N, seed=2)
        self.assertIsNone(caught(a @ b, a, b, recipe="fp32", unit="fma/f32"))


@needs_numpy
class Catches(unittest.TestCase):
    def setUp(self):
        self.a, self.b = uniform(M, K), uniform(K, N, seed=2)
        self.d = kernel(self.a, self.b)

    def fails(self, d, words=".", test=assert_gemm_close, kind=AssertionError, **more):
        error = caught(d, more.pop("a", self.a), more.pop("b", self.b), test, **more)
        self.assertIs(type(error), kind)
        self.assertRegex(str(error), words)

    def test_zeros(self):
        self.fails(self.d * 0, r"largest error .* u \|A\|\|B\| \(limit .*\) at output \(")
        self.fails(numpy.zeros((M, N), "f4"), "differ from ootomo on", assert_gemm)

    def test_nan(self):
        d = self.d.copy()
        d[3, 4] = numpy.nan
        self.fails(d, "1 outputs are NaN")
        self.fails(d, r"1 of 480 outputs differ.*\(3, 4\), is 0x7fc00000 = nan", assert_gemm)
        d[...] = numpy.nan
        self.fails(d, "480 outputs are NaN")

    def test_one_output(self):
        """One number for the whole matrix does not see it.  100 runs of other data may know no limit."""
        a, b = uniform(M, K, seed=12), uniform(K, N, seed=52)
        d, size = kernel(a, b), abs(a) @ abs(b)
        worst = numpy.unravel_index(size.argmin(), d.shape)
        t = bitcut.tolerance(a, b, order="any", **WAY)
        self.assertTrue(t.known)
        d[worst] += numpy.float32(2 * t.limit * 2.0**-24) * size.min()
        self.assertLess(bitcut.judge(d, a, b).normwise, t.norm_limit)
        self.fails(d, r"largest error .*\(limit .*; 1 outputs exceed their limit", a=a, b=b)

    def test_all_a_little(self):
        """What no output shows alone, all do."""
        d = self.d - numpy.float32(1.5 * 2.0**-24) * (abs(self.a) @ abs(self.b))
        self.fails(d, "normwise error .*limit")

    def test_faults(self):
        whole = kernel(self.a, self.b)
        short = kernel(self.a[:, :-1], self.b[:-1])
        for d in part((kernel(self.a, self.b, recipe="plain"),
                       kernel(self.a, self.b, recipe="bf16x3"), short, whole.T.copy().reshape(M, N),
                       whole + numpy.float32(1e-4), numpy.roll(whole, 1, 0), -whole,
                       whole.astype("f2").astype("f4"))):
            self.fails(d)
            self.fails(d, "outputs differ", assert_gemm)

    def test_bits(self):
        d = self.d.copy()
        d.view("u4")[5, 6] ^= 1
        self.fails(d, r"1 of 480 outputs differ.*\(5, 6\), is 0x", assert_gemm)
        self.assertIsNone(caught(d, self.a, self.b))

    def test_what_it_says(self):
        error = caught(kernel(self.a, self.b, recipe="plain"), self.a, self.b, effort=0.25)
        self.assertRegex(str(error), r"\(limit .*\n  limit: .*in any order\n  typical range: up to .*"
                         r"\n  worst-case bound: .*\n  explain: D is ootomo on .*only the high parts")
        error = caught(kernel(self.a, self.b, recipe="plain"), self.a, self.b, assert_gemm,
                       effort=0.25)
        self.assertRegex(str(error), "\n  explain: D is ootomo on .*only the high parts")
        # What is no fault of the recipe on the unit is named, too.
        error = caught(kernel(self.a, self.b, recipe="bf16x3"), self.a, self.b, assert_gemm,
                       effort=1)
        self.assertRegex(str(error), "\n  explain: D is bf16x3 on")


@needs_numpy
class TooWeak(unittest.TestCase):
    def weak(self, d, a, b, words, test=assert_gemm_close, **more):
        error = caught(d, a, b, test, **more)
        self.assertIs(type(error), TestTooWeak)
        self.assertRegex(str(error), words)
        self.assertIsNone(caught(d, a, b, test, weak=True, **more))

    def test_integers(self):
        a, b = (numpy.rint(x * 9).astype("f4") for x in (uniform(M, K), uniform(K, N)))
        self.assertEqual(kernel(a, b).tolist(), kernel(a, b, recipe="plain").tolist())
        for test in (assert_gemm, assert_gemm_close):
            self.weak(kernel(a, b), a, b, "part 2 of halfhalf is zero in all of A", test)
            self.weak(kernel(uniform(M, K), b), uniform(M, K), b, "all of B", test)
        self.assertIsNone(caught(kernel(a, b, recipe="plain"), a, b, assert_gemm,
                                 recipe="plain"))

    def test_zeros_pass(self):
        a, b = uniform(M, K), uniform(K, N)
        tiny = numpy.float32(2.0**-80)
        for x in (a * 0, a * tiny * tiny):
            d = kernel(x, b)
            self.assertFalse(d.any())
            for test in (assert_gemm, assert_gemm_close):
                self.assertIs(type(caught(d, x, b, test)), TestTooWeak)
        self.weak(kernel(a * tiny, b * tiny), a * tiny, b * tiny, "zeros would pass")

    def test_nan_alone(self):
        a, b = numpy.full((M, K), numpy.nan, "f4"), uniform(K, N)
        self.weak(kernel(a, b), a, b, "no exact result is a number")

    def test_nothing(self):
        a, b = uniform(0, K), uniform(K, N)
        self.weak(kernel(a, b), a, b, "no elements", assert_gemm)
        with self.assertRaises(bitcut.BadArgument):
            assert_gemm_close(kernel(a, b), a, b, **WAY)

    def test_bad_input(self):
        a, b = uniform(M, K), uniform(K, N)
        for test in (assert_gemm, assert_gemm_close):
            for more in ({"recipe": "x"}, {"unit": None}, {"sheep": 1}):
                with self.assertRaises(bitcut.Error):
                    test(kernel(a, b), a, b, **{**WAY, **more})

    def test_short_results(self):
        a, b = uniform(M, K), uniform(K, N)
        short = kernel(a, b).astype("f2")
        assert_gemm_close(short, a, b, **WAY)
        assert_gemm(short, a, b, **WAY)
        # as f4 the same values are wrong: half an ulp of f16 is no error of FP32
        self.assertIn("largest error",
                      str(caught(short.astype("f4"), a, b, assert_gemm_close)))
        encodings = (kernel(a, b).view("u4") + 0x8000 >> 16).astype("u2")  # up to ties
        assert_gemm_close(encodings, a, b, format_d="bf16", **WAY)
        short[3, 4] = numpy.nextafter(numpy.nextafter(short[3, 4], numpy.float16(99)),
                                      numpy.float16(99))
        error = str(caught(short, a, b, assert_gemm_close))
        self.assertIn("D is rounded to f16", error)
        self.assertIn("(3, 4)", error)
        bound = bitcut.bound(a, b, format_d="f16", **{k: WAY[k] for k in ("recipe", "unit")})
        wide = bitcut.bound(a, b, **{k: WAY[k] for k in ("recipe", "unit")})
        exact = bitcut.exact(a, b, format="f64")
        ulp = numpy.spacing(abs(exact).astype("f2")).astype("f8")
        self.assertTrue((bound >= wide + ulp / 4).all() and (bound <= wide + ulp).all())


TESTS = """
import bitcut
import numpy

a = numpy.random.default_rng(1).uniform(-1, 1, (16, 64)).astype("f4")
d = bitcut.gemm(a, a.T, recipe="ootomo", unit="a100").d
way = {"recipe": "ootomo", "unit": "a100", "effort": 0.1}

def test_bits(assert_gemm):
    assert_gemm(d, a, a.T, **way)

def test_close(assert_gemm_close):
    assert_gemm_close(d, a, a.T, **way)

def test_wrong(assert_gemm_close):
    assert_gemm_close(d * 0, a, a.T, **way)
"""


@needs_numpy
@unittest.skipUnless(importlib.util.find_spec("pytest"), "needs python3-pytest")
class Plugin(unittest.TestCase):
    def test_plugin(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "test_it.py").write_text(TESTS)
            done = subprocess.run(
                [sys.executable, "-B", "-m", "pytest", "-p", "bitcut.pytest_plugin", "-p",
                 "no:cacheprovider", folder], stdout=subprocess.PIPE, text=True, cwd=folder,
                env={**os.environ, "PYTHONPATH": PACKAGE}, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"bitcut: 0\.\d+\.\d+, .*libbitcut")
        self.assertRegex(done.stdout, "largest error .*limit")
        self.assertIn("1 failed, 2 passed", done.stdout)
        # The line of the test is shown, and none of the package.
        self.assertIn(">   assert_gemm_close(d * 0", done.stdout.replace(">       ", ">   "))
        self.assertNotRegex(done.stdout, r"testing\.py:\d+")


if __name__ == "__main__":
    unittest.main()
