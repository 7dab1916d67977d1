# SPDX-License-Identifier: BSD-3-Clause
"""Reports on random batches, whose errors NumPy computes in binary64.  Run by report_batches.sh in an empty
folder."""

import json
import os
import shutil

import numpy as np

from checks import SEED, WHOLE, bitcut, check, plan, run

RUNS = int(os.environ.get("BITCUT_RUNS", 3))
draw = np.random.default_rng(SEED)
FILES = ["-a", "a.npy", "-b", "b.npy", "-d", "d.npy"]
WAYS = (["--recipe", "ootomo", "--unit", "h100"], ["--recipe", "fp32", "--unit", "fma/f32"],
        ["--recipe", "plain", "--unit", "a100"])


class Batch:
    """alpha A B + beta C; A or C may be one matrix for all."""

    def __init__(self, way):
        m, n, k = (int(x) for x in draw.integers(4, 24, 3))
        self.count, self.way = int(draw.integers(2, 6)), way
        one_a, has_c, one_c = draw.random(3) < 0.4
        self.a = draw.standard_normal((m, 8 * k) if one_a else (self.count, m, 8 * k)).astype("f4")
        self.b = draw.standard_normal((self.count, 8 * k, n)).astype("f4")
        self.c = draw.standard_normal((m, n) if one_c else (self.count, m, n)).astype("f4")
        for name, x in zip("abc", (self.a, self.b, self.c)):
            np.save(f"{name}.npy", x)
        self.alpha, self.beta = float(np.float32(draw.choice([1, -0.37]))), 0.5 if has_c else 0.0
        self.more = [f"--alpha={self.alpha:.9g}"] + ["-c", "c.npy", "--beta=0.5"] * bool(has_c)
        bitcut("gemm", *FILES[:4], *self.more, *way, "-o", "d.npy", "--reference", "none")
        self.d = np.load("d.npy")
        a, b, c = (x.astype("f8") for x in (self.a, self.b, self.c))
        self.exact = self.alpha * (a @ b) + self.beta * c
        self.size = abs(self.alpha) * (abs(a) @ abs(b)) + abs(self.beta * c)

    def errors(self):
        """Of each GEMM: its largest error, that in norms, and wrong outputs."""
        with np.errstate(invalid="ignore"):
            left = abs(self.d - self.exact)
        return [((x / s).max() * 2.0**24, np.linalg.norm(x) / np.linalg.norm(e), (~np.isfinite(x)).sum())
                for x, s, e in zip(left, self.size, self.exact)]

    def report(self, *words):
        np.save("d.npy", self.d)
        shutil.rmtree("one", ignore_errors=True)
        done = run("report", *FILES, *self.more, *self.way, *words, "-o", "one", "--json")
        return done, json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}


def table():
    with open("one/batch.json", encoding="utf-8") as file:
        return json.load(file)["rows"]


def wrong_table(p):
    """Each row is that of NumPy, the largest error first."""
    of, rows = p.errors(), table()
    good = len(rows) == min(p.count, 16) and sorted(r["gemm"] for r in rows) == list(range(p.count))
    for r in rows:
        error, relres, wrong = of[r["gemm"]]
        good &= r["wrong"] == wrong and (wrong or (abs(r["error"] - error) < 1e-4 * error + 1e-6
                                                   and abs(r["relres"] - relres) < 1e-4 * relres + 1e-12))
    order = [(-of[r["gemm"]][2], -of[r["gemm"]][0] if not of[r["gemm"]][2] else 0) for r in rows]
    good &= all(x <= (y[0], y[1] + 1e-3) for x, y in zip(order, order[1:]))
    return [] if good else [(rows, of)]


def commands(shown):
    """The commands of sections about one GEMM have its index, and run."""
    wrong = []
    for name in ("emulated", "worst", "bounds", "values", "explanation", "batch", "tolerance"):
        with open(f"one/{name}.json", encoding="utf-8") as file:
            line = json.load(file)["provenance"]["command"]
        of_all = name in ("batch", "tolerance")
        if (f" --index {shown}" in line) == of_all or "--index" in line and of_all:
            wrong += [line]
        if run(*line.split()[1:]).returncode > 1:
            wrong += [line]
    return wrong


def right():
    wrong = []
    for i in range(RUNS):
        p = Batch(WAYS[i % 3])
        done, last = p.report()
        if (last.get("verdict"), done.returncode) != ("ACCEPTED", 0):
            wrong += [(last, done.stderr)]
            continue
        shown = max(range(p.count), key=lambda g: p.errors()[g][0])
        if f"of GEMM {shown} of {p.count}" not in last["reason"]:
            wrong += [(shown, last["reason"])]
        wrong += wrong_table(p) + (commands(shown) if i == 0 else [])
    return wrong


def faulty():
    """One output of one GEMM is wrong, or NaN: the batch is rejected, and the GEMM is named; the others are not."""
    wrong = []
    for i in range(RUNS):
        p = Batch(WAYS[i % 3])
        at = tuple(int(draw.integers(s)) for s in p.d.shape)
        if i % 2:
            p.d[at] = np.nan
        else:
            p.d[at] += np.float32(p.size[at] * 0.03)
        done, last = p.report("--seconds", "1")
        if (last.get("verdict"), done.returncode) != ("REJECTED", 1) or table()[0]["gemm"] != at[0]:
            wrong += [(last, at, done.stderr)]
        if not i % 2 and f"at output ({at[1]}, {at[2]}) of GEMM {at[0]} of {p.count}" not in last["reason"]:
            wrong += [(last["reason"], at)]
        wrong += wrong_table(p)
        for index in (at[0], (at[0] + 1) % p.count) if WHOLE or i == 0 else ():
            done, last = p.report("--index", index, "--seconds", "1")
            want = ("REJECTED", 1) if index == at[0] else ("ACCEPTED", 0)
            if (last.get("verdict"), done.returncode) != want or os.path.exists("one/batch.json"):
                wrong += [(index, at, last, done.stderr)]
    return wrong


def alone():
    """--index gives the page of the GEMM from files of two dimensions."""
    p = Batch(WAYS[0])
    index = p.count - 1
    _, of_batch = p.report("--index", index)
    one = [x[index] if x.ndim == 3 else x for x in (p.a, p.b, p.c, p.d)]
    for name, x in zip("abcd", one):
        np.save(f"{name}.npy", x)
    p.d = one[3]
    _, last = p.report()
    keys = "verdict", "reason", "error", "limit"
    return [] if [last[k] for k in keys] == [of_batch[k] for k in keys] else [(last, of_batch)]


def refused():
    p = Batch(WAYS[0])
    p.report()
    np.save("two.npy", p.d[:1].repeat(p.count + 1, 0))
    np.save("short.npy", p.b[:, 1:])
    np.save("bias.npy", np.ones(p.d.shape[2], "f4"))
    shutil.rmtree("one", ignore_errors=True)
    cases = ((FILES[:4], "-a, -b have a batch: -d or --index is required"),
             ([*FILES, "--index", p.count], f"--index: {p.count} is not below {p.count}"),
             ([*FILES[:4], "-d", "two.npy"], "matrices, but"),
             ([*FILES, "--bias", "bias.npy"], "--index is required for a batch with more than"),
             ([*FILES, "--sparse-a", *p.way], "--index is required for a batch with more than"),
             ([*FILES[:2], "-b", "short.npy", "-d", "d.npy"], "matrices: A is "),
             (["--index", "0"], "--index requires a report on one product"))
    said = [run("report", *map(str, words), "-o", "one") for words, _ in cases]
    return [(s.returncode, s.stderr, want) for s, (_, want) in zip(said, cases)
            if s.returncode != 2 or want not in s.stderr or s.stderr.count("\n") != 1 or os.path.exists("one")]


check("batches of right results", right())
check("a wrong output of a batch", faulty())
check("one GEMM of a batch", alone())
check("refusals", refused())
plan()
