"""Tensors in what a module is given and what it returns: by slots, such as `0`, `kwargs.mask`, `out.1`; and tensors as bytes."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

import ctypes
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

DEEP, MANY = 6, 4096
"""How far containers and objects are looked into, and how many tensors of one call are taken."""


def tensors_in(content: Any, slot: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors in nested containers and plain objects (a cache of keys and values), each with its slot."""
    if isinstance(content, torch.Tensor):
        yield slot or "0", content
        return
    for number, found in enumerate(_walk(content, slot, 0, set())):
        if number >= MANY:
            return
        yield found


def _walk(content: Any, slot: str, depth: int, seen: set[int]) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(content, torch.Tensor):
        yield slot or "0", content
        return
    if depth > DEEP or id(content) in seen:
        return
    for name, part in _parts(content):
        seen.add(id(content))
        yield from _walk(part, f"{slot}.{name}" if slot else name, depth + 1, seen)


def _parts(content: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(content, Mapping):
        yield from ((str(name), part) for name, part in list(content.items()))
    elif isinstance(content, list | tuple):
        names = getattr(content, "_fields", None)
        yield from ((names[i] if names else str(i), part) for i, part in enumerate(content))
    elif dataclasses.is_dataclass(content) and not isinstance(content, type):
        yield from ((f.name, getattr(content, f.name, None)) for f in dataclasses.fields(content))
    elif _is_plain_object(content):
        yield from list(vars(content).items())


def _is_plain_object(content: Any) -> bool:
    if isinstance(content, torch.nn.Module | type | torch.Generator) or callable(content):
        return False
    made = type(content).__module__
    if made.startswith("torch.distributed."):
        return False  # FSDP's own state: tensors in it have given their memory back between calls
    return hasattr(content, "__dict__") and made not in ("builtins", "torch")


Change = Callable[[str, torch.Tensor], torch.Tensor]


def replaced(content: Any, change: Change, slot: str = "", *, objects: bool = True) -> Any:
    """Return a copy of `content` with each tensor changed.

    With `objects` these are copied, too, so that what happens to the copy does not reach the original; else they stay as they are.
    """
    return _replaced(content, change, slot, 0, {} if objects else None)


def _replaced(content: Any, change: Change, slot: str, depth: int, done: dict[int, Any] | None) -> Any:
    if isinstance(content, torch.Tensor):
        return change(slot or "0", content)
    if depth > DEEP:
        return content
    if done is not None and id(content) in done:
        return done[id(content)]
    known: dict[int, Any] = {} if done is None else done

    def below(name: str, part: Any) -> Any:
        return _replaced(part, change, f"{slot}.{name}" if slot else name, depth + 1, done)

    if isinstance(content, tuple) and hasattr(content, "_fields"):
        return type(content)(*(below(name, part) for name, part in _parts(content)))
    if isinstance(content, tuple):
        return type(content)(below(name, part) for name, part in _parts(content))
    if isinstance(content, list):
        copy: Any = []
        known[id(content)] = copy
        copy.extend(below(name, part) for name, part in _parts(content))
        return copy
    if type(content) is dict:
        copy = known[id(content)] = {}
        copy.update((name, below(str(name), part)) for name, part in content.items())
        return copy
    is_object = isinstance(content, Mapping) or dataclasses.is_dataclass(content) or _is_plain_object(content)
    if done is None or isinstance(content, type) or not is_object:
        return content
    return _object_copied(content, below, done)


def _object_copied(content: Any, below: Any, done: dict[int, Any]) -> Any:
    import copy as copying

    copy = done[id(content)] = copying.copy(content)
    for name, part in list(vars(copy).items()) if hasattr(copy, "__dict__") else ():
        object.__setattr__(copy, name, below(name, part))
    if isinstance(copy, dict):
        for name, part in list(content.items()):
            dict.__setitem__(copy, name, below(str(name), part))
    return copy


@functools.cache
def name_of(dtype: torch.dtype) -> str:
    """Return the short name of a dtype: float32."""
    return str(dtype).removeprefix("torch.")


def plain(tensor: torch.Tensor) -> tuple[torch.Tensor | None, str]:
    """Return the tensor as an ordinary one with memory, and for what is none, None and why."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        if hasattr(tensor, "to_local") and hasattr(tensor, "placements"):
            return plain(tensor.detach().to_local())
        if type(tensor).__name__ == "AsyncCollectiveTensor":
            return plain(tensor.detach().trigger_wait())
        if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
            return None, f"a {type(tensor).__name__}"
    if tensor.layout is not torch.strided or tensor.is_quantized or getattr(tensor, "is_nested", False):
        return None, "sparse, quantised or nested"
    if tensor.is_meta:
        return None, "without memory (meta)"
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return None, "within torch.func"
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    return tensor.detach() if tensor.requires_grad else tensor, ""


def placement_of(tensor: torch.Tensor) -> dict[str, Any] | None:
    """Return how a DTensor lies over its mesh: the whole's shape, per axis of the mesh its size, the rank's place and what is done there, and where the rank's box begins in the whole."""
    if not (hasattr(tensor, "placements") and hasattr(tensor, "device_mesh")):
        return None
    mesh = tensor.device_mesh
    out = {
        "shape": list(tensor.shape),
        "mesh": list(mesh.shape),
        "at": list(mesh.get_coordinate() or ()),
        "placements": [_placed(each) for each in tensor.placements],
    }
    start = start_of(tensor)
    return out if start is None else out | {"start": list(start)}


def _placed(placement: Any) -> str:
    if placement.is_partial():
        return "partial" if placement.reduce_op == "sum" else f"partial({placement.reduce_op})"
    return (
        f"shard({placement.dim})"
        if placement.is_shard()
        else str(placement)
        if hasattr(placement, "dim")
        else "replicate"
    )


def start_of(tensor: torch.Tensor) -> tuple[int, ...] | None:
    """Return where this rank's box of a DTensor begins in the whole, None where it is no box (strided shards), or torch does not say."""
    try:
        from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
    except ImportError:
        return None
    if not all(each.is_shard() or each.is_replicate() or each.is_partial() for each in tensor.placements):
        return None
    local, start = compute_local_shape_and_global_offset(tensor.shape, tensor.device_mesh, tensor.placements)
    return tuple(map(int, start)) if tuple(local) == tuple(tensor.to_local().shape) else None


def layout_of(tensor: torch.Tensor) -> tuple[int, ...] | None:
    """Return the strides of a tensor that is not contiguous."""
    return None if tensor.is_contiguous() else tuple(tensor.stride())


def bytes_of(tensor: torch.Tensor) -> bytes:
    """Return a plain tensor's values, contiguous, as this machine has them (little-endian)."""
    here = tensor.to("cpu").contiguous()
    size = here.numel() * here.element_size()
    return ctypes.string_at(here.data_ptr(), size) if size else b""


def from_bytes(
    content: bytes | memoryview, dtype: str, shape: tuple[int, ...], layout: tuple[int, ...] | None
) -> torch.Tensor:
    """Return a tensor of its own memory with these values; in the strides of `layout` where they are those of a dense tensor."""
    kind = getattr(torch, dtype)
    tensor = torch.empty(shape, dtype=kind)
    if len(content):
        ctypes.memmove(tensor.data_ptr(), (ctypes.c_char * len(content)).from_buffer_copy(content), len(content))
    if layout is not None and _is_dense(shape, layout):
        laid = torch.empty_strided(shape, layout, dtype=kind)
        return laid.copy_(tensor)
    return tensor


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether strides are a permutation of contiguous ones: what a hostile recording cannot make large."""
    expected = 1
    for stride, extent in sorted((s, n) for s, n in zip(strides, shape) if n != 1):
        if stride != expected:
            return False
        expected *= extent
    return True
