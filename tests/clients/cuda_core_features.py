"""What NVIDIA's cuda.core does, one check after the other, with values of numpy's: streams, kernels, memory, graphs, linking."""

import ctypes
import sys

import numpy as np
from cuda.bindings import driver, runtime
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    Program,
    ProgramOptions,
    launch,
)

SCALE = """
__constant__ float offset = 0.5f;
static __device__ float counted = 3.0f;
static __constant__ float weight = 2.0f;
template <typename T> __global__ void scale(const T* x, T* y, T factor, unsigned long long n) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i] + (T)offset;
}
extern "C" __global__ void state(float* y) { y[threadIdx.x] = counted * weight + threadIdx.x; }
"""


def device_and_stream():
    device = Device()
    device.set_current()
    return device, device.create_stream()


def compiled(device, kind="cubin", **options):
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", **options)
    return Program(SCALE, "c++", options=options).compile(kind, name_expressions=("scale<float>", "scale<double>"))


def pinned(dtype, values):
    buffer = LegacyPinnedMemoryResource().allocate(np.dtype(dtype).itemsize * len(values))
    array = np.from_dlpack(buffer).view(dtype)
    array[:] = values
    return buffer, array


def check_sync():
    device, stream = device_and_stream()
    x, given = pinned(np.float32, np.arange(1000) * 0.25)
    y, made = pinned(np.float32, np.zeros(1000))
    launch(
        stream,
        LaunchConfig(grid=4, block=256),
        compiled(device).get_kernel("scale<float>"),
        x,
        y,
        np.float32(3),
        np.uint64(1000),
    )
    device.sync()
    np.testing.assert_array_equal(made, 3 * given + np.float32(0.5))


def check_device_memory():
    device, stream = device_and_stream()
    x, given = pinned(np.float64, np.arange(77) - 30.5)
    y, made = pinned(np.float64, np.zeros(77))
    there, back = (device.allocate(77 * 8, stream=stream) for _ in range(2))
    there.copy_from(x, stream=stream)
    launch(
        stream,
        LaunchConfig(grid=2, block=64),
        compiled(device).get_kernel("scale<double>"),
        there,
        back,
        2.0,
        np.uint64(77),
    )
    back.copy_to(y, stream=stream)
    stream.sync()
    np.testing.assert_array_equal(made, 2 * given + 0.5)


def check_runtime_and_driver_are_one():
    device, stream = device_and_stream()
    assert runtime.cudaDeviceSynchronize() == (runtime.cudaError_t.cudaSuccess,)
    error, count = runtime.cudaGetDeviceCount()
    assert (int(error), count) == (0, driver.cuDeviceGetCount()[1])
    error, memory = runtime.cudaMalloc(256)
    assert int(error) == 0
    assert int(runtime.cudaMemset(memory, 7, 256)[0]) == 0
    host = np.zeros(256, np.uint8)
    assert int(driver.cuMemcpyDtoH(host.ctypes.data, memory, 256)[0]) == 0
    assert (host == 7).all()
    error, properties = runtime.cudaGetDeviceProperties(0)
    assert (int(error), properties.name.decode().rstrip("\0")) == (0, device.name)
    assert int(runtime.cudaFree(memory)[0]) == 0
    assert int(runtime.cudaStreamSynchronize(int(stream.handle))[0]) == 0
    assert runtime.cudaSetDevice(99)[0] == runtime.cudaError_t.cudaErrorInvalidDevice


def check_events():
    device, stream = device_and_stream()
    first = stream.record(options={"timing_enabled": True})
    second = stream.record(options={"timing_enabled": True})
    second.sync()
    assert second - first >= 0 and second.is_done


def check_graph():
    device, stream = device_and_stream()
    kernel = compiled(device).get_kernel("scale<float>")
    x, given = pinned(np.float32, np.arange(64))
    y, made = pinned(np.float32, np.zeros(64))
    z, last = pinned(np.float32, np.zeros(64))
    builder = stream.create_graph_builder()
    builder.begin_building()
    config = LaunchConfig(grid=1, block=64)
    launch(builder, config, kernel, x, y, np.float32(2), np.uint64(64))
    launch(builder, config, kernel, y, z, np.float32(4), np.uint64(64))
    graph = builder.end_building().complete()
    assert not made.any()
    graph.upload(stream)
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(last, 4 * (2 * given + 0.5) + 0.5)


def check_linked_programs():
    device, stream = device_and_stream()
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", relocatable_device_code=True)
    caller = 'extern __device__ float shape(float); extern "C" __global__ void run(float* y) { y[threadIdx.x] = shape(threadIdx.x); }'
    callee = "__device__ float shape(float x) { return x * x - 1.0f; }"
    objects = [Program(text, "c++", options=options).compile("ptx") for text in (caller, callee)]
    linked = Linker(*objects, options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
    y, made = pinned(np.float32, np.zeros(32))
    launch(stream, LaunchConfig(grid=1, block=32), linked.get_kernel("run"), y)
    stream.sync()
    np.testing.assert_array_equal(made, np.arange(32, dtype=np.float32) ** 2 - 1)


def check_static_variables_keep_their_names():
    device, stream = device_and_stream()
    module = compiled(device)
    error, loaded = driver.cuModuleLoadData(module.code)
    assert int(error) == 0
    for name, value in (("counted", 3.0), ("weight", 2.0), ("offset", 0.5)):
        error, address, size = driver.cuModuleGetGlobal(loaded, name.encode())
        assert (int(error), size) == (0, 4), name
        host = np.zeros(1, np.float32)
        assert int(driver.cuMemcpyDtoH(host.ctypes.data, address, 4)[0]) == 0
        assert host[0] == value, name
        host[0] = value + 4
        assert int(driver.cuMemcpyHtoD(address, host.ctypes.data, 4)[0]) == 0
    y, made = pinned(np.float32, np.zeros(32))
    error, kernel = driver.cuModuleGetFunction(loaded, b"state")
    assert int(error) == 0
    arguments = ((int(y.handle),), (ctypes.c_void_p,))
    assert int(driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, int(stream.handle), arguments, 0)[0]) == 0
    stream.sync()
    np.testing.assert_array_equal(made, np.arange(32) + 7 * 6)


CHECKS = {name[len("check_") :]: check for name, check in globals().items() if name.startswith("check_")}


def main(wanted):
    failed = False
    for name, check in CHECKS.items():
        if wanted and name not in wanted:
            continue
        try:
            check()
            print(f"ok {name}", flush=True)
        except Exception as error:
            failed = True
            print(f"FAILED {name}: {type(error).__name__}: {error}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
