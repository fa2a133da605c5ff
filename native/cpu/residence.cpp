// Driver API reference: managed memory in batches that is discarded, and where memory is.
#include <algorithm>
#include <map>

#include "cpu/memory.h"
#include "cpu/stream.h"
#include "cuda/context.h"

using namespace aw;

extern "C" {
CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                 CUmemLocation* places, size_t* indices, size_t place_count,
                                 unsigned long long flags, CUstream stream);
CUresult cuMemRangeGetAttribute(void* out, size_t size, CUmem_range_attribute attribute,
                                CUdeviceptr address, size_t bytes);
}

namespace {

constexpr CUmemLocation kHostMemory = {CU_MEM_LOCATION_TYPE_HOST, {0}};

// Discarded pages may have any content afterwards, the old one too: nothing is gained by throwing
// away what is neither copied nor moved.
void check_discarded(const CUdeviceptr* addresses, const size_t* sizes, size_t count,
                     unsigned long long flags, CUstream stream) {
  require(addresses && sizes && count > 0 && flags == 0);
  stream_of(stream);
  for (size_t i = 0; i < count; ++i) {
    Allocation a = allocation_at(addresses[i]);
    require(a.base && a.kind == MemoryKind::managed && sizes[i] > 0);
    require(sizes[i] <= a.base + a.bytes - addresses[i]);
  }
}

CUmemLocation location_at(CUdeviceptr address, bool managed) {
  if (!managed) return kHostMemory;
  CUmemLocation l = {};
  require(!cuMemRangeGetAttribute(&l.type, sizeof l.type,
                                  CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, address, 1));
  require(!cuMemRangeGetAttribute(&l.id, sizeof l.id,
                                  CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, address, 1));
  return l.type ? l
                : kHostMemory;  // it is the processor's memory until somebody wants it elsewhere
}

CUmemLocation most_frequent(CUdeviceptr from, uint64_t bytes, uint64_t step, bool managed) {
  std::map<std::pair<CUmemLocationType, int>, size_t> found;
  for (uint64_t at = 0; at < bytes; at += step) {
    CUmemLocation l = location_at(from + at, managed);
    ++found[{l.type, l.id}];
  }
  auto less = [](auto& a, auto& b) { return a.second < b.second; };
  auto [type, id] = std::max_element(found.begin(), found.end(), less)->first;
  return {type, {id}};
}

}  // namespace

AW_EXPORT CUresult cuMemDiscardBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                          unsigned long long flags, CUstream stream) {
  return api<"cuMemDiscardBatchAsync">(
      [&] { check_discarded(addresses, sizes, count, flags, stream); });
}

AW_EXPORT CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes,
                                                     size_t count, CUmemLocation* places,
                                                     size_t* indices, size_t place_count,
                                                     unsigned long long flags, CUstream stream) {
  return api<"cuMemDiscardAndPrefetchBatchAsync">([&] {
    check_discarded(addresses, sizes, count, flags, stream);
    return cuMemPrefetchBatchAsync(addresses, sizes, count, places, indices, place_count, flags,
                                   stream);
  });
}

AW_EXPORT CUresult cuMemGetLocationInfo(CUdeviceptr address, size_t bytes, size_t summary,
                                        size_t sampling, CUmemLocation* out) {
  return api<"cuMemGetLocationInfo">([&] {
    constexpr size_t kUsual = 2 << 20;
    require(address && out && summary > 0 && summary <= bytes && sampling <= summary);
    Allocation a = allocation_at(address);
    bool managed = a.kind == MemoryKind::managed;
    require(!a.base || managed);
    require(!a.base || bytes <= a.base + a.bytes - address);
    size_t step = std::min(sampling ? sampling : kUsual, summary);
    for (size_t begin = 0, i = 0; begin < bytes; begin += summary, ++i)
      out[i] = most_frequent(address + begin, std::min(summary, bytes - begin), step, managed);
  });
}
