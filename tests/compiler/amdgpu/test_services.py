"""What kernels and driver share for printf, assertions, traps and the heap is the same in C and in Python, and is linked in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anywarp.compiler.amdgpu import services
from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.artifact import REASONS
from anywarp.compiler.options import read_options
from anywarp.compiler.pipeline import compile_kernel
from anywarp.ptx.index import index_module

ROOT = Path(__file__).parents[3]
HEADER = "".join((ROOT / "native/core" / name).read_text() for name in ("hip_structures.h", "hip_services.h"))
PTX = (ROOT / "tests/emulator/cases/services.ptx").read_text()
_C = {"uint32_t": 4, "uint64_t": 8}


@pytest.mark.parametrize("name", ["AwHipServices", "AwHipState", "AwHipRecord"])
def test_the_fields_of_header_and_mirror_are_the_same(name: str) -> None:
    body = re.search(rf"struct {name} \{{(.*?)\n\}};", HEADER, re.S)
    assert body is not None
    declared = re.findall(r"(uint32_t|uint64_t) (\w+)(?:\[(\d+)\])?;", body[1])
    mirror = getattr(services, name)
    mirrored = [(field, getattr(mirror, field).size) for field, *_ in mirror._fields_]
    assert mirrored == [(field, _C[type] * int(count or 1)) for type, field, count in declared]


def test_the_numbers_are_the_same() -> None:
    stops = re.search(r"enum AwHipStop \{(.*?)\}", HEADER, re.S)
    kinds = re.search(r"enum AwHipRecordKind \{(.*?)\n\}", HEADER, re.S)
    assert stops is not None and kinds is not None
    assert [int(n) for n in re.findall(r"= (\d)", stops[1])] == [services.RUNNING, services.TRAP, services.ASSERT]
    wanted = [services.UNFINISHED, services.PRINT, services.ASSERTION, services.FILLER]
    assert [int(n) for n in re.findall(r"= (\d)", kinds[1])] == wanted
    assert f"kAwHipServicesVersion {services.VERSION}u" in HEADER


def test_the_driver_has_a_text_for_each_reason() -> None:
    source = (ROOT / "native/hip/records.cpp").read_text()
    table = re.search(r"kReasons\[\] = \{(.*?)\};", source, re.S)
    assert table is not None
    texts = re.sub(r'"\s*\n\s*"', "", table[1])
    assert len(re.findall(r'"[^"]+"', texts)) == len(REASONS)


@pytest.mark.parametrize("arch, kernel", [("gfx90a", "allocates"), ("gfx1030", "prints"), ("gfx1201", "asserts")])
def test_kernels_that_call_services_are_whole(arch: str, kernel: str) -> None:
    """An object with an undefined symbol is refused by the compiler; its size shows that the functions are there."""
    made = compile_kernel(index_module(PTX), kernel, read_options("", (64, 1, 1)), make_target(arch))
    assert len(made.object) > 4000
    assert made.amd is not None and made.amd.vgpr_spills == 0
