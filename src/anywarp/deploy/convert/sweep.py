"""Find every mention of NVIDIA in a text, whatever the text is, so that none is passed over in silence.

Rules know places; this knows words only, and what it finds where no rule said anything is listed as not converted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from anywarp.migrate.mentions import NAMES, PARTS, REST, SHORT

MENTION = re.compile(f"{NAMES}|{SHORT}|{REST}".encode(), re.IGNORECASE)
"""Words that say NVIDIA, its libraries, its tools or its cards.

NCCL in capitals is passed over: AMD's library reads the variables under the same names, NCCL_DEBUG and all.
"""

IMPLIED = re.compile(
    rb"\b(?:(?:py)?torch(?:vision|audio)?|triton|vllm|sglang|xformers|bitsandbytes|flash[-_]attn|deepspeed|onnxruntime-gpu|tensorflow-gpu|gputil|rapidsai)\b|_gpu\b"
    rb"|\bgpus?\b|NCCL_(?:NVLS|MNNVL)_ENABLE|--gres|ollama/ollama|text-generation-inference|vllm-openai|lmsysorg",
    re.IGNORECASE,
)
"""Words that mean NVIDIA's GPUs where nothing else is said: what an index serves by default is built for CUDA."""

_SHORT = 400
_IMPLYING = tuple(
    b"torch triton vllm sglang xformers bitsandbytes flash-attn flash_attn deepspeed onnxruntime tensorflow gputil rapidsai gpu gres ollama nccl_nvls nccl_mnnvl "
    b"text-generation lmsysorg".split()
)
_WORD = re.compile(rb"[^\s\"'`,;(){}\[\]<>]{0,120}")


def mentions_nvidia(data: bytes) -> bool:
    """Say whether a text mentions NVIDIA at all."""
    return next(_mentions(data), None) is not None


def implies_nvidia(data: bytes) -> bool:
    """Say whether a text asks for what is built for CUDA unless something else is said."""
    small = data.lower()
    return any(part in small for part in _IMPLYING) and IMPLIED.search(data) is not None


def uncovered(data: bytes, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the places of the words that mention NVIDIA and overlap none of `spans`, one for each word."""
    places = merged(spans)
    starts = [start for start, _ in places]
    done = 0
    for found in _mentions(data):
        if found.start() < done:
            continue
        index = bisect_right(starts, found.start()) - 1
        inside = index >= 0 and places[index][1] > found.start()
        if inside or (index + 1 < len(places) and places[index + 1][0] < found.end()):
            continue
        start, end = _word(data, found.start(), found.end())
        done = end
        yield start, end


def _mentions(data: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the mentions in order; of a long text only the lines are searched that hold letters of one."""
    places = ((0, len(data)),) if len(data) < _SHORT else _lines(data)
    for start, end in places:
        for found in MENTION.finditer(data, start, end):
            if found[0] != b"NCCL":
                yield found


def _lines(data: bytes) -> list[tuple[int, int]]:
    small = data.lower()
    places: set[tuple[int, int]] = set()
    for part in PARTS:
        place = small.find(part)
        while place >= 0:
            end = data.find(b"\n", place)
            end = len(data) if end < 0 else end
            places.add((data.rfind(b"\n", 0, place) + 1, end))
            place = small.find(part, end)
    return sorted(places)


def _word(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Widen a place to the word around it, at most 120 bytes to each side."""
    before = data[max(0, start - 120) : start]
    cut = re.search(rb"[^\s\"'`,;(){}\[\]<>]*\Z", before)
    after = _WORD.match(data, end)
    return start - (len(cut[0]) if cut else 0), after.end() if after else end


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places in order, those that touch made one."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out
