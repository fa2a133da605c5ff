"""What is kept of files: whole or not at all, the user's own, bounded, and never in the way."""

import os
import subprocess
import sys

import pytest

from anywarp.migrate import facts as module
from anywarp.migrate.facts import Facts, decode, encode, version
from anywarp.migrate.look import Seen

KEYS = [f"{number:064x}" for number in range(50)]


def loaded(root, name="v1"):
    facts = Facts(root, name)
    facts.load()
    return facts


def test_facts_come_back_for_the_version_that_made_them(tmp_path):
    content = {key: key.encode() for key in KEYS}
    loaded(tmp_path).keep(content | {"f" * 64: b""})
    again = loaded(tmp_path)
    assert {key: again.get(key) for key in KEYS} == content
    assert again.knows("f" * 64) and again.get("f" * 64) == b""
    assert again.get("e" * 64) is None and not again.knows("e" * 64)
    assert not loaded(tmp_path, "v2").knows(KEYS[0])


def test_the_cache_is_private(tmp_path):
    loaded(tmp_path / "new").keep({KEYS[0]: b"x"})
    for folder in ("new", "new/facts", "new/facts/v1"):
        assert (tmp_path / folder).stat().st_mode & 0o777 == 0o700
    (pack,) = (tmp_path / "new/facts/v1").iterdir()
    assert pack.stat().st_mode & 0o077 == 0


def test_a_cache_that_others_may_write_is_not_used(tmp_path):
    loaded(tmp_path).keep({KEYS[0]: b"x"})
    (tmp_path / "facts").chmod(0o777)
    facts = loaded(tmp_path)
    assert not facts.knows(KEYS[0])
    facts.keep({KEYS[1]: b"y"})
    assert [warning.code for warning in facts.warnings] == ["M013"]
    assert len(list((tmp_path / "facts/v1").iterdir())) == 1


@pytest.mark.parametrize("place", [0, 20, 45, 60, -1])
def test_a_damaged_pack_counts_as_absent_and_is_removed(tmp_path, place):
    loaded(tmp_path).keep({key: os.urandom(40) for key in KEYS})
    (pack,) = (tmp_path / "facts/v1").iterdir()
    data = bytearray(pack.read_bytes())
    data[place] ^= 0x40
    pack.write_bytes(data)
    assert not loaded(tmp_path).knows(KEYS[0])
    assert not pack.exists()


def test_a_pack_cut_short_and_a_link_in_its_place_are_not_read(tmp_path):
    loaded(tmp_path).keep({KEYS[0]: b"x" * 1000})
    (pack,) = (tmp_path / "facts/v1").iterdir()
    whole = pack.read_bytes()
    pack.write_bytes(whole[:-1])
    assert not loaded(tmp_path).knows(KEYS[0])
    (tmp_path / "elsewhere").write_bytes(whole)
    pack.symlink_to(tmp_path / "elsewhere")
    assert not loaded(tmp_path).knows(KEYS[0])


def test_many_packs_become_one_with_what_was_used(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_PACKS", 4)
    for key in KEYS[:4]:
        loaded(tmp_path).keep({key: key.encode()})
    loaded(tmp_path).keep({KEYS[9]: b"new"}, used=[KEYS[0], KEYS[2], KEYS[40]])
    again = loaded(tmp_path)
    assert len(again.packs) == 1
    assert [again.get(key) for key in (*KEYS[:4], KEYS[9])] == [KEYS[0].encode(), None, KEYS[2].encode(), None, b"new"]


def test_the_packs_of_all_versions_together_are_bounded(tmp_path, monkeypatch):
    for number in range(5):
        loaded(tmp_path, f"v{number}").keep({KEYS[0]: os.urandom(1000)})
        for pack in (tmp_path / f"facts/v{number}").iterdir():
            os.utime(pack, (number, number))
    left = tmp_path / "facts/v0/.new-left"
    left.write_bytes(b"x")
    os.utime(left, (1, 1))
    monkeypatch.setattr(module, "LIMIT", 3500)
    loaded(tmp_path, "v9").keep({KEYS[0]: os.urandom(1000)})
    assert sorted(p.parent.name for p in (tmp_path / "facts").glob("*/*")) == ["v3", "v4", "v9"]


def test_a_full_disk_costs_the_cache_and_not_the_run(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    facts = loaded(tmp_path)
    monkeypatch.setattr(os, "replace", full)
    facts.keep({KEYS[0]: b"x"})
    assert [w.code for w in facts.warnings] == ["M013"] and "No space left" in facts.warnings[0].message
    assert list((tmp_path / "facts/v1").iterdir()) == []


def test_writers_that_are_killed_leave_whole_packs_or_none(tmp_path):
    code = (
        "import sys, os; from pathlib import Path; from anywarp.migrate.facts import Facts\n"
        "n = 0\n"
        "while True:\n"
        "    f = Facts(Path(sys.argv[1]), 'v1'); n += 1\n"
        "    f.keep({f'{os.getpid():032x}{n:032x}': os.urandom(200_000)})\n"
        "    print(n, flush=True)\n"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
        )
        for _ in range(2)
    ]
    for writer in writers:
        for _ in range(5):
            writer.stdout.readline()
    for writer in writers:
        writer.kill()
        writer.wait()
        writer.stdout.close()
    packs = list((tmp_path / "facts/v1").glob("*.pack"))
    assert len(packs) >= 10 and len(loaded(tmp_path).packs) == len(packs)


def test_packs_of_all_versions_are_measured_and_cleared_and_nothing_else(tmp_path):
    for name in ("v1", "v2"):
        loaded(tmp_path, name).keep({KEYS[0]: os.urandom(1000)})
    (tmp_path / "facts/v1/note").write_text("mine")
    held = sum(p.stat().st_size for p in tmp_path.glob("facts/*/*.pack"))
    assert module.size(tmp_path) == held > 2000
    assert module.clear(tmp_path) == held and module.size(tmp_path) == 0
    assert (tmp_path / "facts/v1/note").exists()
    assert module.clear(tmp_path / "nowhere") == 0


def test_what_is_kept_is_what_was_seen():
    seen = Seen(
        [["a.whl!/x", "cuda.api", "cuda\udcffMalloc", 1, 2, "text", [["k", "v"]]]], [["", "M002", "no", "error", ""]]
    )
    assert decode(encode(seen)) == seen
    assert encode(Seen()) == b"" and decode(b"") == Seen()


def test_the_version_depends_on_who_is_asked_and_on_the_sources():
    assert version(("a",)) != version(("b",)) and len(version(("a",))) == 16
