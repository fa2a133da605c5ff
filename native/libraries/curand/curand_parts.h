// What the parts of cuRAND share: sources of words, and what numbers are made of them.
#pragma once

#include <curand.h>

#include <functional>
#include <memory>
#include <vector>

#include "libraries/api.h"
#include "libraries/work.h"

namespace aw::curand {

using lib::require;
using lib::unsupported;

// What a source's words are.
enum class Grain {
  kBits,     // 32 random bits
  kResidue,  // 1 to 4294967087 (MRG32k3a)
  kQuasi32,  // one coordinate
  kQuasi64,  // one coordinate: lower half, upper half
};

// Words of many units, those of each place together.
struct Columns {
  const uint32_t* at[4];
};

// How numbers are made: `words` words of one source become `values` numbers of so many bytes.
struct Draw {
  int words, values, bytes;
  std::function<void(const Columns&, int units, void* out)> make;
};

// Poisson's or a binomial distribution as the sums of its probabilities, to be inverted.
class Counts {
 public:
  static std::shared_ptr<const Counts> poisson(double lambda);
  static std::shared_ptr<const Counts> binomial(unsigned n, double p);
  // The smallest number whose sum is not below u, of (0, 1].
  uint32_t operator()(double u) const {
    size_t k = guide_[static_cast<size_t>(u * static_cast<double>(guide_.size() - 1))];
    while (sums_[k] < u) ++k;
    return first_ + static_cast<uint32_t>(k);
  }
  uint32_t first() const { return first_; }
  const std::vector<double>& sums() const { return sums_; }

 private:
  // Of `least` to `last`, from the probability of `mode`: ratio(k) is that of k + 1 to that of k.
  Counts(uint32_t least, uint32_t mode, uint32_t last, const std::function<double(double)>& ratio);
  uint32_t first_ = 0;
  std::vector<double> sums_;
  std::vector<uint32_t> guide_;
};

Draw bits(Grain grain);
Draw uniform_float(Grain grain);
Draw uniform_double(Grain grain);
Draw normal_float(Grain grain, float mean, float deviation, bool logarithmic);
Draw normal_double(Grain grain, double mean, double deviation, bool logarithmic);
Draw counts(Grain grain, std::shared_ptr<const Counts> distribution);

// The state of a generator, which the work of streams moves on.
class Source {
 public:
  virtual ~Source() = default;
  // Makes units * draw.values numbers; `threads`: with those of the pool, inside of work.
  virtual void draw(const Draw& draw, uint64_t units, char* out, bool threads) = 0;
};

// body(i) for i < count.
template <class Body>
void each(bool threads, uint64_t count, const Body& body) {
  if (threads && count > 1) return lib::parallel(count, body);
  for (uint64_t i = 0; i < count; ++i) body(i);
}

std::unique_ptr<Source> make_xorwow(uint64_t seed, uint64_t offset, bool seeded);
std::unique_ptr<Source> make_mrg32k3a(uint64_t seed, uint64_t offset, size_t lanes);
std::unique_ptr<Source> make_philox(uint64_t seed, uint64_t offset);
std::unique_ptr<Source> make_mtgp32(uint64_t seed, size_t sequences);
std::unique_ptr<Source> make_mt19937(uint64_t seed);
std::unique_ptr<Source> make_sobol(unsigned bits, unsigned dimensions, uint64_t offset);

// Direction vectors of Joe and Kuo for all dimensions, made once: 20,000 times 32 or 64.
constexpr unsigned kDimensions = 20000;
const std::vector<uint32_t>& directions32();
const std::vector<uint64_t>& directions64();

}  // namespace aw::curand
