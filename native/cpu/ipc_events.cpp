// Driver API reference: memory management, events shared between processes.
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "cpu/event.h"
#include "cpu/tickets.h"
#include "cuda/contexts.h"

namespace aw {
namespace {

constexpr char kEventMagic[9] = "AWIPCEV1";

// Not the private kind of futex: the others are in other processes.
void futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

SharedCounters::SharedCounters(int file)
    : words_(static_cast<Words*>(at(map_file(file, kBytes)))) {}

SharedCounters::~SharedCounters() { unmap_file(reinterpret_cast<uint64_t>(words_), kBytes); }

// Of recordings in several streams the latest counts, whichever comes about first.
void SharedCounters::complete(uint32_t number) {
  uint32_t now = words_->completed.load();
  while (before(now, number)) {
    if (!words_->completed.compare_exchange_weak(now, number)) continue;
    return futex(words_->completed, FUTEX_WAKE, INT_MAX);
  }
}

void SharedCounters::wait(uint32_t number) const {
  for (;;) {
    uint32_t now = words_->completed.load();
    if (!before(now, number)) return;
    futex(words_->completed, FUTEX_WAIT, now);
  }
}

void make_shareable(Event& event) {
  File file(memfd_create("anywarp-event", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  require(file.number >= 0, CUDA_ERROR_OUT_OF_MEMORY);
  auto bytes = static_cast<off_t>(whole_pages(SharedCounters::kBytes));
  require(ftruncate(file.number, bytes) == 0, CUDA_ERROR_OUT_OF_MEMORY);
  seal(file.number);
  event.shared = std::make_shared<SharedCounters>(file.number);
  event.file = std::make_shared<File>(file.release());
}

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuIpcGetEventHandle(IpcHandle* out, CUevent handle) {
  return api<"cuIpcGetEventHandle">([&] {
    require(out);
    auto event = event_of(handle);
    // What was opened by a handle is no source of handles: it counts as made without the flag.
    require(event->file != nullptr, CUDA_ERROR_INVALID_HANDLE);
    Ticket ticket = ticket_for(kEventMagic, event->file->number, SharedCounters::kBytes);
    memcpy(out, &ticket, sizeof ticket);
  });
}

AW_EXPORT CUresult cuIpcOpenEventHandle(CUevent* out, IpcHandle handle) {
  return api<"cuIpcOpenEventHandle">([&] {
    require(out);
    auto context = current_context();
    Ticket ticket = read_ticket(kEventMagic, handle);
    require(ticket.bytes == SharedCounters::kBytes, CUDA_ERROR_INVALID_HANDLE);
    // As with memory: a process cannot open what it shares itself.
    require(ticket.process != getpid(), CUDA_ERROR_INVALID_CONTEXT);
    File file(open_file(ticket));
    auto event = std::make_shared<Event>();
    event->flags = CU_EVENT_DISABLE_TIMING;  // as documented
    event->context = context;
    event->shared = std::make_shared<SharedCounters>(file.number);
    event->handle = events().add(event);
    *out = as_handle<CUevent>(event->handle);
  });
}
