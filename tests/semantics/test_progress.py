"""Threads that wait for other threads: of their warp, of their block, of other blocks. All must finish."""

from pathlib import Path

import numpy as np
import pytest

from anywarp.compiler.attributes import Barrier
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.ptx.index import index_module
from semantics.devices import DEVICES, module

PTX = (Path(__file__).parent / "cases" / "progress.ptx").read_text()
COMPILED = [name for name in DEVICES if name != "reference"]
BLOCKS = [("reference", 33), *((device, block) for device in COMPILED for block in (1, 32, 33, 96))]


def launch(device, name, grid, block, *args, **how):
    if device == "reference":
        DEVICES[device](PTX, name, grid, block, list(args))
    else:
        module(PTX).run(name, grid, block, list(args), any_shape=device != "cpu", **how)


@pytest.mark.parametrize(("device", "block"), BLOCKS)
def test_every_lane_takes_the_same_lock(device, block):
    lock, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
    launch(device, "spin_lock", 2, block, lock, count)
    assert count[0] == 2 * block * (block + 1) // 2
    assert lock[0] == 0


@pytest.mark.parametrize(("device", "block"), BLOCKS)
def test_tickets_are_served_in_order(device, block):
    following, serving, at = np.zeros(1, np.uint32), np.zeros(1, np.uint32), np.zeros(1, np.int32)
    order = np.full(2 * block, -1, np.int32)
    launch(device, "ticket_lock", 2, block, following, serving, order, at)
    assert sorted(order) == list(range(2 * block))
    assert serving[0] == 2 * block


@pytest.mark.parametrize("device", COMPILED)
@pytest.mark.parametrize("block", [70, 33])
def test_a_lock_that_is_one_bit_of_a_word(device, block):
    word, count = np.zeros(1, np.uint32), np.zeros(1, np.int32)
    launch(device, "bit_lock", 2, block, word, count)
    assert (count[0], word[0]) == (2 * block, 4 * block)  # taking adds 1, giving back adds 1


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("block", [64, 96, 256])
def test_one_warp_produces_what_another_consumes(device, block):
    items, out = 9, np.zeros(64, np.int32)
    launch(device, "ring", 2, block, out, items)
    assert list(out) == [sum(i * 100 + lane for i in range(items)) for lane in range(32)] * 2


@pytest.mark.parametrize("device", COMPILED)
@pytest.mark.parametrize("backwards", [0, 1])
def test_hundreds_of_blocks_look_back(device, backwards):
    """Backwards every block waits for one that is started after it."""
    values = np.random.default_rng(3).integers(-50, 50, 300 * 64).astype(np.int32)
    out, state = np.zeros_like(values), np.zeros(300, np.uint64)
    launch(device, "look_back", 300, 64, values, out, state, backwards)
    np.testing.assert_array_equal(out, np.cumsum(values))


@pytest.mark.parametrize("device", COMPILED)
@pytest.mark.parametrize(("grid", "block"), [(1, 1), (1, 32), (3, 33), (8, 96), (5, 256)])
def test_barriers_of_a_cooperative_grid_in_a_loop(device, grid, block):
    values = np.random.default_rng(4).integers(0, 1000, grid * block).astype(np.int32)
    wanted, out = values.copy(), np.zeros_like(values)
    for r in range(6):
        wanted = np.roll(wanted, -1) + r
    launch(device, "grid_sums", grid, block, values, out, 6, cooperative=True)
    np.testing.assert_array_equal(out, wanted)


NUMBA = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 a);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 a, .param .b32 b);
.visible .entry k(.param .u64 values) {
  .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<3>; .param .b32 scope; .param .b64 held; .param .b32 flags; .param .b32 done;
  st.param.b32 [scope], 1; call.uni (held), cudaCGGetIntrinsicHandle, (scope); ld.param.b64 %d1, [held];
  ld.param.u64 %d2, [values]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
  mov.u32 %r4, %nctaid.x; mul.lo.u32 %r4, %r3, %r4; add.u32 %r5, %r1, 1; rem.u32 %r5, %r5, %r4; mov.u32 %r6, 0;
  mul.wide.u32 %d3, %r5, 4; add.u64 %d3, %d2, %d3; mul.wide.u32 %d4, %r1, 4; add.u64 %d4, %d2, %d4;
L: ld.global.u32 %r7, [%d3];
  st.param.b64 [held], %d1; st.param.b32 [flags], 0; call.uni (done), cudaCGSynchronize, (held, flags);
  add.u32 %r7, %r7, %r6; st.global.u32 [%d4], %r7;
  st.param.b64 [held], %d1; st.param.b32 [flags], 0; call.uni (done), cudaCGSynchronize, (held, flags);
  add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 4; @%p1 bra L; ret; }
"""


@pytest.mark.parametrize("device", COMPILED)
def test_the_barrier_of_the_grid_that_numba_calls(device):
    values = np.random.default_rng(8).integers(0, 1000, 5 * 40).astype(np.int32)
    wanted = values.copy()
    for r in range(4):
        wanted = np.roll(wanted, -1) + r
    module(NUMBA).run("k", 5, 40, [values], any_shape=device != "cpu", cooperative=True)
    np.testing.assert_array_equal(values, wanted)


@pytest.mark.parametrize("device", COMPILED)
def test_a_block_waits_through_shared_memory_and_a_barrier(device):
    flags, out = np.zeros(9, np.int32), np.zeros(9 * 40, np.int32)
    launch(device, "shared_flag", 9, 40, flags, out)
    assert list(out) == [1 + t for t in range(40)] * 9


@pytest.mark.parametrize("device", COMPILED)
def test_retries_and_queues_still_work(device):
    greatest, values = np.zeros(1, np.float32), np.random.default_rng(6).random(1000).astype(np.float32)
    launch(device, "float_max", 2, 96, greatest, values, 1000)
    assert greatest[0] == values.max()
    following, out = np.zeros(1, np.uint32), np.zeros(500, np.int32)
    launch(device, "work_queue", 3, 64, following, out, np.uint32(500))
    assert list(out) == [3 * i for i in range(500)]


@pytest.mark.parametrize(
    ("name", "yields"),
    [("spin_lock", 1), ("ticket_lock", 1), ("ring", 2), ("look_back", 1), ("grid_sums", 2), ("shared_flag", 1), ("bit_lock", 1),
     ("float_max", 0), ("work_queue", 0)],
)  # fmt: skip
def test_only_loops_that_wait_yield(name, yields):
    kernel = prepare_kernel(IndexedModule(index_module(PTX)), name, Specialisation((64, 1, 1)), checked=True)
    loops = {
        b.terminator.targets[0]
        for b in kernel.blocks
        if b.terminator.name == "barrier" and Barrier.of(b.terminator).kind == "yield"
    }
    assert len(loops) >= yields if yields else not loops
