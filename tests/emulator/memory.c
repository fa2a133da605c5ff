// Memory instructions of AMD GPUs, for all lanes of a wave at once, on copies of a test's memory.
//
// Every access goes through a table of the places that the launch was given, so that a wild address is told and not touched, and
// a generic address of shared or private memory is found by its aperture (src_shared_base, src_private_base).
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  uint64_t start, bytes;  // as the kernel sees it
  uint8_t* host;
  uint64_t writable;
} Place;

typedef struct {
  uint32_t *scalar, *vector, *accumulator;
  uint8_t *shared, *scratch;
  uint64_t shared_bytes, scratch_bytes;  // scratch: per lane
  const Place* places;
  uint64_t count, wave, exec;
  uint64_t fault_address, fault_lane, fault_bytes, fault_kind;  // kind 1 read, 2 write
} State;

enum { GLOBAL, FLAT, SCRATCH, SHARED, BUFFER, SCALAR };
enum { LOAD, STORE, ATOMIC, LOAD2, STORE2, EXCHANGE2 };
enum { WHOLE, UNSIGNED, SIGNED, LOW_U8, LOW_I8, LOW_16, HIGH_U8, HIGH_I8, HIGH_16 };
enum { SWAP, COMPARE_SWAP, ADD, SUB, RSUB, SMIN, UMIN, SMAX, UMAX, AND, OR, XOR, INC, DEC, FADD, FMIN, FMAX, PK_ADD_F16, PK_ADD_BF16,
       MASKED_OR, SUB_CLAMP, COND_SUB };

typedef struct {
  int32_t space, what, bytes, extend, atomic, returns;
  int32_t address, base, offset, data, data1, result, offset1;  // registers; base -1: none. Offsets in bytes
  int32_t accumulate, address_words, zero_high, scalar_offset;
  uint32_t lines, asked;  // counted: lines of memory that lanes touched, each instruction by itself; bytes
} Form;

static const uint32_t SHARED_HIGH = 0x10000, PRIVATE_HIGH = 0x20000;

static uint8_t* find(State* s, const Form* f, uint64_t at, uint32_t bytes, int write, int lane) {
  if (f->space == FLAT && at >> 32 == SHARED_HIGH) {
    if ((at & 0xffffffff) + bytes <= s->shared_bytes) return s->shared + (at & 0xffffffff);
  } else if (f->space == SCRATCH || (f->space == FLAT && at >> 32 == PRIVATE_HIGH)) {
    uint64_t offset = at & 0xffffffff;
    if (offset + bytes <= s->scratch_bytes) return s->scratch + lane * s->scratch_bytes + offset;
  } else if (f->space == SHARED) {
    if ((at & 0xffffffff) + bytes <= s->shared_bytes) return s->shared + (at & 0xffffffff);
  } else {
    for (uint64_t i = 0; i < s->count; ++i) {
      const Place* p = &s->places[i];
      if (at >= p->start && at + bytes <= p->start + p->bytes && (p->writable || !write)) return p->host + (at - p->start);
    }
  }
  s->fault_address = at, s->fault_lane = (uint64_t)lane, s->fault_bytes = bytes, s->fault_kind = write ? 2 : 1;
  return 0;
}

static uint32_t* registers(State* s, const Form* f, int at) {
  return (f->accumulate ? s->accumulator : s->vector) + (uint64_t)at * s->wave;
}

static float f32(uint32_t x) { float r; memcpy(&r, &x, 4); return r; }
static uint32_t b32(float x) { uint32_t r; memcpy(&r, &x, 4); return r; }
static double f64(uint64_t x) { double r; memcpy(&r, &x, 8); return r; }
static uint64_t b64(double x) { uint64_t r; memcpy(&r, &x, 8); return r; }
static float half(uint32_t x) { _Float16 h; uint16_t w = (uint16_t)x; memcpy(&h, &w, 2); return (float)h; }
static uint32_t to_half(float x) { _Float16 h = (_Float16)x; uint16_t w; memcpy(&w, &h, 2); return w; }
static uint32_t to_bfloat(float x) {
  uint32_t u = b32(x);
  if (x != x) return u >> 16 | 0x40;
  return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}
static uint32_t two(uint32_t old, uint32_t x, int bfloat) {
  uint32_t out = 0;
  for (int i = 0; i < 32; i += 16)
    out |= (bfloat ? to_bfloat(f32(old >> i << 16) + f32(x >> i << 16)) : to_half(half(old >> i) + half(x >> i))) << i;
  return out;
}
static double number(uint64_t x, int bytes) { return bytes == 8 ? f64(x) : (double)f32((uint32_t)x); }

static uint64_t combine(const Form* f, uint64_t old, uint64_t x, uint64_t compare) {
  int wide = f->bytes == 8;
  int64_t a = wide ? (int64_t)old : (int32_t)old, b = wide ? (int64_t)x : (int32_t)x;
  double p = number(old, f->bytes), q = number(x, f->bytes);
  switch (f->atomic) {
    case SWAP: return x;
    case COMPARE_SWAP: return old == compare ? x : old;
    case ADD: return old + x;
    case SUB: return old - x;
    case RSUB: return x - old;
    case SMIN: return a < b ? old : x;
    case SMAX: return a > b ? old : x;
    case UMIN: return old < x ? old : x;
    case UMAX: return old > x ? old : x;
    case AND: return old & x;
    case OR: return old | x;
    case XOR: return old ^ x;
    case INC: return old >= x ? 0 : old + 1;
    case DEC: return old == 0 || old > x ? x : old - 1;
    case FADD: return wide ? b64(p + q) : b32(f32((uint32_t)old) + f32((uint32_t)x));
    case FMIN: return p != p ? x : q != q ? old : q < p || (p == q && signbit(q)) ? x : old;
    case FMAX: return p != p ? x : q != q ? old : q > p || (p == q && signbit(p)) ? x : old;
    case PK_ADD_F16: return two((uint32_t)old, (uint32_t)x, 0);
    case PK_ADD_BF16: return two((uint32_t)old, (uint32_t)x, 1);
    case MASKED_OR: return (old & ~x) | compare;
    case SUB_CLAMP: return old < x ? 0 : old - x;
    case COND_SUB: return old < x ? old : old - x;
    default: return old;
  }
}

static uint64_t word(State* s, const Form* f, int at, int lane, int bytes) {
  uint64_t low = registers(s, f, at)[lane];
  return bytes == 8 ? low | (uint64_t)registers(s, f, at + 1)[lane] << 32 : low;
}

static void put(State* s, const Form* f, int at, int lane, const uint8_t* from, int bytes) {
  uint32_t words[4] = {0, 0, 0, 0};
  uint32_t* low = registers(s, f, at) + lane;
  memcpy(words, from, (size_t)bytes);
  uint32_t x = words[0];
  switch (f->extend) {
    case WHOLE: case UNSIGNED: break;
    case SIGNED: x = bytes == 1 ? (uint32_t)(int32_t)(int8_t)x : (uint32_t)(int32_t)(int16_t)x; break;
    case LOW_I8: x = (uint16_t)(int16_t)(int8_t)x; /* fall through */
    case LOW_U8: case LOW_16: x = (x & 0xffff) | (f->zero_high ? 0 : *low & 0xffff0000); break;
    case HIGH_I8: x = (uint16_t)(int16_t)(int8_t)x; /* fall through */
    case HIGH_U8: case HIGH_16: x = x << 16 | (*low & 0xffff); break;
  }
  *low = x;
  for (int i = 1; i < (bytes + 3) / 4; ++i) registers(s, f, at + i)[lane] = words[i];
}

static uint64_t address_of(State* s, const Form* f, int lane) {
  uint64_t at = 0;
  const uint32_t* v = s->vector + (uint64_t)(f->address < 0 ? 0 : f->address) * s->wave + lane;
  if (f->address >= 0) at = f->address_words == 2 ? v[0] | (uint64_t)v[s->wave] << 32 : v[0];
  if (f->base >= 0 && f->space == BUFFER) {
    at += (s->scalar[f->base] | (uint64_t)s->scalar[f->base + 1] << 32) & 0xffffffffffff;
  } else if (f->base >= 0) {
    at += f->space == SCRATCH ? s->scalar[f->base] : s->scalar[f->base] | (uint64_t)s->scalar[f->base + 1] << 32;
  }
  // gfx90a reaches its private segment through a buffer: a scalar offset, which is the stack pointer,
  // counts the bytes of all 64 lanes (LLVM's AMDGPU usage, stack pointer).
  if (f->scalar_offset >= 0)
    at += f->space == SCRATCH ? s->scalar[f->scalar_offset] >> 6 : s->scalar[f->scalar_offset];
  at += (uint64_t)(int64_t)f->offset;
  return f->space == SHARED || f->space == SCRATCH ? at & 0xffffffff : at;
}

static int one_lane(State* s, const Form* f, int lane, uint64_t at) {
  uint8_t bytes[16] = {0};
  uint8_t* p;
  if (f->what == LOAD) {
    if (!(p = find(s, f, at, (uint32_t)f->bytes, 0, lane))) return 1;
    memcpy(bytes, p, (size_t)f->bytes);
    put(s, f, f->result, lane, bytes, f->bytes);
  } else if (f->what == STORE) {
    if (!(p = find(s, f, at, (uint32_t)f->bytes, 1, lane))) return 1;
    for (int i = 0; i < (f->bytes + 3) / 4; ++i) memcpy(bytes + 4 * i, registers(s, f, f->data + i) + lane, 4);
    memcpy(p, bytes + (f->extend >= HIGH_U8 ? 2 : 0), (size_t)f->bytes);
  } else if (f->what == ATOMIC) {
    uint64_t old = 0, x = word(s, f, f->data, lane, f->bytes), compare = f->data1 >= 0 ? word(s, f, f->data1, lane, f->bytes) : 0;
    if (!(p = find(s, f, at, (uint32_t)f->bytes, 1, lane))) return 1;
    memcpy(&old, p, (size_t)f->bytes);
    x = combine(f, old, x, compare);
    memcpy(p, &x, (size_t)f->bytes);
    if (f->returns) put(s, f, f->result, lane, (uint8_t*)&old, f->bytes);
  } else {
    uint8_t* q;
    int words = f->bytes / 4;
    uint64_t second = (at - (uint64_t)f->offset + (uint64_t)f->offset1) & 0xffffffff;
    if (!(p = find(s, f, at, (uint32_t)f->bytes, f->what != LOAD2, lane))) return 1;
    if (!(q = find(s, f, second, (uint32_t)f->bytes, f->what != LOAD2, lane))) return 1;
    uint64_t x = word(s, f, f->data < 0 ? 0 : f->data, lane, f->bytes), y = word(s, f, f->data1 < 0 ? 0 : f->data1, lane, f->bytes);
    uint8_t old[16];
    memcpy(old, p, (size_t)f->bytes), memcpy(old + 8, q, (size_t)f->bytes);
    if (f->what != LOAD2) memcpy(p, &x, (size_t)f->bytes), memcpy(q, &y, (size_t)f->bytes);
    if (f->what != STORE2) put(s, f, f->result, lane, old, f->bytes), put(s, f, f->result + words, lane, old + 8, f->bytes);
  }
  return 0;
}

enum { LINE = 128 };  // bytes, in the vector caches of CDNA 3 and RDNA 3

static void count(const State* s, Form* f, const uint64_t* at) {
  uint64_t seen[128];
  int known = 0;
  for (int lane = 0; lane < (int)s->wave; ++lane) {
    if (!(s->exec >> lane & 1)) continue;
    f->asked += (uint32_t)f->bytes;
    for (uint64_t line = at[lane] / LINE; line <= (at[lane] + (uint64_t)f->bytes - 1) / LINE; ++line) {
      int i = known;  // neighbours mostly share a line: the newest first
      while (i > 0 && seen[i - 1] != line) --i;
      if (!i && known < 128) seen[known++] = line;
    }
  }
  f->lines += (uint32_t)known;
}

// Do one instruction for the lanes in `exec`; 1: a fault, which the state describes.
int memory_access(State* s, Form* f) {
  uint64_t exec = s->exec, at[64];
  for (int lane = 0; lane < (int)s->wave; ++lane)
    if (exec >> lane & 1) at[lane] = address_of(s, f, lane);  // all of them first: a load may overwrite its own address
  count(s, f, at);
  for (int lane = 0; lane < (int)s->wave; ++lane)
    if (exec >> lane & 1 && one_lane(s, f, lane, at[lane])) return 1;
  return 0;
}

// Scalar loads: `bytes` from base + offset + scalar offset into scalar registers, aligned down to 4 for whole words.
int scalar_load(State* s, const Form* f) {
  uint64_t at = s->scalar[f->base] | (uint64_t)s->scalar[f->base + 1] << 32;
  at += (uint64_t)(int64_t)f->offset + (f->scalar_offset >= 0 ? s->scalar[f->scalar_offset] : 0);
  uint8_t buffer[64] = {0};
  if (f->bytes >= 4) at &= ~3ull;
  const uint8_t* p = find(s, f, at, (uint32_t)f->bytes, 0, 0);
  if (!p) return 1;
  memcpy(buffer, p, (size_t)f->bytes);
  uint32_t x;
  memcpy(&x, buffer, 4);
  if (f->extend == SIGNED) x = f->bytes == 1 ? (uint32_t)(int32_t)(int8_t)x : (uint32_t)(int32_t)(int16_t)x, memcpy(buffer, &x, 4);
  memcpy(s->scalar + f->result, buffer, (size_t)(f->bytes < 4 ? 4 : f->bytes));
  return 0;
}

// ds_bpermute_b32 (kind 0), ds_permute_b32 (1), ds_swizzle_b32 (2) within the wave (bpermute: a source that is not active gives 0).
void across_lanes(State* s, const Form* f, int kind) {
  uint32_t out[64] = {0};
  const uint32_t *v = s->vector + (uint64_t)f->address * s->wave, *x = s->vector + (uint64_t)f->data * s->wave;
  uint32_t* result = s->vector + (uint64_t)f->result * s->wave;
  uint64_t exec = s->exec;
  uint32_t wave = (uint32_t)s->wave, pattern = (uint32_t)f->offset;
  for (uint32_t lane = 0; lane < wave; ++lane) {
    if (!(exec >> lane & 1)) continue;
    uint32_t to = (kind == 2 ? 0 : (v[lane] + pattern) / 4) % wave;
    if (kind == 0) out[lane] = exec >> to & 1 ? x[to] : 0;
    if (kind == 1) out[to] = x[lane];
    if (kind != 2) continue;
    const uint32_t* y = v;  // ds_swizzle takes its value in the address operand
    uint32_t from = pattern & 0x8000 ? (lane & ~3u) | (pattern >> 2 * (lane & 3) & 3)
                                     : (lane & 32) | (((lane & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
    out[lane] = exec >> from & 1 ? y[from] : 0;
  }
  for (uint32_t lane = 0; lane < wave; ++lane)
    if (exec >> lane & 1) result[lane] = out[lane];
}

unsigned get_modes(void) { unsigned m; __asm__ __volatile__("stmxcsr %0" : "=m"(m)); return m; }
void set_modes(unsigned m) { __asm__ __volatile__("ldmxcsr %0" ::"m"(m)); }

// --- arithmetic that the pseudocode of the manuals leaves open, or that tinygrad reads otherwise -------------------------------------

enum { DIV_SCALE, DIV_FMAS, DIV_FIXUP, MAD_I24, MAD_U24, RNDNE, FREXP_EXP, FREXP_MANT, LDEXP, MIN, MAX, FLOOR, CEIL, TRUNC };

typedef struct {
  int32_t what, bits, result, mask_result, negate, absolute, select, keep;
  int32_t source[3];
  uint32_t literal;
} LaneForm;

static uint64_t operand(State* s, const LaneForm* f, int which, int lane, int bits) {
  int at = f->source[which];
  uint64_t x;
  if (at < 0) return 0;
  if (at >= 256) {
    const uint32_t* v = s->vector + (uint64_t)(at - 256) * s->wave + lane;
    x = bits == 64 ? v[0] | (uint64_t)v[s->wave] << 32 : v[0];
  } else if (at == 255) {
    x = bits == 64 ? (uint64_t)f->literal << 32 : f->literal;
  } else if (bits == 64 && at < 128) {
    x = s->scalar[at] | (uint64_t)s->scalar[at + 1] << 32;
  } else if (bits == 64) {
    x = at >= 240 ? b64((double)f32(s->scalar[at])) : (uint64_t)(int64_t)(int32_t)s->scalar[at];
  } else {
    x = bits == 16 && at >= 240 ? to_half(f32(s->scalar[at])) : s->scalar[at];
  }
  if (bits == 16) x = f->select >> which & 1 ? x >> 16 & 0xffff : x & 0xffff;
  uint64_t sign = 1ull << (bits - 1);
  if (f->absolute >> which & 1) x &= ~sign;
  if (f->negate >> which & 1) x ^= sign;
  return x;
}

static int exponent(double x, int bits) {  // with its bias, 0 for denormal numbers and zero, of the format
  int e;
  if (x == 0) return 0;
  if (isinf(x) || isnan(x)) return bits == 64 ? 2047 : 255;
  frexp(x, &e);
  e += bits == 64 ? 1022 : 126;
  return e > 0 ? e : 0;
}

static int denormal(double x, int bits) { return x != 0 && fabs(x) < (bits == 64 ? 0x1p-1022 : 0x1p-126); }

// CDNA3 ISA, V_DIV_SCALE. Where its text would scale a denominator beyond 2**126 by 2**64, it is scaled down: else the quotient
// that it prepares would not be the quotient. What is denormal is judged in the format of the operands.
static double div_scale(double a, double den, double num, int bits, int* flag) {
  double up = bits == 64 ? 0x1p128 : 0x1p64;
  *flag = 0;
  if (num == 0 || den == 0) return NAN;
  double reciprocal = 1 / den, quotient;
  int small_reciprocal = bits == 64 ? fabs(den) > 0x1p1022 : denormal(reciprocal, 32);
  quotient = num / den;
  int small_quotient = bits == 64 ? exponent(num, 64) - exponent(den, 64) < -1022 : denormal(quotient, 32);
  if (isinf(den) || isinf(num) || isnan(den) || isnan(num)) small_reciprocal = small_quotient = 0;
  if (exponent(num, bits) - exponent(den, bits) >= (bits == 64 ? 768 : 96)) {
    *flag = 1;
    return a == den ? a * up : a;
  }
  if (denormal(den, bits)) return a * up;
  if (small_reciprocal && small_quotient) {
    *flag = 1;
    return a == den ? a / up : a;
  }
  if (small_reciprocal) return a / up;
  if (small_quotient) {
    *flag = 1;
    return a == num ? a * up : a;
  }
  return exponent(num, bits) <= (bits == 64 ? 53 : 23) ? a * up : a;
}

static uint64_t packed(double x, int bits) { return bits == 64 ? b64(x) : bits == 32 ? b32((float)x) : to_half((float)x); }

static uint64_t div_fmas(double a, double b, double c, int bits, int flag) {
  __float128 x = (__float128)a * b + c;
  if (flag) x *= exponent(c, bits) > (bits == 64 ? 1023 : 127) ? (bits == 64 ? 0x1p128 : 0x1p64) : (bits == 64 ? 0x1p-128 : 0x1p-64);
  if (x == 0) return packed(signbit(c) ? -0.0 : 0.0, bits);
  return bits == 64 ? b64((double)x) : b32((float)x);
}

static uint64_t div_fixup(uint64_t raw, double q, double den, double num, uint64_t raw_den, uint64_t raw_num, int bits) {
  uint64_t sign = (signbit(den) != 0) != (signbit(num) != 0) ? 1ull << (bits - 1) : 0;
  uint64_t quiet = bits == 64 ? 1ull << 51 : 1u << 22, infinite = bits == 64 ? 0x7ffull << 52 : 0x7f800000u;
  uint64_t nothing = bits == 64 ? 0xfff8000000000000ull : 0xffc00000u;
  if (isnan(num)) return raw_num | quiet;
  if (isnan(den)) return raw_den | quiet;
  if ((den == 0 && num == 0) || (isinf(den) && isinf(num))) return nothing;
  if (den == 0 || isinf(num)) return sign | infinite;
  if (isinf(den) || num == 0) return sign;
  if (isnan(q)) return sign | infinite;
  return sign | (raw & ~(1ull << (bits - 1)));
}

static double decoded(uint64_t x, int bits) { return bits == 64 ? f64(x) : bits == 32 ? (double)f32((uint32_t)x) : (double)half((uint32_t)x); }

static uint64_t quieted(uint64_t x, int bits) { return x | (bits == 64 ? 1ull << 51 : bits == 32 ? 1u << 22 : 1u << 9); }

// V_MIN and V_MAX: the other operand for a NaN, and -0 below +0 (RDNA3 ISA, V_MAX_F32).
static uint64_t extreme(uint64_t a, uint64_t b, int bits, int most) {
  double x = decoded(a, bits), y = decoded(b, bits);
  if (isnan(x)) return isnan(y) ? quieted(b, bits) : b;
  if (isnan(y)) return a;
  if (x == 0 && y == 0) return (signbit(x) != 0) == most ? b : a;
  return (most ? x > y : x < y) ? a : b;
}

// Operations on one number: to whole numbers, apart into exponent and mantissa, and together.
static uint64_t single(int what, uint64_t a, uint64_t b, int bits) {
  double x = decoded(a, bits);
  int e = 0;
  if (what == FREXP_EXP) {
    if (x == 0 || isinf(x) || isnan(x)) return 0;
    frexp(x, &e);
    return (uint32_t)e;
  }
  if (isnan(x)) return quieted(a, bits);
  if (isinf(x)) return a;
  switch (what) {
    case RNDNE: return packed(copysign(nearbyint(x), x), bits);
    case FLOOR: return packed(floor(x), bits);
    case CEIL: return packed(ceil(x), bits);
    case TRUNC: return packed(trunc(x), bits);
    case FREXP_MANT: return packed(frexp(x, &e), bits);
    default: e = bits == 16 ? (int16_t)b : (int32_t)b; return packed(ldexp(x, e > 4000 ? 4000 : e < -4000 ? -4000 : e), bits);
  }
}

// One vector instruction with up to three sources for the lanes in `exec`.
void lane_operation(State* s, const LaneForm* f) {
  uint64_t exec = s->exec, mask = 0, results[64];
  uint64_t flags = s->scalar[106] | (s->wave == 64 ? (uint64_t)s->scalar[107] << 32 : 0);
  int bits = f->bits;
  for (int lane = 0; lane < (int)s->wave; ++lane) {
    if (!(exec >> lane & 1)) continue;
    uint64_t a = operand(s, f, 0, lane, bits), b = f->what == LDEXP ? 0 : operand(s, f, 1, lane, bits), c = operand(s, f, 2, lane, bits), r = 0;
    int flag = 0;
    int64_t low = (int64_t)(a << 40) >> 40, high = (int64_t)(b << 40) >> 40;
    switch (f->what) {
      case DIV_SCALE: {
        double x = div_scale(decoded(a, bits), decoded(b, bits), decoded(c, bits), bits, &flag);
        r = x == decoded(a, bits) ? a : packed(x, bits);
        break;
      }
      case DIV_FMAS: r = div_fmas(decoded(a, bits), decoded(b, bits), decoded(c, bits), bits, flags >> lane & 1); break;
      case DIV_FIXUP: r = div_fixup(a, decoded(a, bits), decoded(b, bits), decoded(c, bits), b, c, bits); break;
      case MAD_I24: r = (uint32_t)(low * high + (int32_t)c); break;
      case MAD_U24: r = (uint32_t)((a & 0xffffff) * (b & 0xffffff) + c); break;
      case MIN: case MAX: r = extreme(a, b, bits, f->what == MAX); break;
      case LDEXP: r = single(f->what, a, operand(s, f, 1, lane, bits == 16 ? 16 : 32), bits); break;
      default: r = single(f->what, a, 0, bits); break;
    }
    results[lane] = r;
    if (flag) mask |= 1ull << lane;
  }
  for (int lane = 0; lane < (int)s->wave; ++lane) {
    if (!(exec >> lane & 1)) continue;
    uint32_t* v = s->vector + (uint64_t)f->result * s->wave + lane;
    if (f->what == FREXP_EXP) {
      v[0] = bits == 16 ? (v[0] & (f->keep ? 0xffff0000u : 0)) | (results[lane] & 0xffff) : (uint32_t)results[lane];
      continue;
    }
    if (bits == 16)
      v[0] = f->select >> 3 & 1 ? (v[0] & 0xffff) | (uint32_t)results[lane] << 16
                                : (v[0] & (f->keep ? 0xffff0000u : 0)) | (uint32_t)(results[lane] & 0xffff);
    else
      v[0] = (uint32_t)results[lane];
    if (bits == 64) v[s->wave] = (uint32_t)(results[lane] >> 32);
  }
  if (f->mask_result >= 0 && f->what == DIV_SCALE) {
    s->scalar[f->mask_result] = (uint32_t)mask;
    if (s->wave == 64) s->scalar[f->mask_result + 1] = (uint32_t)(mask >> 32);
  }
}
