"""Build files: CMake, make, Bazel and meson, where they name CUDA's compiler, language, architectures, libraries and folders.

Each finding is one construct that somebody must change or that `anywarp translate` changes; lists of sources are no findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.scan import commands, shell
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen

HINTS = re.compile(rb"(?i)cuda|nvcc|cublas|cudnn|nccl|nvrtc|tensorrt|nvinfer|nvidia")

_MAKE = re.compile(r"(?:gnu)?makefile(?:\..*)?$|.*\.(?:mk|mak|make)$", re.IGNORECASE)
_BAZEL = frozenset({"build", "build.bazel", "workspace", "workspace.bazel", "module.bazel", ".bazelrc"})
_CALL = re.compile(r"(?i)^[ \t]*([a-z_]\w*)[ \t]*\(", re.MULTILINE)
_CMAKE_COMMENT = re.compile(r"#\[(=*)\[.*?\]\1\]|#[^\n]*", re.DOTALL)
_PACKAGES = frozenset(
    "CUDA CUDAToolkit CUDNN cuDNN NCCL TensorRT TENSORRT CUB Thrust CUTLASS NvidiaCutlass nvtx3 cudnn cudnn_frontend cuFFTDx cuTENSOR NVSHMEM NVTX OptiX".split()
)
_TARGET = re.compile(r"\b(CUDA::\w+|CUDNN::\w+|NCCL::\w+|TensorRT::\w+|nvtx3::\w+)")
_LIBRARY = re.compile(
    r"(?:^|(?<=[\s\"';(]))(?:-l)?(cudart(?:_static)?|cuda|cublas(?:Lt)?(?:_static)?|cudnn\w*|cufft(?:w)?(?:_static)?|curand(?:_static)?|cusolver(?:Mg)?(?:_static)?|cusparse(?:_static)?|cusparseLt|nccl(?:_static)?|nvrtc|nvToolsExt|nvidia-ml|nvinfer(?:_plugin|_lean|_dispatch|_static)?|nvonnxparser|nvjpeg|cufile|cupti|cudadevrt|nvJitLink|nppc|npp\w+|cutensor)(?=$|[\s\"';)])"
)
_VARIABLES = re.compile(
    r"\$\{?\(?(CUDA_(?:LIBRARIES|INCLUDE_DIRS|CUDART_LIBRARY|CUBLAS_LIBRARIES|cublas_LIBRARY|CUFFT_LIBRARIES|curand_LIBRARY|cusparse_LIBRARY|cusolver_LIBRARY|TOOLKIT_ROOT_DIR|NVCC_FLAGS|NVCC_EXECUTABLE|CUDA_LIBRARY)|CUDAToolkit_\w+|CMAKE_CUDA_\w+|CUDNN_\w+|NCCL_\w+)"
)
_SET = re.compile(
    r"(?i)^(CMAKE_CUDA_\w+|CUDA_(?:NVCC_FLAGS|ARCH\w*|TOOLKIT_ROOT_DIR|SEPARABLE_COMPILATION|PROPAGATE_HOST_FLAGS|HOST_COMPILER|USE_STATIC_CUDA_RUNTIME|ARCHITECTURES)|TORCH_CUDA_ARCH_LIST)$"
)
_OLD_COMMANDS = frozenset(
    "cuda_add_executable cuda_add_library cuda_compile cuda_compile_ptx cuda_compile_fatbin cuda_include_directories cuda_add_cublas_to_target cuda_add_cufft_to_target cuda_select_nvcc_arch_flags cuda_wrap_srcs torch_cuda_get_nvcc_gencode_flag".split()
)
_PROPERTIES = re.compile(
    r"\b(CUDA_ARCHITECTURES|CUDA_SEPARABLE_COMPILATION|CUDA_RESOLVE_DEVICE_SYMBOLS|CUDA_STANDARD(?:_REQUIRED)?|CUDA_RUNTIME_LIBRARY|CUDA_PTX_COMPILATION|CUDA_EXTENSIONS|CUDA_FATBIN_COMPILATION|CUDA_CUBIN_COMPILATION)\b"
)
_ARCHITECTURE = re.compile(
    r"-gencode[= ]?\s*\S*|-arch[= ]\s*\S+|--?gpu-(?:architecture|code)[= ]\S+|\bsm_\d+[af]?\b|\bcompute_\d+[af]?\b"
)
_BAZEL_RULE = re.compile(
    r"(?<![@\w/])(cuda_library|cuda_binary|cuda_test|cuda_objects|cuda_default_copts|if_cuda|cuda_configure|rules_cuda|if_cuda_is_configured|cc_cuda_library|tf_cuda_library|tf_cuda_cc_test|tf_gpu_library|tf_gpu_kernel_library|cuda_py_test|cuda_cc_test|cuda_archs?)\b"
)
_BAZEL_LABEL = re.compile(
    r"[\"'](@(?:local_config_)?(?:cuda|cudnn|nccl|tensorrt|rules_cuda|cub_archive|cutlass|local_config_nccl|local_config_tensorrt|nvtx_archive|cuda_[a-z0-9_]+)\w*//[^\"']*)[\"']"
)
_BAZEL_OPTION = re.compile(
    r"--(?:config[= ]cuda\w*|(?:action_env|repo_env)[= ](?:TF_(?:NEED_)?CUDA\w*|CUDA\w*|CUDNN\w*|NCCL\w*|TF_TENSORRT\w*|HERMETIC_CU\w*)(?:=\S*)?|@?\w*(?:rules_cuda|local_config_cuda)\w*//\S+)"
)
_MESON = re.compile(
    r"(?:add_languages|project)\s*\([^)]*'cuda'|dependency\s*\(\s*'(cuda[^']*|cudnn|nccl)'|import\s*\(\s*'(?:unstable-)?cuda'\s*\)|find_program\s*\(\s*'nvcc'"
)


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a build file, by its name."""
    name = path.name.lower()
    return (
        name in ("cmakelists.txt", "cmakepresets.json", "meson.build", "meson_options.txt", "meson.options")
        or name.endswith((".cmake", ".cmake.in", ".bzl", ".bazel", ".bazelrc"))
        or name in _BAZEL
        or _MAKE.match(name) is not None
    )


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield the constructs of a build file that concern CUDA."""
    if not HINTS.search(data) or b"\0" in data[:4096]:
        return
    lines = Lines(data)
    name = path.name.lower()
    if name == "cmakelists.txt" or name.endswith((".cmake", ".cmake.in")):
        found = _cmake(lines.text)
    elif name == "cmakepresets.json":
        found = _presets(lines.text)
    elif name.startswith("meson"):
        found = (
            seen(
                "build.meson", next((g for g in m.groups() if g), m[0].split("(")[0].strip()), m.start(), text=m[0][:80]
            )
            for m in _MESON.finditer(lines.text)
        )
    elif _MAKE.match(name):
        found = _make(lines.text)
    else:
        found = _bazel(lines.text)
    yield from lines.found_in(Piece(lines.text), iter(sorted(found, key=lambda one: one.offset)))


# --- CMake


def _cmake(text: str) -> Iterator[Seen]:
    text = _CMAKE_COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for call in _CALL.finditer(text):
        end = _closing(text, call.end())
        yield from _cmake_call(call[1].lower(), text[call.end() : end], call.end(), call.start(1))


def _closing(text: str, start: int, most: int = 200_000) -> int:
    """Return where the parenthesis that was opened before `start` is closed."""
    depth = 1
    for found in re.compile(r"[()]|\"(?:[^\"\\]|\\.)*\"").finditer(text, start, start + most):
        depth += 1 if found[0] == "(" else -1 if found[0] == ")" else 0
        if not depth:
            return found.start()
    return min(len(text), start + most)


def _cmake_call(command: str, body: str, offset: int, place: int) -> Iterator[Seen]:
    words = [
        (found[0].strip('"'), offset + found.start())
        for found in re.finditer(r"\"(?:[^\"\\]|\\.)*\"|[^\s()\"]+", body[:20_000])
    ]
    if not words:
        return
    first = words[0][0]
    if command in ("project", "enable_language", "check_language"):
        for word, at in words:
            if word == "CUDA" and command != "check_language":
                yield seen("build.language", "CUDA", at, command=command)
    elif command == "find_package" and first in _PACKAGES:
        yield seen(
            "build.package",
            first,
            words[0][1],
            version=words[1][0] if len(words) > 1 and words[1][0][:1].isdigit() else "",
        )
    elif command in _OLD_COMMANDS:
        yield seen("build.command", command, place, target=first)
    elif command in ("set", "option", "list", "string") and (
        named := next((one for one in words[:2] if _SET.match(one[0])), None)
    ):
        value = " ".join(word for word, _ in words[words.index(named) + 1 : 12])
        yield seen("build.setting", named[0], named[1], value=value)
    elif command in ("set_property", "set_target_properties", "set_source_files_properties", "target_properties"):
        for found in _PROPERTIES.finditer(body):
            following = body[found.end() : found.end() + 80].split("\n")[0].strip()
            yield seen("build.setting", found[1], offset + found.start(), value=following)
        if re.search(r"\bLANGUAGE\s+CUDA\b", body):
            yield seen("build.language", "CUDA", offset + body.index("LANGUAGE"), command=command)
    elif command in (
        "target_link_libraries",
        "link_libraries",
        "find_library",
        "target_compile_options",
        "add_compile_options",
        "add_definitions",
        "target_include_directories",
        "include_directories",
        "link_directories",
        "target_link_directories",
        "execute_process",
        "add_custom_command",
        "torch_cuda_arch_list",
    ):
        yield from _linked(command, body, offset)
    elif command in ("fetchcontent_declare", "externalproject_add", "cpmaddpackage"):
        if found := re.search(r"(?i)(?:github\.com[/:]nvidia/|gh:nvidia/)([\w.-]+?)(?:\.git)?(?=[\s\"@#)]|$)", body):
            yield seen("build.package", found[1], offset + found.start(1), via="fetch")
    elif command == "include" and re.fullmatch(r"FindCUDA\w*|CUDA\w*|(?:.*/)?\w*cuda\w*\.cmake", first, re.IGNORECASE):
        yield seen("build.include", first, words[0][1])
    elif command in ("target_compile_features",) and "cuda_std" in body:
        yield seen("build.setting", "cuda_std", offset + body.index("cuda_std"))


def _linked(command: str, body: str, offset: int) -> Iterator[Seen]:
    done: set[str] = set()
    for pattern, subject in ((_TARGET, "build.library"), (_LIBRARY, "build.library"), (_VARIABLES, "build.variable")):
        if pattern is _LIBRARY and command not in ("target_link_libraries", "link_libraries", "find_library"):
            continue
        for found in pattern.finditer(body):
            if found[1] not in done:
                done.add(found[1])
                yield seen(subject, found[1], offset + found.start(1), command=command)
    if command in ("target_compile_options", "add_compile_options"):
        for found in re.finditer(r"COMPILE_LANGUAGE:CUDA", body):
            yield seen(
                "build.flags",
                "COMPILE_LANGUAGE:CUDA",
                offset + found.start(),
                flags=body[found.start() : found.start() + 120],
            )
            break
    if command in ("execute_process", "add_custom_command"):
        for found in re.finditer(r"\b(nvcc|nvidia-smi|ptxas|cuobjdump|bin2c|fatbinary)\b", body):
            yield seen("command." + found[1], found[1], offset + found.start())


def _presets(text: str) -> Iterator[Seen]:
    for found in re.finditer(r'"(CMAKE_CUDA_\w+|\w*CUDA\w*)"\s*:\s*(?:"([^"]*)"|\{)', text):
        yield seen("build.option", found[1], found.start(1), value=found[2] or "")


# --- make


def _make(text: str) -> Iterator[Seen]:
    place = 0
    for line in text.split("\n"):
        bare = line.split("#", 1)[0] if "#" in line else line
        if HINTS_TEXT.search(bare):
            yield from _make_line(bare, place)
        place += len(line) + 1


HINTS_TEXT = re.compile(HINTS.pattern.decode() + r"|sm_\d|compute_\d|-gencode")
_MAKE_SET = re.compile(
    r"[ \t]*(?:[\w./%-]+[ \t]*:[ \t]+)?(?:export[ \t]+|override[ \t]+)*([\w.-]+)[ \t]*(?:[:?+]|::)?=[ \t]*(.*)$"
)


def _make_line(line: str, place: int) -> Iterator[Seen]:
    assigned = _MAKE_SET.match(line) if not line.startswith("\t") else None
    if assigned:
        name, value = assigned[1], assigned[2].strip()
        start = place + assigned.start(1)
        if re.search(r"\bnvcc\b", value):
            yield seen("build.compiler", "nvcc", place + line.index("nvcc", assigned.start(2)), variable=name)
        elif re.fullmatch(r"(?i)nvcc\w*(?:flags|opts?|options)?|cuda\w*|gencode\w*|.*nvcc\w*|.*_cuda_?\w*", name):
            yield seen("build.setting", name, start, value=value)
        if "/" in value and re.search(r"(?i)image", name):
            for one in commands.image_use(value, place + assigned.start(2)):
                yield one
        for found in _LIBRARY.finditer(value):
            if found[0].startswith("-l"):
                yield seen("build.library", found[1], place + assigned.start(2) + found.start(), command=name)
        if _ARCHITECTURE.search(value) and not re.search(r"(?i)nvcc|cuda|gencode", name):
            yield seen("build.setting", name, start, value=value)
    elif line.startswith("\t"):
        if found := re.search(r"\$[({](NVCC|CUDACC|CUDA_CC)[)}]", line):
            yield seen("build.compiler", found[1], place + found.start(), variable=found[1])
        else:
            for one in shell.script(line.rstrip("\\")):
                yield Seen(one.subject, one.name, one.offset + place, one.details)
        for found in _LIBRARY.finditer(line):
            if found[0].startswith("-l"):
                yield seen("build.library", found[1], place + found.start(), command="recipe")
    for found in shell.PATH.finditer(line):
        if not line.startswith("\t"):
            yield seen("path.cuda", found[0], place + found.start(), use="set")


# --- Bazel


def _bazel(text: str) -> Iterator[Seen]:
    text = re.sub(r"#[^\n]*", lambda found: " " * len(found[0]), text)
    done: set[tuple[str, int]] = set()
    for pattern, subject in (
        (_BAZEL_RULE, "build.bazel"),
        (_BAZEL_LABEL, "build.bazel"),
        (_BAZEL_OPTION, "build.option"),
    ):
        for found in pattern.finditer(text):
            name = found[1] if found.re.groups else found[0]
            line = text.count("\n", 0, found.start()) if len(text) < 200_000 else found.start()
            if (name, line) not in done:
                done.add((name, line))
                yield seen(subject, name, found.start(1 if found.re.groups else 0))
