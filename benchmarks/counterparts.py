"""Measure kernels beside the same loops in C++, compiled by g++ -O3 -march=native, in turns in one process on one thread.

Prints the best processor time of each per run and the ratio: integer conversions (as in an arc tangent in integers), structures
that lanes read and write member by member, and a stencil.

    python benchmarks/counterparts.py [--rounds N]
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from anywarp.devices.cpu.execute import Program

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
.reg .pred %p<9>; .reg .b32 %r<60>; .reg .b64 %d<20>; .reg .f32 %f<60>;
ld.param.u64 %d1,[in]; ld.param.u64 %d2,[out]; ld.param.u32 %r1,[n];
mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x; mov.u32 %r4,%tid.x; mad.lo.s32 %r5,%r2,%r3,%r4;
setp.ge.s32 %p1,%r5,%r1;
@%p1 ret;
"""
CONVERSIONS = "mul.wide.s32 %d3,%r5,4;\nadd.u64 %d4,%d1,%d3;\nadd.u64 %d5,%d2,%d3;\nld.global.f32 %f1,[%d4];\nmov.u32 %r9,0;\n" + "".join(
    f"mul.f32 %f2,%f1,0f{0x4B000000 + 4096 * i:08X};\ncvt.rzi.s32.f32 %r8,%f2;\nadd.s32 %r9,%r9,%r8;\n" for i in range(8)
) + "st.global.u32 [%d5],%r9;\nret;\n}\n"  # fmt: skip
STRUCTURES = "mul.wide.u32 %d3,%r5,64;\nadd.u64 %d4,%d1,%d3;\nadd.u64 %d5,%d2,%d3;\n" + "".join(
    f"ld.global.u32 %r8,[%d5+{4 * i}];\nld.global.u32 %r9,[%d4+{4 * i}];\nadd.s32 %r8,%r8,%r9;\nst.global.u32 [%d5+{4 * i}],%r8;\n" for i in range(16)
) + "ret;\n}\n"  # fmt: skip
STENCIL = """
sub.s32 %r6,%r1,1; setp.eq.s32 %p2,%r5,0; setp.eq.s32 %p3,%r5,%r6; or.pred %p2,%p2,%p3;
@%p2 ret;
mul.wide.s32 %d3,%r5,4; add.u64 %d4,%d1,%d3; add.u64 %d5,%d2,%d3;
ld.global.f32 %f1,[%d4+-4]; ld.global.f32 %f2,[%d4+4]; ld.global.f32 %f3,[%d4]; add.f32 %f1,%f1,%f2; fma.rn.f32 %f1,%f3,0f40000000,%f1;
mul.f32 %f1,%f1,0f3E800000; st.global.f32 [%d5],%f1;
ret;
}
"""
COUNTERPARTS = """
#include <cstring>
static float from(unsigned bits) { float x; std::memcpy(&x, &bits, 4); return x; }
extern "C" void conversions(const float *in, int *out, int n) {
  for (int t = 0; t < n; t++) { unsigned s = 0; for (int i = 0; i < 8; i++) s += (int)(in[t] * from(0x4B000000u + 4096 * i)); out[t] = s; }
}
struct S { unsigned m[16]; };
extern "C" void structures(const S *in, S *out, int n) {
  for (int t = 0; t < n; t++) for (int i = 0; i < 16; i++) out[t].m[i] += in[t].m[i];
}
extern "C" void stencil(const float *in, float *out, int n) {
  for (int t = 1; t < n - 1; t++) out[t] = (in[t] * 2.0f + (in[t - 1] + in[t + 1])) * 0.25f;
}
"""
THREADS, N = 256, 1 << 20


def best(run: Callable[[], object], so_far: float) -> float:
    start = time.process_time()
    run()
    return min(so_far, time.process_time() - start)


def measure(
    program: Program, counterpart: Callable[..., object], words: int, real: bool, rounds: int
) -> tuple[float, float]:
    """Return the best seconds of both; they must come to the same."""
    n, r = N // words, np.random.default_rng(1)
    given = r.random(N, np.float32) if real else r.integers(0, 1 << 30, N).astype(np.uint32)
    ours, theirs = np.zeros(N, given.dtype), np.zeros(N, given.dtype)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (given, theirs)]
    a = b = float("inf")
    for _ in range(rounds):
        a = best(lambda: program.run("k", n // THREADS, THREADS, (given, ours, n), options=""), a)
        b = best(lambda: counterpart(*pointers, n), b)
    if not np.array_equal(ours, theirs):
        raise SystemExit("a kernel and its counterpart differ")
    return a, b


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "counterparts.cpp", Path(folder) / "counterparts.so"
        source.write_text(COUNTERPARTS)
        subprocess.run(["g++", "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library], check=True)
        counterparts = ctypes.CDLL(str(library))
        print(f"{'':14}{'kernel, us':>12}{'C++, us':>12}{'ratio':>8}")
        for name, body, words, real in (
            ("conversions", CONVERSIONS, 1, True), ("structures", STRUCTURES, 16, False), ("stencil", STENCIL, 1, True),
        ):  # fmt: skip
            a, b = measure(Program(HEAD + body), counterparts[name], words, real, asked.rounds)
            print(f"{name:14}{a * 1e6:12.0f}{b * 1e6:12.0f}{a / b:8.2f}", flush=True)


if __name__ == "__main__":
    main()
