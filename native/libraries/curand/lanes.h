// Generators of many subsequences, one number from each in turn: unit n is of lane n modulo their
// number.
#pragma once

#include <algorithm>

#include "libraries/curand/curand_parts.h"

namespace aw::curand {

// `State` has size() lanes; step(begin, end, out) moves some of them one step and writes their
// words. As documented, several calls give what one would: a call goes on with the lane after the
// last one.
template <class State>
class Lanes final : public Source {
 public:
  Lanes(State state, size_t next) : state_(std::move(state)), next_(next) {}

  void draw(const Draw& draw, uint64_t units, char* out, bool threads) override {
    const uint64_t lanes = state_.size(), begin = next_, end = begin + units;
    next_ = end % lanes;
    const size_t unit = static_cast<size_t>(draw.values) * static_cast<size_t>(draw.bytes);
    // Lanes that take part at all; those of one chunk are moved by one thread.
    const uint64_t last = std::min(lanes, end);
    const uint64_t first = end > lanes ? 0 : begin;
    const uint64_t chunks = (last - first + kChunk - 1) / kChunk;
    each(threads && units > 4 * kChunk, chunks, [&](uint64_t chunk) {
      alignas(64) uint32_t words[4][kChunk];
      const uint64_t a = first + chunk * kChunk, b = std::min(last, a + kChunk);
      for (uint64_t row = 0; row < end; row += lanes) {
        const uint64_t from = std::max(a, row ? 0 : begin), to = std::min(b, end - row);
        if (from >= to) continue;
        for (int k = 0; k < draw.words; ++k) state_.step(from, to, words[k]);
        draw.make({{words[0], words[1], words[2], words[3]}}, static_cast<int>(to - from),
                  out + (row + from - begin) * unit);
      }
    });
  }

 private:
  static constexpr uint64_t kChunk = 512;
  State state_;
  uint64_t next_;
};

// Compiled for several processors: loops over lanes are worth it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define AW_LANE_CLONES \
  __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3", "no-trapping-math")))
#else
#define AW_LANE_CLONES
#endif

}  // namespace aw::curand
