"""Time jax programs through its plugin for CUDA on anywarp against jax's own CPU backend, in one process, on one processor.

    python benchmarks/clients_jax.py PYTHON [ROW...]

PYTHON has jax and its plugin for CUDA without NVIDIA's packages (scripts/ci.d/clients makes one). Each program is compiled for both
backends, and their runs alternate; prints the best time of each in ms, the ratio, and the largest difference between the results,
as a share of the largest element.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS, SECONDS = 7, 0.15
"""Measurements of each backend, and how long one lasts at least."""

COMPILED = 20
"""Seconds in which what is compiled in the background becomes ready."""

ROWS, COLUMNS = 1024, 1024


def programs() -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Return functions of jax and their arguments, as numpy arrays."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    rng = np.random.default_rng(0)
    normal = lambda *shape: rng.standard_normal(shape, dtype=np.float32)  # noqa: E731
    wide = [normal(ROWS, COLUMNS) for _ in range(3)]
    small = [normal(512, 512) for _ in range(2)]
    rows = rng.permutation(ROWS).astype(np.int32)
    layers = [normal(256, 512) * 0.05, normal(512, 512) * 0.05, normal(512, 10) * 0.05]
    image, filters = normal(8, 16, 64, 64), normal(32, 16, 3, 3)

    def loss(weights: list[Any], x: Any, y: Any) -> Any:
        for w in weights[:-1]:
            x = jnp.tanh(x @ w)
        return -(jax.nn.log_softmax(x @ weights[-1]) * y).sum(-1).mean()

    def step(w0: Any, w1: Any, w2: Any, x: Any, y: Any) -> Any:
        weights = [w0, w1, w2]
        return [w - 0.01 * g for w, g in zip(weights, jax.grad(loss)(weights, x, y), strict=True)]

    def layernorm(x: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)

    unary = {
        "exp": jnp.exp, "log": lambda x: jnp.log(jnp.abs(x) + 0.1), "tanh": jnp.tanh, "erf": jax.lax.erf,
        "rsqrt": lambda x: jax.lax.rsqrt(jnp.abs(x) + 0.1), "sin": jnp.sin, "pow": lambda x: jnp.abs(x) ** 1.7,
    }  # fmt: skip
    return {
        **{name: (function, wide[:1]) for name, function in unary.items()},
        "fused": (lambda x, y, z: jnp.maximum(x * y + z, 0) * 0.5 - x, wide),
        "gelu": (lambda x: jax.nn.gelu(x, approximate=False), wide[:1]),
        "training step": (step, [*layers, normal(128, 256), np.eye(10, dtype=np.float32)[rng.integers(0, 10, 128)]]),
        "product": (lambda x, y: jnp.matmul(x, y, precision="highest"), small),
        "convolution": (lambda x, k: jax.lax.conv(x, k, (1, 1), "SAME"), [image, filters]),
        "softmax": (lambda x: jax.nn.softmax(x), wide[:1]),
        "layernorm": (layernorm, wide[:1]),
        "sum of rows": (lambda x: x.sum(1), wide[:1]),
        "sum of columns": (lambda x: x.sum(0), wide[:1]),
        "sort": (lambda x: jnp.sort(x.ravel()[: 1 << 17]), wide[:1]),
        "cumsum": (lambda x: jnp.cumsum(x, axis=1), wide[:1]),
        "gather": (lambda x, i: x[i], [wide[0], rows]),
        "scatter": (lambda x, i: jnp.zeros_like(x).at[i].add(x), [wide[0], rows]),
        "transpose": (lambda x: x.T + 1, wide[:1]),
        "transpose 3d": (lambda x: x.reshape(64, 16, 1024).transpose(1, 0, 2) * 2, wide[:1]),
    }


def measure(chosen: list[str]) -> None:
    """Print a row per program; in a process that anywarp runs."""
    import jax
    import numpy as np

    host, device = jax.devices("cpu")[0], jax.devices("gpu")[0]
    print(f"{'program':16}{'jax[cpu] ms':>12}{'anywarp ms':>12}{'ratio':>8}{'difference':>12}", flush=True)
    for name, (function, arguments) in programs().items():
        if chosen and name not in chosen:
            continue
        run, best, results = jax.jit(function), dict[Any, float](), dict[Any, Any]()
        placed = {place: jax.device_put(arguments, place) for place in (host, device)}
        for place in placed:
            results[place] = jax.block_until_ready(run(*placed[place]))
        for _ in range(ROUNDS):
            for place, given in placed.items():
                begin, count = time.perf_counter(), 0
                while time.perf_counter() - begin < SECONDS:
                    once = time.perf_counter()
                    jax.block_until_ready(run(*given))
                    best[place] = min(best.get(place, 1e9), time.perf_counter() - once)
                    count += 1
        leaves = [[np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(results[p])] for p in (host, device)]
        off = max(float(abs(a - b).max() / max(abs(a).max(), 1e-30)) for a, b in zip(*leaves, strict=True))
        a, b = best[host] * 1e3, best[device] * 1e3
        print(f"{name:16}{a:12.3f}{b:12.3f}{b / a:8.2f}{off:12.1e}", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        measure(sys.argv[2:])
        return
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    python, *chosen = sys.argv[1:]
    one = max(os.sched_getaffinity(0))
    command = [sys.executable, "-m", "anywarp", "run", "--", python, str(Path(__file__).resolve()), "--worker", *chosen]
    for output in (subprocess.DEVNULL, None):  # the first run has the code compiled in full, and cached
        subprocess.run(command, check=True, stdout=output, preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        time.sleep(COMPILED if output else 0)


if __name__ == "__main__":
    main()
