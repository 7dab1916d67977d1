# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch inside bitcut.emulate: products equal to bitcut.gemm's by bits, forward and backward;
what is left is counted and unchanged; nothing of FP32 reaches PyTorch's BLAS."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest
from unittest import mock

from helper import PACKAGE, numpy, python, uniform

import bitcut
from bitcut import _device, _plan, _torch

try:
    import torch
except ImportError:
    torch = None

needs_torch = unittest.skipUnless(torch and numpy, "needs PyTorch (pip install torch) and python3-numpy")
OLD = torch and torch.__version__.startswith("1.")
WAY = {"recipe": "ootomo", "unit": "mi210"}
M, N, K = 6, 5, 40


def random(*shape, seed=1, grad=False):
    return torch.from_numpy(uniform(*shape, seed=seed)).requires_grad_(grad)


def gemm(a, b, c=None, **more):
    """bitcut.gemm of tensors, row by row."""
    a, b, c = (None if x is None else numpy.ascontiguousarray(x.detach().numpy())
               for x in (a, b, c))
    return bitcut.gemm(a, b, c=c, **{**WAY, **more}).d


def bits(x):
    x = x.detach().numpy() if torch and isinstance(x, torch.Tensor) else numpy.asarray(x)
    return x.shape, str(x.dtype), numpy.ascontiguousarray(x).tobytes()


@needs_torch
class Torch(unittest.TestCase):
    def inside(self, f, taken=None, left=None, **more):
        """What f gives in a block, and that the block has counted this."""
        with bitcut.emulate(**{**WAY, **more}) as e:
            d = f()
        if taken is not None:
            self.assertEqual(e.taken, taken)
        self.assertEqual(e.left, left or {})
        return d

    def same(self, got, want, what=""):
        self.assertEqual(bits(got), bits(want), what)


@needs_torch
class Compiler(unittest.TestCase):
    BLOCK = ("import sys, torch, bitcut\n"
             "x = torch.ones(4, 4)\n"
             "def f(x): return torch.relu(x @ x) + 1\n"
             "{before}\n"
             "with bitcut.emulate('ootomo', 'a100') as e:\n"
             "    {call}\n"
             "print('torch._dynamo' in sys.modules, e.taken)")

    def run_block(self, call, before=""):
        done = python(self.BLOCK.format(call=call, before=before))
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_not_loaded(self):
        """A block does not load PyTorch's compiler, which takes seconds."""
        loaded = python("import sys, torch; print('torch._dynamo' in sys.modules)").stdout.strip()
        self.assertEqual(self.run_block("f(x)"), f"{loaded} {{'mm': 1}}\n")

    @unittest.skipIf(OLD, "needs PyTorch 2, which has a compiler")
    def test_compiled(self):
        """A compiled function in a block is computed as it is written."""
        call = "torch.compile(f, backend='eager')(x)"
        for before in "", "import torch._dynamo", "f = torch.compile(f, backend='eager'); f(x)":
            with self.subTest(before):
                self.assertEqual(self.run_block(call, before), "True {'mm': 1}\n")


@needs_torch
class Forward(Torch):
    def setUp(self):
        self.a, self.b = random(M, K), random(K, N, seed=2)
        self.x, self.y = random(3, M, K, seed=3), random(3, K, N, seed=4)

    def test_matrices(self):
        a, b = self.a, self.b
        want = gemm(a, b)
        self.assertNotEqual(bits(want), bits(a @ b))
        wide = torch.zeros(K, 2 * N)
        wide[:, ::2] = b
        for left in (a, a.t().contiguous().t(), torch.cat([a, a], 1)[:, :K]):
            for right in (b, b.t().contiguous().t(), wide[:, ::2]):
                self.same(self.inside(lambda: torch.mm(left, right), {"mm": 1}), want)
        for f in (lambda: a @ b, lambda: torch.matmul(a, b), lambda: torch.einsum("ik,kj", a, b),
                  lambda: torch.tensordot(a, b, 1),
                  lambda: torch.nn.functional.linear(a, b.t()),
                  lambda: torch.mm(a, b, out=torch.empty(M, N))):
            self.same(self.inside(f), want)
        self.same(self.inside(lambda: torch._neg_view(a) @ b), -want)

    def test_vectors(self):
        a, b, x = self.a, self.b, self.a[0]
        self.same(self.inside(lambda: x @ b, {"mm": 1}), gemm(a[:1], b)[0])
        self.same(self.inside(lambda: a @ x, {"mv": 1}), gemm(a, x[:, None])[:, 0])
        self.same(self.inside(lambda: x @ x, {"dot": 1}), gemm(x[None], x[:, None])[0, 0])
        c = random(M, seed=5)
        self.same(self.inside(lambda: torch.addmv(c, a, x, beta=0.5, alpha=2), {"addmv": 1}),
                  gemm(a, x[:, None], c[:, None], alpha=2, beta=0.5)[:, 0])

    def test_batches(self):
        a, b, x, y = self.a, self.b, self.x, self.y
        want = gemm(x, y)
        self.same(want[1], gemm(x[1], y[1]))
        self.same(self.inside(lambda: torch.bmm(x, y), {"bmm": 1}), want)
        self.same(self.inside(lambda: x @ y, {"bmm": 1}), want)
        self.same(self.inside(lambda: x.transpose(1, 2).contiguous().transpose(1, 2) @ y), want)
        self.same(self.inside(lambda: torch.einsum("bij,bjk->bik", x, y)), want)
        self.same(self.inside(lambda: x[None] @ y[None], {"bmm": 1}), want[None])
        self.same(self.inside(lambda: x[:, None] @ y), numpy.stack([gemm(
            x[i:i + 1].expand(3, M, K), y) for i in range(3)]))
        self.same(self.inside(lambda: x @ b), numpy.stack([gemm(i, b) for i in x]))
        self.same(self.inside(lambda: a @ y), numpy.stack([gemm(a, i) for i in y]))

    def test_added(self):
        a, b, bias, c = self.a, self.b, random(N, seed=5), random(M, N, seed=6)
        rows = bias.expand(M, N)
        want = gemm(a, b, rows)
        self.same(want, gemm(a, b) + bias.numpy())
        self.same(self.inside(lambda: torch.nn.functional.linear(a, b.t(), bias), {"addmm": 1}),
                  want)
        three = torch.nn.functional.linear
        self.same(self.inside(lambda: three(a.reshape(2, 3, K), b.t(), bias)),
                  want.reshape(2, 3, N))
        scaled = {"alpha": 0.3, "beta": -1.7}
        self.same(self.inside(lambda: torch.addmm(c, a, b, **scaled), {"addmm": 1}),
                  gemm(a, b, c, **scaled))
        self.same(self.inside(lambda: c.clone().addmm_(a, b, **scaled), {"addmm_": 1}),
                  gemm(a, b, c, **scaled))
        self.same(self.inside(lambda: torch.addmm(c * float("nan"), a, b, beta=0)), gemm(a, b))
        self.same(self.inside(lambda: torch.baddbmm(c, self.x, self.y, **scaled),
                              {"baddbmm": 1}), gemm(self.x, self.y, c, **scaled))
        self.same(self.inside(lambda: torch.baddbmm(c, self.x, self.y, **scaled),
                              {"baddbmm": 1}),
                  numpy.stack([gemm(i, j, c, **scaled) for i, j in zip(self.x, self.y)]))

    def test_sizes_of_zero(self):
        for m, n, k in ((0, 4, 3), (3, 0, 4), (3, 4, 0)):
            a, b, c = random(m, k), random(k, n), random(m, n)
            self.same(self.inside(lambda: a @ b), torch.zeros(m, n))
            self.same(self.inside(lambda: torch.addmm(c, a, b)), c)
            self.same(self.inside(lambda: a[None] @ b[None]), torch.zeros(1, m, n))
        self.same(self.inside(lambda: torch.bmm(self.x[:0], self.y[:0])), torch.zeros(0, M, N))

    def test_variations(self):
        a, b = random(20, 200), random(200, 20, seed=2)
        seen = {bits(gemm(a, b))}
        for more in ({"equilibrate": True}, {"unit": "a100"}, {"order": "slices=4"},
                     {"recipe": "cublas-tf32", "unit": "a100"}, {"promote": 4, "dropped_term": True}):
            want = gemm(a, b, **more)
            self.same(self.inside(lambda: a @ b, {"mm": 1}, **more), want, more)
            self.assertNotIn(bits(want), seen, more)
            seen.add(bits(want))

    def test_modes(self):
        want = gemm(self.a, self.b)
        for mode in (torch.no_grad, torch.inference_mode, torch.enable_grad):
            with mode():
                self.same(self.inside(lambda: self.a @ self.b, {"mm": 1}), want)
                self.same(self.inside(lambda: torch.einsum("ij,jk->ik", self.a, self.b)), want)
            self.same(self.inside(lambda: mode()(lambda: self.a @ self.b)(), {"mm": 1}), want)


@needs_torch
class Backward(Torch):
    def test_gradients(self):
        a, b, g = random(M, K, grad=True), random(K, N, seed=2, grad=True), random(M, N, seed=3)
        bias = random(N, seed=4, grad=True)
        self.inside(lambda: torch.addmm(bias, a, b).backward(g), {"addmm": 1, "mm": 2})
        self.same(a.grad, gemm(g, b.t()))
        self.same(b.grad, gemm(a.t(), g))
        self.same(bias.grad, g.sum(0))
        x, y = random(3, M, K, grad=True), random(3, K, N, seed=2, grad=True)
        g = random(3, M, N, seed=3)
        self.inside(lambda: (x @ y).backward(g), {"bmm": 3})
        self.same(x.grad, gemm(g, y.transpose(1, 2)))
        self.same(y.grad, gemm(x.transpose(1, 2), g))

    def test_of_a_sum(self):
        """Its gradient has no strides."""
        a, b = random(M, K, grad=True), random(K, N, seed=2)
        self.inside(lambda: (a @ b).sum().backward(), {"mm": 2})
        self.same(a.grad, gemm(torch.ones(M, N), b.t()))

    def test_where_it_runs(self):
        """A product is the block's in which it is computed."""
        a, b, g = random(M, K, grad=True), random(K, N, seed=2), random(M, N, seed=3)
        d = self.inside(lambda: a @ b, {"mm": 1})
        d.backward(g)
        self.same(a.grad, g @ b.t())
        a.grad, d = None, a @ b
        self.inside(lambda: d.backward(g), {"mm": 1})
        self.same(a.grad, gemm(g, b.t()))

    def test_second_derivative(self):
        a, b = random(M, K, grad=True), random(K, N, seed=2, grad=True)

        def twice():
            first, = torch.autograd.grad((a @ b).sum(), a, create_graph=True)
            first.pow(2).sum().backward()
        self.inside(twice, {"mm": 3})
        first = torch.from_numpy(gemm(torch.ones(M, N), b.t()))
        # Of g B^T, by B: the gradient 2 first, transposed, times g.
        self.same(b.grad, gemm(torch.ones(N, M), 2 * first).T)

    def test_against_differences(self):
        """As gradcheck does; in FP32 on a unit that computes it."""
        a, b, h = random(M, K, grad=True), random(K, N, seed=2), 2.0**-7
        way = {"recipe": "fp32", "unit": "fma/f32"}
        self.inside(lambda: (a @ b).pow(2).sum().backward(), **way)
        for at in ((0, 0), (3, 17), (M - 1, K - 1)):
            up, down = (a.detach().clone() for _ in range(2))
            up[at] += h
            down[at] -= h
            high, low = (self.inside(lambda: x @ b, **way).double().pow(2).sum()
                         for x in (up, down))
            self.assertAlmostEqual(a.grad[at].item(), ((high - low) / (2 * h)).item(), 2)


SCRIPT = """
import bitcut, contextlib, sys, torch
nn = torch.nn
torch.manual_seed(1)
attention = nn.MultiheadAttention(8, 2, batch_first=True)
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
network = nn.Sequential(nn.Linear(8, 9), nn.ReLU(), nn.Linear(9, 3, bias=False))
x = torch.randn(2, 5, 8, requires_grad=True)
e = bitcut.emulate("plain", "a100") if {inside} else contextlib.nullcontext()
with e:
    attention(x, x, x)[0].sum().backward()
    attention(x, x, x, need_weights=False)[0].sum().backward()
    layer(x).sum().backward()
    network(x).sum().backward()
    nn.GRUCell(8, 4)(x[0])
    attention.eval(), layer.eval()
    for mode in torch.no_grad, torch.inference_mode:
        with mode():
            attention(x, x, x), layer(x), network(x), torch.einsum("bij,bkj->ik", x, x)
if {inside}:
    assert not e.left, e
    assert set(e.taken) <= {{"mm", "bmm", "addmm", "baddbmm"}} and sum(e.taken.values()) > 60, e
"""


@needs_torch
class Modules(Torch):
    def calls(self, inside):
        """Calls of BLAS that the script makes, as `bitcut run` counts them."""
        done = subprocess.run(
            ["bitcut", "run", "--recipe", "plain", "--unit", "h100", "--json", "--",
             sys.executable, "-B", "-c", SCRIPT.format(inside=inside)], stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": PACKAGE}, check=False, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stderr.splitlines()[-1])["calls"]

    def test_nothing_reaches_blas(self):
        shim = pathlib.Path(bitcut.library).parent.parent / "bitcut-run.so"
        if not shim.exists() and not pathlib.Path("bitcut-run.so").exists():
            self.skipTest("needs bitcut-run.so")
        if not self.calls(False):
            self.skipTest("needs a PyTorch whose BLAS is another library")
        self.assertEqual(self.calls(True), 0)

    def test_linear(self):
        torch.manual_seed(1)
        layer, x, g = torch.nn.Linear(K, N), random(M, K, grad=True), random(M, N, seed=3)
        d = self.inside(lambda: layer(x), {"addmm": 1})
        self.same(d, gemm(x, layer.weight.t(), layer.bias.expand(M, N)))
        self.inside(lambda: d.backward(g), {"mm": 2})
        self.same(x.grad, gemm(g, layer.weight))
        self.same(layer.weight.grad, gemm(g.t(), x))

    def test_attention(self):
        """Of one head, by its five products."""
        torch.manual_seed(1)
        layer = torch.nn.MultiheadAttention(16, 1, bias=False, batch_first=True)
        x = random(1, 7, 16)
        got = self.inside(lambda: layer(x, x, x)[0], {"mm": 2, "bmm": 2} if OLD else None)
        if not OLD:
            self.skipTest("needs a PyTorch that divides by the root where the model does")
        q, k, v = torch.from_numpy(gemm(x[0], layer.in_proj_weight.t())).split(16, 1)
        weights = torch.softmax(torch.from_numpy(gemm(q / 4, k.t())), -1)
        d = gemm(torch.from_numpy(gemm(weights, v)), layer.out_proj.weight.t())
        self.same(got[0], d)


MODULE = pathlib.Path(bitcut.library).resolve().parent.parent / "tests" / ".libs"


class Host:
    """Who allocates for a device whose memory is the host's."""

    def __init__(self, torch, number):
        pass

    def stream(self):
        return 0

    def check_lends(self, stream):
        pass

    def is_own(self, x):
        return False  # each GEMM examines its arrays

    def empty(self, shape, format):
        room = torch.empty(shape[0] + 256, dtype=torch.uint8)
        return Allocated(room[-room.data_ptr() % 256:][:shape[0]])


class Quick(Host):
    """The same, of a library that tells quickly what its arrays are."""

    def is_own(self, x):
        return type(x) is torch.Tensor

    @staticmethod
    def look(x):
        return (x.dtype, x.shape, x.stride()), x.data_ptr()

    @staticmethod
    def address(x):
        return x.data_ptr()

    def maker(self, shape, format):
        return (lambda: torch.empty(shape)) if format else lambda: self.empty(shape, None).x

    def take(self, size, stream, make):
        room = make()
        return room, room.data_ptr()

    def let_go(self, room):
        pass


class Allocated:
    """A tensor that says that it is in a GPU's memory."""

    def __init__(self, x):
        self.x = x
        self.__cuda_array_interface__ = {**x.numpy().__array_interface__, "version": 3}


@needs_torch
@unittest.skipUnless((MODULE / "bitcut-cuda.so").exists(), "needs the model of a module: the package check, and make check")
class OnDevice(Torch):
    """Tensors of the host that are taken for a GPU's, on a module without one."""

    def setUp(self):
        view = _torch._view

        def there(t, name):
            said = view(t, name)
            said.device = "cuda:0"
            return said

        def start(problem, workspace, start=_device.start):
            ran = start(problem, workspace)
            if problem.struct.m > 1:  # not what a block tries at its beginning
                self.started.append((ran.kernel, _device.methods(problem.struct,
                                                                  problem.place)))
            return ran

        self.started = []
        for patch in (mock.patch.dict(os.environ, BITCUT_MODULES=str(MODULE)),
                      mock.patch.object(_torch, "_view", there),
                      mock.patch.object(_device, "start", start),
                      mock.patch.dict(_device.OWNERS, torch=Host)):
            patch.start()
            self.addCleanup(patch.stop)

    def test_any_unit(self):
        """By emulation, in FP32's layouts, forward and backward."""
        for recipe, unit, method in (("ootomo", "mi210", "simt"), ("ootomo", "a100", "tensor"),
                                     ("bf16x9", "mi300", "cut"), ("plain", "v100", "tensor")):
            self.started.clear()
            way = {"recipe": recipe, "unit": unit}
            a, b = random(M, K, grad=True), random(K, N, seed=2, grad=True)
            bias, g = random(N, seed=4), random(M, N, seed=3)
            d = self.inside(lambda: torch.addmm(bias, a, b, alpha=0.3), {"addmm": 1}, strict=True,
                            **way)
            self.same(d, gemm(a, b, bias.expand(M, N), alpha=0.3, **way), way)
            self.inside(lambda: (a @ b).backward(g), {"mm": 3}, strict=True, **way)
            self.same(a.grad, gemm(g, b.t(), **way), way)
            self.same(b.grad, gemm(a.t(), g, **way), way)
            x, y = random(3, M, K), random(3, K, N, seed=2)
            self.same(self.inside(lambda: x @ y, {"bmm": 1}, strict=True, **way),
                      gemm(x, y, **way), way)
            self.same(self.inside(lambda: x[:, :, :0] @ y[:, :0], {"bmm": 1}, **way),
                      torch.zeros(3, M, N))
            terms = len(self.started[0][1])
            self.assertEqual(self.started[:5], 5 * [(None, terms * [method])], way)
            self.assertGreater(terms, recipe != "plain")

    def test_plans(self):
        """Products of one kind share a plan: the arrays are examined once, and of copies each time."""
        self.addCleanup(_device.FAST.clear)
        self.addCleanup(_plan._plans.clear)
        way = {"recipe": "ootomo", "unit": "a100"}
        with mock.patch.dict(_device.OWNERS, torch=Quick):
            for turn in range(3):
                a, b, bias = random(M, K, seed=turn), random(K, N, seed=turn + 5), random(N, seed=turn + 9)
                for count, alpha in (1, 0.3), (2, 0.5):
                    d = self.inside(lambda: torch.addmm(bias, a, b, alpha=alpha), {"addmm": 1}, **way)
                    self.same(d, gemm(a, b, bias.expand(M, N), alpha=alpha, **way))
                    self.assertEqual(len(self.started), max(count, 4 * bool(turn)))
                self.same(self.inside(lambda: a @ b, **way), gemm(a, b, **way))
                self.same(self.inside(lambda: b.t() @ a.t(), **way), gemm(b.t(), a.t(), **way))
                self.assertEqual(len(self.started), 4)
            self.started.clear()
            for turn in range(3):
                a = random(2 * M, 2 * K, seed=turn)[::2, ::2]
                self.same(self.inside(lambda: a @ b, **way), gemm(a, b, **way))
            self.assertEqual(len(self.started), 3)

    def test_kernel(self):
        a, b = random(M, K), random(K, N, seed=2)
        self.same(self.inside(lambda: a @ b, {"mm": 1}, unit="h100"), gemm(a, b, unit="h100"))
        self.assertEqual(self.started, [(b"gemm.ootomo.f16", 3 * ["kernel"])])


@needs_torch
class Left(Torch):
    def test_types(self):
        a, b = random(M, K), random(K, N, seed=2)
        for dtype in (torch.float64, torch.bfloat16, torch.int32, torch.complex64):
            x, y = (8 * a).to(dtype), (8 * b).to(dtype)
            name = f"mm of {str(dtype).split('.')[1]}"
            got = self.inside(lambda: x @ y, {}, {name: 1})
            self.assertTrue(torch.equal(got, x @ y), dtype)
        got = self.inside(lambda: (a.double().requires_grad_() @ b.double()).sum().backward(), {},
                          {"mm of float64": 2})

    def test_devices_and_layouts(self):
        a, b = random(M, K), random(K, N, seed=2)
        d = self.inside(lambda: a.to("meta") @ b.to("meta"), {}, {"mm on meta": 1})
        self.assertEqual(d.shape, (M, N))
        for x in (a.to_sparse(), a.to_mkldnn() if torch.backends.mkldnn.is_available() else None):
            if x is not None:
                with bitcut.emulate(**WAY) as e, contextlib.suppress(RuntimeError):
                    torch.mm(x, b)
                self.assertEqual((e.taken, sum(e.left.values())), ({}, 1), e)

    def test_whole(self):
        x, w = random(1, 2, 8, 8), random(3, 2, 3, 3, seed=2)
        got = self.inside(lambda: torch.nn.functional.conv2d(x, w), {}, {"convolution, whole": 1})
        self.same(got, torch.nn.functional.conv2d(x, w))

    def test_subclass(self):
        class Strange(torch.Tensor):
            __torch_function__ = torch._C._disabled_torch_function_impl

            @staticmethod
            def __new__(cls, inner):
                strange = cls._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype)
                strange.held = inner
                return strange

            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                return func(*(getattr(x, "held", x) for x in args), **(kwargs or {}))
        a, b = random(M, K), random(K, N, seed=2)
        strange = Strange(a)
        self.same(self.inside(lambda: torch.mm(strange, b), {}, {"mm of Strange": 1}), a @ b)

    def test_shapes(self):
        """PyTorch's own words for what does not multiply, and the block goes on."""
        a, b, x = random(M, K), random(K, N), random(3, K, N)
        for f in (lambda: a @ a, lambda: torch.mm(a, x), lambda: torch.bmm(x, x),
                  lambda: torch.bmm(x[:2].transpose(1, 2), x), lambda: a @ b[0],
                  lambda: torch.mm(a, b.double())):
            with self.assertRaises(RuntimeError) as plain:
                f()
            with bitcut.emulate(**WAY) as e, self.assertRaises(RuntimeError) as inside:
                f()
            self.assertEqual(str(inside.exception), str(plain.exception))
            self.assertEqual(e.taken, {})
        with bitcut.emulate(**WAY), self.assertRaisesRegex(RuntimeError, "expand"):
            torch.addmm(b, a, b)

    def test_strict(self):
        a, b = random(M, K), random(K, N, seed=2)
        with bitcut.emulate(**WAY, strict=True) as e:
            self.same(a @ b, gemm(a, b))
            for f, words in ((lambda: a.double() @ b.double(), "mm of float64"),
                             (lambda: torch.cdist(a, a), "_cdist_forward, whole")):
                with self.assertRaisesRegex(bitcut.Unsupported, words):
                    f()
        self.assertEqual((e.taken, e.left), ({"mm": 1}, {}))


@needs_torch
class Blocks(Torch):
    def test_nested(self):
        a, b = random(M, K), random(K, N, seed=2)
        outer = bitcut.emulate(**WAY)
        inner = bitcut.emulate(**{**WAY, "unit": "a100"})
        with outer:
            self.same(a @ b, gemm(a, b))
            with inner:
                self.same(a @ b, gemm(a, b, unit="a100"))
                a.double() @ b.double()
            self.same(a @ b, gemm(a, b))
            with outer:
                self.same(a @ b, gemm(a, b))
        self.assertEqual((outer.taken, outer.left), ({"mm": 3}, {}))
        self.assertEqual((inner.taken, inner.left), ({"mm": 1}, {"mm of float64": 1}))
        self.assertEqual(str(inner), f'line  {inner.line}\ntaken\n  mm  1\n'
                         'left\n  mm of float64  1')

    def test_overlapping(self):
        """Blocks of two threads that end in the order in which they began."""
        setting = getattr(torch.backends.cuda, "flash_sdp_enabled", lambda: True)
        first, second = bitcut.emulate("plain", "a100"), bitcut.emulate("plain", "a100")
        inside, go, was = threading.Event(), threading.Event(), setting()

        def other():
            with second:
                inside.set()
                go.wait()

        thread = threading.Thread(target=other)
        with first:
            thread.start()
            inside.wait()
        go.set()
        thread.join()
        self.assertEqual(setting(), was)

    def test_negated(self):
        """A view whose sign PyTorch keeps apart."""
        with self.assertRaisesRegex(bitcut.BadArgument, "A: a negated view"):
            bitcut.gemm(torch._neg_view(torch.ones(4, 4)), torch.eye(4), recipe="plain",
                        unit="a100")

    def test_restored(self):
        a, b = random(M, K), random(K, N, seed=2)
        plain = a @ b
        for error in (KeyError, KeyboardInterrupt):
            with self.assertRaises(error), bitcut.emulate(**WAY):
                with bitcut.emulate("plain", "a100"):
                    raise error
            self.same(a @ b, plain)
        setting = getattr(torch.backends.cuda, "flash_sdp_enabled", lambda: True)
        self.assertTrue(setting())

    def test_threads(self):
        """A block is the thread's that entered it."""
        a, b, got = random(M, K), random(K, N, seed=2), []
        with bitcut.emulate(**WAY) as e:
            other = threading.Thread(target=lambda: got.append(a @ b))
            other.start()
            other.join()
            self.same(a @ b, gemm(a, b))
        self.same(got[0], a @ b)
        self.assertEqual(e.taken, {"mm": 1})

    def test_bad_input(self):
        for given, words in (({"recipe": "x"}, "unknown recipe"), ({"unit": "x"}, "unknown unit"),
                             ({"sheep": 1}, "sheep: no argument"), ({"promote": -1}, "promote"),
                             ({"unit": None}, "unit"), ({"order": "x"}, "x"),
                             ({"recipe": "bf16x9", "unit": "v100"}, "."),
                             ({"threads": -1}, "threads")):
            with self.assertRaisesRegex(bitcut.Error, words):
                bitcut.emulate(**{**WAY, **given})


class Without(unittest.TestCase):
    def test_import(self):
        """The package alone does not load it."""
        done = python("import bitcut, sys; print('torch' in sys.modules)")
        self.assertEqual((done.stdout, done.stderr), ("False\n", ""))

    def test_no_torch(self):
        done = python("import sys; sys.modules['torch'] = None\nimport bitcut\n"
                      "try: bitcut.emulate('plain', 'a100')\n"
                      "except bitcut.Unsupported as error: print(error)")
        self.assertRegex(done.stdout, "^emulate: it needs PyTorch 1.13 or later: .*torch.*\n$")


if __name__ == "__main__":
    unittest.main()
