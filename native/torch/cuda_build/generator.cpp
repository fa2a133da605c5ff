// Random numbers of a CUDA build of torch: its own generators (ATen/cuda/CUDAGeneratorImpl.h).
#include "generator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Utils.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>

namespace awt {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input changes half of the
// output's.
uint64_t mix(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

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

at::Generator host_generator(const std::optional<at::Generator>& generator,
                             c10::DeviceIndex device) {
  const PhiloxState drawn = reserve(generator, device, 4);
  return at::detail::createCPUGenerator(mix(mix(drawn.seed) + drawn.offset + 1));
}

void set_deferred_calls(DeferredCalls) noexcept {}

// libtorch_cuda's graphs know what their operators draw from.
void require_capture(const at::Generator&) {}
void note_captured_draw(c10::Stream, const at::Generator&) {}

}  // namespace awt
