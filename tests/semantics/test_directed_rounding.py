"""f32 sums, products and fused multiply-adds rounded toward zero, down and up: every bit, zeros' signs included, from exact arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anywarp.check.conformance import exact
from anywarp.check.conformance.rows import EDGES, matches
from semantics.devices import DEVICES

THREADS = 64
MODES = ("rz", "rm", "rp")
FORMS = [(name, mode) for name in ("add", "sub", "mul", "fma") for mode in MODES]
F = exact.FORMATS["f32"]

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b64 %a<3>;
.reg .b32 %t;
.reg .f32 %f<4>;
ld.param.u64 %a0, [in];
ld.param.u64 %a1, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %a2, %t, 12;
add.u64 %a0, %a0, %a2;
mul.wide.u32 %a2, %t, {row};
add.u64 %a1, %a1, %a2;
ld.global.f32 %f0, [%a0];
ld.global.f32 %f1, [%a0+4];
ld.global.f32 %f2, [%a0+8];
{forms}
ret;
}}
""".format(
    row=4 * len(FORMS),
    forms="\n".join(
        f"{name}.{mode}.f32 %f3, %f0, %f1{', %f2' if name == 'fma' else ''};\nst.global.f32 [%a1+{4 * n}], %f3;"
        for n, (name, mode) in enumerate(FORMS)
    ),
)

numbers = st.one_of(st.sampled_from(EDGES["f32"]), st.integers(0, (1 << 32) - 1))


@st.composite
def triples(draw):
    """Three numbers; the last often close to minus the product of the others, or far below it."""
    a, b = draw(numbers), draw(numbers)
    how = draw(st.sampled_from(("any", "cancels", "far", "sum")))
    if how == "any":
        return a, b, draw(numbers)
    if how == "sum":  # the second close to minus the first
        return a, (a ^ 0x80000000) + draw(st.integers(-2, 2)) & 0xFFFFFFFF, draw(numbers)
    product = exact.mul(F, a, b, "rz")
    if not isinstance(product, int):
        return a, b, draw(numbers)
    if how == "cancels":
        return a, b, (product ^ 0x80000000) + draw(st.integers(-3, 3)) & 0xFFFFFFFF
    exponent = max((product >> 23 & 0xFF) - draw(st.integers(20, 60)), 0)
    return a, b, draw(st.integers(0, 1)) << 31 | exponent << 23 | draw(st.integers(0, (1 << 23) - 1))


@pytest.mark.parametrize("device", DEVICES)
def test_every_bit_is_that_of_exact_arithmetic(device):
    @settings(max_examples=6, deadline=None)
    @given(st.lists(triples(), min_size=THREADS, max_size=THREADS))
    def agree(rows):
        source = np.array(rows, np.uint32)
        found = np.zeros((THREADS, len(FORMS)), np.uint32)
        DEVICES[device](KERNEL, "k", 1, THREADS, (source, found))
        for thread, (a, b, c) in enumerate(rows):
            for n, (name, mode) in enumerate(FORMS):
                operands = (a, b, c) if name == "fma" else (a, b)
                expected = getattr(exact, name)(F, *operands, mode)
                got = int(found[thread, n])
                assert matches(expected, got), (name, mode, [hex(x) for x in operands], hex(got), expected)

    agree()


EXPF = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b64 %a<3>;
.reg .b32 %t;
.reg .f32 %f<3>;
ld.param.u64 %a0, [in];
ld.param.u64 %a1, [out];
mov.u32 %t, %tid.x;
mul.wide.u32 %a2, %t, 4;
add.u64 %a0, %a0, %a2;
add.u64 %a1, %a1, %a2;
ld.global.f32 %f0, [%a0];
cvt.sat.f32.f32 %f1, %f0;
fma.rm.f32 %f2, %f1, 0f437C0000, 0f4B400001;
st.global.f32 [%a1], %f2;
ret;
}
"""


@pytest.mark.parametrize("device", DEVICES)
def test_the_whole_number_that_expf_finds_is_never_too_high(device):
    """252 x + 12582913 rounded down, x from 0 to 1: at each whole number, just below it and just above it, and anywhere."""
    whole = (np.arange(0, 253) / np.float32(252)).astype(np.float32).view(np.uint32)
    near = np.concatenate(
        [whole + np.uint32(step) for step in (0, 1, 2)] + [whole[1:] - np.uint32(step) for step in (1, 2)]
    )
    others = np.random.default_rng(5).integers(0, 1 << 32, 3000 - near.size, dtype=np.uint32)
    source = np.concatenate([near, np.array(EDGES["f32"], np.uint32), others])
    source = np.resize(source, -(-source.size // 64) * 64)
    found = np.zeros_like(source)
    for first in range(0, source.size, 64):
        part = np.zeros(64, np.uint32)
        DEVICES[device](EXPF, "k", 1, 64, (source[first : first + 64].copy(), part))
        found[first : first + 64] = part
    for bits, got in zip(source.tolist(), found.tolist(), strict=True):
        inside = exact.saturate(F, bits)
        assert matches(exact.fma(F, inside, 0x437C0000, 0x4B400001, "rm"), got), (hex(bits), hex(got))
