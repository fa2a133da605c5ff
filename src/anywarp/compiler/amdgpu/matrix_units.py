"""The matrix instructions of AMD's GPUs: what they multiply, and which lane holds which element of D.

All of them multiply 16 rows by 16 columns. How the columns of A (rows of B) are spread over lanes and registers is the same for A and B,
so it does not matter to a product. Sources: the instruction set manuals of CDNA1 to CDNA4 ("Matrix Arithmetic Instructions"), RDNA3 and
RDNA4 ("Wave Matrix Multiply Accumulate"), AMD's matrix instruction calculator, and LLVM's IntrinsicsAMDGPU.td.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.compiler.amdgpu.architectures import Architecture

SIDE = 16
"""Rows and columns of what one instruction multiplies."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A matrix instruction. `element` is what it multiplies, `held` its type of sums (f32, f64, s32).

    `operand` is the LLVM type of A and B in `registers` 32-bit registers, whose columns are spread over `groups` groups of lanes.
    `rows` names how D lies: "blocks" (lane 16q + j, register r: row 4q + r), "strides" (row 4r + q), "pairs" (wave32, lane
    16h + j: row 2r + h), "halves" (row 8h + r). `form` writes the call.
    """

    intrinsic: str
    element: str
    held: str
    operand: str
    registers: int
    groups: int
    rows: str
    form: str = "mfma"

    @property
    def wave(self) -> int:
        """Lanes that take part."""
        return 64 if self.form == "mfma" else 32

    @property
    def results(self) -> int:
        """Registers of D in each lane (of 64 bits each for f64)."""
        return SIDE * SIDE // self.wave

    def row(self, lane: int, register: int) -> int:
        """Return the row of D in a lane's register; its column is the lane's number modulo 16."""
        group = lane // SIDE
        if self.rows == "blocks":
            return 4 * group + register
        if self.rows == "strides":
            return 4 * register + group
        return 2 * register + group if self.rows == "pairs" else 8 * group + register


def _mfma(name: str, element: str, held: str, operand: str, registers: int) -> Unit:
    return Unit(
        f"llvm.amdgcn.mfma.{name}", element, held, operand, registers, 4, "strides" if held == "f64" else "blocks"
    )


def _wmma(name: str, element: str, held: str, operand: str, registers: int, groups: int, form: str = "wmma") -> Unit:
    return Unit(
        f"llvm.amdgcn.wmma.{name}",
        element,
        held,
        operand,
        registers,
        groups,
        "pairs" if groups == 1 else "halves",
        form,
    )


_F16 = _mfma("f32.16x16x16f16", "f16", "f32", "<4 x half>", 2)
_BF16 = _mfma("f32.16x16x16bf16.1k", "bf16", "f32", "<4 x i16>", 2)
_BF16_OLD = _mfma("f32.16x16x8bf16", "bf16", "f32", "<2 x i16>", 1)
_F32 = _mfma("f32.16x16x4f32", "f32", "f32", "float", 1)
_I8_OLD = _mfma("i32.16x16x16i8", "s8", "s32", "i32", 1)
_I8 = _mfma("i32.16x16x32.i8", "s8", "s32", "i64", 2)
_F64 = _mfma("f64.16x16x4f64", "f64", "f64", "double", 1)
_FP8 = tuple(
    _mfma(f"f32.16x16x32.{a}.{b}", f"{x} {y}", "f32", "i64", 2)
    for a, x in (("fp8", "e4m3"), ("bf8", "e5m2"))
    for b, y in (("fp8", "e4m3"), ("bf8", "e5m2"))
)
_CDNA3 = (_F16, _BF16, _F32, _I8, _F64)
_RDNA3 = (
    _wmma("f32.16x16x16.f16.v8f32.v16f16", "f16", "f32", "<16 x half>", 8, 1),
    _wmma("f32.16x16x16.bf16.v8f32.v16i16", "bf16", "f32", "<16 x i16>", 8, 1),
    _wmma("i32.16x16x16.iu8.v8i32.v4i32", "i8", "s32", "<4 x i32>", 4, 1, "wmma integer"),
    _wmma("i32.16x16x16.iu4.v8i32.v2i32", "i4", "s32", "<2 x i32>", 2, 1, "wmma integer"),
)
_RDNA4 = (
    _wmma("f32.16x16x16.f16.v8f32.v8f16", "f16", "f32", "<8 x half>", 4, 2),
    _wmma("f32.16x16x16.bf16.v8f32.v8i16", "bf16", "f32", "<8 x i16>", 4, 2),
    _wmma("i32.16x16x16.iu8.v8i32.v2i32", "i8", "s32", "<2 x i32>", 2, 2, "wmma integer"),
    _wmma("i32.16x16x32.iu4.v8i32.v2i32", "i4", "s32", "<2 x i32>", 2, 2, "wmma integer"),
    *(
        _wmma(f"f32.16x16x16.{a}.{b}.v8f32.v2i32", f"{x} {y}", "f32", "<2 x i32>", 2, 2)
        for a, x in (("fp8", "e4m3"), ("bf8", "e5m2"))
        for b, y in (("fp8", "e4m3"), ("bf8", "e5m2"))
    ),
)
_UNITS: dict[str, tuple[Unit, ...]] = {
    "CDNA": (_F16, _BF16_OLD, _F32, _I8_OLD),
    "CDNA2": (_F16, _BF16, _F32, _I8_OLD, _F64),
    "CDNA3": _CDNA3,
    "CDNA4": (*_CDNA3, *_FP8),
}


def units_of(arch: Architecture) -> tuple[Unit, ...]:
    """Return the matrix instructions of an architecture that are used.

    gfx942 has fp8 too, but of another format (FNUZ): there, and where there is none, fp8 becomes f16, which holds every value of it.
    """
    if arch.matrix == "wmma":
        return _RDNA3 if arch.generation == 11 else _RDNA4
    return _UNITS.get(arch.family, ())


@dataclass(frozen=True, slots=True)
class Choice:
    """How elements get into an instruction: `split` turns a register that was moved into several, the same way for A and B."""

    unit: Unit
    split: str = ""

    @property
    def parts(self) -> int:
        """Registers of the instruction made of one that was moved."""
        return 2 if self.split in ("fp8", "nibbles") else 1


def choose(arch: Architecture, a: str, b: str) -> Choice | None:
    """Return how A and B of these types are multiplied, or None: by ordinary instructions.

    tf32 goes in as f32 where that is multiplied: its products are exact in f32, and so not less than what the manual asks for.
    """
    known = {unit.element: unit for unit in units_of(arch)}
    if f"{b} {a}" in known:  # B goes in first
        return Choice(known[f"{b} {a}"])
    if a in ("e4m3", "e5m2"):
        return Choice(known["f16"], "fp8") if "f16" in known else None
    if a == "tf32":
        return Choice(known["f32"], "tf32") if "f32" in known else None
    if a in ("u8", "s8"):
        found = known.get("i8") or known.get("s8")
        return found and Choice(found)
    if a in ("u4", "s4"):
        return Choice(known["i4"]) if "i4" in known else Choice(known["s8"], "nibbles") if "s8" in known else None
    return Choice(known[a]) if a in known and a != "b1" else None
