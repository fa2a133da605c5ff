"""The door of Inductor: a graph with tensors of `cuda` is moved to the CPU, compiled there, and given back for `cuda`.

It is behind Inductor's caches, so that their keys know the true devices, and before its passes, so that they choose for the CPU.
"""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch._inductor import config
from torch._inductor.utils import BoxedBool

from anywarp import settings
from anywarp.frameworks.torch.compile import calls, graphs, package

NO_GRAPHS = "the code is the CPU's, which anywarp runs without a CUDA graph"


def around_codegen(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return Inductor's `codegen_and_compile` with graphs on `cuda` compiled for the CPU."""

    def codegen_and_compile(
        self: Any, gm: Any, example_inputs: Sequence[Any], inputs_to_check: Sequence[int], graph_kwargs: Any
    ) -> Any:
        triton = settings.TORCH_INDUCTOR.get() == "triton" or graphs.calls_triton(gm)
        if triton or not graphs.uses_cuda(gm, example_inputs):
            return real(self, gm, example_inputs, inputs_to_check, graph_kwargs)
        moved, plan = graphs.move(gm, example_inputs)
        with config.patch({"aot_inductor.metadata": {**config.aot_inductor.metadata, **package.metadata(plan)}}):
            compiled = real(self, gm, moved, (), {**graph_kwargs, "cudagraphs": BoxedBool(False)})
        if not isinstance(compiled, calls.CompiledFxGraph):
            return compiled
        compiled.fx_kwargs = graph_kwargs
        compiled.disabled_cudagraphs_reason = NO_GRAPHS
        return calls.DeviceFxGraph.of(compiled, plan)

    return codegen_and_compile
