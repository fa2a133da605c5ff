#include "narrow_products.h"

#include <cstdlib>
#include <cstring>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace awt {
namespace {

// Multiplications for each element that is widened, from which on it pays (measured: 8 do not, 32
// do).
constexpr double kWorthwhile = 16;

struct Slow {
  bool half = false, brain = false;
};

// The rules of oneDNN: float16 needs AVX512-FP16, bfloat16 AVX-512 (it converts where there is no
// more). ONEDNN_MAX_CPU_ISA, its own setting, allows it less.
Slow find() {
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;
  __get_cpuid_count(7, 0, &a, &b, &c, &d);
  constexpr unsigned kAvx512Bw = 1u << 30, kAvx512Fp16 = 1u << 23;
  Slow slow{!(d & kAvx512Fp16), !(b & kAvx512Bw)};
  const char* most = std::getenv("ONEDNN_MAX_CPU_ISA");
  if (!most) return slow;
  for (const char* each : {"SSE41", "AVX", "AVX2", "AVX2_VNNI"})
    if (!std::strcmp(most, each)) return {true, true};
  for (const char* each : {"AVX512_CORE", "AVX512_CORE_VNNI", "AVX512_CORE_BF16"})
    if (!std::strcmp(most, each)) slow.half = true;
  return slow;
#else
  return {};
#endif
}

}  // namespace

bool multiplies_slowly(at::ScalarType type) {
  static const Slow slow = find();
  return type == at::kHalf ? slow.half : type == at::kBFloat16 && slow.brain;
}

bool better_widened(const OpInfo& info, const torch::jit::Stack& stack) {
  const size_t first = stack.size() - info.arguments.size();
  const auto& left = stack[first + size_t(info.factors.arguments[0])];
  const auto& right = stack[first + size_t(info.factors.arguments[1])];
  if (!left.isTensor() || !right.isTensor()) return false;
  const at::Tensor &a = left.toTensor(), &b = right.toTensor();
  if (!multiplies_slowly(a.scalar_type())) return false;
  // Factors of different types are refused, in words of the kernel's own.
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    const auto& value = stack[first + i];
    if (value.isTensor() && value.toTensor().defined() &&
        value.toTensor().scalar_type() != a.scalar_type())
      return false;
  }
  if (info.factors.convolution) return true;
  if (a.dim() < 2 || b.dim() < 2) return false;
  const double work = double(a.numel()) * double(b.size(-1));
  return work >= kWorthwhile * (double(a.numel()) + double(b.numel()));
}

}  // namespace awt
