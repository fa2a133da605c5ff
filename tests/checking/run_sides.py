"""Halves of a warp exchange values through shared memory and registers, each at a `bar.warp.sync`, shuffle and vote of its own branch."""

import struct
import sys
from pathlib import Path

from driver import Driver

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry sides(.param .u64 out) {
  .reg .b32 %r<12>; .reg .b64 %d<4>; .reg .pred %p; .shared .b32 box[64];
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
  mov.u32 %r2, %laneid; shl.b32 %r3, %r1, 2; mov.u32 %r4, box; add.u32 %r3, %r3, %r4; xor.b32 %r5, %r3, 64;
  mad.lo.u32 %r6, %r1, 7, 3; setp.lt.u32 %p, %r2, 16; @%p bra LOW;
  st.shared.u32 [%r3], %r6; bar.warp.sync 0xffffffff; ld.shared.u32 %r7, [%r5];
  shfl.sync.bfly.b32 %r8, %r1, 16, 31, 0xffffffff; vote.sync.ballot.b32 %r9, %p, 0xffffffff; bra BOTH;
LOW: st.shared.u32 [%r3], %r6; bar.warp.sync 0xffffffff; ld.shared.u32 %r7, [%r5]; add.u32 %r7, %r7, 1;
  shfl.sync.bfly.b32 %r8, %r1, 16, 31, 0xffffffff; vote.sync.ballot.b32 %r9, %p, 0xffffffff;
BOTH: add.u32 %r7, %r7, %r8; add.u32 %r7, %r7, %r9; st.global.u32 [%d1], %r7; ret;
}
"""


def main():
    d, path = Driver(), Path(sys.argv[1]) / "sides.ptx"
    path.write_text(PTX)
    out = d.allocate(256)
    d.launch(d.function(d.module(path), "sides"), (1,), (64,), [out])
    d.call("cuCtxSynchronize")
    found = struct.unpack("64I", d.read(out, 256))
    assert found == tuple((t ^ 16) * 8 + 3 + (t % 32 < 16) + 0xFFFF for t in range(64)), found


if __name__ == "__main__":
    main()
