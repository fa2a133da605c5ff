// cuBLAS level 1 with named types.
#include "libraries/cublas/extended.h"
#include "libraries/cublas/level1.h"
#include "libraries/data_types.h"
#include "libraries/float_formats.h"

namespace aw::cublas {
namespace {

using formats::Brain;
using formats::Half;
using formats::narrow;
using formats::widen;

// A vector whose type is a number, as f64: every 16-bit number, f32 and f64 is one of these.
double read(const void* from, cudaDataType type, int64_t at) {
  switch (type) {
    case CUDA_R_16F:
      return widen(static_cast<const Half*>(from)[at]);
    case CUDA_R_16BF:
      return widen(static_cast<const Brain*>(from)[at]);
    case CUDA_R_32F:
      return static_cast<const float*>(from)[at];
    default:
      return static_cast<const double*>(from)[at];
  }
}
void write(void* to, cudaDataType type, int64_t at, double value) {
  switch (type) {
    case CUDA_R_16F:
      narrow(static_cast<float>(value), static_cast<Half*>(to)[at]);
      break;
    case CUDA_R_16BF:
      narrow(static_cast<float>(value), static_cast<Brain*>(to)[at]);
      break;
    case CUDA_R_32F:
      static_cast<float*>(to)[at] = static_cast<float>(value);
      break;
    default:
      static_cast<double*>(to)[at] = value;
  }
}

bool real(cudaDataType type) {
  return type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_32F || type == CUDA_R_64F;
}

// Calls `typed` with a null pointer of the type where all are that one; false for others.
template <class Call>
bool of_one_type(cudaDataType type, Call typed) {
  switch (type) {
    case CUDA_R_32F:
      return typed(static_cast<float*>(nullptr)), true;
    case CUDA_R_64F:
      return typed(static_cast<double*>(nullptr)), true;
    case CUDA_C_32F:
      return typed(static_cast<cuComplex*>(nullptr)), true;
    case CUDA_C_64F:
      return typed(static_cast<cuDoubleComplex*>(nullptr)), true;
    default:
      return false;
  }
}

[[noreturn]] void refuse(const char* what, cudaDataType x, cudaDataType y) {
  unsupported(std::string(what) + " of types " + std::to_string(x) + " and " + std::to_string(y) +
              " (numbers of cudaDataType)");
}

int64_t start(int64_t n, int64_t inc) { return inc < 0 ? (1 - n) * inc : 0; }

double scalar_now(bool on_device, const void* at, cudaDataType type, double value) {
  return on_device ? read(at, type, 0) : value;
}

template <class Body>
void result_of(cublasHandle_t handle, void* result, cudaDataType type, const char* name,
               Body body) {
  auto& it = use(handle);
  require(result);
  lib::submit(it.stream, name, [=] { write(result, type, 0, body()); });
  if (it.pointer_mode == CUBLAS_POINTER_MODE_HOST) finish(it);
}

}  // namespace

void AxpyEx(cublasHandle_t handle, int64_t n, const void* alpha, cudaDataType alphaType,
            const void* x, cudaDataType xType, int64_t incx, void* y, cudaDataType yType,
            int64_t incy, cudaDataType) {
  bool alike = alphaType == xType && xType == yType;
  auto typed = [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    axpy<T>(handle, n, static_cast<const T*>(alpha), static_cast<const T*>(x), incx,
            static_cast<T*>(y), incy);
  };
  if (alike && of_one_type(xType, typed)) return;
  if (!real(alphaType) || !real(xType) || !real(yType)) refuse("AxpyEx", xType, yType);
  auto& it = use(handle);
  require(alpha);
  bool device = it.pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  double value = device ? 0 : read(alpha, alphaType, 0);
  if (n <= 0) return;
  lib::submit(it.stream, "axpyEx", [=] {
    double f = scalar_now(device, alpha, alphaType, value);
    for (int64_t i = 0, a = start(n, incx), b = start(n, incy); i < n; ++i, a += incx, b += incy)
      write(y, yType, b, read(y, yType, b) + f * read(x, xType, a));
  });
}

void ScalEx(cublasHandle_t handle, int64_t n, const void* alpha, cudaDataType alphaType, void* x,
            cudaDataType xType, int64_t incx, cudaDataType) {
  auto typed = [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    scal<T, T>(handle, n, static_cast<const T*>(alpha), static_cast<T*>(x), incx);
  };
  if (alphaType == xType && of_one_type(xType, typed)) return;
  if (!real(alphaType) || !real(xType)) refuse("ScalEx", alphaType, xType);
  auto& it = use(handle);
  require(alpha);
  bool device = it.pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  double value = device ? 0 : read(alpha, alphaType, 0);
  if (n <= 0 || incx <= 0) return;
  lib::submit(it.stream, "scalEx", [=] {
    double f = scalar_now(device, alpha, alphaType, value);
    for (int64_t i = 0; i < n; ++i) write(x, xType, i * incx, f * read(x, xType, i * incx));
  });
}

namespace {

// As bytes: what moves is not looked at.
int64_t element_bytes(cudaDataType x, cudaDataType y, const char* what) {
  const int64_t bytes = lib::float_bytes(x);
  if (x != y || !bytes) refuse(what, x, y);
  return bytes;
}

template <class Each>
void pairwise(cublasHandle_t handle, const char* name, int64_t n, const void* x, int64_t incx,
              void* y, int64_t incy, int64_t bytes, Each each) {
  auto& it = use(handle);
  if (n <= 0) return;
  lib::submit(it.stream, name, [=] {
    auto* a = static_cast<char*>(const_cast<void*>(x)) + start(n, incx) * bytes;
    auto* b = static_cast<char*>(y) + start(n, incy) * bytes;
    for (int64_t i = 0; i < n; ++i, a += incx * bytes, b += incy * bytes)
      each(a, b, static_cast<size_t>(bytes));
  });
}

}  // namespace

void CopyEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
            void* y, cudaDataType yType, int64_t incy) {
  pairwise(handle, "copyEx", n, x, incx, y, incy, element_bytes(xType, yType, "CopyEx"),
           [](char* a, char* b, size_t bytes) { memmove(b, a, bytes); });
}

void SwapEx(cublasHandle_t handle, int64_t n, void* x, cudaDataType xType, int64_t incx, void* y,
            cudaDataType yType, int64_t incy) {
  pairwise(handle, "swapEx", n, x, incx, y, incy, element_bytes(xType, yType, "SwapEx"),
           [](char* a, char* b, size_t bytes) { std::swap_ranges(a, a + bytes, b); });
}

namespace {

template <bool Conjugate>
void dot_ex(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
            const void* y, cudaDataType yType, int64_t incy, void* result,
            cudaDataType resultType) {
  auto typed = [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    product_of<Conjugate, T>(handle, n, static_cast<const T*>(x), incx, static_cast<const T*>(y),
                             incy, static_cast<T*>(result));
  };
  if (xType == yType && xType == resultType && of_one_type(xType, typed)) return;
  if (!real(xType) || !real(yType) || !real(resultType)) refuse("DotEx", xType, yType);
  result_of(handle, result, resultType, "dotEx", [=] {
    double sum = 0;
    for (int64_t i = 0, a = start(n, incx), b = start(n, incy); i < n; ++i, a += incx, b += incy)
      sum += read(x, xType, a) * read(y, yType, b);
    return sum;
  });
}

}  // namespace

void DotEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
           const void* y, cudaDataType yType, int64_t incy, void* result, cudaDataType resultType,
           cudaDataType) {
  dot_ex<false>(handle, n, x, xType, incx, y, yType, incy, result, resultType);
}
void DotcEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
            const void* y, cudaDataType yType, int64_t incy, void* result, cudaDataType resultType,
            cudaDataType) {
  dot_ex<true>(handle, n, x, xType, incx, y, yType, incy, result, resultType);
}

void Nrm2Ex(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
            void* result, cudaDataType resultType, cudaDataType) {
  auto typed = [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    nrm2<T>(handle, n, static_cast<const T*>(x), incx, static_cast<Real<Element<T>>*>(result));
  };
  if ((xType & 1) == 0 && xType == resultType && of_one_type(xType, typed)) return;
  if ((xType == CUDA_C_32F && resultType == CUDA_R_32F) ||
      (xType == CUDA_C_64F && resultType == CUDA_R_64F)) {
    of_one_type(xType, typed);
    return;
  }
  if (!real(xType) || !real(resultType)) refuse("Nrm2Ex", xType, resultType);
  result_of(handle, result, resultType, "nrm2Ex", [=] {
    double sum = 0;
    for (int64_t i = 0; i < n && incx > 0; ++i)
      sum += read(x, xType, i * incx) * read(x, xType, i * incx);
    return std::sqrt(sum);
  });
}

void AsumEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
            void* result, cudaDataType resultType, cudaDataType) {
  if (!real(xType) || !real(resultType)) refuse("AsumEx", xType, resultType);
  result_of(handle, result, resultType, "asumEx", [=] {
    double sum = 0;
    for (int64_t i = 0; i < n && incx > 0; ++i) sum += std::abs(read(x, xType, i * incx));
    return sum;
  });
}

void RotEx(cublasHandle_t handle, int64_t n, void* x, cudaDataType xType, int64_t incx, void* y,
           cudaDataType yType, int64_t incy, const void* c, const void* s, cudaDataType csType,
           cudaDataType) {
  auto& it = use(handle);
  if (!real(xType) || xType != yType || !real(csType)) refuse("RotEx", xType, csType);
  require(c && s);
  bool device = it.pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  double cosine = device ? 0 : read(c, csType, 0), sine = device ? 0 : read(s, csType, 0);
  if (n <= 0) return;
  lib::submit(it.stream, "rotEx", [=] {
    double co = scalar_now(device, c, csType, cosine), si = scalar_now(device, s, csType, sine);
    for (int64_t i = 0, a = start(n, incx), b = start(n, incy); i < n; ++i, a += incx, b += incy) {
      double u = read(x, xType, a), v = read(y, yType, b);
      write(x, xType, a, co * u + si * v), write(y, yType, b, co * v - si * u);
    }
  });
}

namespace {

// The first place of the largest or smallest magnitude, from one; 0 of nothing.
template <bool Largest, class R>
void extreme_ex(cublasHandle_t handle, int64_t n, const void* x, cudaDataType type, int64_t incx,
                R* result) {
  auto typed = [&](auto* t) {
    using T = std::remove_pointer_t<decltype(t)>;
    if constexpr (Largest)
      iamax(handle, n, static_cast<const T*>(x), incx, result);
    else
      iamin(handle, n, static_cast<const T*>(x), incx, result);
  };
  if (of_one_type(type, typed)) return;
  if (!real(type)) refuse(Largest ? "IamaxEx" : "IaminEx", type, type);
  deliver(use(handle), result, Largest ? "iamaxEx" : "iaminEx", [=] {
    R best = 0;
    double most = 0;
    for (int64_t i = 0; i < n && incx > 0; ++i) {
      double size = std::abs(read(x, type, i * incx));
      if (!best || (Largest ? size > most : size < most)) best = static_cast<R>(i + 1), most = size;
    }
    return best;
  });
}

}  // namespace

void IamaxEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
             int* result) {
  extreme_ex<true>(handle, n, x, xType, incx, result);
}
void IamaxEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
             int64_t* result) {
  extreme_ex<true>(handle, n, x, xType, incx, result);
}
void IaminEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
             int* result) {
  extreme_ex<false>(handle, n, x, xType, incx, result);
}
void IaminEx(cublasHandle_t handle, int64_t n, const void* x, cudaDataType xType, int64_t incx,
             int64_t* result) {
  extreme_ex<false>(handle, n, x, xType, incx, result);
}

namespace {

// Numbers at the places that `made` is called with as f64, written back in their type: those lie
// where the pointer mode says.
template <class Made>
void rotation(cublasHandle_t handle, const char* name, cudaDataType type, Made made) {
  auto& it = use(handle);
  lib::submit(it.stream, name, [=] {
    auto from = [type](const void* at, int64_t i = 0) { return read(at, type, i); };
    auto to = [type](void* at, double value, int64_t i = 0) { write(at, type, i, value); };
    made(from, to);
  });
  if (it.pointer_mode == CUBLAS_POINTER_MODE_HOST) finish(it);
}

}  // namespace

void RotgEx(cublasHandle_t handle, void* a, void* b, cudaDataType abType, void* c, void* s,
            cudaDataType csType, cudaDataType) {
  use(handle);
  require(a && b && c && s);
  if (abType == csType && abType == CUDA_R_32F)
    return rotg(handle, static_cast<float*>(a), static_cast<float*>(b), static_cast<float*>(c),
                static_cast<float*>(s));
  if (!real(abType) || abType != csType) refuse("RotgEx", abType, csType);
  need<double, "rotg_">();
  rotation(handle, "rotgEx", abType, [=](auto from, auto to) {
    double r = from(a), z = from(b), cosine, sine;
    blas<double, "rotg_">(&r, &z, &cosine, &sine);
    to(a, r), to(b, z), to(c, cosine), to(s, sine);
  });
}

void RotmEx(cublasHandle_t handle, int64_t n, void* x, cudaDataType xType, int64_t incx, void* y,
            cudaDataType yType, int64_t incy, const void* param, cudaDataType paramType,
            cudaDataType) {
  auto& it = use(handle);
  if (!real(xType) || xType != yType || xType != paramType) refuse("RotmEx", xType, paramType);
  require(param);
  struct Five {
    double value[5];
  };
  auto numbers = [=] {
    Five five;
    for (int i = 0; i < 5; ++i) five.value[i] = read(param, paramType, i);
    return five;
  };
  bool device = it.pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  Five given = device ? Five{} : numbers();
  if (n <= 0) return;
  lib::submit(it.stream, "rotmEx", [=] {
    const Five five = device ? numbers() : given;
    const auto& [flag, h11, h21, h12, h22] = five.value;
    if (flag == -2) return;
    const double a = flag == 0 ? 1 : h11, b = flag == 1 ? 1 : h12, c = flag == 1 ? -1 : h21,
                 d = flag == 0 ? 1 : h22;
    for (int64_t i = 0, p = start(n, incx), q = start(n, incy); i < n; ++i, p += incx, q += incy) {
      double u = read(x, xType, p), v = read(y, xType, q);
      write(x, xType, p, a * u + b * v), write(y, xType, q, c * u + d * v);
    }
  });
}

void RotmgEx(cublasHandle_t handle, void* d1, cudaDataType d1Type, void* d2, cudaDataType d2Type,
             void* x1, cudaDataType x1Type, const void* y1, cudaDataType y1Type, void* param,
             cudaDataType paramType, cudaDataType) {
  use(handle);
  require(d1 && d2 && x1 && y1 && param);
  bool alike = d1Type == d2Type && d1Type == x1Type && d1Type == y1Type && d1Type == paramType;
  if (!real(d1Type) || !alike) refuse("RotmgEx", d1Type, paramType);
  need<double, "rotmg_">();
  rotation(handle, "rotmgEx", d1Type, [=](auto from, auto to) {
    double first = from(d1), second = from(d2), x = from(x1), made[5];
    const double y = from(y1);
    for (int i = 0; i < 5; ++i) made[i] = from(param, i);  // not all of them are always written
    blas<double, "rotmg_">(&first, &second, &x, &y, &made[0]);
    to(d1, first), to(d2, second), to(x1, x);
    for (int i = 0; i < 5; ++i) to(param, made[i], i);
  });
}

}  // namespace aw::cublas
