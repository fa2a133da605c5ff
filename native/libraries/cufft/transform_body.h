// Included once for each instruction set, under its options, with AW_SET as the namespace's name.
#include "third_party/pocketfft/pocketfft_hdronly.h"

namespace aw::cufft::AW_SET {
namespace {

namespace pocket = pocketfft::detail;
using pocket::cmplx;
using pocket::shape_t;
using pocket::stride_t;

// The plans of the transform that runs on this thread: get_plan asks for them, so that nothing is
// planned while it runs.
template <class Plan>
const std::vector<std::shared_ptr<Plan>>*& current_plans() {
  thread_local const std::vector<std::shared_ptr<Plan>>* plans;
  return plans;
}

template <class Plan>
std::shared_ptr<Plan> planned(size_t length) {
  for (auto& plan : *current_plans<Plan>())
    if (plan->length() == length) return plan;
  return std::make_shared<Plan>(length);
}

}  // namespace
}  // namespace aw::cufft::AW_SET

namespace pocketfft::detail {
#define AW_PLANNED(plan)                                 \
  template <>                                            \
  inline std::shared_ptr<plan> get_plan(size_t length) { \
    return aw::cufft::AW_SET::planned<plan>(length);     \
  }
AW_PLANNED(pocketfft_c<float>)
AW_PLANNED(pocketfft_c<double>)
AW_PLANNED(pocketfft_r<float>)
AW_PLANNED(pocketfft_r<double>)
#undef AW_PLANNED
}  // namespace pocketfft::detail

namespace aw::cufft::AW_SET {
namespace {

// Numbers of elements that are worth a thread's while; a part's size depends on the problem alone.
constexpr size_t kPart = 1 << 15;

struct View {
  char* data;
  stride_t stride;
};

// body(shape, in, out) for parts of all lines along `axis`, on several threads. `shape` is what is
// divided; the longest of its other dimensions is.
template <class Body>
void in_parts(const shape_t& shape, size_t axis, const View& in, const View& out,
              const Body& body) {
  size_t elements = 1, divided = axis;
  for (size_t i = 0; i < shape.size(); ++i) {
    elements *= shape[i];
    if (i != axis && (divided == axis || shape[i] > shape[divided])) divided = i;
  }
  const size_t parts =
      divided == axis ? 1 : std::min(shape[divided], std::max<size_t>(1, elements / kPart));
  if (parts == 1) return body(shape, in, out);
  // Whole vectors of short lines, so that few are left over.
  const size_t all = shape[divided], grain = elements / all >= kPart ? 1 : 8;
  lib::parallel(parts, [&](uint64_t part) {
    const size_t groups = (all + grain - 1) / grain;
    const size_t begin = std::min(all, part * groups / parts * grain);
    const size_t end = std::min(all, (part + 1) * groups / parts * grain);
    if (begin == end) return;
    shape_t mine = shape;
    mine[divided] = end - begin;
    const auto from = static_cast<ptrdiff_t>(begin);
    try {
      body(mine, View{in.data + from * in.stride[divided], in.stride},
           View{out.data + from * out.stride[divided], out.stride});
    } catch (const std::bad_alloc&) {
      anywarp_fail(CUDA_ERROR_OUT_OF_MEMORY, "cuFFT: no memory for a transform");
    }
  });
}

template <class Format>
float widened(uint16_t bits) {
  return formats::widen(Format{bits});
}
template <class Format>
uint16_t narrowed(float value) {
  Format made;
  formats::narrow(value, made);
  return made.bits;
}

// Every number of `width` reals along the last dimension from one type to another.
template <class From, class To, class Convert>
void convert(const shape_t& shape, const View& in, const View& out, size_t width,
             const Convert& each) {
  const size_t last = shape.size() - 1;
  in_parts(shape, last, in, out, [&](const shape_t& mine, const View& source, const View& target) {
    const pocket::arr_info from(mine, source.stride), to(mine, target.stride);
    pocket::multi_iter<1> lines(from, to, last);
    while (lines.remaining() > 0) {
      lines.advance(1);
      for (size_t i = 0; i < mine[last]; ++i) {
        const auto* at = reinterpret_cast<const From*>(source.data + lines.iofs(i));
        auto* put = reinterpret_cast<To*>(target.data + lines.oofs(i));
        for (size_t k = 0; k < width; ++k) put[k] = each(at[k]);
      }
    }
  });
}

template <class Real>
class Of final : public Transform {
 public:
  explicit Of(const Problem& problem) : problem_(problem) {
    if (problem.batch > 1) shape_.push_back(problem.batch);
    first_ = shape_.size();
    shape_.insert(shape_.end(), problem.length.begin(), problem.length.begin() + problem.rank);
    half_ = shape_;
    half_.back() = shape_.back() / 2 + 1;
    const bool real = problem.kind != Kind::kComplex;
    for (size_t i = 0; i < problem.rank; ++i) {
      const size_t length = problem.length[i];
      if (real && i + 1 == problem.rank)
        real_.push_back(std::make_shared<pocket::pocketfft_r<Real>>(length));
      else if (!has(length))
        complex_.push_back(std::make_shared<pocket::pocketfft_c<Real>>(length));
    }
  }

  void run(const Place& in, const Place& out, bool forward) const override try {
    if (problem_.number == Number::kHalf || problem_.number == Number::kBfloat)
      return narrow(view(in), view(out), forward);
    if (shape_.size() == 1 && close(in, width_in()) && close(out, width_out()))
      return one(in.data, out.data, forward);
    wide(view(in), view(out), forward);
  } catch (const std::bad_alloc&) {
    anywarp_fail(CUDA_ERROR_OUT_OF_MEMORY, "cuFFT: no memory for a transform");
  }

 private:
  using Complex = cmplx<Real>;

  bool has(size_t length) const {
    for (auto& plan : complex_)
      if (plan->length() == length) return true;
    return false;
  }

  View view(const Place& place) const {
    auto* begin = place.stride.begin();
    return {static_cast<char*>(place.data),
            stride_t(begin + (first_ ? 0 : 1), begin + 1 + problem_.rank)};
  }

  const shape_t& shape_in() const { return problem_.kind == Kind::kComplexToReal ? half_ : shape_; }
  const shape_t& shape_out() const {
    return problem_.kind == Kind::kRealToComplex ? half_ : shape_;
  }
  size_t width_in() const { return problem_.kind == Kind::kRealToComplex ? 1 : 2; }
  size_t width_out() const { return problem_.kind == Kind::kComplexToReal ? 1 : 2; }

  static stride_t packed(const shape_t& shape, size_t element) {
    stride_t out(shape.size());
    auto step = static_cast<ptrdiff_t>(element);
    for (size_t i = shape.size(); i-- > 0;) out[i] = step, step *= static_cast<ptrdiff_t>(shape[i]);
    return out;
  }

  // Whether a line may be written as soon as it has been read: what it is made of lies in the same
  // bytes.
  bool same_lines(const View& in, const View& out) const {
    const size_t outer = in.stride.size() - (problem_.kind == Kind::kComplex ? 0 : 1);
    return std::equal(in.stride.begin(), in.stride.begin() + static_cast<ptrdiff_t>(outer),
                      out.stride.begin());
  }

  static bool close(const Place& place, size_t width) {
    return place.stride[1] == static_cast<ptrdiff_t>(width * sizeof(Real));
  }

  // One transform of numbers that follow each other, in the place where the result goes.
  void one(const void* in, void* out, bool forward) const {
    const size_t length = shape_[0];
    if (problem_.kind == Kind::kComplex) {
      if (in != out) memmove(out, in, length * sizeof(Complex));
      return complex_[0]->exec(static_cast<Complex*>(out), Real(1), forward);
    }
    // pocketfft has the real and imaginary parts of half the numbers without the imaginary part of
    // the first, which is 0: the others lie where they belong.
    auto* from = static_cast<const Real*>(in);
    auto* to = static_cast<Real*>(out);
    if (problem_.kind == Kind::kRealToComplex) {
      memmove(to + 1, from, length * sizeof(Real));
      real_[0]->exec(to + 1, Real(1), true);
      to[0] = to[1], to[1] = 0;
      if (length % 2 == 0) to[length + 1] = 0;
    } else {
      const Real first = from[0];
      memmove(to + 1, from + 2, (length - 1) * sizeof(Real));
      to[0] = first;
      real_[0]->exec(to, Real(1), false);
    }
  }

  void wide(const View& in, const View& out, bool forward) const {
    if (in.data == out.data && !same_lines(in, out)) {
      pocket::arr<char> kept(pocket::util::prod(shape_in()) * width_in() * sizeof(Real));
      const View copy{kept.data(), packed(shape_in(), width_in() * sizeof(Real))};
      convert<Real, Real>(shape_in(), in, copy, width_in(), [](Real x) { return x; });
      return wide(copy, out, forward);
    }
    const size_t last = shape_.size() - 1;
    if (problem_.kind == Kind::kComplex) {
      complex(shape_, first_, last + 1, in, out, forward);
    } else if (problem_.kind == Kind::kRealToComplex) {
      in_parts(half_, last, in, out,
               [&](const shape_t& part, const View& source, const View& target) {
                 current_plans<pocket::pocketfft_r<Real>>() = &real_;
                 shape_t reals = part;
                 reals.back() = shape_.back();
                 pocket::cndarr<Real> from(source.data, reals, source.stride);
                 pocket::ndarr<Complex> to(target.data, part, target.stride);
                 pocket::general_r2c(from, to, last, pocket::FORWARD, Real(1), 1);
               });
      complex(half_, first_, last, out, out, pocket::FORWARD);
    } else if (last == first_) {
      last_to_real(in, out);
    } else if (in.data == out.data) {
      complex(half_, first_, last, in, in, pocket::BACKWARD);
      last_to_real(in, out);
    } else {
      pocket::arr<char> kept(pocket::util::prod(half_) * sizeof(Complex));
      const View between{kept.data(), packed(half_, sizeof(Complex))};
      complex(half_, first_, last, in, between, pocket::BACKWARD);
      last_to_real(between, out);
    }
  }

  void complex(const shape_t& shape, size_t first, size_t end, const View& in, const View& out,
               bool forward) const {
    for (size_t axis = first; axis < end; ++axis) {
      in_parts(shape, axis, axis == first ? in : out, out,
               [&](const shape_t& part, const View& source, const View& target) {
                 current_plans<pocket::pocketfft_c<Real>>() = &complex_;
                 pocket::cndarr<Complex> from(source.data, part, source.stride);
                 pocket::ndarr<Complex> to(target.data, part, target.stride);
                 pocket::general_nd<pocket::pocketfft_c<Real>>(from, to, {axis}, Real(1), 1,
                                                               pocket::ExecC2C{forward});
               });
    }
  }

  void last_to_real(const View& in, const View& out) const {
    in_parts(half_, half_.size() - 1, in, out,
             [&](const shape_t& part, const View& source, const View& target) {
               current_plans<pocket::pocketfft_r<Real>>() = &real_;
               shape_t reals = part;
               reals.back() = shape_.back();
               pocket::cndarr<Complex> from(source.data, part, source.stride);
               pocket::ndarr<Real> to(target.data, reals, target.stride);
               pocket::general_c2r(from, to, part.size() - 1, pocket::BACKWARD, Real(1), 1);
             });
  }

  // 16-bit numbers become floats, and floats 16-bit numbers, around the transform.
  void narrow(const View& in, const View& out, bool forward) const {
    pocket::arr<char> before(pocket::util::prod(shape_in()) * width_in() * sizeof(Real));
    pocket::arr<char> after(pocket::util::prod(shape_out()) * width_out() * sizeof(Real));
    const View source{before.data(), packed(shape_in(), width_in() * sizeof(Real))};
    const View target{after.data(), packed(shape_out(), width_out() * sizeof(Real))};
    if (problem_.number == Number::kHalf)
      convert<uint16_t, Real>(shape_in(), in, source, width_in(), widened<formats::Half>);
    else
      convert<uint16_t, Real>(shape_in(), in, source, width_in(), widened<formats::Brain>);
    wide(source, target, forward);
    if (problem_.number == Number::kHalf)
      convert<Real, uint16_t>(shape_out(), target, out, width_out(), narrowed<formats::Half>);
    else
      convert<Real, uint16_t>(shape_out(), target, out, width_out(), narrowed<formats::Brain>);
  }

  Problem problem_;
  shape_t shape_, half_;  // with the batch in front, where it is more than one
  size_t first_;          // the first dimension that is transformed
  std::vector<std::shared_ptr<pocket::pocketfft_c<Real>>> complex_;
  std::vector<std::shared_ptr<pocket::pocketfft_r<Real>>> real_;
};

}  // namespace

std::shared_ptr<const Transform> make(const Problem& problem) {
  if (problem.number == Number::kDouble) return std::make_shared<Of<double>>(problem);
  return std::make_shared<Of<float>>(problem);
}

}  // namespace aw::cufft::AW_SET
