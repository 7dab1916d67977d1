# SPDX-License-Identifier: BSD-3-Clause
"""The notebooks among the examples: their form, and that their cells give the outputs that they
have.  python/tests/notebooks.py writes these anew."""

import json
import pathlib
import re
import unittest

from helper import PACKAGE, needs_numpy

import notebooks

FOLDER = pathlib.Path(PACKAGE).parent / "examples"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

# nbformat 4.5: what each cell and output has, and the types.
CELL = {"id": str, "metadata": dict, "source": list, "cell_type": str}
CODE = {**CELL, "outputs": list, "execution_count": int}
OUTPUTS = {"stream": {"output_type": str, "name": str, "text": list},
           "execute_result": {"output_type": str, "data": dict, "metadata": dict,
                              "execution_count": int}}


@unittest.skipUnless(NOTEBOOKS, "needs examples/*.ipynb of the source")
class Notebooks(unittest.TestCase):
    def has(self, thing, members):
        self.assertEqual({key: type(value) for key, value in thing.items()}, members)

    def test_form(self):
        self.assertGreaterEqual(len(NOTEBOOKS), 2)
        for path in NOTEBOOKS:
            notebook = json.loads(path.read_text("utf-8"))
            self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 5))
            self.assertEqual(notebook["metadata"]["kernelspec"]["name"], "python3")
            ids = [cell["id"] for cell in notebook["cells"]]
            self.assertEqual(len(set(ids)), len(ids))
            for cell in notebook["cells"]:
                self.assertRegex(cell["id"], "^[a-zA-Z0-9_-]{1,64}$")
                self.has(cell, CODE if cell["cell_type"] == "code" else CELL)
                for line in cell["source"][:-1]:
                    self.assertTrue(line.endswith("\n"))
                for output in cell.get("outputs", ()):
                    self.has(output, OUTPUTS[output["output_type"]])
            self.assertIsNone(re.search(r"/(home|tmp|usr|root|work)/", path.read_text("utf-8")))
            self.assertLess(path.stat().st_size, 100_000)

    @needs_numpy
    def test_outputs(self):
        for path in NOTEBOOKS:
            with self.subTest(path.name):
                kept = path.read_text("utf-8")
                now = notebooks.text(notebooks.computed(json.loads(kept)))
                for was, line in zip(kept.splitlines(), now.splitlines()):
                    self.assertEqual(was, line)
                self.assertEqual(kept, now)
