"""Neighbours that run as they are, with nothing of ours for them: what was found when they were run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anywarp.frameworks.neighbours import installed
from anywarp.frameworks.neighbours.neighbour import Difference, Found, How, Ran

PROGRAMS = "tests/clients/libraries"


@dataclass(frozen=True)
class AsItIs:
    """A package that needs no adapter."""

    name: str
    distribution: str
    ran: tuple[Ran, ...]

    def detect(self) -> Found:
        """Say what is installed, without importing it."""
        return installed.look(self.name, (self.distribution,), (), ())

    def explain(self, found: Found) -> str:
        """Say that it is left as it is."""
        return "it is left as it is"

    def activate(self) -> None:
        """Do nothing."""

    def self_test(self) -> Iterator[Difference]:
        """Yield nothing: its program in tests/clients is its test."""
        return iter(())


def _ran(name: str, distribution: str, version: str, words: str, how: How = "runs", program: str = "") -> AsItIs:
    row = Ran(version, how, words, "2026-11-29", f"{PROGRAMS}/{program or name}_program.py")
    return AsItIs(name, distribution, (row,))


PACKAGES = (
    _ran("accelerate", "accelerate", "1.15.0", "accumulated steps in float32, bfloat16 and float16, device maps, offloading"),
    _ran("deepspeed", "deepspeed", "0.19.8", "ZeRO 0 to 3 on one and two ranks, the optimizer offloaded; `FusedAdam` and `CPUAdam` are compiled by `anywarp nvcc` and g++", "through us"),
    _ran("diffusers", "diffusers", "0.42.1", "pipelines of a UNet, with text, a coder of pictures, gradients"),
    _ran("lightning", "lightning", "2.6.6", '`Trainer(accelerator="gpu")` with accumulation, a schedule, checkpoints, mixed precision; Fabric'),
    _ran("megatron", "megatron-core", "0.16.1", "tensors in two, layers in two on two ranks; rows in two with Apex's norms, which are answered (`ANYWARP_NEIGHBOURS=apex`); all three with its layers for Transformer Engine (`ANYWARP_NEIGHBOURS=transformer_engine`)", program="megatron"),
    _ran("peft", "peft", "0.21.2", "LoRA: steps, merged, saved"),
    _ran("transformers", "transformers", "5.24.0", "greedy generation, static cache, the Trainer; `flash_attention_2` with `ANYWARP_NEIGHBOURS=flash_attn`: `flash_attention_program.py`"),
    _ran("trl", "trl", "1.16.0", "SFT and DPO, with LoRA"),
    _ran("xformers", "xformers", "0.0.35", "its wheel (`--no-deps`): attention under its masks with gradients, two in four, SwiGLU", "through us"),
)  # fmt: skip
