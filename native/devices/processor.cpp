// The device that every machine has: blocks run on a pool of threads, device memory is host memory.
#include "devices/processor.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "core/host_services.h"
#include "core/settings.h"
#include "core/status.h"
#include "devices/check.h"
#include "devices/device_calls.h"
#include "devices/fault_report.h"
#include "devices/faults.h"
#include "devices/float_control.h"
#include "devices/memory_nodes.h"
#include "devices/tiles.h"
#include "devices/worker_pool.h"

namespace aw {
namespace {

constexpr uint64_t kLargeAllocation = 64 << 10, kHugePage = 2 << 20;
constexpr uint64_t kWorthWaking = 30'000;  // nanoseconds of work for which other threads are woken
constexpr uint64_t kPiece =
    2'000;  // nanoseconds of work beside which claiming a piece costs little
constexpr uint64_t kSurelyLarge =
    1 << 14;  // threads of a grid never seen before that are taken to be worth it
constexpr uint64_t kMostScratch = 1ull << 34;
constexpr size_t kMostPaused = 4096;  // blocks of one thread that wait for others at a time

uint64_t page_size() {
  static const uint64_t size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

uint64_t round_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

// Pages of its own for each, so that processes can share one without sharing its neighbours.
// Small ones follow each other without a gap: the kernel keeps them as one mapping.
void* allocate_small(uint64_t bytes) {
  void* memory = mmap(nullptr, round_up(bytes ? bytes : 1, page_size()), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Memory below 2^31. Only Linux for x86-64 has a flag for that; elsewhere free places are tried in
// turn.
void* map_low(uint64_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_32BIT
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_32BIT, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
#else
  constexpr uint64_t kFirst = 1 << 28, kStep = 1 << 24, kEnd = 1ull << 31;
  for (uint64_t place = kFirst; place + bytes <= kEnd; place += kStep) {
    void* memory = mmap(reinterpret_cast<void*>(place), bytes, PROT_READ | PROT_WRITE,
                        flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == reinterpret_cast<void*>(place)) return memory;
    if (memory != MAP_FAILED) munmap(memory, bytes);  // a kernel before 4.17 takes it as a wish
  }
  return nullptr;
#endif
}

// The nodes of memory beside the processors that blocks run on, where there are several.
const NodeSet& nodes_to_share() {
  static const NodeSet nodes = [] {
    cpu_set_t processors;
    NodeSet found;
    if (settings().threads > 1 && sched_getaffinity(0, sizeof processors, &processors) == 0)
      found = memory_nodes("/sys/devices/system/node", processors);
    return count(found) > 1 ? found : NodeSet{};
  }();
  return nodes;
}

// Address space that begins at a multiple of `align`, with no access to it yet.
void* reserve(uint64_t bytes, uint64_t align) {
  uint64_t extra = align - page_size();
  void* memory =
      mmap(nullptr, bytes + extra, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto begin = reinterpret_cast<uint64_t>(memory), good = round_up(begin, align);
  if (good > begin) munmap(memory, good - begin);
  if (good < begin + extra) munmap(reinterpret_cast<void*>(good + bytes), begin + extra - good);
  return reinterpret_cast<void*>(good);
}

}  // namespace

void* processor::allocate(uint64_t bytes) {
  if (bytes < kLargeAllocation) return allocate_small(bytes);
  // A page that nothing may touch follows each, so that running over the end is a fault and not a
  // wrong number.
  uint64_t whole = round_up(bytes, page_size());
  if (whole < bytes || whole > UINT64_MAX - 2 * kHugePage) return nullptr;
  bool huge = whole >= kHugePage;
  void* memory = reserve(whole + page_size(), huge ? kHugePage : page_size());
  if (!memory) return nullptr;
  if (mprotect(memory, whole, PROT_READ | PROT_WRITE) != 0) {
    munmap(memory, whole + page_size());
    return nullptr;
  }
  if (huge) {
    madvise(memory, whole, MADV_HUGEPAGE);
    if (!nodes_to_share().empty()) spread(memory, whole, nodes_to_share());
  }
  return memory;
}

void* processor::allocate_narrow(uint64_t bytes) {
  if (bytes > INT32_MAX) return nullptr;
  uint64_t whole = round_up(bytes ? bytes : 1, page_size());
  uint64_t guard = bytes < kLargeAllocation ? 0 : page_size();
  void* memory = map_low(whole + guard);
  if (!memory) return nullptr;
  if (guard) mprotect(static_cast<char*>(memory) + whole, guard, PROT_NONE);
  return memory;
}

bool processor::rest(void* memory, uint64_t bytes) {
#ifdef MADV_FREE
  return madvise(memory, round_up(bytes, page_size()), MADV_FREE) == 0;
#else
  static_cast<void>(memory), static_cast<void>(bytes);
  return false;
#endif
}

bool processor::may_be_cut(uint64_t bytes) {
  return bytes >= kLargeAllocation && bytes < kHugePage;
}

// Where the system has no room for another mapping, the guard behind all of it remains.
void processor::cut(void* memory, uint64_t bytes) {
  mprotect(static_cast<char*>(memory) + bytes, page_size(), PROT_NONE);
}

bool processor::join(void* memory, uint64_t bytes) {
  return mprotect(static_cast<char*>(memory) + bytes, page_size(), PROT_READ | PROT_WRITE) == 0;
}

void processor::release(void* memory, uint64_t bytes) {
  uint64_t guard = bytes < kLargeAllocation ? 0 : page_size();
  munmap(memory, round_up(bytes ? bytes : 1, page_size()) + guard);
}

uint64_t processor::free_memory() {
  return static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page_size();
}

std::shared_ptr<KernelCode> processor::load(KernelArtifact artifact) {
  auto code = std::make_shared<KernelCode>();
  code->object = load_object(artifact.container.payload(), artifact.symbol);
  code->entry = reinterpret_cast<AwKernel>(code->object->entry);
  artifact.container.bytes.clear();
  artifact.container.bytes.shrink_to_fit();
  artifact.container.payload_at = 0;
  code->artifact = std::move(artifact);
  code->sites = read_sites(code->artifact);
  return code;
}

namespace {

// Memory of one worker thread for the block it runs: shared memory, states across barriers, local
// memory. Grows, and is kept for the next launch.
class Scratch {
 public:
  Scratch() = default;
  Scratch(Scratch&& other) noexcept { *this = std::move(other); }
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(base_, other.base_), std::swap(memory_, other.memory_),
        std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Scratch() { drop(); }

  // False when there is no memory of that size.
  bool fit(AwWorker& worker, uint64_t shared, uint64_t frame, uint64_t local) {
    uint64_t a = round_up(shared, 64), b = round_up(frame, 64), c = round_up(local, 64);
    uint64_t needed = a + b + c + 64;
    if (shared > kMostScratch || frame > kMostScratch || local > kMostScratch ||
        needed > kMostScratch)
      return false;
    if (needed > bytes_ && !grow(round_up(needed, page_size()))) return false;
    worker.shared = memory_;
    worker.frame = memory_ + a;
    worker.local = memory_ + a + b;
    return true;
  }

 private:
  bool grow(uint64_t bytes) {
    drop();
    // Between pages that nothing may write, and the second may not be read, as above.
    void* whole = mmap(nullptr, bytes + 2 * page_size(), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (whole == MAP_FAILED) return false;
    base_ = static_cast<uint8_t*>(whole), bytes_ = bytes, memory_ = base_ + page_size();
    if (mprotect(memory_, bytes, PROT_READ | PROT_WRITE) != 0) return false;
    // A load under a mask whose lanes in front of shared memory are off (`s[i - 1]` but for i = 0)
    // takes hundreds of cycles where these lanes' page cannot be read, or is not there yet.
    if (mprotect(base_, page_size(), PROT_READ) != 0) return false;
    static_cast<void>(*static_cast<const volatile uint8_t*>(base_));
    return true;
  }
  void drop() {
    if (base_) munmap(base_, bytes_ + 2 * page_size());
    base_ = nullptr, bytes_ = 0;
  }

  uint8_t* base_ = nullptr;
  uint8_t* memory_ = nullptr;
  uint64_t bytes_ = 0;
};

uint64_t threads_of(const AwLaunch& l) { return uint64_t{l.block[0]} * l.block[1] * l.block[2]; }
uint64_t blocks_of(const AwLaunch& l) { return uint64_t{l.grid[0]} * l.grid[1] * l.grid[2]; }

uint64_t nanoseconds() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// One grid being run.
class Grid : public Job {
 public:
  template <typename... Pieces>
  Grid(const KernelRun& run, Pieces... pieces) : Job(pieces...), run_(run) {}

  void run(unsigned worker) override {
    Worker w;
    if (prepare(w, worker)) run_all(w, {});
  }

  // Runs one chunk on the calling thread; false when there is none left or it failed. If a block
  // waits for others, all that are left are run.
  bool run_one_chunk() {
    Worker w;
    Blocks blocks;
    if (!prepare(w, 0) || !(blocks.count = claim(&blocks.first))) return false;
    switch (run_blocks(w, blocks)) {
      case Outcome::done:
        return true;
      case Outcome::failed:
        return false;
      case Outcome::paused:
        run_all(w, blocks);
        return false;
    }
    return false;
  }

  RunResult take_result() {
    std::lock_guard lock(mutex_);
    return result_;
  }

 private:
  // A block that waits for others is put aside with its memory.
  struct Paused {
    AwWorker record;
    uint64_t block;
    Scratch memory;
  };
  struct Worker {
    AwWorker record;
    std::deque<std::unique_ptr<Paused>> paused;
  };
  struct Blocks {
    uint64_t first = 0, count = 0;
  };
  enum class Outcome { done, failed, paused };

  static Scratch& scratch() {
    thread_local Scratch instance;
    return instance;
  }

  // Runs `blocks` and then whatever can be claimed. Blocks are started in order and as soon as
  // possible, so that those that wait for one meet it; when there are enough, they take turns.
  void run_all(Worker& w, Blocks blocks) {
    for (;;) {
      bool more =
          blocks.count || (w.paused.size() < kMostPaused && (blocks.count = claim(&blocks.first)));
      Outcome outcome = Outcome::done;
      if (more) {
        outcome = run_blocks(w, blocks);
      } else if (!w.paused.empty()) {
        outcome = resume_one(w);
      } else {
        return;
      }
      if (outcome == Outcome::failed) return;
      if (outcome == Outcome::done && more) blocks = {};
      if (w.paused.size() >= kMostPaused && blocks.count && !take_turns(w)) return;
    }
  }

  // All memory for waiting blocks is taken, and this worker must go on with blocks that it has
  // claimed: lets those that wait run until one is done. False when one failed.
  bool take_turns(Worker& w) {
    while (w.paused.size() >= kMostPaused) {
      if (resume_one(w) == Outcome::failed) return false;
    }
    return true;
  }

  // Goes on with the block that has waited longest.
  Outcome resume_one(Worker& w) {
    if (cancelled()) return Outcome::failed;
    std::unique_ptr<Paused> one = std::move(w.paused.front());
    w.paused.pop_front();
    Worker again;
    again.record = one->record;
    again.record.resume = 1;
    Outcome outcome = enter(again, one->block, 1);
    if (outcome == Outcome::paused) {
      one->record = again.record;
      w.paused.push_back(std::move(one));
      std::this_thread::yield();  // what it waits for may run on another thread
    }
    return outcome;
  }

  // Runs `blocks`; when one pauses it is put aside, and `blocks` are those behind it.
  Outcome run_blocks(Worker& w, Blocks& blocks) {
    Outcome outcome = enter(w, blocks.first, blocks.count);
    if (outcome != Outcome::paused) return outcome;
    const AwLaunch& l = run_.launch;
    auto one = std::make_unique<Paused>();
    one->record = w.record;
    one->block = (uint64_t{w.record.ctaid[2]} * l.grid[1] + w.record.ctaid[1]) * l.grid[0] +
                 w.record.ctaid[0];
    std::swap(one->memory, scratch());
    blocks = {one->block + 1, blocks.first + blocks.count - one->block - 1};
    unsigned number = w.record.worker_id;
    w.paused.push_back(std::move(one));
    return prepare(w, number) ? outcome : Outcome::failed;
  }

  bool prepare(Worker& w, unsigned number) {
    const KernelArtifact& a = run_.code->artifact;
    uint64_t threads = threads_of(run_.launch), warps = (threads + 31) / 32;
    w.record = {};
    w.record.worker_id = number;
    if (run_.launch.check) attach_checks(run_.launch, w.record);
    unsigned __int128 frame = (unsigned __int128){a.frame_per_warp} * warps + a.frame_fixed;
    unsigned __int128 local =
        (unsigned __int128){a.local} * warps * 32;  // whole warps: lanes' copies lie side by side
    bool fits = frame <= kMostScratch && local <= kMostScratch &&
                scratch().fit(w.record, run_.launch.shared_total, static_cast<uint64_t>(frame),
                              static_cast<uint64_t>(local));
    if (!fits) fail({2, "kernel " + a.name + ": there is no memory for its local variables"});
    prepare_for_faults();
    return fits;
  }

  Outcome enter(Worker& w, uint64_t first, uint64_t count) {
    FaultFrame frame;
    volatile int32_t status = AW_OK;
    volatile bool faulted = true;
    set_device_calls(run_.calls);
    {
      processor::UsualFloatControl usual;
      if (sigsetjmp(frame.resume, 0) == 0) {
        set_fault_frame(&frame);
        status = run_.code->entry(&run_.launch, &w.record, first, count);
        set_fault_frame(nullptr);
        faulted = false;
      }
    }
    if (faulted) release_tiles();
    if (!faulted && status == AW_OK) return Outcome::done;
    if (!faulted && status == AW_PAUSED) {
      if (run_.launch.check) keep_checked_block(w.record);
      return Outcome::paused;
    }
    const KernelArtifact& a = run_.code->artifact;
    if (!faulted && status == AW_DEADLOCK && run_.launch.check) report_deadlock(w.record);
    if (!begin_failing()) return Outcome::failed;
    if (!faulted && status == AW_DEADLOCK) find_waiting(a, run_.launch, w.record);
    RunResult result = faulted ? explain_fault(a.name, run_.launch, w.record, frame)
                               : explain_status(a.name, run_.launch, w.record, status);
    result.text += faulted ? place_in_source(*run_.code, frame.instruction, 0)
                           : place_in_source(*run_.code, 0, w.record.line);
    fail(std::move(result));
    return Outcome::failed;
  }

  // Stops the others; true for the one whose error is told.
  bool begin_failing() {
    cancel();
    return !failing_.exchange(true);
  }

  void fail(RunResult result) {
    std::lock_guard lock(mutex_);
    cancel();
    if (!result_.code) result_ = std::move(result);
  }

  const KernelRun& run_;
  std::mutex mutex_;
  RunResult result_;
  std::atomic<bool> failing_{false};
};

// Every block of a cooperative grid may wait for every other, so each gets a thread of its own.
RunResult run_all_resident(const KernelRun& run, uint64_t blocks) {
  Grid grid(run, blocks, uint64_t{1});
  std::vector<std::thread> threads;
  try {
    for (uint64_t i = 1; i < blocks; ++i) {
      threads.emplace_back([&grid, i] { grid.run(static_cast<unsigned>(i)); });
    }
  } catch (const std::system_error&) {
    grid.cancel();
    for (auto& thread : threads) thread.join();
    return {701, "kernel " + run.code->artifact.name +
                     ": there are no threads for a cooperative launch"};
  }
  grid.run_one_chunk();
  for (auto& thread : threads) thread.join();
  return grid.take_result();
}

}  // namespace

WorkerPool& processor::pool() {
  static WorkerPool& instance = *new WorkerPool(settings().threads);
  return instance;
}

RunResult processor::run(const KernelRun& run) {
  uint64_t blocks = blocks_of(run.launch), threads = threads_of(run.launch);
  if (run.all_resident && blocks > 1) return run_all_resident(run, blocks);
  unsigned width = pool().threads();
  if (run.most_threads) width = std::min(width, run.most_threads);
  auto* code = const_cast<KernelCode*>(run.code);
  uint64_t begin = nanoseconds(), known = code->ns_per_block.load(std::memory_order_relaxed);
  bool large = known ? known > kWorthWaking || known * blocks > kWorthWaking
                     : blocks * threads >= kSurelyLarge;
  // A grid for one thread, and one known to be small, is run in one piece.
  bool whole = width == 1 || (known && !large);
  uint64_t largest = whole ? blocks : std::max<uint64_t>(1, blocks / (uint64_t{width} * 16));
  uint64_t smallest = known ? std::max<uint64_t>(1, kPiece / known) : 1;
  Grid grid(run, blocks, largest, smallest, whole ? 1 : width);
  if (!whole && !large && blocks > 1) {
    while (!large && grid.run_one_chunk()) {
      uint64_t done = blocks - grid.left(), spent = nanoseconds() - begin;
      large = grid.left() && spent / done * grid.left() > kWorthWaking;
    }
  }
  bool shared = blocks > 1 && large && width > 1;
  if (shared)
    pool().offer(grid, static_cast<unsigned>(std::min<uint64_t>(grid.left(), width) -
                                             (grid.left() ? 1 : 0)));
  if (grid.left()) grid.run(0);
  if (shared) pool().finish(grid);
  uint64_t spent = (nanoseconds() - begin) * (shared ? width : 1) / blocks;
  code->ns_per_block.store(std::max<uint64_t>(spent, 1), std::memory_order_relaxed);
  return grid.take_result();
}

}  // namespace aw
