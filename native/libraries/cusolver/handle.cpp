// cuSOLVER: helper functions about handles, parameters and versions.
#include "libraries/cusolver/cusolver.h"

using namespace aw::cusolver;

AW_EXPORT cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  return api<"cusolverDnCreate">([&] {
    require(handle);
    aw::lib::ensure_context();
    *handle = new cusolverDnContext{.magic = kMagic};
  });
}

AW_EXPORT cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  return api<"cusolverDnDestroy">([&] {
    use(handle).magic = 0;
    delete handle;
  });
}

AW_EXPORT cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  return api<"cusolverDnSetStream">([&] { use(handle).stream = stream; });
}

AW_EXPORT cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  return api<"cusolverDnGetStream">([&] {
    auto& it = use(handle);
    require(stream);
    *stream = it.stream;
  });
}

// Results here are the same bits each time, whatever is asked for.
AW_EXPORT cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t handle,
                                                          cusolverDeterministicMode_t mode) {
  return api<"cusolverDnSetDeterministicMode">([&] {
    auto& it = use(handle);
    require(mode == CUSOLVER_DETERMINISTIC_RESULTS ||
            mode == CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS);
    it.determinism = mode;
  });
}

AW_EXPORT cusolverStatus_t cusolverDnGetDeterministicMode(cusolverDnHandle_t handle,
                                                          cusolverDeterministicMode_t* mode) {
  return api<"cusolverDnGetDeterministicMode">([&] {
    auto& it = use(handle);
    require(mode);
    *mode = it.determinism;
  });
}

AW_EXPORT cusolverStatus_t cusolverGetVersion(int* version) {
  return api<"cusolverGetVersion">([&] {
    require(version);
    *version = CUSOLVER_VERSION;
  });
}

AW_EXPORT cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
  return api<"cusolverGetProperty">([&] {
    require(value && type <= PATCH_LEVEL);
    const int parts[] = {CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH};
    *value = parts[type];
  });
}

// ---- parameters of the 64-bit interface: an algorithm for each function, of which there is one
// here ----

struct cusolverDnParams {
  cusolverAlgMode_t algorithms[8] = {};
};

AW_EXPORT cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
  return api<"cusolverDnCreateParams">([&] {
    require(params);
    *params = new cusolverDnParams;
  });
}

AW_EXPORT cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
  return api<"cusolverDnDestroyParams">([&] { delete params; });
}

AW_EXPORT cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params,
                                                   cusolverDnFunction_t function,
                                                   cusolverAlgMode_t algorithm) {
  return api<"cusolverDnSetAdvOptions">([&] {
    require(params && function < 8 && algorithm <= CUSOLVER_ALG_2);
    params->algorithms[function] = algorithm;
  });
}

// ---- parameters of Jacobi's methods ----
// LAPACK's methods take their place: they are direct, so what bounds iterations is kept and has no
// meaning.

#define AW_JACOBI(name, type)                                    \
  AW_DN(Create##name)(type * info) {                             \
    return api<"cusolverDnCreate" #name>([&] {                   \
      require(info);                                             \
      *info = new std::remove_pointer_t<type>;                   \
    });                                                          \
  }                                                              \
  AW_DN(Destroy##name)(type info) {                              \
    return api<"cusolverDnDestroy" #name>([&] { delete info; }); \
  }
AW_JACOBI(SyevjInfo, syevjInfo_t)
AW_JACOBI(GesvdjInfo, gesvdjInfo_t)
#undef AW_JACOBI

#define AW_JACOBI(name, type, sort_what)                                             \
  AW_DN(name##SetTolerance)(type info, double tolerance) {                           \
    return api<"cusolverDn" #name "SetTolerance">([&] {                              \
      require(info);                                                                 \
      info->tolerance = tolerance;                                                   \
    });                                                                              \
  }                                                                                  \
  AW_DN(name##SetMaxSweeps)(type info, int sweeps) {                                 \
    return api<"cusolverDn" #name "SetMaxSweeps">([&] {                              \
      require(info);                                                                 \
      info->max_sweeps = sweeps;                                                     \
    });                                                                              \
  }                                                                                  \
  AW_DN(name##SetSortEig)(type info, int sort_what) {                                \
    return api<"cusolverDn" #name "SetSortEig">([&] {                                \
      require(info);                                                                 \
      info->sort = sort_what;                                                        \
    });                                                                              \
  }                                                                                  \
  /* As documented, not for batches. */                                              \
  AW_DN(name##GetResidual)(cusolverDnHandle_t handle, type info, double* residual) { \
    return api<"cusolverDn" #name "GetResidual">([&] {                               \
      auto& it = use(handle);                                                        \
      require(info && residual);                                                     \
      require(!info->report->batched, CUSOLVER_STATUS_NOT_SUPPORTED);                \
      and_wait(it.stream, [] {});                                                    \
      *residual = info->report->residual;                                            \
    });                                                                              \
  }                                                                                  \
  /* None is ever needed. */                                                         \
  AW_DN(name##GetSweeps)(cusolverDnHandle_t handle, type info, int* sweeps) {        \
    return api<"cusolverDn" #name "GetSweeps">([&] {                                 \
      use(handle);                                                                   \
      require(info && sweeps);                                                       \
      require(!info->report->batched, CUSOLVER_STATUS_NOT_SUPPORTED);                \
      *sweeps = 0;                                                                   \
    });                                                                              \
  }
AW_JACOBI(Xsyevj, syevjInfo_t, sort_eig)
AW_JACOBI(Xgesvdj, gesvdjInfo_t, sort_svd)
#undef AW_JACOBI

// ---- emulation of wide numbers by narrow ones: kept, and not used, since the processor has the
// wide ones ----

#ifndef AW_CUDA_12
#define AW_KEPT(name, type, field, low, high)                                     \
  AW_DN(Set##name)(cusolverDnHandle_t handle, type value) {                       \
    return api<"cusolverDnSet" #name>([&] {                                       \
      auto& it = use(handle);                                                     \
      require(static_cast<int>(value) >= low && static_cast<int>(value) <= high); \
      it.field = value;                                                           \
    });                                                                           \
  }                                                                               \
  AW_DN(Get##name)(cusolverDnHandle_t handle, type * value) {                     \
    return api<"cusolverDnGet" #name>([&] {                                       \
      auto& it = use(handle);                                                     \
      require(value);                                                             \
      *value = it.field;                                                          \
    });                                                                           \
  }
AW_KEPT(MathMode, cusolverMathMode_t, math, 1, 6)
AW_KEPT(EmulationStrategy, cudaEmulationStrategy_t, emulation, 0, 2)
AW_KEPT(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport_t, special, 0, 65535)
AW_KEPT(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl_t, mantissa, 0, 1)
AW_KEPT(FixedPointEmulationMaxMantissaBitCount, int, mantissa_bits, 0, INT_MAX)
AW_KEPT(FixedPointEmulationMantissaBitOffset, int, mantissa_offset, INT_MIN, INT_MAX)
#undef AW_KEPT
#endif

AW_LOGGER(cusolverDn, cusolverStatus_t)
