#include "hip/launch.h"

#include <algorithm>
#include <cstring>

#include "core/report.h"
#include "core/settings.h"
#include "cuda/device_attributes.h"
#include "cuda/library.h"
#include "hip/devices.h"
#include "hip/forward.h"
#include "hip/services.h"

namespace aw {
namespace {

// What this thread launched lately, by handle, context and block.
struct KnownLaunch {
  const void* handle = nullptr;
  const Context* context = nullptr;
  uint32_t block[3]{};
  Launchable what;
};

struct Lately {
  static constexpr size_t kPlaces = 64;
  uint64_t removals = 0;
  KnownLaunch places[kPlaces];
};

// What a thread that launches has of its own; as cuda/thread.h has what every thread needs.
struct Launching {
  uint64_t next_grid = 0, grids_end = 0;  // numbers of launches that the thread has to give
  Lately* lately = nullptr;  // on the heap: what is thread-local in this way must be small
};
thread_local constinit Launching launching __attribute__((tls_model("initial-exec")));

Lately& lately() {
  if (__builtin_expect(launching.lately != nullptr, 1)) return *launching.lately;
  thread_local std::unique_ptr<Lately> instance;
  instance = std::make_unique<Lately>();
  launching.lately = instance.get();
  return *instance;
}

size_t place_of(const void* handle, const uint32_t block[3]) {
  auto mixed =
      reinterpret_cast<uintptr_t>(handle) / 64 + block[0] * 7 + block[1] * 31 + block[2] * 131;
  return mixed % Lately::kPlaces;
}

Launchable obtain(CUfunction handle, const uint32_t block[3]) {
  Launchable what;
  what.function = function_of(handle);
  auto context = current_context();
  require(context->shares_with(what.function->context.lock().get()), CUDA_ERROR_INVALID_HANDLE);
  what.kernel = what.function->code({block[0], block[1], block[2]});
  return what;
}

// Names of the entries of the `extra` list (CU_LAUNCH_PARAM_*).
constexpr uintptr_t kEnd = 0, kBuffer = 1, kBufferSize = 2;

void copy_buffer(void** extra, const Entry& entry, uint8_t* to) {
  const void* buffer = nullptr;
  const size_t* size = nullptr;
  for (size_t i = 0; i < 16; i += 2) {
    auto name = reinterpret_cast<uintptr_t>(extra[i]);
    if (name == kEnd) break;
    require(name == kBuffer || name == kBufferSize);
    if (name == kBuffer)
      buffer = extra[i + 1];
    else
      size = static_cast<const size_t*>(extra[i + 1]);
  }
  // Programs give the bytes up to the end of the last parameter; the buffer of the kernel may be
  // padded behind it.
  uint64_t needed =
      entry.params.empty() ? 0 : entry.params.back().offset + entry.params.back().size;
  require(size && (buffer || *size == 0) && *size >= needed && *size <= 65536);
  memcpy(to, buffer, std::min<size_t>(*size, entry.param_bytes));
}

}  // namespace

void tell_missing_shared(const Function& f, uint64_t dynamic, uint64_t fixed, uint64_t room) {
  uint64_t total = fixed + dynamic;
  diagnose(LogLevel::error, "error[D017]: kernel " + f.entry->name + " asks for " +
                                std::to_string(total) + " bytes of shared memory per block (" +
                                std::to_string(fixed) + " static, " + std::to_string(dynamic) +
                                " dynamic); a block on " + current_hip_device().architecture +
                                " has " + std::to_string(room) + ": " +
                                std::to_string(total - room) +
                                " too many\nhelp: let the kernel use smaller tiles or fewer "
                                "stages; gfx950 has 163840 bytes, gfx1250 327680, all "
                                "others 65536");
}

const Launchable& launchable(CUfunction handle, const uint32_t block[3]) {
  Lately& mine = lately();
  static const Handles<Function>& known_functions = functions();
  uint64_t removals = known_functions.removals();
  if (mine.removals != removals) mine = Lately{}, mine.removals = removals;
  KnownLaunch& known = mine.places[place_of(handle, block)];
  bool hit = known.handle == handle && known.context == thread_state.context &&
             known.block[0] == block[0] && known.block[1] == block[1] && known.block[2] == block[2];
  if (__builtin_expect(hit, 1)) return known.what;
  auto what = obtain(handle, block);
  known = {handle, thread_state.context, {block[0], block[1], block[2]}, std::move(what)};
  return known.what;
}

void check_launch(const Launchable& what, const LaunchRequest& r) {
  const Entry& entry = *what.function->entry;
  for (int i = 0; i < 3; ++i) {
    require(r.grid[i] - 1 < kMaxGrid[i] && r.block[i] - 1 < kMaxBlock[i]);
  }
  uint64_t threads = uint64_t{r.block[0]} * r.block[1] * r.block[2];
  require(threads <= kMaxThreadsPerBlock);
  if (entry.maxntid[0] | entry.maxntid[1] | entry.maxntid[2]) {
    uint64_t most = 1;
    for (size_t i = 0; i < 3; ++i) {
      uint32_t stated = std::max(entry.maxntid[i], 1u);
      most *= stated;
      if (entry.reqntid) require(r.block[i] == stated);
    }
    require(threads <= most);
  }
  const AmdLine& amd = what.kernel->amd;
  if (hip_workgroup_threads(static_cast<uint32_t>(threads), amd.wave, amd.warps_per_wave) >
      amd.max_threads)
    throw Failure(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  if (r.dynamic_shared == 0 && what.kernel->artifact.shared <= kMaxSharedDefault) return;
  uint64_t total = what.kernel->artifact.shared + r.dynamic_shared,
           room = current_hip_device().shared;
  if (total > room) {
    tell_missing_shared(*what.function, r.dynamic_shared, what.kernel->artifact.shared, room);
    throw Failure(CUDA_ERROR_INVALID_VALUE);
  }
  // More than 48 KiB must have been asked for (cuFuncSetAttribute).
  if (total > kMaxSharedDefault)
    require(int64_t{r.dynamic_shared} <=
            most_dynamic_shared(*what.function, what.kernel->artifact.shared));
}

Kernarg::Kernarg(size_t param_bytes)
    : size_(hip_hidden_start(param_bytes) + sizeof(AwHipHidden)), data_(near_) {
  if (size_ <= kNear) return;
  far_.resize(size_);
  data_ = far_.data();
}

void copy_params(const Entry& entry, void** params, void** extra, uint8_t* to) {
  require(!(params && extra));
  if (extra) return copy_buffer(extra, entry, to);
  if (entry.params.empty()) return;
  require(params);
  size_t index = 0;
  for (auto& p : entry.params) {
    const void* from = params[index++];
    require(from);
    // Nearly all are of these sizes, which take one instruction.
    if (p.size == 8)
      memcpy(to + p.offset, from, 8);
    else if (p.size == 4)
      memcpy(to + p.offset, from, 4);
    else
      memcpy(to + p.offset, from, p.size);
  }
}

// Threads take many numbers at a time, so that they do not meet at every launch.
static uint64_t next_grid() {
  constexpr uint64_t kAtOnce = 1024;
  static std::atomic<uint64_t> taken{1};
  Launching& mine = launching;
  if (mine.next_grid == mine.grids_end) {
    mine.next_grid = taken.fetch_add(kAtOnce, std::memory_order_relaxed);
    mine.grids_end = mine.next_grid + kAtOnce;
  }
  return mine.next_grid++;
}

void fill_hidden(AwHipHidden& h, const Launchable& what, const LaunchRequest& r) {
  memcpy(h.grid, r.grid, sizeof h.grid);
  memcpy(h.block, r.block, sizeof h.block);
  h.dynamic_shared = r.dynamic_shared;
  h.shared_total = static_cast<uint32_t>(what.kernel->artifact.shared) + r.dynamic_shared;
  h.module_data = reinterpret_cast<uint64_t>(what.function->data->base);
  uint64_t services = what.kernel->services.load(std::memory_order_relaxed);
  if (__builtin_expect(services == 0, 0)) {
    services = services_address(what.kernel->device);
    what.kernel->services.store(services, std::memory_order_relaxed);
  }
  h.services = services;
  h.grid_id = next_grid();
  note_launch(h.grid_id, what.kernel->name);
  h.grid_workspace = 0;
  memset(h.first_block, 0, sizeof h.first_block);
  h.module_data_bytes = static_cast<uint32_t>(what.function->data->bytes);
}

std::array<uint32_t, 3> workgroup_of(const HipKernel& kernel, const uint32_t block[3]) {
  uint32_t threads = block[0] * block[1] * block[2];
  uint32_t launched = hip_workgroup_threads(threads, kernel.amd.wave, kernel.amd.warps_per_wave);
  if (launched == threads && kernel.amd.warps_per_wave != 1) return {block[0], block[1], block[2]};
  if (kernel.amd.wave == 32) return {block[0], block[1], block[2]};
  return {launched, 1, 1};
}

uint32_t most_blocks(uint32_t group_x) { return UINT32_MAX / group_x; }

CUresult launch(CUfunction handle, const LaunchRequest& r, hipStream_t stream) {
  require_context();
  const Launchable& what = launchable(handle, r.block);
  check_launch(what, r);
  static const bool reported = !settings().report_dir.empty();
  if (__builtin_expect(reported, 0)) report_launch(what.kernel->artifact.name);
  const Entry& entry = *what.function->entry;
  Kernarg arguments(entry.param_bytes);
  copy_params(entry, r.params, r.extra, arguments.data());
  fill_hidden(arguments.hidden(), what, r);
  size_t size = arguments.size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE,
                   &size, HIP_LAUNCH_PARAM_END};
  auto group = workgroup_of(*what.kernel, r.block);
  hipFunction_t function = what.kernel->function;
  if (r.cooperative) return launch_cooperative(what, r, group, arguments, stream);
  uint32_t most = most_blocks(group[0]);
  if (__builtin_expect(r.grid[0] <= most, 1)) {
    return to_cuda(hip.hipModuleLaunchKernel(function, r.grid[0], r.grid[1], r.grid[2], group[0],
                                             group[1], group[2], r.dynamic_shared, stream, nullptr,
                                             extra));
  }
  for (uint32_t first = 0; first < r.grid[0]; first += most) {
    arguments.hidden().first_block[0] = first;
    uint32_t blocks = std::min(most, r.grid[0] - first);
    check(hip.hipModuleLaunchKernel(function, blocks, r.grid[1], r.grid[2], group[0], group[1],
                                    group[2], r.dynamic_shared, stream, nullptr, extra));
    if (r.grid[0] - first <= most) break;
  }
  return CUDA_SUCCESS;
}

}  // namespace aw
