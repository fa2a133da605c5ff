// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; SC11)
// over arrays, so that the compiler makes vector code of it.
#include "random_philox.h"

#include <cmath>

#ifdef __GNUC__
#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")
#endif

// A loop compiled for AVX-512, AVX2 and the baseline, chosen when it runs. (target_clones would
// need a compiler that knows x86-64-v3 there; its "arch=haswell" means that very processor.)
#define AWT_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__)
#define AWT_VERSIONS(name, parameters, arguments)                                                \
  __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma,prefer-vector-width=512"))) void \
      name##_512 parameters {                                                                    \
    name##_loop arguments;                                                                       \
  }                                                                                              \
  __attribute__((target("avx2,fma"))) void name##_256 parameters { name##_loop arguments; }      \
  void name##_128 parameters { name##_loop arguments; }                                          \
  void name parameters {                                                                         \
    switch (level()) {                                                                           \
      case 2:                                                                                    \
        return name##_512 arguments;                                                             \
      case 1:                                                                                    \
        return name##_256 arguments;                                                             \
      default:                                                                                   \
        return name##_128 arguments;                                                             \
    }                                                                                            \
  }
#else
#define AWT_VERSIONS(name, parameters, arguments) \
  void name parameters { name##_loop arguments; }
#endif

namespace awt::philox {
namespace {

#if defined(__x86_64__)
int level() {
  static const int found = __builtin_cpu_supports("avx512dq") &&
                                   __builtin_cpu_supports("avx512bw") &&
                                   __builtin_cpu_supports("avx512vl")
                               ? 2
                           : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1
                                                                                             : 0;
  return found;
}
#endif

constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr float kTo1 = 0x1p-32f;
constexpr float kTo2Pi = 0x1p-32f * 6.2831855f;

// Words travel in the low halves of 64-bit lanes, which is the shape that vector multiplication 32
// x 32 -> 64 wants.
struct Counter {
  uint64_t c0, c1, c2, c3;
};

AWT_INLINE void ten_rounds(uint32_t key0, uint32_t key1, Counter& c) {
  constexpr uint64_t kLow = 0xffffffffu;
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = (c.c0 & kLow) * kMultiplier0;
    const uint64_t product1 = (c.c2 & kLow) * kMultiplier1;
    c = {(product1 >> 32) ^ (c.c1 & kLow) ^ key0, product1, (product0 >> 32) ^ (c.c3 & kLow) ^ key1,
         product0};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
}

// The draw for threads whose upper 32 bits are all `thread_high`.
AWT_INLINE void draw_run_loop(const uint32_t* key_counter, uint32_t thread_low,
                              uint32_t thread_high, int count, Words* out) {
  const uint32_t key0 = key_counter[0], key1 = key_counter[1];
  const uint32_t low = key_counter[2], high = key_counter[3];
  for (int i = 0; i < count; ++i) {
    Counter c{low, high, thread_low + static_cast<uint32_t>(i), thread_high};
    ten_rounds(key0, key1, c);
    out->x[i] = static_cast<uint32_t>(c.c0);
    out->y[i] = static_cast<uint32_t>(c.c1);
    out->z[i] = static_cast<uint32_t>(c.c2);
    out->w[i] = static_cast<uint32_t>(c.c3);
  }
}
AWT_VERSIONS(draw_run,
             (const uint32_t* key_counter, uint32_t thread_low, uint32_t thread_high, int count,
              Words* out),
             (key_counter, thread_low, thread_high, count, out))

AWT_INLINE void draw_half_run_loop(const uint32_t* key_counter, uint32_t thread_low,
                                   uint32_t thread_high, int count, Words* out) {
  const uint32_t key0 = key_counter[0], key1 = key_counter[1];
  const uint32_t low = key_counter[2], high = key_counter[3];
  for (int i = 0; i < count; ++i) {
    Counter c{low, high, thread_low + static_cast<uint32_t>(i), thread_high};
    ten_rounds(key0, key1, c);
    out->x[i] = static_cast<uint32_t>(c.c0);
    out->y[i] = static_cast<uint32_t>(c.c1);
  }
}
AWT_VERSIONS(draw_half_run,
             (const uint32_t* key_counter, uint32_t thread_low, uint32_t thread_high, int count,
              Words* out),
             (key_counter, thread_low, thread_high, count, out))

struct KeyCounter {
  uint32_t words[4];
  KeyCounter(uint64_t seed, uint64_t counter)
      : words{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
              static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32)} {}
};

AWT_INLINE uint32_t bits_of(float value) { return __builtin_bit_cast(uint32_t, value); }
AWT_INLINE float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// Polynomials: least squares at Chebyshev nodes, computed in extended precision.
AWT_INLINE float log_of(float value) {
  uint32_t bits = bits_of(value);
  // Exponent such that the rest lies in [sqrt(1/2), sqrt(2)).
  const int32_t exponent = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  bits -= static_cast<uint32_t>(exponent) << 23;
  const float f = float_of(bits) - 1.0f;
  float q = 0.07149752229452133f;
  q = __builtin_fmaf(q, f, -0.11571201682090759f);
  q = __builtin_fmaf(q, f, 0.11661512404680252f);
  q = __builtin_fmaf(q, f, -0.12411050498485565f);
  q = __builtin_fmaf(q, f, 0.14249935746192932f);
  q = __builtin_fmaf(q, f, -0.1666848063468933f);
  q = __builtin_fmaf(q, f, 0.20000708103179932f);
  q = __builtin_fmaf(q, f, -0.24999989569187164f);
  q = __builtin_fmaf(q, f, 0.3333333134651184f);
  const float square = f * f;
  const float e = static_cast<float>(exponent);
  float sum = __builtin_fmaf(e, -2.12194440e-4f, q * square * f);  // ln 2 in two parts
  sum = __builtin_fmaf(square, -0.5f, sum);
  return __builtin_fmaf(e, 0.693359375f, f + sum);
}

}  // namespace

void draw(uint64_t seed, uint64_t counter, uint64_t thread, int count, Words& out) noexcept {
  const KeyCounter key(seed, counter);
  draw_run(key.words, static_cast<uint32_t>(thread), static_cast<uint32_t>(thread >> 32), count,
           &out);
}

void draw_half(uint64_t seed, uint64_t counter, uint64_t thread, int count, Words& out) noexcept {
  const KeyCounter key(seed, counter);
  draw_half_run(key.words, static_cast<uint32_t>(thread), static_cast<uint32_t>(thread >> 32),
                count, &out);
}

namespace {

AWT_INLINE void uniform_run_loop(const uint32_t* words, int count, float* out) {
  for (int i = 0; i < count; ++i) {
    out[i] = __builtin_fmaf(static_cast<float>(words[i]), kTo1, kTo1 / 2);
  }
}
AWT_VERSIONS(uniform_run, (const uint32_t* words, int count, float* out), (words, count, out))

AWT_INLINE void uniform_double_run_loop(const uint32_t* low, const uint32_t* high, int count,
                                        double* out) {
  for (int i = 0; i < count; ++i) {
    const uint64_t bits = static_cast<uint64_t>(low[i]) ^ (static_cast<uint64_t>(high[i]) << 21);
    out[i] = __builtin_fma(static_cast<double>(bits), 0x1p-53, 0x1p-54);
  }
}
AWT_VERSIONS(uniform_double_run,
             (const uint32_t* low, const uint32_t* high, int count, double* out),
             (low, high, count, out))

AWT_INLINE void normal_run_loop(const uint32_t* radius, const uint32_t* angle, int count,
                                float* sine, float* cosine) {
  for (int i = 0; i < count; ++i) {
    const float u = __builtin_fmaf(static_cast<float>(radius[i]), kTo1, kTo1 / 2);
    const float v = __builtin_fmaf(static_cast<float>(angle[i]), kTo2Pi, kTo2Pi / 2);
    const float s = __builtin_sqrtf(-2.0f * log_of(u));
    // v in (0, 2 pi] to a quarter turn and a rest in [-pi/4, pi/4].
    const int32_t quarter = static_cast<int32_t>(__builtin_fmaf(v, 0.6366197723675814f, 0.5f));
    const float k = static_cast<float>(quarter);
    float r = __builtin_fmaf(k, -1.5707963705062866f, v);
    r = __builtin_fmaf(k, 4.371139000186241e-8f, r);
    const float t = r * r;
    float p = __builtin_fmaf(-0.00019587540009524673f, t, 0.008332745172083378f);
    p = __builtin_fmaf(p, t, -0.166666641831398f);
    const float sin_r = __builtin_fmaf(p * t, r, r);
    float c = __builtin_fmaf(2.4527493224013597e-05f, t, -0.001388814183883369f);
    c = __builtin_fmaf(c, t, 0.0416666604578495f);
    const float cos_r = __builtin_fmaf(c * t, t, __builtin_fmaf(t, -0.5f, 1.0f));
    // An odd quarter swaps the two; the signs of sine and cosine are bits 1 of the quarter and of
    // the next one.
    const uint32_t swap = 0u - static_cast<uint32_t>(quarter & 1);
    const uint32_t mixed = (bits_of(sin_r) ^ bits_of(cos_r)) & swap;
    const uint32_t sine_sign = static_cast<uint32_t>(quarter & 2) << 30;
    const uint32_t cosine_sign = static_cast<uint32_t>((quarter + 1) & 2) << 30;
    sine[i] = float_of(bits_of(sin_r) ^ mixed ^ sine_sign) * s;
    cosine[i] = float_of(bits_of(cos_r) ^ mixed ^ cosine_sign) * s;
  }
}
AWT_VERSIONS(normal_run,
             (const uint32_t* radius, const uint32_t* angle, int count, float* sine, float* cosine),
             (radius, angle, count, sine, cosine))

AWT_INLINE void log_run_loop(float* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = log_of(values[i]);
}
AWT_VERSIONS(log_run, (float* values, int count), (values, count))

// sin and cos of pi * v for v in (0, 2].
void sincospi(double v, double& sine, double& cosine) {
  const double quarter = std::floor(v * 2 + 0.5);
  const double rest = (v - quarter * 0.5) * 3.141592653589793238462643383279502884;
  const double s = std::sin(rest), c = std::cos(rest);
  switch (static_cast<int>(quarter) & 3) {
    case 0:
      sine = s, cosine = c;
      break;
    case 1:
      sine = c, cosine = -s;
      break;
    case 2:
      sine = -s, cosine = -c;
      break;
    default:
      sine = -c, cosine = s;
  }
}

}  // namespace

void uniform(const uint32_t* words, int count, float* out) noexcept {
  uniform_run(words, count, out);
}

void uniform(const uint32_t* low, const uint32_t* high, int count, double* out) noexcept {
  uniform_double_run(low, high, count, out);
}

void normal(const uint32_t* radius, const uint32_t* angle, int count, float* sine,
            float* cosine) noexcept {
  normal_run(radius, angle, count, sine, cosine);
}

void normal(const Words& words, int count, double* sine, double* cosine) noexcept {
  for (int i = 0; i < count; ++i) {
    const uint64_t radius =
        static_cast<uint64_t>(words.x[i]) ^ (static_cast<uint64_t>(words.y[i]) << 21);
    const uint64_t angle =
        static_cast<uint64_t>(words.z[i]) ^ (static_cast<uint64_t>(words.w[i]) << 21);
    const double u = static_cast<double>(radius) * 0x1p-53 + 0x1p-54;
    const double v = static_cast<double>(angle) * 0x1p-52 + 0x1p-53;
    const double s = std::sqrt(-2.0 * std::log(u));
    sincospi(v, sine[i], cosine[i]);
    sine[i] *= s;
    cosine[i] *= s;
  }
}

void log(float* values, int count) noexcept { log_run(values, count); }

void Stream::refill() noexcept {
  const KeyCounter key(seed_, counter_);
  Counter c{key.words[2], key.words[3], static_cast<uint32_t>(thread_), thread_ >> 32};
  ten_rounds(key.words[0], key.words[1], c);
  words_[0] = static_cast<uint32_t>(c.c0);
  words_[1] = static_cast<uint32_t>(c.c1);
  words_[2] = static_cast<uint32_t>(c.c2);
  words_[3] = static_cast<uint32_t>(c.c3);
}

uint32_t Stream::word() noexcept {
  const uint32_t word = words_[next_];
  if (++next_ == 4) {
    next_ = 0;
    ++counter_;
    refill();
  }
  return word;
}

float Stream::uniform() noexcept {
  const uint32_t word = this->word();
  float value;
  uniform_run(&word, 1, &value);
  return value;
}

// curand_normal keeps the second value of a pair for the next call.
float Stream::normal() noexcept {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const uint32_t radius = word(), angle = word();
  float value;
  normal_run(&radius, &angle, 1, &value, &spare_);
  has_spare_ = true;
  return value;
}

double Stream::uniform_double() noexcept {
  const uint32_t low = word(), high = word();
  double value;
  uniform_double_run(&low, &high, 1, &value);
  return value;
}

}  // namespace awt::philox

#ifdef __GNUC__
#pragma GCC pop_options
#endif
