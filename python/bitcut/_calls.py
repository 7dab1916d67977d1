# SPDX-License-Identifier: BSD-3-Clause
"""The calls of the library on arrays."""

from __future__ import annotations

import ctypes
import inspect
import operator
import sys
from typing import Any, Optional, Tuple

from . import _arrays, _device
from ._arrays import contiguous, look
from ._figures import bars, line, points
from ._fp64 import described64, problem as problem64
from ._gemm import OF_DEVICES, Operand, OrderLike, Problem, described, integer, line_of, real
from ._library import (DIMENSION_MAX, SEED_MAX, Advice as _Advice, AdviceOptions, BadArgument, BadType,
                       Difference, Explanation as _Explanation, ExplainOptions, Field, FitReport,
                       G as _GemmPointer, Part, Quantization as _Quantization, Recording,
                       ResultPair as _ResultPair, Tolerances as _Tolerances, ToleranceOptions,
                       ToleranceVerdict, Prediction as _Prediction, PredictOptions, byref, c_double, check, compute,
                       format_row, fresh, fresh_gemm, lib, read, text, values)
from ._plan import Plan, how_ran, quick
from ._results import Result, text_object, text_table
from ._tables import _read, value_of


def _threads(threads: Any) -> int:
    return integer(threads, "threads")


class Gemm(Result):
    """What gemm() computed: ``d``, the matrix, and how.

    ``recipe``, ``unit``, ``evidence``, ``split``, ``scale``, ``promote`` and the other names of
    `bitcut gemm --json` are attributes; ``line`` says in one line how D was computed.
    """

    def judge(self, index: int = 0, threads: int = 0) -> "Metrics":
        """Measure the error of ``d``: judge() of the same arguments.

        Args:    index: the GEMM of a batch
                 threads: number of threads; 0: one for each processor
        Returns: Metrics, every metric of metrics()
        Raises:  BadArgument: the batch has no such GEMM
        """
        if not hasattr(self, "_problem"):
            raise BadArgument("this is a copy without A and B; judge() takes D and them")
        if self._problem.place and self._problem.place.memory:
            raise BadArgument(f"D is in the memory of {self._problem.place.memory}; judge() of "
                              "it, A and B with copy=True copies them to the host")
        return _judged(self._problem, index, threads)


@quick(Gemm)
def gemm(a: Any, b: Any, *, recipe: Optional[str] = None, unit: Optional[str] = None,
         c: Any = None, alpha: float = 1.0, beta: Optional[float] = None,
         split: Optional[str] = None,
         split_a: Optional[str] = None, split_b: Optional[str] = None,
         high: Optional[str] = None, low: Optional[str] = None,
         sum_rounding: Optional[str] = None,
         round_seed: Optional[int] = None, scale: Optional[int] = None,
         dropped_term: Optional[bool] = None, promote: Optional[int] = None,
         tile_k: Optional[int] = None, equilibrate: bool = False, order: OrderLike = None,
         bias: Any = None, bias_rows: bool = False, epilogue: Optional[str] = None,
         start: Optional[str] = None, scaling: Optional[str] = None, scale_a: Any = None,
         scale_b: Any = None, block_a: Any = None, block_b: Any = None, scale_d: float = 1.0,
         zero_a: int = 0, zero_b: int = 0, zero_d: int = 0,
         clamp: Any = None, format_bias: Optional[str] = None,
         format_scale_a: Optional[str] = None, format_scale_b: Optional[str] = None,
         format_a: Optional[str] = None, format_b: Optional[str] = None,
         format_c: Optional[str] = None, format_d: Optional[str] = None, out: Any = None,
         copy: bool = False, threads: int = 0, kernel: Optional[str] = None,
         any_promotion: bool = False, any_slices: Optional[bool] = None, stream: Any = None,
         workspace: Any = None, device: Optional[str] = None,
         offsets: Any = None, offsets_k: Any = None, sparse_a: bool = False,
         positions_a: Any = None, scheme: Optional[str] = None,
         parts: Optional[int] = None) -> Gemm:
    """Compute D = alpha A B + beta C by a recipe on a matrix unit, bit for bit.

    The result has every bit that a kernel with this recipe gives on this unit.

    Elements are f4, f2, f8 (all values FP32's; they are converted), types of ml_dtypes, or encodings (u1,
    u2, u4), which need `format_a` and the like.  Row-major and column-major arrays and their views with
    gaps are read where they are; others need ``copy=True``.  Each array may have a first dimension, a
    batch.

    Arrays in the memory of a GPU (CuPy's, PyTorch's, or with __cuda_array_interface__ or DLPack) are
    multiplied there, to the same bits: by the kernel of the recipe, or if there is none and the unit is
    given, by emulation of the unit.  The call returns without waiting.  The result then has ``device`` and
    ``kernel``; if the unit is emulated, ``kernel`` is None and ``method`` says how, by one name, or by one
    for each product of parts if they differ.

    Args:    a: A, (m, k) or (count, m, k)
             b: B, (k, n) or (count, k, n)
             recipe: a name of recipes(); on a device it may be left out if `kernel` is given
             unit: a name of units() or chips(); on a device None lets the device choose
             c: C, (m, n) or (count, m, n); None: there is none
             alpha: rounded to FP32
             beta: rounded to FP32; None: 1 if there is a C, else 0
             split: a name of splits(); None, here and below: as in the recipe's row
             split_a: the same of A alone
             split_b: the same of B alone
             high: a name of roundings(), of the high part
             low: a name of roundings(), of the low parts
             sum_rounding: a name of roundings(), of the sums in the unit; None: the unit's own
             round_seed: seed of the rounding sr, an integer; other roundings do not use it
             scale: low parts are times 2^scale
             dropped_term: compute the product of the low parts as well
             promote: number of instructions after which the sum is promoted to FP32
             tile_k: k of a product before the next product begins
             equilibrate: scale rows of A and columns of B by powers of two
             order: order of k: the line that ``bitcut gemm --order`` takes, or a dict of its items
             bias: one for each column of D, (n,), or with `bias_rows` for each row, (m,); None: none
             bias_rows: whether `bias` has one element for each row of D
             epilogue: what follows the sum, a name of epilogues(), or steps() with "+" between, such as
                 "round+bias+relu"; None: fused
             start: what the sums start from, a name of starts(), such as "c"; None: 0
             scaling: where the factors are applied, a name of scalings(); None: in the epilogue
             scale_a: factors of A: a number, one for each row, or one for each block
             scale_b: the same of B and its columns; blocks of k are its rows
             block_a: rows and k of A that share a factor, 0 for all, such as (1, 128); None: as the shape
                 of `scale_a` says
             block_b: columns and k of B that share a factor, such as (128, 128)
             scale_d: factor of the step scale-d
             zero_a: zero point of A, of integers: A stands for A - zero_a
             zero_b: the same of B
             zero_d: zero point of D, for the step zero-d
             clamp: limits of the step clamp, a pair
             format_bias: format of the elements of the bias, if they are encodings
             format_scale_a: the same of scale_a
             format_scale_b: the same of scale_b
             format_a: format of the elements of A, if they are encodings
             format_b: the same of B
             format_c: the same of C
             format_d: format of D; None: f32
             out: array for D, (m, n) or (count, m, n), which may be C; None: a new array
             copy: copy arrays that cannot be read where they are
             threads: number of threads; 0: one for each processor
             kernel: on a device, its kernel
             any_promotion: on a device, it may promote as it likes
             any_slices: on a device, it may choose the number of slices of k, which ``line`` of the
                 result then has; None: on a GPU if no `order` is given
             stream: on a GPU, the stream, an object of CuPy or PyTorch or an address; None: the current
                 one of the arrays' library
             workspace: on a device, an array of as many bytes as workspace() says; None: new memory
             device: "cpu": arrays of the host, by the matrix unit of the processor (AMX, AVX512-BF16), if
                 devices() has it; OMP_NUM_THREADS is its number of threads
             offsets: ends of groups of rows, integers: rows offsets[i-1] to offsets[i] - 1 of A, C and D
                 belong to group i, and B has a matrix for each group, as in torch._grouped_mm; None: no
                 groups
             offsets_k: ends of groups of k, integers: columns offsets_k[i-1] to offsets_k[i] - 1 of A and
                 these rows of B belong to group i, and D and C have a matrix for each group, as in
                 torch._grouped_mm with an A and a B of 2 dimensions; None: no groups
             sparse_a: A is 2:4 sparse: two elements of each four of a row are kept and multiplied,
                 those other than 0 and then the last zeros
             positions_a: positions of the kept elements of a 2:4 sparse A in their fours, 0 to 3,
                 (m, k/2) of uint8; A is then (m, k), or (m, k/2): the kept elements alone; None: as
                 `sparse_a` says
             scheme: compute an FP64 GEMM by this scheme, a name of schemes(), on `unit`; A, B and C are
                 f8, or narrower types, D is f8, alpha and beta are FP64.  Of the other arguments only
                 c, alpha, beta, format_a, format_b, format_c, out, copy, threads and parts apply, and
                 on a GPU, which takes f8 alone, kernel, stream and workspace
             parts: slices or moduli of each element in a scheme, at most so many in cublas-dynamic;
                 None: as the scheme's row
    Returns: Gemm, with the matrix in ``d``; with a scheme its attributes are scheme, unit, parts,
             alpha, beta and line
    Raises:  BadArgument: a shape, a name or a number does not fit
             BadType: an argument is no array, or unknown
             Unsupported: the recipe does not run on this unit, or not on this device

    >>> bitcut.gemm(a, b, recipe="plain", unit="mi300").d.shape
    (12, 16)
    """
    if scheme is not None or parts is not None:
        return _gemm64(a, b, locals())
    if device is not None and threads:
        raise BadArgument("threads: of the emulator; OMP_NUM_THREADS says it of a device's kernels")
    p = Problem(a, b, c, out, recipe=recipe, unit=unit, alpha=alpha, beta=beta, split=split,
                split_a=split_a, split_b=split_b, high=high, low=low,
                sum_rounding=sum_rounding, round_seed=round_seed,
                scale=scale,
                dropped_term=dropped_term, promote=promote, tile_k=tile_k, equilibrate=equilibrate,
                order=order, bias=bias, bias_rows=bias_rows, epilogue=epilogue, start=start,
                scaling=scaling, scale_a=scale_a, scale_b=scale_b, block_a=block_a,
                block_b=block_b, scale_d=scale_d, zero_a=zero_a, zero_b=zero_b,
                zero_d=zero_d, clamp=clamp, format_bias=format_bias,
                format_scale_a=format_scale_a, format_scale_b=format_scale_b,
                format_a=format_a, format_b=format_b, format_c=format_c,
                format_d=format_d, copy=copy, writes=True, kernel=kernel,
                any_promotion=any_promotion, any_slices=any_slices, stream=stream,
                device=device, offsets=offsets, offsets_k=offsets_k, sparse_a=sparse_a,
                positions_a=positions_a)
    if p.place:
        return Gemm(**how_ran(_device.start(p, workspace), p), d=p.result, _problem=p)
    _needs({"recipe": recipe, "unit": unit}, ("recipe", "unit"))
    ran, g = fresh_gemm(), p.struct
    compute(lib.bitcut_gemm, byref(ran), byref(g), _threads(threads), keep=(p, ran),
            products=p.products())
    return Gemm(**described(ran), m=g.m, n=g.n, k=g.k, count=g.count, d=p.result, _problem=p,
                _line=line_of(ran))


def _gemm64(a, b, given: dict) -> Gemm:
    """gemm() with a scheme, of its arguments."""
    if given["scheme"] is None:
        raise BadArgument("parts: missing scheme")
    usual = {"a", "b", "out", "threads", "workspace"}
    defaults = {name: x.default for name, x in inspect.signature(gemm).parameters.items()}
    own = {name: x for name, x in given.items()
           if name not in usual and x is not defaults[name]
           and not (isinstance(x, (bool, int, float, str)) and x == defaults[name])}
    p = problem64(a, b, own, d=given["out"], writes=True)
    if p.place:
        return Gemm(**how_ran(_device.start(p, given["workspace"]), p), d=p.result, _problem=p)
    ran = fresh_gemm()
    compute(lib.bitcut_gemm, byref(ran), byref(p.struct), _threads(given["threads"]),
            keep=(p, ran), products=p.products())
    g, said = p.struct, described64(ran)
    return Gemm(**{name: said[name] for name in said if name != "line"}, m=g.m, n=g.n, k=g.k,
                count=g.count, d=p.result, _problem=p, _line=said["line"])


def workspace(a: Any, b: Any, **given) -> int:
    """Compute the number of bytes that gemm() works in on a device.

    Args:    a: A, (m, k) or (count, m, k), in the memory of a GPU, or with `device`
             b: B, (k, n) or (count, k, n)
             given: all other arguments of gemm(), such as c, order and format_a
    Returns: bytes of one array of u1 for the argument `workspace` of gemm(); of a batch, bytes for
             each matrix computed at the same time, and once if the unit is emulated
    Raises:  BadArgument: A and B are in the memory of the host, where gemm() needs none
             Unsupported: the device cannot compute this GEMM
    """
    if given.get("scheme") is not None:
        p = problem64(a, b, given, on_device=True)
    else:
        p = _problem(a, b, given, needs=(), how=(*HOW, *OF_DEVICES, "device"), on_device=True)
    if p.place is None:
        raise BadArgument("A and B are in the memory of the host, where gemm() needs none")
    return _device.workspace_bytes(p.struct, p.place)


def plan(a: Any, b: Any, **given) -> Plan:
    """Plan a GEMM on a GPU: choose and check everything once, for calls that cost little.

    The arrays are examples: their types, shapes, strides and device are those of every call, and their
    elements are not read.  ``plan(a, b)`` is gemm() of the same arguments, to the same bits, and returns
    D.  gemm() and emulate() keep plans of their own, the last 256, for CuPy's and PyTorch's arrays on the
    current stream; a plan of one's own also saves the comparison of all other arguments.

    Args:    a: A, (m, k) or (count, m, k), in the memory of a GPU
             b: B, (k, n) or (count, k, n)
             given: all other arguments of gemm(), such as c, out and order, except stream and workspace
    Returns: Plan, to be called with arrays
    Raises:  BadArgument: A and B are in the memory of the host, or what gemm() refuses
             BadType: an argument is no array, or unknown
             Unsupported: the device cannot compute this GEMM
    """
    if given.get("device") is not None or given.get("threads"):
        raise BadArgument("plan: the arrays say on which GPU; device and threads are not arguments")
    c, out = given.pop("c", None), given.pop("out", None)

    def make(a, b, c, out, stream=None):
        if given.get("scheme") is not None:
            return problem64(a, b, {**given, **({"c": c} if c is not None else {}), **(
                {"stream": stream} if stream is not None else {})}, d=out, writes=True)
        return _problem(a, b, {**given, "c": c}, d=out, needs=(), how=(*HOW, *OF_DEVICES),
                        writes=True, stream=stream)
    p = make(a, b, c, out)
    if p.place is None:
        raise BadArgument("A and B are in the memory of the host; a plan is for arrays on a GPU")
    return Plan(make, p)


Gemm.line = property(lambda self: self._line, doc="recipe@unit, and what is varied")

# What every call that takes a GEMM has: matrices, and how D is computed.
HOW = ("recipe", "unit", "split", "split_a", "split_b", "high", "low", "sum_rounding", "round_seed",
       "scale", "dropped_term", "promote", "tile_k", "equilibrate", "order", "epilogue", "start",
       "scaling")
WHAT = ("c", "alpha", "beta", "bias", "bias_rows", "scale_a", "scale_b", "block_a", "block_b",
        "scale_d", "zero_a", "zero_b", "zero_d", "clamp", "format_bias", "format_scale_a",
        "format_scale_b", "format_a", "format_b", "format_c", "format_d", "copy", "offsets",
        "offsets_k", "sparse_a", "positions_a")


def _needs(given: dict, names):
    for name in names:
        if given.get(name) is None:
            raise BadArgument(f"{name}: missing")


def _problem(a, b, given: dict, *, d=None, needs=("recipe", "unit"), how=HOW, **more) -> Problem:
    """The problem of keyword arguments, each one of gemm()'s."""
    unknown = sorted(set(given) - set(how) - set(WHAT))
    if unknown:
        raise BadType(f"{unknown[0]}: no argument of this call")
    _needs(given, needs)
    blank = dict.fromkeys(HOW)
    return Problem(a, b, d=d, **{**blank, "equilibrate": False, **given}, **more)


def _problem_of_any(a, b, recipe, unit, given: dict, *, d=None):
    """The same, or that of an FP64 GEMM if a scheme is given."""
    if given.get("scheme") is None:
        return _problem(a, b, {"recipe": recipe, "unit": unit, **given}, d=d)
    return problem64(a, b, {"unit": unit, **given, **({"recipe": recipe} if recipe else {})}, d=d,
                     writes=d is None)


# --- against what it should be -------------------------------------------------------------


class Verification(Result):
    """Whether D equals the emulator's result: true if every bit is the same.

    ``differ`` of ``compared`` elements differ.  ``first`` is the first of them: ``at``, its index (in
    a batch with its GEMM first), and its bits and number in ``given`` and ``expected``.
    """

    def __bool__(self):
        return self.differ == 0

    def _how(self):
        return f"{self.scheme} with {self.parts} parts" if hasattr(self, "scheme") else self.recipe

    def __str__(self):
        if self:
            return (f"all {self.compared} outputs are those of {self._how()} on {self.unit}, "
                    "bit for bit")
        f = self.first
        return (f"{self.differ} of {self.compared} outputs differ from {self._how()} on "
                f"{self.unit}; the first, "
                f"{tuple(f['at'])}, is {f['given'][0]} = {f['given'][1]!r}, not "
                f"{f['expected'][0]} = {f['expected'][1]!r}")


def _decoded(encoding: int, format: str) -> list:
    size = _arrays.element_bytes(format)
    at = (ctypes.c_char * size).from_buffer_copy(
        encoding.to_bytes(size, sys.byteorder))
    wide = c_double()
    _arrays.convert(ctypes.addressof(wide), "f64", ctypes.addressof(at), format, 1)
    return [f"{encoding:#0{2 + 2 * size}x}", wide.value]


def verify(d: Any, a: Any, b: Any, *, recipe: Optional[str] = None, unit: Optional[str] = None,
           threads: int = 0, **given) -> Verification:
    """Compare D with the result of gemm(), bit for bit.

    Every bit of each element counts, also of NaN.  If D was computed into C, keep a copy of C.

    Args:    d: the result, (m, n) or (count, m, n), of any type that gemm() takes
             a: A, (m, k) or (count, m, k)
             b: B, (k, n) or (count, k, n)
             recipe: a name of recipes(); in its place, `scheme` for an FP64 GEMM
             unit: a name of units() or chips()
             threads: number of threads; 0: one for each processor
             given: all other arguments of gemm(), such as c, order, format_a and scheme
    Returns: Verification, true if no bit differs
    Raises:  BadArgument: a shape, a name or a number does not fit
             BadType: an argument is no array, or unknown
             Unsupported: the recipe does not run on this unit

    >>> d = bitcut.gemm(a, b, recipe="ootomo", unit="h100").d
    >>> print(bitcut.verify(d, a, b, recipe="ootomo", unit="h100"))
    all 192 outputs are those of ootomo on hopper/mma.m16n8k16.f32.f16, bit for bit
    """
    wide = given.get("scheme") is not None
    p = _problem_of_any(a, b, recipe, unit, given, d=d)
    found, ran = fresh(Difference), fresh_gemm()
    compute(lib.bitcut_gemm_verify, byref(found), byref(ran), byref(p.struct),
            _threads(threads), keep=(p, found, ran), products=p.products())
    first = None
    if found.differ:
        of_rows = p.offsets and not p.is_batch
        first = p.offsets[found.gemm - 1] if of_rows and found.gemm else 0  # row of the group
        at = ([found.gemm] if p.is_batch else []) + [first + found.row, found.column]
        first = {"at": at, "given": _decoded(found.given, p.d.format),
                 "expected": _decoded(found.expected, p.d.format)}
    said = described64(ran) if wide else {**described(ran), "line": line_of(ran)}
    return Verification(**said, compared=found.compared, differ=found.differ, first=first)


class Metrics(Result):
    """How far D is from the exact result, an attribute for each metric of metrics().

    NaN: there is no such number, or the metric needs a recipe and a unit.
    """


def _judged(p: Problem, index: Any, threads: Any) -> Metrics:
    names = []
    while (name := lib.bitcut_metric_name(len(names))):
        names.append(name.decode())
    values = (c_double * len(names))()
    compute(lib.bitcut_gemm_judge, values, len(names), byref(p.struct),
            integer(index, "index", DIMENSION_MAX), _threads(threads), keep=(p, values))
    return Metrics(**dict(zip(names, values)))


def judge(d: Any, a: Any, b: Any, *, recipe: Optional[str] = None, unit: Optional[str] = None,
          index: int = 0, threads: int = 0, **given) -> Metrics:
    """Measure how far D is from the exact alpha A B + beta C by every metric.

    The exact result is computed in exact arithmetic, not in a wider format.

    Args:    d: the result, (m, n) or (count, m, n)
             a: A, (m, k) or (count, m, k)
             b: B, (k, n) or (count, k, n)
             recipe: a name of recipes(); only the metrics ``grade`` need it
             unit: a name of units() or chips(), likewise
             index: the GEMM of a batch
             threads: number of threads; 0: one for each processor
             given: all other arguments of gemm(), such as c, order and format_a
    Returns: Metrics, such as ``relres`` and ``backward_max``
    Raises:  BadArgument: a shape, a name or a number does not fit
             BadType: an argument is no array, or unknown
    - If D is f8 and there is no recipe, A, B and C are FP64 values, and metrics are in u = 2^-53;
      grades then compare D with FP64 multiply-adds.

    >>> bitcut.judge(a @ b, a, b).relres < 1e-6
    True
    """
    if recipe is None and look(d, "D").kind == "f8":
        own = {**given, **({"unit": unit} if unit else {})}
        return _judged(problem64(a, b, own, d=d), index, threads)
    p = _problem(a, b, {"recipe": recipe, "unit": unit, **given}, d=d, needs=())
    return _judged(p, index, threads)


def exact(a: Any, b: Any, *, format: str = "f32", format_a: Optional[str] = None,
          format_b: Optional[str] = None, copy: bool = False, threads: int = 0) -> Any:
    """Compute A B exactly, and round it once, to nearest even.

    NaN and infinities are those of IEEE 754.

    Args:    a: A, (m, k), FP32 values row by row without gaps, or with B column by column
             b: B, (k, n), likewise
             format: format of the result, "f32" or "f64"
             format_a: format of the elements of A, if they are encodings
             format_b: the same of B
             copy: copy what gemm() takes but this call cannot read
             threads: number of threads; 0: one for each processor
    Returns: a new array (m, n) of f4 or f8
    Raises:  BadArgument: the shapes do not multiply, or an array needs ``copy=True``
             BadType: an argument is no array

    >>> bitcut.exact(numpy.float32([[1, 2**-30]]), numpy.float32([[1], [1]]), format="f64").tolist()
    [[1.0000000009313226]]
    """
    if format not in ("f32", "f64"):
        raise BadArgument(f"{format}: the exact product is rounded to f32 or f64")
    x, y = Operand(a, "A", format_a, copy), Operand(b, "B", format_b, copy)
    if x.batch is not None or y.batch is not None:
        raise BadArgument("A and B have 2 dimensions")
    (m, k), (rows, n) = x.shape, y.shape
    if rows != k:
        raise BadArgument(f"A is {m} x {k} and B {rows} x {n}: they do not multiply")
    views = [_plain_f32(o, copy) for o in (x, y)]
    to = _arrays.empty((m, n), format)
    at = look(to, "D").address
    compute(lib.bitcut_exact_gemm, at if format == "f32" else None,
            at if format == "f64" else None, m, n, k, *(v.address for v in views),
            _threads(threads), keep=(views, to), says=False)
    return to


def _plain_f32(operand: Operand, copy: bool):
    """Its elements, FP32, row by row without gaps."""
    view = operand.view
    if operand.format == "f32" and view.is_dense():
        return view
    if not copy:
        raise BadArgument(f"{view.name}: not FP32, row by row without gaps; copy=True makes a "
                          "copy that is")
    if operand.format == "f32":
        return contiguous(view)
    return _arrays.as_f32(view, operand.format, copy)


# --- parts and fragments -------------------------------------------------------------------


class Parts(Result):
    """The parts of values: ``parts``, an array for each part, the high part first.

    ``formats`` has the format of each.  Part l counts 2^(-``levels[l]`` ``scale``) times its value.  Parts
    in ``copies`` are not added to the others.  An index gives a part, ``len()`` their number.
    """

    def __getitem__(self, i):
        return self.parts[i]

    def __len__(self):
        return len(self.parts)

    def retention(self, *, unit: Optional[str] = None, threads: int = 0) -> "Retention":
        """Count what the parts retain of the values: retention() of the same array.

        Args:    unit: a name of units() or chips(), which may read subnormal parts as zeros
                 threads: number of threads; 0: one for each processor
        Returns: Retention of the values that the array has now
        Raises:  BadArgument: unknown unit
        """
        return _retention(_values(self._of, self._copy), self.split, unit, (-127, 127), threads)

    def to_dict(self):
        """Return all values but the arrays, as a dict."""
        return {key: value for key, value in super().to_dict().items() if key != "parts"}


def _values(x: Any, copy: bool):
    """FP32 values of an array of any shape, without gaps."""
    view = look(x, "X")
    if view.kind == "f8":
        view = _arrays.as_f32(view, "f64", copy)
    if view.kind != "f4":
        raise BadType(f"X: elements of {view.kind}; a split is of FP32 values (NumPy: astype('f4') "
                      "of numbers, view('f4') of encodings)")
    if not view.is_dense():
        if not copy:
            raise BadArgument("X: it has gaps; copy=True copies it")
        view = contiguous(view)
    return view


def _split_row(split: Any):
    row = lib.bitcut_split_find(text(split, "split"))
    if not row:
        raise BadArgument(f"{split}: unknown split; bitcut.splits() has all")
    return row


def split(x: Any, split: str = "halfhalf", *, copy: bool = False) -> Parts:
    """Split each FP32 value into its parts.

    splits() says for each split what its parts count and how they are rounded.

    Args:    x: FP32 values, an array of any shape
             split: a name of splits()
             copy: copy an array with gaps
    Returns: Parts, new arrays of the shape of `x` in the formats of the split
    Raises:  BadArgument: unknown split, or an array with gaps without ``copy=True``
             BadType: not an array of FP32 values

    >>> [part.tolist() for part in bitcut.split(numpy.float32([1 + 2**-12])).parts]
    [[1.0], [0.5]]
    """
    view, row = _values(x, copy), _split_row(split)
    said = _read("splits").find(split)
    parts = [_arrays.empty(view.shape, format) for format in said["formats"]]
    places = (ctypes.c_void_p * 3)(*(look(w, "part").address or None for w in parts))
    check(lib.bitcut_split_array(places, row, view.address or None, view.count))
    return Parts(split=split, scale=said["scale"], formats=list(said["formats"]),
                 levels=list(said["levels"]), copies=list(said["copies"]), parts=parts,
                 _of=x, _copy=copy)


def _quantizer_row(name: Optional[str]):
    row = lib.bitcut_quantizer_find(text(name, "quantizer")) if name is not None else None
    if name is not None and not row:
        raise BadArgument(f"{name}: unknown quantizer; bitcut.quantizers() has all")
    return row


class Quantized(Result):
    """A matrix as short elements and scales.

    ``values`` are FP32 numbers of the format ``format``.  ``scales`` has the format
    ``scale_format``: ``format_scale_a`` or ``format_scale_b`` of gemm().  ``block`` is
    ``block_a`` or ``block_b``, ``matrix_scale`` a factor of ``alpha``.

    What is kept: ``error``, the relative error in the Frobenius norm; ``bits``, -log2 of it;
    ``max_error``, the largest relative error of an element; ``retained``, the mean of the retained
    bits of elements other than zero, of 24 (NaN if all are zero); the numbers of elements that became
    zero (``zeros``), were too large (``saturated``) or became ``subnormal`` numbers of the format, of
    all ``elements``; ``scale_min`` and ``scale_max``, the range of the scales of blocks.
    """

    def dequantized(self):
        """Return values times scales, in FP64 (requires NumPy)."""
        np = _arrays.numpy()
        if np is None:
            raise BadType("dequantized() requires NumPy")
        lines, depth = (size or n for size, n in zip(self.block, self._shape))
        scales = self._factors if self.side == "a" else self._factors.T
        each = np.repeat(np.repeat(scales, lines, 0), depth, 1)[:self._shape[0], :self._shape[1]]
        each = each if self.side == "a" else each.T
        return self.values.astype("f8") * each * self.matrix_scale


def quantize(x: Any, quantizer: str, side: str = "a", *, copy: bool = False) -> Quantized:
    """Quantize an operand of a GEMM: short elements, and scales of blocks.

    Args:    x: FP32 values, a matrix (rows of A, or B by rows)
             quantizer: a name of quantizers()
             side: "a" or "b": blocks extend along the columns of A, or along the rows of B
             copy: copy an array with gaps
    Returns: Quantized; its arrays are arguments of gemm(), verify() and judge()
    Raises:  BadArgument: unknown quantizer or side, no matrix, or an infinity or NaN in `x`
             BadType: not an array of FP32 values

    >>> q = bitcut.quantize(numpy.float32([[1, 2, 1000]]), "fp8-rows")
    >>> q.values.tolist(), f"{q.scales[0, 0]:.4f}", q.block
    ([[0.4375, 0.875, 448.0]], '2.2321', (1, 0))
    """
    text(quantizer, "quantizer")
    row = _quantizer_row(quantizer)
    if side not in ("a", "b"):
        raise BadArgument(f"side: {side!r} is neither 'a' nor 'b'")
    view = _values(x, copy)
    if len(view.shape) != 2:
        raise BadArgument(f"X: {len(view.shape)} dimensions; a matrix has 2")
    view = view if side == "a" else look(_arrays.transposed(view), "X")
    said, across, along = _read("quantizers").find(quantizer), ctypes.c_size_t(), ctypes.c_size_t()
    lib.bitcut_quantizer_blocks(ctypes.byref(across), ctypes.byref(along), row, *view.shape)
    elements = _arrays.empty(view.shape, "f32")
    scales = _arrays.empty((across.value, along.value), "f32")
    kept = fresh(_Quantization)
    read(lib.bitcut_quantize, look(elements, "elements").address, look(scales, "scales").address,
         None, byref(kept), row, view.address or None, *view.shape)
    if side == "b":
        elements, scales = _arrays.transposed(elements), _arrays.transposed(scales)
    return Quantized(quantizer=quantizer, side=side, format=said["format"],
                     scale_format=said["scale"], block=(said["lines"], said["depth"]),
                     **values(kept), values=elements,
                     scales=scales if said["scale"] == "f32" else convert(scales, said["scale"]),
                     _shape=tuple(view.shape), _factors=scales)


def convert(x: Any, to: str = "f32", *, format: Optional[str] = None, rounding: str = "rn",
            copy: bool = False) -> Any:
    """Round numbers once to another format.

    NaN becomes the NaN of the format.

    Args:    x: an array of any shape, f2, f4, f8, a type of ml_dtypes, or encodings
             to: a name of formats()
             format: format of the elements of `x`; encodings (u1, u2, u4, u8) need it, and f4 may also
                 hold tf32 and e8m13
             rounding: a name of roundings(); rn-sat rounds what overflows to the largest number
             copy: copy an array with gaps
    Returns: a new array of the shape of `x`: f2, f4, f8, a type of ml_dtypes if that is installed, or
             else encodings
    Raises:  BadArgument: unknown format or rounding, or elements that do not hold the format
             BadType: not an array

    >>> bitcut.convert(numpy.float32([1 / 3]), "f16").tolist()
    [0.333251953125]
    """
    view, row = look(x, "X"), lib.bitcut_rounding_find(text(rounding, "rounding"))
    if not row:
        raise BadArgument(f"{rounding}: unknown rounding; bitcut.roundings() has all")
    if format is None and view.format is None:
        raise BadArgument(f"X: elements of {view.kind} are encodings; format names their format")
    format = format or view.format
    format_row(format)
    if _arrays.element_bytes(format) != view.item or view.format not in (None, format, "f32"):
        raise BadArgument(f"X: elements of {view.kind} do not hold {format}")
    if not view.is_dense():
        if not copy:
            raise BadArgument("X: it has gaps; copy=True copies it")
        view = contiguous(view)
    result = _arrays.empty(view.shape, to)
    _arrays.convert(look(result, "the result").address, to, view.address, format, view.count, row)
    return result


def mufu(x: Any, function: str = "ex2.approx.ftz.f32", *, copy: bool = False) -> Any:
    """Compute an approximate function of NVIDIA GPUs, to the bit: 2^x, 1/x, tanh and others.

    Args:    x: an array of any shape, of the format of the function; bf16 as a type of ml_dtypes or as
                 encodings (u2)
             function: a name of functions(), a PTX instruction
             copy: copy an array with gaps
    Returns: a new array of the shape and format of `x`
    Raises:  BadArgument: unknown function, or elements that do not hold its format
             BadType: not an array

    >>> bitcut.mufu(numpy.float32([0.5, 3]), "ex2.approx.ftz.f32").tolist()
    [1.4142135381698608, 8.0]
    """
    view, row = look(x, "X"), lib.bitcut_function_find(text(function, "function"))
    if not row:
        raise BadArgument(f"{function}: unknown function; bitcut.functions() has all")
    format = _read("functions").find(function)["format"]
    if _arrays.element_bytes(format) != view.item or view.format not in (None, format):
        raise BadArgument(f"X: elements of {view.kind} do not hold {format}")
    if not view.is_dense():
        if not copy:
            raise BadArgument("X: it has gaps; copy=True copies it")
        view = contiguous(view)
    result = _arrays.empty(view.shape, format)
    check(lib.bitcut_function_apply(look(result, "the result").address or None, row,
                                    view.address or None, view.count))
    return result


# What retention() counts; all but the first of the whole array.
COUNTS = ("count", "zeros", "infinite", "nan")


class Retention(Result):
    """What a split retains of values.

    ``exact``, ``bits``, ``max_ulp`` and everything else that `bitcut split` counts are those of all
    values together; ``exponents`` has the same for each exponent, a dict each, from the highest down.
    None: there is no such number.
    """

    def _rows(self):
        """A row for each exponent and one of all, with columns for zeros and the like if there
        are any."""
        told = {key: value for key, value in self.to_dict().items()
                if key not in ("split", "exponents") and (key not in COUNTS[1:] or value)}
        return [{"exponent": row["exponent"], **{key: row.get(key) for key in told}}
                for row in [*self.exponents, {"exponent": "all", **told}]]

    def __str__(self):
        return text_table(self._rows())

    def _figure(self):
        kept = [(row["exponent"], row["bits"]) for row in reversed(self.exponents)]
        return line(f"Bits that {self.split} retains", kept, "exponent of the value",
                    "bits retained, of 24", top=25) if kept else ""


def _exponent(value: Any) -> int:
    """Exponent of an FP32 value; -127 for zero and values below 2^-126."""
    try:
        value = operator.index(value)
    except TypeError:
        raise BadType(f"exponents: {value!r} is no integer") from None
    if not -127 <= value <= 127:
        raise BadArgument(f"exponents: {value} is not -127 to 127")
    return value


def _retention(view, split, unit, exponents, threads) -> Retention:
    row, names = _split_row(split), []
    reads = lib.bitcut_unit_find(text(unit, "unit"), format_row(
        _read("splits").find(split)["formats"][0])) if unit is not None else None
    if unit is not None and not reads:
        raise BadArgument(f"{unit}: unknown unit; bitcut.units() has all")
    while (name := lib.bitcut_split_measure_name(len(names))):
        names.append(name.decode())
    low, high = map(_exponent, exponents)
    values = (c_double * (len(names) * max(high - low + 2, 1)))()
    compute(lib.bitcut_split_measure, values, len(names), row, reads, low, high,
            (view.address or ctypes.addressof(values)) if view else None,
            view.count if view else 0, _threads(threads), keep=(view, values))

    def told(at):
        these = dict(zip(names, values[at * len(names):(at + 1) * len(names)]))
        return {key: None if value != value else int(value) if key in COUNTS else value
                for key, value in these.items()}

    rows = [{"exponent": e, **{key: value for key, value in told(e - low).items()
                               if key not in COUNTS[1:]}} for e in range(high, low - 1, -1)]
    return Retention(split=split, **told(high - low + 1),
                     exponents=[row for row in rows if row["count"]])


def retention(x: Any = None, split: str = "halfhalf", *, unit: Optional[str] = None,
              exponents: Optional[Tuple[int, int]] = None, copy: bool = False,
              threads: int = 0) -> Retention:
    """Count what a split retains of values.

    Args:    x: FP32 values, an array of any shape; None: all 2^23 positive values of each exponent
             split: a name of splits()
             unit: a name of units() or chips(), which may read subnormal parts as zeros
             exponents: the lowest and the highest exponent; by default all of an array, and otherwise
                 -26 to 15, the range of f16 parts
             copy: copy an array with gaps
             threads: number of threads; 0: one for each processor
    Returns: Retention
    Raises:  BadArgument: unknown split or unit, an exponent out of -127 to 127, or an array with gaps
             BadType: not an array of FP32 values, or exponents that are not two integers

    >>> bitcut.retention(numpy.float32([1, 1.5, 3])).exact
    1.0
    """
    view = _values(x, copy) if x is not None else None
    if exponents is None:
        exponents = (-26, 15) if view is None else (-127, 127)
    if not isinstance(exponents, (tuple, list)) or len(exponents) != 2:
        raise BadType("exponents: neither None nor two")
    return _retention(view, split, unit, exponents, threads)


UNSIGNED = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}


def _encodings(x: Any, name: str, format: str):
    """Elements of any width as encodings in 64 bits, and their shape."""
    view = look(x, name)
    if view.format not in (None, format) or view.item < _arrays.element_bytes(format):
        raise BadArgument(f"{name}: elements of {view.kind}; the unit takes {format}, or its "
                          "encodings as unsigned integers")
    if not view.is_dense():
        view = contiguous(view)
    source = (UNSIGNED[view.item] * view.count).from_address(view.address) if view.count else []
    return (ctypes.c_uint64 * max(view.count, 1))(*source), view.shape


class _Fragments:
    """Arrays of a batch of fragments as encodings of 64 bits, checked against each other:
    `operands` by name, each (rows, columns) or with `count` before; `shape` of D."""

    def __init__(self, unit: Any, **given):
        self.row = lib.bitcut_unit_find(text(unit, "unit"), format_row("f16"))
        if not self.row:
            raise BadArgument(f"{unit}: unknown unit; bitcut.units() has all")
        self.said = _read("units").find(lib.bitcut_unit_name(self.row).decode())
        names = {"a": "A", "b": "B", "c": "C", "d": "D", "scale_a": "scale of A",
                 "scale_b": "scale of B"}
        read = {key: _encodings(x, names[key], self._format(key))
                for key, x in given.items() if x is not None or len(key) == 1}
        self.operands = {key: encodings for key, (encodings, _) in read.items()}
        shapes = {key: shape for key, (_, shape) in read.items()}
        if {len(s) for s in shapes.values()} not in ({2}, {3}):
            raise BadArgument("A, B and C have 3 dimensions, or all 2")
        counts = {s[0] if len(s) == 3 else 1 for s in shapes.values()}
        self.shape = shapes["c"]
        self.m, self.k = shapes["a"][-2:]
        self.n = shapes["b"][-1]
        self.blocks = shapes["scale_a"][-1] if "scale_a" in shapes else 0
        sizes = {"a": (self.m, self.k), "b": (self.k, self.n), "c": (self.m, self.n),
                 "d": (self.m, self.n), "scale_a": (self.m, self.blocks),
                 "scale_b": (self.blocks, self.n)}
        if len(counts) != 1 or any(s[-2:] != sizes[key] for key, s in shapes.items()):
            raise BadArgument(", ".join(f"{names[key]} {s}" for key, s in shapes.items())
                              + ": they do not fit together")
        self.count = counts.pop()

    def _format(self, key: str) -> str:
        if key.startswith("scale") and not self.said["scale"]:
            raise BadArgument(f"{self.said['name']} has no block scales")
        return self.said["c" if key == "d" else key.split("_")[0]]


def mma(a: Any, b: Any, c: Any, *, unit: str, threads: int = 0) -> Any:
    """Compute D = A B + C as one matrix instruction does, bit for bit.

    Elements are of the formats of the unit, or encodings of these formats.  They are copied.

    Args:    a: A, (m, k) or (count, m, k); k is that of the instruction
             b: B, (k, n) or (count, k, n)
             c: C, (m, n) or (count, m, n)
             unit: a name of units() or chips()
             threads: number of threads; 0: one for each processor
    Returns: a new array of the shape and format of C
    Raises:  BadArgument: unknown unit, shapes or formats that do not fit, or a unit with block scales
             BadType: an argument is no array

    >>> one = numpy.ones((16, 16), "f2")
    >>> bitcut.mma(one, one[:, :8], numpy.ones((16, 8), "f4"), unit="h100")[0, 0].item()
    17.0
    """
    x = _Fragments(unit, a=a, b=b, c=c)
    wide = (ctypes.c_uint64 * max(x.count * x.m * x.n, 1))()
    if x.said["scale"]:
        raise BadArgument(f"{x.said['name']} takes block scales, which mma() has not")
    if x.k != int(x.said["shape"].split("x")[-1]):
        raise BadArgument(f"k is {x.k}, and the shape of {x.said['name']} {x.said['shape']}")
    compute(lib.bitcut_mma, wide, x.row, x.count, x.m, x.n, x.k,
            *(x.operands[key] for key in "abc"), _threads(threads), keep=(wide, x), says=False)
    d = _arrays.empty(x.shape, x.said["c"])
    to = look(d, "D")
    if to.count:
        (UNSIGNED[to.item] * to.count).from_address(to.address)[:] = wide[:to.count]
    return d


# --- which rows explain an instruction -----------------------------------------------------

ALL, NEAREST = -1, -2


class Fit(Result):
    """Which rows explain recorded outputs: true if any row does.

    ``survivors`` of ``space`` rows do.  ``rows`` has the values of their fields, of which any combination
    does, ``decided`` the fields with one value and ``open`` those with more.  ``table`` has the units
    among them, ``unit_survives`` whether the named unit is one.  ``nearest``, if none survives, is the
    row that gives the most outputs.
    """

    def __bool__(self):
        return self.survivors > 0

    def _told(self) -> dict:
        """It with runs of values as the program prints them."""
        told = self.to_dict()
        del told["open"], told["decided"]
        return {**told, "rows": self._said}

    def _rows(self):
        return [{"": key, "value": value} for key, value in self._told().items()]

    def __str__(self):
        return text_object(self._told())


def _fit_fields(found, group: int) -> dict:
    """The fields of a group of rows, a value or a list for each."""
    fields, field = {}, Field()
    while lib.bitcut_fit_value(byref(field), found, group, len(fields), 0):
        values, index = [], len(fields)
        while lib.bitcut_fit_value(byref(field), found, group, index, len(values)):
            values.append(value_of(field))
        fields[field.name.decode()] = values if len(values) > 1 else values[0]
    return fields


def _fit_said(found) -> dict:
    """The fields of all rows that survive, as the program prints them."""
    said, field = {}, Field()
    while lib.bitcut_fit_field(byref(field), found, ALL, len(said)):
        one = not lib.bitcut_fit_value(byref(Field()), found, ALL, len(said), 1)
        said[field.name.decode()] = field.text.decode() + ("" if one else " (open)")
    return said


def fit(a: Any, b: Any, c: Any, d: Any, *, unit: str, scale_a: Any = None,
        scale_b: Any = None, outputs: int = 0, threads: int = 0) -> Fit:
    """Find which rows explain the recorded outputs of an instruction (`bitcut fit`).

    Every row that the fields of a unit can form is tried.

    Args:    a: A, (count, m, k), as mma() takes it
             b: B, (count, k, n)
             c: C, (count, m, n)
             d: what the instruction gave, (count, m, n), of the format of C
             unit: a unit with the formats and the k of the instruction
             scale_a: block scales of A, (count, m, blocks)
             scale_b: block scales of B, (count, blocks, n)
             outputs: number of outputs that are compared, spread evenly over D; 0: 1000
             threads: number of threads; 0: one for each processor
    Returns: Fit, true if a row explains all of these outputs
    Raises:  BadArgument: unknown unit, or shapes or formats that do not fit
             BadType: an argument is no array
    """
    x = _Fragments(unit, a=a, b=b, c=c, d=d, scale_a=scale_a, scale_b=scale_b)
    asked, report, found = fresh(Recording), fresh(FitReport), ctypes.c_void_p()
    asked.unit, asked.outputs = x.row, integer(outputs, "outputs", DIMENSION_MAX)
    asked.count, asked.m, asked.n, asked.k, asked.blocks = x.count, x.m, x.n, x.k, x.blocks
    for key, encodings in x.operands.items():
        setattr(asked, key, ctypes.addressof(encodings))
    compute(lib.bitcut_fit, byref(report), byref(found), byref(asked), _threads(threads),
            keep=(x, asked, report, found))
    try:
        return _fit_found(x, report, found)
    finally:
        lib.bitcut_fit_close(found)


def _fit_found(x: _Fragments, report: FitReport, found) -> Fit:
    every, table, unit = _fit_fields(found, ALL), [], None
    while (unit := lib.bitcut_fit_unit(found, len(table))):
        table.append(lib.bitcut_unit_name(unit).decode())
    nearest = {"misses": report.misses, "explains_first": report.explains_first,
               "row": _fit_fields(found, NEAREST)} if report.near else None
    return Fit(unit=x.said["name"], outputs=report.outputs, space=report.space,
               tried=report.tried, survivors=report.survivors, complete=report.complete,
               rows=[_fit_fields(found, group) for group in range(report.groups)],
               open=[name for name, value in every.items() if isinstance(value, list)],
               decided=[name for name, value in every.items() if not isinstance(value, list)],
               table=table, unit_survives=report.unit_survives, nearest=nearest,
               _said=_fit_said(found))


# --- where errors come from, and what they may be ------------------------------------------


# Parts that only epilogues have.
OF_STEPS = ("factors", "start", "result")
OF_SCHEMES = ("representation_a", "representation_b", "dropped", "unit", "overflow", "additions",
              "slices", "epilogue")  # the last one and the next two also of FP32 GEMMs
OF_SCHEMES_ALONE = tuple(name for name in OF_SCHEMES if name not in ("dropped", "slices", "epilogue"))


class Budget(Result):
    """Where the error comes from.

    For each part ``mean``, ``rms`` and ``max`` in u (|alpha| |A||B| + |beta C|), u = 2^-24.  "error" is
    their sum, output by output.  With a bias, factors, a start or other steps of an epilogue, the error is
    that of all steps, the unit has the magnitudes of all their terms, and there are the parts
    ``factors``, ``start`` and ``result`` unless they are 0.  Of an FP64 GEMM by a scheme u = 2^-53.
    """

    _unit = "u = 2^-24"

    def _rows(self):
        return [{"part": name, **part} for name, part in self.to_dict().items()]

    def __str__(self):
        return text_table(self._rows())

    def _figure(self):
        return bars("Where the error comes from", [
            (name, part["rms"]) for name, part in self.to_dict().items()],
                    "root of the mean square, in u (|alpha| |A||B| + |beta C|), " + self._unit)


def budget(a: Any, b: Any, *, recipe: Optional[str] = None, unit: str, index: int = 0,
           threads: int = 0, **given) -> Budget:
    """Divide the error of gemm() into parts that add up to it exactly.

    Args:    a: A, (m, k) or (count, m, k)
             b: B, (k, n) or (count, k, n)
             recipe: a name of recipes(); in its place, `scheme` for an FP64 GEMM
             unit: a name of units() or chips()
             index: the GEMM of a batch, or the group
             threads: number of threads; 0: one for each processor
             given: all other arguments of gemm(), such as c, order, format_a and scheme; on a unit of
                 integers D has no integers: format_d is "f32", for example
    Returns: Budget, a dict for each part
    Raises:  BadArgument: a shape, a name or a number does not fit
             Unsupported: the recipe does not run on this unit
    """
    p = _problem_of_any(a, b, recipe, unit, given)
    wide = given.get("scheme") is not None
    names = []
    while (name := lib.bitcut_budget_part(len(names))):
        names.append(name.decode())
    parts = (Part * len(names))()
    compute(lib.bitcut_budget, parts, len(names), byref(p.struct),
            integer(index, "index", DIMENSION_MAX), _threads(threads), keep=(p, parts))
    short = ({"_unit": "u = 2^-53"} if wide else
             {} if given.get("format_d") in (None, "f32") else {"_unit": "u of the format of D"})
    hidden = [name for name, x in zip(names, parts) if name in OF_STEPS and x.max == 0]
    hidden += ([name for name in names[:-1] if name not in OF_SCHEMES] if wide else OF_SCHEMES_ALONE)
    return Budget(**{name: {"mean": x.mean, "rms": x.rms, "max": x.max}
                     for name, x in zip(names, parts) if name not in hidden}, **short)


def bound(a: Any, b: Any, *, recipe: Optional[str] = None, unit: str, name: Optional[str] = None,
          index: int = 0, threads: int = 0, **given) -> Any:
    """Compute an error bound for each output of gemm().

    A D that overflows has no bound, though there may be a number for it.  With `format_d` the bound
    includes the rounding to this format, and an output that may overflow in it has NaN.  Biases, factors
    and steps of an epilogue are bounded too: D is compared with the exact value of all steps.

    Args:    a: A, (m, k) or (count, m, k)
             b: B, (k, n) or (count, k, n)
             recipe: a name of recipes(); in its place, `scheme` for an FP64 GEMM
             unit: a name of units() or chips()
             name: a name of bounds(), "aligned" if None; its ``kind`` says whether it is rigorous.  A
                 scheme has one bound, a rigorous one, without a name
             index: the GEMM of a batch, or the group
             threads: number of threads; 0: one for each processor
             given: all other arguments of gemm(), such as c, order and format_a
    Returns: a new array (m, n) of f8 in the units of D, rounded upward; NaN: an element of A or B, or a
             part of one, is infinite, NaN or too large.  Of a group of rows m is its own
    Raises:  BadArgument: a shape, a name or a number does not fit
             Unsupported: the bound does not hold for this recipe on this unit

    >>> limit = bitcut.bound(a, b, recipe="ootomo", unit="h100")
    >>> d = bitcut.gemm(a, b, recipe="ootomo", unit="h100").d
    >>> bool((abs(d - bitcut.exact(a, b, format="f64")) <= limit).all())
    True
    """
    p = _problem_of_any(a, b, recipe, unit, given)
    rows = p.struct.m
    if p.offsets and not p.is_batch and 0 <= index < p.struct.count:  # of a group of rows
        rows = p.offsets[index] - (p.offsets[index - 1] if index else 0)
    to = _arrays.empty((rows, p.struct.n), "f64")
    compute(lib.bitcut_bound, look(to, "limit").address, byref(p.struct),
            integer(index, "index", DIMENSION_MAX), name and text(name, "bound"), _threads(threads),
            keep=(p, to))
    return to


class Verdict(Result):
    """Whether a D is within limits, with its errors: true if it is accepted.

    The attributes are the members of struct bitcut_tolerance_verdict.
    """

    def __bool__(self):
        return self.accepted


class Tolerances(Result):
    """Limits for the errors of a correct D.  C is the exact result; u = 2^-24, with a scheme 2^-53.

    If D has fewer bits than FP32 (format_d), the limits are for the FP32 result before it is rounded to D:
    |D - C| may be half an ulp of D more.  rtol and atol include this rounding.

    limit, known
        |D - C| <= limit u |A||B| at each output, if `known`
    norm_limit, norm_known
        ||D - C|| <= norm_limit u ||A|| ||B||, if `norm_known`
    with_underflow, norm_with_underflow
        the same with what underflows added to the right side; these are always known
    bound
        |D - C| <= bound u |A||B| and what underflows, in the worst case
    underflow
        what underflows, at most, in the runs
    max, norm_max, runs, outputs
        the largest errors of the runs, their number, and the outputs of each
    zeros
        the number of runs in which a D of zeros is within all limits: they test nothing there

    The other attributes are those of struct bitcut_tolerances.
    """

    def judge(self, d: Any, a: Any, b: Any, *, recipe: Optional[str] = None, unit: str,
              order: OrderLike = None, threads: int = 0, **given) -> "Verdict":
        """Compare D with these limits, which tolerance() computed for the other arguments.

        Of a batch, every D is compared; ``gemm`` of the verdict has the largest error.

        Args:    d: the result, (m, n) or (count, m, n), of any type that gemm() takes
                 a: A, (m, k) or (count, m, k)
                 b: B, (k, n) or (count, k, n)
                 recipe: the recipe of the limits; in its place, `scheme` for an FP64 GEMM
                 unit: their unit
                 order: their order of k
                 threads: number of threads; 0: one for each processor
                 given: all other arguments of gemm(), such as c, order and format_a
        Returns: Verdict, true if D is accepted
        Raises:  BadArgument: a shape or a name does not fit
        """
        p = _problem_of_any(a, b, recipe, unit, _with_order(given, order), d=d)
        options, found, limits = fresh(ToleranceOptions), fresh(ToleranceVerdict), fresh(_Tolerances)
        options.any_order = order == "any"
        for name in values(limits):
            setattr(limits, name, getattr(self, name))
        compute(lib.bitcut_tolerance_judge, byref(found), byref(limits), byref(p.struct),
                byref(options), _threads(threads), keep=(p, found, limits, options))
        return Verdict(**values(found))

    def _figure(self):
        return points("Largest error of a correct output", [
            (f"largest of {self.runs} runs", self.max), ("limit for a test", self.limit),
            ("worst case, without underflow" if self.underflow > self.bound / 100 else
             "worst case", self.bound)], "u |A||B|")


def _with_order(given: dict, order) -> dict:
    """The arguments of a GEMM with its order of k, unless that is any."""
    return given if order is None or order == "any" else {**given, "order": order}


def tolerance(a: Any, b: Any, *, recipe: Optional[str] = None, unit: str, order: OrderLike = None,
              runs: int = 0, false_alarm: float = 0.0, seed: int = 1, two: bool = False,
              threads: int = 0, **given) -> Tolerances:
    """Compute the limits that a test of D = A B should have.

    With k in a random order, a correct D exceeds each known limit with a probability of at most
    `false_alarm`.  In its own order it never does, if the runs have all outputs (``outputs`` is m n).
    With a bias, factors, a start or steps of an epilogue, D is compared with the exact value of all steps.
    A batch has one set of limits, for every D; `false_alarm` is that of all D together.  With a scheme,
    the limits are those of an FP64 GEMM, u = 2^-53; scheme="fp64" is a DGEMM.

    Args:    a: A, (m, k) or (count, m, k)
             b: B, (k, n) or (count, k, n)
             recipe: a name of recipes(); in its place, `scheme` for an FP64 GEMM
             unit: a name of units() or chips()
             order: order of k, as gemm() takes it; "any": the kernel may add in any order
             runs: number of runs on these matrices; 0: 100
             false_alarm: fraction of correct results that may exceed a limit; 0: 1e-6
             seed: seed of the runs
             two: D is compared with another correct result instead of the exact one
             threads: number of threads; 0: one for each processor
             given: all other arguments of gemm(), such as c, order and format_a
    Returns: Tolerances
    Raises:  BadArgument: a shape, a name or a number does not fit
             Unsupported: the recipe does not run on this unit

    >>> t = bitcut.tolerance(a, b, recipe="ootomo", unit="h100", runs=12)
    >>> t.max < t.limit < t.bound
    True
    """
    p = _problem_of_any(a, b, recipe, unit, _with_order(given, order))
    options, found = fresh(ToleranceOptions), fresh(_Tolerances)
    options.runs, options.false_alarm = integer(runs, "runs", DIMENSION_MAX), real(false_alarm, "false_alarm")
    options.seed, options.two = integer(seed, "seed", SEED_MAX), bool(two)
    options.any_order = order == "any"
    compute(lib.bitcut_tolerance, byref(found), byref(p.struct), byref(options),
            _threads(threads), keep=(p, found, options))
    return Tolerances(**values(found))


class Finding(Result):
    """What a check of D against the exact result found: ``name``, and the sentence ``text``.

    ``option`` of ``bitcut explain`` gives what was not given, or is "".  ``rows`` and ``columns`` are ranges
    that contain the ``outputs`` outputs that it concerns.
    """

    def __str__(self):
        return self.text


class Explanation(Result):
    """What computed D: true if something gives all of it.

    ``text`` is the sentence, ``fault`` the name of the fault or None, ``line`` the nearest GEMM.
    ``findings`` has each ``Finding`` of the checks before the search.  Of ``rounded`` outputs, those in
    ``within`` are within 0, 1, 2 and 8 ulps of the correctly rounded exact result.
    """

    def __bool__(self):
        return self.found

    def __str__(self):
        return self.text


def explain(d: Any, a: Any, b: Any, *, recipe: Optional[str] = None, unit: Optional[str] = None,
            samples: int = 0, effort: float = 1.0, seconds: float = 0.0, seed: int = 1,
            threads: int = 0, **given) -> Explanation:
    """Find what computed D: the recipe, the unit, the order of k, the epilogue and the fault.

    Without `epilogue` and `start`, and without `scaling`, these are searched for.

    Of a batch or groups, the hypothesis is searched on one GEMM and compared with all: ``explained`` of
    ``gemms`` GEMMs have it, and ``gemm`` is the first one that has not.

    Args:    d: the result, (m, n) or (count, m, n)
             a: A, (m, k) or (count, m, k)
             b: B, (k, n) or (count, k, n)
             recipe: the only recipe to try; None: all
             unit: the only unit to try, or a chip, all of whose units are tried; None: all
             samples: number of outputs to search on; 0: 4096
             effort: factor of the work of the search, and of the comparison
             seconds: time limit of the search, and again of the comparison; 0: none, so that the answer
                 does not depend on the machine
             seed: seed that chooses the sample
             threads: number of threads; 0: one for each processor
             given: c, alpha, beta, bias, factors, scale_d, clamp, epilogue, start, scaling, offsets,
                 offsets_k, sparse_a, positions_a, formats and copy, as in gemm()
    Returns: Explanation, true if a hypothesis gives every output that was compared
    Raises:  BadArgument: a shape or a name does not fit
             Unsupported: the recipe does not run on this unit

    >>> d = bitcut.gemm(a, b, recipe="ootomo", unit="h100").d
    >>> bitcut.explain(d, a, b).found
    True
    """
    p = _to_explain(d, a, b, recipe, unit, given)
    options = _explain_options(samples, effort, seconds, seed, unit)
    found, g = fresh(_Explanation), fresh_gemm()
    compute(lib.bitcut_explain, byref(found), byref(g), byref(p.struct), byref(options),
            _threads(threads), keep=(p, found, g, options))
    return _explanation(found, g)


def _to_explain(d, a, b, recipe, unit, given: dict) -> Problem:
    return _problem(a, b, {"recipe": recipe, "unit": None if _is_chip(unit) else unit, **given},
                    d=d, needs=(), how=("recipe", "unit", "epilogue", "start", "scaling"))


def _is_chip(unit) -> bool:
    return unit in [row["name"] for row in _read("chips")]


def _explain_options(samples, effort, seconds, seed, unit) -> ExplainOptions:
    options = fresh(ExplainOptions)
    options.chip = unit.encode() if _is_chip(unit) else None
    options.samples = integer(samples, "samples", DIMENSION_MAX)
    options.effort, options.seconds = real(effort, "effort"), real(seconds, "seconds")
    options.seed = integer(seed, "seed", SEED_MAX)
    return options


def _explanation(found, g) -> Explanation:
    parts = values(found)
    parts["findings"] = [Finding(**values(f)) for f in parts.pop("finding")[:parts["findings"]]]
    return Explanation(line=line_of(g), **parts)


class ResultPair(Result):
    """How two results of one GEMM differ: true if they are equal bit for bit.

    ``text`` is the sentence, ``first`` and ``second`` are the two results' ``Explanation``.  ``differ``
    of ``total`` outputs differ, by at most ``ulps`` at ``row`` and ``column``, if ``measured``.  Of
    ``sampled`` outputs, ``nearer`` has the numbers in which each result is nearer to the exact one, and
    ``error`` their median distances from it, in 2^-24 |A||B|.
    """

    def __bool__(self):
        return self.differ == 0

    def __str__(self):
        return self.text


def explain_pair(first: Any, second: Any, a: Any, b: Any, *, recipe: Optional[str] = None,
                 unit: Optional[str] = None, samples: int = 0, effort: float = 1.0,
                 seconds: float = 0.0, seed: int = 1, threads: int = 0, **given) -> ResultPair:
    """Explain two results of one GEMM, and where, why and how they differ.

    Args:    first: a result, (m, n)
             second: another result, (m, n)
             a: A, (m, k)
             b: B, (k, n)
             recipe: the only recipe to try; None: all
             unit: the only unit to try, or a chip, all of whose units are tried; None: all
             samples: number of outputs to search on; 0: 4096
             effort: factor of the work of each search, and of each comparison
             seconds: time limit of each search, and of each comparison; 0: none
             seed: seed that chooses the sample
             threads: number of threads; 0: one for each processor
             given: c, alpha, beta, bias, factors, scale_d, clamp, epilogue, start, scaling, sparse_a,
                 positions_a, formats and copy, as in gemm(); `format_d` is that of both results
    Returns: ResultPair
    Raises:  BadArgument: a shape or a name does not fit; a batch, groups or integers
             Unsupported: the recipe does not run on this unit

    >>> a100 = bitcut.gemm(a, b, recipe="ootomo", unit="a100").d
    >>> bitcut.explain_pair(a100, bitcut.gemm(a, b, recipe="ootomo", unit="h100").d, a, b).first.found
    True
    """
    of = [_to_explain(d, a, b, recipe, unit, given) for d in (first, second)]
    options = _explain_options(samples, effort, seconds, seed, unit)
    pair, found, gemms = fresh(_ResultPair), [fresh(_Explanation) for _ in of], [fresh_gemm() for _ in of]
    compute(lib.bitcut_explain_pair, byref(pair),
            (ctypes.POINTER(_Explanation) * 2)(*map(ctypes.pointer, found)),
            (_GemmPointer * 2)(*map(ctypes.pointer, gemms)), byref(of[0].struct),
            byref(of[1].struct.d), byref(options), _threads(threads),
            keep=(of, pair, found, gemms, options))
    both = [_explanation(*x) for x in zip(found, gemms)]
    return ResultPair(first=both[0], second=both[1], **values(pair))


class Advice(Result):
    """A GEMM that is accurate enough, by the fewest products.

    ``line`` is the GEMM; ``reaches``, ``cost``, ``error``, ``high``, ``checked`` and ``bound`` are those
    of struct bitcut_advice.  ``quantize_a`` and ``quantize_b`` are names of quantizers(), the arguments
    of quantize(), or None; ``quantization`` and ``rounding`` are the errors that quantization alone and
    the rounding of D alone make, or None.
    """


def advise(a: Any, b: Any, *, recipe: Optional[str] = None, unit: Optional[str] = None,
           metric: Optional[str] = None, want: float = 0.0, quantize_a: Optional[str] = None,
           quantize_b: Optional[str] = None, quantizers: bool = False, seed: int = 1,
           threads: int = 0, **given) -> Advice:
    """Find the recipe of the fewest products whose error is small enough.

    Args:    a: A, (m, k), or a batch (count, m, k)
             b: B, (k, n), or a batch: the error is small enough in each GEMM
             recipe: the only recipe to try; None: all
             unit: the only unit to try, or a chip, all of whose units are tried; None: all
             metric: "relres" or "backward_max"; None: "relres"
             want: the largest error that is acceptable; 0: 1e-6, or 16 u for backward_max
             quantize_a: a name of quantizers(), by which A is quantized in every GEMM; None: it is not
             quantize_b: the same for B
             quantizers: also try every quantizer, for A and B, on units that multiply its elements
             seed: seed that chooses the sample of outputs
             threads: number of threads; 0: one for each processor
             given: epilogue, start, scaling, c, alpha, beta, bias, scale_a, scale_b, scale_d, clamp,
                 zero_a, zero_b, sparse_a, positions_a, offsets, offsets_k, formats and copy, as in
                 gemm(): errors are those of the whole GEMM; with format_d they include the rounding of
                 D.  Units without integers multiply a - zero_a and b - zero_b
    Returns: Advice; ``reaches`` is false if no recipe is accurate enough, it is then the nearest
    Raises:  BadArgument: a shape, a name or a number does not fit
             Unsupported: no recipe runs on this unit

    >>> bitcut.advise(a, b, unit="h100").recipe
    'ootomo'
    """
    p = _problem(a, b, {"recipe": recipe, "unit": None if _is_chip(unit) else unit, **given}, needs=(),
                 how=("recipe", "unit", "epilogue", "start", "scaling"))
    options, found, g = fresh(AdviceOptions), fresh(_Advice), fresh_gemm()
    options.metric = text(metric, "metric") if metric is not None else None
    options.want, options.seed = real(want, "want"), integer(seed, "seed", SEED_MAX)
    options.quantize_a, options.quantize_b = map(_quantizer_row, (quantize_a, quantize_b))
    options.quantizers = bool(quantizers)
    options.chip = unit.encode() if _is_chip(unit) else None
    compute(lib.bitcut_advise, byref(found), byref(g), byref(p.struct), byref(options),
            _threads(threads), keep=(p, found, g, options))
    said, advice = described(g), values(found)
    for key in ("quantize_a", "quantize_b"):
        advice[key] = lib.bitcut_row_name(advice[key]).decode() if advice[key] else None
    for key in ("quantization", "rounding"):
        advice[key] = advice[key] if advice[key] == advice[key] else None
    return Advice(line=line_of(g), **{key: said[key] for key in (
        "recipe", "unit", "evidence", "split", "scale", "equilibrate", "terms")},
                  **advice)


class Predicted(Result):
    """One computation of a Prediction.

    ``outputs`` is the number of outputs that are computed so, ``gemm`` is the line of the GEMM (recipe,
    unit and order of k), and ``text`` is the order as a sentence.
    """


class Prediction(Result):
    """What a library will compute for a GEMM.

    ``computations`` has a Predicted for each way in which outputs are computed.
    """

    def __str__(self):
        return "\n".join(f"{x.outputs} outputs: {x.gemm}" for x in self.computations)


def _call_of(library, chip, types, library_threads, fields, call):
    options = fresh(PredictOptions)
    options.library, options.chip = text(library, "library"), text(chip, "chip")
    options.types = text(types, "types") if types is not None else None
    options.library_threads = integer(library_threads, "library_threads")
    options.fields = text(fields, "fields") if fields is not None else None
    options.call = text(call, "call") if call is not None else None
    return options


def predict(m: int, n: int, k: int, *, library: str, chip: str, types: Optional[str] = None,
            format: str = "f32", format_d: Optional[str] = None, layout: str = "NN",
            library_threads: int = 1, fields: Optional[str] = None, call: Optional[str] = None,
            bias: bool = False, count: int = 1) -> Prediction:
    """Predict how a library computes a GEMM, before it runs.

    Args:    m: rows of A and D
             n: columns of B and D
             k: columns of A, rows of B
             library: a name of `bitcut list libraries`
             chip: a chip of the library, as that list names it
             types: types of the call, as that list names them; None: the first with these formats
             format: the format of A and B
             format_d: the format of D; None: that of A and B
             layout: "NN", "NT", "TN" or "TT": T if A, or B, is stored transposed; all are row-major
             library_threads: number of threads of the library
             fields: the algorithm that the library chooses, such as "id=66,stages=35,splits=9" of cuBLAS;
                 None: as the sizes determine it
             call: a call of a program, such as "linear" of torch-2.11, as that list names it; None: the
                 first of the library
             bias: whether a bias for each column of D is added
             count: number of GEMMs of a batch
    Returns: Prediction
    Raises:  BadArgument: the library, the chip or the call is unknown, or has no such types
             Unsupported: the rules do not cover this call

    >>> bitcut.predict(64, 64, 1000, library="openblas-0.3.21", chip="skylakex").computations[0].gemm
    'fp32@fma/f32,slices=3,tile=448,balance-tail=16'
    """
    options = _call_of(library, chip, types, library_threads, fields, call)
    g, found = fresh_gemm(), fresh(_Prediction)
    g.m, g.n, g.k, g.count = (integer(x, name, DIMENSION_MAX) for x, name in (
        (m, "m"), (n, "n"), (k, "k"), (count, "count")))
    g.a.stride, g.b.stride, g.d.stride = g.m * g.k, g.k * g.n, g.m * g.n
    if bias:
        g.bias.at = ctypes.addressof(found)  # not read
    if layout not in ("NN", "NT", "TN", "TT"):
        raise BadArgument(f"layout: {layout!r} is none of NN, NT, TN and TT")
    g.a.layout, g.b.layout = (int(x == "T") for x in layout)
    g.a.format = g.b.format = format_row(format)
    g.d.format = format_row(format_d or format)
    read(lib.bitcut_predict, byref(found), byref(g), byref(options))
    return Prediction(computations=[Predicted(**values(x))
                                    for x in found.computation[:found.computations]])


def predict_gemm(a: Any, b: Any, *, library: str, chip: str, types: Optional[str] = None,
                 library_threads: int = 1, fields: Optional[str] = None, call: Optional[str] = None,
                 threads: int = 0, **given) -> Any:
    """Compute D as a library will compute it, bit for bit.

    Whether A and B are stored transposed follows from the arrays: ``b.T`` of an array by rows is.

    Args:    a: A, (m, k)
             b: B, (k, n)
             library: a name of `bitcut list libraries`
             chip: a chip of the library, as that list names it
             types: types of the call, as that list names them; None: the first with these formats
             library_threads: number of threads of the library
             fields: the algorithm that the library chooses, such as "id=66,stages=35,splits=9" of cuBLAS;
                 None: as the sizes determine it
             call: a call of a program, such as "linear" of torch-2.11, as that list names it; None: the
                 first of the library
             threads: number of threads; 0: one for each processor
             given: c, alpha, beta, bias, scale_a, scale_b, formats and copy, as in gemm()
    Returns: a new array (m, n), or (count, m, n)
    Raises:  BadArgument: a shape does not fit; the library, the chip or the call is unknown, or has no
                 such types
             Unsupported: the rules do not cover this call

    >>> float(bitcut.predict_gemm(a, b, library="openblas-0.3.21", chip="haswell")[0, 0]) > 0
    True
    """
    p = _problem(a, b, given, needs=(), how=(), writes=True)
    options = _call_of(library, chip, types, library_threads, fields, call)
    compute(lib.bitcut_predict_gemm, byref(p.struct), byref(options), _threads(threads),
            keep=(p, options), products=p.struct.m * p.struct.n * p.struct.k)
    return p.result
