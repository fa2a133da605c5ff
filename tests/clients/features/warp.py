"""Warp intrinsics: shuffles, votes, matches, under full and partial masks and in divergent flow."""

import numpy as np
from numba import cuda

FULL = 0xFFFFFFFF
LANES = np.arange(32)


@cuda.jit
def shuffles(values, picked, up, down, crossed, sources):
    lane = cuda.threadIdx.x
    picked[lane] = cuda.shfl_sync(FULL, values[lane], sources[lane])
    up[lane] = cuda.shfl_up_sync(FULL, values[lane], 3)
    down[lane] = cuda.shfl_down_sync(FULL, values[lane], 5)
    crossed[lane] = cuda.shfl_xor_sync(FULL, values[lane], 9)


def check_shuffle(dtype):
    rng = np.random.default_rng(3)
    values = (rng.random(32) * 1000 - 500).astype(dtype)
    sources = rng.integers(0, 32, 32).astype(np.int32)
    got = [cuda.device_array(32, dtype) for _ in range(4)]
    shuffles[1, 32](cuda.to_device(values), *got, cuda.to_device(sources))
    picked, up, down, crossed = (array.copy_to_host() for array in got)
    np.testing.assert_array_equal(picked, values[sources])
    np.testing.assert_array_equal(up, np.where(LANES < 3, values, np.roll(values, 3)))
    np.testing.assert_array_equal(down, np.where(LANES > 26, values, np.roll(values, -5)))
    np.testing.assert_array_equal(crossed, values[LANES ^ 9])


def check_shuffle_int32():
    check_shuffle(np.int32)


def check_shuffle_int64():
    check_shuffle(np.int64)


def check_shuffle_float32():
    check_shuffle(np.float32)


def check_shuffle_float64():
    check_shuffle(np.float64)


@cuda.jit
def scan(values, out):
    i = cuda.grid(1)
    lane = cuda.laneid
    acc = values[i]
    step = 1
    while step < 32:
        other = cuda.shfl_up_sync(FULL, acc, step)
        if lane >= step:
            acc += other
        step *= 2
    out[i] = acc


def check_inclusive_scan():
    values = np.random.default_rng(4).integers(-100, 100, 256).astype(np.int32)
    out = cuda.device_array(256, np.int32)
    scan[2, 128](cuda.to_device(values), out)
    np.testing.assert_array_equal(out.copy_to_host(), values.reshape(-1, 32).cumsum(1).reshape(-1))


@cuda.jit
def reduce_down(values, out):
    i = cuda.grid(1)
    acc = values[i]
    for step in (16, 8, 4, 2, 1):
        acc += cuda.shfl_down_sync(FULL, acc, step)
    if cuda.laneid == 0:
        out[i // 32] = acc


def check_warp_sum():
    values = np.random.default_rng(5).standard_normal(320).astype(np.float32)
    out = cuda.device_array(10, np.float32)
    reduce_down[2, 160](cuda.to_device(values), out)
    np.testing.assert_allclose(
        out.copy_to_host(), values.astype(np.float64).reshape(10, 32).sum(1), rtol=1e-4, atol=1e-4
    )


@cuda.jit
def votes(flags, out):
    lane = cuda.threadIdx.x
    flag = flags[lane] != 0
    out[0, lane] = cuda.ballot_sync(FULL, flag)
    out[1, lane] = cuda.all_sync(FULL, flag)
    out[2, lane] = cuda.any_sync(FULL, flag)
    out[3, lane] = cuda.eq_sync(FULL, flag)


def expect_votes(flags):
    ballot = sum(1 << i for i in range(32) if flags[i])
    return [ballot, bool(flags.all()), bool(flags.any()), len(set(flags.tolist())) == 1]


def check_votes():
    rng = np.random.default_rng(6)
    for flags in [np.zeros(32), np.ones(32), LANES == 7, rng.random(32) < 0.5]:
        flags = flags.astype(np.int32)
        out = cuda.device_array((4, 32), np.uint32)
        votes[1, 32](cuda.to_device(flags), out)
        expected = np.array(expect_votes(flags != 0), np.uint32)
        np.testing.assert_array_equal(out.copy_to_host(), np.repeat(expected[:, None], 32, 1))


@cuda.jit
def divergent_votes(values, out):
    lane = cuda.threadIdx.x
    if lane % 3 == 0:
        out[lane] = cuda.ballot_sync(0x49249249, values[lane] > 0)
    elif lane % 3 == 1:
        out[lane] = cuda.ballot_sync(0x92492492, values[lane] < 0)
    else:
        out[lane] = cuda.activemask()


def check_divergent_votes():
    values = np.random.default_rng(7).integers(-5, 6, 32).astype(np.int32)
    out = cuda.device_array(32, np.uint32)
    divergent_votes[1, 32](cuda.to_device(values), out)
    first = sum(1 << i for i in range(0, 32, 3) if values[i] > 0)
    second = sum(1 << i for i in range(1, 32, 3) if values[i] < 0)
    got = out.copy_to_host()
    np.testing.assert_array_equal(got[0::3], np.full(11, first, np.uint32))
    np.testing.assert_array_equal(got[1::3], np.full(11, second, np.uint32))
    # The active mask need not hold every lane of the branch, but it holds this one and none of another branch.
    others = sum(1 << i for i in range(32) if i % 3 != 2)
    for lane in range(2, 32, 3):
        assert got[lane] >> lane & 1 and not got[lane] & others, (lane, hex(got[lane]))


@cuda.jit
def divergent_shuffle(values, out):
    lane = cuda.threadIdx.x
    if lane < 16:
        out[lane] = cuda.shfl_xor_sync(0x0000FFFF, values[lane], 1)
    else:
        out[lane] = cuda.shfl_xor_sync(0xFFFF0000, values[lane], 2)


def check_divergent_shuffle():
    values = np.random.default_rng(8).integers(0, 1000, 32).astype(np.int32)
    out = cuda.device_array(32, np.int32)
    divergent_shuffle[1, 32](cuda.to_device(values), out)
    np.testing.assert_array_equal(out.copy_to_host(), values[np.where(LANES < 16, LANES ^ 1, LANES ^ 2)])


@cuda.jit
def matches(values, alike, equal, same):
    lane = cuda.threadIdx.x
    alike[lane] = cuda.match_any_sync(FULL, values[lane])
    mask, unanimous = cuda.match_all_sync(FULL, values[lane])
    equal[lane] = mask
    same[lane] = unanimous


def check_match(dtype):
    rng = np.random.default_rng(9)
    for values in [rng.integers(0, 4, 32).astype(dtype), np.full(32, 3, dtype)]:
        got = [cuda.device_array(32, np.uint32) for _ in range(3)]
        matches[1, 32](cuda.to_device(values), *got)
        alike, equal, same = (array.copy_to_host() for array in got)
        expected = [sum(1 << j for j in range(32) if values[j] == values[i]) for i in range(32)]
        np.testing.assert_array_equal(alike, np.array(expected, np.uint32))
        unanimous = len(set(values.tolist())) == 1
        np.testing.assert_array_equal(same, np.full(32, unanimous, np.uint32))
        np.testing.assert_array_equal(equal, np.full(32, FULL if unanimous else 0, np.uint32))


def check_match_int32():
    check_match(np.int32)


def check_match_int64():
    check_match(np.int64)


def check_match_float32():
    check_match(np.float32)


@cuda.jit
def identities(lanes, below, warps):
    i = cuda.threadIdx.x
    lanes[i] = cuda.laneid
    below[i] = cuda.lanemask_lt()
    warps[i] = cuda.warpsize
    cuda.syncwarp()


def check_lane_identities():
    got = [cuda.device_array(70, np.uint32) for _ in range(3)]
    identities[1, 70](*got)
    lanes, below, warps = (array.copy_to_host() for array in got)
    np.testing.assert_array_equal(lanes, np.arange(70) % 32)
    np.testing.assert_array_equal(below, (1 << (np.arange(70) % 32)) - 1)
    np.testing.assert_array_equal(warps, np.full(70, 32))


@cuda.jit
def bit_tricks(values, counts, reversed_bits, leading, first):
    i = cuda.grid(1)
    if i < values.size:
        counts[i] = cuda.popc(values[i])
        reversed_bits[i] = cuda.brev(values[i])
        leading[i] = cuda.clz(values[i])
        first[i] = cuda.ffs(values[i])


def check_bits(dtype, width):
    rng = np.random.default_rng(10)
    edges = np.array([0, 1, 2**width - 1], np.uint64)
    values = np.append(rng.integers(0, 2**width - 1, 61, dtype=np.uint64), edges).astype(dtype)
    got = [cuda.device_array(64, dtype) for _ in range(4)]
    bit_tricks[2, 48](cuda.to_device(values), *got)
    counts, reversed_bits, leading, first = (array.copy_to_host() for array in got)
    texts = [format(int(value), f"0{width}b") for value in values]
    np.testing.assert_array_equal(counts, np.array([text.count("1") for text in texts], dtype))
    np.testing.assert_array_equal(reversed_bits, np.array([int(text[::-1], 2) for text in texts], dtype))
    np.testing.assert_array_equal(leading, np.array([width - len(text.lstrip("0")) for text in texts], dtype))
    np.testing.assert_array_equal(first, np.array([text[::-1].find("1") + 1 for text in texts], dtype))


def check_bits_32():
    check_bits(np.uint32, 32)


def check_bits_64():
    check_bits(np.uint64, 64)
