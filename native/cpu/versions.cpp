#include "cpu/versions.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <functional>

#include "core/log.h"
#include "core/settings.h"
#include "core/status.h"

namespace aw {
namespace {

// From this much PTX on, code that is compiled soon runs first: it takes about a quarter of the
// time to compile and runs half as fast (benchmarks/tiers.py); kernels of less compile in 20 ms as
// it is.
constexpr uint64_t kLongText = 3 << 10;
constexpr double kFullPerQuick = 5;     // how much longer the full compilation takes, about
constexpr unsigned kTrials = 4;         // measured launches of each side before one is chosen
constexpr double kWorthKeeping = 1.03;  // a variant may be that much slower: noise

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

Versions::Versions(KernelRequest request, std::shared_ptr<KernelCode> general, bool quick)
    : request_(std::move(request)), general_(std::move(general)), quick_(quick) {
  full_.options = special_.options = request_.options;
}

std::shared_ptr<Versions> Versions::obtain(KernelRequest request, uint64_t text_bytes) {
  bool tiers = settings().versions == VersionPolicy::automatic && text_bytes >= kLongText &&
               request.options.checks.empty();
  std::shared_ptr<KernelCode> code;
  bool quick = false;
  if (tiers) {
    if (auto found = cached_kernel(request)) {
      code = loaded(request, std::move(*found));
    } else {
      KernelRequest soon = request;
      soon.options.quick = quick = true;
      code = load(soon, true);
    }
  } else {
    code = load(request, true);
  }
  return std::shared_ptr<Versions>(new Versions(std::move(request), std::move(code), quick));
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

// Chooses between the version in use and its variant. The lock is held.
Versions::Choice Versions::pick(Variant& variant, uint64_t blocks) {
  using State = Variant::State;
  if (variant.state == State::unasked) look_for(variant);
  if (variant.state == State::adopted) return {variant.code, false};
  if (variant.state != State::trial) return {general_, variant.state == State::unasked};
  if (!variant.blocks) variant.blocks = blocks;
  if (variant.blocks != blocks) return {variant.code, false};
  return {variant.turn++ % 2 ? variant.code : general_, true};
}

// Takes the variant from the cache, where an earlier process left it, or has it compiled once what
// the kernel has cost so far is more than a compilation. The lock is held.
void Versions::look_for(Variant& variant) {
  KernelRequest wanted = request_;
  wanted.options = variant.options;
  if (settings().versions == VersionPolicy::best) return compile(variant, wanted);
  if (variant.turn++ == 0) {
    if (auto found = cached_kernel(wanted))
      return enter(variant, loaded(wanted, std::move(*found)));
  }
  double expected = general_->artifact.compile_ms * (quick_ ? kFullPerQuick : 1);
  if (static_cast<double>(spent_ns_) < expected * 1e6) return;
  variant.state = Variant::State::asked;
  background().add([self = shared_from_this(), &variant, wanted] {
    auto code = try_to_load(wanted, false);
    std::lock_guard lock(self->mutex_);
    self->enter(variant, std::move(code));
  });
}

// Compiles the variant while the launch waits, and takes it without a trial. The lock is held.
void Versions::compile(Variant& variant, const KernelRequest& wanted) {
  variant.state = Variant::State::dropped;
  variant.code = try_to_load(wanted, true);
  if (variant.code) variant.state = Variant::State::adopted;
}

// The lock is held.
void Versions::enter(Variant& variant, std::shared_ptr<KernelCode> code) {
  variant.state = code ? Variant::State::trial : Variant::State::dropped;
  variant.code = std::move(code);
  variant.turn = 0;
}

void Versions::ran(const Choice& choice, uint64_t blocks, uint64_t nanoseconds) {
  std::lock_guard lock(mutex_);
  spent_ns_ += nanoseconds;
  Variant& variant = quick_ ? full_ : special_;
  if (variant.state != Variant::State::trial || variant.blocks != blocks) return;
  size_t side = choice.code == variant.code;
  variant.best[side] = std::min(variant.best[side], nanoseconds);
  ++variant.runs[side];
  if (variant.runs[0] >= kTrials && variant.runs[1] >= kTrials) decide(variant);
}

// Keeps the side whose best run was faster. The lock is held.
void Versions::decide(Variant& variant) {
  bool better =
      static_cast<double>(variant.best[1]) <= static_cast<double>(variant.best[0]) * kWorthKeeping;
  say(LogLevel::info, "kernel " + request_.kernel + ": " + std::to_string(variant.best[0]) +
                          " ns, compiled with \"" + write_options(variant.options) + "\" " +
                          std::to_string(variant.best[1]) + " ns: " + (better ? "taken" : "left"));
  variant.state = better ? Variant::State::adopted : Variant::State::dropped;
  if (&variant != &full_) {
    if (!better) variant.code = nullptr;
    return;
  }
  if (better) general_ = variant.code;
  quick_ = false;
  spent_ns_ = 0;
}

}  // namespace aw
