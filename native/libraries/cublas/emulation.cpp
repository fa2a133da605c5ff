// cuBLAS: settings for products that are made of narrower ones. None is made so here, where f32 and
// f64 are computed as such: what is set is kept and told, and nobody writes to the counter.
#include "libraries/cublas/cublas.h"

using namespace aw::cublas;

namespace {

// One setting of a handle: set where it is allowed, told by its getter.
template <aw::Name Function, class S, class T>
cublasStatus_t set(cublasHandle_t handle, S(Emulation::* setting), T value, bool allowed) {
  return api<Function>([&] {
    auto& it = use(handle);
    require(allowed);
    it.emulation.*setting = static_cast<S>(value);
  });
}
template <aw::Name Function, class S, class T>
cublasStatus_t get(cublasHandle_t handle, S(Emulation::* setting), T* value) {
  return api<Function>([&] {
    auto& it = use(handle);
    require(value);
    *value = static_cast<T>(it.emulation.*setting);
  });
}

}  // namespace

AW_EXPORT cublasStatus_t cublasSetEmulationStrategy(cublasHandle_t handle,
                                                    cublasEmulationStrategy_t strategy) {
  return set<"cublasSetEmulationStrategy">(
      handle, &Emulation::strategy, strategy,
      static_cast<unsigned>(strategy) <= CUBLAS_EMULATION_STRATEGY_EAGER);
}
AW_EXPORT cublasStatus_t cublasGetEmulationStrategy(cublasHandle_t handle,
                                                    cublasEmulationStrategy_t* strategy) {
  return get<"cublasGetEmulationStrategy">(handle, &Emulation::strategy, strategy);
}

AW_EXPORT cublasStatus_t cublasSetEmulationSpecialValuesSupport(
    cublasHandle_t handle, cudaEmulationSpecialValuesSupport mask) {
  unsigned known =
      CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_INFINITY | CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NAN;
  return set<"cublasSetEmulationSpecialValuesSupport">(
      handle, &Emulation::special, mask,
      mask == CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT || !(mask & ~known));
}
AW_EXPORT cublasStatus_t cublasGetEmulationSpecialValuesSupport(
    cublasHandle_t handle, cudaEmulationSpecialValuesSupport* mask) {
  return get<"cublasGetEmulationSpecialValuesSupport">(handle, &Emulation::special, mask);
}

AW_EXPORT cublasStatus_t cublasSetFixedPointEmulationMantissaControl(
    cublasHandle_t handle, cudaEmulationMantissaControl control) {
  return set<"cublasSetFixedPointEmulationMantissaControl">(
      handle, &Emulation::control, control,
      static_cast<unsigned>(control) <= CUDA_EMULATION_MANTISSA_CONTROL_FIXED);
}
AW_EXPORT cublasStatus_t cublasGetFixedPointEmulationMantissaControl(
    cublasHandle_t handle, cudaEmulationMantissaControl* control) {
  return get<"cublasGetFixedPointEmulationMantissaControl">(handle, &Emulation::control, control);
}

AW_EXPORT cublasStatus_t cublasSetFixedPointEmulationMaxMantissaBitCount(cublasHandle_t handle,
                                                                         int count) {
  return set<"cublasSetFixedPointEmulationMaxMantissaBitCount">(handle, &Emulation::most_bits,
                                                                count, count >= 0);
}
AW_EXPORT cublasStatus_t cublasGetFixedPointEmulationMaxMantissaBitCount(cublasHandle_t handle,
                                                                         int* count) {
  return get<"cublasGetFixedPointEmulationMaxMantissaBitCount">(handle, &Emulation::most_bits,
                                                                count);
}

AW_EXPORT cublasStatus_t cublasSetFixedPointEmulationMantissaBitOffset(cublasHandle_t handle,
                                                                       int offset) {
  return set<"cublasSetFixedPointEmulationMantissaBitOffset">(handle, &Emulation::bit_offset,
                                                              offset, true);
}
AW_EXPORT cublasStatus_t cublasGetFixedPointEmulationMantissaBitOffset(cublasHandle_t handle,
                                                                       int* offset) {
  return get<"cublasGetFixedPointEmulationMantissaBitOffset">(handle, &Emulation::bit_offset,
                                                              offset);
}

AW_EXPORT cublasStatus_t cublasSetFixedPointEmulationMantissaBitCountPointer(cublasHandle_t handle,
                                                                             int* count) {
  return set<"cublasSetFixedPointEmulationMantissaBitCountPointer">(handle, &Emulation::bit_count,
                                                                    count, true);
}
AW_EXPORT cublasStatus_t cublasGetFixedPointEmulationMantissaBitCountPointer(cublasHandle_t handle,
                                                                             int** count) {
  return get<"cublasGetFixedPointEmulationMantissaBitCountPointer">(handle, &Emulation::bit_count,
                                                                    count);
}
