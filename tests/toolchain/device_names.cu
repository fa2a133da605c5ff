// Names of C and C++ that device and host code use without thinking, in both precisions: this file
// has to compile.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>
struct S {
  int a;
  __device__ S(int x) : a(x) {}
  __device__ virtual ~S() {}
  __device__ virtual int f() { return a; }
};
struct Twice : S {
  __device__ Twice(int x) : S(x) {}
  __device__ int f() override { return a * 2; }
};
template <typename T>
__global__ void k(T* p, long long* c, int* q) {
  c[0] = clock64() - clock();
  p[0] = std::fmin(p[1], p[2]) + std::hypot(p[3], p[4]) + std::fma(p[1], p[2], p[3]) +
         std::floor(p[4]) + std::round(p[5]) + std::tgamma(p[3]) + std::cbrt(p[1]) +
         std::atan2(p[1], p[2]) + std::log1p(p[3]) + std::pow(p[1], 2) + std::pow(p[1], p[2]) +
         std::pow(2, p[4]) + std::fmod(p[1], p[2]) + std::copysign(p[1], p[2]) + std::abs(p[3]) +
         std::min(p[1], p[2]) + std::sqrt(q[1]) + std::ldexp(p[1], 3) + std::lround(p[3]) +
         (std::isfinite(p[3]) ? 1 : 0) + std::erf(p[3]) + std::exp2(p[1]) +
         std::numeric_limits<T>::epsilon();
  int e;
  T ip;
  p[7] = frexp(p[8], &e) + modf(p[9], &ip) + ip + e;
  assert(q[3] < 4);
  S* s = new Twice(q[5]);
  q[6] = s->f();
  delete s;
  memcpy(q, q + 10, 40);
  char b[10];
  memset(b, q[3], 10);
  q[4] = b[q[5]];
  q[7] = abs(q[8]) + std::max(q[1], q[2]) + ::max(3, q[3]) + isnan(p[3]) + signbit(p[4]);
  p[10] = rsqrt(p[11]) + sinpi(p[3]) + exp10(p[4]) + norm3d(p[1], p[2], p[3]);
  unsigned long ul = q[3];
  c[3] = min(ul, 4ul) + max(3ll, c[2]);
  p[12] = fdividef(1.f, 3.f) + powf(2.f, 3) + __powf(2.f, 3.f);
}
template __global__ void k<float>(float*, long long*, int*);
template __global__ void k<double>(double*, long long*, int*);
int main() {
  float f = rsqrtf(3.f) + sinf(2.f) + std::sin(3.f) + exp10f(3) + fminf(1, 2) + max(1, 2);
  double s, c;
  sincos(1.0, &s, &c);
  sincospi(1.0, &s, &c);
  return (int)f + abs(-3) + (int)std::abs(-3.5) + isnan(s);
}
