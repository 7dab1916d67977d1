# SPDX-License-Identifier: BSD-3-Clause
"""Docstrings, from which the reference in the manual is made: a summary, every argument, what
comes back, what is raised; and their examples run."""

import doctest
import inspect
import os
import unittest

from helper import needs_numpy, numpy

import bitcut
import bitcut.testing

for variable in "COLUMNS", "LINES":  # doctest reads readline, which sets them for child processes
    os.unsetenv(variable)


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
        names = {"bitcut": bitcut, "numpy": numpy, "a": a, "b": b,
                 "kernel": lambda a, b: bitcut.gemm(a, b, recipe="ootomo", unit="h100").d}
        parser, examples = doctest.DocTestParser(), 0
        for name, thing in [("bitcut", bitcut), *public()]:
            test = parser.get_doctest(inspect.getdoc(thing), dict(names), name, None, 0)
            said = []
            failed = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
            self.assertEqual(failed.failed, 0, "".join(said))
            examples += failed.attempted
        self.assertGreater(examples, 15)
