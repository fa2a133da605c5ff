"""PyTorch's stand-in for each torch of standins.tsv, compiled without that torch: `-m releasing.standins TREE TOOLS MACHINE CACHE MIRROR JOBS REUSE`.

It must share libstdc++ with torch, which zig does not bring: headers and the library to link with come from Debian, and clang, glibc 2.28's
headers and link libraries from zig. Torch's headers are those of its wheel for Windows, the smallest one for x86-64 (docs/release.md).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from elftools.elf.elffile import ELFFile

from anywarp.catalogue.deriving.fetching import NotFetched, Store
from anywarp.catalogue.deriving.inputs import Input, load
from anywarp.catalogue.deriving.unpacking import unpack
from anywarp.frameworks.torch import build, found
from releasing.toolchain import GLIBC, REQUIREMENTS, Tools

INPUTS = Path(__file__).with_name("standins.tsv")
OURS = Path(__file__).with_name("libstdcxx")

NEEDED = {
    # The one says which form of std::string torch has (found.Torch.has_cxx11_strings).
    "c10": "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
    "torch_cpu": "_ZN2at15get_num_threadsEv",
}
"""Torch's libraries that a stand-in names as needed, each with a symbol that its likeness here has."""

NEWEST = {"GLIBCXX": "3.4.24", "CXXABI": "1.3.11"}
"""The newest versions of libstdc++'s symbols that manylinux_2_28 allows. Source: the policies of auditwheel, which has the last word."""

COMPILER = """#!/bin/sh
# g++ as far as frameworks/torch/build.py asks for it: clang with libstdc++, and that of the system at run time.
for each; do
  [ "$each" != -shared ] ||
    exec "{zig}" cc {target} -Wl,--no-as-needed "$@" "{place}/nonshared.o" "{library}" "{unwinder}" -Wl,-z,undefs -Wl,-s
done
# zig writes debugging information if not told. Warnings: members that torch's classes have had since a version only are overridden
# without the word; what is said to GCC in pragmas and attributes; libstdc++ uses what it deprecates.
exec "{zig}" cc {target} -g0 -fomit-frame-pointer -nostdinc++ -I"{ours}" -I"{headers}" -I"{generated}" "$@" \\
  -Wno-inconsistent-missing-override -Wno-unknown-pragmas -Wno-ignored-attributes -Wno-deprecated-declarations
"""


def inputs(machine: str) -> list[Input]:
    """Return what is fetched for a machine; nothing for one whose stand-ins are not made here."""
    known = load(INPUTS)
    served = any(each.folder == machine for each in known)
    return [each for each in known if each.folder in ("torch", machine)] if served else []


def unpacked(each: Input, store: Store, below: Path) -> Path:
    """Return the folder with an input's files, made at the first time."""
    place = below / f"{each.package}-{each.version}-{each.sha256[:12]}"
    if not place.exists():
        say(f"fetching {each.package} {each.version}")
        part = below / f"{place.name}.part"
        shutil.rmtree(part, ignore_errors=True)
        unpack(store.keep(each), each, part)
        part.replace(place)
    return place


def compiler(tools: Tools, places: dict[str, Path]) -> Path:
    """Write the command that compiles and links a stand-in; `places` are the folders of Debian's packages by name."""
    place = tools.commands / "libstdcxx"
    place.mkdir(parents=True, exist_ok=True)
    headers = next(places["libstdcxx-12-dev"].glob("usr/include/c++/*"))
    target = f"-target {tools.machine}-linux-gnu.{GLIBC}"
    text = COMPILER.format(
        zig=tools.zig,
        target=target,
        place=place,
        library=next(places["libstdcxx6"].glob("usr/lib/*/libstdc++.so.6")).resolve(),
        unwinder=next(places["libgcc-s1"].glob("lib/*/libgcc_s.so.1")),
        ours=OURS,
        headers=headers,
        generated=next(places["libstdcxx-12-dev"].glob(f"usr/include/*/c++/{headers.name}")),
    )
    command = place / "c++"
    command.write_text(text)
    command.chmod(0o755)
    flags = ["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]
    run([str(command), *flags, "-c", str(OURS / "nonshared.cpp"), "-o", str(place / "nonshared.o")])
    return command


def likeness(tools: Tools, folder: Path) -> found.Torch:
    """Make of a folder with torch's headers what is enough of a torch to link with, and return it."""
    libraries = folder / "lib"
    if not libraries.exists():
        for header in (folder / "include").rglob("*"):
            if header.is_file() and b"\r\n" in (content := header.read_bytes()):
                header.write_bytes(content.replace(b"\r\n", b"\n"))  # as it is in the wheels for Linux
        part = folder / "lib.part"
        part.mkdir(exist_ok=True)
        for name, symbol in NEEDED.items():
            source = part / f"{name}.c"
            source.write_text(f"void {symbol}(void) {{}}\n")
            words = [
                "-shared",
                "-nostdlib",
                f"-Wl,-soname,lib{name}.so",
                "-o",
                str(part / f"lib{name}.so"),
                str(source),
            ]
            run([str(tools.commands / "clang"), *words])
        part.rename(libraries)
    return found.read(folder)


def main() -> None:
    """Build all into TREE/build/native/lib/torch, where CMake takes them from."""
    tree, environment, machine, cache, mirror, jobs, reuse = sys.argv[1:]
    tools = Tools(Path(environment), machine)
    wanted = inputs(machine)
    if not wanted:
        return say(f"no stand-ins of PyTorch for {machine}: they are compiled at the first use there")
    store, below = Store(Path(cache), mirror), tools.environment.parent / "inputs"
    try:
        places = {each.name: unpacked(each, store, below) for each in wanted}
    except NotFetched as error:
        sys.exit(str(error))
    command = compiler(tools, {name.partition("/")[2]: place for name, place in places.items()})
    native, libraries = Path(tree) / "native", Path(tree) / "build/native/lib"
    torches = [likeness(tools, place / "torch") for name, place in places.items() if name.startswith("torch/")]
    for torch in sorted(
        torches, key=lambda each: each.minor, reverse=True
    ):  # the newest is the one that may not compile
        start = time.monotonic()
        place = libraries / "torch" / torch.version / build.NAME
        kept = Path(cache) / "standins" / key(native, tools, torch) / build.NAME
        if reuse == "yes" and kept.exists():
            say(f"stand-in for torch {torch.version}: compiled before, of the same sources by the same tools")
            copy(kept, place)
            continue

        def progress(done: int, of: int, version: str = torch.version, start: float = start) -> None:
            say(f"stand-in for torch {version}: {done}/{of} compiled, {time.monotonic() - start:.0f} s")

        try:
            made = build.ship(native, torch, libraries, int(jobs), False, compiler=[str(command)], progress=progress)
        except subprocess.CalledProcessError as error:
            sys.exit(f"the stand-in for torch {torch.version} does not compile:\n{error.stderr}")
        if missing := too_new(made):
            names = "\n  ".join(missing)
            sys.exit(f"GCC 8's libstdc++ has no\n  {names}\nDefine them in {OURS / 'nonshared.cpp'}")
        copy(made, kept)
        say(f"stand-in for torch {torch.version}: {made.stat().st_size:,} bytes")


def key(native: Path, tools: Tools, torch: found.Torch) -> str:
    """Return a digest of all that decides the bytes of a stand-in."""
    known = hashlib.sha256(f"{build.digest(native)} {torch.identity} {tools.machine}\n{COMPILER}".encode())
    for path in (
        INPUTS,
        REQUIREMENTS,
        Path(build.__file__),
        *sorted(each for each in OURS.rglob("*") if each.is_file()),
    ):
        known.update(path.read_bytes())
    return f"{torch.version}-{tools.machine}-{known.hexdigest()[:16]}"


def too_new(library: Path) -> list[str]:
    """Return which symbols a library asks of a newer libstdc++ than the tag of our wheels allows, with their versions."""
    found: list[str] = []
    with library.open("rb") as file:
        whole = ELFFile(file)
        needed, versions = whole.get_section_by_name(".gnu.version_r"), whole.get_section_by_name(".gnu.version")
        names = {each.entry.vna_other: each.name for _, them in needed.iter_versions() for each in them}
        for number, symbol in enumerate(whole.get_section_by_name(".dynsym").iter_symbols()):
            version = names.get(versions.get_symbol(number).entry["ndx"], "")
            newest = NEWEST.get(version.rpartition("_")[0], "")
            if newest and _numbers(version.rpartition("_")[2]) > _numbers(newest):
                found.append(f"{symbol.name} ({version})")
    return found


def _numbers(version: str) -> list[int]:
    return [int(each) for each in re.findall(r"\d+", version)]


def copy(file: Path, place: Path) -> None:
    """Copy a file, which appears whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_suffix(f".{os.getpid()}.new")
    shutil.copyfile(file, beside)
    beside.replace(place)


def run(command: list[str]) -> None:
    """Run a step; the end with its words when it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")


def say(words: str) -> None:
    """Say how far it is."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
