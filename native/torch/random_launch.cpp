// The parts of random_launch.h that need no template, and the setting for the card that is
// followed.
#include "random_launch.h"

#include <ATen/ops/from_blob.h>

namespace awt {
namespace {

Card followed;

}  // namespace

const Card& card() noexcept { return followed; }

// Every task is an element of a tensor whose iterator torch spreads over its threads; an element's
// address is its number, and nothing is read or written there.
void in_parallel(int64_t tasks, int64_t grain, const std::function<void(int64_t, int64_t)>& task) {
  if (tasks <= grain) return task(0, tasks);
  static char base[1];
  const at::Tensor numbers =
      at::from_blob(base, {tasks}, at::TensorOptions(at::kCPU).dtype(at::kByte));
  at::TensorIterator iter = at::TensorIterator::borrowing_nullary_op(numbers);
  iter.for_each(
      [&](char** data, const int64_t* strides, int64_t inner, int64_t outer) {
        for (int64_t row = 0; row < outer; ++row) {
          const int64_t first = data[0] + row * strides[1] - base;
          task(first, first + inner);
        }
      },
      grain);
}

void scatter(const at::TensorIteratorBase& iter, const char* elements) {
  const size_t size = static_cast<size_t>(iter.element_size(0));
  const auto shape = iter.shape();
  const auto strides = iter.strides(0);
  std::vector<int64_t> at(shape.size(), 0);
  char* to = static_cast<char*>(iter.data_ptr(0));
  for (int64_t rest = iter.numel(); rest > 0; --rest, elements += size) {
    std::memcpy(to, elements, size);
    for (size_t dim = 0; dim < at.size(); ++dim) {
      to += strides[dim];
      if (++at[dim] < shape[dim]) break;
      to -= strides[dim] * shape[dim];
      at[dim] = 0;
    }
  }
}

}  // namespace awt

// Follows a card of that many multiprocessors with that many threads each; with `philox` 0 the
// CPU's values. -1 for numbers that no card has. Set while no operator runs.
extern "C" __attribute__((visibility("default"))) int awt_random_card(int philox,
                                                                      int multiprocessors,
                                                                      int threads) {
  if (multiprocessors < 1 || multiprocessors > 4096 || threads < 256 || threads > 65536) return -1;
  awt::followed = {philox != 0, multiprocessors, threads};
  return 0;
}

// The four words of one draw, for who wants to compare.
extern "C" __attribute__((visibility("default"))) void awt_random_words(uint64_t seed,
                                                                        uint64_t counter,
                                                                        uint64_t thread,
                                                                        uint32_t* out) {
  awt::philox::Words words;
  awt::philox::draw(seed, counter, thread, 1, words);
  out[0] = words.x[0];
  out[1] = words.y[0];
  out[2] = words.z[0];
  out[3] = words.w[0];
}
