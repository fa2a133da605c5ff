"""The kernel cache: what is stored comes back, and nothing that happens to its files makes it fail or lie."""

import errno
import hashlib
import multiprocessing
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anywarp.runtime import cache as cache_room
from anywarp.runtime.cache import Cache, intact
from fakes.images import container


def key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache", 1 << 20)


def test_what_is_stored_comes_back(cache):
    data = container(b"object code")
    assert cache.get(key("a")) is None
    assert cache.put(key("a"), data)
    assert cache.get(key("a")) == data
    assert Cache(cache.root, 1 << 20).get(key("a")) == data
    assert not cache.warnings


def test_the_cache_is_private(cache):
    cache.put(key("a"), container(b"x"))
    assert cache.root.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "text", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 65, "a" * 63 + "\n", "a" * 64 + "\n"]
)
def test_a_text_that_is_no_key_is_refused(cache, text):
    with pytest.raises(ValueError, match="not a cache key"):
        cache.path(text)


def test_every_damage_of_an_entry_is_seen_and_removed(cache):
    good = container(b"object code" * 3)
    name = key("a")
    damaged = [good[:n] for n in (0, 1, 7, 8, 20, 51, 52, 60, len(good) - 1)] + [good + b"\0"]
    damaged += [good[:i] + bytes([good[i] ^ 1]) + good[i + 1 :] for i in range(len(good))]
    for data in damaged:
        cache.put(name, good)
        cache.path(name).write_bytes(data)
        assert cache.get(name) is None
        assert not cache.path(name).exists()
    cache.put(name, good)
    assert cache.get(name) == good


def test_lengths_that_overflow_are_no_container():
    assert not intact(b"ANYWARP1" + struct.pack("<IQ", 0xFFFFFFFF, 2**64 - 1) + bytes(32))


def test_an_entry_that_is_a_link_or_a_pipe_or_a_folder_is_not_read(cache, tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(container(b"x"))
    path = cache.path(key("a"))
    cache.put(key("a"), container(b"x"))
    path.unlink()
    path.symlink_to(outside)
    assert cache.get(key("a")) is None
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert cache.get(key("a")) is None
    path.unlink(missing_ok=True)
    path.mkdir()
    assert cache.get(key("a")) is None
    assert outside.exists()


def test_the_entries_unused_for_longest_leave_first(tmp_path):
    data = container(bytes(1000))
    cache = Cache(tmp_path / "cache", 10 * len(data))
    for n in range(10):
        cache.put(key(str(n)), data)
        os.utime(cache.path(key(str(n))), (n + 1, n + 1))
    cache.get(key("0"))  # now used last of all
    cache.put(key("new"), data)
    left = {n for n in range(10) if cache.path(key(str(n))).exists()}
    assert 0 in left and 1 not in left and 2 not in left
    assert cache.get(key("new")) == data
    assert sum(entry.size for entry in cache.entries()) <= cache.limit


def test_an_entry_larger_than_the_cache_is_not_stored(tmp_path):
    cache = Cache(tmp_path / "cache", 100)
    assert not cache.put(key("a"), container(bytes(200)))
    assert not list(cache.entries())


def test_what_an_interrupted_writer_left_is_removed_after_an_hour(cache):
    cache.put(key("a"), container(b"x"))
    folder = cache.path(key("a")).parent
    old, young = folder / ".new-old", folder / ".new-young"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    assert [entry.path.name for entry in cache.entries()] == [key("a")]
    assert not old.exists() and young.exists()


def test_a_full_disk_is_survived_and_said_once(cache, monkeypatch):
    def full(path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(cache_room, "_write", full)
    assert not cache.put(key("a"), container(b"x"))
    assert not cache.put(key("b"), container(b"x"))
    assert [w.code for w in cache.warnings] == ["R001"]
    assert "No space left" in cache.warnings[0].message


def test_a_file_that_cannot_grow_leaves_nothing_behind(tmp_path):
    """A real short write: the kernel cuts the file at a limit, as a full disk or a quota does."""
    place = tmp_path / "cache"
    script = (
        "import resource, sys; from pathlib import Path; from anywarp.runtime.cache import Cache\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "cache = Cache(Path(sys.argv[1]), 1 << 30)\n"
        "print(cache.put('a' * 64, bytes(100_000)), [w.code for w in cache.warnings])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(place)], capture_output=True, text=True, check=True)
    assert done.stdout == "False ['R001']\n"
    assert [p for p in place.rglob("*") if p.is_file()] == []


def test_a_read_only_cache_serves_but_takes_nothing(tmp_path):
    """Root is bound by no mode bits, so a child becomes another user first."""
    if os.geteuid() != 0:
        _read_only_cache_case(Cache(tmp_path / "cache", 1 << 20))
        return
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent != Path("/tmp") and parent.owner() == "root" and parent.stat().st_mode & 0o077 == 0:
            parent.chmod(0o711)
    place = tmp_path / "cache"
    place.mkdir(mode=0o700)
    os.chown(place, 65534, 65534)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_as_nobody, args=(place,))
    child.start()
    child.join(30)
    assert child.exitcode == 0


def _as_nobody(place):
    os.setgid(65534)
    os.setuid(65534)
    _read_only_cache_case(Cache(place, 1 << 20))


def _read_only_cache_case(cache):
    data = container(b"x")
    cache.put(key("a"), data)
    folders = [cache.root, cache.root / "objects", cache.path(key("a")).parent]
    for folder in folders:
        folder.chmod(0o500)
    try:
        assert cache.get(key("a")) == data
        assert not cache.put(key("b"), data)
        assert [w.code for w in cache.warnings] == ["R001"]
    finally:
        for folder in folders:
            folder.chmod(0o700)


def test_a_cache_that_others_may_write_to_is_not_used(cache):
    cache.put(key("a"), container(b"x"))
    cache.root.chmod(0o777)
    assert cache.get(key("a")) is None
    assert not cache.put(key("b"), container(b"x"))
    assert [w.code for w in cache.warnings] == ["R002"]


def _writer(root, n, rounds):
    cache = Cache(root, 1 << 16)
    for i in range(rounds):
        cache.put(key(str(i % 7)), container(bytes([i % 7]) * 5000))
        found = cache.get(key(str((i + n) % 7)))
        if found is not None and found != container(bytes([(i + n) % 7]) * 5000):
            os._exit(1)


def test_many_processes_writing_and_evicting_never_see_a_torn_entry(tmp_path):
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_writer, args=(tmp_path / "cache", n, 150)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0, 0]


def test_clear_removes_entries_and_nothing_else(cache):
    cache.put(key("a"), container(bytes(100)))
    other = cache.root / "notes.txt"
    other.write_text("mine")
    assert cache.clear() == len(container(bytes(100)))
    assert other.exists() and not list(cache.entries())
    assert cache.put(key("a"), container(b"again"))


def test_reading_marks_an_entry_as_used(cache):
    cache.put(key("a"), container(b"x"))
    os.utime(cache.path(key("a")), (1, 1))
    cache.get(key("a"))
    assert cache.path(key("a")).stat().st_mtime > time.time() - 60
