"""Reading the archives that `ar` makes, as far as to get at the objects in them.

Sizes and offsets are checked, for a library may come from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from anywarp.toolchain import codes

_MAGIC, _HEADER = b"!<arch>\n", 60


def members(content: bytes, file: str) -> Iterator[tuple[str, bytes]]:
    """Yield each object's name and content; a file that is no archive is its only object. AnywarpError (T005) when damaged."""
    if content.startswith(b"!<thin>\n"):
        raise codes.problem(
            codes.DEVICE_LINK, f"{file}: a thin archive holds no objects", "name the objects, or make it with `ar rcs`"
        )
    if not content.startswith(_MAGIC):
        yield file, content
        return
    at, names = len(_MAGIC), b""
    while at + _HEADER <= len(content):
        name, size = content[at : at + 16].rstrip(), content[at + 48 : at + 58].strip()
        if content[at + 58 : at + 60] != b"`\n" or not size.isdigit() or at + _HEADER + int(size) > len(content):
            raise codes.problem(codes.DEVICE_LINK, f"{file}: the archive is damaged at byte {at}", "make it again")
        body = content[at + _HEADER : at + _HEADER + int(size)]
        at += _HEADER + int(size) + int(size) % 2
        if name == b"//":
            names = body
        elif name not in (b"/", b"/SYM64/"):
            yield f"{file}({_name(name, names)})", body


def _name(field: bytes, names: bytes) -> str:
    """Return a member's name, which for a long one lies in the table of names."""
    if field[:1] == b"/" and field[1:].isdigit():
        field = names[int(field[1:]) :].partition(b"\n")[0]
    return field.rstrip(b"/").decode("utf-8", "replace")
