# SPDX-License-Identifier: BSD-3-Clause
"""Digests of the inputs of each line of kit/settle.py, as data/pastes/inputs.txt has them:
the line, then of A, of B transposed, of the scales of A and of B, and of the bias, as far as
there are any, the start of the SHA-256 of their encodings, eight bytes each."""
import hashlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import settle


def digest(codes):
    return hashlib.sha256(settle.raw(codes)).hexdigest()[:16]


for number, x in enumerate(settle.lines(), 1):
    a, b = settle.inputs(x)
    rows, cols = settle.part(x["m"], x["k"]), settle.part(x["n"], x["k"])
    words = [str(number), digest(a[rows]), digest(b[cols])]
    if "scale" in x:
        words += [digest(settle.scales(x, i)) for i in (1, 2)]
    if x["op"] == "linear":
        words += [digest(settle.bias(x))]
    print(*words)
