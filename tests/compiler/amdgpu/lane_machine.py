"""Straight-line LLVM IR for AMD GPUs executed for all lanes of a wave at once, in numpy: what matrix code consists of.

Values are bytes, one row per lane, so a bitcast changes nothing. Matrix instructions are modelled after AMD's manuals ("Matrix
Arithmetic Instructions" of the CDNA3 and CDNA4 manuals, "Wave Matrix Multiply Accumulate" of RDNA3's and RDNA4's).
"""

from __future__ import annotations

import re
import struct

import numpy as np

from semantics.matrix_numbers import values

DTYPE = {
    "i1": "u1",
    "i8": "u1",
    "i16": "<u2",
    "i32": "<u4",
    "i64": "<u8",
    "half": "<f2",
    "float": "<f4",
    "double": "<f8",
}
_VECTOR = re.compile(r"<(\d+) x (\w+)>")


def split_type(text):
    """(element, count, rest) of text that begins with a type."""
    m = _VECTOR.match(text)
    if m:
        return m[2], int(m[1]), text[m.end() :].strip()
    element, _, rest = text.partition(" ")
    return element.rstrip(","), 1, rest.strip()


def arguments(text):
    """Split at commas outside of brackets."""
    out, depth, start = [], 0, 0
    for n, c in enumerate(text):
        depth += c in "(<["
        depth -= c in ")>]"
        if c == "," and not depth:
            out.append(text[start:n].strip())
            start = n + 1
    return [*out, text[start:].strip()] if text.strip() else []


class LaneMachine:
    """Runs lines of text. `names` maps names to arrays (lanes, bytes); `active` are the lanes that are on."""

    def __init__(self, wave, active=None):
        self.wave = wave
        self.active = np.ones(wave, bool) if active is None else active
        self.names = {}
        self.counts = {}

    def constant(self, element, count, text):
        if text in ("zeroinitializer", "poison"):
            data = bytes(np.dtype(DTYPE[element]).itemsize * count)
        elif text.startswith("splat"):
            return self.constant(element, count, text[text.index("(") + 1 : -1].split(" ", 1)[1])
        elif element in ("float", "double"):
            number = struct.unpack(">d", int(text, 16).to_bytes(8, "big"))[0] if text.startswith("0x") else float(text)
            data = np.asarray(number, DTYPE[element]).tobytes() * count
        elif element == "half":
            data = int(text[3:], 16).to_bytes(2, "little") * count
        else:
            bits = {"true": 1, "false": 0}.get(text)
            size = np.dtype(DTYPE[element]).itemsize
            data = ((int(text) if bits is None else bits) & ((1 << 8 * size) - 1)).to_bytes(size, "little") * count
        return np.tile(np.frombuffer(data, np.uint8), (self.wave, 1))

    def read(self, element, count, text):
        return self.names[text] if text.startswith("%") else self.constant(element, count, text)

    def typed(self, element, count, text):
        """An operand as (lanes, count) numbers."""
        return np.ascontiguousarray(self.read(element, count, text)).view(DTYPE[element])

    def run(self, lines):
        for line in lines:
            name, _, rest = line.strip().partition(" = ")
            what, _, rest = rest.partition(" ")
            self.counts[what] = self.counts.get(what, 0) + 1
            with np.errstate(all="ignore"):
                out = getattr(self, "do_" + what, None)(rest) if hasattr(self, "do_" + what) else self.two(what, rest)
            self.names[name] = np.ascontiguousarray(out).view(np.uint8).reshape(self.wave, -1)

    # --- instructions ---------------------------------------------------------------------------------------------

    def two(self, what, rest):
        element, count, rest = split_type(rest.removeprefix("disjoint "))
        a, b = (self.typed(element, count, x) for x in arguments(rest))
        if what in ("shl", "lshr"):
            bits = 8 * a.dtype.itemsize
            b = b.astype(a.dtype) & a.dtype.type(bits - 1)
            return a << b if what == "shl" else a >> b
        if what == "ashr":
            signed = a.view(a.dtype.str.replace("u", "i"))
            return signed >> b.astype(signed.dtype)
        return {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "add": np.add, "sub": np.subtract,
                "mul": np.multiply, "fadd": np.add, "fmul": np.multiply}[what](a, b)  # fmt: skip

    def do_icmp(self, rest):
        how, _, rest = rest.partition(" ")
        element, count, rest = split_type(rest)
        a, b = (self.typed(element, count, x) for x in arguments(rest))
        return {"eq": a == b, "ne": a != b}[how].astype("u1")

    def do_select(self, rest):
        condition, a, b = arguments(rest)
        element, count, x = split_type(a)
        y = split_type(b)[2]
        which = self.typed("i1", 1, condition.split(" ")[1])[:, :1] != 0
        return np.where(which, self.read(element, count, x), self.read(element, count, y))

    def do_bitcast(self, rest):
        element, count, rest = split_type(rest)
        return self.read(element, count, rest.split(" to ")[0])

    def _cast(self, rest):
        element, count, rest = split_type(rest)
        name, target = rest.split(" to ")
        return self.typed(element, count, name).astype(DTYPE[target])

    do_zext = do_trunc = do_fpext = do_fptrunc = _cast

    def do_insertelement(self, rest):
        vector, item, place = arguments(rest)
        element, count, name = split_type(vector)
        out = self.typed(element, count, name).copy()
        out[:, int(place.split(" ")[1])] = self.typed(element, 1, item.split(" ")[1])[:, 0]
        return out

    def do_extractelement(self, rest):
        vector, place = arguments(rest)
        element, count, name = split_type(vector)
        return self.typed(element, count, name)[:, int(place.split(" ")[1])].copy()

    def do_call(self, rest):
        head, _, inside = rest.partition("(")
        name = head.split("@")[1]
        given = [split_type(a) for a in arguments(inside[: inside.rindex(")")])]
        self.counts[name] = self.counts.get(name, 0) + 1
        values_of = [self.typed(*a) for a in given]
        short = name.removeprefix("llvm.").removeprefix("amdgcn.")
        if short.startswith(("mfma.", "wmma.")):
            return self.matrix(short, values_of)
        return getattr(self, "call_" + short.replace(".", "_"))(*values_of)

    # --- intrinsics -----------------------------------------------------------------------------------------------

    def call_ds_bpermute(self, address, value):
        return value[(address[:, 0] >> 2) % self.wave]

    def call_inverse_ballot_i64(self, mask):
        return ((mask[:, 0] >> np.arange(self.wave).astype(mask.dtype)) & mask.dtype.type(1)).astype("u1")

    call_inverse_ballot_i32 = call_inverse_ballot_i64

    def call_set_inactive_i32(self, value, other):
        return np.where(self.active[:, None], value, other)

    def call_strict_wwm_i32(self, value):
        return value

    def call_mbcnt_lo(self, mask, base):
        return base + np.minimum(np.arange(self.wave), 32).astype("<u4")[:, None]

    def call_mbcnt_hi(self, mask, base):
        return base + np.maximum(np.arange(self.wave) - 32, 0).astype("<u4")[:, None]

    def call_ctpop_i32(self, a):
        return np.unpackbits(a.astype("<u4").view("u1").reshape(*a.shape, 4), axis=-1).sum(-1).astype("<u4")

    def call_sadd_sat_i32(self, a, b):
        total = a.view("<i4").astype("i8") + b.view("<i4").astype("i8")
        return np.clip(total, -(1 << 31), (1 << 31) - 1).astype("<i4")

    def call_fma_f32(self, a, b, c):
        return (a.astype("f8") * b.astype("f8") + c.astype("f8")).astype("<f4")

    def call_fma_f64(self, a, b, c):
        return (a.astype(np.longdouble) * b.astype(np.longdouble) + c).astype("<f8")

    # --- matrix instructions --------------------------------------------------------------------------------------

    def matrix(self, name, args):
        """Multiply 16 rows of the first factor by 16 columns of the second, as one of the manuals' instructions."""
        signs = (True, True)
        if ".iu" in name:
            signs, args = (bool(args[0][0, 0]), bool(args[2][0, 0])), [args[1], args[3], args[4]]
        a, b, c = (np.ascontiguousarray(x).view(np.uint8).reshape(self.wave, -1) for x in args[:3])
        kinds = kinds_of(name, signs)
        k = int(re.search(r"16x16x(4(?=f)|8(?=bf)|16|32)", name)[1])
        left = self.rows(elements(kinds[0], a), k)
        right = self.rows(elements(kinds[1], b), k)
        total = np.array(
            [[sum(x * y for x, y in zip(row, column, strict=True)) for column in right] for row in left], object
        )
        out = np.ascontiguousarray(c).view({"f32": "<f4", "f64": "<f8", "i32": "<i4"}[name.split(".")[1]]).copy()
        for lane in range(self.wave):
            for register in range(out.shape[1]):
                row = self.result_row(name, lane // 16, register)
                out[lane, register] += total[row, lane % 16]
        return out

    def rows(self, held, k):
        """16 rows of k elements: MFMA and RDNA4 spread k over groups of 16 lanes; RDNA3 wants all of it twice."""
        groups = self.wave // 16
        if held.shape[1] == k:
            low, high = held[:16], held[16:]
            assert ((low == high) | (low != low) & (high != high)).all(), "RDNA3: both halves of the wave hold the same"
            return held[:16]
        assert held.shape[1] * groups == k
        return np.concatenate([held[16 * g : 16 * g + 16] for g in range(groups)], axis=1)

    def result_row(self, name, group, register):
        if name.startswith("mfma.f64"):
            return 4 * register + group
        if name.startswith("mfma"):
            return 4 * group + register
        return 2 * register + group if RDNA3.search(name) else 8 * group + register


RDNA3 = re.compile(r"(\.v16f16|\.v16i16|\.iu8\.v8i32\.v4i32|16x16x16\.iu4\.v8i32\.v2i32)$")
"""Operands of 16 rows whole in each lane. iu4 of 16 columns: two registers there, one on RDNA4, which has 32 columns for two."""


def kinds_of(name, signs):
    if ".iu" in name:
        width = "8" if ".iu8" in name else "4"
        return ["us"[s] + width for s in signs]
    if "fp8" in name or "bf8" in name:
        return [{"fp8": "e4m3", "bf8": "e5m2"}[x] for x in re.findall(r"fp8|bf8", name)]
    for mark, kind in (
        ("bf16", "bf16"),
        ("f16.v", "f16"),
        ("16f16", "f16"),
        ("4f32", "f32"),
        ("4f64", "f64"),
        ("i8", "s8"),
    ):
        if mark in name:
            return [kind, kind]
    raise AssertionError(name)


def elements(kind, data):
    """(lanes, elements) of exact numbers in bytes."""
    if kind in ("s4", "u4"):
        data = np.stack([data & 15, data >> 4], axis=2).reshape(len(data), -1)
        return values(kind, data)
    width = {"f64": "<u8", "f32": "<u4", "f16": "<u2", "bf16": "<u2"}.get(kind, "u1")
    found = values(kind, np.ascontiguousarray(data).view(width))
    return found.astype(object) if found.dtype == object else found.astype(np.float64)
