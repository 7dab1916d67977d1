# SPDX-License-Identifier: BSD-3-Clause
"""Plans: GEMMs on a GPU whose checks and choices are made once.

The first GEMM of its kind takes the long way: every array is examined, and the library chooses a
kernel.  A plan keeps the outcome.  A later call compares type, shape, strides and device of each
array, as its library reports them, and makes one call of C."""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable, Optional, Type, TypeVar

from . import _device
from ._fp64 import described64
from ._gemm import described, line_of
from ._library import BadArgument, byref, c_void_p, fresh_gemm, lib, read
from ._results import Result

PLANS_MAX = 256  # that gemm() and emulate() keep; each takes about 10 KiB

_start, _free = lib.bitcut_plan_start, lib.bitcut_plan_free


class _Handle:
    """A plan of the library.  Each call holds it, so it is freed after the last one."""

    __slots__ = ("at",)

    def __init__(self, place, struct):
        self.at, made = None, c_void_p()
        read(lib.bitcut_plan_make, byref(made), _device.device(place.device), byref(struct))
        self.at = made.value

    def __del__(self, free=_free):
        if self.at:
            free(self.at)


def how_ran(ran, problem) -> dict:
    """How a device computes a GEMM, by the names of the result of gemm()."""
    g, kernel = problem.struct, ran.kernel.decode() if ran.kernel else None
    ran = type(ran).from_buffer_copy(ran)
    ran.kernel = None  # the line and the terms are those of the unit
    told = described64(ran) if g.scheme else {**described(ran), "line": line_of(ran)}
    told["_line"] = told.pop("line")
    told.update(device=problem.place.device, kernel=kernel)
    if not kernel:
        names = _device.methods(g, problem.place)
        told["method"] = names[0] if len(set(names)) == 1 else names
    told.update(m=g.m, n=g.n, k=g.k, count=g.count)
    return told


def _facts(operand) -> Optional[tuple]:
    """What a plan knows of an operand; None: there is none."""
    return operand and (operand.view.shape, operand.format, operand.layout, operand.ld,
                        operand.stride)


def _span(operand) -> tuple:
    """The bytes of an operand, from its address on."""
    if operand is None:
        return 0, 0
    low, high = operand.view.extent()
    return low - operand.view.address, high - operand.view.address


class Launch:
    """The GEMM of a problem on a GPU, to be started with other addresses."""

    def __init__(self, problem, told: dict):
        place = problem.place
        self.owner, self.told = place.owner, told
        self.handle = _Handle(place, problem.struct)
        self.workspace = _device.workspace_bytes(problem.struct, place)
        self.room = _device.room_bytes(problem.struct, place, self.workspace)
        self.facts = [_facts(x) for x in (problem.a, problem.b, problem.c, problem.d)]
        self.spans = [_span(x) for x in (problem.a, problem.b, problem.c, problem.d)]
        if self.owner:
            self.new_d = self.owner.maker(problem.d.view.shape, problem.d.format)
            self.new_room = self.owner.maker((self.room,), None)

    def start(self, d, a, b, c, room, size, stream):
        """One call of the library, on addresses."""
        handle = self.handle
        if handle is None:
            raise BadArgument("the plan is closed")
        if _start(handle.at, d, a, b, c, room, size, stream, None):
            read(_start, handle.at, d, a, b, c, room, size, stream)

    def is_apart(self, d, a, b, c) -> bool:
        """Whether D at its address shares no byte with A, B and C; D and C may be the same."""
        (a_low, a_high), (b_low, b_high), (c_low, c_high), (low, high) = self.spans
        low, high = d + low, d + high
        return ((a + a_high <= low or high <= a + a_low) and
                (b + b_high <= low or high <= b + b_low) and
                (c == d or c + c_high <= low or high <= c + c_low))

    def begin(self, a, b, c, dt, out):
        """Start it in new memory, on the current stream of the arrays' library; D."""
        owner = self.owner
        if out is None:
            out = self.new_d()
            dt = owner.address(out)
        stream, size = owner.stream(), self.room
        if not size:
            self.start(dt, a, b, c, None, 0, stream)
            return out
        owner.check_lends(stream)
        room, at = owner.take(size, stream, self.new_room)
        try:
            self.start(dt, a, b, c, at, size, stream)
        finally:
            owner.let_go(room)
        return out


def _look_all(look, a, b, c, out):
    """What tells the plan of these arrays, and their addresses."""
    (sa, at), (sb, bt) = look(a), look(b)
    sc, ct = (None, 0) if c is None else look(c)
    sd, dt = (None, 0) if out is None else look(out)
    return (sa, sb, sc, sd, c is not None and ct == dt), at, bt, ct, dt


# --- the plans of gemm() and emulate() ------------------------------------------------------

_plans, _lock = {}, threading.Lock()


def recall(options: tuple, a, b, c, out):
    """The plan of these arrays, and the D that it computes; None: no plan is kept for them, or the
    arrays must be examined."""
    look = _device.FAST.get(type(a))
    if look is None:
        return None
    try:
        key, at, bt, ct, dt = _look_all(look, a, b, c, out)
        launch = _plans.get((key, options))
    except Exception:  # other types, or no key: who examines them says what is wrong
        return None
    if launch is None or out is not None and not launch.is_apart(dt, at, bt, ct):
        return None
    return launch, launch.begin(at, bt, ct, dt, out)


def remember(options: tuple, problem, told: dict, a, b, c, out):
    """Keep the plan of a GEMM that has run, if recall() can find it: its arrays are of one
    library that tells quickly what they are, and were read where they are."""
    owner = problem.place.owner
    given = [(x, operand) for x, operand in zip((a, b, c, out), (problem.a, problem.b, problem.c, problem.d))
             if x is not None]
    if owner is None or not all(owner.is_own(x) and operand.view.source is x for x, operand in given):
        return
    _device.FAST[type(a)] = owner.look
    key = _look_all(owner.look, a, b, c, out)[0], options
    try:
        hash(key)
    except TypeError:  # an order that is a dict
        return
    launch = Launch(problem, told)
    with _lock:
        while len(_plans) >= PLANS_MAX:
            del _plans[next(iter(_plans))]
        _plans[key] = launch


def _options(given: dict) -> tuple:
    """The other arguments of a call; 1, 1.0 and True are not the same."""
    return tuple(given.items()), tuple(map(type, given.values()))


Call = TypeVar("Call", bound=Callable)


def quick(kind: Type[Result]) -> Callable[[Call], Call]:
    """Makes gemm(), whose results are of that kind, keep plans."""
    def quicker(gemm: Call) -> Call:
        @functools.wraps(gemm)
        def planned(a, b, **given):
            c, out = given.pop("c", None), given.pop("out", None)
            if type(a) in _device.FAST:
                found = recall(_options(given), a, b, c, out)
                if found:
                    return kind.of({**found[0].told, "d": found[1]})
            result = gemm(a, b, c=c, out=out, **given)
            p = result._problem
            if p.place and p.place.memory and not {"stream", "workspace"} & given.keys():
                told = {**result.__dict__, "d": None, "_problem": _Ran(p.place.memory)}
                remember(_options(given), p, told, a, b, c, out)
            return result
        return planned
    return quicker


class _Ran:
    """What the result of a plan has of the problem: where D is."""

    def __init__(self, memory: str):
        self.place, self.memory = self, memory


# --- a plan of the caller -------------------------------------------------------------------


class Plan(Result):
    """A GEMM on a GPU for which everything is chosen, the result of plan().

    ``plan(a, b)`` computes D and returns it, as a new array; ``plan(a, b, c, out)`` has C, and D in ``out``.
    Each array has the type, shape and strides of the array that plan() had; alpha, beta and all else are
    those of plan().  ``stream`` and ``workspace`` may be given as in gemm(); without them the call takes
    the current stream, and is fastest.  Any number of threads may call a plan.

    ``line``, ``device``, ``kernel`` and the other attributes of a result of gemm() say how D is computed;
    ``workspace`` is the number of bytes of one GEMM's workspace.
    """

    def __init__(self, make: Callable, problem):
        ran = fresh_gemm()
        read(lib.bitcut_gemm_choose, byref(ran), _device.device(problem.place.device),
             byref(problem.struct))
        launch, told = Launch(problem, {}), how_ran(ran, problem)
        super().__init__(line=told.pop("_line"), **told, workspace=launch.workspace,
                         _launch=launch, _make=make, _key=None, _look=None)
        arrays = [x and x.view.source for x in (problem.a, problem.b, problem.c, problem.d)]
        owner = problem.place.owner
        if owner and all(owner.is_own(x) for x in arrays if x is not None):
            self._look = owner.look
            self._key = _look_all(owner.look, *arrays)[0][:4]

    def close(self) -> None:
        """Free the plan.  Calls that are running complete; later ones are refused.

        A plan to which nothing refers is freed without this.
        """
        self._launch.handle = None

    def __reduce__(self):
        raise TypeError("a plan belongs to its process; it cannot be copied")

    def __call__(self, a: Any, b: Any, c: Any = None, out: Any = None, *, stream: Any = None,
                 workspace: Any = None) -> Any:
        if stream is None and workspace is None and self._look:
            try:
                key, at, bt, ct, dt = _look_all(self._look, a, b, c, out)
            except Exception:  # what is wrong is said below
                key = None
            if key and key[:3] == self._key[:3] and (out is None or (
                    key[3] == self._key[3] and self._launch.is_apart(dt, at, bt, ct))):
                return self._launch.begin(at, bt, ct, dt, out)
        return self._examine(a, b, c, out, stream, workspace)

    def _examine(self, a, b, c, out, stream, workspace):
        """The same of arrays that must be examined."""
        p = self._make(a, b, c, out, stream)
        operands = p.a, p.b, p.c, p.d
        for name, operand, want in zip("ABCD", operands, self._launch.facts):
            if _facts(operand) != want:
                raise BadArgument(f"{name}: {_told(_facts(operand))}; the plan is for {_told(want)}")
        there = p.place.device if p.place else "the host"
        if there != self.device:
            raise BadArgument(f"A and B are in the memory of {there}; the plan is for {self.device}")
        at = [x.view.address if x else None for x in (p.d, p.a, p.b, p.c)]
        _device.start_with(p, workspace, lambda view, room, size, where: self._launch.start(
            *at, room, size, where))
        return p.result


def _told(facts: Optional[tuple]) -> str:
    """Facts of an operand in words."""
    if facts is None:
        return "none"
    shape, format, layout, ld, _ = facts
    order = ("row-major", "column-major")[layout]
    return f"{' x '.join(map(str, shape))} of {format}, {order}" + (f", ld {ld}" if ld else "")
