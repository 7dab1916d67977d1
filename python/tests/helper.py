# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share: the program beside the package, on the same matrices.  The package is
the one beside this folder, or where there is none an installed one."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
try:
    import numpy
except ImportError:
    numpy = None

needs_numpy = unittest.skipUnless(numpy, "needs python3-numpy")
PACKAGE = sys.path[0]

# The amount of cases, as test_cases() of tests/test.h and `part` of tests/tap.sh.
LONG, BRIEF = "BITCUT_LONG" in os.environ, os.environ.get("BITCUT_BRIEF")
WHOLE = LONG or "BITCUT_WHOLE" in os.environ
needs_all = unittest.skipUnless(WHOLE, "needs BITCUT_WHOLE=1, as in a check of all cases")


def cases(usual):
    """The number of random cases: `usual` with BITCUT_WHOLE; by default an eighth, but not below 2;
    with BITCUT_BRIEF an eighth, or an Nth if its value is N > 1, at least 1."""
    if BRIEF and not LONG:
        return -(-usual // (int(BRIEF) if int(BRIEF) > 1 else 8))
    return usual if WHOLE else max(usual // 8, min(usual, 2))


def part(items, step=2):
    """The first of the items and every step-th after it; all with BITCUT_WHOLE."""
    return items[::1 if WHOLE else step]


def program(*words, folder=None, status=0):
    """The rows that `bitcut WORDS --json` prints."""
    if not shutil.which("bitcut"):
        raise unittest.SkipTest("needs the program bitcut in PATH")
    done = subprocess.run(["bitcut", *map(str, words), "--json"], stdout=subprocess.PIPE,
                          cwd=folder, check=False)
    assert done.returncode == status, f"bitcut {words}: status {done.returncode}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def python(code, **environment):
    """A program for Python run by this one, with the package in its path: what came of it."""
    path = {"PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=120,
                          env={**os.environ, **path, **environment})


def random(seed=1):
    return numpy.random.default_rng(int(os.environ.get("BITCUT_SEED", "1")) * 1000 + seed)


def uniform(*shape, seed=1):
    return random(seed).uniform(-1, 1, shape).astype("f4")


def wide(*shape, seed=2):
    """Values of many exponents: underflow, overflow, infinities and NaN in f16."""
    r = random(seed)
    x = numpy.ldexp(r.uniform(-1, 1, shape), r.integers(-40, 17, shape)).astype("f4")
    x.flat[0], x.flat[-1] = 70000, numpy.inf
    x.flat[x.size // 2] = numpy.nan
    return x


class Folder(unittest.TestCase):
    """With a folder for files of the program."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def save(self, **arrays):
        for name, x in arrays.items():
            numpy.save(f"{self.folder.name}/{name.upper()}.npy", x)

    def load(self, name):
        return numpy.load(f"{self.folder.name}/{name}.npy")

    def program(self, *words, status=0):
        return program(*words, folder=self.folder.name, status=status)

    def same_bits(self, got, want, what=""):
        self.assertEqual(got.dtype.itemsize, want.dtype.itemsize, what)
        self.assertEqual(got.shape, want.shape, what)
        self.assertEqual(numpy.ascontiguousarray(got).tobytes(),
                         numpy.ascontiguousarray(want).tobytes(), what)
