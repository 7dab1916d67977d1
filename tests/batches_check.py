# SPDX-License-Identifier: BSD-3-Clause
"""Batches in files of three dimensions.  Run by batches.sh in an empty folder.

Each GEMM of a batch is computed again from files of two dimensions, which NumPy writes."""

import json
import re

import numpy as np

from checks import SEED, bitcut, check, plan

draw = np.random.default_rng(SEED)
HOW = ["--recipe", "ootomo", "--unit", "h100"]


def says(text, status, *words):
    """What is wrong: the text is not in the output."""
    said = bitcut(*words, status=status)
    return "" if re.search(text, said) else said


def save(**arrays):
    """NAME.npy of each array; the options that name them."""
    words = []
    for name, array in arrays.items():
        np.save(name + ".npy", array)
        words += ["-" + name[0], name + ".npy"]
    return words


def of(array, i, count):
    """Matrix i of a batch of `count`; one matrix, and a batch of one, belongs to all."""
    return array if array.ndim == 2 else array[0 if len(array) == 1 and count != 1 else i]


def bits(x):
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def alone(arrays, i, count, words):
    """D of GEMM i, from files of its own matrices."""
    files = save(**{name + "1": of(x, i, count) for name, x in arrays.items()})
    bitcut("gemm", *HOW, *files, *words, "--reference", "none", "-o", "d1.npy")
    return np.load("d1.npy")


def random_batch():
    """Matrices of a random batch, with extra options."""
    batch, m, n, k = (int(draw.integers(1, most)) for most in (5, 9, 9, 70))
    shapes = {"a": (m, k), "b": (k, n)}
    words = []
    if draw.random() < 0.5:
        shapes["c"] = [(m, n), (1, n), (m, 1)][draw.integers(3)]
        words += ["--beta", "-0.5", "--alpha", "3"]
    arrays = {}
    for name, shape in shapes.items():
        first = [(batch,), (1,), ()][draw.integers(3)] if name != "a" else (batch,)
        arrays[name] = draw.standard_normal((*first, *shape)).astype(
            "f2" if draw.random() < 0.3 else "f4")
    if draw.random() < 0.3:
        words += ["--format-d", "f16"]
    if draw.random() < 0.3:
        np.save("bias.npy", draw.standard_normal(n).astype("f4"))
        words += ["--bias", "bias.npy"]
    words += ["--threads", draw.integers(1, 4)]
    return batch, arrays, words


def one_batch():
    """What is wrong with a random batch: gemm, verify, and both with --index."""
    batch, arrays, words = random_batch()
    given = save(**arrays)
    bitcut("gemm", *HOW, *given, *words, "--reference", "none", "-o", "d.npy")
    d = np.load("d.npy")
    want = np.stack([alone(arrays, i, batch, words) for i in range(batch)])
    if d.shape != want.shape or (bits(d) != bits(want)).any():
        return f"gemm: {[(k, v.shape) for k, v in arrays.items()]} {words}"
    verify = [*HOW, *given, *[w for w in words if w not in ("--format-d", "f16")], "--seconds", 0]
    wrong = says(f"{batch} of {batch} GEMMs are identical", 0, "verify", *verify, "-d", "d.npy")
    i, row, col = (int(draw.integers(x)) for x in d.shape)
    off = d.copy()
    bits(off)[i, row, col] ^= 1
    np.save("off.npy", off)
    said = json.loads(bitcut("verify", *verify, "-d", "off.npy", "--json", status=1))
    place = {"gemm": i, "at": [row, col]}
    if said["identical"] != batch - 1 or said["mismatches"] != 1 or any(
            said["first"][key] != place[key] or said["differing"][0][key] != place[key]
            for key in place):
        wrong += f"{said['first']} {said['identical']}, not {place}"
    other = int(draw.integers(batch))
    bitcut("verify", *verify, "-d", "off.npy", "--index", other, status=int(other == i))
    bitcut("gemm", *HOW, *given, *words, "--reference", "none", "--index", other, "-o", "one.npy")
    if (bits(np.load("one.npy")) != bits(d[other])).any() or np.load("one.npy").ndim != 2:
        wrong += f"--index {other}"
    return wrong


def one_grouped():
    """What is wrong with random groups: gemm, verify and tolerance; each group alone."""
    rows = draw.integers(0, 6, int(draw.integers(1, 6)))
    rows[draw.integers(len(rows))] = 3
    ends, groups = np.cumsum(rows).astype("i4"), len(rows)
    m, n, k = int(ends[-1]), int(draw.integers(1, 9)), int(draw.integers(1, 70))
    a, b, c = (draw.standard_normal(s).astype("f4") for s in ((m, k), (groups, k, n), (m, n)))
    np.save("ends.npy", ends)
    np.save("bias.npy", draw.standard_normal(n).astype("f4"))
    words = [["--beta", "2"], ["--bias", "bias.npy"], ["--format-d", "bf16"]][draw.integers(3)]
    words += ["--threads", draw.integers(1, 4)]
    arrays = {"a": a, "b": b, **({"c": c} if "--beta" in words else {})}
    given = [*save(**arrays), "--offsets", "ends.npy"]
    bitcut("gemm", *HOW, *given, *words, "--reference", "none", "-o", "d.npy")
    d = np.load("d.npy")
    for i in range(groups):
        of = slice(int(ends[i] - rows[i]), int(ends[i]))
        files = save(**{x + "1": y[of] for x, y in arrays.items() if x != "b"}, b1=b[i])
        bitcut("gemm", *HOW, *files, *words, "--reference", "none", "-o", "d1.npy")
        if d.shape != (m, n) or (bits(np.load("d1.npy")) != bits(d[of])).any():
            return f"group {i} of {rows}: {words}"
    verify = [*HOW, *given, *words, "--seconds", 0]
    wrong = says(f"{groups} of {groups} GEMMs are identical", 0, "verify", *verify, "-d", "d.npy")
    row, col = int(draw.integers(m)), int(draw.integers(n))
    group = int(np.searchsorted(ends, row, "right"))
    off = d.copy()
    bits(off)[row, col] ^= 1
    np.save("off.npy", off)
    said = json.loads(bitcut("verify", *verify, "-d", "off.npy", "--json", status=1))
    place = {"gemm": group, "at": [row - int(ends[group] - rows[group]), col]}
    wrong += differs(said["first"], **place) + differs(said, identical=groups - 1, mismatches=1)
    bitcut("verify", *verify, "-d", "off.npy", "--index", group, status=1)
    bitcut("verify", *verify, "-d", "d.npy", "--index", group)
    if "--beta" in words:
        limits = ["tolerance", *HOW, *given, *words, "--power", 0, "--seeds", 9]
        wrong += says("ACCEPTED", 0, *limits, "-d", "d.npy")
        off[row, col] += 0.5
        np.save("off.npy", off)
        wrong += says(rf"\({place['at'][0]}, {col}\) of GEMM {group}, 1 of {m * n} ", 1, *limits,
                      "-d", "off.npy")
    return wrong


def one_grouped_by_k():
    """What is wrong with random groups of k: gemm, verify and explain; each group alone."""
    sizes = draw.integers(0, 80, int(draw.integers(1, 6)))
    sizes[draw.integers(len(sizes))] = 64
    ends, groups = np.cumsum(sizes).astype("i4"), len(sizes)
    m, n, k = int(draw.integers(1, 9)), int(draw.integers(1, 9)), int(ends[-1])
    shape_c = [(groups, m, n), (m, n)][draw.integers(2)]
    a, b, c = (draw.standard_normal(s).astype("f4") for s in ((m, k), (k, n), shape_c))
    np.save("ends.npy", ends)
    np.save("bias.npy", draw.standard_normal(n).astype("f4"))
    words = [["--beta", "2"], ["--bias", "bias.npy"], ["--format-d", "bf16"], []][draw.integers(4)]
    words = words + ["--threads", draw.integers(1, 4)]
    arrays = {"a": np.asfortranarray(a) if draw.random() < 0.5 else a, "b": b,
              **({"c": c} if "--beta" in words else {})}
    given = [*save(**arrays), "--offsets-k", "ends.npy"]
    said = json.loads(bitcut("gemm", *HOW, *given, *words, "-o", "d.npy", "--json"))
    d = np.load("d.npy")
    if d.shape != (groups, m, n) or said["count"] != groups:
        return f"{d.shape} of {sizes}"
    errors = []
    for i in range(groups):
        own = slice(int(ends[i] - sizes[i]), int(ends[i]))
        files = save(a1=a[:, own], b1=b[own], **({"c1": of(c, i, groups)} if "c" in arrays else {}))
        alone = json.loads(bitcut("gemm", *HOW, *files, *words, "-o", "d1.npy", "--json"))
        errors.append(alone["backward_max"] if sizes[i] else -1)
        if (bits(np.load("d1.npy")) != bits(d[i])).any():
            return f"group {i} of {sizes}: {words}"
    if max(errors) > 0:
        wrong = differs(said, largest=int(np.argmax(errors)), backward_max=max(errors))
    else:
        wrong = differs(said, backward_max=0)
    verify = [*HOW, *given, *words, "--seconds", 0]
    wrong += says(f"{groups} of {groups} GEMMs are identical", 0, "verify", *verify, "-d", "d.npy")
    i = int(draw.integers(groups))
    own = slice(int(ends[i] - sizes[i]), int(ends[i]))
    files = save(a1=a[:, own], b1=b[own], **({"c1": of(c, i, groups)} if "c" in arrays else {}))
    np.save("di.npy", d[i])
    if sizes[i]:
        keys = "bound", "verdict", "worst_error", "worst_limit", "ratio", "outputs"
        rows = [[{x: json.loads(line)[x] for x in keys} for line in bitcut("bound", *HOW, *words, *which, "--json").splitlines()]
                for which in (files, [*given, "--index", i], [*files, "-d", "di.npy"],
                              [*given, "--index", i, "-d", "d.npy"])]
        if rows[0] != rows[1] or rows[2] != rows[3]:
            wrong += repr((i, words, rows))
    at = [int(draw.integers(x)) for x in d.shape]
    off = d.copy()
    bits(off)[tuple(at)] ^= 1
    np.save("off.npy", off)
    said = json.loads(bitcut("verify", *verify, "-d", "off.npy", "--json", status=1))
    wrong += differs(said["first"], gemm=at[0], at=at[1:]) + differs(said, identical=groups - 1, mismatches=1)
    bitcut("verify", *verify, "-d", "off.npy", "--index", at[0], status=1)
    bitcut("verify", *verify, "-d", "d.npy", "--index", at[0])
    return wrong


def explanations_of_k():
    """Groups of k are explained as GEMMs, and the groups that differ are named."""
    a, b = (draw.standard_normal(s).astype("f4") for s in ((16, 320), (320, 12)))
    np.save("ends.npy", np.int32([96, 96, 192, 320]))
    given = [*save(a=a, b=b), "--offsets-k", "ends.npy"]
    bitcut("gemm", *HOW, *given, "--reference", "none", "-o", "d.npy")
    d = np.load("d.npy")
    ask = ["explain", *given, "-d", "d.npy", "--seconds", 5]
    wrong = differs(json.loads(bitcut(*ask, "--json")), found=True, gemms=4, explained=4,
                    recipe="ootomo", total=4 * 16 * 12)
    wrong += says("ootomo", 0, *ask, "--index", 2)
    d[2] = d[0]
    np.save("d.npy", d)
    wrong += says("Group 2: the same, with A and B of group 0", 1, *ask)
    # a difference that verify explains, of a group whose A has gaps
    wrong += says("(?s)GEMM 0, row 0.*explanation +D is ootomo", 1, "verify", "--recipe", "plain",
                  "--unit", "h100", *given, "-d", "d.npy", "--seconds", 5)
    limits = ["tolerance", *HOW, *given, "--power", 0, "--seeds", 9, "-d", "d.npy"]
    bounds = [json.loads(bitcut(*limits[:-2], *words, "--json"))["componentwise"]["bound"]
              for words in ([], ["--index", 3])]  # the largest k decides
    wrong += "" if bounds[0] == bounds[1] else str(bounds)
    return wrong + says("REJECTED; .* of GEMM 2", 1, *limits) + says("ACCEPTED", 0, *limits, "--index", 0)


def refusals_of_k():
    z = lambda *shape: np.zeros(shape, "f4")
    save(a=z(4, 6), b=z(6, 5), b3=z(2, 6, 5), c=z(3, 4, 5), d=z(4, 5), d3=z(3, 4, 5))
    np.savez("o.npz", good=np.int32([2, 6]), short=np.int32([2, 5]), down=np.int32([4, 2, 6]),
             rows=np.int32([4]), empty=np.int32([0, 0]))
    a, b, o = ["-a", "a.npy"], ["-b", "b.npy"], ["--offsets-k", "o.npz:good"]
    save(e=z(4, 0), f=z(0, 5), g=z(2, 4, 5))
    np.save("s.npy", np.float32([1, 2]).reshape(1, 2))
    scales = ["--recipe", "plain", "--scaling", "promoted", "--scale-a", "s.npy", "--block-a", "0x3"]
    cases = [
        ("--offsets-k: must end with 6, the columns of A, found 5", 2, "gemm", [*a, *b, "--offsets-k", "o.npz:short"]),
        ("--offsets-k: must end with 6", 2, "gemm", [*a, *b, "--offsets-k", "o.npz:rows"]),
        ("--offsets-k: must ascend; element 1 is 2 after 4", 2, "gemm", [*a, *b, "--offsets-k", "o.npz:down"]),
        ("--offsets, --offsets-k cannot", 2, "gemm", [*a, *b, *o, "--offsets", "o.npz:rows"]),
        ("takes A and B of two dim", 2, "gemm", [*a, "-b", "b3.npy", *o]),
        ("-c: 3 matrices, but the batch has 2", 2, "gemm", [*a, *b, "-c", "c.npy", *o]),
        ("-d: one matrix, but the batch has 2", 2, "verify", [*a, *b, "-d", "d.npy", *o]),
        ("-d: 3 matrices, but the batch has 2", 2, "verify", [*a, *b, "-d", "d3.npy", *o]),
        ("--index: 2 is not below 2", 2, "gemm", [*a, *b, *o, "--index", "2"]),
        ("--index, one GEMM", 2, "gemm", [*a, *b, *o, "--budget"]),
        ("--offsets-k cannot be combined with --sparse-a", 2, "gemm", [*a, *b, *o, "--sparse-a"]),
        ("-a, -b must have two dimensions", 2, "gemm", ["--recipe", "plain", "--unit", "turing/mma.m8n8k16.s32.s8", *a, *b, *o]),
        ("--offsets-k requires --index, one GEMM", 2, "bound", [*a, *b, *o]),
        ("--offsets-k, --index require", 2, "tolerance", ["-m", "4", "-n", "4", "-k", "6", *o]),
        ("group 1 does not begin with a block of factors of A", 2, "gemm", [*a, *b, *o, *scales]),
        ("--offsets-k and factors of blocks of k", 2, "gemm", [*a, *b, *o, *scales, "--index", "1"]),
    ]
    wrong = "".join(says(text, status, what, *([] if "--recipe" in words else HOW[:2]),
                         *([] if "--unit" in words else HOW[2:]), *words)
                    for text, status, what, words in cases)
    wrong += says("sum over k", 0, "gemm", *HOW, "-a", "e.npy", "-b", "f.npy", "--offsets-k", "o.npz:empty")
    return wrong + says("k is 0", 2, "explain", "-a", "e.npy", "-b", "f.npy", "-d", "g.npy",
                        "--offsets-k", "o.npz:empty")


def group_refusals():
    z = lambda *shape: np.zeros(shape, "f4")
    save(a=z(6, 8), b=z(3, 8, 5), b2=z(2, 8, 5), a3=z(3, 2, 8), d=z(6, 5))
    np.savez("o.npz", good=np.int32([2, 2, 6]), short=np.int32([2, 2, 5]), down=np.int32([4, 2, 6]),
             below=np.int32([-1, 2, 6]), long=np.int64([2, 2, 6]), none=np.int32([]))
    a, b = ["-a", "a.npy"], ["-b", "b.npy"]
    cases = [
        ("must end with 6, the rows of A, found 5", 2, [*a, *b, "--offsets", "o.npz:short"]),
        ("must ascend; element 1 is 2 after 4", 2, [*a, *b, "--offsets", "o.npz:down"]),
        ("must ascend; element 0 is -1 after 0", 2, [*a, *b, "--offsets", "o.npz:below"]),
        ("must end with 6", 2, [*a, *b, "--offsets", "o.npz:none"]),
        ("o.npz:long", 3, [*a, *b, "--offsets", "o.npz:long"]),
        ("-b: 2 matrices, but there are 3 groups", 2, [*a, "-b", "b2.npy", "--offsets", "o.npz:good"]),
        ("takes A, C and D of two", 2, ["-a", "a3.npy", *b, "--offsets", "o.npz:below"]),
        ("3 is not below 3, the number of groups", 2,
         [*a, *b, "--offsets", "o.npz:good", "--index", "3"]),
    ]
    np.savez("o2.npz", two=np.int32([1, 2]))
    cases[6] = ("takes A, C and D of two", 2, ["-a", "a3.npy", *b, "--offsets", "o2.npz:two"])
    return "".join(says(text, status, "gemm", *HOW, *words) for text, status, words in cases)


def largest():
    """gemm reports the errors of the GEMM with the largest one."""
    a, b = (draw.standard_normal(s).astype("f4") for s in ((4, 6, 96), (4, 96, 5)))
    given = save(a=a, b=b)
    said = json.loads(bitcut("gemm", *HOW, *given, "--json"))
    each = [json.loads(bitcut("gemm", *HOW, *given, "--index", i, "--json")) for i in range(4)]
    errors = [x["backward_max"] for x in each]
    if said["count"] != 4 or said["largest"] != int(np.argmax(errors)):
        return f"{said['largest']} of {errors}"
    return "" if said["backward_max"] == max(errors) else f"{said['backward_max']} of {errors}"


def kinds():
    """The same batch from files of other kinds and formats."""
    a, b = (draw.integers(-8, 9, s).astype("f4") for s in ((3, 5, 24), (3, 24, 7)))
    given = save(a=a, b=b)
    bitcut("gemm", *HOW, *given, "--reference", "none", "-o", "d.npy")
    np.savez("both.npz", a=a, b=b)
    (a.view("u4") >> 16).astype("<u2").tofile("a.bin")
    np.save("af.npy", np.asfortranarray(a))
    files = [["-a", "both.npz:a"], ["-a", "af.npy"], ["-a", "a.bin", "--shape-a", "3x5x24",
             "--format-a", "bf16"]]
    wrong = ""
    for words in files:
        wrong += says("3 of 3 GEMMs", 0, "verify", *HOW, "-d", "d.npy", "-b", "both.npz:b", *words)
    return wrong


def emulated(a, b, *how):
    bitcut("gemm", *how, *save(a=a, b=b), "--reference", "none", "-o", "d.npy")
    return np.load("d.npy")


def explained(a, b, d, *words, status=0):
    return json.loads(bitcut("explain", *save(a=a, b=b, d=d), "--seconds", "5", "--json", *words,
                             status=status))


def differs(said, **wanted):
    return "".join(f"{key}: {said.get(key)}, not {value}; " for key, value in wanted.items()
                   if said.get(key) != value)


def explanations():
    """One hypothesis holds for all GEMMs, or explain names those that it does not give."""
    a, b = (draw.standard_normal(s).astype("f4") for s in ((5, 8, 64), (5, 64, 8)))
    d = emulated(a, b, *HOW)
    said = explained(a, b, d)
    wrong = differs(said, found=True, gemms=5, explained=5, compared=320, total=320, differ=0,
                    recipe="ootomo", others=None)
    wrong += "" if "in all 5 GEMMs" in said["hypothesis"] else said["hypothesis"]
    # one GEMM by another recipe: not the first one, and the first one
    for i in (3, 0):
        mixed = d.copy()
        mixed[i] = emulated(a[i], b[i], "--recipe", "plain", "--unit", "h100")
        said = explained(a, b, mixed, status=1)
        wrong += differs(said, found=False, explained=4, others=f"GEMM {i}", recipe="ootomo",
                         other_gemm=i, searched=int(i == 0))
        wrong += "" if said["other"].startswith("D is plain on hopper") else said["other"]
        wrong += differs(explained(a, b, mixed, "--index", i), recipe="plain", gemms=None)
    # a neighbour's operand, as by a wrong stride
    for i, j, x, y, name in ((2, 1, 1, 2, "A"), (4, 0, 4, 0, "B"), (1, 3, 3, 3, "A and B")):
        stride = d.copy()
        stride[i] = emulated(a[x], b[y], *HOW)
        said = explained(a, b, stride, status=1)
        wrong += differs(said, explained=4, others=f"GEMM {i}",
                         other=f"the same, with {name} of GEMM {j}")
    # an output of the last GEMM
    bits(d)[4, 7, 7] ^= 1
    said = explained(a, b, d, "--recipe", "ootomo", status=1)
    return wrong + differs(said, explained=4, others="GEMM 4", differ=1, searched=0)


def limits():
    """Limits of a batch, and the GEMM that exceeds them."""
    a, b = (draw.standard_normal(s).astype("f4") for s in ((3, 6, 64), (3, 64, 7)))
    d = emulated(a, b, *HOW)
    off = d.copy()
    off[2, 5, 1] *= 1.01
    wrong = ""
    for given, status, text in ((d, 0, "ACCEPTED"), (off, 1, r"REJECTED.*\(5, 1\) of GEMM 2, 1 of 126")):
        words = ["tolerance", *HOW, *save(a=a, b=b, d=given), "--power", 0, "--seeds", 20]
        wrong += says(text, status, *words)
        said = json.loads(bitcut(*words, "--json", status=status))
        wrong += differs(said, count=3) + differs(said["given"], above=int(status))
        wrong += "" if said["given"]["gemm"] == 2 or not status else str(said["given"])
    wrong += says("REJECTED", 1, *words, "--index", 2) + says("ACCEPTED", 0, *words, "--index", 1)
    return wrong


def short_c():
    """One row or one column of C for each GEMM."""
    a, b = (draw.standard_normal(s).astype("f4") for s in ((3, 5, 24), (24, 7)))
    wrong = ""
    for shape in ((1, 7), (5, 1)):
        c = draw.standard_normal((3, *shape)).astype("f4")
        bitcut("gemm", *HOW, *save(a=a, b=b, c=c), "--reference", "none", "-o", "d.npy")
        d = np.load("d.npy")
        want = np.stack([alone({"a": a, "b": b, "c": c}, i, 3, []) for i in range(3)])
        wrong += f"{shape}" if (bits(d) != bits(want)).any() else ""
    return wrong


def empty():
    """Batches without GEMMs, and GEMMs without elements, have nothing to compare."""
    wrong = ""
    for count, m in ((0, 4), (3, 0), (0, 0)):
        given = save(a=np.zeros((count, m, 6), "f4"), b=np.zeros((6, 5), "f4"))
        bitcut("gemm", *HOW, *given, "-o", "d.npy")
        wrong += "" if np.load("d.npy").shape == (count, m, 5) else f"{count} {m}"
        wrong += says("nothing to compare", 0, "verify", *HOW, *given, "-d", "d.npy")
    # an array without memory: 2^40 GEMMs without elements
    given = save(a=np.lib.stride_tricks.as_strided(np.zeros(1, "f4"), (1 << 40, 0, 4), (0, 16, 4)),
                 b=np.zeros((4, 4), "f4"))
    np.save("d.npy", np.load("a.npy"))
    return wrong + says("nothing to compare", 0, "verify", *HOW, *given, "-d", "d.npy")


def refusals():
    z = lambda *shape: np.zeros(shape, "f4")
    save(a=z(3, 4, 6), a2=z(4, 6), b=z(3, 6, 5), b2=z(6, 5), b4=z(4, 6, 5), d=z(3, 4, 5),
         d2=z(4, 5), d4=z(4, 4, 5), c4=z(4, 4, 5), x=z(1, 3, 4, 6))
    np.savez("v.npz", a=np.float64([[[1, 2], [3, 1e300]]]))
    a, b = ["-a", "a.npy"], ["-b", "b.npy"]
    cases = [  # the option, the reason, the status, the words
        ("-b: 4 matrices, but the batch has 3", 2, ["gemm", *a, "-b", "b4.npy"]),
        ("-c: 4 matrices, but the batch has 3", 2, ["gemm", *a, *b, "-c", "c4.npy"]),
        ("-d: 4 matrices, but the batch has 3", 2, ["verify", *a, *b, "-d", "d4.npy"]),
        ("-d: one matrix, but the batch has 3", 2, ["verify", *a, *b, "-d", "d2.npy"]),
        ("-d: 3 matrices, but the batch has 1", 2,
         ["verify", "-a", "a2.npy", "-b", "b2.npy", "-d", "d.npy"]),
        ("--index: 3 is not below 3", 2, ["gemm", *a, *b, "--index", "3"]),
        ("--index requires a batch", 2, ["gemm", "-a", "a2.npy", "-b", "b2.npy", "--index", "0"]),
        ("--index, one GEMM", 2, ["gemm", *a, *b, "--budget"]),
        ("--index, one GEMM", 2, ["verify", *a, *b, "-d", "d.npy", "--samples", "4"]),
        ("3-D for a batch, found 4-D", 3, ["gemm", "-a", "x.npy", *b]),
        ("a batch requires --index, one GEMM", 2, ["bound", *a, *b]),
        ("-a, -b have a batch: -d or --index is required", 2, ["report", *a, *b]),
        ("mtx stores one matrix", 2, ["gemm", *a, *b, "-o", "d.mtx"]),
        (r"element \[0, 1, 1\]", 3, ["gemm", "-a", "v.npz:a", "-b", "b2.npy"]),
    ]
    wrong = ""
    for text, status, words in cases:
        wrong += says(text, status, words[0], *HOW, *words[1:])
    wrong += says("expected a 2-D array, found 3-D", 3, "split", *a)
    wrong += says("--shape-a must be rows", 2, "split", "-a", "a.bin", "--shape-a", "3x4x6", "--format-a", "f32")
    return wrong


if __name__ == "__main__":
    for i in range(12):
        check(f"random batch {i}", one_batch())
    for i in range(12):
        check(f"random groups {i}", one_grouped())
    check("refusals of groups", group_refusals())
    for i in range(12):
        check(f"random groups of k {i}", one_grouped_by_k())
    check("explanations of groups of k", explanations_of_k())
    check("refusals of groups of k", refusals_of_k())
    check("errors of the largest", largest())
    check("kinds of files", kinds())
    check("one row or column of C", short_c())
    check("explanations", explanations())
    check("limits", limits())
    check("empty batches", empty())
    check("refusals", refusals())
    plan()
