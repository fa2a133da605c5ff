"""What is measured of a processor, what follows from it, and what does not."""

import math
from dataclasses import replace

import pytest

from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.compiler.simd.tuning import Tuning, read_tuning, write_tuning
from anywarp.devices.cpu.loops import AHEAD, STORED
from anywarp.devices.cpu.machine import choose, measure, pack_record, settle
from anywarp.runtime.measured import Record, read_record, tuned

AVX512 = "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512bf16,+avx2,+fma,+f16c"
INTEL = make_target("x86_64-unknown-linux-gnu", "sapphirerapids", AVX512)
AMD = make_target("x86_64-unknown-linux-gnu", "znver4", AVX512)

# An EPYC of family 25 model 17 (Zen 4), two virtual processors, microseconds turned into nanoseconds.
ZEN4 = {
    "fma256": 17e3, "fma512": 33e3, "pairs": 33e3, "gather": 24e3, "apart": 23e3,
    "through4": 144e3, "past4": 178e3, "through8": 491e3, "past8": 523e3, "through16": 1289e3, "past16": 1301e3,
    "through32": 3543e3, "past32": 3171e3, "ahead2": 65e3, "ahead4": 54e3, "ahead8": 48e3, "ahead16": 49e3, "ahead32": 54e3, "beside": 38e3,
}  # fmt: skip


def after(target=AMD, **changed):
    return write_tuning(choose({**ZEN4, **changed}, target))


def test_what_was_measured_where_the_usual_choices_were_found_leads_to_them():
    assert after() == ""


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"apart": 12e3}, "gathers=0"),
        ({"fma512": 44e3, "pairs": 44e3}, "vector=256"),
        ({"pairs": 130e3}, "pairs=0"),
        ({"past16": 1000e3}, "stream=16"),
        ({"past16": 1000e3, "past8": 390e3}, "stream=8"),
        ({"past32": 4600e3}, "stream=64"),
        ({"past16": 1100e3}, ""),  # not clearly
        ({"past8": 390e3}, ""),  # but not for more
        ({"ahead2": 36e3}, "ahead=2"),
        ({"ahead16": 36e3, "ahead32": 35e3}, "ahead=16"),
        ({"ahead16": 47e3}, ""),  # not clearly
        ({"apart": 12e3, "past32": 4600e3}, "gathers=0,stream=64"),
    ],
)
def test_what_is_clearly_otherwise_is_chosen_otherwise(changed, words):
    assert after(**changed) == words


def test_whether_pairs_are_quick_is_said_only_where_the_name_says_otherwise():
    assert (after(INTEL), after(INTEL, pairs=130e3)) == ("beside=1,pairs=1", "beside=1")


def test_whether_masked_stores_are_quick_is_said_only_where_the_name_says_otherwise():
    avx2 = "+avx2,+fma,+f16c"
    zen3 = {"part": 55604.0, "whole": 8156.0}  # an EPYC of family 25 model 1
    for cpu, slow, quick in (("znver3", "", "masks=1"), ("haswell", "masks=0", "")):
        made = make_target("x86_64-unknown-linux-gnu", cpu, avx2)
        assert write_tuning(choose(zen3, made)) == slow
        assert write_tuning(choose({"part": 8200.0, "whole": 8156.0}, made)) == quick
        assert write_tuning(choose({"part": 1e12, "whole": 8156.0}, made)) == ""


def test_whether_the_next_block_is_asked_for_in_loops_is_said_only_where_the_name_says_otherwise():
    assert (after(INTEL, pairs=130e3), after(beside=38e3)) == ("beside=1", "")
    assert (after(INTEL, pairs=130e3, beside=40e3), after(beside=58e3)) == ("", "")  # not clearly
    assert (after(INTEL, pairs=130e3, beside=62e3), after(beside=62e3)) == ("", "beside=0")


def test_whether_vectors_under_masks_are_asked_for_is_said_only_where_the_name_says_otherwise():
    zen5 = make_target("x86_64-unknown-linux-gnu", "znver5", AVX512)  # an EPYC of family 26 model 2
    slow, even = {"crossing": 430e3, "asked": 147e3}, {"crossing": 150e3, "asked": 147e3}
    assert (after(zen5, **slow), after(**slow)) == ("", "first=1")
    assert (after(zen5, **even), after(**even)) == ("", "")  # not clearly
    assert (after(zen5, crossing=147e3, asked=190e3), after(crossing=147e3, asked=190e3)) == ("first=0", "")
    assert after(crossing=1e12, asked=147e3) == ""


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, 1e12])
def test_what_cannot_be_says_nothing(bad):
    for name in ZEN4:
        assert after(**{name: bad}) == "", name
    assert choose(dict.fromkeys(ZEN4, bad), AMD) == Tuning()


def test_more_memory_in_less_time_says_nothing():
    assert after(past16=1000e3, through32=1500e3) == after(through16=6203e3) == ""


def test_without_figures_all_is_as_usual():
    assert choose({}, AMD) == choose({}, INTEL) == Tuning()


def test_a_record_says_what_was_measured_and_what_follows():
    record = read_record(pack_record({**ZEN4, "apart": 12e3}, Tuning(gathers=0)))
    assert record == Record("gathers=0", {**ZEN4, "apart": 12e3})
    assert tuned("cpu:1", record) == "cpu:1:gathers=0"
    usual = read_record(pack_record(ZEN4, Tuning()))
    assert usual.tuning == "" and tuned("cpu:1", usual) == tuned("cpu:1", None) == "cpu:1"


def settled(*takes):
    left = [{**ZEN4, **each} for each in takes]
    figures, tuning = settle(lambda: left.pop(0), AMD)
    return figures, write_tuning(tuning), len(left)


def test_one_measurement_is_enough_for_the_usual_choices():
    assert settled({}, {"apart": 12e3}) == (ZEN4, "", 1)


def test_other_choices_are_made_when_every_measurement_speaks_for_them():
    slow, noise = {"apart": 12e3}, {"past16": 1000e3}
    assert settled(slow, slow, slow)[1:] == ("gathers=0", 0)
    assert settled(slow, {}, slow)[1:] == ("", 1)
    assert settled({**slow, **noise}, slow, slow)[1:] == ("gathers=0", 0)
    assert settled(slow, slow, {**noise, "gather": 23e3})[1:] == ("", 0)


def test_of_several_measurements_the_least_are_kept():
    figures, _, _ = settled(
        {"apart": 12e3, "gather": 30e3}, {"apart": 11e3, "gather": 25e3}, {"apart": 13e3, "gather": 28e3}
    )
    assert figures == {**ZEN4, "apart": 11e3, "gather": 25e3}


def test_this_processor_is_measured():
    target = this_machine()
    figures = measure(target)
    names = (
        {f"{kind}{mib}" for kind in ("through", "past") for mib in STORED}
        | {f"ahead{kib}" for kib in AHEAD}
        | {"beside"}
    )
    if target.machine.avx512:
        names |= {"fma256", "fma512", "gather", "apart", "crossing", "asked"}
    else:
        names |= {"part", "whole"}
    if target.machine.bf16:
        names.add("pairs")
    assert set(figures) == (names if target.machine.avx2 else set())
    assert all(0 < nanoseconds < 1e9 for nanoseconds in figures.values())
    assert read_tuning(write_tuning(choose(figures, target))) == choose(figures, target)


def test_without_memory_to_spare_only_what_needs_none_is_measured():
    target = this_machine()
    figures = measure(target, memory=False)
    assert not any(name.startswith(("through", "past", "ahead", "beside", "crossing", "asked")) for name in figures)
    assert ("gather" in figures) == target.machine.avx512


def test_a_processor_without_avx2_is_not_measured():
    target = this_machine()
    assert measure(replace(target, machine=replace(target.machine, avx2=False))) == {}
