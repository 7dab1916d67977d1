#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make the trees and layers of analysis/predict/cublas_*.inc from recordings of plans.cu.

    plans ask SEED SECONDS < KINDS > SEED.bin 2> SEED.codes
    plans layers 2048 < LAYERS > layers.bin 2> layers.codes
    plan_table.py FOLDER -o analysis/predict

FOLDER has kinds.txt (KINDS), SEED.bin and SEED.codes for any number of seeds, layers.txt (LAYERS),
layers.bin and layers.codes.  A leaf of a tree stands for an algorithm up to what the order of k does
not depend on: for example, slices of CUTLASS with another k of a stage where no stage is partial.
Shapes whose m, n and k have a hash of 0 modulo 32 are left out, and the tree is compared with them."""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROUND = 16384  # shapes of a kind in a round of `plans ask`
FULL, MOST = 0, 65535  # numbers of slices, as in cublas_choose.c
ANY = 99  # a stages id: no slice ends in a partial stage, so that its k does not matter
STAGE_K = {0: 32, 25: 32, 26: 8, 27: 16, 28: 8, 31: 8, 32: 8, 33: 16, 34: 32, 35: 64, 36: 128,
           **{i: 16 << (i - 1) // 6 for i in range(1, 25)}}
STREAM_K = 2**32 - 1
BYTES = {"f16": 2, "bf16": 2, "e4m3": 1, "e4m3fast": 1, "tf32": 4, "f32": 4}
NUMBER = {"bf16": 0, "f16": 1, "e4m3.bf16": 0, "e4m3fast.bf16": 1, "e4m3.f32": 2,
          "tf32": 0, "f32": 0}
HALF, FP8 = ("bf16", "f16"), ("e4m3.bf16", "e4m3fast.bf16", "e4m3.f32")
# name, types, layout, whether the calls are batches, MiB of the workspace, points of a leaf, what
TREES = (("half_nt", HALF, "NT", False, 32, 1000, "f16 and bf16, B stored transposed"),
         ("half_nn", HALF, "NN", False, 32, 1000, "f16 and bf16, B by rows"),
         ("half_tn", HALF, "TN", False, 32, 1000, "f16 and bf16, A stored transposed"),
         ("half_tt", HALF, "TT", False, 32, 1000, "f16 and bf16, A and B stored transposed"),
         ("half_nt_batch", HALF, "NT", True, 32, 1000, "batches of f16 and bf16, B stored transposed"),
         ("half_nn_batch", HALF, "NN", True, 32, 1000, "batches of f16 and bf16, B by rows"),
         ("half_tn_batch", HALF, "TN", True, 32, 1000, "batches of f16 and bf16, A stored transposed"),
         ("fp8_nt", FP8, "NT", False, 32, 500, "e4m3, B stored transposed"),
         ("tf32_nt", ("tf32",), "NT", False, 32, 1000, "TF32, B stored transposed"),
         ("tf32_nn", ("tf32",), "NN", False, 32, 1000, "TF32, B by rows"),
         ("tf32_tn", ("tf32",), "TN", False, 32, 1000, "TF32, A stored transposed"),
         ("tf32_tt", ("tf32",), "TT", False, 32, 1000, "TF32, A and B stored transposed"),
         ("f32_nt", ("f32",), "NT", False, 32, 1000, "FP32, B stored transposed"),
         ("f32_nn", ("f32",), "NN", False, 32, 1000, "FP32, B by rows"),
         ("f32_tn", ("f32",), "TN", False, 32, 1000, "FP32, A stored transposed"),
         ("f32_tt", ("f32",), "TT", False, 32, 1000, "FP32, A and B stored transposed"),
         ("half_nt_1", HALF, "NT", False, 1, 1000, "f16 and bf16 with a bias, B stored transposed"),
         ("half_nn_1", HALF, "NN", False, 1, 1000, "f16 and bf16 with a bias, B by rows"),
         ("fp8_nt_1", FP8, "NT", False, 1, 500, "e4m3, B stored transposed"),
         ("tf32_nt_1", ("tf32",), "NT", False, 1, 1000, "TF32 with a bias, B stored transposed"),
         ("tf32_nn_1", ("tf32",), "NN", False, 1, 1000, "TF32 with a bias, B by rows"),
         ("f32_nt_1", ("f32",), "NT", False, 1, 1000, "FP32 with a bias, B stored transposed"),
         ("f32_nn_1", ("f32",), "NN", False, 1, 1000, "FP32 with a bias, B by rows"))


# --- recordings ----------------------------------------------------------------------------

def mix(x):
    x = x.astype(np.uint32)
    for shift, factor in ((16, 0x7feb352d), (15, 0x846ca68b)):
        x = (x ^ x >> np.uint32(shift)) * np.uint32(factor)
    return x ^ x >> np.uint32(16)


def size_of(h, octaves, first, grain):
    h = h.astype(np.int64)
    octave = first + (h >> 16) % octaves
    return ((1 << octave) + ((h & 0xffff) << octave >> 16) + grain - 1) // grain * grain


def shapes(seed, index, types, batched):
    """m, n, k and the batch of random_shape() in plans.cu."""
    grains, least = np.array([64, 8, 8, 8, 64, 8, 8, 1]), 16 if types.startswith("e4m3") else 1
    less = 2 if batched else 0
    h = mix((index + 0x9e3779b9 * seed) & 0xffffffff)
    of_n, of_k = (np.maximum(grains[h >> np.uint32(s) & 7], least) for s in (0, 3))
    batch = size_of(mix(h + np.uint32(4)), 9, 1, 1) if batched else np.ones(len(h), np.int64)
    return (size_of(mix(h + np.uint32(1)), 13 - less, 0, 1),
            size_of(mix(h + np.uint32(2)), 13 - less, 0, of_n),
            size_of(mix(h + np.uint32(3)), 11 - less, 3, of_k), batch)


def read_codes(path):
    rows = [line.split("\t") for line in path.read_text().splitlines() if line[0] != "#"]
    return {0: None, **{int(code): tuple(map(int, fields.split(","))) for code, fields in rows}}


def read_answers(folder):
    """For each kind: m, n, k, the batch, and numbers of fields; and these fields."""
    fields, found = {None: 0}, collections.defaultdict(list)
    kinds = [tuple(line.split()) for line in (folder / "kinds.txt").read_text().splitlines()]
    for path in sorted(folder.glob("[0-9]*.bin")):
        codes = read_codes(path.with_suffix(".codes"))
        number = np.zeros(65536, np.int64)
        for code, x in codes.items():
            number[code] = fields.setdefault(x, len(fields))
        answers = number[np.fromfile(path, "<u2")].reshape(-1, ROUND)
        for i, row in enumerate(answers):
            kind = kinds[i % len(kinds)]
            index = np.arange(ROUND, dtype=np.int64) + i // len(kinds) * ROUND
            found[kind].append((*shapes(int(path.stem), index, kind[0], kind[3] == "0"), row))
    return {kind: [np.concatenate(x) for x in zip(*rows)] for kind, rows in found.items()}, list(fields)


# --- labels: leaves of cublas_choose.c -------------------------------------------------------

REFUSED = (0, 0, 0, 0, 0)


def leaves_of_nvjet(f, k, types):
    stages, slices = f[2], max(f[3], 1)
    slice_k = 2560 if types.startswith("e4m3") else 1280
    length = -(-(-(-k // STAGE_K[stages])) // slices) * STAGE_K[stages]
    yield k > 0, (66, stages, slices, 2 if slices > 1 else 0, 0)
    yield slices == np.maximum(1, (k - 1) // slice_k), (66, stages, FULL, 2, 0)
    if slices > 1:
        yield length >= k, (66, stages, 1, 0, 0)


def leaves_of_cutlass(f, k, types, layout):
    half, simt, slices, stage = types[-2:] == "16", f[0] == 20, max(f[3], 1), STAGE_K[f[2]]
    eight = half and f[2] == 0  # the instruction with 8 k
    k_of_step = 16 if half and not eight else 8
    number = 0 if eight or simt else {16: 1, 32: 7, 64: 13, 128: 19}[stage]
    id_of = 21 if types == "tf32" else 24 if eight else 23
    scheme = f[4]
    line = 128 // BYTES[types.split(".")[0]]
    grain = np.where((layout != "TN") & (k % line == 0), line, line // 8)
    length = -(-(-(-k // slices)) // grain) * grain
    plain = (20, 28, MOST, f[4], 0), (20, 28, slices, f[4], 0), (55, 31, 1, 0, 0)
    if simt:
        yield k > 0, plain[1] if slices > 1 else plain[2]
        if slices > 1:
            yield length == grain, plain[0]
            yield length >= k, plain[2]
        return
    if slices == 1:
        whole = (k % k_of_step == 0) | (k <= stage)
        yield k > 0, (id_of, number, 1, 0, 0)
        if eight:
            yield whole, (id_of, ANY, 1, 0, 0)
        else:
            yield whole, (43, 34, 1, 0, 0) if types == "tf32" else (66, 35, 1, 0, 0)
        if not eight and half:
            yield whole & (np.maximum(1, (k - 1) // 1280) == 1), (66, 35, FULL, 2, 0)
        return
    whole = (length % k_of_step == 0) & (k % length % k_of_step == 0)
    yield k > 0, (id_of, number, slices, scheme, 0)
    yield whole, (id_of, ANY, slices, scheme, 0)
    yield whole & (length == grain), (id_of, ANY, MOST, scheme, 0)


def leaves_of(f, k, types, layout):
    """Pairs of a condition on k and a leaf; the last one that holds is the leaf."""
    slices = max(f[3], 1) if f else 1
    yield k > 0, REFUSED
    if not f or slices == STREAM_K or (f[0] == 55 and slices > 2 and f[6] == 1):
        return
    if f[0] == 66:
        yield from leaves_of_nvjet(f, k, types)
    elif f[0] in (20, 21, 23, 24) and not (slices > 1 and f[4] == 1 and types[-2:] == "16"):
        yield from leaves_of_cutlass(f, k, types, layout)
    elif f[0] in (42, 43) and slices == 1:
        yield k > 0, (43, 34, 1, 0, 0) if types == "tf32" else (42, 35, 1, 0, 0)
    elif f[0] == 63:
        yield k > 0, (63, 15, 1, 0, 0) if slices == 1 else (63, f[2], slices, 2, 0)
        if slices == 1:
            yield k % 8 == 0, (43, 34, 1, 0, 0)
    elif f[0] == 55 or (f[0] == 10 and slices == 1):
        yield k > 0, (55, 31, slices, 2 if slices > 1 else 0, 0)
        yield (slices > 1) & (slices * 8 >= k), (55, 31, MOST, 2, 0)
        yield k <= 8, (55, 31, 1, 0, 0)
    elif f[0] == 10:
        yield k > 0, (10, 0, slices, f[4], 0)
    elif f[0] in (11, 13, 16):
        yield k > 0, (f[0], 0, slices, 2 if slices > 1 else 0, f[6])


def labels_of(kind, k, answers, fields, table):
    label = np.zeros(len(k), np.int64)
    for answer in np.unique(answers):
        here = np.nonzero(answers == answer)[0]
        for condition, leaf in leaves_of(fields[answer], k[here], kind[0], kind[1]):
            label[here[condition]] = table.setdefault(leaf, len(table))
    return label


# --- features ------------------------------------------------------------------------------

TILES = ((8, 64), (16, 64), (32, 64), (64, 64), (128, 64), (64, 128), (128, 128), (256, 128),
         (128, 256), (16, 128))


def features_of(kind, m, n, k, batch):
    """Those of features_make() in cublas_choose.c."""
    power = [np.minimum(x & -x, 128) for x in (k, n, m)]
    tiles = [-(-m // a) * -(-n // b) * batch for a, b in TILES]
    rest = [m * n * batch, np.minimum(m * n * k * batch >> 10, 2**32 - 1),
            np.full_like(m, NUMBER[kind[0]]), np.full_like(m, kind[2] == "bias"), batch]
    return np.stack([x.astype(np.uint32) for x in (m, n, k, *power, *tiles, *rest)])


# --- trees ---------------------------------------------------------------------------------

def learn(program, values, label, least):
    with tempfile.NamedTemporaryFile() as file:
        np.array([values.shape[1], values.shape[0], label.max() + 2, 1], np.uint32).tofile(file)
        np.ascontiguousarray(values).tofile(file)
        (label + 1).astype(np.uint16).tofile(file)
        file.flush()
        text = subprocess.run([program, file.name, str(least)], check=True, capture_output=True, text=True)
    lines = iter(text.stdout.splitlines())

    def tree():
        kind, *numbers = next(lines).split()
        if kind == "L":
            return int(numbers[1]) - 1 if len(numbers) > 1 else 0
        left, right = tree(), tree()
        return left if left == right else (*map(int, numbers), left, right)
    return tree()


def walk(tree, values):
    label, todo = np.zeros(values.shape[1], np.int64), [(tree, np.arange(values.shape[1]))]
    while todo:
        node, here = todo.pop()
        if isinstance(node, int):
            label[here] = node
            continue
        feature, below, above, left, right = node
        todo += [(left, here[values[feature, here] <= below]), (right, here[values[feature, here] >= above])]
    return label


def numbers(node):
    """The numbers of a tree in cublas_choose.c."""
    if isinstance(node, int):
        return [64 + node]
    left, right = numbers(node[3]), numbers(node[4])
    return [*node[:3], len(left), *left, *right]


def wrapped(items):
    lines = ["   "]
    for item in items:
        if len(lines[-1]) + len(item) + 2 > 88:
            lines.append("   ")
        lines[-1] += f" {item},"
    return "\n".join(lines)


def with_stages(leaf):
    return (leaf[0], 0 if leaf[0] == 24 else 7, *leaf[2:]) if leaf[1] == ANY else leaf


def write_tree(path, name, what, tree, leaves):
    used = [REFUSED]

    def renumbered(node):
        if isinstance(node, int):
            leaf = with_stages(leaves[node])
            if leaf not in used:
                used.append(leaf)
            return used.index(leaf)
        left, right = renumbered(node[3]), renumbered(node[4])
        return left if left == right else (*node[:3], left, right)

    tree = renumbered(tree)
    rows = ["{ %s }" % ", ".join(map(str, leaf)) for leaf in used]
    path.write_text(
        "/* SPDX-License-Identifier: BSD-3-Clause */\n"
        f"/* A tree of cublas_choose.c: {what}.  Learned from recorded answers. */\n"
        f"static const struct leaf {name}_leaves[] = {{\n{wrapped(rows)}\n}};\n\n"
        f"static const uint32_t {name}[] = {{\n{wrapped(map(str, numbers(tree)))}\n}};\n")


def make_tree(program, row, answers, fields, out, most):
    name, types, layout, batched, _, least, what = row
    table, values, label = {REFUSED: 0}, [], []
    for kind, points in sorted(answers.items()):
        if kind[0] in types and kind[1] == layout and (kind[3] == "0") == batched:
            m, n, k, batch, answer = (x[:most] for x in points)
            values.append(features_of(kind, m, n, k, batch))
            label.append(labels_of(kind, k, answer, fields, table))
    if not values:
        return
    values, label = np.concatenate(values, axis=1), np.concatenate(label)
    label[np.bincount(label)[label] < least] = 0
    m, n, k = values[:3].astype(np.uint64)
    mixed = m * np.uint64(2654435761) + n * np.uint64(40503) + k * np.uint64(97)
    apart = (mixed >> np.uint64(7)) % np.uint64(32) == 0
    tree = learn(program, values[:, ~apart], label[~apart], least)
    found, right = walk(tree, values[:, apart]), label[apart]
    print(f"{name}: {len(label)} shapes, {len(numbers(tree))} numbers; of {len(right)} others "
          f"{(found > 0).mean():.1%} have a leaf, {((found > 0) & (found != right)).sum()} a wrong one")
    write_tree(out / f"cublas_{name}.inc", name, what, tree, list(table))


# --- layers --------------------------------------------------------------------------------

def make_layers(folder, out, workspace, rows=2048):
    codes, lines = read_codes(folder / "layers.codes"), (folder / "layers.txt").read_text().splitlines()
    name, text = "layers" if workspace == 32 else f"layers_{workspace}", []
    for line, row in zip(lines, np.fromfile(folder / "layers.bin", "<u2").reshape(-1, rows)):
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
        f"   transposed, with a workspace of {workspace} MiB: 1 + enum cublas_operands, 2 type + whether there\n"
        "   is a bias, n / 8, k / 8, the number of ranges of m, and for each range its first m and the\n"
        f"   number of slices. */\nstatic const uint16_t {name}[] = {{\n" + "\n".join(text) + "\n    0,\n};\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True)
    parser.add_argument("--workspace", type=int, default=32, help="MiB of the workspace (default 32)")
    parser.add_argument("--most", type=int, default=1600000, help="shapes of a kind")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/plan_tree"
        source = pathlib.Path(__file__).with_name("plan_tree.c")
        subprocess.run(["cc", "-O2", "-o", program, source, "-lm"], check=True)
        answers, fields = read_answers(o.folder)
        for row in TREES:
            if row[4] == o.workspace:
                make_tree(program, row, answers, fields, o.out, o.most)
    if (o.folder / "layers.bin").exists():
        make_layers(o.folder, o.out, o.workspace)


if __name__ == "__main__":
    main()
