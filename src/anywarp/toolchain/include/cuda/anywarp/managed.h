// What `__managed__` means: a variable of the device for the device; for the host it is marked, and each use of it becomes
// one of the device's memory (anywarp/toolchain/managed.py).
#ifndef ANYWARP_MANAGED_H
#define ANYWARP_MANAGED_H

#if defined(__CUDACC__)
#undef __managed__
#if defined(__CUDA_ARCH__)
#define __managed__ __attribute__((device))
#else
#define __managed__ __attribute__((device, section("anywarp_managed")))
#endif
#endif

#endif
