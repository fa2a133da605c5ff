"""Bundles: what is written is read again; what is damaged or hostile gets an error with a code, quickly and in little memory."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import tracemalloc

import pytest
from hypothesis import strategies as st

from anywarp.check.bundle import Entry, Writer, blob, limits, open_bundle
from anywarp.check.bundle.packing import pack
from anywarp.diagnostics import AnywarpError
from spread import properties


def entry(name="m", dtype="float32", shape=(2,), blob=None, **more):
    return Entry(0, 0, name, "output", "0", dtype, tuple(shape), blob=blob, **more)


def write(folder, values=((b"\0" * 8, "float32", (2,)),), budget=1 << 20, complete=True):
    folder.mkdir()
    writer = Writer(folder, budget, {"mode": "tensors"})
    for number, (content, dtype, shape) in enumerate(values):
        name = f"m.{number}"
        writer.add(entry(name, dtype, shape, writer.keep(name, dtype, tuple(shape), content)))
    writer.close(complete)
    return folder


def code_of(call) -> str:
    with pytest.raises(AnywarpError) as caught:
        call()
    return caught.value.diagnostic.code


def read_all(path):
    with open_bundle(path) as bundle:
        return [bytes(bundle.read(e)) for e in bundle.entries if e.blob]


def test_values_are_read_as_they_were_written_from_a_folder_and_from_an_archive(tmp_path):
    values = [
        (bytes(range(24)), "float32", (2, 3)),
        (b"\1\2", "float8_e4m3fnuz", (2,)),
        (b"", "int64", (0, 4)),
        (b"\x80?", "bfloat16", ()),
    ]
    folder = write(tmp_path / "b", values)
    pack(folder, tmp_path / "b.tar")
    for path in (folder, tmp_path / "b.tar"):
        assert read_all(path) == [content for content, _, _ in values]
    assert (tmp_path / "b.tar").stat().st_mode & 0o777 == 0o600
    assert all(p.stat().st_mode & 0o077 == 0 for p in folder.rglob("*"))


def test_an_archive_made_by_tar_itself_is_read(tmp_path):
    folder = write(tmp_path / "recording")
    subprocess.run(["tar", "cf", tmp_path / "r.tar", "recording"], cwd=tmp_path, check=True)
    assert read_all(tmp_path / "r.tar") == read_all(folder)


def test_blobs_are_what_the_package_safetensors_reads(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    content = bytes(range(24))
    write(tmp_path / "b", [(content, "float32", (2, 3)), (b"\1\2", "float8_e5m2fnuz", (2,))])
    found = [safetensors.load_file(path) for path in (tmp_path / "b" / "blobs").iterdir()]
    assert sorted(each["value"].tobytes() for each in found) == sorted([content, b"\1\2"])
    assert {each["value"].shape for each in found} == {(2, 3), (2, 1)}


def test_equal_tensors_are_kept_once_and_what_does_not_fit_is_named(tmp_path):
    one, other = b"a" * 4000, b"b" * 4000
    folder = write(
        tmp_path / "b", [(one, "uint8", (4000,)), (one, "uint8", (4000,)), (other, "uint8", (4000,))], budget=5000
    )
    assert len(list((folder / "blobs").iterdir())) == 1
    with open_bundle(folder) as bundle:
        assert [e.blob is not None for e in bundle.entries] == [True, True, False]
        assert bundle.manifest["budget"]["dropped"]["names"] == ["m.2"]
        assert bundle.manifest["budget"]["used"] <= 5000


def test_a_writer_that_is_killed_leaves_a_bundle_that_can_be_read(tmp_path):
    program = (
        "import sys, time; from pathlib import Path; from anywarp.check.bundle import Writer, Entry\n"
        "w = Writer(Path(sys.argv[1]), 1 << 30, {})\n"
        "for n in range(10**9):\n"
        "    d = w.keep('m', 'int64', (1,), n.to_bytes(8, 'little')); w.add(Entry(0, n, 'm', 'output', '0', 'int64', (1,), blob=d))\n"
        "    if n == 50: print('going', flush=True)\n"
    )
    (tmp_path / "b").mkdir()
    child = subprocess.Popen([sys.executable, "-c", program, tmp_path / "b"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    with open_bundle(tmp_path / "b") as bundle:
        assert len(bundle.entries) >= 50
        assert [int.from_bytes(bundle.read(e), "little") for e in bundle.entries] == [e.call for e in bundle.entries]
        assert any("did not come to its end" in note for note in bundle.notes)


def test_a_torn_last_line_is_left_out_and_said(tmp_path):
    folder = write(tmp_path / "b", [(b"\1", "uint8", (1,)), (b"\2", "uint8", (1,))])
    lines = (folder / "entries.jsonl").read_bytes()
    (folder / "entries.jsonl").write_bytes(lines[:-20])
    with open_bundle(folder) as bundle:
        assert len(bundle.entries) == 1 and any("torn" in note for note in bundle.notes)


def line(**changes):
    return json.dumps(
        {
            "index": 0,
            "call": 0,
            "name": "m",
            "role": "output",
            "slot": "0",
            "dtype": "float32",
            "shape": [2],
            "blob": None,
            **changes,
        }
    )


HOSTILE_LINES = {
    "shape NaN": (line().replace("[2]", "[NaN]"), "V002"),
    "shape of floats": (line(shape=[2.0]), "V002"),
    "negative shape": (line(shape=[-2]), "V002"),
    "boolean shape": (line(shape=[True]), "V002"),
    "huge tensor": (line(shape=[1 << 40, 8]), "V003"),
    "many dimensions": (line(shape=[1] * 1000), "V003"),
    "endless number": (line().replace("[2]", "[" + "9" * 500_000 + "]"), "V002"),
    "deep nesting": (line().replace("[2]", "[" * 200_000 + "]" * 200_000), "V002"),
    "no object": ("[1]", "V002"),
    "no JSON": ("{", "V002"),
    "unknown role": (line(role="root"), "V002"),
    "unknown dtype": (line(dtype="object"), "V002"),
    "path as a digest": (line(blob="../../etc/passwd"), "V002"),
    "endless name": (line(name="x" * 100_000), "V002"),
    "a line without end": (line(slot="x" * (2 << 20)), "V003"),
    "statistics are a list": (line(statistics=[1]), "V002"),
    "layout of another shape": (line(layout=[1, 1, 1]), "V002"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE_LINES)
def test_a_hostile_entry_is_refused(name, tmp_path):
    text, code = HOSTILE_LINES[name]
    folder = write(tmp_path / "b")
    (folder / "entries.jsonl").write_text(text + "\n")
    started = time.process_time()
    assert code_of(lambda: open_bundle(folder)) == code
    assert time.process_time() - started < 5


def only_blob(folder):
    (path,) = (folder / "blobs").iterdir()
    return path


def with_blob(folder, content):
    """Put a content in the place of the only blob, under its right digest."""
    only_blob(folder).unlink()
    digest = hashlib.sha256(content).hexdigest()
    (folder / "blobs" / f"{digest}.safetensors").write_bytes(content)
    (folder / "entries.jsonl").write_text(line(blob=digest) + "\n")
    return folder


def header(**changes):
    described = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}
    text = json.dumps({"value": described}).encode()
    return len(text).to_bytes(8, "little") + text


HOSTILE_BLOBS = {
    "a header of 10 GB": ((10 << 30).to_bytes(8, "little") + b"{}", "V003"),
    "a header longer than the file": ((60_000).to_bytes(8, "little") + b"{}", "V002"),
    "another shape": (header(shape=[4]) + b"\0" * 8, "V002"),
    "another dtype": (header(dtype="I32") + b"\0" * 8, "V002"),
    "offsets outside": (header(data_offsets=[0, 1 << 40]) + b"\0" * 8, "V002"),
    "too short": (header() + b"\0" * 7, "V002"),
    "too long": (header() + b"\0" * 9, "V002"),
    "empty": (b"", "V002"),
    "a header that is no JSON": ((4).to_bytes(8, "little") + b"\xff\xff\xff\xff" + b"\0" * 8, "V002"),
}


@pytest.mark.parametrize("name", HOSTILE_BLOBS)
def test_a_hostile_blob_is_refused(name, tmp_path):
    content, code = HOSTILE_BLOBS[name]
    folder = with_blob(write(tmp_path / "b"), content)
    assert code_of(lambda: read_all(folder)) == code


def test_a_changed_blob_is_refused(tmp_path):
    folder = write(tmp_path / "b")
    content = bytearray(only_blob(folder).read_bytes())
    content[-1] ^= 1
    only_blob(folder).write_bytes(content)
    assert code_of(lambda: read_all(folder)) == "V002"


def test_links_devices_and_pipes_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    for make in (lambda p: p.symlink_to(outside), os.mkfifo, lambda p: p.mkdir()):
        folder = write(tmp_path / "b")
        place = only_blob(folder)
        shutil.copy(place, outside)
        place.unlink()
        make(place)
        assert code_of(lambda folder=folder: read_all(folder)) == "V002"
        shutil.rmtree(folder)
    folder = write(tmp_path / "b")
    shutil.move(folder / "blobs", tmp_path / "elsewhere")
    (folder / "blobs").symlink_to(tmp_path / "elsewhere")
    assert code_of(lambda: read_all(folder)) == "V002"


def test_large_files_are_not_taken_into_memory(tmp_path):
    folder = write(tmp_path / "b")
    for name in ("entries.jsonl", "bundle.json"):
        with (folder / name).open("r+b") as file:
            file.truncate(20 << 30)  # sparse
        tracemalloc.start()
        assert code_of(lambda: open_bundle(folder)) == "V003"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        tracemalloc.stop()
        shutil.rmtree(folder)
        write(folder)


def archive(path, *members):
    with tarfile.open(path, "w") as out:
        for name, content, changes in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            for key, value in changes.items():
                setattr(member, key, value)
            out.addfile(member, io.BytesIO(content) if member.isreg() else None)
    return path


MANIFEST = json.dumps({"format": "anywarp-recording", "version": 1, "complete": True}).encode()
HOSTILE_ARCHIVES = {
    "a link": ("blobs/x", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}, "V003"),
    "a hard link": ("blobs/x", b"", {"type": tarfile.LNKTYPE, "linkname": "bundle.json"}, "V003"),
    "a device": ("blobs/x", b"", {"type": tarfile.CHRTYPE}, "V003"),
    "a way out": ("../bundle.json", b"{}", {}, "V003"),
    "an absolute name": ("/etc/passwd", b"{}", {}, "V003"),
    "a name twice": ("bundle.json", b"{}", {}, "V002"),
}


@pytest.mark.parametrize("name", HOSTILE_ARCHIVES)
def test_a_hostile_archive_is_refused(name, tmp_path):
    *member, code = HOSTILE_ARCHIVES[name]
    path = archive(tmp_path / "a.tar", ("bundle.json", MANIFEST, {}), tuple(member))
    assert code_of(lambda: open_bundle(path)) == code


def test_an_extended_header_of_gigabytes_is_not_taken_into_memory(tmp_path):
    path = archive(tmp_path / "a.tar", ("bundle.json", MANIFEST, {}))
    bomb = tarfile.TarInfo("x")
    bomb.type, bomb.size = tarfile.XHDTYPE, 4 << 30
    with path.open("r+b") as file:
        file.write(bomb.tobuf(tarfile.USTAR_FORMAT))
        file.truncate(5 << 30)
    tracemalloc.start()
    assert code_of(lambda: open_bundle(path)) == "V003"
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_what_is_no_bundle_is_said_so(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_bytes(os.urandom(2000))
    for name in ("empty", "file", "missing"):
        assert code_of(lambda name=name: open_bundle(tmp_path / name)) == "V001"
    folder = write(tmp_path / "b")
    (folder / "bundle.json").write_text(json.dumps({"format": "anywarp-recording", "version": 2}))
    assert code_of(lambda: open_bundle(folder)) == "V005"
    (folder / "bundle.json").write_bytes(MANIFEST.replace(b"{", b'{"parts": ["../x"], ', 1))
    with open_bundle(folder) as bundle:
        assert code_of(lambda: bundle.parts) == "V002"


@properties(40, 4000, st.data())
def test_any_change_of_a_bundle_is_read_as_before_or_refused(tmp_path_factory, data):
    """Bytes of any file changed, cut or repeated: the values come out as they were written, or an error does."""
    folder = tmp_path_factory.mktemp("fuzz") / "b"
    content = bytes(range(16))
    write(folder, [(content, "float32", (4,)), (content, "uint8", (16,))])
    as_archive = data.draw(st.booleans())
    if as_archive:
        target = folder.parent / "b.tar"
        pack(folder, target)
        path = target
    else:
        target = data.draw(st.sampled_from(sorted(p for p in folder.rglob("*") if p.is_file())))
        path = folder
    old = bytearray(target.read_bytes())
    at = data.draw(st.integers(0, len(old) - 1))
    change = data.draw(st.sampled_from(["flip", "cut", "insert"]))
    if change == "flip":
        old[at] ^= data.draw(st.integers(1, 255))
    elif change == "cut":
        del old[at:]
    else:
        old[at:at] = data.draw(st.binary(min_size=1, max_size=600))
    target.write_bytes(old)
    try:
        with open_bundle(path) as bundle:
            for each in bundle.entries:
                if each.blob is not None:
                    assert bytes(bundle.read(each)) == content
    except AnywarpError as error:
        assert error.diagnostic.code in ("V001", "V002", "V003", "V005")
    finally:
        shutil.rmtree(folder.parent)


@properties(30, 1000, st.sampled_from(sorted(blob.SIZES)), st.lists(st.integers(0, 5), max_size=4))
def test_every_dtype_and_shape_comes_back(tmp_path_factory, dtype, shape):
    folder = tmp_path_factory.mktemp("round") / "b"
    content = os.urandom(blob.size_of(dtype, shape))
    write(folder, [(content, dtype, tuple(shape))])
    assert read_all(folder) == [content]
    shutil.rmtree(folder.parent)


def test_limits_hold_what_the_recorder_writes():
    assert limits.LINE_BYTES > 64 * 30 + 2 * limits.NAME
