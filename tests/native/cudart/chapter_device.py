"""Errors, versions, devices, limits, peers, entry points, logs."""

import ctypes
import struct

from native.cudart.library import Runtime

INVALID_DEVICE = 101


def check_errors(rt: Runtime) -> None:
    assert rt.raw("cudaGetErrorName")(0) == b"cudaSuccess"
    assert rt.raw("cudaGetErrorName")(2) == b"cudaErrorMemoryAllocation"
    assert rt.raw("cudaGetErrorName")(98) == b"cudaErrorInvalidDeviceFunction"
    assert rt.raw("cudaGetErrorName")(801) == b"cudaErrorNotSupported"
    assert rt.raw("cudaGetErrorName")(54321) == b"unrecognized error code"
    assert rt.raw("cudaGetErrorString")(2) == b"out of memory"
    assert rt.raw("cudaGetErrorString")(0) == b"no error"
    assert rt.raw("cudaGetErrorString")(1) == b"invalid argument"
    assert rt.raw("cudaGetErrorString")(54321) == b"unrecognized error code"
    assert rt.code.cudaMalloc(None, 4) == 1
    assert rt.code.cudaPeekAtLastError() == 1
    rt.cudaFree(None)  # success leaves the last error alone
    assert rt.code.cudaGetLastError() == 1
    assert rt.code.cudaPeekAtLastError() == 0


def check_versions(rt: Runtime) -> None:
    version = rt.out("cudaRuntimeGetVersion", ctypes.c_int)
    assert version // 1000 == rt.major
    assert rt.out("cudaDriverGetVersion", ctypes.c_int) >= version


def check_devices(rt: Runtime) -> None:
    count = rt.out("cudaGetDeviceCount", ctypes.c_int)
    assert count >= 1
    rt.cudaSetDevice(0)
    assert rt.out("cudaGetDevice", ctypes.c_int) == 0
    assert rt.code.cudaSetDevice(count) == INVALID_DEVICE
    assert rt.code.cudaSetDevice(-1) == INVALID_DEVICE
    assert rt.out("cudaGetDevice", ctypes.c_int) == 0
    rt.cudaInitDevice(0, 0, 0)
    rt.cudaSetValidDevices((ctypes.c_int * 1)(0), 1)
    identity = ctypes.create_string_buffer(32)
    rt.cudaDeviceGetPCIBusId(identity, 32, 0)
    assert rt.out("cudaDeviceGetByPCIBusId", ctypes.c_int, after=(identity,)) == 0
    rt.cudaDeviceSynchronize()
    rt.cudaSetDeviceFlags(4)
    flags = ctypes.c_uint()
    rt.cudaGetDeviceFlags(ctypes.byref(flags))
    assert flags.value & 7 == 4
    rt.cudaSetDeviceFlags(0)
    assert rt.code.cudaSetDeviceFlags(1 << 20) == 1


def check_properties(rt: Runtime) -> None:
    properties = ctypes.create_string_buffer(b"\xee" * 2048, 2048)
    rt.raw("cudaGetDeviceProperties_v2" if rt.major == 12 else "cudaGetDeviceProperties")(properties, 0)
    # CUDA 12.9: 1032 bytes; CUDA 13: 1008.
    end = 1032 if rt.major == 12 else 1008
    assert properties.raw[end : end + 8] == b"\xee" * 8
    assert properties.raw[end - 4 : end] == bytes(4)
    memory, shared, registers, warp = struct.unpack_from("<QQii", properties.raw, 288)
    assert (warp, shared) == (32, rt.out("cudaDeviceGetAttribute", ctypes.c_int, after=(8, 0)))
    assert registers == rt.out("cudaDeviceGetAttribute", ctypes.c_int, after=(12, 0))
    total = ctypes.c_size_t()
    rt.cudaMemGetInfo(ctypes.byref(ctypes.c_size_t()), ctypes.byref(total))
    assert memory == total.value
    capability = [rt.out("cudaDeviceGetAttribute", ctypes.c_int, after=(a, 0)) for a in (75, 76)]
    where = struct.pack("<ii", *capability)
    assert where in properties.raw[340:380]
    if rt.major == 12:
        older = ctypes.create_string_buffer(b"\xee" * 2048, 2048)
        rt.cudaGetDeviceProperties(older, 0)
        assert older.raw[:728] == properties.raw[:728] and older.raw[728:] == b"\xee" * 1320
    assert rt.out("cudaChooseDevice", ctypes.c_int, after=(bytes(2048),)) == 0
    assert rt.code.cudaDeviceGetAttribute(ctypes.byref(ctypes.c_int()), 10, 99) == INVALID_DEVICE


def check_limits(rt: Runtime) -> None:
    prefixes = ("cudaDevice", "cudaThread") if rt.major == 12 else ("cudaDevice",)
    for prefix in prefixes:
        getattr(rt, f"{prefix}SetLimit")(0, 4096)
        assert rt.out(f"{prefix}GetLimit", ctypes.c_size_t, after=(0,)) == 4096
        getattr(rt, f"{prefix}SetLimit")(0, 1024)
        getattr(rt, f"{prefix}SetCacheConfig")(1)
        assert rt.out(f"{prefix}GetCacheConfig", ctypes.c_int) in (0, 1)
    rt.cudaDeviceSetSharedMemConfig(0)
    rt.out("cudaDeviceGetSharedMemConfig", ctypes.c_int)
    rt.cudaCtxResetPersistingL2Cache()
    least, greatest = ctypes.c_int(), ctypes.c_int()
    rt.cudaDeviceGetStreamPriorityRange(ctypes.byref(least), ctypes.byref(greatest))
    assert least.value == 0 and greatest.value < 0
    assert rt.code.cudaDeviceGetLimit(ctypes.byref(ctypes.c_size_t()), 999) != 0
    if rt.major == 12:
        rt.cudaThreadSynchronize()
        for name in ("cudaSetDoubleForDevice", "cudaSetDoubleForHost"):
            number = ctypes.c_double(2.5)
            getattr(rt, name)(ctypes.byref(number))
            assert number.value == 2.5


def check_peers(rt: Runtime) -> None:
    assert rt.out("cudaDeviceCanAccessPeer", ctypes.c_int, after=(0, 0)) == 0
    assert rt.code.cudaDeviceEnablePeerAccess(0, 0) == INVALID_DEVICE
    assert rt.code.cudaDeviceDisablePeerAccess(99) == INVALID_DEVICE
    assert rt.code.cudaDeviceDisablePeerAccess(0) != 0
    assert rt.code.cudaDeviceGetP2PAttribute(ctypes.byref(ctypes.c_int()), 1, 0, 0) == INVALID_DEVICE
    assert rt.code.cudaDeviceFlushGPUDirectRDMAWrites(0, 100) in (0, 801)
    if rt.has("cudaDeviceGetHostAtomicCapabilities"):
        operations, got = (ctypes.c_int * 2)(0, 1), (ctypes.c_uint * 2)()
        rt.cudaDeviceGetHostAtomicCapabilities(got, operations, 2, 0)
        assert rt.code.cudaDeviceGetP2PAtomicCapabilities(got, operations, 2, 0, 0) in (0, 1, 101)


def check_entry_points(rt: Runtime) -> None:
    for variants in (False, True):
        function, status = ctypes.c_void_p(), ctypes.c_int(9)
        places = ctypes.byref(function), ctypes.byref(status)

        def look_up(name: bytes, places=places) -> None:
            rt.cudaGetDriverEntryPoint(name, places[0], 0, places[1])

        if variants:
            with rt.per_thread():
                look_up(b"cuMemcpy")
                rt.cudaGetDriverEntryPointByVersion(
                    b"cuMemcpy", ctypes.byref(other := ctypes.c_void_p()), 12000, 0, places[1]
                )
        else:
            look_up(b"cuMemcpy")
            rt.cudaGetDriverEntryPointByVersion(
                b"cuMemcpy", ctypes.byref(other := ctypes.c_void_p()), 12000, 0, places[1]
            )
        driver = ctypes.CDLL("libcuda.so.1")
        name = "cuMemcpy_ptds" if variants else "cuMemcpy"
        assert function.value == other.value == ctypes.cast(driver[name], ctypes.c_void_p).value
        assert status.value == 0
    look_up(b"cuDriverGetVersion")
    version = ctypes.c_int()
    assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(function.value)(ctypes.byref(version)) == 0
    assert version.value == rt.out("cudaDriverGetVersion", ctypes.c_int)
    look_up(b"cuNoSuchThing")
    assert (function.value, status.value) == (None, 1)
    table = ctypes.c_void_p(7)
    assert rt.code.cudaGetExportTable(ctypes.byref(table), bytes(16)) == 500
    assert table.value is None


def check_profiler_and_notifications(rt: Runtime) -> None:
    rt.cudaProfilerStart()
    rt.cudaProfilerStop()
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: None)
    handle = ctypes.c_void_p()
    made = rt.code.cudaDeviceRegisterAsyncNotification(0, callback, None, ctypes.byref(handle))
    assert made in (0, 801)
    assert (rt.code.cudaDeviceUnregisterAsyncNotification(0, handle) == 0) == (made == 0)


def check_logs(rt: Runtime) -> None:
    if not rt.has("cudaLogsCurrent"):
        return
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)(lambda *_: None)
    handle, place, size = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_size_t(100)
    made = rt.code.cudaLogsRegisterCallback(callback, None, ctypes.byref(handle))
    assert made in (0, 801)
    assert rt.code.cudaLogsCurrent(ctypes.byref(place), 0) == made
    assert rt.code.cudaLogsDumpToMemory(None, ctypes.create_string_buffer(100), ctypes.byref(size), 0) == made
    assert rt.code.cudaLogsDumpToFile(None, b"/dev/null", 0) == made
    assert (rt.code.cudaLogsUnregisterCallback(handle) == 0) == (made == 0)


def check_zz_reset(rt: Runtime) -> None:
    pointer = rt.out("cudaMalloc", ctypes.c_void_p, after=(100,))
    rt.cudaDeviceReset()
    assert rt.code.cudaFree(pointer) == 1
    rt.cudaFree(rt.out("cudaMalloc", ctypes.c_void_p, after=(100,)))
    if rt.major == 12:
        rt.cudaThreadExit()
        rt.cudaDeviceSynchronize()
