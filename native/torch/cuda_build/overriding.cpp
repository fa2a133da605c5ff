// Our kernels take the place of libtorch_cuda's: torch's warning of that is for those who do it by
// mistake.
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "deferred_plan.h"
#include "exported.h"
#include "fallback.h"
#include "seam.h"

namespace awt {
namespace {

struct Quiet final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

__attribute__((init_priority(150))) Quiet quiet;
c10::WarningHandler* before = nullptr;

void be_quiet() {
  before = c10::WarningUtils::get_warning_handler();
  c10::WarningUtils::set_warning_handler(&quiet);
}

// Before the registrations of this library, which are static objects, too.
struct Silence {
  Silence() { be_quiet(); }
};
[[maybe_unused]] __attribute__((init_priority(200))) Silence silence;

}  // namespace

// Kernels of libtorch_cuda that compute nothing and stay: they make and re-seat tensors, or choose.
bool takes_the_place(const c10::OperatorHandle& op) {
  static const std::unordered_set<std::string> stay{
      "aten::empty",
      "aten::empty_strided",
      "aten::view",
      "aten::as_strided",
      "aten::unfold",
      "aten::_reshape_alias",
      "aten::view_as_real",
      "aten::set_",
      "aten::view_as_complex",
      "aten::record_stream",
      "aten::resize_",
      "aten::_efficientzerotensor",
      "aten::_fused_sdp_choice"};  // ours: counterparts/attention_choice.cpp
  const std::string& name = op.schema().name();
  const std::string& overload = op.schema().overload_name();
  return !stay.count(name) &&
         !unboxed_operators().count(name.substr(6) + (overload.empty() ? "" : "." + overload));
}

void end_of_overriding() { c10::WarningUtils::set_warning_handler(before); }

}  // namespace awt

// The operators of another library (a name space, as `torchvision`) that have a kernel for the CPU:
// that one runs in the place of the one for cards, as for operators of torch's own. Called once the
// library is loaded. `later`: those kernels know nothing but their arguments, and may become part
// of a graph.
AWT_EXPORT void awt_take_the_place(const char* space, int later) {
  using namespace awt;
  if (later) may_run_later(space);
  static std::vector<std::unique_ptr<torch::Library>> libraries;
  be_quiet();
  libraries.push_back(std::make_unique<torch::Library>(torch::Library::IMPL, space,
                                                       c10::DispatchKey::CUDA, __FILE__, __LINE__));
  const std::string prefix = std::string(space) + "::";
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    if (name.name.rfind(prefix, 0) != 0) continue;
    const auto op = dispatcher.findSchema(name);
    if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU) ||
        !op->hasKernelForDispatchKey(c10::DispatchKey::CUDA))
      continue;
    const std::string full =
        name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
    libraries.back()->impl(full.c_str(),
                           torch::CppFunction::makeFromBoxedKernel(boxed_kernel(*op)));
  }
  end_of_overriding();
}
