"""Workflows and pipelines of CI: what each key's value is, on which machines jobs run, and which steps install CUDA."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from anywarp.migrate.rulings.answer import Answer

RUNNER = "Y043"
ACTION = "Y048"

Role = Literal["image", "image or index", "script", "words", "runner", "options", "action", ""]
"""`script`: shell text, of a list each entry. `words`: of a list, one command; what holds a space is text for a shell."""

_LINES = frozenset(
    "run script before_script after_script commands inlineScript shell ansible.builtin.shell ansible.builtin.command".split()
)
_WORDS = frozenset("command args entrypoint cmd".split())
SCRIPTS = _LINES | _WORDS
"""Keys whose value is shell text, or the words of a command, in any kind of YAML."""

_RUNNERS = frozenset(
    "runs-on runs_on runner tags labels agents resource_class pool vmImage label queue accelerator".split()
)
_IMAGES = frozenset("image container runtimeImage imageName container_image".split())
_GPU = re.compile(
    r"(?i)(?<![a-z])(?:gpu|cuda|nvidia|a10g?|a100|h100|h200|b200|l4|l40s?|t4|v100|p100|rtx\w*|g[45]dn?\.\w+|g6e?\.\w+|p[345][a-z]*\.\w+)(?![a-z])"
)
_AMD = re.compile(r"(?i)amd|rocm|mi\d{3}|instinct")
_EXPRESSION = re.compile(r"\$?\{\{.*?\}\}")
_ACTION = re.compile(r"(?i)cuda|nvidia|setup-.*gpu")


def role(key: str, above: Sequence[str]) -> Role:
    """Return what a scalar is that stands under a key, or (`key` is "") in a list; `above` are the keys above it, nearest last."""
    here = key or (above[-1] if above else "")
    if here in SCRIPTS:
        return "script" if here in _LINES or key else "words"
    if key in _IMAGES or (key == "name" and above[-1:] and above[-1] == "image"):
        return "image"
    if (here in _RUNNERS or (above and above[-1] in _RUNNERS)) and not (key and above[-1:] and above[-1] == "with"):
        return "runner"
    if key == "options":
        return "options"
    if key == "uses":
        return "action"
    if ("matrix" in above and not key and len(above) > 1) or (
        key and above and above[-1] in ("matrix", "with", "inputs")
    ):
        return "image or index"
    return "image or index" if key == "default" and "inputs" in above else ""


def runner(name: str) -> Answer | None:
    """Return what becomes of the name of a machine on which a job runs; None for one without NVIDIA's GPUs."""
    bare = _EXPRESSION.sub("", name)
    if _AMD.search(bare):
        return Answer("keep", "names a runner with AMD's cards")
    if not _GPU.search(bare):
        return None
    reason = "a runner with NVIDIA's GPUs, by a name that its owner gave"
    return Answer("refuse", reason, help=f"give the name of one with AMD GPUs: --map runner={name}:NEW", code=RUNNER)


def action(name: str) -> Answer | None:
    """Return what becomes of an action that a step uses; None for one that does not install CUDA."""
    if not _ACTION.search(name.split("@")[0]):
        return None
    help = "take the step out, on an image of ROCm nothing takes its place"
    return Answer("refuse", "an action that installs CUDA", help=help, code=ACTION)
