"""The CUDA driver through ctypes, as short as planted faults and clean kernels need it."""

import ctypes
from pathlib import Path


class Driver:
    """A context, and what tests do in it; every status is checked."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: CUDA error {status}")

    def module(self, path):
        handle = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(handle), Path(path).read_bytes() + b"\0")
        return handle

    def function(self, module, name):
        handle = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(handle), module, name.encode())
        return handle

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def upload(self, data):
        address = self.allocate(len(data))
        self.write(address, data)
        return address

    def write(self, address, data):
        self.call("cuMemcpyHtoD_v2", address, bytes(data), ctypes.c_size_t(len(data)))

    def read(self, address, size):
        room = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", room, address, ctypes.c_size_t(size))
        return room.raw

    def free(self, address):
        self.call("cuMemFree_v2", address)

    def launch(self, function, grid, block, arguments, shared=0, stream=None):
        grid, block = (*grid, 1, 1)[:3], (*block, 1, 1)[:3]
        pointers = (ctypes.c_void_p * max(len(arguments), 1))(*(ctypes.addressof(a) for a in arguments))
        self.call("cuLaunchKernel", function, *grid, *block, shared, stream, pointers, None)
