"""docker and podman: images, and the GPUs that a container is given.

AMD GPUs are devices of the host; which of them a number means differs from host to host, so numbers are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from anywarp.deploy.convert import environment, images
from anywarp.deploy.convert.model import Change, Finding, Fine, Options, Refusal
from anywarp.migrate.formats import command_words
from anywarp.migrate.formats.shell_words import Command

DEVICES = "Y044"
Inner = Callable[[Command, Options], Iterator[Finding]]
"""What converts the command that a container runs."""
_DEVICE_SOURCE = "rocm.docs.amd.com/projects/install-on-linux, running ROCm in Docker"
DEVICE_OPTIONS = "--device /dev/kfd --device /dev/dri --group-add video --security-opt seccomp=unconfined"
"""What gives a container all AMD GPUs of a host; a program that traces memory needs the unconfined profile."""
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
    given = False
    for one in arguments:
        if one.name == "--gpus" or (one.name == "--runtime" and one.value == "nvidia") or (
            one.name == "--device" and one.value.startswith("nvidia.com/")
        ):  # fmt: skip
            yield from _devices(command, one.first, one.last, one.value, given)
            given = given or one.name != "--runtime"
        elif one.name == "--env":
            yield from _passed(command, one.first, one.last, one.value, options)
    if image < len(words):
        yield from _image(command, image, options)
    if image + 1 < len(words):
        yield from inner(Command(words[image + 1 :], command.spans[image + 1 :], command.text), options)


def _devices(command: Command, first: int, last: int, value: str, given: bool) -> Iterator[Finding]:
    start, end = command.spans[first][0], command.spans[last][1]
    reason = _DEVICE_REASON
    if command.words[first].startswith("--runtime") or given:
        yield Change(
            *command.removal(first, last),
            b"",
            "NVIDIA's runtime is not needed: AMD GPUs are given as devices",
            _DEVICE_SOURCE,
        )
    elif value in ("all", "nvidia.com/gpu=all"):
        yield Change(start, end, DEVICE_OPTIONS.encode(), reason, _DEVICE_SOURCE)
    else:
        help = "give --device /dev/kfd and one --device /dev/dri/renderD<n> per card, or --device amd.com/gpu=<n> with AMD's container toolkit"
        text = f"which cards are meant by {value!r} must be looked up: render nodes start at 128, one per card"
        yield Refusal(start, end, text, help, _DEVICE_SOURCE, DEVICES)


def _passed(command: Command, first: int, at: int, word: str, options: Options) -> Iterator[Finding]:
    name, sign, value = word.partition("=")
    answer = environment.variable(name, value if sign else None, options)
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
    answer = images.image(word, options)
    if answer is None:
        return
    start, end = command.spans[at]
    if answer.action == "replace":
        place = command.text.find(word, start, end)
        if place >= 0:
            yield Change(place, place + len(word), answer.text.encode(), answer.reason, answer.source)
    elif answer.action == "refuse":
        yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
