"""Green contexts: shares of the multiprocessors, with the values that the driver API manual gives for compute capability 8.x.

Each test runs in a child process with 16 threads, so that the device has multiprocessors enough to be split.
"""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.native

HEAD = """
import ctypes, os, sys, threading
from pathlib import Path
sys.path.insert(0, "tests")
from native import kernels
from native.by_hand import Driver, Handmade, KernelByHand

class Resource(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("internal", ctypes.c_ubyte * 92), ("count", ctypes.c_uint), ("least", ctypes.c_uint),
                ("alignment", ctypes.c_uint), ("flags", ctypes.c_uint), ("rest", ctypes.c_ubyte * 32)]
assert ctypes.sizeof(Resource) == 144
GROUP = ctypes.c_uint * 16
d = Driver()
d.cuInit(0)
u64, u32 = ctypes.c_uint64, ctypes.c_uint32

def whole():
    r = Resource()
    d.cuDeviceGetDevResource(0, ctypes.byref(r), 1)
    return r

def split(least, groups=64, flags=0, source=None):
    result, n, rest = (Resource * 64)(), u32(groups), Resource()
    code = d.code("cuDevSmResourceSplitByCount", result, ctypes.byref(n), ctypes.byref(source or whole()), ctypes.byref(rest), flags, least)
    return (code, [r.count for r in result[: n.value]], rest.type, rest.count) if code == 0 else code

def parts(least, groups):
    result, n, rest = (Resource * groups)(), u32(groups), Resource()
    d.cuDevSmResourceSplitByCount(result, ctypes.byref(n), ctypes.byref(whole()), ctypes.byref(rest), 0, least)
    return result, rest

def green_of(stream):
    green = ctypes.c_void_p()
    d.cuStreamGetGreenCtx(stream, ctypes.byref(green))
    return green.value

def create(resources, n=1):
    return d.out("cuGreenCtxCreate", d.out("cuDevResourceGenerateDesc", resources, n), 0, 1)
"""


def run(program, threads="16"):
    """Run a program after HEAD and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", HEAD + program],
        capture_output=True,
        timeout=60,
        text=True,
        env={**os.environ, "ANYWARP_THREADS": threads},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_the_device_has_its_multiprocessors_as_a_resource(same_compiler):
    program = """
r = whole()
print(r.type, r.count, r.alignment)
other = Resource()
print(d.code("cuDeviceGetDevResource", 0, ctypes.byref(other), 0), d.code("cuDeviceGetDevResource", 0, None, 1),
      d.code("cuDeviceGetDevResource", 1, ctypes.byref(other), 1))
"""
    assert run(program) == ["1 16 2", "914 1 101"]


def test_splits_by_count_are_of_four_at_least_and_even(same_compiler):
    program = """
print(split(0)); print(split(5)); print(split(6, groups=1)); print(split(16)); print(split(17))
n = u32()
d.cuDevSmResourceSplitByCount(None, ctypes.byref(n), ctypes.byref(whole()), None, 0, 5)
print(n.value); print(split(1, flags=1)[1]); print(split(4, source=parts(8, 2)[0][0])); print(split(4, groups=0))
"""
    got = run(program)
    assert got[:2] == ["(0, [4, 4, 4, 4], 0, 0)", "(0, [6, 6], 1, 4)"]
    assert got[2:5] == ["(0, [6], 1, 10)", "(0, [16], 0, 0)", "1"]
    assert got[5:] == ["2", "[2, 2, 2, 2, 2, 2, 2, 2]", "915", "1"]


def test_too_few_multiprocessors_cannot_be_split(same_compiler):
    assert run("print(split(1))", threads="2") == ["915"]


def test_groups_of_differing_sizes(same_compiler):
    program = """
def groups(*wanted, result=True):
    params = (GROUP * len(wanted))(*[GROUP(*w) for w in wanted])
    made, rest = (Resource * len(wanted))(), Resource()
    code = d.code("cuDevSmResourceSplit", made if result else None, len(wanted), ctypes.byref(whole()), ctypes.byref(rest), 0, params)
    return code or ([r.count for r in made], [p[0] for p in params], rest.count)
print(groups((10, 2))); print(groups((8, 2), (0, 2, 0, 1))); print(groups((0,), (0,), result=False))
print(groups((0,), (0,))); print(groups((3,))); print(groups((18,))); print(groups((3, 2, 0, 1))); print(groups((10,), (8,)))
"""
    assert run(program) == [
        "([10], [10], 6)", "([8, 8], [8, 8], 0)", "([0, 0], [16, 0], 0)", "915", "1", "1", "([3], [3], 13)", "915",
    ]  # fmt: skip


def test_a_description_joins_resources_of_one_split_only(same_compiler):
    program = """
made, rest = parts(6, 2)
green = create(made, 2)
got = Resource()
d.cuGreenCtxGetDevResource(green, ctypes.byref(got), 1)
print(got.count, split(6, source=got)[1])
other, _ = parts(6, 2)
same = (Resource * 2)(made[0], made[0])
mixed = (Resource * 2)(made[0], other[1])
print(*[d.code("cuDevResourceGenerateDesc", ctypes.byref(ctypes.c_void_p()), r, 2) for r in (same, mixed, (Resource * 2)())])
print(d.code("cuDevResourceGenerateDesc", ctypes.byref(ctypes.c_void_p()), made, 0), d.code("cuGreenCtxCreate", ctypes.byref(ctypes.c_void_p()), None, 0, 1))
"""
    assert run(program) == ["12 [6, 6]", "915 915 914", "1 1"]


def test_a_green_context_is_a_context_with_streams_of_its_own(same_compiler):
    program = """
green = create(parts(4, 1)[0])
context = d.out("cuCtxFromGreenCtx", green)
flags, active = u32(), ctypes.c_int()
d.cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active))
print(active.value, context != green, d.code("cuCtxSetCurrent", green), d.out("cuCtxGetCurrent"))
d.cuCtxSetCurrent(context)
got = Resource()
d.cuCtxGetDevResource(context, ctypes.byref(got), 1)
print(got.count)
stream, usual = d.out("cuGreenCtxStreamCreate", green, 1, 0), d.out("cuStreamCreate", 0)
print([green_of(s) == green for s in (stream, usual, 0)], d.code("cuGreenCtxStreamCreate", ctypes.byref(ctypes.c_void_p()), green, 0, 0))
green_id = u64()
d.cuGreenCtxGetId(green, ctypes.byref(green_id))
print(green_id.value == 0)
d.cuCtxSetCurrent(d.out("cuDevicePrimaryCtxRetain", 0))
plain = d.out("cuStreamCreate", 0)
of, holder = ctypes.c_void_p(), ctypes.c_void_p()
d.cuStreamGetCtx_v2(stream, ctypes.byref(of), ctypes.byref(holder))
print(of.value == d.out("cuCtxGetCurrent"), holder.value == green)
print(green_of(plain), d.code("cuGreenCtxGetId", None, ctypes.byref(u64())))
d.cuGreenCtxDestroy(green)
print(d.code("cuGreenCtxDestroy", green), d.code("cuStreamSynchronize", stream), d.code("cuStreamDestroy_v2", stream))
d.cuDevicePrimaryCtxRelease_v2(0)
d.cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active))
print(active.value)
"""
    assert run(program) == [
        "1 True 201 None",
        "4",
        "[True, True, True] 1",
        "False",
        "True True",
        "None 201",
        "201 917 0",
        "0",
    ]


LAUNCHES = """
COUNTS = KernelByHand("counts", '''
extern "C" void aw_nanosleep(uint32_t);
KERNEL(counts) {
  auto p = param<uint32_t*>(launch, 0);
  FOR_BLOCKS {
    uint32_t now = __atomic_add_fetch(&p[0], 1, __ATOMIC_SEQ_CST), most = __atomic_load_n(&p[1], __ATOMIC_SEQ_CST);
    while (now > most && !__atomic_compare_exchange_n(&p[1], &most, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    aw_nanosleep(3000000);
    __atomic_sub_fetch(&p[0], 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&p[2], 1, __ATOMIC_SEQ_CST);
  }
  return AW_OK;
}
''', params=((0, 8),))
d.cuCtxSetCurrent(d.out("cuDevicePrimaryCtxRetain", 0))
module = d.out("cuModuleLoadData", Handmade(Path(os.environ["ANYWARP_CACHE_DIR"])).module(COUNTS))
function = d.out("cuModuleGetFunction", module, b"counts")
green = create(parts(4, 1)[0])
stream = d.out("cuGreenCtxStreamCreate", green, 1, 0)
plain = d.out("cuStreamCreate", 1)
words = d.out("cuMemAlloc_v2", 12)
read = (u32 * 3)()

def numbers():
    d.cuMemcpyDtoH_v2(read, words, 12)
    return list(read)
"""


def test_launches_of_a_green_context_run_on_its_share_of_threads(same_compiler):
    program = """
for s in (stream, plain):
    d.cuMemsetD32_v2(words, 0, 3)
    d.launch(function, 64, 256, [u64(words)], stream=s)
    d.cuStreamSynchronize(s)
    print(*numbers())
"""
    green, plain = (list(map(int, line.split())) for line in run(LAUNCHES + program))
    assert green[0] == 0 and green[2] == 64 and 1 < green[1] <= 4
    assert plain[2] == 64 and plain[1] > 4


def test_events_of_a_green_context_stand_for_all_its_streams(same_compiler):
    program = """
d.cuMemsetD32_v2(words, 0, 3)
event = d.out("cuEventCreate", 0)
d.launch(function, 64, 256, [u64(words)], stream=stream)
d.cuGreenCtxRecordEvent(green, event)
print(d.code("cuEventQuery", event))
d.cuEventSynchronize(event)
print(numbers()[2])
d.launch(function, 64, 256, [u64(words)], stream=plain)
d.cuEventRecord(event, plain)
d.cuGreenCtxWaitEvent(green, event)
d.cuStreamSynchronize(stream)
print(numbers()[2])
d.cuStreamBeginCapture_v2(stream, 0)
print(d.code("cuGreenCtxRecordEvent", green, event), d.code("cuStreamEndCapture", stream, ctypes.byref(ctypes.c_void_p())))
"""
    assert run(LAUNCHES + program) == ["600", "64", "128", "900 901"]
