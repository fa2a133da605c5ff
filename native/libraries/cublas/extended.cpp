#include "libraries/cublas/extended.h"

#include "libraries/cublas/level1.h"
#include "libraries/float_formats.h"
#include "libraries/product/product.h"

namespace aw::cublas {
namespace {

using product::Product;
using product::Type;

// The types that our own product multiplies; false for others.
bool own_type(cudaDataType type, Type* out) {
  switch (type) {
    case CUDA_R_32F:
      return *out = Type::f32, true;
    case CUDA_R_16F:
      return *out = Type::f16, true;
    case CUDA_R_16BF:
      return *out = Type::bf16, true;
    case CUDA_R_8F_E4M3:
      return *out = Type::e4m3, true;
    case CUDA_R_8F_E5M2:
      return *out = Type::e5m2, true;
    case CUDA_R_8I:
      return *out = Type::s8, true;
    case CUDA_R_32I:
      return *out = Type::s32, true;
    default:
      return false;
  }
}

double number(const void* at, cudaDataType type) {
  switch (type) {
    case CUDA_R_16F:
      return formats::widen(*static_cast<const formats::Half*>(at));
    case CUDA_R_32I:
      return *static_cast<const int*>(at);
    default:
      return *static_cast<const float*>(at);
  }
}

// A scalar whose type is a number, on the host or the device.
class NamedScalar {
 public:
  NamedScalar(const cublasContext& handle, const void* place, cudaDataType type) : type_(type) {
    require(place != nullptr);
    if (handle.pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
      at_ = place;
    else
      value_ = number(place, type);
  }
  double operator()() const { return at_ ? number(at_, type_) : value_; }

 private:
  const void* at_ = nullptr;
  cudaDataType type_;
  double value_ = 0;
};

// What OpenBLAS multiplies: all operands of one of its types.
template <class T>
void by_engine(cublasHandle_t handle, const Products& p) {
  auto* alpha = static_cast<const T*>(p.alpha);
  auto* beta = static_cast<const T*>(p.beta);
  void* c = const_cast<void*>(p.c.data);
  if (p.arrays)
    return gemmBatched(handle, p.transa, p.transb, p.m, p.n, p.k, alpha,
                       static_cast<const T* const*>(p.a.data), p.a.ld,
                       static_cast<const T* const*>(p.b.data), p.b.ld, beta,
                       static_cast<T* const*>(c), p.c.ld, p.count);
  auto* a = static_cast<const T*>(p.a.data);
  auto* b = static_cast<const T*>(p.b.data);
  if (p.count == 1)
    return gemm(handle, p.transa, p.transb, p.m, p.n, p.k, alpha, a, p.a.ld, b, p.b.ld, beta,
                static_cast<T*>(c), p.c.ld);
  gemmStridedBatched(handle, p.transa, p.transb, p.m, p.n, p.k, alpha, a, p.a.ld, p.a.stride, b,
                     p.b.ld, p.b.stride, beta, static_cast<T*>(c), p.c.ld, p.c.stride, p.count);
}

}  // namespace

cudaDataType scalars_of(cublasComputeType_t compute, cudaDataType c) {
  bool complex = c == CUDA_C_32F || c == CUDA_C_64F;
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUDA_R_32I;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return complex ? CUDA_C_64F : CUDA_R_64F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return complex ? CUDA_C_32F : CUDA_R_32F;
    default:
      unsupported("compute type " + std::to_string(compute));
  }
}

void multiply(cublasHandle_t handle, const Products& p, cublasComputeType_t compute) {
  auto& it = use(handle);
  cudaDataType scalars = scalars_of(compute, p.c.type);
  bool alike = p.a.type == p.b.type && p.a.type == p.c.type;
  if (alike && p.a.type == CUDA_R_32F && scalars == CUDA_R_32F) return by_engine<float>(handle, p);
  if (alike && p.a.type == CUDA_R_64F && scalars == CUDA_R_64F) return by_engine<double>(handle, p);
  if (alike && p.a.type == CUDA_C_32F && scalars == CUDA_C_32F)
    return by_engine<cuComplex>(handle, p);
  if (alike && p.a.type == CUDA_C_64F && scalars == CUDA_C_64F)
    return by_engine<cuDoubleComplex>(handle, p);
  bool integer = scalars == CUDA_R_32I;
  Product made;
  bool known = own_type(p.a.type, &made.a.type) && own_type(p.b.type, &made.b.type) &&
               own_type(p.c.type, &made.d.type);
  bool bytes = known && made.a.type == Type::s8 && made.b.type == Type::s8;
  known = known && (made.a.type == Type::s8) == (made.b.type == Type::s8) &&
          made.a.type != Type::s32 && made.b.type != Type::s32 &&
          integer == (bytes && made.d.type == Type::s32) && (made.d.type != Type::s8 || bytes);
  if (!known)
    unsupported("a product of types " + std::to_string(p.a.type) + " and " +
                std::to_string(p.b.type) + " into " + std::to_string(p.c.type) +
                " with compute type " + std::to_string(compute) + " (numbers of cudaDataType)");
  Shape s(p.transa, p.transb, p.m, p.n, p.k, p.a.ld, p.b.ld, p.c.ld);
  made.m = p.m, made.n = p.n, made.k = p.k, made.batch = static_cast<int64_t>(batch(p.count));
  made.integer = integer;
  made.a.data = p.a.data, made.a.ld = p.a.ld, made.a.stride = p.a.stride,
  made.a.transposed = s.opa != 'N';
  made.b.data = p.b.data, made.b.ld = p.b.ld, made.b.stride = p.b.stride,
  made.b.transposed = s.opb != 'N';
  made.d.data = p.c.data, made.d.ld = p.c.ld, made.d.stride = p.c.stride;
  made.a.array = made.b.array = made.d.array = p.arrays;
  made.c = made.d;
  NamedScalar alpha(it, p.alpha, scalars), beta(it, p.beta, scalars);
  if (s.empty() || !p.count) return;
  lib::submit(it.stream, "gemmEx", [=]() mutable {
    made.alpha = alpha(), made.beta = beta();
    product::product(made);
  });
}

// ---- level 1

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
  if (x != y) refuse(what, x, y);
  switch (x) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_32F:
      return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_C_64F:
      return 16;
    default:
      refuse(what, x, y);
  }
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

}  // namespace aw::cublas
