"""What lanes do one after the other as LLVM IR: the loop over them, and one lane's read-modify-write.

One thread of the machine runs a block, so atomics on shared memory need no locked instructions; those on global memory do.
"""

from __future__ import annotations

from anywarp.compiler.attributes import Access, AtomicAccess, InSpace
from anywarp.compiler.ir import Op
from anywarp.compiler.operation_table import OPERATIONS
from anywarp.compiler.simd.addresses import SIZE, Address
from anywarp.compiler.simd.memory import ATOMIC_ORDER, Memory
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.mbarriers import COUNTED, EXPECTED, PARITY

RMW = {
    "add": "add", "and": "and", "or": "or", "xor": "xor", "exch": "xchg", "min": "min", "max": "max", "umin": "umin",
    "umax": "umax", "inc": "uinc_wrap", "dec": "udec_wrap",
}  # fmt: skip
"""LLVM's names of the updates that `atomicrmw` has for integers."""


class LaneByLane:
    """Loops over lanes, and updates of memory by one lane; one loop at a time."""

    def __init__(self, values: Values, memory: Memory) -> None:
        self.v = values
        self.t = values.t
        self.memory = memory

    def operand_of(self, element: str, operand: tuple[str, bool], index: str) -> str:
        """Return a lane's operand."""
        room, apart = operand
        if not apart:
            return room
        return self.t.let(f"load {element}, ptr {self.t.let(f'getelementptr {element}, ptr {room}, i32 {index}')}")

    def place(self, address: Address, places: str, index: str) -> str:
        """Return the pointer of lane `index`."""
        t = self.t
        if not places:
            return t.cast("inttoptr", "i64", address.base, "ptr")
        slot = t.let(f"getelementptr i64, ptr {places}, i32 {index}")
        return t.cast("inttoptr", "i64", t.let(f"load i64, ptr {slot}"), "ptr")

    def begin_lanes(self, bits: str | None) -> str:
        """Begin a loop over the lanes in `bits` (None: all), lowest first; returns the lane's number."""
        t, v = self.t, self.v
        rest, number = self.begin_warps(bits)
        head, body, done = t.fresh("lanes"), t.fresh("lane"), t.fresh("done")
        t.do(f"br label %{head}")
        t.start(head)
        left = t.let(f"load i32, ptr {rest}")
        t.do(f"br i1 {t.two('icmp ne', 'i32', left, '0')}, label %{body}, label %{done}")
        t.start(body)
        self._loop = (head, done, rest, left, v.snapshot())
        return self.lowest(left, number)

    def lowest(self, left: str, number: str) -> str:
        """Return the number in its gang of the lowest lane in a word of the warp with this number ("": the only one)."""
        lane = self.t.call("i32", "llvm.cttz.i32", ("i32", left), ("i1", "true"))
        return self.t.two("add", "i32", self.t.two("shl", "i32", number, "5"), lane) if number else lane

    def begin_warps(self, bits: str | None) -> tuple[str, str]:
        """Begin a loop over the warps of the gang, if it has several; returns where the warp's word of the lanes in `bits` (None: all)
        lies, which may be used up, and the warp's number.
        """
        t, v = self.t, self.v
        self._outer = ("", "", "", v.snapshot())
        words = t.alloca(f"[{v.warps} x i32]", 64)
        if v.single:
            t.do(f"store i32 {v.warp_words(bits or '-1')[0]}, ptr {words}")
        else:
            t.do(f"store {v.word} {bits or '-1'}, ptr {words}")
        if v.warps == 1:
            return words, ""
        place, head, done = t.alloca("i32"), t.fresh("warps"), t.fresh("done")
        t.do(f"store i32 0, ptr {place}")
        t.do(f"br label %{head}")
        t.start(head)
        self._outer = (place, head, done, v.snapshot())
        number = t.let(f"load i32, ptr {place}")
        return t.let(f"getelementptr i32, ptr {words}, i32 {number}"), number

    def end_lanes(self) -> None:
        """End the loop that `begin_lanes` began."""
        t = self.t
        head, done, rest, left, state = self._loop
        t.do(f"store i32 {t.two('and', 'i32', left, t.two('sub', 'i32', left, '1'))}, ptr {rest}")
        self.v.restore(state)
        t.do(f"br label %{head}")
        t.start(done)
        self.end_warps()

    def end_warps(self) -> None:
        """End the loop that `begin_warps` began."""
        t = self.t
        place, head, done, state = self._outer
        if not place:
            return
        following = t.two("add", "i32", t.let(f"load i32, ptr {place}"), "1")
        t.do(f"store i32 {following}, ptr {place}")
        self.v.restore(state)
        t.do(f"br i1 {t.two('icmp ult', 'i32', following, str(self.v.warps))}, label %{head}, label %{done}")
        t.start(done)

    def order_of(self, op: Op) -> str:
        """Return LLVM's name for the order of an operation on memory that others see."""
        order = Access.of(op).order
        return ATOMIC_ORDER[order] if order != "weak" else "monotonic"

    def exchange(self, op: Op, pointer: str, seen: str, new: str) -> str:
        """Store `new` if memory holds `seen`, in an atomic's order; returns LLVM's pair of what it held and whether it did."""
        size, order = SIZE[op.args[1].type], self.order_of(op)
        word, weaker = f"i{8 * size}", {"release": "monotonic", "acq_rel": "acquire"}.get(order, order)
        return self.t.let(f"cmpxchg ptr {pointer}, {word} {seen}, {word} {new} {order} {weaker}, align {size}")

    def one(self, op: Op, element: str, pointer: str, values: list[str]) -> str:
        """One lane's read-modify-write; returns the old value."""
        if InSpace.of(op).space == "shared":
            return self._plain(op, element, pointer, values)
        t, name, type = self.t, AtomicAccess.of(op).op, op.args[1].type
        order, size = self.order_of(op), SIZE[type]
        if name == "cas":
            word = f"i{8 * size}"
            old, new = (v if element.startswith("i") else t.cast("bitcast", element, v, word) for v in values)
            found = t.let(f"extractvalue {{ {word}, i1 }} {self.exchange(op, pointer, old, new)}, 0")
            return found if element.startswith("i") else t.cast("bitcast", word, found, element)
        if name in RMW and (element.startswith("i") or name == "exch"):
            return t.let(f"atomicrmw {RMW[name]} ptr {pointer}, {element} {values[0]} {order}, align {size}")
        if name == "fadd" and element in ("float", "double"):
            return t.let(f"atomicrmw fadd ptr {pointer}, {element} {values[0]} {order}, align {size}")
        return self._by_exchange(op, element, pointer, values, order, size)

    def _by_exchange(self, op: Op, element: str, pointer: str, values: list[str], order: str, size: int) -> str:
        """Compute the new value and try to exchange until nobody interfered."""
        t, word = self.t, f"i{8 * size}"
        slot = t.alloca(word)
        t.do(f"store {word} {t.let(f'load atomic {word}, ptr {pointer} monotonic, align {size}')}, ptr {slot}")
        again, done = t.fresh("exchange"), t.fresh("exchanged")
        t.do(f"br label %{again}")
        t.start(again)
        seen = t.let(f"load {word}, ptr {slot}")
        old = seen if element.startswith("i") else t.cast("bitcast", word, seen, element)
        new = self.new_value(op, element, old, values)
        bits = new if element.startswith("i") else t.cast("bitcast", element, new, word)
        pair = self.exchange(op, pointer, seen, bits)
        found = t.let(f"extractvalue {{ {word}, i1 }} {pair}, 0")
        t.do(f"store {word} {found}, ptr {slot}")
        t.do(f"br i1 {t.let(f'extractvalue {{ {word}, i1 }} {pair}, 1')}, label %{done}, label %{again}")
        t.start(done)
        return old

    def _plain(self, op: Op, element: str, pointer: str, values: list[str]) -> str:
        t, size = self.t, SIZE[op.args[1].type]
        old = t.let(f"load {element}, ptr {pointer}, align {size}")
        t.do(f"store {element} {self.new_value(op, element, old, values)}, ptr {pointer}, align {size}")
        return old

    def new_value(self, op: Op, element: str, old: str, values: list[str]) -> str:
        """The value that an atomic leaves, as the manual's table of operations has it."""
        t, name, type = self.t, AtomicAccess.of(op).op, op.args[1].type
        b = values[0]
        if name == "exch":
            return b
        if name in ("add", "and", "or", "xor"):
            return t.two(name, element, old, b)
        if name in ("min", "max", "umin", "umax"):
            name = name if name.startswith("u") else "s" + name
            return t.call(element, f"llvm.{name}.{element}", (element, old), (element, b))
        if name == "inc":
            wrap = t.two("icmp uge", element, old, b)
            return t.pick(0, wrap, element, "0", t.two("add", element, old, "1"))
        if name == "dec":
            over = t.two("icmp ugt", element, old, b)
            wrap = t.two("or", "i1", over, t.two("icmp eq", element, old, "0"))
            return t.pick(0, wrap, element, b, t.two("sub", element, old, "1"))
        if name == "arrive":
            return self._arrived(t.two("add", element, old, b))
        if name == "cas":
            if element.startswith("i"):
                return t.pick(0, t.two("icmp eq", element, old, b), element, values[1], old)
            word = f"i{8 * SIZE[type]}"
            x, y = t.cast("bitcast", element, old, word), t.cast("bitcast", element, b, word)
            return t.pick(0, t.two("icmp eq", word, x, y), element, values[1], old)
        floats, made = self.v.floats, Op(name, type, [], OPERATIONS[name].attributes())
        return floats.arithmetic(made, 0, old, b) if name == "fadd" else floats.extreme(made, 0, old, b)

    def _arrived(self, word: str) -> str:
        """An mbarrier's word after a change: in its next phase where nothing is pending (see `ptx.isa.mbarriers`)."""
        t = self.t
        expected = t.two("and", "i64", t.two("lshr", "i64", word, str(EXPECTED)), str((1 << EXPECTED) - 1))
        following = t.two("or", "i64", t.two("xor", "i64", word, str(1 << PARITY)), expected)
        counted = t.two("and", "i64", word, str(COUNTED - (1 << 64)))
        return t.pick(0, t.two("icmp eq", "i64", counted, "0"), "i64", following, word)
