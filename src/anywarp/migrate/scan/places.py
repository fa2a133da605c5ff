"""Nodes of an outline seen with the keys above them, and what every kind of YAML says alike: images, variables, commands.

A key such as `nvidia.com/gpu` is a resource, a label or a taint by what stands above it; a command is shell wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from anywarp.migrate.findings import Use
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.scan import commands, shell
from anywarp.migrate.scan.lines import Lines, Piece, Seen

ABOVE = 4
"""How many keys above a place are remembered."""

_SET = re.compile(r"[A-Z][A-Z0-9_]+=")


@dataclass(frozen=True, slots=True)
class Place:
    """A value with its key (None for entries of a sequence without one), the mapping it stands in, and the keys above, nearest last."""

    key: Node | None
    value: Node
    holder: Node
    above: tuple[str, ...]

    @property
    def name(self) -> str:
        """The key's text."""
        return self.key.text if self.key is not None else ""


def places(root: Node) -> Iterator[Place]:
    """Yield every key with its value below a node in the order of the text, each once where it is written: no alias is followed."""
    stack: list[tuple[Node, Node, tuple[str, ...]]] = [(root, root, ())]
    while stack:
        node, holder, above = stack.pop()
        if node.kind == "list":
            stack.extend((entry, holder, above) for entry in reversed(node.entries))
            continue
        following: list[tuple[Node, Node, tuple[str, ...]]] = []
        for key, value in node.pairs:
            yield Place(key, value, node, above)
            if value.kind != "scalar":
                following.append((value, node, (*above, key.text)[-ABOVE:]))
        stack.extend(reversed(following))


def text_of(node: Node) -> Piece:
    """Return a scalar's text with its places: exact for block scalars and scalars on one line."""
    if node.body:
        return Piece(node.text, node.body, node.indent + 1, node.indent)
    return Piece(node.text.replace("\n", " "), node.line, node.column + node.quoted, 0)


def run(lines: Lines, node: Node) -> Iterator[Use]:
    """Yield what a command says: shell text, a list of texts, or a list of words; nothing for one that was read before."""
    node = node.real()
    if not lines.first("run", node):
        return
    if node.kind == "scalar":
        if node.text:
            yield from lines.found_in(text_of(node), _opened(node.text))
    elif node.kind == "list":
        yield from _words(lines, [entry.real() for entry in node.entries])


def _opened(text: str) -> Iterator[Seen]:
    return shell.script(text)


def _words(lines: Lines, entries: list[Node]) -> Iterator[Use]:
    """A list is one command with its words (Kubernetes, Docker) or one command line per entry (workflows): both are looked at."""
    scalars = [entry for entry in entries if entry.kind == "scalar"]
    alone = [entry for entry in scalars if entry.body or re.search(r"\s", entry.text)]
    apart = {id(entry) for entry in alone}
    bare = bool(scalars) and scalars[0].text.startswith(
        "-"
    )  # arguments of a program named elsewhere, which may read what is printed
    for entry in [*alone, *([scalars[1]] if bare and len(scalars) == 2 and id(scalars[1]) not in apart else [])]:
        for use in run(lines, entry):
            read = bare and use.subject == "command.nvidia-smi" and not use.detail("read")
            yield (
                Use(use.subject, use.name, use.line, use.column, use.text, (*use.details, ("read", "yes")))
                if read
                else use
            )
    if bare:
        return
    if len(alone) < len(scalars):
        words = [(entry.text, place) for place, entry in enumerate(scalars) if id(entry) not in apart]
        for one in commands.seen_in(words):
            entry = scalars[min(one.offset, len(scalars) - 1)]
            yield lines.use_at(one.subject, one.name, entry.line, entry.column + entry.quoted, **dict(one.details))


def variables(lines: Lines, place: Place) -> Iterator[Use]:
    """Yield variables of CUDA's that a place sets: `- name: X` with `value:`, `X: value` in a mapping, `- X=value`."""
    if (
        place.name == "name"
        and place.value.kind == "scalar"
        and (place.holder.get("value") or place.holder.get("valueFrom"))
    ):
        value = place.holder.value("value")
        yield from _variable(lines, place.value.text, value, place.value)
    elif (
        place.value.kind == "scalar" and place.key is not None and not place.value.body and _is_environment(place.above)
    ):
        yield from _variable(lines, place.key.text, place.value.text, place.key)
    elif place.name in ("environment", "env", "variables") and place.value.kind == "list":
        for entry in place.value.entries:
            if entry.kind == "scalar" and _SET.match(entry.text):
                name, _, value = entry.text.partition("=")
                yield from _variable(lines, name, value, entry)


def _is_environment(above: tuple[str, ...]) -> bool:
    return (
        bool(above)
        and re.fullmatch(r"(?i)env|environment|variables|extraEnv\w*|envVars?|\w+Env|build_?args|args", above[-1])
        is not None
    )


def _variable(lines: Lines, name: str, value: str, node: Node) -> Iterator[Use]:
    for one in commands.set_variable(name, value, 0):
        yield lines.use_at(one.subject, one.name, node.line, node.column, **dict(one.details))


def image(lines: Lines, place: Place) -> Iterator[Use]:
    """Yield an image that holds CUDA: `image: reference`, or in parts as charts write it (`repository:` beside `tag:`)."""
    reference, node = reference_of(place)
    if node is not None:
        for one in commands.image_use(reference, 0):
            yield lines.use_at(one.subject, one.name, node.line, node.column, **dict(one.details))


def reference_of(place: Place) -> tuple[str, Node | None]:
    """Return the image that a place names and the node that holds its name, or ("", None)."""
    value = place.value.real()
    if place.name in ("image", "runtimeImage", "imageName", "container_image") and value.kind == "scalar":
        if place.holder.get("repository") and "/" not in value.text:
            return "", None
        if place.name == "imageName" and not re.search(r"[/:]", value.text):
            return "", None  # charts call the key of an image so, too
        return (value.text, place.value) if value.text else ("", None)
    if (
        place.name == "repository"
        and value.kind == "scalar"
        and (
            place.holder.get("tag") or place.holder.get("image") or (place.above and "image" in place.above[-1].lower())
        )
    ):
        inner = place.holder.value("image")
        registry, tag = place.holder.value("registry"), place.holder.value("tag") or place.holder.value("version")
        name = "/".join(part for part in (registry, value.text, inner) if part)
        return f"{name}:{tag}" if tag else name, place.value
    return "", None
