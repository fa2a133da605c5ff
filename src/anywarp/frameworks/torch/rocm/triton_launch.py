"""Triton kernels that are written for NVIDIA's blocks: 32 warps are 2048 threads where a wave has 64 lanes, and AMD's shared memory is 64 KiB.

https://github.com/triton-lang/triton/pull/6125, https://github.com/mlc-ai/xgrammar/pull/476, https://github.com/vllm-project/vllm/pull/17744. Triton refuses such a launch (OutOfResources);
it is tried again with half the warps or one stage less, which change how a kernel is compiled and not what it computes. Its autotuner still gets the
refusal: it has other configurations to try.
"""

# pyright: basic
from __future__ import annotations

import sys
import threading
from functools import wraps
from typing import Any

from anywarp.frameworks import watching
from anywarp.frameworks.torch import patches, rocm

MODULE, TUNER = "triton.runtime.jit", "triton.runtime.autotuner"
STAGES = 2
"""What Triton's backend for AMD takes where a launch does not say."""

_state = threading.local()


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(after={MODULE: _mend_launch, TUNER: _mend_tuner}))


def _mend_launch(module: Any) -> None:
    kind: Any = getattr(module, "JITFunction", None)
    if hasattr(kind, "run") and rocm.concerns("triton"):
        reason = "a launch that an AMD GPU has no room for is made with fewer warps or stages"
        patches.set_attribute(kind, "run", smaller_where_needed(kind.run), reason)


def _mend_tuner(module: Any) -> None:
    kind: Any = getattr(module, "Autotuner", None)
    if hasattr(kind, "_bench") and rocm.concerns("triton"):
        patches.set_attribute(kind, "_bench", _told(kind._bench), "the autotuner is told what there is no room for")


def _told(real: Any) -> Any:
    @wraps(real)
    def _bench(*args: Any, **kwargs: Any) -> Any:
        before, _state.tuning = getattr(_state, "tuning", False), True
        try:
            return real(*args, **kwargs)
        finally:
            _state.tuning = before

    return _bench


def smaller_where_needed(real: Any) -> Any:
    """Return JITFunction.run that launches with what there is room for."""
    fitting: dict[Any, dict[str, int]] = {}

    @wraps(real)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        asked = (self, kwargs.get("num_warps"), kwargs.get("num_stages"))
        if asked in fitting:
            kwargs = {**kwargs, **fitting[asked]}
        while True:
            try:
                return real(self, *args, **kwargs)
            except Exception as error:
                less = None if getattr(_state, "tuning", False) else _less(error, kwargs)
                if less is None:
                    raise
                kwargs = {**kwargs, **less}
                fitting[asked] = {**fitting.get(asked, {}), **less}
                name = getattr(self, "__name__", None) or getattr(getattr(self, "fn", None), "__name__", "a kernel")
                patches.write_down(f"triton kernel {name}", False, f"launched with {_words(less)}: {error}")

    return run


def _less(error: Any, kwargs: dict[str, Any]) -> dict[str, int] | None:
    """Return what to launch with instead; None for another error, or where there is nothing less."""
    errors: Any = sys.modules.get("triton.runtime.errors")
    if not isinstance(error, getattr(errors, "OutOfResources", ())):
        return None
    if error.name == "threads" and (warps := kwargs.get("num_warps", 0)) > 1:
        return {"num_warps": warps // 2}
    if error.name == "shared memory" and (stages := kwargs.get("num_stages", STAGES)) > 1:
        return {"num_stages": stages - 1}
    return None


def _words(less: dict[str, int]) -> str:
    return ", ".join(f"{name}={number}" for name, number in less.items())
