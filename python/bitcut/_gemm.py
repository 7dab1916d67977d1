# SPDX-License-Identifier: BSD-3-Clause
"""struct bitcut_gemm from keyword arguments, and back."""

from __future__ import annotations

import functools
import operator
from typing import Any, Mapping, Optional, Union

from . import _arrays, _device, _tables
from ._arrays import View, look
from ._library import (DIMENSION_MAX, GEMM_MAX, BadArgument, BadType, byref, ctypes, format_row, fresh_gemm,
                       lib, name_of, read, text)

OrderLike = Union[None, str, Mapping[str, Any]]


def integer(value: Any, name: str, most: int = 2**31 - 1, least: int = 0) -> int:
    """An integer that C holds: a count, unless `least` is below 0."""
    try:
        n = operator.index(value)
    except TypeError:
        raise BadType(f"{name}: {type(value).__name__} is no integer") from None
    if not least <= n <= most:
        raise BadArgument(f"{name}: {n} is not {least} to {most}")
    return n


def real(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadType(f"{name}: {type(value).__name__} is no number") from None
    except OverflowError:
        raise BadArgument(f"{name}: larger than any number of binary64") from None


def _f32(value: Any, name: str) -> int:
    """The FP32 encoding nearest to a number."""
    wide, to = ctypes.c_double(real(value, name)), ctypes.c_uint32()
    _arrays.convert(ctypes.addressof(to), "f32", ctypes.addressof(wide), "f64", 1)
    return to.value


def _f32_array(values):
    """An array of FP32 encodings that holds these numbers."""
    to = _arrays.Array((len(values),), "f32", "f4")
    for i, value in enumerate(values):
        ctypes.c_uint32.from_address(ctypes.addressof(to._bytes) + 4 * i).value = _f32(value, "factor")
    return to


def _number(encoding: int) -> float:
    narrow, to = ctypes.c_uint32(encoding), ctypes.c_double()
    _arrays.convert(ctypes.addressof(to), "f64", ctypes.addressof(narrow), "f32", 1)
    return to.value


# --- how it is computed --------------------------------------------------------------------


def _word(value: Any, name: str) -> str:
    """A name in a line of names."""
    text(value, name)
    if not value or any(c in value for c in ",=@"):
        raise BadArgument(f"{name}: {value!r} is no name")
    return value


def order_line(order: OrderLike) -> str:
    """The line that --order takes, of a dict of the fields of struct bitcut_order."""
    if isinstance(order, str):
        return order
    if not isinstance(order, Mapping):
        raise BadType(f"order: {type(order).__name__} is neither a line nor a dict")
    items = []
    for key, value in order.items():
        name = str(key).replace("_", "-")
        if isinstance(value, bool):
            items += [name] if value else []
        elif isinstance(value, (list, tuple)):
            items.append(f"{name}=" + ".".join(str(integer(x, name)) for x in value))
        elif isinstance(value, str):
            items.append(f"{name}={_word(value, name)}")
        else:
            items.append(f"{name}={integer(value, name)}")
    return ",".join(items)


def _way(recipe, unit, split, split_a, split_b, high, low, sum_rounding, round_seed, scale,
         promote, tile_k, equilibrate, epilogue, start, scaling) -> str:
    line = f"{_word(recipe, 'recipe')}@{_word(unit, 'unit')}"
    for name, value in (("split", split), ("split-a", split_a), ("split-b", split_b),
                        ("high", high), ("low", low), ("sum-rounding", sum_rounding),
                        ("epilogue", epilogue), ("start", start), ("scaling", scaling)):
        line += f",{name}={_word(value, name)}" if value is not None else ""
    for name, value in (("round-seed", round_seed), ("scale", scale), ("promote", promote),
                        ("tile-k", tile_k)):
        line += f",{name}={integer(value, name)}" if value is not None else ""
    return line + (",equilibrate" if equilibrate else "")


def _open(g, recipe, unit):
    """Recipe and unit of a GEMM that may lack one, for what finds it."""
    if recipe is not None:
        g.recipe = lib.bitcut_recipe_find(text(recipe, "recipe"))
        if not g.recipe:  # for its sentence
            read(lib.bitcut_gemm_read, byref(g), (_word(recipe, "recipe") + "@fma/f32").encode())
    if unit is not None:
        g.unit = lib.bitcut_unit_find(text(unit, "unit"), format_row("f16"))
        if not g.unit:
            read(lib.bitcut_gemm_read, byref(g), ("plain@" + _word(unit, "unit")).encode())


STEPS = ("epilogue", "start", "scaling")  # variations that need no recipe


def _step(g, steps):
    """Set the steps of a GEMM whose recipe or unit is open."""
    unit = "fma/f32" if steps["scaling"] != "unit" else "blackwell/tcgen05.m128n8k64.nvf4.f32.e2m1"
    line = f"plain@{unit}" + "".join(f",{name}={_word(value, name)}"
                                     for name, value in steps.items() if value is not None)
    told = fresh_gemm()
    read(lib.bitcut_gemm_read, byref(told), line.encode())
    g.epilogue, g.start, g.scaling = told.epilogue, told.start, told.scaling


def _row(find, value: str, name: str, table: str):
    """A row of the library by its name."""
    row = find(text(value, name))
    if not row:
        raise BadArgument(f"{value}: unknown {name}; bitcut.{table}() has all")
    return row


def _vary(g, split, split_a, split_b, high, low, sum_rounding, round_seed, scale, promote,
          tile_k, equilibrate, epilogue, start, scaling):
    """Variations of a GEMM whose unit is left to the device."""
    if epilogue or start or scaling:
        raise BadArgument("a device computes D = alpha A B + beta C; give recipe and unit for "
                          "the emulator to compute epilogue, start and scaling")
    for name, value in (("split_a", split_a or split), ("split_b", split_b or split)):
        if value is not None:
            setattr(g, name, _row(lib.bitcut_split_find, value, "split", "splits"))
    for name, value in (("high", high), ("low", low), ("sum_rounding", sum_rounding)):
        if value is not None:
            setattr(g, name, _row(lib.bitcut_rounding_find, value, "rounding", "roundings"))
    for name, value in (("round_seed", round_seed), ("scale", scale), ("promote", promote),
                        ("tile_k", tile_k)):
        if value is not None:
            setattr(g, name, integer(value, name))
    g.equilibrate = bool(equilibrate)


OF_DEVICES = ("kernel", "any_promotion", "any_slices")  # what of struct bitcut_gemm they alone read


def way(recipe: Optional[str] = None, unit: Optional[str] = None, *, order: OrderLike = None,
        dropped_term: Optional[bool] = None, kernel: Optional[str] = None,
        any_promotion: bool = False, any_slices: bool = False, device: bool = False,
        **variations):
    """A struct bitcut_gemm of what is computed how, without matrices; `device`: by a device,
    which may choose what is open."""
    g = fresh_gemm()
    if recipe is not None and unit is not None:
        read(lib.bitcut_gemm_read, byref(g), _way(recipe, unit, **variations).encode())
    elif device:
        _open(g, recipe, unit)
        _vary(g, **variations)
    else:
        steps = {name: variations.pop(name, None) for name in STEPS}
        if any(x is not None and x is not False for x in (*variations.values(), dropped_term, order)):
            raise BadArgument("variations of a recipe need both recipe and unit")
        _open(g, recipe, unit)
        _step(g, steps)
    if dropped_term is not None:
        g.dropped_term = int(bool(dropped_term))
    if kernel is not None:
        g.kernel = text(kernel, "kernel")
    g.any_promotion, g.any_slices = bool(any_promotion), bool(any_slices)
    if order is not None:
        read(lib.bitcut_order_read, byref(g.order), text(order_line(order), "order"))
    return g


# --- matrices ------------------------------------------------------------------------------


def _format(view: View, format: Optional[str]) -> str:
    if format is None:
        if view.kind == "u1" and view.format is None:
            return "u8"
        if view.format is None:
            raise BadArgument(f"{view.name}: elements of {view.kind} are encodings of some format; "
                              f"format_{view.name.lower()} says which (numbers: astype('f4'))")
        return view.format
    format_row(format)
    if _arrays.element_bytes(format) != view.item or view.format not in (None, format, "f32"):
        raise BadArgument(f"{view.name}: elements of {view.kind} do not hold {format}")
    return format


def _layout(view: View) -> Optional[tuple]:
    """Layout and leading dimension of a matrix; None: the struct cannot say it."""
    (rows, cols), (down, along), item = view.shape[-2:], view.strides[-2:], view.item
    if not view.count:
        return 0, 0
    for layout, (lines, length, across, within) in enumerate(
            ((rows, cols, down, along), (cols, rows, along, down))):
        if length > 1 and within != item:
            continue
        if lines == 1:
            return layout, 0
        if across % item == 0 and across >= length * item:
            return layout, across // item
    return None


def _stride(view: View) -> Optional[int]:
    """Elements from one matrix of a batch to the next."""
    if len(view.shape) == 2 or view.shape[0] == 1 or not view.count:
        return 0
    step = view.strides[0]
    return step // view.item if step >= 0 and step % view.item == 0 else None


class Operand:
    """An array as a struct bitcut_matrix; `on_device`: of a device's memory, too; `wide`: of an
    FP64 GEMM."""

    def __init__(self, x: Any, name: str, format: Optional[str], copy: bool, writes=False,
                 on_device=False, wide=False):
        view = look(x, name, on_device=True)
        if view.device and not on_device:
            if not copy:
                raise BadType(f"{name}: in the memory of {view.device}; copy=True copies it to the "
                              "cpu")
            view = look(_device.to_host(view), name)
        if writes and not isinstance(x, View) and view.source is not x:
            raise BadArgument(f"{name}: only a copy of it can be had, which nobody would see")
        if len(view.shape) not in (2, 3):
            raise BadArgument(f"{name}: {len(view.shape)} dimensions; a matrix has 2, a batch 3")
        if writes and view.readonly:
            raise BadArgument(f"{name}: it cannot be written to")
        if view.kind == "f8" and format is None and not view.device and not wide:
            if writes:
                raise BadType(f"{name}: float64, where D has a format that f32 holds")
            view = _arrays.as_f32(view, "f64", copy)
        self.format, fits = _format(view, format), self._fits(view)
        if not fits and copy and not writes and not view.device:
            view = _arrays.contiguous(view)
            fits = self._fits(view)
        if not fits:
            raise BadArgument(
                f"{name}: strides {view.strides} of elements of {view.item} bytes at address "
                f"{view.address:#x} are neither row-major nor column-major, or not aligned"
                + ("" if writes or view.device else "; copy=True copies it"))
        self.view, self.layout, self.ld, self.stride = view, *fits
        self.shape, self.batch = view.shape[-2:], view.shape[0] if len(view.shape) == 3 else None

    @staticmethod
    def _fits(view: View):
        layout, stride = _layout(view), _stride(view)
        if layout is None or stride is None or (view.count and view.address % view.item):
            return None
        return *layout, stride

    def fill(self, matrix):
        matrix.at = self.view.address or None
        matrix.format, matrix.layout = format_row(self.format), self.layout
        matrix.ld, matrix.stride = self.ld, self.stride


def stays_integer(g, scale_a, scale_b, how) -> bool:
    """Whether the sums of a GEMM are s32, and nothing makes them FP32."""
    unit = lib.bitcut_unit_name(g.unit).decode() if g.unit else ""
    steps = how.get("epilogue") or ""
    return (".s32." in unit and scale_a is None and scale_b is None and
            not any(step in steps for step in ("float", "requantized")))


def _overlap(x: View, y: View) -> bool:
    (a, b), (c, d) = x.extent(), y.extent()
    return a < b and c < d and a < d and c < b


def _same_place(x: Operand, y: Operand) -> bool:
    return (x.view.address, x.view.shape, x.view.strides, x.format) == (
        y.view.address, y.view.shape, y.view.strides, y.format)


def _block(name: str, shape: tuple, lines: int, depth: int, given: Any) -> tuple:
    """Lines and k that share a factor, of an array of factors: (lines, blocks of k)."""
    if given is not None:
        try:
            rows, k = given
        except (TypeError, ValueError):
            raise BadType(f"{name}: a pair of lines and k is needed, such as (1, 128)") from None
        return integer(rows, name, DIMENSION_MAX), integer(k, name, DIMENSION_MAX)
    found = []
    for count, total in zip(shape, (lines, depth)):
        sizes = [0] if count == 1 and total != 1 else [
            x for x in BLOCKS if -(-total // x) == count]
        if len(sizes) != 1 and sizes[:1] != [1]:
            raise BadArgument(f"{name}: factors of {shape[0]} x {shape[1]} blocks for {lines} lines "
                              f"and {depth} k; block_a or block_b says their size, such as "
                              "(1, 128)")
        found.append(sizes[0])
    return tuple(found)


BLOCKS = (1, 16, 32, 64, 128, 256)  # as guess_block() of analysis/cli/epilogue_option.c


class Factors:
    """Factors of A or B: a number, one for each line, or an array with one for each block."""

    def __init__(self, x: Any, name: str, format: Optional[str], copy: bool, lines: int,
                 depth: int, by_columns: bool, block: Any):
        if isinstance(x, (int, float)):
            x = _arrays.look(_f32_array([x]), name)
        view = look(x, name)
        if len(view.shape) < 2:  # of the lines, or of all
            view = _arrays.reshaped(view, (1, view.count) if by_columns else (view.count, 1))
        self.operand = Operand(view, name, format, copy)
        shape = self.operand.shape[::-1] if by_columns else self.operand.shape
        self.block = _block(name, shape, lines, depth, block)
        for count, total, size in zip(shape, (lines, depth), self.block):
            if count != (-(-total // size) if size else 1):
                raise BadArgument(f"{name}: {shape[0]} x {shape[1]} factors do not fit blocks of "
                                  f"{self.block[0]} lines and {self.block[1]} k")

    def fill(self, scales):
        self.operand.fill(scales.at)
        scales.lines, scales.depth = self.block


SPARSITIES = {"dense": 0, "sparse": 1, "compressed": 2}  # enum bitcut_sparsity


class Problem:
    """A struct bitcut_gemm, `struct`, and the arrays that it points to, `keep`.  With `writes`
    or `on_device` they may be on a device, and `place` says where; so it does of `device`, the
    host's own units; else it is None."""

    def __init__(self, a, b, c=None, d=None, *, alpha=1.0, beta=None, format_a=None,
                 format_b=None, format_c=None, format_d=None, copy=False, writes=False,
                 on_device=False, stream=None, device=None, bias=None, bias_rows=False,
                 scale_a=None, scale_b=None, block_a=None, block_b=None, scale_d=1.0,
                 zero_a=0, zero_b=0, zero_d=0, clamp=None, format_bias=None,
                 format_scale_a=None, format_scale_b=None, offsets=None, offsets_k=None,
                 sparse_a=False, positions_a=None, **how):
        operand = functools.partial(Operand, on_device=writes or on_device)
        self.a, self.b = operand(a, "A", format_a, copy), operand(b, "B", format_b, copy)
        self.c = operand(c, "C", format_c, copy) if c is not None else None
        self.place, operands = None, [o for o in (self.a, self.b, self.c) if o]
        if device is not None:
            self.place = _device.HostPlace(device, operands, stream)
        elif any(o.view.device for o in operands):
            self.place = _device.Place(operands, stream)
        there = [name for name in OF_DEVICES if how.get(name)] + ["stream"] * (stream is not None)
        if there and not self.place:
            raise BadArgument(f"{', '.join(there)}: of arrays on a GPU alone, or with device='cpu'")
        if how.get("any_slices") is None:  # a GPU chooses where no order is given
            how["any_slices"] = bool(self.place) and device is None and how.get("order") is None
        self.struct = g = way(**how, device=self.place is not None)
        (g.m, columns), (g.k, g.n) = self.a.shape, self.b.shape
        compressed = positions_a is not None and 2 * columns == g.k != columns
        if g.k != columns and not compressed:
            raise BadArgument(f"A is {g.m} x {columns} and B {g.k} x {g.n}: they do not multiply")
        g.sparsity = SPARSITIES["compressed" if compressed else "sparse" if sparse_a or positions_a is not None
                                else "dense"]
        batches = {o.batch for o in operands if o.batch is not None}
        if len(batches - {1}) > 1:
            raise BadArgument(f"batches of {sorted(batches)} matrices do not fit together")
        self.is_batch = bool(batches)
        g.count = max(batches) if batches and 0 not in batches else int(not batches)
        self.positions = self._take_positions(positions_a, copy)
        self.offsets = None
        if offsets is not None and offsets_k is not None:
            raise BadArgument("offsets, offsets_k: groups of rows or of k, not both")
        if offsets is not None:
            self._take_groups(offsets)
        if offsets_k is not None:
            self._take_groups_of_k(offsets_k)
        shape = ((g.count,) if self.is_batch else ()) + (g.m, g.n)
        self._check_c(shape, beta)
        g.alpha = _f32(alpha, "alpha")
        g.beta = _f32((c is not None) if beta is None else beta, "beta")
        if writes and d is None:
            made = format_d or ("s32" if stays_integer(g, scale_a, scale_b, how) else "f32")
            d = self.place.empty(shape, made, "out") if self.place else _arrays.empty(shape, made)
        self.d = self.result = None
        if d is not None:
            self.result = d
            self.d = operand(d, "D", format_d, copy and not writes, writes)
            if writes and self.d.view.device != (self.place.memory if self.place else None):
                raise BadArgument(f"D is in the memory of {self.d.view.device or 'the host'}, and "
                                  f"A in that of {self.a.view.device or 'the host'}")
            if self.d.view.shape != shape:
                raise BadArgument(f"D is {self.d.view.shape}, not {shape}")
            self.d.fill(g.d)
        elif format_d:
            g.d.format = format_row(format_d)
        if writes:
            self._check_overlap()
        for operand, matrix in ((self.a, g.a), (self.b, g.b), (self.c, g.c)):
            if operand:
                operand.fill(matrix)
        self._extend(bias, bias_rows, scale_a, scale_b, block_a, block_b, scale_d, clamp,
                     format_bias, format_scale_a, format_scale_b, copy)
        for name, x in (("zero_a", zero_a), ("zero_b", zero_b), ("zero_d", zero_d)):
            setattr(g, name, integer(x, name, least=-2**31))
        self.keep = [a, b, c, d, self.extras, self.offsets, positions_a, self.positions] + [o.view for o in operands + [self.d] if o]

    def _take_positions(self, positions, copy):
        """The positions of the kept elements of A, for the struct; None: there are none."""
        if self.struct.sparsity and self.place:
            raise BadArgument("sparse_a, positions_a: a device does not take a sparse A")
        if positions is None:
            return None
        o = Operand(positions, "positions_a", "u8", copy)
        if o.shape != (self.struct.m, self.struct.k // 2):
            raise BadArgument(f"positions_a: {o.shape[0]} x {o.shape[1]}, not {self.struct.m} x "
                              f"{self.struct.k // 2}: one for each kept element of A")
        if o.batch not in (None, 1, self.struct.count):
            raise BadArgument(f"positions_a: {o.batch} matrices, but the batch has {self.struct.count}")
        o.fill(self.struct.positions)
        return o

    def _take_groups(self, offsets):
        """The ends of groups of rows: A, C and D have the rows of all."""
        if self.place:
            raise BadArgument("offsets: a device does not take groups")
        if any(o and o.batch is not None for o in (self.a, self.c)):
            raise BadArgument("offsets: A, C and D have 2 dimensions, the rows of all groups")
        count = self._take_ends(offsets, "offsets")
        if self.b.batch not in (None, 1, count):
            raise BadArgument(f"offsets: {count} groups, but B has {self.b.batch} matrices")
        self.is_batch = False

    def _take_groups_of_k(self, offsets):
        """The ends of groups of k: D has a matrix for each, and C may."""
        if self.place:
            raise BadArgument("offsets_k: a device does not take groups")
        if self.a.batch is not None or self.b.batch is not None:
            raise BadArgument("offsets_k: A and B have 2 dimensions, the k of all groups")
        count = self._take_ends(offsets, "offsets_k")
        if self.c and self.c.batch not in (None, 1, count):
            raise BadArgument(f"offsets_k: {count} groups, but C has {self.c.batch} matrices")
        self.is_batch = self.struct.offsets_of_k = True

    def _take_ends(self, offsets, name) -> int:
        """The ends of groups, for the struct, and their number."""
        ends = [integer(x, name) for x in (offsets.tolist() if hasattr(offsets, "tolist")
                                           else offsets)]
        self.struct.count = len(ends)
        self.offsets = (_arrays.ctypes.c_int32 * max(len(ends), 1))(*ends)
        self.struct.offsets = _arrays.ctypes.addressof(self.offsets)
        return len(ends)

    def _extend(self, bias, bias_rows, scale_a, scale_b, block_a, block_b, scale_d, clamp,
                format_bias, format_scale_a, format_scale_b, copy):
        """What the epilogue and the scaling read."""
        g, self.extras = self.struct, []
        if bias is not None:
            view = look(bias, "bias")
            if len(view.shape) == 1:
                view = _arrays.reshaped(view, (1, view.count))
            if bias_rows and view.shape[-1] == 1:
                view = _arrays.reshaped(view, (*view.shape[:-2], 1, view.shape[-2]))
            o = Operand(view, "bias", format_bias, copy)
            if o.shape != (1, g.m if bias_rows else g.n):
                count = g.m if bias_rows else g.n
                raise BadArgument(f"bias: {o.shape[-1]} elements, not {count}, one for each "
                                  f"{'row' if bias_rows else 'column'} of D" if o.shape[0] == 1 else
                                  f"bias: shape {tuple(view.shape)}; a batch has ({g.count}, 1, {count})")
            o.fill(g.bias)
            g.bias_rows = bool(bias_rows)
            self.extras += [bias, o]
        for x, name, format, block, lines, columns, to in (
                (scale_a, "scale_a", format_scale_a, block_a, g.m, False, g.scale_a),
                (scale_b, "scale_b", format_scale_b, block_b, g.n, True, g.scale_b)):
            if x is not None:
                factors = Factors(x, name, format, copy, lines, g.k, columns, block)
                factors.fill(to)
                self.extras += [x, factors]
        g.scale_d = _f32(scale_d, "scale_d")
        if clamp is not None:
            try:
                low, high = clamp
            except (TypeError, ValueError):
                raise BadType("clamp: a pair of numbers is needed, such as (0, 6)") from None
            g.clamp_low, g.clamp_high = _f32(low, "clamp"), _f32(high, "clamp")
        if self.place and self.extras:
            raise BadArgument("a device computes D = alpha A B + beta C, without a bias and "
                              "without factors; the emulator takes them")

    def views(self) -> list:
        return [o.view for o in (self.a, self.b, self.c, self.d) if o]

    def products(self) -> int:
        """Of A B, of all GEMMs."""
        g = self.struct
        return g.count * g.m * g.n * max(g.k, 1)

    def _check_c(self, shape, beta):
        if self.c is None:
            if beta is not None and real(beta, "beta") != 0:
                raise BadArgument("beta, and no C")
        elif self.c.shape != shape[-2:]:
            raise BadArgument(f"C is {self.c.view.shape}, not {shape}")

    def _check_overlap(self):
        for operand in (self.a, self.b, self.c):
            if not operand or not _overlap(operand.view, self.d.view):
                continue
            if operand is not self.c or not _same_place(operand, self.d):
                raise BadArgument(f"D overlaps {operand.view.name}, or lies between its elements")


# --- what ran ------------------------------------------------------------------------------


def _evidence(unit: str) -> str:
    return _tables._read("units").find(unit)["evidence"]


def _term_units(g) -> list:
    units, i = [], 0
    while (row := lib.bitcut_gemm_unit(byref(g), i)):
        units.append(lib.bitcut_unit_name(row).decode())
        i += 1
    return units


def _epilogue_of(g) -> str:
    """The name of its steps, or the steps."""
    names = [row["name"] for row in _tables._read("steps")]
    steps = [names[i] for i in g.epilogue[:g.epilogue[:].index(0)]] or ["fused"]
    rows = {tuple(row["steps"]): row["name"] for row in _tables._read("epilogues")}
    return rows.get(tuple(steps), "+".join(steps))


def described(g) -> dict:
    """How a GEMM with nothing open is computed, by the names of `bitcut gemm --json`."""
    units, o, splits = _term_units(g), g.order, _tables._read("splits")
    unit = lib.bitcut_unit_name(g.unit).decode()
    part = _tables._read("units").find(unit)["a"]  # of a recipe that has no split
    split = name_of(g.split_a) or part
    row = next((row for row in splits if split in (row["name"], *row["formats"])
                and (g.split_a or row["parts"] == 1)), {"high": "rn", "low": ""})
    said = {"recipe": name_of(g.recipe), "unit": unit, "evidence": _evidence(unit),
            "split": split, "split_b": name_of(g.split_b) or part,
            "high": name_of(g.high) or row["high"],
            "low": name_of(g.low) or row["low"] or name_of(g.high) or row["high"],
            "sum_rounding": name_of(g.sum_rounding), "round_seed": g.round_seed,
            "scale": g.scale, "equilibrate": g.equilibrate,
            "terms": len(units), "epilogue": _epilogue_of(g),
            "start": _tables._read("starts")[g.start]["name"],
            "scaling": _tables._read("scalings")[g.scaling]["name"],
            "promote": g.promote, "tile_k": g.tile_k, "split_k": o.slices, "tile": o.tile,
            "partial_first": o.partial_first, "cut": o.cut, "balance_tail": o.balance_tail, "lanes": o.lanes,
            "chunk": o.chunk, "unroll": o.unroll, "narrow": o.narrow,
            "remainder_in_lane": o.remainder_in_lane, "narrow_apart": o.narrow_apart, "slices_ascending": o.slices_ascending,
            "reduction": _tables._read("reductions")[o.reduction]["name"],
            "lane_order": ".".join(map(str, o.lane_order[:o.lanes])) if any(o.lane_order) else None,
            "partial_format": name_of(o.partial_format) or "f32",
            "partial_store": o.partial_store, "alpha": _number(g.alpha),
            "beta": _number(g.beta)}
    if set(units) != {unit}:
        said["units"] = units
    return said


def line_of(g) -> str:
    """It as a line that says how it is computed."""
    line = ctypes.create_string_buffer(GEMM_MAX)
    status = lib.bitcut_gemm_write(line, byref(g))
    return "" if status else line.value.decode()
