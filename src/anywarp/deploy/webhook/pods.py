"""One pod converted: for AMD GPUs by the rules of `anywarp convert` over its text, for the processor over what it asks for.

What the API server and kubectl keep in a pod's metadata for themselves is not read, and neither are the webhook's own notes: so a
converted pod is left alone.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, cast

from anywarp.deploy.convert.engine import convert
from anywarp.deploy.convert.model import Change, Options, Refusal
from anywarp.deploy.webhook import pod_text, processor
from anywarp.deploy.webhook.said import Conversion, Said

OWN = "anywarp/"
"""What the webhook's annotations and labels begin with."""
_NOT_READ = ("kubectl.kubernetes.io/last-applied-configuration",)
_LISTS = ("containers", "initContainers", "ephemeralContainers")


class NotUnderstood(ValueError):
    """Why a pod is left as it is, in the user's words."""


def converted(pod: dict[str, Any], options: Options) -> Conversion:
    """Return what becomes of a pod (an object of `v1`, as JSON); NotUnderstood where it must be left as it is."""
    try:
        if options.target.device == "cpu":
            return processor.converted(_seen(pod), options)
        return _for_amd(_seen(pod), options)
    except pod_text.NotPlain as error:
        raise NotUnderstood(str(error)) from None


def _for_amd(seen: dict[str, Any], options: Options) -> Conversion:
    written = pod_text.write(seen)
    data = written.text.encode()
    done = convert(data, PurePath("pod.yaml"), options)
    left = [Said(written.pointer(data, f.start), f.reason, f.help) for f in done.findings if isinstance(f, Refusal)]
    changes = [Said(written.pointer(data, f.start), f.reason) for f in done.findings if isinstance(f, Change)]
    if done.new == data:
        return Conversion(seen, seen, [], left)
    if not pod_text.read(written.text) == seen:
        raise NotUnderstood("it holds text that YAML does not give back as it was")
    new = _without_empty(seen, pod_text.read(done.new.decode()))
    if lost := _lost(seen, new):
        raise NotUnderstood(lost)
    return Conversion(seen, cast(dict[str, Any], new), changes, left)


def _seen(pod: dict[str, Any]) -> dict[str, Any]:
    """Return a pod without what others keep in its metadata and without its status."""
    out = {"apiVersion": "v1", "kind": "Pod", **{key: value for key, value in pod.items() if key != "status"}}
    metadata = pod.get("metadata")
    if isinstance(metadata, dict):
        told = {
            k: v for k, v in cast(dict[str, Any], metadata).items() if k not in ("managedFields", "ownerReferences")
        }
        notes = told.get("annotations")
        if isinstance(notes, dict):
            named = cast(dict[str, Any], notes).items()
            told["annotations"] = {k: v for k, v in named if k not in _NOT_READ and not k.startswith(OWN)}
        out["metadata"] = told
    return out


def _without_empty(old: Any, new: Any) -> Any:
    """Leave out keys of which nothing but the key is left, as YAML has it where all entries below were taken out."""
    if isinstance(old, dict) and isinstance(new, dict):
        before = cast(dict[str, Any], old)
        return {
            key: _without_empty(before.get(key), value)
            for key, value in cast(dict[str, Any], new).items()
            if not (value is None and before.get(key) is not None)
        }
    if isinstance(old, list) and isinstance(new, list):
        one, other = cast(list[Any], old), cast(list[Any], new)
        return [_without_empty(*pair) for pair in zip(one, other)] if len(one) == len(other) else other
    return new


def _lost(old: dict[str, Any], new: Any) -> str:
    """Return what a conversion must not touch and did; "" where the pod is still itself."""
    if not isinstance(new, dict):
        return "the conversion would leave no pod"
    now = cast(dict[str, Any], new)
    for key in ("apiVersion", "kind"):
        if old.get(key) != now.get(key):
            return f"the conversion would change its {key}"
    for key in ("name", "namespace", "generateName", "uid"):
        if _at(old, "metadata", key) != _at(now, "metadata", key):
            return f"the conversion would change metadata.{key}"
    for key in _LISTS:
        if _names(_at(old, "spec", key)) != _names(_at(now, "spec", key)):
            return f"the conversion would change which {key} there are"
    return ""


def _at(pod: dict[str, Any], part: str, key: str) -> Any:
    found = pod.get(part)
    return cast(dict[str, Any], found).get(key) if isinstance(found, dict) else None


def _names(found: Any) -> list[Any]:
    entries = cast(list[Any], found) if isinstance(found, list) else []
    return [cast(dict[str, Any], one).get("name") if isinstance(one, dict) else None for one in entries]
