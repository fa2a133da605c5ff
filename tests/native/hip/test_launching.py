"""Kernels through the driver for AMD GPUs: compiled for the device's architecture, loaded by HIP and launched with CUDA's meaning."""

import ctypes

import pytest

from anywarp.compiler.amdgpu.hidden import AwHipHidden, hidden_start
from native.hip.rig import run

pytestmark = pytest.mark.native

PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .const .align 4 .u32 factor = 7;
.visible .global .align 4 .u32 table[100];
.visible .entry scale(.param .u64 data, .param .u32 count, .param .u8 flag) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;
  .shared .align 4 .b8 room[64];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [count]; setp.ge.u32 %p, %r4, %r5; @%p bra DONE;
  st.volatile.shared.u32 [room], %r4; ld.volatile.shared.u32 %r4, [room];
  ld.param.u64 %rd1, [data]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;
  ld.const.u32 %r6, [factor]; mul.lo.u32 %r7, %r4, %r6; st.global.u32 [%rd3], %r7;
DONE: ret;
}
"""

PREPARE = f"""
context()
module = made("cuModuleLoadData", {PTX!r}.encode())
kernel = made("cuModuleGetFunction", module, b"scale")
data = memory(4096)
def launch(grid, block, shared=0, stream=None, values=None):
    count, flag = c_uint(1000), ctypes.c_uint8(0xAB)
    items = values or [data, count, flag]
    pointers = (c_void_p * len(items))(*[ctypes.addressof(v) for v in items])
    return cuda.cuLaunchKernel(kernel, *map(c_uint, (*grid, *block)), c_uint(shared), stream, pointers, None)
"""


def hidden(record, param_bytes):
    start = hidden_start(param_bytes)
    return AwHipHidden.from_buffer_copy(bytes.fromhex(record["kernarg"])[start : start + ctypes.sizeof(AwHipHidden)])


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_launch_carries_parameters_and_shape(arch, tmp_path, same_compiler):
    answer = run(
        f"""{PREPARE}
out["codes"] = [launch((5, 3, 2), (32, 4, 2), 128), cuda.cuCtxSynchronize()]
address, size = c_uint64(), c_size_t()
call("cuModuleGetGlobal_v2", byref(address), byref(size), module, b"table")
out["data"], out["table"], out["size"] = data.value, address.value, size.value
call("cuModuleUnload", module)
""",
        tmp_path,
        FAKE_HIP_DEVICES=arch,
    )
    assert answer.out["codes"] == [0, 0]
    assert not answer.faults()
    [record] = answer.launches()
    assert (record["grid"], record["block"]) == ([5, 3, 2], [32, 4, 2])
    kernarg = bytes.fromhex(record["kernarg"])
    assert int.from_bytes(kernarg[:8], "little") == answer.out["data"]
    assert kernarg[8:13] == (1000).to_bytes(4, "little") + b"\xab"
    own = hidden(record, 13)
    assert (list(own.grid), list(own.block)) == ([5, 3, 2], [32, 4, 2])
    assert (own.dynamic_shared, own.shared_total) == (128, 64 + 128)
    assert record["shared"] + record["lds"] >= 192
    assert own.module_data <= answer.out["table"] < own.module_data + 4096
    assert answer.out["size"] == 400


def test_work_keeps_the_order_of_its_stream(tmp_path, same_compiler):
    answer = run(
        f"""{PREPARE}
stream = made("cuStreamCreate", 1)
host = c_void_p()
call("cuMemAllocHost_v2", byref(host), c_size_t(4096))
call("cuMemsetD32Async", data, c_uint(3), c_size_t(1024), stream)
launch((1, 1, 1), (64, 1, 1), stream=stream)
call("cuMemcpyDtoHAsync_v2", host, data, c_size_t(4096), stream)
out["before"] = ctypes.string_at(host, 4).hex()
call("cuStreamSynchronize", stream)
out["after"] = ctypes.string_at(host, 4).hex()
""",
        tmp_path,
        FAKE_HIP_LATE_MS="10000",
    )
    assert answer.out["after"] == "03000000" != answer.out["before"]
    assert [each["what"] for each in answer.records if "ran" in each][-3:] == ["fill", "kernel", "copy"]


def test_launches_that_cuda_refuses_are_refused(tmp_path, same_compiler):
    answer = run(
        f"""{PREPARE}
out["codes"] = [
    launch((0, 1, 1), (32, 1, 1)), launch((1, 1, 1), (1025, 1, 1)), launch((1, 1, 1), (32, 32, 2)), launch((1, 65536, 1), (1, 1, 1)),
    launch((1, 1, 1), (1, 1, 65)), launch((1, 1, 1), (32, 1, 1), 70000),
]
out["then"] = [launch((1, 1, 1), (32, 1, 1)), cuda.cuCtxSynchronize()]
""",
        tmp_path,
    )
    assert answer.out["codes"] == [1] * 6
    assert answer.out["then"] == [0, 0]
    assert len(answer.launches()) == 1
    assert not answer.faults()


def test_grids_that_hip_does_not_take_go_in_pieces(tmp_path, same_compiler):
    answer = run(
        f"""{PREPARE}
out["codes"] = [launch((2**31 - 1, 1, 1), (512, 1, 1)), cuda.cuCtxSynchronize()]
""",
        tmp_path,
    )
    assert answer.out["codes"] == [0, 0]
    pieces = answer.launches()
    assert sum(each["grid"][0] for each in pieces) == 2**31 - 1
    assert all(each["grid"][0] * 512 < 2**32 for each in pieces)
    first = 0
    for piece in pieces:
        own = hidden(piece, 13)
        assert (own.first_block[0], own.grid[0]) == (first, 2**31 - 1)
        first += piece["grid"][0]


def test_a_module_is_loaded_on_the_device_of_its_context(tmp_path, same_compiler):
    answer = run(
        f"""
context(1)
module = made("cuModuleLoadData", {PTX!r}.encode())
kernel = made("cuModuleGetFunction", module, b"scale")
data = memory(64)
count, flag = c_uint(4), ctypes.c_uint8(0)
pointers = (c_void_p * 3)(*[ctypes.addressof(v) for v in (data, count, flag)])
out["codes"] = [cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, pointers, None), cuda.cuCtxSynchronize()]
""",
        tmp_path,
        FAKE_HIP_DEVICES="gfx942,gfx1100",
    )
    assert answer.out["codes"] == [0, 0]
    [record] = answer.launches()
    assert record["device"] == 1
    assert "gfx1100" in [each["target"] for each in answer.records if "loaded" in each]
    assert not answer.faults()


OLD_AND_NEW = """
PTX = b'''.version 8.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 start[2] = {7, 9};
.visible .entry store(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [out];
  ld.global.u32 %r0, [start];
  st.global.u32 [%d0], %r0;
  ret;
}
'''
def launched(module, stream=None):
    function = made("cuModuleGetFunction", module, b"store")
    parameters = (c_void_p * 1)(ctypes.addressof(place))
    return cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, None)
context()
place = memory(4)
old = made("cuModuleLoadData", PTX)
assert launched(old) == 0
call("cuCtxSynchronize")
stream, graph = made("cuStreamCreate", 1), c_void_p()
"""


def test_a_kernel_that_was_unloaded_before_breaks_no_capture(tmp_path):
    """The thread that launches lets go of what the module had then: HIP frees nothing while a stream is captured."""
    answer = run(
        f"""{OLD_AND_NEW}
call("cuModuleUnload", old)
new = made("cuModuleLoadData", PTX)
call("cuStreamBeginCapture_v2", stream, 0)
out["launch"] = launched(new, stream)
out["end"] = cuda.cuStreamEndCapture(stream, byref(graph))
""",
        tmp_path,
    )
    assert answer.out == {"launch": 0, "end": 0}


def test_loading_a_module_with_variables_breaks_no_capture_of_another_thread(tmp_path):
    answer = run(
        f"""{OLD_AND_NEW}
call("cuStreamBeginCapture_v2", stream, 1)  # thread-local: others may do what they like
def load():
    context()
    out["load"] = cuda.cuModuleLoadData(byref(c_void_p()), PTX)
thread = threading.Thread(target=load)
thread.start()
thread.join()
out["launch"] = launched(old, stream)
out["end"] = cuda.cuStreamEndCapture(stream, byref(graph))
""",
        tmp_path,
    )
    assert answer.out == {"load": 0, "launch": 0, "end": 0}
