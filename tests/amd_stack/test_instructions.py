"""Instructions that the emulator had wrong, one by one through HIP: values by AMD's manuals, in whole numbers and fractions."""

import math
import struct
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from amd_stack import stack, translated
from amd_stack.cards import CARDS

pytestmark = [pytest.mark.amd_stack]
SOURCE = Path(__file__).with_name("instructions.hip")
RANDOM = np.random.default_rng(9)


def of_float(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def to_float(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def of_double(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """Return a function that gives the results of an instruction for rows of operands' bits."""
    folder = tmp_path_factory.mktemp("instructions")

    def run(name, card, rows):
        if not stack.emulated(card):
            pytest.skip(f"the emulator was built without {CARDS[card][1]}")
        program = folder / card
        if not program.exists():
            command = [*translated.compiler(card), "-std=c++17", SOURCE, "-o", program]
            library = [f"-L{stack.PLACE}/debian/usr/lib/x86_64-linux-gnu", "-lamdhip64"]
            done = subprocess.run([*map(str, command), *library], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        whole = rows + [rows[0]] * (-len(rows) % 64)
        given = folder / "rows"
        given.write_text("".join(f"{a:x} {b:x}\n" for a, b in whole))
        done = stack.run(["bash", "-c", f"exec {program} {name} <{given}"], card)
        assert done.returncode == 0, done.stdout + done.stderr
        return [int(line, 16) for line in done.stdout.split()][: len(rows)]

    return run


both = pytest.mark.parametrize("card", ["gfx942", "gfx1100"])


def two_over_pi(places):
    """Return so many binary places of 2/pi, by Machin's formula."""
    one = 1 << places + 64

    def arctangent(n):  # of 1/n
        return sum((-1) ** k * one // ((2 * k + 1) * n ** (2 * k + 1)) for k in range(places))

    pi = 16 * arctangent(5) - 4 * arctangent(239)
    return 2 * one * one // pi >> 64


@both
def test_segments_of_two_over_pi(executed, card):
    """CDNA3 ISA, V_TRIG_PREOP_F64."""
    numbers = [1.0, -3e-5, 2.0**54, 2.0**55, 1e22, -1e100, 2.0**944, 2.0**945, 1.7e308, 5e-324]
    rows = [(of_double(number), segment) for number in numbers for segment in range(32)]
    digits = two_over_pi(1201)
    wanted = []
    for bits, segment in rows:
        exponent = bits >> 52 & 0x7FF
        shift = 53 * segment + max(exponent - 1077, 0)
        found = (digits << shift >> 1201 - 53) & (1 << 53) - 1
        scale = -53 - shift + (128 if exponent >= 1968 else 0)
        steps = found << scale + 1074 if scale >= -1074 else found >> -1074 - scale  # of the least denormal number
        wanted.append(of_double(float(Fraction(steps, 1 << 1074))))
    assert executed("segment", card, rows) == wanted


@both
@pytest.mark.parametrize("name", ["greater", "lesser"])
def test_the_greater_of_zeros_is_positive(executed, card, name):
    """CDNA3 ISA, V_MAX_F32, V_MIN_F32: a NaN is left out, -0 is less than +0."""
    special = [0.0, -0.0, 1.5, -2.5, math.inf, -math.inf, math.nan, 1e-42]
    pairs = [(a, b) for a in special for b in special if not math.isnan(a) or not math.isnan(b)]
    choose = max if name == "greater" else min

    def of(a, b):
        if math.isnan(a) or math.isnan(b):
            return b if math.isnan(a) else a
        return choose((a, b), key=lambda value: (value, math.copysign(1, value)))

    rows = [(of_float(a), of_float(b)) for a, b in pairs]
    assert executed(name, card, rows) == [of_float(of(a, b)) for a, b in pairs]


@both
def test_clamp_makes_positive_zero_of_negative_zero_and_nan(executed, card):
    """CDNA3 ISA, output modifiers, and MODE.DX10_CLAMP, which is on in every kernel for HSA."""
    given = [-0.0, 0.0, math.nan, 0.25, 1.0, 1.5, -3.0, math.inf, -math.inf]
    wanted = [0.0, 0.0, 0.0, 0.25, 1.0, 1.0, 0.0, 1.0, 0.0]
    found = executed("clamped", card, [(of_float(value), of_float(1.0)) for value in given])
    assert found == [of_float(value) for value in wanted]


def rounded(value, how):
    """Round a fraction to float as the mode says."""
    near = np.float32(float(value))  # doubles hold sums of these floats exactly
    if Fraction(float(near)) == value:
        return float(near)
    above = Fraction(float(near)) > value
    up = near if above else np.nextafter(near, np.float32(np.inf))
    down = np.nextafter(near, np.float32(-np.inf)) if above else near
    return float({"up": up, "down": down, "to_zero": down if value > 0 else up}[how])


@both
@pytest.mark.parametrize("how", ["to_zero", "up", "down"])
def test_a_sum_rounds_as_mode_says(executed, card, how):
    """CDNA3 ISA, MODE.FP_ROUND."""
    a = RANDOM.standard_normal(128).astype(np.float32)
    b = (RANDOM.standard_normal(128) * 2.0 ** RANDOM.integers(-20, 20, 128)).astype(np.float32)
    wanted = [of_float(rounded(Fraction(float(x)) + Fraction(float(y)), how)) for x, y in zip(a, b, strict=True)]
    rows = [(of_float(float(x)), of_float(float(y))) for x, y in zip(a, b, strict=True)]
    assert executed(how, card, rows) == wanted


@both
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_quotients_are_rounded_right(executed, card, kind):
    """What V_DIV_SCALE, V_DIV_FMAS and V_DIV_FIXUP make together is IEEE 754's quotient, by the processor's own division."""
    bits, word = (32, np.uint32) if kind == np.float32 else (64, np.uint64)
    top = np.finfo(kind).maxexp
    exponents = np.concatenate(
        [RANDOM.integers(1 - top, top, (2, 400)), RANDOM.integers(top - 8, top, (2, 50)) * [[1], [-1]]], 1
    )
    a, b = np.ldexp(RANDOM.uniform(1, 2, exponents.shape).astype(kind), exponents - 1).astype(kind)
    with np.errstate(all="ignore"):
        wanted = (a / b).view(word)
    name = "quotient" if bits == 32 else "double_quotient"
    rows = [(int(x), int(y)) for x, y in zip(a.view(word), b.view(word), strict=True)]
    assert executed(name, card, rows) == wanted.tolist()


def test_a_packed_move_takes_what_op_sel_says(executed):
    """CDNA3 ISA, V_PK_MOV_B32: the lower half from S0 by OP_SEL[0], the upper from S1 by OP_SEL[1]."""
    rows = [(int(a), int(b)) for a, b in RANDOM.integers(0, 1 << 63, (64, 2))]
    assert executed("swapped", "gfx942", rows) == [a >> 32 | (b & 0xFFFFFFFF) << 32 for a, b in rows]
