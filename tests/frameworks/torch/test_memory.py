"""Device memory: what a program sees of it by torch.cuda.memory, limits, and errors in CUDA's words."""

import gc
import re

import pytest
import torch

pytestmark = pytest.mark.torch
MIB = 1 << 20


@pytest.fixture(autouse=True)
def clean():
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    yield
    torch.cuda.set_per_process_memory_fraction(1.0)


def test_a_tensor_counts_while_it_lives():
    before = torch.cuda.memory_allocated()
    x = torch.empty(1000, device="cuda")
    assert torch.cuda.memory_allocated() - before == 4096
    assert torch.cuda.memory_reserved() >= 2 * MIB
    del x
    assert torch.cuda.memory_allocated() == before


def test_temporaries_of_an_operator_show_in_the_peak_and_in_nothing_else():
    x = torch.randn(512, 512, device="cuda")
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    y = (x @ x).relu().sum()
    assert torch.cuda.max_memory_allocated() - before >= 2 * MIB
    assert torch.cuda.memory_allocated() - before == 512
    assert y.is_cuda


def test_host_tensors_take_no_device_memory():
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    x = torch.randn(100_000)
    assert (x + x).sum().device.type == "cpu"
    assert torch.cuda.memory_stats()["allocation.all.allocated"] == before


def test_freed_memory_is_used_again():
    x = torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")
    address = x.data_ptr()
    del x
    segments = torch.cuda.memory_stats()["segment.all.allocated"]
    assert torch.empty(3 * MIB, dtype=torch.uint8, device="cuda").data_ptr() == address
    assert torch.cuda.memory_stats()["segment.all.allocated"] == segments


@pytest.mark.parametrize(
    ("size", "segment"), [(1, 2), (MIB, 2), (MIB + 1, 20), (10 * MIB - 512, 20), (10 * MIB, 10), (21 * MIB + 5, 22)]
)
def test_segments_have_torchs_sizes(size, segment):
    before = torch.cuda.memory_reserved()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        x = torch.empty(size, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_reserved() - before == segment * MIB
    del x


def test_mem_get_info_tells_what_the_driver_has():
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total
    assert total == torch.cuda.get_device_properties(0).total_memory


def test_out_of_memory_has_the_words_of_cuda():
    torch.cuda.set_per_process_memory_fraction(0.0005)
    ooms = torch.cuda.memory_stats()["num_ooms"]
    with pytest.raises(torch.OutOfMemoryError) as found:
        torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
    words = str(found.value)
    assert words.startswith("CUDA out of memory. Tried to allocate 1024.00 GiB. GPU 0 has a total capacity of ")
    number = r"[\d.]+ (bytes|KiB|MiB|GiB)"
    assert re.search(rf" of which {number} is free\. ", words)
    assert re.search(
        rf"{number} allowed; Of the allocated memory {number} is allocated by PyTorch, and {number} is reserved", words
    )
    assert "PYTORCH_ALLOC_CONF=expandable_segments:True" in words
    assert torch.cuda.memory_stats()["num_ooms"] == ooms + 1
    assert isinstance(found.value, RuntimeError)


def test_too_much_for_any_machine():
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate more than 1EB memory"):
        torch.empty(1 << 61, dtype=torch.uint8, device="cuda")


def test_a_limit_gives_cached_memory_back_before_it_refuses():
    total = torch.cuda.mem_get_info()[1]
    allowed = torch.cuda.memory_reserved() + 64 * MIB
    x = torch.empty(40 * MIB, dtype=torch.uint8, device="cuda")
    del x
    torch.cuda.set_per_process_memory_fraction(allowed / total)
    assert torch.cuda.get_per_process_memory_fraction() == pytest.approx(allowed / total)
    retries = torch.cuda.memory_stats()["num_alloc_retries"]
    y = torch.empty(50 * MIB, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_stats()["num_alloc_retries"] == retries + 1
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(50 * MIB, dtype=torch.uint8, device="cuda")
    del y
    assert torch.empty(50 * MIB, dtype=torch.uint8, device="cuda").is_cuda


def test_peaks_and_totals_can_be_set_back():
    x = torch.empty(5 * MIB, dtype=torch.uint8, device="cuda")
    del x
    assert torch.cuda.max_memory_allocated() >= 5 * MIB + torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == torch.cuda.memory_allocated()
    torch.cuda.reset_accumulated_memory_stats()
    stats = torch.cuda.memory_stats()
    assert stats["allocation.all.allocated"] == stats["allocation.all.freed"] == stats["num_device_alloc"] == 0


def test_every_documented_counter_is_there():
    stats = torch.cuda.memory_stats()
    for name in ("allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes", "active_bytes",
                 "inactive_split_bytes", "requested_bytes"):  # fmt: skip
        for kind in ("all", "small_pool", "large_pool"):
            for metric in ("current", "peak", "allocated", "freed"):
                assert isinstance(stats[f"{name}.{kind}.{metric}"], int)
    assert stats["max_split_size"] == -1
    assert "PyTorch CUDA memory summary" in torch.cuda.memory_summary()


def test_the_accelerator_interface_tells_the_same():
    if not hasattr(torch, "accelerator") or not hasattr(torch.accelerator, "memory_stats"):
        pytest.skip("this torch has no torch.accelerator.memory_stats")
    x = torch.empty(MIB, device="cuda")
    assert torch.accelerator.memory_allocated() == torch.cuda.memory_allocated()
    ours, theirs = torch.cuda.memory_stats(), torch.accelerator.memory_stats()
    assert {name: value for name, value in theirs.items() if name in ours and ours[name] != value} == {}
    torch.accelerator.empty_cache()
    del x


def test_memory_on_another_stream_waits_for_that_stream():
    stream = torch.cuda.Stream()
    x = torch.empty(7 * MIB, dtype=torch.uint8, device="cuda")
    address = x.data_ptr()
    x.record_stream(stream)
    del x
    torch.cuda.synchronize()
    assert torch.empty(7 * MIB, dtype=torch.uint8, device="cuda").data_ptr() == address
    # Memory of one stream is not given to another one.
    with torch.cuda.stream(stream):
        assert torch.empty(7 * MIB, dtype=torch.uint8, device="cuda").data_ptr() != address


def test_a_block_recorded_on_a_busy_stream_is_not_given_out():
    stream = torch.cuda.Stream()
    x = torch.empty(9 * MIB, dtype=torch.uint8, device="cuda")
    address = x.data_ptr()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
    assert not stream.query()
    x.record_stream(stream)
    del x
    states = [
        block["state"]
        for each in torch.cuda.memory_snapshot()
        for block in each["blocks"]
        if block["address"] == address
    ]
    assert states == ["active_awaiting_free"]
    assert torch.empty(9 * MIB, dtype=torch.uint8, device="cuda").data_ptr() != address
    stream.synchronize()
    assert torch.empty(9 * MIB, dtype=torch.uint8, device="cuda").data_ptr() == address


def test_options_of_the_environment(under_anywarp):
    code = "import torch; torch.empty(1, device='cuda'); print(torch.cuda.memory_stats()['max_split_size'])"
    found = under_anywarp(
        "-c", code, env={"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64,roundup_power2_divisions:[256:1,>:4]"}
    )
    assert (found.stdout.strip(), found.returncode) == (str(64 * MIB), 0), found.stderr
    found = under_anywarp("-c", code, env={"PYTORCH_CUDA_ALLOC_CONF": "nonsense:1"})
    assert found.returncode == 1 and "Unrecognized key 'nonsense' in CUDA allocator config" in found.stderr


def test_sizes_rounded_to_parts_of_powers_of_two():
    try:
        torch._C._accelerator_setAllocatorSettings("roundup_power2_divisions:4")
        held = torch.cuda.memory_allocated()
        x = torch.empty(1200 * 1024, dtype=torch.uint8, device="cuda")
        # Between 1 and 2 MiB four parts are 256 KiB each: 1200 KiB become 1280.
        block = [
            each
            for segment in torch.cuda.memory_snapshot()
            for each in segment["blocks"]
            if each["address"] == x.data_ptr()
        ]
        assert torch.cuda.memory_allocated() - held >= 1280 * 1024
        assert block[0]["size"] % (256 * 1024) == 0 and block[0]["requested_size"] == 1200 * 1024
    finally:
        torch._C._accelerator_setAllocatorSettings("roundup_power2_divisions:1")


def test_without_the_cache_memory_comes_from_the_driver():
    with torch.cuda.memory.caching_allocator_disabled():
        reserved = torch.cuda.memory_reserved()
        count = torch.cuda.memory_stats()["allocation.all.allocated"]
        x = torch.full((64 * MIB,), 3, dtype=torch.uint8, device="cuda")
        assert torch.cuda.memory_stats()["allocation.all.allocated"] == count
        assert torch.cuda.memory_reserved() == reserved
        assert int(x[5]) == 3 and x.device.type == "cuda"
    count = torch.cuda.memory_stats()["allocation.all.freed"]
    del x
    assert torch.cuda.memory_stats()["allocation.all.freed"] == count


def test_raw_memory_is_given_and_taken():
    address = torch.cuda.caching_allocator_alloc(4000)
    assert any(block["address"] == address for each in torch.cuda.memory_snapshot() for block in each["blocks"])
    torch.cuda.caching_allocator_delete(address)
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        torch.cuda.caching_allocator_delete(0x1234)


def test_threads_share_the_allocator():
    import threading

    wrong = []

    def work(number):
        for turn in range(200):
            size = 1 + (number * 7919 + turn * 104729) % 60000
            x = torch.full((size,), number, dtype=torch.int32, device="cuda")
            if not bool((x == number).all()):
                wrong.append((number, turn))

    before = torch.cuda.memory_allocated()
    threads = [threading.Thread(target=work, args=(each,)) for each in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert torch.cuda.memory_allocated() == before


def test_a_forked_child_finds_no_lock_held():
    import os
    import threading

    stop = threading.Event()

    def churn():
        while not stop.is_set():
            torch.empty(3000, device="cuda")

    x = torch.ones(1000, device="cuda")
    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                del x
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


OUT_OF_MEMORY = """
import ctypes, re, torch
held = torch.ones(1 << 20, device="cuda")
driver, address = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint64()
assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(64 << 20)) == 0
free, total = torch.cuda.mem_get_info()
try:
    torch.empty(1 << 45, device="cuda")
except torch.OutOfMemoryError as error:
    print(total, str(error))
"""


def test_the_message_counts_what_this_process_holds_and_no_other(under_anywarp):
    """The device's memory is the machine's, of which other programs hold more than this one."""
    done = under_anywarp("-c", OUT_OF_MEMORY)
    total, _, words = done.stdout.partition(" ")
    # MiB: 64 of the driver, and the segment of 20 that torch takes for sizes from 1 to 10.
    assert f"total capacity of {int(total) / 2**30:.2f} GiB" in words, done.stderr
    assert "Including non-PyTorch memory, this process has 84.00 MiB memory in use." in words
    assert "4.00 MiB is allocated by PyTorch, and 16.00 MiB is reserved by PyTorch but unallocated" in words
