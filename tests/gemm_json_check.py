# SPDX-License-Identifier: BSD-3-Clause
"""JSON of gemm and verify for random GEMMs.  Run by gemm_json.sh in an empty folder.

The keys are compared with the options that were drawn; then a GEMM is asked for with options
made from the keys alone, and must give the same D.  The errors of results in f32 and f16,
also of sums of integers, are those of the GEMM that NumPy computes with 64 bits of significand,
step by step."""

import json
import os
import re
import shlex

import numpy as np

from checks import SEED, WHOLE, cases, check, plan, run as bitcut

RUNS = int(os.environ.get("BITCUT_RUNS", cases(60)))
draw = np.random.default_rng(SEED)
KEYS = """epilogue steps start scaling format_d bias scale_a scale_b scale_d clamp zero_a zero_b
    zero_d sparse_a alpha beta""".split()


def chance(share=0.5):
    return draw.random() < share


def matrix(path, rows, cols, integers):
    most = int(draw.choice([9, 127]))
    values = draw.integers(-most, most + 1, (rows, cols)) if integers else draw.standard_normal((rows, cols))
    np.save(path, values.astype("f4"))
    return path


class Case:
    """Options of a GEMM, and what its JSON must say."""

    def __init__(self):
        self.integers = chance(0.4)
        m, n, k = (int(x) for x in draw.integers(1, 9, 3))
        self.sparse = not self.integers and chance(0.3)
        k = 4 * k if self.sparse else 2048 * k if self.integers and chance(0.2) else k
        unit = [str(draw.choice(["turing/mma.m8n8k16.s32.s8", "turing/mma-sat.m8n8k16.s32.s8"])) if
                self.integers else "hopper/mma.m16n8k16.f32.f16"]
        a = np.load(matrix("a.npy", m, k, self.integers))
        if self.sparse:
            a[:, 0::4] = a[:, 2::4] = 0
            np.save("a.npy", a)
        self.base = ["--recipe", "plain", "--unit", *unit, "-a", "a.npy", "-b",
                     matrix("b.npy", k, n, self.integers)]
        if self.sparse:
            self.base += ["--sparse-a"]
        self.files, self.numbers, self.steps, self.want = [], [], [], {}
        self.want["sparse_a"] = {"positions": False} if self.sparse else None
        self.add_operands(m, n)
        self.add_steps()

    def add_operands(self, m, n):
        want = self.want
        want["bias"] = want["scale_a"] = want["scale_b"] = None
        if chance():
            rows = chance()
            self.files += ["--bias", matrix("bias.npy", 1, m if rows else n, self.integers)]
            self.files += ["--bias-rows"] if rows else []
            want["bias"] = {"format": "f32", "of": "row" if rows else "column"}
        if chance():
            each = m > 1 and chance()
            self.files += ["--scale-a", matrix("sa.npy", m, 1, False) if each else "0.75"]
            want["scale_a"] = {"format": "f32", "rows": 1 if each or m == 1 else 0, "k": 0}
        if chance(0.3):
            self.files += ["--scale-b", "1.25"]
            want["scale_b"] = {"format": "f32", "columns": None, "k": 0}
        want["zero_a"] = want["zero_b"] = 0 if self.integers else None
        for key in ("zero_a", "zero_b"):
            if self.integers and chance(0.4):
                want[key] = int(draw.integers(1, 9))
                self.numbers += [f"--{key.replace('_', '-')}", want[key]]

    def add_steps(self):
        want, has = self.want, self.want.get
        want["scale_d"] = want["clamp"] = want["zero_d"] = None
        want["format_d"] = str(draw.choice(["f32", "f16", "s8"] if self.integers else
                                           ["f32", "f16", "bf16", "e4m3"]))
        steps = []
        if chance(0.3):  # no list at all
            self.numbers += ["--format-d", want["format_d"]]
            return
        if self.integers:
            steps += ["float"]
        steps += [str(draw.choice(["fused", "scales+alpha+bias"] if has("scale_a") and has("bias")
                                  else ["fused"]))]
        if chance(0.4):
            steps += ["scale-d"]
            want["scale_d"] = float(draw.choice([0.5, 3.0]))
            self.numbers += ["--scale-d", want["scale_d"]]
        if chance(0.4):
            steps += ["clamp"]
            want["clamp"] = {"low": -1.5, "high": float(draw.choice([2.0, 6.0]))}
            self.numbers += ["--clamp=-1.5,%g" % want["clamp"]["high"]]
        if self.integers and chance():
            steps += ["zero-d"]
            want["zero_d"] = int(draw.integers(-9, 10))
            self.numbers += [f"--zero-d={want['zero_d']}"]
        steps += [str(s) for s in draw.permutation(["relu", "round", "saturate"])[:draw.integers(0, 3)]]
        if chance(0.3) and has("bias") and not self.integers and steps[0] == "fused":
            self.numbers += ["--start", "bias"]
        self.steps = ["--epilogue", "+".join(steps)]
        self.numbers += ["--format-d", want["format_d"]]


def again(row):
    """Numbers, start and steps, from JSON alone."""
    words = ["--epilogue", row["steps"], "--start", row["start"], "--scaling", row["scaling"],
             "--format-d", row["format_d"]]
    for key in ("scale_d", "zero_a", "zero_b", "zero_d"):
        if row[key] is not None:
            words += [f"--{key.replace('_', '-')}={row[key]}"]
    if row["clamp"]:
        words += [f"--clamp={row['clamp']['low']},{row['clamp']['high']}"]
    return words


# The largest values of formats; and steps in exact arithmetic: of v and of its magnitude, the sum
# of the absolute values of all terms.
LARGEST = {"f32": float(np.finfo("f4").max), "f16": 65504.0}


def extras(case):
    """The bias, and the product of the factors of each output."""
    option = dict(zip(case.files, case.files[1:]))
    bias = np.load("bias.npy").astype("g") if case.want["bias"] else np.zeros((1, 1), "g")
    if case.want["bias"] and case.want["bias"]["of"] == "row":
        bias = bias.T
    a = option.get("--scale-a", "1")
    factor = np.load(a).astype("g") if a.endswith(".npy") else np.longdouble(a)
    return bias, factor * np.longdouble(option.get("--scale-b", "1"))


def exact(case, row):
    a, b = np.load("a.npy").astype("g"), np.load("b.npy").astype("g")
    bias, factor = extras(case)
    a, b = a - (row["zero_a"] or 0), b - (row["zero_b"] or 0)
    v, size = a @ b, abs(a) @ abs(b)
    if row["start"] == "bias":
        v, size = v + bias, size + abs(bias)
    for step in row["steps"].split("+"):
        if step == "scales":
            v, size = v * factor, size * abs(factor)
        elif step == "bias":
            v, size = v + bias, size + abs(bias)
        elif step == "scale-d":
            v, size = v * row["scale_d"], size * row["scale_d"]
        elif step == "zero-d":
            v, size = v + row["zero_d"], size + abs(row["zero_d"])
        elif step == "clamp":
            v = np.clip(v, row["clamp"]["low"], row["clamp"]["high"])
        elif step == "relu":
            v = np.maximum(v, 0)
        elif step == "saturate":
            v = np.clip(v, -LARGEST[row["format_d"]], LARGEST[row["format_d"]])
        else:
            assert step in ("alpha", "c", "round", "float", "zeros"), step
    return v, size


def near(got, want):
    return abs(got - want) <= 1e-9 * abs(want) + 1e-18


def errors_differ(case, row, d):
    v, size = exact(case, row)
    error = abs(d.astype("g") - v)
    unit = 2.0 ** (11 if row["format_d"] == "f16" else 24)
    norm = np.sqrt((v * v).sum())
    want = {"relres": np.sqrt((error * error).sum()) / norm if norm else 0,
            "backward_max": (error[size > 0] / size[size > 0]).max(initial=0) * unit}
    return [(k, row[k], str(x), row["steps"]) for k, x in want.items()
            if not near(row[k] if row[k] != "inf" else np.inf, x) and (norm or k != "relres")]


def differs(case):
    """What is wrong; None: the GEMM is refused."""
    first = [*case.base, *case.files, *case.numbers, *case.steps]
    reference = ["--reference", "mpfr"] if chance() and not case.integers else []
    done = bitcut("gemm", *first, *reference, "-o", "d.npy", "--json")
    if done.returncode == 2:
        return None
    row = json.loads(done.stdout)
    wrong = [(k, row.get(k), v) for k, v in case.want.items()
             if k != "scale_b" and row.get(k, "missing") != v]
    extended = case.steps or any(case.want[k] for k in ("bias", "scale_a", "scale_b"))
    if not case.integers and (row["grade_text"] is None) != bool(extended):
        wrong += [("grade_text", row["grade_text"], row["steps"])]
    if (row["scale_b"] is None) != (case.want["scale_b"] is None):
        wrong += [("scale_b", row["scale_b"])]
    implied = row["steps"].startswith(("zeros", "float"))
    if not case.steps and (row["epilogue"] == "fused") == implied:
        wrong += [("epilogue", row["epilogue"], row["steps"])]
    measured = row["format_d"] in LARGEST and row["start"] == "zero" or not case.integers
    if case.integers and measured != ("relres" in row):
        wrong += [("relres", sorted(row), row["format_d"])]
    if measured and row["format_d"] in LARGEST:
        wrong += errors_differ(case, row, np.load("d.npy"))
    other = bitcut("gemm", *case.base, *case.files, *again(row), "-o", "e.npy", "--json")
    if other.returncode:
        wrong += [("again", other.stderr)]
    elif open("d.npy", "rb").read() != open("e.npy", "rb").read():
        wrong += [("another D", row["steps"], first)]
    checked = bitcut("verify", *first, "-d", "d.npy", "--json", "--seconds", 0)
    if checked.returncode:
        wrong += [("verify", checked.stderr)]
    else:
        said = json.loads(checked.stdout)
        wrong += [("verify", k, said.get(k), row[k]) for k in KEYS if said.get(k, "-") != row[k]]
    return wrong


ORDERS = ("slices=1", "slices=2", "lanes=4", "lanes=2,chunk=4", "tile=16,slices=2")


def limits_fail(case):
    """No D of another order is rejected, no bound is violated, and the errors of bound are those
    of the GEMM that NumPy computes."""
    first = [*case.base, *case.files, *case.numbers, *case.steps]
    if case.integers and bitcut("bound", *first).returncode == 2:
        return None
    done = bitcut("gemm", *first, "--order", str(draw.choice(ORDERS)), "--reference", "none", "-o", "d.npy",
                  "--json")
    if done.returncode == 2:
        return None
    row, wrong = json.loads(done.stdout), []
    own = json.loads(bitcut("gemm", *first, "--reference", "none", "-o", "own.npy", "--json").stdout)
    said = bitcut("bound", *first, "-d", "own.npy", "--json")
    bounds = [json.loads(line) for line in said.stdout.splitlines()]
    wrong += [("bound", said.stderr, first)] * (said.returncode != 0 or not bounds)
    wrong += [("violated", b["bound"], first) for b in bounds if b["violations"]]
    if row["format_d"] == "f32":
        v, size = exact(case, own)
        error = abs(np.load("own.npy").astype("g") - v)
        want = (error[size > 0] / size[size > 0]).max(initial=0) * 2.0 ** 24
        wrong += [("error", b["bound"], b["observed"], str(want), first) for b in bounds
                  if b["bound"] == "aligned" and b["outputs"] == v.size and not near(b["observed"], want)]
    judged = bitcut("tolerance", *first, "-d", "d.npy", "--order", "any", "--power", 0, "--seeds", 20, "--json")
    limits = json.loads(judged.stdout or "{}")
    if judged.returncode or not limits["given"]["accepted"]["both"]:
        wrong += [("tolerance", judged.stderr, judged.stdout[:300], first)]
    elif not limits["zeros"] and limits["with_underflow"]["max"] > float(limits["with_underflow"]["bound"]):
        wrong += [("runs", limits["with_underflow"], first)]
    return wrong


def large_sums_differ():
    """Sums of integers that FP32 rounds, and sums that overflow before the zero points."""
    wrong = []
    for k, sat, outputs in ((3000, "", 12), (3000, "-sat", 12), (70000, "", 12), (70000, "-sat", 0)):
        a, b = draw.integers(250, 256, (3, k)), draw.integers(120, 128, (k, 4))
        np.save("a.npy", a.astype("u1"))
        np.save("b.npy", b.astype("i1"))
        zeros = [] if k == 3000 else ["--zero-a", 250, "--zero-b", 120]
        how = ["--recipe", "plain", "--unit", f"turing/mma{sat}.m8n8k16.s32.u8.s8", "-a", "a.npy", "-b", "b.npy",
               "--format-d", "f32", *zeros]
        done = bitcut("bound", *how, "--json")
        row = next(r for r in map(json.loads, done.stdout.splitlines()) if r["bound"] == "aligned")
        if done.returncode or row["violations"] or row["outputs"] != outputs:
            wrong += [(k, sat, row, done.stderr)]
        if outputs and (row["observed"] > 0) != (k == 3000):
            wrong += [(k, sat, "observed", row["observed"])]
    return wrong


def advice_differs(case):
    """The error of advise is that of the GEMM which its line `check` computes."""
    if case.integers or case.sparse:
        return None
    operands = case.base[case.base.index("-a"):]
    words = ["advise", *operands, *case.files, *case.numbers, *case.steps, "--unit", "h100",
             "--recipe", str(draw.choice(["plain", "ootomo"])), "--want", 100]
    done = bitcut(*words, "--json")
    if done.returncode == 2:
        return None
    row = json.loads(done.stdout)
    if not row["advice"]:
        return [] if "inf" in done.stdout else [("no advice", done.stdout[:200])]
    line = re.search(r"^check +(bitcut .*)$", bitcut(*words).stdout, re.M)[1]
    got = json.loads(bitcut(*shlex.split(line)[1:], "--json").stdout)
    if got["relres"] == "inf" or near(row["advice"]["error"], got["relres"]):
        return []
    return [(row["advice"]["error"], got["relres"], line)]


def sample_differs(i):
    """A sample of the outputs of a larger GEMM, most of whose products are zero."""
    m, n, k = 700 + 7 * i, 500, 40
    a = draw.standard_normal((m, k)) * (draw.random((m, 1)) < 0.1)
    np.save("la.npy", a.astype("f4"))
    np.save("lb.npy", draw.standard_normal((k, n)).astype("f4"))
    np.save("bias.npy", 30 * draw.standard_normal((1, n)).astype("f4"))
    np.save("sa.npy", np.exp(draw.standard_normal((m, 1))).astype("f4"))
    how = ["-a", "la.npy", "-b", "lb.npy", "--bias", "bias.npy", "--scale-a", "sa.npy"]
    row = json.loads(bitcut("advise", *how, "--unit", "h100", "--recipe", "plain", "--want", 1,
                            "--json", "--seed", SEED + i).stdout)
    want = json.loads(bitcut("gemm", *how, "--unit", row["advice"]["unit"], "--recipe", "plain",
                             "--json").stdout)["relres"]
    error, high = row["advice"]["error"], row["advice"]["high"]
    good = row["outputs"] < m * n and 0.7 * want < error < 1.4 * want and high > 0.9 * want
    return [] if good else [(row["outputs"], m * n, error, high, want)]


def groups_differ(i):
    """The errors of groups and batches are those of the GEMM with the largest, whose bias and
    factors are its own rows of all."""
    n, k = 5, 24
    ends = np.cumsum(draw.permutation([2, 3, 0, 6])).astype("i4")
    m = int(ends[-1])
    a, b = draw.standard_normal((m, k)), draw.standard_normal((len(ends), k, n))
    bias, factor = 30 * draw.standard_normal((m, 1)), np.exp(draw.standard_normal((m, 1)))
    for name, x in (("ga", a), ("gb", b), ("gbias", bias), ("gs", factor)):
        np.save(f"{name}.npy", x.astype("f4"))
    np.save("ends.npy", ends)
    done = bitcut("gemm", "--recipe", "plain", "--unit", "hopper/mma.m16n8k16.f32.f16", "-a", "ga.npy",
                  "-b", "gb.npy", "--offsets", "ends.npy", "--bias", "gbias.npy", "--bias-rows",
                  "--scale-a", "gs.npy", "-o", "gd.npy", "--json")
    row, worst = json.loads(done.stdout), (0, -1)
    a, b, bias, factor, d = (np.load(f"{x}.npy").astype("g") for x in ("ga", "gb", "gbias", "gs", "gd"))
    for g, (first, end) in enumerate(zip([0, *ends], ends)):
        rows = slice(first, end)
        want = (a[rows] @ b[g]) * factor[rows] + bias[rows]
        size = (abs(a[rows]) @ abs(b[g])) * factor[rows] + abs(bias[rows])
        error = (abs(d[rows] - want) / size).max(initial=0) * 2.0 ** 24
        worst = max(worst, (error, g))
    good = near(row["backward_max"], worst[0]) and row["largest"] == worst[1]
    return [] if good else [(row["backward_max"], row["largest"], worst, i)]


def limits_differ(i):
    """Factors let few outputs dominate: the normwise limit is known, and accepts other orders."""
    m, n, k = 300, 200, 64
    for name, shape in (("la", (m, k)), ("lb", (k, n)), ("bias", (1, n))):
        np.save(f"{name}.npy", draw.standard_normal(shape).astype("f4"))
    rows, cols = np.ones((m, 1), "f4"), np.full((1, n), 1e-6, "f4")
    rows[draw.integers(m)] = 1e6
    cols[0, draw.integers(0, n, 2)] = 1e6
    np.save("sa.npy", rows)
    np.save("sb.npy", cols)
    how = ["--recipe", "fp32", "--unit", "fma/f32", "-a", "la.npy", "-b", "lb.npy", "--bias",
           "bias.npy", "--scale-a", "sa.npy", "--scale-b", "sb.npy"]
    wrong = []
    for order in ("slices=1", "slices=3", "lanes=4", "tile=16,slices=2")[i % 2::2]:
        bitcut("gemm", *how, "--order", order, "-o", "d.npy", "--reference", "none")
        row = json.loads(bitcut("tolerance", *how, "-d", "d.npy", "--power", 0, "--json", "--seed",
                                SEED + i, "--order", "any").stdout)
        component, norm = row["componentwise"], row["normwise"]
        if not (norm["known"] and norm["limit"] <= component["limit"] and row["given"]["accepted"]):
            wrong += [(order, component["limit"], norm, row["given"])]
    return wrong


def many(function):
    """What is wrong in RUNS cases that are not refused."""
    ran = others = 0
    wrong = []
    while ran < RUNS and others < 20 * RUNS:
        found = function(Case())
        others += found is None
        ran += found is not None
        wrong += found or []
    print(f"# {ran} GEMMs, {others} others, seed {SEED}")
    return wrong or ran < RUNS


check("the keys of gemm and verify are the GEMM, and give the same D", many(differs))
check("the error of advise is that of the whole GEMM", many(advice_differs))
check("limits and bounds hold", many(limits_fail))
check("large sums of integers", large_sums_differ())
check("a sample has the error of all outputs", [x for i in range(cases(8) // 2) for x in sample_differs(i)])
check("errors of groups", [x for i in range(4) for x in groups_differ(i)])
check("factors that let few outputs dominate", [x for i in range(2 if WHOLE else 1) for x in limits_differ(i)])
plan()
