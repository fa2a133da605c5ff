"""Commands that pip, Docker and conda read, as options and arguments: which word belongs to which option, by the tools' own manuals.

Words are given without quotes; places are their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_REDIRECTION = re.compile(r"(?:\d*|&)(?P<sign>>>?|<)(?P<target>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Argument:
    """An option with its value, or (`name` is "") an argument; words `[first, last]` of the command."""

    name: str
    value: str
    first: int
    last: int


# --- pip

VERBS = frozenset("install download wheel add sync".split())
"""What pip and the tools like it (uv, poetry, pdm, pipenv) are told to do with requirements."""

PIP_INDEXES = frozenset("--index-url --extra-index-url --find-links --index --default-index".split())
"""Options that say where packages come from: pip's, and uv's own."""

_PIP_SHORT = {
    "-i": "--index-url",
    "-f": "--find-links",
    "-r": "--requirement",
    "-c": "--constraint",
    "-e": "--editable",
    "-t": "--target",
    "-w": "--wheel-dir",
    "-d": "--dest",
    "-o": "--output-file",
    "-C": "--config-settings",
    "-p": "--python",
}
_PIP_VALUED = PIP_INDEXES | frozenset(
    "--requirement --constraint --editable --target --wheel-dir --dest --output-file --config-settings --python --prefix --root --src --platform "
    "--python-version --implementation --abi --trusted-host --proxy --timeout --retries --cert --client-cert --cache-dir --report --group "
    "--no-binary --only-binary --progress-bar --upgrade-strategy --index-strategy --torch-backend --link-mode --project --directory --global-option "
    "--build-option --hash --extra --log --exists-action --use-feature --keyring-provider".split()
)


def pip(words: Sequence[str]) -> tuple[str, list[Argument]]:
    """Return what pip or a tool like it is told to do, "" for nothing that concerns requirements, and the options and arguments after that.

    The first word is the tool. `uv pip sync FILE` takes files: they are given out as `--requirement`.
    """
    verb = next((at for at, word in enumerate(words[:12]) if at and word in VERBS), 0)
    if not verb:
        return "", []
    found = list(_arguments(words, verb + 1, _PIP_VALUED, _PIP_SHORT))
    if words[verb] == "sync":
        found = [Argument(one.name or "--requirement", one.value, one.first, one.last) for one in found]
    return words[verb], found


# --- containers

_RUN_SHORT = {
    "-v": "--volume",
    "-p": "--publish",
    "-w": "--workdir",
    "-u": "--user",
    "-h": "--hostname",
    "-l": "--label",
    "-m": "--memory",
    "-e": "--env",
    "-c": "--cpu-shares",
    "-a": "--attach",
}
_RUN_VALUED = frozenset(_RUN_SHORT.values()) | frozenset(
    "--name --entrypoint --network --net --shm-size --mount --ipc --ulimit --add-host --log-driver --cpus --restart --security-opt --cap-add "
    "--cap-drop --group-add --platform --pid --cgroupns --tmpfs --log-opt --env-file --pull --userns --expose --dns --health-cmd --cidfile "
    "--cpuset-cpus --oom-score-adj --stop-signal --uts --gpus --runtime --device --device-cgroup-rule --volumes-from --network-alias --ip "
    "--label-file --link --sysctl --storage-opt --memory-swap --pids-limit --annotation --isolation --stop-timeout --blkio-weight --hooks-dir".split()
)


def container(words: Sequence[str], first: int, run: bool = True) -> tuple[list[Argument], int]:
    """Return the options of `docker run`, `create` or (not `run`) `exec`, which begin at a word, and the word that is the image or container.

    That is the number of words where there is none; what the container runs follows it.
    """
    found: list[Argument] = []
    for one in _arguments(words, first, _RUN_VALUED, _RUN_SHORT, bundled=True):
        if not one.name:
            return found, one.first
        found.append(one)
    return found, len(words)


# --- conda

_SPEC = re.compile(
    r"(?:(?P<channel>[\w./:-]+)::)?(?P<name>[A-Za-z0-9_][\w.-]*)[ \t]*(?P<rest>\[[^\]]*\]|[ \t=<>!~|,*][^\n]*)?$"
)


@dataclass(frozen=True, slots=True)
class Spec:
    """What conda is asked for: a package, with its channel and what follows the name (version, build) as written."""

    channel: str
    name: str
    rest: str


def conda(text: str) -> Spec | None:
    """Read a specification of conda's (`channel::name=version=build`, `name[version='>=1']`); None for what is none."""
    found = _SPEC.match(text.split("#", 1)[0].strip())
    return Spec(found["channel"] or "", found["name"], (found["rest"] or "").strip()) if found else None


CONDA_VERBS = frozenset("install create update upgrade".split())
"""What conda and the tools like it are told to do with packages."""

_CONDA_SHORT = {"-c": "--channel", "-n": "--name", "-p": "--prefix", "-f": "--file"}
_CONDA_VALUED = frozenset(
    "--channel --name --prefix --file --solver --clone --repodata-fn --subdir --platform --revision --experimental --rc-file --root-prefix".split()
)


def conda_command(words: Sequence[str]) -> tuple[str, list[Argument]]:
    """Return what conda or a tool like it is told to do, "" for nothing that concerns packages, and the options and arguments after that."""
    verb = next((at for at, word in enumerate(words[:6]) if at and word in CONDA_VERBS), 0)
    if not verb:
        return "", []
    return words[verb], list(_arguments(words, verb + 1, _CONDA_VALUED, _CONDA_SHORT))


def _arguments(
    words: Sequence[str], at: int, valued: frozenset[str], short: dict[str, str], bundled: bool = False
) -> Iterator[Argument]:
    """Yield options and arguments from a word on; `bundled`: `-itv` is `-i -t -v`."""
    options = True
    while at < len(words):
        word, first = words[at], at
        at += 1
        redirected = _REDIRECTION.fullmatch(word)
        if redirected:
            at += not redirected["target"]
        elif word == "--" and options:
            options = False
        elif not options or not word.startswith("-") or word == "-":
            yield Argument("", word, first, first)
        else:
            name, value = _option(word, short, bundled)
            if value is None and name in valued and at < len(words):
                value, at = words[at], at + 1
            yield Argument(name, value or "", first, at - 1)


def _option(word: str, short: dict[str, str], bundled: bool) -> tuple[str, str | None]:
    """Return the long name of an option and the value that stands in its own word."""
    if word.startswith("--"):
        name, sign, value = word.partition("=")
        return name, value if sign else None
    if word[:2] in short:
        return short[word[:2]], word[2:].removeprefix("=") if len(word) > 2 else None
    last = "-" + word[-1]
    return (short[last], None) if bundled and last in short and word[1:].isalpha() else (word, None)
