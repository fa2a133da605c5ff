"""An assessment as JSON: everything, in a form that stays (docs/cli/assess.md and `assess.schema.json` describe it)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anywarp import __version__
from anywarp.migrate.assess import Assessment
from anywarp.migrate.effort import HOW, places
from anywarp.migrate.findings import ANSWERS, Finding
from anywarp.migrate.kinds import kind_of
from anywarp.migrate.shown import visible
from anywarp.migrate.summary import Summary, as_json, fingerprints

VERSION = 1
"""Raised when something that was there changes its meaning; additions do not change it."""


def report(assessment: Assessment, summary: Summary, new: Sequence[bool] | None = None) -> dict[str, Any]:
    """Return the report as a mapping ready for `json.dumps`; `new` tells which findings a baseline lacks."""
    target, left = assessment.plan.target, assessment.left_out
    names = fingerprints(assessment.findings)
    rows = [finding_row(f, name) for f, name in zip(assessment.findings, names, strict=True)]
    if new is not None:
        for row, is_new in zip(rows, new, strict=True):
            row["new"] = is_new
    return {
        "format": "anywarp-assess",
        "version": VERSION,
        "tool": f"anywarp {__version__}",
        "target": {"device": target.device, "architecture": target.architecture, "rocm": target.rocm},
        "paths": [visible(path) for path in assessment.plan.paths],
        "files": assessment.files,
        "bytes": assessment.bytes,
        "seconds": round(assessment.seconds, 3),
        "files_remembered": assessment.remembered,
        "answers": dict(ANSWERS),
        "effort": HOW,
        "summary": as_json(summary),
        "deployments": [
            {
                "id": r.deployment.id,
                "path": r.deployment.path,
                "line": r.deployment.line,
                "images": list(r.deployment.images),
                "worst": r.worst,
                "findings": r.findings,
                "person_days": [round(r.days.low, 2), round(r.days.high, 2)],
            }
            for r in summary.deployments
        ],
        "findings": rows,
        "problems": [problem.as_json() for problem in assessment.problems],
        "left_out": {
            "links": left.links,
            "not_files": left.special,
            "folders_skipped": left.skipped,
            "excluded": left.excluded,
        },
        "not_judged": dict(assessment.unjudged),
        "not_looked_at": [
            {"path": path, "line": use.line, "lines": int(use.detail("count", "1")), "text": use.text}
            for path, use in assessment.unread
        ],
    }


def finding_row(finding: Finding, fingerprint: str) -> dict[str, Any]:
    """Return one finding as a flat mapping."""
    use, verdict = finding.use, finding.verdict
    return {
        "fingerprint": fingerprint,
        "path": finding.path,
        "line": use.line,
        "column": use.column,
        "kind": kind_of(use.subject),
        "subject": use.subject,
        "name": use.name,
        "text": use.text,
        "places": places(finding),
        "details": [list(detail) for detail in use.details],
        "answer": verdict.answer,
        "reason": verdict.reason,
        "replacement": verdict.replacement,
        "effort": verdict.effort,
        "help": verdict.help,
        "reaches": list(finding.reaches),
    }
