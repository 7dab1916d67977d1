# SPDX-License-Identifier: BSD-3-Clause
"""Attention to the bit: struct bitcut_attention from arrays."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Optional

from . import _arrays
from ._arrays import View, contiguous, look
from ._calls import Budget
from ._figures import bars, points
from ._gemm import DIMENSION_MAX, _f32, integer, real
from ._library import (ATTENTION_MAX, SEED_MAX, Attention as Struct, AttentionErrors,
                       AttentionExplanation as _Explanation, AttentionOptions,
                       AttentionTolerances as _Tolerances, AttentionVerdict as _Verdict, BadArgument, BadType, Difference,
                       ExplainOptions, Part, byref, compute, format_row, fresh, lib, read, text, values)
from ._results import Result

WINDOW_MAX = 2**30


def _row(name: str):
    found = lib.bitcut_attention_find(text(name, "row"))
    if not found:
        raise BadArgument(f"{name}: unknown row; bitcut.attentions() has all")
    return found


def _threads(threads: Any) -> int:
    return integer(threads, "threads")


class _Operand:
    """The matrices of all heads of an array: (length, dim), (heads, length, dim) or (batch, heads,
    length, dim)."""

    def __init__(self, x: Any, name: str, format: Optional[str], copy: bool):
        view = look(x, name)
        if not 2 <= len(view.shape) <= 4:
            raise BadArgument(f"{name}: {len(view.shape)} dimensions; (length, dim), (heads, length, dim) or "
                              "(batch, heads, length, dim)")
        self.format = view.format or format
        if self.format is None:
            raise BadType(f"{name}: elements of {view.kind} are encodings; format= names their format")
        if _arrays.element_bytes(self.format) != view.item:
            raise BadType(f"{name}: elements of {view.kind} do not hold {self.format}")
        if not self._rows_are_dense(view):
            if not copy:
                raise BadArgument(f"{name}: rows have gaps or are not rows; copy=True copies it")
            view = contiguous(view)
        self.view, self.rows, self.cols = view, view.shape[-2], view.shape[-1]
        self.lead = view.shape[:-2]
        self.heads = math.prod(self.lead)
        self.addresses = (ctypes.c_void_p * max(self.heads, 1))(*self._addresses())

    @staticmethod
    def _rows_are_dense(view: View) -> bool:
        row, item = view.strides[-2:]
        return not view.count or ((view.shape[-1] == 1 or item == view.item) and row % view.item == 0 and
                                  (view.shape[-2] == 1 or row >= view.shape[-1] * view.item))

    def _addresses(self):
        addresses = [self.view.address]
        for n, stride in zip(self.lead, self.view.strides[:-2]):
            addresses = [at + i * stride for at in addresses for i in range(n)]
        return addresses

    def fill(self, matrix):
        matrix.each = ctypes.addressof(self.addresses)
        matrix.format = format_row(self.format)
        matrix.ld = max(self.view.strides[-2] // self.view.item, self.cols) if self.rows > 1 else 0


class _Problem:
    """A struct bitcut_attention and the arrays that it points to."""

    def __init__(self, q, k, v, o=None, *, row=None, vary=None, causal=False, window_left=None,
                 window_right=None, scale=None, format=None, format_o=None, copy=False, lse=False):
        self.struct = a = Struct()
        lib.bitcut_attention_init(byref(a), ctypes.sizeof(a))
        self.q, self.k, self.v = (_Operand(x, name, format, copy) for x, name in
                                  ((q, "Q"), (k, "K"), (v, "V")))
        if row is not None:
            a.row = _row(row)
        self.vary = None if vary is None else text(vary, "vary")
        a.vary = self.vary
        a.heads, a.kv_heads = self.q.heads, self.k.heads
        a.queries, a.keys, a.head_dim, a.value_dim = self.q.rows, self.k.rows, self.q.cols, self.v.cols
        if self.k.cols != self.q.cols or self.v.rows != self.k.rows or self.v.heads != self.k.heads:
            raise BadArgument(f"Q {self.q.view.shape}, K {self.k.view.shape} and V {self.v.view.shape} do not "
                              "belong together")
        if causal and window_right is not None:
            raise BadArgument("causal: window_right is given as well")
        for name, value in (("window_left", window_left), ("window_right", 0 if causal else window_right)):
            if value is not None:
                setattr(a, name, integer(value, name, WINDOW_MAX))
        if scale is not None:
            a.scale = _f32(scale, "scale")
        wide = _arrays.element_bytes(self.q.format) >= 2
        self.shape = (*self.q.lead, self.q.rows, self.v.cols)
        format_o = format_o or (self.q.format if wide else "bf16")
        result = o if o is not None else _arrays.empty(self.shape, format_o)
        self.result, self.o = result, _Operand(result, "O", format_o, copy)
        if tuple(self.o.view.shape) != self.shape:
            raise BadArgument(f"O {self.o.view.shape}: not {self.shape}")
        for operand, matrix in ((self.q, a.q), (self.k, a.k), (self.v, a.v), (self.o, a.o)):
            operand.fill(matrix)
        self.lse = _arrays.empty(self.shape[:-1], "f32") if lse else None
        a.lse = look(self.lse, "lse").address or None if lse else None

    def run(self, function, *first, threads):
        compute(function, *first, byref(self.struct), _threads(threads), keep=(self, first),
                products=self.struct.heads * self.struct.queries * self.struct.keys *
                (self.struct.head_dim + self.struct.value_dim))

    def line(self) -> str:
        line = ctypes.create_string_buffer(ATTENTION_MAX)
        read(lib.bitcut_attention_write, line, byref(self.struct))
        return line.value.decode()


class Attention(Result):
    """Attention: the array ``o``, ``lse`` if it was asked for, and ``fields``, by which it was computed."""


def attention(q: Any, k: Any, v: Any, *, row: str, vary: Optional[str] = None, causal: bool = False,
              window_left: Optional[int] = None, window_right: Optional[int] = None,
              scale: Optional[float] = None, format: Optional[str] = None, format_o: Optional[str] = None,
              lse: bool = False, copy: bool = False, threads: int = 0) -> Attention:
    """Compute softmax(scale Q K^T) V as an algorithm computes it on its units, bit for bit.

    Args:    q: Q, (queries, dim), (heads, queries, dim) or (batch, heads, queries, dim)
             k: K, with keys in place of queries; heads may be a divisor of Q's
             v: V, (keys, dim of O) with the heads of K
             row: a name of attentions()
             vary: items that change fields of the row, such as "block-n=64,direction=ascending"
             causal: a query sees the keys up to its own; the last query is aligned with the last key
             window_left: keys before its own that a query sees; None: all
             window_right: keys after its own; None: all
             scale: factor of the scores; None: 1 / sqrt(dim)
             format: format of the elements, if they are encodings
             format_o: format of O; None: that of Q, or bf16 if Q has fewer than 16 bits
             lse: compute the logarithms of the sums, too
             copy: copy arrays whose rows have gaps
             threads: number of threads; 0: one for each processor
    Returns: Attention, with the array ``o``
    Raises:  BadArgument: a shape, a name or a number does not fit
             BadType: an argument is no array, or its elements are unknown

    >>> x = numpy.float16([[1, 0], [0, 1]])
    >>> bitcut.attention(x, x, x, row="pytorch-flash").o.tolist()
    [[0.669921875, 0.330322265625], [0.330322265625, 0.669921875]]
    """
    p = _Problem(q, k, v, row=row, vary=vary, causal=causal, window_left=window_left, window_right=window_right,
                 scale=scale, format=format, format_o=format_o, copy=copy, lse=lse)
    p.run(lib.bitcut_attention, threads=threads)
    return Attention(o=p.result, lse=p.lse, row=row, fields=p.line())


def attention_exact(q: Any, k: Any, v: Any, *, threads: int = 0, **given) -> Any:
    """Compute softmax(scale Q K^T) V exactly, and round it once, to nearest even.

    Args:    q: Q, as for attention()
             k: K
             v: V
             threads: number of threads; 0: one for each processor
             given: causal, window_left, window_right, scale, format, format_o and copy of attention()
    Returns: O, a new array
    Raises:  BadArgument, BadType: as attention()

    >>> x = numpy.float16([[1, 0], [0, 1]])
    >>> bitcut.attention_exact(x, x, x, format_o="f32").tolist()
    [[0.6697615385055542, 0.3302384614944458], [0.3302384614944458, 0.6697615385055542]]
    """
    p = _Problem(q, k, v, **_without(given, "row", "vary", "lse"))
    p.run(lib.bitcut_attention_exact, threads=threads)
    return p.result


def _without(given: dict, *names: str) -> dict:
    for name in names:
        if name in given:
            raise BadArgument(f"{name}: this call does not take it")
    return given


class AttentionBudget(Budget):
    """The parts of the error of an attention, a dict for each, with ``mean``, ``rms`` and ``max``."""

    def _figure(self):
        return bars("Where the error of attention comes from", [
            (name, part["rms"]) for name, part in self.to_dict().items()],
                    "root of the mean square, in u of the format of O times the mean of |V|")


def attention_budget(q: Any, k: Any, v: Any, *, row: str, samples: int = 0, threads: int = 0,
                     **given) -> AttentionBudget:
    """Divide the error of attention() into parts that add up to it exactly.

    Args:    q: Q, as for attention()
             k: K
             v: V
             row: a name of attentions()
             samples: outputs that count, spread over all queries; 0: as many as have about 2^20
                 products with V, at least 16
             threads: number of threads; 0: one for each processor
             given: all other arguments of attention() except lse
    Returns: AttentionBudget, a dict for each part, in u of the format of O times the mean of |V| by the
             exact weights; ``error`` is the sum of all parts
    Raises:  BadArgument, BadType: as attention()

    >>> x = numpy.float16([[1, 0], [0, 1]])
    >>> round(bitcut.attention_budget(x, x, x, row="pytorch-flash").error["max"], 2)
    0.52
    """
    p = _Problem(q, k, v, row=row, **_without(given, "lse"))
    names = []
    while (name := lib.bitcut_attention_part(len(names))):
        names.append(name.decode())
    parts = (Part * len(names))()
    compute(lib.bitcut_attention_budget, parts, len(names), byref(p.struct),
            integer(samples, "samples", DIMENSION_MAX), _threads(threads), keep=(p, parts))
    return AttentionBudget(**{name: {"mean": x.mean, "rms": x.rms, "max": x.max}
                              for name, x in zip(names, parts)})


def attention_bound(q: Any, k: Any, v: Any, *, row: str, name: Optional[str] = None, threads: int = 0,
                    **given) -> Any:
    """Compute an error bound for each output of attention(): no finite O is further from exact attention.

    Args:    q: Q, as for attention()
             k: K
             v: V
             row: a name of attentions()
             name: "apriori" or "weighted"; None: "weighted"
             threads: number of threads; 0: one for each processor
             given: all other arguments of attention() except lse
    Returns: an array of FP64 with the shape of O; NaN where there is no limit
    Raises:  BadArgument, BadType: as attention()
             Unsupported: the row has no bound

    >>> x = numpy.float16([[1, 0], [0, 1]])
    >>> bitcut.attention_bound(x, x, x, row="pytorch-flash").max() < 2e-3
    True
    """
    p = _Problem(q, k, v, row=row, **_without(given, "lse"))
    limits = _arrays.empty(p.shape, "f64")
    compute(lib.bitcut_attention_bound, look(limits, "limits").address or None, byref(p.struct),
            None if name is None else text(name, "name"), _threads(threads), keep=(p, limits))
    return limits


class AttentionVerdict(Result):
    """Whether an O is within limits, with its errors: true if it is accepted.

    The attributes are the members of struct bitcut_attention_verdict.
    """

    def __bool__(self):
        return self.accepted


class AttentionTolerances(Result):
    """Limits for the errors of a correct O.

    |V| is the mean of the magnitudes of V by the exact weights, u the unit roundoff of the format of O; of
    two results, the larger u.

    limit, known
        |O - reference| <= limit u |V| at each output; `known`: with the probability `false_alarm`
    norm_limit, norm_known
        ||O - reference|| <= norm_limit ||u |V||| over all outputs
    max, norm_max, runs, outputs
        the largest errors of the runs, their number, and the outputs of each
    zeros
        of the first 8 runs, those in which O = 0 is within both limits
    """

    def judge(self, o: Any, q: Any, k: Any, v: Any, *, row: str, other: Optional[dict] = None, threads: int = 0,
              **given) -> AttentionVerdict:
        """Compare O with these limits, which attention_tolerance() computed for the other arguments.

        Args:    o: O, (..., queries, dim of V)
                 q: Q, as for attention()
                 k: K
                 v: V
                 row: a name of attentions()
                 other: the arguments of the attention with which O is compared, and "o", its O; without
                     "o" it is computed; None: exact attention
                 threads: number of threads; 0: one for each processor
                 given: all other arguments of attention() except lse
        Returns: AttentionVerdict, true if O is accepted
        Raises:  BadArgument, BadType: as attention()
        """
        p = _Problem(q, k, v, o, row=row, **_without(given, "lse"))
        b = _other(other, q, k, v, given)
        if b and "o" not in other:
            b.run(lib.bitcut_attention, threads=threads)
        found, limits = fresh(_Verdict), fresh(_Tolerances)
        for name in values(limits):
            setattr(limits, name, getattr(self, name))
        compute(lib.bitcut_attention_tolerance_judge, byref(found), byref(limits), byref(p.struct),
                byref(b.struct) if b else None, _threads(threads), keep=(p, b, found, limits))
        return AttentionVerdict(**values(found))

    def _figure(self):
        return points("Largest error of a correct output", [
            (f"largest of {self.runs} runs", self.max), ("limit for a test", self.limit)], "u |V|")


def _other(other: Optional[dict], q, k, v, given: dict) -> Optional[_Problem]:
    """The attention that `other` describes; it has the matrices and the mask of the tested one unless it
    names its own."""
    if other is None:
        return None
    if not isinstance(other, dict) or "row" not in other:
        raise BadArgument('other: a dict with "row", and other arguments of attention()')
    same = {name: given[name] for name in ("causal", "window_left", "window_right", "scale", "format_o", "copy")
            if name in given}
    own = {"q": q, "k": k, "v": v, **same, **other}
    return _Problem(own.pop("q"), own.pop("k"), own.pop("v"), own.pop("o", None), **_without(own, "lse"))


def attention_tolerance(q: Any, k: Any, v: Any, *, row: str, other: Optional[dict] = None, any_tiles: bool = False,
                        runs: int = 0, false_alarm: float = 0.0, seed: int = 1, threads: int = 0,
                        **given) -> AttentionTolerances:
    """Compute the limits that a test of an attention should have.

    Runs of the emulator take some queries and the keys in a random order.  A correct O exceeds each known
    limit with a probability of at most `false_alarm`.

    Args:    q: Q, as for attention()
             k: K
             v: V
             row: a name of attentions(): how the tested kernel computes
             other: None: O is compared with exact attention; else a dict of arguments of attention(), such
                 as dict(row="pytorch-flash", vary="splits=8"), with which it is compared; "q", "k" and
                 "v" in it replace the matrices
             any_tiles: the tested kernel may have other tiles, in another order, and 1 to 4 splits
             runs: number of runs; 0: 100
             false_alarm: fraction of correct results that may exceed a limit; 0: 1e-6
             seed: seed of the runs
             threads: number of threads; 0: one for each processor
             given: all other arguments of attention() except lse
    Returns: AttentionTolerances
    Raises:  BadArgument, BadType: as attention(); the sizes or masks of both differ

    >>> x = numpy.float16([[1, 0], [0, 1]])
    >>> t = bitcut.attention_tolerance(x, x, x, row="pytorch-flash", runs=12)
    >>> t.max < t.limit
    True
    """
    p = _Problem(q, k, v, row=row, **_without(given, "lse"))
    b = _other(other, q, k, v, given)
    options, found = fresh(AttentionOptions), fresh(_Tolerances)
    options.runs, options.false_alarm = integer(runs, "runs", DIMENSION_MAX), real(false_alarm, "false_alarm")
    options.seed, options.any_tiles = integer(seed, "seed", SEED_MAX), bool(any_tiles)
    compute(lib.bitcut_attention_tolerance, byref(found), byref(p.struct), byref(b.struct) if b else None,
            byref(options), _threads(threads), keep=(p, b, found, options))
    return AttentionTolerances(**values(found))


class AttentionVerification(Result):
    """Whether O is that of attention(): true if no bit differs.

    ``compared`` and ``differ`` count outputs; ``first`` has the position of the first one that differs.
    """

    def __bool__(self):
        return self.differ == 0

    def __str__(self):
        if self:
            return f"all {self.compared} outputs are those of {self.row}, bit for bit"
        return (f"{self.differ} of {self.compared} outputs differ from {self.row}; the first is "
                f"{self.first['at']}: {self.first['given']:#x}, not {self.first['expected']:#x}")


def attention_verify(o: Any, q: Any, k: Any, v: Any, *, row: str, threads: int = 0,
                     **given) -> AttentionVerification:
    """Compare O with the result of attention(), bit for bit.

    Args:    o: O, (..., queries, dim of V)
             q: Q, as for attention()
             k: K
             v: V
             row: a name of attentions()
             threads: number of threads; 0: one for each processor
             given: all other arguments of attention() except lse
    Returns: AttentionVerification, true if no bit differs
    Raises:  BadArgument, BadType: as attention()

    >>> x = numpy.float16([[1, 0], [0, 1]])
    >>> o = bitcut.attention(x, x, x, row="pytorch-flash").o
    >>> print(bitcut.attention_verify(o, x, x, x, row="pytorch-flash"))
    all 4 outputs are those of pytorch-flash, bit for bit
    """
    p = _Problem(q, k, v, o, row=row, **_without(given, "lse"))
    found = fresh(Difference)
    p.run(lib.bitcut_attention_verify, byref(found), threads=threads)
    at = [found.row, found.column]
    for n in reversed(p.q.lead):
        at.insert(0, found.gemm % n)
        found.gemm //= n
    first = {"at": at, "given": found.given, "expected": found.expected} if found.differ else None
    return AttentionVerification(row=row, compared=found.compared, differ=found.differ, first=first)


class AttentionMetrics(Result):
    """Errors of O, an attribute each: ``max_ulp``, ``mean_ulp``, ``relres`` and others."""


def attention_judge(o: Any, q: Any, k: Any, v: Any, *, threads: int = 0, **given) -> AttentionMetrics:
    """Measure how far O is from exact attention.

    Args:    o: O, (..., queries, dim of V)
             q: Q, as for attention()
             k: K
             v: V
             threads: number of threads; 0: one for each processor
             given: as for attention_exact()
    Returns: AttentionMetrics
    Raises:  BadArgument, BadType: as attention()

    >>> x = numpy.float16([[1, 0], [0, 1]])
    >>> bitcut.attention_judge(bitcut.attention_exact(x, x, x), x, x, x).correct
    4
    """
    p = _Problem(q, k, v, o, **_without(given, "row", "vary", "lse"))
    found = fresh(AttentionErrors)
    p.run(lib.bitcut_attention_judge, byref(found), threads=threads)
    return AttentionMetrics(**values(found))


class AttentionExplanation(Result):
    """What computed an O: true if a hypothesis gives every output that was compared.

    The attributes are those of struct bitcut_attention_explanation: ``row`` and ``vary`` are arguments of
    attention() that give O if there is no ``fault``; ``text`` is the result in one sentence.
    """

    def __bool__(self):
        return self.found

    def __str__(self):
        return self.text


def attention_explain(o: Any, q: Any, k: Any, v: Any, *, row: Optional[str] = None, effort: float = 1.0,
                      seconds: float = 0.0, seed: int = 1, threads: int = 0, **given) -> AttentionExplanation:
    """Find what computed O: the algorithm, its tiles, splits, formats and order of sums, or a fault.

    Args:    o: O, (..., queries, dim of V)
             q: Q, as for attention()
             k: K
             v: V
             row: the only algorithm to try, a name of attentions(); None: all
             effort: factor of the work of the search, and of the comparison
             seconds: time limit of the search; 0: none, so that the answer does not depend on the
                 machine
             seed: seed that chooses the sample
             threads: number of threads; 0: one for each processor
             given: all other arguments of attention() except lse; the window and the scale are those
                 that were intended
    Returns: AttentionExplanation, true if a hypothesis gives every output that was compared
    Raises:  BadArgument, BadType: as attention()

    >>> x = numpy.float16(numpy.random.default_rng(1).standard_normal((40, 32)))
    >>> o = bitcut.attention(x, x, x, row="pytorch-flash", window_right=1).o
    >>> bitcut.attention_explain(o, x, x, x, causal=True).fault
    'mask off by one'
    """
    p = _Problem(q, k, v, o, row=row, **_without(given, "lse"))
    found, options = fresh(_Explanation), fresh(ExplainOptions)
    options.effort, options.seconds = real(effort, "effort"), real(seconds, "seconds")
    options.seed = integer(seed, "seed", SEED_MAX)
    compute(lib.bitcut_attention_explain, byref(found), byref(p.struct), byref(options), _threads(threads),
            keep=(p, found, options))
    return AttentionExplanation(**values(found))
