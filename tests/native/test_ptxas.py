"""The ptxas that Triton starts: its output is its input, and it fails as the original does."""

import re
import subprocess
from pathlib import Path

import pytest

from anywarp import settings

pytestmark = pytest.mark.native

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"


@pytest.fixture
def ptxas():
    program = settings.LIBRARY_DIR.get() / "ptxas"
    return lambda *words: subprocess.run([str(program), *map(str, words)], capture_output=True, text=True, timeout=20)


def test_the_cubin_is_the_ptx(ptxas, tmp_path):
    """With the options that Triton 3.9 gives it."""
    source, made = tmp_path / "a.ptx", tmp_path / "a.ptx.o"
    source.write_text(PTX)
    options = ["-lineinfo", "--fmad=false", "-v", "--opt-level", "0", "--regAllocOptLevel=2", "--gpu-name=sm_80"]
    done = ptxas(*options, source, "-o", made)
    assert done.returncode == 0, done.stderr
    assert made.read_text() == PTX + "\0"  # for who loads it without telling its size


def test_it_says_a_release(ptxas):
    done = ptxas("--version")
    assert done.returncode == 0
    assert re.search(r"release (\d+\.\d+)", done.stdout)


@pytest.mark.parametrize("text", [None, "\x7fELF no PTX at all"])
def test_what_it_cannot_use_is_fatal_and_nothing_is_written(ptxas, tmp_path, text):
    source, made = tmp_path / "a.ptx", tmp_path / "a.o"
    if text is not None:
        source.write_text(text)
    done = ptxas(source, "-o", made)
    assert done.returncode == 255
    assert str(source) in done.stderr
    assert not Path(made).exists()
