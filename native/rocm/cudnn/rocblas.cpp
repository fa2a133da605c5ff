#include "rocm/cudnn/rocblas.h"

#include <dlfcn.h>

namespace aw::dnn {
namespace {

// rocblas-types.h of ROCm 6.4 and 7.2
constexpr int kNone = 111, kTranspose = 112;
constexpr int kHalf = 150, kFloat = 151, kDouble = 152, kBfloat = 168;

struct Rocblas {
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*set_stream)(void*, cudaStream_t) = nullptr;
  int (*gemm)(void*, int, int, int, int, int, const void*, const void*, int, int, int64_t,
              const void*, int, int, int64_t, const void*, const void*, int, int, int64_t, void*,
              int, int, int64_t, int, int, int, int32_t, uint32_t) = nullptr;
};

const Rocblas& rocblas() {
  static const Rocblas found = [] {
    Rocblas made;
    void* library = open_rocm({"librocblas.so.5", "librocblas.so.4"});
    if (!library) return made;
    made.create = reinterpret_cast<decltype(made.create)>(dlsym(library, "rocblas_create_handle"));
    made.destroy =
        reinterpret_cast<decltype(made.destroy)>(dlsym(library, "rocblas_destroy_handle"));
    made.set_stream =
        reinterpret_cast<decltype(made.set_stream)>(dlsym(library, "rocblas_set_stream"));
    made.gemm =
        reinterpret_cast<decltype(made.gemm)>(dlsym(library, "rocblas_gemm_strided_batched_ex"));
    return made;
  }();
  if (!found.create || !found.destroy || !found.set_stream || !found.gemm)
    unsupported("MATMUL: librocblas was not found");
  return found;
}

// A matrix by rows that rocBLAS sees by columns: as it is, or turned.
void place(const cudnnTensorDescriptor_s& desc, int* op, int* ld) {
  const size_t rank = desc.dims.size();
  const int rows = desc.dims[rank - 2], columns = desc.dims[rank - 1];
  const int by_row = desc.strides[rank - 2], by_column = desc.strides[rank - 1];
  if (by_column == 1 || columns == 1) {
    *op = kNone, *ld = std::max({by_row, columns, 1});
    if (rows > 1 && by_row < columns) unsupported("MATMUL of overlapping rows");
  } else if (by_row == 1 || rows == 1) {
    *op = kTranspose, *ld = std::max({by_column, rows, 1});
    if (by_column < rows) unsupported("MATMUL of overlapping columns");
  } else {
    unsupported("MATMUL of a matrix with gaps in rows and columns");
  }
}

// The step from one matrix of the batch to the next; 0 where one serves all.
int64_t step(const cudnnTensorDescriptor_s& desc, const std::vector<int>& batch) {
  int64_t found = 0, covered = 1;
  bool repeated = false;
  for (size_t i = batch.size(); i-- > 0;) {
    if (batch[i] == 1) continue;
    if (desc.dims[i] == 1) {
      repeated = true;
    } else if (covered == 1 && !repeated) {
      found = desc.strides[i];
    } else if (repeated || desc.strides[i] != found * covered) {
      unsupported("MATMUL of a batch that is not evenly spaced");
    }
    covered *= batch[i];
  }
  if (repeated && found) unsupported("MATMUL of a batch that is partly repeated");
  return found;
}

int type_of(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_HALF:
      return kHalf;
    case CUDNN_DATA_FLOAT:
      return kFloat;
    case CUDNN_DATA_DOUBLE:
      return kDouble;
    case CUDNN_DATA_BFLOAT16:
      return kBfloat;
    default:
      unsupported("MATMUL of data type " + std::to_string(type));
  }
}

}  // namespace

Product product_of(const cudnnTensorDescriptor_s& a, const cudnnTensorDescriptor_s& b,
                   const cudnnTensorDescriptor_s& c) {
  const size_t rank = c.dims.size();
  require(rank >= 2 && a.dims.size() == rank && b.dims.size() == rank,
          "ranks that do not go together", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
  require(a.dims[rank - 1] == b.dims[rank - 2] && a.dims[rank - 2] == c.dims[rank - 2] &&
              b.dims[rank - 1] == c.dims[rank - 1],
          "matrices that do not go together", CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
  Product p;
  p.type = type_of(c.type), p.compute = c.type == CUDNN_DATA_DOUBLE ? kDouble : kFloat;
  p.m = c.dims[rank - 1], p.n = c.dims[rank - 2], p.k = a.dims[rank - 1];
  int out_op = kNone;
  place(b, &p.first_op, &p.ld_first), place(a, &p.second_op, &p.ld_second),
      place(c, &out_op, &p.ld_out);
  if (out_op != kNone) unsupported("MATMUL with a result by columns");
  const std::vector<int> batch(c.dims.begin(), c.dims.end() - 2);
  for (int size : batch) p.batch *= size;
  p.stride_first = step(b, batch), p.stride_second = step(a, batch), p.stride_out = step(c, batch);
  rocblas();
  return p;
}

void multiply(cudnnHandle_s& handle, const Product& p, const void* a, const void* b, void* c) {
  const Rocblas& blas = rocblas();
  if (!handle.blas) {
    require(blas.create(&handle.blas) == 0, "rocblas_create_handle failed",
            CUDNN_STATUS_INTERNAL_ERROR);
    handle.destroy_blas = blas.destroy;
  }
  require(blas.set_stream(handle.blas, handle.stream) == 0, "rocblas_set_stream failed",
          CUDNN_STATUS_EXECUTION_FAILED);
  const double wide_one = 1, wide_zero = 0;
  const bool wide = p.compute == kDouble;
  const void* one = wide ? static_cast<const void*>(&wide_one) : &kOne;
  const void* zero = wide ? static_cast<const void*>(&wide_zero) : &kZero;
  const int status =
      blas.gemm(handle.blas, p.first_op, p.second_op, p.m, p.n, p.k, one, b, p.type, p.ld_first,
                p.stride_first, a, p.type, p.ld_second, p.stride_second, zero, c, p.type, p.ld_out,
                p.stride_out, c, p.type, p.ld_out, p.stride_out, p.batch, p.compute, 0, 0, 0);
  require(status == 0, "rocblas_gemm_strided_batched_ex failed", CUDNN_STATUS_EXECUTION_FAILED);
}

}  // namespace aw::dnn
