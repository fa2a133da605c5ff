#include "device_checks.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

namespace awt {

using at::ScalarType;
using c10::IValue;

// For which arguments an operator is not deterministic.
enum class When { kAlways, kFloating, kWeighted, kAccumulates, kProduct, kMaximum };

struct Alert {
  const char* name;
  const char* text;
  When when;
};

// Whole numbers with bool, bytes, half precision.
enum class Types { kWhole, kByte, kHalf };

struct RefusedTypes {
  const char* name;
  const char* kernel;
  Types types;
};

namespace {

struct Named {
  const char* name;
  const char* text;
};

template <class Entry>
const Entry* find(const Entry* begin, const Entry* end, const std::string& name) {
  const auto* at = std::lower_bound(begin, end, name, [](const Entry& entry, const std::string& n) {
    return std::strcmp(entry.name, n.c_str()) < 0;
  });
  return at != end && name == at->name ? at : nullptr;
}

constexpr Named kWrappers[] = {
#include "device_checks_table.h"
};

constexpr Named kOnlyForCpu[] = {
#include "only_for_cpu_table.h"
};

// The operators that torch.use_deterministic_algorithms lists as raising on CUDA, by the names in
// their messages; sorted. Those with an output follow the one without.
constexpr Alert kNondeterministic[] = {
    {"_adaptive_avg_pool2d_backward", "adaptive_avg_pool2d_backward_cuda", When::kAlways},
    {"_adaptive_avg_pool3d_backward", "adaptive_avg_pool3d_backward_cuda", When::kAlways},
    {"_ctc_loss_backward", "ctc_loss_backward_gpu", When::kAlways},
    {"_embedding_bag_dense_backward", "embedding_bag_backward_cuda_max", When::kMaximum},
    {"adaptive_max_pool2d_backward", "adaptive_max_pool2d_backward_cuda", When::kAlways},
    {"avg_pool3d_backward", "avg_pool3d_backward_cuda", When::kAlways},
    {"bincount", "_bincount_cuda", When::kWeighted},
    {"cumsum", "cumsum_cuda_kernel", When::kFloating},
    {"cumsum_", "cumsum_cuda_kernel", When::kFloating},
    {"fractional_max_pool2d_backward", "fractional_max_pool2d_backward_cuda", When::kAlways},
    {"fractional_max_pool3d_backward", "fractional_max_pool3d_backward_cuda", When::kAlways},
    {"grid_sampler_2d_backward", "grid_sampler_2d_backward_cuda", When::kAlways},
    {"grid_sampler_3d_backward", "grid_sampler_3d_backward_cuda", When::kAlways},
    {"histc", "_histc_cuda", When::kAlways},
    {"max_unpool2d", "max_unpooling2d_forward_out", When::kAlways},
    {"max_unpool3d", "max_unpooling3d_forward_out_cuda", When::kAlways},
    {"median.dim", "median CUDA with indices output", When::kAlways},
    {"median.dim_values", "median CUDA with indices output", When::kAlways},
    {"nanmedian.dim", "median CUDA with indices output", When::kAlways},
    {"nanmedian.dim_values", "median CUDA with indices output", When::kAlways},
    {"nll_loss2d_forward", "nll_loss2d_forward_out_cuda_template", When::kAlways},
    {"nll_loss2d_forward.output", "nll_loss2d_forward_out_cuda_template", When::kAlways},
    {"put", "put_", When::kAccumulates},
    {"put_", "put_", When::kAccumulates},
    {"reflection_pad1d_backward", "reflection_pad1d_backward_out_cuda", When::kAlways},
    {"reflection_pad2d_backward", "reflection_pad2d_backward_cuda", When::kAlways},
    {"reflection_pad3d_backward", "reflection_pad3d_backward_out_cuda", When::kAlways},
    {"replication_pad1d_backward", "replication_pad1d_backward_cuda", When::kAlways},
    {"replication_pad2d_backward", "replication_pad2d_backward_cuda", When::kAlways},
    {"replication_pad3d_backward", "replication_pad3d_backward_cuda", When::kAlways},
    {"scatter_reduce.two", "scatter_reduce_cuda", When::kProduct},
    {"scatter_reduce.two_out", "scatter_reduce_cuda", When::kProduct},
    {"scatter_reduce_.two", "scatter_reduce_cuda", When::kProduct},
    {"upsample_bicubic2d_backward", "upsample_bicubic2d_backward_out_cuda", When::kAlways},
    {"upsample_bilinear2d_backward", "upsample_bilinear2d_backward_out_cuda", When::kAlways},
    {"upsample_linear1d_backward", "upsample_linear1d_backward_out_cuda", When::kAlways},
    {"upsample_trilinear3d_backward", "upsample_trilinear3d_backward_out_cuda", When::kAlways},
};

// As torch's own database of operators (OpInfo.dtypesIfCUDA) has it, with what the kernels call
// themselves; sorted. convolution: kernel_of_convolution.
constexpr RefusedTypes kRefusedTypes[] = {
    {"_convolution", nullptr, Types::kWhole},
    {"_upsample_bicubic2d_aa", "upsample_gen2d_out_frame", Types::kByte},
    {"_upsample_bilinear2d_aa", "upsample_gen2d_out_frame", Types::kByte},
    {"addbmm", "addmm_cuda", Types::kWhole},
    {"addbmm_", "addmm_cuda", Types::kWhole},
    {"addmm", "addmm_cuda", Types::kWhole},
    {"addmm_", "addmm_cuda", Types::kWhole},
    {"addmv", "addmv_impl_cuda", Types::kWhole},
    {"addmv_", "addmv_impl_cuda", Types::kWhole},
    {"angle", "angle_cuda", Types::kHalf},
    {"avg_pool2d", "avg_pool2d_out_cuda_frame", Types::kWhole},
    {"avg_pool3d", "avg_pool3d_out_cuda", Types::kWhole},
    {"baddbmm", "baddbmm_cuda", Types::kWhole},
    {"baddbmm_", "baddbmm_cuda", Types::kWhole},
    {"bmm", "baddbmm_cuda", Types::kWhole},
    {"convolution", nullptr, Types::kWhole},
    {"dot", "dot", Types::kWhole},
    {"histc", "histc", Types::kHalf},
    {"igamma", "igamma_cuda", Types::kHalf},
    {"igammac", "igammac_cuda", Types::kHalf},
    {"max_pool2d_with_indices", "max_pool2d_with_indices_out_cuda_frame", Types::kWhole},
    {"max_pool3d_with_indices", "max_pool3d_with_indices_out_frame", Types::kWhole},
    {"mm", "addmm_cuda", Types::kWhole},
    {"mv", "addmv_impl_cuda", Types::kWhole},
    {"native_dropout_backward", "masked_scale", Types::kWhole},
    {"upsample_bicubic2d", "upsample_bicubic2d_out_frame", Types::kByte},
    {"upsample_bilinear2d", "upsample_bilinear2d_out_frame", Types::kByte},
    {"vdot", "vdot", Types::kWhole},
};

template <class Entry, size_t n>
const Entry* find(const Entry (&table)[n], const std::string& name) {
  return find(std::begin(table), std::end(table), name);
}

bool applies(When when, const IValue* arguments) {
  const auto floats = [](ScalarType type) {
    return at::isFloatingType(type) || at::isComplexType(type);
  };
  switch (when) {
    case When::kAlways:
      return true;
    case When::kFloating:  // cumsum(self, dim, dtype)
      return floats(arguments[2].isNone() ? arguments[0].toTensor().scalar_type()
                                          : arguments[2].toScalarType());
    case When::kWeighted:  // bincount(self, weights, minlength)
      return arguments[1].isTensor() && arguments[1].toTensor().defined();
    case When::kAccumulates:  // put(self, index, source, accumulate); else the CPU's kernel says it
      return arguments[3].toBool();
    case When::kProduct:  // scatter_reduce(self, dim, index, src, reduce, include_self)
      return arguments[4].toStringRef() == "prod";
    case When::kMaximum:  // _embedding_bag_dense_backward(..., mode = arguments[7], ...)
      return arguments[7].toInt() == 2;
  }
  return false;
}

bool is_refused(Types types, ScalarType type) {
  switch (types) {
    case Types::kWhole:
      return at::isIntegralType(type, /*includeBool=*/true);
    case Types::kByte:
      return type == ScalarType::Byte;
    case Types::kHalf:
      return type == ScalarType::Half || type == ScalarType::BFloat16;
  }
  return false;
}

// convolution(input, weight, bias, stride, padding, dilation, transposed, ...)
const char* kernel_of_convolution(const IValue* arguments) {
  const bool volume = arguments[1].toTensor().dim() == 5;
  if (arguments[6].toBool())
    return volume ? "slow_conv_transpose3d_out_cuda" : "slow_conv_transpose2d_out_cuda";
  return volume ? "slow_conv_dilated<>" : "slow_conv2d_cuda";
}

}  // namespace

const char* checking_wrapper(const std::string& full_name) {
  const Named* found = find(kWrappers, full_name);
  return found ? found->text : nullptr;
}

bool only_for_cpu(const std::string& full_name) { return find(kOnlyForCpu, full_name) != nullptr; }

const Alert* nondeterministic(const std::string& full_name) {
  const size_t dot = full_name.find('.');
  const bool output = dot != std::string::npos &&
                      (full_name.substr(dot) == ".out" || full_name.substr(dot) == ".grad_input");
  return find(kNondeterministic, output ? full_name.substr(0, dot) : full_name);
}

void alert(const Alert& alert, const IValue* arguments) {
  if (at::globalContext().deterministicAlgorithms() && applies(alert.when, arguments))
    at::globalContext().alertNotDeterministic(alert.text);
}

bool names_driver(const std::string& name) {
  return name == "aten::linalg_lstsq" || name == "aten::_linalg_svd";
}

// linalg_lstsq(self, b, rcond, driver), _linalg_svd(A, full_matrices, compute_uv, driver)
void driver_as_on_cuda(const std::string& name, IValue* arguments) {
  IValue& driver = arguments[3];
  if (name == "aten::linalg_lstsq") {
    TORCH_CHECK(
        driver.isNone() || driver.toStringRef() == "gels",
        "torch.linalg.lstsq: parameter `driver` other than `gels` is not supported on CUDA");
    driver = IValue("gels");
    return;
  }
  if (driver.isNone()) return;
  const std::string& given = driver.toStringRef();
  TORCH_CHECK(given == "gesvd" || given == "gesvdj" || given == "gesvda",
              "torch.linalg.svd: unknown svd driver ", given);
  driver = IValue();  // the CPU's kernel has one
}

const RefusedTypes* refused_types(const std::string& name) { return find(kRefusedTypes, name); }

void refuse_types(const RefusedTypes& refused, const IValue* arguments) {
  if (!arguments[0].isTensor() || !arguments[0].toTensor().defined()) return;
  const ScalarType type = arguments[0].toTensor().scalar_type();
  if (!is_refused(refused.types, type)) return;
  const char* kernel = refused.kernel ? refused.kernel : kernel_of_convolution(arguments);
  TORCH_CHECK_NOT_IMPLEMENTED(false, '"', kernel, "\" not implemented for '", toString(type), "'");
}

}  // namespace awt
