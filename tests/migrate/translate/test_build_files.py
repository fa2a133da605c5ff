"""A project for CUDA, translated, is configured by CMake itself, and what it would call is what HIP needs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path, PurePath

import pytest

from anywarp.catalogue import migration
from anywarp.migrate.target import parse_target
from anywarp.migrate.translate import Options, translate
from anywarp.migrate.translate.build_flags import translate_words
from anywarp.toolchain.option_table import OPTIONS

FAKES = Path(__file__).resolve().parents[2] / "fakes" / "cmake_hip"

PROJECT = """\
cmake_minimum_required(VERSION 3.18)
project(waves LANGUAGES CXX CUDA)
find_package(CUDAToolkit 11.0 REQUIRED)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_ARCHITECTURES 70 80)
set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} --expt-relaxed-constexpr -lineinfo")
add_library(core STATIC core.cpp kernels.cu)
target_compile_options(core PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-use_fast_math;-Xcompiler=-Wall>)
target_compile_features(core PUBLIC cuda_std_17)
set_target_properties(core PROPERTIES CUDA_SEPARABLE_COMPILATION ON POSITION_INDEPENDENT_CODE ON)
target_link_libraries(core PUBLIC CUDA::cudart CUDA::cublas)
add_executable(app main.cu)
target_link_libraries(app PRIVATE core CUDA::cufft)
"""

PACKAGES = {"hip": ["hip::host", "hip::device"], "hipblas": ["roc::hipblas"], "hipfft": ["hip::hipfft"]}

needs_cmake = pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which("c++") is None, reason="needs CMake and a compiler of C++"
)


def translated(text: str, name: str, keep_cuda: bool = False) -> str:
    options = Options(parse_target("hip:gfx942", rocm="7.1"), keep_cuda=keep_cuda)
    return translate(text.encode(), PurePath(name), options).text.decode()


def configure(folder: Path, text: str, *options: str) -> dict[str, str]:
    """Configure a project with the stand-in for the language HIP; return each source with the command that compiles it."""
    for name in ("core.cpp", "kernels.cu", "main.cu"):
        (folder / name).write_text("int f();\n")
    (folder / "CMakeLists.txt").write_text(text)
    for package, targets in PACKAGES.items():
        lines = "".join(f"if(NOT TARGET {t})\n  add_library({t} INTERFACE IMPORTED)\nendif()\n" for t in targets)
        place = folder / "packages" / package
        place.mkdir(parents=True)
        (place / f"{package}-config.cmake").write_text(lines)
    command = [
        "cmake", "-G", "Unix Makefiles", "-S", str(folder), "-B", str(folder / "out"), f"-DCMAKE_MODULE_PATH={FAKES}",
        f"-DCMAKE_PREFIX_PATH={folder / 'packages'}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((folder / "out" / "compile_commands.json").read_text())
    return {Path(each["file"]).name: each["command"] for each in found}


@needs_cmake
@pytest.mark.parametrize("keep_cuda", [False, True])
def test_a_translated_project_is_configured_with_the_options_of_hip(tmp_path: Path, keep_cuda: bool):
    text = translated(PROJECT, "CMakeLists.txt", keep_cuda)
    commands = configure(tmp_path, text, *(["-DUSE_HIP=ON"] if keep_cuda else []))
    for source in ("kernels.cu", "main.cu"):
        assert "-x c++" in commands[source], "the stand-in for HIP compiles it"
        assert "-gline-tables-only" in commands[source].split()
    words = commands["kernels.cu"].split()
    for option in ("-fgpu-rdc", "-fgpu-approx-transcendentals", "-Wall", "-fPIC", "-std=gnu++17"):
        assert option in words, option
    assert not {"--expt-relaxed-constexpr", "-lineinfo", "-use_fast_math"} & set(words)
    assert "-fgpu-rdc" not in commands["main.cu"].split()
    assert "-x c++" not in commands["core.cpp"] and "-gline-tables-only" not in commands["core.cpp"]


def test_every_option_of_nvcc_has_a_row():
    assert {row["option"] for row in migration.rows("nvcc_options")} == {option.name for option in OPTIONS}


def test_options_with_and_without_space_are_the_same():
    for joined, spaced in (
        ("-arch=sm_80", "-arch sm_80"),
        ("-Xcompiler=-fPIC", "-Xcompiler -fPIC"),
        ("-rdc=true", "-rdc true"),
    ):
        one = [change.words for change in translate_words(joined.split(), "gfx942")]
        two = [change.words for change in translate_words(spaced.split(), "gfx942")]
        assert one == two


@pytest.mark.parametrize("name", ["CMakeLists.txt", "Makefile", "setup.py", "meson.build", "BUILD"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe nvcc \x80",
        b"(" * 5000,
        b"nvcc " * 20000,
        b"set(CUDA_NVCC_FLAGS",
        b'"' * 999,
        b"$(" * 3000,
        b"\\\n" * 3000,
    ],
    ids=["empty", "binary", "open", "long", "cut", "quotes", "dollars", "joined"],
)
def test_hostile_build_files_end_soon_and_keep_their_bytes_or_say_so(name: str, data: bytes):
    options = Options(parse_target("hip:gfx942", rocm="7.1"))
    translate(data, PurePath(name), options)
