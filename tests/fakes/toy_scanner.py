"""A scanner for tests: finds `cudaX(`, and does to its process what a file tells it to do."""

import os
import re
import time

from anywarp.migrate.findings import Use, Verdict

LARGEST = 4 << 20
SUBJECTS = ("toy",)


def wants(path, head):
    return path.suffix in (".toy", ".die", ".abort", ".hang", ".eat", ".raise", ".many") or head.startswith(b"toy")


def scan(data, path):
    if path.suffix == ".die":
        os._exit(3)
    if path.suffix == ".abort":
        os.abort()
    if path.suffix == ".hang":
        time.sleep(60)
    if path.suffix == ".eat":
        bytearray(5 << 30)  # of zeros, which cost nothing where there is no limit
    if path.suffix == ".raise":
        raise ZeroDivisionError("toy")
    if path.suffix == ".many":
        for i in range(30_000):
            yield Use("toy.call", f"cuda{i}", i + 1)
    for number, line in enumerate(data.splitlines(), 1):
        for found in re.finditer(rb"\bcuda\w+", line):
            text = line.decode(errors="surrogateescape")
            yield Use("toy.call", found[0].decode(), number, found.start() + 1, text)


def judge(use, target):
    if use.name == "cudaNever":
        return Verdict("no-path", "nothing does it", effort="weeks", help="do without")
    if use.name == "cudaFact":
        return None
    return Verdict("converted", "it has a counterpart", use.name.replace("cuda", "hip"), "none")
