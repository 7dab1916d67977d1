# SPDX-License-Identifier: BSD-3-Clause
"""explain of random products of integers with zero points, computed by NumPy in 64 bits.  Run by
zero_points.sh in an empty folder."""

import json
import os

import numpy as np

from checks import SEED, check, plan, run as bitcut

RUNS = int(os.environ.get("BITCUT_RUNS", 12))
draw = np.random.default_rng(SEED)


class Product:
    def __init__(self, both=True):
        m, n, k = (int(x) for x in draw.integers(4, 40, 3))
        types = ["i1" if draw.random() < 0.5 else "u1" for _ in range(2)]
        range_of = {"i1": (-128, 128), "u1": (0, 256)}
        self.a, self.b = (draw.integers(*range_of[t], shape).astype(t)
                          for t, shape in zip(types, ((m, k), (k, n))))
        self.za, self.zb = (int(draw.integers(1, 100)) * int(draw.choice([-1, 1])) for _ in range(2))
        if self.za in (self.zb, -self.zb):
            self.zb += 100
        self.k, self.rows, self.cols = k, self.wide(self.a).sum(1)[:, None], self.wide(self.b).sum(0)[None]
        np.save("a.npy", self.a)
        np.save("b.npy", self.b)

    @staticmethod
    def wide(x):
        return x.astype("i8")

    def d(self, za, zb):
        return (self.wide(self.a) - za) @ (self.wide(self.b) - zb)

    def said(self, d, *words):
        if abs(d).max() >= 2 ** 31:
            d = (d + 2 ** 31) % 2 ** 32 - 2 ** 31
        np.save("d.npy", d.astype("i4"))
        return json.loads(bitcut("explain", "-a", "a.npy", "-b", "b.npy", "-d", "d.npy", *words, "--json").stdout)


FAULTS = {
    None: lambda p: p.d(p.za, p.zb),
    "the zero point of A is ignored": lambda p: p.d(0, p.zb),
    "the zero point of B is ignored": lambda p: p.d(p.za, 0),
    "the zero points of A and B are ignored": lambda p: p.d(0, 0),
    "the zero points of A and B are exchanged": lambda p: p.d(p.zb, p.za),
    "the zero point of A is added instead of subtracted": lambda p: p.d(-p.za, p.zb),
    "the zero point of B is added instead of subtracted": lambda p: p.d(p.za, -p.zb),
    "the zero points of A and B are added instead of subtracted": lambda p: p.d(-p.za, -p.zb),
    "the term k zero_a zero_b is lost": lambda p: p.d(p.za, p.zb) - p.k * p.za * p.zb,
    "the term k zero_a zero_b is subtracted instead of added": lambda p: p.d(p.za, p.zb) - 2 * p.k * p.za * p.zb,
    "the sums of the rows of A are not corrected": lambda p: p.d(p.za, p.zb) + p.zb * p.rows,
    "the sums of the columns of B are not corrected": lambda p: p.d(p.za, p.zb) + p.za * p.cols,
    "the correction for the zero points is added twice": lambda p: 2 * p.d(p.za, p.zb) - p.d(0, 0),
}


def told(name):
    """Zero points that are given: the fault has its name."""
    wrong = []
    for _ in range(RUNS):
        p = Product()
        row = p.said(FAULTS[name](p), f"--zero-a={p.za}", f"--zero-b={p.zb}")
        words = f", but {name}: " if name else "D is the exact product: "
        if not row["found"] or words not in row["hypothesis"]:
            wrong += [(name, row["hypothesis"], p.a.shape, p.b.shape, p.za, p.zb)]
    return wrong


def untold():
    """Zero points that are not given are found from D; another term stays a number."""
    wrong = []
    for i in range(RUNS):
        p = Product()
        more = int(draw.integers(1, 99)) if i % 3 == 2 else 0
        if i % 3 == 1:
            p.za = 0
        row = p.said(p.d(p.za, p.zb) + more)
        words = f"with the zero points {p.za} of A and {p.zb} of B" + (f", plus {more}" if more else ":")
        if not row["found"] or words not in row["hypothesis"]:
            wrong += [(row["hypothesis"], words)]
        row = p.said(p.d(p.za, p.zb) - p.k * p.za * p.zb)
        if p.za and "but the term k zero_a zero_b is lost" not in row["hypothesis"]:
            wrong += [row["hypothesis"]]
        row = p.said(p.d(p.za + 1, p.zb), f"--zero-a={p.za}", f"--zero-b={p.zb}")
        if f"with the zero points {p.za + 1} of A and {p.zb} of B" not in row["hypothesis"]:
            wrong += [(row["hypothesis"], "others than those that were given", p.za, p.zb)]
    return wrong


def saturated():
    """Pairs of products that saturate, and zero points that are given."""
    wrong = []
    for _ in range(RUNS):
        p = Product()
        a, b = np.abs(p.wide(p.a)) % 128 + 100, p.wide(p.b) % 128 - 20  # u8 and s8
        np.save("a.npy", a.astype("u1"))
        np.save("b.npy", b.astype("i1"))
        pairs = [a[:, q:q + 2] @ b[q:q + 2] for q in range(0, p.k, 2)]
        d = sum(np.clip(x, -2 ** 15, 2 ** 15 - 1) for x in pairs) - p.zb * a.sum(1)[:, None] - p.za * b.sum(0)[None]
        d += p.k * p.za * p.zb
        row = p.said(d, f"--zero-a={p.za}", f"--zero-b={p.zb}")
        if not row["found"] or ("saturate" not in row["hypothesis"] and abs(sum(pairs)).max() > 2 ** 20):
            wrong += [row["hypothesis"]]
    return wrong


def noise():
    """A D that is changed in one output has no explanation."""
    wrong = []
    for _ in range(RUNS):
        p = Product()
        d = p.d(p.za, p.zb)
        d[draw.integers(d.shape[0]), draw.integers(d.shape[1])] += int(draw.integers(1, 50))
        for words in ((), (f"--zero-a={p.za}", f"--zero-b={p.zb}")):
            row = p.said(d, *words)
            if row["found"]:
                wrong += [row["hypothesis"]]
    return wrong


def dequantized():
    """A D without integers: its zero points are found, and are right where others are given."""
    wrong = []
    for run in range(RUNS):
        p = Product()
        m, n = p.a.shape[0], p.b.shape[1]
        unit = "ampere/mma.m16n8k32.s32." + ".".join(dict.fromkeys({"i": "s8", "u": "u8"}[x.dtype.kind] for x in (p.a, p.b)))
        np.save("rows.npy", draw.uniform(0.001, 0.01, (m, 1)).astype("f4"))
        np.save("cols.npy", draw.uniform(0.001, 0.01, (1, n)).astype("f4"))
        np.save("bias.npy", draw.standard_normal(n).astype("f4"))
        steps = [[], ["--scale-a", "rows.npy", "--scale-b", "cols.npy"],
                 ["--scale-a", "0.03", "--bias", "bias.npy"]][run % 3]
        one = run // 3 % 2 == 0  # A alone has a zero point
        zeros = [f"--zero-a={p.za}"] + ([] if one else [f"--zero-b={p.zb}"])
        files = ["-a", "a.npy", "-b", "b.npy"]
        format_d = ["f32", "f16", "bf16"][draw.integers(3)] if steps else "f32"
        bitcut("gemm", *files, "--recipe", "plain", "--unit", unit, *steps, *zeros, "--format-d", format_d,
               "--reference", "none", "-o", "x.npy")
        for given in ([], zeros, [f"--zero-a={p.za + 3}", *zeros[1:]]):
            done = bitcut("explain", *files, "-d", "x.npy", "--format-d", format_d, *steps, *given, "--unit", unit,
                          "--json")
            row = json.loads(done.stdout)
            option = " ".join(z.replace("=", " ") for z in (zeros[:1] if len(given) == len(zeros) else zeros))
            found = [f["option"] for f in row["findings"]]
            if (not row["found"] or found != ([] if given == zeros else [option])
                    or (row["zero_a"], row["zero_b"]) != (p.za, 0 if one else p.zb)):
                wrong += [(given, zeros, steps, found, row["hypothesis"], p.a.shape, p.b.shape)]
    return wrong


def power():
    """Faults of zero points in a dequantized D: their errors are those of NumPy, and tests find them."""
    wrong = []
    for _ in range(3):
        p = Product()
        exact, size = p.d(p.za, p.zb), abs(p.wide(p.a) - p.za) @ abs(p.wide(p.b) - p.zb)
        unit = "ampere/mma.m16n8k32.s32." + ".".join(dict.fromkeys({"i": "s8", "u": "u8"}[x.dtype.kind] for x in (p.a, p.b)))
        done = bitcut("tolerance", "--recipe", "plain", "--unit", unit, "-a", "a.npy", "-b", "b.npy", f"--zero-a={p.za}",
                      f"--zero-b={p.zb}", "--scale-a", "0.25", "--power", "3", "--seeds", "20", "--json")
        rows = {r["kernel"]: r for r in json.loads(done.stdout)["power"]}
        for name, faulty in (("zero point of A ignored", p.d(0, p.zb)), ("zero point of B ignored", p.d(p.za, 0)),
                             ("zero points exchanged", p.d(p.zb, p.za)), ("zero points added", p.d(-p.za, -p.zb))):
            error = 2**24 * (abs(faulty - exact) / size).max()
            if rows[name]["both"] != 3 or not abs(rows[name]["error"] - error) <= 1e-5 * error + 2:
                wrong += [(name, rows[name], error, p.za, p.zb)]
        wrong += [r for r in rows.values() if r["correct"] and r["both"]]
        if any(rows[x]["both"] < 3 for x in ("one output twice", "column-major", "wrong rows or columns")):
            wrong += [[rows[x] for x in ("one output twice", "column-major", "wrong rows or columns")]]
    return wrong


def advised():
    """advise: a unit of integers has the errors of NumPy; other units those of A and B less their zero points."""
    wrong, words = [], ["-a", "a.npy", "-b", "b.npy", "--want", "1e-9", "--json"]
    for run in range(RUNS):
        p = Product()
        if run % 3 == 0:
            p.za = 0
        m, n = p.a.shape[0], p.b.shape[1]
        alpha = np.float32([1, 0.3, -0.007][run % 3])
        factors = draw.uniform(0.001, 0.01, (m, 1)).astype("f4")
        bias = draw.standard_normal(n).astype("f4")
        np.save("rows.npy", factors)
        np.save("bias.npy", bias)
        steps, value, exact = [f"--alpha={alpha:.9g}"], np.float32, p.d(p.za, p.zb)
        d = value(exact) * alpha
        exact = exact * float(alpha)
        if run % 2:
            steps += ["--scale-a", "rows.npy", "--bias", "bias.npy", "--epilogue", "scale-a+alpha+bias"]
            d = value(value(value(p.d(p.za, p.zb)) * factors) * alpha) + bias
            exact = exact * factors.astype("f8") + bias
        zeros = [f"--zero-a={p.za}", f"--zero-b={p.zb}"]
        unit = "ampere/mma.m16n8k32.s32." + ".".join(dict.fromkeys({"i": "s8", "u": "u8"}[x.dtype.kind] for x in (p.a, p.b)))
        row = json.loads(bitcut("advise", *words, *steps, *zeros, "--unit", unit).stdout)
        trial, = row["targets"]
        relres = np.linalg.norm(d.astype("f8") - exact) / np.linalg.norm(exact)
        if not abs(trial["error"] - relres) <= 1e-6 * relres + 1e-20 or not row["all"]:
            wrong += [(trial, relres, steps, zeros)]
        if (row["operands"]["zero_a"], row["operands"]["zero_b"]) != (p.za, p.zb):
            wrong += [row["operands"]]
        if not trial["bound"] >= trial["checked"]:
            wrong += [("bound", trial, steps)]
        line = bitcut("advise", *words[:4], *steps, *zeros, "--unit", unit, "--want", "1").stdout.splitlines()
        line = " ".join(line[[x.startswith("check") for x in line].index(True):]).split()[2:]
        said = json.loads(bitcut(*line, "--json").stdout)
        if not abs(said["relres"] - relres) <= 1e-6 * relres + 1e-20:
            wrong += [(line, said["relres"], relres)]
        small = json.loads(bitcut("advise", *words, *steps, *zeros, "--unit", "h100", "--want", "1").stdout)
        np.save("x.npy", (p.wide(p.a) - p.za).astype("f4"))
        np.save("y.npy", (p.wide(p.b) - p.zb).astype("f4"))
        given = json.loads(bitcut("advise", "-a", "x.npy", "-b", "y.npy", *words[4:], *steps, "--unit", "h100").stdout)
        both = json.loads(bitcut("advise", *words, *steps, *zeros, "--unit", "h100").stdout)
        if ".s32." not in small["advice"]["gemm"]:
            wrong += [("no unit of integers", small["advice"]["gemm"])]
        errors = {t["gemm"]: float(t["error"]) for t in given["tried"]}
        mine = {t["gemm"]: float(t["error"]) for t in both["tried"] if ".s32." not in t["gemm"]}
        if not mine or any(mine[g] != errors[g] and not abs(mine[g] - errors[g]) <= 1e-9 * errors[g] for g in mine):
            wrong += [(mine, errors)]
        if both["values_a"] != given["values_a"] or both["scales"] != given["scales"]:
            wrong += [(both["values_a"], given["values_a"], both["scales"], given["scales"])]
    return wrong + sampled()


def sampled():
    """Outputs of two samples, of a product with more outputs than both."""
    a, b = (draw.integers(0, 256, s).astype("u1") for s in ((700, 40), (40, 600)))
    np.save("a.npy", a)
    np.save("b.npy", b)
    exact = float(np.float32(0.3)) * ((a.astype("i8") - 100) @ (b.astype("i8") - 120))
    d = (exact / float(np.float32(0.3))).round().astype("f4") * np.float32(0.3)
    relres = np.linalg.norm(d - exact) / np.linalg.norm(exact)
    row = json.loads(bitcut("advise", "-a", "a.npy", "-b", "b.npy", "--zero-a=100", "--zero-b=120", "--alpha", "0.3",
                            "--unit", "ampere/mma.m16n8k32.s32.u8", "--json").stdout)
    trial, = row["targets"]
    for steps in (["--alpha", "0.3"], ["--alpha", "3", "-c", "c.npy"]):  # and no zero points
        np.save("c.npy", draw.standard_normal((700, 600)).astype("f4"))
        other, = json.loads(bitcut("advise", "-a", "a.npy", "-b", "b.npy", *steps, "--unit", "ampere/mma.m16n8k32.s32.u8",
                                   "--json").stdout)["targets"]
        if not other["bound"] >= other["checked"] > 0:
            return [("bound", steps, other)]
    good = not row["all"] and all(0.5 * relres < trial[x] < 2 * relres for x in ("error", "checked"))
    return [] if good and trial["bound"] >= trial["checked"] else [(row["all"], trial, relres)]


def refused():
    Product()
    np.save("f.npy", np.ones((3, 3), "f4"))
    cases = ((["-a", "f.npy", "-b", "f.npy", "-d", "f.npy", "--zero-a", "3"],
              "--zero-a: zero points require A and B with formats of integers"),
             (["-a", "a.npy", "-b", "b.npy", "-d", "d.npy", "--zero-b", "x"], "--zero-b requires a whole number"),
             (["-a", "a.npy", "-b", "b.npy", "-d", "d.npy", "--zero-d", "1"], "unknown option"))
    said = [bitcut("explain", *words) for words, _ in cases]
    more = ((["-a", "f.npy", "-b", "f.npy", "--zero-a", "3"],
             "--zero-a: zero points require A and B with formats of integers"),
            (["-a", "a.npy", "-b", "b.npy", f"--zero-b={2**22 + 1}"], "--zero-b: zero points require A and B"),
            (["-a", "a.npy", "-b", "b.npy", "-a", "a.npy", "-b", "b.npy", "--zero-a=1"], "-a must be given once"))
    said += [bitcut("advise", *words) for words, _ in more]
    return [(s.stderr, s.returncode) for s, (_, want) in zip(said, cases + more)
            if s.returncode != 2 or want not in s.stderr or s.stderr.count("\n") != 1]


for fault in FAULTS:
    check(fault or "no fault", told(fault))
check("zero points that are not given", untold())
check("saturated pairs", saturated())
check("one wrong output", noise())
check("zero points of a dequantized D", dequantized())
check("power of a dequantized D", power())
check("advice on products with zero points", advised())
check("refusals", refused())
plan()
