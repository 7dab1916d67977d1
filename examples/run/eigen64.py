# SPDX-License-Identifier: BSD-3-Clause
"""The 8 largest eigenvalues of a symmetric matrix in FP64 by subspace iteration; the products
with the subspace are calls of DGEMM.  After how many iterations is the residual below 1e-14 of
the norm, which residual is the smallest of 60 iterations, and how large are the errors of the
eigenvalues?  The residual is computed by products of a matrix and a vector, in FP64."""
import numpy as np

from say import say

random = np.random.default_rng(2)
n, wanted, width, most = 256, 8, 12, 60


def reflect(a):
    """H a H for a random reflection H, without BLAS."""
    v = random.normal(size=n)
    for _ in range(2):
        a = (a - np.multiply.outer(2 * v / (v * v).sum(), (v[:, None] * a).sum(0))).T.copy()
    return a


def orthogonal(y):
    """The same subspace, by Gram-Schmidt with each vector twice."""
    q = y.copy()
    for j in range(width):
        for _ in range(2):
            for i in range(j):
                q[:, j] -= (q[:, i] * q[:, j]).sum() * q[:, i]
        q[:, j] /= np.sqrt((q[:, j] * q[:, j]).sum())
    return q


exact = 0.5 ** np.arange(n)
a = np.diag(exact)
for _ in range(4):
    a = reflect(a)
a = (a + a.T) / 2
q = orthogonal(random.normal(size=(n, width)))
residuals = []
while len(residuals) < most:
    y = a @ q
    values, vectors = np.linalg.eigh((q.T @ y + y.T @ q) / 2)
    ritz = (q @ vectors)[:, ::-1]
    values = values[::-1]
    residuals.append(max(abs(a @ ritz[:, j] - values[j] * ritz[:, j]).max()
                         for j in range(wanted)))
    q = orthogonal(y @ vectors[:, ::-1])
few = next((i + 1 for i, x in enumerate(residuals) if x <= 1e-14), float('inf'))
say('subspace', ritz, iterations=few, residual=min(residuals),
    values=abs(values - exact[:width])[:wanted].max())
