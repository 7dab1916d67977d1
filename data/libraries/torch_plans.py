#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What PyTorch computes on a GPU for the calls that `bitcut predict --call` knows.

    torch_plans.py kinds SET                     the kinds of the recorded calls, SET 1 or 2
    torch_plans.py shapes SEED COUNT < kinds     COUNT random shapes of each kind
    torch_plans.py calls < shapes                the call of cuBLAS for each, as plans.cu reads it
    torch_plans.py run < shapes                  each line with the digest of 64 outputs

A line of `kinds` is: call types layout epilogue batch, and of `shapes`: call types layout epilogue m n k
batch.  Types, layouts, random sizes, elements, sampled outputs and digests are those of plans.cu.  C has the
elements `which` = 4, with the index row n + column.  Epilogues: none, bias (one number for each column,
alpha = beta = 1), bias-alpha (alpha = 0.7), c (a matrix, alpha = beta = 1), update (a matrix, alpha = 0.7,
beta = 0.3), c-alpha and c-beta (a matrix, one of these factors), scales (_scaled_mm with factors 0.7 and 1.3)."""

import sys

FORMATS = {  # fraction bits, exponent, binades, bytes
    "f16": (10, 12, 4, 2), "bf16": (7, 124, 4, 2), "f32": (23, 124, 4, 4), "tf32": (23, 124, 4, 4),
    "e4m3": (3, 4, 4, 1), "e4m3fast": (3, 4, 4, 1), "s8": (7, 0, 1, 1)}
ALPHA, BETA, SCALE_A, SCALE_B = 0.7, 0.3, 0.7, 1.3
M32 = 2**32 - 1


# --- shapes --------------------------------------------------------------------------------

def mix(x):
    x = (x ^ x >> 16) * 0x7feb352d & M32
    x = (x ^ x >> 15) * 0x846ca68b & M32
    return x ^ x >> 16


def size_of(h, octaves, first, grain):
    octave = first + (h >> 16) % octaves
    return ((1 << octave) + ((h & 0xffff) << octave >> 16) + grain - 1) // grain * grain


def random_shape(seed, index, types, batch):
    """random_shape() of plans.cu."""
    grains, least, less = (64, 8, 8, 8, 64, 8, 8, 1), 16 if FORMATS[types.split(".")[0]][3] == 1 else 1, \
        2 if batch > 1 else 0
    h = mix((index + 0x9e3779b9 * seed) & M32)
    of_n, of_k = (max(grains[h >> s & 7], least) for s in (0, 3))
    return (size_of(mix(h + 1 & M32), 13 - less, 0, 1), size_of(mix(h + 2 & M32), 13 - less, 0, of_n),
            size_of(mix(h + 3 & M32), 11 - less, 3, of_k))


def kinds(which):
    """The kinds of seeds 2025 and 4051 (1), and of 3033 and 5077 (2)."""
    wide, fp8 = ("f16", "bf16", "f32", "tf32"), ("e4m3.bf16", "e4m3.f32", "e4m3fast.bf16")
    if which == 2:
        rows = [f"addmm {t} {x} 1" for t in wide for x in ("NN c-alpha", "NT c-beta", "NN update", "NT c")]
        return rows + ["bmm bf16 NN none 64", "bmm f32 NT none 64", "bmm f16 NT none 2", "bmm tf32 TT none 5",
                       "linear bf16 NT bias 1", "linear f16 NT bias 1"]
    rows = [f"mm {t} {x} none 1" for t in ("f16", "bf16", "f16.f32", "f32", "tf32") for x in ("NN", "NT", "TN", "TT")]
    for t in wide:
        rows += [f"linear {t} NT none 1", f"linear {t} NT bias 1"]
        rows += [f"addmm {t} {x} 1" for x in ("NN bias", "NN bias-alpha", "NN c", "NT update")]
        rows += [f"bmm {t} {x}" for x in ("NN none 4", "NT none 12", "TN none 3")]
    for t in fp8:
        rows += [f"scaled_mm {t} NT {x} 1" for x in ("none", "scales") + (("bias",) if "bf16" in t else ())]
    return rows + ["int_mm s8.s32 NN none 1", "int_mm s8.s32 NT none 1"]


def shapes(seed, count):
    kinds = [line.split() for line in sys.stdin]
    for i in range(count * len(kinds)):
        call, types, layout, epilogue, batch = kinds[i % len(kinds)]
        m, n, k = random_shape(seed, i, types, int(batch))
        print(call, types, layout, epilogue, m + 16 if call == "int_mm" else m, n, k, batch)


def calls():
    for line in sys.stdin:
        call, types, layout, epilogue, *sizes = line.split()
        m, n, k, batch = map(int, sizes)
        a, b = layout
        light = epilogue.startswith("bias") and (min(n, k) > 1 or call == "scaled_mm")
        if batch == 1:
            a, b = (a if min(m, k) > 1 else "N"), (b if min(n, k) > 1 else "N")
        elif n == 1:
            m, n, a, b = n, m, "NT"[b == "N"], "NT"[a == "N"]
        print(types, a + b, "bias" if light else "none", m, n, k, batch)


# --- PyTorch -------------------------------------------------------------------------------

def signed(x):
    return (x & M32) - ((x & M32) >> 31 << 32)


def elements(torch, name, rows, columns, which):
    """Elements of a rows x columns matrix, with the sign in the highest bit."""
    bits, exponent, binades, size = FORMATS[name]
    x = torch.arange(rows * columns, dtype=torch.int32, device="cuda")
    x += signed(0x9e3779b9 * which)
    for shift, factor in ((16, 0x7feb352d), (15, 0x846ca68b), (16, None)):
        x ^= x >> shift & (1 << 32 - shift) - 1
        if factor:
            x *= signed(factor)
    e = exponent + (x >> 24 & 255) % binades
    x = (x >> 31 & 1) << 8 * size - 1 | e << bits | x & (1 << bits) - 1
    word = {1: torch.int8, 2: torch.int16, 4: torch.int32}[size]
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "s8": torch.int8, "e4m3": torch.float8_e4m3fn,
             "e4m3fast": torch.float8_e4m3fn}.get(name, torch.float32)
    return x.to(word).view(dtype).reshape(rows, columns)


def stored(x, turned):
    return x.transpose(-1, -2).contiguous().transpose(-1, -2) if turned else x


def compute(torch, call, types, epilogue, a, b, bias, c):
    linear, one = torch.nn.functional.linear, torch.ones((), device="cuda")
    out = {"f32": torch.float32, "bf16": torch.bfloat16}.get(types.partition(".")[2])
    alpha = ALPHA if epilogue in ("bias-alpha", "update", "c-alpha") else 1
    beta = BETA if epilogue in ("update", "c-beta") else 1
    if call == "mm":
        return torch.mm(a, b, out_dtype=out) if out else torch.mm(a, b)
    if call == "linear":
        return linear(a, b.t(), bias)
    if call == "addmm":
        return torch.addmm(bias if c is None else c, a, b, alpha=alpha, beta=beta)
    if call == "bmm":
        return torch.bmm(a, b)
    if call == "int_mm":
        return torch._int_mm(a, b)
    s_a, s_b = (SCALE_A, SCALE_B) if epilogue == "scales" else (1, 1)
    return torch._scaled_mm(a, b, scale_a=one * s_a, scale_b=one * s_b, bias=bias, out_dtype=out,
                            use_fast_accum=types.startswith("e4m3fast"))


def digest(words):
    x = 0x811c9dc5
    for byte in words.astype("<u4").tobytes():
        x = (x ^ byte) * 0x01000193 & M32
    return x


def run_one(torch, call, types, layout, epilogue, m, n, k, batch):
    name, dot, result = types.partition(".")
    result = result if dot else name
    torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
    a, b = elements(torch, name, batch * m, k, 1), elements(torch, name, batch * n, k, 2)
    if call == "bmm":
        a, b = a.reshape(batch, m, k), b.reshape(batch, n, k)
    a, b = stored(a, layout[0] == "T"), stored(b.transpose(-1, -2), False)
    b = b if layout[1] == "T" else b.contiguous()
    bias = elements(torch, result, 1, n, 3)[0] if epilogue.startswith("bias") else None
    c = elements(torch, result, m, n, 4) if epilogue[0] in "cu" else None
    d = compute(torch, call, types, epilogue, a, b, bias, c).reshape(batch, m, n)[-1]
    rows, columns = (torch.tensor([i * (x - 1) // 7 for i in range(8)], device="cuda") for x in (m, n))
    d = d[rows][:, columns].contiguous()
    words = d.view({2: torch.int16, 4: torch.int32}[d.element_size()]).cpu().numpy()
    return digest(words.view(f"u{words.itemsize}"))


def run():
    import torch
    print(f"# PyTorch {torch.__version__}, {torch.cuda.get_device_name()}", file=sys.stderr)
    for line in sys.stdin:
        call, types, layout, epilogue, *sizes = line.split()
        try:
            found = f"{run_one(torch, call, types, layout, epilogue, *map(int, sizes)):08x}"
        except RuntimeError as error:
            found = "refused"
            print(line.strip(), str(error).splitlines()[0], file=sys.stderr)
        print(line.strip(), found, sep="\t")


def main():
    what = sys.argv[1:]
    if len(what) == 3 and what[0] == "shapes":
        shapes(int(what[1]), int(what[2]))
    elif len(what) == 2 and what[0] == "kinds":
        print("\n".join(kinds(int(what[1]))))
    elif what == ["calls"]:
        calls()
    elif what == ["run"]:
        run()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
