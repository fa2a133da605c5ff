"""Loads, stores, atomics, fences and addresses: what the meanings ask of the memory behind them."""

from __future__ import annotations

import struct

import pytest

from anywarp.ptx.isa.registry import expand
from semantics.evaluate import instructions
from semantics.warp import LANES, Warp


def run(text: str, **registers):
    warp = Warp()
    warp.memory[:] = bytes((7 * n + n // 256) & 0xFF for n in range(len(warp.memory)))
    for name, (ptx, lanes) in registers.items():
        warp.declare(f"%{name}", ptx, lanes)
    for i in instructions(text):
        expand(warp, i)
    return warp


ADDRESSES = [64 * n for n in range(LANES)]


@pytest.mark.parametrize(
    ("form", "register", "code", "signed"),
    [
        ("ld.global.u8", "b32", "B", False), ("ld.global.s8", "b32", "b", True), ("ld.shared.s8", "b16", "b", True),
        ("ld.global.u16", "b64", "H", False), ("ld.global.s16", "b32", "h", True), ("ld.global.b32", "f32", "I", False),
        ("ld.local.s32", "b64", "i", True), ("ld.u64", "b64", "Q", False), ("ld.const.f64", "f64", "Q", False),
        ("ld.volatile.shared.f32", "f32", "I", False), ("ld.acquire.gpu.global.u32", "b32", "I", False),
    ],
)  # fmt: skip
def test_a_load_extends_into_a_wider_register_by_its_type(form, register, code, signed):
    warp = run(f"{form} %d, [%a+4];", a=("b64", ADDRESSES), d=(register, None))
    width = {"b16": 16, "b32": 32, "f32": 32, "b64": 64, "f64": 64}[register]
    expected = [struct.unpack_from("<" + code, warp.memory, a + 4)[0] & ((1 << width) - 1) for a in ADDRESSES]
    assert warp.value("%d") == expected
    assert not signed or any(x >> (width - 1) for x in expected)


def test_vectors_load_and_store_adjacent_elements():
    warp = run(
        "ld.global.nc.v4.u16 {{%d0, %d1, %d2, %d3}}, [%a]; st.shared.v2.b32 [%a+16], {{%d3, %d0}}; ld.v2.f64 {{_, %e}}, [%a];",
        a=("b32", ADDRESSES), e=("f64", None), **{f"d{n}": ("b32", None) for n in range(4)},
    )  # fmt: skip
    for lane, a in enumerate(ADDRESSES):
        halves = struct.unpack_from("<4H", warp.memory, a)
        assert [warp.value(f"%d{n}")[lane] for n in range(4)] == list(halves)
        assert struct.unpack_from("<2I", warp.memory, a + 16) == (halves[3], halves[0])
        assert struct.unpack_from("<2Q", warp.memory, a)[1] == warp.value("%e")[lane]


def test_a_narrow_store_takes_the_low_bits_and_a_guarded_lane_does_not_store():
    warp = Warp()
    warp.guarded = 0x0F0F0F0F
    warp.declare("%a", "b64", ADDRESSES)
    warp.declare("%v", "b32", [0x11223300 + n for n in range(LANES)])
    for i in instructions("st.global.u8 [%a], %v; st.global.b16 [%a+2], 0xBEEF;"):
        expand(warp, i)
    for lane, a in enumerate(ADDRESSES):
        on = warp.guarded >> lane & 1
        assert warp.memory[a : a + 4] == (bytes([lane, 0, 0xEF, 0xBE]) if on else bytes(4))


@pytest.mark.parametrize(
    ("form", "space", "how"),
    [
        ("ld.u32", "generic", {"volatile": False, "order": "weak", "scope": "sys"}),
        ("ld.global.u32", "global", {"volatile": False, "order": "weak", "scope": "sys"}),
        ("ld.volatile.shared.u32", "shared", {"volatile": True, "order": "weak", "scope": "sys"}),
        ("ld.relaxed.gpu.u32", "generic", {"volatile": False, "order": "relaxed", "scope": "gpu"}),
        ("ld.acquire.cta.shared::cta.u32", "shared", {"volatile": False, "order": "acquire", "scope": "cta"}),
        ("ld.mmio.relaxed.sys.global.u32", "global", {"volatile": True, "order": "relaxed", "scope": "sys"}),
        ("ldu.global.u32", "global", {"volatile": False, "order": "weak", "scope": "sys"}),
    ],
)  # fmt: skip
def test_space_order_and_scope_of_a_load_reach_the_target(form, space, how):
    warp = run(f"{form} %d, [%a];", a=("b64", ADDRESSES), d=("b32", None))
    assert warp.log == [("load", space, "i32", 1, how)]


def test_release_stores_and_cache_policies():
    warp = run(
        "createpolicy.fractional.L2::evict_first.b64 %p, 1.0; st.release.gpu.global.u32 [%a], %d;"
        "st.global.L2::cache_hint.u32 [%a], %d, %p; ld.global.L2::cache_hint.L2::256B.u32 %d, [%a], %p; prefetch.global.L2 [%a];",
        a=("b64", ADDRESSES), d=("b32", None), p=("b64", [1] * LANES),
    )  # fmt: skip
    assert warp.value("%p") == [0] * LANES
    assert [(entry[0], entry[4]["order"]) for entry in warp.log] == [
        ("store", "release"),
        ("store", "weak"),
        ("load", "weak"),
    ]


def test_small_spaces_compute_addresses_in_32_bits():
    warp = run("ld.shared.u8 %d, [%a+16];", a=("b32", [0xFFFFFFF0 + n for n in range(LANES)]), d=("b32", None))
    assert warp.value("%d") == [warp.memory[n] for n in range(LANES)]


def test_a_named_parameter_lives_where_the_target_put_it():
    warp = Warp()
    warp.spaces = {"argument": "local"}
    warp.declare("%d", "b32")
    warp.declare("%a", "b64", [8] * LANES)
    warp.declare("argument", "b64", [16] * LANES)
    for i in instructions("ld.param.u32 %d, [argument+4]; ld.param.u32 %d, [%a];"):
        expand(warp, i)
    assert [entry[1] for entry in warp.log] == ["local", "param"]


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("atom.global.add.u32 %d, [%a], %d;", [("add", "global", "i32", "relaxed", "gpu", True)]),
        ("atom.add.f32 %f, [%a], %f;", [("fadd", "generic", "f32", "relaxed", "gpu", True)]),
        ("atom.shared.max.s32 %d, [%a], 5;", [("max", "shared", "i32", "relaxed", "gpu", True)]),
        ("atom.acq_rel.sys.global.min.u64 %l, [%a], %l;", [("umin", "global", "i64", "acq_rel", "sys", True)]),
        ("atom.global.inc.u32 %d, [%a], 5;", [("inc", "global", "i32", "relaxed", "gpu", True)]),
        ("atom.cas.b16 %h, [%a], %h, 1;", [("cas", "generic", "i16", "relaxed", "gpu", True)]),
        ("atom.global.add.noftz.f16x2 %d, [%a], %d;", [("fadd", "global", "f16", "relaxed", "gpu", True)] * 2),
        ("atom.add.noftz.bf16 %h, [%a], %h;", [("fadd", "generic", "bf16", "relaxed", "gpu", True)]),
        ("red.release.gpu.global.add.u32 [%a], %d;", [("add", "global", "i32", "release", "gpu", False)]),
        ("red.global.add.f64 [%a], 1.0;", [("fadd", "global", "f64", "relaxed", "gpu", False)]),
        ("red.global.add.v2.f32 [%a], {{%f, %f}};", [("fadd", "global", "f32", "relaxed", "gpu", False)] * 2),
        ("red.shared.and.b64 [%a], %l;", [("and", "shared", "i64", "relaxed", "gpu", False)]),
    ],
)  # fmt: skip
def test_atomics_reach_the_target_with_operation_type_order_and_scope(text, entries):
    registers = {
        "a": ("b64", ADDRESSES),
        "d": ("b32", None),
        "f": ("f32", None),
        "h": ("b16", None),
        "l": ("b64", None),
    }
    warp = run(text, **registers)
    found = [(e[1], e[2], e[3], e[4]["order"], e[4]["scope"], e[4]["returns"]) for e in warp.log]
    assert found == entries


def test_compare_and_swap_tells_whether_it_swapped():
    warp = Warp()
    warp.declare("%a", "b64", ADDRESSES)
    warp.declare("%b", "b32", range(LANES))
    warp.declare("%d", "b32")
    warp.declare("%p", "pred")
    for i in instructions("atom.global.cas.b32 %d|%p, [%a], %b, 9;"):
        expand(warp, i)
    assert (
        warp.value("%d") == list(range(LANES)) and warp.value("%p") == [1] * LANES
    )  # the stand-in returns what it compares


@pytest.mark.parametrize(
    ("form", "entry"),
    [
        ("membar.cta", ("fence", "sc", "cta")), ("membar.gl", ("fence", "sc", "gpu")), ("membar.sys", ("fence", "sc", "sys")),
        ("fence.acq_rel.gpu", ("fence", "acq_rel", "gpu")), ("fence.sc.sys", ("fence", "sc", "sys")),
        ("fence.acquire.cta", ("fence", "acquire", "cta")), ("fence.cta", ("fence", "acq_rel", "cta")),
    ],
)  # fmt: skip
def test_fences(form, entry):
    assert run(f"{form};").log == [entry]


def test_generic_addresses_go_through_the_target():
    warp = run(
        "cvta.global.u64 %b, %a; cvta.to.global.u64 %c, %b; isspacep.shared %p, %b; isspacep.shared %q, %a; mov.u64 %d, table+4;",
        a=("b64", ADDRESSES), b=("b64", None), c=("b64", None), d=("b64", None), p=("pred", None), q=("pred", None),
    )  # fmt: skip
    assert warp.value("%b") == [a + 0x1000 for a in ADDRESSES] and warp.value("%c") == ADDRESSES
    assert warp.value("%p") == [1] * LANES and warp.value("%q") == [0] * LANES
    assert warp.value("%d") == [0x104] * LANES


def test_effects_without_a_value():
    assert run("trap;").log == [("trap",)]
    log = run("nanosleep.u32 %a;", a=("b32", range(LANES))).log
    assert log == [("host_call", "nanosleep", [tuple(range(LANES))], None)]
    assert run("griddepcontrol.wait; pmevent 3;").log == []
