// Launches: from CUDA's parameters and shape to one or more calls of hipModuleLaunchKernel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hip_abi.h"
#include "cuda/launch_request.h"
#include "cuda/module.h"
#include "hip/kernel.h"

namespace aw {

// What a handle stands for in a context, with the code for a block shape. Valid until the thread
// asks again.
struct Launchable {
  std::shared_ptr<Function> function;
  std::shared_ptr<HipKernel> kernel;
};

// Finds both, without locks where this thread launched the same before. Throws INVALID_HANDLE.
const Launchable& launchable(CUfunction handle, const uint32_t block[3]);

// Throws INVALID_VALUE for shapes that CUDA refuses or the kernel was not made for, and for more
// shared memory than was asked for or the device has.
void check_launch(const Launchable& what, const LaunchRequest& request);

// Room for an argument buffer, on the stack as far as it goes.
class Kernarg {
 public:
  explicit Kernarg(size_t param_bytes);
  uint8_t* data() { return data_; }
  size_t size() const { return size_; }
  AwHipHidden& hidden() {
    return *reinterpret_cast<AwHipHidden*>(data_ + size_ - sizeof(AwHipHidden));
  }

 private:
  static constexpr size_t kNear = 1024;
  size_t size_;
  alignas(16) uint8_t near_[kNear];
  std::vector<uint8_t> far_;
  uint8_t* data_;
};

// Copies the parameters of a launch in either of CUDA's forms. Throws INVALID_VALUE where they do
// not fit the kernel.
void copy_params(const Entry& entry, void** params, void** extra, uint8_t* to);

// All of AwHipHidden but first_block.
void fill_hidden(AwHipHidden& hidden, const Launchable& what, const LaunchRequest& request);

// The workgroup that is launched for a block of CUDA's.
std::array<uint32_t, 3> workgroup_of(const HipKernel& kernel, const uint32_t block[3]);

// Blocks of x that one launch may have: HIP counts threads in 32 bits.
uint32_t most_blocks(uint32_t group_x);

CUresult launch_cooperative(const Launchable& what, const LaunchRequest& request,
                            const std::array<uint32_t, 3>& group, Kernarg& arguments,
                            hipStream_t stream);

// The largest dynamic part that launches of a function may ask for.
int most_dynamic_shared(Function& function, uint64_t fixed);

// The code of a function for some block shape, compiled if there is none yet: what it says of
// memory holds for all.
std::shared_ptr<HipKernel> any_code(Function& function);

// Says which kernel asks for more shared memory than a block has, by how much, and what to do.
void tell_missing_shared(const Function& function, uint64_t dynamic, uint64_t fixed, uint64_t room);

// A host function in a stream.
CUresult launch_host(hipStream_t stream, CUhostFn function, void* data);

CUresult launch(CUfunction handle, const LaunchRequest& request, hipStream_t stream);

}  // namespace aw
