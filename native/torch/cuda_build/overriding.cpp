// Our kernels take the place of libtorch_cuda's: torch's warning of that is for those who do it by
// mistake.
#include <c10/util/Exception.h>

namespace awt {
namespace {

struct Quiet final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

__attribute__((init_priority(150))) Quiet quiet;
c10::WarningHandler* before = nullptr;

// Before the registrations of this library, which are static objects, too.
struct Silence {
  Silence() {
    before = c10::WarningUtils::get_warning_handler();
    c10::WarningUtils::set_warning_handler(&quiet);
  }
};
[[maybe_unused]] __attribute__((init_priority(200))) Silence silence;

}  // namespace

void end_of_overriding() { c10::WarningUtils::set_warning_handler(before); }

}  // namespace awt
