#include "devices/faults.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>

namespace aw {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr size_t kSignalStackBytes = 64 << 10;

// The threads that run kernels, in a list that only grows. The handler looks its thread up here,
// because touching a thread-local variable for the first time may allocate memory, and static ones
// are scarce in a library opened late.
struct ThreadSlot {
  std::atomic<pid_t> thread{0};  // 0: free
  std::atomic<FaultFrame*> frame{nullptr};
  ThreadSlot* next = nullptr;
};

std::atomic<ThreadSlot*> slots{nullptr};

pid_t thread_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }

ThreadSlot* find_slot(pid_t thread) {
  for (ThreadSlot* slot = slots.load(); slot; slot = slot->next) {
    if (slot->thread.load(std::memory_order_relaxed) == thread) return slot;
  }
  return nullptr;
}

ThreadSlot* take_slot() {
  pid_t mine = thread_id();
  for (ThreadSlot* slot = slots.load(); slot; slot = slot->next) {
    pid_t none = 0;
    if (slot->thread.compare_exchange_strong(none, mine)) return slot;
  }
  ThreadSlot* slot = new ThreadSlot;
  slot->thread = mine;
  slot->next = slots.load();
  while (!slots.compare_exchange_weak(slot->next, slot)) {
  }
  return slot;
}

struct OwnSlot {
  ThreadSlot* slot = take_slot();
  ~OwnSlot() {
    slot->frame = nullptr;
    slot->thread = 0;
  }
};

OwnSlot& own_slot() {
  thread_local OwnSlot own;
  return own;
}

struct sigaction previous[sizeof kSignals / sizeof kSignals[0]];

// A fault that is not ours goes to whoever was there before: the program's own handler, or the
// default.
void pass_on(int signal, siginfo_t* info, void* context) {
  for (size_t i = 0; i < sizeof kSignals / sizeof kSignals[0]; ++i) {
    if (kSignals[i] != signal) continue;
    const struct sigaction& old = previous[i];
    if (old.sa_flags & SA_SIGINFO) return old.sa_sigaction(signal, info, context);
    if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) return old.sa_handler(signal);
  }
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  // The instruction is executed again and ends the process, with the right signal and a core at the
  // right place.
}

uint64_t instruction_of(const void* context) {
#if defined(__x86_64__)
  return static_cast<uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
#else
  static_cast<void>(context);
  return 0;
#endif
}

void handle(int signal, siginfo_t* info, void* context) {
  ThreadSlot* slot = find_slot(thread_id());
  FaultFrame* frame = slot ? slot->frame.load() : nullptr;
  // A signal that somebody sent (si_code <= 0) is no fault of the kernel.
  if (!frame || info->si_code <= 0) return pass_on(signal, info, context);
  slot->frame = nullptr;
  frame->signal = signal;
  frame->code = info->si_code;
  frame->address = reinterpret_cast<uint64_t>(info->si_addr);
  frame->instruction = instruction_of(context);
  siglongjmp(frame->resume, 1);
}

// Puts our handler on top again if the program has installed one of its own meanwhile.
void install() {
  static std::mutex& mutex = *new std::mutex;
  for (size_t i = 0; i < sizeof kSignals / sizeof kSignals[0]; ++i) {
    struct sigaction now = {};
    sigaction(kSignals[i], nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handle) continue;
    std::lock_guard lock(mutex);
    struct sigaction ours = {};
    ours.sa_sigaction = handle;
    // NODEFER: the handler is left by a jump, after which the signal must not stay blocked.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    previous[i] = now;
    sigaction(kSignals[i], &ours, nullptr);
  }
}

// The signal stack of a thread: a kernel that overruns the thread's own stack still gets its
// diagnostic.
struct SignalStack {
  void* memory = nullptr;
  SignalStack() {
    stack_t old = {};
    if (sigaltstack(nullptr, &old) == 0 && !(old.ss_flags & SS_DISABLE)) return;
    memory = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                  -1, 0);
    if (memory == MAP_FAILED) memory = nullptr;
    if (!memory) return;
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = kSignalStackBytes;
    sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    if (!memory) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(memory, kSignalStackBytes);
  }
};

}  // namespace

namespace {

enum { kLookEachTime = 0, kLookOnce = 1, kLooked = 2 };

int& looking() {
  static constinit thread_local int state = kLookEachTime;
  return state;
}

}  // namespace

HandlersStay::HandlersStay() : before_(looking()) {
  if (before_ == kLookEachTime) looking() = kLookOnce;
}

HandlersStay::~HandlersStay() { looking() = before_; }

void HandlersStay::look_again() {
  if (looking() == kLooked) looking() = kLookOnce;
}

void prepare_for_faults() {
  thread_local SignalStack stack;
  own_slot();
  if (looking() == kLooked) return;
  install();
  if (looking() == kLookOnce) looking() = kLooked;
}

void prepare_for_short_work() {
  constexpr int64_t kLately = 100'000;  // nanoseconds
  static constinit thread_local int64_t looked = 0;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t at = now.tv_sec * 1'000'000'000 + now.tv_nsec;
  if (looked && at - looked < kLately) return;
  looked = at;
  prepare_for_faults();
}

FaultFrame* set_fault_frame(FaultFrame* frame) {
  auto& mine = own_slot().slot->frame;
  FaultFrame* before = mine.load(std::memory_order_relaxed);
  mine.store(frame, std::memory_order_relaxed);
  return before;
}

void raise_fault(int error, unsigned lane, const char* text) {
  ThreadSlot* slot = own_slot().slot;
  FaultFrame* frame = slot->frame.load(std::memory_order_relaxed);
  if (!frame) return;
  slot->frame = nullptr;
  frame->error = error, frame->lane = lane;
  snprintf(frame->text, sizeof frame->text, "%s", text);
  siglongjmp(frame->resume, 1);
}

}  // namespace aw
