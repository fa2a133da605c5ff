// Checks of synchronisation: who arrives where, who never does, and which lanes a mask names.
#include <algorithm>

#include "devices/check_state.h"

namespace aw {
namespace {

uint32_t first_lane(uint32_t lanes) { return static_cast<uint32_t>(__builtin_ctz(lanes)); }

void report_barrier(const CheckCall& call, uint32_t thread, const char* kind, std::string text,
                    std::string more) {
  Finding f = finding_at(call, thread, "sync", kind);
  f.text = std::move(text), f.more = std::move(more);
  if (call.check.sync) add_finding(f);
}

// A thread of the block that has ended, UINT32_MAX when none has.
uint32_t ended_thread(const BlockState& s) {
  for (uint32_t w = 0; w < s.warps; ++w) {
    if (s.exited[w]) return w * kLanes + first_lane(s.exited[w]);
  }
  return UINT32_MAX;
}

uint32_t count_ended(const BlockState& s) {
  uint32_t count = 0;
  for (uint32_t w = 0; w < s.warps; ++w)
    count += static_cast<uint32_t>(__builtin_popcount(s.exited[w]));
  return count;
}

bool complete(const BlockState& s, const BarrierState& b) {
  uint32_t threads = 0;
  for (uint32_t w = 0; w < s.warps; ++w) {
    if (!b.expected && (b.arrived[w] & live_lanes(s, w)) != live_lanes(s, w)) return false;
    // Barriers count whole warps (PTX ISA, bar: the thread count is a multiple of the warp size).
    if (b.arrived[w])
      threads += b.aligned ? kLanes : static_cast<uint32_t>(__builtin_popcount(b.arrived[w]));
  }
  return !b.expected || threads >= b.expected;
}

// Everybody who waits now comes after everything that those who arrived did before.
void order(BlockState& s, const BarrierState& b) {
  uint32_t joined[kWarps]{};
  for (uint32_t w = 0; w < s.warps; ++w) {
    if (!b.arrived[w]) continue;
    for (uint32_t u = 0; u < s.warps; ++u) joined[u] = std::max(joined[u], s.clocks[w].seen[u]);
    joined[w] = std::max(joined[w], s.clocks[w].epoch);
  }
  for (uint32_t w = 0; w < s.warps; ++w) {
    WarpClock& clock = s.clocks[w];
    if (b.waiting[w]) {
      for (uint32_t u = 0; u < s.warps; ++u) clock.seen[u] = std::max(clock.seen[u], joined[u]);
      bool all = (b.waiting[w] & b.arrived[w]) == ~0u;
      if (all) std::fill(&clock.lanes[0][0], &clock.lanes[0][0] + kLanes * kLanes, clock.epoch);
      for (uint32_t i = 0; i < kLanes && !all; ++i) {
        for (uint32_t k = 0; k < kLanes; ++k) {
          if ((b.waiting[w] >> i & 1) && (b.arrived[w] >> k & 1)) clock.lanes[i][k] = clock.epoch;
        }
      }
    }
  }
  for (uint32_t w = 0; w < s.warps; ++w) {
    if (b.arrived[w]) ++s.clocks[w].epoch;
  }
}

// All have arrived: who waits goes on, and the barrier is ready to be used again.
void close(BlockState& s, BarrierState& b) {
  BarrierState next;
  next.completed = true, next.before = b.expected;
  for (uint32_t w = 0; w < s.warps; ++w) {
    next.waited[w] = b.waiting[w], next.epoch[w] = s.clocks[w].epoch;
  }
  order(s, b);
  b = next;
}

void report_completion(const CheckCall& call, const BarrierState& b, uint32_t number) {
  BlockState& s = call.state;
  uint32_t ended = ended_thread(s);
  if (!b.expected && ended != UINT32_MAX && call.site.kind == SiteKind::barrier) {
    uint32_t thread = call.worker.warp * kLanes + first_lane(call.lanes);
    report_barrier(call, thread, "barrier not reached by all",
                   "barrier " + std::to_string(number) + " of all threads of the block",
                   std::to_string(count_ended(s)) + " threads ended without coming to it, thread " +
                       thread_name(call.launch, ended) + " for one");
  }
  for (uint32_t w = 0; w < s.warps; ++w) {
    uint32_t missing = live_lanes(s, w) & ~b.arrived[w];
    if (!b.arrived[w] || !missing || !b.aligned) continue;
    CheckCall there = {call.worker, call.launch, call.check,
                       call.state,  b.site[w],   call.check.sites[b.site[w]],
                       call.lanes};
    report_barrier(there, w * kLanes + first_lane(b.arrived[w]), "barrier in divergent code",
                   "a part of a warp comes to barrier " + std::to_string(number),
                   "thread " + thread_name(call.launch, w * kLanes + first_lane(missing)) +
                       " of the same warp does not");
  }
}

void complete_if_all(const CheckCall& call, uint32_t number) {
  BarrierState& b = call.state.barriers[number];
  if (!b.open || !complete(call.state, b)) return;
  report_completion(call, b, number);
  close(call.state, b);
}

// Whether a warp surely comes after the last completion: it waited there, or has met since somebody
// who did.
bool comes_after(const BlockState& s, const BarrierState& b, uint32_t warp) {
  for (uint32_t w = 0; w < s.warps; ++w) {
    if (b.waited[w] && (w == warp || s.clocks[warp].seen[w] > b.epoch[w])) return true;
  }
  return false;
}

void check_count(const CheckCall& call, const BarrierState& b, uint32_t number, uint32_t count,
                 uint32_t thread) {
  std::string name = "barrier " + std::to_string(number);
  uint32_t most = call.state.warps * kLanes;
  if ((call.site.flags & kCounted) && (count == 0 || count % kLanes || count > most)) {
    report_barrier(call, thread, "wrong barrier count",
                   name + " for " + std::to_string(count) + " threads",
                   count > most ? "the block has " + std::to_string(call.state.threads) + " threads"
                                : "a count must be a multiple of 32, and not 0");
  } else if (b.open && b.expected != count) {
    report_barrier(call, thread, "wrong barrier count",
                   name + " for " + (count ? std::to_string(count) : "all") + " threads",
                   "others wait there for " + (b.expected ? std::to_string(b.expected) : "all"));
  } else if (b.completed && b.before != count && !comes_after(call.state, b, call.worker.warp)) {
    report_barrier(call, thread, "wrong barrier count",
                   name + " for " + (count ? std::to_string(count) : "all") + " threads",
                   "others wait there for " + (b.before ? std::to_string(b.before) : "all") +
                       ", and nothing says who comes first");
  }
}

void arrive(const CheckCall& call, uint32_t number, uint32_t count, uint32_t lanes) {
  BarrierState& b = call.state.barriers[number];
  uint32_t warp = call.worker.warp, thread = warp * kLanes + first_lane(lanes);
  check_count(call, b, number, count, thread);
  bool aligned = call.site.flags & kAligned;
  if (aligned && b.arrived[warp] && b.site[warp] != call.number) {
    const CheckedSite& other = call.check.sites[b.site[warp]];
    report_barrier(call, thread, "barrier in divergent code",
                   "a part of a warp comes to barrier " + std::to_string(number),
                   "thread " +
                       thread_name(call.launch, warp * kLanes + first_lane(b.arrived[warp])) +
                       " of the same warp waits at " + site_name(other));
  }
  if (!b.open) b.open = true, b.expected = count, b.aligned = aligned;
  b.aligned = b.aligned && aligned;
  b.arrived[warp] |= lanes, b.site[warp] = call.number;
  if (!(call.site.flags & kArrives)) b.waiting[warp] |= lanes;
  complete_if_all(call, number);
}

}  // namespace

void check_barrier(CheckCall& call, const int64_t* numbers, const int64_t* counts) {
  uint32_t rest = call.lanes;
  while (rest) {
    uint32_t lane = first_lane(rest), same = 0;
    for (uint32_t l = lane; l < kLanes; ++l) {
      bool alike = numbers[l] == numbers[lane] && counts[l] == counts[lane];
      if ((rest >> l & 1) && alike) same |= 1u << l;
    }
    uint32_t count = call.site.flags & kCounted ? static_cast<uint32_t>(counts[lane]) : 0;
    arrive(call, static_cast<uint32_t>(numbers[lane]) % kBarriers, count, same);
    rest &= ~same;
  }
}

void check_members(CheckCall& call, const int64_t* masks, bool barrier) {
  bool orders = barrier && call.check.race;
  uint32_t warp = call.worker.warp, live = live_lanes(call.state, warp);
  bool told = false;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!(call.lanes >> lane & 1)) continue;
    auto mask = static_cast<uint32_t>(masks[lane]);
    uint32_t thread = warp * kLanes + lane, absent = mask & live;
    for (uint32_t k = 0; k < kLanes; ++k) {
      if ((call.lanes >> k & 1) && static_cast<uint32_t>(masks[k]) == mask) absent &= ~(1u << k);
    }
    // Who is at another barrier of the warp has been waited for, or the kernel would not go on.
    if (barrier) absent &= call.lanes;
    char text[64];
    snprintf(text, sizeof text, "the mask 0x%08x", mask);
    if (!told && !(mask >> lane & 1)) {
      report_barrier(call, thread, "wrong member mask", text,
                     "it does not name the thread that gives it");
      told = true;
    } else if (!told && absent) {
      report_barrier(
          call, thread, "wrong member mask", text,
          "it names thread " + thread_name(call.launch, warp * kLanes + first_lane(absent)) +
              (absent & call.lanes ? ", which gives another mask" : ", which does not take part"));
      told = true;
    }
    if (!orders) continue;
    WarpClock& clock = call.state.clocks[warp];
    for (uint32_t k = 0; k < kLanes; ++k) {
      if (mask >> k & 1) clock.lanes[lane][k] = clock.epoch;
    }
  }
  if (orders) ++call.state.clocks[warp].epoch;
}

void check_exit(CheckCall& call) {
  call.state.exited[call.worker.warp] |= call.lanes;
  for (uint32_t number = 0; number < kBarriers; ++number) {
    BarrierState& b = call.state.barriers[number];
    if (!b.open || b.expected || !complete(call.state, b)) continue;
    uint32_t warp = 0;
    while (!b.arrived[warp]) ++warp;
    uint32_t thread = call.worker.warp * kLanes + first_lane(call.lanes);
    CheckCall there = {call.worker,    call.launch,  call.check,
                       call.state,     b.site[warp], call.check.sites[b.site[warp]],
                       b.arrived[warp]};
    report_barrier(there, warp * kLanes + first_lane(b.arrived[warp]), "barrier not reached by all",
                   "barrier " + std::to_string(number) + " of all threads of the block",
                   std::to_string(count_ended(call.state)) +
                       " threads ended without coming to it, thread " +
                       thread_name(call.launch, thread) + " for one");
    close(call.state, b);
  }
}

namespace {

// Lanes that wait for others of their warp, which wait elsewhere: the compiled code left its line.
void report_lanes_that_wait(const AwWorker& worker, CheckedWorker& mine) {
  if (worker.barrier_id != UINT32_MAX) return;
  auto& sites = mine.check->sites;
  for (uint32_t n = 0; n < sites.size(); ++n) {
    bool members = sites[n].kind == SiteKind::members || sites[n].kind == SiteKind::warp;
    if (!members || sites[n].ptx_line != worker.line) continue;
    uint32_t lanes = live_lanes(*mine.state, worker.warp);
    CheckCall call = {worker, *mine.launch, *mine.check, *mine.state, n, sites[n], lanes};
    report_barrier(call, worker.warp * kLanes + worker.trap_lane % kLanes, "wrong member mask",
                   "the member mask", "it names threads that wait elsewhere and never take part");
    return;
  }
}

}  // namespace

void report_deadlock(const AwWorker& worker) {
  auto* mine = static_cast<CheckedWorker*>(worker.host);
  if (!mine || !mine->state || !mine->check->sync) return;
  BlockState& s = *mine->state;
  report_lanes_that_wait(worker, *mine);
  for (uint32_t number = 0; number < kBarriers; ++number) {
    BarrierState& b = s.barriers[number];
    if (!b.open) continue;
    uint32_t warp = 0, count = 0, absent = UINT32_MAX;
    while (warp + 1 < s.warps && !b.arrived[warp]) ++warp;
    if (!b.arrived[warp]) continue;
    for (uint32_t w = 0; w < s.warps; ++w) {
      count += static_cast<uint32_t>(__builtin_popcount(b.arrived[w]));
      uint32_t missing = live_lanes(s, w) & ~b.arrived[w];
      if (missing && absent == UINT32_MAX) absent = w * kLanes + first_lane(missing);
    }
    CheckCall call = {worker,         *mine->launch,
                      *mine->check,   s,
                      b.site[warp],   mine->check->sites[b.site[warp]],
                      b.arrived[warp]};
    report_barrier(call, warp * kLanes + first_lane(b.arrived[warp]), "deadlock",
                   std::to_string(count) + " threads wait at barrier " + std::to_string(number) +
                       (b.expected ? " for " + std::to_string(b.expected) : ""),
                   absent == UINT32_MAX
                       ? std::to_string(count_ended(s)) + " threads have ended"
                       : "thread " + thread_name(*mine->launch, absent) + " waits elsewhere");
  }
}

}  // namespace aw
