"""What CUDA refuses is refused in CUDA's words, before anything is computed."""

import pytest
import torch
import torch.nn.functional as F

pytestmark = pytest.mark.torch

CPU, CUDA = torch.ones(3, 3), torch.ones(3, 3, device="cuda")


@pytest.mark.parametrize(
    ("run", "words"),
    [
        # Generated checks name the argument and the method; PyTorch's issues are full of them.
        (
            lambda: CUDA @ CPU,
            "got mat2 is on cpu, different from other tensors on cuda:0 "
            r"\(when checking argument in method wrapper_CUDA_mm\)",
        ),
        (
            lambda: F.linear(CUDA, CPU, CUDA[0]),
            "got mat2 is on cpu, different from other tensors on cuda:0 "
            r"\(when checking argument in method wrapper_CUDA_addmm\)",
        ),
        (
            lambda: F.embedding(torch.tensor([1]), CUDA),
            "got index is on cpu, different from other tensors on cuda:0 "
            r"\(when checking argument in method wrapper_CUDA__index_select\)",
        ),
        (lambda: torch.cat([CUDA, CPU]), "got tensors is on cpu, .* wrapper_CUDA_cat"),
        (
            lambda: F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2, device="cuda")),
            None,
        ),
        # Operators over iterators find it themselves.
        (lambda: CUDA + CPU, "found at least two devices, cuda:0 and cpu!"),
        (lambda: torch.where(CUDA > 0, CUDA, CPU), "found at least two devices, cuda:0 and cpu!"),
    ],
)
def test_tensors_on_two_devices(run, words):
    whole = f"Expected all tensors to be on the same device, but .*{words}"
    if words is None:
        whole = r"Input type \(torch.FloatTensor\) and weight type \(torch.cuda.FloatTensor\) should be the same"
    with pytest.raises(RuntimeError, match=whole):
        run()


def test_what_may_stay_on_the_host():
    assert (CUDA + torch.tensor(1.0)).is_cuda
    assert CUDA[torch.tensor([0, 2])].shape == (2, 3)
    assert torch.add(CUDA, torch.tensor(2.0), alpha=2).is_cuda


def test_numpy_is_refused_as_on_cuda():
    with pytest.raises(TypeError, match=r"can't convert cuda:0 device type tensor to numpy\. Use Tensor\.cpu"):
        CUDA.numpy()


@pytest.mark.parametrize(
    ("run", "name"),
    [
        (lambda: torch.histc(CUDA), "_histc_cuda"),
        (
            lambda: (
                F.interpolate(torch.ones(1, 1, 2, 2, device="cuda", requires_grad=True), scale_factor=2, mode="bicubic")
                .sum()
                .backward()
            ),
            "upsample_bicubic2d_backward_out_cuda",
        ),
    ],
)
def test_operators_without_a_deterministic_kernel_say_so(run, name):
    run()
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(RuntimeError, match=f"{name} does not have a deterministic implementation"):
            run()
    finally:
        torch.use_deterministic_algorithms(False)


def test_an_operator_that_is_not_served_is_named():
    with pytest.raises(NotImplementedError, match="aten::_cslt_compress"):
        torch.ops.aten._cslt_compress(CUDA.half())
