"""Page-locked host memory: who has it, its counters, and that a driver's own and a registered one count as well."""

import gc

import pytest
import torch

pytestmark = pytest.mark.torch


def test_pinning_copies_to_page_locked_memory():
    x = torch.arange(1000)
    assert not x.is_pinned()
    y = x.pin_memory()
    assert y.is_pinned() and y[10:20].is_pinned() and y.device.type == "cpu"
    assert torch.equal(x, y) and y.data_ptr() != x.data_ptr()
    assert y.pin_memory().data_ptr() == y.data_ptr()
    assert torch.empty(5, pin_memory=True).is_pinned()
    assert torch.ones(3, 3).pin_memory().sum() == 9


def test_storages_and_batches():
    storage = torch.arange(10).untyped_storage()
    assert not storage.is_pinned() and storage.pin_memory().is_pinned()
    loader = torch.utils.data.DataLoader([torch.tensor([n]) for n in range(4)], batch_size=2, pin_memory=True)
    assert [batch.is_pinned() for batch in loader] == [True, True]


def test_copies_from_and_to_it():
    x = torch.randn(500).pin_memory()
    y = x.to("cuda", non_blocking=True)
    back = torch.empty(500, pin_memory=True).copy_(y, non_blocking=True)
    torch.cuda.synchronize()
    assert torch.equal(back, x)


def test_counters_of_blocks_and_bytes():
    gc.collect()
    torch._C._host_emptyCache()
    torch.cuda.memory.reset_accumulated_host_memory_stats()
    torch.cuda.memory.reset_peak_host_memory_stats()
    before = torch.cuda.memory.host_memory_stats()
    x = torch.empty(3000, dtype=torch.uint8, pin_memory=True)
    during = torch.cuda.memory.host_memory_stats()
    assert during["active_bytes.current"] - before["active_bytes.current"] == 4096  # the next power of two
    assert during["active_requests.current"] - before["active_requests.current"] == 1
    assert during["num_host_alloc"] == 1 and during["host_alloc_time.count"] == 1
    address = x.data_ptr()
    del x
    after = torch.cuda.memory.host_memory_stats()
    assert after["active_bytes.current"] == before["active_bytes.current"]
    assert after["allocated_bytes.current"] == during["allocated_bytes.current"]
    assert torch.empty(2500, dtype=torch.uint8, pin_memory=True).data_ptr() == address
    gc.collect()
    torch._C._host_emptyCache()
    assert torch.cuda.memory.host_memory_stats()["num_host_free"] == 1


def test_a_registered_tensor_is_pinned():
    x = torch.zeros(1 << 16, dtype=torch.uint8)
    cudart = torch.cuda.cudart()
    assert int(cudart.cudaHostRegister(x.data_ptr(), x.numel(), 0)) == 0
    assert x.is_pinned()
    assert int(cudart.cudaHostUnregister(x.data_ptr())) == 0
    assert not x.is_pinned()


def test_device_tensors_cannot_be_pinned():
    with pytest.raises(
        RuntimeError, match=r"cannot pin .torch\.cuda\.FloatTensor. only dense CPU tensors can be pinned"
    ):
        torch.ones(3, device="cuda").pin_memory()
