// MRG32k3a (L'Ecuyer, Good parameters and implementations for combined multiple recursive random
// number generators, 1999): subsequences 2^76 steps apart, as NVIDIA documents the order of
// cuRAND's host interface.
#include <array>

#include "libraries/curand/lanes.h"

namespace aw::curand {
namespace {

constexpr uint64_t kM1 = 4294967087u, kM2 = 4294944443u;
constexpr uint64_t kA12 = 1403580, kA13 = 810728, kA21 = 527612,
                   kA23 = 1370589;  // A13 and A23 are subtracted

using Matrix = std::array<std::array<uint64_t, 3>, 3>;
using Vector = std::array<uint64_t, 3>;

Matrix product(const Matrix& a, const Matrix& b, uint64_t m) {
  Matrix out{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) out[i][j] = (out[i][j] + a[i][k] * b[k][j] % m) % m;
  return out;
}

Vector applied(const Matrix& a, const Vector& v, uint64_t m) {
  Vector out{};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) out[i] = (out[i] + a[i][k] * v[k] % m) % m;
  return out;
}

Matrix power_of_two(Matrix a, unsigned exponent, uint64_t m) {
  while (exponent--) a = product(a, a, m);
  return a;
}

Matrix power(Matrix a, uint64_t exponent, uint64_t m) {
  Matrix out{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (; exponent; exponent >>= 1, a = product(a, a, m))
    if (exponent & 1) out = product(out, a, m);
  return out;
}

constexpr double kA12d = kA12, kA13d = kA13, kA21d = kA21, kA23d = kA23;

// x mod Modulus for a whole x of at most 53 bits: to the nearest multiple, then up. Exact, fused or
// not.
template <uint64_t Modulus>
__attribute__((always_inline)) inline double reduced(double x) {
  constexpr double kModulus = static_cast<double>(Modulus), kToWhole = 0x1.8p52;
  const double rest = x - (x * (1 / kModulus) + kToWhole - kToWhole) * kModulus;
  return rest < 0 ? rest + kModulus : rest;
}

// In doubles, as L'Ecuyer has it: vectors of them are multiplied by one instruction.
AW_LANE_CLONES void mrg_step(double* __restrict a, double* __restrict b, double* __restrict c,
                             double* __restrict d, double* __restrict e, double* __restrict f,
                             size_t count, uint32_t* __restrict out) {
  for (size_t i = 0; i < count; ++i) {
    const double p = reduced<kM1>(kA12d * b[i] - kA13d * a[i]);
    const double q = reduced<kM2>(kA21d * f[i] - kA23d * d[i]);
    a[i] = b[i], b[i] = c[i], c[i] = p;
    d[i] = e[i], e[i] = f[i], f[i] = q;
    const double z = p > q ? p - q : p - q + static_cast<double>(kM1);
    out[i] = static_cast<uint32_t>(static_cast<int32_t>(z - 0x1p31)) ^ 0x80000000u;
  }
}

class MrgLanes {
 public:
  explicit MrgLanes(size_t lanes) {
    for (auto& s : s_) s.resize(lanes);
  }
  size_t size() const { return s_[0].size(); }
  void put(size_t lane, const Vector& first, const Vector& second) {
    for (size_t k = 0; k < 3; ++k) {
      s_[k][lane] = static_cast<double>(first[k]);
      s_[k + 3][lane] = static_cast<double>(second[k]);
    }
  }
  void step(size_t begin, size_t end, uint32_t* out) {
    auto at = [&](size_t k) { return s_[k].data() + begin; };
    mrg_step(at(0), at(1), at(2), at(3), at(4), at(5), end - begin, out);
  }

 private:
  std::array<std::vector<double>, 6> s_;
};

}  // namespace

std::unique_ptr<Source> make_mrg32k3a(uint64_t seed, uint64_t offset, size_t lanes) {
  const Matrix a1{{{0, 1, 0}, {0, 0, 1}, {kM1 - kA13, kA12, 0}}},
      a2{{{0, 1, 0}, {0, 0, 1}, {kM2 - kA23, 0, kA21}}};
  Vector first{12345, 12345, 12345}, second = first;
  if (seed) {
    const uint64_t x = static_cast<uint32_t>(seed) ^ 0x55555555u,
                   y = static_cast<uint32_t>(seed >> 32) ^ 0xaaaaaaaau;
    first = {x * 12345 % kM1, y * 12345 % kM1, x * 12345 % kM1};
    second = {y * 12345 % kM2, x * 12345 % kM2, y * 12345 % kM2};
  }
  first = applied(power(a1, offset / lanes, kM1), first, kM1);
  second = applied(power(a2, offset / lanes, kM2), second, kM2);
  const Matrix j1 = power_of_two(a1, 76, kM1), j2 = power_of_two(a2, 76, kM2);
  MrgLanes state(lanes);
  for (size_t lane = 0; lane < lanes; ++lane) {
    state.put(lane, first, second);
    first = applied(j1, first, kM1), second = applied(j2, second, kM2);
  }
  const size_t some = offset % lanes;
  if (some) {
    std::vector<uint32_t> unused(some);
    state.step(0, some, unused.data());
  }
  return std::make_unique<Lanes<MrgLanes>>(std::move(state), some);
}

}  // namespace aw::curand
