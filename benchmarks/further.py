"""A third set of kernels that nobody tuned the compiler for: structures, hashes, tables, rays, trees, sequences, bits, doubles.

Each has a plain C version in kernels/further/further.c; expected values come from numpy in double precision or whole numbers.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from untuned import double, integers, no_integers, up, words
from workloads import RNG, Arrays, Workload, normal, outputs, uniform, zeros

FOLDER = "further"
Array = np.ndarray[Any, Any]


def no_words(*shape: int) -> Array:
    return np.zeros(shape, np.uint32)


def differing(index: int, make: Callable[[Arrays], Array]) -> Callable[[Arrays, Arrays], float]:
    """The share of differing elements: for choices that hang on the last bit of a number."""
    return lambda inputs, got: float((make(inputs) != got[index]).mean())


# --- arrays of structures ---------------------------------------------------------------------------------------------

PUSH = (0.01, 0.3, -0.2, 0.5, 1.5, -0.7, 2.0)
"""Time step, electric field, magnetic field."""


def plasma(n: int) -> Arrays:
    sign = np.where(uniform(n, 1) < 0.5, -1, 1)
    return [np.concatenate([uniform(n, 3), normal(n, 3), sign, 0.5 + uniform(n, 1)], 1).astype(np.float32)]


def particles(a: Arrays) -> dict[int, Any]:
    p = a[0].astype(np.float64)
    dt, electric, magnetic = PUSH[0], np.array(PUSH[1:4]), np.array(PUSH[4:7])
    h = 0.5 * dt * p[:, 6:7] / p[:, 7:8]
    v, t = p[:, 3:6] + h * electric, h * magnetic
    v = v + np.cross(v + np.cross(v, t), 2 * t / (1 + (t * t).sum(1, keepdims=True))) + h * electric
    x = p[:, :3] + dt * v
    v = np.where((x < 0) | (x > 1), -v, v)
    return {0: np.concatenate([1 - np.abs(1 - np.abs(x)), v, p[:, 6:]], 1)}


def picture(n: int) -> Array:
    """Pixels, a quarter of them without any colour (alpha 0)."""
    pixels = RNG.integers(0, 256, (n, 4), dtype=np.uint8)
    pixels[:, 3] *= uniform(n) > 0.25
    return pixels


def rgba_blend(a: Arrays) -> dict[int, Any]:
    front, back = a[0].astype(np.int64), a[1].astype(np.int64)
    alpha = front[:, 3:].copy()
    front[:, 3] = 255
    return {2: (front * alpha + back * (255 - alpha) + 127) // 255}


def roots() -> Array:
    return np.exp(-2j * np.pi * np.arange(256) / 256).astype(np.complex64).view(np.float32)


def fft256(a: Arrays) -> dict[int, Any]:
    image = np.fft.fft(a[0][..., 0] + 1j * a[0][..., 1].astype(np.float64))
    return {2: np.stack([image.real, image.imag], -1)}


# --- hashes and tables ------------------------------------------------------------------------------------------------

MURMUR_SEED = 20261128
LOW = np.uint64(0xFFFFFFFF)


def product(a: Array, b: int) -> Array:
    return a * np.uint64(b) & LOW


def turned(a: Array, by: int) -> Array:
    return (a << np.uint64(by) | a >> np.uint64(32 - by)) & LOW


def murmur(a: Arrays) -> dict[int, Any]:
    h = np.full(a[0].shape[0], MURMUR_SEED, np.uint64)
    for k in a[0].astype(np.uint64).T:
        k = product(turned(product(k, 0xCC9E2D51), 15), 0x1B873593)
        h = product(turned(h ^ k, 13), 5) + np.uint64(0xE6546B64) & LOW
    h ^= np.uint64(64)
    h = product(h ^ h >> np.uint64(16), 0x85EBCA6B)
    h = product(h ^ h >> np.uint64(13), 0xC2B2AE35)
    return {1: h ^ h >> np.uint64(16)}


def hash_table(bits: int, count: int, queries: int) -> Arrays:
    """A table of `count` keys with their values, and queries of which half are not in it."""
    keys = RNG.choice(1 << 31, 2 * count, replace=False).astype(np.uint32)
    table = np.full((1 << bits, 2), 0xFFFFFFFF, np.uint32)
    left = np.arange(count)
    at = (keys[:count] * np.uint32(2654435769)) >> np.uint32(32 - bits)
    while left.size:  # who finds a free place first takes it, the others go on to the next
        free = table[at, 0] == 0xFFFFFFFF
        _, first = np.unique(np.where(free, at, 1 << bits), return_index=True)
        first = first[free[first]]
        table[at[first], 0], table[at[first], 1] = keys[left[first]], left[first]
        stay = np.ones(left.size, bool)
        stay[first] = False
        left, at = left[stay], at[stay]
        at = np.where(table[at, 0] == 0xFFFFFFFF, at, (at + 1) & ((1 << bits) - 1))
    return [table, keys[RNG.integers(0, 2 * count, queries)], no_integers(queries)]


def looked_up(keys: Array, values: Array, wanted: Array) -> Array:
    """The values of wanted keys, -1 where there is none."""
    order = np.argsort(keys)
    at = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), keys.size - 1)]
    return np.where(keys[at] == wanted, values[at].astype(np.int64), -1)


def hash_probe(a: Arrays) -> dict[int, Any]:
    full = a[0][a[0][:, 0] != 0xFFFFFFFF]
    return {2: looked_up(full[:, 0], full[:, 1], a[1])}


def doubled(a: Array) -> Array:
    """Products with x in the field of AES."""
    return (a << 1 ^ np.where(a & 0x80, 0x11B, 0)) & 0xFF


def field_product(a: Array, b: Array) -> Array:
    result = np.zeros_like(a)
    for k in range(8):
        result ^= np.where(b >> k & 1, a, 0)
        a = doubled(a)
    return result


def s_box() -> Array:
    values = np.arange(256)
    inverse = np.ones_like(values)
    for _ in range(254):  # v ** 254 is the inverse of v
        inverse = field_product(inverse, values)
    turns = [inverse << k | inverse >> 8 - k for k in range(5)]
    return (turns[0] ^ turns[1] ^ turns[2] ^ turns[3] ^ turns[4] ^ 0x63) & 0xFF


def aes_inputs(n: int) -> Arrays:
    s = s_box()
    table = doubled(s) | s << 8 | s << 16 | (doubled(s) ^ s) << 24
    return [words(n, 4), table.astype(np.uint32), words(44), no_words(n, 4)]


def aes(inputs: Arrays, got: Arrays) -> float:
    box, keys = s_box(), inputs[2].view(np.uint8).reshape(11, 4, 4).astype(np.int64)
    state = inputs[0].view(np.uint8).reshape(-1, 4, 4).astype(np.int64) ^ keys[0]  # block, column, row
    for number, key in enumerate(keys[1:], 1):
        state = box[state]
        state = np.stack([np.roll(state[:, :, r], -r, 1) for r in range(4)], 2)
        if number < 10:
            below = np.roll(state, -1, 2)
            others = np.roll(state, -2, 2) ^ np.roll(state, -3, 2)
            state = doubled(state) ^ doubled(below) ^ below ^ others
        state = state ^ key
    return float((state.reshape(-1, 16) != got[3].view(np.uint8)).mean())


# --- finite differences -----------------------------------------------------------------------------------------------


def wave3d(a: Arrays) -> dict[int, Any]:
    u, before, speed = (v.astype(np.float64) for v in a[:3])
    inner = (slice(2, -2),) * 3
    laplacian = -7.5 * u[inner]
    for axis in range(3):
        for by, weight in ((1, 4 / 3), (2, -1 / 12)):
            laplacian = laplacian + weight * (np.roll(u, by, axis) + np.roll(u, -by, axis))[inner]
    out = np.zeros_like(u)
    out[inner] = 2 * u[inner] - before[inner] + speed[inner] * laplacian
    return {3: out}


def heat3d(a: Arrays) -> dict[int, Any]:
    t, k = a[0].astype(np.float64), a[1].astype(np.float64)
    out = t.copy()
    for axis in range(3):
        low: list[Any] = [slice(None)] * 3
        high = low.copy()
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        flow = 0.05 * (k[tuple(low)] + k[tuple(high)]) * np.diff(t, axis=axis)
        out[tuple(low)] += flow
        out[tuple(high)] -= flow
    return {2: out}


def fdtd(a: Arrays) -> dict[int, Any]:
    fields, (x, y, z, ca, cb) = a[:3], (v.astype(np.float64) for v in a[3:])

    def change(v: Array, axis: int) -> Array:
        return v - np.roll(v, 1, axis)

    curls = (
        change(z, 1) - change(y, 0),
        change(x, 0) - change(z, 2),
        change(y, 2) - change(x, 1),
    )  # axes are z, y, x
    expected: dict[int, Any] = {}
    for k, (field, curl) in enumerate(zip(fields, curls)):
        expected[k] = field.astype(np.float64)
        expected[k][1:, 1:, 1:] = (ca * field + cb * curl)[1:, 1:, 1:]
    return expected


# --- rays -------------------------------------------------------------------------------------------------------------

ZOOM = 0.008


def rays(w: int, h: int) -> Array:
    x, y = (np.arange(w) + 0.5 - 0.5 * w) * ZOOM, (np.arange(h) + 0.5 - 0.5 * h) * ZOOM
    return np.stack(np.broadcast_arrays(x[None, :], y[:, None], 1.0), -1)


def before_the_camera(count: int, depth: float) -> Array:
    """Places that the camera sees."""
    z = depth * (0.3 + 0.7 * uniform(count))
    return np.stack([(uniform(count) - 0.5) * z, (uniform(count) - 0.5) * z, z], 1)


def spheres(count: int) -> Array:
    return np.concatenate([before_the_camera(count, 20), 0.2 + 0.8 * uniform(count, 1)], 1).astype(np.float32)


def ray_spheres(inputs: Arrays, got: Arrays) -> float:
    d = rays(got[1].shape[1], got[1].shape[0])
    d /= np.sqrt((d * d).sum(-1, keepdims=True))
    distance = np.full((*d.shape[:2], len(inputs[0]) + 1), 1e30)
    for k, s in enumerate(inputs[0].astype(np.float64)):
        b = d @ s[:3]
        square = b * b - (s[:3] @ s[:3] - s[3] ** 2)
        t = b - np.sqrt(np.maximum(square, 0))
        distance[..., k + 1] = np.where((square >= 0) & (t > 0), t, 1e30)
    distance[..., 0] = 9e29  # nothing was hit: first in the list, shown as -1
    which = distance.argmin(-1) - 1
    far = np.where(which < 0, 1e30, distance.min(-1))
    close = np.abs(got[1][..., 0] - far) <= 1e-4 * far
    return float(1 - (close & (got[1][..., 1].view(np.int32) == which)).mean())


def triangles(count: int) -> Array:
    sides = [normal(count, 3), normal(count, 3)]
    return np.concatenate([before_the_camera(count, 12), *sides], 1).astype(np.float32)


def ray_triangles(a: Arrays) -> Array:
    h, w = a[1].shape
    d, which, nearest = rays(w, h), np.full((h, w), -1), np.full((h, w), 1e30)
    for k, t in enumerate(a[0].astype(np.float64).reshape(-1, 3, 3)):
        # d far = a + u ab + v ac
        with np.errstate(all="ignore"):
            matrix = np.stack([d, *np.broadcast_arrays(-t[1], -t[2], d)[:2]], -1)
            far, u, v = np.moveaxis(
                np.linalg.solve(matrix, np.broadcast_to(t[0][:, None], (h, w, 3, 1)))[..., 0], -1, 0
            )
        hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (far > 0) & (far < nearest)
        which, nearest = np.where(hit, k, which), np.where(hit, far, nearest)
    return which


SLOPE = 0.011


def voxel_march(a: Arrays) -> Array:
    """Cells in the order in which each ray enters them, from all its crossings of planes, sorted."""
    size, (h, w) = a[0].shape[0], a[1].shape
    px, py = np.arange(w), np.arange(h)
    o = np.stack(np.broadcast_arrays((px[None] + 0.37) * size / w, (py[:, None] + 0.41) * size / h, 0.0), -1)
    d = np.stack(np.broadcast_arrays((0.5 * w - px[None]) * SLOPE, (0.5 * h - py[:, None]) * SLOPE, 1.0), -1)
    o, d = o.reshape(-1, 3), d.reshape(-1, 3)
    with np.errstate(all="ignore"):
        crossings = (np.arange(1, size + 1) - o[..., None]) / d[..., None]
        crossings = np.concatenate([crossings, -o[..., None] / d[..., None]], -1).reshape(len(o), -1)
    crossings = np.where((crossings > 0) & (crossings <= size), crossings, size)
    times = np.sort(np.concatenate([np.zeros((len(o), 1)), crossings], 1), 1)
    middle = (times[:, 1:] + times[:, :-1]) / 2
    cells = np.floor(o[:, None] + d[:, None] * middle[..., None]).astype(np.int64)
    inside = ((cells >= 0) & (cells < size)).all(-1) & (times[:, 1:] > times[:, :-1])
    x, y, z = np.moveaxis(np.clip(cells, 0, size - 1), -1, 0)
    full = inside & (a[0][z, y, x] != 0)
    first = full.argmax(1)[:, None]
    at = np.take_along_axis((z * size + y) * size + x, first, 1)
    return np.where(full.any(1)[:, None], at, -1).reshape(h, w)


# --- sequences --------------------------------------------------------------------------------------------------------


def letters(*shape: int) -> Array:
    return RNG.integers(ord("a"), ord("e"), shape, dtype=np.uint8)


def edit_distance(a: Arrays) -> dict[int, Any]:
    first, second, lengths = a[0], a[1], a[2]
    table = np.zeros((41, 41, len(first)), np.int64)
    table[:, 0], table[0, :] = np.arange(41)[:, None], np.arange(41)[:, None]
    for i in range(40):
        for j in range(40):
            same = table[i, j] + (first[:, i] != second[:, j])
            table[i + 1, j + 1] = np.minimum(np.minimum(table[i, j + 1], table[i + 1, j]) + 1, same)
    return {3: table[lengths[:, 0], lengths[:, 1], np.arange(len(first))]}


def smith_waterman(a: Arrays) -> dict[int, Any]:
    queries, targets = a[0], a[1]
    table = np.zeros((129, targets.shape[1] + 1, len(queries)), np.int64)
    for i in range(128):
        for j in range(targets.shape[1]):
            same = table[i, j] + np.where(queries[:, i] == targets[:, j], 3, -2)
            gap = np.maximum(table[i, j + 1], table[i + 1, j]) - 2
            table[i + 1, j + 1] = np.maximum(np.maximum(same, gap), 0)
    return {2: table.max((0, 1))}


# --- sparse matrices and trees ----------------------------------------------------------------------------------------


def ell(rows: int, width: int, columns: int) -> Arrays:
    """Rows of 0 to `width` entries, entry by entry; what is missing is column -1."""
    missing = np.arange(width)[:, None] >= RNG.integers(width // 3, width + 1, rows)
    missing[:, :: rows // 50] = True
    column, value = integers(0, columns, width, rows), normal(width, rows)
    return [np.where(missing, -1, column).astype(np.int32), np.where(missing, 0, value), normal(columns), zeros(rows)]


def ell_spmv(a: Arrays) -> dict[int, Any]:
    return {3: np.where(a[0] >= 0, a[1].astype(np.float64) * a[2][np.maximum(a[0], 0)], 0).sum(0)}


def coordinates(rows: int, columns: int, entries: int) -> Arrays:
    row = np.sort(integers(0, rows, entries))
    return [row, integers(0, columns, entries), normal(entries), normal(columns), zeros(rows)]


def coo_spmv(a: Arrays) -> dict[int, Any]:
    return {4: np.bincount(a[0], a[2].astype(np.float64) * a[3][a[1]], a[4].size)}


def search_tree(count: int, queries: int) -> Arrays:
    """A tree as random insertions leave it, in the order of insertion; a third of the queries are not in it."""
    keys = RNG.choice(1 << 30, count, replace=False).astype(np.int32)
    nodes = np.stack([keys, np.full(count, -1), np.full(count, -1), RNG.permutation(count)], 1).astype(np.int32)
    links, order = nodes[:, 1:3].tolist(), keys.tolist()
    for k in range(1, count):
        at = 0
        while True:
            side = order[k] > order[at]
            if links[at][side] < 0:
                links[at][side] = k
                break
            at = links[at][side]
    nodes[:, 1:3] = links
    wanted = np.where(uniform(queries) < 0.67, keys[RNG.integers(0, count, queries)], integers(0, 1 << 30, queries))
    return [nodes, wanted.astype(np.int32), no_integers(queries)]


def kd_tree(points: Array) -> Array:
    """Points (2**k - 1 of them) in the order of a tree in which the children of i are 2 i + 1 and 2 i + 2."""
    out = np.empty_like(points)

    def place(some: Array, at: int, axis: int) -> None:
        some = some[np.argsort(some[:, axis], kind="stable")]
        middle = len(some) // 2
        out[at] = some[middle]
        if middle:
            place(some[:middle], 2 * at + 1, (axis + 1) % 3)
            place(some[middle + 1 :], 2 * at + 2, (axis + 1) % 3)

    place(points, 0, 0)
    return out


def kd_nearest(a: Arrays) -> dict[int, Any]:
    points, queries = a[0][:, :3].astype(np.float64), a[1][:, :3].astype(np.float64)
    parts = (queries[k : k + 100] for k in range(0, len(queries), 100))
    return {2: np.concatenate([((part[:, None] - points) ** 2).sum(-1).min(1) for part in parts])}


# --- random numbers, bits, doubles ------------------------------------------------------------------------------------

OPTION = (-0.002, 0.08, 1.0)


def asian_option(a: Arrays) -> dict[int, Any]:
    drift, volatility, strike = OPTION
    state = np.arange(1, a[0].size + 1, dtype=np.uint32) * np.uint32(2654435761)
    price, total, steps = np.ones(a[0].size), np.zeros(a[0].size), OPTION_STEPS
    for _ in range(steps // 2):
        drawn: list[Array] = []
        for _ in range(2):
            for by in (13, -17, 5):
                state = state ^ (state << np.uint32(by) if by > 0 else state >> np.uint32(-by))
            drawn.append(((state >> np.uint32(8)).astype(np.float64) + 1) / 2**24)
        radius = np.sqrt(-2 * np.log(drawn[0]))
        for wave in (np.cos, np.sin):
            price = price * np.exp(drift + volatility * radius * wave(2 * np.pi * drawn[1]))
            total += price
    return {0: np.maximum(total / steps - strike, 0)}


def pi_xorshift(a: Arrays) -> dict[int, Any]:
    x, y, z, w = (v.copy() for v in a[0].T)
    hits = 0
    for _ in range(PI_POINTS):
        drawn: list[Array] = []
        for _ in range(2):
            t = x ^ x << np.uint32(11)
            x, y, z, w = y, z, w, w ^ w >> np.uint32(19) ^ t ^ t >> np.uint32(8)
            drawn.append((w >> np.uint32(9)).astype(np.float64) / 2**23)
        hits += int((drawn[0] ** 2 + drawn[1] ** 2 < 1).sum())
    return {0: np.stack([x, y, z, w], 1), 1: [hits]}


def life_bits(a: Arrays) -> dict[int, Any]:
    cells = np.unpackbits(a[0].view(np.uint8), axis=1, bitorder="little")
    around = sum(np.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - cells
    alive = (around == 3) | (cells & (around == 2))
    return {1: np.packbits(alive.astype(np.uint8), axis=1, bitorder="little").view(np.uint32)}


def hamming(a: Arrays) -> dict[int, Any]:
    first, second = (1 - 2.0 * np.unpackbits(v.view(np.uint8), axis=1) for v in a[:2])
    different = (256 - first @ second.T) / 2
    return {2: np.stack([different.min(1), different.argmin(1)], 1)}


def nbody_double(a: Arrays) -> dict[int, Any]:
    delta = a[0][None, :, :3] - a[0][:, None, :3]
    weight = ((delta**2).sum(-1) + 1e-3) ** -1.5 * a[0][:, 3]
    return {1: (delta * weight[..., None]).sum(1)}


# --- the set ----------------------------------------------------------------------------------------------------------

OPTION_STEPS = 16
PI_POINTS = 80


def work(
    name: str, make: Callable[[], Arrays], ints: tuple[int, ...], grid: tuple[int, int], block: tuple[int, int], verify: Any,
    size: int, flops: int = 0, *, floats: tuple[float, ...] = (), kernel_ints: int | None = None, tolerance: float = 2e-4,
) -> Workload:  # fmt: skip
    taken = len(ints) if kernel_ints is None else kernel_ints
    return Workload(name, name, make, ints, floats, grid, block, verify, size, flops, taken, tolerance, FOLDER)


def workloads() -> list[Workload]:
    """Return the kernels of this set, in the order of the table."""
    count, pixels = 100_003, 1021 * 1013
    (vx, vy, vz), (tx, ty, tz), (ex, ey, ez) = (125, 119, 61), (103, 101, 67), (113, 97, 47)
    wave, heat, yee = vx * vy * vz, tx * ty * tz, ex * ey * ez
    pairs, threads = 5003, 16384
    return [
        work(
            "particles", lambda: plasma(count), (count,), (up(count, 128), 1), (128, 1), outputs(particles), 56 * count,
            60 * count, floats=PUSH,
        ),
        work(
            "rgba_blend", lambda: [picture(pixels), picture(pixels), np.zeros((pixels, 4), np.uint8)], (pixels,), (512, 1), (256, 1),
            outputs(rgba_blend), 12 * pixels, tolerance=0,
        ),
        work(
            "fft256", lambda: [normal(1001, 256, 2), roots(), zeros(1001, 256, 2)], (1001,), (1001, 1), (64, 1), outputs(fft256),
            16 * 256 * 1001, 5 * 8 * 256 * 1001, kernel_ints=0,
        ),
        work(
            "murmur", lambda: [words(count, 16), no_words(count)], (count, MURMUR_SEED), (up(count, 256), 1), (256, 1),
            outputs(murmur), 68 * count, tolerance=0,
        ),
        work(
            "hash_probe", lambda: hash_table(17, 80_000, 150_001), (17, 150_001), (up(150_001, 256), 1), (256, 1),
            outputs(hash_probe), 16 * 150_001, tolerance=0,
        ),
        work(
            "crc32", lambda: [words(10_007, 64), no_words(10_007)], (10_007,), (up(10_007, 256), 1), (256, 1),
            outputs(lambda a: {1: [zlib.crc32(message.tobytes()) for message in a[0]]}), 260 * 10_007, tolerance=0,
        ),
        work("aes", lambda: aes_inputs(20_011), (20_011,), (40, 1), (256, 1), aes, 32 * 20_011, tolerance=0),
        work(
            "wave3d", lambda: [normal(vz, vy, vx), normal(vz, vy, vx), 0.1 * uniform(vz, vy, vx), zeros(vz, vy, vx)], (vx, vy, vz),
            (up(vx, 32), up(vy, 8)), (32, 8), outputs(wave3d), 16 * wave, 18 * wave,
        ),
        work(
            "heat3d", lambda: [uniform(tz, ty, tx), uniform(tz, ty, tx), zeros(tz, ty, tx)], (tx, ty, tz), (680, 1), (256, 1),
            outputs(heat3d), 12 * heat, 26 * heat, floats=(0.05,),
        ),
        work(
            "fdtd", lambda: [normal(ez, ey, ex) for _ in range(6)] + [0.9 + 0.1 * uniform(ez, ey, ex) for _ in range(2)],
            (ex, ey, ez), (up(ex, 64), up(ey * ez, 2)), (64, 2), outputs(fdtd), 44 * yee, 18 * yee,
        ),
        work(
            "ray_spheres", lambda: [spheres(100), zeros(150, 201, 2)], (100, 201, 150), (up(201, 16), up(150, 8)), (16, 8),
            ray_spheres, 8 * 201 * 150, 12 * 100 * 201 * 150, floats=(ZOOM,), tolerance=0.002,
        ),
        work(
            "ray_triangles", lambda: [triangles(60), no_integers(141, 179)], (60, 179, 141), (up(179 * 141, 128), 1), (128, 1),
            differing(1, ray_triangles), 4 * 179 * 141, 25 * 60 * 179 * 141, floats=(ZOOM,), tolerance=0.002,
        ),
        work(
            "voxel_march", lambda: [(uniform(64, 64, 64) < 0.02).astype(np.uint8), no_integers(121, 161)], (64, 161, 121),
            (up(161, 16), up(121, 8)), (16, 8), differing(1, voxel_march), 4 * 161 * 121, floats=(SLOPE,), tolerance=0.005,
        ),
        work(
            "edit_distance", lambda: [letters(pairs, 40), letters(pairs, 40), integers(20, 41, pairs, 2), no_integers(pairs)],
            (pairs,), (up(pairs, 64), 1), (64, 1), outputs(edit_distance), 92 * pairs, tolerance=0,
        ),
        work(
            "smith_waterman", lambda: [letters(100, 128), letters(100, 301), no_integers(100)], (301, 100), (100, 1), (128, 1),
            outputs(smith_waterman), 100 * 433, kernel_ints=1, tolerance=0,
        ),
        work(
            "ell_spmv", lambda: ell(40_003, 24, 30_011), (40_003, 24), (up(40_003, 128), 1), (128, 1), outputs(ell_spmv),
            6 * 24 * 40_003, 24 * 40_003,
        ),
        work(
            "coo_spmv", lambda: coordinates(20_011, 30_011, 500_009), (500_009,), (256, 1), (256, 1), outputs(coo_spmv),
            12 * 500_009, 2 * 500_009,
        ),
        work(
            "tree_search", lambda: search_tree(20_011, 40_009), (0, 40_009), (up(40_009, 128), 1), (128, 1),
            outputs(lambda a: {2: looked_up(a[0][:, 0], a[0][:, 3], a[1])}), 8 * 40_009, tolerance=0,
        ),
        work(
            "kd_nearest", lambda: [kd_tree(uniform(4095, 4)), uniform(5003, 4), zeros(5003)], (4095, 5003), (up(5003, 64), 1), (64, 1),
            outputs(kd_nearest), 20 * 5003,
        ),
        work(
            "asian_option", lambda: [zeros(threads)], (threads, OPTION_STEPS), (threads // 256, 1), (256, 1), outputs(asian_option),
            4 * threads, 25 * OPTION_STEPS * threads, floats=OPTION,
        ),
        work(
            "pi_xorshift", lambda: [words(threads, 4), no_words(1)], (PI_POINTS, threads), (threads // 128, 1), (128, 1),
            outputs(pi_xorshift), 32 * threads, 5 * PI_POINTS * threads, kernel_ints=1, tolerance=1e-5,
        ),
        work(
            "life_bits", lambda: [words(509, 1021), no_words(509, 1021)], (1021, 509), (up(1021, 64), up(509, 4)), (64, 4),
            outputs(life_bits), 8 * 509 * 1021, tolerance=0,
        ),
        work(
            "hamming", lambda: [words(2003, 8), words(501, 8), no_integers(2003, 2)], (2003, 501), (up(2003, 128), 1), (128, 1),
            outputs(hamming), 32 * 2504, tolerance=0,
        ),
        work(
            "nbody_double", lambda: [double(1001, 4), np.zeros((1001, 3))], (1001,), (up(1001, 128), 1), (128, 1),
            outputs(nbody_double), 56 * 1001, 20 * 1001**2, tolerance=1e-10,
        ),
        work(
            "lu_small", lambda: [RNG.standard_normal((10_007, 6, 6)), double(10_007, 6), np.zeros((10_007, 6))], (10_007,),
            (up(10_007, 128), 1), (128, 1), outputs(lambda a: {2: np.linalg.solve(a[0], a[1][..., None])[..., 0]}),
            48 * 8 * 10_007, 250 * 10_007, tolerance=1e-9,
        ),
    ]  # fmt: skip
