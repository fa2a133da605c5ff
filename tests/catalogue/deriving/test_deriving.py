"""Inputs are named by version and checksum, unpacked inside their folder, and a derivation writes what it names."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from anywarp.catalogue.deriving.derivations import DERIVATIONS, Bench, Derivation, Run
from anywarp.catalogue.deriving.fetching import NotFetched, Store, checksum
from anywarp.catalogue.deriving.inputs import COLUMNS, Input, chosen, load, parse
from anywarp.catalogue.deriving.running import Outcome, Work
from anywarp.catalogue.deriving.unpacking import Refused, unpack
from anywarp.catalogue.load import TableError

ROOT = Path(__file__).resolve().parents[3]
ONE = Input("cuda13/one", "pypi", "one", "1.0", "", "one-1.0-py3-none-any.whl", ("*",), (), "0" * 64)


def wheel(path: Path, names: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in names.items():
            archive.writestr(name, data)
    return path


def tar(path: Path, change: Callable[[tarfile.TarInfo], None]) -> Path:
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo("inside/file")
        change(member)
        archive.addfile(member, io.BytesIO())
    return path


def test_every_derivation_names_inputs_that_are_listed_and_files_that_are_there():
    files = [
        str(path.relative_to(ROOT))
        for top in ("src", "native", "docs")
        for path in (ROOT / top).rglob("*")
        if path.is_file()
    ]
    for each in DERIVATIONS:
        chosen(load(), each.inputs)
        for pattern in each.writes:
            assert any(fnmatchcase(name, pattern) for name in files), f"{each.name}: nothing is called {pattern}"


def test_the_list_is_written_as_it_is_read():
    text = (ROOT / "src/anywarp/catalogue/data/derive/inputs.tsv").read_text(encoding="utf-8").split("\n")
    assert [each.as_line() for each in load()] == text[2:-1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda line: line.replace("pypi", "npm"), "kind"),
        (lambda line: line.replace("cuda13/one", "../one/x"), "FOLDER/NAME"),
        (lambda line: line[:-1], "SHA-256"),
        (lambda line: line.replace("one-1.0", "../one"), "SHA-256"),
        (lambda line: line + "\n" + line, "twice"),
    ],
)
def test_a_list_that_is_wrong_is_refused(change: Callable[[str], str], words: str):
    with pytest.raises(TableError, match=words):
        parse("\n".join(["# source", "\t".join(COLUMNS), change(ONE.as_line())]) + "\n", "inputs.tsv")


def test_a_pattern_that_fits_nothing_is_an_error_and_one_with_a_minus_takes_away():
    two = replace(ONE, name="cuda13/two")
    assert chosen((ONE, two), ("cuda13/*", "-cuda13/one")) == (two,)
    with pytest.raises(KeyError, match="cuda14"):
        chosen((ONE,), ("cuda14/*",))


def test_files_are_taken_and_moved_as_the_list_says(tmp_path: Path):
    each = replace(ONE, take=("*.h", "*.py"), moved=(("lib/include/", "include/x/"),))
    names = {"lib/include/a.h": b"a", "lib/b.so": b"b", "one-1.0.data/platlib/m.py": b"m"}
    unpack(wheel(tmp_path / "w.whl", names), each, tmp_path / "out")
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*")) == [
        "include/x/a.h",
        "m.py",
    ]


@pytest.mark.parametrize("name", ["../out.h", "/etc/out.h", "a/../../out.h"])
def test_an_archive_that_leaves_its_folder_is_refused(tmp_path: Path, name: str):
    with pytest.raises(Refused, match="outside"):
        unpack(wheel(tmp_path / "w.whl", {name: b"x"}), ONE, tmp_path / "out")
    assert not list(tmp_path.rglob("out.h"))


@pytest.mark.parametrize("link", ["/etc", "../../elsewhere"])
def test_a_link_that_leaves_the_folder_is_refused(tmp_path: Path, link: str):
    def change(member: tarfile.TarInfo) -> None:
        member.type, member.linkname = tarfile.SYMTYPE, link

    with pytest.raises(Refused, match="outside"):
        unpack(tar(tmp_path / "t.tar", change), replace(ONE, kind="git"), tmp_path / "out")


def test_a_file_through_a_link_stays_inside(tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a").symlink_to(tmp_path)
    with pytest.raises(Refused, match="outside"):
        unpack(wheel(tmp_path / "w.whl", {"a/b.h": b"x"}), ONE, tmp_path / "out")
    assert not (tmp_path / "b.h").exists()


def test_a_file_with_another_checksum_is_not_used(tmp_path: Path):
    store = Store(tmp_path)
    store.place(ONE).parent.mkdir(parents=True)
    store.place(ONE).write_bytes(b"another")
    with pytest.raises(NotFetched, match=checksum(store.place(ONE))):
        store.keep(ONE)


def repository(folder: Path) -> Path:
    for name in ("src", "native", "scripts", "docs"):
        (folder / name).mkdir(parents=True)
    (folder / "pyproject.toml").write_text("")
    (folder / "docs/page.md").write_text("old\n")
    (folder / "scripts/make.py").write_text("import sys\nopen(sys.argv[1], 'w').write('new\\n')\n")
    return folder


def run(tmp_path: Path, target: str, what: str = "scripts/make.py") -> tuple[Outcome, Path]:
    root = repository(tmp_path / "repository")
    (root / "src/anywarp").mkdir()
    (root / "src/anywarp/__init__.py").write_text("")
    (root / "src/anywarp/made.py").write_text(
        "import pathlib, sys\nroot = pathlib.Path(__file__).parents[2]\n(root / sys.argv[1]).write_text('new\\n')\n"
    )
    (tmp_path / "store").mkdir()

    def runs(bench: Bench) -> list[Run]:
        return [Run(what, (target,))]

    work = Work((), Store(tmp_path / "store"), root, lambda text: None)
    outcomes = work.run([Derivation("page", "a page", (), ("docs/*.md",), runs)], lambda copy, outcome: None)
    return outcomes[0], root


def test_what_a_derivation_changes_is_reported_and_the_repository_left_alone(tmp_path: Path):
    outcome, root = run(tmp_path, "docs/page.md")
    assert (outcome.written, outcome.changed, outcome.problem) == (1, ("docs/page.md",), "")
    assert (root / "docs/page.md").read_text() == "old\n"


def test_modules_of_the_copy_run_and_not_those_that_are_installed(tmp_path: Path):
    outcome, root = run(tmp_path, "docs/page.md", "anywarp.made")
    assert (outcome.changed, outcome.problem) == (("docs/page.md",), "")
    assert (root / "docs/page.md").read_text() == "old\n"


def test_a_derivation_that_writes_what_it_does_not_name_has_failed(tmp_path: Path):
    assert "native/other.h" in run(tmp_path, "native/other.h")[0].problem


def test_a_derivation_that_fails_says_why(tmp_path: Path):
    assert "FileNotFoundError" in run(tmp_path, "nowhere/x.md")[0].problem
