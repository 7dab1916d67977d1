#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the GEMMs of libraries give on the NVIDIA GPU of this machine, and what explains it.

    gpu.py collect FOLDER MxNxK...   A, B and D of every case and size, into FOLDER
    gpu.py explain FOLDER [SECONDS]  asks `bitcut explain` of each, on all processors; writes
                                     FOLDER/found.jsonl, rows as record.sh makes them, and
                                     FOLDER/missed.jsonl

Needs PyTorch, Triton and cublas.so beside it (cublas.c says how it is built); explain needs
`bitcut` alone.  A kernel that fails may take its process along: `collect` says 7 then, and
goes on behind it if it is run again.  A and B are NumPy's of one generator, A first, whose
seed is 11000033 + 7919 m + 104729 n + k, rounded to the format of the operands.
"""
import concurrent.futures
import ctypes
import glob
import hashlib
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NO_DEVICE_ERROR = "CUDA error"


# --- what is multiplied -------------------------------------------------------------------

def collect(folder, sizes):
    import numpy as np
    import torch
    import triton
    import triton.language as tl

    cublas = ctypes.CDLL(HERE + "/cublas.so")
    if cublas.start():
        sys.exit("gpu.py: cuBLAS does not start")
    number = cublas.version()
    kinds = {  # of elements: of CUDA, of PyTorch
        "f32": (0, torch.float32), "f16": (2, torch.float16), "bf16": (14, torch.bfloat16),
        "e4m3": (28, torch.float8_e4m3fn)}
    computes = {
        "CUBLAS_COMPUTE_16F": 64, "CUBLAS_COMPUTE_32F": 68, "CUBLAS_COMPUTE_32F_FAST_16F": 74,
        "CUBLAS_COMPUTE_32F_FAST_16BF": 75, "CUBLAS_COMPUTE_32F_FAST_TF32": 77,
        "CUBLAS_COMPUTE_32F_EMULATED_16BFX9": 78}
    versions = {"cuBLAS": f"{number // 10000}.{number // 100 % 100}.{number % 100}",
                "PyTorch": torch.__version__, "Triton": triton.__version__}
    machine = {
        "device": torch.cuda.get_device_name(0),
        "driver": subprocess.run(["nvidia-smi", "--query-gpu=driver_version",
                                  "--format=csv,noheader"], capture_output=True, text=True,
                                 check=True).stdout.strip(),
        "date": time.strftime("%Y-%m-%d")}

    def call(function, a, b, case, turn, *more):
        """One of cublas.so, with A and B stored as the case's layout says."""
        layout = case.get("layout") or ("NN", "NT", "TN", "TT")[turn % 4]
        at = [layout[0] == "T", layout[1] == "T"]
        a, b = (x.to(kinds[case["operands"]][1]) for x in (a, b))
        stored = [x.t().contiguous() if t else x.contiguous() for x, t in zip((a, b), at)]
        d = torch.zeros(a.shape[0], b.shape[1], dtype=kinds[case["result"]][1], device="cuda")
        pointer = [ctypes.c_void_p(x.data_ptr()) for x in (*stored, d)]
        status = function(a.shape[0], b.shape[1], a.shape[1], *pointer,
                          kinds[case["operands"]][0], kinds[case["result"]][0],
                          computes[case["compute"]], *map(int, at), *more)
        return (None if status else d), {"layout": layout, "status": status}

    def gemm_ex(a, b, case, turn):
        return call(cublas.multiply, a, b, case, turn)

    def lt(a, b, case, turn):
        info = (ctypes.c_int * 6)()
        d, row = call(cublas.multiply_light, a, b, case, turn,
                      case["which"](turn), case.get("slices", 0), case.get("scheme", 0),
                      case.get("fast", 0), info)
        return d, {**row, "algorithm": list(info)[1:]}

    def matmul(a, b, case, turn):
        torch.backends.cuda.matmul.allow_tf32 = case.get("tf32", False)
        kind = kinds[case["operands"]][1]
        return a.to(kind) @ b.to(kind), {"layout": "NN"}

    def scaled(a, b, case, turn):
        one, kind = torch.tensor(1.0, device="cuda"), kinds["e4m3"][1]
        d = torch._scaled_mm(a.to(kind), b.to(kind).t().contiguous().t(), one, one,
                             out_dtype=torch.bfloat16)
        return d, {"layout": "NT"}

    @triton.jit
    def tile_kernel(a, b, d, m, n, k, slices: tl.constexpr, rows: tl.constexpr,
                    cols: tl.constexpr, step: tl.constexpr, how: tl.constexpr):
        i = tl.program_id(0) * rows + tl.arange(0, rows)
        j = tl.program_id(1) * cols + tl.arange(0, cols)
        steps = tl.cdiv(k, step)
        each = tl.cdiv(steps, slices)
        first = tl.program_id(2) * each
        sums = tl.zeros((rows, cols), dtype=tl.float32)
        for t in range(first, min(first + each, steps)):
            p = t * step + tl.arange(0, step)
            x = tl.load(a + i[:, None] * k + p[None, :],
                        mask=(i[:, None] < m) & (p[None, :] < k), other=0.0)
            y = tl.load(b + p[:, None] * n + j[None, :],
                        mask=(p[:, None] < k) & (j[None, :] < n), other=0.0)
            sums = tl.dot(x, y, sums, input_precision=how)
        to, there = d + i[:, None] * n + j[None, :], (i[:, None] < m) & (j[None, :] < n)
        if slices == 1:
            tl.store(to, sums.to(d.dtype.element_ty), mask=there)
        else:
            tl.atomic_add(to, sums, mask=there)

    @triton.jit
    def stream_kernel(a, b, d, kept, m, n, k, steps, each, across, rows: tl.constexpr,
                      cols: tl.constexpr, step: tl.constexpr):
        program = tl.program_id(0)
        of_tile = tl.cdiv(k, step)
        at = program * each
        end = min(at + each, steps)
        while at < end:
            tile = at // of_tile
            first = at - tile * of_tile
            last = min(of_tile, first + end - at)
            i = tile // across * rows + tl.arange(0, rows)
            j = tile % across * cols + tl.arange(0, cols)
            sums = tl.zeros((rows, cols), dtype=tl.float32)
            for t in range(first, last):
                p = t * step + tl.arange(0, step)
                x = tl.load(a + i[:, None] * k + p[None, :],
                            mask=(i[:, None] < m) & (p[None, :] < k), other=0.0)
                y = tl.load(b + p[:, None] * n + j[None, :],
                            mask=(p[:, None] < k) & (j[None, :] < n), other=0.0)
                sums = tl.dot(x, y, sums)
            if first == 0:
                tl.store(d + i[:, None] * n + j[None, :], sums,
                         mask=(i[:, None] < m) & (j[None, :] < n))
            else:
                tl.store(kept + (program * rows + tl.arange(0, rows)[:, None]) * cols +
                         tl.arange(0, cols)[None, :], sums)
            at = at + last - first

    def tiles(a, b, case, turn):
        """Tiles of D by tl.dot; of several slices, which are added atomically."""
        rows, cols, step = case["tiles"][turn % len(case["tiles"])]
        kind, result = kinds[case["operands"]][1], kinds[case["result"]][1]
        m, k = a.shape
        n = b.shape[1]
        d = torch.zeros(m, n, dtype=result, device="cuda")
        slices = case.get("slices", 1)
        tile_kernel[(triton.cdiv(m, rows), triton.cdiv(n, cols), slices)](
            a.to(kind), b.to(kind), d, m, n, k, slices, rows, cols, step,
            case.get("precision", "tf32"))
        return d, {"layout": "NN", "tile": [rows, cols, step]}

    def stream(a, b, case, turn):
        """Stream-K: programs have as many steps each, and a tile what programs have of it;
        what a program began inside a tile is added afterwards, ascending."""
        rows, cols, step = 64, 64, 32
        programs = 5 + turn % 4 * 2
        kind = kinds[case["operands"]][1]
        a, b = a.to(kind), b.to(kind)
        m, k = a.shape
        n = b.shape[1]
        across, of_tile = triton.cdiv(n, cols), triton.cdiv(k, step)
        steps = triton.cdiv(m, rows) * across * of_tile
        each = triton.cdiv(steps, programs)
        d = torch.zeros(m, n, device="cuda")
        kept = torch.zeros(programs, rows, cols, device="cuda")
        stream_kernel[(programs,)](a, b, d, kept, m, n, k, steps, each, across, rows, cols,
                                   step)
        for p in range(programs):
            if p * each >= steps or p * each % of_tile == 0:
                continue
            tile = p * each // of_tile
            i, j = tile // across * rows, tile % across * cols
            h, w = min(rows, m - i), min(cols, n - j)
            d[i:i + h, j:j + w] += kept[p, :h, :w]
        return d, {"layout": "NN", "tile": [rows, cols, step], "programs": programs}

    # name: library, function, how, operands, result, and what is special
    f32, default = "CUBLAS_COMPUTE_32F", lambda turn: 0
    cases = {}

    def add(name, library, function, how, operands, result, **more):
        cases[name] = {"library": library, "function": function, "how": how,
                       "operands": operands, "result": result, **more}

    for name, operands, result, compute in (
            ("sgemm", "f32", "f32", f32), ("f16-f32", "f16", "f32", f32),
            ("f16-f16", "f16", "f16", f32), ("bf16-f32", "bf16", "f32", f32),
            ("bf16-bf16", "bf16", "bf16", f32), ("tf32", "f32", "f32", f32 + "_FAST_TF32"),
            ("hgemm", "f16", "f16", "CUBLAS_COMPUTE_16F"),
            ("fast-16f", "f32", "f32", f32 + "_FAST_16F"),
            ("fast-16bf", "f32", "f32", f32 + "_FAST_16BF"),
            ("bf16x9", "f32", "f32", f32 + "_EMULATED_16BFX9")):
        add(name, "cuBLAS", "cublasGemmEx", gemm_ex, operands, result, compute=compute)
    for name, result, fast in (("e4m3-f32", "f32", 0), ("e4m3-f32-fast", "f32", 1),
                               ("e4m3-bf16", "bf16", 0), ("e4m3-bf16-fast", "bf16", 1)):
        add(name, "cuBLAS", "cublasLtMatmul", lt, "e4m3", result, compute=f32, layout="NT",
            fast=fast, which=default)
    for name, operands, result, compute in (
            ("f16-f32", "f16", "f32", f32), ("bf16-bf16", "bf16", "bf16", f32),
            ("tf32", "f32", "f32", f32 + "_FAST_TF32"), ("f32", "f32", "f32", f32)):
        for slices, scheme in ((2, 1), (3, 2), (4, 2), (5, 1), (6, 4)):
            add(f"lt-{name}-{slices}-{scheme}", "cuBLAS", "cublasLtMatmul", lt, operands,
                result, compute=compute, which=lambda turn: turn % 3, slices=slices,
                scheme=scheme)
        add(f"lt-{name}-other", "cuBLAS", "cublasLtMatmul", lt, operands, result,
            compute=compute, layout="TN", which=lambda turn: 1 + turn % 5)
    for operands in ("f32", "f16", "bf16"):
        add("torch-" + operands, "PyTorch", "matmul", matmul, operands, operands)
    add("torch-tf32", "PyTorch", "matmul", matmul, "f32", "f32", tf32=True)
    add("torch-e4m3", "PyTorch", "_scaled_mm", scaled, "e4m3", "bf16")
    for name, operands, result, sizes_of, more in (
            ("f16", "f16", "f32", ((64, 64, 32), (128, 128, 64), (64, 32, 128)), {}),
            ("bf16", "bf16", "bf16", ((64, 64, 32), (128, 64, 64)), {}),
            ("tf32", "f32", "f32", ((64, 64, 32), (32, 64, 16), (128, 64, 32)), {}),
            ("ieee", "f32", "f32", ((32, 32, 32), (64, 64, 16)), {"precision": "ieee"}),
            ("tf32x3", "f32", "f32", ((32, 32, 32), (64, 64, 16)), {"precision": "tf32x3"}),
            ("e4m3", "e4m3", "f32", ((64, 64, 64), (64, 64, 128)), {}),
            ("split-2", "f16", "f32", ((64, 64, 32),), {"slices": 2}),
            ("atomic-4", "f16", "f32", ((64, 64, 32),), {"slices": 4})):
        add("triton-" + name, "Triton", "dot", tiles, operands, result, tiles=sizes_of, **more)
    add("triton-stream", "Triton", "dot, stream-K", stream, "f16", "f32")

    def draw(seed, m, n, k, operands):
        generator = np.random.Generator(np.random.PCG64(seed))
        drawn = [generator.random(shape, dtype=np.float32) * 2 - 1 for shape in ((m, k), (k, n))]
        return [torch.from_numpy(x).cuda().to(kinds[operands][1]).float() for x in drawn]

    def sha(x):
        return hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()

    def one(name, case, turn, m, n, k):
        file = f"{folder}/{name}_{m}x{n}x{k}"
        if os.path.exists(file + ".json"):
            return
        seed = 11000033 + 7919 * m + 104729 * n + k
        row = {"library": case["library"], "version": versions[case["library"]], **machine,
               "function": case["function"], "inputs": "numpy", "operands": case["operands"],
               "result": case["result"], "seed": seed, "m": m, "n": n, "k": k}
        if "compute" in case:
            row["compute"] = case["compute"]
        a, b = draw(seed, m, n, k, case["operands"])
        with open(file + ".json", "w") as out:  # what there is if the process ends here
            json.dump({**row, "failed": "the process ended"}, out)
        try:
            d, more = case["how"](a, b, case, turn)
            again, _ = case["how"](a, b, case, turn)
            torch.cuda.synchronize()
        except Exception as error:  # whatever the library says
            d, more = None, {"failed": str(error)[:200]}
        row.update(more)
        row.pop("status", None)
        if d is None:
            row.setdefault("failed", f"status {more.get('status')}")
        else:
            row["repeats"] = bool(torch.equal(d, again))
            value = [x.float().cpu().numpy() for x in (a, b, d)]
            flat = value[2].ravel().view(np.uint32)
            spread = [i * (flat.size - 1) // 7 for i in range(8)]
            row.update(a=sha(value[0]), b=sha(value[1]), d=sha(value[2]),
                       sample=[[i, f"{int(flat[i]):08x}"] for i in spread])
            for letter, x in zip("ABD", value):
                np.save(f"{file}.{letter}.npy", x)
        with open(file + ".json", "w") as out:
            json.dump(row, out)
        if NO_DEVICE_ERROR in row.get("failed", ""):
            print("gpu.py:", name, row["failed"], file=sys.stderr)
            sys.exit(7)

    os.makedirs(folder, exist_ok=True)
    for name, case in cases.items():
        for turn, (m, n, k) in enumerate(sizes):
            if case["operands"] == "e4m3":  # sizes that cuBLAS takes
                m, n, k = (-(-x // 16) * 16 for x in (m, n, k))
            one(name, case, turn, m, n, k)


# --- what explains it ---------------------------------------------------------------------

def words(said):
    """The members of a row that `bitcut gemm` takes; those of the recipe's row are left out."""
    row = {key: said[key] for key in ("recipe", "unit", "order")}
    changes = said["changes"] or ""
    for key, of in (("promote", "promoted"), ("high", "high words"), ("tile_k", "tiles have")):
        if of in changes:
            row[key] = said[key]
    return row


def ask(name, seconds):
    with open(name + ".json") as file:
        row = json.load(file)
    if "failed" in row:
        return row, None, 0
    begin = time.time()
    told = subprocess.run(
        ["bitcut", "explain", "-a", name + ".A.npy", "-b", name + ".B.npy", "-d",
         name + ".D.npy", "--json", "--threads", "1", "--seconds", seconds],
        capture_output=True, text=True)
    if told.returncode > 1:
        row["failed"] = told.stderr.strip()
    first = told.stdout.split("\n")[0]
    return row, json.loads(first) if first else None, time.time() - begin


def explain(folder, seconds):
    names = sorted(name[:-5] for name in glob.glob(folder + "/*.json"))
    names.sort(key=lambda name: os.path.getsize(name + ".json"))
    counts = {}
    with open(folder + "/found.jsonl", "w") as found, \
            open(folder + "/missed.jsonl", "w") as missed, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = {pool.submit(ask, name, seconds): name for name in names}
        for done in concurrent.futures.as_completed(waiting):
            row, said, took = done.result()
            case = os.path.basename(waiting[done]).rsplit("_", 1)[0]
            count = counts.setdefault(case, [0, 0, 0, 0.0])
            good = said and said["found"] and not said["differ"]
            kind = 2 if "failed" in row else 0 if good else 1
            count[kind] += 1
            count[3] = max(count[3], took)
            if good:
                repeats, order = row.pop("repeats"), ("a", "b", "d", "sample")
                sums = {key: row.pop(key) for key in order}
                row = {**row, **({} if repeats else {"repeats": False}), **words(said), **sums}
                print(json.dumps(row, separators=(",", ":")), file=found, flush=True)
            else:
                row["case"] = case
                row["said"] = said and {key: said[key] for key in (
                    "hypothesis", "differ", "total", "tried", "complete")}
                print(json.dumps(row, separators=(",", ":")), file=missed, flush=True)
    print("case found missed failed slowest")
    for case, (good, bad, failed, slowest) in sorted(counts.items()):
        print(case, good, bad, failed, f"{slowest:.1f}")
    print("all", *(sum(count[i] for count in counts.values()) for i in range(3)),
          f"{max(count[3] for count in counts.values()):.1f}")


def main():
    if len(sys.argv) > 3 and sys.argv[1] == "collect":
        collect(sys.argv[2], [tuple(map(int, size.split("x"))) for size in sys.argv[3:]])
    elif 3 <= len(sys.argv) <= 4 and sys.argv[1] == "explain":
        explain(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "60")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
