"""cuGetProcAddress and what is absent."""

import ctypes
import re
import subprocess

import pytest

from native.by_hand import ROOT, library_path

pytestmark = pytest.mark.native

INVALID_VALUE, NOT_FOUND, NOT_SUPPORTED = 1, 500, 801
PER_THREAD = 2


def find(driver, name, version, flags=0):
    """Return (address, status) of cuGetProcAddress_v2."""
    address, status = ctypes.c_void_p(), ctypes.c_int(-1)
    driver.cuGetProcAddress_v2(name, ctypes.byref(address), version, flags, ctypes.byref(status))
    return address.value, status.value


def symbol(driver, name):
    return ctypes.cast(getattr(driver.library, name), ctypes.c_void_p).value


@pytest.mark.parametrize(
    ("name", "version", "flags", "variant"),
    [
        (b"cuMemAlloc", 3020, 0, "cuMemAlloc_v2"),
        (b"cuMemAlloc", 13000, 0, "cuMemAlloc_v2"),
        (b"cuMemAlloc", 2000, 0, "cuMemAlloc"),
        (b"cuCtxCreate", 11040, 0, "cuCtxCreate_v3"),
        (b"cuCtxCreate", 13000, 0, "cuCtxCreate_v4"),
        (b"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2"),
        (b"cuGetProcAddress", 11030, 0, "cuGetProcAddress"),
        (b"cuLaunchKernel", 7000, PER_THREAD, "cuLaunchKernel_ptsz"),
        (b"cuLaunchKernel", 13000, 1, "cuLaunchKernel"),
        (b"cuCtxSynchronize", 13000, PER_THREAD, "cuCtxSynchronize_v2"),
        (b"cuMemcpyHtoD", 7000, PER_THREAD, "cuMemcpyHtoD_v2_ptds"),
    ],
)
def test_a_name_and_a_version_find_the_variant(driver, name, version, flags, variant):
    address, status = find(driver, name, version, flags)
    if variant == "cuCtxSynchronize_v2" and address == symbol(driver, "cuCtxSynchronize"):
        pytest.skip("the second version came with CUDA 13.1 in the catalogue")
    assert (address, status) == (symbol(driver, variant), 0)


def test_what_is_not_there_is_null_with_a_reason(driver):
    assert find(driver, b"cuNoSuchFunction", 13000) == (None, 1)
    assert find(driver, b"", 13000) == (None, 1)
    assert find(driver, b"cuLibraryLoadData", 11000) == (None, 2)
    address = ctypes.c_void_p()
    assert driver.code("cuGetProcAddress", b"cuNoSuchFunction", ctypes.byref(address), 12000, 0) == NOT_FOUND
    assert driver.code("cuGetProcAddress_v2", b"cuInit", ctypes.byref(address), 13010, 0, None) == INVALID_VALUE
    assert driver.code("cuGetProcAddress_v2", b"cuInit", ctypes.byref(address), 12000, 3, None) == INVALID_VALUE


def test_private_tables_are_not_found(driver):
    table = ctypes.c_void_p()
    integrity = bytes.fromhex("d4082055bde6704b8d34ba123c66e1f2")
    assert driver.code("cuGetExportTable", ctypes.byref(table), integrity) == NOT_FOUND and table.value is None


def test_an_absent_function_says_so_once(driver, capfd):
    for _ in range(2):
        assert driver.code("cuMulticastCreate", 0, 0) == NOT_SUPPORTED
    said = capfd.readouterr().err
    assert said.count("cuMulticastCreate is not supported") == 1


def test_the_library_exports_the_catalogue_and_nothing_else():
    table = (ROOT / "src/anywarp/catalogue/data/cuda.tsv").read_text().splitlines()[2:]
    wanted = {line.split("\t")[0] for line in table}
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(library_path())], check=True, capture_output=True, text=True
    )
    ours = set(re.findall(r"(anywarp_\w+)\(", (ROOT / "docs/contracts.md").read_text()))  # sections 8 and 9
    ours -= {"anywarp_hip_device", "anywarp_cuda_device"}  # of the library for AMD GPUs alone
    assert set(re.findall(r" [TWi] (\w+)", listed.stdout)) == wanted | ours


def test_the_library_needs_no_cpp_runtime_and_no_python():
    shown = subprocess.run(["readelf", "-d", str(library_path())], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"NEEDED.*\[(.*)\]", shown)
    assert not [name for name in needed if "stdc++" in name or "python" in name or "gcc_s" in name]
    assert "[libcuda.so.1]" in re.findall(r"SONAME.*", shown)[0]


def test_the_unversioned_library_is_the_same_driver(driver):
    plain = ctypes.CDLL(str(library_path().parent / "libcuda.so"))
    assert ctypes.cast(plain.cuInit, ctypes.c_void_p).value == symbol(driver, "cuInit")
