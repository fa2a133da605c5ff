"""What was seen in a user's tree, and what is said of it: facts and verdicts are apart, so that facts can be kept for any target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Answer = Literal["as-is", "converted", "re-index", "rebuild", "replace", "no-path"]
Effort = Literal["none", "minutes", "hours", "days", "weeks"]

ANSWERS: dict[Answer, str] = {
    "as-is": "runs as is",
    "converted": "converted automatically",
    "re-index": "re-index",
    "rebuild": "rebuild",
    "replace": "replace",
    "no-path": "no path yet",
}
"""Every answer with its words, from the best to the worst."""


@dataclass(frozen=True, slots=True)
class Use:
    """One place that depends on CUDA, as a scanner sees it, whatever the target.

    `subject` is a dotted key (`cuda.api`, `torch.name`, `k8s.resource`), `name` what is used (`cudaMalloc`), `line` and `column` are
    1-based, 0 where a file has no lines; `text` is the line, cut short; `details` holds what a judge may want to know.
    """

    subject: str
    name: str
    line: int = 0
    column: int = 0
    text: str = ""
    details: tuple[tuple[str, str], ...] = ()

    def detail(self, key: str, default: str = "") -> str:
        """Return one of the details."""
        return next((value for name, value in self.details if name == key), default)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a use on the target: the answer, why, by what it is replaced, how much work it is, and what to do next."""

    answer: Answer
    reason: str
    replacement: str = ""
    effort: Effort = "none"
    help: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A use with its file, its verdict, and the deployments that it reaches (`k8s:Deployment/llm-server`)."""

    path: str
    use: Use
    verdict: Verdict
    reaches: tuple[str, ...] = ()
