# SPDX-License-Identifier: BSD-3-Clause
"""Block conjugate gradients in FP64 for 8 right sides, whose products are calls of DGEMM.  After
how many iterations does the method believe that all residuals are below 1e-13, and what are the
true residuals then, computed by products of a matrix and a vector in FP64?"""
import numpy as np

from say import say

random = np.random.default_rng(3)
n, sides, most = 256, 8, 300


def reflect(a):
    """H a H for a random reflection H, without BLAS."""
    v = random.normal(size=n)
    for _ in range(2):
        a = (a - np.multiply.outer(2 * v / (v * v).sum(), (v[:, None] * a).sum(0))).T.copy()
    return a


def solve(a, b):
    """a^-1 b of a small matrix, by Gauss-Jordan elimination."""
    m = np.hstack([a, b])
    for j in range(sides):
        pivot = j + np.argmax(abs(m[j:, j]))
        m[[j, pivot]] = m[[pivot, j]]
        m[j] /= m[j, j]
        for i in range(sides):
            if i != j:
                m[i] -= m[i, j] * m[j]
    return m[:, sides:]


def columns(x):
    return np.sqrt((x * x).sum(0))


for power in 2, 4:
    a = np.diag(np.logspace(0, -power, n))
    for _ in range(4):
        a = reflect(a)
    a = (a + a.T) / 2
    b = random.normal(size=(n, sides))
    x, rest = np.zeros_like(b), b.copy()
    p, square = rest.copy(), rest.T @ rest
    iterations = 0
    while iterations < most and (columns(rest) / columns(b)).max() > 1e-13:
        q = a @ p
        step = solve(p.T @ q, square)
        x += p @ step
        rest -= q @ step
        before, square = square, rest.T @ rest
        p = rest + p @ solve(before, square)
        iterations += 1
    believed = (columns(rest) / columns(b)).max()
    true = max(np.sqrt(((b[:, j] - a @ x[:, j]) ** 2).sum()) for j in range(sides)) / columns(b).min()
    say('block CG 1e%d' % power, x, believed=believed, residual=true,
        iterations=iterations if believed <= 1e-13 else float('inf'))
