// Philox4x32-10 as cuRAND's device functions use it, many threads at a time, and cuRAND's
// transforms of its words.
#pragma once

#include <cstdint>

namespace awt {

// The GPU whose launch shape the random operators follow: torch maps elements to threads by its
// multiprocessors and the threads each can hold, so that values of large tensors differ from card
// to card.
struct Card {
  bool philox = true;  // false: values of the CPU's Mersenne Twister, seeded from the state
  int multiprocessors = 132;
  int threads_per_multiprocessor = 2048;
};
const Card& card() noexcept;

namespace philox {

// Threads handled by one call of the functions below.
inline constexpr int kBatch = 1024;

// The four words that each of `count` (at most kBatch) threads draws at one counter. The key is the
// seed; the low half of the counter is `counter` (offset / 4 + the number of draws before), the
// high half the thread: curand_init(seed, thread, offset).
struct alignas(64) Words {
  uint32_t x[kBatch], y[kBatch], z[kBatch], w[kBatch];
};
void draw(uint64_t seed, uint64_t counter, uint64_t thread, int count, Words& out) noexcept;
// Only x and y; the other half is left as it was.
void draw_half(uint64_t seed, uint64_t counter, uint64_t thread, int count, Words& out) noexcept;

// curand_uniform: (0, 1].
void uniform(const uint32_t* words, int count, float* out) noexcept;
// curand_uniform2_double: 53 bits out of two words, (0, 1].
void uniform(const uint32_t* low, const uint32_t* high, int count, double* out) noexcept;
// curand_normal4, half of it: two words to two values (Box-Muller: sine, cosine). Against a GPU
// these differ in the last bits, since cuRAND takes the hardware's approximate sine and cosine
// (absolute error 2^-21.4 by NVIDIA's manual).
void normal(const uint32_t* radius, const uint32_t* angle, int count, float* sine,
            float* cosine) noexcept;
// curand_normal2_double.
void normal(const Words& words, int count, double* sine, double* cosine) noexcept;

// Natural logarithms in place, for values in (0, 1] that are no denormals; within 1 unit in the
// last place or 2.
void log(float* values, int count) noexcept;

// One thread's own stream, for the kernels that draw an unknown number of times (curand,
// curand_uniform, curand_normal).
class Stream {
 public:
  Stream(uint64_t seed, uint64_t thread, uint64_t offset) noexcept
      : seed_(seed), thread_(thread), counter_(offset / 4), next_(static_cast<int>(offset % 4)) {
    refill();
  }
  uint32_t word() noexcept;
  float uniform() noexcept;
  float normal() noexcept;
  double uniform_double() noexcept;

 private:
  void refill() noexcept;
  uint64_t seed_, thread_, counter_;
  int next_;
  uint32_t words_[4];
  bool has_spare_ = false;
  float spare_ = 0;
};

}  // namespace philox
}  // namespace awt
