"""The stack that scripts/amd_stack built: where it is, which cards it emulates, and commands over one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .cards import CARDS

ROOT = Path(__file__).resolve().parents[2]
PLACE = Path(os.environ.get("AMD_STACK") or ROOT / "build/ci/amd-stack")


def instruction_sets() -> frozenset[str]:
    """Return which instruction sets the emulator has; none where it is not built."""
    try:
        return frozenset((PLACE / "built").read_text().split())
    except OSError:
        return frozenset()


def emulated(card: str) -> bool:
    """Return whether the emulator has this card."""
    return CARDS[card][1] in instruction_sets()


def over(command: Sequence[object], card: str = "gfx942", cards: int = 1, **more: str) -> list[str]:
    """Return the command that runs `command` over an emulated card, with these variables."""
    name = card if cards == 1 else f"{card}-{cards}"
    more.setdefault("HSA_ENABLE_SDMA", "0")  # the emulator's copy engines hang on some copies of planes
    return [
        "env",
        f"AMD_CARD={name}",
        *(f"{key}={value}" for key, value in more.items()),
        str(PLACE / "run"),
        *map(str, command),
    ]


def run(
    command: Sequence[object], card: str = "gfx942", cards: int = 1, limit: float = 250, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command over an emulated card; subprocess.TimeoutExpired where it takes longer than `limit` seconds."""
    with subprocess.Popen(
        over(command, card, cards, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            out, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, errors)
