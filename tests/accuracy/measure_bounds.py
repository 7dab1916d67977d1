#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every bound on many outputs: violations, and how tight it is.

`python3 tests/accuracy/measure_bounds.py [outputs]` runs `bitcut bound` (the first in PATH) on
recipes, architectures, six kinds of inputs, lengths and orders of k at random, always the
same ones, until every bound looked at so many outputs (default 10^6): a recipe on a unit is
left out once it has none of a bound that lacks some.  Then one line a bound: runs in which
it applied, outputs, those beyond, the largest part of a limit that an error took; outputs
beyond by inputs; and quartiles over the runs of the median limit / error.  SIGINT ends it with
what was seen."""

import itertools
import json
import random
import subprocess
import sys

INPUTS = ["positive", "urand(-1,1)", "exp_rand(-8,8)", "exp_rand(-30,30)", "subnormal",
          "rz_worst"]
LENGTHS = [16, 100, 512, 2000]
ORDERS = [[], ["--split-k", "3"], ["--order", "lanes=4,chunk=8,reduction=tree"],
          ["--promote", "2"], ["--equilibrate"]]


def rows(*words):
    out = subprocess.run(["bitcut", *words, "--json"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    return [json.loads(line) for line in out.stdout.splitlines()]


def cases():
    """Recipes on units, each with one of its shapes, and the rest."""
    recipes = [row["name"] for row in rows("list", "recipes")]
    units = {}
    for row in rows("list", "units"):
        key = row["name"].split("/")[0], row["a"], row["b"], row["c"]
        units.setdefault(key, row["name"])
    pairs = list(itertools.product(recipes, units.values()))
    draw = random.Random(1)
    while True:
        yield *draw.choice(pairs), *map(draw.choice, (INPUTS, LENGTHS, ORDERS))


def quartiles(values):
    values = sorted(values)
    return [values[len(values) * q // 4] for q in (1, 2, 3)] if values else ["-"] * 3


class Tally:
    """What was seen of each bound, and of each beside each kind of inputs."""

    def __init__(self):
        self.outputs = dict.fromkeys((row["name"] for row in rows("list", "bounds")), 0)
        self.runs, self.beyond, self.among, self.ratio, self.tight = {}, {}, {}, {}, {}

    def add(self, row, inputs):
        name, at = row["bound"], (row["bound"], inputs)
        self.runs[name] = self.runs.get(name, 0) + 1
        self.outputs[name] += row["outputs"]
        self.among[at] = self.among.get(at, 0) + row["outputs"]
        for key in (name, at):
            self.beyond[key] = self.beyond.get(key, 0) + row["violations"]
        if row["ratio"] is not None:
            self.ratio[name] = max(self.ratio.get(name, 0), float(row["ratio"]))
        if row["tightness"] is not None:
            self.tight.setdefault(at, []).append(float(row["tightness"]))

    def print(self):
        print("bound runs outputs beyond most_of_limit")
        for name in self.runs:
            print(name, self.runs[name], self.outputs[name], self.beyond[name],
                  f"{self.ratio.get(name, 0):.3g}")
        print("outputs beyond, by inputs")
        for name, inputs in sorted(self.among):
            if self.beyond[name, inputs]:
                print(name, inputs, self.beyond[name, inputs], "of",
                      self.among[name, inputs])
        print("median limit / error of a run, quartiles, by inputs")
        for (name, inputs), values in sorted(self.tight.items()):
            print(name, inputs, *(f"{q:.3g}" for q in quartiles(values)))


def measure(tally, wanted):
    serves = {}  # a recipe on a unit: the bounds that applied
    for seed, (recipe, unit, inputs, k, order) in enumerate(cases()):
        of = serves.setdefault((recipe, unit), None)
        if of is not None and not any(tally.outputs[name] < wanted for name in of):
            continue
        found = rows("bound", "--recipe", recipe, "--unit", unit, "-m", "48", "-n", "48",
                     "-k", str(k), "--input-a", inputs, "--input-b", inputs, "--samples",
                     str(min(48 * 48, 2**19 // k)), "--seed", str(seed), *order)
        applied = [row for row in found if row["applies"]]
        if found or not order:
            serves[recipe, unit] = (of or set()) | {row["bound"] for row in applied}
        for row in applied:
            tally.add(row, inputs)
            if row["violations"] and row["kind"] == "rigorous":
                print("beyond:", row["bound"], recipe, unit, inputs, k, order, seed)
        if all(count >= wanted for count in tally.outputs.values()):
            break


def main():
    tally = Tally()
    try:
        measure(tally, int(float(sys.argv[1])) if sys.argv[1:] else 10**6)
    except KeyboardInterrupt:
        print("interrupted: what was seen until then")
    tally.print()


main()
