"""What is inside a pod: images, variables, commands, host paths, and what a container relies on without asking for it.

On NVIDIA's side an image can see GPUs that its pod never asked for; on AMD's it cannot, so such pods must be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.catalogue.replacements import image as image_row
from anywarp.catalogue.replacements import image_parts, kind, resource
from anywarp.deploy.convert import codes
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal, refusal
from anywarp.deploy.convert.yaml_text import Entry, YamlText
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.rulings import environment, images
from anywarp.migrate.rulings.answer import Answer

CONTAINERS = frozenset({"containers", "initContainers", "ephemeralContainers"})
_AMD_EXAMPLES = "ROCm/k8s-device-plugin example/vllm-serve/deployment.yaml"


def image(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """Convert the value of a key that holds a reference to an image."""
    parts = image_parts(entry.value.text)
    whole = bool(parts.tag or parts.digest)
    if not whole and entry.key is not None and (text.beside(entry, "registry") or _tag_key(text, entry)):
        yield from repository(text, entry, options)
        return
    answer = images.image(entry.value.text, options.target, options.images)
    if answer is None:
        return
    if not whole and answer.action == "replace" and image_parts(answer.text).tag and not text.kind(entry):
        help = f"write {answer.text}, in the way in which this chart puts the tag behind the image"
        reason = "an image without a tag outside of any object: what reads it may add one"
        yield Refusal(*text.span(entry.value), reason, help, answer.source, codes.ASK)
        return
    yield from said(text, entry, answer)


def _tag_key(text: YamlText, entry: Entry) -> str:
    """Return the key beside an image that holds its tag: `tag`, `newTag`, `imageTag`, or the image's own key with Tag behind it."""
    assert entry.key is not None
    own = entry.key.text
    stem = re.sub(r"(?i)_?image(?:name)?$", "", own)
    keys = ("newTag",) if own == "newName" else ("tag", f"{own}Tag", f"{own}_tag", "imageTag", "image_tag")
    keys += (f"{stem}Tag", f"{stem}_tag") if stem else ()
    return next((key for key in keys if text.sibling(entry, key) is not None), "")


def repository(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """Convert an image that a chart or Kustomize keeps in parts: registry, repository and tag beside each other."""
    tag_key = _tag_key(text, entry) or "tag"
    registry, tag = text.beside(entry, "registry"), text.beside(entry, tag_key)
    name = f"{registry}/{entry.value.text}" if registry else entry.value.text
    answer = images.image(f"{name}:{tag}" if tag else name, options.target, options.images)
    if answer is None or answer.action == "keep":
        if answer is not None:
            yield from said(text, entry, answer)
        return
    tag_node = text.sibling(entry, tag_key)
    new, _, new_tag = answer.text.partition("@")[0].rpartition(":")
    parts = answer.action == "replace" and not registry and "@" not in answer.text and new and "/" not in new_tag
    if not parts or (tag_node is not None and text.inner(tag_node) is None and tag):
        help = answer.help or f"write the image {answer.text} in the chart's way"
        yield Refusal(*text.span(entry.value), answer.reason, help, answer.source, answer.code)
        if tag_node is not None:
            yield Fine(*text.span(tag_node), "the tag of the image above")
        return
    if tag_node is None or not tag:
        help = f"the chart chooses the tag; {answer.text} is what takes its place"
        yield Refusal(*text.span(entry.value), answer.reason, help, answer.source, codes.ASK)
        return
    yield Change(*text.span(entry.value), new.encode(), answer.reason, answer.source)
    yield Change(*text.span(tag_node), new_tag.encode(), answer.reason, answer.source)


def said(text: YamlText, entry: Entry, answer: Answer) -> Iterator[Finding]:
    """Turn an answer about a value into findings at its place."""
    place = text.span(entry.value)
    if answer.action == "keep":
        yield Fine(*place, answer.reason, answer.source)
    elif answer.action == "refuse" or text.inner(entry.value) is None:
        yield Refusal(*place, answer.reason, answer.help or f"write {answer.text}", answer.source, answer.code)
    elif answer.action == "replace":
        yield Change(*place, answer.text.encode(), answer.reason, answer.source)


def variables(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """Convert a list of variables: mappings with `name` and `value`."""
    gone: list[Finding] = []
    kept = 0
    given = {item.value("name"): item.value("value") or None for item in entry.value.entries if item.kind == "map"}
    for item in entry.value.entries:
        if item.kind != "map" or not item.value("name"):
            kept += 1
            continue
        found = list(_variable(text, entry, item, options, given))
        removed = any(isinstance(finding, Change) and not finding.replacement for finding in found)
        kept += not removed
        (gone if removed else []).extend(found)
        if not removed:
            yield from found
    if gone and not kept and entry.key is not None and (place := text.removal(entry)) is not None:
        yield Change(*place, b"", f"nothing is left of this list: {gone[0].reason}", gone[0].source)
    else:
        yield from _joined(text, gone)


def _joined(text: YamlText, gone: list[Finding]) -> Iterator[Finding]:
    """Make one removal of neighbours between brackets, which share a comma."""
    last: Change | None = None
    for finding in gone:
        if not isinstance(finding, Change):
            yield finding
        elif last is not None and finding.start < last.end:
            start = last.start
            if text.data[finding.end :].lstrip(b" \t")[:1] == b"]":
                start = len(text.data[:start].rstrip(b" \t,"))
            last = Change(start, finding.end, b"", last.reason, last.source)
        else:
            if last is not None:
                yield last
            last = finding
    if last is not None:
        yield last


def _variable(
    text: YamlText, entry: Entry, item: Node, options: Options, given: dict[str, str | None]
) -> Iterator[Finding]:
    name_node, value_node = item.get("name"), item.get("value")
    assert name_node is not None
    answer = environment.variable(
        name_node.text, value_node.text if value_node is not None else None, options.target, options.mapping
    )
    if answer is not None and answer.action == "replace" and value_node is not None:
        answer = environment.once(answer, name_node.text, given)
    if answer is None:
        return
    name_entry = Entry(None, name_node, entry.path, item, entry.root)
    whole = Entry(None, item, entry.path, entry.value, entry.root)
    start, end = (
        text.span(name_node)[0],
        max(text.span(node)[1] for node in (name_node, value_node) if node is not None),
    )
    if answer.action == "remove":
        place = text.removal(whole)
        if place is None:
            yield Refusal(
                start, end, answer.reason, f"take {name_node.text} out by hand", answer.source, codes.NOT_CONVERTED
            )
        else:
            yield Change(*place, b"", answer.reason, answer.source)
    elif answer.action == "keep":
        yield Fine(start, end, answer.reason, answer.source)
    elif answer.action == "refuse" or (answer.text and value_node is None):
        yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
    else:
        yield from _renamed(text, name_entry, value_node, answer)


def _renamed(text: YamlText, entry: Entry, value: Node | None, answer: Answer) -> Iterator[Finding]:
    if answer.name and answer.name != entry.value.text:
        yield Change(*text.span(entry.value), answer.name.encode(), answer.reason, answer.source)
    if value is None or value.text == answer.text:
        return
    place = text.span(value)
    if text.inner(value) is None:
        yield Refusal(*place, answer.reason, f"write the value {answer.text}", answer.source, codes.NOT_CONVERTED)
    else:
        renames = (
            f"${entry.value.text}" if answer.name not in ("", entry.value.text) else ""
        )  # the value stays where the name does
        yield Change(*place, answer.text.encode(), answer.reason, answer.source, renames)


def variable_key(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """Convert a variable that is a key with its value, as in a chart's values or a ConfigMap that becomes an environment."""
    assert entry.key is not None
    if entry.value.kind != "scalar":
        return
    answer = environment.variable(entry.key.text, entry.value.real().text, options.target, options.mapping)
    if answer is None:
        return
    place = text.whole(entry)
    if answer.action == "keep":
        yield Fine(*place, answer.reason, answer.source)
    elif answer.action == "remove" and (gone := text.removal(entry)) is not None and len(entry.holder.pairs) > 1:
        yield Change(*gone, b"", answer.reason, answer.source)
    elif answer.action == "replace":
        yield from _renamed(text, Entry(None, entry.key, entry.path, entry.holder, entry.root), entry.value, answer)
    else:
        yield Refusal(
            *place, answer.reason, answer.help or f"take {entry.key.text} out by hand", answer.source, answer.code
        )


def container(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """Judge a container as a whole: does it rely on GPUs that it does not ask for, does it ask as it must."""
    item = entry.value
    del options
    if item.value("image") == "" or not entry.under(*CONTAINERS):
        return
    limits, requests = _resources(item, "limits"), _resources(item, "requests")
    for name, node in requests.items():
        if name not in limits:
            help = "write the same number under resources.limits"
            reason = f"{name} is requested without a limit, which the API server refuses for extended resources"
            yield Refusal(
                *text.span(node), reason, help, "Kubernetes: extended resources cannot be overcommitted", codes.INVALID
            )
    if limits or requests or item.items("resources", "claims"):
        yield from _several(text, entry, limits)
        return
    sees = _sees(item)
    if sees is not None:
        node, how, sure = sees
        reason = f"the container asks for no GPU and sees them all through {how}; AMD's device plugin gives devices only to those who ask"
        source = "NVIDIA/k8s-device-plugin README.md (device list strategy envvar); ROCm/k8s-device-plugin (device specs only)"
        if sure:
            yield Refusal(
                *text.span(node),
                reason,
                "ask for amd.com/gpu under resources.limits, or say that it needs none",
                source,
                codes.FREELOADER,
            )
        else:
            yield Note(*text.span(node), f"if this container uses a GPU: {reason}", source)


def _resources(item: Node, name: str) -> dict[str, Node]:
    node = item.at("resources", name)
    pairs = node.pairs if node is not None else []
    return {key.text: key for key, _ in pairs if resource(key.text) is not None or key.text.startswith("amd.com/")}


def _sees(item: Node) -> tuple[Node, str, bool] | None:
    for entry in item.items("env"):
        if entry.value("name") == "NVIDIA_VISIBLE_DEVICES":
            value = entry.value("value")
            node = entry.get("name")
            return (
                None
                if value in ("none", "void", "") or node is None
                else (node, f"NVIDIA_VISIBLE_DEVICES={value}", True)
            )
    image = item.get("image")
    found = image_row(image.text) if image is not None else None
    if image is not None and found is not None and re.search("cuda|nvcr", image.text):
        return image, "its image, if that sets NVIDIA_VISIBLE_DEVICES", False
    return None


def _several(text: YamlText, entry: Entry, limits: dict[str, Node]) -> Iterator[Finding]:
    """Note what several GPUs in one container need and what it may clash with."""
    count = 0
    for node in limits.values():
        number = entry.value.value("resources", "limits", node.text)
        count += int(number) if number.isdigit() else 1
    if count < 2 or any(mount.value("mountPath") == "/dev/shm" for mount in entry.value.items("volumeMounts")):
        return
    reason = f"{count} GPUs in one container, and no volume at /dev/shm: processes of tensor parallel serving exchange data there; AMD's examples mount an emptyDir with medium Memory"
    yield Note(*text.span(next(iter(limits.values()))), reason, _AMD_EXAMPLES)


def security(text: YamlText, entry: Entry) -> Iterator[Finding]:
    """Note once for a pod with GPUs what AMD's examples add to its security context, and why it is not added."""
    reason = (
        "AMD's examples run such pods with seccompProfile Unconfined and hostIPC, and as a member of the groups video and render; "
        "Pod Security `baseline` and `restricted` forbid the first two, so nothing was added: try without, most programs run"
    )
    if entry.key is not None:
        yield Note(
            *text.span(entry.key),
            reason,
            "ROCm/k8s-device-plugin docs/user-guide/configuration.md, Security and Access Control",
        )


def host_path(text: YamlText, entry: Entry) -> Iterator[Finding]:
    """Refuse a path of the host that holds NVIDIA's driver or devices."""
    row = kind("host-path", entry.value.text)
    if row is not None and entry.key is not None and entry.key.text in ("path", "hostPath", "mountPath"):
        yield refusal(*text.span(entry.value), row, "take the volume and its mounts out", codes.NO_COUNTERPART)
