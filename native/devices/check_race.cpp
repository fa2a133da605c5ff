// Checks of shared memory: two threads use a byte, one of them writes it, and nothing puts one
// before the other.
#include <algorithm>
#include <cstring>

#include "devices/check_state.h"

namespace aw {
namespace {

// Whether an earlier access surely came before what `thread` does now: it is its own, or the two
// have met at a barrier since.
bool ordered(const CheckCall& call, const Touch& before, uint32_t thread) {
  if (before.epoch == 0 || (before.thread == thread && !before.warp)) return true;
  // What a whole warp did was done by another lane, too.
  uint32_t who = before.thread == thread ? thread ^ 1 : before.thread;
  uint32_t warp = thread / kLanes, other = who / kLanes;
  const WarpClock& mine = call.state.clocks[warp];
  uint32_t seen = warp == other ? mine.lanes[thread % kLanes][who % kLanes] : mine.seen[other];
  return before.epoch <= seen;
}

// The byte that a lane of this very store writes, null if the values are not known.
const uint8_t* stored_byte(const CheckCall& call, const void* values, uint32_t lane, uint64_t i) {
  if (!values) return nullptr;
  uint64_t element = call.site.size / call.site.count;
  return static_cast<const uint8_t*>(values) + (i / element * kLanes + lane) * element +
         i % element;
}

// Threads that write the same number harm nobody.
bool same_value(const CheckCall& call, const Touch& before, uint32_t lane, uint64_t i,
                uint64_t offset, const int64_t* addresses, const void* values) {
  uint32_t other = before.thread % kLanes;
  for (uint64_t k = i; k < i + call.state.piece; ++k) {
    const uint8_t* mine = stored_byte(call, values, lane, k);
    if (!mine) return false;
    const uint8_t* theirs = call.worker.shared + offset + k;
    if (before.call == call.state.calls) {
      auto there = k + static_cast<uint64_t>(addresses[lane] - addresses[other]);
      theirs = there < call.site.size ? stored_byte(call, values, other, there) : nullptr;
    }
    if (!theirs || *theirs != *mine) return false;
  }
  return true;
}

void report_race(const CheckCall& call, uint32_t thread, uint64_t offset, const Touch& before,
                 bool wrote, bool writes) {
  const CheckedSite& first = call.check.sites[before.site];
  const char* kind = wrote ? (writes ? "race of two writes" : "race: read of what another writes")
                           : "race: write of what another reads";
  Finding f = finding_at(call, thread, "race", kind);
  f.space = "shared memory", f.address = offset, f.size = call.site.size;
  f.text = "thread " + thread_name(call.launch, thread) + (writes ? " writes" : " reads") +
           " shared memory at " + std::to_string(offset);
  f.more = "thread " + thread_name(call.launch, before.thread) +
           (wrote ? " wrote it at " : " read it at ") + site_name(first) +
           ", and no barrier lies between the two";
  add_finding(f);
}

void note_read(CheckCall& call, SharedPiece& byte, const Touch& now) {
  for (Touch& read : byte.reads) {
    bool covered = read.thread == now.thread && (now.warp || !read.warp);
    if (read.epoch == 0 || covered) return void(read = now);
  }
  for (Touch& read : byte.reads) {
    if (ordered(call, read, now.thread)) return void(read = now);
  }
  byte.reads[1] = now;
}

// From words to bytes.
void split(BlockState& s) {
  std::vector<SharedPiece> bytes;
  bytes.reserve(s.shared.size() * 4);
  for (auto& word : s.shared) bytes.insert(bytes.end(), 4, word);
  s.shared = std::move(bytes), s.piece = 1;
}

}  // namespace

void check_race(CheckCall& call, uint32_t lane, uint64_t offset, const int64_t* addresses,
                const void* values, bool whole) {
  auto& shared = call.state.shared;
  const CheckedSite& site = call.site;
  if (call.state.piece == 4 && ((offset | site.size) & 3)) split(call.state);
  uint64_t piece = call.state.piece;
  if (offset + site.size > shared.size() * piece) return;
  uint32_t warp = call.worker.warp, thread = warp * kLanes + lane;
  bool writes = site.kind != SiteKind::load, strong = site.flags & kStrong, told = false;
  Touch now = {call.state.clocks[warp].epoch, call.number, call.state.calls,
               static_cast<uint16_t>(thread), strong,      whole};
  for (uint64_t i = 0; i < site.size; i += piece) {
    SharedPiece& byte = shared[(offset + i) / piece];
    auto clash = [&](const Touch& before) {
      return !ordered(call, before, thread) && !(before.strong && strong);
    };
    if (!told && clash(byte.write) &&
        !(site.kind == SiteKind::store &&
          same_value(call, byte.write, lane, i, offset, addresses, values))) {
      report_race(call, thread, offset + i, byte.write, true, writes);
      told = true;
    }
    for (Touch& read : byte.reads) {
      if (told || !writes || !clash(read)) continue;
      report_race(call, thread, offset + i, read, false, true);
      told = true;
    }
    // An atomic behind its own thread's plain write does not make the plain write harmless.
    bool hides = strong && !byte.write.strong && byte.write.thread == thread &&
                 byte.write.epoch == now.epoch;
    if (writes && !hides) byte.write = now;
    if (!writes) note_read(call, byte, now);
  }
}

}  // namespace aw
