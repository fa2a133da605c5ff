// Products of matrices for graphs, by the rocBLAS that MIOpen itself needs.
#pragma once

#include "rocm/cudnn/objects.h"

namespace aw::dnn {

// c = a * b for each matrix of a batch, in rocBLAS's terms: columns first, so that the operands are
// turned round.
struct Product {
  int type = 0;  // rocblas_datatype
  int compute = 0;
  int first_op = 0, second_op = 0;  // of b and of a
  int m = 0, n = 0, k = 0;
  int ld_first = 0, ld_second = 0, ld_out = 0;
  int64_t stride_first = 0, stride_second = 0, stride_out = 0;
  int batch = 1;
};

// Throws NOT_SUPPORTED for layouts that one call of rocBLAS does not cover.
Product product_of(const cudnnTensorDescriptor_s& a, const cudnnTensorDescriptor_s& b,
                   const cudnnTensorDescriptor_s& c);
void multiply(cudnnHandle_s& handle, const Product& product, const void* a, const void* b, void* c);

}  // namespace aw::dnn
