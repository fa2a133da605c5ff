"""A process that shares memory with its parent for a moment does not take the parent's card with it."""

import subprocess
from pathlib import Path

import pytest

from amd_stack import stack
from amd_stack.cards import CARDS

pytestmark = [pytest.mark.amd_stack]
SOURCE = Path(__file__).with_name("descriptors.c")


def test_a_card_outlives_a_child_of_vfork_that_closes_its_descriptors(tmp_path):
    card = next((card for card in CARDS if stack.emulated(card)), None)
    if card is None:
        pytest.skip("scripts/amd_stack has not built an emulator")
    subprocess.run(["cc", SOURCE, "-o", tmp_path / "descriptors", "-ldl"], check=True)
    done = stack.run([tmp_path / "descriptors"], card)
    assert (done.returncode, done.stdout) == (0, "0 0 0 0\n"), done.stderr
