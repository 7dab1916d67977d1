#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""From recorded answers of cuBLAS's heuristic to the tables of analysis/predict.

    plan_learn.py FOLDER --pick PICK     trees for plan_pick: which calls to ask next
    plan_learn.py FOLDER --pick PICK --check 600    the same, for calls that check the leaves
    plan_learn.py FOLDER -o analysis/predict
    plan_learn.py FOLDER --compare tests/predict/compare_answers

FOLDER has what plan_record.py read: for each kind of calls a file TYPES_LAYOUT_EPILOGUE_BATCH_MIB.npy of
calls (m, n, k, batch, number of fields, seed), and fields.json, the fields by number.  It may have trees
(TYPES_... .tree) from which learning goes on, and layers.txt, layers.bin and layers.codes (layers_1.*)
of `plans layers 2048`.

A tree divides calls by their sizes (plan_tree.c), until all calls of a leaf have a label in common.  A label
is an algorithm up to what the order of k does not depend on, with a number of slices or a rule for it.  Calls
with and without a bias have one tree, if both were recorded: the heuristic chooses the same, except for one
column.  A leaf predicts if LEAST calls are in it, if it is not RARE, and if no call of the seeds CHECKED
contradicts it; from these calls nothing is learned.  A leaf that they contradict is divided, with them, into
leaves of AGAIN calls.  Calls of the seeds LAST, which the tree predicts wrongly although its leaf is large, are
listed one by one."""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

GROWN = 100  # calls of a node that is divided
LEAST = 100  # calls of a leaf that predicts
AGAIN = 3000  # the same, if the leaf comes from one that a call contradicted
SAMPLE = 400000  # random calls that tell how often a leaf is needed
RARE = 40  # of a million random calls, those of a leaf that is left out
RANDOM = (601, 602, 603, 911, 912, 913, 977)  # seeds of random calls
QUOTA = 20000  # calls of a leaf that are asked at most
CHECKED = (970, 971, 972, 977, 978, 979, 982, 983, 986, 987)
LAST = (988, 989, 990)
WORKSPACE = 32 << 20
IN_FORMAT_OF_D = 4  # scheme of slices
PROCESSORS = 132
FULL, MOST, ANY = "full", "most", 99  # ANY stages: no slice ends in a partial stage
STAGE_K = {0: 32, 25: 32, 26: 8, 27: 16, 28: 8, 31: 8, 32: 8, 33: 16, 34: 32, 35: 64, 36: 128,
           **{i: 16 << (i - 1) // 6 for i in range(1, 25)}}
STREAM_K = 2**32 - 1
BYTES = {"f16": 2, "bf16": 2, "e4m3": 1, "e4m3fast": 1, "tf32": 4, "f32": 4}
REFUSED = ("refused",)
# enum cublasLtMatmulTile_t: columns x rows of our D
TILES = {5: (16, 16), 6: (32, 8), 7: (8, 64), 8: (16, 32), 9: (32, 16), 10: (64, 8), 11: (32, 32),
         12: (32, 64), 13: (64, 32), 14: (32, 128), 15: (64, 64), 16: (128, 32), 17: (64, 128),
         18: (128, 64), 19: (64, 256), 20: (128, 128), 21: (256, 64), 22: (64, 512), 23: (128, 256),
         24: (256, 128), 25: (512, 64), 34: (32, 256)}


class Kind(collections.namedtuple("Kind", "types layout epilogue batch mib")):
    """A kind of calls; batch: "1", or "0" for batches of 2 and more."""

    def __str__(self):
        return "_".join(self)

    @property
    def is_batch(self):
        return self.batch == "0"


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
    stage, slices = STAGE_K[f[2]], max(f[3], 1)
    full = 2560 if types.startswith("e4m3") else 1280
    yield k > 0, (66, f[2], slices, 2 if slices > 1 else 0, 0)
    yield slices == np.maximum(1, (k - 1) // full), (66, f[2], FULL, 2, 0)
    if slices > 1:
        yield -(-(-(-k // stage)) // slices) * stage >= k, (66, f[2], 1, 0, 0)
        for length in (128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1152, 1536):
            yield np.maximum(1, k // length) == slices, (66, f[2], ("lengths", length), 2, 0)


def labels_of_cutlass(f, sizes, types, layout):
    k = sizes[2]
    simt, slices, stage = f[0] == 20, max(f[3], 1), STAGE_K[f[2]]
    half = types in ("f16", "bf16")
    eight = half and f[2] == 0  # the instruction with 8 k
    k_of_step = 16 if half and not eight else 8
    number = 0 if eight or simt else {16: 1, 32: 7, 64: 13, 128: 19}[stage]
    id_of = 21 if types == "tf32" else 24 if eight else 23
    scheme = f[4]
    line = 128 // BYTES[types.split(".")[0]]
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
    """Pairs of a condition and a label, for D in the format that the types name first: with D in FP32,
    f16 and bf16 have the same algorithms, except slices in the format of D (scheme 4)."""
    k = sizes[2]
    slices = max(f[3], 1) if f else 1
    if not f or (slices == STREAM_K and f[0] != 11):
        yield k > 0, REFUSED
    elif f[0] == 66:
        yield from labels_of_nvjet(f, k, types)
    elif f[0] in (20, 21, 23, 24):
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
        one = slices in (1, STREAM_K)
        yield k > 0, (f[0], 0, 1 if one else slices, 0 if one else 2, f[6])
    else:
        yield k > 0, REFUSED


def label_calls(calls, fields, kind, numbers):
    """The numbers of the labels that each call has, from 1, ended by 0."""
    sizes, answers = calls.sizes, calls.answers
    label, count = np.zeros((len(answers), 24), np.uint16), np.zeros(len(answers), np.int64)
    order = np.argsort(answers, kind="stable")
    found, first = np.unique(answers[order], return_index=True)
    for answer, here in zip(found, np.split(order, first[1:])):
        for condition, x in labels_of(fields[answer], sizes[:, here], kind.types, kind.layout):
            those = here[condition]
            if len(those):
                label[those, count[those]] = numbers.setdefault(x, len(numbers) + 1)
                count[those] += 1
    return label[:, :max(count.max(), 1)]


def rule_of(label):
    """The row of rules[] in cublas_choose.c."""
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


# --- recordings ----------------------------------------------------------------------------

class Calls:
    def __init__(self, rows):
        self.sizes = np.stack([rows[x].astype(np.int64) for x in "mnkb"])
        self.answers, self.seed = rows["f"].astype(np.int64), rows["s"]

    def of(self, which):
        part = Calls.__new__(Calls)
        part.sizes, part.answers, part.seed = self.sizes[:, which], self.answers[which], self.seed[which]
        return part


def is_ruled(kind, calls):
    """is_batch_of_one_sum() in cublas_choose.c, for which no tree is needed."""
    m, n, _, batch = calls.sizes
    if kind.types != "f32" or not kind.is_batch or kind.mib != "32":
        return np.zeros(len(m), bool)
    return (m > (16 if kind.layout[0] == "N" else 1)) & (n > 1) & (batch <= 128)


def read_calls(folder, kind):
    """The calls of a kind, and those with a bias that have the same tree."""
    rows, path = [np.load(folder / f"{kind}.npy")], folder / f"{kind._replace(epilogue='bias')}.npy"
    if kind.epilogue == "none" and path.exists():
        biased = np.load(path)
        rows.append(biased[biased["n"] > 1])
    calls = Calls(np.concatenate(rows))
    return calls.of(~is_ruled(kind, calls))


def read_fields(folder):
    return [x and tuple(x) for x in json.loads((folder / "fields.json").read_text())]


def recorded_kinds(folder):
    return [Kind(*path.stem.split("_")) for path in sorted(folder.glob("*_*_*_*.npy"))]


def kinds_of(folder):
    """The kinds that have a tree: D of f16 and bf16 in FP32 has the tree of the others, and so have calls
    with a bias and more than one column if calls without a bias were recorded."""
    recorded = recorded_kinds(folder)
    return [kind for kind in recorded if kind.types not in ("f16.f32", "bf16.f32") and
            (kind.epilogue == "none" or kind._replace(epilogue="none") not in recorded)]


# --- features ------------------------------------------------------------------------------

TILES_OF_FEATURES = ((8, 64), (16, 64), (16, 16), (32, 32), (64, 64), (128, 32), (32, 128), (64, 128),
                     (128, 64), (128, 128), (256, 64), (64, 256), (256, 128), (128, 256), (64, 32),
                     (32, 64), (16, 128))


def features_of(sizes):
    """Those of features_make() in cublas_choose.c, and of plan_pick.c."""
    m, n, k, batch = sizes
    power = [np.minimum(x & -x, 128) for x in (k, n, m)]
    tiles = [-(-m // a) * -(-n // b) * batch for a, b in TILES_OF_FEATURES]
    products = [np.minimum(x, 2**32 - 1) for x in (m * n * batch, m * n * k * batch >> 10, n * k, m * k)]
    rest = [k % 64, k % 128, batch]
    return np.stack([x.astype(np.uint32) for x in (m, n, k, *power, *tiles, *products, *rest)])


# --- trees ---------------------------------------------------------------------------------

class Tree:
    """Nodes in preorder: feature (-1: a leaf), largest value of the left branch, smallest value of
    the right one, node of the right one, calls of a leaf; and the labels of leaves."""

    def __init__(self, text):
        rows, open_nodes, self.labels = [], [], {}
        for i, line in enumerate(text.splitlines()):
            kind, *numbers = line.split()
            if open_nodes and open_nodes[-1] != i - 1:
                rows[open_nodes.pop()][3] = i
            if kind == "N":
                rows.append([*map(int, numbers), 0, 0])
                open_nodes.append(i)
            else:
                rows.append([-1, 0, 0, 0, int(numbers[0])])
                self.labels[i] = tuple(map(int, numbers[1:]))
        self.text = text
        self.feature, self.below, self.above, self.right, self.calls = np.array(rows, np.int64).T

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


def learn(program, values, label, least, start=None):
    with tempfile.NamedTemporaryFile() as file:
        np.array([values.shape[1], len(values), label.max() + 1, label.shape[1]], np.uint32).tofile(file)
        np.ascontiguousarray(values).tofile(file)
        np.ascontiguousarray(label).tofile(file)
        file.flush()
        text = subprocess.run([program, file.name, str(least), *([start] if start else [])], check=True,
                              capture_output=True, text=True)
    return Tree(text.stdout)


# --- checks --------------------------------------------------------------------------------

def algorithms(number, name, sizes, is_wide=False):
    """The algorithms that labels give, as numbers; 0 without a label.  With D in FP32, slices in the
    format of D are those in FP32 if the workspace has room for them."""
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
        if is_wide and fields[2] == IN_FORMAT_OF_D:
            scheme = np.where(slices > 1, 2, 0)
            fits = slices * m[here] * n[here] * batch[here] * 4 < WORKSPACE
            here, slices, scheme = here[fits], slices[fits], scheme[fits]
        found[here] = (((fields[0] * 64 + fields[1]) * 8 + scheme) * 256 + fields[3] << 20) + slices
    return found


def chosen_labels(tree, name):
    """The label of each node; 0: none."""
    chosen = np.zeros(len(tree.feature), np.int64)
    for i, labels in tree.labels.items():
        if labels and not any(name[x] == REFUSED for x in labels):
            chosen[i] = labels[0]
    return chosen


def check(tree, chosen, name, calls, label, is_wide=False):
    """The leaf of each call, whether the leaf has an algorithm for it, and whether that is another one."""
    leaf = tree.walk(features_of(calls.sizes))
    found = algorithms(np.where(leaf >= 0, chosen[leaf], 0), name, calls.sizes, is_wide)
    right = np.any([algorithms(x, name, calls.sizes) == found for x in label.T], axis=0)
    return leaf, found > 0, (found > 0) & ~right


def describe(kind, tree, chosen, checked):
    """How many of the calls are predicted by leaves with so many calls, and how many wrongly, before and
    after leaves are emptied."""
    leaf, found, wrong = checked
    text = [f"{kind}: of {len(leaf)} calls that are compared"]
    empty = np.zeros(len(tree.feature), bool)
    empty[leaf[wrong]] = True
    for least in (300, 500, 700, 1000, 1500, 2000, 3000):
        here = found & (tree.calls[leaf] >= least)
        leaves = chosen[tree.calls >= least] > 0
        text.append(f"    from {least}: {leaves.sum()} leaves, {here.mean():.2%}, {(here & wrong).sum()} wrong; "
                    f"{(here & ~empty[leaf]).mean():.2%}, {(empty & (tree.calls >= least)).sum()} leaves emptied")
    return "\n".join(text)


# --- tables --------------------------------------------------------------------------------

def nested(tree, chosen, name, divided):
    """Nodes (feature, below, above, left, right), and leaves: rules, or None; `divided` has trees for leaves."""
    def at(i):
        if i in divided:
            return divided[i]
        if tree.feature[i] < 0:
            return rule_of(name[chosen[i]]) if chosen[i] else None
        left, right = at(i + 1), at(tree.right[i])
        if left == right and is_leaf(left):
            return left
        return (int(tree.feature[i]), int(tree.below[i]), int(tree.above[i]), left, right)
    sys.setrecursionlimit(10000)
    return at(0)


def is_leaf(node):
    return node is None or isinstance(node[4], str)


def rules_in(node):
    if node and is_leaf(node):
        yield node
    elif node:
        yield from rules_in(node[3])
        yield from rules_in(node[4])


# The characters of trees, as in cublas_choose.c
DIGITS = [chr(x) for x in range(35, 127) if chr(x) not in "?\\"]
HALF, NO_RULE, SHORT = len(DIGITS) // 2, 30, 29


def number_text(x):
    """Digits to the base of HALF, the lowest first; HALF more if another one follows."""
    return DIGITS[x] if x < HALF else DIGITS[HALF + x % HALF] + number_text(x // HALF)


def tree_text(node, number):
    if node is None:
        return DIGITS[NO_RULE]
    if is_leaf(node):
        rule = number[node]
        if rule < SHORT:
            return DIGITS[NO_RULE + 1 + rule]
        rule -= SHORT
        return DIGITS[NO_RULE + 1 + SHORT + rule // len(DIGITS)] + DIGITS[rule % len(DIGITS)]
    left, right = (tree_text(x, number) for x in node[3:])
    return (DIGITS[node[0]] + number_text(node[1]) + number_text(node[2] - node[1] - 1) +
            number_text(len(left)) + left + right)


def lines_of(characters):
    return [f'"{characters[i:i + 94]}"' for i in range(0, len(characters), 94)] or ['""']


def write_trees(path, made):
    """Tables from kinds, trees, and lists of sizes."""
    made = [(kind, *x) for kind, x in made if x[0]]
    count = collections.Counter(rule for _, tree, _ in made for rule in rules_in(tree))
    rules = sorted(count, key=lambda rule: (-count[rule], rule))
    number = {rule: i for i, rule in enumerate(rules)}
    text = ["/* SPDX-License-Identifier: BSD-3-Clause */",
            "/* Rules and trees of cublas_choose.c, made by data/libraries/plan_learn.py from recorded",
            "   answers. */", "static const struct rule rules[] = {"]
    text += ["    { %d, %d, %d, %d, %s, %d, %d, %d }," % rule for rule in rules] + ["};", "", "/* clang-format off */",
                                                                               "static const struct tree trees[] = {"]
    size = 0
    for kind, tree, odd in made:
        flags = ", ".join(str(x).lower() for x in (kind.is_batch, kind.mib == "1", kind.epilogue == "bias"))
        nodes = tree_text(tree, number)
        size += len(nodes)
        text.append(f'    {{ "{kind.types}", "{kind.layout}", {flags},')
        text += lines_of(nodes)
        text[-1] += ","
        text += lines_of("".join(number_text(x) for sizes in odd for x in sizes)) + ["    },"]
    path.write_text("\n".join(text + ["};", "/* clang-format on */", ""]))
    print(f"{path.name}: {len(rules)} rules, {sum(count.values())} leaves, {size} characters")


# --- layers --------------------------------------------------------------------------------

NUMBER = {"bf16": 0, "f16": 1, "e4m3.bf16": 0, "e4m3fast.bf16": 1, "e4m3.f32": 2}  # in cublas_types.c


def read_codes(path):
    rows = [line.split("\t") for line in path.read_text().splitlines() if line[0] != "#"]
    return {0: None, **{int(code): tuple(map(int, fields.split(","))) for code, fields in rows}}


def wrapped(items):
    lines = ["   "]
    for item in items:
        if len(lines[-1]) + len(item) + 2 > 88:
            lines.append("   ")
        lines[-1] += f" {item},"
    return "\n".join(lines)


def write_layers(folder, out, name, mib, rows=2048):
    codes, text = read_codes(folder / f"{name}.codes"), []
    answers = np.fromfile(folder / f"{name}.bin", "<u2").reshape(-1, rows)
    for line, row in zip((folder / f"{name}.txt").read_text().splitlines(), answers):
        types, layout, epilogue, n, k = line.split()
        slices = [codes[code][3] for code in row]
        if layout != "NT" or any(codes[code][0] != 66 for code in set(row)):
            sys.exit(f"{line}: other kernels than nvjet")
        starts = [i for i in range(rows) if not i or slices[i] != slices[i - 1]]
        head = [1 + types.startswith("e4m3"), 2 * NUMBER[types] + (epilogue == "bias"), int(n) // 8,
                int(k) // 8, len(starts)]
        text.append(wrapped(map(str, head + [x for i in starts for x in (i + 1, slices[i])])))
    (out / f"cublas_{name}.inc").write_text(
        "/* SPDX-License-Identifier: BSD-3-Clause */\n"
        f"/* Layers of models whose algorithms are stored for 1 to {rows} rows, all of nvjet, B stored\n"
        f"   transposed, with a workspace of {mib} MiB: 1 + enum cublas_operands, 2 type + whether there\n"
        "   is a bias, n / 8, k / 8, the number of ranges of m, and for each range its first m and the\n"
        f"   number of slices. */\nstatic const uint16_t {name}[] = {{\n" + "\n".join(text) + "\n    0,\n};\n")


# --- the program ----------------------------------------------------------------------------

def parted(calls):
    """The calls of other seeds than LAST, and those of LAST."""
    last = np.isin(calls.seed, LAST)
    return calls.of(~last), calls.of(last)


def wide_calls(folder, kind, fields, numbers):
    """Calls with D in FP32 and their labels, as slices in the format of D are FP32 there; and those of LAST."""
    path = folder / f"{kind._replace(types=kind.types + '.f32')}.npy"
    if kind.types not in ("f16", "bf16") or not path.exists():
        return None, None
    calls, last = parted(Calls(np.load(path)))
    fields = [f and (*f[:4], 2 if f[4] == IN_FORMAT_OF_D else f[4], *f[5:]) for f in fields]
    return (calls, label_calls(calls, fields, kind, numbers)), last


def find_wrong(tree, chosen, name, wide):
    """The leaf of each call with D in FP32, and whether the call contradicts it."""
    if not wide:
        return np.zeros(0, np.int64), np.zeros(0, bool)
    leaf, _, wrong = check(tree, chosen, name, *wide, is_wide=True)
    return leaf, wrong


def joined(one, other):
    """Labels of two groups of calls."""
    width = max(one.shape[1], other.shape[1])
    return np.concatenate([np.pad(x, ((0, 0), (0, width - x.shape[1]))) for x in (one, other)])


def rows_of(leaf):
    """A function that gives the calls of a leaf, in order."""
    order = np.argsort(leaf, kind="stable")
    ends = leaf[order]
    return lambda i: order[np.searchsorted(ends, i):np.searchsorted(ends, i, "right")]


def divide(program, tree, chosen, bad, name, calls, label, wide):
    """Trees for large leaves that calls contradict, learned from all calls, and of those with D in FP32 from
    the ones that contradict."""
    bad = [i for i in bad if tree.calls[i] >= AGAIN]
    if not bad:
        return {}
    of_leaf, found = rows_of(tree.walk(features_of(calls.sizes))), {}
    wide_leaf, wrong = find_wrong(tree, chosen, name, wide)
    of_wide_leaf = rows_of(wide_leaf)
    for i in bad:
        here, inside = of_leaf(i), of_wide_leaf(i)
        other = inside[wrong[inside]]
        sizes, labels = calls.of(here).sizes, label[here]
        if len(other):
            sizes = np.concatenate([sizes, wide[0].of(other).sizes], axis=1)
            labels = joined(labels, wide[1][other])
        part = learn(program, features_of(sizes), labels, AGAIN)
        kept = chosen_labels(part, name)
        kept[part.calls < AGAIN] = 0
        if wide:
            at, contradicts = find_wrong(part, kept, name, (wide[0].of(inside), wide[1][inside]))
            kept[at[contradicts]] = 0
        found[int(i)] = nested(part, kept, name, {})
    return found


def shares_of(tree, calls):
    """Of a million random calls, those of each leaf."""
    some = np.nonzero(np.isin(calls.seed, RANDOM))[0][:SAMPLE]
    leaf = tree.walk(features_of(calls.of(some).sizes))
    return np.bincount(leaf[leaf >= 0], minlength=len(tree.feature)) * 1e6 / max(1, len(some))


def finish(program, tree, kind, name, calls, label, wide):
    """The tree of cublas_choose.c, and what the checked calls say.  tree.weight: how many calls are to check
    each leaf that predicts, as multiples of the fewest."""
    out = np.isin(calls.seed, CHECKED)
    chosen = chosen_labels(tree, name)
    checked = check(tree, chosen, name, calls.of(out), label[out])
    wide_leaf, wrong = find_wrong(tree, chosen, name, wide)
    bad = np.union1d(checked[0][checked[2]], wide_leaf[wrong])
    divided = divide(program, tree, chosen, bad, name, calls, label, wide)
    share = shares_of(tree, calls)
    chosen[(tree.calls < LEAST) | (share < RARE)] = 0
    chosen[bad] = 0
    tree.weight = np.maximum(1, share / 2000) * (chosen > 0)
    tree.weight[list(divided)] = np.maximum(1, share / 2000)[list(divided)]
    return nested(tree, chosen, name, divided), describe(kind, tree, chosen_labels(tree, name), checked)


def grow(program, folder, kind):
    """The learned tree of a kind, that of cublas_choose.c with the sizes that it lists, and what the checked
    calls say."""
    calls, fields, numbers = read_calls(folder, kind), read_fields(folder), {}
    calls, last = parted(calls)
    label = label_calls(calls, fields, kind, numbers)
    wide, last_wide = wide_calls(folder, kind, fields, numbers)
    name = {number: x for x, number in numbers.items()}
    known = ~np.isin(calls.seed, CHECKED)
    start = folder / f"{kind}.tree"
    tree = learn(program, features_of(calls.of(known).sizes), label[known], GROWN,
                 str(start) if start.exists() else None)
    table, said = finish(program, tree, kind, name, calls, label, wide)
    odd = np.concatenate([x.sizes for x in (last, last_wide) if x], axis=1).T
    return tree, (table, sorted(set(map(tuple, odd.tolist())))), said


def compare_answers(program, folder, kind):
    """What the program says of all recorded calls of a kind."""
    rows, fields = np.load(folder / f"{kind}.npy"), read_fields(folder)
    table = np.array([x or (0,) * 9 for x in fields], np.uint32)
    with subprocess.Popen([program, kind.types, kind.layout, kind.epilogue, kind.mib], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as p, concurrent.futures.ThreadPoolExecutor(1) as reader:
        text = reader.submit(p.stdout.read)
        for part in np.array_split(rows, len(rows) // 100000 + 1):
            sizes = np.stack([part[x].astype(np.uint32) for x in "mnkb"], axis=1)
            p.stdin.write(np.concatenate([sizes, table[part["f"]]], axis=1).astype("<u4").tobytes())
        p.stdin.close()
        return text.result().decode()


def quotas(tree, calls, total):
    """How many calls of each leaf to ask: one half in leaves with a label, one half in others.  Of as many
    calls as possible, as few as possible are predicted wrongly if the calls of a leaf, with the recorded
    ones, are in proportion to the square root of the number of random calls in it."""
    leaf = tree.walk(features_of(calls.of(np.isin(calls.seed, RANDOM)).sizes))
    share = np.sqrt(np.bincount(leaf[leaf >= 0], minlength=len(tree.feature)))
    labelled = np.array([bool(tree.labels.get(i)) for i in range(len(tree.feature))])
    asked = np.zeros(len(share), np.int64)
    for some in (labelled, ~labelled):
        low, high = 0.0, 1e9
        while high - low > 1e-6 * high:
            middle = (low + high) / 2
            quota = np.clip(middle * share - tree.calls, 0, QUOTA).astype(np.int64) * some
            low, high = (middle, high) if quota.sum() < total / 2 else (low, middle)
        asked += quota
    return asked


def tree_of(kind, trees):
    """The kind whose tree predicts these calls."""
    found = kind._replace(types=kind.types.split(".")[0]) if kind.types in ("f16.f32", "bf16.f32") else kind
    return found if found in trees else found._replace(epilogue="none")


def write_pick(path, quotas_of_kinds):
    """Trees for plan_pick, of kinds, trees and the calls of each leaf."""
    text, names = [], []
    for kind, tree, quota in quotas_of_kinds:
        rows = np.stack([tree.feature, tree.below, tree.above, tree.right, quota], axis=1)
        text.append(f"kind {kind.types.startswith('e4m3'):d} {kind.is_batch:d} {len(rows)}")
        text += [" ".join(map(str, row)) for row in rows]
        names.append(" ".join(kind[:4]) + "\n")
    path.with_suffix(".trees").write_text("\n".join(text) + "\n")
    path.with_suffix(".kinds").write_text("".join(names))


def checks(folder, trees, mib, few):
    """At least `few` calls for each leaf that predicts; a sixth for kinds that have the tree of others."""
    for kind in recorded_kinds(folder):
        if kind.mib == mib:
            tree = trees[tree_of(kind, trees)]
            yield kind, tree, (tree.weight * (few if kind in trees else few / 6)).astype(np.int64)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path, help="folder of the tables")
    parser.add_argument("--pick", type=pathlib.Path, help="write PICK.trees and PICK.kinds for plan_pick")
    parser.add_argument("--compare", metavar="PROGRAM", help="compare the tables of PROGRAM with all calls")
    parser.add_argument("--calls", type=int, default=1000000, help="calls of each kind for --pick (default 1000000)")
    parser.add_argument("--check", type=int, help="with --pick: calls that check each leaf that predicts")
    parser.add_argument("--mib", default="32", help="workspace of the kinds of --pick (default 32)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--kinds", help="only kinds that have this word in their names")
    o = parser.parse_args()
    if o.compare:
        kinds = [x for x in recorded_kinds(o.folder) if not o.kinds or o.kinds in str(x)]
        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            for text in pool.map(lambda kind: compare_answers(o.compare, o.folder, kind), kinds):
                print(text, end="", flush=True)
        return
    kinds = [x for x in kinds_of(o.folder) if (not o.pick or x.mib == o.mib) and (not o.kinds or o.kinds in str(x))]
    with tempfile.TemporaryDirectory() as temporary, \
            concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        program = f"{temporary}/plan_tree"
        source = pathlib.Path(__file__).with_name("plan_tree.c")
        subprocess.run(["cc", "-O3", "-o", program, source, "-lm"], check=True)
        made = []
        grown = pool.map(grow, [program] * len(kinds), [o.folder] * len(kinds), kinds)
        for kind, (tree, table, said) in zip(kinds, grown):
            print(said, flush=True)
            made.append((kind, tree, table))
    if o.pick and o.check:
        write_pick(o.pick, checks(o.folder, {kind: tree for kind, tree, _ in made}, o.mib, o.check))
    elif o.pick:
        write_pick(o.pick, ((kind, tree, quotas(tree, read_calls(o.folder, kind), o.calls))
                            for kind, tree, _ in made))
    if o.out:
        write_trees(o.out / "cublas_trees.inc", [(kind, tree) for kind, _, tree in made])
        for name, mib in (("layers", 32), ("layers_1", 1)):
            if (o.folder / f"{name}.bin").exists():
                write_layers(o.folder, o.out, name, mib)


if __name__ == "__main__":
    main()
