#include "cuda/copy_shapes.h"

#include <algorithm>

#include "cuda/copying.h"

namespace aw {
namespace {

constexpr uint64_t kLargest = 1ull << 46;

// One side of a copy, in the words of the structures.
struct Side {
  CUmemoryType type;
  uint64_t host, device;
  uint64_t x, y, z, pitch, height;
};

uint64_t base_of(const Side& s) {
  switch (s.type) {
    case CU_MEMORYTYPE_HOST:
      return s.host;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      return s.device;
    case CU_MEMORYTYPE_ARRAY:
      throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                    "copies from and to CUDA arrays are not supported yet");
    default:
      throw Failure(CUDA_ERROR_INVALID_VALUE);
  }
}

// A pitch of 0 stands for rows without gaps.
uint64_t pitch_of(const Side& s, uint64_t width, uint64_t rows) {
  if (rows > 1 && s.pitch) require(s.pitch >= s.x + width);
  return s.pitch ? s.pitch : s.x + width;
}

uint64_t checked(uint64_t base, const Side& s, uint64_t pitch, uint64_t layer, uint64_t bytes) {
  require(base != 0);
  uint64_t start = base + s.x + s.y * pitch + s.z * layer;
  if (s.type == CU_MEMORYTYPE_HOST) return start;
  Allocation a = allocation_at(start);
  if (a.base) require(bytes <= a.base + a.bytes - start);
  return start;
}

CopyWork plan(const Side& to, const Side& from, uint64_t width, uint64_t height, uint64_t depth) {
  CopyWork w;
  w.width = width, w.height = height, w.depth = depth;
  if (width == 0 || height == 0 || depth == 0) return w;
  for (uint64_t v : {width, height, depth, to.x, to.y, to.z, to.pitch, to.height, from.x, from.y,
                     from.z, from.pitch, from.height}) {
    require(v < kLargest);
  }
  w.to_pitch = pitch_of(to, width, height * depth),
  w.from_pitch = pitch_of(from, width, height * depth);
  if (depth > 1) require(to.height >= to.y + height && from.height >= from.y + height);
  w.to_layer = w.to_pitch * std::max<uint64_t>(to.height, 1);
  w.from_layer = w.from_pitch * std::max<uint64_t>(from.height, 1);
  auto extent = [&](uint64_t pitch, uint64_t layer) {
    return (depth - 1) * layer + (height - 1) * pitch + width;
  };
  uint64_t start_to =
      checked(base_of(to), to, w.to_pitch, w.to_layer, extent(w.to_pitch, w.to_layer));
  uint64_t start_from =
      checked(base_of(from), from, w.from_pitch, w.from_layer, extent(w.from_pitch, w.from_layer));
  w.to = reinterpret_cast<uint8_t*>(start_to);
  w.from = reinterpret_cast<const uint8_t*>(start_from);
  return w;
}

uint64_t number(const void* address) { return reinterpret_cast<uint64_t>(address); }

}  // namespace

CopyWork plan_copy(const CUDA_MEMCPY2D* s) {
  require(s);
  Side to = {s->dstMemoryType, number(s->dstHost),
             s->dstDevice,     s->dstXInBytes,
             s->dstY,          0,
             s->dstPitch,      0};
  Side from = {s->srcMemoryType, number(s->srcHost),
               s->srcDevice,     s->srcXInBytes,
               s->srcY,          0,
               s->srcPitch,      0};
  return plan(to, from, s->WidthInBytes, s->Height, 1);
}

CopyWork plan_copy(const CUDA_MEMCPY3D* s) {
  require(s);
  require(s->srcLOD == 0 && s->dstLOD == 0);
  Side to = {s->dstMemoryType, number(s->dstHost), s->dstDevice, s->dstXInBytes, s->dstY,
             s->dstZ,          s->dstPitch,        s->dstHeight};
  Side from = {s->srcMemoryType, number(s->srcHost), s->srcDevice, s->srcXInBytes, s->srcY,
               s->srcZ,          s->srcPitch,        s->srcHeight};
  return plan(to, from, s->WidthInBytes, s->Height, s->Depth);
}

}  // namespace aw
