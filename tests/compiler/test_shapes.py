"""Shapes against brute force: random programs of integer operations run lane by lane with whole numbers."""

from collections.abc import Callable

import pytest
from hypothesis import strategies as st

from anywarp.compiler.analysis import analyse
from anywarp.compiler.attributes import NONE, Compare, MemoryAccess, Parameter, Signed, Special
from anywarp.compiler.ir import Block, Const, Kernel, Op, Specialisation, Terminator, Value
from anywarp.compiler.operation_table import OPERATIONS
from anywarp.compiler.passes.fold_constants import fold_constants
from anywarp.compiler.ranges import Ranges
from anywarp.compiler.shapes import Shape, corners
from anywarp.compiler.transfer import special_shape
from spread import properties

GANGS = [32, 64, 128, 256]
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}

BLOCKS = [
    (1, 1, 1), (20, 1, 1), (32, 1, 1), (33, 1, 1), (96, 1, 1), (256, 1, 1), (1024, 1, 1),
    (16, 16, 1), (8, 8, 1), (8, 8, 4), (4, 4, 4), (2, 2, 64), (1, 64, 1), (1, 1, 64), (32, 8, 1), (64, 4, 2), (48, 2, 1),
    (5, 3, 1), (16, 3, 1), (16, 3, 2), (8, 2, 4), (8, 3, 4), (4, 2, 3),
]  # fmt: skip


def signed(value: int, width: int) -> int:
    value %= 1 << width
    return value - (1 << width) if value >> (width - 1) else value


def divide(a: int, b: int, w: int, s: bool) -> int:
    if b == 0:
        return -1
    x, y = (signed(a, w), signed(b, w)) if s else (a, b)
    q = abs(x) // abs(y)
    return q if (x < 0) == (y < 0) else -q


def remainder(a: int, b: int, w: int, s: bool) -> int:
    if b == 0:
        return a
    x, y = (signed(a, w), signed(b, w)) if s else (a, b)
    return x - y * divide(x, y, 70, True)


COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip


def compute(op: Op, a: list[int]) -> int:
    """One lane of one operation, from the words of the contract (`ptx/isa/ops.py`)."""
    w = BITS[op.args[0].type] if op.args else 64
    s = isinstance(op.attrs, Signed) and op.attrs.signed
    match op.name:
        case "add":
            r = a[0] + a[1]
        case "sub":
            r = a[0] - a[1]
        case "mul":
            r = a[0] * a[1]
        case "and":
            r = a[0] & a[1]
        case "or":
            r = a[0] | a[1]
        case "xor":
            r = a[0] ^ a[1]
        case "not":
            r = -1 - a[0]
        case "shl":
            r = a[0] * 2 ** a[1] if a[1] < w else 0
        case "lshr":
            r = a[0] // 2 ** a[1] if a[1] < w else 0
        case "ashr":
            r = signed(a[0], w) // 2 ** min(a[1], w)
        case "div":
            r = divide(a[0], a[1], w, s)
        case "rem":
            r = remainder(a[0], a[1], w, s)
        case "min":
            r = min(a, key=lambda x: signed(x, w) if s else x)
        case "max":
            r = max(a, key=lambda x: signed(x, w) if s else x)
        case "trunc" | "zext":
            r = a[0]
        case "sext":
            r = signed(a[0], w)
        case "select":
            r = a[1] if a[0] else a[2]
        case "icmp":
            p = Compare.of(op).predicate
            x, y = (signed(a[0], w), signed(a[1], w)) if p[0] == "s" else (a[0], a[1])
            r = int(COMPARE[p if p in COMPARE else p[1:]](x, y))
        case _:
            raise AssertionError(op.name)
    return r % (1 << BITS[op.type])  # fmt: skip


def thread(name: str, block: tuple[int, int, int], index: int) -> int | None:
    """A special register of one thread; None where there is none (threads count x fastest)."""
    if index >= block[0] * block[1] * block[2]:
        return None
    return {
        "laneid": index % 32,
        "warpid": index // 32,
        "tid.x": index % block[0],
        "tid.y": index // block[0] % block[1],
        "tid.z": index // (block[0] * block[1]),
    }[name]


def holds(shape: Shape, lanes: list[int | None], width: int, value_of: Callable[[Value], int]) -> None:
    """Check what a shape claims of the lanes that exist (lane 0 always does)."""
    base = lanes[0]
    assert base is not None
    assert base % shape.modulus == shape.residue % shape.modulus
    if shape.offsets is None:
        return
    for lane, value in enumerate(lanes):
        if value is not None:
            extra = sum(value_of(symbol) * factors[lane] for symbol, factors in shape.symbols)
            assert (base + shape.offsets[lane] + extra) % (1 << width) == value


@pytest.mark.parametrize("gang", GANGS)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", ["tid.x", "tid.y", "tid.z", "laneid", "warpid"])
def test_thread_indices(name: str, block: tuple[int, int, int], gang: int) -> None:
    shape = special_shape(name, Specialisation(block, gang))
    threads = block[0] * block[1] * block[2]
    for first in range(0, threads, gang):
        holds(shape, [thread(name, block, first + lane) for lane in range(gang)], 32, lambda v: 0)


def test_a_row_of_threads_is_affine_and_rows_of_sixteen_are_known() -> None:
    assert special_shape("tid.x", Specialisation((256, 1, 1))).stride == 1
    assert special_shape("tid.x", Specialisation((16, 16, 1))).offsets == tuple(lane % 16 for lane in range(32))
    assert special_shape("tid.y", Specialisation((16, 16, 1))).offsets == tuple(lane // 16 for lane in range(32))
    assert special_shape("tid.y", Specialisation((32, 8, 1))).uniform
    assert special_shape("tid.x", Specialisation(None)).varying


def test_what_a_warp_agrees_on_may_differ_in_a_gang() -> None:
    lane = Op("special", "i32", [], Special("laneid"))
    odd = Op("and", "i1", [Const("i1", 1), Op("icmp", "i1", [lane, Const("i32", 7)], Compare("ugt"))])
    for name, args in (("ballot", [odd]), ("match_any", [lane]), ("shuffle", [lane, Const("i32", 3)])):
        entry = Block("entry")
        entry.ops = [lane, odd.args[1], odd, Op(name, "i32", list(args))]  # type: ignore[list-item]
        kernel = Kernel("k", [entry], [])
        agreed = name != "match_any"
        assert analyse(kernel, Specialisation((256, 1, 1))).shapes[entry.ops[-1]].uniform == agreed
        assert analyse(kernel, Specialisation((256, 1, 1), 64)).shapes[entry.ops[-1]].varying


BINARY = ["add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "div", "rem", "min", "max"]
SMALL = [
    0,
    1,
    2,
    3,
    4,
    5,
    8,
    15,
    16,
    31,
    32,
    33,
    64,
    96,
    127,
    255,
    0x7FFFFFF0,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0xFFFFFFE0,
]


def divided(number: Value, power: int, short: bool) -> list[Op]:
    """A signed division by a power of two, and what it leaves, as compilers write them."""
    sign = Op("ashr", "i32", [number, Const("i32", 31)])
    bias = Op("lshr", "i32", [sign, Const("i32", 32 - power)])
    if power == 1 and short:
        bias = Op("lshr", "i32", [number, Const("i32", 31)])
    biased = Op("add", "i32", [number, bias])
    whole = Op("and", "i32", [biased, Const("i32", -(1 << power))])
    quotient, rest = Op("ashr", "i32", [biased, Const("i32", power)]), Op("sub", "i32", [number, whole])
    return [sign, bias, biased, whole, quotient, rest]


@st.composite
def programs(draw: st.DrawFn) -> tuple[Kernel, tuple[int, int, int], list[int]]:
    """A block of integer operations on thread indices, parameters, block indices and constants."""
    block = draw(st.sampled_from(BLOCKS))
    ops: list[Op] = []
    for name in ("tid.x", "tid.y", "laneid", "ctaid.x"):
        ops.append(Op("special", "i32", [], Special(name)))
    params = draw(st.lists(st.sampled_from(SMALL) | st.integers(0, (1 << 32) - 1), min_size=2, max_size=2))
    for i in range(2):
        ops.append(Op("param", "i32", [], Parameter(4 * i)))

    def value(type: str) -> Value:
        known = [op for op in ops if op.type == type]
        if not known or draw(st.integers(0, 3)) == 0:
            return Const(type, draw(st.sampled_from(SMALL)))  # type: ignore[arg-type]
        return draw(st.sampled_from(known[-6:] + known[:3]))

    for _ in range(draw(st.integers(1, 14))):
        type = draw(st.sampled_from(["i32", "i32", "i32", "i64", "i16"]))
        kind = draw(st.integers(0, 9))
        if kind == 0:
            ops.append(Op("not", type, [value(type)]))  # type: ignore[arg-type]
        elif kind == 9:
            ops += divided(value("i32"), draw(st.integers(1, 6)), draw(st.booleans()))
        elif kind < 6:
            name = draw(st.sampled_from([*BINARY, "add", "add", "mul", "and", "shl"]))
            right = value(type)
            if name in ("shl", "lshr", "ashr") and draw(st.integers(0, 4)):
                right = Const(type, draw(st.integers(0, BITS[type])))  # type: ignore[arg-type]
            signed, takes = draw(st.booleans()), OPERATIONS[name].attributes
            ops.append(Op(name, type, [value(type), right], Signed(signed) if takes is Signed else NONE))  # type: ignore[arg-type]
        elif kind == 6:
            predicate = draw(st.sampled_from(["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"]))
            ops.append(Op("icmp", "i1", [value(type), value(type)], Compare(predicate)))
        elif kind == 7 and any(op.type == "i1" for op in ops):
            condition = draw(st.sampled_from([op for op in ops if op.type == "i1"]))
            ops.append(Op("select", type, [condition, value(type), value(type)]))  # type: ignore[arg-type]
        else:
            name, source, target = draw(
                st.sampled_from(
                    [
                        ("sext", "i32", "i64"),
                        ("zext", "i32", "i64"),
                        ("trunc", "i64", "i32"),
                        ("sext", "i16", "i32"),
                        ("zext", "i16", "i32"),
                        ("trunc", "i32", "i16"),
                    ]
                )
            )
            ops.append(Op(name, target, [value(source)]))  # type: ignore[arg-type]
    entry = Block("entry")
    entry.ops = ops
    entry.terminator = Terminator("exit")
    return Kernel("k", [entry], []), block, params


def run(
    kernel: Kernel, block: tuple[int, int, int], params: list[int], ctaid: int, first: int, gang: int
) -> dict[Value, list[int | None]]:
    out: dict[Value, list[int | None]] = {}
    ctaid %= (1 << 30) // block[0]
    for op in kernel.blocks[0].ops:
        lanes: list[int | None] = []
        for lane in range(gang):
            if thread("laneid", block, first + lane) is None:
                lanes.append(None)
            elif op.name == "special":
                name = Special.of(op).name
                lanes.append(ctaid if name == "ctaid.x" else thread(name, block, first + lane))
            elif op.name == "param":
                lanes.append(params[Parameter.of(op).offset // 4])
            else:
                args = [a.bits if isinstance(a, Const) else out[a][lane] for a in op.args]
                lanes.append(compute(op, args))  # type: ignore[arg-type]
        out[op] = lanes
    return out


@properties(
    400, 3000,
    programs(), st.sampled_from([0, 1, 77, 65535, (1 << 31) - 2]), st.integers(0, 31), st.sampled_from([32, *GANGS]),
    st.sampled_from([1, 1, 8, 32, 96, 256]),
)  # fmt: skip
def test_random_programs_do_what_their_shapes_claim(
    program: tuple[Kernel, tuple[int, int, int], list[int]], ctaid: int, number: int, gang: int, multiple: int
) -> None:
    kernel, block, params = program
    check(kernel, block, params, ctaid, number, gang, multiple)


def check(
    kernel: Kernel,
    block: tuple[int, int, int],
    params: list[int],
    ctaid: int,
    number: int,
    gang: int = 32,
    multiple: int = 1,
) -> None:
    """Run one gang of a program and hold every shape and guarded shape against its lanes; the first parameter is a multiple."""
    first = number * gang % (-(-block[0] * block[1] * block[2] // gang) * gang)
    params = [params[0] // multiple * multiple, *params[1:]]
    analysis = analyse(kernel, Specialisation(block, gang, ((0, 4, multiple),) if multiple > 1 else ()))
    values = run(kernel, block, params, ctaid, first, gang)
    made: dict[Value, int] = {}

    def value_of(symbol: Value) -> int:
        if isinstance(symbol, Const):
            return symbol.bits
        if symbol in values:
            found = values[symbol][0]
            assert found is not None
            return found
        assert isinstance(symbol, Op)
        return made.setdefault(symbol, compute(symbol, [value_of(a) for a in symbol.args]))

    def condition_holds(op: Op) -> bool:
        """As the documentation of `Guarded` has it: the sums of the operand's shape, without wrap-around, fit its type and bound."""
        if op.name == "select":
            yes = op.args[1]
            uniform = isinstance(yes, Const) or (yes not in analysis.guarded and analysis.shapes[yes].uniform)
            return all(c is None or bool(c) != uniform for c in values[op.args[0]])
        operand, bound = op.args[0], op.args[-1]
        if op.name in ("min", "max") and (operand not in values or analysis.shapes[operand].uniform):
            operand, bound = bound, operand
        shape = analysis.guarded[operand].shape if operand in analysis.guarded else analysis.shapes[operand]
        width = BITS[operand.type]
        is_signed = Signed.of(op).signed if op.name in ("min", "max") else op.name == "sext"
        extend = (lambda v: signed(v, width)) if is_signed else (lambda v: v)
        low = -(1 << (width - 1)) if is_signed else 0
        if op.name == "add":
            extend, width = (lambda v: signed(v, 32)), 31
        base = values[operand][0]
        assert base is not None
        for offset, factors in corners(shape):
            terms = (extend(value_of(s)) * f for (s, _), f in zip(shape.symbols, factors, strict=True))
            place = extend(base) + offset + sum(terms)
            if not low <= place < low + (1 << width):
                return False
            if op.name in ("min", "max"):
                limit = extend(value_of(bound))
                if place > limit if op.name == "min" else place < limit:
                    return False
        return True

    for value, lanes in values.items():
        assert isinstance(value, Op)
        holds(analysis.shapes[value], lanes, BITS[value.type], value_of)
        guarded = analysis.guarded.get(value)
        if guarded is not None:
            assert analysis.shapes[value].varying
            if all(condition_holds(c) for c in guarded.conditions):
                holds(guarded.shape, lanes, BITS[value.type], value_of)


@properties(200, 1500, programs(), st.sampled_from([0, 1, 77, 65535, (1 << 31) - 2]), st.integers(0, 31))
def test_random_programs_stay_in_their_ranges(
    program: tuple[Kernel, tuple[int, int, int], list[int]], ctaid: int, warp: int
) -> None:
    kernel, block, params = program
    first = 32 * (warp % ((block[0] * block[1] * block[2] + 31) // 32))
    ranges = Ranges(Specialisation(block))
    for value, lanes in run(kernel, block, params, ctaid, first, 32).items():
        assert isinstance(value, Op)
        ranges.op(value)
        low, high = ranges.of(value)
        assert all(lane is None or low <= lane <= high for lane in lanes)


def shape_of(*ops: Op, block: tuple[int, int, int] = (256, 1, 1)) -> Shape:
    entry = Block("entry")
    entry.ops = list(ops)
    return analyse(Kernel("k", [entry], []), Specialisation(block)).shapes[ops[-1]]


def index(block_size: int) -> tuple[Op, ...]:
    """ctaid.x * block_size + tid.x, as compilers write it."""
    cta = Op("special", "i32", [], Special("ctaid.x"))
    tid = Op("special", "i32", [], Special("tid.x"))
    start = Op("mul", "i32", [cta, Const("i32", block_size)])
    return cta, tid, start, Op("add", "i32", [start, tid])


def test_the_usual_index_extends_without_a_guard() -> None:
    ops = index(256)
    wide = Op("sext", "i64", [ops[-1]])
    shape = shape_of(*ops, wide)
    assert shape.stride == 1 and shape.modulus == 32
    scaled = Op("mul", "i64", [wide, Const("i64", 4)])
    assert shape_of(*ops, wide, scaled).stride == 4


def test_an_index_that_may_wrap_is_only_guarded() -> None:
    ops = index(256)
    n = Op("param", "i32", [], Parameter(0))
    moved = Op("add", "i32", [ops[-1], n])
    wide = Op("sext", "i64", [moved])
    address = Op("shl", "i64", [wide, Const("i64", 2)])
    entry = Block("entry")
    entry.ops = [*ops, n, moved, wide, address]
    analysis = analyse(Kernel("k", [entry], []), Specialisation((256, 1, 1)))
    assert analysis.shapes[address].varying
    assert analysis.guarded[address].shape.stride == 4
    assert analysis.guarded[address].conditions == (wide,)


def test_masks_and_shifts_of_an_index_are_exact() -> None:
    ops = index(256)
    assert shape_of(*ops, Op("and", "i32", [ops[-1], Const("i32", 31)])).offsets == tuple(range(32))
    assert shape_of(*ops, Op("lshr", "i32", [ops[-1], Const("i32", 5)])).uniform
    quarter = shape_of(*ops, Op("lshr", "i32", [ops[-1], Const("i32", 2)]))
    assert quarter.offsets == tuple(lane // 4 for lane in range(32)) and quarter.modulus == 8


def test_signed_division_of_an_index_is_exact() -> None:
    """As compilers write it: the sign bits, shifted, are added before an arithmetic shift. Grids have at most 2**30 threads in x."""
    ops = index(256)
    sign = Op("ashr", "i32", [ops[-1], Const("i32", 31)])
    bias = Op("lshr", "i32", [sign, Const("i32", 27)])
    biased = Op("add", "i32", [ops[-1], bias])
    row = Op("ashr", "i32", [biased, Const("i32", 5)])
    whole = Op("and", "i32", [biased, Const("i32", 0xFFFFFFE0)])
    lane = Op("sub", "i32", [ops[-1], whole])
    entry = Block("entry")
    entry.ops = [*ops, sign, bias, biased, row, whole, lane, Op("store", "i32", [row, lane], MemoryAccess("global"))]
    kernel, specialisation = Kernel("k", [entry], []), Specialisation((256, 1, 1))
    fold_constants(kernel, specialisation)
    shapes = analyse(kernel, specialisation).shapes
    row, lane = entry.ops[-1].args  # type: ignore[assignment]
    assert shapes[row].uniform
    assert shapes[lane].offsets == tuple(range(32))


def test_rows_times_a_parameter_keep_it_as_a_symbol() -> None:
    y = Op("special", "i32", [], Special("tid.y"))
    n = Op("param", "i32", [], Parameter(0))
    shape = shape_of(y, n, Op("mul", "i32", [y, n]), block=(16, 16, 1))
    assert shape.symbols == ((n, tuple(lane // 16 for lane in range(32))),)


def test_a_bound_that_is_a_multiple_of_the_warp_is_uniform() -> None:
    ops = index(256)
    n = Op("param", "i32", [], Parameter(0))
    bound = Op("shl", "i32", [n, Const("i32", 5)])
    assert shape_of(*ops, n, bound, Op("icmp", "i1", [ops[-1], bound], Compare("slt"))).uniform
    assert shape_of(*ops, n, Op("icmp", "i1", [ops[-1], n], Compare("slt"))).varying


@pytest.mark.parametrize("name", ["lshr", "ashr", "and", "or", "xor", "div", "rem", "min", "zext", "sext", "trunc"])
@pytest.mark.parametrize("second", [3, 5, 31])
@pytest.mark.parametrize("param", [5, 33, 0x7FFFFFE7, 0xFFFFFFE9])
def test_an_index_moved_by_anything(name: str, second: int, param: int) -> None:
    """Each operation on tid.x * scale + n, whose lanes may cross every boundary there is."""
    for scale in (1, 4, 1 << 26):
        tid = Op("special", "i32", [], Special("tid.x"))
        n = Op("param", "i32", [], Parameter(0))
        scaled = Op("mul", "i32", [tid, Const("i32", scale)])
        moved = Op("add", "i32", [scaled, n])
        kept = Op("and", "i32", [n, Const("i32", 0xFFFFFFC0)])
        aligned = Op("add", "i32", [scaled, kept])
        entry = Block("entry")
        entry.ops = [tid, n, scaled, moved, kept, aligned]
        for value in (scaled, moved, aligned):
            if name in ("zext", "sext"):
                entry.ops.append(Op(name, "i64", [value]))
            elif name == "trunc":
                entry.ops.append(Op(name, "i16", [value]))
            else:
                entry.ops.append(
                    Op(
                        name,
                        "i32",
                        [value, Const("i32", second)],
                        Signed(True) if OPERATIONS[name].attributes is Signed else NONE,
                    )
                )
        for warp in (0, 1, 31):
            check(Kernel("k", [entry], []), (1024, 1, 1), [param, 0], 3, warp)


def test_bounds_prove_an_extension_only_where_no_lane_can_wrap() -> None:
    tid = Op("special", "i32", [], Special("tid.x"))
    odd = Op("add", "i32", [tid, Const("i32", 7)])
    assert shape_of(tid, odd, Op("sext", "i64", [odd])).stride == 1
    back = Op("add", "i32", [tid, Const("i32", 0xFFFFFFF9)])
    assert shape_of(tid, back, Op("zext", "i64", [back])).varying
    far = Op("add", "i32", [tid, Const("i32", 0x7FFFFFF1)])
    assert shape_of(tid, far, Op("sext", "i64", [far])).varying
    assert shape_of(tid, far, Op("zext", "i64", [far])).stride == 1
