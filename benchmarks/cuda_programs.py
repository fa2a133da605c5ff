"""CUDA programs on one thread against the same computations as plain C++ loops, `-O3 -march=native`, in one process.

python benchmarks/cuda_programs.py [--way anywarp|shared]

Prints a table: milliseconds of the kernel and of the loop (the fastest of seven, in turn), and how many times as fast the kernel is.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "cuda" / "against_host.cu"
ANYWARP = (sys.executable, "-m", "anywarp")
COMPILERS = {
    "anywarp": (*ANYWARP, "nvcc"),
    "shared": ("nvcc", "-cudart", "shared", "-arch=sm_80"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--way", choices=list(COMPILERS), default="anywarp")
    compiler = COMPILERS[parser.parse_args().way]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "against_host"
        options = ("-std=c++17", "-O3", "-Xcompiler", "-march=native")
        subprocess.run([*compiler, *options, str(SOURCE), "-o", str(target)], check=True)
        command = [*ANYWARP, "run", "--", str(target)]
        environment = os.environ | {"ANYWARP_THREADS": "1"}
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)  # kernels are tuned and kept
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    print("| program | kernel, ms | loop, ms | times as fast | largest difference |")
    print("| --- | --- | --- | --- | --- |")
    for line in done.stdout.splitlines():
        name, kernel, loop, apart = line.split()
        print(f"| {name} | {kernel} | {loop} | {float(loop) / float(kernel):.2f} | {apart} |")


if __name__ == "__main__":
    main()
