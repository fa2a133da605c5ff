// Generators for cuda devices: seed and Philox offset, shared between the generators that
// graphsafe_get_state made.
#include "generator.h"

#include <ATen/Utils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "allocator.h"
#include "deferred.h"
#include "devices.h"
#include "streams.h"
#include "versions.h"

namespace awt {
namespace {

DeferredCalls deferred;

bool capturing(c10::DeviceIndex device) noexcept {
  return deferred.capturing && deferred.capturing(device);
}

bool capturing() noexcept { return capturing(current_device()); }

void settle() {
  if (deferred.settle) deferred.settle();
}

// torch's words (assertNotCapturing of ATen/cuda/CUDAGraphsUtils.cuh).
void assert_not_capturing(const char* attempt) {
  TORCH_CHECK(
      !capturing(), attempt,
      " during CUDA graph capture. If you need this call to be captured, please file an issue. "
      "Current cudaStreamCaptureStatus: cudaStreamCaptureStatusActive");
}

struct GeneratorState {
  uint64_t seed = c10::default_rng_seed_val;
  uint64_t offset = 0;
  bool in_capture = false;
  uint64_t captured = 0;
  std::mutex mutex;
};

class CudaGenerator final : public c10::GeneratorImpl {
 public:
  CudaGenerator(c10::DeviceIndex device, std::shared_ptr<GeneratorState> state)
      : GeneratorImpl(c10::Device(c10::DeviceType::CUDA, device),
                      c10::DispatchKeySet(c10::DispatchKey::CUDA)),
        state_(std::move(state)) {}

  void set_current_seed(uint64_t seed) override {
#if AWT_TORCH >= 214
    if (capturing()) {
      std::lock_guard lock(state_->mutex);
      TORCH_CHECK(state_->seed == seed,
                  "CUDAGeneratorImpl::set_current_seed can be called during stream capture only if "
                  "new seed is the same as the original seed.");
      return;
    }
#endif
    assert_not_capturing("Cannot call CUDAGeneratorImpl::set_current_seed");
    settle();
    std::lock_guard lock(state_->mutex);
    state_->seed = seed;
    state_->offset = 0;
  }

  void set_offset(uint64_t offset) override {
    assert_not_capturing("Cannot call CUDAGeneratorImpl::set_offset");
    settle();
    TORCH_CHECK(offset % 4 == 0, "offset must be a multiple of 4");
    std::lock_guard lock(state_->mutex);
    state_->offset = offset;
  }

  uint64_t get_offset() const override {
    assert_not_capturing("Cannot call CUDAGeneratorImpl::get_offset");
    settle();
    std::lock_guard lock(state_->mutex);
    return state_->offset;
  }

  uint64_t current_seed() const override {
#if AWT_TORCH < 214
    assert_not_capturing("Cannot call CUDAGeneratorImpl::current_seed");
#endif
    std::lock_guard lock(state_->mutex);
    return state_->seed;
  }

  uint64_t seed() override {
    assert_not_capturing("Cannot call CUDAGeneratorImpl::seed");
    const uint64_t fresh = c10::detail::getNonDeterministicRandom(/*is_cuda=*/true);
    set_current_seed(fresh);
    return fresh;
  }

  // 16 bytes: the seed, then the offset, both in the machine's byte order, as in a checkpoint
  // written on a GPU.
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    const std::array<uint64_t, 2> words{current_seed(), get_offset()};
    at::Tensor bytes =
        at::empty({sizeof words}, at::TensorOptions().device(at::kCPU).dtype(at::kByte));
    std::memcpy(bytes.mutable_data_ptr(), words.data(), sizeof words);
    return bytes.getIntrusivePtr();
  }

  // 16 bytes, or the 8 of a state written before the offset was part of it.
  void set_state(const c10::TensorImpl& new_state) override {
    assert_not_capturing("Please ensure to utilize the CUDAGeneratorImpl::set_state_index method");
    at::detail::check_rng_state(new_state);
    std::array<uint64_t, 2> words{};
    const auto size = static_cast<size_t>(new_state.numel());
    TORCH_CHECK(size == sizeof words || size == sizeof words[0], "RNG state is wrong size");
    std::memcpy(words.data(), new_state.data(), size);
    TORCH_CHECK(words[1] % 4 == 0, "offset must be a multiple of 4");
    set_current_seed(words[0]);
    set_offset(words[1]);
  }

  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& other) override {
    auto* given = dynamic_cast<CudaGenerator*>(other.get());
    TORCH_CHECK(given, "Expected a CUDA Generator");
    settle();
    state_ = given->state_;
  }

  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override {
    return c10::make_intrusive<CudaGenerator>(device().index(), state_);
  }

  PhiloxState take(uint64_t increment) {
    increment = (increment + 3) / 4 * 4;
    const bool in_graph = capturing(device().index());
    std::lock_guard lock(state_->mutex);
    if (in_graph) {
      TORCH_CHECK(state_->in_capture,
                  "Attempt to increase offset for a CUDA generator not in capture mode.");
      const PhiloxState before{state_->seed, state_->captured};
      state_->captured += increment;
      return before;
    }
#if AWT_TORCH < 214  // whose generators know one capture at a time
    TORCH_CHECK(!state_->in_capture,
                "Offset increment outside graph capture encountered unexpectedly.");
#endif
    const PhiloxState before{state_->seed, state_->offset};
    state_->offset += increment;
    return before;
  }

  void require_capture() {
    std::lock_guard lock(state_->mutex);
    TORCH_CHECK(state_->in_capture,
                "Attempt to increase offset for a CUDA generator not in capture mode.");
  }

  void begin_capture() {
    std::lock_guard lock(state_->mutex);
    state_->in_capture = true;
    state_->captured = 0;
  }

  uint64_t end_capture() {
    std::lock_guard lock(state_->mutex);
    state_->in_capture = false;
    return state_->captured;
  }

 private:
  CudaGenerator* clone_impl() const override {
    assert_not_capturing("Cannot construct a new CUDAGeneratorImpl");
    auto copy = std::make_shared<GeneratorState>();
    copy->seed = current_seed();
    copy->offset = get_offset();
    return new CudaGenerator(device().index(), std::move(copy));
  }

  // at::CUDAGeneratorImpl has a pointer and a flag here, and extensions reach the flag by inline
  // code (reset_rnn_state).
  [[maybe_unused]] void* torchs_pointer_ = nullptr;
  [[maybe_unused]] void* torchs_flag_ = nullptr;
  std::shared_ptr<GeneratorState> state_;
};

CudaGenerator& cuda_generator(const at::Generator& generator) {
  auto* found = dynamic_cast<CudaGenerator*>(generator.unsafeGetGeneratorImpl());
  TORCH_CHECK(found, "Expected a 'cuda' device type for generator but found '",
              generator.device().type(), "'");
  return *found;
}

const at::Generator& given_or_default(const std::optional<at::Generator>& generator,
                                      c10::DeviceIndex device) {
  return generator && generator->defined() ? *generator : default_generator(device);
}

}  // namespace

const at::Generator& default_generator(c10::DeviceIndex device) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<at::Generator>> made;  // by index, kept for the process
  const c10::DeviceIndex index = device < 0 ? current_device() : device;
  TORCH_CHECK(index >= 0 && index < device_count(), "The device_index is invalid.");
  std::lock_guard lock(mutex);
  if (made.size() <= static_cast<size_t>(index)) made.resize(index + 1);
  auto& slot = made[index];
  if (!slot) {
    auto state = std::make_shared<GeneratorState>();
    state->seed = c10::detail::getNonDeterministicRandom(/*is_cuda=*/true);
    slot =
        std::make_unique<at::Generator>(at::make_generator<CudaGenerator>(index, std::move(state)));
  }
  return *slot;
}

at::Generator new_generator(c10::DeviceIndex device) {
  assert_not_capturing("Cannot construct a new CUDAGeneratorImpl");
  const c10::DeviceIndex index = device < 0 ? current_device() : device;
  TORCH_CHECK(index >= 0 && index < device_count(), "The device_index is invalid.");
  return at::make_generator<CudaGenerator>(index, std::make_shared<GeneratorState>());
}

PhiloxState reserve(const std::optional<at::Generator>& generator, c10::DeviceIndex device,
                    uint64_t increment) {
  // Not under the generator's own mutex_: Python holds that one while it waits for operators that
  // come here.
  return cuda_generator(given_or_default(generator, device)).take(increment);
}

KernelDraw reserve_for_kernel(const at::Generator& generator, uint64_t increment) {
  const c10::DeviceIndex device = cuda_generator(generator).device().index();
  if (!capturing(device)) {
    settle();
    return {reserve(generator, device, increment)};
  }
  note_captured_draw(current_stream(device), generator);
  // Memory of the device's, as with CUDA: of the common pool, wherever the capture allocates.
  const std::shared_ptr<PhiloxState> drawn(
      static_cast<PhiloxState*>(allocate_raw_on(sizeof(PhiloxState), default_stream(device))),
      &free_raw);
  give_to_stream(device, "philox_cuda_state", {},
                 [drawn, device, increment, from = std::optional(generator)] {
                   *drawn = reserve(from, device, increment);
                 });
  return {{}, drawn.get()};
}

void set_deferred_calls(DeferredCalls calls) noexcept { deferred = calls; }

void begin_capture(const at::Generator& generator) { cuda_generator(generator).begin_capture(); }

uint64_t end_capture(const at::Generator& generator) {
  return cuda_generator(generator).end_capture();
}

void require_capture(const at::Generator& generator) {
  cuda_generator(generator).require_capture();
}

// For Python, which makes torch.Generator objects of what an operator returns.
TORCH_LIBRARY_FRAGMENT(anywarp, m) {
  m.def("default_generator(int device) -> Generator?",
        [](int64_t device) { return default_generator(static_cast<c10::DeviceIndex>(device)); });
}

}  // namespace awt
