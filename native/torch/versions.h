// The version of torch that this is compiled against, as one number: 213 is 2.13.
#pragma once

#include <torch/version.h>

#define AWT_TORCH (TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR)
