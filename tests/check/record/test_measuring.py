"""Statistics of PyTorch's tensors are those that NumPy gives of the same values, sampled evenly, whatever their layout."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="this machine has no torch")
pytestmark = pytest.mark.torch

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

from anywarp.check.numbers.statistics import LEVELS, sketch  # noqa: E402
from anywarp.check.record.torch import values  # noqa: E402
from anywarp.check.record.torch.measuring import Samples  # noqa: E402


def measured(*tensors, sample=100, seed=3, whole=False):
    samples = Samples(sample, seed)
    pending = [samples.take(each, whole) for each in tensors]
    samples.read()
    return [each.statistics for each in pending]


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
    assert (
        (stride % 2 == 1 or stride % 32 == 16)
        and found["run"] == 16
        and found["count"] == flat.size
        and 48 <= found["sketched"] <= 100
    )
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
    samples = Samples(100, 0)
    pending = [samples.take(each, False) for each in tensors]
    for each in tensors:
        each.fill_(99)
    samples.read()
    assert [each.statistics.get("mean") for each in pending] == [0.0, 1.0, 2.0, None, None, 7.0]


class Watched(TorchDispatchMode):
    """Sees how large the memory is that is newly used by what is done within."""

    def __init__(self, known):
        super().__init__()
        self.known, self.most = known, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for each in tree_leaves(out):
            if isinstance(each, torch.Tensor) and each.untyped_storage().data_ptr() not in self.known:
                self.most = max(self.most, each.untyped_storage().nbytes())
        return out


@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
def test_a_sample_touches_no_more_than_itself(layout):
    """A tensor in another layout is not copied as a whole, and what is laid aside lies together, where it lay in the call before."""
    samples = Samples(1000, 0)
    first = samples.take(torch.ones(3))
    samples.read()
    tensor = torch.randn(64, 64, 64)
    tensor = tensor.transpose(0, 2) if layout == "transposed" else tensor
    with Watched({each.untyped_storage().data_ptr() for each in (tensor, first.sample[0])}) as watched:
        pending = samples.take(tensor, False)
    assert pending.sketched > 900 and watched.most <= 8 * 1000
    assert values.plain(tensor)[0] is not None


@pytest.mark.parametrize("shape", [(64, 768), (1000, 512), (3, 41, 4096)])
def test_a_sample_of_a_large_tensor_has_all_columns_and_rows_alike(shape):
    places = torch.arange(torch.Size(shape).numel(), dtype=torch.float64).reshape(shape)
    samples = Samples(2048, 0)
    pending = samples.take(places, False)
    taken = pending.sample[0][: pending.sketched].view(-1, 16)
    samples.read()
    assert 1800 <= pending.sketched <= 2048 and ((taken - taken[:, :1]) == torch.arange(16)).all()
    columns, rows = taken[:, 0] % shape[-1] // 16, taken[:, 0] // shape[-1]
    assert len(columns.unique()) >= min(shape[-1] // 16, 128) // 3
    assert rows.unique().diff().max() <= 2 * max(1, rows.max() // len(rows))


def test_samples_lie_in_memory_that_outlives_inference_mode():
    samples = Samples(100, 0)
    with torch.inference_mode():
        samples.take(torch.ones(5))
        samples.read()
    pending = samples.take(torch.full((5,), 2.0))
    samples.read()
    assert pending.statistics["mean"] == 2.0


def test_more_samples_than_have_room_in_one_piece_are_kept_apart():
    samples = Samples(1 << 20, 0)
    pending = [samples.take(torch.full((100_000,), float(n)), False) for n in range(7)]
    samples.read()
    assert [each.statistics["mean"] for each in pending] == [float(n) for n in range(7)]
    assert len({id(each.sample[0]) for each in pending}) > 1
