"""Runs in place that end before their time: whenever they are killed, whatever is full or locked, --undo brings back every byte."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from anywarp.cli.main import call
from anywarp.migrate.writing import Edit, EditList, WritingError

SOURCE = "// %d\n#include <cuda_runtime.h>\nint f() { return cudaDeviceReset() == cudaSuccess && __shfl_up_sync(~0u, 1, 1); }\n"
POD = "# %d\napiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - resources: {limits: {nvidia.com/gpu: 1}}\n"
LISTS = {"translate": ".anywarp-edits.json", "convert": ".anywarp-convert.json"}
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
FILES = 70


@pytest.fixture(params=sorted(LISTS))
def verb(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for number in range(FILES):
        folder = root / f"part{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in ((f"{number}.cu", SOURCE), (f"{number}.yaml", POD)):
            (folder / name).write_text(text % number)
            (folder / name).chmod(0o600 + number % 64)
    return root


def content(root: Path) -> dict[str, tuple[bytes, int]]:
    files = (each for each in root.rglob("*") if each.is_file())
    return {str(each.relative_to(root)): (each.read_bytes(), each.stat().st_mode) for each in files}


def start(*words: str, errors: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "anywarp", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)


def forked(*words: str) -> int:
    """Start a command in a copy of this process, which has all modules already, and return its number."""
    if child := os.fork():
        return child
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os._exit(call([*words]))
    finally:
        os._exit(3)


def wait_until(done: Iterator[bool], process: subprocess.Popen[bytes]) -> None:
    for each in done:
        if each or process.poll() is not None:
            return
        time.sleep(0.0005)


def grown(place: Path, size: int) -> Iterator[bool]:
    """Say, again and again, whether a list of edits has so many bytes."""
    while True:
        try:
            yield place.stat().st_size >= size
        except FileNotFoundError:
            yield False


@pytest.mark.parametrize("number", range(3))
def test_what_a_killed_run_changed_is_taken_back(tree: Path, verb: str, number: int) -> None:
    before, moments = content(tree), random.Random(number)
    process = start(verb, str(tree), "--in-place")
    wait_until(grown(tree / LISTS[verb], moments.randrange(20_000)), process)
    process.send_signal(SIGNALS[number])
    process.wait(60)
    assert content(tree) != before
    process = start(verb, "--undo", str(tree))
    time.sleep(moments.random() * 0.5)  # some while it begins, some while it works, some when it is done
    process.kill()
    process.wait(60)
    if (tree / LISTS[verb]).exists():
        assert call([verb, "--undo", str(tree)]) in (0, 2)  # 2: it was killed before its first file
    assert content(tree) == before


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_two_hundred_runs_killed_in_the_midst_of_their_writing(tmp_path: Path, verb: str) -> None:
    """In the midst: the signal ended it, some files are on the list, and some that a whole run changes are not."""
    words = [verb, "--in-place", *(["--jobs", "1"] if verb == "translate" else [])]
    text, suffix = (SOURCE, "cu") if verb == "translate" else (POD, "yaml")
    root, moments, counts = tmp_path / "tree", random.Random(7), Counter[str]()
    for number in range(150):
        place = root / f"part{number % 11}" / f"{number}.{suffix}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text % number)
    before, journal = content(root), root / LISTS[verb]
    assert call([*words, str(root)]) == 0
    whole, everything = journal.stat().st_size, journal.read_bytes().count(b"\n")
    assert call([verb, "--undo", str(root)]) == 0 and content(root) == before
    while counts["amid"] < 200:
        child = forked(*words, str(root))
        threshold, status = moments.randrange(1, whole), 0
        while not (ended := os.waitpid(child, os.WNOHANG))[0] and not next(grown(journal, threshold)):
            time.sleep(0.0002)
        sent = SIGNALS[counts["runs"] % len(SIGNALS)]
        if not ended[0]:
            time.sleep(moments.random() * 0.003)
            os.kill(child, sent)
            status = os.waitpid(child, 0)[1]
        amid = os.WIFSIGNALED(status) and journal.exists() and 1 < journal.read_bytes().count(b"\n") < everything
        counts.update(["runs", *(["amid", sent.name] if amid else [])])
        now = content(root)
        changed = sum(now.get(name) != each for name, each in before.items())
        counts["files"] += changed
        assert changed or not amid or journal.read_bytes().count(b"\n") == 2  # the first of all was about to be changed
        if journal.exists():
            assert call([verb, "--undo", str(root)]) in (0, 2)
        assert content(root) == before, counts
        assert counts["runs"] < 1000
    print(verb, dict(counts))


def test_an_undo_that_is_killed_goes_on(tree: Path, verb: str) -> None:
    before = content(tree)
    assert call([verb, str(tree), "--in-place"]) == 0
    changed = {name for name, each in content(tree).items() if before.get(name) != each}
    assert len(changed) > FILES
    process = start(verb, "--undo", str(tree))
    first = tree / "part0" / ("63.cu" if verb == "translate" else "63.yaml")
    wait_until((first.read_bytes() == before[str(first.relative_to(tree))][0] for _ in iter(int, 1)), process)
    process.kill()
    process.wait(60)
    if (tree / LISTS[verb]).exists():
        assert call([verb, "--undo", str(tree)]) == 0
    assert content(tree) == before


def test_a_second_run_is_refused_while_one_is_at_work(
    tree: Path, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(tree)
    with EditList(tree, LISTS[verb]).run() as run:
        run.write("note", b"text")
        assert call([verb, str(tree), "--in-place"]) == 2
        assert call([verb, "--undo", str(tree)]) == 2
        assert capsys.readouterr().err.count("another run is changing files") == 2
    assert call([verb, "--undo", str(tree)]) == 0
    assert content(tree) == before


def test_two_runs_at_once_lose_nothing(tree: Path, verb: str) -> None:
    before = content(tree)
    both = [start(verb, str(tree), "--in-place", errors=subprocess.PIPE) for _ in range(2)]
    told = [each.communicate(timeout=100)[1] for each in both]
    assert [each.returncode for each in both].count(2) == sum(b"another run is changing files" in each for each in told)
    while (tree / LISTS[verb]).exists():
        assert call([verb, "--undo", str(tree)]) == 0
    assert content(tree) == before


def test_without_room_for_the_list_nothing_is_changed(tree: Path, verb: str) -> None:
    """A limit on the size of files stands for a full disk: the list stops growing in the middle of a line."""
    before = content(tree)
    limit = 9_001

    def poor() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-m", "anywarp", verb, str(tree), "--in-place"]
    done = subprocess.run(command, preexec_fn=poor, capture_output=True, timeout=100)
    assert done.returncode == 2 and b"File too large" in done.stderr
    assert 4_000 < (tree / LISTS[verb]).stat().st_size <= limit
    assert content(tree) != before
    assert call([verb, "--undo", str(tree)]) == 0
    assert content(tree) == before


def test_a_folder_that_cannot_be_written_to_is_said(tree: Path, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = content(tree)
    (tree / LISTS[verb]).mkdir()
    assert call([verb, str(tree), "--in-place"]) == 2
    assert "the list of edits, cannot be kept" in capsys.readouterr().err
    assert content(tree) == before


def test_a_file_that_cannot_be_replaced_is_not_on_the_list(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "b").write_bytes(b"other")
    with EditList(tmp_path, "list").run() as run, pytest.raises(WritingError, match="changed meanwhile"):
        run.replace("b", b"old", [Edit(0, 3, b"new")])
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
