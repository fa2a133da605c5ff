// What the functions of cuSOLVER share: handles, their checks, and how a routine of LAPACK becomes
// work of a stream.
//
// A family is one function NAME_of(arguments), which checks them and returns what is to be computed
// as a function of the memory to work in. *_bufferSize has it counted (memory.counts(): nothing is
// computed then), the call itself has it performed, the 64-bit interface calls it for the type that
// it is told.
#pragma once

#include <cusolverDn.h>

#include <atomic>
#include <memory>

#include "core/own_functions.h"
#include "libraries/api.h"
#include "libraries/cusolver/lapack.h"
#include "libraries/work.h"

struct cusolverDnContext {
  uint64_t magic;
  CUstream stream = nullptr;
  cusolverDeterministicMode_t determinism = CUSOLVER_DETERMINISTIC_RESULTS;
#ifndef AW_CUDA_12
  cusolverMathMode_t math = CUSOLVER_DEFAULT_MATH;
  cudaEmulationStrategy_t emulation = CUDA_EMULATION_STRATEGY_DEFAULT;
  cudaEmulationMantissaControl_t mantissa = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
  cudaEmulationSpecialValuesSupport_t special = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT;
  int mantissa_bits = 0, mantissa_offset = 0;
#endif
};

namespace aw::cusolver {

using lib::require;
using lib::unsupported;

constexpr uint64_t kMagic = 0x7265766c6f73ull;

template <Name Function, class Body, class... Args>
cusolverStatus_t api(Body&& body, const Args&... args) noexcept {
  return lib::call<cusolverStatus_t, Function>(body, args...);
}

// Throws NOT_INITIALIZED for what is no handle.
inline cusolverDnContext& use(cusolverDnHandle_t handle) {
  require(handle && handle->magic == kMagic, CUSOLVER_STATUS_NOT_INITIALIZED);
  return *handle;
}

// What the iterations of syevj and gesvdj report; work holds it, whatever becomes of its owner.
struct Report {
  std::atomic<double> residual{0};
  bool batched = false;
};

// ---- what a call has given, checked ----

inline int size_of(int64_t number) {
  require(number >= 0);
  if (number > INT_MAX) unsupported("a size of 2^31 or more");
  return static_cast<int>(number);
}

// A leading dimension of at least `rows`.
inline int leading(int64_t number, int64_t rows) {
  require(number >= std::max<int64_t>(1, rows));
  return size_of(number);
}

inline char letter(cublasFillMode_t uplo) {
  require(uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER);
  return uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U';
}
inline char letter(cublasSideMode_t side) {
  require(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT);
  return side == CUBLAS_SIDE_LEFT ? 'L' : 'R';
}
inline char letter(cusolverEigMode_t job) {
  require(job == CUSOLVER_EIG_MODE_NOVECTOR || job == CUSOLVER_EIG_MODE_VECTOR);
  return job == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
}
// LAPACK's routines for real numbers know no conjugation.
template <class T>
char letter(cublasOperation_t operation) {
  require(operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C);
  return operation == CUBLAS_OP_N ? 'N' : operation == CUBLAS_OP_T || !kComplex<T> ? 'T' : 'C';
}

// NVIDIA's complex numbers are C++'s.
inline float* own(float* at) { return at; }
inline double* own(double* at) { return at; }
inline std::complex<float>* own(cuComplex* at) {
  return reinterpret_cast<std::complex<float>*>(at);
}
inline std::complex<double>* own(cuDoubleComplex* at) {
  return reinterpret_cast<std::complex<double>*>(at);
}
// Sizes are counted without reading; so one function serves constant and other matrices.
template <class T>
auto own(const T* at) {
  return own(const_cast<T*>(at));
}
template <class T>
auto own(T* const* at) {
  return reinterpret_cast<decltype(own(static_cast<T*>(nullptr))) const*>(at);
}

// Calls body(std::type_identity<T>()) with the type of numbers that the 64-bit interface is told.
template <class Body>
void with_type(cudaDataType type, Body body) {
  switch (type) {
    case CUDA_R_32F:
      return body(std::type_identity<float>());
    case CUDA_R_64F:
      return body(std::type_identity<double>());
    case CUDA_C_32F:
      return body(std::type_identity<std::complex<float>>());
    case CUDA_C_64F:
      return body(std::type_identity<std::complex<double>>());
    default:
      unsupported("the type of numbers " + std::to_string(type));
  }
}
inline cudaDataType real_type(cudaDataType type) {
  return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}
// All matrices and the computation are of one type; a real array goes with it.
template <class... Types>
void one_type(cudaDataType type, Types... others) {
  require(((others == type) && ...));
}

// ---- work ----

struct Given {
  void* memory = nullptr;
  size_t bytes = 0;
};
template <class T>
Given given(T* work, int lwork) {
  return {work, lwork > 0 ? lwork * sizeof(T) : 0};
}

// Runs body() inside of work, where nothing may be thrown.
template <class Body>
void fenced(const Body& body) {
  try {
    body();
  } catch (const Failure& failure) {
    anywarp_fail(CUDA_ERROR_NOT_SUPPORTED, failure.text.c_str());
  } catch (const std::bad_alloc&) {
    anywarp_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory left for a routine of LAPACK to work in");
  }
}

// Whether the engine is there is said by the call, not by its work.
inline void want_engine() { lib::engine<"dgetrf_", void()>(); }

// Puts `op(memory)` into a stream; what it returns is written to `info`, on the device.
template <class Op>
void perform(CUstream stream, const char* name, Given given, int* info, Op op) {
  want_engine();
  lib::submit(stream, name, [given, info, op] {
    fenced([&] {
      Memory memory(given.memory, given.bytes);
      int result = op(memory);
      if (info) *info = result;
    });
  });
}

// The same for `count` problems, op(memory, number), whose results go to infos[number]. They are
// dealt out in so many shares at most: a small problem takes less time than to deal it.
constexpr uint64_t kShares = 64;
template <class Op>
void perform_all(CUstream stream, const char* name, int* infos, int64_t count, Op op) {
  require(count >= 0);
  want_engine();
  lib::submit(stream, name, [infos, count, op] {
    uint64_t shares = std::min<uint64_t>(count, kShares);
    lib::parallel(shares, [&](uint64_t share) {
      fenced([&] {
        Memory memory(nullptr, 0);
        for (uint64_t i = count * share / shares; i < count * (share + 1) / shares; ++i) {
          int result = op(memory, i);
          if (infos) infos[i] = result;
          memory.again();
        }
      });
    });
  });
}

// The bytes that `op` works in.
template <class Op>
size_t bytes_of(Op op) {
  want_engine();
  Memory counting;
  op(counting);
  return counting.bytes();
}
// The same in numbers; at least one, since some programs take none for a failure.
template <class T, class Op>
void count_work(int* lwork, Op op) {
  require(lwork);
  size_t numbers = (bytes_of(op) + sizeof(T) - 1) / sizeof(T);
  *lwork = static_cast<int>(std::min<size_t>(std::max<size_t>(1, numbers), INT_MAX));
}
// The same for the 64-bit interface. Nothing is asked for on the host.
template <class Op>
void count_bytes(size_t* device, size_t* host, Op op) {
  require(device && host);
  *device = std::max<size_t>(sizeof(double), bytes_of(op));
  *host = 0;
}

// A call whose results the host reads when it returns: the stream is waited for, which a capture
// forbids.
template <class Submit>
void and_wait(CUstream stream, Submit submit) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
      status != CU_STREAM_CAPTURE_STATUS_NONE)
    unsupported("a result on the host, in a stream that is being captured");
  submit();
  require(cuStreamSynchronize(stream) == CUDA_SUCCESS, CUSOLVER_STATUS_EXECUTION_FAILED);
}

}  // namespace aw::cusolver

struct syevjInfo {
  double tolerance = 0;
  int max_sweeps = 100, sort = 1;
  std::shared_ptr<aw::cusolver::Report> report = std::make_shared<aw::cusolver::Report>();
};
struct gesvdjInfo : syevjInfo {};

// MACRO(name, type, real type) for the four types; the second name is that of complex ones.
#define AW_FOUR(MACRO, real, complex) \
  MACRO(S##real, float, float)        \
  MACRO(D##real, double, double)      \
  MACRO(C##complex, cuComplex, float) \
  MACRO(Z##complex, cuDoubleComplex, double)

#define AW_DN(name) AW_EXPORT cusolverStatus_t cusolverDn##name
