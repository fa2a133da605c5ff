// The product on x86-64 with AMX: tiles of 16 rows of 16 units, and what multiplies two of them.
// GCC 10 and clang 10 know none of it.
#ifdef __x86_64__
#include "libraries/product/kernels.h"
#if __has_include(<amxbf16intrin.h>)
#include <cpuid.h>
#include <immintrin.h>

#include "devices/tiles.h"

#define AW_TARGET                                                                  \
  __attribute__((                                                                  \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,amx-tile,amx-int8," \
             "amx-bf16")))
#define AW_INLINE AW_TARGET __attribute__((always_inline)) inline

namespace aw::product::with_amx {
namespace {

#include "libraries/product/avx512.inc"
#include "libraries/product/transpose.inc"

constexpr int kTile = 16;               // rows of a tile, and units of a row
constexpr int kPanel = 2 * kTile;       // outer places of a panel: 2 x 2 tiles of sums
constexpr int kSecond = kTile * kTile;  // where the other tile of a panel begins
constexpr int kWhole = 2 * kSecond;

// A factor of f16 is the sum of two numbers of 8 bits each, and both are bf16, because f16 has 11
// bits and none of its exponents leaves the normal numbers of bf16. So four products of parts, each
// exact in f32, are the product.
AW_INLINE U high_parts(F even, F odd) { return U(even) >> 16 | (U(odd) & 0xffff0000u); }
AW_INLINE void split(U pair, U* high, U* low) {
  const F even = from_half(pair & 0xffffu), odd = from_half(pair >> 16);
  *high = high_parts(even, odd);
  *low = high_parts(even - F(U(even) & 0xffff0000u), odd - F(U(odd) & 0xffff0000u));
}

// 16 places by 16 units: v[unit] of all places where `across`, else v[place] of all units.
template <class Reader>
AW_INLINE void read_tile(const Block& from, int64_t first, int64_t k, U (&v)[L]) {
  constexpr int64_t kDeep = kTile * Reader::depth;
  const int64_t places = from.outer - first, deep = from.k - k;
  if (from.along_k) {
    const uint8_t* at = from.data + first * from.ld + k * Reader::bytes;
    if (places >= L && deep >= kDeep) {
#pragma GCC unroll 16
      for (int i = 0; i < L; ++i) v[i] = Reader::along_k(at + i * from.ld);
      return;
    }
    for (int i = 0; i < L; ++i) {
      alignas(64) uint8_t some[64] = {};
      if (i < places)
        __builtin_memcpy(some, at + i * from.ld, (deep < kDeep ? deep : kDeep) * Reader::bytes);
      v[i] = Reader::along_k(some);
    }
    return;
  }
  const uint8_t* at = from.data + first * Reader::bytes + k * from.ld;
  if (places >= L && deep >= kDeep) {
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i) v[i] = Reader::across(at + i * Reader::depth * from.ld, from.ld);
    return;
  }
  for (int i = 0; i < L; ++i) {
    alignas(64) uint8_t some[Reader::depth][64] = {};
    for (int64_t j = 0; j < Reader::depth && i * Reader::depth + j < deep; ++j)
      __builtin_memcpy(some[j], at + (i * Reader::depth + j) * from.ld,
                       (places < L ? places : L) * Reader::bytes);
    v[i] = Reader::across(some[0], 64);
  }
}

// Units of bf16 from four bytes of fp8 in each lane: the first two and the last two.
template <Type T>
AW_INLINE void widen_lanes(U quads, U* first, U* second) {
  *first = small_to_bf16<T>((quads & 0xffu) | (quads & 0xff00u) << 8);
  *second = small_to_bf16<T>((quads >> 16 & 0xffu) | (quads >> 24) << 16);
}
// From 64 bytes in a row: the first 32 and the last 32.
template <Type T>
AW_INLINE void widen_row(U quads, U* first, U* second) {
  const __m256i low = _mm512_maskz_extracti64x4_epi64(0xff, __m512i(quads), 0),
                high = _mm512_maskz_extracti64x4_epi64(0xff, __m512i(quads), 1);
  *first = small_to_bf16<T>(U(_mm512_maskz_cvtepu8_epi16(0xffffffff, low)));
  *second = small_to_bf16<T>(U(_mm512_maskz_cvtepu8_epi16(0xffffffff, high)));
}

// Panels are tile after tile: of A, rows are units of 16 places each; of B, places of 16 units
// each. So sums lie as D does: a tile's rows are columns. Of f16, a tile of high parts is followed
// by one of the low parts.
template <class Reader, Type T>
AW_TARGET void pack_tiles(const Block& from, uint32_t* to) {
  constexpr bool kSmall = T == Type::e4m3 || T == Type::e5m2, kTwo = kSmall || T == Type::f16;
  constexpr int64_t kDeep = kTile * Reader::depth;
  for (int64_t first = 0; first < from.outer; first += kPanel) {
    for (int64_t k = 0; k < from.k; k += kDeep) {
      const bool two = kSmall ? from.k - k > kDeep / 2 : kTwo;
      for (int64_t half = 0; half < 2 && first + half * L < from.outer; ++half) {
        U v[L];
        read_tile<Reader>(from, first + half * L, k, v);
        if (from.along_k == from.of_a) transpose(v);
        uint32_t* at = to + half * kSecond;
        U one, other;
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i) {
          if constexpr (T == Type::f16) {
            split(v[i], &one, &other);
            write(at + i * L, one), write(at + kWhole + i * L, other);
          } else if constexpr (kSmall) {
            if (from.of_a) {
              widen_lanes<T>(v[i], &one, &other);
              uint32_t* unit = at + i / 8 * kWhole + i % 8 * 2 * L;
              if (i < 8 || two) write(unit, one), write(unit + L, other);
            } else {
              widen_row<T>(v[i], &one, &other);
              write(at + i * L, one);
              if (two) write(at + kWhole + i * L, other);
            }
          } else {
            write(at + i * L, v[i]);
          }
        }
      }
      to += two ? 2 * kWhole : kWhole;
    }
  }
}

AW_TARGET void pack_halves(const Block& from, uint32_t* to) {
  pack_tiles<Bf16Pairs, Type::f16>(from, to);
}
AW_TARGET void pack_bf16(const Block& from, uint32_t* to) {
  switch (from.type) {
    case Type::e4m3:
      return pack_tiles<Quads<false>, Type::e4m3>(from, to);
    case Type::e5m2:
      return pack_tiles<Quads<false>, Type::e5m2>(from, to);
    default:
      return pack_tiles<Bf16Pairs, Type::bf16>(from, to);
  }
}
AW_TARGET void pack_bytes(const Block& from, uint32_t* to) {
  pack_tiles<Quads<false>, Type::s8>(from, to);
}

// Which tile holds what. Of f16, both parts of one factor at a time.
#define AW_FIRST_B 4
#define AW_SECOND_B 5
#define AW_FIRST_A 6
#define AW_SECOND_A 7

enum class Kind { bf16, halves, bytes };

#define AW_MULTIPLY(sums, b, a)     \
  do {                              \
    if constexpr (K == Kind::bytes) \
      _tile_dpbssd(sums, b, a);     \
    else                            \
      _tile_dpbf16ps(sums, b, a);   \
  } while (false)
#define AW_MULTIPLY_PARTS(sums)                     \
  do {                                              \
    _tile_dpbf16ps(sums, AW_FIRST_B, AW_FIRST_A);   \
    _tile_dpbf16ps(sums, AW_FIRST_B, AW_SECOND_A);  \
    _tile_dpbf16ps(sums, AW_SECOND_B, AW_FIRST_A);  \
    _tile_dpbf16ps(sums, AW_SECOND_B, AW_SECOND_A); \
  } while (false)

template <Kind K, bool TwoA, bool TwoB>
AW_TARGET void multiply_pair(const uint32_t* a, const uint32_t* b, int64_t units, uint32_t* c,
                             int64_t ld, bool more) {
  constexpr int64_t kRow = kTile * 4;  // bytes
  const int64_t kC = ld * 4;
  uint32_t* next = c + kTile * ld;
  if (more) {
    _tile_loadd(0, c, kC);
    if constexpr (TwoA) _tile_loadd(1, c + kTile, kC);
    if constexpr (TwoB) _tile_loadd(2, next, kC);
    if constexpr (TwoA && TwoB) _tile_loadd(3, next + kTile, kC);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  if constexpr (K == Kind::halves) {
    for (int64_t at = 0; at < units; at += 2 * kTile, a += 2 * kWhole, b += 2 * kWhole) {
      _tile_loadd(AW_FIRST_B, b, kRow);
      _tile_loadd(AW_SECOND_B, b + kWhole, kRow);
      _tile_stream_loadd(AW_FIRST_A, a, kRow);
      _tile_stream_loadd(AW_SECOND_A, a + kWhole, kRow);
      AW_MULTIPLY_PARTS(0);
      if constexpr (TwoB) {
        _tile_loadd(AW_FIRST_B, b + kSecond, kRow);
        _tile_loadd(AW_SECOND_B, b + kWhole + kSecond, kRow);
        AW_MULTIPLY_PARTS(2);
      }
      if constexpr (TwoA) {
        _tile_stream_loadd(AW_FIRST_A, a + kSecond, kRow);
        _tile_stream_loadd(AW_SECOND_A, a + kWhole + kSecond, kRow);
        if constexpr (TwoB) {
          AW_MULTIPLY_PARTS(3);
          _tile_loadd(AW_FIRST_B, b, kRow);
          _tile_loadd(AW_SECOND_B, b + kWhole, kRow);
        }
        AW_MULTIPLY_PARTS(1);
      }
    }
  } else {
    for (int64_t at = 0; at < units; at += kTile, a += kWhole, b += kWhole) {
      _tile_loadd(AW_FIRST_B, b, kRow);
      _tile_stream_loadd(AW_FIRST_A, a, kRow);
      AW_MULTIPLY(0, AW_FIRST_B, AW_FIRST_A);
      if constexpr (TwoA) {
        _tile_stream_loadd(AW_SECOND_A, a + kSecond, kRow);
        AW_MULTIPLY(1, AW_FIRST_B, AW_SECOND_A);
      }
      if constexpr (TwoB) {
        _tile_loadd(AW_SECOND_B, b + kSecond, kRow);
        AW_MULTIPLY(2, AW_SECOND_B, AW_FIRST_A);
        if constexpr (TwoA) AW_MULTIPLY(3, AW_SECOND_B, AW_SECOND_A);
      }
    }
  }
  _tile_stored(0, c, kC);
  if constexpr (TwoA) _tile_stored(1, c + kTile, kC);
  if constexpr (TwoB) _tile_stored(2, next, kC);
  if constexpr (TwoA && TwoB) _tile_stored(3, next + kTile, kC);
}

// The memory of LDTILECFG.
struct Shapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
  constexpr Shapes() {
    for (int i = 0; i < 8; ++i) row_bytes[i] = 64, rows[i] = kTile;
  }
};
static_assert(sizeof(Shapes) == 64);

template <Kind K>
AW_TARGET void multiply(const Panels& of) {
  static constexpr decltype(&multiply_pair<K, true, true>) kBy[2][2] = {
      {multiply_pair<K, false, false>, multiply_pair<K, false, true>},
      {multiply_pair<K, true, false>, multiply_pair<K, true, true>}};
  alignas(64) static constexpr Shapes kShapes;
  _tile_loadconfig(&kShapes);
  for (int64_t j = 0; j < of.n; j += kPanel)
    for (int64_t i = 0; i < of.m; i += kPanel)
      kBy[of.m - i > kTile][of.n - j > kTile](of.a + i * of.units, of.b + j * of.units, of.units,
                                              static_cast<uint32_t*>(of.sums) + i + j * of.ld,
                                              of.ld, of.more);
  _tile_release();  // else every switch of threads would save the tiles
}

// An infinity times the low part of another factor, which may be 0, would be wrong.
AW_TARGET bool finite(const float* sums, int64_t count) {
  for (int64_t i = 0; i < count; i += L) {
    const __mmask16 there = count - i < L ? (1 << (count - i)) - 1 : 0xffff;
    if (_mm512_mask_fpclass_ps_mask(there, _mm512_loadu_ps(sums + i), 0x99)) return false;
  }
  return true;
}

// Whether the processor has it and the kernel lets this process use it.
bool permitted() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kBf16 = 1u << 22, kTiles = 1u << 24, kInt8 = 1u << 25;
  constexpr unsigned kAll = kBf16 | kTiles | kInt8;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || (edx & kAll) != kAll) return false;
  return may_use_tiles();
}

// Processors with AMX have caches of 48 KB and 2 MB. Half of the second is for the packed rows of a
// block, which are loaded past the first: that keeps the panel of columns, and the sums are near.
constexpr Extents kMost = {512, 1024, 512 * kPanel, 256, 512};

Kernels made(const Kernels& vectors) {
  Kernels out = vectors;
  out.f16 = {kPanel, kPanel,  1,      2 * kTile, false, kMost, pack_halves, multiply<Kind::halves>,
             finite, nullptr, nullptr};
  out.bf16 = {kPanel,  kPanel,  2,      kTile, false, kMost, pack_bf16, multiply<Kind::bf16>,
              nullptr, nullptr, nullptr};
  out.s8 = {kPanel,  kPanel,  4,      kTile, true, kMost, pack_bytes, multiply<Kind::bytes>,
            nullptr, nullptr, nullptr};
  out.shallow = &vectors;
  return out;
}

}  // namespace
}  // namespace aw::product::with_amx

namespace aw::product {

const Kernels* amx(const Kernels& vectors) {
  static const bool there = with_amx::permitted();
  if (!there) return nullptr;
  static const Kernels made = with_amx::made(vectors);
  return &made;
}

}  // namespace aw::product

#undef AW_TARGET
#undef AW_INLINE
#else
namespace aw::product {
const Kernels* amx(const Kernels&) { return nullptr; }
}  // namespace aw::product
#endif
#endif
