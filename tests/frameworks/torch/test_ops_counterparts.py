"""Operators that only CUDA has compute what the written-out form computes on the CPU."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental"),
]

HALF = {"rtol": 3e-2, "atol": 3e-2}


def both(run):
    """Return what `run(device)` gives on the CPU and on cuda, from the same random numbers."""
    found = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        found.append(run(device))
    return found


def assert_alike(cpu, cuda, **limits):
    for one, other in zip(cpu, cuda, strict=True):
        assert other.is_cuda
        torch.testing.assert_close(other.cpu(), one, **limits)


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU])
def test_recurrent_layers_and_their_gradients(cell):
    def run(device):
        net = cell(5, 7, num_layers=2, bidirectional=True).to(device)
        given = torch.randn(4, 3, 5).to(device).requires_grad_()
        out, _ = net(given)
        out.square().sum().backward()
        return [out, given.grad, *[each.grad for each in net.parameters()]]

    assert_alike(*both(run), rtol=1e-4, atol=1e-5)


def test_fused_cells_keep_the_gates_that_autograd_reads():
    gates, hidden, state = torch.randn(2, 12), torch.randn(2, 12), torch.randn(2, 3)
    _, _, kept = torch.ops.aten._thnn_fused_lstm_cell(gates.cuda(), hidden.cuda(), state.cuda())
    parts = (gates + hidden).chunk(4, 1)
    wanted = torch.cat([parts[0].sigmoid(), parts[1].sigmoid(), parts[2].tanh(), parts[3].sigmoid()], 1)
    torch.testing.assert_close(kept.cpu(), wanted)


def test_sync_batch_norm_by_parts_is_batch_norm():
    given = torch.randn(6, 4, 5)
    weight, bias = torch.rand(4), torch.rand(4)
    halves = [each.cuda() for each in given.split([2, 4])]
    mean, deviation = zip(*[torch.batch_norm_stats(each, 1e-5) for each in halves])
    running = [torch.zeros(4, device="cuda"), torch.ones(4, device="cuda")]
    counts = torch.tensor([10.0, 20.0], device="cuda")
    mean, deviation = torch.batch_norm_gather_stats_with_counts(
        halves[0], torch.stack(mean), torch.stack(deviation), *running, 0.1, 1e-5, counts
    )
    found = torch.cat(
        [torch.batch_norm_elemt(each, weight.cuda(), bias.cuda(), mean, deviation, 1e-5) for each in halves]
    )
    plain = [torch.zeros(4), torch.ones(4)]
    wanted = F.batch_norm(given, *plain, weight, bias, True, 0.1, 1e-5)
    torch.testing.assert_close(found.cpu(), wanted, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(running[0].cpu(), plain[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(running[1].cpu(), plain[1], rtol=1e-4, atol=1e-5)


def test_sync_batch_norm_backward_by_parts():
    given, grad = torch.randn(3, 4, 5), torch.randn(3, 4, 5)
    weight = torch.rand(4)
    leaf, scale = given.clone().requires_grad_(), weight.clone().requires_grad_()
    F.batch_norm(leaf, None, None, scale, None, True, 0.1, 1e-5).backward(grad)
    x, g, w = given.cuda(), grad.cuda(), weight.cuda()
    mean, deviation = torch.batch_norm_stats(x, 1e-5)
    total, product, of_weight, of_bias = torch.batch_norm_backward_reduce(g, x, mean, deviation, w, True, True, True)
    count = torch.tensor([15], device="cuda", dtype=torch.int32)
    found = torch.batch_norm_backward_elemt(g, x, mean, deviation, w, total, product, count)
    torch.testing.assert_close(found.cpu(), leaf.grad, rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(of_weight.cpu(), scale.grad, rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(of_bias.cpu(), grad.sum((0, 2)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("backend", "dtype", "masked"),
    [
        (SDPBackend.FLASH_ATTENTION, torch.bfloat16, False),  # CUDA's takes no mask
        *(
            (backend, dtype, masked)
            for backend, dtype in (
                (SDPBackend.EFFICIENT_ATTENTION, torch.float32),
                (SDPBackend.EFFICIENT_ATTENTION, torch.float16),
                (SDPBackend.CUDNN_ATTENTION, torch.float16),
                (SDPBackend.MATH, torch.float32),
            )
            for masked in (False, True)
        ),
    ],
)
def test_attention_backends_agree_with_the_cpu(backend, dtype, masked):
    def run(device):
        given = [torch.randn(2, 3, 10, 16).to(dtype).to(device).requires_grad_() for _ in range(3)]
        mask = torch.randn(2, 3, 10, 10).to(dtype).to(device) if masked else None
        with sdpa_kernel(backend if device == "cuda" else SDPBackend.MATH):
            out = F.scaled_dot_product_attention(*given, attn_mask=mask, is_causal=not masked)
        return [out, *torch.autograd.grad(out.float().square().sum(), given)]

    limits = {"rtol": 1e-4, "atol": 1e-4} if dtype == torch.float32 else HALF
    assert_alike(*both(run), **limits)


def test_attention_chooses_as_cuda_does():
    def choice(dtype, size, **more):
        return torch._fused_sdp_choice(*[torch.randn(1, 2, 8, size, device="cuda", dtype=dtype)] * 3, **more)

    assert choice(torch.bfloat16, 16) == int(SDPBackend.FLASH_ATTENTION)
    assert choice(torch.float32, 16) == int(SDPBackend.EFFICIENT_ATTENTION)
    assert choice(torch.float32, 5) == int(SDPBackend.MATH)
    with sdpa_kernel(SDPBackend.MATH):
        assert choice(torch.bfloat16, 16) == int(SDPBackend.MATH)


@pytest.mark.filterwarnings("ignore")  # the reasons, one by one
def test_attention_without_a_backend_is_refused_in_cudas_words():
    given = torch.randn(1, 2, 8, 16, device="cuda")
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION), pytest.raises(RuntimeError, match=r"No available kernel. Aborting"):
        F.scaled_dot_product_attention(given, given, given)


def test_attention_drops_the_same_in_both_directions():
    query = torch.randn(2, 2, 8, 16, device="cuda", requires_grad=True)
    value = torch.eye(8, device="cuda").expand(2, 2, 8, 8).contiguous().requires_grad_()
    out = F.scaled_dot_product_attention(query, query, value, dropout_p=0.5)  # the probabilities, some dropped
    dropped = out == 0
    assert 0.2 < dropped.float().mean() < 0.8
    (grad,) = torch.autograd.grad(out.sum(), value)  # the sum of what is kept, for every row of the value
    torch.testing.assert_close(grad[..., 0], out.sum(-2).detach(), rtol=1e-4, atol=1e-5)


def test_flash_attention_of_packed_sequences():
    query = torch.randn(5, 2, 8, device="cuda", dtype=torch.float16)
    ends = torch.tensor([0, 2, 5], device="cuda", dtype=torch.int32)
    out, sums, *_ = torch.ops.aten._flash_attention_forward(query, query, query, ends, ends, 3, 3, 0.0, True, False)
    assert sums.shape == (2, 5)
    for start, end in ((0, 2), (2, 5)):
        alone = query[start:end].transpose(0, 1).unsqueeze(0).cpu()
        wanted = F.scaled_dot_product_attention(alone, alone, alone, is_causal=True)[0].transpose(0, 1)
        torch.testing.assert_close(out[start:end].cpu(), wanted, **HALF)


@pytest.mark.parametrize(("mask_type", "first"), [(1, 0), (2, 3)])
@pytest.mark.parametrize("window", [None, 2])
def test_efficient_attention_counts_masks_from_the_corner_that_is_asked_for(mask_type, first, window):
    """Without packed sequences lengths that are said (xformers says -1) do not count."""
    query, key, value = (torch.randn(2, length, 3, 8, device="cuda") for length in (5, 8, 8))
    given = [each.double().cpu().transpose(1, 2).requires_grad_() for each in (query, key, value)]
    row, column = torch.meshgrid(torch.arange(5) + first, torch.arange(8), indexing="ij")
    seen = (column <= row) & (column > row - (window or 8))
    wanted = F.scaled_dot_product_attention(*given, attn_mask=seen)
    wanted.backward(torch.ones_like(wanted))
    mask = {"custom_mask_type": mask_type, "window_size": window}
    out, sums, seed, offset, *_ = torch.ops.aten._efficient_attention_forward(
        query, key, value, None, None, None, -1, -1, 0.0, compute_log_sumexp=True, **mask
    )
    torch.testing.assert_close(out.cpu().double(), wanted.transpose(1, 2), rtol=1e-5, atol=1e-5)
    assert not (seed.any() or offset.any())
    unused = torch.Tensor()  # on the host: CUDA's kernel takes seeds from there, too
    ones, rest = torch.ones_like(out), (None, None, -1, -1, sums, 0.0, unused, unused)
    found = torch.ops.aten._efficient_attention_backward(
        ones, query, key, value, None, out, *rest, bias_requires_grad=False, **mask
    )
    for one, other in zip(found, given):
        torch.testing.assert_close(one.cpu().double(), other.grad.transpose(1, 2), rtol=1e-5, atol=1e-5)


def test_products_with_a_wider_result():
    left, right = torch.randn(4, 8).half(), torch.randn(8, 3).half()
    found = torch.mm(left.cuda(), right.cuda(), out_dtype=torch.float32)
    torch.testing.assert_close(found.cpu(), left.float() @ right.float())
    with pytest.raises(RuntimeError, match="out_dtype must be the same as input dtype"):
        torch.mm(left.cuda(), right.cuda(), out_dtype=torch.float64)


def test_scaled_products_of_8_bit_floats():
    left, right = torch.randn(16, 32), torch.randn(16, 32)
    a, b = left.to(torch.float8_e4m3fn), right.to(torch.float8_e4m3fn)
    one, rows, columns = torch.tensor(0.5), torch.rand(16, 1), torch.rand(1, 16)
    by_one = torch._scaled_mm(a.cuda(), b.cuda().t(), one.cuda(), one.cuda(), out_dtype=torch.bfloat16)
    by_row = torch._scaled_mm(a.cuda(), b.cuda().t(), rows.cuda(), columns.cuda(), out_dtype=torch.float32)
    plain = a.float() @ b.float().t()
    torch.testing.assert_close(by_one.cpu(), (plain * 0.25).bfloat16(), **HALF)
    torch.testing.assert_close(by_row.cpu(), plain * rows * columns, rtol=1e-4, atol=1e-4)
    with pytest.raises(RuntimeError, match="divisible by 16"):
        torch._scaled_mm(a[:, :8].cuda(), b[:, :8].cuda().t(), one.cuda(), one.cuda())


def test_groups_of_products():
    left, right = torch.randn(6, 4), torch.randn(2, 4, 3)
    ends = torch.tensor([2, 6], dtype=torch.int32, device="cuda")
    found = torch._grouped_mm(left.bfloat16().cuda(), right.bfloat16().cuda(), offs=ends)
    wanted = torch.cat([left[:2].bfloat16() @ right[0].bfloat16(), left[2:].bfloat16() @ right[1].bfloat16()])
    torch.testing.assert_close(found.cpu(), wanted, **HALF)


def test_4_bit_weights():
    torch.manual_seed(0)
    numbers = torch.randint(0, 16, (16, 64), dtype=torch.int32)
    packed = (numbers[:, ::2] << 4 | numbers[:, 1::2]).to(torch.uint8)
    weight = torch._convert_weight_to_int4pack(packed.cuda(), 2)
    assert weight.shape == (2, 2, 32, 1)
    scales = torch.rand(2, 16, 2).bfloat16()
    given = torch.randn(3, 64).bfloat16()
    found = torch._weight_int4pack_mm(given.cuda(), weight, 32, scales.cuda())
    wide = scales.float().transpose(0, 1)
    by_group = (numbers.view(16, 2, 32) - 8) * wide[..., :1] + wide[..., 1:]
    wanted = given.float() @ by_group.reshape(16, 64).bfloat16().float().t()
    torch.testing.assert_close(found.cpu().float(), wanted, **HALF)
    # Lane 0 of the first tile holds rows 0, 1, 8, 9 and 16, 17, 24, 25 of column 0 (PTX ISA, mma.m16n8k16).
    word = int(weight[0, 0, 0, 0]) & 0xFFFFFFFF
    places = dict(zip((0, 16, 4, 20, 8, 24, 12, 28), (0, 1, 8, 9, 16, 17, 24, 25)))
    assert [word >> shift & 15 for shift in places] == [int(numbers[0, row]) for row in places.values()]


def test_rms_norm_and_its_gradients():
    def run(device):
        norm, given = nn.RMSNorm(6).to(device), torch.randn(4, 6).to(device).requires_grad_()
        out = norm(given)
        (out * torch.arange(6.0, device=device)).square().sum().backward()
        return [out, given.grad, norm.weight.grad]

    assert_alike(*both(run), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.complex32])
def test_types_that_the_cpus_kernels_refuse_are_computed_wider_and_rounded(dtype):
    given = torch.randn(8, dtype=torch.complex64).to(dtype) if dtype.is_complex else torch.randn(8).to(dtype)
    found = torch.fft.fft(given.cuda())
    wanted = torch.fft.fft(given.to(torch.complex64))
    assert found.dtype == torch.complex32
    torch.testing.assert_close(found.cpu().to(torch.complex64), wanted, **HALF)


def test_types_that_cuda_refuses_stay_refused():
    with pytest.raises(RuntimeError, match="not implemented for 'Half'"):
        torch.linalg.svd(torch.randn(3, 3, device="cuda").half())


def test_semi_structured_sparsity_is_refused_by_name():
    with pytest.raises(NotImplementedError, match="aten::_to_sparse_semi_structured"):
        torch.ops.aten._to_sparse_semi_structured(torch.randn(32, 64, device="cuda").half())
