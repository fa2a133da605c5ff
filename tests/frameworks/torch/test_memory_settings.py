"""Options of the allocator, several devices and streams that run beside the host: each in a process of its own."""

import pytest

pytestmark = pytest.mark.torch


def run(under_anywarp, code, **env):
    found = under_anywarp("-c", "import torch\nMIB = 1 << 20\n" + code, env=env)
    assert found.returncode == 0, found.stderr
    return found.stdout.split()


BYTES = "(lambda n: torch.empty(n, dtype=torch.uint8, device='cuda'))"


def test_large_blocks_stay_whole_above_the_limit(under_anywarp):
    code = f"""
make = {BYTES}
x = make(100 * MIB)
del x
y = make(15 * MIB)  # would be cut from the 100 MiB without the limit
print(torch.cuda.memory_stats()["segment.all.current"], torch.cuda.memory_stats()["inactive_split.large_pool.current"])
z = make(90 * MIB)  # about as large: takes the whole block
print(torch.cuda.memory_stats()["segment.all.current"], torch.cuda.memory_stats()["oversize_allocations.current"])
"""
    assert run(under_anywarp, code, PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:30") == ["2", "0", "2", "1"]
    assert run(under_anywarp, code, PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:500") == ["1", "1", "2", "0"]


def test_old_segments_go_when_use_passes_the_threshold(under_anywarp):
    code = f"""
make = {BYTES}
torch.cuda.set_per_process_memory_fraction(400 * MIB / torch.cuda.mem_get_info()[1])
x = make(150 * MIB)
del x
y = make(160 * MIB)
print(torch.cuda.memory_reserved() // MIB)
z = make(170 * MIB)
print(torch.cuda.memory_reserved() // MIB, torch.cuda.memory_stats()["num_alloc_retries"])
"""
    assert run(under_anywarp, code, PYTORCH_ALLOC_CONF="garbage_collection_threshold:0.5") == ["310", "330", "0"]
    assert run(under_anywarp, code) == ["310", "330", "1"]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("max_split_size_mb:1", "too small, must be >= 20"),
        ("garbage_collection_threshold:1.5", "too big, set it 0.0~1.0"),
        ("expandable_segments:maybe", "Expected a single True/False argument for expandable_segments"),
        ("roundup_power2_divisions:3", "divisions has to be power of 2"),
        ("max_split_size_mb", "Error parsing CachingAllocator settings"),
        ("max_split_size_mb:", "it ends too early"),
        ("roundup_power2_divisions:[", "it ends too early"),
        ("max_split_size_mb:x", "is not a number: x"),
        ("backend:mine", "Unknown allocator backend, options are native and cudaMallocAsync"),
        (",", "Unrecognized key|Error parsing"),
    ],
)
def test_options_that_make_no_sense(option, words):
    import re

    import torch

    with pytest.raises(ValueError) as found:
        torch._C._cuda_cudaCachingAllocator_set_allocator_settings(option)
    assert re.search(words, str(found.value))
    assert torch.empty(3, device="cuda").is_cuda


def test_every_device_has_memory_of_its_own(under_anywarp):
    code = f"""
a = {BYTES}(3 * MIB)
b = torch.empty(5 * MIB, dtype=torch.uint8, device="cuda:1")
print(torch.cuda.memory_allocated(0) // MIB, torch.cuda.memory_allocated(1) // MIB, torch.cuda.current_device())
print(*[each["device"] for each in torch.cuda.memory_snapshot()])
with torch.cuda.device(1):
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        c = torch.empty(MIB, device="cuda")
    print(c.device.index, pool.snapshot()[0]["device"])
del b, c
torch.cuda.empty_cache()
print(torch.cuda.memory_allocated(1), [each["device"] for each in torch.cuda.memory_snapshot()].count(0))
try:
    torch.empty(1 << 50, dtype=torch.uint8, device="cuda:1")
except torch.OutOfMemoryError as error:
    print("GPU-1" if "GPU 1 has a total capacity" in str(error) else error)
try:
    torch.cuda.memory_stats(7)
except Exception as error:
    print(type(error).__name__)
"""
    found = run(under_anywarp, code, ANYWARP_DEVICES="2")
    assert found[:3] == ["3", "5", "0"] and sorted(found[3:5]) == ["0", "1"] and found[5:7] == ["1", "1"]
    assert found[7:10] == ["0", "1", "GPU-1"] and found[10] in ("AssertionError", "RuntimeError")


def test_blocks_of_streams_that_run_beside_the_host(under_anywarp):
    code = """
torch.manual_seed(0)
side = torch.cuda.Stream()
wrong = 0
for turn in range(60):
    x = torch.full((50_000,), float(turn), device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2 + 1
    x.record_stream(side)
    del x
    z = torch.full((50_000,), -1.0, device="cuda")  # must not take the memory of x too early
    y.record_stream(torch.cuda.current_stream())
    torch.cuda.current_stream().wait_stream(side)
    wrong += int((y != 2 * turn + 1).sum())
torch.cuda.synchronize()
del y, z
torch.cuda.empty_cache()
print(wrong, torch.cuda.memory_stats()["active.all.current"])
"""
    assert run(under_anywarp, code, ANYWARP_ASYNC="1") == ["0", "0"]
    assert run(under_anywarp, code) == ["0", "0"]


def test_a_process_ends_with_memory_in_use(under_anywarp):
    code = (
        "x = torch.ones(1000, device='cuda'); y = torch.ones(5).pin_memory(); p = torch.cuda.MemPool(); print('ended')"
    )
    assert run(under_anywarp, code) == ["ended"]
