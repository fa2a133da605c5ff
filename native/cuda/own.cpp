// Functions of ours that NVIDIA's driver does not have (docs/contracts.md, section 8): for
// libraries of ours that have no report and no log.
#include "cuda/api.h"

using namespace aw;

AW_EXPORT std::atomic<uint64_t>* anywarp_call_counter(const char* name) {
  return &(new CallCounter(name))->count;
}

AW_EXPORT void anywarp_report_absent(const char* name, const char* reason) {
  report_absent(name, reason);
}

AW_EXPORT void anywarp_report_operator(const char* name, uint64_t nanoseconds,
                                       uint64_t bytes_copied, int widened) {
  report_operator(name, nanoseconds, bytes_copied, widened != 0);
}

AW_EXPORT void anywarp_diagnose(const char* text) { diagnose(LogLevel::error, text); }
