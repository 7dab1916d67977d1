# SPDX-License-Identifier: BSD-3-Clause
"""Reports on products of FP64 matrices, compared with rational arithmetic.  Run by report_fp64.sh in
an empty folder."""

import json
import os
import pathlib
import re
import shutil
import sys
from fractions import Fraction

import numpy as np

from checks import SEED, bitcut, check, plan, run

draw = np.random.default_rng(SEED)
M, N, K = 12, 10, 40
U = Fraction(1, 2**53)
FILES = "-a", "a.npy", "-b", "b.npy"
UNIT = "--unit", "h100"


def save(**matrices):
    for name, x in matrices.items():
        np.save(f"{name}.npy", x)


def report(*words, d="d.npy", files=FILES):
    """The status, the last row, and the rows of each section."""
    shutil.rmtree("one", ignore_errors=True)
    done = run("report", *files, "-d", d, "-o", "one", "--json", *words)
    last = json.loads(done.stdout.splitlines()[-1])
    sections = {path.stem: json.loads(path.read_text(encoding="utf-8"))["rows"]
                for path in pathlib.Path("one").glob("*.json")}
    return done.returncode, last, sections


def errors_of(d, a, b, alpha=1.0, beta=0.0, c=None):
    """|D - C| / |A||B| in u of every output, exactly."""
    exact = [[Fraction(x) for x in row] for row in (a.tolist())], [[Fraction(x) for x in row] for row in b.tolist()]
    to = []
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            terms = [Fraction(alpha) * exact[0][i][p] * exact[1][p][j] for p in range(a.shape[1])]
            if beta:
                terms.append(Fraction(beta) * Fraction(c[i, j].item()))
            size = sum(abs(x) for x in terms)
            to.append(float(abs(Fraction(d[i, j].item()) - sum(terms)) / size / U) if size else 0.0)
    return np.array(to).reshape(d.shape)


def near(x, y):
    return x is not None and abs(x - y) <= 1e-6 * abs(y)


def check_errors(what, last, sections, want):
    """The numbers of a report against the errors of all outputs."""
    wrong = []
    at = re.search(r"at output \((\d+), (\d+)\)", last["reason"])
    place = tuple(int(x) for x in at.groups()) if at else None
    if not place or not near(last["error"], want[place]):
        wrong.append(f"error {last['error']} at {place}")
    if not near(sections["errors"][0]["backward_max"], want.max()):
        wrong.append(f"backward_max {sections['errors'][0]['backward_max']}, not {want.max()}")
    worst = sections["worst"]
    if [(x["i"], x["j"]) for x in worst][:1] != [np.unravel_index(want.argmax(), want.shape)]:
        wrong.append(f"worst {worst[0]}, not at {np.unravel_index(want.argmax(), want.shape)}")
    for row in sections["places"]:
        if row["result"] == "D":
            lines = want if row["lines"] == "rows" else want.T
            if not near(row["error"] + 1, lines[row["index"]].max() + 1):
                wrong.append(f"{row} is {lines[row['index']].max()}")
    if len(sections["places"]) != 2 * sum(want.shape):
        wrong.append(f"{len(sections['places'])} places")
    check(what, "; ".join(wrong))


def expect(what, found, verdict, *words, status=None):
    code, last, _ = found
    want = {"ACCEPTED": 0, "REJECTED": 1, "NOT JUDGED": 3}[verdict] if status is None else status
    missing = [x for x in words if x not in last["reason"]]
    pages = [pathlib.Path("one", x).read_text(encoding="utf-8") for x in ("index.html", "report.md")]
    silent = [x for x in pages if verdict not in x]
    check(what, "" if (code, last["verdict"]) == (want, verdict) and not missing and not silent
          else f"{code} {last}, without {missing}")


def assertions():
    """The functions of the page."""
    text = pathlib.Path("one/report.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.S)


def holds(code, *matrices):
    names = {}
    exec(code, names)  # pylint: disable=exec-used
    try:
        names["assert_gemm"](*matrices)
    except AssertionError:
        return False
    return True


a = draw.uniform(-1, 1, (M, K)) * 2.0**draw.integers(-12, 1, (M, K))
b = draw.uniform(-1, 1, (K, N))
c = draw.uniform(-1, 1, (M, N))
save(a=a, b=b, c=c)
scheme = "--scheme", "ozimmu-ef", "--parts", "7", *UNIT
bitcut("gemm", *FILES, *scheme, "-o", "d.npy")
d = np.load("d.npy")

# --- a D of its scheme -------------------------------------------------------------------

found = report(*scheme)
expect("a D of its scheme", found, "ACCEPTED", "all 120 outputs have the bits of ozimmu-ef with 7 slices",
       "less accurate than an FP64 GEMM")
check_errors("its errors", *found[1:], errors_of(d, a, b))
sections = found[2]
check("its sections", "" if list(sorted(sections)) == ["bits", "distances", "errors", "explanation", "places",
                                                       "range", "schemes", "worst"] else str(list(sections)))
check("its explanation", "" if (sections["explanation"][0]["scheme"], sections["explanation"][0]["parts"],
                                sections["explanation"][0]["found"]) == ("ozimmu-ef", 7, True)
      else str(sections["explanation"]))
exponents = np.frexp(np.abs(a))[1]
ranges, counts = np.unique(exponents.max(1) - exponents.min(1), return_counts=True)
own = [(x["range"], x["count"]) for x in sections["range"] if x["operand"] == "rows of A" and x["result"] == "D"]
check("its ranges", "" if own == list(zip(ranges.tolist(), counts.tolist())) else f"{own}")
shares = [x["count"] for x in sections["distances"] if x["result"] == "D"]
check("its distances", "" if sum(shares) == M * N else str(shares))
code = assertions()
check("two functions", "" if len(code) == 2 else str(code))
pages = pathlib.Path("one/index.html").read_text(encoding="utf-8")
check("the commands of sections", "" if "bitcut verify -a a.npy -b b.npy -d d.npy --unit h100 --scheme ozimmu-ef "
      "--parts 7" in pages and "bitcut advise --fp64 -a a.npy -b b.npy" in pages else "missing")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
if os.environ["BITCUT_LIBRARY"]:
    bad = d.copy()
    bad[1, 2] = np.nextafter(bad[1, 2], 9)
    check("the function of bits", "" if holds(code[0], a, b, d) and not holds(code[0], a, b, bad) else code[0])
    bad[1, 2] *= 1 + 1e-9
    check("the function of errors", "" if holds(code[1], a, b, d) and not holds(code[1], a, b, bad) else code[1])

# --- another D ---------------------------------------------------------------------------

flipped = d.copy()
flipped[3, 4] = np.nextafter(flipped[3, 4], 9)
save(flipped=flipped)
found = report(*scheme, d="flipped.npy")
expect("a bit within the bound", found, "ACCEPTED", "1 of 120 outputs have other bits than ozimmu-ef")
check("the errors of the scheme beside it", "" if [x["result"] for x in found[2]["errors"]] ==
      ["D", "ozimmu-ef with 7 slices", "FP64 multiply-adds"] else str(found[2]["errors"]))
check("the first bit", "" if found[2]["bits"][0]["mismatches"] == 1 else str(found[2]["bits"]))

far = d.copy()
far[5, 6] *= 1 + 1e-9
save(far=far)
found = report(*scheme, d="far.npy")
expect("an error beyond the bound", found, "REJECTED", "at output (5, 6), the farthest above its limit",
       "1 of 120 outputs exceed theirs")
check_errors("its errors", *found[1:], errors_of(far, a, b))

far[0, 0] = np.nan
save(far=far)
expect("a NaN", report(*scheme, d="far.npy"), "REJECTED", "1 of 120 outputs are NaN or infinite")
expect("a NaN of DGEMM", report(d="far.npy"), "REJECTED", "1 of 120 outputs are NaN or infinite")

# --- without a scheme --------------------------------------------------------------------

save(plain=a @ b)
found = report(d="plain.npy")
expect("a DGEMM", found, "ACCEPTED", "limits are those of an FP64 GEMM")
check_errors("its errors", *found[1:], errors_of(a @ b, a, b))
check("no comparison of bits", "" if "bits" not in found[2] else str(found[2]["bits"]))
code = assertions()
if os.environ["BITCUT_LIBRARY"]:
    check("its function", "" if holds(code[0], a, b, a @ b) and not holds(code[0], a, b, d) else str(code))
expect("a scheme as DGEMM", report(), "REJECTED", "D has the bits of ozimmu-ef with 7 slices; with --scheme")
expect("fp64 by name", report("--scheme", "fp64", *UNIT, d="plain.npy"), "ACCEPTED")

# --- factors, batches, slices of k -------------------------------------------------------

factors = "-c", "c.npy", "--alpha", "0.3", "--beta", "-2"
bitcut("gemm", *FILES, *factors, *scheme, "-o", "e.npy")
found = report(*factors, *scheme, d="e.npy")
expect("alpha, beta and C", found, "ACCEPTED", "all 120 outputs have the bits")
check_errors("its errors", *found[1:], errors_of(np.load("e.npy"), a, b, 0.3, -2.0, c))
code = assertions()
if os.environ["BITCUT_LIBRARY"]:
    e = np.load("e.npy")
    check("its functions", "" if holds(code[0], a, b, c, e) and holds(code[1], a, b, c, e) and
          not holds(code[0], a, b, 2 * c, e) else str(code))
save(batch=np.stack([d, d]), a2=np.stack([a, a]))
expect("one GEMM of a batch", report(*scheme, "--index", "1", d="batch.npy", files=("-a", "a2.npy", "-b", "b.npy")),
       "ACCEPTED", "all 120 outputs")

wide = draw.uniform(-1, 1, (4, 1100)), draw.uniform(-1, 1, (1100, 3))
save(aw=wide[0], bw=wide[1])
of_wide = "-a", "aw.npy", "-b", "bw.npy"
fixed = "--scheme", "cublas-fixed", *UNIT, "--split-k", "3"
bitcut("gemm", *of_wide, *fixed, "-o", "w.npy")
expect("no bound, and the bits", report(*fixed, d="w.npy", files=of_wide), "ACCEPTED", "bound is not known",
       "all 12 outputs have the bits of cublas-fixed with 7 slices (--split-k 3)")
w = np.load("w.npy")
w[2, 1] = np.nextafter(w[2, 1], 9)
save(w=w)
expect("no bound, and a bit", report(*fixed, d="w.npy", files=of_wide), "NOT JUDGED", "bound is not known")

# --- a scheme that is wrong --------------------------------------------------------------

save(aw=draw.uniform(0, 0.1, (4, 1100)), bw=draw.uniform(0, 0.1, (1100, 3)))
fast = "--scheme", "gemmul8-fast", "--parts", "14", *UNIT
bitcut("gemm", *of_wide, *fast, "-o", "w.npy")
expect("a scheme that is wrong", report(*fast, d="w.npy", files=of_wide), "REJECTED",
       "the scheme is wrong on these data", "all 12 outputs have the bits")

# --- elements that are not finite --------------------------------------------------------

a[1, 1] = np.inf
save(a=a, plain=a @ b)
found = report(d="plain.npy")
check("an infinity", "" if found[1]["verdict"] in ("ACCEPTED", "NOT JUDGED") and "schemes" not in found[2]
      else str(found))
plan()
