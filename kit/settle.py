#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Settle which matrix unit a device has: python3 settle.py [DEVICE] > paste.txt

Needs Python 3 and PyTorch alone.  DEVICE is cuda (also for ROCm), xpu, mps or cpu; by
default the first of these that is there.  Multiplies seeded matrices in every format
that the device takes, and prints a line of text for each product.  Send the output as it
is, by mail or in a chat; `bitcut replay paste.txt` says which matrix units give it.
It takes less than a minute and writes no file.

A line names the operation, the formats and sizes, and the inputs, which are made by
integer arithmetic alone, so that any version of PyTorch and any device has the same; then
digests of eight groups of rows of the result (g0 to g7), eight results (w0 to w7, in
hexadecimal), and the root mean square and the largest of its errors.  Its last word is a
checksum.  A line with `no=` says that the device or PyTorch lacks the operation.
"""
import ctypes
import hashlib
import math
import os
import platform
import subprocess
import sys
import warnings

os.environ.setdefault("HIPBLASLT_ALLOW_TF32", "1")  # PyTorch for ROCm reads it at its start
import torch
import torch.nn.functional as F

# --- formats: bits, exponent bits, fraction bits, bias, unused low bits, PyTorch's name ---

FORMATS = {
    "f64": (64, 11, 52, 1023, 0, "float64"),
    "f32": (32, 8, 23, 127, 0, "float32"),
    "tf32": (32, 8, 10, 127, 13, "float32"),
    "f16": (16, 5, 10, 15, 0, "float16"),
    "bf16": (16, 8, 7, 127, 0, "bfloat16"),
    "e4m3": (8, 4, 3, 7, 0, "float8_e4m3fn"),
    "e5m2": (8, 5, 2, 15, 0, "float8_e5m2"),
    "e4m3fnuz": (8, 4, 3, 8, 0, "float8_e4m3fnuz"),
    "e5m2fnuz": (8, 5, 2, 16, 0, "float8_e5m2fnuz"),
    "e2m1": (4, 2, 1, 1, 0, "float4_e2m1fn_x2"),
    "ue8m0": (8, 8, 0, 127, 0, "float8_e8m0fnu"),
    "ue4m3": (8, 4, 3, 7, 0, "float8_e4m3fn"),
    "s8": (8, 0, 0, 0, 0, "int8"),
    "s32": (32, 0, 0, 0, 0, "int32"),
}
INTEGERS = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}

# --- the lines ----------------------------------------------------------------------------

# Inputs: the least and largest exponent of A, of B, the largest of a product, the span of
# exponents of products.
RANGES = {
    "f64": "-30:30:-30:30:8:60",
    "f32": "-30:30:-30:30:8:36",
    "tf32": "-30:30:-30:30:8:36",
    "bf16": "-30:30:-30:30:8:36",
    "f16": "-14:13:-14:13:8:32",
    "e5m2": "-14:13:-14:13:8:32",
    "e4m3": "-6:7:-6:7:12:26",
    "e5m2fnuz": "-15:13:-15:13:8:32",
    "e4m3fnuz": "-7:6:-7:6:11:26",
    "e2m1": "0:2:0:2:4:4",
    "s8": "-128:127:-128:127:0:0",
}
TINY = {
    "f32": "-126:-90:-30:0:-120:36",
    "tf32": "-126:-90:-30:0:-120:36",
    "bf16": "-126:-90:-30:0:-120:36",
    "f16": "-14:10:-14:4:-8:20",
    "e4m3": "-6:7:-6:7:0:12",
}
FLAT = "-3:0:-3:0:0:0"


def line(op, a, d, k, inputs="terms", b=None, m=64, n=64, **flags):
    b = b or a
    if inputs == "tiny":
        e = TINY[a]
    elif inputs == "flat" and a != "s8":
        e = FLAT
    else:
        ea, eb = RANGES[a].split(":"), RANGES[b].split(":")
        if a != b:  # the range of B lies in that of A, so that products can cancel
            eb[2] = str(max(int(ea[2]), int(eb[2])))
            eb[3] = str(min(int(ea[3]), int(eb[3])))
            ea[4:] = ["12", "26"] if a.startswith("e4m3") else ["8", "24"]
        e = ":".join(ea[:2] + eb[2:4] + ea[4:])
    return dict(op=op, a=a, b=b, d=d, m=m, n=n, k=k, inputs=inputs, e=e, **flags)


def lines():
    """The lines, in order.  Seeds that are given distinguish more units than others."""
    rows = []
    for a in ("f16", "bf16"):
        rows += [line("mm", a, d, k) for k in (16, 64) for d in (a, "f32")]
        rows[-1]["seed"] = 5 if a == "f16" else 2
        rows += [line("mm", a, d, 32, "tiny") for d in (a, "f32")]
        rows += [line("mm", a, d, 16, "edge") for d in (a, "f32")]
        rows += [line("linear", a, a, 64)]
    rows += [line("mm", "f16", "f16", k, acc="f16") for k in (16, 64)]
    rows += [line("mm", "f16", "f16", 32, "tiny", acc="f16")]
    rows += [line("mm", "f16", "f16", 16, "edge", acc="f16")]
    rows += [line("mm", "tf32", "f32", k, math="tf32", seed=seed)
             for k, seed in ((8, 57), (64, 30))]
    rows += [line("mm", "tf32", "f32", 32, "tiny", math="tf32")]
    rows += [line("mm", "tf32", "f32", 16, "edge", math="tf32")]
    rows += [line("mm", "f32", "f32", 16, "ties", math="tf32")]
    rows += [line("mm", "f32", "f32", k) for k in (8, 64)]
    rows += [line("mm", "f32", "f32", 32, "tiny"), line("mm", "f64", "f64", 32)]
    for a, b in (("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e4m3", "e5m2")):
        rows += [line("scaled", a, d, k, b=b, fast=1)
                 for k, d in ((32, "f32"), (64, "f32"), (64, "bf16"))]
        rows += [line("scaled", a + "fnuz", "bf16", 64, b=b + "fnuz", fast=1)]
    rows += [line("scaled", "e4m3", "f32", 32, "tiny", fast=1)]
    rows += [line("scaled", "e4m3fnuz", "f32", 64, fast=1)]
    rows += [line("scaled", "e4m3", "bf16", 64, fast=0)]
    rows += [line("scaled", a, d, 128, scale=scale, seed=seed) for d in ("f32", "bf16")
             for a, scale, seed in (("e4m3", "ue8m0:32:8", 68), ("e2m1", "ue4m3:16:6", 68),
                                    ("e2m1", "ue8m0:32:12", 113))]
    rows += [line("mm", "s8", "s32", 64, "flat")]
    for a in ("f16", "bf16"):
        rows += [line("mm", a, d, 4096, "flat") for d in (a, "f32")]
        rows += [line("mm", a, d, 1024, "flat", m=512, n=512) for d in (a, "f32")]
        rows += [line("mm", a, a, 4096, "flat", m=1, n=256)]
    rows += [line("mm", "f32", "f32", 1024, "flat", m=256, n=256),
             line("mm", "tf32", "f32", 1024, "flat", m=256, n=256, math="tf32")]
    rows += [line("scaled", "e4m3", "bf16", 1024, "flat", m=512, n=512, fast=fast)
             for fast in (0, 1)]
    rows += [line("sdpa", "f16", "f16", 64, "flat", m=128, n=128)]
    for seed, x in enumerate(rows, 1):
        x.setdefault("seed", seed)
    return rows


# --- integers -----------------------------------------------------------------------------

def mix(x):
    """A hash of 32 bits."""
    for factor in (0x45d9f3b, 0x45d9f3b, 1):
        x = ((x ^ (x >> 16)) * factor) & 0xffffffff
    return x


def hashed(seed, stream, i, k):
    """hashed[i][k] of a stream of a seed."""
    return mix((mix((mix(8 * seed + stream) + i) & 0xffffffff) + k) & 0xffffffff)


def column(count):
    return torch.arange(count, dtype=torch.int64).reshape(-1, 1)


def row(count):
    return torch.arange(count, dtype=torch.int64).reshape(1, -1)


class Element:
    """Sign, exponent and fraction of elements, from which `codes` makes encodings."""

    def __init__(self, high, low):
        self.fraction = (high << 20) | (low >> 12)  # 52 bits
        self.sign = low & 1
        self.zero = torch.zeros_like(low)
        self.subnormal = torch.zeros_like(low)
        self.infinite = torch.zeros_like(low)
        self.exponent = torch.zeros_like(low)

    def codes(self, name):
        bits, ebits, fbits, bias, pad, _ = FORMATS[name]
        field = torch.where(self.subnormal > 0, 0 * self.exponent, self.exponent + bias)
        code = (field << fbits) | (self.fraction >> (52 - fbits))
        code = torch.where(self.infinite > 0, 0 * code + (((1 << ebits) - 1) << fbits), code)
        code = torch.where(self.zero > 0, 0 * code, code)
        sign = self.sign
        if name.endswith("fnuz"):
            sign = sign * (1 - self.zero)
        if name.startswith("ue"):
            sign = 0 * sign
        if ebits + fbits == 63:  # the sign of binary64 is the sign of int64
            return torch.where(sign > 0, code | -(1 << 63), code)
        return ((sign << (ebits + fbits)) | code) << pad


def flat(x, name, seed, streams, rows, cols, least, most):
    """Elements whose exponents lie evenly from least to most; integers alike."""
    h = [hashed(seed, s, column(rows), row(cols)) for s in streams]
    value = least + h[0] % (most - least + 1)
    if name == "s8":
        return value & 0xff
    x = Element(h[1], h[2])
    x.exponent = value
    return x.codes(name)


def tied(fraction, i):
    """Fractions halfway between two of tf32, in odd rows of bf16."""
    low = torch.where(i % 2 == 0, 0 * fraction + 41, 0 * fraction + 44)
    return ((fraction >> (low + 1)) * 2 + 1) << low


def terms(x):
    """A and the transpose of B whose sums differ between units.

    Row i of A belongs to group i % 8.  The exponents of its products span a quarter, ...
    of the whole range; in groups 4 to 7 most products cancel another one, whose k differs
    in one bit, and the others are small.
    """
    seed, m, n, k = x["seed"], x["m"], x["n"], x["k"]
    alow, ahigh, blow, bhigh, top, span = map(int, x["e"].split(":"))
    i, j, at = column(m), column(n), row(k)
    group, edge = i % 8, x["inputs"] == "edge"
    b = Element(hashed(seed, 1, j, 0 * at), hashed(seed, 2, j, 0 * at))
    eb = blow + hashed(seed, 0, 0 * at, at) % (bhigh - blow + 1)
    b.exponent = eb + 0 * j
    paired = (group >= 4) | ((group == 3) & edge)
    bit = 1 << ((i // 8) % (k.bit_length() - 1))
    bit = torch.where(group >= 4, bit, 0 * bit + 1)
    first = torch.where(paired, at & ~bit, at + 0 * i)
    other = torch.where(paired, at ^ bit, at + 0 * i)
    cancels = paired & ((hashed(seed, 3, i, first) % 4 != 0) | (group < 4))
    source = torch.where(cancels, first, at + 0 * i)
    choice = hashed(seed, 3, i, source)
    wide = torch.clamp(span * (group % 4) // 3, min=1)
    wish = torch.where(
        paired, torch.where(cancels, top - (choice >> 8) % (wide // 2 + 1),
                            top - wide + (choice >> 8) % (wide // 8 + 1)),
        top - (choice >> 8) % (wide + 1))
    deep = (group == 1) & (x["inputs"] == "tiny") & (at >= 0)
    wish = torch.where(deep, wish - 3 * span // 4, wish)
    e1, e2 = eb[0][at + 0 * i], eb[0][torch.where(cancels, other, at + 0 * i)]
    exponent = torch.max(wish, torch.max(e1, e2) + alow)
    exponent = torch.min(exponent, torch.min(e1, e2) + ahigh)
    a = Element(hashed(seed, 4, i, source), hashed(seed, 5, i, source))
    a.exponent = exponent - e1
    a.sign = a.sign ^ (cancels & (first != at)).long()
    a.zero = ((group % 2 == 1) & (group < 4)
              & ((hashed(seed, 5, i, at) >> 1) % 16 == 0)).long()
    small = (paired & ~cancels) | deep
    a.zero = torch.where(small & (exponent > wish), 0 * a.zero + 1, a.zero)
    if x["inputs"] == "ties":
        a.fraction = tied(a.fraction, i + 0 * at)
        b.fraction = tied(b.fraction, j + 0 * at)
    if x["inputs"] == "tiny":
        a.subnormal = ((group // 2 == 1) & (at + 0 * i >= 0)).long()
    if edge:
        a.zero = a.zero * (group != 3) + ((group == 2) | ((group == 3) & (at > 1))).long()
        a.zero = torch.clamp(a.zero, max=1)
        a.sign = torch.where(group == 2, 0 * a.sign + 1, a.sign)
        a.infinite = (((group == 0) & (at == 1)) | ((group == 1) & (at < 2))).long()
        a.zero = a.zero * (1 - a.infinite)
        a.sign = torch.where((group == 1) & (at < 2), at + 0 * i, a.sign)
        large = ((group == 5) | (group == 6)) & (at < 4)
        a.zero = torch.where(large, 0 * a.zero, a.zero)
        a.exponent = torch.where(large, 0 * a.exponent + FORMATS[x["a"]][3], a.exponent)
        a.sign = torch.where(large, at % 2 * (group == 6), a.sign)
    return a.codes(x["a"]), b.codes(x["b"])


def inputs(x):
    """The encodings of A, m x k, and of the transpose of B, n x k."""
    low = list(map(int, x["e"].split(":")))
    if x["inputs"] != "flat":
        return terms(x)
    return (flat(x, x["a"], x["seed"], (3, 4, 5), x["m"], x["k"], low[0], low[1]),
            flat(x, x["b"], x["seed"], (0, 1, 2), x["n"], x["k"], low[2], low[3]))


def scales(x, stream):
    """The scale of each block of k, the same for all rows."""
    name, block, most = x["scale"].split(":")
    return flat(x, name, x["seed"] + 4096 * stream, (0, 1, 2), 1, x["k"] // int(block),
                -int(most), int(most))


def bias(x):
    """A bias for each column."""
    return flat(x, x["a"], x["seed"], (6, 7, 8), 1, x["n"], 0, 8)


# --- tensors ------------------------------------------------------------------------------

def tensor(codes, name, device):
    """A tensor with these encodings."""
    bits, dtype = FORMATS[name][0], getattr(torch, FORMATS[name][5])
    if bits == 4:  # two in a byte, the first in the low half
        codes, bits = codes[:, ::2] | (codes[:, 1::2] << 4), 8
    if bits < 64:
        codes = codes - ((codes >> (bits - 1)) << bits)
    codes = codes.to(INTEGERS[bits]).contiguous()
    return codes.to(device) if dtype == codes.dtype else codes.view(dtype).to(device)


def swizzled(codes, rows, name, device):
    """Block scales as tcgen05 takes them: tiles of 128 rows and 4 blocks."""
    tiles = codes.reshape(-1, 1, 4).expand(-1, 128, 4).reshape(-1)
    return tensor(tiles.repeat((rows + 127) // 128).reshape(1, -1), name,
                  device).reshape(-1)


def number(codes, name):
    """The values of encodings as float64."""
    if name == "e2m1":
        table = torch.tensor([0, .5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)
        return torch.where(codes >= 8, -table[codes & 7], table[codes & 7])
    return tensor(codes, name, "cpu").to(torch.float64)


# --- operations ---------------------------------------------------------------------------

def multiply(x, a, b, device):
    """The result of torch.mm; math=tf32 and acc=f16 set what PyTorch calls so."""
    if x["a"] == "s8":
        return torch._int_mm(a, b)
    if x["d"] == "f32" and a.dtype != torch.float32:
        return torch.mm(a, b, out_dtype=torch.float32)
    return torch.mm(a, b)


def linear(x, a, b, device):
    return F.linear(a, b.t(), tensor(bias(x), x["a"], device)[0])


def scaled(x, a, b, device):
    options = dict(out_dtype=getattr(torch, FORMATS[x["d"]][5]))
    if "scale" in x:
        name = x["scale"].split(":")[0]
        options.update(scale_a=swizzled(scales(x, 1), x["m"], name, device),
                       scale_b=swizzled(scales(x, 2), x["n"], name, device))
    else:
        one = torch.ones((), dtype=torch.float32, device=device)
        options.update(scale_a=one, scale_b=one, use_fast_accum=bool(x["fast"]))
    d = torch._scaled_mm(a, b, **options)
    return d[0] if isinstance(d, tuple) else d


def attention(x, a, b, device):
    q, k = a[None, None], b.t()[None, None]
    return F.scaled_dot_product_attention(q, k, k)[0, 0]


OPERATIONS = {"mm": multiply, "linear": linear, "scaled": scaled, "sdpa": attention}


def set_switch(name, value):
    """Set a switch of torch.backends.cuda.matmul; false if this PyTorch lacks it."""
    try:
        getattr(torch.backends.cuda.matmul, name)
        setattr(torch.backends.cuda.matmul, name, value)
    except (AttributeError, AssertionError, RuntimeError):
        return False
    return True


def modes(x, device):
    """Set the switches of PyTorch for a line; false if it lacks one that the line needs."""
    tf32, f16 = x.get("math") == "tf32", x.get("acc") == "f16"
    if hasattr(torch, "set_float32_matmul_precision"):
        torch.set_float32_matmul_precision("high" if tf32 else "highest")
    set_switch("allow_tf32", tf32)
    return (set_switch("allow_fp16_accumulation", f16) and device == "cuda") or not f16


# --- lines of text ------------------------------------------------------------------------

def word(text, most=60):
    """Text without blanks and without characters that mail or a chat may change."""
    good = "".join(c if c.isascii() and (c.isalnum() or c in "._+-") else "_"
                   for c in str(text))
    while "__" in good:
        good = good.replace("__", "_")
    return good.strip("_")[:most] or "none"


def record(*words):
    text = " ".join(words)
    return text + " sum=" + hashlib.sha256(text.encode()).hexdigest()[:8]


def part(size, k):
    """The rows or columns that are digested: all if few, otherwise 16, equally spaced."""
    if size <= 16 or (size <= 64 and k <= 128):
        return torch.arange(size)
    return torch.arange(16) * (size // 16)


def encodings(d):
    """Encodings of a result, as bytes; NaNs are made one."""
    d = d.contiguous()
    if d.dtype == torch.int32:
        return d.reshape(-1), 32
    bits = torch.finfo(d.dtype).bits
    name = [x for x in ("f64", "f32", "f16", "bf16")
            if getattr(torch, FORMATS[x][5]) == d.dtype][0]
    _, ebits, fbits, _, _, _ = FORMATS[name]
    nan = ((1 << (ebits + 1)) - 1) << (fbits - 1)
    code = d.view(INTEGERS[bits])
    return torch.where(torch.isnan(d), torch.full_like(code, nan), code).reshape(-1), bits


def raw(code):
    code = code.contiguous()
    return ctypes.string_at(code.data_ptr(), code.numel() * code.element_size())


def statistics(d, a, b, x):
    """The root mean square and the largest error of finite results."""
    exact = a @ b.t()
    d = d.to(torch.float64)
    good = torch.isfinite(d) & torch.isfinite(exact)
    e = (d - exact)[good]
    if not e.numel():
        return []
    return ["rms=%.6g" % math.sqrt(float((e * e).mean())), "max=%.6g" % float(e.abs().max())]


def result(x, device):
    """The words of a result."""
    ca, cb = inputs(x)
    a, b = tensor(ca, x["a"], device), tensor(cb, x["b"], device).t()
    d = OPERATIONS[x["op"]](x, a, b, device)
    wanted = getattr(torch, FORMATS[x["d"]][5])
    if d.dtype != wanted:
        raise TypeError("result is " + str(d.dtype))
    d = d.cpu()
    rows, cols = part(d.shape[0], x["k"]), part(d.shape[1], x["k"])
    d = d[rows][:, cols].contiguous()
    code, bits = encodings(d)
    code = code.reshape(d.shape)
    words = []
    for g in range(8):
        digest = hashlib.sha256(raw(code[g::8])).hexdigest()
        words.append("g%d=%s" % (g, digest[:8]))
    for g in range(8):
        i, j = 9 * g % d.shape[0], (11 * g + 5) % d.shape[1]
        words.append("w%d=%0*x" % (g, bits // 4, int(code[i, j]) & ((1 << bits) - 1)))
    if x["op"] in ("mm", "scaled") and "scale" not in x and x["d"] not in ("s32", "f64"):
        words += statistics(d, number(ca, x["a"])[rows], number(cb, x["b"])[cols], x)
    return words


def described(x, at):
    words = ["settle:%d" % at] + ["%s=%s" % (key, x[key]) for key in
                                  ("op", "a", "b", "d", "m", "n", "k", "inputs", "seed", "e",
                                   "acc", "math", "fast", "scale") if key in x]
    return words


def reason(fault):
    """The first words of an exception."""
    text = " ".join(str(fault).split()) or "none"
    return "no=" + word(type(fault).__name__ + "_" + text, 100)


def settled(x, at, device):
    try:
        if not modes(x, device):
            raise NotImplementedError("switch")
        words = result(x, device)
    except Exception as fault:  # whatever a device, or a version of PyTorch, lacks
        words = [reason(fault)]
    return record(*(described(x, at) + words))


# --- the device ---------------------------------------------------------------------------

def available(name):
    if name == "cpu":
        return True
    if name == "mps":
        return hasattr(torch.backends, "mps") and torch.backends.mps.is_available()
    return hasattr(torch, name) and getattr(torch, name).is_available()


def processor():
    """The name of the processor."""
    try:
        if sys.platform == "darwin":
            return subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"],
                                  capture_output=True, text=True, check=True).stdout
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for text in file:
                if text.startswith("model name"):
                    return text.split(":", 1)[1]
    except (OSError, subprocess.SubprocessError):
        pass
    return platform.processor() or platform.machine()


def about(device):
    """What the device and PyTorch are."""
    words = {"device": device, "name": processor(), "machine": platform.machine(),
             "torch": torch.__version__}
    if device in ("cuda", "xpu"):
        module = getattr(torch, device)
        words["name"] = module.get_device_name(0)
        properties = module.get_device_properties(0)
        if torch.version.hip:
            words["arch"] = getattr(properties, "gcnArchName", "none").split(":")[0]
            words["hip"] = torch.version.hip
        elif device == "cuda":
            words["arch"] = "sm_%d%d" % torch.cuda.get_device_capability(0)
            words["cuda"] = torch.version.cuda
    elif device == "cpu":
        capability = getattr(getattr(torch.backends, "cpu", None), "get_cpu_capability", None)
        if capability:
            words["arch"] = capability()
    return ["%s=%s" % (key, word(value)) for key, value in words.items()]


def main():
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1].startswith("-")):
        print(__doc__, end="")
        return 0
    if sys.byteorder != "little":
        print("settle.py: needs a little-endian processor", file=sys.stderr)
        return 3
    names = sys.argv[1:] or [x for x in ("cuda", "xpu", "mps", "cpu") if available(x)]
    device = names[0]
    if device not in ("cuda", "xpu", "mps", "cpu") or not available(device):
        print("settle.py: no device " + word(device), file=sys.stderr)
        return 3
    warnings.filterwarnings("ignore")
    all_lines = lines()
    print(record("settle:begin", "version=1", "count=%d" % len(all_lines), *about(device)))
    for at, x in enumerate(all_lines, 1):
        print(settled(x, at, device), flush=True)
    print(record("settle:end", "count=%d" % len(all_lines)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
