// Unboxed kernels for frequent operators: what fallback.cpp does, without packing the arguments
// into a stack.
#pragma once

#include <ATen/Context.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_local_scalar_dense_ops.h>
#include <ATen/ops/copy_ops.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "alias.h"
#include "deferred.h"
#include "devices.h"
#include "fallback.h"
#include "narrow_products.h"
#include "operator_watch.h"
#include "streams.h"

namespace awt {

// Looks at the arguments of one call: their device, and whether they are the ordinary case (tensors
// of one device with memory of their own kind, or CPU scalars that are only read). Everything else
// takes the boxed way, which knows the errors.
struct Look {
  c10::DeviceIndex device = -1;
  bool ordinary = true;
  bool scalars = false;              // of the CPU
  bool whole = false;                // a tensor of whole numbers
  bool half = false, brain = false;  // of float16, of bfloat16

  void operator()(const at::Tensor& tensor) {
    if (!tensor.defined()) return;
    const auto* impl = tensor.unsafeGetTensorImpl();
    if (C10_UNLIKELY(!is_plain_cuda(tensor))) {
      ordinary &= tensor.device().is_cpu() && tensor.dim() == 0;
      scalars = true;
      return;
    }
    if (C10_UNLIKELY(!impl->has_storage())) impl->storage();  // raises: its memory was taken back
    const c10::Device found = impl->unsafe_storage().device();
    if (device < 0) device = found.index();
    whole |= at::isIntegralType(c10::typeMetaToScalarType(impl->dtype()), /*includeBool=*/true);
    // Most of the CPU's kernels refuse complex32; the boxed way has an answer (rescue.h).
    ordinary &= found.is_cuda() && found.index() == device &&
                impl->dtype() != caffe2::TypeMeta::Make<c10::complex<c10::Half>>();
    half |= impl->dtype() == caffe2::TypeMeta::Make<c10::Half>();
    brain |= impl->dtype() == caffe2::TypeMeta::Make<c10::BFloat16>();
  }
  void operator()(at::Tensor& written) {
    (*this)(std::as_const(written));
    ordinary &= is_plain_cuda(written);
  }
  void operator()(const std::optional<at::Tensor>& tensor) {
    if (tensor) (*this)(*tensor);
  }
  void operator()(at::TensorList tensors) {
    for (const auto& tensor : tensors) (*this)(tensor);
  }
  void operator()(const at::ITensorListRef& tensors) {
    for (const auto& tensor : tensors) (*this)(tensor);
  }
  template <class Other>
  void operator()(const Other&) {}
};

// Arguments as the CPU's kernel takes them.
inline at::Tensor host(Aliases& aliases, at::Tensor& tensor) { return aliases.in(tensor, true); }
inline at::Tensor host(Aliases& aliases, const at::Tensor& tensor) { return aliases.in(tensor); }
inline std::optional<at::Tensor> host(Aliases& aliases, const std::optional<at::Tensor>& tensor) {
  return tensor ? std::optional(aliases.in(*tensor)) : std::nullopt;
}
template <class List>
  requires std::is_same_v<List, at::TensorList> || std::is_same_v<List, at::ITensorListRef>
std::vector<at::Tensor> host(Aliases& aliases, const List& tensors) {
  std::vector<at::Tensor> made;
  made.reserve(tensors.size());
  for (const auto& tensor : tensors) made.push_back(aliases.in(tensor));
  return made;
}
template <class Other>
const Other& host(Aliases&, const Other& other) {
  return other;
}

// Results as the caller takes them.
inline at::Tensor device_side(Aliases& aliases, at::Tensor result) {
  return aliases.out(std::move(result));
}
inline std::vector<at::Tensor> device_side(Aliases& aliases, std::vector<at::Tensor> results) {
  for (auto& result : results) result = aliases.out(std::move(result));
  return results;
}
template <class... Tensors>
std::tuple<Tensors...> device_side(Aliases& aliases, std::tuple<Tensors...> results) {
  return std::apply(
      [&](auto&... result) {
        return std::tuple<Tensors...>(device_side(aliases, std::move(result))...);
      },
      results);
}
template <class Other>
  requires std::is_arithmetic_v<Other> || std::is_same_v<Other, at::Scalar>
Other device_side(Aliases&, Other result) {
  return result;
}

// The argument that an in-place or out= operator returns.
inline at::Tensor* returned(at::Tensor& tensor) { return &tensor; }
template <class Other>
at::Tensor* returned(const Other&) {
  return nullptr;
}

template <class Op, class Schema = typename Op::schema>
struct Hot;

template <class Op, class Result, class... Arguments>
struct Hot<Op, Result(Arguments...)> {
  static const c10::OperatorHandle& handle() {
    static const auto found =
        c10::Dispatcher::singleton().findSchemaOrThrow(Op::name, Op::overload_name);
    return found;
  }

  static Result by_the_boxed_way(Arguments... arguments) {
    static const c10::BoxedKernel kernel = boxed_kernel(handle());
    return c10::impl::BoxedKernelWrapper<Result(Arguments...)>::call(
        kernel, handle(), c10::DispatchKeySet(c10::DispatchKey::CUDA),
        std::forward<Arguments>(arguments)...);
  }

  static void note_copy(Watch& watch, Arguments... arguments) {
    if constexpr (std::is_same_v<Op, at::_ops::copy_>) {
      [&](const at::Tensor& to, const at::Tensor& from, bool) {
        watch.copies(to, from);
      }(arguments...);
    } else if constexpr (std::is_same_v<Op, at::_ops::_local_scalar_dense>) {
      watch.copies_to_host(arguments...);
    }
  }

  static Result call(Arguments... arguments) {
    Look look;
    (look(arguments), ...);
    static const bool product(factors_of(Op::name)), rounds = tf32_asked() && product;
    static const bool slow_half = product && multiplies_slowly(at::kHalf),
                      slow_brain = product && multiplies_slowly(at::kBFloat16);
    static const HotRules rules(handle());
    // A copy joins the stream that it finds busy.
    const bool joins = std::is_same_v<Op, at::_ops::copy_> && driver_busy();
    if (C10_UNLIKELY(!look.ordinary || look.device < 0 || deferring() || rounds || joins ||
                     (look.half && slow_half) || (look.brain && slow_brain) ||
                     (look.scalars && !rules.scalars) || (look.whole && rules.refuses) ||
                     (rules.alerts && at::globalContext().deterministicAlgorithms())))
      return by_the_boxed_way(std::forward<Arguments>(arguments)...);
    static const c10::DispatchKeySet target(handle().hasKernelForDispatchKey(kCounterpartKey)
                                                ? kCounterpartKey
                                                : c10::DispatchKey::CPU);
    enter_thread_for(look.device);
    wait_for_driver(look.device);
    Watch watch(Op::name, look.device);
    if (C10_UNLIKELY(bool(watch))) note_copy(watch, arguments...);
    Aliases aliases(look.device);
    std::tuple<decltype(host(aliases, arguments))...> hosts(host(aliases, arguments)...);
    const c10::impl::ExcludeDispatchKeyGuard below(kAboveBackends);
    const OnDevice here(look.device);
    const auto run = [](auto&... each) -> decltype(auto) {
      return Op::redispatch(target, each...);
    };
    if constexpr (std::is_lvalue_reference_v<Result>) {
      std::apply(run, hosts);
      aliases.write_back();
      at::Tensor* found = nullptr;
      ((found = returned(arguments) ? returned(arguments) : found), ...);
      return *found;
    } else if constexpr (std::is_void_v<Result>) {
      std::apply(run, hosts);
    } else {
      return device_side(aliases, std::apply(run, hosts));
    }
  }
};

}  // namespace awt
