// How the functions of NVTX 3 reach a tool: the library that NVTX_INJECTION64_PATH names is opened at the first call, and its function
// InitializeInjectionNvtx2 fills the tables of functions below, by module and number (NVTX's interface for tools).
#ifndef ANYWARP_NVTX_TOOL_H
#define ANYWARP_NVTX_TOOL_H

#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// NvtxCallbackModule
#define AW_NVTX_CORE 1
#define AW_NVTX_CUDA 2
#define AW_NVTX_CUDART 4
#define AW_NVTX_CORE2 5
#define AW_NVTX_SYNC 6
#define AW_NVTX_MODULES 7
#define AW_NVTX_FUNCTIONS 16

#if defined(NVTX_DISABLE)
#define AW_NVTX_FIND(module, number) ((aw_nvtx_function)0)
#else
#define AW_NVTX_FIND(module, number) aw_nvtx_find(AW_NVTX_##module, number)
#endif

// A function without a result, and one that gives `none` where no tool takes it.
#define AW_NVTX_DOES(module, number, name, parameters, arguments)                   \
  static __inline__ __attribute__((unused)) void name parameters {                  \
    aw_nvtx_function found = AW_NVTX_FIND(module, number);                          \
    if (found) (*(void(*) parameters)found) arguments;                              \
  }
#define AW_NVTX_GIVES(type, none, module, number, name, parameters, arguments)      \
  static __inline__ __attribute__((unused)) type name parameters {                  \
    aw_nvtx_function found = AW_NVTX_FIND(module, number);                          \
    return found ? (*(type(*) parameters)found) arguments : (type)(none);           \
  }

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*aw_nvtx_function)(void);
typedef aw_nvtx_function **aw_nvtx_table;

// One for each program or library, whatever many of its sources include this.
struct aw_nvtx_state {
  int ready;  // 0: nobody has asked, 1: a thread is opening the tool, 2: done
  aw_nvtx_function functions[AW_NVTX_MODULES][AW_NVTX_FUNCTIONS];
  aw_nvtx_function *places[AW_NVTX_MODULES][AW_NVTX_FUNCTIONS];
};
__attribute__((weak, visibility("hidden"))) struct aw_nvtx_state aw_nvtx_all;

// NvtxExportTableCallbacks
struct aw_nvtx_callbacks {
  size_t struct_size;
  int (*table_of)(int module, aw_nvtx_table *table, unsigned int *count);
};
// NvtxExportTableVersionInfo
struct aw_nvtx_version {
  size_t struct_size;
  uint32_t version, reserved;
  void (*set_tool_version)(uint32_t);
};

static __inline__ int aw_nvtx_table_of(int module, aw_nvtx_table *table, unsigned int *count) {
  if (module <= 0 || module >= AW_NVTX_MODULES || module == 3) return 0;
  for (int k = 0; k < AW_NVTX_FUNCTIONS; ++k) aw_nvtx_all.places[module][k] = &aw_nvtx_all.functions[module][k];
  if (table) *table = aw_nvtx_all.places[module];
  if (count) *count = AW_NVTX_FUNCTIONS;
  return 1;
}
static __inline__ void aw_nvtx_ignore_version(uint32_t version) { (void)version; }
// NvtxExportTableID: 1 is the callbacks, 3 the version.
static __inline__ const void *aw_nvtx_export(uint32_t id) {
  static const struct aw_nvtx_callbacks callbacks = {sizeof(struct aw_nvtx_callbacks), aw_nvtx_table_of};
  static const struct aw_nvtx_version version = {sizeof(struct aw_nvtx_version), 3, 0, aw_nvtx_ignore_version};
  return id == 1 ? (const void *)&callbacks : id == 3 ? (const void *)&version : NULL;
}

static __inline__ void aw_nvtx_open(void) {
  int nobody = 0;
  if (!__atomic_compare_exchange_n(&aw_nvtx_all.ready, &nobody, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    while (__atomic_load_n(&aw_nvtx_all.ready, __ATOMIC_ACQUIRE) != 2) sched_yield();
    return;
  }
  const char *path = getenv("NVTX_INJECTION64_PATH");
  void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
  typedef int (*initialize_t)(const void *(*)(uint32_t));
  initialize_t initialize = library ? (initialize_t)dlsym(library, "InitializeInjectionNvtx2") : (initialize_t)0;
  if (initialize && !initialize(aw_nvtx_export))  // the tool does not want it
    for (int m = 0; m < AW_NVTX_MODULES; ++m)
      for (int k = 0; k < AW_NVTX_FUNCTIONS; ++k) aw_nvtx_all.functions[m][k] = 0;
  __atomic_store_n(&aw_nvtx_all.ready, 2, __ATOMIC_RELEASE);
}

static __inline__ __attribute__((unused)) aw_nvtx_function aw_nvtx_find(int module, int number) {
  if (__atomic_load_n(&aw_nvtx_all.ready, __ATOMIC_ACQUIRE) != 2) aw_nvtx_open();
  return aw_nvtx_all.functions[module][number];
}

#ifdef __cplusplus
}
#endif
#endif
