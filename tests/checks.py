# SPDX-License-Identifier: BSD-3-Clause
"""What the tests in Python of the program share: the seed, the lines of TAP, and runs."""

import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "python/tests"))
from helper import BRIEF, WHOLE, cases

SEED = int(os.environ.get("BITCUT_SEED", 5))
_results = []


def check(what, wrong):
    """The line of a test; `wrong` is what is wrong, or empty."""
    _results.append(not wrong)
    print(f"{'not ' if wrong else ''}ok {len(_results)} - {what}")
    if wrong:
        print("#", ascii(wrong)[:900], f"(BITCUT_SEED={SEED})", flush=True)


def plan():
    """The last line."""
    print(f"1..{len(_results)}")


def run(*words, folder="."):
    return subprocess.run(["bitcut", *map(str, words)], stdin=subprocess.DEVNULL, cwd=folder,
                          capture_output=True, text=True, check=False)


def bitcut(*words, status=0, folder="."):
    """Standard output, or standard error of a refusal; the status is as expected."""
    done = run(*words, folder=folder)
    assert done.returncode == status, (words, done.returncode, done.stderr, done.stdout[-600:])
    return done.stderr if status > 1 else done.stdout
