"""docker and podman: images, and the GPUs that a container is given.

AMD GPUs are devices of the host; which of them a number means differs from host to host, so numbers are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from anywarp.deploy.convert.model import Change, Finding, Fine, Options, Refusal
from anywarp.migrate.formats import command_words
from anywarp.migrate.formats.shell_words import Command
from anywarp.migrate.rulings import environment, gpus, images

DEVICES = "Y044"
Inner = Callable[[Command, Options], Iterator[Finding]]
"""What converts the command that a container runs."""
_DEVICE_SOURCE = "rocm.docs.amd.com/projects/install-on-linux, running ROCm in Docker"
_DEVICE_REASON = (
    "AMD GPUs are devices of the host: the driver (kfd) and the cards (dri), for the group that may open them"
)


def docker(command: Command, place: int, options: Options, inner: Inner) -> Iterator[Finding]:
    """Yield what becomes of a command of docker's; `inner` converts what runs in the container."""
    words = command.words
    if not any(word in ("run", "create") for word in words[place + 1 : place + 3]):
        for at in range(place + 1, len(words)):
            yield from _image(command, at, options)
        return
    first = next(at for at in range(place + 1, len(words)) if words[at] in ("run", "create")) + 1
    arguments, image = command_words.container(words, first)
    yield from devices(command, arguments)
    for one in arguments:
        if one.name == "--env":
            yield from _passed(command, one.first, one.last, one.value, options)
    if image < len(words):
        yield from _image(command, image, options)
    if image + 1 < len(words):
        yield from inner(Command(words[image + 1 :], command.spans[image + 1 :], command.text), options)


def devices(command: Command, arguments: Iterable[command_words.Argument]) -> Iterator[Finding]:
    """Yield what becomes of the options that give a container GPUs: the first gives AMD's, the others go."""
    given = False
    for one in arguments:
        asked = gpus.option(one.name, one.value)
        if asked is None:
            continue
        start, end = command.spans[one.first][0], command.spans[one.last][1]
        if asked.left:
            yield Refusal(start, end, asked.left, asked.help, _DEVICE_SOURCE, DEVICES)
        elif asked.how == "runtime" or given:
            reason = "NVIDIA's runtime is not needed: AMD GPUs are given as devices"
            yield Change(*command.removal(one.first, one.last), b"", reason, _DEVICE_SOURCE)
        else:
            yield Change(start, end, gpus.OPTIONS.encode(), _DEVICE_REASON, _DEVICE_SOURCE)
            given = True


def _passed(command: Command, first: int, at: int, word: str, options: Options) -> Iterator[Finding]:
    name, sign, value = word.partition("=")
    answer = environment.variable(name, value if sign else None, options.target, options.mapping)
    if answer is None:
        return
    start, end = command.spans[at]
    if answer.action == "replace":
        place = command.text.find(name, start, end)
        text = f"{answer.name or name}{sign}{answer.text}" if sign else answer.name or name
        old = len(word) if command.text.startswith(word, place) else end - place
        yield Change(place, place + old, text.encode(), answer.reason, answer.source)
    elif answer.action == "remove":
        yield Change(*command.removal(first, at), b"", answer.reason, answer.source)
    elif answer.action == "refuse":
        yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
    else:
        yield Fine(start, end, answer.reason, answer.source)


def _image(command: Command, at: int, options: Options) -> Iterator[Finding]:
    word = command.words[at]
    if word.startswith("-") or ("/" not in word and ":" not in word) or "=" in word:
        return
    answer = images.image(word, options.target, options.images)
    if answer is None:
        return
    start, end = command.spans[at]
    if answer.action == "replace":
        place = command.text.find(word, start, end)
        if place >= 0:
            yield Change(place, place + len(word), answer.text.encode(), answer.reason, answer.source)
    elif answer.action == "refuse":
        yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
