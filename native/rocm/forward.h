// What the forwarders of CUDA's libraries share: the door to the library of ROCm that answers, and
// the words for what is not there. The tables are made by anywarp/catalogue/generate_rocm.py.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#define AW_EXPORT extern "C" __attribute__((visibility("default")))

struct aw_c32 {
  float x, y;
};
struct aw_c64 {
  double x, y;
};
struct aw_id128 {
  char bytes[128];
};
struct aw_half {
  uint16_t bits;
};

namespace aw::rocm {

// One exported function. `target` holds the symbols that may answer, `NAME@67|NAME@77`: the digits
// are the first and last version of the HIP runtime that has it so. Absent functions have a reason
// instead.
struct Function {
  const char* name;
  const char* target;
  const char* reason;
};

struct State {
  std::atomic<void*> target{nullptr};
  std::atomic<std::atomic<uint64_t>*> calls{nullptr};
  int answer = 0;  // which of the symbols it is; written before `target`
};

struct Library {
  const char* title;           // cuBLAS
  const char* target;          // hipBLAS
  const char* package;         // what a user installs
  const char* const* sonames;  // `7:libhipblas.so.3`, ended by an empty text
  int not_initialized, invalid_value, not_supported, internal, invalid_handle;
};

extern const Library library;
extern const Function functions[];
extern const unsigned function_count;
extern State states[];

// Finds what answers function `index`; null where the library or the symbol is missing.
void* resolve(unsigned index) noexcept;

inline void* enter(unsigned index) {
  State& state = states[index];
  void* target = state.target.load(std::memory_order_acquire);
  if (!target) return resolve(index);
  // Without a locked instruction: calls of several threads in the same moment may count as one.
  auto& calls = *state.calls.load(std::memory_order_relaxed);
  calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return target;
}

inline void* enter(unsigned index, int* answer) {
  void* target = enter(index);
  *answer = states[index].answer;
  return target;
}

// Says why there is no target, once; returns the code for it.
int missing(unsigned index) noexcept;

// An argument cannot be handed over. Bit 2: no such handle; bit 0: no such value in CUDA; bit 1
// alone: ROCm has no counterpart.
int refuse(int problem, unsigned index) noexcept;

// ROCm returned a value that CUDA has no name for.
int unknown_value() noexcept;

// The function is not there at all.
int absent(unsigned index) noexcept;

// A value that ROCm cannot have, in words of the user's: said once, and NOT_SUPPORTED returned.
int unsupported(const char* function, const char* reason, const char* code = "N024") noexcept;

// Functions written by hand count themselves.
void count(unsigned index) noexcept;

// A symbol of the library that answers, whatever the tables say; null where it is not there.
void* symbol(const char* name) noexcept;

// The HIP runtime that is in use: 6 or 7; 0 where the library is missing.
int runtime_major() noexcept;

// HIP's number of a device of the program, and back; CUDA_VISIBLE_DEVICES counts them anew. -1:
// there is none.
int hip_device(int device) noexcept;
int cuda_device(int number) noexcept;

// A stream of the program as HIP knows it. CUDA's name for the legacy stream (1) is none in HIP 6;
// null is the same stream in libraries that were not compiled for per-thread streams. The
// per-thread stream (2) bears the same number.
inline void* stream(void* value) {
  return reinterpret_cast<uintptr_t>(value) == 1 ? nullptr : value;
}

template <typename Result>
Result nothing(unsigned index) {
  missing(index);
  if constexpr (!std::is_void_v<Result>) return Result();
}

// Handles that are numbers in CUDA: a table of the target's addresses. 4 where the number is none.
int own_enter(void* target);
int own_find(int handle, void** target) noexcept;
void own_remove(int handle) noexcept;

// 1 where the value does not fit.
template <typename From, typename To>
int narrow(From value, To* out) {
  *out = static_cast<To>(value);
  const bool sign_kept = (value < From()) == (*out < To());
  return static_cast<From>(*out) == value && sign_kept ? 0 : 1;
}

}  // namespace aw::rocm

#define AW_ABSENT(name, index) \
  AW_EXPORT int name() { return aw::rocm::absent(index); }
// Functions that return no status: nothing, a pointer or a number.
#define AW_ABSENT_NOTHING(name, index) \
  AW_EXPORT void* name() {             \
    aw::rocm::absent(index);           \
    return nullptr;                    \
  }

// For functions written by hand: calls what answers `function`, with parameters of these types, and
// returns our status.
#define AW_CALL(function, types, ...)                                         \
  [&]() -> int {                                                              \
    const auto target = reinterpret_cast<int(*) types>(enter(at_##function)); \
    return target ? status(target(__VA_ARGS__)) : missing(at_##function);     \
  }()
