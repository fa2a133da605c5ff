"""NVIDIA's own runtime asks our driver for tables that we do not have; its user learns once what to do instead."""

import ctypes
import subprocess
import sys
import uuid

import pytest

from anywarp import settings

pytestmark = pytest.mark.native

TABLES = ("f8cff951-2146-8b4e-b9e2-fb469e7c0dd9", "6bd5fb6c-5bf4-e74a-8987-d93912fd9df9")
NOT_FOUND = 500

PROGRAM = """
import ctypes, sys, uuid
driver = ctypes.CDLL(sys.argv[1])
for table in sys.argv[2:]:
    pointer = ctypes.c_void_p(1)
    print(driver.cuGetExportTable(ctypes.byref(pointer), uuid.UUID(table).bytes), pointer.value)
"""


def ask(*tables):
    """Ask for tables by their identity, the bytes in the order in which they are printed, as in a table of that library."""
    command = [sys.executable, "-c", PROGRAM, str(settings.LIBRARY_DIR.get() / "libcuda.so.1"), *tables]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_the_runtimes_tables_are_not_there_and_the_way_out_is_said_once():
    ran = ask(*TABLES, *TABLES)
    assert ran.stdout == f"{NOT_FOUND} None\n" * 4
    assert ran.stderr.startswith("anywarp: error[N001]: ")
    assert ran.stderr.count("\n") == 1
    assert "-cudart shared" in ran.stderr


LIBRARY = """
int ask(int (*get)(const void**, const void*), const void* table) { const void* found; int error = get(&found, table); return error + 0 * (found != 0); }
"""
ASKS_INSIDE = """
import ctypes, sys, uuid
driver, inside = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
print(inside.ask(driver.cuGetExportTable, uuid.UUID(sys.argv[3]).bytes))
"""


@pytest.mark.parametrize("stripped", [False, True])
def test_a_file_without_symbols_is_not_told_of_a_way_that_it_has_not(tmp_path, stripped):
    (tmp_path / "inside.c").write_text(LIBRARY)
    library = tmp_path / "inside.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "inside.c"], check=True)
    if stripped:
        subprocess.run(["strip", "-s", library], check=True)
    driver = settings.LIBRARY_DIR.get() / "libcuda.so.1"
    ran = subprocess.run(
        [sys.executable, "-c", ASKS_INSIDE, driver, library, TABLES[0]], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"{NOT_FOUND}\n"
    assert ran.stderr.startswith(f"anywarp: error[N001]: {library} ") and ran.stderr.count("\n") == 1
    assert ("--rebind" in ran.stderr) != stripped and ("no symbols" in ran.stderr) == stripped


def test_other_tables_are_not_there_without_a_word():
    ran = ask(str(uuid.UUID(int=5)))
    assert (ran.stdout, ran.stderr) == (f"{NOT_FOUND} None\n", "")


def test_a_null_table_is_an_invalid_value():
    driver = ctypes.CDLL(str(settings.LIBRARY_DIR.get() / "libcuda.so.1"))
    invalid_value = 1
    assert driver.cuGetExportTable(None, uuid.UUID(TABLES[0]).bytes) == invalid_value
