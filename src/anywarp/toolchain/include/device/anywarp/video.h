// Two 16-bit or four 8-bit numbers in a word: chapter "SIMD Intrinsics" of the CUDA math API, and the DPX functions on halves.
#ifndef ANYWARP_VIDEO_H
#define ANYWARP_VIDEO_H

#include "integer.h"

// One lane after another; x and y are its numbers, signed or not, `expression` the result of which its bits are kept.
#define AW_LANES(name, bits, Lane, expression)                                                     \
  AW_BOTH unsigned int name(unsigned int a, unsigned int b) {                                      \
    unsigned int r = 0;                                                                            \
    constexpr unsigned int mask = (1u << bits) - 1;                                                \
    AW_UNROLL for (int k = 0; k < 32; k += bits) {                                                 \
      int x = (Lane)(a >> k), y = (Lane)(b >> k);                                                  \
      r |= ((unsigned int)(expression) & mask) << k;                                               \
    }                                                                                              \
    return r;                                                                                      \
  }
#define AW_LANES_1(name, bits, Lane, expression)                                                   \
  AW_BOTH unsigned int name(unsigned int a) {                                                      \
    unsigned int r = 0;                                                                            \
    constexpr unsigned int mask = (1u << bits) - 1;                                                \
    AW_UNROLL for (int k = 0; k < 32; k += bits) {                                                 \
      int x = (Lane)(a >> k);                                                                      \
      r |= ((unsigned int)(expression) & mask) << k;                                               \
    }                                                                                              \
    return r;                                                                                      \
  }
#define AW_LANES_SUM(name, bits, Lane)                                                             \
  AW_BOTH unsigned int name(unsigned int a, unsigned int b) {                                      \
    unsigned int r = 0;                                                                            \
    AW_UNROLL for (int k = 0; k < 32; k += bits) {                                                 \
      int x = (Lane)(a >> k), y = (Lane)(b >> k);                                                  \
      r += (unsigned int)(x > y ? x - y : y - x);                                                  \
    }                                                                                              \
    return r;                                                                                      \
  }
AW_BOTH int aw_between(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
#define AW_EQUALITY(n, bits, U)                                    \
  AW_LANES(__vcmpeq##n, bits, U, x == y ? -1 : 0)                  \
  AW_LANES(__vcmpne##n, bits, U, x != y ? -1 : 0)                  \
  AW_LANES(__vseteq##n, bits, U, x == y)                           \
  AW_LANES(__vsetne##n, bits, U, x != y)
#define AW_ORDER(s, n, bits, L)                                    \
  AW_LANES(__vcmpge##s##n, bits, L, x >= y ? -1 : 0)               \
  AW_LANES(__vcmpgt##s##n, bits, L, x > y ? -1 : 0)                \
  AW_LANES(__vcmple##s##n, bits, L, x <= y ? -1 : 0)               \
  AW_LANES(__vcmplt##s##n, bits, L, x < y ? -1 : 0)                \
  AW_LANES(__vsetge##s##n, bits, L, x >= y)                        \
  AW_LANES(__vsetgt##s##n, bits, L, x > y)                         \
  AW_LANES(__vsetle##s##n, bits, L, x <= y)                        \
  AW_LANES(__vsetlt##s##n, bits, L, x < y)                         \
  AW_LANES(__vmax##s##n, bits, L, x > y ? x : y)                   \
  AW_LANES(__vmin##s##n, bits, L, x < y ? x : y)                   \
  AW_LANES(__vavg##s##n, bits, L, (x + y + (x + y >= 0)) >> 1)     \
  AW_LANES(__vabsdiff##s##n, bits, L, x > y ? x - y : y - x)       \
  AW_LANES_SUM(__vsad##s##n, bits, L)
#define AW_VIDEO(n, bits, S, U, low, high)                                 \
  AW_EQUALITY(n, bits, U)                                                  \
  AW_ORDER(s, n, bits, S)                                                  \
  AW_ORDER(u, n, bits, U)                                                  \
  AW_LANES(__vadd##n, bits, U, x + y)                                      \
  AW_LANES(__vaddss##n, bits, S, aw_between(x + y, low, high))             \
  AW_LANES(__vaddus##n, bits, U, aw_between(x + y, 0, high - low))         \
  AW_LANES(__vsub##n, bits, U, x - y)                                      \
  AW_LANES(__vsubss##n, bits, S, aw_between(x - y, low, high))             \
  AW_LANES(__vsubus##n, bits, U, aw_between(x - y, 0, high - low))         \
  AW_LANES(__vhaddu##n, bits, U, (x + y) >> 1)                             \
  AW_LANES_1(__vabs##n, bits, S, x < 0 ? -x : x)                           \
  AW_LANES_1(__vabsss##n, bits, S, aw_between(x < 0 ? -x : x, low, high))  \
  AW_LANES_1(__vneg##n, bits, S, -x)                                       \
  AW_LANES_1(__vnegss##n, bits, S, aw_between(-x, low, high))
AW_VIDEO(2, 16, short, unsigned short, -32768, 32767)
AW_VIDEO(4, 8, signed char, unsigned char, -128, 127)
#undef AW_VIDEO
#undef AW_ORDER
#undef AW_EQUALITY

#define AW_DPX_3(name, Lane, expression)                                                           \
  AW_BOTH unsigned int name(unsigned int a, unsigned int b, unsigned int c) {                      \
    unsigned int r = 0;                                                                            \
    AW_UNROLL for (int k = 0; k < 32; k += 16) {                                                   \
      int x = (Lane)(a >> k), y = (Lane)(b >> k), z = (Lane)(c >> k), s = (Lane)(x + y);           \
      (void)s, (void)z;                                                                            \
      r |= ((unsigned int)(expression) & 0xffffu) << k;                                            \
    }                                                                                              \
    return r;                                                                                      \
  }
AW_DPX_3(__vimax3_s16x2, short, max(max(x, y), z))
AW_DPX_3(__vimin3_s16x2, short, min(min(x, y), z))
AW_DPX_3(__vimax3_u16x2, unsigned short, max(max(x, y), z))
AW_DPX_3(__vimin3_u16x2, unsigned short, min(min(x, y), z))
AW_DPX_3(__vimax3_s16x2_relu, short, max(max(max(x, y), z), 0))
AW_DPX_3(__vimin3_s16x2_relu, short, max(min(min(x, y), z), 0))
AW_DPX_3(__viaddmax_s16x2, short, max(s, z))
AW_DPX_3(__viaddmin_s16x2, short, min(s, z))
AW_DPX_3(__viaddmax_u16x2, unsigned short, max(s, z))
AW_DPX_3(__viaddmin_u16x2, unsigned short, min(s, z))
AW_DPX_3(__viaddmax_s16x2_relu, short, max(max(s, z), 0))
AW_DPX_3(__viaddmin_s16x2_relu, short, max(min(s, z), 0))
#undef AW_DPX_3
AW_LANES(__vimax_s16x2_relu, 16, short, max(max(x, y), 0))
AW_LANES(__vimin_s16x2_relu, 16, short, max(min(x, y), 0))
#define AW_CHOICE(name, Lane, op)                                                                  \
  AW_BOTH unsigned int name(unsigned int a, unsigned int b, bool *high, bool *low) {               \
    Lane x = (Lane)a, y = (Lane)b, u = (Lane)(a >> 16), v = (Lane)(b >> 16);                       \
    *low = x op y, *high = u op v;                                                                 \
    return (unsigned short)(*low ? x : y) | (unsigned int)(unsigned short)(*high ? u : v) << 16;   \
  }
AW_CHOICE(__vibmax_s16x2, short, >=)
AW_CHOICE(__vibmin_s16x2, short, <=)
AW_CHOICE(__vibmax_u16x2, unsigned short, >=)
AW_CHOICE(__vibmin_u16x2, unsigned short, <=)
#undef AW_CHOICE
#undef AW_LANES
#undef AW_LANES_1
#undef AW_LANES_SUM

#endif
