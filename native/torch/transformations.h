// torch's header, which has no guard of its own and cannot be included twice where several of our
// sources are compiled as one.
#pragma once

#include <ATen/core/TransformationHelper.h>
