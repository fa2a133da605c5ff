"""What else takes programs on `cuda` apart: torch.export and AOTInductor, TorchScript, torch.fx, torch.func, fake tensors."""

import json
import os
import zipfile

import pytest
import torch
from torch import nn

from anywarp.frameworks.torch.compile import package

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


QUICK = {"aot_inductor.compile_wrapper_opt_level": "O0", "aot_inductor.precompile_headers": False}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.register_buffer("offset", torch.ones(8))

    def forward(self, a, b):
        return self.layer(a).relu() + self.offset + b, a.sum(), torch.rand(4, device=a.device)


def test_a_package_runs_on_the_device_and_is_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    torch.manual_seed(0)
    model, size = Model().eval(), torch.export.Dim("size", min=2, max=64)
    inputs = (torch.randn(4, 8).cuda(), torch.randn(4, 8).cuda())
    with torch.no_grad():
        program = torch.export.export(model.cuda(), inputs, dynamic_shapes={"a": {0: size}, "b": {0: size}})
        path = torch._inductor.aoti_compile_and_package(
            program, package_path=str(tmp_path / "model.pt2"), inductor_configs=QUICK
        )
        loaded = torch._inductor.aoti_load_package(path)
        for rows in (4, 9):
            a, b = torch.randn(rows, 8), torch.randn(rows, 8)
            found = loaded(a.cuda(), b.cuda())
            wanted = Model.forward(model.cpu(), a, b)
            assert [each.device for each in found] == [torch.device("cuda", 0)] * 3
            for one, other in zip(found[:2], wanted[:2], strict=True):
                torch.testing.assert_close(one.cpu(), other, rtol=1e-4, atol=1e-4)
    torch.cuda.manual_seed(5)
    first = loaded(a.cuda(), b.cuda())[2]
    torch.cuda.manual_seed(5)
    assert torch.equal(first, loaded(a.cuda(), b.cuda())[2])
    with zipfile.ZipFile(path) as archive:
        about = next(json.loads(archive.read(name)) for name in archive.namelist() if name.endswith("metadata.json"))
    plan = package.read(about[package.KEY])
    assert plan.outputs == (0, 0, 0)
    with pytest.raises(RuntimeError, match="takes 2 tensors, not 1"):
        loaded.loader.boxed_run([a.cuda()])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"device": 1e99}',
        '{"device": "0", "inputs": [], "input_count": 0, "outputs": [], "keep": 0, "islands": []}',
    ],
)
def test_a_plan_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="cannot be read"):
        package.read(text)


@pytest.mark.parametrize("pattern", ["x", "0__1", "999", "-1", "0_"])
def test_islands_refuse_what_is_no_pattern(pattern):
    with pytest.raises(RuntimeError, match=r"no pattern of devices|no device"):
        torch.ops.anywarp.define_island("aten::sin", "", pattern)


def test_islands_run_in_compiled_code_only():
    name = torch.ops.anywarp.define_island("aten::sin", "", "0")
    with pytest.raises(RuntimeError, match="called by compiled code only"):
        getattr(torch.ops.anywarp_islands, name)(torch.ones(2))
    with pytest.raises(RuntimeError, match="no call to leave"):
        torch.ops.anywarp.leave([], [])


def test_torchscript_runs_and_tries_no_fuser_for_gpus(tmp_path):
    @torch.jit.script
    def scripted(a, b):
        c = a * 2 + b
        return c.relu().tanh() * c

    a, b = torch.randn(8, 8), torch.randn(8, 8)
    x = a.cuda().requires_grad_()
    for _ in range(4):  # the profiling executor specializes after some runs
        found = scripted(x, b.cuda())
        found.sum().backward()
    torch.testing.assert_close(found.cpu(), scripted(a, b))
    assert x.grad.device.type == "cuda"
    assert not torch._C._jit_can_fuse_on_gpu()
    traced = torch.jit.trace(nn.Linear(8, 4).cuda(), a.cuda())
    torch.jit.save(traced, tmp_path / "traced.pt")
    assert next(torch.jit.load(tmp_path / "traced.pt").parameters()).is_cuda
    assert not next(torch.jit.load(tmp_path / "traced.pt", map_location="cpu").parameters()).is_cuda


def test_export_keeps_the_device(tmp_path):
    program = torch.export.export(nn.Linear(4, 4).cuda(), (torch.randn(2, 4, device="cuda"),))
    torch.export.save(program, tmp_path / "program.pt2")
    again = torch.export.load(tmp_path / "program.pt2")
    x = torch.randn(2, 4, device="cuda")
    assert torch.equal(again.module()(x), program.module()(x))
    assert {each.device.type for each in again.state_dict.values()} == {"cuda"}


def test_function_transforms():
    from torch.func import grad, hessian, jvp, vmap

    x = torch.randn(4, 5)
    moved = x.cuda()

    def work(row):
        return (row.sin() ** 3).sum()

    for transform in (lambda f: vmap(grad(f)), lambda f: vmap(hessian(f)), lambda f: lambda x: jvp(f, (x,), (x,))[1]):
        found = transform(work)(moved)
        assert found.is_cuda
        torch.testing.assert_close(found.cpu(), transform(work)(x))


def test_fake_and_meta_tensors_and_traced_graphs():
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    with FakeTensorMode():
        a = torch.randn(4, 4, device="cuda")
        assert (a @ a).softmax(-1).device == torch.device("cuda", 0)
        with pytest.raises(RuntimeError, match=r"cuda:0.*cpu|two different devices"):
            a + a.cpu()
    x = torch.randn(3, device="cuda")
    graph = make_fx(lambda a: a.sin() + torch.ones(3, device="cuda"))(x)
    assert torch.equal(graph(x), x.sin() + 1)
    assert nn.Linear(3, 3, device="meta").to_empty(device="cuda").weight.is_cuda
    assert x.to("meta").device.type == "meta"
    symbolic = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(3, 3), nn.ReLU()).cuda())
    assert symbolic(x).is_cuda


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "aot_eager_decomp_partition"])
def test_other_backends(backend):
    torch._dynamo.reset()
    x = torch.randn(5, device="cuda", requires_grad=True)
    torch.compile(lambda a: (a * a).sum(), backend=backend)(x).backward()
    assert torch.equal(x.grad, 2 * x.detach())


def test_triton_is_not_claimed():
    from torch.utils._triton import has_triton

    assert not has_triton() or os.environ.get("ANYWARP_TORCH_INDUCTOR") == "triton"
