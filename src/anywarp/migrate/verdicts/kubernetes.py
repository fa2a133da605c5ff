"""Verdicts on Kubernetes and Helm: resources, labels, taints, runtime classes, charts, and GPUs that nobody asked for."""

from __future__ import annotations

from functools import cache

from anywarp.catalogue.migration import Row, rows
from anywarp.catalogue.partitions import fit
from anywarp.catalogue.replacements import kind, label, resource
from anywarp.devices.hip.tables import gpus
from anywarp.migrate.findings import Use, Verdict
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts.rows import BY_HAND, CONVERT, by_hand, on_hip, plain

SUBJECTS = ("k8s", "helm")

_CHOOSE = "give the answer to `anywarp convert` by --map"


def judge(use: Use, target: Target) -> Verdict | None:
    """Say what becomes of something that a cluster is asked for."""
    if found := plain(target):
        return found
    if target.device == "cpu":
        return _on_cpu(use)
    return _JUDGES[use.subject](use, target)


def _on_cpu(use: Use) -> Verdict:
    if use.subject == "k8s.resource":
        return by_hand(
            "a pod that asks for GPUs waits for ever on nodes without them",
            "processors: `cpu: N`, as many as the work needs",
            "minutes",
            "replace the resource, and put `anywarp run --` before the command",
        )
    if use.subject in ("k8s.label", "k8s.toleration", "k8s.runtimeclass", "k8s.dra"):
        return by_hand(
            "it keeps the pod on nodes with NVIDIA's cards", "nothing: leave it out", "minutes", "leave it out"
        )
    return Verdict("as-is", "part of a cluster with NVIDIA's cards: not needed on the processor")


def _resource(use: Use, target: Target) -> Verdict:
    row = resource(use.name)
    if row is None:
        return Verdict("no-path", f"{use.name} is no resource that a table knows", effort="hours", help=BY_HAND)
    if row["conversion"] == "partition":
        return _partition(use, target)
    if use.detail("use") == "path" and row["target"]:
        return by_hand("it stands in a path to a field of another file", row["target"], "minutes")
    if use.detail("use") == "command":
        return _in_command(row)
    if row["conversion"] == "refuse":
        return by_hand(
            row["reason"], row["target"] or "another way to share, or a whole GPU (amd.com/gpu)", "hours", _CHOOSE
        )
    return on_hip(row)


def _partition(use: Use, target: Target) -> Verdict:
    card = card_of(target)
    found = fit(use.name, card)
    if found.part is None:
        return by_hand(
            found.reason,
            f"a decision about sizes: {found.choices}",
            "hours",
            "give `anywarp convert` the card by --card, or the answer by --map resource=OLD:NEW",
        )
    reason = found.reason + (
        "; much more memory than was asked for, and there is no smaller part" if found.wasteful else ""
    )
    return Verdict("converted", reason, found.part.resource, "hours" if found.wasteful else "minutes", CONVERT)


@cache
def card_of(target: Target) -> str:
    """Return the card whose partitions are meant: the first of the target's architecture that can be divided, MI300X where it is open."""
    known = list(dict.fromkeys(row["product"] for row in rows("partitions")))
    if not target.architecture:
        return known[0]
    alike = {gpu.product for gpu in gpus() if gpu.architecture == target.architecture}
    return next((name for name in known if name in alike), f"GPU of {target.architecture}")


def _label(use: Use, target: Target) -> Verdict:
    row = label(use.name)
    if use.detail("use") == "command" and row is not None:
        return _in_command(row)
    if row is None:
        return by_hand(
            f"{use.name} is a label of the cluster's own making",
            "a label of the nodes with AMD GPUs",
            "minutes",
            _CHOOSE,
        )
    if row["conversion"] == "rename":
        values = row["values"].split()
        old = use.detail("value")
        if (
            "=" in values
            or not old
            or use.detail("use") == "affinity"
            or old in dict(pair.split("=", 1) for pair in values if pair != "=")
        ):
            return on_hip(row)
        return by_hand(f"{row['reason']}; the value {old} is not known", row["target"], "minutes", _CHOOSE)
    if use.detail("operator") in ("Gt", "Lt") and row["target"]:
        return by_hand(
            f"{row['reason']}; {use.detail('operator')} compares numbers",
            f"{row['target']} with In and the sizes listed",
            "minutes",
            _CHOOSE,
        )
    return by_hand(
        row["reason"],
        f"{row['target']}, with a value of your cards"
        if row["target"]
        else "nothing: leave it out, or a label of your own",
        "minutes",
        _CHOOSE,
    )


def _toleration(use: Use, target: Target) -> Verdict:
    row = kind("taint", use.name)
    if row is None:
        return by_hand(
            "a taint of the cluster's own making",
            "the taint of the nodes with AMD GPUs, if they have one",
            "minutes",
            _CHOOSE,
        )
    if use.detail("use") == "command":
        return _in_command(row)
    return on_hip(row, "minutes")


def _in_command(row: Row) -> Verdict:
    """What stands in a command is shown to a person, for the command may do more than its words say."""
    return by_hand(f"{row['reason']}; it stands in a command", row["target"] or "a decision", "minutes")


def _named(what: str, use: Use) -> Verdict:
    row = kind(what, use.name)
    if row is None:
        return by_hand(f"a {what} of NVIDIA's that no table has", "AMD's counterpart, if there is one", "hours")
    return _row_of(row)


def _row_of(row: Row) -> Verdict:
    if row["conversion"] == "refuse":
        return (
            by_hand(row["reason"], row["target"], "hours")
            if row["target"]
            else Verdict("no-path", row["reason"], effort="days", help=BY_HAND)
        )
    if row["conversion"] == "ask":
        return by_hand(row["reason"], row["target"] or "a decision", "hours", _CHOOSE)
    return on_hip(row, "hours")


def _runtime_class(use: Use, target: Target) -> Verdict:
    if use.detail("use") in ("object", "command"):
        return by_hand("NVIDIA's container runtime; AMD GPUs need no runtime class", "nothing: take it out", "minutes")
    return _named("runtime-class", use)


def _kind(use: Use, target: Target) -> Verdict:
    return _named("kind", use)


def _workload(use: Use, target: Target) -> Verdict:
    return _named("workload", use)


def _annotation(use: Use, target: Target) -> Verdict:
    return _named("annotation", use)


def _dra(use: Use, target: Target) -> Verdict:
    return _named("device-class", use)


def _host_path(use: Use, target: Target) -> Verdict:
    row = kind("host-path", use.name)
    if row is None:
        return by_hand(
            "a folder or device of NVIDIA's driver",
            "nothing: AMD's device plugin gives /dev/kfd and /dev/dri",
            "minutes",
        )
    return _row_of(row)


def _sharing(use: Use, target: Target) -> Verdict:
    return Verdict(
        "no-path",
        "AMD's device plugin does not share a GPU by time (k8s-device-plugin issue 111 is open)",
        effort="days",
        help="choose partitions, HAMi, a shared claim of DRA, or whole GPUs; convert leaves this to a person",
    )


def _freeloading(use: Use, target: Target) -> Verdict:
    how = (
        f"NVIDIA_VISIBLE_DEVICES={use.detail('value')}"
        if use.detail("via") != "image"
        else f"the image {use.detail('value')}, which sets NVIDIA_VISIBLE_DEVICES=all"
    )
    reason = f"the container {use.name} sees GPUs by {how} and its pod asks for none; AMD's device plugin gives devices only to those who ask: it will have no GPU"
    return by_hand(
        reason,
        "amd.com/gpu: 1 in its limits, if it needs one",
        "minutes",
        "find out whether it uses a GPU; then ask for one",
    )


def _chart(use: Use, target: Target) -> Verdict:
    row = kind("chart", use.name)
    if use.detail("use") == "command" and row is not None:
        return _in_command(row)
    return _named("chart", use)


def _repository(use: Use, target: Target) -> Verdict:
    row = kind("repository", use.name.rstrip("/"))
    if use.detail("use") == "command" and row is not None:
        return _in_command(row)
    return _row_of(row) if row is not None else by_hand("charts of NVIDIA's", "AMD's charts", "hours")


def _value(use: Use, target: Target) -> Verdict:
    row = next(
        (
            row
            for row in rows("kinds")
            if row["what"] == "value"
            and row["name"].partition("=")[0].endswith(use.name)
            and row["name"].endswith("=" + use.detail("value"))
        ),
        None,
    )
    if row is not None:
        return on_hip(row, "minutes")
    answer = {"nvidia": "amd", "cuda": "rocm"}.get(use.detail("value").lower(), "the chart's word for AMD GPUs")
    return by_hand(
        "a value that chooses the vendor of GPUs; whether the chart knows AMD's is in its templates",
        answer,
        "minutes",
        "look into the chart's values and templates",
    )


_JUDGES = {
    "k8s.resource": _resource,
    "k8s.label": _label,
    "k8s.toleration": _toleration,
    "k8s.runtimeclass": _runtime_class,
    "k8s.kind": _kind,
    "k8s.workload": _workload,
    "k8s.annotation": _annotation,
    "k8s.dra": _dra,
    "k8s.hostpath": _host_path,
    "k8s.sharing": _sharing,
    "k8s.freeloading": _freeloading,
    "helm.chart": _chart,
    "helm.repository": _repository,
    "helm.value": _value,
}
