"""What answers reviews, in a process of its own: it may be killed over a review that takes too long, and its memory is limited.

Frames on standard input and output: eight bytes of length, then the bytes. The first frame is the rules; each further one a review.
"""

from __future__ import annotations

import json
import resource
import struct
import sys
from typing import IO

from anywarp.deploy.webhook.review import Answer, Rules, answer

LENGTH = struct.Struct("!Q")
MEMORY = 2 << 30
"""Bytes of address space of a worker; the rules with their tables take some 200 MB of it."""


def main() -> None:
    """Answer reviews until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asks, says = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing else may stand between frames
    first = _frame(asks)
    if first is None:
        return
    rules = Rules.unpacked(json.loads(first))
    answer(WARM_UP, rules)
    _say(says, Answer(b"", "unchanged"))
    while (data := _frame(asks)) is not None:
        _say(says, answer(data, rules))


WARM_UP = json.dumps({
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {
        "uid": "warm-up", "operation": "CREATE", "resource": {"group": "", "version": "v1", "resource": "pods"},
        "object": {"spec": {"containers": [{
            "name": "c", "image": "nvidia/cuda:12.4.1-base-ubuntu22.04", "command": ["sh", "-c", "nvidia-smi\npython x.py"],
            "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}], "resources": {"limits": {"nvidia.com/gpu": 1}},
        }]}},
    },
}).encode()  # fmt: skip
"""A review that has the tables read and the rules imported before a real one waits for them."""


def _frame(stream: IO[bytes]) -> bytes | None:
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    data = stream.read(size)
    return data if len(data) == size else None


def _say(stream: IO[bytes], said: Answer) -> None:
    head = json.dumps([said.outcome, said.changes, said.left, said.why]).encode()
    for part in (head, said.data):
        stream.write(LENGTH.pack(len(part)))
        stream.write(part)
    stream.flush()


if __name__ == "__main__":
    main()
