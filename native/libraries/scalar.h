// A number that a program passes by address.
#pragma once

#include "libraries/api.h"

namespace aw::lib {

// Read at the call where it lies on the host, when the work runs where it lies on the device.
template <class T>
class Scalar {
 public:
  Scalar(bool on_device, const void* place)
      : at_(on_device ? static_cast<const T*>(place) : nullptr) {
    require(place != nullptr);
    if (!at_) value_ = *static_cast<const T*>(place);
  }
  T operator()() const { return at_ ? *at_ : value_; }

 private:
  const T* at_;
  T value_{};
};

}  // namespace aw::lib
