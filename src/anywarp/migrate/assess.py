"""Assesses trees: every fact that the scanners see, judged for a target, with the deployments that it reaches.

The order is fixed: walk, look (in parallel, from the cache where the content is known), connect, judge. Only the last depends on the target.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from anywarp.diagnostics import Diagnostic, Severity, Source
from anywarp.migrate import codes
from anywarp.migrate.crew import PATIENCE
from anywarp.migrate.facts import Facts, decode, open_facts
from anywarp.migrate.findings import Finding, Use
from anywarp.migrate.layers import visible_uses
from anywarp.migrate.look import Row, Seen, use_of
from anywarp.migrate.own_modules import without_own
from anywarp.migrate.reach import Deployment, Map, connect
from anywarp.migrate.reading import Answer, Order, look_into_all
from anywarp.migrate.scan import CONTAINERS, SCANNERS
from anywarp.migrate.scan.sweep import UNREAD
from anywarp.migrate.shown import visible
from anywarp.migrate.target import Target
from anywarp.migrate.tree import File, Walked, walk
from anywarp.migrate.verdicts import JUDGES, is_fact, judge_of, judges

MOST_USES = 3_000_000
"""Most uses that are held of all files together: some gigabytes."""

_KEEP_EVERY = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What to assess and how: paths, target, patterns to leave out, processes (0: this one), whether to keep facts, and (in tests) who looks and judges."""

    paths: Sequence[str]
    target: Target
    exclude: Sequence[str] = ()
    jobs: int = 1
    keep: bool = True
    scanners: Sequence[str] = SCANNERS
    containers: Sequence[str] = CONTAINERS
    judges: Sequence[str] = JUDGES
    patience: float = PATIENCE


@dataclass(slots=True)
class Assessment:
    """The outcome: findings in the order of paths and lines, deployments, what could not be read, and what was left out."""

    plan: Plan
    findings: list[Finding] = field(default_factory=list[Finding])
    deployments: list[Deployment] = field(default_factory=list[Deployment])
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    unjudged: Counter[str] = field(default_factory=Counter[str])
    unread: list[tuple[str, Use]] = field(default_factory=list[tuple[str, Use]])
    """Files that mention CUDA or NVIDIA in ways that no scanner reads, with the first place and the number of lines (`count`)."""
    facts: list[tuple[str, Use]] = field(default_factory=list[tuple[str, Use]])
    """What connects findings and is none: what is deployed, built, and based on what."""
    places: dict[str, str] = field(default_factory=dict[str, str])
    """Where the files lie that paths of findings show."""
    left_out: Walked = field(default_factory=Walked)
    files: int = 0
    bytes: int = 0
    remembered: int = 0
    seconds: float = 0.0

    @property
    def blind(self) -> int:
        """How many files could not be looked into, or not all of them."""
        return len({p.source.name for p in self.problems if p.severity == "error" and p.source is not None})


Step = Callable[[int, int], None]


def assess(plan: Plan, step: Step = lambda done, total: None) -> Assessment:
    """Assess all paths of a plan; `step` is told of files done and in all. AnywarpError M011 for a path that is not there."""
    started = time.monotonic()
    result = Assessment(plan)
    files = _files(plan, result)
    result.files, result.bytes = len(files), sum(file.size for file in files)
    result.places = {visible(file.shown): file.place for file in files}
    facts = open_facts((*plan.scanners, *plan.containers)) if plan.keep else None
    uses = visible_uses(_look(files, plan, facts, result, step))
    if facts is not None:
        result.problems += facts.warnings
    where = connect(uses)
    result.deployments = where.deployments
    result.findings = _judge(without_own(uses, {file.shown for file in files}), plan, where, result)
    result.problems += result.left_out.problems
    result.problems.sort(key=lambda d: d.source.name if d.source else "")
    result.seconds = time.monotonic() - started
    return result


def _files(plan: Plan, result: Assessment) -> list[File]:
    """Walk all paths; files are shown as grep shows them: behind the path that was given. One that two paths hold counts once."""
    files: dict[str, File] = {}
    for path in plan.paths:
        given = os.path.normpath(path)
        for file in walk(given, plan.exclude, result.left_out):
            shown = given if file.named else file.shown if given == "." else f"{given}/{file.shown}"
            place = os.path.abspath(file.place)
            files.setdefault(place, File(place, shown, file.size, file.named, file.installed))
    return list(files.values())


@dataclass(slots=True)
class _Collected:
    """What came back from the files: facts that are new, the keys of those that were kept, and what each file says."""

    new: dict[str, bytes] = field(default_factory=dict[str, bytes])
    used: list[str] = field(default_factory=list[str])
    found: list[tuple[str, Seen]] = field(default_factory=list[tuple[str, Seen]])
    held: int = 0
    kept: float = field(default_factory=time.monotonic)


def _look(files: list[File], plan: Plan, facts: Facts | None, result: Assessment, step: Step) -> list[tuple[str, Use]]:
    """Return every use with the path that it is shown under, in order; what is new is kept, also of a run that is broken off."""
    order = Order(plan.scanners, plan.containers, facts, plan.jobs, plan.patience)
    all_of_it = _Collected()
    step(0, len(files))
    try:
        for answer in look_into_all(files, order, lambda done: step(done, len(files))):
            _collect(answer, all_of_it, facts is not None, result)
            if facts is not None and time.monotonic() - all_of_it.kept > _KEEP_EVERY:
                facts.keep(all_of_it.new)
                all_of_it.new, all_of_it.kept = {}, time.monotonic()
    finally:
        if facts is not None:
            facts.keep(all_of_it.new, all_of_it.used)
            facts.close()
    all_of_it.found.sort(key=lambda entry: entry[0])
    return list(_uses(all_of_it.found, result))


def _collect(answer: Answer, all_of_it: _Collected, keep: bool, result: Assessment) -> None:
    """Take what came back for one file, within the bound on what is held of all."""
    if answer.kept:
        result.remembered += 1
        all_of_it.used.append(answer.key)
    elif answer.key and keep:
        all_of_it.new[answer.key] = answer.facts
    if answer.problem is not None:
        result.problems.append(_problem(visible(answer.file.shown), answer.problem))
    elif answer.facts:
        seen = decode(answer.facts)
        all_of_it.held += len(seen.uses)
        if all_of_it.held > MOST_USES:
            text = f"there are more than {MOST_USES:,} places in all; those of this file are not listed"
            seen.problems.append(["", codes.TOO_MANY_PLACES, text, "error", ""])
            all_of_it.held -= len(seen.uses)
            seen.uses.clear()
        all_of_it.found.append((answer.file.shown, seen))


def _uses(found: list[tuple[str, Seen]], result: Assessment) -> Iterable[tuple[str, Use]]:
    for shown, seen in found:
        path = visible(shown)
        for row in seen.problems:
            result.problems.append(_problem(_inside(path, row), row))
        for row in seen.uses:
            yield _inside(path, row), _clean(use_of(row))


def _inside(path: str, row: Row) -> str:
    return f"{path}!/{visible(row[0])}" if row[0] else path


def _clean(use: Use) -> Use:
    """Return a use whose texts may be shown anywhere."""
    details = tuple((visible(key), visible(value)) for key, value in use.details)
    text = visible(use.text.replace("\t", " "))
    return Use(use.subject, visible(use.name), use.line, use.column, text, details)


def _problem(path: str, row: Row) -> Diagnostic:
    _, code, message, severity, help = row
    message = visible(message)
    text = message if message.startswith(path) else f"{path}: {message}"
    level: Severity = "warning" if severity == "warning" else "error"
    return Diagnostic(code, text, level, Source(path, ""), help=visible(help) or codes.help_of(code))


def _judge(uses: list[tuple[str, Use]], plan: Plan, where: Map, result: Assessment) -> list[Finding]:
    """Return the findings: uses that a judge has a word for. Subjects without a judge are counted, not dropped in silence."""
    known = judges(plan.judges)
    findings: list[Finding] = []
    for path, use in uses:
        if is_fact(use.subject):
            result.facts.append((path, use))
            continue
        if use.subject == UNREAD:
            result.unread.append((path, use))
            continue
        judge = judge_of(use.subject, known)
        if judge is None:
            result.unjudged[use.subject] += 1
            continue
        verdict = judge(use, plan.target)
        if verdict is not None:
            findings.append(Finding(path, use, verdict, where.reaches(path, use)))
    return findings
