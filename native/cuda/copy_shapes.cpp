#include "cuda/copy_shapes.h"

#include <algorithm>

#include "cuda/arrays.h"
#include "cuda/memory.h"

namespace aw {
namespace {

constexpr uint64_t kLargest = 1ull << 46;

// One side of a copy, in the words of the structures.
struct Side {
  CUmemorytype type;
  uint64_t host, device;
  CUarray array;
  uint64_t x, y, z, pitch, height;
};

struct Box {
  uint64_t width, height, depth;
};

// Where a side begins and how far apart its rows and layers are.
struct Place {
  uint64_t start, pitch, layer;
  std::shared_ptr<const Array> array;
};

uint64_t base_of(const Side& s) {
  switch (s.type) {
    case CU_MEMORYTYPE_HOST:
      return s.host;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      return s.device;
    default:
      throw Failure(CUDA_ERROR_INVALID_VALUE);
  }
}

// A pitch of 0 stands for rows without gaps.
uint64_t pitch_of(const Side& s, const Box& box) {
  if (box.height * box.depth > 1 && s.pitch) require(s.pitch >= s.x + box.width);
  return s.pitch ? s.pitch : s.x + box.width;
}

Place in_memory(const Side& s, const Box& box) {
  if (box.depth > 1) require(s.height >= s.y + box.height);
  uint64_t pitch = pitch_of(s, box), layer = pitch * std::max<uint64_t>(s.height, 1);
  uint64_t base = base_of(s);
  require(base != 0);
  uint64_t start = base + s.x + s.y * pitch + s.z * layer;
  if (s.type == CU_MEMORYTYPE_HOST) return {start, pitch, layer, nullptr};
  Allocation a = allocation_at(start);
  uint64_t bytes = (box.depth - 1) * layer + (box.height - 1) * pitch + box.width;
  if (a.base) require(bytes <= a.base + a.bytes - start);
  return {start, pitch, layer, nullptr};
}

// Pitch and height of the structure say nothing here: the array has its own (cuMemcpy2D,
// cuMemcpy3D).
Place in_array(const Side& s, const Box& box) {
  auto a = array_of(s.array);
  require(s.x % a->element == 0);
  require(s.x + box.width <= a->pitch && s.y + box.height <= a->rows &&
          s.z + box.depth <= a->layers);
  return {a->base + s.z * a->layer + s.y * a->pitch + s.x, a->pitch, a->layer, a};
}

Place place_of(const Side& s, const Box& box) {
  return s.type == CU_MEMORYTYPE_ARRAY ? in_array(s, box) : in_memory(s, box);
}

CopyWork plan(const Side& to, const Side& from, const Box& box) {
  CopyWork w;
  w.width = box.width, w.height = box.height, w.depth = box.depth;
  if (box.width == 0 || box.height == 0 || box.depth == 0) return w;
  for (uint64_t v : {box.width, box.height, box.depth, to.x, to.y, to.z, to.pitch, to.height,
                     from.x, from.y, from.z, from.pitch, from.height}) {
    require(v < kLargest);
  }
  Place there = place_of(to, box), here = place_of(from, box);
  if (there.array && here.array) require(there.array->element == here.array->element);
  w.to = reinterpret_cast<uint8_t*>(there.start);
  w.to_pitch = there.pitch, w.to_layer = there.layer, w.to_array = std::move(there.array);
  w.from = reinterpret_cast<const uint8_t*>(here.start);
  w.from_pitch = here.pitch, w.from_layer = here.layer, w.from_array = std::move(here.array);
  return w;
}

uint64_t number(const void* address) { return reinterpret_cast<uint64_t>(address); }

}  // namespace

CopyWork plan_copy(const CUDA_MEMCPY2D* s) {
  require(s);
  Side to = {s->dstMemoryType,
             number(s->dstHost),
             s->dstDevice,
             s->dstArray,
             s->dstXInBytes,
             s->dstY,
             0,
             s->dstPitch,
             0};
  Side from = {s->srcMemoryType,
               number(s->srcHost),
               s->srcDevice,
               s->srcArray,
               s->srcXInBytes,
               s->srcY,
               0,
               s->srcPitch,
               0};
  return plan(to, from, {s->WidthInBytes, s->Height, 1});
}

CopyWork plan_copy(const CUDA_MEMCPY3D* s) {
  require(s);
  require(s->srcLOD == 0 && s->dstLOD == 0);
  Side to = {s->dstMemoryType, number(s->dstHost), s->dstDevice,
             s->dstArray,      s->dstXInBytes,     s->dstY,
             s->dstZ,          s->dstPitch,        s->dstHeight};
  Side from = {s->srcMemoryType, number(s->srcHost), s->srcDevice,
               s->srcArray,      s->srcXInBytes,     s->srcY,
               s->srcZ,          s->srcPitch,        s->srcHeight};
  return plan(to, from, {s->WidthInBytes, s->Height, s->Depth});
}

}  // namespace aw
