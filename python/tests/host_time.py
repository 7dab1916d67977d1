# SPDX-License-Identifier: BSD-3-Clause
"""Time of calls on CUDA tensors, beside PyTorch's, as JSON Lines: by the host's clock in bursts of 50
calls, which return without waiting, and by the device's.

    python3 python/tests/host_time.py [recipe] > rows.jsonl
"""

import json
import statistics
import sys
import time

import torch

import bitcut

BURST, ROUNDS, SIZES = 50, 40, (64, 256, 1024)


def host_time(call):
    """Microseconds of a call that returns without waiting, in a burst."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(BURST):
        call()
    return (time.perf_counter() - start) / BURST * 1e6


def device_time(call):
    """The same by the device's clock, one call after the other, outside a graph."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(BURST):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / BURST * 1e3


def measured(named):
    """What each call takes: median, least and largest by the host's clock, and the median by the
    device's.  The calls take turns, because the clock of a processor changes."""
    took = {what: ([], []) for what, _ in named}
    for _, call in named:
        call(), call()
    for _ in range(ROUNDS):
        for what, call in named:
            took[what][0].append(host_time(call))
            took[what][1].append(device_time(call))
    for what, (host, device) in took.items():
        yield what, [round(x, 2) for x in (statistics.median(host), min(host), max(host),
                                           statistics.median(device))]


def calls(n, recipe):
    a, b, d = (torch.rand(n, n, device="cuda") for _ in range(3))
    plan = bitcut.plan(a, b, recipe=recipe)
    yield "torch.mm", lambda: torch.mm(a, b)
    yield "torch.mm out", lambda: torch.mm(a, b, out=d)
    yield "gemm", lambda: bitcut.gemm(a, b, recipe=recipe)
    yield "gemm out", lambda: bitcut.gemm(a, b, recipe=recipe, out=d)
    yield "gemm examined", lambda: bitcut.gemm(a, b, recipe=recipe, order={"slices": 1}, out=d)
    yield "plan", lambda: plan(a, b)
    yield "plan out", lambda: plan(a, b, out=d)


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "ootomo"
    for n in SIZES:
        for what, (median, least, most, device) in measured(list(calls(n, name))):
            print(json.dumps({
                "call": what, "recipe": None if what[0] == "t" else name, "n": n, "us": median, "us_min": least,
                "us_max": most, "us_device": device, "device": torch.cuda.get_device_name(),
                "torch": torch.__version__, "bitcut": bitcut.__version__}))
