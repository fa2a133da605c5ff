"""A diff made from edits is what `patch` takes, and shows nothing that did not change."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from anywarp.migrate.differences import unified
from anywarp.migrate.writing import Edit, apply


def patched(tmp_path: Path, old: bytes, diff: str) -> bytes:
    place = tmp_path / "f"
    place.write_bytes(old)
    if diff:
        subprocess.run(["patch", "-s", "--binary", str(place)], input=diff.encode(), check=True)
    return place.read_bytes()


def test_one_line_is_shown_with_three_around_it():
    old = b"".join(b"%d\n" % number for number in range(1, 10))
    assert unified(old, [Edit(8, 9, b"five")], "a", "b") == (
        "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


def test_frequent_lines_are_not_taken_for_changed():
    old = b"same\n" * 500 + b"one\n" + b"same\n" * 500
    diff = unified(old, [Edit(2500, 2503, b"two")], "a", "b")
    assert [line for line in diff.splitlines()[3:] if line[0] != " "] == ["-one", "+two"]


def test_nothing_changed_is_nothing():
    assert unified(b"a\n", [], "a", "b") == "" == unified(b"a\n", [Edit(0, 1, b"a")], "a", "b")


@pytest.mark.parametrize(
    "old, edit",
    [
        (b"", Edit(0, 0, b"new\n")),
        (b"a", Edit(0, 1, b"b")),
        (b"a\nb", Edit(3, 3, b"\n")),
        (b"a\nb\n", Edit(2, 4, b"")),
        (b"a\nb\n", Edit(0, 4, b"")),
        (b"a\nb\n", Edit(2, 2, b"x\ny\n")),
        (b"a\r\nb\r\n", Edit(1, 3, b"\n")),
        (b"a\nb\nc\n", Edit(1, 2, b" ")),
    ],
)
def test_edges(tmp_path: Path, old: bytes, edit: Edit):
    assert patched(tmp_path, old, unified(old, [edit], "a", "b")) == apply(old, [edit])


def test_any_edits_are_patched_in(tmp_path: Path):
    rng = random.Random(7)
    for _ in range(40):
        old = b"".join(rng.choice((b"a\n", b"b b\n", b"\n", b"long line\n")) for _ in range(rng.randrange(60)))
        places = sorted(rng.randrange(len(old) + 1) for _ in range(2 * rng.randrange(5)))
        edits = [
            Edit(a, b, rng.choice((b"", b"x", b"y\n", b"\n\n"))) for a, b in zip(places[::2], places[1::2], strict=True)
        ]
        assert patched(tmp_path, old, unified(old, edits, "a", "b")) == apply(old, edits), (old, edits)
