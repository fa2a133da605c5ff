"""Commands that install packages: pip, conda and those of distributions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.deploy.convert import packages
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal
from anywarp.migrate.formats import command_words
from anywarp.migrate.formats.shell_words import Command, bare_span, line_of
from anywarp.migrate.rulings import conda as rulings
from anywarp.migrate.rulings.packages import index
from anywarp.migrate.scan.commands import SYSTEM as SYSTEM_PACKAGE
from anywarp.migrate.scan.declared import BUILDS

SYSTEM = "Y045"


def pip(command: Command, place: int, options: Options) -> Iterator[Finding]:
    """Yield what becomes of `pip install`: its index, and the packages that are named."""
    verb, arguments = command_words.pip(command.words[place:])
    if verb != "install":
        return
    wanted: list[packages.Wanted] = []
    indexes: list[tuple[int, int, str, str]] = []  # first and last word, option, address
    for one in arguments:
        first, last = place + one.first, place + one.last
        if one.name in command_words.PIP_INDEXES:
            indexes.append((first, last, one.name, one.value))
        elif not one.name and not one.value.startswith(("$", ".", "/")):
            wanted.append(packages.Wanted(one.value, *bare_span(command, first), command.removal(first, first)))
    yield from _installed(command, wanted, indexes, options)


def _installed(
    command: Command, wanted: list[packages.Wanted], indexes: list[tuple[int, int, str, str]], options: Options
) -> Iterator[Finding]:
    exclusive = any(
        option in ("--index-url", "--default-index") and "/whl/" in address for _, _, option, address in indexes
    )
    if any(re.search(r"/whl/(?:nightly/)?(?:cpu|rocm|xpu)", address) for _, _, _, address in indexes):
        wanted = [one for one in wanted if packages.named(one.text) not in BUILDS]  # other builds of these
    made = packages.plan(wanted, options, exclusive)
    gone = [one for one in made.findings if isinstance(one, Change) and not one.replacement]
    if wanted and len(gone) == len(wanted):
        yield Change(*line_of(command), b"", gone[0].reason, gone[0].source)
        return
    yield from made.findings
    refused = any(isinstance(one, Refusal) for one in made.findings)
    moved = False
    for first, last, _, address in indexes:
        answer = index(address, options.target)
        if answer is None:
            continue
        start, end = command.spans[first][0], command.spans[last][1]
        if made.blocked:
            yield Note(start, end, "stays with the packages that cannot move")
        elif answer.action == "replace":
            moved = True
            place = command.text.find(address, start, end)
            yield Change(place, place + len(address), answer.text.encode(), answer.reason, answer.source)
        elif answer.action == "remove" and refused:
            yield Note(start, end, "stays with the packages that stay", answer.source)
        elif answer.action == "remove":
            yield Change(*command.removal(first, last), b"", answer.reason, answer.source)
        elif answer.action == "refuse":
            yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
    if made.index and not moved:
        row = packages.torch_index(options)
        text = f" --extra-index-url {row['target']}"
        yield Change(command.end(), command.end(), text.encode(), row["reason"], row["source"])


def conda(command: Command, place: int, options: Options) -> Iterator[Finding]:
    """Yield what becomes of `conda install`: where one package cannot move, the whole command stays."""
    _, arguments = command_words.conda_command(command.words[place:])
    staying = rulings.staying(one.value for one in arguments if not one.name)
    for one in arguments:
        first, last = place + one.first, place + one.last
        if one.name == "--channel":
            answer = rulings.channel(one.value)
        else:
            asked = None if one.name else rulings.requirement(one.value)
            answer = asked.answer if asked is not None else None
        start, end = command.spans[first][0], command.spans[last][1]
        if answer is None:
            continue
        if answer.action == "refuse":
            yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
        elif answer.action == "keep":
            yield Fine(start, end, answer.reason, answer.source)
        elif staying:
            yield Note(start, end, f"stays with {staying}, which cannot move")
        else:
            yield Change(*command.removal(first, last), b"", answer.reason, answer.source)


def system(command: Command, place: int, options: Options) -> Iterator[Finding]:
    """Yield refusals for packages of NVIDIA's repository that a distribution's tool is to install."""
    for at, word in list(enumerate(command.words))[place + 1 :]:
        if SYSTEM_PACKAGE.fullmatch(word.partition("=")[0]):
            reason = "a package of NVIDIA's repository; the image or AMD's repository has ROCm's in its place"
            help = "leave it out on an image of ROCm (rocm/dev-ubuntu-*:*-complete has all), or install ROCm's package"
            yield Refusal(*command.spans[at], reason, help, "rocm.docs.amd.com/projects/install-on-linux", SYSTEM)
