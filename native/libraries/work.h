// Work of a library in a stream of the program.
#pragma once

#include <type_traits>
#include <utility>

#include "core/native_work.h"
#include "cuda.h"

namespace aw::lib {

// Makes the primary context of the device current, as the runtime does, where the thread has none.
void ensure_context();

// Throws the library's INTERNAL (or NOT_SUPPORTED, under a capture that forbids it) where the
// driver refuses.
void submit_work(CUstream stream, const AwNativeWork& work);

// Puts `body()` behind everything given to a stream: done before this returns where the stream is
// idle, else later on another thread, once per launch where the stream is captured. So it holds
// what it needs by value; device pointers are read when it runs. `name` is what traces call it.
// It must not throw: an error is for anywarp_fail, in the driver's numbers. `waits`: for work
// elsewhere.
template <class Body>
void submit(CUstream stream, const char* name, Body body, bool waits = false) {
  auto* kept = new Body(std::move(body));
  submit_work(stream, {name, [](void* it) { (*static_cast<Body*>(it))(); },
                       [](void* it) { delete static_cast<Body*>(it); }, kept, waits});
}

// Inside of work: body(i) for all i < count, on several threads where there are such.
template <class Body>
void parallel(uint64_t count, const Body& body) {
  if (count == 1) return body(uint64_t{0});
  anywarp_parallel(
      count, [](void* it, uint64_t number) { (*static_cast<const Body*>(it))(number); },
      const_cast<Body*>(&body));
}

}  // namespace aw::lib
