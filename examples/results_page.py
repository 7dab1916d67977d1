"""A page of results as notebooks show them.  PYTHONPATH=python python3 examples/results_page.py
> results.html"""

import numpy as np

import bitcut

STYLE = """body { font-family: sans-serif; margin: 2em; color-scheme: light dark }
table { border-collapse: collapse; margin: 1em 0; font-size: 13px }
td, th { padding: 2px 8px; text-align: right; vertical-align: top }"""

rng = np.random.default_rng(1)
a, b = (rng.standard_normal(shape).astype("f4") for shape in ((64, 96), (96, 48)))
way = {"recipe": "ootomo", "unit": "h100"}
x, y = a[:8, :16].astype("f2"), b[:16, :8].astype("f2")
c = rng.standard_normal((8, 8)).astype("f4")
wide = np.ldexp(a, rng.integers(-26, 16, a.shape)).astype("f4")
d = bitcut.gemm(a, b, **way).d

results = [
    ("bitcut.gemm(a, b, recipe='ootomo', unit='h100')", bitcut.gemm(a, b, **way)),
    ("bitcut.verify(d, a, b, recipe='ootomo', unit='h100')", bitcut.verify(d, a, b, **way)),
    ("bitcut.judge(d, a, b, recipe='ootomo', unit='h100')", bitcut.judge(d, a, b, **way)),
    ("bitcut.budget(a, b, recipe='ootomo', unit='h100')", bitcut.budget(a, b, **way)),
    ("bitcut.tolerance(a, b, recipe='ootomo', unit='h100')", bitcut.tolerance(a, b, **way)),
    ("bitcut.explain(d, a, b, recipe='ootomo')", bitcut.explain(d, a, b, recipe="ootomo")),
    ("bitcut.advise(a, b, unit='h100')", bitcut.advise(a, b, unit="h100")),
    ("bitcut.retention(wide, 'halfhalf')", bitcut.retention(wide, "halfhalf")),
    ("bitcut.fit(x, y, c, bitcut.mma(x, y, c, unit='h100'), unit='h100')",
     bitcut.fit(x, y, c, bitcut.mma(x, y, c, unit="h100"), unit="h100")),
    ("bitcut.splits()", bitcut.splits()),
]
print(f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>bitcut</title>"
      f"<style>{STYLE}</style></head><body><h1>Results of bitcut {bitcut.__version__}</h1>")
for call, result in results:
    print(f"<h2><code>{call}</code></h2>{result._repr_html_()}")
print("</body></html>")

# SPDX-License-Identifier: BSD-3-Clause
