// cuTENSOR: permutations, elementwise operations and reductions.
#include <algorithm>
#include <limits>

#include "libraries/cutensor/walk.h"

namespace aw::tensor {
namespace {

// Operands with the one that is written in front: its strides order the loops.
std::vector<const Operand*> in_order(const Operation& operation) {
  std::vector<const Operand*> out = {&operation.operands.back()};
  for (size_t i = 0; i + 1 < operation.operands.size(); ++i) out.push_back(&operation.operands[i]);
  return out;
}

// An input of an operation with its scalar: where that is 0 nothing is read.
template <class W>
struct Term {
  const Operand* from;
  const void* data;
  W factor;

  void row(int64_t at, int64_t step, int64_t count, W* to) const {
    if (factor == W(0)) return std::fill_n(to, count, W(0)), void();
    load(*from, data, at, step, count, to);
    apply(from->op, to, count);
    if (factor != W(1))
      for (int64_t i = 0; i < count; ++i) to[i] *= factor;
  }
};

template <class W>
std::vector<Term<W>> terms_of(const Call& call, const Operation& kept) {
  std::vector<Term<W>> terms;
  for (size_t i = 0; i < call.scalars.size(); ++i) {
    terms.push_back({&kept.operands[i], call.data[i], scalar<W>(kept, call.scalars[i])});
    require(call.data[i] || terms[i].factor == W(0));
  }
  require(call.data.back() != nullptr);
  return terms;
}

// What each element of a result begins with.
template <class W>
W identity(cutensorOperator_t op) {
  if (op == CUTENSOR_OP_MUL) return W(1);
  if constexpr (!kComplex<W>) {
    if (op == CUTENSOR_OP_MAX) return -std::numeric_limits<W>::infinity();
    if (op == CUTENSOR_OP_MIN) return std::numeric_limits<W>::infinity();
  }
  return W(0);
}

// Half against half, so that errors grow with the logarithm of the length.
template <class W>
W folded(cutensorOperator_t op, W* row, int64_t count) {
  while (count > 1) {
    const int64_t half = (count + 1) / 2;
    combine(op, row, row + half, count - half);
    count = half;
  }
  return row[0];
}

}  // namespace

void elementwise(const Call& call) {
  computed(call.operation, [&](auto zero) {
    using W = decltype(zero);
    auto kept = std::make_shared<Operation>(call.operation);
    auto terms = terms_of<W>(call, *kept);
    const Walk walk(kept->operands.back().modes, in_order(*kept));
    lib::submit(call.stream, "cutensor_elementwise",
                [kept, terms, walk, out = const_cast<void*>(call.data.back())] {
                  each_row(walk, [&](const Places& at, int64_t count) {
                    W rows[3][kRow];
                    for (size_t i = 0; i < terms.size(); ++i)
                      terms[i].row(at[i + 1], walk.step(i + 1), count, rows[i]);
                    if (terms.size() > 1) combine(kept->first, rows[0], rows[1], count);
                    if (terms.size() > 2) combine(kept->second, rows[0], rows[2], count);
                    store(kept->operands.back(), out, at[0], walk.step(0), count, rows[0]);
                  });
                });
  });
}

void reduction(const Call& call) {
  computed(call.operation, [&](auto zero) {
    using W = decltype(zero);
    auto kept = std::make_shared<Operation>(call.operation);
    auto terms = terms_of<W>(call, *kept);
    const Operand &a = kept->operands[0], &d = kept->operands.back();
    std::vector<int32_t> dropped;
    for (int32_t mode : a.modes)
      if (!d.has(mode)) dropped.push_back(mode);
    const Walk outer(d.modes, in_order(*kept)), inner(dropped, {&a});
    // Rows go along what is dropped where that lies closer.
    const bool along =
        !inner.extents.empty() && (outer.extents.empty() || outer.step(1) == 0 ||
                                   std::abs(inner.step(0)) < std::abs(outer.step(1)));
    lib::submit(
        call.stream, "cutensor_reduction",
        [kept, terms, outer, inner, along, out = const_cast<void*>(call.data.back())] {
          const Operand &from = kept->operands[0], &to = kept->operands.back();
          const auto op = kept->first;
          // The sums of some elements that lie `outer.step` apart.
          auto finish = [&](W* sums, const Places& at, int64_t count) {
            if (terms[0].factor != W(1))
              for (int64_t i = 0; i < count; ++i) sums[i] *= terms[0].factor;
            if (terms[1].factor != W(0)) {
              W beside[kRow];
              terms[1].row(at[2], outer.step(2), count, beside);
              combine(CUTENSOR_OP_ADD, sums, beside, count);
            }
            store(to, out, at[0], outer.step(0), count, sums);
          };
          each_row(outer, [&](const Places& at, int64_t count) {
            W sums[kRow], row[kRow];
            std::fill_n(sums, count, identity<W>(op));
            const int64_t rows = inner.rows(), length = inner.row();
            for (int64_t i = 0; terms[0].factor != W(0) && i < (along ? count : 1); ++i) {
              const int64_t first = at[1] + i * outer.step(1);
              for (int64_t r = 0; r < rows; ++r) {
                const int64_t place = first + inner.place(r)[0];
                if (along) {
                  for (int64_t k = 0; k < length; k += kRow) {
                    const int64_t n = std::min(kRow, length - k);
                    load(from, terms[0].data, place + k * inner.step(0), inner.step(0), n, row);
                    apply(from.op, row, n);
                    const W part = folded(op, row, n);
                    combine(op, sums + i, &part, 1);
                  }
                } else {
                  for (int64_t k = 0; k < length; ++k) {
                    load(from, terms[0].data, place + k * inner.step(0), outer.step(1), count, row);
                    apply(from.op, row, count);
                    combine(op, sums, row, count);
                  }
                }
              }
            }
            if (terms[0].factor == W(0)) std::fill_n(sums, count, W(0));
            finish(sums, at, count);
          });
        });
  });
}

}  // namespace aw::tensor
