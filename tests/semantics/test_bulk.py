"""Bulk copies and reductions, asynchronous stores and clusters of one block, on the devices that run kernels."""

from __future__ import annotations

import random

import numpy as np
import pytest

from anywarp.check.conformance import exact
from anywarp.check.conformance.rows import draw, matches, number, wrap
from semantics.devices import DEVICES

BYTES = "mbarrier::complete_tx::bytes"
SIZE = 64
HEAD = """.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 source, .param .u64 target, .param .u64 results)
{
.reg .b16 %h<4>; .reg .b32 %r<12>; .reg .b64 %d<12>; .reg .b128 %q; .reg .pred %p<4>; .reg .f32 %f<4>;
.shared .align 16 .b8 a[512]; .shared .align 16 .b8 b[512]; .shared .align 8 .b64 bar;
ld.param.u64 %d0, [source]; ld.param.u64 %d1, [target]; ld.param.u64 %d2, [results];
mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 37; @%p0 bra END;
mbarrier.init.shared::cta.b64 [bar], 1;
"""
WAIT = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra WAIT; selp.u32 %r9, 1, 0, %p1; st.global.u32 [%d2], %r9;"
END = "\nEND: ret;\n}\n"


def run(device, body, source, target):
    results = np.zeros(4, np.uint32)
    DEVICES[device](HEAD + body + END, "k", 1, 50, (source, target, results))
    return results


def two_arrays(seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(1, 255, SIZE, np.uint8), rng.integers(1, 255, SIZE, np.uint8)


def expecting(size):
    return f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {size};"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("copy", "first", "last"),
    [
        (f"cp.async.bulk.shared::cta.global.{BYTES} [a], [%d0], 64, [bar];", 0, 64),
        (f"cp.async.bulk.weak.shared::cluster.global.{BYTES} [a+16], [%d0+16], 48, [bar];", 16, 64),
        (f"cp.async.bulk.shared::cluster.global.{BYTES}.multicast::cluster.L2::cache_hint [a], [%d0], 32, [bar], 1, %d5;", 0, 32),
        (f"cp.async.bulk.relaxed.gpu.shared::cta.global.{BYTES}.b128 [a], [%d0], 16, [bar];", 0, 16),
        (f"cp.async.bulk.shared::cta.global.{BYTES}.ignore_oob [a], [%d0], 64, 3, 5, [bar];", 3, 59),
        (f"cp.async.bulk.shared::cta.global.{BYTES} [b], [%d0], 64, [bar]; mbarrier.expect_tx.shared.b64 [bar], 32;"
         f"cp.async.bulk.shared::cluster.shared::cta.{BYTES} [a+32], [b+32], 32, [bar];", 32, 64),
    ],
)  # fmt: skip
def test_a_copy_into_shared_memory_is_counted(device, copy, first, last):
    source, target = two_arrays()
    before, size = target.copy(), int(copy.split(", ")[2].rstrip(";"))
    body = f"""mov.u64 %d5, 0; cp.async.bulk.prefetch.L2.global [%d0], 64;
    cp.async.bulk.shared::cta.global.{BYTES} [a], [%d1], 64, [bar]; mbarrier.expect_tx.shared.b64 [bar], 64;
    {expecting(size)} {copy} {WAIT}
    cp.async.bulk.global.shared::cta.bulk_group [%d1], [a], 64; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"""
    results = run(device, body, source, target)
    assert results[0] == 1
    expected = before.copy()
    expected[first:last] = source[first:last]
    assert target.tolist() == expected.tolist()


@pytest.mark.parametrize("device", DEVICES)
def test_a_masked_copy_leaves_the_other_bytes(device):
    source, target = two_arrays()
    before = target.copy()
    body = f"""cp.async.bulk.shared::cta.global.{BYTES} [a], [%d0], 64, [bar]; {expecting(64)} {WAIT}
    mov.b16 %h0, 0x8421; createpolicy.fractional.L2::evict_first.b64 %d5, 1.0;
    cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%d1], [a], 48, %d5, %h0; cp.async.bulk.wait_group 0;"""
    run(device, body, source, target)
    for n in range(SIZE):
        assert target[n] == (source[n] if n < 48 and 0x8421 >> n % 16 & 1 else before[n])


def integer(ptx, function):
    return lambda a, b: wrap(function(number(ptx, a), number(ptx, b)), int(ptx[1:]))


def updates():
    """Every reduction that the manual lists for global memory, and (True) for shared memory."""
    bits = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}
    for t in ("b32", "b64"):
        yield from ((f"{name}.{t}", t, f, t == "b32") for name, f in bits.items())
    for t in ("u32", "s32", "u64", "s64"):
        if t != "s64":
            yield f"add.{t}", t, integer(t, lambda a, b: a + b), True
        yield f"min.{t}", t, integer(t, min), t[1:] == "32"
        yield f"max.{t}", t, integer(t, max), t[1:] == "32"
    yield "inc.u32", "u32", lambda a, b: 0 if a >= b else a + 1, True
    yield "dec.u32", "u32", lambda a, b: b if a == 0 or a > b else a - 1, True
    for t in ("f32", "f64"):
        yield f"add.{t}", t, lambda a, b, f=exact.FORMATS[t]: exact.add(f, a, b), False
    for t in ("f16", "bf16"):
        f = exact.FORMATS[t]
        yield f"add.noftz.{t}", t, lambda a, b, f=f: exact.add(f, a, b), False
        yield f"min.{t}", t, lambda a, b, f=f: exact.minmax(f, min, a, b), False
        yield f"max.{t}", t, lambda a, b, f=f: exact.minmax(f, max, a, b), False


UPDATES = list(updates())


def elements(array, ptx):
    width = exact.FORMATS[ptx].width if ptx in exact.FORMATS else int(ptx[1:])
    data = array.tobytes()
    return [int.from_bytes(data[n : n + width // 8], "little") for n in range(0, len(data), width // 8)]


def drawn(ptx, seed):
    rng, width = random.Random(seed), exact.FORMATS[ptx].width if ptx in exact.FORMATS else int(ptx[1:])
    data = b"".join(draw(ptx, rng).to_bytes(width // 8, "little") for _ in range(SIZE * 8 // width))
    return np.frombuffer(data, np.uint8).copy()


def reductions(shared):
    """A kernel that reduces one array after the other, each into its own part of the target."""
    chosen = [u for u in UPDATES if u[3] or not shared]
    lines = [expecting(0).replace("arrive.expect_tx", "arrive").replace(", 0;", ";")] if not shared else []
    total = 0
    for n, (form, *_) in enumerate(chosen):
        lines.append(f"cp.async.bulk.shared::cta.global.{BYTES} [b], [%d0+{n * SIZE}], {SIZE}, [bar];")
        total += SIZE
        if shared:
            lines.append(f"cp.async.bulk.shared::cta.global.{BYTES} [a], [%d1+{n * SIZE}], {SIZE}, [bar];")
            lines.append(f"cp.reduce.async.bulk.shared::cluster.shared::cta.{BYTES}.{form} [a], [b], {SIZE}, [bar];")
            lines.append(f"cp.async.bulk.global.shared::cta.bulk_group [%d1+{n * SIZE}], [a], {SIZE};")
            total += 2 * SIZE
        else:
            hint, policy = (".L2::cache_hint", ", %d5") if n % 2 else ("", "")
            lines.append(
                f"cp.reduce.async.bulk.global.shared::cta.bulk_group{hint}.{form} [%d1+{n * SIZE}], [b], {SIZE}{policy};"
            )
    return chosen, "mov.u64 %d5, 0;\n" + "\n".join(lines) + f"\n{expecting(total) if shared else ''}"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shared", [False, True])
def test_bulk_reductions_update_every_element(device, shared):
    chosen, body = reductions(shared)
    source = np.concatenate([drawn(t, f"{form} source") for form, t, *_ in chosen])
    target = np.concatenate([drawn(t, f"{form} target") for form, t, *_ in chosen])
    before = target.copy()
    results = run(device, body + (WAIT if shared else ""), source, target)
    assert not shared or results[0] == 1
    for n, (form, t, f, _) in enumerate(chosen):
        part = slice(n * SIZE, (n + 1) * SIZE)
        for old, value, new in zip(*(elements(x[part], t) for x in (before, source, target)), strict=True):
            assert matches(f(old, value), new), (form, hex(old), hex(value), hex(new))


@pytest.mark.parametrize("device", DEVICES)
def test_asynchronous_stores_and_reductions_are_counted(device):
    source, target = two_arrays()
    words = source.view(np.uint32)
    body = f"""ld.global.v4.b32 {{%r1, %r2, %r3, %r4}}, [%d0]; ld.global.v2.b64 {{%d3, %d4}}, [%d0+16];
    mov.b128 %q, {{%d3, %d4}}; mov.u64 %d6, b; cvta.shared.u64 %d6, %d6; mov.u64 %d7, bar; cvta.shared.u64 %d7, %d7;
    st.shared.v4.b32 [b+32], {{%r1, %r2, %r3, %r4}}; st.bulk.weak.shared::cta [b+48], 16, 0;
    {expecting(4 + 16 + 16 + 16 + 4 + 8)}
    st.async.shared::cluster.{BYTES}.b32 [a], %r2, [bar];
    st.async.weak.shared::cluster.{BYTES}.v4.b32 [b], {{%r4, %r3, %r2, %r1}}, [bar];
    st.async.{BYTES}.v2.b64 [%d6+16], {{%d4, %d3}}, [%d7];
    st.async.shared::cluster.{BYTES}.b128 [a+16], %q, [bar];
    red.async.relaxed.cluster.{BYTES}.shared::cluster.add.u32 [b+32], %r3, [bar];
    red.async.relaxed.cluster.{BYTES}.add.u64 [%d6+40], %d3, [%d7];
    {WAIT}
    st.async.release.gpu.global.b32 [%d2+4], %r1; red.async.release.sys.global.add.u32 [%d2+4], 5;
    ld.shared.b32 %r5, [a]; st.global.u32 [%d2+8], %r5; ld.shared.b32 %r5, [a+28]; st.global.u32 [%d2+12], %r5;
    cp.async.bulk.global.shared::cta.bulk_group [%d1], [b], 64;"""
    results = run(device, body, source, target)
    assert results.tolist() == [1, (int(words[0]) + 5) & 0xFFFFFFFF, words[1], words[7]]
    found = target.view(np.uint32)
    assert found[:8].tolist() == [words[3], words[2], words[1], words[0], words[6], words[7], words[4], words[5]]
    assert found[8] == (int(words[0]) + int(words[2])) & 0xFFFFFFFF and found[9] == words[1]
    wide = source.view(np.uint64)
    assert target.view(np.uint64)[5] == (int(wide[1]) + int(wide[2])) & 0xFFFFFFFFFFFFFFFF
    assert found[12:].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("device", DEVICES)
def test_a_cluster_is_one_block_and_none_can_be_taken_over(device):
    source, target = two_arrays()
    body = f"""mov.u32 %r1, a; mapa.shared::cluster.u32 %r2, %r1, 0; sub.u32 %r3, %r2, %r1;
    getctarank.shared::cluster.u32 %r4, %r2; add.u32 %r3, %r3, %r4;
    mov.u64 %d5, a; cvta.shared.u64 %d5, %d5; mapa.u64 %d6, %d5, 0; sub.u64 %d6, %d6, %d5; cvt.u32.u64 %r5, %d6; add.u32 %r3, %r3, %r5;
    getctarank.u64 %r4, %d5; add.u32 %r3, %r3, %r4; mov.u32 %r4, %cluster_nctarank; add.u32 %r3, %r3, %r4;
    st.shared.v4.b32 [a], {{%r1, %r2, %r3, %r0}}; {expecting(16)}
    clusterlaunchcontrol.try_cancel.async.shared::cta.{BYTES}.b128 [a], [bar]; {WAIT}
    mbarrier.init.shared::cta.b64 [bar], 1; {expecting(16)}
    clusterlaunchcontrol.try_cancel.async.shared::cta.{BYTES}.multicast::cluster::all.b128 [a], [bar]; {WAIT.replace("WAIT", "AGAIN")}
    ld.shared.b128 %q, [a]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q; selp.u32 %r6, 1, 2, %p2;
    @%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {{%r6, %r7, %r8, %r9}}, %q;
    @%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r6, %q;
    @%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r6, %q;
    @%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r6, %q;
    st.global.v2.u32 [%d2+8], {{%r3, %r6}};"""
    assert run(device, body, source, target).tolist() == [1, 0, 1, 2]


STORED = ("b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64")
SCOPES = ("cta", "cluster", "gpu", "sys")


@pytest.mark.parametrize("device", DEVICES)
def test_asynchronous_accesses_of_every_type(device):
    """Stores with release order, counted stores and reductions, copies of every scope: one element after the other."""
    source, target = two_arrays()
    target = np.zeros(64 * 40, np.uint8)
    lines, wanted = (
        ["ld.global.b64 %d3, [%d0]; ld.global.b32 %r1, [%d0]; cvt.u16.u32 %h0, %r1; mov.f32 %f0, 0f3FC00000;"],
        {},
    )
    lines.append(".reg .f64 %g0; mov.f64 %g0, 0d4004000000000000;")
    words = source.view(np.uint32)
    for n, t in enumerate(STORED):
        width = int(t[1:]) // 8
        name = {"f32": "%f0", "f64": "%g0"}.get(t) or {1: "%h0", 2: "%h0", 4: "%r1", 8: "%d3"}[width]
        form = f"st.async{'.mmio' if n % 2 else ''}.release.{SCOPES[2 + n % 2]}{'.global' if n % 3 else ''}.{t}"
        lines.append(f"{form} [%d1+{64 * n}], {name};")
        number = {"f32": 0x3FC00000, "f64": 0x4004000000000000}.get(t)
        wanted[64 * n] = (number if number is not None else int(source.view(np.uint64)[0]), width)
    counted = 0
    for n, t in enumerate(x for x in STORED if x[1:] in ("32", "64")):
        name = {"f32": "%f0", "f64": "%g0"}.get(t) or ("%r1" if t[1:] == "32" else "%d3")
        at, width = 8 * n, int(t[1:]) // 8
        lines.append(f"st.async.shared::cta.{BYTES}.{t} [a+{at}], {name}, [bar];")
        lines.append(
            f"ld.shared.b{8 * width} %{'r5' if width == 4 else 'd5'}, [a+{at}]; st.global.b{8 * width} [%d1+{64 * (n + 14)}], %{'r5' if width == 4 else 'd5'};"
        )
        number = {"f32": 0x3FC00000, "f64": 0x4004000000000000}.get(t)
        wanted[64 * (n + 14)] = (number if number is not None else int(source.view(np.uint64)[0]), width)
        counted += width
    lines.append("mov.b32 %r2, 100; st.shared.b32 [b], %r2; mov.b64 %d4, 100; st.shared.b64 [b+8], %d4;")
    value = 100
    for op, t in [("add", "u32"), ("add", "s32"), ("min", "u32"), ("max", "s32"), ("and", "b32"), ("or", "b32"), ("xor", "b32"),
                  ("inc", "u32"), ("dec", "u32"), ("min", "s32"), ("max", "u32")]:  # fmt: skip
        lines.append(f"red.async.relaxed.cluster.{BYTES}.shared::cta.{op}.{t} [b], 77, [bar];")
        value = {"add": value + 77, "min": min(value, 77), "max": max(value, 77), "and": value & 77, "or": value | 77, "xor": value ^ 77,
                 "inc": 0 if value >= 77 else value + 1, "dec": 77 if value in (0, *range(78, 999)) else value - 1}[op]  # fmt: skip
        counted += 4
    for t in ("u64", "s64"):
        lines.append(f"red.async.relaxed.cluster.{BYTES}.shared::cluster.add.{t} [b+8], 900, [bar];")
        counted += 8
    lines.append(
        "ld.shared.b32 %r5, [b]; st.global.b32 [%d1+2304], %r5; ld.shared.b64 %d5, [b+8]; st.global.b64 [%d1+2368], %d5;"
    )
    wanted |= {2304: (value, 4), 2368: (1900, 8)}
    for n, t in enumerate(("u32", "s32", "u64", "s64")):
        lines.append(
            f"red.async{'.mmio' if n % 2 else ''}.release.gpu{'.global' if n < 2 else ''}.add.{t} [%d1+{2432 + 16 * n}], 9;"
        )
        wanted[2432 + 16 * n] = (9, int(t[1:]) // 8)
    for scope in SCOPES:
        lines.append(f"cp.async.bulk.relaxed.{scope}.shared::cta.global.{BYTES}.b128 [a], [%d0], 16, [bar];")
        lines.append(f"cp.async.bulk.relaxed.{scope}.shared::cluster.global.{BYTES}.b128 [a+16], [%d0], 16, [bar];")
        lines.append(f"cp.reduce.async.bulk.relaxed.{scope}.global.shared::cta.bulk_group.xor.b32 [%d1+2496], [a], 16;")
        counted += 32
    lines.append(f"cp.async.bulk.relaxed.cluster.shared::cluster.shared::cta.{BYTES}.b128 [a+32], [a+16], 16, [bar];")
    lines.append("cp.async.bulk.relaxed.sys.global.shared::cta.bulk_group.b128 [%d1+2512], [a+32], 16;")
    wanted |= {2496: (0, 8), 2512: (int(source.view(np.uint64)[0]), 8)}
    counted += 16
    lines.append(f"{expecting(counted)} {WAIT}")
    results = run(device, "\n".join(lines), source, target)
    assert results[0] == 1 and len(words) == 16
    for at, (number, width) in wanted.items():
        found = int.from_bytes(target[at : at + 8].tobytes(), "little")
        assert found == number & (1 << 8 * width) - 1, (at, hex(found))


CLUSTER = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<8>; .reg .b64 %d<4>; .shared .align 4 .b8 words[512];
ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, words; mad.lo.u32 %r2, %r0, 4, %r1; mul.lo.u32 %r3, %r0, 3;
st.shared.u32 [%r2], %r3; barrier.cluster.arrive; mul.lo.u32 %r3, %r0, 5; barrier.cluster.wait;
xor.b32 %r4, %r0, 64; mad.lo.u32 %r5, %r4, 4, %r1; ld.shared.u32 %r6, [%r5];
barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
st.shared.u32 [%r2], %r3; barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire; ld.shared.u32 %r7, [%r5];
mul.wide.u32 %d1, %r0, 8; add.u64 %d0, %d0, %d1; st.global.v2.u32 [%d0], {%r6, %r7};
ret;
}
"""


@pytest.mark.parametrize("device", DEVICES)
def test_the_threads_of_a_cluster_wait_for_each_other(device):
    out = np.zeros((128, 2), np.uint32)
    DEVICES[device](CLUSTER, "k", 1, 128, (out,))
    assert out.tolist() == [[3 * (n ^ 64), 5 * (n ^ 64)] for n in range(128)]
