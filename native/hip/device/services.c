// The services that kernels call on the device hip: printf, assertions, traps, malloc and free.
//
// make_services.py compiles it to LLVM IR that names no processor; the compiler links what a kernel
// needs of it. Records and heap are described in core/hip_structures.h.
typedef unsigned char uint8_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
#define AW_DEVICE_CODE
#include "../../core/hip_services.h"

#define GLOBAL __attribute__((address_space(1)))
#define SCOPE __MEMORY_SCOPE_DEVICE
#define NOINLINE __attribute__((noinline))

typedef GLOBAL struct AwHipServices Services;
typedef GLOBAL struct AwHipState State;
typedef GLOBAL struct AwHipRecord Record;

// Where a lane is: kernels pass it on, for each of its numbers is known only there.
typedef struct AwHipPlace Place;

static uint32_t up(uint32_t bytes, uint32_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

static uint64_t load(GLOBAL uint64_t* p) { return __scoped_atomic_load_n(p, __ATOMIC_RELAXED, SCOPE); }

static int exchange(GLOBAL uint64_t* p, uint64_t* old, uint64_t value) {
  return __scoped_atomic_compare_exchange_n(p, old, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED, SCOPE);
}

static void attract(Services* s) { __scoped_atomic_store_n(&s->attention, 1u, __ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM); }

static uint32_t length(const char* text) {
  uint32_t n = 0;
  while (n < kAwHipLongestText && text[n]) ++n;
  return n;
}

// Give out `bytes` of the records that lie together; null when there is no room.
static Record* reserve(Services* s, State* state, uint32_t bytes) {
  uint64_t capacity = s->record_bytes, written = load(&state->written), start, end;
  if (!s->records || bytes > capacity) return 0;
  do {
    start = written % capacity;
    end = written + bytes;
    if (start + bytes > capacity) end += capacity - start, start = 0;
    if (end - load(&state->consumed) > capacity) return 0;
  } while (!exchange(&state->written, &written, end));
  if (end - written != bytes) {  // the records go on at the beginning
    Record* filler = (Record*)(s->records + written % capacity);
    filler->bytes = (uint32_t)(end - written - bytes);
    __scoped_atomic_store_n(&filler->kind, (uint32_t)AW_HIP_FILLER, __ATOMIC_RELEASE, SCOPE);
  }
  return (Record*)(s->records + start);
}

static Record* begin(Services* s, State* state, uint32_t bytes, const Place* place) {
  Record* r = reserve(s, state, bytes);
  if (!r) {
    __scoped_atomic_fetch_add(&state->dropped, 1, __ATOMIC_RELAXED, SCOPE);
    attract(s);
    return 0;
  }
  r->bytes = bytes;
  r->grid_id = place->grid_id;
  for (int i = 0; i < 3; ++i) r->block[i] = place->block[i], r->thread[i] = place->thread[i];
  return r;
}

static void finish(Services* s, Record* r, uint32_t kind) {
  __scoped_atomic_store_n(&r->kind, kind, __ATOMIC_RELEASE, SCOPE);
  attract(s);
}

static void copy(GLOBAL uint8_t* to, const char* from, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) to[i] = (uint8_t)from[i];
}

static uint32_t put_text(GLOBAL uint8_t* to, uint32_t at, const char* text) {
  uint32_t n = text ? length(text) : 0;
  *(GLOBAL uint32_t*)(to + at) = n;
  copy(to + at + 4, text, n);
  return at + 4 + up(n, 4);
}

static int among(char c, const char* letters) {
  for (; *letters; ++letters)
    if (*letters == c) return 1;
  return 0;
}

// Reads a format: where the arguments end, how many there are, and the room that texts of %s take
// when `out` is null; with `out`, copies those texts behind `at`.
struct Walk {
  uint32_t arguments, count, at;
};

static const char* next(const char* buffer, uint32_t* offset, uint32_t size) {
  *offset = up(*offset, size);
  const char* p = buffer + *offset;
  *offset += size;
  return p;
}

static struct Walk walk(const char* format, const char* buffer, GLOBAL uint8_t* out, uint32_t at) {
  struct Walk w = {0, 0, at};
  uint32_t i = 0, end = length(format);
  while (i < end) {
    if (format[i++] != '%') continue;
    if (i < end && format[i] == '%') {
      ++i;
      continue;
    }
    int wide = 0;
    for (; i < end && among(format[i], "-+ #0123456789.*"); ++i)
      if (format[i] == '*') next(buffer, &w.arguments, 4);
    for (; i < end && among(format[i], "hljztL"); ++i) wide |= among(format[i], "ljzt");
    if (i >= end) break;
    char c = format[i++];
    if (!among(c, "diouxXcfFeEgGaAps")) continue;
    ++w.count;
    const char* p = next(buffer, &w.arguments, among(c, "fFeEgGaAps") || (wide && c != 'c') ? 8 : 4);
    if (c != 's') continue;
    const char* text = *(const char* const*)p;
    if (!text) continue;
    if (out)
      w.at = put_text(out, w.at, text);
    else
      w.at += 4 + up(length(text), 4);
  }
  return w;
}

NOINLINE uint32_t aw_hip_vprintf(uint64_t services, const Place* place, const char* format, const char* arguments) {
  Services* s = (Services*)services;
  if (!format) return ~0u;
  uint32_t text = length(format) + 1;
  struct Walk w = walk(format, arguments, 0, 0);
  if (!s) return w.count;
  State* state = (State*)s->state;
  uint32_t texts = up(text, 8) + up(w.arguments, 8);
  Record* r = begin(s, state, up((uint32_t)sizeof(struct AwHipRecord) + texts + w.at, 16), place);
  if (!r) return ~1u;
  GLOBAL uint8_t* out = (GLOBAL uint8_t*)(r + 1);
  r->format = text, r->arguments = w.arguments;
  copy(out, format, text - 1);
  out[text - 1] = 0;
  copy(out + up(text, 8), arguments, w.arguments);
  walk(format, arguments, out, texts);
  finish(s, r, AW_HIP_PRINT);
  return w.count;
}

NOINLINE void aw_hip_stop(uint64_t services, const Place* place, uint32_t stop, uint32_t reason, uint32_t line) {
  Services* s = (Services*)services;
  if (!s) return;
  State* state = (State*)s->state;
  uint32_t running = AW_HIP_RUNNING;
  if (__scoped_atomic_compare_exchange_n(&state->stopped, &running, stop, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED, SCOPE)) {
    state->reason = reason, state->line = line, state->grid_id = place->grid_id;
    for (int i = 0; i < 3; ++i) state->block[i] = place->block[i], state->thread[i] = place->thread[i];
    __scoped_atomic_store_n(&state->told, 1u, __ATOMIC_RELEASE, SCOPE);
  }
  attract(s);
}

NOINLINE void aw_hip_assertfail(uint64_t services, const Place* place, const char* message, const char* file, uint32_t line,
                                const char* function) {
  Services* s = (Services*)services;
  if (!s) return;
  const char* texts[3] = {message, file, function};
  uint32_t bytes = sizeof(struct AwHipRecord);
  for (int i = 0; i < 3; ++i) bytes += 4 + (texts[i] ? up(length(texts[i]), 4) : 0);
  Record* r = begin(s, (State*)s->state, up(bytes, 16), place);
  if (r) {
    r->format = 0, r->arguments = line;
    uint32_t at = 0;
    for (int i = 0; i < 3; ++i) at = put_text((GLOBAL uint8_t*)(r + 1), at, texts[i]);
    finish(s, r, AW_HIP_ASSERTION);
  }
  aw_hip_stop(services, place, AW_HIP_ASSERT, 0, line);
}

// --- the heap -----------------------------------------------------------------------------------------------------
// Blocks have one of 64 sizes, two for each power of two; a freed block waits in the list of its size. Nothing is joined again.

#define TAG (1ul << 40)

static uint64_t bytes_of(uint32_t size) { return (size & 1 ? 24ul : 16ul) << (size / 2); }

static uint32_t size_for(uint64_t bytes) {
  uint32_t size = 0;
  while (size < 63 && (bytes_of(size) < bytes || bytes_of(size) % 16)) ++size;
  return size;
}

static uint64_t pop(State* state, uint64_t heap, uint32_t size) {
  uint64_t head = load(&state->lists[size]), rest;
  do {
    if (!(head & (TAG - 1))) return 0;
    GLOBAL struct AwHipBlock* b = (GLOBAL struct AwHipBlock*)(heap + ((head & (TAG - 1)) - 1) * 16);
    rest = (head / TAG + 1) * TAG | (load(&b->next) & (TAG - 1));  // a block that another has taken: then the exchange fails
  } while (!exchange(&state->lists[size], &head, rest));
  return heap + ((head & (TAG - 1)) - 1) * 16;
}

NOINLINE uint64_t aw_hip_malloc(uint64_t services, uint64_t bytes) {
  Services* s = (Services*)services;
  if (!s || !s->heap || bytes == 0 || bytes > s->heap_bytes) return 0;
  State* state = (State*)s->state;
  uint32_t size = size_for(bytes);
  uint64_t found = pop(state, s->heap, size), wanted = bytes_of(size) + sizeof(struct AwHipBlock);
  if (!found) {
    uint64_t top = load(&state->heap_top);
    while (top + wanted <= s->heap_bytes && !found)
      if (exchange(&state->heap_top, &top, top + wanted)) found = s->heap + top;
  }
  for (uint32_t larger = size + 1; !found && larger < 64; ++larger) {
    found = pop(state, s->heap, larger);
    if (found) size = larger;
  }
  if (!found) return 0;
  GLOBAL struct AwHipBlock* b = (GLOBAL struct AwHipBlock*)found;
  b->size = size;
  __scoped_atomic_store_n(&b->mark, kAwHipUsed, __ATOMIC_RELEASE, SCOPE);
  return found + sizeof(struct AwHipBlock);
}

NOINLINE void aw_hip_free(uint64_t services, uint64_t address) {
  Services* s = (Services*)services;
  if (!address || !s) return;
  State* state = (State*)s->state;
  uint64_t start = address - sizeof(struct AwHipBlock);
  uint32_t used = kAwHipUsed;
  GLOBAL struct AwHipBlock* b = (GLOBAL struct AwHipBlock*)start;
  if (address % 16 || start < s->heap || address >= s->heap + load(&state->heap_top) ||
      !__scoped_atomic_compare_exchange_n(&b->mark, &used, kAwHipFree, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED, SCOPE)) {
    __scoped_atomic_fetch_add(&state->frees, 1, __ATOMIC_RELAXED, SCOPE);
    attract(s);
    return;
  }
  uint32_t size = b->size & 63;
  uint64_t head = load(&state->lists[size]);
  do {
    __scoped_atomic_store_n(&b->next, head & (TAG - 1), __ATOMIC_RELAXED, SCOPE);
  } while (!exchange(&state->lists[size], &head, (head / TAG + 1) * TAG | ((start - s->heap) / 16 + 1)));
}

NOINLINE void aw_hip_nanosleep(uint32_t nanoseconds) {
  // The steady counter runs at 100 MHz; the instruction's duration may be anything up to twice the one asked for.
  uint64_t start = __builtin_readsteadycounter(), ticks = (nanoseconds < 1000000u ? nanoseconds : 1000000u) / 10;
  while (__builtin_readsteadycounter() - start < ticks) __builtin_amdgcn_s_sleep(1);
}
