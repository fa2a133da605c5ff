"""The runtime library: every implemented function is called at least once, and does what the manual says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.catalogue.runtime import load
from native.by_hand import library_path
from native.cudart.run import chapters

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not library_path().with_name("libcudart.so.13").exists(), reason="needs scripts/build"),
]


@pytest.fixture(scope="module", params=[12, 13])
def called(request, tmp_path_factory, same_compiler):
    """What all chapters together called, by the library's own count; and what they said of mistakes."""
    reports = tmp_path_factory.mktemp("reports")
    environment = dict(os.environ, LD_LIBRARY_PATH=str(library_path().parent), ANYWARP_REPORT_DIR=str(reports))
    environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[1])
    command = [sys.executable, "-m", "native.cudart.run", str(request.param)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    lines = [line.split("\t") for file in reports.glob("*.tsv") for line in file.read_text().splitlines()]
    return request.param, done, {line[1] for line in lines if line[0] == "call"}


def test_chapters_pass(called):
    _, done, _ = called
    assert len(chapters()) >= 4
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_implemented_function_is_called(called):
    major, _, names = called
    wanted = {row.name for row in load().rows if major in row.majors and row.route == "custom"}
    assert sorted(wanted - names) == []
