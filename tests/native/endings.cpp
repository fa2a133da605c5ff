// Lets go of device memory where a program or a thread ends: in destructors of a static object and
// of thread-local ones, on the main thread and another. Says what each had as its context, and what
// the calls returned.
#include <cstdint>
#include <cstdio>
#include <thread>

extern "C" {
int cuInit(unsigned);
int cuCtxCreate_v2(void**, unsigned, int);
int cuCtxSetCurrent(void*);
int cuCtxGetCurrent(void**);
int cuCtxSynchronize();
int cuMemAlloc_v2(uint64_t*, size_t);
int cuMemFree_v2(uint64_t);
}

void* context;

struct Holder {
  const char* const name;
  uint64_t memory = 0;
  ~Holder() {
    if (!memory) return;
    void* now = nullptr;
    int got = cuCtxGetCurrent(&now), waited = cuCtxSynchronize(), freed = cuMemFree_v2(memory);
    std::printf("%s: %s, %d %d %d\n", name, now == context ? "the context" : "another", got, waited,
                freed);
  }
};

Holder of_program{"program"};
thread_local Holder of_main{"main thread"}, of_other{"other thread"};

int main() {
  if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0)) return 1;
  if (cuMemAlloc_v2(&of_program.memory, 4096) || cuMemAlloc_v2(&of_main.memory, 4096)) return 2;
  int failed = 0;
  std::thread([&] {
    failed = cuCtxSetCurrent(context) || cuMemAlloc_v2(&of_other.memory, 4096);
  }).join();
  return failed;
}
