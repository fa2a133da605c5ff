"""Has the files of an assessment looked into by a crew: what is kept of a file is fetched, the rest is read by the scanners."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anywarp.diagnostics import AnywarpError
from anywarp.migrate import codes, crew
from anywarp.migrate.facts import Facts, encode
from anywarp.migrate.look import Look, Row, look_into
from anywarp.migrate.scan import doors
from anywarp.migrate.tree import File

BEGIN = "anywarp.migrate.reading:begin"
"""What the processes do (`crew.Work`)."""
_CODES = {"died": codes.WORKER_DIED, "late": codes.TOOK_TOO_LONG}
"""By how an answer was lost; all else is a file that was not understood."""


@dataclass(frozen=True, slots=True)
class Order:
    """How files are to be looked into: by whom, with what cache, in how many processes, with how much patience in seconds.

    `jobs` 0: in this very process, for a caller that may die over a file itself.
    """

    scanners: Sequence[str]
    containers: Sequence[str]
    facts: Facts | None = None
    jobs: int = 1
    patience: float = crew.PATIENCE


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for a file: the key of its facts, the facts and whether they were kept already, or a problem."""

    file: File
    key: str = ""
    facts: bytes = b""
    kept: bool = False
    problem: Row | None = None


def look_into_all(
    files: Sequence[File], order: Order, step: Callable[[int], None] = lambda n: None
) -> Iterator[Answer]:
    """Yield an answer per file, in the order in which they come; `step` is told how many there are so far, at least twice a second."""
    facts = order.facts
    asked = {
        "scanners": list(order.scanners),
        "containers": list(order.containers),
        "root": str(facts.root) if facts is not None else "",
        "version": facts.version if facts is not None else "",
    }
    largest_first = sorted(files, key=lambda file: -file.size)
    answers = (
        crew.each_of(largest_first, crew.Work(BEGIN, asked, order.jobs, order.patience), step)
        if order.jobs
        else _here(largest_first, asked, step)
    )
    for answer in answers:
        if answer.loss is not None:
            code = _CODES.get(answer.loss.how, codes.NOT_UNDERSTOOD)
            yield Answer(answer.file, problem=["", code, answer.loss.why, "error", codes.help_of(code)])
            continue
        head: dict[str, Any] = answer.head
        if facts is not None and head.get("damaged"):
            facts.damaged = True
        yield Answer(answer.file, head.get("key", ""), answer.payload, head.get("kept", False), head.get("problem"))


def _here(files: Sequence[File], asked: dict[str, Any], step: Callable[[int], None]) -> Iterator[crew.Answer]:
    """Look into files in this process; an error that is raised costs its file, what kills or hangs a reader costs this process."""
    done = 0
    work = begin(asked, lambda: step(done))
    for number, file in enumerate(files):
        try:
            head, payload = work(file)
            answer = crew.Answer(number, file, head, payload)
        except Exception as error:
            why = f"{type(error).__name__}: {str(error)[:200]}"
            answer = crew.Answer(number, file, loss=crew.Loss("raised", why))
        done += 1
        step(done)
        yield answer


def begin(order: dict[str, Any], alive: Callable[[], None]) -> Callable[[File], tuple[dict[str, Any], bytes]]:
    """Return what looks into a file for the crew (`crew.Work`)."""
    facts = Facts(Path(order["root"]), order["version"]) if order["root"] else None
    if facts is not None:
        facts.load()
    look = Look(doors(order["scanners"], order["containers"]), alive)
    return lambda file: _one(file, look, facts)


def _one(file: File, look: Look, facts: Facts | None) -> tuple[dict[str, Any], bytes]:
    kept: list[bytes] = []

    def known(key: str) -> bool:
        data = facts.get(key) if facts is not None else None
        kept.extend([data] if data is not None else [])
        return data is not None

    try:
        key, seen = look_into(file, look, known)
    except AnywarpError as error:
        d = error.diagnostic
        return {"problem": ["", d.code, d.message, d.severity, d.help]}, b""
    head = {"key": key, "kept": seen is None, "damaged": facts is not None and facts.damaged}
    return head, kept[0] if seen is None else encode(seen)
