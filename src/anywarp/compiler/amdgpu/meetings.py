"""Lanes that would have to wait for lanes at another trip of a loop, which lanes that move in step cannot: such a kernel is stopped.

A `.sync` instruction waits until every lane that its mask names is there (PTX manual, `shfl.sync` and the others). In code that all lanes
of a trip come through, they are. Where some go round without it, the mask may name one of them: then its value would be wrong, and nobody
would know. What the lanes of a trip are is asked at the head of the loop; lanes that have left the loop, and may have ended, count for nothing.
"""

from __future__ import annotations

from anywarp.compiler.amdgpu import services
from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.analysis import meetings
from anywarp.compiler.artifact import REASONS
from anywarp.compiler.cfg import control_flow
from anywarp.compiler.ir import CONVERGE, Block, Const, Kernel, Op
from anywarp.compiler.shapes import Analysis

ELSEWHERE = REASONS.index(
    "a member mask names lanes at another trip of a loop, which lanes that move in step cannot wait for"
)


def watch_meetings(kernel: Kernel, analysis: Analysis) -> None:
    """Give the waiting operations in question a second argument: the word of the lanes that began the trip. May be called again."""
    flow = control_flow(kernel)
    asked: dict[Block, Op] = {}
    for node, loop in meetings(flow).items():
        block, header = flow.blocks[node], flow.blocks[loop.header]
        if block not in analysis.divergent_blocks:
            continue
        for op in block.ops:
            if op.name == CONVERGE and len(op.args) == 1:
                if header not in asked:
                    asked[header] = Op("ballot", "i32", [Const("i1", 1)])
                    header.ops.insert(0, asked[header])
                op.args.append(asked[header])


def emit_meeting(e: Emitter, op: Op, here: str) -> None:
    """Emit the question of a watched operation; `here` is the word of the lanes that have come."""
    t = e.t
    absent = t.two("xor", "i32", here, "-1")
    missing = t.two("and", "i32", t.two("and", "i32", e.value(op.args[0]), e.value(op.args[1])), absent)
    stop, on = t.fresh("elsewhere"), t.fresh("together")
    t.do(f"br i1 {t.two('icmp ne', 'i32', missing, '0')}, label %{stop}, label %{on}")
    t.start(stop)
    services.stop(e, str(ELSEWHERE), str(int(op.attrs.get("line", 0))))
    t.do("unreachable")
    t.start(on)
