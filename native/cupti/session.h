// What a profiler asked of us: which records, which callbacks. One profiler per process, as with
// CUPTI's first interface.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/activity.h"
#include "cupti/records.h"

#define AW_CUPTI extern "C" __attribute__((visibility("default"))) int

namespace aw::cupti {

enum Result : int {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidDevice = 2,
  kInvalidContext = 3,
  kInvalidOperation = 7,
  kOutOfMemory = 8,
  kTooShort = 10,
  kMaxLimit = 12,
  kNotInitialised = 15,
  kQueueEmpty = 18,
  kInvalidStream = 20,
  kInvalidKind = 21,
  kNotSupported = 27,
  kMultipleSubscribers = 39,
};

enum Domain : uint32_t {
  kDriverDomain = 1,
  kRuntimeDomain = 2,
  kResourceDomain = 3,
  kSynchronizeDomain = 4,
  kDomainCount = 7,
};

constexpr uint32_t kMostNumbers = 1024;  // functions of a domain

// Keeps what `code` is for cuptiGetLastError, and returns it.
int ended(int code);

// The number of a function, 0 when CUPTI has none for it; and its name, null for no function.
uint32_t number_of(AwCallSite& site);
const char* name_of(uint32_t domain, uint32_t number);

// Tells the hub what is wanted now: records of these kinds, callbacks of these domains.
void listen_again();

// Parts of the listener.
uint32_t wanted_by_records();
uint32_t wanted_by_callbacks();
void record_call(const AwCall& call);
void record_activity(const AwRecord& record);
void call_back(AwCall& call, bool at_exit);
void call_back(const AwResource& resource);

// Handles of graphs and their nodes as the small numbers that records have.
uint32_t graph_number(uint64_t handle);

}  // namespace aw::cupti
