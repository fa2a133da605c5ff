// Bessel functions for double.
#ifndef ANYWARP_MATH_BESSEL_H
#define ANYWARP_MATH_BESSEL_H

#include "math_special.h"

// The product of the distances to the zeros, each taken with the zero as a pair.
template <int N>
AW_HD static inline double aw_from_zeros(const double (&zeros)[N][2], double x) {
  double r = 1.0;
AW_UNROLL
  for (int k = 0; k < N; ++k) r *= (x - zeros[k][0]) - zeros[k][1];
  return r;
}
// Hankel's form for x >= 8: J = (P cos - Q sin) sqrt(2/(pi x)) of x - pi/4 (or - 3 pi/4), Y with sine and cosine exchanged.
struct aw_wave {
  double p, q, sum, difference;
};
AW_BOTH aw_wave aw_hankel(double x, bool second) {
  double u = 1.0 / x, z = u * u, s, c;
  aw_sincos(x, &s, &c);
  double root = __builtin_sqrt(0.3183098861837907 * u);
  double p = second ? aw_polynomial(aw_hankel_p1, z) : aw_polynomial(aw_hankel_p0, z);
  double q = (second ? aw_polynomial(aw_hankel_q1, z) : aw_polynomial(aw_hankel_q0, z)) * u;
  return {p * root, q * root, s + c, s - c};
}
AW_BOTH_BIG double aw_j0(double x) {
  double a = aw_abs(x), c = a < 8.0 ? a : 8.0;
  double near = aw_from_zeros(aw_j0_zeros, c) * aw_piece(aw_j0_t, c, 0.0, 2.0);
  aw_wave w = aw_hankel(a > 8.0 && a < aw_inf() ? a : 8.0, false);
  double far = w.p * w.sum - w.q * w.difference;
  return aw_is_nan(x) ? x : a < 8.0 ? near : a < aw_inf() ? far : 0.0;
}
AW_BOTH_BIG double aw_j1(double x) {
  double a = aw_abs(x), c = a < 8.0 ? a : 8.0;
  double near = c * aw_from_zeros(aw_j1_zeros, c) * aw_piece(aw_j1_t, c, 0.0, 2.0);
  aw_wave w = aw_hankel(a > 8.0 && a < aw_inf() ? a : 8.0, true);
  double far = w.p * w.difference + w.q * w.sum;
  double value = a < 8.0 ? near : a < aw_inf() ? far : 0.0;
  return aw_is_nan(x) ? x : x < 0.0 ? -value : x == 0.0 ? x : value;
}
AW_BOTH double aw_y_edges(double x, double value) {
  value = x == aw_inf() ? 0.0 : value;
  value = x == 0.0 ? -aw_inf() : value;
  return aw_is_nan(x) || x < 0.0 ? aw_nan() : value;
}
AW_BOTH_BIG double aw_y0(double x) {
  double c = x > 0.75 ? (x < 8.0 ? x : 8.0) : 0.75, s = x > 0.0 && x < 0.75 ? x : 0.75;
  double tiny = 0.6366197723675814 * aw_log(s) * aw_j0(s) + aw_polynomial(aw_y0_p, s * s);
  double near = aw_from_zeros(aw_y0_zeros, c) * aw_piece(aw_y0_t, c, 0.75, 4.0);
  aw_wave w = aw_hankel(x > 8.0 && x < aw_inf() ? x : 8.0, false);
  double far = w.p * w.difference + w.q * w.sum;
  return aw_y_edges(x, x < 0.75 ? tiny : x < 8.0 ? near : far);
}
AW_BOTH_BIG double aw_y1(double x) {
  double c = x > 0.75 ? (x < 8.0 ? x : 8.0) : 0.75, s = x > 0.0 && x < 0.75 ? x : 0.75;
  double tiny = 0.6366197723675814 * aw_log(s) * aw_j1(s) + s * aw_polynomial(aw_y1_p, s * s) - 0.6366197723675814 / s;
  double near = aw_from_zeros(aw_y1_zeros, c) * aw_piece(aw_y1_t, c, 0.75, 4.0);
  aw_wave w = aw_hankel(x > 8.0 && x < aw_inf() ? x : 8.0, true);
  double far = w.q * w.difference - w.p * w.sum;
  return aw_y_edges(x, x < 0.75 ? tiny : x < 8.0 ? near : far);
}
// Of order n: upward where that is stable, downward from far above (Miller) where it is not.
AW_BOTH_BIG double aw_jn(int n, double x) {
  if (n < 0) return aw_nan();
  if (n == 0) return aw_j0(x);
  if (n == 1) return aw_j1(x);
  double a = aw_abs(x), value;
  if (!(a > 0.0) || a == aw_inf()) return aw_is_nan(x) ? x : 0.0;
  if (a > (double)n) {
    double before = aw_j0(a), now = aw_j1(a);
    for (int k = 1; k < n; ++k) {
      double next = now * (2.0 * k / a) - before;
      before = now, now = next;
    }
    value = now;
  } else {
    int start = 2 * ((n + (int)__builtin_sqrt(60.0 * n) + 12) / 2);
    double above = 0.0, now = 1.0e-300, sum = 0.0, found = 0.0;
    for (int k = start; k > 0; --k) {
      double below = k * (2.0 / a) * now - above;
      above = now, now = below;
      if (aw_abs(now) > 1.0e150) now *= 1.0e-150, above *= 1.0e-150, found *= 1.0e-150, sum *= 1.0e-150;
      if (k & 1) sum += now;
      if (k == n) found = above;
    }
    value = found / (2.0 * sum - now);
  }
  return x < 0.0 && (n & 1) ? -value : value;
}
AW_BOTH_BIG double aw_yn(int n, double x) {
  if (n < 0) return aw_nan();
  if (n == 0) return aw_y0(x);
  double before = aw_y0(x), now = aw_y1(x);
  for (int k = 1; k < n && now > -aw_inf(); ++k) {
    double next = now * (2.0 * k / x) - before;
    before = now, now = next;
  }
  return now;
}
// exp(x) f as exp(x/2) (exp(x/2) f): the functions overflow later than the exponential.
AW_BOTH double aw_i_scaled(double x, double near, double u, double far) {
  double half = aw_exp(0.5 * x);
  double f = x < 8.0 ? near : far * __builtin_sqrt(u);
  return half * (half * f);
}
AW_BOTH_BIG double aw_cyl_bessel_i0(double x) {
  double a = aw_abs(x), u = a > 8.0 ? 1.0 / a : 0.125;
  double value = aw_i_scaled(a, aw_piece(aw_i0_t, a < 8.0 ? a : 8.0, 0.0, 2.0), u, aw_polynomial(aw_i0_far, u));
  return aw_is_nan(x) ? x : a > 720.0 ? aw_inf() : value;
}
AW_BOTH_BIG double aw_cyl_bessel_i1(double x) {
  double a = aw_abs(x), c = a < 8.0 ? a : 8.0, u = a > 8.0 ? 1.0 / a : 0.125;
  double value = aw_i_scaled(a, c * aw_piece(aw_i1_t, c, 0.0, 2.0), u, aw_polynomial(aw_i1_far, u));
  return aw_is_nan(x) ? x : aw_sign(a > 720.0 ? aw_inf() : value, x);
}

#define AW_BY_DOUBLE(name) \
  AW_BOTH_BIG float aw_##name##f(float x) { return (float)aw_##name((double)x); }
AW_BY_DOUBLE(j0)
AW_BY_DOUBLE(j1)
AW_BY_DOUBLE(y0)
AW_BY_DOUBLE(y1)
AW_BY_DOUBLE(cyl_bessel_i0)
AW_BY_DOUBLE(cyl_bessel_i1)
#undef AW_BY_DOUBLE

#endif
