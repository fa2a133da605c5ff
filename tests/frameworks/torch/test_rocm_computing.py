"""What is computed in another way on a torch for ROCm, with this machine's torch: attention that xformers refuses, floats of 8 bits, sources of extensions."""

import math
import types

import pytest
import torch
from torch.utils.hipify import hipify_python

from anywarp.frameworks.torch.rocm import extensions, float8, xformers


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# xformers


class LowerTriangularMask:
    """What a bias of xformers' tells of itself: `materialize`."""

    def materialize(self, shape, dtype, device):
        return torch.full(shape, -math.inf, dtype=dtype, device=device).triu(1)


class Blocks:
    """Rows and columns in blocks that do not see each other."""

    def __init__(self, *sizes):
        self.sizes = sizes

    def materialize(self, shape, dtype, device):
        bias = torch.full(shape, -math.inf, dtype=dtype, device=device)
        at = 0
        for size in self.sizes:
            bias[..., at : at + size, at : at + size] = 0
            at += size
        return bias


def refused(*args, **kwargs):
    raise NotImplementedError("No operator found for `memory_efficient_attention_forward` with inputs: ...")


def by_definition(q, k, v, bias=None, scale=None):
    """Attention of (batch, rows, heads, width) in double precision, from its formula."""
    q, k, v = (each.double().transpose(1, 2) for each in (q, k, v))
    scores = q @ k.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    scores = scores if bias is None else scores + bias.double()
    return (torch.softmax(scores, -1) @ v).transpose(1, 2)


def _materialized(bias, q, k):
    return bias.materialize((q.shape[0], q.shape[2], q.shape[1], k.shape[1]), torch.float64, "cpu")


@pytest.mark.parametrize("columns", [6, 9])
@pytest.mark.parametrize(
    "bias", [None, LowerTriangularMask(), Blocks(2, 4), "tensor"], ids=["none", "causal", "blocks", "tensor"]
)
def test_attention_that_xformers_refuses(bias, columns):
    if isinstance(bias, Blocks) and columns != 6:
        bias = Blocks(3, 3)
    q, k, v = drawn(2, 6, 3, 8, seed=1), drawn(2, columns, 3, 8, seed=2), drawn(2, columns, 3, 5, seed=3)
    if bias == "tensor":
        bias = wanted_bias = drawn(2, 3, 6, columns, seed=4)
    else:
        wanted_bias = None if bias is None else _materialized(bias, q, k)
    found = xformers.else_by_torch(refused)(q, k, v, attn_bias=bias, scale=0.3)
    wanted = by_definition(q, k, v, wanted_bias, 0.3)
    assert found.shape == (2, 6, 3, 5) and (found.double() - wanted).abs().max() < 1e-6


def test_gradients_and_the_type_asked_for():
    ours = [drawn(1, 5, 2, 4, seed=each).requires_grad_() for each in range(3)]
    theirs = [each.detach().double().requires_grad_() for each in ours]
    xformers.else_by_torch(refused)(*ours).square().sum().backward()
    by_definition(*theirs).square().sum().backward()
    assert all((a.grad.double() - b.grad).abs().max() < 1e-5 for a, b in zip(ours, theirs))
    assert xformers.else_by_torch(refused)(*ours, output_dtype=torch.float64).dtype == torch.float64


def test_other_shapes_are_what_xformers_says():
    q, k, v = (drawn(2, 6, 8, seed=each) for each in range(3))  # (batch, rows, width): one head
    wanted = by_definition(*(each.unsqueeze(2) for each in (q, k, v)))[:, :, 0]
    assert (xformers.else_by_torch(refused)(q, k, v).double() - wanted).abs().max() < 1e-6
    q, k, v = (drawn(2, 6, 3, 4, 8, seed=each) for each in range(3))  # (batch, rows, groups, heads, width)
    wanted = by_definition(*(each.flatten(2, 3) for each in (q, k, v))).unflatten(2, (3, 4))
    assert (xformers.else_by_torch(refused)(q, k, v).double() - wanted).abs().max() < 1e-6


def test_what_xformers_computes_and_other_refusals_are_its_own():
    assert xformers.else_by_torch(lambda *args, **more: (len(args), more))(1, 2, 3, op="x") == (6, {"op": "x"})

    def other(*args, **kwargs):
        raise NotImplementedError("no such bias")

    q = drawn(1, 2, 1, 4)
    with pytest.raises(NotImplementedError, match="no such bias"):
        xformers.else_by_torch(other)(q, q, q)
    with pytest.raises(NotImplementedError, match="No operator found"):
        xformers.else_by_torch(refused)(q, q, q, op="the one that I want")


# Floats of 8 bits


def test_bytes_mean_half_in_the_other_format():
    """Every value of float8_e4m3fn against torch's own conversions of both."""
    every = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn)
    half = float8.same_bits(torch, every)
    assert half.dtype == torch.float8_e4m3fnuz
    torch.testing.assert_close(half.float() * 2, every.float() + 0.0, rtol=0, atol=0, equal_nan=True)


def test_the_order_in_memory_stays():
    """cuBLASLt and hipBLASLt want the second factor by columns."""
    columns = drawn(16, 32).to(torch.float8_e4m3fn).t()
    assert float8.same_bits(torch, columns).stride() == columns.stride()


class OnGpu(torch.Tensor):
    """A tensor that says that it is on a GPU."""

    device = torch.device("cuda", 0)


def _simulated(monkeypatch, architecture):
    monkeypatch.setattr(
        torch.cuda,
        "get_device_properties",
        lambda device: types.SimpleNamespace(gcnArchName=f"{architecture}:sramecc+:xnack-"),
    )

    def product(self, mat2, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None):
        """The product of a GPU that has the one format only."""
        kinds = {self.dtype, mat2.dtype}
        own = torch.float8_e4m3fnuz if architecture == "gfx942" else torch.float8_e4m3fn
        if kinds != {own}:
            raise RuntimeError(f"{kinds} on {architecture}")
        out = (self.double() * scale_a.double()) @ (mat2.double() * scale_b.double())
        return out if bias is None else out + bias

    return float8.scaled_mm_over(torch, product)


@pytest.mark.parametrize("architecture", ["gfx942", "gfx950"])
@pytest.mark.parametrize("rowwise", [False, True])
def test_a_scaled_product_of_what_checkpoints_hold(monkeypatch, architecture, rowwise):
    a = drawn(8, 16, seed=1).to(torch.float8_e4m3fn)
    b = drawn(24, 16, seed=2).to(torch.float8_e4m3fn).t()
    scales = (drawn(8, 1, seed=3), drawn(1, 24, seed=4)) if rowwise else (torch.tensor(0.7), torch.tensor(-1.3))
    wanted = (a.double() * scales[0].double()) @ (b.double() * scales[1].double()) + 1
    scaled_mm = _simulated(monkeypatch, architecture)
    found = scaled_mm(a.as_subclass(OnGpu), b.as_subclass(OnGpu), scale_a=scales[0], scale_b=scales[1], bias=1.0)
    assert (torch.Tensor(found) - wanted).abs().max() < 1e-12
    assert scales[0].flatten()[0] == (drawn(8, 1, seed=3).flatten()[0] if rowwise else torch.tensor(0.7))


def test_other_types_go_to_torch_as_they_are(monkeypatch):
    scaled_mm = _simulated(monkeypatch, "gfx942")
    a = drawn(8, 16).to(torch.float8_e5m2).as_subclass(OnGpu)
    with pytest.raises(RuntimeError, match="float8_e5m2"):
        scaled_mm(a, a.t(), torch.tensor(1.0), torch.tensor(1.0))


# Sources of extensions

KERNEL = """
#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>
__global__ void sums(const float* x, float* y, int n) {
  float v = threadIdx.x < n ? x[threadIdx.x] : 0.f;
  for (int o = warpSize / 2; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  if (threadIdx.x % warpSize == 0) y[threadIdx.x / warpSize] = v;
}
torch::Tensor run(torch::Tensor x) {
  auto y = torch::zeros({32}, x.options());
  sums<<<1, 1024>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_CHECK(cudaGetLastError());
  return y;
}
"""


def _hipify(folder):
    """Call torch's own translation as torch.utils.cpp_extension does, with ours after it."""
    sources = sorted(map(str, folder.glob("*.cu")))
    return extensions.with_warps_kept(hipify_python.hipify)(
        project_directory=str(folder), output_directory=str(folder), includes=[f"{folder}/*"], extra_files=sources,
        show_detailed=False, show_progress=False, is_pytorch_extension=True, hipify_extra_files_only=True,
    )  # fmt: skip


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYWARP_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "sources").mkdir()
    return tmp_path / "sources"


def test_an_extensions_warps_stay_32_lanes(kept):
    (kept / "k.cu").write_text(KERNEL)
    made = _hipify(kept)
    assert made[str(kept / "k.cu")].hipified_path == str(kept / "k.hip")
    text = (kept / "k.hip").read_text()
    assert "__shfl_down(v, o, 32)" in text and "warpSize" not in text and "_sync" not in text
    assert "hipGetLastError" in text and "hipLaunchKernelGGL" in text, "torch's part"
    assert (kept / "k.cu").read_text() == KERNEL


def test_a_second_process_compiles_nothing_anew(kept):
    (kept / "k.cu").write_text(KERNEL)
    _hipify(kept)
    first = (kept / "k.hip").stat().st_mtime_ns, (kept / "k.hip").read_text()
    _hipify(kept)
    assert ((kept / "k.hip").stat().st_mtime_ns, (kept / "k.hip").read_text()) == first
    (kept / "k.cu").write_text(KERNEL.replace("1024", "512"))
    _hipify(kept)
    assert (kept / "k.hip").stat().st_mtime_ns != first[0] and "512" in (kept / "k.hip").read_text()


@pytest.mark.parametrize(
    "text",
    [KERNEL + "#ifdef USE_ROCM\n#endif\n", "#include <torch/extension.h>\nvoid none() { cudaFree(nullptr); }\n"],
    ids=["knows", "no warps"],
)
def test_a_source_that_knows_rocm_or_has_no_warps_is_torchs_alone(kept, text):
    (kept / "k.cu").write_text(text)
    _hipify(kept)
    assert (kept / "k.hip").read_text().count("_sync") == text.count("_sync") and not (kept / "anywarp_warp.h").exists()


def test_headers_come_with_what_includes_them(kept):
    (kept / "k.cu").write_text(
        KERNEL.replace("if (threadIdx", "unsigned m = __ballot_sync(~0u, v > 0); y += __popc(m); if (threadIdx")
    )
    _hipify(kept)
    assert "anywarp::ballot_sync" in (kept / "k.hip").read_text() and (kept / "anywarp_warp.h").is_file()


def test_a_translator_that_cannot_be_started_is_said(kept, monkeypatch, capsys):
    monkeypatch.setenv("ANYWARP_PYTHON", str(kept / "nothing"))
    (kept / "k.cu").write_text(KERNEL)
    _hipify(kept)
    assert "F035" in capsys.readouterr().err and "_sync" in (kept / "k.hip").read_text()
