// The driver's error log: what went wrong, for programs that ask (cuLogs*).
#pragma once

#include <string>

#include "cuda/cuda_api.h"

namespace aw {

// Keeps an entry and tells those who registered. Never throws.
void log_entry(CUlogLevel level, const std::string& text) noexcept;

}  // namespace aw
