"""Instructions that name lanes of their warp wait for them: blocks begin with such an instruction where lanes may be apart.

Where all lanes are together nothing has to be waited for, so only code that runs under a mask is divided.
"""

from __future__ import annotations

from anywarp.compiler.attributes import Barrier, Converge
from anywarp.compiler.ir import CHECK, CONVERGE, Block, Const, Kernel, Op, Terminator, Value
from anywarp.compiler.shapes import Analysis


def split_at_members(kernel: Kernel, analysis: Analysis) -> None:
    """Let each wait for lanes stand first in a block, or nowhere: where lanes cannot be apart, or have just met.

    Legality: the blocks run one behind the other; `analysis` is told of the new ones.
    """
    blocks: list[Block] = []
    for block in kernel.blocks:
        if block not in analysis.apart:
            block.ops = [op for op in block.ops if op.name != CONVERGE]
            blocks.append(block)
        else:
            blocks += _divided(block, analysis)
    kernel.blocks = blocks


def _divided(block: Block, analysis: Analysis) -> list[Block]:
    end = block.terminator
    ops = list(block.ops)
    if isinstance(end.attrs, Barrier) and end.attrs.warp:
        assert end.args[0] is not None
        checked = ops and ops[-1].name == CHECK and ops[-1].args == [end.args[0]]  # who has come is looked at then
        waits = Op(CONVERGE, "i1", [end.args[0]], Converge(end.attrs.line or 0, barrier=True), span=end.span)
        ops.insert(len(ops) - 1 if checked else len(ops), waits)
        end = Terminator("jump", [], end.targets, span=end.span)
    pieces: list[list[Op]] = [[]]
    met: object = None
    for op in ops:
        if op.name != CONVERGE:
            pieces[-1].append(op)
        elif _same(op.args[0]) != met:
            met = _same(op.args[0])
            pieces.append([op])
    if len(pieces) == 1 and end is block.terminator:
        return [block]
    rest = [Block(f"{block.name}.{i}") for i in range(1, len(pieces))]
    chain = [block, *rest]
    for one, part, following in zip(chain, pieces, [*rest, None], strict=True):
        one.ops = part
        one.terminator = end if following is None else Terminator("jump", [], [following], span=end.span)
    last = chain[-1]
    if last is not block:
        _move(block, last, analysis)
        analysis.divergent_blocks.update(rest)
        analysis.apart.update(rest)
        if block in analysis.ahead:
            analysis.ahead.update(rest)
    return chain


def _same(mask: Value) -> object:
    return mask.bits if isinstance(mask, Const) else id(mask)


def _move(block: Block, last: Block, analysis: Analysis) -> None:
    """What ended the block ends the last piece now."""
    for target in last.terminator.targets:
        for phi in target.phis:
            if block in phi.incoming:
                phi.incoming[last] = phi.incoming.pop(block)
    for found in (analysis.divergent_branches, analysis.staggered_barriers):
        if block in found:
            found.discard(block)
            found.add(last)


def waits_at_barrier(block: Block) -> bool:
    """Tell whether what waits where a block begins is a barrier of the warp, whose members may be at another such barrier."""
    return waits_for_members(block) and Converge.of(block.ops[0]).barrier


def waits_for_members(block: Block) -> bool:
    """Tell whether lanes wait for others where a block begins."""
    return bool(block.ops) and block.ops[0].name == CONVERGE
