"""The types of our C++ are those of the cuda.h that programs are compiled with, and lie as NVIDIA's do."""

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from anywarp.catalogue import generate_types

ROOT = Path(__file__).resolve().parents[2]
TYPES = ROOT / "native/cuda/cuda_types.h"
HEADER = """extern "C" {
#endif

typedef struct CUpaint_st *CUpaint;
typedef enum CUcolour_enum
{
  CU_COLOUR_NONE = -1,
  CU_COLOUR_RED = 0x10
} CUcolour;
typedef enum CUcolour_flags_enum
{
  CU_COLOUR_BRIGHT = 1
} CUcolour_flags;

CUresult cuPaint(CUpaint paint);
"""


def test_the_header_in_the_tree_is_current():
    made = generate_types.text(generate_types.HEADER.read_text(encoding="utf-8"))
    assert TYPES.read_text(encoding="utf-8") == made, "run scripts/docs"


def test_enumerators_are_read_with_their_values():
    assert generate_types.enumerations(HEADER) == {
        "CUcolour": [("CU_COLOUR_NONE", -1), ("CU_COLOUR_RED", 16)],
        "CUcolour_flags": [("CU_COLOUR_BRIGHT", 1)],
    }


def test_types_come_without_functions_and_enumerations_say_what_holds_them():
    made = generate_types.text(HEADER)
    assert "typedef struct CUpaint_st *CUpaint;" in made and "cuPaint" not in made
    assert "enum CUcolour : int {" in made and "enum CUcolour_flags : unsigned {" in made


def test_values_that_the_manual_prints():
    """CUDA Driver API manual, section Data types used by CUDA driver."""
    known = {
        word: value
        for each in generate_types.enumerations(generate_types.HEADER.read_text()).values()
        for word, value in each
    }
    printed = {
        "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED": 901, "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR": 75,
        "CU_EVENT_INTERPROCESS": 4, "CU_JIT_INFO_LOG_BUFFER": 3, "CU_GRAPH_NODE_TYPE_CONDITIONAL": 13, "CU_MEMORYTYPE_UNIFIED": 4,
    }  # fmt: skip
    assert {word: known[word] for word in printed} == printed


def nvidia() -> Path | None:
    """The folder of NVIDIA's own cuda.h, from the wheel nvidia-cuda-runtime."""
    found = find_spec("nvidia")
    places = [Path(each) / "cu13" / "include" for each in found.submodule_search_locations or ()] if found else []
    return next((each for each in places if (each / "cuda.h").exists()), None)


def fields(header: str) -> list[tuple[str, str]]:
    """Every structure with each of its outermost fields that has a name; "" for the structure itself."""
    out = []
    for body, name in re.findall(r"^typedef (?:struct|union) \w+\n\{\n(.*?)^\} (\w+);", header, re.M | re.S):
        out.append((name, ""))
        for line in body.splitlines():
            found = re.match(r"  (?:[^ {}].*?|\} )(\w+)(?:\[.*\])?;$", line)
            if found:
                out.append((name, found[1]))
    return out


@pytest.mark.skipif(
    shutil.which("g++") is None or nvidia() is None, reason="needs g++ and the wheel nvidia-cuda-runtime"
)
def test_every_structure_lies_as_nvidias(tmp_path: Path):
    asked = fields(TYPES.read_text())
    assert len(asked) > 500
    lines = [
        f'  printf("{name}.{field} %zu\\n", {f"offsetof({name}, {field})" if field else f"sizeof({name})"});'
        for name, field in asked
    ]
    told = []
    for header, folder in ((str(TYPES), ROOT), ("cuda.h", nvidia())):
        source = f"#include <cstddef>\n#include <cstdio>\n#include {f'<{header}>'}\nint main() {{\n"
        (tmp_path / "lie.cpp").write_text(source + "\n".join(lines) + "\n}\n")
        command = ["g++", "-std=c++20", "-w", "-D__CUDA_API_VERSION_INTERNAL", f"-I{folder}", "lie.cpp", "-o", "lie"]
        subprocess.run(command, cwd=tmp_path, check=True)
        told.append(
            subprocess.run(["./lie"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split("\n")
        )
    assert told[0] == told[1]


def test_no_driver_speaks_of_a_value_by_its_number():
    bare = re.compile(
        r"^\s+(?:\{\d+, (?:\d|k[A-Z]|hipDeviceAttribute)|case \d+:  //)|static_cast<CUresult>\(\d|\bCUresult\(\d", re.M
    )
    drivers = [path for name in ("cuda", "cpu", "hip", "cudart") for path in (ROOT / "native" / name).glob("*.cpp")]
    assert len(drivers) > 100 and not [str(path) for path in drivers if bare.search(path.read_text(encoding="utf-8"))]
