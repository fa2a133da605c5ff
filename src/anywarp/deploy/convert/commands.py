"""Shell commands: what they ask of NVIDIA's tools, packages and containers becomes what asks the same of AMD's.

Commands stand in scripts, Dockerfiles, workflows and manifests; each is converted whole or not at all, and the rest of the text stays.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from anywarp.catalogue import replacements
from anywarp.catalogue.migration import Row, by, rows
from anywarp.deploy.convert import environment, images, packages
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal, moved
from anywarp.migrate.scan import shell

PARSED = "Y037"
DEVICES = "Y044"
SYSTEM = "Y045"
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_USED = re.compile(r"\$(?:\{(?P<braced>[A-Z_]\w*)|(?P<bare>[A-Z_]\w*))")
_SYSTEM_PACKAGE = re.compile(
    r"(?:lib)?(?:cuda|cudnn|cublas|cufft|curand|cusolver|cusparse|nccl|nvinfer|nvrtc|nvjitlink|nvidia|tensorrt|nsight|"
    r"datacenter-gpu-manager)[\w.+-]*(?:=\S*)?"
)
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
_SHELLS = ("bash", "sh", "zsh", "dash", "ksh")
_DEVICE_SOURCE = "rocm.docs.amd.com/projects/install-on-linux, running ROCm in Docker"
DEVICE_OPTIONS = "--device /dev/kfd --device /dev/dri --group-add video --security-opt seccomp=unconfined"
"""What gives a container all AMD GPUs of a host; a program that traces memory needs the unconfined profile."""
_DEVICE_REASON = (
    "AMD GPUs are devices of the host: the driver (kfd) and the cards (dri), for the group that may open them"
)


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command: its words as meant and as written, with the bytes of each."""

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    text: str

    def end(self) -> int:
        return self.spans[-1][1]

    def raw(self, place: int) -> str:
        """Return a word as it is written."""
        return self.text[slice(*self.spans[place])]

    def removal(self, first: int, last: int) -> tuple[int, int]:
        """Return the bytes that must go for the words from `first` to `last` to go, with the space before them, or after them on their line."""
        before = self.text[self.spans[first - 1][1] : self.spans[first][0]] if first else ""
        if "\n" in before and last + 1 < len(self.spans):
            after = self.text[self.spans[last][1] : self.spans[last + 1][0]]
            if "\n" not in after:
                return self.spans[first][0], self.spans[last + 1][0]
        start = self.spans[first - 1][1] if first else self.spans[first][0]
        return start, self.spans[last][1]


def commands(data: bytes, options: Options, renamed: dict[str, str] | None = None) -> Iterator[Finding]:
    """Yield what becomes of shell text (bytes of UTF-8); `renamed` are variables that have another name from outside the text."""
    text = data.decode("latin-1")
    renamed = dict(renamed or {})
    for command in split(text):
        yield from variables(command, options, renamed)
        yield from _command(command, options, _parsed(command))
    yield from uses(text, options, renamed)
    yield from _rest(text)


def split(text: str) -> Iterator[Command]:
    """Yield the simple commands of shell text."""
    for words in shell.split(text):
        spans = tuple((start, shell.word_end(text, start)) for _, start in words)
        yield Command(tuple(word for word, _ in words), spans, text)


def _parsed(command: Command) -> bool:
    """Tell whether a program reads what a command prints: it goes into a pipe, or stands where its output is wanted."""
    before = command.text[max(0, command.spans[0][0] - 200) : command.spans[0][0]].rstrip()
    after = command.text[command.end() : command.end() + 200].lstrip(" \t\\\n")
    return before.endswith(("$(", "`", "<(")) or (after.startswith("|") and not after.startswith("||"))


def _program(command: Command) -> int:
    """Return which word is the program: assignments and prefixes such as sudo come before it."""
    place = 0
    while place < len(command.words) - 1 and (
        _ASSIGNED.fullmatch(command.words[place])
        or command.words[place]
        in ("sudo", "env", "exec", "time", "nohup", "then", "do", "else", "if", "while", "!", "-E", "watch")
    ):
        place += 1
    return place


def variables(
    command: Command, options: Options, renamed: dict[str, str], whole: tuple[int, int] | None = None
) -> Iterator[Finding]:
    """Yield what becomes of the variables that a command sets; `whole` goes where all of them do, in place of the command's line."""
    exporting = command.words[0] in ("export", "declare", "local", "readonly", "typeset", "unset")
    taken: list[int] = []
    for place, word in enumerate(command.words):
        found = _ASSIGNED.fullmatch(word)
        if found is None:
            if place or not exporting:
                if exporting and place and (answer := environment.variable(word, None, options)):
                    yield from _bare(command, place, answer.action, answer.name, answer.reason, answer.source)
                    continue
                if not exporting and place >= _program(command):
                    break
            continue
        answer = environment.variable(found[1], found[2], options)
        if answer is None:
            continue
        start, end = command.spans[place]
        if answer.action == "refuse":
            yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
        elif answer.action == "keep":
            yield Fine(start, end, answer.reason, answer.source)
        elif answer.action == "remove":
            taken.append(place)
        else:
            renamed[found[1]] = answer.name or found[1]
            yield from _assignment(
                command, place, found[1], found[2], answer.name or found[1], answer.text, answer.reason, answer.source
            )
    yield from _taken(command, taken, exporting, whole or _line(command))


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
    elif value in written:
        after = written.replace(value, text, 1)
    else:
        after = f'"{text}"'
    yield Change(start, end, f"{new}={_renamed(after)}".encode("latin-1"), reason, source)


def _taken(command: Command, taken: list[int], exporting: bool, whole: tuple[int, int]) -> Iterator[Finding]:
    for place in taken:
        word = command.words[place]
        row = replacements.variable(word.partition("=")[0])
        reason, source = (row["reason"], row["source"]) if row else ("", "")
        if len(command.words) == len(taken) + exporting:
            if place == taken[0]:
                yield Change(*whole, b"", reason, source)
            continue
        if place:
            start, end = command.removal(place, place)
        else:
            start, end = command.spans[0][0], command.spans[1][0]
        yield Change(start, end, b"", reason, source)


def _renamed(text: str) -> str:
    """Return text in which variables that are read have the names that they have on ROCm."""
    for found in reversed(list(_USED.finditer(text))):
        group = "braced" if found["braced"] else "bare"
        row = replacements.variable(found[group])
        if row is not None and row["conversion"] == "rename":
            text = text[: found.start(group)] + row["target"] + text[found.end(group) :]
    return text


def _line(command: Command) -> tuple[int, int]:
    """Return the bytes of a command, with its line where nothing else is on it."""
    start, end = command.spans[0][0], command.end()
    head = command.text.rfind("\n", 0, start) + 1
    tail = command.text.find("\n", end)
    tail = len(command.text) if tail < 0 else tail
    if not command.text[head:start].strip() and not command.text[end:tail].strip():
        return head, min(tail + 1, len(command.text))
    after = re.compile(r"[ \t]*(?:&&|;)[ \t]*(?:\\\n[ \t]*)?").match(command.text, end)
    if after:
        return start, after.end()
    before = re.search(
        r"[ \t]*(?:\\\n[ \t]*)?(?:&&|;)[ \t]*(?:\\\n[ \t]*)?\Z", command.text[max(0, start - 200) : start]
    )
    return (start - len(before[0]), end) if before else (start, end)


def _command(command: Command, options: Options, parsed: bool) -> Iterator[Finding]:
    place = _program(command)
    name = command.words[place].rsplit("/", 1)[-1]
    asked = place + 1 + (command.words[place : place + 2] == ("command", "-v"))
    if name in ("which", "command", "type", "hash") and command.words[asked : asked + 1] == ("nvidia-smi",):
        yield Change(
            *command.spans[asked], b"amd-smi", "the tool of AMD's driver", "ROCm/amdsmi docs/how-to/amdsmi-cli-tool.md"
        )
    elif name == "nvidia-smi":
        yield from _smi(command, place, parsed)
    elif name in _TOOLS:
        reason, help = _TOOLS[name]
        yield Refusal(*command.spans[place], reason, help, "", SYSTEM)
    elif name in _SHELLS:
        yield from _inner(command, place, options)
    elif name in _READERS:
        yield from _READERS[name](command, place, options)
    elif re.fullmatch(r"python[\d.]*", name) and command.words[place + 1 : place + 3] == ("-m", "pip"):
        yield from _pip(command, place + 2, options)


def _inner(command: Command, place: int, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a script that is handed to a shell (`bash -lc "..."`)."""
    for at in range(place + 1, len(command.words) - 1):
        if re.fullmatch(r"-[a-z]*c", command.words[at]):
            start, end = _bare_span(command, at + 1)
            script = command.text[start:end]
            if "\\" not in script.replace("\\\n", ""):
                yield from moved(commands(script.encode("latin-1"), options), start)
            return


def _smi(command: Command, place: int, parsed: bool) -> Iterator[Finding]:
    start = command.spans[place][0]
    words = tuple(itertools.takewhile(lambda word: not re.match(r"[\d&]*>|<", word), command.words[place + 1 :]))
    end = command.spans[place + len(words)][1]
    same = "`anywarp smi` answers these very options with the same columns"
    target, reason, source = smi(words)
    if not target:
        if reason and source and reason.startswith("drop: "):
            yield Change(*_line(command), b"", reason[6:], source)
        else:
            yield Refusal(
                start,
                end,
                reason or "options of nvidia-smi that amd-smi has no match for",
                f"use another command; {same}",
                source,
                PARSED,
            )
    elif parsed or any(word.startswith("--format") for word in words):
        text = "a program reads this output, and amd-smi prints other columns"
        yield Refusal(start, end, text, f"{same}; or read `{target}` (--csv or --json)", source, PARSED)
    else:
        yield Change(start, end, target.encode(), f"{reason}; it prints other columns", source)


def smi(words: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the command of amd-smi for options of nvidia-smi, the reason, and its source; an empty command where there is none."""
    table = {row["name"]: row for row in rows("smi") if row["kind"] == "command"}
    rest, extra = _common(list(words))
    query = next((word.partition("=")[2] for word in rest if word.startswith("--query-gpu=")), "")
    if query:
        return _query(query.split(","), extra)
    if any(word.startswith(("--query-compute-apps", "--query-apps")) for word in rest):
        row = by("smi", "name")["--query-compute-apps"]
        return row["target"] + extra, row["reason"], row["source"]
    row = table.get(" ".join(rest)) or (
        table.get(rest[0]) if rest and table.get(rest[0], {}).get("conversion") != "replace" else None
    )
    if row is None:
        return "", "", ""
    if row["conversion"] != "replace":
        return "", ("drop: " if row["conversion"] == "drop" else "") + row["reason"], row["source"]
    return row["target"] + extra, row["reason"], row["source"]


def _common(words: list[str]) -> tuple[list[str], str]:
    """Take the options that both tools have (-i, -l) out of the words, and return them as amd-smi writes them."""
    rest: list[str] = []
    extra = ""
    while words:
        word = words.pop(0)
        row = next(
            (row for row in rows("smi") if row["kind"] == "option" and row["name"] == word.partition("=")[0]), None
        )
        if word.startswith("--format"):
            continue
        if row is not None and row["columns"] == "same":
            value = word.partition("=")[2] or (words.pop(0) if words else "")
            extra += f" {row['target']} {value}"
        else:
            rest.append(word)
    return rest, extra


def _query(fields: list[str], extra: str) -> tuple[str, str, str]:
    found: list[Row] = []
    for name in fields:
        row = next((row for row in rows("smi") if row["kind"] == "query" and _fits(row["name"], name.strip())), None)
        if row is None or row["conversion"] != "replace":
            return (
                "",
                row["reason"] if row else f"amd-smi has no field for {name.strip()}",
                row["source"] if row else "",
            )
        found.append(row)
    verbs: dict[str, list[str]] = {}
    for row in found:
        verb, _, flags = row["target"].partition(" --")
        verbs.setdefault(verb, [])
        if flags and f"--{flags}" not in verbs[verb]:
            verbs[verb].append(f"--{flags}")
    text = " && ".join(" ".join((verb, *flags)) + extra for verb, flags in verbs.items())
    return text, "; ".join(dict.fromkeys(row["reason"] for row in found)), found[0]["source"]


def _fits(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else pattern == name


_VALUED = ("-r", "--requirement", "-c", "--constraint", "-t", "--target", "--python-version", "--platform", "-e", "--editable", "--prefix", "--root", "-p", "--python", "--trusted-host", "--cache-dir", "--timeout", "--retries", "--no-binary", "--only-binary", "--progress-bar", "--torch-backend")  # fmt: skip
_INDEX = ("--index-url", "-i", "--extra-index-url", "-f", "--find-links", "--index", "--default-index")


def _pip(command: Command, place: int, options: Options) -> Iterator[Finding]:
    """Yield what becomes of `pip install`: its index, and the packages that are named."""
    words = command.words
    if "install" not in words[place + 1 :]:
        return
    wanted: list[packages.Wanted] = []
    indexes: list[tuple[int, int, str, str]] = []  # first and last word, option, address
    at = words.index("install", place) + 1
    while at < len(words):
        word = words[at]
        option, _, value = word.partition("=")
        if option in _INDEX:
            last = at if value else min(at + 1, len(words) - 1)
            indexes.append((at, last, option, value or words[last]))
            at = last
        elif word in _VALUED:
            at += 1
        elif not word.startswith(("-", "$", ".", "/", ">", "<")) and not re.match(r"\d*>", word):
            start, end = _bare_span(command, at)
            wanted.append(packages.Wanted(word, start, end, command.removal(at, at)))
        at += 1
    yield from _installed(command, wanted, indexes, options)


def _bare_span(command: Command, place: int) -> tuple[int, int]:
    start, end = command.spans[place]
    raw = command.raw(place)
    return (start + 1, end - 1) if raw[:1] in "\"'" and raw[-1:] == raw[:1] and len(raw) > 1 else (start, end)


def _installed(
    command: Command, wanted: list[packages.Wanted], indexes: list[tuple[int, int, str, str]], options: Options
) -> Iterator[Finding]:
    exclusive = any(
        option in ("--index-url", "-i", "--default-index") and "/whl/" in address for _, _, option, address in indexes
    )
    if any(re.search(r"/whl/(?:nightly/)?(?:cpu|rocm|xpu)", address) for _, _, _, address in indexes):
        return
    made = packages.plan(wanted, options, exclusive)
    gone = [one for one in made.findings if isinstance(one, Change) and not one.replacement]
    if wanted and len(gone) == len(wanted):
        yield Change(*_line(command), b"", gone[0].reason, gone[0].source)
        return
    yield from made.findings
    moved = False
    for first, last, _, address in indexes:
        answer = packages.index(address, options)
        if answer is None:
            continue
        start, end = command.spans[first][0], command.spans[last][1]
        if made.blocked:
            yield Note(start, end, "stays with the packages that cannot move")
        elif answer.action == "replace":
            moved = True
            place = command.text.find(address, start, end)
            yield Change(place, place + len(address), answer.text.encode(), answer.reason, answer.source)
        elif answer.action == "remove":
            yield Change(*command.removal(first, last), b"", answer.reason, answer.source)
        elif answer.action == "refuse":
            yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
    if made.index and not moved:
        row = packages.torch_index(options)
        text = f" --extra-index-url {row['target']}"
        yield Change(command.end(), command.end(), text.encode(), row["reason"], row["source"])


def _conda(command: Command, place: int, options: Options) -> Iterator[Finding]:
    found: list[Finding] = []
    for at, word in list(enumerate(command.words))[place + 1 :]:
        channel = command.words[at - 1] in ("-c", "--channel", "-n", "--name")
        name = re.split(r"[=<>!~ \[:]", word.rpartition("::")[2], maxsplit=1)[0]
        row = replacements.package(name, "conda") if name and not channel else None
        if channel and word == "nvidia":
            source = by("packages", "name")["pytorch-cuda"]["source"]
            found.append(Change(*command.removal(at - 1, at), b"", "the channel holds NVIDIA's packages only", source))
        elif row is not None and row["conversion"] == "remove":
            found.append(Change(*command.removal(at, at), b"", row["reason"], row["source"]))
        elif row is not None:
            help = f"use {row['target']}" if row["target"] else "do without"
            found.append(Refusal(*command.spans[at], row["reason"], help, row["source"], packages.REFUSED))
    refused = any(isinstance(one, Refusal) for one in found)
    for one in found:
        if refused and isinstance(one, Change):
            yield Note(one.start, one.end, "stays with the packages that cannot move")
        else:
            yield one


def _system(command: Command, place: int, options: Options) -> Iterator[Finding]:
    for at, word in list(enumerate(command.words))[place + 1 :]:
        if _SYSTEM_PACKAGE.fullmatch(word):
            reason = "a package of NVIDIA's repository; the image or AMD's repository has ROCm's in its place"
            help = "leave it out on an image of ROCm (rocm/dev-ubuntu-*:*-complete has all), or install ROCm's package"
            yield Refusal(*command.spans[at], reason, help, "rocm.docs.amd.com/projects/install-on-linux", SYSTEM)


def _docker(command: Command, place: int, options: Options) -> Iterator[Finding]:
    words = command.words
    if not any(word in ("run", "create") for word in words[place + 1 : place + 3]):
        for at in range(place + 1, len(words)):
            yield from _image(command, at, options)
        return
    given = False
    at = place + 1
    while at < len(words):
        word = words[at]
        option, _, value = word.partition("=")
        if option == "--gpus" or (option == "--runtime" and (value or words[min(at + 1, len(words) - 1)]) == "nvidia") or (
            option == "--device" and (value or words[min(at + 1, len(words) - 1)]).startswith("nvidia.com/")
        ):  # fmt: skip
            last = at if value else min(at + 1, len(words) - 1)
            yield from _devices(command, at, last, value or words[last], given)
            given = given or option != "--runtime"
            at = last
        elif option in ("-e", "--env") and at + 1 < len(words):
            at += 0 if value and option == "--env" else 1
            yield from _passed(command, at, options)
        elif not word.startswith("-") and images.image(word, options) is not None:
            yield from _image(command, at, options)
            if at + 1 < len(words):
                inner = Command(words[at + 1 :], command.spans[at + 1 :], command.text)
                yield from _command(inner, options, False)
            return
        at += 1


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


def _passed(command: Command, at: int, options: Options) -> Iterator[Finding]:
    word = command.words[at].removeprefix("--env=")
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
        first = at if command.words[at].startswith("--env=") else at - 1
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


def _module(command: Command, place: int, options: Options) -> Iterator[Finding]:
    """Yield what becomes of environment modules: `module load cuda/12.1`."""
    found = list(_modules(command, place, options))
    loaded = command.words[place + 1 :]
    gone = [one for one in found if isinstance(one, Change) and not one.replacement]
    if gone and loaded[0] in ("load", "add") and len(gone) == len(loaded) - 1:
        yield Change(*_line(command), b"", gone[0].reason, gone[0].source)
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
            yield Refusal(start, end, row["reason"], f"give another by --map module={word}:NEW", row["source"], SYSTEM)


def uses(text: str, options: Options, renamed: dict[str, str]) -> Iterator[Finding]:
    """Yield what becomes of the places that read a variable that has another name now."""
    for found in _USED.finditer(text):
        group = "braced" if found["braced"] else "bare"
        name = found[group]
        if _commented(text, found.start()):
            continue
        new = renamed.get(name)
        if new is None:
            row = replacements.variable(name)
            new = row["target"] if row is not None and row["conversion"] == "rename" else ""
        start, end = found.span(group)
        if new and new != name:
            yield Change(
                start, end, new.encode(), f"{name} has this name on ROCm", "the table of environment variables"
            )
        elif name in renamed or (replacements.variable(name) or {}).get("conversion") == "keep":
            yield Fine(start, end, "means the same on ROCm")


def _rest(text: str) -> Iterator[Finding]:
    for found in _ADDRESS.finditer(text):
        if not _commented(text, found.start()):
            help = "on an image of ROCm nothing needs to be added; else add AMD's repository (repo.radeon.com/rocm)"
            yield Refusal(
                *found.span(),
                "an address of NVIDIA's packages",
                help,
                "rocm.docs.amd.com/projects/install-on-linux",
                SYSTEM,
            )


def _commented(text: str, place: int) -> bool:
    return text[text.rfind("\n", 0, place) + 1 : place].lstrip(" \t").startswith("#")


def comment_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of lines of shell text that are comments."""
    for found in re.finditer(r"(?m)(?:^|(?<=[ \t]))#[^\n]*", text):
        yield found.span()


Reader = Callable[[Command, int, Options], Iterable[Finding]]
_READERS: dict[str, Reader] = {
    **dict.fromkeys(("pip", "pip3", "pip2", "uv"), _pip),
    **dict.fromkeys(("conda", "mamba", "micromamba"), _conda),
    **dict.fromkeys(("apt-get", "apt", "yum", "dnf", "microdnf", "zypper", "apk"), _system),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _docker),
    **dict.fromkeys(("module", "ml"), _module),
}
