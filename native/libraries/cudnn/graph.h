// A graph as a list of steps: each operation is one, and what lies between them is memory of the
// run's own, as floats or doubles.
#pragma once

#include <functional>
#include <optional>

#include "libraries/cudnn/backend.h"
#include "libraries/cudnn/convolution.h"
#include "libraries/cudnn/elementwise.h"

namespace aw::dnn {

// A tensor of the graph.
struct Slot {
  int64_t id = 0;
  Layout layout;
  bool is_virtual = false, by_value = false, known = false;
  bool used = false;  // by a step; what a factor of 0 makes count for nothing needs no memory
  std::vector<unsigned char> constant;
  bool made = false;    // a virtual tensor that a step makes
  size_t last_use = 0;  // the step after which a virtual tensor's memory may go
};

// Where the tensors of one run lie.
struct Run {
  std::vector<View> views;
  const View& operator[](size_t slot) const { return views[slot]; }
};

// A convolution whose result is all that its output gets.
struct Convolved {
  Convolution how;
  size_t x, w, y;
};
// A pointwise operation that a convolution can do on the way out: what `in` has is handed on, or
// `other` is added, or it is bounded.
struct Bend {
  enum Kind { same, sum, bound } kind;
  size_t in, other, out;
  float least, nan;
};

struct Step {
  std::function<void(const Run&, float)> single;
  std::function<void(const Run&, double)> twice;
  std::vector<size_t> makes;  // virtual tensors
  std::optional<Convolved> convolved;
  std::optional<Bend> bend;
  // Does in f32 what this step and those that it covers do, or nothing, and says whether it did.
  std::function<bool(const Run&)> together;
  size_t covers = 0;
};

class Builder {
 public:
  // The tensor of an attribute, by its number in the graph, for a step that uses it.
  size_t slot(const Content& operation, int attribute);
  size_t use(const Content& tensor);
  size_t slot_of(const Content& tensor);
  const Layout& layout(size_t slot) const { return slots[slot].layout; }
  // The tensor of a number that a descriptor gave.
  size_t find(int64_t id) const;
  // A tensor that no descriptor describes.
  size_t hidden(const Layout& layout);
  // body(run, T{}) does the operation in hand, or a part of it.
  template <class Body>
  void add(Body body) {
    steps.push_back({body, body, {}, {}, {}, {}, 0});
  }
  // The last step makes a virtual tensor.
  void makes(size_t slot) {
    if (!slots[slot].is_virtual || slots[slot].made) return;
    slots[slot].made = true, steps.back().makes.push_back(slot);
  }
  std::vector<Slot> slots;
  std::vector<Step> steps;
  bool doubles = false;

 private:
  std::map<int64_t, size_t> by_id_;
};

// A number that a tensor of one element holds, when it is run.
double number_of(const View& view);
// The same for whole numbers of 32 or 64 bits.
int64_t whole_number_of(const View& view);

// What an operation reads and writes.
struct Ends {
  std::vector<int> inputs, outputs;
};

// Has convolutions take what follows them alone along; `readers` is how many operations read each
// slot.
void join_convolutions(Builder& builder, const std::vector<int>& readers);

// One chapter of operations each; false for those of another.
bool add_pointwise(Builder& builder, const Content& operation);
bool add_products(Builder& builder, const Content& operation);
bool add_norms(Builder& builder, const Content& operation);
bool add_moves(Builder& builder, const Content& operation);
// Attention as one operation, and the mask of a band; `change` lays the operations between the
// products and the softmax.
bool add_attention(Builder& builder, const Content& operation, const std::function<void()>& change);

// c = alpha * a * b of the last two dimensions; a batch of fewer matrices serves equal runs of the
// result's.
template <class T>
void multiply_batches(const View& a, const View& b, const View& c, T alpha);

}  // namespace aw::dnn
