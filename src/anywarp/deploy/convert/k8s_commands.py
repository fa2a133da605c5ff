"""Commands in manifests: a line of shell, a script, or a list of words that is run without a shell.

A list of words is converted as the line it stands for and written back as words, for one word cannot become two in its place.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from anywarp.deploy.convert import codes, commands, prometheus
from anywarp.deploy.convert.model import Change, Finding, Fine, Options, Refusal
from anywarp.deploy.convert.yaml_text import QUOTES, Entry, YamlText
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.writing import Edit, apply

KEYS = frozenset({"command", "args", "script", "cmd", "entrypoint", "run", "commands"})
_MOST_WORDS = 200
_TOOLS = ("nvidia-smi", "dcgmi", "nvidia-debugdump")


def command(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """Convert what a container runs: a word, a line of shell or a script."""
    if entry.key is None and is_words(entry.holder):
        return
    alone = entry.key is None and not any(c.isspace() for c in entry.value.text)
    for finding in prometheus.within(text, entry.value, lambda data: commands.commands(data, options)):
        if alone and isinstance(finding, Change) and b" " in finding.replacement:
            help = f"write these words instead: {finding.replacement.decode()}"
            yield Refusal(finding.start, finding.end, finding.reason, help, finding.source, codes.NOT_CONVERTED)
        else:
            yield finding


def is_words(node: Node) -> bool:
    """Say whether a list is a command of NVIDIA's as words, run without a shell."""
    first = node.entries[0].text if node.kind == "list" and node.entries else ""
    if first.rpartition("/")[2] not in _TOOLS or len(node.entries) > _MOST_WORDS:
        return False
    return all(word.kind == "scalar" for word in node.entries)


def words(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """Convert a command of NVIDIA's that is given as words."""
    items = entry.value.entries
    start, end = text.span(items[0])[0], text.span(items[-1])[1]
    line = shlex.join(item.text for item in items).encode()
    found = list(commands.commands(line, options))
    changes = [finding for finding in found if isinstance(finding, Change)]
    refused = next((finding for finding in found if isinstance(finding, Refusal)), None)
    plain = [text.inner(item) for item in items]
    more = entry.key is not None and entry.key.text == "command" and entry.holder.items("args")
    if refused is not None:
        yield Refusal(start, end, refused.reason, refused.help, refused.source, refused.code)
    elif not changes:
        return
    elif more or None in plain or text.commented(start, end):
        new = apply(line, [Edit(change.start, change.end, change.replacement) for change in changes]).decode()
        yield Refusal(start, end, changes[0].reason, f"write {new} as words", changes[0].source, codes.NOT_CONVERTED)
    else:
        new = apply(line, [Edit(change.start, change.end, change.replacement) for change in changes]).decode()
        yield _written(text, entry, shlex.split(new), changes[0])
        yield Fine(start, end, "the words of the command")


def _written(text: YamlText, entry: Entry, new: list[str], why: Change) -> Change:
    items = entry.value.entries
    first, last = text.inner(items[0]), text.inner(items[-1])
    assert first is not None and last is not None
    start = first[0] - (text.text[first[0] - 1] in QUOTES)
    end = last[1] + (text.text[last[1] : last[1] + 1] in QUOTES)
    if text.text[text.start(entry.value)] == "[":
        between = ", "
    else:
        head = text.at(items[0].line, 1)
        between = "\n" + text.text[head : text.text.index("-", head)] + "- "
    return Change(text.byte(start), text.byte(end), between.join(map(json.dumps, new)).encode(), why.reason, why.source)
