"""What a file carries is counted right, whatever the file; which instructions count as lacking is decided by the test."""

import io
import struct
import zipfile
from itertools import pairwise

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.ptx import inspect
from anywarp.ptx.index import index_module
from fakes.gpu_images import CUBIN, cubin, elf, fatbin, image, ptx

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


@pytest.fixture(autouse=True)
def only_wgmma_is_lacking(monkeypatch):
    monkeypatch.setattr(inspect, "supports", lambda opcode, modifiers: opcode != "wgmma")


LIBRARY = elf(
    {
        ".text": b"host code",
        ".nv_fatbin": fatbin(
            image(cubin(["a", "b", "only_sass"], 80), CUBIN, 80, compress="zstd"),
            image(cubin(["a", "b"], 90), CUBIN, 90, compress="zstd"),
            image(ptx("a", body="wgmma.fence.sync.aligned;"), arch=80, compress="lz4"),
            image(ptx("a", "b"), arch=90, version=(8, 7), compress="zstd"),
        ),
    }
)


def look(tmp_path, data, name="file.bin"):
    path = tmp_path / name
    path.write_bytes(data)
    return inspect.inspect_file(path)


def wheel(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_library(tmp_path):
    (part,) = look(tmp_path, LIBRARY, "liba.so")
    assert part.counts() == {"kernels": 3, "with_ptx": 2, "run": 2, "blocked": 0, "sass_only": 1}
    rows = {(i["kind"], i["target"]): i for i in part.as_json()["images"]}
    assert {k: (r["images"], r["kernels"]) for k, r in rows.items()} == {
        ("cubin", "sm_80"): (1, 3), ("cubin", "sm_90"): (1, 2), ("ptx", "sm_80"): (1, 1), ("ptx", "sm_90"): (1, 2),
    }  # fmt: skip
    assert rows["ptx", "sm_90"]["ptx_version"] == "8.7" and rows["ptx", "sm_80"]["compression"] == "lz4"
    assert (part.kernels["a"].sass, part.kernels["a"].ptx) == ({"sm_80", "sm_90"}, "sm_90")


def test_the_highest_architecture_counts_in_any_order(tmp_path):
    low, high = image(ptx("k", body="wgmma.x;"), arch=80), image(ptx("k"), arch=90)
    for data in (fatbin(low, high), fatbin(high, low)):
        (part,) = look(tmp_path, data)
        assert (part.kernels["k"].ptx, part.kernels["k"].lacks) == ("sm_90", ())


def test_lacking_instructions_are_named(tmp_path):
    text = HEAD + (
        ".func helper() { wgmma.fence.sync.aligned; ret; }\n.entry clean() { ret; }\n.entry calls() { call helper; ret; }\n"
        ".entry direct() { wgmma.wait_group.sync.aligned 0; // tcgen05.ld\n ret; }\n"
    )
    (part,) = look(tmp_path, text.encode(), "k.ptx")
    assert part.missing() == {"wgmma.fence.sync.aligned": 1, "wgmma.wait_group.sync.aligned": 1}
    assert {k.name: k.lacks for k in part.kernels.values()} == {
        "clean": (), "calls": ("wgmma.fence.sync.aligned",), "direct": ("wgmma.wait_group.sync.aligned",),
    }  # fmt: skip
    assert part.counts()["blocked"] == 2


@pytest.mark.parametrize(
    ("functions", "body", "expected"),
    [
        ("", "call vprintf, (a, b);", ()),
        (".extern .func vprintf;", "call (r), vprintf, (a, b);", ()),
        (".extern .func other;", "call.uni other;", ("call other (not defined)",)),
        (".func a() { call b; }\n.func b() { call a; wgmma.x; }", "call a;", ("wgmma.x",)),
        (".func a() { ret; }\n.func b() { call a; }", "call a; call b; // call c", ()),
        (".func a() { wgmma.x; }\n.alias b, a;", "call b;", ("wgmma.x",)),
        (
            ".func a() { ret; }",
            "mov.u64 %rd1, a; call (r), %rd1, (x), p;",
            (),
        ),
    ],
)
def test_calls(functions, body, expected):
    index = index_module(f"{HEAD}{functions}\n.func unused();\n.entry k() {{ {body}\n ret; }}")
    assert inspect.lacks(index, "k", frozenset({"vprintf"})) == expected


def test_wheel(tmp_path):
    data = wheel(
        {"pkg/__init__.py": b"", "pkg/lib.so": LIBRARY, "pkg/plain.so": elf({".text": b""}), "pkg/k.ptx": ptx("p")}
    )
    assert [p.name for p in look(tmp_path, data, "pkg.whl")] == ["pkg/lib.so", "pkg/k.ptx"]


def test_wheel_with_damage_keeps_the_rest(tmp_path):
    broken = bytearray(LIBRARY)
    broken[0x28:0x30] = struct.pack("<Q", 1 << 60)
    data = wheel({"bad.so": bytes(broken), "good.so": LIBRARY})
    bad, good = look(tmp_path, data, "pkg.whl")
    assert [p.code for p in bad.problems] == ["P025"] and good.counts()["kernels"] == 3


def test_damaged_image_keeps_the_rest(tmp_path):
    data = fatbin(image(b"not PTX", arch=70), image(ptx("k")))
    (part,) = look(tmp_path, data)
    assert part.counts()["run"] == 1 and [p.code for p in part.problems] == ["P007"]


@pytest.mark.parametrize("data", [LIBRARY, elf({".text": b""}), cubin(["k"]), fatbin(image(ptx("k"))), ptx("k")])
def test_progress_reaches_the_end(tmp_path, data):
    seen = []
    (tmp_path / "f").write_bytes(data)
    inspect.inspect_file(tmp_path / "f", lambda done, total: seen.append((done, total)))
    assert all(a <= b for (a, _), (b, _) in pairwise(seen))
    assert all(done == total for done, total in seen[-1:])


def test_bombs_in_archives_are_refused(tmp_path):
    data = wheel({"bomb.so": b"\x7fELF" + b"\0" * (64 << 20)})
    assert len(data) < 1 << 20
    with pytest.raises(AnywarpError) as caught:
        look(tmp_path, data, "bomb.whl")
    assert caught.value.diagnostic.code == "P023"


def test_every_byte_of_a_small_archive_flipped(tmp_path):
    data = wheel({"k.ptx": ptx("k")})
    for at in range(len(data)):
        changed = data[:at] + bytes([data[at] ^ 0xA5]) + data[at + 1 :]
        try:
            look(tmp_path, changed, "k.whl")
        except AnywarpError as error:
            assert error.diagnostic.code in ("P020", "P023", "P026")


@pytest.mark.parametrize("name", ["missing.so", "."])
def test_what_is_no_file(tmp_path, name):
    with pytest.raises(AnywarpError) as caught:
        inspect.inspect_file(tmp_path / name)
    assert caught.value.diagnostic.code == "P027"


def test_empty_file(tmp_path):
    with pytest.raises(AnywarpError) as caught:
        look(tmp_path, b"")
    assert caught.value.diagnostic.code == "P020"
