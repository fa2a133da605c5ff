// Which backend scaled_dot_product_attention takes for device tensors: CUDA's rules for a card of
// compute capability 8.0 or higher (torch.nn.attention.sdpa_kernel, torch.backends.cuda).
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>

#include "../versions.h"
#include "counterpart.h"

namespace awt {
namespace {

using sdp::SDPBackend;
using Parameters = sdp::sdp_params;

constexpr int64_t kFlashHeadLimit = 256;
constexpr int64_t kCudnnHeadLimit = 128;

bool warn_unless(bool fine, bool debug, const char* words) {
  if (!fine && debug) TORCH_WARN(words);
  return fine;
}

bool strided_nested(const Parameters& given) { return sdp::has_for_nested_inputs(given); }

bool half_types(const Parameters& given, bool debug) {
  static const std::array<at::ScalarType, 2> types{at::kHalf, at::kBFloat16};
  return sdp::check_tensor_dtype(given, types, debug);
}

bool efficient_types(const Parameters& given, bool debug) {
  static const std::array<at::ScalarType, 3> types{at::kHalf, at::kFloat, at::kBFloat16};
  return sdp::check_tensor_dtype(given, types, debug);
}

bool on_device(const Parameters& given, bool debug) {
  return warn_unless(given.query.is_cuda() && given.key.is_cuda() && given.value.is_cuda(), debug,
                     "All tensors need to be on cuda device.");
}

bool same_head_size(const Parameters& given) {
  const auto size = given.query.sym_size(-1);
  return size == given.key.sym_size(-1) && size == given.value.sym_size(-1);
}

// With `kGroups` fewer heads of keys and values than of queries will do; not known before 2.5.
template <bool kGroups>
bool heads_fit(const Parameters& given, bool debug) {
#if AWT_TORCH >= 205
  return sdp::check_batch_size_and_num_heads_dense<kGroups>(given, debug);
#else
  return sdp::check_batch_size_and_num_heads_dense(given, debug);
#endif
}

// Queries of one sequence alone are served; nested ones go the way of the written-out attention,
// which is composite and takes them apart.
bool can_flash(const Parameters& given, bool debug) {
  return sdp::check_runtime_disabled_flash(given, debug) && on_device(given, debug) &&
         sdp::check_tensor_shapes(given, debug) && sdp::check_for_attn_mask(given, debug) &&
         warn_unless(same_head_size(given) && given.query.sym_size(-1) <= kFlashHeadLimit, debug,
                     "Flash attention requires q,k,v to have the same last dimension and to be "
                     "less than or equal to 256.") &&
         warn_unless(!given.is_causal || given.query.sym_size(-2) == given.key.sym_size(-2), debug,
                     "Flash attention does not support the is_causal flag when seqlen_q != "
                     "seqlen_k.") &&
         half_types(given, debug) && !strided_nested(given) && heads_fit<true>(given, debug) &&
         sdp::check_nonzero_sequence_lengths_dense(given, debug) &&
         sdp::check_last_dim_stride_equals_1_dense<true>(given, debug);
}

bool aligned_heads(const Parameters& given, bool debug) {
  const int64_t alignment = given.query.scalar_type() == at::kFloat ? 4 : 8;
  return warn_unless(given.query.sym_size(-1) == given.key.sym_size(-1) &&
                         given.query.sym_size(-1) % alignment == 0 &&
                         given.value.sym_size(-1) % alignment == 0 &&
                         given.query.sym_size(-1) > 0 && given.value.sym_size(-1) > 0,
                     debug,
                     "Mem efficient attention requires last dimension of inputs to be divisible "
                     "by 8 (half, bfloat16) or 4 (float).");
}

bool can_efficient(const Parameters& given, bool debug) {
  return sdp::check_runtime_disabled_mem_efficient(given, debug) && on_device(given, debug) &&
         sdp::check_tensor_shapes(given, debug) && efficient_types(given, debug) &&
         aligned_heads(given, debug) && !strided_nested(given) &&
         sdp::check_nonzero_sequence_lengths_dense(given, debug) &&
         sdp::check_last_dim_stride_equals_1_dense<false>(given, debug) &&
         heads_fit<false>(given, debug);
}

bool can_cudnn(const Parameters& given, bool debug) {
  return warn_unless(at::globalContext().userEnabledCuDNNSDP(), debug,
                     "cuDNN attention has been runtime disabled.") &&
         on_device(given, debug) && sdp::check_tensor_shapes(given, debug) &&
         half_types(given, debug) && !strided_nested(given) &&
         warn_unless(given.query.sym_size(-1) % 8 == 0 && given.value.sym_size(-1) % 8 == 0 &&
                         given.query.sym_size(-1) <= kCudnnHeadLimit &&
                         given.value.sym_size(-1) <= kCudnnHeadLimit,
                     debug, "cuDNN attention requires head sizes of a multiple of 8 up to 128.") &&
         sdp::check_nonzero_sequence_lengths_dense(given, debug) && heads_fit<true>(given, debug) &&
         sdp::check_last_dim_stride_equals_1_dense<true>(given, debug);
}

bool can(SDPBackend backend, const Parameters& given, bool debug) {
  switch (backend) {
    case SDPBackend::flash_attention:
      return can_flash(given, debug);
    case SDPBackend::efficient_attention:
      return can_efficient(given, debug);
    case SDPBackend::cudnn_attention:
      return can_cudnn(given, debug);
    case SDPBackend::math:
      return at::globalContext().userEnabledMathSDP();
    default:
      return false;
  }
}

std::vector<SDPBackend> by_priority() {
  std::vector<SDPBackend> order;
#if AWT_TORCH >= 206
  for (const auto backend : at::globalContext().sDPPriorityOrder()) order.push_back(backend);
#else
  order = {SDPBackend::flash_attention, SDPBackend::efficient_attention, SDPBackend::math,
           SDPBackend::cudnn_attention};
#endif
  return order;
}

[[noreturn]] void none(const Parameters& given) {
  const std::pair<SDPBackend, const char*> tried[] = {
      {SDPBackend::efficient_attention, "Memory efficient kernel not used because:"},
      {SDPBackend::flash_attention, "Flash attention kernel not used because:"},
      {SDPBackend::cudnn_attention, "cuDNN attention kernel not used because:"}};
  for (const auto& [backend, words] : tried) {
    TORCH_WARN(words);
    can(backend, given, true);
  }
  TORCH_CHECK(false, "No available kernel. Aborting execution.");
}

int64_t choose(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
               const std::optional<at::Tensor>& mask, double dropout, bool causal,
               std::optional<double>
#if AWT_TORCH >= 205
               ,
               bool grouped
#endif
) {
#if AWT_TORCH >= 205
  const Parameters given{query, key, value, mask, dropout, causal, grouped};
#else
  const Parameters given{query, key, value, mask, dropout, causal};
#endif
  for (const auto backend : by_priority())
    if (can(backend, given, false)) return int64_t(backend);
  none(given);
}

struct Register {
  Register() { at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&choose); }
} const registered;

}  // namespace

// Under the device's own key: the rules look at the device, so aliases would not do.
TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  counterpart(library, "_fused_sdp_choice", TORCH_FN(choose));
}
TORCH_LIBRARY_IMPL(aten, NestedTensorCUDA, library) {
  counterpart(library, "_fused_sdp_choice", TORCH_FN(choose));
}

}  // namespace awt
