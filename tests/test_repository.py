"""What is under version control is source: nothing large gets in by mistake."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 512 << 10
LARGE = {"examples/story/weights.safetensors"}
"""Larger files that belong here: the demo's model."""


def test_no_large_file_is_tracked_but_those_named():
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout of git")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    assert {name for name in names if (ROOT / name).stat().st_size > LARGEST} == LARGE
