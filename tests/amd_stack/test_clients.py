"""numba-cuda, cuda.core, tinygrad, Triton and bitsandbytes over AMD's real HIP, on an emulated card: numpy's values."""

import importlib.util

import pytest

from amd_stack import clients, stack
from amd_stack.cards import CARDS

pytestmark = [pytest.mark.amd_stack, pytest.mark.native]

FEW = ("cuda.core: all", "Triton: all", "numba-cuda: warp")
"""In every run of the job; the others in the long layer."""

WHY = {
    "numba-cuda: control: the process": "`fences` waits by nanosleep, and on gfx1201 the clock that S_SENDMSG_RTN_B64 asks for stands still while a wave runs (read in the emulator's execute_shared.h; mended for gfx1100, where it stands elsewhere); the two checks behind it are right by themselves",
    "bitsandbytes: all: cgemm_4bit_bf16": "right on gfx942 and gfx1100; what is wrong on gfx1201 was not found out",
}
"""Clients, and checks of others, that are not right, and whose it is."""

MISSING = {
    "numba_cuda": "this machine has no numba",
    "cuda.core": "needs cuda-core, which numba-cuda brings",
    "tinygrad": "this machine has no tinygrad",
    "triton": "triton is not installed",
    "bitsandbytes": "bitsandbytes' wheel is not installed",
}

PARTS = [f"{name}: {part}" for name, client in clients.CLIENTS.items() if name not in WHY for part in client.parts]


def check(whole, card):
    name, part = whole.split(": ")
    if not stack.emulated(card):
        pytest.skip(f"the emulator was built without {CARDS[card][1]}")
    package = clients.CLIENTS[name].package
    if importlib.util.find_spec(package.split(".")[0]) is None:
        pytest.skip(MISSING[package])
    each = clients.seen(name, part, card)
    wrong = {what: said for what, said in each.failed.items() if f"{whole}: {what}" not in WHY}
    assert not wrong and not each.end, (wrong, each.end)
    assert each.right > 0


@pytest.mark.parametrize("part", FEW)
def test_a_client_gives_the_values_of_numpy(part):
    check(part, "gfx942")


@pytest.mark.long
@pytest.mark.parametrize("card", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("part", PARTS)
def test_every_client_gives_the_values_of_numpy(part, card):
    check(part, card)
