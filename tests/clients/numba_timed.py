"""A program of numba-cuda that appends to a file (its argument) how many seconds its kernel and the copies took by its own clock."""

import sys
import time

import numpy as np
from numba import cuda


@cuda.jit
def squares(values, out):
    i = cuda.grid(1)
    if i < values.size:
        out[i] = values[i] * values[i]


values = np.arange(1000, dtype=np.int64)
out = cuda.device_array_like(values)
start = time.perf_counter()
squares[8, 128](cuda.to_device(values), out)
found = out.copy_to_host()
took = time.perf_counter() - start
assert (found == np.arange(1000) ** 2).all()
with open(sys.argv[1], "a") as file:
    file.write(f"{took}\n")
