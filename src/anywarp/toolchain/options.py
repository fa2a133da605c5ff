"""Reading nvcc's command line: every spelling nvcc takes, into values by name.

An option that is not in the table is an error that names it, as a build that silently loses an option is hard to understand.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anywarp.toolchain import codes
from anywarp.toolchain.option_table import JOINED, SPELLINGS, Option

REFUSED = ("cuda", "optix-ir", "ltoir")
"""Options that ask for something we cannot make."""

_NESTING_LIMIT = 16
_TRUTH = {"true": True, "false": False, "1": True, "0": False}


@dataclass(slots=True)
class CommandLine:
    """What was asked for: `values` by the option's name, in order; `inputs` in order; `unknown` options to be passed on."""

    values: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    inputs: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])
    macros: list[str] = field(default_factory=list[str])
    """-D and -U as they were given: the order between them matters."""

    def flag(self, name: str) -> bool:
        """Tell whether a flag was given."""
        return name in self.values

    def last(self, name: str, default: str = "") -> str:
        """Return the value given last."""
        return self.values[name][-1] if name in self.values else default

    def all(self, name: str) -> list[str]:
        """Return all values, in order."""
        return self.values.get(name, [])

    def truth(self, name: str, default: bool) -> bool:
        """Return the value of an option that takes true or false."""
        return _TRUTH[self.last(name)] if name in self.values else default


def parse(arguments: Sequence[str]) -> CommandLine:
    """Read a command line. AnywarpError (T002) names the option that is unknown, lacks its value or asks for what we lack."""
    line = read(list(_expanded(arguments, 0)), SPELLINGS)
    forwards = any(line.flag(f"forward-unknown-{to}") for to in ("to-host-compiler", "to-host-linker", "opts"))
    if line.unknown and not forwards:
        raise _bad(f"nvcc has no option {line.unknown[0]!r}", "options for the host's compiler go behind -Xcompiler")
    for name in REFUSED:
        if line.flag(name):
            raise _bad(f"--{name} asks for what we cannot make", "use -ptx, -fatbin or -c")
    return line


def read(words: Sequence[str], known: Mapping[str, Option]) -> CommandLine:
    """Read words with the options `known` by their spellings; what is not known is kept as such. AnywarpError (T002) for values."""
    line = CommandLine()
    at = 0
    while at < len(words):
        at = _take(line, words, at, known)
    return line


def _expanded(arguments: Sequence[str], depth: int) -> Iterator[str]:
    """Yield the words, those of --options-file and @file in their place."""
    if depth > _NESTING_LIMIT:
        raise _bad("files of options include each other without end", "leave one out")
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name in ("--options-file", "-optf"):
            files = value if equals else next(words, "")
        elif word.startswith("@"):
            files = word[1:]
        else:
            yield word
            continue
        for file in files.split(","):
            yield from _expanded(_words_of(file), depth + 1)


def _words_of(file: str) -> list[str]:
    try:
        return shlex.split(Path(file).read_text(encoding="utf-8"), comments=False)
    except OSError as error:
        raise _bad(f"the file of options {file!r} cannot be read: {error.strerror}", "check its path") from error


def _take(line: CommandLine, words: Sequence[str], at: int, known: Mapping[str, Option]) -> int:
    """Take the word at `at`, and the next where it is its value; return where to go on."""
    word = words[at]
    if not word.startswith("-") or word == "-":
        line.inputs.append(word)
        return at + 1
    option, value = _recognised(word, known)
    if option is None:
        line.unknown.append(word)
        return at + 1
    if option.kind == "flag":
        line.values.setdefault(option.name, [])
        return at + 1
    step = 1
    if value is None:
        if at + 1 >= len(words):
            raise _bad(f"{word} wants a value", "write it behind the option")
        value, step = words[at + 1], 2
    _keep(line, option, word, value)
    return at + step


def _recognised(word: str, known: Mapping[str, Option]) -> tuple[Option | None, str | None]:
    """Return the option that a word is, and its value where it stands in the same word."""
    if word in known:
        return known[word], None
    name, equals, value = word.partition("=")
    if equals and name in known and known[name].kind != "flag":
        return known[name], value
    if word[:2] in JOINED and word[:2] in known:
        return known[word[:2]], word[2:]
    return None, None


def _keep(line: CommandLine, option: Option, word: str, value: str) -> None:
    if option.kind == "bool" and value not in _TRUTH:
        raise _bad(f"{word} takes true or false, not {value!r}", "write true or false")
    values = _listed(value) if option.kind == "list" else [value]
    line.values.setdefault(option.name, []).extend(values)
    letter = {"define-macro": "-D", "undefine-macro": "-U"}.get(option.name)
    line.macros += [f"{letter}{value}" for value in values] if letter else []


def _listed(value: str) -> list[str]:
    """Split at commas; a comma behind a backslash or in quotes stays."""
    parts: list[str] = []
    current, quote, escaped = "", "", False
    for character in value:
        if escaped:
            current += character if character == "," else "\\" + character
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == "," and not quote:
            parts.append(current)
            current = ""
        else:
            quote = _quote_after(quote, character)
            current += character
    parts.append(current + ("\\" if escaped else ""))
    return [part for part in parts if part]


def _quote_after(quote: str, character: str) -> str:
    if character != '"' or quote not in ("", '"'):
        return quote
    return "" if quote else '"'


def _bad(message: str, help: str) -> Exception:
    return codes.problem(codes.BAD_OPTION, message, help)
