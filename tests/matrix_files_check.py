# SPDX-License-Identifier: BSD-3-Clause
"""Matrices in files of every kind and format.  Run by matrix_files.sh in an empty folder.

A and B are integers that every format here has, so D is the same whatever file they come
from; D in a short format is rounded here by NumPy."""

import json
import struct
import subprocess

import numpy as np

from checks import check, plan

try:
    import torch
except ImportError:
    torch = None
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None
try:
    import safetensors.numpy
except ImportError:
    safetensors = None

M, N, K = 13, 11, 24
draw = np.random.default_rng(3)
A, B = (draw.integers(-8, 9, shape).astype("f4") for shape in ((M, K), (K, N)))
C = draw.uniform(-1, 1, (M, N)).astype("f4")


def bitcut(*words):
    done = subprocess.run(["bitcut", *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    return done.stderr or (f"status {done.returncode}" if done.returncode else "")


def gemm(a, b, *words, output="D.npy"):
    """D of two files."""
    wrong = bitcut("gemm", "--recipe", "plain", "--unit", "h100", "--reference", "none",
                   "-a", a, "-b", b, "-o", output, *words)
    assert not wrong, wrong
    return np.load(output) if output.endswith(".npy") else None


def bf16(x):
    """Encodings of FP32 values that bf16 has."""
    return (x.view("u4") >> 16).astype("u2")


def fp8(x, fraction_bits, bias):
    """Encodings of FP32 values, which the format has as normal numbers or zero."""
    fraction, exponent = np.frexp(np.abs(x))
    field = np.where(x == 0, 0, exponent - 1 + bias)
    rest = np.where(x == 0, 0, (2 * fraction - 1) * 2**fraction_bits)
    assert (rest == np.floor(rest)).all()
    return (np.signbit(x) * 128 + field * 2**fraction_bits + rest).astype("u1")


def write_safetensors(name, tensors):
    """The file as safetensors lays it out, from type, shape and bytes of each tensor."""
    header, data = {}, b""
    for key, (kind, x) in tensors.items():
        header[key] = {"dtype": kind, "shape": x.shape,
                       "data_offsets": [len(data), len(data) + x.nbytes]}
        data += x.tobytes()
    text = json.dumps(header).encode()
    with open(name, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


# --- files of A and B ---------------------------------------------------------------------

np.save("A.npy", A)
np.save("B.npy", B)
WANT = gemm("A.npy", "B.npy")
np.save("A16.npy", A.astype("f2"))
np.save("B64.npy", np.asfortranarray(B.astype("f8")))
np.save("A8.npy", A.astype("i1"))
np.save("B32.npy", B.astype("i4"))
np.save("Au.npy", bf16(A))
np.save("Av.npy", bf16(A).view("V2"))
np.save("Be.npy", fp8(B, 3, 7))
np.save("Bv.npy", fp8(B, 3, 7).view("V1"))
np.save("A4.npy", A.view("u4"))
np.savez("AB.npz", a=A, b=B.astype("f2"))
np.savez_compressed("ABz.npz", a=np.asfortranarray(A), b=fp8(B, 3, 7))
bf16(A).tofile("A.bin")
fp8(B, 3, 7).tofile("B.raw")
write_safetensors("AB.safetensors", {
    "a": ("BF16", bf16(A)), "b": ("F8_E4M3", fp8(B, 3, 7)), "i": ("I8", B.astype("i1")),
    "h": ("F16", A.astype("f2"))})

PAIRS = [
    ("f2 and f8", "A16.npy", "B64.npy"),
    ("i1 and i4", "A8.npy", "B32.npy"),
    ("encodings", "Au.npy", "Be.npy", "--format-a", "bf16", "--format-b", "e4m3"),
    ("types of ml_dtypes", "Av.npy", "Bv.npy", "--format-a", "bf16", "--format-b", "e4m3"),
    ("values that the format has", "A.npy", "B.npy", "--format", "e4m3"),
    ("FP32 encodings", "A4.npy", "B.npy", "--format", "f32"),
    (".npz", "AB.npz:a", "AB.npz:b"),
    ("compressed .npz", "ABz.npz:a", "ABz.npz:b.npy", "--format-b", "e4m3"),
    ("raw files", "A.bin", "B.raw", "--format-a", "bf16", "--format-b", "e4m3",
     "--shape-a", f"{M}x{K}", "--shape-b", f"{K}x{N}"),
    ("safetensors", "AB.safetensors:a", "AB.safetensors:b"),
    ("safetensors of f16 and s8", "AB.safetensors:h", "AB.safetensors:i"),
]

if torch:
    a, b = torch.tensor(A), torch.tensor(B)
    torch.save(a, "A.pt")
    torch.save({"b": b.bfloat16(), "more": {"b": b.half()}, "epoch": 3, "bt": b.t().contiguous().t(),
                "part": torch.cat([b, b], 1)[:, N:]}, "B.pth")
    layer = torch.nn.Linear(K, N, bias=False)
    layer.weight.data = b.t().contiguous()
    torch.save(layer.state_dict(), "layer.pt")
    PAIRS += [("torch.save", "A.pt", "B.pth:b"), ("a dictionary in one", "A.pt", "B.pth:more/b"),
              ("a transposed tensor", "A.pt", "B.pth:bt"), ("a part of a tensor", "A.pt", "B.pth:part")]
    if hasattr(torch, "float8_e4m3fn"):
        torch.save(b.to(torch.float8_e4m3fn), "B8.pt")
        PAIRS.append(("torch.float8_e4m3fn", "A.pt", "B8.pt"))
if ml_dtypes:
    np.save("Am.npy", A.astype(ml_dtypes.bfloat16))
    np.save("Bm.npy", B.astype(ml_dtypes.float8_e4m3fn))
    PAIRS.append(("ml_dtypes", "Am.npy", "Bm.npy", "--format-a", "bf16", "--format-b", "e4m3"))
if safetensors:
    safetensors.numpy.save_file({"a": A, "b": B.astype("f2")}, "S.safetensors")
    PAIRS.append(("safetensors' own file", "S.safetensors:a", "S.safetensors:b"))

for what, *files in PAIRS:
    check(what, "" if gemm(*files).tobytes() == WANT.tobytes() else "D has other bits")

if torch:
    error = bitcut("gemm", "--recipe", "plain", "--unit", "h100", "-a", "A.pt", "-b", "layer.pt:weight")
    check("a layer's weight is not transposed", "" if "B looks transposed" in error else error)

# --- D --------------------------------------------------------------------------------------

np.save("C.npy", C)
scaled = ("-c", "C.npy", "--alpha", "0.01")
D = gemm("A.npy", "B.npy", *scaled)


def rounded_bf16(x):
    bits = x.view("u4").astype("u8")
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("u2")


got = gemm("A.npy", "B.npy", *scaled, "--format-d", "f16")
check("D in f16", "" if got.dtype == np.float16 and (got == D.astype("f2")).all() else got.dtype)
got = gemm("A.npy", "B.npy", *scaled, "--format-d", "bf16")
check("D in bf16", "" if got.dtype == np.uint16 and (got == rounded_bf16(D)).all() else got.dtype)
got = gemm("A.npy", "B.npy", "--alpha", "0.0625", "--format-d", "e5m2")
if torch and hasattr(torch, "float8_e5m2"):
    want = torch.tensor(gemm("A.npy", "B.npy", "--alpha", "0.0625", output="E.npy"))
    want = want.to(torch.float8_e5m2).view(torch.uint8).numpy()
    check("D in e5m2", "" if (got == want).all() else "other encodings")
check("D in e5m2 has encodings", "" if got.dtype == np.uint8 else got.dtype)
gemm("A.npy", "B.npy", *scaled, "--format-d", "f16", output="D.mtx")
gemm("A.npy", "B.npy", *scaled, "--format-d", "f16", output="D16.npy")
wrong = bitcut("convert", "D.mtx", "--to", "f16", "-o", "Dm.npy")
check("D of f16 as text",
      wrong or ("" if (np.load("Dm.npy") == np.load("D16.npy")).all() else "other values"))
np.savez_compressed("Dz.npz", d=D)
recipe = ("verify", "--recipe", "plain", "--unit", "h100", "-a", "AB.npz:a", "-b", "AB.safetensors:i")
check("D in an archive", bitcut(*recipe, *scaled, "-d", "Dz.npz:d"))
plan()
