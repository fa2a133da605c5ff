"""Instructions that the emulator had wrong, one by one through HIP: values by AMD's manuals, in whole numbers and fractions."""

import math
import struct
import subprocess
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from amd_stack import stack, translated
from amd_stack.cards import CARDS

pytestmark = [pytest.mark.amd_stack]
SOURCE = Path(__file__).with_name("instructions.hip")


def of_float(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def of_double(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def two_over_pi(places):
    """Return so many binary places of 2/pi, by Machin's formula."""
    one = 1 << places + 64

    def arctangent(n):  # of 1/n
        return sum((-1) ** k * one // ((2 * k + 1) * n ** (2 * k + 1)) for k in range(places))

    pi = 16 * arctangent(5) - 4 * arctangent(239)
    return 2 * one * one // pi >> 64


def segment():
    """V_TRIG_PREOP_F64: 53 bits of 2/pi (CDNA3 ISA, VOP3 opcodes)."""
    numbers = [1.0, -3e-5, 2.0**54, 2.0**55, 1e22, -1e100, 2.0**944, 2.0**945, 1.7e308, 5e-324]
    digits = two_over_pi(1201)
    for bits in map(of_double, numbers):
        exponent = bits >> 52 & 0x7FF
        for n in range(32):
            shift = 53 * n + max(exponent - 1077, 0)
            found = (digits << shift >> 1201 - 53) & (1 << 53) - 1
            scale = 1074 - 53 - shift + (128 if exponent >= 1968 else 0)  # of the least denormal number
            yield bits, n, of_double(float(Fraction(found << scale if scale >= 0 else found >> -scale, 1 << 1074)))


def extreme(choose):
    """V_MAX_F32 and V_MIN_F32: a NaN is left out, -0 is less than +0 (CDNA3 ISA)."""
    special = [0.0, -0.0, 1.5, -2.5, math.inf, -math.inf, math.nan, 1e-42]
    for a in special:
        for b in special:
            if not math.isnan(a) and not math.isnan(b):
                yield of_float(a), of_float(b), of_float(choose((a, b), key=lambda x: (x, math.copysign(1, x))))
            elif not math.isnan(a) or not math.isnan(b):
                yield of_float(a), of_float(b), of_float(b if math.isnan(a) else a)


def clamped():
    """CLAMP makes +0 of -0 and, under MODE.DX10_CLAMP, which is on in every kernel for HSA, of NaN (CDNA3 ISA, output modifiers)."""
    given = [-0.0, 0.0, math.nan, 0.25, 1.0, 1.5, -3.0, math.inf, -math.inf]
    wanted = [0.0, 0.0, 0.0, 0.25, 1.0, 1.0, 0.0, 1.0, 0.0]
    for a, result in zip(given, wanted, strict=True):
        yield of_float(a), of_float(1.0), of_float(result)


def rounded(value, how):
    """Round a fraction to float in a direction."""
    near = np.float32(float(value))  # doubles hold sums of these floats exactly
    if Fraction(float(near)) == value:
        return float(near)
    above = Fraction(float(near)) > value
    up = near if above else np.nextafter(near, np.float32(np.inf))
    down = np.nextafter(near, np.float32(-np.inf)) if above else near
    return float({"up": up, "down": down, "to_zero": down if value > 0 else up}[how])


def summed(how):
    """V_ADD_F32 as MODE.FP_ROUND says (CDNA3 ISA)."""
    random = np.random.default_rng(9)
    a = random.standard_normal(128).astype(np.float32)
    b = (random.standard_normal(128) * 2.0 ** random.integers(-20, 20, 128)).astype(np.float32)
    for x, y in zip(map(float, a), map(float, b), strict=True):
        yield of_float(x), of_float(y), of_float(rounded(Fraction(x) + Fraction(y), how))


def quotient(kind, word):
    """What V_DIV_SCALE and V_DIV_FMAS make is IEEE 754's quotient, by the processor's own division. Those that overflow are left out: the emulator's V_DIV_FIXUP lets NaN pass."""
    random, top = np.random.default_rng(10), np.finfo(kind).maxexp
    far = random.integers(top - 8, top, (2, 50)) * [[1], [-1]]
    exponents = np.concatenate([random.integers(1 - top, top, (2, 400)), far, -far], 1)
    a, b = np.ldexp(random.uniform(1, 2, exponents.shape).astype(kind), exponents - 1).astype(kind)
    with np.errstate(all="ignore"):
        wanted = (a / b).view(word)
    fits = np.isfinite(wanted.view(kind))
    yield from zip(*(each.view(word)[fits].tolist() for each in (a, b, wanted)), strict=True)


def swapped():
    """V_PK_MOV_B32: the lower half from S0 by OP_SEL[0], the upper from S1 by OP_SEL[1] (CDNA3 ISA, VOP3P opcodes)."""
    for a, b in np.random.default_rng(11).integers(0, 1 << 63, (64, 2)).tolist():
        yield a, b, a >> 32 | (b & 0xFFFFFFFF) << 32


def placed():
    """S_FF1_I32_B32 leaves SCC as the comparison before it made it (CDNA3 ISA, SOP1 opcodes). Scalars: all 64 rows of a block are one."""
    for a, place in ((64, 6), (1, 0), (0x80000000, 31), (0, 0xFFFFFFFF)):
        for b in (0, 5):
            yield from [(a, b, (b == 0) << 32 | place)] * 64


def by_vcc():
    """VCC is scalar registers 106 and 107 of addresses and of loads, too (CDNA3 ISA, scalar operands)."""
    for a in (3, 1 << 63 | 5, 0x123456789ABCDEF0):
        yield from [(a, 0, a)] * 64


def sixth():
    """A literal of 32 bits is the upper half of a double (RDNA3 ISA, literal constants), in V_DIV_SCALE_F64 too: the processor's own quotient by 6."""
    for a in np.random.default_rng(12).uniform(-1e6, 1e6, 64).tolist():
        yield of_double(a), 0, of_double(a / 6.0)


ROWS = {
    "placed": placed,
    "sixth": sixth,
    "by_vcc": by_vcc,
    "segment": segment,
    "greater": lambda: extreme(max),
    "lesser": lambda: extreme(min),
    "clamped": clamped,
    "to_zero": lambda: summed("to_zero"),
    "up": lambda: summed("up"),
    "down": lambda: summed("down"),
    "quotient": lambda: quotient(np.float32, np.uint32),
    "double_quotient": lambda: quotient(np.float64, np.uint64),
    "swapped": swapped,
}
"""By the names of instructions.hip: operands and what they give."""


@cache
def rows():
    return {name: list(make()) for name, make in ROWS.items()}


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """Return a function that gives a card's results of all rows, by instruction; the card is asked once."""
    folder = tmp_path_factory.mktemp("instructions")

    @cache
    def run(card):
        command = [*translated.compiler(card), "-std=c++17", SOURCE, "-o", folder / card]
        libraries = [f"-L{stack.PLACE}/debian/usr/lib/x86_64-linux-gnu", "-lamdhip64"]
        done = subprocess.run([*map(str, command), *libraries], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        lines = (f"{name} {a:x} {b:x}\n" for name, each in rows().items() for a, b, _ in each)
        (folder / "rows").write_text("".join(lines))
        done = stack.run(["bash", "-c", f"exec {folder / card} <{folder / 'rows'}"], card)
        assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
        found = {name: [] for name in ROWS}
        for line in done.stdout.splitlines():
            name, _, bits = line.partition(" ")
            found[name].append(int(bits, 16))
        return found

    return run


@pytest.mark.parametrize(
    ("card", "name"), [("gfx942", name) for name in ROWS] + [("gfx1100", name) for name in ROWS if name != "swapped"]
)
def test_an_instruction_gives_what_the_manual_says(card, name, executed):
    if not stack.emulated(card):
        pytest.skip(f"the emulator was built without {CARDS[card][1]}")
    found = executed(card)[name]
    assert len(found) == len(rows()[name])
    wrong = [(hex(a), hex(b), hex(got), hex(r)) for got, (a, b, r) in zip(found, rows()[name], strict=True) if got != r]
    assert not wrong, f"{len(wrong)} of {len(found)}; operands, result, wanted: {wrong[:4]}"
