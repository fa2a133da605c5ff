"""vLLM (`vllm`): its wheel for CUDA, with our operators in the place of its machine code (`frameworks/vllm`)."""

# pyright: basic
from __future__ import annotations

from collections.abc import Iterator

from anywarp.frameworks.neighbours import installed
from anywarp.frameworks.neighbours.neighbour import Difference, Found, Ran


class VLLM:
    """The adapter: `frameworks/vllm/hook.py` waits for its libraries, this says so."""

    name = "vllm"
    ran = (
        Ran(
            "0.33.0",
            "through us",
            "its engine, server, chunked prefill, prefix cache, LoRA, two devices in tensor parallel, on torch 2.14.1 for CUDA; quantised weights, MLA and state-space models are refused by name",
            "2026-11-29",
            "tests/clients/libraries/vllm_program.py",
        ),
    )

    def detect(self) -> Found:
        """Say what is installed, without importing it."""
        return installed.look(self.name, (self.name,), (), ())

    def explain(self, found: Found) -> str:
        """Say what becomes of its operators."""
        if found.state == "broken":
            return "it is left as it is, until that is mended"
        return "with torch for CUDA its operators are computed by ours over torch, and its Triton kernels compiled"

    def activate(self) -> None:
        """Wait for its libraries of operators."""
        from anywarp.frameworks.vllm import hook

        hook.install()

    def self_test(self) -> Iterator[Difference]:
        """Compare its RMS norm, as ours computes it, with the definition in double precision."""
        import torch

        from anywarp.frameworks.vllm import layers

        x = torch.randn(4, 16, generator=torch.Generator().manual_seed(1))
        found = torch.empty_like(x)
        layers.rms_norm(found, x, None, 1e-6)
        wide = x.double()
        wanted = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()
        yield Difference("rms_norm", float((found.double() - wanted).abs().max()), 1e-5)


NEIGHBOUR = VLLM()
