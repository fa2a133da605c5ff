"""The handmade kernels that the tests of the driver share."""

from native.by_hand import VECADD, KernelByHand

__all__ = [
    "ADD_INDEX",
    "ASSERTS",
    "DEADLOCKS",
    "DIVIDES",
    "DYNAMIC_SHARED",
    "LIMITED",
    "LOCALS",
    "SLEEPS",
    "STORES",
    "TRAPS",
    "VECADD",
]

# Stores a value at an address computed by each thread: base + 4 * linear thread index; tells the handler as kernels do.
STORES = KernelByHand(
    "stores",
    """
KERNEL(stores) {
  uint64_t base = param<uint64_t>(launch, 0);
  FOR_BLOCKS FOR_THREADS {
    worker->warp = t / 32;
    worker->access_kind = 2;
    worker->access_mask = 1u << (t % 32);
    worker->access_stride = 4;
    worker->addresses[0] = base + 4ull * (linear * THREADS + t / 32 * 32);
    asm volatile("" ::: "memory");
    *(volatile uint32_t*)(base + 4ull * (linear * THREADS + t)) = t;
  }
  return AW_OK;
}
""",
    params=((0, 8),),
)

# Adds 1 to each of n words and takes a while over it.
SLEEPS = KernelByHand(
    "sleeps",
    """
extern "C" void aw_nanosleep(uint32_t);
KERNEL(sleeps) {
  auto p = param<uint32_t*>(launch, 0);
  auto n = param<uint32_t>(launch, 8);
  auto us = param<uint32_t>(launch, 12);
  FOR_BLOCKS {
    aw_nanosleep(us * 1000);
    for (uint32_t i = 0; i < n; ++i) p[i] += 1;
  }
  return AW_OK;
}
""",
    params=((0, 8), (8, 4), (12, 4)),
)

ADD_INDEX = KernelByHand(
    "add_index",
    """
KERNEL(add_index) {
  auto p = param<uint64_t*>(launch, 0);
  FOR_BLOCKS FOR_THREADS __atomic_fetch_add(p + t % 8, linear * 1000 + t, __ATOMIC_RELAXED);
  return AW_OK;
}
""",
    params=((0, 8),),
)

TRAPS = KernelByHand("traps", "KERNEL(traps) { FOR_BLOCKS { worker->trap_lane = 5; return AW_TRAP; } return AW_OK; }")

DEADLOCKS = KernelByHand(
    "deadlocks", "KERNEL(deadlocks) { FOR_BLOCKS { worker->barrier_id = 3; return AW_DEADLOCK; } return AW_OK; }"
)

ASSERTS = KernelByHand(
    "asserts",
    """
extern "C" void aw_assertfail(AwWorker*, uint64_t, uint64_t, uint32_t, uint64_t);
KERNEL(asserts) {
  FOR_BLOCKS {
    aw_assertfail(worker, (uint64_t)"i < n", (uint64_t)"file.cu", 42, (uint64_t)"asserts");
    return AW_TRAP;
  }
  return AW_OK;
}
""",
)

DIVIDES = KernelByHand(
    "divides",
    """
KERNEL(divides) {
  volatile int zero = 0;
  FOR_BLOCKS { worker->warp = 0; *(volatile int*)param<uint64_t>(launch, 0) = 7 / zero; }
  return AW_OK;
}
""",
    params=((0, 8),),
)

# Reverses each block's threads through dynamic shared memory behind 20 static bytes (so it begins at 32).
DYNAMIC_SHARED = KernelByHand(
    "dynamic_shared",
    """
KERNEL(dynamic_shared) {
  auto out = param<uint32_t*>(launch, 0);
  FOR_BLOCKS {
    auto shared = (uint32_t*)(worker->shared + 32);
    if ((uint64_t)worker->shared % 64 || launch->shared_total != 32 + launch->dynamic_shared) return AW_TRAP;
    FOR_THREADS shared[THREADS - 1 - t] = t + 1000 * block.x;
    FOR_THREADS out[linear * THREADS + t] = shared[t];
  }
  return AW_OK;
}
""",
    params=((0, 8),),
    shared=20,
)

# Writes its whole local memory and its whole frame, then the sum of what one byte of each thread holds.
LOCALS = KernelByHand(
    "locals",
    """
KERNEL(locals) {
  auto out = param<uint32_t*>(launch, 0);
  uint32_t warps = (THREADS + 31) / 32;
  FOR_BLOCKS {
    if ((uint64_t)worker->local % 64 || (uint64_t)worker->frame % 64) return AW_TRAP;
    for (uint64_t i = 0; i < 640 + 4096ull * warps; ++i) worker->frame[i] = 7;
    FOR_THREADS for (int i = 0; i < 1000; ++i) worker->local[t * 1000 + i] = t % 251;
    uint32_t sum = 0;
    FOR_THREADS sum += worker->local[t * 1000 + 999];
    out[linear] = sum;
  }
  return AW_OK;
}
""",
    params=((0, 8),),
    frame=(640, 4096),
    local=1000,
)

LIMITED = KernelByHand("limited", "KERNEL(limited) { return AW_OK; }", maxntid=(64, 1, 1))

# Every block waits until all others have come: only a grid whose blocks all run at once ends.
MEETS = KernelByHand(
    "meets",
    """
extern "C" void aw_nanosleep(uint32_t);
KERNEL(meets) {
  auto p = param<uint32_t*>(launch, 0);
  FOR_BLOCKS {
    __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(p, __ATOMIC_SEQ_CST) < launch->grid[0]) aw_nanosleep(1000);
    __atomic_fetch_add(p + 1, 1, __ATOMIC_SEQ_CST);
  }
  return AW_OK;
}
""",
    params=((0, 8),),
)

# Prints with each kind of argument, laid out as CUDA does: each at a multiple of its size.
PRINTS = KernelByHand(
    "prints",
    """
extern "C" int32_t aw_vprintf(AwWorker*, uint64_t, uint64_t);
struct Arguments { int32_t i; uint32_t u; double d; const char* s; int64_t l; int32_t width, value; double e; };
KERNEL(prints) {
  Arguments a = {-5, 7u, 2.5, "text", 1ll << 40, 6, 12, 1e10};
  FOR_BLOCKS {
    if (aw_vprintf(worker, (uint64_t)"i=%d u=%05u d=%.2f s=%s l=%lld w=%*d%% e=%g\\n", (uint64_t)&a) != 7) return AW_TRAP;
  }
  return AW_OK;
}
""",
)

# As stores, but tells the handler of all lanes of a warp at once, as compiled kernels do.
STORES_WARP = KernelByHand(
    "stores_warp",
    """
KERNEL(stores_warp) {
  uint64_t base = param<uint64_t>(launch, 0);
  FOR_BLOCKS {
    worker->warp = 0, worker->access_kind = 2, worker->access_mask = ~0u, worker->access_stride = 4;
    worker->addresses[0] = base;
    asm volatile("" ::: "memory");
    for (int lane = 0; lane < 32; ++lane) *(volatile uint32_t*)(base + 4 * lane) = lane;
  }
  return AW_OK;
}
""",
    params=((0, 8),),
)

# Stores 16 bytes by an instruction that wants an aligned address.
MISALIGNED = KernelByHand(
    "misaligned",
    """
KERNEL(misaligned) {
  uint64_t base = param<uint64_t>(launch, 0);
  FOR_BLOCKS {
    worker->warp = 0, worker->access_kind = 2, worker->access_mask = 1, worker->access_stride = 16;
    worker->addresses[0] = base;
    asm volatile("movaps %%xmm0, (%0)" ::"r"(base) : "memory");
  }
  return AW_OK;
}
""",
    params=((0, 8),),
)
