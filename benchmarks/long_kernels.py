"""Measure how long kernels of much code take to compile: straight code, branches, loops, and such whose lanes need their warp.

Prints processor seconds of the code that is made soon and of the full one, with the lanes that run together; `--limit` ends a
compilation that takes longer. PTX files of your own can be named: all their kernels are compiled for blocks of 64 threads.

    python benchmarks/long_kernels.py [--limit SECONDS] [FILE.ptx...]
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import signal
import time
from pathlib import Path

from anywarp.compiler.options import read_options
from anywarp.compiler.pipeline import compile_kernel
from anywarp.compiler.simd.target import this_machine
from anywarp.ptx.index import index_module

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
.reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %d<99>;
ld.param.u64 %d1,[out]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x; mul.wide.u32 %d2,%r2,4; add.u64 %d2,%d1,%d2; mov.u32 %r3,%r2;
cvt.u64.u32 %d9,%r2;
"""


def branchy(count: int, between: str = "") -> str:
    """Branches on bits that each lane scrambles in its own way, with scattered loads and stores under them."""
    return "".join(
        f"shr.u32 %r5,%r3,{i % 7};\nand.b32 %r4,%r5,1;\nsetp.eq.u32 %p1,%r4,0;\n@%p1 bra L{i};\n"
        f"mad.lo.u32 %r3,%r3,{2 * i + 3},{i};\nand.b32 %r6,%r3,1023;\nmul.wide.u32 %d3,%r6,4;\nadd.u64 %d3,%d1,%d3;\n"
        f"ld.global.u32 %r7,[%d3];\nadd.u32 %r3,%r3,%r7;\nst.global.u32 [%d3],%r3;\nL{i}:\n{between}\n"
        for i in range(count)
    )


def straight(count: int) -> str:
    """Products of 128 bits with carries, as in arithmetic modulo a prime."""
    return "".join(
        f"mul.lo.u64 %d5,%d9,{2 * i + 0x9E3779B97F4A7C15};\nmul.hi.u64 %d6,%d9,{2 * i + 3};\nsub.u64 %d7,%d5,%d6;\n"
        f"setp.lt.u64 %p1,%d5,%d6;\nselp.u64 %d8,0xFFFFFFFF,0,%p1;\nadd.u64 %d9,%d7,%d8;\n"
        for i in range(count)
    )


def looped(body: str) -> str:
    return f"mov.u32 %r9,0;\nAGAIN:\n{body}\nadd.u32 %r9,%r9,1;\nsetp.lt.u32 %p2,%r9,%r1;\n@%p2 bra AGAIN;\n"


def kernels() -> dict[str, str]:
    bodies = {
        "branches, 100": branchy(100),
        "branches, 245": branchy(245),  # 2700 lines
        "branches, 1600": branchy(1600),
        "branches in a loop, 245": looped(branchy(245)),
        "barriers between, 245": branchy(245, "bar.sync 0;"),
        "shuffles between, 100": branchy(100, "shfl.sync.bfly.b32 %r3,%r3,1,31,-1;"),
        "straight, 500": straight(500),
        "straight, 2500": straight(2500),
    }
    tail = "cvt.u32.u64 %r8,%d9;\nadd.u32 %r3,%r3,%r8;\nst.global.u32 [%d2],%r3;\nret;\n}\n"
    return {name: HEAD + body + tail for name, body in bodies.items()}


def compile_one(text: str, name: str, options: str, out: multiprocessing.Queue[tuple[float, int]], limit: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    index, target = index_module(text), this_machine()
    start = time.process_time()
    made = compile_kernel(index, name, read_options(options, (64, 1, 1)), target)
    out.put((time.process_time() - start, made.lanes))


def measure(text: str, name: str, options: str, limit: int) -> str:
    out: multiprocessing.Queue[tuple[float, int]] = multiprocessing.Queue()
    process = multiprocessing.Process(target=compile_one, args=(text, name, options, out, limit))
    process.start()
    process.join()
    if process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"> {limit}"
    if process.exitcode:
        return "failed"
    seconds, lanes = out.get()
    return f"{seconds:.2f} ({lanes})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("files", nargs="*", type=Path)
    asked = parser.parse_args()
    cases = [(name, text, "k") for name, text in kernels().items()]
    if asked.files:
        texts = [(path, path.read_text()) for path in asked.files]
        cases = [(f"{p.name} {n[:30]}", text, n) for p, text in texts for n in index_module(text).entries]
    print(f"{'kernel':44}{'PTX KB':>8}{'soon, s (lanes)':>18}{'full, s (lanes)':>18}")
    for label, text, name in cases:
        soon, full = (measure(text, name, options, asked.limit) for options in ("tier=quick", ""))
        print(f"{label:44}{len(text) / 1024:8.0f}{soon:>18}{full:>18}", flush=True)


if __name__ == "__main__":
    main()
