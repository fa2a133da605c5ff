"""What a trace costs per call: the same calls with and without `ANYWARP_TRACE_DIR`, side by side in one run.

Two processes load the driver, one of them tracing; they are measured in turns. Times are the calling thread's time on a processor,
the kernel's share for it included, so that what else the machine does is not counted.
Run: python benchmarks/trace_cost.py [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from anywarp import settings

ROOT = Path(__file__).resolve().parents[1]

SOURCE = r"""
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

typedef int (*Get)(int*);
typedef int (*Alloc)(uint64_t*, size_t);
typedef int (*Free)(uint64_t);
typedef int (*Copy)(uint64_t, uint64_t, size_t);
typedef int (*Record)(void*, void*);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int count, char** names) {
  void* lib = dlopen(names[1], RTLD_NOW);
  if (count < 2 || !lib) return 1;
  void *context, *stream, *event;
  uint64_t a, b;
  if (((int (*)(unsigned))dlsym(lib, "cuInit"))(0)) return 2;
  if (((int (*)(void**, unsigned, int))dlsym(lib, "cuCtxCreate_v2"))(&context, 0, 0)) return 3;
  if (((int (*)(void**, unsigned))dlsym(lib, "cuStreamCreate"))(&stream, 0)) return 4;
  if (((int (*)(void**, unsigned))dlsym(lib, "cuEventCreate"))(&event, 0)) return 5;
  Alloc allocate = (Alloc)dlsym(lib, "cuMemAlloc_v2");
  Get device = (Get)dlsym(lib, "cuCtxGetDevice");
  Copy copy = (Copy)dlsym(lib, "cuMemcpyDtoD_v2");
  Record record = (Record)dlsym(lib, "cuEventRecord");
  if (allocate(&a, 64) || allocate(&b, 64)) return 6;
  const int n = 20000;
  char line[16];
  while (fgets(line, sizeof line, stdin)) {  /* one round for each line */
    int value;
    double t0 = now();
    for (int i = 0; i < n; ++i) device(&value);
    double t1 = now();
    for (int i = 0; i < n; ++i) record(event, stream);
    double t2 = now();
    for (int i = 0; i < n; ++i) copy(a, b, 4);
    double t3 = now();
    printf("%f %f %f\n", (t1 - t0) / n, (t2 - t1) / n, (t3 - t2) / n);
    fflush(stdout);
  }
  return 0;
}
"""

CALLS = (
    "cuCtxGetDevice (a call)",
    "cuEventRecord (a call and an event)",
    "cuMemcpyDtoD of 4 bytes (a call and a copy)",
)


def main() -> None:
    """Measure and print nanoseconds per call, and what tracing adds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "calls"
        (Path(folder) / "calls.c").write_text(SOURCE)
        subprocess.run(["cc", "-O2", f"{folder}/calls.c", "-o", str(program), "-ldl"], check=True)
        library = settings.LIBRARY_DIR.get() / "libcuda.so.1"
        base = {k: v for k, v in os.environ.items() if k not in (settings.TRACE_DIR.name, settings.NVIDIA_DRIVER.name)}
        plain, traced = (
            subprocess.Popen([program, library], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
            for env in (base, {**base, settings.TRACE_DIR.name: folder})
        )
        times: dict[str, list[list[float]]] = {"plain": [], "traced": []}
        for _ in range(rounds + 1):
            for name, process in (("plain", plain), ("traced", traced)):
                assert process.stdin and process.stdout
                process.stdin.write("go\n")
                process.stdin.flush()
                line = process.stdout.readline()
                if not line:
                    sys.exit(f"the {name} process ended with {process.wait()}")
                times[name].append([float(word) for word in line.split()])
        for process in (plain, traced):
            process.communicate()
    print(f"nanoseconds of processor time per call, median of {rounds} rounds (the first left out)")
    for i, call in enumerate(CALLS):
        without, with_trace = (statistics.median(row[i] for row in times[name][1:]) for name in ("plain", "traced"))
        print(f"  {call}: {without:.0f} without, {with_trace:.0f} with a trace: {with_trace - without:.0f} more")


if __name__ == "__main__":
    main()
