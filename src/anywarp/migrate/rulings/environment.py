"""Environment variables: what becomes of one that CUDA's programs read, and of paths into CUDA's folder.

Variables stand in scripts, Dockerfiles, manifests and workflows alike, and mean the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from anywarp.catalogue import replacements
from anywarp.catalogue.migration import Row
from anywarp.migrate.rulings.answer import Answer
from anywarp.migrate.target import Target

NO_COUNTERPART = "Y032"
FOLDER = re.compile(
    r"/usr/local/cuda(?:-[\d.]+)?(?:(?P<rest>/(?:lib64|bin|include|lib))(?![\w-])|(?![\w.-])(?!/[\w.]))"
)
"""CUDA's folder, and of what lies in it the parts that ROCm's folder has, too."""
USED = re.compile(r"\$(?:\{(?P<braced>[A-Z_]\w*)|(?P<bare>[A-Z_]\w*))")
"""A variable that is read."""
_REFERENCE = re.compile(r"\$(?:\w+|\{\w+\})(?:/[\w/.-]*)?")
_DEFAULTED = re.compile(r"\$\{(?P<name>\w+)(?P<sign>:?-)(?P<text>[^}]*)\}")
_NVIDIAS_PART = re.compile(
    r"/usr/local/nvidia/|/usr/local/cuda(?:-[\d.]+)?/(?:lib64|lib)/stubs|/usr/local/cuda(?:-[\d.]+)?/(?:compat|extras)\b"
)
_SEARCH_PATHS = ("PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
_FOLDER_SOURCE = "HIPCC environment variables; ROCm installs into /opt/rocm"

Given = Mapping[tuple[str, str], tuple[str, str]]
"""A user's answers, as from `--map`: (name, value) to (new name or "", new value)."""
_NONE: Given = MappingProxyType({})


def variable(name: str, value: str | None, target: Target, given: Given = _NONE) -> Answer | None:
    """Return what becomes of a variable and its value (None: not known where it is set); None where it does not concern CUDA."""
    answer = _variable(name, value, target, given)
    if answer is None or answer.action != "replace":
        return answer
    return replace(answer, text=references(answer.text))


def once(answer: Answer, name: str, given: dict[str, str | None]) -> Answer:
    """Return the answer for a variable among those `given` beside it: two of CUDA's names may become one, which is given once."""
    new = answer.name or name
    if new not in given or new == name:
        given[new] = answer.text
        return answer
    if given[new] == answer.text:
        return Answer("remove", f"{new} is given already, with this value", source=answer.source)
    reason = f"{new} is given already, with another value"
    return Answer(
        "refuse", reason, help=f"choose which value {new} is to have", source=answer.source, code=NO_COUNTERPART
    )


def references(text: str) -> str:
    """Return a text in which variables that are read (`$CUDA_HOME/lib64`) have the names that they have on ROCm."""
    for found in reversed(list(USED.finditer(text))):
        group = "braced" if found["braced"] else "bare"
        row = replacements.variable(found[group])
        if row is not None and row["conversion"] == "rename" and not elsewhere(text, found):
            start, end = found.span(group)
            text = text[:start] + row["target"] + text[end:].replace("/lib64", "/lib", text[end:].find("/lib64") <= 1)
    return text


def elsewhere(text: str, found: re.Match[str]) -> bool:
    """Say whether a variable that is read stands before a part of CUDA's folder that ROCm's does not have."""
    row = replacements.variable(found["braced"] or found["bare"])
    behind = text[found.end() :].lstrip("}\"'")
    return (
        row is not None
        and row["values"] == "path"
        and re.match(r"/(?!(?:lib64|lib|bin|include)\b)[\w.]", behind) is not None
    )


def _variable(name: str, value: str | None, target: Target, given: Given) -> Answer | None:
    row = replacements.variable(name)
    if row is None:
        return _search_path(name, value)
    mapped = given.get((name, value or ""))
    if mapped is not None:
        return Answer("replace", "as given by --map", mapped[1], mapped[0] or name, source="--map")
    if row["conversion"] == "drop":
        return Answer("remove", row["reason"], source=row["source"])
    if row["conversion"] == "keep":
        return Answer("keep", row["reason"], source=row["source"])
    if name == "UCX_TLS":
        return _transports(row, value)
    if row["conversion"] == "none":
        return _refused(row, row["reason"], "leave the variable out, or set what takes its place")
    return _renamed(row, value, target)


def folders(value: str) -> str:
    """Return a text in which paths into CUDA's folder lead into ROCm's."""
    return FOLDER.sub(lambda found: "/opt/rocm" + (found["rest"] or "").replace("/lib64", "/lib"), value)


def _transports(row: Row, value: str | None) -> Answer | None:
    if value is None or not re.search("cuda|gdr_copy", value):
        return None
    text = value.replace("cuda_copy", "rocm_copy").replace("cuda_ipc", "rocm_ipc")
    if "cuda" in text or "gdr_copy" in text:
        return _refused(row, row["reason"], "name the transports of ROCm that UCX is to use")
    return Answer("replace", row["reason"], text, "UCX_TLS", source=row["source"])


def _search_path(name: str, value: str | None) -> Answer | None:
    if name not in _SEARCH_PATHS or value is None or not (FOLDER.search(value) or "/usr/local/nvidia/" in value):
        return None
    parts = value.split(":")
    kept = [part for part in parts if not part.startswith("/usr/local/nvidia/")]
    if not kept:
        return Answer("remove", "these folders hold NVIDIA's driver libraries only", source=_FOLDER_SOURCE)
    if len(kept) < len(parts):
        reason = "folders of NVIDIA's driver libraries go; ROCm's libraries lie in its own folder"
        return Answer("replace", reason, folders(":".join(kept)), name, source=_FOLDER_SOURCE)
    return Answer(
        "replace", "ROCm's programs and libraries lie in its own folder", folders(value), name, source=_FOLDER_SOURCE
    )


def _renamed(row: Row, value: str | None, target: Target) -> Answer | None:
    how, new = row["values"], row["target"]
    text = value or ""
    if value is not None and how == "indexes" and re.search(r"GPU-|MIG-", text):
        reason = "the value names cards of NVIDIA's by their identity"
        return _refused(row, reason, f"set {new} to numbers, counted from 0")
    if value is not None and how == "architectures" and not _REFERENCE.fullmatch(text):
        if not target.architecture:
            return _refused(
                row, "architectures of NVIDIA's cards have no counterparts", f"set {new}, such as {new}=gfx942"
            )
        given = _DEFAULTED.fullmatch(text)
        text = target.architecture
        text = f"${{{given['name']}{given['sign']}{text}}}" if given else text
    if value is not None and how == "path":
        moved = folders(text)
        if moved == text and text and not _is_folder(text):
            return _refused(row, f"{text} is not CUDA's usual folder", f"set {new} to ROCm's folder, such as /opt/rocm")
        text = moved
    return Answer("replace", row["reason"], text, new, source=row["source"])


def _is_folder(text: str) -> bool:
    """Say whether a value is ROCm's folder already, or that of a variable that will be."""
    if text.startswith("/opt/rocm"):
        return True
    read = USED.match(text)
    row = replacements.variable(read["braced"] or read["bare"]) if read else None
    mine = read is not None and (read["braced"] or read["bare"]) == "ROCM_PATH"
    return mine or (row is not None and row["values"] == "path" and _REFERENCE.fullmatch(text) is not None)


def _refused(row: Row, reason: str, help: str) -> Answer:
    return Answer("refuse", reason, help=help, source=row["source"], code=NO_COUNTERPART, instead=row["target"])
