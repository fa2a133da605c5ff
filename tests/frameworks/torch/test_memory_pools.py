"""Pools apart from the common one, and allocators that a user compiles: every call of theirs is counted here."""

import gc
import shutil
import subprocess

import pytest
import torch

pytestmark = pytest.mark.torch
MIB = 1 << 20

SOURCE = r"""
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>

static long allocated, freed, bytes, last_device = -1;
static void *last_stream;

void *counted_alloc(ssize_t size, int device, void *stream) {
  allocated++, bytes += size, last_device = device, last_stream = stream;
  void *memory = NULL;
  return posix_memalign(&memory, 4096, size) ? NULL : memory;
}
void counted_free(void *memory, ssize_t size, int device, void *stream) {
  freed++, bytes -= size, last_device = device, last_stream = stream;
  free(memory);
}
void *refusing_alloc(ssize_t size, int device, void *stream) { return NULL; }
long get(int what) { long all[] = {allocated, freed, bytes, last_device}; return all[what]; }
"""


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("allocator")
    (folder / "counted.c").write_text(SOURCE)
    library = folder / "counted.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "counted.c"], check=True)
    return library


def block_at(address):
    return next(
        (each["segment_pool_id"], block["state"])
        for each in torch.cuda.memory_snapshot()
        for block in each["blocks"]
        if block["address"] == address
    )


def test_a_pool_takes_what_is_allocated_inside_it():
    pool = torch.cuda.MemPool()
    outside = torch.empty(MIB, device="cuda")
    with torch.cuda.use_mem_pool(pool):
        inside = torch.randn(MIB, device="cuda")
        result = inside * 2
    after = torch.empty(MIB, device="cuda")
    assert block_at(inside.data_ptr())[0] == block_at(result.data_ptr())[0] == pool.id
    assert block_at(outside.data_ptr())[0] == block_at(after.data_ptr())[0] == (0, 0)
    assert torch.equal(result.cpu(), inside.cpu() * 2)
    assert pool.use_count() == 1
    assert {each["segment_pool_id"] for each in pool.snapshot()} == {pool.id}
    stats = torch.cuda.memory_stats_as_nested_dict()["reserved_bytes_by_private_pools"][pool.id]
    assert stats["all"]["current"] == sum(each["total_size"] for each in pool.snapshot())


def test_memory_of_a_pool_goes_when_pool_and_tensors_are_gone():
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        x = torch.full((MIB,), 7.0, device="cuda")
    name = pool.id
    del pool
    gc.collect()
    assert float(x[100]) == 7.0  # alive as long as the tensor
    del x
    torch.cuda.empty_cache()
    assert torch.cuda.memory_stats_as_nested_dict()["reserved_bytes_by_private_pools"][name]["all"]["current"] == 0
    assert not [each for each in torch.cuda.memory_snapshot() if each["segment_pool_id"] == name]


def test_empty_cache_leaves_a_pool_that_is_held():
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        x = torch.empty(MIB, device="cuda")
    address = x.data_ptr()
    del x
    torch.cuda.empty_cache()
    assert [each["segment_pool_id"] for each in pool.snapshot()] == [pool.id]
    with torch.cuda.use_mem_pool(pool):
        assert torch.empty(MIB, device="cuda").data_ptr() == address


def test_only_this_thread_goes_to_the_pool():
    import threading

    pool, found = torch.cuda.MemPool(), []
    with torch.cuda.use_mem_pool(pool):
        thread = threading.Thread(target=lambda: found.append(torch.empty(MIB, device="cuda")))
        thread.start()
        thread.join()
    assert block_at(found[0].data_ptr())[0] == (0, 0)


def test_a_pool_for_emergencies_is_used_when_memory_runs_out():
    gc.collect()
    torch.cuda.empty_cache()
    pool = torch.cuda.MemPool(use_on_oom=True)
    with torch.cuda.use_mem_pool(pool):
        x = torch.empty(40 * MIB, dtype=torch.uint8, device="cuda")
    del x
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + MIB) / total)
    try:
        y = torch.empty(30 * MIB, dtype=torch.uint8, device="cuda")
        assert block_at(y.data_ptr())[0] == pool.id
        with pytest.raises(torch.OutOfMemoryError, match="allocated in private pools"):
            torch.empty(30 * MIB, dtype=torch.uint8, device="cuda")
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def test_a_pool_that_does_not_split():
    pool = torch.cuda.MemPool(no_split=True)
    with torch.cuda.use_mem_pool(pool):
        x, y = (torch.empty(100, device="cuda") for _ in range(2))
    assert len(pool.snapshot()) == 2
    assert all(len(each["blocks"]) == 1 for each in pool.snapshot())
    del x, y


def test_nesting_and_misuse_are_refused():
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool), pytest.raises(RuntimeError, match="already recording to mempool_id"):
        torch._C._cuda_beginAllocateToPool(0, pool.id)
    with pytest.raises(RuntimeError, match="not currently recording to mempool_id"):
        torch._C._cuda_endAllocateToPool(0, pool.id)
    with pytest.raises(RuntimeError):
        torch._C._cuda_releasePool(0, (0, 10**9))


def test_a_pool_on_a_users_allocator(counted):
    import ctypes

    get = ctypes.CDLL(str(counted)).get
    get.restype = ctypes.c_long
    allocator = torch.cuda.memory.CUDAPluggableAllocator(str(counted), "counted_alloc", "counted_free")
    pool = torch.cuda.MemPool(allocator.allocator())
    before = get(0)
    with torch.cuda.use_mem_pool(pool):
        x = torch.arange(1000, device="cuda")
        y = x * x
    assert get(0) == before + 1 and get(2) == 2 * MIB and get(3) == 0  # one small segment serves both
    assert torch.equal(y.cpu(), torch.arange(1000) ** 2)
    assert y.device == torch.device("cuda:0") and (y + 1).sum().item() == sum(n * n + 1 for n in range(1000))
    freed = get(1)
    del x, y, pool
    gc.collect()
    assert get(1) == freed + 1 and get(2) == 0


def test_a_users_allocator_that_refuses(counted):
    allocator = torch.cuda.memory.CUDAPluggableAllocator(str(counted), "refusing_alloc", "counted_free")
    pool = torch.cuda.MemPool(allocator.allocator())
    with torch.cuda.use_mem_pool(pool), pytest.raises(torch.OutOfMemoryError):
        torch.empty(10, device="cuda")
    with pytest.raises(AttributeError):
        torch.cuda.memory.CUDAPluggableAllocator(str(counted), "no_such_function", "counted_free")


def test_all_memory_from_a_users_allocator(counted, under_anywarp):
    code = f"""
import ctypes, torch
mine = torch.cuda.memory.CUDAPluggableAllocator({str(counted)!r}, "counted_alloc", "counted_free")
torch.cuda.memory.change_current_allocator(mine)
get = ctypes.CDLL({str(counted)!r}).get
x = torch.ones(1000, device="cuda")
y = (x + x).sum()
assert get(0) >= 3 and y.item() == 2000.0 and y.is_cuda
del x, y
assert get(0) == get(1) and get(2) == 0, [get(n) for n in range(3)]
for call in (torch.cuda.memory_stats, torch.cuda.memory_snapshot, torch.cuda.reset_peak_memory_stats):
    try:
        call()
    except RuntimeError as error:
        assert "CUDAPluggableAllocator does not yet support" in str(error), error
    else:
        raise AssertionError(call)
print("served", get(0) > 0)
"""
    found = under_anywarp("-c", code)
    assert (found.stdout.strip(), found.returncode) == ("served True", 0), found.stderr


def test_the_allocator_cannot_change_once_used(counted):
    torch.empty(1, device="cuda")
    allocator = torch.cuda.memory.CUDAPluggableAllocator(str(counted), "counted_alloc", "counted_free")
    with pytest.raises(RuntimeError, match="Can't swap an already initialized allocator"):
        torch.cuda.memory.change_current_allocator(allocator)


def test_a_checkpoint_of_a_pool_comes_back():
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        kept = torch.empty(5000, device="cuda")
    state = torch._C._cuda_getCheckpointState(0, pool.id)
    held = [(block["address"], block["size"], block["state"]) for each in pool.snapshot() for block in each["blocks"]]
    with torch.cuda.use_mem_pool(pool):
        later = torch.empty(20000, device="cuda")
    assert torch._C._cuda_checkPoolLiveAllocations(0, pool.id, {kept.data_ptr(), later.data_ptr()})
    storages = [each.untyped_storage()._cdata for each in (kept, later)]
    again = torch._C._construct_storage_from_data_pointer(kept.data_ptr(), kept.device, 20000)
    torch._C._cuda_setCheckpointPoolState(0, state, storages, [again._cdata])
    now = [(block["address"], block["size"], block["state"]) for each in pool.snapshot() for block in each["blocks"]]
    assert now == held
    assert torch._C._cuda_checkPoolLiveAllocations(0, pool.id, {again.data_ptr()})
    assert not torch._C._cuda_checkPoolLiveAllocations(0, pool.id, set())
    assert torch._C._has_Standard_Deleter(again._cdata) and not torch._C._has_Standard_Deleter(
        later.untyped_storage()._cdata
    )
    torch._C._free_And_Remove_DeleterFn(again._cdata)
    assert torch._C._cuda_checkPoolLiveAllocations(0, pool.id, set())
    del kept, later, again


def test_a_storage_that_was_taken_says_so():
    x = torch.ones(10, device="cuda")
    torch._C._set_storage_data_ptr_access_error_msg(x.untyped_storage()._cdata, "this was overwritten by a graph")
    with pytest.raises(RuntimeError, match="this was overwritten by a graph"):
        x.untyped_storage().data_ptr()


def test_a_tensor_whose_memory_a_graph_took_back_says_so():
    """cudagraph_trees ends old outputs this way; using one must be an error and not a crash or an old value."""
    whole, part = torch.ones(4, device="cuda"), torch.ones(4, device="cuda")
    torch._C._set_storage_access_error_msg(whole, "taken by a later run")
    torch._C._set_storage_data_ptr_access_error_msg(part.untyped_storage()._cdata, "taken by a later run")
    for x in (whole, part):
        for use in (
            lambda x: x + 1,
            lambda x: x.cumsum(0),
            lambda x: x.add_(1),
            lambda x: x.logsumexp(0),
            lambda x: x.cpu(),
        ):
            with pytest.raises(RuntimeError, match="taken by a later run"):
                use(x)


def test_graphs_in_a_tree_share_a_pool_and_give_memory_back(under_anywarp):
    code = """
import torch, torch._inductor.config as config
config.triton.slow_path_cudagraph_asserts = True  # the pool's live blocks are compared with the live outputs at every step
calls = []
real = torch._C._cuda_setCheckpointPoolState
torch._C._cuda_setCheckpointPoolState = lambda *given: (calls.append(1), real(*given))[1]

@torch.compile(backend="cudagraphs")
def f(x):
    y = x * 2 + 1
    z = y.sin() if y.sum().item() > 0 else y.cos()
    return z + y, y

@torch.compile(backend="cudagraphs")
def g(x):
    return (x @ x.t()).relu()

worst = 0.0
for turn in range(8):
    torch.compiler.cudagraph_mark_step_begin()
    x = torch.randn(16, 16, device="cuda") + (3 if turn % 3 else -3)
    a, b = f(x)
    r = g(a)
    y = x * 2 + 1
    z = y.sin() if y.sum() > 0 else y.cos()
    worst = max(worst, (a - z - y).abs().max().item(), (r - (a @ a.t()).relu()).abs().max().item())
print(worst < 1e-4, len(calls) > 0)
"""
    found = under_anywarp("-c", code)
    assert (found.stdout.split(), found.returncode) == (["True", "True"], 0), found.stderr
