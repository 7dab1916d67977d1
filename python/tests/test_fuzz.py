# SPDX-License-Identifier: BSD-3-Clause
"""Arguments at random: a result, or one exception of bitcut's with one line; never a crash."""

import os
import random
import unittest

from helper import LONG, needs_numpy, numpy

import bitcut

try:
    import torch
except ImportError:
    torch = None

TYPES = ("f4", "f4", "f4", "f2", "f8", "u1", "u2", "u4", "u8", "i4", "c8", "?", "O", "S3", ">f4",
         "M8[s]", "f4,f4")
NO_ARRAYS = (None, 3, "a", [[1.0, 2.0]], b"abc", memoryview(b"12345678"))
STRIDES = (0, 1, 2, 3, 4, -4, 8, 2**62, -2**62)
UNITS = ("a100", "h100", "mi210", "mi300", "v100", "fma/f32", "none", None, 7)
GIVEN = {"alpha": (1, 0, float("nan"), "x", None), "beta": (0, 1, None), "copy": (True, False),
         "order": ("slices=2", "x", {"tile": 4}, {"slices": -1}, {"slices": 10**30}, 5),
         "scale": (0, 11, -1, 2**40, "a"), "promote": (0, 1, 10**9),
         "split": ("halfhalf", "bitcut", "x"), "format_a": ("f16", "bf16", "e4m3", "x", 5),
         "threads": (0, 1, -1, "a", 2**40), "equilibrate": (True,), "stream": (None, 5)}
# What each call takes, of D, A and B.
CALLS = {"gemm": "ab", "verify": "dab", "judge": "dab", "bound": "ab", "budget": "ab",
         "tolerance": "ab", "explain": "dab", "advise": "ab", "workspace": "ab", "exact": "ab",
         "split": "a", "retention": "a", "mma": "abd", "fit": "abdd"}
FEW = {"tolerance": {"runs": 2}, "explain": {"seconds": 0.05}}


@needs_numpy
class Fuzz(unittest.TestCase):
    def array(self, r):
        shape = [r.choice((0, 1, 2, 3, 8, 17)) for _ in range(r.choice((0, 1, 2, 2, 2, 2, 3, 4)))]
        x, kind = numpy.zeros(shape, r.choice(TYPES)), r.randrange(9)
        if x.dtype.kind == "f":
            x[...] = numpy.nan if kind == 0 else r.uniform(-1, 1)
        if kind == 1 and shape:
            x = x[..., ::r.choice((-1, 2, -2))]
        if kind == 2:
            x = x.T
        if kind == 3:
            x.setflags(write=False)
        if kind == 4 and x.dtype != object:
            x = numpy.lib.stride_tricks.as_strided(x, shape, [r.choice(STRIDES) for _ in shape])
        if kind == 5 and torch and x.dtype.kind in "f" and x.dtype.isnative and not x.dtype.names:
            x = torch.from_numpy(x.copy())
        return r.choice(NO_ARRAYS) if kind == 6 else x

    def matrices(self, r):
        if r.random() < 0.4:
            return {name: self.array(r) for name in "abd"}
        m, n, k = (r.choice((1, 2, 9)) for _ in range(3))
        return {name: numpy.ones(shape, "f4")
                for name, shape in (("a", (m, k)), ("b", (k, n)), ("d", (m, n)))}

    def test_any(self):
        seed, ended = int(os.environ.get("BITCUT_SEED", "1")), {}
        print(f"# seed {seed}")
        r = random.Random(seed)
        for case in range(20000 if LONG else 1500):
            name = r.choice(list(CALLS))
            given = {key: r.choice(values) for key, values in GIVEN.items() if r.random() < 0.1}
            if name in ("exact", "split", "retention", "mma", "fit"):
                given = {key: given[key] for key in ("copy", "threads") if key in given}
                if name == "split":
                    given.pop("threads", None)
                if name in ("mma", "fit"):
                    given = {"unit": r.choice((*UNITS, *["fma/f32"] * 9))}  # k can be 1
            else:
                given.update(recipe=r.choice([*bitcut.recipes().names(), "none", None]),
                             unit=r.choice(UNITS), **FEW.get(name, {}))
            x = self.matrices(r)
            try:
                getattr(bitcut, name)(*(x[key] for key in CALLS[name]), **given)
                end = "done"
            except bitcut.Error as error:
                self.assertRegex(str(error), r"\A[^\n]+\Z", f"case {case}: {name}")
                end = "refused"
            except Exception as error:  # with what it takes to repeat it
                self.fail(f"seed {seed}, case {case}: {name}(**{given}): {error!r}")
            ended[name, end] = ended.get((name, end), 0) + 1
        for name in CALLS:
            self.assertGreater(ended.get((name, "refused"), 0), 5, name)
            if name != "workspace":  # which is of arrays on a device
                self.assertGreater(ended.get((name, "done"), 0), 0, name)


if __name__ == "__main__":
    unittest.main()
