"""Calling what Inductor compiled for the CPU with arguments of a device, and keeping it in Inductor's caches.

The aliases of arguments and the way of results back are native/torch/compiled.cpp; here is the order of the calls.
"""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._inductor.output_code import CompiledFxGraph, CompiledFxGraphConstants

from anywarp.frameworks.torch.compile import captured, islands
from anywarp.frameworks.torch.compile.graphs import Plan


def on_device(
    compiled: Callable[[list[Any]], Sequence[Any]], plan: Plan, written: Sequence[int] = ()
) -> Callable[[list[Any]], Sequence[Any]]:
    """Return `compiled`, a boxed function over CPU tensors, as one over tensors of the plan's devices; it writes to the inputs `written`."""
    enter, leave, abandon = (getattr(torch.ops.anywarp, name).default for name in ("enter", "leave", "abandon"))
    device, keep = plan.device, plan.keep
    only_tensors = len(plan.inputs) == plan.input_count
    places = [each for each in plan.outputs if each is not None]
    results_are_tensors = len(places) == len(plan.outputs)
    at = [i for i, each in enumerate(plan.outputs) if each is not None]

    def aliased(inputs: list[Any]) -> list[Any]:
        if only_tensors:
            return enter(inputs, device, keep)
        aliases = list(inputs)
        for i, alias in zip(plan.inputs, enter([inputs[i] for i in plan.inputs], device, keep), strict=True):
            aliases[i] = alias
        return aliases

    def call(inputs: list[Any]) -> Sequence[Any]:
        if captured.capturing():
            return captured.record(compiled, device, inputs, plan.inputs, plan.outputs, written)
        aliases = aliased(inputs)
        try:
            inputs.clear()
            results = compiled(aliases)
        except BaseException:
            with torch._C._DisableTorchDispatch():
                abandon()
            raise
        if results_are_tensors:
            return leave(results, places)
        given = list(results)
        for i, each in zip(at, leave([results[i] for i in at], places), strict=True):
            given[i] = each
        return given

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


class DeviceFxGraph(CompiledFxGraph):
    """What Inductor compiled from a moved graph; goes to its caches and comes from there like any other."""

    plan: Plan

    @classmethod
    def of(cls, compiled: CompiledFxGraph, plan: Plan) -> DeviceFxGraph:
        """Return `compiled` itself as one of these."""
        compiled.__class__ = cls
        compiled.plan = plan  # type: ignore[attr-defined]
        compiled.device_types.add("cuda")
        return compiled  # type: ignore[return-value]

    def post_compile(self, example_inputs: Any, constants: CompiledFxGraphConstants, graph_kwargs: Any) -> None:
        islands.define(list(self.plan.islands))
        assert self.current_callable is not None
        self.current_callable = on_device(self.current_callable, self.plan, tuple(self.mutated_input_idxs))
        super().post_compile(example_inputs, constants, graph_kwargs)

    def after_deserialization(self, constants: CompiledFxGraphConstants) -> str:
        return super().after_deserialization(_OnCpu(constants))


class _OnCpu(CompiledFxGraphConstants):
    """Constants as compiled code takes them: those that live on a device by their aliases."""

    def __init__(self, real: CompiledFxGraphConstants):
        self.real = real

    def unwrap(self, g: CompiledFxGraph) -> dict[str, Any]:
        alias = torch.ops.anywarp.cpu_alias
        return {k: alias(v) if isinstance(v, torch.Tensor) else v for k, v in self.real.unwrap(g).items()}
