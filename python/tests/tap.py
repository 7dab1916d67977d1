# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of this folder, or the modules that are named, and prints TAP."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True


class Tap(unittest.TestResult):
    count = 0

    def line(self, ok, test, more=""):
        self.count += 1
        print(f"{ok} {self.count} - {test.id()}{more}", flush=True)

    def failed(self, test, text):
        self.line("not ok", test)
        print("".join(f"# {line}\n" for line in text.splitlines()), end="", flush=True)

    def addSuccess(self, test):
        self.line("ok", test)

    def addSkip(self, test, reason):
        self.line("ok", test, f" # SKIP {reason}")

    def addFailure(self, test, error):
        self.failed(test, self._exc_info_to_string(error, test))

    addError = addFailure

    def addSubTest(self, test, subtest, error):
        if error:
            self.addFailure(subtest, error)


if __name__ == "__main__":  # processes that tests start read this file too
    folder = pathlib.Path(__file__).resolve().parent
    names = sys.argv[1:] or sorted(f.stem for f in folder.glob("test_*.py"))
    sys.path.insert(0, str(folder))
    tests = unittest.defaultTestLoader.loadTestsFromNames(names)
    print(f"1..{tests.countTestCases()}", flush=True)
    result = Tap()
    tests.run(result)
    sys.exit(result.count != tests.countTestCases())
