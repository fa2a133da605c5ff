// Driver API reference: stream ordered memory allocator.
#include "cpu/pool.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/watched_memory.h"
#include "cpu/graph_memory.h"
#include "cpu/pool_sharing.h"
#include "cpu/stream.h"
#include "cuda/visible.h"
#include "devices/processor.h"

namespace aw {
namespace {

Handles<Pool>& pools() {
  static auto& instance = *new Handles<Pool>;
  return instance;
}

// The pools that devices allocate from, where cuDeviceSetMemPool chose one.
struct Current {
  std::mutex mutex;
  std::array<std::shared_ptr<Pool>, kMostDevices> pools;
  std::shared_ptr<Pool> host, managed;  // where cuMemSetMemPool chose one
};

Current& current() {
  static Current& instance = *new Current;
  return instance;
}

// Whether a pool may have reserved more than its threshold.
std::atomic<bool> excess{false};

}  // namespace

// Out of the lists, with the mutex held.
void Pool::forget(Blocks& among, Blocks::iterator block) {
  auto same = by_size.equal_range(block->bytes);
  by_size.erase(
      std::find_if(same.first, same.second, [&](auto& entry) { return entry.second == block; }));
  (block->rests ? resting_bytes : kept) -= block->bytes;
  among.erase(block);
}

// The one of that size freed last, whose bytes may still be in the processor's caches; else the
// smallest that is not much larger: what grows step by step, as a list of keys and values does,
// would meet new pages each time. With the mutex held.
Pool::Block Pool::take_waiting(uint64_t block) {
  auto found = by_size.upper_bound(block);
  if (found != by_size.begin() && std::prev(found)->first == block) {
    --found;
  } else {
    const bool exact = limit || checking() || !processor::may_be_cut(block);
    if (exact || found == by_size.end() || found->first > block + block / 4 ||
        !processor::may_be_cut(found->first))
      return {0, block, false};
  }
  auto newest = found->second;
  Block out = *newest;
  forget(out.rests ? resting : waiting, newest);
  return out;
}

Pool::Block Pool::add(uint64_t bytes) {
  uint64_t block = block_bytes(bytes);
  Block found{};
  {
    std::lock_guard lock(mutex);
    require(limit == 0 || (bytes <= limit && used <= limit - bytes), CUDA_ERROR_OUT_OF_MEMORY);
    found = take_waiting(block);
    used += bytes, held += found.bytes;
    used_high = std::max(used_high, used);
  }
  auto* memory = reinterpret_cast<void*>(found.base);
  if (found.rests && !wake_bytes(found.bytes, device)) {
    processor::release(memory, found.bytes);
    std::lock_guard lock(mutex);
    held -= found.bytes - block;
    found = {0, block, false};
  } else if (found.bytes > block) {
    processor::cut(memory, block);
  }
  if (limit) trim(block_bytes(limit));  // what waits makes room
  std::lock_guard lock(mutex);
  reserved_high = std::max(reserved_high, held + kept);
  return found;
}

void Pool::remove(uint64_t bytes, uint64_t block) {
  std::lock_guard lock(mutex);
  used -= std::min(used, bytes);
  held -= std::min(held, block);
}

void Pool::keep(uint64_t base, uint64_t block) {
  // A program that never synchronizes shall not grow without end: as much may wait as was ever in
  // use together, and a little.
  constexpr uint64_t kLittle = 32 << 20;
  uint64_t most;
  {
    std::lock_guard lock(mutex);
    waiting.push_front({base, block, false});
    by_size.emplace(block, waiting.begin());
    kept += block;
    if (held + kept > release_threshold) excess.store(true, std::memory_order_relaxed);
    most = destroyed ? 0 : std::max(used_high + kLittle, release_threshold);
  }
  release_down_to(most);
}

void Pool::rest() {
  std::lock_guard lock(mutex);
  while (!waiting.empty() && held + kept > release_threshold) {
    auto oldest = std::prev(waiting.end());
    auto* memory = reinterpret_cast<void*>(oldest->base);
    if (!rest_bytes(memory, oldest->bytes, device)) {
      release_bytes(memory, oldest->bytes, device);
      forget(waiting, oldest);
      continue;
    }
    oldest->rests = true;
    kept -= oldest->bytes, resting_bytes += oldest->bytes;
    resting.splice(resting.begin(), waiting, oldest);
  }
}

void Pool::trim(uint64_t bytes) {
  uint64_t most;
  {
    std::lock_guard lock(mutex);
    most = bytes - std::min(bytes, held);
  }
  release_down_to(most);
}

void Pool::empty() { release_down_to(0); }

void Pool::release_down_to(uint64_t most_waiting) {
  std::vector<Block> gone;
  {
    std::lock_guard lock(mutex);
    while (kept + resting_bytes > most_waiting) {
      auto& from = resting.empty() ? waiting : resting;
      if (from.empty()) break;
      gone.push_back(from.back());
      forget(from, std::prev(from.end()));
    }
  }
  for (auto [base, bytes, rests] : gone) {
    auto* memory = reinterpret_cast<void*>(base);
    rests ? processor::release(memory, bytes) : release_bytes(memory, bytes, device);
  }
}

void release_unused_memory() {
  for (auto& pool : pools().all()) pool->empty();
}

void note_synchronized() {
  if (!excess.exchange(false, std::memory_order_relaxed)) return;
  for (auto& pool : pools().all()) pool->rest();
}

uint64_t block_bytes(uint64_t bytes) {
  constexpr uint64_t kPage = 4096;
  if (bytes > UINT64_MAX - kPage) return bytes;
  return (bytes + kPage - 1) / kPage * kPage;
}

namespace {

std::shared_ptr<Pool>* make_default(MemoryKind kind, CUmemLocationType location_type,
                                    int device = 0) {
  auto made = std::make_shared<Pool>();
  made->device = device;
  made->is_default = true;
  made->kind = kind, made->location_type = location_type;
  made->handle = pools().add(made);
  return new std::shared_ptr<Pool>(std::move(made));
}

std::shared_ptr<Pool> host_pool() {
  static const auto* pool = make_default(MemoryKind::host, CU_MEM_LOCATION_TYPE_HOST);
  return *pool;
}

std::shared_ptr<Pool> managed_pool() {
  static const auto* pool = make_default(MemoryKind::managed, CU_MEM_LOCATION_TYPE_NONE);
  return *pool;
}

}  // namespace

std::shared_ptr<Pool> default_pool(int device) {
  static std::mutex mutex;
  static std::array<std::shared_ptr<Pool>*, kMostDevices> pools{};
  std::lock_guard lock(mutex);
  auto& pool = pools[static_cast<size_t>(device)];
  if (!pool) pool = make_default(MemoryKind::device, CU_MEM_LOCATION_TYPE_DEVICE, device);
  return *pool;
}

std::shared_ptr<Pool> current_pool(int device) {
  std::lock_guard lock(current().mutex);
  auto& pool = current().pools[static_cast<size_t>(device)];
  return pool ? pool : default_pool(device);
}

std::shared_ptr<Pool> pool_of(CUmemoryPool handle) {
  auto pool = pools().find(handle);
  require(pool != nullptr);
  return pool;
}

uintptr_t enter_pool(std::shared_ptr<Pool> pool) {
  Pool& made = *pool;
  return made.handle = pools().add(std::move(pool));
}

}  // namespace aw

using namespace aw;

namespace {

bool is_reuse(CUmemPool_attribute attribute) {
  return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
         attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

// From the current pool of the stream's device when there is no other.
void allocate(CUdeviceptr* out, size_t bytes, std::shared_ptr<Pool> pool, CUstream stream) {
  require(out);
  auto target = stream_of(stream);
  if (!pool) pool = current_pool(target->context->device);
  if (target->capture()) {
    CUDA_MEM_ALLOC_NODE_PARAMS params = {};
    params.poolProps.allocType = pool->kind == MemoryKind::managed ? CU_MEM_ALLOCATION_TYPE_MANAGED
                                                                   : CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location = {pool->location_type, {pool->device}};
    params.bytesize = bytes;
    target->submit(alloc_work(&params));
    *out = params.dptr;
    return;
  }
  // Memory exists at once, which is sooner than the stream's order asks for.
  // Of no bytes there is an address, too.
  *out = allocate_in(target->context, std::max<size_t>(bytes, 1), pool->kind, 0, pool);
}

void read_number(Pool& pool, CUmemPool_attribute attribute, void* value) {
  std::lock_guard lock(pool.mutex);
  if (is_reuse(attribute)) {
    memcpy(value, &pool.reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES],
           sizeof(int));
    return;
  }
  uint64_t number = attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD      ? pool.release_threshold
                    : attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT ? pool.held + pool.kept
                    : attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH    ? pool.reserved_high
                    : attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT     ? pool.used
                                                                        : pool.used_high;
  require(attribute >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD &&
          attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH);
  memcpy(value, &number, sizeof number);
}

void write_number(Pool& pool, CUmemPool_attribute attribute, const void* value) {
  std::lock_guard lock(pool.mutex);
  if (is_reuse(attribute)) {
    memcpy(&pool.reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES], value,
           sizeof(int));
    return;
  }
  uint64_t number;
  memcpy(&number, value, sizeof number);
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
    pool.release_threshold = number;
    return;
  }
  // High-water marks can only be brought down to what is in use.
  require((attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH ||
           attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) &&
          number == 0);
  if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) pool.used_high = pool.used;
  if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) pool.reserved_high = pool.held + pool.kept;
}

}  // namespace

AW_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  return api<"cuMemAllocAsync">([&] { allocate(out, bytes, nullptr, stream); }, out, bytes, stream);
}

AW_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool,
                                           CUstream stream) {
  return api<"cuMemAllocFromPoolAsync">([&] { allocate(out, bytes, pool_of(pool), stream); }, out,
                                        bytes, pool, stream);
}

AW_EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return api<"cuMemFreeAsync">(
      [&] {
        auto target = stream_of(stream);
        if (target->capture()) return target->submit(free_work(address));
        begin_free(address);
        target->submit_short(FreeWork{address});
      },
      address, stream);
}

AW_EXPORT CUresult cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* props) {
  return api<"cuMemPoolCreate">([&] {
    require(out && props);
    require(props->allocType == CU_MEM_ALLOCATION_TYPE_PINNED ||
            props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED);
    bool managed = props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    if (!managed || props->location.type != CU_MEM_LOCATION_TYPE_NONE)
      check_location(props->location);
    if (props->handleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
      throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                    "memory pools are shared between processes by file descriptors only");
    }
    require(!props->handleTypes ||
            (!managed && props->location.type == CU_MEM_LOCATION_TYPE_DEVICE));
    auto pool = std::make_shared<Pool>();
    if (props->handleTypes) pool->file = new_pool_file();
    pool->limit = props->maxSize;
    pool->location_type = props->location.type;
    if (props->location.type == CU_MEM_LOCATION_TYPE_DEVICE) pool->device = props->location.id;
    pool->kind = managed                                               ? MemoryKind::managed
                 : props->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? MemoryKind::device
                                                                       : MemoryKind::host;
    *out = as_handle<CUmemoryPool>(enter_pool(std::move(pool)));
  });
}

AW_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return api<"cuMemPoolDestroy">([&] {
    auto pool = pool_of(handle);
    require(!pool->is_default);
    pools().remove(handle);
    {
      std::lock_guard lock(pool->mutex);
      pool->destroyed = true;
    }
    pool->empty();
    std::lock_guard lock(current().mutex);
    for (auto& chosen : current().pools) {
      if (chosen == pool) chosen = nullptr;
    }
    if (current().host == pool) current().host = nullptr;
    if (current().managed == pool) current().managed = nullptr;
  });
}

AW_EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t bytes) {
  return api<"cuMemPoolTrimTo">([&] { pool_of(handle)->trim(bytes); });
}

AW_EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                         void* value) {
  return api<"cuMemPoolGetAttribute">([&] {
    require(value);
    read_number(*pool_of(handle), attribute, value);
  });
}

AW_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                         void* value) {
  return api<"cuMemPoolSetAttribute">([&] {
    require(value);
    auto pool = pool_of(handle);
    write_number(*pool, attribute, value);
    // What is above it now goes when the program next synchronizes.
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) excess = true;
  });
}

AW_EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* access,
                                      size_t count) {
  return api<"cuMemPoolSetAccess">([&] {
    require(access || count == 0);
    auto pool = pool_of(handle);
    for (size_t i = 0; i < count; ++i) {
      check_location(access[i].location);
      // The device that holds the memory can always reach it.
      bool own = access[i].location.type == pool->location_type &&
                 (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
                  access[i].location.id == pool->device);
      require(access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE || !own);
      std::lock_guard lock(pool->mutex);
      pool->access[{access[i].location.type, access[i].location.id}] = access[i].flags;
    }
  });
}

AW_EXPORT CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle,
                                      CUmemLocation* location) {
  return api<"cuMemPoolGetAccess">([&] {
    require(flags && location);
    check_location(*location);
    auto pool = pool_of(handle);
    std::lock_guard lock(pool->mutex);
    auto it = pool->access.find({location->type, location->id});
    *flags = it == pool->access.end() ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                      : it->second;  // host and device share one memory
  });
}

AW_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice dev) {
  return api<"cuDeviceGetDefaultMemPool">([&] {
    require(out);
    check_device(dev);
    *out = as_handle<CUmemoryPool>(default_pool(dev)->handle);
  });
}

AW_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool* out, CUdevice dev) {
  return api<"cuDeviceGetMemPool">([&] {
    require(out);
    check_device(dev);
    *out = as_handle<CUmemoryPool>(current_pool(dev)->handle);
  });
}

AW_EXPORT CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool handle) {
  return api<"cuDeviceSetMemPool">([&] {
    check_device(dev);
    auto pool = pool_of(handle);
    std::lock_guard lock(current().mutex);
    current().pools[static_cast<size_t>(dev)] = std::move(pool);
  });
}

namespace {

// The pools of places other than the device: host memory, and managed memory.
std::shared_ptr<Pool> place_pool(const CUmemLocation* location, CUmemAllocationType type) {
  require(location &&
          (type == CU_MEM_ALLOCATION_TYPE_PINNED || type == CU_MEM_ALLOCATION_TYPE_MANAGED));
  bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  if (!managed || location->type != CU_MEM_LOCATION_TYPE_NONE) check_location(*location);
  if (!managed && location->type == CU_MEM_LOCATION_TYPE_DEVICE) return default_pool(location->id);
  return managed ? managed_pool() : host_pool();
}

}  // namespace

AW_EXPORT CUresult cuMemGetDefaultMemPool(CUmemoryPool* out, CUmemLocation* location,
                                          CUmemAllocationType type) {
  return api<"cuMemGetDefaultMemPool">([&] {
    require(out);
    *out = as_handle<CUmemoryPool>(place_pool(location, type)->handle);
  });
}

AW_EXPORT CUresult cuMemGetMemPool(CUmemoryPool* out, CUmemLocation* location,
                                   CUmemAllocationType type) {
  return api<"cuMemGetMemPool">([&] {
    require(out && location);
    bool device =
        type == CU_MEM_ALLOCATION_TYPE_PINNED && location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    auto pool = place_pool(location, type);  // which checks the location
    if (device) pool = current_pool(location->id);
    std::lock_guard lock(current().mutex);
    auto& chosen = type == CU_MEM_ALLOCATION_TYPE_MANAGED ? current().managed : current().host;
    if (!device && chosen) pool = chosen;
    *out = as_handle<CUmemoryPool>(pool->handle);
  });
}

AW_EXPORT CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type,
                                   CUmemoryPool handle) {
  return api<"cuMemSetMemPool">([&] {
    require(location);
    auto usual = place_pool(location, type);  // which checks the location
    auto pool = pool_of(handle);
    require(pool->kind == usual->kind);
    require(pool->kind != MemoryKind::device || pool->device == location->id);
    std::lock_guard lock(current().mutex);
    bool device =
        type == CU_MEM_ALLOCATION_TYPE_PINNED && location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    auto& chosen = device ? current().pools[static_cast<size_t>(location->id)]
                   : type == CU_MEM_ALLOCATION_TYPE_MANAGED ? current().managed
                                                            : current().host;
    chosen = std::move(pool);
  });
}
