"""A program of JAX to be recorded, which knows nothing of it: a product, a small network with keys for dropout, donated state; `broken` is what is wrong with it."""

import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

broken, *_ = [*sys.argv[1:], ""]
rng = np.random.default_rng(7 if "other" not in broken else 8)


@jax.jit
def product(a, b):
    return (a @ b) * 1.001 if broken == "product" else a @ b


@partial(jax.jit, static_argnames="layers", donate_argnums=0)
def step(state, weights, key, *, layers):
    for _ in range(layers):
        state = jnp.tanh(product(state, weights["w"]) + weights["b"])
    kept = jax.random.bernoulli(key, 0.9, state.shape)
    return {"state": jnp.where(kept, state, 0), "norm": jnp.sum(state * state) * (1.01 if broken == "norm" else 1)}


@jax.jit
def network(x, w):
    hidden = jax.nn.gelu(x @ w)
    return (hidden / hidden.std()) @ w.T * (1.02 if broken == "network" else 1)


w = rng.normal(size=(96, 96)).astype(np.float32) / 9
for number in range(2):
    a = rng.normal(size=(32, 96)).astype(np.float32)
    print(float(product(a, jnp.asarray(w)).sum()))
    out = step(jnp.asarray(a), {"w": w, "b": np.zeros(96, np.float32)}, jax.random.key(number), layers=2)
    print(out["state"].shape, float(out["norm"]))
    print(float(network(jnp.asarray(a), w).mean()))
