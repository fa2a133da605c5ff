"""Compose files: images, the GPUs that services ask for, their variables and commands.

Compose gives AMD GPUs to a service as devices of the host, with the group that may open them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from anywarp.deploy.convert import commands, docker_run, smi
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal
from anywarp.deploy.convert.prometheus import within
from anywarp.deploy.convert.yaml_text import Entry, YamlText
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.rulings import environment, gpus, images, yaml_kinds
from anywarp.migrate.rulings.answer import Answer

NAME = "compose"
_REASON = (
    "AMD GPUs are devices of the host, for the group that may open them; tracing memory needs the unconfined profile"
)
_SOURCE = "rocm.docs.amd.com/projects/install-on-linux, running ROCm in Docker"


@dataclass(frozen=True, slots=True)
class Held:
    """Entries of a text by the identity of the collection that holds them, and by that of their value."""

    inside: Mapping[int, list[Entry]]
    owner: Mapping[int, Entry]

    def of(self, holder: Node) -> list[Entry]:
        """Return the entries of a collection, in order."""
        return self.inside.get(id(holder), [])


def held(text: YamlText) -> Held:
    """Return the entries of a text by what holds them: looked up for each service, they must not be searched."""
    inside: dict[int, list[Entry]] = {}
    owner: dict[int, Entry] = {}
    for entry in text.entries():
        inside.setdefault(id(entry.holder), []).append(entry)
        owner[id(entry.value)] = entry
    return Held(inside, owner)


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a compose file."""
    return yaml_kinds.kind_of_file(path, data) == "compose"


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a compose file."""
    text = YamlText(data)
    entries = held(text)
    for root in text.documents:
        for _, service in yaml_kinds.services(root):
            if service.kind == "map" and service.alias is None:
                yield from _service(text, service, entries, options)


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return YamlText(data).comments()


def _service(text: YamlText, service: Node, entries: Held, options: Options) -> Iterator[Finding]:
    image = service.get("image")
    if image is not None:
        yield from answered(text, image, images.image(image.text, options.target, options.images))
    yield from _gpus(text, service, entries)
    yield from variables(text, service.get("environment"), entries, options)
    build = service.get("build")
    if build is not None and build.kind == "map":
        yield from variables(text, build.get("args"), entries, options, building=True)
    for name in ("command", "entrypoint"):
        yield from _command(text, service.get(name), options)
    yield from _command(text, service.at("healthcheck", "test"), options)


def answered(text: YamlText, node: Node, answer: Answer | None) -> Iterator[Finding]:
    """Yield the finding that an answer about a scalar's value is; it stays where `remove` is the answer."""
    if answer is None:
        return
    start, end = text.span(node)
    if answer.action == "replace":
        yield Change(start, end, answer.text.encode(), answer.reason, answer.source)
    elif answer.action == "refuse":
        yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
    else:
        yield Fine(start, end, answer.reason, answer.source)


def _gpus(text: YamlText, service: Node, entries: Held) -> Iterator[Finding]:
    """Yield what becomes of the GPUs that a service asks for: by `gpus`, by a runtime, or by reserved devices."""
    added = False
    found = [(entry, asked, text.removal(entry)) for entry, asked in _asked(service, entries).values()]
    held = any(place is None for _, _, place in found)
    for entry, asked, place in found:
        if asked.left or held or place is None:
            reason = asked.left or "an anchor or the form of the text is in the way"
            help = asked.help or f"put {gpus.listed()} in its place"
            yield Refusal(*text.whole(entry), reason, help, _SOURCE, docker_run.DEVICES)
            continue
        column = service.pairs[0][0].column
        block = "" if added else _block(" " * (column - 1))
        first = text.data[place[0] - 1 : place[0]] in (b"\n", b"")
        if block and not first:
            block = block.lstrip(" ") + " " * (column - 1)
        newline = "\r\n" if b"\r\n" in text.data else "\n"
        yield Change(*place, block.replace("\n", newline).encode(), _REASON, _SOURCE)
        added = True


def _block(indent: str) -> str:
    return "".join(
        f"{indent}{name}:\n" + "".join(f"{indent}  - {value}\n" for value in values)
        for name, values in gpus.GIVEN.items()
    )


def _asked(service: Node, entries: Held) -> dict[int, tuple[Entry, gpus.Asked]]:
    """Return what a service asks for with the entry that goes for it, each entry once: what is merged from elsewhere is not taken out here."""
    found: dict[int, tuple[Entry, gpus.Asked]] = {}
    for asked in gpus.of_service(service):
        if asked.key == "deploy":
            entry = _outermost(service, entries)
        elif asked.key in ("devices", "volumes", "generic_resources"):
            entry = entries.owner.get(id(asked.node))
        else:
            entry = next(
                (one for one in entries.of(service) if one.key is not None and one.key.text == asked.key), None
            )
        if entry is not None:
            found.setdefault(id(entry.value), (entry, asked))
    return found


def _outermost(service: Node, entries: Held) -> Entry | None:
    """Return the entry that goes: the reserved devices, or what holds nothing else; None where it is merged from elsewhere."""
    holder = service
    chosen: Entry | None = None
    for name in ("deploy", "resources", "reservations", "devices"):
        entry = next((one for one in entries.of(holder) if one.key is not None and one.key.text == name), None)
        if entry is None:
            return None
        if chosen is None or len(holder.pairs) > 1:
            chosen = entry
        holder = entry.value
    return chosen


def _named(entries: Sequence[Entry]) -> Iterator[tuple[Entry, str, str | None]]:
    """Yield entries that set a variable, with its name and its value, None where it is taken from outside."""
    for entry in entries:
        if entry.value.kind != "scalar":
            continue
        if entry.key is not None:
            yield entry, entry.key.text, entry.value.text
        else:
            name, sign, value = entry.value.text.partition("=")
            yield entry, name, value if sign else None


def variables(
    text: YamlText, holder: Node | None, entries: Held, options: Options, building: bool = False
) -> Iterator[Finding]:
    """Yield what becomes of variables: a mapping of names to values, or a list of `NAME=value`."""
    if holder is None:
        return
    mine = entries.of(holder)
    gone: list[Entry] = []
    given = {name: value for _, name, value in _named(mine)}
    for entry, name, value in _named(mine):
        answer = environment.variable(name, value, options.target, options.mapping)
        if answer is not None and answer.action == "replace":
            answer = environment.once(answer, name, given)
        if answer is None:
            continue
        if answer.action == "remove" and building:
            yield Note(*text.whole(entry), "an argument of the build: it stays, look whether anything still uses it")
        elif answer.action == "remove":
            gone.append(entry)
        else:
            yield from _variable(text, entry, name, value, answer)
    yield from _gone(text, gone, mine, entries, options)


def _variable(text: YamlText, entry: Entry, name: str, value: str | None, answer: Answer) -> Iterator[Finding]:
    new = answer.name or name
    if answer.action == "replace" and entry.key is not None:
        if new != name:
            yield Change(*text.span(entry.key), new.encode(), answer.reason, answer.source)
        if answer.text != value:
            place = text.span(entry.value)
            yield Change(*place, answer.text.encode(), answer.reason, answer.source, _with(name, new))
    elif answer.action == "replace":
        written = new if value is None else f"{new}={answer.text}"
        yield Change(*text.span(entry.value), written.encode(), answer.reason, answer.source)
    elif answer.action == "refuse":
        yield Refusal(*text.whole(entry), answer.reason, answer.help, answer.source, answer.code)
    else:
        yield Fine(*text.whole(entry), answer.reason, answer.source)


def _with(name: str, new: str) -> str:
    """Return what a value goes by whose variable has another name now: it stays where that name stays."""
    return f"${name}" if new != name else ""


def _gone(text: YamlText, gone: list[Entry], mine: list[Entry], entries: Held, options: Options) -> Iterator[Finding]:
    if gone and len(gone) == len(mine):
        holder = entries.owner.get(id(gone[0].holder))
        gone = [holder] if holder is not None else gone
    for entry in gone:
        place = text.removal(entry)
        reason = "read by NVIDIA's container runtime, or tells of NVIDIA's image, only"
        if place is None:
            yield Refusal(*text.whole(entry), reason, "take it out", "", environment.NO_COUNTERPART)
        else:
            yield Change(*place, b"", reason, "the table of environment variables")


def _command(text: YamlText, node: Node | None, options: Options) -> Iterator[Finding]:
    if node is None:
        return
    if node.kind == "scalar":
        yield from within(text, node, lambda inner: commands.commands(inner, options))
        return
    words = [one for one in node.entries if one.kind == "scalar"]
    if words and words[0].text in ("CMD", "CMD-SHELL"):
        words = words[1:]
    if not words or words[0].text.rsplit("/", 1)[-1] != "nvidia-smi":
        for one in words:
            if " " in one.text:
                yield from within(text, one, lambda inner: commands.commands(inner, options))
        return
    target, reason, source = smi.smi(tuple(one.text for one in words[1:]))
    if len(words) == 1 and target and "&&" not in target:
        start, end = text.span(words[0])
        quote = chr(text.data[start - 1]) if text.data[start - 1 : start] in (b'"', b"'") else ""
        parts = target.split()
        joined = f"{quote}, {quote}".join(parts) if _flow(text, node) else ""
        if joined:
            yield Change(start, end, joined.encode(), f"{reason}; it prints other columns", source)
            return
    help = f"write {target or 'another command'}; `anywarp smi` answers these very options with the same columns"
    yield Refusal(*text.span(words[0]), reason or "options that amd-smi has no match for", help, source, smi.PARSED)


def _flow(text: YamlText, node: Node) -> bool:
    return text.text[text.start(node)] == "["
