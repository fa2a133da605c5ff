"""A Python and its environment: asked once, by starting it, for what installers need to know of it."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anywarp import settings
from anywarp.deploy.env.problems import NO_PYTHON, problem

PATIENCE = 60.0
"""Seconds for a Python to start and answer."""

_MARK = "anywarp-environment "
_QUESTION = f"""
import json, os, platform, sys, sysconfig
v = sys.implementation.version
markers = dict(
    implementation_name=sys.implementation.name,
    implementation_version="%d.%d.%d" % (v.major, v.minor, v.micro),
    os_name=os.name, platform_machine=platform.machine(), platform_release=platform.release(),
    platform_system=platform.system(), platform_version=platform.version(),
    python_full_version=platform.python_version(), platform_python_implementation=platform.python_implementation(),
    python_version="%d.%d" % sys.version_info[:2], sys_platform=sys.platform)
folders = [p for p in sys.path if os.path.basename(p.rstrip("/")) in ("site-packages", "dist-packages")]
print("\\n{_MARK}" + json.dumps(dict(prefix=sys.prefix, platform=sysconfig.get_platform(), markers=markers, folders=folders)))
"""


@dataclass(frozen=True)
class Python:
    """A Python: the command that starts it, its resolved prefix, its platform, the values of PEP 508's markers, where packages lie."""

    command: str
    prefix: str
    platform: str
    markers: dict[str, str]
    folders: tuple[Path, ...]

    @property
    def version(self) -> str:
        """Return the version for which packages are built: 3.11."""
        return self.markers["python_version"]


def ask(place: str) -> Python:
    """Start the Python at `place` (a Python, or an environment's folder) and return what it says of itself.

    AnywarpError (Y060) for what is no Python, fails, or does not answer. Neither PYTHONPATH nor the working directory changes the answer.
    """
    command = _command(place)
    try:
        done = subprocess.run(
            [command, "-E", "-B", "-c", _QUESTION],
            cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, env=settings.environment(), check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        reason = getattr(error, "strerror", None) or f"no answer in {PATIENCE:.0f} seconds"
        raise _not_asked(command, reason) from error
    answer = done.stdout.decode("utf-8", "replace").rpartition(_MARK)[2]
    try:
        values: dict[str, Any] = json.loads(answer)
        markers = {str(name): str(value) for name, value in values["markers"].items()}
        folders = tuple(dict.fromkeys(Path(os.path.realpath(one)) for one in values["folders"]))
        return Python(command, os.path.realpath(values["prefix"]), str(values["platform"]), markers, folders)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _not_asked(command, said[-1][:200] if said else "it says nothing of itself") from error


def _command(place: str) -> str:
    if os.path.isdir(place):
        for name in ("bin/python", "bin/python3"):
            if os.path.exists(found := os.path.join(os.path.abspath(place), name)):
                return found
        raise problem(
            NO_PYTHON,
            f"there is no Python in {place}",
            "name a Python, or the folder of an environment with bin/python",
        )
    return os.path.abspath(place)


def _not_asked(command: str, reason: str) -> Exception:
    return problem(
        NO_PYTHON,
        f"{command} cannot be asked for its environment: {reason}",
        "name a Python 3 that starts, by --python",
    )
