#include "devices/fault_report.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/host_services.h"

namespace aw {
namespace {

std::string index_text(const uint32_t (&v)[3]) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

// The index of a lane of the running warp, as threadIdx.
std::string thread_of(const AwLaunch& launch, uint32_t warp, uint32_t lane) {
  uint64_t linear = uint64_t{warp} * 32 + lane;
  uint32_t x = launch.block[0] ? launch.block[0] : 1, y = launch.block[1] ? launch.block[1] : 1;
  uint32_t index[3] = {static_cast<uint32_t>(linear % x), static_cast<uint32_t>(linear / x % y),
                       static_cast<uint32_t>(linear / x / y)};
  return index_text(index);
}

uint32_t access_kind(const AwWorker& w) { return w.access_kind & 0xff; }

bool is_known(const AwWorker& w) { return access_kind(w) >= 1 && access_kind(w) <= 6; }

// How many accesses the record names; one of them was caught.
uint32_t accesses(const AwWorker& w) {
  return access_kind(w) == 5 ? std::min(w.access_kind >> 24, 16u) : 1;
}

uint64_t address_of(const AwWorker& w, uint32_t access, uint32_t lane) {
  if (access_kind(w) == 1) return w.addresses[0];
  if (access_kind(w) == 2 || access_kind(w) == 5) {
    uint64_t first = w.addresses[access ? 16 + access : 0];
    return first + lane * static_cast<uint64_t>(w.access_stride);
  }
  if (access_kind(w) == 4) return reinterpret_cast<const uint64_t*>(w.addresses[0])[lane];
  if (access_kind(w) == 6) {
    int64_t number = reinterpret_cast<const int32_t*>(w.addresses[31])[lane];
    return w.addresses[0] + static_cast<uint64_t>(number * w.access_stride);
  }
  return w.addresses[lane];
}

bool takes_part(const AwWorker& w, uint32_t lane) {
  if (w.access_kind >> 16 & 1) return w.addresses[1 + lane / 64] >> lane % 64 & 1;
  return w.access_mask == ~0u || (lane < 32 && w.access_mask >> lane & 1);
}

// The lane whose access covers the address that the processor reported. The processor reports none
// for addresses that no page can have (x86-64: non-canonical), so then the lane that has such an
// address.
struct Guilty {
  int lane = -1;  // not known
  uint64_t address = 0;
};

Guilty find_guilty(const AwWorker& w, uint64_t reported) {
  Guilty nearest = {-1, reported};
  if (!is_known(w)) return nearest;
  uint32_t lanes = 32 * (1 + (w.access_kind >> 8 & 0xff));
  if (lanes > 1024 || (lanes > 32 && access_kind(w) == 3)) return nearest;
  uint64_t distance = 64;  // no access is wider
  for (uint32_t i = 0; i < accesses(w) * lanes; ++i) {
    uint32_t lane = i % lanes;
    if (!takes_part(w, lane)) continue;
    uint64_t address = address_of(w, i / lanes, lane), high = address >> 47;
    bool impossible = reported == 0 && high != 0 && high != 0x1ffff;
    if (impossible) return {static_cast<int>(lane), address};
    if (reported < address || reported - address >= distance) continue;
    nearest = {static_cast<int>(lane), address}, distance = reported - address;
  }
  return nearest;
}

// A fault of the processor itself and not of a page: of the addresses that kernels use, one that is
// not aligned as its instruction wants (x86-64: general protection).
bool is_misaligned(const AwWorker& w, const FaultFrame& fault, int lane) {
  return fault.signal == SIGBUS ? fault.code == BUS_ADRALN
                                : fault.code == SI_KERNEL && is_known(w) && lane < 0;
}

std::string hex(uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string faulting_thread(const std::string& kernel, const AwLaunch& launch, const AwWorker& w,
                            int lane) {
  std::string text = "kernel " + kernel + ", block " + index_text(w.ctaid) + ", ";
  if (lane >= 0) return text + "thread " + thread_of(launch, w.warp, static_cast<uint32_t>(lane));
  return text + "in the warp of thread " + thread_of(launch, w.warp, 0);
}

}  // namespace

RunResult explain_fault(const std::string& kernel, const AwLaunch& launch, const AwWorker& w,
                        const FaultFrame& fault) {
  if (fault.error)
    return {fault.error,
            faulting_thread(kernel, launch, w, static_cast<int>(fault.lane)) + ": " + fault.text};
  if (fault.signal == SIGILL)
    return {715, faulting_thread(kernel, launch, w, -1) + ": illegal instruction"};
  if (fault.signal == SIGFPE)
    return {719, faulting_thread(kernel, launch, w, -1) + ": arithmetic fault"};
  Guilty guilty = find_guilty(w, fault.address);
  if (is_misaligned(w, fault, guilty.lane)) {
    return {716, faulting_thread(kernel, launch, w, -1) + ": misaligned address"};
  }
  return {700, faulting_thread(kernel, launch, w, guilty.lane) + ": illegal memory access at " +
                   hex(guilty.address)};
}

RunResult explain_status(const std::string& kernel, const AwLaunch& launch, const AwWorker& w,
                         int32_t status) {
  if (status == AW_DEADLOCK && w.barrier_id == UINT32_MAX) {
    return {719, faulting_thread(kernel, launch, w, -1) +
                     ": threads wait for others of their warp that never arrive (line " +
                     std::to_string(w.line) + " of the PTX)"};
  }
  if (status == AW_DEADLOCK) {
    int lane = w.trap_lane < 32 ? static_cast<int>(w.trap_lane) : -1;
    return {719, faulting_thread(kernel, launch, w, lane) + ": threads wait at barrier " +
                     std::to_string(w.barrier_id) + " that the others never reach"};
  }
  const char* assertion = take_assertion();
  if (*assertion) return {710, std::string("kernel ") + kernel + ": " + assertion};
  std::string who =
      faulting_thread(kernel, launch, w, w.trap_lane < 32 ? static_cast<int>(w.trap_lane) : -1) +
      ": ";
  if (w.reason == AW_REASON_NO_FUNCTION) {
    return {718, who + "call through a pointer that is no function of these parameters"};
  }
  if (w.reason == AW_REASON_STACK) {
    return {719, who +
                     "the stack of a thread is full: calls are nested too deep, or too much is "
                     "allocated on it; cuCtxSetLimit with CU_LIMIT_STACK_SIZE makes it larger"};
  }
  return {719, who + "trap"};
}

void find_waiting(const KernelArtifact& artifact, const AwLaunch& launch, AwWorker& w) {
  // The frame as simd/barriers.py lays it out: barriers, then per warp 32 places and 32 numbers of
  // barriers.
  constexpr uint64_t kWaiting = 128;
  uint64_t threads = uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  w.trap_lane = UINT32_MAX;
  if (artifact.waits.empty() || !w.frame) return;
  for (uint64_t thread = 0; thread < threads; ++thread) {
    const uint8_t* state =
        w.frame + artifact.frame_fixed + thread / 32 * artifact.frame_per_warp + thread % 32 * 4;
    uint32_t stands, waits;
    memcpy(&stands, state, 4);
    memcpy(&waits, state + kWaiting, 4);
    if (waits != w.barrier_id) continue;
    w.warp = static_cast<uint32_t>(thread / 32), w.trap_lane = thread % 32;
    for (auto& [number, line] : artifact.waits) {
      if (number == stands) w.line = static_cast<uint32_t>(line);
    }
    return;
  }
}

std::string place_in_source(const KernelCode& code, uint64_t instruction, uint32_t line) {
  auto entry = reinterpret_cast<uint64_t>(code.object ? code.object->entry : nullptr);
  auto base = reinterpret_cast<uint64_t>(code.object ? code.object->base() : nullptr);
  bool inside = entry && instruction >= entry && instruction - base < code.object->bytes();
  if (!code.request || (!inside && !line)) return "";
  SourcePlace place = locate(*code.request, inside ? instruction - entry : 0, inside ? 0 : line);
  if (!place.ptx_line) place.ptx_line = line;  // known without asking
  if (!place.ptx_line) return "";
  std::string text = "line " + std::to_string(place.ptx_line) + " of the PTX";
  return " (" + (place.source.empty() ? text : place.source + ", " + text) + ")";
}

}  // namespace aw
