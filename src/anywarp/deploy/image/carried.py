"""What the layer carries: anywarp with its libraries, the packages that it needs, how it is started, and, if wanted, a Python.

Packages are those of the environment that runs this, where the image's Python is of the same version; for another they are installed
by pip for that version, in the same releases.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any, cast

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from anywarp import settings
from anywarp.deploy.image import codes
from anywarp.deploy.image.entries import Entry
from anywarp.deploy.image.place import FOLDER, PROGRAM

Version = tuple[int, int]
OLDEST, NEWEST = (3, 10), (3, 13)
SITE = f"{FOLDER}/site"
PYTHON = f"{FOLDER}/python"
_PACKAGE = Path(__file__).resolve().parents[2]
_KEPT = re.compile(
    r"^(?:METADATA|entry_points\.txt|top_level\.txt|(?:licenses/)?(?:LICEN[CS]E|NOTICE|COPYING|AUTHORS)[\w.-]*|licenses/.*)$",
    re.IGNORECASE,
)
"""What is kept of a package's metadata; the rest says how it came here, which differs."""
_LEFT_OUT = re.compile(r"(?:^|/)(?:__pycache__|tests?|idlelib|turtledemo|ensurepip|tkinter|lib2to3)(?:/|$)|\.pyc$|\.a$")
_OF_PYTHON_LEFT_OUT = re.compile(
    r"(?:^|/)(?:site-packages|share|include|config-[^/]*|pkgconfig)(?:/|$)|^bin/(?!python)|^lib/(?:tcl|tk|itcl|thread)"
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that runs anywarp in the image: its path there and its version; `folder` is where it is carried from, None: the image's own."""

    path: str
    version: Version
    folder: Path | None = None

    @property
    def is_ours(self) -> bool:
        """Whether packages for the Python that runs this fit it."""
        return self.version == sys.version_info[:2]


def entries(python: Interpreter) -> list[Entry]:
    """Return everything that the layer holds; AnywarpError: Y126 where packages cannot be had, Y127 for a Python that cannot be carried."""
    out = [*_anywarp(), Entry(PROGRAM.lstrip("/"), _program(python), 0o755)]
    if python.is_ours:
        out += _packages()
    else:
        out += _packages_for(python.version)
    if python.folder is not None:
        out += _python(python.folder)
    if python.is_ours:
        out += list(_compiled(out))
    return out


def relocatable(folder: Path) -> Interpreter:
    """Return a Python that can be carried, by its folder; AnywarpError (Y122) where there is none of a version that serves."""
    found = sorted((folder / "bin").glob("python3.[0-9]*")) if (folder / "bin").is_dir() else []
    versions = [path for path in found if re.fullmatch(r"python3\.\d+", path.name)]
    if (folder / "pyvenv.cfg").exists() or not versions:
        help = "name the folder of a Python that may be moved, with bin/python3.x and lib/python3.x, as `uv python install` makes them"
        raise codes.problem(codes.NO_PYTHON, f"{folder} holds no Python that can be carried", help)
    version = version_of(versions[-1].name)
    if version is None or not OLDEST <= version <= NEWEST:
        raise codes.problem(
            codes.NO_PYTHON,
            f"{folder} holds {versions[-1].name}, and anywarp runs on Python 3.10 to 3.13",
            "name another",
        )
    if lost := _found_by_place(versions[-1], folder):
        text = f"{versions[-1]} finds {lost} by the place that it was built for, and would not in an image"
        raise codes.problem(codes.NO_PYTHON, text, "name a Python that may be moved, as `uv python install` makes them")
    return Interpreter(f"/{PYTHON}/bin/{versions[-1].name}", version, folder)


def _found_by_place(program: Path, folder: Path) -> str:
    """Return a library of its own that an interpreter is linked against and does not look for beside itself (`$ORIGIN`, ld.so(8)); "" for none."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    needed: list[str] = []
    paths: list[str] = []
    try:
        with program.open("rb") as file:
            dynamic = cast(Any, ELFFile)(file).get_section_by_name(".dynamic")
            for tag in dynamic.iter_tags() if dynamic is not None else ():
                if tag.entry.d_tag == "DT_NEEDED":
                    needed.append(tag.needed)
                elif tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH"):
                    paths += (tag.rpath if tag.entry.d_tag == "DT_RPATH" else tag.runpath).split(":")
    except (ELFError, OSError, ValueError) as error:
        raise codes.problem(codes.NO_PYTHON, f"{program} is no program: {error}", "name another Python") from error
    own = [name for name in needed if "/" in name or (folder / "lib" / name).exists()]
    return own[0] if own and not any(path.startswith(("$ORIGIN", "${ORIGIN}")) for path in paths) else ""


def version_of(name: str) -> Version | None:
    """Return the version that an interpreter's name says: python3.11; None where it says none."""
    found = re.fullmatch(r"python(\d)\.(\d+)", name)
    return (int(found[1]), int(found[2])) if found else None


def _program(python: Interpreter) -> bytes:
    """Return the program: run by an interpreter that neither the environment nor the working directory changes, as all of ours are."""
    lines = (
        f"#!{python.path} -IS",
        "import sys",
        f'sys.path.append("/{SITE}")',
        "from anywarp.cli.main import main",
        "main()",
    )
    return ("\n".join(lines) + "\n").encode()


def _anywarp() -> Iterator[Entry]:
    libraries = settings.LIBRARY_DIR.get().resolve()
    yield from tree(_PACKAGE, f"{SITE}/anywarp")
    if not libraries.is_relative_to(_PACKAGE):
        yield from tree(libraries, f"{SITE}/anywarp/lib")
    own = metadata.distribution("anywarp")
    folder = f"{SITE}/anywarp-{own.version}.dist-info"
    for name in ("METADATA", "entry_points.txt"):
        if text := own.read_text(name):
            yield Entry(f"{folder}/{name}", text.encode())


def tree(root: Path, place: str) -> Iterator[Entry]:
    """Yield the files below a folder; links that stay inside are links there, too."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted([*names, *(one for one in folders if (Path(folder) / one).is_symlink())]):
            path = Path(folder) / name
            inside = path.relative_to(root).as_posix()
            if inside.endswith(".pyc"):
                continue
            if path.is_symlink() and _stays(root, path):
                yield Entry(f"{place}/{inside}", link=os.readlink(path))
            elif path.is_file():
                yield Entry(f"{place}/{inside}", path, 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)


def _stays(root: Path, path: Path) -> bool:
    return not os.readlink(path).startswith("/") and path.resolve().is_relative_to(root.resolve())


# --- packages -----------------------------------------------------------------------------------------------------------


def needed(version: Version | None = None) -> list[metadata.Distribution]:
    """Return the packages that anywarp needs, and those that they need, as installed here; for a version of Python, those that it needs."""
    markers = cast(dict[str, str], {**default_environment(), "extra": ""})
    if version is not None:
        markers |= {
            "python_version": f"{version[0]}.{version[1]}",
            "python_full_version": f"{version[0]}.{version[1]}.0",
        }
    found: dict[str, metadata.Distribution] = {}
    asked = list(metadata.distribution("anywarp").requires or ())
    while asked:
        one = Requirement(asked.pop())
        name = canonicalize_name(one.name)
        if name in found or (one.marker is not None and not one.marker.evaluate(markers)):
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            help = f"pip install '{one}'"
            raise codes.problem(
                codes.NOT_INSTALLED, f"{name}, which anywarp needs, is not installed here", help
            ) from None
        asked += found[name].requires or ()
    return [found[name] for name in sorted(found)]


def _packages() -> Iterator[Entry]:
    for package in needed():
        if package.files is None:
            text = f"it is not known which files {package.name} has"
            raise codes.problem(
                codes.NOT_INSTALLED, text, f"install it with pip: pip install --force-reinstall {package.name}"
            )
        for file in package.files:
            path = PurePosixPath(file.as_posix())
            place = Path(str(package.locate_file(file)))
            if ".." not in path.parts and not path.is_absolute() and _is_kept(path) and place.is_file():
                yield Entry(f"{SITE}/{path}", place.resolve(), 0o755 if os.access(place, os.X_OK) else 0o644)


def _is_kept(path: PurePosixPath) -> bool:
    if path.parts[0].endswith(".dist-info"):
        return _KEPT.match("/".join(path.parts[1:])) is not None
    return path.suffix != ".pyc" and path.parts[0] not in ("bin", "share") and "__pycache__" not in path.parts


def _packages_for(version: Version) -> list[Entry]:
    """Install the packages for another version of Python, in the releases that are here."""
    wanted = [f"{package.name}=={package.version}" for package in needed(version)]
    with tempfile.TemporaryDirectory(prefix="anywarp-image-") as folder:
        command = [sys.executable, "-m", "pip", "install", "--target", folder, "--no-deps", "--no-compile", "--only-binary", ":all:",
                   "--quiet", "--disable-pip-version-check", "--implementation", "cp", "--python-version", f"{version[0]}.{version[1]}",
                   *(word for name in _platforms() for word in ("--platform", name)), "--", *wanted]  # fmt: skip
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno(), stderr=subprocess.PIPE, check=False
        )
        if done.returncode:
            last = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no word of why"])[-1]
            text = f"pip could not install what anywarp needs for Python {version[0]}.{version[1]}: {last[:200]}"
            help = "run this with that version of Python, or carry one with --python FOLDER"
            raise codes.problem(codes.NOT_INSTALLED, text, help)
        out: list[Entry] = []
        for entry in tree(Path(folder), SITE):
            path = PurePosixPath(entry.path).relative_to(SITE)
            if _is_kept(path):
                content = entry.content.read_bytes() if isinstance(entry.content, Path) else entry.content
                out.append(Entry(entry.path, content, entry.mode, entry.link))
        return out


def _platforms() -> list[str]:
    machine = os.uname().machine
    return [*(f"manylinux_2_{minor}_{machine}" for minor in (28, 27, 26, 24, 17)), f"manylinux2014_{machine}"]


# --- a Python ------------------------------------------------------------------------------------------------------------------


def _python(folder: Path) -> Iterator[Entry]:
    for entry in tree(folder, PYTHON):
        inside = entry.path.removeprefix(PYTHON + "/")
        if not _LEFT_OUT.search(inside) and not _OF_PYTHON_LEFT_OUT.search(inside):
            yield entry


# --- bytecode -------------------------------------------------------------------------------------------------------------------


def _compiled(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the bytecode of all modules, which a container's user may not write (PEP 552: by the hash of its source, unchecked).

    Version 2 of marshal, the last without references: those depend on what else the process holds.
    """
    tag = sys.implementation.cache_tag
    for entry in entries:
        path = PurePosixPath(entry.path)
        if path.suffix != ".py" or entry.link:
            continue
        source = entry.content.read_bytes() if isinstance(entry.content, Path) else entry.content
        try:
            code = compile(source, f"/{path}", "exec", dont_inherit=True, optimize=0)
        except (SyntaxError, ValueError):
            continue  # a template, or a test of what does not compile
        data = (
            importlib.util.MAGIC_NUMBER
            + (1).to_bytes(4, "little")
            + importlib.util.source_hash(source)
            + marshal.dumps(code, 2)
        )
        yield Entry(str(path.parent / "__pycache__" / f"{path.stem}.{tag}.pyc"), data)
