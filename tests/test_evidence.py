"""The page of what is proven of AMD GPUs is made of the tests."""

from pathlib import Path

import evidence

PAGE = Path(__file__).resolve().parents[1] / "docs/hip-checklist.md"


def test_the_page_is_current():
    assert PAGE.read_text() == evidence.page(), "scripts/docs rewrites docs/hip-checklist.md"


def test_marks_and_helpers_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "HERE", tmp_path)
    path = tmp_path / "test_x.py"
    path.write_text(
        "import pytest\npytestmark = [pytest.mark.amd_stack]\n\n@pytest.mark.amd_emulator\ndef test_a(): ...\n"
    )
    assert evidence.witness(path).kinds == {"HIP itself, the card emulated", "instructions emulated"}
    path.write_text("from native.hip.rig import run\n")
    assert evidence.witness(path).kinds == {"a fake ROCm"}
    path.write_text("# pytest.mark.hip\n")
    assert evidence.witness(path).kinds == {"by itself"}


def test_every_part_has_tests_and_every_kind_is_explained():
    text = evidence.page()
    for part, patterns in evidence.PARTS.items():
        assert any(list(evidence.HERE.glob(pattern)) for pattern in patterns), part
    for column in evidence.COLUMNS:
        assert f"\n| {column} | " in text, column
