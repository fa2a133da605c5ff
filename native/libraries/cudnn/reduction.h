// Reductions over dimensions, by the operators that both interfaces name alike.
#pragma once

#include "libraries/cudnn/objects.h"

namespace aw::dnn {

// y = alpha * reduced x + beta * y, over the dimensions where y has 1.
template <class T>
void reduce_tensor(cudnnReduceTensorOp_t op, const View& x, const View& y, T alpha, T beta);

}  // namespace aw::dnn
