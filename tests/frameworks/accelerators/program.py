"""What a program written for `cuda` does, run where `cuda` is the toy accelerator: each check is a function; the outcomes are printed as JSON.

Expected values are computed on the CPU, by torch without any mapping.
"""

import copy
import io
import json
import os
import pickle
import sys
import tempfile
import traceback

import torch
from torch import nn

NAME = os.environ.get("TOY_NAME", "toy")
TOY = getattr(torch, NAME)


def drawn(*shape, seed=0, kind=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(kind)


def refused(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), str(error)
        return
    raise AssertionError(f"no {kind}")


def check_identity():
    x = drawn(3, 4).cuda()
    device = torch.device("cuda", 0)
    assert x.is_cuda and x.device == device and x.device.type == "cuda" and torch.device("cuda:0") == x.device
    assert isinstance(x.device, torch.device) and repr(x.device) == "device(type='cuda', index=0)"
    assert x.type() == "torch.cuda.FloatTensor" and isinstance(x, torch.cuda.FloatTensor)
    assert x.untyped_storage().device == device and x.get_device() == 0
    assert "device='cuda:0'" in repr(x)
    assert TOY.library.toy_is_mine(x.data_ptr()) and not TOY.library.toy_is_mine(drawn(99).data_ptr())
    assert torch.empty(2, device="cuda").device == device and torch.tensor([1, 2], device="cuda").is_cuda
    assert torch.zeros_like(x).is_cuda and x.new_ones(2).is_cuda and x.to("cuda") is x
    assert torch.accelerator.current_accelerator() == torch.device("cuda")


def check_the_work_is_the_accelerators():
    before = TOY.library.toy_operators()
    (drawn(5, 5).cuda() @ drawn(5, 5).cuda()).sum()
    assert TOY.library.toy_operators() >= before + 2


def check_values_and_views():
    x, y = drawn(4, 6), drawn(6, 5, seed=1)
    a, b = x.cuda(), y.cuda()
    torch.testing.assert_close((a @ b).cpu(), x @ y)
    view = a.t()[1:3]
    assert view.untyped_storage().data_ptr() == a.untyped_storage().data_ptr()
    view.mul_(2)
    x.t()[1:3].mul_(2)
    torch.testing.assert_close(a.cpu(), x)
    a[a > 0] = 7
    x[x > 0] = 7
    torch.testing.assert_close(a.cpu(), x)
    torch.testing.assert_close(torch.cat([a, a], 1).softmax(1).cpu(), torch.cat([x, x], 1).softmax(1))
    top, where = a.topk(2)
    assert top.is_cuda and where.is_cuda and top.shape == (4, 2)
    assert float(a.sum()) == float(a.cpu().sum()) or abs(float(a.sum()) - float(x.sum())) < 1e-4
    outs = torch.empty(0, device="cuda")
    torch.add(a, a, out=outs)
    torch.testing.assert_close(outs.cpu(), x + x)
    assert a.resize_(2, 3).shape == (2, 3) and a.cpu().shape == (2, 3)
    big = torch.empty(2, device="cuda").resize_(1000).fill_(3)
    assert float(big.sum()) == 3000 and TOY.library.toy_is_mine(big.data_ptr())
    z = torch.complex(a, a.cos())
    assert z.conj().is_conj() and z.conj().is_cuda
    torch.testing.assert_close(z.abs().cpu(), torch.complex(a.cpu(), a.cpu().cos()).abs())
    parts = a.unbind(0)
    assert all(part.is_cuda for part in parts) and len(parts) == 2
    torch._foreach_add_([b, b], 1.0)
    torch.testing.assert_close(b.cpu(), y + 2)
    b.set_(torch.arange(6.0).cuda())
    assert b.tolist() == [0, 1, 2, 3, 4, 5]
    base = torch.zeros(3, device="cuda")
    base.data = torch.ones(4, device="cuda")
    assert base.tolist() == [1, 1, 1, 1]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.Linear(4 * 4 * 4, 3)
        self.attend = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x):
        x = nn.functional.gelu(self.norm(self.first(x)))
        rows = x.flatten(2).transpose(1, 2)
        rows = rows + self.attend(rows, rows, rows)[0]
        return self.last(rows.transpose(1, 2).flatten(1))


def check_training_gives_what_the_cpu_gives():
    torch.manual_seed(1)
    host = Model()
    device = copy.deepcopy(host).cuda()
    assert all(each.is_cuda for each in device.parameters()) and next(device.parameters()).device.index == 0
    x, y = drawn(5, 2, 6, 6), torch.tensor([0, 1, 2, 0, 1])
    for model, inputs, wanted in ((host, x, y), (device, x.cuda(), y.cuda())):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        for _ in range(3):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(inputs), wanted).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    for (name, one), (_, other) in zip(host.named_parameters(), device.named_parameters()):
        assert other.grad.is_cuda, name
        torch.testing.assert_close(other.detach().cpu(), one.detach(), atol=1e-4, rtol=1e-3)


def check_autocast_and_scaler():
    layer, scaler = nn.Linear(8, 8).cuda(), torch.amp.GradScaler("cuda", init_scale=1024.0)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    x = drawn(4, 8).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert torch.is_autocast_enabled("cuda")
        out = layer(x)
    assert out.dtype == torch.bfloat16 and out.is_cuda
    before = layer.weight.detach().clone()
    loss = out.float().pow(2).mean()
    scaler.scale(loss).backward()
    slope = layer.weight.grad / 1024.0
    scaler.step(optimizer)
    scaler.update()
    torch.testing.assert_close(layer.weight.detach(), before - 0.1 * slope)


def check_generators():
    torch.manual_seed(5)
    a = torch.randn(10, device="cuda")
    torch.cuda.manual_seed_all(5)
    assert torch.equal(a, torch.randn(10, device="cuda"))
    state = torch.cuda.get_rng_state()
    b = torch.randn(10, device="cuda")
    assert not torch.equal(a, b)
    torch.cuda.set_rng_state(state)
    assert torch.equal(b, torch.randn(10, device="cuda"))
    own = torch.Generator(device="cuda").manual_seed(9)
    assert own.device.type == "cuda" and own.initial_seed() == 9
    c = torch.randn(10, device="cuda", generator=own)
    assert torch.equal(c, torch.empty(10, device="cuda").normal_(generator=own.manual_seed(9)))
    dropped = nn.functional.dropout(torch.ones(1000, device="cuda"), 0.5)
    assert 300 < int((dropped == 0).sum()) < 700
    refused(RuntimeError, "generator", lambda: torch.randn(3, generator=own))


def check_devices():
    assert torch.cuda.is_available() and torch.cuda.device_count() == 2 and torch.cuda.current_device() == 0
    assert torch.cuda.get_device_name(1) == "A toy of tin"
    seen = torch.cuda.get_device_properties(0)
    assert (seen.name, seen.total_memory, seen.toys) == ("A toy of tin", 8 << 30, 3)
    assert torch.cuda.get_device_capability() == (8, 0)
    with torch.cuda.device(1):
        x = torch.ones(2, device="cuda")
        assert torch.cuda.current_device() == 1 and x.device.index == 1
    assert torch.cuda.current_device() == 0
    torch.cuda.set_device(1)
    assert torch.empty(1, device="cuda").device.index == 1
    torch.cuda.set_device(0)
    moved = drawn(3).to("cuda:1").to("cuda:0")
    torch.testing.assert_close(moved.cpu(), drawn(3))
    refused(RuntimeError, "invalid device ordinal", lambda: torch.cuda.set_device(7))
    assert torch.cuda.is_bf16_supported() and torch.backends.cuda.is_built()


def check_streams_and_events():
    side = torch.cuda.Stream()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    assert side != torch.cuda.current_stream() and torch.cuda.current_stream() == torch.cuda.default_stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side and side.device == torch.device("cuda:0")
        begin.record()
        x = torch.ones(100, device="cuda").cumsum(0)
        end.record()
    x.record_stream(side)
    torch.cuda.current_stream().wait_event(end)
    torch.cuda.synchronize()
    end.synchronize()
    assert side.query() and end.query() and begin.elapsed_time(end) > 0 and float(x[-1]) == 100
    assert side.cuda_stream == 4096 + side.stream_id
    refused(NotImplementedError, "interprocess", lambda: torch.cuda.Event(interprocess=True))


def check_memory():
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    x = torch.empty(1 << 20, device="cuda")
    assert torch.cuda.memory_allocated() - before == 4 << 20
    del x
    assert torch.cuda.memory_allocated() == before and torch.cuda.max_memory_allocated() - before >= 4 << 20
    torch.cuda.empty_cache()
    refused(torch.OutOfMemoryError, "the toy is out of memory", lambda: torch.empty(1 << 33, device="cuda"))
    free, total = torch.cuda.mem_get_info()
    assert total == 8 << 30 and total - free == torch.cuda.memory_allocated()


def check_saving_and_loading():
    x = drawn(3, 4).cuda()
    both = {"x": x, "view": x[1:], "model": nn.Linear(2, 2).cuda().state_dict()}
    file = io.BytesIO()
    torch.save(both, file)
    for where, kind in ((None, "cuda"), ("cuda:0", "cuda"), ("cpu", "cpu"), (torch.device("cuda"), "cuda")):
        file.seek(0)
        found = torch.load(file, map_location=where)
        assert found["x"].device.type == kind and found["model"]["weight"].device.type == kind
        torch.testing.assert_close(found["view"].cpu(), drawn(3, 4)[1:])
        assert found["x"].untyped_storage().data_ptr() == found["view"].untyped_storage().data_ptr()
    assert b"cuda:0" in file.getvalue() and NAME.encode() not in file.getvalue()
    again = pickle.loads(pickle.dumps(x))
    assert again.is_cuda and torch.equal(again, x)
    assert copy.deepcopy(x).is_cuda


def check_refusals_by_name():
    refused(NotImplementedError, "aten::erfinv on cuda, which anywarp maps to", lambda: drawn(3).cuda().erfinv())
    refused(RuntimeError, "on the same device", lambda: drawn(3).cuda() + drawn(3))
    refused(AttributeError, "_cuda_memorySnapshot: anywarp maps cuda to", lambda: torch._C._cuda_memorySnapshot(None))
    # An accelerator has to have it, under its own name too: torch's code for LSTM asks every device but the CPU for it.
    lstm = nn.LSTM(4, 4).cuda()
    refused(NotImplementedError, "aten::_thnn_fused_lstm_cell on cuda", lambda: lstm(drawn(2, 1, 4).cuda()))
    missing = (NotImplementedError, RuntimeError)  # RuntimeError is torch's own, of a build without graphs for XPU
    if NAME == "toy":
        refused(
            NotImplementedError, "torch.toy.can_device_access_peer", lambda: torch.cuda.can_device_access_peer(0, 1)
        )
    else:
        refused(missing, "XPUGraph", torch.cuda.CUDAGraph)


def check_graphs_are_the_accelerators():
    if NAME != "toy":
        return
    graph, x = torch.cuda.CUDAGraph(), torch.ones(2, device="cuda")
    with torch.cuda.graph(graph, pool=torch.cuda.graph_pool_handle()):
        y = x * 2
    graph.replay()
    assert TOY.TOYGraph.calls == [("capture_begin", (0, 7)), "capture_end", "replay"] and y.tolist() == [2, 2]


def check_loaders_and_checkpointing():
    from torch.utils.checkpoint import checkpoint
    from torch.utils.data import DataLoader, TensorDataset

    layer = nn.Linear(4, 4).cuda()
    for (x,) in DataLoader(TensorDataset(drawn(6, 4)), batch_size=3, pin_memory=False):
        x = x.cuda(non_blocking=True).requires_grad_()
        checkpoint(layer, x, use_reentrant=False).sum().backward()
        torch.testing.assert_close(x.grad.cpu(), layer.weight.detach().cpu().sum(0).expand(3, 4))


def check_compiled_functions():
    def curve(x):
        return (x * 2).sin() + x.sum()

    x = drawn(4, 3)
    for backend in ("eager", "aot_eager"):
        out = torch.compile(curve, backend=backend)(x.cuda())
        assert out.is_cuda
        torch.testing.assert_close(out.cpu(), curve(x))
        torch._dynamo.reset()
    words = "TORCH_COMPILE_DISABLE=1"
    refused(Exception, words, lambda: torch.compile(curve)(x.cuda()))
    refused(Exception, words, lambda: torch.compile(lambda: torch.ones(3, device="cuda") + 1)())
    torch._dynamo.reset()
    with torch.compiler.set_stance("force_eager"):
        torch.testing.assert_close(torch.compile(curve)(x.cuda()).cpu(), curve(x))


def check_collectives():
    from torch import distributed

    with tempfile.TemporaryDirectory() as folder:
        store = {"init_method": f"file://{folder}/store", "rank": 0, "world_size": 1}
        words = f"no backend of torch.distributed for {NAME}, which nccl would be"
        if NAME == "xpu":  # torch knows what it would be, and a CPU build has none
            words = "XCCL"
        refused((NotImplementedError, RuntimeError), words, lambda: distributed.init_process_group("nccl", **store))
        distributed.init_process_group("cpu:gloo", **store)
        value = torch.ones(2)
        distributed.all_reduce(value)
        on_device = value.cuda()
        if NAME == "toy":  # the group has no backend for it; torch has a kernel for PrivateUse1 that says so
            refused(RuntimeError, "device type toy", lambda: distributed.all_reduce(on_device))
        else:  # and none for XPU, so that the toy's own fallback to the host takes Gloo
            distributed.all_reduce(on_device)
            assert on_device.is_cuda and on_device.tolist() == [1, 1]
        distributed.destroy_process_group()


def main():
    outcomes = {}
    for name, check in list(globals().items()):
        if not name.startswith("check_"):
            continue
        try:
            check()
            outcomes[name] = ""
        except Exception:
            outcomes[name] = traceback.format_exc()
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
