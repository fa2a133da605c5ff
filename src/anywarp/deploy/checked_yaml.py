"""YAML that people write for us, held against a model, with the line and column of each mistake.

A file may come from anywhere: size, depth and the number of nodes (aliases count as often as they are used) are bounded, and keys given
twice are refused, which YAML forbids and most readers overlook.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from anywarp.diagnostics import AnywarpError, Diagnostic, Source, Span

MOST_BYTES, MOST_NODES, MOST_DEPTH, MOST_PROBLEMS = 1 << 20, 20_000, 24, 20
MOST_BRACKETS = 64
_NESTING = re.compile(r"[\[\]{}]|(?:[-?] ){24}|(?m:^ {200})")
_TAG = "tag:yaml.org,2002:"

Node = Any
"""A node of ruamel.yaml, which has no types: `id` says what it is."""


M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Form(Generic[M]):
    """A kind of file: its model, the code of its mistakes, what one is called (`plan`), and what helps who has none, or a wrong one."""

    model: type[M]
    code: str
    what: str
    first: str
    keys: str


class FileErrors(AnywarpError):
    """Raised for a file with mistakes; carries all of them, the first as its own."""

    def __init__(self, problems: list[Diagnostic]) -> None:
        super().__init__(problems[0])
        self.problems = problems


def text_of(path: Path, form: Form[Any]) -> str:
    """Return the text of a file; AnywarpError where it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        text = f"the {form.what} {path} cannot be read: {error.strerror}"
        raise AnywarpError(Diagnostic(form.code, text, help=form.first)) from error
    if len(data) > MOST_BYTES:
        text = f"the {form.what} {path} has more than 1 MiB"
        raise AnywarpError(Diagnostic(form.code, text, help="is it the right file?"))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise AnywarpError(
            Diagnostic(form.code, f"the {form.what} {path} is not UTF-8", help="save it as UTF-8")
        ) from None


def parse(text: str, name: str, form: Form[M]) -> M:
    """Return what a text says, checked; FileErrors with every mistake in it."""
    source = Source(name, text)
    root = _compose(source, form)
    reading = _Reading(source, form)
    value = reading.value(root, 0)
    if reading.problems:
        raise FileErrors(reading.problems)
    try:
        return form.model.model_validate(value)
    except ValidationError as error:
        raise FileErrors([_problem(source, root, one, form) for one in _own(error)[:MOST_PROBLEMS]]) from None


def _own(error: ValidationError) -> list[Any]:
    """Return the errors without those of a list that is said to be too short because what is in it is wrong."""
    every: list[Any] = list(error.errors())
    return [
        one
        for one in every
        if one["type"] != "too_short"
        or all(other is one or other["loc"][: len(one["loc"])] != one["loc"] for other in every)
    ]


def _refuse_depth(source: Source, form: Form[Any]) -> None:
    """Refuse what is nested so deep that the parser would take minutes over it; brackets in texts count, too."""
    depth = 0
    for found in _NESTING.finditer(source.text):
        depth = max(depth + (1 if found[0] in "[{" else -1), 0) if len(found[0]) == 1 else MOST_BRACKETS + 1
        if depth > MOST_BRACKETS:
            raise FileErrors(
                [Diagnostic(form.code, f"nested too deep for a {form.what}", source=source, span=Span(*found.span()))]
            )


def _compose(source: Source, form: Form[Any]) -> Node:
    _refuse_depth(source, form)
    try:
        root: Node = YAML(typ="safe", pure=True).compose(source.text)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    except MarkedYAMLError as error:
        marked: Any = error
        mark = marked.problem_mark or marked.context_mark
        place = int(mark.index) if mark is not None else 0
        raise FileErrors(
            [
                Diagnostic(
                    form.code,
                    f"not YAML: {marked.problem or marked.context}",
                    source=source,
                    span=Span(place, place + 1),
                )
            ]
        ) from None
    except (YAMLError, RecursionError, ValueError) as error:
        raise FileErrors(
            [Diagnostic(form.code, f"not YAML: {str(error) or type(error).__name__}", source=source)]
        ) from None
    if root is None or root.id != "mapping":
        raise FileErrors(
            [
                Diagnostic(
                    form.code,
                    f"a {form.what} is a mapping that begins with `version: 1`",
                    source=source,
                    help=form.first,
                )
            ]
        )
    return root


class _Reading:
    """Makes plain values of nodes, within bounds."""

    def __init__(self, source: Source, form: Form[Any]) -> None:
        self.source, self._form = source, form
        self.problems: list[Diagnostic] = []
        self._nodes = 0

    def value(self, node: Node, depth: int) -> Any:
        self._nodes += 1
        if depth > MOST_DEPTH or self._nodes > MOST_NODES:
            raise FileErrors([self._problem(node, "nested too deep, or too much by aliases")])
        if node.id == "mapping":
            return self._mapping(node, depth)
        if node.id == "sequence":
            return [self.value(one, depth + 1) for one in node.value]
        return self._scalar(node)

    def _mapping(self, node: Node, depth: int) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in node.value:
            if key.id != "scalar":
                self.problems.append(self._problem(key, "a key must be a word"))
            elif key.value in out:
                self.problems.append(self._problem(key, f"the key {key.value} is given twice"))
            else:
                out[str(key.value)] = self.value(value, depth + 1)
        return out

    def _scalar(self, node: Node) -> Any:
        text, tag = str(node.value), str(node.tag).removeprefix(_TAG)
        try:
            if tag == "int":
                return (
                    int(text.replace("_", ""), 0)
                    if text.lstrip("+-")[:2] in ("0x", "0o")
                    else int(text.replace("_", ""))
                )
            if tag == "float":
                return float(text.lower().replace("_", "").replace(".inf", "inf").replace(".nan", "nan"))
        except ValueError:
            pass
        if tag == "bool":
            return text.lower() == "true"
        if tag == "null":
            return None
        if tag not in ("str", "int", "float"):
            self.problems.append(self._problem(node, f"the tag {node.tag} has no place in a {self._form.what}"))
        return text

    def _problem(self, node: Node, message: str) -> Diagnostic:
        return Diagnostic(self._form.code, message, source=self.source, span=_span(node))


def _span(node: Node) -> Span:
    start = node.start_mark.index
    return Span(start, max(start + 1, node.end_mark.index if node.id == "scalar" else start + 1))


def _problem(source: Source, root: Node, error: Any, form: Form[Any]) -> Diagnostic:
    """Say an error of the models where its value, or the mapping that lacks it, stands in the text."""
    place, path, key = root, list[str](), None
    for n, step in enumerate(error["loc"]):
        found = _step(place, step)
        if found is None:
            if error["type"] == "missing" and n == len(error["loc"]) - 1:
                path.append(str(step))
            continue  # the models name the kind of a union's member, which is no key of the file
        key, place = found
        path.append(f"[{step}]" if isinstance(step, int) else str(step))
    where = ".".join(path).replace(".[", "[")
    marked = key if key is not None and error["type"] == "extra_forbidden" else place
    return Diagnostic(
        form.code,
        f"{where + ': ' if where else ''}{_words(error, form)}",
        source=source,
        span=_span(marked),
        help=form.keys,
    )


def _step(node: Node, step: int | str) -> tuple[Node, Node] | None:
    if node.id == "mapping":
        for key, value in node.value:
            if key.value == step:
                return key, value
    if node.id == "sequence" and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None


def _words(error: Any, form: Form[Any]) -> str:
    if error["type"] == "missing":
        return "is missing"
    if error["type"] == "extra_forbidden":
        return f"is no key of a {form.what} at this place"
    if error["type"] in ("union_tag_not_found", "union_tag_invalid"):
        chosen = {name: str(text).replace("'", "") for name, text in error["ctx"].items()}
        return f"needs a `{chosen['discriminator']}`, one of {chosen.get('expected_tags') or 'those that its page describes'}"
    message = str(error["msg"]).removeprefix("Value error, ")
    return message[:1].lower() + message[1:]
