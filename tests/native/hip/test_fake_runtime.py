"""The fake HIP runtime itself: what it must notice, so that tests of the driver can rely on it."""

import ctypes
import json
import os
import subprocess
import sys

import pytest

from fakes.rocm import build

PRELUDE = """
import ctypes, json, os
from ctypes import byref, c_int, c_size_t, c_uint, c_void_p, c_float
hip = ctypes.CDLL(os.environ["FAKE"])
out = {}
def made(name, *arguments, kind=c_void_p):
    value = kind()
    code = getattr(hip, name)(byref(value), *arguments)
    assert code == 0, (name, code)
    return value
def room(size, name="hipMalloc", *more):
    return made(name, c_size_t(size), *more)
"""


@pytest.fixture
def fake(tmp_path):
    def run(code, version="7", **more):
        env = {**os.environ, "FAKE": str(build.hip() / version / f"libamdhip64.so.{version}")}
        env |= {"FAKE_ROCM_RECORD": str(tmp_path / "records"), **more}
        text = f"{PRELUDE}\n{code}\nprint(json.dumps(out))"
        done = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        records = [json.loads(line) for line in (tmp_path / "records").read_text().splitlines()]
        return json.loads(done.stdout), records

    return run


def test_each_library_has_the_names_of_its_version():
    old, new = (ctypes.CDLL(build.hip() / v / f"libamdhip64.so.{v}") for v in "67")
    assert hasattr(new, "hipLibraryLoadData")
    assert not hasattr(old, "hipLibraryLoadData")
    assert hasattr(old, "hipModuleLaunchKernel")


def test_work_waits_until_somebody_waits_for_it(fake):
    out, records = fake("""
a, b, c = room(64), room(64, "hipHostMalloc", 0), room(64, "hipHostMalloc", 0)
ctypes.memset(b, 5, 64)
s = made("hipStreamCreateWithFlags", 1)
hip.hipMemcpyHtoDAsync(a, b, c_size_t(64), s)
ctypes.memset(b, 6, 64)
hip.hipMemcpyDtoHAsync(c, a, c_size_t(64), s)
out["early"] = ctypes.string_at(c, 1)[0]
out["codes"] = [hip.hipStreamQuery(s), hip.hipStreamSynchronize(s), hip.hipStreamQuery(s)]
out["late"] = ctypes.string_at(c, 1)[0]
""")
    assert out == {"early": 0, "codes": [600, 0, 0], "late": 6}
    assert [each["what"] for each in records if "ran" in each] == ["copy", "copy"]


def test_an_event_brings_in_what_was_given_before_it_and_no_more(fake):
    out, _ = fake(
        """
host = [room(4, "hipHostMalloc", 0) for _ in range(2)]
device = [room(4) for _ in range(2)]
streams = [made("hipStreamCreateWithFlags", 1) for _ in range(2)]
for d, s, v in zip(device, streams, (3, 4)):
    hip.hipMemsetAsync(d, v, c_size_t(4), s)
hip.hipMemcpyDtoHAsync(host[0], device[0], c_size_t(4), streams[0])
event = made("hipEventCreateWithFlags", 2)
hip.hipEventRecord(event, streams[0])
hip.hipMemcpyDtoHAsync(host[1], device[1], c_size_t(4), streams[1])
hip.hipEventSynchronize(event)
out["first"] = [ctypes.string_at(h, 1)[0] for h in host]
hip.hipStreamWaitEvent(streams[1], event, 0)
hip.hipStreamSynchronize(streams[1])
out["then"] = [ctypes.string_at(h, 1)[0] for h in host]
""",
        FAKE_HIP_LATE_MS="10000",
    )
    assert out == {"first": [3, 0], "then": [3, 4]}


def test_the_null_stream_and_blocking_streams_wait_for_each_other(fake):
    out, records = fake(
        """
d = room(4)
blocking, apart = made("hipStreamCreateWithFlags", 0), made("hipStreamCreateWithFlags", 1)
for s in (blocking, apart, None):
    hip.hipMemsetAsync(d, 1, c_size_t(4), s)
hip.hipStreamSynchronize(None)
""",
        FAKE_HIP_LATE_MS="10000",
    )
    assert len([each for each in records if each.get("what") == "fill"]) == 2


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("a = room(8); hip.hipFree(a); hip.hipFree(a)", "freed twice"),
        ("a = room(8); hip.hipFree(a); hip.hipMemset(a, 0, c_size_t(8))", "was freed"),
        ("s = made('hipStreamCreate'); hip.hipStreamDestroy(s); hip.hipStreamSynchronize(s)", "after it was destroyed"),
        ("e = made('hipEventCreate'); hip.hipEventDestroy(e); hip.hipEventRecord(e, None)", "after it was destroyed"),
        ("e = made('hipEventCreate'); hip.hipStreamSynchronize(e)", "is a event, not a stream"),
        (
            "s = made('hipStreamCreate'); a = room(8); hip.hipMemsetAsync(a, 1, c_size_t(8), s); hip.hipFreeAsync(a, None);"
            "hip.hipDeviceSynchronize(); hip.hipMemset(a, 0, c_size_t(8))",
            "was freed",
        ),
    ],
)
def test_misuse_is_written_down(fake, code, words):
    _, records = fake(code)
    [fault] = [each["fault"] for each in records if "fault" in each]
    assert words in fault


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("hip.hipMalloc(None, c_size_t(8))", 1),
        ("hip.hipMemcpyDtoH(room(8, 'hipHostMalloc', 0), room(8), c_size_t(9))", 1),
        ("hip.hipStreamCreateWithFlags(byref(c_void_p()), 2)", 1),
        ("hip.hipMallocManaged(byref(c_void_p()), c_size_t(8), 0)", 1),
        ("hip.hipSetDevice(7)", 101),
        ("hip.hipMalloc(byref(c_void_p()), c_size_t(1 << 40))", 2),
        ("hip.hipModuleLoadData(byref(c_void_p()), b'no code object' * 9)", 200),
        ("hip.hipEventElapsedTime(byref(c_float()), made('hipEventCreate'), made('hipEventCreate'))", 400),
    ],
)
def test_wrong_arguments_are_refused(fake, code, status):
    out, _ = fake(f"out['status'] = {code}")
    assert out == {"status": status}


def test_host_code_cannot_touch_device_memory():
    code = f"{PRELUDE}\nctypes.string_at(room(8), 1)"
    env = {**os.environ, "FAKE": str(build.hip() / "7" / "libamdhip64.so.7")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, timeout=30)
    assert done.returncode == -11


def test_results_are_set_for_later_calls(fake):
    out, _ = fake(
        """
hip.fake_rocm_set_result(b"hipMalloc", ctypes.c_int64(2), 1, 2)
out["codes"] = [hip.hipMalloc(byref(c_void_p()), c_size_t(8)) for _ in range(4)]
out["devices"] = hip.hipGetDeviceCount(byref(c_int()))
""",
        FAKE_ROCM_RESULTS="hipGetDeviceCount=100",
    )
    assert out == {"codes": [0, 2, 2, 0], "devices": 100}


def test_a_capture_that_is_not_joined_fails(fake):
    out, _ = fake("""
a, b = (made("hipStreamCreateWithFlags", 1) for _ in range(2))
event, d, graph = made("hipEventCreateWithFlags", 2), room(4), c_void_p()
def fork():
    hip.hipStreamBeginCapture(a, 0)
    hip.hipMemsetAsync(d, 1, c_size_t(4), a)
    hip.hipEventRecord(event, a)
    hip.hipStreamWaitEvent(b, event, 0)
    hip.hipMemsetAsync(d, 2, c_size_t(4), b)
fork()
out["open"] = hip.hipStreamEndCapture(a, byref(graph))
for stream in (a, b):  # a query breaks what is captured, and another capture mends that
    out["query"] = hip.hipStreamQuery(stream)
    hip.hipStreamBeginCapture(stream, 2)
    hip.hipStreamEndCapture(stream, byref(graph))
fork()
hip.hipEventRecord(event, b)
hip.hipStreamWaitEvent(a, event, 0)
out["joined"] = hip.hipStreamEndCapture(a, byref(graph))
count = c_size_t()
hip.hipGraphGetNodes(graph, None, byref(count))
out["nodes"] = count.value
""")
    assert out == {"open": 904, "query": 900, "joined": 0, "nodes": 2}
