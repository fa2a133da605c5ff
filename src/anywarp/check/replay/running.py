"""Running a command against a recording, and comparing what it left."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anywarp.check.bundle import Bundle, open_bundle
from anywarp.check.bundle.problems import not_written
from anywarp.check.numbers.results import Report
from anywarp.check.record import copies, running
from anywarp.check.record.plan import CALLS, SAMPLE, Plan
from anywarp.check.replay.comparing import verify
from anywarp.check.replay.sides import Sides
from anywarp.diagnostics import AnywarpError, Diagnostic

_ROOM = 1 << 42
"""What a replay may write: it holds a few times the recording, and is gone when it is compared."""


@dataclass(frozen=True)
class Options:
    """How a program is verified."""

    isolated: bool = True
    precise: bool = False
    other_weights: bool = False


def replay(
    reference: Bundle, null: Bundle | None, command: tuple[str, ...], options: Options, step: Callable[[int, int], None]
) -> tuple[Report, int]:
    """Run a command on a recording's inputs and compare; return the verdict and the command's exit code.

    AnywarpError: V008 when nothing of it could be seen, V010 when its model is another, and as `comparing.verify`.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="anywarp-verify-") as beside:
            folder = Path(beside) / "observed"
            folder.mkdir(mode=0o700)
            status = running.run(plan(reference, folder, command, options), Path(beside), stdout=2)
            if running.finished(folder) is None:
                raise _nothing(status)
            with open_bundle(folder) as observed:
                return verify(Sides(reference, observed, null, other_weights=options.other_weights), step), status
    except OSError as error:
        raise not_written("the folder for temporary files", error) from None


def plan(reference: Bundle, folder: Path, command: tuple[str, ...], options: Options) -> Plan:
    """Return what the program's processes are to do: what was recorded, once more."""
    manifest = reference.manifest
    return Plan(
        str(folder),
        command,
        "statistics" if manifest.get("mode") == "statistics" else "tensors",
        tuple(reference.texts("modules")),
        _count(manifest, "calls", CALLS),
        _ROOM,
        _count(manifest, "seed", 0),
        _count(manifest, "sample", SAMPLE) or SAMPLE,
        str(reference.path.absolute()),
        isolated=options.isolated,
        precise=options.precise,
        other_weights=options.other_weights,
        kinds=tuple(
            kind
            for each in (reference, *map(reference.part, reference.parts))
            for kind in copies.kinds_in(each.entries)
        ),
    )


def _count(manifest: dict[str, Any], name: str, usual: int) -> int:
    value = manifest.get(name)
    return value if type(value) is int and 0 <= value < 1 << 31 else usual


def _nothing(status: int) -> AnywarpError:
    text = "nothing of the command could be compared: no Python of it called a module of PyTorch, a compiled function of JAX or a session of ONNX Runtime, or named a buffer"
    if status:
        text = f"the command ended with exit code {status} before it did"
    help = "run the command by itself first; name what starts Python after --, and leave out -E, -I and -S"
    return AnywarpError(Diagnostic("V008", text, help=help))
