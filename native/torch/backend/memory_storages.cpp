// Storages whose memory changes hands: what torch._inductor.cudagraph_trees does between graphs.
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/UniqueVoidPtr.h>

#include <unordered_map>

#include "allocator.h"
#include "device_memory.h"
#include "exported.h"

using namespace awt;

namespace {

struct SavedPool {
  PoolId id;
  DeviceMemory::Checkpoint checkpoint;
};

c10::StorageImpl* storage_at(uint64_t address) {
  TORCH_CHECK(address, "no storage");
  return reinterpret_cast<c10::StorageImpl*>(address);
}

void let_go_of(c10::StorageImpl* storage) {
  TORCH_CHECK(
      storage->mutable_data_ptr().compare_exchange_deleter(&free_raw, c10::detail::deleteNothing),
      "Expected standard deleter");
}

// Newer versions of torch only.
template <class Storage>
void make_unusable(Storage* storage, const char* words) {
  if constexpr (requires {
                  storage->release_data_and_set_meta_custom_data_ptr_error_msg_(words);
                }) {
    storage->release_data_and_set_meta_custom_data_ptr_error_msg_(std::string(words));
  } else {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "this version of torch cannot mark a storage as freed");
  }
}

void restore(DeviceMemory& memory, const SavedPool& saved, const uint64_t* stale,
             int64_t stale_count, const uint64_t* owners, int64_t owner_count) {
  const auto result = memory.restore(saved.id, saved.checkpoint);
  const std::unordered_set<void*> freed(result.freed.begin(), result.freed.end());
  // Storages on memory that is free now would free it again.
  for (int64_t i = 0; i < stale_count; ++i) {
    auto* storage = storage_at(stale[i]);
    if (freed.count(storage->data_ptr().get()) && storage->data_ptr().get_context())
      let_go_of(storage);
  }
  std::unordered_map<void*, c10::StorageImpl*> by_address;
  for (int64_t i = 0; i < owner_count; ++i)
    by_address[storage_at(owners[i])->data_ptr().get()] = storage_at(owners[i]);
  for (void* address : result.allocated) {
    auto found = by_address.find(address);
    if (found == by_address.end()) continue;
    c10::StorageImpl* storage = found->second;
    TORCH_CHECK(!storage->data_ptr().get_context(), "Not expecting deleter function");
    storage->set_data_ptr_noswap({address, address, &free_raw, storage->device()});
  }
}

}  // namespace

AWT_EXPORT int awt_pool_checkpoint(int device, uint64_t graph, uint64_t hand, uint64_t* out) {
  return exported([&] {
    auto& memory = device_memory(static_cast<c10::DeviceIndex>(device));
    const PoolId id{graph, hand};
    *out = reinterpret_cast<uint64_t>(new SavedPool{id, memory.checkpoint(id)});
  });
}
AWT_EXPORT int awt_pool_forget_checkpoint(uint64_t checkpoint) {
  return exported([&] { delete reinterpret_cast<SavedPool*>(checkpoint); });
}
AWT_EXPORT int awt_pool_restore(int device, uint64_t checkpoint, const uint64_t* stale,
                                int64_t stale_count, const uint64_t* owners, int64_t owner_count) {
  return exported([&] {
    restore(device_memory(static_cast<c10::DeviceIndex>(device)),
            *reinterpret_cast<const SavedPool*>(checkpoint), stale, stale_count, owners,
            owner_count);
  });
}

AWT_EXPORT int awt_storage_owns_block(uint64_t storage, int* out) {
  return exported([&] { *out = storage_at(storage)->data_ptr().get_deleter() == &free_raw; });
}
AWT_EXPORT int awt_storage_free(uint64_t storage) {
  return exported([&] {
    auto* found = storage_at(storage);
    void* memory = found->data_ptr().get_context();
    let_go_of(found);
    free_raw(memory);
  });
}
AWT_EXPORT int awt_storage_make_unusable(uint64_t storage, const char* words) {
  return exported([&] { make_unusable(storage_at(storage), words); });
}
AWT_EXPORT int awt_tensor_make_unusable(uint64_t tensor, const char* words) {
  return exported([&] {
    TORCH_CHECK(tensor, "no tensor");
    reinterpret_cast<c10::TensorImpl*>(tensor)
        ->release_storage_and_set_meta_custom_data_ptr_error_msg_(std::string(words));
  });
}
