"""Conda's environments and locks: packages, channels, and the part that pip installs."""

from __future__ import annotations

from collections.abc import Iterator

from anywarp.migrate.findings import Use
from anywarp.migrate.formats import requirements as requirements_format
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.rulings import conda as rulings
from anywarp.migrate.scan import commands, declared, requirements
from anywarp.migrate.scan.lines import Lines, Seen


def environment(lines: Lines, root: Node) -> Iterator[Use]:
    """Yield the packages, channels and indexes of an environment that concern CUDA."""
    stays = rulings.staying(entry.text for entry in root.items("dependencies") if entry.kind == "scalar")
    for entry in root.items("channels"):
        yield from _at(lines, entry, commands.channel(entry.text, 0, "conda"), stays)
    for entry in root.items("dependencies"):
        if entry.kind == "scalar":
            yield from _at(lines, entry, commands.conda_requirement(entry.text, 0, "conda"), stays)
        asked = [(node, requirements_format.single(node.text)) for node in entry.items("pip")]
        index = requirements.indexed([line for _, line in asked])
        for node, line in asked:
            yield from _at(lines, node, requirements.read(line, "conda", index))


def lock(lines: Lines, root: Node) -> Iterator[Use]:
    """Yield the locked packages that concern CUDA."""
    for locked in root.items("package"):
        name = locked.get("name")
        if name is None:
            continue
        if locked.value("manager") == "pip":
            yield from _at(lines, name, declared.named(name.text, 0, "lock", f"=={locked.value('version')}"))
        else:
            build = locked.value("url").rpartition("/")[2]
            yield from _at(
                lines, name, commands.conda_requirement(f"{name.text}={locked.value('version')}={build}", 0, "lock")
            )


def _at(lines: Lines, node: Node, found: Iterator[Seen], stays: str = "") -> Iterator[Use]:
    for one in found:
        yield lines.use_at(one.subject, one.name, node.line, node.column, **dict(one.details), stays=stays)
