"""Names that schedule pods onto GPUs: resources, labels of nodes, taints, runtime classes, DRA classes.

The same text means different things in different places (`nvidia.com/gpu` is a resource, a taint and, in some clusters, a label),
so the keys above it decide.
"""

from __future__ import annotations

from collections.abc import Iterator

from anywarp.catalogue.migration import Row
from anywarp.catalogue.partitions import fit
from anywarp.catalogue.replacements import kind, label, resource
from anywarp.deploy.convert import codes
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal, change, refusal
from anywarp.deploy.convert.sweep import mentions_nvidia
from anywarp.deploy.convert.yaml_text import Entry, YamlText

LABEL_PLACES = frozenset(
    {
        "nodeSelector",
        "node_selector",
        "matchLabels",
        "nodeLabels",
        "labels",
        "requirements",
        "selector",
        "nodeGroupLabels",
    }
)
TAKEN_OUT = "-"
"""The answer that takes a label out of a selector."""
_QUOTA = ("requests.", "limits.")
_TAINT_PLACES = frozenset({"tolerations", "taints", "nodeTaints", "startupTaints"})
_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})


def key(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """Convert a key: a resource in a list of resources, a label in a selector."""
    assert entry.key is not None
    name = entry.key.text
    prefix = next((p for p in _QUOTA if name.startswith(p)), "")
    if selects(entry):
        yield from _label_pair(text, entry, options)
    elif (row := resource(name.removeprefix(prefix))) is not None:
        start, end = text.span(entry.key)
        yield from resource_name(start + len(prefix), end, row, name.removeprefix(prefix), options)
    elif kind("annotation", name) is not None or "annotations" in entry.path[-1:]:
        yield from _annotation(text, entry)


def value(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """Convert a scalar that is the name of a resource, a taint, a label or a class."""
    name = entry.value.text
    owner = entry.key.text if entry.key is not None else ""
    start, end = text.span(entry.value)
    if owner == "key" and _in_taint(text, entry):
        yield from _taint(start, end, name)
    elif owner == "key" and text.beside(entry, "operator") in _OPERATORS:
        yield from _expression(text, entry, options)
    elif owner in ("deviceClassName", "deviceClass"):
        yield from _device_class(start, end, name)
    elif owner == "driver" and name in ("gpu.nvidia.com", "compute-domain.nvidia.com"):
        help = "AMD's DRA driver takes no such configuration: remove it, and partition GPUs on the node beforehand"
        place = text.document(entry.holder)
        yield Refusal(*place, f"a configuration for NVIDIA's DRA driver {name}", help, code=codes.NO_COUNTERPART)
    elif owner == "matchAttribute" and "nvidia.com/" in name:
        row = kind("device-attribute", name.partition("/")[2])
        reason = row["reason"] if row else "an attribute of NVIDIA's devices"
        help = (
            f"compare gpu.amd.com/{row['target']} if that is what is meant"
            if row and row["target"]
            else "take the constraint out"
        )
        yield Refusal(start, end, reason, help, row["source"] if row else "", codes.ASK)
    elif name.endswith(".nvidia.com"):
        yield from _device_class(start, end, name)
    elif (found := _resource_in(name)) is not None:
        row, prefix, bare = found
        yield from resource_name(start + len(prefix), start + len(name), row, bare, options)


def resource_name(start: int, end: int, row: Row, name: str, options: Options) -> Iterator[Finding]:
    """Convert the name of a resource at bytes `[start, end)`; the user's own answer (`resource=OLD:NEW`) goes before the table."""
    answer = options.mapping.get(("resource", name))
    if answer is not None:
        yield Change(start, end, answer[1].encode(), f"asked for: {name} is {answer[1]}", "--map")
    elif row["conversion"] == "partition":
        yield from _partition(start, end, name, options, row)
    elif row["conversion"] == "rename":
        target = row["target"]
        if target == "amd.com/gpu" and options.naming == "mixed" and name == "nvidia.com/gpu":
            target = "amd.com/spx_nps1"
        yield change(start, end, target, row)
    else:
        help = f"choose what {name} is to become, and say so: --map resource={name}:NEW"
        yield refusal(start, end, row, help, codes.NO_COUNTERPART)


def _partition(start: int, end: int, name: str, options: Options, row: Row) -> Iterator[Finding]:
    found = fit(name, options.card)
    if found.part is None:
        help = f"choices: {found.choices}; say which: --map resource={name}:NAME, or --card another"
        yield Refusal(start, end, found.reason, help, row["source"], codes.PARTITION)
        return
    if found.part.per_gpu == 1:
        target = found.part.resource if options.naming == "mixed" else "amd.com/gpu"
        yield Change(start, end, target.encode(), found.reason, found.part.source)
        return
    yield Change(start, end, found.part.resource.encode(), found.reason, found.part.source)
    reason = f"{found.part.resource} is reported where AMD's device plugin runs with resource_naming_strategy=mixed and GPUs are set to {found.part.mode}"
    if found.wasteful:
        reason += f"; it has much more memory than asked for, and there is no smaller part: {found.choices}"
    yield Note(start, end, reason, found.part.source)


def _resource_in(name: str) -> tuple[Row, str, str] | None:
    prefix = next((p for p in _QUOTA if name.startswith(p)), "")
    row = resource(name.removeprefix(prefix))
    return (row, prefix, name.removeprefix(prefix)) if row is not None else None


def selects(entry: Entry) -> bool:
    """Say whether a key is a label in a selector or among labels."""
    return entry.under(*LABEL_PLACES) or (bool(entry.path) and entry.path[-1].endswith(("Selector", "Labels")))


def _label_pair(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    assert entry.key is not None
    name, old = entry.key.text, entry.value.real().text if entry.value.kind == "scalar" else ""
    answer = options.answer(name, old)
    row = label(name)
    start, end = text.span(entry.key)
    place = text.span(entry.value)
    if answer is not None and answer[1] == TAKEN_OUT:
        gone = text.removal(entry) if len(entry.holder.pairs) > 1 else None
        if gone is not None:
            yield Change(*gone, b"", f"asked for: {name} is taken out", "--map")
        else:
            help = "take it out by hand: it is alone here, or something else hangs on it"
            yield Refusal(
                start, max(end, place[1]), f"asked for: {name} is taken out", help, "--map", codes.NOT_CONVERTED
            )
    elif answer is not None:
        target = answer[0] or (row["target"] if row and row["target"] else name)
        if target != name:
            yield Change(start, end, target.encode(), f"asked for: {name}={old} is {target}={answer[1]}", "--map")
        if entry.value.alias is None:
            yield Change(*place, answer[1].encode(), f"asked for: {name}={old} is {target}={answer[1]}", "--map")
    elif not _of_nodes(text, entry) and (row is None or not _made_by_software(name)):
        yield from _pod_label(text, entry, name, old)
    elif row is None:
        if "nvidia" in name.lower() or "nvidia" in old.lower():
            help = f"label the AMD nodes and say how: --map {name}={old}:NEWKEY=NEWVALUE"
            yield Refusal(
                start, max(end, place[1]), f"{name} is a label of this cluster's own making", help, code=codes.ASK
            )
    elif row["conversion"] == "rename":
        yield from _renamed_pair(text, entry, row, old)
    else:
        yield _unanswered(start, max(end, place[1]), row, name, old)


def _of_nodes(text: YamlText, entry: Entry) -> bool:
    """Say whether labels select nodes, not pods or other objects."""
    named = ("nodeSelector", "node_selector", "nodeLabels", "nodeGroupLabels", "requirements")
    return entry.under(*named) or "Node" in entry.path[-1] or text.kind(entry) == "Node"


def _made_by_software(name: str) -> bool:
    """Say whether a label is one that software puts on nodes, wherever it is asked for."""
    return name.startswith(("nvidia.com/", "feature.node.kubernetes.io/", "cloud.google.com/", "karpenter."))


def _pod_label(text: YamlText, entry: Entry, name: str, old: str) -> Iterator[Finding]:
    assert entry.key is not None
    if mentions_nvidia(f"{name} {old}".encode()):
        start, end = text.span(entry.key)[0], text.span(entry.value)[1]
        yield Note(
            start, max(start, end), "a label that people gave to objects of their own: it stays, for selectors go by it"
        )


def _renamed_pair(text: YamlText, entry: Entry, row: Row, old: str) -> Iterator[Finding]:
    assert entry.key is not None
    values = row["values"].split()
    known = dict(pair.split("=", 1) for pair in values if pair != "=")
    if "=" not in values and old not in known:
        yield _unanswered(*text.whole(entry), row, entry.key.text, old)
        return
    start, end = text.span(entry.key)
    if row["target"] != entry.key.text:
        yield change(start, end, row["target"], row)
    place = text.span(entry.value)
    if known.get(old, old) != old:
        yield change(*place, known[old], row)
    elif row["target"] == entry.key.text:
        yield Fine(start, place[1], row["reason"], row["source"])


def _unanswered(start: int, end: int, row: Row, name: str, old: str) -> Refusal:
    target = row["target"]
    new = f"NEWVALUE (of {target})" if target else "NEWKEY=NEWVALUE"
    help = f"say what it is to become: --map {name}={old}:{new}"
    if not target:
        help += f", or that it goes: --map {name}={old}:{TAKEN_OUT}"
    return refusal(start, end, row, help, codes.ASK if target else codes.NO_COUNTERPART)


def _expression(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """Convert a match expression: key, operator, values."""
    name, holder = entry.value.text, entry.holder
    operator, values = holder.value("operator"), holder.items("values")
    row = label(name)
    start, end = text.span(entry.value)
    known = dict(pair.split("=", 1) for pair in row["values"].split() if pair != "=") if row else {}
    answers = [options.answer(name, value.text) for value in values]
    if operator in ("Gt", "Lt") and row is not None:
        help = "list the values that count: operator In with the sizes of your cards, such as 192G"
        yield refusal(start, end, row, help, codes.ASK if row["target"] else codes.NO_COUNTERPART)
        yield from (Fine(*text.span(value), "part of the expression above") for value in values)
    elif any(answer is not None and answer[1] == TAKEN_OUT for answer in answers):
        yield Refusal(
            start,
            end,
            f"asked for: {name} is taken out",
            "take the expression out by hand",
            "--map",
            codes.NOT_CONVERTED,
        )
        yield from (Fine(*text.span(value), "part of the expression above") for value in values)
    elif values and all(answers):
        targets = {answer[0] for answer in answers if answer}
        target = next(iter(targets)) or (row["target"] if row and row["target"] else name)
        if target != name:
            yield Change(start, end, target.encode(), f"asked for: {name} is {target}", "--map")
        for value, answer in zip(values, answers, strict=True):
            assert answer is not None
            yield Change(*text.span(value), answer[1].encode(), f"asked for: {value.text} is {answer[1]}", "--map")
    elif row is None:
        if "nvidia" in name.lower() or any("nvidia" in value.text.lower() for value in values):
            help = f"label the AMD nodes and say how: --map {name}={values[0].text if values else ''}:NEWKEY=NEWVALUE"
            yield Refusal(start, end, f"{name} is a label of this cluster's own making", help, code=codes.ASK)
            yield from (Fine(*text.span(value), "part of the expression above") for value in values)
    elif row["target"] and (not values or all(value.text in known for value in values)):
        yield change(start, end, row["target"], row)
        for value in values:
            if known[value.text] != value.text:
                yield change(*text.span(value), known[value.text], row)
    else:
        yield _unanswered(
            start, end, row, name, next((v.text for v, a in zip(values, answers, strict=True) if not a), "")
        )
        yield from (Fine(*text.span(value), "part of the expression above") for value in values)


def _in_taint(text: YamlText, entry: Entry) -> bool:
    return bool(set(entry.path[-1:]) & _TAINT_PLACES) or bool(text.beside(entry, "effect"))


def _taint(start: int, end: int, name: str) -> Iterator[Finding]:
    row = kind("taint", name)
    if row is not None:
        yield change(start, end, row["target"], row)
    elif "nvidia" in name.lower() and "{{" not in name:
        help = "write the key with which your AMD nodes are tainted"
        yield Refusal(start, end, f"{name} is a taint of this cluster's own making", help, code=codes.ASK)


def _device_class(start: int, end: int, name: str) -> Iterator[Finding]:
    row = kind("device-class", name)
    if row is None:
        return
    if row["conversion"] == "rename":
        yield change(start, end, row["target"], row)
    else:
        yield refusal(start, end, row, "write the request for AMD's class by hand", codes.NO_COUNTERPART)


def _annotation(text: YamlText, entry: Entry) -> Iterator[Finding]:
    assert entry.key is not None
    row = kind("annotation", entry.key.text)
    if row is not None:
        yield refusal(*text.whole(entry), row, "remove it, or write what takes its place", codes.NO_COUNTERPART)
