// Descriptors of the graph interface: what a program set, kept as it was when it was set.
#pragma once

#include <map>

#include "libraries/cudnn/objects.h"

namespace aw::dnn {

struct Content;
using Shared = std::shared_ptr<Content>;

// The values of one attribute: plain ones as bytes, descriptors as what they were.
struct Value {
  cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
  int64_t count = 0;
  std::vector<unsigned char> bytes;
  std::vector<Shared> objects;
};

class Plan;

struct Content {
  int type = 0;  // cudnnBackendDescriptorType_t
  bool final = false;
  std::map<int, Value> values;
  std::shared_ptr<const Plan> plan;  // of an execution plan

  bool has(int name) const { return values.count(name) != 0; }
  const Value& value(int name) const;
  template <class T>
  T get(int name) const {
    T out{};
    const Value& found = value(name);
    require(found.bytes.size() >= sizeof out, "an attribute of another type", kWrongType);
    memcpy(&out, found.bytes.data(), sizeof out);
    return out;
  }
  template <class T>
  T get(int name, T otherwise) const {
    return has(name) ? get<T>(name) : otherwise;
  }
  double real(int name, double otherwise) const;  // a factor: float or double, whichever was set
  template <class T>
  std::vector<T> list(int name) const {
    const Value& found = value(name);
    std::vector<T> out(found.bytes.size() / sizeof(T));
    memcpy(out.data(), found.bytes.data(), out.size() * sizeof(T));
    return out;
  }
  std::vector<int64_t> numbers(int name) const;  // INT64, or fractions that are whole
  const Content& object(int name) const;
};

size_t bytes_of(cudnnBackendAttributeType_t type);
const char* name_of_descriptor(int type);
// The descriptor that an attribute belongs to; -1: none.
int owner_of(int attribute);
// Throws unless what a descriptor needs was set.
void check_content(const Content& c);

// A graph, ready to run any number of times.
class Plan {
 public:
  // Throws NOT_SUPPORTED with the operation that is not there.
  static std::shared_ptr<const Plan> make(const Content& graph);
  virtual ~Plan() = default;
  virtual void run(const std::shared_ptr<const Plan>& self, cudnnContext& handle,
                   const Content& pack) const = 0;
};

}  // namespace aw::dnn
