#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What PyTorch's scaled_dot_product_attention computes on a GPU, bit for bit.

    record_sdpa.py cases [SET]          the cases of a set, one a line: all (default) or few
    record_sdpa.py run OUT < cases      OUT_o.npy, OUT_lse.npy: sampled encodings; OUT.tsv: a line a case
    record_sdpa.py inputs OUT < cases   OUT.npz with Q, K and V of each case; needs NumPy alone

A case is: backend type batch heads kv_heads q_length k_length head_dim mask data scale, where
backend  flash, efficient, cudnn or math; all but math also give log-sum-exps
type     f16 or bf16
mask     none, or causal: aligned to the last query and the last key
data     the exponents of Q and K, see operands()
scale    of the scores, or 0 for 1 / sqrt(head_dim)
Elements follow from their index by integer arithmetic (elements() of data/libraries/torch_plans.py, with
`which` 1, 2, 3 for Q, K, V), so that any machine makes the same bits.  O is sampled: the first and last
head of the first and last batch, and the rows of sampled_rows(); all samples are one array, case after
case.  A line of OUT.tsv is the case, the SHA-256 of all of O, and the names of the kernels that ran."""

import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

FORMATS = {"f16": (10, 12, 0x7c00), "bf16": (7, 124, 0x7f80)}  # fraction bits, exponent, infinity
FIELDS = "backend type batch heads kv_heads q_length k_length head_dim mask data scale".split()


# --- cases ---------------------------------------------------------------------------------

def full_heads(q_length):
    """Heads that fill an H200 with blocks of 64 queries, so that the keys are not split."""
    return -(-212 // -(-q_length // 64))


def flash_cases(types, dims, few):
    """Squares with and without mask, keys split and not; decode; GQA; large and moving scores."""
    lengths = (17, 200) if few else (1, 17, 64, 65, 128, 129, 200, 500, 1000)
    decode = (100, 5000) if few else (1, 100, 1000, 5000)
    more = () if few else ("wide4", "down")
    for t in types:
        for d in dims:
            for n in lengths:
                for mask in ("none", "causal"):
                    yield t, 1, full_heads(n), full_heads(n), n, n, d, mask, "plain", 0
                    yield t, 2, 2, 2, n, n, d, mask, "plain", 0
            for n in decode:
                yield t, 1, 1, 1, 1, n, d, "none", "plain", 0
                yield t, 2, 8, 2, 1, n, d, "none", "wide2", 0
                yield t, 1, 212, 212, 1, min(n, 600), d, "none", "wide2", 0
            for data in ("wide2", "wide6", "up", "special", "infinite", "walls") + more:
                yield t, 1, 53, 53, 200, 300, d, "none", data, 0
                yield t, 1, 56, 14, 200, 200, d, "causal", data, 0
                yield t, 1, 2, 1, 70, 700, d, "none", data, 0
            if t == "bf16":
                for n in (2, 300):
                    yield t, 1, 53, 53, 200, n, d, "none", "tiny", 0
            yield t, 1, 53, 53, 200, 330, d, "causal", "wide2", 0
            yield t, 1, 53, 53, 200, 90, d, "causal", "walls", 0
            yield t, 1, 2, 2, 70, 700, d, "causal", "walls", 0
            yield t, 1, 53, 53, 200, 700, d, "causal", "walls", 0
            yield t, 1, 100, 100, 40, 128000 // d, d, "none", "walls", 0
            yield t, 1, 53, 53, 200, 300, d, "none", "wide2", 0.3
            yield t, 1, 4, 4, 200, 1300, d, "causal", "up", 1.0


def other_cases(few):
    more = () if few else ("wide4", "down")
    for t in ("f16", "bf16"):
        for d in (64, 128):
            for n in (17, 500) if few else (17, 129, 200, 500, 1000):
                yield t, 2, 4, 4, n, n, d, "none", "plain", 0
                yield t, 2, 4, 4, n, n, d, "causal", "wide2", 0
            for data in ("wide6", "up", "special", "infinite", "walls") + more:
                yield t, 2, 4, 4, 200, 300, d, "none", data, 0
            for n in () if few else (100, 1000, 5000):
                yield t, 2, 4, 4, 1, n, d, "none", "wide2", 0
            yield t, 2, 8, 2, 200, 300, d, "none", "wide2", 0.3


def cases(chosen):
    if chosen == "few":
        rows = [("flash", *x) for x in flash_cases(("f16", "bf16"), (64, 128), True)]
        rows += [("flash", *x) for x in flash_cases(("bf16",), (32, 96, 256), True) if x[7] in ("plain", "up")]
        rows += [("cudnn", *x) for x in other_cases(True)]
    else:
        rows = [("flash", *x) for x in flash_cases(("f16", "bf16"), (64, 128), False)]
        rows += [("flash", *x) for x in flash_cases(("bf16",), (32, 96, 256), True)]
        rows += [(b, *x) for b in ("cudnn", "efficient", "math") for x in other_cases(False)]
    for row in rows:
        print(*row)


def parsed(line):
    """A line of cases as a dict."""
    words = line.split()[:len(FIELDS)]
    return {f: float(w) if f == "scale" else int(w) if w.isdigit() else w for f, w in zip(FIELDS, words)}


# --- inputs --------------------------------------------------------------------------------

def elements(name, shape, which, binades):
    """Encodings of elements of a shape; `binades` is added to the exponent and broadcasts."""
    bits, exponent, _ = FORMATS[name]
    x = np.arange(np.prod(shape), dtype=np.uint32) + np.uint32(0x9e3779b9 * which & 0xffffffff)
    for shift, factor in ((16, 0x7feb352d), (15, 0x846ca68b), (16, 1)):
        x = (x ^ x >> np.uint32(shift)) * np.uint32(factor)
    x = x.reshape(shape)
    e = np.uint32(exponent) + (x >> np.uint32(24)) % np.uint32(4) + np.asarray(binades, np.uint32)
    return ((x >> np.uint32(31)) << np.uint32(15) | e << np.uint32(bits)
            | x & np.uint32((1 << bits) - 1)).astype(np.uint16)


def operands(c):
    """Encodings of Q, K and V of a case, each batch x heads x length x head_dim.

    plain     magnitudes in [1/8, 2): scores of about 1
    wideN     Q is 2^N times as large
    up, down  Q is 4 times as large, the magnitude of K grows or falls with its index, by 2^5 in all
    special   as wide2, an infinity and a NaN in Q and in V, an infinity in the last V
    infinite  as wide2, an infinity in K
    walls     as wide2, the first element of the upper half of K is -infinity
    tiny      as wide6, every second V is 2^124 times as large"""
    name, b, d = c["type"], c["batch"], c["head_dim"]
    data, infinity = c["data"], FORMATS[c["type"]][2]
    more = {"plain": 0, "wide4": 4, "wide6": 6, "tiny": 6}.get(data, 2)
    key = np.arange(c["k_length"])[:, None]
    drift = 5 * key // c["k_length"]
    drift = {"up": drift, "down": 5 - drift}.get(data, 0)
    q = elements(name, (b, c["heads"], c["q_length"], d), 1, more)
    k = elements(name, (b, c["kv_heads"], c["k_length"], d), 2, drift)
    v = elements(name, (b, c["kv_heads"], c["k_length"], d), 3, key % 2 * 124 if data == "tiny" else 0)
    if data == "special":
        q[..., 3, 1], q[..., 7, 2] = infinity, infinity | 1
        v[..., 5, 2], v[..., 6, 3], v[..., -1, 4] = infinity | 0x8000, infinity | 1, infinity
    elif data == "infinite":
        k[..., 11, 0] = infinity
    elif data == "walls":
        k[..., c["k_length"] // 2:, 0] = infinity | 0x8000
    return q, k, v


def sampled_rows(length):
    """Indices of rows at the edges of tiles, and every 61st."""
    edges = {x + y for x in (0, 64, 128, length) for y in (-1, 0, 9)}
    return sorted(r for r in edges | set(range(0, length, 61)) if 0 <= r < length)


def ends(count):
    return sorted({0, count - 1})


def sample(x):
    """Sampled batches, heads and rows of an array batch x heads x length x ..."""
    return x[ends(x.shape[0])][:, ends(x.shape[1])][:, :, sampled_rows(x.shape[2])]


# --- PyTorch -------------------------------------------------------------------------------

def attend(torch, c, q, k, v):
    """O and, except of the math backend, the log-sum-exps."""
    op, scale, causal = torch.ops.aten, c["scale"] or None, c["mask"] == "causal"
    if c["backend"] == "flash":
        o, lse, *_ = op._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, scale=scale)
    elif c["backend"] == "cudnn":
        o, lse, *_ = op._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal, scale=scale)
    elif c["backend"] == "efficient":
        o, lse, *_ = op._scaled_dot_product_efficient_attention(q, k, v, None, True, 0.0, causal, scale=scale)
    else:
        with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.MATH]):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=causal, scale=scale, enable_gqa=c["heads"] != c["kv_heads"]), None
    return o, lse.reshape(*o.shape[:2], -1)[:, :, :o.shape[2]]  # some pad the queries


def kernels(torch, call):
    """The result of call() and the names of the kernels that ran."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        result = call()
        torch.cuda.synchronize()
    others = ("Memcpy", "Memset", "cuda", "cuL", "Activity", "Lazy", "Runtime")
    return result, [short_name(e.key) for e in p.key_averages() if not e.key.startswith(others)]


def short_name(kernel):
    """The beginning of a kernel's name, with the sizes of its tiles."""
    return kernel.removeprefix("void ").removeprefix("pytorch_flash::").split(", false")[0][:84]


def on_device(torch, name, x):
    return torch.from_numpy(x.view(np.int16)).cuda().view({"f16": torch.float16, "bf16": torch.bfloat16}[name])


def run_one(torch, c, encodings):
    q, k, v = (on_device(torch, c["type"], x) for x in encodings)
    (o, lse), names = kernels(torch, lambda: attend(torch, c, q, k, v))
    bits = o.contiguous().view(torch.int16).cpu().numpy().view(np.uint16)
    lse = None if lse is None else lse.contiguous().view(torch.int32).cpu().numpy().view(np.uint32)
    return bits, lse, names


def run(out):
    import torch.nn.attention
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, "
          f"{torch.cuda.get_device_name()}", file=sys.stderr)
    lines, samples = sys.stdin.read().splitlines(), {"o": [], "lse": []}
    rows = [parsed(line) for line in lines]
    with open(out + ".tsv", "w") as table, ThreadPoolExecutor(16) as pool:
        for line, c, encodings in zip(lines, rows, pool.map(operands, rows)):
            try:
                o, lse, names = run_one(torch, c, encodings)
            except Exception as error:  # a backend refuses a case: the others are recorded
                print(line, str(error).splitlines()[0], file=sys.stderr)
                continue
            samples["o"].append(sample(o).ravel())
            if lse is not None:
                samples["lse"].append(sample(lse).ravel())
            digest = hashlib.sha256(o.tobytes()).hexdigest()
            print(line, digest, "; ".join(names), sep="\t", file=table)
    for name, x in samples.items():
        np.save(f"{out}_{name}.npy", np.concatenate(x))


def inputs(out):
    arrays = {}
    for i, line in enumerate(sys.stdin):
        arrays.update({f"{n}{i:04d}": x for n, x in zip("qkv", operands(parsed(line)))})
    np.savez_compressed(out + ".npz", **arrays)


def main():
    what = sys.argv[1:]
    if what[:1] == ["cases"] and len(what) <= 2:
        cases((what + ["all"])[1])
    elif len(what) == 2 and what[0] in ("run", "inputs"):
        (run if what[0] == "run" else inputs)(what[1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
