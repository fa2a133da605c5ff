// cuBLAS level 1: vectors. As the reference BLAS does, functions of one vector do nothing where n
// or the increment is not positive.
#pragma once

#include <cstring>

#include "libraries/cublas/blas.h"

namespace aw::cublas {

template <Name Which, class T>
void extreme(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, auto* result) {
  using E = Element<T>;
  auto& it = use(handle);
  int count = narrow(n), stride = narrow(incx);
  static auto* const function = reinterpret_cast<int (*)(const int*, const E*, const int*)>(
      lib::engine_symbol(("i" + std::string(1, kLetter<E>) + Which.text).c_str()));
  deliver(it, result, Which.text, [=, at = elements(x)] {
    return count <= 0 || stride <= 0 ? 0 : function(&count, at, &stride);
  });
}
template <class T>
void iamax(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, auto* result) {
  extreme<"amax_">(handle, n, x, incx, result);
}
template <class T>
void iamin(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, auto* result) {
  extreme<"amin_">(handle, n, x, incx, result);
}

// The sum of magnitudes and the Euclidean norm: real results of vectors of any type.
template <Name OfReal, Name OfSingle, Name OfDouble, class T>
void measure(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, Real<Element<T>>* result) {
  using E = Element<T>;
  using R = Real<E>;
  auto& it = use(handle);
  int count = narrow(n), stride = narrow(incx);
  const char* name = !kComplex<E> ? OfReal.text : sizeof(E) == 8 ? OfSingle.text : OfDouble.text;
  std::string whole = (kComplex<E> ? "" : std::string(1, kLetter<E>)) + name;
  static auto* const function =
      reinterpret_cast<R (*)(const int*, const E*, const int*)>(lib::engine_symbol(whole.c_str()));
  deliver(it, result, OfReal.text, [=, at = elements(x)] {
    return count <= 0 || stride <= 0 ? R(0) : function(&count, at, &stride);
  });
}
template <class T>
void asum(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, Real<Element<T>>* result) {
  measure<"asum_", "scasum_", "dzasum_">(handle, n, x, incx, result);
}
template <class T>
void nrm2(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, Real<Element<T>>* result) {
  measure<"nrm2_", "scnrm2_", "dznrm2_">(handle, n, x, incx, result);
}

template <bool Conjugate, class T>
void product_of(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, const T* y,
                int64_t incy, T* result) {
  using E = Element<T>;
  auto& it = use(handle);
  int count = narrow(n), sx = narrow(incx), sy = narrow(incy);
  // Not the functions of Fortran, which return complex numbers in more than one way.
  static auto* const complex = reinterpret_cast<void (*)(int, const E*, int, const E*, int, E*)>(
      kComplex<E> ? lib::engine_symbol(("cblas_" + std::string(1, kLetter<E>) +
                                        (Conjugate ? "dotc_sub" : "dotu_sub"))
                                           .c_str())
                  : nullptr);
  need<Real<E>, "dot_">();
  deliver(it, elements(result), "dot", [=, a = elements(x), b = elements(y)]() -> E {
    E sum = 0;
    if (count <= 0) return sum;
    if constexpr (kComplex<E>)
      complex(count, a, sx, b, sy, &sum);
    else
      sum = blas<E, "dot_", E>(&count, a, &sx, b, &sy);
    return sum;
  });
}
template <class T>
void dot(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, const T* y, int64_t incy,
         T* result) {
  product_of<false>(handle, n, x, incx, y, incy, result);
}
template <class T>
void dotu(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, const T* y, int64_t incy,
          T* result) {
  product_of<false>(handle, n, x, incx, y, incy, result);
}
template <class T>
void dotc(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, const T* y, int64_t incy,
          T* result) {
  product_of<true>(handle, n, x, incx, y, incy, result);
}

template <class T>
void axpy(cublasHandle_t handle, int64_t n, const T* alpha, const T* x, int64_t incx, T* y,
          int64_t incy) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<E> factor(it, alpha);
  int count = narrow(n), sx = narrow(incx), sy = narrow(incy);
  need<E, "axpy_">();
  if (count <= 0) return;
  lib::submit(it.stream, "axpy", [=, a = elements(x), b = elements(y)] {
    E f = factor();
    blas<E, "axpy_">(&count, const_cast<const E*>(&f), a, &sx, b, &sy);
  });
}

template <class T>
void copy(cublasHandle_t handle, int64_t n, const T* x, int64_t incx, T* y, int64_t incy) {
  using E = Element<T>;
  auto& it = use(handle);
  if (n <= 0) return;
  lib::submit(it.stream, "copy",
              [=, a = first_of(elements(x), n, incx), b = first_of(elements(y), n, incy)] {
                if (incx == 1 && incy == 1)
                  memmove(static_cast<void*>(b), a, static_cast<size_t>(n) * sizeof(E));
                else
                  for (int64_t i = 0; i < n; ++i) b[i * incy] = a[i * incx];
              });
}

template <class T>
void swap(cublasHandle_t handle, int64_t n, T* x, int64_t incx, T* y, int64_t incy) {
  auto& it = use(handle);
  if (n <= 0) return;
  lib::submit(it.stream, "swap",
              [=, a = first_of(elements(x), n, incx), b = first_of(elements(y), n, incy)] {
                for (int64_t i = 0; i < n; ++i) std::swap(a[i * incx], b[i * incy]);
              });
}

// The factor of complex vectors may be real.
template <class A, class T>
void scal(cublasHandle_t handle, int64_t n, const A* alpha, T* x, int64_t incx) {
  auto& it = use(handle);
  Scalar<Element<A>> factor(it, alpha);
  if (n <= 0 || incx <= 0) return;
  lib::submit(it.stream, "scal", [=, at = elements(x)] {
    auto f = factor();
    for (int64_t i = 0; i < n; ++i) at[i * incx] *= f;
  });
}

// x = c x + s y, y = c y - conj(s) x
template <class T, class C, class S>
void rot(cublasHandle_t handle, int64_t n, T* x, int64_t incx, T* y, int64_t incy, const C* c,
         const S* s) {
  using E = Element<T>;
  auto& it = use(handle);
  Scalar<Element<C>> cosine(it, c);
  Scalar<Element<S>> sine(it, s);
  if (n <= 0) return;
  lib::submit(it.stream, "rot",
              [=, a = first_of(elements(x), n, incx), b = first_of(elements(y), n, incy)] {
                auto co = cosine();
                E si = sine(), back = si;
                if constexpr (kComplex<E>) back = std::conj(si);
                for (int64_t i = 0; i < n; ++i) {
                  E u = a[i * incx], v = b[i * incy];
                  a[i * incx] = co * u + si * v;
                  b[i * incy] = co * v - back * u;
                }
              });
}

// All four numbers lie where the pointer mode says, and are read and written.
template <class T>
void rotg(cublasHandle_t handle, T* a, T* b, Real<Element<T>>* c, T* s) {
  using E = Element<T>;
  auto& it = use(handle);
  require(a && b && c && s);
  need<E, "rotg_">();
  lib::submit(it.stream, "rotg",
              [=] { blas<E, "rotg_">(elements(a), elements(b), c, elements(s)); });
  if (it.pointer_mode == CUBLAS_POINTER_MODE_HOST) finish(it);
}

template <class T>
void rotm(cublasHandle_t handle, int64_t n, T* x, int64_t incx, T* y, int64_t incy,
          const T* param) {
  auto& it = use(handle);
  require(param);
  struct Five {
    T value[5];
  };
  Scalar<Five> numbers(it, param);
  int count = narrow(n), sx = narrow(incx), sy = narrow(incy);
  need<T, "rotm_">();
  if (count <= 0) return;
  lib::submit(it.stream, "rotm", [=] {
    Five five = numbers();
    blas<T, "rotm_">(&count, x, &sx, y, &sy, static_cast<const T*>(five.value));
  });
}

template <class T>
void rotmg(cublasHandle_t handle, T* d1, T* d2, T* x1, const T* y1, T* param) {
  auto& it = use(handle);
  require(d1 && d2 && x1 && y1 && param);
  need<T, "rotmg_">();
  lib::submit(it.stream, "rotmg", [=] { blas<T, "rotmg_">(d1, d2, x1, y1, param); });
  if (it.pointer_mode == CUBLAS_POINTER_MODE_HOST) finish(it);
}

}  // namespace aw::cublas
