"""A training of four layers by JAX, whose steps are CUDA graphs that XLA updates: buffers
move from step to step.  XLA_FLAGS=--xla_gpu_enable_triton_gemm=false lets cuBLAS multiply.

    bitcut run --recipe ootomo --device cuda -- python3 jax_training.py [n [steps]]
"""
import sys

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_default_matmul_precision", "highest")
n = int(sys.argv[1]) if len(sys.argv) > 1 else 512
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 40
rng = np.random.default_rng(1)


def loss(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return (x * x).sum()


@jax.jit
def step(weights, x):
    value, gradient = jax.value_and_grad(loss)(weights, x)
    return value, [w - 1e-4 * g for w, g in zip(weights, gradient)]


def normal():
    return rng.standard_normal((n, n)).astype("f4")


weights = [jnp.asarray(normal() / np.sqrt(n)) for _ in range(4)]
kept = []
for i in range(steps):
    value, weights = step(weights, jnp.asarray(normal()))
    if i % 3 == 0:
        kept.append(weights)
print(f"loss {float(value):.9g}")

# SPDX-License-Identifier: BSD-3-Clause
