"""A load from anywhere that faults names the lane whose number it was, in gangs of one warp and of several, and with lanes that are off."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.native

# if (tid % 32 >= from) out[tid] = in[number[tid]]
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 number, .param .u64 out, .param .u32 from)
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [number]; ld.param.u64 %d3, [out]; ld.param.u32 %r1, [from];
mov.u32 %r2, %tid.x;
mul.wide.u32 %d4, %r2, 4; add.u64 %d2, %d2, %d4; add.u64 %d3, %d3, %d4;
ld.global.u32 %r3, [%d2];
and.b32 %r4, %r2, 31; setp.lt.u32 %p1, %r4, %r1;
@%p1 bra DONE;
mul.wide.WIDEN %d5, %r3, 4; add.u64 %d6, %d1, %d5;
ld.global.u32 %r5, [%d6+8];
st.global.u32 [%d3], %r5;
DONE: ret;
}
"""
SIZE = 256 << 10


def main(folder: str, widen: str, lane: int, threads: int, start: int, number: int) -> None:
    """Run in a process of its own: place a number that leads nowhere, launch, and say what came of it."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name: str, *arguments: object) -> int:
        return getattr(cuda, name)(*arguments)

    context, module, function = (ctypes.c_void_p() for _ in range(3))
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), TEXT.replace("WIDEN", widen).encode())
    call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
    places = [ctypes.c_uint64() for _ in range(3)]
    for place in places:
        call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(SIZE))
        call("cuMemsetD8_v2", place, 0, ctypes.c_size_t(SIZE))
    numbers = (ctypes.c_uint32 * threads)(*range(threads))
    numbers[lane] = number
    call("cuMemcpyHtoD_v2", places[1], numbers, ctypes.c_size_t(4 * threads))
    values = [*places, ctypes.c_uint32(start)]
    params = (ctypes.c_void_p * 4)(*[ctypes.addressof(v) for v in values])
    call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, params, None)
    print(call("cuCtxSynchronize"), hex(places[0].value))


@pytest.mark.parametrize("threads", [32, 128])
@pytest.mark.parametrize("start", [0, 5])
@pytest.mark.parametrize(
    ("widen", "number", "by"),
    [("s32", 0x7FFFFF00, 0x7FFFFF00), ("s32", 0x80000100, 0x80000100 - (1 << 32)), ("u32", 0xFFFFF000, 0xFFFFF000)],
)
def test_the_lane_whose_number_leads_nowhere_is_named(widen, number, by, start, threads):
    lane = threads - 11
    arguments = [widen, lane, threads, start, number]
    done = subprocess.run(
        [sys.executable, "-m", "anywarp", "run", "--", sys.executable, Path(__file__), "-", *map(str, arguments)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    status, begin = done.stdout.split()
    assert status == "700", done.stderr
    assert f"thread ({lane},0,0): illegal memory access at {int(begin, 16) + 4 * by + 8:#x}" in done.stderr


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
