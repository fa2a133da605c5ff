import shlex
import sys
from pathlib import Path

import pytest

FAKE = Path(__file__).parent / "anywarp_for_tests.py"
WORDS = (sys.executable, str(FAKE))


@pytest.fixture(autouse=True)
def private(tmp_path, monkeypatch):
    """Results of its own, and a Python whose anywarp has verbs that take no time."""
    pytest.importorskip("pydantic")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.join(WORDS)} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("ANYWARP_PYTHON", str(python))
    monkeypatch.setenv("ANYWARP_RESULTS", str(tmp_path / "results.sqlite"))
    monkeypatch.setenv("ANYWARP_CACHE_DIR", str(tmp_path / "cache"))
