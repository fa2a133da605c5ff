"""Read what kernels left for the host (native/core/hip_services.h), without the driver."""

from __future__ import annotations

import re
import struct

from anywarp.compiler.amdgpu.services import ASSERTION, FILLER, PRINT, AwHipRecord

_CONVERSION = re.compile(r"%([-+ #0]*)(\*|\d+)?(\.(?:\*|\d+)?)?(hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcsp%])")


def read_records(records, consumed, written):
    """Return (kind, text) of each record between two counts of bytes: "print" or "assertion"."""
    out, at = [], consumed
    while at < written:
        start = at % len(records)
        record = AwHipRecord.from_buffer_copy(records, start) if start + 48 <= len(records) else None
        kind, size = struct.unpack_from("<II", records, start)
        if kind == FILLER:
            at += size
            continue
        body = records[start + 48 : start + size]
        if kind == PRINT:
            out.append(("print", _printed(record, body)))
        elif kind == ASSERTION:
            message, file, function = _texts(body, 0, 3)
            out.append(("assertion", f"{file}:{record.arguments}: {function}: Assertion `{message}` failed."))
        else:
            raise AssertionError(f"record of kind {kind} at {start}")
        at += size
    return out


def _texts(body, at, count):
    found = []
    for _ in range(count):
        length = int.from_bytes(body[at : at + 4], "little")
        found.append(body[at + 4 : at + 4 + length].decode())
        at += 4 + (length + 3 & ~3)
    return found


def _printed(record, body):
    template = body[: record.format - 1].decode()
    start = record.format + 7 & ~7
    arguments, at = body[start : start + record.arguments], 0
    behind = start + (record.arguments + 7 & ~7)

    def take(size):
        nonlocal at
        at = -(-at // size) * size + size
        return arguments[at - size : at]

    def show(match):
        nonlocal behind
        flags, width, precision, length, letter = match.groups()
        if letter == "%":
            return "%"
        width = str(int.from_bytes(take(4), "little", signed=True)) if width == "*" else width or ""
        if precision == ".*":
            precision = "." + str(int.from_bytes(take(4), "little", signed=True))
        spec = "%" + flags + width + (precision or "")
        wide = length in ("ll", "l", "j", "z", "t")
        if letter == "s":
            if not int.from_bytes(take(8), "little"):
                return "(null)"
            (text,) = _texts(body, behind, 1)
            behind += 4 + (len(text.encode()) + 3 & ~3)
            return (spec + "s") % text
        if letter == "p":
            return f"0x{int.from_bytes(take(8), 'little'):x}"
        if letter in "eEfFgGaA":
            return (spec + letter) % struct.unpack("<d", take(8))[0]
        value = int.from_bytes(take(8 if wide and letter != "c" else 4), "little", signed=letter in "dic")
        return (spec + letter) % value

    return _CONVERSION.sub(show, template)
