"""A compile service of its own for each test, with the toy device installed for it."""

import contextlib
import fcntl
import tempfile
import time
from pathlib import Path

import pytest

from anywarp.runtime.client import Client

FAKES = Path(__file__).resolve().parents[1] / "fakes"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder whose `cache` a service may use; every service started from it has ended when the test has."""
    run = tempfile.TemporaryDirectory(prefix="aw")  # a test's own folder has too long a path for a socket
    (tmp_path / "run").symlink_to(run.name)
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("ANYWARP_BUILD_ID", "test")
    monkeypatch.setenv("ANYWARP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", run.name)
    monkeypatch.setenv("ANYWARP_SERVICE_IDLE", "0.5")
    monkeypatch.setenv("TOY_RECORD", str(tmp_path / "compiled"))
    yield tmp_path
    for lock in (*Path(run.name).rglob("*.lock"), *(tmp_path / "cache").rglob("*.lock")):
        _wait_for_end(lock)
    run.cleanup()


@pytest.fixture
def client(place):
    with contextlib.closing(Client("test", place / "cache")) as made:
        yield made


def _wait_for_end(lock: Path) -> None:
    deadline = time.monotonic() + 30
    with open(lock) as file:
        while time.monotonic() < deadline:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError:
                time.sleep(0.05)
    pytest.fail("the compile service did not end when idle")
