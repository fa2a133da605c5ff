#include "hip/devices.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/text.h"
#include "cuda/device_list.h"
#include "cuda/driver.h"
#include "hip/architecture.h"

namespace aw {
namespace {

std::vector<HipDevice>& chosen() {
  static auto& instance = *new std::vector<HipDevice>;
  return instance;
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
    // A HIP that was up before the variable was set shows more devices than the list names; where
    // the list names all of them, HIP's order stays.
    if (has_ && all.size() > count_) return listed(all);
    // HIP has shown a device once that is named twice, if it has come as far in the list.
    return all.size() < repeat_ ? all : std::vector<HipDevice>{};
  }

 private:
  std::vector<HipDevice> listed(const std::vector<HipDevice>& all) const {
    std::vector<std::vector<std::string>> uuids;
    for (auto& device : all) uuids.push_back({hexadecimal(device.uuid), device.uuid});
    std::vector<HipDevice> out;
    for (int number : listed_devices(list_.c_str(), uuids))
      out.push_back(all[static_cast<size_t>(number)]);
    return out;
  }

  // Reads a list of numbers up to the first entry that is none, and says whether that is all of it
  // that counts.
  bool read_numbers() {
    std::set<long> seen;
    for (const DeviceName& name : device_names(list_)) {
      if (!name.uuid.empty()) return count_ = 0, repeat_ = SIZE_MAX, false;
      if (name.number < 0) break;
      if (!seen.insert(name.number).second) repeat_ = std::min(repeat_, count_);
      numbers_ += (count_++ ? "," : "") + std::to_string(name.number);
    }
    return count_ > 0;
  }

  bool has_ = false, hips_ = false;
  size_t count_ = 0;          // of the numbers that HIP counts by
  size_t repeat_ = SIZE_MAX;  // how many of them come before the first that is there twice
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

}  // namespace

std::vector<int> find_visible_devices() {
  CudaList cuda;
  open_hip();
  require_some(hip.hipInit(0), 1);
  int count = 0;
  hipError_t error = hip.hipGetDeviceCount(&count);
  require_some(error, count);
  std::vector<HipDevice> all;
  for (int i = 0; i < count; ++i) all.push_back(read_device(i));
  chosen() = cuda.choose(all);
  std::vector<int> numbers;
  for (auto& device : chosen()) numbers.push_back(device.number);
  return numbers;
}

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
