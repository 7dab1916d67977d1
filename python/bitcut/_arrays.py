# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of anyone: where their elements are, and what they are.  Nothing is copied here but
where a caller says so."""

from __future__ import annotations

import ctypes
import math
import sys
import weakref
from typing import Any, Optional, Sequence

from ._library import (NEAREST, DIMENSION_MAX, BadArgument, BadType, check, format_row, lib, numpy)

# Element types of numbers, and what ml_dtypes calls the formats that NumPy lacks.
FLOATS = {"f2": "f16", "f4": "f32", "f8": "f64"}
ML_DTYPES = {"bfloat16": "bf16", "float8_e5m2": "e5m2", "float8_e4m3fn": "e4m3",
             "float8_e5m2fnuz": "e5m2fnuz", "float8_e4m3fnuz": "e4m3fnuz",
             "float6_e3m2fn": "e3m2", "float6_e2m3fn": "e2m3", "float4_e2m1fn": "e2m1"}
BUFFER_TYPES = {"e": "f2", "f": "f4", "d": "f8", "B": "u1", "H": "u2", "I": "u4", "L": "u8",
                "Q": "u8"}
INTEGERS = {"i1": "s8", "i2": "s16", "i4": "s32"}
TAKEN = "f4, f2, f8 whose values FP32 holds, and u1, u2, u4 as encodings of a format that is given"


def element_bytes(format: str) -> int:
    """Bytes of an encoding in an array."""
    from ._tables import formats
    return (formats().find(format)["held_in"] + 7) // 8


class _Buffer(ctypes.Structure):
    """Py_buffer."""
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object),
                ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
                ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
                ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)), ("internal", ctypes.c_void_p)]


class _Held:
    """A buffer of another object, which stays where it is as long as this does."""

    def __init__(self, view: memoryview):
        # Of a memoryview, which any buffer has: its object cannot let go of it meanwhile.
        self.view, self.buffer = view, _Buffer()
        get = ctypes.pythonapi.PyObject_GetBuffer
        get.argtypes, get.restype = [ctypes.py_object, ctypes.POINTER(_Buffer),
                                     ctypes.c_int], ctypes.c_int
        get(view, ctypes.byref(self.buffer), 0x018)  # PyBUF_STRIDES
        self.address = self.buffer.buf or 0
        release = ctypes.pythonapi.PyBuffer_Release
        release.argtypes, release.restype = [ctypes.POINTER(_Buffer)], None
        weakref.finalize(self, release, ctypes.byref(self.buffer))


class View:
    """Where the elements of an array are: `address` of the first, `shape`, `strides` in bytes;
    `kind` as "f4" or "u2", `format` as bitcut names it or None for encodings that do not say.
    `held` keeps it there.  `device` is None, or as "cuda:0" where it is in the memory of one;
    `stream` is then the one on which it is computed, or None."""

    device = stream = None

    def __init__(self, name, address, shape, strides, kind, format, readonly, held):
        self.name, self.address, self.shape, self.kind = name, address, tuple(shape), kind
        self.format, self.readonly, self.held = format, readonly, held
        self.item = int(kind[1:])
        self.strides = tuple(strides) if strides is not None else dense(shape, self.item)

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    def extent(self) -> tuple[int, int]:
        """The bytes from its lowest to behind its highest."""
        if not self.count:
            return self.address, self.address
        ends = [(n - 1) * s for n, s in zip(self.shape, self.strides)]
        return (self.address + sum(e for e in ends if e < 0),
                self.address + sum(e for e in ends if e > 0) + self.item)

    def is_dense(self) -> bool:
        """Whether it is row by row, without gaps."""
        return not self.count or all(n == 1 or s == want for n, s, want in zip(
            self.shape, self.strides, dense(self.shape, self.item)))


def dense(shape: Sequence[int], item: int) -> tuple[int, ...]:
    strides = []
    for n in reversed(shape):
        strides.insert(0, item)
        item *= max(n, 1)
    return tuple(strides)


def _typed(name: str, typestr: str, dtype: Optional[str]) -> tuple[str, Optional[str]]:
    """Kind and format of an element type."""
    if not isinstance(typestr, str) or len(typestr) < 2:
        raise BadType(f"{name}: its element type is none: {typestr!r}")
    order, kind = typestr[0], typestr[1:]
    if dtype in ML_DTYPES:
        return "u" + kind[1:], ML_DTYPES[dtype]
    if kind in INTEGERS and (order not in "<>" or kind == "i1" or
                             (order == "<") == (sys.byteorder == "little")):
        return kind, INTEGERS[kind]
    if kind in FLOATS or kind in ("u1", "u2", "u4", "u8"):
        if order in "<>" and kind[1:] != "1" and (order == "<") != (sys.byteorder == "little"):
            raise BadType(f"{name}: elements are of the other byte order; convert them first")
        return kind, FLOATS.get(kind)
    raise BadType(f"{name}: elements of type {dtype or typestr}; bitcut takes {TAKEN}")


def _numbers(name, what, values):
    if not all(isinstance(x, int) and not isinstance(x, bool) for x in values):
        raise BadType(f"{name}: its {what} are not integers")
    return tuple(values)


def _of_interface(name: str, x: Any, interface: Any) -> Optional[View]:
    """What __array_interface__ says, or that of CUDA; None: where the data is, only the buffer
    says."""
    if not isinstance(interface, dict) or not {"shape", "typestr"} <= interface.keys():
        raise BadType(f"{name}: its array interface is none")
    data = interface.get("data")
    if not isinstance(data, tuple):
        return None
    if len(data) != 2 or not (data[0] is None or isinstance(data[0], int)):
        raise BadType(f"{name}: its array interface says no address")
    if interface.get("mask") is not None or type(x).__name__ == "MaskedArray":
        raise BadType(f"{name}: a masked array; fill it first")
    shape = _numbers(name, "sizes", interface["shape"])
    strides = interface.get("strides")
    if strides is not None:
        strides = _numbers(name, "strides", strides)
        if len(strides) != len(shape):
            raise BadType(f"{name}: {len(shape)} sizes and {len(strides)} strides")
    if any(n < 0 for n in shape):
        raise BadArgument(f"{name}: a size is negative")
    dtype = getattr(getattr(x, "dtype", None), "name", None)
    kind, format = _typed(name, interface["typestr"], dtype)
    view = View(name, data[0] or 0, shape, strides, kind, format, bool(data[1]), x)
    if view.count and not view.address:
        raise BadArgument(f"{name}: its elements are nowhere")
    return view


def _of_buffer(name: str, x: Any) -> View:
    try:
        view = memoryview(x)
    except (TypeError, BufferError, ValueError):
        raise BadType(f"{name}: {type(x).__name__} is no array: it has no array "
                      "interface, DLPack or buffer") from None
    letter = view.format.lstrip("@=<")
    if letter in "bhi":
        held = _Held(view)
        kind = f"i{view.itemsize}"
        return View(name, held.address, view.shape, view.strides, kind, INTEGERS[kind],
                    view.readonly, held)
    if letter not in BUFFER_TYPES:
        raise BadType(f"{name}: elements of type {view.format}; bitcut takes {TAKEN}")
    kind = BUFFER_TYPES[letter][0] + str(view.itemsize)
    held = _Held(view)
    return View(name, held.address, view.shape, view.strides, kind, FLOATS.get(kind),
                view.readonly, held)


def _of_cuda(name: str, x: Any, interface: Any) -> View:
    """What __cuda_array_interface__ says, version 2 or 3."""
    view = _of_interface(name, x, interface)
    if view is None:
        raise BadType(f"{name}: its array interface is none")
    view.device, view.stream = _device_of(name, x) or "cuda:0", interface.get("stream")
    if view.stream is not None and (type(view.stream) is not int or view.stream <= 0):
        raise BadArgument(f"{name}: its stream is none: {view.stream!r}")
    return view


# --- DLPack (github.com/dmlc/dlpack, dlpack.h) ------------------------------------------------


class _Tensor(ctypes.Structure):
    """DLTensor."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


READ_ONLY = 1  # in flags
HOSTS = {1, 3}  # the types of device whose memory the processor reads: its own, and pinned
DEVICES = {2: "cuda", 10: "hip", 13: "cuda"}  # and managed memory of CUDA
# Kind and format by code and bits.
DL_TYPES = {(0, 8): ("i1", "s8"), (0, 16): ("i2", "s16"), (0, 32): ("i4", "s32"), (1, 8): ("u1", None), (1, 16): ("u2", None), (1, 32): ("u4", None),
            (1, 64): ("u8", None), (2, 16): ("f2", "f16"), (2, 32): ("f4", "f32"),
            (2, 64): ("f8", "f64"), (4, 16): ("u2", "bf16"), (10, 8): ("u1", "e4m3"),
            (11, 8): ("u1", "e4m3fnuz"), (12, 8): ("u1", "e5m2"), (13, 8): ("u1", "e5m2fnuz")}


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _device_of(name: str, x: Any) -> Optional[str]:
    """Its device as bitcut calls it; None: memory of the host, or it does not say."""
    say = getattr(x, "__dlpack_device__", None)
    if say is None:
        return None
    try:
        kind, number = map(int, say())
    except Exception as error:  # whatever an array's author gives or raises
        raise BadType(f"{name}: its __dlpack_device__ gives no type and number: "
                      f"{_first_line(error)}") from None
    if kind in HOSTS:
        return None
    if kind not in DEVICES:
        raise BadType(f"{name}: on a device of DLPack's type {kind}, which bitcut does not "
                      "know")
    return f"{DEVICES[kind]}:{number}"


def _capsule(x: Any, device: Optional[str]):
    """Its DLPack, without waiting for the stream that it is computed on."""
    asked = {"stream": -1} if device else {}
    try:
        return x.__dlpack__(max_version=(1, 0), **asked)
    except TypeError:  # an older one
        return x.__dlpack__(**asked)


def _of_dlpack(name: str, x: Any) -> View:
    device = _device_of(name, x)
    try:
        capsule = _capsule(x, device)
    except Exception as error:  # whatever an array's author raises
        raise BadArgument(f"{name}: {_first_line(error)}") from None
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.argtypes, get.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    valid = ctypes.pythonapi.PyCapsule_IsValid
    valid.argtypes, valid.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int
    readonly = False
    if valid(capsule, b"dltensor_versioned"):
        managed = _Versioned.from_address(get(capsule, b"dltensor_versioned"))
        t, readonly = managed.tensor, bool(managed.flags & READ_ONLY)
    elif valid(capsule, b"dltensor"):
        t = _Tensor.from_address(get(capsule, b"dltensor"))
    else:
        raise BadType(f"{name}: its __dlpack__ is none")
    if (t.code, t.bits) not in DL_TYPES or t.lanes != 1:
        raise BadType(f"{name}: elements of type {getattr(x, 'dtype', (t.code, t.bits))}; bitcut "
                      f"takes {TAKEN}")
    kind, format = DL_TYPES[t.code, t.bits]
    shape = t.shape[:t.ndim]
    strides = [n * (t.bits // 8) for n in t.strides[:t.ndim]] if t.strides else None
    # Who makes the capsule frees what is in it with it.
    view = View(name, (t.data or 0) + t.byte_offset, shape, strides, kind, format, readonly,
                (x, capsule))
    view.device = device
    return view


# --- anyone's ------------------------------------------------------------------------------


def _check_inside(view: View, x: Any):
    """That a view of NumPy's lies in what it is a view of."""
    np, owner = numpy(), x
    while getattr(owner, "base", None) is not None:
        owner = owner.base
    if np is None or not isinstance(owner, np.ndarray) or not owner.flags.owndata:
        return
    low, high = view.extent()
    first = owner.ctypes.data
    if view.count and not (first <= low and high <= first + owner.nbytes):
        raise BadArgument(f"{view.name}: strides reach beyond the memory of the array")


def _attribute(name: str, x: Any, attribute: str) -> Any:
    """That of x, or None.  PyTorch raises where a tensor records gradients."""
    try:
        return getattr(x, attribute, None)
    except Exception as error:
        raise BadArgument(f"{name}: {_first_line(error)}") from None


def _of_device(name: str, x: Any) -> Optional[View]:
    """An array that says that it is in the memory of a device."""
    interface = _attribute(name, x, "__cuda_array_interface__")
    if interface is None:
        return None
    try:
        return _of_cuda(name, x, interface)
    except BadType:
        if not hasattr(x, "__dlpack__"):
            raise
    return _of_dlpack(name, x)  # which knows more types


def _view(name: str, x: Any) -> View:
    np = numpy()
    negated = _attribute(name, x, "is_neg")  # of PyTorch, which exports it without its sign
    if callable(negated) and negated():
        raise BadArgument(f"{name}: a negated view; resolve_neg() first")
    interface = _attribute(name, x, "__array_interface__")
    if interface is None:
        view = _of_device(name, x)
        if view is None and hasattr(x, "__dlpack__"):
            view = _of_dlpack(name, x)
        if view is not None:
            view.source = x
            return view
        if np is not None and hasattr(x, "__array__"):
            x = np.asarray(x)
            interface = x.__array_interface__
    view = _of_interface(name, x, interface) if interface is not None else None
    if view is None:
        view = _of_buffer(name, x)
    elif np is not None and isinstance(x, np.ndarray):
        _check_inside(view, x)
    view.source = x
    return view


def look(x: Any, name: str, on_device: bool = False) -> View:
    """Where the elements of `x` are; `on_device`: in the memory of a device, too.  BadType and
    BadArgument begin with `name`."""
    if isinstance(x, View):
        return x
    view = _view(name, x)
    if view.device and not on_device:
        raise BadType(f"{name}: in the memory of {view.device}; copy it to the host first")
    if view.extent()[1] - view.extent()[0] > DIMENSION_MAX or view.count * view.item > DIMENSION_MAX // 2:
        raise BadArgument(f"{name}: of more bytes than there can be")
    return view


# --- results -------------------------------------------------------------------------------


class Array:
    """A result where NumPy is not installed: its elements row by row.

    NumPy, and whatever knows ``__array_interface__``, reads it where it is.
    """

    def __init__(self, shape: Sequence[int], format: str, kind: str):
        self.shape, self.format, self.kind = tuple(shape), format, kind
        self.nbytes = math.prod(shape) * int(kind[1:])
        self._bytes = (ctypes.c_char * max(self.nbytes, 1))()

    @property
    def __array_interface__(self):
        return {"version": 3, "shape": self.shape, "data": (ctypes.addressof(self._bytes), False),
                "typestr": ("<" if sys.byteorder == "little" else ">") + self.kind}

    def tobytes(self) -> bytes:
        """Return a copy of its encodings, as bytes."""
        return bytes(self._bytes)[:self.nbytes]

    def memoryview(self) -> memoryview:
        """Return its encodings, as a flat memoryview of unsigned integers."""
        letter = {"1": "B", "2": "H", "4": "I", "8": "Q"}[self.kind[1:]]
        return memoryview(self._bytes).cast("B")[:self.nbytes].cast(letter)

    def __len__(self):
        return self.shape[0]

    def tolist(self):
        """Return its numbers, in lists of lists."""
        wide = (ctypes.c_double * max(math.prod(self.shape), 1))()
        convert(ctypes.addressof(wide), "f64", ctypes.addressof(self._bytes), self.format,
                math.prod(self.shape))
        return _nested(list(wide), self.shape)

    def __reduce__(self):
        return _array_of, (self.shape, self.format, self.kind, self.tobytes())

    def __repr__(self):
        return f"<bitcut.Array {self.shape} of {self.format}>"


def _array_of(shape, format, kind, content: bytes) -> Array:
    array = Array(shape, format, kind)
    array._bytes[:len(content)] = content
    return array


def _nested(values, shape):
    if len(shape) == 1:
        return values[:shape[0]]
    step = math.prod(shape[1:])
    return [_nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def _ml_dtype(format: str):
    names = [name for name, f in ML_DTYPES.items() if f == format]
    if not names:
        return None
    try:
        import ml_dtypes
    except ImportError:
        return None
    return getattr(ml_dtypes, names[0], None)


def empty(shape: Sequence[int], format: str):
    """An array for encodings of a format: of NumPy where there is one, with the type that
    ml_dtypes has for the format, or as unsigned integers."""
    kinds = {**FLOATS, **INTEGERS}
    kind = {f: k for k, f in kinds.items()}.get(format) or f"u{element_bytes(format)}"
    if math.prod(shape) * int(kind[1:]) > DIMENSION_MAX // 2:
        raise BadArgument("a result of more bytes than there can be")
    np = numpy()
    if np is None:
        return Array(shape, format, kind)
    return np.empty(shape, _ml_dtype(format) or kind)


def convert(to: int, to_format: str, source: int, format: str, count: int,
            rounding=NEAREST) -> int:
    """Convert so many encodings from one address to another, to nearest even or by a row of
    roundings; how many have changed."""
    changed = ctypes.c_size_t()
    check(lib.bitcut_format_convert_array(ctypes.byref(changed), to or None,
                                          format_row(to_format), rounding, source or None,
                                          format_row(format), count))
    return changed.value


def transposed(x: Any):
    """An FP32 matrix without gaps, transposed: an array of its own."""
    view, np = look(x, "X"), numpy()
    to = empty(view.shape[::-1], "f32")
    if np is not None:
        low = (ctypes.c_char * max(4 * view.count, 1)).from_address(view.address or id(view))
        to[...] = np.ndarray(view.shape, "f4", low).T
        return to
    rows, cols = view.shape
    source = (ctypes.c_uint32 * view.count).from_address(view.address or id(view))
    there = (ctypes.c_uint32 * view.count).from_address(look(to, "X").address)
    for j in range(cols):
        there[j * rows:(j + 1) * rows] = source[j::cols]
    return to


def contiguous(view: View) -> View:
    """A copy, row by row without gaps."""
    np = numpy()
    if np is not None:
        low, high = view.extent()
        bytes_there = (ctypes.c_char * max(high - low, 1)).from_address(low or id(view))
        there = np.ndarray(view.shape, view.kind, bytes_there, view.address - low, view.strides)
        copied = look(there.copy("C"), view.name)
    else:
        data = memoryview(view.source).tobytes()
        buffer = ctypes.create_string_buffer(data, max(len(data), 1))
        copied = View(view.name, ctypes.addressof(buffer), view.shape, None, view.kind, None,
                      False, buffer)
    copied.format, copied.source = view.format, getattr(copied, "source", None)
    return copied


def reshaped(view: View, shape: Sequence[int]) -> View:
    """The same elements, row by row, in another shape; a view with gaps is copied."""
    dense = view if view.is_dense() else contiguous(view)
    to = View(dense.name, dense.address, tuple(shape), None, dense.kind, dense.format,
              dense.readonly, dense)
    to.source = view.source
    return to


def as_f32(view: View, format: str, copy: bool) -> View:
    """The same numbers in FP32; BadArgument: some are none."""
    if not view.is_dense():
        if not copy:
            raise BadArgument(f"{view.name}: not row by row without gaps; copy=True copies it")
        view = contiguous(view)
    to = empty(view.shape, "f32")
    result = look(to, view.name)
    changed = convert(result.address, "f32", view.address, format, view.count)
    if changed:
        raise BadArgument(f"{view.name}: {changed} of {view.count} values are none of FP32; "
                          "round them first, as you want them rounded")
    return result
