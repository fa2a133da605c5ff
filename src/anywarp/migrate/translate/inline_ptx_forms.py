"""Instructions that have a shorter C++ than their meaning spelled out: fields, permutations, shuffles, votes, barriers, copies.

Each is tried before the general way (`inline_ptx_ops.py`), says None where a form is not its own, and is held to the same expected
values by the tests.
"""

from __future__ import annotations

from collections.abc import Callable

from anywarp.migrate.translate.inline_ptx_ops import ARITHMETIC, DEVICE, WARP, CppOps, Untranslatable
from anywarp.migrate.translate.inline_ptx_values import Value, call
from anywarp.ptx.isa.barriers import barrier_of
from anywarp.ptx.isa.operands import pair, read, value_type, write
from anywarp.ptx.tree import Address, Instruction, Integer, Name, Operand, Pair

Form = Callable[[CppOps, Instruction], bool]
"""Handles an instruction, and says whether it did."""


def bfe(ops: CppOps, i: Instruction) -> bool:
    """`bfe`."""
    if len(i.operands) != 4:
        return False
    d, a, position, length = i.operands
    type = value_type(i.types[0])
    signed = i.types[0][0] == "s"
    value = _signed(ops, read(ops, a, type), signed)
    found = _arithmetic(ops, "bfe", value, read(ops, position, "i32"), read(ops, length, "i32"), like=type)
    write(ops, d, _unsigned(ops, found, signed))
    return True


def bfi(ops: CppOps, i: Instruction) -> bool:
    """`bfi`."""
    if len(i.operands) != 5:
        return False
    d, a, b, position, length = i.operands
    type = value_type(i.types[0])
    values = (read(ops, a, type), read(ops, b, type), read(ops, position, "i32"), read(ops, length, "i32"))
    write(ops, d, _arithmetic(ops, "bfi", *values, like=type))
    return True


def bfind(ops: CppOps, i: Instruction) -> bool:
    """`bfind` without `.shiftamt`."""
    if len(i.operands) != 2 or i.has("shiftamt"):
        return False
    d, a = i.operands
    value = _signed(ops, read(ops, a, value_type(i.types[0])), i.types[0][0] == "s")
    write(ops, d, _arithmetic(ops, "bfind", value, like="i32"))
    return True


def prmt(ops: CppOps, i: Instruction) -> bool:
    """`prmt` without a mode."""
    if len(i.operands) != 4 or i.modifiers != ("b32",):
        return False
    d, *sources = i.operands
    write(ops, d, _arithmetic(ops, "prmt", *(read(ops, s, "i32") for s in sources), like="i32"))
    return True


def shf(ops: CppOps, i: Instruction) -> bool:
    """`shf`."""
    if len(i.operands) != 4:
        return False
    d, *sources = i.operands
    name = f"shf_{'l' if i.has('l') else 'r'}_{'clamp' if i.has('clamp') else 'wrap'}"
    write(ops, d, _arithmetic(ops, name, *(read(ops, s, "i32") for s in sources), like="i32"))
    return True


def dot(ops: CppOps, i: Instruction) -> bool:
    """`dp2a`."""
    if len(i.operands) != 4 or len(i.types) != 2:
        return False
    d, a, b, c = i.operands
    name = "dp2a_hi" if i.has("hi") else "dp2a_lo"
    x, y = (_signed(ops, read(ops, s, "i32"), t[0] == "s") for s, t in zip((a, b), i.types, strict=True))
    write(ops, d, _arithmetic(ops, name, x, y, read(ops, c, "i32"), like="i32"))
    return True


def approximate(ops: CppOps, i: Instruction) -> bool:
    """The approximations of f32 with `.ftz`, which is what AMD's instructions do."""
    if len(i.operands) != 2 or set(i.modifiers) != {"approx", "ftz", "f32"}:
        return False
    d, a = i.operands
    write(ops, d, _arithmetic(ops, f"{i.opcode}_approx_ftz", read(ops, a, "f32"), like="f32"))
    return True


def shuffle(ops: CppOps, i: Instruction) -> bool:
    """`shfl` over whole warps: the plain shuffles of HIP with a width of 32."""
    expected = 0 if i.has("up") else 31
    if not i.has("sync") or len(i.operands) != 5 or isinstance(i.operands[0], Pair):
        return False
    d, a, lane, control, _ = i.operands
    if not isinstance(control, Integer) or control.value != expected:
        return False
    name = next(n for m, n in (("up", "_up"), ("down", "_down"), ("bfly", "_xor"), ("idx", "")) if i.has(m))
    write(ops, d, call("i32", f"__shfl{name}", read(ops, a, "i32"), read(ops, lane, "i32"), "32"))
    return True


def vote(ops: CppOps, i: Instruction) -> bool:
    """`vote.sync` but `.uni`."""
    if len(i.operands) != 3 or not i.has("sync") or i.has("uni"):
        return False
    d, a, mask = i.operands
    name = next(m for m in ("ballot", "any", "all") if i.has(m))
    found = _warp(ops, f"{name}_sync", read(ops, mask, "i32"), read(ops, a, "i1"))
    if name != "ballot":
        found.type = "i1"
    write(ops, d, found)
    return True


def match(ops: CppOps, i: Instruction) -> bool:
    """`match.any`."""
    if len(i.operands) != 3 or not i.has("any"):
        return False
    d, a, mask = i.operands
    write(ops, d, _warp(ops, "match_any_sync", read(ops, mask, "i32"), read(ops, a, value_type(i.types[0]))))
    return True


def activemask(ops: CppOps, i: Instruction) -> bool:
    """`activemask`."""
    if len(i.operands) != 1:
        return False
    write(ops, i.operands[0], _warp(ops, "activemask"))
    return True


def elect(ops: CppOps, i: Instruction) -> bool:
    """`elect`: the lowest of the named lanes."""
    if len(i.operands) != 2:
        return False
    d, p = pair(i.operands[0])
    leader = _warp(ops, "leader", read(ops, i.operands[1], "i32"))
    write(ops, d, leader)
    write(ops, p, ops.icmp("eq", leader, ops.special("laneid")))
    return True


def barrier(ops: CppOps, i: Instruction) -> bool:
    """Barriers of the whole block, and of the warp."""
    form = barrier_of(i)
    if i.has("cluster"):
        raise Untranslatable(
            "clusters of blocks do not exist on AMD GPUs", "let each block work alone, or use a cooperative launch"
        )
    if form.warp:
        ops.effects.append(_warp(ops, "syncwarp", read(ops, form.barrier, "i32")))
        return True
    if (
        not isinstance(form.barrier, Integer)
        or form.barrier.value != 0
        or form.count is not None
        or form.kind == "arrive"
    ):
        raise Untranslatable(
            "HIP has one barrier for a block, which all its threads pass; named barriers and arriving without waiting are missing",
            "let all threads of the block take part in __syncthreads(), or count arrivals in shared memory",
        )
    if form.kind == "sync":
        ops.effects.append(call("i32", "__syncthreads"))
        return True
    assert form.predicate is not None and form.destination is not None  # the decoder gives both for reductions
    name = {"red_popc": "count", "red_and": "and", "red_or": "or"}[form.kind]
    voted = call("i32", f"__syncthreads_{name}", read(ops, form.predicate, "i1"))
    found = Value("i32", ("(unsigned int)", voted), 15)
    if form.kind != "red_popc":
        found = ops.icmp("ne", found, ops.const("i32", 0))
    write(ops, form.destination, found)
    return True


def copy(ops: CppOps, i: Instruction) -> bool:
    """`cp.async` and its groups: a copy that is done at once, and nothing to wait for."""
    if i.has("bulk", "mbarrier") or (i.modifiers and i.modifiers[-1] == "arrive"):
        raise Untranslatable("bulk and tensor copies have no equal", "copy in a loop over the threads of the block")
    if i.has("commit_group", "wait_all", "wait_group"):
        ops.notes.append("copies are done when they are issued, so there is nothing to wait for")
        return True
    if len(i.operands) not in (3, 4) or i.has("L2::cache_hint"):
        return False
    target, source, size = i.operands[:3]
    if isinstance(size, Integer):
        bytes_ = str(size.value)
    elif isinstance(size, Name) and size.name in ops.registers:
        raw = ops.registers[size.name].raw or ops.registers[size.name].read
        return _copy(ops, i, target, source, Value("i32", tuple(raw)))
    else:
        return False
    return _copy(ops, i, target, source, Value("i32", (bytes_,)))


def _copy(ops: CppOps, i: Instruction, target: Operand, source: Operand, size: Value) -> bool:
    ops.needs |= {DEVICE, WARP}
    to = ops.pointer("shared", "void", _address(ops, target, "i32"))
    start = ops.pointer("global", "const void", _address(ops, source, "i64"))
    parts: list[str | Value] = ["anywarp::copy_async<", size, ">(", to, ", ", start]
    if len(i.operands) == 4:
        parts += [", ", read(ops, i.operands[3], "i32")]
    ops.effects.append(Value("i32", (*parts, ")")))
    return True


def _address(ops: CppOps, operand: Operand, type: str) -> Value:
    if not isinstance(operand, Address):
        raise Untranslatable("a memory operand is not written [address]")
    base = read(ops, operand.base, "i32" if type == "i32" else "i64")
    return base if operand.offset == 0 else ops.add(base, ops.const(base.type, operand.offset))


def prefetch(ops: CppOps, i: Instruction) -> bool:
    """`prefetch` to a cache."""
    if not i.operands or i.has("tensormap", "local"):
        return False
    ops.effects.append(
        call("i32", "__builtin_prefetch", ops.pointer("global", "const void", _address(ops, i.operands[0], "i64")))
    )
    return True


def leave(ops: CppOps, i: Instruction) -> bool:
    """`exit`, `ret` and `brx`: what no statement inside a function can do for it."""
    if i.opcode == "bra":
        return False
    raise Untranslatable(
        f"`{i.opcode}` ends the thread from inside the statement",
        "return from the kernel in C++ where the statement would have ended it",
    )


_NVIDIA_ONLY = {
    "mma": "use rocWMMA, or the MFMA builtins of the compiler (__builtin_amdgcn_mfma_f32_16x16x16f16 and its like)",
    "wgmma": "use rocWMMA or composable_kernel; AMD's matrix instructions work on one wave and take registers",
    "tcgen05": "use rocWMMA or composable_kernel; there is no tensor memory on AMD GPUs",
    "wmma": "use rocWMMA, or the MFMA builtins of the compiler",
    "ldmatrix": "use rocWMMA's load_matrix_sync, or let each lane load its elements",
    "stmatrix": "use rocWMMA's store_matrix_sync, or let each lane store its elements",
    "movmatrix": "exchange elements with __shfl, or go through shared memory",
    "mbarrier": "use __syncthreads(); copies are done when they are issued",
    "mapa": "clusters of blocks do not exist on AMD GPUs; exchange through global memory",
    "getctarank": "clusters of blocks do not exist on AMD GPUs",
    "multimem": "use RCCL, or load from each device in turn",
    "cp.reduce": "use atomics in a loop over the threads of the block",
    "tensormap": "there are no tensor maps on AMD GPUs; compute addresses in the kernel",
    "call": "call the function in C++",
}


def foreign(ops: CppOps, i: Instruction) -> bool:
    """Instructions whose whole family is NVIDIA's own."""
    raise Untranslatable(f"`{i.opcode}` has no equal on AMD GPUs", _NVIDIA_ONLY[i.opcode])


def _arithmetic(ops: CppOps, name: str, *arguments: Value, like: str) -> Value:
    ops.needs.add(ARITHMETIC)
    made = call("i32", f"anywarp::{name}", *arguments)
    made.type = like  # type: ignore[assignment]
    return made


def _warp(ops: CppOps, name: str, *arguments: Value) -> Value:
    ops.needs.add(WARP)
    return call("i32", f"anywarp::{name}", *arguments)


def _signed(ops: CppOps, value: Value, signed: bool) -> Value:
    return ops.signed(value) if signed else value


def _unsigned(ops: CppOps, value: Value, signed: bool) -> Value:
    return ops.unsigned(value, signed)


FORMS: dict[str, Form] = {
    "bfe": bfe, "bfi": bfi, "bfind": bfind, "prmt": prmt, "shf": shf, "dp2a": dot,
    **dict.fromkeys(("ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt", "sqrt"), approximate),
    "shfl": shuffle, "vote": vote, "match": match, "activemask": activemask, "elect": elect, "bar": barrier, "barrier": barrier,
    "cp": copy, "prefetch": prefetch, "exit": leave, "ret": leave, "brx": leave,
    **dict.fromkeys(_NVIDIA_ONLY, foreign),
}  # fmt: skip
"""The function that knows a shorter C++, by opcode."""
