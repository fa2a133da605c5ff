"""Translated kernels keep CUDA's warps of 32 lanes on waves of 64 and of 32: run in an emulator, with different data in every lane.

Expected values follow CUDA's programming guide, computed here per warp of 32 in plain Python.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from migrate.translate import device_code

pytestmark = [pytest.mark.amd_emulator, pytest.mark.hip_compiler]

SOURCE = Path(__file__).with_name("warps.cu")
THREADS = 256
DATA = [(i * 2654435761 >> 7) % 4001 - 1500 for i in range(THREADS)]
WARPS = [DATA[i : i + 32] for i in range(0, THREADS, 32)]


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def kernels(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """The translated source as a code object for one architecture, and which."""
    folder = tmp_path_factory.mktemp(request.param)
    done = device_code.translate(SOURCE, folder, request.param)
    assert done.returncode in (0, 1), done.stderr
    return device_code.code_object_of(folder / SOURCE.name, request.param), request.param


def run(kernels: tuple[bytes, str], name: str, per_thread: int = 1) -> list[int]:
    """Run a kernel of (input, output) and return the output as unsigned numbers."""
    code, architecture = kernels
    start = struct.pack(f"<{THREADS}i", *DATA)
    out = bytes([0xEE]) * (4 * THREADS * per_thread)
    after = device_code.launch(code, architecture, name, THREADS, [start, out])
    assert after[0] == start, "the input is not written"
    return list(struct.unpack(f"<{THREADS * per_thread}I", after[1]))


def wrapped(values: list[int]) -> list[int]:
    return [value & 0xFFFFFFFF for value in values]


def test_a_warp_is_summed_apart(kernels: tuple[bytes, str]):
    assert run(kernels, "sums")[:8] == wrapped([sum(warp) for warp in WARPS])


def test_a_block_is_summed_through_a_warp(kernels: tuple[bytes, str]):
    assert run(kernels, "block_sum")[0] == sum(DATA) & 0xFFFFFFFF


def test_votes_are_those_of_32_lanes(kernels: tuple[bytes, str]):
    out = run(kernels, "votes", 4)
    for i in range(THREADS):
        warp, lane = WARPS[i // 32], i % 32
        odd = sum(1 << k for k, value in enumerate(warp) if value & 1)
        expected = [odd, (odd & ((1 << lane) - 1)).bit_count(), int(77 in warp), int(all(v > 1000 for v in warp))]
        assert out[4 * i : 4 * i + 4] == expected, i


def test_a_butterfly_exchanges_within_the_warp(kernels: tuple[bytes, str]):
    expected: list[int] = []
    for warp in WARPS:
        now = list(warp)
        for mask in (1, 2, 4, 8, 16):
            now = [now[k] * 31 + now[k ^ mask] for k in range(32)]
        expected += now
    assert run(kernels, "butterfly") == wrapped(expected)


def test_a_scan_begins_anew_in_every_warp(kernels: tuple[bytes, str]):
    expected = [sum(warp[: k + 1]) for warp in WARPS for k in range(32)]
    assert run(kernels, "scan") == wrapped(expected)


def test_a_lane_is_picked_from_the_own_warp(kernels: tuple[bytes, str]):
    out = run(kernels, "picked", 2)
    for i in range(THREADS):
        warp, lane = WARPS[i // 32], i % 32
        assert out[2 * i] == warp[5] & 0xFFFFFFFF
        assert out[2 * i + 1] == warp[(lane & 16) + ((i + 3) & 15)] & 0xFFFFFFFF


def test_masks_of_active_lanes_have_32_bits(kernels: tuple[bytes, str]):
    out = run(kernels, "branches")
    for i in range(THREADS):
        here = sum(1 << k for k, value in enumerate(WARPS[i // 32]) if bool(value & 2) == bool(DATA[i] & 2))
        assert out[i] == (here if DATA[i] & 2 else here.bit_count()), i


def test_shared_memory_is_exchanged_at_syncwarp(kernels: tuple[bytes, str]):
    doubled = [2 * DATA[i ^ 31] for i in range(THREADS)]
    assert run(kernels, "neighbours") == wrapped([doubled[i ^ 1] for i in range(THREADS)])


def test_matches_are_sought_within_the_warp(kernels: tuple[bytes, str]):
    def rest(value: int) -> int:
        return value % 5 if value >= 0 else -(-value % 5)  # C++ truncates

    expected = [
        sum(1 << k for k in range(32) if rest(warp[k]) == rest(warp[lane])) for warp in WARPS for lane in range(32)
    ]
    assert run(kernels, "alike") == expected


def test_lane_numbers_of_ptx_are_cudas(kernels: tuple[bytes, str]):
    code, architecture = kernels
    after = device_code.launch(code, architecture, "lanes", THREADS, [bytes(8 * THREADS)])
    out = struct.unpack(f"<{2 * THREADS}I", after[0])
    assert list(out[0::2]) == [i % 32 for i in range(THREADS)]
    assert list(out[1::2]) == [(1 << i % 32) - 1 for i in range(THREADS)]


def test_at_the_edge_of_a_warp_a_lane_keeps_its_own_value(kernels: tuple[bytes, str]):
    out = run(kernels, "edges", 2)
    for i in range(THREADS):
        warp, lane = WARPS[i // 32], i % 32
        assert out[2 * i] == warp[lane + 3 if lane < 29 else lane] & 0xFFFFFFFF
        assert out[2 * i + 1] == warp[lane - 3 if lane > 2 else lane] & 0xFFFFFFFF


def test_groups_of_equal_labels_are_those_of_a_tile(kernels: tuple[bytes, str]):
    expected: list[int] = []
    for warp in WARPS:
        labels = [value & 3 for value in warp]
        expected += [labels.count(label) * 100 + labels[:lane].count(label) for lane, label in enumerate(labels)]
    assert run(kernels, "labels") == expected
