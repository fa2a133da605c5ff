"""What code rests on that a processor's features do not tell: how fast it does what it can do, and how much its caches hold.

The defaults were found on the processors at hand (docs/performance.md). What a measurement finds to be otherwise
(devices/cpu/machine.py) becomes part of the device that code is asked for, and so of its key.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

_RANGES = {
    "ahead": range(1, 257),
    "beside": range(2),
    "first": range(2),
    "gathers": range(2),
    "masks": range(2),
    "pairs": range(2),
    "stream": range(1, 1025),
    "tiles": range(2),
    "vector": (256, 512),
}


@dataclass(frozen=True, slots=True)
class Tuning:
    """Choices between forms of code that all compute the same.

    `stream`: MiB that a launch must store at one place in the code to go past the caches; what fits a cache is soon read again by
    somebody. `ahead`: KiB of a gang's loads that are on their way in a loop of distant trips. `beside`: whether such a
    loop asks for what the next block will load at the same trip, too (None: as LLVM's name of the processor says). `first`: whether vectors under masks are asked for before
    they are accessed, with AVX-512 (None: as that name says). `gathers`: whether lanes anywhere are
    read by gather instructions, or one by one. `masks`: whether stores of some of a vector's lanes take about as long as plain ones, where
    AVX-512 is not there (None: as LLVM's name of the processor says). `vector`: bits of the vectors where AVX-512 is there. `pairs`: whether sums of two
    products of bf16 take as long as one multiply-add of f32 (None: as LLVM's name of the processor says). `tiles`: whether the process that
    runs the code may use the processor's tiles (AMX), for which Linux must be asked. `measured` is for reports.
    """

    ahead: int = 8
    beside: int | None = None
    first: int | None = None
    gathers: int = 1
    masks: int | None = None
    pairs: int | None = None
    stream: int = 32
    tiles: int = 0
    vector: int = 512
    measured: bool = False

    @property
    def stream_bytes(self) -> int:
        """Bytes that a launch must store at one place."""
        return self.stream << 20

    @property
    def ahead_bytes(self) -> int:
        """Bytes of loads that are on their way."""
        return self.ahead << 10


USUAL = Tuning()


def write_tuning(tuning: Tuning) -> str:
    """Return what differs from the defaults as words in alphabetical order, joined by commas; "" for nothing."""
    words = ((f.name, getattr(tuning, f.name), f.default) for f in fields(Tuning) if f.name != "measured")
    return ",".join(f"{name}={value}" for name, value, default in words if value != default)


def read_tuning(text: str) -> Tuning:
    """Return what `text` says; ValueError if it is not as `write_tuning` writes it."""
    found: dict[str, int] = {}
    for word in text.split(",") if text else ():
        name, _, value = word.partition("=")
        if not (value.isascii() and value.isdecimal() and len(value) < 6) or int(value) not in _RANGES.get(name, ()):
            raise ValueError(f"a choice that makes no sense: {word[:80]}")
        found[name] = int(value)
    out = replace(USUAL, **found)
    if write_tuning(out) != text:
        raise ValueError(f"choices that nobody wrote: {text[:200]}")
    return out
