#include "core/host_services.h"

#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/watched_memory.h"

namespace aw {
namespace {

// A kernel's printf may read memory that is not there, and is then left by a jump: so nothing here
// owns memory or locks while it reads what the kernel names.
constexpr size_t kLongestLine = 8192;

// On the heap: this library's thread-local block is a static one (devices/faults.cpp), and programs
// that dlopen us have little room for that.
struct ThreadText {
  char line[kLongestLine];
  char assertion[1024];
  char taken[1024];
};

ThreadText& thread_text() {
  thread_local std::unique_ptr<ThreadText> text = std::make_unique<ThreadText>();
  return *text;
}

std::atomic<bool> printed{false};

struct Output {
  char* at;
  char* end;
  void put(const char* text, size_t bytes) {
    size_t room = static_cast<size_t>(end - at), take = bytes < room ? bytes : room;
    memcpy(at, text, take);
    at += take;
  }
};

// Arguments lie one behind the other, each at a multiple of its own size (PTX: the vprintf of the
// CUDA C++ runtime).
struct Arguments {
  const uint8_t* base;
  size_t offset = 0;
  template <class T>
  T next() {
    offset = (offset + sizeof(T) - 1) & ~(sizeof(T) - 1);
    T value;
    memcpy(&value, base + offset, sizeof(T));
    offset += sizeof(T);
    return value;
  }
};

// A conversion specification: from the percent sign to the letter.
struct Conversion {
  char text[64];
  size_t size = 0;
  bool wide = false;  // ll, l, j, z or t: 64 bits on the device
  char letter = 0;
  void add(char c) {
    if (size + 4 < sizeof text) text[size++] = c;
  }
};

const char* read_conversion(const char* p, Arguments& arguments, Conversion& c) {
  c.add('%');
  for (++p; *p && strchr("-+ #0123456789.*", *p); ++p) {
    if (*p != '*') {
      c.add(*p);
      continue;
    }
    char number[16];
    int length = snprintf(number, sizeof number, "%d", arguments.next<int>());
    for (int i = 0; i < length; ++i) c.add(number[i]);
  }
  for (; *p && strchr("hljztL", *p); ++p) c.wide = c.wide || strchr("ljzt", *p);
  c.letter = *p;
  return *p ? p + 1 : p;
}

void print_conversion(Output& out, Conversion& c, Arguments& arguments) {
  char text[512];
  int length = 0;
  bool integer = strchr("diouxX", c.letter) != nullptr;
  if (integer && c.wide) c.add('l'), c.add('l');
  c.add(c.letter);
  c.text[c.size] = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  if (integer && c.wide) {
    length = snprintf(text, sizeof text, c.text, arguments.next<long long>());
  } else if (integer || c.letter == 'c') {
    length = snprintf(text, sizeof text, c.text, arguments.next<int>());
  } else if (strchr("fFeEgGaA", c.letter)) {
    length = snprintf(text, sizeof text, c.text, arguments.next<double>());
  } else if (c.letter == 'p') {
    length = snprintf(text, sizeof text, c.text, arguments.next<void*>());
  } else if (c.letter == 's') {
    const char* s = arguments.next<const char*>();
    length = snprintf(text, sizeof text, c.text, s ? s : "(null)");
  } else {
    return out.put(c.text, c.size);
  }
#pragma GCC diagnostic pop
  if (length > 0)
    out.put(text, static_cast<size_t>(length) < sizeof text ? static_cast<size_t>(length)
                                                            : sizeof text - 1);
}

}  // namespace

void flush_prints() {
  if (printed.load(std::memory_order_relaxed) && printed.exchange(false)) fflush(stdout);
}

const char* take_assertion() {
  ThreadText& text = thread_text();
  memcpy(text.taken, text.assertion, sizeof text.taken);
  text.assertion[0] = 0;
  return text.taken;
}

}  // namespace aw

extern "C" {

uint64_t aw_globaltimer(void) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void aw_nanosleep(uint32_t nanoseconds) {
  timespec pause = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  nanosleep(&pause, nullptr);
}

int32_t aw_vprintf(AwWorker*, uint64_t format, uint64_t arguments) {
  char* line = aw::thread_text().line;
  aw::Output out = {line, line + aw::kLongestLine};
  aw::Arguments from = {reinterpret_cast<const uint8_t*>(arguments)};
  int32_t count = 0;
  const char* p = reinterpret_cast<const char*>(format);
  while (*p) {
    size_t plain = strcspn(p, "%");
    out.put(p, plain);
    p += plain;
    if (!*p) break;
    if (p[1] == '%') {
      out.put(p, 1);
      p += 2;
      continue;
    }
    aw::Conversion c;
    p = aw::read_conversion(p, from, c);
    aw::print_conversion(out, c, from);
    ++count;
  }
  fwrite(line, 1, static_cast<size_t>(out.at - line), stdout);
  aw::printed.store(true, std::memory_order_relaxed);
  return count;
}

uint64_t aw_malloc(AwWorker*, uint64_t size) {
  // The device's malloc returns addresses aligned to 16 bytes (CUDA C++ Programming Guide, dynamic
  // global memory).
  if (size > (1ull << 40)) return 0;
  uint64_t address = reinterpret_cast<uint64_t>(malloc(size));
  if (address) aw::watch(address, size, "the allocation by a kernel", true);
  return address;
}

void aw_free(AwWorker*, uint64_t address) {
  aw::unwatch(address);
  free(reinterpret_cast<void*>(address));
}

void aw_assertfail(AwWorker* worker, uint64_t message, uint64_t file, uint32_t line,
                   uint64_t function) {
  snprintf(aw::thread_text().assertion, sizeof aw::ThreadText::assertion,
           "%s:%u: %s: block: [%u,%u,%u], Assertion `%s` failed.",
           reinterpret_cast<const char*>(file), line, reinterpret_cast<const char*>(function),
           worker->ctaid[0], worker->ctaid[1], worker->ctaid[2],
           reinterpret_cast<const char*>(message));
}

}  // extern "C"
