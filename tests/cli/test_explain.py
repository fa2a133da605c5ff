"""Pages of diagnostics: every code that the source can report has one, and nothing else is served."""

import json
import re
from pathlib import Path

import pytest

from anywarp.cli.explain import page_of, pages, title
from anywarp.cli.main import call
from anywarp.diagnostics import AnywarpError

REPOSITORY = Path(__file__).resolve().parents[2]
USE = re.compile(r'(?:(?<=")|(?<=error\[)|(?<=warning\[))([PCDRFNLSTMYV][0-9]{3})(?="|\]:)')
SOURCES = sorted(
    [
        *(REPOSITORY / "src").rglob("*.py"),
        *(REPOSITORY / "native").rglob("*.cpp"),
        *(REPOSITORY / "native").rglob("*.h"),
    ]
)
USED = {code: path for path in SOURCES for code in USE.findall(path.read_text())}


@pytest.mark.parametrize("code", sorted(USED))
def test_every_code_in_the_source_has_a_page(code):
    page = page_of(code)
    assert page.startswith(f"# {code}: ") and title(page), f"{USED[code]} uses {code}"
    assert "\n## What to do\n" in page


def test_every_page_belongs_to_a_code_in_the_source():
    assert {path.stem for path in pages().glob("*.md")} - set(USED) == set()


@pytest.mark.parametrize("code", ["../settings", "R0001", "", "r", "Z999", "R001.md", "/etc/passwd"])
def test_anything_else_is_refused(code):
    with pytest.raises(AnywarpError) as caught:
        page_of(code)
    assert caught.value.diagnostic.code == "L002"


def test_a_page_is_printed_in_either_form(capsys):
    assert call(["explain", "r020"]) == 0
    assert capsys.readouterr().out == page_of("R020")
    assert call(["explain", "R020", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["page"] == page_of("R020")


def test_without_a_code_all_are_listed(capsys):
    assert call(["explain"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len(list(pages().glob("*.md")))
    assert "R001  a kernel cache that takes no entries" in listed


def test_an_unknown_code_is_exit_code_2(capsys):
    assert call(["explain", "Q000"]) == 2
    assert "error[L002]" in capsys.readouterr().err


def test_a_name_of_cuda_is_told_with_its_counterpart(capsys):
    assert call(["explain", "cudaMemPrefetchAsync"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("cudaMemPrefetchAsync is hipMemPrefetchAsync on ROCm")
    assert "other arguments than CUDA 13's" in out
    assert call(["explain", "cudaGreenCtxCreate", "--rocm", "7.1", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["state"], told["since"]) == ("absent", "10.0")


def test_a_misspelt_name_is_answered_with_near_ones(capsys):
    assert call(["explain", "cudaMallok"]) == 2
    assert "did you mean cudaMalloc" in capsys.readouterr().err


def test_a_release_of_rocm_that_nobody_knows(capsys):
    assert call(["explain", "cudaMalloc", "--rocm", "0.1"]) == 2
    assert "nothing is known of ROCm 0.1" in capsys.readouterr().err
