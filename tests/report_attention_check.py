# SPDX-License-Identifier: BSD-3-Clause
"""Reports on attentions, compared with a softmax in NumPy.  Run by report_attention.sh in an empty
folder."""

import json
import os
import pathlib
import re
import shlex
import shutil
import sys

import numpy as np

from checks import SEED, WHOLE, bitcut, check, plan, run

draw = np.random.default_rng(SEED)
HEADS, KV, QUERIES, KEYS, DIM, VALUES = 4, 2, 20, 36, 16, 12
FILES = "-q", "q.npy", "-k", "k.npy", "-v", "v.npy"
U = 2.0**-11
BRIEFLY = () if WHOLE else ("--seconds", "0.5")  # of a search that finds nothing
SECTIONS = ["algorithms", "bits", "bounds", "budget", "distances", "errors", "explanation", "places", "tolerance",
            "worst"]
PARTS = ["operands", "scores", "exponents", "rescale", "exp", "cast", "alignment", "accumulation", "sum", "division",
         "merge", "output"]


def save(**matrices):
    for name, x in matrices.items():
        np.save(f"{name}.npy", x)


def exact(q, k, v, causal=False, right=None, scale=None):
    """softmax(scale Q K^T) V and the mean of |V|, in binary64."""
    q, k, v = (x.astype(float) for x in (q, k, v))
    group = q.shape[0] // k.shape[0]
    k, v = np.repeat(k, group, 0), np.repeat(v, group, 0)
    s = q @ k.transpose(0, 2, 1) * (1 / np.sqrt(q.shape[2]) if scale is None else scale)
    if causal or right is not None:
        i, j = np.mgrid[:q.shape[1], :k.shape[1]]
        s = np.where(j > i + k.shape[1] - q.shape[1] + (right or 0), -np.inf, s)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return p @ v, p @ np.abs(v)


def report(*words, o="o.npy", files=FILES):
    """The status, the last row, and the rows of each section."""
    shutil.rmtree("one", ignore_errors=True)
    verify = ("--verify", o) if o else ()
    done = run("report", *files, *verify, "-o", "one", "--json", "--threads", "1", *words)
    if not done.stdout:
        return done.returncode, {"reason": done.stderr, "verdict": None}, {}
    sections = {path.stem: json.loads(path.read_text(encoding="utf-8"))["rows"]
                for path in pathlib.Path("one").glob("*.json")}
    return done.returncode, json.loads(done.stdout.splitlines()[-1]), sections


def page():
    return pathlib.Path("one/report.md").read_text(encoding="utf-8")


def expect(what, found, verdict, *words):
    code, last, _ = found
    want = {"ACCEPTED": 0, "MEASURED": 0, "REJECTED": 1, "NOT JUDGED": 3}[verdict]
    missing = [x for x in words if x not in last["reason"]]
    silent = [x for x in ("index.html", "report.md")
              if verdict not in pathlib.Path("one", x).read_text(encoding="utf-8")]
    check(what, "" if (code, last["verdict"]) == (want, verdict) and not missing and not silent
          else f"{code} {last}, without {missing}")


def near(x, y, part=1e-3):
    return x is not None and abs(x - y) <= part * abs(y) + 1e-6


def check_numbers(what, last, sections, o, want, size):
    """The numbers of a report against those of all outputs."""
    error = np.abs(o.astype(float) - want) / size / U
    wrong = []
    at = re.search(r"at head (\d+), query (\d+), column (\d+)", last["reason"])
    place = tuple(int(x) for x in at.groups()) if at else None
    if not place or not near(last["error"], error[place]) or not near(error[place], error.max()):
        wrong.append(f"error {last['error']} at {place}, not {error.max()}")
    own = next(x for x in sections["errors"] if x["result"] == "O")
    norm = np.sqrt(((o.astype(float) - want)**2).sum() / (size**2).sum()) / U
    relres = np.linalg.norm((o.astype(float) - want).ravel()) / np.linalg.norm(want.ravel())
    if not near(own["error"], error.max()) or not near(own["norm"], norm) or not near(own["relres"], relres):
        wrong.append(f"{own}, not {error.max()}, {norm}, {relres}")
    worst = sections["worst"]
    places = [(x["head"], x["query"], x["column"]) for x in worst]
    if len(set(places)) != 8 or not all(near(x["error"], error[p]) and near(x["exact"], want[p]) and
                                        x["result"] == float(o[p]) for x, p in zip(worst, places)):
        wrong.append(f"worst {worst}")
    if sorted((error[p] for p in places), reverse=True) != [error[p] for p in places]:
        wrong.append(f"order {places}")
    for x in worst:
        parts = sum(x[p] for p in PARTS) + x["unexplained"]
        if not near(abs(parts), x["error"], 1e-6):
            wrong.append(f"parts {parts} of {x['error']}")
    for axis, by in enumerate(["heads", "queries", "columns"]):
        most = error.max(axis=tuple(x for x in range(3) if x != axis))
        rows = [x for x in sections["places"] if x["by"] == by and x["result"] == "O"]
        if len(rows) != len(most) or not all(near(x["error"], most[x["index"]]) for x in rows):
            wrong.append(f"{by} {rows[:3]}, not {most[:3]}")
    if sum(x["count"] for x in sections["distances"] if x["result"] == "O") != o.size:
        wrong.append("distances")
    check(what, "; ".join(wrong))


def functions():
    return re.findall(r"```python\n(.*?)```", page(), re.S)


def holds(code, *matrices):
    names = {}
    exec(code, names)  # pylint: disable=exec-used
    try:
        names["assert_attention"](*matrices)
    except AssertionError:
        return False
    return True


q, k, v = (draw.standard_normal(shape).astype(np.float16) for shape in
           ((HEADS, QUERIES, DIM), (KV, KEYS, DIM), (KV, KEYS, VALUES)))
save(q=q, k=k, v=v)
row = "--row", "pytorch-flash", "--causal"
bitcut("attention", *FILES, *row, "--reference", "none", "-o", "o.npy")
o = np.load("o.npy")
want, size = exact(q, k, v, causal=True)

# --- an O of a row -----------------------------------------------------------------------

found = report("--causal")
expect("an O of a row", found, "ACCEPTED", "u |V|", "limits are those of ", "which computed O")
check_numbers("its errors", *found[1:], o, want, size)
sections = found[2]
check("its sections", "" if sorted(sections) == SECTIONS else str(list(sections)))
told = sections["explanation"][0]
check("its explanation", "" if told["found"] and not told["fault"] and told["mismatches"] == 0 else str(told))
rows = [x["algorithm"] for x in sections["algorithms"]]
known = json.loads("[" + ",".join(bitcut("list", "attentions", "--json").splitlines()) + "]")
check("every algorithm", "" if sorted(rows) == sorted(["O"] + [x["name"] for x in known]) else str(rows))
relres = [x["relres"] for x in sections["algorithms"][1:] if x["relres"] is not None]
check("the best first", "" if relres == sorted(relres) and "is the most accurate algorithm here" in page() else
      str(relres))
check("the budget", "" if [x["name"] for x in sections["budget"]] == PARTS + ["error"] else str(sections["budget"]))
check("the bounds", "" if [x["violations"] for x in sections["bounds"]] == [0, 0] else str(sections["bounds"]))
code = functions()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
if os.environ["BITCUT_LIBRARY"]:
    bad = o.copy()
    bad[1, 2, 3] += np.float16(0.25)
    check("the function", "" if len(code) == 1 and holds(code[0], o, q, k, v) and not holds(code[0], bad, q, k, v)
          else str(code))
lines = re.findall(r"^Numbers: `(bitcut attention .*?)`", page(), re.M)
done = [run(*shlex.split(x)[1:], "--json") for x in (lines[0], lines[1])]
same = json.loads(done[1].stdout)["errors"]["relres"] == sections["errors"][0]["relres"]
check("commands of sections", "" if len(lines) == 9 and same and json.loads(done[0].stdout)["found"] else str(lines))

# --- another O ---------------------------------------------------------------------------

found = report(*row, "--vary", "block-n=16")
expect("a row that was given", found, "ACCEPTED", "limits are those of pytorch-flash with block-n=16, as given")
check("its bits", "" if found[2]["bits"][0]["row"] == "pytorch-flash" else str(found[2]["bits"]))

# A row without bounds: its limits alone decide.
sage = "--row", "sage-attention-1", "--causal"
bitcut("attention", *FILES, *sage, "--reference", "none", "-o", "sage.npy")
test = json.loads(bitcut("attention", *FILES, *sage, "--verify", "sage.npy", "--tolerance", "--json"))
far = np.load("sage.npy")
far[2, 9, 1] = want[2, 9, 1] + 1.5 * test["limits"]["limit"] * U * size[2, 9, 1]
save(far=far)
found = report(*sage, o="far.npy")
expect("an error beyond the limit", found, "REJECTED", "at head 2, query 9, column 1, 1 of 960 outputs exceed")
check("no bounds", "" if [x["why"] is not None for x in found[2]["bounds"]] == [True, True] else str(found[2]["bounds"]))

far = o.copy()
far[3, 17, 5] += np.float16(0.5)
save(far=far)
found = report("--causal", o="far.npy")
expect("an element that is wrong", found, "REJECTED", "at head 3, query 17, column 5", "1 of 960 outputs exceed",
       "which computed all other outputs", "rigorous bound")
check("its place", "" if "all except 1 of 960 outputs are those of" in page() else page()[:2000])
first = found[2]["bits"][0]
check("its bit", "" if (first["mismatches"], first["head"], first["query"], first["column"]) == (1, 3, 17, 5)
      else str(first))

if WHOLE:
    far[0, 1, 2] = np.nan
    save(far=far)
    expect("a NaN", report("--causal", o="far.npy"), "REJECTED",
           "1 of 960 outputs are infinite or NaN where exact attention and ")

bitcut("attention", *FILES, "--row", "pytorch-flash", "--window-right", "1", "--reference", "none", "-o", "mask.npy")
found = report("--causal", o="mask.npy")
expect("a mask off by one", found, "REJECTED", "mask off by one: a query sees one key too many", "with a fault")
check_numbers("its errors", *found[1:], np.load("mask.npy"), want, size)
save(twice=exact(q, k, v, scale=1 / DIM)[0].astype(np.float16))
expect("a scale twice", report(o="twice.npy"), "REJECTED", "scale twice: ")
expect("the scale of it", report("--scale", "0.0625", *row[:2], o="twice.npy"), "ACCEPTED", "as given")
short = (o.astype(float) * (1 + 2.0**-7 * draw.choice([-1, 1], o.shape))).astype(np.float16)
save(short=short)
if WHOLE:
    check("any number of threads", "" if report("--causal", "--threads", "3")[1:] == report("--causal")[1:]
          else "other rows")
found = report("--causal", *BRIEFLY, o="short.npy")
expect("an O as short as bf16", found, "REJECTED", "the standard algorithm for f16")
if WHOLE:
    check_numbers("its errors", *found[1:], short, want, size)

# --- no O --------------------------------------------------------------------------------

found = report("--causal", o=None)
expect("no O", found, "MEASURED", "relative error", "of flash-attention-2")
check("sections without O", "" if sorted(found[2]) == [x for x in SECTIONS if x not in ("bits", "explanation")]
      else str(list(found[2])))

# --- elements that are not finite --------------------------------------------------------

hole = v[:1].copy()
hole[0, 30, 4] = np.inf
save(q1=q[:1, :9], k1=k[:1], vinf=hole, qnan=np.full_like(q, np.nan))
infinite = "-q", "q1.npy", "-k", "k1.npy", "-v", "vinf.npy"
bitcut("attention", *infinite, *row, "--reference", "none", "-o", "oinf.npy")
expect("an infinity of V", report(*row, o="oinf.npy", files=infinite), "ACCEPTED", "as given")
o1 = np.load("oinf.npy")
assert np.isposinf(o1).any()
o1[np.isposinf(o1)] = 1
save(o1=o1)
expect("an infinity that O has not", report(*row, *BRIEFLY, o="o1.npy", files=infinite), "REJECTED",
       "are infinite or NaN where")
if WHOLE:
    none = "-q", "qnan.npy", "-k", "k.npy", "-v", "v.npy"
    bitcut("attention", *none, *row, "--reference", "none", "-o", "onan.npy")
    expect("no number at all", report(*row, o="onan.npy", files=none), "NOT JUDGED", "is a number")

# --- e4m3 --------------------------------------------------------------------------------

if WHOLE:
    eight = "--format", "e4m3"
    save(**{name: draw.integers(0x28, 0x38, x.shape).astype(np.uint8) for name, x in
            (("q8", q), ("k8", k), ("v8", v))})
    of8 = "-q", "q8.npy", "-k", "k8.npy", "-v", "v8.npy", *eight
    bitcut("attention", *of8, "--row", "flash-attention-3-fp8", "--reference", "none", "-o", "o8.npy")
    expect("e4m3", report("--format-o", "bf16", o="o8.npy", files=of8), "ACCEPTED", "u = 2^-8")

# --- refusals ----------------------------------------------------------------------------

save(few=k[:, :9], v1=v[:, :9])
refused = {
    "a shape": (("--verify", "o.npy", "-v", "v1.npy", *FILES[:4]), 2, "bitcut: -v must have as many heads and rows"),
    "the shape of O": (("--verify", "q.npy", *FILES), 2, "bitcut: --verify must have the heads and rows of Q"),
    "no V": (("--verify", "o.npy", *FILES[:4]), 2, "bitcut: -v is missing"),
    "no file": (("--verify", "no.npy", *FILES), 3, "no.npy"),
    "an unknown row": ((*FILES, "--row", "flash-attention-9"), 2, "unknown name"),
    "variations alone": ((*FILES, "--vary", "splits=2"), 2, "bitcut: --vary requires --row"),
    "two masks": ((*FILES, "--causal", "--window-right", "3"), 2, "cannot be combined with --window-right"),
    "an option of products": ((*FILES, "--recipe", "fp32"), 2, "requires a report on one product"),
    "an option of attentions": (("--causal", "-a", "a.npy", "-b", "b.npy"), 2, "requires a report on one attention"),
}
for what, (words, status, message) in refused.items():
    shutil.rmtree("one", ignore_errors=True)
    done = run("report", *words, "-o", "one")
    check(what, "" if done.returncode == status and message in done.stderr and done.stderr.count("\n") == 1
          and not done.stdout and not os.path.exists("one") else f"{done.returncode} {done.stderr} {done.stdout[:200]}")
os.mkdir("one")
shutil.copy("q.npy", "one/errors.json")
done = run("report", "-q", "one/errors.json", *FILES[2:], "-o", "one")
check("a file that would be written", "" if done.returncode == 2 and "-q" in done.stderr and
      os.listdir("one") == ["errors.json"] else f"{done.returncode} {done.stderr}")
plan()
