// The door of checks: state of launches, workers and blocks, and the words for places.
#include "devices/check.h"

#include <algorithm>

#include "core/host_services.h"
#include "core/status.h"
#include "core/watched_memory.h"
#include "devices/check_state.h"

namespace aw {
namespace {

SiteKind site_kind(const std::string& word) {
  static const std::pair<const char*, SiteKind> names[] = {
      {"load", SiteKind::load},       {"store", SiteKind::store}, {"atomic", SiteKind::atomic},
      {"barrier", SiteKind::barrier}, {"warp", SiteKind::warp},   {"members", SiteKind::members},
      {"exit", SiteKind::exit}};
  for (auto& [name, kind] : names) {
    if (word == name) return kind;
  }
  throw Failure(999, "a checked kernel watches what this library does not know: " + word);
}

Space space_of(const std::string& word) {
  static const std::pair<const char*, Space> names[] = {
      {"generic", Space::generic}, {"global", Space::global},  {"shared", Space::shared},
      {"local", Space::local},     {"const", Space::constant}, {"param", Space::param}};
  for (auto& [name, space] : names) {
    if (word == name) return space;
  }
  return Space::none;
}

CheckedSite read_site(const Line& words) {
  if (words.size() < 12) throw Failure(999, "a checked kernel describes a place too briefly");
  CheckedSite s;
  s.kind = site_kind(words[1]), s.space = space_of(words[2]);
  s.size = whole_number(words[3]), s.count = whole_number(words[4]);
  s.flags = static_cast<unsigned>(whole_number(words[5]));
  s.extent_start = strtoll(words[6].c_str(), nullptr, 10);
  s.extent_size = strtoll(words[7].c_str(), nullptr, 10);
  s.ptx_line = whole_number(words[8]), s.line = whole_number(words[9]);
  if (words[10] != "-") s.file = words[10];
  if (words[11] != "-") s.inlined_at = words[11];
  return s;
}

uint64_t linear_block(const AwLaunch& l, const AwWorker& w) {
  return (uint64_t{w.ctaid[2]} * l.grid[1] + w.ctaid[1]) * l.grid[0] + w.ctaid[0];
}

// A block begins: nothing is written, nobody waits.
void begin_block(CheckedWorker& mine, uint64_t block) {
  const AwLaunch& l = *mine.launch;
  {
    std::lock_guard lock(mine.check->mutex);
    auto it = mine.check->kept.find(block);
    if (it != mine.check->kept.end()) {
      mine.state = std::move(it->second);
      mine.check->kept.erase(it);
      return;
    }
  }
  if (!mine.state) mine.state = std::make_unique<BlockState>();
  BlockState& s = *mine.state;
  s.block = block;
  s.threads = l.block[0] * l.block[1] * l.block[2];
  s.warps = (s.threads + kLanes - 1) / kLanes;
  s.calls = 0;
  if (mine.check->init) s.shared_written.assign(l.shared_total, 0);
  s.piece = 4;
  if (mine.check->race) s.shared.assign(l.shared_total / 4 + 1, {});
  if (mine.check->race || mine.check->sync) s.clocks.assign(s.warps, {});
  std::fill(std::begin(s.exited), std::end(s.exited), 0);
  for (auto& barrier : s.barriers) barrier = {};
}

CheckedWorker& of(const AwWorker& worker) { return *static_cast<CheckedWorker*>(worker.host); }

}  // namespace

std::shared_ptr<const CheckedSites> read_sites(const KernelArtifact& a) {
  if (a.sites.empty()) return nullptr;
  auto sites = std::make_shared<CheckedSites>();
  for (auto& line : a.sites) sites->all.push_back(read_site(line));
  return sites;
}

std::shared_ptr<CheckedLaunch> begin_checks(const KernelCode& code) {
  if (!code.sites) return nullptr;
  const KernelArtifact& a = code.artifact;
  auto launch = std::make_shared<CheckedLaunch>(a.name, code.sites);
  launch->local = a.local, launch->param = a.param;
  launch->memory = checking("memory"), launch->init = checking("init");
  launch->race = checking("race"), launch->sync = checking("sync");
  return launch;
}

void attach_checks(const AwLaunch& launch, AwWorker& worker) {
  thread_local std::unique_ptr<CheckedWorker> mine = std::make_unique<CheckedWorker>();
  mine->launch = &launch, mine->check = static_cast<CheckedLaunch*>(launch.check);
  if (mine->state) mine->state->block = UINT64_MAX;
  worker.host = mine.get();
}

void keep_checked_block(const AwWorker& worker) {
  CheckedWorker& mine = of(worker);
  if (!mine.state || mine.state->block != linear_block(*mine.launch, worker)) return;
  std::lock_guard lock(mine.check->mutex);
  mine.check->kept[mine.state->block] = std::move(mine.state);
}

std::string thread_name(const AwLaunch& l, uint32_t thread) {
  uint32_t x = l.block[0], y = l.block[1];
  return "(" + std::to_string(thread % x) + "," + std::to_string(thread / x % y) + "," +
         std::to_string(thread / x / y) + ")";
}

std::string site_name(const CheckedSite& s) {
  if (!s.file.empty()) return s.file + ":" + std::to_string(s.line);
  return s.ptx_line ? "PTX line " + std::to_string(s.ptx_line) : "the end of the kernel";
}

Finding finding_at(const CheckCall& call, uint32_t thread, const char* check, std::string kind) {
  const CheckedSite& s = call.site;
  Finding f;
  f.check = check, f.kind = std::move(kind), f.kernel = call.check.kernel;
  f.file = s.file, f.inlined_at = s.inlined_at, f.line = s.line, f.ptx_line = s.ptx_line;
  std::copy(std::begin(call.worker.ctaid), std::end(call.worker.ctaid), std::begin(f.block));
  uint32_t x = call.launch.block[0], y = call.launch.block[1];
  f.thread[0] = thread % x, f.thread[1] = thread / x % y, f.thread[2] = thread / x / y;
  static const char* const kinds[] = {"load", "store",   "atomic", "barrier",
                                      "warp", "members", "exit"};
  f.access = kinds[static_cast<int>(s.kind)];
  return f;
}

uint32_t live_lanes(const BlockState& s, uint32_t warp) {
  uint32_t rest = s.threads - warp * kLanes;
  uint32_t all = rest >= kLanes ? ~0u : (1u << rest) - 1;
  return all & ~s.exited[warp];
}

}  // namespace aw

uint32_t aw_check(AwWorker* worker, uint32_t number, uint32_t lanes, const int64_t* first,
                  const void* second) {
  using namespace aw;
  CheckedWorker& mine = of(*worker);
  uint64_t block = linear_block(*mine.launch, *worker);
  if (!mine.state || mine.state->block != block) begin_block(mine, block);
  ++mine.state->calls;
  CheckCall call = {
      *worker, *mine.launch, *mine.check, *mine.state, number, mine.check->sites[number], lanes};
  call.lanes &= live_lanes(*mine.state, worker->warp);
  switch (call.site.kind) {
    case SiteKind::barrier:
      check_barrier(call, first, static_cast<const int64_t*>(second));
      return lanes;
    case SiteKind::warp:
    case SiteKind::members:
      check_members(call, first, call.site.kind == SiteKind::warp);
      return lanes;
    case SiteKind::exit:
      check_exit(call);
      return lanes;
    default:
      return check_access(call, first, second);
  }
}
