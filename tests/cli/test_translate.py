"""`anywarp translate` on trees: what is written and where, what is taken back, what is told, and what is never touched."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from anywarp.cli.main import call
from anywarp.migrate import crew

SOURCE = b"#include <cuda_runtime.h>\n// cudaFree frees\nint main() { return cudaDeviceReset(); }\n"
TARGET = b"#include <hip/hip_runtime.h>\n// cudaFree frees\nint main() { return hipDeviceReset(); }\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "src"
    (root / "gpu").mkdir(parents=True)
    (root / "gpu" / "main.cu").write_bytes(SOURCE)
    (root / "gpu" / "main.cu").chmod(0o640)
    (root / "gpu" / "part.h").write_bytes(b'#pragma once\n#if CUDA_VERSION > 1\n#include "main.cu"\n#endif\n')
    (root / "README.md").write_bytes(b"uses cudaMalloc\n")
    (root / "plain.cpp").write_bytes(b"int x;\n")
    return root


def content(root: Path) -> dict[str, bytes]:
    return {str(each.relative_to(root)): each.read_bytes() for each in sorted(root.rglob("*")) if each.is_file()}


def test_a_tree_is_mirrored_and_the_source_is_untouched(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    before, out = content(tree), tmp_path / "out"
    assert call(["translate", str(tree), "-o", str(out)]) == 0
    after = content(out)
    assert set(after) == {*before, "anywarp_version.h"}
    assert after["gpu/main.cu"] == TARGET and after["README.md"] == before["README.md"]
    assert after["plain.cpp"] == before["plain.cpp"]
    assert b'#include "../anywarp_version.h"' in after["gpu/part.h"]
    assert (out / "gpu" / "main.cu").stat().st_mode & 0o777 == 0o640
    assert content(tree) == before
    assert "3 sources and 0 build files read, 2 changed with 4 edits" in capsys.readouterr().out


def test_without_a_place_to_write_nothing_is_written(tree: Path):
    before = content(tree.parent)
    assert call(["translate", str(tree)]) == 0
    assert content(tree.parent) == before


def test_a_single_file(tree: Path, tmp_path: Path):
    assert call(["translate", str(tree / "gpu" / "main.cu"), "-o", str(tmp_path / "out")]) == 0
    assert content(tmp_path / "out") == {"main.cu": TARGET}


def test_a_single_file_is_written_as_the_file_that_is_named(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    source, new = tree / "gpu" / "main.cu", tmp_path / "a" / "b.hip.cpp"
    source.write_bytes(b"__global__ void k(int *x) { *x = __ballot_sync(0xffffffff, *x); }\n")
    for _ in range(2):
        assert call(["translate", str(source), "-o", str(new)]) == 0
        assert {"b.hip.cpp", "anywarp_warp.h"} <= set(content(new.parent)) and b"hip_runtime" in new.read_bytes()
    assert "b.hip.cpp" in capsys.readouterr().out
    assert call(["translate", str(source), "-o", str(source)]) == 2
    assert "M103" in capsys.readouterr().err
    assert call(["translate", str(source), "-o", str(new.parent)]) == 0
    assert call(["translate", str(source), "-o", f"{tmp_path}/c.d/"]) == 0
    assert (new.parent / "main.cu").is_file() and (tmp_path / "c.d" / "main.cu").is_file()
    (tmp_path / "link.cu").symlink_to(new)
    before = new.read_bytes()
    assert call(["translate", str(tree / "gpu" / "part.h"), "-o", str(tmp_path / "link.cu")]) == 2
    assert new.read_bytes() == before
    assert call(["translate", str(source), "-o", "x.hip", "--rename", ".hip"]) == 2


def test_suffixes_are_changed_where_files_are_included_too(tree: Path, tmp_path: Path):
    assert call(["translate", str(tree), "-o", str(tmp_path / "out"), "--rename", ".hip"]) == 0
    after = content(tmp_path / "out")
    assert after["gpu/main.hip"] == TARGET and "gpu/main.cu" not in after
    assert b'#include "main.hip"' in after["gpu/part.h"]


def test_in_place_is_taken_back_byte_for_byte(tree: Path, capsys: pytest.CaptureFixture[str]):
    before = content(tree)
    assert call(["translate", str(tree), "--in-place"]) == 0
    assert (tree / "gpu" / "main.cu").read_bytes() == TARGET
    assert (tree / "gpu" / "main.cu").stat().st_mode & 0o777 == 0o640
    assert call(["translate", str(tree), "--in-place"]) == 0, "twice changes nothing"
    assert (tree / "gpu" / "main.cu").read_bytes() == TARGET
    assert call(["translate", "--undo", str(tree)]) == 0
    assert content(tree) == before
    assert call(["translate", "--undo", str(tree)]) == 2
    assert "M106" in capsys.readouterr().err


def test_undo_names_the_list_or_the_file(tree: Path):
    place = tree / "gpu" / "main.cu"
    assert call(["translate", str(place), "--in-place"]) == 0
    lists = [each for each in place.parent.iterdir() if each.name.endswith(".anywarp-edits.json")]
    assert len(lists) == 1 and place.read_bytes() == TARGET
    assert call(["translate", "--undo", str(lists[0])]) == 0
    assert place.read_bytes() == SOURCE
    assert call(["translate", str(place), "--in-place"]) == 0
    assert call(["translate", "--undo", str(place)]) == 0
    assert place.read_bytes() == SOURCE


def test_undo_refuses_a_file_that_was_changed_since(tree: Path, capsys: pytest.CaptureFixture[str]):
    place = tree / "gpu" / "main.cu"
    assert call(["translate", str(tree), "--in-place"]) == 0
    place.write_bytes(TARGET + b"// more\n")
    assert call(["translate", "--undo", str(tree)]) == 2
    assert place.read_bytes() == TARGET + b"// more\n"
    assert "changed since" in capsys.readouterr().err
    place.write_bytes(TARGET)
    assert call(["translate", "--undo", str(tree)]) == 0, "it stayed on the list"
    assert place.read_bytes() == SOURCE


def test_undo_takes_away_the_headers_that_were_added_unless_somebody_changed_them(tree: Path):
    place = tree / "gpu" / "warp.cu"
    before = b"__global__ void k(int *x) { *x = __ballot_sync(0xffffffff, *x); }\n"
    place.write_bytes(before)
    old = content(tree)
    assert call(["translate", str(tree), "--in-place"]) == 0
    assert (tree / "anywarp_warp.h").exists() and place.read_bytes() != before
    assert call(["translate", "--undo", str(tree)]) == 0
    assert content(tree) == old
    assert call(["translate", str(tree), "--in-place"]) == 0
    (tree / "anywarp_warp.h").write_bytes(b"// mine\n")
    assert call(["translate", "--undo", str(tree)]) == 2
    assert (tree / "anywarp_warp.h").read_bytes() == b"// mine\n" and place.read_bytes() == before


@pytest.mark.skipif(shutil.which("patch") is None, reason="this machine has no patch")
def test_a_diff_is_what_patch_takes(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert call(["translate", str(tree), "--diff"]) == 0
    diff = capsys.readouterr().out
    assert "-int main() { return cudaDeviceReset(); }\n+int main() { return hipDeviceReset(); }\n" in diff
    assert " // cudaFree frees\n" in diff and "\x1b" not in diff
    assert content(tree)["gpu/main.cu"] == SOURCE
    subprocess.run(["patch", "-p1", "-s", "-d", str(tree)], input=diff.encode(), check=True)
    assert (tree / "gpu" / "main.cu").read_bytes() == TARGET


def test_json_tells_every_edit_and_diagnostic(tree: Path, capsys: pytest.CaptureFixture[str]):
    (tree / "bad.cpp").write_bytes(b"\n  cudaCtxResetPersistingL2Cache();\n")
    assert call(["translate", str(tree), "--format", "json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["exit"] == 1
    (main,) = [each for each in result["files"] if each["file"] == "gpu/main.cu"]
    assert [each["text"] for each in main["edits"]] == ["<hip/hip_runtime.h>", "hipDeviceReset"]
    assert all(each["reason"] and each["rule"] for each in main["edits"])
    (problem,) = result["diagnostics"]
    assert (problem["code"], problem["file"], problem["line"], problem["column"]) == ("M111", "bad.cpp", 2, 3)


def test_several_processes_give_the_same(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(crew, "_SMALL_FILES", 5)
    for index in range(20):
        (tree / f"{index}.cu").write_bytes(SOURCE * (index + 1))
    assert call(["translate", str(tree), "-o", str(tmp_path / "one"), "--jobs", "1"]) == 0
    assert call(["translate", str(tree), "-o", str(tmp_path / "two"), "--jobs", "2"]) == 0
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_one_text_for_both_vendors(tree: Path, tmp_path: Path):
    (tree / "blas.cpp").write_bytes(b"#include <cublas_v2.h>\ncublasHandle_t h;\nint v = CUDART_VERSION;\n")
    assert call(["translate", str(tree), "-o", str(tmp_path / "out"), "--keep-cuda"]) == 0
    after = content(tmp_path / "out")
    assert after["gpu/main.cu"].endswith(b"#endif\n// cudaFree frees\nint main() { return cudaDeviceReset(); }\n")
    names = after["anywarp_cuda_names.h"].decode()
    lines = names.splitlines()
    assert "#define cudaDeviceReset hipDeviceReset" in lines and "#define cublasHandle_t hipblasHandle_t" in lines
    assert "#include <hip/hip_runtime.h>" in lines and "#include <hipblas/hipblas.h>" in lines
    assert "#define CUDART_VERSION ANYWARP_CUDA_VERSION" in lines and "anywarp_version.h" in after
    assert not any("cudaFree" in line for line in lines), "a comment uses no name"
    assert call(["translate", str(tmp_path / "out"), "-o", str(tmp_path / "again"), "--keep-cuda"]) == 0
    assert content(tmp_path / "again") == after


def test_excluded_files_are_left_out(tree: Path, tmp_path: Path):
    assert call(["translate", str(tree), "-o", str(tmp_path / "out"), "--exclude", "gpu/", "--exclude", "*.md"]) == 0
    assert set(content(tmp_path / "out")) == {"plain.cpp"}


def test_hostile_trees(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A file of 200 MB, junk, links in a loop and out of the tree, odd names: told one by one, and the rest is translated."""
    with open(tree / "large.cu", "wb") as large:
        large.truncate(200 << 20)
    (tree / "junk.cu").write_bytes(bytes(range(256)) * 50)
    (tree / "loop").symlink_to(tree)
    secret = tmp_path / "secret.cu"
    secret.write_bytes(SOURCE)
    (tree / "out.cu").symlink_to(secret)
    odd = b"odd \"quote'\n\x1b[31m\xff.cu"
    with open(os.path.join(os.fsencode(tree), odd), "wb") as file:
        file.write(SOURCE)
    os.mkfifo(tree / "pipe.cu")
    before = hashlib.sha256(secret.read_bytes()).digest()
    assert call(["translate", str(tree), "-o", str(tmp_path / "out")]) == 2
    words = capsys.readouterr().err
    assert "M003" in words and "M102" in words and "\x1b" not in words
    out = os.fsencode(tmp_path / "out")
    assert (tmp_path / "out" / "gpu" / "main.cu").read_bytes() == TARGET
    with open(os.path.join(out, odd), "rb") as file:
        assert file.read() == TARGET
    assert not os.path.lexists(tmp_path / "out" / "loop") and not os.path.lexists(tmp_path / "out" / "out.cu")
    assert hashlib.sha256(secret.read_bytes()).digest() == before
    assert {each.name for each in tmp_path.iterdir()} == {"src", "out", "secret.cu"}


def test_nothing_is_written_through_a_link_in_the_output(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    victim = tmp_path / "victim"
    victim.mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "gpu").symlink_to(victim)
    assert call(["translate", str(tree), "-o", str(out)]) == 2
    assert list(victim.iterdir()) == [] and "M105" in capsys.readouterr().err
    assert (out / "plain.cpp").exists()


def test_an_output_folder_inside_the_source_is_not_translated_again(tree: Path):
    for _ in range(2):
        assert call(["translate", str(tree), "-o", str(tree / "hip")]) == 0
    assert not (tree / "hip" / "hip").exists()


@pytest.mark.parametrize(
    "words, told",
    [
        (["translate"], "which file or folder"),
        (["translate", "SRC", "-o", "x", "--in-place"], "exclude each other"),
        (["translate", "SRC", "-o", "SRC"], "M103"),
        (["translate", "SRC", "--target", "cpu"], "M100"),
        (["translate", "SRC", "--target", "hip:gfx"], "M001"),
        (["translate", "SRC", "--rocm", "1.0"], "M001"),
        (["translate", "SRC", "--in-place", "--rename", ".hip"], "-o"),
        (["translate", "SRC", "--rename", "hip"], "suffix"),
        (["translate", "SRC/none"], "M011"),
        (["translate", "--undo", "SRC"], "M106"),
    ],
)
def test_what_cannot_be_done_is_said(tree: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]):
    before = content(tree)
    assert call([word.replace("SRC", str(tree)) for word in words]) == 2
    assert told in capsys.readouterr().err
    assert content(tree) == before


def test_a_name_that_another_file_declares_is_nobodys_problem(tree: Path, capsys: pytest.CaptureFixture[str]):
    (tree / "own.h").write_bytes(b"#define cudaOwnCheck(x) x\nfloat cuOwnHelper(float x);\nstruct cudaOwnState;\n")
    user = b'#include "own.h"\nvoid f(cudaOwnState *s) { cudaOwnCheck(1); cuOwnHelper(2); cudaNobodys(3); cudaNobodys(4); }\n'
    (tree / "gpu" / "user.cpp").write_bytes(user)
    for jobs in ("1", "2"):
        assert call(["translate", str(tree), "--format", "json", "--jobs", jobs]) == 1
        result = json.loads(capsys.readouterr().out)
        told = [(each["code"], each["file"], each["line"], each["column"]) for each in result["diagnostics"]]
        assert told == [("M119", "gpu/user.cpp", 2, 60)]


def test_an_old_shuffle_that_a_header_makes_of_the_new_one_stays_as_its_users_wrote_it(tree: Path):
    (tree / "compat.cuh").write_bytes(b"#pragma once\n#define __shfl_down(v, d) __shfl_down_sync(~0u, v, d)\n")
    use = b'#include "compat.cuh"\n__device__ int f(int x) { return __shfl_down(x, 1) + __shfl_xor(x, 1); }\n'
    (tree / "gpu" / "use.cuh").write_bytes(use)
    assert call(["translate", str(tree), "--in-place"]) == 0
    assert b"return __shfl_down(x, 1) + __shfl_xor(x, 1, 32)" in (tree / "gpu" / "use.cuh").read_bytes()
    assert b"#define __shfl_down(v, d) __shfl_down(v, d, 32)" in (tree / "compat.cuh").read_bytes()
