"""A CUDA build of PyTorch, untouched: operators, gradients, layouts, a training step, attention, recurrence, streams, a graph, compiled code, files
and a profile, against its own CPU."""

import copy
import os
import tempfile

import torch
import torchvision
from checked import check, end

assert torch.version.cuda and torch.cuda.is_available(), "no CUDA build, or no device"
torch.manual_seed(0)


def both(module, *given, bound=2e-5):
    """A module's output and the gradients of all that it has, on both devices."""
    there = copy.deepcopy(module).cuda()
    on_host, on_device = module(*given), there(*(each.cuda() for each in given))
    first = lambda out: out[0] if isinstance(out, tuple) else out  # noqa: E731
    weight = torch.randn_like(first(on_host))
    (first(on_host) * weight).sum().backward()
    (first(on_device) * weight.cuda()).sum().backward()
    name = type(module).__name__
    check(name, lambda: first(on_device).detach().cpu().double(), first(on_host).detach().double(), bound)
    for (part, one), other in zip(module.named_parameters(), there.parameters(), strict=True):
        check(
            f"{name}, gradient of {part}", lambda other=other: other.grad.cpu().double(), one.grad.double(), 10 * bound
        )


both(torch.nn.Linear(64, 48), torch.randn(32, 64))
both(torch.nn.Conv2d(3, 8, 3, padding=1), torch.randn(2, 3, 20, 20))
both(torch.nn.LayerNorm(48), torch.randn(16, 48))
both(torch.nn.BatchNorm2d(4), torch.randn(8, 4, 6, 6))
both(torch.nn.LSTM(8, 16, num_layers=2, bidirectional=True), torch.randn(7, 3, 8))
both(torch.nn.GRU(8, 16, batch_first=True), torch.randn(3, 7, 8))
both(torch.nn.MultiheadAttention(32, 4, batch_first=True), *[torch.randn(2, 10, 32)] * 3)
both(torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True), torch.randn(2, 10, 32))

x = torch.randn(37, 53)
for name, operator in {
    "sum": lambda t: t.sum(1), "sort": lambda t: t.sort(1)[0], "cumsum": lambda t: t.cumsum(0), "softmax": lambda t: t.softmax(-1),
    "gather": lambda t: t.gather(1, t.argsort(1)), "index": lambda t: t[t > 0], "topk": lambda t: t.topk(5)[0], "fft": lambda t: torch.fft.rfft(t).abs(),
    "svd": lambda t: torch.linalg.svdvals(t), "half": lambda t: (t.half() @ t.half().T).float(), "where": lambda t: torch.where(t > 0, t, -t),
}.items():  # fmt: skip
    check(
        name,
        lambda operator=operator: operator(x.cuda()).cpu().double(),
        operator(x).double(),
        2e-3 if name == "half" else 1e-5,
    )

scattered = x * (x > 0.5)
for layout in ("sparse", "sparse_csr", "sparse_csc"):
    to = getattr(torch.Tensor, f"to_{layout}")
    check(
        f"{layout}: a product",
        lambda to=to: (to(scattered.cuda()) @ x.T.cuda()).cpu().double(),
        (scattered @ x.T).double(),
        1e-5,
    )
    check(
        f"{layout}: scaled",
        lambda to=to: (to(scattered.cuda()) * 2).to_dense().cpu().double(),
        2 * scattered.double(),
        0,
    )
pairs = torch.tensor([[0, 0, 1], [2, 2, 0]])
check(
    "coalescing",
    lambda: (
        torch.sparse_coo_tensor(pairs, torch.tensor([1.0, 2, 3]), (2, 3)).cuda().coalesce().to_dense().cpu().double()
    ),
    torch.tensor([[0, 0, 3.0], [3, 0, 0]]).double(),
    0,
)
table = torch.nn.Embedding(10, 4, sparse=True).cuda()
table(torch.tensor([1, 2, 2]).cuda()).sum().backward()
check(
    "a sparse gradient",
    lambda: table.weight.grad.to_dense()[:, 0].cpu().double(),
    torch.tensor([0.0, 1, 2] + 7 * [0]).double(),
    0,
)
check(
    "quantised",
    lambda: torch.quantize_per_tensor(x.cuda(), 0.1, 0, torch.qint8).dequantize().cpu().double(),
    torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize().double(),
    0,
)
parts = [x[:3], x[3:8]]
check(
    "nested",
    lambda: torch.nested.nested_tensor(parts, device="cuda").softmax(-1).to_padded_tensor(0).cpu().double(),
    torch.nested.nested_tensor(parts).softmax(-1).to_padded_tensor(0).double(),
    1e-5,
)

boxes = torch.rand(50, 2).repeat(1, 2) * 20 + torch.tensor([0.0, 0, 5, 5])
scores, picture = torch.rand(50), torch.randn(1, 3, 32, 32)
check(
    "boxes of torchvision's",
    lambda: torchvision.ops.nms(boxes.cuda(), scores.cuda(), 0.3).cpu().double(),
    torchvision.ops.nms(boxes, scores, 0.3).double(),
    0,
)
check(
    "regions of torchvision's",
    lambda: torchvision.ops.roi_align(picture.cuda(), [boxes.cuda()], 4).cpu().double(),
    torchvision.ops.roi_align(picture, [boxes], 4).double(),
    1e-5,
)

halves = torch.tensor([0, 0, 1, 1]).half().tile(128, 32) * torch.randn(128, 128).half()
structured = torch.sparse.to_sparse_semi_structured(halves.cuda())
right = torch.randn(128, 64).half()
check(
    "a product of two in four",
    lambda: (structured @ right.cuda()).cpu().double(),
    halves.double() @ right.double(),
    2e-3,
)

compiled = torch.compile(lambda one, other: torch.nn.functional.gelu(one @ other).sum(-1))
check(
    "compiled code",
    lambda: compiled(x.cuda(), x.T.cuda()).cpu().double(),
    torch.nn.functional.gelu(x @ x.T).sum(-1).double(),
    1e-5,
)

model, given, answers = (
    torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)),
    torch.randn(64, 16),
    torch.randint(4, (64,)),
)
there = copy.deepcopy(model).cuda()
losses = []
for one, device in ((model, "cpu"), (there, "cuda")):
    steps = torch.optim.AdamW(one.parameters(), lr=1e-2, fused=True)
    for _ in range(20):
        loss = torch.nn.functional.cross_entropy(one(given.to(device)), answers.to(device))
        steps.zero_grad()
        loss.backward()
        steps.step()
    losses.append(loss.detach().cpu().double())
check("twenty steps of AdamW", lambda: losses[1], losses[0], 1e-4)

side, done = torch.cuda.Stream(), torch.cuda.Event()
big = torch.randn(512, 512).pin_memory()
with torch.cuda.stream(side):
    tripled = big.to("cuda", non_blocking=True) * 3
    done.record()
torch.cuda.current_stream().wait_event(done)
check("a copy and an operator on a stream", lambda: tripled.cpu().double(), big.double() * 3, 1e-6)
still, rows = torch.zeros(8, device="cuda"), torch.arange(8.0)
warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm):
    (still * rows.cuda() + 1).sum()
torch.cuda.current_stream().wait_stream(warm)
graph, factors = torch.cuda.CUDAGraph(), rows.cuda()
with torch.cuda.graph(graph):
    total = (still * factors + 1).sum()
for step in range(3):
    still.fill_(step)
    graph.replay()
    check(f"replay {step} of a graph", lambda: total.cpu().double(), (step * rows + 1).sum().double(), 0)

with tempfile.NamedTemporaryFile() as file:
    kept, place = x.cuda().contiguous(), torch.cuda.gds.GdsFile(file.name, os.O_CREAT | os.O_RDWR)
    place.save_storage(kept.untyped_storage())
    back = torch.zeros_like(kept)
    place.load_storage(back.untyped_storage())
    check("through a file", lambda: back.cpu().double(), x.double(), 0)

if tuple(map(int, torch.__version__.split(".")[:2])) >= (
    2,
    13,
):  # Kineto's interface for other devices is not in older headers
    with torch.profiler.profile() as profile:
        kept @ kept.T
    names = {each.name for each in profile.events() if each.device_type == torch.autograd.DeviceType.CUDA}
    seen = torch.tensor(float("aten::mm" in names)).double()
    check("a kernel in the profile", lambda: seen, torch.tensor(1.0).double(), 0)

again = [torch.randn(5, device="cuda", generator=torch.Generator("cuda").manual_seed(7)) for _ in range(2)]
check("a seed gives its numbers", lambda: again[0].cpu().double(), again[1].cpu().double(), 0)
end()
