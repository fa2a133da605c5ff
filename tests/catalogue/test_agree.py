"""The table and the functions that exist say the same."""

import ctypes
from pathlib import Path

import pytest

from anywarp.catalogue import coverage, derive
from anywarp.catalogue.load import Table, load

REPOSITORY = Path(__file__).resolve().parents[2]
NATIVE = REPOSITORY / "native"
LIBRARY = REPOSITORY / "build" / "native" / "lib" / "libcuda.so.1"


def test_rows_and_functions_agree():
    table = load()
    defined = derive.in_driver(NATIVE, [row.name for row in table.rows])
    custom = {row.name for row in table.rows if row.route == "custom"}
    advice = "run python -m anywarp.catalogue.derive --sync"
    assert sorted(defined - custom) == [], f"defined, but the table says otherwise: {advice}"
    assert sorted(custom - defined) == [], f"custom by the table, but not defined: {advice}"


def test_the_page_is_current():
    page = (REPOSITORY / "docs" / "coverage" / "libcuda.md").read_text()
    assert page == coverage.as_markdown(load()), "run python -m anywarp.catalogue.derive --sync"


@pytest.mark.native
@pytest.mark.skipif(not LIBRARY.exists(), reason="needs scripts/build")
def test_the_library_exports_every_function():
    library = ctypes.CDLL(str(LIBRARY))
    assert [row.name for row in load().rows if not hasattr(library, row.name)] == []


def test_definitions_are_told_from_calls_comments_and_text():
    names = ["cuInit", "cuMemAlloc_v2", "cuMemFree_v2", "cuCtxCreate_v2", "cuMemcpy", "cuMemcpy_ptds", "cuMemsetD8_v2"]
    text = """
      // CUresult cuCtxCreate_v2(int) {
      extern "C" CUresult cuInit(unsigned flags) {
        if (cuMemFree_v2(0)) { return 1; }
        log("cuCtxCreate_v2() {");
      }
      AW_API CUresult cuMemAlloc_v2(CUdeviceptr* out,
                                    size_t bytes) noexcept
      {}
      CUresult cuMemsetD8_v2(CUdeviceptr a, void (*callback)(int, int)) try {}
      CUresult cuCtxCreate_v2(int);
      AW_DEFINE_STREAM(cuMemcpy, (1))
    """
    assert set(derive.defined_in({"a.cpp": text}, names)) == {"cuInit", "cuMemAlloc_v2", "cuMemcpy", "cuMemsetD8_v2"}


def test_routes_follow_the_functions_that_are_defined():
    table = load()
    there = derive.sync(table, ["cuInit", "cuMemAlloc_v2"])
    assert {row.name for row in there.rows if row.route == "custom"} == {"cuInit", "cuMemAlloc_v2"}
    assert all(row.reason for row in there.rows if row.route == "absent")
    assert isinstance(there, Table) and len(there.rows) == len(table.rows)
    assert derive.sync(there, []).rows == derive.sync(table, []).rows


def test_what_published_packages_ask_for_is_there():
    """All but multicast objects, whose instructions need compute capability 9.0; packages ask the device's attribute first."""
    text = (REPOSITORY / "tests" / "native" / "driver_demand.txt").read_text()
    demanded = [line for line in text.splitlines() if not line.startswith("#")]
    routes = {row.name: row.route for row in load().rows}
    assert len(demanded) >= 208
    assert [name for name in demanded if routes[name] == "absent" and not name.startswith("cuMulticast")] == []
