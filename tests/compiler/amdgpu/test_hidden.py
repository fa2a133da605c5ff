"""The structure behind the parameters is the same in C++ and in Python."""

from __future__ import annotations

import re
from pathlib import Path

from anywarp.compiler.amdgpu import hidden

HEADER = Path(__file__).parents[3] / "native" / "core" / "hip_structures.h"
_C = {"uint32_t": 4, "uint64_t": 8}


def test_the_fields_of_header_and_mirror_are_the_same() -> None:
    body = re.search(r"struct AwHipHidden \{(.*?)\n\};", HEADER.read_text(), re.S)
    assert body is not None
    declared = re.findall(r"(uint32_t|uint64_t) (\w+)(?:\[(\d)\])?;", body[1])
    mirrored = [(name, getattr(hidden.AwHipHidden, name).size) for name, _ in hidden.AwHipHidden._fields_]
    assert mirrored == [(name, _C[type] * int(count or 1)) for type, name, count in declared]


def test_it_lies_at_the_next_multiple_of_sixteen() -> None:
    assert hidden.hidden_start(0) == 0
    assert hidden.hidden_start(28) == 32
    assert hidden.argument_bytes(32) == 112
    assert hidden.hidden_offset(28, "grid.z") == 40
    assert hidden.hidden_offset(28, "module_data") == 64
