"""The two devices that run kernels inside this process, behind one call.

Modules with compiled kernels are kept, so that a kernel is run with many inputs and compiled once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from anywarp.devices.cpu.execute import Program
from anywarp.devices.reference.execute import run_kernel as interpret

Run = Callable[..., object]

module = lru_cache(maxsize=64)(Program)


def run_compiled(ptx, name, grid, block, args, dynamic_shared=0):
    """Run on the device `cpu`, compiled for this shape of block."""
    module(ptx).run(name, grid, block, args, dynamic_shared)


def run_quickly(ptx, name, grid, block, args, dynamic_shared=0):
    """Run on the device `cpu`, compiled for this shape of block in the tier that is there soon."""
    module(ptx).run(name, grid, block, args, dynamic_shared, options="gang=32 tier=quick")


def run_for_any_block(ptx, name, grid, block, args, dynamic_shared=0):
    """Run on the device `cpu`, compiled for any shape of block."""
    module(ptx).run(name, grid, block, args, dynamic_shared, any_shape=True)


def run_in_gangs(ptx, name, grid, block, args, dynamic_shared=0):
    """Run on the device `cpu`, compiled for this shape of block with up to eight warps together."""
    module(ptx).run(name, grid, block, args, dynamic_shared, options="gang=256")


def run_in_pairs(ptx, name, grid, block, args, dynamic_shared=0):
    """Run on the device `cpu`, compiled for this shape of block with two warps together where that divides it."""
    module(ptx).run(name, grid, block, args, dynamic_shared, options="gang=64")


def run_lane_by_lane(ptx, name, grid, block, args, dynamic_shared=0):
    """Run on the device `cpu`, compiled for this shape of block with each lane on its own where no lane needs its warp."""
    module(ptx).run(name, grid, block, args, dynamic_shared, options="gang=1")


DEVICES: dict[str, Run] = {
    "reference": interpret,
    "cpu": run_compiled,
    "cpu, any block": run_for_any_block,
    "cpu, wide gangs": run_in_gangs,
    "cpu, lane by lane": run_lane_by_lane,
}
