// The Python side of row_softmax: checks, then the kernel of the other file.
#include <torch/extension.h>

torch::Tensor row_softmax_cuda(const torch::Tensor& values);

torch::Tensor row_softmax(const torch::Tensor& values) {
  TORCH_CHECK(values.is_cuda(), "row_softmax wants a tensor on a CUDA device");
  TORCH_CHECK(values.dim() == 2, "row_softmax wants a matrix");
  return row_softmax_cuda(values.contiguous());
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("row_softmax", &row_softmax, "softmax over the rows of a matrix");
}
