"""A serialized engine: an ONNX model with its optimization profiles, under a checksum. No code, and nothing is executed to read it.

    magic (16 bytes)  version u32  length of the header u32  length of the model u64  SHA-256 of both (32 bytes)  header (JSON)  model (ONNX)

Numbers are little-endian. TensorRT's own plans hold machine code for a GPU and cannot be read.
"""

# pyright: basic
from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass, field
from typing import Any

MAGIC = b"anywarp.engine\r\n"
VERSION = 1
_HEAD = struct.Struct("<16sIIQ32s")
_MOST_HEADER = 1 << 24
NVIDIAS = (b"ptrt", b"ftrt", b"trtp")
"""How plans of NVIDIA's begin."""

Profile = dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]
"""The smallest, usual and largest shape of each input that has one."""


class PlanError(ValueError):
    """Raised for bytes that are no engine of ours; the text says what they are."""


@dataclass
class Plan:
    """What an engine is made of; `wide`: int64 goes in and out as such, not as int32."""

    model: bytes
    name: str = ""
    profiles: list[Profile] = field(default_factory=list)
    wide: bool = True


def dump(plan: Plan) -> bytes:
    """Return the engine as bytes."""
    said = {"name": plan.name, "profiles": plan.profiles, "wide": plan.wide}
    header = json.dumps(said, sort_keys=True).encode()
    digest = hashlib.sha256(header + plan.model).digest()
    return _HEAD.pack(MAGIC, VERSION, len(header), len(plan.model), digest) + header + plan.model


def load(data: Any) -> Plan:
    """Read an engine from bytes or a buffer; PlanError says why it is none."""
    view = memoryview(data).cast("B")
    if bytes(view[:4]) in NVIDIAS:
        raise PlanError(
            "this is an engine of NVIDIA's TensorRT, machine code for a GPU: build one from the ONNX model here"
        )
    if len(view) < _HEAD.size or bytes(view[:16]) != MAGIC:
        raise PlanError("these bytes are no engine built here: build one from the ONNX model")
    _, version, header_size, model_size, digest = _HEAD.unpack(view[: _HEAD.size])
    if version != VERSION:
        raise PlanError(f"the engine has version {version} of the format, not {VERSION}: build it again")
    if header_size > _MOST_HEADER or _HEAD.size + header_size + model_size != len(view):
        raise PlanError(f"the engine is {len(view)} bytes long, not what it says: it was cut off or changed")
    body = view[_HEAD.size :]
    if hashlib.sha256(body).digest() != digest:
        raise PlanError("the engine's checksum is wrong: it was changed")
    try:
        said = json.loads(bytes(body[:header_size]))
        profiles = [{str(name): _three(shapes) for name, shapes in each.items()} for each in said["profiles"]]
        return Plan(bytes(body[header_size:]), str(said["name"]), profiles, bool(said["wide"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise PlanError(f"the engine's header cannot be read ({type(error).__name__})") from error


def _three(shapes: Any) -> Any:
    low, usual, high = (tuple(int(size) for size in shape) for shape in shapes)
    return low, usual, high
