// Written from the formats' public descriptions: RFC 1951, Snappy's format_description.txt and
// LZ4's lz4_Block_format.md.
#include "cpu/decompress_formats.h"

#include <array>
#include <cstring>

#include "cuda/api.h"

namespace aw {
namespace {

struct Reader {
  const uint8_t *at, *end;
  uint64_t left() const { return static_cast<uint64_t>(end - at); }
  uint8_t byte() {
    require(at < end);
    return *at++;
  }
};

struct Writer {
  uint8_t* begin;
  uint64_t room, count = 0;

  void literals(Reader& from, uint64_t n) {
    require(n <= from.left() && n <= room - count);
    if (n) memcpy(begin + count, from.at, n);
    from.at += n, count += n;
  }

  void byte(uint8_t value) {
    require(count < room);
    begin[count++] = value;
  }

  // The source may overlap what is written: byte by byte.
  void repeat(uint64_t distance, uint64_t n) {
    require(distance > 0 && distance <= count && n <= room - count);
    for (uint64_t i = 0; i < n; ++i, ++count) begin[count] = begin[count - distance];
  }
};

// --- deflate ------------------------------------------------------------------------------------

struct Bits {
  Reader from;
  uint32_t buffer = 0;
  int held = 0;

  uint32_t take(int n) {
    while (held < n) buffer |= uint32_t{from.byte()} << held, held += 8;
    uint32_t value = buffer & ((1u << n) - 1);
    buffer >>= n, held -= n;
    return value;
  }
  void drop_partial_byte() { buffer = 0, held = 0; }  // never a whole byte is held here
};

constexpr int kLongest = 15;

// A code by the number of codes of each length and the symbols in their order (RFC 1951, 3.2.2).
struct Code {
  std::array<uint16_t, kLongest + 1> count{};
  std::array<uint16_t, 288> symbols{};

  Code(const uint8_t* lengths, int n) {
    for (int i = 0; i < n; ++i) ++count[lengths[i]];
    count[0] = 0;
    int left = 1;
    std::array<uint16_t, kLongest + 2> offset{};
    for (int length = 1; length <= kLongest; ++length) {
      left = left * 2 - count[length];
      require(left >= 0);  // more codes than there can be
      offset[length + 1] = static_cast<uint16_t>(offset[length] + count[length]);
    }
    for (int i = 0; i < n; ++i) {
      if (lengths[i]) symbols[offset[lengths[i]]++] = static_cast<uint16_t>(i);
    }
  }

  int read(Bits& bits) const {
    int code = 0, first = 0, index = 0;
    for (int length = 1; length <= kLongest; ++length) {
      code |= static_cast<int>(bits.take(1));
      int n = count[length];
      if (code - n < first) return symbols[static_cast<size_t>(index + code - first)];
      index += n, first = (first + n) << 1, code <<= 1;
    }
    throw Failure(CUDA_ERROR_INVALID_VALUE);
  }
};

void inflate_symbols(Bits& bits, Writer& to, const Code& literals, const Code& distances) {
  constexpr uint16_t kLength[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                  31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  constexpr uint8_t kLengthBits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                     2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  constexpr uint16_t kDistance[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                    33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                    1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  constexpr int kEnd = 256;
  for (;;) {
    int symbol = literals.read(bits);
    if (symbol == kEnd) return;
    if (symbol < kEnd) {
      to.byte(static_cast<uint8_t>(symbol));
      continue;
    }
    int i = symbol - kEnd - 1;
    require(i < 29);
    uint32_t length = kLength[i] + bits.take(kLengthBits[i]);
    int d = distances.read(bits);
    require(d < 30);
    uint32_t distance = kDistance[d] + bits.take(d < 2 ? 0 : d / 2 - 1);
    to.repeat(distance, length);
  }
}

void inflate_stored(Bits& bits, Writer& to) {
  bits.drop_partial_byte();
  uint32_t length = bits.take(16), complement = bits.take(16);
  require((length ^ complement) == 0xffff);
  to.literals(bits.from, length);
}

void inflate_fixed(Bits& bits, Writer& to) {
  uint8_t lengths[288], distances[30];
  for (int i = 0; i < 288; ++i)
    lengths[i] = static_cast<uint8_t>(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
  memset(distances, 5, sizeof distances);
  inflate_symbols(bits, to, Code(lengths, 288), Code(distances, 30));
}

void inflate_dynamic(Bits& bits, Writer& to) {
  constexpr uint8_t kOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  int literals = static_cast<int>(bits.take(5)) + 257;
  int distances = static_cast<int>(bits.take(5)) + 1;
  int codes = static_cast<int>(bits.take(4)) + 4;
  require(literals <= 286 && distances <= 30);
  uint8_t lengths[320] = {};
  for (int i = 0; i < codes; ++i) lengths[kOrder[i]] = static_cast<uint8_t>(bits.take(3));
  Code of_lengths(lengths, 19);
  memset(lengths, 0, sizeof lengths);
  for (int i = 0; i < literals + distances;) {
    int symbol = of_lengths.read(bits);
    if (symbol < 16) {
      lengths[i++] = static_cast<uint8_t>(symbol);
      continue;
    }
    require(symbol != 16 || i > 0);
    uint8_t value = symbol == 16 ? lengths[i - 1] : 0;
    uint32_t n = symbol == 16   ? 3 + bits.take(2)
                 : symbol == 17 ? 3 + bits.take(3)
                                : 11 + bits.take(7);
    require(i + static_cast<int>(n) <= literals + distances);
    for (; n > 0; --n) lengths[i++] = value;
  }
  require(lengths[256] != 0);  // the end of the block has a code
  inflate_symbols(bits, to, Code(lengths, literals), Code(lengths + literals, distances));
}

// --- LZ4 and Snappy -----------------------------------------------------------------------------

uint64_t lz4_length(Reader& from, uint64_t nibble) {
  if (nibble < 15) return nibble;
  for (uint8_t more = 255; more == 255;) nibble += more = from.byte();
  return nibble;
}

uint64_t little_endian(Reader& from, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= uint64_t{from.byte()} << 8 * i;
  return value;
}

uint64_t snappy_length(Reader& from) {
  uint64_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    uint8_t byte = from.byte();
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw Failure(CUDA_ERROR_INVALID_VALUE);
}

void snappy_element(Reader& from, Writer& out) {
  uint8_t tag = from.byte();
  uint64_t n = tag >> 2;
  switch (tag & 3) {
    case 0:
      if (n >= 60) n = little_endian(from, static_cast<int>(n) - 59);
      return out.literals(from, n + 1);
    case 1:
      return out.repeat(static_cast<uint64_t>(tag >> 5) << 8 | from.byte(), 4 + (n & 7));
    case 2:
      return out.repeat(little_endian(from, 2), n + 1);
    default:
      return out.repeat(little_endian(from, 4), n + 1);
  }
}

}  // namespace

uint64_t inflate(Bytes from, uint8_t* to, uint64_t room) {
  Bits bits = {{from.at, from.at + from.count}};
  Writer out = {to, room};
  for (bool last = false; !last;) {
    last = bits.take(1);
    switch (bits.take(2)) {
      case 0:
        inflate_stored(bits, out);
        break;
      case 1:
        inflate_fixed(bits, out);
        break;
      case 2:
        inflate_dynamic(bits, out);
        break;
      default:
        throw Failure(CUDA_ERROR_INVALID_VALUE);
    }
  }
  return out.count;
}

uint64_t decode_lz4(Bytes bytes, uint8_t* to, uint64_t room) {
  Reader from = {bytes.at, bytes.at + bytes.count};
  Writer out = {to, room};
  while (from.left()) {
    uint8_t token = from.byte();
    out.literals(from, lz4_length(from, token >> 4));
    if (!from.left()) break;  // the last sequence has literals only
    uint64_t distance = little_endian(from, 2);
    out.repeat(distance, lz4_length(from, token & 15) + 4);
  }
  return out.count;
}

uint64_t decode_snappy(Bytes bytes, uint8_t* to, uint64_t room) {
  Reader from = {bytes.at, bytes.at + bytes.count};
  uint64_t whole = snappy_length(from);
  require(whole <= room);
  Writer out = {to, whole};
  while (from.left()) snappy_element(from, out);
  require(out.count == whole);
  return whole;
}

}  // namespace aw
