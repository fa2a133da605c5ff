// Sobol's sequences with the direction numbers of Joe and Kuo (Constructing Sobol sequences with
// better two-dimensional projections, 2008).
#include <algorithm>
#include <bit>

#include "libraries/curand/curand_parts.h"

// Made by scripts/sobol_table.py.
asm(".pushsection .rodata\n"
    "aw_joe_kuo:\n"
    ".incbin \"third_party/joe_kuo/direction_numbers.bin\"\n"
    ".zero 8\n"
    ".popsection\n");
extern "C" __attribute__((visibility("hidden"))) const unsigned char aw_joe_kuo[];

namespace aw::curand {
namespace {

class Bits {
 public:
  uint32_t take(unsigned count) {
    uint32_t out = 0;
    for (unsigned i = 0; i < count; ++i, ++at_) out |= (aw_joe_kuo[at_ / 8] >> (at_ % 8) & 1u) << i;
    return out;
  }

 private:
  size_t at_ = 0;
};

// Bratley and Fox, Algorithm 659: of each direction vector the recurrence of the primitive
// polynomial makes the next.
template <class Word>
std::vector<Word> directions() {
  constexpr unsigned kBits = sizeof(Word) * 8;
  std::vector<Word> out(size_t{kDimensions} * kBits);
  for (unsigned i = 0; i < kBits; ++i) out[i] = Word{1} << (kBits - 1 - i);
  Bits bits;
  for (unsigned dimension = 1; dimension < kDimensions; ++dimension) {
    Word* v = &out[size_t{dimension} * kBits];
    const unsigned degree = bits.take(5);
    const uint32_t inner = bits.take(degree - 1);
    for (unsigned i = 0; i < degree; ++i) v[i] = (Word{bits.take(i)} * 2 + 1) << (kBits - 1 - i);
    for (unsigned i = degree; i < kBits; ++i) {
      v[i] = v[i - degree] ^ (v[i - degree] >> degree);
      for (unsigned k = 1; k < degree; ++k)
        if (inner >> (degree - 1 - k) & 1) v[i] ^= v[i - k];
    }
  }
  return out;
}

// n / d points of the first dimension, then of the second, and so on, in the order of Gray's code.
template <class Word>
class Sobol final : public Source {
 public:
  Sobol(const Word* vectors, unsigned dimensions, uint64_t offset)
      : vectors_(vectors), dimensions_(dimensions), next_(offset) {}

  void draw(const Draw& draw, uint64_t units, char* out, bool threads) override {
    const uint64_t points = units / dimensions_, chunks = (points + kChunk - 1) / kChunk,
                   begin = next_;
    next_ += points;
    each(threads && units > 4 * kChunk, dimensions_ * chunks, [&](uint64_t number) {
      const uint64_t dimension = number / chunks, from = number % chunks * kChunk;
      const int count = static_cast<int>(std::min(points - from, kChunk));
      const Word* v = vectors_ + dimension * kBits;
      uint32_t low[kChunk], high[kChunk];
      const Word index = static_cast<Word>(begin + from);
      Word x = 0;
      for (Word gray = index ^ (index >> 1); gray; gray &= gray - 1) x ^= v[std::countr_zero(gray)];
      for (int i = 0; i < count; ++i) {
        low[i] = static_cast<uint32_t>(x);
        if constexpr (kBits == 64) high[i] = static_cast<uint32_t>(x >> 32);
        x ^= v[std::min<unsigned>(std::countr_one(static_cast<Word>(index + static_cast<Word>(i))),
                                  kBits - 1)];
      }
      draw.make({{low, high, nullptr, nullptr}}, count,
                out + (dimension * points + from) * static_cast<size_t>(draw.bytes));
    });
  }

 private:
  static constexpr unsigned kBits = sizeof(Word) * 8;
  static constexpr uint64_t kChunk = 1024;
  const Word* vectors_;
  uint64_t dimensions_, next_;
};

}  // namespace

const std::vector<uint32_t>& directions32() {
  static const auto& it = *new std::vector<uint32_t>(directions<uint32_t>());
  return it;
}

const std::vector<uint64_t>& directions64() {
  static const auto& it = *new std::vector<uint64_t>(directions<uint64_t>());
  return it;
}

std::unique_ptr<Source> make_sobol(unsigned bits, unsigned dimensions, uint64_t offset) {
  if (bits == 64)
    return std::make_unique<Sobol<uint64_t>>(directions64().data(), dimensions, offset);
  return std::make_unique<Sobol<uint32_t>>(directions32().data(), dimensions, offset);
}

}  // namespace aw::curand
