#include "cpu/copying.h"

#include "cuda/copy_order.h"
#include "cuda/memory.h"

namespace aw {
namespace {

constexpr uint64_t kStageLimit = 64 << 10;  // as documented for copies from pageable memory

void check_device_range(uint64_t address, uint64_t bytes) {
  Allocation a = allocation_at(address);
  // Memory that we know must be large enough; what we do not know is the program's own, which a
  // device with unified addressing and pageable access may use.
  if (!a.base) return require(address >= 4096);
  // Mappings side by side are one range of addresses (CUDA Driver API, virtual memory management).
  while (a.kind == MemoryKind::mapped && bytes > a.base + a.bytes - address) {
    bytes -= a.base + a.bytes - address;
    address = a.base + a.bytes;
    a = allocation_at(address);
    require(a.base == address && a.kind == MemoryKind::mapped);
  }
  require(bytes <= a.base + a.bytes - address && !a.freeing);
}

uint64_t span(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch, uint64_t layer) {
  return (depth - 1) * layer + (height - 1) * pitch + width;
}

bool is_pageable(const void* address, bool in_array) {
  return !in_array && allocation_at(reinterpret_cast<uint64_t>(address)).base == 0;
}

}  // namespace

void check_copy(uint64_t to, uint64_t from, uint64_t bytes, Direction direction) {
  if (bytes == 0) return;
  require(to && from);
  if (direction != Direction::device_to_host) check_device_range(to, bytes);
  if (direction != Direction::host_to_device) check_device_range(from, bytes);
}

void copy_now(CopyWork work) {
  if (work.is_empty()) return;
  stream_of(nullptr)->run(std::move(work));
}

void copy_async(CopyWork work, Stream& stream) {
  if (work.is_empty()) return;
  if (stream.capture()) return stream.submit(std::move(work));
  if (is_pageable(work.to, work.to_array != nullptr)) return stream.run(std::move(work));
  if (!is_pageable(work.from, work.from_array != nullptr)) {
    bool now = is_short(work.width, work.height, work.depth);
    return now ? stream.submit_short(std::move(work)) : stream.submit(std::move(work));
  }
  uint64_t bytes = span(work.width, work.height, work.depth, work.from_pitch, work.from_layer);
  if (bytes > kStageLimit || stream.idle()) return stream.run(std::move(work));
  work.staged.assign(work.from, work.from + bytes);
  stream.submit(std::move(work));
}

void copy_async(CopyWork work, CUstream stream) {
  auto target = stream_of(stream);
  copy_async(std::move(work), *target);
}

void copy_in_order(CopyWork work, CUmemcpySrcAccessOrder order, CUstream stream) {
  auto target = stream_of(stream);
  if (order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL && !target->capture() && !work.is_empty())
    return target->run(std::move(work));
  copy_async(std::move(work), *target);
}

}  // namespace aw
