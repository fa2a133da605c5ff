"""What the build makes of the table."""

import ctypes
import shutil
import subprocess
import sys

import pytest

from anywarp.catalogue import generate
from anywarp.catalogue.load import DATA, load, parse
from catalogue.test_load import HEAD

HOOK = """
#include <cstdio>
#include "cuda_entries.h"
namespace aw { void report_absent(const char* name, const char* reason) { std::printf("%s: %s\\n", name, reason); } }
int cuFirst(int a) asm("cuFirst");
__attribute__((visibility("default"))) int cuFirst(int a) { return a + 1; }
extern "C" __attribute__((visibility("default"))) int hidden_by_exports() { return 0; }
extern "C" __attribute__((visibility("default"))) int cuFirst_v2(const char* name, int version) {
  for (std::size_t i = 0; i < aw_entry_count; ++i) {
    const aw_entry& e = aw_entries[i];
    if (e.version == version) return !e.absent && e.function == reinterpret_cast<void*>(&cuFirst);
  }
  return name ? -1 : -2;
}
"""
ROWS = (
    "cuFirst\tcuFirst\tcustom\t\t2000\t0\t1\t\n"
    "cuFirst_v2\tcuFirst\tcustom\t\t3020\t0\t2\t\n"
    "cuOther\tcuOther\talias\tcuFirst\t5000\t0\t1\t\n"
    'cuZero\tcuZero\tabsent\t\t6000\t0\t3\tno "such" hardware\n'
)


def test_each_function_is_absent_or_left_to_be_defined():
    table = load()
    text = generate.absent_functions(table, 801)
    for row in table.rows:
        assert (f"AW_ABSENT({row.name}, " in text) == (row.route == "absent")


def test_variants_of_a_function_stand_together_by_version():
    lines = generate.entry_points(load(), "x.h").splitlines()
    found = [line.strip() for line in lines if "AW_ENTRY(cuStreamGetCaptureInfo, " in line]
    order = [line.split(", ")[1:4] for line in found]
    assert order == [
        ["10010", "0", "cuStreamGetCaptureInfo"],
        ["11030", "0", "cuStreamGetCaptureInfo_v2"],
        ["12030", "0", "cuStreamGetCaptureInfo_v3"],
        ["10010", "1", "cuStreamGetCaptureInfo_ptsz"],
        ["11030", "1", "cuStreamGetCaptureInfo_v2_ptsz"],
        ["12030", "1", "cuStreamGetCaptureInfo_v3_ptsz"],
    ]


def test_the_build_can_run_it_with_nothing_installed(tmp_path):
    command = [sys.executable, "-I", "-S", generate.__file__, str(DATA / "cuda.tsv"), str(tmp_path)]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert "cuInit;" in (tmp_path / "cuda_exports.map").read_text()


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_a_library_made_of_it_exports_and_reports(tmp_path, capfd):
    (tmp_path / "cuda.tsv").write_text(HEAD + ROWS)
    files = generate.generate(tmp_path / "cuda.tsv", tmp_path)
    (tmp_path / "hook.cpp").write_text(HOOK)
    sources = [str(f) for f in files if f.suffix in (".cpp", ".ld")]
    library = tmp_path / "libtiny.so"
    flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-fPIC", "-shared", f"-I{tmp_path}"]
    script = f"-Wl,--version-script={tmp_path / 'cuda_exports.map'}"
    subprocess.run(["g++", *flags, "-o", library, tmp_path / "hook.cpp", *sources, script], check=True)
    tiny = ctypes.CDLL(str(library))
    assert tiny.cuFirst(41) == 42 and tiny.cuOther(41) == 42
    assert tiny.cuFirst_v2(None, 2000) == 1 and tiny.cuFirst_v2(None, 6000) == 0
    assert not hasattr(tiny, "hidden_by_exports")
    assert tiny.cuZero(1, 2, 3) == 801
    ctypes.CDLL(None).fflush(None)
    assert capfd.readouterr().out == 'cuZero: no "such" hardware\n'


def test_a_table_needs_its_code(tmp_path):
    (tmp_path / "unknown.tsv").write_text(parse(HEAD + ROWS, "t").as_text())
    with pytest.raises(KeyError):
        generate.generate(tmp_path / "unknown.tsv", tmp_path)
