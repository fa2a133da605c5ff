#include "cpu/versions.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <utility>

#include "core/log.h"
#include "core/settings.h"
#include "core/status.h"

namespace aw {
namespace {

// From this much PTX on, code that is compiled soon runs first: it takes about a quarter of the
// time to compile and runs half as fast (benchmarks/tiers.py); kernels of less compile in 20 ms as
// it is.
constexpr uint64_t kLongText = 3 << 10;
constexpr double kFullPerQuick = 5;  // how much longer the full compilation takes, about
// What a full compilation takes per byte of PTX, about. A compiler that has just started takes
// longer for its first kernel, which says nothing of the next one.
constexpr double kMsPerByte = 0.06;
constexpr double kShare = 0.25;         // of a compilation that a kernel must have cost before
constexpr unsigned kTrials = 4;         // measured launches of each side before one is chosen,
constexpr unsigned kFewTrials = 2;      // or so many where one is
constexpr double kClearly = 1.25;       // times as fast
constexpr double kWorthKeeping = 1.03;  // a variant may be that much slower: noise
constexpr size_t kSizes = 8;            // of launches that are compared

std::shared_ptr<KernelCode> loaded(const KernelRequest& request, KernelArtifact artifact) {
  auto code = processor::load(std::move(artifact));
  code->request = std::make_shared<const KernelRequest>(request);
  return code;
}

std::shared_ptr<KernelCode> load(const KernelRequest& request, bool aloud) {
  return loaded(request, obtain_kernel(request, aloud));
}

// Null, and words for the user, when it cannot be had: what is in use goes on to serve.
std::shared_ptr<KernelCode> try_to_load(const KernelRequest& request, bool aloud) {
  try {
    return load(request, aloud);
  } catch (const Failure& failure) {
    say(LogLevel::warn, "kernel " + request.kernel + " could not be compiled with \"" +
                            write_options(request.options) + "\": " + failure.text);
    return nullptr;
  }
}

// One thread that compiles what nobody waits for.
class Background {
 public:
  void add(std::function<void()> task) {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    if (!started_) start();
    wanted_.notify_one();
  }

  // In a forked child the thread does not exist, and what it had to do is the parent's.
  void begin_anew() {
    new (&mutex_) std::mutex;
    new (&wanted_) std::condition_variable;
    tasks_.clear();
    started_ = false;
  }

 private:
  void start() {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);  // the program's signals are for its own threads
    pthread_t thread;
    started_ = pthread_create(&thread, nullptr, run, this) == 0;
    if (started_) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }

  static void* run(void* self) {
    pthread_setname_np(pthread_self(), "anywarp-compile");
    static_cast<Background*>(self)->work();
    return nullptr;
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wanted_.wait(lock, [&] { return !tasks_.empty(); });
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<std::function<void()>> tasks_;
  bool started_ = false;
};

Background& background() {
  static Background& instance = *[] {
    auto* made = new Background;
    pthread_atfork(nullptr, nullptr, [] { background().begin_anew(); });
    return made;
  }();
  return instance;
}

}  // namespace

Versions::Versions(KernelRequest request, std::shared_ptr<KernelCode> general, bool quick,
                   uint64_t text_bytes)
    : request_(std::move(request)),
      text_bytes_(text_bytes),
      general_(std::move(general)),
      quick_(quick) {
  full_.options = special_.options = request_.options;
}

std::shared_ptr<Versions> Versions::obtain(KernelRequest request, uint64_t text_bytes) {
  bool tiers = settings().versions == VersionPolicy::automatic && text_bytes >= kLongText &&
               request.options.checks.empty();
  std::shared_ptr<KernelCode> code;
  bool quick = false;
  if (tiers) {
    KernelRequest soon = request;
    soon.options.quick = true;
    if (auto found = cached_kernel(request)) {
      code = loaded(request, std::move(*found));
      if (auto known = compared(request); known && !known->better) {
        if (auto faster = cached_kernel(soon)) code = loaded(soon, std::move(*faster));
      }
    } else {
      quick = true;
      code = load(soon, true);
    }
  } else {
    code = load(request, true);
  }
  return std::shared_ptr<Versions>(
      new Versions(std::move(request), std::move(code), quick, text_bytes));
}

std::shared_ptr<KernelCode> Versions::general() const {
  std::lock_guard lock(mutex_);
  return general_;
}

Versions::Choice Versions::choose(const std::vector<uint8_t>& params, uint64_t blocks) {
  if (settings().versions == VersionPolicy::plain) return {general(), false};
  std::lock_guard lock(mutex_);
  if (quick_) return pick(full_, blocks);
  const auto& multiples = general_->artifact.variant;
  if (multiples.empty() || !holds(multiples, params)) return {general_, false};
  if (special_.options.multiples.empty()) special_.options.multiples = multiples;
  return pick(special_, blocks);
}

// Chooses between the version in use and its variant. What is in use is measured until there is a
// variant, so that only the variant's launches are needed then. The lock is held.
Versions::Choice Versions::pick(Variant& variant, uint64_t blocks) {
  using State = Variant::State;
  if (variant.state == State::unasked) look_for(variant);
  if (variant.state == State::adopted) return {variant.code, false};
  if (variant.state == State::dropped) return {general_, false};
  if (variant.state != State::trial) return {general_, true};
  const Times* times = variant.of(blocks);
  if (!times) return {variant.code, false};
  const auto& runs = times->runs;
  bool old = runs[0] < kTrials && (runs[1] >= kTrials || runs[0] <= runs[1]);
  return {old ? general_ : variant.code, true};
}

KernelRequest Versions::request_for(const Variant& variant) const {
  KernelRequest wanted = request_;
  wanted.options = variant.options;
  return wanted;
}

// Takes the variant from the cache, where an earlier process left it, or has it compiled, beside
// the program, once what the kernel has cost so far is a share of a compilation. The lock is held.
void Versions::look_for(Variant& variant) {
  KernelRequest wanted = request_for(variant);
  if (!std::exchange(variant.sought, true) && find(variant, wanted)) return;
  if (settings().versions == VersionPolicy::best) return enter(variant, try_to_load(wanted, true));
  double expected = general_->artifact.compile_ms * (quick_ ? kFullPerQuick : 1);
  if (text_bytes_) expected = std::min(expected, static_cast<double>(text_bytes_) * kMsPerByte);
  if (static_cast<double>(spent_ns_) < expected * kShare * 1e6) return;
  variant.state = Variant::State::asked;
  background().add([self = shared_from_this(), &variant, wanted] {
    auto code = try_to_load(wanted, false);
    std::lock_guard lock(self->mutex_);
    self->enter(variant, std::move(code));
  });
}

// Whether other processes have left the variant, or that it is not worth having. The lock is held.
bool Versions::find(Variant& variant, const KernelRequest& wanted) {
  auto known = compared(wanted);
  if (known && !known->better) {
    settle(variant, false);
    return true;
  }
  auto found = cached_kernel(wanted);
  if (!found) return false;
  enter(variant, loaded(wanted, std::move(*found)));
  if (known) settle(variant, true);
  return true;
}

// The lock is held.
void Versions::enter(Variant& variant, std::shared_ptr<KernelCode> code) {
  variant.state = code ? Variant::State::trial : Variant::State::dropped;
  variant.code = std::move(code);
}

void Versions::ran(const Choice& choice, uint64_t blocks, uint64_t nanoseconds) {
  std::lock_guard lock(mutex_);
  spent_ns_ += nanoseconds;
  Variant& variant = quick_ ? full_ : special_;
  bool trial = variant.state == Variant::State::trial;
  if (!trial && variant.state > Variant::State::asked) return;
  bool side = choice.code == variant.code;
  if (!side && choice.code != general_) return;  // of a comparison that is over
  Times* times = variant.of(blocks);
  if (!times) return;
  times->best[side] = std::min(times->best[side], nanoseconds);
  ++times->runs[side];
  if (trial && times->settled()) decide(variant, blocks);
}

// Null for more sizes than are compared.
Versions::Times* Versions::Variant::of(uint64_t blocks) {
  auto found = times.find(blocks);
  if (found == times.end()) {
    if (times.size() >= kSizes) return nullptr;
    found = times.try_emplace(blocks).first;
  }
  return &found->second;
}

bool Versions::Times::settled() const {
  if (runs[0] < kFewTrials || runs[1] < kFewTrials) return false;
  if (runs[0] >= kTrials && runs[1] >= kTrials) return true;
  auto old = static_cast<double>(best[0]), now = static_cast<double>(best[1]);
  return old > now * kClearly || now > old * kClearly;
}

bool Versions::Times::better() const {
  return static_cast<double>(best[1]) <= static_cast<double>(best[0]) * kWorthKeeping;
}

// Keeps the side whose best run was faster, and tells processes to come. The lock is held.
void Versions::decide(Variant& variant, uint64_t blocks) {
  const Times& times = *variant.of(blocks);
  bool better = times.better();
  say(LogLevel::info, "kernel " + request_.kernel + ": " + std::to_string(times.best[0]) +
                          " ns, compiled with \"" + write_options(variant.options) + "\" " +
                          std::to_string(times.best[1]) + " ns: " + (better ? "taken" : "left"));
  keep_comparison(request_for(variant), {blocks, times.best[0], times.best[1], better});
  settle(variant, better);
}

// The lock is held.
void Versions::settle(Variant& variant, bool better) {
  variant.state = better ? Variant::State::adopted : Variant::State::dropped;
  variant.times.clear();
  if (&variant != &full_) {
    if (!better) variant.code = nullptr;
    return;
  }
  if (better) general_ = variant.code;
  quick_ = false;
}

}  // namespace aw
