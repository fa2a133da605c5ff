// c10::cuda::CUDACachingAllocator for extensions: the stand-in's allocator by the name and the type
// that they know.
//
// The interface grows with every version of torch; what extensions call is served from 2.13 on,
// which is what has been run.
#include <c10/cuda/CUDACachingAllocator.h>

#include "stand_in.h"

namespace c10::cuda::CUDACachingAllocator {
#if AWT_TORCH >= 213
namespace {

[[noreturn]] void python_only(const char* what) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, what,
                              " is served by torch.cuda in Python, not for extensions in C++");
}

class StandIn final : public CUDAAllocator {
 public:
  // What c10::DeviceAllocator has: the stand-in's own.
  DataPtr allocate(size_t bytes) override { return real().allocate(bytes); }
  DeleterFnPtr raw_deleter() const override { return real().raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    real().copy_data(to, from, bytes);
  }
  bool initialized() override { return real().initialized(); }
  void emptyCache(MempoolId_t pool) override { real().emptyCache(pool); }
  void recordStream(const DataPtr& memory, CUDAStream stream) override {
    real().recordStream(memory, stream.unwrap());
  }
  CachingDeviceAllocator::DeviceStats getDeviceStats(DeviceIndex device) override {
    return real().getDeviceStats(device);
  }
  void resetAccumulatedStats(DeviceIndex device) override { real().resetAccumulatedStats(device); }
  void resetPeakStats(DeviceIndex device) override { real().resetPeakStats(device); }

  void* raw_alloc(size_t bytes) override {
    return raw_alloc_with_stream(bytes, getCurrentCUDAStream().stream());
  }
  void* raw_alloc_with_stream(size_t bytes, cudaStream_t stream) override {
    uint64_t memory = 0;
    awt::require(awt_memory_allocate(int64_t(bytes), stream, &memory));
    return reinterpret_cast<void*>(memory);
  }
  void raw_delete(void* memory) override { awt::require(awt_memory_free(memory)); }
  void init(int) override {}
  bool isEnabled() const override { return true; }
  void* getBaseAllocation(void* memory, size_t* bytes) override {
    uint64_t base = 0, size = 0;
    awt::require(awt_memory_base(memory, &base, &size));
    if (bytes) *bytes = size;
    return reinterpret_cast<void*>(base);
  }
  std::string name() override { return "native"; }
  cudaError_t memcpyAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream,
                          bool) override {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
  }

  double getMemoryFraction(DeviceIndex) override { python_only("getMemoryFraction"); }
  void setMemoryFraction(double, DeviceIndex) override { python_only("setMemoryFraction"); }
  std::vector<StreamSegmentSize> getExpandableSegmentSizes(DeviceIndex) override {
    python_only("getExpandableSegmentSizes");
  }
  void enable(bool) override { python_only("enable"); }
  void cacheInfo(DeviceIndex, size_t*) override { python_only("cacheInfo"); }
  SnapshotInfo snapshot(MempoolId_t, bool) override { python_only("snapshot"); }
  void beginAllocateToPool(DeviceIndex, MempoolId_t, std::function<bool(cudaStream_t)>) override {
    python_only("beginAllocateToPool");
  }
  void endAllocateToPool(DeviceIndex, MempoolId_t) override { python_only("endAllocateToPool"); }
  void releasePool(DeviceIndex, MempoolId_t) override { python_only("releasePool"); }
  ShareableHandle shareIpcHandle(void*) override { python_only("shareIpcHandle"); }
  std::shared_ptr<void> getIpcDevPtr(std::string) override { python_only("getIpcDevPtr"); }
  void recordHistory(bool, CreateContextFn, size_t, RecordContext, bool,
                     const std::vector<std::string>&) override {
    python_only("recordHistory");
  }
  void attachOutOfMemoryObserver(OutOfMemoryObserver) override {
    python_only("attachOutOfMemoryObserver");
  }
  void attachOomRejectionObserver(OomRejectionObserver) override {
    python_only("attachOomRejectionObserver");
  }
  void attachAllocatorTraceTracker(AllocatorTraceTracker) override {
    python_only("attachAllocatorTraceTracker");
  }
  void enablePeerAccess(DeviceIndex, DeviceIndex) override {
  }  // the devices share the host's memory
  std::shared_ptr<AllocatorState> getCheckpointState(DeviceIndex, MempoolId_t) override {
    python_only("getCheckpointState");
  }
  CheckpointDelta setCheckpointPoolState(DeviceIndex, std::shared_ptr<AllocatorState>) override {
    python_only("setCheckpointPoolState");
  }

 private:
  static DeviceAllocator& real() {
    auto* found = dynamic_cast<DeviceAllocator*>(c10::GetAllocator(DeviceType::CUDA));
    TORCH_CHECK(found, "the allocator of `cuda` is not the stand-in's");
    return *found;
  }
};

StandIn stand_in;

}  // namespace

std::atomic<CUDAAllocator*> allocator{&stand_in};
#else
std::atomic<CUDAAllocator*> allocator{nullptr};
#endif

}  // namespace c10::cuda::CUDACachingAllocator
