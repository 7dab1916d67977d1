# SPDX-License-Identifier: BSD-3-Clause
"""How results look: as `bitcut` prints rows, in notebooks, and as dicts."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any


def cell(value: Any) -> str:
    """A value as the program prints it in a table."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.6g}"
    return json.dumps(value, separators=(",", ":"))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def text_table(rows: list) -> str:
    if not rows:
        return ""
    keys = list(rows[0])
    right = [any(_is_number(row[key]) for row in rows) for key in keys]
    lines = [keys] + [[cell(row[key]) for key in keys] for row in rows]
    width = [max(len(line[i]) for line in lines) for i in range(len(keys))]
    said = []
    for line in lines:
        words = [x.rjust(w) if r else x.ljust(w) for x, w, r in zip(line, width, right)]
        if not right[-1]:
            words[-1] = line[-1]
        said.append("  ".join(words))
    return "\n".join(said)


def _is_deep(value: Any) -> bool:
    """Whether a value has lines of its own."""
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], (dict, str)))


def text_object(values: dict, indent: int = 0) -> str:
    """A line for each value; under it, what lies deeper: as `bitcut` prints a single row."""
    width = max((len(key) for key, value in values.items() if not _is_deep(value)), default=0)
    margin, said = " " * indent, []
    for key, value in values.items():
        if not _is_deep(value):
            said.append(f"{margin}{key:{width}}  {cell(value)}")
        elif isinstance(value, dict):
            said += [margin + key] + ([text_object(value, indent + 2)] if value else [])
        elif isinstance(value[0], str):
            said += [f"{margin}{f'{key}[{i}]':{len(key) + 4}}  {x}"
                     for i, x in enumerate(value)]
        elif any(_is_deep(x) for x in value[0].values()):
            for i, x in enumerate(value):
                said += [f"{margin}{key}[{i}]", text_object(x, indent + 2)]
        else:
            said += [margin + key] + [margin + "  " + line
                                      for line in text_table(value).splitlines()]
    return "\n".join(said)


def _html_or_blank(value: Any) -> str:
    return "" if value is None else html_cell(value)


def html_rows(values: dict) -> list:
    """A row for each value that there is."""
    return [{"": key, "value": x} for key, x in values.items() if x is not None]


def html_cell(value: Any) -> str:
    """A value for HTML; what lies deeper is a table in the table."""
    if isinstance(value, dict):
        return html_table(html_rows(value))
    if _is_deep(value) and isinstance(value[0], dict):
        return html_table(value)
    if _is_deep(value):
        return html.escape(", ".join(map(cell, value)))
    return html.escape(cell(value))


def html_table(rows: list) -> str:
    """Without the columns that have no value in any row."""
    keys = [key for key in (rows[0] if rows else ()) if any(row.get(key) is not None for row in rows)]
    if not keys:
        return ""
    head = "".join(f"<th>{html.escape(key)}</th>" for key in keys)
    body = "".join("<tr>" + "".join(f"<td>{_html_or_blank(row.get(key))}</td>" for key in keys)
                   + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Result:
    """The result of a call.  Every value is an attribute; ``to_dict()`` has all except arrays."""

    def __init__(self, **values):
        self.__dict__.update(values)

    @classmethod
    def of(cls, values: dict):
        """One of these values, which it takes."""
        result = cls.__new__(cls)
        result.__dict__ = values
        return result

    def to_dict(self) -> dict:
        return {key: value for key, value in self.__dict__.items()
                if not key.startswith("_") and (value is None or isinstance(
                    value, (bool, int, float, str, list, tuple, dict)))}

    def __getstate__(self):
        """The values that can be copied and stored, without arrays of the caller."""
        return {key: value for key, value in self.__dict__.items() if key != "_problem"}

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...

    def __str__(self):
        return text_object(self.to_dict())

    def __repr__(self):
        return f"<bitcut.{type(self).__name__}\n{self}>"

    def _rows(self) -> list:
        """The table of it in a notebook."""
        return html_rows(self.to_dict())

    def _figure(self) -> str:
        """What a picture says better, as SVG; or nothing."""
        return ""

    def _repr_html_(self):
        """What it says in a sentence, its table, and its figure."""
        said = str(self)
        sentence = "" if "\n" in said else f"<p>{html.escape(said)}</p>"
        return sentence + html_table(self._rows()) + self._figure()
