# SPDX-License-Identifier: BSD-3-Clause
"""The training of examples/torch: what its rows (data/torch) say of the first steps comes out
again, on a unit that flushes and on one that does not."""

import json
import os
import pathlib
import tempfile
import unittest

from helper import needs_numpy, python

try:
    import torch
except ImportError:
    torch = None

SOURCE = pathlib.Path(os.environ.get("srcdir", pathlib.Path(__file__).parents[2])).resolve()
ROWS = SOURCE / "data/torch/transformer.jsonl"
RUN = f"import runpy; runpy.run_path({str(SOURCE / 'examples/torch/transformer.py')!r}, " \
    "run_name='__main__')"
STEPS, CONFIGURATIONS = 4, ("own", "plain@mi210", "plain@a100")


def losses(path):
    with open(path) as file:
        return {row["configuration"]: row["loss"] for row in map(json.loads, file)}


@needs_numpy
@unittest.skipUnless(torch, "needs PyTorch (pip install torch)")
@unittest.skipUnless(ROWS.exists(), "needs data/ of the source")
class Transformer(unittest.TestCase):
    def test_first_steps(self):
        kept = losses(ROWS)
        self.assertEqual({len(x) for x in kept.values()}, {200})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "rows.jsonl")
            done = python(f"import sys; sys.argv[1:] = [{str(path)!r}, '{STEPS}', *{CONFIGURATIONS}]\n{RUN}")
            self.assertEqual(done.returncode, 0, done.stderr)
            now = losses(path)
        for configuration in CONFIGURATIONS:
            # The units' products are the same everywhere, PyTorch's softmax is not.
            for got, want in zip(now[configuration], kept[configuration]):
                self.assertAlmostEqual(got, want, 4, configuration)
        for configuration, other in zip(CONFIGURATIONS, CONFIGURATIONS[1:]):
            self.assertGreater(abs(kept[configuration][STEPS - 1] - kept[other][STEPS - 1]), 2e-4)

    def test_table(self):
        """The manual has the table of the rows."""
        done = python(f"import sys; sys.argv[1:] = ['--table', {str(ROWS)!r}]\n{RUN}")
        lines = done.stdout.splitlines()
        self.assertEqual((len(lines), done.stderr), (11, ""))
        manual = (SOURCE / "doc/programs.texi").read_text().splitlines()
        for line in lines:
            self.assertIn(line, manual)


if __name__ == "__main__":
    unittest.main()
