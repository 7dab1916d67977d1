# SPDX-License-Identifier: BSD-3-Clause
"""On a GPU: arrays of CuPy and PyTorch where they are, their streams and graphs; D is the
emulator's, to the bit."""

import os
import threading
import unittest
from unittest import mock

from helper import LONG, numpy, uniform, wide

import bitcut
from bitcut import _plan

try:
    import cupy
except ImportError:
    cupy = None
try:
    import torch
except ImportError:
    torch = None

GPU = bitcut.devices().names()[:1] == ["cuda:0"]
RECIPES = [row["name"] for row in bitcut.recipes() if row["name"] in (
    "plain", "markidis", "ootomo", "legemm", "feng", "bf16x3", "bf16x9", "tf32x3", "fp32")]
METHODS = "native", "tensor", "cut", "simt", "steps"
RECIPES_OF_CHAINS = "ootomo", "legemm", "bf16x3", "ootomo", "bf16x9"  # not as many as there are sizes
SHAPES = (1, 1, 1), (17, 33, 65), (3, 500, 900), (128, 256, 64), (300, 200, 1000)


def resident():
    """KiB of the process in memory."""
    with open("/proc/self/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


class Gpu:
    """What both libraries are tried on."""

    def same(self, g, a, b, **given):
        """D against the emulator's, of the GEMM that ran."""
        way = {"recipe": g.recipe, "unit": g.unit, "promote": g.promote, "tile_k": g.tile_k,
               "order": {"slices": g.split_k}, **given}
        found = bitcut.verify(g.d, a, b, copy=True, **way)
        self.assertTrue(found, f"{g.kernel} {found}")
        return found.compared

    def test_recipes(self):
        compared = kernels = 0
        for recipe in RECIPES:
            for m, n, k in SHAPES:
                for values in uniform, wide:
                    a, b = values(m, k), values(k, n, seed=3)
                    if values is wide and not a.size > 2:
                        continue
                    for turn in (False, True):
                        x, y = self.there(a), self.there(b)
                        if turn:
                            x = self.there(numpy.ascontiguousarray(a.T)).T
                        try:
                            g = bitcut.gemm(x, y, recipe=recipe)
                        except bitcut.Unsupported:  # no kernel of that recipe here
                            continue
                        compared += self.same(g, a, b)
                        kernels += 1
        self.assertGreater(kernels, 20)
        print(f"# {type(self).__name__}: {kernels} GEMMs, {compared} outputs")

    def test_batch_and_update(self):
        a, b, c = uniform(5, 64, 96), uniform(5, 96, 48, seed=2), uniform(5, 64, 48, seed=3)
        g = bitcut.gemm(self.there(a), self.there(b), c=self.there(c), recipe="ootomo", alpha=0.5,
                        beta=-2)
        self.same(g, a, b, c=c, alpha=0.5, beta=-2)
        d = self.there(c)
        g = bitcut.gemm(self.there(a), self.there(b), c=d, out=d, recipe="ootomo")
        self.same(g, a, b, c=c)

    def test_half(self):
        a, b = uniform(32, 32).astype("f2"), uniform(32, 32, seed=2).astype("f2")
        for recipe in "plain", "fp32":
            g = bitcut.gemm(self.there(a), self.there(b), recipe=recipe, format_d="f16")
            self.assertTrue(g.kernel.startswith("batch"), g.kernel)
            self.same(g, a, b)

    def test_any_unit(self):
        """Units that this GPU does not have, to the bits of the host: those that it emulates."""
        compared = 0
        for unit in "a100", "v100", "mi210", "mi300":
            for recipe in "plain", "ootomo", "legemm":
                for m, n, k in SHAPES:
                    for values in uniform, wide:
                        if values is wide and min(m, n, k) < 3:
                            continue
                        a, b = values(m, k), values(k, n, seed=3)
                        g = bitcut.gemm(self.there(a), self.there(b), recipe=recipe, unit=unit)
                        want = bitcut.gemm(a, b, recipe=recipe, unit=unit)
                        self.assertEqual((g.unit, g.line), (want.unit, want.line))
                        self.assertIsNone(g.kernel)
                        self.assertIn(g.method, METHODS)
                        compared += self.same(g, a, b, recipe=recipe, unit=unit)
        print(f"# {type(self).__name__}: units of others, {compared} outputs")

    def test_any_unit_in_half(self):
        a, b = uniform(96, 80).astype("f2"), uniform(80, 64, seed=2).astype("f2")
        c = uniform(96, 64, seed=3).astype("f2")
        for unit in "a100", "v100", "mi210", "mi300":
            given = {"beta": -2, "format_d": "f16"}
            g = bitcut.gemm(self.there(a), self.there(b), c=self.there(c), recipe="plain",
                            unit=unit, **given)
            self.assertIsNone(g.kernel)
            self.same(g, a, b, c=c, **given)

    def test_any_unit_in_batches(self):
        a, b = uniform(5, 64, 96), uniform(5, 96, 48, seed=2)
        stream = self.new_stream()
        x, y = self.there(a), self.there(b)
        self.wait()
        for unit in "a100", "v100", "mi210", "mi300":
            g = bitcut.gemm(x, y, recipe="ootomo", unit=unit, stream=stream)
            stream.synchronize()
            self.same(g, a, b)

    def test_schemes(self):
        """FP64 GEMMs by the kernels of schemes: layouts, factors, a batch, C in place, a stream."""
        compared = 0
        for scheme, parts in ("ozimmu-ef", 8), ("ozimmu", 7), ("ozimmu-h", 9):
            given = {"scheme": scheme, "parts": parts}
            for m, n, k in SHAPES:
                a, b = uniform(m, k).astype("f8") / 3, uniform(k, n, seed=3).astype("f8") / 7
                c = uniform(m, n, seed=4).astype("f8")
                for turn in (False, True):
                    x, y, z = self.there(a), self.there(b), self.there(c)
                    if turn:
                        x, y = (self.there(numpy.ascontiguousarray(v.T)).T for v in (a, b))
                    for more in ({}, {"alpha": 0.3}, {"alpha": -1.7, "beta": 0.1, "c": z}):
                        g = bitcut.gemm(x, y, **given, **more)
                        self.assertIn(scheme, g.kernel)
                        if "c" in more:
                            more["c"] = c
                        found = bitcut.verify(g.d, a, b, unit="h100", copy=True, **given, **more)
                        self.assertTrue(found, f"{g.kernel} {m} {n} {k} {found}")
                        compared += found.compared
            a, b = uniform(4, 50, 70).astype("f8") / 3, uniform(70, 30, seed=3).astype("f8")
            d = self.there(numpy.zeros((4, 50, 30)))
            stream = self.new_stream()
            x, y = self.there(a), self.there(b)
            self.wait()
            g = bitcut.gemm(x, y, c=d, out=d, stream=stream, **given)
            stream.synchronize()
            self.assertTrue(bitcut.verify(g.d, a, b, c=numpy.zeros((4, 50, 30)), unit="h100",
                                          copy=True, **given))
        print(f"# {type(self).__name__}: FP64 GEMMs by schemes, {compared} outputs")

    def test_large(self):
        a, b = uniform(2048, 2048), uniform(2048, 2048, seed=2)
        g = bitcut.gemm(self.there(a), self.there(b), recipe="ootomo")
        self.assertEqual(self.same(g, a, b), 2048 * 2048)

    def test_streams(self):
        """Each thread computes A, and D of it, on a stream of its own; nothing waits between."""
        failures = []

        def work(seed):
            try:
                a, b = uniform(512, 512, seed=seed), uniform(512, 512, seed=seed + 50)
                with self.on_stream():
                    x, y = self.there(a), self.there(b)
                    for _ in range(20):
                        g = bitcut.gemm(self.halved(self.doubled(x)), y, recipe="ootomo")
                    self.same(g, a, b)
            except Exception as error:  # to where the test is
                failures.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failures, [])

    def test_new_thread(self):
        """One that has called nothing of CUDA yet."""
        a, b, failures = uniform(64, 64), uniform(64, 64, seed=2), []
        x, y, d = self.there(a), self.there(b), self.there(numpy.zeros((64, 64), "f4"))
        room = self.there(numpy.zeros(bitcut.workspace(x, y, recipe="ootomo"), "u1"))
        stream = self.new_stream()
        self.wait()

        def work():
            try:
                g = bitcut.gemm(x, y, recipe="ootomo", out=d, workspace=room, stream=stream)
                stream.synchronize()
                self.same(g, a, b)
            except Exception as error:  # to where the test is
                failures.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertEqual(failures, [])

    def test_other_stream(self):
        a, b = uniform(256, 256), uniform(256, 256, seed=2)
        x, y = self.there(a), self.there(b)
        self.wait()
        stream = self.new_stream()
        g = bitcut.gemm(x, y, recipe="ootomo", stream=stream)
        stream.synchronize()
        self.same(g, a, b)

    def chain(self, x, factors, c, steps):
        """A chain of products, each of the last one, by gemm() and by plans: new arrays, C in place and
        D given."""
        plans = {}
        for i in range(steps):
            b, adds = factors[i % len(factors)], c[i % len(c)]
            given = {"recipe": RECIPES_OF_CHAINS[i % len(RECIPES_OF_CHAINS)], "alpha": 0.5}
            kind = i // len(factors) % 3
            if kind == 0:
                x = bitcut.gemm(x, b, c=adds, **given).d
            elif kind == 1:
                d = adds * 1
                x = bitcut.gemm(x, b, c=d, out=d, **given).d
            else:
                key, d = (i % len(factors), given["recipe"]), adds * 0
                if key not in plans:
                    plans[key] = bitcut.plan(x, b, c=adds, **given)
                x = plans[key](x, b, adds, d)
        return x

    def test_chains(self):
        """Long chains on four streams at a time, to the bits of the same chains that examine every
        array, one after the other."""
        each = (54288 if LONG else 5424) // 4
        sizes, m, failures, ends = (64, 160, 96, 33), 80, [], {}

        def work(seed, end):
            try:
                factors = [self.there(uniform(n, k, seed=seed + i) / 8) for i, (n, k) in enumerate(
                    zip(sizes, (*sizes[1:], sizes[0])))]
                c = [self.there(uniform(m, k, seed=seed + 9 + i)) for i, k in enumerate(
                    (*sizes[1:], sizes[0]))]
                with self.on_stream():
                    end[seed] = self.host(self.chain(self.there(uniform(m, sizes[0], seed=seed)), factors,
                                                     c, each))
            except Exception as error:  # to where the test is
                failures.append(error)

        threads = [threading.Thread(target=work, args=(100 * s, ends)) for s in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failures, [])
        self.assertGreater(len(_plan._plans), 4 * len(sizes))
        want = {}
        with mock.patch.object(_plan, "recall", lambda *arrays: None):
            with mock.patch.object(bitcut.Plan, "__call__", lambda plan, a, b, c, d: plan._examine(
                    a, b, c, d, None, None)):
                for seed in ends:
                    work(seed, want)
        self.assertEqual(failures, [])
        differ = sum(int((ends[s].view("u4") != want[s].view("u4")).sum()) for s in ends)
        print(f"# {type(self).__name__}: {4 * each} chained GEMMs on 4 streams, {differ} outputs differ")
        self.assertEqual(differ, 0)

    def test_growth(self):
        """Many calls take no memory, neither of the device nor of the process."""
        a, b = self.there(uniform(64, 64)), self.there(uniform(64, 64, seed=2))
        d, plan = self.there(uniform(64, 64)), bitcut.plan(a, b, recipe="ootomo")

        def calls(count):
            for _ in range(count):
                bitcut.gemm(a, b, recipe="ootomo", out=d)
                plan(a, b)
            self.wait()
            return self.taken(), resident()
        calls(1000)
        (device, process), (device_after, process_after) = calls(1000), calls(10000)
        print(f"# {type(self).__name__}: 20000 calls: {device_after - device} bytes of the device, "
              f"{process_after - process} KiB of the process")
        self.assertEqual(device_after, device)
        self.assertLess(process_after - process, 512)

    def doubled(self, x):
        return x * 2

    def halved(self, x):
        return x * 0.5


@unittest.skipUnless(GPU and cupy, "needs CuPy and a GPU that has kernels here")
class CuPy(Gpu, unittest.TestCase):
    def there(self, x):
        return cupy.asarray(x)

    def on_stream(self):
        return cupy.cuda.Stream(non_blocking=True)

    new_stream = on_stream

    def wait(self):
        cupy.cuda.runtime.deviceSynchronize()

    def host(self, x):
        return cupy.asnumpy(x)

    def taken(self):
        return cupy.get_default_memory_pool().total_bytes()

    def test_graph(self):
        a, b = uniform(300, 200), uniform(200, 100, seed=2)
        x, y = cupy.asarray(a), cupy.asarray(b)
        d = cupy.zeros((300, 100), "f4")
        room = cupy.empty(bitcut.workspace(x, y, recipe="ootomo"), "u1")
        bitcut.gemm(x, y, recipe="ootomo", out=d, workspace=room)  # loads the kernel
        self.wait()
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            with self.assertRaisesRegex(bitcut.BadArgument, "workspace=: missing: a graph"):
                bitcut.gemm(x, y, recipe="ootomo", out=d)
            g = bitcut.gemm(x, y, recipe="ootomo", out=d, workspace=room)
            graph = stream.end_capture()
            for seed in range(3):
                a = uniform(300, 200, seed=seed)
                x.set(a)
                graph.launch()
                stream.synchronize()
                self.same(g, a, b)


@unittest.skipUnless(GPU and torch and torch.cuda.is_available(),
                     "needs PyTorch on a GPU that has kernels here")
class PyTorch(Gpu, unittest.TestCase):
    def there(self, x):
        return torch.from_numpy(x).cuda()

    def on_stream(self):
        return torch.cuda.stream(torch.cuda.Stream())

    def new_stream(self):
        return torch.cuda.Stream()

    def wait(self):
        torch.cuda.synchronize()

    def host(self, x):
        return x.cpu().numpy()

    def taken(self):
        return torch.cuda.memory_reserved() + torch.cuda.memory_allocated()

    def test_graph(self):
        """A captured graph has D and the workspace in its own pool."""
        b = uniform(200, 100, seed=2)
        x, y = torch.zeros(300, 200, device="cuda"), self.there(b)
        bitcut.gemm(x, y, recipe="ootomo")
        plan = bitcut.plan(x, y, recipe="ootomo")
        self.wait()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            g = bitcut.gemm(x * 2, y, recipe="ootomo")  # by the plan of the call before
            h = bitcut.gemm(g.d, g.d.T, recipe="legemm")
            planned = plan(x, y)
        waste = torch.empty(1 << 26, device="cuda").fill_(float("nan"))
        for seed in range(3):
            a = uniform(300, 200, seed=seed)
            x.copy_(torch.from_numpy(a))
            graph.replay()
            self.wait()
            self.same(g, a * 2, b)
            self.assertTrue(bitcut.verify(planned, a, b, recipe="ootomo", unit=plan.unit, copy=True,
                                          promote=plan.promote, order={"slices": plan.split_k}))
            d = g.d.cpu().numpy()
            self.same(h, d, d.T)
        del waste

    def test_emulate(self):
        """Layers on the GPU, forward and backward, by kernels and on units of others."""
        torch.manual_seed(1)
        layer = torch.nn.Linear(64, 48).cuda()
        x = torch.randn(32, 64, device="cuda", requires_grad=True)
        with bitcut.emulate("ootomo", "h100") as e:
            d = layer(x)
            d.backward(torch.ones_like(d))
        self.assertEqual((e.taken, e.left), ({"addmm": 1, "mm": 2}, {}))
        parts = [t.detach().cpu().contiguous() for t in (
            x, layer.weight, layer.bias, d, x.grad, layer.weight.grad)]
        a, w, c, d, of_a, of_w = parts
        one = torch.ones(32, 48)
        for got, left, right, more in ((d, a, w.T, {"c": c.expand(32, 48).contiguous()}),
                                       (of_a, one, w, {}), (of_w, one.T, a, {})):
            self.assertTrue(bitcut.verify(got, left, right, recipe="ootomo", unit="h100", **more))
        for unit in "a100", "v100", "mi210", "mi300":
            layer.weight.grad = None
            with bitcut.emulate("ootomo", unit, strict=True) as e:
                d = layer(x)
                d.backward(torch.ones_like(d))
            self.assertEqual((e.taken, e.left), ({"addmm": 1, "mm": 2}, {}))
            d, of_w = (t.detach().cpu().contiguous() for t in (d, layer.weight.grad))
            for got, left, right, more in ((d, a, w.T, {"c": c.expand(32, 48).contiguous()}),
                                           (of_w, one.T, a, {})):
                self.assertTrue(bitcut.verify(got, left, right, recipe="ootomo", unit=unit, **more))
        with bitcut.emulate("ootomo", "h100") as e:
            x.double() @ layer.weight.T.double()
        self.assertEqual((e.taken, e.left), ({}, {"mm of float64": 1}))
        q = torch.randn(2, 8, 16, device="cuda", requires_grad=True)
        with bitcut.emulate("ootomo", "h100") as e:
            y = torch.nn.functional.scaled_dot_product_attention(q, q, q)
            y.sum().backward()
        self.assertEqual((e.taken, e.left), ({"bmm": 6}, {}))
        with self.assertRaisesRegex(bitcut.Unsupported, "mm of float64"):
            with bitcut.emulate("ootomo", "mi210", strict=True):
                x.double() @ layer.weight.T.double()

    def test_types(self):
        a = torch.from_numpy(uniform(64, 64)).cuda()
        for x, words in ((a.requires_grad_(), "A: .*requires? grad"),
                         (a.detach().bfloat16(), "bf16|several formats"),
                         (a.detach().double(), "f64|several formats")):
            with self.assertRaisesRegex(bitcut.Error, words):
                bitcut.gemm(x, x, recipe="ootomo")


@unittest.skipUnless(GPU and cupy and torch and torch.cuda.is_available(), "needs CuPy and PyTorch on a GPU")
class Both(unittest.TestCase):
    def test_together(self):
        a, b = uniform(64, 64), uniform(64, 64, seed=2)
        x, y = cupy.asarray(a), torch.from_numpy(b).cuda()
        g = bitcut.gemm(x, y, recipe="ootomo")  # both on the default stream
        self.assertTrue(bitcut.verify(g.d, a, b, recipe="ootomo", unit=g.unit, copy=True))
        with torch.cuda.stream(torch.cuda.Stream()):
            with self.assertRaisesRegex(bitcut.BadArgument, "several streams"):
                bitcut.gemm(x, y, recipe="ootomo")


if __name__ == "__main__":
    unittest.main()
