"""Addresses as pointers of LLVM's address spaces.

A generic address of the hardware is 64 bits wide: global memory as it is, or an aperture whose lower half is the address in shared or
local memory. What is known to lie in one space is accessed there, which is cheaper.
"""

from __future__ import annotations

from anywarp.compiler.amdgpu.emitter import CONSTANT, GLOBAL, LOCAL, SHARED, Emitter
from anywarp.compiler.amdgpu.pointers import Pointers, is_dynamic, sized, variable
from anywarp.compiler.amdgpu.spaces import spaces_of_addresses
from anywarp.compiler.attributes import InSpace, Symbol
from anywarp.compiler.ir import Op, Value
from anywarp.compiler.simd.text import LLVM_TYPE
from anywarp.ptx.isa.ops import BITS

POINTER = {"global": GLOBAL, "shared": SHARED, "local": LOCAL, "const": CONSTANT, "param": CONSTANT, "generic": "ptr"}


class Places:
    """Makes pointers of addresses."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        self.pointers = Pointers(e)
        self.known = spaces_of_addresses(self.pointers.origin)

    def space(self, space: str, address: Value) -> str:
        """Return the space that an access of `space` surely goes to; a narrower one for generic addresses if it is known."""
        return self.known.get(address, "generic") if space == "generic" else space

    def pointer(self, space: str, address: Value, offset: int = 0) -> tuple[str, str]:
        """Return the type and name of a pointer `offset` bytes behind an address of a space."""
        e, t = self.e, self.e.t
        space = self.space(space, address)
        type = POINTER[space]
        if space == "param":
            pointer = t.let(f"getelementptr i8, {CONSTANT} %args, i64 {sized(e, address, 'i64')}")
        else:
            pointer = self.pointers.pointer(address, type)
        return type, t.let(f"getelementptr i8, {type} {pointer}, i64 {offset}") if offset else pointer

    # --- operations -----------------------------------------------------------------------------------------------

    def to_generic(self, op: Op) -> None:
        """Emit the generic address of an address in a space."""
        e, t, space = self.e, self.e.t, InSpace.of(op).space
        source = op.args[0]
        if space in ("shared", "local"):
            type, pointer = self.pointer(space, source)
            number = type[-2]
            name = f"llvm.amdgcn.addrspacecast.nonnull.p0.p{number}"
            generic = t.cast("ptrtoint", "ptr", t.call("ptr", name, (type, pointer)), "i64")
        elif space == "param":
            type, pointer = self.pointer(space, source)
            generic = t.cast("ptrtoint", type, pointer, "i64")
        else:
            generic = sized(e, source, "i64")
        e.define(op, generic if BITS[op.type] == 64 else t.cast("trunc", "i64", generic, "i32"))

    def from_generic(self, op: Op) -> None:
        """Emit the address within a space: the lower half of an address in shared or local memory."""
        e, t, space = self.e, self.e.t, InSpace.of(op).space
        source = op.args[0]
        name = sized(e, source, "i64")
        if space in ("shared", "local"):
            name = t.two("and", "i64", name, str(0xFFFFFFFF))
        elif space == "param":
            start = e.once("args", lambda h: h.cast("ptrtoint", CONSTANT, "%args", "i64"))
            name = t.two("sub", "i64", name, start)
        e.define(op, name if BITS[op.type] == 64 else t.cast("trunc", "i64", name, "i32"))

    def is_space(self, op: Op) -> None:
        """Emit whether a generic address falls into a space; what is in no other one is global."""
        e, t, space = self.e, self.e.t, InSpace.of(op).space
        number = sized(e, op.args[0], "i64")
        pointer = t.cast("inttoptr", "i64", number, "ptr")

        def inside(which: str) -> str:
            return t.call("i1", f"llvm.amdgcn.is.{which}", ("ptr", pointer))

        def between(start: str, size: str) -> str:
            return t.two("icmp ult", "i64", t.two("sub", "i64", number, start), size)

        def parameters() -> str:
            start = e.once("args", lambda h: h.cast("ptrtoint", CONSTANT, "%args", "i64"))
            return between(start, str(e.kernel.param_bytes))

        if space in ("shared", "local"):
            found = inside("shared" if space == "shared" else "private")
        elif space == "param":
            found = parameters()
        elif space == "global":
            own = t.two("or", "i1", inside("shared"), inside("private"))
            found = t.two("xor", "i1", t.two("or", "i1", own, parameters()), "true")
        else:  # const variables lie in the module's data, beside global ones
            bytes = t.cast("zext", "i32", e.hidden("module_data_bytes"), "i64")
            found = between(e.hidden("module_data", "i64"), bytes)
        e.define(op, found)

    def symbol(self, op: Op) -> None:
        """Emit a variable's address within its space."""
        e, t, space = self.e, self.e.t, InSpace.of(op).space
        pointer = variable(e, space, Symbol.of(op).offset, dynamic=is_dynamic(op))
        e.define(op, t.cast("ptrtoint", POINTER[space], pointer, LLVM_TYPE[op.type]))
