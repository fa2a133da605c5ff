"""The options of a compilation survive their text, and a text that nobody wrote is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.options import CHECKS, read_options, write_options

multiples = st.lists(
    st.tuples(st.integers(0, 4092), st.sampled_from([4, 8]), st.sampled_from([2, 16, 32, 1024])),
    unique=True,
    max_size=4,
).map(lambda items: tuple(sorted(items)))


@given(
    st.sampled_from([0, 32, 64, 256]),
    multiples,
    st.frozensets(st.sampled_from(sorted(CHECKS))),
    st.booleans(),
    st.sampled_from([0, 65536]),
)
def test_options_survive_their_text(lanes, multiples, checks, quick, stack):
    specialisation = Specialisation((32, 2, 1), lanes, multiples, checks, quick, stack)
    assert read_options(write_options(specialisation), (32, 2, 1)) == specialisation


def test_no_options_leave_the_gang_to_the_target():
    assert read_options("", None) == Specialisation(None, 0)
    assert write_options(Specialisation(None, 0)) == ""


@pytest.mark.parametrize(
    "text",
    ["gang", "gang=33", "gang=32 gang=32", "check=all", "multiple=0:4:1", "multiple=0:3:16", "multiple=99999999:4:16", "tier=slow",
     "tier=quick gang=32", "stack=0", "stack=99999999999", "gang=x", " ", "colour=blue", "multiple=0:4"],
)  # fmt: skip
def test_a_text_that_nobody_wrote_is_refused(text):
    with pytest.raises(ValueError):
        read_options(text, None)
