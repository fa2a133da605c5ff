"""How the inputs of `anywarp export` are described, and how far two right answers may lie apart. No PyTorch."""

import math

import numpy as np
import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.frameworks.export import inputs, judging


def test_a_description_gives_type_sizes_and_axes():
    request = inputs.read(["x:f32[batch=4,3,8]", "tokens:i64[batch, length]<30", "flag:bool[]"])
    assert request.axes == {"batch": 4, "length": inputs.SAMPLE}
    arrays = inputs.samples(request, request.axes, 0)
    assert [(name, array.dtype.name, array.shape) for name, array in arrays.items()] == [
        ("x", "float32", (4, 3, 8)), ("tokens", "int64", (4, 2)), ("flag", "bool", ()),
    ]  # fmt: skip
    many = inputs.samples(request, {"batch": 40, "length": 50}, 0)["tokens"]
    assert set(np.unique(many)) == set(range(30))


def test_the_sizes_compared_are_the_samples_each_axis_alone_all_of_them_and_those_wanted():
    request = inputs.read(["x:f32[batch,3,length=7]"])
    assert inputs.other_sizes(request, [{"batch": 1}, {"batch": 3}]) == [
        {"batch": 2, "length": 7}, {"batch": 3, "length": 7}, {"batch": 2, "length": 8}, {"batch": 4, "length": 10}, {"batch": 1, "length": 7},
    ]  # fmt: skip
    assert inputs.other_sizes(inputs.read(["x:f32[3]"])) == [{}]


def test_arrays_of_a_file_are_repeated_and_cut(tmp_path):
    np.savez(tmp_path / "s.npz", x=np.arange(6, dtype=np.float32).reshape(2, 3))
    request = inputs.read([str(tmp_path / "s.npz")], ["x.0=batch"])
    assert request.axes == {"batch": 2}
    assert inputs.samples(request, {"batch": 3}, 0)["x"].tolist() == [[0, 1, 2], [3, 4, 5], [0, 1, 2]]
    assert inputs.samples(request, {"batch": 1}, 0)["x"].tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["x"], "no description of an input"),
        (["x:f99[2]"], "types are f16"),
        (["x:f32[2,,3]"], "no size and no name"),
        (["x:f32[-1]"], "no size and no name"),
        (["x:f32[n=2,n=3]"], "the axis n has the sizes 2 and 3"),
        (["x:f32[2]", "x:f32[2]"], "given twice"),
        (["absent.npz"], "absent.npz cannot be read"),
    ],
)
def test_a_description_that_fits_not_is_refused(texts, said):
    with pytest.raises(AnywarpError, match=r"F014") as caught:
        inputs.read(texts)
    assert said in str(caught.value)


def test_files_that_are_no_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "pickled.npz", x=np.array([{}], dtype=object))
    np.savez(tmp_path / "text.npz", x=np.array(["a"]))
    whole = tmp_path / "whole.npz"
    np.savez(whole, x=np.zeros(100))
    (tmp_path / "cut.npz").write_bytes(whole.read_bytes()[:200])
    (tmp_path / "noise.npz").write_bytes(b"PK\x03\x04" + bytes(50))
    np.save(tmp_path / "one", np.zeros(3))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    for name in ("pickled", "text", "cut", "noise", "one"):
        with pytest.raises(AnywarpError, match="F014"):
            inputs.read([str(tmp_path / f"{name}.npz")])


@pytest.mark.parametrize("text", ["x", "x.0=", "y.0=n", "x.5=n"])
def test_an_axis_that_is_not_there_is_refused(text, tmp_path):
    np.savez(tmp_path / "s.npz", x=np.zeros((2, 3)))
    with pytest.raises(AnywarpError, match="F014"):
        inputs.read([str(tmp_path / "s.npz")], [text])


def test_an_input_that_is_too_large_is_refused():
    request = inputs.read(["x:f32[99999,99999]"])
    with pytest.raises(AnywarpError, match="9999800001 elements"):
        inputs.samples(request, {}, 0)


def ordered_sums(a, b, order):
    """Sum products in float32 one after another, in this order: the plainest right answer."""
    return np.cumsum((a * b)[:, order], axis=1, dtype=np.float32)[:, -1]


@pytest.mark.parametrize("positive", [False, True])
def test_two_orders_of_one_sum_are_right_and_a_lost_term_is_wrong(positive):
    rng = np.random.default_rng(0)
    a, b = (np.float32(rng.standard_normal((200, 4096))) for _ in "ab")
    if positive:
        a, b = np.abs(a), np.abs(b)
    wanted = ordered_sums(a, b, np.arange(4096))
    found = ordered_sums(a, b, rng.permutation(4096))
    exact = (np.float64(a) * b).sum(1)
    assert judging.judge("y", found, wanted, exact, 4096, 0).error > 0
    assert judging.judge("y", found, wanted, exact, 4096, 0).right
    lost = found.copy()
    lost[7] -= np.max(a[7] * b[7])
    assert not judging.judge("y", lost, wanted, exact, 4096, 0).right


def test_half_precision_is_allowed_more():
    wanted = np.ones(8, np.float32)
    found = wanted + np.float32(1e-3)
    assert not judging.judge("y", found, wanted, None, 1, 0).right
    assert judging.judge("y", found, wanted, None, 1, 2.0**-11).right


@pytest.mark.parametrize(
    ("found", "wanted", "right"),
    [
        ([1, 2], [1, 2], True),
        ([1, 3], [1, 2], False),
        ([math.nan, 1.0], [math.nan, 1.0], True),
        ([math.nan, 1.0], [0.0, 1.0], False),
        ([math.inf, 1.0], [math.inf, 1.0], True),
        ([math.inf, 1.0], [-math.inf, 1.0], False),
        ([0.0], [0.0, 0.0], False),
        ([], [], True),
        ([1.0], [1], False),
    ],
)
def test_integers_infinities_and_shapes_are_exact(found, wanted, right):
    assert judging.judge("y", np.array(found), np.array(wanted), None, 10, 0).right is right
