"""ANYWARP_ASYNC=1: operators return at once, and every number is the one of the ordinary mode, bit for bit."""

import hashlib
import re

import pytest

pytestmark = pytest.mark.torch

HEAD = """
import hashlib, sys, time, torch
import torch.nn as nn, torch.nn.functional as F
torch.manual_seed(1)
dev = "cuda"
kept = hashlib.sha256()
def show(*tensors):
    for each in tensors: kept.update(each.detach().cpu().numpy().tobytes())
"""

TRAINING = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Embedding(50, 32), nn.LayerNorm(32)
        self.attend = nn.MultiheadAttention(32, 2, batch_first=True, dropout=0.1)
        self.conv, self.batch, self.lstm = nn.Conv1d(32, 32, 3, padding=1), nn.BatchNorm1d(32), nn.LSTM(32, 16, batch_first=True)
        self.out = nn.Sequential(nn.Dropout(0.2), nn.Linear(16, 50))
    def forward(self, ids):
        x = self.norm(self.embed(ids))
        x = x + self.attend(x, x, x, need_weights=False)[0]
        x = self.batch(self.conv(x.transpose(1, 2))).transpose(1, 2)
        return self.out(self.lstm(x)[0])
import warnings; warnings.simplefilter("ignore")
net = Net().to(dev)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cuda")
for step in range(6):
    ids = torch.randint(0, 50, (4, 11)).pin_memory().to(dev, non_blocking=True)
    with torch.autocast("cuda", dtype=torch.float16, enabled=step % 2 == 1):
        logits = net(ids)
        loss = F.cross_entropy(logits.flatten(0, 1).float(), ids.flatten())
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    show(loss)
show(*net.state_dict().values())
"""

OPERATORS = """
x = torch.randn(33, 17, device=dev)
show(x.sort(0)[1], x.topk(3).values, x.cumsum(1), x.std(), x.var(0), torch.einsum("ij,kj->ik", x, x), torch.cat([x, x[:2]]))
show(x[torch.tensor([3, 1])], x[x > 0], x.masked_fill(x > 0, 2), x.where(x > 0, x * 2), torch.unique((x * 2).int()), (x > 1).nonzero())
show(torch.linalg.svdvals(x), torch.linalg.norm(x), F.softmax(x, -1), x.to_sparse().to_dense(), torch.fft.rfft(x).abs(), x.half().float())
y = x.clone(); y[2:4] = 7; y[:, 1].mul_(3); y.t_(); y.resize_(20, 5); y.index_add_(0, torch.tensor([0, 2], device=dev), torch.ones(2, 5, device=dev))
show(y, torch.empty(0, device=dev).resize_(3).fill_(2), torch.arange(10, device=dev), torch.linspace(0, 1, 7, device=dev), torch.full((2,), 3.5, device=dev))
out = torch.empty(0, device=dev); torch.add(x, 1, out=out); show(out)
values, indices = torch.empty(0, device=dev), torch.empty(0, dtype=torch.long, device=dev)
torch.max(x, 1, out=(values, indices)); show(values, indices)
show(*torch._foreach_add([x, y], 1.0), torch.bmm(x[None], x.t()[None]), F.conv2d(x[None, None], torch.ones(1, 1, 3, 3, device=dev)), x.int().bitwise_and(3))
a = torch.complex(x, x); show(torch.view_as_real(a.conj() * a), torch.view_as_real(a.conj().resolve_conj()))
"""

STREAMS = """
first, second = torch.cuda.Stream(), torch.cuda.Stream()
x = torch.zeros(1000, device=dev)
for _ in range(20):
    first.wait_stream(torch.cuda.current_stream())
    second.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(first): a = x + 1; a.add_(torch.rand(1000, device=dev))
    with torch.cuda.stream(second): b = x * 2 - 1; b.mul_(torch.randn(1000, device=dev))
    second.wait_stream(first)
    with torch.cuda.stream(second): c = a * b
    torch.cuda.current_stream().wait_stream(second)
    for each in (a, b, c): each.record_stream(torch.cuda.current_stream())
    x = (a + b + c).clamp(-3, 3)
    torch.cuda._sleep(100000)
show(x, torch.cuda.get_rng_state())
"""

DEVICES = """
x = torch.randn(300, 300, device="cuda:0")
for _ in range(10):
    y = (x @ x).tanh()
    z = y.to("cuda:1", non_blocking=True)
    z = z * 2 + 1
    x = z.to("cuda:0") * 0.5
    with torch.cuda.device(1): w = torch.ones(3, device="cuda") + z[0, :3]
show(x, w)
"""

PROGRAMS = {"training": TRAINING, "operators": OPERATORS, "streams": STREAMS, "devices": DEVICES}


def test_programs_compute_the_same_bits_in_both_modes(under_anywarp):
    code = HEAD + "".join(f"{text}\nprint('{name}', kept.hexdigest())\n" for name, text in PROGRAMS.items())
    ends = [under_anywarp("-c", code, env={"ANYWARP_ASYNC": on, "ANYWARP_DEVICES": "2"}) for on in ("0", "1")]
    lines = [done.stdout.splitlines() for done in ends]
    assert [line.split()[0] for line in lines[0]] == list(PROGRAMS), ends[0].stderr
    assert lines[0] == lines[1], ends[1].stderr
    assert len({hashlib.sha256().hexdigest(), *(line.split()[1] for line in lines[0])}) == len(PROGRAMS) + 1


def run(under_anywarp, program):
    done = under_anywarp("-c", HEAD + program, env={"ANYWARP_ASYNC": "1"})
    assert done.returncode == 0, done.stderr
    return done


def test_operators_return_before_they_have_run(under_anywarp):
    program = """
x = torch.ones(8, device=dev); (x + x).mul_(2); torch.cuda.synchronize()
begin = time.perf_counter()
torch.cuda._sleep(int(1.0 * torch.cuda.get_device_properties(0).clock_rate * 1000))
y = (x + x).mul_(2).view(2, 4).t().contiguous(); shape = y.shape
given = time.perf_counter() - begin
print(given < 0.9, tuple(shape), torch.cuda.current_stream().query())
print(y.sum().item(), time.perf_counter() - begin >= 1.0)
"""
    assert run(under_anywarp, program).stdout.split("\n")[:2] == ["True (4, 2) False", "32.0 True"]


def test_shapes_that_do_not_fit_are_refused_at_once(under_anywarp):
    program = """
for attempt in (lambda: torch.ones(2, 3, device=dev) @ torch.ones(2, 3, device=dev), lambda: torch.ones(2, device=dev) + torch.ones(3, device=dev),
                lambda: torch.ones(2, device=dev) + torch.ones(2)):
    try: attempt()
    except RuntimeError as error: print("refused:", str(error).split(",")[0].split("(")[0])
"""
    said = run(under_anywarp, program).stdout
    assert said.count("refused:") == 3 and "Expected all tensors to be on the same device" in said


def test_an_error_of_an_operator_is_told_at_the_next_synchronisation_and_sticks(under_anywarp):
    program = """
table = torch.zeros(4, 2, device=dev)
y = F.embedding(torch.tensor([9], device=dev), table)
for attempt in (torch.cuda.synchronize, lambda: y.cpu(), lambda: torch.ones(1, device=dev).item()):
    try: attempt(); print("fine")
    except torch.AcceleratorError as error: print(error.error_code, "device-side assert triggered" in str(error))
"""
    done = run(under_anywarp, program)
    assert done.stdout.splitlines() == ["710 True"] * 3
    assert re.search("anywarp: .*aten::embedding.*(index|range)", done.stderr)


def test_freed_memory_is_given_only_to_work_that_comes_behind(under_anywarp):
    program = """
torch.cuda._sleep(int(0.2 * torch.cuda.get_device_properties(0).clock_rate * 1000))
x = torch.full((1 << 18,), 3.0, device=dev)
for i in range(50):
    x = x + 1  # frees the one before, which work not done yet still reads
y = torch.zeros(1 << 18, device=dev)
print(x.min().item(), x.max().item(), y.sum().item(), torch.cuda.memory_allocated() <= 4 << 20)
"""
    assert run(under_anywarp, program).stdout.split() == ["53.0", "53.0", "0.0", "True"]


def test_host_memory_may_change_as_soon_as_an_operator_has_returned(under_anywarp):
    program = """
torch.cuda._sleep(int(0.2 * torch.cuda.get_device_properties(0).clock_rate * 1000))
host = torch.ones(4); scalar = torch.tensor(2.0); index = torch.tensor([0, 1])
x = torch.zeros(4, device=dev); x.copy_(host, non_blocking=True)
y = x * scalar; z = y[index]
host.fill_(7); scalar.fill_(7); index.fill_(3)
print(x.tolist(), y.tolist(), z.tolist())
"""
    assert run(under_anywarp, program).stdout.strip() == "[1.0, 1.0, 1.0, 1.0] [2.0, 2.0, 2.0, 2.0] [2.0, 2.0]"


def test_graphs_work_as_in_the_ordinary_mode(under_anywarp):
    program = """
x = torch.zeros(4, device=dev); graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph): y = x.add_(1) * torch.rand(4, device=dev)
torch.cuda.manual_seed(3)
for _ in range(3): graph.replay()
seen = y.clone(); after = torch.rand(2, device=dev)
torch.cuda.manual_seed(3)
drawn = [torch.rand(4, device=dev) for _ in range(3)]
print(x.tolist(), torch.equal(seen, drawn[2] * 3), torch.equal(after, torch.rand(2, device=dev)))
"""
    assert run(under_anywarp, program).stdout.strip() == "[3.0, 3.0, 3.0, 3.0] True True"
