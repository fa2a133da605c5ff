// Copies as data, and what the driver of a device does with them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/cuda_api.h"

namespace aw {

struct Array;

// A box of bytes: rows of `width`, `height` rows, `depth` layers.
struct CopyWork {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;
  uint64_t width = 0, height = 1, depth = 1;
  uint64_t to_pitch = 0, to_layer = 0, from_pitch = 0, from_layer = 0;
  std::vector<uint8_t> staged;  // the source itself, where the program may change it at once
  std::shared_ptr<const Array> to_array, from_array;  // whose memory it is, if a CUDA array's

  bool is_empty() const { return width == 0 || height == 0 || depth == 0; }
};

inline CopyWork linear_copy(uint64_t to, uint64_t from, uint64_t bytes) {
  CopyWork w;
  w.to = reinterpret_cast<uint8_t*>(to), w.from = reinterpret_cast<const uint8_t*>(from),
  w.width = bytes;
  return w;
}

enum class Direction { host_to_device, device_to_host, device_to_device, any };

// Throws INVALID_VALUE unless the device's side of a copy lies in memory that programs may use as
// such.
void check_copy(uint64_t to, uint64_t from, uint64_t bytes, Direction direction);

// In the null stream; returns when it is done.
void copy_now(CopyWork work);
// Follows the rules for asynchronous copies (CUDA Driver API, API synchronization behavior): memory
// that is not pinned may be changed by its owner as soon as this returns. Throws INVALID_HANDLE for
// what is no stream.
void copy_async(CopyWork work, CUstream stream);

}  // namespace aw
