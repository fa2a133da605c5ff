// What the functions of cusolverSp share: handles, descriptors of matrices, and their work.
#pragma once

#include <cusolverSp.h>
#include <dlfcn.h>

#include "libraries/cusolver/cusolver.h"
#include "libraries/cusolver/sparse.h"

struct cusolverSpContext {
  uint64_t magic;
  CUstream stream = nullptr;
};

namespace aw::cusolver {

constexpr uint64_t kSparseMagic = 0x65737261707376ull;

inline cusolverSpContext& use_sparse(cusolverSpHandle_t handle) {
  require(handle && handle->magic == kSparseMagic, CUSOLVER_STATUS_NOT_INITIALIZED);
  return *handle;
}

// A descriptor is cuSPARSE's, which is there, since it made it.
inline int base_of(cusparseMatDescr_t descriptor) {
  require(descriptor);
  static void* const library = dlopen("libcusparse.so.12", RTLD_LAZY | RTLD_NOLOAD);
  auto* type = library ? reinterpret_cast<cusparseMatrixType_t (*)(cusparseMatDescr_t)>(
                             dlsym(library, "cusparseGetMatType"))
                       : nullptr;
  auto* base = library ? reinterpret_cast<cusparseIndexBase_t (*)(cusparseMatDescr_t)>(
                             dlsym(library, "cusparseGetMatIndexBase"))
                       : nullptr;
  if (!type || !base) unsupported("descriptors of another cuSPARSE than anywarp's");
  require(type(descriptor) == CUSPARSE_MATRIX_TYPE_GENERAL,
          CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
  return base(descriptor) == CUSPARSE_INDEX_BASE_ONE;
}

template <class T>
Csr<T> matrix(int n, int entries, cusparseMatDescr_t descriptor, const T* value, const int* row,
              const int* column) {
  require(n >= 0 && entries >= 0);
  return {n, entries, base_of(descriptor), row, column, value};
}

// Computes `body()` in the stream and waits, for a number that the host reads; false where the
// matrix names places outside of its arrays.
template <class T, class Body>
void perform_sparse(CUstream stream, const char* name, const Csr<T>& A, Body body) {
  struct Outcome {
    bool sound = true, memory = true;
  };
  auto outcome = std::make_shared<Outcome>();
  and_wait(stream, [&] {
    aw::lib::submit(stream, name, [=] {
      try {
        outcome->sound = A.sound();
        if (outcome->sound) body();
      } catch (const std::bad_alloc&) {
        outcome->memory = false;
      }
    });
  });
  require(outcome->sound);
  require(outcome->memory, CUSOLVER_STATUS_ALLOC_FAILED);
}

template <class T>
auto by_value(T number) {
  return *own(&number);
}

}  // namespace aw::cusolver
