"""Matrix products of NumPy.  The operand decides what a unit loses: signs that cancel,
positive sums that grow, values below 2^-14, and A @ A.T, which NumPy computes by SSYRK."""
import numpy as np

from say import distance, say

random = np.random.default_rng(1)
m, n, k = 384, 320, 2048


def signed(rows, cols):
    return random.random((rows, cols), dtype=np.float32) * 2 - 1


def show(case, a, b):
    d = a @ b
    say(case, d, relres=distance(d, a.astype(float) @ b.astype(float)))


a, b = signed(m, k), signed(k, n)
show('signed', a, b)
show('positive', abs(a), abs(b))
show('small', a * np.float32(2 ** -15), b)
show('syrk', a, a.T)

# SPDX-License-Identifier: BSD-3-Clause
