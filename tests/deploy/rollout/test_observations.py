"""The table of observations: batches, order, counts, and what happens when the disk or the writer gives out."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time

import pytest

from anywarp.deploy.rollout import observations
from anywarp.deploy.rollout.observations import Observation, Writer, open_database, read, read_counts


def seen(n, stage="shadow", **more):
    return Observation(rollout="r", stage=stage, side="source", exchange=str(n), total_ms=n, **more)


def test_what_is_written_is_read_again_in_order(tmp_path):
    writer = Writer(tmp_path / "rollout.sqlite")
    given = [seen(n, status=200, error=None if n % 2 else "refused", kl=n / 7, prompt="naïve ✓") for n in range(1200)]
    assert all(writer.put(row) for row in given)
    writer.count("r", "shadow", "seen", 3)
    writer.count("r", "shadow", "seen", 4)
    writer.count("r", "5 %", "seen", 1)
    assert writer.close()
    database = open_database(tmp_path / "rollout.sqlite")
    rows = list(read(database, "r"))
    assert [row for _, row in rows] == given
    assert [number for number, _ in rows] == sorted(number for number, _ in rows)
    half = rows[600][0]
    assert [row for _, row in read(database, "r", "shadow", after=half)] == given[601:]
    assert len(list(read(database, "r", after=half, most=7))) == 7
    assert not list(read(database, "r", "5 %")) and not list(read(database, "another"))
    assert read_counts(database, "r") == {"seen": 8} and read_counts(database, "r", "shadow") == {"seen": 7}
    database.close()


def test_the_database_is_private_and_no_link_is_followed(tmp_path):
    open_database(tmp_path / "d").close()
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o600
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        open_database(tmp_path / "link")
    assert not (tmp_path / "elsewhere").exists()


def test_what_does_not_fit_is_counted_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(observations, "QUEUED", 10)
    (tmp_path / "d").mkdir()  # nothing can be written here
    writer = Writer(tmp_path / "d")
    begin = time.monotonic()
    taken = sum(writer.put(seen(n)) for n in range(2000))
    assert time.monotonic() - begin < 2
    assert 10 <= taken < 2000
    time.sleep(0.5)
    assert writer.failures and writer.last_failure
    (tmp_path / "d").rmdir()  # now it can
    assert writer.close()
    database = open_database(tmp_path / "d")
    assert read_counts(database, "r")["dropped: store"] == 2000 - taken
    assert len(list(read(database, "r"))) == taken
    database.close()


def test_only_the_newest_rows_stay(tmp_path):
    writer = Writer(tmp_path / "d", kept=100)
    for n in range(1700):
        writer.put(seen(n))
    assert writer.close()
    database = open_database(tmp_path / "d")
    assert [row.exchange for _, row in read(database, "r")] == [str(n) for n in range(1600, 1700)]
    database.close()


def test_readers_and_the_rollouts_own_tables_are_undisturbed(tmp_path):
    """Another table in the same database is changed while observations are written."""
    writer = Writer(tmp_path / "d")
    other = open_database(tmp_path / "d")
    other.execute("CREATE TABLE state(n INTEGER)")
    for n in range(300):
        writer.put(seen(n))
        if n % 10 == 0:
            other.execute("INSERT INTO state VALUES(?)", (n,))
            time.sleep(0.01)
    assert writer.close() and not writer.failures
    assert other.execute("SELECT count(*) FROM state").fetchone() == (30,)
    assert len(list(read(other, "r"))) == 300
    other.close()


KILLED = """
import sys, time
from pathlib import Path
from anywarp.deploy.rollout.observations import Observation, Writer
writer = Writer(Path(sys.argv[1]))
n = 0
while True:
    writer.put(Observation(rollout="r", stage="s", side="source", exchange=str(n)))
    n += 1
    if writer.written > 1000:
        print("on", flush=True)
    time.sleep(0.0001)
"""


def test_a_killed_writer_leaves_a_whole_table(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "d")], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"on\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    database = open_database(tmp_path / "d")
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    rows = [int(row.exchange) for _, row in read(database, "r")]
    assert len(rows) > 1000 and rows == list(range(len(rows)))
    database.close()


def test_a_foreign_file_is_said_not_overwritten(tmp_path):
    (tmp_path / "d").write_bytes(b"my thesis" * 1000)
    with pytest.raises(sqlite3.DatabaseError):
        open_database(tmp_path / "d")
    assert (tmp_path / "d").read_bytes() == b"my thesis" * 1000


FULL = """
import resource, sys, time
from pathlib import Path
from anywarp.deploy.rollout.observations import Observation, Writer
writer = Writer(Path(sys.argv[1]))
none = resource.getrlimit(resource.RLIMIT_FSIZE)
row = dict(rollout="r", stage="s", side="source", prompt="x" * 1000)
for n in range(200):
    writer.put(Observation(exchange=str(n), **row))
while writer.written < 200:
    time.sleep(0.01)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, none[1]))  # no file may grow: as on a full disk
for n in range(200, 1000):
    writer.put(Observation(exchange=str(n), **row))
while not writer.failures:
    time.sleep(0.01)
assert writer.written == 200, writer.written
resource.setrlimit(resource.RLIMIT_FSIZE, none)
assert writer.close()
"""


def test_a_full_disk_delays_what_is_written_and_loses_nothing(tmp_path):
    subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "d")], check=True, timeout=60)
    database = open_database(tmp_path / "d")
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert [int(row.exchange) for _, row in read(database, "r")] == list(range(1000))
    database.close()
