"""Where a program's functions are compiled: `jax.jit`, whose results are wrapped; calls of one within another are its own business.

JAX itself compiles its functions by another name of the same, so that none of its own are seen.
"""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from anywarp.check.record import arrays
from anywarp.check.record.functions import Functions
from anywarp.check.record.jax import operations, precise
from anywarp.check.record.session import Session


class Compiled:
    """A compiled function whose calls pass the recorder; all else is as JAX has it."""

    def __init__(self, recorder: Recorder, function: Callable[..., Any], compiled: Any) -> None:
        functools.update_wrapper(self, function, updated=())
        self._recorder, self._function, self._compiled = recorder, function, compiled

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._recorder.called(self, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and not name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._compiled, name)

    def __repr__(self) -> str:
        return repr(self._compiled)


class Recorder(Functions):
    """Records the calls of compiled functions."""

    def __init__(self, session: Session) -> None:
        mine = session.facts is dict
        super().__init__(session, "jax", "jax", "jaxlib")
        self._inside = threading.local()
        self._names: dict[Any, str] = {}
        self._taken: dict[str, int] = {}
        if mine:
            session.facts, session.rank = facts, rank

    def called(self, compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a compiled function as the program does, and record it where it is the outermost one."""
        if getattr(self._inside, "one", False) or is_traced((args, kwargs)):
            return compiled._compiled(*args, **kwargs)
        self._inside.one = True
        try:
            name = self._name(compiled._function)
            call = self.begin(name)
            return (
                compiled._compiled(*args, **kwargs)
                if call is None
                else self.outermost(compiled, (name, call), args, kwargs)
            )
        finally:
            self._inside.one = False

    def outermost(self, compiled: Compiled, at: tuple[str, int], args: Any, kwargs: Any) -> Any:
        """Call an outermost function and record it."""
        before = self.guarded(lambda: self._before(compiled, at, args, kwargs))  # donated arguments are gone afterwards
        out = compiled._compiled(*args, **kwargs)
        self.guarded(lambda: self.results(at, out, before or operations.Found(others=1)))
        return out

    def _before(self, compiled: Compiled, at: tuple[str, int], args: Any, kwargs: Any) -> operations.Found:
        self.take(*at, "input", slots((args, kwargs)))
        if self.plan.precise and self.plan.mode == "tensors":
            self.take_precise(compiled, at, *jax.tree_util.tree_flatten((args, kwargs)))
        return operations.of(compiled._compiled.trace(*args, **kwargs).jaxpr)

    def take_precise(self, compiled: Compiled, at: tuple[str, int], leaves: list[Any], tree: Any) -> None:
        """Record what a function makes of its arguments in float64."""
        try:
            out = precise.of_function(compiled._function, leaves, tree)
        except Exception as error:
            self.session.note(f"{at[0]} cannot be run in float64: {type(error).__name__}: {str(error)[:200]}")
            return
        self.take(*at, "output", [(slot, each) for slot, each in slots(out) if each.dtype == np.float64], run="precise")

    def results(self, at: tuple[str, int], out: Any, found: operations.Found, run: str = "propagated") -> None:
        """Record what a call gave."""
        if not is_traced(out):  # of constants, within what the program traces
            self.take(
                *at, "output", slots(out), operation=lambda host: operations.operation(found, host.dtype), run=run
            )

    def _name(self, function: Any) -> str:
        """Return a function's name, the same in every run: `step`, `step#2` for another one of that name."""
        inner = function
        while isinstance(inner, functools.partial):
            inner = inner.func
        key = getattr(inner, "__code__", inner)
        with self.session.lock:
            if key not in self._names:
                plain = getattr(inner, "__name__", type(inner).__name__)
                count = self._taken[plain] = self._taken.get(plain, 0) + 1
                self._names[key] = plain if count == 1 else f"{plain}#{count}"
                self.session.models[self._names[key]] = {"class": "jax.jit"}
            return self._names[key]


def slots(content: Any) -> list[tuple[str, Any]]:
    """Return the arrays and numbers of a tree, each with its path as slot; keys of random numbers as what they are made of."""
    if (
        isinstance(content, tuple)
        and len(content) == 2
        and isinstance(content[1], dict)
        and isinstance(content[0], tuple)
    ):
        return _leaves(content[0], "") + _leaves(content[1], "kwargs.")
    return _leaves(content, "")


def _leaves(content: Any, before: str) -> list[tuple[str, Any]]:
    found = list[tuple[str, Any]]()
    for path, leaf in jax.tree_util.tree_flatten_with_path(content)[0]:
        if not isinstance(leaf, jax.Array | np.ndarray | np.generic | bool | int | float | complex):
            continue  # a static argument
        if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        found.append((before + jax.tree_util.keystr(path, simple=True, separator=".") or "0", leaf))
    return found


def is_traced(content: Any) -> bool:
    """Whether something in a tree stands for a value that there will be when what is traced runs."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree_util.tree_leaves(content))


def facts() -> dict[str, Any]:
    """Return versions, flags and device."""
    device = jax.devices()[0]
    flags = {name: getattr(jax.config, name, None) for name in ("jax_default_matmul_precision", "jax_enable_x64")}
    about = {"type": device.platform, "name": device.device_kind}
    return {"versions": arrays.versions("jax", "jaxlib"), "flags": flags, "device": about}


def rank() -> tuple[int, int] | None:
    """Return the process's index among JAX's and how many there are, None where it is alone."""
    count = jax.process_count()
    return (jax.process_index(), count) if count > 1 else None


def install(module: Any, recorder: Recorder) -> Callable[[], None]:
    """Have what the program compiles from now on pass the recorder; return what puts jax back as it was."""
    original = module.jit

    @functools.wraps(original)
    def jit(fun: Any = None, *args: Any, **kwargs: Any) -> Any:
        if fun is None:
            return functools.partial(jit, *args, **kwargs)
        return Compiled(recorder, fun, original(fun, *args, **kwargs))

    module.jit = jit

    def restore() -> None:
        module.jit = original

    return restore
