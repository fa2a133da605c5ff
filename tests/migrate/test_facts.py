"""What is kept of files: whole or not at all, the user's own, bounded, and never in the way."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from anywarp.migrate import fact_store
from anywarp.migrate import facts as module
from anywarp.migrate.facts import Facts, decode, encode, version
from anywarp.migrate.look import Seen

KEYS = [f"{number:064x}" for number in range(50)]


@pytest.fixture
def loaded():
    opened = []

    def load(root, name="v1"):
        opened.append(Facts(root, name))
        opened[-1].load()
        return opened[-1]

    yield load
    for facts in opened:
        facts.close()


def knows(facts, key):
    return facts.get(key) is not None


def python(code, *words, **more):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)], stdout=subprocess.PIPE, env=environment, **more
    )


def test_facts_come_back_for_the_version_that_made_them(tmp_path, loaded):
    content = {key: key.encode() for key in KEYS}
    loaded(tmp_path).keep(content | {"f" * 64: b""})
    again = loaded(tmp_path)
    assert {key: again.get(key) for key in KEYS} == content
    assert again.get("f" * 64) == b""
    assert again.get("e" * 64) is None
    assert not knows(loaded(tmp_path, "v2"), KEYS[0])


def test_the_cache_is_private(tmp_path, loaded):
    loaded(tmp_path / "new").keep({KEYS[0]: b"x"})
    for folder in ("new", "new/facts"):
        assert (tmp_path / folder).stat().st_mode & 0o777 == 0o700
    (database,) = (tmp_path / "new/facts").iterdir()
    assert database.stat().st_mode & 0o077 == 0


def test_a_cache_that_others_may_write_is_not_used(tmp_path, loaded):
    loaded(tmp_path).keep({KEYS[0]: b"x"})
    (tmp_path / "facts").chmod(0o777)
    facts = loaded(tmp_path)
    assert not knows(facts, KEYS[0])
    facts.keep({KEYS[1]: b"y"})
    assert [warning.code for warning in facts.warnings] == ["M013"]
    (tmp_path / "facts").chmod(0o700)
    assert knows(loaded(tmp_path), KEYS[0]) and not knows(loaded(tmp_path), KEYS[1])


def test_a_folder_that_is_a_link_is_not_used(tmp_path, loaded):
    loaded(tmp_path / "other").keep({KEYS[0]: b"x"})
    (tmp_path / "facts").symlink_to(tmp_path / "other/facts")
    facts = loaded(tmp_path)
    assert not knows(facts, KEYS[0])
    facts.keep({KEYS[1]: b"y"})
    assert [warning.code for warning in facts.warnings] == ["M013"]
    assert module.size(tmp_path) == module.clear(tmp_path) == 0
    assert knows(loaded(tmp_path / "other"), KEYS[0]) and not knows(loaded(tmp_path / "other"), KEYS[1])


@pytest.mark.parametrize("place", [0, 16, 18, 19, 20, 21, 44, 47, 56, 60, 63])
def test_a_database_with_a_strange_head_counts_as_absent_and_is_made_anew(tmp_path, loaded, place):
    loaded(tmp_path).keep({key: os.urandom(40) for key in KEYS})
    database = tmp_path / "facts/facts.sqlite3"
    data = bytearray(database.read_bytes())
    data[place] ^= 0x40
    database.write_bytes(data)
    facts = loaded(tmp_path)
    assert facts.damaged and not knows(facts, KEYS[0])
    facts.keep({KEYS[1]: b"new"})
    assert not facts.warnings
    again = loaded(tmp_path)
    assert again.get(KEYS[1]) == b"new" and not knows(again, KEYS[0])


def test_damage_anywhere_gives_nothing_wrong_and_is_mended(tmp_path, loaded):
    content = {key: os.urandom(100 * number) for number, key in enumerate(KEYS)}
    loaded(tmp_path).keep(content)
    database = tmp_path / "facts/facts.sqlite3"
    whole, noticed = database.read_bytes(), 0
    places = [(number * 7919) % len(whole) for number in range(150)]
    for place in places:
        data = bytearray(whole)
        data[place] ^= 1 << place % 8
        database.write_bytes(data)
        facts = loaded(tmp_path)
        for key, kept in content.items():
            assert facts.get(key) in (kept, None)
        noticed += facts.damaged
        facts.keep(content)
        facts.close()
        again = loaded(tmp_path)
        if None in [again.get(key) for key in content]:  # about one in 6,000: SQLite looks at a page when it reads it
            assert again.damaged, place
            again.keep(content)
            again.close()
            again = loaded(tmp_path)
        assert {key: again.get(key) for key in content} == content and not again.damaged, place
        again.close()
    assert noticed > len(places) // 2


def test_a_database_cut_short_and_a_link_in_its_place_are_not_read(tmp_path, loaded):
    loaded(tmp_path).keep(dict.fromkeys(KEYS, b"x" * 1000))
    database = tmp_path / "facts/facts.sqlite3"
    whole = database.read_bytes()
    database.write_bytes(whole[:-4096])
    facts = loaded(tmp_path)
    assert {facts.get(key) for key in KEYS} <= {None, b"x" * 1000} and facts.damaged
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(whole)
    database.unlink()
    database.symlink_to(elsewhere)
    facts = loaded(tmp_path)
    assert not knows(facts, KEYS[0])
    facts.keep({KEYS[0]: b"mine"})
    assert not database.is_symlink() and elsewhere.read_bytes() == whole
    assert loaded(tmp_path).get(KEYS[0]) == b"mine"


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM facts; END",
        "ALTER TABLE facts ADD COLUMN more",
        "DROP TABLE facts; CREATE VIEW facts AS SELECT 1 AS id, x'' AS digest, x'' AS data",
        "PRAGMA journal_mode=WAL",
        "UPDATE facts SET data = x'00'",
        "UPDATE facts SET data = 7",
        "UPDATE facts SET digest = NULL",
    ],
)
def test_a_database_that_somebody_changed_is_made_anew_and_does_nothing_else(tmp_path, loaded, sql):
    facts = loaded(tmp_path)
    facts.keep({KEYS[0]: b"x"})
    facts.close()
    with closing(sqlite3.connect(tmp_path / "facts/facts.sqlite3")) as database:
        if "NULL" in sql:
            sql = "UPDATE facts SET digest = 'x'"
        database.executescript(sql)
    facts = loaded(tmp_path)
    assert not knows(facts, KEYS[0]) and facts.damaged
    facts.keep({KEYS[1]: b"new"})
    again = loaded(tmp_path)
    assert again.get(KEYS[1]) == b"new" and not knows(again, KEYS[0]) and not facts.warnings


def test_what_is_unused_for_longest_goes_first(tmp_path, loaded, monkeypatch):
    monkeypatch.setattr(fact_store, "LIMIT", 1 << 20)
    now = 1_000_000
    monkeypatch.setattr(fact_store.time, "time", lambda: now)
    for number, key in enumerate(KEYS[:16]):
        now += 100_000  # over a day
        loaded(tmp_path, f"v{number}").keep({key: os.urandom(50_000)}, used=[KEYS[1]])
    now += 100_000
    loaded(tmp_path, "v1").keep({}, used=[KEYS[1]])
    now += 100_000
    loaded(tmp_path).keep({KEYS[20]: os.urandom(300_000)})
    there = [number for number, key in enumerate(KEYS[:16]) if knows(loaded(tmp_path, f"v{number}"), key)]
    assert there[0] == 1 and 5 < len(there) < 15 and there[1:] == list(range(17 - len(there), 16))
    assert knows(loaded(tmp_path), KEYS[20])
    assert module.size(tmp_path) <= 1 << 20
    for key in KEYS[21:]:
        loaded(tmp_path).keep({key: os.urandom(100_000)})
        assert module.size(tmp_path) <= 1 << 20


def test_more_than_the_limit_is_not_kept_and_costs_the_cache_alone(tmp_path, loaded, monkeypatch):
    monkeypatch.setattr(fact_store, "LIMIT", 1 << 20)
    facts = loaded(tmp_path)
    facts.keep({KEYS[0]: os.urandom(2 << 20)})
    assert [w.code for w in facts.warnings] == ["M013"] and "full" in facts.warnings[0].message
    loaded(tmp_path).keep({KEYS[1]: b"x"})
    assert knows(loaded(tmp_path), KEYS[1])


def test_a_full_disk_costs_the_cache_and_not_the_run(tmp_path, loaded):
    """A limit on the size of files stands for a full disk."""
    loaded(tmp_path).keep({KEYS[0]: b"x"})

    def poor():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    code = (
        "import sys, os; from pathlib import Path; from anywarp.migrate.facts import Facts\n"
        "f = Facts(Path(sys.argv[1]), 'v1'); f.load(); f.keep({'1' * 64: os.urandom(400_000)}); print(*f.warnings); f.close()\n"
    )
    process = python(code, tmp_path, preexec_fn=poor)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 0 and b"M013" in said and b"takes no new facts" in said
    again = loaded(tmp_path)
    assert again.get(KEYS[0]) == b"x" and not knows(again, "1" * 64)
    again.keep({KEYS[1]: b"y"})
    assert not again.warnings and again.get(KEYS[1]) == b"y"


def test_a_cache_that_is_read_only_is_read(loaded):
    code = (
        "import os, sqlite3, sys; from pathlib import Path; from anywarp.migrate.facts import Facts\n"
        "os.setuid(os.stat(sys.argv[1]).st_uid)\n"
        "f = Facts(Path(sys.argv[1]), 'v1'); f.load(); print(f.get('0' * 64)); f.keep({}, ['0' * 64]); print(*f.warnings)\n"
        "f.keep({'1' * 64: b'y'}); print(*f.warnings); f.close()\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        loaded(Path(folder)).keep({KEYS[0]: b"x"})
        for place, mode in (("facts/facts.sqlite3", 0o444), ("facts", 0o555), (".", 0o555)):
            path = Path(folder, place)
            path.chmod(mode)
            if os.getuid() == 0:  # who may write everywhere
                os.chown(path, 12345, 12345)
        lines = python(code, folder).communicate(timeout=60)[0].splitlines()
        for path in (Path(folder), Path(folder, "facts")):
            path.chmod(0o700)
    assert lines[:2] == [b"b'x'", b""] and b"takes no new facts" in lines[2] and b"readonly" in lines[2]


def test_writers_that_are_killed_leave_whole_changes_or_none(tmp_path, loaded):
    code = (
        "import sys, os; from pathlib import Path; from anywarp.migrate.facts import Facts\n"
        "n = 0\n"
        "while True:\n"
        "    f = Facts(Path(sys.argv[1]), 'v1'); n += 1\n"
        "    f.keep({f'{os.getpid():032x}{n:024x}{k:08x}': b'%d' % n + bytes(20_000) for k in range(10)}); f.close()\n"
        "    print(*f.warnings, n, flush=True)\n"
    )
    writers = [python(code, tmp_path) for _ in range(2)]
    done = {}
    for writer in writers:
        for _ in range(5):
            done[writer.pid] = int(writer.stdout.readline())
    for writer in writers:
        writer.kill()
        done[writer.pid] = int((writer.stdout.read().splitlines() or [b"%d" % done[writer.pid]])[-1])
        writer.wait()
        writer.stdout.close()
    again = loaded(tmp_path)
    for pid, last in done.items():
        for n in range(1, last + 3):
            there = [knows(again, f"{pid:032x}{n:024x}{k:08x}") for k in range(10)]
            assert all(there) if n <= last else len(set(there)) == 1
    assert min(done.values()) >= 5 and not again.damaged


def test_facts_of_all_versions_are_measured_and_cleared_and_nothing_else(tmp_path, loaded):
    for name in ("v1", "v2"):
        loaded(tmp_path, name).keep({KEYS[0]: os.urandom(1000)})
    (tmp_path / "facts/note").write_text("mine")
    held = (tmp_path / "facts/facts.sqlite3").stat().st_size
    assert module.size(tmp_path) == held > 2000
    assert module.clear(tmp_path) == held and module.size(tmp_path) == 0
    assert (tmp_path / "facts/note").exists() and not knows(loaded(tmp_path), KEYS[0])
    assert module.clear(tmp_path / "nowhere") == 0


def test_a_python_without_sqlite_reads_everything_anew(tmp_path, loaded, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    facts = loaded(tmp_path)
    facts.keep({KEYS[0]: b"x"})
    assert not knows(facts, KEYS[0])
    assert [w.code for w in facts.warnings] == ["M013"] and "no sqlite3" in facts.warnings[0].message


def test_what_is_kept_is_what_was_seen():
    seen = Seen(
        [["a.whl!/x", "cuda.api", "cuda\udcffMalloc", 1, 2, "text", [["k", "v"]]]], [["", "M002", "no", "error", ""]]
    )
    assert decode(encode(seen)) == seen
    assert encode(Seen()) == b"" and decode(b"") == Seen()


def test_the_version_depends_on_who_is_asked_and_on_the_sources():
    assert version(("a",)) != version(("b",)) and len(version(("a",))) == 16
