"""Settings of programs that use ONNX Runtime: the execution providers that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.deploy.convert.model import Change, Finding, Options, Refusal

NAME = "onnxruntime"
PROVIDER = "Y049"
_SOURCE = "rocm.docs.amd.com, ONNX Runtime"
_NAMES = re.compile(rb"\b(?P<name>CUDA|Tensorrt|NvTensorRTRTX)ExecutionProvider\b")


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a file of settings that names a provider of NVIDIA's."""
    return (
        path.suffix.lower() in (".json", ".yml", ".yaml", ".toml", ".ini", ".cfg", ".pbtxt")
        and _NAMES.search(data) is not None
    )


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of providers; where CUDA's and TensorRT's stand both, one place is left, since one provider takes both."""
    found = list(_NAMES.finditer(data))
    there = b"MIGraphXExecutionProvider" in data
    both = len({one["name"] for one in found}) > 1
    for one in found:
        if there or (both and one["name"] != b"CUDA"):
            reason = "MIGraphX takes the place of this provider and of another one that is named, too"
            yield Refusal(*one.span(), reason, "take this one out, with its options", _SOURCE, PROVIDER)
        else:
            yield Change(
                *one.span(),
                b"MIGraphXExecutionProvider",
                "the provider for AMD GPUs; options of NVIDIA's are none of its own",
                _SOURCE,
            )


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """The place of a provider says nothing of comments."""
    return ()
