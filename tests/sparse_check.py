# SPDX-License-Identifier: BSD-3-Clause
"""2:4 sparse matrices in files.  Run by sparse.sh in an empty folder.

Results of cuSPARSELt are compared with the program; D of every form of A, of batches and groups
with D of each row alone, whose kept elements and rows of B NumPy gathers."""

import json
import os
import re

import numpy as np

from checks import SEED, bitcut, check, plan

DATA = os.path.join(os.environ["BITCUT_DATA"], "sparse")
draw = np.random.default_rng(SEED)
HOW = ["--recipe", "plain", "--unit", "hopper/wgmma.m64n8k16.f32.f16"]


# --- recorded results ------------------------------------------------------------------------


def recorded(dense, options):
    """What is wrong with a case: D is that of kept elements; D of all k, zeros included, is the
    same or differs, as `dense` says."""
    bitcut("verify", *options, "--seconds", "0", "--sparse-a", folder=DATA)
    bitcut("verify", *options, "--seconds", "0", status=dense == "differs", folder=DATA)
    return ""


def infinities():
    """With infinities and NaN in B, D is that of kept elements, kept zeros included; but where a
    sum is -Inf, cuSPARSELt has NaN."""
    member = os.path.join(DATA, "f16_special.npz:")
    bitcut("gemm", *HOW, "-a", member + "a", "-b", member + "b", "--sparse-a", "--format-d", "f16",
           "--reference", "none", "-o", "special.npy")
    got, want = np.load("special.npy"), np.load(member[:-1])["d"]
    got = np.where(np.isneginf(got), np.array(0x7fff, "u2").view("f2"), got)
    bad = got.view("u2") != want.view("u2")
    return f"{bad.sum()} of {bad.size} outputs differ" if bad.any() or not np.isinf(want).any() else ""


# --- the forms of A --------------------------------------------------------------------------


def kept_of(a):
    """The k of the kept elements of a dense A: numbers, and then the last zeros."""
    m, k = a.shape
    fours = a.reshape(m, k // 4, 4) != 0
    order = np.argsort(np.where(fours, 8, 0) + np.arange(4), axis=2)  # numbers last, zeros by k
    return np.sort(order[:, :, 2:], axis=2).reshape(m, k // 2) + np.repeat(np.arange(0, k, 4), 2)


def gemm(**given):
    """D of matrices and options."""
    words = [*HOW, "--reference", "none", "-o", "d.npy"]
    for name, value in given.items():
        if value is True:
            words += ["--" + name.replace("_", "-")]
        else:
            np.save(name + ".npy", value)
            words += [("-" if len(name) == 1 else "--") + name.replace("_", "-"), name + ".npy"]
    bitcut("gemm", *words)
    return np.load("d.npy")


def by_rows(a, b, kept):
    """D of one sparse GEMM, row by row, from dense GEMMs of k/2."""
    return np.concatenate([gemm(a=np.ascontiguousarray(row[at][None]), b=np.ascontiguousarray(b[at]))
                           for row, at in zip(a, kept)])


def thin(m, k):
    """A matrix with 0 to 2 numbers in each four, and zeros of both signs."""
    a = draw.standard_normal((m, k)).astype("f4")
    some = draw.random((m, k // 4, 4)).argsort(2).argsort(2) < draw.integers(0, 3, (m, k // 4, 1))
    return np.where(some.reshape(m, k), a, np.copysign(np.float32(0), a))


def forms():
    m, k, n = 5, 4 * int(draw.integers(1, 30)), 6
    a, b = thin(m, k), draw.standard_normal((k, n)).astype("f4")
    b[draw.integers(0, k), 0] = np.inf
    kept = kept_of(a)
    want = by_rows(a, b, kept).view("u4")
    at = (kept % 4).astype("u1")
    other = np.where(np.isin(np.arange(m * k).reshape(m, k), kept + np.arange(m)[:, None] * k), a, np.nan)
    for what, got in (
            ("--sparse-a", gemm(a=a, b=b, sparse_a=True)),
            ("positions", gemm(a=other.astype("f4"), b=b, positions_a=at)),
            ("compressed", gemm(a=np.take_along_axis(a, kept, 1), b=b, positions_a=at))):
        if (got.view("u4") != want).any():
            return what
    batch = gemm(a=np.stack([a, a[::-1]]), b=b, sparse_a=True).view("u4")
    if (batch[0] != want).any() or (batch[1] != want[::-1]).any():
        return "batch"
    shorter = np.take_along_axis(a, kept, 1)
    batch = gemm(a=np.stack([shorter, shorter[::-1]]), b=b, positions_a=np.stack([at, at[::-1]])).view("u4")
    if (batch[0] != want).any() or (batch[1] != want[::-1]).any():
        return "batch with positions"
    groups = gemm(a=a, b=np.stack([b, b]), sparse_a=True, offsets=np.array([2, m], "i4"))
    return "groups" if (groups.view("u4") != want).any() else ""


def given_zeros():
    """verify multiplies the zeros that the positions name: one meets an infinity."""
    a, b = np.zeros((2, 8), "f4"), np.ones((8, 3), "f4")
    b[0, 1] = np.inf
    np.save("at.npy", np.array([[0, 1, 0, 1], [2, 3, 0, 1]], "u1"))
    for array, name in ((a, "a.npy"), (np.zeros((2, 4), "f4"), "short.npy"), (b, "b.npy")):
        np.save(name, array)
    d = np.zeros((2, 3), "f4")
    d.view("u4")[0, 1] = 0x7fffffff
    np.save("d.npy", d)
    for name in "a.npy", "short.npy":
        bitcut("verify", *HOW, "-a", name, "-b", "b.npy", "-d", "d.npy", "--positions-a", "at.npy")
    return ""


def one_of_several():
    """--index of a batch and of groups takes the kept elements of that GEMM."""
    a, b = np.stack([thin(4, 32) for _ in range(3)]), draw.standard_normal((3, 32, 5)).astype("f4")
    a[1, :, 3::4], b[:, 3::4, 0] = 0, np.inf
    a[1, 0, :4] = 0  # keeps 2 and 3, which meets an infinity
    want = gemm(a=a, b=b, sparse_a=True).view("u4")
    np.save("ends.npy", np.array([4, 8, 12], "i4"))
    np.save("rows.npy", a.reshape(12, 32))
    words = ["gemm", *HOW, "--sparse-a", "--index", "1", "--reference", "none", "-o", "d.npy"]
    for source in (["-a", "a.npy"], ["-a", "rows.npy", "--offsets", "ends.npy"]):
        bitcut(*words, *source, "-b", "b.npy")
        if (np.load("d.npy").view("u4") != want[1]).any():
            return source
    return ""


def answers():
    """gemm measures errors of kept elements; verify finds a changed output."""
    a, b = thin(6, 32), draw.standard_normal((32, 7)).astype("f4")
    b[~np.isin(np.arange(32), kept_of(a[:1]))] = np.inf  # not kept in row 0
    np.save("a.npy", a[:1])
    np.save("b.npy", b)
    said = json.loads(bitcut("gemm", *HOW, "-a", "a.npy", "-b", "b.npy", "--sparse-a", "-o", "d.npy", "--json"))
    d = np.load("d.npy")
    exact = (a[:1, kept_of(a[:1])[0]].astype("f8") @ b[kept_of(a[:1])[0]].astype("f8"))
    error = np.linalg.norm(d - exact) / np.linalg.norm(exact)
    if said["wrong"] or not abs(said["relres"] - error) <= 1e-3 * error:
        return said, error
    text = bitcut("gemm", *HOW, "-a", "a.npy", "-b", "b.npy", "--sparse-a")
    if "2:4 sparse A 1 x 32" not in text or "within their bounds" in text:
        return text
    words = ["verify", *HOW, "-a", "a.npy", "-b", "b.npy", "-d", "d.npy", "--sparse-a"]
    bitcut(*words)
    d[0, 3] = np.nextafter(d[0, 3], np.float32(9))
    np.save("d.npy", d)
    text = bitcut(*words, status=1)
    return "" if "1 of 7 outputs" in text and "row 0, column 3" in text and "explanation" in text else text


def power():
    """Tests accept a correct kernel, and reject faults of rows, columns, fours of k and outputs."""
    a, b = thin(24, 96), draw.standard_normal((96, 16)).astype("f4")
    np.save("a.npy", a)
    np.save("b.npy", b)
    rows = json.loads(bitcut("tolerance", *HOW, "-a", "a.npy", "-b", "b.npy", "--sparse-a", "--power", "6", "--json"))["power"]
    rows = {r["kernel"]: r for r in rows}
    wrong = [r for r in rows.values() if r["correct"] and (r["both"] or not r["runs"])]
    for name in "k lost", "k twice", "k stale", "wrong rows or columns", "one output twice":
        if rows[name]["runs"] < 4 or rows[name]["both"] != rows[name]["runs"]:
            wrong += [rows[name]]
    return wrong


def explained():
    """explain and verify name the GEMM, with --sparse-a and with positions."""
    a, b = thin(20, 96), draw.standard_normal((96, 12)).astype("f4")
    at = (kept_of(a) % 4).astype("u1")
    np.save("at.npy", at)
    np.save("short.npy", np.take_along_axis(a, kept_of(a), 1))
    gemm(a=a, b=b, sparse_a=True)
    wrong = []
    for words in (["-a", "a.npy", "--sparse-a"], ["-a", "short.npy", "--positions-a", "at.npy"],
                  ["-a", "a.npy", "--positions-a", "at.npy"]):
        said = json.loads(bitcut("explain", *words, "-b", "b.npy", "-d", "d.npy", "--json"))
        if not said["found"] or not said["gemm"].startswith("plain@"):
            wrong += [(words, said["hypothesis"])]
    bitcut("gemm", *HOW, "-a", "a.npy", "-b", "b.npy", "--sparse-a", "--split-k", "3", "-o", "d.npy")
    text = bitcut("verify", *HOW, "-a", "a.npy", "-b", "b.npy", "-d", "d.npy", "--sparse-a", status=1)
    if "D is plain on" not in text or ", but" not in text:
        wrong += [text]
    ints = draw.integers(-128, 128, (8, 32)).astype("i1") * (kept_mask(8, 32))
    np.save("ints.npy", ints)
    np.save("b8.npy", draw.integers(-128, 128, (32, 6)).astype("i1"))
    np.save("d.npy", ints.astype("i4") @ np.load("b8.npy"))
    text = bitcut("explain", "-a", "ints.npy", "-b", "b8.npy", "-d", "d.npy", "--sparse-a")
    return wrong + ([] if "D is the exact product" in text else [text])


def kept_mask(m, k):
    return (draw.random((m, k // 4, 4)).argsort(2).argsort(2) < 2).reshape(m, k).astype("i1")


# --- refusals --------------------------------------------------------------------------------


def refusals():
    a = thin(3, 8)
    a[2, 4:7] = 1
    np.save("a.npy", a)
    np.save("good.npy", thin(3, 8))
    np.save("b.npy", np.ones((8, 2), "f4"))
    np.save("b7.npy", np.ones((6, 2), "f4"))
    np.save("a7.npy", np.ones((3, 6), "f4"))
    np.save("half.npy", np.ones((3, 4), "f4"))
    np.save("d.npy", np.ones((3, 2), "f4"))
    at = np.tile(np.array([0, 1], "u1"), (3, 2))
    for name, row in (("at", (1, 3)), ("equal", (2, 2)), ("down", (3, 1)), ("above", (2, 4))):
        at[1, 2:] = row
        np.save(name + ".npy", at)
    np.save("wide.npy", np.zeros((3, 8), "u1"))
    np.save("float.npy", at.astype("f4") + 0.5)
    np.save("three.npy", np.stack([at] * 3))
    good, all_b = ["-a", "good.npy", "-b", "b.npy"], ["-b", "b.npy"]
    cases = (
        ("--sparse-a: A is not 2:4 sparse: row 2 has more than two elements other than 0 at k = 4 to 7", 2,
         ["gemm", "-a", "a.npy", *all_b, "--sparse-a"]),
        ("multiple of 4, found 6", 2, ["gemm", "-a", "a7.npy", "-b", "b7.npy", "--sparse-a"]),
        ("A is 3 x 4 but B is 8 x 2", 2, ["gemm", "-a", "half.npy", *all_b, "--sparse-a"]),
        ("row 1 has 2 and 2 at k = 4 to 7", 2, ["gemm", *good, "--positions-a", "equal.npy"]),
        ("row 1 has 3 and 1 at k = 4 to 7", 2, ["gemm", *good, "--positions-a", "down.npy"]),
        ("row 1 has 2 and 4 at k = 4 to 7", 2, ["gemm", *good, "--positions-a", "above.npy"]),
        ("positions are 3 x 8; expected 3 x 4", 2, ["gemm", *good, "--positions-a", "wide.npy"]),
        ("positions-a: 3 matrices, but A has 1", 2, ["gemm", *good, "--positions-a", "three.npy"]),
        ("float.npy", 3, ["gemm", *good, "--positions-a", "float.npy"]),
        ("none.npy", 3, ["gemm", *good, "--positions-a", "none.npy"]),
        ("requires -a, a file", 2, ["gemm", "-m", "4", "-n", "4", "-k", "8", "--sparse-a"]),
        ("cannot be combined with --kernel or a device", 2,
         ["gemm", *good, "--sparse-a", "--device", "cuda"]),
        ("cannot be combined with --sparse-a", 2,
         ["verify", *good, "-d", "d.npy", "--sparse-a", "--samples", "2"]),
        ("--sparse-a requires -d, a file", 2, ["verify", "--kernel", "all", "--sparse-a"]),
        ("--sparse-a requires -a, a file", 2, ["tolerance", "--sparse-a", "-m", "4", "-n", "4", "-k", "8"]),
        ("--sparse-a requires -a, a file", 2, ["bound", "--sparse-a", "-m", "4", "-n", "4", "-k", "8"]),
        ("--sparse-a: A is not 2:4 sparse: row 2", 2, ["explain", "-a", "a.npy", *all_b, "-d", "d.npy", "--sparse-a"]),
        ("--sparse-a cannot be combined with --probe", 2, ["explain", "--probe", "true", "--sparse-a"]),
        ("factors of blocks of k", 2, ["gemm", *good, "--sparse-a", "--scale-a", "half.npy", "--block-a", "1x2",
                                       "--scaling", "operand"]),
    )
    for text, status, (command, *words) in cases:
        how = [] if command == "explain" or "--kernel" in words else HOW
        said = bitcut(command, *how, *words, status=status)
        if not re.search(re.escape(text), said) or said.count("\n") != 1:
            return words, said
    return ""


with open(os.path.join(DATA, "cases.tsv"), encoding="ascii") as file:
    rows = [line.rstrip("\n").split("\t") for line in file][1:]
check("8 recorded cases", "" if len(rows) == 8 else len(rows))
for name, _, call, dense, options in rows:
    check(f"{name}: {call}", recorded(dense, options.split()))
check("infinities", infinities())
for _ in range(4):
    check("forms of A", forms())
check("given zeros", given_zeros())
check("one GEMM of several", one_of_several())
check("answers", answers())
check("explanations", explained())
check("power", power())
check("refusals", refusals())
plan()
