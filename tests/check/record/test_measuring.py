"""Statistics of PyTorch's tensors are those that NumPy gives of the same values, sampled evenly, whatever their layout."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="this machine has no torch")
pytestmark = pytest.mark.torch

from anywarp.check.numbers.statistics import LEVELS, sketch  # noqa: E402
from anywarp.check.record.torch import values  # noqa: E402
from anywarp.check.record.torch.measuring import Pending, read_all  # noqa: E402


def measured(*tensors, sample=100, seed=3, whole=False):
    return read_all([Pending(each, sample, seed, whole) for each in tensors])


def layouts(whole):
    return {
        "contiguous": whole,
        "transposed": whole.transpose(0, 2),
        "strided": whole[:, ::2],
        "expanded": whole[:1].expand(5, -1, -1),
    }


@pytest.mark.parametrize("name", layouts(torch.zeros(2, 2, 2)))
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int32])
def test_figures_are_those_of_an_even_sample(name, dtype):
    tensor = layouts((torch.randn(6, 20, 30, generator=torch.Generator().manual_seed(1)) * 50).to(dtype))[name]
    (found,) = measured(tensor)
    flat = tensor.double().contiguous().numpy().reshape(-1)
    stride = found["stride"]
    assert stride % 2 == 1 and found["run"] == 16 and found["count"] == flat.size and 48 <= found["sketched"] <= 100
    taken = flat[(np.arange(found["sketched"]) // found["run"]) * stride + np.arange(found["sketched"]) % found["run"]]
    assert flat.size - stride < (found["sketched"] // 16) * stride + 15, "to the end"
    assert found["sketch"] == pytest.approx(sketch(taken, 3), rel=1e-7, abs=1e-7)
    assert found["mean"] == pytest.approx(taken.mean(), rel=1e-9)
    assert found["rms"] == pytest.approx(np.sqrt((taken**2).mean()), rel=1e-9)
    assert (found["minimum"], found["maximum"]) == (taken.min(), taken.max())
    assert found["quantiles"] == [np.sort(taken)[min(int(level * taken.size), taken.size - 1)] for level in LEVELS]


def test_what_is_no_ordinary_number_is_counted_and_not_summed():
    odd = torch.tensor([1.0, float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40, 3.0])
    (found,) = measured(odd)
    assert [found[name] for name in ("nan", "infinite", "zeros", "subnormal")] == [1, 2, 2, 1]
    assert found["mean"] == pytest.approx(4 / 5) and found["maximum"] == 3.0
    assert found["sketch"][:8] == pytest.approx(sketch(odd.double().numpy(), 3)[:8])


def test_one_infinite_value_of_a_result_is_seen_though_no_sample_has_it():
    large = torch.zeros(1001)
    large[20] = float("inf")
    (inner,), (outer,) = measured(large), measured(large, whole=True)
    assert inner["infinite"] == 0 and outer["infinite"] == 1 and outer["nan"] == 0


def test_a_sample_is_of_the_moment_and_each_tensor_has_its_own():
    tensors = [torch.full((40,), float(n)) for n in range(3)] + [
        torch.zeros(0),
        torch.ones(3, dtype=torch.complex64),
        torch.full((9,), 7.0),
    ]
    pending = [Pending(each, 100, 0, False) for each in tensors]
    for each in tensors:
        each.fill_(99)
    found = read_all(pending)
    assert [each.get("mean") for each in found] == [0.0, 1.0, 2.0, None, None, 7.0]


def test_a_sample_touches_no_more_than_itself(monkeypatch):
    """A tensor in another layout is not copied as a whole."""
    largest = 0
    original = torch.Tensor.to

    def to(self, *given, **named):
        nonlocal largest
        largest = max(largest, self.untyped_storage().nbytes())
        return original(self, *given, **named)

    monkeypatch.setattr(torch.Tensor, "to", to)
    tensor = torch.randn(64, 64, 64).transpose(0, 2)
    Pending(tensor, 1000, 0, False)
    assert 0 < largest <= 4 * 1000
    assert values.plain(tensor)[0] is not None
