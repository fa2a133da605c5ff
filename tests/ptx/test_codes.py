"""Every code of the room has a page, and every code is used."""

from pathlib import Path

from anywarp.ptx import codes

ROOT = Path(__file__).parents[2]


def test_every_code_has_a_page():
    for code in codes.TITLES:
        page = (ROOT / "docs" / "diagnostics" / f"{code}.md").read_text()
        assert page.startswith(f"# {code}: ") and "\n## What to do\n" in page


def test_every_page_has_a_code():
    assert {p.stem for p in (ROOT / "docs" / "diagnostics").glob("P*.md")} == set(codes.TITLES)


def test_every_code_is_used_in_the_room():
    room = "".join(p.read_text() for p in (ROOT / "src" / "anywarp" / "ptx").glob("*.py") if p.name != "codes.py")
    unused = [
        name
        for name, value in vars(codes).items()
        if isinstance(value, str) and value in codes.TITLES and f"codes.{name}" not in room
    ]
    assert not unused
