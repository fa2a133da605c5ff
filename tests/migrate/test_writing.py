"""Writing: whole files or none, never outside the folder, never through a link; edits in place lead back."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anywarp.migrate.writing import Edit, EditList, WritingError, apply, copy_below, write_below


def test_edits_are_made_at_once() -> None:
    assert apply(b"0123456789", [Edit(0, 1, b"a"), Edit(3, 3, b"b"), Edit(8, 10, b"")]) == b"a12b34567"


def test_a_file_is_written_with_its_folders(tmp_path: Path) -> None:
    write_below(tmp_path / "new", "a/b/c.txt", b"text", 0o640)
    assert (tmp_path / "new/a/b/c.txt").read_bytes() == b"text"
    assert (tmp_path / "new/a/b/c.txt").stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path / "new/a/b") == ["c.txt"]


@pytest.mark.parametrize("shown", ["../x", "a/../../x", "/x", "", "a//b", ".", "a/.", "a\0b"])
def test_a_path_that_leads_elsewhere_is_refused(tmp_path: Path, shown: str) -> None:
    with pytest.raises(WritingError):
        write_below(tmp_path / "out", shown, b"text")
    assert not (tmp_path / "x").exists()


def test_links_are_not_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("old")
    root = tmp_path / "root"
    root.mkdir()
    (root / "folder").symlink_to(outside)
    (root / "file").symlink_to(outside / "file")
    for shown in ("folder/new", "file"):
        with pytest.raises(WritingError):
            write_below(root, shown, b"text")
    for shown in ("folder/file", "file"):
        with EditList(root, "list").run() as run:
            with pytest.raises(WritingError):
                run.replace(shown, b"old", [Edit(0, 3, b"new")])
            with pytest.raises(WritingError):
                run.write(shown, b"new")
    with pytest.raises(WritingError):
        copy_below(tmp_path / "copy", "file", root / "file")
    assert os.listdir(outside) == ["file"] and (outside / "file").read_text() == "old"


def test_a_fifo_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(WritingError):
        copy_below(tmp_path / "out", "fifo", tmp_path / "fifo")


def test_a_file_that_changed_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"other")
    with EditList(tmp_path, "list").run() as run, pytest.raises(WritingError, match="changed meanwhile"):
        run.replace("a", b"old", [Edit(0, 3, b"new")])
    assert (tmp_path / "a").read_bytes() == b"other"
    assert os.listdir(tmp_path) == ["a"]


def test_a_list_leads_through_no_link(tmp_path: Path) -> None:
    """A tree from a stranger may bring a list, whose entries fit a file elsewhere."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    with EditList(tmp_path, "list").run() as run:
        (outside / "file").write_bytes(b"old")
        run.replace("outside/file", b"old", [Edit(0, 3, b"new")])
    root.mkdir()
    (root / "outside").symlink_to(outside)
    os.rename(tmp_path / "list", root / "list")
    ((shown, problem),) = EditList(root, "list").undo()
    assert shown == "outside/file" and problem
    assert (outside / "file").read_bytes() == b"new"


def test_a_large_file_is_copied(tmp_path: Path) -> None:
    data = os.urandom(1 << 20) * 3 + b"end"
    (tmp_path / "a").write_bytes(data)
    copy_below(tmp_path / "out", "b/a", tmp_path / "a")
    assert (tmp_path / "out/b/a").read_bytes() == data


@settings(deadline=None)  # each example waits for the disk
@given(
    st.binary(max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.binary(max_size=5)), max_size=5),
)
def test_edits_of_any_bytes_lead_back(
    tmp_path_factory: pytest.TempPathFactory, old: bytes, wanted: list[tuple[int, int, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("edits")
    edits: list[Edit] = []
    for start, length, text in sorted(wanted):
        if start + length <= len(old) and (not edits or start >= edits[-1].end):
            edits.append(Edit(start, start + length, text))
    new = apply(old, edits)
    (folder / "file").write_bytes(old)
    with EditList(folder, "list").run() as run:
        run.replace("file", old, edits)
    assert (folder / "file").read_bytes() == new
    assert list(EditList(folder, "list").undo()) == [("file", "")]
    assert (folder / "file").read_bytes() == old
    assert not (folder / "list").exists()


def test_runs_are_undone_one_by_one(tmp_path: Path) -> None:
    texts = [b"one", b"two", b"three"]
    for old, new in pairwise(texts):
        (tmp_path / "a").write_bytes(old)
        with EditList(tmp_path, "list").run() as run:
            run.replace("a", old, [Edit(0, len(old), new)])
    assert EditList(tmp_path, "list").left() == 2
    assert list(EditList(tmp_path, "list").undo()) == [("a", "")]
    assert (tmp_path / "a").read_bytes() == b"two"
    assert list(EditList(tmp_path, "list").undo()) == [("a", "")]
    assert (tmp_path / "a").read_bytes() == b"one"
    with pytest.raises(WritingError):
        list(EditList(tmp_path, "list").undo())


def test_what_cannot_be_undone_stays_on_the_list(tmp_path: Path) -> None:
    with EditList(tmp_path, "list").run() as run:
        for name in ("a", "b"):
            (tmp_path / name).write_bytes(b"old")
            run.replace(name, b"old", [Edit(0, 3, b"new")])
    (tmp_path / "b").write_bytes(b"mine")
    assert dict(EditList(tmp_path, "list").undo()) == {"a": "", "b": "it was changed since"}
    (tmp_path / "b").write_bytes(b"new")
    assert dict(EditList(tmp_path, "list").undo()) == {"b": ""}
    assert (tmp_path / "b").read_bytes() == b"old"


def test_a_file_that_is_written_is_given_back(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"mine")
    with EditList(tmp_path, "list").run() as run:
        run.write("a", b"ours")
        run.write("b", b"ours")
    assert dict(EditList(tmp_path, "list").undo()) == {"a": "", "b": ""}
    assert (tmp_path / "a").read_bytes() == b"mine" and os.listdir(tmp_path) == ["a"]


_RUN = '{"format": 2, "run": "0123456789abcdef"}\n'


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "{}", '{"format": 1}', '"x"', _RUN, _RUN + '{"path": "a', _RUN + "[]\n", _RUN + "[" * 9999 + "\n", _RUN + "{}\n{\n",
        _RUN + '{"undone": [[]]}\n', _RUN + '{"undone": 1}\n', '{"format": 2, "run": "../x"}\n', '{"format": 2, "run": "x"}\n', "x\n",
    ],
)  # fmt: skip
def test_a_damaged_list_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "list").write_text(text)
    with pytest.raises(WritingError):
        list(EditList(tmp_path, "list").undo())


@pytest.mark.parametrize(
    "entry", ['{}', '{"path": "../a"}', '{"path": 1, "edits": 1}', '{"path": "a", "after": 1}', '{"path": "a\\u0000b"}', '{"path": "\\ud800/b"}']
)  # fmt: skip
def test_an_entry_that_fits_nothing_is_a_problem_of_its_own(tmp_path: Path, entry: str) -> None:
    (tmp_path / "list").write_text(_RUN + entry + "\n")
    ((_, problem),) = EditList(tmp_path, "list").undo()
    assert problem and os.listdir(tmp_path) == ["list"]
