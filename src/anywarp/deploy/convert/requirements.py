"""requirements.txt: packages for CUDA and the indexes they come from.

pip reads such a file as one request: options hold for all of it, wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.deploy.convert import packages
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal
from anywarp.migrate.formats import requirements
from anywarp.migrate.formats.requirements import INDEXES, Line, Option
from anywarp.migrate.rulings.packages import index
from anywarp.migrate.scan import HEAD

NAME = "requirements"


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a file of requirements or constraints."""
    return requirements.named(path, data[:HEAD])


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a file of requirements."""
    lines = list(requirements.lines(data.decode("latin-1")))
    wanted = [packages.Wanted(one.request, *one.span, (one.start, one.end), one.hashed) for one in lines if one.request]
    addresses = [(line, option) for line in lines for option in line.options if option.name in INDEXES]
    moved = any(re.search(r"/whl/(?:nightly/)?(?:cpu|rocm|xpu)", one.value) for _, one in addresses)
    exclusive = any(one.name == "--index-url" and "/whl/" in one.value for _, one in addresses)
    plan = packages.plan(wanted, options, exclusive)
    settled = [one for one in plan.findings if not moved or not _of_family(data, one)]
    yield from settled
    for line, one in addresses:
        answer = index(one.value, options.target)
        start, end = one.start, one.end
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
            yield Change(*_removal(line, one), b"", answer.reason, answer.source)
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


def _removal(line: Line, option: Option) -> tuple[int, int]:
    """Return the bytes that must go for an option to go: its line, where nothing else is on it."""
    if line.options == (option,) and not line.request:
        return line.start, line.end
    return option.written, option.end


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return (line.comment for line in requirements.lines(data.decode("latin-1")) if line.comment is not None)
