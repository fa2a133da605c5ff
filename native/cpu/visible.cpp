// CUDA C++ Programming Guide, environment variables: CUDA_VISIBLE_DEVICES.
#include "cuda/visible.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <vector>

#include "core/settings.h"
#include "cuda/context.h"
#include "cuda/driver.h"

namespace aw {
namespace {

std::vector<int>& chosen() {
  static auto& instance = *new std::vector<int>;
  return instance;
}

// Text with its dashes gone and in lower case, so that a UUID and its beginning can be compared.
std::string plain(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c != '-') out += static_cast<char>(tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

// The device that one entry names; -1 when there is none. A UUID may be cut short if it stays
// unique.
int device_named(const std::string& entry, int count) {
  if (entry.rfind("GPU-", 0) == 0) {
    std::string wanted = plain(entry.substr(4));
    int found = -1;
    for (int i = 0; i < count; ++i) {
      if (hexadecimal(uuid_bytes(i)).rfind(wanted, 0) != 0) continue;
      if (found >= 0) return -1;
      found = i;
    }
    return wanted.empty() ? -1 : found;
  }
  char* end = nullptr;
  long number = strtol(entry.c_str(), &end, 10);
  return end == entry.c_str() || number < 0 || number >= count ? -1 : static_cast<int>(number);
}

// Only devices before the first invalid entry are visible; a device named twice makes none visible.
std::vector<int> listed(const std::string& list, int count) {
  std::vector<int> out;
  std::stringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ',');) {
    size_t begin = entry.find_first_not_of(" \t");
    int number = device_named(begin == std::string::npos ? "" : entry.substr(begin), count);
    if (number < 0) break;
    if (std::find(out.begin(), out.end(), number) != out.end()) return {};
    out.push_back(number);
  }
  return out;
}

std::vector<int> every_device(int count) {
  std::vector<int> out(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) out[static_cast<size_t>(i)] = i;
  return out;
}

}  // namespace

void choose_visible_devices() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (!chosen().empty()) return;
  int count = settings().devices;
  if (count < 1 || count > kMostDevices) {
    throw Failure(CUDA_ERROR_NO_DEVICE,
                  "ANYWARP_DEVICES is no number from 1 to " + std::to_string(kMostDevices));
  }
  // Read now and not with the other settings: programs set it before they first use a device.
  const char* list = getenv("CUDA_VISIBLE_DEVICES");
  auto visible = list ? listed(list, count) : every_device(count);
  require(!visible.empty(), CUDA_ERROR_NO_DEVICE);
  chosen() = std::move(visible);
}

int visible_devices() { return static_cast<int>(chosen().size()); }

void check_device(CUdevice dev) {
  require(dev >= 0 && dev < visible_devices(), CUDA_ERROR_INVALID_DEVICE);
}

int machine_number(CUdevice dev) { return chosen()[static_cast<size_t>(dev)]; }

const DeviceInfo& device_info() { return machine_info(); }

int current_device() {
  auto context = peek_context();
  return context ? context->device : 0;
}

}  // namespace aw
