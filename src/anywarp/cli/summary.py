"""The closing summary of a run, as text that fits on one screen.

It says first what a user wants to know: where it ran, what was compiled, and what was asked for that we do not have.
"""

from __future__ import annotations

from collections.abc import Iterable

from anywarp.runtime.report import Finding, Report

ROWS = 8
"""How many kernels, functions and messages are shown; the JSON report holds all."""


def summary_text(report: Report, device: str) -> str:
    """Render a report in at most some forty lines."""
    lines = ["", "anywarp: summary", *_head(report, device)]
    lines += _section("kernels by launches", _kernels(report), len(report.kernels))
    lines += _section("operators by time", _operators(report), len(report.operators))
    lines += _section(
        "calls by function", (f"{n:>10}  {name}" for name, n in report.calls.most_common()), len(report.calls)
    )
    lines += _section(
        "not supported", (f"{n:>10}  {name}" for name, n in report.absent.most_common()), len(report.absent)
    )
    lines += _section("messages", (f"    {_first_line(text)}" for text in report.diagnostics), len(report.diagnostics))
    return "\n".join(lines)


def findings_text(report: Report, checks: Iterable[str]) -> str:
    """Render what checks found: how much, and one line for each of the first places."""
    names, found = ", ".join(checks), report.findings
    if not report.processes:
        return f"anywarp: check ({names}): no process of the command loaded our CUDA driver library"
    if not found:
        return f"anywarp: check ({names}): nothing found in {sum(u.launches for u in report.kernels.values())} launches"
    threads = sum(f.count for f in found)
    lines = [f"anywarp: check ({names}): {len(found)} places, where {threads} threads did wrong"]
    lines += [f"  {f.count:>8}  {f.kind}: {_short(f.kernel)}, {_place(f)}" for f in found[: 3 * ROWS]]
    lines += [f"            and {len(found) - 3 * ROWS} more"] if len(found) > 3 * ROWS else []
    return "\n".join(lines)


def _place(finding: Finding) -> str:
    return f"{finding.place}, inlined at {finding.inlined_at}" if finding.inlined_at else finding.place


def _head(report: Report, device: str) -> list[str]:
    uses = report.kernels.values()
    compiled, cached = sum(u.compiled for u in uses), sum(u.cached for u in uses)
    launches, spent = sum(u.launches for u in uses), sum(u.compile_ms for u in uses) / 1e3
    lines = [
        f"  device     {', '.join(report.devices) or device}",
        f"  processes  {len(report.processes)}",
        f"  kernels    {compiled} compiled in {spent:.2f} s, {cached} from the cache, {launches} launches",
        f"  memory     {report.peak_memory / 2**20:.1f} MiB at its peak",
    ]
    if report.operators:
        ran = report.operators.values()
        copied = sum(use.copied for use in ran) / 2**20
        lines.append(
            f"  operators  {sum(use.count for use in ran)} of PyTorch on cuda in {sum(use.ms for use in ran) / 1e3:.2f} s, "
            f"{copied:.1f} MiB copied, {sum(use.widened for use in ran)} in a wider type"
        )
    if not report.processes:
        lines.append("  no process of the command loaded our CUDA driver library")
    if report.damaged:
        lines.append(
            f"  {report.damaged} lines of the report were damaged: a process was probably killed while it wrote"
        )
    return lines


def _kernels(report: Report) -> Iterable[str]:
    for name, use in sorted(report.kernels.items(), key=lambda item: -item[1].launches):
        how = f"compiled in {use.compile_ms:.0f} ms" if use.compiled else "cached" if use.cached else "not compiled"
        yield f"{use.launches:>10}  {_short(name)}  ({how})"


def _operators(report: Report) -> Iterable[str]:
    for name, use in sorted(report.operators.items(), key=lambda item: -item[1].ms):
        more = f", {use.copied / 2**20:.1f} MiB" if use.copied else ""
        more += f", {use.widened} in a wider type" if use.widened else ""
        yield f"{use.count:>10}  {_short(name)}  ({use.ms:.1f} ms{more})"


def _section(title: str, rows: Iterable[str], count: int) -> list[str]:
    if not count:
        return []
    shown = [row for row, _ in zip(rows, range(ROWS))]
    more = [f"            and {count - ROWS} more"] if count > ROWS else []
    return [f"  {title}", *(f"  {row}" for row in shown), *more]


def _short(name: str, width: int = 60) -> str:
    return name if len(name) <= width else f"{name[: width - 3]}..."


def _first_line(text: str) -> str:
    return _short(text.strip().partition("\n")[0], 110)
