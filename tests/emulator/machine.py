"""Run a kernel of a code object on the processor, through tinygrad's instruction emulator (a checkout of it, in TINYGRAD).

tinygrad supplies the decoder and what arithmetic instructions mean, from the pseudocode of AMD's ISA manuals. Ours are memory
(`memory.c`), waves and work groups that run in turns, modes of rounding and of denormal numbers, data-parallel moves (DPP), and the
instructions that its emulator lacks. `corrections.py` mends what it gets wrong.
"""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import struct
import sys
from pathlib import Path

from emulator import code_object, corrections, scalar
from emulator.forms import Form, memory_form, raw, scalar_form

RESIDENT = 24
"""Work groups that run side by side: as many may wait for each other."""

QUANTUM = 3000
"""Instructions that a wave runs before another has its turn."""

POISON = 0xCD


class Fault(Exception):
    """What stops a kernel: an address nobody gave it, a trap, too many instructions."""


class _Place(ctypes.Structure):
    _fields_ = [
        ("start", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("host", ctypes.c_void_p),
        ("writable", ctypes.c_uint64),
    ]


class _State(ctypes.Structure):
    _fields_ = [
        ("scalar", ctypes.c_void_p), ("vector", ctypes.c_void_p), ("accumulator", ctypes.c_void_p), ("shared", ctypes.c_void_p),
        ("scratch", ctypes.c_void_p), ("shared_bytes", ctypes.c_uint64), ("scratch_bytes", ctypes.c_uint64), ("places", ctypes.c_void_p),
        ("count", ctypes.c_uint64), ("wave", ctypes.c_uint64), ("exec", ctypes.c_uint64), ("fault_address", ctypes.c_uint64),
        ("fault_lane", ctypes.c_uint64), ("fault_bytes", ctypes.c_uint64), ("fault_kind", ctypes.c_uint64),
    ]  # fmt: skip


def family(target):
    """The emulator's name of the architecture of a target such as `amdgcn-amd-amdhsa--gfx942`."""
    name = target.split("gfx")[-1].split(":")[0]
    if name.startswith("11"):
        return "rdna3"
    if name.startswith("12") and not name.startswith("125"):
        return "rdna4"
    if name in ("90a", "940", "941", "942", "950"):
        return "cdna"
    raise ValueError(f"gfx{name}: the emulator knows gfx90a, gfx94x, gfx950, gfx11xx and gfx12xx, not gfx10xx")


def load_tinygrad(root):
    """Import the emulator from a checkout, corrected in memory."""
    sys.path.insert(0, root)
    path = Path(root) / "test/mockgpu/amd/emu.py"
    spec = importlib.util.spec_from_loader("test.mockgpu.amd.emu", loader=None, origin=str(path))
    module = importlib.util.module_from_spec(spec)
    module.__file__, module.__package__ = str(path), "test.mockgpu.amd"
    sys.modules["test.mockgpu.amd.emu"] = module
    exec(compile(corrections.corrected(path.read_text()), str(path), "exec"), module.__dict__)
    corrections.correct_module(module)
    return module


class Wave:
    """A wave's registers and where it stands."""

    def __init__(self, machine, launch, group, first, place):
        emu, arch = machine.emu, machine.arch
        self.state = emu._init_wave(
            launch.entry, first, launch.threads, *launch.block, launch.kernarg, launch.resources, launch.scratch, arch, *place,
            launch.user, machine.wave,
        )  # fmt: skip
        self.state._write_sgpr(248, 0x3E22F983)  # 1/(2 pi): tinygrad keeps a hardware register there
        state = self.state
        if arch == "rdna4":
            state._write_sgpr(emu.ttmp[8].offset, (first // machine.wave & 31) << 25)
        self.scratch = ctypes.create_string_buffer(
            bytes([POISON]) * (launch.scratch * machine.wave), launch.scratch * machine.wave + 1
        )
        self.buffers = [
            ctypes.c_uint64(one)
            for one in (
                state.sgpr_buf._buf.va_addr, state.vgpr_buf._buf.va_addr, 0, ctypes.addressof(group.shared), ctypes.addressof(self.scratch),
                state.accvgpr_buf._buf.va_addr,
            )
        ]  # fmt: skip
        self.sgpr, self.memory = state._sgpr_mv, _State()
        m = self.memory
        m.scalar, m.vector, m.accumulator = self.buffers[0].value, self.buffers[1].value, self.buffers[5].value
        m.shared, m.shared_bytes = self.buffers[3].value, launch.shared
        m.scratch, m.scratch_bytes = self.buffers[4].value, launch.scratch
        m.places, m.count, m.wave = ctypes.addressof(launch.places), len(launch.places), machine.wave
        self.reference = ctypes.byref(m)
        self.mode = launch.mode
        self.group, self.first = group, first
        self.waiting = self.done = False

    @property
    def exec(self):
        return self.sgpr[126] | (self.sgpr[127] << 32 if self.memory.wave == 64 else 0)

    def poison(self, machine):
        """Fill the registers that the hardware leaves undefined: all vector registers but the thread's number."""
        words = machine.wave * 255
        pattern = (ctypes.c_uint32 * words).from_address(self.buffers[1].value + 4 * machine.wave)
        for i in range(0, words, 7):
            pattern[i] = 0x7FC0DEAD


class Group:
    """A work group: its waves and its shared memory."""

    def __init__(self, machine, launch, place):
        self.shared = ctypes.create_string_buffer(bytes([POISON]) * launch.shared, launch.shared + 16)
        self.waves = [Wave(machine, launch, self, first, place) for first in range(0, launch.threads, machine.wave)]
        self.place = place

    def turn(self, machine, launch):
        """Run each wave a little; False when all have ended."""
        for wave in self.waves:
            if not wave.done and not wave.waiting:
                machine.run(wave, launch)
        left = [wave for wave in self.waves if not wave.done]
        if left and all(wave.waiting for wave in left):
            for wave in left:
                wave.waiting = False
        return bool(left)


class Launch:
    """What a dispatch gives to its waves."""

    def __init__(self, machine, code, name, grid, block, kernarg, dynamic_shared, memory):
        kernel = code.kernels[name]
        descriptor = code.base + code.symbols[kernel[".symbol"]]
        shared, self.scratch, _ = struct.unpack_from("<III", ctypes.string_at(descriptor, 12))
        head = ctypes.string_at(descriptor, 64)
        self.entry = descriptor + struct.unpack_from("<q", head, 16)[0]
        _, first, self.resources, properties, preload = struct.unpack_from("<IIIHH", head, 44)
        self.mode = first >> 12 & 0xFF  # FLOAT_ROUND_MODE and FLOAT_DENORM_MODE lie in MODE as in the descriptor
        if kernel.get(".uses_dynamic_stack"):
            self.scratch += 16384
        self.shared, self.block = shared + dynamic_shared, block
        self.threads = block[0] * block[1] * block[2]
        self.kernarg_room = ctypes.create_string_buffer(
            kernarg, max(len(kernarg), kernel[".kernarg_segment_size"]) + 256
        )
        self.kernarg = ctypes.addressof(self.kernarg_room) + 63 & ~63
        ctypes.memmove(self.kernarg, kernarg, len(kernarg))
        packet = struct.pack("<6H5I4Q", 0, 3, *block, 0, *(g * b for g, b in zip(grid, block, strict=True)), self.scratch, self.shared,
                             descriptor, self.kernarg, 0, 0)  # fmt: skip
        self.packet = ctypes.create_string_buffer(packet, 64)
        self.rooms = [ctypes.create_string_buffer(data, len(data) + 1) for _, data in memory]
        places = [
            (start, len(data), ctypes.addressof(room), 1)
            for (start, data), room in zip(memory, self.rooms, strict=True)
        ]
        places.append((self.kernarg, len(kernarg), self.kernarg, 0))
        places.append((code.base, code.bytes, code.base, 0))
        places.append((ctypes.addressof(self.packet), 64, ctypes.addressof(self.packet), 0))
        self.places = (_Place * len(places))(*places)
        self.user = self._user_registers(properties, preload)
        self.code, self.grid = code, grid
        self.instructions = 0

    def _user_registers(self, properties, preload):
        """User scalar registers in the order of the AMDHSA ABI (LLVM's AMDGPU usage, Initial Kernel Execution State)."""
        out = []
        if properties & 1:  # private segment buffer: code for gfx90a; memory.c needs no more than that it is there
            out += [0, 0, 0, 0]
        for bit, value in ((2, ctypes.addressof(self.packet)), (4, 0), (8, self.kernarg), (16, 0), (32, 0)):
            if properties & bit:
                out += [value & 0xFFFFFFFF, value >> 32]
        if properties & 64:
            out.append(self.scratch)
        count, offset = preload & 0x7F, preload >> 7
        if count:
            out += struct.unpack(f"<{count}I", ctypes.string_at(self.kernarg + offset * 4, count * 4))
            self.entry += 256  # firmware that preloads skips the code that loads them itself
        return out + [0] * max(0, (self.resources >> 1 & 0x1F) - len(out))


class Machine:
    """One architecture, with everything that was decoded and compiled so far."""

    def __init__(self, emu, library, arch):
        self.emu, self.library, self.arch = emu, library, arch
        self.wave = emu._wave_size(arch)
        self.side = ctypes.create_string_buffer(1 << 20)
        self.side_used = 0
        self.compiled = {}
        self.modes = library.get_modes()

    def execute(self, data, name, grid, block, kernarg, dynamic_shared, memory, limit, counts=None):
        """Run a launch; returns the memory afterwards and how many instructions all waves ran. Fault when it went wrong.

        `counts`, a dictionary, gets for each name of an instruction how often waves executed it, the bytes that lanes asked for, and lines of memory touched.
        """
        code = code_object.load(data)
        launch = Launch(self, code, name, grid, block, kernarg, dynamic_shared, memory)
        if code.kernels[name][".wavefront_size"] != self.wave:
            raise Fault(
                f"code for waves of {code.kernels[name]['.wavefront_size']} lanes, the emulator has {self.wave}"
            )
        launch.limit, launch.program = limit, {}
        launch.counted = None if counts is None else {}
        saved = self.library.get_modes()
        places = itertools.product(range(grid[2]), range(grid[1]), range(grid[0]))
        groups, more = [], True
        try:
            while more or groups:
                while more and len(groups) < RESIDENT:
                    place = next(places, None)
                    more = place is not None
                    if more:
                        groups.append(Group(self, launch, (place[2], place[1], place[0])))
                groups = [group for group in groups if group.turn(self, launch)]
        finally:
            self.library.set_modes(saved)
            self.modes = saved  # else the next launch would take the processor to be as this one left it
        for name, form, executed in (launch.counted or {}).values():
            before = counts.get(name, (0, 0, 0))
            counts[name] = (
                before[0] + executed,
                before[1] + getattr(form, "asked", 0),
                before[2] + getattr(form, "lines", 0),
            )
        return [room.raw[:-1] for room in launch.rooms], launch.instructions

    def run(self, wave, launch):
        """Run a wave until it ends, waits at a barrier, or has had its turn."""
        program, state, buffers, end = launch.program, wave.state, wave.buffers, self.emu.ENDPGM_PC
        for _ in range(QUANTUM):
            pc = state.pc
            if pc == end:
                wave.done = True
                break
            entry = program.get(pc)
            if entry is None:
                entry = program[pc] = self.prepare(pc)
                if launch.counted is not None:
                    launch.counted[pc] = [self.name, self.form, 0]
            kind, action, wanted, arguments = entry
            launch.instructions += 1
            if launch.counted is not None:
                launch.counted[pc][2] += 1
            if kind == 0:
                if wanted is not None:
                    self.set_modes(wave, wanted)
                action(*[buffers[i] for i in arguments])
            else:
                try:
                    stop = action(wave)
                except Fault as fault:
                    raise Fault(
                        f"{fault} (instruction at {pc - launch.entry:#x}, block {wave.group.place}, wave {wave.first // self.wave})"
                    ) from None
                if stop:
                    break
        if launch.instructions > launch.limit:
            raise Fault(f"more than {launch.limit} instructions: an endless loop, or waiting for what never comes")

    def step(self, wave, entry):
        """Run one prepared instruction."""
        kind, action, wanted, arguments = entry
        if kind == 0:
            if wanted is not None:
                self.set_modes(wave, wanted)
            action(*[wave.buffers[i] for i in arguments])
        else:
            action(wave)

    def set_modes(self, wave, wanted):
        """Have the processor round and treat denormal numbers as the wave's MODE says. `wanted`: 0 for single, 1 for double and half, 2 flushes."""
        mode = wave.mode
        rounding = mode >> 2 * (wanted == 1) & 3
        denormals = mode >> 4 + 2 * (wanted == 1) & 3
        bits = 0x1F80 | (0, 2, 1, 3)[rounding] << 13 | (0 if denormals & 1 else 0x8000) | (0 if denormals & 2 else 0x40)
        if wanted == 2:
            bits |= 0x8040
        if bits != self.modes:
            self.library.set_modes(bits)
            self.modes = bits

    def prepare(self, pc):
        """Decode what stands at an address: (kind, action, modes, arguments)."""
        emu = self.emu
        self.name, self.form = "unknown", None
        data = bytes((ctypes.c_char * 24).from_address(pc))
        try:
            inst = emu.decode_inst(data[:16], self.arch)
        except Exception:
            found = scalar.undecodable(self, pc, data)
            if found is None:
                raise Fault(f"instruction {data[:8].hex()} is unknown to the emulator") from None
            return found
        self.name = name = emu._op_name(inst)
        plain = name.removesuffix("_E32").removesuffix("_E64").removesuffix("_DPP").removesuffix("_SDWA")
        size = inst.size()
        try:
            if form := memory_form(inst, name, self.arch):
                form.zero_high = 0
                self.form = form
                return 1, self.memory_action(form, size), None, ()
            if form := scalar_form(inst, name):
                return 1, self.scalar_action(form, size), None, ()
        except NotImplementedError as problem:
            raise Fault(f"instruction {problem} is not emulated") from None
        try:
            if action := scalar.special(self, pc, inst, plain, size):
                return 1, action, None, ()
        except NotImplementedError as problem:
            raise Fault(f"instruction {problem} is not emulated") from None
        return self.compile(data, inst, plain)

    def compile(self, data, inst, name):
        """Have tinygrad compile an instruction that stands where the program counter points."""
        try:
            program, runtime = self.emu._get_runner(data[: inst.size() + 4], self.arch)
        except Exception as error:
            raise Fault(f"tinygrad cannot compile {name}: {type(error).__name__}: {error}"[:600]) from None
        return 0, runtime.fxn, _modes_of(name), program.arg.globals

    def memory_action(self, form, size):
        access, reference = self.library.memory_access, ctypes.byref(form)

        def action(wave, keep=form):
            wave.memory.exec = wave.exec
            if access(wave.reference, reference):
                _wild(wave)
            wave.state.pc += size

        return action

    def scalar_action(self, form, size):
        load, reference = self.library.scalar_load, ctypes.byref(form)

        def action(wave, keep=form):
            if load(wave.reference, reference):
                _wild(wave)
            wave.state.pc += size

        return action

    def aside(self, data):
        """Put changed instruction bytes where a program counter can point; returns the address."""
        if self.side_used + len(data) + 32 > len(self.side):
            raise Fault("too many changed instructions")
        at = ctypes.addressof(self.side) + self.side_used
        ctypes.memmove(at, data, len(data))
        self.side_used += len(data) + 16 & ~15
        return at


def _wild(wave):
    m = wave.memory
    what = "write" if m.fault_kind == 2 else "read"
    raise Fault(
        f"{what} of {m.fault_bytes} bytes at {m.fault_address:#x}, which nobody gave to the kernel, by lane {m.fault_lane}"
    )


def _modes_of(name):
    """Which half of MODE an instruction obeys: 0 single, 1 double and half precision, 2 flushes always, None: it has no numbers."""
    words = name.split("_")
    if name.startswith(
        ("V_RCP_F32", "V_RSQ_F32", "V_SQRT_F32", "V_EXP_F32", "V_LOG_F32", "V_SIN_F32", "V_COS_F32", "V_S_RCP_F32")
    ):
        return 2
    if any(w in ("F64", "F16", "FP16") for w in words):
        return 1
    if any(w.startswith(("F32", "XF32", "BF16", "F8")) or "FP8" in w for w in words):
        return 0
    return None


__all__ = ["Fault", "Form", "Machine", "family", "load_tinygrad", "raw"]
