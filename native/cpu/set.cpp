// Driver API reference: memory management, setting memory.
#include "cpu/memory.h"
#include "cpu/stream.h"
#include "cuda/context.h"

using namespace aw;

namespace {

SetWork fill_work(uint64_t to, size_t pitch, uint32_t value, uint32_t element, size_t width,
                  size_t height) {
  current_context();
  SetWork w = {reinterpret_cast<uint8_t*>(to), pitch, width, height, value, element};
  if (width == 0 || height == 0) return w;
  require(to && to % element == 0);
  uint64_t row, bytes;
  require(!__builtin_mul_overflow(width, element, &row));
  require(height == 1 || pitch >= row);
  require(!__builtin_mul_overflow(height - 1, pitch, &bytes) &&
          !__builtin_add_overflow(bytes, row, &bytes));
  Allocation a = allocation_at(to);
  if (a.base) require(bytes <= a.base + a.bytes - to);
  return w;
}

void set_now(const SetWork& w) {
  if (w.width && w.height) stream_of(nullptr)->run(w);
}

void set_async(const SetWork& w, CUstream stream) {
  auto target = stream_of(stream);
  if (!w.width || !w.height) return;
  bool now = is_short(w.width * w.element, w.height);
  now ? target->submit_short(w) : target->submit(w);
}

}  // namespace

AW_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return api<"cuMemsetD8_v2">([&] { set_now(fill_work(to, 0, value, 1, count, 1)); }, to, value,
                              count);
}

AW_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return api<"cuMemsetD16_v2">([&] { set_now(fill_work(to, 0, value, 2, count, 1)); }, to, value,
                               count);
}

AW_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return api<"cuMemsetD32_v2">([&] { set_now(fill_work(to, 0, value, 4, count, 1)); }, to, value,
                               count);
}

AW_EXPORT CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                                   size_t height) {
  return api<"cuMemsetD2D8_v2">([&] { set_now(fill_work(to, pitch, value, 1, width, height)); });
}

AW_EXPORT CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value,
                                    size_t width, size_t height) {
  return api<"cuMemsetD2D16_v2">([&] { set_now(fill_work(to, pitch, value, 2, width, height)); });
}

AW_EXPORT CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                    size_t height) {
  return api<"cuMemsetD2D32_v2">([&] { set_now(fill_work(to, pitch, value, 4, width, height)); });
}

AW_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                                   CUstream stream) {
  return api<"cuMemsetD8Async">([&] { set_async(fill_work(to, 0, value, 1, count, 1), stream); },
                                to, value, count, stream);
}

AW_EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                                    CUstream stream) {
  return api<"cuMemsetD16Async">([&] { set_async(fill_work(to, 0, value, 2, count, 1), stream); },
                                 to, value, count, stream);
}

AW_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return api<"cuMemsetD32Async">([&] { set_async(fill_work(to, 0, value, 4, count, 1), stream); },
                                 to, value, count, stream);
}

AW_EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value,
                                     size_t width, size_t height, CUstream stream) {
  return api<"cuMemsetD2D8Async">(
      [&] { set_async(fill_work(to, pitch, value, 1, width, height), stream); });
}

AW_EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value,
                                      size_t width, size_t height, CUstream stream) {
  return api<"cuMemsetD2D16Async">(
      [&] { set_async(fill_work(to, pitch, value, 2, width, height), stream); });
}

AW_EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                      size_t height, CUstream stream) {
  return api<"cuMemsetD2D32Async">(
      [&] { set_async(fill_work(to, pitch, value, 4, width, height), stream); });
}
