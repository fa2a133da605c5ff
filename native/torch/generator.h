// Random numbers: generators with CUDA's state (seed and Philox offset, 16 bytes).
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <optional>

namespace awt {

// What one call of a random operator draws from: Philox key and where its counter begins.
struct PhiloxState {
  uint64_t seed = 0;
  uint64_t offset = 0;
};

const at::Generator& default_generator(c10::DeviceIndex device);  // -1: the current device
at::Generator new_generator(c10::DeviceIndex device);

// Takes `increment` numbers per thread of the emulated grid from `generator` (the default one of
// `device` when it is undefined); rounds the increment up to a multiple of 4 as CUDA does. Raises
// CUDA's error for a generator of another device type.
PhiloxState reserve(const std::optional<at::Generator>& generator, c10::DeviceIndex device,
                    uint64_t increment);

// The same for a kernel of an extension, which draws the numbers itself. In a capture the state is
// taken when the graph runs, in the place of this call among the operators, and `later` is where
// the kernel finds it, as long as the graph is there.
struct KernelDraw {
  PhiloxState now;
  PhiloxState* later = nullptr;
};
KernelDraw reserve_for_kernel(const at::Generator& generator, uint64_t increment);

// A CPU generator for one call of a CPU kernel, seeded from the state of `generator`, which
// advances.
at::Generator host_generator(const std::optional<at::Generator>& generator,
                             c10::DeviceIndex device);

// Operators that run later (deferred.cpp). `capturing` tells whether operators of this thread on a
// device go into a graph at the moment; `settle` waits until every operator given before has drawn
// its numbers, and is called before the program reads or changes a state. A replay runs the
// operators again, each with its own `reserve`: as torch has it, a replay draws from the state of
// that moment and leaves it advanced by what the whole graph took.
struct DeferredCalls {
  bool (*capturing)(c10::DeviceIndex device) noexcept = nullptr;
  void (*settle)() = nullptr;
};
void set_deferred_calls(DeferredCalls calls) noexcept;

// Between these two a `reserve` of a captured operator counts from zero and the state itself stands
// still; for every generator that the graph knows (the default one of its device and those
// registered). `end_capture` returns the increment of the whole graph.
void begin_capture(const at::Generator& generator);
uint64_t end_capture(const at::Generator& generator);

// An operator that draws from `generator` was given to a stream that is captured.
void note_captured_draw(c10::Stream stream, const at::Generator& generator);

// Raises torch's error when a captured operator is given a generator that its graph does not know.
void require_capture(const at::Generator& generator);

}  // namespace awt
