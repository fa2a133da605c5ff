"""Kernels that use the processor's tiles (AMX): asked for once, and given back where a kernel ends in the middle."""

import ctypes
import os

import pytest

from anywarp.devices.cpu.tiles import ask_for_tiles
from native.by_hand import KernelByHand

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(
        not ask_for_tiles(), reason="the processor has no tiles (AMX), or Linux does not let us use them"
    ),
]

ILLEGAL_ADDRESS, LAUNCH_FAILED, TILE_STATE = 700, 719, 3 << 17  # XTILECFG and XTILEDATA among the states of XSAVE

USES_TILES = KernelByHand(
    "uses_tiles",
    """
struct alignas(64) Configuration { uint8_t palette = 1, start = 0, reserved[14] = {}; uint16_t bytes[16] = {64}; uint8_t rows[16] = {16}; };
extern "C" void aw_texture(AwWorker*, uint32_t, uint32_t, const uint8_t*, const uint64_t*, const uint32_t*, uint32_t*);
KERNEL(uses_tiles) {
  auto* out = param<uint64_t*>(launch, 0);
  if (uint32_t how = param<uint32_t>(launch, 8)) {  // fault with a tile in use
    Configuration c;
    asm volatile("ldtilecfg %0; tilezero %%tmm0" : : "m"(c));
    if (how == 1) *(volatile int*)16 = 1;
    uint8_t mask[4] = {1};
    uint64_t objects[32] = {};
    uint32_t words[256] = {};
    aw_texture(worker, 0, 32, mask, objects, words, words);
  }
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  *out = uint64_t{high} << 32 | low;
  return AW_OK;
}
""",
    params=((0, 8), (8, 4)),
    alone=1,
    stack=4096,
    tiles=True,
)


def launch(driver, handmade, fault):
    context = driver.out("cuCtxCreate_v2", 0, 0)
    module = driver.out("cuModuleLoadData", handmade.module(USES_TILES))
    function = driver.out("cuModuleGetFunction", module, b"uses_tiles")
    place = driver.out("cuMemAlloc_v2", 8)
    for how in (0, 0, 0, 0, fault):  # known to be short, the last runs on this thread
        driver.launch(function, 1, 1, [ctypes.c_uint64(place), ctypes.c_uint32(how)])
        code = driver.code("cuCtxSynchronize")
    state = 0 if code else ctypes.c_uint64.from_address(place).value
    driver.code("cuCtxDestroy_v2", context)
    return code, state


@pytest.mark.parametrize(
    ("how", "code", "text"),
    [(1, ILLEGAL_ADDRESS, "illegal memory access"), (2, LAUNCH_FAILED, "texture")],
    ids=["a wild store", "a texture that is none"],
)
def test_a_fault_leaves_no_tile_in_use(driver, handmade, capfd, how, code, text):
    assert launch(driver, handmade, how) == (code, 0)
    code, state = launch(driver, handmade, 0)
    assert code == 0 and state and not state & TILE_STATE
    assert text in capfd.readouterr().err


def test_who_asks_for_less_gets_code_without_tiles(monkeypatch):
    monkeypatch.setitem(os.environ, "ANYWARP_PRODUCT", "avx512")
    assert not ask_for_tiles.__wrapped__()
