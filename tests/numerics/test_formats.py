"""Formats against numpy's own types, PyTorch's 8-bit floats, and the figures of the manuals."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from anywarp.numerics import formats
from spread import properties

FLOATS = st.floats(width=64, allow_nan=False)


@pytest.mark.parametrize("name", ["float16", "float32"])
@properties(200, 5000, FLOATS)
def test_rounding_is_numpys(name, value):
    with np.errstate(over="ignore"):
        wanted = np.float64(np.array(value).astype(name))
    assert float(formats.round_to(np.array(value), name)) == wanted


@properties(200, 5000, FLOATS)
def test_bfloat16_rounds_float32s_upper_half(value):
    with np.errstate(over="ignore"):
        single = np.float32(value)
    bits = int(single.view(np.uint32))
    wanted = np.uint32((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)
    assert float(formats.round_to(np.array(float(single)), "bfloat16")) == float(wanted)
    cut = np.uint32(bits & 0xFFFFE000).view(np.float32)
    if abs(single) >= 2.0**-126 and math.isfinite(single):
        assert float(formats.truncate_to(np.array(float(single)), "tf32")) == float(cut)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"])
def test_codes_are_pytorchs(name):
    import torch

    wanted = torch.arange(256, dtype=torch.uint8).view(getattr(torch, name)).float().numpy()
    assert np.array_equal(formats.codes(name), wanted, equal_nan=True)
    assert np.array_equal(np.signbit(formats.codes(name)[wanted == 0]), np.signbit(wanted[wanted == 0]))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"])
def test_rounding_to_8_bits_finds_the_nearest_code(name):
    values = np.unique(formats.codes(name)[np.isfinite(formats.codes(name))].astype(np.float64))
    form = formats.FORMATS[name]
    assert (values.max(), values[values > 0].min()) == (form.largest, form.subnormal)
    assert np.array_equal(formats.round_to(values, name), values)
    middle = (values[1:] + values[:-1]) / 2
    for shift, wanted in ((-1e-9, values[:-1]), (1e-9, values[1:])):
        near = middle + shift * np.maximum(np.abs(middle), form.subnormal)
        assert np.array_equal(formats.round_to(near, name), wanted)
    assert float(formats.round_to(np.array(1e9), name, saturate=True)) == form.largest
    assert (
        math.isinf(formats.round_to(np.array(1e9), name))
        if form.infinity
        else math.isnan(formats.round_to(np.array(1e9), name))
    )


def test_the_same_bits_mean_twice_as_much_with_ocps_flavour():
    ocp, amd = formats.codes("float8_e4m3fn"), formats.codes("float8_e4m3fnuz")
    both = np.isfinite(ocp) & np.isfinite(amd)
    assert both.sum() == 253 and np.array_equal(ocp[both], 2 * amd[both])
    assert np.isnan(amd[0x80]) and ocp[0x80] == 0
    assert amd[0x7F] == 240 and np.isnan(ocp[0x7F])
