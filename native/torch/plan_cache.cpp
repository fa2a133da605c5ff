#include "plan_cache.h"

#include <ATen/core/Tensor.h>
#include <c10/core/DefaultDtype.h>

#include <memory>
#include <shared_mutex>
#include <unordered_map>

namespace awt {
namespace {

using c10::IValue;

constexpr size_t kMostEntries = 20000;

struct Cache {
  std::shared_mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<const ResultShapes>> entries;
};

Cache& cache() {
  static auto& instance = *new Cache;
  return instance;
}

class Writer {
 public:
  std::string text;
  bool good = true;

  template <class Value>
  void put(Value value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class List>
  void put_all(const List& values) {
    put(values.size());
    for (const auto& value : values) put(value);
  }

  void put_tensor(const at::Tensor& tensor) {
    put('t');
    if (!tensor.defined()) return put('-');
    const auto* impl = tensor.unsafeGetTensorImpl();
    good &= impl->has_storage();
    if (!good) return;
    put(char(tensor.device().type()));
    put(char(tensor.scalar_type()));
    put(char(impl->is_wrapped_number() | tensor.is_conj() << 1 | tensor.is_neg() << 2));
    put_all(tensor.sizes());
    put_all(tensor.strides());
    put(tensor.storage_offset());
    // Which arguments are the same tensor, or share a storage.
    put(place(tensors_, impl));
    put(place(storages_, impl->unsafe_storage().unsafeGetStorageImpl()));
  }

  void put_value(const IValue& value) {
    if (value.isTensor()) return put_tensor(value.toTensor());
    if (value.isNone()) return put('n');
    if (value.isInt()) return put('i'), put(value.toInt());
    if (value.isBool()) return put('b'), put(value.toBool());
    if (value.isDouble()) return put('d'), put(value.toDouble());
    if (value.isComplexDouble()) return put('c'), put(value.toComplexDouble());
    if (value.isDevice()) return put('v'), put(char(value.toDevice().type()));
    if (value.isString()) return put_text(value.toStringRef());
    if (value.isGenerator()) return put('g');
    if (value.isList()) return put_list(value);
    good = false;
  }

 private:
  void put_text(const std::string& words) {
    put('s');
    put(words.size());
    text += words;
  }
  void put_list(const IValue& value) {
    put('l');
    const auto elements = value.toListRef();
    put(elements.size());
    for (const IValue& element : elements) put_value(element);
  }
  static uint32_t place(std::vector<const void*>& seen, const void* object) {
    for (size_t i = 0; i < seen.size(); ++i)
      if (seen[i] == object) return uint32_t(i);
    seen.push_back(object);
    return uint32_t(seen.size() - 1);
  }

  std::vector<const void*> tensors_, storages_;
};

}  // namespace

std::optional<std::string> call_key(const OpInfo& info, const torch::jit::Stack& stack) {
  Writer writer;
  writer.put(&info);  // one for each operator
  writer.put(c10::get_default_dtype_as_scalartype());
  for (size_t i = stack.size() - info.arguments.size(); i < stack.size() && writer.good; ++i)
    writer.put_value(stack[i]);
  if (!writer.good) return std::nullopt;
  return std::move(writer.text);
}

const ResultShapes* kept_shapes(const std::string& key) {
  std::shared_lock lock(cache().mutex);
  auto found = cache().entries.find(key);
  return found == cache().entries.end() ? nullptr : found->second.get();
}

void keep_shapes(std::string key, ResultShapes shapes) {
  std::unique_lock lock(cache().mutex);
  if (cache().entries.size() >= kMostEntries)
    return;  // shapes that never come again fill it; the rest goes on without
  cache().entries.emplace(std::move(key), std::make_unique<const ResultShapes>(std::move(shapes)));
}

}  // namespace awt
