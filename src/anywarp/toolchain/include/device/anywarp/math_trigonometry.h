// Circular and hyperbolic functions for double, and their inverses.
#ifndef ANYWARP_MATH_TRIGONOMETRY_H
#define ANYWARP_MATH_TRIGONOMETRY_H

#include "math_double.h"

struct aw_angle {
  aw_pair r;
  int quadrant;
};
// x - n pi/2 for large x, by the digits of 2/pi that matter (Payne and Hanek): exact to 2^-110 or so.
AW_BOTH_BIG aw_angle aw_reduce_far(double x) {
  unsigned long long b = aw_bits(x);
  int exponent = (int)(b >> 52 & 0x7ff) - 1075;  // |x| = m 2^exponent
  unsigned long long m = (b & 0xfffffffffffffull) | 0x10000000000000ull;
  // The digits behind `skip` are all that matters modulo 4 (and more); the table begins with 64 zeros for small exponents.
  int skip = exponent > 0 ? exponent : 0;
  int word = skip >> 6, shift = skip & 63;
  unsigned long long w[4];
AW_UNROLL
  for (int k = 0; k < 4; ++k) {
    unsigned long long high = aw_two_over_pi[word + k], low = aw_two_over_pi[word + k + 1];
    w[k] = shift ? high << shift | low >> (64 - shift) : high;
  }
  // m times these 256 digits, modulo 2^256.
  unsigned __int128 p3 = (unsigned __int128)m * w[3], p2 = (unsigned __int128)m * w[2], p1 = (unsigned __int128)m * w[1];
  unsigned __int128 s2 = p2 + (unsigned long long)(p3 >> 64);
  unsigned __int128 s1 = p1 + (unsigned long long)(s2 >> 64);
  unsigned long long s0 = m * w[0] + (unsigned long long)(s1 >> 64);
  unsigned long long d[3] = {s0, (unsigned long long)s1, (unsigned long long)s2};
  int point = 64 + exponent - skip;  // 38 and more, at most 64: so many digits stand before the binary point
  bool all = point == 64;
  unsigned long long whole = all ? d[0] : d[0] >> (64 - point);
  unsigned long long f0 = all ? d[1] : d[0] << point | d[1] >> (64 - point);
  unsigned long long f1 = all ? d[2] : d[1] << point | d[2] >> (64 - point);
  // To the nearest quadrant: a fraction of a half or more counts down from the next.
  bool up = f0 >> 63;
  int quadrant = (int)(whole + up);
  if (up) f0 = ~f0, f1 = ~f1;
  unsigned long long top = f0 & ~0x7ffull;
  double h = (double)top * 5.421010862427522e-20;
  double l = ((double)(f0 & 0x7ffull) + (double)f1 * 5.421010862427522e-20) * 5.421010862427522e-20;
  aw_pair t = aw_fast_sum(h, l);
  aw_pair r = aw_pair_product(t, {1.5707963267948966, 6.123233995736766e-17});
  if (up) r.hi = -r.hi, r.lo = -r.lo;
  if (x < 0.0) r.hi = -r.hi, r.lo = -r.lo, quadrant = -quadrant;
  return {r, quadrant};
}
AW_BOTH aw_angle aw_reduce(double x) {
  if (aw_abs(x) < 1.0e8) {
    double shifted = aw_fma(x, 0.6366197723675814, 6755399441055744.0), n = aw_add(shifted, -6755399441055744.0);
    double a = aw_fma(-n, 1.5707963267948966, x);
    aw_pair p = aw_product(n, 6.123233995736766e-17);
    aw_pair r = aw_sum(a, -p.hi);
    r = aw_fast_sum(r.hi, aw_fma(n, 1.4973849048591698e-33, r.lo - p.lo));
    return {r, (int)aw_bits(shifted)};
  }
  return aw_reduce_far(x);
}
AW_BOTH aw_pair aw_sin_kernel(aw_pair r) {
  double z = r.hi * r.hi;
  double t = aw_fma(aw_mul(z, r.hi), aw_polynomial(aw_sin_p, z), r.lo * aw_fma(-0.5, z, 1.0));
  return aw_fast_sum(r.hi, t);
}
AW_BOTH aw_pair aw_cos_kernel(aw_pair r) {
  aw_pair z = aw_product(r.hi, r.hi);
  aw_pair w = aw_fast_sum(1.0, -0.5 * z.hi);
  double t = aw_fma(aw_mul(z.hi, z.hi), aw_polynomial(aw_cos_p, z.hi), aw_fma(-r.hi, r.lo, -0.5 * z.lo));
  return aw_fast_sum(w.hi, w.lo + t);
}
AW_BOTH double aw_circular(aw_angle a, int add) {
  aw_pair s = aw_sin_kernel(a.r), c = aw_cos_kernel(a.r);
  int q = a.quadrant + add;
  double value = q & 1 ? c.hi : s.hi;
  return q & 2 ? -value : value;
}
AW_BOTH_BIG double aw_sin(double x) {
  double value = aw_circular(aw_reduce(x), 0);
  return aw_abs(x) < aw_inf() ? (x == 0.0 ? x : value) : aw_nan();
}
AW_BOTH_BIG double aw_cos(double x) {
  double value = aw_circular(aw_reduce(x), 1);
  return aw_abs(x) < aw_inf() ? value : aw_nan();
}
AW_BOTH_BIG void aw_sincos(double x, double *sine, double *cosine) {
  aw_angle a = aw_reduce(x);
  aw_pair s = aw_sin_kernel(a.r), c = aw_cos_kernel(a.r);
  bool odd = a.quadrant & 1, finite = aw_abs(x) < aw_inf();
  double u = odd ? c.hi : s.hi, v = odd ? s.hi : c.hi;
  u = a.quadrant & 2 ? -u : u;
  v = a.quadrant + 1 & 2 ? -v : v;
  *sine = finite ? (x == 0.0 ? x : u) : aw_nan();
  *cosine = finite ? v : aw_nan();
}
AW_BOTH_BIG double aw_tan(double x) {
  aw_angle a = aw_reduce(x);
  aw_pair s = aw_sin_kernel(a.r), c = aw_cos_kernel(a.r);
  bool odd = a.quadrant & 1;
  aw_pair q = aw_quotient(odd ? c : s, odd ? aw_pair{-s.hi, -s.lo} : c);
  return aw_abs(x) < aw_inf() ? (x == 0.0 ? x : q.hi) : aw_nan();
}
AW_BOTH aw_angle aw_reduce_pi(double x) {
  double n = __builtin_rint(2.0 * x), f = aw_fma(n, -0.5, x);
  aw_pair r = aw_product(f, 3.141592653589793);
  double rest = aw_fma(n, 1.0, -4.0 * __builtin_floor(n * 0.25));
  return {aw_fast_sum(r.hi, aw_fma(f, 1.2246467991473532e-16, r.lo)), (int)rest};
}
AW_BOTH_BIG double aw_sinpi(double x) {
  aw_angle a = aw_reduce_pi(aw_abs(x) < 4503599627370496.0 ? x : 0.0);
  double value = aw_circular(a, 0);
  value = aw_is_whole(x) ? 0.0 * x : value;
  return aw_abs(x) < aw_inf() ? (x == 0.0 ? x : value) : aw_nan();
}
AW_BOTH_BIG double aw_cospi(double x) {
  double y = aw_abs(x);
  double value = aw_circular(aw_reduce_pi(y < 9007199254740992.0 ? y : 0.0), 1);
  // Half numbers have a zero that is positive.
  value = value == 0.0 ? 0.0 : value;
  return y < aw_inf() ? value : aw_nan();
}
AW_BOTH_BIG double aw_tanpi(double x) { return aw_sinpi(x) / aw_cospi(x); }

// atan(a / b) for 0 <= a <= b, b positive, as a pair.
AW_BOTH aw_pair aw_atan_ratio(double a, double b) {
  bool far = a > 0.41421356237309503 * b;
  aw_pair top = far ? aw_sum(a, -b) : aw_pair{a, 0.0};
  aw_pair bottom = far ? aw_sum(a, b) : aw_pair{b, 0.0};
  aw_pair t = aw_quotient(top, bottom);
  double z = t.hi * t.hi;
  double p = aw_fma(aw_mul(z, t.hi), aw_polynomial(aw_atan_p, z), t.lo);
  aw_pair base = far ? aw_pair{0.7853981633974483, 3.061616997868383e-17} : aw_pair{0.0, 0.0};
  aw_pair s = aw_fast_sum(t.hi, p);
  return aw_pair_sum(base, s);
}
AW_BOTH_BIG double aw_atan(double x) {
  double a = aw_abs(x);
  bool swap = a > 1.0;
  aw_pair r = aw_atan_ratio(swap ? 1.0 : a, swap ? a : 1.0);
  aw_pair s = aw_pair_sum({1.5707963267948966, 6.123233995736766e-17}, {-r.hi, -r.lo});
  double value = swap ? s.hi : r.hi;
  value = a == aw_inf() ? 1.5707963267948966 : value;
  return a < 1.0e-8 || aw_is_nan(x) ? aw_fma(aw_mul(x, x), -0.3333333333333333 * x, x) : aw_sign(value, x);
}
AW_BOTH_BIG double aw_atan2(double y, double x) {
  double a = aw_abs(y), b = aw_abs(x);
  bool swap = a > b;
  double top = swap ? b : a, bottom = swap ? a : b;
  double scale = bottom > 1.0e300 ? 5.421010862427522e-20 : bottom < 1.0e-290 ? 1.8446744073709552e19 : 1.0;
  // Far apart, the quotient alone is the result (or nothing beside the multiple of pi/2), and may be subnormal.
  double direct = top / bottom;
  bool apart = direct < 1.0e-20;
  aw_pair r = aw_atan_ratio(apart ? 0.0 : top * scale, apart ? 1.0 : bottom * scale);
  r.hi = apart ? direct : r.hi;
  aw_pair half = {1.5707963267948966, 6.123233995736766e-17}, whole = {3.141592653589793, 1.2246467991473532e-16};
  bool back = aw_bits(x) >> 63;
  r = swap ? aw_pair_sum(half, {-r.hi, -r.lo}) : r;
  r = back ? aw_pair_sum(whole, {-r.hi, -r.lo}) : r;
  double value = r.hi;
  value = top == 0.0 && bottom == 0.0 ? (back ? 3.141592653589793 : 0.0) : value;
  value = top == aw_inf() ? (back ? 2.356194490192345 : 0.7853981633974483) : value;
  return aw_is_nan(x) || aw_is_nan(y) ? x + y : aw_sign(value, y);
}
// asin(x) for 0 <= x <= 1/2, or asin(sqrt((1 - x)/2)) above: what acos and asin are made of.
AW_BOTH aw_pair aw_asin_core(double a) {
  bool far = a > 0.5;
  double z = far ? 0.5 * (1.0 - a) : a * a;
  double root = __builtin_sqrt(z);
  double h = far ? root : a;
  double lo = far && root > 0.0 ? aw_fma(-root, root, z) / (2.0 * root) : 0.0;
  return aw_fast_sum(h, aw_fma(aw_mul(h, z), aw_polynomial(aw_asin_p, z), lo));
}
AW_BOTH_BIG double aw_asin(double x) {
  double a = aw_abs(x);
  aw_pair p = aw_asin_core(a);
  aw_pair far = aw_pair_sum({1.5707963267948966, 6.123233995736766e-17}, {-2.0 * p.hi, -2.0 * p.lo});
  double value = aw_sign(a > 0.5 ? far.hi : p.hi, x);
  return a <= 1.0 ? value : aw_nan();
}
AW_BOTH_BIG double aw_acos(double x) {
  double a = aw_abs(x);
  aw_pair p = aw_asin_core(a), whole = {3.141592653589793, 1.2246467991473532e-16};
  aw_pair near = aw_pair_sum({1.5707963267948966, 6.123233995736766e-17},
                             x < 0.0 ? p : aw_pair{-p.hi, -p.lo});
  aw_pair back = aw_pair_sum(whole, {-2.0 * p.hi, -2.0 * p.lo});
  double value = a > 0.5 ? (x < 0.0 ? back.hi : 2.0 * p.hi) : near.hi;
  return a <= 1.0 ? value : aw_nan();
}

AW_BOTH_BIG double aw_sinh(double x) {
  double a = aw_abs(x);
  double z = a * a, near = aw_fma(aw_mul(z, a), aw_polynomial(aw_sinh_p, z < 1.0 ? z : 1.0), a);
  // exp(a)/2 - exp(-a)/2, the second from the first; halves before the power of two goes on, or it overflows too early.
  aw_exp_parts p = aw_exp_core(a < 720.0 ? a : 720.0, 0.0);
  double m = 1.0 + p.e, rest = p.n < 40 ? aw_power_of_2(-2 * p.n) / m : 0.0;
  double far = aw_scale(m - rest, p.n - 1);
  return aw_is_nan(x) ? x : aw_sign(a < 1.0 ? near : far, x);
}
AW_BOTH_BIG double aw_cosh(double x) {
  double a = aw_abs(x);
  aw_exp_parts p = aw_exp_core(a < 720.0 ? a : 720.0, 0.0);
  aw_pair m = aw_fast_sum(1.0, p.e);
  double rest = p.n < 40 ? aw_power_of_2(-2 * p.n) / m.hi : 0.0;
  double value = aw_scale(m.hi + (rest + m.lo), p.n - 1);
  return aw_is_nan(x) ? x : value;
}
AW_BOTH_BIG double aw_tanh(double x) {
  double a = aw_abs(x), c = a < 22.0 ? a : 22.0;
  // (e^2c - 1)/(e^2c + 1) with e^2c - 1 as a pair.
  double shifted = aw_fma(2.0 * c, 1.4426950408889634, 6755399441055744.0);
  double n = aw_add(shifted, -6755399441055744.0);
  aw_pair r = aw_sum(aw_fma(-n, 0.6931471805599453, 2.0 * c), aw_mul(-n, 2.3190468138462996e-17));
  aw_pair e = aw_fast_sum(r.hi, aw_fma(aw_mul(r.hi, r.hi), aw_polynomial(aw_exp_p, r.hi), r.lo));
  double scale = aw_power_of_2((int)aw_bits(shifted));
  aw_pair t = aw_sum(scale * e.hi, scale - 1.0);
  t.lo = aw_fma(scale, e.lo, t.lo);
  aw_pair d = aw_sum(2.0, t.hi);
  d.lo += t.lo;
  aw_pair q = aw_quotient(t, d);
  double value = a >= 22.0 ? 1.0 : q.hi;
  return aw_is_nan(x) || a < 1.0e-9 ? x : aw_sign(value, x);
}
AW_BOTH_BIG double aw_asinh(double x) {
  double a = aw_abs(x), c = a < 1.0e150 ? a : 1.0e150;
  // log1p(a + a^2/(1 + sqrt(1 + a^2)))
  aw_pair z = aw_product(c, c);
  double one = 1.0 + z.hi, root = __builtin_sqrt(one);
  double u = z.hi / (1.0 + root);
  aw_pair s = aw_sum(c, u);
  aw_pair l = aw_log1p_pair(s.hi, s.lo);
  aw_pair big = aw_log_pair(a < aw_inf() ? a : 1.0);
  double far = big.hi + (big.lo + 0.6931471805599453);
  double value = a < 1.0e150 ? l.hi + l.lo : a < aw_inf() ? far : a;
  return a < 1.0e-9 || aw_is_nan(x) ? x : aw_sign(value, x);
}
AW_BOTH_BIG double aw_acosh(double x) {
  double c = x < 1.0e150 ? x : 1.0e150, t = c - 1.0;
  // log1p(t + sqrt(t (t + 2))), whose root is taken as a pair
  aw_pair z = aw_sum(aw_mul(t, t), 2.0 * t);
  z.lo += aw_fma(t, t, -aw_mul(t, t));
  double root = __builtin_sqrt(z.hi), low = z.hi > 0.0 ? (aw_fma(-root, root, z.hi) + z.lo) / (2.0 * root) : 0.0;
  aw_pair s = aw_sum(t, root);
  aw_pair l = aw_log1p_pair(s.hi, s.lo + low);
  aw_pair big = aw_log_pair(x < aw_inf() ? (x > 1.0 ? x : 1.0) : 1.0);
  double far = big.hi + (big.lo + 0.6931471805599453);
  double value = x < 1.0e150 ? l.hi + l.lo : x < aw_inf() ? far : x;
  return x >= 1.0 ? value : aw_nan();
}
AW_BOTH_BIG double aw_atanh(double x) {
  double a = aw_abs(x), c = a < 1.0 ? a : 0.0;
  // log1p(2a/(1 - a))/2
  aw_pair top = {2.0 * c, 0.0}, bottom = aw_sum(1.0, -c);
  aw_pair q = aw_quotient(top, bottom);
  aw_pair l = aw_log1p_pair(q.hi, q.lo);
  double value = 0.5 * (l.hi + l.lo);
  value = a == 1.0 ? aw_inf() : value;
  return a > 1.0 ? aw_nan() : a < 1.0e-9 || aw_is_nan(x) ? x : aw_sign(value, x);
}

// The root of a sum of squares as a pair, of numbers brought near 1 by a power of two.
struct aw_norm_parts {
  aw_pair root;
  double scale;
};
AW_BOTH aw_norm_parts aw_norm_core(double a, double b, double c, double d) {
  double most = aw_abs(a) > aw_abs(b) ? aw_abs(a) : aw_abs(b);
  most = aw_abs(c) > most ? aw_abs(c) : most;
  most = aw_abs(d) > most ? aw_abs(d) : most;
  double scale = most > 1.0e150 ? 2.409919865102884e-181 : most < 1.0e-120 ? 4.149515568880993e180 : 1.0;
  a *= scale, b *= scale, c *= scale, d *= scale;
  aw_pair s = aw_pair_sum(aw_pair_sum(aw_product(a, a), aw_product(b, b)),
                          aw_pair_sum(aw_product(c, c), aw_product(d, d)));
  double root = __builtin_sqrt(s.hi);
  double low = s.hi > 0.0 ? (aw_fma(-root, root, s.hi) + s.lo) / (2.0 * root) : 0.0;
  return {aw_fast_sum(root, low), scale};
}
AW_BOTH bool aw_any_inf(double a, double b, double c, double d) {
  return aw_abs(a) == aw_inf() || aw_abs(b) == aw_inf() || aw_abs(c) == aw_inf() || aw_abs(d) == aw_inf();
}
AW_BOTH_BIG double aw_norm(double a, double b, double c, double d) {
  aw_norm_parts p = aw_norm_core(a, b, c, d);
  // The scale is 2^600, 2^-600 or 1; dividing by it rounds only what becomes subnormal.
  double value = p.root.hi / p.scale;
  value = a + b + c + d != a + b + c + d ? a + b + c + d : value;
  return aw_any_inf(a, b, c, d) ? aw_inf() : value;
}
AW_BOTH_BIG double aw_rnorm(double a, double b, double c, double d) {
  aw_norm_parts p = aw_norm_core(a, b, c, d);
  double y = 1.0 / p.root.hi, e = aw_fma(-p.root.hi, y, 1.0) - p.root.lo * y;
  double value = p.root.hi > 0.0 ? aw_fma(y, e, y) * p.scale : aw_inf();
  value = a + b + c + d != a + b + c + d ? a + b + c + d : value;
  return aw_any_inf(a, b, c, d) ? 0.0 : value;
}

#endif
