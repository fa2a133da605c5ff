// Error, gamma and Bessel functions for double.
#ifndef ANYWARP_MATH_SPECIAL_H
#define ANYWARP_MATH_SPECIAL_H

#include "math_trigonometry.h"

// exp(-x^2) with the rounding of the square made good.
AW_BOTH double aw_exp_minus_square(double x, double factor) {
  aw_pair s = aw_product(x, x);
  return aw_exp_pair(-factor * s.hi, -factor * s.lo);
}
// erfcx(x) for x >= 0: exp(x^2) erfc(x).
AW_BOTH double aw_erfcx_positive(double x) {
  aw_pair t = aw_quotient({4.0, 0.0}, aw_sum(4.0, x));
  double f = aw_piece(aw_erfcx_t, t.hi, 0.0, 32.0, t.lo);
  return aw_fma(f, t.hi, f * t.lo);
}
AW_BOTH_BIG double aw_erf(double x) {
  double a = aw_abs(x), c = a < 6.0 ? a : 6.0;
  double near = x * aw_polynomial(aw_erf_p, a < 1.0 ? x * x : 1.0);
  double far = aw_sign(1.0 - aw_exp_minus_square(c, 1.0) * aw_erfcx_positive(c), x);
  return a < 1.0 ? near : aw_is_nan(x) ? x : far;
}
AW_BOTH_BIG double aw_erfc(double x) {
  double a = aw_abs(x), c = a < 28.0 ? a : 28.0;
  double tail = aw_exp_minus_square(c, 1.0) * aw_erfcx_positive(c);
  double near = 1.0 - x * aw_polynomial(aw_erf_p, a < 1.0 ? x * x : 1.0);
  double value = x < 0.5 && x > -1.0 ? near : x < 0.0 ? 2.0 - tail : tail;
  return aw_is_nan(x) ? x : value;
}
AW_BOTH_BIG double aw_erfcx(double x) {
  double a = aw_abs(x);
  double positive = a < 1.0e30 ? aw_erfcx_positive(a) : 0.5641895835477563 / a;
  double c = a < 27.0 ? a : 27.0;
  double negative = 2.0 * aw_exp_minus_square(c, -1.0) - positive;
  return aw_is_nan(x) ? x : x < 0.0 ? negative : positive;
}
AW_BOTH_BIG double aw_normcdf(double x) {
  double c = aw_clamp(x, -39.0, 39.0), a = aw_abs(c);
  double tail = 0.5 * aw_erfcx_positive(a * 0.7071067811865476) * aw_exp_minus_square(c, 0.5);
  return aw_is_nan(x) ? x : x < 0.0 ? tail : 1.0 - tail;
}
// The inverse of erfc in (0, 1/2].
AW_BOTH double aw_erfcinv_tail(double q) {
  double w = __builtin_sqrt(-aw_log(q));
  double near = aw_piece(aw_erfcinv_near_t, w, 0.8, 10.0), far = aw_piece(aw_erfcinv_far_t, w, 3.2, 2.5);
  return w * (w < 3.2 ? near : far);
}
AW_BOTH double aw_erfinv_near(double y) { return y * aw_polynomial(aw_erfinv_p, y * y); }
AW_BOTH_BIG double aw_erfinv(double y) {
  double a = aw_abs(y);
  double tail = aw_sign(aw_erfcinv_tail(a < 1.0 && a > 0.5 ? 1.0 - a : 0.5), y);
  double value = a <= 0.5 ? aw_erfinv_near(y) : tail;
  value = a == 1.0 ? aw_sign(aw_inf(), y) : value;
  return a <= 1.0 ? value : aw_nan();
}
AW_BOTH_BIG double aw_erfcinv(double q) {
  double r = q > 1.0 ? 2.0 - q : q;
  double tail = aw_erfcinv_tail(r > 0.0 && r < 0.5 ? r : 0.5);
  double value = r < 0.5 ? (q > 1.0 ? -tail : tail) : aw_erfinv_near(1.0 - q);
  value = r == 0.0 ? aw_sign(aw_inf(), 1.0 - q) : value;
  return q >= 0.0 && q <= 2.0 ? value : aw_nan();
}
AW_BOTH_BIG double aw_normcdfinv(double p) {
  double r = aw_erfcinv(2.0 * p);
  // sqrt(2) in two parts: the product is rounded once.
  return p >= 0.0 && p <= 1.0 ? aw_fma(r, -1.4142135623730951, aw_abs(r) < 100.0 ? r * 9.667293313452913e-17 : 0.0) : aw_nan();
}

// lgamma for x >= 1 as a pair.
AW_BOTH aw_pair aw_lgamma_stirling(double x) {
  double u = 1.0 / x;
  double rest = aw_polynomial(aw_stirling_p, u * u) * u;
  aw_pair l = aw_log_pair(x);
  aw_pair main = aw_pair_product(aw_sum(x, -0.5), l);
  aw_pair sum = aw_pair_sum(main, {-x, 0.0});
  return aw_pair_sum(sum, aw_fast_sum(0.9189385332046728, rest - 3.8782941580672414e-17));
}
AW_BOTH double aw_lgamma_table(double x) { return (x - 1.0) * (x - 2.0) * aw_piece(aw_lgamma_t, x, 1.0, 8.0); }
AW_BOTH_BIG double aw_lgamma(double x) {
  double a = aw_abs(x), c = a < 1.0e305 ? a : 1.0e305;
  bool below = c < 1.0;
  // 0 < a < 1: lgamma(a) = lgamma(1 + a) - log(a), the former as a (a - 1) times the table.
  double g = aw_piece(aw_lgamma_t, below ? 1.0 + c : c, 1.0, 8.0);
  double middle = below ? aw_fma(c * (c - 1.0), g, -aw_log(c)) : (c - 1.0) * (c - 2.0) * g;
  aw_pair s = aw_lgamma_stirling(c < 8.0 ? 8.0 : c);
  double value = c < 8.0 ? middle : s.hi;
  if (x < 0.0) {
    // log(pi / |x sin(pi x)|) - lgamma(-x); near a small zero of the argument the first is all.
    double f = aw_sinpi(x);
    double low = c < 8.0 ? 0.0 : s.lo;
    aw_pair product = aw_product(aw_abs(f), c);
    aw_pair l = product.hi < 1.0e-290 ? aw_pair{aw_log(product.hi), 0.0} : aw_log_pair(product.hi);
    l.lo += product.lo / product.hi;
    aw_pair r = aw_pair_sum({1.1447298858494002, 1.026595116270782e-17}, {-l.hi, -l.lo});
    r = aw_pair_sum(r, {-value, -low});
    value = f == 0.0 ? aw_inf() : c < 1.0e-200 ? -aw_log(c) : r.hi;
  }
  value = value == 0.0 ? 0.0 : value;  // lgamma(1) is +0
  value = x == 0.0 || a == aw_inf() || x >= 2.6e305 ? aw_inf() : value;
  return aw_is_nan(x) ? x : value;
}
AW_BOTH_BIG double aw_tgamma(double x) {
  double a = aw_abs(x), c = a < 190.0 ? a : 190.0;
  // Below 8: the product x (x + 1) ... leads up to 8 and more; gamma(c) = gamma(c + k) / product.
  double product = 1.0, up = c;
  for (int k = 0; k < 8; ++k) {
    bool more = up < 8.0;
    product = more && up > 1.0e-300 ? product * up : product;
    up = more ? up + 1.0 : up;
  }
  if (c < 1.0e-9) return x == 0.0 ? aw_sign(aw_inf(), x) : 1.0 / x - 0.5772156649015329;
  // c + k is not exact for c < 1: what is lost, times the slope of lgamma there.
  aw_pair s = aw_lgamma_stirling(up);
  if (c < 8.0) {
    double steps = __builtin_rint(up - c), lost = (c - (up - steps));
    s.lo += lost * 2.0;
  }
  bool negative = x < 0.0;
  aw_exp_parts p = aw_exp_core(s.hi, s.lo);
  double m = 1.0 + p.e;
  double value = aw_scale(m, p.n) / product;
  if (negative) {
    double f = aw_sinpi(x) * c;
    // -pi / (c sin(pi c) gamma(c)), where sin(pi x) = -sin(pi c)
    value = aw_scale(3.141592653589793 * product / (f * m), -p.n);
    value = aw_is_whole(x) ? aw_nan() : value;
    value = x < -185.0 && !aw_is_whole(x) ? aw_sign(0.0, f) : value;
  }
  value = x > 171.7 ? aw_inf() : value;
  return aw_is_nan(x) ? x : x == -aw_inf() ? aw_nan() : value;
}

#endif
