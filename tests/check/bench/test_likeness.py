"""What may not be compared is refused by the name of what differs."""

import pytest

from anywarp.check.bench import likeness
from anywarp.diagnostics import AnywarpError

ALIKE = {
    "form": "model", "model": "d1", "dtype": "bfloat16", "sizes": {"batch": 8, "length": 128}, "inputs": ["x:f32[batch,length]"],
    "compile": False, "graphs": False, "ranks": 1, "tf32": False, "versions": {"torch": "2.13.0", "python": "3.11"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "d2"}, "model: d1 and d2"),
        ({"dtype": "float16"}, "dtype: bfloat16 and float16"),
        ({"sizes": {"batch": 4, "length": 128}}, "sizes batch: 8 and 4"),
        ({"graphs": True}, "graphs: False and True"),
        ({"compile": True}, "compile: False and True"),
        ({"versions": {"torch": "2.14.0", "python": "3.11"}}, "versions torch: 2.13.0 and 2.14.0"),
        ({"versions": {"torch": "2.13.0", "python": "3.11", "vllm": "0.9"}}, "versions vllm: none and 0.9"),
        ({"prompts": "p2"}, "prompts: none and p2"),
        ({"form": "endpoint", "model": "d2"}, "form: model and endpoint"),
    ],
)
def test_each_difference_is_named(change, said):
    with pytest.raises(AnywarpError) as caught:
        likeness.require(ALIKE, {**ALIKE, **change}, anyway=False)
    diagnostic = caught.value.diagnostic
    assert diagnostic.code == "V033" and diagnostic.message == f"the two sides are not alike: {said}"
    assert likeness.require(ALIKE, {**ALIKE, **change}, anyway=True) == [said]


def test_what_is_alike_is_let_pass():
    assert likeness.require(ALIKE, dict(ALIKE), anyway=False) == []


def test_builds_for_two_vendors_are_one_release():
    cuda = {"torch": "2.13.0+cu130", "python": "3.11.7", "numpy": "2.4.6", "triton": "3.9.0"}
    rocm = {"torch": "2.13.0+rocm7.2", "python": "3.11.9", "numpy": "2.1.0", "triton": "3.9.0+gitabc"}
    assert likeness.versions_alike(cuda) == likeness.versions_alike(rocm) == {"torch": "2.13.0", "python": "3.11", "triton": "3.9.0"}  # fmt: skip
