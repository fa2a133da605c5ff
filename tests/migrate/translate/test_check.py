"""`--check` says of each file what a compiler said of it, and never that something compiles that was not compiled."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.migrate.target import parse_target
from anywarp.migrate.translate import check, hip_compiler

TARGET = parse_target("hip:gfx90a", rocm="7.1")
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "cuda"

FAKE = """\
#!{python}
import sys
from pathlib import Path
source = Path(sys.argv[-1])
Path({log!r}).open("a").write(" ".join(sys.argv[1:]) + "\\n")
text = source.read_text()
if "--cuda-host-only" in sys.argv and "HOST_ERROR" in text:
    sys.exit(f"{{source}}:3:1: error: wrong on the host")
if "DEVICE_ERROR" in text:
    sys.exit(f"/else/where.h:7:2: error: static assertion failed\\n{{source}}:5:6: note: in instantiation requested here\\n{{source}}:9:1: error: second")
if "MISSING" in text:
    sys.exit(f"{{source}}:1:10: fatal error: '" + text.split()[1] + "' file not found")
if "SILENT" in text:
    sys.exit(3)
"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A compiler that judges by words in the text; yields the file with its command lines."""
    log, program = tmp_path / "log", tmp_path / "hipcc"
    log.write_text("")
    program.write_text(FAKE.format(python=sys.executable, log=str(log)))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("ANYWARP_HIP_COMPILER", f"{program} --of-mine")
    monkeypatch.delenv("ANYWARP_HIP_INCLUDE", raising=False)
    hip_compiler.find.cache_clear()
    yield log
    hip_compiler.find.cache_clear()


def results(root: Path, **texts: str) -> dict[str, check.Checked]:
    names = [name.replace("_", ".") for name in texts]
    for name, text in zip(names, texts.values()):
        (root / name).write_text(text)
    return {each.path: each for each in check.check(root, names, TARGET)}


def test_both_sides_are_compiled_for_the_architecture(tmp_path: Path, compiler: Path):
    found = results(tmp_path, a_cu="fine")
    assert found["a.cu"].state == "compiles" and found["a.cu"].diagnostics == []
    lines = [line for line in compiler.read_text().splitlines() if " -S " in line]
    assert [("--cuda-device-only" in line, "--cuda-host-only" in line) for line in lines] == [
        (True, False),
        (False, True),
    ]
    assert all("--of-mine" in line and "--offload-arch=gfx90a" in line and "-x hip" in line for line in lines)


def test_errors_are_told_with_the_line_that_led_to_them(tmp_path: Path, compiler: Path):
    found = results(tmp_path, a_cu="DEVICE_ERROR", b_cu="HOST_ERROR", c_cu="fine")
    assert [each.state for each in found.values()] == ["errors", "errors", "compiles"]
    assert "a.cu:5:6" in found["a.cu"].lines[0] and found["a.cu"].lines[1] == "a.cu:9:1: error: second"
    assert found["b.cu"].lines == ("b.cu:3:1: error: wrong on the host",)
    assert [d.code for d in found["b.cu"].diagnostics] == ["M161"]


def test_a_compiler_that_fails_without_a_word_is_no_success(tmp_path: Path, compiler: Path):
    assert results(tmp_path, a_cu="SILENT")["a.cu"].state == "errors"


def test_a_header_of_another_library_means_unchecked_and_one_of_cuda_an_error(tmp_path: Path, compiler: Path):
    found = results(
        tmp_path, a_cu="MISSING boost/any.hpp", b_cu="MISSING cuda_runtime.h", c_cu="MISSING own.cuh", own_cuh=""
    )
    assert found["a.cu"].state == "unchecked" and "boost/any.hpp" in found["a.cu"].reason
    assert [d.code for d in found["a.cu"].diagnostics] == ["M162"]
    assert found["b.cu"].state == found["c.cu"].state == "errors"
    assert "own.cuh" not in found, "headers are compiled with what includes them"


def test_plain_c_is_compiled_only_where_it_names_hip(tmp_path: Path, compiler: Path):
    found = results(tmp_path, a_cpp="int main() {}", b_cpp="#include <hip/hip_runtime.h>", c_hip="", d_py="")
    assert list(found) == ["b.cpp", "c.hip"]


def test_without_a_compiler_nothing_is_called_fine_and_it_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANYWARP_HIP_COMPILER", str(tmp_path / "nowhere"))
    hip_compiler.find.cache_clear()
    with pytest.raises(AnywarpError, match="M160"):
        hip_compiler.find()
    found = results(tmp_path, a_cu="", b_cu="")
    assert {each.state for each in found.values()} == {"unchecked"}
    assert [d.code for each in found.values() for d in each.diagnostics] == ["M160"]
    hip_compiler.find.cache_clear()


@pytest.mark.hip_compiler
def test_translated_examples_compile(tmp_path: Path):
    """Three programs of different kinds; benchmarks/translate_examples.py has all of them."""
    source, output = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for name in ("example.h", "vector_add.cu", "scan.cu", "callbacks.cu"):
        (source / name).write_bytes((EXAMPLES / name).read_bytes())
    command = [
        sys.executable, "-m", "anywarp", "translate", str(source), "-o", str(output), "--target", "hip:gfx942",
        "--rocm", "7.2", "--check",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("compiles for gfx942") == 3


@pytest.mark.hip_compiler
def test_what_does_not_compile_is_found(tmp_path: Path):
    (tmp_path / "a.cu").write_text("#include <hip/hip_runtime.h>\n__global__ void k(int* p) { *p = nowhere; }\n")
    (tmp_path / "b.cu").write_text("#include <hip/hip_runtime.h>\nint main() { return hipNothing(); }\n")
    (tmp_path / "c.cu").write_text(
        "#include <hip/hip_runtime.h>\n__global__ void k(int* p) { __shared__ int a[70 << 8]; a[*p] = 1; __syncthreads(); *p = a[p[1]]; }\n"
    )
    found = list(check.check(tmp_path, ["a.cu", "b.cu", "c.cu"], TARGET))
    assert [each.state for each in found] == ["errors"] * 3
    assert (
        "a.cu:2:" in found[0].lines[0]
        and "hipNothing" in found[1].lines[0]
        and "exceeds limit" in " ".join(found[2].lines)
    )
