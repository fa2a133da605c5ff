"""Every operator of torch's own database with one of its tensors on the other CUDA device: refused for its device, but for those
that a card takes too: what only looks at shapes, copies, or moves such an argument.

As a script, on two devices: two_devices_operators.py PART/PARTS plain|autocast; prints "refused" and how many calls, or what was not.
"""

import re
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

SHAPES_ONLY = {
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_tensors",
    "expand_as",
    "reshape_as",
    "resize_as_",
    "view_as",
}
COPY = {"as_strided_scatter", "diagonal_scatter", "select_scatter", "slice_scatter", "to"}
READ_BY_THE_HOST = {"linspace", "logspace", "masked_fill", "narrow", "tensor_split"}
MOVED = {"_unsafe_masked_index_put_accumulate", "index_put", "nn.functional.ctc_loss"}
OFTEN_EMPTY = {"linalg.pinv", "nn.functional.bilinear"}
TAKEN = SHAPES_ONLY | COPY | READ_BY_THE_HOST | MOVED | OFTEN_EMPTY
NOT_ON_CUDA = {"histogram", "histogramdd", "sparse.mm"}
NO_SUCH_TYPE = re.compile(r"unsafe to autocast|jiterator")
SAMPLES = 6


def places(value, at=()):
    """Yield where the strided tensors are in nested tuples, lists and dicts."""
    if isinstance(value, torch.Tensor):
        if value.layout == torch.strided:
            yield at
    elif isinstance(value, dict | list | tuple):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(each, (*at, key))


def moved(value, at):
    """Return `value` with the tensor at one place on the other device."""
    if not at:
        return value.detach().to("cuda:1")
    if isinstance(value, dict):
        return {key: moved(each, at[1:]) if key == at[0] else each for key, each in value.items()}
    return type(value)(moved(each, at[1:]) if i == at[0] else each for i, each in enumerate(value))


def samples(op):
    kind = next((each for each in (torch.float32, torch.int64) if each in op.dtypes), None)
    try:
        found = list(op.sample_inputs("cuda:0", kind)) if kind else []
    except Exception:  # the sample is not made of operators that CUDA has
        return []
    return found[:SAMPLES]


def main():
    part, parts = map(int, sys.argv[1].split("/"))
    autocast = sys.argv[2] == "autocast"
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    refused, wrong = 0, []
    for op in op_db[part - 1 :: parts]:
        if op.name in NOT_ON_CUDA:
            continue
        for sample in samples(op):
            given = [sample.input, sample.args, sample.kwargs]
            where = list(places(given))
            for at in where if len(where) > 1 else ():
                try:
                    mixed, args, kwargs = moved(given, at)
                    with torch.no_grad(), torch.autocast("cuda", enabled=autocast):
                        op.op(mixed, *args, **kwargs)
                    words = "taken"
                except Exception as error:
                    words = str(error)
                refused += words != "taken"
                if words == "taken" and op.name in TAKEN:
                    continue
                if not re.search(
                    "same device|[Dd]evice, but got|to be on cpu|indices should be|to have the same", words
                ) and not NO_SUCH_TYPE.search(words):
                    wrong.append(f"{op.name} {op.variant_test_name} {at}: {words[:200]}")
    print(*wrong, "refused", refused) if wrong else print("refused", refused)


if __name__ == "__main__":
    main()
