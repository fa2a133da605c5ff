"""JAX with its plugin for CUDA: operators, linear algebra, a transformation of each kind, against numpy in f64."""

import jax
import jax.numpy as jnp
import numpy as np
from checked import check, end

assert jax.default_backend() == "gpu", jax.devices()
rng = np.random.default_rng(0)
a, b = (rng.standard_normal((64, 64)).astype(np.float32) for _ in range(2))
wide, other = a.astype(np.float64), b.astype(np.float64)
x, y = jnp.asarray(a), jnp.asarray(b)
spd = wide @ wide.T + 64 * np.eye(64)

check("elementwise", lambda: jnp.exp(x) * y + jnp.tanh(x), np.exp(wide) * other + np.tanh(wide), 1e-6)
check("sum", lambda: x.sum(0), wide.sum(0), 1e-6)
check("product", lambda: jnp.matmul(x, y, precision="highest"), wide @ other, 1e-6)
check(
    "product of bf16", lambda: (x.astype(jnp.bfloat16) @ y.astype(jnp.bfloat16)).astype(jnp.float32), wide @ other, 2e-2
)
check("product of f16", lambda: (x.astype(jnp.float16) @ y.astype(jnp.float16)).astype(jnp.float32), wide @ other, 3e-3)
check(
    "batched product",
    lambda: jnp.einsum("bij,bjk->bik", jnp.stack([x, y]), jnp.stack([y, x]), precision="highest"),
    np.stack([wide @ other, other @ wide]),
    1e-6,
)
check("sort", lambda: jnp.sort(x.ravel()), np.sort(a.ravel()), 0)
check("argsort", lambda: jnp.argsort(x.ravel()), np.argsort(a.ravel(), kind="stable"), 0)
check("cumsum", lambda: jnp.cumsum(x.ravel()), np.cumsum(wide.ravel()), 1e-5)
check("softmax", lambda: jax.nn.softmax(x), np.exp(wide) / np.exp(wide).sum(-1, keepdims=True), 1e-6)
check(
    "gather and scatter",
    lambda: jnp.zeros(64).at[jnp.arange(64) % 7].add(x[0]),
    [wide[0][i::7].sum() if i < 7 else 0 for i in range(64)],
    1e-6,
)
check(
    "scan",
    lambda: jax.lax.scan(lambda c, row: (c * 0.5 + row.sum(), c), 0.0, x)[0],
    float(sum(r.sum() * 0.5 ** (63 - i) for i, r in enumerate(wide))),
    1e-5,
)
check("while", lambda: jax.lax.while_loop(lambda v: v < 1000, lambda v: v * 3, 1), 2187, 0)
check("random", lambda: abs(jax.random.normal(jax.random.key(0), (4096,)).std() - 1) < 0.05, True, 0)


def loss(weights, given):
    return jnp.mean(jnp.tanh(given @ weights[0]) @ weights[1])


w = [rng.standard_normal((64, 64)).astype(np.float32) * 0.1 for _ in range(2)]
hidden = np.tanh(wide @ w[0].astype(np.float64))
back = (np.ones((64, 64)) / 4096) @ w[1].astype(np.float64).T * (1 - hidden**2)
with jax.default_matmul_precision("highest"):
    check("gradient", lambda: jax.jit(jax.grad(loss))([jnp.asarray(v) for v in w], x)[0], wide.T @ back, 1e-5)
check("vmap", lambda: jax.vmap(lambda r: r @ r)(x), (wide**2).sum(1), 1e-5)
kernel = np.ones((1, 1, 3, 3), np.float32)
check(
    "convolution",
    lambda: jax.lax.conv(x[None, None], jnp.asarray(kernel), (1, 1), "VALID")[0, 0],
    sum(wide[i : 62 + i, j : 62 + j] for i in range(3) for j in range(3)),
    1e-5,
)
check("cholesky", lambda: jnp.linalg.cholesky(jnp.asarray(spd, jnp.float32)), np.linalg.cholesky(spd), 1e-5)
check("solve", lambda: jnp.linalg.solve(jnp.asarray(spd, jnp.float32), y), np.linalg.solve(spd, other), 1e-5)
check("qr", lambda: jnp.abs(jnp.linalg.qr(x)[1]), np.abs(np.linalg.qr(wide)[1]), 1e-5)
check("eigh", lambda: jnp.linalg.eigh(x + x.T)[0], np.linalg.eigvalsh(wide + wide.T), 1e-5)
check("svd", lambda: jnp.linalg.svd(x, compute_uv=False), np.linalg.svd(wide, compute_uv=False), 1e-5)
check(
    "lu",
    lambda: jax.scipy.linalg.lu(x)[2].diagonal().prod() ** 0 * jnp.linalg.slogdet(x)[1],
    np.linalg.slogdet(wide)[1],
    1e-5,
)
check("fft", lambda: jnp.fft.fft2(x), np.fft.fft2(wide), 1e-6)
check("rfft", lambda: jnp.fft.irfft(jnp.fft.rfft(x)), wide, 1e-6)
end()
