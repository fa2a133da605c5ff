"""Reading the pairs of tests/cases/translate: what a pair is, and where all of them are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "cases" / "translate"

KEYS = ("file", "target", "rocm", "launch", "keep-cuda", "codes")


@dataclass(frozen=True)
class Pair:
    """One construct: why, the text before, the text after, the options and the codes of the diagnostics."""

    name: str
    why: str
    before: bytes
    after: bytes
    file: str = "kernel.cu"
    target: str = "hip:gfx942"
    rocm: str = "7.1"
    launch: str = "keep"
    keep_cuda: bool = False
    codes: tuple[str, ...] = ()


def read_pair(path: Path) -> Pair:
    """Return the pair of one file; ValueError that names the file where it is no pair."""
    head, sections = _parts(path)
    if not head or ":" in head[0].split(" ")[0]:
        raise ValueError(f"{path}: the first line must say why")
    options = dict[str, str]()
    for line in head[1:]:
        key, colon, value = line.partition(":")
        if not colon or key not in KEYS:
            raise ValueError(f"{path}: unknown line in the head: {line!r}")
        options[key] = value.strip()
    names = tuple(sections)
    if names not in (("before", "after"), ("before", "unchanged")):
        raise ValueError(f"{path}: sections must be before and after (or unchanged), not {names}")
    before = sections["before"]
    after = sections.get("after", before)
    if "after" in sections and after == before:
        raise ValueError(f"{path}: before and after are the same; say '=== unchanged'")
    return Pair(
        name="/".join(path.relative_to(FOLDER).with_suffix("").parts),
        why=head[0],
        before=before.encode(),
        after=after.encode(),
        file=options.get("file", "kernel.cu"),
        target=options.get("target", "hip:gfx942"),
        rocm=options.get("rocm", "7.1"),
        launch=options.get("launch", "keep"),
        keep_cuda=options.get("keep-cuda", "no") == "yes",
        codes=tuple(sorted(options.get("codes", "").replace(",", " ").split())),
    )


def _parts(path: Path) -> tuple[list[str], dict[str, str]]:
    head, sections, current = list[str](), dict[str, str](), ""
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("=== "):
            current = line[4:].strip()
            if current in sections:
                raise ValueError(f"{path}: two sections {current}")
            sections[current] = ""
        elif current:
            sections[current] += line
        elif line.strip():
            head.append(line.strip())
    return head, sections


def all_pairs() -> list[Pair]:
    """Return every pair of the corpus, sorted by name."""
    return [read_pair(path) for path in sorted(FOLDER.glob("*/*.txt"))]
