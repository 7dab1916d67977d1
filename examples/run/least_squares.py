"""Least squares in FP32, by SciPy's LSTSQ (the SVD of LAPACK) and by a QR factorization,
for matrices of a given condition number.  x is compared with that of FP64."""
import numpy as np
import scipy.linalg as la

from say import distance, say

random = np.random.default_rng(1)
rows, cols = 800, 200


def matrix(condition):
    left = la.qr(random.normal(size=(rows, cols)), mode='economic')[0]
    right = la.qr(random.normal(size=(cols, cols)))[0]
    return left * np.logspace(0, -np.log10(condition), cols) @ right


def show(case, x, a, b, exact, **more):
    rest = b - a.astype(float) @ x.astype(float)
    slope = la.norm(a.T.astype(float) @ rest) / (la.norm(a) * la.norm(rest))
    say(case, x, error=distance(x, exact), gradient=slope, **more)


for power in 1, 2, 4:
    a = matrix(10.0 ** power).astype(np.float32)
    b = (a @ random.normal(size=cols) + 1e-3 * random.normal(size=rows)).astype(np.float32)
    exact = la.lstsq(a.astype(float), b.astype(float))[0]
    name = '1e%d' % power
    show('lstsq ' + name, la.lstsq(a, b)[0], a, b, exact)
    q, r = la.qr(a, mode='economic')
    wide = q.astype(float)
    show('qr ' + name, la.solve_triangular(r, wide.T @ b), a, b, exact,
         orthogonality=la.norm(wide.T @ wide - np.eye(cols)),
         residual=distance(wide @ r.astype(float), a.astype(float)))

# SPDX-License-Identifier: BSD-3-Clause
