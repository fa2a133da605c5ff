"""Parameters read through registers that hold their addresses, as nvcc does for structures passed by value."""

import numpy as np
import pytest

from semantics.devices import DEVICES

TEXT = """
.version 8.2
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .align 8 .b8 table[256]) {
  .reg .b64 %rd<9>;
  .reg .b32 %r<3>;
  .reg .pred %p;
  mov.u32 %r1, %tid.x;
  mov.b64 %rd1, table;
  HOW
  ld.param.u64 %rd3, [out];
  mul.wide.u32 %rd4, %r1, 8;
  add.u64 %rd3, %rd3, %rd4;
  st.global.u64 [%rd3], %rd2;
  ret;
}
"""

CONSTANT = "ld.param.u64 %rd2, [%rd1+24];"
PER_LANE = "mul.wide.u32 %rd5, %r1, 8; add.u64 %rd1, %rd1, %rd5; ld.param.u64 %rd2, [%rd1];"
CHOSEN = """setp.gt.u32 %p, %r1, 9;
  add.u64 %rd5, %rd1, 64;
  @%p bra other;
  add.u64 %rd5, %rd1, 16;
other:
  ld.param.u64 %rd2, [%rd5+8];"""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("how", "word"),
    [(CONSTANT, lambda lane: 3), (PER_LANE, lambda lane: lane), (CHOSEN, lambda lane: 9 if lane > 9 else 3)],
    ids=["constant", "per lane", "chosen by a branch"],
)
def test_a_parameter_is_read_through_a_register(device, how, word):
    table = np.arange(32, dtype=np.uint64) * 0x0101010101010101 + 7
    out = np.zeros(32, np.uint64)
    DEVICES[device](TEXT.replace("HOW", how), "k", (1, 1, 1), (32, 1, 1), [out, table.tobytes()])
    np.testing.assert_array_equal(out, table[[word(lane) for lane in range(32)]])
