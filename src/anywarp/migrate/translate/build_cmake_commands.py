"""The commands of CMake that have a meaning of their own for CUDA, and what becomes of each of them for HIP."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from anywarp.migrate.translate import build_cmake_names as names
from anywarp.migrate.translate import build_codes as codes
from anywarp.migrate.translate.build_cmake_draft import (
    REFERENCE,
    Draft,
    edit_argument,
    general,
    mark_sources,
    rename_sources,
    translate_flags,
    translate_reference,
)
from anywarp.migrate.translate.build_flags import library, rocm_path, translate_words

_OLDEST = (3, 21)
"""The first CMake that knows the language HIP."""


def _minimum(draft: Draft) -> None:
    for argument in draft.command.arguments:
        match = re.match(r"(\d+)\.(\d+)", argument.text)
        if match and (int(match[1]), int(match[2])) < _OLDEST and _uses_language(draft.text):
            tail = argument.text.partition("...")
            highest = re.match(r"(\d+)\.(\d+)", tail[2])
            keep = tail[1] + tail[2] if highest and (int(highest[1]), int(highest[2])) > _OLDEST else ""
            draft.replace(argument, "3.21" + keep, "CMake knows the language HIP from 3.21 on")
            draft.for_both = True
            return


def _uses_language(text: str) -> bool:
    found = re.search(
        r"\b(?:project|enable_language)\s*\([^)]*\b(?:CUDA|HIP)\b|\bcuda_add_(?:executable|library)\b|LANGUAGE CUDA",
        text,
        re.I,
    )
    return found is not None


def _project(draft: Draft) -> None:
    languages = [a for a in draft.command.arguments[1:] if a.text == "CUDA" and a.kind == "plain"]
    general(draft)
    if not languages:
        return
    draft.replace(languages[0], "HIP", "CMake's language for AMD GPUs is HIP")


def _project_for_both(draft: Draft) -> None:
    words = draft.command.words()
    if "CUDA" not in words[1:]:
        return
    index = words.index("CUDA", 1)
    rest = [w for w in words[1:] if w not in ("LANGUAGES", "CUDA")]
    draft.edits.clear()
    draft.for_both = True
    draft.drop(index, index + 1, "which language is asked depends on the vendor")
    if not any(w in ("C", "CXX") for w in rest):
        draft.edits = [
            (draft.command.arguments[index].start, draft.command.arguments[index].end, "CXX", "HIP and CUDA need C++")
        ]
    draft.after += ['option(USE_HIP "Build for AMD GPUs" OFF)'] if "option(USE_HIP" not in draft.text else []
    draft.after += ["if(USE_HIP)", "  enable_language(HIP)", "else()", "  enable_language(CUDA)", "endif()"]


def _find_package(draft: Draft) -> None:
    arguments = draft.command.arguments
    name = arguments[0].text if arguments else ""
    if name in names.REFUSED_PACKAGES:
        draft.say(
            arguments[0], codes.LIBRARY, f"{name}: {names.REFUSED_PACKAGES[name]}", "take out what needs it", "error"
        )
        return
    if name not in names.PACKAGES:
        general(draft)
        return
    first, *more = names.PACKAGES[name]
    flags = [a.text for a in arguments[1:] if a.text in ("REQUIRED", "QUIET")]
    draft.find_tail = "".join(f" {flag}" for flag in flags)
    draft.finds += [first, *more]
    draft.replace(arguments[0], first, f"ROCm's package for {name} is {first}")
    others = [index for index, a in enumerate(arguments) if index and a.text not in ("REQUIRED", "QUIET")]
    if others == list(range(others[0], others[-1] + 1)) if others else False:
        draft.drop(others[0], others[-1] + 1, "versions and components of CUDA mean nothing to ROCm's packages")
    elif others:
        for index in others:
            draft.drop(index, index + 1, "versions and components of CUDA mean nothing to ROCm's packages")
    draft.after += [f"find_package({package}{draft.find_tail})" for package in more]


def _set(draft: Draft) -> None:
    arguments = draft.command.arguments
    name = arguments[0].text if arguments else ""
    if name in names.GONE:
        draft.remove(f"{name}: {names.GONE[name]}")
    elif name in names.SEPARABLE:
        _separable_variable(draft)
    elif name == "CMAKE_CUDA_ARCHITECTURES":
        _architectures(draft, 0, _values_end(draft))
    elif re.match(r"CUDA_NVCC_FLAGS", name):
        _nvcc_flags_variable(draft, 0)
    else:
        general(draft)


def _values_end(draft: Draft) -> int:
    words = draft.command.words()
    return next((i for i, word in enumerate(words) if word in ("CACHE", "PARENT_SCOPE")), len(words))


def _architectures(draft: Draft, variable: int, last: int) -> None:
    """The variable or property at `variable`, and its values behind it up to `last`."""
    arguments = draft.command.arguments
    new = names.renamed_variable(arguments[variable].text) or names.PROPERTIES[arguments[variable].text]
    draft.replace(arguments[variable], new, "CMake's name for HIP")
    values = arguments[variable + 1 : last]
    if (
        not values
        or values[0].text.upper() in ("OFF", "FALSE", "NO")
        or values[0].text == f"${{{arguments[variable].text}}}"
    ):
        for value in values:
            edit_argument(draft, value)
        return
    start, end = values[0].outer[0], values[-1].outer[1]
    draft.edits.append((start, end, draft.architecture, "architectures of the target instead of NVIDIA's"))


def _nvcc_flags_variable(draft: Draft, variable: int) -> None:
    """FindCUDA's flags are a list, CMake's flags of a language are one text."""
    arguments = draft.command.arguments
    name = arguments[variable].text
    new_name = names.SHARED.sub(r"CMAKE_HIP_\1", name.replace("CUDA_NVCC_FLAGS", "CMAKE_CUDA_FLAGS").upper())
    parts: list[str] = []
    for argument in arguments[variable + 1 : _values_end(draft)]:
        if argument.text.strip(";") == f"${{{name}}}":
            continue
        parts += [
            translate_flags(
                draft, argument, REFERENCE.sub(lambda m: translate_reference(draft, m), argument.text.replace(";", " "))
            )
        ]
    flags = " ".join(part for part in parts if part.strip())
    start, end = draft.command.start, draft.command.end
    appended = draft.command.name == "list" or any(f"${{{name}}}" == word.strip(";") for word in draft.command.words())
    line = f'string(APPEND {new_name} " {flags}")' if appended else f'set({new_name} "{flags}")'
    if not flags and appended:
        draft.remove("none of these options means anything to hipcc")
        return
    draft.edits = [(start, end, line, "FindCUDA's list of options becomes CMake's text of options for HIP")]


def _list(draft: Draft) -> None:
    words = draft.command.words()
    if len(words) > 2 and words[0] in ("APPEND", "PREPEND") and words[1] == "CMAKE_CUDA_ARCHITECTURES":
        _architectures(draft, 1, len(words))
    elif len(words) > 2 and words[0] in ("APPEND", "PREPEND") and words[1].startswith("CUDA_NVCC_FLAGS"):
        _nvcc_flags_variable(draft, 1)
    else:
        general(draft)


def _separable_variable(draft: Draft) -> None:
    if draft.command.words()[1:2] != ["ON"]:
        draft.remove("HIP's device code is whole unless -fgpu-rdc is given")
        return
    draft.remove("CMake has no such variable for HIP: clang's options say it")
    draft.after += [
        "add_compile_options($<$<COMPILE_LANGUAGE:HIP>:-fgpu-rdc>)",
        "add_link_options($<$<LINK_LANGUAGE:HIP>:-fgpu-rdc> $<$<LINK_LANGUAGE:HIP>:--hip-link>)",
    ]


def _properties(draft: Draft) -> None:
    """set_target_properties, set_property, set_source_files_properties and their readers."""
    words = draft.command.words()
    marker = next((i for i, word in enumerate(words) if word in ("PROPERTIES", "PROPERTY")), None)
    if marker is None:
        general(draft)
        return
    done = _property_pairs(draft, marker)
    if draft.removed:
        return
    for index, argument in enumerate(draft.command.arguments):
        if index not in done and argument.kind != "bracket":
            edit_argument(draft, argument)
    mark_sources(draft)


def _property_pairs(draft: Draft, marker: int) -> set[int]:
    words, arguments = draft.command.words(), draft.command.arguments
    single = words[marker] == "PROPERTY"
    done: set[int] = set()
    gone: list[tuple[int, int]] = []
    index = marker + 1
    while index < len(words):
        last = len(words) if single else min(index + 2, len(words))
        word = words[index]
        done.add(index)
        if word == "CUDA_ARCHITECTURES":
            _architectures(draft, index, last)
            done.update(range(index, last))
        elif word in names.PROPERTIES:
            draft.replace(arguments[index], names.PROPERTIES[word], "CMake's name for HIP")
        elif word in names.GONE_PROPERTIES:
            gone.append((index, last))
            done.update(range(index, last))
        elif word in names.REFUSED_PROPERTIES:
            draft.say(arguments[index], codes.NO_COUNTERPART, f"{word}: {names.REFUSED_PROPERTIES[word]}", "", "error")
        elif word == "LANGUAGE" and words[index + 1 : index + 2] == ["CUDA"]:
            draft.replace(arguments[index + 1], "HIP", "CMake's language for AMD GPUs is HIP")
        index = last
    _drop_properties(draft, marker, gone)
    return done


def _drop_properties(draft: Draft, marker: int, gone: list[tuple[int, int]]) -> None:
    words = draft.command.words()
    if not gone:
        return
    if any(words[i] == "CUDA_SEPARABLE_COMPILATION" and words[i + 1 : i + 2] == ["ON"] for i, _ in gone):
        first = words.index("TARGET") + 1 if words[marker] == "PROPERTY" and "TARGET" in words else 0
        for target in words[first:marker]:
            if target != "APPEND":
                draft.after.append(f"target_compile_options({target} PRIVATE $<$<COMPILE_LANGUAGE:HIP>:-fgpu-rdc>)")
                draft.after.append(f"target_link_options({target} PRIVATE -fgpu-rdc --hip-link)")
    why = "HIP has no such property: " + ", ".join(words[i] for i, _ in gone)
    if sum(last - first for first, last in gone) == len(words) - marker - 1:
        draft.remove(why)
        return
    for first, last in gone:
        draft.drop(first, last, why)


def _features(draft: Draft) -> None:
    for argument in draft.command.arguments:
        draft.replace(
            argument, re.sub(r"\bcuda_std_(\d+)$", r"hip_std_\1", argument.text), "CMake's name of the feature for HIP"
        )


def _cuda_target(draft: Draft) -> None:
    """cuda_add_executable and cuda_add_library of FindCUDA."""
    words = draft.command.words()
    general(draft)
    draft.rename(names.MACROS[draft.command.name], "FindCUDA's macros have no counterpart: CMake itself compiles HIP")
    target = words[0] if words else ""
    if "OPTIONS" in words:
        index = words.index("OPTIONS")
        flags = [translate_flags(draft, a, a.text) for a in draft.command.arguments[index + 1 :]]
        draft.edits = [e for e in draft.edits if e[0] < draft.command.arguments[index].start]
        draft.drop(index, len(words), "options of compilation are said of the target")
        kept = " ".join(f"$<$<COMPILE_LANGUAGE:HIP>:{flag}>" for flag in flags if flag.strip())
        draft.after += [f"target_compile_options({target} PRIVATE {kept})"] if kept else []
    draft.after.append(f"target_link_libraries({target} hip::host)")
    draft.packages.append("hip")


def _cuda_link(draft: Draft) -> None:
    target, package = names.LINK_MACROS[draft.command.name]
    arguments = draft.command.arguments
    draft.rename("target_link_libraries", "FindCUDA's macro links this library")
    if arguments:
        draft.edits.append((arguments[-1].outer[1], arguments[-1].outer[1], f" {target}", "ROCm's library"))
    draft.packages.append(package)


def _cuda_include(draft: Draft) -> None:
    general(draft)
    draft.rename("include_directories", "FindCUDA's macro; CMake's own serves HIP")


def _select_arch(draft: Draft) -> None:
    words = draft.command.words()
    start, end = draft.command.start, draft.command.end
    draft.edits = [
        (
            start,
            end,
            f"set({words[0]} --offload-arch={draft.architecture})",
            "architectures of the target instead of NVIDIA's",
        )
    ]


def _include(draft: Draft) -> None:
    if draft.command.words()[:1] in (["FindCUDA"], ["FindCUDA/select_compute_arch"], ["CUDA_compile"]):
        draft.remove("of FindCUDA")
        return
    general(draft)


def _link(draft: Draft) -> None:
    general(draft)
    edited = {start for start, *_ in draft.edits}
    for argument in draft.command.arguments[1 if draft.command.name == "target_link_libraries" else 0 :]:
        row = library(argument.text.removeprefix("-l")) if argument.kind == "plain" else None
        if row is None or argument.start in edited or argument.text in ("OpenCL",):
            continue
        if row["conversion"] == "none":
            draft.say(
                argument,
                codes.LIBRARY,
                f"{argument.text} has no counterpart in ROCm: {row['reason']}",
                "take out what needs it",
                "error",
            )
        elif row["conversion"] == "drop":
            index = draft.command.arguments.index(argument)
            draft.drop(index, index + 1, row["reason"])
        else:
            dashes = "-l" if argument.text.startswith("-l") else ""
            draft.replace(argument, dashes + row["target"], f"ROCm's counterpart of {argument.text}")


def _find_program(draft: Draft) -> None:
    general(draft)
    for argument in draft.command.arguments[1:]:
        if argument.text == "nvcc":
            draft.replace(argument, "hipcc", "ROCm's compiler driver")


def _find_library(draft: Draft) -> None:
    general(draft)
    for argument in draft.command.arguments[1:]:
        row = library(argument.text) if argument.kind == "plain" else None
        if row is not None and row["conversion"] == "rename":
            draft.replace(argument, row["target"], f"ROCm's counterpart of {argument.text}")


_COMPILER = re.compile(r"(?:.*/)?nvcc$|\$\{(?:CMAKE_CUDA_COMPILER|CUDA_NVCC_EXECUTABLE|CUDAToolkit_NVCC_EXECUTABLE)\}$")
_TOOL = re.compile(r"(?:.*/)?(nvidia-smi|cuobjdump|nvprune|fatbinary|bin2c|ptxas|nvlink)$")


def _calls(draft: Draft) -> None:
    """Commands that call programs: the compiler with its options, and tools of the toolkit."""
    general(draft)
    arguments = draft.command.arguments
    for index, argument in enumerate(arguments):
        if tool := _TOOL.match(argument.text):
            draft.say(argument, codes.TOOL, f"{tool[1]} is called", "call ROCm's tool, or take the step out")
        if _COMPILER.match(argument.text):
            _compiler_call(draft, index)


def _compiler_call(draft: Draft, index: int) -> None:
    arguments = draft.command.arguments
    if "$" not in arguments[index].text:
        name = rocm_path(arguments[index].text.removesuffix("nvcc") + "hipcc")
        draft.edits = [edit for edit in draft.edits if edit[0] != arguments[index].start]
        draft.replace(arguments[index], name, "ROCm's compiler driver")
    last = next(
        (i for i in range(index + 1, len(arguments)) if re.fullmatch(r"[A-Z_]+", arguments[i].text)), len(arguments)
    )
    words = [argument.text for argument in arguments[index + 1 : last]]
    for change in translate_words(words, draft.architecture):
        first, end = index + 1 + change.first, index + 1 + change.last
        if change.refused:
            draft.say(
                arguments[first],
                codes.OPTION,
                f"{words[change.first]}: {change.refused}",
                "take it out, or write what HIP needs",
                "error",
            )
            continue
        start = arguments[first].start
        draft.edits = [edit for edit in draft.edits if not start <= edit[0] < arguments[end - 1].outer[1]]
        if not change.words:
            draft.drop(first, end, change.reason)
        else:
            draft.edits.append(
                (arguments[first].outer[0], arguments[end - 1].outer[1], " ".join(change.words), change.reason)
            )


def _glob(draft: Draft) -> None:
    general(draft)
    words, arguments = draft.command.words(), draft.command.arguments
    if not words or words[0] not in ("GLOB", "GLOB_RECURSE") or len(words) < 2:
        return
    globs = [a for a in arguments[2:] if a.text.endswith("*.cu")]
    if draft.suffix != ".cu":
        rename_sources(draft, globs)
        return
    others = [a for a in arguments[2:] if "*" in a.text and a not in globs]
    reference = f"${{{words[1]}}}"
    if not globs or reference in draft.marked or f"${{{words[1]}_HIP}}" in draft.marked:
        return
    if others:
        patterns = " ".join(draft.text[slice(*a.outer)] for a in globs)
        options = " ".join(w for w in words[2:] if w in ("CONFIGURE_DEPENDS",))
        draft.after.append(f"file({words[0]} {words[1]}_HIP {options + ' ' if options else ''}{patterns})")
        reference = f"${{{words[1]}_HIP}}"
    draft.after.append(f"set_source_files_properties({reference} PROPERTIES LANGUAGE HIP)")


def _enable(draft: Draft) -> None:
    for argument in draft.command.arguments:
        draft.replace(
            argument, "HIP" if argument.text == "CUDA" else argument.text, "CMake's language for AMD GPUs is HIP"
        )


Handler = Callable[[Draft], None]
_PROPERTY_COMMANDS = (
    "set_target_properties", "set_property", "set_source_files_properties", "get_target_property", "get_property",
    "get_source_file_property", "define_property", "set_tests_properties",
)  # fmt: skip
COMMANDS: Mapping[str, Handler] = {
    "cmake_minimum_required": _minimum,
    "project": _project,
    "enable_language": _enable,
    "check_language": _enable,
    "find_package": _find_package,
    "set": _set,
    "unset": _set,
    "list": _list,
    "include": _include,
    "target_compile_features": _features,
    "target_link_libraries": _link,
    "link_libraries": _link,
    "cuda_add_executable": _cuda_target,
    "cuda_add_library": _cuda_target,
    "cuda_include_directories": _cuda_include,
    "cuda_select_nvcc_arch_flags": _select_arch,
    "find_program": _find_program,
    "find_library": _find_library,
    "execute_process": _calls,
    "add_custom_command": _calls,
    "add_custom_target": _calls,
    "file": _glob,
    **dict.fromkeys(names.LINK_MACROS, _cuda_link),
    **dict.fromkeys(_PROPERTY_COMMANDS, _properties),
}

BOTH: Mapping[str, Handler] = {"project": _project_for_both}
"""What is done instead where one text must serve both vendors."""
