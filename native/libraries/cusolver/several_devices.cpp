// cusolverMg: matrices whose columns lie on several devices, in blocks dealt out in turns. Memory
// of all devices is the host's here, so that a matrix is put together, computed with by LAPACK, and
// dealt out again. On one device it is computed with where it lies.
#include <cusolverMg.h>

#include "libraries/cusolver/eigen.h"

using namespace aw::cusolver;

struct cusolverMgContext {
  uint64_t magic;
  std::vector<int> devices;
};

namespace {

constexpr uint64_t kHandle = 0x67764d726576ull, kGrid = 0x64697247674dull,
                   kMatrix = 0x63736544674dull;

struct Grid {
  uint64_t magic;
  int devices;
};
// Column j is on device (j / block) % devices, in its column (j / block / devices) * block + j %
// block; each device has columns of all rows, one behind the other.
struct Columns {
  uint64_t magic;
  int64_t rows, columns, block;
  cudaDataType type;
  int devices;

  int device(int64_t j) const { return static_cast<int>(j / block % devices); }
  int64_t place(int64_t j) const { return j / block / devices * block + j % block; }
};

cusolverMgContext& use_several(cusolverMgHandle_t handle) {
  require(handle && handle->magic == kHandle, CUSOLVER_STATUS_NOT_INITIALIZED);
  return *handle;
}
template <class Described>
Described& described(void* given, uint64_t magic) {
  auto* it = static_cast<Described*>(given);
  require(it && it->magic == magic);
  return *it;
}

// Rows [row, row + m) and columns [column, column + n) of a matrix on several devices.
template <class T>
struct Sub {
  Columns of = {};
  T* const* parts = nullptr;
  int64_t row = 0, column = 0, m = 0, n = 0;

  T* at(int64_t j) const {
    return parts[of.device(column + j)] + of.place(column + j) * of.rows + row;
  }
  bool whole() const { return of.devices == 1; }
  // The same as one matrix with leading dimension ld(): where it lies, or in memory that is taken.
  int64_t ld() const { return whole() ? of.rows : std::max<int64_t>(1, m); }
  T* matrix(Memory& memory) const {
    if (whole()) return memory.counts() || !n ? nullptr : at(0);
    return memory.take<T>(m * n);
  }
  void gather(T* to) const {
    for (int64_t j = 0; !whole() && j < n; ++j) std::copy_n(at(j), m, to + j * m);
  }
  void scatter(const T* from) const {
    for (int64_t j = 0; !whole() && j < n; ++j) std::copy_n(from + j * m, m, at(j));
  }
};

template <class T>
Sub<T> sub(void* const* parts, int IA, int JA, cudaLibMgMatrixDesc_t described_as, int m, int n,
           cudaDataType compute, const cusolverMgContext& handle) {
  const auto& of = described<Columns>(described_as, kMatrix);
  require(!handle.devices.empty(), CUSOLVER_STATUS_NOT_INITIALIZED);
  require(of.devices <= static_cast<int>(handle.devices.size()) && of.type == compute);
  require(m >= 0 && n >= 0 && IA >= 1 && JA >= 1);
  require(IA - 1 + int64_t{m} <= of.rows && JA - 1 + int64_t{n} <= of.columns);
  if (of.rows > INT_MAX) unsupported("a size of 2^31 or more");
  return {of, reinterpret_cast<T* const*>(parts), IA - 1, JA - 1, m, n};
}

// Runs op(memory) once devices have done what they were given; its result is on the host.
template <class Op>
void perform_there(const char* name, int* info, Op op) {
  require(info);
  auto result = std::make_shared<int>(0);
  and_wait(nullptr, [&] {
    perform(nullptr, name, {}, nullptr, [=](Memory& memory) { return *result = op(memory), 0; });
  });
  *info = *result;
}
template <class T, class Op>
void count_there(int64_t* lwork, Op op) {
  require(lwork);
  *lwork = std::max<int64_t>(1, static_cast<int64_t>((bytes_of(op) + sizeof(T) - 1) / sizeof(T)));
}

template <class T>
auto factored(Sub<T> A, bool back, auto compute) {
  return [=](Memory& memory) {
    T* matrix = A.matrix(memory);
    if (!memory.counts()) A.gather(matrix);
    const int info = compute(memory, matrix, static_cast<int>(A.ld()));
    if (!memory.counts() && back) A.scatter(matrix);
    return info;
  };
}

template <class T>
auto cholesky(Sub<T> A, cublasFillMode_t fill, bool invert) {
  const char uplo = letter(fill);
  const int n = static_cast<int>(A.n);
  return factored(A, true, [=](Memory& memory, T* matrix, int ld) {
    if (memory.counts()) return 0;
    return invert ? lapack<T, "potri">(uplo, n, matrix, ld)
                  : lapack<T, "potrf">(uplo, n, matrix, ld);
  });
}

// Solves with a factored A: solve(matrix, ld, right sides, their ld).
template <class T>
auto solved(Sub<T> A, Sub<T> B, auto solve) {
  return factored(A, false, [=](Memory& memory, T* matrix, int ld) {
    return factored(B, true, [=](Memory& inner, T* right, int ldb) {
      return inner.counts() ? 0 : solve(matrix, ld, right, ldb);
    })(memory);
  });
}

// Pivots lie as a matrix of one row does.
struct Pivots {
  Columns of;
  int* const* parts;
  int64_t first;
  int& operator[](int64_t i) const { return parts[of.device(first + i)][of.place(first + i)]; }
};

template <class T>
auto lu(Sub<T> A, int* const* parts) {
  const Pivots pivots = {A.of, parts, A.column};
  const int m = static_cast<int>(A.m), n = static_cast<int>(A.n);
  return factored(A, true, [=](Memory& memory, T* matrix, int ld) {
    int* found = memory.take<int>(std::min(m, n));
    if (memory.counts()) return 0;
    const int info = lapack<T, "getrf">(m, n, matrix, ld, found);
    for (int i = 0; i < std::min(m, n); ++i) pivots[i] = found[i];
    return info;
  });
}

template <class T>
auto lu_solved(cublasOperation_t operation, Sub<T> A, int* const* parts, Sub<T> B) {
  const char trans = letter<T>(operation);
  const Pivots pivots = {A.of, parts, A.column};
  const int n = static_cast<int>(A.n), nrhs = static_cast<int>(B.n);
  return solved(A, B, [=](T* matrix, int ld, T* right, int ldb) {
    std::vector<int> given(n);
    for (int i = 0; i < n; ++i) given[i] = pivots[i];
    return lapack<T, "getrs">(trans, n, nrhs, matrix, ld, given.data(), right, ldb);
  });
}

template <class T>
auto cholesky_solved(cublasFillMode_t fill, Sub<T> A, Sub<T> B) {
  const char uplo = letter(fill);
  const int n = static_cast<int>(A.n), nrhs = static_cast<int>(B.n);
  return solved(A, B, [=](T* matrix, int ld, T* right, int ldb) {
    return lapack<T, "potrs">(uplo, n, nrhs, matrix, ld, right, ldb);
  });
}

template <class T>
auto eigen(cusolverEigMode_t mode, cublasFillMode_t fill, Sub<T> A, void* W) {
  const char job = letter(mode), uplo = letter(fill);
  const int n = static_cast<int>(A.n);
  small_enough(job, n);
  return factored(A, true, [=](Memory& memory, T* matrix, int ld) {
    return conquer<T, "syevd", "heevd">(memory, job, uplo, n, matrix, std::max(1, ld),
                                        static_cast<Real<T>*>(W));
  });
}

}  // namespace

#define AW_MG(name) AW_EXPORT cusolverStatus_t cusolverMg##name

AW_MG(Create)(cusolverMgHandle_t* handle) {
  return api<"cusolverMgCreate">([&] {
    require(handle);
    aw::lib::ensure_context();
    *handle = new cusolverMgContext{kHandle, {}};
  });
}

AW_MG(Destroy)(cusolverMgHandle_t handle) {
  return api<"cusolverMgDestroy">([&] {
    use_several(handle).magic = 0;
    delete handle;
  });
}

AW_MG(DeviceSelect)(cusolverMgHandle_t handle, int count, int devices[]) {
  return api<"cusolverMgDeviceSelect">([&] {
    auto& it = use_several(handle);
    int there = 0;
    require(cuDeviceGetCount(&there) == CUDA_SUCCESS, CUSOLVER_STATUS_INTERNAL_ERROR);
    require(count > 0 && devices);
    std::vector<int> chosen(devices, devices + count);
    for (int device : chosen) require(device >= 0 && device < there);
    it.devices = std::move(chosen);
  });
}

// Only grids of one row of devices are NVIDIA's, too.
AW_MG(CreateDeviceGrid)
(cudaLibMgGrid_t* grid, int32_t rows, int32_t columns, const int32_t devices[],
 cusolverMgGridMapping_t mapping) {
  return api<"cusolverMgCreateDeviceGrid">([&] {
    require(grid && devices && rows == 1 && columns > 0 &&
            mapping <= CUDALIBMG_GRID_MAPPING_ROW_MAJOR);
    *grid = new Grid{kGrid, columns};
  });
}

AW_MG(DestroyGrid)(cudaLibMgGrid_t grid) {
  return api<"cusolverMgDestroyGrid">([&] {
    auto& it = described<Grid>(grid, kGrid);
    it.magic = 0;
    delete &it;
  });
}

// A block has all rows, as NVIDIA's do.
AW_MG(CreateMatrixDesc)
(cudaLibMgMatrixDesc_t* made, int64_t rows, int64_t columns, int64_t row_block,
 int64_t column_block, cudaDataType type, const cudaLibMgGrid_t grid) {
  return api<"cusolverMgCreateMatrixDesc">([&] {
    const auto& on = described<Grid>(grid, kGrid);
    require(made && rows >= 0 && columns >= 0 && row_block >= rows && column_block > 0);
    with_type(type, [](auto) {});
    *made = new Columns{kMatrix, rows, columns, column_block, type, on.devices};
  });
}

AW_MG(DestroyMatrixDesc)(cudaLibMgMatrixDesc_t descriptor) {
  return api<"cusolverMgDestroyMatrixDesc">([&] {
    auto& it = described<Columns>(descriptor, kMatrix);
    it.magic = 0;
    delete &it;
  });
}

// Each function beside the one that counts what it works in: `op` is what both compute.
#define AW_PAIR(name, task, parameters, op)                                                       \
  AW_MG(name)                                                                                     \
  (cusolverMgHandle_t handle, AW_LIST parameters, cudaDataType compute, void* array_d_work[],     \
   int64_t lwork, int* info) {                                                                    \
    return api<"cusolverMg" #name>([&] {                                                          \
      auto& it = use_several(handle);                                                             \
      require(array_d_work && lwork >= 0);                                                        \
      with_type(compute, [&]<class T>(std::type_identity<T>) { perform_there(task, info, op); }); \
    });                                                                                           \
  }                                                                                               \
  AW_MG(name##_bufferSize)                                                                        \
  (cusolverMgHandle_t handle, AW_LIST parameters, cudaDataType compute, int64_t* lwork) {         \
    return api<"cusolverMg" #name "_bufferSize">([&] {                                            \
      auto& it = use_several(handle);                                                             \
      with_type(compute, [&]<class T>(std::type_identity<T>) { count_there<T>(lwork, op); });     \
    });                                                                                           \
  }
#define AW_LIST(...) __VA_ARGS__

AW_PAIR(Potrf, "potrf",
        (cublasFillMode_t uplo, int N, void* array_d_A[], int IA, int JA,
         cudaLibMgMatrixDesc_t descrA),
        cholesky(sub<T>(array_d_A, IA, JA, descrA, N, N, compute, it), uplo, false))
AW_PAIR(Potri, "potri",
        (cublasFillMode_t uplo, int N, void* array_d_A[], int IA, int JA,
         cudaLibMgMatrixDesc_t descrA),
        cholesky(sub<T>(array_d_A, IA, JA, descrA, N, N, compute, it), uplo, true))
AW_PAIR(Potrs, "potrs",
        (cublasFillMode_t uplo, int N, int NRHS, void* array_d_A[], int IA, int JA,
         cudaLibMgMatrixDesc_t descrA, void* array_d_B[], int IB, int JB,
         cudaLibMgMatrixDesc_t descrB),
        cholesky_solved(uplo, sub<T>(array_d_A, IA, JA, descrA, N, N, compute, it),
                        sub<T>(array_d_B, IB, JB, descrB, N, NRHS, compute, it)))
AW_PAIR(Getrf, "getrf",
        (int M, int N, void* array_d_A[], int IA, int JA, cudaLibMgMatrixDesc_t descrA,
         int* array_d_IPIV[]),
        lu(sub<T>(array_d_A, IA, JA, descrA, M, N, compute, it), array_d_IPIV))
AW_PAIR(Getrs, "getrs",
        (cublasOperation_t trans, int N, int NRHS, void* array_d_A[], int IA, int JA,
         cudaLibMgMatrixDesc_t descrA, int* array_d_IPIV[], void* array_d_B[], int IB, int JB,
         cudaLibMgMatrixDesc_t descrB),
        lu_solved(trans, sub<T>(array_d_A, IA, JA, descrA, N, N, compute, it), array_d_IPIV,
                  sub<T>(array_d_B, IB, JB, descrB, N, NRHS, compute, it)))
AW_PAIR(Syevd, "syevd",
        (cusolverEigMode_t mode, cublasFillMode_t uplo, int N, void* array_d_A[], int IA, int JA,
         cudaLibMgMatrixDesc_t descrA, void* W, cudaDataType typeW),
        (one_type(real_type(compute), typeW),
         eigen(mode, uplo, sub<T>(array_d_A, IA, JA, descrA, N, N, compute, it), W)))
