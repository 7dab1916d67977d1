"""Eigenproblems in FP32 by LAPACK: symmetric ones by QR iterations and by divide and conquer,
and a general one.  The blocked reduction to tridiagonal form calls SSYR2K and SSYMV, not
SGEMM: of QR iterations the eigenvalues are the same bits on every unit, and only vectors
differ.  The reduction to Hessenberg form calls SGEMM."""
import numpy as np
import scipy.linalg as la

from say import say

random = np.random.default_rng(1)
n = 300
a = random.normal(size=(n, n)).astype(np.float32)


def show(case, a, values, vectors, exact):
    wide = vectors.astype(np.complex128)
    size = la.norm(a.astype(float), 2)
    near = abs(np.subtract.outer(values, exact)).min(1)  # to the nearest exact one
    say(case, vectors, residual=la.norm(a @ wide - wide * values) / (np.sqrt(n) * size),
        values=near.max() / size)


symmetric = (a + a.T) / 2
exact = la.eigvalsh(symmetric.astype(float))
show('symmetric QR', symmetric, *la.eigh(symmetric, driver='ev'), exact)
show('symmetric D&C', symmetric, *la.eigh(symmetric, driver='evd'), exact)
show('general', a, *la.eig(a), la.eigvals(a.astype(float)))

# SPDX-License-Identifier: BSD-3-Clause
