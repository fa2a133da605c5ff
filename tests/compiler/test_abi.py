"""The structures that generated code and the runtime share: one table, its headers, its page."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from anywarp.compiler import abi
from anywarp.compiler.simd import frame

ROOT = Path(__file__).resolve().parents[2]
STRUCTURES = {each.name: each for parts in abi.HEADERS.values() for each in parts if isinstance(each, abi.Structure)}


@pytest.mark.parametrize("name", abi.HEADERS)
def test_the_headers_in_the_tree_are_current(name: str) -> None:
    assert (ROOT / "native/core" / name).read_text() == abi.header(name), "run scripts/docs"


def test_offsets_are_found_by_name() -> None:
    assert abi.WORKER.offset("ctaid.z") == 32  # three pointers, then the third word
    assert abi.WORKER.offset("addresses", 2) == abi.WORKER.offset("addresses") + 16
    assert abi.REASON["AW_REASON_STACK"] == 2


def test_what_is_no_field_has_no_offset() -> None:
    with pytest.raises(AttributeError):
        abi.LAUNCH.offset("gird")
    with pytest.raises(IndexError):
        abi.LAUNCH.offset("grid", 3)
    with pytest.raises(IndexError):
        abi.LAUNCH.offset("shared_total.y")
    with pytest.raises(KeyError):
        _ = abi.STATUS["AW_FINE"]


def test_the_compiler_of_c_lays_a_structure_out_alike(tmp_path: Path) -> None:
    """The frame's structures have no header that a build would hold them by."""
    for each in (frame.CELL, frame.GANG, frame.LANE_STATES, abi.WORKER):
        source = f"#include <cstddef>\n#include <cstdint>\n{each.declaration()}"
        assert f"sizeof({each.name})" in source
        (tmp_path / "layout.cpp").write_text(source)
        subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "layout.cpp"], cwd=tmp_path, check=True)


def test_the_page_names_fields_that_there_are() -> None:
    page = (ROOT / "docs/contracts.md").read_text()
    named = re.findall(r"`(Aw\w+)\.(\w+)`", page)
    assert len(named) > 8
    assert not [(name, field) for name, field in named if field not in {f.name for f in STRUCTURES[name].fields}]


def test_no_emitter_reaches_into_a_shared_structure_by_number() -> None:
    bare = re.compile(r"at\.(?:worker|launch)\}, i64 \d|ptr %worker, i64 \d|i64 (?:332|328|336|340)\b")
    files = sorted((ROOT / "src/anywarp/compiler").rglob("*.py"))
    assert len(files) > 100 and not [str(path) for path in files if bare.search(path.read_text(encoding="utf-8"))]
