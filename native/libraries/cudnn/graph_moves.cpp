// Operations of graphs that move elements or draw them.
#include "libraries/cudnn/graph.h"
#include "libraries/cudnn/philox.h"

namespace aw::dnn {
namespace {

// The memory as it lies, with other dimensions; or elements in the order of their indices
// (CUDNN_RESHAPE_LOGICAL).
void add_reshape(Builder& builder, const Content& c) {
  const size_t x = builder.slot(c, CUDNN_ATTR_OPERATION_RESHAPE_XDESC),
               y = builder.slot(c, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
  const Layout from = builder.layout(x), to = builder.layout(y);
  require(from.elements() == to.elements(), "a tensor of another count of elements", kWrongShape);
  bool logical = false;
#ifndef AW_CUDA_12
  logical = c.get<int32_t>(CUDNN_ATTR_OPERATION_RESHAPE_MODE, CUDNN_RESHAPE_VIEW_ONLY) ==
            CUDNN_RESHAPE_LOGICAL;
#endif
  require(logical || to.span() <= from.span(), "a view of more memory than there is", kWrongShape);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    if (logical) {
      const Dense<T> all(run[x]);
      return put<T>(run[y], all.get());
    }
    View seen(to, run[x].data);
    seen.type = run[x].type;
    map<T, 1>(run[y], 1, 0, {seen}, Copy{});
  });
}

// A part of a tensor, `first` elements in along each dimension.
View part_of_tensor(const View& from, const std::vector<int64_t>& first, const Layout& shape) {
  View out = from;
  int64_t at = 0;
  for (int i = 0; i < from.rank; ++i)
    at += first[static_cast<size_t>(i)] * from.strides[i], out.dims[i] = shape.dims[i];
  out.data += at * static_cast<int64_t>(element_bytes(from.type));
  return out;
}

void add_concat(Builder& builder, const Content& c) {
  const auto axis = c.get<int64_t>(CUDNN_ATTR_OPERATION_CONCAT_AXIS);
  const size_t y = builder.slot(c, CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC);
  const Layout shape = builder.layout(y);
  require(axis >= 0 && axis < shape.rank, "an axis that the tensor has not");
  if (shape.type == CUDNN_DATA_BOOLEAN && !builder.slots[y].is_virtual)
    unsupported("CONCAT of bits");
  std::vector<size_t> in;
  int64_t sum = 0;
  for (const Shared& each_in : c.value(CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS).objects) {
    in.push_back(builder.use(*each_in));
    Layout wanted = shape;
    const Layout& got = builder.layout(in.back());
    wanted.dims[axis] = got.dims[axis];
    require(got.same_shape(wanted), "tensors that do not go together", kWrongShape);
    sum += got.dims[axis];
  }
  require(sum == shape.dims[axis], "a result of another size", kWrongShape);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    std::vector<int64_t> first(static_cast<size_t>(shape.rank), 0);
    for (size_t slot : in) {
      const View to = part_of_tensor(run[y], first, run[slot]);
      // One of them may lie there already (CUDNN_ATTR_OPERATION_CONCAT_INPLACE_INDEX).
      if (to.data != run[slot].data) map<T, 1>(to, 1, 0, {run[slot]}, Copy{});
      first[static_cast<size_t>(axis)] += run[slot].dims[axis];
    }
  });
}

#ifndef AW_CUDA_12
void add_transpose(Builder& builder, const Content& c) {
  const size_t x = builder.slot(c, CUDNN_ATTR_OPERATION_TRANSPOSE_XDESC),
               y = builder.slot(c, CUDNN_ATTR_OPERATION_TRANSPOSE_YDESC);
  const auto order = c.numbers(CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION);
  const Layout from = builder.layout(x), to = builder.layout(y);
  require(static_cast<int>(order.size()) == from.rank && to.rank == from.rank,
          "ranks that do not go together", kWrongShape);
  unsigned seen = 0;
  for (int i = 0; i < to.rank; ++i) {
    const int64_t axis = order[static_cast<size_t>(i)];
    require(axis >= 0 && axis < from.rank && !(seen >> axis & 1), "no permutation");
    require(to.dims[i] == from.dims[axis], "a result of another shape", kWrongShape);
    seen |= 1u << axis;
  }
  builder.add([=](const Run& run, auto zero) {
    View turned = run[x];
    for (int i = 0; i < to.rank; ++i) {
      const int64_t axis = order[static_cast<size_t>(i)];
      turned.dims[i] = run[x].dims[axis], turned.strides[i] = run[x].strides[axis];
    }
    map<decltype(zero), 1>(run[y], 1, 0, {turned}, Copy{});
  });
}

void add_slice(Builder& builder, const Content& c) {
  const size_t x = builder.slot(c, CUDNN_ATTR_OPERATION_SLICE_XDESC),
               y = builder.slot(c, CUDNN_ATTR_OPERATION_SLICE_YDESC);
  const Layout from = builder.layout(x), to = builder.layout(y);
  const auto first = c.numbers(CUDNN_ATTR_OPERATION_SLICE_START_INDICES),
             limit = c.numbers(CUDNN_ATTR_OPERATION_SLICE_LIMIT_INDICES);
  auto steps = c.has(CUDNN_ATTR_OPERATION_SLICE_STRIDES)
                   ? c.numbers(CUDNN_ATTR_OPERATION_SLICE_STRIDES)
                   : std::vector<int64_t>(first.size(), 1);
  require(static_cast<int>(first.size()) == from.rank && limit.size() == first.size() &&
              steps.size() == first.size() && to.rank == from.rank,
          "lists of different lengths", kWrongShape);
  if (from.type == CUDNN_DATA_BOOLEAN && !builder.slots[x].is_virtual) unsupported("SLICE of bits");
  for (int i = 0; i < from.rank; ++i) {
    const auto k = static_cast<size_t>(i);
    require(first[k] >= 0 && steps[k] > 0 && limit[k] <= from.dims[i] && first[k] < limit[k],
            "indices out of range", kOutOfBound);
    require(to.dims[i] == (limit[k] - first[k] + steps[k] - 1) / steps[k],
            "a result of another shape", kWrongShape);
  }
  builder.add([=](const Run& run, auto zero) {
    View part = part_of_tensor(run[x], first, to);
    for (int i = 0; i < part.rank; ++i) part.strides[i] *= steps[static_cast<size_t>(i)];
    map<decltype(zero), 1>(run[y], 1, 0, {part}, Copy{});
  });
}
#endif

void add_random(Builder& builder, const Content& c) {
  const Content& what = c.object(CUDNN_ATTR_OPERATION_RNG_DESC);
  const int kind = what.get<int32_t>(CUDNN_ATTR_RNG_DISTRIBUTION);
  require(kind >= CUDNN_RNG_DISTRIBUTION_BERNOULLI && kind <= CUDNN_RNG_DISTRIBUTION_NORMAL,
          "no such distribution");
  const bool normal = kind == CUDNN_RNG_DISTRIBUTION_NORMAL,
             uniform = kind == CUDNN_RNG_DISTRIBUTION_UNIFORM;
  const double first = normal    ? what.real(CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, 0)
                       : uniform ? what.real(CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, 0)
                                 : what.real(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.5);
  const double second = normal ? what.real(CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, 1)
                               : what.real(CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, 1);
  const size_t y = builder.slot(c, CUDNN_ATTR_OPERATION_RNG_YDESC);
  // The seed is a number of the graph's, or a tensor.
  const bool has_seed = c.has(CUDNN_ATTR_OPERATION_RNG_SEED);
  const bool from_tensor =
      has_seed && c.value(CUDNN_ATTR_OPERATION_RNG_SEED).type == CUDNN_TYPE_BACKEND_DESCRIPTOR;
  const size_t seed = from_tensor ? builder.slot(c, CUDNN_ATTR_OPERATION_RNG_SEED) : y;
  const int64_t plain =
      has_seed && !from_tensor ? c.get<int64_t>(CUDNN_ATTR_OPERATION_RNG_SEED) : 0;
  const bool has_offset = c.has(CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC);
  const size_t offset = has_offset ? builder.slot(c, CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC) : y;
  const int64_t count = builder.layout(y).elements();
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    const auto key = static_cast<uint64_t>(from_tensor ? whole_number_of(run[seed]) : plain);
    const auto from = static_cast<uint64_t>(has_offset ? whole_number_of(run[offset]) : 0);
    Scratch<T> drawn(count);
    share((count + kRow - 1) / kRow, kRow * 8, [&](int64_t block) {
      for (int64_t i = block * kRow; i < std::min(count, (block + 1) * kRow); ++i) {
        double value = uniform_at(key, from, i);
        if (normal) {  // Box and Muller's: two of four words make a number
          const Philox four(key, from ^ 0x8000000000000000u, static_cast<uint64_t>(i));
          const double radius = std::sqrt(-2 * std::log((four.words[0] + 1.0) * 0x1p-32));
          value = first +
                  second * radius * std::cos(6.28318530717958647692 * unit_interval(four.words[1]));
        } else if (uniform) {
          value = first + (second - first) * value;
        } else {
          value = value < first ? 1 : 0;
        }
        drawn[i] = static_cast<T>(value);
      }
    });
    put<T>(run[y], drawn.get());
  });
}

}  // namespace

bool add_moves(Builder& builder, const Content& c) {
  switch (c.type) {
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return add_reshape(builder, c), true;
    case CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR:
      return add_concat(builder, c), true;
    case CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR:
      return add_random(builder, c), true;
#ifndef AW_CUDA_12
    case CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR:
      return add_transpose(builder, c), true;
    case CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR:
      return add_slice(builder, c), true;
#endif
    default:
      return false;
  }
}

}  // namespace aw::dnn
