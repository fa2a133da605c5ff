// What libcuda itself has of the hub of activities beside the functions that it exports.
#pragma once

#include "core/activity.h"

#define AW_HUB extern "C" __attribute__((visibility("default")))

namespace aw {

inline bool listening(uint32_t what) {
  static const std::atomic<uint32_t>& wanted = *anywarp_activity_wanted();
  return wanted.load(std::memory_order_relaxed) & what;
}

uint32_t thread_number();        // as gettid has it
uint32_t current_correlation();  // of the outermost call that this thread is in; 0: in none
void tell_record(const AwRecord& record);
void tell_resource(const AwResource& resource);

// Begins to write a trace where ANYWARP_TRACE_DIR asks for one.
void start_trace();
// Begins to keep copies to the host where ANYWARP_COPIES_DIR asks for that.
void start_copies();

}  // namespace aw
