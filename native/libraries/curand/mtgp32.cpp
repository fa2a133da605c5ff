// MTGP32 (Saito and Matsumoto, Variants of Mersenne Twister suitable for graphic processors, 2013):
// 192 or 64 sequences with parameters of their own, 256 words of each in turn, as NVIDIA documents
// the order.
#include <algorithm>
#include <array>
#include <bit>

#include "libraries/curand/curand_parts.h"

namespace aw::curand {
namespace {

struct MtgpParameters {
  unsigned position, shift1, shift2;
  uint32_t recurrence[4], tempering[4];
};
constexpr MtgpParameters kMtgp[] = {
#include "third_party/mtgp/parameters.inc"
};

class MtgpSequence {
 public:
  MtgpSequence(const MtgpParameters& parameters, uint32_t seed) : parameters_(&parameters) {
    for (unsigned i = 1; i < 16; ++i) {
      const unsigned low = i & (i - 1), bit = static_cast<unsigned>(std::countr_zero(i));
      recurrence_[i] = recurrence_[low] ^ parameters.recurrence[bit];
      tempering_[i] = tempering_[low] ^ parameters.tempering[bit];
    }
    // The authors' mtgp32_init_state.
    const uint32_t hidden = recurrence_[4] ^ (recurrence_[8] << 16);
    uint32_t filling = hidden + (hidden >> 16);
    filling = (filling + (filling >> 8)) & 0xff;
    state_.fill(filling * 0x01010101u);
    state_[0] = seed, state_[1] = hidden;
    for (uint32_t i = 1; i < kSize; ++i)
      state_[i] ^= 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }

  uint32_t next() {
    auto at = [&](size_t i) -> uint32_t& { return state_[(at_ + i) % kSize]; };
    uint32_t x = (at(0) & 0xfff80000u) ^ at(1);
    x ^= x << parameters_->shift1;
    const uint32_t y = x ^ (at(parameters_->position) >> parameters_->shift2);
    const uint32_t made = y ^ recurrence_[y & 15];
    uint32_t t = at(parameters_->position - 1);
    t ^= t >> 16, t ^= t >> 8;
    at(0) = made;
    at_ = (at_ + 1) % kSize;
    return made ^ tempering_[t & 15];
  }

 private:
  static constexpr size_t kSize = 11213 / 32 + 1;
  const MtgpParameters* parameters_;
  std::array<uint32_t, 16> recurrence_{}, tempering_{};
  std::array<uint32_t, kSize> state_{};
  size_t at_ = 0;
};

class Mtgp32 final : public Source {
 public:
  // How NVIDIA's library makes the seeds of its sequences of a generator's is not documented: as
  // the program's own states get them from curandMakeMTGP32KernelState, one more for each.
  Mtgp32(uint64_t seed, size_t sequences) {
    const auto folded = static_cast<uint32_t>(seed ^ (seed >> 32));
    for (size_t i = 0; i < sequences; ++i)
      sequences_.emplace_back(kMtgp[i], folded + static_cast<uint32_t>(i) + 1);
  }

  void draw(const Draw& draw, uint64_t units, char* out, bool threads) override {
    const auto each_words = static_cast<uint64_t>(draw.words);
    const uint64_t begin = (next_ + each_words - 1) / each_words * each_words,
                   end = begin + units * each_words;
    next_ = end;
    const uint64_t first = begin / kPiece, last = (end + kPiece - 1) / kPiece,
                   all = sequences_.size();
    const size_t unit = static_cast<size_t>(draw.values) * static_cast<size_t>(draw.bytes);
    each(threads && last - first > 16, std::min(all, last - first), [&](uint64_t number) {
      for (uint64_t piece = first + number; piece < last; piece += all) {
        uint32_t words[kPiece];
        if (piece == begun_)
          std::copy_n(rest_, kPiece, words);
        else
          for (auto& word : words) word = sequences_[piece % all].next();
        const uint64_t from = std::max(begin, piece * kPiece),
                       to = std::min(end, (piece + 1) * kPiece);
        const size_t count = (to - from) / each_words;
        uint32_t columns[4][kPiece];
        for (size_t i = 0; i < count * each_words; ++i)
          columns[i % each_words][i / each_words] = words[from % kPiece + i];
        draw.make({{columns[0], columns[1], columns[2], columns[3]}}, static_cast<int>(count),
                  out + (from - begin) / each_words * unit);
        // What is left of the last piece comes first in the next call.
        if (piece + 1 == last) std::copy_n(words, kPiece, coming_);
      }
    });
    if (last > first) begun_ = last - 1, std::swap_ranges(rest_, rest_ + kPiece, coming_);
  }

 private:
  static constexpr size_t kPiece = 256;
  std::vector<MtgpSequence> sequences_;
  uint64_t next_ = 0, begun_ = ~uint64_t{0};
  uint32_t rest_[kPiece], coming_[kPiece];
};

}  // namespace

std::unique_ptr<Source> make_mtgp32(uint64_t seed, size_t sequences) {
  return std::make_unique<Mtgp32>(seed, sequences);
}

}  // namespace aw::curand
