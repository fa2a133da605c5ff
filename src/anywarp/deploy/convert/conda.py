"""conda's environment files: channels, packages, and what pip is to add.

No channel of conda has torch for ROCm; pip has, so such packages wait for a person, and what pip adds is converted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.deploy.convert import packages
from anywarp.deploy.convert.compose import held, variables
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal
from anywarp.deploy.convert.yaml_text import Entry, YamlText
from anywarp.migrate.formats import requirements
from anywarp.migrate.rulings import conda as rulings
from anywarp.migrate.rulings import yaml_kinds
from anywarp.migrate.rulings.answer import Answer
from anywarp.migrate.rulings.packages import REFUSED, index

NAME = "conda"


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is an environment of conda."""
    return yaml_kinds.kind_of_file(path, data) == "conda"


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of an environment."""
    text = YamlText(data)
    entries = list(text.entries())
    pip: list[Entry] = []
    asked: list[tuple[Entry, Answer]] = []
    wanted: list[str] = []
    for entry in entries:
        if entry.key is not None or entry.value.kind != "scalar":
            continue
        answer: Answer | None = None
        if entry.path == ("dependencies",):
            wanted.append(entry.value.text)
            found = rulings.requirement(entry.value.text)
            answer = found.answer if found is not None else None
        elif entry.path == ("channels",):
            answer = rulings.channel(entry.value.text)
        elif entry.path == ("dependencies", "pip"):
            pip.append(entry)
        if answer is not None:
            asked.append((entry, answer))
    staying = rulings.staying(wanted)
    for entry, answer in asked:
        yield _ruled(text, entry, answer, staying)
    yield from _pip(text, pip, options)
    for root in text.documents:
        yield from variables(text, root.get("variables"), held(text), options)


def _ruled(text: YamlText, entry: Entry, answer: Answer, staying: str) -> Finding:
    start, end = text.span(entry.value)
    if answer.action == "refuse":
        return Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
    if answer.action == "keep":
        return Fine(start, end, answer.reason, answer.source)
    place = text.removal(entry)
    if staying or place is None:
        held = f"stays with {staying}, which cannot move: " if staying else "stays, as the text is written: "
        return Note(start, end, held + answer.reason, answer.source)
    return Change(*place, b"", answer.reason, answer.source)


def _pip(text: YamlText, entries: list[Entry], options: Options) -> Iterator[Finding]:
    wanted: list[packages.Wanted] = []
    addresses: list[tuple[Entry, str]] = []
    for entry in entries:
        line = requirements.single(entry.value.text)
        start, end = text.span(entry.value)
        addresses += [(entry, option.value) for option in line.options if option.name in requirements.INDEXES]
        if line.request:
            wanted.append(packages.Wanted(entry.value.text, start, end, text.removal(entry)))
    moved = any(re.search(r"/whl/(?:nightly/)?(?:cpu|rocm|xpu)", address) for _, address in addresses)
    plan = packages.plan(wanted, options, exclusive=False)
    yield from plan.findings
    for entry, address in addresses:
        answer = index(address, options.target)
        start, end = text.span(entry.value)
        start = text.data.find(address.encode(), start, end)
        if answer is None or start < 0:
            continue
        if plan.blocked and answer.action == "replace":
            yield Note(start, end, "stays with the packages that cannot move")
        elif answer.action == "replace":
            moved = True
            yield Change(start, start + len(address), answer.text.encode(), answer.reason, answer.source)
        elif answer.action == "refuse" or answer.action == "remove":
            yield Refusal(start, end, answer.reason, answer.help or "take it out", answer.source, REFUSED)
        else:
            yield Fine(start, end, answer.reason, answer.source)
    if plan.index and not moved and wanted:
        row = packages.torch_index(options)
        first = text.at(entries[0].value.line, 1)
        indent = text.text[first : text.start(entries[0].value)].partition("-")[0]
        newline = "\r\n" if b"\r\n" in text.data else "\n"
        line = f"{indent}- --extra-index-url {row['target']}{newline}"
        yield Change(text.byte(first), text.byte(first), line.encode(), row["reason"], row["source"])


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return YamlText(data).comments()
