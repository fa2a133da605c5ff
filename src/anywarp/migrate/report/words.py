"""An assessment in words: one screen that somebody who decides, and not programs, can read."""

from __future__ import annotations

from collections.abc import Iterator

from anywarp.migrate.assess import Assessment
from anywarp.migrate.effort import HOW
from anywarp.migrate.findings import ANSWERS, Finding
from anywarp.migrate.shown import shorten, visible
from anywarp.migrate.summary import Blocker, Summary

MOST_BLOCKERS, MOST_DEPLOYMENTS, MOST_PROBLEMS, MOST_UNREAD = 8, 10, 5, 5
_WIDTH = 110


def text(assessment: Assessment, summary: Summary) -> str:
    """Render an assessment in about fifty lines."""
    lines = [*_head(assessment), *_shares(assessment, summary)]
    lines += [*_blockers(summary), *_deployments(summary), *_not_read(assessment)]
    if summary.next:
        lines += ["", "next", *(f"  {command}" for command in summary.next)]
    return "\n".join(lines)


def place(finding: Finding) -> str:
    """Return where a finding is, as editors take it: `path:line`."""
    return f"{finding.path}:{finding.use.line}" if finding.use.line else finding.path


def _head(a: Assessment) -> Iterator[str]:
    paths = ", ".join(shorten(path, 60) for path in a.plan.paths[:4]) + (" ..." if len(a.plan.paths) > 4 else "")
    yield f"anywarp assess: {paths}, for {a.plan.target}"
    again = f", {a.remembered:,} of them unchanged since an earlier run" if a.remembered else ""
    yield f"{a.files:,} files, {_size(a.bytes)}, read in {a.seconds:.1f} s{again}"
    if a.blind:
        yield f"could not look into {a.blind:,} of them, or not all of them: what they hold is not in these numbers"


def _shares(a: Assessment, summary: Summary) -> Iterator[str]:
    yield ""
    total = len(a.findings)
    if not total:
        if a.unread:
            yield f"nothing found in what is read; {len(a.unread):,} files mention CUDA and were not looked at (below)"
        else:
            yield "nothing found that depends on CUDA"
        return
    yield f"  {'':<26}{'findings':>10}{'share':>8}{'files':>8}{'to decide':>11}   work"
    for share in summary.shares:
        part = _percent(share.findings, total)
        yield f"  {ANSWERS[share.answer]:<26}{share.findings:>10,}{part:>8}{share.files:>8,}{share.decisions:>11,}   {share.days}"
    files = len({f.path for f in a.findings})
    decisions = sum(share.decisions for share in summary.shares)
    yield f"  {'all':<26}{total:>10,}{'':>8}{files:>8,}{decisions:>11,}   {summary.days}"
    for aside in summary.aside:
        yield f"    of these {aside.findings:,} stand in {aside.what}: {aside.days}, which can wait"
    yield from _wrapped(f"work: {HOW}", "  ")


def _blockers(summary: Summary) -> list[str]:
    if not summary.blockers:
        return []
    lines = ["", "what needs a person"]
    for number, blocker in enumerate(summary.blockers[:MOST_BLOCKERS], 1):
        lines += _blocker(number, blocker)
    if len(summary.blockers) > MOST_BLOCKERS:
        lines.append(f"      and {len(summary.blockers) - MOST_BLOCKERS:,} more; --html FILE or --format json has all")
    return lines


def _blocker(number: int, b: Blocker) -> Iterator[str]:
    use, verdict = b.first.use, b.first.verdict
    where = place(b.first)
    if b.files > 1 or b.findings > 1:
        where += f" and {b.findings - 1} more in {b.files} files" if b.files > 1 else f" and {b.findings - 1} more"
    instead = f" by {shorten(verdict.replacement, 40)}" if verdict.replacement and verdict.answer == "replace" else ""
    names = shorten(use.name, 50) + (f" and {len(b.names) - 1} more" if len(b.names) > 1 else "")
    yield f"  {number}. {names}: {ANSWERS[verdict.answer]}{instead} ({b.days})"
    yield f"      {shorten(where, _WIDTH)}"
    yield from _wrapped(f"why: {verdict.reason}", "      ")
    if verdict.help:
        yield from _wrapped(f"do:  {verdict.help}", "      ")
    if b.reaches:
        more = f" and {len(b.reaches) - 3} more" if len(b.reaches) > 3 else ""
        yield f"      reaches {', '.join(b.reaches[:3])}{more}"


def _deployments(summary: Summary) -> list[str]:
    if not summary.deployments:
        return []
    lines = ["", f"  {'deployment':<44}{'worst':<26}{'findings':>9}   work"]
    for row in summary.deployments[:MOST_DEPLOYMENTS]:
        name = shorten(row.deployment.id, 42)
        worst = ANSWERS[row.worst] if row.findings else "nothing found"
        lines.append(f"  {name:<44}{worst:<26}{row.findings:>9,}   {row.days}")
    if len(summary.deployments) > MOST_DEPLOYMENTS:
        lines.append(f"  and {len(summary.deployments) - MOST_DEPLOYMENTS} more")
    if len(summary.order) > 1:
        first = ", ".join(shorten(name, 42) for name in summary.order[:MOST_BLOCKERS])
        lines += _wrapped(
            f"move in this order, what has least in its way first: {first}{' ...' if len(summary.order) > MOST_BLOCKERS else ''}",
            "  ",
        )
    return lines


def _not_read(a: Assessment) -> Iterator[str]:
    """Say what the numbers do not cover."""
    left = a.left_out
    notes: list[str] = []
    if a.problems:
        notes.append(f"{len(a.problems)} problems while reading, told on stderr")
    if left.links:
        notes.append(f"{left.links} links not followed (name their targets to have them read)")
    if left.special:
        notes.append(f"{left.special} sockets, devices or pipes not opened")
    if left.excluded:
        notes.append(f"{left.excluded} paths excluded")
    if a.unread:
        shown = ", ".join(f"{shorten(path, 60)}:{use.line}" for path, use in a.unread[:MOST_UNREAD])
        more = (
            f" and {len(a.unread) - MOST_UNREAD:,} more (--format json has all)" if len(a.unread) > MOST_UNREAD else ""
        )
        notes.append(
            f"{len(a.unread):,} files mention CUDA or NVIDIA in ways that are not read, look at them: {shown}{more}"
        )
    if a.unjudged:
        names = ", ".join(f"{name} ({count})" for name, count in a.unjudged.most_common(5))
        notes.append(f"seen and not judged: {visible(names)}")
    if notes:
        yield ""
        yield "not covered"
        yield from (f"  {note}" for note in notes)


def _percent(part: int, whole: int) -> str:
    if not part:
        return "-"
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 0.5 else "< 1 %"


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _wrapped(text: str, indent: str) -> Iterator[str]:
    """Yield a text in lines of the usual width, later ones further in; at most three, so that one text never fills the screen."""
    words, line, lines = shorten(text, 3 * _WIDTH - 20).split(" "), indent, list[str]()
    for word in words:
        if len(line) + len(word) > _WIDTH and line.strip():
            lines.append(line.rstrip())
            line = indent + "     "
        line += word + " "
    yield from [*lines, line.rstrip()]
