// Decompression of single buffers in the formats that cuMemBatchDecompressAsync names.
#pragma once

#include <cstdint>

namespace aw {

struct Bytes {
  const uint8_t* at;
  uint64_t count;
};

// Write the content into `to`, which has room for `room` bytes; return how many there are. Damaged
// data and content that does not fit throw INVALID_VALUE; nothing is read or written outside.
uint64_t inflate(Bytes from, uint8_t* to, uint64_t room);        // raw deflate, RFC 1951
uint64_t decode_snappy(Bytes from, uint8_t* to, uint64_t room);  // raw blocks with their length
uint64_t decode_lz4(Bytes from, uint8_t* to, uint64_t room);     // one block without a frame

}  // namespace aw
