"""CUDA sources of extensions: torch's own translation for ROCm renames, and leaves code that counts on warps of 32 lanes as it is.

https://github.com/rusty1s/pytorch_sparse/pull/413 (masks of 64 bits), https://github.com/bitsandbytes-foundation/bitsandbytes/pull/1762 and https://github.com/pytorch/FBGEMM/pull/5696 (warps of 64 lanes,
`warpSize` that is no constant). What torch has made of a source goes through `anywarp translate`, which keeps warps of 32 lanes on every GPU. Sources that know of
ROCm themselves are left alone.
"""

# pyright: basic
from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from functools import wraps
from pathlib import Path
from typing import Any

from anywarp import settings
from anywarp.diagnostics import Diagnostic
from anywarp.frameworks import watching
from anywarp.frameworks.torch import messages, patches, rocm

MODULE = "torch.utils.hipify.hipify_python"
COUNTS_ON_WARPS = re.compile(
    r"\b__(?:shfl(?:_up|_down|_xor)?|ballot|any|all|match_any|match_all|reduce_\w+)_sync\b|\b__activemask\b|\bwarpSize\b|\basm\b"
)
KNOWS_ROCM = re.compile(r"\b(?:USE_ROCM|__HIP_PLATFORM_AMD__|__HIP_PLATFORM_HCC__|__HIPCC__|__HIP__)\b")
HEADERS = ("anywarp_warp.h", "anywarp_ptx.h")
LONGEST = 300.0
"""Seconds that the translator may take."""


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(after={MODULE: _mend}))


def _mend(module: Any) -> None:
    if hasattr(module, "hipify") and rocm.concerns(MODULE):
        reason = "CUDA sources of extensions keep warps of 32 lanes (anywarp translate)"
        patches.set_attribute(module, "hipify", with_warps_kept(module.hipify), reason)


def with_warps_kept(real: Any) -> Any:
    """Return torch's hipify with the translation of warps after it."""

    @wraps(real)
    def hipify(*args: Any, **kwargs: Any) -> Any:
        made = real(*args, **kwargs)
        keep_warps({source: result.hipified_path for source, result in made.items() if result.hipified_path})
        return made

    return hipify


def keep_warps(made: Mapping[str, str]) -> None:
    """Translate what was made of each source, where the source counts on warps and the result is a file of its own."""
    waiting: dict[Path, str] = {}
    for source, result in sorted(made.items()):
        path = Path(result)
        if os.path.realpath(source) == os.path.realpath(result) or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        if COUNTS_ON_WARPS.search(text) and not KNOWS_ROCM.search(_read(source)):
            waiting[path] = text
    # A text that was translated before keeps its time, too: else everything would be compiled anew in each process.
    for path, text in [each for each in waiting.items() if _kept(*each).is_file()]:
        _take(path, _kept(path, text))
        del waiting[path]
    if waiting:
        _translate(waiting)


def _translate(waiting: Mapping[Path, str]) -> None:
    with tempfile.TemporaryDirectory(prefix="anywarp-") as folder:
        given, got = Path(folder, "given"), Path(folder, "got")
        given.mkdir()
        names = {path: f"{at}_{path.stem}.cu" for at, path in enumerate(waiting)}
        for path, text in waiting.items():
            (given / names[path]).write_text(text, encoding="utf-8", errors="surrogateescape")
        command = settings.python_command(
            str(settings.PYTHON.get()), "anywarp", "translate", str(given), "-o", str(got)
        )
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
            told = (done.stderr or done.stdout).strip()
        except (OSError, subprocess.SubprocessError) as error:
            done, told = None, str(error)
        if done is None or done.returncode not in (0, 1):
            files = ", ".join(path.name for path in waiting)
            messages.say_once(
                Diagnostic(
                    "F035", f"{files} stay as torch translated them, for waves of the GPU's width: {told}", "warning"
                )
            )
            return
        if done.returncode == 1:
            messages.say_once(
                Diagnostic(
                    "F035", f"CUDA sources of an extension have what only a person can translate:\n{told}", "warning"
                )
            )
        for path, text in waiting.items():
            kept = _kept(path, text)
            kept.parent.mkdir(parents=True, exist_ok=True)
            for name in HEADERS:
                if (got / name).is_file():
                    (kept.parent / name).write_bytes((got / name).read_bytes())
            kept.write_bytes((got / names[path]).read_bytes())
            _take(path, kept)
            patches.write_down(str(path), False, "an extension's source, translated for warps of 32 lanes")


def _take(path: Path, kept: Path) -> None:
    """Write what is kept to where torch compiles it, with the time at which it was first made, and the headers that it includes beside it."""
    path.write_bytes(kept.read_bytes())
    when = kept.stat().st_mtime_ns
    os.utime(path, ns=(when, when))
    for name in HEADERS:
        have, header = path.parent / name, kept.parent / name
        if (
            name.encode() in kept.read_bytes()
            and header.is_file()
            and (not have.is_file() or have.read_bytes() != header.read_bytes())
        ):
            have.write_bytes(header.read_bytes())


def _kept(path: Path, text: str) -> Path:
    """Return where the translation of a text is kept, by its place, its content and who translates."""
    told = "\0".join((str(path), settings.BUILD_ID.get() or "", text))
    return (
        messages.place() / "hipified" / hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest() / path.name
    )


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
