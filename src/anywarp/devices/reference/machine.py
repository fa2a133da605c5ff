"""The instruction operations with the machine around a warp: registers, memory, special registers.

One instance serves one block at a time; the scheduler sets the warp, the lanes and the step before a meaning runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from anywarp.devices.reference import softfloat, windows
from anywarp.devices.reference.bulk import run_bulk
from anywarp.devices.reference.launch import Launch, Triple
from anywarp.devices.reference.memory import WINDOWS, Memory, Region, Stray, in_space
from anywarp.devices.reference.objects import run
from anywarp.devices.reference.program import Place, Program, Register, Step, element_size, float_bits
from anywarp.devices.reference.services import SERVICES
from anywarp.devices.reference.surface import Trap
from anywarp.devices.reference.values import LANES, Plain, PlainOps, plain, undefined
from anywarp.devices.reference.warp import Lane, Warp
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.ptx.isa.mbarriers import COUNTED, EXPECTED, PARITY
from anywarp.ptx.isa.operands import displacement
from anywarp.ptx.isa.ops import BITS, AddressSpace, AtomicOp, Order, Scope, Type
from anywarp.ptx.isa.special_registers import SPECIAL, special_name
from anywarp.ptx.isa.texture_form import form_of
from anywarp.ptx.tree import Float, Function, Guard, Instruction, Integer, Name, Negated, Offset, Operand, Sink


class Machine(PlainOps):
    """PlainOps with the rest supplied."""

    def __init__(self, program: Program, launch: Launch, memory: Memory) -> None:
        super().__init__()
        self.program, self.launch, self.memory = program, launch, memory
        self.ctaid: Triple = (0, 0, 0)
        self.warp = Warp(0, [None] * LANES)
        self.instruction = Instruction("exit", (), ())
        self.names = program.names
        self.depth = 0

    # --- the instruction at hand ------------------------------------------------------------------------------------
    def begin(self, warp: Warp, lanes: Sequence[int], step: Step) -> None:
        """Make `step` the instruction at hand, to be run by `lanes` of `warp`, and evaluate its guard."""
        self.warp, self.names = warp, step.names
        self.instruction = step.instruction
        self.depth = len(self.lane(lanes[0]).frames) - 1
        self.active = sum(1 << n for n in lanes)
        self.guarded = (1 << LANES) - 1
        if step.instruction.guard is not None:
            self.guarded = self._guard_mask(step.instruction.guard)

    def _guard_mask(self, guard: Guard) -> int:
        value = self.read(guard.register, "i1")
        mask = sum(bit << n for n, bit in enumerate(value.lanes))
        return ~mask & ((1 << LANES) - 1) if guard.negated else mask

    def lane(self, n: int) -> Lane:
        """Return lane `n` of the warp, which exists."""
        found = self.warp.lanes[n]
        assert found is not None
        return found

    def running(self) -> list[int]:
        """Return the lanes that run the instruction."""
        return [n for n in range(LANES) if self.executing >> n & 1]

    def fail(self, code: str, message: str, lane: int | None = None) -> NoReturn:
        """Raise an error that names the instruction, the block and the thread."""
        lane = self.running()[0] if lane is None else lane
        place = f"thread {self.lane(lane).thread} of block {self.ctaid}"
        raise AnywarpError(
            Diagnostic(
                code,
                f"{message}, in {self.instruction.form} by {place}",
                source=self.program.source,
                span=self.instruction.span,
                details={"thread": self.lane(lane).thread, "block": self.ctaid},
            )
        )

    # --- operands ------------------------------------------------------------------------------------------------------
    def read(self, operand: Operand, type: Type) -> Plain:
        if isinstance(operand, Integer):
            return self.const(type, operand.value)
        if isinstance(operand, Float):
            return self.const(type, float_bits(operand, BITS[type]) if type != "bf16" else _bf16(operand))
        if isinstance(operand, Negated):
            return self.not_(self.read(operand.operand, type))
        if isinstance(operand, Offset):
            return self._resized(self.address_of(operand.base.name, displacement(self, operand)), type)
        if not isinstance(operand, Name):
            self.fail("D010", "an operand that cannot be read")
        symbol = self.names.find(operand.name)
        if isinstance(symbol, Register):
            return plain(type, self._file(operand, symbol))
        if symbol is not None:
            return self._resized(self.address_of(operand.name), type)
        special = special_name(operand)
        if special is None:
            self.fail("D010", f"{operand.name} is not declared")
        return self._resized(self.special(special), type)

    @staticmethod
    def _resized(value: Plain, type: Type) -> Plain:
        return plain(type, value.lanes)

    def _file(self, operand: Name, register: Register) -> list[int]:
        key = register.key if operand.member is None else f"{register.key}.{operand.member}"
        return self.warp.register(self.depth, key)

    def write(self, operand: Operand, value: Plain) -> None:
        self._write(operand, value.lanes)

    def write_signed(self, operand: Operand, value: Plain) -> None:
        self._write(operand, value.signed())

    def _write(self, operand: Operand, values: Sequence[int]) -> None:
        if isinstance(operand, Sink):
            return
        symbol = self.names.find(operand.name) if isinstance(operand, Name) else None
        if not isinstance(symbol, Register) or not isinstance(operand, Name):
            self.fail("D010", "a destination that is no register")
        file = self._file(operand, symbol)
        mask = (1 << symbol.width) - 1
        for n in self.running():
            file[n] = values[n] & mask

    # --- memory ----------------------------------------------------------------------------------------------------------
    def _bytes_at(self, lane: int, space: AddressSpace, address: int, size: int, *, write: bool) -> memoryview:
        thread = self.lane(lane)
        self.memory.set_window(windows.LOCAL, thread.local)
        own = space == "param" and address >= windows.FRAME_PARAMS
        if own:
            address -= windows.FRAME_PARAMS
        generic = WINDOWS["local" if own else space] + address
        try:
            return self.memory.find(generic, size, write=write)
        except Stray as stray:
            verb = "writing to" if write else "reading from"
            self.fail("D011", f"{stray}, {verb} {space} memory", lane)

    def load(
        self, space: AddressSpace, type: Type, address: Plain, count: int = 1, *, volatile: bool = False,
        order: Order = "weak", scope: Scope = "sys",
    ) -> Sequence[Plain]:  # fmt: skip
        size = BITS[type] // 8
        columns = [[undefined(type)] * LANES for _ in range(count)]
        for n in self.running():
            self._bytes_at(n, space, address.lanes[n], size * count, write=False)  # vectors are aligned as a whole
            for k in range(count):
                data = self._bytes_at(n, space, address.lanes[n] + k * size, size, write=False)
                columns[k][n] = int.from_bytes(data, "little")
        return [plain(type, column) for column in columns]

    def store(
        self, space: AddressSpace, address: Plain, values: Sequence[Plain], *, volatile: bool = False,
        order: Order = "weak", scope: Scope = "sys",
    ) -> None:  # fmt: skip
        size = BITS[values[0].type] // 8
        for n in self.running():
            data = self._bytes_at(n, space, address.lanes[n], size * len(values), write=True)
            data[:] = b"".join(v.lanes[n].to_bytes(size, "little") for v in values)

    def atomic(
        self, op: AtomicOp, space: AddressSpace, address: Plain, values: Sequence[Plain], *,
        order: Order = "relaxed", scope: Scope = "gpu", returns: bool = True,
    ) -> Plain | None:  # fmt: skip
        type = values[0].type
        size = BITS[type] // 8
        old = [undefined(type)] * LANES
        for n in self.running():
            data = self._bytes_at(n, space, address.lanes[n], size, write=True)
            old[n] = int.from_bytes(data, "little")
            data[:] = _updated(op, type, old[n], [v.lanes[n] for v in values]).to_bytes(size, "little")
        return plain(type, old) if returns else None

    def fence(self, order: Order, scope: Scope) -> None:
        """Nothing to do: lanes take turns, and every access is complete before the next."""

    def element_size(self, name: str) -> int:
        symbol = self.names.find(name)
        if not isinstance(symbol, Place):
            self.fail("D010", f"{name} is no variable that can be indexed")
        return element_size(symbol.variable)

    def address_of(self, name: str, offset: int = 0) -> Plain:
        symbol = self.names.find(name)
        if isinstance(symbol, Function):
            return self.const("i64", self.program.function_address(name) + offset)
        if isinstance(symbol, Register):
            return plain("i64", [value + offset for value in self._file(Name(name), symbol)])
        if not isinstance(symbol, Place):
            self.fail("D010", f"{name} is not a declared variable")
        if symbol.address < 0:
            return self.const("i64", self.launch.static_shared + offset)
        bases = [self._frame_base(n) if symbol.frame else 0 for n in range(LANES)]
        return plain("i64", [base + symbol.address + offset for base in bases])

    def _frame_base(self, n: int) -> int:
        lane = self.warp.lanes[n]
        return lane.frames[-1].base if lane and lane.frames else 0

    def space_of(self, name: str) -> AddressSpace:
        symbol = self.names.find(name)
        if isinstance(symbol, Function):
            return "generic"
        if isinstance(symbol, Register):
            return "param"
        if not isinstance(symbol, Place):
            self.fail("D010", f"{name} is not a declared variable")
        return symbol.space

    def to_generic(self, space: AddressSpace, address: Plain) -> Plain:
        def generic(a: int) -> int:
            own = space == "param" and a >= windows.FRAME_PARAMS
            return a - windows.FRAME_PARAMS + windows.LOCAL if own else a + WINDOWS[space]

        return plain("i64", [generic(a) for a in address.lanes])

    def from_generic(self, space: AddressSpace, address: Plain) -> Plain:
        return plain("i64", [a - WINDOWS[space] for a in address.lanes])

    def is_space(self, space: AddressSpace, address: Plain) -> Plain:
        return plain("i1", [int(in_space(space, a)) for a in address.lanes])

    # --- special registers (section 10) ----------------------------------------------------------------------------------
    def special(self, name: str) -> Plain:
        stem, _, axis = name.partition(".")
        type = SPECIAL[name]
        if stem == "tid":
            threads = [lane.thread if lane else (0, 0, 0) for lane in self.warp.lanes]
            return plain(type, [t["xyz".index(axis)] for t in threads])
        if axis:
            return self.const(type, self._triple(stem)["xyz".index(axis)])
        if stem.startswith("lanemask_"):
            return plain(type, [_lane_mask(stem[-2:], n) for n in range(LANES)])
        if stem == "laneid":
            return plain(type, range(LANES))
        return self.const(type, self._scalar(stem))

    def _triple(self, stem: str) -> Triple:
        one, zero = (1, 1, 1), (0, 0, 0)
        launch = self.launch
        return {
            "ntid": launch.block,
            "nctaid": launch.grid,
            "ctaid": self.ctaid,
            "clusterid": self.ctaid,
            "nclusterid": launch.grid,
            "cluster_ctaid": zero,
            "cluster_nctaid": one,
        }[stem]

    def _scalar(self, name: str) -> int:
        launch = self.launch
        threads = launch.block[0] * launch.block[1] * launch.block[2]
        launch.clock += name.startswith(("clock", "globaltimer"))
        shared = launch.static_shared + launch.dynamic_shared
        known = {
            "warpid": self.warp.index,
            "nwarpid": -(-threads // LANES),
            "nsmid": 1,
            "gridid": 1,
            "clock": launch.clock,
            "clock64": launch.clock,
            "globaltimer": launch.clock,
            "globaltimer_lo": launch.clock,
            "cluster_nctarank": 1,
            "total_smem_size": shared,
            "aggr_smem_size": shared,
            "dynamic_smem_size": launch.dynamic_shared,
        }
        return known.get(name, 0)

    # --- textures and surfaces -----------------------------------------------------------------------------------------
    def texture(self, form: int, objects: Sequence[Operand], words: Sequence[Plain], results: int) -> Sequence[Plain]:
        what = form_of(form)
        named = [self._opaque(o) for o in objects]
        columns = [[undefined("i32")] * LANES for _ in range(results)]
        for n in self.running():
            try:
                found = run(
                    self.program, self.launch.objects, what, [o.lanes[n] for o in named], [w.lanes[n] for w in words]
                )
            except Trap as trap:
                self.fail("D012", str(trap), n)
            for column, word in zip(columns, found, strict=True):
                column[n] = word
        return [plain("i32", column) for column in columns]

    def _opaque(self, operand: Operand) -> Plain:
        """A handle in a register or parameter, or an opaque variable's address."""
        symbol = self.names.find(operand.name) if isinstance(operand, Name) else None
        if isinstance(symbol, Place) and symbol.space == "param":
            return self.load("param", "i64", self.address_of(symbol.variable.name))[0]
        return self.read(operand, "i64")

    # --- effects -----------------------------------------------------------------------------------------------------------
    def trap(self) -> None:
        if self.running():
            self.fail("D012", "the kernel trapped")

    def host_call(self, name: str, arguments: Sequence[Plain], returns: Type | None) -> Plain | None:
        if name not in SERVICES and not name.startswith("bulk_"):
            self.fail("D010", f"the service {name} is not interpreted")
        values = [0] * LANES
        for n in self.running():
            self.memory.set_window(windows.LOCAL, self.lane(n).local)
            numbers = [a.lanes[n] for a in arguments]
            if name in SERVICES:
                values[n] = SERVICES[name](self, n, numbers)
            else:
                run_bulk(self, n, name, numbers, _updated)
        return plain(returns, values) if returns else None

    def allocate(self, size: int) -> int:
        """Allocate `size` bytes of the device heap; returns the generic address."""
        start = -(-self.launch.heap_end // 16) * 16
        self.memory.add(Region(start, memoryview(bytearray(max(1, size)))))
        self.launch.heap_end = start + size + 16
        return start


def _lane_mask(which: str, lane: int) -> int:
    below = (1 << lane) - 1
    return {
        "eq": 1 << lane,
        "lt": below,
        "le": below | 1 << lane,
        "gt": ~(below | 1 << lane),
        "ge": ~below,
    }[which]


def _bf16(operand: Float) -> int:
    source = softfloat.FORMATS["f32" if operand.width == 32 else "f64"]
    return softfloat.convert(source, softfloat.FORMATS["bf16"], operand.bits, "rn")


def _arrived(word: int) -> int:
    """Return the word of an mbarrier after a change: in its next phase where nothing is pending."""
    if word & COUNTED:
        return word
    return (word ^ 1 << PARITY) | word >> EXPECTED & (1 << EXPECTED) - 1


def _updated(op: AtomicOp, type: Type, old: int, values: list[int]) -> int:
    """Return what an atomic operation leaves in memory."""
    b = values[0]
    if op == "cas":
        return values[1] if old == b else old
    if op == "arrive":
        return _arrived((old + b) & (1 << 64) - 1)
    if op in ("fadd", "fmin", "fmax"):
        f = softfloat.FORMATS[type]
        return {"fadd": softfloat.add, "fmin": softfloat.minimum, "fmax": softfloat.maximum}[op](f, old, b)
    top = 1 << (BITS[type] - 1)
    mask = 2 * top - 1
    signed_old, signed_b = (old ^ top) - top, (b ^ top) - top
    found = {
        "add": old + b,
        "and": old & b,
        "or": old | b,
        "xor": old ^ b,
        "exch": b,
        "min": min(signed_old, signed_b),
        "max": max(signed_old, signed_b),
        "umin": min(old, b),
        "umax": max(old, b),
        "inc": 0 if old >= b else old + 1,
        "dec": b if old == 0 or old > b else old - 1,
    }[op]
    return found & mask
