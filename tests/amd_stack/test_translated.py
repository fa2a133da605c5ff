"""What `anywarp translate` makes of examples/cuda, compiled by clang and executed by HIP itself over an emulated card, without anywarp."""

import pytest

from amd_stack import stack, translated
from amd_stack.cards import CARDS
from native.hip.programs import examples

pytestmark = [pytest.mark.amd_stack]
FEW = ("vector_add", "reduction", "scan")
"""For each card in every run of the job; the others in the long layer."""

PTX = "the program hands PTX, or source for NVRTC, to the driver as text, which HIP does not take"
NO_IMAGES = "gfx942 has no instructions for images, so HIP's headers refuse its textures there"
LATER = "HIP 6.4 does not have what it calls"
HIPS = "the program expects what CUDA answers, and HIP 6.4.3 answers otherwise"
WHY = {
    "both_apis": "HIP 6.4 has no counterpart of what it asks for an entry point by; the translator says so (M111)",
    "graph_conditional": "HIP's graphs have no conditional nodes; the translator says so (M111)",
    "callbacks": f"{HIPS}: the name of a success is hipSuccess",
    "device_assert": f"{HIPS}: a failed assertion ends the process; the emulator lacks S_TRAP on gfx1100",
    "device_printf": f"{HIPS}: the size of printf's buffer cannot be set",
    "error_handling": f"{HIPS}: a call that succeeds takes the last error away",
    "large_shared": f"{HIPS}: shared memory beyond 48 KiB needs no attribute",
    "occupancy": f"{HIPS}: a launch of too many threads is error 1",
    "driver_api": PTX,
    "launch_attributes": LATER,
    "priorities": LATER,
    "tiles": f"{LATER}: binary_partition",
    "separate_files": "clang 22 gives a static variable two names where the host reads it further down than the device (its LLVM IR has both)",
    "surface_write": f"{NO_IMAGES}; on gfx1100 HIP 6.4's headers have no surf2Dread that returns a value",
    "texture_filter": f"{NO_IMAGES}; the emulator lacks instructions for images on gfx1100",
    "texture_layers": f"{NO_IMAGES}; the emulator lacks instructions for images on gfx1100",
    "wmma_product": "Debian has no rocWMMA",
    "ipc": "the emulator's: see hip-stack.md",
    "virtual_memory": "the emulator's: see hip-stack.md",
    "life": "the host's side, which clang 22 vectorises: right with -fno-vectorize, and with g++",
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
