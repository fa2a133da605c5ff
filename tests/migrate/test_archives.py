"""Archives from anywhere: nested, damaged, hostile; nothing of them is ever written under a name of theirs."""

import bz2
import gzip
import io
import lzma
import mmap
import random
import tarfile
import zipfile
from dataclasses import replace
from pathlib import PurePath

import pytest
import zstandard

from anywarp.diagnostics import Diagnostic
from anywarp.migrate.look import Look, Seen, look_into
from anywarp.migrate.scan import Doors, Member, archives, doors
from anywarp.migrate.tree import File

DOORS = doors(["fakes.toy_scanner"], ["archives"])


def tar(members, links=()):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, to in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, to
            archive.addfile(info)
    return out.getvalue()


def zipped(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def look(tmp_path, name, data, named=False):
    place = tmp_path / "x"
    place.write_bytes(data)
    _, seen = look_into(File(str(place), name, len(data), named), Look(DOORS))
    assert isinstance(seen, Seen)
    return {row[0]: row[2] for row in seen.uses}, [(row[0], row[1]) for row in seen.problems]


CONTENT = {"app/a.toy": b"cudaMalloc", "b.txt": b"nothing", "deep/er/c.toy": b"cudaFree"}
FOUND = {"app/a.toy": "cudaMalloc", "deep/er/c.toy": "cudaFree"}


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("x.tar", lambda data: data),
        ("x.tar.gz", gzip.compress),
        ("x.tgz", gzip.compress),
        ("x.tar.bz2", bz2.compress),
        ("x.tar.xz", lzma.compress),
        ("x.tar.zst", zstandard.compress),
        ("blobs/sha256/0123456789abcdef", gzip.compress),
        ("layer", zstandard.compress),
    ],
)
def test_tar_archives_are_opened_whatever_packs_them(tmp_path, name, pack):
    assert look(tmp_path, name, pack(tar(CONTENT, [("app/link.toy", "/etc/passwd")]))) == (FOUND, [])


def test_zip_archives_are_opened(tmp_path):
    assert look(tmp_path, "x.zip", zipped(CONTENT)) == (FOUND, [])


def test_a_wheel_is_looked_into_when_it_is_named_and_counts_as_installed_when_it_is_not(tmp_path):
    assert look(tmp_path, "dist/x-1-py3-none-any.whl", zipped(CONTENT))[0] == {}
    assert look(tmp_path, "x-1-py3-none-any.whl", zipped(CONTENT), named=True)[0] == FOUND


def test_what_an_image_merely_holds_is_not_the_users_code(tmp_path):
    layer = tar({"usr/lib/python3/a.toy": b"cudaA", "app/b.toy": b"cudaB", "srv/site-packages/c.toy": b"cudaC"})
    assert look(tmp_path, "layer.tar", layer)[0] == {"app/b.toy": "cudaB"}


def test_archives_in_archives_are_opened_four_deep(tmp_path):
    saved = tar({"abc/layer.tar": tar({"app/x.zip": zipped(CONTENT)}), "manifest.json": b"[]"})
    assert look(tmp_path, "image.tar", saved)[0] == {f"abc/layer.tar!/app/x.zip!/{k}": v for k, v in FOUND.items()}
    data = zipped(CONTENT)
    for _ in range(6):
        data = zipped({"in.zip": data})
    found, problems = look(tmp_path, "x.zip", data)
    assert found == {} and [code for _, code in problems] == ["M008"]


def test_names_that_lead_out_are_told_and_nothing_is_written(tmp_path):
    (tmp_path / "inner").mkdir()
    data = tar({"../../evil.toy": b"cudaEvil", "/abs.toy": b"cudaAbs", "ok.toy": b"cudaOk"})
    found, problems = look(tmp_path / "inner", "x.tar", data)
    assert found == {"../../evil.toy": "cudaEvil", "/abs.toy": "cudaAbs", "ok.toy": "cudaOk"}
    assert problems == [("", "M009")]
    for name in ("../up.toy", "a/../../up.toy", "/abs.toy", "..\\up.toy"):
        assert look(tmp_path / "inner", "x.tar", tar({name: b"cudaA"}))[1] == [("", "M009")]
    assert look(tmp_path / "inner", "x.tar", tar({"a..b/..c.toy": b"cudaA"}))[1] == []
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["inner", "x"]


@pytest.mark.parametrize("kind", ["tar", "gz", "zip", "zst"])
def test_a_damaged_archive_costs_what_lies_behind_the_damage(tmp_path, kind):
    noise = random.Random(7).randbytes(60_000)
    many = {"a.toy": b"cudaFirst", "noise.bin": noise, "z.toy": b"cudaLast"}
    data = {"tar": lambda: tar(many), "gz": lambda: gzip.compress(tar(many)), "zip": lambda: zipped(many),
            "zst": lambda: zstandard.compress(tar(many))}[kind]()  # fmt: skip
    found, problems = look(
        tmp_path, {"zip": "x.zip", "tar": "x.tar"}.get(kind, f"x.tar.{kind}"), data[: len(data) // 2]
    )
    assert "cudaLast" not in found.values()
    assert [code for _, code in problems] == ["M007"]
    if kind in ("tar", "gz"):
        assert found == {"a.toy": "cudaFirst"}


def test_one_bad_member_costs_itself(tmp_path):
    data = bytearray(zipped({"a.toy": b"cudaA" * 50, "b.toy": b"cudaB"}))
    at = data.index(b"a.toy") + len(b"a.toy")
    data[at : at + 4] = b"\xff\xff\xff\xff"
    found, problems = look(tmp_path, "x.zip", bytes(data))
    assert found == {"b.toy": "cudaB"} and problems == [("a.toy", "M007")]


def test_an_archive_that_expands_beyond_measure_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_FIRST", 1 << 20)
    zeros = bytes(64 << 20)
    for name, data in {
        "x.tar.gz": gzip.compress(tar({"zeros": zeros, "a.toy": b"cudaA"})),
        "x.zip": zipped({"zeros": zeros, "a.toy": b"cudaA"}),
    }.items():
        found, problems = look(tmp_path, name, data)
        assert found == {} and problems == [("", "M008")]


def test_members_beyond_the_limit_are_told(monkeypatch):
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    items = list(archives.members(io.BytesIO(tar({str(i): b"" for i in range(9)})), PurePath("x.tar")))
    assert [type(item) for item in items] == [Member] * 3 + [Diagnostic]


def test_a_member_that_claims_more_than_a_scanner_takes_is_told(tmp_path):
    found, problems = look(tmp_path, "x.tar", tar({"big.toy": bytes(5 << 20), "a.toy": b"cudaA"}))
    assert found == {"a.toy": "cudaA"} and problems == [("big.toy", "M003")]


def test_a_compressed_text_is_no_archive(tmp_path):
    assert look(tmp_path, "notes.txt.gz", gzip.compress(b"cudaMalloc")) == ({}, [])


def test_a_large_member_is_mapped_for_scanners_that_take_maps(tmp_path, monkeypatch):
    monkeypatch.setattr("anywarp.migrate.look._SPOOLED_FROM", 2 << 20)
    (scanner,) = DOORS.scanners
    seen = []

    def scan(data, path):
        seen.append((type(data), len(data), bytes(data[:9]), bytes(data[-3:])))
        return iter(())

    mapped = Doors((replace(scanner, mapped=True, scan=scan),), DOORS.containers)
    data = b"cudaFirst" + bytes(3 << 20) + b"end"
    for number, content in enumerate((zipped({"a.toy": data}), tar({"a.toy": data}))):
        place = tmp_path / str(number)
        place.write_bytes(content)
        look_into(File(str(place), "x.zip" if not number else "x.tar", len(content)), Look(mapped))
    assert seen == [(mmap.mmap, len(data), b"cudaFirst", b"end")] * 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0", "1"]


def test_a_large_zip_archive_is_kept_aside_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_IN_MEMORY", 1000)
    data = zipped({"noise": random.Random(1).randbytes(3 << 20), "a.toy": b"cudaA"})
    assert look(tmp_path, "x.zip", data) == ({"a.toy": "cudaA"}, [])
