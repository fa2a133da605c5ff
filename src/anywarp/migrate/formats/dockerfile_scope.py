"""Variables of a Dockerfile: which an instruction reads, and what stands for them, by the Dockerfile reference (scope of ARG, environment replacement)."""

from __future__ import annotations

import re

_VARIABLE = re.compile(
    r"(?P<escaped>\\\$)|\$(?:\{(?P<braced>\w+)(?::?(?P<sign>[-+])(?P<word>(?:[^{}]|\$\{[^{}]{0,200}\}){0,500}))?\}|(?P<bare>\w+))",
    re.ASCII,
)


class Scope:
    """Which variables an instruction reads: FROM the arguments before the first FROM, a stage its own and those of the stage that it builds on.

    An argument without a default has the one that stands before the first FROM; a variable (ENV) hides an argument of its name.
    """

    def __init__(self) -> None:
        self.stages: dict[str, dict[str, str]] = {}
        """The variables of each stage by its name, in small letters: names of stages know no case."""
        self._first: dict[str, str] = {}
        self._arguments = self._first
        self._variables: dict[str, str] = {}

    def stage(self, image: str, name: str) -> None:
        """Begin a stage on an image or on an earlier stage."""
        self._arguments, self._variables = {}, dict(self.stages.get(image.lower(), {}))
        if name:
            self.stages[name.lower()] = self._variables

    def argument(self, name: str, value: str | None) -> None:
        """Take what ARG says."""
        if value is None:
            value = self._first.get(name, "")
        self._arguments[name] = value

    def variable(self, name: str, value: str) -> None:
        """Take what ENV says."""
        self._variables[name] = value

    def is_stage(self, image: str) -> bool:
        """Tell whether a name is that of an earlier stage."""
        return image.lower() in self.stages

    def value(self, name: str, base: bool = False) -> str | None:
        """Return what a variable holds, `base`: where FROM reads it; None where nothing is known of it."""
        return self._first.get(name) if base else self._variables.get(name, self._arguments.get(name))

    def expand(self, text: str, base: bool = False) -> str:
        """Return a text with the variables that are known in place of their names."""
        if "$" not in text:
            return text
        return _VARIABLE.sub(lambda found: self._meant(found, base), text)

    def _meant(self, found: re.Match[str], base: bool) -> str:
        known = self.value(found["braced"] or found["bare"] or "", base)
        if found["sign"] == "+":
            return self.expand(found["word"], base) if known else ""
        return known or (self.expand(found["word"], base) if found["sign"] else found[0])
