#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How often correct results are beyond the limits of `bitcut tolerance`, and how often what
`bitcut gemm` calls usual is.

`python3 tests/sampling/measure_limits.py [runs]` asks `bitcut tolerance` (the first in PATH) for
limits of 1 % false alarms, then runs `bitcut gemm` with so many other seeds (default 1000) on
each setup; a line each: setup, part of the runs beyond the componentwise limit and beyond the
normwise one; and parts by bound_grade."""

import collections
import json
import subprocess
import sys

SETUPS = [
    ("ootomo", "h100", "urand(-1,1)", 256),
    ("plain", "a100", "positive", 256),
    ("ootomo", "h100", "exp_rand(-30,-15)", 256),
    ("legemm", "mi210", "urand(-1,1)", 256),
    ("markidis", "v100", "nrand", 256),
    ("plain", "h100", "urand(-1,1)", 1024),
    ("fp32", "h100", "urand(-1,1)", 512),
]


def row(*words):
    out = subprocess.run(["bitcut", *words, "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout.splitlines()[0])


def main():
    runs = int(sys.argv[1]) if sys.argv[1:] else 1000
    print("recipe unit inputs k runs componentwise normwise grades")
    for recipe, unit, inputs, k in SETUPS:
        setup = ["--recipe", recipe, "--unit", unit, "-m", "32", "-n", "32", "-k", str(k),
                 "--input-a", inputs, "--input-b", inputs]
        limit = row("tolerance", *setup, "--power", "0", "--false-alarm", "0.01")
        beyond, grades = [0, 0], collections.Counter()
        for seed in range(runs):
            found = row("gemm", *setup, "--seed", str(10**6 + seed))
            beyond[0] += found["backward_max"] > limit["componentwise"]["limit"]
            beyond[1] += found["normwise"] > limit["normwise"]["limit"]
            grades[found["bound_grade"]] += 1
        print(recipe, unit, inputs, k, runs, *(f"{100 * n / runs:.2g} %" for n in beyond),
              *(f"{grade} {100 * n / runs:.3g} %" for grade, n in grades.most_common()),
              flush=True)


main()
