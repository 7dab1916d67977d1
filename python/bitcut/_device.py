# SPDX-License-Identifier: BSD-3-Clause
"""GEMMs on a device, by its kernels or by emulation of a unit, in the memory and on the streams of
CuPy and PyTorch."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import pathlib
import sys
import threading
import warnings
from typing import Any, Optional

from ._arrays import FLOATS, element_bytes, empty, look
from ._library import (BadArgument, BadType, Unsupported, byref, c_size_t, c_void_p, compute, fresh_gemm,
                       lib, path as library, read, text)
from ._tables import Table

NEEDS_WORKSPACE = ("workspace=: missing: a graph is captured, which works in it whenever it runs; "
                   "bitcut.workspace() says how many bytes")
WORKSPACE_MAX = 2**28  # bytes, where a batch does with less
ALIGNMENT = 256  # of a workspace, in bytes

# --- whose memory it is --------------------------------------------------------------------


class _Foreign:
    """A stream of whoever gave its address, by the protocol of CUDA for Python."""

    def __init__(self, stream):
        self.stream = stream

    def __cuda_stream__(self):
        return 0, self.stream


# Types of arrays whose library tells quickly what they are, and the function that asks it: what
# gemm() must know of an array except its address, and the address.
FAST = {}


class _CuPy:
    """Arrays of CuPy."""

    def __init__(self, cupy, number):
        self.cupy, self.number = cupy, number

    def is_own(self, x) -> bool:
        return type(x) is getattr(self.cupy, "ndarray", None)

    @staticmethod
    def look(x):
        return (x.dtype, x.shape, x.strides, x.data.device_id), x.data.ptr

    @staticmethod
    def address(x) -> int:
        return x.data.ptr

    def maker(self, shape, format: Optional[str]):
        return functools.partial(self.empty, shape, format)

    def check_lends(self, stream: int):
        """That memory which is let go of stays that of the graph which is captured."""
        if self.on(stream).is_capturing():
            raise BadArgument(NEEDS_WORKSPACE)

    def take(self, size: int, stream: int, make):
        """Memory for work on the current stream, and its address."""
        room = make()
        return room, room.data.ptr

    def let_go(self, room):
        """Its memory may serve other work, after this on its stream."""

    def stream(self) -> int:
        with self.cupy.cuda.Device(self.number):
            return self.cupy.cuda.get_current_stream().ptr

    def on(self, stream: int):
        cuda = self.cupy.cuda
        if hasattr(cuda.Stream, "from_external"):
            return cuda.Stream.from_external(_Foreign(stream))
        return cuda.ExternalStream(stream, self.number)

    def empty(self, shape, format: Optional[str]):
        kinds = {name: kind for kind, name in FLOATS.items()}
        kind = kinds.get(format) or f"u{element_bytes(format) if format else 1}"
        with self.cupy.cuda.Device(self.number):
            return self.cupy.empty(shape, kind)

    def used(self, x, stream: int):
        """Its pool does not know of other streams: the caller keeps x until that one is done."""

    def host(self, x):
        return self.cupy.asnumpy(x)


RAW = ("_cuda_getDevice", "_cuda_cudaCachingAllocator_raw_alloc",
       "_cuda_cudaCachingAllocator_raw_delete")


def _look_torch(own, x):
    if type(x) not in own:
        raise TypeError
    return ((x.dtype, x.shape, x.stride(), x.get_device(), x.requires_grad, x.is_neg()),
            x.data_ptr())


class _Torch:
    """Tensors of PyTorch."""

    TYPES = {"f32": "float32", "f16": "float16", "f64": "float64", "bf16": "bfloat16",
             "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e4m3fnuz": "float8_e4m3fnuz",
             "e5m2fnuz": "float8_e5m2fnuz", None: "uint8"}

    def __init__(self, torch, number):
        self.torch, self.number = torch, number
        self.quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        self.raw = all(hasattr(torch._C, name) for name in RAW)
        self.own = torch.Tensor, torch.nn.Parameter  # and none of their other kinds
        self.look = functools.partial(_look_torch, frozenset(self.own))

    def is_own(self, x) -> bool:
        return type(x) in self.own

    @staticmethod
    def address(x) -> int:
        return x.data_ptr()

    def maker(self, shape, format: Optional[str]):
        return functools.partial(self.torch.empty, shape, dtype=self.kind(format),
                                 device=self.torch.device("cuda", self.number))

    def check_lends(self, stream: int):
        pass  # a graph has a pool of its own

    def take(self, size: int, stream: int, make):
        """Memory for work on the current stream, and its address.  A tensor of it takes longer than
        the allocator, which PyTorch has no quick public call for."""
        c = self.torch._C
        if self.raw and c._cuda_getDevice() == self.number:
            at = c._cuda_cudaCachingAllocator_raw_alloc(size, stream)
            return at, at
        room = make()
        return room, room.data_ptr()

    def let_go(self, room):
        """Its memory may serve other work, after this on its stream."""
        if type(room) is int:
            self.torch._C._cuda_cudaCachingAllocator_raw_delete(room)

    def stream(self) -> int:
        if self.quick:
            return self.quick(self.number)
        return self.torch.cuda.current_stream(self.number).cuda_stream

    def on(self, stream: int):
        torch = self.torch
        return torch.cuda.stream(torch.cuda.ExternalStream(
            stream, device=torch.device("cuda", self.number)))

    def kind(self, format: Optional[str]):
        kind = getattr(self.torch, self.TYPES.get(format, ""), None)
        if kind is None:
            raise BadArgument(f"PyTorch has no type for {format}; out= says where D goes")
        return kind

    def empty(self, shape, format: Optional[str]):
        return self.maker(shape, format)()

    def used(self, x, stream: int):
        """Its memory is not given away until the stream has come so far."""
        if isinstance(x, self.torch.Tensor):
            x.record_stream(self.torch.cuda.ExternalStream(stream))

    def host(self, x):
        return x.detach().cpu()


OWNERS = {"cupy": _CuPy, "torch": _Torch}


def _owner(x: Any, number: int):
    """Who allocates where x is; None: nobody that is known."""
    name = type(x).__module__.partition(".")[0]
    return OWNERS[name](sys.modules[name], number) if name in OWNERS else None


def _number(device: str) -> int:
    return int(device.partition(":")[2] or 0)


def to_host(view) -> Any:
    """A copy of a device's array in CPU memory."""
    owner = _owner(view.source, _number(view.device))
    if owner is None:
        raise BadType(f"{view.name}: {type(view.source).__name__}, in the memory of "
                      f"{view.device}; copy it to the host first")
    return owner.host(view.source)


# --- devices -------------------------------------------------------------------------------

_opened, _lock = {}, threading.Lock()


def _with_modules(call, *arguments):
    """Call a function that opens a module.  The library finds modules next to it, but in the build
    folder of its tree it is one folder deeper."""
    here = pathlib.Path(library).resolve().parent
    if os.environ.get("BITCUT_MODULES") or here.name != ".libs":
        return call(*arguments)
    os.environ["BITCUT_MODULES"] = str(here.parent)
    try:
        return call(*arguments)
    finally:
        del os.environ["BITCUT_MODULES"]


def device(name: str) -> c_void_p:
    """The device of that name, opened once."""
    with _lock:
        if name not in _opened:
            to = c_void_p()
            _with_modules(read, lib.bitcut_device_open, byref(to), name.encode())
            _opened[name] = to
        return _opened[name]


def devices() -> Table:
    """Return the devices that have kernels here, with their names.

    GPUs are there if their module is installed; "cpu" is the matrix unit of this machine's processor, if
    it has one.  gemm() multiplies arrays of a GPU on that GPU, and arrays of the host by the unit of the
    processor with ``device="cpu"``.

    Returns: Table, empty if there is none
    """
    rows = []
    numbered = [f"{backend}:{number}" for backend in ("cuda", "hip") for number in range(64)]
    missing = set()
    for name in numbered + ["cpu"]:
        backend = name.partition(":")[0]
        if backend in missing:
            continue
        try:
            rows.append({"name": name,
                         "what": lib.bitcut_device_name(device(name)).decode()})
        except Unsupported:
            missing.add(backend)
    return Table("devices", "what has kernels here", rows)


# --- a GEMM --------------------------------------------------------------------------------


def _stream(stream: Any) -> int:
    """The address of a stream, or of one of CuPy or PyTorch."""
    for attribute in ("ptr", "cuda_stream"):
        stream = getattr(stream, attribute, stream)
    if type(stream) is not int or stream < 0:
        raise BadType(f"stream: {type(stream).__name__} is no stream")
    return stream


class Place:
    """The device of the operands, the stream on which D is computed, and the allocator."""

    def __init__(self, operands, stream: Any):
        views = [operand.view for operand in operands]
        where = {view.device for view in views}
        if len(where) > 1:
            raise BadArgument("matrices in several memories: " + ", ".join(
                f"{v.name} in that of {v.device or 'the host'}" for v in views))
        self.device = self.memory = where.pop()
        owners = [_owner(view.source, _number(self.device)) for view in views]
        current = {o.stream() if o else v.stream or 0 for o, v in zip(owners, views)}
        if stream is None and len(current) > 1:
            raise BadArgument("the matrices are computed on several streams; stream= says which "
                              "one is D's")
        self.stream = current.pop() if stream is None else _stream(stream)
        self.owner = next((o for o in owners if o), None)
        self.elsewhere = stream is not None and current != {self.stream}

    def empty(self, shape, format: Optional[str], argument: str):
        """New memory there; `argument` is what would have given it."""
        if self.owner is None:
            raise BadArgument(f"{argument}=: missing: bitcut allocates as CuPy and PyTorch do, and "
                              "these are the arrays of neither")
        with self.owner.on(self.stream) if self.elsewhere else contextlib.nullcontext():
            return self.owner.empty(shape, format)


class HostPlace:
    """The processor's own matrix units, on arrays in place: the GEMM is complete when the call
    returns."""

    memory, stream, owner, elsewhere = None, 0, None, False

    def __init__(self, device: str, operands, stream: Any):
        text(device, "device")
        if device.partition(":")[0] == "host":
            warnings.warn("device 'host' is now 'cpu'", DeprecationWarning, 4)
        elif device.partition(":")[0] != "cpu":
            raise BadArgument(f"device: {device!r}: it can be 'cpu'; GPUs multiply the arrays "
                              "that are in their memory")
        there = [o.view for o in operands if o.view.device]
        if there:
            raise BadArgument(f"device: {device!r}, and {there[0].name} is in the memory of "
                              f"{there[0].device}; copy it to the host first")
        if stream is not None:
            raise BadArgument("stream: the host has none")
        self.device = device

    def empty(self, shape, format: Optional[str], argument: str):
        if format is not None:
            return empty(shape, format)
        room = ctypes.create_string_buffer(shape[0] + ALIGNMENT)
        before = -ctypes.addressof(room) % ALIGNMENT
        return (ctypes.c_ubyte * shape[0]).from_buffer(room, before)


def methods(g, place: Place) -> list:
    """The method of each product of parts: "kernel", or a method of emulation."""
    names = []
    while (name := lib.bitcut_gemm_method(device(place.device), byref(g), len(names))):
        names.append(name.decode())
    return names


def workspace_bytes(g, place: Place) -> int:
    """Bytes of the workspace of one GEMM of the batch."""
    needed = c_size_t()
    read(lib.bitcut_gemm_workspace, byref(needed), device(place.device), byref(g))
    return needed.value


def room_bytes(g, place: Place, needed: int) -> int:
    """Bytes of the workspace that is allocated if one GEMM of the batch needs so many."""
    # emulated ones, and those of a scheme, come one after the other
    together = needed and not g.scheme and methods(g, place)[:1] == ["kernel"]
    return needed * max(1, min(g.count, WORKSPACE_MAX // needed)) if together else needed


def _workspace(g, place: Place, given: Any):
    """A view of the workspace; None: none is needed."""
    needed = workspace_bytes(g, place)
    if not needed:
        return None
    if given is None:
        if place.owner:
            place.owner.check_lends(place.stream)
        given = place.empty((room_bytes(g, place, needed),), None, "workspace")
    view = look(given, "workspace", on_device=True)
    if view.device != place.memory or view.readonly or not view.is_dense():
        raise BadArgument(f"workspace: not {place.device}'s, without gaps, to be written to")
    return view


def start_with(problem, workspace: Any, call):
    """Make a call that starts the GEMM of a problem: with its workspace, which must stay until it
    has started, the address and the bytes of it, and the stream."""
    place = problem.place
    view = _workspace(problem.struct, place, workspace)
    call(view, view.address if view else None, view.count * view.item if view else 0,
         place.stream or None)
    if place.elsewhere and place.owner:
        for used in [*problem.views(), *([view] if view else [])]:
            place.owner.used(used.source, place.stream)


def start(problem, workspace: Any):
    """Start the GEMM of a problem on the stream of its place, and return the GEMM as it runs."""
    g, place, ran = problem.struct, problem.place, fresh_gemm()

    def call(view, *room):
        arguments = byref(ran), device(place.device), byref(g), *room
        if place.memory:
            read(lib.bitcut_gemm_start, *arguments)
        else:
            compute(lib.bitcut_gemm_start, *arguments, keep=(problem, ran, view),
                    products=problem.products())
    start_with(problem, workspace, call)
    return ran
