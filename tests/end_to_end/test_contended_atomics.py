"""Blocks on several threads add to the same places at once: nothing is lost, and neighbouring lanes' additions stay one operation's."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.native

# block b's thread t adds 1 to table[t / 40 % 8], `times` times
PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 table, .param .u32 times)
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .TYPE %v;
ld.param.u64 %d1, [table]; ld.param.u32 %r2, [times];
mov.u32 %r1, %tid.x; div.u32 %r3, %r1, 40; and.b32 %r3, %r3, 7;
mul.wide.u32 %d2, %r3, SIZE; add.u64 %d1, %d1, %d2;
mov.TYPE %v, ONE;
AGAIN:
red.global.add.TYPE [%d1], %v;
sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra AGAIN;
ret;
}
"""
PROGRAM = """
import ctypes, sys
sys.path.insert(0, 'tests')
from native.by_hand import Driver
image, real, blocks, lanes, times = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
d = Driver(); d.cuInit(0); d.out('cuCtxCreate_v2', 0, 0)
function = d.out('cuModuleGetFunction', d.out('cuModuleLoadData', image.encode()), b'k')
table = d.out('cuMemAlloc_v2', 4096)
d.cuMemsetD32_v2(ctypes.c_uint64(table), 0, 64)
d.launch(function, blocks, lanes, [ctypes.c_uint64(table), ctypes.c_uint32(times)])
d.cuCtxSynchronize()
type = {'f32': ctypes.c_float, 'f64': ctypes.c_double}[real]
print(*(type * 8).from_address(table))
"""


@pytest.mark.parametrize("type", ["f32", "f64"])
def test_nothing_is_lost_between_blocks_that_add_to_the_same_places(type: str) -> None:
    blocks, lanes, times = 64, 320, 100
    size, one = (4, "0f3F800000") if type == "f32" else (8, "0d3FF0000000000000")
    image = PTX.replace("TYPE", type).replace("SIZE", str(size)).replace("ONE", one)
    command = [sys.executable, "-c", PROGRAM, image, type, *map(str, (blocks, lanes, times))]
    environment = {**os.environ, "ANYWARP_THREADS": "4", "ANYWARP_VERSIONS": "best"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert [float(word) for word in done.stdout.split()] == [40.0 * blocks * times] * 8
