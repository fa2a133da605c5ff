// at::CUDAGeneratorImpl for kernels that draw random numbers themselves: the stand-in's generators.
//
// What torch.Generator holds is the stand-in's object: its virtual functions are its own, and the
// others, which are here, ask it. Extensions do not make such an object by its constructor.
#include <ATen/cuda/CUDAGeneratorImpl.h>

#include "stand_in.h"

namespace at {

c10::DeviceType CUDAGeneratorImpl::device_type() { return c10::DeviceType::CUDA; }

std::shared_ptr<CUDAGeneratorImpl> CUDAGeneratorImpl::clone() const {
  // Deleted as what it is: there is no destructor of this class.
  return {clone_impl(), [](c10::GeneratorImpl* copy) { delete copy; }};
}

PhiloxCudaState CUDAGeneratorImpl::philox_cuda_state(uint64_t increment) {
  uint64_t seed = 0, offset = 0;
  int64_t* later = nullptr;  // seed, offset
  awt::require(awt_generator_draw(this, increment, &seed, &offset, &later));
  return later ? PhiloxCudaState(later, later + 1, 0) : PhiloxCudaState(seed, offset);
}

std::pair<uint64_t, uint64_t> CUDAGeneratorImpl::philox_engine_inputs(uint64_t increment) {
  const PhiloxCudaState state = philox_cuda_state(increment);
  TORCH_CHECK(!state.captured_,
              "Refactor this op to use CUDAGeneratorImpl::philox_cuda_state. Cannot call "
              "CUDAGeneratorImpl::philox_engine_inputs during CUDA graph capture.");
  return {state.seed_.val, state.offset_.val};
}

void CUDAGeneratorImpl::set_philox_offset_per_thread(uint64_t offset) { set_offset(offset); }

uint64_t CUDAGeneratorImpl::philox_offset_per_thread() const { return get_offset(); }

namespace cuda::detail {

const Generator& getDefaultCUDAGenerator(DeviceIndex device) {
  const Generator* found = nullptr;
  awt::require(awt_generator_default(device, &found));
  return *found;
}

Generator createCUDAGenerator(DeviceIndex device) {
  Generator made;
  awt::require(awt_generator_new(device, &made));
  return made;
}

}  // namespace cuda::detail
}  // namespace at
