"""Addresses as LLVM's own pointers, from the variable or parameter that they begin with.

LLVM knows what an address and another one have in common only if both are steps from one pointer. Then it joins neighbouring accesses,
keeps the constant part in the instruction, and sees which variables are never touched. The number that an address is, is made of the
pointer where it is asked for.
"""

from __future__ import annotations

from anywarp.compiler.amdgpu import spaces
from anywarp.compiler.amdgpu.emitter import CONSTANT, GLOBAL, LOCAL, SHARED, Emitter
from anywarp.compiler.amdgpu.hidden import hidden_offset
from anywarp.compiler.amdgpu.steadiness import Steadiness
from anywarp.compiler.attributes import InSpace, Parameter, Symbol
from anywarp.compiler.ir import Const, Op, Phi, Value
from anywarp.compiler.operation_table import with_trap
from anywarp.compiler.simd.text import LLVM_TYPE, Text
from anywarp.ptx.isa.ops import BITS

_TYPE = {"global": GLOBAL, "const": CONSTANT, "shared": SHARED, "local": LOCAL, spaces.MAYBE: GLOBAL}
_ACCESSES = with_trap("faults") - {"texture"}  # whose operands are objects
_MOST = 1 << 20
"""Size of elements that are stepped over as such."""
_THROUGH = frozenset({"to_generic", "from_generic", "zext", "trunc"})


class Pointers:
    """The pointers of the values of a kernel that are addresses of accesses."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        self.origin = spaces.origins(e.kernel)
        self.steadiness = Steadiness(e.kernel)
        self.wanted = self._wanted()

    def type(self, value: Value) -> str:
        """Return the type of the pointer that an address is, "" if it is not known to point anywhere."""
        return _TYPE.get(self.origin.get(value, ""), "")

    def pointer(self, value: Value, type: str) -> str:
        """Return an address as a pointer of a type, made of its number where that is all there is."""
        e = self.e
        if value in e.pointers and self.type(value) == type:
            return e.pointers[value]
        return as_pointer(e, value, type)

    def incoming(self, value: Value, type: str) -> str:
        """Return an address that comes along an edge as a pointer; numbers are constants then."""
        if value in self.e.pointers:
            return self.e.pointers[value]
        name = self.e.value(value)
        return f"inttoptr ({LLVM_TYPE[value.type]} {name} to {type})" if name not in ("0",) else "null"

    # --- which values ---------------------------------------------------------------------------------------------

    def _wanted(self) -> set[Value]:
        """Return the addresses of all accesses, and what they are made of."""
        work = [op.args[0] for b in self.e.kernel.blocks for op in b.ops if op.name in _ACCESSES]
        out: set[Value] = set()
        while work:
            value = work.pop()
            if value in out or not self.type(value):
                continue
            out.add(value)
            work += self._made_of(value)
        return out

    def _made_of(self, value: Value) -> list[Value]:
        """Return the addresses from which another one of the same space is made."""
        if isinstance(value, Phi):
            return [v for v in value.incoming.values() if not spaces.is_null(v)]
        assert isinstance(value, Op)
        type = self.type(value)
        if value.name == "select":
            return [v for v in value.args[1:] if not spaces.is_null(v)]
        if value.name in _THROUGH or value.name == "sub":
            return [value.args[0]] if self.type(value.args[0]) == type else []
        if value.name != "add":
            return []
        sure = [a for a in value.args if self.type(a) == type and self.origin[a] != spaces.MAYBE]
        maybe = [a for a in value.args if self.origin.get(a) == spaces.MAYBE]
        found = sure or (maybe if type == GLOBAL else [])
        return found if len(found) == 1 else []  # of two parameters nobody knows which one is the address

    def number_of_pointer(self, value: Value) -> bool:
        """Tell whether a wanted value's number is best made of its pointer: both have the same bits."""
        return (BITS[value.type] == 64) == (self.type(value) in (GLOBAL, CONSTANT))

    # --- making them ----------------------------------------------------------------------------------------------

    def emit(self, op: Op) -> bool:
        """Emit a wanted operation as a step from a pointer; False if its number is to be emitted, and its pointer after that."""
        if op not in self.wanted or not self.number_of_pointer(op):
            return False
        e, t = self.e, self.e.t
        made = self._step(op)
        if not made:
            return False
        e.pointers[op] = made
        e.define(op, t.cast("ptrtoint", self.type(op), made, LLVM_TYPE[op.type]))
        return True

    def after(self, op: Op) -> None:
        """Give a wanted value that has a number its pointer."""
        if op in self.wanted and op not in self.e.pointers:
            self.e.pointers[op] = self._step(op) or as_pointer(self.e, op, self.type(op))

    def _step(self, op: Op) -> str:
        """Return an address as a step from another pointer, "" if there is none."""
        e, t, type = self.e, self.e.t, self.type(op)
        if op.name == "param":
            return e.argument(Parameter.of(op).offset, type)
        if op.name == "symbol":
            return variable(e, InSpace.of(op).space, Symbol.of(op).offset, dynamic=is_dynamic(op))
        made_of = self._made_of(op)
        if not made_of:
            return ""
        if op.name == "select":
            a, b = (self.pointer(v, type) for v in op.args[1:])
            return t.pick(0, e.value(op.args[0]), type, a, b)
        base = self.pointer(made_of[0], type)
        if op.name in _THROUGH:
            return base
        other = op.args[1] if op.args[0] is made_of[0] else op.args[0]
        parts = self._parts(other, made_of[0]) if op.name == "add" else None
        if parts is not None:
            size, steps = parts
            for step in steps:  # modulo 2**64, in which the order does not matter
                base = t.let(f"getelementptr [{size} x i8], {type} {base}, i64 {e.value(step)}")
            return base
        step = e.value(other)
        if op.name == "sub":
            step = t.two("sub", LLVM_TYPE[other.type], "0", step)
        return t.let(f"getelementptr i8, {type} {base}, {LLVM_TYPE[other.type]} {step}")

    def _parts(self, step: Value, base: Value) -> tuple[int, list[Value]] | None:
        """Return a step as a size times two numbers, the one first that changes less often; None if it is no such sum."""
        if not isinstance(step, Op) or step.type != "i64":
            return None
        size, total = 1, step
        if step.name in ("shl", "mul") and isinstance(step.args[0], Op) and isinstance(step.args[1], Const):
            by, total = step.args[1].bits, step.args[0]
            size = 1 << by if step.name == "shl" and by < 64 else by
        if total.name != "add" or not 0 < size <= _MOST:
            return None
        numbers = sorted(total.args, key=self.steadiness.depth)
        depths = [self.steadiness.depth(value) for value in (base, *numbers)]
        return (size, numbers) if depths[0] <= depths[1] < depths[2] else None


def as_pointer(e: Emitter, value: Value, type: str) -> str:
    """Make a pointer of a number."""
    if isinstance(value, Const) and value.bits == 0 and type in (GLOBAL, CONSTANT, "ptr"):
        return "null"
    width = "i32" if type in (SHARED, LOCAL) else "i64"
    return e.t.cast("inttoptr", width, sized(e, value, width), type)


def sized(e: Emitter, value: Value, width: str) -> str:
    """Return a number with another width, zero-extended or cut."""
    have, want, name = BITS[value.type], int(width[1:]), e.value(value)
    return name if have == want else e.t.cast("zext" if have < want else "trunc", LLVM_TYPE[value.type], name, width)


# --- variables --------------------------------------------------------------------------------------------------------


def is_dynamic(symbol: Op) -> bool:
    """Tell whether a shared variable gets its size with the launch."""
    return InSpace.of(symbol).space == "shared" and (Symbol.of(symbol).extent or (0, 0))[1] == -1


def variable(e: Emitter, space: str, offset: int, *, dynamic: bool = False) -> str:
    """Return a pointer into a space's variables, by their offset among them."""
    if space == "shared":
        base = "@aw.dynamic" if dynamic else "@aw.lds"
        e.variables.add(base)
        offset -= e.kernel.shared_bytes if dynamic else 0
        type = SHARED
    elif space == "local":
        base, type = e.once("local", lambda head: _local(e, head)), LOCAL
    else:
        base, type = e.argument(hidden_offset(e.kernel.param_bytes, "module_data"), GLOBAL), GLOBAL
        if space == "const":
            base, type = e.argument(hidden_offset(e.kernel.param_bytes, "module_data"), CONSTANT), CONSTANT
    return e.t.let(f"getelementptr i8, {type} {base}, i64 {offset}")


def _local(e: Emitter, head: Text) -> str:
    head.allocas.append(f"  %local = alloca [{e.kernel.local_bytes} x i8], align 16, addrspace(5)")
    return "%local"


def declared(e: Emitter) -> str:
    """Return the declarations of the shared memory that a kernel uses."""
    out: list[str] = []
    align = max(128, e.kernel.dynamic_shared_align)
    if "@aw.lds" in e.variables:
        out.append(f"@aw.lds = internal addrspace(3) global [{max(1, e.shared_bytes)} x i8] poison, align {align}")
    if "@aw.dynamic" in e.variables:
        out.append(
            f"@aw.dynamic = external addrspace(3) global [0 x i8], align {max(16, e.kernel.dynamic_shared_align)}"
        )
    return "\n".join(out)
