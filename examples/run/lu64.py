# SPDX-License-Identifier: BSD-3-Clause
"""LU with partial pivoting by blocks in FP64, whose updates are calls of DGEMM, and iterative
refinement.  How large is the backward error of the first solution, and how many steps of
refinement does it need to reach 2e-16?  Residuals, triangular solves and the factors of a
block of columns are products of matrices and vectors, which stay in FP64."""
import numpy as np

from say import say

random = np.random.default_rng(1)
n, block, most = 256, 32, 20


def reflect(a):
    """H a for a random reflection H, without BLAS."""
    v = random.normal(size=len(a))
    return a - np.multiply.outer(2 * v / (v * v).sum(), (v[:, None] * a).sum(0))


def matrix(condition):
    # Every operation is rounded alike on all processors, unlike a power.
    a = np.diag(1 / (1 + (condition - 1) * np.arange(n) / (n - 1)))
    for _ in range(4):
        a = reflect(reflect(a).T.copy())
    return a


def factor(a):
    """P, and L and U in one matrix, of P a = L U."""
    a, rows = a.copy(), np.arange(n)
    for start in range(0, n, block):
        end = start + block
        for j in range(start, end):
            pivot = j + np.argmax(abs(a[j:, j]))
            a[[j, pivot]], rows[[j, pivot]] = a[[pivot, j]], rows[[pivot, j]]
            a[j + 1:, j] /= a[j, j]
            a[j + 1:, j + 1:end] -= np.multiply.outer(a[j + 1:, j], a[j, j + 1:end])
        for j in range(start, end):
            a[j + 1:end, end:] -= np.multiply.outer(a[j + 1:end, j], a[j, end:])
        a[end:, end:] -= a[end:, start:end] @ a[start:end, end:]
    return rows, a


def solve(rows, factors, b):
    x = b[rows]
    for j in range(n):
        x[j] -= factors[j, :j] @ x[:j]
    for j in reversed(range(n)):
        x[j] = (x[j] - factors[j, j + 1:] @ x[j + 1:]) / factors[j, j]
    return x


for power in 1, 6, 12:
    a = matrix(10.0 ** power)
    b = random.normal(size=n)
    rows, factors = factor(a)
    size = abs(a).sum(1).max()
    x, errors = np.zeros(n), []
    while len(errors) <= most:
        rest = b - a @ x
        if len(errors) or x.any():
            errors.append(abs(rest).max() / (size * abs(x).max() + abs(b).max()))
            if not errors[-1] > 2e-16:
                break
        x = x + solve(rows, factors, rest)
    done = errors[-1] <= 2e-16
    say('LU 1e%d' % power, factors, first=errors[0], last=errors[-1],
        steps=len(errors) - 1 if done else float('inf'))
