"""A draft of what becomes of one command of CMake, and what is edited in every command: names, targets, options, sources.

Commands with a meaning of their own are in build_cmake_commands.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from anywarp.migrate.translate import build_cmake_names as names
from anywarp.migrate.translate import build_codes as codes
from anywarp.migrate.translate.build_cmake_text import Argument, Command
from anywarp.migrate.translate.build_flags import is_nvcc, library, rocm_path, split_words, translate_words
from anywarp.migrate.translate.edits import Problem, Severity

REFERENCE = re.compile(r"\$(?P<kind>ENV|CACHE)?\{(?P<name>[A-Za-z_]\w*)\}(?P<lib>/lib64\b)?")
_CUDA_TARGET = re.compile(r"\bCUDA::(\w+)")
_SOURCE = re.compile(r"[\w${}./+-]*[\w}]\.cu$")
_FLAG_VARIABLE = re.compile(
    r"^CMAKE_CUDA_FLAGS|^CUDA_NVCC_FLAGS|(?:CUDA|NVCC)_(?:C?FLAGS|OPTIONS|COMPILE_FLAGS)(?:_\w+)?$"
)
_SAYS_WORDS = frozenset("option message if elseif while project cmake_dependent_option mark_as_advanced".split())
"""Commands whose texts are words for people, even if they name an option of nvcc."""
_NOT_BUILT = frozenset(
    "install configure_file add_custom_command add_custom_target message if elseif while set_source_files_properties"
    " set_property get_property get_filename_component string source_group add_test math option".split()
)
"""Commands in which the name of a source does not mean that it is compiled in this folder."""


@dataclass
class Draft:
    """What is to become of one command: edits (start, end, text, reason), lines around it, and what else follows."""

    command: Command
    text: str
    architecture: str
    suffix: str
    marked: set[str]
    edits: list[tuple[int, int, str, str]] = field(default_factory=list[tuple[int, int, str, str]])
    before: list[str] = field(default_factory=list[str])
    after: list[str] = field(default_factory=list[str])
    packages: list[str] = field(default_factory=list[str])
    finds: list[str] = field(default_factory=list[str])
    find_tail: str = ""
    removed: bool = False
    for_both: bool = False
    notes: list[str] = field(default_factory=list[str])
    problems: list[Problem] = field(default_factory=list[Problem])

    def __bool__(self) -> bool:
        return bool(self.edits or self.before or self.after or self.removed or self.packages)

    @property
    def reasons(self) -> list[str]:
        return [why for *_, why in self.edits] + self.notes or ["CMake's language HIP"]

    def replace(self, argument: Argument, new: str, reason: str) -> None:
        """Replace the text of an argument (inside its quotes), if it changes."""
        index = self.command.arguments.index(argument)
        if not new and argument.kind == "plain" and index:
            self.drop(index, index + 1, reason)
        elif new != argument.text:
            self.edits.append((argument.start, argument.end, new, reason))

    def rename(self, new: str, reason: str) -> None:
        """Give the command another name."""
        self.edits.append((self.command.start, self.command.name_end, new, reason))

    def drop(self, first: int, last: int, reason: str) -> None:
        """Take the arguments `[first, last)` out, with the blanks before them."""
        arguments = self.command.arguments
        start = arguments[first - 1].outer[1] if first else arguments[first].outer[0]
        self.edits.append((start, arguments[last - 1].outer[1], "", reason))

    def remove(self, reason: str) -> None:
        """Leave the command out."""
        self.removed = True
        self.edits.clear()
        self.notes.append(reason)

    def say(
        self, argument: Argument | None, code: str, message: str, help: str = "", severity: Severity = "warning"
    ) -> None:
        """Report a place that a person should see."""
        start, end = (argument.start, argument.end) if argument else (self.command.start, self.command.name_end)
        self.problems.append(Problem(start, end, code, message, help, severity))

    def changed(self) -> str:
        """Return the text of the command with its edits applied."""
        out, at = "", self.command.start
        for start, end, new, _ in sorted(self.edits):
            out, at = out + self.text[at:start] + new, end
        return out + self.text[at : self.command.end]


def general(draft: Draft) -> None:
    """Edit what may stand in any command: references to variables, targets, languages in expressions, folders, flags."""
    for argument in draft.command.arguments:
        if argument.kind != "bracket":
            edit_argument(draft, argument)
    mark_sources(draft)
    _own_command(draft)
    reason = names.REFUSED_COMMANDS.get(draft.command.name)
    if reason:
        draft.say(None, codes.NO_COUNTERPART, f"{draft.command.name}() has no counterpart for HIP", reason, "error")


def _own_command(draft: Draft) -> None:
    """Commands of the project's own: packages they are given are reported, libraries behind the usual keyword are edited."""
    words, arguments = draft.command.words(), draft.command.arguments
    if draft.command.name not in ("message", "if", "elseif", "set", "list", "string", "foreach", "mark_as_advanced"):
        for argument in arguments:
            if argument.text == "CUDAToolkit":
                message = f"{draft.command.name}() is given the package CUDAToolkit"
                draft.say(argument, codes.NO_COUNTERPART, message, "for HIP it is the package hip, without a version")
    first = next(
        (index for index, word in enumerate(words) if word in ("LINK_LIBRARIES", "LIBRARIES", "LINK_LIBS")), None
    )
    for argument in arguments[first + 1 :] if first is not None else ():
        if re.fullmatch(r"[A-Z_]+", argument.text):
            break
        row = library(argument.text)
        if row is not None and row["conversion"] == "rename":
            draft.replace(argument, row["target"], f"ROCm's counterpart of {argument.text}")


def edit_argument(draft: Draft, argument: Argument) -> None:
    """Edit what one argument holds, where it belongs to CUDA."""
    new = argument.text
    condition = draft.command.name in ("if", "elseif", "while")
    if condition and (set(re.findall(r"\w+", new)) & names.VERSIONS.keys()):
        draft.say(
            argument, codes.VERSION, f"{new} is compared: versions of ROCm are other numbers than CUDA's",
            "decide by hand what this condition means for HIP",
        )  # fmt: skip
        return
    if argument.kind == "plain":
        new = names.renamed_variable(new) or (names.VERSIONS.get(new, new) if not condition else new)
    new = REFERENCE.sub(lambda match: translate_reference(draft, match), new)
    new = _targets(draft, argument, new)
    new = names.GENEX.sub(r"\1HIP", new)
    new = names.GENEX_ID.sub(r"\1Clang", new)
    new = names.GENEX_COMPILER.sub(r"$<HIP_COMPILER_\1", new)
    if refused := names.REFUSED_GENEX.search(argument.text):
        draft.say(
            argument,
            codes.NO_COUNTERPART,
            f"$<{refused[1]}> has no counterpart for HIP",
            "write the options for HIP by hand",
        )
    if _is_flags(draft, argument):
        new = translate_flags(draft, argument, new)
    draft.replace(argument, rocm_path(new), f"CMake's name for HIP instead of {argument.text.strip()[:60]}")


def translate_reference(draft: Draft, match: re.Match[str]) -> str:
    """Return HIP's form of a reference to a variable: another variable, or the target instead of a library's path."""
    name, lib = match["name"], "/lib" if match["lib"] else ""
    if match["kind"] == "ENV":
        return f"$ENV{{ROCM_PATH}}{lib}" if name in ("CUDA_PATH", "CUDA_HOME", "CUDA_ROOT") else match.group()
    if name in names.LIBRARY_VARIABLES:
        row = names.LIBRARY_VARIABLES[name]
        draft.packages += [row["package"]] if row["package"] else []
        return row["cmake"]
    new = names.renamed_variable(name) or names.VERSIONS.get(name)
    if new is None:
        return match.group()
    return match.group().replace(name, new).replace("/lib64", "/lib")


def _targets(draft: Draft, argument: Argument, text: str) -> str:
    if text in names.TARGETS and draft.command.name not in ("find_package", "project", "message"):
        target, packages = names.TARGETS[text]
        draft.packages += packages.split()
        return target

    def counterpart(match: re.Match[str]) -> str:
        row = library({"nvToolsExt": "nvToolsExt", "cuda_driver": "cuda_driver"}.get(match[1], match[1]))
        if row is None or row["conversion"] == "none":
            reason = row["reason"] if row else "it is not known"
            draft.say(
                argument,
                codes.LIBRARY,
                f"{match.group()} has no counterpart in ROCm: {reason}",
                "take out what needs it",
                "error",
            )
            return match.group()
        draft.packages += [row["package"]] if row["package"] else []
        return row["cmake"]

    return _CUDA_TARGET.sub(counterpart, text)


def _is_flags(draft: Draft, argument: Argument) -> bool:
    if re.search(r"\$<(?:COMPILE_LANGUAGE|COMPILE_LANG_AND_ID):CUDA", argument.text):
        return True
    words = draft.command.words()
    variable = next((word for word in words[:2] if _FLAG_VARIABLE.search(word)), "")
    if variable and draft.command.name in ("set", "list", "string"):
        return argument.text != variable and not _is_words(words, argument)
    return draft.command.name not in _SAYS_WORDS and not _is_words(words, argument) and is_nvcc(_bodies(argument.text))


def _is_words(words: list[str], argument: Argument) -> bool:
    """Tell whether an argument is the description of an entry in the cache."""
    return "CACHE" in words and argument.text in words[words.index("CACHE") :]


def _bodies(text: str) -> list[str]:
    return [word for _, _, word in _flag_words(text)]


def _flag_words(text: str) -> list[tuple[int, int, str]]:
    """Return the words of a list of flags, also those inside generator expressions, and of lists separated by semicolons."""
    found: list[tuple[int, int, str]] = []
    for match in re.finditer(r"(?:\$<(?:[^<>:;\s]|\$<[^<>]*>)*:|[^\s;<>])+|[<>]", text):
        body, at = match.group(), match.start()
        head = re.match(r"(?:\$<.*?>:|\$<[^:]*:)+", body)
        if head:
            at, body = at + head.end(), body[head.end() :]
        body_words = split_words(body.removeprefix("SHELL:"), at + (6 if body.startswith("SHELL:") else 0))
        found += [word for word in body_words if word[2] not in ("<", ">")]
    return found


def translate_flags(draft: Draft, argument: Argument, text: str) -> str:
    """Return a text of options with nvcc's replaced, and report those that nothing replaces."""
    words = _flag_words(text)
    out, at = "", 0
    before_this = [w for a in draft.command.arguments if a.end <= argument.start for w in _bodies(a.text)]
    named = any(re.match(r"-{1,2}(?:gencode|generate-code|arch|gpu-architecture)\b", word) for word in before_this)
    for change in translate_words([word for *_, word in words], draft.architecture):
        start, end = words[change.first][0], words[change.last - 1][1]
        if change.refused:
            code = codes.LIBRARY if change.library else codes.OPTION
            draft.say(
                argument, code, f"{text[start:end]}: {change.refused}", "take it out, or write what HIP needs", "error"
            )
            continue
        new = () if named and change.words and change.words[0].startswith("--offload-arch") else change.words
        separator = ";" if _is_list(argument, text) else " "
        out += text[at:start] + separator.join(new)
        at = end
        if not new:
            following = re.compile(r"[ ;]+").match(text, at)
            at, out = (following.end(), out) if following else (at, out.rstrip(" ;") if text[at:] in ("", ">") else out)
    return out + text[at:]


def _is_list(argument: Argument, text: str) -> bool:
    """Tell whether several options in an argument are separated by semicolons: in a list, or in an unquoted expression."""
    return "SHELL:" not in text and (";" in text or ("$<" in text and argument.kind == "plain"))


def mark_sources(draft: Draft) -> None:
    """Say of the .cu sources that a command names that they are HIP, or give them their new name."""
    found = [a for a in draft.command.arguments if a.kind in ("plain", "quoted") and _SOURCE.match(a.text)]
    if not found or draft.command.name in _NOT_BUILT - {"set_source_files_properties", "set_property"}:
        if draft.suffix != ".cu":
            rename_sources(draft, found)
        return
    if draft.suffix != ".cu":
        rename_sources(draft, found)
        return
    if draft.command.name in _NOT_BUILT:
        return
    words = [draft.text[slice(*a.outer)] for a in found if a.text not in draft.marked]
    if words:
        draft.marked.update(a.text for a in found)
        line = f"set_source_files_properties({' '.join(words)} PROPERTIES LANGUAGE HIP)"
        (draft.after if draft.command.name in ("set", "list") else draft.before).append(line)
        draft.notes.append("CMake takes sources for HIP only where LANGUAGE says so")


def rename_sources(draft: Draft, found: Sequence[Argument]) -> None:
    """Give sources the suffix that the translated files have."""
    for argument in found:
        draft.edits = [edit for edit in draft.edits if edit[0] != argument.start]
        draft.replace(argument, argument.text[: -len(".cu")] + draft.suffix, "the source has this name now")
