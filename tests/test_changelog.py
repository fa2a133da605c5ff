"""Fragments become one section of the changelog, grouped by kind, newest release first; a mistake changes nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts/changelog"
HEAD = "# Changelog\n\nNewest first.\n"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "CHANGELOG.md").write_text(HEAD + "\n## 0.1.0 (2026-01-02)\n\n### Added\n\n- A start.\n")
    (tmp_path / "changelog.d/README.md").write_text("how to\n")
    (tmp_path / "changelog.d/b-lines.fixed.md").write_text("Two\nlines.\n")
    (tmp_path / "changelog.d/a.fixed.md").write_text("One line.\n")
    (tmp_path / "changelog.d/c.added.md").write_text("A thing.\n")
    return tmp_path


def run(project, *arguments):
    command = [sys.executable, SCRIPT, "--root", project, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_fragments_become_a_section_and_are_gone(project):
    assert run(project, "0.2.0", "2026-03-04").returncode == 0
    assert (project / "CHANGELOG.md").read_text() == (
        HEAD + "\n## 0.2.0 (2026-03-04)\n\n### Added\n\n- A thing.\n\n### Fixed\n\n- One line.\n- Two\n  lines.\n"
        "\n## 0.1.0 (2026-01-02)\n\n### Added\n\n- A start.\n"
    )
    assert [path.name for path in (project / "changelog.d").iterdir()] == ["README.md"]


@pytest.mark.parametrize(
    ("arguments", "file", "words"),
    [
        (("0.1.0", "2026-03-04"), None, "has 0.1.0 already"),
        (("0.2.0", "4 March"), None, "invalid"),
        (("0.2.0", "2026-03-04"), "d.mended.md", "is no fragment"),
        (("0.2.0", "2026-03-04"), "d.fixed.md", "says nothing"),
    ],
)
def test_a_mistake_changes_nothing(project, arguments, file, words):
    if file:
        (project / "changelog.d" / file).write_text("\n")
    before = {path: path.read_text() for path in project.rglob("*.md")}
    done = run(project, *arguments)
    assert done.returncode != 0 and words in done.stderr
    assert {path: path.read_text() for path in project.rglob("*.md")} == before


def test_the_projects_own_fragments_are_fragments():
    done = subprocess.run([sys.executable, SCRIPT, "99.0.0", "2099-01-01", "--show"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("## 99.0.0 (2099-01-01)\n")
