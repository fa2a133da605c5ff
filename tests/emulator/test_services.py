"""printf, assertions, traps, malloc and free of kernels for AMD GPUs, as far as the kernels' side goes (`cases/services.cu`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anywarp.devices.cpu.execute import KernelTrap
from semantics.emulated import HEAP, Program

PTX = (Path(__file__).parent / "cases/services.ptx").read_text()
SCRIPT = Path(__file__).parents[2] / "native/hip/device/make_services.py"
pytestmark = pytest.mark.amd_emulator


@pytest.fixture(params=["gfx942", "gfx1100"], scope="module")
def program(request):
    return Program(PTX, request.param)


def fresh(program, **sizes):
    own = Program(PTX, program.arch)
    own.compiled = program.compiled
    for name, value in sizes.items():
        setattr(own, name, value)
    return own


def test_prints_of_all_threads_arrive_once_with_their_arguments(program):
    names = np.frombuffer(b"one\0two\0tri\0fou\0fiv\0", np.uint8).copy()
    program.run("prints", 2, 64, (names, 1.5))
    texts = names.tobytes().split(b"\0")
    wanted = [
        f"{t}: {texts[t % 5].decode()} {1.5 * t:5.2f} {t << 33} {chr(97 + t % 26)} 0x{0x1000 + t:x} 100%\n"
        for t in range(128)
        if t % 3 == 1
    ]
    wanted += ["plain\n", f"[{-41:6d}|{'one':8}|ne]\n"]
    assert sorted(program.printed) == sorted(wanted)


def test_records_that_find_no_room_are_counted_and_the_others_are_whole(program):
    small = fresh(program, record_bytes=1024)
    names = np.frombuffer(b"one\0two\0tri\0fou\0fiv\0", np.uint8).copy()
    small.run("prints", 2, 64, (names, 1.5))
    assert 3 < len(small.printed) < 20 and all(t.endswith("\n") for t in small.printed)
    assert small.state.dropped + len(small.printed) == 45
    assert small.state.written <= 1024


def test_an_assertion_tells_its_text_and_place(program):
    out = np.full(64, -1, np.int32)
    program.run("asserts", 1, 64, (64, out))
    assert (out == np.arange(64)).all()
    with pytest.raises(
        KernelTrap,
        match=r"services.cu:10: .*asserts.*threadIdx.x < limit. failed.*thread \((4[0-9]|5[0-9]|6[0-3]), 0, 0\)",
    ):
        program.run("asserts", 1, 64, (40, out))


def test_a_trap_tells_block_and_thread(program):
    with pytest.raises(KernelTrap, match=r"trap in block \(0, 0, 0\), thread \(37, 0, 0\) \(line \d+ of the PTX\)"):
        program.run("traps", 1, 64, (37,))
    program.run("traps", 1, 64, (64,))


def test_allocations_are_apart_and_freed_memory_is_used_again(program):
    own = fresh(program)
    threads, rounds = 96, 4
    out = np.zeros(2 * threads, np.uint64)
    own.run("allocates", 1, threads, (out, 40, rounds))
    wanted = [rounds * sum(t * 1000 + i for i in range(10)) for t in range(threads)]
    np.testing.assert_array_equal(out[:threads], wanted)
    places = np.sort(out[threads:])
    assert (places % 16 == 0).all() and (np.diff(places) >= 40).all()
    assert (places >= HEAP).all() and (places < HEAP + own.heap_bytes).all()
    assert own.state.heap_top < 2.2 * threads * (40 + 16 * 3 + 16)  # what is freed is given out again


def test_memory_that_is_freed_twice_is_not_given_out_twice(program):
    own = fresh(program)
    out = np.zeros(64, np.uint64)
    own.run("allocates", 1, 32, (out, 40, 1))
    first = out[32:].copy()
    own.run("frees", 1, 32, (first,), keep=True)
    assert own.state.frees == 32
    own.run("allocates", 1, 32, (out, 40, 1), keep=True)
    assert set(out[32:].tolist()) == set(first.tolist())


def test_a_full_heap_gives_null(program):
    small = fresh(program, heap_bytes=1024)
    out = np.zeros(64, np.uint64)
    small.run("allocates", 1, 32, (out, 64, 1))
    assert 4 <= (out[:32] != 2**64 - 1).sum() <= 12
    assert small.state.heap_top <= 1024


def test_the_text_that_kernels_are_linked_with_is_that_of_the_source():
    subprocess.run([sys.executable, str(SCRIPT), "--check"], check=True, timeout=100)
