"""What an assessment comes to: shares by answer, kind and deployment, the work, what stands in the way, and what to do next.

Every output shows these numbers, so they are computed once.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import shlex
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anywarp.migrate import codes
from anywarp.migrate.assess import Assessment
from anywarp.migrate.effort import DAYS, Days, Thing, days_of, places, sum_of, thing_of
from anywarp.migrate.findings import ANSWERS, Answer, Finding
from anywarp.migrate.kinds import KINDS, kind_of
from anywarp.migrate.look import is_installed
from anywarp.migrate.reach import Deployment
from anywarp.migrate.shown import visible
from anywarp.migrate.standing import standing
from anywarp.migrate.target import Target
from anywarp.migrate.tree import read

RANK: dict[Answer, int] = {answer: rank for rank, answer in enumerate(ANSWERS)}
"""Answers from the best to the worst."""

_EFFORTS = list(DAYS)
_BASELINE_LIMIT = 1 << 30


@dataclass(frozen=True, slots=True)
class Share:
    """The findings with one answer: how many, in how many places and files, and the work."""

    answer: Answer
    findings: int
    places: int
    files: int
    days: Days
    decisions: int = 0
    """How many things there are to do or to decide: findings with the same reason and advice are one."""


@dataclass(frozen=True, slots=True)
class Blocker:
    """Findings that are one thing to do: the first of them, their names, how many, where, and what they reach."""

    first: Finding
    names: tuple[str, ...]
    findings: int
    files: int
    places: int
    reaches: tuple[str, ...]
    days: Days


@dataclass(frozen=True, slots=True)
class Reached:
    """A deployment with its worst answer, its findings and the work."""

    deployment: Deployment
    worst: Answer
    findings: int
    days: Days


@dataclass(frozen=True, slots=True)
class Aside:
    """What does not stand in production: what it is, its findings, and the work for them."""

    what: str
    findings: int
    days: Days


@dataclass(frozen=True, slots=True)
class Summary:
    """All of it; `next` holds commands to type."""

    shares: tuple[Share, ...]
    kinds: Mapping[str, Mapping[Answer, int]]
    deployments: tuple[Reached, ...]
    blockers: tuple[Blocker, ...]
    days: Days
    next: tuple[str, ...]
    aside: tuple[Aside, ...] = ()
    order: tuple[str, ...] = ()
    """Deployments in the order in which to move them: what has least in its way first."""


def summarize(assessment: Assessment) -> Summary:
    """Compute the summary of an assessment."""
    findings = assessment.findings
    days = days_of(findings)
    shares = tuple(_share(answer, findings, days.get(answer, Days())) for answer in ANSWERS)
    kinds: dict[str, dict[Answer, int]] = {kind: {} for kind in KINDS}
    for finding in findings:
        row = kinds[kind_of(finding.use.subject)]
        row[finding.verdict.answer] = row.get(finding.verdict.answer, 0) + 1
    deployments = _deployments(assessment)
    return Summary(
        shares,
        {kind: row for kind, row in kinds.items() if row},
        deployments,
        blockers_of(findings),
        sum_of(days.values()),
        _next(assessment),
        _aside(findings),
        _order(deployments),
    )


def _aside(findings: Sequence[Finding]) -> tuple[Aside, ...]:
    """Return what stands in tests, samples and the like, with the work for it if it were alone."""
    groups: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if word := standing(finding.path):
            groups[word].append(finding)
    return tuple(Aside(word, len(of), sum_of(days_of(of).values())) for word, of in sorted(groups.items()))


def _order(deployments: Sequence[Reached]) -> tuple[str, ...]:
    """Return the deployments from the least that stands in the way to the most; those of tests and samples last."""

    def rank(row: Reached) -> tuple[bool, int, float, str]:
        return bool(standing(row.deployment.path)), RANK[row.worst], row.days.high, row.deployment.id

    return tuple(row.deployment.id for row in sorted(deployments, key=rank))


def fingerprints(findings: Sequence[Finding]) -> list[str]:
    """Return a name per finding that survives edits elsewhere in its file: by path, subject and name, and which of several it is."""
    seen: Counter[tuple[str, str, str]] = Counter()
    names: list[str] = []
    for finding in findings:
        key = (finding.path, finding.use.subject, finding.use.name)
        seen[key] += 1
        names.append(hashlib.sha256("\0".join((*key, str(seen[key]))).encode()).hexdigest()[:32])
    return names


def read_baseline(path: Path) -> dict[str, Answer]:
    """Return the fingerprints and answers of an earlier JSON report; AnywarpError (M012) when it is none."""
    shown = visible(str(path))
    try:
        report = json.loads(read(path, limit=_BASELINE_LIMIT))
        if report["format"] != "anywarp-assess":
            raise ValueError("it is not a report of `anywarp assess`")
        found = {str(f["fingerprint"]): str(f["answer"]) for f in report["findings"]}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = "it lacks parts of a report" if isinstance(error, (KeyError, TypeError)) else str(error)[:200]
        raise codes.problem(codes.BAD_BASELINE, f"the baseline {shown} cannot be used: {reason}") from None
    return {name: answer for name, answer in found.items() if answer in RANK}


def new_findings(findings: Sequence[Finding], baseline: Mapping[str, Answer]) -> list[bool]:
    """Tell of each finding whether it is new: not in the baseline, or worse than it was there."""
    return [
        name not in baseline or RANK[finding.verdict.answer] > RANK[baseline[name]]
        for name, finding in zip(fingerprints(findings), findings, strict=True)
    ]


def target_arguments(target: Target) -> str:
    """Return the options that name a target."""
    if target.device != "hip":
        return f"--target {target.device}"
    return f"--target hip{':' + target.architecture if target.architecture else ''} --rocm {target.rocm}"


def _share(answer: Answer, findings: Sequence[Finding], days: Days) -> Share:
    these = [f for f in findings if f.verdict.answer == answer]
    decisions = len({thing_of(f) for f in these})
    return Share(answer, len(these), sum(map(places, these)), len({f.path for f in these}), days, decisions)


def _deployments(assessment: Assessment) -> tuple[Reached, ...]:
    by_id: dict[str, list[Finding]] = defaultdict(list)
    for finding in assessment.findings:
        for name in finding.reaches:
            by_id[name].append(finding)
    rows: list[Reached] = []
    for deployment in assessment.deployments:
        these = by_id.get(deployment.id, [])
        answers: list[Answer] = ["as-is", *(f.verdict.answer for f in these)]
        worst = max(answers, key=RANK.__getitem__)
        rows.append(Reached(deployment, worst, len(these), sum_of(days_of(these).values())))
    return tuple(sorted(rows, key=lambda r: (-RANK[r.worst], -r.days.high, r.deployment.id)))


def blockers_of(findings: Sequence[Finding]) -> tuple[Blocker, ...]:
    """Return what a person must do something about, the worst first: no path, replace, rebuild; then by work, reach and frequency."""
    groups: dict[Thing, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.verdict.answer in ("no-path", "replace", "rebuild", "re-index"):
            groups[thing_of(finding)].append(finding)
    found = [_blocker(group) for group in groups.values()]
    return tuple(
        sorted(
            found,
            key=lambda b: (
                bool(standing(b.first.path)),
                -RANK[b.first.verdict.answer],
                -_EFFORTS.index(b.first.verdict.effort),
                -len(b.reaches),
                -b.files,
                -b.places,
                b.first.path,
            ),
        )
    )


def _blocker(group: list[Finding]) -> Blocker:
    reaches = tuple(sorted({name for f in group for name in f.reaches}))
    days = sum_of(days_of(group).values())
    names = tuple(dict.fromkeys(f.use.name for f in group))
    return Blocker(group[0], names, len(group), len({f.path for f in group}), sum(map(places, group)), reaches, days)


def _next(assessment: Assessment) -> tuple[str, ...]:
    """Return the commands that take the next steps, as they can be typed: about what they can change, which archives are not."""
    target = assessment.plan.target
    options = target_arguments(target)
    sources, others = list[str](), list[str]()
    made = tuple(f"{visible(posixpath.normpath(place))}/" for place in assessment.left_out.environments)
    for f in assessment.findings:
        if "!/" in f.path or is_installed(f.path) or kind_of(f.use.subject) == "binary" or f.path.startswith(made):
            continue
        if f.verdict.answer == "converted" and kind_of(f.use.subject) in ("cuda", "ptx"):
            sources.append(f.path)
        elif f.verdict.answer in ("converted", "re-index") and kind_of(f.use.subject) != "cuda":
            others.append(f.path)
    commands: list[str] = []
    if target.device == "hip":
        commands += [f"anywarp translate {p} -o translated {options}" for p in _named(assessment, sources)]
        commands += [f"anywarp convert {p} --diff {options}" for p in _named(assessment, others)]
    if assessment.findings and not commands:
        commands.append(f"anywarp run --device {target.device} -- YOUR COMMAND")
    return tuple(commands)


def _named(assessment: Assessment, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of the command line that hold any of these, quoted, as one argument list; nothing when none does."""
    given = {path: visible(posixpath.normpath(path)) for path in assessment.plan.paths}
    holding = [
        path
        for path, start in given.items()
        if start == "." or any(one == start or one.startswith(f"{start}/") for one in paths)
    ]
    return (" ".join(shlex.quote(visible(path)) for path in holding),) if holding and paths else ()


def as_json(summary: Summary) -> dict[str, Any]:
    """Return the summary as it stands in reports."""
    return {
        "answers": {
            s.answer: {
                "findings": s.findings,
                "decisions": s.decisions,
                "places": s.places,
                "files": s.files,
                "person_days": _range(s.days),
            }
            for s in summary.shares
        },
        "kinds": {kind: dict(row) for kind, row in summary.kinds.items()},
        "person_days": _range(summary.days),
        "blockers": [
            {
                "answer": b.first.verdict.answer,
                "subject": b.first.use.subject,
                "names": list(b.names[:50]),
                "path": b.first.path,
                "line": b.first.use.line,
                "findings": b.findings,
                "files": b.files,
                "reaches": list(b.reaches),
                "person_days": _range(b.days),
            }
            for b in summary.blockers[:50]
        ],
        "aside": {a.what: {"findings": a.findings, "person_days": _range(a.days)} for a in summary.aside},
        "order": list(summary.order),
        "next": list(summary.next),
    }


def _range(days: Days) -> list[float]:
    return [round(days.low, 2), round(days.high, 2)]
