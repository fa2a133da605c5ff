#include "hip/services.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "core/hip_services.h"
#include "core/log.h"
#include "cuda/limits.h"
#include "hip/devices.h"
#include "hip/records.h"

namespace aw {
namespace {

// The services of a device. They stay for as long as the process: kernels may still look at them.
struct Area {
  std::atomic<AwHipServices*> host{nullptr};  // null until a kernel is launched
  std::atomic<bool> refused{false};           // there was no memory for them; said once
  uint64_t device_address = 0;
  std::mutex mutex;
  hipStream_t stream = nullptr;  // of our own: reading waits for nobody's work
  uint64_t told_drops = 0, told_frees = 0;
};

std::array<Area, kMostDevices> areas;

size_t limit_of(CUdevice dev, CUlimit number) {
  Context* context = thread_state.context;
  if (context && context->device == dev) return read_limit(*context, number);
  return number == CU_LIMIT_PRINTF_FIFO_SIZE ? 1 << 20 : 8 << 20;
}

uint64_t zeroed(size_t bytes, hipStream_t stream) {
  void* memory = nullptr;
  if (bytes == 0 || hip.hipMalloc(&memory, bytes) != hipSuccess) return 0;
  if (hip.hipMemsetAsync(memory, 0, bytes, stream) != hipSuccess) return 0;
  return reinterpret_cast<uint64_t>(memory);
}

void begin(Area& area, CUdevice dev) {
  std::lock_guard lock(area.mutex);
  if (area.host || area.refused) return;
  OnDevice here(dev);
  OutsideCapture now;
  void *host = nullptr, *seen = nullptr;
  size_t records = limit_of(dev, CU_LIMIT_PRINTF_FIFO_SIZE) & ~size_t{15},
         heap = limit_of(dev, CU_LIMIT_MALLOC_HEAP_SIZE);
  bool made = hip.hipStreamCreateWithFlags(&area.stream, hipStreamNonBlocking) == hipSuccess &&
              hip.hipHostMalloc(&host, sizeof(AwHipServices),
                                hipHostMallocMapped | hipHostMallocCoherent) == hipSuccess &&
              hip.hipHostGetDevicePointer(&seen, host, 0) == hipSuccess;
  AwHipServices services{};
  services.version = kAwHipServicesVersion;
  if (made) services.state = zeroed(sizeof(AwHipState), area.stream);
  if (services.state) {
    services.records = zeroed(records, area.stream);
    services.record_bytes = services.records ? records : 0;
    services.heap = zeroed(heap, area.stream);
    services.heap_bytes = services.heap ? heap : 0;
    made = hip.hipStreamSynchronize(area.stream) == hipSuccess;
  }
  if (!made || !services.state) {
    area.refused = true;
    diagnose(LogLevel::warn,
             "warning[R031]: no memory for what kernels report: their printf, assertions and traps "
             "will not be reported");
    return;
  }
  memcpy(host, &services, sizeof services);
  area.device_address = reinterpret_cast<uint64_t>(seen);
  area.host.store(static_cast<AwHipServices*>(host), std::memory_order_release);
}

bool copy(Area& area, void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  return hip.hipMemcpyAsync(to, from, bytes, kind, area.stream) == hipSuccess &&
         hip.hipStreamSynchronize(area.stream) == hipSuccess;
}

void* at(uint64_t address) { return reinterpret_cast<void*>(address); }

// Names of kernels by the numbers of their launches: the last ones.
struct Launched {
  std::atomic<uint64_t> grid_id{0};
  std::atomic<const char*> name{nullptr};
};
std::array<Launched, 1024> launched;

std::string kernel_text(uint64_t grid_id) {
  Launched& one = launched[grid_id % launched.size()];
  const char* name = one.name.load(std::memory_order_acquire);
  return name && one.grid_id == grid_id ? "kernel " + std::string(name) : "a kernel";
}

void tell_losses(Area& area, const AwHipState& state) {
  if (state.dropped > area.told_drops)
    diagnose(LogLevel::warn, "warning[R031]: " + std::to_string(state.dropped - area.told_drops) +
                                 " lines of device printf found no room; cuCtxSetLimit with "
                                 "CU_LIMIT_PRINTF_FIFO_SIZE, before the first "
                                 "launch, makes it larger");
  if (state.frees > area.told_frees)
    diagnose(LogLevel::warn,
             "warning[R031]: a kernel freed what malloc did not give it, or freed it twice (" +
                 std::to_string(state.frees - area.told_frees) + " times)");
  area.told_drops = state.dropped, area.told_frees = state.frees;
}

// Reads the records that are complete, prints them in order, and returns the text of an assertion.
std::string read_new(Area& area, const AwHipServices& services, AwHipState& state) {
  std::string assertion;
  if (!services.record_bytes || state.written == state.consumed) return assertion;
  std::vector<uint8_t> records(services.record_bytes);
  if (!copy(area, records.data(), at(services.records), records.size(), hipMemcpyDeviceToHost))
    return assertion;
  std::string printed;
  uint64_t read = read_records(records.data(), records.size(), state.consumed, state.written,
                               [&](const AwHipRecord& record, const uint8_t* body) {
                                 if (record.kind == AW_HIP_PRINT)
                                   printed += printed_text(record, body);
                                 if (record.kind == AW_HIP_ASSERTION && assertion.empty())
                                   assertion = assertion_text(record, body);
                               });
  fwrite(printed.data(), 1, printed.size(), stdout);
  fflush(stdout);
  // What was read is cleared before its room is given out again: the kind of a record says whether
  // it is complete.
  for (uint64_t from = state.consumed; from < read;) {
    uint64_t start = from % services.record_bytes,
             bytes = std::min(services.record_bytes - start, read - from);
    (void)hip.hipMemsetAsync(at(services.records + start), 0, bytes, area.stream);
    from += bytes;
  }
  state.consumed = read;
  (void)copy(area, at(services.state + offsetof(AwHipState, consumed)), &state.consumed, 8,
             hipMemcpyHostToDevice);
  return assertion;
}

void drain(Area& area, AwHipServices& services, Context& context) {
  std::lock_guard lock(area.mutex);
  OnDevice here(context.device);
  OutsideCapture now;
  std::atomic_ref(services.attention).store(0, std::memory_order_seq_cst);
  AwHipState state{};
  if (!copy(area, &state, at(services.state), sizeof state, hipMemcpyDeviceToHost)) return;
  std::string assertion = read_new(area, services, state);
  tell_losses(area, state);
  if (state.stopped == AW_HIP_RUNNING) return;
  // The place is written behind the reason; whoever waited for the kernel finds both.
  std::string text =
      state.stopped == AW_HIP_ASSERT && !assertion.empty() ? assertion : stop_text(state);
  bool asserted = state.stopped == AW_HIP_ASSERT;
  context.fail(asserted ? CUDA_ERROR_ASSERT : CUDA_ERROR_LAUNCH_FAILED,
               std::string("error[R031]: ") + kernel_text(state.grid_id) + " ended with " + text);
  uint32_t none[2] = {0, 0};
  (void)copy(area, at(services.state + offsetof(AwHipState, told)), none, 4, hipMemcpyHostToDevice);
  (void)copy(area, at(services.state + offsetof(AwHipState, stopped)), none, 8,
             hipMemcpyHostToDevice);
}

}  // namespace

void drain_services(Context& context) {
  if (context.device < 0 || context.device >= kMostDevices) return;
  Area& area = areas[static_cast<size_t>(context.device)];
  AwHipServices* services = area.host.load(std::memory_order_acquire);
  if (!services || !std::atomic_ref(services->attention).load(std::memory_order_acquire)) return;
  drain(area, *services, context);
}

uint64_t services_address(CUdevice dev) {
  if (dev < 0 || dev >= kMostDevices) return 0;
  Area& area = areas[static_cast<size_t>(dev)];
  if (!area.host.load(std::memory_order_acquire) && !area.refused) begin(area, dev);
  return area.device_address;
}

void note_launch(uint64_t grid_id, const char* name) {
  Launched& one = launched[grid_id % launched.size()];
  one.grid_id.store(grid_id, std::memory_order_relaxed);
  one.name.store(name, std::memory_order_release);
}

}  // namespace aw
