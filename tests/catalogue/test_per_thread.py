"""Variants for per-thread default streams are made from the signatures: each calls its function, with all arguments, in the order given."""

import re

import pytest

from anywarp.catalogue import generate_per_thread
from anywarp.catalogue.load import DATA, Row, Table, TableError

HEADER = (DATA.parents[1] / "toolchain/include/13/cuda.h").read_text()
PASSED = generate_per_thread.passed_types(HEADER)


def row(name, parameters=1):
    return Row(name, re.sub(r"(_v\d+)?_pt[sd][sz]$", "", name), "custom", "", 7000, True, parameters, "")


def test_a_variant_calls_its_function_under_the_threads_default_stream():
    table = Table("a test", (row("cuStreamWaitEvent_ptsz", 3),))
    known = {"cuStreamWaitEvent": "CUstream hStream, CUevent hEvent, unsigned int Flags"}
    text = generate_per_thread.variants(table, known, PASSED)
    assert "AW_EXPORT CUresult cuStreamWaitEvent_ptsz(void* hStream, void* hEvent, unsigned int Flags) {" in text
    body = text[text.index("AW_EXPORT") :]
    assert body.index("PerThreadDefault scope;") < body.index(
        "return aw_base_cuStreamWaitEvent(hStream, hEvent, Flags);"
    )
    assert "aw_base_cuStreamWaitEvent = cuStreamWaitEvent;\n" in generate_per_thread.symbols(table)


@pytest.mark.parametrize(
    ("kind", "passed"),
    [
        ("CUstreamCaptureMode", "int"),  # an enum
        ("CUstreamAttrID", "int"),  # another name of an enum
        ("CUgraphExec", "void*"),
        ("CUhostFn", "void*"),
        ("const CUDA_MEMCPY2D *", "void*"),
        ("CUdeviceptr", "CUdeviceptr"),
        ("CUmemLocation", "CUmemLocation"),  # a structure of two ints, by value
        ("unsigned long long", "unsigned long long"),
    ],
)
def test_parameters_are_passed_as_cuda_h_says(kind, passed):
    assert generate_per_thread.parameter(kind, PASSED) == passed


@pytest.mark.parametrize("kind", ["CUmadeUp", "CUmemAllocationProp", "wchar_t"])
def test_a_type_that_is_not_known_stops_the_build(kind):
    with pytest.raises(TableError, match=kind):
        generate_per_thread.parameter(kind, PASSED)


def test_each_driver_has_the_variants_that_its_table_serves(tmp_path):
    made = generate_per_thread.generate(DATA, DATA.parents[1] / "toolchain/include/13/cuda.h", tmp_path)
    cuda, hip = (file for file in made if file.suffix == ".cpp")
    made = {file: set(re.findall(r"^AW_EXPORT CUresult (\w+)\(", file.read_text(), re.M)) for file in (cuda, hip)}
    assert "cuMemBatchDecompressAsync_ptsz" in made[cuda] - made[hip]  # absent over HIP
    assert "cuLaunchKernel_ptsz" in made[cuda] & made[hip]
    assert not made[hip] - made[cuda]
