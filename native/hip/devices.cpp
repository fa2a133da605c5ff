#include "hip/devices.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <sstream>

#include "cuda/context.h"
#include "cuda/driver.h"
#include "hip/architecture.h"
#include "hip/thread.h"

namespace aw {
namespace {

std::vector<HipDevice>& chosen() {
  static auto& instance = *new std::vector<HipDevice>;
  return instance;
}

std::string plain(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c != '-') out += static_cast<char>(tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string hexadecimal_of(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (unsigned char c : bytes) out += {kDigits[c >> 4], kDigits[c & 15]};
  return out;
}

HipDevice read_device(int number) {
  HipDevice d;
  d.number = number;
  check(hip.hipGetDevicePropertiesR0600(&d.properties, number));
  const auto& p = d.properties;
  d.architecture = p.gcnArchName;
  d.name = *p.name ? p.name : "AMD " + d.architecture;
  d.uuid.assign(p.uuid.bytes, sizeof p.uuid.bytes);
  d.memory = p.totalGlobalMem;
  const Architecture a = architecture_of(d.architecture);
  d.wave = p.warpSize > 0 ? static_cast<uint32_t>(p.warpSize) : a.wave;
  d.shared = p.sharedMemPerBlock
                 ? static_cast<uint32_t>(std::min<size_t>(p.sharedMemPerBlock, 1 << 20))
                 : a.shared;
  if (p.maxThreadsPerMultiProcessor > 0)
    d.threads_per_unit = static_cast<uint32_t>(p.maxThreadsPerMultiProcessor);
  d.registers_per_unit = a.registers_per_unit;
  d.info.name = d.name, d.info.identity = "hip:" + d.architecture, d.info.memory = d.memory;
  d.info.multiprocessors = static_cast<unsigned>(std::max(p.multiProcessorCount, 1));
  d.info.clock_khz = static_cast<unsigned>(std::max(p.clockRate, 0));
  d.info.cache_bytes = static_cast<unsigned>(std::max(p.l2CacheSize, 0));
  for (size_t i = 1; i < d.attributes.size(); ++i)
    d.attributes[i] = read_attribute_of(d, static_cast<int>(i));
  return d;
}

// The device that one entry of CUDA_VISIBLE_DEVICES names; -1 when there is none. A UUID may be cut
// short if it stays unique.
int device_named(const std::string& entry, const std::vector<HipDevice>& all) {
  if (entry.rfind("GPU-", 0) == 0) {
    std::string wanted = plain(entry.substr(4));
    int found = -1;
    for (size_t i = 0; i < all.size(); ++i) {
      // Both ways of writing it: CUDA's, the bytes in hexadecimal, and HIP's, the bytes as they
      // are.
      if (hexadecimal_of(all[i].uuid).rfind(wanted, 0) != 0 &&
          plain(all[i].uuid).rfind(wanted, 0) != 0)
        continue;
      if (found >= 0) return -1;
      found = static_cast<int>(i);
    }
    return wanted.empty() ? -1 : found;
  }
  char* end = nullptr;
  long number = strtol(entry.c_str(), &end, 10);
  return end == entry.c_str() || number < 0 || number >= long(all.size())
             ? -1
             : static_cast<int>(number);
}

// The entries of a list, without the blanks before them.
std::vector<std::string> entries_of(const std::string& list) {
  std::vector<std::string> out;
  std::stringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ',');) {
    size_t begin = entry.find_first_not_of(" \t");
    out.push_back(begin == std::string::npos ? "" : entry.substr(begin));
  }
  return out;
}

// Only devices before the first invalid entry are visible; one named twice makes none visible (CUDA
// C++ Programming Guide).
std::vector<HipDevice> listed(const std::string& list, const std::vector<HipDevice>& all) {
  std::vector<HipDevice> out;
  for (const std::string& entry : entries_of(list)) {
    int number = device_named(entry, all);
    if (number < 0) break;
    for (auto& before : out) {
      if (before.number == number) return {};
    }
    out.push_back(all[static_cast<size_t>(number)]);
  }
  return out;
}

// HIP counts its devices by the first of HIP_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES that is set,
// once, when it is initialised, among those that ROCR_VISIBLE_DEVICES leaves (ROCm/clr,
// rocdevice.cpp, Device::init). Numbers are HIP's to count, so that parts of the program for ROCm
// see the devices that we see, whoever is first; a list with UUIDs, which releases before 6.2 do
// not read and later ones read otherwise, is ours, and HIP does not see it.
class CudaList {
 public:
  CudaList() {
    const char* set = getenv("CUDA_VISIBLE_DEVICES");
    if (!set) return;
    has_ = true, list_ = set;
    if (getenv("HIP_VISIBLE_DEVICES")) return;
    hips_ = true;
    if (read_numbers())
      setenv("HIP_VISIBLE_DEVICES", numbers_.c_str(), 0);  // the name that all releases document
    else
      unsetenv("CUDA_VISIBLE_DEVICES");
  }
  ~CudaList() {
    if (!hips_) return;
    unsetenv("HIP_VISIBLE_DEVICES");
    setenv("CUDA_VISIBLE_DEVICES", list_.c_str(), 1);
  }
  CudaList(const CudaList&) = delete;

  // What is visible of all that HIP shows.
  std::vector<HipDevice> choose(const std::vector<HipDevice>& all) const {
    if (!has_) return all;
    if (twice_) return {};
    // A HIP that was up before the variable was set shows more devices than the list names; where
    // the list names all of them, HIP's order stays.
    return all.size() <= count_ ? all : listed(list_, all);
  }

 private:
  // Reads a list of numbers up to the first entry that is none, and says whether that is all of it
  // that counts.
  bool read_numbers() {
    std::set<long> seen;
    for (const std::string& entry : entries_of(list_)) {
      char* end = nullptr;
      long number = strtol(entry.c_str(), &end, 10);
      if (entry.rfind("GPU-", 0) == 0) return count_ = 0, twice_ = false;
      if (end == entry.c_str() || number < 0) break;
      twice_ = twice_ || !seen.insert(number).second;
      numbers_ += (count_++ ? "," : "") + std::to_string(number);
    }
    return count_ > 0;
  }

  bool has_ = false, hips_ = false, twice_ = false;
  size_t count_ = 0;  // of the numbers that HIP counts by
  std::string list_, numbers_;
};

// 100 and 101 both mean that there is no device (shown by HIP 6.4 and 5.2).
void require_some(hipError_t error, int count) {
  if (error == hipSuccess && count > 0) return;
  if (error != hipSuccess && error != hipErrorNoDevice && error != hipErrorInvalidDevice)
    check(error);
  throw Failure(CUDA_ERROR_NO_DEVICE,
                "error[N010]: HIP finds no device\nhelp: `anywarp doctor` says what is in the way: "
                "the driver, /dev/kfd and its "
                "permissions, CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES");
}

std::vector<HipDevice> find_devices() {
  CudaList cuda;
  open_hip();
  require_some(hip.hipInit(0), 1);
  int count = 0;
  hipError_t error = hip.hipGetDeviceCount(&count);
  require_some(error, count);
  std::vector<HipDevice> all;
  for (int i = 0; i < count; ++i) all.push_back(read_device(i));
  return cuda.choose(all);
}

}  // namespace

void choose_visible_devices() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (!chosen().empty()) return;
  auto visible = find_devices();
  require(!visible.empty(), CUDA_ERROR_NO_DEVICE);
  chosen() = std::move(visible);
}

int visible_devices() { return static_cast<int>(chosen().size()); }

void check_device(CUdevice dev) {
  require(dev >= 0 && dev < visible_devices(), CUDA_ERROR_INVALID_DEVICE);
}

int machine_number(CUdevice dev) { return hip_device(dev); }

int current_device() { return thread_state.context ? thread_state.context->device : 0; }

const HipDevice& hip_device_of(CUdevice dev) {
  auto number = static_cast<size_t>(dev);
  if (dev < 0 || number >= chosen().size()) throw Failure(CUDA_ERROR_INVALID_DEVICE);
  return chosen()[number];
}

CUdevice cuda_device(int hip_number) {
  for (int i = 0; i < visible_devices(); ++i) {
    if (chosen()[static_cast<size_t>(i)].number == hip_number) return i;
  }
  return -1;
}

const HipDevice& current_hip_device() { return hip_device_of(current_device()); }

// Keys and replies depend on the architecture of the current context's device.
const DeviceInfo& device_info() { return current_hip_device().info; }

}  // namespace aw
