"""Mixed precision: LU of a matrix in FP32 (SGETRF, whose updates are products of a unit),
residuals and x in FP64.  How many steps of iterative refinement are needed, by the
condition number, until the backward error is 1e-14?"""
import numpy as np
import scipy.linalg as la
from numpy.linalg import norm

from say import distance, say

random = np.random.default_rng(1)
n, most = 400, 40


def matrix(condition):
    left, right = (la.qr(random.normal(size=(n, n)))[0] for _ in range(2))
    return left * np.logspace(0, -np.log10(condition), n) @ right


def refine(a, b):
    factors = la.lu_factor(a.astype(np.float32))
    x, errors = np.zeros(n), []
    for _ in range(most + 1):
        rest = b - a @ x
        size = norm(rest, np.inf)
        errors.append(size / (norm(a, np.inf) * norm(x, np.inf) + norm(b, np.inf)))
        if errors[-1] <= 1e-14 or not np.isfinite(size):
            break
        # What is solved for is near 1: it does not underflow.
        part = (rest / size).astype(np.float32)
        x = x + size * la.lu_solve(factors, part, check_finite=False)
    return factors[0], x, errors[1:]


for power in 1, 2, 3, 4, 5, 6:
    a = matrix(10.0 ** power)
    exact = random.normal(size=n)
    b = a @ exact
    factors, x, errors = refine(a, b)
    say('1e%d' % power, factors, first=errors[0], error=distance(x, exact),
        steps=len(errors) - 1 if errors[-1] <= 1e-14 else float('inf'))

# SPDX-License-Identifier: BSD-3-Clause
