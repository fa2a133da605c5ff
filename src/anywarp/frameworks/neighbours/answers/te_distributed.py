"""Checkpointing and streams of random numbers, as `transformer_engine.pytorch.distributed` has them."""

# pyright: basic
from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint as _checkpoint

from anywarp.frameworks.neighbours.answers import te_fp8

__all__ = ["CudaRNGStatesTracker", "activation_recompute_forward", "checkpoint"]


def checkpoint(
    function,
    *args,
    distribute_saved_activations=False,
    get_rng_state_tracker=None,
    tp_group=None,
    use_reentrant=True,
    **kwargs,
):
    """Return function(*args), computed again in the backward pass; scales of 8 bits are those of the first time only without `autocast` around it."""
    if distribute_saved_activations or get_rng_state_tracker is not None:
        raise NotImplementedError(
            "checkpoint: distribute_saved_activations and get_rng_state_tracker are not served by anywarp"
        )
    _check_not_in_8_bits("checkpoint")
    if use_reentrant and kwargs:
        raise ValueError("checkpoint: with use_reentrant=True a function takes no keywords")
    return _checkpoint(function, *args, use_reentrant=use_reentrant, **kwargs)


@contextlib.contextmanager
def activation_recompute_forward(activation_recompute=False, recompute_phase=False) -> Iterator[None]:
    """Stand around a forward pass that is computed twice; in 8 bits it would keep the scales of the first time."""
    if activation_recompute:
        _check_not_in_8_bits("activation_recompute_forward")
    yield


def _check_not_in_8_bits(what: str) -> None:
    if te_fp8.active() is not None:
        raise NotImplementedError(f"{what} inside of an fp8 autocast is not served by anywarp")


class CudaRNGStatesTracker:
    """Streams of the device's random numbers by name."""

    def __init__(self):
        self.reset()

    def reset(self) -> None:
        """Forget all streams and seeds."""
        self.states_: dict[str, Tensor] = {}
        self.seeds_: set[int] = set()

    def get_states(self) -> dict[str, Tensor]:
        """Return the streams' states, in a dictionary of its own."""
        return dict(self.states_)

    def set_states(self, states: dict[str, Tensor]) -> None:
        """Take over states."""
        self.states_ = states

    def add(self, name: str, seed: int) -> None:
        """Begin a stream with a seed that none has; the device's own numbers go on where they were."""
        if seed in self.seeds_:
            raise RuntimeError(f"seed {seed} already exists")
        if name in self.states_:
            raise RuntimeError(f"cuda rng state {name} already exists")
        self.seeds_.add(seed)
        before = torch.cuda.get_rng_state()
        torch.cuda.manual_seed(seed)
        self.states_[name] = torch.cuda.get_rng_state()
        torch.cuda.set_rng_state(before)

    @contextlib.contextmanager
    def fork(self, name: str = "model-parallel-rng") -> Iterator[None]:
        """Draw from a stream; the device's own numbers go on afterwards."""
        if name not in self.states_:
            raise KeyError(f"cuda rng state {name} is not added")
        before = torch.cuda.get_rng_state()
        torch.cuda.set_rng_state(self.states_[name])
        try:
            yield
        finally:
            self.states_[name] = torch.cuda.get_rng_state()
            torch.cuda.set_rng_state(before)
