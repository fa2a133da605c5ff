// The processor as a device: memory, and kernels that run on a pool of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "core/artifacts.h"
#include "core/kernel_abi.h"
#include "core/object_loader.h"

namespace aw {

struct CheckedSites;
struct DeviceCalls;
class WorkerPool;

// A compiled kernel ready to run.
struct KernelCode {
  KernelArtifact artifact;
  std::unique_ptr<LoadedObject> object;
  AwKernel entry = nullptr;
  std::shared_ptr<const KernelRequest> request;  // what it was compiled for; null if not by us
  std::shared_ptr<const CheckedSites> sites;     // of a kernel compiled with checks
  std::atomic<uint64_t> ns_per_block{
      0};  // of the latest launch: decides how many threads the next one wakes
};

struct KernelRun {
  const KernelCode* code = nullptr;
  AwLaunch launch{};
  bool all_resident = false;     // cooperative: every block must run at the same time
  unsigned most_threads = 0;     // how many threads may run its blocks; 0: all that there are
  DeviceCalls* calls = nullptr;  // who answers CUDA's device run time; null: nobody
};

// How a grid ended: 0, or the CUresult that the context shall return from now on, and the words for
// the user.
struct RunResult {
  int code = 0;
  std::string text;
};

namespace processor {

// Returns memory aligned to 256 bytes, zeroed when it is new to the process; null when there is
// none.
void* allocate(uint64_t bytes);
// The same at an address that fits in 32 bits; null when there is no room down there.
void* allocate_narrow(uint64_t bytes);
void release(void* memory, uint64_t bytes);
// Lets the system take the pages of allocated memory when it needs them: they then read as zero.
// They are the program's again where it writes. False where the system knows no such thing.
bool rest(void* memory, uint64_t bytes);
// For allocations whose pages are small and that are guarded: cut() lets nothing touch the page
// behind the first `bytes`, whole pages, which join() gives back as it was; false where it cannot.
bool may_be_cut(uint64_t bytes);
void cut(void* memory, uint64_t bytes);
bool join(void* memory, uint64_t bytes);
uint64_t free_memory();

// Makes an artifact callable; throws Failure when it is damaged.
std::shared_ptr<KernelCode> load(KernelArtifact artifact);

// The threads that run kernels.
WorkerPool& pool();

// Runs a grid to its end, with the calling thread taking part.
RunResult run(const KernelRun& run);

}  // namespace processor
}  // namespace aw
