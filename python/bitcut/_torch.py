# SPDX-License-Identifier: BSD-3-Clause
"""The products of PyTorch by bitcut's GEMM, inside a block.

torch is imported when a block is made, not before.  A TorchDispatchMode sees the operations that
PyTorch calls below autograd, in the forward and the backward pass.  Products of FP32
matrices are computed here, on the CPU or on their GPU; PyTorch computes everything else."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import threading
import types
from typing import Any, NamedTuple, Optional

from . import _device, _plan, _torch_attention
from ._arrays import View, _device_of
from ._attention import _row
from ._calls import HOW, _threads
from ._gemm import Operand, Problem, line_of, way
from ._library import BadArgument, BadType, Unsupported, byref, compute, fresh_gemm, lib
from ._results import Result


class _Product(NamedTuple):
    """A product of aten: the dimensions of its two factors, whether a C comes before them, and
    whether the first is a row, the second a column, written as a vector."""
    dims: tuple
    adds: bool = False
    row: bool = False
    column: bool = False


PRODUCTS = {
    "mm": _Product((2, 2)), "addmm": _Product((2, 2), adds=True),
    "bmm": _Product((3, 3)), "baddbmm": _Product((3, 3), adds=True),
    "mv": _Product((2, 1), column=True), "addmv": _Product((2, 1), adds=True, column=True),
    "dot": _Product((1, 1), row=True, column=True),
    "vdot": _Product((1, 1), row=True, column=True),
}
# What multiplies matrices in one piece, which nothing here takes apart.
WHOLE = re.compile(
    "conv(olution|[123]d|_t)|attention|(en|de)coder.*layer|trilinear|euclidean|cdist|addbmm|addmm|"
    "mm$|mkldnn_linear|_rnn|linalg_(?!vector_norm|cross)|cholesky|triangular_solve|lu_solve|ormqr")

ATTENTION = "scaled_dot_product_attention"
FUSED = ("flash_sdp", "mem_efficient_sdp", "cudnn_sdp")  # ways to compute attention

# How many blocks there are, and what the settings of FUSED were before the first.
_apart = types.SimpleNamespace(lock=threading.Lock(), blocks=0, before={})
_passing = threading.local()  # .on: a block inside this one has left the operation to PyTorch


def _torch():
    try:
        import torch
        from torch.overrides import TorchFunctionMode
        from torch.utils._python_dispatch import TorchDispatchMode
    except ImportError as error:
        raise Unsupported(f"emulate: it needs PyTorch 1.13 or later: {error}") from None
    return torch, TorchDispatchMode, TorchFunctionMode


def _why_left(torch, tensors) -> Optional[str]:
    """Why a product of these is PyTorch's own; None: it is taken."""
    for t in tensors:
        if type(t).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
            return f"of {type(t).__name__}"
        if t.layout is not torch.strided:
            return f"of {str(t.layout).split('.')[-1]}"
        if t.dtype is not torch.float32:
            return f"of {str(t.dtype).split('.')[-1]}"
        if t.device.type not in ("cpu", "cuda"):
            return f"on {t.device.type}"
    return None if len({t.device for t in tensors}) < 2 else "on several devices"


def _fit(row: _Product, a, b) -> bool:
    """Whether the factors multiply; if not, PyTorch has the words for it."""
    if (a.dim(), b.dim()) != row.dims or a.shape[-1] != b.shape[-1 if row.column else -2]:
        return False
    return a.dim() < 3 or a.shape[0] == b.shape[0]


def _view(t, name: str) -> View:
    """A tensor where it is; a copy, as PyTorch makes it for BLAS, where its rows and columns
    both have gaps."""
    view = View(name, t.data_ptr(), t.shape, [4 * s for s in t.stride()], "f4", "f32", False, t)
    view.source = t
    if t.is_cuda:
        view.device = _device_of(name, t)
    return view if Operand._fits(view) else _view(t.contiguous(), name)


@functools.lru_cache(maxsize=None)
def _modes():
    """The classes of modes, once there is torch."""
    torch, TorchDispatchMode, TorchFunctionMode = _torch()

    hides = hasattr(TorchDispatchMode, "_should_skip_dynamo")

    def operation(mode, func, args, kwargs):
        if getattr(_passing, "on", False):
            return func(*args, **kwargs)
        return mode.block._operation(torch, mode, func, args, kwargs)

    class Dispatch(TorchDispatchMode):
        """PyTorch 2.11 hides this function from its compiler, and therefore loads the compiler, which
        takes seconds, at the first operation.  Here it is hidden if the compiler is loaded."""

        hidden = None

        def __init__(self, block):
            super().__init__()
            self.block = block

        @classmethod
        def _should_skip_dynamo(cls):
            return False

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if not hides or "torch._dynamo" not in sys.modules:
                return operation(self, func, args, kwargs or {})
            if Dispatch.hidden is None:
                Dispatch.hidden = torch._disable_dynamo(operation, recursive=True)
            return Dispatch.hidden(self, func, args, kwargs or {})

    class Function(TorchFunctionMode):
        """Takes attention, if the block has an algorithm for it.  With one, modules do not take their
        fused paths."""

        def __init__(self, block):
            super().__init__()
            self.block = block

        def __torch_function__(self, func, types, args=(), kwargs=None):
            if self.block._attention and func is getattr(torch.nn.functional, ATTENTION, None):
                return self.block._attend(torch, func, args, kwargs or {})
            return func(*args, **(kwargs or {}))

    return Dispatch, Function


@contextlib.contextmanager
def _attention_apart(torch):
    """Attention by its products, not by a fused kernel, where this PyTorch has one.  That is a
    setting of the process: the first block sets it, and the last one restores it."""
    cuda = torch.backends.cuda
    with _apart.lock:
        if not _apart.blocks:
            _apart.before = {name: getattr(cuda, name + "_enabled")() for name in FUSED
                             if hasattr(cuda, "enable_" + name)}
            for name in _apart.before:
                getattr(cuda, "enable_" + name)(False)
        _apart.blocks += 1
    try:
        yield
    finally:
        with _apart.lock:
            _apart.blocks -= 1
            if not _apart.blocks:
                for name, value in _apart.before.items():
                    getattr(cuda, "enable_" + name)(value)


class Emulation(Result):
    """What a block of emulate() did.

    ``line`` is how products are computed, or None; ``taken`` how many of each operation were computed here; ``left``
    how many PyTorch computed itself, and why.
    """

    def __init__(self, recipe, unit, strict, threads, attention, vary, variations):
        unknown = sorted(set(variations) - set(HOW))
        if unknown:
            raise BadType(f"{unknown[0]}: no argument of this call")
        if attention is not None:
            _row(attention)
        elif vary is not None:
            raise BadArgument("vary: needs attention")
        elif recipe is None:
            raise BadType("emulate: needs a recipe and a unit, or attention")
        how = {**dict.fromkeys(HOW), "equilibrate": False, **variations, "recipe": recipe,
               "unit": unit}
        products = recipe is not None or unit is not None
        super().__init__(line=line_of(way(**how)) if products else None, taken={}, left={}, _how=how,
                         _strict=bool(strict), _threads=_threads(threads), _entered=[],
                         _lock=threading.Lock(), _products=products,
                         _attention={"row": attention, "vary": vary} if attention else None)
        self._options = tuple(sorted((name, str(x)) for name, x in how.items()))
        torch = _torch()[0]
        if not products:
            return
        one = torch.zeros(1, 1, dtype=torch.float32, device="cpu")
        self._multiply(torch, one, one, None, 1, 0)  # for what is wrong with recipe or unit

    def __enter__(self):
        (Dispatch, Function), stack = _modes(), contextlib.ExitStack()
        with stack:
            stack.enter_context(_attention_apart(_torch()[0]))
            stack.enter_context(Function(self))
            if self._products:
                stack.enter_context(Dispatch(self))
            self._entered.append(stack.pop_all())
        return self

    def __exit__(self, *error):
        return self._entered.pop().__exit__(*error)

    def _count(self, counts, name):
        with self._lock:
            counts[name] = counts.get(name, 0) + 1

    def _attend(self, torch, func, args, kwargs):
        """scaled_dot_product_attention by its algorithm."""
        try:
            o, why = _torch_attention.attend(torch, self._attention, self._threads, *args, **kwargs)
        except BadArgument as error:
            o, why = None, f"refused: {error}"
        if why is None:
            self._count(self.taken, ATTENTION)
            return o
        why = f"{ATTENTION} {why}"
        if self._strict:
            raise Unsupported(f"emulate: {why}: bitcut does not compute it")
        self._count(self.left, why)
        return func(*args, **kwargs)

    def _operation(self, torch, mode, func, args, kwargs):
        """One operation of aten."""
        name, _, overload = str(func).partition(".")[2].partition(".")
        row = PRODUCTS.get(name.rstrip("_")) if overload in ("default", "out") else None
        if row:
            factors = args[row.adds:row.adds + 2]
            tensors = [x for x in (*args, kwargs.get("out")) if isinstance(x, torch.Tensor)]
            why = _why_left(torch, tensors)
            if why is None and len(factors) == 2 and _fit(row, *factors):
                try:
                    return self._product(torch, name, row, args, **kwargs)
                except (BadArgument, Unsupported) as error:
                    if not tensors[0].is_cuda:
                        raise
                    why = f"on cuda: {error}"  # which has no such kernel, nor emulates
            return self._leave(func, args, kwargs, f"{name} {why or 'refused'}")
        # In inference mode operations come whole that autograd takes apart.
        apart = NotImplemented
        if str(func).startswith("aten."):
            with mode:
                apart = func.decompose(*args, **kwargs)
        if apart is not NotImplemented:
            return apart
        if WHOLE.search(name):
            return self._leave(func, args, kwargs, f"{name}, whole")
        return func(*args, **kwargs)

    def _leave(self, func, args, kwargs, why):
        if self._strict:
            raise Unsupported(f"emulate: {why}: bitcut does not compute it")
        self._count(self.left, why)
        _passing.on = True
        try:
            return func(*args, **kwargs)
        finally:
            _passing.on = False

    def _product(self, torch, name, row, args, *, beta=1, alpha=1, out=None):
        c, (a, b) = args[0] if row.adds else None, args[row.adds:row.adds + 2]
        a, b = (a[None, :] if row.row else a), (b[:, None] if row.column else b)
        if c is not None and row.column and c.dim():
            c = c[:, None]
        d = self._multiply(torch, a, b, c, alpha, beta)
        if row.column:
            d = d.reshape(d.shape[:0 if row.row else 1])
        self._count(self.taken, name)
        out = args[0] if name.endswith("_") else out
        if out is None:
            return d
        if out.shape != d.shape:
            out.resize_(d.shape)
        return out.copy_(d)

    def _multiply(self, torch, a, b, c, alpha, beta):
        """alpha A B + beta C.  C is expanded into D first, as PyTorch does it."""
        shape = (*a.shape[:-1], b.shape[-1])
        if c is not None:
            d = c.expand(shape).clone(memory_format=torch.contiguous_format)
            more = d, d
        else:
            d, beta, more = None, None, (None, None)
        options = self._options, alpha, beta
        found = _plan.recall(options, a, b, *more)
        if found:
            return found[1]
        c = None if d is None else _view(d, "C")
        d = a.new_empty(shape) if d is None else d
        p = Problem(_view(a, "A"), _view(b, "B"), c, _view(d, "D"), alpha=alpha, beta=beta,
                    writes=True, **self._how)
        if p.place:
            _device.start(p, None)
            _plan.remember(options, p, {}, a, b, *more)
            return d
        ran = fresh_gemm()
        compute(lib.bitcut_gemm, byref(ran), byref(p.struct), self._threads, keep=(p, ran),
                products=p.products())
        return d


def emulate(recipe: Optional[str] = None, unit: Optional[str] = None, *, attention: Optional[str] = None,
            vary: Optional[str] = None, strict: bool = False, threads: int = 0, **variations: Any) -> Emulation:
    """Compute PyTorch's products as by gemm(), and its attention as by attention(), bit for bit.

    ``with bitcut.emulate("legemm", "mi210") as e:`` begins a block.  In it mm, bmm, addmm, baddbmm, mv,
    addmv and dot are computed by gemm(), and so is all that PyTorch makes of them: matmul (@), einsum,
    linear, nn.Linear, attention, and on the host recurrent cells.  On a GPU its kernel computes them, in
    slices of k that it chooses if no `order` is given, or the unit is emulated.

    - Products are taken where they are called: forward and backward inside the block, in the thread that
      entered it.  A backward() behind the block is PyTorch's own.  The innermost block counts.
    - A bias, or any C, is added as beta C in the epilogue, after the sum over k.  A vector is a matrix of
      one column.  The gradient of a product with a vector by its matrix is no sum over k, so PyTorch
      computes it.
    - Tensors are read where they are, also transposed ones.  A tensor that is neither row-major nor
      column-major is copied, as PyTorch does for BLAS.
    - Other types than float32, GPUs without such a kernel that emulate nothing, sparse tensors, and
      convolutions are left to PyTorch; ``e.left`` counts them.
    - Modules and scaled_dot_product_attention do not take their fused paths in the block.
    - With ``attention``, scaled_dot_product_attention of CPU tensors in float16, bfloat16 and float32 has
      the bits of attention() with this row; it is causal if there are as many queries as keys, and takes
      masks that are windows, a scale and enable_gqa.  Dropout, gradients, other masks and what the row
      does not compute are left to PyTorch.  Without recipe and unit, products are PyTorch's own.

    Args:    recipe: a name of recipes(), or None
             unit: a name of units() or chips(), or None
             attention: a name of attentions(); None: attention is computed by its products
             vary: items that change fields of this row, as for attention()
             strict: an operation that is left to PyTorch raises Unsupported
             threads: number of threads; 0: one for each processor
             variations: split, scale, order and the other variations of gemm()
    Returns: Emulation, a context manager
    Raises:  BadArgument: unknown recipe or unit
             BadType: unknown argument
             Unsupported: the recipe does not run on this unit
    """
    return Emulation(recipe, unit, strict, threads, attention, vary, variations)
