"""What the emulator counts of a launch: instructions by name, bytes that lanes asked for, lines of memory that they touched."""

import numpy as np
import pytest

from semantics.emulated import Program

pytestmark = [pytest.mark.amd_emulator]

KERNEL = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry copy(.param .u64 out, .param .u64 given, .param .u32 stride)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<6>;
  ld.param.u64 %d0, [out];
  ld.param.u64 %d1, [given];
  ld.param.u32 %r1, [stride];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d2, %r0, 4;
  add.u64 %d0, %d0, %d2;
  mul.wide.u32 %d3, %r0, %r1;
  add.u64 %d1, %d1, %d3;
  ld.global.u32 %r2, [%d1];
  st.global.u32 [%d0], %r2;
  ret;
}
"""
LINE = 128


def aligned(words):
    room = np.zeros(words + LINE, np.uint32)
    return room[(-room.ctypes.data % LINE) // 4 :][:words]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("stride", [4, 8, LINE, 2 * LINE])
def test_lines_bytes_and_instructions_are_counted(arch, stride):
    threads, wave = 64, 64 if arch == "gfx942" else 32
    given, out = aligned(threads * stride // 4), aligned(threads)
    given[:] = np.arange(given.size)
    program = Program(KERNEL, arch)
    program.counts = {}
    program.run("copy", 1, threads, [out, given, np.uint32(stride)])
    assert np.array_equal(out, given[:: stride // 4])
    moves = {name: each for name, each in program.counts.items() if name.startswith("GLOBAL_")}
    load = next(each for name, each in moves.items() if "LOAD" in name)
    store = next(each for name, each in moves.items() if "STORE" in name)
    assert len(moves) == 2 and load[0] == store[0] == threads // wave
    assert load[1] == store[1] == 4 * threads
    assert store[2] == 4 * threads // LINE and load[2] == min(threads, threads * stride // LINE)
    assert program.counts["S_ENDPGM"][0] == threads // wave
    assert sum(executed for executed, _, _ in program.counts.values()) == program.instructions


def test_nothing_is_counted_unless_asked():
    program = Program(KERNEL, "gfx942")
    program.run("copy", 1, 64, [aligned(64), aligned(64), np.uint32(4)])
    assert program.counts is None and program.instructions > 0
