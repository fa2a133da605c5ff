"""A warp with registers and a little memory on which single instructions run, for tests of their meanings."""

from __future__ import annotations

from anywarp.devices.reference.values import LANES, Plain, PlainOps, plain
from anywarp.ptx.isa.operands import value_type
from anywarp.ptx.isa.ops import BITS
from anywarp.ptx.tree import WIDTHS, Float, Integer, Name

ONES = (1 << LANES) - 1


class Warp(PlainOps):
    """Registers by name as (PTX type, 32 bit patterns); memory as one bytearray that every space shares."""

    def __init__(self, memory: int = 4096):
        super().__init__()
        self.registers: dict[str, tuple[str, list[int]]] = {"%cc": ("pred", [0] * LANES)}
        self.memory = bytearray(memory)
        self.log: list[tuple] = []
        self.spaces: dict[str, str] = {}

    def declare(self, name, ptx, lanes=None):
        self.registers[name] = (ptx, list(lanes) if lanes is not None else [0] * LANES)
        return Name(name)

    def value(self, name):
        return self.registers[name][1]

    def read(self, operand, type):
        mask = (1 << BITS[type]) - 1
        if isinstance(operand, Integer):
            return plain(type, [operand.value] * LANES)
        if isinstance(operand, Float):
            if type[0] == "i" or BITS[type] == operand.width:
                return plain(type, [operand.bits] * LANES)
            return self.fconvert(plain(f"f{operand.width}", [operand.bits] * LANES), type)
        return Plain(type, tuple(x & mask for x in self.registers[operand.name][1]))

    def write(self, operand, value):
        self._store(operand, value.lanes)

    def write_signed(self, operand, value):
        self._store(operand, value.signed())

    def _store(self, operand, lanes):
        ptx, old = self.registers[operand.name]
        mask = (1 << WIDTHS[ptx]) - 1
        for lane in range(LANES):
            if self.executing >> lane & 1:
                old[lane] = lanes[lane] & mask

    def load(self, space, type, address, count=1, **how):
        self.log.append(("load", space, type, count, how))
        size = BITS[type] // 8
        out = []
        for n in range(count):
            out.append(plain(type, [self._fetch(a + n * size, size, lane) for lane, a in enumerate(address.lanes)]))
        return out

    def _fetch(self, at, size, lane):
        return (
            int.from_bytes(self.memory[at : at + size], "little") if self.executing >> lane & 1 else 0xABABABABABABABAB
        )

    def store(self, space, address, values, **how):
        self.log.append(("store", space, values[0].type, len(values), how))
        for lane in range(LANES):
            if self.executing >> lane & 1:
                at = address.lanes[lane]
                for v in values:
                    size = BITS[v.type] // 8
                    self.memory[at : at + size] = v.lanes[lane].to_bytes(size, "little")
                    at += size

    def atomic(self, op, space, address, values, **how):
        self.log.append(("atomic", op, space, values[0].type, how))
        return values[0]

    def fence(self, order, scope):
        self.log.append(("fence", order, scope))

    def element_size(self, name):
        return 4

    def address_of(self, name, offset=0):
        return plain("i64", [0x100 + offset] * LANES)

    def space_of(self, name):
        return self.spaces.get(name, "param")

    def to_generic(self, space, address):
        return self.add(address, self.const("i64", 0x1000))

    def from_generic(self, space, address):
        return self.sub(address, self.const("i64", 0x1000))

    def is_space(self, space, address):
        return self.icmp("uge", address, self.const("i64", 0x1000))

    def special(self, name):
        if name == "laneid":
            return plain("i32", range(LANES))
        return plain("i32", [7 * n for n in range(LANES)])

    def trap(self):
        self.log.append(("trap",))

    def host_call(self, name, arguments, returns):
        self.log.append(("host_call", name, [a.lanes for a in arguments], returns))


__all__ = ["LANES", "ONES", "Warp", "value_type"]
