"""What was measured of a device, as the cache has it, and the device that code is asked for therefore (docs/contracts.md, section 2).

A record is made once and then holds; without one the usual choices do. Whoever finds it while it begins goes by it to its end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from anywarp.compiler.artifact import unpack_container
from anywarp.compiler.simd.tuning import read_tuning, write_tuning
from anywarp.runtime import keys
from anywarp.runtime.cache import Cache


@dataclass(frozen=True, slots=True)
class Record:
    """The words that stand behind a device's identity ("" where all is as usual), and nanoseconds by what took them."""

    tuning: str
    figures: dict[str, float]


def read_record(container: bytes) -> Record:
    """Return the record in a container; ValueError if it holds none."""
    header, _ = unpack_container(container)
    lines = [line.split(" ") for line in header.splitlines()]
    tuning = [words[1] for words in lines if words[0] == "tuning" and len(words) == 2]
    if ["kind", "machine"] not in lines or len(tuning) != 1:
        raise ValueError("not a record of a machine")
    figures = {words[1]: float(words[2]) for words in lines if words[0] == "figure" and len(words) == 3}
    return Record("" if tuning[0] == "-" else tuning[0], figures)


def find_record(cache: Cache, build_id: str, device: str) -> Record | None:
    """Return what the cache knows of a device."""
    container = cache.get(keys.machine_key(build_id, device))
    try:
        return None if container is None else read_record(container)
    except ValueError:
        return None


def tuned(device: str, record: Record | None, tiles: bool = False) -> str:
    """Return the device that code is asked for; `tiles`: by a process that may use tiles, for a kernel that can."""
    words = record.tuning if record is not None else ""
    if tiles:
        words = write_tuning(replace(read_tuning(words), tiles=1))
    return f"{device}:{words}" if words else device
