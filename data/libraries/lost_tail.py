#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Products that cuBLASLt loses: python3 lost_tail.py FOLDER

Needs PyTorch and a GPU.  Multiplies matrices of ones, whose every result must be k, by mm, bmm and
linear, and prints a row for each function and size with another result.  Writes A.npy, B.npy and D.npy
to the folder: D is mm(A, B) in FP32 for the first such size, A and B are `inputs` `numpy` with seed 1."""
import json
import pathlib
import sys

import numpy
import torch

FUNCTIONS = {
    "mm": lambda a, b: torch.mm(a, b),
    "mm, FP32 result": lambda a, b: torch.mm(a, b, out_dtype=torch.float32),
    "bmm": lambda a, b: torch.bmm(a[None], b[None])[0],
    "linear": lambda a, b: torch.nn.functional.linear(a, b.t().contiguous()),
    "linear, bias": lambda a, b: torch.nn.functional.linear(a, b.t().contiguous(), 0 * b[0]),
}
# bf16 results are multiples of 64 here, so that k - 8 is rounded to k.
TYPES = {"f16": (torch.float16, FUNCTIONS), "bf16": (torch.bfloat16, ("mm, FP32 result",)),
         "tf32": (torch.float32, ("mm", "linear")), "f32": (torch.float32, ("mm", "linear"))}


def result(function, a, b):
    """The first result, and whether all are the same."""
    d = FUNCTIONS[function](a, b)
    return float(d.flatten()[0]), bool((d == d.flatten()[0]).all())


def lost(m, n, k):
    """Rows of the functions that lose products."""
    for name, (dtype, functions) in TYPES.items():
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        a, b = torch.ones(m, k, device="cuda", dtype=dtype), torch.ones(k, n, device="cuda", dtype=dtype)
        for function in functions:
            first, same = result(function, a, b)
            if first != k or not same:
                yield {"function": function, "operands": name, "m": m, "n": n, "k": k, "d": first}


def save(folder, m, n, k):
    """A, B and D of a size with random values."""
    random = numpy.random.Generator(numpy.random.PCG64(1)).random
    a, b = ((random(shape, dtype=numpy.float32) * 2 - 1).astype("f2") for shape in ((m, k), (k, n)))
    d = torch.mm(torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda(), out_dtype=torch.float32)
    for name, x in (("A", a), ("B", b), ("D", d.cpu().numpy())):
        numpy.save(folder / f"{name}.npy", x)


def main():
    folder = pathlib.Path(sys.argv[1])
    print(json.dumps({"library": "PyTorch", "version": torch.__version__, "cuda": torch.version.cuda,
                      "device": torch.cuda.get_device_name()}))
    rows = [row for m in (1, 16, 64) for n in (8, 64)
            for k in range(8200, 16384, 8) if k % 64 for row in lost(m, n, k)]
    for row in rows:
        print(json.dumps(row))
    if rows:
        save(folder, *(rows[0][x] for x in "mnk"))


if __name__ == "__main__":
    main()
