"""What is under version control is source: nothing large gets in by mistake, nor a file that a command's typing error made."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 512 << 10
LARGE = {"examples/story/weights.safetensors"}
"""Larger files that belong here: the demo's model."""


@pytest.fixture
def tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout of git")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_large_file_is_tracked_but_those_named(tracked):
    assert {name for name in tracked if (ROOT / name).stat().st_size > LARGEST} == LARGE


def test_names_of_files_begin_with_a_letter_digit_dot_or_underscore_and_need_no_quotes(tracked):
    assert not [name for name in tracked if not re.fullmatch(r"[A-Za-z0-9._][A-Za-z0-9._+-]*", name.rpartition("/")[2])]
