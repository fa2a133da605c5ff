"""The options of a compilation as the text that stands in requests and cache keys, and back.

One spelling per meaning, because the text is part of a cache key (docs/contracts.md, section 2).
"""

from __future__ import annotations

from dataclasses import replace

from anywarp.compiler.artifact import unpack
from anywarp.compiler.ir import Specialisation

CHECKS = frozenset({"memory", "race", "init", "sync"})
"""What code can be asked to check while it runs."""


def write_options(specialisation: Specialisation) -> str:
    """Return the text of everything but the block shape; empty for a full compilation without assumptions."""
    words: list[str] = []
    if specialisation.checks:
        words.append(f"check={','.join(sorted(specialisation.checks))}")
    if specialisation.lanes:
        words.append(f"gang={specialisation.lanes}")
    if specialisation.multiples:
        words.append(f"multiple={','.join(':'.join(map(str, m)) for m in sorted(specialisation.multiples))}")
    if specialisation.stack:
        words.append(f"stack={specialisation.stack}")
    if specialisation.quick:
        words.append("tier=quick")
    return " ".join(words)


def options_of_variant(container: bytes, options: str, block: tuple[int, int, int]) -> str:
    """Return the options of the variant that a kernel's artifact, compiled with `options`, asks for; "" for none."""
    try:
        multiples = unpack(container).variant
    except ValueError:  # a device of its own, whose containers we do not know
        return ""
    return write_options(replace(read_options(options, block), multiples=multiples)) if multiples else ""


def read_options(text: str, block: tuple[int, int, int] | None) -> Specialisation:
    """Return what `text` asks for, for a block shape; ValueError if it is not as `write_options` writes it."""
    fields = dict(word.split("=", 1) for word in text.split(" ")) if text else {}
    multiples: list[tuple[int, int, int]] = []
    for item in fields["multiple"].split(",") if "multiple" in fields else ():
        offset, size, modulus = (int(number) for number in item.split(":"))
        if size not in (4, 8) or not 2 <= modulus <= 1 << 16 or not 0 <= offset < 1 << 16:
            raise ValueError(f"an assumption that makes no sense: {item}")
        multiples.append((offset, size, modulus))
    out = Specialisation(
        block,
        int(fields.get("gang", "0")),
        tuple(multiples),
        frozenset(fields["check"].split(",") if "check" in fields else ()),
        "tier" in fields,
        int(fields.get("stack", "0")),
    )
    if not 0 <= out.stack <= 1 << 23:
        raise ValueError(f"a stack that no thread can have: {out.stack}")
    if out.lanes not in (0, 1, 32, 64, 128, 256, 512, 1024) or not out.checks <= CHECKS or write_options(out) != text:
        raise ValueError(f"options that nobody wrote: {text[:200]}")
    return out
