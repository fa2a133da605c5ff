#include "device_checks.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace awt {
namespace {

struct Named {
  const char* name;
  const char* text;
};

bool before(const Named& entry, const std::string& name) {
  return std::strcmp(entry.name, name.c_str()) < 0;
}

template <size_t n>
const char* find(const Named (&table)[n], const std::string& name) {
  const auto* end = std::end(table);
  const auto* at = std::lower_bound(std::begin(table), end, name, before);
  return at != end && name == at->name ? at->text : nullptr;
}

constexpr Named kWrappers[] = {
#include "device_checks_table.h"
};

// The operators that torch.use_deterministic_algorithms lists as raising on CUDA, by the names in
// their messages; sorted.
constexpr Named kNondeterministic[] = {
    {"_adaptive_avg_pool2d_backward", "adaptive_avg_pool2d_backward_cuda"},
    {"_adaptive_avg_pool3d_backward", "adaptive_avg_pool3d_backward_cuda"},
    {"_ctc_loss_backward", "ctc_loss_backward_gpu"},
    {"adaptive_max_pool2d_backward", "adaptive_max_pool2d_backward_cuda"},
    {"adaptive_max_pool2d_backward.grad_input", "adaptive_max_pool2d_backward_cuda"},
    {"avg_pool3d_backward", "avg_pool3d_backward_cuda"},
    {"avg_pool3d_backward.grad_input", "avg_pool3d_backward_cuda"},
    {"fractional_max_pool2d_backward", "fractional_max_pool2d_backward_cuda"},
    {"fractional_max_pool2d_backward.grad_input", "fractional_max_pool2d_backward_cuda"},
    {"fractional_max_pool3d_backward", "fractional_max_pool3d_backward_cuda"},
    {"fractional_max_pool3d_backward.grad_input", "fractional_max_pool3d_backward_cuda"},
    {"grid_sampler_2d_backward", "grid_sampler_2d_backward_cuda"},
    {"grid_sampler_3d_backward", "grid_sampler_3d_backward_cuda"},
    {"histc", "_histc_cuda"},
    {"histc.out", "_histc_cuda"},
    {"max_pool3d_with_indices_backward", "max_pool3d_with_indices_backward_cuda"},
    {"max_pool3d_with_indices_backward.grad_input", "max_pool3d_with_indices_backward_cuda"},
    {"max_unpool2d", "max_unpooling2d_forward_out"},
    {"max_unpool2d.out", "max_unpooling2d_forward_out"},
    {"max_unpool3d", "max_unpooling3d_forward_out_cuda"},
    {"max_unpool3d.out", "max_unpooling3d_forward_out_cuda"},
    {"nll_loss2d_forward", "nll_loss2d_forward_out_cuda_template"},
    {"nll_loss2d_forward.output", "nll_loss2d_forward_out_cuda_template"},
    {"reflection_pad1d_backward", "reflection_pad1d_backward_out_cuda"},
    {"reflection_pad1d_backward.grad_input", "reflection_pad1d_backward_out_cuda"},
    {"reflection_pad3d_backward", "reflection_pad3d_backward_out_cuda"},
    {"reflection_pad3d_backward.grad_input", "reflection_pad3d_backward_out_cuda"},
    {"replication_pad1d_backward", "replication_pad1d_backward_cuda"},
    {"replication_pad1d_backward.grad_input", "replication_pad1d_backward_cuda"},
    {"replication_pad2d_backward", "replication_pad2d_backward_cuda"},
    {"replication_pad2d_backward.grad_input", "replication_pad2d_backward_cuda"},
    {"replication_pad3d_backward", "replication_pad3d_backward_cuda"},
    {"replication_pad3d_backward.grad_input", "replication_pad3d_backward_cuda"},
    {"upsample_bicubic2d_backward", "upsample_bicubic2d_backward_out_cuda"},
    {"upsample_bicubic2d_backward.grad_input", "upsample_bicubic2d_backward_out_cuda"},
    {"upsample_bilinear2d_backward", "upsample_bilinear2d_backward_out_cuda"},
    {"upsample_bilinear2d_backward.grad_input", "upsample_bilinear2d_backward_out_cuda"},
    {"upsample_linear1d_backward", "upsample_linear1d_backward_out_cuda"},
    {"upsample_linear1d_backward.grad_input", "upsample_linear1d_backward_out_cuda"},
    {"upsample_trilinear3d_backward", "upsample_trilinear3d_backward_out_cuda"},
    {"upsample_trilinear3d_backward.grad_input", "upsample_trilinear3d_backward_out_cuda"},
};

}  // namespace

const char* checking_wrapper(const std::string& full_name) { return find(kWrappers, full_name); }

const char* nondeterministic_name(const std::string& full_name) {
  return find(kNondeterministic, full_name);
}

}  // namespace awt
