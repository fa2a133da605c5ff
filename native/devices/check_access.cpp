// Checks of single accesses: bounds, alignment, freed and constant memory, and bytes never written.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/watched_memory.h"
#include "devices/check_state.h"

namespace aw {
namespace {

std::string hex_of(uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string bytes(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

// How far from a piece of memory: "right behind", "8 bytes behind", "4 bytes before".
std::string behind(uint64_t count) { return count ? bytes(count) + " behind " : "right behind "; }

const char* verb(const CheckedSite& s) {
  return s.kind == SiteKind::load    ? "load of "
         : s.kind == SiteKind::store ? "store of "
                                     : "atomic operation on ";
}

// One lane's access, taken apart: the memory it names and the place there.
struct Place {
  Space space;
  int64_t offset;    // within shared or local memory
  uint64_t address;  // of the host; as the kernel names it in `shown`
  uint64_t shown;
};

Place place_of(const CheckCall& call, uint32_t thread, int64_t address) {
  const AwWorker& w = call.worker;
  auto host = static_cast<uint64_t>(address);
  auto inside = [&](const uint8_t* base, uint64_t size) {
    return host - reinterpret_cast<uint64_t>(base) < size;
  };
  auto from = [&](const uint8_t* base) {
    return static_cast<int64_t>(host - reinterpret_cast<uint64_t>(base));
  };
  auto base = [](const uint8_t* start, int64_t offset) {
    return reinterpret_cast<uint64_t>(start) + static_cast<uint64_t>(offset);
  };
  uint64_t own = thread * call.check.local;
  switch (call.site.space) {
    case Space::shared:
      return {Space::shared, address, base(w.shared, address), host};
    case Space::local:
      return {Space::local, address, base(w.local + own, address), host};
    case Space::param:
      return {Space::param, address, base(call.launch.params, address), host};
    default:
      break;
  }
  uint64_t local = call.check.local * call.state.threads;
  // Running over the end of a window by a little is a mistake in that window.
  constexpr uint64_t kSlack = 64;
  if (call.site.space == Space::generic) {
    if (call.launch.shared_total && inside(w.shared, call.launch.shared_total + kSlack))
      return {Space::shared, from(w.shared), host, host};
    if (local && inside(w.local - 0, local + kSlack))
      return {Space::local, from(w.local + own), host, host};
    if (inside(call.launch.params, call.check.param))
      return {Space::param, from(call.launch.params), host, host};
  }
  return {Space::global, 0, host, host};
}

const char* name_of(Space space) {
  switch (space) {
    case Space::shared:
      return "shared memory";
    case Space::local:
      return "local memory";
    case Space::param:
      return "the parameters";
    default:
      return "global memory";
  }
}

struct Verdict {
  const char* kind = nullptr;
  std::string more;
};

// Outside a window of `size` bytes, or outside the one variable that the address belongs to.
Verdict check_window(const CheckCall& call, const Place& p, uint64_t size) {
  const CheckedSite& s = call.site;
  auto end = static_cast<int64_t>(size);
  int64_t first = 0, last = end;
  const char* what = p.space == Space::shared  ? "the block's shared memory"
                     : p.space == Space::local ? "the thread's local memory"
                                               : "the kernel's parameters";
  std::string name = what;
  if (s.extent_size != 0) {
    first = s.extent_start, last = s.extent_size < 0 ? end : first + s.extent_size;
    name = s.extent_size < 0 ? "the dynamic shared memory" : "the variable";
  }
  auto bytes_there = static_cast<int64_t>(s.size);
  if (p.offset >= first && p.offset <= last - bytes_there) return {};
  std::string by = p.offset < first
                       ? bytes(static_cast<uint64_t>(first - p.offset)) + " before "
                       : behind(static_cast<uint64_t>(std::max<int64_t>(p.offset - last, 0)));
  return {"out of bounds", by + name + " of " + bytes(static_cast<uint64_t>(last - first))};
}

std::string describe_range(const WatchedRange& r) {
  return r.what + " of " + bytes(r.bytes) + " at " + hex_of(r.base) + " (number " +
         std::to_string(r.number) + ")";
}

Verdict outside(uint64_t address, uint64_t size) {
  auto near = range_near(address);
  if (!near) return {"out of bounds", "no allocation is near"};
  uint64_t end = near->base + near->bytes;
  if (near->freed && address + size > near->base && address < end)
    return {"use after free", "in " + describe_range(*near) + ", which was freed"};
  std::string where = address < near->base
                          ? bytes(near->base - address) + " before "
                          : behind(address >= end ? address - end : 0) + "the end of ";
  return {"out of bounds", where + describe_range(*near) + (near->freed ? ", freed" : "")};
}

// In a module's data: inside the variable that the address is computed from, or that it lies in.
Verdict check_variable(const CheckCall& call, const WatchedRange& r, uint64_t offset) {
  const CheckedSite& s = call.site;
  const WatchedVariable* meant = nullptr;
  for (auto& v : r.variables) {
    bool here = s.extent_size > 0 ? v.offset == static_cast<uint64_t>(s.extent_start)
                                  : offset >= v.offset && offset < v.offset + v.size;
    if (here) meant = &v;
  }
  if (!meant) return {};
  uint64_t end = meant->offset + meant->size;
  if (offset < meant->offset || offset + s.size > end) {
    std::string where = offset < meant->offset
                            ? bytes(meant->offset - offset) + " before "
                            : behind(offset >= end ? offset - end : 0) + "the end of ";
    return {"out of bounds", where + "the variable " + meant->name + " of " + bytes(meant->size)};
  }
  // A pointer that the host took from the variable is memory like any other: the next launch sees
  // what this one writes. Only a kernel that names the variable must take it as read-only.
  if (meant->space == "const" && s.kind != SiteKind::load && s.extent_size != 0)
    return {"write to constant memory", "in the variable " + meant->name};
  return {};
}

Verdict check_global(const CheckCall& call, uint64_t address) {
  uint64_t size = call.site.size;
  uint64_t workspace = call.launch.grid_workspace;  // the barrier of a cooperative grid is ours
  if (workspace && address - workspace < kGridWorkspace &&
      size <= workspace + kGridWorkspace - address)
    return {};
  auto range = range_at(address);
  if (!range || range->freed || size > range->base + range->bytes - address)
    return outside(address, size);
  return check_variable(call, *range, address - range->base);
}

Verdict check_memory(const CheckCall& call, const Place& p) {
  uint64_t size = call.site.size;
  if (size <= 32 && (size & (size - 1)) == 0 && p.address % size != 0) {
    // A window begins at a multiple of 64 bytes, so its offsets are as aligned as its addresses,
    // but for local memory, whose threads lie one behind the other.
    bool really = p.space != Space::local ||
                  static_cast<uint64_t>(p.offset) % std::min<uint64_t>(size, 16) != 0;
    if (really) return {"misaligned", "an access of " + bytes(size) + " wants a multiple of that"};
  }
  switch (p.space) {
    case Space::shared:
      return check_window(call, p, call.launch.shared_total);
    case Space::local:
      return check_window(call, p, call.check.local);
    case Space::param:
      return check_window(call, p, call.check.param);
    default:
      return check_global(call, p.address);
  }
}

void report_access(const CheckCall& call, uint32_t thread, const Place& p, const char* check,
                   const char* kind, std::string more) {
  Finding f = finding_at(call, thread, check, kind);
  f.space = name_of(p.space), f.address = p.shown, f.size = call.site.size;
  f.text = verb(call.site) + bytes(call.site.size) + " in " + f.space + " at " + hex_of(p.shown);
  f.more = std::move(more);
  add_finding(f);
}

// The bytes that say what of an access has been written; null when nothing says so.
uint8_t* written_bytes(const CheckCall& call, const Place& p) {
  uint64_t size = call.site.size;
  if (p.space == Space::shared) {
    auto& all = call.state.shared_written;
    auto offset = static_cast<uint64_t>(p.offset);
    return p.offset >= 0 && offset + size <= all.size() ? all.data() + offset : nullptr;
  }
  if (p.space != Space::global) return nullptr;
  auto range = range_at(p.address);
  if (!range || range->freed || !range->written) return nullptr;
  uint64_t offset = p.address - range->base;
  return offset + size <= range->bytes ? range->written + offset : nullptr;
}

void check_written(const CheckCall& call, uint32_t thread, const Place& p) {
  uint8_t* written = written_bytes(call, p);
  if (!written) return;
  uint64_t size = call.site.size;
  if (call.site.kind != SiteKind::store) {
    auto missing = static_cast<uint64_t>(std::count(written, written + size, 0));
    if (missing)
      report_access(call, thread, p, "init", "uninitialised",
                    missing == size ? "nothing was ever written there"
                                    : bytes(missing) + " of them were never written");
  }
  if (call.site.kind != SiteKind::load) memset(written, 1, size);
}

constexpr uint8_t kOnes[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                               1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

template <class F>
bool all_of_lanes(uint32_t lanes, F test) {
  for (; lanes; lanes &= lanes - 1) {
    if (!test(static_cast<uint32_t>(__builtin_ctz(lanes)))) return false;
  }
  return true;
}

// Whether all that lanes read has been written; then notes what they write. `written` begins where
// addresses are `origin`.
bool all_written(const CheckCall& call, const int64_t* addresses, uint8_t* written,
                 int64_t origin) {
  uint64_t size = call.site.size;
  bool reads = call.site.kind != SiteKind::store, writes = call.site.kind != SiteKind::load;
  auto good = [&](uint32_t lane) {
    return memcmp(written + (addresses[lane] - origin), kOnes, size) == 0;
  };
  if (reads && !all_of_lanes(call.lanes, good)) return false;
  auto note = [&](uint32_t lane) {
    memset(written + (addresses[lane] - origin), 1, size);
    return true;
  };
  return !writes || all_of_lanes(call.lanes, note);
}

// The common case, all lanes at once: everything lies in one window of shared memory or in one
// allocation, aligned and written. False, and nothing done, when that is not sure.
bool check_together(CheckCall& call, const int64_t* addresses, const void* values) {
  const CheckedSite& s = call.site;
  uint64_t size = s.size, bits = 0;
  int64_t low = INT64_MAX, high = INT64_MIN, origin = 0, bytes_there = static_cast<int64_t>(size);
  bool single = s.space != Space::local && s.space != Space::param;
  if (!single || !call.lanes || size == 0 || size > 32 || size & (size - 1)) return false;
  for (uint32_t rest = call.lanes; rest; rest &= rest - 1) {
    int64_t address = addresses[__builtin_ctz(rest)];
    low = std::min(low, address), high = std::max(high, address);
    bits |= static_cast<uint64_t>(address);
  }
  if (bits & (size - 1)) return false;
  auto window = static_cast<int64_t>(reinterpret_cast<uint64_t>(call.worker.shared));
  auto total = static_cast<int64_t>(call.launch.shared_total);
  bool generic = s.space == Space::generic && low >= window && low < window + total;
  bool shared = s.space == Space::shared || generic;
  uint8_t* written = nullptr;
  if (shared) {
    origin = generic ? window : 0;
    int64_t first = s.extent_size ? s.extent_start : 0;
    int64_t last = s.extent_size > 0 ? first + s.extent_size : total;
    if (low - origin < first || high - origin + bytes_there > last || last > total) return false;
    if (call.check.init) written = call.state.shared_written.data();
  } else {
    auto range = range_holding(static_cast<uint64_t>(low), static_cast<uint64_t>(high) + size);
    if (!range || range->freed || !range->variables.empty()) return false;
    written = range->written, origin = static_cast<int64_t>(range->base);
  }
  if (call.check.init && written && !all_written(call, addresses, written, origin)) return false;
  if (!shared || !call.check.race) return true;
  bool same = s.kind == SiteKind::load && low == high && call.lanes == ~0u;
  for (uint32_t rest = call.lanes; rest; rest = same ? 0 : rest & (rest - 1)) {
    auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    check_race(call, lane, static_cast<uint64_t>(addresses[lane] - origin), addresses, values,
               same);
  }
  return true;
}

// Accesses of as many bytes as each lane says, one lane after the other.
uint32_t check_bulk(CheckCall& call, const int64_t* addresses, const void* sizes) {
  uint32_t allowed = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!(call.lanes >> lane & 1)) continue;
    CheckedSite sized = call.site;
    sized.size = static_cast<const uint64_t*>(sizes)[lane], sized.flags &= ~unsigned{kBulk};
    CheckCall one = {call.worker, call.launch, call.check, call.state,
                     call.number, sized,       1u << lane};
    allowed |= sized.size ? check_access(one, addresses, nullptr) : 1u << lane;
  }
  return allowed;
}

}  // namespace

uint32_t check_access(CheckCall& call, const int64_t* addresses, const void* values) {
  if (call.site.flags & kBulk) return check_bulk(call, addresses, values);
  if (check_together(call, addresses, values)) return call.lanes;
  uint32_t allowed = call.lanes;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!(call.lanes >> lane & 1)) continue;
    uint32_t thread = call.worker.warp * kLanes + lane;
    Place p = place_of(call, thread, addresses[lane]);
    if (call.check.memory) {
      Verdict verdict = check_memory(call, p);
      if (verdict.kind) {
        allowed &= ~(1u << lane);
        report_access(call, thread, p, "memory", verdict.kind, verdict.more);
        continue;
      }
    }
    if (call.check.init) check_written(call, thread, p);
    if (call.check.race && p.space == Space::shared && p.offset >= 0)
      check_race(call, lane, static_cast<uint64_t>(p.offset), addresses, values);
  }
  return allowed;
}

}  // namespace aw
