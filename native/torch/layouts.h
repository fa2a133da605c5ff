// Device tensors of other layouts (sparse, nested, quantised) seen as the CPU's, and back.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <functional>

namespace awt {

// What happens to the dense tensors that a tensor is made of.
using OfParts = std::function<at::Tensor(const at::Tensor&)>;

// Sparse tensors (COO, CSR, CSC, BSR, BSC): no storage, but tensors for indices and values.
bool is_sparse(const at::Tensor& tensor);

// The CPU's sparse tensor of the same shape, made of `part` of each of the parts.
at::Tensor sparse_on_cpu(const at::Tensor& sparse, const OfParts& part);

// The device's sparse tensor, made of `part` of each of the parts.
at::Tensor sparse_on_device(const at::Tensor& sparse, c10::DeviceIndex device, const OfParts& part);

// Gives `original` the shape and the parts of `changed`.
void take_over_sparse(const at::Tensor& original, const at::Tensor& changed, const OfParts& part);

// The CPU's nested or quantised tensor over `storage`; anything else is dense.
bool is_nested_or_quantized(const at::Tensor& tensor);
at::Tensor alias_of_layout(const at::Tensor& original, c10::Storage storage);

// Registers the kernels of the keys of these layouts.
void register_layouts();

}  // namespace awt
