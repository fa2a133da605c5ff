"""Sparse, nested and quantised tensors are on `cuda` and compute what they compute on the CPU."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:.*(beta|prototype|Sparse|sparse|quantize|deprecated)"),
]

INDICES = [[0, 1, 1], [2, 0, 2]]


def coo():
    return torch.sparse_coo_tensor(torch.tensor(INDICES), torch.tensor([3.0, 4.0, 5.0]), (2, 3))


def test_a_sparse_tensor_of_device_parts_shares_their_memory():
    values = torch.tensor([3.0, 4.0, 5.0], device="cuda")
    found = torch.sparse_coo_tensor(torch.tensor(INDICES, device="cuda"), values, (2, 3))
    assert found.is_cuda and found.is_sparse
    assert found._values().data_ptr() == values.data_ptr()
    values.zero_()
    assert found.to_dense().count_nonzero() == 0


@pytest.mark.parametrize(
    "run",
    [
        lambda s, d: s.to_dense(),
        lambda s, d: torch.sparse.mm(s, d),
        lambda s, d: (s + s).to_dense(),
        lambda s, d: (s * 2).coalesce().values(),
        lambda s, d: s.t().coalesce().indices(),
        lambda s, d: d.t().sparse_mask(s.coalesce()).to_dense(),
        lambda s, d: torch.sparse.sum(s, 0).to_dense(),
        lambda s, d: torch.addmm(d[:2, :2], s, d),
        lambda s, d: s.to_sparse_csr().to_dense(),
    ],
)
def test_sparse_operators(run):
    dense = torch.arange(6.0).view(3, 2)
    found = run(coo().cuda(), dense.cuda())
    assert found.is_cuda
    assert torch.equal(found.cpu(), run(coo(), dense))


def test_sparse_tensors_change_in_place():
    found = coo().cuda()
    found.mul_(3)
    found.add_(found)
    assert torch.equal(found.to_dense().cpu(), coo().to_dense() * 6)
    found.zero_()
    assert found._nnz() == 0 and found.is_cuda


@pytest.mark.parametrize("convert", ["to_sparse_csr", "to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc"])
def test_compressed_layouts(convert):
    dense = torch.arange(16.0).view(4, 4).triu()
    block = ((2, 2),) if convert.startswith("to_sparse_bs") else ()
    found = getattr(dense.cuda(), convert)(*block)
    assert found.is_cuda and found.values().is_cuda
    assert torch.equal(found.to_dense().cpu(), dense)
    if not convert.startswith("to_sparse_b"):
        assert torch.equal((found @ dense.cuda()).cpu(), dense @ dense)


def test_sparse_gradients_of_an_embedding_train_it():
    table = nn.Embedding(5, 3, sparse=True).cuda()
    before = table.weight.detach().clone()
    optimizer = torch.optim.SparseAdam(table.parameters())
    table(torch.tensor([1, 1, 2], device="cuda")).sum().backward()
    grad = table.weight.grad
    assert grad.is_sparse and grad.is_cuda
    assert grad.coalesce().values().tolist() == [[2.0] * 3, [1.0] * 3]
    optimizer.step()
    assert (table.weight != before).any(1).tolist() == [False, True, True, False, False]


def test_gradients_through_sparse_products():
    left, right = coo().cuda().requires_grad_(), torch.ones(3, 2, device="cuda", requires_grad=True)
    torch.sparse.mm(left, right).sum().backward()
    assert left.grad.is_sparse and left.grad.is_cuda
    assert torch.equal(right.grad.cpu(), coo().to_dense().t().sum(1, keepdim=True).expand(3, 2))


def test_sparse_tensors_are_saved_and_loaded(tmp_path):
    torch.save(coo().cuda(), tmp_path / "sparse.pt")
    found = torch.load(tmp_path / "sparse.pt")
    assert found.is_cuda and torch.equal(found.to_dense().cpu(), coo().to_dense())


def test_nested_tensors_and_their_gradients():
    def run(device):
        torch.manual_seed(0)
        parts = [torch.randn(size, 4).to(device).requires_grad_() for size in (2, 3)]
        layer = nn.Linear(4, 4).to(device)
        nested = torch.nested.as_nested_tensor(parts)
        out = (F.softmax(layer(nested), -1) * nested).to_padded_tensor(0)
        out.square().sum().backward()
        return [out, *[each.grad for each in parts], layer.weight.grad]

    for one, other in zip(run("cpu"), run("cuda"), strict=True):
        assert other.is_cuda
        torch.testing.assert_close(other.cpu(), one)


def test_nested_tensors_come_apart_and_are_printed():
    nested = torch.nested.nested_tensor([torch.ones(2), torch.zeros(3)], device="cuda")
    assert [each.device.type for each in nested.unbind()] == ["cuda", "cuda"]
    assert "cuda:0" in repr(nested)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention_of_jagged_tensors(dtype):
    torch.manual_seed(0)
    parts = [torch.randn(size, 16).to(dtype) for size in (2, 3)]
    nested = torch.nested.nested_tensor(parts, device="cuda", layout=torch.jagged, requires_grad=True)
    heads = nested.view(2, -1, 2, 8).transpose(1, 2)
    out = F.scaled_dot_product_attention(heads, heads, heads)
    out.values().sum().backward()
    assert out.device.type == nested.grad.device.type == "cuda"
    limits = {} if dtype == torch.float32 else {"rtol": 3e-2, "atol": 3e-2}
    for found, given in zip(out.unbind(), parts, strict=True):
        alone = given.view(1, -1, 2, 8).transpose(1, 2)
        torch.testing.assert_close(found.cpu(), F.scaled_dot_product_attention(alone, alone, alone)[0], **limits)


def test_quantised_tensors():
    given = torch.randn(3, 4)
    whole = torch.quantize_per_tensor(given.cuda(), 0.1, 3, torch.quint8)
    plain = torch.quantize_per_tensor(given, 0.1, 3, torch.quint8)
    assert whole.is_cuda and whole.q_scale() == 0.1
    assert torch.equal(whole.int_repr().cpu(), plain.int_repr())
    assert torch.equal(whole.dequantize().cpu(), plain.dequantize())
    assert torch.equal(whole.cpu().int_repr(), plain.int_repr())
    assert torch.equal(plain.cuda().int_repr(), whole.int_repr())
    assert whole[0].is_cuda


def test_quantised_channels_keep_their_scales():
    scales, zeros = torch.tensor([0.1, 0.2, 0.3]).double(), torch.zeros(3, dtype=torch.long)
    found = torch.quantize_per_channel(torch.ones(3, 4).cuda(), scales.cuda(), zeros.cuda(), 0, torch.qint8)
    for _ in range(2):  # asking for them must not move the tensor's own away
        assert found.q_per_channel_scales().is_cuda
        assert torch.equal(found.q_per_channel_scales().cpu(), scales)
    plain = torch.quantize_per_channel(torch.ones(3, 4), scales, zeros, 0, torch.qint8)
    assert torch.equal(found.dequantize().cpu(), plain.dequantize())


def test_zeros_without_memory_serve_forward_derivatives():
    ones = torch.ones(3, device="cuda")
    zeros = torch._efficientzerotensor((3,), device="cuda")
    assert zeros.is_cuda and torch.equal((zeros + ones).cpu(), ones.cpu())
    assert zeros.dot(ones).sum().item() == 0
    value, derivative = torch.func.jvp(lambda each: each.dot(ones), (ones,), (ones,))
    assert (value.item(), derivative.item()) == (3.0, 3.0)


def test_set_grows_a_storage_that_is_too_small():
    storage = torch.arange(4.0, device="cuda").untyped_storage()
    found = torch.empty(0, device="cuda").set_(storage, 0, (8,), (1,))
    assert storage.nbytes() == 32 and found[:4].tolist() == [0.0, 1.0, 2.0, 3.0]
