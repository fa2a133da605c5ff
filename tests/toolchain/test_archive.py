"""Archives, as `ar` writes them and damaged."""

import shutil
import subprocess

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.toolchain.archive import members


def entry(name, body):
    head = f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(body):<10}`\n".encode()
    return head + body + b"\n" * (len(body) % 2)


def test_objects_come_out_with_short_and_long_names():
    table = b"a_rather_long_name_of_an_object.o/\n"
    content = (
        b"!<arch>\n" + entry("/", b"symbols") + entry("//", table) + entry("/0", b"first") + entry("two.o/", b"second")
    )
    assert list(members(content, "lib.a")) == [
        ("lib.a(a_rather_long_name_of_an_object.o)", b"first"),
        ("lib.a(two.o)", b"second"),
    ]


def test_a_file_that_is_no_archive_is_its_only_object():
    assert list(members(b"\x7fELF...", "x.o")) == [("x.o", b"\x7fELF...")]


@pytest.mark.parametrize(
    "change", [lambda c: c[:-3], lambda c: c.replace(b"`\n", b"!!"), lambda c: b"!<thin>\n" + c[8:]]
)
def test_damage_is_told(change):
    content = b"!<arch>\n" + entry("one.o/", b"content")
    with pytest.raises(AnywarpError) as caught:
        list(members(change(content), "lib.a"))
    assert caught.value.diagnostic.code == "T005"


@pytest.mark.skipif(shutil.which("ar") is None, reason="this machine has no ar")
def test_what_ar_makes_is_read(tmp_path):
    names = {"x.o": b"1", "an_object_whose_name_is_long.o": b"22", "y.o": b"333"}
    for name, body in names.items():
        (tmp_path / name).write_bytes(body)
    subprocess.run(["ar", "rcs", "lib.a", *names], cwd=tmp_path, check=True)
    found = list(members((tmp_path / "lib.a").read_bytes(), "lib.a"))
    assert found == [(f"lib.a({name})", body) for name, body in names.items()]
