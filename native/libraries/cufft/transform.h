// A Fourier transform with its twiddle factors, computed by pocketfft, in each instruction set that
// the library is compiled for. Bits are the same in all of them: no product and sum are fused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace aw::cufft {

enum class Kind { kComplex, kRealToComplex, kComplexToReal };
// How numbers lie in memory; all but doubles are computed as floats.
enum class Number { kHalf, kBfloat, kFloat, kDouble };

// So many transforms of up to three dimensions. The last length is the logical one: of the complex
// side of a real transform only length / 2 + 1 numbers exist.
struct Problem {
  Kind kind;
  Number number;
  size_t rank;
  std::array<size_t, 3> length;
  size_t batch;
};

// Bytes from one transform of the batch to the next, then from one number to the next along each
// dimension.
struct Place {
  void* data;
  std::array<ptrdiff_t, 4> stride;
};

class Transform {
 public:
  virtual ~Transform() = default;
  // Inside of work of a stream. Unnormalised; what `in` holds is kept unless it overlaps `out`.
  virtual void run(const Place& in, const Place& out, bool forward) const = 0;
};

// May throw std::bad_alloc.
std::shared_ptr<const Transform> make_transform(const Problem& problem);

namespace baseline {
std::shared_ptr<const Transform> make(const Problem& problem);
}
namespace avx2 {
std::shared_ptr<const Transform> make(const Problem& problem);
}

}  // namespace aw::cufft
