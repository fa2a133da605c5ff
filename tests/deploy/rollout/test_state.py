"""The state: one driver at a time, nothing lost to kill -9, a full disk, or a clock; the same over PostgreSQL."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from anywarp.cli.main import call
from anywarp.deploy.rollout.state import State
from anywarp.diagnostics import AnywarpError

from .plans import plan, text
from .servers import free_port, member, serving


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYWARP_ROLLOUTS", str(tmp_path))
    return tmp_path


def begun(made, owner="first"):
    state = State(made)
    assert state.acquire(owner)
    state.begin(made, "text", "digest", owner)
    return state


def check_one_at_a_time(made):
    first = begun(made)
    second = State(made)
    assert not second.acquire("second")
    first.change("watching", "shadow", "words", {"n": 1}, phase="watching")
    generation = first.row().generation
    first.close()
    assert second.acquire("second")
    row = second.row()
    assert (row.phase, row.owner, row.generation) == ("watching", "second", generation + 1)
    assert [e.evidence for e in second.events()] == [{"n": 1}]
    second.close()


def check_fence(made):
    """Who was taken over without noticing changes nothing more."""
    first = begun(made)
    first._run("UPDATE rollouts SET generation = generation + 1 WHERE name = ?", made.name)
    with pytest.raises(AnywarpError, match="took this rollout over") as caught:
        first.change("moving", "10 %", "words", phase="moving")
    assert caught.value.diagnostic.code == "Y076"
    assert first.row().phase == "new" and first.events() == []
    first.close()


def test_only_one_drives():
    check_one_at_a_time(plan())


def test_who_lost_the_rollout_changes_nothing():
    check_fence(plan())


def test_state_is_private(place):
    begun(plan()).close()
    assert (place / "chat").stat().st_mode & 0o77 == 0
    assert all(p.stat().st_mode & 0o77 == 0 for p in (place / "chat").iterdir())


def test_link_in_the_place_of_the_folder_is_refused(place, tmp_path_factory):
    (place / "chat").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(AnywarpError, match="a link, or not yours"):
        State(plan())


def test_full_disk_is_said_and_nothing_is_half_written():
    state = begun(plan())
    state.observations.execute("PRAGMA journal_mode=DELETE")
    pages = state.observations.execute("PRAGMA page_count").fetchone()[0]
    state.observations.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(AnywarpError, match="full") as caught:
        for n in range(1000):
            state.change("moving", "10 %", "words" * 100, {"x": "y" * 2000}, watched=float(n))
    assert "make room" in caught.value.diagnostic.help
    events = len(state.events())
    assert state.row().watched == (events - 1 if events else 0)
    state.close()


def test_broken_state_is_said(place):
    (place / "chat").mkdir(mode=0o700)
    (place / "chat" / "rollout.sqlite").write_bytes(b"no database" * 500)
    with pytest.raises(AnywarpError, match="cannot be read"):
        State(plan())


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory):
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found or shutil.which("su") is None or os.getuid() != 0:
        pytest.skip("PostgreSQL's server is not installed")
    folder, port = (
        Path(tempfile.mkdtemp(prefix="anywarp-postgresql-")),
        free_port(),
    )  # below pytest's folder postgres may not go
    shutil.chown(folder, "postgres", "postgres")

    def as_postgres(command):
        return subprocess.run(
            ["su", "postgres", "-s", "/bin/sh", "-c", command], capture_output=True, text=True, timeout=120
        )

    bin = found[-1].parent
    try:
        assert as_postgres(f"{bin}/initdb -A trust -D {folder}/data").returncode == 0
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        assert as_postgres(f"{bin}/pg_ctl -w -D {folder}/data -l {folder}/log -o '{options}' start").returncode == 0
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        as_postgres(f"{bin}/pg_ctl -m immediate -D {folder}/data stop")
        shutil.rmtree(folder, ignore_errors=True)


def test_postgresql_does_the_same(postgresql):
    check_one_at_a_time(plan(name="one", more=f'state: {{postgresql: "{postgresql}"}}'))
    check_fence(plan(name="two", more=f'state: {{postgresql: "{postgresql}"}}'))


def test_postgresql_is_only_read_by_who_looks(postgresql):
    made = plan(name="three", more=f'state: {{postgresql: "{postgresql}"}}')
    state = begun(made)
    looking = State(made, reading=True)
    assert looking.row() == state.row()
    with pytest.raises(AnywarpError, match="read-only"):
        looking.wish("abort", "a page")
    assert state.row().wish == ""
    looking.close()
    state.close()


def test_postgresql_that_is_away_is_said():
    with pytest.raises(AnywarpError, match="PostgreSQL refuses") as caught:
        State(plan(more=f'state: {{postgresql: "postgresql://nobody@127.0.0.1:{free_port()}/x"}}'))
    assert caught.value.diagnostic.code == "Y072"


def test_killed_command_goes_on_and_abort_takes_it_back(tmp_path, capsys):
    """The command itself, killed by -9 while it watches, started again, told to abort from another process."""
    with serving(member("a")) as a, serving(member("b")) as b:
        file = tmp_path / "plan.yaml"
        file.write_text(text(a=a, b=b).replace("at_most: 1m", "at_most: 1h"))
        run = [sys.executable, "-m", "anywarp", "rollout", "run", str(file)]
        control = tmp_path / "chat" / "control.json"

        def start():
            process = subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            return process

        def phase():
            made = plan(a=a, b=b)
            state = State(made)
            try:
                row = state.row()
                return None if row is None else (row.phase, row.generation)
            finally:
                state.close()

        def wait(wanted, process, seconds=40):
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                now = phase()
                if now and wanted(now):
                    return now
                if process.poll() is not None:
                    break
                time.sleep(0.1)
            process.kill()
            raise AssertionError(f"{phase()}: {process.communicate()[0]}")

        first = start()
        _, generation = wait(lambda now: now[0] == "watching", first)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        second = start()
        wait(lambda now: now[0] == "watching" and now[1] > generation, second)
        assert call(["rollout", "run", str(file)]) == 2
        assert "Y073" in capsys.readouterr().err
        assert call(["rollout", "status", str(file), "--format", "json"]) == 0
        assert '"phase": "watching"' in capsys.readouterr().out
        assert call(["rollout", "abort", str(file)]) == 0
        assert second.wait(30) == 1
        second.communicate()
        assert '"target_share": 0.0' in control.read_text()
        assert call(["rollout", "report", str(file), "-o", str(tmp_path / "r.html")]) == 0
        page = (tmp_path / "r.html").read_text()
        assert "rolled back" in page and "a person said abort" in page
        capsys.readouterr()
        assert call(["results", "list", "--kind", "rollout", "--format", "json"]) == 0
        (kept,) = json.loads(capsys.readouterr().out)
        assert (kept["model"], kept["form"]) == ("chat", "reverted")
        assert call(["results", "show", kept["id"], "--html", str(tmp_path / "kept.html")]) == 0
        assert "reverted: a person said abort" in capsys.readouterr().out
        assert "rolled back" in (tmp_path / "kept.html").read_text()


def test_plan_that_was_changed_is_refused(tmp_path, capsys):
    made = plan()
    state = begun(made)
    state.close()
    file = tmp_path / "plan.yaml"
    file.write_text(text())
    assert call(["rollout", "run", str(file)]) == 2
    assert "Y074" in capsys.readouterr().err
