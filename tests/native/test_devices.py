"""Several devices: ANYWARP_DEVICES splits the processor, CUDA_VISIBLE_DEVICES chooses, and each keeps its own memory and context."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.native

INVALID_VALUE, OUT_OF_MEMORY, NO_DEVICE, INVALID_DEVICE, INVALID_CONTEXT, INVALID_HANDLE = 1, 2, 100, 101, 201, 400
PEER_UNSUPPORTED, PEER_ALREADY, PEER_NOT = 217, 704, 705
CAPTURE_UNSUPPORTED, CAPTURE_INVALIDATED, NOT_PERMITTED = 900, 901, 800

HEAD = """
import ctypes, json, os, sys, threading, time
sys.path.insert(0, 'tests')
from native.by_hand import Driver
d = Driver()
def integer(name, *rest): return d.out(name, *rest, kind=ctypes.c_int)
def size(name, *rest): return d.out(name, *rest, kind=ctypes.c_size_t)
def uuid(dev):
    out = ctypes.create_string_buffer(16); d.cuDeviceGetUuid_v2(out, dev); return out.raw.hex()
def pci(dev):
    out = ctypes.create_string_buffer(32); d.cuDeviceGetPCIBusId(out, 32, dev); return out.value.decode()
def free():
    a, b = ctypes.c_size_t(), ctypes.c_size_t(); d.cuMemGetInfo_v2(ctypes.byref(a), ctypes.byref(b)); return a.value, b.value
def attribute(number, address):
    return integer('cuPointerGetAttribute', number, address)
def show(*what): print(json.dumps(what))
"""


def run(program: str, devices: int | str = 2, **more: str) -> list:
    """Run a program with so many devices; return what it showed."""
    env = (
        {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"} | {"ANYWARP_DEVICES": str(devices)} | more
    )
    done = subprocess.run([sys.executable, "-c", HEAD + program], capture_output=True, timeout=60, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("devices", "visible", "count", "buses"),
    [
        (1, None, 1, [0]),
        (4, None, 4, [0, 1, 2, 3]),
        (4, "2,0", 2, [2, 0]),
        (4, "3, 1", 2, [3, 1]),
        (4, "1,9,2", 1, [1]),  # what follows an invalid entry is not seen
        (4, "0,-1,1", 1, [0]),
        (4, "2x", 1, [2]),  # as strtol reads
        (4, "1,9,1", 1, [1]),  # nor does what is named twice behind it count
        (4, "1,MIG-GPU-8932f937/1/2,0", 1, [1]),  # no device here is divided
        (4, " 2,\t0", 2, [2, 0]),
        (4, "1,,0", 1, [1]),
    ],
)
def test_programs_see_the_devices_that_the_environment_names(devices, visible, count, buses):
    """CUDA C++ Programming Guide, environment variables, CUDA_VISIBLE_DEVICES."""
    more = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    program = "d.cuInit(0); n = integer('cuDeviceGetCount'); show(n, [pci(i) for i in range(n)], d.code('cuDeviceGet', ctypes.byref(ctypes.c_int()), n))"
    assert run(program, devices, **more) == [count, [f"0000:{bus:02x}:00.0" for bus in buses], INVALID_DEVICE]


@pytest.mark.parametrize(
    ("devices", "visible"),
    [(2, ""), (2, "-1"), (2, "7"), (2, "1,1"), (2, "GPU-"), ("0", None), ("many", None), (65, None)],
)
def test_a_program_that_may_see_no_device_is_told_so(devices, visible):
    more = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    assert run("show(d.code('cuInit', 0))", devices, **more) == [NO_DEVICE]


def test_devices_are_chosen_by_uuid_too():
    uuids = run("d.cuInit(0); show(*[uuid(i) for i in range(3)])", 3)
    assert len(set(uuids)) == 3
    chosen = uuids[2]
    dashed = "-".join((chosen[:8], chosen[8:12], chosen[12:16], chosen[16:20], chosen[20:]))
    for name in (f"GPU-{dashed}", f"GPU-{dashed[:13]}"):
        assert run("d.cuInit(0); show(integer('cuDeviceGetCount'), uuid(0))", 3, CUDA_VISIBLE_DEVICES=name) == [
            1,
            chosen,
        ]


def test_numbers_and_uuids_may_stand_in_one_list():
    uuids = run("d.cuInit(0); show(*[uuid(i) for i in range(3)])", 3)
    seen = "d.cuInit(0); show(*[uuid(i) for i in range(integer('cuDeviceGetCount'))])"
    assert run(seen, 3, CUDA_VISIBLE_DEVICES=f"2,GPU-{uuids[0]}") == [uuids[2], uuids[0]]
    assert run(seen, 3, CUDA_VISIBLE_DEVICES=f"2,GPU-{uuids[0]}0,1") == [uuids[2]]
    same = f"0,GPU-{uuids[0]}"
    assert run("show(d.code('cuInit', 0))", 3, CUDA_VISIBLE_DEVICES=same) == [NO_DEVICE]


def test_a_beginning_that_several_uuids_share_names_none():
    uuids = run("d.cuInit(0); show(*[uuid(i) for i in range(64)])", 64)
    first = next(u[0] for u in uuids if sum(other[0] == u[0] for other in uuids) > 1)  # 64 of 16 digits
    seen = "d.cuInit(0); show(integer('cuDeviceGetCount'))"
    assert run(seen, 64, CUDA_VISIBLE_DEVICES=f"5,GPU-{first},6") == [1]


def test_the_variable_counts_as_it_is_when_the_driver_is_initialised():
    program = "os.environ['CUDA_VISIBLE_DEVICES'] = '1'; d.cuInit(0); show(integer('cuDeviceGetCount'), pci(0))"
    assert run(program, 2) == [1, "0000:01:00.0"]


def test_a_device_is_found_by_its_pci_address():
    program = "d.cuInit(0); show(integer('cuDeviceGetByPCIBusId', b'0000:01:00.0'), integer('cuDeviceGetAttribute', 33, 1), d.code('cuDeviceGetByPCIBusId', ctypes.byref(ctypes.c_int()), b'0000:02:00.0'))"
    assert run(program) == [1, 1, INVALID_DEVICE]


def test_each_device_has_its_share_of_the_memory_and_counts_its_own():
    program = """
d.cuInit(0)
total = [size('cuDeviceTotalMem_v2', i) for i in range(2)]
first = d.out('cuCtxCreate_v2', 0, 0); second = d.out('cuCtxCreate_v2', 0, 1)
before = free()
mine = d.out('cuMemAlloc_v2', 300 << 20)
after = free()
refused = d.code('cuMemAlloc_v2', ctypes.byref(ctypes.c_uint64()), 300 << 20)
d.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
other = free()
theirs = d.out('cuMemAlloc_v2', 300 << 20)
ordinals = [attribute(9, mine), attribute(9, theirs + 5)]
pooled = ctypes.c_uint64(); d.cuMemAllocAsync(ctypes.byref(pooled), 64, 0)
host = d.out('cuMemHostAlloc', 64, 0)
d.cuMemFree_v2(mine)
show(total, before[0] - after[0], refused, before == other, ordinals, attribute(9, pooled.value), attribute(9, host))
"""
    half = 512 << 20
    assert run(program, ANYWARP_MEMORY="1GiB") == [[half, half], 300 << 20, OUT_OF_MEMORY, True, [1, 0], 0, 0]


def test_each_device_has_a_primary_context_of_its_own():
    program = """
d.cuInit(0)
a, b = d.out('cuDevicePrimaryCtxRetain', 0), d.out('cuDevicePrimaryCtxRetain', 1)
d.cuCtxSetCurrent(b)
stream = d.out('cuStreamCreate', 0); event = d.out('cuEventCreate', 0)
d.cuCtxSetCurrent(a)
wrong = d.code('cuEventRecord', event, d.out('cuStreamCreate', 0))
its = ctypes.c_int(); d.cuStreamGetDevice(stream, ctypes.byref(its))
show(a != b, integer('cuCtxGetDevice'), integer('cuCtxGetDevice_v2', b), its.value, wrong,
     d.code('cuDevicePrimaryCtxRetain', ctypes.byref(ctypes.c_void_p()), 2))
"""
    assert run(program) == [True, 0, 1, 1, INVALID_HANDLE, INVALID_DEVICE]


def test_peers_are_enabled_once_and_disabled_once():
    program = """
d.cuInit(0)
a, b, again = d.out('cuCtxCreate_v2', 0, 0), d.out('cuCtxCreate_v2', 0, 1), d.out('cuCtxCreate_v2', 0, 1)
can = [integer('cuDeviceCanAccessPeer', x, y) for x, y in ((0, 1), (1, 0), (0, 0))]
codes = [d.code('cuCtxEnablePeerAccess', *x) for x in ((a, 0), (a, 0), (a, 1), (b, 0), (again, 0))]
ends = [d.code('cuCtxDisablePeerAccess', x) for x in (a, a)]
show(can, codes, ends, integer('cuDeviceGetP2PAttribute', 2, 0, 1), d.code('cuDeviceGetP2PAttribute', ctypes.byref(ctypes.c_int()), 2, 1, 1))
"""
    codes = [0, PEER_ALREADY, INVALID_VALUE, PEER_UNSUPPORTED, INVALID_CONTEXT]
    assert run(program) == [[1, 1, 0], codes, [0, PEER_NOT], 1, INVALID_DEVICE]


def test_a_peer_copy_comes_behind_the_work_of_both_devices():
    program = """
d.cuInit(0)
a = d.out('cuCtxCreate_v2', 0, 0); there = d.out('cuMemAlloc_v2', 64); d.cuMemsetD8_v2(there, 0, 64)
slow = d.out('cuStreamCreate', 1)
FN = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
delay = FN(lambda _: time.sleep(0.1))
d.cuLaunchHostFunc(slow, delay, None); d.cuMemsetD8Async(there, 7, 64, slow)
b = d.out('cuCtxCreate_v2', 0, 1); here = d.out('cuMemAlloc_v2', 64)
d.cuMemcpyPeer(here, b, there, a, 64)
out = (ctypes.c_ubyte * 64)(); d.cuMemcpyDtoH_v2(out, here, 64)
stream = d.out('cuStreamCreate', 1)
d.cuMemsetD8Async(here, 9, 64, stream); d.cuMemcpyPeerAsync(there, a, here, b, 64, stream); d.cuStreamSynchronize(stream)
back = (ctypes.c_ubyte * 64)(); d.cuMemcpyDtoH_v2(back, there, 64)
show(sorted(set(out)), sorted(set(back)))
"""
    assert run(program) == [[7], [9]]


def test_an_event_of_one_device_holds_up_a_stream_of_another():
    program = """
d.cuInit(0)
d.out('cuCtxCreate_v2', 0, 0); first = d.out('cuStreamCreate', 1); event = d.out('cuEventCreate', 0)
FN = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
seen = []
one, two = FN(lambda _: (time.sleep(0.1), seen.append('first'))), FN(lambda _: seen.append('second'))
d.cuLaunchHostFunc(first, one, None); d.cuEventRecord(event, first)
d.out('cuCtxCreate_v2', 0, 1); second = d.out('cuStreamCreate', 1)
d.cuStreamWaitEvent(second, event, 0); d.cuLaunchHostFunc(second, two, None); d.cuStreamSynchronize(second)
show(seen)
"""
    assert run(program) == [["first", "second"]]


def test_pools_belong_to_their_device():
    program = """
d.cuInit(0)
pools = [d.out('cuDeviceGetDefaultMemPool', i) for i in range(2)]
d.out('cuCtxCreate_v2', 0, 1)
p = ctypes.c_uint64(); d.cuMemAllocAsync(ctypes.byref(p), 4096, 0)
def used(pool):
    out = ctypes.c_uint64(); d.cuMemPoolGetAttribute(pool, 7, ctypes.byref(out)); return out.value
show(pools[0] != pools[1], used(pools[0]), used(pools[1]), attribute(9, p.value))
"""
    assert run(program) == [True, 0, 4096, 1]


def test_the_counter_of_work_is_zero_exactly_when_nothing_is_under_way():
    program = """
d.library.anywarp_work_counter.restype = ctypes.POINTER(ctypes.c_uint64)
counter = d.library.anywarp_work_counter()
values = [counter[0]]
d.cuInit(0); d.out('cuCtxCreate_v2', 0, 0)
FN = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
gate = threading.Event(); hold = FN(lambda _: gate.wait(10) and None)
streams = [d.out('cuStreamCreate', 1) for _ in range(2)]
values.append(counter[0])
for s in streams: d.cuLaunchHostFunc(s, hold, None)
event = d.out('cuEventCreate', 0); d.cuEventRecord(event, streams[0])
values.append(counter[0])
gate.set(); d.cuCtxSynchronize()
values.append(counter[0])
show(*values)
"""
    assert run(program, 1) == [0, 0, 3, 0]


def test_a_host_function_can_fail_as_a_kernel_does():
    program = """
d.cuInit(0); d.out('cuCtxCreate_v2', 0, 0)
FN = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
import threading
seen, failed = [], threading.Event()
def fail_in_here(_):
    seen.append(d.library.anywarp_fail(710, b'index 7 is out of bounds'))
    failed.set()
fail = FN(fail_in_here)
never = FN(lambda _: seen.append('ran'))
outside = d.library.anywarp_fail(710, b'not here')
stream = d.out('cuStreamCreate', 1)
d.cuLaunchHostFunc(stream, fail, None); d.code('cuLaunchHostFunc', stream, never, None)
codes = d.code('cuStreamSynchronize', stream), d.code('cuMemAlloc_v2', ctypes.byref(ctypes.c_uint64()), 64)
failed.wait(60)  # the error is there before the function has returned
show(outside, *codes, seen)
"""
    assert run(program, 1) == [NOT_PERMITTED, 710, 710, [0]]


def test_waiting_for_a_stream_under_capture_spoils_the_capture():
    """CUDA C++ Programming Guide, graphs, prohibited and unhandled operations."""
    program = """
d.cuInit(0); d.out('cuCtxCreate_v2', 0, 0)
stream = d.out('cuStreamCreate', 1)
def attempt(name, *rest):
    d.cuStreamBeginCapture_v2(stream, 0)
    return [d.code(name, *rest), d.code('cuStreamEndCapture', stream, ctypes.byref(ctypes.c_void_p()))]
show(attempt('cuStreamSynchronize', stream), attempt('cuStreamQuery', stream), attempt('cuCtxSynchronize'))
"""
    assert run(program, 1) == [[CAPTURE_UNSUPPORTED, CAPTURE_INVALIDATED]] * 3
