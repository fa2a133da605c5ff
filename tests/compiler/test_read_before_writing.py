"""What all threads read behind a barrier is read before a thread writes it in its next round."""

import numpy as np
import pytest

from anywarp.compiler.attributes import Barrier
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.passes.read_before_writing import read_before_writing
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.devices.cpu.execute import run_kernel
from anywarp.ptx.index import index_module

THREADS, ROUNDS = 1024, 8

# Each round: a thread writes twice what all read in the round before, plus its number; all read the first thread's and add it up.
TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {{
.reg .b32 %r<9>; .reg .b64 %p<4>; .reg .pred %q<2>;
.shared .align 16 .b8 here[4096]; .shared .align 4 .b8 there[4096];
ld.param.u64 %p0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %p1, %r0, 4; add.u64 %p0, %p0, %p1;
mov.u64 %p2, here; add.u64 %p2, %p2, %p1; mov.u64 %p3, there; add.u64 %p3, %p3, %p1; mov.u32 %r1, 1; mov.u32 %r2, 0; mov.u32 %r4, 0;
again:
mad.lo.u32 %r3, %r1, 2, %r0;
{before}
st.shared.u32 [{written}], %r3;
bar.sync 0;
ld.shared.u32 %r1, [{read}];
{behind}
add.u32 %r4, %r4, %r1;
add.u32 %r2, %r2, 1;
setp.lt.u32 %q0, %r2, 8; @%q0 bra again;
st.global.u32 [%p0], %r4; ret; }}
"""
RACING = {"before": "", "written": "%p2", "read": "here", "behind": ""}
SAFE = {
    "a barrier between": {"before": "bar.sync 0;"},
    "a barrier behind the read": {"behind": "bar.sync 0;"},
    "each thread its own": {"read": "%p2"},
    "another variable": {"written": "%p3"},
    "only some warps": {
        "before": "setp.gt.u32 %q1, %r0, 63; @%q1 bra others; bar.sync 0; ld.shared.u32 %r5, [here]; add.u32 %r4, %r4, %r5; bra on; others: bar.sync 0; on:"
    },
}


def barriers(text):
    kernel = prepare_kernel(IndexedModule(index_module(text)), "k", Specialisation((THREADS, 1, 1)), checked=True)
    before = sum(isinstance(block.terminator.attrs, Barrier) for block in kernel.blocks)
    read_before_writing(kernel, Specialisation((THREADS, 1, 1)))
    return before, sum(isinstance(block.terminator.attrs, Barrier) for block in kernel.blocks)


def test_all_threads_read_what_the_first_one_wrote_in_this_round():
    out = np.zeros(THREADS, np.uint32)
    run_kernel(TEXT.format(**RACING), "k", (1, 1, 1), (THREADS, 1, 1), [out])
    np.testing.assert_array_equal(out, sum(2**each for each in range(1, ROUNDS + 1)))


def test_all_results_of_a_read_outlast_the_repeated_barrier():
    behind = "add.u32 %r4, %r4, %r6; add.u32 %r4, %r4, %r7;"
    text = TEXT.format(**RACING | {"behind": behind}).replace(
        "ld.shared.u32 %r1, [here]", "ld.shared.v4.u32 {%r1, %r5, %r6, %r7}, [here]"
    )
    out = np.zeros(THREADS, np.uint32)
    run_kernel(text, "k", (1, 1, 1), (THREADS, 1, 1), [out])
    expected, previous = 0, 1
    for _ in range(ROUNDS):
        written = [2 * previous + number for number in range(4)]
        previous = written[0]
        expected += previous + written[2] + written[3]
    np.testing.assert_array_equal(out, expected)


def test_the_barrier_is_repeated_once():
    assert barriers(TEXT.format(**RACING)) == (1, 2)


def test_only_the_first_thread_goes_on_behind_a_repeated_barrier():
    """The block that a branch leads to has no barrier before it, though one was put into the block before."""
    behind = "setp.ne.u32 %q1, %r0, 0; @%q1 bra skip; ld.shared.u32 %r5, [here]; add.u32 %r4, %r4, %r5; skip:"
    out = np.zeros(THREADS, np.uint32)
    run_kernel(TEXT.format(**RACING | {"behind": behind}), "k", (1, 1, 1), (THREADS, 1, 1), [out])
    once = sum(2**each for each in range(1, ROUNDS + 1))
    np.testing.assert_array_equal(out, [2 * once, *[once] * (THREADS - 1)])


@pytest.mark.parametrize("case", SAFE)
def test_what_does_not_race_is_left_alone(case):
    before, after = barriers(TEXT.format(**RACING | SAFE[case]))
    assert before == after
