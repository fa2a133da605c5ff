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

// Multiplications that are worth another thread.
constexpr double kWorthwhile = 200000;
// How many rows or columns are done at once where the others are few, and how many units of them.
constexpr int64_t kLong = 512, kDeep = 512;
// Units of rows that are packed at once where columns are not many: what the first cache holds.
constexpr int64_t kNear = 128;

int64_t rounded(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

const Kernels& choose() {
  const char* asked = getenv("ANYWARP_PRODUCT");
  std::string_view less = asked ? asked : "";
#ifdef __x86_64__
  bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  bool vnni = wide && __builtin_cpu_supports("avx512vnni") && less != "avx512";
  bool bf16 = wide && __builtin_cpu_supports("avx512bf16") && less != "avx512";
  // On Intel's, two multiply-adds are done in half the time of VDPBF16PS (Emerald Rapids).
  bool pairs = bf16 && (less == "avx512_bf16" || !__builtin_cpu_is("intel"));
  bool two = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (wide && less != "avx2" && less != "portable") {
    const Kernels& vectors = avx512(pairs, vnni);
    const Kernels* tiles = bf16 && vnni && less != "avx512_bf16" ? amx(vectors) : nullptr;
    return tiles ? *tiles : vectors;
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
  Few few = nullptr;                // where one side of D is short: for the long factor as it lies
  bool turned = false;              // B is the long one
  bool narrow = false;              // columns are not many, rows are
  int64_t total = 0, together = 1;  // blocks, and how many of them one thread takes at once
  std::atomic<uint32_t> d_amax{0}, aux_amax{0};

  Plan(const Product& p);
  void block(int64_t number);
  void part_of(uint64_t number) {
    const int64_t first = static_cast<int64_t>(number) * together;
    for (int64_t i = first; i < std::min(first + together, total); ++i) block(i);
  }
  bool choose_few();
  template <class Done>
  bool compute(const Way& by, const Place& at, Scratch& scratch, const Done& done) const;
  template <class Done>
  bool compute_few(const Place& at, Scratch& scratch, const Done& done) const;
  template <class Done>
  bool compute_narrow(const Place& at, Scratch& scratch, const Done& done) const;
  bool replace_not_finite(const Place& at, const Sums& sums) const;
  void finish(const Place& at, const Sums& sums, float (&largest)[2]) const;
  bool along_k(const Factor& factor) const { return factor.transposed == (&factor == &wanted.a); }
  Block part(const Factor& factor, int64_t item, int64_t outer, int64_t count, int64_t k0,
             int64_t deep, bool of_a) const;
};

void correct(const Way& by, const uint32_t* packed, int64_t n, int64_t units,
             int32_t* corrections) {
  if (!by.correct) return;
  for (int64_t j = 0; j < n; j += by.columns)
    by.correct(packed + j * units, units, corrections + j);
}

const Way& way_of(const Product& p, const Kernels& with) {
  const Type a = p.a.type, b = p.b.type;
  auto fits_bf16 = [](Type type) {
    return type == Type::bf16 || type == Type::e4m3 || type == Type::e5m2;
  };
  if (fits_bf16(a) && fits_bf16(b)) return with.bf16;
  // Sums that could leave s32 are taken in f32 where whole numbers are not what is asked for.
  if (a == Type::s8 && b == Type::s8 && (p.integer || p.k <= 1 << 16)) return with.s8;
  if (a == Type::f16 && b == Type::f16) return with.f16;
  return with.f32;
}

// By types and k alone: bits must not depend on m and n.
const Way& way_of(const Product& p) {
  const Kernels& with = kernels();
  const Way& way = way_of(p, with);
  return with.shallow && p.k < way.depth * way.step ? way_of(p, *with.shallow) : way;
}

Plan::Plan(const Product& p) : wanted(p), way(way_of(p)) {
  k = p.alpha == 0 && !p.alpha_rows ? 0 : p.k;
  auto even = [](int64_t size, int64_t most, int64_t unit) {
    const int64_t parts = (size + most - 1) / most;
    return rounded((size + parts - 1) / parts, unit);
  };
  rows = even(p.m, way.most.rows, way.rows), columns = even(p.n, way.most.columns, way.columns);
  if (choose_few()) {
    (turned ? columns : rows) = even(turned ? p.n : p.m, kLong, 64);
    (turned ? rows : columns) = turned ? p.m : p.n;
  }
  narrow = !few && way.few && p.n <= kNarrow && p.n < p.m && k > 0;
  auto count = [&] {
    return ((p.m + rows - 1) / rows) * ((p.n + columns - 1) / columns) * p.batch;
  };
  const int64_t enough = anywarp_threads() > 1 ? 2 * anywarp_threads() : 1;
  while (count() < enough && std::max(rows, columns) > 96) {
    int64_t& larger = rows >= columns ? rows : columns;
    larger = rounded(larger / 2, few ? 64 : &larger == &rows ? way.rows : way.columns);
  }
  down = (p.m + rows - 1) / rows;
  blocks = down * ((p.n + columns - 1) / columns);
}

// Each number of the long factor is used a few times only: packing it first would take longest.
bool Plan::choose_few() {
  if (!way.few || k == 0 || std::min<int64_t>(wanted.m, wanted.n) > kFew) return false;
  turned = wanted.m < wanted.n;
  const Factor& of = turned ? wanted.b : wanted.a;
  few = way.few(of.type, of.rounding, along_k(of), turned ? wanted.m : wanted.n);
  return few != nullptr;
}

Block Plan::part(const Factor& f, int64_t item, int64_t outer, int64_t count, int64_t k0,
                 int64_t deep, bool of_a) const {
  const int64_t bytes = bytes_of(f.type);
  Block out = {};
  out.along_k = along_k(f);
  auto* base = f.array ? static_cast<const uint8_t* const*>(f.data)[item]
                       : static_cast<const uint8_t*>(f.data) + item * f.stride * bytes;
  out.data = base + bytes * (out.along_k ? k0 + outer * f.ld : outer + k0 * f.ld);
  out.type = f.type, out.rounding = f.rounding, out.of_a = of_a;
  out.ld = f.ld * bytes, out.outer = count, out.k = deep;
  return out;
}

// done(place, sums) for each group of columns of a block, as soon as its sums are whole. False
// where there is no memory, which is the context's error.
template <class Done>
bool Plan::compute(const Way& by, const Place& at, Scratch& scratch, const Done& done) const {
  auto units_of = [&](int64_t deep) { return rounded((deep + by.depth - 1) / by.depth, by.step); };
  const int64_t height = rounded(at.m, by.rows), all = units_of(k);
  const int64_t deep = std::min(by.most.deep, all), units = std::min(by.most.units, all);
  const int64_t group = rounded(std::min(by.most.group / height, at.n), by.columns);
  // Sums of all groups are kept where the rows of A are packed in several turns.
  const int64_t kept = all > deep ? rounded(at.n, group) : group;
  // A panel's last vector may be written whole. Columns of sums begin in other sets of the cache.
  constexpr int64_t kVector = 16;
  const int64_t ld = height + kVector;
  const int64_t a_size = height * deep + kVector, b_size = rounded(group * units + kVector, 16),
                c_size = kept * ld;
  auto* a = static_cast<uint32_t*>(scratch.room((a_size + b_size + c_size + kept) * 4));
  if (!a) {
    anywarp_fail(2, "product of matrices: no memory for its blocks");
    return false;
  }
  auto* b = a + a_size;
  auto* sums = b + b_size;
  auto* corrections = reinterpret_cast<int32_t*>(sums + c_size);
  int64_t k0 = 0;
  do {
    const int64_t end = std::min(k, k0 + deep * by.depth), step = units * by.depth;
    auto* packed = a;
    for (int64_t k1 = k0; k1 < end; k1 += step, packed += height * units)
      by.pack(part(wanted.a, at.item, at.row, at.m, k1, std::min(step, end - k1), true), packed);
    for (int64_t j = 0; j < at.n; j += group) {
      const int64_t n = std::min(group, at.n - j), place = kept > group ? j : 0;
      const Sums these = {sums + place * ld, ld, corrections + place};
      if (k0 == 0) memset(these.corrections, 0, group * 4);
      if (k == 0) memset(these.values, 0, n * ld * 4);
      packed = a;
      for (int64_t k1 = k0; k1 < end; k1 += step, packed += height * units) {
        const int64_t some = std::min(step, end - k1);
        by.pack(part(wanted.b, at.item, at.column + j, n, k1, some, false), b);
        by.multiply({packed, b, at.m, n, units_of(some), these.values, ld, k1 > 0});
        correct(by, b, n, units_of(some), these.corrections);
      }
      if (end == k) done(Place{at.item, at.row, at.column + j, at.m, n}, these);
    }
    k0 = end;
  } while (k0 < k);
  return true;
}

// As compute(), for a block with a side of few. Lines are rows of A, or columns of B.
template <class Done>
bool Plan::compute_few(const Place& at, Scratch& scratch, const Done& done) const {
  const Factor &of = turned ? wanted.b : wanted.a, &other = turned ? wanted.a : wanted.b;
  const int64_t lines = turned ? at.n : at.m, first = turned ? at.column : at.row;
  const int64_t count = turned ? at.m : at.n, place = turned ? at.row : at.column;
  // Lines across k are runs that lie far apart: no more of them at a time than a processor sees
  // going on by itself.
  const int64_t deep = along_k(of) ? kDeep * way.depth : 16;
  constexpr int64_t kVector = 16;
  const int64_t ld = rounded(lines, kVector) + kVector, panel_size = kDeep * way.columns + kVector;
  const int64_t sums_size = ld * kFew, turned_size = turned ? lines * (count + kVector) : 0;
  auto* panel = static_cast<uint32_t*>(
      scratch.room((panel_size + sums_size + turned_size + kVector + lines) * 4));
  if (!panel) {
    anywarp_fail(2, "product of matrices: no memory for its blocks");
    return false;
  }
  auto *sums = panel + panel_size, *across = sums + sums_size;
  auto* corrections = reinterpret_cast<int32_t*>(across + turned_size);
  memset(corrections, 0, (kVector + lines) * 4);
  for (int64_t k0 = 0; k0 < k; k0 += deep) {
    const int64_t some = std::min(deep, k - k0);
    way.pack(part(other, at.item, place, count, k0, some, false), panel);
    if (way.correct) way.correct(panel, (some + way.depth - 1) / way.depth, corrections);
    few(part(of, at.item, first, lines, k0, some, true), panel, sums, ld, k0 > 0);
  }
  if (!turned) {
    done(at, Sums{sums, ld, corrections});
    return true;
  }
  const int64_t height = count + kVector;  // whole vectors are read of each column
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < lines; ++j)
      across[j * height + i] = sums[i * ld + j] - static_cast<uint32_t>(corrections[i]);
  memset(corrections, 0, (kVector + lines) * 4);
  done(at, Sums{across, height, corrections});
  return true;
}

Ahead ahead_of(const Block& block, int64_t each) {
  const int64_t runs = block.along_k ? block.outer : block.k;
  const int64_t bytes = (block.along_k ? block.k : block.outer) * bytes_of(block.type);
  return {block.data, block.ld, (bytes + 63) / 64, runs, each};
}

// As compute(), for a few panels of columns: rows are packed a panel at a time, into the first
// cache, and multiplied from there.
template <class Done>
bool Plan::compute_narrow(const Place& at, Scratch& scratch, const Done& done) const {
  constexpr int64_t kVector = 16;
  const int64_t across = rounded(at.n, way.columns), height = rounded(at.m, way.rows);
  const int64_t ld = height + kVector;
  const int64_t a_size = way.rows * kNear + kVector, b_size = across * kDeep + kVector;
  auto* a = static_cast<uint32_t*>(scratch.room((a_size + b_size + across * (ld + 1)) * 4));
  if (!a) {
    anywarp_fail(2, "product of matrices: no memory for its blocks");
    return false;
  }
  auto *b = a + a_size, *sums = b + b_size;
  auto* corrections = reinterpret_cast<int32_t*>(sums + across * ld);
  memset(corrections, 0, across * 4);
  const int64_t deep = kDeep * way.depth, step = kNear * way.depth;
  for (int64_t k0 = 0; k0 < k; k0 += deep) {
    const int64_t end = std::min(k, k0 + deep);
    auto each = [&](const auto& body) {
      auto* columns = b;
      for (int64_t k1 = k0; k1 < end; k1 += step, columns += across * kNear)
        body(k1, std::min(step, end - k1), columns);
    };
    each([&](int64_t k1, int64_t some, uint32_t* columns) {
      way.pack(part(wanted.b, at.item, at.column, at.n, k1, some, false), columns);
      correct(way, columns, at.n, (some + way.depth - 1) / way.depth, corrections);
    });
    for (int64_t i = 0; i < at.m; i += way.rows) {
      const int64_t m = std::min<int64_t>(way.rows, at.m - i);
      each([&](int64_t k1, int64_t some, const uint32_t* columns) {
        const int64_t units = (some + way.depth - 1) / way.depth;
        way.pack(part(wanted.a, at.item, at.row + i, m, k1, some, true), a);
        // What is packed next: deeper in these rows, or the next rows.
        const bool deeper = k1 + some < end;
        const int64_t next = deeper ? i : i + way.rows;
        Ahead ahead = {};
        if (next < at.m)
          ahead = ahead_of(part(wanted.a, at.item, at.row + next, way.rows, deeper ? k1 + some : k0,
                                std::min(step, k), true),
                           at.n > way.columns ? 1 : 2);
        way.multiply({a, columns, m, at.n, units, sums + i, ld, k1 > 0, ahead});
      });
    }
  }
  done(at, Sums{sums, ld, corrections});
  return true;
}

// Sums that are not finite become what the way for all factors makes of them.
bool Plan::replace_not_finite(const Place& at, const Sums& sums) const {
  auto column = [&](const Sums& of, int64_t j) {
    return reinterpret_cast<float*>(of.values + j * of.ld);
  };
  bool finite = true;
  for (int64_t j = 0; finite && j < at.n; ++j) finite = way.finite(column(sums, j), at.m);
  if (finite) return true;
  static thread_local Scratch scratch;
  return compute(kernels().f32, at, scratch, [&](const Place& some, const Sums& others) {
    for (int64_t j = 0; j < some.n; ++j) {
      float *to = column(sums, some.column - at.column + j), *from = column(others, j);
      for (int64_t i = 0; i < at.m; ++i)
        if (!std::isfinite(to[i])) to[i] = from[i];
    }
  });
}

void Plan::finish(const Place& at, const Sums& sums, float (&largest)[2]) const {
  Segment segment = {&wanted, at.item,   at.row, 0,           at.m,
                     nullptr, way.whole, 0,      &largest[0], &largest[1]};
  for (int64_t j = 0; j < at.n; ++j) {
    segment.column = at.column + j, segment.sums = sums.values + j * sums.ld,
    segment.correction = sums.corrections[j];
    kernels().finish(segment);
  }
}

void Plan::block(int64_t number) {
  const int64_t of_item = number % blocks;
  Place at = {number / blocks, of_item % down * rows, of_item / down * columns};
  at.m = std::min(rows, wanted.m - at.row), at.n = std::min(columns, wanted.n - at.column);
  static thread_local Scratch scratch;
  float largest[2] = {};
  auto done = [&](const Place& some, const Sums& sums) {
    if (!way.finite || replace_not_finite(some, sums)) finish(some, sums, largest);
  };
  if (few)
    compute_few(at, scratch, done);
  else if (narrow)
    compute_narrow(at, scratch, done);
  else
    compute(way, at, scratch, done);
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
