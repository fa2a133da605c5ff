// The operators that models call most, registered without boxing (hot.h).
#include "hot.h"

#include <ATen/ops/_foreach_add_ops.h>
#include <ATen/ops/_foreach_mul_ops.h>
#include <ATen/ops/_local_scalar_dense_ops.h>
#include <ATen/ops/_log_softmax_backward_data_ops.h>
#include <ATen/ops/_log_softmax_ops.h>
#include <ATen/ops/_softmax_backward_data_ops.h>
#include <ATen/ops/_softmax_ops.h>
#include <ATen/ops/_unsafe_view_ops.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/addcdiv_ops.h>
#include <ATen/ops/addcmul_ops.h>
#include <ATen/ops/addmm_ops.h>
#include <ATen/ops/argmax_ops.h>
#include <ATen/ops/baddbmm_ops.h>
#include <ATen/ops/bitwise_not_ops.h>
#include <ATen/ops/bmm_ops.h>
#include <ATen/ops/cat_ops.h>
#include <ATen/ops/clamp_ops.h>
#include <ATen/ops/clone_ops.h>
#include <ATen/ops/convolution_backward_ops.h>
#include <ATen/ops/convolution_ops.h>
#include <ATen/ops/copy_ops.h>
#include <ATen/ops/cos_ops.h>
#include <ATen/ops/cumsum_ops.h>
#include <ATen/ops/div_ops.h>
#include <ATen/ops/embedding_dense_backward_ops.h>
#include <ATen/ops/embedding_ops.h>
#include <ATen/ops/eq_ops.h>
#include <ATen/ops/exp_ops.h>
#include <ATen/ops/fill_ops.h>
#include <ATen/ops/gather_ops.h>
#include <ATen/ops/ge_ops.h>
#include <ATen/ops/gelu_backward_ops.h>
#include <ATen/ops/gelu_ops.h>
#include <ATen/ops/gt_ops.h>
#include <ATen/ops/index_select_ops.h>
#include <ATen/ops/log_ops.h>
#include <ATen/ops/lt_ops.h>
#include <ATen/ops/masked_fill_ops.h>
#include <ATen/ops/max_pool2d_with_indices_backward_ops.h>
#include <ATen/ops/max_pool2d_with_indices_ops.h>
#include <ATen/ops/maximum_ops.h>
#include <ATen/ops/mean_ops.h>
#include <ATen/ops/minimum_ops.h>
#include <ATen/ops/mm_ops.h>
#include <ATen/ops/mul_ops.h>
#include <ATen/ops/native_batch_norm_ops.h>
#include <ATen/ops/native_group_norm_ops.h>
#include <ATen/ops/native_layer_norm_backward_ops.h>
#include <ATen/ops/native_layer_norm_ops.h>
#include <ATen/ops/ne_ops.h>
#include <ATen/ops/neg_ops.h>
#include <ATen/ops/nll_loss_backward_ops.h>
#include <ATen/ops/nll_loss_forward_ops.h>
#include <ATen/ops/pow_ops.h>
#include <ATen/ops/reciprocal_ops.h>
#include <ATen/ops/relu_ops.h>
#include <ATen/ops/rsqrt_ops.h>
#include <ATen/ops/sigmoid_backward_ops.h>
#include <ATen/ops/sigmoid_ops.h>
#include <ATen/ops/silu_backward_ops.h>
#include <ATen/ops/silu_ops.h>
#include <ATen/ops/sin_ops.h>
#include <ATen/ops/sqrt_ops.h>
#include <ATen/ops/stack_ops.h>
#include <ATen/ops/sub_ops.h>
#include <ATen/ops/sum_ops.h>
#include <ATen/ops/tanh_backward_ops.h>
#include <ATen/ops/tanh_ops.h>
#include <ATen/ops/threshold_backward_ops.h>
#include <ATen/ops/tril_ops.h>
#include <ATen/ops/triu_ops.h>
#include <ATen/ops/where_ops.h>
#include <ATen/ops/zero_ops.h>

namespace awt {

std::unordered_set<std::string>& unboxed_operators() {
  static auto& names = *new std::unordered_set<std::string>;
  return names;
}

namespace {

template <class Op>
void serve(torch::Library& library) {
  std::string name(Op::name);
  if (*std::string_view(Op::overload_name).data()) name.append(".").append(Op::overload_name);
  library.impl(name.c_str(), TORCH_FN(Hot<Op>::call));
  unboxed_operators().insert(std::move(name));
}

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  serve<at::_ops::add_Tensor>(library);
  serve<at::_ops::add__Tensor>(library);
  serve<at::_ops::sub_Tensor>(library);
  serve<at::_ops::sub__Tensor>(library);
  serve<at::_ops::mul_Tensor>(library);
  serve<at::_ops::mul__Tensor>(library);
  serve<at::_ops::div_Tensor>(library);
  serve<at::_ops::div__Tensor>(library);
  serve<at::_ops::add_out>(library);
  serve<at::_ops::mul_out>(library);
  serve<at::_ops::mm>(library);
  serve<at::_ops::bmm>(library);
  serve<at::_ops::addmm>(library);
  serve<at::_ops::baddbmm>(library);
  serve<at::_ops::mm_out>(library);
  serve<at::_ops::addmm_out>(library);
  serve<at::_ops::_unsafe_view>(library);
  serve<at::_ops::native_layer_norm>(library);
  serve<at::_ops::native_layer_norm_backward>(library);
  serve<at::_ops::native_batch_norm>(library);
  serve<at::_ops::native_group_norm>(library);
  serve<at::_ops::_softmax>(library);
  serve<at::_ops::_softmax_backward_data>(library);
  serve<at::_ops::_log_softmax>(library);
  serve<at::_ops::_log_softmax_backward_data>(library);
  serve<at::_ops::gelu>(library);
  serve<at::_ops::gelu_backward>(library);
  serve<at::_ops::relu>(library);
  serve<at::_ops::relu_>(library);
  serve<at::_ops::threshold_backward>(library);
  serve<at::_ops::silu>(library);
  serve<at::_ops::silu_backward>(library);
  serve<at::_ops::sigmoid>(library);
  serve<at::_ops::tanh>(library);
  serve<at::_ops::tanh_backward>(library);
  serve<at::_ops::sigmoid_backward>(library);
  serve<at::_ops::sum>(library);
  serve<at::_ops::sum_dim_IntList>(library);
  serve<at::_ops::mean>(library);
  serve<at::_ops::mean_dim>(library);
  serve<at::_ops::neg>(library);
  serve<at::_ops::exp>(library);
  serve<at::_ops::log>(library);
  serve<at::_ops::sqrt>(library);
  serve<at::_ops::rsqrt>(library);
  serve<at::_ops::pow_Tensor_Scalar>(library);
  serve<at::_ops::reciprocal>(library);
  serve<at::_ops::sin>(library);
  serve<at::_ops::cos>(library);
  serve<at::_ops::addcmul_>(library);
  serve<at::_ops::addcdiv_>(library);
  serve<at::_ops::fill__Scalar>(library);
  serve<at::_ops::zero_>(library);
  serve<at::_ops::copy_>(library);
  serve<at::_ops::clone>(library);
  serve<at::_ops::cat>(library);
  serve<at::_ops::stack>(library);
  serve<at::_ops::embedding>(library);
  serve<at::_ops::embedding_dense_backward>(library);
  serve<at::_ops::eq_Tensor>(library);
  serve<at::_ops::ne_Scalar>(library);
  serve<at::_ops::eq_Scalar>(library);
  serve<at::_ops::lt_Tensor>(library);
  serve<at::_ops::gt_Scalar>(library);
  serve<at::_ops::lt_Scalar>(library);
  serve<at::_ops::ge_Scalar>(library);
  serve<at::_ops::where_self>(library);
  serve<at::_ops::masked_fill_Scalar>(library);
  serve<at::_ops::bitwise_not>(library);
  serve<at::_ops::argmax>(library);
  serve<at::_ops::convolution>(library);
  serve<at::_ops::convolution_backward>(library);
  serve<at::_ops::max_pool2d_with_indices>(library);
  serve<at::_ops::max_pool2d_with_indices_backward>(library);
  serve<at::_ops::nll_loss_forward>(library);
  serve<at::_ops::nll_loss_backward>(library);
  serve<at::_ops::index_select>(library);
  serve<at::_ops::gather>(library);
  serve<at::_ops::_local_scalar_dense>(library);
  serve<at::_ops::_foreach_add__Scalar>(library);
  serve<at::_ops::_foreach_mul__Scalar>(library);
  serve<at::_ops::triu>(library);
  serve<at::_ops::tril>(library);
  serve<at::_ops::cumsum>(library);
  serve<at::_ops::maximum>(library);
  serve<at::_ops::minimum>(library);
  serve<at::_ops::clamp>(library);
}

}  // namespace
}  // namespace awt
