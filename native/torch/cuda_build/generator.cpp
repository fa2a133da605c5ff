// Random numbers of a CUDA build of torch: its own generators (ATen/cuda/CUDAGeneratorImpl.h).
#include "generator.h"

#include <ATen/Utils.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>

namespace awt {
namespace {

at::CUDAGeneratorImpl& given_or_default(const std::optional<at::Generator>& generator,
                                        c10::DeviceIndex device) {
  return *at::get_generator_or_default<at::CUDAGeneratorImpl>(
      generator, at::cuda::detail::getDefaultCUDAGenerator(device));
}

}  // namespace

const at::Generator& default_generator(c10::DeviceIndex device) {
  return at::cuda::detail::getDefaultCUDAGenerator(device);
}

PhiloxState reserve(const std::optional<at::Generator>& generator, c10::DeviceIndex device,
                    uint64_t increment) {
  const auto [seed, offset] =
      given_or_default(generator, device).philox_engine_inputs((increment + 3) / 4 * 4);
  return {seed, offset};
}

void set_deferred_calls(DeferredCalls) noexcept {}

// libtorch_cuda's graphs know what their operators draw from.
void require_capture(const at::Generator&) {}
void note_captured_draw(c10::Stream, const at::Generator&) {}

}  // namespace awt
