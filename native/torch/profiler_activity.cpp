// What runs on devices, for torch's profiler: a part of Kineto in the place of the one over CUPTI,
// which a CPU build lacks (IActivityProfiler.h).
#include "versions.h"

#if AWT_TORCH >= 213

// fmt comes as headers alone.
#define FMT_HEADER_ONLY 1
#include <kineto/libkineto.h>
#include <kineto/output_base.h>
#include <unistd.h>

#include <mutex>
#include <set>

#include "devices.h"
#include "driver.h"
#include "exported.h"
#include "operator_watch.h"

namespace awt {
namespace {

using libkineto::ActivityType;
using libkineto::GenericTraceActivity;

const DriverFn<CUresult(int*, int, CUdevice)> attribute_of_device{"cuDeviceGetAttribute"};
const DriverFn<CUresult(char*, int, CUdevice)> name_of_device{"cuDeviceGetName"};
const DriverFn<CUresult(size_t*, CUdevice)> memory_of_device{"cuDeviceTotalMem_v2"};

const std::set<ActivityType> kTypes{ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY,
                                    ActivityType::CUDA_RUNTIME};

// The default stream is number 7 to CUPTI.
int64_t number_of_stream(int64_t id) { return id + 7; }

std::string escaped(const char* text) {
  std::string out;
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') out += '\\';
    if (static_cast<unsigned char>(*text) >= ' ') out += *text;
  }
  return out;
}

// One JSON object per device, with Kineto's names and the driver's numbers (CUdevice_attribute).
std::string properties_of(int device) {
  static constexpr std::pair<const char*, int> attributes[] = {{"computeMajor", 75},
                                                               {"computeMinor", 76},
                                                               {"maxThreadsPerBlock", 1},
                                                               {"maxThreadsPerMultiprocessor", 39},
                                                               {"regsPerBlock", 12},
                                                               {"warpSize", 10},
                                                               {"sharedMemPerBlock", 8},
                                                               {"numSms", 16},
                                                               {"regsPerMultiprocessor", 82},
                                                               {"sharedMemPerBlockOptin", 97},
                                                               {"sharedMemPerMultiprocessor", 81}};
  char name[256] = "";
  size_t bytes = 0;
  check(name_of_device(name, sizeof name, device));
  check(memory_of_device(&bytes, device));
  std::string text = "{\"id\": " + std::to_string(device) + ", \"name\": \"" + escaped(name) +
                     "\", \"totalGlobalMem\": " + std::to_string(bytes);
  for (const auto& [key, attribute] : attributes) {
    int value = 0;
    check(attribute_of_device(&value, attribute, device));
    text += std::string(", \"") + key + "\": " + std::to_string(value);
  }
  return text + "}";
}

class Session final : public libkineto::IActivityProfilerSession {
 public:
  void start() override {
    profile_operators();
    status_ = libkineto::TraceStatus::RECORDING;
  }
  void stop() override {
    runs_ = profiled_operators();
    status_ = libkineto::TraceStatus::PROCESSING;
  }
  std::vector<std::string> errors() override { return {}; }

  void processTrace(libkineto::ActivityLogger& logger) override {
    processTrace(logger, [](int32_t) { return nullptr; }, 0, INT64_MAX);
  }
  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback linked,
                    int64_t start, int64_t end) override {
    buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
    buffer_->span = libkineto::TraceSpan(start, end, "anywarp");
    buffer_->gpuOpCount = static_cast<int>(runs_.size());
    int32_t number = 0;
    for (const OperatorRun& run : runs_) {
      if (run.end < start || run.begin > end) continue;
      const auto* host = linked(static_cast<int32_t>(run.correlation));
      add(run, ++number, host, /*launch=*/true).log(logger);
      add(run, number, host, /*launch=*/false).log(logger);
    }
  }

  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override { return nullptr; }
  std::vector<libkineto::ResourceInfo> getResourceInfos() override {
    std::set<std::pair<int64_t, int64_t>> seen;
    for (const OperatorRun& run : runs_) seen.emplace(run.device, number_of_stream(run.stream));
    std::vector<libkineto::ResourceInfo> found;
    for (const auto& [device, stream] : seen)
      found.push_back({stream, stream, device, "stream " + std::to_string(stream)});
    return found;
  }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override {
    return std::move(buffer_);
  }
  void pushCorrelationId(uint64_t id) override { push_correlation(id); }
  void popCorrelationId() override { pop_correlation(); }

  std::string getDeviceProperties() override {
    std::string text;
    for (int device = 0; device < device_count(); ++device)
      text += (device ? ", " : "") + properties_of(device);
    return text;
  }

 private:
  // The call on the host, or the work on the device.
  GenericTraceActivity& add(const OperatorRun& run, int32_t number,
                            const libkineto::ITraceActivity* host, bool launch) {
    const bool copy = run.bytes >= 0;
    const auto type = launch ? ActivityType::CUDA_RUNTIME
                      : copy ? ActivityType::GPU_MEMCPY
                             : ActivityType::CONCURRENT_KERNEL;
    const std::string name = !launch ? run.name : copy ? "cudaMemcpyAsync" : "cudaLaunchKernel";
    buffer_->emplace_activity(buffer_->span, type, name);
    GenericTraceActivity& made = *buffer_->activities.back();
    made.startTime = run.begin, made.endTime = run.end;
    made.id = number;
    made.device = launch ? getpid() : run.device;
    made.resource = launch ? run.thread : number_of_stream(run.stream);
    made.threadId = static_cast<int32_t>(run.thread);
    made.flow.id = static_cast<uint32_t>(number);
    made.flow.type = libkineto::kLinkAsyncCpuGpu;
    made.flow.start = launch;
    made.linked = host;
    made.addMetadata("correlation", number);
    if (launch) return made;
    made.addMetadata("device", int(run.device));
    made.addMetadata("context", 1);
    made.addMetadata("stream", number_of_stream(run.stream));
    if (copy) made.addMetadata("bytes", run.bytes);
    return made;
  }

  std::vector<OperatorRun> runs_;
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_;
};

class Profiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override {
    static const std::string text = "anywarp";
    return text;
  }
  const std::set<ActivityType>& availableActivities() const override { return kTypes; }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      const std::set<ActivityType>& wanted, const libkineto::Config&) override {
    if (!wanted.count(ActivityType::CONCURRENT_KERNEL) || device_count() == 0) return nullptr;
    return std::make_unique<Session>();
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      int64_t, int64_t, const std::set<ActivityType>& wanted,
      const libkineto::Config& config) override {
    return configure(wanted, config);
  }
};

[[maybe_unused]] const bool registered = [] {
  libkineto::api().registerProfilerFactory([] { return std::make_unique<Profiler>(); });
  return true;
}();

}  // namespace
}  // namespace awt

// Its presence tells changes/profiler.py that Kineto knows the devices.
AWT_EXPORT int awt_profiles_devices() { return 0; }

#endif
