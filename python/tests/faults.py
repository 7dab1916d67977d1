# SPDX-License-Identifier: BSD-3-Clause
"""What tests of kernels catch: bitcut's assertions, and what is commonly written instead.

    faults.py [FAULT...]       (in the build folder, after `make check`)
    faults.py --table ROWS     (the table of the manual, of these rows)

Prints a row a fault, JSON: of how many D with that fault each test fails.  The faults are those of
tests/identify/faulty, which computes them apart from the library; D that is right by its bits is
no fault and left out.  Then rows of class "right", correct kernels by recipe, and of class "trap",
tests that see nothing.  Without PyTorch its columns are left out."""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import bitcut
from bitcut.testing import assert_gemm, assert_gemm_close

try:
    import torch
except ImportError:
    torch = None

FAULTY = pathlib.Path("tests/identify/faulty").resolve()
KERNELS = [(recipe, unit, shape, seed)
           for recipe, unit in (("markidis", "hopper/mma.m16n8k16.f32.f16"),
                                ("ootomo", "ampere/mma.m16n8k16.f32.f16"),
                                ("legemm", "hopper/mma.m16n8k16.f32.f16"))
           for shape, seed in (((33, 24, 200), 1), ((33, 24, 200), 2), ((48, 40, 512), 3))]
RIGHT = [("ootomo", "a100"), ("ootomo", "h100"), ("ootomo", "mi300"), ("legemm", "h100"),
         ("legemm", "mi210"), ("bf16x9", "h100"), ("fp32", "fma/f32"), ("cublas-tf32", "a100"),
         ("plain", "h100")]
ORDERS = [None, "slices=2", "slices=4,reduction=tree", "slices=3,reduction=descending"]
INPUTS = {"uniform in (-1, 1)": lambda r, *shape: r.uniform(-1, 1, shape),
          "normal": lambda r, *shape: r.normal(size=shape),
          "uniform in (0, 1)": lambda r, *shape: r.uniform(0, 1, shape),
          "uniform, times 2^-6": lambda r, *shape: r.uniform(-1, 1, shape) / 64}

# --- tests ---------------------------------------------------------------------------------


class Kernel:
    """A D, its inputs, and how it should have been computed."""

    def __init__(self, d, a, b, **how):
        self.d, self.a, self.b, self.how = d, a, b, how

    def reference(self, dtype):
        """What a user compares with: the product in this type, rounded to FP32."""
        x = self.a.astype(dtype) @ self.b.astype(dtype)
        if "c" in self.how:
            x = dtype(self.how["alpha"]) * x + dtype(self.how["beta"]) * self.how["c"].astype(dtype)
        return x.astype("f4")


def numpy_default(k, dtype=np.float64):
    np.testing.assert_allclose(k.d, k.reference(dtype))


def torch_default(k, dtype=np.float64):
    torch.testing.assert_close(*(torch.from_numpy(x) for x in (k.d, k.reference(dtype))))


def one_norm(k):
    exact = k.reference(np.float64)
    assert np.linalg.norm(k.d - exact) <= 1e-6 * np.linalg.norm(exact)


def bits(k):
    assert_gemm(k.d, k.a, k.b, effort=0, **k.how)


def close(k):
    how = {key: x for key, x in k.how.items() if key != "order"}
    assert_gemm_close(k.d, k.a, k.b, effort=0, **how)


TESTS = {"assert_gemm": bits, "assert_gemm_close": close,
         "numpy": numpy_default, "numpy_fp32": lambda k: numpy_default(k, np.float32)}
if torch:
    TESTS.update(torch=torch_default, torch_fp32=lambda k: torch_default(k, np.float32))
TESTS["norm"] = one_norm


def fails(test, kernel):
    with np.errstate(all="ignore"):
        try:
            TESTS[test](kernel)
        except AssertionError:
            return True
    return False


def row(name, kind, kernels, tests=None):
    """Of how many kernels each test fails."""
    kernels = list(kernels)
    return {"fault": name, "class": kind, "kernels": len(kernels),
            **{test: sum(fails(test, k) for k in kernels) for test in tests or TESTS}}


# --- kernels -------------------------------------------------------------------------------


def known():
    """Faults of the injector, each with its class."""
    out = subprocess.run([FAULTY, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[0]: line.split()[1] for line in out.splitlines()}


def faulty(fault, kernels=None):
    """The D of this fault that have other bits than they should."""
    for recipe, unit, shape, seed in kernels or KERNELS:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([FAULTY, folder, recipe, unit, *map(str, (*shape, seed)), fault],
                                  stderr=subprocess.PIPE, check=False)
            if done.returncode == 77:
                continue
            assert done.returncode == 0, done.stderr
            truth = json.loads(pathlib.Path(folder, "truth.json").read_text())
            load = {x.stem.lower(): np.load(x) for x in pathlib.Path(folder).glob("?.npy")}
        how = {"recipe": recipe, "unit": unit, "promote": truth["promote"],
               "order": f"slices={truth['slices']}", "alpha": truth["alpha"]}
        if "c" in load:
            how.update(c=load["c"], beta=truth["beta"])
        if truth["changed"] or fault.startswith("none"):
            yield Kernel(load["d"], load["a"], load["b"], **how)


def right(recipe, unit, size=(32, 24, 256), inputs=INPUTS, orders=ORDERS):
    """Correct kernels, in several orders of k, on several families of inputs."""
    m, n, k = size
    for seed, family in enumerate(inputs.values()):
        r = np.random.default_rng(seed)
        a, b = family(r, m, k).astype("f4"), family(r, k, n).astype("f4")
        for order in orders:
            how = {"recipe": recipe, "unit": unit, "order": order}
            yield Kernel(bitcut.gemm(a, b, **how).d, a, b, **how)


def traps():
    """Wrong kernels, each with a test that may not see it."""
    r, way = np.random.default_rng(1), {"recipe": "ootomo", "unit": "a100"}
    a, b = r.uniform(-1, 1, (32, 64)).astype("f4"), r.uniform(-1, 1, (64, 24)).astype("f4")
    small, whole = np.float32(2.0**-12), bitcut.gemm(a, b, **way).d
    yield "zeros, of small matrices", Kernel(whole * 0, a * small, b * small, **way)
    yield "zeros, of zeros", Kernel(whole * 0, a * 0, b, **way)
    nan = whole.copy()
    nan[3, 4] = np.nan
    yield "one NaN", Kernel(nan, a, b, **way)
    yield "NaN, of NaN", Kernel(whole * np.nan, a * np.nan, b, **way)
    x, y = np.rint(9 * a), np.rint(9 * b)
    yield "no corrections, of integers", Kernel(
        bitcut.gemm(x, y, recipe="plain", unit="a100").d, x, y, **way)
    x, y = a / 64, b / 64
    yield "no corrections, of small matrices", Kernel(
        bitcut.gemm(x, y, recipe="plain", unit="a100").d, x, y, **way)
    one, scales = whole.copy(), np.float32(2.0) ** np.arange(32)[:, None] / 2**16
    one[0, 0] = 0
    yield "one output zero, of a small row", Kernel(one * scales, a * scales, b, **way)


def table(path):
    """Lines of Texinfo: of each class of faults, each correct recipe and each trap, of how many
    kernels every test fails how many."""
    rows, lines = [json.loads(line) for line in open(path)], {}
    for x in rows:
        if not x["kernels"]:
            continue
        name = {"right": "right: @code{%s}" % x["fault"].replace("@", "@@"),
                "none": "right: without a fault", "outside": "what @code{explain} does not name",
                "trap": x["fault"]}.get(x["class"], x["class"])
        if x["fault"] == "none-huge":
            name = "right, but f16 parts overflow"
        line = lines.setdefault(name, dict.fromkeys(x, 0))
        for key, value in x.items():
            if isinstance(value, int):
                line[key] += value
    for name, x in lines.items():
        yield f"@item {name} @tab " + " @tab ".join(
            str(x[key]) for key in ("kernels", "assert_gemm", "assert_gemm_close", "numpy",
                                    "numpy_fp32", "torch", "torch_fp32", "norm"))


def main(*names):
    if names[:1] == ("--table",):
        print(*table(names[1]), sep="\n")
        return
    for fault, kind in known().items():
        if not names or fault in names:
            print(json.dumps(row(fault, kind, faulty(fault))), flush=True)
    if names:
        return
    for recipe, unit in RIGHT:
        print(json.dumps(row(f"{recipe}@{unit}", "right", right(recipe, unit))), flush=True)
    for name, kernel in traps():
        print(json.dumps(row(name, "trap", [kernel])), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
