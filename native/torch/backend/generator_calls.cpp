// What native/torch_cuda asks about generators.
#include "exported.h"
#include "generator.h"

using namespace awt;

AWT_EXPORT int awt_generator_default(int device, const at::Generator** out) {
  return exported([&] { *out = &default_generator(static_cast<c10::DeviceIndex>(device)); });
}

AWT_EXPORT int awt_generator_new(int device, at::Generator* out) {
  return exported([&] { *out = new_generator(static_cast<c10::DeviceIndex>(device)); });
}

// Seed and offset, or in a capture where they will be: `later`, else null.
AWT_EXPORT int awt_generator_draw(c10::GeneratorImpl* generator, uint64_t increment, uint64_t* seed,
                                  uint64_t* offset, PhiloxState** later) {
  return exported([&] {
    const at::Generator given(
        c10::intrusive_ptr<c10::GeneratorImpl>::unsafe_reclaim_from_nonowning(generator));
    const KernelDraw draw = reserve_for_kernel(given, increment);
    *seed = draw.now.seed, *offset = draw.now.offset, *later = draw.later;
  });
}
