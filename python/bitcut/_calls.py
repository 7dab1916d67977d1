"""The calls of the library on arrays."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Optional

from . import _arrays, _device
from ._arrays import contiguous, look
from ._gemm import Operand, OrderLike, Problem, described, integer, line_of, real
from ._library import (SIZE_MOST, Advice as _Advice, AdviceOptions, BadArgument, BadType,
                       Difference, Explanation as _Explanation, ExplainOptions, Part,
                       Tolerances as _Tolerances, ToleranceOptions, byref, c_double, check, compute,
                       format_row, fresh, fresh_gemm, lib, text)
from ._results import Result
from ._tables import _read

SEED_MOST = 2**64 - 1


def _threads(threads: Any) -> int:
    return integer(threads, "threads")


class Gemm(Result):
    """``d``, the matrix, and how it was computed; ``line`` says that in one line."""

    def judge(self, index: int = 0, threads: int = 0) -> "Metrics":
        """How far ``d`` is from the exact result: judge() of the same arguments."""
        if self._problem.place:
            raise BadArgument(f"D is in the memory of {self._problem.place.device}; judge() of it, A "
                              "and B with copy=True copies them to the host")
        return _judged(self._problem, index, threads)


def gemm(a: Any, b: Any, *, recipe: Optional[str] = None, unit: Optional[str] = None, c: Any = None, alpha: float = 1.0,
         beta: Optional[float] = None, split: Optional[str] = None,
         split_a: Optional[str] = None, split_b: Optional[str] = None,
         high: Optional[str] = None, low: Optional[str] = None, scale: Optional[int] = None,
         low_low: Optional[bool] = None, promote: Optional[int] = None,
         tile_k: Optional[int] = None, equilibrate: bool = False, order: OrderLike = None,
         format_a: Optional[str] = None, format_b: Optional[str] = None,
         format_c: Optional[str] = None, format_d: Optional[str] = None, out: Any = None,
         copy: bool = False, threads: int = 0, kernel: Optional[str] = None,
         any_promotion: bool = False, stream: Any = None, workspace: Any = None) -> Gemm:
    """D = alpha A B + beta C by a recipe on a matrix unit: every bit that a kernel following
    the recipe gives there.  Arrays in the memory of a GPU, CuPy's, PyTorch's or whatever has
    __cuda_array_interface__ or DLPack, are multiplied there, by that kernel.

    A is (m, k), B (k, n), C and D (m, n); each may have a first dimension, a batch.  Elements
    are f4, f2, f8 whose values are all FP32's (they are converted), ml_dtypes' types, or u1, u2,
    u4 as encodings of `format_a` (u4: f32 if it is not given).  Row-major, column-major and
    their views with gaps are read where they are; others only with ``copy=True``.

    recipe, unit, split, high, low
        names of recipes(), units() or chips(), splits(), roundings().
    scale, promote, tile_k, low_low, equilibrate
        as in struct bitcut_gemm; None: as the recipe's row.
    order
        of k: the line that ``bitcut gemm --order`` takes, or a dict with its items.
    alpha, beta
        rounded to FP32; beta is 1 if there is a C, and else 0.
    out
        D, written where it is; it may be C.  Else a new array of `format_d`, f32 by default.
    kernel, any_promotion, stream, workspace
        on a GPU alone: as in struct bitcut_gemm; recipe or kernel is needed, and the unit may
        be left to the device.  The call returns without waiting.  It runs on the stream that
        is the current one of CuPy or PyTorch for A, B and C, or on `stream`, an object of
        theirs or an address; memory for D and to work in is theirs as well, unless `out` and
        `workspace`, of as many bytes as workspace() says, give it.

    Sources of recipes and units: the fields "source" of their tables."""
    p = Problem(a, b, c, out, recipe=recipe, unit=unit, alpha=alpha, beta=beta, split=split,
                split_a=split_a, split_b=split_b, high=high, low=low, scale=scale,
                low_low=low_low, promote=promote, tile_k=tile_k, equilibrate=equilibrate,
                order=order, format_a=format_a, format_b=format_b, format_c=format_c,
                format_d=format_d, copy=copy, writes=True, kernel=kernel,
                any_promotion=any_promotion, stream=stream)
    g, said = p.struct, {}
    if p.place:
        ran = _device.start(p, workspace)
        said = {"device": p.place.device, "kernel": ran.kernel.decode()}
    else:
        _needs({"recipe": recipe, "unit": unit}, ("recipe", "unit"))
        ran = fresh_gemm()
        compute(lib.bitcut_gemm, byref(ran), byref(g), _threads(threads), keep=(p, ran))
    return Gemm(**described(ran), **said, m=g.m, n=g.n, k=g.k, count=g.count, d=p.result,
                _problem=p, _line=line_of(ran))


def workspace(a: Any, b: Any, **given) -> int:
    """Bytes that gemm() of the same arguments, arrays in the memory of a GPU, works in there; of
    a batch so many for each matrix that is to be computed at the same time."""
    p = _problem(a, b, given, needs=(), how=(*HOW, "kernel", "any_promotion"), on_device=True)
    if p.place is None:
        raise BadArgument("A and B are in the memory of the host, where gemm() needs none")
    return _device.workspace_bytes(p.struct, p.place)


Gemm.line = property(lambda self: self._line, doc="recipe@unit, and what is varied")

# What every call that takes a GEMM has: matrices, and how D is computed.
HOW = ("recipe", "unit", "split", "split_a", "split_b", "high", "low", "scale", "low_low",
       "promote", "tile_k", "equilibrate", "order")
WHAT = ("c", "alpha", "beta", "format_a", "format_b", "format_c", "format_d", "copy")


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


# --- against what it should be -------------------------------------------------------------


class Verification(Result):
    """Whether D is the emulator's, to the bit: true if it is.  ``differ`` of ``compared``
    elements do not; ``first`` is the first of them: ``at`` (with its GEMM first in a batch),
    its bits and number in ``given`` and ``expected``."""

    def __bool__(self):
        return self.differ == 0

    def __str__(self):
        if self:
            return (f"all {self.compared} outputs are those of {self.recipe} on {self.unit}, "
                    "bit for bit")
        f = self.first
        return (f"{self.differ} of {self.compared} outputs differ from {self.recipe} on "
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


def verify(d: Any, a: Any, b: Any, *, recipe: str, unit: str, threads: int = 0,
           **given) -> Verification:
    """D against what gemm() gives of the other arguments, all of them gemm()'s: every bit of
    each element, of NaN as well.  If D was computed into C, keep C."""
    p = _problem(a, b, {"recipe": recipe, "unit": unit, **given}, d=d)
    found, ran = fresh(Difference), fresh_gemm()
    compute(lib.bitcut_gemm_verify, byref(found), byref(ran), byref(p.struct),
            _threads(threads), keep=(p, found, ran))
    first = None
    if found.differ:
        at = ([found.gemm] if p.is_batch else []) + [found.row, found.column]
        first = {"at": at, "given": _decoded(found.given, p.d.format),
                 "expected": _decoded(found.expected, p.d.format)}
    return Verification(**described(ran), line=line_of(ran), compared=found.compared,
                        differ=found.differ, first=first)


class Metrics(Result):
    """How far D is from the exact result, by every metric: metrics() says what they are.  NaN:
    there is none, or it needs a recipe and a unit."""


def _judged(p: Problem, index: Any, threads: Any) -> Metrics:
    names = []
    while (name := lib.bitcut_metric_name(len(names))):
        names.append(name.decode())
    values = (c_double * len(names))()
    compute(lib.bitcut_gemm_judge, values, len(names), byref(p.struct),
            integer(index, "index", SIZE_MOST), _threads(threads), keep=(p, values))
    return Metrics(**dict(zip(names, values)))


def judge(d: Any, a: Any, b: Any, *, recipe: Optional[str] = None, unit: Optional[str] = None,
          index: int = 0, threads: int = 0, **given) -> Metrics:
    """How far D, (m, n), is from the exact alpha A B + beta C, which is computed in exact
    arithmetic, by each metric.  Of a batch GEMM `index`.  Recipe and unit, and all else of
    gemm(), matter for grade alone."""
    p = _problem(a, b, {"recipe": recipe, "unit": unit, **given}, d=d, needs=())
    return _judged(p, index, threads)


def exact(a: Any, b: Any, *, format: str = "f32", format_a: Optional[str] = None,
          format_b: Optional[str] = None, copy: bool = False, threads: int = 0) -> Any:
    """A B exactly, then rounded once, to nearest even, to `format`: f32 or f64.  A is (m, k), B
    (k, n) of FP32 values, row by row without gaps, or both column by column; anything else
    that gemm() takes is copied with ``copy=True``.  NaN and infinities as in IEEE 754."""
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


# --- words and fragments -------------------------------------------------------------------


class Words(Result):
    """The words of values: ``words``, an array each, the high one first, of ``formats``; word l
    carries 2^(``levels[l]`` ``scale``).  Those in ``copies`` are no part of the sum."""

    def __getitem__(self, i):
        return self.words[i]

    def __len__(self):
        return len(self.words)

    def to_dict(self):
        return {key: value for key, value in super().to_dict().items() if key != "words"}


def split(x: Any, split: str = "halfhalf", *, copy: bool = False) -> Words:
    """The words of each FP32 value of `x`, an array of any shape without gaps, by a row of
    splits(): high word first, what each carries, and how it is rounded, is in the table."""
    view = look(x, "X")
    if view.kind == "f8":
        view = _arrays.as_f32(view, "f64", copy)
    if view.kind not in ("f4", "u4"):
        raise BadType(f"X: elements of {view.kind}; a split is of FP32 values")
    if not view.is_dense():
        if not copy:
            raise BadArgument("X: it has gaps; copy=True copies it")
        view = contiguous(view)
    row = lib.bitcut_split_find(text(split, "split"))
    if not row:
        raise BadArgument(f"{split}: unknown split; bitcut.splits() has all")
    said = _read("splits").find(split)
    words = [_arrays.empty(view.shape, format) for format in said["formats"]]
    places = (ctypes.c_void_p * 3)(*(look(w, "word").address or None for w in words))
    check(lib.bitcut_split_array(places, row, view.address or None, view.count))
    return Words(split=split, scale=said["scale"], formats=list(said["formats"]),
                 levels=list(said["levels"]), copies=list(said["copies"]), words=words)


def _encodings(x: Any, name: str, format: str):
    """Elements of any width as encodings in 64 bits, and their shape."""
    view = look(x, name)
    if view.format not in (None, format) or view.item < _arrays.element_bytes(format):
        raise BadArgument(f"{name}: elements of {view.kind}; the unit takes {format}, or its "
                          "encodings as unsigned integers")
    if not view.is_dense():
        view = contiguous(view)
    types = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}
    source = (types[view.item] * view.count).from_address(view.address) if view.count else []
    return (ctypes.c_uint64 * max(view.count, 1))(*source), view.shape


def mma(a: Any, b: Any, c: Any, *, unit: str, threads: int = 0) -> Any:
    """A batch of fragments, D = A B + C, to the bit of the unit: A (count, m, k), B (count, k,
    n), C (count, m, n), or all without count; k is that of the instruction.  Elements are of
    the unit's formats, or their encodings; they are copied.  D has C's format."""
    row = lib.bitcut_unit_find(text(unit, "unit"), format_row("f16"))
    if not row:
        raise BadArgument(f"{unit}: unknown unit; bitcut.units() has all")
    said = _read("units").find(lib.bitcut_unit_name(row).decode())
    operands = [_encodings(x, name, said[name.lower()])
                for x, name in ((a, "A"), (b, "B"), (c, "C"))]
    shapes = [shape for _, shape in operands]
    if {len(s) for s in shapes} not in ({2}, {3}):
        raise BadArgument("A, B and C have 3 dimensions, or all 2")
    counts = {s[0] if len(s) == 3 else 1 for s in shapes}
    (m, k), (k2, n), last = (s[-2:] for s in shapes)
    if len(counts) != 1 or k != k2 or last != (m, n):
        raise BadArgument(f"A {shapes[0]}, B {shapes[1]} and C {shapes[2]} do not fit together")
    wide = (ctypes.c_uint64 * max(counts.pop() * m * n, 1))()
    count = shapes[2][0] if len(shapes[2]) == 3 else 1
    compute(lib.bitcut_mma, wide, row, count, m, n, k, *(x for x, _ in operands),
            _threads(threads), keep=(wide, operands), says=False)
    d = _arrays.empty(shapes[2], said["c"])
    to, types = look(d, "D"), {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32}
    if to.count:
        (types[to.item] * to.count).from_address(to.address)[:] = wide[:to.count]
    return d


# --- where errors come from, and what they may be ------------------------------------------


class Budget(Result):
    """Where the error comes from: of each part its ``mean``, ``rms`` and ``most``, in u
    (|alpha| |A||B| + |beta C|), u = 2^-24; "error" is their sum, output by output."""


def budget(a: Any, b: Any, *, recipe: str, unit: str, index: int = 0, threads: int = 0,
           **given) -> Budget:
    """Where the error of what gemm() gives comes from, in parts that add up to it exactly."""
    p = _problem(a, b, {"recipe": recipe, "unit": unit, **given})
    names = []
    while (name := lib.bitcut_budget_part(len(names))):
        names.append(name.decode())
    parts = (Part * len(names))()
    compute(lib.bitcut_budget, parts, len(names), byref(p.struct),
            integer(index, "index", SIZE_MOST), _threads(threads), keep=(p, parts))
    return Budget(**{name: {"mean": x.mean, "rms": x.rms, "most": x.most}
                     for name, x in zip(names, parts)})


def bound(a: Any, b: Any, *, recipe: str, unit: str, name: str = "aligned", index: int = 0,
          threads: int = 0, **given) -> Any:
    """What each output of gemm() may err by: an array (m, n) of binary64, rounded upward, in
    the units of D, by a row of bounds(): for certain, if that is rigorous.  NaN: there is no
    limit.  Cannot: the bound does not hold for this recipe on this unit."""
    p = _problem(a, b, {"recipe": recipe, "unit": unit, **given})
    to = _arrays.empty((p.struct.m, p.struct.n), "f64")
    compute(lib.bitcut_bound, look(to, "limit").address, byref(p.struct),
            integer(index, "index", SIZE_MOST), text(name, "bound"), _threads(threads),
            keep=(p, to))
    return to


class Tolerances(Result):
    """Limits that a correct D keeps, as struct bitcut_tolerances has them: |D - C| <=
    ``observed`` u |A||B| at each output, ||D - C|| <= ``norm_observed`` u ||A|| ||B||, and
    ``bound`` for certain; u = 2^-24, C exact."""


def tolerance(a: Any, b: Any, *, recipe: str, unit: str, order: OrderLike = None, runs: int = 0,
              alarm: float = 0.0, seed: int = 1, two: bool = False, threads: int = 0,
              **given) -> Tolerances:
    """What a test of D = A B by a recipe on a unit should accept, from `runs` runs (0: 100) on
    these matrices; a correct D is above with a probability of `alarm` (0: 1e-6) at most.
    order="any": k in any order.  two: D is compared with another correct result."""
    p = _problem(a, b, {"recipe": recipe, "unit": unit, **given,
                        "order": None if order == "any" else order}, batch=False)
    options, found = fresh(ToleranceOptions), fresh(_Tolerances)
    options.runs, options.alarm = integer(runs, "runs", SIZE_MOST), real(alarm, "alarm")
    options.seed, options.two = integer(seed, "seed", SEED_MOST), bool(two)
    options.any_order = order == "any"
    compute(lib.bitcut_tolerance, byref(found), byref(p.struct), byref(options),
            _threads(threads), keep=(p, found, options))
    return Tolerances(**{name: getattr(found, name) for name, _ in _Tolerances._fields_[1:]})


class Explanation(Result):
    """What computed D: ``text`` is the sentence, ``found`` whether something gives all of it,
    ``fault`` its name or None, ``line`` the GEMM nearest to it."""

    def __bool__(self):
        return self.found

    def __str__(self):
        return self.text


def explain(d: Any, a: Any, b: Any, *, recipe: Optional[str] = None, unit: Optional[str] = None,
            samples: int = 0, seconds: float = 0.0, seed: int = 1, threads: int = 0,
            **given) -> Explanation:
    """What computed D: which recipe, unit, order of k and fault.  One that is given is the only
    one that is tried.  The search takes `seconds` at most (0: 60), and comparing as long."""
    p = _problem(a, b, {"recipe": recipe, "unit": unit, **given}, d=d, needs=(),
                 how=("recipe", "unit"), batch=False)
    options, found, g = fresh(ExplainOptions), fresh(_Explanation), fresh_gemm()
    options.samples = integer(samples, "samples", SIZE_MOST)
    options.seconds, options.seed = real(seconds, "seconds"), integer(seed, "seed", SEED_MOST)
    compute(lib.bitcut_explain, byref(found), byref(g), byref(p.struct), byref(options),
            _threads(threads), keep=(p, found, g, options))
    values = {name: getattr(found, name) for name, _ in _Explanation._fields_[1:]}
    values["text"] = found.text.decode()
    values["fault"] = found.fault.decode() if found.fault else None
    return Explanation(line=line_of(g), **values)


class Advice(Result):
    """What multiplies A B accurately enough, for the fewest products: ``line``, and struct
    bitcut_advice's ``reaches``, ``cost``, ``error``, ``high``, ``checked``, ``bound``."""


def advise(a: Any, b: Any, *, recipe: Optional[str] = None, unit: Optional[str] = None,
           metric: Optional[str] = None, want: float = 0.0, seed: int = 1, threads: int = 0,
           **given) -> Advice:
    """Which recipe on which unit, of those that are given or of all, errs by `want` of `metric`
    at most: "relres" (0: 1e-6) or "backward_max" (0: 16)."""
    p = _problem(a, b, {"recipe": recipe, "unit": unit, **given}, needs=(),
                 how=("recipe", "unit"), batch=False)
    options, found, g = fresh(AdviceOptions), fresh(_Advice), fresh_gemm()
    options.metric = text(metric, "metric") if metric is not None else None
    options.want, options.seed = real(want, "want"), integer(seed, "seed", SEED_MOST)
    compute(lib.bitcut_advise, byref(found), byref(g), byref(p.struct), byref(options),
            _threads(threads), keep=(p, found, g, options))
    said = described(g)
    return Advice(line=line_of(g), **{key: said[key] for key in (
        "recipe", "unit", "evidence", "split", "scale", "equilibrate", "terms")},
                  **{name: getattr(found, name) for name, _ in _Advice._fields_[1:]})
