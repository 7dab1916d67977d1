# SPDX-License-Identifier: BSD-3-Clause
"""The whole table of faults, diagnosed: of each fault of tests/identify/faulty, and of faults of a
bias and of factors, how often `explain` is right, wrong, or has no answer.  Kernels have the bits of a
recipe on a unit, which are told ("told") or not ("open"), or sums in an order that no model has
("order"), so that only the error can tell.  Shapes, recipes and formats of D are drawn.

Every fault and mode with BITCUT_WHOLE, which prints the table; otherwise some of them.  BITCUT_SEED
selects other draws, BITCUT_FAULT and BITCUT_MODE faults and modes."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections import Counter

from helper import WHOLE, needs_numpy, numpy

import bitcut

SEED = int(os.environ.get("BITCUT_SEED", "1"))
ONLY = os.environ.get("BITCUT_FAULT", "").split()
CASES = 8  # of those with BITCUT_WHOLE
FAULTY = pathlib.Path("tests/identify/faulty").resolve()
MODES = tuple(os.environ.get("BITCUT_MODE", "told open order").split())
EFFORT = {"told": 0.05, "open": 0.02, "order": 0.005}
KERNELS = (("ootomo", "ampere/mma.m16n8k16.f32.f16"), ("legemm", "hopper/mma.m16n8k16.f32.f16"),
           ("markidis", "volta/mma.m8n8k4.f32.f16"), ("tf32x3", "hopper/mma.m16n8k8.f32.tf32"),
           ("plain", "ampere/mma.m16n8k16.f32.bf16"), ("plain", "hopper/mma.m16n8k16.f32.f16"),
           ("fp32", "fma/f32"))
SHORT = ("f16", "bf16", "e4m3")

# Answers that are right for a fault: names of explain's faults and findings, and what the sentence must
# have; a fault may have several rows.  The answer `clean` has no fault: a variation of the kernel that
# gives every bit; `operands` and `rounding` are diagnoses.  For faults of class "outside", and those
# without a row, it is right as well that nothing explains D.
ANSWERS = """
drop-lh            | term missing, low parts zero | A
drop-hl            | term missing, low parts zero | B
drop-ll            | term missing, clean |
drop-hh            | term missing | high(A) high(B) is missing
drop-corrections   | corrections missing, clean, operands |
drop-corrections   | rounding | tf32
drop-corrections   | rounding | plain
hh-twice           | term twice | high(A) high(B) is added twice
hh-twice           | factor, result twice | 2
lh-twice           | term twice | low(A) high(B) is added twice
hl-twice           | term twice | high(A) low(B) is added twice
lh-for-hl          | wrong parts | high(A) low(B) is computed as low(A) high(B)
lh-for-hh          | wrong parts | high(A) high(B) is computed as low(A) high(B)
terms-reversed     | clean |
one-accumulator    | one accumulator, epilogue scale missing |
low-low-added      | wrong accumulator, clean |
low-low-in-main    | wrong accumulator |
high-rn            | clean, operands |
high-rz            | clean, operands |
high-rna           | clean, operands |
low-rn             | clean, operands |
low-rz             | clean, operands |
low-rna            | clean, operands |
high-saturates     | clean, operands |
low-nan-zeroed     | low parts not finite zeroed, rounding |
low-nan-zeroed     | operands | overflow
high-via-bf16      | high parts through another format | bf16
high-via-bf16      | operands | A and B are rounded to bf16
low-via-bf16       | low parts through another format | bf16
low-not-scaled     | low parts not scaled, epilogue scale twice |
low-not-scaled     | term scaled | products of low parts are multiplied by 2^-
low-times-8        | term scaled, epilogue scale wrong |
split-scale        | epilogue scale wrong, term scaled |
fold-scale         | epilogue scale wrong, term scaled |
other-scale        | clean |
low-flushed        | subnormal parts flushed, clean |
high-flushed       | subnormal high parts lost, small inputs flushed, subnormal parts flushed |
inputs-flushed     | small inputs flushed |
inputs-flushed     | subnormal parts flushed | read as zeros
residual-negated   | residual negated |
residual-short     | residual short, clean |
residual-of-other  | residual of another part |
low-is-high        | low parts are high parts |
low-is-high        | factor | 4
low-is-high        | result scaled | 1 + 0.00195
low-of-b           | parts of the other operand | the low parts of B
high-of-b          | parts of the other operand | the high parts of B
b-not-split        | low parts zero, term missing |
slice-lost         | k lost |
slice-middle-lost  | k lost |
slice-twice        | k twice |
slice-first-only   | k lost |
slice-overlap      | slices overlap, k twice |
slice-descending   | clean |
slice-pairs        | clean |
slice-f16          | partial sums short, clean | f16
race-lost-slice    | k lost | row
race-twice         | k twice | row
race-early         | k lost | row
race-order         | another order |
k-descending       | k descending, clean |
k-even-odd         | k with stride |
k-first-step-lost  | k lost |
k-last-step-lost   | k lost |
k-partial-lost     | k lost |
k-step-lost        | k lost |
k-step-twice       | k twice |
k-step-twice       | slices overlap | each slice after the first begins
k-warp-late        | k lost | row
k-tile-short       | k lost | row
stage-stale        | k stale |
stage-stale-tile   | k stale | row
start-nonzero      | accumulator not cleared, bias | 0.1
start-tiny         | accumulator not cleared, bias | 0.00
start-warp         | accumulator not cleared, bias | 2.7
accumulate-f16     | accumulator short, clean | f16
accumulate-f16     | partial sums short | f16
accumulate-f16     | rounding | .f16.f16
accumulate-bf16    | accumulator short, partial sums short | bf16
accumulate-tf32    | accumulator rounding |
accumulate-tf32    | accumulator short | tf32
accumulate-tf32    | accumulator short, partial sums short | f16
promote-interval   | clean |
promote-more-often | clean |
promote-never      | clean |
promote-no-reset   | promotion without clearing |
promote-no-reset   | k twice | from 0
promote-stores     | promotion overwrites, k lost |
promote-rz         | promotion truncated |
promote-f16        | promotion in short, accumulator short | f16
promote-via-bf16   | promotion through short, partial sums short | bf16
promote-rest-lost  | promotion forgets the remainder, k lost |
fold-missing       | epilogue scale missing, one accumulator |
fold-twice         | epilogue scale twice, low parts not scaled |
fold-off-by-one    | epilogue scale wrong |
alpha-ignored      | alpha ignored |
alpha-twice        | alpha twice |
beta-ignored       | C ignored |
c-not-scaled       | beta ignored |
c-twice            | C twice |
c-times-alpha      | C times alpha |
c-subtracted       | C subtracted |
c-for-product      | C instead of the product |
c-transposed       | C column-major |
alpha-beta-swapped | alpha and beta swapped |
epilogue-not-fused | clean |
epilogue-other-fma | clean |
epilogue-rz        | epilogue truncated |
a-transposed       | column-major, clean |
a-transposed       | transposed | A is transposed
a-transposed       | rounding, operands | : A
b-transposed       | column-major, clean |
b-transposed       | transposed | B is transposed
b-transposed       | rounding, operands | : B
d-transposed       | column-major, clean |
d-transposed       | transposed | the transpose of A B
d-transposed       | rounding, operands | : D
k-beyond-end       | not masked |
b-next-k           | wrong k, k shifted |
b-k-pairs          | wrong k, k swapped |
a-k-halves         | wrong k, k swapped |
a-rows-swapped     | wrong rows or columns, rows moved, moved |
b-columns-swapped  | wrong rows or columns, columns moved, moved |
a-next-row         | wrong rows or columns, rows moved |
b-next-column      | wrong rows or columns, columns moved |
b-half-fragment    | wrong rows or columns, columns moved |
b-half-fragment    | moved | to the left
b-stale-lanes      | stale rows or columns |
b-stale-lanes      | wrong k | is read in place of k
a-step-stale       | k of A stale |
b-step-stale       | k of B stale |
b-leading-dimension | leading dimension | B
lanes-swapped      | moved, wrong rows or columns, columns moved |
tiles-swapped      | moved, wrong rows or columns, columns moved |
tile-stale         | moved, wrong rows or columns, tiles moved |
tile-stale         | not written | results of other positions
tile-zero          | not written | 
tile-nan           | not written | NaN
tile-earlier       | not written |
tiles-zero         | not written |
edge-zero          | not written |
edge-earlier       | not written |
last-row-zero      | not written |
last-row-shifted   | moved, wrong rows or columns, rows moved |
odd-columns-zero   | not written |
tile-doubled       | result twice, k twice |
tile-doubled       | term twice | the result is added to itself
warp-negated       | result negated |
warp-negated       | factors | -1
all-zero           | not written |
all-nan            | not written |
relu               | ReLU, negative results are zeros |
out-f16            | store short, clean | f16
out-f16-rz         | store truncated, store short | f16
out-bf16           | store short, clean | bf16
out-bf16-rz        | store truncated, store short | bf16
out-tf32           | store short, clean | tf32
out-tf32           | store short | f16
kahan              | rounding |
dot2               | rounding |
pairwise           | clean, rounding |
double             | clean, rounding |
any-order          | rounding |
stochastic         | rounding |
fixed-point        | rounding |
to-odd             | rounding |
by-sign            | rounding |
strassen           | rounding |
dithered           | store short | f16
four-bits          | clean, operands |
scaled             | wrong parts, term scaled |
scaled             | result scaled | 1 + 
kept-biased        | rounding, operands | biased away from zero
scaled-by-row      | result scaled | 1 + 
small-zeroed       | not written |
bias-missing       | step missing | bias
bias-twice         | step twice | bias
factors-ignored    | factors ignored | A
"""


def answers():
    """Of each fault: pairs of the names that are right and what the sentence must have."""
    right = {}
    for line in ANSWERS.strip().splitlines():
        fault, names, words = (x.strip() for x in line.split("|"))
        right.setdefault(fault, []).append(({x.strip() for x in names.split(",")}, words))
    return right


RIGHT = answers()


def known():
    """Faults, each with its class."""
    out = subprocess.run([FAULTY, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {**{line.split()[0]: line.split()[1] for line in out.splitlines()},
            **dict.fromkeys(TOLD, "told")}


# --- kernels with factors and a bias -------------------------------------------------------

def told(d, draw, wrong):
    """D with factors of A and a bias; some rows have wrong ones.  Returns D, the right D, and arguments."""
    factors = numpy.exp(draw.normal(size=len(d))).astype("f4")
    bias = draw.normal(size=d.shape[1]).astype("f4")
    right, rows = d * factors[:, None] + bias, slice(int(draw.integers(len(d) // 2)), None)
    faulty = right.copy()
    faulty[rows] = wrong(d[rows], factors[rows, None], bias)
    return faulty, right, {"scale_a": factors, "bias": bias}


TOLD = {"bias-missing": lambda d, factors, bias: d * factors,
        "bias-twice": lambda d, factors, bias: d * factors + bias + bias,
        "factors-ignored": lambda d, factors, bias: d + bias}


HUGE = ("none-huge", "high-saturates", "low-nan-zeroed")  # D that short formats do not hold


# --- cases ---------------------------------------------------------------------------------

class Case:
    """A kernel with a fault: its arrays, what explain is told, and whether the fault can be seen."""

    def __init__(self, fault, mode, number):
        self.fault, self.mode = fault, mode
        self.draw = numpy.random.default_rng([SEED, number, *mode.encode(), *fault.encode()])
        self.applies = any(self.make(*KERNELS[i])
                           for i in self.draw.permutation(len(KERNELS)))

    def make(self, recipe, unit):
        """Run the injector.  False: this kernel cannot have the fault, or its D is right."""
        m, n, k = (int(x) for x in self.draw.integers((17, 17, 70), (72, 72, 300)))
        seed, injected = int(self.draw.integers(1 << 30)), "none" if self.fault in TOLD else self.fault
        if self.fault in TOLD:
            seed |= 1
        self.kernel = (recipe, unit, m, n, k, seed)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([FAULTY, folder, recipe + ":order=any" * (self.mode == "order"), unit,
                                   *map(str, (m, n, k, seed)), injected],
                                  stderr=subprocess.PIPE, check=False)
            if done.returncode == 77:
                return False
            assert done.returncode == 0, done.stderr
            self.truth = json.loads(pathlib.Path(folder, "truth.json").read_text())
            self.load = {x.stem.lower(): numpy.load(x) for x in pathlib.Path(folder).glob("?.npy")}
        self.finish()
        return self.truth["class"] == "none" or self.changed() > 0

    def finish(self):
        """D and the arguments of explain."""
        self.given = {}
        if "c" in self.load:
            self.given = {"c": self.load["c"], "alpha": self.truth["alpha"], "beta": self.truth["beta"]}
        if self.fault in TOLD:
            self.load["d"], self.load["r"], self.given = told(self.load["r"], self.draw, TOLD[self.fault])
        if self.draw.integers(4) == 0 and self.fault not in HUGE:
            self.given["format_d"] = str(self.draw.choice(SHORT))
        if self.mode == "told":
            self.given.update(recipe=self.kernel[0], unit=self.kernel[1])

    def stored(self, x):
        """Values of x in the format of D."""
        name = self.given.get("format_d")
        return bitcut.convert(bitcut.convert(x, name), "f32", format=name) if name else x

    def changed(self):
        d, r = self.stored(self.load["d"]), self.stored(self.load["r"])
        return int(numpy.sum((d.view("u4") != r.view("u4")) & ~(numpy.isnan(d) & numpy.isnan(r))))

    def is_visible(self):
        """Whether most outputs with the fault change by more than the rounding of a correct kernel."""
        a, b, d, r = (self.load[x].astype("f8") for x in "abdr")
        with numpy.errstate(all="ignore"):
            size = abs(self.truth["alpha"]) * (abs(a) @ abs(b))
            if "c" in self.load:
                size += abs(self.truth["beta"] * self.load["c"])
            if "scale_a" in self.given:
                size = size * self.given["scale_a"][:, None] + abs(self.given["bias"])
            level = 2.5 * size * 2.0**-24
            bits = {"f16": 11, "bf16": 8, "e4m3": 4}.get(self.given.get("format_d"))
            if bits:
                level = level + abs(r) * 2.0**(1 - bits)
            far = ~(abs(d - r) <= level)[d.astype("f4").view("u4") != r.astype("f4").view("u4")]
        return far.size > 0 and far.mean() > 0.5

    def explain(self):
        d = self.load["d"]
        if "format_d" in self.given:
            d = bitcut.convert(d, self.given["format_d"])
        return bitcut.explain(d, self.load["a"], self.load["b"], effort=EFFORT[self.mode], **self.given)

    def is_right(self, names, said):
        return any(names & right and words in said for right, words in RIGHT.get(self.fault, ()))

    def judge(self, found):
        """right, same (another fault that gives all the bits), wrong, none, or unseen."""
        correct = self.truth["class"] == "none" or not self.changed()
        level = found.diagnosis
        if found:
            names = {found.fault or "clean"}
            return "right" if (correct and not found.fault) or self.is_right(names, str(found)) else "same"
        if self.is_right({found.fault, level, *(f.name for f in found.findings)}, str(found)):
            return "right"
        if level in ("rounding", "operands") and (correct or not self.is_visible()):
            return "right" if correct else "unseen"
        if level in ("unexplained", "none") and not found.fault:
            outside = self.fault not in RIGHT or self.truth["class"] == "outside"
            return "right" if outside and not correct else "none"
        return "wrong"


def describe(case, found, verdict):
    recipe, unit, *sizes, seed = case.kernel
    return (f"# {verdict} {case.fault} {case.mode}: {recipe} {unit} {'x'.join(map(str, sizes))} seed {seed}"
            f" {case.given.get('format_d', 'f32')}{' c' * ('c' in case.given)}: {found.diagnosis},"
            f" {found.fault}, {[f.name for f in found.findings]}: {str(found)[:400]}")


@needs_numpy
@unittest.skipUnless(FAULTY.exists(), "needs tests/identify/faulty")
class Table(unittest.TestCase):
    def count(self, cases):
        table = {}
        for case in cases:
            if not case.applies:
                continue
            found = case.explain()
            verdict = case.judge(found)
            table.setdefault((case.fault, case.mode), Counter())[verdict] += 1
            if verdict in ("wrong", "none", "same") and (WHOLE or ONLY or verdict == "wrong"):
                print(describe(case, found, verdict), flush=True)
        return table

    def test_table(self):
        faults = {x: c for x, c in known().items() if not ONLY or x in ONLY}
        draw = numpy.random.default_rng(SEED)
        cases = [(fault, mode) for fault in faults for mode in MODES]
        if not WHOLE and not ONLY:
            cases = [cases[i] for i in sorted(draw.choice(len(cases), CASES, replace=False))]
        repeats = int(os.environ.get("BITCUT_REPEATS", "1"))
        table = self.count(Case(*c, number) for c in cases for number in range(repeats))
        total = {mode: Counter() for mode in MODES}
        for (fault, mode), row in table.items():
            total[mode] += row
        print(f"# seed {SEED}")
        if WHOLE or ONLY:
            for fault in faults:
                print(f"# {fault:20}", *(f"{mode}: {dict(table.get((fault, mode), {}))}" for mode in MODES))
        for mode in MODES:
            print(f"# {mode}: {dict(total[mode])}", flush=True)
        every = sum(total.values(), Counter())
        self.assertEqual(every["wrong"], 0, f"seed {SEED}")
        self.assertLessEqual(every["none"] * 100, (8 if WHOLE else 25) * sum(every.values()), f"seed {SEED}")


if __name__ == "__main__":
    unittest.main()
