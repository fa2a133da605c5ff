"""What a compilation leaves: the artifact, its container on disk and on the wire, and the structures that its code reads.

The container is the one of docs/contracts.md section 1; C++ reads the same bytes.
"""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass
from urllib.parse import quote, unquote

from anywarp.compiler.abi import LAUNCH, STATUS, WORKER

ABI = 2
MAGIC = b"ANYWARP1"
_PREFIX = len(MAGIC) + 4 + 8 + 32

OK, TRAP, DEADLOCK, PAUSED = (STATUS[f"AW_{word}"] for word in ("OK", "TRAP", "DEADLOCK", "PAUSED"))
"""What a kernel returns (`AwStatus`)."""

REASONS = (
    "trap",
    "call through a pointer that is no function of these parameters",
    "the stack of a thread is full (calls too deep, or alloca; cuCtxSetLimit with CU_LIMIT_STACK_SIZE makes it larger)",
    "there is no texture or surface object of that handle",
    "a surface where a texture belongs",
    "a texture where a surface belongs",
    "a cubemap fetch from a texture that is no cubemap",
    "there is no sampler at that address",
    "a surface access that is outside or misaligned",
    "a member mask names lanes at another trip of a loop, which lanes that move in step cannot wait for",
    "lanes of a warp wait for each other at different instructions, for ever",
    "a member mask names lanes that came to another instruction, which lanes that move in step cannot wait for",
)
"""Why a kernel trapped, by `AwWorker.reason`."""


@dataclass(frozen=True, slots=True)
class Amd:
    """What an AMD GPU's launch must know of a kernel: architecture, lanes of a wave, warps of CUDA's in a wave (1: in waves of 64
    half of the lanes idle), registers, bytes of scratch per lane, spilled registers, static shared memory, most threads of a workgroup."""  # fmt: skip

    arch: str
    wave: int
    warps_per_wave: int
    vgprs: int
    agprs: int
    sgprs: int
    scratch: int
    vgpr_spills: int
    sgpr_spills: int
    lds: int
    max_threads: int


@dataclass(frozen=True, slots=True)
class Artifact:
    """A compiled kernel. Sizes in bytes; `block` (0, 0, 0) serves any shape; `frame` is fixed + per_warp * warps.

    `lanes` were emitted together. `variant` has integer parameters (offset, size, modulus): code for launches in which each is a
    multiple of its modulus would be faster (`Specialisation.multiples`). `sites` describe what checked code watches, by number.
    `waits` map the numbers of places where lanes wait to lines of the PTX.
    `amd` is there for an AMD GPU's code object.
    `on_stack`: how many accesses of the stack there are for each vector of lanes, as far as the target counts them; not kept in containers.
    `alone`: it ends whatever others do (`independence.py`). `stack` bytes it takes of the thread's, 0 if that is not known.
    """

    name: str
    symbol: str
    block: tuple[int, int, int]
    frame_fixed: int
    frame_per_warp: int
    local_bytes: int
    shared_bytes: int
    param_bytes: int
    object: bytes
    compile_ms: float = 0.0
    notes: tuple[str, ...] = ()
    lanes: int = 32
    variant: tuple[tuple[int, int, int], ...] = ()
    sites: tuple[str, ...] = ()
    alone: bool = False
    stack: int = 0
    waits: tuple[tuple[int, int], ...] = ()
    amd: Amd | None = None
    on_stack: float = 0.0


def percent(text: str) -> str:
    """Encode a name for a header line: space, percent and everything unprintable become %XX of their UTF-8."""
    return quote(text, safe="!\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~")


def pack_container(header: str, payload: bytes) -> bytes:
    """Return the container of a header (lines `key value...`) and a payload."""
    lines = header.encode()
    digest = hashlib.sha256(lines + payload).digest()
    return MAGIC + len(lines).to_bytes(4, "little") + len(payload).to_bytes(8, "little") + digest + lines + payload


def unpack_container(data: bytes) -> tuple[str, bytes]:
    """Return header and payload; ValueError if the bytes are not exactly one container."""
    if len(data) < _PREFIX or not data.startswith(MAGIC):
        raise ValueError("not a container")
    header_bytes = int.from_bytes(data[8:12], "little")
    payload_bytes = int.from_bytes(data[12:20], "little")
    if len(data) != _PREFIX + header_bytes + payload_bytes:
        raise ValueError("a container of the wrong length")
    body = data[_PREFIX:]
    if hashlib.sha256(body).digest() != data[20:_PREFIX]:
        raise ValueError("a container whose digest differs")
    try:
        return body[:header_bytes].decode(), body[header_bytes:]
    except UnicodeDecodeError:
        raise ValueError("a container whose header is not text") from None


def pack(artifact: Artifact) -> bytes:
    """Return the container of a kernel artifact."""
    x, y, z = artifact.block
    lines = [
        "kind kernel",
        f"abi {ABI}",
        f"name {percent(artifact.name)}",
        f"symbol {percent(artifact.symbol)}",
        f"block {x} {y} {z}",
        f"frame {artifact.frame_fixed} {artifact.frame_per_warp}",
        f"local {artifact.local_bytes}",
        f"shared {artifact.shared_bytes}",
        f"param {artifact.param_bytes}",
        f"compile_ms {artifact.compile_ms:.3f}",
        f"gang {artifact.lanes}",
        f"alone {int(artifact.alone)}",
        f"stack {artifact.stack}",
        *([f"amd {' '.join(str(word) for word in astuple(artifact.amd))}"] if artifact.amd else []),
        *(f"variant {offset} {size} {modulus}" for offset, size, modulus in artifact.variant),
        *(f"site {site}" for site in artifact.sites),
        *(f"wait {number} {line}" for number, line in artifact.waits),
        *(f"note {percent(note)}" for note in artifact.notes),
    ]
    return pack_container("".join(line + "\n" for line in lines), artifact.object)


def unpack(data: bytes) -> Artifact:
    """Return the kernel artifact in a container; ValueError if it is damaged, of another kind or of another ABI."""
    header, payload = unpack_container(data)
    fields: dict[str, list[str]] = {}
    notes: list[str] = []
    variant: list[tuple[int, int, int]] = []
    sites: list[str] = []
    waits: list[tuple[int, int]] = []
    for line in header.splitlines():
        key, *words = line.split(" ")
        if key == "note":
            notes.append(unquote(" ".join(words)))
        elif key == "site":
            sites.append(" ".join(words))
        elif key == "wait":
            number, line_number = (int(word) for word in words)
            waits.append((number, line_number))
        elif key == "variant":
            offset, size, modulus = (int(word) for word in words)
            variant.append((offset, size, modulus))
        else:
            fields[key] = words
    try:
        if fields["kind"] != ["kernel"] or fields["abi"] != [str(ABI)]:
            raise ValueError("not a kernel of this ABI")
        x, y, z = (int(word) for word in fields["block"])
        fixed, per_warp = (int(word) for word in fields["frame"])
        name, symbol = unquote(fields["name"][0]), unquote(fields["symbol"][0])
        local, shared, param = (int(fields[key][0]) for key in ("local", "shared", "param"))
        time, lanes = float(fields["compile_ms"][0]), int(fields["gang"][0])
        amd = _amd(fields["amd"]) if "amd" in fields else None
        alone, stack = fields["alone"] == ["1"], int(fields["stack"][0])
    except (KeyError, IndexError) as error:
        raise ValueError(f"a kernel container without {error}") from None
    return Artifact(
        name,
        symbol,
        (x, y, z),
        fixed,
        per_warp,
        local,
        shared,
        param,
        payload,
        time,
        tuple(notes),
        lanes,
        tuple(variant),
        tuple(sites),
        alone,
        stack,
        tuple(waits),
        amd,
    )


def _amd(words: list[str]) -> Amd:
    arch, *numbers = words
    if len(numbers) != 10:
        raise ValueError("a kernel container with a damaged `amd` line")
    return Amd(arch, *(int(number) for number in numbers))


AwLaunch, AwWorker = LAUNCH.ctype, WORKER.ctype
"""The structures of a launch for ctypes."""
