"""JAX on two devices: each way of dividing work among them, and the collectives that it needs, against numpy in f64."""

import os

os.environ["ANYWARP_DEVICES"] = "2"

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from checked import check, end
from jax.sharding import AxisType, NamedSharding, PartitionSpec

assert jax.default_backend() == "gpu"
assert jax.device_count() == 2, jax.devices()
jax.config.update("jax_default_matmul_precision", "highest")
rng = np.random.default_rng(0)
a, b = (rng.standard_normal((64, 64)).astype(np.float32) for _ in range(2))
wide, other = a.astype(np.float64), b.astype(np.float64)
halves = wide.reshape(2, 32, 64)
mesh = jax.make_mesh((2,), ("d",), axis_types=(AxisType.Auto,))
whole, by_rows, by_columns = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("d", None), (None, "d")))


def divided(axes_in, axes_out, function, **settings):
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=axes_in, out_specs=axes_out, **settings))


rows, columns = PartitionSpec("d"), PartitionSpec(None, "d")
sums = {
    "sum": (jax.lax.psum, halves.sum(0)),
    "mean": (jax.lax.pmean, halves.mean(0)),
    "largest": (jax.lax.pmax, halves.max(0)),
    "smallest": (jax.lax.pmin, halves.min(0)),
}
for name, (collective, wanted) in sums.items():
    check(
        f"pmap, {name}",
        lambda collective=collective: jax.pmap(partial(collective, axis_name="d"), axis_name="d")(a.reshape(2, 32, 64)),
        np.stack([wanted, wanted]),
        1e-6,
    )
for kind, bound in {
    "bfloat16": 1e-2,
    "float16": 1e-3,
    "int32": 0,
    "uint8": 0,
    "float64": 1e-14,
    "complex64": 1e-6,
}.items():
    with jax.enable_x64(True):
        numbers = jnp.asarray(
            rng.integers(0, 100, (2, 1000)) if "int" in kind else rng.standard_normal((2, 1000)), kind
        )
        exact = np.asarray(numbers.astype("complex128" if kind == "complex64" else "float64"))
        check(
            f"sum of {kind}",
            lambda numbers=numbers: np.asarray(
                jax.pmap(lambda x: jax.lax.psum(x, "d"), axis_name="d")(numbers).astype(
                    numbers.dtype if numbers.dtype == "complex64" else "float64"
                )
            ),
            np.stack([exact.sum(0)] * 2),
            bound,
        )
check(
    "gather",
    lambda: divided(rows, PartitionSpec(), lambda x: jax.lax.all_gather(x, "d", tiled=True), check_vma=False)(a),
    a,
    0,
)
check(
    "scattered sum",
    lambda: divided(rows, rows, lambda x: jax.lax.psum_scatter(x, "d", tiled=True))(a),
    halves.sum(0),
    1e-6,
)
check(
    "all to all",
    lambda: divided(rows, columns, lambda x: jax.lax.all_to_all(x, "d", 1, 0, tiled=True))(a),
    a,
    0,
)
check(
    "to the neighbour",
    lambda: divided(rows, rows, lambda x: jax.lax.ppermute(x, "d", [(0, 1), (1, 0)]))(a),
    np.roll(a, 32, 0),
    0,
)
check(
    "which device",
    lambda: divided(rows, rows, lambda x: x * 0 + jax.lax.axis_index("d"))(a)[:, 0],
    np.repeat([0, 1], 32),
    0,
)
check(
    "shard_map, a product by pieces",
    lambda: divided((columns, rows), PartitionSpec(), lambda x, y: jax.lax.psum(x @ y, "d"))(a, b),
    wide @ other,
    1e-6,
)
for name, left, right in (
    ("rows", by_rows, whole),
    ("columns", whole, by_columns),
    ("the inner axis", by_columns, by_rows),
):
    check(
        f"jit, divided by {name}",
        lambda left=left, right=right: jax.jit(jnp.matmul, out_shardings=whole)(
            jax.device_put(a, left), jax.device_put(b, right)
        ),
        wide @ other,
        1e-6,
    )
check("divided anew", lambda: jax.device_put(jax.device_put(a, by_rows), by_columns) + 0, a, 0)
check(
    "sorted over both",
    lambda: jax.jit(jnp.sort)(jax.device_put(a.ravel(), NamedSharding(mesh, rows))),
    np.sort(a.ravel()),
    0,
)


def loss(weights, given, goal):
    return jnp.mean((jnp.tanh(given @ weights[0]) @ weights[1] - goal) ** 2)


@jax.jit
def step(weights, given, goal):
    value, slopes = jax.value_and_grad(loss)(weights, given, goal)
    return value, [weight - 0.5 * slope for weight, slope in zip(weights, slopes)]


def train(weights, given, goal):
    values = []
    for _ in range(5):
        value, weights = step(weights, given, goal)
        values.append(float(value))
    return np.concatenate([values, *(np.asarray(weight).ravel() for weight in weights)])


weights = [rng.standard_normal(shape).astype(np.float32) / 8 for shape in ((64, 32), (32, 64))]
with jax.default_device(jax.devices("cpu")[0]):
    wanted = train([jax.device_put(each, jax.devices("cpu")[0]) for each in weights], a, b)
check(
    "training, data divided",
    lambda: train(jax.device_put(weights, whole), jax.device_put(a, by_rows), jax.device_put(b, by_rows)),
    wanted,
    1e-5,
)
check(
    "training, weights divided",
    lambda: train(
        [jax.device_put(weights[0], by_columns), jax.device_put(weights[1], by_rows)],
        jax.device_put(a, whole),
        jax.device_put(b, whole),
    ),
    wanted,
    1e-5,
)
end()
