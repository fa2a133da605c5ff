"""Memory instructions by their names: what `memory.c` must do for each, as the ISA manuals describe them.

CDNA and RDNA name the same thing differently (DWORDX2 and B64, READ2 and LOAD_2ADDR); both end in one form.
"""

from __future__ import annotations

import ctypes
import re

GLOBAL, FLAT, SCRATCH, SHARED, BUFFER, SCALAR = range(6)
LOAD, STORE, ATOMIC, LOAD2, STORE2, EXCHANGE2 = range(6)
WHOLE, UNSIGNED, SIGNED, LOW_U8, LOW_I8, LOW_16, HIGH_U8, HIGH_I8, HIGH_16 = range(9)
ATOMICS = (
    "SWAP", "COMPARE_SWAP", "ADD", "SUB", "RSUB", "SMIN", "UMIN", "SMAX", "UMAX", "AND", "OR", "XOR", "INC", "DEC", "FADD", "FMIN",
    "FMAX", "PK_ADD_F16", "PK_ADD_BF16", "MASKED_OR", "SUB_CLAMP", "COND_SUB",
)  # fmt: skip
FIELDS = (
    "space", "what", "bytes", "extend", "atomic", "returns", "address", "base", "offset", "data", "data1", "result", "offset1",
    "accumulate", "address_words", "zero_high", "scalar_offset", "lines", "asked",
)  # fmt: skip
SIZES = {
    "UBYTE": 1, "SBYTE": 1, "BYTE": 1, "USHORT": 2, "SSHORT": 2, "SHORT": 2, "DWORD": 4, "DWORDX2": 8, "DWORDX3": 12, "DWORDX4": 16,
    "DWORDX8": 32, "DWORDX16": 64, "U8": 1, "I8": 1, "B8": 1, "U16": 2, "I16": 2, "B16": 2, "B32": 4, "B64": 8, "B96": 12,
    "B128": 16, "B256": 32, "B512": 64,
}  # fmt: skip


class Form(ctypes.Structure):
    """`Form` of memory.c."""

    _fields_ = [(name, ctypes.c_int32) for name in FIELDS]


def raw(inst, name, default=0):
    """The bits of a field of a decoded instruction; `default` where it has no such field."""
    field = getattr(type(inst), name, None)
    if field is None:
        return default
    number = int.from_bytes(inst.to_bytes(), "little")
    return number >> field.lo & ((1 << (field.hi - field.lo + 1)) - 1)


def signed(inst, name):
    field = getattr(type(inst), name)
    width = field.hi - field.lo + 1
    value = raw(inst, name)
    return value - (1 << width) if value >> (width - 1) else value


def _moved(name):
    """(what, bytes, extend) of a load or store, from what stands behind LOAD_ or STORE_."""
    words = [w for w in name.split("_") if w not in ("FI",)]
    high, d16 = "HI" in words, "D16" in words
    kind = next(w for w in words if w in SIZES)
    size = SIZES[kind]
    is_signed = kind in ("SBYTE", "SSHORT", "I8", "I16")
    if d16 and high:
        return size, {1: HIGH_I8 if is_signed else HIGH_U8, 2: HIGH_16}[size]
    if d16:
        return size, {1: LOW_I8 if is_signed else LOW_U8, 2: LOW_16}[size]
    return size, SIGNED if is_signed else WHOLE


def _atomic(name):
    """(operation, bytes) of an atomic operation, from its name without the prefix."""
    wide = "X2" in name or "64" in name
    size = 8 if wide else 4
    if name.startswith("PK_ADD"):
        return ("PK_ADD_BF16" if "BF16" in name else "PK_ADD_F16"), 4
    number = re.search(r"_F(32|64)", name) is not None
    is_signed = re.search(r"_I(32|64)", name) is not None
    for word in ("CMPSWAP", "CMPSTORE", "CMPST"):
        if name.startswith(word):
            if number:
                raise NotImplementedError(name)
            return "COMPARE_SWAP", size
    for word in ("SWAP", "WRXCHG", "STOREXCHG"):
        if name.startswith(word):
            return "SWAP", size
    if name.startswith("MSKOR"):
        return "MASKED_OR", size
    if name.startswith(("SUB_CLAMP", "CSUB")):
        return "SUB_CLAMP", size
    if name.startswith("COND_SUB"):
        return "COND_SUB", size
    first = name.split("_")[0]
    if first in ("MIN", "MAX"):
        return ("F" if number else "S" if is_signed else "U") + first, size
    if first == "ADD" and number:
        return "FADD", size
    if first in ("ADD", "SUB", "RSUB", "SMIN", "UMIN", "SMAX", "UMAX", "AND", "OR", "XOR", "INC", "DEC"):
        return first, size
    raise NotImplementedError(name)


def _shared(inst, name, arch):
    """A DS instruction; None for those that are not about memory."""
    rest = name.removeprefix("DS_")
    returns = "_RTN" in rest
    rest = rest.replace("_RTN", "")
    form = Form(space=SHARED, address=raw(inst, "addr"), base=-1, data=raw(inst, "data0"), data1=raw(inst, "data1"))
    form.result, form.accumulate, form.address_words, form.scalar_offset = raw(inst, "vdst"), raw(inst, "acc"), 1, -1
    form.offset = raw(inst, "offset1") << 8 | raw(inst, "offset0")
    two = re.match(r"(READ2|WRITE2|WRXCHG2|LOAD_2ADDR|STORE_2ADDR|STOREXCHG_2ADDR)(ST64|_STRIDE64)?_B(32|64)$", rest)
    if two:
        form.bytes = int(two[3]) // 8
        step = form.bytes * (64 if two[2] else 1)
        form.offset, form.offset1 = raw(inst, "offset0") * step, raw(inst, "offset1") * step
        form.what = LOAD2 if two[1] in ("READ2", "LOAD_2ADDR") else STORE2 if "XCHG" not in two[1] else EXCHANGE2
        return form
    if match := re.match(r"(READ|LOAD|WRITE|STORE)_(?!ADDTID)(?!.*TR_)", rest):
        form.what = LOAD if match[1] in ("READ", "LOAD") else STORE
        form.bytes, form.extend = _moved(rest)
        return form
    if (
        rest.startswith(("SWIZZLE", "PERMUTE", "BPERMUTE", "NOP", "GWS", "APPEND", "CONSUME", "ORDERED", "BVH"))
        or "ADDTID" in rest
    ):
        return None
    operation, form.bytes = _atomic(rest)
    form.what, form.atomic, form.returns = ATOMIC, ATOMICS.index(operation), returns
    if (
        operation == "COMPARE_SWAP" and arch == "cdna"
    ):  # DS_CMPST: DATA0 is what is compared (CDNA3 ISA, DS instructions)
        form.data, form.data1 = form.data1, form.data
    return form


def _global(inst, name, arch, kind):
    """A GLOBAL, FLAT, SCRATCH or BUFFER instruction; None for those that only concern caches."""
    rest = name.split("_", 1)[1]
    if not rest.startswith(("LOAD", "STORE", "ATOMIC")):
        return None
    if "ADDTID" in rest or "FORMAT" in rest or "_TR_" in rest or "BLOCK" in rest or "_LDS_" in rest:
        raise NotImplementedError(name)
    form = Form(space={"GLOBAL": GLOBAL, "FLAT": FLAT, "SCRATCH": SCRATCH, "BUFFER": BUFFER}[kind], scalar_offset=-1)
    new = hasattr(type(inst), "vsrc")
    form.address = raw(inst, "vaddr" if new or kind == "BUFFER" else "addr")
    form.data = raw(inst, "vsrc" if new else "vdata" if kind == "BUFFER" else "data")
    form.result = raw(inst, "vdata" if kind == "BUFFER" else "vdst")
    form.accumulate = raw(inst, "acc")
    offset = "ioffset" if hasattr(type(inst), "ioffset") else "offset"
    form.offset = (
        raw(inst, offset) if kind == "BUFFER" or (kind == "FLAT" and arch != "rdna4") else signed(inst, offset)
    )
    scalar = raw(inst, "saddr", 127)
    form.base = scalar if scalar < 124 and kind in ("GLOBAL", "SCRATCH") else -1
    form.address_words = 1 if kind in ("SCRATCH", "BUFFER") or form.base >= 0 else 2
    if kind == "SCRATCH" and not raw(inst, "sve"):
        form.address = -1
    if kind == "BUFFER":  # only what code for gfx90a reads and writes its private segment with
        form.space, form.base = SCRATCH, -1
        form.address = form.address if raw(inst, "offen") else -1
        scalar = raw(inst, "soffset")
        form.scalar_offset = scalar if scalar < 124 else -1
    form.data1 = -1
    if rest.startswith("ATOMIC"):
        operation, form.bytes = _atomic(rest.removeprefix("ATOMIC_"))
        form.what, form.atomic = ATOMIC, ATOMICS.index(operation)
        form.returns = raw(inst, "glc") or raw(inst, "sc0") or raw(inst, "th") & 1
        if operation == "COMPARE_SWAP":
            form.data1 = form.data + form.bytes // 4
        return form
    form.what = LOAD if rest.startswith("LOAD") else STORE
    form.bytes, form.extend = _moved(rest)
    return form


def memory_form(inst, name, arch):
    """The form of an instruction on memory, or None."""
    kind = type(inst).__name__.removesuffix("_LIT")
    if kind == "DS":
        return _shared(inst, name, arch)
    for one in ("GLOBAL", "FLAT", "SCRATCH"):
        if kind in (one, "V" + one):
            return _global(inst, name, arch, one)
    if kind == "MUBUF":
        return _global(inst, name, arch, "BUFFER")
    return None


def scalar_form(inst, name):
    """The form of a scalar load, or None."""
    if type(inst).__name__ != "SMEM" or not name.startswith("S_LOAD_"):
        return None
    form = Form(space=SCALAR, what=LOAD, base=raw(inst, "sbase") * 2, result=raw(inst, "sdata"), scalar_offset=-1)
    form.bytes, form.extend = _moved(name.removeprefix("S_LOAD_"))
    form.offset = signed(inst, "ioffset" if hasattr(type(inst), "ioffset") else "offset")
    scalar = raw(inst, "soffset")
    if (raw(inst, "soffset_en", 1)) and scalar < 124:
        form.scalar_offset = scalar
    return form
