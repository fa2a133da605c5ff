"""An image with anywarp in it: one layer upon the image's own, and a start that goes through `anywarp run`.

Everything else stays: layers, user, working directory, volumes, other platforms of an index. The same input gives the same bytes.
"""

from __future__ import annotations

import copy
import os
import shlex
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from anywarp import __version__
from anywarp.catalogue.replacements import variable
from anywarp.deploy.image import carried, codes, contents, layout, overlaid, wants
from anywarp.deploy.image.entries import MOMENT_TEXT, Compression, Packed, pack
from anywarp.deploy.image.layout import Descriptor, Json
from anywarp.deploy.image.place import FOLDER, prefixed
from anywarp.runtime.overlay import Record

LABELS = "anywarp."
_MOST_MANIFESTS, _MOST_LAYERS, _DEEPEST = 200, 500, 4
_INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
_DOCKER = "application/vnd.docker.distribution.manifest.v2+json"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_OF = "vnd.docker.reference.digest"
"""The annotation of an attestation that says of which manifest it is one (BuildKit)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """How an image is wrapped: the device, a Python to carry (None: the image's own), how the layer is compressed, a name for the result,
    and what is asked of packages for ROCm (None: none are laid in).
    """

    device: str = "cpu"
    python: Path | None = None
    compression: Compression = "gzip"
    tag: str = ""
    packages: overlaid.Asked | None = None


@dataclass(slots=True)
class Wrapped:
    """What was done to one manifest: digests before and after, what of the image's configuration changed, and the packages for ROCm."""

    platform: str
    old: str
    new: str
    python: str
    entrypoint: list[str]
    layer: Packed
    removed: list[str] = field(default_factory=list[str])
    overlay: Record | None = None


@dataclass(slots=True)
class Done:
    """What became of a layout: the manifests that were wrapped, the platforms that stay as they are, attestations that fell away."""

    wrapped: list[Wrapped] = field(default_factory=list[Wrapped])
    kept: list[str] = field(default_factory=list[str])
    dropped: int = 0


def wrap(source: Path, out: Path, choice: Choice, step: Callable[[str, int], None] = lambda what, count: None) -> Done:
    """Write the image at `source`, wrapped, to `out`; both are OCI layouts, folders or archives.

    `step` is told what is done and how many bytes of it. AnywarpError Y120 to Y127 where that cannot be done; nothing is left then.
    """
    work = _Work(choice, step)
    with layout.opened(source) as opened, layout.Writer(out) as writer:
        work.layout, work.writer, work.beside = opened, writer, out.absolute().parent
        index = layout.document(opened, "index.json")
        new = work.index(index, 0)
        if not work.done.wrapped:
            there = ", ".join(sorted(set(work.done.kept))) or "none"
            help = "wrap it on a machine of its kind"
            raise codes.problem(
                codes.NO_PLATFORM, f"the layout holds no image for linux/{_machine()}; it has: {there}", help
            )
        if choice.tag:
            _name(new, choice.tag)
        writer.finish(new)
    return work.done


def _machine() -> str:
    machine = os.uname().machine
    return _MACHINES.get(machine, machine)


class _Work:
    layout: layout.Layout
    writer: layout.Writer
    beside: Path

    def __init__(self, choice: Choice, step: Callable[[str, int], None]) -> None:
        self._choice, self._step = choice, step
        self.done = Done()
        self._count = 0
        self._layers: dict[tuple[carried.Interpreter, str], tuple[Packed, wants.Wants, Record | None]] = {}

    def index(self, told: Json, depth: int) -> Json:
        """Return an index whose manifests for this kind of machine are wrapped; those of others are copied."""
        if depth > _DEEPEST:
            raise codes.damaged(f"indexes are nested more than {_DEEPEST} deep")
        manifests = told.get("manifests")
        if not isinstance(manifests, list):
            raise codes.damaged("an index has no list of manifests")
        replaced: dict[str, str] = {}
        out: list[Json] = []
        for entry in cast(list[Any], manifests):
            self._count += 1
            if self._count > _MOST_MANIFESTS:
                raise codes.damaged(f"the layout has more than {_MOST_MANIFESTS} manifests")
            old = Descriptor.read(entry)
            new = self._entry(old, depth)
            replaced[old.digest] = str(new["digest"])
            out.append(new)
        kept = [one for one in out if not _attests_gone(one, replaced)]
        self.done.dropped += len(out) - len(kept)
        return {**told, "manifests": kept}

    def _entry(self, old: Descriptor, depth: int) -> Json:
        document = layout.named(self.layout, old)
        if old.media_type in _INDEXES or "manifests" in document:
            return self._written(old, self.index(document, depth + 1))
        if "fsLayers" in document:
            raise codes.damaged("a manifest of Docker's first format, which names no configuration")
        layers = document.get("layers")
        if not isinstance(layers, list) or len(cast(list[Any], layers)) > _MOST_LAYERS:
            raise codes.damaged(f"{old.name} is no manifest of an image")
        listed = [Descriptor.read(one) for one in cast(list[Any], layers)]
        config = Descriptor.read(document.get("config"))
        platform = _platform(old, {})
        ours = ("linux", _machine())
        if platform is None or platform[:2] == ours:
            told = layout.named(self.layout, config)
            platform = _platform(old, told) or ("", "")
            if platform[:2] == ours and isinstance(told.get("rootfs"), dict):
                return self._wrapped(old, document, config, told, listed)
        self.done.kept.append("/".join(part for part in platform if part) or "unknown")
        for one in (old, config, *listed):
            self.writer.copy(self.layout, one)
        return old.told

    def _written(self, old: Descriptor, new: Json) -> Json:
        digest, size = self.writer.add(layout.encoded(new))
        return {**old.told, "digest": digest, "size": size}

    def _wrapped(
        self, old: Descriptor, manifest: Json, config: Descriptor, told: Json, layers: list[Descriptor]
    ) -> Json:
        _refuse_wrapped(told)
        diffs = _strings(_map(told["rootfs"]).get("diff_ids"))
        if len(diffs) != len(layers):
            raise codes.damaged(f"the image has {len(layers)} layers, and its configuration {len(diffs)}")
        asked = self._choice.packages
        image = contents.read(
            self.layout, layers, diffs, lambda count: self._step("reading the image", count), asked is not None
        )
        environment = _strings(_map(told.get("config")).get("Env"))
        python = carried.relocatable(self._choice.python) if self._choice.python else _python_of(image, environment)
        packed, record = self._layer(python, image, environment, old.digest if asked is not None else "")
        for one in layers:
            self.writer.copy(self.layout, one)
        new_config, wrapped = _configured(told, self._choice, python, packed, old.digest)
        digest, size = self.writer.add(layout.encoded(new_config))
        new = copy.deepcopy(manifest)
        new["config"] = {**config.told, "digest": digest, "size": size}
        new["layers"] = [*cast(list[Any], manifest["layers"]), _layer(manifest, old, packed, self._choice.compression)]
        new["annotations"] = {**_map(manifest.get("annotations")), "org.opencontainers.image.base.digest": old.digest}
        entry = self._written(old, new)
        entry.pop("data", None)
        self.done.wrapped.append(replace(wrapped, new=str(entry["digest"]), overlay=record))
        return entry

    def _layer(
        self, python: carried.Interpreter, image: contents.Contents, environment: list[str], of: str
    ) -> tuple[Packed, Record | None]:
        """Return the layer for a Python, and for one image where it has packages that go by the image's own."""
        key = (python, of)
        if key not in self._layers:
            entries = carried.entries(python)
            asked = wants.of(entries)
            wants.check(asked, image)
            with self._packages(image, environment) as laid, self.writer.scratch() as path:
                entries += laid.entries if laid is not None else []
                try:
                    packed = pack(
                        entries, path, self._choice.compression, lambda count: self._step("packing the layer", count)
                    )
                except OSError as error:
                    raise codes.problem(
                        codes.CANNOT_WRITE, f"the layer cannot be written: {error.strerror}", "make room"
                    ) from error
                self.writer.take(path, packed.digest)
            self._layers[key] = packed, asked, laid.record if laid is not None else None
        packed, asked, record = self._layers[key]
        wants.check(asked, image)
        return packed, record

    @contextmanager
    def _packages(self, image: contents.Contents, environment: list[str]) -> Generator[overlaid.Laid | None]:
        """Give the packages for ROCm that are asked for; they may want a newer glibc, but bring their libraries themselves."""
        asked = self._choice.packages
        if asked is None:
            yield None
            return
        found = overlaid.environment(image, _path_of(environment))
        with overlaid.laid(image, found, asked, self.beside, lambda text: self._step(text, 0)) as laid:
            wants.check(replace(wants.of(laid.entries), libraries={}), image)
            yield laid


def _attests_gone(entry: Json, replaced: dict[str, str]) -> bool:
    """Tell whether an entry is an attestation of a manifest that is another one now."""
    of = _map(entry.get("annotations")).get(_OF)
    return isinstance(of, str) and replaced.get(of, of) != of


def _platform(descriptor: Descriptor, config: Json) -> tuple[str, ...] | None:
    """Return system, processor and variant of an image, as its entry or its configuration says; None where neither does."""
    for told in (_map(descriptor.told.get("platform")), config):
        if isinstance(told.get("os"), str) and isinstance(told.get("architecture"), str):
            return told["os"], told["architecture"], str(told.get("variant") or "")
    return None


def _refuse_wrapped(config: Json) -> None:
    labels = _map(_map(config.get("config")).get("Labels"))
    if any(name.startswith(LABELS) for name in labels):
        help = "wrap the image that it was made of"
        raise codes.problem(
            codes.WRAPPED, f"the image carries anywarp {labels.get(LABELS + 'version', '')} already", help
        )


def _path_of(environment: list[str]) -> str:
    return next((text[5:] for text in environment if text.startswith("PATH=")), _PATH)


def _python_of(image: contents.Contents, environment: list[str]) -> carried.Interpreter:
    """Return the image's own Python, the first on its PATH of a version that serves; AnywarpError (Y122) where there is none."""
    seen: list[str] = []
    for folder in [*_path_of(environment).split(":"), "/usr/bin", "/usr/local/bin", "/opt/conda/bin"]:
        for name in ("python3", "python", "python3.13", "python3.12", "python3.11", "python3.10"):
            place = image.resolve(f"{folder}/{name}")
            if place not in image.files:
                continue
            version = carried.version_of(place.rpartition("/")[2])
            if version is None or not carried.OLDEST <= version <= carried.NEWEST:
                seen.append(place)
            elif image.has_stdlib(version):
                return carried.Interpreter("/" + place, version)
            else:
                seen.append(f"{place} without its standard library")
    text = f"the image has {seen[0]}, and no whole Python 3.10 to 3.13" if seen else "the image has no Python"
    help = "carry one that may be moved, as `uv python install` makes them: --python FOLDER"
    raise codes.problem(codes.NO_PYTHON, f"{text}, which anywarp runs on", help)


def _configured(
    told: Json, choice: Choice, python: carried.Interpreter, packed: Packed, base: str
) -> tuple[Json, Wrapped]:
    """Return an image's configuration with the layer, the start through anywarp, labels and a line of history."""
    new = copy.deepcopy(told)
    config = new["config"] = _map(new.get("config"))
    entrypoint = prefixed(_strings(config.get("Entrypoint")), choice.device)
    config["Entrypoint"] = entrypoint
    removed = [text for text in _strings(config.get("Env")) if _is_dropped(text.partition("=")[0])]
    if removed:
        config["Env"] = [text for text in _strings(config.get("Env")) if text not in removed]
    config.pop("ArgsEscaped", None)
    labels = {f"{LABELS}version": __version__, f"{LABELS}device": choice.device, f"{LABELS}base": base}
    config["Labels"] = {**_map(config.get("Labels")), **labels}
    rootfs = _map(new["rootfs"])
    rootfs["diff_ids"] = [*_strings(rootfs.get("diff_ids")), packed.diff]
    command = shlex.join(["anywarp", "image", "wrap", "--device", choice.device])
    line = {"created": MOMENT_TEXT, "created_by": command, "comment": f"anywarp {__version__}"}
    history = new.get("history")
    if isinstance(history, list) or history is None:
        new["history"] = [*cast(list[Any], history or []), line]
    shown = "carried, " if python.folder is not None else ""
    name = f"{shown}{python.path} ({python.version[0]}.{python.version[1]})"
    return new, Wrapped("linux/" + _machine(), base, "", name, entrypoint, packed, removed)


def _is_dropped(name: str) -> bool:
    """Tell whether a variable speaks to NVIDIA's container runtime alone: such would have it bring NVIDIA's driver in, or refuse to start.

    Others stay: the image still holds CUDA's files, and programs ask where they are.
    """
    row = variable(name) if name.startswith("NVIDIA_") else None
    return row is not None and row["conversion"] == "drop"


def _layer(manifest: Json, old: Descriptor, packed: Packed, compression: Compression) -> Json:
    media = manifest.get("mediaType") or old.media_type
    if media == _DOCKER and compression == "gzip":
        kind = "application/vnd.docker.image.rootfs.diff.tar.gzip"
    else:
        kind = f"application/vnd.oci.image.layer.v1.tar+{compression}"
    return {
        "mediaType": kind,
        "digest": packed.digest,
        "size": packed.size,
        "annotations": {f"{LABELS}folder": f"/{FOLDER}"},
    }


def _name(index: Json, tag: str) -> None:
    for entry in cast(list[Json], index["manifests"]):
        entry["annotations"] = {**_map(entry.get("annotations")), "org.opencontainers.image.ref.name": tag}


def _strings(found: Any) -> list[str]:
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(one, str) for one in cast(list[Any], found)):
        raise codes.damaged("the image's configuration has something else where a list of texts stands")
    return cast(list[str], found)


def _map(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
