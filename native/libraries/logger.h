// The loggers of NVIDIA's libraries: one in each library, which the program switches on.
#pragma once

#include <stdio.h>

#include <atomic>
#include <cstdint>

#include "core/name.h"

namespace aw::lib {

// The levels of the manuals; a mask has bit 2^(level - 1) for each.
enum class Log { error = 1, trace, hints, info, api };
using LogCallback = void (*)(int level, const char* function, const char* message);

extern std::atomic<uint32_t> log_mask;

inline bool logs(Log level) {
  return (log_mask.load(std::memory_order_relaxed) >> (static_cast<int>(level) - 1)) & 1;
}
void log(Log level, const char* function, const char* message);

// What the program asks for: each throws the library's INVALID_VALUE.
void set_log_callback(LogCallback callback);
void set_log_file(FILE* file);
void open_log_file(const char* path);
void set_log_places(bool to_stdout, bool to_stderr, const char* path);  // any of them, or none
void set_log_level(int level);
void set_log_mask(int mask);
void disable_log();

}  // namespace aw::lib

#define AW_LOGGER_FUNCTION(Prefix, Status, Name, Parameter, Body) \
  AW_EXPORT Status Prefix##Logger##Name(Parameter) {              \
    return aw::lib::call<Status, #Prefix "Logger" #Name>([&] {    \
      using namespace aw::lib;                                    \
      Body;                                                       \
    });                                                           \
  }

// The functions by which a program does so.
#define AW_LOGGER(Prefix, Status)                                                     \
  AW_LOGGER_FUNCTION(Prefix, Status, SetCallback, Prefix##LoggerCallback_t callback,  \
                     set_log_callback(callback))                                      \
  AW_LOGGER_FUNCTION(Prefix, Status, SetFile, FILE* file, set_log_file(file))         \
  AW_LOGGER_FUNCTION(Prefix, Status, OpenFile, const char* path, open_log_file(path)) \
  AW_LOGGER_FUNCTION(Prefix, Status, SetLevel, int level, set_log_level(level))       \
  AW_LOGGER_FUNCTION(Prefix, Status, SetMask, int mask, set_log_mask(mask))           \
  AW_LOGGER_FUNCTION(Prefix, Status, ForceDisable, void, disable_log())
