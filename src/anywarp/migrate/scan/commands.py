"""One shell command: what its words ask of NVIDIA's tools, of containers, of package managers and of the cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from anywarp.catalogue.replacements import image, image_parts, kind, variable
from anywarp.migrate.formats import command_words, slurm, wrappers
from anywarp.migrate.rulings import conda, gpus, images
from anywarp.migrate.scan import declared
from anywarp.migrate.scan.lines import Seen, seen

Word = tuple[str, int]

TOOLS = frozenset(
    """nvidia-smi dcgmi nv-hostengine nvidia-ctk nvidia-modprobe nvidia-persistenced nvidia-cuda-mps-control nvidia-cuda-mps-server
    nvidia-container-cli nvidia-settings nvidia-xconfig nvidia-bug-report.sh nvidia-topologyd nvitop nvtop gpustat nsys ncu nsys-ui ncu-ui
    nv-nsight-cu-cli nvprof nvvp cuda-gdb cuda-memcheck compute-sanitizer nvcc ptxas nvlink fatbinary cuobjdump nvdisasm cudafe++ bin2c
    trtexec trtllm-build trtllm-serve tritonserver nvidia-docker nvidia-docker2 genai-perf""".split()
)  # fmt: skip
"""Programs that come with NVIDIA's driver, toolkit or servers."""

_BY_NAME = frozenset("killall pkill pgrep pidof".split())
SYSTEM = re.compile(
    r"(?:lib)?(?:cuda|cudnn|cublas|cufft|curand|cusolver|cusparse|nccl|nvinfer|nvonnxparsers?|nvjpeg|npp|nvrtc|nvtx|nvvm|nvjitlink|nvidia|tensorrt"
    r"|datacenter-gpu-manager|nsight|dcgm)(?![a-z])[\w.+${}*~-]*|lib(?:cudnn|nccl|cublas|nvinfer|nvjpeg|nvonnx)\w*[\w.+${}*~-]*|xserver-xorg-video-nvidia.*"
)  # fmt: skip
_ADDRESS = re.compile(r"https?://[^\s\"']*")
_NVIDIA = re.compile(r"nvidia\.com|nvidia\.github\.io")
_REFERENCE = re.compile(r"[a-z0-9][\w.-]*(?:/[\w.-]+)+(?::[\w.${}-]+)?")
_LOADED = re.compile(r"\.tar|\.run|\.deb|\.rpm|\.zip|\.gz|\.sh|/repos/|/redist|keyring")
_HOST = "nvidia.com/"
_OPTION = re.compile(r"-D(CMAKE_CUDA_\w+|\w*(?:CUDA|CUBLAS|CUDNN|NCCL|TENSORRT)\w*)(?::\w+)?=(\S*)")
_OTHER_DEVICES = ("rocm", "hip", "cpu", "xpu", "tpu", "hpu", "openvino", "neuron")
_SHELLS = frozenset("bash sh zsh dash ksh".split())


def seen_in(words: list[Word]) -> Iterator[Seen]:
    """Yield what one command, as words with their offsets, says about CUDA; a script handed on (`bash -c`) is not looked into."""
    assignments, place = wrappers.started([word for word, _ in words], launchers=False)
    for word, offset in (words[at] for at in assignments):
        if found := wrappers.ASSIGNED.fullmatch(word):
            yield from set_variable(found[1], found[2], offset)
            yield from value_use(found[2], offset)
    words = words[place:]
    if words and words[0][0].startswith("@"):  # a recipe of make that is not echoed
        word, offset = words[0]
        words = [(word.lstrip("@-+"), offset + 1), *words[1:]]
    if words and words[0][0] == "command":  # asks whether there is such a program
        words = [one for one in words[1:] if not one[0].startswith("-")]
    if words and words[0][0] in ("export", "declare", "local", "readonly", "setenv", "typeset"):
        yield from _exported(words)
    elif words:
        yield from _command(words)


def value_use(value: str, offset: int) -> Iterator[Seen]:
    """Yield an image that holds CUDA or an address of NVIDIA's downloads that a variable or a key of any name has as its value."""
    if address := _download(value):
        yield seen("package.source", address, offset)
    elif _REFERENCE.fullmatch(value) and image(value) is not None:
        yield from image_use(value, offset)


def _download(value: str) -> str:
    """Return the address of a file or a repository of NVIDIA's that a value begins with, "" where there is none."""
    found = _ADDRESS.match(value)
    host = found[0].find(_HOST) if found is not None else -1
    return found[0] if found is not None and host >= 0 and _LOADED.search(found[0], host + len(_HOST)) else ""


def _address(word: str) -> re.Match[str] | None:
    """Return the first address of NVIDIA's in a word."""
    return next((found for found in _ADDRESS.finditer(word) if _NVIDIA.search(found[0])), None)


def _exported(words: list[Word]) -> Iterator[Seen]:
    if words[0][0] == "setenv" and len(words) > 2:
        yield from set_variable(words[1][0], words[2][0], words[1][1])
        return
    for word, offset in words[1:]:
        if found := wrappers.ASSIGNED.fullmatch(word):
            yield from set_variable(found[1], found[2], offset)
            yield from value_use(found[2], offset)


def set_variable(name: str, value: str, offset: int, use: str = "set") -> Iterator[Seen]:
    """Yield a variable that CUDA's libraries or NVIDIA's container runtime read."""
    if variable(name) is None or name.endswith("_VER") or value.strip("\"'") in _OTHER_DEVICES:
        return
    yield seen("env", name, offset, value=value, use=use)


def _command(words: list[Word]) -> Iterator[Seen]:
    word, offset = words[0]
    name = word.rsplit("/", 1)[-1].removesuffix(".exe")
    if name in _SHELLS and len(words) > 2 and any(flag[0].startswith("-") and "c" in flag[0] for flag in words[1:3]):
        return  # its text is another script: `inner_script`
    if re.fullmatch(r"python[\d.]*|pypy3?", name):
        yield from _python(words)
        return
    if name in TOOLS:
        arguments = " ".join(one for one, _ in words[1:30])
        yield seen("command." + name, name, offset, arguments=arguments)
        if name not in ("nvidia-docker",):
            return
    if name in _BY_NAME:
        for one, at in words[1:]:
            if one in TOOLS:
                yield seen("command." + one, one, at, arguments=name)
    reader = _READERS.get(name)
    if reader is not None:
        yield from reader(words)
    else:
        yield from _options(words)
        yield from _links(words)


def inner_script(words: list[Word]) -> Word | None:
    """Return the script that a command hands to a shell (`bash -lc "..."`), with the offset of its word; None where there is none."""
    for place, (word, _) in enumerate(words[:-2]):
        if word.rsplit("/", 1)[-1] in (*_SHELLS, "su", "runuser"):
            for step in (1, 2, 3):
                if place + step + 1 < len(words) and re.fullmatch(r"-[a-z]*c", words[place + step][0]):
                    return words[place + step + 1]
            return None
    return None


def _python(words: list[Word]) -> Iterator[Seen]:
    for place, (word, _) in enumerate(words[:-1]):
        if word == "-m" and words[place + 1][0] in ("pip", "uv", "pipenv"):
            yield from _command(words[place + 1 :])
            return
        if word == "-m" and words[place + 1][0] in ("torch.distributed.run", "torch.distributed.launch"):
            return


def _options(words: list[Word]) -> Iterator[Seen]:
    for word, offset in words[1:]:
        if found := _OPTION.match(word):
            yield seen("build.option", found[1], offset, value=found[2])


def _links(words: list[Word]) -> Iterator[Seen]:
    for word, offset in words[1:]:
        if found := _address(word):
            yield seen("package.source", found[0], offset + found.start())


# --- package managers


def _pip(words: list[Word]) -> Iterator[Seen]:
    _, arguments = command_words.pip([word for word, _ in words])
    index = ""
    for one in arguments:
        offset = words[one.last][1]
        if one.name in command_words.PIP_INDEXES:
            index = declared.index_of(one.value + "/") or index
            yield from declared.index(one.value, offset, "command")
        elif one.name == "--requirement":
            yield seen("docker.requirements", one.value, offset)
    for one in arguments:
        if not one.name:
            yield from declared.requirement(one.value, words[one.first][1], "command", index)


def _conda(words: list[Word]) -> Iterator[Seen]:
    _, arguments = command_words.conda_command([word for word, _ in words])
    stays = conda.staying(one.value for one in arguments if not one.name)
    for one in arguments:
        if one.name == "--channel":
            yield from channel(one.value, words[one.last][1], "command", stays)
        elif not one.name:
            yield from conda_requirement(one.value, words[one.first][1], "command", stays)


def channel(name: str, offset: int, where: str, stays: str = "") -> Iterator[Seen]:
    """Yield a conda channel of NVIDIA's; `stays`: the package with which it stays."""
    if conda.channel(name) is not None:
        yield seen("package.channel", name, offset, where=where, stays=stays)


def conda_requirement(text: str, offset: int, where: str, stays: str = "") -> Iterator[Seen]:
    """Yield what a conda requirement says: `nvidia::cuda-toolkit=12.1`, `pytorch=2.1=py3.11_cuda12.1*`."""
    asked = conda.requirement(text)
    if asked is not None:
        details = {
            "specifier": asked.specifier,
            "index": asked.build,
            "where": where,
            "channel": "conda",
            "stays": stays,
        }
        yield seen("package", asked.name, offset, **details)


def _system(words: list[Word]) -> Iterator[Seen]:
    if not any(
        word in ("install", "add", "download", "-i", "-S", "-Sy", "localinstall", "in") for word, _ in words[1:8]
    ):
        yield from _links(words)
        return
    for word, offset in words[1:]:
        name = re.split(r"[=<>]", word.rsplit("/", 1)[-1])[0]
        if SYSTEM.fullmatch(name) and not name.endswith((".sh", ".md")):
            yield seen("package.system", name, offset, version=word.partition("=")[2])
    yield from _links(words)


def _module(words: list[Word]) -> Iterator[Seen]:
    if len(words) < 2 or words[1][0] not in ("load", "add", "swap", "switch", "try-load"):
        return
    for word, offset in words[2:]:
        if re.search(r"(?i)cuda|cudnn|nccl|nvhpc|nvidia|nvcompilers|tensorrt", word):
            yield seen("slurm.module", word, offset)


# --- containers


def _docker(words: list[Word]) -> Iterator[Seen]:
    verb = next(
        (
            i
            for i, (word, _) in enumerate(words[:8])
            if i and word in ("run", "create", "build", "buildx", "pull", "compose", "exec")
        ),
        None,
    )
    if verb is None:
        return
    if words[verb][0] in ("build", "buildx"):
        yield from _build(words[verb:])
    elif words[verb][0] == "pull":
        for word, offset in words[verb + 1 :]:
            yield from image_use(word, offset)
    elif words[verb][0] in ("run", "create"):
        yield from _run(words, verb + 1)
    elif words[verb][0] == "exec":
        _, at = command_words.container([word for word, _ in words], verb + 1)
        yield from seen_in(words[at + 1 :])


def _run(words: list[Word], first: int) -> Iterator[Seen]:
    options, at = command_words.container([word for word, _ in words], first)
    for one in options:
        yield from container_flag(one.name, one.value, words[one.first][1])
    for word, offset in words[at : at + 1]:
        yield from image_use(word, offset)
        yield from seen_in(words[at + 1 :])


def container_flag(flag: str, value: str, offset: int) -> Iterator[Seen]:
    """Yield what an option of `docker run` or `podman run` says."""
    asked = gpus.option(flag, value)
    if asked is not None:
        name = "--gpus" if asked.how == "gpus" else asked.value
        yield seen(f"container.{asked.how}", name, offset, value=value, left=asked.left, help=asked.help)
    elif flag == "--env":
        name, _, text = value.partition("=")
        yield from set_variable(name, text, offset)


def _build(words: list[Word]) -> Iterator[Seen]:
    tag, dockerfile, context, offset, place = "", "", "", words[0][1], 1
    while place < len(words):
        word, at = words[place]
        place += 1
        flag, _, value = word.partition("=")
        if (
            flag
            in (
                "-t",
                "--tag",
                "-f",
                "--file",
                "--build-arg",
                "--target",
                "--platform",
                "-o",
                "--output",
                "--cache-from",
                "--cache-to",
            )
            and not value
        ):
            value = words[place][0] if place < len(words) else ""
            place += 1
        if flag in ("-t", "--tag"):
            tag = tag or value
        elif flag in ("-f", "--file"):
            dockerfile = value
        elif flag == "--build-arg":
            name, _, text = value.partition("=")
            yield from build_argument(name, text, at)
        elif not word.startswith("-") and word not in ("build", "bake"):
            context = word
    if context or dockerfile:
        yield seen("docker.build", tag or context, offset, context=context or ".", dockerfile=dockerfile)


def build_argument(name: str, value: str, offset: int) -> Iterator[Seen]:
    """Yield an argument of a build that chooses CUDA: an image, an architecture, a version."""
    if image(value) is not None:
        yield from image_use(value, offset)
    elif re.search(r"(?i)cuda", name) and value:
        yield seen("build.argument", name, offset, value=value)


def image_use(reference: str, offset: int) -> Iterator[Seen]:
    """Yield an image that holds CUDA: one the tables know, or one whose name or tag says so."""
    if not 0 < len(reference) < 400 or reference.startswith(("-", "/", ".")):
        return
    if "{{" in reference and not re.search(r"(?i)nvidia|cuda", re.sub(r"\{\{.*?\}\}", "", reference)):
        return
    name, tag, _ = image_parts(images.meant(reference))
    if image(images.meant(reference)) is not None:
        if not re.search(r"(?i)rocm|hip|-cpu\b|^cpu", tag):
            yield seen("image", reference, offset)
    elif re.search(
        r"(?i)nvidia|cuda|(?:^|[-_./])cu1[0-9]\d?(?:$|[-_.])|tensorrt|[-_.](?:gpu|cuda)(?:$|[-_.])", f"{name}:{tag}"
    ):
        yield seen("image", reference, offset)


# --- clusters


def _helm(words: list[Word]) -> Iterator[Seen]:
    for place, (word, offset) in enumerate(words):
        chart = word.rsplit("/", 1)[-1]
        if place and "/" in word and kind("chart", chart) is not None and not word.startswith("http"):
            yield seen("helm.chart", chart, offset, repository=word.rpartition("/")[0], use="command")
        elif (found := _address(word)) and not found.start():
            yield seen("helm.repository", word, offset, use="command")
        elif word.startswith("--set") and "=" in word:
            yield from _set(word.partition("=")[2], offset)
        elif words[place - 1][0].startswith("--set") and place and "=" in word:
            yield from _set(word, offset)


def _set(text: str, offset: int) -> Iterator[Seen]:
    if found := re.fullmatch(r"(?:.*\.)?runtimeClassName=(nvidia\S*)", text):
        yield seen("k8s.runtimeclass", found[1], offset, use="command")
    if found := re.search(r"nvidia\\?\.com/([\w.-]+)=?(.*)", text):
        yield seen("k8s.resource", f"nvidia.com/{found[1]}", offset, count=found[2])


_KUBECTL_RESOURCE = re.compile(r"(?:nvidia\.com)/[\w.-]+")


def _kubectl(words: list[Word]) -> Iterator[Seen]:
    for word, offset in words[1:]:
        if found := _address(word):
            yield seen("package.source", found[0], offset)
        elif found := _KUBECTL_RESOURCE.search(word):
            subject = "k8s.toleration" if "toleration" in word else "k8s.label"
            yield seen(subject, found[0], offset + found.start(), use="command")


def slurm_flags(words: list[Word]) -> Iterator[Seen]:
    """Yield the options of srun, sbatch and salloc that ask for GPUs."""
    for one in slurm.options([word for word, _ in words]):
        yield seen("slurm." + one.name, one.name, words[one.first][1], value=one.value)


def _srun(words: list[Word]) -> Iterator[Seen]:
    place = wrappers.command_of("srun", words, 0)
    yield from slurm_flags(words[1:place])
    yield from seen_in(words[place:])


_READERS: dict[str, Callable[[list[Word]], Iterator[Seen]]] = {
    **dict.fromkeys(("pip", "pip3", "pipx", "pdm", "poetry", "pipenv", "uv"), _pip),
    **dict.fromkeys(("conda", "mamba", "micromamba"), _conda),
    **dict.fromkeys(
        ("apt", "apt-get", "aptitude", "yum", "dnf", "microdnf", "tdnf", "zypper", "apk", "pacman", "rpm", "dpkg"),
        _system,
    ),
    **dict.fromkeys(("docker", "podman", "nerdctl", "nvidia-docker", "buildah"), _docker),
    **dict.fromkeys(("module", "ml"), _module),
    "helm": _helm,
    **dict.fromkeys(("kubectl", "oc", "k3s"), _kubectl),
    **dict.fromkeys(("srun", "sbatch", "salloc"), _srun),
}
