// What cuRAND makes of words: bits, uniform, normal and log-normal numbers, and counts. The
// constants of each are those of curand_kernel.h.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "libraries/curand/curand_parts.h"
#include "torch/random_philox.h"

namespace aw::curand {
namespace {

namespace philox = awt::philox;

// L'Ecuyer's norm 1 / (m1 + 1), and what stretches the residues over 32 bits.
constexpr double kResidueNorm = 2.328306549295728e-10, kResidueBits = 1.000000048662;
constexpr float kTwoPi = 6.2831855f;

uint64_t wide_word(const Columns& columns, int i) {
  return uint64_t{columns.at[1][i]} << 32 | columns.at[0][i];
}

// (0, 1] with as many bits as a double has.
double uniform_of(Grain grain, const Columns& columns, int i) {
  switch (grain) {
    case Grain::kResidue:
      return columns.at[0][i] * kResidueNorm;
    case Grain::kQuasi32:
      return columns.at[0][i] * 0x1p-32 + 0x1p-33;
    case Grain::kQuasi64:
      return static_cast<double>(wide_word(columns, i) >> 11) * 0x1p-53 + 0x1p-54;
    default: {
      const uint64_t z = columns.at[0][i] ^ (uint64_t{columns.at[1][i]} << 21);
      return static_cast<double>(z) * 0x1p-53 + 0x1p-54;
    }
  }
}

float uniform_float_of(Grain grain, const Columns& columns, int i) {
  if (grain == Grain::kResidue) return static_cast<float>(columns.at[0][i] * kResidueNorm);
  if (grain == Grain::kQuasi64)
    return static_cast<float>(wide_word(columns, i)) * 0x1p-64f + 0x1p-65f;
  return static_cast<float>(columns.at[0][i]) * 0x1p-32f + 0x1p-33f;
}

// Wichura, Algorithm AS 241 (PPND16): the normal number below which a part p of all lies, to 16
// digits.
double normal_below(double p) {
  static constexpr double kA[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                  1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                  4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                  3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double kB[] = {1.0,
                                  4.2313330701600911252e+1,
                                  6.8718700749205790830e+2,
                                  5.3941960214247511077e+3,
                                  2.1213794301586595867e+4,
                                  3.9307895800092710610e+4,
                                  2.8729085735721942674e+4,
                                  5.2264952788528545610e+3};
  static constexpr double kC[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                  5.76949722146069140550e0,  3.64784832476320460504e0,
                                  1.27045825245236838258e0,  2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kD[] = {1.0,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  static constexpr double kE[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                  1.78482653991729133580e0,  2.96560571828504891230e-1,
                                  2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kF[] = {1.0,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  auto ratio = [](const double (&above)[8], const double (&below)[8], double r) {
    double a = 0, b = 0;
    for (int i = 7; i >= 0; --i) a = a * r + above[i], b = b * r + below[i];
    return a / b;
  };
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) return q * ratio(kA, kB, 0.180625 - q * q);
  const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  const double x = r <= 5 ? ratio(kC, kD, r - 1.6) : ratio(kE, kF, r - 5);
  return q < 0 ? -x : x;
}

// The value for a uniform number of (0, 1]; what is 1 in a double counts as the largest number
// below it.
double normal_quasi(Grain grain, const Columns& columns, int i) {
  if (grain == Grain::kQuasi64) {
    // Near 1 by symmetry, where a double has no digits left.
    const uint64_t x = wide_word(columns, i);
    const bool upper = x >> 63;
    const double part = static_cast<double>(upper ? ~x : x) * 0x1p-64 + 0x1p-65;
    return upper ? -normal_below(part) : normal_below(part);
  }
  return normal_below(uniform_of(grain, columns, i));
}

int words_of(Grain grain, int plain, int residues) {
  return grain == Grain::kBits      ? plain
         : grain == Grain::kResidue ? residues
         : grain == Grain::kQuasi64 ? 2
                                    : 1;
}

bool quasi(Grain grain) { return grain == Grain::kQuasi32 || grain == Grain::kQuasi64; }

// Numbers of which two are made at a time (Box and Muller), a thousand pairs at most.
template <class Real>
void pairs(Grain grain, const Columns& columns, int count, Real* sine, Real* cosine);

template <>
void pairs<float>(Grain grain, const Columns& columns, int count, float* sine, float* cosine) {
  if (grain == Grain::kBits)
    return philox::normal(columns.at[0], columns.at[1], count, sine, cosine);
  for (int i = 0; i < count; ++i) {
    const float u = static_cast<float>(columns.at[0][i] * kResidueNorm);
    const float angle = static_cast<float>(columns.at[1][i] * kResidueNorm) * kTwoPi;
    const float radius = std::sqrt(-2.0f * std::log(u));
    sine[i] = radius * std::sin(angle), cosine[i] = radius * std::cos(angle);
  }
}

template <>
void pairs<double>(Grain grain, const Columns& columns, int count, double* sine, double* cosine) {
  if (grain == Grain::kBits) {
    philox::Words words;
    uint32_t* const to[] = {words.x, words.y, words.z, words.w};
    for (int k = 0; k < 4; ++k) std::copy_n(columns.at[k], count, to[k]);
    return philox::normal(words, count, sine, cosine);
  }
  for (int i = 0; i < count; ++i) {
    const double u = columns.at[0][i] * kResidueNorm,
                 angle = columns.at[1][i] * kResidueNorm * 6.283185307179586;
    const double radius = std::sqrt(-2.0 * std::log(u));
    sine[i] = radius * std::sin(angle), cosine[i] = radius * std::cos(angle);
  }
}

template <class Real>
Draw normal(Grain grain, Real mean, Real deviation, bool logarithmic) {
  auto finish = [mean, deviation, logarithmic](Real* out, int count) {
    if (mean != 0 || deviation != 1)
      for (int i = 0; i < count; ++i) out[i] = std::fma(out[i], deviation, mean);
    if (logarithmic)
      for (int i = 0; i < count; ++i) out[i] = std::exp(out[i]);
  };
  if (quasi(grain))
    return {words_of(grain, 0, 0), 1, sizeof(Real),
            [grain, finish](const Columns& columns, int units, void* to) {
              auto* out = static_cast<Real*>(to);
              for (int i = 0; i < units; ++i)
                out[i] = static_cast<Real>(normal_quasi(grain, columns, i));
              finish(out, units);
            }};
  return {words_of(grain, sizeof(Real) / 2, 2), 2, sizeof(Real),
          [grain, finish](const Columns& columns, int units, void* to) {
            Real sine[philox::kBatch], cosine[philox::kBatch];
            auto* out = static_cast<Real*>(to);
            for (int done = 0; done < units; done += philox::kBatch) {
              const int count = std::min(units - done, philox::kBatch);
              Columns here = columns;
              for (auto& column : here.at) column += done;
              pairs<Real>(grain, here, count, sine, cosine);
              for (int i = 0; i < count; ++i) out[2 * i] = sine[i], out[2 * i + 1] = cosine[i];
              finish(out, 2 * count);
              out += 2 * count;
            }
          }};
}

}  // namespace

Draw bits(Grain grain) {
  const int words = words_of(grain, 1, 1);
  return {words, 1, 4 * words, [grain](const Columns& columns, int units, void* to) {
            auto* out = static_cast<uint32_t*>(to);
            if (grain == Grain::kQuasi64)
              for (int i = 0; i < units; ++i)
                out[2 * i] = columns.at[0][i], out[2 * i + 1] = columns.at[1][i];
            else if (grain == Grain::kResidue)
              for (int i = 0; i < units; ++i)
                out[i] = static_cast<uint32_t>(columns.at[0][i] * kResidueBits);
            else
              std::copy_n(columns.at[0], units, out);
          }};
}

Draw uniform_float(Grain grain) {
  return {words_of(grain, 1, 1), 1, 4, [grain](const Columns& columns, int units, void* to) {
            auto* out = static_cast<float*>(to);
            if (grain == Grain::kBits || grain == Grain::kQuasi32)
              return philox::uniform(columns.at[0], units, out);
            for (int i = 0; i < units; ++i) out[i] = uniform_float_of(grain, columns, i);
          }};
}

Draw uniform_double(Grain grain) {
  return {words_of(grain, 2, 1), 1, 8, [grain](const Columns& columns, int units, void* to) {
            auto* out = static_cast<double*>(to);
            if (grain == Grain::kBits)
              return philox::uniform(columns.at[0], columns.at[1], units, out);
            for (int i = 0; i < units; ++i) out[i] = uniform_of(grain, columns, i);
          }};
}

Draw normal_float(Grain grain, float mean, float deviation, bool logarithmic) {
  return normal<float>(grain, mean, deviation, logarithmic);
}

Draw normal_double(Grain grain, double mean, double deviation, bool logarithmic) {
  return normal<double>(grain, mean, deviation, logarithmic);
}

Draw counts(Grain grain, std::shared_ptr<const Counts> distribution) {
  return {words_of(grain, 2, 1), 1, 4,
          [grain, distribution](const Columns& columns, int units, void* to) {
            auto* out = static_cast<uint32_t*>(to);
            for (int i = 0; i < units; ++i) out[i] = (*distribution)(uniform_of(grain, columns, i));
          }};
}

Counts::Counts(uint32_t least, uint32_t mode, uint32_t last,
               const std::function<double(double)>& ratio) {
  // Relative to the mode's probability, until nothing more is seen in a double.
  std::vector<double> below, above{1.0};
  for (uint32_t k = mode; k > least && (below.empty() || below.back() > 1e-20); --k)
    below.push_back((below.empty() ? 1.0 : below.back()) / ratio(k - 1));
  for (uint32_t k = mode; k < last && above.back() > 1e-20; ++k)
    above.push_back(above.back() * ratio(k));
  first_ = mode - static_cast<uint32_t>(below.size());
  std::reverse(below.begin(), below.end());
  sums_ = std::move(below);
  sums_.insert(sums_.end(), above.begin(), above.end());
  long double sum = 0;
  std::vector<long double> running(sums_.size());
  for (size_t i = 0; i < sums_.size(); ++i) running[i] = sum += sums_[i];
  for (size_t i = 0; i < sums_.size(); ++i) sums_[i] = static_cast<double>(running[i] / sum);
  sums_.back() = 1;
  guide_.resize(sums_.size() + 1);
  size_t k = 0;
  for (size_t i = 0; i < guide_.size(); ++i) {
    while (sums_[k] < static_cast<double>(i) / static_cast<double>(guide_.size() - 1)) ++k;
    guide_[i] = static_cast<uint32_t>(k);
  }
}

std::shared_ptr<const Counts> Counts::poisson(double lambda) {
  return std::shared_ptr<const Counts>(new Counts(0, static_cast<uint32_t>(lambda), ~0u,
                                                  [lambda](double k) { return lambda / (k + 1); }));
}

std::shared_ptr<const Counts> Counts::binomial(unsigned n, double p) {
  const unsigned only = p == 1 ? n : 0;
  if (p == 0 || p == 1 || n == 0)
    return std::shared_ptr<const Counts>(new Counts(only, only, only, nullptr));
  const auto mode = static_cast<uint32_t>(std::min<double>(n, std::floor((n + 1.0) * p)));
  return std::shared_ptr<const Counts>(
      new Counts(0, mode, n, [n, p](double k) { return (n - k) / (k + 1) * (p / (1 - p)); }));
}

}  // namespace aw::curand
