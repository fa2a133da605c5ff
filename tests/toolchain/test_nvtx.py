"""Programs with NVTX's headers: their ranges are in the trace of a run, and without a tool they run on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.toolchain import compile_commands

HERE = Path(__file__).resolve().parent
TOOLKIT = Path("/usr/local/cuda/include")


def built(tmp_path):
    program = tmp_path / "program"
    command = [sys.executable, "-m", "anywarp.toolchain", HERE / "nvtx_program.cu", HERE / "nvtx_part.c", "-o", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


@pytest.mark.native
def test_ranges_and_marks_are_in_the_trace(tmp_path):
    program, trace = built(tmp_path), tmp_path / "trace.json"
    command = [sys.executable, "-m", "anywarp", "run", "--trace", trace, "--", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "1", "1", "0", "-1"]  # depths, and an error where nothing is open
    events = json.loads(trace.read_text())["traceEvents"]
    told = [(each["cat"], each["name"]) for each in events if each.get("cat") in ("range", "mark")]
    expected = [
        ("range", "outer"), ("range", "wide é"), ("range", "scoped"), ("range", "input: opened"), ("range", "named_by_its_function"),
        ("range", "started"), ("range", "unique"), ("mark", "input: marked"), ("mark", "in C"),
    ]  # fmt: skip
    assert sorted(told) == sorted(expected)


@pytest.mark.native
@pytest.mark.parametrize("tool", [None, "/nowhere/tool.so"])
def test_without_a_tool_nothing_is_pushed(tool, tmp_path):
    program = built(tmp_path)
    environment = {name: value for name, value in os.environ.items() if name != "NVTX_INJECTION64_PATH"}
    if tool:
        environment["NVTX_INJECTION64_PATH"] = tool
    done = subprocess.run([program], capture_output=True, text=True, env=environment, check=False, timeout=100)
    assert done.stdout.split() == ["-2"] * 5


@pytest.mark.nvcc
@pytest.mark.skipif(not (TOOLKIT / "nvtx3").exists(), reason="no toolkit of NVIDIA's of this version here")
def test_values_and_layouts_are_those_of_the_toolkit(tmp_path):
    said = []
    for number, folders in enumerate([compile_commands.FOLDERS, [TOOLKIT]]):
        program = tmp_path / f"facts{number}"
        words = ["gcc", *(f"-I{folder}" for folder in folders), HERE / "nvtx_facts.c", "-o", program]
        subprocess.run(words, check=True)
        said.append(subprocess.run([program], capture_output=True, text=True, check=True).stdout)
    assert said[0] == said[1]


def test_functions_for_both_sides_may_hold_a_range_that_only_the_host_begins(nvcc, tmp_path):
    (tmp_path / "a.cu").write_text("""#include <nvtx3/nvtx3.hpp>
struct Perhaps {
  bool begun = false;
  union { nvtx3::scoped_range range; };
  __host__ __device__ Perhaps() {}
  __host__ __device__ ~Perhaps() { if (begun) range.~scoped_range_in(); }
};
__host__ __device__ int three() { Perhaps range; return 3; }
__global__ void k(int *p) { *p = three(); }
""")
    nvcc("-std=c++17", "-c", "a.cu")
