"""`anywarp cache`: what is told, emptied and compiled ahead, with the toy device in the place of a compiler."""

import json
import os
import zipfile
from pathlib import Path

import pytest

from anywarp.cli.main import call
from anywarp.compiler.artifact import unpack
from anywarp.devices import device as devices
from anywarp.devices.cpu.tiles import ask_for_tiles
from anywarp.runtime import keys, warm
from anywarp.runtime.build_id import build_id
from anywarp.runtime.cache import Cache
from fakes.images import container, fatbin, ptx

FAKES = Path(__file__).resolve().parents[1] / "fakes"


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A cache of its own, and the toy device for this process and the service; returns the file that lists compilations."""
    monkeypatch.syspath_prepend(str(FAKES))
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("ANYWARP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("ANYWARP_BUILD_ID", "test")
    monkeypatch.setenv("ANYWARP_SERVICE_IDLE", "0.5")
    monkeypatch.setenv("ANYWARP_TOY_RECORD", str(tmp_path / "compiled"))
    return tmp_path / "compiled"


def test_info_and_clear(toy, capsys, tmp_path):
    assert call(["cache", "info", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == 0
    Cache(tmp_path / "cache", 1 << 20).put("a" * 64, container(b"x"))
    assert call(["cache", "info"]) == 0
    assert "entries    1" in capsys.readouterr().out
    assert call(["cache", "clear"]) == 0
    assert call(["cache", "info", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out.partition("freed\n")[2])["bytes"] == 0


def test_warm_compiles_each_kernel_for_each_shape_once(toy, tmp_path, capsys):
    (tmp_path / "a.ptx").write_bytes(ptx("add()", "fixed() .reqntid 16, 8"))
    command = ["cache", "warm", "--device", "toy", "--block", "256", "--block", "16,16", str(tmp_path / "a.ptx")]
    assert call(command) == 0
    assert "3 compiled, 0 in the cache already, 0 failed" in capsys.readouterr().out
    assert sorted(toy.read_text().split()) == ["add", "add", "fixed"]
    assert call(command) == 0
    assert "0 compiled, 3 in the cache already, 0 failed" in capsys.readouterr().out
    image = keys.image_key((tmp_path / "a.ptx").read_bytes())
    key = keys.kernel_key("test", "toy:1", image, "fixed", (16, 8, 1), "")
    assert Cache(tmp_path / "cache", 1 << 20).get(key)


def test_warm_takes_fat_binaries_as_programs_pass_them(toy, tmp_path, capsys):
    image = fatbin((1, 80, ptx("add()")))
    (tmp_path / "a.fatbin").write_bytes(image + bytes(16) + fatbin((1, 80, ptx("sub()"))))
    assert call(["cache", "warm", "--device", "toy", str(tmp_path)]) == 0
    key = keys.kernel_key("test", "toy:1", keys.image_key(image), "add", (256, 1, 1), "")
    assert Cache(tmp_path / "cache", 1 << 20).get(key)
    assert sorted(toy.read_text().split()) == ["add", "sub"]


def test_warm_takes_wheels_and_kernels_by_name(toy, tmp_path, capsys):
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("package/kernels.fatbin", fatbin((1, 80, ptx("gemm_a()", "gemm_b()", "other()"))))
        wheel.writestr("package/readme.txt", "nothing")
    assert call(["cache", "warm", "--device", "toy", "--kernel", "gemm*", "--jobs", "1", str(tmp_path)]) == 0
    assert sorted(toy.read_text().split()) == ["gemm_a", "gemm_b"]
    assert "2 compiled" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("directive", "asked", "shapes"),
    [
        ("", (), [(256, 1, 1)]),
        ("", ("64", "32,2"), [(64, 1, 1), (32, 2, 1)]),
        (".maxntid 128", (), [(128, 1, 1)]),
        (".maxntid 16, 16, 1", (), [(16, 16, 1)]),
        (".maxntid 128", ("64",), [(64, 1, 1)]),
        (".reqntid 96", ("64",), [(96, 1, 1)]),
        (".maxntid 2048", (), [(256, 1, 1)]),
    ],
)
def test_a_kernel_is_compiled_for_the_shape_it_is_likely_launched_with(toy, tmp_path, directive, asked, shapes):
    (tmp_path / "a.ptx").write_bytes(ptx(f"add() {directive}"))
    options = [word for shape in asked for word in ("--block", shape)]
    assert call(["cache", "warm", "--device", "toy", *options, str(tmp_path / "a.ptx")]) == 0
    image = keys.image_key((tmp_path / "a.ptx").read_bytes())
    cache = Cache(tmp_path / "cache", 1 << 20)
    assert all(cache.get(keys.kernel_key("test", "toy:1", image, "add", shape, "")) for shape in shapes)
    assert len(list(cache.entries())) == len(shapes)


def test_the_variant_that_a_version_asks_for_is_compiled_too(tmp_path, monkeypatch, capsys):
    """rmsnorm's trip counts depend on its third integer: code for multiples has the key that a launch asks for."""
    monkeypatch.setenv("ANYWARP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("ANYWARP_SERVICE_IDLE", "0.5")
    kernel = Path(__file__).resolve().parents[2] / "benchmarks" / "kernels" / "rmsnorm.ptx"
    assert call(["cache", "warm", "--format", "json", str(kernel)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["compiled"], facts["cached"], facts["failed"]) == (1, 0, [])
    found = [unpack(entry.path.read_bytes()) for entry in Cache(tmp_path / "cache", 1 << 30).entries()]
    general = next(a for a in found if a.variant)
    options = "multiple=" + ",".join(":".join(map(str, multiple)) for multiple in sorted(general.variant))
    identity = devices.find("cpu").identity()
    key = keys.kernel_key(build_id(), identity, keys.image_key(kernel.read_bytes()), "rmsnorm", (256, 1, 1), options)
    assert len(found) == 2 and Cache(tmp_path / "cache", 1 << 30).get(key)


@pytest.mark.parametrize("less", ["", "avx512"])
def test_products_for_tiles_have_the_key_that_a_program_asks_for(tmp_path, monkeypatch, capsys, less):
    monkeypatch.setenv("ANYWARP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("ANYWARP_SERVICE_IDLE", "0.5")
    monkeypatch.setenv("ANYWARP_PRODUCT", less)
    ask_for_tiles.cache_clear()
    kernel = Path(__file__).resolve().parents[2] / "benchmarks" / "kernels" / "matrix" / "matrix_product_s8.ptx"
    assert call(["cache", "warm", str(kernel)]) == 0
    identity, image = devices.find("cpu").identity(), keys.image_key(kernel.read_bytes())
    cache = Cache(tmp_path / "cache", 1 << 30)
    found = [
        words
        for words in ("", ":tiles=1")
        if cache.get(keys.kernel_key(build_id(), identity + words, image, "matrix_product_s8", (128, 1, 1), ""))
    ]
    assert found == [":tiles=1" if ask_for_tiles() else ""]
    assert not (less and ask_for_tiles())
    ask_for_tiles.cache_clear()


def test_a_kernel_that_cannot_be_compiled_is_told_and_the_others_are(toy, tmp_path, capsys):
    (tmp_path / "a.ptx").write_bytes(ptx("add()", "defect()"))
    assert call(["cache", "warm", "--device", "toy", str(tmp_path / "a.ptx")]) == 1
    told = capsys.readouterr()
    assert "1 compiled, 0 in the cache already, 1 failed" in told.out and "error[R006]" in told.err
    assert call(["cache", "warm", "--device", "toy", "--format", "json", str(tmp_path / "a.ptx")]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert (facts["compiled"], facts["cached"]) == (0, 1)
    assert [(f["kernel"], f["block"]) for f in facts["failed"]] == [("defect", [256, 1, 1])]


def test_a_damaged_file_is_told_and_the_others_are_taken(toy, tmp_path, capsys):
    (tmp_path / "good.ptx").write_bytes(ptx("add()"))
    (tmp_path / "bad.ptx").write_bytes(b"nothing of the kind")
    assert call(["cache", "warm", "--device", "toy", str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert "bad.ptx" in told.err and "1 compiled" in told.out


def test_nothing_to_compile_is_2(toy, tmp_path, capsys):
    (tmp_path / "empty.ptx").write_bytes(ptx())
    assert call(["cache", "warm", "--device", "toy", str(tmp_path / "empty.ptx")]) == 2
    assert "error[L003]" in capsys.readouterr().err


@pytest.mark.parametrize("block", ["0", "1025", "64,32", "a", "1,2,3,4", "-1", ""])
def test_an_impossible_block_is_refused(toy, tmp_path, block, capsys):
    (tmp_path / "a.ptx").write_bytes(ptx("add()"))
    assert call(["cache", "warm", "--device", "toy", f"--block={block}", str(tmp_path / "a.ptx")]) == 2
    assert "block" in capsys.readouterr().err


def test_directories_are_searched_for_what_may_hold_kernels(tmp_path):
    for name in ("a.ptx", "b.txt", "c.so", "d.so.1", "deep/e.fatbin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [os.fspath(p.relative_to(tmp_path)) for p in warm.files([tmp_path, tmp_path / "b.txt"])]
    assert found == ["a.ptx", "c.so", "d.so.1", "deep/e.fatbin", "b.txt"]
