// Convolutions with what becomes of their sums: a bias, and a bound.
#include "libraries/cudnn/graph.h"

namespace aw::dnn {

void join_convolutions(Builder& builder, const std::vector<int>& readers) {
  auto& steps = builder.steps;
  auto alone = [&](size_t slot) {
    return builder.slots[slot].is_virtual && slot < readers.size() && readers[slot] == 1;
  };
  for (size_t first = 0; first < steps.size(); ++first) {
    if (!steps[first].convolved) continue;
    const Convolved it = *steps[first].convolved;
    const Layout& shape = builder.layout(it.y);
    auto of_channels = [&](size_t slot) {
      const Layout& layout = builder.layout(slot);
      return !builder.slots[slot].is_virtual && layout.dims[1] == shape.dims[1] &&
             layout.elements() == shape.dims[1];
    };
    Finish finish;
    size_t last = first, at = it.y, bias = it.y;
    bool bounded = false;
    while (!bounded && alone(at) && last + 1 < steps.size() && steps[last + 1].bend) {
      Bend next = *steps[last + 1].bend;
      if (next.kind == Bend::sum && next.other == at) std::swap(next.in, next.other);
      if (next.in != at || !builder.layout(next.out).same_shape(shape)) break;
      if (next.kind == Bend::sum) {
        if (bias != it.y || !of_channels(next.other)) break;
        bias = next.other;
      } else if (next.kind == Bend::bound) {
        finish.least = next.least, finish.nan = next.nan, bounded = true;
      }
      at = next.out, ++last;
    }
    if (last == first) continue;
    steps[first].covers = last - first;
    steps[first].together = [=, none = it.y](const Run& run) {
      Finish how = finish;
      how.bias = bias == none ? std::vector<float>(static_cast<size_t>(run[none].dims[1]))
                              : numbers_of_channels(run[bias]);
      return convolve_finished(it.how, run[it.x], run[it.w], run[at], how);
    };
  }
}

}  // namespace aw::dnn
