# SPDX-License-Identifier: BSD-3-Clause
"""Bit-exact models of GPU matrix units, the FP32 GEMM recipes that run on them, exact
references and their analysis.  Everything is computed by the C library, libbitcut.so; arrays
are read where they are.

>>> import bitcut, numpy
>>> a, b = numpy.float32([[1, 2]]), numpy.float32([[3], [4]])
>>> bitcut.gemm(a, b, recipe="ootomo", unit="a100").d.tolist()
[[11.0]]
"""

import warnings
from typing import Any

from ._arrays import Array
from ._attention import (Attention, AttentionBudget, AttentionExplanation, AttentionMetrics, AttentionTolerances, AttentionVerdict,
                         AttentionVerification, attention, attention_bound, attention_budget, attention_exact,
                         attention_explain, attention_judge, attention_tolerance, attention_verify)
from ._calls import (Advice, Budget, Explanation, Finding, Fit, Gemm, Metrics, Parts, Predicted, Prediction,
                     Quantized, ResultPair, Retention, Tolerances, Verification, advise, bound, budget, convert,
                     exact, explain, explain_pair, fit, gemm, judge, mma, mufu, plan, predict, predict_gemm, quantize,
                     retention, split, tolerance, verify, workspace)
from ._device import devices
from ._library import (BadArgument, BadFile, BadType, Error, NoMemory, NotFound, Unsupported,
                       __version__, path as library)
from ._plan import Plan
from ._study import Study, study
from ._tables import Table, table, tables
from ._torch import Emulation, emulate


def _table_function(name, what):
    def rows() -> Table:
        return table(name)
    rows.__name__ = rows.__qualname__ = name
    rows.__doc__ = f"{what[0].upper()}{what[1:]}: `bitcut list {name}`."
    return rows


_tables_of_library = {row["name"]: _table_function(row["name"], row["what"])
                      for row in tables()}
globals().update({name: f for name, f in _tables_of_library.items() if name.isidentifier()})

_RENAMED = {"Cannot": "Unsupported"}  # names of version 0.1


def __getattr__(name: str) -> Any:
    """A name of version 0.1, with a warning; the tables are known when the library is."""
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"bitcut.{name} is now bitcut.{_RENAMED[name]}", DeprecationWarning, 2)
    return globals()[_RENAMED[name]]


__all__ = ["Advice", "Array", "Attention", "AttentionBudget", "AttentionExplanation", "AttentionMetrics", "AttentionTolerances", "AttentionVerdict",
           "AttentionVerification", "BadArgument", "BadFile", "BadType", "Budget", "Emulation",
           "Error", "Explanation", "Finding", "Fit", "Gemm", "Metrics", "NoMemory", "NotFound", "Parts", "Plan", "Predicted", "Prediction", "Quantized",
           "ResultPair", "Retention", "Study", "Table", "Tolerances", "Unsupported", "Verification", "advise",
           "attention", "attention_bound", "attention_budget", "attention_exact", "attention_explain", "attention_judge", "attention_tolerance", "attention_verify", "bound", "budget", "convert",
           "devices", "emulate", "exact", "explain", "explain_pair", "fit", "gemm", "judge", "library", "mma", "mufu",
           "plan", "predict", "predict_gemm", "quantize", "retention",
           "split", "study", "table", "tables", "tolerance", "verify", "workspace",
           *sorted(_tables_of_library)]
