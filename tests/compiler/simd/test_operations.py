"""Every pure operation of the IR, in every type and form, against the exact whole-number model of the reference device."""

from __future__ import annotations

import functools
import itertools
import random
from typing import ClassVar

import numpy as np
import pytest

from anywarp.compiler.simd.machine_code import host_cpu
from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.devices.reference import softfloat as sf
from anywarp.devices.reference.values import PlainOps, plain
from anywarp.ptx.isa.ops import BITS
from compiler.simd.hand_built import LANES, STEPS, Build, uniform

INTS = ["i8", "i16", "i32", "i64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
DIRECTED = ["rn", "rz", "rm", "rp"]
FORMAT = sf.FORMATS


class Model(PlainOps):
    """The whole-number model alone; what needs a machine is not called."""

    __abstractmethods__: ClassVar[frozenset[str]] = frozenset()


Model.__abstractmethods__ = frozenset()
WITHOUT = {
    "host": None,
    "no-fp16": ("avx512fp16",),
    "avx2": ("avx512",),
    "sse": ("avx", "fma", "f16c", "bmi", "amx", "vaes", "vpclmul", "xsave"),
}
WITHOUT_VNNI = {"no-vnni": ("avx512vnni", "avxvnni"), "avx2-no-vnni": ("avx512", "avxvnni")}


def target(name):
    if name == "host":
        return this_machine()
    triple, _, features = host_cpu()
    dropped = (WITHOUT | WITHOUT_VNNI)[name]
    words = [w if not w[1:].startswith(dropped) else "-" + w[1:] for w in features.split(",")]
    return make_target(
        triple,
        "x86-64-v2" if name == "sse" else "x86-64-v3" if name.startswith("avx2") else "x86-64-v4",
        ",".join(words),
    )


def interesting(type):
    width = BITS[type]
    top = 1 << (width - 1)
    small = [0, 1, 2, 3, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2]
    if type == "f32":
        small += [0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x00800000, 0x007FFFFF, 0x80000001, 0x4B000001, 0x4F000000, 0xCF000000, 0x5F000000, 0x3F000000, 0xBF000000, 0x3FC00000, 0x40200000, 0x477FF000, 0x477FEFFF, 0x33000000, 0x33000001, 0x42B17218]  # fmt: skip
    if type == "f64":
        small += [0x3FF << 52, 0xBFF << 52, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, (0x7FF << 52) + 1, (0x7FF << 52) - 1, (0xFFF << 52) - 1, 1 << 52, (1 << 52) - 1, 0x47EFFFFFF0000000, 0x47EFFFFFEFFFFFFF, 0x36A0000000000000, 0x36A0000000000001, 0x3690000000000000, 0x41E0000000000000, 0x43E0000000000000, 0xC3E0000000000000, 0x3FE0000000000000, 0x4004000000000000, 0x40EFFE0000000000, 0x40EFFDFFFFFFFFFF]  # fmt: skip
    if type == "f16":
        small += [
            0x3C00,
            0xBC00,
            0x7C00,
            0xFC00,
            0x7E00,
            0x7C01,
            0x7BFF,
            0xFBFF,
            0x0400,
            0x03FF,
            0x3800,
            0x3E00,
            0x4100,
        ]
    if type == "bf16":
        small += [
            0x3F80,
            0xBF80,
            0x7F80,
            0xFF80,
            0x7FC0,
            0x7F81,
            0x7F7F,
            0xFF7F,
            0x0080,
            0x007F,
            0x3F00,
            0x3FC0,
            0x4020,
        ]
    if type in ("i32", "i64", "i16"):
        small += [width - 1, width, width + 1, 33, 64, 0x55555555 & (2 * top - 1), (1 << 24) + 1, (1 << 25) + 3]
    return [x & (2 * top - 1) for x in small]


def inputs(types, count=256, seed=0):
    """Columns of bits: pairs of interesting numbers first, then numbers with random bits and with near exponents."""
    r = random.Random(f"{types}{seed}")
    rows = []
    pools = [interesting(t) for t in types]
    while len(rows) < count:
        if len(rows) < count // 2:
            rows.append([r.choice(p) for p in pools])
        else:
            rows.append([near(r, t) for t in types])
    return list(zip(*rows, strict=True))


def near(r, type):
    width = BITS[type]
    if type in ("f16", "bf16", "f32", "f64") and r.random() < 0.7:
        f = {"f16": (10, 15), "bf16": (7, 127), "f32": (23, 127), "f64": (52, 1023)}[type]
        exponent = f[1] + r.randint(-6, 6)
        return r.getrandbits(1) << (width - 1) | exponent << f[0] | r.getrandbits(f[0])
    if r.random() < 0.3:
        return r.getrandbits(width) >> r.randrange(width)
    return r.getrandbits(width)


def numpy_of(type, bits):
    width = BITS[type]
    if width == 1:
        return np.array(bits, np.uint8)
    if width == 128:
        words = np.empty((len(bits), 2), np.uint64)
        words[:, 0], words[:, 1] = [b & (2**64 - 1) for b in bits], [b >> 64 for b in bits]
        return words
    return np.array(bits, f"u{width // 8}")


def bits_of(type, array, count):
    if BITS[type] == 128:
        return [int(a) | int(b) << 64 for a, b in array[:count]]
    return [int(x) for x in array[:count]]


def run_cases(arg_types, cases, which, wide, seed=0, count=256):
    """Run (name, result type, attributes, arg indexes) cases in one kernel; returns inputs and the bits of each result."""
    columns = inputs(arg_types, count, seed)
    held = ["i8" if t == "i1" else t for t in arg_types]
    b = Build("ops", [(8 * i, 8) for i in range(len(arg_types) + len(cases))])
    shape = STEPS if wide else uniform(LANES)
    from anywarp.compiler.shapes import VARYING

    kind = VARYING if wide else uniform(LANES)
    index = b.thread(64) if wide else b.special("ctaid.x", uniform(LANES))

    def place(i, type):
        return b.place(b.param("i64", 8 * i), index, max(1, BITS[type] // 8), shape)

    args = []
    for i, (t, h) in enumerate(zip(arg_types, held, strict=True)):
        x = b.load(h, place(i, h), shape=kind)
        args.append(b.op("trunc", "i1", x, shape=kind) if t == "i1" else x)
    outs = []
    for j, (name, type, attrs, which_args) in enumerate(cases):
        value = b.op(name, type, *(args[k] for k in which_args), shape=kind, **attrs)
        if type == "i1":
            value = b.op("zext", "i8", value, shape=kind)
        b.store(place(len(arg_types) + j, "i8" if type == "i1" else type), value)
        outs.append(np.zeros_like(numpy_of("i8" if type == "i1" else type, [0] * count)))
    b.end("exit")
    arrays = [
        numpy_of(h, c)
        for h, c in zip(
            held, [[x & 1 for x in c] if t == "i1" else c for t, c in zip(arg_types, columns, strict=True)], strict=True
        )
    ]
    b.run(count // 64 if wide else count, 64 if wide else 32, [*arrays, *outs], target=target(which))
    return columns, [bits_of(c[1] if c[1] != "i1" else "i8", o, count) for c, o in zip(cases, outs, strict=True)]


@functools.cache
def expected(arg_types, columns, name, type, attrs, which_args):
    out = []
    model = Model()
    for first in range(0, len(columns[0]), LANES):
        args = [plain(arg_types[k], columns[k][first : first + LANES]) for k in which_args]
        method = getattr(model, name + "_" if name in ("and", "or", "not") else name)
        attrs_left = dict(attrs)
        if name in ("icmp", "fcmp"):
            result = method(attrs_left["predicate"], *args)
        elif name in ("trunc", "zext", "sext", "bitcast"):
            result = method(*args, type)
        elif name in ("fconvert", "int_to_float", "float_to_int"):
            result = method(*args, type, **attrs_left)
        else:
            result = method(*args, **attrs_left)
        out += result.lanes
    return out


def same(type, got, want):
    if got == want:
        return True
    return type in FORMAT and sf.is_nan(FORMAT[type], got) and sf.is_nan(FORMAT[type], want)


def check(arg_types, cases, which, wide, count=256):
    columns, results = run_cases(arg_types, cases, which, wide, count=count)
    wrong = []
    for case, got in zip(cases, results, strict=True):
        want = expected(tuple(arg_types), tuple(columns), case[0], case[1], tuple(case[2].items()), case[3])
        exact = case[0] in ("fneg", "fabs", "select", "bitcast")
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            if g != w and (exact or not same(case[1], g, w)):
                wrong.append((case[0], case[1], case[2], [hex(columns[k][i]) for k in case[3]], hex(g), hex(w)))
    assert not wrong, f"{len(wrong)} wrong: {wrong[:6]}"


QUICK = {("host", True), ("host", False), ("avx2", True)}
FORMS = [
    pytest.param(n, w, marks=[] if (n, w) in QUICK else [pytest.mark.slow]) for n in WITHOUT for w in (True, False)
]
pytestmark = pytest.mark.skipif(
    not {"+avx512bw", "+avx2"} <= set(host_cpu()[2].split(",")), reason="compares several vector sets"
)


def integer_cases(t):
    cases = [(n, t, {}, (0, 1)) for n in ("add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr")]
    cases += [(n, t, {}, (0,)) for n in ("not", "ctpop", "ctlz", "cttz", "bitreverse")]
    cases += [(n, t, {"signed": s}, (0, 1)) for n in ("mulhi", "div", "rem", "min", "max") for s in (True, False)]
    cases += [
        ("icmp", "i1", {"predicate": p}, (0, 1))
        for p in ["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"]
    ]
    cases += [("select", t, {}, (2, 0, 1))]
    cases += [("trunc", n, {}, (0,)) for n in ["i1", *INTS] if BITS[n] < BITS[t]]
    cases += [(how, n, {}, (0,)) for n in [*INTS, "i128"] if BITS[n] > BITS[t] for how in ("zext", "sext")]
    return cases


@pytest.mark.spread("which", "wide", count=2)
@pytest.mark.parametrize("which, wide", FORMS)
@pytest.mark.parametrize("type", INTS)
def test_integers(type, which, wide):
    check([type, type, "i1"], integer_cases(type), which, wide)


@pytest.mark.parametrize(
    "which, wide", [*((name, True) for name in (*WITHOUT, *WITHOUT_VNNI)), ("host", False), ("sse", False)]
)
def test_products_of_bytes(which, wide):
    t = "i32"
    signs = itertools.product((False, True), repeat=2)
    check([t, t, t], [("dot4", t, {"signed": each}, (0, 1, 2)) for each in signs], which, wide)


@pytest.mark.spread("which", "wide", count=2)
@pytest.mark.parametrize("which, wide", [("host", True), ("host", False), ("avx2", True)])
def test_128_bits(which, wide):
    t = "i128"
    cases = [(n, t, {}, (0, 1)) for n in ("add", "sub", "mul", "and", "or", "xor")]
    cases += [(n, t, {}, (0, 3)) for n in ("shl", "lshr", "ashr")]
    cases += [("icmp", "i1", {"predicate": p}, (0, 1)) for p in ("eq", "ult", "slt")]
    cases += [("select", t, {}, (2, 0, 1)), ("trunc", "i64", {}, (0,)), ("trunc", "i32", {}, (0,))]
    check([t, t, "i1", t], cases, which, wide, count=64)


@pytest.mark.spread("which", "wide", count=2)
@pytest.mark.parametrize("which, wide", FORMS)
def test_predicates(which, wide):
    t = "i1"
    cases = [(n, t, {}, (0, 1)) for n in ("and", "or", "xor")] + [("not", t, {}, (0,)), ("select", t, {}, (2, 0, 1))]
    cases += [("zext", n, {}, (0,)) for n in INTS] + [("sext", n, {}, (0,)) for n in INTS]
    check([t, t, t], cases, which, wide)


@pytest.mark.spread("which", "wide", count=2)
@pytest.mark.parametrize("which, wide", FORMS)
@pytest.mark.parametrize("type", FLOATS)
def test_float_arithmetic(type, which, wide):
    t = type
    roundings = DIRECTED if t in ("f32", "f64") else ["rn"]
    cases = [(n, t, {"rounding": r}, (0, 1)) for n in ("fadd", "fsub", "fmul", "fdiv") for r in roundings]
    cases += [("fma", t, {"rounding": r}, (0, 1, 2)) for r in roundings]
    cases += [("fsqrt", t, {"rounding": r}, (0,)) for r in roundings]
    check([t, t, t], cases, which, wide)


@pytest.mark.spread("which", "wide", count=2)
@pytest.mark.parametrize("which, wide", FORMS)
@pytest.mark.parametrize("type", FLOATS)
def test_other_float_operations(type, which, wide):
    t = type
    cases = [(n, t, {}, (0,)) for n in ("fneg", "fabs", "flush")]
    cases += [(n, t, {}, (0, 1)) for n in ("fmin", "fmax")]
    cases += [("fround", t, {"rounding": r}, (0,)) for r in DIRECTED]
    cases += [
        ("fcmp", "i1", {"predicate": p}, (0, 1))
        for p in ["oeq", "one", "olt", "ole", "ogt", "oge", "ueq", "une", "ult", "ule", "ugt", "uge", "ord", "uno"]
    ]
    cases += [("bitcast", f"i{BITS[t]}", {}, (0,)), ("select", t, {}, (2, 0, 1))]
    check([t, t, "i1"], cases, which, wide)


@pytest.mark.spread("which", "wide", count=2)
@pytest.mark.parametrize("which, wide", FORMS)
@pytest.mark.parametrize("type", FLOATS)
def test_float_conversions(type, which, wide):
    cases = [("fconvert", to, {"rounding": r}, (0,)) for to in FLOATS if to != type for r in DIRECTED]
    if BITS[type] > 16:
        cases += [("fconvert", to, {"rounding": "rna"}, (0,)) for to in ("f16", "bf16")]
    cases += [
        ("float_to_int", to, {"signed": s, "rounding": r}, (0,)) for to in INTS for s in (True, False) for r in DIRECTED
    ]
    check([type], cases, which, wide)


@pytest.mark.spread("which", "wide", count=2)
@pytest.mark.parametrize("which, wide", FORMS)
@pytest.mark.parametrize("type", INTS)
def test_integers_to_floats(type, which, wide):
    cases = [
        ("int_to_float", to, {"signed": s, "rounding": r}, (0,))
        for to in FLOATS
        for s in (True, False)
        for r in DIRECTED
    ]
    check([type], cases, which, wide)
