// Names and words of the runtime API's errors, for what includes the names of its version
// (cudart_errors.inc).
#pragma once

#include <algorithm>
#include <iterator>

namespace aw {
namespace {

struct ErrorName {
  int code;
  const char* name;
};

constexpr ErrorName kNames[] = {
#include "cudart_errors.inc"
};

// Words for the codes that the driver does not have.
struct ErrorWords {
  int code;
  const char* words;
};

constexpr ErrorWords kWords[] = {
    {9, "invalid configuration argument"},
    {10, "a structure cannot be translated between versions of the interface"},
    {12, "invalid pitch argument"},
    {13, "invalid device symbol"},
    {16, "invalid host pointer"},
    {17, "invalid device pointer"},
    {18, "invalid texture reference"},
    {19, "texture is not bound to a pointer"},
    {20, "invalid channel descriptor"},
    {21, "invalid copy direction for memcpy"},
    {22, "__constant__ memory: its address cannot be taken"},
    {23, "fetch from texture failed"},
    {24, "cannot fetch from a texture that is not bound"},
    {25, "incorrect use of __syncthreads()"},
    {26, "linear filtering not supported for non-float type"},
    {27, "read as normalized float not supported for 32-bit non float type"},
    {28, "device emulation mode and device execution mode cannot be mixed"},
    {31, "feature not yet implemented"},
    {32, "memory size or pointer value too large to fit in 32 bit"},
    {35, "CUDA driver version is insufficient for CUDA runtime version"},
    {37, "invalid surface reference"},
    {43, "duplicate global variable looked up by string name"},
    {44, "duplicate texture looked up by string name"},
    {45, "duplicate surface looked up by string name"},
    {49, "incompatible driver context"},
    {52, "__global__ function call is not configured"},
    {53, "unspecified launch failure in prior launch"},
    {65, "launch would exceed maximum depth of nested launches"},
    {66, "launch failed because kernel uses unsupported, file-scoped textures"},
    {67, "launch failed because kernel uses unsupported, file-scoped surfaces"},
    {68, "cannot synchronize because maximum depth has been surpassed"},
    {69, "launch failed because launch would exceed maximum pending launches"},
    {98, "invalid device function"},
    {103, "integrity checks failed"},
    {127, "startup failure in the runtime library"},
    {917, "the runtime object does not belong to the stream"},
    {10000, "api failure"},
};

template <class Entry, size_t N>
const Entry* find(const Entry (&table)[N], int code) {
  auto* found = std::lower_bound(std::begin(table), std::end(table), code,
                                 [](const Entry& e, int wanted) { return e.code < wanted; });
  return found != std::end(table) && found->code == code ? found : nullptr;
}

constexpr const char* kUnrecognized = "unrecognized error code";

// Null for a code that there is not.
inline const char* runtime_error_name(int code) {
  auto* found = find(kNames, code);
  return found ? found->name : nullptr;
}

// Null for a code whose words are the driver's.
inline const char* runtime_error_words(int code) {
  auto* found = find(kWords, code);
  return found ? found->words : nullptr;
}

}  // namespace
}  // namespace aw
