"""Modules and libraries: what can be loaded and what not, variables, attributes, logs, linking."""

import ctypes
import re

import numpy as np
import pytest

from native import kernels
from native.by_hand import CudaError, KernelByHand

pytestmark = pytest.mark.native

INVALID_VALUE, INVALID_IMAGE, NO_BINARY, INVALID_PTX, FILE_NOT_FOUND, INVALID_HANDLE, NOT_FOUND = (
    1,
    200,
    209,
    218,
    301,
    400,
    500,
)

# Copies a word of the module's data: pointer at 0, variable at 8.
READS_DATA = KernelByHand(
    "reads_data",
    """
KERNEL(reads_data) {
  auto out = param<uint64_t*>(launch, 0);
  FOR_BLOCKS {
    uint64_t pointer = *(uint64_t*)launch->module_data;
    out[0] = pointer - (uint64_t)launch->module_data;
    out[1] = *(uint32_t*)pointer;
    out[2] = launch->module_data_bytes;
    out[3] = launch->module_data[16];
  }
  return AW_OK;
}
""",
    params=((0, 8),),
)
DATA = bytes(8) + (1234).to_bytes(4, "little") + bytes(4) + bytes(16)
VARIABLES = (
    ("global", "pointer", "global", 0, 8, 8), ("global", "number", "global", 8, 4, 4), ("global", "byte", "global", 16, 1, 1),
    ("global", "table", "const", 20, 12, 4),
    ("address", 0, 8, "data", 8, 0), ("address", 16, 8, "data", 1, "0xff"),
)  # fmt: skip


def test_data_of_a_module_is_laid_out_with_its_addresses(driver, context, handmade):
    module = driver.out("cuModuleLoadData", handmade.module(READS_DATA, data=DATA, extra=VARIABLES))
    address, size = ctypes.c_uint64(), ctypes.c_size_t()
    driver.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), module, b"number")
    assert size.value == 4
    driver.cuMemsetD32_v2(address.value, 4321, 1)
    out = driver.out("cuMemAlloc_v2", 32)
    driver.launch(driver.out("cuModuleGetFunction", module, b"reads_data"), 1, 1, [ctypes.c_uint64(out)])
    got = np.zeros(4, np.uint64)
    driver.cuMemcpyDtoH_v2(got.ctypes.data, out, 32)
    assert got.tolist() == [8, 4321, 32, address.value & 0xFF]
    assert driver.code("cuModuleGetGlobal_v2", None, None, module, b"nothing") == NOT_FOUND


def test_variables_are_known_memory_as_long_as_their_module(driver, context, handmade):
    module = driver.out("cuModuleLoadData", handmade.module(READS_DATA, data=DATA, extra=VARIABLES))
    address = ctypes.c_uint64()
    driver.cuModuleGetGlobal_v2(ctypes.byref(address), None, module, b"number")
    kind = ctypes.c_uint()
    driver.cuPointerGetAttribute(ctypes.byref(kind), 2, address.value)
    assert kind.value == 2  # CU_MEMORYTYPE_DEVICE
    assert driver.code("cuMemFree_v2", address.value - 8) == 1  # they begin there, and belong to the module
    driver.cuModuleUnload(module)
    assert driver.code("cuPointerGetAttribute", ctypes.byref(kind), 2, address.value) == 1


def test_each_load_has_data_of_its_own(driver, context, handmade):
    image = handmade.module(READS_DATA, data=DATA, extra=VARIABLES)
    places = []
    for _ in range(2):
        address = ctypes.c_uint64()
        driver.cuModuleGetGlobal_v2(ctypes.byref(address), None, driver.out("cuModuleLoadData", image), b"number")
        places.append(address.value)
    assert places[0] != places[1]


def test_functions_are_found_counted_and_listed(driver, context, handmade):
    module = driver.out("cuModuleLoadData", handmade.module(kernels.VECADD, kernels.LIMITED))
    assert driver.out("cuModuleGetFunctionCount", module, kind=ctypes.c_uint) == 2
    listed = (ctypes.c_void_p * 2)()
    driver.cuModuleEnumerateFunctions(listed, 2, module)
    assert list(listed) == [driver.out("cuModuleGetFunction", module, n) for n in (b"vecadd", b"limited")]
    assert driver.code("cuModuleGetFunction", ctypes.byref(ctypes.c_void_p()), module, b"other") == NOT_FOUND
    assert driver.out("cuFuncGetName", listed[0], kind=ctypes.c_char_p) == b"vecadd"
    assert driver.out("cuFuncGetModule", listed[1]) == module


def test_parameters_and_attributes_of_a_function(driver, context, handmade):
    module = driver.out(
        "cuModuleLoadData", handmade.module(kernels.VECADD, kernels.LIMITED, kernels.LOCALS, kernels.DYNAMIC_SHARED)
    )
    function = {
        name: driver.out("cuModuleGetFunction", module, name)
        for name in (b"vecadd", b"limited", b"locals", b"dynamic_shared")
    }
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    driver.cuFuncGetParamInfo(function[b"vecadd"], 3, ctypes.byref(offset), ctypes.byref(size))
    assert (offset.value, size.value) == (24, 4)
    assert driver.code("cuFuncGetParamInfo", function[b"vecadd"], 4, ctypes.byref(offset), None) == INVALID_VALUE
    ask = lambda number, name: driver.out("cuFuncGetAttribute", number, function[name], kind=ctypes.c_int)  # noqa: E731
    assert ask(0, b"vecadd") == 1024 and ask(0, b"limited") == 64
    assert ask(1, b"dynamic_shared") == 20 and ask(3, b"locals") == 1000
    assert ask(5, b"vecadd") == 80 and ask(6, b"vecadd") == 80
    assert ask(8, b"vecadd") == 49152 and ask(8, b"dynamic_shared") == 49152 - 20
    assert driver.code("cuFuncGetAttribute", ctypes.byref(ctypes.c_int()), 99, function[b"vecadd"]) == INVALID_VALUE


def test_occupancy_follows_threads_and_shared_memory(driver, context, handmade):
    """2048 threads, 32 blocks and 164 KiB of shared memory, of which each block takes 1 KiB more (CUDA occupancy rules)."""
    function = driver.out(
        "cuModuleGetFunction", driver.out("cuModuleLoadData", handmade.module(kernels.VECADD)), b"vecadd"
    )
    blocks = lambda threads, shared: driver.out(  # noqa: E731
        "cuOccupancyMaxActiveBlocksPerMultiprocessor", function, threads, shared, kind=ctypes.c_int
    )
    assert [blocks(t, 0) for t in (1024, 256, 65, 64, 32, 1)] == [2, 8, 21, 32, 32, 32]
    assert [blocks(128, s << 10) for s in (40, 48, 99)] == [4, 3, 1]
    grid, block = ctypes.c_int(), ctypes.c_int()
    driver.cuOccupancyMaxPotentialBlockSize(ctypes.byref(grid), ctypes.byref(block), function, None, 0, 0)
    assert block.value == 1024 and grid.value == 2 * driver.out("cuDeviceGetAttribute", 16, 0, kind=ctypes.c_int)


def cubin(flags=0x00005005_50):
    head = bytearray(64)
    head[:4] = b"\x7fELF"
    head[8] = 7
    head[48:52] = (80).to_bytes(4, "little")
    return bytes(head)


def test_a_cubin_is_no_binary_for_this_device(driver, context, capfd):
    assert driver.code("cuModuleLoadData", ctypes.byref(ctypes.c_void_p()), cubin()) == NO_BINARY
    assert "a cubin for sm_80 holds machine code of NVIDIA processors" in capfd.readouterr().err


def test_files_are_loaded(driver, context, handmade, tmp_path):
    path = tmp_path / "module.ptx"
    path.write_bytes(handmade.module(kernels.VECADD))
    driver.cuModuleUnload(driver.out("cuModuleLoad", str(path).encode()))
    assert driver.code("cuModuleLoad", ctypes.byref(ctypes.c_void_p()), b"nowhere") == FILE_NOT_FOUND
    assert driver.code("cuModuleLoad", ctypes.byref(ctypes.c_void_p()), str(tmp_path).encode()) == INVALID_IMAGE


def logs(size=4096):
    """Options with an error log and an info log: (count, options, values, error buffer)."""
    error, info = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
    options = (ctypes.c_int * 5)(5, 6, 3, 4, 2)
    values = (ctypes.c_void_p * 5)(ctypes.addressof(error), size, ctypes.addressof(info), size, 0)
    return 5, options, values, error, info


def test_the_error_log_gets_what_the_compiler_says(driver, context):
    count, options, values, error, _info = logs()
    bad = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{ this is no instruction; }\n"
    try:
        module = driver.out("cuModuleLoadDataEx", bad, count, options, values)
        function = driver.out("cuModuleGetFunction", module, b"k")
        assert driver.code("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, 0, None, None) == INVALID_PTX
    except CudaError as failure:
        assert failure.code == INVALID_PTX
        assert error.value and values[1] == len(error.value)


def test_garbage_is_refused_and_logged(driver, context):
    count, options, values, error, _info = logs(16)
    out = ctypes.byref(ctypes.c_void_p())
    assert driver.code("cuModuleLoadDataEx", out, b"no PTX at all", count, options, values) in (
        INVALID_IMAGE,
        INVALID_PTX,
    )
    assert 0 < len(error.value) <= 15 and values[1] == len(error.value)
    assert driver.code("cuModuleLoadData", out, None) == INVALID_VALUE
    assert driver.code("cuModuleLoadData", out, b"") == INVALID_IMAGE


def test_a_library_belongs_to_no_context(driver, context, handmade):
    image = handmade.module(READS_DATA, data=DATA, extra=VARIABLES)
    library = ctypes.c_void_p()
    driver.cuLibraryLoadData(ctypes.byref(library), image, None, None, 0, None, None, 0)
    kernel = driver.out("cuLibraryGetKernel", library, b"reads_data")
    assert driver.out("cuLibraryGetKernelCount", library, kind=ctypes.c_uint) == 1
    places = []
    for _ in range(2):
        other = driver.out("cuCtxCreate_v2", 0, 0)
        address = ctypes.c_uint64()
        driver.cuLibraryGetGlobal(ctypes.byref(address), None, library, b"number")
        places.append(address.value)
        out = driver.out("cuMemAlloc_v2", 32)
        driver.launch(kernel, 1, 1, [ctypes.c_uint64(out)])
        got = np.zeros(4, np.uint64)
        driver.cuMemcpyDtoH_v2(got.ctypes.data, out, 32)
        assert got[1] == 1234
        if places[1:]:
            assert places[0] != places[1]
        driver.cuCtxPopCurrent_v2(None)
        driver.code("cuCtxPushCurrent_v2", context) and other
    driver.cuLibraryUnload(library)
    assert driver.code("cuLibraryUnload", library) == INVALID_HANDLE
    assert driver.code("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, None) == INVALID_HANDLE
    driver.cuCtxSetCurrent(context)


HEADER = ".version 7.8\n.target sm_80\n.address_size 64\n"
MAIN = (
    HEADER
    + """
.extern .func (.param .b32 result) twice (.param .b32 value);
.global .u32 private = 1; // a comment with { and ;
.visible .entry main_kernel(.param .u64 out)
{
  .reg .b32 %r<5>; .reg .b64 %rd<2>;
  { .param .b32 given; st.param.b32 [given+0], 21; .param .b32 back; call (back), twice, (given); ld.param.b32 %r1, [back+0]; }
  ld.global.u32 %r2, [private];
  add.u32 %r3, %r1, %r2;
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r3;
  ret;
}
"""
)
OTHER = (
    ".version 8.1\n.target sm_86\n.address_size 64\n"
    + """
.global .u32 private = 100;
.visible .func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 %r<5>;
  ld.param.b32 %r1, [value];
  add.u32 %r2, %r1, %r1;
  ld.global.u32 %r3, [private];
  add.u32 %r4, %r2, %r3;
  st.param.b32 [result], %r4;
  ret;
}
"""
)


def new_link(driver, options):
    state = ctypes.c_void_p()
    driver.cuLinkCreate_v2(*options, ctypes.byref(state))
    return state


def link(driver, *texts, options=(0, None, None)):
    state = new_link(driver, options)
    try:
        for i, text in enumerate(texts):
            driver.cuLinkAddData_v2(state, 1, text.encode() + b"\0", len(text) + 1, f"part {i}".encode(), 0, None, None)
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        driver.cuLinkComplete(state, ctypes.byref(data), ctypes.byref(size))
        return ctypes.string_at(data.value, size.value)
    finally:
        driver.cuLinkDestroy(state)


@pytest.mark.parametrize("order", [(MAIN, OTHER), (OTHER, MAIN)], ids=["caller first", "callee first"])
def test_linked_modules_call_each_other_and_keep_private_names_apart(driver, context, order):
    image = link(driver, *order)
    assert image.endswith(b"\0") and image.count(b".version") == 1 and b".version 8.1" in image
    function = driver.out("cuModuleGetFunction", driver.out("cuModuleLoadData", image), b"main_kernel")
    out = driver.out("cuMemAlloc_v2", 4)
    driver.launch(function, 1, 1, [ctypes.c_uint64(out)])
    got = ctypes.c_uint32()
    driver.cuMemcpyDtoH_v2(ctypes.byref(got), out, 4)
    assert got.value == 2 * 21 + 100 + 1


@pytest.mark.parametrize("mine", ["private$0", "private$1"])
def test_a_private_name_that_is_changed_meets_no_other(driver, context, mine):
    other = OTHER.replace(".visible", f".global .u32 {mine} = 1000;\n.visible", 1)
    image = link(driver, MAIN, other)
    driver.out("cuModuleLoadData", image)
    assert image.count(b".global .u32 private") == 3 and len(set(re.findall(rb"\.u32 (private\S*) =", image))) == 3


def test_nvidias_device_runtime_gives_way_to_ours(driver, context):
    theirs = OTHER.replace("twice", "__cudaCDP2LaunchDeviceV2")
    assert link(driver, theirs, MAIN, OTHER) == link(driver, MAIN, OTHER)


def test_a_single_input_stays_as_it_is(driver, context, handmade):
    image = handmade.module(kernels.VECADD).decode()
    assert link(driver, image) == image.encode() + b"\0"


def test_a_name_defined_twice_is_an_error_in_the_log(driver, context):
    count, options, values, error, _info = logs()
    with pytest.raises(CudaError) as caught:
        link(driver, OTHER, OTHER, options=(count, options, values))
    assert caught.value.code == INVALID_PTX and error.value == b"part 1: twice is defined twice"


def test_only_ptx_can_be_linked(driver, context):
    state = new_link(driver, (0, None, None))
    assert driver.code("cuLinkAddData_v2", state, 0, cubin(), 64, b"x", 0, None, None) == NO_BINARY
    assert driver.code("cuLinkAddData_v2", state, 5, b"BC\xc0\xde", 4, b"x", 0, None, None) == NO_BINARY
    assert driver.code("cuLinkAddFile_v2", state, 1, b"nowhere", 0, None, None) == FILE_NOT_FOUND
    driver.cuLinkDestroy(state)
    assert driver.code("cuLinkDestroy", state) == INVALID_HANDLE
