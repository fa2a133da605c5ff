// Driver API reference: driver entry point access; and the private tables, of which we have none.
#include <algorithm>
#include <cstring>

#include "cuda/api.h"
#include "cuda/foreign_runtime.h"
#include "cuda_entries.h"

using namespace aw;

namespace {

struct Lookup {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

// The newest variant that is not newer than `version`. Absent functions are found too: they exist,
// and say for themselves that they are not supported.
Lookup look_up(const char* name, int version, bool per_thread) {
  Lookup best;
  auto before = [](const aw_entry& e, const char* n) { return strcmp(e.name, n) < 0; };
  auto* end = aw_entries + aw_entry_count;
  auto* first = std::lower_bound(aw_entries, end, name, before);
  auto* last = first;
  bool has_per_thread = false;
  for (; last != end && strcmp(last->name, name) == 0; ++last)
    has_per_thread |= last->per_thread != 0;
  for (auto* entry = first; entry != last; ++entry) {
    if ((has_per_thread && per_thread) != (entry->per_thread != 0)) continue;
    if (entry->version <= version) best = {entry->function, CU_GET_PROC_ADDRESS_SUCCESS};
    if (!best.function) best.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  }
  return best;
}

Lookup look_up(const char* name, void** function, int version, uint64_t flags) {
  require(name && function);
  constexpr uint64_t kLegacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM,
                     kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  require((flags & ~(kLegacy | kPerThread)) == 0 && flags != (kLegacy | kPerThread));
  require(version <= kDriverVersion);
  Lookup found = look_up(name, version, flags & kPerThread);
  *function = found.function;
  return found;
}

}  // namespace

// CUDA 11's form: what is not there is an error.
AW_EXPORT CUresult cuGetProcAddress(const char* name, void** function, int version,
                                    uint64_t flags) {
  return api<"cuGetProcAddress", Needs::nothing>([&] {
    require(look_up(name, function, version, flags).function != nullptr, CUDA_ERROR_NOT_FOUND);
  });
}

// CUDA 12's form: what is not there is a null pointer, and the status says why.
AW_EXPORT CUresult cuGetProcAddress_v2(const char* name, void** function, int version,
                                       uint64_t flags, CUdriverProcAddressQueryResult* status) {
  return api<"cuGetProcAddress_v2", Needs::nothing>([&] {
    Lookup found = look_up(name, function, version, flags);
    if (status) *status = found.status;
  });
}

// NVIDIA's libraries look for interfaces here that have no documentation. We have none, and say so;
// its runtime, which cannot work without them, is worth a word to the user.
AW_EXPORT CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  const void* caller = __builtin_return_address(0);
  return api<"cuGetExportTable", Needs::nothing>([&] {
    require(table && id);
    *table = nullptr;
    tell_foreign_runtime(*id, caller);
    throw Failure(CUDA_ERROR_NOT_FOUND);
  });
}
