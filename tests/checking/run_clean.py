"""Launch every benchmark kernel on a small problem, with outputs that nobody has written before; some through streams and graphs.

python run_clean.py KERNELS_FOLDER
"""

import ctypes
import struct
import sys
from pathlib import Path

from driver import Driver

i32, f32 = ctypes.c_int32, ctypes.c_float

# name: (lengths in words of inputs, of outputs, other arguments, grid, block); odd lengths leave threads without work
CASES = {
    "vecadd": ([1000, 1000], [1000], [i32(1000)], (4,), (256,)),
    "saxpy": ([1000, 1000], [], [i32(1000), f32(0.5)], (4,), (256,)),
    "sgemm16": ([1024, 1024], [1024], [i32(32)], (2, 2), (16, 16)),
    "sgemm32": ([1024, 1024], [1024], [i32(32)], (1, 1), (32, 32)),
    "reduce_shared": ([3000], [4], [i32(3000)], (4,), (256,)),
    "reduce_shfl": ([3000], [4], [i32(3000)], (4,), (256,)),
    "softmax": ([4 * 300], [4 * 300], [i32(300)], (4,), (256,)),
    "layernorm": ([4 * 300, 300, 300], [4 * 300], [i32(300), f32(1e-5)], (4,), (256,)),
    "rmsnorm": ([4 * 300, 300], [4 * 300], [i32(300), f32(1e-5)], (1,), (32, 4)),
    "gelu": ([1000], [1000], [i32(1000)], (4,), (256,)),
    "transpose": ([64 * 64], [64 * 64], [i32(64), i32(64)], (2, 2), (32, 8)),
    "stencil5": ([64 * 64], [64 * 64], [i32(64), i32(64), f32(0.5), f32(0.125)], (2, 8), (32, 8)),
    "histogram": ([3000, 256], [], [i32(3000)], (4,), (256,)),
    "blackscholes": ([500] * 3, [500, 500], [i32(500), f32(0.02), f32(0.3)], (2,), (256,)),
    "nbody": ([512 * 4], [512 * 4], [i32(512), f32(0.01)], (2,), (256,)),
    "attention": ([2 * 16 * 64] * 3, [2 * 16 * 64], [i32(16), i32(64), f32(0.125)], (16, 2), (128,)),
}  # fmt: skip


def main():
    d = Driver()
    stream, graph, ready = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    d.call("cuStreamCreate", ctypes.byref(stream), 1)
    folder = Path(sys.argv[1])
    for number, (name, (inputs, outputs, others, grid, block)) in enumerate(CASES.items()):
        function = d.function(d.module(folder / f"{name}.ptx"), name)
        arguments = [d.upload(struct.pack(f"{n}f", *(0.25 + i % 97 for i in range(n)))) for n in inputs]
        arguments += [d.allocate(4 * n) for n in outputs]
        arguments += others
        d.call("cuCtxSynchronize")
        if number % 2:
            d.call("cuStreamBeginCapture_v2", stream, 0)
            d.launch(function, grid, block, arguments, stream=stream)
            d.call("cuStreamEndCapture", stream, ctypes.byref(graph))
            d.call("cuGraphInstantiateWithFlags", ctypes.byref(ready), graph, ctypes.c_uint64(0))
            d.call("cuGraphLaunch", ready, stream)
        else:
            d.launch(function, grid, block, arguments, stream=stream)
        d.call("cuStreamSynchronize", stream)
        print(name)


if __name__ == "__main__":
    main()
