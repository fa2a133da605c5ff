"""Memory of lanes (scratch) over an emulated card: ROCr has as much as the waves need that run at once, not those of a whole grid."""

import subprocess
from pathlib import Path

import pytest

from amd_stack import stack, translated
from amd_stack.cards import CARDS

pytestmark = [pytest.mark.amd_stack]
SOURCE = Path(__file__).with_name("scratch.hip")


@pytest.mark.parametrize("card", ["gfx942", "gfx1100"])
def test_lanes_keep_their_numbers_while_more_waves_run_than_the_card_holds(card, tmp_path):
    if not stack.emulated(card):
        pytest.skip(f"the emulator was built without {CARDS[card][1]}")
    libraries = [f"-L{stack.PLACE}/debian/usr/lib/x86_64-linux-gnu", "-lamdhip64"]
    command = [*translated.compiler(card), "-std=c++17", SOURCE, "-o", tmp_path / "scratch", *libraries]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = stack.run([tmp_path / "scratch"], card)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-1000:]
    assert "0 lanes lost" in done.stdout
