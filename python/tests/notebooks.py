# SPDX-License-Identifier: BSD-3-Clause
"""Runs the code cells of notebooks, without Jupyter: what each prints, and the value of its last
expression as text and, where it has one, as HTML.  As a program it writes these outputs into
the notebooks that are named: python3 python/tests/notebooks.py examples/*.ipynb"""

import ast
import contextlib
import io
import json
import pathlib
import sys


def lines(text):
    """A text as notebooks keep it."""
    return text.splitlines(keepends=True)


def run(source, names):
    """The outputs of a cell; `names` are the variables before and after it."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream",
                        "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": lines(value._repr_html_()), **data}
        outputs.append({"data": data, "metadata": {}, "output_type": "execute_result"})
    return outputs


def computed(notebook):
    """A notebook with the outputs that its cells have, run in order."""
    names, count = {"__name__": "__main__"}, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        cell["execution_count"] = count
        cell["outputs"] = run("".join(cell["source"]), names)
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = count
    return notebook


def text(notebook):
    """It as it is kept in a file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        path.write_text(text(computed(json.loads(path.read_text("utf-8")))), "utf-8")
