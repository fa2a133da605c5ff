"""requirements.txt: packages for CUDA and the indexes they come from.

pip reads such a file as one request: options hold for all of it, wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from anywarp.deploy.convert import packages
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal

NAME = "requirements"
_LINE = re.compile(r"[^\n]*?(?:\\\n[^\n]*?)*(?:\n|\Z)")
_OPTION = re.compile(r"\s*(?P<option>--index-url|-i|--extra-index-url|--find-links|-f)(?:[ \t=]+)(?P<address>[^\s#]+)")
_TAIL = re.compile(
    r"[ \t]+#[^\n]*|(?:[ \t]|\\\n)+--(?:hash|config-settings|global-option)[^\n]*(?:\\\n[^\n]*)*|[ \t\\\n]+\Z"
)


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a file of requirements or constraints."""
    name = path.name.lower()
    if path.suffix.lower() not in (".txt", ".in", ".pip"):
        return False
    return bool(re.search(r"require|constraint", name)) or (
        bool(path.parts[:-1]) and path.parts[-2].lower() == "requirements"
    )


@dataclass(frozen=True, slots=True)
class Address:
    """An option that names an index, and its line."""

    option: str
    text: str
    start: int
    line: tuple[int, int]


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a file of requirements."""
    wanted, addresses = _read(data.decode("latin-1"))
    moved = any(re.search(r"/whl/(?:nightly/)?(?:cpu|rocm|xpu)", one.text) for one in addresses)
    exclusive = any(one.option in ("--index-url", "-i") and "/whl/" in one.text for one in addresses)
    plan = packages.plan(wanted, options, exclusive)
    settled = [one for one in plan.findings if not moved or not _of_family(data, one)]
    yield from settled
    for one in addresses:
        answer = packages.index(one.text, options)
        start, end = one.start, one.start + len(one.text)
        if answer is None:
            continue
        if plan.blocked and answer.action == "replace":
            yield Note(start, end, "stays with the packages that cannot move")
        elif answer.action == "replace":
            moved = True
            yield Change(start, end, answer.text.encode(), answer.reason, answer.source)
        elif answer.action == "remove" and any(isinstance(found, Refusal) for found in settled):
            yield Note(start, end, "stays with the packages that stay", answer.source)
        elif answer.action == "remove":
            yield Change(*one.line, b"", answer.reason, answer.source)
        elif answer.action == "refuse":
            yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
        else:
            yield Fine(start, end, answer.reason, answer.source)
    if plan.index and not moved:
        yield _added(data, wanted, options)


def _of_family(data: bytes, finding: Finding) -> bool:
    return re.match(rb"torch(?:vision|audio)?\b", data[finding.start : finding.end]) is not None


def _added(data: bytes, wanted: list[packages.Wanted], options: Options) -> Change:
    row = packages.torch_index(options)
    first = next(one for one in wanted if re.match(r"torch(?:vision|audio)?(?![\w-])", one.text.strip()))
    start = first.line[0] if first.line else 0
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    return Change(start, start, f"--extra-index-url {row['target']}".encode() + newline, row["reason"], row["source"])


def _read(text: str) -> tuple[list[packages.Wanted], list[Address]]:
    wanted: list[packages.Wanted] = []
    addresses: list[Address] = []
    place = 3 if text.startswith("\xef\xbb\xbf") else 0
    while place < len(text):
        found = _LINE.match(text, place)
        assert found is not None
        line, start, place = found[0], place, found.end()
        if place == start:
            break
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        option = _OPTION.match(line)
        if option:
            span = (start, place)
            addresses.append(Address(option["option"], option["address"], start + option.start("address"), span))
        elif not bare.startswith("-"):
            lead = len(line) - len(line.lstrip())
            body = line[lead:].rstrip("\r\n")
            tail = _TAIL.search(body)
            request = body[: tail.start()] if tail else body
            wanted.append(
                packages.Wanted(request, start + lead, start + lead + len(request), (start, place), "--hash" in line)
            )
    return wanted, addresses


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return (found.span() for found in re.finditer(r"(?m)(?:^|(?<=[ \t]))#[^\n]*", data.decode("latin-1")))
