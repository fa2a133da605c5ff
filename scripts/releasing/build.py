"""From a tree of sources to a wheel and an sdist whose bytes depend on the sources and the tools alone."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from releasing.toolchain import Tools

KEPT = ("CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_BUILD_PARALLEL_LEVEL")
"""Of this process's environment, beside CCACHE_*: what makes a build quicker and its bytes no different."""

TORCH = ("libc10.so", "libtorch_cpu.so")
"""Libraries that a stand-in needs and that are in no wheel of ours: torch has loaded them when the stand-in is loaded."""


class BuildError(Exception):
    """Raised with words for the user when a build, or a check of what it made, fails."""


def export(repository: Path, commit: str, tree: Path) -> None:
    """Write the files of a commit to `tree`, which must not exist: what is not committed is in no release."""
    tree.mkdir(parents=True)
    archive = subprocess.Popen(["git", "-C", str(repository), "archive", commit], stdout=subprocess.PIPE)
    assert archive.stdout is not None
    with tarfile.open(fileobj=archive.stdout, mode="r|") as files:
        files.extraction_filter = getattr(tarfile, "tar_filter", None)  # Debian 12's Python 3.11.2 has no filters
        files.extractall(tree)
    if archive.wait():
        raise BuildError(f"git cannot export {commit}")


def environment(tools: Tools, scratch: Path, epoch: int, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the whole environment of a build: nothing that differs from machine to machine gets in by accident."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith("CCACHE_")}
    return {
        **kept,
        "PATH": f"{tools.bin}:/usr/bin:/bin",
        "HOME": str(scratch),
        "LANG": "C.UTF-8",
        "SOURCE_DATE_EPOCH": str(epoch),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ZIG_GLOBAL_CACHE_DIR": str(tools.environment.parent / "zig"), # glibc's stubs and libc++, made from zig's own sources
        "ZIG_LOCAL_CACHE_DIR": str(scratch / "zig"),
        "_PYTHON_HOST_PLATFORM": f"linux-{tools.machine}",
        **(more or {}),
    }  # fmt: skip


def wheel(tools: Tools, tree: Path, variables: Mapping[str, str], out: Path, host: bool = False) -> Path:
    """Build the wheel of `tree` in `tree`/build; returns its path in `out`, tagged manylinux by auditwheel.

    With `host` the machine's own compiler is used, and the tag is the oldest system that the result happens to work on.
    BuildError when the compiler or auditwheel says no: a tag is refused to what needs newer symbols than it allows.
    """
    raw = out / "raw"
    words = [*_build(tools, tree, raw), "--wheel"]
    if not host:
        defined = {
            "CMAKE_TOOLCHAIN_FILE": str(tree / "scripts/releasing/zig.cmake"),
            "ANYWARP_TOOLS": str(tools.commands),
            "ANYWARP_MACHINE": tools.machine,
            "CMAKE_CXX_FLAGS": f"-ffile-prefix-map={tree}=.",
        }
        # The linker strips (zig.cmake): the machine's own strip may know no other processor.
        words += ["-Cinstall.strip=false", *(f"-Ccmake.define.{name}={value}" for name, value in defined.items())]
    call(words, variables, out / "build.log")
    platform = "auto" if host else tools.platform
    repair = [str(tools.bin / "auditwheel"), "repair", "--plat", platform, "--only-plat", "-w", str(out)]
    repair += [f"--exclude={each}" for each in TORCH]
    call([*repair, str(only(raw, "*.whl"))], variables, out / "build.log", umask=0o022)  # it archives modes of folders
    return only(out, "*-manylinux*.whl")


def standins(
    tools: Tools, tree: Path, variables: Mapping[str, str], cache: Path, mirror: str, reuse: bool = False
) -> None:
    """Build PyTorch's stand-ins into `tree`/build, before its wheel; what is fetched for them is kept in `cache`. BuildError when that fails.

    With `reuse` those are taken that were compiled before of the same sources by the same tools.
    """
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(len(os.sched_getaffinity(0)))
    words = [str(tools.bin / "python"), "-m", "releasing.standins", str(tree), str(tools.environment), tools.machine]
    # The index that pip asks is the machine's own business, and not that of what is compiled.
    pip = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    known = {**pip, **variables, "PYTHONPATH": f"{tree / 'src'}:{Path(__file__).resolve().parents[1]}"}
    done = subprocess.run(
        [*words, str(cache), mirror, jobs, "yes" if reuse else "no"], env=known, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise BuildError("PyTorch's stand-ins were not built")


def device_library(tools: Tools, tree: Path, variables: Mapping[str, str], out: Path) -> Path:
    """Make libdevice.10.bc where the wheel takes libraries from: who installs it needs no compiler. Returns its path; BuildError when that fails."""
    place = tree / "build/native/lib/libdevice.10.bc"
    known = {**variables, "PYTHONPATH": str(tree / "src")}
    call([str(tools.bin / "python"), "-m", "anywarp.toolchain.libdevice", str(place)], known, out / "build.log")
    return place


def sdist(tools: Tools, tree: Path, variables: Mapping[str, str], out: Path) -> Path:
    """Build the sdist of `tree`; returns its path in `out`."""
    call([*_build(tools, tree, out), "--sdist"], variables, out / "build.log")
    return only(out, "*.tar.gz")


def audit(tools: Tools, wheel: Path) -> str:
    """Return what auditwheel says of a wheel, in a line; BuildError when it needs a library that neither the tag promises nor torch brings."""
    command = [str(tools.bin / "auditwheel"), "show", "--json", str(wheel)]
    shown = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    outside = sorted(shown["external_libs"])
    if unknown := set(outside) - set(TORCH):
        raise BuildError(f"{wheel.name} needs {', '.join(sorted(unknown))}, which is not in it")
    return f"auditwheel: symbols as in {shown['sym_tag']}; libraries of torch that stand-ins need: {', '.join(outside) or 'none'}"


def _build(tools: Tools, tree: Path, out: Path) -> list[str]:
    return [str(tools.bin / "python"), "-m", "build", "--no-isolation", "--outdir", str(out), str(tree)]


def call(command: list[str], variables: Mapping[str, str], log: Path, umask: int = -1) -> None:
    """Run a step, with a umask of its own unless that is -1; what it says goes to the end of `log`. BuildError with the last lines when it fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        done = subprocess.run(command, env=dict(variables), stdout=file, stderr=subprocess.STDOUT, umask=umask)
    if done.returncode:
        last = log.read_text(errors="replace").splitlines()[-40:]
        raise BuildError(f"{' '.join(command[:6])} ... failed (all of it is in {log}):\n" + "\n".join(last))


def only(folder: Path, pattern: str) -> Path:
    """Return the one file that matches; BuildError when there are none or several."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise BuildError(f"{folder} has {len(found)} files {pattern}, expected one")
    return found[0]


def sha256(path: Path) -> str:
    """Return the digest of a file as 64 hex digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def differences(one: Path, other: Path) -> list[str]:
    """Return what differs between two archives (wheel or sdist) of the same name; empty when the bytes are the same."""
    if sha256(one) == sha256(other):
        return []
    first, second = members(one), members(other)
    inside = [f"{name}: differs" for name in sorted(first.keys() & second.keys()) if first[name] != second[name]]
    inside += [f"{name}: in one only" for name in sorted(first.keys() ^ second.keys())]
    return inside or [f"{one.name}: the members are equal, their order, times or modes are not"]


def members(archive: Path) -> dict[str, str]:
    """Return the digest of each file in a wheel or an sdist, by name."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as files:
            return {name: hashlib.sha256(files.read(name)).hexdigest() for name in files.namelist()}
    found: dict[str, str] = {}
    with tarfile.open(archive) as files:
        for member in files:
            content = files.extractfile(member)
            found[member.name] = hashlib.sha256(content.read() if content else b"").hexdigest()
    return found


def clear(folder: Path) -> None:
    """Remove a folder of an earlier run, if there is one."""
    if folder.exists():
        print(f"removing {folder}", file=sys.stderr)
        shutil.rmtree(folder)
