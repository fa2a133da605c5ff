"""Functions of arrays whose calls are recorded whole: compiled ones of JAX, sessions of ONNX Runtime, and buffers that a program names.

A library's door says what is called, what goes in and what comes out, by slots; what is kept and how calls are counted stands here.
"""

# pyright: basic
from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from anywarp.check.bundle.entries import Entry
from anywarp.check.record import arrays
from anywarp.check.record.session import Session

Slots = Iterable[tuple[str, Any]]


class Functions:
    """What is recorded of functions: how often each was called, and what of it is kept."""

    def __init__(self, session: Session, kind: str, *modules: str) -> None:
        """`kind`: the library, which the manifest names as the device where no model says better; `modules`: whose versions are told."""
        self.session, self.plan = session, session.plan
        self.counts = Counter[str]()
        if session.facts is dict:
            facts = {"flags": {}, "device": {"type": kind, "name": ""}}
            session.facts = lambda: {"versions": arrays.versions(*modules), **facts}

    def begin(self, name: str) -> int | None:
        """Count a call; return its number, None where it is not wanted."""
        if self.session.stopped or not self.plan.chooses(name):
            return None
        with self.session.lock:
            number = self.counts[name]
            self.counts[name] += 1
        return number if number < self.plan.calls else None

    def take(
        self, name: str, call: int, role: str, slots: Slots, *, operation: Callable[[arrays.Host], Any] | None = None, run: str = "propagated"
    ) -> None:  # fmt: skip
        """Record arrays under their slots; what is none is named and left out."""
        entries = list[Entry]()
        for slot, value in slots:
            try:
                host = arrays.to_host(value)
            except TypeError as error:
                self.session.note(f"{name}: {slot}: {error}: it is not recorded")
                continue
            made = operation(host) if operation is not None else None
            entries.append(arrays.entry(self.session, (name, call, role, slot), host, operation=made, run=run))
        self.session.add(entries)

    def guarded(self, work: Callable[[], Any]) -> Any:
        """Do the recorder's own work, one thread at a time; trouble in it ends the recording, not the program."""
        if self.session.stopped:
            return None
        try:
            with self.session.lock:
                return work()
        except Exception as error:
            self.session.fail(error)
            return None


@functools.cache
def buffers(session: Session) -> Functions:
    """Return what counts the named buffers of a process."""
    return Functions(session, "buffers")


def keep(session: Session, name: str, value: Any, terms: int | None) -> None:
    """Record a buffer under a name; the second one of a name is its second call."""
    found = buffers(session)
    call = found.begin(name)
    if call is not None:
        made = functools.partial(arrays.composed, terms=terms or arrays.TERMS)
        found.guarded(lambda: found.take(name, call, "output", [("0", value)], operation=made))
