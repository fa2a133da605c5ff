"""The tools of a release: one environment with the versions of requirements.txt, and compilers as commands.

zig's clang brings headers and link libraries of every glibc, so a library that is linked here runs on a system as old as GLIBC
says, and libc++, which goes into each library. The same tools on another machine make the same bytes.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

GLIBC = "2.28"
"""The oldest C library that wheels need: that of RHEL 8, Debian 10 and of PyTorch's own wheels."""

PLATFORM = "manylinux_{glibc}_{machine}"
MACHINES = ("x86_64", "aarch64")
REQUIREMENTS = Path(__file__).with_name("requirements.txt")


@dataclass(frozen=True)
class Tools:
    """An environment of Python with the tools, and the commands that compile for one machine."""

    environment: Path
    machine: str

    @property
    def bin(self) -> Path:
        """Return the folder of the environment's own commands."""
        return self.environment / "bin"

    @property
    def commands(self) -> Path:
        """Return the folder of the compilers for this machine."""
        return self.environment / "compilers" / self.machine

    @property
    def zig(self) -> Path:
        """Return zig itself, which is a compiler of every kind by its first word."""
        return next(self.environment.glob("lib/python3*/site-packages/ziglang/zig"))

    @property
    def platform(self) -> str:
        """Return the platform tag that wheels for this machine get."""
        return PLATFORM.format(glibc=GLIBC.replace(".", "_"), machine=self.machine)


def ready(folder: Path, machine: str) -> Tools:
    """Return the tools below `folder`, made first when requirements.txt has changed since."""
    wanted = REQUIREMENTS.read_text()
    environment = folder / "tools"
    stamp = environment / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        print("setting up the tools of a release (once; 100 MB)", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(environment)], check=True)
        pip = [str(environment / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--requirement", str(REQUIREMENTS)], check=True)
        stamp.write_text(wanted)
    tools = Tools(environment, machine)
    _write_commands(tools)
    return tools


LINK = """#!/bin/sh
# Started before each command that links. zig takes no linker script as an input, only one with -T: all are made one.
script=
for each; do
  shift
  case $each in
    *.ld) script=${script:-$(mktemp)}; cat "$each" >>"$script" ;;
    *) set -- "$@" "$each" ;;
  esac
done
[ -n "$script" ] || exec "$@"
"$@" "-Wl,-T,$script"
status=$?
rm "$script"
exit $status
"""


def _write_commands(tools: Tools) -> None:
    """Write each command as a file of its own: CMake and ccache want compilers without arguments."""
    target = f"-target {tools.machine}-linux-gnu.{GLIBC}"
    words = {"clang": f"cc {target}", "clang++": f"c++ {target}", "ar": "ar", "ranlib": "ranlib"}
    tools.commands.mkdir(parents=True, exist_ok=True)
    texts = {name: f'#!/bin/sh\nexec "{tools.zig}" {command} "$@"\n' for name, command in words.items()}
    for name, text in {**texts, "link": LINK}.items():
        path = tools.commands / name
        if not path.exists() or path.read_text() != text:  # its time is part of ccache's key
            path.write_text(text)
            path.chmod(0o755)
