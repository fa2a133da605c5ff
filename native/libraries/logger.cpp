#include "libraries/logger.h"

#include <mutex>
#include <utility>
#include <vector>

#include "libraries/api.h"

namespace aw::lib {

std::atomic<uint32_t> log_mask{0};

namespace {

struct Logger {
  std::mutex mutex;
  LogCallback callback = nullptr;
  std::vector<FILE*> files;  // none: the callback's alone, without one standard output
  FILE* opened = nullptr;    // the one of them that is ours to close
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

void write_to(std::vector<FILE*> files, FILE* opened) {
  std::lock_guard lock(logger().mutex);
  if (logger().opened) fclose(logger().opened);
  logger().files = std::move(files), logger().opened = opened;
}

FILE* open_for_writing(const char* path) {
  FILE* file = fopen(path, "we");
  require(file != nullptr);
  return file;
}

}  // namespace

void log(Log level, const char* function, const char* message) {
  static const char* const names[] = {"", "Error", "Trace", "Hint", "Info", "Api"};
  int number = static_cast<int>(level);
  std::unique_lock lock(logger().mutex);
  LogCallback callback = logger().callback;
  std::vector<FILE*> files = logger().files;
  if (!callback && files.empty()) files = {stdout};
  for (FILE* file : files) {
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
void set_log_file(FILE* file) {
  write_to(file ? std::vector{file} : std::vector<FILE*>{}, nullptr);
}
void open_log_file(const char* path) {
  require(path != nullptr);
  FILE* file = open_for_writing(path);
  write_to({file}, file);
}
void set_log_places(bool to_stdout, bool to_stderr, const char* path) {
  FILE* file = path ? open_for_writing(path) : nullptr;
  std::vector<FILE*> files;
  if (to_stdout) files.push_back(stdout);
  if (to_stderr) files.push_back(stderr);
  if (file) files.push_back(file);
  write_to(std::move(files), file);
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
