"""`wmma` from memory to memory: the layout of fragments is nobody's business, so only whole products are compared."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from semantics.devices import DEVICES
from semantics.matrix_numbers import BITS, agree, multiply, random_bits, values

HEAD = ".version 9.0\n.target sm_100\n.address_size 64\n"
ALL = tuple(DEVICES)
SHAPES = {"m16n16k16": (16, 16, 16), "m32n8k16": (32, 8, 16), "m8n32k16": (8, 32, 16)}
REGISTERS = {
    # by the manual's table of fragments: registers of A, B by type and shape; of C and D by type
    "f16": dict.fromkeys(SHAPES, (8, 8)),
    "bf16": {"m16n16k16": (4, 4), "m32n8k16": (8, 2), "m8n32k16": (2, 8)},
    "u8": {"m16n16k16": (2, 2), "m32n8k16": (4, 1), "m8n32k16": (1, 4)},
    "s8": {"m16n16k16": (2, 2), "m32n8k16": (4, 1), "m8n32k16": (1, 4)},
    "tf32": {"m16n16k8": (4, 4)},
    "f64": {"m8n8k4": (1, 1)},
    "u4": {"m8n8k32": (1, 1)},
    "s4": {"m8n8k32": (1, 1)},
    "b1": {"m8n8k128": (1, 1)},
}
SMALL = {"m8n8k4", "m8n8k32", "m8n8k128"}


def c_registers(kind, shape):
    return 2 if shape in SMALL else 4 if kind == "f16" else 8


def extent(shape):
    m, n, k = shape.replace("n", " ").replace("k", " ")[1:].split()
    return int(m), int(n), int(k)


def lay_out(kind, matrix, order, stride):
    """A matrix of bits in memory: rows (columns) `stride` elements apart, filled with ones between."""
    lines = matrix if order == "row" else matrix.T
    bits = BITS[kind]
    data = np.full(-(-stride * len(lines) * bits // 8), 0xFF, np.uint8)
    for n, line in enumerate(lines):
        if bits < 8:
            whole = sum(int(x) << bits * i for i, x in enumerate(line))
            at, size = n * stride * bits // 8, len(line) * bits // 8
            data[at : at + size] = np.frombuffer(whole.to_bytes(size, "little"), np.uint8)
            continue
        for i, x in enumerate(line):
            at = (n * stride + i) * bits // 8
            data[at : at + bits // 8] = np.frombuffer(int(x).to_bytes(bits // 8, "little"), np.uint8)
    return data


def read_back(kind, data, shape, order, stride):
    rows, columns = shape if order == "row" else shape[::-1]
    size = BITS[kind] // 8
    found = np.empty((rows, columns), object)
    for n, i in itertools.product(range(rows), range(columns)):
        at = (n * stride + i) * size
        found[n, i] = int.from_bytes(data[at : at + size].tobytes(), "little")
    return found if order == "row" else found.T


def register(kind):
    return {"f64": ("d", "f64"), "f32": ("f", "f32")}.get(kind, ("r", "b32"))


def names(which, kind, count):
    return [f"%{which}{register(kind)[0]}{i}" for i in range(count)]


def kernel(shape, kinds, counts, orders, strides, space, mma, between=""):
    spaces = {"global": ".global", "shared": ".shared", "generic": ""}
    lines = [
        HEAD,
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 na, .param .u32 nb)",
    ]
    lines += ["{", ".reg .b32 %i<8>; .reg .b64 %p<12>; .reg .pred %q; .shared .align 32 .b8 room[16384];"]
    for which in "abcd":
        lines.append(f".reg .{register(kinds[which])[1]} {', '.join(names(which, kinds[which], counts[which]))};")
    lines += [f"ld.param.u64 %p{n}, [{w}];" for n, w in enumerate("abcd")]
    places = {w: f"%p{n}" for n, w in enumerate("abcd")}
    if space == "shared":
        lines.append("mov.u32 %i0, room;")
        for n, which in enumerate("ab"):
            lines += [
                f"mov.u32 %i1, %tid.x; ld.param.u32 %i2, [n{which}];",
                f"copy{n}: cvt.u64.u32 %p8, %i1; add.u64 %p9, %p{n}, %p8; ld.global.u8 %i4, [%p9];",
                f"add.u32 %i5, %i0, %i1; st.shared.u8 [%i5+{8192 * n}], %i4;",
                f"add.u32 %i1, %i1, 32; setp.lt.u32 %q, %i1, %i2; @%q bra copy{n};",
            ]
            places[which] = f"%i0+{8192 * n}"
        lines.append("bar.warp.sync 0xffffffff;")
    for which in "abc":
        here = space if which in "ab" else "global"
        stride = f", {strides[which]}" if strides[which] else ""
        regs = ", ".join(names(which, kinds[which], counts[which]))
        lines.append(
            f"wmma.load.{which}.sync.aligned.{orders[which]}.{shape}{spaces[here]}.{kinds[which]} {{{regs}}}, [{places[which]}]{stride};"
        )
    lines.append(between)
    lists = ", ".join("{" + ", ".join(names(w, kinds[w], counts[w])) + "}" for w in "dabc")
    lines.append(f"{mma} {lists};")
    regs = ", ".join(names("d", kinds["d"], counts["d"]))
    stride = f", {strides['d']}" if strides["d"] else ""
    lines.append(f"wmma.store.d.sync.aligned.{orders['d']}.{shape}.global.{kinds['d']} [%p3], {{{regs}}}{stride};")
    return "\n".join([*lines, "ret;", "}"])


def check(device, shape, kinds, orders, *, space="global", padding=16, combine="mul", change=None, between=""):
    m, n, k = extent(shape)
    sizes = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
    rng = np.random.default_rng(len(shape) + sum(map(ord, "".join(kinds.values()))))
    bits = {w: random_bits(kinds[w], sizes[w], rng) for w in "abc"}
    lengths = {w: sizes[w][1] if orders[w] == "row" else sizes[w][0] for w in "abcd"}
    pad = padding if BITS[kinds["a"]] >= 8 else padding * 16
    strides = {w: lengths[w] + (pad if w in "ab" else padding) for w in "abcd"}
    data = {w: lay_out(kinds[w], bits[w], orders[w], strides[w]) for w in "abc"}
    lines = sizes["d"][0] if orders["d"] == "row" else sizes["d"][1]
    d = np.full(strides["d"] * lines * BITS[kinds["d"]] // 8, 0xEE, np.uint8)
    ra, rb = REGISTERS[kinds["a"]][shape]
    counts = {"a": ra, "b": rb, "c": c_registers(kinds["c"], shape), "d": c_registers(kinds["d"], shape)}
    order = f"{orders['a']}.{orders['b']}"
    types = f"{kinds['d']}.{kinds['c']}" if kinds["a"] == "f16" else ".".join(kinds[w] for w in "dabc")
    how = "" if combine == "mul" else f".{combine}.popc"
    mma = f"wmma.mma{how}.sync.aligned.{order}.{shape}.{types}"
    written = {w: strides[w] if padding else 0 for w in "abcd"}
    text = kernel(shape, kinds, counts, orders, written, space, mma, between)
    sizes_of = (np.uint32(len(data["a"])), np.uint32(len(data["b"])))
    DEVICES[device](text, "k", 1, 32, (data["a"], data["b"], data["c"], d, *sizes_of))
    exact = {w: values(kinds[w], bits[w]) for w in "abc"}
    if change is not None:
        exact = change(exact)
    want = multiply(kinds["d"], exact["a"], exact["b"], exact["c"], combine)
    found = values(kinds["d"], read_back(kinds["d"], d, (m, n), orders["d"], strides["d"]))
    assert agree(kinds["d"], found, want, k), (shape, kinds, orders)
    if padding:  # what lies between the rows stays as it was
        size = BITS[kinds["d"]] // 8
        assert (d[lengths["d"] * size : strides["d"] * size] == 0xEE).all()


def kinds_of(d, a, b, c):
    return {"a": a, "b": b, "c": c, "d": d}


def orders_of(*which):
    return dict(zip("abcd", which, strict=True))


CASES = [
    *[(s, kinds_of(d, "f16", "f16", c)) for s in SHAPES for d, c in (("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("f16", "f32"))],
    *[(s, kinds_of("f32", "bf16", "bf16", "f32")) for s in SHAPES],
    *[(s, kinds_of("s32", kind, kind, "s32")) for s in SHAPES for kind in ("s8", "u8")],
    ("m16n16k8", kinds_of("f32", "tf32", "tf32", "f32")),
    ("m8n8k4", kinds_of("f64", "f64", "f64", "f64")),
]  # fmt: skip


@pytest.mark.spread("which")
@pytest.mark.parametrize("device", ALL[:2])
@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize(
    ("shape", "kinds"), CASES, ids=lambda x: "_".join(x.values()) if isinstance(x, dict) else str(x)
)
def test_products_of_matrices_by_rows_and_columns(device, shape, kinds, which):
    rows_and_columns = ("row", "col")
    a, b = rows_and_columns[which // 2], rows_and_columns[which % 2]
    check(device, shape, kinds, orders_of(a, b, b, a), space=("global", "shared", "generic", "shared")[which])


@pytest.mark.parametrize("device", ALL[:2])
@pytest.mark.parametrize("kind", ["s4", "u4"])
def test_products_of_four_bit_integers(device, kind):
    check(device, "m8n8k32", kinds_of("s32", kind, kind, "s32"), orders_of("row", "col", "row", "col"))


@pytest.mark.parametrize("device", ALL[:2])
@pytest.mark.parametrize("combine", ["xor", "and"])
def test_products_of_bits(device, combine):
    check(
        device, "m8n8k128", kinds_of("s32", "b1", "b1", "s32"), orders_of("row", "col", "col", "row"), combine=combine
    )


@pytest.mark.parametrize("device", ALL[:2])
def test_rows_lie_next_to_each_other_where_no_stride_is_given(device):
    kinds = kinds_of("f32", "f16", "f16", "f32")
    check(device, "m32n8k16", kinds, orders_of("row", "col", "col", "row"), padding=0)


@pytest.mark.parametrize("device", ALL[:2])
def test_fragments_of_one_shape_agree_element_by_element(device):
    """c = c * 2 + c of the other layout would not be: both are loaded by `wmma.load.c`, and added before the product."""
    kinds = kinds_of("f32", "f16", "f16", "f32")
    twice = "\n".join(f"fma.rn.f32 %cf{i}, %cf{i}, 0f40000000, 0f3F800000;" for i in range(8))
    halves = "\n".join(f"mul.f16x2 %ar{i}, %ar{i}, %i7;" for i in range(8))
    between = f"mov.b32 %i7, 0x40004000; {twice}\n{halves}"

    def change(exact):
        return {"a": exact["a"] * 2, "b": exact["b"], "c": exact["c"] * 2 + 1}

    check(device, "m16n16k16", kinds, orders_of("col", "row", "row", "col"), change=change, between=between)
