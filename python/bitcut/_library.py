# SPDX-License-Identifier: BSD-3-Clause
"""The C library: where it is, its structs as bitcut.h declares them, and how it is called."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import os
import pathlib
import sys
import threading
from ctypes import (POINTER, Structure, Union, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int32,
                    c_int64, c_size_t, c_ubyte, c_uint32, c_uint64, c_void_p)

UNSET = -1
TEXT_MAX, FIELD_MAX, ORDER_MAX, GEMM_MAX, ATTENTION_MAX = 240, 1024, 352, 768, 1024
EPILOGUE_MAX = 16
DIMENSION_MAX = ctypes.c_size_t(-1).value
SEED_MAX = 2**64 - 1


class Error(Exception):
    """What went wrong, in one sentence: the base of all errors of bitcut."""


class BadArgument(Error, ValueError):
    """Shapes, names or numbers do not fit together (BITCUT_BAD_ARGUMENT)."""


class BadType(Error, TypeError):
    """An object is not an array, or its elements are of a type that bitcut does not take."""


class BadFile(Error, OSError):
    """A file is not what it should be (BITCUT_BAD_FILE)."""


class Unsupported(Error, RuntimeError):
    """This cannot be done here, or not with this recipe on this unit (BITCUT_UNSUPPORTED)."""


class NoMemory(Error, MemoryError):
    """Not enough memory (BITCUT_NO_MEMORY)."""


class NotFound(Error, ImportError):
    """There is no libbitcut.so, or it has another version."""


ERRORS = {1: BadArgument, 2: BadFile, 3: Unsupported, 4: NoMemory}

# --- structs, as in bitcut.h ---------------------------------------------------------------


class Matrix(Structure):
    class _At(Union):
        _fields_ = [("at", c_void_p), ("to", c_void_p)]

    class _Each(Union):
        _fields_ = [("each", c_void_p), ("each_to", c_void_p)]

    _anonymous_ = ("_at", "_each")
    _fields_ = [("_at", _At), ("_each", _Each), ("format", c_void_p), ("layout", c_int),
                ("ld", c_size_t), ("stride", c_size_t), ("prepared", c_void_p),
                ("prepared_stride", c_size_t)]


class Order(Structure):
    _fields_ = [("slices", c_int), ("tile", c_int), ("partial_first", c_bool), ("cut", c_int),
                ("balance_tail", c_int), ("lanes", c_int), ("chunk", c_int), ("reduction", c_int),
                ("partial_format", c_void_p), ("partial_store", c_bool),
                ("lane_order", c_ubyte * 16), ("unroll", c_int), ("narrow", c_int),
                ("remainder_in_lane", c_bool), ("narrow_apart", c_bool),
                ("slices_ascending", c_bool)]


class Scales(Structure):
    _fields_ = [("at", Matrix), ("lines", c_size_t), ("depth", c_size_t)]


class Gemm(Structure):
    _fields_ = [("size", c_size_t), ("recipe", c_void_p), ("split_a", c_void_p),
                ("split_b", c_void_p), ("high", c_void_p), ("low", c_void_p),
                ("round_seed", c_int), ("scale", c_int),
                ("dropped_term", c_int), ("promote", c_int), ("tile_k", c_int),
                ("equilibrate", c_bool), ("any_promotion", c_bool), ("any_slices", c_bool),
                ("order", Order), ("unit", c_void_p),
                ("kernel", c_char_p), ("count", c_size_t), ("m", c_size_t), ("n", c_size_t),
                ("k", c_size_t), ("alpha", c_uint32), ("beta", c_uint32), ("a", Matrix),
                ("b", Matrix), ("c", Matrix), ("d", Matrix), ("epilogue", c_ubyte * EPILOGUE_MAX),
                ("bias", Matrix), ("bias_rows", c_bool), ("start", c_int), ("scaling", c_int),
                ("scale_a", Scales), ("scale_b", Scales), ("scale_d", c_uint32),
                ("clamp_low", c_uint32), ("clamp_high", c_uint32), ("amax", c_void_p),
                ("sum_rounding", c_void_p), ("zero_a", c_int32), ("zero_b", c_int32),
                ("zero_d", c_int32), ("offsets", c_void_p), ("sparsity", c_int),
                ("positions", Matrix), ("offsets_of_k", c_bool), ("scheme", c_void_p),
                ("parts", c_int), ("alpha_f64", c_double), ("beta_f64", c_double)]


class Attention(Structure):
    _fields_ = [("size", c_size_t), ("row", c_void_p), ("vary", c_char_p), ("unit_qk", c_void_p),
                ("unit_pv", c_void_p), ("heads", c_size_t), ("kv_heads", c_size_t),
                ("queries", c_size_t), ("keys", c_size_t), ("head_dim", c_size_t),
                ("value_dim", c_size_t), ("window_left", c_int64), ("window_right", c_int64),
                ("scale", c_uint32), ("q", Matrix), ("k", Matrix), ("v", Matrix), ("o", Matrix),
                ("lse", c_void_p)]


class Field(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("text", c_char * FIELD_MAX)]


class Difference(Structure):
    """The library reports its members (below)."""


class AttentionErrors(Structure):
    """The library reports its members (below)."""


class AttentionExplanation(Structure):
    """The library reports its members (below)."""


class ExplainOptions(Structure):
    _fields_ = [("size", c_size_t), ("samples", c_size_t), ("seconds", c_double),
                ("seed", c_uint64), ("effort", c_double), ("chip", c_char_p)]


class Finding(Structure):
    """The library reports its members (below)."""


class Explanation(Structure):
    """The library reports its members (below)."""


class ResultPair(Structure):
    """The library reports its members (below)."""


class Recording(Structure):
    _fields_ = [("size", c_size_t), ("unit", c_void_p)] + [
        (name, c_size_t) for name in ("count", "m", "n", "k", "blocks")] + [
        (name, c_void_p) for name in ("a", "b", "c", "d", "scale_a", "scale_b")] + [
        ("outputs", c_size_t)]


class FitReport(Structure):
    """The library reports its members (below)."""


class Part(Structure):
    _fields_ = [("mean", c_double), ("rms", c_double), ("max", c_double)]


class Quantization(Structure):
    """The library reports its members (below)."""


class ToleranceOptions(Structure):
    _fields_ = [("size", c_size_t), ("runs", c_size_t), ("false_alarm", c_double), ("seed", c_uint64),
                ("any_order", c_bool), ("two", c_bool)]


class Tolerances(Structure):
    """The library reports its members (below)."""


class ToleranceVerdict(Structure):
    """The library reports its members (below)."""


class AttentionOptions(Structure):
    _fields_ = [("size", c_size_t), ("runs", c_size_t), ("false_alarm", c_double), ("seed", c_uint64),
                ("any_tiles", c_bool)]


class AttentionTolerances(Structure):
    """The library reports its members (below)."""


class AttentionVerdict(Structure):
    """The library reports its members (below)."""


class AdviceOptions(Structure):
    _fields_ = [("size", c_size_t), ("metric", c_char_p), ("want", c_double), ("seed", c_uint64),
                ("quantize_a", c_void_p), ("quantize_b", c_void_p), ("quantizers", c_bool),
                ("chip", c_char_p)]


class Advice(Structure):
    """The library reports its members (below)."""


class PredictOptions(Structure):
    _fields_ = [("size", c_size_t), ("library", c_char_p), ("chip", c_char_p), ("types", c_char_p),
                ("library_threads", c_int), ("fields", c_char_p), ("call", c_char_p)]


class Predicted(Structure):
    """The library reports its members (below)."""


class Prediction(Structure):
    """The library reports its members (below)."""


# What bitcut.h calls them: tests compare sizes and offsets.
STRUCTS = {"bitcut_matrix": Matrix, "bitcut_order": Order, "bitcut_scales": Scales,
           "bitcut_gemm": Gemm, "bitcut_attention": Attention,
           "bitcut_attention_errors": AttentionErrors, "bitcut_attention_options": AttentionOptions,
           "bitcut_attention_tolerances": AttentionTolerances, "bitcut_attention_verdict": AttentionVerdict,
           "bitcut_attention_explanation": AttentionExplanation,
           "bitcut_field": Field, "bitcut_difference": Difference,
           "bitcut_explain_options": ExplainOptions, "bitcut_finding": Finding,
           "bitcut_explanation": Explanation, "bitcut_result_pair": ResultPair,
           "bitcut_recording": Recording, "bitcut_fit_report": FitReport,
           "bitcut_part": Part, "bitcut_quantization": Quantization, "bitcut_tolerance_options": ToleranceOptions,
           "bitcut_tolerances": Tolerances, "bitcut_tolerance_verdict": ToleranceVerdict,
           "bitcut_advice_options": AdviceOptions,
           "bitcut_advice": Advice, "bitcut_predict_options": PredictOptions,
           "bitcut_predicted": Predicted, "bitcut_prediction": Prediction}

# --- functions -----------------------------------------------------------------------------

P, S, I, T = c_void_p, c_size_t, c_int, c_char_p
G, A = POINTER(Gemm), POINTER(Attention)
PROTOTYPES = {
    "version": (T, []), "status_text": (T, [I]), "stop_on": (P, [P]), "format_find": (P, [T]),
    "rounding_find": (P, [T]), "split_find": (P, [T]), "recipe_find": (P, [T]), "scheme_find": (P, [T]),
    "unit_find": (P, [T, P]), "unit_name": (T, [P]),
    "unit_shape": (None, [POINTER(c_int)] * 3 + [P]),
    "struct_member": (c_bool, [POINTER(Field), POINTER(S), T, S]),
    "table_next": (P, [P]), "table_find": (P, [T]), "table_name": (T, [P]),
    "table_what": (T, [P]), "row_next": (P, [P, P]), "row_name": (T, [P]), "row_what": (T, [P]),
    "row_field": (c_bool, [POINTER(Field), P, P, S]),
    "format_convert": (c_uint64, [P, P, P, c_uint64]),
    "format_convert_array": (I, [POINTER(S), P, P, P, P, P, S]),
    "function_find": (P, [T]), "function_apply": (I, [P, P, P, S]),
    "split_array": (I, [POINTER(P), P, P, S]), "quantizer_find": (P, [T]),
    "quantizer_blocks": (None, [POINTER(S), POINTER(S), P, S, S]),
    "quantize": (I, [P, P, P, POINTER(Quantization), P, P, S, S, P]),
    "split_measure": (I, [P, S, P, P, I, I, P, S, I, P]), "split_measure_name": (T, [S]),
    "order_read": (I, [POINTER(Order), T, P]), "order_write": (None, [P, POINTER(Order)]),
    "gemm_init": (None, [G, S]), "gemm_read": (I, [G, T, P]), "gemm_write": (I, [P, G]),
    "gemm_unit": (P, [G, S]), "mma": (I, [P, P, S, S, S, S, P, P, P, I]),
    "gemm": (I, [G, G, I, P]), "gemm_verify": (I, [POINTER(Difference), G, G, I, P]),
    "gemm_judge": (I, [P, S, G, S, I, P]), "metric_name": (T, [S]),
    "exact_gemm": (I, [P, P, S, S, S, P, P, I]),
    "attention_find": (P, [T]), "attention_init": (None, [A, S]), "attention": (I, [A, I, P]),
    "attention_write": (I, [P, A, P]), "attention_verify": (I, [POINTER(Difference), A, I, P]),
    "attention_bound": (I, [P, A, T, I, P]), "attention_budget": (I, [P, S, A, S, I, P]), "attention_part": (T, [S]),
    "attention_exact": (I, [A, I, P]), "attention_judge": (I, [POINTER(AttentionErrors), A, I, P]),
    "attention_tolerance": (I, [POINTER(AttentionTolerances), A, A, POINTER(AttentionOptions), I, P]),
    "attention_tolerance_judge": (I, [POINTER(AttentionVerdict), POINTER(AttentionTolerances), A, A, I, P]),
    "attention_explain": (I, [POINTER(AttentionExplanation), A, POINTER(ExplainOptions), I, P]),
    "explain": (I, [POINTER(Explanation), G, G, POINTER(ExplainOptions), I, P]),
    "explain_pair": (I, [POINTER(ResultPair), POINTER(POINTER(Explanation)), POINTER(G), G,
                         POINTER(Matrix), POINTER(ExplainOptions), I, P]),
    "fit": (I, [POINTER(FitReport), POINTER(P), POINTER(Recording), I, P]),
    "fit_close": (None, [P]), "fit_unit": (P, [P, S]),
    "fit_field": (c_bool, [POINTER(Field), P, I, S]),
    "fit_value": (c_bool, [POINTER(Field), P, I, S, S]),
    "budget": (I, [P, S, G, S, I, P]), "budget_part": (T, [S]),
    "bound": (I, [P, G, S, T, I, P]), "bound_name": (T, [S]),
    "tolerance": (I, [POINTER(Tolerances), G, POINTER(ToleranceOptions), I, P]),
    "tolerance_judge": (I, [POINTER(ToleranceVerdict), POINTER(Tolerances), G,
                            POINTER(ToleranceOptions), I, P]),
    "advise": (I, [POINTER(Advice), G, G, POINTER(AdviceOptions), I, P]),
    "predict": (I, [POINTER(Prediction), G, POINTER(PredictOptions), P]),
    "predict_gemm": (I, [G, POINTER(PredictOptions), I, P]),
    "device_open": (I, [POINTER(P), T, P]), "device_name": (T, [P]),
    "gemm_method": (T, [P, G, S]), "gemm_workspace": (I, [POINTER(S), P, G, P]),
    "gemm_start": (I, [G, P, G, P, S, P, P]), "plan_make": (I, [POINTER(P), P, G, P]),
    "plan_start": (I, [P, P, P, P, P, P, S, P, P]), "plan_free": (None, [P]),
}


def _candidates():
    """Possible locations of libbitcut.so: the value of BITCUT_LIBRARY, and then no other; otherwise
    next to the package, as in a wheel, in the build folder of the tree that contains the
    package, and where the loader searches."""
    if os.environ.get("BITCUT_LIBRARY"):
        return [os.environ["BITCUT_LIBRARY"]]
    here = pathlib.Path(__file__).resolve().parent
    files = [here / "libbitcut.so", here.parent.parent / "build" / ".libs" / "libbitcut.so"]
    return [str(f) for f in files if f.exists()] + ["libbitcut.so.1"]


def _load(version):
    for name in (tried := _candidates()):
        try:
            library = ctypes.CDLL(name)
        except OSError as error:
            why = str(error)
            continue
        break
    else:
        raise NotFound(f"no libbitcut.so: {why}; tried {', '.join(tried)}; "
                       "BITCUT_LIBRARY may name the file")
    for function, (result, arguments) in PROTOTYPES.items():
        try:
            f = getattr(library, "bitcut_" + function)
        except AttributeError:
            raise NotFound(f"{name} is not libbitcut.so {version}: it lacks "
                           f"bitcut_{function}") from None
        f.restype, f.argtypes = result, arguments
    if library.bitcut_version().decode() != version:
        raise NotFound(f"{name} is version {library.bitcut_version().decode()}, and this "
                       f"package is {version}")
    return library, name


__version__ = "0.2.0"
lib, path = _load(__version__)

TYPES = {"bool": c_bool, "int": c_int, "size_t": c_size_t, "double": c_double, "char": c_char,
         "const char *": c_char_p, "const void *": c_void_p}


def _members(name):
    """The members of a struct of bitcut.h, as the library reports them, in the order of memory."""
    member, at, found = Field(), c_size_t(), [(0, "size", c_size_t)]
    while lib.bitcut_struct_member(byref(member), byref(at), name.encode(), len(found) - 1):
        kind, _, length = member.text.decode().partition("[")
        kind = STRUCTS[kind[7:]] if kind.startswith("struct ") else TYPES[kind]
        kind = kind * int(length[:-1]) if length else kind
        found.append((at.value, member.name.decode(), kind))
    return [(name, kind) for _, name, kind in sorted(found, key=lambda one: one[0])]


for _name, _struct in STRUCTS.items():
    if not hasattr(_struct, "_fields_"):
        _struct._fields_ = _members(_name)


def values(struct) -> dict:
    """What is in a struct that the library filled in, without its size, as objects of Python."""
    def value(x):
        return x.decode() if isinstance(x, bytes) else \
            tuple(x) if isinstance(x, ctypes.Array) else x
    return {name: value(getattr(struct, name)) for name, _ in struct._fields_[1:]}


def text(value: str, what: str) -> bytes:
    """A name for C."""
    if not isinstance(value, str):
        raise BadType(f"{what}: {type(value).__name__} is no name")
    if "\0" in value:
        raise BadArgument(f"{what}: a name has no character 0")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise BadArgument(f"{what}: {value!r} is no text") from None


def fail(status: int, why: bytes = b""):
    sentence = why.decode(errors="replace") or lib.bitcut_status_text(status).decode()
    raise ERRORS[status](sentence)


def check(status: int, why=None):
    if status:
        fail(status, why.value if why is not None else b"")


def read(function, *arguments):
    """Call a short function; its last argument, for the reason of a failure, is added."""
    why = ctypes.create_string_buffer(TEXT_MAX)
    check(function(*arguments, why), why)


FEW = 2**20  # products, done before anybody interrupts them: not worth a thread
_forked = False


def _in_child():
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_in_child)


def compute(function, *arguments, keep=(), says=True, products=math.inf):
    """Call a function that may take long, if it has many products.  In the main thread Ctrl-C
    ends it: the call is asked to stop and returns when its current work is done.  A second
    Ctrl-C does not wait for that; `keep`, all that the call reads and writes, stays until it
    is done."""
    why = ctypes.create_string_buffer(TEXT_MAX)
    if says:
        arguments = (*arguments, why)
    # A forked process has no team of OpenMP's threads where its parent had one.
    if (products < FEW and not _forked) or \
            threading.current_thread() is not threading.main_thread():
        return check(function(*arguments), why)
    done, stop, result = threading.Event(), c_int(0), []

    def work(_held=(keep, arguments)):
        lib.bitcut_stop_on(byref(stop))
        try:
            result.append(function(*arguments))
        except BaseException as error:  # of ctypes, told where the call was made
            result.append(error)
        lib.bitcut_stop_on(None)
        done.set()

    threading.Thread(target=work, name="bitcut", daemon=True).start()
    try:
        done.wait()
    except BaseException:
        stop.value = 1
        done.wait()
        raise
    if isinstance(result[0], BaseException):
        raise result[0]
    return check(result[0], why)


def name_of(row) -> str | None:
    return lib.bitcut_row_name(row).decode() if row else None


class _Rows:
    """Formats by name."""

    def __init__(self):
        self.known = {}

    def __call__(self, name):
        said = text(name, "format")
        if name not in self.known:
            row = lib.bitcut_format_find(said)
            if not row:
                raise BadArgument(f"{name}: unknown format; bitcut.formats() has all")
            self.known[name] = row
        return self.known[name]


format_row = _Rows()
NEAREST = lib.bitcut_rounding_find(b"rn")


def fresh(struct):
    """One that says its own size."""
    x = struct()
    x.size = ctypes.sizeof(struct)
    return x


def fresh_gemm() -> Gemm:
    g = Gemm()
    lib.bitcut_gemm_init(byref(g), ctypes.sizeof(g))
    return g


def numpy():
    """NumPy, or None: it is not needed."""
    if "numpy" not in sys.modules:
        try:
            __import__("numpy")
        except ImportError:
            return None
    return sys.modules["numpy"]
