"""ANYWARP_DEVICES=2: what PyTorch's documentation promises of two devices (two_devices_*.py), and whose contexts are made."""

import json
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch

CHECKS, GRAPHS, OPERATORS = (
    Path(__file__).with_name(f"two_devices_{each}.py") for each in ("checks", "graphs", "operators")
)
NAMES = [
    (path, name)
    for path in (CHECKS, GRAPHS)
    for name in re.findall(r"^def (check_\w+)", path.read_text(), re.MULTILINE)
]
TWO = {"ANYWARP_DEVICES": "2"}


@pytest.fixture(scope="session")
def found():
    return {}


@pytest.mark.parametrize("mode", ["at_once", "async"])
@pytest.mark.parametrize(("path", "name"), NAMES, ids=[name for _, name in NAMES])
def test_two_devices(path, name, mode, under_anywarp, found):
    if (path, mode) not in found:
        done = under_anywarp(path, env={**TWO, "ANYWARP_ASYNC": str(int(mode == "async"))}, timeout=300)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["check_')]
        found[path, mode] = dict(lines), done.stderr
    wrong, words = found[path, mode]
    assert name in wrong, words
    assert not wrong[name], wrong[name]


@pytest.mark.parametrize("mode", ["plain", "autocast"])
@pytest.mark.parametrize("part", [pytest.param("1/1", marks=pytest.mark.long), "5/24"])
def test_operators_refuse_tensors_of_another_device(part, mode, under_anywarp):
    done = under_anywarp(OPERATORS, part, mode, env=TWO, timeout=3000)
    assert done.returncode == 0 and done.stdout.startswith("refused "), done.stdout + done.stderr


def test_the_sanitizer_sees_what_orders_streams(under_anywarp):
    done = under_anywarp(CHECKS, "sanitized", env=TWO)
    assert done.stdout.strip() == "sanitized", done.stderr


# The driver's answer, and torch's.
ACTIVE = """
import ctypes, torch
driver = ctypes.CDLL("libcuda.so.1")
def active():
    found = []
    for device in range(2):
        flags, on = ctypes.c_uint(), ctypes.c_int()
        assert driver.cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(on)) == 0
        assert torch._C._cuda_hasPrimaryContext(device) == bool(on.value)
        found.append(on.value)
    return found
"""

OF_NONE = """
assert torch.cuda.is_available() and torch.cuda.device_count() == 2
torch.cuda.init()
assert active() == [0, 0], active()
torch.manual_seed(1); torch.cuda.manual_seed_all(2); torch.cuda.get_device_properties(1); torch.cuda.current_device()
assert torch.cuda.memory_allocated(1) == 0 and torch.cuda.memory_stats(0) is not None
torch.cuda.current_stream(1), torch.cuda.default_stream(0), torch.cuda.get_rng_state(1), torch.cuda.is_current_stream_capturing()
torch.cuda.Event(), torch.ones(3).is_pinned(), torch.device("cuda:1"), torch.Generator("cuda:1").manual_seed(3)
torch.cuda.empty_cache()
assert active() == [0, 0], active()
"""

OF_ONE = """
x = torch.randn(10, device="cuda:{this}")
assert active() == {only}, active()
y = (x @ x + x.sum()).relu(); str(x); repr(y); x.cpu(); x.tolist(); x[2:].clone(); torch.arange(5, device="cuda:{this}").float().mean().item()
h = torch.randn(10); h.copy_(x); x.copy_(h); x.to("cpu"); torch.save(x, "/dev/null")
w = torch.ones(10, device="cuda:{this}", requires_grad=True); (w * x).sum().backward()
assert active() == {only}, active()
p = torch.ones(4).pin_memory(); assert p.is_pinned() and not x.is_pinned() and not h.is_pinned()
torch.zeros(3, pin_memory=True), torch.empty(3, pin_memory=True), p.to("cuda:{this}", non_blocking=True), torch.empty_like(p, pin_memory=True)
assert active() == {only}, active()
e = torch.cuda.Event(); s = torch.cuda.Stream({this}); e.record(s); s.wait_event(e); e.synchronize(); e.query(); s.query(); s.synchronize()
x.record_stream(s); torch.cuda.synchronize({this}); torch.cuda.empty_cache(); torch.cuda.mem_get_info({this})
with torch.cuda.stream(s):
    torch.rand(3, device="cuda:{this}").add_(1)
assert active() == {only}, active()
g = torch.cuda.CUDAGraph()
with torch.cuda.device({this}):
    with torch.cuda.graph(g): z = x + 1
g.replay(); z.sum().item()
torch.nn.Linear(10, 2).to("cuda:{this}")(x).sum().backward()
del x, y, w, z, e, g
import gc; gc.collect(); torch.cuda.empty_cache()
assert active() == {only}, active()
torch.ones(1, device="cuda:{that}")
assert active() == [1, 1]
"""


@pytest.mark.spread("this")
@pytest.mark.parametrize("mode", ["0", "1"])
@pytest.mark.parametrize("this", [0, 1])
def test_a_context_is_made_where_one_is_asked_for(this, mode, under_anywarp):
    only = [int(each == this) for each in range(2)]
    code = ACTIVE + OF_NONE + OF_ONE.format(this=this, that=1 - this, only=only) + "print('fine')"
    done = under_anywarp("-c", code, env={**TWO, "ANYWARP_ASYNC": mode})
    assert done.stdout.strip() == "fine", done.stderr
