"""Where tinygrad's emulator departs from AMD's manuals: each correction with the paragraph it follows."""

from __future__ import annotations

import re

TEXTS = (
    # (what its emulator says, what it should say, why)
    (
        "m_base = c_grp * UOp.const(16, dtypes.int) + UOp.const((out_reg // 4) * 4 + out_reg % 4, dtypes.int)",
        "m_base = c_grp * UOp.const(4, dtypes.int) + UOp.const((out_reg // 4) * 8 + out_reg % 4, dtypes.int)",
        "32x32 MFMA: register r of lane l holds row 8*(r/4) + 4*(l/32) + r%4 (CDNA3 ISA, 7.1.4, 32x32 output layouts)",
    ),
    (
        "  srcs.update(ctx.base_srcs(exec_mask, lane), VCC=ctx.rmask(_c(VCC_LO.offset)), VDST=vdst_reg)\n  _, assigns = parse_pcode(pcode, srcs)\n"
        "  stores = []\n  vcc_val = None\n",
        "  _sdwa_bits = 16 if '16' in _op_name(inst) else 32\n"
        "  for _n, _s in enumerate(('S0', 'S1')):\n"
        "    if _s in srcs: srcs[_s] = _apply_src_mods(srcs[_s], 0, _iattr(inst, f'src{_n}_abs'), _iattr(inst, f'src{_n}_neg'), _sdwa_bits)\n"
        "  srcs.update(ctx.base_srcs(exec_mask, lane), VCC=ctx.rmask(_c(VCC_LO.offset)), VDST=vdst_reg)\n  _, assigns = parse_pcode(pcode, srcs)\n"
        "  if _iattr(inst, 'clmp'):\n"
        "    _whole = _int_clamp(_op_name(inst), srcs)\n"
        "    if _whole is None: raise NotImplementedError('SDWA with clamp')\n"
        "    assigns = [(d, _whole if d.startswith('D0') and '[laneId]' not in d else v) for d, v in assigns]\n"
        "  stores = []\n  vcc_val = None\n",
        "SDWA: sources may be negated, their sign dropped, and the result clamped (Vega ISA, 13.3.9, VOP_SDWA fields)",
    ),
    (
        "      stores.extend(ctx.wmask_lane_bit(_c(VCC_LO.offset), lane, val, exec_mask))\n  if vcc_val is not None:",
        "      _bits = ctx.unroll_lanes(lambda l, v=val: (_to_u32(v.substitute({lane: l})) & _c(1)).cast(dtypes.uint32), exec_mask)\n"
        "      _carry = ctx.wmask(_c(VCC_LO.offset), _bits)\n"
        "      _plain = [s for d, v in assigns if d.startswith('D0') and '[laneId]' not in d for s in\n"
        "                [ctx.wvgpr_dyn(vdst_reg, lane, _sdwa_write(ctx.rvgpr_dyn(vdst_reg, lane), _val_to_u32(v), dst_sel, dst_unused)\n"
        "                               if has_dst_sel else _val_to_u32(v), exec_mask)]]\n"
        "      return UOp.sink(*_carry, UOp.sink(*_plain).end(lane), *ctx.inc_pc())\n"
        "  if vcc_val is not None:",
        "SDWA: a carry is written for each lane, not for the last one (Vega ISA, V_ADD_CO_U32)",
    ),
    (
        "clamped = val.maximum(UOp.const(0.0, val.dtype)).minimum(UOp.const(1.0, val.dtype))",
        "clamped = (UOp.const(0.0, val.dtype) < val).where(val, UOp.const(0.0, val.dtype)).minimum(UOp.const(1.0, val.dtype))",
        "CLAMP gives +0 for -0 (RDNA3 ISA, 7.2.3, output modifiers)",
    ),
    (
        "  return ctx.compile_vop_pcode(inst.op, srcs, lane, vdst_reg, exec_mask)\n\ndef _compile_vopd",
        "  if _iattr(inst, 'clmp') and op_name not in ('V_FMA_MIX_F32', 'V_MAD_MIX_F32'): raise NotImplementedError(op_name + ' with clamp')\n"
        "  return ctx.compile_vop_pcode(inst.op, srcs, lane, vdst_reg, exec_mask, clmp=_iattr(inst, 'clmp'))\n\ndef _compile_vopd",
        "V_FMA_MIX_F32 obeys CLAMP like other VOP3P instructions (RDNA3 ISA, 15.3.6)",
    ),
    (
        "return (byte.cast(dtypes.int32) ^ UOp.const(0x80, dtypes.int32)) - UOp.const(0x80, dtypes.int32)",
        "return ((byte.cast(dtypes.int32) ^ UOp.const(0x80, dtypes.int32)) - UOp.const(0x80, dtypes.int32)).bitcast(dtypes.uint32)",
        "V_MFMA_I32_*I8: bytes go into an array of unsigned words (its own code does not compile otherwise)",
    ),
    (
        "  return (pkd << _c(24, dtypes.uint)).bitcast(dtypes.int32) >> _c(24, dtypes.int32)  # sign extend",
        "  if not _iattr(inst, 'neg') >> (0 if src is src0_r else 1) & 1: return pkd.bitcast(dtypes.int32)\n"
        "    return (pkd << _c(24, dtypes.uint)).bitcast(dtypes.int32) >> _c(24, dtypes.int32)",
        "V_WMMA_I32_16X16X16_IU8: NEG says of each factor whether it is signed (RDNA3 ISA, 7.9)",
    ),
)


def corrected(text):
    """The text of its emulator with `TEXTS` replaced; says which no longer apply."""
    for wrong, right, why in TEXTS:
        if wrong not in text:
            print("no longer applies:", why)
        text = text.replace(wrong, right)
    return text


def correct_module(module):
    """Mend functions of the loaded emulator."""
    pseudocode, clamp = module.get_pcode, module._int_clamp

    def get_pcode(op):
        # `.i24` and `.u24` are the lower 24 bits of a source (CDNA3 ISA, V_MUL_I32_I24); its reader takes them for 32 bits
        text = pseudocode(op)
        for n in "012":
            text = text.replace(f"S{n}.i24", f"((S{n}.i32 << 8U) >> 8U)").replace(
                f"S{n}.u24", f"(S{n}.u32 & 0xffffffU)"
            )
        return text

    def int_clamp(name, sources):
        # signed additions of gfx9 saturate with CLAMP, too (Vega ISA, V_ADD_I32)
        for op in ("ADD", "SUB"):
            name = name.replace(f"V_{op}_I32", f"V_{op}_NC_I32")
        found = clamp(name, sources)
        if found is None and re.search("(ADD|SUB|MAD|MUL).*_[IU](16|32)", name):
            raise NotImplementedError(f"{name} with clamp")
        return found

    module.get_pcode, module._int_clamp = get_pcode, int_clamp
