"""No ROCm, an old one, a half one: the error that a CUDA program expects, and a line that says what to do."""

from __future__ import annotations

import pytest

from anywarp.catalogue.rocm import load
from anywarp.catalogue.rocm_libraries import LIBRARIES
from native.rocm.programs import library_of, recorder_in, run

CALLS = {
    "libcublas.so.12": ("cublas", "cublasCreate_v2(byref(P()))"),
    "libcublasLt.so.13": ("cublaslt", "cublasLtCreate(byref(P()))"),
    "libcufft.so.11": ("cufft", "cufftPlan1d(byref(c_int()), 64, 41, 1)"),
    "libcurand.so.10": ("curand", "curandCreateGenerator(byref(P()), 100)"),
    "libcusparse.so.12": ("cusparse", "cusparseCreate(byref(P()))"),
    "libcusolver.so.12": ("cusolver", "cusolverDnCreate(byref(P()))"),
    "libnccl.so.2": ("nccl", "ncclGroupStart()"),
}
NOT_INITIALIZED = {"cublas": 1, "cublaslt": 1, "cufft": 7, "curand": 203, "cusparse": 1, "cusolver": 1, "nccl": 2}


@pytest.mark.parametrize("soname", CALLS)
def test_a_missing_library_is_an_error_and_a_line_that_says_what_to_install(soname, tmp_path):
    stem, call = CALLS[soname]
    ran = run(soname, None, f"assert lib.{call} == {NOT_INITIALIZED[stem]}\nlib.{call}", folder=tmp_path)
    replaced = LIBRARIES[stem]
    assert ran.words.count("N020") == 1
    assert f"install the package {replaced.package}" in ran.words and replaced.target_sonames[0][2:] in ran.words


def test_a_function_that_this_version_lacks_is_named_with_the_file(tmp_path):
    recorder = recorder_in(tmp_path, "cublas", without=frozenset({"hipblasSgemm"}))
    ran = run(
        "libcublas.so.12",
        recorder,
        """
        one = c_float(1)
        assert lib.cublasSgemm_v2(H, 0, 0, 1, 1, 1, byref(one), P(1), 1, P(1), 1, byref(one), P(1), 1) == 15
        assert lib.cublasDgemm_v2(H, 0, 0, 1, 1, 1, byref(one), P(1), 1, P(1), 1, byref(one), P(1), 1) == 0
        """,
    )
    assert "cublasSgemm_v2" in ran.words and "hipblasSgemm" in ran.words and str(recorder) in ran.words


def test_a_library_that_cannot_be_loaded_says_why(tmp_path):
    (tmp_path / "libhipblas.so.3").write_bytes(b"not a library")
    ran = run("libcublas.so.12", None, "assert lib.cublasCreate_v2(byref(P())) == 1", folder=tmp_path)
    assert "file too short" in ran.words or "invalid ELF header" in ran.words


def test_the_library_of_the_runtime_that_lies_beside_is_taken(tmp_path):
    """Of ROCm 6 and 7 in one folder, the one whose HIP runtime is there."""
    recorder = recorder_in(tmp_path, "cublas", runtime=6)
    (tmp_path / "libhipblas.so.3").write_bytes(b"of another version")
    run("libcublas.so.12", recorder, "assert lib.cublasDestroy_v2(H) == 0 and last()[0] == 'hipblasDestroy'")


@pytest.mark.parametrize("soname", CALLS)
def test_absent_functions_return_not_supported_and_say_so_once(soname, tmp_path):
    stem, _ = CALLS[soname]
    library_of(soname)
    tables, replaced = load(stem), LIBRARIES[stem]
    absent = [function for function in tables.functions if function.route == "absent"]
    variant = next(v for v in replaced.variants if v.soname == soname)
    name = next(f.name for f in absent if set(f.majors) & set(variant.majors))
    code = replaced.code(tables, "not_supported")
    ran = run(soname, None, f"assert lib.{name}(None) == {code}\nlib.{name}(None)", folder=tmp_path)
    assert ran.words.count(name) == 1, ran.words
