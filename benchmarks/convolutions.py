"""cuDNN's convolutions against PyTorch's (oneDNN) on one thread: ResNet-50's layers, in turns.

    taskset -c 1 python benchmarks/convolutions.py [--rounds N] [--images N] [--kinds f32,bf16] [--ways forward,data,filter]

Processor time of this thread, best of the rounds; the ratio is our time over PyTorch's. Both get the same tensors, and the
time includes whatever each reorders.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import sys
import time
from functools import partial
from pathlib import Path

import torch

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests/libraries")]
from cudnn_tensors import factor, ints  # noqa: E402
from loading import Library  # noqa: E402

# Channels, size, filters, kernel, stride.
LAYERS = [
    (3, 224, 64, 7, 2),
    (64, 56, 64, 1, 1),
    (64, 56, 64, 3, 1),
    (64, 56, 256, 1, 1),
    (256, 56, 64, 1, 1),
    (256, 56, 512, 1, 2),
    (128, 56, 128, 3, 2),
    (128, 28, 128, 3, 1),
    (512, 28, 128, 1, 1),
    (256, 14, 256, 3, 1),
    (1024, 14, 256, 1, 1),
    (512, 7, 512, 3, 1),
    (512, 7, 2048, 1, 1),
]
KINDS = {"f32": (0, torch.float32), "f16": (2, torch.float16), "bf16": (9, torch.bfloat16)}


class Bound:
    """Descriptors of one layer, and the calls of both sides."""

    def __init__(self, dnn: Library, handle, layer, images: int, kind: str, last: bool) -> None:
        channels, size, filters, kernel, stride = layer
        self.dnn, self.handle, self.kind = dnn, handle, kind
        pad = kernel // 2
        out = (size + 2 * pad - kernel) // stride + 1
        self.stride, self.pad = [stride] * 2, [pad] * 2
        order = torch.channels_last if last else torch.contiguous_format

        def made(shape):
            return torch.randn(shape).to(KINDS[kind][1]).contiguous(memory_format=order)

        self.x, self.w, self.y = (
            made((images, channels, size, size)),
            made((filters, channels, kernel, kernel)),
            made((images, filters, out, out)),
        )
        self.to = {
            "forward": torch.empty_like(self.y),
            "data": torch.empty_like(self.x),
            "filter": torch.empty_like(self.w),
        }
        self.flops = 2 * math.prod(self.y.shape) * channels * kernel * kernel
        self.convolution = dnn.out("cudnnCreateConvolutionDescriptor")
        dnn(
            "cudnnSetConvolutionNdDescriptor",
            self.convolution,
            2,
            ints(self.pad),
            ints(self.stride),
            ints([1, 1]),
            1,
            0,
        )
        self.filter = dnn.out("cudnnCreateFilterDescriptor")
        dnn("cudnnSetFilterNdDescriptor", self.filter, KINDS[kind][0], int(last), 4, ints(self.w.shape))

    def tensor(self, value):
        made = self.dnn.out("cudnnCreateTensorDescriptor")
        self.dnn("cudnnSetTensorNdDescriptor", made, KINDS[self.kind][0], 4, ints(value.shape), ints(value.stride()))
        return made

    def ours(self, way: str):
        x, y = (self.tensor(self.x), self.x.data_ptr()), (self.tensor(self.y), self.y.data_ptr())
        w, to = (self.filter, self.w.data_ptr()), self.to[way].data_ptr()
        one, zero, middle = factor("f32", 1), factor("f32", 0), (self.convolution, 1, None, 0)
        name, given, result = {
            "forward": ("cudnnConvolutionForward", (*x, *w), y[0]),
            "data": ("cudnnConvolutionBackwardData", (*w, *y), x[0]),
            "filter": ("cudnnConvolutionBackwardFilter", (*x, *y), w[0]),
        }[way]
        return partial(self.dnn, name, self.handle, one, *given, *middle, zero, result, to)

    def theirs(self, way: str):
        if way == "forward":
            return partial(
                torch.ops.aten.convolution, self.x, self.w, None, self.stride, self.pad, [1, 1], False, [0, 0], 1
            )
        mask = [way == "data", way == "filter", False]
        return partial(
            torch.ops.aten.convolution_backward,
            self.y,
            self.x,
            self.w,
            None,
            self.stride,
            self.pad,
            [1, 1],
            False,
            [0, 0],
            1,
            mask,
        )

    def check(self, way: str) -> float:
        """The largest difference over the largest magnitude."""
        self.ours(way)()
        wanted = self.theirs(way)()
        wanted = (wanted if way == "forward" else wanted[way == "filter"]).double()
        return float((self.to[way].double() - wanted).abs().max() / wanted.abs().max())


def best(calls, rounds: int) -> list[float]:
    """Seconds of this thread's processor time each, taken in turns."""
    least = [math.inf] * len(calls)
    for _ in range(rounds):
        for at, call in enumerate(calls):
            begin = time.thread_time()
            call()
            least[at] = min(least[at], time.thread_time() - begin)
    return least


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--kinds", default="f32")
    parser.add_argument("--ways", default="forward,data,filter")
    parser.add_argument("--layers", default=",".join(map(str, range(len(LAYERS)))))
    given = parser.parse_args()
    os.environ.setdefault("ANYWARP_THREADS", "1")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    gc.disable()
    dnn = Library("cudnn", "libcudnn.so.9")
    handle = dnn.out("cudnnCreate")
    for kind in given.kinds.split(","):
        for way in given.ways.split(","):
            print(
                f"\n{kind} {way}: c, size, k, kernel, stride   NCHW: GF/s, oneDNN's, ratio   NHWC: GF/s, oneDNN's, ratio"
            )
            logs, times = [0.0, 0.0], [[0.0, 0.0], [0.0, 0.0]]
            layers = [LAYERS[int(i)] for i in given.layers.split(",")]
            for layer in layers:
                row = ""
                for last in (False, True):
                    bound = Bound(dnn, handle, layer, given.images, kind, last)
                    wrong = bound.check(way)
                    assert wrong < (1e-4 if kind == "f32" else 2e-2), wrong
                    mine, other = best((bound.ours(way), bound.theirs(way)), given.rounds)
                    logs[last] += math.log(mine / other)
                    times[last][0] += mine
                    times[last][1] += other
                    row += f"{bound.flops / mine / 1e9:10.1f} {bound.flops / other / 1e9:8.1f} {mine / other:6.2f}"
                print(f"{layer!s:28}{row}", flush=True)
            means = "  ".join(
                f"{math.exp(log / len(layers)):.2f} (sum of times {ours / other:.2f})"
                for log, (ours, other) in zip(logs, times, strict=True)
            )
            print(f"geometric mean of ratios, NCHW and NHWC: {means}")


if __name__ == "__main__":
    main()
