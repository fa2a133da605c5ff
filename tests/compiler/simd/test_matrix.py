"""Matrix products on other processors (compiled, not run), in gangs of several warps, and what they cost a kernel's code."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from anywarp.compiler.analysis import analyse
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.compiler.simd.tuning import Tuning
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

X86 = "x86_64-unknown-linux-gnu"
PROCESSORS = {
    "avx512": (X86, "skylake-avx512", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"),
    "avx2": (X86, "haswell", "+avx2,+fma,+f16c"),
    "sse": (X86, "x86-64", ""),
}
TILES = PROCESSORS["avx512"][2] + ",+avx512vnni,+avx512bf16,+amx-tile,+amx-bf16,+amx-int8"
FORMS = {
    "m16n8k16.row.col.f32.f16.f16.f32": (4, 4, 2, 4),
    "m16n8k16.row.col.f32.bf16.bf16.f32": (4, 4, 2, 4),
    "m16n8k8.row.col.f32.tf32.tf32.f32": (4, 4, 2, 4),
    "m16n8k32.row.col.s32.s8.u8.s32": (4, 4, 2, 4),
    "m16n8k64.row.col.satfinite.s32.s4.s4.s32": (4, 4, 2, 4),
    "m16n8k256.row.col.s32.b1.b1.s32.xor.popc": (4, 4, 2, 4),
    "m16n8k32.row.col.f16.e4m3.e5m2.f16": (2, 4, 2, 2),
}


def module(form, counts, times=1):
    letters = {w: "f" if w in "dc" and ".f32." in form else "r" for w in "dabc"}
    names = {w: [f"%{letters[w]}{w}{i}" for i in range(n)] for w, n in zip("dabc", counts, strict=True)}
    lists = ", ".join("{" + ", ".join(names[w]) + "}" for w in "dabc")
    registers = "\n".join(f".reg .{'f32' if letters[w] == 'f' else 'b32'} {', '.join(names[w])};" for w in "dabc")
    body, kinds = [], {"f": "f32", "r": "b32"}
    for w in "abc":
        for i, name in enumerate(names[w]):
            body.append(f"ld.global.{kinds[letters[w]]} {name}, [%p1+{128 * ('abc'.index(w) * 4 + i)}];")
    for _ in range(times):
        body.append(f"mma.sync.aligned.{form} {lists};")
        body += [f"mov.b32 {c}, {d};" for c, d in zip(names["c"], names["d"], strict=True)]
    body += [f"st.global.{kinds[letters['d']]} [%p2+{128 * i}], {name};" for i, name in enumerate(names["d"])]
    return f""".version 9.0
.target sm_100
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
{registers}
.reg .b32 %t, %w; .reg .b64 %p<4>;
ld.param.u64 %p1, [in]; ld.param.u64 %p2, [out];
mov.u32 %t, %laneid; mul.wide.u32 %p3, %t, 4; add.u64 %p1, %p1, %p3; add.u64 %p2, %p2, %p3;
mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; mul.wide.u32 %p3, %w, 2048; add.u64 %p1, %p1, %p3; add.u64 %p2, %p2, %p3;
{chr(10).join(body)}
ret;
}}
"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("processor", PROCESSORS)
def test_products_compile_for_processors_without_matrix_instructions(processor, form):
    target = make_target(*PROCESSORS[processor])
    ptx = module(form, FORMS[form])
    artifact = Program(ptx, target).target.emit(*prepared(ptx))
    assert len(artifact.object) > 500


def prepared(ptx, lanes=32):
    specialisation = Specialisation((32, 1, 1), lanes)
    kernel = prepare_kernel(IndexedModule(index_module(ptx)), "k", specialisation, checked=True)
    return kernel, analyse(kernel, specialisation), specialisation


@pytest.mark.parametrize(
    ("form", "prepared_too"),
    [
        ("m16n8k16.row.col.f32.bf16.bf16.f32", 2),
        ("m16n8k32.row.col.s32.s8.u8.s32", 2 * this_machine().machine.vnni),
        ("m16n8k64.row.col.satfinite.s32.s4.s4.s32", 0),
    ],
)
def test_many_products_of_a_kind_share_one_function(form, prepared_too):
    sizes = []
    for times in (1, 2, 40):
        text, _, _ = this_machine().emit_text(*prepared(module(form, FORMS[form], times)))
        more = prepared_too if times == 40 else 0  # fragments that many take are prepared by functions of their own
        assert len(re.findall(r"define internal fastcc void @aw\.matrix", text)) == 1 + more
        assert len(re.findall(r"call fastcc void @aw\.matrix", text)) == times + more
        sizes.append(text.count("\n"))
    assert (sizes[2] - sizes[1]) / 38 < sizes[0] / 10  # whatever the width of the processor's vectors


@pytest.mark.parametrize("options", ["gang=32", "gang=64", "gang=128"])
def test_each_warp_of_a_gang_has_its_own_product(options):
    form = "m16n8k32.row.col.s32.s8.u8.s32"
    rng = np.random.default_rng(2)
    source = rng.integers(0, 1 << 32, 4 * 512, dtype=np.uint32)
    alone, together = np.zeros(4 * 512, np.uint32), np.zeros(4 * 512, np.uint32)
    ptx = module(form, FORMS[form])
    for warp in range(4):
        part = source[512 * warp : 512 * (warp + 1)].copy()
        result = np.zeros(512, np.uint32)
        Program(ptx).run("k", 1, 32, (part, result))
        alone[512 * warp : 512 * (warp + 1)] = result
    Program(ptx).run("k", 1, 128, (source, together), options=options)
    assert alone.any() and (alone == together).all()


@pytest.mark.parametrize(
    ("form", "instruction"),
    [
        ("m16n8k16.row.col.f32.bf16.bf16.f32", "tdpbf16ps"),
        ("m16n8k32.row.col.s32.s8.s8.s32", "tdpbssd"),
        ("m16n8k32.row.col.s32.s8.u8.s32", "tdpbsud"),
        ("m16n8k32.row.col.s32.u8.s8.s32", "tdpbusd"),
        ("m16n8k32.row.col.s32.u8.u8.s32", "tdpbuud"),
        ("m16n8k32.row.col.satfinite.s32.s8.s8.s32", ""),
        ("m16n8k16.row.col.s32.s8.s8.s32", ""),
        ("m16n8k16.row.col.f32.f16.f16.f32", ""),
    ],
)
def test_products_that_share_a_fragment_go_through_tiles_two_steps_at_a_time(form, instruction):
    counts = (4, 2, 1, 4) if form.startswith("m16n8k16.row.col.s32") else (4, 4, 2, 4)
    for tiles, times in ((1, 8), (1, 1), (0, 8)):
        target = make_target(X86, "sapphirerapids", TILES, Tuning(tiles=tiles))
        text, _, _ = target.emit_text(*prepared(module(form, counts, times)))
        used = bool(instruction) and tiles == 1 and times == 8
        assert re.findall(r"call void @llvm\.x86\.(tdp\w+)", text) == [instruction] * (times // 2 * used)
        assert (text.count("call void @llvm.x86.ldtilecfg"), text.count("call void @llvm.x86.tilerelease")) == (
            used,
            text.count("  ret i32") * used,
        )


def test_fragments_of_bf16_in_pairs_give_the_sums_of_fragments_made_wider():
    """Whole numbers, so that no sum is rounded: on a processor without `vdpbf16ps` both ways are the same code."""
    form, target = "m16n8k16.row.col.f32.bf16.bf16.f32", this_machine()
    rng = np.random.default_rng(5)
    whole = rng.integers(-16, 17, (3, 4, 32, 2)).astype(np.float32)
    pairs = (whole.view(np.uint32) >> 16).astype(np.uint16)
    source = np.concatenate([pairs[:2].reshape(-1).view(np.uint32), whole[2, :, :, 0].reshape(-1).view(np.uint32)])
    results = []
    for times in (1, 9):  # alone, and often enough to be prepared
        for quick in (False, target.machine.bf16):
            one, out = replace(target, machine=replace(target.machine, quick_bf16=quick)), np.zeros(512, np.uint32)
            Program(module(form, FORMS[form], times), one).run("k", 1, 32, (np.resize(source, 512), out))
            results.append(out[:128].view(np.float32))
    c = source[256:384].view(np.float32)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[2], results[3])
    np.testing.assert_array_equal(results[2], c + 9 * (results[0] - c))
    assert (results[0] != c).any()
