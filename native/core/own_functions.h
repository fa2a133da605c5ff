// Functions of ours in libcuda.so.1 that our other libraries call (docs/contracts.md, section 8).
#pragma once

#include <atomic>
#include <cstdint>

extern "C" {
// The context that is current on this thread, with its device; 0: none. Not counted, and quick.
uint64_t anywarp_current_context(int* device);
std::atomic<uint64_t>* anywarp_call_counter(const char* name);
void anywarp_report_absent(const char* name, const char* reason);
// Says `text` to the user, once, and keeps it for the report of the run.
void anywarp_diagnose(const char* text);
// Inside of work of a stream: an error (a CUresult) as if a kernel had failed.
int anywarp_fail(int code, const char* text);
}
