# SPDX-License-Identifier: BSD-3-Clause
"""Assertions for tests of kernels.

A test that cannot fail proves nothing.  Both assertions therefore raise TestTooWeak, an
AssertionError, in three cases: a result of zeros would pass; no exact result is a number; or the
low parts of the matrices are all zero, as for small integers, so that a kernel without its
corrections would pass.  ``weak=True`` allows such a test."""

from __future__ import annotations

from typing import Any, Optional

from . import _arrays
from ._arrays import look
from ._calls import Tolerances, explain, gemm, judge, split, tolerance, verify
from ._gemm import OrderLike, Operand
from ._library import BadArgument, Error
from ._tables import _read

__all__ = ["TestTooWeak", "assert_gemm", "assert_gemm_close"]


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
    view = look(x, "word")
    return not any(_arrays.ctypes.string_at(view.address, view.count * view.item))


def _f32_of(x: Any, name: str, format: Optional[str]):
    """Its values, FP32 and row by row; a copy where they are not."""
    operand = Operand(x, name, format, True)
    view = operand.view
    if operand.format != "f32":
        return _arrays.as_f32(view, operand.format, True)
    return view if view.is_dense() else _arrays.contiguous(view)


def _check_words(a: Any, b: Any, ran, formats: dict):
    """That each low word of A and of B is not zero everywhere."""
    for x, name, row in ((a, "A", ran.split), (b, "B", ran.split_b)):
        said = _read("splits")
        if row not in said.names() or said.find(row)["words"] == 1:
            continue
        words = split(_f32_of(x, name, formats.get(f"format_{name.lower()}")), row)
        for i, word in enumerate(words.words):
            if words.levels[i] and i not in words.copies and _is_zero(word):
                raise TestTooWeak(
                    f"word {i + 1} of {row} is zero in all of {name}, whose values have too few "
                    f"bits: a kernel without the products of that word would pass; weak=True "
                    "allows it")


def _too_weak_zero(what: str) -> TestTooWeak:
    return TestTooWeak(f"a D of zeros would pass: {what}; weak=True allows it")


# --- what is asserted ----------------------------------------------------------------------


def _explained(d, a, b, given: dict, seconds: float) -> str:
    """What computed it, if that can be said."""
    if not seconds:
        return ""
    few = {key: given[key] for key in ("c", "alpha", "beta", "format_a", "format_b", "format_c",
                                       "format_d", "copy") if key in given}
    try:
        return "\n  explain: " + explain(d, a, b, seconds=seconds, **few).text
    except Error as error:
        return f"\n  explain: {error}"


def assert_gemm(d: Any, a: Any, b: Any, *, recipe: str, unit: str, weak: bool = False,
                seconds: float = 5.0, **given):
    """D has every bit of gemm() with the other arguments, which are gemm()'s.  The message has the
    number of outputs that differ, the first of them, in hex and decoded, and
    the explanation that bitcut finds in `seconds` (0: none)."""
    found = verify(d, a, b, recipe=recipe, unit=unit, **given)
    if not found:
        raise AssertionError(str(found) + _explained(d, a, b, given, seconds))
    if weak:
        return
    if not found.compared:
        raise TestTooWeak("D has no elements; weak=True allows it")
    _check_words(a, b, found, given)
    zeros = _zeros(Operand(d, "D", given.get("format_d"), given.get("copy", False)))
    if verify(zeros, a, b, recipe=recipe, unit=unit, **given):
        raise _too_weak_zero("the right result is zero everywhere")


def _derivation(t: Tolerances, false_alarm: float, order: OrderLike) -> str:
    k = "k in any order" if order == "any" else "k in the order of the recipe, or as given"
    each = f"{t.with_underflow:.3g} u |A||B| and what underflows" + (
        f", and {t.limit:.3g} u |A||B|," if t.known else "")
    return (f"\n  limits: {each} at each output, u = 2^-24: the largest error "
            f"of {t.runs} runs of {t.outputs} outputs, {k}, was {t.max:.3g}, and its tail gives "
            f"the limit that one correct result in {1 / (false_alarm or 1e-6):.3g} is above; "
            f"{t.norm_limit:.3g} u ||A|| ||B|| of all outputs, likewise, the largest was "
            f"{t.norm_max:.3g}; for certain {t.bound:.3g} u |A||B|, as if every rounding did "
            f"its worst, and what underflows, {t.underflow:.3g} u |A||B| at most in the runs")


def _beyond(v, t: Tolerances) -> list:
    """What of D is above its limit; a NaN is."""
    wrong = []
    if v.wrong > t.wrong:
        wrong.append(f"{v.wrong:.0f} outputs are NaN or infinite where the exact result is not, "
                     "or the other way about")
    if t.known and not v.component <= t.limit:
        wrong.append(f"an output errs by {v.component:.4g} u |A||B|, which is above "
                     f"{t.limit:.3g}")
    elif v.above:
        wrong.append(f"an output errs by {v.with_underflow:.4g} u |A||B| more than what "
                     f"underflows, which is above {t.with_underflow:.3g}")
    if t.norm_known and not v.norm <= t.norm_limit:
        wrong.append(f"all outputs together err by {v.norm:.4g} u ||A|| ||B||, which is above "
                     f"{t.norm_limit:.3g}")
    if not (v.accepted or v.wrong or wrong):
        wrong.append(f"all outputs together err by more than {t.norm_with_underflow:.3g} u "
                     "||A|| ||B|| and what underflows")
    return wrong


def assert_gemm_close(d: Any, a: Any, b: Any, *, recipe: str, unit: str,
                      order: OrderLike = "any", runs: int = 0, false_alarm: float = 0.0, seed: int = 1,
                      weak: bool = False, seconds: float = 5.0, **given):
    """The errors of D, FP32, are within the limits that tolerance() computes for these matrices,
    for the recipe on the unit: at each output and for all together.  NaN and infinities do not
    pass.  A correct D in the order of the recipe passes if the runs have all outputs, which is
    so up to 2^20 products with `order` the GEMM's own.  With k in a random order it fails with a
    probability of at most `false_alarm` (0: 1e-6) for each limit, as estimated from 100 runs.
    With another order its error may be larger than in the orders that were tried.  The message
    has the outputs above a limit, the source of the limits, and the explanation of D that bitcut
    finds in `seconds`."""
    if Operand(d, "D", given.get("format_d"), given.get("copy", False)).format != "f32":
        raise BadArgument("D: not FP32: limits are of FP32 results; compare bits instead")
    t = tolerance(a, b, recipe=recipe, unit=unit, order=order, runs=runs, false_alarm=false_alarm,
                  seed=seed, **given)
    how = {"recipe": recipe, "unit": unit, **given}
    if order != "any":
        how["order"] = order
    v = t.judge(d, a, b, **{**how, "order": order})
    zeros = _zeros(Operand(d, "D", given.get("format_d"), given.get("copy", False)))
    of_zeros = judge(zeros, a, b, **how)
    wrong = _beyond(v, t)
    if wrong:
        raise AssertionError(f"D is not close to {recipe} on {unit}: " + "; ".join(wrong)
                             + _derivation(t, false_alarm, order)
                             + _explained(d, a, b, given, seconds))
    if weak:
        return
    if of_zeros.wrong >= look(d, "D").count:
        raise TestTooWeak("no exact result is a number: nothing was compared; weak=True allows "
                          "it")
    if v.zeros_accepted:
        raise _too_weak_zero("exact results are within the limits of zero")
    ran = gemm(a, b, **how)
    _check_words(a, b, ran, given)
