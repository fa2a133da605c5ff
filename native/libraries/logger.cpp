#include "libraries/logger.h"

#include <mutex>

#include "libraries/api.h"

namespace aw::lib {

std::atomic<uint32_t> log_mask{0};

namespace {

struct Logger {
  std::mutex mutex;
  LogCallback callback = nullptr;
  FILE* file = nullptr;
  FILE* opened = nullptr;
  bool disabled = false;
};
Logger& logger() {
  static Logger& it = *new Logger;
  return it;
}

void listen(uint32_t mask) {
  std::lock_guard lock(logger().mutex);
  if (!logger().disabled) log_mask = mask;
}

void write_to(FILE* file, FILE* opened) {
  std::lock_guard lock(logger().mutex);
  if (logger().opened) fclose(logger().opened);
  logger().file = file, logger().opened = opened;
}

}  // namespace

void log(Log level, const char* function, const char* message) {
  static const char* const names[] = {"", "Error", "Trace", "Hint", "Info", "Api"};
  int number = static_cast<int>(level);
  std::unique_lock lock(logger().mutex);
  LogCallback callback = logger().callback;
  if (!callback || logger().file) {
    FILE* file = logger().file ? logger().file : stdout;
    fprintf(file, "[%s][%s] %s\n", names[number], function, message);
    fflush(file);
  }
  lock.unlock();
  if (callback) callback(number, function, message);
}

void set_log_callback(LogCallback callback) {
  std::lock_guard lock(logger().mutex);
  logger().callback = callback;
}
void set_log_file(FILE* file) { write_to(file, nullptr); }
void open_log_file(const char* path) {
  require(path != nullptr);
  FILE* file = fopen(path, "w");
  require(file != nullptr);
  write_to(file, file);
}
void set_log_level(int level) {
  require(level >= 0 && level <= 5);
  listen((1u << level) - 1);
}
void set_log_mask(int mask) {
  require(mask >= 0 && mask < 32);
  listen(static_cast<uint32_t>(mask));
}
void disable_log() {
  std::lock_guard lock(logger().mutex);
  logger().disabled = true, log_mask = 0;
}

}  // namespace aw::lib
