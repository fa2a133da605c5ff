// Runtime API reference: memory management, copies to, from and between arrays.
#include <algorithm>

#include "cudart/array_formats.h"
#include "cudart/locations.h"
#include "cudart/state.h"

namespace aw {
namespace {

// One side of a copy: an array or memory, and where in it.
struct Side {
  cudaArray_const_t array = nullptr;
  const void* memory = nullptr;
  size_t pitch = 0, x = 0, y = 0;
};

enum class When { now, in_stream };

CUmemorytype memory_type(bool is_source, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return CU_MEMORYTYPE_HOST;
    case cudaMemcpyHostToDevice:
      return is_source ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    case cudaMemcpyDeviceToHost:
      return is_source ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    case cudaMemcpyDeviceToDevice:
      return CU_MEMORYTYPE_DEVICE;
    case cudaMemcpyDefault:
      return CU_MEMORYTYPE_UNIFIED;
  }
  throw Failure(cudaErrorInvalidMemcpyDirection);
}

// Arrays are the device's: a kind that says otherwise is wrong.
void check_sides(const Side& to, const Side& from, cudaMemcpyKind kind) {
  auto of_host = [&](bool source) { return memory_type(source, kind) == CU_MEMORYTYPE_HOST; };
  require(!(to.array && of_host(false)) && !(from.array && of_host(true)),
          cudaErrorInvalidMemcpyDirection);
}

cudaError_t copy_sides(const Side& to, const Side& from, size_t width, size_t height,
                       cudaMemcpyKind kind, When when, cudaStream_t stream) {
  check_sides(to, from, kind);
  if (width == 0 || height == 0) return cudaSuccess;
  CUDA_MEMCPY2D c = {};
  c.srcMemoryType = from.array ? CU_MEMORYTYPE_ARRAY : memory_type(true, kind);
  c.srcArray = reinterpret_cast<CUarray>(const_cast<cudaArray*>(from.array));
  c.srcHost = from.memory, c.srcDevice = address_of(from.memory), c.srcPitch = from.pitch;
  c.srcXInBytes = from.x, c.srcY = from.y;
  c.dstMemoryType = to.array ? CU_MEMORYTYPE_ARRAY : memory_type(false, kind);
  c.dstArray = reinterpret_cast<CUarray>(const_cast<cudaArray*>(to.array));
  c.dstHost = const_cast<void*>(to.memory), c.dstDevice = address_of(to.memory);
  c.dstPitch = to.pitch, c.dstXInBytes = to.x, c.dstY = to.y;
  c.WidthInBytes = width, c.Height = height;
  if (when == When::in_stream) return error_of(cuMemcpy2DAsync_v2(&c, stream_of(stream)));
  return error_of(thread_state().per_thread ? cuMemcpy2DUnaligned_v2_ptds(&c)
                                            : cuMemcpy2DUnaligned_v2(&c));
}

size_t row_bytes(cudaArray_const_t array) {
  require(array != nullptr, cudaErrorInvalidResourceHandle);
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  check(cuArray3DGetDescriptor_v2(&d, reinterpret_cast<CUarray>(const_cast<cudaArray*>(array))));
  return d.Width * element_bytes(d.Format, d.NumChannels);
}

// How many bytes of `count` lie in the row where a side stands; memory is one long row.
size_t rest_of_row(const Side& side, size_t count) {
  if (!side.array) return count;
  size_t row = row_bytes(side.array);
  require(side.x < row);
  return std::min(count, row - side.x);
}

void step(Side& side, size_t bytes) {
  if (!side.array) {
    side.memory = static_cast<const char*>(side.memory) + bytes;
    return;
  }
  side.x += bytes;
  if (side.x == row_bytes(side.array)) side.x = 0, ++side.y;
}

// A number of bytes that go on in the next row where one ends: a copy for each piece that lies in
// one row on both sides.
cudaError_t copy_bytes(Side to, Side from, size_t count, cudaMemcpyKind kind, When when,
                       cudaStream_t stream) {
  check_sides(to, from, kind);
  while (count > 0) {
    size_t piece = std::min(rest_of_row(to, count), rest_of_row(from, count));
    if (cudaError_t error = copy_sides(to, from, piece, 1, kind, when, stream)) return error;
    step(to, piece), step(from, piece);
    count -= piece;
  }
  return cudaSuccess;
}

void check_pitch(size_t width, size_t pitch) {
  require(width <= pitch, cudaErrorInvalidPitchValue);
}

}  // namespace

cudaError_t rt::cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                    size_t pitch, size_t width, size_t height,
                                    cudaMemcpyKind kind) {
  check_pitch(width, pitch);
  return copy_sides({to, nullptr, 0, x, y}, {nullptr, from, pitch}, width, height, kind, When::now,
                    nullptr);
}

cudaError_t rt::cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                         size_t pitch, size_t width, size_t height,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
  check_pitch(width, pitch);
  return copy_sides({to, nullptr, 0, x, y}, {nullptr, from, pitch}, width, height, kind,
                    When::in_stream, stream);
}

cudaError_t rt::cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                      size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  check_pitch(width, pitch);
  return copy_sides({nullptr, to, pitch}, {from, nullptr, 0, x, y}, width, height, kind, When::now,
                    nullptr);
}

cudaError_t rt::cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                           size_t y, size_t width, size_t height,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  check_pitch(width, pitch);
  return copy_sides({nullptr, to, pitch}, {from, nullptr, 0, x, y}, width, height, kind,
                    When::in_stream, stream);
}

cudaError_t rt::cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                         cudaArray_const_t from, size_t from_x, size_t from_y,
                                         size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_sides({to, nullptr, 0, to_x, to_y}, {from, nullptr, 0, from_x, from_y}, width, height,
                    kind, When::now, nullptr);
}

cudaError_t rt::cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                  size_t count, cudaMemcpyKind kind) {
  return copy_bytes({to, nullptr, 0, x, y}, {nullptr, from}, count, kind, When::now, nullptr);
}

cudaError_t rt::cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                       size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes({to, nullptr, 0, x, y}, {nullptr, from}, count, kind, When::in_stream, stream);
}

cudaError_t rt::cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y,
                                    size_t count, cudaMemcpyKind kind) {
  return copy_bytes({nullptr, to}, {from, nullptr, 0, x, y}, count, kind, When::now, nullptr);
}

cudaError_t rt::cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y,
                                         size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes({nullptr, to}, {from, nullptr, 0, x, y}, count, kind, When::in_stream, stream);
}

cudaError_t rt::cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                       cudaArray_const_t from, size_t from_x, size_t from_y,
                                       size_t count, cudaMemcpyKind kind) {
  return copy_bytes({to, nullptr, 0, to_x, to_y}, {from, nullptr, 0, from_x, from_y}, count, kind,
                    When::now, nullptr);
}

}  // namespace aw
