"""Ranges that a program gives NVTX reach AMD's profilers as ROCTx ranges, on the device hip only."""

import json

import pytest

from anywarp import settings
from fakes.rocm.table_fake import PRELUDE, build
from native.rocm_program import run

pytestmark = pytest.mark.native

ROCTX = """
void roctxMarkA(const char* m) { begin("mark"), fprintf(out(), ", \\"text\\": \\"%s\\"", m), end(); }
int roctxRangePushA(const char* m) { begin("push"), fprintf(out(), ", \\"text\\": \\"%s\\"", m), end(); return 3; }
int roctxRangePop(void) { begin("pop"), end(); return 2; }
uint64_t roctxRangeStartA(const char* m) { static uint64_t n = 70; begin("start"), fprintf(out(), ", \\"text\\": \\"%s\\"", m), end(); return ++n; }
void roctxRangeStop(uint64_t id) { begin("stop"), large("id", id), end(); }
"""
PROGRAM = """
L = ctypes.CDLL({library!r})
L.nvtxRangeStartA.restype = ctypes.c_uint64
L.nvtxMarkA(b"here")
out["push"] = [L.nvtxRangePushA(b"outer"), L.nvtxRangePushW("inner \\u00e9"), L.nvtxRangePop(), L.nvtxRangePop()]
first, second = L.nvtxRangeStartA(b"one"), L.nvtxRangeStartA(b"two")
L.nvtxRangeEnd(ctypes.c_uint64(first)); L.nvtxRangeEnd(ctypes.c_uint64(second)); L.nvtxRangeEnd(ctypes.c_uint64(second))
"""


@pytest.mark.parametrize("name", ["librocprofiler-sdk-roctx.so.1", "libroctx64.so.4"])
def test_ranges_reach_roctx(tmp_path, name):
    build(PRELUDE + ROCTX, tmp_path / name)
    program = PROGRAM.format(library=str(settings.LIBRARY_DIR.get().resolve() / "libnvToolsExt.so.1"))
    answer = run(program, tmp_path, tmp_path, ANYWARP_DEVICE="hip")
    texts = [(call["call"], call.get("text", call.get("id"))) for call in answer.calls]
    assert texts == [
        ("mark", "here"), ("push", "outer"), ("push", "inner é"), ("pop", None), ("pop", None),
        ("start", "one"), ("start", "two"), ("stop", 71), ("stop", 72),
    ]  # fmt: skip
    assert answer.out["push"] == [3, 3, 2, 2]
    answer = run(program, tmp_path, tmp_path, ANYWARP_DEVICE="cpu")
    assert json.dumps(answer.calls) == "[]"
