"""Starting a program that is to be recorded, and what is done with its bundle when it has ended."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from anywarp import settings
from anywarp.check.bundle.documents import dump
from anywarp.check.bundle.problems import shown
from anywarp.check.bundle.reader import FORMAT, VERSION
from anywarp.check.record import copies
from anywarp.check.record.plan import Plan
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.runtime import launch

SITE = Path(__file__).resolve().parents[1] / "site"
"""The folder whose sitecustomize Python executes at its start."""


def environment(plan: Path) -> dict[str, str]:
    """Return this process's environment with what has the program's Pythons record; what `anywarp run` put there stays."""
    base = settings.environment()
    others = [part for part in base.get("PYTHONPATH", "").split(":") if part != str(SITE)]
    path = ":".join([str(SITE), *others]) if base.get("PYTHONPATH") else str(SITE)
    return {**base, settings.RECORD.name: str(plan), "PYTHONPATH": path}


def run(plan: Plan, beside: Path, stdout: int | None = None) -> int:
    """Run the plan's command to its end and return its exit code; `stdout` is the file descriptor that it writes to. AnywarpError: R021, R022."""
    place = beside / "plan.json"
    plan.write(place)
    status = launch.watch(plan.command, {**environment(place), **copies.environment(plan, beside)}, stdout)
    copies.add(plan, beside)
    return status


def make_room(output: Path, force: bool) -> None:
    """Refuse a place where something stands that is not to be replaced; AnywarpError: V007."""
    if not output.absolute().parent.is_dir():
        help = "make the folder first, or choose another place with -o"
        raise AnywarpError(Diagnostic("V007", f"there is no folder {shown(output.absolute().parent)}", help=help))
    if not os.path.lexists(output):
        return
    if not force:
        help = "choose another place with -o, or replace it with --force"
        raise AnywarpError(Diagnostic("V007", f"{shown(output)} is there already", help=help))
    if output.is_symlink() or not (_is_bundle(output) if output.is_dir() else output.suffix == ".tar"):
        text = f"{shown(output)} is no recording, and is not replaced"
        raise AnywarpError(Diagnostic("V007", text, help="choose another place with -o"))


def _is_bundle(folder: Path) -> bool:
    return (folder / "bundle.json").is_file() and not (folder / "bundle.json").is_symlink()


def replace(folder: Path, output: Path) -> None:
    """Put a finished bundle in its place; an earlier one goes only when the new one is whole."""
    if output.is_dir():
        old = folder.parent / "earlier"
        os.replace(output, old)
        shutil.rmtree(old)
    os.replace(folder, output)


def finished(folder: Path) -> str | None:
    """Complete the bundle that the processes of a program have left; return in words what it holds, None when it holds nothing."""
    (folder / "claimed").unlink(missing_ok=True)
    parts = sorted((each.name for each in folder.iterdir() if (each / "bundle.json").is_file()), key=_in_order)
    top = folder / "bundle.json"
    if not top.is_file() and not parts:
        return None
    content: dict[str, Any] = (
        json.loads(top.read_text(encoding="utf-8")) if top.is_file() else {"format": FORMAT, "version": VERSION}
    )
    if parts:
        content["parts"] = parts
        if not top.is_file():
            content["complete"] = all(
                json.loads((folder / part / "bundle.json").read_text(encoding="utf-8")).get("complete") is True
                for part in parts
            )
        top.write_bytes(dump(content) + b"\n")
        top.chmod(0o600)
    own = _read(folder)
    return _in_words(folder, [*([own] if own.get("entries") else []), *(_read(folder / part) for part in parts)])


def _read(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "bundle.json").read_text(encoding="utf-8"))
    if found.get("complete") is not True and (folder / "entries.jsonl").is_file():  # killed since it last counted
        found["entries"] = (folder / "entries.jsonl").read_bytes().count(b"\n")
    return found


def _in_order(name: str) -> tuple[str, int]:
    kind, _, number = name.rpartition("-")
    return kind, int(number) if number.isdecimal() else 0


def _in_words(folder: Path, manifests: list[dict[str, Any]]) -> str:
    entries = sum(each.get("entries", 0) for each in manifests)
    used = sum(each.get("budget", {}).get("used", 0) for each in manifests)
    text = f"{entries:,} values, {used / 1e6:,.1f} MB"
    if len(manifests) > 1:
        text += f", of {len(manifests)} processes"
    dropped = [each["budget"]["dropped"] for each in manifests if each.get("budget", {}).get("dropped")]
    if dropped:
        names = [name for each in dropped for name in each["names"]]
        some = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
        count = sum(each["values"] for each in dropped)
        text += f" ({count:,} more did not fit into the budget and are kept as statistics: {some}; --budget)"
    notes = [note for each in manifests for note in each.get("notes", [])]
    return text + "".join(f"\nanywarp: {note}" for note in dict.fromkeys(notes))
