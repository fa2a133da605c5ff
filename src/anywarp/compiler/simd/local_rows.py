"""Accesses of local memory whose lanes name rows of their own: row by row, where lanes name few.

Lanes that have left an unrolled loop at different trips go on at as many rows as there were trips, a handful. A row holds the lanes'
copies of an element, so that each is a vector; one by one, each lane takes two instructions and more. The rows that an access met last
are tried first, as comparing with them waits for nothing.

Legality: the whole row is this gang's, one thread of the machine runs it, and no address of local memory lies elsewhere
(`local_memory.element_side_by_side`), so that what other lanes have in a row may be read, and written again as it is.
"""

from __future__ import annotations

from anywarp.compiler.attributes import Access, MemoryAccess
from anywarp.compiler.ir import Op, Phi, Value
from anywarp.compiler.simd.addresses import SIZE, Address
from anywarp.compiler.simd.known import LAZY
from anywarp.compiler.simd.matrix_product import write_function
from anywarp.compiler.simd.text import LLVM_TYPE
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.ops import BITS

_MOST = 8
"""Rows that are accessed one after the other, at most."""
_WAIT = 100
"""Accesses that are made lane by lane, without looking, after one of more rows."""
_WIDEST = 64
"""Lanes whose mask is a machine word."""


class LocalRows:
    """Emits such accesses through `values`."""

    def __init__(self, values: Values) -> None:
        self.v, self.t = values, values.t
        self._known: dict[Value, str] = {}

    def serve(self, op: Op, address: Address) -> bool:
        """Tell whether an access may go row by row."""
        return (
            address.spread > 1
            and address.offsets is None
            and op.guard is None
            and self.v.lanes <= _WIDEST
            and MemoryAccess.of(op).count == 1
            and not Access.of(op).strong
            and self._few(op.args[0], frozenset())
        )

    def _few(self, value: Value, around: frozenset[Phi]) -> bool:
        """Tell whether lanes name few rows, by all that is known: they differ only by the ways on which they came to be together again.

        A number that goes round a loop and differs there (the top of each lane's stack) may soon be another in every lane.
        """
        if not self.v.varies(value):
            return True
        if isinstance(value, Phi):
            new = around | {value}
            return value not in around and all(self._few(x, new) for x in value.incoming.values())
        return isinstance(value, Op) and value.name in LAZY and all(self._few(x, around) for x in value.args)

    def begin(self, op: Op) -> tuple[str, str, str]:
        """Return which row each lane names (a vector), the rows there are (a pointer), and their number (i32), 0 where these are too many."""
        v, t = self.v, self.t
        size = SIZE[op.type if op.name == "load" else op.args[1].type]
        element = self._element(size)
        name = f"aw.rows.{element}"
        if name not in t.declarations:
            t.declare(v.word, f"llvm.cttz.{v.word}", [v.word, "i1"])
            t.declarations[name] = _write_find(name, element, self._count(size), v)
        rows = self._named(op.args[0], size, element)
        known = self._known_rows(op.args[0], element)
        found = t.let(f"call fastcc i32 @{name}(<{v.lanes} x {element}> {rows}, ptr {known})")
        return rows, known, found

    def load(self, op: Op, found: tuple[str, str, str], base: str) -> list[str]:
        """Return the chunks of a load whose rows have been found, behind the address of the first (i64)."""
        v, t, size, element = self.v, self.t, SIZE[op.type], LLVM_TYPE[op.type]
        rows = self._element(size)
        name, type = f"aw.rows.load.{element}", f"<{v.lanes} x {element}>"
        if name not in t.declarations:
            t.declarations[name] = _write_load(name, rows, element, size, v)
        place = t.cast("inttoptr", "i64", base, "ptr")
        arguments = f"<{v.lanes} x {rows}> {found[0]}, ptr {found[1]}, i32 {found[2]}, ptr {place}"
        whole = t.let(f"call fastcc {type} @{name}({arguments})")
        return [v.part(element, v.lanes, whole, i * v.chunk) for i in range(v.chunks)]

    def store(self, op: Op, found: tuple[str, str, str], base: str) -> None:
        """Store the lanes' elements in rows that have been found, behind the address of the first (i64)."""
        v, t, type = self.v, self.t, op.args[1].type
        size, element = SIZE[type], LLVM_TYPE[type]
        rows = self._element(size)
        name = f"aw.rows.store.{element}"
        if name not in t.declarations:
            t.declarations[name] = _write_store(name, rows, element, size, v)
        place = t.cast("inttoptr", "i64", base, "ptr")
        value = v.join(element, v.chunk, v.vector(op.args[1]))
        arguments = f"<{v.lanes} x {rows}> {found[0]}, ptr {found[1]}, i32 {found[2]}, ptr {place}"
        t.do(f"call fastcc void @{name}({arguments}, <{v.lanes} x {element}> {value})")

    def _count(self, size: int) -> int:
        return self.v.kernel.local_bytes // size

    def _element(self, size: int) -> str:
        """Return the type of a row's number: as wide as the elements, where that holds all rows and two numbers more."""
        bits = 8 * min(size, 4)
        return f"i{bits}" if self._count(size) <= (1 << bits) - 2 else "i32"

    def _known_rows(self, address: Value, element: str) -> str:
        """Return where the rows stand that accesses by this address met last: their number, how long none is looked for, then they."""
        if address not in self._known:
            self._known[address] = self.t.alloca(f"{{ i32, i32, [{_MOST} x {element}] }}", 8)
            self.t.allocas.append(f"  store i64 0, ptr {self._known[address]}")
        return self._known[address]

    def _named(self, address: Value, size: int, element: str) -> str:
        """Return the row of each lane; of one that names none there is the number of rows, and -1 for lanes that are off."""
        v, t, n = self.v, self.t, self.v.chunk
        masks, out, wide = v.active_chunks(None), list[str](), f"<{n} x i32>"
        for i, chunk in enumerate(v.vector(address)):
            if BITS[address.type] == 64:
                chunk = t.cast("trunc", f"<{n} x i64>", chunk, wide)
            if size > 1:
                chunk = t.two("lshr", wide, chunk, f"splat (i32 {size.bit_length() - 1})")
            most = f"splat (i32 {self._count(size)})"
            chunk = t.call(wide, f"llvm.umin.v{n}i32", (wide, chunk), (wide, most))
            if element != "i32":
                chunk = t.cast("trunc", wide, chunk, f"<{n} x {element}>")
            if masks:
                chunk = t.pick(n, masks[i], f"<{n} x {element}>", chunk, f"splat ({element} -1)")
            out.append(chunk)
        return v.join(element, n, out)


def _same(rows: str, element: str, n: int) -> list[str]:
    """Compare the lanes' rows with the one that stands at number %k."""
    return [
        f"  %at = getelementptr {element}, ptr %list, i32 %k",
        f"  %row = load {element}, ptr %at",
        *_compare("%row", rows, element, n),
    ]


def _compare(row: str, rows: str, element: str, n: int, same: str = "%same") -> list[str]:
    """Write into `same` which lanes name a row."""
    type = f"<{n} x {element}>"
    return [
        f"  {same}.seed = insertelement {type} poison, {element} {row}, i32 0",
        f"  {same}.every = shufflevector {type} {same}.seed, {type} poison, <{n} x i32> zeroinitializer",
        f"  {same} = icmp eq {type} {rows}, {same}.every",
    ]


def _write_find(name: str, element: str, count: int, v: Values) -> str:
    """Write the function that finds the rows which lanes name, and returns their number."""
    n, word, type = v.lanes, v.word, f"<{v.lanes} x {element}>"
    lines = [
        f"  %room = alloca {type}, align 64",
        "  %list = getelementptr i8, ptr %known, i64 8",
        "  %pause = getelementptr i8, ptr %known, i64 4",
        "  %before = load i32, ptr %known",
        "  %wait = load i32, ptr %pause",
        f"  %on = icmp ne {type} %rows, splat ({element} -1)",
        f"  %all = bitcast <{n} x i1> %on to {word}",
        "  %some = icmp ne i32 %before, 0",
        "  br i1 %some, label %try, label %none",
        "try:",
        "  %k = phi i32 [ 0, %0 ], [ %k.next, %try ]",
        f"  %left = phi {word} [ %all, %0 ], [ %rest, %try ]",
        *_same("%rows", element, n),
        f"  %bits = bitcast <{n} x i1> %same to {word}",
        f"  %others = xor {word} %bits, -1",
        f"  %rest = and {word} %left, %others",
        "  %k.next = add i32 %k, 1",
        "  %more = icmp ult i32 %k.next, %before",
        "  br i1 %more, label %try, label %tried",
        "tried:",
        f"  %found = icmp eq {word} %rest, 0",
        "  br i1 %found, label %held, label %anew",
        "held:",
        "  ret i32 %before",
        "none:",
        f"  %off = icmp eq {word} %all, 0",
        "  %waits = icmp ne i32 %wait, 0",
        "  %skip = or i1 %off, %waits",
        "  br i1 %skip, label %pass, label %anew",
        "pass:",
        "  %shorter = call i32 @llvm.usub.sat.i32(i32 %wait, i32 1)",
        "  store i32 %shorter, ptr %pause",
        "  ret i32 0",
        "anew:",
        f"  store {type} %rows, ptr %room, align 64",
        "  br label %find",
        "find:",
        "  %n = phi i32 [ 0, %anew ], [ %n.next, %take ]",
        f"  %open = phi {word} [ %all, %anew ], [ %still, %take ]",
        f"  %lane = call {word} @llvm.cttz.{word}({word} %open, i1 true)",
        f"  %from = getelementptr {element}, ptr %room, {word} %lane",
        f"  %first = load {element}, ptr %from",
        f"  %inside = icmp ne {element} %first, {_signed(count, element)}",
        f"  %fits = icmp ult i32 %n, {_MOST}",
        "  %good = and i1 %inside, %fits",
        "  br i1 %good, label %take, label %many",
        "take:",
        f"  %to = getelementptr {element}, ptr %list, i32 %n",
        f"  store {element} %first, ptr %to",
        *_compare("%first", "%rows", element, n, "%equal"),
        f"  %these = bitcast <{n} x i1> %equal to {word}",
        f"  %unlike = xor {word} %these, -1",
        f"  %still = and {word} %open, %unlike",
        "  %n.next = add i32 %n, 1",
        f"  %done = icmp eq {word} %still, 0",
        "  br i1 %done, label %end, label %find",
        "end:",
        "  store i32 %n.next, ptr %known",
        "  ret i32 %n.next",
        "many:",
        "  store i32 0, ptr %known",
        f"  store i32 {_WAIT}, ptr %pause",
        "  ret i32 0",
    ]  # fmt: skip
    v.t.declare("i32", "llvm.usub.sat.i32", ["i32", "i32"])
    return write_function(name, [f"{type} %rows", "ptr %known"], lines, v.machine, "i32")


def _signed(number: int, element: str) -> str:
    bits = int(element[1:])
    return str(number - (1 << bits) if number >> (bits - 1) else number)


def _loop(rows: str, element: str, size: int, v: Values, *phis: str) -> list[str]:
    """Begin a loop over the rows: %whole is what stands in one, %same which lanes name it. `phis` are what else goes round."""
    n = v.lanes
    return [
        "  %list = getelementptr i8, ptr %known, i64 8",
        "  br label %next",
        "next:",
        "  %k = phi i32 [ 0, %0 ], [ %k.next, %next ]",
        *phis,
        *_same("%rows", rows, n),
        f"  %number = zext {rows} %row to i64",
        f"  %far = mul i64 %number, {n * size}",
        "  %place = getelementptr i8, ptr %base, i64 %far",
        f"  %whole = load <{n} x {element}>, ptr %place, align {size}",
        "  %k.next = add i32 %k, 1",
        "  %more = icmp ult i32 %k.next, %count",
    ]


def _arguments(rows: str, v: Values) -> list[str]:
    return [f"<{v.lanes} x {rows}> %rows", "ptr %known", "i32 %count", "ptr %base"]


def _write_load(name: str, rows: str, element: str, size: int, v: Values) -> str:
    n, type = v.lanes, f"<{v.lanes} x {element}>"
    lines = [
        *_loop(rows, element, size, v, f"  %before = phi {type} [ zeroinitializer, %0 ], [ %out, %next ]"),
        f"  %out = select <{n} x i1> %same, {type} %whole, {type} %before",
        "  br i1 %more, label %next, label %done",
        "done:",
        f"  ret {type} %out",
    ]
    return write_function(name, _arguments(rows, v), lines, v.machine, type)


def _write_store(name: str, rows: str, element: str, size: int, v: Values) -> str:
    n, type = v.lanes, f"<{v.lanes} x {element}>"
    lines = [
        *_loop(rows, element, size, v),
        f"  %out = select <{n} x i1> %same, {type} %value, {type} %whole",
        f"  store {type} %out, ptr %place, align {size}",
        "  br i1 %more, label %next, label %done",
        "done:",
    ]
    return write_function(name, [*_arguments(rows, v), f"{type} %value"], lines, v.machine)
