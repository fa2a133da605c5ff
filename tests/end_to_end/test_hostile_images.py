"""Crafted images go through the whole machine: the right CUDA error, a clear line in the JIT log, and a process that lives."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.native

HERE = Path(__file__).parent
HEADER = ".version 7.0\n.target sm_50\n.address_size 64\n"
INVALID_IMAGE, NO_BINARY, INVALID_PTX, LAUNCH_FAILED, NOT_SUPPORTED = 200, 209, 218, 719, 801


def kernel(body, before=""):
    return (
        f"{HEADER}{before}.visible .entry k(.param .u64 p)\n{{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n{body}\nret;\n}}\n"
    )


def run(image, tmp_path, name="k", seconds=60, **environment):
    """Load and launch `image` in a process under our libcuda; the process must end by itself and cleanly."""
    file = tmp_path / "image"
    file.write_bytes(image if isinstance(image, bytes) else image.encode())
    command = [
        sys.executable,
        "-m",
        "anywarp",
        "run",
        "--",
        sys.executable,
        str(HERE / "load_image.py"),
        str(file),
        name,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    out["stderr"] = done.stderr
    return out


def refused(out, *codes):
    """Check that the image failed at load or launch with one of `codes`, said why, and left a working process."""
    code = out["load"] or out.get("launch")
    assert code in codes, out
    assert out["log"] or "anywarp: " in out["stderr"], out
    assert out["good"] == 0 and out["right"], out
    return out["log"] + out["stderr"]


def test_a_good_kernel_runs(tmp_path):
    out = run(kernel("mov.u32 %r1, 1;"), tmp_path)
    assert (out["load"], out["launch"], out["good"], out["right"]) == (0, 0, 0, True)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.97])
def test_truncated_text_is_invalid_ptx(tmp_path, share):
    text = kernel("\n".join(f"add.s32 %r1, %r1, {n};" for n in range(50)))
    words = refused(run(text[: int(len(text) * share)], tmp_path), INVALID_PTX, INVALID_IMAGE)
    assert "error[P" in words


def test_an_unknown_opcode_is_named(tmp_path):
    words = refused(run(kernel("frobnicate.u32 %r1, %r2;"), tmp_path), INVALID_PTX, NOT_SUPPORTED)
    assert "frobnicate" in words


def test_a_known_instruction_that_we_lack_is_named(tmp_path):
    words = refused(run(kernel("wgmma.fence.sync.aligned;"), tmp_path), NOT_SUPPORTED)
    assert "wgmma.fence.sync.aligned" in words


def test_ten_megabytes_on_one_line_are_read_in_time(tmp_path):
    body = "add.s32 %r1,%r1,1; " * 10
    comment = "/*" + "x" * (10 << 20) + "*/ "
    out = run(kernel(comment + body).replace("\n", " "), tmp_path)
    assert out["load"] == 0 and out["launch"] == 0 and out["right"], out


def test_ten_megabytes_of_errors_on_one_line_end_in_a_short_message(tmp_path):
    out = run(HEADER.replace("\n", " ") + ".visible .entry k() { " + "?" * (10 << 20), tmp_path)
    words = refused(out, INVALID_PTX)
    assert len(words) < 10_000


def test_a_hundred_thousand_nested_scopes_are_refused(tmp_path):
    refused(run(kernel("{" * 100_000 + "}" * 100_000), tmp_path), INVALID_PTX, NOT_SUPPORTED)


def test_bytes_that_are_not_text_are_refused(tmp_path):
    image = kernel("mov.u32 %r1, 1;").encode().replace(b"%r1", b"\xff\xfe\x80", 1)
    refused(run(image, tmp_path), INVALID_PTX, INVALID_IMAGE)


def test_endless_recursion_fills_the_stack_and_no_more(tmp_path):
    function = ".func deep()\n{\ncall deep;\nret;\n}\n"
    out = run(kernel("call deep;", before=function), tmp_path)
    assert (out["load"], out["launch"]) == (0, LAUNCH_FAILED)
    assert "stack of a thread is full" in out["log"] + out["stderr"]


def test_an_unresolved_function_is_named(tmp_path):
    words = refused(
        run(kernel("call elsewhere;", before=".extern .func elsewhere();\n"), tmp_path),
        INVALID_PTX,
        NOT_SUPPORTED,
        301,
        500,
    )
    assert "elsewhere" in words


def fatbin(payload, *, flags=0, kind=1, raw=None, header=64):
    """A fat binary with one entry, laid out as NVIDIA's tools lay it out."""
    padded = payload + bytes(-len(payload) % 8)
    entry = struct.pack(
        "<HHIQIIHHIIIQQQ", kind, 0x101, header, len(padded), len(payload), 0, 0, 7, 80, 0, 0, flags, 0, raw or 0
    )
    body = entry + padded
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def test_a_fat_binary_with_ptx_runs(tmp_path):
    out = run(fatbin(kernel("mov.u32 %r1, 1;").encode()), tmp_path)
    assert out["load"] == 0 and out["launch"] == 0 and out["right"], out


def test_a_fat_binary_without_ptx_has_no_binary_for_this_device(tmp_path):
    refused(run(fatbin(b"\x7fELF" + bytes(200), kind=2), tmp_path), NO_BINARY, INVALID_IMAGE)


def test_every_header_byte_flipped_is_survived(tmp_path):
    """One process loads all variants: each must give a status, none may take the process down."""
    good = fatbin(kernel("mov.u32 %r1, 1;").encode())
    folder = tmp_path / "images"
    folder.mkdir()
    for at in range(16 + 64):
        flipped = bytearray(good)
        flipped[at] ^= 0xFF
        (folder / f"{at:03}").write_bytes(bytes(flipped))
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, str(HERE / "load_many.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    codes = json.loads(done.stdout)
    assert len(codes) == 80
    assert set(codes.values()) <= {0, INVALID_IMAGE, NO_BINARY, INVALID_PTX, NOT_SUPPORTED, 222, 1}, codes
    assert sum(code != 0 for code in codes.values()) > 20  # most of these fields matter


def test_a_zstd_frame_that_grows_without_end_is_refused(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    bomb = zstandard.ZstdCompressor(level=19).compress(bytes(1 << 28))
    for claimed in (1 << 62, 1 << 20, len(bomb)):
        refused(run(fatbin(bomb, flags=0x8000, raw=claimed), tmp_path), INVALID_IMAGE, INVALID_PTX, 2)
