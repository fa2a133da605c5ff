#include "libraries/cublas/extended.h"

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

}  // namespace aw::cublas
