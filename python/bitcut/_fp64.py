# SPDX-License-Identifier: BSD-3-Clause
"""FP64 GEMMs by a scheme: the matrices of a struct bitcut_gemm, and what ran."""

from __future__ import annotations

import functools
from typing import Any, Optional

from . import _arrays, _device
from ._gemm import Operand, _word, format_row, integer, line_of, real
from ._library import BadArgument, BadType, byref, fresh_gemm, lib, name_of, read, text

# What a GEMM with a scheme has besides A, B and D; the last ones on a device.
TAKEN = ("scheme", "unit", "parts", "c", "alpha", "beta", "format_a", "format_b", "format_c", "copy",
         "kernel", "stream", "device")


def _row(scheme: str):
    """The row of a scheme."""
    row = lib.bitcut_scheme_find(text(scheme, "scheme"))
    if not row:
        raise BadArgument(f"{scheme}: unknown scheme; bitcut.schemes() has all")
    return row


def _open(scheme, unit, parts, kernel):
    """A struct bitcut_gemm with a scheme; a device has the unit if it is left open."""
    g = fresh_gemm()
    if scheme is None:
        return g
    g.scheme = _row(scheme)
    if unit is not None:
        line = f"{_word(scheme, 'scheme')}@{_word(unit, 'unit')}"
        line += f",parts={integer(parts, 'parts')}" if parts is not None else ""
        read(lib.bitcut_gemm_read, byref(g), line.encode())
    elif parts is not None:
        g.parts = integer(parts, "parts")
    if kernel is not None:
        g.kernel = text(kernel, "kernel")
    return g


class Problem64:
    """A struct bitcut_gemm with a scheme, `struct`, and the arrays that it points to.  `place` is as
    that of a Problem."""

    offsets = None

    def __init__(self, a, b, c=None, d=None, *, scheme=None, unit=None, parts=None, alpha=1.0,
                 beta=None, format_a=None, format_b=None, format_c=None, copy=False,
                 writes=False, on_device=False, kernel=None, stream=None, device=None):
        self.struct = g = _open(scheme, unit, parts, kernel)
        operand = functools.partial(Operand, wide=True, on_device=writes or on_device)
        operands = [operand(x, name, format, copy)
                    for x, name, format in ((a, "A", format_a), (b, "B", format_b),
                                            (c, "C", format_c)) if x is not None]
        self.a, self.b, self.c = *operands, *[None] * (3 - len(operands))
        self.place = self._place(operands, device, stream)
        if not self.place and (kernel is not None or stream is not None):
            raise BadArgument(f"{'stream' if kernel is None else 'kernel'}: of arrays on a GPU alone")
        if scheme is not None and unit is None and not self.place:
            raise BadArgument("unit: missing")
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
        self.result = self._empty(shape) if writes and d is None else d
        self.d = None
        g.d.format = format_row("f64")
        if self.result is not None:
            self._take_d(operand(self.result, "D", None, copy and not writes, writes), shape, writes)
        for one, matrix in zip(operands, (g.a, g.b, g.c)):
            one.fill(matrix)
        self._views = [o.view for o in operands + [self.d] if o]
        self.keep = [a, b, c, self.result, *self._views]

    def _take_d(self, d, shape, writes):
        memory = self.place.memory if self.place else None
        if writes and d.view.device != memory:
            raise BadArgument(f"D is in the memory of {d.view.device or 'the host'}, and A in that "
                              f"of {memory or 'the host'}")
        if d.view.shape != shape:
            raise BadArgument(f"D is {d.view.shape}, not {shape}")
        if d.format != "f64":
            raise BadType(f"D: an array of {d.format}; the result of an FP64 GEMM is float64")
        d.fill(self.struct.d)
        self.d = d

    @staticmethod
    def _place(operands, device, stream):
        if device is not None:
            return _device.HostPlace(device, operands, stream)
        return _device.Place(operands, stream) if any(o.view.device for o in operands) else None

    def _empty(self, shape):
        return self.place.empty(shape, "f64", "out") if self.place else _arrays.empty(shape, "f64")

    def views(self):
        return self._views

    def products(self) -> int:
        g = self.struct
        return g.count * g.m * g.n * max(g.k, 1) * 64


def problem(a: Any, b: Any, given: dict, *, d: Optional[Any] = None, **more) -> Problem64:
    """Of the keyword arguments of gemm(), those that are given."""
    unknown = sorted(name for name in given if name not in TAKEN)
    if unknown:
        raise BadArgument(f"{unknown[0]}: of FP32 GEMMs; not with a scheme")
    return Problem64(a, b, d=d, **more, **given)


def described64(g) -> dict:
    """How a GEMM with a scheme is computed, by the names of `bitcut gemm --json`."""
    return {"scheme": name_of(g.scheme), "unit": lib.bitcut_unit_name(g.unit).decode(),
            "parts": g.parts, "alpha": g.alpha_f64, "beta": g.beta_f64, "line": line_of(g)}
