#include <ATen/CPUGeneratorImpl.h>

#include "generator.h"

namespace awt {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input changes half of the
// output's.
uint64_t mix(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

}  // namespace

at::Generator host_generator(const std::optional<at::Generator>& generator,
                             c10::DeviceIndex device) {
  const PhiloxState drawn = reserve(generator, device, 4);
  return at::detail::createCPUGenerator(mix(mix(drawn.seed) + drawn.offset + 1));
}

}  // namespace awt
