"""Constant expressions have the values that NVIDIA's assembler gives them.

The values were recorded by assembling `.global .u64 x = EXPRESSION;` with ptxas 13.0 and reading the initialised data.
"""

import math
import struct

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.ptx.parser import parse_module
from anywarp.ptx.tree import Float, Integer

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
WHOLE = (1 << 64) - 1

RECORDED = """
1+2*3 = 7
-5 = 18446744073709551611
-5U = 18446744073709551611
~0 = 18446744073709551615
~0 / 2 = 9223372036854775807
!0 = 1
!7 = 0
7 / 2 = 3
-7 / 2 = 18446744073709551613
-7 % 3 = 0
7 % 3 = 1
-7U / 2 = 9223372036854775804
0xFFFFFFFFFFFFFFFF / 2 = 9223372036854775807
0x8000000000000000 / 2 = 4611686018427387904
9223372036854775808 / 2 = 4611686018427387904
-9223372036854775808 = 9223372036854775808
(-1) >> 1 = 18446744073709551615
-1U >> 1 = 9223372036854775807
1 << 63 = 9223372036854775808
1 << 64 = 1
(-8) >> 100 = 18446744073709551615
-1 < 0U = 0
-1 < 0 = 1
1 < 2 && 3 > 4 = 0
5 || 0 = 1
5 & 3 = 1
-1 & 0xF0 = 240
6 ^ 3 = 5
6 | 1 = 7
1 ? -1 : 2U = 18446744073709551615
0 ? 5 : 7 = 7
1 ? 2 : 0 ? 3 : 4 = 2
(.u64)-1 / 2 = 9223372036854775807
(.s64)0xFFFFFFFFFFFFFFFF / 2 = 0
WARP_SZ = 32
WARP_SZ * 2 + 1 = 65
0b101 = 5
017 = 15
0x1F = 31
(1+2)*(3+4) = 21
10 - 3 - 2 = 5
1 << 2 + 3 = 32
-3 * 5U = 18446744073709551601
~5 % 7 = 3
- -5 = 5
!~0 = 0
1-2 = 18446744073709551615
100 / 7 * 7 = 98
5 % -3 = 5
-1 >= 0U = 1
2 >= 1 == 1 = 1
"""


def initial(text, type_="u64"):
    (variable,) = parse_module(f"{HEAD}.global .{type_} x = {text};\n").items
    return variable.initial


@pytest.mark.parametrize("line", RECORDED.strip().splitlines())
def test_recorded_value(line):
    expression, _, value = line.rpartition(" = ")
    folded = initial(expression)
    assert isinstance(folded, Integer)
    assert folded.value & WHOLE == int(value)


@pytest.mark.parametrize("value", [0.0, 1.0, 1.5, 0.1, 1e300, 3.0e-5, 123456.789])
def test_decimal_floats_are_doubles(value):
    assert initial(repr(value), "f64") == Float(struct.unpack("<Q", struct.pack("<d", value))[0], 64)
    assert initial("-" + repr(value), "f64").bits >> 63 == 1


def test_floats_are_kept_as_bits():
    assert initial("0f7FC00001", "f32") == Float(0x7FC00001, 32)
    assert initial("0dFFF0000000000000", "f64") == Float(0xFFF0000000000000, 64)


def test_float_arithmetic():
    half = struct.unpack("<Q", struct.pack("<d", 0.5))[0]
    assert initial("1.0/2.0", "f64") == Float(half, 64)
    assert initial("2 * 0.25", "f64") == Float(half, 64)
    assert initial("1.0 < 2.0") == Integer(1)
    overflow = initial("1e308 * 10.0", "f64")
    assert overflow.bits == struct.unpack("<Q", struct.pack("<d", math.inf))[0]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1 / 0", "P009"), ("1 % 0", "P009"), ("1.0 / 0", "P009"), ("1.0 % 2.0", "P009"), ("0f3F800000 + 1.0", "P009"),
        ("~1.5", "P009"), ("08", "P004"), ("0x", "P004"), ("0b12", "P004"), ("0f3F8", "P004"), ("0d123", "P004"),
        ("18446744073709551616", "P004"), ("9" * 5000, "P004"), ("0x" + "F" * 5000, "P004"), ("1 +", "P001"), ("(1", "P001"),
        ("1 ? 2", "P001"), ("()", "P001"), ("{1, 2,}", "P001"), ("{1,, 2}", "P001"), ("{08}", "P004"), ("{1 2}", "P001"),
        ("{99999999999999999999}", "P004"),
    ],
)  # fmt: skip
def test_refused(text, code):
    with pytest.raises(AnywarpError) as caught:
        initial(text)
    assert caught.value.diagnostic.code == code


@pytest.mark.parametrize(
    "text", ["(" * 100_000 + "1" + ")" * 100_000, "-" * 100_000 + "1", "1?" * 100_000 + "1", "(.u64)" * 100_000]
)
def test_deep_expressions_are_refused(text):
    with pytest.raises(AnywarpError) as caught:
        initial(text)
    assert caught.value.diagnostic.code == "P005"
