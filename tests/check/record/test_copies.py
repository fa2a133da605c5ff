"""What a program copies from its device to the host is recorded, on the processor and where calls are passed on to a driver, and compared as what it is said to be."""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anywarp import settings
from anywarp.check.bundle import open_bundle
from anywarp.check.record import copies
from anywarp.check.record.kept import array
from anywarp.diagnostics import AnywarpError

PROGRAM = Path(__file__).with_name("copies_program.py")


def anywarp(*words, **more):
    command = [sys.executable, "-m", "anywarp", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, env={**os.environ, **more})


def expected(factor):
    """The kernel's own definition, in float64, rounded once."""
    given = (np.arange(1024) / 7).astype(np.float32)
    return (given.astype(np.float64) * np.float32(factor) + 1).astype(np.float32)


@pytest.mark.native
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_copies_are_named_by_their_number_and_the_kernel_before_them(tmp_path, device):
    driver = str(settings.LIBRARY_DIR.get().resolve() / "libcuda.so.1")
    where = {"ANYWARP_NVIDIA_DRIVER": driver} if device == "cuda" else {}
    run = ("--", "anywarp", "run", "--device", device, "--", sys.executable, PROGRAM)
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = anywarp("record", "-o", tmp_path / "r", "--buffer", "copy [23]:f32[32,32]", *run, 1.5, **where, **path)
    assert done.returncode == 0, done.stderr
    with open_bundle(tmp_path / "r") as bundle:
        found = {entry.name: entry for entry in bundle.entries}
        assert [(e.name, e.dtype, e.shape) for e in bundle.entries] == [
            ("copy 1", "uint8", (64,)), ("copy 2 after saxpy", "float32", (32, 32)), ("copy 3 after saxpy", "float32", (32, 32)),
        ]  # fmt: skip
        for name in ("copy 2 after saxpy", "copy 3 after saxpy"):
            assert np.array_equal(array(bundle, found[name]).reshape(-1), expected(1.5))
    again = anywarp("verify", tmp_path / "r", "--format", "json", *run, 1.5, **where, **path)
    assert again.returncode == 0 and json.loads(again.stdout)["grade"] == "pass", again.stderr
    if device == "cpu":
        wrong = anywarp("verify", tmp_path / "r", *run, 1.6, **where, **path)
        assert wrong.returncode == 1 and "copy 2 after saxpy" in wrong.stdout.splitlines()[0]


@pytest.mark.native
def test_bytes_of_which_nothing_was_said_warn_where_they_differ_and_room_is_kept_to(tmp_path):
    run = ("--", sys.executable, "-m", "anywarp", "run", "--", sys.executable, PROGRAM)
    for name, factor in (("a", 1.5), ("b", 1.6)):
        assert anywarp("record", "-o", tmp_path / name, *run, factor).returncode == 0
    done = anywarp("verify", tmp_path / "a", tmp_path / "b")
    assert done.returncode == 0 and done.stdout.startswith("warn: copy 2 after saxpy") and "--buffer" in done.stdout
    assert (
        anywarp("record", "-o", tmp_path / "c", "--budget", "1KB", "--buffer", "copy 1:f32[3]", *run, 1.5).returncode
        == 0
    )
    with open_bundle(tmp_path / "c") as bundle:
        assert [e.blob is not None for e in bundle.entries] == [True]
        assert bundle.entries[0].slot == copies.SLOT and any(
            "which is not float32[3]" in note for note in bundle.texts("notes")
        )
        assert sum("--budget" in note for note in bundle.texts("notes")) == 2


def packed(*found):
    heads = (
        b"AWC1" + struct.pack("<IQQ", len(name), size, len(content)) + name + content for name, size, content in found
    )
    return b"".join(heads)


def test_a_file_that_was_cut_off_is_read_up_to_there():
    whole = packed((b"one", 3, b"abc"), (b"", 4, b"defg"), (b"two", 9, b""))
    assert [(c.name, c.size, c.content) for c in copies.read(io.BytesIO(whole))] == [
        ("copy 1 after one", 3, b"abc"), ("copy 2", 4, b"defg"), ("copy 3 after two", 9, None),
    ]  # fmt: skip
    first = len(packed((b"one", 3, b"abc")))
    for end in range(first, len(packed((b"one", 3, b"abc"), (b"", 4, b"defg")))):
        assert len(list(copies.read(io.BytesIO(whole[:end])))) == 1


@given(st.binary(max_size=200))
def test_a_hostile_file_is_no_trouble(content):
    for each in copies.read(io.BytesIO(b"AWC1" + content)):
        assert each.content is None or len(each.content) == each.size


def test_what_buffers_hold_is_read_and_nonsense_refused():
    kind = copies.kind_of("*after f(int):bf16[2, 3]")
    assert (kind.name, kind.dtype, kind.shape) == ("*after f(int)", "bfloat16", (2, 3))
    assert copies.kind_of("copy 3:float32").shape is None
    assert copies.kind_of("copy 3:f32").is_of("copy 3 after k") and not copies.kind_of("copy 3:f32").is_of(
        "copy 30 after k"
    )
    for bad in ("", "copy 3", "copy 3:f31", ":f32", "a:f32[", "a:f32[]", "a:f32[-1]", "a:f32[1", "a:f32]", "a:f32[²]"):
        with pytest.raises(AnywarpError) as error:
            copies.kind_of(bad)
        assert error.value.diagnostic.code == "V016", bad
