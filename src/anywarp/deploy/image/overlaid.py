"""Packages for ROCm in the layer, beside the image's own environment of Python, as `anywarp env make` lays them beside one on a machine.

What is installed in the image is known by its metadata, read from its layers; the installer runs here, for a Python of the same version, and
nothing of the image is executed.
"""

from __future__ import annotations

import dataclasses
import posixpath
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from anywarp.deploy.env import interpreter, make
from anywarp.deploy.env.installed import Found, look
from anywarp.deploy.env.installer import Name, Sources
from anywarp.deploy.env.plan import of_environment
from anywarp.deploy.image import carried, codes
from anywarp.deploy.image.contents import Contents
from anywarp.deploy.image.entries import Entry
from anywarp.runtime import overlay
from anywarp.runtime.overlay import Record


@dataclass(frozen=True, slots=True)
class Asked:
    """A release of ROCm ("": the newest that has the same torch), who installs, and where packages come from."""

    rocm: str = ""
    installer: Name = "pip"
    sources: Sources = field(default_factory=Sources)


@dataclass(frozen=True, slots=True)
class Environment:
    """An image's environment of Python: prefix, version, and where packages lie, all without a leading slash, the first first on Python's path."""

    prefix: str
    version: carried.Version
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Laid:
    """What goes into the layer, and the record of it as it lies there."""

    entries: list[Entry]
    record: Record


def environment(image: Contents, path: str) -> Environment:
    """Return the environment of the first Python on an image's PATH, whose packages its programs find; AnywarpError (Y122) where there is none."""
    for name in ("python3", "python"):
        for folder in path.split(":"):
            place = posixpath.join(folder, name)
            real = image.resolve(place)
            version = carried.version_of(posixpath.basename(real)) if real in image.files else None
            if version is None:
                continue
            own = posixpath.dirname(image.resolve(folder))
            prefix = own if f"{own}/pyvenv.cfg" in image.files else posixpath.dirname(posixpath.dirname(real))
            return Environment(prefix, version, _folders(prefix, version))
    help = "name the folder of its Python in the image's PATH"
    raise codes.problem(codes.NO_PYTHON, "no Python is on the image's PATH, so it has no packages to replace", help)


def _folders(prefix: str, version: carried.Version) -> tuple[str, ...]:
    """Return where a Python looks for packages; Debian's and Fedora's own look in more than one place (site, `deb_system`)."""
    of = f"python{version[0]}.{version[1]}"
    above = ("usr/local", "usr") if prefix == "usr" else (prefix,)
    kinds = [
        f"lib/{of}/site-packages",
        f"lib64/{of}/site-packages",
        f"lib/{of}/dist-packages",
        "lib/python3/dist-packages",
    ]
    return tuple(f"{place}/{kind}" for place in above for kind in kinds)


@contextmanager
def laid(
    image: Contents, found: Environment, asked: Asked, beside: Path, say: Callable[[str], None]
) -> Generator[Laid]:
    """Install the counterparts of an image's packages into a folder in `beside`, which is gone behind the context.

    AnywarpError: Y126 where the Python here is of another version, Y061 where the installer fails, Y063 where nothing has a counterpart.
    """
    here = interpreter.ask(sys.executable)
    wanted = f"{found.version[0]}.{found.version[1]}"
    if here.version != wanted:
        text = f"the image's packages are for Python {wanted}, and this is Python {here.version}, for which packages for ROCm would be installed"
        raise codes.problem(codes.NOT_INSTALLED, text, f"run this with Python {wanted}")
    with tempfile.TemporaryDirectory(prefix=".packages-", dir=beside) as folder:
        root, cache = Path(folder, "image"), Path(folder, "cache")
        for path, data in image.metadata.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        there = look([root / one for one in found.folders])
        listed = {name: dataclasses.replace(one, listed=True) for name, one in there.packages.items()}
        packages = Found(listed, there.faults)
        python = dataclasses.replace(here, prefix=f"/{found.prefix}", folders=())
        plan = of_environment(packages, asked.rocm)
        made = make.make(python, packages, plan, asked.installer, asked.sources, cache, say)
        yield _carried(made.record, root, cache)


def _carried(record: Record, root: Path, cache: Path) -> Laid:
    """Return an overlay's files where they lie in the image, and its record with the image's paths."""
    source = Path(record.overlay)
    place = f"{overlay.IMAGE.parent}/{source.relative_to(cache / 'overlays')}"
    replaced = tuple(
        dataclasses.replace(one, place=f"/{Path(one.place).relative_to(root).as_posix()}") for one in record.replaced
    )
    new = dataclasses.replace(record, overlay=place, replaced=replaced)
    name = f"{overlay.IMAGE}{record.prefix}/{overlay.RECORD}".lstrip("/")
    return Laid([*carried.tree(source, place.lstrip("/")), Entry(name, new.text().encode())], new)
