# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the library, as `bitcut list` prints them."""

from __future__ import annotations

import functools
import json
from typing import Any

from ._library import BadArgument, Field, byref, lib, text
from ._results import html_table, text_table

BOOL, NUMBER, TEXT, NUMBERS, TEXTS = 1, 2, 3, 4, 5


def _number(said: str):
    return float(said) if any(c in said for c in ".en") else int(said)


def value_of(field: Field) -> Any:
    """What the text of a field says."""
    said = field.text.decode()
    if field.kind == BOOL:
        return said == "true"
    if field.kind == NUMBER:
        return _number(said)
    if field.kind == TEXT:
        return said
    if field.kind == NUMBERS:
        return [_number(line) for line in said.splitlines()]
    return said.splitlines() if field.kind == TEXTS else None


class Table(list):
    """Rows of a table, each a dict: ``name``, its fields, ``what``.  A table prints like `bitcut
    list`, is shown as a table in notebooks, and can be passed to ``pandas.DataFrame``."""

    def __init__(self, name: str, what: str, rows):
        super().__init__(rows)
        self.name, self.what = name, what

    def find(self, name: str) -> dict:
        """The row with this name.  BadArgument: the name is unknown."""
        for row in self:
            if row["name"] == name:
                return row
        raise BadArgument(f"{name}: not in bitcut.{self.name}()")

    def names(self) -> list:
        return [row["name"] for row in self]

    def to_dict(self) -> list:
        """The rows, as a list of dicts."""
        return [dict(row) for row in self]

    def __str__(self):
        return text_table(self)

    def __repr__(self):
        return f"<bitcut table {self.name}: {len(self)} rows>"

    def _repr_html_(self):
        return html_table(self)


def _row(table, row) -> dict:
    fields, field, i = {"name": lib.bitcut_row_name(row).decode()}, Field(), 0
    while lib.bitcut_row_field(byref(field), table, row, i):
        fields[field.name.decode()] = value_of(field)
        i += 1
    return {**fields, "what": lib.bitcut_row_what(row).decode()}


@functools.lru_cache(maxsize=None)
def _read(name: str) -> Table:
    table = lib.bitcut_table_find(text(name, "table"))
    if not table:
        raise BadArgument(f"{name}: unknown table; bitcut.tables() has all")
    rows, row = [], lib.bitcut_row_next(table, None)
    while row:
        rows.append(_row(table, row))
        row = lib.bitcut_row_next(table, row)
    return Table(name, lib.bitcut_table_what(table).decode(), rows)


def table(name: str) -> Table:
    """The rows of the table of that name."""
    found = _read(name)
    return Table(found.name, found.what, json.loads(json.dumps(found)))


def tables() -> Table:
    """Every table of the library, with a description of its rows."""
    rows, at = [], lib.bitcut_table_next(None)
    while at:
        rows.append({"name": lib.bitcut_table_name(at).decode(),
                     "what": lib.bitcut_table_what(at).decode()})
        at = lib.bitcut_table_next(at)
    return Table("tables", "tables of the library", rows)


def formats() -> Table:
    """Floating-point formats."""
    return _read("formats")
