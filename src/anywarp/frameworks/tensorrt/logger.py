"""The Logger: where TensorRT tells everything, since its functions return None or False on errors."""

# pyright: basic
from __future__ import annotations

import sys
import time
from typing import Any

from anywarp.frameworks.tensorrt.enums import Severity


class ILogger:
    """What a program derives its own logger from: it overrides `log`."""

    Severity = Severity
    INTERNAL_ERROR, ERROR, WARNING, INFO, VERBOSE = Severity

    def __init__(self) -> None:
        pass

    def log(self, severity: Any, msg: str) -> None:
        """Take a message."""
        raise NotImplementedError("a class derived from ILogger defines log(severity, msg)")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class Logger(ILogger):
    """Writes messages of `min_severity` and graver: errors and warnings to stderr, others to stdout."""

    def __init__(self, min_severity: Any = Severity.WARNING):
        super().__init__()
        self.min_severity = min_severity

    def log(self, severity: Any, msg: str) -> None:
        if int(severity) > int(self.min_severity):
            return
        out = sys.stderr if int(severity) <= int(Severity.WARNING) else sys.stdout
        mark = {"INTERNAL_ERROR": "F", "ERROR": "E", "WARNING": "W", "INFO": "I"}.get(severity.name, "V")
        print(f"[{time.strftime('%m/%d/%Y-%H:%M:%S')}] [TRT] [{mark}] {msg}", file=out, flush=True)


class Told:
    """An object that tells a logger, and ends a `with` without doing anything."""

    __slots__ = ("logger",)

    def __init__(self, logger: ILogger):
        self.logger = logger

    def error(self, function: str, text: str) -> None:
        """Tell of an error in a function of the interface."""
        self.logger.log(Severity.ERROR, f"{function}: {text}")

    def warn(self, function: str, text: str) -> None:
        """Tell of something that was ignored."""
        self.logger.log(Severity.WARNING, f"{function}: {text}")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass
