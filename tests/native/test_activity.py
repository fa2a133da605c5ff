"""Traces of programs: what processes did is in the file, whoever ended them, and the file survives them."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp import settings
from anywarp.runtime.build_id import build_id

pytestmark = pytest.mark.native

KERNEL = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry addone(.param .u64 p, .param .u32 n) {
  .reg .u64 %rd<4>; .reg .u32 %r<6>; .reg .pred %p;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1; @%p bra done;
  mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2;
done: ret; }
"""

PROLOGUE = f"""
import ctypes, os, signal, sys, threading
lib = ctypes.CDLL("libcuda.so.1")
def c(name, *a):
    code = getattr(lib, name)(*a)
    assert code == 0, (name, code)
def out(name, *a, kind=ctypes.c_void_p):
    value = kind(); c(name, ctypes.byref(value), *a); return value
KERNEL = {KERNEL!r}.encode() + b"\\0"
c("cuInit", 0)
context = out("cuCtxCreate_v2", 0, 0)
"""

LAUNCHES = """
function = out("cuModuleGetFunction", out("cuModuleLoadData", KERNEL), b"addone")
memory = out("cuMemAlloc_v2", ctypes.c_size_t(4000), kind=ctypes.c_uint64)
host = (ctypes.c_uint32 * 1000)(*range(1000))
stream = out("cuStreamCreate", 0)
c("cuMemcpyHtoDAsync_v2", memory, host, ctypes.c_size_t(4000), stream)
count = ctypes.c_uint32(1000)
arguments = (ctypes.c_void_p * 2)(ctypes.addressof(memory), ctypes.addressof(count))
def launch(blocks):
    c("cuLaunchKernel", function, blocks, 1, 1, 128, 1, 1, 0, stream, arguments, None)
for blocks in (8, 7, 6):
    launch(blocks)
c("cuStreamSynchronize", stream)
"""


def traced(tmp_path, program, *options, name="t.json", status=0, env=None):
    """Run a Python program under `anywarp run --trace`; returns its events."""
    target = tmp_path / name
    command = [
        sys.executable,
        "-m",
        "anywarp",
        "run",
        "--trace",
        str(target),
        *options,
        "--",
        sys.executable,
        "-c",
        program,
    ]
    environment = {**os.environ, "ANYWARP_BUILD_ID": build_id(), **(env or {})}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)
    assert done.returncode == status, done.stderr
    text = gzip.decompress(target.read_bytes()) if name.endswith(".gz") else target.read_bytes()
    return json.loads(text)["traceEvents"]


def spans(events, category):
    return [event for event in events if event["ph"] == "X" and event["cat"] == category]


def test_a_run_shows_calls_kernels_and_copies_in_their_streams(tmp_path):
    events = traced(tmp_path, PROLOGUE + LAUNCHES)
    kernels, calls = spans(events, "kernel"), spans(events, "driver")
    assert [(k["name"], k["args"]["grid"], k["args"]["block"]) for k in kernels] == [
        ("addone", [blocks, 1, 1], [128, 1, 1]) for blocks in (8, 7, 6)
    ]
    (copy,) = spans(events, "copy")
    assert copy["name"] == "copy pageable to device" and copy["args"]["bytes"] == 4000
    assert copy["tid"] == kernels[0]["tid"]
    launches = {call["args"]["correlation"]: call for call in calls if call["name"] == "cuLaunchKernel"}
    for kernel in kernels:
        call = launches[kernel["args"]["correlation"]]
        assert call["ts"] <= kernel["ts"] and kernel["dur"] >= 0
        assert call["args"]["grid_x"] == kernel["args"]["grid"][0]
    names = [call["name"] for call in calls]
    assert names.index("cuInit") < names.index("cuCtxCreate_v2") < names.index("cuLaunchKernel")
    (row,) = (e for e in events if e["ph"] == "M" and e["tid"] == kernels[0]["tid"] and e["name"] == "thread_name")
    assert row["args"]["name"].startswith("device 0 stream")


def test_nodes_of_a_graph_are_told_or_the_graph_as_a_whole(tmp_path):
    program = (
        PROLOGUE
        + LAUNCHES
        + """
c("cuStreamBeginCapture_v2", stream, 0)
launch(5); launch(4)
graph = ctypes.c_void_p()
c("cuStreamEndCapture", stream, ctypes.byref(graph))
executable = out("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
c("cuGraphLaunch", executable, stream); c("cuStreamSynchronize", stream)
"""
    )
    nodes = [e for e in spans(traced(tmp_path, program), "kernel") if "node" in e["args"]]
    assert [node["args"]["grid"][0] for node in nodes] == [5, 4]
    assert len({node["args"]["node"] for node in nodes}) == 2
    whole = traced(tmp_path, program, name="w.json", env={"ANYWARP_TRACE_GRAPHS": "whole"})
    assert len(spans(whole, "graph")) == 1 and len(spans(whole, "kernel")) == 3


def test_forked_and_killed_processes_leave_what_they_did(tmp_path):
    program = (
        PROLOGUE
        + """
child = os.fork()
if child == 0:
    lib.cuDriverGetVersion(ctypes.byref(ctypes.c_int()))
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(child, 0)
os.execv(sys.executable, [sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)"])
"""
    )
    events = traced(tmp_path, program, name="t.json.gz")
    by_process = {}
    for call in spans(events, "driver"):
        by_process.setdefault(call["pid"], []).append(call["name"])
    assert sorted(by_process.values()) == [["cuDriverGetVersion"], ["cuInit", "cuCtxCreate_v2", "cuInit"]]


def test_threads_share_the_file_and_each_has_its_row(tmp_path):
    program = (
        PROLOGUE
        + """
def work(n):
    for _ in range(2000 + n):
        lib.cuDriverGetVersion(ctypes.byref(ctypes.c_int()))
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for t in threads: t.start()
for t in threads: t.join()
"""
    )
    events = traced(tmp_path, program)
    rows = {}
    for call in spans(events, "driver"):
        if call["name"] == "cuDriverGetVersion":
            rows[call["tid"]] = rows.get(call["tid"], 0) + 1
    assert sum(rows.values()) == 8 * 2000 + sum(range(8))
    assert all(row > 0 for row in rows)


def test_a_trace_has_an_end_and_says_so(tmp_path):
    program = PROLOGUE + "for _ in range(9000): lib.cuDriverGetVersion(ctypes.byref(ctypes.c_int()))"
    events = traced(tmp_path, program, env={"ANYWARP_TRACE_LIMIT": "300K"})
    calls = spans(events, "driver")
    assert 3000 < len(calls) < 4097  # one piece of 4096 records of 64 bytes
    assert json.loads((tmp_path / "t.json").read_text())["otherData"]["dropped"] == 9002 - len(calls)


@pytest.mark.skipif(
    not (settings.LIBRARY_DIR.get() / "forward" / "libcuda.so.1").exists(), reason="the forwarding library is not built"
)
def test_passing_through_tells_calls_of_another_driver(tmp_path):
    """Our own driver stands for NVIDIA's; functions by address are traced as those by name are."""
    program = (
        PROLOGUE
        + LAUNCHES
        + """
found = ctypes.c_void_p()
c("cuGetProcAddress_v2", b"cuDriverGetVersion", ctypes.byref(found), 12000, ctypes.c_ulonglong(0), None)
version = ctypes.c_int()
assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(found.value)(ctypes.addressof(version)) == 0
assert version.value >= 12000
c("cuMemcpyDtoH_v2", host, memory, ctypes.c_size_t(4000))
assert list(host) == [i + (3 if i < 768 else 2 if i < 896 else 1) for i in range(1000)]
"""
    )
    driver = settings.LIBRARY_DIR.get().resolve() / "libcuda.so.1"
    events = traced(tmp_path, program, "--device", "cuda", env={"ANYWARP_NVIDIA_DRIVER": str(driver)})
    calls = spans(events, "driver")
    names = [call["name"] for call in calls]
    assert names.count("cuLaunchKernel") == 3 and names.count("cuDriverGetVersion") == 1
    launch = next(call for call in calls if call["name"] == "cuLaunchKernel")
    assert (launch["args"]["grid_x"], launch["args"]["block_x"], launch["args"]["shared_bytes"]) == (8, 128, 0)
    assert {e["name"] for e in spans(events, "range")} == {"launch addone"}


def test_without_an_nvidia_driver_the_device_cuda_says_what_is_missing(tmp_path):
    command = [sys.executable, "-m", "anywarp", "run", "--device", "cuda", "--", "true"]
    missing = tmp_path / "libcuda.so.1"
    environment = {**os.environ, "ANYWARP_NVIDIA_DRIVER": str(missing)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 2
    assert "D016" in done.stderr and str(missing) in done.stderr


def test_damaged_trace_files_are_read_as_far_as_they_make_sense(tmp_path):
    from anywarp.runtime import trace, trace_files

    folder = tmp_path / "raw"
    folder.mkdir()
    header = b"AWTRACE1" + (65536).to_bytes(4, "little") + (77).to_bytes(4, "little") + bytes(4080)
    call = bytes([1, 0, 0, 0, 9, 0, 0, 0]) + b"".join(
        n.to_bytes(8, "little") for n in (100, 200, 1, 2 | 1 << 32, 0, 0, 0)
    )
    for name, content in {
        "a": b"", "b": b"x" * 5000, "c": header[:100], "d": header[:4096], "e": header[:4096] + call + b"\xff" * 64,
        "f": header[:4096] + call * 3 + b"\x01\x00\xff\xff",
    }.items():  # fmt: skip
        Path(folder / f"{name}.awt").write_bytes(content)
    found = trace_files.read_folder(folder)
    assert sorted(len(process.records) for process in found) == [0, 1, 3]
    assert sum(process.damaged for process in found) == 1
    trace.write(found, tmp_path / "t.json")
    assert len(trace.read(tmp_path / "t.json").spans) == 4
