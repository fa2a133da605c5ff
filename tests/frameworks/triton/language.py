"""Features of Triton's language, one check each against numpy: run by `anywarp run -- python language.py [NAME...]`."""

import sys

import numpy as np
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

CHECKS = {}


def check(function):
    CHECKS[function.__name__] = function
    return function


def device(array):
    return torch.from_numpy(np.ascontiguousarray(array)).cuda()


def close(found, wanted, tolerance=1e-6):
    found = found.cpu().double().numpy()
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * max(1.0, np.abs(wanted).max()))


@triton.jit
def dot_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr):
    down, across, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + down[:, None] * K + inner[None, :])
    right = tl.load(b + inner[:, None] * N + across[None, :])
    tl.store(c + down[:, None] * N + across[None, :], tl.dot(left, right, input_precision=PRECISION, out_dtype=OUT))


def dot(kind, precision="ieee", out=tl.float32, into=torch.float32, integer=False, sizes=(32, 64, 32), tolerance=1e-6):
    random = np.random.default_rng(0)
    m, n, k = sizes
    if integer:
        left, right = (torch.from_numpy(random.integers(-100, 100, s)).to(kind).cuda() for s in ((m, k), (k, n)))
    else:
        left, right = (torch.from_numpy(random.normal(size=s)).to(kind).cuda() for s in ((m, k), (k, n)))
    made = torch.empty(m, n, device="cuda", dtype=into)
    dot_kernel[(1,)](left, right, made, m, n, k, precision, out)
    close(made, left.cpu().double().numpy() @ right.cpu().double().numpy(), tolerance)


@check
def dot_half():
    dot(torch.float16)


@check
def dot_bfloat16():
    dot(torch.bfloat16)


@check
def dot_float():
    dot(torch.float32)


@check
def dot_tf32():
    dot(torch.float32, precision="tf32", tolerance=2e-3)


@check
def dot_tf32x3():
    dot(torch.float32, precision="tf32x3", tolerance=1e-5)


@check
def dot_int8():
    dot(torch.int8, out=tl.int32, into=torch.int32, integer=True)


@check
def dot_double():
    dot(torch.float64, out=tl.float64, into=torch.float64, tolerance=1e-13)


@triton.jit
def rows_kernel(x, out, N: tl.constexpr, WHAT: tl.constexpr):
    row, places = tl.program_id(0), tl.arange(0, N)
    line = tl.load(x + row * N + places)
    if WHAT == "sort":
        line = tl.sort(line)
    elif WHAT == "flip":
        line = tl.flip(line)
    elif WHAT == "cumsum":
        line = tl.cumsum(line, 0)
    elif WHAT == "cumprod":
        line = tl.cumprod(line, 0)
    elif WHAT == "reversed":
        line = tl.cumsum(line, 0, reverse=True)
    elif WHAT == "gather":
        line = tl.gather(line, N - 1 - places ^ 5, 0)
    elif WHAT == "argmax":
        line = (line * 0) + tl.argmax(line, 0)
    elif WHAT == "xor":
        line = tl.xor_sum(line.to(tl.int32, bitcast=True), 0).to(tl.float32, bitcast=True) + line * 0
    tl.store(out + row * N + places, line)


def rows(what, by_numpy, tolerance=1e-6):
    x = np.random.default_rng(1).normal(size=(5, 256)).astype(np.float32)
    made = torch.empty(5, 256, device="cuda")
    rows_kernel[(5,)](device(x), made, 256, what)
    close(made, by_numpy(x.astype(np.float64)), tolerance)


@check
def sort():
    rows("sort", lambda x: np.sort(x, 1))


@check
def flip():
    rows("flip", lambda x: x[:, ::-1])


@check
def cumsum():
    rows("cumsum", lambda x: np.cumsum(x, 1))


@check
def cumprod():
    rows("cumprod", lambda x: np.cumprod(x, 1))


@check
def cumsum_reversed():
    rows("reversed", lambda x: np.cumsum(x[:, ::-1], 1)[:, ::-1])


@check
def gather():
    rows("gather", lambda x: x[:, 255 - np.arange(256) ^ 5])


@check
def argmax():
    rows("argmax", lambda x: np.broadcast_to(np.argmax(x, 1)[:, None], x.shape))


@triton.jit
def atomics_kernel(counts, sums, least, halves, x, count, BINS: tl.constexpr, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    value = tl.load(x + places, mask=inside, other=0)
    tl.atomic_add(counts + value % BINS, 1, mask=inside)
    tl.atomic_add(sums + value % 7, value.to(tl.float32), mask=inside, sem="relaxed")
    tl.atomic_min(least + value % 5, value, mask=inside)
    tl.atomic_add(halves + value % 3, (value * 0 + 1).to(tl.float16), mask=inside)


@check
def atomics():
    x = np.random.default_rng(2).integers(0, 1000, 3000).astype(np.int32)
    counts, least = (torch.full((64,), start, device="cuda", dtype=torch.int32) for start in (0, 10**6))
    sums, halves = torch.zeros(7, device="cuda"), torch.zeros(3, device="cuda", dtype=torch.float16)
    atomics_kernel[(6,)](counts, sums, least, halves, device(x), 3000, BINS=64, BLOCK=512)
    close(counts, np.bincount(x % 64, minlength=64))
    close(sums, np.bincount(x % 7, weights=x))
    close(least[:5], np.array([x[x % 5 == i].min() for i in range(5)]))
    close(halves, np.bincount(x % 3))


@triton.jit
def histogram_kernel(x, out, N: tl.constexpr, BINS: tl.constexpr):
    counts = tl.histogram(tl.load(x + tl.arange(0, N)), BINS)
    tl.store(out + tl.arange(0, BINS), counts)


@check
def histogram():
    x = np.random.default_rng(3).integers(0, 128, 1024).astype(np.int32)
    made = torch.empty(128, device="cuda", dtype=torch.int32)
    histogram_kernel[(1,)](device(x), made, 1024, 128)
    close(made, np.bincount(x, minlength=128))


@triton.jit
def types_kernel(x, bfloat, half, fp8, byte, back, N: tl.constexpr):
    places = tl.arange(0, N)
    value = tl.load(x + places)
    tl.store(bfloat + places, value.to(tl.bfloat16))
    tl.store(half + places, value.to(tl.float16))
    small = value.to(tl.float8e5)
    tl.store(fp8 + places, small)
    tl.store(byte + places, value.to(tl.int8))
    tl.store(back + places, small.to(tl.float32))


@check
def conversions():
    x = device((np.random.default_rng(4).normal(size=512) * 20).astype(np.float32))
    kinds = (torch.bfloat16, torch.float16, torch.float8_e5m2, torch.int8, torch.float32)
    made = [torch.empty(512, device="cuda", dtype=kind) for kind in kinds]
    types_kernel[(1,)](x, *made, 512)
    host = x.cpu()
    for found, kind in zip(made[:4], kinds[:4], strict=True):
        close(found.float(), host.to(kind).double().numpy(), 0)
    close(made[4], host.to(torch.float8_e5m2).double().numpy(), 0)


@triton.jit
def described_kernel(source, target, rows, columns, M: tl.constexpr, N: tl.constexpr):
    given = tl.make_tensor_descriptor(source, [rows, columns], [columns, 1], [M, N])
    made = tl.make_tensor_descriptor(target, [rows, columns], [columns, 1], [M, N])
    at = [tl.program_id(0) * M, tl.program_id(1) * N]
    made.store(at, given.load(at) * 2)


@triton.jit
def host_described_kernel(given, made, M: tl.constexpr, N: tl.constexpr):
    at = [tl.program_id(0) * M, tl.program_id(1) * N]
    made.store(at, given.load(at) * 3)


@check
def descriptors():
    """For capability 8.0 Triton lowers them to pointers."""
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    x = np.random.default_rng(5).normal(size=(100, 48)).astype(np.float32)
    made = torch.zeros(100, 48, device="cuda")
    described_kernel[(4, 2)](device(x), made, 100, 48, 32, 32)
    close(made, 2.0 * x)
    source, target = (TensorDescriptor.from_tensor(each, [32, 32]) for each in (device(x), made))
    host_described_kernel[(4, 2)](source, target, 32, 32)
    close(made, 3.0 * x)


@triton.jit
def control_kernel(out, limit, N: tl.constexpr):
    start, steps = tl.program_id(0) + 1, 0
    while start != 1:
        start = start // 2 if start % 2 == 0 else 3 * start + 1
        steps += 1
    if steps > limit:
        steps = -steps
    tl.store(out + tl.program_id(0), steps)


@check
def control_flow():
    made = torch.empty(97, device="cuda", dtype=torch.int32)
    control_kernel[(97,)](made, 20, 1)

    def steps(n):
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return -count if count > 20 else count

    close(made, np.array([steps(i + 1) for i in range(97)]))


@triton.jit
def two_results(a, b):
    return a + b, a * b


@triton.jit
def tuples_kernel(pair, out, N: tl.constexpr):
    places = tl.arange(0, N)
    total, product = two_results(tl.load(pair[0] + places), tl.load(pair[1] + places))
    tl.store(out + places, total - product)


@check
def tuples():
    x, y = np.random.default_rng(6).normal(size=(2, 64)).astype(np.float32)
    made = torch.empty(64, device="cuda")
    tuples_kernel[(1,)]((device(x), device(y)), made, 64)
    close(made, (x + y) - (x * y).astype(np.float64))


@triton.jit
def printing_kernel(x, N: tl.constexpr):
    tl.device_print("value", tl.load(x + tl.arange(0, N)))


@check
def device_print():
    """The numbers come on stdout; the test counts them."""
    printing_kernel[(1,)](device(np.arange(7000, 7032, dtype=np.int32)), 32, num_warps=1)
    torch.cuda.synchronize()


@triton.jit
def assembly_kernel(x, out, N: tl.constexpr):
    value = tl.load(x + tl.arange(0, N))
    made = tl.inline_asm_elementwise("bfind.u32 $0, $1;", "=r,r", [value], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + tl.arange(0, N), made)


@check
def inline_assembly():
    x = np.random.default_rng(7).integers(1, 2**31 - 1, 128).astype(np.int32)
    made = torch.empty(128, device="cuda", dtype=torch.int32)
    assembly_kernel[(1,)](device(x), made, 128)
    close(made, np.array([int(each).bit_length() - 1 for each in x]))


@triton.jit
def scale_kernel(x, N: tl.constexpr):
    places = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(x + places, tl.load(x + places) * 2)


@check
def streams_and_order():
    """Operators of torch and kernels of Triton on one stream see each other's results, as do captured graphs."""
    x = torch.ones(4096, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(5):
            scale_kernel[(16,)](x, 256)
            x += 1
    torch.cuda.synchronize()
    close(x, np.full(4096, 63.0))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scale_kernel[(16,)](x, 256)
        x += 1
    for _ in range(2):
        graph.replay()
    torch.cuda.synchronize()
    close(x, np.full(4096, 255.0))


@check
def benchmarks():
    x = torch.ones(4096, device="cuda")
    times = triton.testing.do_bench(lambda: scale_kernel[(16,)](x, 256), warmup=1, rep=2, return_mode="all")
    assert times and all(each > 0 for each in times)


@triton.jit
def asserting_kernel(x, N: tl.constexpr):
    value = tl.load(x + tl.arange(0, N))
    tl.device_assert(value < 30, "too large")
    tl.store(x + tl.arange(0, N), value)


@check
def device_assert():
    """Last, because the context is lost by it."""
    asserting_kernel[(1,)](device(np.arange(30, dtype=np.int32).repeat(2)[:32]), 32, debug=True)
    torch.cuda.synchronize()
    asserting_kernel[(1,)](device(np.arange(32, dtype=np.int32)), 32, debug=True)
    try:
        torch.cuda.synchronize()
    except RuntimeError as error:
        assert "assert" in str(error), error
    else:
        raise AssertionError("nothing was raised")


if __name__ == "__main__":
    for name in sys.argv[1:] or CHECKS:
        try:
            CHECKS[name]()
            print("ok", name, flush=True)
        except Exception as error:
            print("FAILED", f"{name}: {type(error).__name__}: {str(error)[:600]}".replace("\n", " "), flush=True)
