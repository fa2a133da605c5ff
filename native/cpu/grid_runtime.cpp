#include "cpu/grid_runtime.h"

#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include "core/host_services.h"
#include "core/runtime_errors.h"
#include "core/watched_memory.h"
#include "cpu/launch.h"
#include "cuda/context.h"
#include "cuda/device_attributes.h"
#include "cuda/driver.h"
#include "cuda/error_table.h"
#include "cuda/function_attributes.h"
#include "cuda/limits.h"
#include "cuda/module.h"
#include "cuda/visible.h"

namespace aw {
namespace {

// Of the runtime API, whose other codes are the driver's (driver_types.h).
constexpr int kInvalidConfiguration = 9, kInvalidMemcpyDirection = 21, kInvalidDeviceFunction = 98;

// Streams that have no object (driver_types.h).
constexpr uint64_t kTailLaunch = 3, kFirstStream = 0x100;

constexpr uint32_t kNonBlocking = 1, kDisableTiming = 2;  // what streams and events of kernels are
constexpr uint32_t kDeviceToDevice = 3, kDefaultDirection = 4;

// In front of the parameters in a parameter buffer.
struct BufferHead {
  uint64_t mark;
  uint64_t kernel;
  uint32_t grid[3], block[3];
  uint32_t shared;
  uint32_t bytes;  // of the parameters
};
constexpr uint64_t kMark = 0x6172616d62756666;
constexpr uint64_t kHeadBytes = 64;  // keeps the parameters aligned
constexpr uint64_t kMostParameters = 32764;
static_assert(sizeof(BufferHead) <= kHeadBytes);

// cudaFuncAttributes
struct RuntimeAttributes {
  size_t shared, constant, local;
  int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic, carveout;
  int cluster_set, cluster_width, cluster_height, cluster_depth, cluster_policy, cluster_any;
  int reserved[16];
};
static_assert(sizeof(RuntimeAttributes) == 144);

// cudaMemcpy3DParms; members of a size are in bytes where no array takes part.
struct Copy3D {
  uint64_t from_array, from_x, from_y, from_z;
  uint64_t from, from_pitch, from_width, from_height;
  uint64_t to_array, to_x, to_y, to_z;
  uint64_t to, to_pitch, to_width, to_height;
  uint64_t width, height, depth;
  uint32_t kind;
};

uint64_t allocate_buffer(BufferHead head) {
  void* memory = aligned_alloc(kHeadBytes, (kHeadBytes + head.bytes + 63) / 64 * 64);
  if (!memory) throw Failure(CUDA_ERROR_OUT_OF_MEMORY);
  head.mark = kMark;
  memcpy(memory, &head, sizeof head);
  uint64_t parameters = reinterpret_cast<uint64_t>(memory) + kHeadBytes;
  if (head.bytes) watch(parameters, head.bytes, "the parameters of a launch by a kernel", true);
  return parameters;
}

BufferHead* head_of(uint64_t buffer) {
  require(buffer > kHeadBytes && buffer % 64 == 0);
  auto* head = reinterpret_cast<BufferHead*>(buffer - kHeadBytes);
  require(head->mark == kMark);
  return head;
}

void check_configuration(const BufferHead& head) {
  uint64_t threads = uint64_t{head.block[0]} * head.block[1] * head.block[2];
  bool good = threads >= 1 && threads <= kMaxThreadsPerBlock;
  for (int i = 0; i < 3; ++i)
    good =
        good && head.grid[i] >= 1 && head.grid[i] <= kMaxGrid[i] && head.block[i] <= kMaxBlock[i];
  if (!good) throw Failure(kInvalidConfiguration);
}

void check_direction(uint32_t kind) {
  if (kind != kDeviceToDevice && kind != kDefaultDirection) throw Failure(kInvalidMemcpyDirection);
}

CopyWork copy_of(const Copy3D& c) {
  require(!c.from_array && !c.to_array, CUDA_ERROR_NOT_SUPPORTED);
  check_direction(c.kind);
  CopyWork w;
  w.from_pitch = c.from_pitch, w.from_layer = c.from_pitch * c.from_height;
  w.to_pitch = c.to_pitch, w.to_layer = c.to_pitch * c.to_height;
  w.from = reinterpret_cast<const uint8_t*>(c.from) + c.from_x + c.from_y * w.from_pitch +
           c.from_z * w.from_layer;
  w.to = reinterpret_cast<uint8_t*>(c.to) + c.to_x + c.to_y * w.to_pitch + c.to_z * w.to_layer;
  w.width = c.width, w.height = c.height, w.depth = c.depth;
  return w;
}

SetWork set_of(uint64_t to, uint64_t pitch, uint32_t value, uint64_t width, uint64_t height) {
  SetWork w;
  w.to = reinterpret_cast<uint8_t*>(to), w.pitch = pitch, w.width = width, w.height = height;
  w.value = value & 0xff;
  return w;
}

RuntimeAttributes attributes_of(Function& f) {
  auto read = [&f](int attribute) { return read_attribute(f, attribute); };
  RuntimeAttributes a{};
  a.shared = static_cast<size_t>(read(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  a.constant = static_cast<size_t>(read(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
  a.local = static_cast<size_t>(read(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  a.max_threads = read(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  a.registers = read(CU_FUNC_ATTRIBUTE_NUM_REGS);
  a.ptx_version = read(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  a.binary_version = read(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  a.max_dynamic = read(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  a.carveout = read(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  return a;
}

const char* words_of(int code) {
  if (const char* words = runtime_error_words(code)) return words;
  const ErrorText* text = runtime_error_name(code) ? find_error(code) : nullptr;
  return text ? text->words : kUnrecognized;
}

bool returns_pointer(AwDeviceCall call) {
  return call == AW_CALL_GetParameterBuffer || call == AW_CALL_GetParameterBufferV2 ||
         call == AW_CALL_GetErrorString || call == AW_CALL_GetErrorName;
}

}  // namespace

// Takes arguments in order, as compiler/device_runtime.py puts them.
class GridRuntime::Arguments {
 public:
  explicit Arguments(const uint8_t* at) : at_(at) {}
  uint64_t wide() { return take<uint64_t>(); }
  uint32_t word() { return static_cast<uint32_t>(take<uint64_t>()); }
  void dimensions(uint32_t (&to)[3]) {
    memcpy(to, at_, sizeof to);
    at_ += 16;
  }

 private:
  template <class T>
  T take() {
    T value;
    memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  const uint8_t* at_;
};

// What a kernel names may not be there, and is then left by a jump: no lock is held meanwhile.
template <class T>
static void give(uint64_t to, T value) {
  require(to);
  memcpy(reinterpret_cast<void*>(to), &value, sizeof value);
}

uint64_t GridRuntime::answer(AwDeviceCall call, uint64_t thread, const uint8_t* at) {
  int code;
  try {
    Arguments arguments(at);
    return carry_out(call, arguments, thread);
  } catch (const Failure& failure) {
    code = failure.code;
    if (!failure.text.empty()) report_failure("a launch by a kernel", failure);
  } catch (const std::exception&) {
    code = CUDA_ERROR_OUT_OF_MEMORY;
  }
  {
    std::lock_guard lock(mutex_);
    errors_[thread] = code;
  }
  return returns_pointer(call) ? 0 : static_cast<uint64_t>(code);
}

int GridRuntime::last_error(uint64_t thread, bool forget) {
  std::lock_guard lock(mutex_);
  auto found = errors_.find(thread);
  if (found == errors_.end()) return 0;
  int code = found->second;
  if (forget) errors_.erase(found);
  return code;
}

// On a thread of its own: this one has the memory of a block that is under way. What is to come at
// the tail stays; what another block waits for may be this one's, too.
int GridRuntime::synchronize() {
  std::unique_lock lock(mutex_);
  if (children_ && !children_->waiting.empty()) {
    auto now = std::make_unique<Children>();
    now->waiting.swap(children_->waiting);
    ++running_;
    lock.unlock();
    try {
      std::thread([&] { perform_children(std::move(now), context_); }).join();
    } catch (const std::system_error&) {
      context_.fail(CUDA_ERROR_OUT_OF_MEMORY, "there is no thread for a kernel's children");
    }
    lock.lock();
    --running_;
    ended_.notify_all();
  }
  ended_.wait(lock, [&] { return running_ == 0; });
  return context_.error;
}

std::shared_ptr<Function> GridRuntime::kernel(uint64_t pointer) {
  for (const Entry& entry : parent_.description->entries) {
    if (pointer && entry.pointer == pointer)
      return find_function(*module_of(reinterpret_cast<CUmodule>(parent_.module_handle)),
                           entry.name);
  }
  throw Failure(kInvalidDeviceFunction);
}

void GridRuntime::enter(Work work, uint64_t stream) {
  std::lock_guard lock(mutex_);
  if (!children_) children_ = std::make_unique<Children>();
  (stream == kTailLaunch ? children_->tail : children_->waiting).push_back(std::move(work));
}

void GridRuntime::launch(uint64_t buffer, uint64_t stream) {
  BufferHead* head = head_of(buffer);
  std::unique_ptr<BufferHead, void (*)(BufferHead*)> owner(head, [](BufferHead* h) {
    unwatch(reinterpret_cast<uint64_t>(h) + kHeadBytes);
    free(h);
  });
  check_configuration(*head);
  LaunchRequest request{};
  for (int i = 0; i < 3; ++i) request.grid[i] = head->grid[i], request.block[i] = head->block[i];
  request.dynamic_shared = head->shared;
  size_t bytes = head->bytes;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, reinterpret_cast<void*>(buffer),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  request.extra = extra;
  auto function = kernel(head->kernel);
  KernelWork work = plan_launch(function, request, context_.multiprocessors);
  report_launch(function->entry->name);
  head->mark = 0;
  enter(std::move(work), stream);
}

uint64_t GridRuntime::carry_out(AwDeviceCall call, Arguments& a, uint64_t thread) {
  switch (call) {
    case AW_CALL_GetParameterBuffer: {
      BufferHead head{};
      uint64_t alignment = a.wide(), bytes = a.wide();
      require(alignment <= kHeadBytes && bytes <= kMostParameters);
      head.bytes = static_cast<uint32_t>(bytes);
      return allocate_buffer(head);
    }
    case AW_CALL_GetParameterBufferV2: {
      BufferHead head{};
      head.kernel = a.wide();
      a.dimensions(head.grid), a.dimensions(head.block);
      head.shared = a.word();
      check_configuration(head);
      head.bytes = static_cast<uint32_t>(kernel(head.kernel)->entry->param_bytes);
      return allocate_buffer(head);
    }
    case AW_CALL_LaunchDevice: {
      uint64_t function = a.wide(), buffer = a.wide();
      BufferHead* head = head_of(buffer);
      head->kernel = function;
      a.dimensions(head->grid), a.dimensions(head->block);
      head->shared = a.word();
      launch(buffer, a.wide());
      return 0;
    }
    case AW_CALL_LaunchDeviceV2: {
      uint64_t buffer = a.wide();
      launch(buffer, a.wide());
      return 0;
    }
    case AW_CALL_DeviceSynchronize:
      return static_cast<uint64_t>(synchronize());
    case AW_CALL_GetLastError:
      return static_cast<uint64_t>(last_error(thread, true));
    case AW_CALL_PeekAtLastError:
      return static_cast<uint64_t>(last_error(thread, false));
    case AW_CALL_GetErrorString:
      return reinterpret_cast<uint64_t>(words_of(static_cast<int>(a.word())));
    case AW_CALL_GetErrorName: {
      const char* name = runtime_error_name(static_cast<int>(a.word()));
      return reinterpret_cast<uint64_t>(name ? name : kUnrecognized);
    }
    case AW_CALL_GetDevice:
      give(a.wide(), context_.device);
      return 0;
    case AW_CALL_GetDeviceCount:
      give(a.wide(), visible_devices());
      return 0;
    case AW_CALL_DeviceGetAttribute: {
      uint64_t to = a.wide();
      int value = 0, number = static_cast<int>(a.word()), device = static_cast<int>(a.word());
      require(device >= 0 && device < visible_devices(), CUDA_ERROR_INVALID_DEVICE);
      require(device_attribute(number, &value));
      give(to, value);
      return 0;
    }
    case AW_CALL_DeviceGetLimit: {
      uint64_t to = a.wide();
      give(to, read_limit(context_, static_cast<CUlimit>(a.word())));
      return 0;
    }
    case AW_CALL_DeviceGetCacheConfig:
      give(a.wide(), context_.cache_config);
      return 0;
    case AW_CALL_DeviceGetSharedMemConfig:
      give(a.wide(), int{CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE});
      return 0;
    case AW_CALL_RuntimeGetVersion:
      give(a.wide(), kDriverVersion);
      return 0;
    case AW_CALL_StreamCreateWithFlags:
    case AW_CALL_EventCreateWithFlags: {
      static std::atomic<uint64_t> next{kFirstStream};
      uint64_t to = a.wide();
      require(a.word() == (call == AW_CALL_StreamCreateWithFlags ? kNonBlocking : kDisableTiming));
      give(to, next.fetch_add(16));
      return 0;
    }
    case AW_CALL_StreamDestroy:
    case AW_CALL_EventDestroy:
    case AW_CALL_EventRecord:
    case AW_CALL_EventRecordWithFlags:
      require(a.wide() >= kFirstStream, CUDA_ERROR_INVALID_HANDLE);
      return 0;
    case AW_CALL_StreamWaitEvent:
      a.wide();
      require(a.wide() >= kFirstStream, CUDA_ERROR_INVALID_HANDLE);
      return 0;
    case AW_CALL_FuncGetAttributes: {
      uint64_t to = a.wide();
      RuntimeAttributes found = attributes_of(*kernel(a.wide()));
      give(to, found);
      return 0;
    }
    case AW_CALL_Malloc: {
      uint64_t to = a.wide(), memory = aw_malloc(nullptr, a.wide());
      require(memory, CUDA_ERROR_OUT_OF_MEMORY);
      give(to, memory);
      return 0;
    }
    case AW_CALL_Free:
      aw_free(nullptr, a.wide());
      return 0;
    case AW_CALL_MemcpyAsync: {
      uint64_t to = a.wide(), from = a.wide(), bytes = a.wide();
      check_direction(a.word());
      enter(linear_copy(to, from, bytes), a.wide());
      return 0;
    }
    case AW_CALL_Memcpy2DAsync: {
      Copy3D c{};
      c.to = a.wide(), c.to_pitch = a.wide(), c.from = a.wide(), c.from_pitch = a.wide();
      c.width = a.wide(), c.height = a.wide(), c.depth = 1, c.kind = a.word();
      enter(copy_of(c), a.wide());
      return 0;
    }
    case AW_CALL_Memcpy3DAsync: {
      Copy3D c;
      uint64_t asked = a.wide();
      require(asked);
      memcpy(&c, reinterpret_cast<const void*>(asked), sizeof c);
      enter(copy_of(c), a.wide());
      return 0;
    }
    case AW_CALL_MemsetAsync: {
      uint64_t to = a.wide();
      uint32_t value = a.word();
      uint64_t bytes = a.wide();
      enter(set_of(to, bytes, value, bytes, 1), a.wide());
      return 0;
    }
    case AW_CALL_Memset2DAsync: {
      uint64_t to = a.wide(), pitch = a.wide();
      uint32_t value = a.word();
      uint64_t width = a.wide(), height = a.wide();
      enter(set_of(to, pitch, value, width, height), a.wide());
      return 0;
    }
    case AW_CALL_Memset3DAsync: {
      uint64_t to = a.wide(), pitch = a.wide();
      a.wide();
      uint64_t rows = a.wide();
      uint32_t value = a.word();
      uint64_t width = a.wide(), height = a.wide(), depth = a.wide(), stream = a.wide();
      for (uint64_t z = 0; z < depth; ++z)
        enter(set_of(to + z * rows * pitch, pitch, value, width, height), stream);
      return 0;
    }
    case AW_CALL_OccupancyMaxActiveBlocksPerMultiprocessor:
    case AW_CALL_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags: {
      uint64_t to = a.wide();
      auto function = kernel(a.wide());
      int threads = static_cast<int>(a.word());
      uint64_t dynamic = a.wide();
      require(threads > 0);
      auto fixed =
          static_cast<uint64_t>(read_attribute(*function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
      give(to, resident_blocks(static_cast<uint64_t>(threads), fixed + dynamic));
      return 0;
    }
  }
  throw Failure(CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace aw
