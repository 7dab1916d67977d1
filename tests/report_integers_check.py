# SPDX-License-Identifier: BSD-3-Clause
"""Reports on random products of integers, which Python computes without a limit of bits.  Run by
report_integers.sh in an empty folder."""

import json
import os
import shutil

import numpy as np

from checks import SEED, cases, check, plan, run as bitcut

RUNS = int(os.environ.get("BITCUT_RUNS", cases(10)))
draw = np.random.default_rng(SEED)
RANGES = {"i1": (-2**7, 2**7), "u1": (0, 2**8), "i2": (-2**15, 2**15), "i4": (-2**31, 2**31)}
FORMATS = {"i1": "s8", "u1": "u8", "i2": "s16", "i4": "s32"}
KINDS = ["the exact integer", "the exact integer modulo 2^bits", "the exact integer limited to the range",
         "another integer"]


def one_of(*values):
    return values[draw.integers(len(values))]


def wrap(x, kind):
    low, end = RANGES[kind]
    return (x - low) % (end - low) + low


def limit(x, kind):
    low, end = RANGES[kind]
    return min(max(x, low), end - 1)


class Product:
    """alpha (A - za) (B - zb) + beta C, with integers of Python."""

    def __init__(self, wide=False, least=1):
        m, n, k = (int(x) for x in draw.integers(least, 24, 3))
        self.types = [one_of("i1", "u1"), one_of("i1", "u1"), one_of("i4", "i2", "i1"), one_of("i4", "i4", "i2", "u1")]
        shapes = (m, k), (k, n), (m, n)
        self.a, self.b, self.c = (draw.integers(*RANGES[t], s).astype(t) for t, s in zip(self.types, shapes))
        self.za, self.zb = (int(one_of(0, draw.integers(-128, 256), *(RANGES["i4"][:1] * wide))) for _ in range(2))
        if wide:
            self.zb = 2**31 - 1
        self.alpha, self.beta = int(one_of(1, 1, -3, 2**20)), int(one_of(0, 1, -2))
        for name, x in zip("abc", (self.a, self.b, self.c)):
            np.save(f"{name}.npy", x)
        zeros = np.array(self.a.tolist(), object) - self.za, np.array(self.b.tolist(), object) - self.zb
        self.exact = self.alpha * zeros[0].dot(zeros[1]) + self.beta * np.array(self.c.tolist(), object)

    def words(self):
        words = [f"--zero-a={self.za}", f"--zero-b={self.zb}", f"--alpha={self.alpha}"]
        return words + (["-c", "c.npy", f"--beta={self.beta}"] if self.beta else [])

    def save(self, d):
        self.d = d
        np.save("d.npy", np.array(d.tolist(), self.types[3]))

    def kinds(self):
        """The number of outputs of each kind, and the first of each."""
        first, count = {}, dict.fromkeys(KINDS, 0)
        for at, exact in np.ndenumerate(self.exact):
            given, kind = int(self.d[at]), self.types[3]
            which = (0 if given == exact else 3 if wrap(exact, kind) == exact else
                     1 if given == wrap(exact, kind) else 2 if given == limit(exact, kind) else 3)
            count[KINDS[which]] += 1
            first.setdefault(KINDS[which], (*at, given, str(exact)))
        return count, first


def report(*words):
    shutil.rmtree("one", ignore_errors=True)
    done = bitcut("report", "-a", "a.npy", "-b", "b.npy", "-d", "d.npy", "-o", "one", "--json", *words)
    last = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}
    return done, last


def rows_of(name):
    with open(f"one/{name}.json", encoding="utf-8") as file:
        return json.load(file)["rows"]


def wrong_rows(p):
    count, first = p.kinds()
    rows = {r["outputs"]: r for r in rows_of("exact")}
    wrong = [] if list(rows) == KINDS else [list(rows)]
    for kind in KINDS:
        r = rows[kind]
        if r["count"] != count[kind] or (r["i"], r["j"], r["result"], r["exact"]) != first.get(kind, (None,) * 4):
            wrong += [(r, count[kind], first.get(kind))]
    return wrong


def verdict_of(p):
    count, _ = p.kinds()
    return ("REJECTED" if count[KINDS[3]] else "ACCEPTED" if count[KINDS[0]] == p.exact.size else "NOT JUDGED")


STATUS = {"ACCEPTED": 0, "REJECTED": 1, "NOT JUDGED": 3}


def without_unit(wide):
    """The exact integers decide: rows, verdict and status are those of Python."""
    wrong = []
    for i in range(RUNS):
        p = Product(wide)
        change = (lambda x: wrap(x, p.types[3]), lambda x: limit(x, p.types[3]),
                  lambda x: wrap(x + 1, p.types[3]))[i % 3]
        d = np.frompyfunc(change, 1, 1)(p.exact)
        if i % 3 == 2 and d.size > 1:  # one output alone is wrong
            good = np.frompyfunc(lambda x, p=p: wrap(x, p.types[3]), 1, 1)(p.exact)
            good.flat[d.size // 2] = d.flat[d.size // 2]
            d = good
        p.save(d)
        done, last = report(*p.words())
        wrong += wrong_rows(p)
        want = verdict_of(p)
        if (last.get("verdict"), done.returncode) != (want, STATUS[want]):
            wrong += [(want, done.returncode, last, done.stderr)]
        with open("one/report.md", encoding="utf-8") as file:
            page = file.read()
        if "sums of integers have no rounding errors" not in page or "error budget does not" in page:
            wrong += ["the page does not say what it leaves out"]
    return wrong


def with_unit():
    """The unit decides: modulo 2^32, and D modulo 2^bits; one other output is rejected."""
    wrong = []
    for i in range(RUNS):
        p = Product()
        unit = "ampere/mma.m16n8k32.s32." + ".".join(dict.fromkeys(FORMATS[t] for t in p.types[:2]))
        p.save(np.frompyfunc(lambda x, p=p: wrap(wrap(x, "i4"), p.types[3]), 1, 1)(p.exact))
        if i % 2:
            at = tuple(int(x) for x in draw.integers(p.d.shape))
            p.d[at] = wrap(p.d[at] + 1 + int(draw.integers(100)), p.types[3])
            p.save(p.d)
        done, last = report("--recipe", "plain", "--unit", unit, *p.words())
        want = "REJECTED" if i % 2 else "ACCEPTED"
        row = rows_of("model")[0]
        if (last.get("verdict"), done.returncode, row["mismatches"]) != (want, i % 2, i % 2):
            wrong += [(want, done.returncode, last, row, done.stderr)]
        if i % 2 and (row["first"]["row"], row["first"]["column"]) != at:
            wrong += [(at, row)]
        wrong += wrong_rows(p)
    return wrong


def counted():
    """gemm counts the exact integers, and those that overflow, with zero points as well."""
    wrong = []
    for i in range(RUNS):
        p = Product(wide=i % 2)
        unit = "ampere/mma.m16n8k32.s32." + ".".join(dict.fromkeys(FORMATS[t] for t in p.types[:2]))
        row = json.loads(bitcut("gemm", "-a", "a.npy", "-b", "b.npy", "--recipe", "plain", "--unit", unit,
                                "--format-d", FORMATS[p.types[3]], *p.words(), "--json").stdout)
        exact = sum(wrap(wrap(x, "i4"), p.types[3]) == x for x in p.exact.flat)
        if (row["exact"], row["overflow"]) != (exact, p.exact.size - exact):
            wrong += [(row["exact"], row["overflow"], exact, p.exact.size)]
    return wrong


def commands():
    """The command of each section gives what the section says."""
    p = Product()
    p.types[3] = "i4"
    p.alpha, p.beta = 1, 0
    p.exact = (np.array(p.a.tolist(), object) - p.za).dot(np.array(p.b.tolist(), object) - p.zb)
    p.save(p.exact)
    unit = "ampere/mma.m16n8k32.s32." + ".".join(dict.fromkeys(FORMATS[t] for t in p.types[:2]))
    report("--recipe", "plain", "--unit", unit, *p.words())
    wrong = []
    for name, key in (("explanation", "hypothesis"), ("model", "mismatches")):
        with open(f"one/{name}.json", encoding="utf-8") as file:
            words = json.load(file)["provenance"]["command"].split()
        if words[0] != "bitcut":
            wrong += [words]
            continue
        said = bitcut(*words[1:], "--json")
        if said.returncode or json.loads(said.stdout)[key] != rows_of(name)[0][key]:
            wrong += [(words, said.stdout[:300], said.stderr)]
    return wrong


def steps():
    """A bias and a step: the unit alone decides, and there are no exact integers."""
    a, b = (draw.integers(-128, 128, (9, 9)).astype("i1") for _ in range(2))
    bias = draw.integers(-1000, 1000, (1, 9)).astype("i4")
    for name, x in (("a", a), ("b", b), ("bias", bias)):
        np.save(f"{name}.npy", x)
    d = np.maximum(a.astype("i8") @ b + bias, 0)
    np.save("d.npy", d.astype("i4"))
    words = "--bias", "bias.npy", "--epilogue", "bias+relu", "--recipe", "plain", "--unit", "ampere/mma.m16n8k32.s32.s8"
    done, last = report(*words)
    wrong = [] if (last.get("verdict"), done.returncode) == ("ACCEPTED", 0) else [(last, done.stderr)]
    if os.path.exists("one/exact.json") or os.path.exists("one/explanation.json"):
        wrong += ["there are exact integers"]
    d[0, 0] += 1
    np.save("d.npy", d.astype("i4"))
    done, last = report(*words)
    return wrong + ([] if (last.get("verdict"), done.returncode) == ("REJECTED", 1) else [last])


def sparse():
    """A 2:4 sparse A, whose elements that are not kept are not read."""
    a, b = (draw.integers(-128, 128, s).astype("i1") for s in ((7, 16), (16, 5)))
    kept = np.zeros((7, 16), bool)
    kept[:, 1::4] = kept[:, 2::4] = True
    np.save("p.npy", np.tile([1, 2], (7, 4)).astype("u1"))
    np.save("a.npy", a)
    np.save("b.npy", b)
    np.save("d.npy", (a.astype("i4") * kept) @ b)
    done, last = report("--positions-a", "p.npy", "--recipe", "plain", "--unit", "ampere/mma.m16n8k32.s32.s8")
    rows = rows_of("exact")
    return [] if (last.get("verdict"), done.returncode, rows[0]["count"]) == ("ACCEPTED", 0, 35) else [last, rows]


def near(x, y):
    return abs(float(x) - y) <= 1e-6 * abs(y) + 1e-12


class Dequantized(Product):
    """D of FP32 values of the sums: scale-a, alpha, then C or a bias, each rounded to FP32, and to `kind`."""

    def __init__(self):
        super().__init__(least=4)  # factors of one k are factors of blocks
        if self.za == self.zb == 0:
            self.za = 7
        one, (m, n) = np.float32, self.exact.shape
        self.alpha = one(one_of(0.3, -0.0071))
        self.factors = draw.uniform(0.001, 0.01, (m, 1)).astype("f4")
        self.bias = draw.standard_normal(n).astype("f4")
        self.kind, self.steps = one_of("f4", "f4", "f2"), one_of(False, True)
        np.save("rows.npy", self.factors)
        np.save("bias.npy", self.bias)
        self.sums, size = self.dot(self.za, self.zb), abs(self.wide(self.a) - self.za) @ abs(self.wide(self.b) - self.zb)
        self.exact, self.size = self.sums * float(self.alpha), size * abs(float(self.alpha))
        if self.steps:
            self.exact = self.exact * self.factors.astype("f8") + self.bias
            self.size = self.size * self.factors.astype("f8") + abs(self.bias)
        if self.kind == "f2" and abs(self.exact).max() > 6e4:
            self.kind = "f4"
        np.save("d.npy", self.d(self.sums))

    @staticmethod
    def wide(x):
        return x.astype("i8")

    def dot(self, za, zb):
        return (self.wide(self.a) - za) @ (self.wide(self.b) - zb)

    def d(self, sums):
        v = sums.astype("f4")
        return ((v * self.factors * self.alpha + self.bias) if self.steps else v * self.alpha).astype(self.kind)

    def words(self):
        steps = ["--scale-a", "rows.npy", "--bias", "bias.npy", "--epilogue", "scale-a+alpha+bias"]
        return [f"--zero-a={self.za}", f"--zero-b={self.zb}", f"--alpha={self.alpha:.9g}"] + steps * self.steps

    def unit(self):
        return "ampere/mma.m16n8k32.s32." + ".".join(dict.fromkeys(FORMATS[t] for t in self.types[:2]))


def dequantized():
    """D without integers: the page has the errors of NumPy; wrong outputs and zero points are rejected."""
    wrong = []
    for i in range(RUNS):
        p = Dequantized()
        given = [["--recipe", "plain", "--unit", p.unit()], [], ["--recipe", "fp32", "--unit", "fma/f32"]][i % 3]
        done, last = report(*given, *p.words())
        d = p.d(p.sums)
        if (last.get("verdict"), done.returncode) != ("ACCEPTED", 0):
            wrong += [(last, done.stderr, p.words(), p.kind)]
            continue
        row = rows_of("bounds")[2]
        with open("one/report.md", encoding="utf-8") as file:
            page = file.read()
        unrounded = abs(p.d(p.sums).astype("f8") - p.exact)
        if i % 3 == 0 and (p.unit() not in page or "Where are results rounded?" not in page):
            wrong += ["the page does not name the unit, or where it rounds"]
        if given and "D equals this recipe on this unit, bit for bit" not in page:  # these sums are exact in FP32
            wrong += [("other bits", given, p.words())]
        if given and row["verdict"] != f"holds in {d.size} outputs":
            wrong += [row]
        error = (unrounded / p.size).max() * 2.0**24
        if p.kind == "f4" and not near(last["error"], error):
            wrong += [(last["error"], error)]
        counts = [sum(r["count"] for r in rows_of("emulated") if r["result"] == of) for of in ("D", given[1] if given else "plain")]
        if given and counts != [d.size, d.size]:
            wrong += [counts]
        wrong += wrong_commands() if i < 3 else []
        bad = d.copy()
        at = tuple(int(draw.integers(s)) for s in d.shape)
        bad[at] += bad.dtype.type(0.02 * max(p.size[at], 1e-3))
        for faulty in (bad, p.d(p.dot(p.za + 1, p.zb)), p.d(p.dot(0, 0))):
            if (abs(faulty.astype("f8") - p.exact) <= 2.0**-9 * p.size).all():
                continue
            np.save("d.npy", faulty)
            done, last = report("--recipe", "plain", "--unit", p.unit(), *p.words())
            if (last.get("verdict"), done.returncode) != ("REJECTED", 1):
                wrong += [(last, done.stderr, p.words())]
    return wrong


def wrong_commands():
    """The commands of a page that differ from its numbers."""
    wrong = []
    for name, key, of in (("worst", "mismatches", None), ("tolerance", None, "limits"), ("values", None, "advise"),
                          ("emulated", None, "gemm")):
        with open(f"one/{name}.json", encoding="utf-8") as file:
            line = json.load(file)["provenance"]["command"]
        words = line.split()
        if words[0] != "bitcut":
            wrong += [] if "less their zero points in files: bitcut" in line else [line]
            continue
        said = bitcut(*words[1:], "--json")
        row = json.loads(said.stdout.splitlines()[-1]) if said.stdout else {}
        if said.returncode > (of == "advise") or (key and row.get(key) != 0):
            wrong += [(line, said.returncode, said.stderr, row.get(key))]
    return wrong


def other_elements():
    """A file whose elements the unit does not have; zero points without integers."""
    np.save("x.npy", np.full((4, 8), 0.5, "f4"))
    np.save("y.npy", np.ones((8, 3), "i1"))
    np.save("z.npy", np.full((4, 3), 4, "f4"))
    files = "report", "-a", "x.npy", "-b", "y.npy", "-d", "z.npy", "-o", "one"
    shutil.rmtree("one", ignore_errors=True)
    cases = ((["--recipe", "plain", "--unit", "ampere/mma.m16n8k32.s32.s8"], 3, "-a: element [0, 0], 0.5, is not a value of s8"),
             (["--zero-a", "3"], 2, "--zero-a: zero points require A and B with formats of integers"),
             (["--zero-d", "3"], 2, "--zero-d requires a D of integers"),
             (["--zero-a", "3", "--quantize-b", "int8"], 2, "--zero-a cannot be combined with --quantize-a"))
    said = [bitcut(*files, *words) for words, _, _ in cases]
    return [(s.returncode, s.stderr) for s, (_, status, want) in zip(said, cases)
            if s.returncode != status or want not in s.stderr or s.stderr.count("\n") != 1 or os.path.exists("one")]


def shapes():
    a, b = (draw.integers(-9, 9, s).astype("i1") for s in ((6, 8), (8, 5)))
    np.save("a.npy", a)
    np.save("b.npy", b)
    np.save("d.npy", (a.astype("i4") @ b).T.copy())
    done, last = report()
    return [] if (last.get("verdict"), done.returncode) == ("REJECTED", 1) and "D is 5 x 6, but A B is 6 x 5" in last[
        "reason"] else [last, done.stderr]


def refused():
    p = Product()
    p.alpha = p.beta = 1
    p.save(np.frompyfunc(lambda x: wrap(x, p.types[3]), 1, 1)(p.exact))
    np.save("f.npy", np.ones(p.a.shape, "f4"))
    np.save("one.npy", np.ones((p.a.shape[0] + 1, p.b.shape[1]), "i4"))
    cases = ((["-a", "f.npy"], "-a must have integers if D has them"),
             (["-c", "f.npy"], "-c must have integers if D has them"),
             (["-c", "one.npy"], "C is "),
             (["--want", "1"], "--want does not apply to a D of integers"),
             (["--seconds", "1"], "--seconds does not apply to a D of integers"),
             (["--epilogue", "relu"], "requires --recipe and --unit"),
             (["--sparse-a"], "--sparse-a requires -d, --recipe and --unit"),
             (["--recipe", "plain", "--unit", "h100"], "--unit"),
             (["--beta", "2"], "--beta must be 0 without -c"),
             (["-d", "f.npy", "--zero-d", "3"], "--zero-d requires a D of integers"),
             (["--zero-a", "x"], "--zero-a requires a whole number"))
    wrong = []
    for words, want in cases:
        done, _ = report(*words)
        if done.returncode != 2 or want not in done.stderr or done.stderr.count("\n") != 1 or os.path.exists("one"):
            wrong += [(words, done.returncode, done.stderr)]
    return wrong


check("random products without a unit", without_unit(False))
check("zero points at the ends of their range", without_unit(True))
check("random products with a unit", with_unit())
check("exact integers of gemm", counted())
check("commands of the page", commands())
check("a bias and a step", steps())
check("a sparse A", sparse())
check("D of another shape", shapes())
check("dequantized results", dequantized())
check("elements that a unit does not have", other_elements())
check("refusals", refused())
plan()
