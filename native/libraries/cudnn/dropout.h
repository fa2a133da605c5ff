// Dropout's generator: what lies in the states of a program.
#pragma once

#include "libraries/cudnn/objects.h"
#include "libraries/cudnn/philox.h"

namespace aw::dnn {

struct DropoutState {
  uint64_t seed, offset;  // every use takes the next offset
};

// Factors of `count` elements: 0, with probability `rate`, or 1 / (1 - rate).
template <class T>
void dropout_factors(float rate, DropoutState& state, int64_t count, T* factors) {
  const DropoutState now = state;
  ++state.offset;
  const T kept = rate < 1 ? T{1} / (T{1} - static_cast<T>(rate)) : T{0};
  for (int64_t at = 0; at < count; at += 4) {
    const Philox four(now.seed, now.offset, static_cast<uint64_t>(at) / 4);
    for (int64_t i = at; i < std::min(count, at + 4); ++i)
      factors[i] = unit_interval(four.words[i - at]) < static_cast<double>(rate) ? T{0} : kept;
  }
}

}  // namespace aw::dnn
