// The records that kernels leave (core/hip_services.h), read in memory of the host. What is in them
// was written by kernels and is believed no further than its bounds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/hip_services.h"

namespace aw {

// Calls `tell` for each complete record between two counts of bytes; returns the count up to which
// records were complete.
uint64_t read_records(const uint8_t* records, uint64_t capacity, uint64_t consumed,
                      uint64_t written,
                      const std::function<void(const AwHipRecord&, const uint8_t* body)>& tell);

// What a print puts out, in C's way.
std::string printed_text(const AwHipRecord& record, const uint8_t* body);

// "FILE:LINE: FUNCTION: block: [x,y,z], thread: [x,y,z], Assertion `MESSAGE` failed."
std::string assertion_text(const AwHipRecord& record, const uint8_t* body);

// "trap in block (x,y,z), thread (x,y,z) (line N of the PTX)" and the like.
std::string stop_text(const AwHipState& state);

}  // namespace aw
