// The register that says how floats are rounded and whether subnormal ones are flushed.
#pragma once

#include <cstdint>

namespace aw::processor {

// The usual one while it lives, what the program had set behind it: kernels and libraries are
// compiled for the usual one, and may change it themselves, and a fault leaves it anyhow.
class UsualFloatControl {
 public:
  UsualFloatControl() : before_(read()) {
    if ((before_ & ~kFlags) != kUsual) write(kUsual);
  }
  ~UsualFloatControl() { write(before_); }
  UsualFloatControl(const UsualFloatControl&) = delete;
  UsualFloatControl& operator=(const UsualFloatControl&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr uint64_t kUsual = 0x1F80, kFlags = 0x3F;  // MXCSR after reset; what has happened
  static uint64_t read() { return __builtin_ia32_stmxcsr(); }
  static void write(uint64_t value) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(value)); }
#else
  static constexpr uint64_t kUsual = 0, kFlags = 0;  // FPCR
  static uint64_t read() {
    uint64_t value;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void write(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#endif

  const uint64_t before_;
};

}  // namespace aw::processor
