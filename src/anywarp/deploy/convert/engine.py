"""Convert one text: ask the kind that wants it, make the edits, and list every mention of NVIDIA that nobody spoke for.

Edits are made at once in the bytes as they were, so that what no rule touches keeps every space and comment.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from anywarp.deploy.convert import agreement, codes, registry, sweep
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal
from anywarp.migrate.writing import Edit, apply

_ELSEWHERE = {
    **dict.fromkeys((".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hh"), "`anywarp translate` turns CUDA C++ into HIP"),
    **dict.fromkeys((".py", ".pyi", ".ipynb"), "`anywarp assess` says what of a Python program runs as it is"),
    **dict.fromkeys((".go", ".rs", ".java", ".js", ".ts", ".tsx", ".jsx", ".rb", ".swift", ".proto"), "source code"),
    **dict.fromkeys((".md", ".rst", ".txt", ".adoc", ".html", ".svg"), "a text for people: read it again when the rest is done"),
}  # fmt: skip
"""Endings of files that mention CUDA and are not for this command, with what is."""

_FAR = 1 << 62
_KNOWN_TEXTS = (
    "LICENSE",
    "NOTICE",
    "COPYING",
    "README",
    "CHANGELOG",
    "AUTHORS",
    "CODEOWNERS",
    "OWNERS",
    ".GITIGNORE",
    ".DOCKERIGNORE",
    ".HELMIGNORE",
)


@dataclass(frozen=True, slots=True)
class Converted:
    """What became of one text: its new bytes, and the findings in the order of their places in the old one."""

    kind: str
    old: bytes
    new: bytes
    findings: tuple[Finding, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(finding for finding in self.findings if isinstance(finding, Change))

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        return tuple(finding for finding in self.findings if isinstance(finding, Refusal))

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(finding for finding in self.findings if isinstance(finding, Note))

    def edits(self) -> list[Edit]:
        """Return the changes as edits, in order."""
        return [Edit(change.start, change.end, change.replacement) for change in self.changes]


def convert(data: bytes, path: PurePath, options: Options, only: Sequence[str] = ()) -> Converted:
    """Convert one text, which lies at `path`; with `only`, texts of other kinds stay and are not spoken of.

    A text that does not mention NVIDIA at all stays as it is.
    """
    silent = not sweep.mentions_nvidia(data)
    if silent and not sweep.implies_nvidia(data) and not _answered(data, options):
        return Converted("", data, data, ())
    kind = registry.kind_of(path, data)
    if kind is None:
        return Converted("", data, data, () if only or silent else tuple(_strange(data, path)))
    if only and kind.NAME not in only:
        return Converted(kind.NAME, data, data, ())
    findings = _settled(_real(data, finding) for finding in kind.convert(data, path, options))
    findings += _left(data, findings, list(kind.comments(data)))
    findings = agreement.agreed(data, findings, options)
    findings.sort(key=lambda finding: (finding.start, finding.end))
    edits = [Edit(f.start, f.end, f.replacement) for f in findings if isinstance(f, Change)]
    return Converted(kind.NAME, data, apply(data, edits), tuple(findings))


def _real(data: bytes, finding: Finding) -> Finding:
    """Turn a change that changes nothing into a word that the place is fine."""
    if isinstance(finding, Change) and data[finding.start : finding.end] == finding.replacement:
        return Fine(finding.start, finding.end, finding.reason, finding.source)
    return finding


def _answered(data: bytes, options: Options) -> bool:
    """Say whether a text holds something that the user gave an answer for."""
    given = [old for _, old in options.mapping] + list(options.images)
    return any(old.encode() in data for old in given if old)


def _settled(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by place, drop changes that say the same twice, and turn a change that clashes with another into a refusal."""
    found = sorted(
        dict.fromkeys(findings), key=lambda finding: (finding.start, finding.end > finding.start, -finding.end)
    )
    out: list[Finding] = []
    last: Change | None = None
    for finding in found:
        if not isinstance(finding, Change):
            out.append(finding)
        elif last is None or (finding.start >= last.end and (finding.start, finding.end) != (last.start, last.end)):
            out.append(finding)
            last = finding
        elif not (last.start <= finding.start and finding.end <= last.end):
            reason = f"two rules want to change this place: {last.reason}; {finding.reason}"
            out.append(Refusal(finding.start, finding.end, reason, "convert this place by hand", code=codes.CLASH))
    return out


def _left(data: bytes, findings: list[Finding], comments: list[tuple[int, int]]) -> list[Finding]:
    """List the mentions of NVIDIA that no finding covers; those in comments are only noted."""
    spans = [(finding.start, finding.end) for finding in findings]
    out: list[Finding] = []
    left = list(sweep.uncovered(data, spans))
    loud = _outside(left, comments)
    for start, end in left:
        if (start, end) in loud:
            reason = "this mentions NVIDIA, and no rule knows what it means here"
            help = "look whether it matters on AMD GPUs, and change it by hand"
            out.append(Refusal(start, end, reason, help, code=codes.NOT_CONVERTED))
        else:
            out.append(Note(start, end, "a comment that mentions NVIDIA was left as it is"))
    return out


def _outside(places: list[tuple[int, int]], comments: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the places that begin in none of the comments."""
    starts = sorted(comments)
    out: set[tuple[int, int]] = set()
    for start, end in places:
        index = bisect_right(starts, (start, _FAR)) - 1
        if index < 0 or starts[index][1] <= start:
            out.add((start, end))
    return out


def _strange(data: bytes, path: PurePath) -> list[Finding]:
    """Speak for a file that mentions NVIDIA and is of no kind that is converted, once."""
    start, end = next(sweep.uncovered(data, ()))
    count = sum(1 for _ in sweep.uncovered(data, ()))
    if b"\0" in data[:8192]:
        return [Note(start, end, f"a binary file that mentions NVIDIA ({count} times); `anywarp assess` looks into it")]
    elsewhere = _ELSEWHERE.get(path.suffix.lower())
    if elsewhere is None and path.stem.upper().startswith(_KNOWN_TEXTS):
        elsewhere = "a text for people: read it again when the rest is done"
    if elsewhere is not None:
        return [Note(start, end, f"mentions NVIDIA {count} times and is not for this command: {elsewhere}")]
    reason = f"mentions NVIDIA {count} times, and files of this kind are not converted"
    return [Refusal(start, end, reason, "look it through by hand", code=codes.NOT_CONVERTIBLE_FILE)]
