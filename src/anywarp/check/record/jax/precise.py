"""Running a function of JAX in float64 on the processor."""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from anywarp.check.record.jax import operations


def of_function(function: Callable[..., Any], leaves: list[Any], tree: Any) -> Any:
    """Return what a function, not compiled, makes of arguments in float64.

    ValueError: it draws random numbers, of which float64 has others, or rounds in between. Raises what the function raises.
    """
    with jax.enable_x64(True), jax.default_device(jax.local_devices(backend="cpu")[0]):
        wide = [_widened(leaf) for leaf in leaves]
        arrays = {number: leaf for number, leaf in enumerate(wide) if isinstance(leaf, np.ndarray)}

        def of_arrays(given: dict[int, Any]) -> Any:
            args, kwargs = jax.tree_util.tree_unflatten(tree, [given.get(n, leaf) for n, leaf in enumerate(wide)])
            return function(*args, **kwargs)  # what is static stays so

        called = jax.jit(of_arrays)
        found = operations.of(called.trace(arrays).jaxpr)
        if found.random:
            raise ValueError("it draws random numbers")
        if found.narrowed:
            raise ValueError("it converts to narrower types in between")
        return called(arrays)


def _widened(leaf: Any) -> Any:
    dtype = getattr(leaf, "dtype", None)
    if dtype is None or not jax.numpy.issubdtype(dtype, np.floating):
        return (
            np.asarray(leaf)
            if isinstance(leaf, jax.Array) and not jax.dtypes.issubdtype(dtype, jax.dtypes.extended)
            else leaf
        )
    return np.asarray(leaf).astype(np.float64)
