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
constexpr double kWorthKeeping = 1.03;  // a rival may be that much slower: noise

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
  const auto& wishes = general_->artifact.wishes;
  if (wishes.empty() || !holds(wishes, params)) return {general_, false};
  if (special_.options.multiples.empty()) special_.options.multiples = wishes;
  return pick(special_, blocks);
}

// Chooses between the version in use and its rival. The lock is held.
Versions::Choice Versions::pick(Rival& rival, uint64_t blocks) {
  using State = Rival::State;
  if (rival.state == State::unasked) look_for(rival);
  if (rival.state == State::adopted) return {rival.code, false};
  if (rival.state != State::trial) return {general_, rival.state == State::unasked};
  if (!rival.blocks) rival.blocks = blocks;
  if (rival.blocks != blocks) return {rival.code, false};
  return {rival.turn++ % 2 ? rival.code : general_, true};
}

// Takes the rival from the cache, where an earlier process left it, or has it compiled once what
// the kernel has cost so far is more than a compilation. The lock is held.
void Versions::look_for(Rival& rival) {
  KernelRequest wanted = request_;
  wanted.options = rival.options;
  if (settings().versions == VersionPolicy::best) return compile(rival, wanted);
  if (rival.turn++ == 0) {
    if (auto found = cached_kernel(wanted)) return enter(rival, loaded(wanted, std::move(*found)));
  }
  double expected = general_->artifact.compile_ms * (quick_ ? kFullPerQuick : 1);
  if (static_cast<double>(spent_ns_) < expected * 1e6) return;
  rival.state = Rival::State::asked;
  background().add([self = shared_from_this(), &rival, wanted] {
    auto code = try_to_load(wanted, false);
    std::lock_guard lock(self->mutex_);
    self->enter(rival, std::move(code));
  });
}

// Compiles the rival while the launch waits, and takes it without a trial. The lock is held.
void Versions::compile(Rival& rival, const KernelRequest& wanted) {
  rival.state = Rival::State::dropped;
  rival.code = try_to_load(wanted, true);
  if (rival.code) rival.state = Rival::State::adopted;
}

// The lock is held.
void Versions::enter(Rival& rival, std::shared_ptr<KernelCode> code) {
  rival.state = code ? Rival::State::trial : Rival::State::dropped;
  rival.code = std::move(code);
  rival.turn = 0;
}

void Versions::ran(const Choice& choice, uint64_t blocks, uint64_t nanoseconds) {
  std::lock_guard lock(mutex_);
  spent_ns_ += nanoseconds;
  Rival& rival = quick_ ? full_ : special_;
  if (rival.state != Rival::State::trial || rival.blocks != blocks) return;
  size_t side = choice.code == rival.code;
  rival.best[side] = std::min(rival.best[side], nanoseconds);
  ++rival.runs[side];
  if (rival.runs[0] >= kTrials && rival.runs[1] >= kTrials) decide(rival);
}

// Keeps the side whose best run was faster. The lock is held.
void Versions::decide(Rival& rival) {
  bool better =
      static_cast<double>(rival.best[1]) <= static_cast<double>(rival.best[0]) * kWorthKeeping;
  say(LogLevel::info, "kernel " + request_.kernel + ": " + std::to_string(rival.best[0]) +
                          " ns, compiled with \"" + write_options(rival.options) + "\" " +
                          std::to_string(rival.best[1]) + " ns: " + (better ? "taken" : "left"));
  rival.state = better ? Rival::State::adopted : Rival::State::dropped;
  if (&rival != &full_) {
    if (!better) rival.code = nullptr;
    return;
  }
  if (better) general_ = rival.code;
  quick_ = false;
  spent_ns_ = 0;
}

}  // namespace aw
