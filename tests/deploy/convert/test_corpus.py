"""Every pair in tests/cases/convert: the text becomes what is given by hand, and what is left to a person is what is given."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path, PurePath

import pytest

from anywarp.deploy.convert import answers, sweep
from anywarp.deploy.convert.engine import Converted, convert
from anywarp.deploy.convert.model import Change, Options
from anywarp.migrate.target import parse_target

CASES = Path(__file__).parents[2] / "cases" / "convert"
_KEYS = {"file", "target", "rocm", "card", "naming", "map", "image", "left"}


@dataclass(frozen=True)
class Case:
    why: str
    head: dict[str, list[str]]
    before: bytes
    after: bytes

    def options(self) -> Options:
        first = {key: values[0] for key, values in self.head.items() if values}
        target = parse_target(first.get("target", "hip:gfx942"), first.get("rocm", "7.1"))
        return Options(
            target=target,
            card=answers.card(first.get("card", ""), target),
            naming="mixed" if first.get("naming") == "mixed" else "single",
            mapping=answers.mapping(self.head["map"]),
            images=answers.images(self.head["image"]),
        )


def read(path: Path) -> Case:
    head, *sections = re.split(r"(?m)^=== (before|after|unchanged)\n", path.read_bytes().decode())
    lines = head.rstrip("\n").split("\n")
    options: dict[str, list[str]] = defaultdict(list)
    for line in lines[1:]:
        key, _, value = line.partition(": ")
        assert key in _KEYS, f"{path.name}: no such key: {line!r}"
        options[key].append(value)
    texts = dict(zip(sections[::2], sections[1::2], strict=True))
    assert "before" in texts and ("after" in texts) != ("unchanged" in texts), f"{path.name}: sections"
    assert texts.get("after") != texts["before"], f"{path.name}: write === unchanged"
    return Case(lines[0], options, texts["before"].encode(), texts.get("after", texts["before"]).encode())


def converted(case: Case, data: bytes) -> Converted:
    name = case.head["file"][0] if case.head["file"] else "deployment.yaml"
    return convert(data, PurePath(name), case.options())


PATHS = sorted(CASES.glob("*/*.txt"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_becomes_what_is_written_by_hand(path: Path) -> None:
    case = read(path)
    assert case.why.endswith(".") and len(case.why) > 20, "the first line says why"
    result = converted(case, case.before)
    assert result.new.decode() == case.after.decode()
    left = sorted(f"{r.code} {_first_line(case.before[r.start : r.end])}" for r in result.refusals)
    assert left == sorted(case.head["left"])
    again = converted(case, result.new)
    assert again.changes == (), "converting twice"
    _untouched(result)
    spoken = [(finding.start, finding.end) for finding in result.findings]
    assert not list(sweep.uncovered(result.old, spoken)), "a mention of NVIDIA that nobody spoke for"


def _first_line(data: bytes) -> str:
    return data.decode().strip().split("\n")[0]


def _untouched(result: Converted) -> None:
    """What lies between two changes is there after them, byte by byte and in order."""
    done = place = 0
    for change in (f for f in result.findings if isinstance(f, Change)):
        kept = result.old[done : change.start]
        assert result.new[place : place + len(kept)] == kept
        place += len(kept) + len(change.replacement)
        done = change.end
    assert result.new[place:] == result.old[done:]


def test_there_are_enough_pairs() -> None:
    assert len(list((CASES / "kubernetes").glob("*.txt"))) >= 60
