// NVML reference: initialization and cleanup, error reporting, system queries.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "cuda/cuda_api.h"
#include "devices/identity.h"
#include "nvml/api.h"

namespace aw::nvml {

std::atomic<int>& users() {
  static std::atomic<int> count{0};
  return count;
}

int device_count() { return std::clamp(settings().devices, 0, kMostDevices); }

// Handles are numbers from 1, so that null is none.
nvmlDevice handle_of(int number) {
  return reinterpret_cast<nvmlDevice>(static_cast<uintptr_t>(number) + 1);
}

int number_of(nvmlDevice device) {
  auto number = reinterpret_cast<uintptr_t>(device);
  require(number >= 1 && number <= static_cast<uintptr_t>(device_count()));
  return static_cast<int>(number - 1);
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

// The branch of NVIDIA's drivers that brought the CUDA version which we are (CUDA release notes,
// table of driver versions).
constexpr const char* kDriver = "580.00";
constexpr const char* kNvml = "13.580.00";

nvmlReturn begin() {
  users().fetch_add(1);
  return NVML_SUCCESS;
}

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

AW_EXPORT nvmlReturn nvmlInit() { return api<"nvmlInit", Needs::nothing>(begin); }
AW_EXPORT nvmlReturn nvmlInit_v2() { return api<"nvmlInit_v2", Needs::nothing>(begin); }
AW_EXPORT nvmlReturn nvmlInitWithFlags(unsigned) {
  return api<"nvmlInitWithFlags", Needs::nothing>(begin);
}

AW_EXPORT nvmlReturn nvmlShutdown() {
  return api<"nvmlShutdown">([] { users().fetch_sub(1); });
}

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

AW_EXPORT nvmlReturn nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return api<"nvmlSystemGetDriverVersion">([&] { copy_text(kDriver, version, length); });
}

AW_EXPORT nvmlReturn nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return api<"nvmlSystemGetNVMLVersion">([&] { copy_text(kNvml, version, length); });
}

AW_EXPORT nvmlReturn nvmlSystemGetCudaDriverVersion(int* version) {
  return api<"nvmlSystemGetCudaDriverVersion">([&] {
    require(version);
    *version = kDriverVersion;
  });
}

AW_EXPORT nvmlReturn nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return api<"nvmlSystemGetCudaDriverVersion_v2">([&] {
    require(version);
    *version = kDriverVersion;
  });
}

AW_EXPORT nvmlReturn nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  return api<"nvmlSystemGetProcessName">([&] { copy_text(command_of(pid), name, length); });
}

// Confidential computing is a feature of cards; it is off here.
AW_EXPORT nvmlReturn nvmlSystemGetConfComputeState(nvmlConfComputeSystemState* state) {
  return api<"nvmlSystemGetConfComputeState">([&] {
    require(state);
    *state = {};
  });
}

AW_EXPORT nvmlReturn nvmlSystemGetTopologyGpuSet(unsigned, unsigned* count, nvmlDevice* devices) {
  return api<"nvmlSystemGetTopologyGpuSet">([&] {
    require(count);
    unsigned room = *count;
    *count = static_cast<unsigned>(device_count());
    if (!devices) return;  // the first of two calls asks how many
    require(room >= *count, NVML_ERROR_INSUFFICIENT_SIZE);
    for (unsigned i = 0; i < *count; ++i) devices[i] = handle_of(static_cast<int>(i));
  });
}
