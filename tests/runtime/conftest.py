"""A compile service of its own for each test, with the toy device installed for it."""

import contextlib
import fcntl
import os
import signal
import tempfile
import time
from pathlib import Path

import pytest

from anywarp.runtime.client import Client
from fakes.services import services

FAKES = Path(__file__).resolve().parents[1] / "fakes"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder whose `cache` a service may use; every service started from it ends with the test."""
    run = tempfile.TemporaryDirectory(prefix="aw")  # a test's own folder has too long a path for a socket
    (tmp_path / "run").symlink_to(run.name)
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("ANYWARP_BUILD_ID", "test")
    monkeypatch.setenv("ANYWARP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", run.name)
    monkeypatch.setenv("ANYWARP_SERVICE_IDLE", "0.5")
    monkeypatch.setenv("ANYWARP_TOY_RECORD", str(tmp_path / "compiled"))
    yield tmp_path
    for lock in (*Path(run.name).rglob("*.lock"), *(tmp_path / "cache").rglob("*.lock")):
        _end(lock)
    run.cleanup()


@pytest.fixture
def client(place):
    with contextlib.closing(Client("test", place / "cache")) as made:
        yield made


def _end(lock: Path) -> None:
    """Kill the service that holds the lock, if one does, and wait until it has let go."""
    with open(lock) as file:
        deadline = time.monotonic() + 30
        while not _free(file):
            for pid in services(lock.with_suffix(".sock")):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            assert time.monotonic() < deadline, "the compile service did not end"
            time.sleep(0.01)


def _free(file) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
