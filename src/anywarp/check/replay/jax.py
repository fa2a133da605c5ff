"""Compiled functions of JAX, called once more on the recorded inputs; the program gets the results of its own call."""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

from typing import Any

import jax
import numpy as np

from anywarp.check.record.jax import operations
from anywarp.check.record.jax.calls import Compiled, Recorder, slots
from anywarp.check.record.session import Session
from anywarp.check.replay.given import Given


class _Other(Exception):
    """What was recorded does not go into this call."""


class Again(Recorder):
    """A recorder that has a reference."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.given = Given(session.plan)

    def outermost(self, compiled: Compiled, at: tuple[str, int], args: Any, kwargs: Any) -> Any:
        self.guarded(lambda: self._again(compiled, at, args, kwargs))
        return compiled._compiled(*args, **kwargs)

    def _again(self, compiled: Compiled, at: tuple[str, int], args: Any, kwargs: Any) -> None:
        names = [slot for slot, _ in slots((args, kwargs))]
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        try:
            chosen = iter(names)
            recorded = [self._recorded(at, next(chosen), leaf) if _is_kept(leaf) else leaf for leaf in leaves]
        except _Other as error:
            self.session.note(f"{at[0]}, call {at[1]}: {error}: not run on the recorded inputs")
            return
        again, named = jax.tree_util.tree_unflatten(tree, recorded)
        found = operations.of(compiled._compiled.trace(*again, **named).jaxpr)
        if self.plan.precise:
            self.take_precise(compiled, at, recorded, tree)
        is_product = found.products == 1 and not found.others
        sizes = self._sizes(compiled, recorded, tree) if is_product and self.plan.mode == "tensors" else {}
        self.results(at, compiled._compiled(*again, **named), found, "isolated")
        for run, out in sizes.items():
            self.results(at, out, found, run)

    def _recorded(self, at: tuple[str, int], slot: str, leaf: Any) -> Any:
        entry = self.given.entry(*at, slot)
        if entry is None or entry.blob is None:
            raise _Other(f"{slot} is not in the recording")
        values = self.given.values(entry)
        if isinstance(leaf, bool | int | float | complex):
            return type(leaf)(values.item())
        if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.wrap_key_data(jax.numpy.asarray(values), impl=jax.random.key_impl(leaf))
        if np.shape(leaf) != entry.shape:
            raise _Other(f"{slot} has the shape {np.shape(leaf)}, not the recorded {entry.shape}")
        plain = values.astype(leaf.dtype)
        return jax.device_put(plain, leaf.sharding) if isinstance(leaf, jax.Array) else plain

    def _sizes(self, compiled: Compiled, leaves: list[Any], tree: Any) -> dict[str, Any]:
        """Return, of a function that is one product, the sum of its terms' sizes and the root of the sum of their squares (docs/verify-bounds.md)."""

        def run(change: Any) -> Any:
            args, kwargs = jax.tree_util.tree_unflatten(
                tree, [change(leaf) if _is_kept(leaf) else leaf for leaf in leaves]
            )
            return compiled._compiled(*args, **kwargs)

        squares = run(lambda leaf: leaf * leaf)
        return {"magnitude": run(abs), "norm": jax.tree_util.tree_map(jax.numpy.sqrt, squares)}


def _is_kept(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray | np.generic | bool | int | float | complex)
