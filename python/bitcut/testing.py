# SPDX-License-Identifier: BSD-3-Clause
"""Assertions for tests of kernels.

A test that cannot fail says nothing, so both assertions check the test as well.  They raise
TestTooWeak, an AssertionError, if a result of zeros would pass, if no exact result is a number,
or if all low parts of a recipe are zero, as those of small integers are: a kernel without its
corrections would pass.  ``weak=True`` allows such a test."""

from __future__ import annotations

from typing import Any, Optional

from . import _arrays
from ._arrays import look
from ._attention import AttentionTolerances, AttentionVerdict, attention_tolerance
from ._calls import WHAT, Tolerances, explain, gemm, judge, split, tolerance, verify
from ._gemm import STEPS, OrderLike, Operand
from ._library import Error
from ._tables import _read

__all__ = ["TestTooWeak", "assert_attention_close", "assert_gemm", "assert_gemm_close"]


class TestTooWeak(AssertionError):
    """The test would pass for a wrong kernel: choose other matrices."""

    __test__ = False  # no class of tests


# --- the test itself -----------------------------------------------------------------------


def _zeros(operand: Operand):
    """An array of zeros of the shape and format of one."""
    to = _arrays.empty(operand.view.shape, operand.format)
    view = look(to, "zeros")
    _arrays.ctypes.memset(view.address, 0, view.count * view.item)
    return to


def _is_zero(x: Any) -> bool:
    view = look(x, "X")
    return not any(_arrays.ctypes.string_at(view.address, view.count * view.item))


def _f32_of(x: Any, name: str, format: Optional[str]):
    """Its values, FP32 and row by row; a copy where they are not."""
    operand = Operand(x, name, format, True)
    view = operand.view
    if operand.format != "f32":
        return _arrays.as_f32(view, operand.format, True)
    return view if view.is_dense() else _arrays.contiguous(view)


def _check_parts(a: Any, b: Any, ran, formats: dict):
    """That each low part of A and of B is not zero everywhere."""
    __tracebackhide__ = True
    for x, name, row in ((a, "A", ran.split), (b, "B", ran.split_b)):
        said = _read("splits")
        if row not in said.names() or said.find(row)["parts"] == 1:
            continue
        parts = split(_f32_of(x, name, formats.get(f"format_{name.lower()}")), row)
        for i, part in enumerate(parts.parts):
            if parts.levels[i] and i not in parts.copies and _is_zero(part):
                raise TestTooWeak(
                    f"part {i + 1} of {row} is zero in all of {name}, whose values have too few "
                    f"bits: a kernel without the products of that part would pass; weak=True "
                    "allows it")


def _too_weak_zero(what: str) -> TestTooWeak:
    return TestTooWeak(f"a D of zeros would pass: {what}; weak=True allows it")




# --- what is asserted ----------------------------------------------------------------------


def _explained(d, a, b, recipe: str, unit: str, given: dict, effort: float) -> str:
    """What computed it, if that can be said: a fault of the recipe on the unit, or else anything."""
    if not effort:
        return ""
    few = {key: given[key] for key in WHAT if key in given}
    steps = {key: given[key] for key in STEPS if key in given}
    try:
        found = explain(d, a, b, recipe=recipe, unit=unit, effort=effort / 2, **steps, **few)
        found = found or explain(d, a, b, recipe=recipe if steps else None,
                                 unit=unit if steps else None, effort=effort / 2, **few)
        return "\n  explain: " + found.text
    except Error as error:
        return f"\n  explain: {error}"


def assert_gemm(d: Any, a: Any, b: Any, *, recipe: str, unit: str, weak: bool = False,
                effort: float = 0.25, **given):
    """Assert that D equals a recipe on a unit, bit for bit.

    Args:    d: the result to test, (m, n) or (count, m, n), of any type that gemm() takes
             a: A, (m, k) or (count, m, k)
             b: B, (k, n) or (count, k, n)
             recipe: a name of recipes()
             unit: a name of units() or chips()
             weak: accept a test that a wrong kernel would pass
             effort: effort of the explanation in the message, as of explain(); 0: no explanation
             given: all other arguments of gemm(), such as c, order and format_a
    Returns: None
    Raises:  AssertionError: a bit differs; the message has the number of outputs that differ, the first
                 of them in hex and decoded, and what explain() finds
             TestTooWeak: the test would pass for a wrong kernel
             Error: gemm() cannot compute this GEMM

    >>> bitcut.testing.assert_gemm(kernel(a, b), a, b, recipe="ootomo", unit="h100")
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    found = verify(d, a, b, recipe=recipe, unit=unit, **given)
    if not found:
        raise AssertionError(str(found) + _explained(d, a, b, recipe, unit, given, effort))
    if weak:
        return
    if not found.compared:
        raise TestTooWeak("D has no elements; weak=True allows it")
    _check_parts(a, b, found, given)
    zeros = _zeros(Operand(d, "D", given.get("format_d"), given.get("copy", False)))
    if verify(zeros, a, b, recipe=recipe, unit=unit, **given):
        raise _too_weak_zero("the right result is zero everywhere")


def _derivation(t: Tolerances, false_alarm: float, order: OrderLike, format: str) -> str:
    """Where the limits come from: the lines of `bitcut tolerance`."""
    k = "k in any order" if order == "any" else "k in the order of the recipe, or as given"
    limit = (f"{t.limit:.3g} u |A||B|" if t.known else
             f"{t.with_underflow:.3g} u |A||B| + what underflows")
    norm = f"; {t.norm_limit:.3g} u ||A|| ||B|| of all outputs" if t.norm_known else ""
    rare = 1 / (false_alarm or 1e-6)
    result = "" if format == "f32" else (f"\n  result: D is rounded to {format}; errors are counted "
                                         "from half an ulp of D on")
    return (f"\n  limit: {limit}{norm}; one correct result in {rare:.3g} exceeds it, {k}"
            f"\n  typical range: up to {t.max:.3g} u |A||B|, {t.norm_max:.3g} u ||A|| ||B||, the "
            f"largest of {t.runs} runs of {t.outputs} outputs"
            f"\n  worst-case bound: {t.bound:.3g} u |A||B| + what underflows, at most "
            f"{t.underflow:.3g} u |A||B| in the runs; u = 2^-24" + result)


def _gemms(result: Operand, given: dict) -> int:
    """The number of GEMMs of a batch or of groups."""
    offsets = given.get("offsets")
    return (result.batch or 1) if offsets is None else len(offsets)


def _beyond(v, t: Tolerances, batch: bool) -> list:
    """What of D exceeds its limit; a NaN does."""
    wrong, at = [], ((v.gemm,) if batch else ()) + tuple(v.worst_at)
    if v.wrong > t.wrong:
        wrong.append(f"{v.wrong:.0f} outputs are NaN or infinite where the exact result is "
                     "finite, or finite where it is not")
    above = f"; {v.above} outputs exceed their limit" if v.above else ""
    if t.known and not v.component <= t.limit:
        wrong.append(f"largest error {v.component:.4g} u |A||B| (limit {t.limit:.3g}) at output "
                     f"{at}{above}")
    elif v.above:
        wrong.append(f"largest error beyond underflow {v.with_underflow:.4g} u |A||B| (limit "
                     f"{t.with_underflow:.3g}) at output {at}{above}")
    if t.norm_known and not v.norm <= t.norm_limit:
        wrong.append(f"normwise error {v.norm:.4g} u ||A|| ||B|| (limit {t.norm_limit:.3g})")
    if not (v.accepted or v.wrong or wrong):
        wrong.append(f"normwise error above {t.norm_with_underflow:.3g} u ||A|| ||B|| and what "
                     "underflows")
    return wrong


def assert_gemm_close(d: Any, a: Any, b: Any, *, recipe: str, unit: str,
                      order: OrderLike = "any", runs: int = 0, false_alarm: float = 0.0,
                      seed: int = 1, weak: bool = False, effort: float = 0.25, **given):
    """Assert that the errors of D are those of a correct kernel.

    There is a limit for each output and one for all together; NaN and infinities exceed both.  A correct D
    in the order of the recipe passes if the runs have all outputs, that is up to 2^20 products with
    `order` the GEMM's own.  With k in a random order it fails with a probability of at most `false_alarm`
    for each limit, as far as 100 runs can tell.  In an order that was not tried, its errors may be larger.

    With a bias, factors, a start or steps of an epilogue, D is compared with the exact value of all steps:
    with the product of the operands times their factors, if these are quantized.  |A||B| then includes
    the factors, the bias and beta C, with their absolute values.

    A D of f16, bf16 or fp8 is compared before its rounding: the limits are those of the FP32 sums, and half
    an ulp of D is allowed in addition.  D is not rounded if its type is f4, whatever its values; use
    format_d for encodings.

    Of a batch, every D is compared with the same limits; an output is named by GEMM, row and column.

    Args:    d: the result to test, (m, n) or (count, m, n), of any type that gemm() takes
             a: A, (m, k) or (count, m, k)
             b: B, (k, n) or (count, k, n)
             recipe: a name of recipes()
             unit: a name of units() or chips()
             order: order of k: "any", or as gemm() takes it
             runs: number of runs from which limits are computed; 0: 100
             false_alarm: fraction of correct results that may exceed a limit; 0: 1e-6
             seed: seed of the runs
             weak: accept a test that a wrong kernel would pass
             effort: effort of the explanation in the message, as of explain(); 0: no explanation
             given: all other arguments of gemm(), such as c, order and format_a
    Returns: None
    Raises:  AssertionError: an error exceeds its limit; the message has the error, the limit and its
                 origin, and what explain() finds
             TestTooWeak: the test would pass for a wrong kernel
             Error: gemm() cannot compute this GEMM

    >>> bitcut.testing.assert_gemm_close(kernel(a, b), a, b, recipe="ootomo", unit="h100")
    """
    __tracebackhide__ = True
    result = Operand(d, "D", given.get("format_d"), given.get("copy", False))
    format = result.format
    if format != "f32":
        given = {**given, "format_d": format}
    t = tolerance(a, b, recipe=recipe, unit=unit, order=order, runs=runs, false_alarm=false_alarm,
                  seed=seed, **given)
    how = {"recipe": recipe, "unit": unit, **given}
    if order != "any":
        how["order"] = order
    v = t.judge(d, a, b, **{**how, "order": order})
    zeros = _zeros(Operand(d, "D", given.get("format_d"), given.get("copy", False)))
    of_zeros = sum(judge(zeros, a, b, index=i, **how).wrong for i in range(_gemms(result, given)))
    wrong = _beyond(v, t, result.batch is not None or given.get("offsets") is not None)
    if wrong:
        raise AssertionError(f"D is not close to {recipe} on {unit}: " + "; ".join(wrong)
                             + _derivation(t, false_alarm, order, format)
                             + _explained(d, a, b, recipe, unit, given, effort))
    if weak:
        return
    if of_zeros >= look(d, "D").count:
        raise TestTooWeak("no exact result is a number: nothing was compared; weak=True allows "
                          "it")
    if v.zeros_accepted:
        raise _too_weak_zero("exact results are within the limits of zero")
    ran = gemm(a, b, **how)
    _check_parts(a, b, ran, given)


# --- attention -----------------------------------------------------------------------------


def _beyond_attention(v: AttentionVerdict, t: AttentionTolerances) -> list:
    """What of O exceeds its limit; a NaN does."""
    wrong, at = [], (v.head, v.row, v.column)
    if v.wrong > t.wrong:
        wrong.append(f"{v.wrong} outputs are NaN or infinite and not the NaN or Inf of the reference, or the reverse")
    if not v.component <= t.limit:
        wrong.append(f"largest error {v.component:.4g} u |V| (limit {t.limit:.3g}) at head, query and column {at}; "
                     f"{v.above} outputs exceed their limit")
    if not v.norm <= t.norm_limit:
        wrong.append(f"norm of the errors {v.norm:.4g} u ||V|| (limit {t.norm_limit:.3g})")
    return wrong


def _attention_derivation(t: AttentionTolerances) -> str:
    """Where the limits come from: the lines of `bitcut attention --tolerance`."""
    rare = (f"one correct result in {1 / t.false_alarm:.3g} exceeds it" if t.known else
            "twice the largest error of the runs")
    return (f"\n  limit: {t.limit:.3g} u |V|, {t.norm_limit:.3g} u ||V|| of all outputs; {rare}"
            f"\n  typical range: up to {t.max:.3g} u |V|, {t.norm_max:.3g} u ||V||, the largest of {t.runs} runs of "
            f"{t.outputs} outputs"
            "\n  |V| is the mean of the magnitudes of V by the exact weights, u the unit roundoff of O")


def assert_attention_close(o: Any, q: Any, k: Any, v: Any, *, row: str, other: Optional[dict] = None,
                           any_tiles: bool = True, runs: int = 0, false_alarm: float = 0.0, seed: int = 1,
                           weak: bool = False, **given):
    """Assert that the errors of O are those of a correct attention kernel.

    There is a limit for each output and one for all together; NaN and infinities exceed both.  Limits come
    from runs of the emulator on these Q, K and V with the keys in a random order.

    Args:    o: the result to test, (..., queries, dim of V)
             q: Q, as for attention()
             k: K
             v: V
             row: a name of attentions(): how the kernel computes
             other: None: O is compared with exact attention; else a dict of the arguments of the attention
                 with which it is compared, such as dict(row="flash-attention-2", o=prefill); "q", "k"
                 and "v" in it replace the matrices
             any_tiles: the kernel may have other tiles, another order of them, and 1 to 4 splits
             runs: number of runs from which limits are computed; 0: 100
             false_alarm: fraction of correct results that may exceed a limit; 0: 1e-6
             seed: seed of the runs
             weak: accept a test that a wrong kernel would pass
             given: all other arguments of attention() except lse
    Returns: None
    Raises:  AssertionError: an error exceeds its limit; the message has the error, the limit and its origin
             TestTooWeak: the test would pass for a wrong kernel
             BadArgument, BadType: as attention()

    >>> x = numpy.float16([[1, 0], [0, 1]])
    >>> o = bitcut.attention(x, x, x, row="pytorch-flash").o
    >>> bitcut.testing.assert_attention_close(o, x, x, x, row="pytorch-flash", runs=12)
    """
    __tracebackhide__ = True
    how = {"row": row, "other": other, **given}
    options = {"any_tiles": any_tiles, "runs": runs, "false_alarm": false_alarm, "seed": seed}
    if "format_o" not in given and look(o, "O").format:
        how["format_o"] = look(o, "O").format
    if other is not None:
        options["other"] = {name: x for name, x in other.items() if name != "o"}
    t = attention_tolerance(q, k, v, **{**how, **options})
    found = t.judge(o, q, k, v, **how)
    wrong = _beyond_attention(found, t)
    if wrong:
        raise AssertionError(f"O is not close to {row}: " + "; ".join(wrong) + _attention_derivation(t))
    if weak:
        return
    if not found.numbers:
        raise TestTooWeak("no reference is a number: nothing was compared; weak=True allows it")
    if found.zeros_accepted:
        raise TestTooWeak("an O of zeros would pass: the errors of a correct kernel are as large as O; weak=True "
                          "allows it")
