"""The enumerations that our C++ speaks of by name are those of the cuda.h that programs are compiled with."""

import re
from pathlib import Path

from anywarp.catalogue import generate_values

ROOT = Path(__file__).resolve().parents[2]
HEADER = """typedef enum CUcolour_enum
{
  CU_COLOUR_NONE = -1,
  CU_COLOUR_RED = 0x10
} CUcolour;
"""


def test_the_header_in_the_tree_is_current():
    made = generate_values.text(generate_values.HEADER.read_text(encoding="utf-8"))
    assert (ROOT / "native/cuda/cuda_values.h").read_text(encoding="utf-8") == made, "run scripts/docs"


def test_enumerators_are_read_with_their_values():
    assert generate_values.enumerations(HEADER) == {"CUcolour": [("CU_COLOUR_NONE", -1), ("CU_COLOUR_RED", 16)]}


def test_values_that_the_manual_prints():
    """CUDA Driver API manual, section Data types used by CUDA driver."""
    known = {
        word: value
        for each in generate_values.enumerations(generate_values.HEADER.read_text()).values()
        for word, value in each
    }
    printed = {
        "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED": 901, "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR": 75,
        "CU_EVENT_INTERPROCESS": 4, "CU_JIT_INFO_LOG_BUFFER": 3, "CU_GRAPH_NODE_TYPE_CONDITIONAL": 13, "CU_MEMORYTYPE_UNIFIED": 4,
    }  # fmt: skip
    assert {word: known[word] for word in printed} == printed


def test_no_driver_speaks_of_an_attribute_by_its_number():
    bare = re.compile(r"^\s+(?:\{\d+, (?:\d|k[A-Z]|hipDeviceAttribute)|case \d+:  //)", re.M)
    drivers = ("device_attributes.cpp", "device_functions.cpp", "several_devices.cpp")
    files = [path for name in drivers for path in (ROOT / "native").rglob(name)]
    assert len(files) == 4 and not [str(path) for path in files if bare.search(path.read_text(encoding="utf-8"))]
