// The data of checks: one structure per launch, one per running block.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/findings.h"
#include "devices/check.h"

namespace aw {

enum class SiteKind { load, store, atomic, barrier, warp, members, exit };
enum class Space { generic, global, shared, local, constant, param, none };

// Mirrored in src/anywarp/compiler/sites.py.
enum SiteFlag : unsigned { kStrong = 1, kAligned = 2, kCounted = 4, kArrives = 8, kBulk = 16 };

struct CheckedSite {
  SiteKind kind = SiteKind::load;
  Space space = Space::none;
  uint64_t size = 0, count = 1;
  unsigned flags = 0;
  int64_t extent_start = 0, extent_size = 0;  // 0: unknown; -1: to the end
  uint64_t ptx_line = 0, line = 0;
  std::string file, inlined_at;
};

struct CheckedSites {
  std::vector<CheckedSite> all;
};

struct CheckedLaunch {
  std::string kernel;
  std::shared_ptr<const CheckedSites> kept_sites;
  const std::vector<CheckedSite>& sites;
  CheckedLaunch(std::string name, std::shared_ptr<const CheckedSites> places)
      : kernel(std::move(name)), kept_sites(std::move(places)), sites(kept_sites->all) {}
  uint64_t local = 0, param = 0;
  bool memory = false, init = false, race = false, sync = false;
  std::mutex mutex;
  std::map<uint64_t, std::unique_ptr<struct BlockState>> kept;  // paused blocks by linear index
};

// One access to a piece of shared memory. `epoch` counts the synchronisations of the thread's warp.
struct Touch {
  uint32_t epoch = 0;  // 0: none
  uint32_t site = 0, call = 0;
  uint16_t thread = 0;
  bool strong = false;
  bool warp = false;  // all lanes did, `thread` is one of them
};

// A piece of shared memory, BlockState::piece bytes long.
struct SharedPiece {
  Touch write, reads[2];
};

constexpr unsigned kWarps = 32, kLanes = 32, kBarriers = 16;

// What a warp knows: up to which epoch of each warp its accesses come after theirs, and the same
// for pairs of its own lanes.
struct WarpClock {
  uint32_t epoch = 1;
  uint32_t seen[kWarps]{};
  uint32_t lanes[kLanes][kLanes]{};
};

struct BarrierState {
  bool open = false;
  uint32_t expected = 0;  // threads; 0: all of the block
  bool aligned = true;
  uint32_t arrived[kWarps]{}, waiting[kWarps]{};
  uint32_t site[kWarps]{};
  // The completion before: for how many threads, who waited, and up to which epoch of theirs.
  uint32_t before = 0, waited[kWarps]{}, epoch[kWarps]{};
  bool completed = false;
};

struct BlockState {
  uint64_t block = UINT64_MAX;
  uint32_t threads = 0, warps = 0;
  uint32_t calls = 0;
  std::vector<uint8_t> shared_written;
  std::vector<SharedPiece> shared;
  uint64_t piece = 4;  // 1 once an access was to parts of words
  std::vector<WarpClock> clocks;
  uint32_t exited[kWarps]{};
  BarrierState barriers[kBarriers];
};

// What a worker's `host` points to.
struct CheckedWorker {
  const AwLaunch* launch = nullptr;
  CheckedLaunch* check = nullptr;
  std::unique_ptr<BlockState> state;
};

// Everything a check needs at hand.
struct CheckCall {
  const AwWorker& worker;
  const AwLaunch& launch;
  CheckedLaunch& check;
  BlockState& state;
  uint32_t number;  // of the site
  const CheckedSite& site;
  uint32_t lanes;
};

// Fills in what every finding says of its place; the caller adds the rest.
Finding finding_at(const CheckCall& call, uint32_t thread, const char* check, std::string kind);
std::string thread_name(const AwLaunch& launch, uint32_t thread);
std::string site_name(const CheckedSite& site);

// Lanes of a warp that are threads of the block and have not ended.
uint32_t live_lanes(const BlockState& state, uint32_t warp);

uint32_t check_access(CheckCall& call, const int64_t* addresses, const void* values);
// `offset` is where the lane's access begins in shared memory; `warp`: all lanes load the same.
void check_race(CheckCall& call, uint32_t lane, uint64_t offset, const int64_t* addresses,
                const void* values, bool warp = false);
void check_barrier(CheckCall& call, const int64_t* numbers, const int64_t* counts);
void check_members(CheckCall& call, const int64_t* masks, bool barrier);
void check_exit(CheckCall& call);

}  // namespace aw
