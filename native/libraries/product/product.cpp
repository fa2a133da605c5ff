// Blocks of D, each computed by one thread from first to last.
#include "libraries/product/product.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <new>
#include <string_view>

#include "core/native_work.h"
#include "core/own_functions.h"
#include "libraries/product/kernels.h"

namespace aw::product {
namespace {

// Rows and columns of a block at most. Each block packs both factors for itself, so larger ones
// pack less; on Zen 4 this beat 384 x 480, whose sums fit into the second cache as well.
constexpr int64_t kMostRows = 576, kMostColumns = 576;

// Multiplications that are worth another thread.
constexpr double kWorthwhile = 200000;

int64_t rounded(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

const Kernels& choose() {
  const char* asked = getenv("ANYWARP_PRODUCT");
  std::string_view less = asked ? asked : "";
#ifdef __x86_64__
  bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  bool bf16 = wide && __builtin_cpu_supports("avx512bf16") && less != "avx512";
  bool vnni = wide && __builtin_cpu_supports("avx512vnni") && less != "avx512";
  bool two = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (less != "avx2" && less != "portable") {
    const Kernels* tiles = bf16 && vnni && less != "avx512_bf16" ? amx() : nullptr;
    if (tiles) return *tiles;
    if (wide) return avx512(bf16, vnni);
  }
  if (two && less != "portable") return avx2();
#endif
  return portable_kernels();
}

// Memory of a thread that it keeps.
struct Scratch {
  struct Free {
    void operator()(void* it) const { free(it); }
  };
  std::unique_ptr<void, Free> memory;
  size_t bytes = 0;

  void* room(size_t wanted) {
    if (wanted > bytes) {
      memory.reset(), bytes = 0;
      memory.reset(aligned_alloc(64, rounded(wanted, 64)));
      if (memory) bytes = wanted;
    }
    return memory.get();
  }
};

// A block of D.
struct Place {
  int64_t item, row, column, m = 0, n = 0;
};

struct Sums {
  uint32_t* values = nullptr;  // column after column, `ld` apart; null where there is no memory
  int64_t ld = 0;
  int32_t* corrections = nullptr;
};

struct Plan {
  const Product& wanted;
  const Way& way;
  int64_t k;                        // 0 where alpha is
  int64_t rows, columns;            // of a block
  int64_t down, blocks;             // blocks of a column of them, of an item
  int64_t total = 0, together = 1;  // blocks, and how many of them one thread takes at once
  std::atomic<uint32_t> d_amax{0}, aux_amax{0};

  Plan(const Product& p);
  void block(int64_t number);
  void part_of(uint64_t number) {
    const int64_t first = static_cast<int64_t>(number) * together;
    for (int64_t i = first; i < std::min(first + together, total); ++i) block(i);
  }
  Sums sums_of(const Place& at, const Way& by, Scratch& scratch) const;
  bool replace_not_finite(const Place& at, const Sums& sums, Scratch& scratch) const;
  Block part(const Factor& factor, int64_t item, int64_t outer, int64_t count, int64_t k0,
             int64_t deep, bool of_a) const;
};

const Way& way_of(const Product& p) {
  const Type a = p.a.type, b = p.b.type;
  const Kernels& with = kernels();
  auto fits_bf16 = [](Type type) {
    return type == Type::bf16 || type == Type::e4m3 || type == Type::e5m2;
  };
  if (fits_bf16(a) && fits_bf16(b)) return with.bf16;
  // Sums that could leave s32 are taken in f32 where whole numbers are not what is asked for.
  if (a == Type::s8 && b == Type::s8 && (p.integer || p.k <= 1 << 16)) return with.s8;
  if (a == Type::f16 && b == Type::f16) return with.f16;
  return with.f32;
}

Plan::Plan(const Product& p) : wanted(p), way(way_of(p)) {
  k = p.alpha == 0 && !p.alpha_rows ? 0 : p.k;
  auto even = [](int64_t size, int64_t most, int64_t unit) {
    const int64_t parts = (size + most - 1) / most;
    return rounded((size + parts - 1) / parts, unit);
  };
  rows = even(p.m, kMostRows, way.rows), columns = even(p.n, kMostColumns, way.columns);
  auto count = [&] {
    return ((p.m + rows - 1) / rows) * ((p.n + columns - 1) / columns) * p.batch;
  };
  const int64_t enough = anywarp_threads() > 1 ? 2 * anywarp_threads() : 1;
  while (count() < enough && std::max(rows, columns) > 96) {
    int64_t& larger = rows >= columns ? rows : columns;
    larger = rounded(larger / 2, &larger == &rows ? way.rows : way.columns);
  }
  down = (p.m + rows - 1) / rows;
  blocks = down * ((p.n + columns - 1) / columns);
}

Block Plan::part(const Factor& f, int64_t item, int64_t outer, int64_t count, int64_t k0,
                 int64_t deep, bool of_a) const {
  const int64_t bytes = bytes_of(f.type);
  Block out = {};
  out.along_k = f.transposed == of_a;
  auto* base = f.array ? static_cast<const uint8_t* const*>(f.data)[item]
                       : static_cast<const uint8_t*>(f.data) + item * f.stride * bytes;
  out.data = base + bytes * (out.along_k ? k0 + outer * f.ld : outer + k0 * f.ld);
  out.type = f.type, out.rounding = f.rounding, out.of_a = of_a;
  out.ld = f.ld * bytes, out.outer = count, out.k = deep;
  return out;
}

Sums Plan::sums_of(const Place& at, const Way& by, Scratch& scratch) const {
  const int64_t height = rounded(at.m, by.rows), width = rounded(at.n, by.columns);
  const int64_t all = rounded((k + by.depth - 1) / by.depth, by.step);
  const int64_t most = std::min(by.units, all);
  // A panel's last vector may be written whole. Columns of sums begin in other sets of the cache.
  constexpr int64_t kVector = 16;
  const int64_t ld = height + kVector;
  const size_t a_size = height * most + kVector, b_size = width * most + kVector,
               c_size = width * ld;
  auto* a = static_cast<uint32_t*>(scratch.room((a_size + b_size + c_size + width + 48) * 4));
  if (!a) {
    anywarp_fail(2, "product of matrices: no memory for its blocks");
    return {};
  }
  auto* b = a + rounded(a_size, 16);
  auto* sums = b + rounded(b_size, 16);
  auto* corrections = reinterpret_cast<int32_t*>(sums + rounded(c_size, 16));
  memset(corrections, 0, width * 4);
  if (k == 0) memset(sums, 0, c_size * 4);
  for (int64_t k0 = 0; k0 < k; k0 += by.units * by.depth) {
    const int64_t deep = std::min(by.units * by.depth, k - k0);
    const int64_t units = rounded((deep + by.depth - 1) / by.depth, by.step);
    by.pack(part(wanted.a, at.item, at.row, at.m, k0, deep, true), a);
    by.pack(part(wanted.b, at.item, at.column, at.n, k0, deep, false), b);
    by.multiply({a, b, at.m, at.n, units, sums, ld, corrections, k0 > 0});
  }
  return {sums, ld, corrections};
}

// Where the factors of some sums are not finite, these are what the way for all factors makes.
bool Plan::replace_not_finite(const Place& at, const Sums& sums, Scratch& scratch) const {
  Sums others = {};
  for (int64_t j = 0; j < at.n; ++j) {
    auto* column = reinterpret_cast<float*>(sums.values + j * sums.ld);
    if (way.finite(column, at.m)) continue;
    if (!others.values) others = sums_of(at, kernels().f32, scratch);
    if (!others.values) return false;
    auto* other = reinterpret_cast<const float*>(others.values + j * others.ld);
    for (int64_t i = 0; i < at.m; ++i)
      if (!std::isfinite(column[i])) column[i] = other[i];
  }
  return true;
}

void Plan::block(int64_t number) {
  const int64_t of_item = number % blocks;
  Place at = {number / blocks, of_item % down * rows, of_item / down * columns};
  at.m = std::min(rows, wanted.m - at.row), at.n = std::min(columns, wanted.n - at.column);
  static thread_local Scratch scratch, other;
  const Sums sums = sums_of(at, way, scratch);
  if (!sums.values || (way.finite && !replace_not_finite(at, sums, other))) return;
  float largest[2] = {};
  Segment segment = {&wanted, at.item,   at.row, 0,           at.m,
                     nullptr, way.whole, 0,      &largest[0], &largest[1]};
  for (int64_t j = 0; j < at.n; ++j) {
    segment.column = at.column + j, segment.sums = sums.values + j * sums.ld,
    segment.correction = sums.corrections[j];
    kernels().finish(segment);
  }
  auto raise = [](std::atomic<uint32_t>& most_yet, float value) {
    const auto bits = __builtin_bit_cast(uint32_t, value);
    uint32_t before = most_yet.load();
    while (bits > before && !most_yet.compare_exchange_weak(before, bits)) {
    }
  };
  raise(d_amax, largest[0]), raise(aux_amax, largest[1]);
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

void product(const Product& wanted) {
  if (wanted.d_amax) *wanted.d_amax = 0;
  if (wanted.aux_amax) *wanted.aux_amax = 0;
  if (wanted.m <= 0 || wanted.n <= 0 || wanted.batch <= 0) return;
  Plan plan(wanted);
  // Small ones of a batch are done several at a time: it takes about a microsecond to hand one out.
  const double work =
      static_cast<double>(plan.rows) * plan.columns * static_cast<double>(plan.k + 16);
  plan.together = work < kWorthwhile ? static_cast<int64_t>(kWorthwhile / work) + 1 : 1;
  plan.total = plan.blocks * wanted.batch;
  const auto count = static_cast<uint64_t>((plan.total + plan.together - 1) / plan.together);
  if (count == 1) {
    plan.part_of(0);
  } else {
    anywarp_parallel(
        count, [](void* it, uint64_t number) { static_cast<Plan*>(it)->part_of(number); }, &plan);
  }
  if (wanted.d_amax) *wanted.d_amax = __builtin_bit_cast(float, plan.d_amax.load());
  if (wanted.aux_amax) *wanted.aux_amax = __builtin_bit_cast(float, plan.aux_amax.load());
}

void to_f32(Type type, const void* from, float* to, int64_t count) {
  kernels().to_f32(type, from, to, count);
}
void from_f32(Type type, const float* from, void* to, int64_t count) {
  kernels().from_f32(type, from, to, count);
}

}  // namespace aw::product
