"""Launches by kernels in PTX as nvcc writes it: the names of CUDA 11 and of CUDA 12 and on, and what a wrong one gets."""

import ctypes

import pytest

pytestmark = pytest.mark.native

INVALID_CONFIGURATION, INVALID_FUNCTION, INVALID_VALUE = 9, 98, 1

TEXT = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) BUFFER(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) LAUNCH(.param .b64 p, .param .b64 s);
.extern .func (.param .b32 r) LAST();
.visible .entry child(.param .u64 out, .param .u32 less)
{
  .reg .b32 %r<6>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r1, [less];
  mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4;
  mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2; sub.u32 %r5, %r2, %r1; st.global.u32 [%d1+8], %r5; ret;
}
.visible .entry parent(.param .u64 out, .param .u64 function, .param .u32 threads)
{
  .reg .b32 %r<6>; .reg .b64 %d<6>; .reg .pred %p<3>;
  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [function]; ld.param.u32 %r1, [threads];
  setp.ne.u64 %p1, %d2, 0; mov.u64 %d3, child; selp.u64 %d2, %d2, %d3, %p1;
  {
    .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
    st.param.b64 [f], %d2; st.param.b32 [g], 1; st.param.b32 [g+4], 3; st.param.b32 [g+8], 1;
    st.param.b32 [b], %r1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;
    call (r), BUFFER, (f, g, b, s);
    ld.param.b64 %d4, [r];
  }
  mov.u32 %r2, 0; setp.eq.u64 %p2, %d4, 0; @%p2 bra NONE;
  st.u64 [%d4], %d1; st.u32 [%d4+8], 5;
  { .param .b64 p; .param .b64 s; .param .b32 r; st.param.b64 [p], %d4; st.param.b64 [s], 0; call (r), LAUNCH, (p, s); ld.param.b32 %r2, [r]; }
NONE:
  { .param .b32 r; call (r), LAST, (); ld.param.b32 %r3, [r]; }
  st.global.u32 [%d1], %r2; st.global.u32 [%d1+4], %r3; ret;
}
"""


@pytest.fixture(params=["cuda", "__cudaCDP2"], ids=["CUDA 11", "CUDA 12"])
def launched(request, driver, context):
    """Launch the parent; returns what LaunchDeviceV2 said (0 where it was not asked), the last error, and what the child wrote."""
    text = TEXT
    for short, name in ("BUFFER", "GetParameterBufferV2"), ("LAUNCH", "LaunchDeviceV2"), ("LAST", "GetLastError"):
        text = text.replace(short, request.param + name)
    function = driver.out("cuModuleGetFunction", driver.out("cuModuleLoadData", text.encode()), b"parent")
    out = driver.out("cuMemAlloc_v2", 4 * 20)

    def launch(threads, pointer=0):
        driver.cuMemsetD32_v2(out, 77, 20)
        driver.launch(function, 1, 1, [ctypes.c_uint64(out), ctypes.c_uint64(pointer), ctypes.c_uint32(threads)])
        got = (ctypes.c_int32 * 20)()
        driver.cuMemcpyDtoH_v2(got, out, 4 * 20)
        return got[0], got[1], list(got[2:])

    return launch


def test_the_child_gets_its_shape_and_parameters(launched):
    assert launched(6) == (0, 0, [i - 5 for i in range(18)])


@pytest.mark.parametrize("threads", [0, 1025, 0xFFFFFFFF])
def test_an_impossible_shape_gets_no_buffer(launched, threads):
    assert launched(threads) == (0, INVALID_CONFIGURATION, [77] * 18)


def test_what_is_no_kernel_cannot_be_launched(launched):
    assert launched(6, 0x1234) == (0, INVALID_FUNCTION, [77] * 18)


def test_what_is_no_buffer_is_no_value(driver, context):
    text = (
        TEXT.replace("LAUNCH", "cudaLaunchDeviceV2")
        .replace("LAST", "cudaGetLastError")
        .replace("BUFFER", "cudaGetParameterBufferV2")
    )
    text = text.replace("st.param.b64 [p], %d4", "st.param.b64 [p], %d1")
    function = driver.out("cuModuleGetFunction", driver.out("cuModuleLoadData", text.encode()), b"parent")
    out = driver.out("cuMemAlloc_v2", 256)
    driver.launch(function, 1, 1, [ctypes.c_uint64(out + 128), ctypes.c_uint64(0), ctypes.c_uint32(6)])
    got = (ctypes.c_int32 * 2)()
    driver.cuMemcpyDtoH_v2(got, out + 128, 8)
    assert list(got) == [INVALID_VALUE, INVALID_VALUE]
