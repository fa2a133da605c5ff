// What nearly every file here includes, read once: the build precompiles it
// (frameworks/torch/build.py). No file may rely on it: each includes what it uses. It is a main
// file to the compiler, so it has no #pragma once.

#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>
