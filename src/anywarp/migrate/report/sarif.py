"""An assessment as SARIF 2.1.0 (OASIS standard), which code hosts show beside the lines of a change.

What runs as it is is no result there: a reviewer is told what asks for something.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from anywarp import __version__
from anywarp.diagnostics import Diagnostic
from anywarp.migrate.assess import Assessment
from anywarp.migrate.effort import places
from anywarp.migrate.findings import ANSWERS, Answer, Finding
from anywarp.migrate.kinds import KINDS, kind_of
from anywarp.migrate.summary import RANK, fingerprints, target_arguments

MOST_RESULTS = 25_000
"""GitHub refuses a run with more results; of more, the worst are kept, and a notification says so."""

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: dict[Answer, str] = {
    "converted": "note",
    "re-index": "note",
    "rebuild": "warning",
    "replace": "warning",
    "no-path": "error",
}
"""The level of each answer; `as-is` has no result."""

_MEANING: dict[Answer, str] = {
    "converted": "`anywarp translate` or `anywarp convert` changes it without a person; look at the result.",
    "re-index": "The same package is published for the target elsewhere: install it from there.",
    "rebuild": "The source stays; it has to be built again for the target.",
    "replace": "Something else does this on the target; a person has to put it in its place.",
    "no-path": "Nothing answers this on the target yet: do without it, keep this part where it is, or ask for it.",
}


def report(assessment: Assessment, new: Sequence[bool] | None = None) -> dict[str, Any]:
    """Return the log as a mapping ready for `json.dumps`, the worst results first; `new` becomes `baselineState`."""
    names = fingerprints(assessment.findings)
    entries = [
        (finding, name, None if new is None else new[number])
        for number, (finding, name) in enumerate(zip(assessment.findings, names, strict=True))
        if finding.verdict.answer in LEVELS
    ]
    entries.sort(key=lambda entry: -RANK[entry[0].verdict.answer])
    notes = [_notification(problem) for problem in assessment.problems]
    if len(entries) > MOST_RESULTS:
        text = f"{len(entries) - MOST_RESULTS:,} further results are left out; --format json has all"
        notes.append({"level": "warning", "message": {"text": text}, "descriptor": {"id": "too-many-results"}})
        del entries[MOST_RESULTS:]
    rules = list(dict.fromkeys(_rule_id(finding) for finding, _, _ in entries))
    index = {rule: number for number, rule in enumerate(rules)}
    driver = {
        "name": "anywarp assess",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in rules],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": notes,
            }
        ],
        "properties": {"target": target_arguments(assessment.plan.target)},
        "results": [_result(finding, name, state, index) for finding, name, state in entries],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule_id(finding: Finding) -> str:
    return f"{finding.use.subject}/{finding.verdict.answer}"


def _rule(rule: str) -> dict[str, Any]:
    subject, _, text = rule.rpartition("/")
    answer: Answer = next(a for a in ANSWERS if a == text)
    what = f"{KINDS[kind_of(subject)]} ({subject}): {ANSWERS[answer]}"
    return {
        "id": rule,
        "name": "".join(part.title() for part in rule.replace("/", ".").replace("-", ".").replace("_", ".").split(".")),
        "shortDescription": {"text": what},
        "fullDescription": {"text": f"{what}. {_MEANING[answer]}"},
        "help": {"text": _MEANING[answer], "markdown": _MEANING[answer]},
        "defaultConfiguration": {"level": LEVELS[answer]},
        "properties": {"tags": ["migration", kind_of(subject), answer]},
    }


def _result(finding: Finding, name: str, new: bool | None, index: dict[str, int]) -> dict[str, Any]:
    use, verdict, rule = finding.use, finding.verdict, _rule_id(finding)
    words = [f"{use.name}: {ANSWERS[verdict.answer]}"]
    if verdict.replacement:
        words[0] += f" ({verdict.replacement})"
    words.append(f"{verdict.reason}.")
    if verdict.help:
        words.append(f"What to do: {verdict.help}.")
    if finding.reaches:
        words.append(f"Reaches {', '.join(finding.reaches[:5])}.")
    result: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": index[rule],
        "level": LEVELS[verdict.answer],
        "message": {"text": " ".join(words)},
        "locations": [_location(finding)],
        "partialFingerprints": {"anywarpAssess/v1": name},
        "properties": {"effort": verdict.effort, "reaches": list(finding.reaches)},
    }
    if places(finding) > 1:
        result["occurrenceCount"] = places(finding)
    if new is not None:
        result["baselineState"] = "new" if new else "unchanged"
    return result


def _location(finding: Finding) -> dict[str, Any]:
    path, inside, member = finding.path.partition("!/")
    place: dict[str, Any] = {"artifactLocation": _artifact(path)}
    if finding.use.line > 0 and not inside:
        region: dict[str, Any] = {"startLine": finding.use.line}
        if finding.use.column > 0:
            region["startColumn"] = finding.use.column
        if finding.use.text:
            region["snippet"] = {"text": finding.use.text}
        place["region"] = region
    location: dict[str, Any] = {"physicalLocation": place}
    if inside:
        location["logicalLocations"] = [{"fullyQualifiedName": member, "kind": "member"}]
    return location


def _artifact(path: str) -> dict[str, str]:
    """Return where a file is: relative paths stay relative to where the command ran, absolute ones become addresses."""
    if path.startswith("/"):
        return {"uri": f"file://{quote(path)}"}
    return {"uri": quote(path)}


def _notification(problem: Diagnostic) -> dict[str, Any]:
    note: dict[str, Any] = {
        "level": problem.severity,
        "message": {"text": problem.message},
        "descriptor": {"id": problem.code},
    }
    if problem.source is not None and problem.source.name:
        place = {"physicalLocation": {"artifactLocation": _artifact(problem.source.name.partition("!/")[0])}}
        note["locations"] = [place]
    return note
