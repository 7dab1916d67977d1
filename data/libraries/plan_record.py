#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Record answers of cuBLAS's heuristic, on a machine with a GPU, and read them where there is none.

    plan_record.py ask NAME SEED SECONDS MIB
    plan_record.py pack PACK BYTES NAME.SEED.MIB ...
    plan_record.py read PACK ... -o FOLDER
    plan_record.py wrong FILE SEED -o FOLDER

`ask` has every processor run `plan_pick NAME.trees SEED | plans answers NAME.kinds SECONDS`, with a workspace
of MIB.  It needs plan_pick and plans in the folder it is started in, and writes NAME.SEED.MIB.PART.bin and .codes.
`pack` writes them to one file of at most BYTES: the answers of a kind, without fields that no order of k
depends on, sorted by leaf and sizes, so that they compress well; if they are too many, the first ones.
`read` asks plan_pick for the calls again and adds calls and answers to the recordings of FOLDER, as
plan_learn.py reads them; it needs NAME.trees and NAME.kinds beside PACK.  FILE is what
`plan_learn.py --compare` prints; `wrong` adds the calls that are predicted wrongly there, with the seed SEED."""

import argparse
import concurrent.futures
import functools
import json
import lzma
import os
import pathlib
import subprocess

import numpy as np

CALL = np.dtype([(x, "<i4") for x in "mnkb"] + [("f", "<u2"), ("s", "<u2")])  # f: fields; s: the seed


def ask(name, seed, seconds, mib):
    parts = len(os.sched_getaffinity(0))
    env = {**os.environ, "CUBLASLT_HEURISTICS_CACHE_CAPACITY": "0", "PLANS_WORKSPACE": str(int(mib) << 20)}
    run = [subprocess.Popen(f"./plan_pick {name}.trees {seed} {part} {parts} | ./plans answers {name}.kinds "
                            f"{seconds} > {name}.{seed}.{mib}.{part}.bin 2> {name}.{seed}.{mib}.{part}.codes",
                            shell=True, env=env) for part in range(parts)]
    for process in run:
        process.wait()


def read_codes(path):
    rows = [line.split("\t") for line in path.read_text().splitlines() if line[:1] != "#" and "\t" in line]
    return {0: None, **{int(code): tuple(map(int, fields.split(","))) for code, fields in rows}}


def read_shapes(trees, seed, part, parts, count):
    """The first calls of a part: the number of the kind, m, n, k, batch, leaf."""
    with subprocess.Popen(["./plan_pick", trees, str(seed), str(part), str(parts)],
                          stdout=subprocess.PIPE) as p:
        data = p.stdout.read(24 * count)
        p.kill()
    return np.frombuffer(data, "<i4").reshape(-1, 6)


def order(shapes):
    _, m, n, k, batch, leaf = shapes.T
    return np.lexsort((k, m, n, batch, leaf))


# --- packs ---------------------------------------------------------------------------------

def short(fields):
    """Fields without swizzle, inner and cluster, the variants of nvjet (66) and CUTLASS, and, of one slice,
    the tile."""
    if not fields:
        return None
    id_of, tile, stages, slices, scheme, _, custom, _, _ = fields
    return (id_of, tile * (slices > 1), stages, slices, scheme, 0, custom * (id_of not in (20, 21, 23, 24, 66)), 0, 0)


def pack_kind(shapes, codes):
    codes = codes[order(shapes)]
    count = np.bincount(codes, minlength=65536)
    rank = np.argsort(-count, kind="stable")[:np.count_nonzero(count)]
    number = np.zeros(65536, np.int64)
    number[rank] = np.arange(len(rank))
    number = number[codes]
    few, many = np.minimum(number, 255).astype(np.uint8), number[number >= 255].astype("<u2")
    return [rank.astype("<u2").tobytes(), *(lzma.compress(x.tobytes(), preset=6) for x in (few, many))]


def unpack_kind(rank, few, many):
    number = np.frombuffer(lzma.decompress(few), np.uint8).astype(np.int64)
    number[number == 255] = np.frombuffer(lzma.decompress(many), "<u2")
    return np.frombuffer(rank, "<u2")[number].astype(np.int64)


def pack_recording(pool, recording, part_of_calls):
    """The head of a recording, and the bytes of its kinds."""
    name, seed, mib = recording.split(".")
    parts = len(list(pathlib.Path().glob(f"{recording}.*.bin")))
    fields, codes = {None: 0}, []
    for part in range(parts):
        file = pathlib.Path(f"{recording}.{part}.bin")
        number, answers = np.zeros(65536, np.int64), np.fromfile(file, "<u2")
        for code, x in read_codes(file.with_suffix(".codes")).items():
            number[code] = fields.setdefault(short(x), len(fields))
        codes.append(number[answers[:int(part_of_calls * len(answers))]])
    counts = [len(x) for x in codes]
    shapes = np.concatenate(list(pool.map(read_shapes, [f"{name}.trees"] * parts, [seed] * parts,
                                          range(parts), [parts] * parts, counts)))
    codes, kinds = np.concatenate(codes), len(open(f"{name}.kinds").readlines())
    chosen = [shapes[:, 0] == kind for kind in range(kinds)]
    packed = list(pool.map(pack_kind, (shapes[x] for x in chosen), (codes[x] for x in chosen)))
    head = {"name": name, "seed": int(seed), "mib": mib, "counts": counts, "fields": list(fields),
            "bytes": [[len(x) for x in row] for row in packed]}
    return (json.dumps(head) + "\n").encode() + b"".join(x for row in packed for x in row), len(codes)


def pack(path, limit, recordings):
    part_of_calls = 1
    with concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        while True:
            packed = [pack_recording(pool, x, part_of_calls) for x in recordings]
            size = sum(len(data) for data, _ in packed)
            print(f"{path}: {sum(n for _, n in packed)} answers, {size} bytes", flush=True)
            if size <= limit or part_of_calls < 0.05:
                break
            part_of_calls *= 0.95 * limit / size
    pathlib.Path(path).write_bytes(b"".join(data for data, _ in packed))


def read(path, found, fields):
    """Add the calls of a pack to found, by kind."""
    with open(path, "rb") as f:
        while line := f.readline():
            head = json.loads(line)
            trees = path.with_name(head["name"] + ".trees")
            number = np.array([fields.setdefault(x and tuple(x), len(fields)) for x in head["fields"]])
            parts = len(head["counts"])
            with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                shapes = np.concatenate(list(pool.map(read_shapes, [trees] * parts, [head["seed"]] * parts,
                                                      range(parts), [parts] * parts, head["counts"])))
            for kind, (words, sizes) in enumerate(zip(trees.with_suffix(".kinds").open(), head["bytes"])):
                here = shapes[shapes[:, 0] == kind]
                answers = np.empty(len(here), np.int64)
                answers[order(here)] = number[unpack_kind(*(f.read(x) for x in sizes))]
                rows = np.empty(len(here), CALL)
                for x, column in zip("mnkb", here.T[1:]):
                    rows[x] = column
                rows["f"], rows["s"] = answers, head["seed"]
                found.setdefault("_".join((*words.split(), head["mib"])), []).append(rows)


def read_wrong(path, seed, found, fields):
    """Add the calls that a comparison says are predicted wrongly to found, by kind."""
    rows = {}
    for line in path.open():
        if line.startswith("wrong: "):
            call, answer = line[len("wrong: "):].rstrip("\n").split("\t")
            types, layout, epilogue, *sizes, mib = call.split()
            answer = tuple(map(int, answer.split(",")))
            kind = "_".join((types, layout, epilogue, "1" if sizes[3] == "1" else "0", mib))
            number = fields.setdefault(answer if any(answer) else None, len(fields))
            rows.setdefault(kind, []).append((*map(int, sizes), number, seed))
    for kind, calls in rows.items():
        found.setdefault(kind, []).append(np.array(calls, CALL))


def add_to(folder, read_some):
    """Add what read_some(found, fields) finds to the recordings of a folder."""
    path, found = folder / "fields.json", {}
    known = json.loads(path.read_text()) if path.exists() else [None]
    fields = {x and tuple(x): i for i, x in enumerate(known)}
    read_some(found, fields)
    for kind, rows in sorted(found.items()):
        file = folder / f"{kind}.npy"
        rows = np.concatenate(([np.load(file)] if file.exists() else []) + rows)
        np.save(file, rows)
        print(f"{kind}: {len(rows)} calls", flush=True)
    path.write_text(json.dumps(list(fields)))


def read_packs(packs, found, fields):
    for each in packs:
        read(pathlib.Path(each), found, fields)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("ask", "pack", "read", "wrong"))
    parser.add_argument("arguments", nargs="+")
    parser.add_argument("-o", "--out", type=pathlib.Path, help="folder of the recordings")
    o = parser.parse_args()
    if o.what == "ask":
        ask(*o.arguments)
    elif o.what == "pack":
        pack(o.arguments[0], int(o.arguments[1]), o.arguments[2:])
    elif o.what == "read":
        add_to(o.out, functools.partial(read_packs, o.arguments))
    else:
        path, seed = o.arguments
        add_to(o.out, functools.partial(read_wrong, pathlib.Path(path), int(seed)))


if __name__ == "__main__":
    main()
