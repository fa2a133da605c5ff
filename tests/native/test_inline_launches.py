"""Small kernels that wait for nobody run before the launch returns; those that may wait, large ones and busy streams do not."""

import ctypes
import threading
from dataclasses import replace

import pytest

from native.by_hand import KernelByHand

pytestmark = pytest.mark.native

# Tells the number of the thread that runs it (system call 186 of x86-64, 178 of AArch64).
WHO = """
static inline uint64_t thread_number() {
  uint64_t out;
#if defined(__x86_64__)
  asm volatile("syscall" : "=a"(out) : "a"(186) : "rcx", "r11", "memory");
#else
  register uint64_t number asm("x8") = 178;
  register uint64_t result asm("x0");
  asm volatile("svc 0" : "=r"(result) : "r"(number) : "memory");
  out = result;
#endif
  return out;
}
KERNEL(who) {
  auto out = param<uint64_t*>(launch, 0);
  for (uint64_t spin = param<uint64_t>(launch, 8); spin; --spin) asm volatile("");
  FOR_BLOCKS out[block.x] = thread_number();
  return AW_OK;
}
"""
ALONE = KernelByHand("who", WHO, ((0, 8), (8, 8)), alone=1, stack=4096)


def here() -> int:
    return threading.get_native_id()


@pytest.fixture
def threads(driver, context, handmade):
    """Return a function: the numbers of the threads that ran a kernel, one per launch."""
    out = driver.out("cuMemAlloc_v2", 8 * 64)

    def run(kernel: KernelByHand, launches: int = 40, grid: int = 1, stream: int = 0, spin: int = 0) -> list[int]:
        module = driver.out("cuModuleLoadData", handmade.module(kernel, tag="brief"))
        function = driver.out("cuModuleGetFunction", module, b"who")
        found = []
        for _ in range(launches):
            driver.launch(function, grid, 32, [ctypes.c_uint64(out), ctypes.c_uint64(spin)], stream=stream)
            driver.cuCtxSynchronize()
            found.append(ctypes.c_uint64.from_address(out).value)
        return found

    return run


def test_a_small_kernel_runs_on_the_calling_thread_once_its_cost_is_known(threads):
    found = threads(ALONE)
    assert found[0] != here()  # nothing was known of it
    assert here() in found[1:]


def test_a_kernel_that_may_wait_never_does(threads):
    assert here() not in threads(replace(ALONE, alone=0))


def test_a_kernel_of_unknown_stack_never_does(threads):
    assert here() not in threads(replace(ALONE, stack=0))


def test_a_kernel_that_takes_long_never_does(threads):
    assert here() not in threads(ALONE, launches=5, spin=20_000_000)


def test_a_kernel_that_needs_more_stack_than_there_is_never_does(driver, context, threads):
    found: list[int] = []
    numbers: list[int] = []

    def inside():
        driver.cuCtxSetCurrent(context)
        numbers.append(here())
        found.extend(threads(replace(ALONE, stack=3 << 20)))

    size = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
    assert found and numbers[0] not in found


def test_work_given_before_is_done_before(driver, context, handmade):
    """A small launch behind a host function that takes its time comes after it."""
    module = driver.out("cuModuleLoadData", handmade.module(ALONE, tag="order"))
    function = driver.out("cuModuleGetFunction", module, b"who")
    out = driver.out("cuMemAlloc_v2", 64)
    argument = [ctypes.c_uint64(out), ctypes.c_uint64(0)]
    for _ in range(4):
        driver.launch(function, 1, 32, argument)
        driver.cuCtxSynchronize()
    seen = []
    gate = threading.Event()

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def host(_):
        gate.wait(10)
        seen.append(ctypes.c_uint64.from_address(out).value)

    ctypes.c_uint64.from_address(out).value = 0
    driver.cuLaunchHostFunc(0, host, None)
    driver.launch(function, 1, 32, argument)
    assert ctypes.c_uint64.from_address(out).value == 0  # the launch returned, its work has not begun
    gate.set()
    driver.cuCtxSynchronize()
    assert seen == [0]
    assert ctypes.c_uint64.from_address(out).value != 0
