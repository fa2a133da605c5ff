// cuSPARSELt: making a matrix structured, telling whether it is, and compressing it. The compressed
// form is documented to be opaque; ours has the size of NVIDIA's, which programs know.
#include <algorithm>
#include <cmath>
#include <vector>

#include "libraries/cusparselt/matrices.h"

using namespace aw::structured;
using aw::lib::require;
using aw::lib::unsupported;

namespace aw::structured {

product::Type type_of(cudaDataType type) {
  using product::Type;
  switch (type) {
    case CUDA_R_32F:
      return Type::f32;
    case CUDA_R_16F:
      return Type::f16;
    case CUDA_R_16BF:
      return Type::bf16;
    case CUDA_R_8I:
      return Type::s8;
    case CUDA_R_32I:
      return Type::s32;
    case CUDA_R_8F_E4M3:
      return Type::e4m3;
    case CUDA_R_8F_E5M2:
      return Type::e5m2;
    default:
      unsupported("type " + std::to_string(type) + " of a matrix");
  }
}

int Sparse::bytes() const { return product::bytes_of(type_of(matrix.type)); }

Sparse sparse_of(const Matrix& matrix, bool is_a, cusparseOperation_t op) {
  require(matrix.structured && matrix.type != CUDA_R_32I);
  const bool straight = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
  Sparse found{matrix, is_a == straight};
  if (found.k() % found.group() != 0) unsupported("a size along k that is no multiple of a group");
  return found;
}

Sparse sparse_of(const Multiplication& of) {
  return of.a.structured ? sparse_of(of.a, true, of.op_a) : sparse_of(of.b, false, of.op_b);
}

namespace {

// The bits of an element; a negative zero counts as zero.
uint32_t bits_of(const char* at, int bytes) {
  uint32_t bits = 0;
  std::memcpy(&bits, at, size_t(bytes));
  return bits;
}

bool is_zero(uint32_t bits, const Sparse& sparse) {
  if (sparse.matrix.type == CUDA_R_8I) return bits == 0;
  return (bits & ~(1u << (8 * sparse.bytes() - 1))) == 0;
}

// The places of the kept elements of a group: those that are not zero, then the first others, in
// their order. False where too many are not zero.
bool places(const char* from, int64_t step, const Sparse& sparse, int (&found)[2]) {
  int count = 0;
  bool chosen[4] = {};
  for (int i = 0; i < sparse.group(); ++i) {
    if (is_zero(bits_of(from + i * step, sparse.bytes()), sparse)) continue;
    if (count++ < sparse.kept()) chosen[i] = true;
  }
  for (int i = 0, left = sparse.kept() - count; i < sparse.group() && left > 0; ++i)
    if (!chosen[i]) chosen[i] = true, --left;
  for (int i = 0, place = 0; i < sparse.group(); ++i)
    if (chosen[i]) found[place++] = i;
  return count <= sparse.kept();
}

// For each group of a line, and of each matrix of a batch: where it begins, how far its elements
// lie apart, and its number.
template <class Each>
void for_each_group(const Sparse& sparse, const void* from, Each each) {
  const int bytes = sparse.bytes();
  const int64_t groups = sparse.k() / sparse.group();
  for (int64_t item = 0; item < sparse.matrix.batches; ++item)
    for (int64_t line = 0; line < sparse.lines(); ++line)
      for (int64_t group = 0; group < groups; ++group) {
        const int64_t place = item * sparse.matrix.stride + line * sparse.line_step() +
                              group * sparse.group() * sparse.k_step();
        each(static_cast<const char*>(from) + place * bytes, sparse.k_step() * bytes, item,
             line * groups + group);
      }
}

void compress(const Sparse& sparse, const void* dense, void* to) {
  const int bytes = sparse.bytes(), kept = sparse.kept();
  auto* const out = static_cast<char*>(to);
  std::memset(out, 0, size_t(sparse.compressed_bytes() * sparse.matrix.batches));
  for_each_group(sparse, dense, [&](const char* from, int64_t step, int64_t item, int64_t group) {
    char* const values = out + item * sparse.compressed_bytes();
    auto* const where = reinterpret_cast<uint8_t*>(values + sparse.value_bytes());
    int found[2];
    places(from, step, sparse, found);
    for (int i = 0; i < kept; ++i) {
      std::memcpy(values + (group * kept + i) * bytes, from + found[i] * step, size_t(bytes));
      where[group / 2] |= uint8_t(found[i] << (group % 2 * 4 + i * 2));
    }
  });
}

float magnitude(const char* at, product::Type type) {
  float value = 0;
  product::to_f32(type, at, &value, 1);
  return std::fabs(value);
}

// Zeros all of a group but the largest; of equal ones the first stays.
void prune_strip(const Sparse& sparse, char* group, int64_t step) {
  const auto type = type_of(sparse.matrix.type);
  int order[4] = {0, 1, 2, 3};
  std::stable_sort(order, order + sparse.group(), [&](int one, int other) {
    return magnitude(group + one * step, type) > magnitude(group + other * step, type);
  });
  for (int i = sparse.kept(); i < sparse.group(); ++i)
    std::memset(group + order[i] * step, 0, size_t(sparse.bytes()));
}

// Copies the elements of a matrix, whose gaps stay as they are.
void copy(const Sparse& sparse, const void* from, void* to) {
  if (from == to) return;
  const int bytes = sparse.bytes();
  for_each_group(sparse, from, [&](const char* group, int64_t step, int64_t, int64_t) {
    char* const there = static_cast<char*>(to) + (group - static_cast<const char*>(from));
    for (int i = 0; i < sparse.group(); ++i)
      std::memcpy(there + i * step, group + i * step, size_t(bytes));
  });
}

void prune(const Sparse& sparse, const void* from, void* to) {
  copy(sparse, from, to);
  for_each_group(sparse, to, [&](const char* group, int64_t step, int64_t, int64_t) {
    prune_strip(sparse, const_cast<char*>(group), step);
  });
}

void submit_prune(const Sparse& sparse, const void* from, void* to, cusparseLtPruneAlg_t how,
                  cudaStream_t stream) {
  require(from && to);
  if (how == CUSPARSELT_PRUNE_SPMMA_TILE) unsupported("pruning by tiles");
  require(how == CUSPARSELT_PRUNE_SPMMA_STRIP);
  lib::submit(stream, "cusparseLtSpMMAPrune", [=] { prune(sparse, from, to); });
}

void submit_check(const Sparse& sparse, const void* from, int* valid, cudaStream_t stream) {
  require(from && valid);
  lib::submit(stream, "cusparseLtSpMMAPruneCheck", [=] {
    bool fine = true;
    for_each_group(sparse, from, [&](const char* group, int64_t step, int64_t, int64_t) {
      int found[2];
      fine = places(group, step, sparse, found) && fine;
    });
    *valid = fine ? 0 : 1;  // as documented: 0 is right
  });
}

void submit_compress(const Sparse& sparse, const void* from, void* to, cudaStream_t stream) {
  require(from && to);
  lib::submit(stream, "cusparseLtSpMMACompress", [=] { compress(sparse, from, to); });
}

Sparse given(const cusparseLtHandle_t* handle, const cusparseLtMatDescriptor_t* matrix, int is_a,
             cusparseOperation_t op) {
  check_handle(handle);
  return sparse_of(get<Matrix>(matrix), is_a != 0, op);
}

void give_sizes(const Sparse& sparse, size_t* size, size_t* buffer) {
  require(size);
  *size = size_t(sparse.compressed_bytes() * sparse.matrix.batches);
  if (buffer) *buffer = 0;
}

}  // namespace

void expand(const Sparse& sparse, const void* compressed, void* to) {
  const int bytes = sparse.bytes(), kept = sparse.kept(), size = sparse.group();
  const auto* const values = static_cast<const char*>(compressed);
  const auto* const where = reinterpret_cast<const uint8_t*>(values + sparse.value_bytes());
  auto* const out = static_cast<char*>(to);
  std::memset(out, 0, size_t(sparse.groups() * size * bytes));
  for (int64_t group = 0; group < sparse.groups(); ++group)
    for (int i = 0; i < kept; ++i) {
      const int place = where[group / 2] >> (group % 2 * 4 + i * 2) & (size - 1);
      std::memcpy(out + (group * size + place) * bytes, values + (group * kept + i) * bytes,
                  size_t(bytes));
    }
}

}  // namespace aw::structured

AW_EXPORT cusparseStatus_t cusparseLtSpMMAPrune(const cusparseLtHandle_t* handle,
                                                const cusparseLtMatmulDescriptor_t* product,
                                                const void* from, void* to,
                                                cusparseLtPruneAlg_t how, cudaStream_t stream) {
  return api<"cusparseLtSpMMAPrune">(
      [&] {
        check_handle(handle);
        submit_prune(sparse_of(get<Multiplication>(product)), from, to, how, stream);
      },
      handle, product, from, to, how, stream);
}

AW_EXPORT cusparseStatus_t cusparseLtSpMMAPrune2(const cusparseLtHandle_t* handle,
                                                 const cusparseLtMatDescriptor_t* matrix, int is_a,
                                                 cusparseOperation_t op, const void* from, void* to,
                                                 cusparseLtPruneAlg_t how, cudaStream_t stream) {
  return api<"cusparseLtSpMMAPrune2">(
      [&] { submit_prune(given(handle, matrix, is_a, op), from, to, how, stream); }, handle, matrix,
      is_a, op, from, to, how, stream);
}

AW_EXPORT cusparseStatus_t cusparseLtSpMMAPruneCheck(const cusparseLtHandle_t* handle,
                                                     const cusparseLtMatmulDescriptor_t* product,
                                                     const void* from, int* valid,
                                                     cudaStream_t stream) {
  return api<"cusparseLtSpMMAPruneCheck">(
      [&] {
        check_handle(handle);
        submit_check(sparse_of(get<Multiplication>(product)), from, valid, stream);
      },
      handle, product, from, valid, stream);
}

AW_EXPORT cusparseStatus_t cusparseLtSpMMAPruneCheck2(const cusparseLtHandle_t* handle,
                                                      const cusparseLtMatDescriptor_t* matrix,
                                                      int is_a, cusparseOperation_t op,
                                                      const void* from, int* valid,
                                                      cudaStream_t stream) {
  return api<"cusparseLtSpMMAPruneCheck2">(
      [&] { submit_check(given(handle, matrix, is_a, op), from, valid, stream); }, handle, matrix,
      is_a, op, from, valid, stream);
}

AW_EXPORT cusparseStatus_t cusparseLtSpMMACompressedSize(const cusparseLtHandle_t* handle,
                                                         const cusparseLtMatmulPlan_t* plan,
                                                         size_t* size, size_t* buffer) {
  return api<"cusparseLtSpMMACompressedSize">(
      [&] {
        check_handle(handle);
        give_sizes(sparse_of(get<Plan>(plan).of), size, buffer);
      },
      handle, plan, size, buffer);
}

AW_EXPORT cusparseStatus_t cusparseLtSpMMACompressedSize2(const cusparseLtHandle_t* handle,
                                                          const cusparseLtMatDescriptor_t* matrix,
                                                          size_t* size, size_t* buffer) {
  return api<"cusparseLtSpMMACompressedSize2">(
      [&] {
        // The size is the same along rows and columns.
        check_handle(handle);
        const Sparse sparse{get<Matrix>(matrix), true};
        require(sparse.matrix.structured);
        give_sizes(sparse, size, buffer);
      },
      handle, matrix, size, buffer);
}

AW_EXPORT cusparseStatus_t cusparseLtSpMMACompress(const cusparseLtHandle_t* handle,
                                                   const cusparseLtMatmulPlan_t* plan,
                                                   const void* from, void* to, void* buffer,
                                                   cudaStream_t stream) {
  return api<"cusparseLtSpMMACompress">(
      [&] {
        check_handle(handle);
        submit_compress(sparse_of(get<Plan>(plan).of), from, to, stream);
      },
      handle, plan, from, to, buffer, stream);
}

AW_EXPORT cusparseStatus_t cusparseLtSpMMACompress2(const cusparseLtHandle_t* handle,
                                                    const cusparseLtMatDescriptor_t* matrix,
                                                    int is_a, cusparseOperation_t op,
                                                    const void* from, void* to, void* buffer,
                                                    cudaStream_t stream) {
  return api<"cusparseLtSpMMACompress2">(
      [&] { submit_compress(given(handle, matrix, is_a, op), from, to, stream); }, handle, matrix,
      is_a, op, from, to, buffer, stream);
}
