// Work that our own libraries (cuBLAS and its sisters) give to the streams of our libcuda, and the
// threads that help with it. docs/contracts.md, section 8.
#pragma once

#include <cstdint>

extern "C" {

// Something that a library computes in a stream. Traces and CUPTI show it as a kernel called
// `name`.
struct AwNativeWork {
  const char* name;             // lives as long as the process
  void (*perform)(void* data);  // on any thread; must not throw and not call CUDA
  void (*release)(void* data);  // once, when it will not be performed again; may be null
  void* data;
  bool waits;  // for other work of the program (a collective): never done on the calling thread
};

// Puts work behind everything given to a stream (CUstream) of the current context: done before it
// returns where the stream is idle and it does not wait, a kernel node where the stream is
// captured. A wild address becomes an error of the context, as with a kernel. Returns a CUresult;
// the work is released in any case.
int anywarp_native_work(void* stream, const AwNativeWork* work);

// Inside of work only: calls body(data, i) for all i < count, on the calling thread and on idle
// threads of the pool, in any order. False if one of them failed, which ends the work as well.
bool anywarp_parallel(uint64_t count, void (*body)(void* data, uint64_t number), void* data);

// How many threads may take part in one piece of work.
unsigned anywarp_threads();
}
