"""Trees from anywhere: loops, odd names, things that are no files."""

import os
import socket

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.migrate.shown import shorten, visible
from anywarp.migrate.tree import Walked, read, walk


def names(root, *exclude):
    return [file.shown for file in walk(root, exclude)]


def make(root, *paths):
    for path in paths:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.encode())


def test_files_come_in_a_stable_order_with_their_sizes(tmp_path):
    make(tmp_path, "b.cu", "a/z.cu", "a/b/c.cu", "A.cu")
    assert names(tmp_path) == ["A.cu", "b.cu", "a/z.cu", "a/b/c.cu"]
    assert [file.size for file in walk(tmp_path)] == [4, 4, 6, 8]
    assert not any(file.named for file in walk(tmp_path))


def test_links_are_counted_and_never_followed(tmp_path):
    make(tmp_path, "a/x.cu")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "a" / "again.cu").symlink_to("x.cu")
    (tmp_path / "gone").symlink_to("nowhere")
    out = Walked()
    assert [f.shown for f in walk(tmp_path, (), out)] == ["a/x.cu"]
    assert out.links == 4


def test_a_root_may_be_a_link_and_a_file_named_is_marked_so(tmp_path):
    make(tmp_path, "tree/x.cu")
    (tmp_path / "link").symlink_to("tree")
    assert names(tmp_path / "link") == ["x.cu"]
    (file,) = walk(tmp_path / "tree" / "x.cu")
    assert file.shown == "x.cu" and file.named


def test_a_fifo_a_socket_and_a_device_are_never_opened(tmp_path):
    make(tmp_path, "x.cu")
    os.mkfifo(tmp_path / "fifo.cu")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "socket.cu"))
        out = Walked()
        assert [f.shown for f in walk(tmp_path, (), out)] == ["x.cu"]
    assert out.special == 2
    for place in (tmp_path / "fifo.cu", "/dev/zero"):
        with pytest.raises(AnywarpError) as caught:
            read(place)
        assert caught.value.diagnostic.code == "M002"


def test_repositories_and_caches_are_skipped_and_venvs_are_not(tmp_path):
    make(tmp_path, ".git/a.cu", "x/__pycache__/b.py", "node_modules/c.cu", ".venv/lib/d.py", ".github/workflows/e.yml")
    out = Walked()
    assert [f.shown for f in walk(tmp_path, (), out)] == [".github/workflows/e.yml", ".venv/lib/d.py"]
    assert out.skipped == 3


def test_files_of_a_virtual_or_conda_environment_are_marked(tmp_path):
    make(tmp_path, "env/pyvenv.cfg", "env/bin/tool", "env/src/own.py", "c/conda-meta/history", "c/lib/x.py", "own.py")
    out = Walked()
    marked = {file.shown for file in walk(tmp_path, (), out) if file.installed}
    assert marked == {"env/bin/tool", "c/conda-meta/history", "c/lib/x.py"}
    assert out.environments == [f"{tmp_path}/c/conda-meta", f"{tmp_path}/c/lib", f"{tmp_path}/env/bin"]
    assert {file.shown for file in walk(tmp_path / "env") if file.installed} == {"bin/tool"}


def test_gitignore_is_not_obeyed_and_patterns_are(tmp_path):
    make(tmp_path, ".gitignore", "build/a.cu", "src/build/b.cu", "src/c.cu", "src/keep.cu")
    (tmp_path / ".gitignore").write_text("src/\n")
    assert "src/c.cu" in names(tmp_path)
    assert names(tmp_path, "build/", "src/*.cu", "!src/keep.cu", ".gitignore") == ["src/keep.cu"]
    assert names(tmp_path, "/build/", ".git*") == ["build/a.cu", "src/c.cu", "src/keep.cu", "src/build/b.cu"][1:]


def test_any_name_is_walked_and_shown_on_one_line(tmp_path):
    odd = [
        b"quote'\"`$(x).cu",
        b"line\nbreak.cu",
        b"\xff\xfe.cu",
        b"\x1b]0;title\x07.cu",
        b" -rf .cu",
        "‮gnp.cu".encode(),
    ]
    for name in odd:
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
            file.write(b"x")
    shown = [visible(name) for name in names(tmp_path)]
    assert len(shown) == len(odd)
    assert set(shown) == {
        "quote'\"`$(x).cu",
        "line\\nbreak.cu",
        "\\xff\\xfe.cu",
        "\\x1b]0;title\\x07.cu",
        " -rf .cu",
        "\\u202egnp.cu",
    }
    assert all(read(file.place) == b"x" for file in walk(tmp_path))


def test_a_file_over_the_limit_and_one_that_is_gone_are_told(tmp_path):
    with open(tmp_path / "big.cu", "wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(AnywarpError) as caught:
        read(tmp_path / "big.cu", "big.cu", 1 << 20)
    assert caught.value.diagnostic.code == "M003" and "200,000,000" in caught.value.diagnostic.message
    for missing in (tmp_path / "no", tmp_path / "nul\0byte"):
        with pytest.raises(AnywarpError) as caught:
            list(walk(missing))
        assert caught.value.diagnostic.code == "M011"


def test_long_texts_are_cut_in_the_middle():
    assert shorten("abcdefghij", 10) == "abcdefghij"
    assert shorten("abcdefghijk", 10) == "abcd…ghijk"
    assert len(shorten("\n" * 100, 30)) == 30
