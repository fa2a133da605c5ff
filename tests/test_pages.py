"""Links between the project's pages lead to files that are there, and pictures load nothing from elsewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)\s#]+)[^)\s]*\)")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "native").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page):
    targets = [target for target in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("picture", sorted((ROOT / "docs/pictures").glob("*.svg")), ids=lambda picture: picture.name)
def test_pictures_load_nothing(picture):
    assert (
        re.findall(r"url\((?!#)|<image|<script|(?:src|href)\s*=\s*[\"'](?!#)", picture.read_text(encoding="utf-8"))
        == []
    )
