"""Instructions that tinygrad's emulator lacks or does lane by lane in place: ours, on a wave's state.

Each is what the ISA manuals say (chapters "SALU", "VALU" and "Data Share"); `special` returns an action for the ones it knows.
"""

from __future__ import annotations

import ctypes
import time

from emulator.forms import Form, raw


class LaneForm(ctypes.Structure):
    """`LaneForm` of memory.c."""

    _fields_ = [
        ("what", ctypes.c_int32), ("bits", ctypes.c_int32), ("result", ctypes.c_int32), ("mask_result", ctypes.c_int32),
        ("negate", ctypes.c_int32), ("absolute", ctypes.c_int32), ("select", ctypes.c_int32), ("keep", ctypes.c_int32), ("source", ctypes.c_int32 * 3), ("literal", ctypes.c_uint32),
    ]  # fmt: skip


CACHES = {
    "GLOBAL_INV", "GLOBAL_WB", "GLOBAL_WBINV", "S_ICACHE_INV", "S_DCACHE_INV", "S_DCACHE_WB", "BUFFER_WBL2", "BUFFER_INV",
    "BUFFER_GL0_INV", "BUFFER_GL1_INV", "S_GL1_INV", "S_WAITCNT_DEPCTR", "S_DELAY_ALU", "S_CLAUSE", "S_SET_INST_PREFETCH_DISTANCE",
    "S_WAITCNT_VSCNT", "S_WAITCNT_VMCNT", "S_WAITCNT_EXPCNT", "S_WAITCNT_LGKMCNT", "S_SETPRIO", "S_NOP", "S_WAITCNT", "S_WAIT_LOADCNT",
    "S_WAIT_STORECNT", "S_WAIT_DSCNT", "S_WAIT_KMCNT", "S_WAIT_SAMPLECNT", "S_WAIT_BVHCNT", "S_WAIT_EXPCNT", "S_WAIT_LOADCNT_DSCNT",
    "S_WAIT_STORECNT_DSCNT", "S_WAIT_ALU", "S_WAIT_IDLE", "S_SET_VSKIP", "S_INST_PREFETCH", "S_CODE_END", "S_TTRACEDATA", "S_ROUND_NOP",
    "S_BARRIER_SIGNAL", "S_PREFETCH_INST", "S_PREFETCH_DATA", "S_INCPERFLEVEL", "S_DECPERFLEVEL", "DS_NOP", "V_NOP", "S_WAIT_EVENT",
}  # fmt: skip
"""What has no effect where memory is coherent and instructions end in order."""

MODE = 1


def undecodable(machine, pc, data):
    """Cache instructions that tinygrad's tables lack, of RDNA3 and of gfx90a, do nothing; others are unknown."""
    word = int.from_bytes(data[:4], "little")
    caches = {"rdna3": (0x2B, 0x2C), "cdna": (0x3E, 0x3F)}.get(machine.arch, ())
    bits = 0xFF if machine.arch == "rdna3" else 0x7F
    if word >> 26 == 0x38 and word >> 18 & bits in caches:
        return 1, _next(8), None, ()
    return None


def special(machine, pc, inst, name, size):
    """An action on a wave for an instruction that is ours; None for tinygrad's."""
    if name in CACHES or name.startswith(("S_WAITCNT", "S_WAIT_")):
        return _next(size)
    kind = type(inst).__name__
    if "DPP" in kind or "DPP" in name:
        return _moved(machine, pc, inst, size)
    if name == "S_SET_GPR_IDX_ON":
        return _indexed(machine, pc, inst, size)
    maker = _SPECIAL.get(name)
    return maker(machine, inst, name, size) if maker else None


def _next(size):
    def action(wave):
        wave.state.pc += size

    return action


def _barrier(machine, inst, name, size):
    def action(wave):
        wave.state.pc += size
        wave.waiting = True
        return True

    return action


def _sleep(machine, inst, name, size):
    def action(wave):
        wave.state.pc += size
        return True  # the others' turn

    return action


def _trap(machine, inst, name, size):
    from emulator.machine import Fault

    def action(wave):
        raise Fault(f"{name} {raw(inst, 'simm16')}: the process would end")

    return action


def _message(machine, inst, name, size):
    def action(wave):
        wave.state.pc += size  # deallocation of registers, and nothing else that code of ours says

    return action


def _pair(wave, register):
    return wave.sgpr[register] | wave.sgpr[register + 1] << 32


def _put_pair(wave, register, value):
    wave.sgpr[register], wave.sgpr[register + 1] = value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF


def _call(machine, inst, name, size):
    result, source = raw(inst, "sdst"), raw(inst, "ssrc0")

    def action(wave):
        after = wave.state.pc + size
        target = _pair(wave, source) if name != "S_GETPC_B64" else after
        if name != "S_SETPC_B64":
            _put_pair(wave, result, after)
        wave.state.pc = target

    return action


def _call_near(machine, inst, name, size):
    result, offset = raw(inst, "sdst"), raw(inst, "simm16")
    offset = (offset - (1 << 16) if offset >> 15 else offset) * 4

    def action(wave):
        _put_pair(wave, result, wave.state.pc + size)
        wave.state.pc += size + offset

    return action


def _move_pair(machine, inst, name, size):
    """s_mov_b64 of an aperture's base (operands 235 to 238); others are tinygrad's."""
    source, result = raw(inst, "ssrc0"), raw(inst, "sdst")
    value = {235: 0x10000 << 32, 236: 0x1FFFF << 32, 237: 0x20000 << 32, 238: 0x2FFFF << 32}.get(source)
    if value is None:
        return None

    def action(wave):
        _put_pair(wave, result, value)
        wave.state.pc += size

    return action


def _hardware_register(wave, number):
    if number == MODE:
        return wave.mode
    if number == 29:  # SHADER_CYCLES
        return time.perf_counter_ns() & 0xFFFFF
    return 0


def _get_register(machine, inst, name, size):
    what, result = raw(inst, "simm16"), raw(inst, "sdst")
    number, offset, width = what & 63, what >> 6 & 31, (what >> 11 & 31) + 1

    def action(wave):
        wave.sgpr[result] = _hardware_register(wave, number) >> offset & (1 << width) - 1
        wave.state.pc += size

    return action


def _set_register(machine, inst, name, size):
    what = raw(inst, "simm16")
    number, offset, width = what & 63, what >> 6 & 31, (what >> 11 & 31) + 1
    literal = raw(inst, "literal") if "IMM32" in name else None
    source = raw(inst, "sdst")

    def action(wave):
        value = (literal if literal is not None else wave.sgpr[source]) & (1 << width) - 1
        if number == MODE:
            wave.mode = wave.mode & ~(((1 << width) - 1) << offset) | value << offset
        wave.state.pc += size

    return action


def _set_mode(machine, inst, name, size):
    value, offset = raw(inst, "simm16") & 15, 0 if name == "S_ROUND_MODE" else 4

    def action(wave):
        wave.mode = wave.mode & ~(15 << offset) | value << offset
        wave.state.pc += size

    return action


def _time(machine, inst, name, size):
    result = raw(inst, "sdata") if name in ("S_MEMTIME", "S_MEMREALTIME") else raw(inst, "sdst")

    def action(wave):
        _put_pair(wave, result, time.time_ns() // 10 if "REAL" in name or "MSG" in name else time.perf_counter_ns())
        wave.state.pc += size

    return action


def _across(kind):
    def make(machine, inst, name, size):
        form = Form(address=raw(inst, "addr"), data=raw(inst, "data0"), result=raw(inst, "vdst"))
        form.offset = raw(inst, "offset1") << 8 | raw(inst, "offset0")
        reference, library = ctypes.byref(form), machine.library

        def action(wave, keep=form):
            wave.memory.exec = wave.exec
            library.across_lanes(wave.reference, reference, kind)
            wave.state.pc += size

        return action

    return make


def _vector(wave, register, lanes):
    return (ctypes.c_uint32 * lanes).from_address(wave.buffers[1].value + 4 * lanes * register)


def _value(wave, operand, lane, lanes):
    return _vector(wave, operand - 256, lanes)[lane] if operand >= 256 else wave.sgpr[operand]


def _read_lane(machine, inst, name, size):
    """v_readfirstlane_b32 and v_readlane_b32: the first lane where none is active is lane 0."""
    lanes, result, source = machine.wave, raw(inst, "vdst"), raw(inst, "src0")
    chosen = raw(inst, "src1") if "FIRST" not in name else None

    def action(wave):
        if chosen is not None:
            lane = wave.sgpr[chosen] % lanes
        else:
            lane = (wave.exec & -wave.exec).bit_length() - 1 if wave.exec else 0
        wave.sgpr[result & 127] = _value(wave, source, lane, lanes)
        wave.state.pc += size

    return action


def _move_relative(machine, inst, name, size):
    """v_movrels_b32 and v_movreld_b32: M0 is added to the number of the source or the result (RDNA3 ISA, 16.8)."""
    lanes, result, source = machine.wave, raw(inst, "vdst"), raw(inst, "src0")
    from_source = "MOVRELS" in name

    def action(wave):
        index = wave.sgpr[125]
        out = _vector(wave, result + (0 if from_source else index), lanes)
        for lane in range(lanes):
            if wave.exec >> lane & 1:
                out[lane] = _value(wave, source + (index if from_source else 0), lane, lanes)
        wave.state.pc += size

    return action


def _indexed(machine, pc, inst, size):
    """s_set_gpr_idx_on, v_mov_b32 and s_set_gpr_idx_off, as LLVM writes them (Vega ISA, 3.9.2, VGPR indexing)."""
    lanes, chosen = machine.wave, raw(inst, "ssrc0")
    mode = int.from_bytes(bytes((ctypes.c_char * 4).from_address(pc)), "little") >> 8 & 15
    at, moves = pc + size, []
    while True:
        one = machine.emu.decode_inst(bytes((ctypes.c_char * 16).from_address(at)), machine.arch)
        at, name = at + one.size(), machine.emu._op_name(one)
        if name == "S_SET_GPR_IDX_OFF":
            break
        if not name.startswith("V_MOV_B32"):
            raise NotImplementedError("s_set_gpr_idx_on around " + name)
        moves.append((raw(one, "vdst"), raw(one, "src0")))

    def action(wave):
        index = wave.sgpr[chosen] & 0xFF
        wave.sgpr[124] = wave.sgpr[124] & ~0xF0FF | index | mode << 12
        for result, source in moves:
            out = _vector(wave, result + (index if mode & 8 else 0), lanes)
            for lane in range(lanes):
                if wave.exec >> lane & 1:
                    out[lane] = _value(wave, source + (index if mode & 1 and source >= 256 else 0), lane, lanes)
        wave.state.pc = at

    return action


def _write_lane(machine, inst, name, size):
    lanes, result, source, chosen = machine.wave, raw(inst, "vdst"), raw(inst, "src0"), raw(inst, "src1")

    def action(wave):
        _vector(wave, result, lanes)[wave.sgpr[chosen] % lanes] = wave.sgpr[source]
        wave.state.pc += size

    return action


def _swap_rows(machine, inst, name, size):
    """v_permlanex16_b32 and v_permlane16_b32: each lane takes one of the other, or its own, row of 16."""
    lanes, result, source = machine.wave, raw(inst, "vdst"), raw(inst, "src0") - 256
    low, high, options = raw(inst, "src1"), raw(inst, "src2"), raw(inst, "opsel")
    other = 16 if "X16" in name else 0

    def action(wave):
        given, out = list(_vector(wave, source, lanes)), _vector(wave, result, lanes)
        selects, active = _pair_of(wave, low, high), wave.exec
        for lane in range(lanes):
            if active >> lane & 1:
                origin = (lane & ~15 ^ other) | selects >> 4 * (lane & 15) & 15
                if options & 1 or active >> origin & 1:
                    out[lane] = given[origin]
                elif options & 2:
                    out[lane] = 0
        wave.state.pc += size

    return action


def _pair_of(wave, low, high):
    return wave.sgpr[low] | wave.sgpr[high] << 32


def _swap_halves(machine, inst, name, size):
    """v_permlanex swaps of gfx950 (32 or 16 lanes) and v_permlane64_b32."""
    lanes, first, second = machine.wave, raw(inst, "vdst"), raw(inst, "src0") - 256
    half = 32 if "32_SWAP" in name else 16

    def action(wave):
        a, b = _vector(wave, first, lanes), _vector(wave, second, lanes)
        for lane in range(lanes):
            if lane & half and not lane & 64:
                partner = lane - half
                a[lane], b[partner] = b[partner], a[lane]
        wave.state.pc += size

    return action


def _lanes(what, bits):
    """An operation of `lane_operation`, modes of rounding and denormal numbers included."""

    def make(machine, inst, name, size):
        kind = type(inst).__name__
        if "SDWA" in kind or raw(inst, "clmp") or raw(inst, "omod"):
            return None
        form = LaneForm(what=what, bits=bits, result=raw(inst, "vdst"), mask_result=raw(inst, "sdst", -1))
        form.negate, form.absolute, form.select = raw(inst, "neg"), raw(inst, "abs"), raw(inst, "opsel")
        form.keep = machine.wave == 32  # half of a register: RDNA keeps the other
        second = 256 + raw(inst, "vsrc1") if kind.startswith("VOP2") else raw(inst, "src1", -1)
        form.source[:] = [raw(inst, "src0"), second, raw(inst, "src2", -1)]
        if (
            bits == 16 and machine.wave == 32 and not kind.startswith("VOP3")
        ):  # RDNA3: registers 128 and on are upper halves
            for n in range(2):
                if form.source[n] >= 256 + 128 or raw(inst, "vdst") >= 128:
                    return None
        form.literal = raw(inst, "literal") if hasattr(type(inst), "literal") else 0
        if 255 in form.source[:] and not hasattr(type(inst), "literal"):
            raise NotImplementedError(f"{name} with a literal")
        reference, library = ctypes.byref(form), machine.library

        def action(wave, keep=form):
            machine.set_modes(wave, int(bits != 32))
            wave.memory.exec = wave.exec
            library.lane_operation(wave.reference, reference)
            wave.state.pc += size

        return action

    return make


def _count_bits(machine, inst, name, size):
    """v_mbcnt_lo/hi_u32_b32: bits of a mask below the lane, and a number added."""
    lanes, result, mask, add = machine.wave, raw(inst, "vdst"), raw(inst, "src0"), raw(inst, "src1")
    if type(inst).__name__ == "VOP2":
        add = 256 + raw(inst, "vsrc1")
    literal = raw(inst, "literal", None)

    def action(wave):
        out, active = _vector(wave, result, lanes), wave.exec
        new = {}
        for lane in range(lanes):
            if active >> lane & 1:
                below = (1 << lane) - 1
                below = below & 0xFFFFFFFF if "LO" in name else below >> 32
                given = literal if mask == 255 else _value(wave, mask, lane, lanes)
                new[lane] = ((given & below).bit_count() + _value(wave, add, lane, lanes)) & 0xFFFFFFFF
        for lane, value in new.items():
            out[lane] = value
        wave.state.pc += size

    return action


def _source_lane(control, lane, lanes):
    """The lane that DPP reads for `lane`, or None where it lies outside (CDNA3 ISA and RDNA3 ISA, DPP controls)."""
    row, place = lane & ~15, lane & 15
    if control < 0x100:
        return lane & ~3 | control >> 2 * (lane & 3) & 3
    amount = control & 15
    if 0x101 <= control <= 0x10F:
        return row + place + amount if place + amount < 16 else None
    if 0x111 <= control <= 0x11F:
        return row + place - amount if place >= amount else None
    if 0x121 <= control <= 0x12F:
        return row + (place - amount) % 16
    if control in (0x130, 0x138):
        step = 1 if control == 0x130 else -1
        return lane + step if 0 <= lane + step < lanes else None
    if control in (0x134, 0x13C):
        return (lane + (1 if control == 0x134 else -1)) % lanes
    if control == 0x140:
        return row + 15 - place
    if control == 0x141:
        return lane & ~7 | 7 - (lane & 7)
    if control == 0x142:
        return row - 1 if lane >= 16 else None
    if control == 0x143:
        return 31 if lane >= 32 else None
    if 0x150 <= control <= 0x15F:
        return row + amount
    if 0x160 <= control <= 0x16F:
        return row + (place ^ amount)
    raise NotImplementedError(f"DPP control {control:#x}")


def _moved(machine, pc, inst, size):
    """A DPP instruction: its first source is moved into a spare register, and the plain form runs for the lanes that have one."""
    from emulator.machine import Fault

    data = bytearray((ctypes.c_char * size).from_address(pc).raw)
    word = int.from_bytes(data[-4:], "little")
    source, control, bound = word & 0xFF, word >> 8 & 0x1FF, word >> 19 & 1
    inactive_too, modifiers, banks, rows = word >> 18 & 1, word >> 20 & 15, word >> 24 & 15, word >> 28
    lanes, used = machine.wave, {int(b) for b in data} | {source}
    spare = next(r for r in range(255, 0, -1) if r not in used)
    plain = data[:-4]
    if len(plain) != 4:
        raise Fault("DPP of a VOP3 instruction is not emulated")
    plain[0:2] = (int.from_bytes(plain[0:2], "little") & ~0x1FF | 256 + spare).to_bytes(2, "little")
    if modifiers & 12:
        raise Fault("DPP with modifiers of the second source is not emulated")
    address = machine.aside(bytes(plain))
    entry = machine.prepare(address)

    def action(wave):
        active = wave.exec
        given, room = list(_vector(wave, source, lanes)), _vector(wave, spare, lanes)
        saved, enabled = list(room), 0
        for lane in range(lanes):
            if not active >> lane & 1 or not rows >> (lane >> 4 & 3) & 1 or not banks >> (lane >> 2 & 3) & 1:
                continue
            origin = _source_lane(control, lane, lanes)
            there = origin is not None and (active >> origin & 1 or inactive_too)
            if not there and not bound:
                continue
            value = given[origin] if there else 0
            value = value & 0x7FFFFFFF if modifiers & 2 else value
            room[lane] = value ^ 0x80000000 if modifiers & 1 else value
            enabled |= 1 << lane
        before = wave.state.pc
        _set_exec(wave, enabled)
        wave.state.pc = address
        machine.step(wave, entry)
        room[:] = saved
        _set_exec(wave, active)
        wave.state.pc = before + size

    return action


def _set_exec(wave, value):
    wave.sgpr[126] = value & 0xFFFFFFFF
    if wave.memory.wave == 64:
        wave.sgpr[127] = value >> 32


_NUMBERS = {"RNDNE": 5, "FREXP_EXP_I": 6, "FREXP_MANT": 7, "LDEXP": 8, "MIN": 9, "MAX": 10, "FLOOR": 11, "CEIL": 12, "TRUNC": 13,
            "MIN_NUM": 9, "MAX_NUM": 10}  # fmt: skip
_SPECIAL = {
    **{
        f"V_{name}{bits}_F{bits}" if name.endswith("_I") else f"V_{name}_F{bits}": _lanes(what, bits)
        for name, what in _NUMBERS.items()
        for bits in (16, 32, 64)
    },
    "V_FREXP_EXP_I32_F64": _lanes(6, 64),
    "V_DIV_SCALE_F32": _lanes(0, 32), "V_DIV_SCALE_F64": _lanes(0, 64), "V_DIV_FMAS_F32": _lanes(1, 32), "V_DIV_FMAS_F64": _lanes(1, 64),
    "V_DIV_FIXUP_F32": _lanes(2, 32), "V_DIV_FIXUP_F64": _lanes(2, 64), "V_MAD_I32_I24": _lanes(3, 32), "V_MAD_U32_U24": _lanes(4, 32),
    "S_BARRIER": _barrier, "S_BARRIER_WAIT": _barrier, "S_SLEEP": _sleep, "S_SLEEP_VAR": _sleep, "S_TRAP": _trap, "S_SENDMSG": _message,
    "S_SENDMSGHALT": _message, "S_GETPC_B64": _call, "S_SETPC_B64": _call, "S_SWAPPC_B64": _call, "S_CALL_B64": _call_near,
    "S_MOV_B64": _move_pair, "S_GETREG_B32": _get_register, "S_SETREG_B32": _set_register, "S_SETREG_IMM32_B32": _set_register,
    "S_ROUND_MODE": _set_mode, "S_DENORM_MODE": _set_mode, "S_MEMTIME": _time, "S_MEMREALTIME": _time, "S_SENDMSG_RTN_B64": _time,
    "S_SENDMSG_RTN_B32": _time, "DS_BPERMUTE_B32": _across(0), "DS_PERMUTE_B32": _across(1), "DS_SWIZZLE_B32": _across(2),
    "V_READFIRSTLANE_B32": _read_lane, "V_READLANE_B32": _read_lane, "V_WRITELANE_B32": _write_lane, "V_PERMLANE16_B32": _swap_rows,
    "V_PERMLANEX16_B32": _swap_rows, "V_PERMLANE16_SWAP_B32": _swap_halves, "V_PERMLANE32_SWAP_B32": _swap_halves,
    "V_MOVRELS_B32": _move_relative, "V_MOVRELD_B32": _move_relative, "V_MBCNT_LO_U32_B32": _count_bits, "V_MBCNT_HI_U32_B32": _count_bits,
}  # fmt: skip
