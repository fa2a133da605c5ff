"""Every `mma` on every device, against products in numpy, with fragments laid out by the manual's own formulas."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from semantics import matrix_layouts as layouts
from semantics.devices import DEVICES
from semantics.matrix_numbers import BITS, agree, encode, multiply, random_bits, values

HEAD = ".version 9.0\n.target sm_100\n.address_size 64\n"
LETTER = {"f64": ("d", "f64", 8), "f32": ("f", "f32", 4)}
ALL = tuple(DEVICES)


def register(kind):
    """Prefix, PTX type and bytes of a register that holds elements of a type."""
    return LETTER.get(kind, ("r", "b32", 4))


def pack(kind, fragment):
    """Elements of each lane as bytes of its registers, register after register, lane after lane."""
    size = register(kind)[2]
    per = 8 * size // BITS[kind]
    out = bytearray()
    for first in range(0, len(fragment[0]), per):
        for lane in fragment:
            word = sum(int(x) << n * BITS[kind] for n, x in enumerate(lane[first : first + per]))
            out += word.to_bytes(size, "little")
    return np.frombuffer(bytes(out), np.uint8).copy()


def unpack(kind, data, count):
    size = register(kind)[2]
    per = 8 * size // BITS[kind]
    out = [[0] * count for _ in range(32)]
    for first in range(0, count, per):
        for lane in range(32):
            at = (first // per * 32 + lane) * size
            word = int.from_bytes(data[at : at + size].tobytes(), "little")
            for n in range(per):
                out[lane][first + n] = word >> n * BITS[kind] & (1 << BITS[kind]) - 1
    return out


def fragment(matrix, place, count):
    return [[matrix[place(lane, i)] for i in range(count)] for lane in range(32)]


def kernel(instruction, kinds, counts, more="", times=1):
    """A kernel whose threads read fragments a, b, c (and e) from memory, run one instruction and write d.

    With `times` d is added to again; every second product takes the registers of b in reverse.
    """
    lines = [HEAD, ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 e, .param .u64 d) {"]
    lines.append(".reg .b32 %lane, %e; .reg .b64 %p<8>; .reg .b64 %o; mov.u32 %lane, %laneid;")
    names = {}
    for n, which in enumerate("abcd"):
        letter, type, size = register(kinds[which])
        regs = counts[which] * BITS[kinds[which]] // (8 * size)
        names[which] = [f"%{which}{letter}{i}" for i in range(regs)]
        lines.append(f".reg .{type} {', '.join(names[which])};")
        lines.append(f"ld.param.u64 %p{n}, [{which}]; mul.wide.u32 %o, %lane, {size}; add.u64 %p{n}, %p{n}, %o;")
        if which != "d":
            lines += [f"ld.global.{type} {r}, [%p{n}+{32 * size * i}];" for i, r in enumerate(names[which])]
    lines.append("ld.param.u64 %p4, [e]; mul.wide.u32 %o, %lane, 4; add.u64 %p4, %p4, %o; ld.global.u32 %e, [%p4];")
    for n in range(times):
        order = {**names, "b": names["b"][:: -1 if n % 2 else 1]}
        lists = ", ".join("{" + ", ".join(order[w]) + "}" for w in "dabc")
        lines.append(f"{instruction} {lists}{more};")
        lines += [f"mov.b32 {c}, {d};" for c, d in zip(names["c"], names["d"], strict=False) if times > 1]
    letter, type, size = register(kinds["d"])
    lines += [f"st.global.{type} [%p3+{32 * size * i}], {r};" for i, r in enumerate(names["d"])]
    return "\n".join([*lines, "ret;", "}"])


def run(device, text, kinds, parts, count, indices=None):
    d = np.zeros(32 * count * BITS[kinds["d"]] // 8, np.uint8)
    arguments = [pack(kinds[w], parts[w]) for w in "abc"]
    e = np.zeros(32, np.uint32) if indices is None else indices
    DEVICES[device](text, "k", 1, 32, (*arguments, e, d))
    return unpack(kinds["d"], d, count)


def check(device, form, shape, kinds, *, seed=0, matrices=None, combine="mul", saturate=False):
    """Run a dense product of the given (or random) matrices of bits and compare every element."""
    m, n, k = (int(x) for x in shape.replace("n", " ").replace("k", " ")[1:].split())
    rng = np.random.default_rng(seed)
    count_a, place_a, count_b, place_b, count_c, place_c = layouts.LAYOUTS[shape, BITS[kinds["a"]]]
    a, b, c = matrices or (
        random_bits(kinds["a"], (m, k), rng), random_bits(kinds["b"], (k, n), rng), random_bits(kinds["c"], (m, n), rng),
    )  # fmt: skip
    parts = {"a": fragment(a, place_a, count_a), "b": fragment(b, place_b, count_b), "c": fragment(c, place_c, count_c)}
    text = kernel(form, kinds, {"a": count_a, "b": count_b, "c": count_c, "d": count_c})
    got = run(device, text, kinds, parts, count_c)
    exact = [values(kinds[w], x) for w, x in (("a", a), ("b", b), ("c", c))]
    want = multiply(kinds["d"], *exact, combine, saturate)
    if kinds["d"] == "f16":
        with np.errstate(over="ignore"):
            want = np.asarray(want, np.float64).astype(np.float16).astype(np.float64)
    found = np.empty((m, n), object)
    for lane in range(32):
        for i in range(count_c):
            found[place_c(lane, i)] = got[lane][i]
    found = values(kinds["d"], found)
    assert agree(kinds["d"], found, want, k), (form, device)
    return found


def kinds_of(d, a, b, c):
    return {"a": a, "b": b, "c": c, "d": d}


def form_of(shape, kinds, *, extra="", op="", layout="row.col"):
    types = ".".join(kinds[w] for w in "dabc")
    return f"mma.sync.aligned.{shape}.{layout}{extra}.{types}{op}"


DENSE = [
    *[("m16n8k8", kinds_of(d, "f16", "f16", c)) for d, c in itertools.product(("f16", "f32"), repeat=2)],
    *[("m16n8k16", kinds_of(d, "f16", "f16", c)) for d, c in itertools.product(("f16", "f32"), repeat=2)],
    *[(shape, kinds_of("f32", "bf16", "bf16", "f32")) for shape in ("m16n8k8", "m16n8k16")],
    *[(shape, kinds_of("f32", "tf32", "tf32", "f32")) for shape in ("m16n8k4", "m16n8k8")],
    *[(shape, kinds_of("f64", "f64", "f64", "f64")) for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")],
    *[(shape, kinds_of("s32", a, b, "s32"))
      for shape in ("m8n8k16", "m16n8k16", "m16n8k32") for a, b in itertools.product(("s8", "u8"), repeat=2)],
    *[(shape, kinds_of("s32", a, b, "s32"))
      for shape in ("m8n8k32", "m16n8k32", "m16n8k64") for a, b in itertools.product(("s4", "u4"), repeat=2)],
    *[(shape, kinds_of(d, a, b, d)) for shape in ("m16n8k16", "m16n8k32") for d in ("f16", "f32")
      for a, b in itertools.product(("e4m3", "e5m2"), repeat=2)],
]  # fmt: skip


@pytest.mark.parametrize("device", ALL[:2])
@pytest.mark.parametrize(("shape", "kinds"), DENSE, ids=lambda x: x if isinstance(x, str) else "_".join(x.values()))
def test_products_of_every_shape_and_type(device, shape, kinds):
    check(device, form_of(shape, kinds), shape, kinds, seed=len(shape) * 64 + BITS[kinds["a"]])


@pytest.mark.parametrize("device", ALL[:2])
@pytest.mark.parametrize("combine", ["and", "xor"])
@pytest.mark.parametrize("shape", ["m8n8k128", "m16n8k128", "m16n8k256"])
def test_products_of_bits_count_them(device, shape, combine):
    kinds = kinds_of("s32", "b1", "b1", "s32")
    check(device, form_of(shape, kinds, op=f".{combine}.popc"), shape, kinds, combine=combine)


@pytest.mark.parametrize("device", ALL[:2])
@pytest.mark.parametrize(
    ("shape", "a", "b"), [("m16n8k32", "s8", "s8"), ("m8n8k16", "u8", "u8"), ("m16n8k64", "s4", "u4")]
)
@pytest.mark.parametrize("saturate", [False, True])
def test_sums_of_integers_wrap_or_saturate(device, shape, a, b, saturate):
    kinds = kinds_of("s32", a, b, "s32")
    m, n, k = (int(x) for x in shape.replace("n", " ").replace("k", " ")[1:].split())
    rng = np.random.default_rng(5)
    c = np.where(np.arange(m * n).reshape(m, n) % 2 == 0, 0x7FFFFFF0, 0x80000010).astype(object)
    matrices = (random_bits(a, (m, k), rng), random_bits(b, (k, n), rng), c)
    form = form_of(shape, kinds, extra=".satfinite" if saturate else "")
    check(device, form, shape, kinds, matrices=matrices, saturate=saturate)


@pytest.mark.parametrize("device", ALL[:2])
@pytest.mark.parametrize(
    ("shape", "kinds"),
    [
        ("m16n8k16", kinds_of("f32", "f16", "f16", "f32")),
        ("m16n8k16", kinds_of("f16", "f16", "f16", "f16")),
        ("m16n8k16", kinds_of("f32", "bf16", "bf16", "f32")),
        ("m16n8k8", kinds_of("f32", "tf32", "tf32", "f32")),
        ("m16n8k8", kinds_of("f64", "f64", "f64", "f64")),
        ("m16n8k32", kinds_of("f32", "e5m2", "e5m2", "f32")),
    ],
    ids=lambda x: x if isinstance(x, str) else "_".join(x.values()),
)
def test_infinities_and_nans_reach_the_rows_and_columns_they_stand_in(device, shape, kinds):
    m, n, k = (int(x) for x in shape.replace("n", " ").replace("k", " ")[1:].split())
    rng = np.random.default_rng(9)
    a, b, c = (random_bits(kinds[w], s, rng) for w, s in (("a", (m, k)), ("b", (k, n)), ("c", (m, n))))
    infinity = {"e5m2": 0x7C}.get(kinds["a"]) or encode(kinds["a"], [np.inf])[0]
    negative = {"e5m2": 0xFC}.get(kinds["a"]) or encode(kinds["a"], [-np.inf])[0]
    nan = {"e5m2": 0x7E, "tf32": 0x7FC00000}.get(kinds["a"]) or encode(kinds["a"], [np.nan])[0]
    a[2, 1], a[5, 3], b[4, 6], c[9, 0] = infinity, nan, negative, encode(kinds["c"], [-np.inf])[0]
    a[2, 4], b[1, 6] = encode(kinds["a"], [1.0])[0] if kinds["a"] != "e5m2" else 0x3C, b[1, 0]
    found = check(device, form_of(shape, kinds), shape, kinds, matrices=(a, b, c))
    assert np.isnan(found[5]).all() and np.isinf(found[2, 0]) and found[9, 0] == -np.inf and np.isinf(found[:, 6]).any()
    assert np.isfinite(found[0, :6]).all()


@pytest.mark.parametrize("device", ALL[:2])
def test_e4m3_has_a_nan_and_subnormals_but_no_infinity(device):
    kinds = kinds_of("f32", "e4m3", "e4m3", "f32")
    a = np.arange(16 * 32).reshape(16, 32).astype(object) & 0xFF  # every value, in four rows of eight
    b = random_bits("e4m3", (32, 8), np.random.default_rng(1))
    c = encode("f32", np.zeros((16, 8)))
    a[3, 31] = a[7, 31] = 0x7E  # not NaN
    check(device, form_of("m16n8k32", kinds), "m16n8k32", kinds, matrices=(a, b, c))


@pytest.mark.parametrize("device", ALL[:2])
@pytest.mark.parametrize("orders", list(itertools.product(("row", "col"), repeat=2)), ids="_".join)
@pytest.mark.parametrize(("d", "c"), list(itertools.product(("f16", "f32"), repeat=2)))
def test_quad_pairs_multiply_four_times(device, orders, d, c):
    kinds = kinds_of(d, "f16", "f16", c)
    rng = np.random.default_rng(4)
    a, b = random_bits("f16", (4, 8, 4), rng), random_bits("f16", (4, 4, 8), rng)
    addend = random_bits(c, (4, 8, 8), rng)
    places = {"a": layouts.quad_a(orders[0]), "b": layouts.quad_b(orders[1]), "c": layouts.quad_c(c)}
    which = layouts.quad_pair
    parts = {
        name: [[matrix[(which(lane), *places[name](lane, i))] for i in range(count)] for lane in range(32)]
        for name, matrix, count in (("a", a, 4), ("b", b, 4), ("c", addend, 8))
    }
    text = kernel(form_of("m8n8k4", kinds, layout=".".join(orders)), kinds, {"a": 4, "b": 4, "c": 8, "d": 8})
    got = run(device, text, kinds, parts, 8)
    for product in range(4):
        want = multiply(d, *(values(k, x[product]) for k, x in (("f16", a), ("f16", b), (c, addend))))
        found = np.full((8, 8), None, object)
        for lane in range(32):
            if which(lane) == product:
                for i in range(8):
                    found[layouts.quad_c(d)(lane, i)] = got[lane][i]
        assert agree(d, values(d, found), want, 4), product


@pytest.mark.parametrize("device", ALL)
@pytest.mark.parametrize("times", [3, 7])
@pytest.mark.parametrize(
    ("shape", "kinds"),
    [
        ("m16n8k16", kinds_of("f32", "f16", "f16", "f32")),
        ("m16n8k16", kinds_of("f16", "f16", "f16", "f16")),
        ("m16n8k16", kinds_of("f32", "bf16", "bf16", "f32")),
        ("m16n8k8", kinds_of("f32", "tf32", "tf32", "f32")),
        ("m16n8k32", kinds_of("f32", "e4m3", "e5m2", "f32")),
        *[("m16n8k32", kinds_of("s32", a, b, "s32")) for a, b in itertools.product(("s8", "u8"), repeat=2)],
    ],
    ids=lambda x: x if isinstance(x, str) else "_".join(x.values()),
)
def test_one_fragment_serves_several_products(device, times, shape, kinds):
    m, n, k = (int(x) for x in shape.replace("n", " ").replace("k", " ")[1:].split())
    rng = np.random.default_rng(21)
    a, b, c = (random_bits(kinds[w], s, rng) for w, s in (("a", (m, k)), ("b", (k, n)), ("c", (m, n))))
    count_a, place_a, count_b, place_b, count_c, place_c = layouts.LAYOUTS[shape, BITS[kinds["a"]]]
    parts = {"a": fragment(a, place_a, count_a), "b": fragment(b, place_b, count_b), "c": fragment(c, place_c, count_c)}
    counts = {"a": count_a, "b": count_b, "c": count_c, "d": count_c}
    got = run(device, kernel(form_of(shape, kinds), kinds, counts, times=times), kinds, parts, count_c)
    want, left, right = values(kinds["c"], c), values(kinds["a"], a), values(kinds["b"], b)
    for number in range(times):  # registers of b in reverse: the two halves of its rows change places
        want = multiply(kinds["d"], left, np.roll(right, k // 2, axis=0) if number % 2 else right, want)
        if kinds["d"] == "f16":
            want = np.asarray(want, np.float64).astype(np.float16).astype(np.float64)
    found = np.empty((m, n), object)
    for lane in range(32):
        for i in range(count_c):
            found[place_c(lane, i)] = got[lane][i]
    assert agree(kinds["d"], values(kinds["d"], found), want, k * times)


SPARSE = [
    *[("m16n8k16", kinds_of(d, "f16", "f16", d)) for d in ("f16", "f32")],
    ("m16n8k32", kinds_of("f32", "f16", "f16", "f32")),
    *[(shape, kinds_of("f32", "bf16", "bf16", "f32")) for shape in ("m16n8k16", "m16n8k32")],
    *[(shape, kinds_of("f32", "tf32", "tf32", "f32")) for shape in ("m16n8k8", "m16n8k16")],
    *[(shape, kinds_of("s32", a, b, "s32")) for shape in ("m16n8k32", "m16n8k64") for a, b in (("s8", "u8"), ("s8", "s8"))],
    *[(shape, kinds_of("s32", a, b, "s32")) for shape in ("m16n8k64", "m16n8k128") for a, b in (("u4", "s4"), ("s4", "s4"))],
    ("m16n8k64", kinds_of("f32", "e4m3", "e5m2", "f32")),
]  # fmt: skip


def draw_indices(kind, m, stored, rng):
    """Which element of its group each stored one is: ascending, two of four (tf32: one of two; 4 bits: pairs, two of four)."""
    if kind == "tf32":
        return rng.integers(0, 2, (m, stored))
    groups = stored // (4 if BITS[kind] == 4 else 2)
    return np.array([[sorted(rng.choice(4, 2, replace=False)) for _ in range(groups)] for _ in range(m)]).reshape(m, -1)


@pytest.mark.parametrize("device", ALL[:2])
@pytest.mark.parametrize(("shape", "kinds"), SPARSE, ids=lambda x: x if isinstance(x, str) else "_".join(x.values()))
def test_sparse_products_take_the_columns_that_their_indices_name(device, shape, kinds):
    kind, bits = kinds["a"], BITS[kinds["a"]]
    variant = "sp" if shape == "m16n8k32" else "sp::ordered_metadata"
    dense, holders = layouts.SPARSE[shape, bits]
    m, n, k = (int(x) for x in shape.replace("n", " ").replace("k", " ")[1:].split())
    rng = np.random.default_rng(len(shape) + bits)
    stored, b, c = (
        random_bits(kind, (m, k // 2), rng),
        random_bits(kinds["b"], (k, n), rng),
        random_bits(kinds["c"], (m, n), rng),
    )
    index = draw_indices(kind, m, k // 2, rng)
    whole = np.zeros((m, k), object)
    for row in range(m):
        for s in range(k // 2):
            if kind == "tf32":
                column = 2 * s + index[row, s]
            elif bits == 4:
                column = s // 4 * 8 + 2 * index[row, s // 2] + s % 2
            else:
                column = s // 2 * 4 + index[row, s]
            whole[row, column] = stored[row, s]
    selector = 4 // holders - 1
    words = np.full(32, 0xFFFFFFFF if holders < 4 else 0, np.uint32)
    for row in range(m):
        codes = [0b0100 + 0b1010 * int(x) for x in index[row]] if kind == "tf32" else [int(x) for x in index[row]]
        width = 4 if kind == "tf32" else 2
        line = sum(code << width * n for n, code in enumerate(codes))
        for part in range(holders):  # 16 bits for this row, 16 for the one 8 further on
            lane = 4 * (row % 8) + selector * holders + part
            keep = 0xFFFF if row >= 8 else 0xFFFF0000
            words[lane] = (int(words[lane]) & keep) | ((line >> 16 * part & 0xFFFF) << (16 if row >= 8 else 0))
    count_a, place_a, _, _, count_c, place_c = layouts.LAYOUTS[dense, bits]
    count_b = k * n // 32
    parts = {
        "a": fragment(stored, place_a, count_a),
        "b": fragment(b, layouts.sparse_b(bits), count_b),
        "c": fragment(c, place_c, count_c),
    }
    types = ".".join(kinds[w] for w in "dabc")
    counts = {"a": count_a, "b": count_b, "c": count_c, "d": count_c}
    text = kernel(f"mma.{variant}.sync.aligned.{shape}.row.col.{types}", kinds, counts, f", %e, {selector}")
    got = run(device, text, kinds, parts, count_c, words)
    want = multiply(kinds["d"], values(kind, whole), values(kinds["b"], b), values(kinds["c"], c))
    found = np.empty((m, n), object)
    for lane in range(32):
        for i in range(count_c):
            found[place_c(lane, i)] = got[lane][i]
    assert agree(kinds["d"], values(kinds["d"], found), want, k)
