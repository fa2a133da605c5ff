"""The recording of one process: the bundle it writes, begun with the first value and closed at the process's end."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from anywarp import settings
from anywarp.check.bundle import Writer, limits
from anywarp.check.bundle.entries import Entry
from anywarp.check.bundle.problems import not_written
from anywarp.check.record import plan as plans
from anywarp.diagnostics import Diagnostic

_NOTES = 100


class Session:
    """What this process records. Trouble with the recording is told once, and is none of the program's."""

    def __init__(self, plan: plans.Plan) -> None:
        self.plan = plan
        self.lock = threading.RLock()
        self.facts: Callable[[], Mapping[str, Any]] = dict
        """Gives what the manifest says of the process; asked when the first value is there."""
        self.rank: Callable[[], tuple[int, int] | None] = lambda: None
        """Gives the process's rank and how many there are, None where it is alone."""
        self.models: dict[str, Any] = {}
        self.notes: dict[str, None] = {}
        self.stopped = False
        self.owner = os.getpid()
        self._writer: Writer | None = None
        self._entries = 0
        self._described: tuple[int, ...] = ()
        self._failed: str | None = None
        atexit.register(self.finish)
        os.register_at_fork(after_in_child=self._leave_to_parent)

    @property
    def writer(self) -> Writer:
        """The bundle, which begins here if it has not; OSError where it cannot be written."""
        if self._writer is None:
            self._writer = Writer(self._claim(), self.plan.budget, self._manifest())
        return self._writer

    def note(self, text: str) -> None:
        """Say something about the recording, once, to whoever reads it."""
        if len(self.notes) < _NOTES:
            self.notes[text[:500]] = None

    def add(self, entries: list[Entry]) -> None:
        """Append entries; beyond what a reader takes they are counted only."""
        room = limits.ENTRIES - self._entries
        if len(entries) > room:
            self.note(f"more than {limits.ENTRIES:,} values: the later ones are left out")
        self._entries += len(entries[:room])
        if entries[:room]:
            self.writer.add_all(entries[:room])

    def describe(self) -> None:
        """Write the manifest again, where a call has brought a model, a note or bytes of values."""
        budget = self.writer.budget
        known = len(self.models), len(self.notes), budget.used, budget.dropped
        if known != self._described:
            self._described = known
            self.writer.describe(models=self.models, notes=list(self.notes))

    def fail(self, error: Exception) -> None:
        """Stop recording, say why, and let the program go on."""
        self.stopped = True
        if isinstance(error, OSError):
            found = not_written(self.plan.output, error).diagnostic
        else:
            what = f"{type(error).__name__}: {error}"
            text = f"recording stopped, the program goes on: {what[:300]}"
            found = Diagnostic("V006", text, help="leave the module out with --modules, or report it with the program")
        self._failed = found.as_text()
        sys.stderr.write(f"anywarp: {self._failed}\n")

    def finish(self) -> None:
        """Close the bundle; at the process's end, and only in the process that began it."""
        if self._writer is None or os.getpid() != self.owner:
            return
        writer, self._writer = self._writer, None
        try:
            facts = {"models": self.models, "notes": list(self.notes)}
            writer.close(self._failed is None, **facts, **({"failed": self._failed} if self._failed else {}))
        except OSError as error:
            sys.stderr.write(f"anywarp: {not_written(self.plan.output, error).diagnostic.as_text()}\n")
        self.stopped = True

    def _leave_to_parent(self) -> None:
        """In a child that was forked: the bundle is the parent's."""
        self.stopped = True

    def _manifest(self) -> dict[str, Any]:
        plan = self.plan
        about = {"command": hide_secrets(plan.command), "mode": plan.mode, "modules": list(plan.modules)}
        return {**about, "calls": plan.calls, "seed": plan.seed, "sample": plan.sample, **self.facts()}

    def _claim(self) -> Path:
        """Return the folder of this process: the bundle itself, or one in it for a rank, or for a further process."""
        root = Path(self.plan.output)
        if found := self.rank():
            folder = root / f"rank-{found[0]}"
            folder.mkdir(mode=0o700)
            return folder
        try:
            os.close(os.open(root / "claimed", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            return root
        except FileExistsError:
            pass
        for number in range(2, limits.PARTS):
            folder = root / f"process-{number}"
            try:
                folder.mkdir(mode=0o700)
                return folder
            except FileExistsError:
                continue
        raise OSError(f"more than {limits.PARTS} processes record into {root}")


_SECRETS = ("key", "token", "password", "secret", "credential")


def hide_secrets(command: tuple[str, ...]) -> list[str]:
    """Return a command for other people's eyes: what an option named like a secret is given is left out."""
    out, hide = list[str](), False
    for word in command:
        name, equals, _ = word.partition("=")
        secret = any(part in name.lower() for part in _SECRETS) and not any(c.isspace() for c in name)
        out.append("..." if hide else f"{name}=..." if equals and secret else word)
        hide = not hide and not equals and secret and word.startswith("-") and "tokenizer" not in name.lower()
    return out


_session: Session | None = None


def of_this_process() -> Session:
    """Return the session that the environment's plan asks for."""
    global _session
    if _session is None:
        path = settings.RECORD.get()
        if path is None:
            raise RuntimeError("ANYWARP_RECORD names no plan")
        _session = Session(plans.read(path))
    return _session
