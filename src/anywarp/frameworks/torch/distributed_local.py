"""What one process does with several devices: copies among them (`torch.cuda.comm`) and `torch.cuda.nccl`.

DataParallel and its parts call these names of `torch._C`, which a CPU build lacks; they are copies and operators of torch.
"""

# pyright: basic
from __future__ import annotations

import contextlib
import functools
import operator
import os
from collections.abc import Sequence
from typing import Any

from anywarp.frameworks.torch import distributed


def _device(index: int) -> Any:
    """Return the device of an index: -1 is the CPU."""
    import torch

    return torch.device("cpu") if index < 0 else torch.device("cuda", index)


def _cuda(index: int) -> Any:
    """Return the CUDA device of an index; RuntimeError when it is negative."""
    import torch

    if index < 0:
        raise RuntimeError(f"Expected non-negative device index, but got {index}")
    return torch.device("cuda", index)


def broadcast(tensor: Any, devices: Sequence[int]) -> list[Any]:
    """Return `tensor` on each of the devices: itself on its own, copies on the others."""
    return [tensor if tensor.get_device() == index else tensor.to(_cuda(index), non_blocking=True) for index in devices]


def broadcast_out(tensor: Any, out_tensors: Sequence[Any]) -> Sequence[Any]:
    """Copy `tensor` to each of the tensors; RuntimeError when one is no CUDA tensor or has another shape."""
    for i, out in enumerate(out_tensors):
        if not out.is_cuda:
            raise RuntimeError(
                f"Expected all output tensors to be CUDA tensors, but output tensor at index {i} has device '{out.device}'"
            )
        if out.shape != tensor.shape:
            words = f"have same shape as the source tensor {list(tensor.shape)}, but output tensor at index {i} has shape {list(out.shape)}"
            raise RuntimeError(f"Expected all output tensors to {words}")
        out.copy_(tensor, non_blocking=True)
    return out_tensors


def broadcast_coalesced(tensors: Sequence[Any], devices: Sequence[int], buffer_size: int = 0) -> list[list[Any]]:
    """Return the tensors on each of the devices; they must be on the first one. Copies need no buffer here."""
    if any(tensor.get_device() != devices[0] for tensor in tensors):
        raise RuntimeError(f"all tensors must be on devices[0]: {devices[0]}")
    return [list(tensors), *([tensor.detach().to(_device(index)) for tensor in tensors] for index in devices[1:])]


def _on(stream: Any) -> Any:
    import torch

    return contextlib.nullcontext() if stream is None else torch.cuda.stream(stream)


def scatter(tensor: Any, devices: Sequence[int], chunk_sizes: Any, dim: int, streams: Any = None) -> list[Any]:
    """Return the parts of `tensor` along `dim`, each on its device: of the sizes given, or as even as torch.chunk makes them."""
    if not devices:
        raise RuntimeError("Expected at least one device to scatter to")
    if chunk_sizes is not None and len(chunk_sizes) != len(devices):
        words = f"got len(devices) = {len(devices)} and len(chunk_sizes) = {len(chunk_sizes)}"
        raise RuntimeError(f"Expected devices and chunk_sizes to be of same length, but {words}")
    parts = tensor.chunk(len(devices), dim) if chunk_sizes is None else tensor.split_with_sizes(list(chunk_sizes), dim)
    return [
        part if index == tensor.get_device() else _to(part, _cuda(index), streams, i)
        for i, (part, index) in enumerate(zip(parts, devices, strict=False))
    ]


def _to(part: Any, device: Any, streams: Any, i: int) -> Any:
    """Return a part on a device, copied on the stream at `i` if there is one; RuntimeError when that is another device's."""
    with _on(_stream_at(streams, i, device.index)):
        return part.to(device, non_blocking=True)


def _stream_at(streams: Any, i: int, index: int) -> Any:
    stream = streams[i] if streams and i < len(streams) else None
    if stream is not None and stream.device_index != index:
        words = f"to match the device supplied at that index (expected {index})"
        raise RuntimeError(
            f"Expected the device associated with the stream at index {i} (was {stream.device_index}) {words}"
        )
    return stream


def scatter_out(tensor: Any, out_tensors: Sequence[Any], dim: int, streams: Any = None) -> Sequence[Any]:
    """Copy the parts of `tensor` along `dim` into the tensors, whose sizes say which are whose."""
    if not out_tensors:
        raise RuntimeError("Expected at least one output tensor to scatter to")
    dim = _wrapped(dim, tensor)
    for i, out in enumerate(out_tensors):
        if not out.is_cuda:
            raise RuntimeError(
                f"Expected all output tensors to be CUDA tensors, but output tensor at index {i} has device '{out.device}'"
            )
        if not _same_but_for(dim, out, tensor):
            words = f"Expected same shape except for scatter dim {dim} as the source tensor: {list(tensor.shape)}"
            raise RuntimeError(f"Output tensor at index {i} has incorrect shape: {list(out.shape)}. {words}")
    sizes = [out.size(dim) for out in out_tensors]
    if sum(sizes) != tensor.size(dim):
        words = f"Expected {tensor.size(dim)}, but got total size {sum(sizes)}"
        raise RuntimeError(
            f"Total size for output tensors along scatter dim {dim} does not match the source tensor size at dim {dim}. {words}"
        )
    for i, (part, out) in enumerate(zip(tensor.split_with_sizes(sizes, dim), out_tensors, strict=True)):
        with _on(_stream_at(streams, i, out.get_device())):
            out.copy_(part, non_blocking=True)
    return out_tensors


def _wrapped(dim: int, tensor: Any) -> int:
    """Return a dimension counted from the front; IndexError when there is none such."""
    most = max(tensor.dim(), 1)
    if not -most <= dim < most:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {dim})")
    return dim % most


def _same_but_for(dim: int, one: Any, other: Any) -> bool:
    """Tell whether two shapes are equal in all other dimensions."""
    a, b = list(one.shape), list(other.shape)
    return len(a) == len(b) and a[:dim] + a[dim + 1 :] == b[:dim] + b[dim + 1 :]


def gather(tensors: Sequence[Any], dim: int, destination_index: int | None = None) -> Any:
    """Return the tensors joined along `dim` on a device: -1 is the CPU, None the current one."""
    import torch

    if not tensors:
        raise RuntimeError("Expected at least one tensor to gather from")
    dim = _wrapped(dim, tensors[0])
    for i, tensor in enumerate(tensors):
        _check_part(i, tensor, tensors[0], dim)
    device = (
        torch.device("cuda", torch.cuda.current_device()) if destination_index is None else _device(destination_index)
    )
    later = device.type == "cuda"  # the host would read before the copies are done
    return torch.cat([tensor.to(device, non_blocking=later) for tensor in tensors], dim)


def _check_part(i: int, tensor: Any, first: Any, dim: int) -> None:
    """Raise RuntimeError when a tensor to be gathered is not on a device, or does not fit the first one."""
    if not tensor.is_cuda:
        raise RuntimeError(
            f"Expected all input tensors to be CUDA tensors, but tensor at index {i} has device '{tensor.device}'"
        )
    if tensor.dim() != first.dim():
        words = f"tensor at index {i} has {tensor.dim()} dimensions, (expected {first.dim()})"
        raise RuntimeError(f"Expected all input tensors to have the same number of dimensions, but {words}")
    if not _same_but_for(dim, tensor, first):
        expected = [tensor.size(dim) if each == dim else size for each, size in enumerate(first.shape)]
        raise RuntimeError(f"Tensor at index {i} has invalid shape {list(tensor.shape)}, but expected {expected}")


def gather_out(tensors: Sequence[Any], out_tensor: Any, dim: int) -> Any:
    """Copy the tensors, joined along `dim`, into `out_tensor`; RuntimeError when it has not their size."""
    if not tensors:
        raise RuntimeError("Expected at least one tensor to gather from")
    dim = _wrapped(dim, out_tensor)
    for i, tensor in enumerate(tensors):
        _check_part(i, tensor, out_tensor, dim)
    sizes = [tensor.size(dim) for tensor in tensors]
    if sum(sizes) != out_tensor.size(dim):
        words = f"Expected out tensor to have size {sum(sizes)} at gather dim {dim}, but got {out_tensor.size(dim)}"
        raise RuntimeError(words)
    for part, tensor in zip(out_tensor.split_with_sizes(sizes, dim), tensors, strict=True):
        part.copy_(tensor, non_blocking=out_tensor.is_cuda)
    return out_tensor


def _checked(inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Raise RuntimeError when tensors do not fit a collective among the devices of one process."""
    if not inputs:
        raise RuntimeError("input sequence can't be empty")
    devices = {tensor.get_device() for tensor in inputs}
    for tensor in (*inputs, *outputs):
        if not tensor.is_cuda or tensor.is_sparse:
            raise RuntimeError("input and output elements have to be cuda dense Tensors")
        if not tensor.is_contiguous():
            raise RuntimeError("input and output elements have to be contiguous")
        if tensor.dtype != inputs[0].dtype:
            raise RuntimeError("all inputs and outputs must be of the same Tensor dtype")
    if len(devices) != len(inputs):
        raise RuntimeError("inputs must be on unique devices")


def _reduced(inputs: Sequence[Any], op: int) -> Any:
    """Return the inputs combined on the first one's device; `op` is an ncclRedOp_t: sum, product, maximum, minimum, average."""
    import torch

    parts = [tensor.to(inputs[0].device) for tensor in inputs]
    combine = {0: operator.add, 1: operator.mul, 2: torch.maximum, 3: torch.minimum, 4: operator.add}
    if op not in combine:
        raise RuntimeError(f"NCCL Error 4: invalid argument (ncclRedOp_t {op})")
    whole = functools.reduce(combine[op], parts)
    if op == 4:
        whole = whole / len(inputs) if whole.is_floating_point() else whole.div(len(inputs), rounding_mode="trunc")
    return whole


def nccl_all_reduce(
    inputs: Sequence[Any], outputs: Sequence[Any], op: int = 0, streams: Any = None, comms: Any = None
) -> None:
    """Combine tensors of several devices into one output on each."""
    _checked(inputs, outputs)
    whole = _reduced(inputs, op)
    for output in outputs:
        output.copy_(whole)


def nccl_reduce(
    inputs: Sequence[Any], output: Any, root: int, op: int = 0, streams: Any = None, comms: Any = None
) -> None:
    """Combine tensors of several devices into one output."""
    _checked(inputs, [output])
    output.copy_(_reduced(inputs, op))


def nccl_broadcast(inputs: Sequence[Any], root: int, streams: Any = None, comms: Any = None) -> None:
    """Copy the tensor of one device to those of the others."""
    _checked(inputs, [])
    for i, tensor in enumerate(inputs):
        if i != root:
            tensor.copy_(inputs[root])


def nccl_all_gather(inputs: Sequence[Any], outputs: Sequence[Any], streams: Any = None, comms: Any = None) -> None:
    """Copy the tensors of all devices, one behind the other, to an output on each."""
    _checked(inputs, outputs)
    for output in outputs:
        for part, tensor in zip(output.reshape(-1).chunk(len(inputs)), inputs, strict=True):
            part.copy_(tensor.reshape(-1))


def nccl_reduce_scatter(
    inputs: Sequence[Any], outputs: Sequence[Any], op: int = 0, streams: Any = None, comms: Any = None
) -> None:
    """Combine tensors of several devices and give each output its part."""
    _checked(inputs, outputs)
    whole = _reduced(inputs, op).reshape(-1).clone()
    for part, output in zip(whole.chunk(len(outputs)), outputs, strict=True):
        output.copy_(part.reshape(output.shape))


def nccl_init_rank(nranks: int, comm_id: bytes, rank: int) -> object:
    """Raise: communicators among processes are made by torch.distributed."""
    raise RuntimeError("torch.cuda.nccl.init_rank is not supported: torch.distributed joins processes (backend nccl)")


def nccl_version() -> int:
    """Return the version as torch packs it: 16 bits for each of minor and patch."""
    major, minor, patch = distributed.NCCL_VERSION
    return major << 32 | minor << 16 | patch


def names() -> dict[str, Any]:
    """Return the names of torch._C."""
    return {
        "_broadcast": broadcast,
        "_broadcast_out": broadcast_out,
        "_broadcast_coalesced": broadcast_coalesced,
        "_scatter": scatter,
        "_scatter_out": scatter_out,
        "_gather": gather,
        "_gather_out": gather_out,
        "_nccl_all_reduce": nccl_all_reduce,
        "_nccl_reduce": nccl_reduce,
        "_nccl_broadcast": nccl_broadcast,
        "_nccl_all_gather": nccl_all_gather,
        "_nccl_reduce_scatter": nccl_reduce_scatter,
        "_nccl_init_rank": nccl_init_rank,
        "_nccl_unique_id": lambda: os.urandom(128),
        "_nccl_version": nccl_version,
        "_nccl_version_suffix": lambda: b"",
    }
