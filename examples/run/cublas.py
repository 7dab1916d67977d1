"""Programs that multiply FP32 matrices on a GPU, by PyTorch and CuPy: cublas.py NAME.  Each prints
JSON lines: what it computed, how long it took, and how far it is from FP64.  They know nothing of
bitcut:  bitcut run --recipe ootomo --device cuda -- python3 cublas.py transformer"""
import json
import sys
import time


def say(**row):
    print(json.dumps(row), flush=True)


def relres(got, a, b):
    """Of 16 rows, against FP64."""
    want = a[:16].double() @ b.double()
    return float(((got[:16].double() - want).norm() / want.norm()).item())


def torch_time(torch, f, repeats):
    for _ in range(3):
        f()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(repeats):
        f()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / repeats


def sgemm():
    import torch
    torch.manual_seed(1)
    for n in (64, 256, 1024, 2048, 4096, 8192):
        a, b = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda")
        c = torch.empty(n, n, device="cuda")
        ms = torch_time(torch, lambda: torch.mm(a, b, out=c), 20 if n <= 4096 else 5)
        say(what="mm", n=n, ms=ms, tflops=2e-9 * n ** 3 / ms, relres=relres(c, a, b))
    a, b = torch.randn(1000, 700, device="cuda"), torch.randn(900, 700, device="cuda")
    say(what="mm of a transposed", relres=relres(a @ b.T, a, b.T))
    say(what="both transposed", relres=relres(a.T @ b[:, :].new_ones(1000, 5), a.T,
                                              b.new_ones(1000, 5)))
    x = torch.randn(1000, 300, device="cuda")
    y = torch.addmm(x, a, b.T[:, :300], beta=0.5, alpha=2)
    want = 0.5 * x.double() + 2 * a.double() @ b.T[:, :300].double()
    say(what="addmm", relres=float(((y.double() - want).norm() / want.norm()).item()))
    p, q = torch.randn(48, 257, 129, device="cuda"), torch.randn(48, 129, 65, device="cuda")
    r = torch.bmm(p, q)
    want = p.double() @ q.double()
    say(what="bmm", relres=float(((r.double() - want).norm() / want.norm()).item()),
        ms=torch_time(torch, lambda: torch.bmm(p, q), 20))
    line = torch.nn.Linear(700, 512).cuda()
    out = line(a)
    want = a.double() @ line.weight.double().T + line.bias.double()
    say(what="linear with bias",
        relres=float(((out.double() - want).norm() / want.norm()).item()))
    streams = [torch.cuda.Stream() for _ in range(4)]
    got = []
    torch.cuda.synchronize()
    for s in streams:
        with torch.cuda.stream(s):
            for _ in range(20):
                z = a @ b.T
            got.append(z)
    torch.cuda.synchronize()
    say(what="four streams", same=all(bool((z == got[0]).all()) for z in got))


def small():
    """Products that an emulator computes in no time, in several layouts, and one in a graph."""
    import torch
    torch.manual_seed(1)
    for n in (33, 200, 512):
        a, b = torch.randn(n, n + 7, device="cuda"), torch.randn(n + 7, n - 3, device="cuda")
        say(what="mm", n=n, relres=relres(a @ b, a, b))
        say(what="transposed", n=n, relres=relres(b.T @ a.T, b.T, a.T))
        c = torch.randn(n, n - 3, device="cuda")
        y = torch.addmm(c, a, b, beta=-0.5, alpha=3)
        want = -0.5 * c.double() + 3 * a.double() @ b.double()
        say(what="addmm", relres=float(((y.double() - want).norm() / want.norm()).item()))
        line = torch.nn.Linear(n + 7, 64).cuda()
        want = a.double() @ line.weight.double().T + line.bias.double()
        say(what="linear", relres=float(((line(a).double() - want).norm() / want.norm()).item()))
    p, q = torch.randn(5, 60, 70, device="cuda"), torch.randn(5, 70, 80, device="cuda")
    want = p.double() @ q.double()
    say(what="bmm", relres=float(((torch.bmm(p, q).double() - want).norm() / want.norm()).item()))


def cupy_sgemm():
    import cupy
    from cupyx.profiler import benchmark
    cupy.random.seed(1)
    for n in (256, 1024, 4096):
        a = cupy.random.standard_normal((n, n), dtype=cupy.float32)
        b = cupy.random.standard_normal((n, n), dtype=cupy.float32)
        t = benchmark(lambda: a @ b, n_repeat=10, n_warmup=3)
        want = a[:16].astype("f8") @ b.astype("f8")
        error = cupy.linalg.norm((a @ b)[:16] - want) / cupy.linalg.norm(want)
        say(what="cupy a @ b", n=n, ms=float(t.gpu_times.mean() * 1e3), relres=float(error))
    a = cupy.random.standard_normal((7, 130, 70), dtype=cupy.float32)
    b = cupy.random.standard_normal((7, 70, 90), dtype=cupy.float32)
    want = a.astype("f8") @ b.astype("f8")
    say(what="cupy batch", relres=float(cupy.linalg.norm(a @ b - want) / cupy.linalg.norm(want)))
    turned = a[::-1]
    want = turned.astype("f8") @ b.astype("f8")
    say(what="cupy uneven batch",
        relres=float(cupy.linalg.norm(turned @ b - want) / cupy.linalg.norm(want)))


def transformer():
    import torch
    from torch import nn
    torch.manual_seed(1)
    width, layers, heads, batch, length = 1024, 4, 16, 8, 256
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0, batch_first=True)
    net = nn.Sequential(nn.TransformerEncoder(layer, layers, enable_nested_tensor=False),
                        nn.Linear(width, 100)).cuda()
    optimizer = torch.optim.Adam(net.parameters(), 1e-4)
    x = torch.randn(batch, length, width, device="cuda")
    y = torch.randint(100, (batch * length,), device="cuda")
    losses, began = [], 0
    for step in range(25):
        if step == 5:
            torch.cuda.synchronize()
            began = time.perf_counter()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x).reshape(-1, 100), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    torch.cuda.synchronize()
    say(what="transformer", ms_a_step=1e3 * (time.perf_counter() - began) / 20,
        first=float(losses[0]), last=float(losses[-1]))


def kmeans():
    import torch
    torch.manual_seed(1)
    points, centres = torch.randn(500000, 64, device="cuda"), torch.randn(256, 64, device="cuda")
    points += 4 * centres[torch.randint(256, (500000,), device="cuda")]
    at = points[:256].clone()
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(15):
        distance = (at * at).sum(1) - 2 * points @ at.T
        nearest = distance.argmin(1)
        at = torch.zeros_like(at).index_add_(0, nearest, points) / torch.bincount(
            nearest, minlength=256).clamp(min=1)[:, None]
    torch.cuda.synchronize()
    inertia = float((distance.min(1).values.double() + (points.double() ** 2).sum(1)).mean())
    say(what="kmeans", ms_a_step=1e3 * (time.perf_counter() - began) / 15, inertia=inertia)


def graph():
    one_graph(512, 1024, 2048)
    one_graph(4096, 4096, 4096)


def one_graph(tokens, width, between):
    import torch
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(width, between, bias=False), torch.nn.ReLU(),
                              torch.nn.Linear(between, width)).cuda()
    x = torch.randn(tokens, width, device="cuda")
    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                net(x)
        torch.cuda.current_stream().wait_stream(side)
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            y = net(x)
        same = True
        for _ in range(5):
            x.copy_(torch.randn(tokens, width, device="cuda"))
            captured.replay()
            eager = net(x)
            same = same and bool((eager == y).all())
        replay, eager = torch_time(torch, captured.replay, 50), torch_time(torch, lambda: net(x), 50)
    say(what="graph", tokens=tokens, same_as_eager=same, ms_replay=replay, ms_eager=eager)


if __name__ == "__main__":
    {f.__name__: f for f in (sgemm, small, cupy_sgemm, transformer, kmeans, graph)}[sys.argv[1]]()

# SPDX-License-Identifier: BSD-3-Clause
