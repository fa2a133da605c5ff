// Descriptors of the graph interface: what a program set, checked when it is set and when it is
// finalised.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "rocm/cudnn/objects.h"

namespace aw::dnn {

struct Content;
using Shared = std::shared_ptr<Content>;

// The values of one attribute: plain ones as bytes, descriptors as what they were when they were
// set.
struct Value {
  cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
  int64_t count = 0;
  std::vector<unsigned char> bytes;
  std::vector<Shared> objects;
};

class Plan;

struct Content {
  cudnnBackendDescriptorType_t type{};
  bool final = false;
  std::map<int, Value> values;
  std::shared_ptr<Plan> plan;  // of an execution plan

  bool has(cudnnBackendAttributeName_t name) const { return values.count(name) != 0; }
  const Value& value(cudnnBackendAttributeName_t name) const;
  template <class T>
  T get(cudnnBackendAttributeName_t name) const {
    T out{};
    const Value& found = value(name);
    require(found.bytes.size() >= sizeof out, "an attribute of another type");
    memcpy(&out, found.bytes.data(), sizeof out);
    return out;
  }
  template <class T>
  T get(cudnnBackendAttributeName_t name, T otherwise) const {
    return has(name) ? get<T>(name) : otherwise;
  }
  // A factor: float or double, whichever was set.
  double real(cudnnBackendAttributeName_t name, double otherwise) const;
  template <class T>
  std::vector<T> list(cudnnBackendAttributeName_t name) const {
    const Value& found = value(name);
    std::vector<T> out(found.bytes.size() / sizeof(T));
    memcpy(out.data(), found.bytes.data(), out.size() * sizeof(T));
    return out;
  }
  const Content& object(cudnnBackendAttributeName_t name) const;
  const std::vector<Shared>& objects(cudnnBackendAttributeName_t name) const {
    return value(name).objects;
  }
};

const char* name_of(cudnnBackendDescriptorType_t type);

// The ways to run a graph: made once, run many times.
class Plan {
 public:
  // Throws NOT_SUPPORTED with the operation that is not there.
  static std::shared_ptr<Plan> make(cudnnHandle_s& handle, const Content& graph);
  virtual ~Plan() = default;
  virtual size_t workspace() const = 0;
  virtual void run(cudnnHandle_s& handle, const Content& pack) = 0;
};

}  // namespace aw::dnn

// The handle of a program's: it outlives what other descriptors took from it.
struct cudnnBackendDescriptor_s : aw::dnn::Object<20> {
  aw::dnn::Shared content;
};
