// XORWOW: 4096 subsequences, 2^67 steps apart, as NVIDIA documents the order of cuRAND's host
// interface.
#include <array>

#include "anywarp/xorwow_jumps.h"
#include "libraries/curand/lanes.h"

namespace aw::curand {
namespace {

constexpr size_t kXorwowLanes = 4096;
constexpr uint32_t kWeyl = 362437;

struct XorwowWords {
  uint32_t v[5], d;
};

// As curand_init of curand_kernel.h.
XorwowWords xorwow_seeded(uint64_t seed) {
  const uint32_t t0 = 1099087573u * (static_cast<uint32_t>(seed) ^ 0xaad26b49u);
  const uint32_t t1 = 2591861531u * (static_cast<uint32_t>(seed >> 32) ^ 0xf7dcefddu);
  return {{123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0},
          6615241u + t1 + t0};
}

// Lanes one step on, the counter apart.
AW_LANE_CLONES void xorwow_step(uint32_t* __restrict a, uint32_t* __restrict b,
                                uint32_t* __restrict c, uint32_t* __restrict d,
                                uint32_t* __restrict e, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t t = a[i] ^ (a[i] >> 2), last = e[i];
    a[i] = b[i], b[i] = c[i], c[i] = d[i], d[i] = last;
    e[i] = (last ^ (last << 4)) ^ (t ^ (t << 1));
  }
}

AW_LANE_CLONES void xorwow_words(const uint32_t* __restrict last, uint32_t* __restrict d,
                                 uint32_t* __restrict out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    d[i] += kWeyl;
    out[i] = last[i] + d[i];
  }
}

AW_LANE_CLONES void xorwow_add(uint32_t* __restrict sum, const uint32_t* __restrict v,
                               size_t count) {
  for (size_t i = 0; i < count; ++i) sum[i] ^= v[i];
}

class XorwowLanes {
 public:
  explicit XorwowLanes(size_t lanes) {
    for (auto& word : v_) word.resize(lanes);
    d_.resize(lanes);
  }
  size_t size() const { return d_.size(); }
  void put(size_t lane, const XorwowWords& words) {
    for (size_t w = 0; w < 5; ++w) v_[w][lane] = words.v[w];
    d_[lane] = words.d;
  }
  void step(size_t begin, size_t end, uint32_t* out) {
    auto at = [&](size_t w) { return v_[w].data() + begin; };
    xorwow_step(at(0), at(1), at(2), at(3), at(4), end - begin);
    xorwow_words(at(4), d_.data() + begin, out, end - begin);
  }
  // The first `count` lanes 2^power steps on, into those from `to` on, without their counters: a
  // sum of some of their next 160 states.
  void jump(unsigned power, size_t count, size_t to) {
    std::array<std::vector<uint32_t>, 5> now, sum;
    for (size_t w = 0; w < 5; ++w) {
      now[w].assign(v_[w].begin(), v_[w].begin() + static_cast<ptrdiff_t>(count));
      sum[w].assign(count, 0);
    }
    for (unsigned bit = 0; bit < 160; ++bit) {
      if (aw_xorwow_jumps[power][bit >> 5] >> (bit & 31) & 1)
        for (size_t w = 0; w < 5; ++w) xorwow_add(sum[w].data(), now[w].data(), count);
      xorwow_step(now[0].data(), now[1].data(), now[2].data(), now[3].data(), now[4].data(), count);
    }
    for (size_t w = 0; w < 5; ++w)
      std::copy(sum[w].begin(), sum[w].end(), v_[w].begin() + static_cast<ptrdiff_t>(to));
  }

  std::array<std::vector<uint32_t>, 5> v_;
  std::vector<uint32_t> d_;
};

}  // namespace

// `seeded`: CURAND_ORDERING_PSEUDO_SEEDED, a seed of its own for each lane. How NVIDIA combines it
// of seed and lane is not documented: ours is their sum.
std::unique_ptr<Source> make_xorwow(uint64_t seed, uint64_t offset, bool seeded) {
  XorwowLanes lanes(kXorwowLanes);
  const uint64_t rows = offset / kXorwowLanes;
  const size_t some = offset % kXorwowLanes;
  const size_t own = seeded ? kXorwowLanes : 1;
  for (size_t lane = 0; lane < own; ++lane) lanes.put(lane, xorwow_seeded(seed + lane));
  for (unsigned k = 0; k < 64; ++k)
    if (rows >> k & 1) lanes.jump(k, own, 0);
  if (!seeded)
    for (unsigned k = 0; size_t{1} << k < kXorwowLanes; ++k)
      lanes.jump(67 + k, size_t{1} << k, size_t{1} << k);
  for (size_t lane = 0; lane < kXorwowLanes; ++lane)
    lanes.d_[lane] = lanes.d_[seeded ? lane : 0] +
                     (seeded || lane == 0 ? kWeyl * static_cast<uint32_t>(rows) : 0);
  if (some) {
    std::vector<uint32_t> unused(some);
    lanes.step(0, some, unused.data());
  }
  return std::make_unique<Lanes<XorwowLanes>>(std::move(lanes), some);
}

}  // namespace aw::curand
