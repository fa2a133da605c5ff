"""Instructions that look at other lanes: shuffles, votes, matches, reductions, by plain loops over lanes.

`expected(lanes, active)` takes the sources of all 32 lanes and the mask of lanes that run the instruction together, and returns a
tuple of results per lane: None for lanes that are off, and for a result that the manual leaves open. Member masks are immediates of
all ones (`full`) or, with `members`, the last source, which then holds `active` in every lane.
"""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from anywarp.check.conformance import exact
from anywarp.check.conformance.exact import F32
from anywarp.check.conformance.rows import KINDS, signed, wrap

LANES = 32


@dataclass(frozen=True)
class WarpRow:
    """One warp-wide instruction; see the module's first words for `expected`.

    `members`: the member mask is the last source, to be set to the active mask. Otherwise the instruction takes no mask.
    `uniform`: positions of sources that the manual wants equal in all lanes.
    """

    text: str
    results: tuple[str, ...]
    sources: tuple[str, ...]
    expected: Callable[[list[tuple[int, ...]], int], list[tuple | None]]
    members: bool = True

    @property
    def result_registers(self):
        return tuple(KINDS[k] for k in self.results)

    @property
    def source_registers(self):
        return tuple(KINDS[k] for k in self.sources)


def on(active):
    return [lane for lane in range(LANES) if active >> lane & 1]


def per_lane(function):
    """Lift a function (lane, lanes, active lanes) -> results to a row's expectation."""

    def expected(lanes, active):
        members = on(active)
        return [function(lane, lanes, members) if lane in members else None for lane in range(LANES)]

    return expected


def shuffle(mode):
    """The manual's pseudocode for shfl."""

    def one(lane, lanes, members):
        _, b, c = lanes[lane][:3]
        bval, cval, mask = b & 31, c & 31, c >> 8 & 31
        last, first = (lane & mask) | (cval & ~mask), lane & mask
        if mode == "up":
            j = lane - bval
            p = j >= last
        elif mode == "down":
            j = lane + bval
            p = j <= last
        elif mode == "bfly":
            j = lane ^ bval
            p = j <= last
        else:
            j = first | (bval & ~mask)
            p = j <= last
        j = j if p else lane
        return (lanes[j][0] if j in members else None), int(p)

    return per_lane(one)


def with_control(shuffled):
    """A shuffle without a member mask and with a fixed control."""

    def expected(lanes, active):
        found = shuffled([(a, b, 0x1C03) for a, b in lanes], active)
        return [r if r is None else r[:1] for r in found]

    return expected


CONTROLS = (0x1F, 0x0, 0x1E1F, 0x1C1F, 0x181F, 0x101F, 0x1C03, 0x1800, 0x0F, 0x1F1F)
"""The c operand of shuffles: segments of 32, 16, 8, 4 and 2 lanes, and odd clamps."""


def shuffles() -> Iterator[WarpRow]:
    for mode in ("up", "down", "bfly", "idx"):
        yield WarpRow(
            f"shfl.sync.{mode}.b32 {{r0}}|{{r1}}, {{s0}}, {{s1}}, {{s2}}, {{s3}};", ("b32", "pred"),
            ("b32", "amount", "b32", "b32"), shuffle(mode),
        )  # fmt: skip
        full = shuffle(mode)
        yield WarpRow(
            f"shfl.{mode}.b32 {{r0}}, {{s0}}, {{s1}}, 0x1c03;", ("b32",), ("b32", "amount"), with_control(full), False
        )
        for c in CONTROLS:
            for b in (0, 1, 3, 8, 16, 31):

                def fixed(lanes, active, b=b, c=c, f=full):
                    return [r if r is None else r[:1] for r in f([(a, b, c) for a, *_ in lanes], active)]

                yield WarpRow(
                    f"shfl.sync.{mode}.b32 {{r0}}, {{s0}}, {b}, {c}, {{s1}};", ("b32",), ("b32", "b32"), fixed,
                )  # fmt: skip


def mask_of(lanes, members, holds):
    return sum(1 << lane for lane in members if holds(lanes[lane]))


def votes() -> Iterator[WarpRow]:
    tests = {
        "all": lambda votes: int(all(votes)),
        "any": lambda votes: int(any(votes)),
        "uni": lambda votes: int(len(set(votes)) == 1),
    }
    for name, test in tests.items():
        for mark in ("", "!"):

            def vote(lane, lanes, members, test=test, mark=mark):
                return (test([lanes[m][0] ^ (mark == "!") for m in members]),)

            text = f"vote.sync.{name}.pred {{r0}}, {mark}{{s0}}, {{s1}};"
            yield WarpRow(text, ("pred",), ("pred", "b32"), per_lane(vote))

    def ballot(lane, lanes, members):
        return (mask_of(lanes, members, lambda s: s[0]),)

    yield WarpRow("vote.ballot.b32 {r0}, {s0};", ("b32",), ("pred",), per_lane(ballot), members=False)
    yield WarpRow("vote.sync.ballot.b32 {r0}, {s0}, {s1};", ("b32",), ("pred", "b32"), per_lane(ballot))
    yield WarpRow(
        "activemask.b32 {r0};", ("b32",), ("b32",), per_lane(lambda lane, lanes, members: (mask_of(lanes, members, lambda s: True),)),
        members=False,
    )  # fmt: skip


def matches() -> Iterator[WarpRow]:
    for t in ("b32", "b64"):

        def any_(lane, lanes, members):
            return (mask_of(lanes, members, lambda s: s[0] == lanes[lane][0]),)

        def all_(lane, lanes, members):
            same = len({lanes[m][0] for m in members}) == 1
            return (mask_of(lanes, members, lambda s: True) if same else 0), int(same)

        yield WarpRow(f"match.any.sync.{t} {{r0}}, {{s0}}, {{s1}};", ("b32",), (t, "b32"), per_lane(any_))
        yield WarpRow(f"match.all.sync.{t} {{r0}}|{{r1}}, {{s0}}, {{s1}};", ("b32", "pred"), (t, "b32"), per_lane(all_))


def reductions() -> Iterator[WarpRow]:
    def fold(function):
        def one(lane, lanes, members):
            total = lanes[members[0]][0]
            for m in members[1:]:
                total = function(total, lanes[m][0])
            return (wrap(total, 32),)

        return per_lane(one)

    folds = {
        "add.u32": lambda a, b: a + b, "add.s32": lambda a, b: a + b, "and.b32": lambda a, b: a & b, "or.b32": lambda a, b: a | b,
        "xor.b32": lambda a, b: a ^ b, "min.u32": min, "max.u32": max,
        "min.s32": lambda a, b: min(a, b, key=lambda x: signed(x, 32)), "max.s32": lambda a, b: max(a, b, key=lambda x: signed(x, 32)),
    }  # fmt: skip
    for name, function in folds.items():
        yield WarpRow(f"redux.sync.{name} {{r0}}, {{s0}}, {{s1}};", ("b32",), ("b32", "b32"), fold(function))
    for name, pick in (("min", min), ("max", max)):
        for extra in ("", ".abs", ".NaN", ".abs.NaN"):

            def one(lane, lanes, members, pick=pick, extra=extra):
                numbers = [lanes[m][0] & (0x7FFFFFFF if "abs" in extra else 0xFFFFFFFF) for m in members]
                return (exact.minmax(F32, pick, *numbers, nan_wins="NaN" in extra),)

            yield WarpRow(
                f"redux.sync.{name}{extra}.f32 {{r0}}, {{s0}}, {{s1}};", ("f32",), ("f32", "b32"), per_lane(one)
            )


def elections() -> Iterator[WarpRow]:
    def elected(lanes, active):
        """Which lane is open, but it must be one of the members, and the same for all; ours is the lowest."""
        leader = on(active)[0]
        return [(leader, int(lane == leader)) if active >> lane & 1 else None for lane in range(LANES)]

    yield WarpRow("elect.sync {r0}|{r1}, {s0};", ("b32", "pred"), ("b32",), elected)


ROWS = [r for family in (shuffles, votes, matches, reductions, elections) for r in family()]
