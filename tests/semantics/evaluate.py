"""Run a row of the instruction table on the plain operations, one warp at a time."""

from __future__ import annotations

from functools import lru_cache

from anywarp.check.conformance.rows import Row
from anywarp.ptx.isa.registry import expand
from anywarp.ptx.parser import parse_module
from anywarp.ptx.tree import Instruction
from semantics.warp import LANES, Warp

NAMES = {f"{k}{n}": f"%{k}{n}" for k in "rs" for n in range(8)}


@lru_cache(maxsize=8192)
def instructions(text: str) -> tuple[Instruction, ...]:
    """The instructions of a row's text, with `%r0 ...` and `%s0 ...` for its placeholders."""
    body = text.format(**NAMES)
    module = parse_module(f".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k() {{\n{body}\n}}\n")
    return tuple(s for s in module.function("k").body.statements if isinstance(s, Instruction))


def evaluate(row: Row, lanes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return each lane's results for each lane's sources (32 of them)."""
    assert len(lanes) == LANES
    warp = Warp()
    for n, register in enumerate(row.source_registers):
        warp.declare(f"%s{n}", register, [lane[n] for lane in lanes])
    for n, register in enumerate(row.result_registers):
        warp.declare(f"%r{n}", register, [0xA5A5A5A5A5A5A5A5 & 1] * LANES)
    for instruction in instructions(row.text):
        expand(warp, instruction)
    return list(zip(*(warp.value(f"%r{n}") for n in range(len(row.results))), strict=True))
