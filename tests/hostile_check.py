# SPDX-License-Identifier: BSD-3-Clause
"""What strangers' files say, and what they are called, is text wherever bitcut writes it.

Every string and key of an audit, of results and of recorded sets, and every name of a file or
folder, is made hostile, one kind of hostility at a time.  What comes out is parsed: pages of
HTML have the elements that harmless texts give and no others, Markdown has their markup,
tables of CSV have as many columns and no formula, JSON is JSON, and nothing steers a terminal.
"""
import csv
import glob
import html.parser
import io
import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree

from checks import BRIEF, WHOLE

HARMLESS = "plain text"
HOSTILE = (
    "<script>alert(1)</script>", "\"><img src=x onerror='alert(1)'>", "' onload='x", "</title>",
    "<!-- ", "]]>", "&lt;b&gt;&#60;", "=cmd|'/C calc'!A1", "+1+1", "-2+3", "@SUM(1)", "\t=1+1",
    "\r=1", " =1+1", "a,b;c\"d\"", "`code` ```", "| a | b |", "[a](javascript:alert(1))",
    "![i](x)", "**b** __c__ ~~d~~ # e", "a\n\n# b\r\n", "\x1b[2J\x1b]0;t\x07", "\x9b31m\x7f",
    "\u202etxt.exe\u2066\u2069", "\u200b\ufeff\u2028\u2029\u061c", "\U000e0041", "%s%n%d%", "\\",
    "\\\"", "{\"a\":1}", "$(id)", "@{x}", "\\033[1m", "e\u0301 \u65e5\u672c \U0001f600")
TEXTS = HOSTILE[::4] if BRIEF else HOSTILE
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
                    "\ufeff\U000e0000-\U000e007f]")
count = 0
quiet = {**os.environ, "PATH": os.path.dirname(shutil.which("bitcut"))}  # without gnuplot


def report(what, wrong):
    global count
    count += 1
    print(f"{'not ' if wrong else ''}ok {count} - {what}")
    for line in list(wrong)[:8]:
        print("#", ascii(line)[:400])
    sys.stdout.flush()


def run(*words, env=quiet):
    """Its status, and what is wrong with what it prints."""
    done = subprocess.run([b"bitcut", *(w if isinstance(w, bytes) else w.encode() for w in words)],
                          stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=60)
    wrong = []
    for name, text in (("output", done.stdout), ("error", done.stderr)):
        try:
            text = text.decode()
        except UnicodeDecodeError:
            wrong.append(f"{words}: standard {name} is no UTF-8")
            continue
        if STEERS.search(text) or "(null)" in text:
            wrong.append(f"{words}: standard {name}: {text!r}")
        if "--json" in words and name == "output":
            for line in text.splitlines():
                json.loads(line)
    if done.returncode not in ((0, 125) if words[0] == "run" else (0, 1, 2, 3)):
        wrong.append(f"{words}: status {done.returncode}")
    return done.returncode, wrong


# --- what is written ----------------------------------------------------------------------


# Within the page, to a table in it, or to a file of a section beside it.
LINKS = r"#|data:text/csv,|[a-z0-9-]+\.(csv|json|pdf)\Z"


class Elements(html.parser.HTMLParser):
    """The elements of a page with their attributes, and the names of their links."""

    def __init__(self, text):
        super().__init__()
        self.all, self.wrong = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.all.append((tag, tuple(name for name, _ in attributes)))
        for name, value in attributes:
            if name.startswith("on") or (name == "href" and
                                         not re.match(LINKS, value)):
                self.wrong.append(f"<{tag} {name}={value!r}>")
        if tag in ("script", "img", "iframe", "object", "embed", "base", "form"):
            self.wrong.append(f"<{tag}>")

    def handle_comment(self, data):
        self.wrong.append(f"comment: {data}")


def markup(text):
    """What Markdown would not show as it stands."""
    return re.findall(r"[`*_\[\]<>#|~\n]", re.sub(r"\\.", "", text))


def table(text):
    """Its wrongs, and the number of columns."""
    wrong, rows = [], list(csv.reader(io.StringIO(text, newline="")))
    if len({len(row) for row in rows}) > 1:
        wrong.append(f"columns: {[len(row) for row in rows]}")
    for cell in (cell for row in rows for cell in row):
        if cell.lstrip()[:1] in tuple("=+-@") and cell.strip():
            try:
                float(cell)
            except ValueError:
                wrong.append(f"formula: {cell!r}")
    return wrong, (len(rows), len(rows[0]) if rows else 0)


def folder(name):
    """What is wrong in the folder of a report, and what its files consist of."""
    wrong, shape = [], {}
    for path in sorted(glob.glob(os.path.join(glob.escape(name), "*"))):
        with open(path, "rb") as file:
            data = file.read()
        kind, last = path.rsplit(".", 1)[-1], os.path.basename(path)
        if kind == "pdf":
            continue
        text = data.decode()
        found = STEERS.search(text)
        if found or "(null)" in text:
            wrong.append(f"{path}: {text[max(0, found.start() - 30):found.end()] if found else '(null)'!r}")
        if kind == "html":
            page = Elements(text)
            wrong += [f"{path}: {one}" for one in page.wrong]
            shape[last] = page.all
        elif kind == "md":
            shape[last] = markup(text)
        elif kind == "csv":
            more, shape[last] = table(text)
            wrong += [f"{path}: {one}" for one in more]
        elif kind == "json":
            json.loads(text)
        elif kind == "svg":
            for one in xml.etree.ElementTree.fromstring(text).iter():
                if one.tag.endswith("script") or any(a.startswith("on") for a in one.attrib):
                    wrong.append(f"{path}: {one.tag}")
    return wrong, shape


# --- what is read -------------------------------------------------------------------------

KEPT = {"split": "half", "bits": 12.5, "exact": 0.0, "max_ulp": 7.0, "p_subnormal": 0.0,
        "p_zero": 0.0, "p_flushed": 0.0, "p_overflow": 0.0}
VALUES = {"values": 9, "exponents": [{"exponent": -2, "count": 5}, {"exponent": 1, "count": 4}]}


def place(name, **more):
    chip = {"target": "h100", "chips": "h100, h200", "unit": "u", "evidence": "e", "recipe": "r",
            "split": "s", "scale": 11, "equilibrate": False, "terms": 3, "cost": 3.0,
            "tflops": 9.5, "error": 1e-7, "high": 1e-7, "checked": None, "bound": 1e-6,
            "reaches": True}
    return {"call_site": name, "where": f"/a/{name} f < g", "native": "lib:f+0x1", "routine": "sgemm_",
            "calls": 5, "taken": 2, "m": "4-8", "n": 4, "k": 4, "products": 320.0,
            "seconds": 0.5, "configuration": "original", "evidence": "none", "against": "plain@x",
            "against_evidence": "e", "outputs": 20, "differ": 3, "not_finite": 0,
            "difference": 0.1, "largest": 0.2, "watched": 5, "mismatches": None,
            "values_a": VALUES, "values_b": VALUES, "relres": 1e-7, "backward_max": 1.5,
            "bound": 40.0, "advice": f"ootomo {name}", "advice_on": "h100",
            "advise": {"want": 1e-6, "advice": chip, "targets": [chip, {**chip, "unit": "v"}],
                       "scales": [{"recipe": "r", "unit": "u", "scale": 10,
                                   "equilibrate": True, "error": 1e-7, "bits_a": 22.5,
                                   "bits_b": 22.5, "overflow_a": 0.0, "overflow_b": 0.0,
                                   "flushed_a": 0.0, "flushed_b": 0.0}],
                       "retained": [{"operand": "A", "count": 9, "scale_from": 0, "scale_to": 3,
                                 "flush": False, **KEPT}],
                       "retained_by_exponent": [{"recipe": "r", "scale": 0, "operand": o,
                                             "exponent": e, "count": 3, **KEPT}
                                            for o in "AB" for e in (-2, 1)]},
            "schema": "bitcut-run/1", **more}


AUDIT = [place("p"), place("q"), place("p"),
         {"program": "./x", "own_seconds": 0.1, "elapsed": 2.0, "schema": "bitcut-run/1"}]
SETS = [{"unit": "neon/bfdot.m1n4k2.f32.bf16", "origin": "o", "seed": 1,
         "A": {"shape": [1, 1, 2], "hex": "56808001"}, "B": {"shape": [1, 2, 1], "hex": "1e00ff09"},
         "C": {"shape": [1, 1, 1], "hex": "32f6b6c7"},
         "D": {"shape": [1, 1, 1], "hex": "3507b5b7"}}]


def results():
    """The first line of each kind that comes with bitcut."""
    kinds = {}
    for path in sorted(glob.glob(os.path.join(os.environ["BITCUT_DATA"], "results", "*.jsonl"))):
        with open(path, encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                kind = next(k for k in ("part", "kernel", "shapes", "addressing") if k in row)
                kinds.setdefault((kind, row.get("study")), row)
    return list(kinds.values())


def is_fixed(key, value):
    """Texts that say of which kind a row is, or that stand for numbers."""
    return key in ("schema", "hex", "addressing", "study", "input") or value in ("nan", "inf", "-inf")


def made(value, text, key=None):
    """With the text before every string, and as a key of every object."""
    if isinstance(value, dict):
        return {**{k: made(v, text, k) for k, v in value.items()}, text: text, text + "2": 1}
    if isinstance(value, list):
        return [made(v, text, key) for v in value]
    return f"{text} {value}" if isinstance(value, str) and not is_fixed(key, value) else value


def paths(value, at=()):
    """All of its places."""
    yield at
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield from paths(one, (*at, key))


def changed(value, at, to):
    """With another value at a place."""
    if not at:
        return to
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = changed(value[at[0]], at[1:], to)
    return copy


def write(name, rows):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


# --- tests --------------------------------------------------------------------------------


def check_reports(what, rows, words, env=quiet, texts=TEXTS):
    """A report on rows with a hostile text is one with a harmless text, but for the text."""
    def outcome(text):
        shutil.rmtree("out", ignore_errors=True)
        write("rows.jsonl", made(rows, text))
        status, wrong = run("report", *words, "rows.jsonl", "-o", "out", env=env)
        more, shape = folder("out") if os.path.isdir("out") else (["no folder"], {})
        return wrong + more + ([f"status {status}"] if status else []), shape
    wrong, plain = outcome(HARMLESS)
    for text in texts:
        more, shape = outcome(text)
        wrong += [f"{text!r}: {one}" for one in more]
        if env is quiet:
            wrong += [f"{text!r}: {file} is another" for file in plain
                      if shape.get(file) != plain[file]]
    report(what, wrong)


def check_refused():
    """Each value of an audit in turn is of another type: a report of it, or a line."""
    wrong, rows = [], [AUDIT[0], AUDIT[-1]]
    others = (None, True, [], {}, [1], "", "=1", -1, 1e300, 1 << 62)
    for i, at in enumerate(paths(AUDIT[0])):
        for other in others if len(at) == 1 and i % 4 == 0 else others[i % 10:i % 10 + 1]:
            if not at or i % (4 if BRIEF else 1 if WHOLE else 2):
                continue
            write("rows.jsonl", [changed(AUDIT[0], at, other), rows[1]])
            shutil.rmtree("out", ignore_errors=True)
            done = subprocess.run(["bitcut", "report", "--audit", "rows.jsonl", "-o", "out"],
                                  stdin=subprocess.DEVNULL, capture_output=True, env=quiet,
                                  timeout=60)
            if done.returncode == 0:
                wrong += [f"{at} {other}: {one}" for one in folder("out")[0]]
            elif done.returncode != 3 or b"rows.jsonl: line 1: " not in done.stderr or \
                    os.path.exists("out"):
                wrong.append(f"{at} {other}: {done.returncode} {done.stderr}")
    report("audits with a value of another type", wrong)


def check_missing():
    """Without a place there is no page, and none is begun."""
    wrong = []
    for row in ({}, {"where": "x"}, {"call_site": "x"}, {"call_site": 5, "where": "x"},
                {"call_site": "x", "where": None}):
        write("rows.jsonl", [{"schema": "bitcut-run/1", **row}])
        shutil.rmtree("out", ignore_errors=True)
        status, more = run("report", "--audit", "rows.jsonl", "-o", "out")
        if status != 3 or os.path.exists("out"):
            wrong.append(f"{row}: status {status}")
        wrong += more
    report("audits without a place", wrong)


def check_sets():
    wrong = []
    for text in TEXTS:
        name = "set" + text.replace("/", "_") + ".jsonl"
        write(name, [{**row, text: text, "origin": text, "unit": u}
                     for row in SETS for u in (row["unit"], text, f"neon/{text}")])
        for words in ([], ["--json"]):
            for command in ("replay", "fit"):
                wrong += run(command, name, *words)[1]
    report("recorded sets", wrong)


def check_names(a, b, d):
    """Files of every kind that are called so, whether they are good or not."""
    wrong = []
    for i, text in enumerate([*TEXTS, b"\xff\xc3\x28"]):
        text = text.encode() if isinstance(text, str) else text
        text = text.replace(b"/", b"_")
        name = text + b".npy"
        shutil.copy(a, name)
        out = b"out" + text
        if i % 8 == 0 or b"<" in text or b"`" in text:
            status, more = run("report", "-a", name, "-b", b, "-d", d, "--seconds", "1", "-o", out)
            wrong += more + ([] if status in (0, 1) else [f"{name}: status {status}"])
            wrong += folder(os.fsdecode(out))[0]
        commands = (["gemm", "-a", name, "-b", b, "--recipe", "plain", "--unit", "h100", "-o", name],
                    ["verify", "-a", name, "-b", b, "-d", d, "--recipe", "plain", "--unit", "h100",
                     "--json"],
                    ["advise", "-a", text, "-b", b], ["split", "-a", text], ["replay", text],
                    ["report", "--audit", text], ["report", "--results", text],
                    ["run", "--read", text], ["tile", "--gpu", text + b".json"],
                    ["explain", "-a", a, "-b", b, "-d", name], [text], ["gemm", text],
                    ["gemm", b"--" + text], ["gemm", "--recipe", text], ["list", text])
        for words in commands if WHOLE else commands[i % 2::2]:  # the others of the next text
            wrong += run(*words)[1]
    report("names of files and words", wrong)


def check_pipes():
    """Nothing waits for a pipe, or reads a folder or device."""
    wrong = []
    os.makedirs("ledgers", exist_ok=True)
    for suffix in ("npy", "mtx", "jsonl", "json"):
        os.mkfifo("pipe." + suffix)
    os.mkfifo("ledgers/x.ledger")
    os.makedirs("meta", exist_ok=True)
    os.mkfifo("meta/meta.json")
    for words in (["gemm", "-a", "pipe.npy", "-b", "pipe.mtx", "--recipe", "plain", "--unit", "h100"],
                  ["gemm", "-a", "pipe.mtx", "-b", "pipe.npy", "--recipe", "plain", "--unit", "h100"],
                  ["report", "--audit", "pipe.jsonl", "-o", "o"], ["report", "--audit", "meta", "-o", "o"],
                  ["report", "--audit", "/dev/zero", "-o", "o"],
                  ["report", "--results", "pipe.jsonl", "-o", "o"], ["replay", "pipe.jsonl"],
                  ["replay", "meta"], ["fit", "pipe.jsonl"], ["tile", "--gpu", "pipe.json"],
                  ["split", "-a", "/dev/zero"]):
        status, more = run(*words)
        wrong += more + ([] if status in (2, 3) else [f"{words}: status {status}"])
    done = subprocess.run(["bitcut", "run", "--read", "ledgers"], capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 125:
        wrong.append(f"run --read: status {done.returncode}")
    report("pipes, folders and devices in place of files", wrong)


def check_sizes():
    """Work grows with the file: squares of these numbers would take minutes."""
    many, wrong = 60000, []
    write("rows.jsonl", ({"schema": "bitcut-run/1", "call_site": f"p{i}", "where": "w"}
                         for i in range(many)))
    write("sets.jsonl", SETS * many)
    for words in (["report", "--audit", "rows.jsonl", "-o", "out"],
                  ["replay", "--threads", "1", "sets.jsonl"]):
        done = subprocess.run(["bitcut", *words], stdin=subprocess.DEVNULL, capture_output=True,
                              env=quiet, preexec_fn=lambda: resource.setrlimit(
                                  resource.RLIMIT_CPU, (30, 30)))
        if done.returncode:
            wrong.append(f"{words}: status {done.returncode} {done.stderr[:200]}")
    report("long files", wrong)


draw = random.Random(1)
for name, shape in (("a", (5, 6)), ("b", (6, 4))):
    with open(name + ".npy", "wb") as file:
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
        file.write(b"\x93NUMPY\x01\x00v\x00" + head.encode() +
                   b"".join(struct.pack("<f", draw.uniform(-1, 1))
                            for _ in range(shape[0] * shape[1])))
run("gemm", "-a", "a.npy", "-b", "b.npy", "--recipe", "plain", "--unit", "h100", "-o", "d.npy")
# By default each text is in one of these.
check_reports("audits", AUDIT, ["--audit"], texts=TEXTS if WHOLE else TEXTS[::2])
check_reports("results", results(), ["--no-studies", "--results"], texts=TEXTS if WHOLE else TEXTS[1::2])
if shutil.which("gnuplot"):
    check_reports("figures of audits", AUDIT, ["--audit"], os.environ,
                  [HOSTILE[0] + HOSTILE[1] + HOSTILE[9], HOSTILE[16] + HOSTILE[-3]])
check_refused()
check_missing()
check_sets()
check_names("a.npy", "b.npy", "d.npy")
check_pipes()
check_sizes()
print(f"1..{count}")
