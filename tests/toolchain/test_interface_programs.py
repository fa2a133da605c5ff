"""Programs in C and C++ that ask the management, linker and profiling libraries, built as users build them."""

import json
import subprocess
import sys

import pytest

from anywarp import settings
from toolchain.programs import started

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(
        not (settings.LIBRARY_DIR.get() / "libcudart.so.13").exists(), reason="libcudart.so.13 is not built"
    ),
]

MANAGEMENT = r"""
#include <nvml.h>
#include <stdio.h>
#include <string.h>

#define CHECK(call) do { nvmlReturn_t done = (call); if (done != NVML_SUCCESS) { printf("%s: %s\n", #call, nvmlErrorString(done)); return 1; } } while (0)

int main(void) {
  unsigned int count = 0, temperature = 0, power = 0, running = 8;
  int version = 0;
  nvmlDevice_t device;
  char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE], driver[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE], bus[64];
  nvmlMemory_t memory;
  nvmlMemory_v2_t whole;
  nvmlUtilization_t use;
  nvmlPciInfo_t pci;
  nvmlProcessInfo_t processes[8];
  nvmlReturn_t measured;
  if (nvmlDeviceGetCount(&count) != NVML_ERROR_UNINITIALIZED) return 2;
  CHECK(nvmlInit());
  CHECK(nvmlDeviceGetCount(&count));
  CHECK(nvmlSystemGetDriverVersion(driver, sizeof driver));
  CHECK(nvmlSystemGetCudaDriverVersion(&version));
  CHECK(nvmlDeviceGetHandleByIndex(0, &device));
  CHECK(nvmlDeviceGetName(device, name, sizeof name));
  CHECK(nvmlDeviceGetMemoryInfo(device, &memory));
  memset(&whole, 0, sizeof whole);
  whole.version = nvmlMemory_v2;
  CHECK(nvmlDeviceGetMemoryInfo_v2(device, &whole));
  CHECK(nvmlDeviceGetUtilizationRates(device, &use));
  CHECK(nvmlDeviceGetPciInfo(device, &pci));
  CHECK(nvmlDeviceGetComputeRunningProcesses(device, &running, processes));
  sprintf(bus, NVML_DEVICE_PCI_BUS_ID_FMT, NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(&pci));
  measured = nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &temperature);
  if (measured != NVML_SUCCESS && measured != NVML_ERROR_NOT_SUPPORTED) return 3;
  measured = nvmlDeviceGetPowerUsage(device, &power);
  if (measured != NVML_SUCCESS && measured != NVML_ERROR_NOT_SUPPORTED) return 4;
  if (nvmlDeviceGetHandleByIndex(count, &device) != NVML_ERROR_INVALID_ARGUMENT) return 5;
  CHECK(nvmlShutdown());
  printf("{\"count\": %u, \"name\": \"%s\", \"total\": %llu, \"used\": %llu, \"whole\": %llu, \"cuda\": %d, \"use\": %u, \"bus\": [\"%s\", \"%s\"]}\n",
         count, name, memory.total, memory.used, whole.total, NVML_CUDA_DRIVER_VERSION_MAJOR(version), use.gpu, bus, pci.busId);
  return 0;
}
"""

ASKED = """
import json
import pynvml as n
n.nvmlInit()
first = n.nvmlDeviceGetHandleByIndex(0)
print(json.dumps({"count": n.nvmlDeviceGetCount(), "name": n.nvmlDeviceGetName(first), "total": n.nvmlDeviceGetMemoryInfo(first).total,
                  "bus": n.nvmlDeviceGetPciInfo(first).busId}))
"""


@pytest.mark.parametrize("name", ["management.c", "management.cpp", "management.cu"])
def test_a_program_asks_for_devices_memory_load_and_processes(nvcc, tmp_path, name):
    (tmp_path / name).write_text(MANAGEMENT)
    nvcc(name, "-o", "management", "-lnvidia-ml")
    told = json.loads(started(tmp_path / "management").stdout)
    run = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, "-c", ASKED]
    other = json.loads(
        subprocess.run(run, capture_output=True, text=True, check=True, timeout=100).stdout.splitlines()[-1]
    )
    assert {key: told[key] for key in ("count", "name", "total")} == {
        key: other[key] for key in ("count", "name", "total")
    }
    assert told["whole"] == told["total"] >= told["used"] and told["use"] <= 100 and told["cuda"] == 13
    assert told["bus"] == [other["bus"], other["bus"]]


LINKER = r"""
#include <cuda.h>
#include <nvJitLink.h>
#include <cstdio>
#include <vector>

static const char* first = R"(.version 7.0
.target sm_50
.address_size 64
.extern .func (.param .b32 r) thrice(.param .b32 a);
.visible .entry fill(.param .u64 to) {
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [to];
  mov.u32 %r1, %tid.x;
  {
    .param .b32 a;
    .param .b32 r;
    st.param.b32 [a], %r1;
    call (r), thrice, (a);
    ld.param.b32 %r2, [r];
  }
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r2;
  ret;
})";
static const char* second = R"(.version 7.0
.target sm_50
.address_size 64
.visible .func (.param .b32 r) thrice(.param .b32 a) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [a];
  mul.lo.u32 %r2, %r1, 3;
  st.param.b32 [r], %r2;
  ret;
})";

int main() {
  const char* options[] = {"-arch=sm_80"};
  nvJitLinkHandle link;
  unsigned major, minor;
  if (nvJitLinkVersion(&major, &minor) != NVJITLINK_SUCCESS || nvJitLinkCreate(&link, 1, options) != NVJITLINK_SUCCESS) return 1;
  if (nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, first, strlen(first), "first") != NVJITLINK_SUCCESS) return 2;
  if (nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, second, strlen(second), "second") != NVJITLINK_SUCCESS) return 3;
  nvJitLinkResult done = nvJitLinkComplete(link);
  size_t size;
  if (done != NVJITLINK_SUCCESS) {
    nvJitLinkGetErrorLogSize(link, &size);
    std::vector<char> log(size);
    nvJitLinkGetErrorLog(link, log.data());
    puts(log.data());
    return 4;
  }
  if (nvJitLinkGetLinkedLTOIRSize(link, &size) != NVJITLINK_ERROR_LTO_NOT_ENABLED) return 5;
  nvJitLinkGetLinkedCubinSize(link, &size);
  std::vector<char> cubin(size);
  nvJitLinkGetLinkedCubin(link, cubin.data());
  if (nvJitLinkDestroy(&link) != NVJITLINK_SUCCESS) return 6;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction fill;
  CUdeviceptr to;
  unsigned out[32];
  cuInit(0), cuDeviceGet(&device, 0), cuDevicePrimaryCtxRetain(&context, device), cuCtxSetCurrent(context);
  if (cuModuleLoadData(&module, cubin.data()) || cuModuleGetFunction(&fill, module, "fill") || cuMemAlloc(&to, sizeof out)) return 7;
  void* arguments[] = {&to};
  if (cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) || cuMemcpyDtoH(out, to, sizeof out)) return 8;
  unsigned wrong = 0;
  for (unsigned i = 0; i < 32; ++i) wrong += out[i] != 3 * i;
  printf("%u\n", wrong);
}
"""


def test_a_program_links_two_modules_and_launches_what_came_of_them(nvcc, tmp_path):
    (tmp_path / "linker.cpp").write_text("#include <cstring>\n" + LINKER)
    nvcc("linker.cpp", "-o", "linker", "-lnvJitLink", "-lcuda")
    assert started(tmp_path / "linker").stdout == "0\n"


TRACED = r"""
#include <cupti.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#define CHECK(call) do { CUptiResult done = (call); const char *text = ""; \
  if (done != CUPTI_SUCCESS) { cuptiGetResultString(done, &text); printf("%s: %s\n", #call, text); exit(1); } } while (0)

static size_t bytes_copied;
static int kernels, threads, outer, entries, launched_blocks;
static uint32_t kernel_correlation, call_correlation;
static const char *launched;

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *most) {
  *size = 16 * 1024, *most = 0;
  *buffer = static_cast<uint8_t *>(aligned_alloc(8, *size));
}
static void CUPTIAPI completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t, size_t valid) {
  CUpti_Activity *record = nullptr;
  CUptiResult status;
  while ((status = cuptiActivityGetNextRecord(buffer, valid, &record)) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      auto *copy = reinterpret_cast<CUpti_ActivityMemcpy6 *>(record);
      if (copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD) bytes_copied += copy->bytes;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      auto *kernel = reinterpret_cast<CUpti_ActivityKernel9 *>(record);
      kernels += strstr(kernel->name, "twice") != nullptr && kernel->end >= kernel->start;
      threads += kernel->gridX * kernel->blockX, kernel_correlation = kernel->correlationId;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
      auto *given = reinterpret_cast<CUpti_ActivityExternalCorrelation *>(record);
      outer += given->correlationId == call_correlation && given->externalId == 77 && given->externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;
    }
  }
  if (status != CUPTI_ERROR_MAX_LIMIT_REACHED) CHECK(status);
  free(buffer);
}
static void CUPTIAPI called(void *, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *given) {
  auto *data = static_cast<const CUpti_CallbackData *>(given);
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API || id != CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000) return;
  if (data->callbackSite != CUPTI_API_ENTER) return;
  auto *parameters = static_cast<const cudaLaunchKernel_v7000_params *>(data->functionParams);
  ++entries, launched_blocks = parameters->gridDim.x, launched = data->functionName, call_correlation = data->correlationId;
}

__global__ void twice(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

int main() {
  CUpti_SubscriberHandle subscriber;
  uint32_t version = 0;
  CHECK(cuptiGetVersion(&version));
  CHECK(cuptiSubscribe(&subscriber, called, nullptr));
  CHECK(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
  CHECK(cuptiActivityRegisterCallbacks(requested, completed));
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
  float host[128] = {1, 2}, *device;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  uint64_t last = 0;
  CHECK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, 77));
  twice<<<4, 32>>>(device);
  CHECK(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, &last));
  cudaDeviceSynchronize();
  CHECK(cuptiActivityFlushAll(0));
  CHECK(cuptiUnsubscribe(subscriber));
  printf("%d %zu %d %d %d %d %d %s %d %d\n", version == CUPTI_API_VERSION, bytes_copied, kernels, threads, outer, entries, launched_blocks,
         launched ? launched : "none", kernel_correlation == call_correlation, last == 77);
}
"""


def test_a_program_traces_its_own_work(nvcc, tmp_path):
    (tmp_path / "traced.cu").write_text(TRACED)
    nvcc("traced.cu", "-o", "traced", "-lcupti")
    assert started(tmp_path / "traced").stdout.split() == "1 512 1 128 1 1 4 cudaLaunchKernel 1 1".split()


DISPLAY = """
#include <cuda_gl_interop.h>
#include <stdio.h>
int main(void) {
  struct cudaGraphicsResource *resource = 0;
  int device, shown;
  unsigned int count = 9;
  shown = cudaGraphicsGLRegisterBuffer(&resource, 1, cudaGraphicsMapFlagsWriteDiscard) == cudaSuccess;
  printf("%d %d %d\\n", shown, resource == 0, cudaGLGetDevices(&count, &device, 1, cudaGLDeviceListAll) != cudaSuccess);
  return 0;
}
"""


@pytest.mark.parametrize("name", ["display.c", "display.cu"])
def test_a_program_that_may_draw_with_opengl_builds_and_is_told_that_it_cannot(nvcc, tmp_path, name):
    (tmp_path / "GL").mkdir()
    (tmp_path / "GL/gl.h").write_text("typedef unsigned int GLuint;\ntypedef unsigned int GLenum;\n")
    (tmp_path / name).write_text(DISPLAY)
    nvcc(name, "-I.", "-o", "display")
    assert started(tmp_path / "display").stdout.split() == ["0", "1", "1"]
