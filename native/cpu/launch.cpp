#include "cpu/launch.h"

#include <algorithm>
#include <cstring>

#include "cpu/versions.h"
#include "cuda/device_attributes.h"
#include "cuda/driver.h"

namespace aw {
namespace {

// Names of the entries of the `extra` list (CU_LAUNCH_PARAM_*).
constexpr uintptr_t kEnd = 0, kBuffer = 1, kBufferSize = 2;

// Programs give the bytes up to the end of the last parameter; `to` may be padded behind it.
void copy_buffer(void** extra, uint64_t needed, std::vector<uint8_t>& to) {
  const void* buffer = nullptr;
  const size_t* size = nullptr;
  for (size_t i = 0; i < 16; i += 2) {
    auto name = reinterpret_cast<uintptr_t>(extra[i]);
    if (name == kEnd) break;
    if (name == kBuffer) buffer = extra[i + 1];
    if (name == kBufferSize) size = static_cast<const size_t*>(extra[i + 1]);
    require(name == kBuffer || name == kBufferSize);
  }
  require(size && (buffer || *size == 0));
  require(*size >= needed && *size <= 65536);
  if (*size) memcpy(to.data(), buffer, std::min(*size, to.size()));
}

std::vector<uint8_t> parameters_of(const Entry& entry, const LaunchRequest& r) {
  require(!(r.params && r.extra));
  // Generated code may read whole words at the end.
  std::vector<uint8_t> out(entry.param_bytes);
  if (r.extra) {
    uint64_t needed =
        entry.params.empty() ? 0 : entry.params.back().offset + entry.params.back().size;
    copy_buffer(r.extra, needed, out);
  } else if (!entry.params.empty()) {
    require(r.params);
    for (size_t i = 0; i < entry.params.size(); ++i) {
      require(r.params[i]);
      memcpy(out.data() + entry.params[i].offset, r.params[i], entry.params[i].size);
    }
  }
  return out;
}

void check_shape(const Entry& entry, const LaunchRequest& r) {
  for (int i = 0; i < 3; ++i) {
    require(r.grid[i] >= 1 && r.grid[i] <= kMaxGrid[i]);
    require(r.block[i] >= 1 && r.block[i] <= kMaxBlock[i]);
  }
  uint64_t threads = uint64_t{r.block[0]} * r.block[1] * r.block[2];
  require(threads <= kMaxThreadsPerBlock);
  bool stated = entry.maxntid[0] || entry.maxntid[1] || entry.maxntid[2];
  if (!stated) return;
  if (entry.reqntid) {
    for (int i = 0; i < 3; ++i) require(r.block[i] == std::max(entry.maxntid[i], 1u));
  }
  uint64_t most = uint64_t{std::max(entry.maxntid[0], 1u)} * std::max(entry.maxntid[1], 1u) *
                  std::max(entry.maxntid[2], 1u);
  require(threads <= most, CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

int resident_blocks(uint64_t threads, uint64_t shared_bytes) {
  uint64_t warps = std::max<uint64_t>((threads + 31) / 32, 1),
           blocks = kMaxThreadsPerProcessor / 32 / warps;
  blocks = std::min<uint64_t>(blocks, kMaxBlocksPerProcessor);
  return static_cast<int>(
      std::min<uint64_t>(blocks, kMaxSharedPerProcessor / (shared_bytes + kReservedShared)));
}

int most_dynamic_shared(Function& function, uint64_t fixed) {
  std::lock_guard lock(function.mutex);
  int asked = function.attributes.max_dynamic_shared;
  return asked >= 0 ? asked
                    : std::max(kMaxSharedDefault -
                                   static_cast<int>(std::min<uint64_t>(fixed, kMaxSharedDefault)),
                               0);
}

namespace {

Failure too_many_blocks(uint64_t blocks, uint64_t most, uint64_t each) {
  std::string text = "a cooperative launch of " + std::to_string(blocks) +
                     " blocks, of which the device holds " + std::to_string(most) + " at once";
  if (each)
    text += "; with ANYWARP_THREADS=" + std::to_string((blocks + each - 1) / each) +
            " it holds them all";
  return Failure(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, text);
}

}  // namespace

KernelWork plan_launch(const std::shared_ptr<Function>& function, const LaunchRequest& r,
                       unsigned multiprocessors) {
  check_shape(*function->entry, r);
  KernelWork w;
  w.params = parameters_of(*function->entry, r);
  w.versions = function->code({r.block[0], r.block[1], r.block[2]}, r.grid[0]);
  auto code = w.versions->general();
  // The compiler decides how long the buffer is; it never differs from what the description says
  // but for padding.
  w.params.resize(std::max<uint64_t>(w.params.size(), code->artifact.param));
  uint64_t fixed = code->artifact.shared;
  require(r.dynamic_shared <= static_cast<uint64_t>(most_dynamic_shared(*function, fixed)));
  w.function = function;
  for (int i = 0; i < 3; ++i) w.grid[i] = r.grid[i], w.block[i] = r.block[i];
  w.dynamic_shared = r.dynamic_shared;
  w.cooperative = r.cooperative;
  if (r.cooperative) {
    uint64_t threads = uint64_t{r.block[0]} * r.block[1] * r.block[2];
    unsigned __int128 blocks = (unsigned __int128){r.grid[0]} * r.grid[1] * r.grid[2];
    auto each = static_cast<uint64_t>(resident_blocks(threads, fixed + r.dynamic_shared));
    uint64_t most = each * (multiprocessors ? multiprocessors : device_info().multiprocessors);
    if (blocks > most) throw too_many_blocks(static_cast<uint64_t>(blocks), most, each);
  }
  return w;
}

}  // namespace aw
