"""Every kernel entry of bitsandbytes' CUDA library does through our libcudart what numpy does."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from anywarp import settings
from clients import bitsandbytes_calls as calls

PROGRAM = Path(calls.__file__)
LIBRARY = "libbitsandbytes_cuda130.so"

CUBLAS = {
    "libcublas.so.13": ("cublasCreate_v2", "cublasGemmEx", "cublasGemmStridedBatchedEx", "cublasGetMathMode"),
    "libcublasLt.so.13": (
        "cublasLtMatmul",
        "cublasLtMatmulDescCreate",
        "cublasLtMatmulDescDestroy",
        "cublasLtMatmulDescSetAttribute",
        "cublasLtMatrixLayoutCreate",
        "cublasLtMatrixLayoutDestroy",
    ),
}
"""What the library needs of cuBLAS to be loaded; in these tests all of it answers CUBLAS_STATUS_NOT_SUPPORTED."""

NOT_SUPPORTED = 15


def library():
    """Return the path of bitsandbytes' library, None where it is not installed; the package itself is not imported."""
    found = importlib.util.find_spec("bitsandbytes")
    places = [Path(place) / LIBRARY for place in (found.submodule_search_locations or ())] if found else []
    return next((path for path in places if path.exists()), None)


pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(library() is None, reason="bitsandbytes' wheel is not installed"),
    pytest.mark.skipif(
        not (settings.LIBRARY_DIR.get() / "libcudart.so.13").exists(), reason="libcudart.so.13 is not built"
    ),
    pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler for the libraries in cuBLAS's place"),
]


@pytest.fixture(scope="module")
def in_the_place_of_cublas(tmp_path_factory):
    """Build libraries that have cuBLAS's names, and its answer that something is not supported."""
    folder = tmp_path_factory.mktemp("cublas")
    for soname, functions in CUBLAS.items():
        source, versions = folder / "source.c", folder / "versions"
        source.write_text("".join(f"int {name}(void) {{ return {NOT_SUPPORTED}; }}\n" for name in functions))
        versions.write_text(f"{soname} {{ {' '.join(f'{name};' for name in functions)} }};\n")
        command = ["cc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", f"-Wl,--version-script={versions}"]
        subprocess.run([*command, str(source), "-o", str(folder / soname)], check=True)
    return folder


@pytest.fixture(scope="module")
def said(in_the_place_of_cublas):
    """Run all checks in one process; return the line of each entry."""
    paths = [str(in_the_place_of_cublas), *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    done = subprocess.run(
        [sys.executable, "-m", "anywarp", "run", "--pure", "--", sys.executable, str(PROGRAM), str(library())],
        env=os.environ | {"LD_LIBRARY_PATH": ":".join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=280,
    )
    lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert lines, done.stderr
    return {line[1]: " ".join(line) for line in lines}, done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(calls.entries()))
def test_entry_does_what_numpy_does(said, name):
    lines, errors = said
    assert lines.get(name) == f"ok {name}", errors


def test_every_entry_is_checked_or_needs_cublas():
    with library().open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        exported = {
            symbol.name
            for symbol in symbols
            if symbol.entry.st_shndx != "SHN_UNDEF" and symbol.entry.st_info.type == "STT_FUNC"
        }
    plain = {
        name for name in exported if not name.startswith(("_", "cquantize_blockwise_cpu", "cdequantize_blockwise_cpu"))
    }
    assert plain == calls.entries().keys() | set(calls.NEED_CUBLAS)
