"""One kernel on its way to LLVM IR: the names of its values, code at its start, code under a guard.

Every lane runs the same scalar code; LLVM finds out what is the same for all lanes of a wave and gives branches their masks.
"""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.amdgpu.architectures import Architecture
from anywarp.compiler.amdgpu.barrier_plan import plan_barriers
from anywarp.compiler.amdgpu.code import Code, Head
from anywarp.compiler.amdgpu.crossings import record_bytes
from anywarp.compiler.amdgpu.hidden import hidden_offset
from anywarp.compiler.gangs import WARP
from anywarp.compiler.ir import Block, Const, Kernel, Op, Specialisation, Undefined, Value
from anywarp.compiler.simd.text import LLVM_TYPE, Text, constant
from anywarp.ptx.isa.ops import BITS

CONSTANT, GLOBAL, SHARED, LOCAL = "ptr addrspace(4)", "ptr addrspace(1)", "ptr addrspace(3)", "ptr addrspace(5)"
INVARIANT = ", !invariant.load !0"


class Emitter:
    """The state of one emission. Handlers of operations read `value`, append to `t` and call `define`.

    `lane` is the lane's number in its warp of 32, `half` the number of its warp's first lane in the wave ("0" or a name).
    """

    def __init__(
        self,
        kernel: Kernel,
        specialisation: Specialisation,
        arch: Architecture,
        warps_per_wave: int,
        *,
        apart: bool = False,
    ) -> None:
        self.kernel = kernel
        self.specialisation = specialisation
        self.arch = arch
        self.wave = arch.wave
        self.warps_per_wave = warps_per_wave
        self.t = Code(apart=apart)
        self.head = Head("h", apart=apart)
        self.notes: list[str] = []
        self.barriers = plan_barriers(kernel, specialisation)
        self.records = record_bytes(kernel, specialisation, self._counted_bytes)
        self.names: dict[Value, str] = {}
        self.pointers: dict[Value, str] = {}
        self.pairs: dict[tuple[Block, Value, Value], str] = {}
        self.variables: set[str] = set()
        self.elements: dict[Value, list[str]] = {}
        self.ends: dict[Block, str] = {}
        self.barrier_results: dict[Block, str] = {}
        self.block: Block = kernel.blocks[0]
        self._once: dict[str, str] = {}
        self.t.declarations = self.head.declarations
        for block in kernel.blocks:
            for phi in block.phis:
                self.names[phi] = f"%{self.t.fresh('phi')}"

    @property
    def shared_bytes(self) -> int:
        """Static shared memory, bytes: the kernel's own, then the counters of barriers and the records of warps."""
        return self._counted_bytes + self.records[1]

    @property
    def _counted_bytes(self) -> int:
        return self.barriers.start + self.barriers.bytes if self.barriers.bytes else self.kernel.shared_bytes

    # --- values ---------------------------------------------------------------------------------------------------

    def value(self, value: Value) -> str:
        """Return the name or literal of a value. What is undefined is 0, as LLVM's own undefined values spread."""
        if isinstance(value, Const):
            return constant(value.type, value.bits)
        if isinstance(value, Undefined):
            return constant(value.type, 0)
        return self.names[value]

    def type(self, value: Value) -> str:
        """Return the LLVM type of a value."""
        return LLVM_TYPE[value.type]

    def define(self, op: Op, name: str) -> None:
        """Give an operation's result its name."""
        self.names[op] = name

    def define_all(self, op: Op, names: list[str]) -> None:
        """Name all results of an operation: the first is the operation's own, the others come through `element`."""
        self.names[op] = names[0]
        self.elements[op] = names

    def as_word(self, value: Value) -> str:
        """Return a value of 32 bits or fewer as an i32, the upper bits 0."""
        name, type = self.value(value), LLVM_TYPE[value.type]
        if type == "float":
            return self.t.cast("bitcast", "float", name, "i32")
        return name if type == "i32" else self.t.cast("zext", type, name, "i32")

    # --- code at the start of the kernel ---------------------------------------------------------------------------

    def once(self, key: str, make: Callable[[Text], str]) -> str:
        """Return what `make` computes at the start of the kernel, where it is put on first use."""
        if key not in self._once:
            self._once[key] = make(self.head)
        return self._once[key]

    def argument(self, offset: int, type: str) -> str:
        """Return a number in the kernel's argument buffer, loaded at the start; its offset in bytes, its LLVM type."""

        def make(t: Text) -> str:
            place = t.let(f"getelementptr i8, {CONSTANT} %args, i64 {offset}") if offset else "%args"
            size = (
                8 if type.startswith(("i64", "double", "ptr")) else 16 if type == "i128" else max(1, _bits(type) // 8)
            )
            return t.let(f"load {type}, {CONSTANT} {place}, align {size}{INVARIANT}")

        return self.once(f"argument {offset} {type}", make)

    def hidden(self, field: str, type: str = "i32") -> str:
        """Return a field of `AwHipHidden`."""
        return self.argument(hidden_offset(self.kernel.param_bytes, field), type)

    @property
    def wave_lane(self) -> str:
        """The lane's number in its wave."""

        def make(t: Text) -> str:
            count = "0"
            for half in ("lo", "hi")[: self.wave // WARP]:
                name = f"llvm.amdgcn.mbcnt.{half}"
                t.declare("i32", name, ["i32", "i32"])
                most = WARP if half == "lo" else 2 * WARP
                count = t.let(f"call range(i32 0, {most}) i32 @{name}(i32 -1, i32 {count})")
            return count

        return self.once("wave_lane", make)

    @property
    def lane(self) -> str:
        """The lane's number in its warp."""
        if self.wave == 32 or self.warps_per_wave == 1:
            return self.wave_lane
        return self.once("lane", lambda t: t.two("and", "i32", self.wave_lane, "31"))

    @property
    def half(self) -> str:
        """The number in the wave of the warp's first lane."""
        if self.wave == 32 or self.warps_per_wave == 1:
            return "0"
        return self.once("half", lambda t: t.two("and", "i32", self.wave_lane, "32"))

    # --- control flow within an operation ---------------------------------------------------------------------------

    def guarded(self, op: Op, body: Callable[[], list[tuple[str, str]]]) -> list[str]:
        """Emit `body` for the lanes whose guard holds; it returns (type, name) of its results, which are 0 in other lanes."""
        if op.guard is None:
            return [name for _, name in body()]
        t = self.t
        before, inside, after = t.label, t.fresh("on"), t.fresh("after")
        t.do(f"br i1 {self.value(op.guard)}, label %{inside}, label %{after}")
        t.start(inside)
        results = body()
        inside = t.label
        t.do(f"br label %{after}")
        t.start(after)
        return [t.let(f"phi {type} [ {zero(type)}, %{before} ], [ {name}, %{inside} ]") for type, name in results]

    def loop(self, initial: list[tuple[str, str]], body: Callable[[list[str]], tuple[str, list[str]]]) -> list[str]:
        """Emit a loop of at least one trip.

        `initial` are the types and first values of what it carries; `body` gets their names and returns the i1 that says whether
        to go on, and the following values. Returns the last of these.
        """
        t = self.t
        before, head, done = t.label, t.fresh("loop"), t.fresh("done")
        t.do(f"br label %{head}")
        t.start(head)
        at = len(t.lines)
        carried = [t.let("phi") for _ in initial]
        more, following = body(carried)
        latch = t.label
        for i, ((type, first), name, last) in enumerate(zip(initial, carried, following, strict=True)):
            t.lines[at + i] = f"  {name} = phi {type} [ {first}, %{before} ], [ {last}, %{latch} ]"
        t.do(f"br i1 {more}, label %{head}, label %{done}")
        t.start(done)
        return following


def zero(type: str) -> str:
    """Return the zero of an LLVM type."""
    if type.startswith(("<", "[", "{")):
        return "zeroinitializer"
    return "0.0" if type in ("float", "double", "half") else "null" if type.startswith("ptr") else "0"


def _bits(type: str) -> int:
    return {"float": 32, "i1": 8}.get(type) or int(type[1:])


SIZE = {type: max(1, bits // 8) for type, bits in BITS.items()}
"""Bytes of each type of the kernel IR."""
