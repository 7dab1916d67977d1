#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make analysis/predict/cublas_pairs.inc, pairs of trees for sizes that the trees of plan_table.py refuse.

    plans ask SEED SECONDS 65536 < ask.SEED.kinds > ask.SEED.bin 2> ask.SEED.codes
    plan_pairs.py FOLDER --unsure pick
    plan_pick pick.trees SEED PART PARTS | plans answers pick.kinds SECONDS > pick.SEED.PART-PARTS.bin \\
        2> pick.SEED.PART-PARTS.codes
    plan_pairs.py FOLDER -o analysis/predict

FOLDER/32 has the files of calls with a workspace of 32 MiB, and FOLDER/1 those of 1 MiB; of
`plan_pick` several PARTS run beside each other.  Trees are learned by plan_tree.c, from calls that the
first trees refuse.  A label is an algorithm up to what the order of k does not depend on, with a number
of slices or a rule for it; a leaf has the labels that all its calls have.

A call stands for more or fewer calls, its weight, as not all were asked where trees were sure.  A leaf
predicts if (sum of weights)^2 / sum of weights^2 of its calls is large enough: the next of LEAST after
the first with which at most one of 60,000 calls that were left out is predicted wrongly.  Those are
the calls of the first `plans ask`, or, without one, every tenth call.  plan_empty.py empties leaves
that any recorded answer contradicts."""

import argparse
import collections
import itertools
import pathlib
import re
import subprocess
import tempfile

import numpy as np

import plan_table as table

ROUND = 65536  # shapes of a kind in a round of `plans ask`
LEAST, MANY = (700, 1000, 1500, 2000, 3000, 5000, 10000), 60000
GROWN = 400  # calls of a node that is divided
UNSURE, SURE = 20, 1500  # the same, and calls of a leaf that is sure, for plan_pick
CALLS_MAX = 5000000  # calls of a kind
PROCESSORS = 132
FULL, MOST, ANY = "full", "most", 99  # ANY stages: no slice ends in a partial stage
REFUSED = ("refused",)
# enum cublasLtMatmulTile_t: columns x rows of our D
TILES = {5: (16, 16), 6: (32, 8), 7: (8, 64), 8: (16, 32), 9: (32, 16), 10: (64, 8), 11: (32, 32),
         12: (32, 64), 13: (64, 32), 14: (32, 128), 15: (64, 64), 16: (128, 32), 17: (64, 128),
         18: (128, 64), 19: (64, 256), 20: (128, 128), 21: (256, 64), 22: (64, 512), 23: (128, 256),
         24: (256, 128), 25: (512, 64), 34: (32, 256)}
LAYOUTS = ("NT", "NN", "TN", "TT")
# types and layouts of the pairs, the epilogue, whether calls are batches, MiB of the workspace
PAIRS = ((("f32", "tf32", "f16", "f16.f32", "bf16", "bf16.f32"), LAYOUTS, "none", False, 32),
         (("e4m3.bf16", "e4m3fast.bf16", "e4m3.f32"), ("NT",), "none", False, 32),
         (("f32", "tf32", "f16", "f16.f32", "bf16", "bf16.f32"), LAYOUTS, "none", True, 32),
         (("f32", "tf32", "f16", "bf16"), ("NT", "NN"), "bias", False, 1))


# --- recordings ----------------------------------------------------------------------------

def shapes(seed, index, kind):
    """m, n, k and the batch of random_shape() in plans.cu, as columns."""
    grains, least = np.array([64, 8, 8, 8, 64, 8, 8, 1]), 16 if kind[0].startswith("e4m3") else 1
    less = 2 if kind[3] == "0" else 0
    h = table.mix((index + 0x9e3779b9 * seed) & 0xffffffff)
    of_n, of_k = (np.maximum(grains[h >> np.uint32(s) & 7], least) for s in (0, 3))
    batch = table.size_of(table.mix(h + np.uint32(4)), 9, 1, 1) if less else np.ones(len(h), np.int64)
    return np.stack([table.size_of(table.mix(h + np.uint32(1)), 13 - less, 0, 1),
                     table.size_of(table.mix(h + np.uint32(2)), 13 - less, 0, of_n),
                     table.size_of(table.mix(h + np.uint32(3)), 11 - less, 3, of_k), batch])


def read_kinds(path):
    return [tuple(line.split()) for line in path.read_text().splitlines()]


def read_trees(path):
    """The trees of plan_pick, and from how many calls on a leaf is asked one time in eight."""
    words, trees = iter(path.read_text().split()), []
    for _ in filter(lambda word: word == "kind", words):
        _, _, nodes, _, calls = (int(next(words)) for _ in range(5))
        rows = np.array([int(next(words)) for _ in range(5 * nodes)], np.int64).reshape(-1, 5)
        trees.append((Tree(rows) if nodes else None, calls))
    return trees


class Recordings:
    """Calls of each kind: sizes, numbers of fields, and how many calls each stands for."""

    def __init__(self, folder, program):
        self.fields, self.program = {None: 0}, program
        self.asked, self.picked = collections.defaultdict(list), collections.defaultdict(list)
        self.first = collections.defaultdict(lambda: (0, 0))  # the first seed, and its calls
        for path in sorted(folder.glob("ask.*.bin")):
            self.read_asked(path)
        for path in sorted(folder.glob("pick.*.kinds")):
            self.read_picked(path)

    def number(self, path):
        number = np.zeros(65536, np.int64)
        for code, x in table.read_codes(path).items():
            number[code] = self.fields.setdefault(x, len(self.fields))
        return number

    def read_asked(self, path):
        kinds, seed = read_kinds(path.with_suffix(".kinds")), int(path.suffixes[0][1:])
        rounds = np.fromfile(path, "<u2")
        rounds = self.number(path.with_suffix(".codes"))[rounds[:len(rounds) // ROUND * ROUND]]
        for i, row in enumerate(rounds.reshape(-1, ROUND)):
            kind, index = kinds[i % len(kinds)], np.arange(ROUND) + i // len(kinds) * ROUND
            self.asked[kind].append((shapes(seed, index, kind), row))
            if self.first[kind][0] in (0, seed):
                self.first[kind] = (seed, self.first[kind][1] + ROUND)

    def read_picked(self, path):
        kinds, trees = read_kinds(path), read_trees(path.with_suffix(".trees"))
        for answers in sorted(path.parent.glob(path.stem + ".*.bin")):
            codes = self.number(answers.with_suffix(".codes"))[np.fromfile(answers, "<u2")]
            seed, part, parts = re.findall(r"\d+", answers.name)
            with subprocess.Popen([self.program, path.with_suffix(".trees"), seed, part, parts],
                                  stdout=subprocess.PIPE) as p:
                x = np.frombuffer(p.stdout.read(24 * len(codes)), "<i4").reshape(-1, 6).T
                p.kill()
            for number, kind in enumerate(kinds):
                here = x[0] == number
                self.picked[kind].append((x[1:5, here].astype(np.int64), codes[here], *trees[number]))

    def calls(self, kind):
        """Sizes, numbers of fields, weights, and which calls are left out."""
        asked, picked = self.asked[kind], self.picked[kind]
        part = min(1, (CALLS_MAX - sum(x[1].size for x in asked)) / max(1, sum(x[1].size for x in picked)))
        picked = [(x[0][:, :int(part * x[1].size)], x[1][:int(part * x[1].size)], *x[2:]) for x in picked]
        sizes = np.concatenate([x[0] for x in asked + picked], axis=1)
        answers = np.concatenate([x[1] for x in asked + picked])
        here, tree, least = np.arange(len(answers)), *(picked[0][2:] if picked else (None, 0))
        out = here < self.first[kind][1] if asked else here % 10 == 0
        if not tree:
            return sizes, answers, np.ones(len(answers)), out
        sure = tree.calls[tree.walk(features_of(sizes))] >= least
        natural = sum(x[1].size for x in asked)
        drawn = (~sure[natural:]).sum() / (~sure[:natural]).mean()
        return sizes, answers, 1 / (natural + drawn * np.where(sure, 1 / 8, 1)), out


# --- labels: what a leaf may stand for ---------------------------------------------------------

def slices_of(f, sizes):
    """Pairs of a condition and a number of slices, or a rule for it."""
    m, n, k, batch = sizes
    slices = max(f[3], 1)
    yield k > 0, slices
    if slices == 1:
        return
    if f[1] in TILES:
        columns, rows = TILES[f[1]]
        tiles = -(-n // columns) * -(-m // rows) * batch
        for waves in (1, 2, 3, 4, 6, 8):
            yield PROCESSORS * waves // tiles == slices, ("waves", waves, rows, columns)
    for length in (64, 128, 256, 32):
        yield k // length == slices, ("lengths", length)


def labels_of_nvjet(f, k, types):
    stage, slices = table.STAGE_K[f[2]], max(f[3], 1)
    full = 2560 if types.startswith("e4m3") else 1280
    yield k > 0, (66, f[2], slices, 2 if slices > 1 else 0, 0)
    yield slices == np.maximum(1, (k - 1) // full), (66, f[2], FULL, 2, 0)
    if slices > 1:
        yield -(-(-(-k // stage)) // slices) * stage >= k, (66, f[2], 1, 0, 0)
        for length in (128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1152, 1536):
            yield np.maximum(1, k // length) == slices, (66, f[2], ("lengths", length), 2, 0)


def labels_of_cutlass(f, sizes, types, layout):
    k = sizes[2]
    simt, slices, stage = f[0] == 20, max(f[3], 1), table.STAGE_K[f[2]]
    half, is_wide = types.split(".")[0] in ("f16", "bf16"), types.endswith("f32")
    eight = half and f[2] == 0  # the instruction with 8 k
    k_of_step = 16 if half and not eight else 8
    number = 0 if eight or simt else {16: 1, 32: 7, 64: 13, 128: 19}[stage]
    id_of = 21 if types == "tf32" else 24 if eight else 23
    scheme = 2 if f[4] == 4 and is_wide else f[4]
    line = 128 // table.BYTES[types.split(".")[0]]
    grain = np.where((layout != "TN") & (k % line == 0), line, line // 8)
    length = -(-(-(-k // slices)) // grain) * grain
    if simt and slices == 1:
        yield k > 0, (55, 31, 1, 0, 0)
    elif simt:
        for condition, x in slices_of(f, sizes):
            yield condition, (20, 28, x, scheme, 0)
        yield length == grain, (20, 28, MOST, scheme, 0)
        yield length >= k, (55, 31, 1, 0, 0)
    elif slices == 1:
        whole = (k % k_of_step == 0) | (k <= stage)
        yield k > 0, (id_of, number, 1, 0, 0)
        if eight:
            yield whole, (id_of, ANY, 1, 0, 0)
        else:
            yield whole, (43, 34, 1, 0, 0) if types == "tf32" else (66, 35, 1, 0, 0)
        if half and not eight:
            yield whole & ((k - 1) // 1280 <= 1), (66, 35, FULL, 2, 0)
    else:
        whole = (length % k_of_step == 0) & (k % length % k_of_step == 0)
        for condition, x in slices_of(f, sizes):
            yield condition, (id_of, number, x, scheme, 0)
            yield condition & whole, (id_of, ANY, x, scheme, 0)
        yield whole & (length == grain), (id_of, ANY, MOST, scheme, 0)


def labels_of_turns(f, sizes):
    k, slices = sizes[2], max(f[3], 1)
    if f[6] == 1 and slices > 2:  # folded() in cublas.c
        few = -(-k // 8) <= -(-slices // 2)
        yield few, (55, 31, MOST, 2, 0)
        yield ~few, (55, 31, slices, 2, 1) if slices <= 5 else REFUSED
    elif slices == 1:
        yield k > 0, (55, 31, 1, 0, 0)
    else:
        for condition, x in slices_of(f, sizes):
            yield condition, (55, 31, x, 2, 0)
        yield slices * 8 >= k, (55, 31, MOST, 2, 0)
        yield k <= 8, (55, 31, 1, 0, 0)


def labels_of(f, sizes, types, layout):
    """Pairs of a condition and a label."""
    k = sizes[2]
    slices = max(f[3], 1) if f else 1
    if not f or (slices == table.STREAM_K and f[0] != 11):
        yield k > 0, REFUSED
    elif f[0] == 66:
        yield from labels_of_nvjet(f, k, types)
    elif f[0] in (20, 21, 23, 24) and not (slices > 1 and f[4] == 1 and not types.endswith("f32")):
        yield from labels_of_cutlass(f, sizes, types, layout)
    elif f[0] in (42, 43) and slices == 1:
        yield k > 0, (43, 34, 1, 0, 0) if types == "tf32" else (42, 35, 1, 0, 0)
    elif f[0] == 63 and slices == 1:
        yield k > 0, (63, 15, 1, 0, 0)
        yield k % 8 == 0, (43, 34, 1, 0, 0)
    elif f[0] == 63 and f[6] != 1:
        for condition, x in slices_of(f, sizes):
            yield condition, (63, f[2], x, 2, 0)
    elif f[0] == 55 or (f[0] == 10 and slices == 1):
        yield from labels_of_turns(f, sizes)
    elif f[0] == 10:
        for condition, x in slices_of(f, sizes):
            yield condition, (10, 0, x, f[4], 0)
    elif f[0] == 13:
        for condition, x in slices_of(f, sizes):
            yield condition, (13, 0, x, 2 if slices > 1 else 0, f[6])
    elif f[0] in (11, 16):
        yield k > 0, (f[0], 0, 1 if slices == table.STREAM_K else slices, 2 if 1 < slices < table.STREAM_K else 0, f[6])
    else:
        yield k > 0, REFUSED


def label_calls(sizes, answers, fields, types, layout, numbers):
    """The numbers of the labels that each call has, from 1, ended by 0."""
    label, count = np.zeros((len(answers), 24), np.uint16), np.zeros(len(answers), np.int64)
    order = np.argsort(answers, kind="stable")
    found, first = np.unique(answers[order], return_index=True)
    for answer, here in zip(found, np.split(order, first[1:])):
        for condition, x in labels_of(fields[answer], sizes[:, here], types, layout):
            those = here[condition]
            if len(those):
                label[those, count[those]] = numbers.setdefault(x, len(numbers) + 1)
                count[those] += 1
    return label[:, :count.max()]


# --- features ------------------------------------------------------------------------------

TILES_OF_FEATURES = ((8, 64), (16, 64), (16, 16), (32, 32), (64, 64), (128, 32), (32, 128), (64, 128),
                     (128, 64), (128, 128), (256, 64), (64, 256), (256, 128), (128, 256), (64, 32),
                     (32, 64), (16, 128))
# not used by the second tree: some tiles, n k, and k modulo 64
OTHERS = (6, 7, 8, 9, 10, 18, 19, 22, 25, 27)


def features_of(sizes):
    """Those of features_make() in cublas_pair.c, and of plan_pick.c."""
    m, n, k, batch = sizes
    power = [np.minimum(x & -x, 128) for x in (k, n, m)]
    tiles = [-(-m // a) * -(-n // b) * batch for a, b in TILES_OF_FEATURES]
    products = [np.minimum(x, 2**32 - 1) for x in (m * n * batch, m * n * k * batch >> 10, n * k, m * k)]
    rest = [k % 64, k % 128, batch, np.zeros_like(m)]
    return np.stack([x.astype(np.uint32) for x in (m, n, k, *power, *tiles, *products, *rest)])


# --- trees ---------------------------------------------------------------------------------

class Tree:
    """Nodes in preorder: feature (-1: a leaf), largest value of the left branch, smallest value of
    the right one, node of the right one, and the calls of a leaf; and the labels of leaves."""

    def __init__(self, rows, labels=None):
        self.feature, self.below, self.above, self.right, self.calls = rows.T
        self.labels = labels

    def walk(self, values):
        """The leaf of each call; -1 between two branches."""
        at, active = np.zeros(values.shape[1], np.int64), np.arange(values.shape[1])
        while len(active):
            active = active[(at[active] >= 0) & (self.feature[at[active]] >= 0)]
            node = at[active]
            x = values[self.feature[node], active].astype(np.int64)
            at[active] = np.where(x <= self.below[node], node + 1,
                                  np.where(x >= self.above[node], self.right[node], -1))
        return at


def learn(program, values, label, least, without=()):
    features = np.array([i for i, x in enumerate(values) if x.min() != x.max() and i not in without])
    with tempfile.NamedTemporaryFile() as file:
        np.array([values.shape[1], len(features), label.max() + 1, label.shape[1]], np.uint32).tofile(file)
        np.ascontiguousarray(values[features]).tofile(file)
        np.ascontiguousarray(label).tofile(file)
        file.flush()
        text = subprocess.run([program, file.name, str(least)], check=True, capture_output=True, text=True)
    rows, labels, open_nodes = [], {}, []
    for i, line in enumerate(text.stdout.splitlines()):
        kind, *numbers = line.split()
        if open_nodes and rows[open_nodes[-1]][3] == 0 and open_nodes[-1] != i - 1:
            rows[open_nodes.pop()][3] = i
        if kind == "N":
            rows.append([int(features[int(numbers[0])]), int(numbers[1]), int(numbers[2]), 0, 0])
            open_nodes.append(i)
        else:
            rows.append([-1, 0, 0, 0, int(numbers[0])])
            labels[i] = tuple(map(int, numbers[1:]))
    return Tree(np.array(rows, np.int64), labels)


def weigh(tree, values, weight):
    """(sum of weights)^2 / sum of weights^2 of each leaf"""
    leaf = tree.walk(values)
    one, two = (np.bincount(leaf, w, len(tree.feature)) for w in (weight, weight * weight))
    return one * one / np.maximum(two, 1e-300)


# --- the first trees -------------------------------------------------------------------------

class FirstTrees:
    """Which calls cublas_choose.c does not leave to pairs: those that it predicts, layers aside, and
    those of a leaf that plan_empty.py emptied, or near it."""

    EMPTIED = 1000  # as in cublas_choose.c

    TILES = (0, 1, 15, 4, 8, 7, 9, 12, 13, 16)  # of the features here

    def __init__(self, folder):
        self.folder = folder

    def tree(self, name):
        text = (self.folder / f"cublas_{name}.inc").read_text().split("[] = {")[2]
        words, rows, places = list(map(int, re.findall(r"\d+", text))), [], []

        def add(at):  # the place of a node, and the end of its branches
            row = len(rows)
            places.append(at)
            if words[at] >= 64:
                rows.append((-1, 0, 0, 0, words[at] - 64))
                return at + 1
            rows.append(None)
            end = add(at + 4)
            right = len(rows)
            rows[row] = (*words[at:at + 3], right, 0)
            return add(end)
        add(0)
        tree = Tree(np.array(rows, np.int64))
        tree.places = places  # of nodes, in the numbers of the file
        return tree

    def name(self, types, layout, batched, workspace):
        kind = {"e": "fp8", "f": "half", "b": "half", "t": "tf32"}[types[0]] if types != "f32" else "f32"
        return f"{kind}_{layout.lower()}" + "_batch" * batched + "_1" * (workspace == 1)

    def number(self, types):
        return table.NUMBER[types if types.startswith("e4m3") else types.removesuffix(".f32")]

    def features(self, sizes, whole, number, bias):
        v, power = features_of(sizes), features_of(whole)[3:6]
        tiles = [v[6 + i] for i in self.TILES]
        constant = [np.full_like(v[0], x) for x in (number, bias)]
        return np.stack([*v[:3], *power, *tiles, v[23], v[24], *constant, v[29]])

    def neighbours(self, sizes):
        for shift, i, sign in itertools.product((7, 5), range(4 if (sizes[3] > 1).any() else 3), (-1, 1)):
            x = sizes[i]
            grain = np.where(x % 8 == 0, 8, 1) if i in (1, 2) else np.ones_like(x)
            step = np.maximum((x >> shift) // grain * grain, grain)
            near = sizes.copy()
            near[i] = x + step if sign > 0 else np.where(x > step, x - step, x)
            yield near

    def ruled(self, sizes, types, layout):
        """is_batch_of_one_sum() there"""
        m, n, _, batch = sizes
        return (types == "f32") & (m > (16 if layout[0] == "N" else 1)) & (n > 1) & (batch <= 128)

    def predicts(self, sizes, types, layout, bias, batched, workspace):
        name, number = self.name(types, layout, batched, workspace), self.number(types)
        found = np.zeros(sizes.shape[1], bool)
        if (self.folder / f"cublas_{name}.inc").exists():
            tree = self.tree(name)

            def leaf(near):
                at = tree.walk(self.features(near, sizes, number, bias))
                return np.where(at >= 0, tree.calls[at], 0)
            here = leaf(sizes)
            found = here > 0
            for near in self.neighbours(sizes):
                other = leaf(near)
                found &= (other == here) | (other == self.EMPTIED) | (here == self.EMPTIED)
        if batched and not bias:
            found |= self.ruled(sizes, types, layout)
        if types in ("f16.f32", "bf16.f32"):
            found &= (sizes[1] % 8 == 0) & (sizes[2] % 8 == 0)
        return found


# --- checks --------------------------------------------------------------------------------

def algorithms(number, name, sizes):
    """The algorithms that labels give, as numbers; 0 without a label."""
    m, n, k, batch = sizes
    found = np.zeros(len(number), np.int64)
    for x in np.unique(number):
        if not x or name[x] == REFUSED:
            continue
        here = np.nonzero(number == x)[0]
        *fields, count, by, rows, columns = rule_of(name[x])
        if count == "WAVES":
            slices = PROCESSORS * by // (-(-m[here] // rows) * -(-n[here] // columns) * batch[here])
        else:
            slices = {"FULL": (k[here] - 1) // by, "MOST": -(-k[here] // by), "LENGTHS": k[here] // by,
                      "FIXED": np.full(len(here), by)}[count]
        slices = np.maximum(slices, 1)
        scheme = np.where(slices > 1, fields[2], 0)
        found[here] = (((fields[0] * 64 + fields[1]) * 8 + scheme) * 256 + fields[3] << 20) + slices
    return found


def predicted(tree, leaf, name, sizes):
    """The algorithms of the leaves; 0 where their labels do not agree."""
    found, most = np.zeros(len(leaf), np.int64), max(map(len, tree.labels.values()))
    labels = np.zeros((len(tree.feature), most), np.int64)
    for i, x in tree.labels.items():
        labels[i, :len(x)] = x
    for j in range(most):
        number = np.where(leaf >= 0, labels[leaf, j], 0)
        now = algorithms(number, name, sizes)
        found = now if j == 0 else np.where((number > 0) & (now != found), 0, found)
    return found


def choose_least(trees, weights, name, sizes, label, count):
    """The weight of leaves that predict, how many of the calls are predicted, and how many wrongly."""
    values = features_of(sizes)
    leaves = [tree.walk(values) for tree in trees]
    one, other = (predicted(tree, leaf, name, sizes) for tree, leaf in zip(trees, leaves))
    weight = np.minimum(*(w[leaf] for w, leaf in zip(weights, leaves)))
    right = np.any([algorithms(x, name, sizes) == one for x in label.T], axis=0)
    found = [(one > 0) & (one == other) & (weight >= least) for least in LEAST]
    wrong = [int((x & ~right).sum()) for x in found]
    first = 0 if count > MANY else LEAST.index(1000)
    good = next((i for i, x in enumerate(wrong) if i >= first and x <= count // MANY), len(LEAST) - 1)
    i = min(good + (count > MANY), len(LEAST) - 1)
    return LEAST[i], int(found[i].sum()), wrong[i]


# --- tables --------------------------------------------------------------------------------

def rule_of(label):
    """The row of rules[] in cublas_pair.c."""
    id_of, stages, slices, scheme, custom = label
    if stages == ANY:
        stages = 0 if id_of == 24 else 7
    if slices == FULL:
        count = ("FULL", 2560 if stages == 36 else 1280, 0, 0)
    elif slices == MOST:
        count = ("MOST", 8 if id_of == 55 else 1, 0, 0)
    elif not isinstance(slices, tuple):
        count = ("FIXED", slices, 0, 0)
    else:
        count = (slices[0].upper(), *slices[1:], 0, 0)[:4]
    return (id_of, stages, scheme, custom, *count)


def nested(tree, weight, least, name):
    """Nodes ("N", feature, below, above, left, right), and leaves, tuples of rules."""
    def at(i):
        if tree.feature[i] < 0:
            labels = [name[x] for x in tree.labels[i]]
            if weight[i] < least or REFUSED in labels:
                return ()
            return tuple(sorted({rule_of(x) for x in labels}, key=str))
        left, right = at(i + 1), at(tree.right[i])
        if left == right == ():
            return ()
        return ("N", int(tree.feature[i]), int(tree.below[i]), int(tree.above[i]), left, right)
    return at(0)


def rules_in(node):
    if node and node[0] == "N":
        yield from rules_in(node[4])
        yield from rules_in(node[5])
    else:
        yield from node


def number_bytes(x):
    return [x] if x < 128 else [x & 127 | 128, *number_bytes(x >> 7)]


def tree_bytes(node, number):
    if node and node[0] == "N":
        left, right = (tree_bytes(x, number) for x in node[4:])
        head = [node[1], *number_bytes(node[2]), *number_bytes(node[3] - node[2] - 1)]
        return [*head, *number_bytes(len(left)), *left, *right]
    return [64 + len(node), *(x for rule in node for x in number_bytes(number[rule]))]


def wrapped(items):
    lines = [""]
    for item in items:
        if len(lines[-1]) + len(item) + 1 > 98:
            lines.append("")
        lines[-1] += item + ","
    return "\n".join(lines)


def write_pairs(path, made):
    count = collections.Counter(rule for _, trees in made for tree in trees for rule in rules_in(tree))
    rules = [rule for rule, _ in count.most_common()]
    number = {rule: i for i, rule in enumerate(rules)}
    text = ["/* SPDX-License-Identifier: BSD-3-Clause */",
            "/* Rules and pairs of trees of cublas_pair.c, made by data/libraries/plan_pairs.py from",
            "   recorded answers. */",
            "static const struct rule rules[] = {"]
    text += ["    { %d, %d, %d, %d, %s, %d, %d, %d }," % rule for rule in rules] + ["};", ""]
    rows, size = [], 12 * len(rules)
    for (types, layout, epilogue, batched, workspace), trees in made:
        name = f"{types}_{layout}".replace(".", "_").lower()
        name += "_batch" * batched + "_1" * (workspace == 1) + "_bias" * (epilogue == "bias")
        for part, tree in zip(("one", "other"), trees):
            data = tree_bytes(tree, number)
            size += len(data)
            text += [f"static const unsigned char {name}_{part}[] = {{", wrapped(map(str, data)), "};", ""]
        flags = ", ".join(str(x).lower() for x in (batched, workspace == 1, epilogue == "bias"))
        rows.append(f'    PAIR("{types}", "{layout}", {flags}, {name}),')
    path.write_text("\n".join(text + ["static const struct pair pairs[] = {", *rows, "};", ""]))
    print(f"{path.name}: {len(rules)} rules, {size} bytes")


def make_pair(program, recordings, first, types, layout, epilogue, batched, workspace):
    fields, numbers = list(recordings.fields), {}
    # with D in FP32, f16 and bf16 have the algorithms that they have with D in their own format
    asked = types.removesuffix(".f32") if types in ("f16.f32", "bf16.f32") else types
    batches = "0" if batched else "1"
    sizes, answers, weight, out = recordings.calls((asked, layout, epilogue, batches))
    count = int(out.sum())
    rest = ~first.predicts(sizes, types, layout, epilogue == "bias", batched, workspace)
    known = count - int((out & rest).sum())
    sizes, answers, weight, out = sizes[:, rest], answers[rest], weight[rest], out[rest]
    label = label_calls(sizes, answers, fields, types, layout, numbers)
    values, name = features_of(sizes[:, ~out]), {number: x for x, number in numbers.items()}
    trees = [learn(program, values, label[~out], GROWN, without) for without in ((), OTHERS)]
    weights = [weigh(tree, values, weight[~out]) for tree in trees]
    least, found, wrong = choose_least(trees, weights, name, sizes[:, out], label[out], count)
    print(f"{types} {layout} {epilogue} {batches} {workspace} MiB: {len(answers)} calls, leaves from {least}; of "
          f"{count} left out {known / count:.1%} were predicted, {(known + found) / count:.1%} are, {wrong} wrongly",
          flush=True)
    return [nested(tree, w, least, name) for tree, w in zip(trees, weights)]


def write_unsure(program, recordings, path):
    """Trees and kinds for plan_pick, of the kinds that were asked."""
    fields, text = list(recordings.fields), []
    for kind in sorted(recordings.asked):
        sizes, answers, _, _ = recordings.calls(kind)
        label = label_calls(sizes, answers, fields, kind[0], kind[1], {})
        tree = learn(program, features_of(sizes), label, UNSURE)
        sure = tree.calls[tree.calls >= SURE].sum() / len(answers)
        rows = np.stack([tree.feature, tree.below, tree.above, tree.right, tree.calls], axis=1)
        text.append(f"kind {kind[0].startswith('e4m3'):d} {kind[3] == '0':d} {len(rows)} "
                    f"{4000 / (1 - 7 / 8 * sure):.0f} {SURE}")
        text += [" ".join(map(str, row)) for row in rows]
    path.with_suffix(".trees").write_text("\n".join(text) + "\n")
    path.with_suffix(".kinds").write_text("".join(" ".join(x) + "\n" for x in sorted(recordings.asked)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path, help="folder of the first trees, and of the result")
    parser.add_argument("--unsure", type=pathlib.Path, metavar="PICK",
                        help="write PICK.trees and PICK.kinds for plan_pick, from FOLDER/32")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree, pick = (f"{folder}/{name}" for name in ("plan_tree", "plan_pick"))
        for program in (tree, pick):
            source = pathlib.Path(__file__).with_name(pathlib.Path(program).name + ".c")
            subprocess.run(["cc", "-O3", "-o", program, source, "-lm"], check=True)
        recordings = {mib: Recordings(o.folder / str(mib), pick) for mib in (32, 1)}
        if o.unsure:
            write_unsure(tree, recordings[32], o.unsure)
        if o.out:
            calls = [(types, layout, *rest) for all_types, layouts, *rest in PAIRS
                     for types in all_types for layout in layouts]
            first = FirstTrees(o.out)
            write_pairs(o.out / "cublas_pairs.inc",
                        [(call, make_pair(tree, recordings[call[-1]], first, *call)) for call in calls])


if __name__ == "__main__":
    main()
