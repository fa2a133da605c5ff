"""The artifact's container, and the structures shared with the native side."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

from anywarp.compiler.artifact import ABI, Artifact, AwLaunch, AwWorker, pack, pack_container, unpack, unpack_container

HEADER = Path(__file__).resolve().parents[2] / "native" / "core" / "kernel_abi.h"
STRUCTURES = HEADER.with_name("kernel_structures.h")
SIZES = {"uint32_t": 4, "int32_t": 4, "uint64_t": 8, "int64_t": 8}
ARTIFACT = Artifact(
    "a b%c\n∂", "aw_kernel", (16, 4, 2), 512, 960, 40, 1024, 28, bytes(range(256)), 12.5, ("a note", "100 % done")
)


def fields(name):
    """Offsets and sizes of a structure's fields, computed from the header's text by C's rules."""
    body = re.search(rf"struct {name} \{{(.*?)\n\}};", STRUCTURES.read_text(), re.S).group(1)
    out, end = {}, 0
    for line in body.splitlines():
        found = re.match(r"\s*(const )?(\w+)(\*?) (\w+)(?:\[(\d+)\])?;\s*(?://\s*(\d+)?)?", line)
        if not found:
            continue
        size = 8 if found[3] else SIZES[found[2]]
        offset = -(-end // size) * size
        if found[6]:
            assert int(found[6]) == offset, line
        end = offset + size * int(found[5] or 1)
        out[found[4]] = (offset, end - offset)
    return out


@pytest.mark.parametrize("mirror", [AwLaunch, AwWorker])
def test_structures_lie_as_the_header_says(mirror):
    want = fields(mirror.__name__)
    found = {name: (getattr(mirror, name).offset, getattr(mirror, name).size) for name, _ in mirror._fields_}
    assert found == want
    stated = re.search(rf"sizeof\({mirror.__name__}\) == (\d+)", STRUCTURES.read_text())
    assert ctypes.sizeof(mirror) == int(stated.group(1))


def test_the_abi_number_is_the_headers():
    assert f"#define ANYWARP_ABI {ABI}\n" in HEADER.read_text()


def test_what_is_packed_is_unpacked():
    assert unpack(pack(ARTIFACT)) == ARTIFACT


def test_header_lines_are_as_the_contract_says():
    header, payload = unpack_container(pack(ARTIFACT))
    assert payload == ARTIFACT.object
    assert header.split("\n") == [
        "kind kernel", "abi 2", "name a%20b%25c%0A%E2%88%82", "symbol aw_kernel", "block 16 4 2", "frame 512 960", "local 40",
        "shared 1024", "param 28", "compile_ms 12.500", "gang 32", "alone 0", "stack 0", "note a%20note", "note 100%20%25%20done", "",
    ]  # fmt: skip


@pytest.mark.parametrize("damage", ["short", "long", "flipped", "magic", "empty", "huge"])
def test_damaged_containers_are_refused(damage):
    good = pack(ARTIFACT)
    bad = {
        "short": good[:-1], "long": good + b"x", "flipped": good[:-1] + bytes([good[-1] ^ 1]), "magic": b"X" + good[1:], "empty": b"",
        "huge": good[:12] + b"\xff" * 8 + good[20:],
    }[damage]  # fmt: skip
    with pytest.raises(ValueError):
        unpack(bad)


@pytest.mark.parametrize(
    "header",
    ["kind module\n", "kind kernel\nabi 1\n", "kind kernel\nabi 2\n", "\n", "kind kernel\nabi 2\nblock 1 x 1\n"],
)
def test_other_kinds_and_incomplete_headers_are_refused(header):
    with pytest.raises(ValueError):
        unpack(pack_container(header, b""))
