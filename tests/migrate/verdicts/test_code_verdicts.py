"""Verdicts on code, binaries and distributions: for each target what the catalogue and the runtime say, and nothing better than that."""

import pytest

from anywarp.catalogue.identifiers import identifiers
from anywarp.catalogue.migration import rows
from anywarp.catalogue.runtime import load as load_runtime
from anywarp.migrate.findings import ANSWERS, Use
from anywarp.migrate.target import parse_target
from anywarp.migrate.translate.written import written
from anywarp.migrate.verdicts import judge_of, judges

MODULES = ("cuda_source", "python_source", "binaries")
KNOWN = judges(MODULES)
EFFORTS = {"none", "minutes", "hours", "days", "weeks"}


def judge(subject, name, target="hip:gfx942", rocm="7.1", **details):
    found = judge_of(subject, KNOWN)
    return found(Use(subject, name, details=tuple(details.items())), parse_target(target, rocm))


def answer(*arguments, **details):
    verdict = judge(*arguments, **details)
    return verdict and verdict.answer


@pytest.mark.parametrize("table", ["python_names", "cxx_libraries"])
def test_tables_hold_known_words_and_say_why(table):
    for row in rows(table):
        assert row["answer"] in ANSWERS and row["effort"] in EFFORTS, row
        assert row["reason"], row
        if row["answer"] in ("replace", "re-index"):
            assert row["target"] or row["help"], row


def test_both_devices_have_a_row_for_every_name():
    by_name = {}
    for row in rows("python_names"):
        if row["kind"] not in ("private", "torch"):
            by_name.setdefault((row["kind"], row["name"]), set()).add(row["device"])
    assert {key: devices for key, devices in by_name.items() if devices != {"hip", "cpu"}} == {}
    keys = {row["key"] for row in rows("cxx_libraries")}
    assert {
        key.partition("@")[0] for key in keys if not {key.partition("@")[0] + d for d in ("@hip", "@cpu")} <= keys
    } == set()


def test_nothing_changes_on_nvidia_s_own_platform():
    for subject, name in (
        ("cuda.api", "cudaMalloc"),
        ("torch.name", "torch.cuda.is_available"),
        ("binary.code", "x.so"),
        ("python.import", "tensorrt"),
    ):
        assert answer(subject, name, "cuda") == "as-is"


def test_a_call_with_a_counterpart_is_converted_and_names_it():
    verdict = judge("cuda.api", "cudaMalloc")
    assert (verdict.answer, verdict.replacement) == ("converted", "hipMalloc")


def test_every_identifier_of_the_catalogue_gets_an_answer_on_every_target():
    for name, each in identifiers("7.1").items():
        subject = "cuda.device" if each.subject == "device" else "cuda.api"
        for target in ("hip:gfx942", "cpu"):
            verdict = judge(subject, name, target)
            assert verdict.answer in ANSWERS and verdict.reason, (name, target)
            if each.state != "mapped" and target != "cpu" and verdict.answer == "converted":
                assert name in written(), name


def test_functions_that_our_runtime_refuses_are_not_promised():
    refused = [row.name for row in load_runtime().rows if row.route == "absent" and row.name in identifiers()]
    served = [row.name for row in load_runtime().rows if row.route == "custom" and row.name in identifiers()]
    assert refused and all(answer("cuda.api", name, "cpu") == "no-path" for name in refused)
    assert served and all(answer("cuda.api", name, "cpu") == "rebuild" for name in served)


def test_the_processor_has_no_cublas():
    assert answer("cuda.api", "cublasSgemm_v2", "cpu") == "no-path"
    assert answer("cuda.api", "cublasSgemm_v2") == "converted"
    assert answer("cuda.header", "cublas_v2.h", "cpu") == "no-path"
    assert answer("cuda.api", "cublasHandle_t", "cpu") == "no-path"
    assert answer("cuda.api", "CUDA_R_16F", "cpu") == "rebuild"


def test_what_came_with_a_later_release_depends_on_the_release():
    later = next(
        e
        for e in identifiers("10.0").values()
        if e.since == "7.2"
        and e.kind == "function"
        and e.state == "mapped"
        and not e.differs_in
        and e.subject == "runtime"
    )
    assert answer("cuda.api", later.name, "hip:gfx942", "7.2") == "converted"
    assert answer("cuda.api", later.name, "hip:gfx942", "7.1") != "converted"


def test_lanes_matter_where_64_execute_at_a_time():
    assert answer("cuda.wave", "32 lanes", count="3") == "converted"
    assert answer("cuda.wave", "M123", message="a lane waits", hint="do not") == "replace"
    assert judge("cuda.wave", "32 lanes", "hip:gfx1100", count="3") is None
    assert judge("cuda.wave", "M123", "cpu", count="3") is None


def test_inline_ptx_that_we_lack_has_no_path():
    assert answer("ptx.inline", "wgmma.fence.sync.aligned", front_end="lacking") == "no-path"
    assert answer("ptx.inline", "mov.u32", front_end="served", translated="yes") == "converted"
    assert answer("ptx.inline", "mov.u32", front_end="served", translated="it has no form") == "rebuild"
    assert answer("ptx.inline", "mov.u32", "cpu", front_end="served", translated="yes") == "rebuild"


def test_textures_depend_on_the_card():
    assert answer("cuda.texture", "tex2D", "hip:gfx942") == "rebuild"
    assert judge("cuda.texture", "tex2D", "hip:gfx1100") is None


def test_torch_comes_from_another_index_and_keeps_its_names():
    assert answer("python.import", "torch") == answer("python.import", "torch", "cpu") == "re-index"
    assert (
        answer("torch.name", "torch.cuda.synchronize")
        == answer("torch.name", "torch.cuda.synchronize", "cpu")
        == "as-is"
    )
    assert answer("python.device", "cuda", framework="torch") == "as-is"
    assert answer("python.device", "cuda", framework="jax") == "replace"


def test_capabilities_are_another_number_on_amd():
    assert answer("torch.capability", "torch.cuda.get_device_capability") == "replace"
    assert answer("torch.capability", "torch.cuda.get_device_capability", "cpu") == "as-is"
    assert answer("torch.name", "torch.version.cuda") == "replace"


def test_private_names_are_promised_only_where_they_are_there():
    assert answer("torch.private", "torch._C._cuda_getCurrentRawStream", "cpu") == "as-is"
    assert answer("torch.private", "torch._C._cuda_thatNobodyHas", "cpu") == "no-path"
    assert answer("torch.private", "torch._C._cuda_jiterator_compile_and_launch_kernel", "cpu") == "no-path"


def test_guarded_imports_take_less():
    assert judge("python.import", "flash_attn_interface", "cpu").effort == "hours"
    assert judge("python.import", "flash_attn_interface", "cpu", guarded="yes").effort == "minutes"


def test_machine_code_has_no_path_and_ptx_runs():
    assert answer("binary.code", "libx.so", sass="sm_80") == "no-path"
    assert answer("binary.code", "libx.so", sass="sm_80", ptx="sm_80", kernels="4") == "as-is"
    assert answer("binary.code", "libx.so", ptx="sm_80", kernels="4", sass_only="2") == "no-path"
    assert answer("binary.code", "libx.so", ptx="sm_80", kernels="4", lacking="1", missing="wgmma.fence") == "no-path"
    assert "--rebind" in judge("binary.code", "libx.so", ptx="sm_80", runtime="static").help
    assert answer("binary.code", "libx.so", ptx="sm_80", runtime="static, stripped") == "no-path"
    assert answer("binary.runtime", "runtime.so", "cpu", runtime="static, stripped") == "no-path"
    assert answer("binary.code", "libtorch_cuda.so", sass="sm_80") == "re-index"


def test_imported_functions_are_looked_up_one_by_one():
    whole = judge("binary.library", "libcudart.so.12", library="libcudart", symbols="cudaMalloc cudaFree")
    assert (whole.answer, whole.effort) == ("as-is", "none")
    refused = next(row.name for row in load_runtime().rows if row.route == "absent")
    part = judge("binary.library", "libcudart.so.12", library="libcudart", symbols=f"cudaMalloc {refused}")
    assert part.effort == "hours" and refused in part.reason and "1 of 2" in part.reason


def test_libraries_that_are_not_there():
    assert answer("binary.library", "libcublas.so.12", "cpu", library="libcublas") == "no-path"
    assert answer("binary.library", "libcublas.so.12", library="libcublas", symbols="cublasCreate_v2") == "as-is"
    assert answer("binary.library", "libcudart.so.11.0", library="libcudart") == "rebuild"
    assert answer("binary.library", "libnvinfer.so.10", library="libnvinfer") == "no-path"


def test_installed_builds():
    assert answer("installed.package", "torch", version="2.9.1+cu128", variant="cu128") == "re-index"
    assert answer("installed.package", "torch", version="2.9.1+rocm7.1", variant="rocm7.1") == "as-is"
    assert answer("installed.package", "torch", "cpu", version="2.13.0+cpu", variant="cpu") == "as-is"
    assert answer("installed.package", "nvidia-cublas-cu12", version="12.8") == "as-is"


def test_functions_of_nvml_by_its_table():
    assert answer("python.nvml", "nvmlInit", "cpu") == "as-is"
    assert answer("python.nvml", "nvmlComputeInstanceDestroy", "cpu") == "no-path"


def test_kernels_are_counted_in_words():
    assert judge("cuda.kernel", "__global__", count="1").reason.startswith("1 kernel:")
    assert judge("cuda.kernel", "__global__", "cpu", count="3").reason.startswith("3 kernels:")
    assert judge("cuda.kernel", "__shared__", count="1") is None


def test_eight_bit_floats_are_others_on_cdna3_alone():
    assert judge("torch.fp8", "torch.float8_e4m3fn").replacement == "torch.float8_e4m3fnuz"
    assert judge("torch.fp8", "torch.float8_e5m2").replacement == "torch.float8_e5m2fnuz"
    assert judge("torch.fp8", "torch.float8_e4m3fn", "hip:gfx950") is None
    assert judge("torch.fp8", "torch.float8_e4m3fn", "cpu") is None


def test_whatever_has_no_path_says_what_to_do():
    for row in rows("python_names"):
        if row["kind"] == "module" and row["answer"] in ("no-path", "rebuild", "replace"):
            assert judge("python.import", row["name"], "cpu" if row["device"] == "cpu" else "hip:gfx942").help, row


def test_macros_that_only_nvcc_has():
    assert answer("cuda.macro", "__CUDA_ARCH__") == answer("cuda.macro", "CUDART_VERSION") == "converted"
    assert answer("cuda.macro", "__CUDA_ARCH_FEAT_SM90_ALL") == "as-is"


def test_groups_that_hip_lacks_are_kept_as_cuda():
    assert answer("cuda.group", "labeled_partition", message="none in HIP", hint="loop") == "rebuild"
    assert judge("cuda.group", "labeled_partition", "cpu", message="none in HIP", hint="loop").answer == "rebuild"
