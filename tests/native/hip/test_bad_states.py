"""What a CUDA program is told where ROCm is missing, old, without a device, or loses one: CUDA's code, and a line that helps."""

import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.catalogue import load
from native.hip.rig import environment, run
from native.hip.test_launching import PREPARE, PTX

pytestmark = pytest.mark.native

ERRORS = Path(load.__file__).parent / "data" / "rocm" / "errors_from_hip.tsv"
STICKY = {700, 702, 710, 714, 715, 716, 717, 718, 719}

START = """
number = c_int(-5)
out["driver"] = [cuda.cuInit(0), cuda.cuDeviceGetCount(byref(number))]
runtime = ctypes.CDLL("libcudart.so.13")
out["runtime"] = [runtime.cudaGetDeviceCount(byref(number)), runtime.cudaSetDevice(0), runtime.cudaMalloc(byref(c_void_p()), c_size_t(8))]
"""


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"ANYWARP_HIP_LIBRARY": "/nowhere/libamdhip64.so.7"}, ("N007", "libamdhip64", "install ROCm")),
        ({"FAKE_HIP_VERSION": "50221153"}, ("N008", "HIP 5.2 is too old", "install ROCm 6 or 7")),
        ({"FAKE_HIP_DEVICES": ""}, ("N010", "anywarp doctor", "/dev/kfd")),
        ({"FAKE_ROCM_RESULTS": "hipInit=100;hipGetDeviceCount=100"}, ("N010",)),
        ({"FAKE_ROCM_RESULTS": "hipInit=101;hipGetDeviceCount=101"}, ("N010",)),
    ],
)
def test_without_a_usable_device_programs_are_told_so(state, words, tmp_path):
    answer = run(START, tmp_path, **state)
    assert answer.out == {"driver": [100, 3], "runtime": [100, 100, 100]}
    for word in words:
        assert word in answer.errors
    assert answer.errors.count("error[") == 1  # said once


def test_a_library_of_hip_6_serves(tmp_path, same_compiler):
    answer = run(
        f"""{PREPARE}
out["codes"] = [launch((1, 1, 1), (64, 1, 1)), cuda.cuCtxSynchronize()]
stream, number = made("cuStreamCreate", 1), c_uint64()
out["number"] = cuda.cuStreamGetId(stream, byref(number))
version = c_int()
call("cuDriverGetVersion", byref(version))
out["version"] = version.value
""",
        tmp_path,
        version="6",
    )
    assert answer.out["codes"] == [0, 0]
    assert answer.out["number"] in (0, 801)
    assert answer.out["version"] >= 12000
    assert not answer.faults()


@pytest.mark.parametrize(("hip", "code", "later"), [(100, 719, 719), (719, 719, 719), (700, 700, 700), (999, 999, 0)])
def test_a_device_that_disappears_ends_the_context(hip, code, later, tmp_path, same_compiler):
    answer = run(
        f"""{PREPARE}
launch((1, 1, 1), (32, 1, 1))
call("cuCtxSynchronize")
fail("*", {hip})
out["lost"] = [cuda.cuCtxSynchronize(), launch((1, 1, 1), (32, 1, 1)), cuda.cuMemAlloc_v2(byref(c_uint64()), c_size_t(8))]
fake.fake_rocm_forget()
out["later"] = [launch((1, 1, 1), (32, 1, 1)), cuda.cuCtxSynchronize()]
""",
        tmp_path,
    )
    assert answer.out == {"lost": [code] * 3, "later": [later] * 2}
    assert ("N009" in answer.errors) == (hip == 100)


def test_memory_that_is_not_there_is_refused_and_nothing_else_is(tmp_path):
    answer = run(
        """
context()
def get(size):
    return cuda.cuMemAlloc_v2(byref(c_uint64()), c_size_t(size))
out["driver"] = [get(1 << 20), get(1 << 30), get(1 << 20), cuda.cuCtxSynchronize()]
runtime, place = ctypes.CDLL("libcudart.so.13"), c_void_p()
out["runtime"] = [
    runtime.cudaMalloc(byref(place), c_size_t(1 << 30)), runtime.cudaGetLastError(), runtime.cudaGetLastError(),
    runtime.cudaMalloc(byref(place), c_size_t(1 << 10)),
]
""",
        tmp_path,
        FAKE_HIP_MEMORY=str(64 << 20),
    )
    assert answer.out == {"driver": [0, 2, 0, 0], "runtime": [2, 2, 0, 0]}


def test_an_architecture_without_code_is_named(tmp_path, same_compiler):
    answer = run(
        f"""
context()
module = c_void_p()
out["load"] = cuda.cuModuleLoadData(byref(module), {PTX!r}.encode())
""",
        tmp_path,
        FAKE_HIP_DEVICES="gfx803",
    )
    assert answer.out == {"load": 209}
    assert "D003" in answer.errors
    assert "gfx803" in answer.errors
    assert "gfx1100" in answer.errors


def rows():
    lines = [line for line in ERRORS.read_text().splitlines() if not line.startswith("#")]
    names = lines[0].split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:]]


def test_every_code_of_hip_becomes_the_code_of_cuda(tmp_path):
    wanted = {int(row["hip_value"]): int(row["driver_value"]) for row in rows() if row["driver_value"]}
    plain = {hip: cuda for hip, cuda in wanted.items() if hip and cuda not in STICKY and hip != 100}
    answer = run(
        f"""
context()
out["codes"] = []
for code in {sorted(plain)}:
    fake.fake_rocm_forget()
    fail("hipStreamQuery", code)
    out["codes"].append([code, cuda.cuStreamQuery(None)])
""",
        tmp_path,
    )
    assert len(plain) > 40
    assert dict(answer.out["codes"]) == plain


def test_a_run_without_rocm_says_what_is_missing(tmp_path, same_compiler):
    program = "import ctypes; raise SystemExit(ctypes.CDLL('libcuda.so.1').cuInit(0))"
    command = [sys.executable, "-m", "anywarp", "run", "--device", "hip", "--pure", "--", sys.executable, "-c", program]
    env = environment(tmp_path, ANYWARP_HIP_LIBRARY="/nowhere/libamdhip64.so.7")
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 100
    assert "install ROCm" in done.stderr
