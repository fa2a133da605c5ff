"""Which integer parameters, if they were multiples of a power of two, would make better code: the variant that an artifact asks for.

Compilers turn loops over rows into trip counts like `((n + ~tid) >> 5) + 1 & 3`, which differ between lanes unless n is a
multiple; then everything behind such a loop is scattered. Programs nearly always pass multiples.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from anywarp.compiler.analysis import analyse_wanting
from anywarp.compiler.attributes import Parameter
from anywarp.compiler.cfg import control_flow
from anywarp.compiler.ir import Kernel, Op, Phi, Specialisation, Value
from anywarp.compiler.shapes import Analysis

Multiple = tuple[int, int, int]

_CARRIES = frozenset(
    ["add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "not", "zext", "sext", "trunc", "select", "div"]
)
"""Operations through which a congruence of an operand may reach the result."""

_SEARCH = 4000
_TRIED = 6
"""Values followed back, and parameters tried, at most."""
_SMALL, _LARGEST = 1500, 6000
"""Operations of kernels whose variants are pruned one by one, and of kernels that are analysed again at all."""


def analyse_for_variant(kernel: Kernel, specialisation: Specialisation) -> tuple[Analysis, tuple[Multiple, ...]]:
    """Analyse `kernel`; return the analysis and, for a compilation without assumptions about parameters, the variant worth having.

    It is a tuple of (offset, size in bytes, modulus), as in `Specialisation.multiples`. All of them together are worth having.
    """
    analysis, missed = analyse_wanting(kernel, specialisation)
    if specialisation.multiples or specialisation.quick or specialisation.checks or specialisation.block is None:
        return analysis, ()
    size = sum(len(block.ops) for block in kernel.blocks)
    if size > _LARGEST:
        return analysis, ()
    now = _burden(kernel, analysis)
    found = _parameters(missed)[:_TRIED] if now else []
    best: tuple[int, tuple[Multiple, ...]] = (now, ())
    for modulus in sorted({32, specialisation.lanes} if size <= _SMALL else {specialisation.lanes}):
        multiples = tuple((offset, size, modulus) for offset, size in found)
        there = _with(kernel, specialisation, multiples) if multiples else now
        if there < best[0]:
            best = there, multiples
    return analysis, _needed(kernel, specialisation, *best) if size <= _SMALL else best[1]


def _with(kernel: Kernel, specialisation: Specialisation, multiples: tuple[Multiple, ...]) -> int:
    return _burden(kernel, analyse_wanting(kernel, replace(specialisation, multiples=multiples))[0])


def _needed(
    kernel: Kernel, specialisation: Specialisation, burden: int, multiples: tuple[Multiple, ...]
) -> tuple[Multiple, ...]:
    """Leave out, one by one, assumptions without which the others do as well."""
    for multiple in multiples if len(multiples) > 1 else ():
        others = tuple(w for w in multiples if w != multiple)
        if others and _with(kernel, specialisation, others) <= burden:
            multiples = others
    return tuple(sorted(multiples))


def _parameters(missed: Iterable[Value]) -> list[tuple[int, int]]:
    """Return the integer parameters (offset, size) from which the values are computed."""
    found: dict[tuple[int, int], None] = {}
    work, seen = list(missed), set[Value]()
    while work and len(seen) < _SEARCH:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, Phi):
            work += value.incoming.values()
        elif isinstance(value, Op) and value.name == "param" and value.type in ("i32", "i64"):
            found[Parameter.of(value).offset, 4 if value.type == "i32" else 8] = None
        elif isinstance(value, Op) and value.name in _CARRIES:
            work += value.args
    return list(found)


def _burden(kernel: Kernel, analysis: Analysis) -> int:
    """Weigh what divergence costs: scattered accesses, and loops in which lanes part; inner loops count more."""
    flow = control_flow(kernel)
    total = scattered(kernel, analysis)
    for number, block in enumerate(kernel.blocks):
        depth = len(flow.nest.around(number))
        if depth:
            parted = (block in analysis.divergent_loops) + (block in analysis.divergent_branches)
            total += (parted + (block in analysis.divergent_blocks)) * 8 ** min(depth, 4)
    return total


def scattered(kernel: Kernel, analysis: Analysis) -> int:
    """Weigh what scattered accesses cost; inner loops count more."""
    flow = control_flow(kernel)
    return sum(
        _scattered(op, analysis) * 8 ** min(len(flow.nest.around(number)), 4)
        for number, block in enumerate(kernel.blocks)
        for op in block.ops
    )


def _scattered(op: Op, analysis: Analysis) -> int:
    if op.name not in ("load", "store", "atomic"):
        return 0
    shape = analysis.shapes.get(op.args[0])
    return 4 if shape is not None and shape.varying and op.args[0] not in analysis.guarded else 0
