"""What the self-test asks of a device, by suite; each question says what was wrong, with the values.

`instructions` and `lanes` are the table of instructions with exact values, `programs` are kernels against numpy, `driver` are the
calls that every program makes, `faults` is what happens after a mistake.
"""

# pyright: reportUnknownMemberType=false
from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from anywarp.check.conformance import kernels
from anywarp.check.conformance.table import ROWS
from anywarp.check.conformance.warp_inputs import MASKS
from anywarp.check.conformance.warp_rows import ROWS as ACROSS
from anywarp.check.machine import DriverError, Machine

PROGRAMS = Path(__file__).parent / "conformance/programs.ptx"

TOGETHER = 24
"""Rows of the table in one kernel."""


@dataclass(frozen=True)
class Question:
    """One thing asked of a device: `ask` returns complaints, none when all is right. `parts` are smaller questions that together
    ask the same, for when it cannot be answered as a whole."""

    suite: str
    name: str
    ask: Callable[[Machine], list[str]]
    count: int = 1
    parts: tuple[Question, ...] = ()


def questions(suite: str, every: int = 1) -> Iterator[Question]:
    """Yield a suite's questions; of the table of instructions every `every`-th row."""
    yield from SUITES[suite](every)


def _instructions(every: int) -> Iterator[Question]:
    rows = ROWS[::every]
    for n in range(0, len(rows), TOGETHER):
        part = rows[n : n + TOGETHER]
        yield _table("instructions", part, n, lambda m, p, s: kernels.check_straight(m.run, p, seed=s, threads=64))
    for n in range(0, len(rows), 8 * TOGETHER):
        part = rows[n : n + TOGETHER]
        yield _table("in loops", part, n, lambda m, p, s: kernels.check_divergent(m.run, p, seed=s, threads=77))


def _table(how: str, part: Any, seed: int, check: Callable[[Machine, Any, int], list[str]]) -> Question:
    def question(rows: Any) -> Callable[[Machine], list[str]]:
        return lambda machine: check(machine, rows, seed)

    alone = tuple(Question("instructions", f"{row.name} {how}", question([row])) for row in part)
    return Question("instructions", f"{part[0].name} and on, {how}", question(part), len(part), alone)


def _lanes(every: int) -> Iterator[Question]:
    rows = ACROSS[::every]
    launches = [
        ("all", MASKS[:3], 77),
        ("branch", MASKS[3:6], 96),
        ("branch", MASKS[5:8], 96),
        ("guard", MASKS[:4], 128),
    ]
    for how, masks, threads in launches:
        for n in range(0, len(rows), TOGETHER):
            yield _across(how, rows[n : n + TOGETHER], masks, threads)


def _across(how: str, part: Any, masks: Any, threads: int) -> Question:
    def question(rows: Any) -> Callable[[Machine], list[str]]:
        return lambda machine: kernels.check_across(machine.run, rows, how, masks, 3, threads)

    alone = tuple(Question("lanes", f"{_form(row)}, lanes by {how}", question([row])) for row in part)
    return Question("lanes", f"{_form(part[0])} and on, lanes by {how}", question(part), len(part), alone)


def _form(row: Any) -> str:
    return row.text.partition(" ")[0]


def _programs(_: int) -> Iterator[Question]:
    for check in (_axpy, _transpose, _dot, _keep_even, _colours, _half_axpy, _recursion, _variables):
        yield Question("programs", check.__name__.strip("_").replace("_", " "), check)


def _run(machine: Machine, name: str, grid: Any, block: Any, *args: Any, shared: int = 0) -> None:
    machine.run(PROGRAMS.read_text(), name, grid, block, args, shared)


def _differences(found: Any, wanted: Any, tolerance: float = 0.0) -> list[str]:
    found, wanted = np.asarray(found), np.asarray(wanted)
    wrong = ~(np.isclose(found, wanted, rtol=tolerance, atol=0) if tolerance else found == wanted)
    places = islice(zip(*np.nonzero(wrong), strict=True), 3)
    return [
        f"{int(wrong.sum())} of {wrong.size} differ; at {tuple(map(int, at))} {found[at]}, expected {wanted[at]}"
        for at in places
    ]


def _axpy(machine: Machine) -> list[str]:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 5000)).astype(np.float32)
    wanted = (2.5 * x.astype(np.float64) + y).astype(np.float32)  # exact in 64 bits, rounded once
    _run(machine, "axpy", 7, 96, np.float32(2.5), x.copy(), y := y.copy(), np.int32(5000))
    return _differences(y, wanted)


def _transpose(machine: Machine) -> list[str]:
    x = np.arange(45 * 70, dtype=np.int32).reshape(45, 70)
    out = np.zeros((70, 45), np.int32)
    _run(machine, "transpose", (5, 3), (16, 16), x, out, np.int32(70), np.int32(45))
    return _differences(out, np.arange(45 * 70).reshape(45, 70).T)


def _dot(machine: Machine) -> list[str]:
    a, b = np.random.default_rng(2).integers(-99, 99, (2, 3000)).astype(np.float64)
    out = np.zeros(1)
    _run(machine, "dot", 3, 128, a.copy(), b.copy(), out, np.int32(3000), shared=32)
    return _differences(out, [a @ b])


def _keep_even(machine: Machine) -> list[str]:
    x = np.random.default_rng(3).integers(0, 1000, 700).astype(np.int32)
    out, count = np.full(704, -1, np.int32), np.zeros(1, np.int32)
    _run(machine, "keep_even", 1, 704, x.copy(), out, count, np.int32(700))
    kept = x[x % 2 == 0]
    return _differences(count, [len(kept)]) + _differences(out[: len(kept)], kept)


def _colours(machine: Machine) -> list[str]:
    keys = np.random.default_rng(4).integers(0, 5, 192).astype(np.uint32)
    groups, leaders = np.zeros((2, 192), np.uint32)
    _run(machine, "colours", 2, 96, keys.copy(), groups, leaders)
    warps = keys.reshape(6, 32)
    same = (warps[:, :, None] == warps[:, None, :]) @ (1 << np.arange(32, dtype=np.uint64))
    first = np.array([[list(w).index(k) for k in w] for w in warps]) == np.arange(32)
    return _differences(groups, same.reshape(-1)) + _differences(leaders, first.reshape(-1))


def _half_axpy(machine: Machine) -> list[str]:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 400)).astype(np.float16)
    a = np.array([1.5, -0.25], np.float16)
    wanted = (np.tile(a, 200).astype(np.float64) * x + y).astype(np.float16)
    _run(machine, "half_axpy", 4, 64, a.tobytes(), x.copy(), y := y.copy(), np.int32(200))
    return _differences(y, wanted)


def _recursion(machine: Machine) -> list[str]:
    out = np.zeros(40, np.int32)
    _run(machine, "recursion", 1, 40, out)
    numbers = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
    return _differences(out, [numbers[t % 12] for t in range(40)])


def _variables(machine: Machine) -> list[str]:
    """Variables of a module keep their values between two kernels."""
    module = machine.load(PROGRAMS.read_text())
    out = np.zeros(64, np.int32)
    machine.run_in(module, "fill_table", 1, 64, [np.int32(7)])
    machine.run_in(module, "read_table", 1, 64, [out])
    machine.unload(module)
    return _differences(out, [7 * t + (3, 1, 4, 1)[t % 4] for t in range(63, -1, -1)])


def _driver(_: int) -> Iterator[Question]:
    for check in (_attributes, _copies, _fills, _streams_and_events, _graph, _occupancy):
        yield Question("driver", check.__name__.strip("_").replace("_", " "), check)


def _attributes(machine: Machine) -> list[str]:
    """Facts that CUDA programs rely on: CUdevice_attribute numbers 1, 10, 16, 75."""
    found = {n: machine.attribute(n) for n in (1, 10, 16, 75)}
    rules = {1: found[1] == 1024, 10: found[10] == 32, 16: found[16] >= 1, 75: found[75] >= 7}
    wrong = [f"attribute {n} is {found[n]}" for n, right in rules.items() if not right]
    return wrong + ([] if machine.name and machine.memory else ["the device has no name or no memory"])


def _copies(machine: Machine) -> list[str]:
    data = np.random.default_rng(6).integers(0, 256, 100_003).astype(np.uint8)
    back, a, b = np.zeros_like(data), machine.allocate(data.nbytes), machine.allocate(data.nbytes)
    machine.upload(a, data)
    size = ctypes.c_size_t(data.nbytes - 1)
    machine.call("cuMemcpyDtoD_v2", ctypes.c_uint64(b), ctypes.c_uint64(a + 1), size)
    machine.download(back, b)
    machine.free(a)
    machine.free(b)
    return _differences(back[:-1], data[1:])


def _fills(machine: Machine) -> list[str]:
    out, memory = np.zeros(1000, np.uint32), machine.allocate(4000)
    machine.call("cuMemsetD32_v2", ctypes.c_uint64(memory), ctypes.c_uint(0xDEADBEEF), ctypes.c_size_t(1000))
    machine.call("cuMemsetD8_v2", ctypes.c_uint64(memory + 2000), ctypes.c_ubyte(0x5A), ctypes.c_size_t(2000))
    machine.download(out, memory)
    machine.free(memory)
    return _differences(out, [0xDEADBEEF] * 500 + [0x5A5A5A5A] * 500)


def _streams_and_events(machine: Machine) -> list[str]:
    """Work of one stream waits for an event of another."""
    module = machine.load(PROGRAMS.read_text())
    fill, read = machine.function(module, "fill_table"), machine.function(module, "read_table")
    streams = [ctypes.c_void_p(), ctypes.c_void_p()]
    for stream in streams:
        machine.call("cuStreamCreate", ctypes.byref(stream), 1)
    start, end = ctypes.c_void_p(), ctypes.c_void_p()
    for event in (start, end):
        machine.call("cuEventCreate", ctypes.byref(event), 0)
    out, memory = np.zeros(64, np.int32), machine.allocate(256)
    machine.call("cuEventRecord", start, streams[0])
    for factor in range(20):
        machine.launch(fill, 1, 64, [np.int32(factor).tobytes()], stream=streams[0])
    machine.call("cuEventRecord", end, streams[0])
    machine.call("cuStreamWaitEvent", streams[1], end, 0)
    machine.launch(read, 1, 64, [memory.to_bytes(8, "little")], stream=streams[1])
    machine.call("cuStreamSynchronize", streams[1])
    machine.download(out, memory)
    spent = ctypes.c_float(-1)
    machine.call("cuEventElapsedTime", ctypes.byref(spent), start, end)
    for stream in streams:
        machine.call("cuStreamDestroy_v2", stream)
    machine.free(memory)
    machine.unload(module)
    wrong = _differences(out, [19 * t + (3, 1, 4, 1)[t % 4] for t in range(63, -1, -1)])
    return wrong + ([] if spent.value >= 0 else [f"the time between two events is {spent.value} ms"])


def _graph(machine: Machine) -> list[str]:
    """A captured kernel and copy, launched three times."""
    module, stream = machine.load(PROGRAMS.read_text()), ctypes.c_void_p()
    axpy = machine.function(module, "axpy")
    machine.call("cuStreamCreate", ctypes.byref(stream), 1)
    x, y, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32), np.zeros(100, np.float32)
    places = [machine.allocate(400), machine.allocate(400), machine.allocate(400)]
    machine.upload(places[0], x)
    machine.upload(places[1], y)
    graph, runnable = ctypes.c_void_p(), ctypes.c_void_p()
    machine.call("cuStreamBeginCapture_v2", stream, 0)
    values = [np.float32(1).tobytes(), *(p.to_bytes(8, "little") for p in places[:2]), np.int32(100).tobytes()]
    machine.launch(axpy, 1, 64, values, stream=stream)
    machine.call(
        "cuMemcpyDtoDAsync_v2", ctypes.c_uint64(places[2]), ctypes.c_uint64(places[1]), ctypes.c_size_t(400), stream
    )
    machine.call("cuStreamEndCapture", stream, ctypes.byref(graph))
    machine.call("cuGraphInstantiateWithFlags", ctypes.byref(runnable), graph, ctypes.c_ulonglong(0))
    for _ in range(3):
        machine.call("cuGraphLaunch", runnable, stream)
    machine.call("cuStreamSynchronize", stream)
    machine.download(out, places[2])
    machine.call("cuGraphExecDestroy", runnable)
    machine.call("cuGraphDestroy", graph)
    machine.call("cuStreamDestroy_v2", stream)
    for place in places:
        machine.free(place)
    machine.unload(module)
    return _differences(out, 3 * x)


def _occupancy(machine: Machine) -> list[str]:
    module, blocks = machine.load(PROGRAMS.read_text()), ctypes.c_int()
    function = machine.function(module, "axpy")
    machine.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(blocks), function, 256, ctypes.c_size_t(0))
    machine.unload(module)
    return [] if 1 <= blocks.value <= 32 else [f"{blocks.value} blocks of 256 threads fit on a multiprocessor"]


def _faults(_: int) -> Iterator[Question]:
    yield Question("faults", "too much shared memory is refused", _too_much_shared)
    yield Question("faults", "broken PTX is refused", _broken_ptx)
    yield Question("faults", "a trap stays as an error", _trap)  # last: the context is lost after it


def _code_of(ask: Callable[[], None]) -> int:
    try:
        ask()
    except DriverError as error:
        return error.code
    return 0


def _too_much_shared(machine: Machine) -> list[str]:
    """CUDA_ERROR_INVALID_VALUE (1), as cuLaunchKernel documents for more than a block may have."""
    code = _code_of(
        lambda: _run(machine, "axpy", 1, 32, np.float32(1), np.zeros(1), np.zeros(1), np.int32(0), shared=1 << 20)
    )
    return [] if code in (1, 701) else [f"the launch returned {code}, expected 1 or 701"]


def _broken_ptx(machine: Machine) -> list[str]:
    code = _code_of(
        lambda: machine.unload(machine.load(".version 8.0\n.target sm_80\n.visible .entry k() { add.s32 %r1, ; }"))
    )
    code = code or _code_of(
        lambda: machine.run(".version 8.0\n.target sm_80\n.visible .entry k() { add.s32 %r1, ; }", "k", 1, 1, [])
    )
    return [] if code == 218 else [f"it returned {code}, expected 218"]


def _trap(machine: Machine) -> list[str]:
    codes = [_code_of(lambda: _run(machine, "trap_in_one", 2, 64, np.int32(37))), _code_of(machine.synchronize)]
    return [] if codes == [719, 719] or codes == [716, 716] else [f"the calls returned {codes}, expected 719 for each"]


SUITES: dict[str, Callable[[int], Iterator[Question]]] = {
    "driver": _driver,
    "programs": _programs,
    "lanes": _lanes,
    "instructions": _instructions,
    "faults": _faults,
}
"""The suites in the order in which they are asked."""
