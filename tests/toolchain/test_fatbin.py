"""Fat binaries that we write, read back by the reader of those that NVIDIA's tools write."""

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.ptx.fatbin import images
from anywarp.toolchain.fatbin import pack

FIRST = b".version 8.6\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"
SECOND = b".version 7.8\n.target sm_90a\n.address_size 64\n"


def test_every_text_comes_back_with_its_architecture_and_version():
    found = list(images(pack([FIRST, SECOND])))
    assert [(i.kind, i.target, i.version) for i in found] == [("ptx", "sm_80", (8, 6)), ("ptx", "sm_90a", (7, 8))]
    assert [i.payload().rstrip(b"\0") for i in found] == [FIRST, SECOND]


def test_entries_are_aligned_to_eight_bytes():
    for extra in range(9):
        packed = pack([FIRST + b"\n" * extra, SECOND])
        assert len(packed) % 8 == 0
        assert packed.count(b".target") == 2


def test_what_is_no_ptx_is_refused():
    with pytest.raises(AnywarpError):
        pack([b"int main() { return 0; }"])
