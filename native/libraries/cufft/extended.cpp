// cuFFT's extended interface: memory in descriptors, for one device, and callbacks, which are
// refused.
#include <cuda.h>
#include <cufftXt.h>

#include <cstring>

#include "libraries/cufft/plan.h"

using namespace aw::cufft;

namespace {

void must(CUresult result) {
  require(result != CUDA_ERROR_OUT_OF_MEMORY, CUFFT_ALLOC_FAILED);
  require(result == CUDA_SUCCESS, CUFFT_EXEC_FAILED);
}

// The one array of a descriptor that cufftXtMalloc made.
void* memory_of(const cudaLibXtDesc* it) {
  require(it && it->descriptor && it->library == LIB_FORMAT_CUFFT && it->descriptor->nGPUs == 1);
  return it->descriptor->data[0];
}

void between(cufftHandle handle, Kind kind, Number number, cudaLibXtDesc* in, cudaLibXtDesc* out,
             int direction) {
  const Plan& plan = use_made(handle);
  require(plan.problem.kind == kind && plan.problem.number == number);
  require(kind != Kind::kComplex || direction == CUFFT_FORWARD || direction == CUFFT_INVERSE);
  execute(plan, memory_of(in), memory_of(out),
          kind == Kind::kRealToComplex || (kind == Kind::kComplex && direction == CUFFT_FORWARD));
}

size_t bytes_of(const Plan& plan, int format) {
  switch (format) {
    case CUFFT_XT_FORMAT_INPUT:
      return bytes_in(plan.problem);
    case CUFFT_XT_FORMAT_OUTPUT:
      return bytes_out(plan.problem);
    case CUFFT_XT_FORMAT_INPLACE:
    case CUFFT_XT_FORMAT_INPLACE_SHUFFLED:  // what is on one device is in its natural order
    case CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED:
      return std::max(bytes_in(plan.problem), bytes_out(plan.problem));
    default:
      throw aw::Failure(CUFFT_INVALID_VALUE);
  }
}

const char kCallbacks[] =
    "callbacks: a function of the device that reads or writes for the transform";

}  // namespace

AW_EXPORT cufftResult cufftXtSetGPUs(cufftHandle handle, int count, int* which) {
  return api<"cufftXtSetGPUs">([&] {
    Plan& plan = use(handle);
    require(!plan.transform, CUFFT_INVALID_PLAN);
    require(count >= 1 && which);
    if (count > 1) unsupported("a transform on " + std::to_string(count) + " devices");
    int devices = 0;
    must(cuDeviceGetCount(&devices));
    require(which[0] >= 0 && which[0] < devices, CUFFT_INVALID_DEVICE);
    plan.one_gpu = true;
  });
}

AW_EXPORT cufftResult cufftXtSetWorkArea(cufftHandle handle, void** areas) {
  return api<"cufftXtSetWorkArea">([&] { use_made(handle), require(areas); });
}

AW_EXPORT cufftResult cufftXtSetWorkAreaPolicy(cufftHandle handle, cufftXtWorkAreaPolicy policy,
                                               size_t*) {
  return api<"cufftXtSetWorkAreaPolicy">([&] {
    use_made(handle);
    require(policy >= CUFFT_WORKAREA_MINIMAL && policy <= CUFFT_WORKAREA_PERFORMANCE);
  });
}

AW_EXPORT cufftResult cufftXtMalloc(cufftHandle handle, cudaLibXtDesc** made,
                                    cufftXtSubFormat format) {
  return api<"cufftXtMalloc">([&] {
    const Plan& plan = use_made(handle);
    require(made);
    const size_t bytes = bytes_of(plan, format);
    aw::lib::ensure_context();
    auto whole = std::make_unique<cudaLibXtDesc>();
    auto parts = std::make_unique<cudaXtDesc>();
    CUdevice device;
    must(cuCtxGetDevice(&device));
    CUdeviceptr data;
    must(cuMemAlloc(&data, bytes));
    *parts = {}, *whole = {};
    parts->version = whole->version = CUDA_XT_DESCRIPTOR_VERSION;
    parts->nGPUs = 1;
    parts->GPUs[0] = device;
    parts->data[0] = reinterpret_cast<void*>(data);
    parts->size[0] = bytes;
    whole->library = LIB_FORMAT_CUFFT;
    whole->subFormat = format;
    whole->descriptor = parts.release();
    *made = whole.release();
  });
}

AW_EXPORT cufftResult cufftXtFree(cudaLibXtDesc* it) {
  return api<"cufftXtFree">([&] {
    void* data = memory_of(it);
    must(cuMemFree(reinterpret_cast<CUdeviceptr>(data)));
    delete it->descriptor;
    delete it;
  });
}

// As with cudaMemcpy the host's memory may be used again when this returns.
AW_EXPORT cufftResult cufftXtMemcpy(cufftHandle handle, void* to, void* from,
                                    cufftXtCopyType type) {
  return api<"cufftXtMemcpy">([&] {
    const Plan& plan = use_made(handle);
    require(to && from);
    require(type >= CUFFT_COPY_HOST_TO_DEVICE && type <= CUFFT_COPY_DEVICE_TO_DEVICE);
    auto* target = static_cast<cudaLibXtDesc*>(to);
    auto* source = static_cast<cudaLibXtDesc*>(from);
    CUresult done;
    if (type == CUFFT_COPY_HOST_TO_DEVICE) {
      auto at = reinterpret_cast<CUdeviceptr>(memory_of(target));
      done = cuMemcpyHtoDAsync(
          at, from, std::min(bytes_of(plan, target->subFormat), target->descriptor->size[0]),
          plan.stream);
    } else if (type == CUFFT_COPY_DEVICE_TO_HOST) {
      auto at = reinterpret_cast<CUdeviceptr>(memory_of(source));
      done = cuMemcpyDtoHAsync(
          to, at, std::min(bytes_of(plan, source->subFormat), source->descriptor->size[0]),
          plan.stream);
    } else {
      auto at = reinterpret_cast<CUdeviceptr>(memory_of(target));
      auto here = reinterpret_cast<CUdeviceptr>(memory_of(source));
      done = cuMemcpyDtoDAsync(at, here,
                               std::min(source->descriptor->size[0], target->descriptor->size[0]),
                               plan.stream);
    }
    must(done);
    must(cuStreamSynchronize(plan.stream));
  });
}

AW_EXPORT cufftResult cufftXtExecDescriptorC2C(cufftHandle plan, cudaLibXtDesc* in,
                                               cudaLibXtDesc* out, int direction) {
  return api<"cufftXtExecDescriptorC2C">(
      [&] { between(plan, Kind::kComplex, Number::kFloat, in, out, direction); });
}

AW_EXPORT cufftResult cufftXtExecDescriptorZ2Z(cufftHandle plan, cudaLibXtDesc* in,
                                               cudaLibXtDesc* out, int direction) {
  return api<"cufftXtExecDescriptorZ2Z">(
      [&] { between(plan, Kind::kComplex, Number::kDouble, in, out, direction); });
}

AW_EXPORT cufftResult cufftXtExecDescriptorR2C(cufftHandle plan, cudaLibXtDesc* in,
                                               cudaLibXtDesc* out) {
  return api<"cufftXtExecDescriptorR2C">(
      [&] { between(plan, Kind::kRealToComplex, Number::kFloat, in, out, 0); });
}

AW_EXPORT cufftResult cufftXtExecDescriptorD2Z(cufftHandle plan, cudaLibXtDesc* in,
                                               cudaLibXtDesc* out) {
  return api<"cufftXtExecDescriptorD2Z">(
      [&] { between(plan, Kind::kRealToComplex, Number::kDouble, in, out, 0); });
}

AW_EXPORT cufftResult cufftXtExecDescriptorC2R(cufftHandle plan, cudaLibXtDesc* in,
                                               cudaLibXtDesc* out) {
  return api<"cufftXtExecDescriptorC2R">(
      [&] { between(plan, Kind::kComplexToReal, Number::kFloat, in, out, 0); });
}

AW_EXPORT cufftResult cufftXtExecDescriptorZ2D(cufftHandle plan, cudaLibXtDesc* in,
                                               cudaLibXtDesc* out) {
  return api<"cufftXtExecDescriptorZ2D">(
      [&] { between(plan, Kind::kComplexToReal, Number::kDouble, in, out, 0); });
}

AW_EXPORT cufftResult cufftXtExecDescriptor(cufftHandle handle, cudaLibXtDesc* in,
                                            cudaLibXtDesc* out, int direction) {
  return api<"cufftXtExecDescriptor">([&] {
    const Problem& problem = use_made(handle).problem;
    between(handle, problem.kind, problem.number, in, out, direction);
  });
}

AW_EXPORT cufftResult cufftXtSetCallback(cufftHandle handle, void**, cufftXtCallbackType, void**) {
  return api<"cufftXtSetCallback">([&] { use_made(handle), unsupported(kCallbacks); });
}

AW_EXPORT cufftResult cufftXtSetCallbackSharedSize(cufftHandle handle, cufftXtCallbackType,
                                                   size_t) {
  return api<"cufftXtSetCallbackSharedSize">([&] { use_made(handle), unsupported(kCallbacks); });
}

// None can have been set.
AW_EXPORT cufftResult cufftXtClearCallback(cufftHandle handle, cufftXtCallbackType) {
  return api<"cufftXtClearCallback">([&] { use_made(handle); });
}

#ifdef AW_CUDA_12
AW_EXPORT cufftResult __cufftXtSetJITCallback_12_7(cufftHandle handle, const char*, const void*,
                                                   size_t, cufftXtCallbackType, void**) {
  return api<"__cufftXtSetJITCallback_12_7">([&] { use(handle), unsupported(kCallbacks); });
}
#else
AW_EXPORT cufftResult cufftXtSetJITCallback(cufftHandle handle, const char*, const void*, size_t,
                                            cufftXtCallbackType, void**) {
  return api<"cufftXtSetJITCallback">([&] { use(handle), unsupported(kCallbacks); });
}
#endif
