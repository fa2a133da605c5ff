"""Workflows of GitHub and pipelines of GitLab: images, runners, variables and steps.

Which runners have AMD GPUs is for their owner to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.deploy.convert import commands, docker_run
from anywarp.deploy.convert.compose import answered, held, variables
from anywarp.deploy.convert.model import Change, Finding, Note, Options, Refusal
from anywarp.deploy.convert.prometheus import within
from anywarp.deploy.convert.yaml_text import Entry, YamlText
from anywarp.migrate.formats import command_words
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.formats.shell_words import split
from anywarp.migrate.rulings import images, packages, workflows, yaml_kinds

NAME = "ci"


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a workflow or a pipeline."""
    return yaml_kinds.kind_of_file(path, data) == "ci"


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a workflow or a pipeline."""
    text = YamlText(data)
    entries = held(text)
    for entry in text.entries():
        name = entry.key.text if entry.key is not None else ""
        if name in ("env", "variables", "environment") and entry.value.kind in ("map", "list"):
            yield from variables(text, entry.value, entries, options)
        elif entry.value.kind == "scalar":
            yield from _scalar(text, entry, name, options)


def _scalar(text: YamlText, entry: Entry, name: str, options: Options) -> Iterator[Finding]:
    value, role = entry.value, workflows.role(name, entry.path)
    if role == "image":
        yield from answered(text, value, images.image(value.text, options.target, options.images))
    elif role == "image or index":
        answer = packages.index(value.text, options.target)
        if answer is not None and answer.action == "remove":
            yield Refusal(*text.span(value), answer.reason, "take it out", answer.source, packages.REFUSED)
        else:
            yield from answered(text, value, answer or images.image(value.text, options.target, options.images))
    elif role == "script" or (role == "words" and " " in value.text):
        yield from within(text, value, lambda inner: commands.commands(inner, options))
    elif role == "runner":
        yield from _runner(text, value, options)
    elif role == "options":
        yield from within(text, value, _options)
    elif role == "action":
        yield from answered(text, value, workflows.action(value.text))
    elif name == "name" and re.search(r"(?i)cuda|nvidia|nccl|gpu", value.text):
        yield Note(*text.span(value), "a name for people, which others may go by")


def _runner(text: YamlText, node: Node, options: Options) -> Iterator[Finding]:
    given = options.mapping.get(("runner", node.text))
    if given is not None:
        yield Change(*text.span(node), given[1].encode(), "as given by --map", "--map")
    else:
        yield from answered(text, node, workflows.runner(node.text))


def _options(data: bytes) -> Iterator[Finding]:
    for command in split(data.decode("latin-1")):
        yield from docker_run.devices(command, command_words.container(command.words, 0)[0])


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return YamlText(data).comments()
