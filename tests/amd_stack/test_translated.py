"""What `anywarp translate` makes of examples/cuda, compiled by clang and executed by HIP itself over an emulated card, without anywarp."""

import pytest

from amd_stack import stack, translated
from amd_stack.cards import CARDS
from native.hip.programs import examples

pytestmark = [pytest.mark.amd_stack]
FEW = ("vector_add", "reduction", "tiles")
"""For each card in every run of the job; the others in the long layer."""

WHY = {
    "both_apis": "HIP 6.4 has no counterpart of what it asks for an entry point by; the translator says so (M111)",
    "graph_conditional": "HIP's graphs have no conditional nodes; the translator says so (M111)",
}
"""Programs that are not right, and whose it is."""


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    trees = {}

    def translated_for(card):
        if card not in trees:
            trees[card] = tmp_path_factory.mktemp(card)
            translated.translate(examples.HERE, card, trees[card] / "sources")
        return trees[card]

    return translated_for


def check(name, card, folder):
    program = examples.programs()[name]
    words = translated.build(program, examples.HERE, folder / "sources", card, folder / name)
    assert not words, words
    each = translated.run(program, folder / name, card, 250)
    assert each.how == "right", each


@pytest.mark.parametrize("card", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", FEW)
def test_a_translated_program_is_right(name, card, made):
    if not stack.emulated(card):
        pytest.skip(f"the emulator was built without {CARDS[card][1]}")
    check(name, card, made(card))


@pytest.mark.long
@pytest.mark.parametrize("card", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", sorted(set(examples.programs()) - set(FEW) - set(WHY)))
def test_every_translated_program_is_right(name, card, made):
    if not stack.emulated(card):
        pytest.skip(f"the emulator was built without {CARDS[card][1]}")
    check(name, card, made(card))
