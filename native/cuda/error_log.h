// The driver's error log: what went wrong, for programs that ask (cuLogs*).
#pragma once

#include <string>

namespace aw {

enum class LogEntryLevel : int { error = 0, warning = 1 };

// Keeps an entry and tells those who registered. Never throws.
void log_entry(LogEntryLevel level, const std::string& text) noexcept;

}  // namespace aw
