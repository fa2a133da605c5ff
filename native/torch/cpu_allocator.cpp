// The allocator of the CPU, so that what an operator of a device allocates lies in that device's
// memory.
#include <c10/core/CPUAllocator.h>

#include "alias.h"
#include "allocator.h"
#include "devices.h"
#include "streams.h"

namespace awt {
namespace {

c10::Allocator* plain() {
  static c10::Allocator* const before = c10::GetCPUAllocator();
  return before;
}

// Memory of a device knows its device; everything else came from the allocator that torch had.
void free_either(void* memory) {
  if (device_of(memory) >= 0) return free_raw(memory);
  static const c10::DeleterFnPtr free_plain = plain()->raw_deleter();
  free_plain(memory);
}

class CpuAllocator final : public c10::Allocator {
 public:
  explicit CpuAllocator(c10::Allocator* before) : before_(before) {}

  c10::DataPtr allocate(size_t bytes) override {
    const c10::DeviceIndex device = current_op_device();
    // Where an operator runs on a thread of the driver, the driver cannot be asked for memory: host
    // memory then.
    if (__builtin_expect(device < 0, 1) || on_driver_thread()) return before_->allocate(bytes);
    void* memory = bytes ? allocate_raw(bytes, device) : nullptr;
    return {memory, memory, &free_raw, c10::Device(c10::DeviceType::CPU)};
  }

  // Users of raw_allocate (oneDNN) free where another device's operator may run meanwhile.
  c10::DeleterFnPtr raw_deleter() const override { return &free_either; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

 private:
  c10::Allocator* const before_;
};

}  // namespace

c10::Allocator* cpu_allocator() {
  static auto& instance = *new CpuAllocator(plain());
  return &instance;
}

}  // namespace awt
