"""The support header's warps of 32 lanes, compiled for waves of 64 and of 32 and run by an emulator, with another value in every lane.

Expected values are computed here, warp by warp, from what CUDA's guide says of each function.
"""

# pyright: basic
from __future__ import annotations

import subprocess
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from anywarp.compiler.amdgpu.link import find_linker
from anywarp.toolchain import clang
from emulator import client

pytestmark = pytest.mark.amd_emulator
HERE = Path(__file__).parent
SUPPORT = HERE.parents[2] / "src/anywarp/migrate/translate/support"
THREADS, RESULTS = 96, 24
OUT, IN = 0x7B00_0000_0000, 0x7B00_0100_0000
SOURCE = """
#include "anywarp_warp.h"
extern "C" __global__ void kernel(unsigned *out, const unsigned *in) {
  const unsigned t = threadIdx.x, x = in[t], lane = anywarp::lane_id(), all = 0xffffffffu;
  unsigned r[24] = {};
  int same = 7;
  __shared__ unsigned places[96];
  r[0] = lane;
  r[1] = anywarp::ballot_sync(all, x & 1u);
  r[2] = anywarp::any_sync(all, x == 17u);
  r[3] = anywarp::all_sync(all, x > 90u);
  r[4] = anywarp::match_any_sync(all, x % 5u);
  r[5] = anywarp::match_any_sync(all, static_cast<unsigned long long>(x % 3u) << 40);
  r[6] = anywarp::match_all_sync(all, t / 32u, &same);
  r[7] = same;
  r[8] = anywarp::match_all_sync(all, x % 3u, &same);
  r[9] = same;
  r[10] = anywarp::reduce_add_sync(all, x);
  r[11] = anywarp::reduce_min_sync(all, static_cast<int>(x) - 100);
  r[12] = anywarp::reduce_max_sync(all, x);
  r[13] = anywarp::reduce_xor_sync(all, x);
  r[14] = anywarp::shfl_sync(all, x, static_cast<int>(lane * 7u + 3u));
  r[15] = anywarp::shfl_up_sync(all, x, 5u);
  r[16] = anywarp::shfl_down_sync(all, x, 9u, 16);
  r[17] = anywarp::shfl_xor_sync(all, x, 21);
  r[18] = anywarp::lanemask_lt() ^ anywarp::lanemask_ge();
  r[19] = anywarp::lanemask_le();
  if (lane % 3u == 1u) {
    r[20] = anywarp::activemask();
    r[21] = anywarp::reduce_add_sync(anywarp::activemask(), x) + anywarp::leader(all);
  }
  // Two masks at one place: lanes below 11 and the others reduce apart.
  r[22] = anywarp::reduce_or_sync(lane < 11u ? 0x7ffu : ~0x7ffu, x);
  places[t] = x;
  anywarp::syncwarp();
  r[23] = *anywarp::shared_pointer<unsigned>(anywarp::shared_address(&places[t ^ 1u])) + anywarp::warp_id();
  for (unsigned n = 0; n < 24; ++n) out[n * 96 + t] = r[n];
}
"""


def values():
    """Numbers of all threads, each another."""
    return [(t * 37 + t // 32 * 5) % 251 for t in range(THREADS)]


def expected():
    """What CUDA's functions return, by thread; 0 where a thread does not take part."""
    x = values()
    columns = [of_lane(x[t - t % 32 : t - t % 32 + 32], t % 32, t // 32) for t in range(THREADS)]
    return np.array([[v & 0xFFFFFFFF for v in column] for column in columns], np.uint32).T


def mask(test):
    return sum(1 << n for n in range(32) if test(n))


def of_lane(w, n, warp):
    """The results of lane `n` of a warp with the values `w`."""
    segment = n - n % 16
    active = [m for m in range(32) if m % 3 == 1]
    mine = [m for m in range(32) if (m < 11) == (n < 11)]
    equal = len({v % 3 for v in w}) == 1
    takes_part = n in active
    return [
        n, mask(lambda m: w[m] & 1), int(17 in w), int(min(w) > 90), mask(lambda m: w[m] % 5 == w[n] % 5),
        mask(lambda m: w[m] % 3 == w[n] % 3), 0xFFFFFFFF, 1, 0xFFFFFFFF if equal else 0, int(equal), sum(w), min(w) - 100, max(w),
        reduce(lambda a, b: a ^ b, w), w[(n * 7 + 3) % 32], w[n - 5] if n >= 5 else w[n],
        w[n + 9] if n + 9 < segment + 16 else w[n], w[n ^ 21], 0xFFFFFFFF, (1 << (n + 1)) - 1,
        mask(lambda m: m in active) if takes_part else 0, sum(w[m] for m in active) + 1 if takes_part else 0,
        reduce(lambda a, b: a | b, (w[m] for m in mine)), w[n ^ 1] + warp,
    ]  # fmt: skip


def code_object(arch, folder):
    """Compile the kernel for an architecture: clang to LLVM's language, llvmlite to an object, the linker to a code object."""
    from llvmlite import binding

    found = clang.find()
    source, text = folder / "warps.hip", folder / "warps.ll"
    source.write_text(SOURCE)
    command = [
        *found.command,
        *found.options,
        "-x",
        "hip",
        f"--offload-arch={arch}",
        "--cuda-device-only",
        "-nogpulib",
        "-nogpuinc",
    ]
    command += [
        "-target",
        "x86_64-linux-gnu",
        "-nostdinc++",
        f"-I{HERE / 'hip_stand_in'}",
        f"-I{SUPPORT}",
        "-std=c++17",
        "-O2",
    ]
    done = subprocess.run([*command, "-S", "-emit-llvm", "-o", str(text), str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    module = binding.parse_assembly(text.read_text())
    machine = binding.Target.from_triple("amdgcn-amd-amdhsa").create_target_machine(cpu=arch, opt=2, reloc="pic")
    linker = find_linker()
    assert linker is not None
    return linker.link(machine.emit_object(module), f"amdgcn-amd-amdhsa--{arch}")


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_warps_of_32_lanes_keep_cudas_meaning(arch, tmp_path):
    code = code_object(arch, tmp_path)
    given = np.array(values(), np.uint32)
    memory = [(OUT, bytes(4 * RESULTS * THREADS)), (IN, given.tobytes())]
    kernarg = OUT.to_bytes(8, "little") + IN.to_bytes(8, "little")
    after, _ = client.launch(code, arch, "kernel", (1, 1, 1), (THREADS, 1, 1), kernarg.ljust(512, b"\0"), memory)
    found = np.frombuffer(bytes(after[0]), np.uint32).reshape(RESULTS, THREADS)
    want = expected()
    wrong = {int(n): (found[n].tolist(), want[n].tolist()) for n in np.nonzero((found != want).any(axis=1))[0]}
    assert not wrong
