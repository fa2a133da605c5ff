"""Walking and replacing the values of a kernel, as passes need it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anywarp.compiler.ir import Block, Kernel, Op, Phi, Value


def resolve(value: Value, mapping: Mapping[Value, Value]) -> Value:
    """Follow `mapping` from `value` to its end; chains must not be cyclic."""
    while value in mapping:
        value = mapping[value]
    return value


def substitute(kernel: Kernel, mapping: dict[Value, Value]) -> None:
    """Replace every use of the keys of `mapping` (chains are followed). Definitions are left for the caller to remove."""
    if not mapping:
        return
    final = {old: resolve(new, mapping) for old, new in mapping.items()}
    for block in kernel.blocks:
        for phi in block.phis:
            for source, value in phi.incoming.items():
                if value in final:
                    phi.incoming[source] = final[value]
        for op in block.ops:
            if any(a in final for a in op.args):
                op.args = [final.get(a, a) for a in op.args]
            if op.guard is not None and op.guard in final:
                op.guard = final[op.guard]
        end = block.terminator
        end.args = [a if a is None else final.get(a, a) for a in end.args]


def drop_edge(source: Block, target: Block) -> None:
    """Forget the values that the phis of `target` take from `source`, when no edge is left between them."""
    if target not in source.terminator.targets:
        for phi in target.phis:
            phi.incoming.pop(source, None)


def definitions(kernel: Kernel) -> Iterator[tuple[Block, Op | Phi]]:
    """Yield every value that is made, with its block, in order."""
    for block in kernel.blocks:
        for phi in block.phis:
            yield block, phi
        for op in block.ops:
            yield block, op


def homes(kernel: Kernel) -> dict[Value, Block]:
    """Map each value to the block that makes it."""
    return {value: block for block, value in definitions(kernel)}


def users_of(kernel: Kernel) -> dict[Value, list[Op | Phi | Block]]:
    """Map each value to the operations, phis and blocks (by their terminators) that use it."""
    users: dict[Value, list[Op | Phi | Block]] = {}
    for block in kernel.blocks:
        for phi in block.phis:
            for value in phi.incoming.values():
                users.setdefault(value, []).append(phi)
        for op in block.ops:
            for value in op.args:
                users.setdefault(value, []).append(op)
        for value in block.terminator.args:
            if value is not None:
                users.setdefault(value, []).append(block)
    return users
