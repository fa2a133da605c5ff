// The fused cells of LSTM and GRU, which nn.LSTM and nn.GRU take on device tensors. What they keep
// for the backward pass (the workspace) has CUDA's shape and contents: autograd reads it.
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>

#include "counterpart.h"

namespace awt {
namespace {

using at::Tensor;

Tensor with_bias(const Tensor& gates, const OptionalTensor& bias) {
  const auto type = wide_type(gates);
  return given(bias) ? gates.to(type) + bias->to(type) : gates.to(type);
}

void check_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& state,
                int64_t factor) {
  TORCH_CHECK(input_gates.dim() == 2 && input_gates.sizes() == hidden_gates.sizes(),
              "fused recurrent cell: gates must be matrices of one size, got ", input_gates.sizes(),
              " and ", hidden_gates.sizes());
  TORCH_CHECK(state.numel() * factor == input_gates.numel(),
              "fused recurrent cell: ", state.sizes(), " is no state for gates of ",
              input_gates.sizes());
}

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input_gates, const Tensor& hidden_gates,
                                        const Tensor& cx, const OptionalTensor& input_bias,
                                        const OptionalTensor& hidden_bias) {
  check_cell(input_gates, hidden_gates, cx, 4);
  const Tensor gates = with_bias(input_gates, input_bias) + with_bias(hidden_gates, hidden_bias);
  const auto parts = gates.chunk(4, 1);
  const Tensor in = parts[0].sigmoid(), forget = parts[1].sigmoid(), cell = parts[2].tanh(),
               out = parts[3].sigmoid();
  const Tensor cy = forget * cx.to(gates.scalar_type()) + in * cell;
  const Tensor hy = out * cy.tanh();
  const auto type = cx.scalar_type();
  return {hy.to(type), cy.to(type),
          at::cat({in, forget, cell, out}, 1).to(input_gates.scalar_type())};
}

std::tuple<Tensor, Tensor, Tensor> lstm_backward(const OptionalTensor& grad_hy,
                                                 const OptionalTensor& grad_cy, const Tensor& cx,
                                                 const Tensor& cy, const Tensor& workspace,
                                                 bool has_bias) {
  if (!given(grad_hy) && !given(grad_cy)) return {};
  const auto type = wide_type(cx);
  const auto parts = workspace.to(type).chunk(4, 1);
  const Tensor &in = parts[0], &forget = parts[1], &cell = parts[2], &out = parts[3];
  const Tensor activated = cy.to(type).tanh();
  const Tensor gh = given(grad_hy) ? grad_hy->to(type) : at::zeros_like(activated);
  Tensor gc = gh * out * (1 - activated * activated);
  if (given(grad_cy)) gc = gc + grad_cy->to(type);
  const Tensor gates = at::cat({gc * cell * in * (1 - in), gc * cx.to(type) * forget * (1 - forget),
                                gc * in * (1 - cell * cell), gh * activated * out * (1 - out)},
                               1)
                           .to(workspace.scalar_type());
  const Tensor state = (gc * forget).to(cx.scalar_type());
  return {gates, state, has_bias ? gates.sum(0) : Tensor()};
}

std::tuple<Tensor, Tensor> gru(const Tensor& input_gates, const Tensor& hidden_gates,
                               const Tensor& hx, const OptionalTensor& input_bias,
                               const OptionalTensor& hidden_bias) {
  check_cell(input_gates, hidden_gates, hx, 3);
  const auto in = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const Tensor reset = (in[0] + hidden[0]).sigmoid();
  const Tensor update = (in[1] + hidden[1]).sigmoid();
  const Tensor candidate = (in[2] + reset * hidden[2]).tanh();
  const Tensor before = hx.to(candidate.scalar_type());
  const Tensor hy = candidate + update * (before - candidate);
  return {hy.to(hx.scalar_type()),
          at::cat({reset, update, candidate, before, hidden[2]}, 1).to(hx.scalar_type())};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_backward(const Tensor& grad_hy,
                                                                const Tensor& workspace,
                                                                bool has_bias) {
  const auto type = wide_type(workspace);
  const auto parts = workspace.to(type).chunk(5, 1);
  const Tensor &reset = parts[0], &update = parts[1], &candidate = parts[2], &before = parts[3],
               &hidden = parts[4];
  const Tensor grad = grad_hy.to(type);
  const Tensor of_update = grad * (before - candidate) * (1 - update) * update;
  const Tensor of_candidate = grad * (1 - update) * (1 - candidate * candidate);
  const Tensor of_reset = of_candidate * hidden * (1 - reset) * reset;
  const auto kind = workspace.scalar_type();
  const Tensor input_gates = at::cat({of_reset, of_update, of_candidate}, 1).to(kind);
  const Tensor hidden_gates = at::cat({of_reset, of_update, of_candidate * reset}, 1).to(kind);
  return {input_gates, hidden_gates, (grad * update).to(kind),
          has_bias ? input_gates.sum(0) : Tensor(), has_bias ? hidden_gates.sum(0) : Tensor()};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, FPGA, library) {
  counterpart(library, "_thnn_fused_lstm_cell", TORCH_FN(lstm));
  counterpart(library, "_thnn_fused_lstm_cell_backward_impl", TORCH_FN(lstm_backward));
  counterpart(library, "_thnn_fused_gru_cell", TORCH_FN(gru));
  counterpart(library, "_thnn_fused_gru_cell_backward", TORCH_FN(gru_backward));
}

}  // namespace awt
