// How torch's CUDA kernels hand out random numbers: the launch, which thread draws for which
// element, and where it goes.
#pragma once

#include <ATen/TensorIterator.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "alias.h"
#include "generator.h"
#include "random_philox.h"

namespace awt {

// calc_execution_policy of torch's ATen/native/cuda/DistributionTemplates.h: blocks of 256 threads,
// at most as many as fit on the card at once; a thread takes `unroll` values per draw. Each draw
// moves the offset by 4.
struct Launch {
  int64_t threads;
  uint64_t increment;
};
inline Launch launch(int64_t elements, int unroll) {
  const int64_t block = 256;
  const int64_t resident =
      int64_t{card().multiprocessors} * (card().threads_per_multiprocessor / block);
  const int64_t threads = block * std::min(resident, (elements + block - 1) / block);
  return {threads, static_cast<uint64_t>((elements - 1) / (threads * unroll) + 1) * 4};
}

// Runs task(first, end) over parts of [0, tasks) on torch's own threads (this library links no
// OpenMP itself).
void in_parallel(int64_t tasks, int64_t grain, const std::function<void(int64_t, int64_t)>& task);

// What a kind of number needs: values per thread and draw, and how to make them of words.
// `values[k]` belongs to the k-th element of a thread; only the first `wanted` are looked at.
struct UniformFloats {
  using Value = float;
  static constexpr int kUnroll = 4;
  static constexpr int kHalf = 2;  // so many need only the first two words
  static void make(const philox::Words& words, int count, int wanted, Value (*values)[1024]) {
    const uint32_t* const all[] = {words.x, words.y, words.z, words.w};
    for (int k = 0; k < wanted; ++k) philox::uniform(all[k], count, values[k]);
  }
};
struct UniformDoubles {
  using Value = double;
  static constexpr int kUnroll = 2;
  static constexpr int kHalf = 1;
  static void make(const philox::Words& words, int count, int wanted, Value (*values)[1024]) {
    philox::uniform(words.x, words.y, count, values[0]);
    if (wanted > 1) philox::uniform(words.z, words.w, count, values[1]);
  }
};
struct NormalFloats {
  using Value = float;
  static constexpr int kUnroll = 4;
  static constexpr int kHalf = 2;
  static void make(const philox::Words& words, int count, int wanted, Value (*values)[1024]) {
    philox::normal(words.x, words.y, count, values[0], values[1]);
    if (wanted > 2) philox::normal(words.z, words.w, count, values[2], values[3]);
  }
};
struct NormalDoubles {
  using Value = double;
  static constexpr int kUnroll = 2;
  static constexpr int kHalf = 0;
  static void make(const philox::Words& words, int count, int, Value (*values)[1024]) {
    philox::normal(words, count, values[0], values[1]);
  }
};
struct Words32 {
  using Value = uint32_t;
  static constexpr int kUnroll = 4;
  static constexpr int kHalf = 2;
  static void make(const philox::Words& words, int count, int wanted, Value (*values)[1024]) {
    const uint32_t* const all[] = {words.x, words.y, words.z, words.w};
    for (int k = 0; k < wanted; ++k) std::copy_n(all[k], count, values[k]);
  }
};
struct Words64 {
  using Value = uint64_t;
  static constexpr int kUnroll = 2;
  static constexpr int kHalf = 1;
  static void make(const philox::Words& words, int count, int wanted, Value (*values)[1024]) {
    for (int i = 0; i < count; ++i) values[0][i] = uint64_t{words.x[i]} << 32 | words.y[i];
    if (wanted < 2) return;
    for (int i = 0; i < count; ++i) values[1][i] = uint64_t{words.z[i]} << 32 | words.w[i];
  }
};
static_assert(philox::kBatch == 1024);

// Calls sink(first, values, count) for runs of elements: element li belongs to thread li % threads,
// whose k-th value of draw d is for li = thread + threads * (k + unroll * d)
// (distribution_elementwise_grid_stride_kernel).
template <class Kind, class Sink>
void for_each_run(int64_t elements, const PhiloxState& state, int64_t threads, const Sink& sink) {
  const int64_t wave = threads * Kind::kUnroll;
  const int64_t batches = (std::min(threads, elements) + philox::kBatch - 1) / philox::kBatch;
  const int64_t draws = (elements - 1) / wave + 1;
  in_parallel(batches * draws, 16, [&](int64_t task, int64_t end) {
    philox::Words words;
    alignas(64) typename Kind::Value values[Kind::kUnroll][philox::kBatch];
    for (; task < end; ++task) {
      const int64_t draw = task / batches, thread = task % batches * philox::kBatch;
      const int64_t first = draw * wave + thread;
      if (first >= elements) continue;
      const int count =
          static_cast<int>(std::min({int64_t{philox::kBatch}, threads - thread, elements - first}));
      const int wanted =
          static_cast<int>(std::min<int64_t>(Kind::kUnroll, (elements - first - 1) / threads + 1));
      const auto of_words = wanted <= Kind::kHalf ? philox::draw_half : philox::draw;
      of_words(state.seed, state.offset / 4 + draw, thread, count, words);
      Kind::make(words, count, wanted, values);
      for (int k = 0; k < wanted; ++k) {
        const int64_t at = first + k * threads;
        sink(at, values[k], static_cast<int>(std::min<int64_t>(count, elements - at)));
      }
    }
  });
}

// Writes `elements` in the iterator's order, fastest dimension first, to where they belong.
void scatter(const at::TensorIteratorBase& iter, const char* elements);

// Fills the iterator's only operand: fill(values, first, kind values, count) turns a run into
// scalars.
template <class Scalar, class Kind, class Convert>
void fill(at::TensorIteratorBase& iter, const std::optional<at::Generator>& generator,
          const Convert& convert) {
  const int64_t elements = iter.numel();
  if (elements == 0) return;
  const Launch shape = launch(elements, Kind::kUnroll);
  const PhiloxState state = reserve(generator, current_op_device(), shape.increment);
  if (!iter.can_use_32bit_indexing()) {
    // As torch: the numbers just taken are left unused, and each part takes its own.
    for (auto& part : iter.with_32bit_indexing()) fill<Scalar, Kind>(part, generator, convert);
    return;
  }
  const bool direct =
      iter.ndim() == 0 || (iter.ndim() == 1 && iter.strides(0)[0] == int64_t{sizeof(Scalar)});
  std::vector<char> apart(direct ? 0 : elements * sizeof(Scalar));
  auto* out =
      reinterpret_cast<Scalar*>(direct ? static_cast<char*>(iter.data_ptr(0)) : apart.data());
  for_each_run<Kind>(elements, state, shape.threads,
                     [&](int64_t first, const typename Kind::Value* values, int count) {
                       convert(values, count, out + first);
                     });
  if (!direct) scatter(iter, apart.data());
}

// As above, for conversions of one value.
template <class Scalar, class Kind, class Function>
void fill_each(at::TensorIteratorBase& iter, const std::optional<at::Generator>& generator,
               const Function& function) {
  fill<Scalar, Kind>(iter, generator,
                     [&](const typename Kind::Value* values, int count, Scalar* out) {
                       for (int i = 0; i < count; ++i) out[i] = function(values[i]);
                     });
}

}  // namespace awt
