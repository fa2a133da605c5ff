"""The two files of GPT-2's vocabulary, rebuilt from the list of tokens that the whisper program carries.

tiktoken would download them; it takes them from its cache folder when they are the very files, which it checks by their hash.
"""

# pyright: basic
from __future__ import annotations

import base64
import hashlib
import inspect
import json
import re
from pathlib import Path


def _address(name: str) -> str:
    """Return the address that tiktoken's own text gives for the file `name` of GPT-2."""
    from tiktoken_ext import openai_public

    found = re.search(rf'"(\S+gpt-2\S+/{re.escape(name)})"', inspect.getsource(openai_public.gpt2))
    assert found is not None
    return found.group(1)


def _letters() -> dict[int, str]:
    """Return the printable letter that stands for each byte in these files."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [each for each in range(256) if each not in plain]
    return {**{each: chr(each) for each in plain}, **{each: chr(256 + place) for place, each in enumerate(others)}}


def _pair(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, bytes]:
    """Return the last two parts that merge into `token` when earlier merges were applied in order."""
    parts = [bytes([each]) for each in token]
    while len(parts) > 2:
        best = min(range(len(parts) - 1), key=lambda place: ranks.get(parts[place] + parts[place + 1], 1 << 30))
        parts[best : best + 2] = [parts[best] + parts[best + 1]]
    return parts[0], parts[1]


def write(tokens: Path, cache: Path) -> None:
    """Write the two files into `cache` under the names that tiktoken looks for."""
    ranks: dict[bytes, int] = {}
    for line in tokens.read_text().splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    letters = _letters()
    words = {token: "".join(letters[each] for each in token) for token in ranks}
    merges = [_pair(token, ranks) for token in ranks if len(token) > 1]
    vocabulary = "#version: 0.2\n" + "".join(f"{words[first]} {words[second]}\n" for first, second in merges)
    numbered = {words[token]: rank for token, rank in ranks.items()}
    numbered["<|endoftext|>"] = len(numbered)
    cache.mkdir(parents=True, exist_ok=True)
    for name, content in (("vocab.bpe", vocabulary), ("encoder.json", json.dumps(numbered))):
        # The name in tiktoken's cache is this hash of the address; nothing is protected by it.
        (cache / hashlib.sha1(_address(name).encode()).hexdigest()).write_bytes(content.encode())
