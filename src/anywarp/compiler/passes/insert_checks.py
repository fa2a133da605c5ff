"""Put a check before everything that a checked compilation watches: accesses, barriers, exits.

A `check` asks the runtime about all lanes at once and answers, per lane, whether the access may be made; one that may not is
left out, and a load gives zero. So the program goes on and later faults are found too.
"""

from __future__ import annotations

from anywarp.compiler.attributes import Access, Barrier, Checked, InSpace, MemoryAccess, Service, Symbol
from anywarp.compiler.ir import Block, Const, Kernel, Op, Specialisation, Value
from anywarp.compiler.sites import ALIGNED, ARRIVES, BULK, COUNTED, STRONG, Site
from anywarp.compiler.uses import substitute
from anywarp.ptx.isa.ops import BITS

_ACCESSES = frozenset({"memory", "init", "race"})
_SYNCHRONISING = frozenset({"race", "sync"})


def insert_checks(kernel: Kernel, specialisation: Specialisation) -> None:
    """Insert what `specialisation.checks` asks for, and list it in `kernel.sites`. The last pass: nothing may move behind it.

    Legality: a check only reads registers; what it keeps from happening is outside CUDA's rules anyway.
    """
    checks = specialisation.checks
    if not checks:
        return
    replaced: dict[Value, Value] = {}
    for block in kernel.blocks:
        block.ops = _checked(kernel, block, checks, replaced)
    _substitute(kernel, replaced)


def _checked(kernel: Kernel, block: Block, checks: frozenset[str], replaced: dict[Value, Value]) -> list[Op]:
    """Return the operations of a block with their checks; `replaced` gets what a load gives where it is left out."""
    out: list[Op] = []
    allowed: dict[Value, Op] = {}
    for op in block.ops:
        if op.name == "check":  # of member masks, made by lowering
            if "sync" in checks:
                op.attrs = Checked(_number(kernel, Site("members", op.span)))
                out.append(op)
            continue
        check = _access(kernel, op, checks)
        if check is not None:
            out.append(check)
        elif op.name == "host_call" and Service.of(op).name.startswith("bulk_") and checks & _ACCESSES:
            out += _bulk(kernel, op, "memory" in checks)
        out.append(op)
        if check is not None and "memory" in checks:
            op.guard = check  # which answers no for lanes that its own guard leaves out
            allowed[op] = check
        of = op.args[0] if op.name == "element" else op
        if of in allowed and op.name in ("load", "element", "atomic"):
            kept = Op("select", op.type, [allowed[of], op, Const(op.type, 0)], span=op.span)
            out.append(kept)
            replaced[op] = kept
    out += _end(kernel, block, checks)
    return out


def _number(kernel: Kernel, site: Site) -> int:
    kernel.sites.append(site)
    return len(kernel.sites) - 1


def _access(kernel: Kernel, op: Op, checks: frozenset[str]) -> Op | None:
    """Return the check of an access, None for what is not watched."""
    if op.name not in ("load", "store", "atomic") or not checks & _ACCESSES:
        return None
    space = InSpace.of(op).space
    if not checks & {"memory", "init"} and space not in ("shared", "generic"):
        return None
    element = op.type if op.name == "load" else op.args[1].type
    count = 1 if op.name == "atomic" else MemoryAccess.of(op).count
    strong = op.name == "atomic" or Access.of(op).strong
    extent = _extent(op.args[0], space)
    site = Site(op.name, op.span, space, BITS[element] // 8 * count, count, STRONG if strong else 0, extent)
    values = op.args[1:] if op.name == "store" and "race" in checks and space in ("shared", "generic") else []
    return Op("check", "i1", [op.args[0], *values], Checked(_number(kernel, site)), op.guard, op.span)


def _bulk(kernel: Kernel, op: Op, restricting: bool) -> list[Op]:
    """Return the checks of a bulk copy: of what it reads, then of what it writes, whose size the code knows only as it runs."""
    target, source, size = op.args[:3]
    out: list[Op] = []
    guard = op.guard
    for kind, address in (("load", source), ("store", target)):
        if kind == "load" and source is target:  # a fill
            continue
        number = _number(kernel, Site(kind, op.span, "generic", 0, 1, STRONG | BULK))
        out.append(Op("check", "i1", [address, size], Checked(number, True), guard, op.span))
        guard = out[-1] if restricting else guard
    op.guard = guard
    return out


def _extent(address: Value, space: str) -> tuple[int, int] | None:
    """Return the one variable that an address is computed from by adding numbers, as (start, size) in its space."""
    found: set[tuple[str, tuple[int, int]]] = set()
    work, budget = [address], 64
    while work:
        value = work.pop()
        budget -= 1
        if not isinstance(value, Op):
            if not isinstance(value, Const):  # a phi may carry another variable's address
                return None
            continue
        if budget < 0:
            return None
        if value.name == "symbol":
            symbol = Symbol.of(value)
            if symbol.extent is None:
                return None
            found.add((symbol.space, symbol.extent))
        elif value.name in ("add", "to_generic", "from_generic", "zext", "sext"):
            work += value.args
        elif value.name == "sub":
            work.append(value.args[0])
        elif value.name == "select":
            work += value.args[1:]
    if len(found) != 1:
        return None
    where, extent = found.pop()
    same = where == space or space == "generic" or {where, space} <= {"global", "const"}
    return extent if same else None


def _end(kernel: Kernel, block: Block, checks: frozenset[str]) -> list[Op]:
    """Return the check of how a block ends."""
    end = block.terminator
    if not checks & _SYNCHRONISING:
        return []
    if end.name == "exit":
        return [Op("check", "i1", [], Checked(_number(kernel, Site("exit", end.span))), None, end.span)]
    barrier = end.attrs
    if not isinstance(barrier, Barrier) or barrier.kind == "yield":
        return []
    if barrier.warp:
        site, args = Site("warp", end.span), [a for a in end.args[:1] if a is not None]
        return [Op("check", "i1", args, Checked(_number(kernel, site)), None, end.span)]
    count = end.args[1] if len(end.args) > 1 else None
    flags = ALIGNED if barrier.aligned else 0
    flags |= COUNTED if count is not None else 0
    flags |= ARRIVES if barrier.kind == "arrive" else 0
    number = end.args[0] if end.args[0] is not None else Const("i32", 0)
    site = Site("barrier", end.span, flags=flags)
    args = [number, count if count is not None else Const("i32", 0)]
    return [Op("check", "i1", args, Checked(_number(kernel, site), True), None, end.span)]


def _substitute(kernel: Kernel, replaced: dict[Value, Value]) -> None:
    """Use what loads give now, but for the operations that make it."""
    originals = {kept: (kept.args[1], op) for op, kept in replaced.items() if isinstance(kept, Op)}
    elements = [op for b in kernel.blocks for op in b.ops if op.name == "element"]
    sources = [op.args[0] for op in elements]
    substitute(kernel, replaced)
    for kept, (original, _) in originals.items():
        kept.args[1] = original
    for op, source in zip(elements, sources, strict=True):
        op.args[0] = source
