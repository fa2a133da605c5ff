#include "cuda/jit_options.h"

#include <algorithm>
#include <cstring>

#include "cuda/api.h"
#include "cuda/clock.h"

namespace aw {

JitOptions::JitOptions(unsigned count, const int* options, void** values)
    : begin_(static_cast<double>(event_clock())) {
  require(count == 0 || (options && values));
  for (unsigned i = 0; i < count; ++i) {
    auto number = static_cast<size_t>(reinterpret_cast<uintptr_t>(values[i]) & 0xffffffffu);
    switch (options[i]) {
      case CU_JIT_WALL_TIME:
        wall_time_ = &values[i];
        break;
      case CU_JIT_INFO_LOG_BUFFER:
        info_.buffer = static_cast<char*>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.room = number, info_.used = &values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER:
        error_.buffer = static_cast<char*>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_.room = number, error_.used = &values[i];
        break;
      default:
        // The rest asks for registers, optimisation or debug information, of which our compiler
        // decides alone.
        require(options[i] >= 0 && options[i] < CU_JIT_NUM_OPTIONS);
    }
  }
}

void JitOptions::inform(const std::string& text) { info_.text += text + "\n"; }

void JitOptions::write(const Log& log) {
  size_t bytes = 0;
  if (log.buffer && log.room) {
    bytes = std::min(log.text.size(), log.room - 1);
    memcpy(log.buffer, log.text.data(), bytes);
    log.buffer[bytes] = 0;
  }
  if (log.used) *log.used = reinterpret_cast<void*>(bytes);
}

void JitOptions::finish(const std::string& error) {
  error_.text += error;
  write(info_);
  write(error_);
  if (!wall_time_) return;
  float milliseconds = static_cast<float>((static_cast<double>(event_clock()) - begin_) * 1e-6);
  memcpy(wall_time_, &milliseconds, sizeof milliseconds);
}

}  // namespace aw
