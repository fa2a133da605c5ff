"""A matrix product of CUDA (ldmatrix, mma.sync, cp.async) against PyTorch's on the same processor, side by side in one run.

    python benchmarks/matrix_product.py [--kind bf16] [--kind f16] [--kind s8] [--size 512] [--size 1024] [--rounds 5]

PyTorch multiplies by oneDNN. It is measured twice, each time in a process of its own beside the kernel: as it comes, and kept from the
processor's matrix units (AMX). One pinned thread; the ceilings are what the processor's multiply-adds
reach in a loop that does nothing else.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import click

KERNELS = Path(__file__).parent / "kernels" / "matrix"
WITHOUT = {"bf16": "AVX512_CORE_BF16", "f16": "AVX512_CORE_FP16", "s8": "AVX512_CORE_VNNI"}
"""What keeps oneDNN from AMX, by the type of the elements."""
TILE, THREADS = 128, 128


def ceiling() -> float:
    """Return billions of f32 operations a second of independent multiply-adds in registers."""
    import ctypes

    from anywarp.compiler.simd.machine_code import LoadedObject, compile_text
    from anywarp.compiler.simd.target import this_machine

    target = this_machine()
    n, chains, trips = target.machine.chunk, 12, 20000
    type = f"<{n} x float>"
    phis = "\n".join(f"  %a{i} = phi {type} [ splat (float 1.0), %0 ], [ %b{i}, %loop ]" for i in range(chains))
    fmas = "\n".join(
        f"  %b{i} = call {type} @llvm.fma.v{n}f32({type} %a{i}, {type} %x, {type} %x)" for i in range(chains)
    )
    total, sums = "%b0", list[str]()
    for i in range(1, chains):
        sums.append(f"  %s{i} = fadd {type} {total}, %b{i}")
        total = f"%s{i}"
    body = "\n".join(sums)
    text = f"""declare {type} @llvm.fma.v{n}f32({type}, {type}, {type})
define i32 @peak(ptr %p) "min-legal-vector-width"="{target.machine.vector_bits}" "prefer-vector-width"="{target.machine.vector_bits}" {{
  %x = load {type}, ptr %p, align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
{phis}
{fmas}
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, {trips}
  br i1 %more, label %loop, label %done
done:
{body}
  store {type} {total}, ptr %p, align 4
  ret i32 0
}}
"""
    code = LoadedObject(compile_text(text, target.triple, target.cpu, target.features, "peak"))
    run = code.function("peak", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p))
    room = (ctypes.c_float * n)(*[0.5] * n)
    best = min(seconds(lambda: run(ctypes.addressof(room))) for _ in range(30))
    return 2.0 * n * chains * trips / best / 1e9


def seconds(action: Callable[[], Any]) -> float:
    """Return how much of the processor's time one call in this thread takes: others may share the machine."""
    start = time.thread_time()
    action()
    return time.thread_time() - start


def kernel(kind: str) -> tuple[str, str]:
    """Return the PTX of a product and its kernel's name; that of f16 is that of bf16 with the other type."""
    name = "matrix_product_s8" if kind == "s8" else "matrix_product"
    text = (KERNELS / f"{name}.ptx").read_text()
    if kind == "f16":
        text = text.replace(".f32.bf16.bf16.f32", ".f32.f16.f16.f32").replace("cvt.rn.bf16x2.f32", "cvt.rn.f16x2.f32")
    return text, name


def measure(kind: str, size: int, rounds: int) -> dict[str, float]:
    """Time both products of matrices of `size`, in turn; billions of operations a second, and whether results agree."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    import numpy as np
    import torch

    from anywarp.devices.cpu.execute import Program, pack_arguments

    torch.set_num_threads(1)
    text, name = kernel(kind)
    program = Program(text)
    start = time.perf_counter()
    code = program.compile(name, (THREADS, 1, 1), "")
    compile_ms = (time.perf_counter() - start) * 1e3
    torch.manual_seed(0)
    if kind == "s8":  # B by columns
        a, b = (torch.randint(-128, 128, (size, size), dtype=torch.int8) for _ in range(2))
        right, words, out = b.t(), torch.int8, torch.int32
    else:
        type = {"bf16": torch.bfloat16, "f16": torch.float16}[kind]
        a, b = torch.randn(size, size).to(type), torch.randn(size, size).to(type)
        right, words, out = b, torch.int16, type
    c = torch.zeros((size, size), dtype=out)
    buffers = (a.view(words).numpy(), b.view(words).numpy(), c.view(torch.int32 if kind == "s8" else words).numpy())
    arguments = (*buffers, np.int32(size), np.int32(size))
    packed = pack_arguments([(p.offset, p.size) for p in program.layout.entries[0].params], arguments)

    def ours() -> None:
        code.launch((size // TILE, size // TILE), (THREADS,), packed, program.data, 0)

    def theirs() -> None:
        multiply(a, right)

    multiply = getattr(torch, "_int_mm" if kind == "s8" else "matmul")
    ours()
    exact = a.double() @ right.double()
    error = (c.double() - exact).abs().max().item() / exact.abs().max().item()
    theirs()
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(rounds):
        times["ours"] += [seconds(ours) for _ in range(5)]
        times["theirs"] += [seconds(theirs) for _ in range(5)]
    work = 2.0 * size**3 / 1e9
    return {
        "ours": work / min(times["ours"]),
        "theirs": work / min(times["theirs"]),
        "ratio": statistics.median(times["ours"]) / statistics.median(times["theirs"]),
        "error": error,
        "compile_ms": compile_ms,
        "ceiling": ceiling(),
    }


@click.command()
@click.option(
    "--size", "sizes", multiple=True, default=(512, 1024), type=click.IntRange(TILE), help="rows, multiple of 128"
)
@click.option("--kind", "kinds", multiple=True, default=tuple(WITHOUT), type=click.Choice(list(WITHOUT)))
@click.option("--rounds", default=5, help="rounds of five calls each")
@click.option("--child", is_flag=True, hidden=True)
def main(sizes: tuple[int, ...], kinds: tuple[str, ...], rounds: int, child: bool) -> None:
    """Compare the two products and print the ratios of their times."""
    if child:
        print(json.dumps(measure(kinds[0], sizes[0], rounds)))
        return
    print("type  size  PyTorch        kernel GF/s  PyTorch GF/s  time ratio (best)  (median)  f32 ceiling GF/s  error")
    for kind, size in product(kinds, sizes):
        for side, limit in (("as it comes", ""), ("without AMX", WITHOUT[kind])):
            environment = {**os.environ, "OMP_NUM_THREADS": "1", **({"ONEDNN_MAX_CPU_ISA": limit} if limit else {})}
            one = ["--child", "--kind", kind, "--size", str(size), "--rounds", str(rounds)]
            command = [sys.executable, __file__, *one]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            r = json.loads(done.stdout.splitlines()[-1])
            print(
                f"{kind:4}  {size:4}  {side:13}  {r['ours']:11.0f}  {r['theirs']:12.0f}  {r['theirs'] / r['ours']:17.2f}"
                f"  {r['ratio']:8.2f}  {r['ceiling']:16.0f}  {r['error']:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
