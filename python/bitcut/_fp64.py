# SPDX-License-Identifier: BSD-3-Clause
"""FP64 GEMMs by a scheme: the matrices of a struct bitcut_gemm, and what ran."""

from __future__ import annotations

from typing import Any, Optional

from . import _arrays
from ._gemm import Operand, _word, integer, line_of, real
from ._library import BadArgument, BadType, byref, fresh_gemm, lib, name_of, read

# What a GEMM with a scheme has besides A, B and D.
TAKEN = ("scheme", "unit", "parts", "c", "alpha", "beta", "format_a", "format_b", "format_c", "copy")


class Problem64:
    """A struct bitcut_gemm with a scheme, `struct`, and the arrays that it points to."""

    place = offsets = None

    def __init__(self, a, b, c=None, d=None, *, scheme=None, unit=None, parts=None, alpha=1.0,
                 beta=None, format_a=None, format_b=None, format_c=None, copy=False,
                 writes=False):
        self.struct = g = fresh_gemm()
        if scheme is not None:
            line = f"{_word(scheme, 'scheme')}@{_word(unit, 'unit')}"
            line += f",parts={integer(parts, 'parts')}" if parts is not None else ""
            if not lib.bitcut_scheme_find(scheme.encode()):
                raise BadArgument(f"{scheme}: unknown scheme; bitcut.schemes() has all")
            read(lib.bitcut_gemm_read, byref(g), line.encode())
        operands = [Operand(x, name, format, copy, wide=True)
                    for x, name, format in ((a, "A", format_a), (b, "B", format_b),
                                            (c, "C", format_c)) if x is not None]
        (g.m, columns), (g.k, g.n) = operands[0].shape, operands[1].shape
        if g.k != columns:
            raise BadArgument(f"A is {g.m} x {columns} and B {g.k} x {g.n}: they do not multiply")
        batches = {o.batch for o in operands if o.batch is not None}
        if len(batches - {1}) > 1:
            raise BadArgument(f"batches of {sorted(batches)} matrices do not fit together")
        self.is_batch = bool(batches)
        g.count = max(batches) if batches and 0 not in batches else int(not batches)
        shape = ((g.count,) if self.is_batch else ()) + (g.m, g.n)
        if c is not None and operands[2].shape != shape[-2:]:
            raise BadArgument(f"C is {operands[2].view.shape}, not {shape}")
        g.alpha_f64 = real(alpha, "alpha")
        g.beta_f64 = real((c is not None) if beta is None else beta, "beta")
        if c is None and g.beta_f64 != 0:
            raise BadArgument("beta, and no C")
        self.result = _arrays.empty(shape, "f64") if writes and d is None else d
        self.d = Operand(self.result, "D", None, False, writes, wide=True)
        if self.d.view.shape != shape:
            raise BadArgument(f"D is {self.d.view.shape}, not {shape}")
        if self.d.format != "f64":
            raise BadType(f"D: an array of {self.d.format}; the result of an FP64 GEMM is float64")
        for operand, matrix in zip(operands + [self.d], (g.a, g.b, *([g.c] if c is not None else []),
                                                         g.d)):
            operand.fill(matrix)
        self.keep = [a, b, c, self.result] + [o.view for o in operands + [self.d]]

    def products(self) -> int:
        g = self.struct
        return g.count * g.m * g.n * max(g.k, 1) * 64


def problem(a: Any, b: Any, given: dict, *, d: Optional[Any] = None, writes=False) -> Problem64:
    """Of the keyword arguments of gemm(), those that are given."""
    unknown = sorted(name for name in given if name not in TAKEN)
    if unknown:
        raise BadArgument(f"{unknown[0]}: of FP32 GEMMs; not with a scheme")
    if given.get("scheme") is not None and given.get("unit") is None:
        raise BadArgument("unit: missing")
    return Problem64(a, b, d=d, writes=writes, **given)


def described64(g) -> dict:
    """How a GEMM with a scheme is computed, by the names of `bitcut gemm --json`."""
    return {"scheme": name_of(g.scheme), "unit": lib.bitcut_unit_name(g.unit).decode(),
            "parts": g.parts, "alpha": g.alpha_f64, "beta": g.beta_f64, "line": line_of(g)}
