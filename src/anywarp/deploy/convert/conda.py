"""conda's environment files: channels, packages, and what pip is to add.

No channel of conda has torch for ROCm; pip has, so such packages wait for a person, and what pip adds is converted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.catalogue import replacements
from anywarp.deploy.convert import packages
from anywarp.deploy.convert.compose import held, variables
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal
from anywarp.deploy.convert.yaml_text import Entry, YamlText
from anywarp.migrate.formats import command_words, requirements

NAME = "conda"


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is an environment of conda."""
    if path.suffix.lower() not in (".yml", ".yaml") or b"apiVersion:" in data:
        return False
    named = re.search(r"env|conda", path.name.lower()) is not None
    return re.search(rb"(?m)^dependencies:", data) is not None and (
        named or re.search(rb"(?m)^channels:", data) is not None
    )


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of an environment."""
    text = YamlText(data)
    entries = list(text.entries())
    findings: list[Finding] = []
    gone: list[tuple[Entry, str, str]] = []
    pip: list[Entry] = []
    for entry in entries:
        if entry.key is not None or entry.value.kind != "scalar":
            continue
        if entry.path == ("dependencies",):
            _package(text, entry, findings, gone)
        elif entry.path == ("dependencies", "pip"):
            pip.append(entry)
        elif entry.path == ("channels",) and entry.value.text == "nvidia":
            gone.append((entry, "the channel holds NVIDIA's packages only", "conda channel nvidia"))
    refused = any(isinstance(one, Refusal) for one in findings)
    yield from findings
    for entry, reason, source in gone:
        place = text.removal(entry)
        if refused or place is None:
            yield Note(*text.span(entry.value), "stays with the packages that cannot move: " + reason)
        else:
            yield Change(*place, b"", reason, source)
    yield from _pip(text, pip, options)
    for root in text.documents:
        yield from variables(text, root.get("variables"), held(text), options)


def _package(text: YamlText, entry: Entry, findings: list[Finding], gone: list[tuple[Entry, str, str]]) -> None:
    written = entry.value.text
    spec = command_words.conda(written)
    row = replacements.package(spec.name, "conda") if spec else None
    start, end = text.span(entry.value)
    if row is None and re.search(r"=.*cuda", written):
        findings.append(
            Refusal(
                start, end, "a build for CUDA is asked for by its name", "leave the build out", "", packages.REFUSED
            )
        )
    elif row is not None and row["conversion"] == "remove":
        gone.append((entry, row["reason"], row["source"]))
    elif row is not None:
        help = f"use {row['target']}" if row["target"] else "do without"
        findings.append(Refusal(start, end, row["reason"], help, row["source"], packages.REFUSED))


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
        answer = packages.index(address, options)
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
            yield Refusal(start, end, answer.reason, answer.help or "take it out", answer.source, packages.REFUSED)
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
