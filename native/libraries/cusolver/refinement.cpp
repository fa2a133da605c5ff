// cuSOLVER, dense: solvers by iterative refinement (gesv, gels). The factorization is done in the
// precision of the numbers, whichever lower one a name asks for; so there is nothing to refine, and
// the number of iterations is 0.
#include "libraries/cusolver/cusolver.h"

using namespace aw::cusolver;

namespace {

// As documented where iterations ended well: A stays as it is, and so do B and the pivots' meaning.
template <class T>
auto gesv_of(int n, int nrhs, const T* A, int lda, int* pivots, const T* B, int ldb, T* X,
             int ldx) {
  size_of(n), size_of(nrhs), leading(lda, n), leading(ldb, n), leading(ldx, n);
  return [=](Memory& memory) {
    T* factors = memory.take<T>(size_t(n) * n);
    int* own_pivots = memory.take<int>(n);
    if (memory.counts()) return 0;
    copy(n, n, A, lda, factors, std::max(1, n));
    copy(n, nrhs, B, ldb, X, ldx);
    return lapack<T, "gesv">(n, nrhs, factors, std::max(1, n), pivots ? pivots : own_pivots, X,
                             ldx);
  };
}

template <class T>
auto gels_of(int m, int n, int nrhs, const T* A, int lda, const T* B, int ldb, T* X, int ldx) {
  size_of(m), size_of(n), size_of(nrhs), leading(lda, m), leading(ldb, m), leading(ldx, n);
  require(m >= n);
  return [=](Memory& memory) {
    int ld = std::max(1, m);
    T *factors = memory.take<T>(size_t(m) * n), *both = memory.take<T>(size_t(m) * nrhs);
    if (!memory.counts()) {
      copy(m, n, A, lda, factors, ld);
      copy(m, nrhs, B, ldb, both, ld);
    }
    int info = lapack_in<T, "gels">(memory, 'N', m, n, nrhs, factors, ld, both, ld);
    if (!memory.counts()) copy(n, nrhs, both, ld, X, ldx);
    return info;
  };
}

void count_bytes_of_work(size_t* bytes, size_t wanted) {
  require(bytes);
  *bytes = std::max<size_t>(sizeof(double), wanted);
}

}  // namespace

// `iterations` is the host's.
#define AW_FUNCTIONS(name, T)                                                                      \
  AW_DN(name##gesv)                                                                                \
  (cusolverDnHandle_t handle, int n, int nrhs, T* A, int lda, int* pivots, T* B, int ldb, T* X,    \
   int ldx, void* work, size_t bytes, int* iterations, int* info) {                                \
    return api<"cusolverDn" #name "gesv">(                                                         \
        [&] {                                                                                      \
          perform(use(handle).stream, "gesv", {work, bytes}, info,                                 \
                  gesv_of(n, nrhs, own(A), lda, pivots, own(B), ldb, own(X), ldx));                \
          if (iterations) *iterations = 0;                                                         \
        },                                                                                         \
        n, nrhs);                                                                                  \
  }                                                                                                \
  AW_DN(name##gesv_bufferSize)                                                                     \
  (cusolverDnHandle_t handle, int n, int nrhs, T* A, int lda, int* pivots, T* B, int ldb, T* X,    \
   int ldx, void*, size_t* bytes) {                                                                \
    return api<"cusolverDn" #name "gesv_bufferSize">([&] {                                         \
      use(handle);                                                                                 \
      count_bytes_of_work(                                                                         \
          bytes, bytes_of(gesv_of(n, nrhs, own(A), lda, pivots, own(B), ldb, own(X), ldx)));       \
    });                                                                                            \
  }                                                                                                \
  AW_DN(name##gels)                                                                                \
  (cusolverDnHandle_t handle, int m, int n, int nrhs, T* A, int lda, T* B, int ldb, T* X, int ldx, \
   void* work, size_t bytes, int* iterations, int* info) {                                         \
    return api<"cusolverDn" #name "gels">(                                                         \
        [&] {                                                                                      \
          perform(use(handle).stream, "gels", {work, bytes}, info,                                 \
                  gels_of(m, n, nrhs, own(A), lda, own(B), ldb, own(X), ldx));                     \
          if (iterations) *iterations = 0;                                                         \
        },                                                                                         \
        m, n, nrhs);                                                                               \
  }                                                                                                \
  AW_DN(name##gels_bufferSize)                                                                     \
  (cusolverDnHandle_t handle, int m, int n, int nrhs, T* A, int lda, T* B, int ldb, T* X, int ldx, \
   void*, size_t* bytes) {                                                                         \
    return api<"cusolverDn" #name "gels_bufferSize">([&] {                                         \
      use(handle);                                                                                 \
      count_bytes_of_work(bytes,                                                                   \
                          bytes_of(gels_of(m, n, nrhs, own(A), lda, own(B), ldb, own(X), ldx)));   \
    });                                                                                            \
  }
AW_FUNCTIONS(SS, float)
AW_FUNCTIONS(SH, float)
AW_FUNCTIONS(SB, float)
AW_FUNCTIONS(SX, float)
AW_FUNCTIONS(DD, double)
AW_FUNCTIONS(DS, double)
AW_FUNCTIONS(DH, double)
AW_FUNCTIONS(DB, double)
AW_FUNCTIONS(DX, double)
AW_FUNCTIONS(CC, cuComplex)
AW_FUNCTIONS(CK, cuComplex)
AW_FUNCTIONS(CE, cuComplex)
AW_FUNCTIONS(CY, cuComplex)
AW_FUNCTIONS(ZZ, cuDoubleComplex)
AW_FUNCTIONS(ZC, cuDoubleComplex)
AW_FUNCTIONS(ZK, cuDoubleComplex)
AW_FUNCTIONS(ZE, cuDoubleComplex)
AW_FUNCTIONS(ZY, cuDoubleComplex)
#undef AW_FUNCTIONS

// ---- the same with parameters ----

struct cusolverDnIRSParams {
  cusolverPrecType_t precision = {}, lowest = {};
  cusolverIRSRefinement_t refinement = CUSOLVER_IRS_REFINE_NOT_SET;
  double tolerance = 0, inner_tolerance = 0;
  int most = 50, inner_most = 50;
  bool fallback = true;
};
struct cusolverDnIRSInfos {
  int iterations = 0, outer = 0, most = 0;
};

namespace {

cusolverDnIRSParams& use_parameters(cusolverDnIRSParams_t params) {
  require(params, CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED);
  return *params;
}
cusolverDnIRSInfos& use_infos(cusolverDnIRSInfos_t infos) {
  require(infos, CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED);
  return *infos;
}

bool precise(cusolverPrecType_t type) {
  return type == CUSOLVER_R_32F || type == CUSOLVER_R_64F || type == CUSOLVER_C_32F ||
         type == CUSOLVER_C_64F;
}

// Calls body(std::type_identity<T>()) for what has been set as the main precision.
template <class Body>
void with_precision(const cusolverDnIRSParams& params, Body body) {
  require(params.refinement != CUSOLVER_IRS_REFINE_NOT_SET,
          CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE);
  require(precise(params.precision) && params.lowest != 0, CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC);
  with_type(params.precision == CUSOLVER_R_32F   ? CUDA_R_32F
            : params.precision == CUSOLVER_R_64F ? CUDA_R_64F
            : params.precision == CUSOLVER_C_32F ? CUDA_C_32F
                                                 : CUDA_C_64F,
            body);
}

void told(cusolverDnIRSInfos& infos, const cusolverDnIRSParams& params, int* iterations) {
  infos.iterations = infos.outer = 0, infos.most = params.most;
  if (iterations) *iterations = 0;
}

}  // namespace

AW_DN(IRSParamsCreate)(cusolverDnIRSParams_t* params) {
  return api<"cusolverDnIRSParamsCreate">([&] {
    require(params);
    *params = new cusolverDnIRSParams;
  });
}
AW_DN(IRSParamsDestroy)(cusolverDnIRSParams_t params) {
  return api<"cusolverDnIRSParamsDestroy">([&] { delete &use_parameters(params); });
}

#define AW_KEPT(name, type, field, fine, otherwise)                  \
  AW_DN(IRSParams##name)(cusolverDnIRSParams_t params, type value) { \
    return api<"cusolverDnIRSParams" #name>([&] {                    \
      auto& it = use_parameters(params);                             \
      require(fine, otherwise);                                      \
      it.field = value;                                              \
    });                                                              \
  }
AW_KEPT(SetTol, double, tolerance, true, 0)
AW_KEPT(SetTolInner, double, inner_tolerance, true, 0)
AW_KEPT(SetMaxIters, cusolver_int_t, most, value >= 0, CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER)
AW_KEPT(SetMaxItersInner, cusolver_int_t, inner_most, value >= 0,
        CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER)
AW_KEPT(SetSolverMainPrecision, cusolverPrecType_t, precision, precise(value),
        CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC)
AW_KEPT(SetSolverLowestPrecision, cusolverPrecType_t, lowest,
        value >= CUSOLVER_R_8I && value <= CUSOLVER_C_AP, CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC)
AW_KEPT(SetRefinementSolver, cusolverIRSRefinement_t, refinement,
        value >= CUSOLVER_IRS_REFINE_NOT_SET && value <= CUSOLVER_IRS_REFINE_GMRES_NOPCOND,
        CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE)
#undef AW_KEPT

AW_DN(IRSParamsSetSolverPrecisions)(cusolverDnIRSParams_t params, cusolverPrecType_t precision,
                                    cusolverPrecType_t lowest) {
  auto status = cusolverDnIRSParamsSetSolverMainPrecision(params, precision);
  return status != CUSOLVER_STATUS_SUCCESS
             ? status
             : cusolverDnIRSParamsSetSolverLowestPrecision(params, lowest);
}
AW_DN(IRSParamsEnableFallback)(cusolverDnIRSParams_t params) {
  return api<"cusolverDnIRSParamsEnableFallback">([&] { use_parameters(params).fallback = true; });
}
AW_DN(IRSParamsDisableFallback)(cusolverDnIRSParams_t params) {
  return api<"cusolverDnIRSParamsDisableFallback">(
      [&] { use_parameters(params).fallback = false; });
}
AW_DN(IRSParamsGetMaxIters)(cusolverDnIRSParams_t params, cusolver_int_t* most) {
  return api<"cusolverDnIRSParamsGetMaxIters">([&] {
    auto& it = use_parameters(params);
    require(most);
    *most = it.most;
  });
}

AW_DN(IRSInfosCreate)(cusolverDnIRSInfos_t* infos) {
  return api<"cusolverDnIRSInfosCreate">([&] {
    require(infos);
    *infos = new cusolverDnIRSInfos;
  });
}
AW_DN(IRSInfosDestroy)(cusolverDnIRSInfos_t infos) {
  return api<"cusolverDnIRSInfosDestroy">([&] { delete &use_infos(infos); });
}
#define AW_TOLD(name, field)                                                     \
  AW_DN(IRSInfosGet##name)(cusolverDnIRSInfos_t infos, cusolver_int_t * value) { \
    return api<"cusolverDnIRSInfosGet" #name>([&] {                              \
      auto& it = use_infos(infos);                                               \
      require(value);                                                            \
      *value = it.field;                                                         \
    });                                                                          \
  }
AW_TOLD(Niters, iterations)
AW_TOLD(OuterNiters, outer)
AW_TOLD(MaxIters, most)
#undef AW_TOLD

AW_DN(IRSXgesv)(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos,
                cusolver_int_t n, cusolver_int_t nrhs, void* A, cusolver_int_t lda, void* B,
                cusolver_int_t ldb, void* X, cusolver_int_t ldx, void* work, size_t bytes,
                cusolver_int_t* iterations, cusolver_int_t* info) {
  return api<"cusolverDnIRSXgesv">(
      [&] {
        auto& it = use(handle);
        auto& set = use_parameters(params);
        auto& told_to = use_infos(infos);
        with_precision(set, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "gesv", {work, bytes}, info,
                  gesv_of(n, nrhs, static_cast<T*>(A), lda, nullptr, static_cast<T*>(B), ldb,
                          static_cast<T*>(X), ldx));
        });
        told(told_to, set, iterations);
      },
      n, nrhs);
}

AW_DN(IRSXgesv_bufferSize)(cusolverDnHandle_t handle, cusolverDnIRSParams_t params,
                           cusolver_int_t n, cusolver_int_t nrhs, size_t* bytes) {
  return api<"cusolverDnIRSXgesv_bufferSize">([&] {
    use(handle);
    int ld = std::max(1, n);
    with_precision(use_parameters(params), [&]<class T>(std::type_identity<T>) {
      count_bytes_of_work(
          bytes, bytes_of(gesv_of<T>(n, nrhs, nullptr, ld, nullptr, nullptr, ld, nullptr, ld)));
    });
  });
}

AW_DN(IRSXgels)(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos,
                cusolver_int_t m, cusolver_int_t n, cusolver_int_t nrhs, void* A,
                cusolver_int_t lda, void* B, cusolver_int_t ldb, void* X, cusolver_int_t ldx,
                void* work, size_t bytes, cusolver_int_t* iterations, cusolver_int_t* info) {
  return api<"cusolverDnIRSXgels">(
      [&] {
        auto& it = use(handle);
        auto& set = use_parameters(params);
        auto& told_to = use_infos(infos);
        with_precision(set, [&]<class T>(std::type_identity<T>) {
          perform(it.stream, "gels", {work, bytes}, info,
                  gels_of(m, n, nrhs, static_cast<T*>(A), lda, static_cast<T*>(B), ldb,
                          static_cast<T*>(X), ldx));
        });
        told(told_to, set, iterations);
      },
      m, n, nrhs);
}

AW_DN(IRSXgels_bufferSize)(cusolverDnHandle_t handle, cusolverDnIRSParams_t params,
                           cusolver_int_t m, cusolver_int_t n, cusolver_int_t nrhs, size_t* bytes) {
  return api<"cusolverDnIRSXgels_bufferSize">([&] {
    use(handle);
    int ld = std::max(1, m);
    with_precision(use_parameters(params), [&]<class T>(std::type_identity<T>) {
      count_bytes_of_work(bytes,
                          bytes_of(gels_of<T>(m, n, nrhs, nullptr, ld, nullptr, ld, nullptr, ld)));
    });
  });
}
