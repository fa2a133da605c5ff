"""Devices and what `torch.cuda` says of them and of NVIDIA's libraries: the driver's truth, or an error that names what is missing."""

import copy
import ctypes
import io
import re

import pytest
import torch

pytestmark = pytest.mark.torch


def driver_attribute(number):
    value = ctypes.c_int()
    assert ctypes.CDLL("libcuda.so.1").cuDeviceGetAttribute(ctypes.byref(value), number, 0) == 0
    return value.value


def test_properties_are_those_of_the_driver():
    found = torch.cuda.get_device_properties(0)
    assert (
        (found.major, found.minor) == (driver_attribute(75), driver_attribute(76)) == torch.cuda.get_device_capability()
    )
    assert found.multi_processor_count == driver_attribute(16)
    assert found.warp_size == 32
    assert found.max_threads_per_multi_processor == driver_attribute(39)
    assert found.shared_memory_per_block_optin == driver_attribute(97) >= found.shared_memory_per_block
    assert found.total_memory == torch.cuda.mem_get_info()[1]
    assert found.name == torch.cuda.get_device_name()
    assert len(found.uuid.bytes) == 16
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", str(found.uuid))
    assert repr(found).startswith(
        f"_CudaDeviceProperties(name='{found.name}', major={found.major}, minor={found.minor}, total_memory="
    )
    with pytest.raises(AttributeError):
        found.major = 1
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = found.nothing
    with pytest.raises(TypeError):
        type(found)()


def test_devices_out_of_range_are_refused_as_on_a_gpu():
    for call in (
        torch.cuda.set_device,
        lambda index: torch.zeros(1, device=f"cuda:{index}"),
        lambda index: torch.cuda.device(index).__enter__(),
    ):
        with pytest.raises(RuntimeError, match="CUDA error: invalid device ordinal"):
            call(100)
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_properties(100)
    with pytest.raises(RuntimeError, match="invalid"):
        torch.Generator("cuda:100")
    assert torch.cuda.current_device() == 0


def test_versions_and_builds():
    version = ctypes.c_int()
    assert ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version)) == 0
    assert torch.version.cuda == f"{version.value // 1000}.{version.value % 1000 // 10}"
    assert torch._C._cuda_getCompiledVersion() == version.value
    assert torch.backends.cuda.is_built()
    assert (torch.backends.cudnn.is_available(), torch.backends.cudnn.version()) == (False, None)
    major, minor = torch.cuda.get_device_capability()
    assert torch.cuda.get_arch_list() == [f"sm_{major}{minor}", f"compute_{major}{minor}"]
    assert f"code=sm_{major}{minor}" in torch.cuda.get_gencode_flags()


def test_settings_of_libraries_are_kept():
    before = torch.backends.cuda.cufft_plan_cache.max_size
    torch.backends.cuda.cufft_plan_cache.max_size = 7
    assert torch.backends.cuda.cufft_plan_cache[0].max_size == 7
    assert torch.backends.cuda.cufft_plan_cache.size == 0
    torch.backends.cuda.cufft_plan_cache.clear()
    with pytest.raises(RuntimeError, match="non-negative"):
        torch.backends.cuda.cufft_plan_cache.max_size = -1
    torch.backends.cuda.cufft_plan_cache.max_size = before
    torch.cuda.tunable.enable(True)
    assert torch.cuda.tunable.is_enabled()
    torch.cuda.tunable.enable(False)
    torch.cuda.tunable.set_filename("mine.csv", True)
    assert torch.cuda.tunable.get_filename() == "mine0.csv"
    assert torch.cuda.tunable.get_results() == ()


def test_what_is_not_there_is_named():
    with pytest.raises(
        NotImplementedError, match=r"torch\.cuda\.current_blas_handle is not served by anywarp: there is no cuBLAS"
    ):
        torch.cuda.current_blas_handle()
    double = torch.cuda.jiterator._create_jit_fn("template <typename T> T twice(T x) { return x + x; }")
    with pytest.raises(NotImplementedError, match="jiterator"):
        double(torch.ones(3, device="cuda"))
    with pytest.raises(NotImplementedError, match="read_file"):
        torch.cuda.tunable.read_file("mine.csv")


def test_the_runtime_functions_answer_with_codes():
    cudart = torch.cuda.cudart()
    assert cudart.cudaError.success == 0
    assert cudart.cudaGetErrorString(cudart.cudaError(2)) == "out of memory"
    with pytest.raises(RuntimeError, match=r"out of memory \(2\)"):
        torch.cuda.check_error(2)
    memory = torch.empty(1 << 16, dtype=torch.uint8)
    assert cudart.cudaHostRegister(memory.data_ptr(), memory.numel(), 0) == cudart.cudaError.success
    assert cudart.cudaHostRegister(memory.data_ptr(), memory.numel(), 0) != cudart.cudaError.success  # already
    assert cudart.cudaHostUnregister(memory.data_ptr()) == cudart.cudaError.success
    handle = ctypes.c_uint64()
    assert cudart.cudaStreamCreate(ctypes.addressof(handle)) == cudart.cudaError.success
    assert handle.value
    assert cudart.cudaStreamDestroy(handle.value) == cudart.cudaError.success
    assert cudart.cudaMemGetInfo(0)[1] == torch.cuda.mem_get_info()[1]


def test_ranges_have_depths_and_handles():
    nvtx = torch.cuda.nvtx
    assert [nvtx.range_push("a"), nvtx.range_push("b"), nvtx.range_pop(), nvtx.range_pop()] == [0, 1, 1, 0]
    assert nvtx.range_start("a") != nvtx.range_start("b")
    nvtx.range_end(nvtx.range_start("c"))
    with nvtx.range("of {}", 3):
        assert nvtx.range_push("inner") == 1
        nvtx.range_pop()
    assert nvtx.range_pop() < 0  # none is open


def test_profilers_see_time_on_the_device():
    with torch.cuda.profiler.profile():
        torch.ones(3, device="cuda").sum()
    x = torch.ones(300, 300, device="cuda")
    both = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=both) as seen:
        (x @ x).sum().item()
    found = {event.key: event for event in seen.key_averages()}
    assert found["aten::mm"].count == 1
    assert found["aten::mm"].device_time_total > 0
    with torch.autograd.profiler.emit_nvtx(record_shapes=True):
        assert (x + 1).sum().item() == 2 * x.numel()


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize(
    "kind", ["Double", "Float", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool"]
)
def test_constructors_from_before_devices(kind):
    made = getattr(torch.cuda, f"{kind}Tensor")
    on_cpu = getattr(torch, f"{kind}Tensor")
    assert made(2, 3).shape == (2, 3)
    x = made([1, 0, 1])
    assert (x.device, x.dtype, x.tolist()) == (
        torch.device("cuda:0"),
        on_cpu([1, 0, 1]).dtype,
        on_cpu([1, 0, 1]).tolist(),
    )
    assert x.type() == f"torch.cuda.{kind}Tensor"
    assert isinstance(x, made)
    assert not isinstance(x.cpu(), made)
    assert not isinstance(x, on_cpu)
    assert isinstance(x.cpu().type(made), made)
    assert made(x).data_ptr() == x.data_ptr()
    assert made(x.storage()).data_ptr() == x.data_ptr()
    with pytest.raises(TypeError, match=f"expected torch.cuda.{kind}Tensor"):
        made(x.cpu())


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
def test_a_default_type_of_cuda_makes_tensors_there():
    try:
        torch.set_default_tensor_type("torch.cuda.HalfTensor")
        x = torch.ones(2)
        assert (x.device.type, x.dtype) == ("cuda", torch.float16)
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")
    assert (torch.ones(2).device.type, torch.ones(2).dtype) == ("cpu", torch.float32)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages_of_the_device():
    made = torch.UntypedStorage(16, device="cuda")
    assert (made.device, made.nbytes()) == (torch.device("cuda:0"), 16)
    assert torch.UntypedStorage([1, 2, 3], device="cuda").tolist() == [1, 2, 3]
    assert torch.UntypedStorage(device="cuda").nbytes() == 0
    assert torch.cuda.FloatStorage(4).device.type == "cuda"
    assert torch.ones(3).untyped_storage().cuda().device.type == "cuda"
    assert torch.UntypedStorage(4).device.type == "cpu"
    with pytest.raises(RuntimeError):
        torch.UntypedStorage(-1, device="cuda")


@pytest.mark.parametrize("weights_only", [True, False])
def test_saved_tensors_come_back_where_they_were_or_are_sent(weights_only):
    x = torch.arange(6.0, device="cuda").reshape(2, 3)
    module = torch.nn.Linear(3, 2, device="cuda")
    content = io.BytesIO()
    torch.save({"x": x, "view": x[1], "module": module.state_dict()}, content)

    def load(**options):
        content.seek(0)
        return torch.load(content, weights_only=weights_only, **options)

    there = load()
    assert torch.equal(there["x"], x)
    assert there["view"].untyped_storage().data_ptr() == there["x"].untyped_storage().data_ptr()
    assert load(map_location="cpu")["module"]["weight"].device.type == "cpu"
    content = io.BytesIO()
    torch.save(torch.ones(3), content)
    assert load(map_location="cuda:0").device == torch.device("cuda:0")
    with pytest.raises(RuntimeError, match="device"):
        load(map_location="cuda:100")
    assert torch.equal(copy.deepcopy(x), x)


def test_waiting_is_noticed_when_asked():
    x = torch.ones(3, device="cuda")
    try:
        torch.cuda.set_sync_debug_mode("error")
        x + 1
        x.to("cpu", non_blocking=True)
        for waits in (x.sum().item, x.nonzero, x.cpu):
            with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
                waits()
        torch.cuda.set_sync_debug_mode("warn")
        with pytest.warns(UserWarning, match="called a synchronizing CUDA operation"):
            x.sum().item()
        assert torch.cuda.get_sync_debug_mode() == 1
    finally:
        torch.cuda.set_sync_debug_mode(0)
    assert x.sum().item() == 3


def test_a_forked_child_cannot_use_the_device(under_anywarp):
    code = """
import os, torch
torch.ones(1, device="cuda")
if (child := os.fork()) == 0:
    assert torch.ones(2).sum().item() == 2
    try:
        torch.ones(1, device="cuda")
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(torch.ones(1, device="cuda").item())
"""
    done = under_anywarp("-c", code)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Cannot re-initialize CUDA in forked subprocess"), done.stderr
    assert lines[1] == "1.0"


def test_tensors_travel_to_a_spawned_process_without_a_copy(under_anywarp, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import gc, torch, torch.multiprocessing as mp
from anywarp.frameworks.torch.changes import shared_storages

def child(inbox, outbox):
    part = inbox.get()
    part.add_(1)
    mine = torch.arange(5.0, device="cuda")
    outbox.put(mine)
    del part
    gc.collect()
    outbox.put("seen")
    inbox.get()

if __name__ == "__main__":
    context = mp.get_context("spawn")
    inbox, outbox = context.Queue(), context.Queue()
    process = context.Process(target=child, args=(inbox, outbox))
    process.start()
    whole = torch.zeros(100, device="cuda")
    inbox.put(whole[10:20])
    theirs = outbox.get(timeout=60)
    assert outbox.get(timeout=60) == "seen"
    torch.cuda.ipc_collect()
    print(whole.sum().item(), theirs.sum().item(), theirs.device, len(shared_storages._sent))
    inbox.put("end")
    process.join()
    print(process.exitcode)
""")
    done = under_anywarp(program)
    assert done.stdout.split() == ["10.0", "10.0", "cuda:0", "0", "0"], done.stderr
