"""What a kernel asks of the runtime: printf, assert, malloc, and the end of a kernel that traps.

No thread of the host answers while a kernel runs. What a lane says goes into records that the driver reads when it has waited for the
kernel; the heap is managed by the kernels themselves. Both are written in C (native/hip/device/services.c) and come as `services.ll`,
of which `link_services` takes what is called.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding

from anywarp.compiler.abi import PLACE, RECORD, RECORD_KIND, SERVICES, STATE, STOP
from anywarp.compiler.amdgpu.emitter import LOCAL, Emitter
from anywarp.compiler.amdgpu.special import AXES, block_index, thread
from anywarp.compiler.attributes import Service, Trapped
from anywarp.compiler.ir import Op, Terminator
from anywarp.compiler.simd.text import LLVM_TYPE, Text

llvm: Any = llvmlite.binding  # it has no types

VERSION = 1
RUNNING, TRAP, ASSERT = (STOP[f"AW_HIP_{word}"] for word in ("RUNNING", "TRAP", "ASSERT"))
UNFINISHED, PRINT, ASSERTION, FILLER = (
    RECORD_KIND[f"AW_HIP_{word}"] for word in ("UNFINISHED", "PRINT", "ASSERTION", "FILLER")
)
AwHipServices, AwHipState, AwHipRecord = SERVICES.ctype, STATE.ctype, RECORD.ctype

_TYPES = {
    "vprintf": ("i32", ("ptr", "ptr")),
    "malloc": ("i64", ("i64",)),
    "free": ("void", ("i64",)),
    "assertfail": ("void", ("ptr", "ptr", "i32", "ptr")),
    "nanosleep": ("void", ("i32",)),
}
"""Result and arguments of each service, as the call of the PTX has them."""

_TELLS_PLACE = frozenset({"vprintf", "assertfail"})


def emit_host_call(e: Emitter, op: Op) -> None:
    """Emit a call of a service, once per lane whose guard holds. NotImplementedError for one that there is no code for."""
    name = Service.of(op).name
    if name == "device_runtime":
        raise NotImplementedError("launches by kernels (dynamic parallelism), which HIP has not")
    if name not in _TYPES:
        raise NotImplementedError(f"the service {name}")
    result, wanted = _TYPES[name]

    def body() -> list[tuple[str, str]]:
        own: list[tuple[str, str]] = [] if name == "nanosleep" else [("i64", e.hidden("services", "i64"))]
        if name in _TELLS_PLACE:
            own.append(("ptr", _place(e)))
        given = [(type, _as(e, arg.type, e.value(arg), type)) for arg, type in zip(op.args, wanted, strict=False)]
        value = e.t.call(result, f"aw_hip_{name}", *own, *given)
        return [(result, value)] if result != "void" else []

    values = e.guarded(op, body)
    if not values:
        e.define(op, "false")
        return
    have, want = result, LLVM_TYPE[op.type]
    value = values[0]
    if have != want:
        value = e.t.cast("zext" if int(have[1:]) < int(want[1:]) else "trunc", have, value, want)
    e.define(op, value)


def emit_trap(e: Emitter, end: Terminator) -> None:
    """Emit the end of a kernel that traps: a record for the driver, and the end of the wave. Nothing is reached behind it.

    `s_trap` would end the process.
    """
    why = Trapped.of(end)
    stop(e, str(why.reason), str(why.line))


def stop(e: Emitter, reason: str, line: str) -> None:
    """Emit the end of a kernel for a reason (i32: of `artifact.REASONS`) at a line of the PTX. Nothing is reached behind it."""
    services = ("i64", e.hidden("services", "i64"))
    e.t.call("void", "aw_hip_stop", services, ("ptr", _place(e)), ("i32", str(TRAP)), ("i32", reason), ("i32", line))
    e.t.call("void", "llvm.amdgcn.endpgm")


def _as(e: Emitter, type: str, value: str, wanted: str) -> str:
    """Convert a number of the kernel IR to an argument of a service; addresses are generic ones."""
    have = LLVM_TYPE[type]
    number = "i64" if wanted == "ptr" else wanted
    if have != number:
        value = e.t.cast("zext" if int(have[1:]) < int(number[1:]) else "trunc", have, value, number)
    return e.t.cast("inttoptr", "i64", value, "ptr") if wanted == "ptr" else value


def _place(e: Emitter) -> str:
    """Return a generic pointer to the lane's place: launch, block and thread (`AwHipPlace`)."""
    numbers = [("i64", e.hidden("grid_id", "i64"), PLACE.offset("grid_id"))]
    numbers += [("i32", block_index(e, axis), PLACE.offset(f"block.{axis}")) for axis in AXES]
    numbers += [("i32", thread(e, axis), PLACE.offset(f"thread.{axis}")) for axis in AXES]

    def make(t: Text) -> str:
        t.allocas.append(f"  %place = alloca [{PLACE.size} x i8], align 8, addrspace(5)")
        for type, number, offset in numbers:
            t.do(f"store {type} {number}, {LOCAL} {t.let(f'getelementptr i8, {LOCAL} %place, i32 {offset}')}")
        return t.cast("addrspacecast", LOCAL, "%place", "ptr")

    return e.once("services' place", make)


@cache
def _text() -> str:
    return Path(__file__).with_name("services.ll").read_text()


def needs_services(text: str) -> bool:
    """Return whether the text of a kernel calls a service."""
    return "@aw_hip_" in text


def link_services(module: Any) -> None:
    """Give a module the functions of `services.ll`; those that nothing calls are dropped when it is optimised."""
    module.link_in(llvm.parse_assembly(_text()))
