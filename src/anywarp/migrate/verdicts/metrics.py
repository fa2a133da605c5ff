"""Verdicts on metrics of NVIDIA's exporters in rules, dashboards and autoscalers, and on their labels."""

from __future__ import annotations

import re

from anywarp.catalogue.migration import Row, by, rows
from anywarp.devices.hip.tables import gpus
from anywarp.migrate.findings import Use, Verdict
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts.rows import BY_HAND, CONVERT, by_hand, plain

SUBJECTS = ("metric",)


def judge(use: Use, target: Target) -> Verdict | None:
    """Say what becomes of a metric or a label."""
    if found := plain(target):
        return found
    if target.device == "cpu":
        return Verdict(
            "no-path",
            "the processor has no exporter of such metrics: what asks for it stays silent",
            effort="hours",
            help="watch the processor instead (node_cpu_seconds_total, node_memory_*)",
        )
    return _label(use) if use.subject == "metric.label" else _metric(use, target)


def found_rows(name: str) -> tuple[Row, ...]:
    """Return the rows of a metric, its alternatives by family; by the longest prefix where its own name is not there."""
    exact = tuple(row for row in rows("metrics") if row["name"] == name)
    if exact:
        return exact
    best = max(
        (row["name"] for row in rows("metrics") if row["name"].endswith("*") and name.startswith(row["name"][:-1])),
        key=len,
        default="",
    )
    return tuple(row for row in rows("metrics") if best and row["name"] == best)


def family(target: Target) -> str:
    """Return the family of cards as the table of metrics names it: mi3xx, mi2xx, radeon, or "" where the target is open."""
    names = [gpu.product for gpu in gpus() if gpu.architecture == target.architecture]
    if any(re.search(r"MI3\d\d", name) for name in names):
        return "mi3xx"
    if any(re.search(r"MI\d\d\d", name) for name in names):
        return "mi2xx"
    return "radeon" if names else ""


def _metric(use: Use, target: Target) -> Verdict:
    known = found_rows(use.name)
    if not known:
        return Verdict("no-path", "no table has this metric", effort="hours", help=BY_HAND)
    kin = family(target)
    fitting = [row for row in known if not row["family"] or not kin or kin in row["family"].split()] or list(known[:1])
    row = fitting[0]
    if not row["target"]:
        if row["nearest"]:
            return by_hand(row["reason"], f"nearest: {row['nearest']}", "hours")
        return Verdict("no-path", row["reason"], effort="hours", help=BY_HAND)
    reason = _units(row)
    if use.detail("use") == "exported":
        return by_hand(
            "a field that NVIDIA's exporter is told to export; AMD's has a configuration of its own",
            f"{row['target'].upper()} in the configuration of AMD's exporter",
            "minutes",
        )
    if use.detail("threshold") and row["thresholds"] != "carry":
        why = "limits differ between cards" if row["thresholds"] == "review" else row["reason"]
        return by_hand(
            f"{reason}: {why}; the threshold {use.detail('threshold')} is to be chosen anew",
            _answer(row),
            "hours",
            f"{CONVERT} but for the threshold",
        )
    answer = " or ".join(_answer(one) for one in fitting) if not kin else _answer(row)
    return Verdict("converted", reason, answer, "minutes", CONVERT)


def _answer(row: Row) -> str:
    labels = f"{{{row['labels']}}}" if row["labels"] else ""
    return f"{row['target']}{labels}"


def _units(row: Row) -> str:
    text = row["reason"] or "AMD's exporter has the same figure"
    if row["factor"] not in ("", "1"):
        text += f" (in {row['target_unit']} where NVIDIA's is in {row['unit']}: times {row['factor']})"
    return text


def _label(use: Use) -> Verdict:
    row = by("metric_labels", "name").get(use.name)
    if row is None:
        return by_hand("no table has this label", "", "minutes")
    if not row["target"]:
        return by_hand(row["reason"], "gpu_id and hostname", "minutes")
    return Verdict(
        "converted",
        row["reason"],
        row["target"],
        "minutes",
        CONVERT if row["values"] == "same" else f"{CONVERT}; a value that is compared with it is left to a person",
    )
