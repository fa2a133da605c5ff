"""What is generated for NVIDIA's libraries on the processor: headers, wrappers, and the page about what is there."""

from pathlib import Path

import pytest

from anywarp import settings
from anywarp.catalogue import binding_headers, generate_blas, library_coverage, library_headers
from anywarp.catalogue.rocm import load

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(
    "module", [library_headers, binding_headers], ids=lambda module: module.__name__.split(".")[-1]
)
def test_headers_are_current(module):
    for header in module.HEADERS:
        text = (library_headers.FOLDER / header.name).read_text(encoding="utf-8")
        assert text == module.text_of(header), f"{header.name}: run scripts/docs"


def test_a_wrapper_calls_the_template_of_its_family():
    functions = {f.name: f for f in load("cublas").functions}
    families = {name: generate_blas.family_of(f) for name, f in functions.items()}
    assert (
        families["cublasScopy_v2"] == "copy"
        and families["cublasScasum_v2"] == "asum"
        and families["cublasCsymm_v2_64"] == "symm"
    )
    assert (
        families["cublasIsamax_v2"] == "iamax"
        and families["cublasCsscal_v2"] == "scal"
        and families["cublasHgemm"] == "Hgemm"
    )
    assert families["cublasCreate_v2"] is None and families["cublasSgemm"] is None  # without a handle: of before CUDA 4


@pytest.mark.native
def test_the_page_says_what_the_built_libraries_have():
    if not (settings.LIBRARY_DIR.get() / "libcudnn.so.9").exists():
        pytest.skip("libcudnn.so.9 is not built")
    page = (DOCS / "coverage" / "libraries_on_cpu.md").read_text(encoding="utf-8")
    assert page == library_coverage.page(settings.LIBRARY_DIR.get()), "run scripts/docs"
