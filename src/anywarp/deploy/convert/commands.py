"""Shell commands: what they ask of NVIDIA's tools, packages and containers becomes what asks the same of AMD's.

Commands stand in scripts, Dockerfiles, workflows and manifests; each is converted whole or not at all, and the rest of the text stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from anywarp.catalogue import replacements
from anywarp.catalogue.migration import rows
from anywarp.deploy.convert import docker_run, installs, smi
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal, moved
from anywarp.migrate.formats.shell_words import ASSIGNED, Command, bare_span, is_read, line_of, program, split, unix
from anywarp.migrate.rulings import environment
from anywarp.migrate.rulings.answer import Answer

_ADDRESS = re.compile(
    r"https?://(?:developer\.download\.nvidia\.com|nvidia\.github\.io|developer\.nvidia\.com)[^\s\"']*"
)
_TOOLS = {
    "nvcc": ("compiles CUDA C++", "translate the sources (`anywarp translate`) and compile them with hipcc, or keep them and use `anywarp nvcc`"),
    "nsys": ("NVIDIA's profiler", "rocprofv3 or rocprof-sys is ROCm's; `anywarp run --trace` works with both"),
    "ncu": ("NVIDIA's profiler", "rocprof-compute is ROCm's"),
    "nvprof": ("NVIDIA's profiler", "rocprofv3 is ROCm's"),
    "cuda-gdb": ("NVIDIA's debugger", "rocgdb is ROCm's"),
    "compute-sanitizer": ("NVIDIA's checker", "`anywarp run --check` finds the same mistakes"),
    "cuda-memcheck": ("NVIDIA's checker", "`anywarp run --check` finds the same mistakes"),
    "dcgmi": ("NVIDIA's data centre manager", "amd-smi, or AMD's test runner and AGFHC"),
    "nv-hostengine": ("NVIDIA's data centre manager", "AMD's exporter needs no engine beside it"),
    "nvidia-ctk": ("NVIDIA's container toolkit", "amd-ctk is AMD's"),
    "nvidia-modprobe": ("loads NVIDIA's driver", "amdgpu is loaded by the system"),
    "nvidia-persistenced": ("keeps NVIDIA's driver loaded", "AMD's stays loaded"),
    "nvidia-cuda-mps-control": ("shares a GPU by MPS", "ROCm has no MPS: processes share a GPU without it, or a GPU is partitioned"),
    "nvidia-docker": ("docker with NVIDIA's runtime", "docker run with --device /dev/kfd --device /dev/dri"),
    "trtexec": ("TensorRT's tool", "migraphx-driver is ROCm's"),
    "tritonserver": ("NVIDIA's server", "Triton with its ONNX or Python backends, or vLLM"),
}  # fmt: skip
_SHELLS = ("bash", "sh", "zsh", "dash", "ksh", "su")


def commands(data: bytes, options: Options, renamed: dict[str, str] | None = None) -> Iterator[Finding]:
    """Yield what becomes of shell text (bytes of UTF-8); `renamed` are variables that have another name from outside the text."""
    text = unix(data.decode("latin-1"))
    renamed = dict(renamed or {})
    found: list[Finding] = []
    read = read_in(text)
    for command in split(text):
        found += variables(command, options, renamed, read=read)
        found += _command(command, options, is_read(text, command.spans[0][0], command.end()))
    yield from _joined(found)
    yield from uses(text, options, renamed)
    yield from _rest(text)


def read_in(text: str) -> frozenset[str]:
    """Return the names of the variables that a text reads."""
    return frozenset(found["braced"] or found["bare"] for found in environment.USED.finditer(text))


def _joined(found: list[Finding]) -> Iterator[Finding]:
    """Yield findings, of which those that only take out and overlap are one: neighbours may go with the same `&&` between them."""
    last: Change | None = None
    for one in sorted(found, key=lambda finding: (finding.start, finding.end)):
        if not isinstance(one, Change) or one.replacement or one.start == one.end:
            yield one
        elif last is not None and one.start < last.end:
            last = Change(last.start, max(last.end, one.end), b"", last.reason, last.source)
        else:
            if last is not None:
                yield last
            last = one
    if last is not None:
        yield last


def variables(
    command: Command,
    options: Options,
    renamed: dict[str, str],
    whole: tuple[int, int] | None = None,
    read: Collection[str] | None = None,
) -> Iterator[Finding]:
    """Yield what becomes of the variables that a command sets; `whole` goes where all of them do, in place of the command's line.

    `read` are the variables that are read somewhere, where not in the command's text alone: they are not taken out.
    """
    first = next((word for word in command.words if not ASSIGNED.fullmatch(word)), "")
    exporting = first in ("export", "declare", "local", "readonly", "typeset", "unset")
    taken: list[int] = []
    read = read_in(command.text) if read is None else read
    for place, word in enumerate(command.words):
        found = ASSIGNED.fullmatch(word)
        if found is None:
            if place or not exporting:
                if (
                    exporting
                    and place
                    and (answer := environment.variable(word, None, options.target, options.mapping))
                ):
                    yield from _bare(command, place, answer.action, answer.name, answer.reason, answer.source)
                    continue
                if not exporting and place >= program(command):
                    break
            continue
        answer = environment.variable(found[1], found[2], options.target, options.mapping)
        if answer is None:
            continue
        start, end = command.spans[place]
        if answer.action == "refuse":
            yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
        elif answer.action == "keep":
            yield Fine(start, end, answer.reason, answer.source)
        elif answer.action == "remove" and found[1] in read:
            yield Note(start, end, f"stays, because {found[1]} is read here: {answer.reason}", answer.source)
        elif answer.action == "remove" and command.text[end : end + 1] in ("$", "`"):
            yield Refusal(
                start,
                end,
                f"its value is calculated; {answer.reason}",
                "take it out",
                answer.source,
                environment.NO_COUNTERPART,
            )
        elif answer.action == "remove" or _of_itself(found[1], found[2], answer):
            taken.append(place)
        else:
            renamed[found[1]] = answer.name or found[1]
            yield from _assignment(
                command, place, found[1], found[2], answer.name or found[1], answer.text, answer.reason, answer.source
            )
    yield from _taken(command, taken, exporting, whole or line_of(command))


def _of_itself(name: str, value: str, answer: Answer) -> bool:
    """Say whether a variable would be set to itself, as two of CUDA's names become one."""
    names = {name: value, answer.name: answer.text}
    return names[answer.name] in (f"${answer.name}", f"${{{answer.name}}}") and value not in (
        f"${name}",
        f"${{{name}}}",
    )


def _bare(command: Command, place: int, action: str, name: str, reason: str, source: str) -> Iterator[Finding]:
    start, end = command.spans[place]
    if action == "replace":
        yield Change(start, end, name.encode(), reason, source)
    elif action == "keep":
        yield Fine(start, end, reason, source)
    else:
        yield Note(start, end, reason, source)


def _assignment(
    command: Command, place: int, name: str, value: str, new: str, text: str, reason: str, source: str
) -> Iterator[Finding]:
    start, end = command.spans[place]
    raw = command.raw(place)
    if value == text:
        if new != name:
            yield Change(start, start + len(name), new.encode(), reason, source)
        else:
            yield Fine(start, end, reason, source)
        return
    written = raw.partition("=")[2]
    if environment.folders(value) == text:
        after = environment.folders(written)
    elif value in written and value:
        after = written.replace(value, text, 1)
    else:
        after = f'"{text}"'
    yield Change(start, end, f"{new}={environment.references(after)}".encode("latin-1"), reason, source)


def _taken(command: Command, taken: list[int], exporting: bool, whole: tuple[int, int]) -> Iterator[Finding]:
    for place in taken:
        word = command.words[place]
        row = replacements.variable(word.partition("=")[0])
        reason, source = (row["reason"], row["source"]) if row else ("", "")
        if len(command.words) == len(taken) + exporting:
            if place == taken[0]:
                yield Change(*whole, b"", reason, source)
            continue
        if place and taken[:place] != list(range(place)):
            start, end = command.removal(place, place)
        else:  # everything before it goes, too
            start, end = command.spans[place][0], command.spans[place + 1][0]
        yield Change(start, end, b"", reason, source)


def _command(command: Command, options: Options, parsed: bool) -> Iterator[Finding]:
    place = program(command)
    name = command.words[place].rsplit("/", 1)[-1]
    asked = place + 1 + (command.words[place : place + 2] == ("command", "-v"))
    if name in ("which", "command", "type", "hash") and command.words[asked : asked + 1] == ("nvidia-smi",):
        source = "ROCm/amdsmi docs/how-to/amdsmi-cli-tool.md"
        yield Change(*command.spans[asked], b"amd-smi", "the tool of AMD's driver", source, renames="nvidia-smi")
    elif name == "nvidia-smi":
        yield from smi.converted(command, place, parsed)
    elif name in _TOOLS:
        reason, help = _TOOLS[name]
        yield Refusal(*command.spans[place], reason, help, "", installs.SYSTEM)
    elif name in _SHELLS:
        yield from _inner(command, place, options)
    elif name in _READERS:
        yield from _READERS[name](command, place, options)
    elif re.fullmatch(r"python[\d.]*", name) and command.words[place + 1 : place + 3] == ("-m", "pip"):
        yield from installs.pip(command, place + 2, options)


def _inner(command: Command, place: int, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a script that is handed to a shell (`bash -lc "..."`)."""
    for at in range(place + 1, len(command.words) - 1):
        if re.fullmatch(r"-[a-z]*c", command.words[at]):
            start, end = bare_span(command, at + 1)
            script = command.text[start:end]
            if "\\" not in script.replace("\\\n", ""):
                yield from moved(commands(script.encode("latin-1"), options), start)
            return


def _docker(command: Command, place: int, options: Options) -> Iterator[Finding]:
    yield from docker_run.docker(command, place, options, lambda inner, chosen: _command(inner, chosen, False))


def _module(command: Command, place: int, options: Options) -> Iterator[Finding]:
    """Yield what becomes of environment modules: `module load cuda/12.1`."""
    found = list(_modules(command, place, options))
    loaded = command.words[place + 1 :]
    gone = [one for one in found if isinstance(one, Change) and not one.replacement]
    if gone and loaded[0] in ("load", "add") and len(gone) == len(loaded) - 1:
        yield Change(*line_of(command), b"", gone[0].reason, gone[0].source)
    else:
        yield from found


def _modules(command: Command, place: int, options: Options) -> Iterator[Finding]:
    for at in range(place + 1, len(command.words)):
        word = command.words[at]
        given = options.mapping.get(("module", word))
        name = word.partition("/")[0].lower()
        row = next((row for row in rows("slurm") if row["kind"] == "module" and row["name"] == name), None)
        start, end = command.spans[at]
        if given is not None:
            yield Change(start, end, given[1].encode(), "as given by --map", "--map")
        elif row is not None and row["conversion"] == "drop":
            yield Change(*command.removal(at, at), b"", row["reason"], row["source"])
        elif row is not None and row["conversion"] == "rename":
            version = f"/{options.target.rocm}" if "/" in word and options.target.rocm else ""
            yield Change(start, end, f"{row['target']}{version}".encode(), row["reason"], row["source"])
        elif row is not None:
            yield Refusal(
                start, end, row["reason"], f"give another by --map module={word}:NEW", row["source"], installs.SYSTEM
            )


def uses(text: str, options: Options, renamed: dict[str, str]) -> Iterator[Finding]:
    """Yield what becomes of the places that read a variable that has another name now."""
    for found in environment.USED.finditer(text):
        group = "braced" if found["braced"] else "bare"
        name = found[group]
        if _commented(text, found.start()):
            continue
        new = renamed.get(name)
        if new is None:
            row = replacements.variable(name)
            new = row["target"] if row is not None and row["conversion"] == "rename" else ""
        start, end = found.span(group)
        if new and environment.elsewhere(text, found):
            reason = "a part of CUDA's folder that ROCm's does not have"
            yield Refusal(start, end, reason, "find what takes its place", "", environment.NO_COUNTERPART)
        elif new and new != name and (tail := re.match(r"\}?/lib64(?![\w-])", text[end:])):
            written = new + tail[0].replace("lib64", "lib")
            yield Change(
                start,
                end + len(tail[0]),
                written.encode(),
                f"{name} has this name on ROCm, and ROCm's libraries lie in lib",
            )
        elif new and new != name:
            yield Change(
                start, end, new.encode(), f"{name} has this name on ROCm", "the table of environment variables"
            )
        elif name in renamed or (replacements.variable(name) or {}).get("conversion") in ("keep", "drop"):
            yield Fine(start, end, "a variable that stays, since it is read")


def _rest(text: str) -> Iterator[Finding]:
    for found in _ADDRESS.finditer(text):
        if not _commented(text, found.start()):
            help = "on an image of ROCm nothing needs to be added; else add AMD's repository (repo.radeon.com/rocm)"
            yield Refusal(
                *found.span(),
                "an address of NVIDIA's packages",
                help,
                "rocm.docs.amd.com/projects/install-on-linux",
                installs.SYSTEM,
            )


def _commented(text: str, place: int) -> bool:
    return text[text.rfind("\n", 0, place) + 1 : place].lstrip(" \t").startswith("#")


def comment_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of lines of shell text that are comments."""
    for found in re.finditer(r"(?m)(?:^|(?<=[ \t]))#[^\n]*", text):
        yield found.span()


Reader = Callable[[Command, int, Options], Iterable[Finding]]
_READERS: dict[str, Reader] = {
    **dict.fromkeys(("pip", "pip3", "pip2", "uv"), installs.pip),
    **dict.fromkeys(("conda", "mamba", "micromamba"), installs.conda),
    **dict.fromkeys(("apt-get", "apt", "yum", "dnf", "microdnf", "zypper", "apk"), installs.system),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _docker),
    **dict.fromkeys(("module", "ml"), _module),
}
