"""Kernels compiled for AMD GPUs and run by an emulator, with the signature of the other devices of `devices.py`.

The emulator is tinygrad's, from a checkout that TINYGRAD names (tests/emulator). A pass says that our code agrees with the emulator's
reading of AMD's manuals, not with silicon.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

import numpy as np

from anywarp.compiler.amdgpu.hidden import AwHipHidden, hidden_start
from anywarp.compiler.amdgpu.services import ASSERT, AwHipServices, AwHipState
from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.artifact import REASONS
from anywarp.compiler.options import read_options
from anywarp.compiler.pipeline import compile_kernel, describe_module
from anywarp.devices.cpu.execute import KernelTrap, aligned, pack_arguments, three
from anywarp.ptx.index import index_module
from emulator import client
from emulator.records import read_records

SERVICES, STATE, RECORDS, HEAP = (0x7A00_0000_0000 + i * 0x100_0000 for i in range(4))
"""Where the runtime's own memory lies, as kernels see it."""

WORKSPACE = 0x7A00_0800_0000


class Program:
    """A module whose kernels are compiled for an architecture when first run."""

    record_bytes, heap_bytes = 1 << 16, 1 << 20

    def __init__(self, ptx, arch):
        self.arch, self.index = arch, index_module(ptx)
        self.target = make_target(arch)
        self.layout = describe_module(self.index)
        self.data = aligned(len(self.layout.image) + 64, 0)
        self.data[: len(self.layout.image)] = np.frombuffer(self.layout.image, np.uint8)
        for place in self.layout.addresses:
            lowest = (place.mask & -place.mask).bit_length() - 1
            address = ((int(self.data.ctypes.data) + place.target) & place.mask) >> lowest
            raw = address.to_bytes(16, "little")[: place.width]
            self.data[place.offset : place.offset + place.width] = np.frombuffer(raw, np.uint8)
        self.compiled = {}
        self.printed = []
        self.instructions = 0
        self.counts = None  # a dictionary: of each launch, by names of instructions (emulator/client.py)
        self.own = None

    def compile(self, name, block, options=""):
        key = (name, block, options)
        if key not in self.compiled:
            self.compiled[key] = compile_kernel(self.index, name, read_options(options, block), self.target)
        return self.compiled[key]

    def run(
        self,
        name,
        grid,
        block,
        args,
        dynamic_shared=0,
        *,
        any_shape=False,
        cooperative=False,
        limit=client.LIMIT,
        more=(),
        options="",
        keep=False,
    ):
        """Launch a kernel; `more` are arrays that it reaches through addresses in memory; `keep` the heap of the launch before."""
        entry = next(e for e in self.layout.entries if e.name == name)
        grid, block = three(grid), three(block)
        artifact = self.compile(name, None if any_shape else block, options)
        packed = pack_arguments([(p.offset, p.size) for p in entry.params], args)
        packed = packed.ljust(artifact.param_bytes, b"\0")
        hidden = AwHipHidden()
        hidden.grid[:], hidden.block[:], hidden.dynamic_shared = grid, block, dynamic_shared
        hidden.shared_total = (
            -(-artifact.shared_bytes // 16) * 16 if dynamic_shared else artifact.shared_bytes
        ) + dynamic_shared
        hidden.module_data, hidden.services, hidden.grid_id = int(self.data.ctypes.data), SERVICES, 1
        hidden.module_data_bytes = len(self.layout.image)
        hidden.grid_workspace = WORKSPACE if cooperative else 0
        kernarg = packed.ljust(hidden_start(artifact.param_bytes), b"\0") + bytes(hidden)
        places = _places([*(a for a in args if isinstance(a, np.ndarray)), *more, self.data])
        memory = [(start, ctypes.string_at(start, size)) for start, size in places]
        services = AwHipServices(1, 0, STATE, RECORDS, self.record_bytes, HEAP, self.heap_bytes)
        if not keep or self.own is None:
            self.own = [
                bytes(services),
                bytes(AwHipState()),
                bytes(self.record_bytes),
                bytes(self.heap_bytes),
                bytes(64),
            ]
        memory += zip((SERVICES, STATE, RECORDS, HEAP, WORKSPACE), self.own, strict=True)
        group = block
        amd = artifact.amd
        if amd.wave == 64 and amd.warps_per_wave == 1:
            group = (-(-(block[0] * block[1] * block[2]) // 32) * 64, 1, 1)
        static = -(-artifact.shared_bytes // 16) * 16 if dynamic_shared else artifact.shared_bytes
        after, self.instructions = client.launch(
            artifact.object,
            self.arch,
            artifact.symbol,
            grid,
            group,
            kernarg,
            memory,
            static + dynamic_shared - amd.lds,
            limit,
            self.counts,
        )
        for (start, size), data in zip(places, after, strict=False):
            ctypes.memmove(start, data, size)
        self.own = after[len(places) :]
        self._finish()

    def _finish(self):
        """What the driver does when it has waited: print, and end with the trap that a kernel told."""
        own = self.own
        services, state = AwHipServices.from_buffer_copy(own[0]), AwHipState.from_buffer_copy(own[1])
        self.state = state
        self.printed = []
        if not services.attention:
            return
        assertions = []
        for kind, text in read_records(own[2], state.consumed, state.written):
            (assertions if kind == "assertion" else self.printed).append(text)
        if state.stopped:
            where = f"block {tuple(state.block)}, thread {tuple(state.thread)}"
            line = f" (line {state.line} of the PTX)" if state.line else ""
            if state.stopped == ASSERT:
                raise KernelTrap(f"{assertions[0] if assertions else 'assertion'} in {where}")
            raise KernelTrap(f"{REASONS[state.reason]} in {where}{line}")


def _places(arrays):
    """The memory of arrays as (start, bytes), those that overlap as one."""
    ranges = sorted(
        (int(low), int(high)) for low, high in (np.lib.array_utils.byte_bounds(a) for a in arrays if a.size)
    )
    out = []
    for low, high in ranges:
        if out and low < out[-1][1]:
            out[-1][1] = max(high, out[-1][1])
        else:
            out.append([low, high])
    return [(low, high - low) for low, high in out]


module = lru_cache(maxsize=64)(Program)


def run_emulated(arch, *, any_shape=False):
    """Return a function that runs kernels compiled for `arch` in the emulator, as those of `devices.DEVICES` do."""

    def run(ptx, name, grid, block, args, dynamic_shared=0):
        module(ptx, arch).run(name, grid, block, args, dynamic_shared, any_shape=any_shape)

    return run
