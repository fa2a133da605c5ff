"""Ranges and marks of a program, through linked functions and through the injection of header-only NVTX, in the trace of a run."""

import json
import os
import subprocess
import sys

import pytest

from anywarp import settings

pytestmark = pytest.mark.native

LINKED = """
import ctypes
cuda, nvtx = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libnvToolsExt.so.1")
assert cuda.cuInit(0) == 0
nvtx.nvtxDomainCreateA.restype = nvtx.nvtxDomainRegisterStringA.restype = ctypes.c_void_p
nvtx.nvtxRangeStartW.restype = ctypes.c_uint64
"""

ATTRIBUTES = """
class Attributes(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint16), ("size", ctypes.c_uint16), ("category", ctypes.c_uint32),
                ("color_type", ctypes.c_int32), ("color", ctypes.c_uint32), ("payload_type", ctypes.c_int32),
                ("reserved", ctypes.c_int32), ("payload", ctypes.c_uint64), ("message_type", ctypes.c_int32),
                ("message", ctypes.c_void_p)]
"""

# As nvtxImpl.h does it: the tool is asked to fill pointers that the header's functions call through.
INJECTED = """
import ctypes, os
Table = ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))
GetTable = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint))
class Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("get", GetTable)]
slots = {1: (ctypes.c_void_p * 16)(), 5: (ctypes.c_void_p * 16)()}
tables = {m: (ctypes.c_void_p * 17)(*[ctypes.addressof(s) + 8 * i for i in range(16)], None) for m, s in slots.items()}
def get(module, table, count):
    if module not in tables:
        return 0
    table[0], count[0] = ctypes.addressof(tables[module]), 16
    return 1
callbacks = Callbacks(ctypes.sizeof(Callbacks), GetTable(get))
Export = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)
export = Export(lambda number: ctypes.addressof(callbacks) if number == 1 else None)
tool = ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"])
assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
assert tool.InitializeInjectionNvtx2(export) == 1
push = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(slots[1][9])
pop = ctypes.CFUNCTYPE(ctypes.c_int)(slots[1][11])
assert push(b"from a header") == 0 and pop() == 0
assert slots[1][12] is None and slots[5][15]
"""


def traced(program, folder):
    """Run the program under a trace; returns its events."""
    file = folder / "trace.json"
    command = [sys.executable, "-m", "anywarp", "run", "--trace", str(file), "--", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text())["traceEvents"]


def names(events):
    return {event.get("name") for event in events}


def test_ranges_and_marks_stand_in_the_trace(tmp_path):
    program = (
        LINKED
        + ATTRIBUTES
        + """
assert nvtx.nvtxRangePushA(b"outer") == 0 and nvtx.nvtxRangePushW("inner \\u00e9\\u4e2d") == 1
assert nvtx.nvtxRangePop() == 1 and nvtx.nvtxRangePop() == 0
nvtx.nvtxMarkA(b"a mark")
nvtx.nvtxRangeEnd(ctypes.c_uint64(nvtx.nvtxRangeStartW("across threads")))
domain = ctypes.c_void_p(nvtx.nvtxDomainCreateA(b"a domain"))
text = nvtx.nvtxDomainRegisterStringA(domain, b"registered")
event = Attributes(3, ctypes.sizeof(Attributes), color_type=1, color=0xFF00FF00, message_type=3, message=text)
assert nvtx.nvtxDomainRangePushEx(domain, ctypes.byref(event)) == 0 and nvtx.nvtxDomainRangePop(domain) == 0
nvtx.nvtxDomainDestroy(domain)
"""
    )
    found = names(traced(program, tmp_path))
    assert {"outer", "inner \u00e9\u4e2d", "a mark", "across threads", "a domain: registered"} <= found


def test_header_only_nvtx_is_given_its_functions(tmp_path):
    assert "from a header" in names(traced(INJECTED, tmp_path))


def test_without_a_trace_nothing_is_tracked(tmp_path):
    program = LINKED + "assert nvtx.nvtxRangePushA(b'outer') == -2 and nvtx.nvtxRangePop() == -2; nvtx.nvtxMarkA(None)"
    libraries = str(settings.LIBRARY_DIR.get().resolve())
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "LD_LIBRARY_PATH": libraries}, timeout=60)
    assert done.returncode == 0
