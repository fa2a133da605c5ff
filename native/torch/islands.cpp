// Operators that code compiled for the CPU calls on device tensors: those that only CUDA serves,
// those that draw random numbers of the device, and users' own.
//
// An island has the schema of its operator and a kernel for the CPU that gives the operator the
// device tensors behind its arguments. `anywarp::define_island` makes one at run time.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "compiled.h"
#include "streams.h"

namespace awt {
namespace {

using c10::DeviceIndex;
using c10::IValue;
using c10::OperatorHandle;
using torch::jit::Stack;

constexpr DeviceIndex kHost = -1;

// "0_h_1": where each tensor, and each Device, of the arguments lives, in their order.
std::vector<DeviceIndex> read_pattern(const std::string& text) {
  std::vector<DeviceIndex> places;
  size_t begin = 0;
  while (!text.empty() && begin <= text.size()) {
    const size_t end = std::min(text.find('_', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    TORCH_CHECK(word == "h" || (word.size() <= 3 && !word.empty() &&
                                word.find_first_not_of("0123456789") == std::string::npos),
                "anywarp::define_island: '", text, "' is no pattern of devices");
    const int index = word == "h" ? -1 : std::stoi(word);
    TORCH_CHECK(index <= 127, "anywarp::define_island: no device ", index);
    places.push_back(static_cast<DeviceIndex>(index));
    begin = end + 1;
  }
  return places;
}

struct Island final : c10::OperatorKernel {
  Island(OperatorHandle op, std::vector<DeviceIndex> places)
      : op(std::move(op)), places(std::move(places)) {}

  void operator()(const OperatorHandle& self, c10::DispatchKeySet, Stack* stack) {
    CompiledCall* call = current_call();
    TORCH_CHECK(call, self.schema().name(), " is called by compiled code only");
    const size_t first = stack->size() - op.schema().arguments().size();
    std::vector<std::pair<at::Tensor, at::Tensor>> given;  // device tensor, what stood for it
    size_t next = 0;
    for (size_t i = first; i < stack->size(); ++i) to_device(*call, (*stack)[i], next, given);
    {
      const OnDevice nowhere(-1);
      const DeviceIndex device = device_of_call(*call);
      const c10::DeviceGuard guard({c10::DeviceType::CUDA, device});
      op.callBoxed(stack);
      if (starts_collective) wait_for_results(*stack);
      // A kernel of an extension runs on its stream, and what follows is code of the CPU.
      wait_for_driver(device);
    }
    for (size_t i = stack->size() - op.schema().returns().size(); i < stack->size(); ++i)
      to_host(*call, (*stack)[i], given);
  }

  OperatorHandle op;
  std::vector<DeviceIndex> places;
  // The works of these are known by their results' storages, which compiled code does not see; nor
  // does it know that it must keep their inputs until then.
  const bool starts_collective = op.schema().name().rfind("_c10d_functional", 0) == 0;

 private:
  void wait_for_results(const Stack& stack) const {
    static const auto wait = c10::Dispatcher::singleton()
                                 .findSchemaOrThrow("_c10d_functional::wait_tensor", "")
                                 .typed<at::Tensor(const at::Tensor&)>();
    for (size_t i = stack.size() - op.schema().returns().size(); i < stack.size(); ++i) {
      if (stack[i].isTensor() && stack[i].toTensor().defined()) wait.call(stack[i].toTensor());
      if (stack[i].isTensorList())
        for (const at::Tensor& each : stack[i].toTensorVector()) wait.call(each);
    }
  }

  using Given = std::vector<std::pair<at::Tensor, at::Tensor>>;

  // Work of a collective is found by the storage of its result, which compiled code never sees.
  void wait_for_collectives(Stack& stack) const {
    static const auto wait =
        c10::Dispatcher::singleton().findSchemaOrThrow("_c10d_functional::wait_tensor", "");
    const auto wait_one = [](const at::Tensor& tensor) {
      Stack one{IValue(tensor)};
      wait.callBoxed(&one);
    };
    for (size_t i = stack.size() - op.schema().returns().size(); i < stack.size(); ++i) {
      if (stack[i].isTensor()) wait_one(stack[i].toTensor());
      if (stack[i].isTensorList())
        for (const at::Tensor& each : stack[i].toTensorVector()) wait_one(each);
    }
  }

  DeviceIndex device_of_call(const CompiledCall& call) const {
    for (const DeviceIndex place : places)
      if (place != kHost) return place;
    return call.device();
  }

  DeviceIndex take(size_t& next) const {
    TORCH_CHECK(next < places.size(), op.schema().name(), ": more tensors than when compiled");
    return places[next++];
  }

  at::Tensor tensor_to_device(CompiledCall& call, const at::Tensor& tensor, size_t& next,
                              Given& given) const {
    const DeviceIndex place = take(next);
    if (place == kHost) return tensor;
    for (const auto& [device_tensor, cpu] : given)
      if (cpu.is_same(tensor)) return device_tensor;
    given.emplace_back(call.as_device(tensor, place), tensor);
    return given.back().first;
  }

  void to_device(CompiledCall& call, IValue& value, size_t& next, Given& given) const {
    if (value.isTensor()) {
      if (value.toTensor().defined())
        value = IValue(tensor_to_device(call, value.toTensor(), next, given));
    } else if (value.isDevice()) {
      const DeviceIndex place = take(next);
      if (place != kHost) value = IValue(c10::Device(c10::DeviceType::CUDA, place));
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& each : value.toTensorVector())
        list.push_back(tensor_to_device(call, each, next, given));
      value = IValue(std::move(list));
    } else if (value.isList()) {
      auto list = value.toList().copy();
      for (size_t i = 0; i < list.size(); ++i) {
        const IValue each = list.get(i);
        if (each.isTensor() && each.toTensor().defined())
          list.set(i, IValue(tensor_to_device(call, each.toTensor(), next, given)));
      }
      value = IValue(std::move(list));
    }
  }

  static at::Tensor tensor_to_host(CompiledCall& call, const at::Tensor& tensor,
                                   const Given& given) {
    for (const auto& [device_tensor, cpu] : given)
      if (device_tensor.is_same(tensor)) return cpu;
    return call.as_cpu(tensor);
  }

  static void to_host(CompiledCall& call, IValue& value, const Given& given) {
    if (value.isTensor()) {
      if (value.toTensor().defined()) value = IValue(tensor_to_host(call, value.toTensor(), given));
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& each : value.toTensorVector())
        list.push_back(tensor_to_host(call, each, given));
      value = IValue(std::move(list));
    }
  }
};

std::string plain_name(const std::string& text) {
  std::string name = text;
  for (char& each : name)
    if (!std::isalnum(static_cast<unsigned char>(each))) each = '_';
  return name;
}

// Returns the name in the namespace `anywarp_islands`; defines it when it is new.
std::string define_island(const std::string& name, const std::string& overload,
                          const std::string& pattern) {
  static std::mutex mutex;
  static std::set<std::string> known;
  static std::vector<torch::Library> libraries;  // for good: compiled code may be called any time
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload.c_str());
  const std::string island =
      plain_name(name) + (overload.empty() ? "" : "__" + plain_name(overload)) + "__" + pattern;
  const std::lock_guard<std::mutex> lock(mutex);
  if (known.count(island)) return island;
  auto kernel = std::make_unique<Island>(op, read_pattern(pattern));
  torch::Library library(torch::Library::FRAGMENT, "anywarp_islands", std::nullopt, __FILE__,
                         __LINE__);
  const std::vector<at::Tag> tags(op.getTags().begin(), op.getTags().end());
  library.def(op.schema().cloneWithName("anywarp_islands::" + island, ""), tags);
  // Not for the CPU's key alone: operators that make tensors have no argument to find it by.
  library.impl(island.c_str(),
               torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,
                               torch::CppFunction::makeFromBoxedFunctor(std::move(kernel))));
  libraries.push_back(std::move(library));
  known.insert(island);
  return island;
}

TORCH_LIBRARY_FRAGMENT(anywarp, library) {
  library.def("define_island(str name, str overload, str pattern) -> str", TORCH_FN(define_island));
}

}  // namespace
}  // namespace awt
