"""TF32 as a setting: factors are rounded where torch's flags allow it, and only there."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.torch

PROGRAM = """
import json, torch
# One factor of 24 bits beside one of a few, so that a product is exact and shows how the factor was rounded.
values = [1 + 2**-11, 1 + 2**-11 - 2**-23, -(1 + 3 * 2**-11), 1 + 2**-10, 3.14159274]
column = torch.tensor(values, device="cuda").reshape(-1, 1)
one = torch.ones(1, 1, device="cuda")
image = torch.tensor(values, device="cuda").reshape(1, 1, 1, -1)
def products():
    return {
        "mm": (column @ one).flatten().tolist(),
        "addmm": torch.addmm(torch.full((1, 1), 2**-20, device="cuda"), column, one).flatten().tolist(),
        "bmm": torch.bmm(column[None], one[None]).flatten().tolist(),
        "double": (column.double() @ one.double()).flatten().tolist(),
        "conv": torch.nn.functional.conv2d(image, torch.ones(1, 1, 1, 1, device="cuda")).flatten().tolist(),
    }
found = {"off": products()}
torch.backends.cuda.matmul.allow_tf32 = True
found["on"] = products()
torch.backends.cudnn.allow_tf32 = False
found["conv off"] = products()
print(json.dumps(found))
"""

EXACT = [1 + 2**-11, 1 + 2**-11 - 2**-23, -(1 + 3 * 2**-11), 1 + 2**-10, 3.1415927410125732]
ROUNDED = [1 + 2**-10, 1.0, -(1 + 2**-9), 1 + 2**-10, 3.140625]
"""Nearest with 10 bits after the point of the mantissa, ties away from zero; worked out by hand."""


def found(under_anywarp, **env: str) -> dict[str, dict[str, list[float]]]:
    done = under_anywarp("-c", PROGRAM, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_factors_are_rounded_where_the_flags_allow_it(under_anywarp) -> None:
    results = found(under_anywarp, ANYWARP_TORCH_TF32="round")
    assert results["off"]["mm"] == EXACT
    assert results["off"]["conv"] == ROUNDED  # torch allows TF32 in convolutions by default
    assert results["on"]["mm"] == results["on"]["bmm"] == ROUNDED
    assert results["on"]["addmm"] == pytest.approx([each + 2**-20 for each in ROUNDED], rel=2**-23)
    assert results["on"]["double"] == EXACT
    assert results["conv off"]["conv"] == EXACT


def test_nothing_is_rounded_unless_asked(under_anywarp) -> None:
    results = found(under_anywarp)
    assert results["on"]["mm"] == results["on"]["conv"] == EXACT
