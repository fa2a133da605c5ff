// Functions with exact results, several to a kernel, and Bessel functions of higher order; `count` columns of results per argument.
template <class T>
__device__ void exact(const T *x, const T *y, T *r, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T a = x[i], b = y[i], whole;
  int e, q;
  T fraction = frexp(a, &e), rest = modf(a, &whole), remainder_ = remquo(a, b, &q);
  T values[] = {fraction,        (T)e,           whole,           rest,          remainder_,     (T)(q & 7), (T)(q < 0),
                remainder(a, b), nextafter(a, b), logb(a),        (T)ilogb(a),   round(a),       rint(a),    floor(a),
                ceil(a),         trunc(a),        ldexp(a, -1060), ldexp(a, 40),  fdim(a, b),    copysign(a, b),
                fmin(a, b),      fmax(a, b),      (T)lround(a),    (T)llrint(a), scalbn(a, -100), (T)(isfinite(a) + 2 * signbit(b))};
  for (int k = 0; k < 26; ++k) r[k * n + i] = values[k];
}
extern "C" __global__ void d_exact(const double *x, const double *y, double *r, int n) { exact(x, y, r, n); }
extern "C" __global__ void f_exact(const float *x, const float *y, float *r, int n) { exact(x, y, r, n); }
extern "C" __global__ void orders(const double *x, double *r, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) r[i] = jn(3, x[i]), r[n + i] = jn(40, x[i]), r[2 * n + i] = yn(5, x[i]);
}

// The argument is a product, which the compiler might fuse with what the function does to it.
template <class T>
__device__ void of_product(const T *x, const T *y, T *r, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T whole, rest = modf(x[i] * y[i], &whole);
  T values[] = {round(x[i] * y[i]), whole, rest, fdim(x[i] * y[i], whole), remainder(x[i] * y[i], (T)1), (T)lround(x[i] * y[i])};
  for (int k = 0; k < 6; ++k) r[k * n + i] = values[k];
}
extern "C" __global__ void d_of_product(const double *x, const double *y, double *r, int n) { of_product(x, y, r, n); }
extern "C" __global__ void f_of_product(const float *x, const float *y, float *r, int n) { of_product(x, y, r, n); }
