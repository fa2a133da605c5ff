"""Remove control flow that decides nothing: branches on constants, blocks that only jump, chains of blocks.

Each block costs the vector code a mask and a test, so fewer and longer blocks are better.
"""

from __future__ import annotations

from anywarp.compiler.cfg import arrange_blocks
from anywarp.compiler.ir import Block, Const, Kernel, Specialisation, Terminator, Undefined, Value
from anywarp.compiler.passes.close_loops import close_loops
from anywarp.compiler.uses import drop_edge, substitute


def simplify_branches(kernel: Kernel, specialisation: Specialisation) -> None:
    """Fold decided branches, drop unreachable blocks, skip empty blocks and merge chains; order the blocks and close the loops.

    Legality: no operation moves to a place where it runs more or less often. An empty block is skipped only where that makes
    no edge from a block with several targets to a block with several predecessors. A phi at a loop's exit is never merged
    away, because a block that leaves a loop ends in a branch; but a decided branch may leave a smaller loop.
    """
    for block in kernel.blocks:
        _decide(block)
    arrange_blocks(kernel)
    _skip_empty(kernel)
    merge_chains(kernel)
    arrange_blocks(kernel)
    close_loops(kernel, specialisation)


def _decide(block: Block) -> None:
    end = block.terminator
    chosen: Block | None = None
    if end.name == "branch":
        condition = end.args[0]
        if end.targets[0] is end.targets[1] or isinstance(condition, Undefined):
            chosen = end.targets[0]
        elif isinstance(condition, Const):
            chosen = end.targets[0 if condition.bits else 1]
    elif end.name == "switch":
        index = end.args[0]
        if len(set(end.targets)) == 1 or isinstance(index, Undefined):
            chosen = end.targets[0]
        elif isinstance(index, Const):
            chosen = end.targets[min(index.bits, len(end.targets) - 1)]
    if chosen is None:
        return
    block.terminator = Terminator("jump", [], [chosen], span=end.span)
    for target in dict.fromkeys(end.targets):
        drop_edge(block, target)


def _skip_empty(kernel: Kernel) -> None:
    preds = kernel.predecessors()
    for block in kernel.blocks[1:]:
        end = block.terminator
        if block.phis or block.ops or end.name != "jump" or end.targets[0] is block:
            continue
        target = end.targets[0]
        sources = preds[block]
        if any(s.terminator.name != "jump" for s in sources) and len(preds[target]) > 1:
            continue
        if any(s in preds[target] for s in sources) or block in sources:
            continue
        for phi in target.phis:
            value = phi.incoming.pop(block)
            for source in sources:
                phi.incoming[source] = value
        for source in sources:
            source.terminator.targets = [target if t is block else t for t in source.terminator.targets]
        preds[target] = [p for p in preds[target] if p is not block] + sources
        preds[block] = []


def merge_chains(kernel: Kernel) -> None:
    """Append to each block that ends in a jump the block that only it leads to, as long as there is one."""
    preds = kernel.predecessors()
    mapping: dict[Value, Value] = {}
    gone: set[Block] = set()
    for block in kernel.blocks:
        if block not in gone:
            gone |= merge_next(block, kernel.blocks[0], preds, mapping)
    kernel.blocks = [b for b in kernel.blocks if b not in gone]
    substitute(kernel, mapping)


def merge_next(block: Block, entry: Block, preds: dict[Block, list[Block]], mapping: dict[Value, Value]) -> set[Block]:
    """Append to a block what only it leads to; returns the blocks that are gone, and notes in `mapping` what their phis are now."""
    gone: set[Block] = set()
    while block.terminator.name == "jump":
        target = block.terminator.targets[0]
        if target is block or target is entry or preds[target] != [block]:
            break
        for phi in target.phis:
            mapping[phi] = phi.incoming[block]
        block.ops += target.ops
        block.terminator = target.terminator
        for after in dict.fromkeys(target.terminator.targets):
            preds[after] = [block if p is target else p for p in preds[after]]
            for phi in after.phis:
                if target in phi.incoming:
                    phi.incoming[block] = phi.incoming.pop(target)
        gone.add(target)
    return gone
