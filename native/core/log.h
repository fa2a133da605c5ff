// Words for the user, on stderr: each message once, prefixed `anywarp: `.
#pragma once

#include <string>

#include "core/settings.h"

namespace aw {

// Says `text` at `level` if ANYWARP_LOG lets it through and it was not said before.
void say(LogLevel level, const std::string& text);

// A diagnostic of the run: said at `level`, and kept for the report.
void diagnose(LogLevel level, const std::string& text);

}  // namespace aw
