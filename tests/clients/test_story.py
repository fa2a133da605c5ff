"""The story model, written for CUDA, tells the same story on the CPU, cold and warm, with tinygrad's own numbers."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

STORY = Path(__file__).parents[2] / "examples" / "story"

pytestmark = [pytest.mark.tinygrad, pytest.mark.native, pytest.mark.slow]


@pytest.mark.skipif(
    not (shutil.which("clang") or shutil.which("gcc")), reason="tinygrad's CPU backend needs a C compiler"
)
def test_demo_agrees_with_the_cpu_backend_of_tinygrad():
    done = subprocess.run(
        [sys.executable, str(STORY / "demo.py"), "--tokens", "40"],
        # else a slow machine ends the cold run before what is compiled in the background is there, and the warm one compiles it
        env={**os.environ, "ANYWARP_VERSIONS": "best"},
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("Once upon a time")
    difference = re.search(r"differ from tinygrad's CPU backend by at most (\S+) of the largest", done.stdout)
    assert difference and 0 < float(difference[1]) <= 1e-4
    cold, warm = (re.search(rf"^{name} .* (\d+) kernels compiled", done.stdout, re.M) for name in ("cold", "warm"))
    assert cold and int(cold[1]) > 10
    assert warm and int(warm[1]) == 0


def test_model_code_does_not_know_us():
    for name in ("model.py", "generate.py", "train.py", "tokenizer.py", "corpus.py"):
        assert "anywarp" not in (STORY / name).read_text().lower(), name
