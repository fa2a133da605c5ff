// What this library asks of the stand-in, which is in the process before any extension is: by
// torch's own registry of devices and by the stand-in's functions for Python
// (native/torch/*_calls.cpp).
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/version.h>

#include <cstdint>

#define AWT_TORCH (TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR)

namespace awt {
class Graph;
}

extern "C" {
int awt_native_stream(int64_t id, int device, uint64_t* handle);
int awt_new_stream(int device, int priority, int64_t* id);
int awt_device_has_context(int device, int* yes);
int awt_device_can_access(int device, int peer, int* yes);
int awt_sync_debug(int* mode);
int awt_sleep(int64_t cycles);
int awt_memory_allocate(int64_t bytes, void* stream, uint64_t* memory);
int awt_memory_free(void* memory);
int awt_memory_base(const void* memory, uint64_t* base, uint64_t* bytes);
int awt_generator_default(int device, const at::Generator** out);
int awt_generator_new(int device, at::Generator* out);
int awt_generator_draw(c10::GeneratorImpl* generator, uint64_t increment, uint64_t* seed,
                       uint64_t* offset, int64_t** later);
int awt_pool_new_id(int by_hand, uint64_t* graph, uint64_t* hand);
int awt_graph_new(int keep, awt::Graph** graph);
void awt_graph_delete(awt::Graph* graph);
int awt_graph_add_generator(awt::Graph* graph, const at::Generator* generator);
int awt_graph_capture_begin(awt::Graph* graph, uint64_t first, uint64_t second, int mode);
int awt_graph_capture_end(awt::Graph* graph, int* filled);
int awt_graph_instantiate(awt::Graph* graph);
int awt_graph_replay(awt::Graph* graph);
int awt_graph_reset(awt::Graph* graph);
int awt_graph_pool(awt::Graph* graph, uint64_t* pool);
void awt_graph_enable_debug(awt::Graph* graph);
int awt_graph_dump(awt::Graph* graph, const char* path);
int awt_graph_raw(awt::Graph* graph, uint64_t* handle);
int awt_graph_raw_exec(awt::Graph* graph, uint64_t* handle);
const char* awt_error_words();
}

namespace awt {

// Raises what a function of the stand-in refused, in its words.
inline void require(int raised) { TORCH_CHECK(raised == 0, awt_error_words()); }

inline c10::impl::VirtualGuardImpl guard() {
  return c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA);
}

inline c10::Device device_or_current(c10::DeviceIndex index) {
  return index < 0 ? guard().getDevice() : c10::Device(c10::DeviceType::CUDA, index);
}

}  // namespace awt
