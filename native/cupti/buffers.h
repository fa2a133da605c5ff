// The buffers of a profiler, its clock, and where the calling thread stands.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aw::cupti {

using Request = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using Complete = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                          size_t valid);

void register_buffers(Request request, Complete complete);
size_t set_buffer_attribute(uint32_t attribute, size_t value);

// Appends a record, in a new buffer where the present one is full; without one it is dropped and
// counted.
void write(const void* record, size_t bytes);

// Hands back what is filled.
void flush();
size_t take_dropped();

bool records(uint32_t kind);  // whether records of a kind are wanted
void stop_records(uint32_t kind);
void forget_choices();  // of single functions

// From the hub's time to the profiler's: nanoseconds since 1970, or what its own clock gives.
uint64_t profiler_time(uint64_t nanoseconds);
uint64_t profiler_now();
void set_profiler_clock(uint64_t (*clock)());

// The number of this thread as records have it: pthread_self, or gettid where that was asked for.
uint32_t profiler_thread();
void set_system_threads(bool on);
bool system_threads();

struct Place {
  uint32_t context = 0, stream = 0;
};

// The current context; and the stream whose handle lies at `params`, unless that is null.
Place current_place(const void* params);

}  // namespace aw::cupti
