"""Training in FP32, train.py [SCALE...]: a network of three layers on digits made up here, by
gradient descent, beside the same in FP64.  The gradient of a mean over a batch is small: in
f16 words much of it underflows, unless the loss is multiplied by a power of two, as is done
in practice."""
import sys

import numpy as np

from say import distance, say

random = np.random.default_rng(1)
points, batch, steps, rate = 4096, 1024, 100, 0.2
layers = 64, 128, 128, 10
means = random.normal(0, 0.6, (layers[-1], layers[0]))
target = random.integers(layers[-1], size=points)
data = (means[target] + random.normal(size=(points, layers[0]))).astype(np.float32)
weights = [random.normal(0, (2 / i) ** 0.5, (i, o)).astype(np.float32)
           for i, o in zip(layers, layers[1:])]


def step(w, x, t, scale):
    h1 = np.maximum(x @ w[0], 0)
    h2 = np.maximum(h1 @ w[1], 0)
    out = h2 @ w[2]
    p = np.exp(out - out.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = -np.log(p[range(len(t)), t]).mean(dtype=float)
    p[range(len(t)), t] -= 1
    g = p * p.dtype.type(scale / len(t))
    g2 = h2.T @ g
    g = (g @ w[2].T) * (h2 > 0)
    g1 = h1.T @ g
    g = (g @ w[1].T) * (h1 > 0)
    g0 = x.T @ g
    for part, slope in zip(w, (g0, g1, g2)):
        part -= part.dtype.type(rate / scale) * slope
    return loss


def train(dtype, scale):
    w, losses = [part.astype(dtype) for part in weights], []
    for i in range(steps):
        here = slice(i * batch % points, i * batch % points + batch)
        losses.append(step(w, data[here].astype(dtype), target[here], scale))
    return np.concatenate([part.ravel() for part in w]), losses


exact, exact_losses = train(np.float64, 1)
for scale in map(int, sys.argv[1:] or (1, 4096)):
    w, losses = train(np.float32, scale)
    say('loss * %d' % scale, w, loss=losses[-1], loss_fp64=exact_losses[-1],
        weights=distance(w, exact))

# SPDX-License-Identifier: BSD-3-Clause
