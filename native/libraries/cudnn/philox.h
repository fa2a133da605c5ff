// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; SC11):
// four words for each number of a counter, the same whoever asks for them.
#pragma once

#include <cstdint>

namespace aw::dnn {

struct Philox {
  uint32_t words[4];

  Philox(uint64_t seed, uint64_t offset, uint64_t number) {
    auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    uint32_t c0 = static_cast<uint32_t>(number), c1 = static_cast<uint32_t>(number >> 32),
             c2 = static_cast<uint32_t>(offset), c3 = static_cast<uint32_t>(offset >> 32);
    for (int i = 0; i < 10; ++i) {
      const uint64_t a = uint64_t{0xD2511F53} * c0, b = uint64_t{0xCD9E8D57} * c2;
      c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ key0, c1 = static_cast<uint32_t>(b);
      c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ key1, c3 = static_cast<uint32_t>(a);
      key0 += 0x9E3779B9, key1 += 0xBB67AE85;
    }
    words[0] = c0, words[1] = c1, words[2] = c2, words[3] = c3;
  }
};

// In [0, 1).
inline double unit_interval(uint32_t word) { return word * 0x1p-32; }
// Element `at` of a sequence of such numbers.
inline double uniform_at(uint64_t seed, uint64_t offset, int64_t at) {
  return unit_interval(Philox(seed, offset, static_cast<uint64_t>(at) / 4).words[at % 4]);
}

}  // namespace aw::dnn
