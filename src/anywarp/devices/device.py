"""The door through which a device plugs in: what it must answer, and how it is found.

Kept small on purpose: a device names itself, says what is there, and turns a kernel of an indexed PTX module into a container
that the native libraries can load. All else (cache, service, reports) is the same for every device.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from anywarp.diagnostics import AnywarpError, Diagnostic

if TYPE_CHECKING:
    from anywarp.ptx.index import ModuleIndex

GROUP = "anywarp.devices"


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device that a machine has: a name for people, its memory in bytes, and features by name."""

    name: str
    memory: int
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """Which kernel to compile, and for which block shape (None: for any)."""

    kernel: str
    block: tuple[int, int, int] | None = None
    options: str = ""


@runtime_checkable
class Device(Protocol):
    """What a device answers. All methods may be called from several processes, none keeps state between calls."""

    @property
    def name(self) -> str:
        """The device's short name, as in `anywarp run --device NAME` and in its entry point."""
        ...

    def identity(self) -> str:
        """Return `name:...`, a text without spaces that differs whenever compiled code could not be exchanged; part of cache keys."""
        ...

    def probe(self) -> tuple[DeviceInfo, ...]:
        """Return what this machine has of the device: empty when it has none. Never raises, takes well under a second."""
        ...

    def describe(self, index: ModuleIndex) -> bytes:
        """Return the module's description as a container of `kind module` (docs/contracts.md, section 1)."""
        ...

    def compile(self, index: ModuleIndex, request: CompileRequest) -> bytes:
        """Return one kernel as a container of `kind kernel`; AnywarpError names what cannot be compiled."""
        ...


@runtime_checkable
class Locates(Protocol):
    """What a device may answer besides: where in the PTX an instruction of its code came from."""

    def locate(self, index: ModuleIndex, request: CompileRequest, digest: str, offset: int) -> int:
        """Return the line of PTX of what lies `offset` bytes behind the entry of the object with this SHA-256; 0: not known."""
        ...


@runtime_checkable
class Runs(Protocol):
    """What a device answers that programs can run on, not only be compiled for."""

    def libraries(self, ours: Path) -> Path:
        """Return the folder of its libcuda.so.1 and of all libraries that it has for itself; `ours` holds those for every device."""
        ...


@runtime_checkable
class Measures(Protocol):
    """What a device answers whose code rests on how fast this machine does what, not only on what it can do."""

    def measure(self) -> bytes:
        """Measure; return a container of `kind machine`, whose line `tuning` has the words that stand behind the identity from then on."""
        ...


@runtime_checkable
class Variants(Protocol):
    """What a device answers that is not one thing: it compiles for whichever hardware an identity names, there or not."""

    def variant(self, identity: str) -> Device:
        """Return the device for `NAME:...`, as it was given to `identity` or by a user; AnywarpError D003 if there is no such."""
        ...


def named(identity: str) -> Device:
    """Return the device of an identity (or of a plain name); AnywarpError (D001, D002, D003) when there is none."""
    device = find(identity.partition(":")[0])
    return device.variant(identity) if isinstance(device, Variants) else device


def names() -> tuple[str, ...]:
    """Return the names of all installed devices, sorted."""
    return tuple(sorted({point.name for point in metadata.entry_points(group=GROUP)}))


def find(name: str) -> Device:
    """Return the device of that name; AnywarpError (D001, D002) when there is none or it cannot be loaded."""
    points = tuple(metadata.entry_points(group=GROUP, name=name))
    if not points:
        known = ", ".join(names()) or "none"
        raise AnywarpError(
            Diagnostic("D001", f"there is no device named {name!r}", help=f"the installed devices are: {known}")
        )
    try:
        device = points[0].load()
    except Exception as error:
        raise _broken(name, f"{type(error).__name__}: {error}") from error
    if not isinstance(device, Device):
        raise _broken(name, f"{points[0].value} does not answer the device protocol")
    return device


def _broken(name: str, reason: str) -> AnywarpError:
    return AnywarpError(
        Diagnostic(
            "D002", f"the device {name!r} cannot be loaded: {reason}", help="reinstall the package that brings it"
        )
    )
