# SPDX-License-Identifier: BSD-3-Clause
"""Input families torch_rand, torch_randn and torch_randint against PyTorch, bit for bit.
Run by torch_random.sh in an empty folder."""

import os
import platform
import random
import subprocess

os.environ["ATEN_CPU_CAPABILITY"] = "avx2"

import numpy as np
import torch

SEED = int(os.environ.get("BITCUT_SEED", "1"))
# fewer than a block of 16, blocks, and every length of a last block
SIZES = [(1, 1), (3, 2), (1, 15), (1, 16), (2, 16), (10, 8), (10, 25)]
SIZES += [(1, 16 + tail) for tail in range(1, 16)] + [(97, 211)]
draw = random.Random(SEED)


def ours(family, seed, rows, cols):
    """The encodings that bitcut gemm fills A with."""
    subprocess.run(
        ["bitcut", "gemm", "--recipe", "fp32", "--unit", "fma/f32", "-m", str(rows),
         "-k", str(cols), "-n", "1", "--input-a", family, "--input-b", "zeros",
         "--seed", str(seed), "--save-a", "a.npy"],
        check=True, stdout=subprocess.DEVNULL)
    return np.load("a.npy").view(np.uint32)


def torch_rand(rows, cols):
    return torch.rand(rows, cols)


def torch_randn(rows, cols):
    return torch.randn(rows, cols)


def torch_randint(rows, cols):
    return torch.randint(-8, 9, (rows, cols)).float()


def words(family, count):
    """Words of the generator that a tensor takes."""
    if family == "torch_randn" and count >= 16:
        return count + 16 * (count % 16 != 0)
    return 4 * ((count + 1) // 2) if family == "torch_randn" else count


def difference(filler, seed, rows, cols):
    """Two tensors, one after the other."""
    family = filler.__name__
    torch.manual_seed(seed)
    drawn = 0
    for text in "%s", "%s(%s)":
        want = filler(rows, cols).numpy().view(np.uint32)
        numbers = ("-8,8,%d" if family == "torch_randint" else "%d") % drawn
        got = ours(text % ((family, numbers)[: text.count("%")]), seed, rows, cols)
        if (got != want).any():
            i = int(np.flatnonzero(got != want)[0])
            return "seed %d, %d x %d, %d words before: number %d: got 0x%08x, want 0x%08x" % (
                seed, rows, cols, drawn, i, got.flat[i], want.flat[i])
        drawn = words(family, rows * cols)
        if family == "torch_randn" and rows * cols < 16 and rows * cols % 2:
            break  # a number waits for the next call, which the family cannot know
    return ""


fillers = [torch_rand, torch_randn, torch_randint]
print("1..%d" % len(fillers))
for number, filler in enumerate(fillers, 1):
    name = filler.__name__
    if name == "torch_randn" and platform.machine() not in ("x86_64", "AMD64"):
        print("ok %d - %s # SKIP needs PyTorch for x86-64" % (number, name))
        continue
    found = ""
    for rows, cols in SIZES:
        found = found or difference(filler, draw.getrandbits(34), rows, cols)
    print("%sok %d - %s" % ("not " if found else "", number, name))
    if found:
        print("# BITCUT_SEED=%d: %s" % (SEED, found))
