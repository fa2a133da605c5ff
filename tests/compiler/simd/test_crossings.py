"""Lanes of a warp come to one kind of `.sync` instruction on different ways: they meet, as the PTX manual has it, wherever it stands."""

import numpy as np
import pytest

from anywarp.compiler.crossings import find_crossings
from anywarp.compiler.ir import CONVERGE, Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.target import this_machine
from anywarp.ptx.index import index_module
from semantics.devices import DEVICES, run_in_pairs, run_quickly

HEAD = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .b32 %r<40>; .reg .b64 %d<9>; .reg .pred %p<20>; .reg .f32 %f<9>;
  ld.param.u64 %d1, [out]; ld.param.u64 %d3, [in]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; add.u64 %d3, %d3, %d2;
  mov.u32 %r2, %laneid; ld.global.u32 %r3, [%d3]; mov.u32 %r9, 0; mov.u32 %r10, -1; setp.lt.u32 %p1, %r2, 11; and.b32 %r4, %r3, 1; setp.eq.u32 %p2, %r4, 1;
"""
TAIL = "\n st.global.u32 [%d1], %r9; ret; }"
ON = {**DEVICES, "cpu, quick": run_quickly, "cpu, pairs": run_in_pairs}
RNG = np.random.default_rng(11)


@pytest.fixture(params=ON)
def run(request):
    def run(body, threads=64, given=None):
        given = RNG.integers(0, 1 << 16, threads, dtype=np.uint32) if given is None else given
        out = np.zeros(threads, np.uint32)
        ON[request.param](HEAD + body + TAIL, "k", 1, threads, [out, given])
        return out, given

    return run


def on_both(low, high, then=""):
    """Lanes below 11 run one thing, the others another."""
    return f"@%p1 bra LOW; {high} bra DONE;\nLOW: {low}\nDONE: {then}"


def by_warp(given, of):
    """Apply a function of a warp's values to each warp."""
    return np.concatenate([of(given[i : i + 32]) for i in range(0, len(given), 32)]).astype(np.uint32)


LANE = np.arange(32)
SHUFFLES = {
    "idx": ("5", "30", lambda w: np.where(LANE < 11, w[5], w[30] + 1)),
    "bfly": ("16", "1", lambda w: np.where(LANE < 11, w[LANE ^ 16], w[LANE ^ 1] + 1)),
    "up": ("3", "12", lambda w: np.where(LANE < 11, w[np.maximum(LANE - 3, LANE * (LANE < 3))], w[np.where(LANE < 12, LANE, LANE - 12)] + 1)),
    "down": ("12", "2", lambda w: np.where(LANE < 11, w[np.minimum(LANE + 12, 31)], w[np.where(LANE > 29, LANE, LANE + 2)] + 1)),
}  # fmt: skip


@pytest.mark.parametrize("kind", SHUFFLES)
def test_shuffles(run, kind):
    low, high, wanted = SHUFFLES[kind]
    last = "0" if kind == "up" else "31"
    code = on_both(
        f"shfl.sync.{kind}.b32 %r9|%p3, %r3, {low}, {last}, -1;",
        f"mov.b32 %f1, %r3; shfl.sync.{kind}.b32 %f2, %f1, {high}, {last}, %r10; mov.b32 %r9, %f2; add.u32 %r9, %r9, 1;",
    )
    out, given = run(code)
    assert (out == by_warp(given, wanted)).all()


def test_whether_the_lane_is_in_range_is_told_on_both_sides(run):
    out, _ = run(
        on_both(
            "shfl.sync.down.b32 _|%p3, %r3, 30, 31, -1; selp.u32 %r9, 5, 6, %p3;",
            "shfl.sync.down.b32 %r9|%p4, %r3, 3, 31, -1; selp.u32 %r9, 7, 8, %p4;",
        )
    )
    assert list(out) == [5 if n < 2 else 6 if n < 11 else 7 if n < 29 else 8 for n in range(32)] * 2


def bits(odd):
    return sum(1 << n for n in range(len(odd)) if odd[n])


@pytest.mark.parametrize("threads", [32, 40, 64, 75])
def test_ballots_with_a_predicate_and_its_negation(run, threads):
    code = on_both(
        "vote.sync.ballot.b32 %r9, %p2, -1;", "vote.sync.ballot.b32 %r9, !%p2, 0xffffffff; add.u32 %r9, %r9, 1;"
    )

    def wanted(w):
        lane = np.arange(len(w))
        said = bits((w % 2 == 1) == (lane < 11))
        return np.where(lane < 11, said, said + 1)

    out, given = run(code, threads)
    assert (out == by_warp(given, wanted)).all()


@pytest.mark.parametrize("kind", ["all", "any", "uni"])
@pytest.mark.parametrize("case", ["none", "one below", "one above", "every"])
def test_votes(run, kind, case):
    given = np.full(64, case == "every", np.uint32)
    given[40 if case == "one below" else 50] ^= case.startswith("one")
    code = on_both(
        f"vote.sync.{kind}.pred %p5, %p2, -1; selp.u32 %r9, 3, 4, %p5;",
        f"vote.sync.{kind}.pred %p6, %p2, -1; selp.u32 %r9, 5, 6, %p6;",
    )
    out, _ = run(code, 64, given)
    for warp in (0, 1):
        odd = given[32 * warp :][:32] % 2 == 1
        holds = {"all": odd.all(), "any": odd.any(), "uni": odd.all() or not odd.any()}[kind]
        assert list(out[32 * warp :][:32]) == [
            (3 if holds else 4) if n < 11 else (5 if holds else 6) for n in range(32)
        ]


@pytest.mark.parametrize("width", ["b32", "b64"])
@pytest.mark.parametrize("threads", [64, 50])
def test_matches(run, width, threads):
    given = RNG.integers(0, 3, threads, dtype=np.uint32)
    value, wide = ("%r3", "") if width == "b32" else ("%d4", "cvt.u64.u32 %d4, %r3; shl.b64 %d4, %d4, 30;")
    code = wide + on_both(
        f"match.any.sync.{width} %r9, {value}, -1;", f"match.any.sync.{width} %r9, {value}, -1; not.b32 %r9, %r9;"
    )

    def wanted(w):
        same = np.array([bits(w == one) for one in w])
        return np.where(np.arange(len(w)) < 11, same, same ^ 0xFFFFFFFF)

    out, given = run(code, threads, given)
    assert (out == by_warp(given, wanted)).all()


@pytest.mark.parametrize("alike", [True, False])
def test_match_all(run, alike):
    given = np.full(64, 9, np.uint32)
    given[20] += not alike
    given[60] += not alike
    code = on_both("match.all.sync.b32 %r9|%p3, %r3, -1; @%p3 add.u32 %r9, %r9, 2;", "match.all.sync.b32 %r9, %r3, -1;")
    out, _ = run(code, 64, given)
    assert list(out) == ([1] * 11 + [0xFFFFFFFF] * 21 if alike else [0] * 32) * 2


REDUCTIONS = {"add.u32": np.add, "max.u32": np.maximum, "min.s32": np.minimum, "xor.b32": np.bitwise_xor}


@pytest.mark.parametrize("kind", REDUCTIONS)
@pytest.mark.parametrize("threads", [64, 33, 60])
def test_reductions(run, kind, threads):
    code = on_both(
        f"redux.sync.{kind} %r9, %r3, -1;",
        f"add.u32 %r3, %r3, 7; redux.sync.{kind} %r9, %r3, %r10; add.u32 %r9, %r9, 1;",
    )

    def wanted(w):
        above = np.arange(len(w)) >= 11
        return REDUCTIONS[kind].reduce(w + 7 * above.astype(np.uint32)) + above

    out, given = run(code, threads)
    assert (out == by_warp(given, wanted)).all()


def test_a_reduction_of_floats_and_an_election(run):
    code = "cvt.rn.f32.u32 %f1, %r3;" + on_both(
        "redux.sync.max.f32 %f2, %f1, -1; elect.sync %r5|%p5, -1; cvt.rzi.u32.f32 %r9, %f2; @%p5 add.u32 %r9, %r9, 1000000; add.u32 %r9, %r9, %r5;",
        "neg.f32 %f1, %f1; redux.sync.max.f32 %f3, %f1, -1; elect.sync %r6|%p6, -1; cvt.rzi.u32.f32 %r9, %f3; add.u32 %r9, %r9, %r6;",
    )
    out, given = run(code)
    assert (out == by_warp(given, lambda w: w[:11].max() + np.where(LANE == 0, 1000000, 0))).all()


def test_the_same_mask_of_some_lanes_and_one_from_a_register(run):
    """Lanes 8 to 15 name each other; a mask that is computed is the same on both ways if it was computed before they part."""
    for mask in ("0xff00", "%r20"):
        code = (
            "ld.global.u32 %r20, [%d3]; mov.u32 %r20, 0xff00; @%p2 add.u32 %r20, %r20, 0; sub.u32 %r5, %r2, 8; setp.gt.u32 %p7, %r5, 7; @%p7 bra DONE;"
            + on_both(f"redux.sync.add.u32 %r9, %r3, {mask};", f"redux.sync.add.u32 %r9, %r2, {mask};")
        )
        out, given = run(code)
        assert (
            out == by_warp(given, lambda w: np.where((LANE > 7) & (LANE < 16), w[8:11].sum() + sum(range(11, 16)), 0))
        ).all()


SUM = "".join(
    f"shfl.sync.bfly.b32 %r{20 + n}, %r8, {1 << n}, 31, -1; add.u32 %r8, %r8, %r{20 + n};\n" for n in range(5)
)
SUM_DOWN = "".join(
    f"shfl.sync.bfly.b32 %r{30 + n}, %r8, {16 >> n}, 31, -1; add.u32 %r8, %r8, %r{30 + n};\n" for n in range(5)
)


def test_sequences_that_meet_step_by_step(run):
    """Lanes below 11 exchange in the other order of distances: each takes from where its own instruction says."""
    out, given = run("mov.u32 %r8, %r3;" + on_both(SUM + "mov.u32 %r9, %r8;", SUM + "add.u32 %r9, %r8, 1;"))
    assert (out == by_warp(given, lambda w: w.sum() + (LANE >= 11))).all()
    mixed = by_warp(given, lambda w: w)

    def crossed(w):
        for n in range(5):
            w = w + w[LANE ^ np.where(LANE < 11, 1 << n, 16 >> n)]
        return w

    out, given = run(
        "mov.u32 %r8, %r3;" + on_both(SUM + "mov.u32 %r9, %r8;", SUM_DOWN + "mov.u32 %r9, %r8;"), 64, mixed
    )
    assert (out == by_warp(given, crossed)).all()


def test_two_kinds_in_turn(run):
    low = "vote.sync.ballot.b32 %r5, %p2, -1; shfl.sync.idx.b32 %r6, %r3, 31, 31, -1; vote.sync.ballot.b32 %r7, !%p2, -1; add.u32 %r9, %r5, %r6;"
    high = "vote.sync.ballot.b32 %r11, %p2, -1; shfl.sync.idx.b32 %r12, %r2, 0, 31, -1; vote.sync.ballot.b32 %r13, %p2, -1; sub.u32 %r9, %r13, %r12;"
    out, given = run(on_both(low, high))

    def wanted(w):
        odd = w % 2 == 1
        return np.where(LANE < 11, bits(odd) + 31, bits(odd ^ (LANE < 11)) - w[0])

    assert (out == by_warp(given, wanted)).all()


LOOPS = """
  mov.u32 %r14, 0; ld.global.u32 %r15, [%d3]; and.b32 %r15, %r15, 0; add.u32 %r15, %r15, TRIPS; setp.eq.u32 %p8, %r2, 0; mov.u32 %r16, 0; @%p8 bra FIRST;
OTHERS: add.u32 %r8, %r3, %r14; mov.u32 %r17, 0; and.b32 %r19, %r2, 3;
O2: add.u32 %r8, %r8, %r17; add.u32 %r17, %r17, 1; setp.le.u32 %p9, %r17, %r19; @%p9 bra O2;
  SUM
  add.u32 %r14, %r14, 1; setp.lt.u32 %p10, %r14, %r15; @%p10 bra OTHERS; mov.u32 %r9, %r14; bra DONE;
FIRST: mov.u32 %r8, %r14; add.u32 %r8, %r8, %r3;
  SUM
  mad.lo.u32 %r16, %r16, 3, %r8; add.u32 %r14, %r14, 1; setp.lt.u32 %p11, %r14, %r15; @%p11 bra FIRST; mov.u32 %r9, %r16;
DONE:
"""


@pytest.mark.parametrize("trips", [1, 4])
@pytest.mark.parametrize("behind", ["", "bar.sync 0; redux.sync.max.u32 %r9, %r9, -1;"])
def test_loops_of_as_many_trips_on_both_sides(run, trips, behind):
    """Lane 0 adds up in a loop of its own what the others only contribute to, as nvcc makes of faiss' norms of rows."""
    out, given = run(LOOPS.replace("TRIPS", str(trips)).replace("SUM", SUM) + behind)
    extra = sum(sum(range(n % 4 + 1)) for n in range(1, 32))

    def wanted(w):
        first = 0
        for trip in range(trips):
            first = (first * 3 + int(w.sum()) + 32 * trip + extra) & 0xFFFFFFFF
        return (
            np.where(LANE == 0, first, max(first, trips) if behind else trips)
            if not behind
            else np.full(32, max(first, trips))
        )

    assert (out == by_warp(given, wanted)).all()


def test_under_conditions_in_conditions(run):
    """Three ways, one of which parts again: four instructions are one."""
    body = """
      mov.u32 %r5, 0; setp.lt.u32 %p3, %r2, 20; setp.lt.u32 %p4, %r3, 30000; @%p1 bra A; @%p3 bra B;
      redux.sync.add.u32 %r9, %r3, -1; bra DONE;
    B: @%p4 bra B2; mov.u32 %r5, 100; redux.sync.add.u32 %r9, %r2, -1; add.u32 %r9, %r9, %r5; bra DONE;
    B2: redux.sync.add.u32 %r9, 1, -1; sub.u32 %r9, %r9, 1; bra DONE;
    A: add.u32 %r5, %r3, %r3; redux.sync.add.u32 %r9, %r5, -1; xor.b32 %r9, %r9, 1;
    DONE:
    """

    def wanted(w):
        small, lane = w < 30000, LANE
        total = np.where(lane < 11, 2 * w, np.where(lane >= 20, w, np.where(small, 1, lane))).sum()
        return np.where(lane < 11, total ^ 1, np.where(lane >= 20, total, np.where(small, total - 1, total + 100)))

    out, given = run(body)
    assert (out == by_warp(given, wanted)).all()


def test_one_in_a_function_that_is_called_on_both_ways(run):
    """One instruction in the text, twice in the kernel."""
    function = """.func (.reg .b32 %out) f(.reg .b32 %a) { redux.sync.add.u32 %out, %a, -1; ret; }\n"""
    body = on_both("call (%r9), f, (%r3);", "call (%r9), f, (%r2); add.u32 %r9, %r9, 1;")
    out, given = np.zeros(64, np.uint32), RNG.integers(0, 99, 64, dtype=np.uint32)
    for device in ON.values():
        device(HEAD.replace(".visible", function + ".visible") + body + TAIL, "k", 1, 64, [out, given])
        assert (out == by_warp(given, lambda w: w[:11].sum() + sum(range(11, 32)) + (LANE >= 11))).all()


def test_some_end_behind_theirs(run):
    body = """@!%p1 bra HIGH; shfl.sync.bfly.b32 %r9, %r3, 16, 31, -1; st.global.u32 [%d1], %r9; ret;
    HIGH: shfl.sync.bfly.b32 %r9, %r3, 16, 31, -1; vote.sync.ballot.b32 %r5, %p2, -1; add.u32 %r9, %r9, %r5;"""
    out, given = run(body)
    assert (
        out == by_warp(given, lambda w: w[LANE ^ 16] + np.where(LANE < 11, 0, bits((w % 2 == 1) & (LANE >= 11))))
    ).all()


def test_with_counted_barriers(run):
    """Every lane has a state of its own."""
    body = on_both("redux.sync.add.u32 %r9, %r3, -1;", "redux.sync.add.u32 %r9, %r2, -1;")
    out, given = run(body + "barrier.sync 1, 64; redux.sync.max.u32 %r8, %r2, -1; add.u32 %r9, %r9, %r8;")
    assert (out == by_warp(given, lambda w: np.full(32, w[:11].sum() + sum(range(11, 32)) + 31))).all()


def tree(rng, depth):
    """A sequence of what both ways have in common: instructions, and loops of as many trips."""
    kinds = rng.choice([*REDUCTIONS, "ballot", "shuffle", "loop", "either"], rng.integers(1, 4))
    return [
        (k, tree(rng, depth - 1), int(rng.integers(1, 4))) if k in ("loop", "either") else k
        for k in kinds
        if depth or k not in ("loop", "either")
    ]


class Way:
    """PTX for a tree, with work of its own between."""

    def __init__(self, rng, name):
        self.rng, self.name, self.count = rng, name, 0

    def emit(self, nodes):
        return "\n".join(self._work() + self._one(node) for node in nodes) + self._work()

    def _work(self):
        mixed = f"mad.lo.u32 %r8, %r8, {self.rng.integers(3, 99)}, %r{self.rng.choice([2, 3])};\n"
        if self.rng.random() < 0.3:  # some lanes do more
            label = self._label()
            return f"and.b32 %r7, %r8, 4; setp.eq.u32 %p9, %r7, 0; @%p9 bra {label}; {mixed} {label}:\n"
        return mixed

    def _label(self):
        self.count += 1
        return f"{self.name}{self.count}"

    def _one(self, node):
        if node == "shuffle":
            return f"shfl.sync.bfly.b32 %r6, %r8, {self.rng.integers(1, 32)}, 31, -1; add.u32 %r8, %r8, %r6;\n"
        if node == "ballot":
            return f"and.b32 %r6, %r8, {1 << self.rng.integers(9)}; setp.ne.u32 %p8, %r6, 0; vote.sync.ballot.b32 %r6, %p8, -1; xor.b32 %r8, %r8, %r6;\n"
        if isinstance(node, str):
            return f"redux.sync.{node} %r6, %r8, -1; sub.u32 %r8, %r8, %r6;\n"
        kind, inner, trips = node
        label, other = self._label(), self._label()
        if kind == "loop":
            trip = f"%trip_{label}"
            return f".reg .b32 {trip}; mov.u32 {trip}, 0; {label}: {self.emit(inner)} add.u32 {trip}, {trip}, 1; setp.lt.u32 %p7, {trip}, {trips}; @%p7 bra {label};\n"
        return f"and.b32 %r7, %r8, {trips}; setp.eq.u32 %p9, %r7, 0; @%p9 bra {label}; {self.emit(inner)} bra {other}; {label}: {self.emit(inner)} {other}:\n"


@pytest.mark.parametrize("seed", range(6))
def test_random_sequences_against_the_interpreter(seed):
    rng = np.random.default_rng(seed)
    nodes, threads = tree(rng, 2), int(rng.choice([32, 64, 96]))
    low, high = (Way(rng, name).emit(nodes) for name in ("A", "B"))
    text = HEAD + "mov.u32 %r8, %r3;" + on_both(low, high, "add.u32 %r9, %r9, %r8;") + TAIL
    given = rng.integers(0, 1 << 32, threads, dtype=np.uint32)
    results = []
    for device in ON.values():
        results.append(np.zeros(threads, np.uint32))
        device(text, "k", 1, threads, [results[-1], given])
    assert all((one == results[0]).all() for one in results)


def prepared(body):
    kernel = prepare_kernel(
        IndexedModule(index_module(HEAD + body + TAIL)),
        "k",
        Specialisation((64, 1, 1)),
        target=this_machine(),
        checked=True,
    )
    return sum(op.name == CONVERGE for block in kernel.blocks for op in block.ops)


ALONE = {
    "all lanes of a warp decide alike": "and.b32 %r5, %r1, 32; setp.eq.u32 %p1, %r5, 0;" + on_both(SUM, SUM),
    "other kinds": on_both("redux.sync.add.u32 %r9, %r2, -1;", "redux.sync.max.u32 %r9, %r2, -1;"),
    "other masks": on_both("redux.sync.add.u32 %r9, %r2, 0x7ff;", "redux.sync.add.u32 %r9, %r2, 0xfffff800;"),
    "who is there": on_both("activemask.b32 %r5; redux.sync.add.u32 %r9, %r2, %r5;", "activemask.b32 %r6; redux.sync.add.u32 %r9, %r2, %r6;"),
    "one way, and where they meet": on_both("redux.sync.add.u32 %r9, %r2, -1;", "", "redux.sync.add.u32 %r9, %r2, -1;"),
    "one behind the other": "redux.sync.add.u32 %r9, %r2, -1;" * 3,
    "a loop that lanes leave and one behind it": "L: redux.sync.add.u32 %r9, %r2, -1; add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 9; @%p3 bra L;" + SUM,
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_others_stay_where_they_are(name):
    assert prepared(ALONE[name]) == ALONE[name].count(".sync.")


def test_those_of_one_form_are_one():
    assert (
        prepared(on_both(SUM + "vote.sync.ballot.b32 %r9, %p2, -1;", SUM + "vote.sync.ballot.b32 %r9, %p1, -1;")) == 2
    )
    assert (
        prepared(
            on_both(
                "redux.sync.add.u32 %r9, %r2, -1;" * 2,
                "redux.sync.add.u32 %r9, %r2, -1; redux.sync.max.u32 %r9, %r2, -1;",
            )
        )
        == 2
    )


def test_nothing_is_found_twice():
    kernel = prepare_kernel(
        IndexedModule(index_module(HEAD + on_both(SUM, SUM) + TAIL)), "k", Specialisation((64, 1, 1))
    )
    (found,) = find_crossings(kernel, Specialisation((64, 1, 1)))
    assert len(found) == 10
