#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Empty the leaves of analysis/predict/cublas_*.inc whose predictions recorded answers contradict.

    plan_empty.py CALLS -o analysis/predict

CALLS has a line for each call where bitcut predicted another order of k from the sizes than the recorded
algorithm has: types, layout, epilogue, m, n, k, batch and MiB of the workspace.  If a first tree predicted
it, its leaf is EMPTIED: it refuses, with the sizes whose neighbours are in it, also what a pair would know,
as no pair was learned there.  Otherwise both leaves of the pair lose their rules."""

import argparse
import collections
import pathlib
import re
import sys

import numpy as np

import plan_pairs as pairs
import plan_table as table


def read_calls(path):
    """Sizes, as columns, of each (types, layout, epilogue, whether it is a batch, MiB)."""
    found = collections.defaultdict(set)
    for line in path.read_text().splitlines():
        types, layout, epilogue, *sizes, workspace = line.split()
        sizes = tuple(map(int, sizes))
        found[types, layout, epilogue, sizes[3] > 1, int(workspace)].add(sizes)
    return {kind: np.array(sorted(calls), np.int64).T for kind, calls in found.items()}


def empty_first(folder, name, places):
    path = folder / f"cublas_{name}.inc"
    head, numbers = path.read_text().rsplit("[] = {\n", 1)
    words = re.findall(r"\d+", numbers)
    for place in places:
        words[place] = str(64 + pairs.FirstTrees.EMPTIED)
    path.write_text(f"{head}[] = {{\n{table.wrapped(words)}\n}};\n")


# --- pairs ---------------------------------------------------------------------------------

def read_tree(data, rules):
    """As pairs.nested(); data: an iterator of bytes."""
    def number():
        x = next(data)
        return x if x < 128 else (x & 127) + (number() << 7)
    head = next(data)
    if head >= 64:
        return tuple(rules[number()] for _ in range(head - 64))
    below, more, _ = number(), number(), number()
    left = read_tree(data, rules)
    return ("N", head, below, below + more + 1, left, read_tree(data, rules))


def read_pairs(path):
    """The pairs of trees of each kind."""
    text = path.read_text()
    rules = [tuple(x if x.isupper() else int(x) for x in row.split(", "))
             for row in re.findall(r"^    \{ (.*) \},$", text, re.M)]
    trees = {name: read_tree(map(int, data.replace("\n", "").strip(",").split(",")), rules)
             for name, data in re.findall(r"char (\w+)\[\] = \{([^}]*)\}", text)}
    rows = re.findall(r'PAIR\("(.*)", "(.*)", (\w+), (\w+), (\w+), (\w+)\)', text)
    return {(types, layout, "bias" if bias == "true" else "none", batched == "true",
             1 if small == "true" else 32): [trees[f"{name}_one"], trees[f"{name}_other"]]
            for types, layout, batched, small, bias, name in rows}


def without(node, values):
    """A tree without the rules of the leaf of values."""
    if not node or node[0] != "N":
        return ()
    x = values[node[1]]
    if node[2] < x < node[3]:
        return node
    i = 4 + int(x > node[2])
    node = (*node[:i], without(node[i], values), *node[i + 1:])
    return () if node[4] == node[5] == () else node


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True, help="folder of the trees")
    o = parser.parse_args()
    first, places = pairs.FirstTrees(o.out), collections.defaultdict(set)
    path = o.out / "cublas_pairs.inc"
    made, changed = read_pairs(path), 0
    for kind, sizes in read_calls(o.calls).items():
        types, layout, epilogue, batched, workspace = kind
        bias, name = epilogue == "bias", first.name(types, layout, batched, workspace)
        known = first.predicts(sizes, types, layout, bias, batched, workspace)
        if known.any():
            tree, here = first.tree(name), sizes[:, known]
            leaf = tree.walk(first.features(here, here, first.number(types), bias))
            places[name] |= {tree.places[i] for i in leaf if i >= 0 and tree.calls[i]}
        if kind not in made and not known.all():
            sys.exit(f"{kind}: {(~known).sum()} calls that no tree predicts")
        for values in pairs.features_of(sizes[:, ~known]).T.astype(np.int64):
            trees = [without(tree, values) for tree in made[kind]]
            changed += sum(a != b for a, b in zip(trees, made[kind]))
            made[kind] = trees
    for name, those in places.items():
        empty_first(o.out, name, those)
    print(f"{sum(map(len, places.values()))} leaves of first trees and {changed} of pairs are emptied")
    pairs.write_pairs(path, list(made.items()))


if __name__ == "__main__":
    main()
