// What every library of the fake ROCm is made of: a table of functions with the types of their
// parameters, and the control that tests have over them. The exported functions themselves are a
// line of assembly each (enter.S).
#pragma once

#include <cstddef>
#include <cstdint>

struct FakeStruct;

// A parameter's type. kind: i u f (numbers), x (complex), p (address), h (handle), s (structure), c
// (text), v (nothing known). depth: 0 by value, 1 pointer to it, 2 pointer to pointer. writes: the
// callee may write through it.
struct FakeType {
  char kind;
  uint8_t depth;
  bool writes;
  uint32_t size;
  const FakeStruct* layout;
};

struct FakeField {
  const char* name;
  uint32_t offset;
  uint32_t count;
  FakeType type;
};

struct FakeStruct {
  const char* name;
  uint32_t field_count;
  const FakeField* fields;
};

struct FakeParameter {
  const char* name;
  FakeType type;
};

struct FakeFunction {
  const char* name;
  const FakeParameter* parameters;
  uint32_t count;
  void* implementation;  // null: the function is recorded and returns what was set
};

extern "C" {
extern const FakeFunction fake_functions[];
extern const uint32_t fake_function_count;
extern const int fake_default_result;  // of functions without an implementation
extern void* fake_slots[];             // where each exported function jumps to

#pragma GCC visibility push(default)
// Makes calls number after + 1 ... after + times (times < 0: all later ones) of a function ("*": of
// any) return result.
void fake_rocm_set_result(const char* function, int64_t result, int after, int times);
// Makes a function write these bytes through its parameter of that number, whenever it is called.
void fake_rocm_set_output(const char* function, int parameter, const void* bytes, size_t size);
// Forgets what was set.
void fake_rocm_forget();
// Says where records go from now on; null or empty: nowhere.
void fake_rocm_record_to(const char* path);
// How often a function of this library was called.
uint64_t fake_rocm_calls(const char* function);
#pragma GCC visibility pop
}

namespace fake {

// Writes one line of JSON, `text` being the members, to the record.
void note(const char* text, ...) __attribute__((format(printf, 1, 2)));

// Records that the caller did what no caller may do (used what is destroyed, freed twice ...), and
// says it on stderr.
void fault(const char* text, ...) __attribute__((format(printf, 1, 2)));

bool recording();
bool fast();  // FAKE_ROCM_FAST: no checking, no recording, for measurements

// Whether size bytes at an address can be read (written); copies them where they can.
bool read_memory(const void* from, void* to, size_t size);
bool write_memory(void* to, const void* from, size_t size);

}  // namespace fake
