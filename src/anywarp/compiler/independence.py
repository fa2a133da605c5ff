"""Whether a kernel ends whatever other threads of the program do: then it may be run before the launch returns.

A kernel may wait for a flag that the host or another stream sets later, and must then run beside them. It can do so only by
looking at memory again and again with accesses that take part in synchronisation: reading what others write by weak accesses is
a data race (PTX ISA, Memory Consistency Model, Data-races).
"""

from __future__ import annotations

from anywarp.compiler.attributes import Access, AtomicAccess, Barrier
from anywarp.compiler.cfg import natural_loops
from anywarp.compiler.ir import CHECK, EFFECTS, PURE, WARP, Block, Kernel, Op, is_clock

_KNOWN = PURE | WARP | EFFECTS - {"host_call", CHECK}
_ENDS = frozenset({"jump", "branch", "exit", "trap", "barrier"})


def is_independent(kernel: Kernel) -> bool:
    """Tell whether no loop of `kernel` can wait for others: none reads memory in a way that takes part in synchronisation."""
    if any(not _harmless(block) for block in kernel.blocks):
        return False
    index = {block: i for i, block in enumerate(kernel.blocks)}
    nest = natural_loops([[index[t] for t in dict.fromkeys(b.terminator.targets)] for b in kernel.blocks])
    if nest.irreducible:
        return False
    return all(nest.innermost[i] is None or not any(map(_may_wait, b.ops)) for i, b in enumerate(kernel.blocks))


def _harmless(block: Block) -> bool:
    """Whether a block holds nothing whose time is not its own."""
    end = block.terminator
    return (
        end.name in _ENDS
        and not (isinstance(end.attrs, Barrier) and end.attrs.kind == "yield")
        and all(op.name in _KNOWN for op in block.ops)
    )


def _may_wait(op: Op) -> bool:
    """Whether going round with `op` may be waiting for what a thread outside the block writes, or for a time."""
    attrs = op.attrs
    if isinstance(attrs, Access):
        if attrs.space == "shared":
            return False
        if isinstance(attrs, AtomicAccess):
            return attrs.returns or attrs.op in ("cas", "exch")
        return op.name == "load" and attrs.strong
    return is_clock(op)
