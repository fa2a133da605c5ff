"""What torch.compile generates for `cuda`: kernels in Triton (ANYWARP_TORCH_INDUCTOR=triton) against C++ for the CPU, which is the default.

    OMP_NUM_THREADS=1 anywarp run -- python benchmarks/torch_inductor.py

Each function is compiled both ways in this process; calls alternate, and the best of each is compared, beside the time of the
first call. Triton must be installed.
"""

import argparse
import math
import os
import time
import types

import torch
import torch.nn.functional as F


def pointwise(a, b):
    return F.gelu(a * b + 1).sin() * torch.sigmoid(b) + a.abs().sqrt()


def softmax(a, b):
    return torch.softmax(a * 2 + b, -1)


def layer_norm(a, b):
    return F.layer_norm(a + b, a.shape[-1:]) * b


def column_sums(a, b):
    return (a * b).sum(0), (a - b).square().mean(0)


def mlp(a, b):
    return F.gelu(a @ b.t()) @ b


def attention(a, b):
    q, k, v = (each.view(8, -1, 64) for each in (a, b, a + b))
    return torch.softmax(q @ k.transpose(1, 2) / math.sqrt(64), -1) @ v


def gather(a, b):
    places = (b.abs() * 100).long() % a.shape[0]
    return a.flatten()[places.flatten()].cumsum(0)


def training_step(a, b):
    weight = b.detach().requires_grad_()
    loss = F.layer_norm(F.silu(a @ weight.t()), (b.shape[0],)).square().mean()
    return torch.autograd.grad(loss, weight)[0]


FUNCTIONS = (pointwise, softmax, layer_norm, column_sums, mlp, attention, gather, training_step)


def compiled(function, generator: str, arguments):
    """Return the compiled function and the seconds of its first call.

    Dynamo keeps what it compiled by code object, so each way gets a code object of its own.
    """
    os.environ["ANYWARP_TORCH_INDUCTOR"] = generator
    code = function.__code__.replace(co_name=f"{function.__name__}_{generator}")
    made = torch.compile(types.FunctionType(code, function.__globals__))
    start = time.perf_counter()
    made(*arguments)
    torch.cuda.synchronize()
    return made, time.perf_counter() - start


def best(calls, arguments, seconds: float) -> list[float]:
    """Return the best time of each call, which take turns."""
    found = [math.inf] * len(calls)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call(*arguments)
            torch.cuda.synchronize()
            found[i] = min(found[i], time.perf_counter() - start)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    torch.manual_seed(0)
    arguments = [torch.randn(options.size, options.size, device="cuda") for _ in range(2)]
    ratios = []
    for function in FUNCTIONS:
        if options.names and function.__name__ not in options.names:
            continue
        made = {name: compiled(function, name, arguments) for name in ("cpp", "triton")}
        for one, other in zip(*(torch.utils._pytree.tree_leaves(call(*arguments)) for call, _ in made.values())):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3)
        cpp, triton = best([call for call, _ in made.values()], arguments, 2)
        ratios.append(triton / cpp)
        print(
            f"{function.__name__:14} cpp {cpp * 1e3:8.3f} ms, first {made['cpp'][1]:5.1f} s   "
            f"triton {triton * 1e3:8.3f} ms, first {made['triton'][1]:5.1f} s   triton/cpp {triton / cpp:6.2f}",
            flush=True,
        )
    print(f"geometric mean of triton/cpp: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
