"""mbarriers on the devices that run kernels, against a model written from the manual's description of the object."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest

from semantics.devices import DEVICES

HEAD = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 results)
{
.reg .b32 %r<8>; .reg .b64 %s<4>, %out, %generic; .reg .pred %p<4>;
.shared .align 8 .b64 bar; .shared .align 8 .b64 other;
ld.param.u64 %out, [results];
mov.u64 %generic, bar; cvta.shared.u64 %generic, %generic;
"""
SPACES = ("", ".shared", ".shared::cta")


@dataclass
class Model:
    """The counts of the object, as the manual names them."""

    expected: int
    pending: int
    transactions: int = 0
    phase: int = 0

    def settle(self):
        if self.pending == 0 and self.transactions == 0:
            self.phase += 1
            self.pending = self.expected

    def arrive(self, count, drop=False):
        state = (self.phase, self.pending)
        self.pending -= count
        self.expected -= count if drop else 0
        self.settle()
        return state

    def transact(self, change):
        self.transactions += change
        self.settle()


def program(rng, steps):
    """Random operations of one thread, and what they must report."""
    model, text, wanted, states = Model(6, 6), ["mbarrier.init.shared.b64 [bar], 6;"], [], []

    def report(register, value):
        text.append(f"st.global.u32 [%out+{4 * len(wanted)}], {register};")
        wanted.append(value)

    def waits(space, address):
        for parity in (0, 1):
            kind = rng.choice(("test_wait", "try_wait"))
            how = rng.choice(("", ".acquire.cta", ".relaxed.cluster"))
            text.append(f"mbarrier.{kind}.parity{how}{space}.b64 %p1, [{address}], {parity};")
            text.append("selp.u32 %r1, 1, 0, %p1;")
            report("%r1", int(model.phase % 2 != parity))
        if states and states[-1] >= model.phase - 1:
            text.append(f"mbarrier.test_wait{space}.b64 %p2, [{address}], %s0; selp.u32 %r1, 1, 0, %p2;")
            report("%r1", int(model.phase != states[-1]))

    for _ in range(steps):
        space = rng.choice(SPACES)
        address = "bar" if space else "%generic"
        count = rng.randint(1, 3)
        kind = rng.choice(
            ("arrive", "arrive", "arrive", "expect", "complete", "expect_arrive", "drop", "copies", "no_complete")
        )
        sem = rng.choice(("", ".release.cta", ".relaxed.cluster"))
        if kind in ("expect", "complete"):
            size = 16 * count
            if kind == "complete" and model.transactions - size < -(1 << 19):
                continue
            sign = 1 if kind == "expect" else -1
            relaxed = rng.choice(("", ".relaxed.cta", ".relaxed.cluster"))
            where = rng.choice((space, ".shared::cluster")) if space else ""
            text.append(f"mbarrier.{kind}_tx{relaxed}{where}.b64 [{address}], {size};")
            model.transact(sign * size)
        elif kind == "copies":
            text.append(f"cp.async.mbarrier.arrive{space}.b64 [{address}];")
            if model.pending >= 1:
                text.append(f"cp.async.mbarrier.arrive.noinc{space}.b64 [{address}];")
                model.arrive(1)
        elif kind == "expect_arrive":
            if model.pending < 1:
                continue
            text.append(f"mbarrier.arrive.expect_tx{sem}{space}.b64 %s0, [{address}], {8 * count};")
            model.transactions += 8 * count
            states.append(model.arrive(1)[0])
        elif kind == "no_complete":
            if model.pending <= count:
                continue
            text.append(f"mbarrier.arrive.noComplete{space}.b64 %s0, [{address}], {count};")
            states.append(model.arrive(count)[0])
        else:
            drop = kind == "drop"
            if model.pending < count or (drop and model.expected <= count):
                continue
            name = "arrive_drop" if drop else "arrive"
            operand = "" if count == 1 else f", {count}"
            text.append(
                f"mbarrier.{name}{sem}{space}.b64 %s0, [{address}]{operand}; mbarrier.pending_count.b64 %r2, %s0;"
            )
            phase, pending = model.arrive(count, drop)
            states.append(phase)
            report("%r2", pending)
        waits(space, address)
        if model.transactions < 0 and rng.random() < 0.5:
            text.append(f"mbarrier.expect_tx.shared.b64 [bar], {-model.transactions};")
            model.transact(-model.transactions)
        elif model.transactions > 0 and rng.random() < 0.5:
            text.append(f"mbarrier.complete_tx.shared.b64 [bar], {model.transactions};")
            model.transact(-model.transactions)
    text.append("mbarrier.inval.shared.b64 [bar]; mbarrier.init.b64 [%generic], 2;")
    text.append(
        "mbarrier.arrive.b64 _, [%generic]; mbarrier.arrive.b64 %s1, [%generic]; mbarrier.pending_count.b64 %r2, %s1;"
    )
    report("%r2", 1)
    return HEAD + "\n".join(text) + "\nret;\n}\n", wanted, model.phase


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(3))
def test_random_operations_of_one_thread_follow_the_manual(device, seed):
    text, wanted, phases = program(random.Random(seed), 40)
    assert phases >= 3
    found = np.full(len(wanted), 77, np.uint32)
    DEVICES[device](text, "k", 1, 1, (found,))
    assert found.tolist() == wanted


REPORTS = (
    HEAD
    + """
mbarrier.init.layout::v1.shared::cta.b64 [bar], 1; mbarrier.init.layout::v0.shared.b64 [other], 1;
mbarrier.check_layout.layout::v1.shared::cta.b64 %p0, [bar]; selp.u32 %r0, 1, 0, %p0;
mbarrier.check_layout.layout::v0.shared.b64 %p0, [other]; selp.u32 %r1, 1, 0, %p0;
mbarrier.check_layout.layout::v0.b64 %p0, [%generic]; selp.u32 %r2, 1, 0, %p0;
mov.u32 %r4, 77; setp.eq.u32 %p2, %r4, 77;
mbarrier.arrive.shared::cta.b64 %s0, [bar]; mbarrier.pending_count.layout::v0.b64 %r5, %s0;
mbarrier.test_wait.phase_type::primary.shared::cta.b64 %p1|%p2, %r4, [bar], %s0; selp.u32 %r3, 1, 0, %p1; selp.u32 %r6, 1, 0, %p2;
mbarrier.try_wait.parity.phase_type::conditional.relaxed.cluster.shared::cta.b64 %p1, [bar], 0, 100; selp.u32 %r7, 1, 0, %p1;
st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3}; st.global.v4.u32 [%out+16], {%r4, %r5, %r6, %r7};
mbarrier.check_layout.layout::v1.shared::cta.b64 %p0, [bar]; selp.u32 %r0, 1, 0, %p0; st.global.u32 [%out+32], %r0;
ret;
}
"""
)


@pytest.mark.parametrize("device", DEVICES)
def test_layouts_are_known_and_nothing_is_reported(device):
    found = np.full(9, 77, np.uint32)
    DEVICES[device](REPORTS, "k", 1, 1, (found,))
    assert found.tolist() == [1, 1, 0, 1, 0, 1, 0, 1, 1]


THREADS = 70
TOGETHER = (
    HEAD
    + f"""
mov.u32 %r0, %tid.x; mul.wide.u32 %s2, %r0, 16; add.u64 %out, %out, %s2;
setp.eq.u32 %p0, %r0, 0;
@%p0 mbarrier.init.shared::cta.b64 [bar], {THREADS};
@%p0 mbarrier.init.shared::cta.b64 [other], {THREADS};
bar.sync 0;
mbarrier.arrive.shared::cta.b64 %s0, [bar];
mbarrier.pending_count.b64 %r1, %s0;
and.b32 %r2, %r0, 1; setp.ne.u32 %p1, %r2, 0;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %s1, [other], 4;
@!%p1 mbarrier.arrive.shared::cta.b64 %s1, [other];
bar.sync 0;
mbarrier.test_wait.shared::cta.b64 %p2, [bar], %s0;
selp.u32 %r3, 1, 0, %p2;
mbarrier.test_wait.parity.shared::cta.b64 %p2, [other], 0;
selp.u32 %r4, 1, 0, %p2;
bar.sync 0;
@%p1 mbarrier.complete_tx.shared::cta.b64 [other], 4;
bar.sync 0;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [other], 0;
@!%p2 bra WAIT;
selp.u32 %r5, 1, 0, %p2;
st.global.v4.u32 [%out], {{%r1, %r3, %r4, %r5}};
ret;
}}
"""
)


@pytest.mark.parametrize("device", DEVICES)
def test_lanes_arrive_one_after_another_and_transactions_hold_the_phase(device):
    found = np.zeros((THREADS, 4), np.uint32)
    DEVICES[device](TOGETHER, "k", 1, THREADS, (found,))
    assert sorted(found[:, 0].tolist()) == list(range(1, THREADS + 1))
    assert found[:, 1].tolist() == [1] * THREADS
    assert found[:, 2].tolist() == [0] * THREADS
    assert found[:, 3].tolist() == [1] * THREADS


PIPELINE = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b32 %r<12>; .reg .b64 %d<8>; .reg .pred %p<4>;
.shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .align 16 .b8 slot[128];
ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out];
mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;
@%p0 mbarrier.init.shared::cta.b64 [full], 1;
@%p0 mbarrier.init.shared::cta.b64 [empty], 32;
bar.sync 0;
mov.u32 %r1, 0;
setp.ge.u32 %p1, %r0, 32; @%p1 bra CONSUMER;
setp.ne.u32 %p2, %r0, 0; @%p2 bra END;
PRODUCE:
and.b32 %r2, %r1, 1; xor.b32 %r2, %r2, 1;
W1: mbarrier.try_wait.parity.shared::cta.b64 %p3, [empty], %r2; @!%p3 bra W1;
mul.wide.u32 %d2, %r1, 128; add.u64 %d2, %d0, %d2;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [slot], [%d2], 128, [full];
add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 5; @%p3 bra PRODUCE;
bra END;
CONSUMER:
sub.u32 %r5, %r0, 32;
C: and.b32 %r2, %r1, 1;
W2: mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], %r2; @!%p3 bra W2;
shl.b32 %r6, %r5, 2; mov.u32 %r7, slot; add.u32 %r7, %r7, %r6; ld.shared.u32 %r8, [%r7]; add.u32 %r8, %r8, 1000;
mad.lo.u32 %r9, %r1, 32, %r5; mul.wide.u32 %d3, %r9, 4; add.u64 %d3, %d1, %d3; st.global.u32 [%d3], %r8;
mbarrier.arrive.shared::cta.b64 _, [empty];
add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 5; @%p3 bra C;
END: ret;
}
"""


@pytest.mark.parametrize("device", DEVICES)
def test_a_warp_that_copies_and_one_that_consumes_take_turns(device):
    """One slot, five rounds: each side waits in a loop for the other's barrier."""
    given, found = np.arange(160, dtype=np.uint32) * 7, np.zeros(160, np.uint32)
    DEVICES[device](PIPELINE, "k", 1, 64, (given, found))
    assert (found == given + 1000).all()
