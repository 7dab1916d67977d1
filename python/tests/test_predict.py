# SPDX-License-Identifier: BSD-3-Clause
"""Predictions of libraries: the same as the program's, and D of an installed library."""

import os
import subprocess
import sys
import unittest

from helper import needs_numpy, numpy, program

import bitcut

OPENBLAS = {"library": "openblas-0.3.21", "chip": "haswell"}
LOST = os.path.join(os.environ.get("BITCUT_DATA", ""), "libraries/h200-lost-tail")


class Predictions(unittest.TestCase):
    def test_program(self):
        """The program says the same."""
        for layout, n in (("NN", 43), ("NT", 64)):
            found = bitcut.predict(37, n, 500, layout=layout, **OPENBLAS)
            said = program("predict", "--library", "openblas-0.3.21", "--chip", "haswell", "-m", "37",
                           "-n", str(n), "-k", "500", "--layout", layout)[0]
            self.assertEqual([[x.outputs, x.gemm, x.text] for x in found.computations],
                             [[x["outputs"], x["gemm"], x["text"]] for x in said["computations"]])
            self.assertEqual(sum(x.outputs for x in found.computations), 37 * n)

    def test_refused(self):
        with self.assertRaises(bitcut.BadArgument):
            bitcut.predict(3, 3, 3, library="x", chip="haswell")
        with self.assertRaises(bitcut.BadArgument):
            bitcut.predict(3, 3, 3, library="openblas-0.3.21", chip="x")
        with self.assertRaises(bitcut.BadArgument):
            bitcut.predict(3, 3, 3, format="bf16", **OPENBLAS)
        with self.assertRaises(bitcut.BadArgument):
            bitcut.predict(3, 3, 3, layout="TN ", **OPENBLAS)
        with self.assertRaises(bitcut.Unsupported):
            bitcut.predict(3, 0, 3, **OPENBLAS)
        with self.assertRaises(bitcut.Unsupported):
            bitcut.predict(1, 1, 3, library="blis-0.9.0", chip="skx")

    def test_fields(self):
        """The algorithm, from the sizes and given."""
        cublas = {"library": "cublas-13.1", "chip": "h200", "format": "bf16", "layout": "NT"}
        for given, order in (({}, "slices=4,tile=3584"),
                             ({"fields": "id=66,stages=35,splits=2"}, "slices=2,tile=7168")):
            found = bitcut.predict(1, 4096, 14336, **cublas, **given).computations
            self.assertTrue(found[0].gemm.endswith(".bf16," + order), found[0].gemm)
        with self.assertRaises(bitcut.BadArgument):
            bitcut.predict(3, 3, 3, fields="id=66", **OPENBLAS)
        with self.assertRaises(bitcut.BadType):
            bitcut.predict(3, 3, 3, fields=66, **OPENBLAS)

    def test_calls(self):
        """A call of PyTorch, as the program predicts it."""
        for call, given, options in (
                ("linear", {"layout": "NT", "bias": True}, ["--bias"]), ("mm", {"layout": "TT"}, ["--layout", "TT"]),
                ("bmm", {"count": 3}, ["--count", "3"])):
            found = bitcut.predict(24, 64, 512, library="torch-2.11", chip="h200", format="bf16", call=call, **given)
            said = program("predict", "--library", "torch-2.11", "--chip", "h200", "-m", "24", "-n", "64",
                           "-k", "512", "--call", call, *options)[0]
            self.assertEqual([[x.outputs, x.gemm] for x in found.computations],
                             [[x["outputs"], x["gemm"]] for x in said["computations"]])
            self.assertEqual(said["call"], call)
        with self.assertRaises(bitcut.BadArgument):
            bitcut.predict(3, 3, 3, library="torch-2.11", chip="h200", call="conv")
        with self.assertRaises(bitcut.BadArgument):
            bitcut.predict(3, 3, 3, call="mm", **OPENBLAS)
        with self.assertRaises(bitcut.Unsupported):
            bitcut.predict(3, 3, 3, library="torch-2.11", chip="h200", call="mm", bias=True)


@needs_numpy
class Results(unittest.TestCase):
    def setUp(self):
        random = numpy.random.default_rng(5)
        self.a = random.random((37, 700), dtype=numpy.float32) - numpy.float32(0.5)
        self.b = random.random((43, 700), dtype=numpy.float32) - numpy.float32(0.5)

    def test_computations(self):
        """D has the outputs of each computation: here two, which differ."""
        d = bitcut.predict_gemm(self.a, self.b.T, **OPENBLAS)
        found = bitcut.predict(37, 43, 700, layout="NT", **OPENBLAS).computations
        self.assertEqual(len(found), 2)
        each = [bitcut.gemm(self.a, self.b.T, recipe="fp32", unit="fma/f32",
                            order=x.gemm.split(",", 1)[1]).d for x in found]
        self.assertTrue(((d == each[0]) | (d == each[1])).all())
        self.assertTrue((d != each[0]).any() and (d != each[1]).any())
        for x, one in zip(found, each):
            self.assertGreaterEqual((d == one).sum(), x.outputs)

    def test_fields(self):
        d = bitcut.predict_gemm(self.a, self.b.T, library="cublas-13.1", chip="h200",
                                fields="id=20,stages=28,splits=3")
        one = bitcut.gemm(self.a, self.b.T, recipe="fp32", unit="fma/f32", order="slices=3,cut=4").d
        self.assertTrue((d == one).all())

    @unittest.skipUnless(os.path.isdir(LOST), "BITCUT_DATA has no recordings")
    def test_lost(self):
        """A recorded result of PyTorch without the last 8 products, from the sizes alone."""
        a, b, d = (numpy.load(os.path.join(LOST, f"{x}.npy")) for x in "ABD")
        found = bitcut.predict_gemm(a, b, library="cublas-13.1", chip="h200", types="f16.f32")
        self.assertTrue((found == d).all())
        self.assertFalse((bitcut.gemm(a, b, recipe="plain", unit="hopper/mma.m16n8k16.f32.f16",
                                      order="slices=9,tile=1280").d == found).all())

    def test_call(self):
        """linear with a bias adds it to the sum of the first slice, or to the sum, as the fields say; a C of
        addmm is added to a rounded product."""
        torch = {"library": "torch-2.11", "chip": "h200"}
        bias = numpy.arange(43, dtype=numpy.float32)
        d = bitcut.predict_gemm(self.a, self.b.T, call="linear", bias=bias, types="tf32",
                                fields="id=21,stages=12,splits=3,scheme=1", **torch)
        order = "slices=3,tile=32,cut=4,partial-first"
        how = {"recipe": "cublas-tf32", "unit": "hopper/mma.m16n8k8.f32.tf32", "bias": bias, "order": order}
        self.assertTrue((d == bitcut.gemm(self.a, self.b.T, start="slice-bias", **how).d).all())
        self.assertFalse((d == bitcut.gemm(self.a, self.b.T, **how).d).all())
        a, b = (x.astype(numpy.float16) for x in (self.a, self.b[:40]))
        c = numpy.arange(37 * 40, dtype=numpy.float16).reshape(37, 40) / 1000
        d = bitcut.predict_gemm(a, b.T, call="addmm", c=c, beta=1.0, format_d="f16",
                                fields="id=66,stages=35", **torch)
        product = bitcut.predict_gemm(a, b.T, call="mm", format_d="f16",
                                      fields="id=66,stages=35", **torch)
        sums = (product.astype(numpy.float32) + c.astype(numpy.float32)).astype(numpy.float16)
        self.assertTrue((d == sums).all())

    def test_batch(self):
        """Each GEMM of bmm is the same product."""
        torch = {"library": "torch-2.11", "chip": "h200", "fields": "id=20,stages=28,splits=3"}
        a, b = (numpy.stack([x, -2 * x]) for x in (self.a, self.b))
        d = bitcut.predict_gemm(a, b.transpose(0, 2, 1), call="bmm", types="f32", **torch)
        for i in range(2):
            one = bitcut.predict_gemm(a[i], b[i].T, call="mm", types="f32", **torch)
            self.assertTrue((d[i] == one).all())

    def test_given(self):
        with self.assertRaises(bitcut.Unsupported):
            bitcut.predict_gemm(self.a, self.b.T, alpha=2.0, **OPENBLAS)
        with self.assertRaises(TypeError):
            bitcut.predict_gemm(self.a, self.b.T, recipe="plain", **OPENBLAS)


# Calls of the installed PyTorch, computed again; argv[1] is a chip.
INSTALLED = """
import sys
import numpy, torch
import bitcut
torch.set_num_threads(1)
random, chip, refused, found = numpy.random.default_rng(7), sys.argv[1], 0, 0
for i in range(25):
    m, n, k = (int(x) for x in numpy.exp(random.uniform(0, numpy.log([120, 120, 900]))))
    n = max(n, 2)
    a, b, bias, c = (torch.from_numpy(random.random(x, dtype="f4") - numpy.float32(0.5))
                     for x in ((m, k), (n, k), (n,), (m, n)))
    calls = [("linear", torch.nn.functional.linear(a, b), {}),
             ("linear", torch.nn.functional.linear(a, b, bias), {"bias": bias.numpy()}),
             ("mm", torch.mm(a, b.t()), {}), ("addmm", torch.addmm(bias, a, b.t()), {"bias": bias.numpy()}),
             ("addmm", torch.addmm(c, a, b.t()), {"c": c.numpy(), "beta": 1.0})]
    for call, d, given in calls:
        try:
            mine = bitcut.predict_gemm(a.numpy(), b.numpy().T, library="torch-1.13", chip=chip, call=call, **given)
        except bitcut.Unsupported:
            refused += 1
            continue
        assert (mine == d.numpy()).all(), (call, m, n, k, list(given))
        found += 1
print(found, refused)
"""


def installed_openblas():
    """Whether PyTorch 1.13 is installed and its BLAS is OpenBLAS 0.3.21."""
    code = ("import ctypes, torch; f = ctypes.CDLL('libblas.so.3').openblas_get_config; "
            "f.restype = ctypes.c_char_p; print(torch.__version__, f().decode())")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return done.returncode == 0 and done.stdout.startswith("1.13") and "OpenBLAS 0.3.21 " in done.stdout


@unittest.skipUnless(installed_openblas(), "needs PyTorch 1.13 with OpenBLAS 0.3.21")
class Installed(unittest.TestCase):
    def test_torch(self):
        for core, chip in (("Haswell", "haswell"), ("SkylakeX", "skylakex"), ("Sandybridge", "sandybridge")):
            one = {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
                   "PYTHONPATH": os.pathsep.join(sys.path)}
            done = subprocess.run([sys.executable, "-c", INSTALLED, chip], env={**os.environ, **one},
                                  capture_output=True, text=True)
            if done.returncode < 0:
                continue  # a processor without the instructions of this core type
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(int(done.stdout.split()[0]), 80)


if __name__ == "__main__":
    unittest.main()
