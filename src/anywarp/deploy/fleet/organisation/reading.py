"""One member assessed, in a process that may die over it: what the others and the report need to know of it, and no more."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from anywarp.deploy.fleet.organisation import names
from anywarp.deploy.foretell import settled
from anywarp.migrate.assess import Assessment, Plan, assess
from anywarp.migrate.effort import Days, days_of, sum_of, thing_of
from anywarp.migrate.shown import shorten
from anywarp.migrate.standing import standing
from anywarp.migrate.summary import Blocker, Reached, Summary, blockers_of, summarize
from anywarp.migrate.target import parse_target
from anywarp.migrate.tree import File

BEGIN = "anywarp.deploy.fleet.organisation.reading:begin"
"""What the processes do (`crew.Work`)."""

MOST_BLOCKERS, MOST_WORKLOADS = 40, 2000
_LAST_NUMBER = re.compile(r"(\d{1,4})\D*$")


def begin(order: dict[str, Any], alive: Callable[[], None]) -> Callable[[File], tuple[dict[str, Any], bytes]]:
    """Return what assesses a member for the crew: its name is what the file is shown as, its kind is in the order."""
    target = parse_target(order["target"], order["rocm"])

    def one(file: File) -> tuple[dict[str, Any], bytes]:
        plan = Plan((file.place,), target, tuple(order["exclude"]), order["readers"], order["keep"])
        result = assess(plan, lambda done, total: alive())
        alive()
        result.findings = settled(result.findings, target, result.places.get)
        alive()
        return {}, json.dumps(told(result, summarize(result), file, order["kinds"][file.shown])).encode()

    return one


def told(result: Assessment, summary: Summary, file: File, kind: str) -> dict[str, Any]:
    """Return what is kept of an assessment."""
    parts = [names.of_facts(result.facts, result.deployments, file.shown, kind)]
    parts += [names.of_tree(Path(file.place), file.shown)] if kind == "repository" else []
    offered, wanted = names.chained(parts)
    rest = [finding for finding in result.findings if not finding.reaches]
    owned = {use.name for _, use in result.facts if use.subject == "deploy.workload" and use.detail("owned")}
    return {
        "kind": kind,
        "files": result.files,
        "unread": result.blind,
        "problems": [shorten(problem.message, 300) for problem in result.problems[:5]],
        "findings": len(result.findings),
        "answers": {share.answer: share.findings for share in summary.shares if share.findings},
        "days": _range(summary.days),
        "rest": {
            "findings": len(rest),
            "days": _range(sum_of(days_of(rest).values())),
            "blockers": _blockers(blockers_of(rest)),
        },
        "blockers": _blockers(summary.blockers),
        "offers": names.several(offered),
        "wants": names.several(wanted),
        "workloads": [
            _workload(row, result, summary.blockers)
            for row in summary.deployments[:MOST_WORKLOADS]
            if row.deployment.id.partition(":")[2] not in owned
        ],
    }


def _workload(row: Reached, result: Assessment, blockers: Sequence[Blocker]) -> dict[str, Any]:
    one = row.deployment
    return {
        "id": one.id,
        "path": shorten(one.path, 300),
        "line": one.line,
        "gpus": _gpus(one.id, one.path, result),
        "wants": names.several({name for each in one.images for name in names.image(each)}),
        "worst": row.worst,
        "findings": row.findings,
        "days": _range(row.days),
        "blockers": _blockers([each for each in blockers if one.id in each.reaches]),
    }


def _gpus(identity: str, path: str, result: Assessment) -> int:
    """Return how many GPUs a workload is given: what its containers ask for in all copies, or the most that a batch script's options name."""
    kind, _, name = identity.partition(":")
    if kind == "slurm":
        asked = [
            f.use.detail("value") for f in result.findings if f.path == path and f.use.subject.startswith("slurm.g")
        ]
        return max((int(found[1]) for text in asked if (found := _LAST_NUMBER.search(text))), default=0)
    counts = [u.detail("gpus", "0") for _, u in result.facts if u.subject == "deploy.workload" and u.name == name]
    return max((int(text) for text in counts if text.isdecimal()), default=0)


def _blockers(found: Sequence[Blocker]) -> list[dict[str, Any]]:
    """Return what a person must do, the worst first; what stands in tests and samples is left out."""
    return [_blocker(each) for each in found if not standing(each.first.path)][:MOST_BLOCKERS]


def _blocker(each: Blocker) -> dict[str, Any]:
    first = each.first
    return {
        "id": hashlib.sha256("\0".join(thing_of(first)).encode(errors="replace")).hexdigest()[:16],
        "answer": first.verdict.answer,
        "name": shorten(", ".join(each.names[:3]), 120),
        "path": shorten(first.path, 300),
        "line": first.use.line,
        "why": shorten(first.verdict.reason, 300),
        "do": shorten(first.verdict.help, 300),
        "days": _range(each.days),
    }


def _range(days: Days) -> list[float]:
    return [round(days.low, 2), round(days.high, 2)]
