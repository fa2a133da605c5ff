"""The table of runtime functions: what it says of each version, what is implemented, what is made of it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.catalogue import coverage, derive_runtime, generate_runtime
from anywarp.catalogue.runtime import COLUMNS, DATA, RuntimeTableError, load, parse

REPOSITORY = Path(__file__).resolve().parents[2]
HEAD = "# a source\n" + "\t".join(COLUMNS) + "\n"
FIRST = "cudaFree\t12 13\tcustom\t\tcudaError_t\tvoid *devPtr\t=\n"


def rows():
    return {row.name: row for row in load().rows}


def test_the_table_says_what_public_programs_can_rely_on():
    found = rows()
    assert len([r for r in found.values() if 12 in r.majors]) == 435
    assert len([r for r in found.values() if 13 in r.majors]) == 458
    # CUDA 13 gave cudaGetDeviceProperties the meaning of what CUDA 12 called _v2, and took names of before CUDA 4 away.
    assert found["cudaGetDeviceProperties_v2"].majors == (12,)
    assert found["cudaThreadSynchronize"].majors == (12,)
    assert found["cudaMemAdvise"].parameters(12) != found["cudaMemAdvise"].parameters(13)
    assert found["cudaMemcpy"].parameters(13) == "void *dst, const void *src, size_t count, enum cudaMemcpyKind kind"


def test_rows_and_functions_agree():
    table = load()
    defined = derive_runtime.defined_in(REPOSITORY / "native" / "cudart", {row.name for row in table.rows})
    custom = {row.name for row in table.rows if row.route == "custom"}
    advice = "run python -m anywarp.catalogue.derive_runtime --sync"
    assert sorted(defined - custom) == [], f"defined, but the table says otherwise: {advice}"
    assert sorted(custom - defined) == [], f"custom by the table, but not defined: {advice}"


def test_the_page_is_current():
    page = (REPOSITORY / "docs" / "coverage" / "libcudart.md").read_text()
    assert page == coverage.runtime_as_markdown(load()), "run python -m anywarp.catalogue.derive_runtime --sync"


@pytest.mark.parametrize("major", [12, 13])
def test_nearly_all_that_has_nothing_to_do_with_graphics_is_there(major):
    wanted = [r for r in load().rows if major in r.majors and r.reason != coverage.GRAPHICS]
    there = [r for r in wanted if r.route == "custom"]
    assert len(there) >= 0.95 * len(wanted), [r.name for r in wanted if r.route != "custom"]


def test_what_published_packages_ask_for_is_implemented():
    text = (REPOSITORY / "tests" / "native" / "cudart" / "demand.txt").read_text()
    wanted = [line for line in text.splitlines() if not line.startswith("#")]
    found = rows()
    assert len(wanted) == 169
    assert [name for name in wanted if name not in found or found[name].route != "custom"] == []


def test_a_variant_for_per_thread_streams_calls_its_base():
    text = generate_runtime.definitions(load(), 13)
    assert "{ PerThreadStreams scope; return rt::cudaMemcpyAsync(dst, src, count, kind, stream); }" in text
    assert len(re.findall(r"\bcudaMemcpyAsync(?:_ptsz)?\(void \*dst", text)) == 2


def test_both_versions_export_what_nvidias_libraries_export():
    for major, count in ((12, 435), (13, 458)):
        script = generate_runtime.exports(load(), major)
        assert script.startswith(f"libcudart.so.{major} {{")
        assert len(re.findall(r"^    (__)?cuda\w+;$", script, re.MULTILINE)) == count


def test_the_build_can_run_it_with_nothing_installed(tmp_path):
    header = REPOSITORY / "src" / "anywarp" / "toolchain" / "include" / "13" / "driver_types.h"
    command = [sys.executable, "-I", "-S", generate_runtime.__file__, str(DATA / "cudart.tsv"), str(header)]
    subprocess.run([*command, str(tmp_path), "13"], check=True, cwd=tmp_path)
    assert '{2, "cudaErrorMemoryAllocation"},' in (tmp_path / "cudart_errors.inc").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FIRST + FIRST, "there twice"),
        (FIRST.replace("12 13", "11"), "majors are"),
        (FIRST.replace("custom", "alias"), "unknown route"),
        (FIRST.replace("custom", "absent"), "has a reason"),
        ("cudaFree\n", "expected 7 cells"),
    ],
)
def test_a_wrong_row_is_refused_by_line(text, message):
    with pytest.raises(RuntimeTableError, match=message):
        parse(HEAD + text, "t.tsv")
