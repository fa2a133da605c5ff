"""Statements that are broken, huge or not PTX at all cost little and change nothing; what is refused says why."""

# pyright: basic
from __future__ import annotations

from pathlib import PurePath

import pytest

from anywarp.migrate.target import parse_target
from anywarp.migrate.translate import Options, translate

OPTIONS = Options(parse_target("hip:gfx942", "7.1"))


def translated(source: bytes):
    return translate(source, PurePath("part.cuh"), OPTIONS)


@pytest.mark.parametrize(
    "source",
    [
        b"asm(" * 20_000,
        b'asm("' + b"{" * 5_000 + b"}" * 5_000 + b'" : "+r"(a));',
        b'asm("\xff\xfe%0;" : "=r"(a));',
        b'asm("rdtsc" : "=a"(lo), "=d"(hi));',
        b'asm("v_mov_b32 %0, %1" : "=v"(a) : "v"(b));',
        b'asm volatile("" ::: "memory");',
        b'asm("st %fsr, [mode]");',
        b"int asm_(int); x = asm_(3);",
        b"__shfl_sync(" * 5_000,
        b"template<" * 5_000 + b"cub::WarpReduce<" * 500,
        b"__device__ s[t] += s[t + 16]" * 5_000,
    ],
    ids=lambda source: repr(source[:30]),
)
def test_what_is_no_complete_ptx_stays(source: bytes):
    done = translated(source)
    assert all(d.code != "M130" for d in done.diagnostics)
    assert b"asm" not in source or done.text == source


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (b'asm("add.u32 %0, %1;" : "=r"(a) : "r"(b));', "operands of add.u32"),
        (b'asm("add.u32 %0, %1, %7;" : "=r"(a) : "r"(b));', "no register of this statement"),
        (b'asm("add.u32 %1, %0, 1;" : "=r"(a) : "r"(b));', "is no output"),
        (b'asm("{ .reg .b32 r<2000000000>; mov.u32 %0, r1; }" : "=r"(a));', "declares more than"),
        (b'asm("' + b"add.u32 %0, %0, 1; " * 300 + b'" : "+r"(a));', "more than 200 instructions"),
        (b'asm("{ mov.u32 %0, 1;" : "=r"(a));', "no complete PTX"),
        (b'asm("{ bra OUT; }");', "jumps out"),
        (b'asm("{ .shared .b32 s[4]; mov.u32 %0, 1; }" : "=r"(a));', "declares more than registers"),
        (b'asm("fma.rz.f32 %0, %1, %1, %1;" : "=f"(a) : "f"(b));', "rounds by .rz"),
        (b'asm("wgmma.fence.sync.aligned;");', "wgmma"),
    ],
)
def test_what_has_no_form_is_refused_by_name_and_kept(source: bytes, why: str):
    done = translated(source)
    (found,) = done.diagnostics
    assert found.code == "M130" and why in found.message
    assert done.text == source


def test_a_loop_inside_a_statement_becomes_jumps():
    source = b'asm("{ .reg .pred p; L: add.u32 %0, %0, 1; setp.lt.u32 p, %0, 9; @p bra L; }" : "+r"(a));'
    text = translated(source).text.decode()
    assert "goto L_0;" in text and "L_0:" in text
