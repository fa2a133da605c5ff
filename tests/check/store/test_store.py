"""The store of results: what goes in comes out, for several writers, after kill -9, on a full disk, from older versions; foreign files stay as they are."""

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from hypothesis import strategies as st

from anywarp.check.store import Run, Store
from anywarp.check.store.database import _STEPS, APPLICATION, VERSION
from anywarp.check.store.run import from_json, key_of
from anywarp.diagnostics import AnywarpError
from spread import properties


def said_by(path, query):
    """What SQLite alone answers about a database."""
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


def code_of(action, *arguments):
    with pytest.raises(AnywarpError) as caught:
        action(*arguments)
    return caught.value.diagnostic.code


def place(tmp_path):
    return tmp_path / "deep" / "results.sqlite"


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@properties(25, 500, st.dictionaries(texts, values, max_size=4), texts, st.dictionaries(texts, values, max_size=2))
def test_what_goes_in_comes_out(tmp_path, result, model, flags):
    run = Run(kind="bench", result=result, model=model, flags=flags, key="k", versions={"torch": "2.13.0"})
    with Store(place(tmp_path)) as store:
        store.add(run)
        assert store.get(run.id) == run
        assert store.latest("k") == run
    assert from_json(json.loads(json.dumps(run.as_json())), "it") == run


def test_files_are_the_users_own(tmp_path):
    before = os.umask(0)
    try:
        with Store(place(tmp_path)) as store:
            store.add(Run(kind="cost", result={}))
            modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in place(tmp_path).parent.iterdir()}
    finally:
        os.umask(before)
    assert len(modes) == 3 and set(modes.values()) == {0o600}  # the database, its WAL and the WAL's index
    assert stat.S_IMODE(place(tmp_path).parent.stat().st_mode) == 0o700


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path):
    place(tmp_path).parent.mkdir()
    place(tmp_path).touch(mode=0o644)
    Store(place(tmp_path)).close()
    assert stat.S_IMODE(place(tmp_path).stat().st_mode) == 0o600


def test_ids_may_be_cut_short_while_they_are_clear(tmp_path):
    with Store(place(tmp_path)) as store:
        for identity in ("abc1", "abc2", "abc", "b"):
            store.add(Run(kind="bench", result={}, id=identity))
        assert store.get("abc1").id == "abc1" and store.get("abc").id == "abc" and store.get("b").id == "b"
        assert code_of(store.get, "ab") == code_of(store.get, "zz") == code_of(store.get, "%") == "V032"
        assert code_of(store.remove, "a") == "V032" and len(store.list()) == 4
        store.remove("abc1")
        assert code_of(store.get, "abc1") == "V032"


def test_lists_are_newest_first_and_of_a_kind(tmp_path):
    with Store(place(tmp_path)) as store:
        for number, kind in enumerate(["bench", "verify", "bench"]):
            store.add(Run(kind=kind, result={}, id=f"r{number}", time=100.0 + number, model=f"m{number}", key="k"))
        assert [run.id for run in store.list()] == ["r2", "r1", "r0"]
        assert [run.id for run in store.list("bench")] == ["r2", "r0"]
        assert [run.id for run in store.list(model="m1")] == ["r1"]
        assert [run.id for run in store.list(limit=1)] == ["r2"]
        assert store.latest("k").id == "r2" and store.latest("") is None and store.latest("x") is None


WRITER = """
import sys
from pathlib import Path
from anywarp.check.store import Run, Store
for number in range(int(sys.argv[3])):
    with Store(Path(sys.argv[1])) as store:
        store.add(Run(kind="bench", result={"n": number}, id=f"{sys.argv[2]}x{number:06}"))
    print(number, flush=True)
"""


def writer(path, name, count, **more):
    return subprocess.Popen([sys.executable, "-c", WRITER, path, name, str(count)], stdout=subprocess.PIPE, **more)


def test_writers_do_not_lose_each_others_runs(tmp_path):
    writers = [writer(place(tmp_path), f"w{n}", 8) for n in range(3)]  # all of them make the file
    for each in writers:
        each.communicate(timeout=60)
        assert each.returncode == 0
    with Store(place(tmp_path)) as store:
        assert len(store.list()) == 24


def test_what_was_added_is_there_after_kill_9(tmp_path):
    process = writer(place(tmp_path), "w", 100_000)
    for _ in range(5):
        said = process.stdout.readline()
    time.sleep(0.02)  # in the midst of one
    process.send_signal(signal.SIGKILL)
    said = [said, *process.stdout.read().splitlines(keepends=True)]
    process.wait()
    process.stdout.close()
    complete = [int(line) for line in said if line.endswith(b"\n")]
    with Store(place(tmp_path)) as store:
        found = {run.id for run in store.list(limit=100_000)}
        store.add(Run(kind="bench", result={}))
    assert {f"wx{number:06}" for number in range(complete[-1] + 1)} <= found
    assert said_by(place(tmp_path), "PRAGMA integrity_check") == [("ok",)]


FULL = """
import resource, sys
from pathlib import Path
from anywarp.check.store import Run, Store
from anywarp.diagnostics import AnywarpError
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Store(Path(sys.argv[1])) as store:
    store.add(Run(kind="bench", result={}, id="first"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        store.add(Run(kind="bench", result={"large": "x" * 1_000_000}, id="second"))
    except AnywarpError as error:
        print(error.diagnostic.code)
    print([run.id for run in store.list()])
"""


def test_a_full_disk_loses_nothing_that_was_there(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL, place(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["V030", "['first']"], done.stderr
    with Store(place(tmp_path)) as store:
        assert [run.id for run in store.list()] == ["first"]
        store.add(Run(kind="bench", result={}))


def test_an_older_database_is_brought_up_to_date(tmp_path):
    old = sqlite3.connect(tmp_path / "r")
    for text in _STEPS[1]:
        old.execute(text)
    old.execute(f"PRAGMA application_id={APPLICATION}")
    old.execute("PRAGMA user_version=1")
    old.execute(
        "INSERT INTO runs VALUES('old', 'bench', 1.5, 'm', 'cpu', 'net', 'float32', 'd', '{}', '{}', '0.1', '{\"a\": 1}')"
    )
    old.commit()
    old.close()
    with Store(tmp_path / "r") as store:
        assert store.get("old").result == {"a": 1} and store.get("old").key == ""
        store.add(Run(kind="bench", result={}, key="k"))
        assert store.latest("k") is not None
    assert said_by(tmp_path / "r", "PRAGMA user_version") == [(VERSION,)]


def test_a_newer_or_foreign_file_is_left_as_it_is(tmp_path):
    with Store(tmp_path / "newer"):
        pass
    newer = sqlite3.connect(tmp_path / "newer")
    newer.execute(f"PRAGMA user_version={VERSION + 1}")
    newer.execute("PRAGMA journal_mode=DELETE")
    newer.close()
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE runs(id TEXT)")
    other.close()
    (tmp_path / "text").write_text("these are no results, but more than a hundred bytes of text" * 5)
    (tmp_path / "torn").write_bytes((tmp_path / "newer").read_bytes()[:3000])
    for name in ("newer", "other", "text", "torn"):
        before = (tmp_path / name).read_bytes()
        assert code_of(Store, tmp_path / name) == "V031", name
        assert (tmp_path / name).read_bytes() == before, name


def test_a_link_or_a_folder_is_no_place_for_results(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert code_of(Store, tmp_path / "link") == "V030" and not (tmp_path / "elsewhere").exists()
    assert code_of(Store, tmp_path) == "V030"
    (tmp_path / "file").touch()
    assert code_of(Store, tmp_path / "file" / "r") == "V030"


def test_a_locked_database_is_said_not_waited_for_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("anywarp.check.store.database.WAIT", 0.1)
    with Store(tmp_path / "r") as store:
        other = sqlite3.connect(tmp_path / "r", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert code_of(store.add, Run(kind="bench", result={})) == "V030"
        assert store.list() == []  # readers go on
        other.execute("ROLLBACK")
        other.close()


@pytest.mark.parametrize("text", ["[]", "{}", '{"kind": "dance", "id": "a", "result": {}}', '{"kind": "bench", "id": 3, "result": {}}', '{"kind": "bench", "id": "a", "result": [], "time": "x"}'])  # fmt: skip
def test_json_that_is_no_run_is_refused(text):
    assert code_of(from_json, json.loads(text), "it") == "V032"


def test_keys_do_not_hang_on_the_order_of_what_was_asked():
    assert key_of(a=1, b={"x": 1, "y": 2}) == key_of(b={"y": 2, "x": 1}, a=1) != key_of(a=1, b={"x": 1, "y": 3})


def test_runs_are_counted_and_found_by_a_text_as_a_plain_search_does(tmp_path):
    with Store(tmp_path / "r.sqlite") as store:
        for kind, model, device in (
            ("bench", "Net_a", "cpu"),
            ("verify", "100%", "hip gfx942"),
            ("bench", "net_B", "cuda"),
        ):
            store.add(Run(kind, {}, model=model, device=device, machine="m", dtype="float32"))
        everything = store.list()
        for kind in ("", "bench", "cost"):
            for text in ("", "NET", "_", "%", "gfx9", "cpu\nm", "float32", "'", "nothing"):
                fields = ["\n".join((r.id, r.model, r.device, r.machine, r.dtype)).lower() for r in everything]
                wanted = [
                    r.id for r, words in zip(everything, fields) if kind in ("", r.kind) and text.lower() in words
                ]
                assert [r.id for r in store.list(kind, text=text)] == wanted and store.count(kind, text) == len(wanted)


def test_several_may_be_the_first_to_open_it(tmp_path):
    def first(path, together):
        together.wait()
        with Store(path) as store:
            return store.path

    for attempt in range(30):
        path, together = tmp_path / f"{attempt}.sqlite", threading.Barrier(6)
        with ThreadPoolExecutor(6) as pool:
            assert [each.result() for each in [pool.submit(first, path, together) for _ in range(6)]] == [path] * 6
