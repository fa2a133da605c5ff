// Dropout, by itself and between the layers of a recurrent network.
#pragma once

#include "rocm/cudnn/objects.h"

struct cudnnDropoutDescriptor_s : aw::dnn::Object<9> {
  float rate = 0;
  void* states = nullptr;
  size_t states_bytes = 0;
  unsigned long long seed = 0;
  aw::dnn::Counterpart<miopenDropoutDescriptor_t> kept;
  miopenDropoutDescriptor_t object();
};
