"""How results look: as `bitcut` prints rows, in notebooks, and as dicts."""

from __future__ import annotations

import html
import json
from typing import Any


def cell(value: Any) -> str:
    """A value as the program prints it in a table."""
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


def html_table(rows: list) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{html.escape(key)}</th>" for key in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell(x))}</td>" for x in row.values())
                   + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Result:
    """What a call found.  Every value is an attribute; ``to_dict()`` has all but arrays, with
    the names that the program's ``--json`` has for them."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def to_dict(self) -> dict:
        return {key: value for key, value in self.__dict__.items()
                if not key.startswith("_") and (value is None or isinstance(
                    value, (bool, int, float, str, list, tuple, dict)))}

    def __str__(self):
        values = self.to_dict()
        width = max((len(key) for key in values), default=0)
        return "\n".join(f"{key:{width}}  {cell(value)}" for key, value in values.items())

    def __repr__(self):
        return f"<bitcut.{type(self).__name__}\n{self}>"

    def _repr_html_(self):
        return html_table([{"": key, "value": value} for key, value in self.to_dict().items()])
