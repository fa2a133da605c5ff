"""Workflows of GitHub, GitLab, CircleCI and others: on which machines jobs run, in which images, and what their steps do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.migrate.findings import Use
from anywarp.migrate.formats import command_words
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.formats.shell_words import split
from anywarp.migrate.rulings import workflows
from anywarp.migrate.scan import commands, declared, places
from anywarp.migrate.scan.lines import Lines, Seen
from anywarp.migrate.scan.places import Place

_AXIS = re.compile(r"(?i)^cuda(?:[-_]?version|[-_]?arch\w*|[-_]?major|[-_]?toolkit)?s?$|^cu[-_]?version$")


def document(lines: Lines, root: Node) -> Iterator[Use]:
    """Yield what the jobs of a workflow say about CUDA, and which images they build."""
    for place in places.places(root):
        yield from places.variables(lines, place)
        value = place.value.real()
        role = workflows.role(place.name, place.above)
        if value.kind == "list" and role == "script" and workflows.role("", (place.name,)) == "script":
            for entry in value.entries:
                yield from places.run(lines, entry)
        elif role == "script":
            yield from places.run(lines, place.value)
        elif value.kind == "scalar":
            yield from _scalar(lines, place, value, role)
        elif value.kind == "list" and lines.first("list", value):
            path = (*place.above, place.name)
            for entry in value.entries:
                if entry.kind == "scalar":
                    yield from _scalar(lines, Place(None, entry, value, path), entry, workflows.role("", path))
        yield from _axis(lines, place)
        yield from _step(lines, place)


def _scalar(lines: Lines, place: Place, node: Node, role: workflows.Role) -> Iterator[Use]:
    if role == "runner":
        answer = workflows.runner(node.text)
        if answer is not None and answer.action == "refuse":
            yield lines.use_at("ci.runner", node.text, node.line, node.column)
    elif role == "options":
        yield from lines.found_in(places.text_of(node), _options(node.text))
    elif role in ("image", "image or index"):
        named = Place(Node("scalar", 0, 0, "image"), place.value, place.holder, place.above)
        yield from places.image(lines, named)
        for one in declared.index(node.text, 0, "workflow") if role == "image or index" else ():
            yield lines.use_at(one.subject, one.name, node.line, node.column, **dict(one.details))


def _options(text: str) -> Iterator[Seen]:
    for command in split(text):
        for one in command_words.container(command.words, 0)[0]:
            yield from commands.container_flag(one.name, one.value, command.spans[one.first][0])


def _axis(lines: Lines, place: Place) -> Iterator[Use]:
    if (
        place.key is not None
        and _AXIS.match(place.name)
        and (place.value.kind == "list" or re.match(r"[\"']?\d", place.value.text))
    ):
        values = place.value.text or ", ".join(entry.text for entry in place.value.entries)
        if "with" not in place.above[-1:]:
            yield lines.use_at("ci.matrix", place.name, place.key.line, place.key.column, value=values)


def _step(lines: Lines, place: Place) -> Iterator[Use]:
    if place.name != "uses" or place.value.kind != "scalar":
        return
    text = place.value.text
    with_ = place.holder.get("with")
    if workflows.action(text) is not None:
        yield lines.use_at("ci.action", text, place.value.line, place.value.column)
    elif "build-push-action" in text and with_ is not None:
        tag = with_.value("tags").split("\n")[0].split(",")[0].strip()
        yield lines.use_at(
            "docker.build",
            tag or "image",
            place.value.line,
            place.value.column,
            context=with_.value("context") or ".",
            dockerfile=with_.value("file"),
        )
    elif "setup-micromamba" in text or "setup-miniconda" in text:
        file = with_.value("environment-file") if with_ is not None else ""
        if file:
            yield lines.use_at("deploy.include", file, place.value.line, place.value.column)
