# SPDX-License-Identifier: BSD-3-Clause
"""Results in notebooks: tables and figures are well-formed and have the result's values."""

import math
import os
import pathlib
import unittest
from xml.etree import ElementTree

import helper
from helper import needs_numpy, numpy, python, random, uniform

import bitcut
from bitcut._figures import bars, line, points
from bitcut._results import cell

SVG = "{http://www.w3.org/2000/svg}"


def parsed(html):
    """The tables and the figures of a result, well-formed."""
    tree = ElementTree.fromstring(f"<div>{html}</div>")
    return tree.findall("table"), tree.findall(SVG + "svg")


def marks(svg):
    """What the marks of a figure say, and what is written beside them."""
    said = [mark.find(SVG + "title").text for mark in svg.iter()
            if mark.tag in (SVG + "rect", SVG + "circle")]
    return said, [x.text for x in svg.iter(SVG + "text")]


@needs_numpy
class Results(unittest.TestCase):
    way = {"recipe": "ootomo", "unit": "a100"}

    def figure(self, result):
        (table,), (svg,) = parsed(result._repr_html_())
        self.assertEqual(svg.get("role"), "img")
        self.assertEqual(svg.get("aria-label"), svg.find(SVG + "title").text)
        return (*marks(svg), ["".join(x.itertext()) for x in table.iter("td")])

    def test_budget(self):
        parts = bitcut.budget(uniform(19, 70), uniform(70, 13), **self.way)
        said, written, cells = self.figure(parts)
        self.assertEqual(said, [f"{name}: {cell(part['rms'])}"
                                for name, part in parts.to_dict().items()])
        for name, part in parts.to_dict().items():
            self.assertIn(name, written)
            self.assertIn(cell(part["rms"]), written)
            self.assertIn(cell(part["mean"]), cells)
        self.assertTrue(any("u = 2^-24" in x for x in written))

    def test_sentence(self):
        a, b = uniform(19, 70), uniform(70, 13)
        d = bitcut.gemm(a, b, **self.way).d
        found = bitcut.verify(d, a, b, **self.way)
        self.assertIn("<p>all 247 outputs are those of ootomo", found._repr_html_())
        self.assertNotIn("<p>", bitcut.judge(d, a, b)._repr_html_())

    def test_no_nulls(self):
        """What has no value in any row is no column, and elsewhere a blank cell."""
        a, b = uniform(19, 70), uniform(70, 13)
        shown = [bitcut.gemm(a, b, **self.way), bitcut.judge(a @ b, a, b), bitcut.splits(),
                 bitcut.units(), bitcut.retention(a), bitcut.advise(a, b, unit="a100")]
        for result in shown:
            (table, *_), _ = parsed(result._repr_html_())
            self.assertNotIn("null", ["".join(x.itertext()) for x in table.iter("td")])
            rows = [["".join(x.itertext()) for x in row.iter("td")] for row in table.iter("tr")]
            for column in zip(*filter(None, rows)):
                self.assertTrue(any(column), result)

    def test_retention(self):
        x = numpy.ldexp(uniform(60, 50), random().integers(-30, 17, (60, 50))).astype("f4")
        found = bitcut.retention(x)
        said, written, cells = self.figure(found)
        self.assertEqual(said, [f"{row['exponent']}: {cell(row['bits'])}"
                                for row in reversed(found.exponents)])
        self.assertIn("exponent of the value", written)
        self.assertIn(cell(found.bits), cells)

    def test_tolerance(self):
        found = bitcut.tolerance(uniform(19, 70), uniform(70, 13), **self.way)
        said, _, cells = self.figure(found)
        self.assertEqual([x.split(": ")[1] for x in said], [
            cell(x) for x in (found.max, found.limit, found.bound)])
        self.assertIn(cell(found.atol), cells)

    def test_without_figures(self):
        a, b = uniform(19, 70), uniform(70, 13)
        g = bitcut.gemm(a, b, **self.way)
        for result in (g, g.judge(), bitcut.verify(g.d, a, b, **self.way), bitcut.splits(),
                       bitcut.advise(a, b, unit="a100"), bitcut.explain(g.d, a, b, **self.way)):
            tables, figures = parsed(result._repr_html_())
            self.assertEqual((len(tables), figures), (1, []))

    def test_page(self):
        """examples/results_page.py."""
        folder = pathlib.Path(os.environ.get("srcdir", helper.PACKAGE + "/.."))
        page = pathlib.Path(folder, "examples/results_page.py")
        if not page.exists():
            self.skipTest("needs examples/ of the source")
        done = python(page.read_text(), BITCUT_LIBRARY=os.path.abspath(bitcut.library))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        page = done.stdout.split("</head>")[1].replace("</html>", "")
        self.assertEqual(len(parsed(page)[0]), 0)  # it is well-formed
        self.assertEqual(page.count("<svg"), 3)
        self.assertEqual(page.count("<h2>"), 10)


class Figures(unittest.TestCase):
    """What is drawn is where its number says."""

    def number(self, element, key):
        return float(element.get(key))

    def test_bars(self):
        rows = [("a<b", 4.0), ("c & d", 1.0), ("none", 0.0), ("nan", math.nan), ("inf", math.inf)]
        svg = ElementTree.fromstring(bars("x < y", rows, "ulp"))
        width = [self.number(x, "width") for x in svg.iter(SVG + "rect")]
        self.assertAlmostEqual(width[0], 4 * width[1], delta=0.3)
        self.assertEqual(width[2:], [0, 0, 0])
        self.assertEqual(marks(svg)[0][:2], ["a<b: 4", "c & d: 1"])
        for x in svg.iter(SVG + "rect"):
            self.assertLess(self.number(x, "x") + self.number(x, "width"), 600)

    def test_points(self):
        rows = [("a", 1e-3), ("b", 1e-1), ("c", 10.0), ("none", math.inf), ("zero", 0.0)]
        svg = ElementTree.fromstring(points("x", rows, "u"))
        at = [self.number(x, "cx") for x in svg.iter(SVG + "circle")]
        self.assertEqual(len(at), 3)
        self.assertAlmostEqual(at[1] - at[0], at[2] - at[1], delta=0.3)
        self.assertIn("inf", marks(svg)[1])

    def test_line(self):
        svg = ElementTree.fromstring(line("x", [(0, 0), (1, 5), (2, 10), (4, 20)], "e", "bits"))
        at = [(self.number(x, "cx"), self.number(x, "cy")) for x in svg.iter(SVG + "circle")]
        slopes = [(q[1] - p[1]) / (q[0] - p[0]) for p, q in zip(at, at[1:])]
        self.assertAlmostEqual(min(slopes), max(slopes), delta=0.01)
        self.assertLess(slopes[0], 0)

    def test_little(self):
        for figure in (bars("x", [], "u"), bars("x", [("a", 0.0)], "u"), points("x", [], "u"),
                       points("x", [("a", 1.0)], "u"), line("x", [], "e", "y"),
                       line("x", [(3, 0.0)], "e", "y")):
            self.assertEqual(ElementTree.fromstring(figure).tag, SVG + "svg")


if __name__ == "__main__":
    unittest.main()
