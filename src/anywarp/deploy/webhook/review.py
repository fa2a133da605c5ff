"""An AdmissionReview answered: the pod in it converted, the changes as a JSON Patch, and always `allowed`.

What is not understood is let through as it is, with a warning: admission that fails keeps a cluster from healing itself.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast

from anywarp.deploy.convert.model import Options, packed_options, unpacked_options
from anywarp.deploy.webhook import patch, pod_text, pods
from anywarp.deploy.webhook.said import Conversion, Said
from anywarp.migrate.shown import visible

Outcome = Literal[
    "converted", "annotated", "unchanged", "opted-out", "incomplete", "not-for-us", "not-understood", "no-review"
]
"""`annotated`: a dry run said what it would do; `incomplete`: left alone, since not all of it could be converted; `no-review`: no answer."""

TARGET, CHANGED, LEFT, WOULD_CHANGE = (pods.OWN + name for name in ("target", "changed", "left", "would-change"))
OPT_OUT = pods.OWN + "convert"
"""A label or annotation of a pod: with the value `false` it is left alone."""

_WARNINGS, _WARNING = 12, 250
"""Kubernetes cuts warnings beyond 256 characters each and 4,096 together (API reference, AdmissionResponse)."""
_NOTE = 4096
_LARGEST_PATCH = 1 << 20


@dataclass(frozen=True, slots=True)
class Rules:
    """How pods are converted: the choices of `convert`; only annotations (`dry_run`); nothing of a pod that cannot be converted whole (`whole`)."""

    options: Options = field(default_factory=Options)
    dry_run: bool = False
    whole: bool = False

    def packed(self) -> dict[str, Any]:
        """Return the rules as JSON can hold them."""
        return {**asdict(self), "options": packed_options(self.options)}

    @staticmethod
    def unpacked(packed: dict[str, Any]) -> Rules:
        """Return what `packed` was made of."""
        return Rules(unpacked_options(packed["options"]), packed["dry_run"], packed["whole"])


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back (no bytes: the request was no review), what became of the pod, and how much of it."""

    data: bytes
    outcome: Outcome
    changes: int = 0
    left: int = 0
    why: str = ""


def answer(data: bytes, rules: Rules) -> Answer:
    """Answer a review as the API server sends it (admission.k8s.io/v1). Never raises for what stands in it."""
    try:
        review: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        return Answer(b"", "no-review", why=f"the request is no JSON: {str(error)[:120]}")
    request = _map(_map(review).get("request"))
    uid = request.get("uid")
    if _map(review).get("kind") != "AdmissionReview" or not isinstance(uid, str) or not 0 < len(uid) <= 128:
        return Answer(b"", "no-review", why="the request is no AdmissionReview with a uid")
    if _map(review).get("apiVersion") != "admission.k8s.io/v1":
        return Answer(b"", "no-review", why="only reviews of admission.k8s.io/v1 are answered")
    try:
        return _answered(uid, request, rules)
    except pods.NotUnderstood as error:
        return let_through(uid, str(error))
    except (RecursionError, MemoryError, UnicodeError) as error:
        return let_through(uid, f"{type(error).__name__} while it was read")


def let_through(uid: str, why: str) -> Answer:
    """Return the answer that allows a pod as it is, with the reason as a warning."""
    return Answer(_response(uid, warnings=[f"left as it is: {why}"]), "not-understood", why=why)


def _answered(uid: str, request: dict[str, Any], rules: Rules) -> Answer:
    pod = request.get("object")
    resource = _map(request.get("resource"))
    named = (resource.get("group"), resource.get("version"), resource.get("resource"))
    if named != ("", "v1", "pods") or request.get("operation") != "CREATE" or request.get("subResource"):
        return Answer(_response(uid), "not-for-us")
    if not isinstance(pod, dict) or not isinstance(cast(dict[str, Any], pod).get("spec"), dict):
        return let_through(uid, "the object is no pod")
    mine = cast(dict[str, Any], pod)
    metadata = _map(mine.get("metadata"))
    if any(_map(metadata.get(part)).get(OPT_OUT) == "false" for part in ("labels", "annotations")):
        return Answer(_response(uid), "opted-out")
    done = pods.converted(mine, rules.options)
    changes = list(patch.difference(done.old, done.new))
    warnings = [one.line() for one in done.left]
    if rules.dry_run:
        return _dry(uid, mine, done, changes, rules)
    if not changes:
        return Answer(_response(uid, warnings=warnings), "unchanged", left=len(done.left))
    if rules.whole and done.left:
        why = "left as it is: not all of it can be converted"
        return Answer(_response(uid, warnings=[why, *warnings]), "incomplete", left=len(done.left))
    notes = {TARGET: str(rules.options.target), CHANGED: _note(done.changes)}
    notes |= {LEFT: _note(done.left)} if done.left else {}
    return _patched(uid, [*changes, *_annotations(mine, notes)], "converted", done, warnings)


def _dry(uid: str, pod: dict[str, Any], done: Conversion, changes: list[patch.Operation], rules: Rules) -> Answer:
    if not changes and not done.left:
        return Answer(_response(uid), "unchanged")
    notes = {TARGET: str(rules.options.target)}
    notes |= {WOULD_CHANGE: _note(done.changes)} if changes else {}
    notes |= {LEFT: _note(done.left)} if done.left else {}
    warnings = [f"a dry run: {len(done.changes)} changes would be made", *(one.line() for one in done.left)]
    return _patched(uid, list(_annotations(pod, notes)), "annotated", done, warnings)


def _patched(
    uid: str, operations: list[patch.Operation], outcome: Outcome, done: Conversion, warnings: list[str]
) -> Answer:
    if not operations:  # annotated already
        return Answer(_response(uid, warnings=warnings), outcome, len(done.changes), len(done.left))
    text = json.dumps(operations, ensure_ascii=False).encode()
    if len(text) > _LARGEST_PATCH:
        return let_through(uid, f"the patch would have {len(text)} bytes, more than {_LARGEST_PATCH}")
    data = _response(uid, text, warnings, {"changes": str(len(done.changes)), "left": str(len(done.left))})
    return Answer(data, outcome, len(done.changes), len(done.left))


def _annotations(pod: dict[str, Any], notes: dict[str, str]) -> Iterable[patch.Operation]:
    """Return the operations that write notes into a pod's annotations."""
    metadata = pod.get("metadata")
    if not isinstance(metadata, dict):
        return [{"op": "add", "path": "/metadata", "value": {"annotations": notes}}]
    there = cast(dict[str, Any], metadata).get("annotations")
    if not isinstance(there, dict):
        return [{"op": "add", "path": "/metadata/annotations", "value": notes}]
    given = cast(dict[str, Any], there)
    return [
        {"op": "add", "path": pod_text.step("/metadata/annotations", name), "value": text}
        for name, text in notes.items()
        if given.get(name) != text
    ]


def _note(said: list[Said]) -> str:
    """Return lines for an annotation, as many as fit."""
    lines: list[str] = []
    size = 0
    for number, one in enumerate(said):
        line = visible(one.line())[:400]
        size += len(line) + 1
        if size > _NOTE:
            lines.append(f"and {len(said) - number} more")
            break
        lines.append(line)
    return "\n".join(lines)


def _response(
    uid: str, operations: bytes = b"", warnings: list[str] | None = None, audit: dict[str, str] | None = None
) -> bytes:
    response: dict[str, Any] = {"uid": uid, "allowed": True}
    if operations:
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(operations).decode()}
    if warnings:
        shown = [visible(f"anywarp: {text}")[:_WARNING] for text in warnings[:_WARNINGS]]
        more = len(warnings) - len(shown)
        response["warnings"] = [*shown, f"anywarp: and {more} more"] if more > 0 else shown
    if audit:
        response["auditAnnotations"] = audit
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}).encode()


def _map(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
