// cuTENSOR: contractions as products of matrices by OpenBLAS. Modes of a result come from one input
// (rows or columns) or both (a batch); inputs and results that are no matrices of the engine's are
// copied.
#include <limits.h>

#include "libraries/cublas/level3.h"
#include "libraries/cutensor/walk.h"

namespace aw::tensor {
namespace {

int narrow(int64_t value) {
  if (value > INT_MAX) unsupported("matrices of 2^31 and more rows or columns");
  return static_cast<int>(value);
}

// Modes as one dimension of a matrix, in a given order.
struct Group {
  std::vector<int32_t> modes;
  int64_t extent = 1;

  // How far it is from one to the next in a tensor; 0 where that differs.
  int64_t step(const Operand& in) const {
    int64_t step = 0, next = 0;
    for (int32_t mode : modes) {
      if (in.extent(mode) == 1) continue;
      if (!step)
        step = in.stride(mode);
      else if (in.stride(mode) != next)
        return 0;
      next = in.stride(mode) * in.extent(mode);
    }
    return step ? step : 1;
  }
};

Group group(std::vector<int32_t> modes, const Operand& by) {
  std::stable_sort(modes.begin(), modes.end(),
                   [&](int32_t a, int32_t b) { return by.stride(a) < by.stride(b); });
  Group made{modes};
  for (int32_t mode : modes) made.extent *= by.extent(mode);
  return made;
}

// A tensor as a batch of matrices in the engine's type.
struct Matrix {
  bool copied = false, transposed = false;
  int ld = 1;
  int64_t batch_step = 0;  // of a copy
};

template <class W>
bool of_type(const Operand& operand) {
  const auto type = operand.tensor.type;
  if constexpr (kComplex<W>) return type == (sizeof(W) == 16 ? CUDA_C_64F : CUDA_C_32F);
  return type == (sizeof(W) == 8 ? CUDA_R_64F : CUDA_R_32F);
}

template <class W>
Matrix matrix(const Operand& operand, const Group& rows, const Group& columns) {
  const int64_t down = rows.step(operand), across = columns.step(operand);
  Matrix made;
  const bool plain = of_type<W>(operand) && operand.op == CUTENSOR_OP_IDENTITY;
  if (plain && down == 1 && (across >= rows.extent || columns.extent == 1) && across <= INT_MAX) {
    made.ld = narrow(std::max(across, rows.extent));
  } else if (plain && across == 1 && (down >= columns.extent || rows.extent == 1) &&
             down <= INT_MAX) {
    made.transposed = true;
    made.ld = narrow(std::max(down, columns.extent));
  } else {
    made.copied = true;
    made.ld = narrow(rows.extent);
    made.batch_step = rows.extent * columns.extent;
  }
  return made;
}

// The tensor that a copy of another is: columns of rows, of one matrix after the other.
Operand packed(const Operand& like, cudaDataType_t type, const Group& rows, const Group& columns,
               const Group& batch) {
  Operand made;
  made.tensor.type = type;
  int64_t stride = 1;
  for (auto* group : {&rows, &columns, &batch})
    for (int32_t mode : group->modes) {
      made.modes.push_back(mode);
      made.tensor.extents.push_back(like.extent(mode));
      made.tensor.strides.push_back(stride);
      stride *= like.extent(mode);
    }
  return made;
}

template <class W>
void product(char opa, char opb, int m, int n, int k, W alpha, const W* a, int lda, const W* b,
             int ldb, W beta, W* c, int ldc) {
  cublas::gemm_now<W, "gemm_">(opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class W>
void contract(const Call& call) {
  const auto& operands = call.operation.operands;
  const Operand &a = operands[0], &b = operands[1], &c = operands[2], &d = operands[3];
  const W alpha = scalar<W>(call.operation, call.scalars[0]),
          beta = scalar<W>(call.operation, call.scalars[1]);
  require(call.data[0] && call.data[1] && call.data[3] && (call.data[2] || beta == W(0)));
  cublas::need<W, "gemm_">();

  std::vector<int32_t> rows, columns, sums, batches;
  for (int32_t mode : d.modes)
    (!b.has(mode) ? rows : !a.has(mode) ? columns : batches).push_back(mode);
  for (int32_t mode : a.modes)
    if (!d.has(mode)) sums.push_back(mode);
  const Group m = group(rows, d), n = group(columns, d), batch = group(batches, d),
              k = group(sums, a);
  narrow(m.extent), narrow(n.extent), narrow(k.extent);
  const Matrix A = matrix<W>(a, m, k), B = matrix<W>(b, k, n);
  Matrix D = matrix<W>(d, m, n);
  // The engine adds to what is there: the other tensor must be the same one, or not be read.
  const bool same = c.op == CUTENSOR_OP_IDENTITY && call.data[2] == call.data[3] &&
                    c.tensor.type == d.tensor.type &&
                    std::all_of(d.modes.begin(), d.modes.end(),
                                [&](int32_t mode) { return c.stride(mode) == d.stride(mode); });
  if (!D.copied && beta != W(0) && !same) {
    D = {};
    D.copied = true, D.ld = narrow(m.extent), D.batch_step = m.extent * n.extent;
  }
  const auto type = kComplex<W> ? (call.operation.wide ? CUDA_C_64F : CUDA_C_32F)
                                : (call.operation.wide ? CUDA_R_64F : CUDA_R_32F);
  const W one(1), zero(0);
  auto copy = [&](const Operand& from, const Operand& to, const void* source, void* target) {
    Operation move;
    move.kind = Kind::kPermutation, move.scalar = type, move.wide = call.operation.wide;
    move.operands = {from, to};
    elementwise({move, {&one}, {source, target}, call.stream});
  };
  std::shared_ptr<W> room_a, room_b, room_d;
  auto *at_a = static_cast<const W*>(call.data[0]), *at_b = static_cast<const W*>(call.data[1]);
  auto* at_d = static_cast<W*>(const_cast<void*>(call.data[3]));
  const Operand packed_a = packed(a, type, m, k, batch), packed_b = packed(b, type, k, n, batch),
                packed_d = packed(d, type, m, n, batch);
  if (A.copied) {
    room_a = room<W>(a.elements());
    copy(a, packed_a, call.data[0], room_a.get());
    at_a = room_a.get();
  }
  if (B.copied) {
    room_b = room<W>(b.elements());
    copy(b, packed_b, call.data[1], room_b.get());
    at_b = room_b.get();
  }
  if (D.copied) room_d = room<W>(d.elements()), at_d = room_d.get();

  const Operand &in_a = A.copied ? packed_a : a, &in_b = B.copied ? packed_b : b,
                &in_d = D.copied ? packed_d : d;
  Walk batch_walk(batch.modes, {&in_d, &in_a, &in_b});
  const W factor = D.copied ? one : alpha, add = D.copied ? zero : beta;
  const int mm = narrow(m.extent), nn = narrow(n.extent), kk = narrow(k.extent);
  lib::submit(call.stream, "cutensor_contraction", [=] {
    const int64_t count = batch_walk.rows(), length = batch_walk.row();
    for (int64_t r = 0; r < count; ++r) {
      Places at = batch_walk.place(r);
      for (int64_t i = 0; i < length; ++i) {
        const W *x = at_a + at[1], *y = at_b + at[2];
        W* z = at_d + at[0];
        if (!D.transposed)
          product(A.transposed ? 'T' : 'N', B.transposed ? 'T' : 'N', mm, nn, kk, factor, x, A.ld,
                  y, B.ld, add, z, D.ld);
        else  // the transposed product, of the transposed inputs in the other order
          product(B.transposed ? 'N' : 'T', A.transposed ? 'N' : 'T', nn, mm, kk, factor, y, B.ld,
                  x, A.ld, add, z, D.ld);
        for (size_t v = 0; v < 3; ++v) at[v] += batch_walk.step(v);
      }
    }
  });
  if (D.copied) {
    Operation last;
    last.kind = Kind::kElementwise, last.scalar = type, last.wide = call.operation.wide;
    last.operands = {packed_d, c, d};
    elementwise({last, {&alpha, &beta}, {room_d.get(), call.data[2], call.data[3]}, call.stream});
  }
  if (room_a || room_b || room_d)
    lib::submit(call.stream, "cutensor_contraction", [room_a, room_b, room_d] {});
}

}  // namespace

void contraction(const Call& call) {
  computed(call.operation, [&](auto zero) { contract<decltype(zero)>(call); });
}

// As two of two, in the order that takes the fewest multiplications.
void contraction_of_three(const Call& call) {
  const auto& all = call.operation.operands;
  const Operand &d = all[3], &e = all[4];
  require(call.data[0] && call.data[1] && call.data[2] && call.data[4]);
  auto product = [&](const std::vector<const Operand*>& operands) {
    double size = 1;
    std::vector<int32_t> seen;
    for (auto* one : operands)
      for (int32_t mode : one->modes)
        if (std::find(seen.begin(), seen.end(), mode) == seen.end())
          seen.push_back(mode), size *= static_cast<double>(one->extent(mode));
    return size;
  };
  // What two of them become: the modes that the third or the result has.
  auto between = [&](const Operand& x, const Operand& y, const Operand& third) {
    Operand made;
    int64_t stride = 1;
    for (auto* one : {&x, &y})
      for (int32_t mode : one->modes) {
        if (made.has(mode) || (!third.has(mode) && !e.has(mode))) continue;
        made.modes.push_back(mode);
        made.tensor.extents.push_back(one->extent(mode));
        made.tensor.strides.push_back(stride);
        stride *= one->extent(mode);
      }
    return made;
  };
  constexpr size_t kOrders[3][3] = {{0, 1, 2}, {1, 2, 0}, {0, 2, 1}};
  auto cost = [&](const size_t (&order)[3]) {
    const Operand &x = all[order[0]], &y = all[order[1]], &third = all[order[2]];
    const Operand made = between(x, y, third);
    return product({&x, &y}) + product({&made, &third});
  };
  const auto& order = *std::min_element(std::begin(kOrders), std::end(kOrders),
                                        [&](auto& x, auto& y) { return cost(x) < cost(y); });
  computed(call.operation, [&](auto zero) {
    using W = decltype(zero);
    const bool wide = call.operation.wide;
    Operand middle = between(all[order[0]], all[order[1]], all[order[2]]);
    middle.tensor.type =
        kComplex<W> ? (wide ? CUDA_C_64F : CUDA_C_32F) : (wide ? CUDA_R_64F : CUDA_R_32F);
    const W one(1);
    auto made = room<W>(middle.elements());
    Operation first, second;
    first.kind = second.kind = Kind::kContraction, first.wide = second.wide = wide;
    first.scalar = middle.tensor.type, second.scalar = call.operation.scalar;
    first.operands = {all[order[0]], all[order[1]], middle, middle};
    second.operands = {middle, all[order[2]], d, e};
    contract<W>({first,
                 {&one, &zero},
                 {call.data[order[0]], call.data[order[1]], made.get(), made.get()},
                 call.stream});
    contract<W>({second,
                 call.scalars,
                 {made.get(), call.data[order[2]], call.data[3], call.data[4]},
                 call.stream});
    lib::submit(call.stream, "cutensor_contraction", [made] {});
  });
}

}  // namespace aw::tensor
