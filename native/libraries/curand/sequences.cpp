// Generators that are one sequence of words: Philox4x32-10 and MT19937.
#include <algorithm>
#include <array>
#include <cstring>

#include "libraries/curand/curand_parts.h"
#include "torch/random_philox.h"

namespace aw::curand {
namespace {

namespace philox = awt::philox;

constexpr size_t kPiece = 4 * philox::kBatch;  // words at a time

// The words of consecutive units as columns.
struct Unpacked {
  alignas(64) uint32_t column[4][kPiece];

  Columns from(const uint32_t* words, size_t units, int each) {
    if (each == 1) return {{words, words, words, words}};
    for (int k = 0; k < each; ++k)
      for (size_t i = 0; i < units; ++i)
        column[k][i] = words[i * static_cast<size_t>(each) + static_cast<size_t>(k)];
    return {{column[0], column[1], column[2], column[3]}};
  }
};

// 65536 subsequences, four words of each in turn, as documented.
class Philox final : public Source {
 public:
  Philox(uint64_t seed, uint64_t offset) : seed_(seed), next_(offset) {}

  void draw(const Draw& draw, uint64_t units, char* out, bool threads) override {
    const auto each_words = static_cast<uint64_t>(draw.words);
    const uint64_t begin = (next_ + each_words - 1) / each_words * each_words,
                   end = begin + units * each_words;
    next_ = end;
    const uint64_t first = begin / kPiece, pieces = (end + kPiece - 1) / kPiece - first;
    const size_t unit = static_cast<size_t>(draw.values) * static_cast<size_t>(draw.bytes);
    each(threads && pieces > 4, pieces, [&](uint64_t number) {
      const uint64_t piece = first + number, block = piece * philox::kBatch;
      philox::Words made;
      philox::draw(seed_, block >> 16, block & 0xffff, philox::kBatch, made);
      alignas(64) uint32_t words[kPiece];
      for (int i = 0; i < philox::kBatch; ++i) {
        words[4 * i] = made.x[i], words[4 * i + 1] = made.y[i];
        words[4 * i + 2] = made.z[i], words[4 * i + 3] = made.w[i];
      }
      const uint64_t from = std::max(begin, piece * kPiece),
                     to = std::min(end, (piece + 1) * kPiece);
      const size_t count = (to - from) / each_words;
      Unpacked unpacked;
      draw.make(unpacked.from(words + from % kPiece, count, draw.words), static_cast<int>(count),
                out + (from - begin) / each_words * unit);
    });
  }

 private:
  uint64_t seed_, next_;
};

// Mersenne Twister (Matsumoto and Nishimura, 1998), in its own order.
class Mt19937 final : public Source {
 public:
  explicit Mt19937(uint64_t seed) {
    // The authors' init_by_array for two words, init_genrand for one.
    if (seed >> 32 == 0) {
      start(static_cast<uint32_t>(seed));
      return;
    }
    const uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    start(19650218u);
    size_t i = 1, j = 0;
    for (size_t k = 0; k < kSize; ++k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + key[j] +
                  static_cast<uint32_t>(j);
      if (++i == kSize) state_[0] = state_[kSize - 1], i = 1;
      j ^= 1;
    }
    for (size_t k = 0; k < kSize - 1; ++k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) -
                  static_cast<uint32_t>(i);
      if (++i == kSize) state_[0] = state_[kSize - 1], i = 1;
    }
    state_[0] = 0x80000000u;
  }

  void draw(const Draw& draw, uint64_t units, char* out, bool) override {
    const auto each_words = static_cast<size_t>(draw.words);
    const size_t unit = static_cast<size_t>(draw.values) * static_cast<size_t>(draw.bytes),
                 most = kPiece / each_words;
    Unpacked unpacked;
    uint32_t words[kPiece];
    while (units) {
      const size_t count = std::min<uint64_t>(units, most);
      for (size_t i = 0; i < count * each_words; ++i) words[i] = word();
      draw.make(unpacked.from(words, count, draw.words), static_cast<int>(count), out);
      units -= count, out += count * unit;
    }
  }

 private:
  static constexpr size_t kSize = 624, kMiddle = 397;

  void start(uint32_t seed) {
    state_[0] = seed;
    for (size_t i = 1; i < kSize; ++i)
      state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<uint32_t>(i);
  }

  void twist() {
    auto at = [&](size_t i, size_t next, size_t far) {
      const uint32_t y = (state_[i] & 0x80000000u) | (state_[next] & 0x7fffffffu);
      state_[i] = state_[far] ^ (y >> 1) ^ (-(y & 1) & 0x9908b0dfu);
    };
    for (size_t i = 0; i < kSize - kMiddle; ++i) at(i, i + 1, i + kMiddle);
    for (size_t i = kSize - kMiddle; i < kSize - 1; ++i) at(i, i + 1, i + kMiddle - kSize);
    at(kSize - 1, 0, kMiddle - 1);
    next_ = 0;
  }

  uint32_t word() {
    if (next_ == kSize) twist();
    uint32_t y = state_[next_++];
    y ^= y >> 11, y ^= (y << 7) & 0x9d2c5680u, y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  std::array<uint32_t, kSize> state_{};
  size_t next_ = kSize;
};

}  // namespace

std::unique_ptr<Source> make_philox(uint64_t seed, uint64_t offset) {
  return std::make_unique<Philox>(seed, offset);
}
std::unique_ptr<Source> make_mt19937(uint64_t seed) { return std::make_unique<Mt19937>(seed); }

}  // namespace aw::curand
