"""Qualifiers that must not change what is computed: spaces, orders, scopes, cache operators, hints; and every special register.

Each kernel uses a whole family of forms, one after the other, on data of which every element is different.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from semantics.devices import DEVICES

THREADS = 40
HEAD = """.version 8.8
.target sm_100
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .align 16 .b8 given[256])
{
.reg .b8 %c<2>; .reg .b16 %h<8>; .reg .b32 %r<20>; .reg .b64 %d<12>, %in, %out, %sh, %lo; .reg .b128 %q; .reg .f32 %f<8>; .reg .f64 %g<8>; .reg .pred %p<4>;
.shared .align 32 .b8 block[10240]; .local .align 32 .b8 own[256];
mov.u32 %r10, %tid.x; mul.wide.u32 %d10, %r10, 256;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; add.u64 %in, %in, %d10;
cvt.u32.u64 %r11, %d10; mov.u32 %r12, block; add.u32 %r11, %r12, %r11; mov.u32 %r12, own;
mul.wide.u32 %d10, %r10, SLOTS; add.u64 %out, %out, %d10; mov.u64 %d11, 0;
"""
FILL = "".join(
    f"ld.global.v2.b64 {{%d0, %d1}}, [%in+{n}]; st.shared.v2.b64 [%r11+{n}], {{%d0, %d1}}; st.local.v2.b64 [%r12+{n}], {{%d0, %d1}};\n"
    for n in range(0, 256, 16)
)
REGISTER = {8: "h", 16: "h", 32: "r", 64: "d", "f32": "f", "f64": "g", 128: "q"}
DATA = np.arange(THREADS * 64, dtype=np.uint32).reshape(THREADS, 64) * 2654435761 % 4294967291
TYPES = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64".split()
SCOPES = ("cta", "cluster", "gpu", "sys")


def dotted(*parts):
    return ".".join(p for p in parts if p)


def operand(ptx, vector):
    width = int(ptx.lstrip("busf"))
    letter = REGISTER.get(ptx) or REGISTER[width]
    if letter == "q":
        return "%q"
    return "{" + ", ".join(f"%{letter}{n}" for n in range(vector)) + "}" if vector > 1 else f"%{letter}0"


def base(space):
    if space.startswith("shared"):
        return "%r11"
    return {"local": "%r12", "global": "%in", "const": "%in", "": "%in", "param": "given", "param::entry": "given"}[
        space
    ]


CACHES = ("", "ca", "cg", "cs", "lu", "cv", "nc")
L1 = ("", "L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate")
L2 = ("", "L2::evict_normal", "L2::evict_first", "L2::evict_last")
PREFETCH = ("", "L2::64B", "L2::128B", "L2::256B")


def loads():
    """(form, space, type, vector, whether a policy follows)"""
    for n, (ptx, vector) in enumerate(itertools.product(TYPES, (1, 2, 4, 8))):
        if int(ptx[1:]) * vector <= 256 and (vector < 8 or ptx[1:] == "32"):
            for space in (
                ("global", "shared", "local", "")[n % 2 :: 2]
                if vector > 1
                else ("global", ("shared", "local", "")[n % 3])
            ):
                if int(ptx[1:]) * vector <= 128 or space == "global":
                    yield dotted("ld", space, f"v{vector}" if vector > 1 else "", ptx), space, ptx, vector, False
    for n, (space, cache) in enumerate(itertools.product(("global", ""), CACHES)):
        if cache != "nc" or space:
            yield dotted("ld", "weak" if n % 2 and cache != "nc" else "", space, cache, "u32"), space, "u32", 1, False
    for space in ("shared::cta", "shared::cluster", "param", "param::entry"):
        yield dotted("ld", space, "b32"), space, "b32", 1, False
    for order, scope in itertools.product(("relaxed", "acquire"), SCOPES):
        for space in ("", "global", "shared", "shared::cta", "shared::cluster"):
            yield dotted("ld", order, scope, space, "v2.u32"), space, "u32", 2, False
    for space in ("", "global", "shared", "local"):
        yield dotted("ld.volatile", space, "s32"), space, "s32", 1, False
    yield from (
        ("ld.mmio.relaxed.sys.global.u32", "global", "u32", 1, False),
        ("ldu.global.v4.f32", "global", "f32", 4, False),
    )
    yield "ld.global.nc.v2.b64", "global", "b64", 2, False
    yield "ld.b128", "", "b128", 1, False
    yield "ld.shared.b128", "shared", "b128", 1, False
    for n, (l1, l2) in enumerate(itertools.product(L1, L2)):
        hint = n % 3 == 0
        order = ("", "weak", "relaxed.gpu", "acquire.cta")[n % 4]
        form = dotted(
            "ld",
            order,
            "global",
            "nc" if n % 8 == 1 else "",
            l1,
            l2,
            "L2::cache_hint" if hint else "",
            PREFETCH[n % 4],
            "u32",
        )
        yield form, "global", "u32", 1, hint


def expected_words(row, ptx, vector, at):
    """What the slot of a load holds: the destination registers, stored as 64 bits each."""
    width = int(ptx[1:]) // 8
    data = row.tobytes()[at : at + width * vector]
    if ptx == "b128":
        return [int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little")]
    return [int.from_bytes(data[n : n + width], "little") for n in range(0, len(data), width)]


def aligned(array):
    """A copy at a multiple of 64 bytes, as device memory is."""
    room = np.zeros(array.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def run(device, body, slots, given=bytes(256)):
    out = aligned(np.zeros((THREADS, slots, 8), np.uint64))
    text = HEAD.replace("SLOTS", str(slots * 64)) + body + "ret;\n}\n"
    DEVICES[device](text, "k", 1, THREADS, (aligned(DATA.astype(np.uint32)), out, given))
    return out


PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_every_load_reads_what_is_there(device, part):
    cases = list(loads())[part::PARTS]
    lines = []
    for n, (form, space, ptx, vector, hint) in enumerate(cases):
        at = 32 * (n % 7)
        target = operand(ptx, vector)
        lines.append(f"{form} {target}, [{base(space)}+{at}]{', %d11' if hint else ''};")
        if target == "%q":
            lines.append(f"mov.b128 {{%d0, %d1}}, %q; st.global.v2.b64 [%out+{64 * n}], {{%d0, %d1}};")
            continue
        names = target.strip("{}").split(", ")
        size = {"h": 16, "r": 32, "d": 64, "f": 32, "g": 64}[names[0][1]]
        lines += [f"st.global.b{size} [%out+{64 * n + 8 * k}], {name};" for k, name in enumerate(names)]
    out = run(device, FILL + "\n".join(lines), len(cases), DATA[3].astype(np.uint32).tobytes())
    for n, (form, space, ptx, vector, _) in enumerate(cases):
        width = min(max(16, int(ptx[1:])), 64)
        for thread in range(THREADS):
            row = DATA[3 if space.startswith("param") else thread].astype(np.uint32)
            wanted = expected_words(row, ptx, vector, 32 * (n % 7))
            if ptx == "s8":
                wanted = [w - 256 & 0xFFFF if w > 127 else w for w in wanted]
            assert [int(x) & (1 << width) - 1 for x in out[thread, n, : len(wanted)]] == wanted, (form, thread)


def stores():
    for ptx, vector in itertools.product(TYPES, (1, 2, 4, 8)):
        if int(ptx[1:]) * vector <= 256 and (vector < 8 or ptx[1:] == "32"):
            yield dotted("st", "global", f"v{vector}" if vector > 1 else "", ptx), ptx, vector, False
    for cache in ("", "wb", "cg", "cs", "wt"):
        yield dotted("st", "weak", "global", cache, "b32"), "b32", 1, False
        yield dotted("st", cache, "b32"), "b32", 1, False
    for order, scope, space in itertools.product(("relaxed", "release"), SCOPES, ("", "global")):
        yield dotted("st", order, scope, space, "v2.b32"), "b32", 2, False
    yield from (("st.volatile.global.u32", "u32", 1, False), ("st.mmio.relaxed.sys.global.u32", "u32", 1, False))
    yield from (("st.volatile.v4.u32", "u32", 4, False), ("st.global.b128", "b128", 1, False))
    for n, (l1, l2) in enumerate(itertools.product(L1, L2)):
        order = ("", "weak", "relaxed.sys", "release.gpu")[n % 4]
        form = dotted(
            "st",
            order,
            "global",
            "" if "no_alloc" in l1 and n % 2 else l1,
            l2,
            "L2::cache_hint" if n % 3 else "",
            "u32",
        )
        yield form, "u32", 1, n % 3 != 0


@pytest.mark.parametrize("device", DEVICES)
def test_every_store_writes_its_bytes_and_no_others(device):
    cases = list(stores())
    lines = [
        f"ld.global.b64 %d{n}, [%in+{8 * n}]; cvt.u32.u64 %r{n}, %d{n}; cvt.u16.u64 %h{n}, %d{n};" for n in range(8)
    ]
    lines += [f"ld.global.f32 %f{n}, [%in+{8 * n}]; ld.global.f64 %g{n}, [%in+{8 * n}];" for n in range(8)]
    lines.append("ld.global.b128 %q, [%in];")
    for n, (form, ptx, vector, hint) in enumerate(cases):
        lines.append(f"{form} [%out+{64 * n}], {operand(ptx, vector)}{', %d11' if hint else ''};")
    out = run(device, "\n".join(lines), len(cases))
    for n, (form, ptx, vector, _) in enumerate(cases):
        for thread in range(THREADS):
            row = DATA[thread].astype(np.uint32).tobytes()
            width = int(ptx[1:]) // 8
            wanted = b"".join(row[8 * k : 8 * k + width] for k in range(vector)).ljust(64, b"\0")
            assert out[thread, n].tobytes() == wanted, (form, thread)


def test_local_and_shared_stores_keep_to_their_space():
    body = FILL + "st.local.v4.b32 [%r12], {%r10, %r11, %r12, %r10}; st.shared::cta.v2.b64 [%r11+16], {%d10, %d11};"
    body += "ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%r11]; ld.local.v4.b32 {%r4, %r5, %r6, %r7}, [%r12+16];"
    body += "st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3}; st.global.v4.b32 [%out+16], {%r4, %r5, %r6, %r7};"
    for device in DEVICES:
        out = run(device, body, 1)[:, 0].view(np.uint32)
        assert (out[:, :8] == DATA[:, :8]).all()


ORDERS = ("", "relaxed", "acquire", "release", "acq_rel")


@pytest.mark.parametrize("device", DEVICES)
def test_atomics_of_every_order_scope_and_space(device):
    forms = list(itertools.product(ORDERS, ("", *SCOPES), ("", "global", "shared", "shared::cta", "shared::cluster")))
    lines = [f"st.shared.u32 [%r11+{4 * n}], %r10;" for n in range(64)]
    for n, (order, scope, space) in enumerate(forms):
        hint = n % 2 and space in ("", "global")
        place = f"[%r11+{4 * (n % 64)}]" if space.startswith("shared") else f"[%out+{64 * n + 4}]"
        tail = ("L2::cache_hint", ", %d11") if hint else ("", "")
        lines.append(f"{dotted('atom', order, scope, space, 'add', tail[0], 'u32')} %r0, {place}, 5{tail[1]};")
        if order not in ("acquire", "acq_rel"):
            lines.append(f"{dotted('red', order, scope, space, 'add', tail[0], 'u32')} {place}, 7{tail[1]};")
            lines.append(f"sub.u32 %r1, %r0, 0; ld{'.shared' if space.startswith('shared') else ''}.u32 %r2, {place};")
        else:
            lines.append(
                f"mov.u32 %r1, %r0; ld{'.shared' if space.startswith('shared') else ''}.u32 %r2, {place}; add.u32 %r2, %r2, 7;"
            )
        lines.append(f"sub.u32 %r2, %r2, %r1; st.global.u32 [%out+{64 * n}], %r2;")
    out = run(device, "\n".join(lines), len(forms)).view(np.uint32)
    assert (out.reshape(THREADS, len(forms), 16)[:, :, 0] == 12).all()


HARMLESS = [
    *(dotted("fence", order, scope) for order in ("", "sc", "acq_rel", "acquire", "release") for scope in SCOPES),
    *(f"fence.proxy.{p}" for p in ("alias", "async", "async.global", "async.shared::cta", "async.shared::cluster")),
    "membar.cta", "membar.gl", "membar.sys", "membar.proxy.alias", "fence.mbarrier_init.release.cluster",
    "fence.acquire.sync_restrict::shared::cluster.cluster", "fence.release.sync_restrict::shared::cta.cluster",
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
    *(f"fence.proxy.tensormap::generic.release.{s}" for s in SCOPES),
    *(f"fence.proxy.tensormap::generic.acquire.{s} [%in], 128" for s in SCOPES),
    "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster", "fence.proxy.alias.acquire.sys",
    "fence.proxy.generic::fabric.alias.acquire.sys", "fence.proxy.fabric::generic.alias.release.sys", "fence.proxy.fabric::fabric.alias.release.sys",
    "griddepcontrol.wait", "griddepcontrol.launch_dependents", "pmevent 3", "pmevent.mask 7",
    "setmaxnreg.inc.sync.aligned.u32 64", "setmaxnreg.dec.sync.aligned.u32 32", "nanosleep.u32 20",
    *(f"prefetch{space}.{level} [%in]" for space in ("", ".global") for level in ("L1", "L2")),
    "prefetch.local.L1 [%r12]", "prefetch.global.L2::evict_last [%in]", "prefetch.global.L2::evict_normal [%in]", "prefetchu.L1 [%in]",
    "prefetch.tensormap [%in]", "prefetch.param.tensormap [given]", "prefetch.const.tensormap [%in]",
    "applypriority.global.L2::evict_normal [%in], 128", "applypriority.L2::evict_normal [%in], 128", "cp.async.wait_all",
    "cp.async.commit_group", "cp.async.wait_group 0",
    *(
        f"createpolicy.fractional.{first}{'.' + second if second else ''}.b64 %d5, 0.5"
        for first in ("L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged")
        for second in ("", "L2::evict_first", "L2::evict_unchanged")
    ),
    *(f"createpolicy.range{g}.{p}.L2::evict_unchanged.b64 %d5, [%in], 128, 256" for g in ("", ".global") for p in ("L2::evict_last", "L2::evict_first")),
    "createpolicy.range.L2::evict_normal.b64 %d5, [%in], 128, 256", "createpolicy.range.L2::evict_unchanged.b64 %d5, [%in], 128, 256",
    "createpolicy.cvt.L2.b64 %d5, 0x10000001",
    *(f"cp.async.{c}.{s}.global{h}{p} [%r11], [%in], 16{', %d11' if h else ''}" for c in ("ca", "cg") for s in ("shared", "shared::cta")
      for h in ("", ".L2::cache_hint") for p in ("", ".L2::64B", ".L2::128B", ".L2::256B")),
]  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
def test_hints_and_fences_change_no_data(device):
    body = FILL + ";\n".join(HARMLESS) + ";\n"
    body += "ld.global.nc.u32 %r0, [%in].unified; ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%r11]; st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};"
    body += "ld.local.v4.b32 {%r0, %r1, %r2, %r3}, [%r12+32]; st.global.v4.b32 [%out+16], {%r0, %r1, %r2, %r3};"
    body += "discard.global.L2 [%out+128], 128; discard.L2 [%out+128], 128;"
    out = run(device, body, 4)[:, 0].view(np.uint32)
    assert (out[:, :4] == DATA[:, :4]).all() and (out[:, 4:8] == DATA[:, 8:12]).all()


CALL = """.version 8.8
.target sm_90
.address_size 64
.func (.param .b32 result) twice(.param .align 8 .b8 pair[8])
{
.reg .b32 %r<4>;
ld.param::func.v2.b32 {%r0, %r1}, [pair]; mad.lo.u32 %r2, %r0, 2, %r1; st.param::func.b32 [result], %r2;
ret;
}
.visible .entry k(.param .u64 out, .param .u32 given)
{
.reg .b32 %r<4>; .reg .b64 %d<4>;
ld.param::entry.u64 %d0, [out]; ld.param.u32 %r3, [given]; mov.u32 %r0, %tid.x;
{ .param .align 8 .b8 a[8]; .param .b32 b;
st.param.b32 [a], %r0; st.param::func.b32 [a+4], %r3;
call.uni (b), twice, (a);
ld.param::func.b32 %r1, [b]; }
mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r1;
ret;
}
"""


@pytest.mark.parametrize("device", DEVICES)
def test_parameters_of_functions_and_kernels_by_their_full_names(device):
    out = np.zeros(40, np.uint32)
    DEVICES[device](CALL, "k", 1, 40, (out, np.uint32(1000)))
    assert out.tolist() == [1000 + 2 * n for n in range(40)]


SPACES = ("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry")


@pytest.mark.parametrize("device", DEVICES)
def test_generic_addresses_know_their_space(device):
    """A generic address belongs to its own space (and, for shared memory, to its sub-spaces); converting back gives it again."""
    body, wanted = FILL, []
    for own, address in (("shared", "%r11"), ("local", "%r12")):
        for space in (s for s in SPACES if s.partition("::")[0] == own):
            body += f"cvt.u64.u32 %d0, {address}; cvta.{space}.u64 %d1, %d0; cvta.to.{space}.u64 %d2, %d1; cvt.u32.u64 %r0, %d2;"
            body += f"sub.u32 %r0, %r0, {address}; ld.u32 %r1, [%d1]; ld.global.u32 %r2, [%in]; sub.u32 %r1, %r1, %r2; or.b32 %r0, %r0, %r1;"
            body += f"st.global.u32 [%out+{4 * len(wanted)}], %r0;\n"
            wanted.append(0)
        for space in ("global", "shared", "shared::cta", "shared::cluster", "local"):
            body += (
                f"isspacep.{space} %p0, %d1; selp.u32 %r0, 1, 0, %p0; st.global.u32 [%out+{4 * len(wanted)}], %r0;\n"
            )
            wanted.append(int(space.partition("::")[0] == own))
    body += "cvta.to.global.u64 %d0, %in; cvta.global.u64 %d0, %d0; sub.u64 %d0, %d0, %in; cvt.u32.u64 %r0, %d0;"
    body += f"st.global.u32 [%out+{4 * len(wanted)}], %r0; cvta.to.const.u64 %d0, %in; cvta.const.u64 %d0, %d0; cvta.global.u32 %r1, %r10;"
    wanted.append(0)
    for space in ("shared", "local", "const", "param", "param::entry", "global"):
        body += f"isspacep.{space} %p0, %in; selp.u32 %r0, 1, 0, %p0; st.global.u32 [%out+{4 * len(wanted)}], %r0;\n"
        wanted.append(None if space == "const" else int(space == "global"))
    found = run(device, body, 4).view(np.uint32).reshape(THREADS, -1)
    for row in found:
        assert all(w is None or w == x for w, x in zip(wanted, row.tolist(), strict=False)), row[: len(wanted)]


REGISTERS = {
    **{f"tid.{a}": n for n, a in enumerate("xyz")}, "laneid": 3, "warpid": 4, "lanemask_eq": 5, "lanemask_le": 6, "lanemask_lt": 7,
    "lanemask_ge": 8, "lanemask_gt": 9,
}  # fmt: skip
FIXED = {
    "ntid.x": 5, "ntid.y": 4, "ntid.z": 2, "nctaid.x": 2, "nctaid.y": 3, "nctaid.z": 1, "nwarpid": 2, "clusterid.x": None, "nclusterid.x": 2,
    "nclusterid.y": 3, "nclusterid.z": 1, "cluster_ctaid.x": 0, "cluster_ctaid.y": 0, "cluster_ctaid.z": 0, "cluster_nctaid.x": 1,
    "cluster_nctaid.y": 1, "cluster_nctaid.z": 1, "cluster_ctarank": 0, "cluster_nctarank": 1, "smid": None, "nsmid": None, "clock": None,
    "clock_hi": None, "globaltimer_lo": None, "globaltimer_hi": None, "total_smem_size": None, "aggr_smem_size": None, "dynamic_smem_size": 0,
    "ctaid.x": None, "ctaid.y": None, "ctaid.z": 0, "clusterid.y": None, "clusterid.z": 0, **{f"envreg{n}": None for n in range(32)},
    **{f"pm{n}": None for n in range(8)}, **{f"reserved_smem_offset_{w}": None for w in ("begin", "end", "cap", "0", "1")},
}  # fmt: skip
WIDE = ["clock64", "globaltimer", "gridid", "current_graph_exec", *(f"pm{n}_64" for n in range(8))]


def test_every_special_register_is_listed():
    from anywarp.ptx.isa.special_registers import SPECIAL

    assert {*REGISTERS, *FIXED, *WIDE, "is_explicit_cluster"} == set(SPECIAL)


@pytest.mark.parametrize("device", DEVICES)
def test_special_registers_say_where_a_thread_is(device):
    names = [*REGISTERS, *FIXED]
    size = 4 * len(names) + 8 * len(WIDE) + 8
    lines = [f"mov.u32 %r0, %{name}; st.global.u32 [%out+{4 * n}], %r0;" for n, name in enumerate(names)]
    lines += [
        f"mov.u64 %d0, %{name}; st.global.b64 [%out+{4 * len(names) + 8 * n}], %d0;" for n, name in enumerate(WIDE)
    ]
    lines.append(f"mov.pred %p0, %is_explicit_cluster; selp.u64 %d0, 1, 0, %p0; st.global.u64 [%out+{size - 8}], %d0;")
    size = -(-size // 8) * 8
    text = f""".version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {{
.reg .b32 %r<8>; .reg .b64 %d<4>, %out; .reg .pred %p0;
mov.u32 %r1, %tid.z; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.x; mad.lo.u32 %r2, %r1, 4, %r2; mad.lo.u32 %r3, %r2, 5, %r3;
mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ctaid.x; mad.lo.u32 %r4, %r4, 2, %r5; mad.lo.u32 %r3, %r4, 40, %r3;
ld.param.u64 %out, [out]; mul.wide.u32 %d1, %r3, {size}; add.u64 %out, %out, %d1;
{chr(10).join(lines)}
ret;
}}
"""
    assert len(names) % 2 == 0
    out = np.zeros((6, 40, size), np.uint8)
    DEVICES[device](text, "k", (2, 3), (5, 4, 2), (out,))
    for block, thread in itertools.product(range(6), range(40)):
        words = out[block, thread].view(np.uint32)
        lane = thread % 32
        expected = {
            "tid.x": thread % 5, "tid.y": thread // 5 % 4, "tid.z": thread // 20, "laneid": lane, "warpid": thread // 32,
            "lanemask_eq": 1 << lane, "lanemask_le": (2 << lane) - 1, "lanemask_lt": (1 << lane) - 1,
            "lanemask_ge": -(1 << lane) & 0xFFFFFFFF, "lanemask_gt": -(2 << lane) & 0xFFFFFFFF,
            **{name: w for name, w in FIXED.items() if w is not None},
            "ctaid.x": block % 2, "ctaid.y": block // 2, "clusterid.x": block % 2, "clusterid.y": block // 2,
        }  # fmt: skip
        found = dict(zip(names, words.tolist(), strict=False))
        assert {name: found[name] for name in expected} == expected
        assert found["smid"] < max(found["nsmid"], 1) and out[block, thread, -8:].tolist() == [0] * 8


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("ptx", "count"), [("f32", 2), ("f32", 4), ("f32", 8), ("b32", 8), ("b64", 4), ("u16", 4)])
def test_structures_side_by_side_are_moved_whole(device, ptx, count):
    """Each thread's structure lies behind that of the thread before it; members come out in another order."""
    width, threads = int(ptx[1:]) // 8, 64
    room = np.zeros((2, 64 + threads * count * width), np.uint8)
    given, out = (
        each[-each.ctypes.data % 32 :][: threads * count * width].view(f"u{width}") for each in room
    )  # 8 elements want addresses that 32 divides
    given[:] = np.arange(threads * count)
    letter = REGISTER.get(ptx) or REGISTER[8 * width]
    turned = [f"%{letter}{n}" for n in reversed(range(count))]
    source = f"""{HEAD.partition(".visible")[0]}
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b16 %h<8>; .reg .b32 %r<12>; .reg .b64 %d<12>; .reg .f32 %f<8>;
mov.u32 %r10, %tid.x; mul.wide.u32 %d10, %r10, {width * count};
ld.param.u64 %d8, [in]; ld.param.u64 %d9, [out]; add.u64 %d8, %d8, %d10; add.u64 %d9, %d9, %d10;
ld.global.v{count}.{ptx} {operand(ptx, count)}, [%d8];
st.global.v{count}.{ptx} [%d9], {{{", ".join(turned)}}};
ret;
}}
"""
    DEVICES[device](source, "k", 1, threads, [given, out])
    assert (out.reshape(threads, count) == given.reshape(threads, count)[:, ::-1]).all()
