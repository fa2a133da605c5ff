"""Sources that programs give to NVRTC, as the compile service gets, keeps and answers them (docs/contracts.md, section 3).

The toolchain compiles; here is what travels: one payload with source, headers, options and names, and a container with the result.
"""

from __future__ import annotations

from pathlib import Path

from anywarp.compiler.artifact import pack_container, percent, unpack_container
from anywarp.runtime import wire
from anywarp.runtime.wire import Message, message
from anywarp.toolchain import nvrtc


def translated(payload: bytes) -> Message:
    """Compile a source and return the reply: a container, or an error with NVRTC's code and the log as payload."""
    source = _source(payload)
    try:
        made = nvrtc.translate(source)
    except nvrtc.Rejected as refused:
        return message(
            ("status", "error"), ("cuda", refused.code), ("diagnostic", "nvrtc"), payload=refused.log.encode()
        )
    lines = ["kind ptx", f"log {percent(made.log)}"]
    lines += [f"lowered {percent(asked)} {percent(name)}" for asked, name in made.lowered]
    lines += [f"file {percent(str(path))} {_stamp(path)}" for path in made.files]
    return message(("status", "ok"), payload=pack_container("".join(f"{line}\n" for line in lines), made.ptx.encode()))


def current(container: bytes) -> bool:
    """Tell whether the files that a kept result was made of are as they were."""
    header, _ = unpack_container(container)
    for line in wire.parse_header(header.encode()):
        if line[0] == "file" and " ".join(line[2:]) != _stamp(Path(line[1])):
            return False
    return True


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return "0 0"
    return f"{status.st_size} {status.st_mtime_ns}"


def _source(payload: bytes) -> nvrtc.Source:
    """Read what a program handed over; WireError when it is not well formed."""
    if len(payload) < wire.LENGTHS.size:
        raise wire.WireError("the source ends early")
    header_bytes, text_bytes = wire.lengths(payload[: wire.LENGTHS.size])
    body = payload[wire.LENGTHS.size :]
    if len(body) != header_bytes + text_bytes:
        raise wire.WireError("the source does not have the length it states")
    lines, texts = wire.parse_header(body[:header_bytes]), body[header_bytes:]
    text, headers, at = "", dict[str, str](), 0
    for line in lines:
        if line[0] in ("text", "header"):
            size = int(line[-1]) if line[-1].isdecimal() and len(line[-1]) < 12 else -1
            if size < 0 or at + size > len(texts):
                raise wire.WireError("a part of the source does not have the length it states")
            piece = texts[at : at + size].decode("utf-8", "replace")
            at += size
            if line[0] == "text":
                text = piece
            else:
                headers[line[1]] = piece
    return nvrtc.Source(
        name=_one(lines, "name"),
        text=text,
        headers=headers,
        options=[line[1] for line in lines if line[0] == "option" and len(line) > 1],
        expressions=[line[1] for line in lines if line[0] == "expression" and len(line) > 1],
        folder=_one(lines, "folder"),
    )


def _one(lines: tuple[tuple[str, ...], ...], key: str) -> str:
    return next((line[1] for line in lines if line[0] == key and len(line) > 1), "")
