// NVML's words for errors and names of processes, and what its functions share, whatever the
// device.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>

#include "nvml/api.h"

namespace aw::nvml {

std::atomic<int>& users() {
  static std::atomic<int> count{0};
  return count;
}

// Handles are numbers from 1, so that null is none.
nvmlDevice handle_of(int number) {
  return reinterpret_cast<nvmlDevice>(static_cast<uintptr_t>(number) + 1);
}

void copy_text(const std::string& text, char* to, unsigned length) {
  require(to);
  require(length > text.size(), NVML_ERROR_INSUFFICIENT_SIZE);
  memcpy(to, text.c_str(), text.size() + 1);
}

unsigned long long epoch_us() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<unsigned long long>(t.tv_sec) * 1'000'000 +
         static_cast<unsigned long long>(t.tv_nsec) / 1000;
}

namespace {

std::string command_of(unsigned pid) {
  std::string path = "/proc/" + std::to_string(pid) + "/cmdline";
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  require(file >= 0, NVML_ERROR_NOT_FOUND);
  char text[1024];
  ssize_t got = read(file, text, sizeof text);
  close(file);
  require(got > 0, NVML_ERROR_NOT_FOUND);
  std::string out(text, static_cast<size_t>(got));
  return out.substr(0, out.find('\0'));
}

}  // namespace
}  // namespace aw::nvml

using namespace aw::nvml;

AW_EXPORT const char* nvmlErrorString(int code) {
  static const std::map<int, const char*> words = {
      {0, "Success"},
      {1, "Uninitialized"},
      {2, "Invalid Argument"},
      {3, "Not Supported"},
      {4, "Insufficient Permissions"},
      {5, "Already Initialized"},
      {6, "Not Found"},
      {7, "Insufficient Size"},
      {8, "Insufficient External Power"},
      {9, "Driver Not Loaded"},
      {10, "Timeout"},
      {11, "Interrupt Request Issue"},
      {12, "NVML Shared Library Not Found"},
      {13, "Function Not Found"},
      {14, "Corrupted infoROM"},
      {15, "GPU is lost"},
      {16, "GPU requires restart"},
      {17, "The operating system has blocked the request."},
      {18, "RM has detected an NVML/RM version mismatch."},
      {19, "In use by another client"},
      {20, "Insufficient Memory"},
      {21, "No data"},
      {22, "ECC is on: the vGPU operation is not available"},
      {23, "Insufficient resources"},
      {24, "Frequency not supported"},
      {25, "Argument version mismatch"},
      {26, "Deprecated"},
      {27, "Not Ready"},
      {28, "GPU not found"},
      {29, "Invalid state"},
      {30, "Reset type not supported"},
  };
  auto found = words.find(code);
  return found == words.end() ? "Unknown Error" : found->second;
}

AW_EXPORT nvmlReturn nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  return api<"nvmlSystemGetProcessName">([&] { copy_text(command_of(pid), name, length); });
}
