# SPDX-License-Identifier: BSD-3-Clause
"""Faults of kernels, and what catches them: the rows of data/python/faults.jsonl come out again
(a part of them, more with BITCUT_WHOLE; with BITCUT_LONG all), and the manual has their table."""

import json
import os
import pathlib
import unittest

from helper import LONG, needs_numpy, part

SOURCE = pathlib.Path(os.environ.get("srcdir", pathlib.Path(__file__).parents[2])).resolve()
ROWS = SOURCE / "data/python/faults.jsonl"
PART = ("none", "drop-lh", "low-flushed", "slice-lost", "k-tile-short", "promote-f16",
        "beta-ignored", "d-transposed")
OURS = ("fault", "class", "kernels", "assert_gemm", "assert_gemm_close")


@needs_numpy
@unittest.skipUnless(ROWS.exists(), "needs data/ of the source")
class Faults(unittest.TestCase):
    def setUp(self):
        import faults
        self.faults = faults
        self.rows = [json.loads(line) for line in ROWS.read_text().splitlines()]

    def again(self, row, kernels):
        """What the assertions say does not depend on the machine."""
        now = self.faults.row(row["fault"], row["class"], kernels, OURS[3:])
        self.assertEqual(now, {key: row[key] for key in OURS})

    def test_faults(self):
        if not self.faults.FAULTY.exists():
            self.skipTest("needs tests/identify/faulty: the package check, and make check")
        known = self.faults.known()
        rows = [x for x in self.rows if x["class"] not in ("right", "trap")]
        self.assertEqual({x["fault"]: x["class"] for x in rows}, known)
        for x in rows:
            if LONG:
                self.again(x, self.faults.faulty(x["fault"]))
            elif x["fault"] in part(PART):
                kernels = list(self.faults.faulty(x["fault"], self.faults.KERNELS[4:5]))
                now = self.faults.row(x["fault"], x["class"], kernels, OURS[3:])
                wrong = len(kernels) if x["class"] != "none" else 0
                self.assertEqual(now["assert_gemm"], wrong, x["fault"])
                self.assertIn(now["assert_gemm_close"],
                              (0, wrong) if x["assert_gemm_close"] < x["kernels"] else (wrong,))

    def test_right(self):
        for x in self.rows:
            if x["class"] == "right":
                recipe, unit = x["fault"].split("@")
                self.assertEqual((x["assert_gemm"], x["assert_gemm_close"]), (0, 0))
                if LONG:
                    self.again(x, self.faults.right(recipe, unit))

    def test_traps(self):
        rows = {x["fault"]: x for x in self.rows if x["class"] == "trap"}
        traps = dict(self.faults.traps())
        self.assertEqual(rows.keys(), traps.keys())
        for name, kernel in part(list(traps.items())):
            self.again(rows[name], [kernel])
        self.assertEqual({x["assert_gemm_close"] for x in rows.values()}, {1})

    def test_all_bits(self):
        """No D with other bits passes assert_gemm."""
        for x in self.rows:
            if x["class"] not in ("none", "right", "trap"):
                self.assertEqual(x["assert_gemm"], x["kernels"], x["fault"])

    def test_manual(self):
        manual = (SOURCE / "doc/bitcut.texi").read_text().splitlines()
        lines = list(self.faults.table(ROWS))
        self.assertGreater(len(lines), 20)
        for line in lines:
            self.assertIn(line, manual)


if __name__ == "__main__":
    unittest.main()
