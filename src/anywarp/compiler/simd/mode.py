"""The processor's mode while a kernel runs: set where it is entered, as before wherever it is left."""

from __future__ import annotations

from anywarp.compiler.abi import STATUS
from anywarp.compiler.simd.values import Values

_FLUSHES = 1 << 15 | 1 << 6  # FTZ and DAZ: Intel's manual, volume 1, figure 10-3


def enter(v: Values) -> None:
    """Have subnormal f32 numbers flushed if the kernel asks for it.

    LLVM does not order float arithmetic after this; there is none in the entry block, for parameters are read behind its branch. Nor is it told of the
    mode ("denormal-fp-math"): it would take a written flush for no change.
    """
    if not v.kernel.flushes:
        return
    t = v.t
    t.allocas += ["  %mode.before = alloca i32", "  %mode.now = alloca i32"]
    t.call("void", "llvm.x86.sse.stmxcsr", ("ptr", "%mode.before"))
    before = t.let("load i32, ptr %mode.before")
    t.do(f"store i32 {t.two('or', 'i32', before, str(_FLUSHES))}, ptr %mode.now")
    t.call("void", "llvm.x86.sse.ldmxcsr", ("ptr", "%mode.now"))


def leave(v: Values, status: str) -> None:
    """Return from the kernel with a status by its name."""
    if v.kernel.flushes:
        v.t.call("void", "llvm.x86.sse.ldmxcsr", ("ptr", "%mode.before"))
    v.t.do(f"ret i32 {STATUS[status]}")
