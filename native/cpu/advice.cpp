// Driver API reference: unified addressing, advice on managed memory and prefetching. There is one
// memory, so nothing moves; what was asked for is kept for those who query it.
#include "cpu/advice.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "cpu/memory.h"
#include "cpu/stream.h"
#include "cuda/context.h"
#include "cuda/visible.h"

using namespace aw;

namespace {

constexpr CUmemLocation kNowhere{};

struct Range {
  uint64_t begin, end;
};

// Advice is for whole pages, as documented.
Range pages_of(uint64_t address, uint64_t bytes) {
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return {address / page * page, (address + bytes + page - 1) / page * page};
}

Allocation check_managed(CUdeviceptr address, size_t bytes) {
  current_context();
  require(address && bytes > 0);
  Allocation a = allocation_at(address);
  // Memory of the system counts too where pageable memory can be accessed.
  if (a.base) require(bytes <= a.base + a.bytes - address);
  return a;
}

CUmemLocation checked(CUmemLocation l) {
  require(l.type >= CU_MEM_LOCATION_TYPE_DEVICE &&
          l.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
  if (l.type == CU_MEM_LOCATION_TYPE_DEVICE) check_device(l.id);
  if (l.type == CU_MEM_LOCATION_TYPE_HOST) l.id = 0;
  if (l.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT) {
    unsigned cpu = 0, node = 0;
    syscall(SYS_getcpu, &cpu, &node, nullptr);  // glibc has a function for it since 2.29 only
    return {CU_MEM_LOCATION_TYPE_HOST_NUMA, static_cast<int>(node)};
  }
  return l;
}

CUmemLocation location_of(CUdevice dev) {
  if (dev != CU_DEVICE_CPU) check_device(dev);
  return dev == CU_DEVICE_CPU ? CUmemLocation{CU_MEM_LOCATION_TYPE_HOST, 0}
                              : CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, dev};
}

// Makes an entry begin at an address. With the mutex held.
void split(Advice& advice, uint64_t address) {
  auto next = advice.from.upper_bound(address);
  if (next == advice.from.begin()) {
    advice.from[address] = {};
  } else if (std::prev(next)->first != address) {
    advice.from[address] = std::prev(next)->second;
  }
}

template <class Change>
void change_pages(Advice& advice, Range range, Change change) {
  std::lock_guard lock(advice.mutex);
  split(advice, range.end);
  split(advice, range.begin);
  for (auto it = advice.from.find(range.begin); it->first != range.end; ++it) change(it->second);
}

void apply(PageAdvice& page, CUmem_advise kind, CUmemLocation location) {
  bool set = kind == CU_MEM_ADVISE_SET_ACCESSED_BY;
  switch (kind) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      page.read_mostly = kind == CU_MEM_ADVISE_SET_READ_MOSTLY;
      return;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      page.preferred = location;
      return;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      page.preferred = kNowhere;
      return;
    default:
      uint64_t bit = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? uint64_t{1} << location.id : 0;
      page.device_accesses = set ? page.device_accesses | bit : page.device_accesses & ~bit;
      if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) page.host_accesses = set;
  }
}

bool needs_location(CUmem_advise kind) {
  return kind >= CU_MEM_ADVISE_SET_PREFERRED_LOCATION &&
         kind != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
}

CUresult advise(uint64_t address, size_t bytes, CUmem_advise kind, CUmemLocation location) {
  require(kind >= CU_MEM_ADVISE_SET_READ_MOSTLY && kind <= CU_MEM_ADVISE_UNSET_ACCESSED_BY);
  Allocation a = check_managed(address, bytes);
  if (kind >= CU_MEM_ADVISE_SET_ACCESSED_BY)
    require(location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
            location.type == CU_MEM_LOCATION_TYPE_HOST);
  if (needs_location(kind)) location = checked(location);
  if (!a.advice) return CUDA_SUCCESS;
  change_pages(*a.advice, pages_of(address, bytes),
               [&](PageAdvice& page) { apply(page, kind, location); });
  return CUDA_SUCCESS;
}

// What all pages of a range have in common.
PageAdvice common_advice(Advice& advice, Range range) {
  auto same = [](CUmemLocation a, CUmemLocation b) {
    return a.type == b.type && a.id == b.id ? a : kNowhere;
  };
  std::lock_guard lock(advice.mutex);
  split(advice, range.end);
  split(advice, range.begin);
  auto it = advice.from.find(range.begin);
  PageAdvice all = it->second;
  for (++it; it->first < range.end; ++it) {
    const PageAdvice& page = it->second;
    all.read_mostly &= page.read_mostly;
    all.device_accesses &= page.device_accesses;
    all.host_accesses &= page.host_accesses;
    all.preferred = same(all.preferred, page.preferred);
    all.prefetched = same(all.prefetched, page.prefetched);
  }
  return all;
}

void put_number(void* out, size_t size, int value) {
  require(size == sizeof value);
  memcpy(out, &value, sizeof value);
}

int device_number(CUmemLocation l) {
  return l.type == CU_MEM_LOCATION_TYPE_DEVICE ? l.id
         : l.type == CU_MEM_LOCATION_TYPE_HOST ? CU_DEVICE_CPU
                                               : CU_DEVICE_INVALID;
}

void put_accessors(void* out, size_t size, const PageAdvice& advice) {
  require(size > 0 && size % sizeof(int) == 0);
  int found[kMostDevices + 1], count = 0;
  for (int i = 0; i < kMostDevices; ++i) {
    if (advice.device_accesses >> i & 1) found[count++] = i;
  }
  if (advice.host_accesses) found[count++] = CU_DEVICE_CPU;
  for (size_t i = 0; i < size / sizeof(int); ++i) {
    int value = i < static_cast<size_t>(count) ? found[i] : CU_DEVICE_INVALID;
    memcpy(static_cast<char*>(out) + i * sizeof(int), &value, sizeof value);
  }
}

void put_attribute(void* out, size_t size, CUmem_range_attribute attribute,
                   const PageAdvice& advice) {
  require(out);
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return put_number(out, size, advice.read_mostly);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return put_number(out, size, device_number(advice.preferred));
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
      return put_accessors(out, size, advice);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return put_number(out, size, device_number(advice.prefetched));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return put_number(out, size, advice.preferred.type);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return put_number(out, size, advice.preferred.id);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return put_number(out, size, advice.prefetched.type);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return put_number(out, size, advice.prefetched.id);
    default:
      throw Failure(CUDA_ERROR_INVALID_VALUE);
  }
}

PageAdvice advice_on(CUdeviceptr address, size_t bytes) {
  Allocation a = check_managed(address, bytes);
  require(a.advice != nullptr);
  return common_advice(*a.advice, pages_of(address, bytes));
}

CUresult prefetch(uint64_t address, size_t bytes, CUmemLocation location, CUstream stream) {
  check_managed(address, bytes);
  location = checked(location);
  stream_of(stream);
  note_prefetch(address, bytes, location);
  return CUDA_SUCCESS;
}

}  // namespace

namespace aw {

void note_prefetch(uint64_t address, uint64_t bytes, CUmemLocation location) {
  Allocation a = allocation_at(address);
  if (!a.advice) return;
  change_pages(*a.advice, pages_of(address, bytes),
               [&](PageAdvice& page) { page.prefetched = location; });
}

}  // namespace aw

AW_EXPORT CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                               CUdevice dev) {
  return api<"cuMemAdvise">([&] { return advise(address, bytes, advice, location_of(dev)); });
}

AW_EXPORT CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                  CUmemLocation location) {
  return api<"cuMemAdvise_v2">([&] { return advise(address, bytes, advice, location); });
}

AW_EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice dev,
                                      CUstream stream) {
  return api<"cuMemPrefetchAsync">(
      [&] { return prefetch(address, bytes, location_of(dev), stream); });
}

AW_EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                                         unsigned flags, CUstream stream) {
  return api<"cuMemPrefetchAsync_v2">([&] {
    require(flags == 0);
    return prefetch(address, bytes, location, stream);
  });
}

AW_EXPORT CUresult cuMemRangeGetAttribute(void* out, size_t size, CUmem_range_attribute attribute,
                                          CUdeviceptr address, size_t bytes) {
  return api<"cuMemRangeGetAttribute">(
      [&] { put_attribute(out, size, attribute, advice_on(address, bytes)); });
}

AW_EXPORT CUresult cuMemRangeGetAttributes(void** out, size_t* sizes,
                                           CUmem_range_attribute* attributes, size_t count,
                                           CUdeviceptr address, size_t bytes) {
  return api<"cuMemRangeGetAttributes">([&] {
    require(out && sizes && attributes && count > 0);
    PageAdvice advice = advice_on(address, bytes);
    for (size_t i = 0; i < count; ++i) put_attribute(out[i], sizes[i], attributes[i], advice);
  });
}

AW_EXPORT CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                           CUmemLocation* places, size_t* indices,
                                           size_t place_count, unsigned long long flags,
                                           CUstream stream) {
  return api<"cuMemPrefetchBatchAsync">([&] {
    require(addresses && sizes && count > 0 && places && indices && place_count > 0 && flags == 0);
    require(place_count <= count && indices[0] == 0);
    auto target = stream_of(stream);
    for (size_t i = 0; i < count; ++i) require(addresses[i] && sizes[i]);
    for (size_t i = 0; i < place_count; ++i) {
      bool last = i + 1 == place_count;
      require(indices[i] < count && (last || indices[i] < indices[i + 1]));
      size_t end = last ? count : indices[i + 1];
      // There is one memory: nothing moves.
      for (size_t k = indices[i]; k < end; ++k) note_prefetch(addresses[k], sizes[k], places[i]);
    }
  });
}
