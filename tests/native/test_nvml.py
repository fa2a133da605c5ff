"""The management library, asked as programs ask it: through NVIDIA's own Python binding, in a process of its own."""

import json
import os
import subprocess
import sys

import pytest

from anywarp import settings

pytestmark = pytest.mark.native

USER = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), DEVICE) == 0
assert cuda.cuCtxSetCurrent(context) == 0 and cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(96 << 20)) == 0
print("ready", flush=True)
sys.stdin.readline()
assert cuda.cuMemFree_v2(memory) == 0
print("freed", flush=True)
sys.stdin.readline()
"""


def environment(**more):
    libraries = str(settings.LIBRARY_DIR.get().resolve())
    return {**os.environ, "LD_LIBRARY_PATH": libraries, "ANYWARP_MEMORY": "4GiB", **more}


def ask(code, folder, **more):
    """Run code with `n` the binding, initialised, and `first` the first device; returns what it puts into `out`."""
    program = f"import json\nimport pynvml as n\nn.nvmlInit()\nfirst = n.nvmlDeviceGetHandleByIndex(0)\nout = {{}}\n{code}\nprint(json.dumps(out))"
    env = environment(XDG_RUNTIME_DIR=str(folder), **more)
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def user(tmp_path):
    """A process with 96 MiB on the second of two devices."""
    env = environment(XDG_RUNTIME_DIR=str(tmp_path), ANYWARP_DEVICES="2")
    program = [sys.executable, "-c", USER.replace("DEVICE", "1")]
    with subprocess.Popen(program, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def test_devices_are_those_that_libcuda_tells_of(tmp_path):
    code = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
out["count"] = n.nvmlDeviceGetCount()
for i in range(2):
    handle, name, uuid, total = n.nvmlDeviceGetHandleByIndex(i), ctypes.create_string_buffer(200), (ctypes.c_ubyte * 16)(), ctypes.c_size_t()
    cuda.cuDeviceGetName(name, 200, i), cuda.cuDeviceGetUuid_v2(uuid, i), cuda.cuDeviceTotalMem_v2(ctypes.byref(total), i)
    bus = ctypes.create_string_buffer(64)
    cuda.cuDeviceGetPCIBusId(bus, 64, i)
    assert n.nvmlDeviceGetName(handle) == name.value.decode()
    assert n.nvmlDeviceGetUUID(handle).removeprefix("GPU-").replace("-", "") == bytes(uuid).hex()
    assert n.nvmlDeviceGetMemoryInfo(handle).total == total.value == 2 << 30
    assert n.nvmlDeviceGetPciInfo(handle).busId.endswith(bus.value.decode())
    assert n.nvmlDeviceGetIndex(n.nvmlDeviceGetHandleByUUID(n.nvmlDeviceGetUUID(handle))) == i
    assert n.nvmlDeviceGetIndex(n.nvmlDeviceGetHandleByPciBusId(bus.value.decode())) == i
    assert n.nvmlDeviceGetCudaComputeCapability(handle) == (8, 0)
out["cuda"] = n.nvmlSystemGetCudaDriverVersion()
"""
    assert ask(code, tmp_path, ANYWARP_DEVICES="2", CUDA_VISIBLE_DEVICES="0,1") == {"count": 2, "cuda": 13000}


def test_visible_devices_do_not_matter(tmp_path):
    assert ask("out['count'] = n.nvmlDeviceGetCount()", tmp_path, ANYWARP_DEVICES="3", CUDA_VISIBLE_DEVICES="1") == {
        "count": 3
    }


PROCESSES = """
for i in range(2):
    handle = n.nvmlDeviceGetHandleByIndex(i)
    out[i] = [[p.pid, p.usedGpuMemory] for p in n.nvmlDeviceGetComputeRunningProcesses(handle)], n.nvmlDeviceGetMemoryInfo(handle).used
"""


def test_memory_of_another_process_is_seen_until_it_is_freed(user, tmp_path):
    found = ask(PROCESSES, tmp_path, ANYWARP_DEVICES="2")
    assert found == {"0": [[], 0], "1": [[[user.pid, 96 << 20]], 96 << 20]}
    user.stdin.write("\n"), user.stdin.flush()
    assert user.stdout.readline() == "freed\n"
    found = ask(PROCESSES, tmp_path, ANYWARP_DEVICES="2")
    assert found == {"0": [[[user.pid, 0]], 0], "1": [[], 0]}


def test_a_killed_process_is_forgotten(user, tmp_path):
    user.kill(), user.wait()
    assert len(list((tmp_path / "anywarp" / "processes").iterdir())) == 1
    assert ask(PROCESSES, tmp_path, ANYWARP_DEVICES="2") == {"0": [[], 0], "1": [[], 0]}
    assert not list((tmp_path / "anywarp" / "processes").iterdir())


def test_files_that_are_none_of_ours_do_no_harm(user, tmp_path):
    folder = tmp_path / "anywarp" / "processes"
    (folder / "short").write_bytes(b"AWHERE1\0")
    (folder / "noise").write_bytes(os.urandom(5000))
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe")
    found = ask(PROCESSES, tmp_path, ANYWARP_DEVICES="2")
    assert found["1"] == [[[user.pid, 96 << 20]], 96 << 20]


def test_a_busy_process_is_seen_in_the_load(tmp_path):
    env = environment(XDG_RUNTIME_DIR=str(tmp_path))
    program = (
        "import ctypes; assert ctypes.CDLL('libcuda.so.1').cuInit(0) == 0; print('ready', flush=True)\nwhile True: pass"
    )
    with subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, text=True) as busy:
        assert busy.stdout.readline() == "ready\n"
        code = "import time; n.nvmlDeviceGetUtilizationRates(first); time.sleep(1); out['busy'] = n.nvmlDeviceGetUtilizationRates(first).gpu"
        found = ask(code, tmp_path)
        busy.kill()
    assert 0 < found["busy"] <= 100


def test_what_a_processor_has_not_is_not_supported(tmp_path):
    code = """
more = {"nvmlDeviceGetTotalEccErrors": [0, 0], "nvmlDeviceGetPcieThroughput": [n.NVML_PCIE_UTIL_TX_BYTES]}
for name in ("nvmlDeviceGetFanSpeed", "nvmlDeviceGetMigMode", "nvmlDeviceGetCurrPcieLinkWidth", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetMaxPcieLinkGeneration",
             "nvmlDeviceGetGpuMaxPcieLinkGeneration", "nvmlDeviceGetPcieReplayCounter", "nvmlDeviceGetPcieThroughput", "nvmlDeviceGetPcieSpeed", "nvmlDeviceGetPcieLinkMaxSpeed"):
    try:
        getattr(n, name)(first, *more.get(name, []))
    except n.NVMLError_NotSupported:
        out[name] = "not supported"
values = n.nvmlDeviceGetFieldValues(first, [n.NVML_FI_DEV_NVLINK_LINK_COUNT])
out["field"] = values[0].nvmlReturn
"""
    found = ask(code, tmp_path)
    assert found.pop("field") == 3 and set(found.values()) == {"not supported"} and len(found) == 10


def test_the_library_must_be_initialised_and_arguments_are_checked(tmp_path):
    code = """
import ctypes
library = ctypes.CDLL("libnvidia-ml.so.1")
count = ctypes.c_uint()
out["beyond"] = library.nvmlDeviceGetHandleByIndex_v2(7, ctypes.byref(ctypes.c_void_p()))
out["nowhere"] = library.nvmlDeviceGetCount_v2(None)
out["no handle"] = library.nvmlDeviceGetIndex(ctypes.c_void_p(99), ctypes.byref(count))
out["short"] = library.nvmlDeviceGetName(first, ctypes.create_string_buffer(4), 4)
out["version"] = library.nvmlDeviceGetMemoryInfo_v2(first, ctypes.byref(n.c_nvmlMemory_v2_t(version=1)))
n.nvmlShutdown()
out["after"] = library.nvmlDeviceGetCount_v2(ctypes.byref(count))
"""
    expected = {"beyond": 2, "nowhere": 2, "no handle": 2, "short": 7, "version": 25, "after": 1}
    assert ask(code, tmp_path) == expected


def test_waiting_for_an_event_ends_by_its_time(tmp_path):
    code = """
events = n.nvmlEventSetCreate()
n.nvmlDeviceRegisterEvents(first, 0, events)
try:
    n.nvmlEventSetWait_v2(events, 20)
except n.NVMLError_Timeout:
    out["ended"] = "by time"
n.nvmlEventSetFree(events)
"""
    assert ask(code, tmp_path) == {"ended": "by time"}
