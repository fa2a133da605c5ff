// What the functions of cuSPARSELt share: what lies in the 512 bytes of each of its descriptors.
#pragma once

#include <cusparseLt.h>

#include <cstring>
#include <type_traits>

#include "libraries/api.h"
#include "libraries/product/product.h"
#include "libraries/work.h"

namespace aw::structured {

using lib::require;
using lib::unsupported;

template <Name Function, class Body, class... Args>
cusparseStatus_t api(Body&& body, const Args&... args) noexcept {
  return lib::call<cusparseStatus_t, Function>(body, args...);
}

struct Handle {
  static constexpr uint64_t kMark = 0x6c740001;
};

struct Matrix {
  static constexpr uint64_t kMark = 0x6c740002;
  int64_t rows = 0, cols = 0, ld = 0, stride = 0;
  int32_t batches = 1;
  cudaDataType type = CUDA_R_32F;
  cusparseOrder_t order = CUSPARSE_ORDER_ROW;
  bool structured = false;

  // Elements from one row to the next, and from one column to the next.
  int64_t row_step() const { return order == CUSPARSE_ORDER_ROW ? ld : 1; }
  int64_t col_step() const { return order == CUSPARSE_ORDER_ROW ? 1 : ld; }
};

struct Multiplication {
  static constexpr uint64_t kMark = 0x6c740003;
  cusparseOperation_t op_a{}, op_b{};
  cusparseComputeType compute{};
  Matrix a, b, c, d;
  int32_t relu = 0, gelu = 0, alpha_vector = 0;
  float relu_bound = __builtin_huge_valf(), relu_threshold = 0;
  const void* bias = nullptr;
  int64_t bias_stride = 0;
};

struct Algorithm {
  static constexpr uint64_t kMark = 0x6c740004;
  int32_t config = 0, iterations = 5, split = 1, split_mode = CUSPARSELT_INVALID_MODE,
          split_buffers = 0;
};

struct Plan {
  static constexpr uint64_t kMark = 0x6c740005;
  Multiplication of;
};

// A descriptor of the program's holds a mark and one of these.
template <class Kept, class Descriptor>
void put(Descriptor* place, const Kept& kept) {
  static_assert(std::is_trivially_copyable_v<Kept> && sizeof(Kept) + 8 <= sizeof(*place));
  require(place);
  const uint64_t mark = Kept::kMark;
  std::memcpy(place->data, &mark, sizeof(mark));
  std::memcpy(place->data + 8, &kept, sizeof(kept));
}

template <class Kept, class Descriptor>
Kept get(const Descriptor* place) {
  uint64_t mark = 0;
  if (place) std::memcpy(&mark, place->data, sizeof(mark));
  require(mark == Kept::kMark);
  Kept kept;
  std::memcpy(static_cast<void*>(&kept), place->data + 8, sizeof(kept));
  return kept;
}

inline void check_handle(const cusparseLtHandle_t* handle) {
  uint64_t mark = 0;
  if (handle) std::memcpy(&mark, handle->data, sizeof(mark));
  require(mark == Handle::kMark, CUSPARSE_STATUS_NOT_INITIALIZED);
}

// The structured matrix of a product: which dimension its groups run along, and how its elements
// are spelt. Of each group of `group` elements along k half are kept.
struct Sparse {
  Matrix matrix;
  bool along_cols = true;  // k is its columns
  int group() const { return matrix.type == CUDA_R_32F ? 2 : 4; }
  int kept() const { return group() / 2; }
  int bytes() const;
  int64_t lines() const { return along_cols ? matrix.rows : matrix.cols; }
  int64_t k() const { return along_cols ? matrix.cols : matrix.rows; }
  int64_t groups() const { return lines() * (k() / group()); }
  int64_t line_step() const { return along_cols ? matrix.row_step() : matrix.col_step(); }
  int64_t k_step() const { return along_cols ? matrix.col_step() : matrix.row_step(); }
  // Compressed: the kept elements of each line, then four bits for each group: where they were.
  int64_t value_bytes() const { return groups() * kept() * bytes(); }
  int64_t compressed_bytes() const { return value_bytes() + (groups() + 1) / 2; }
};

Sparse sparse_of(const Matrix& matrix, bool is_a, cusparseOperation_t op);
Sparse sparse_of(const Multiplication& of);

// Inside of work: `from` compressed, as lines of k elements one after the other.
void expand(const Sparse& sparse, const void* compressed, void* to);

product::Type type_of(cudaDataType type);

}  // namespace aw::structured
