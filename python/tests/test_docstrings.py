# SPDX-License-Identifier: BSD-3-Clause
"""Docstrings, from which the reference in the manual is made: a summary, every argument, what
comes back, what is raised; and their examples run."""

import inspect
import unittest

from helper import needs_numpy, numpy

import bitcut
import bitcut.testing

import notebooks

def public():
    """Functions and methods by name: those of the modules that are no tables' functions."""
    for module in (bitcut, bitcut.testing):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) and not thing.__doc__.endswith(f"`bitcut list {name}`."):
                yield name, thing
            if inspect.isclass(thing):
                yield name, thing
                for method, function in vars(thing).items():
                    if inspect.isfunction(function) and not method.startswith("_"):
                        yield f"{name}.{method}", function


def examples(text):
    """Each line behind >>>, with what it shows.  The module doctest would do, but it loads
    readline, which sets COLUMNS for the programs that other tests run."""
    found, source = [], None
    for line in [*text.splitlines(), ""]:
        if line.startswith(">>> ") or not line:
            if source:
                found.append((source, "\n".join(wanted)))
            source, wanted = line[4:], []
        elif source:
            wanted.append(line)
    return found


def shown(outputs):
    """What a terminal shows of the outputs of notebooks.run()."""
    texts = ["".join(x["text"] if "text" in x else x["data"]["text/plain"]) for x in outputs]
    return "".join(texts).rstrip("\n")


class Docstrings(unittest.TestCase):
    def test_complete(self):
        for name, thing in public():
            with self.subTest(name):
                said = inspect.getdoc(thing)
                self.assertTrue(said, "none")
                self.assertRegex(said.splitlines()[0], r"[.!]$|:.*[.]$")
                if inspect.isclass(thing):
                    continue
                wanted = [x for x in inspect.signature(thing).parameters if x != "self"]
                for argument in wanted:
                    self.assertRegex(said, rf"(?m)^(Args:    |         ){argument}: ")
                for row in ("Returns", "Raises") if wanted else ():
                    self.assertRegex(said, rf"(?m)^{row}: ")
                for line in said.splitlines():
                    self.assertLessEqual(len(line), 104)

    @needs_numpy
    def test_examples(self):
        r = numpy.random.default_rng(1)
        a, b = (r.uniform(-1, 1, s).astype("f4") for s in ((12, 40), (40, 16)))
        given = {"bitcut": bitcut, "numpy": numpy, "a": a, "b": b,
                 "kernel": lambda a, b: bitcut.gemm(a, b, recipe="ootomo", unit="h100").d}
        count = 0
        for name, thing in [("bitcut", bitcut), *public()]:
            names = dict(given)
            for source, wanted in examples(inspect.getdoc(thing)):
                with self.subTest(name, source=source):
                    self.assertEqual(shown(notebooks.run(source, names)), wanted)
                count += 1
        self.assertGreater(count, 15)
