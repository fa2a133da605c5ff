"""Build files that cannot be translated, Bazel's and Meson's: what of them belongs to CUDA is reported by place.

Neither has public rules for HIP that would take the same arguments, and guessing would hide that from the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.migrate.translate import build_codes as codes
from anywarp.migrate.translate.build_flags import library
from anywarp.migrate.translate.edits import Outcome, Problem
from anywarp.migrate.translate.unit import Unit

_BAZEL = re.compile(
    rb"^[ \t]*(?P<rule>(?:\w*_)?cuda_(?:library|objects|binary|test|cc_test|extension)|cu_library|gpu_kernel_library|tf_cuda_library|tf_cuda_cc_test)\s*\("
    rb"|(?P<label>@(?:rules_cuda|local_cuda|local_config_cuda|cuda|cuda_\w+)//[\w/.:-]*)",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"#[^\n]*")
_MESON = re.compile(rb"(?P<open>(?<![\w.])(?:project|add_languages|dependency|import)\s*\()(?P<rest>[^)]*)")
_WORD = re.compile(rb"'(?P<word>(?:unstable-)?cuda)'")
_MODULES = re.compile(rb"modules\s*:\s*\[?(?P<list>[^\])]*)")


class BazelReporter:
    """BUILD, BUILD.bazel, WORKSPACE, MODULE.bazel and *.bzl."""

    name = "bazel"

    def wants(self, path: PurePath) -> bool:
        return path.name in ("BUILD", "WORKSPACE") or path.suffix in (".bazel", ".bzl")

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        blank = _COMMENT.sub(lambda match: b" " * len(match.group()), unit.data)
        for match in _BAZEL.finditer(blank):
            group = "rule" if match["rule"] else "label"
            name = match[group].decode("latin-1")
            yield Problem(
                match.start(group), match.end(group), codes.BAZEL, f"{name}: Bazel has no public rules for HIP to name instead",
                "build this target with rules of your own around hipcc, or with CMake",
            )  # fmt: skip


class MesonReporter:
    """meson.build."""

    name = "meson"

    def wants(self, path: PurePath) -> bool:
        return path.name == "meson.build"

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        blank = _COMMENT.sub(lambda match: b" " * len(match.group()), unit.data)
        for call in _MESON.finditer(blank):
            word = _WORD.search(call["rest"])
            if word is None:
                continue
            at = call.start("rest") + word.start()
            command = call["open"].strip(b" \t(").decode("latin-1")
            yield Problem(
                at, at + len(word.group()), codes.MESON, f"{command}('cuda'): Meson knows no language HIP{_counterparts(call['rest'])}",
                "compile the device sources with hipcc in a custom_target, and link ROCm's libraries by dependency()",
            )  # fmt: skip


def _counterparts(rest: bytes) -> str:
    """Return a remark on which of ROCm's libraries answer the modules that a dependency names."""
    match = _MODULES.search(rest)
    named = re.findall(r"'([\w.]+)'", match["list"].decode("latin-1")) if match else []
    rows = {name: library(name) for name in named}
    counterparts = [f"{name} is {row['target']}" for name, row in rows.items() if row is not None and row["target"]]
    return f"; of ROCm's libraries {', '.join(counterparts)}" if counterparts else ""
