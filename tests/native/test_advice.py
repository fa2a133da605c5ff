"""Advice on managed memory: what was set is what is read, for whole ranges and parts of them (cuMemRangeGetAttribute)."""

import ctypes

import pytest

pytestmark = pytest.mark.native

INVALID_VALUE, INVALID_DEVICE = 1, 101
CPU, NO_DEVICE = -1, -2
READ_MOSTLY, PREFERRED, ACCESSED_BY, LAST_PREFETCH, PREFERRED_TYPE, PREFERRED_ID, PREFETCH_TYPE, PREFETCH_ID = range(
    1, 9
)
SET_READ_MOSTLY, UNSET_READ_MOSTLY, SET_PREFERRED, UNSET_PREFERRED, SET_ACCESSED_BY, UNSET_ACCESSED_BY = range(1, 7)
NOWHERE, DEVICE, HOST, HOST_NUMA = 0, 1, 2, 3
PAGE = 4096


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


@pytest.fixture
def memory(driver, context):
    address = driver.out("cuMemAllocManaged", 4 * PAGE, 1)
    yield address
    driver.cuMemFree_v2(address)


def query(driver, attribute, address, size=4 * PAGE, count=1):
    out = (ctypes.c_int * count)(*[77] * count)
    driver.cuMemRangeGetAttribute(out, 4 * count, attribute, address, size)
    return out[0] if count == 1 else list(out)


def test_nothing_is_advised_at_first(driver, memory):
    assert query(driver, READ_MOSTLY, memory) == 0
    assert query(driver, PREFERRED, memory) == NO_DEVICE
    assert query(driver, ACCESSED_BY, memory, count=3) == [NO_DEVICE] * 3
    assert query(driver, LAST_PREFETCH, memory) == NO_DEVICE
    assert query(driver, PREFERRED_TYPE, memory) == NOWHERE
    assert query(driver, PREFETCH_TYPE, memory) == NOWHERE


def test_a_range_has_what_all_its_pages_have(driver, memory):
    driver.cuMemAdvise(memory + PAGE, PAGE, SET_READ_MOSTLY, 0)
    assert query(driver, READ_MOSTLY, memory) == 0
    assert query(driver, READ_MOSTLY, memory + PAGE, PAGE) == 1
    assert query(driver, READ_MOSTLY, memory, PAGE) == 0
    assert query(driver, READ_MOSTLY, memory + 2 * PAGE, PAGE) == 0
    for page in (0, 2, 3):
        driver.cuMemAdvise(memory + page * PAGE, PAGE, SET_READ_MOSTLY, 0)
    assert query(driver, READ_MOSTLY, memory) == 1
    driver.cuMemAdvise(memory, 4 * PAGE, UNSET_READ_MOSTLY, 0)
    assert query(driver, READ_MOSTLY, memory + PAGE, PAGE) == 0


def test_advice_is_rounded_to_pages(driver, memory):
    driver.cuMemAdvise(memory + PAGE + 100, 1, SET_READ_MOSTLY, 0)
    assert query(driver, READ_MOSTLY, memory + PAGE, PAGE) == 1
    assert query(driver, READ_MOSTLY, memory + PAGE + 4000, 8) == 1
    assert query(driver, READ_MOSTLY, memory + PAGE - 1, 2) == 0


@pytest.mark.parametrize(("device", "kind"), [(0, DEVICE), (CPU, HOST)])
def test_preferred_locations_are_kept(driver, memory, device, kind):
    driver.cuMemAdvise(memory, 4 * PAGE, SET_PREFERRED, device)
    assert query(driver, PREFERRED, memory) == device
    assert query(driver, PREFERRED_TYPE, memory) == kind
    if kind == DEVICE:
        assert query(driver, PREFERRED_ID, memory) == 0
    driver.cuMemAdvise(memory, PAGE, SET_PREFERRED, CPU if device == 0 else 0)
    assert query(driver, PREFERRED, memory) == NO_DEVICE
    assert query(driver, PREFERRED_TYPE, memory) == NOWHERE
    driver.cuMemAdvise(memory, 4 * PAGE, UNSET_PREFERRED, 0)
    assert query(driver, PREFERRED, memory + PAGE, PAGE) == NO_DEVICE


def test_locations_of_version_two_reach_numa_nodes(driver, memory):
    driver.cuMemAdvise_v2(memory, 4 * PAGE, SET_PREFERRED, Location(HOST_NUMA, 0))
    assert query(driver, PREFERRED_TYPE, memory) == HOST_NUMA
    assert query(driver, PREFERRED_ID, memory) == 0
    assert query(driver, PREFERRED, memory) == NO_DEVICE
    assert driver.code("cuMemAdvise_v2", memory, PAGE, SET_PREFERRED, Location(DEVICE, 1)) == INVALID_DEVICE
    assert driver.code("cuMemAdvise_v2", memory, PAGE, SET_ACCESSED_BY, Location(HOST_NUMA, 0)) == INVALID_VALUE


def test_accessors_are_listed_and_the_rest_filled(driver, memory):
    driver.cuMemAdvise(memory, 4 * PAGE, SET_ACCESSED_BY, 0)
    assert query(driver, ACCESSED_BY, memory, count=3) == [0, NO_DEVICE, NO_DEVICE]
    driver.cuMemAdvise(memory, PAGE, UNSET_ACCESSED_BY, 0)
    assert query(driver, ACCESSED_BY, memory) == NO_DEVICE
    assert query(driver, ACCESSED_BY, memory + PAGE, 3 * PAGE) == 0


def test_the_last_prefetch_is_what_was_asked_for_last(driver, memory):
    driver.cuMemPrefetchAsync(memory, 4 * PAGE, 0, 0)
    assert query(driver, LAST_PREFETCH, memory) == 0
    driver.cuMemPrefetchAsync_v2(memory, PAGE, Location(HOST, 0), 0, 0)
    assert query(driver, LAST_PREFETCH, memory) == NO_DEVICE
    assert query(driver, LAST_PREFETCH, memory, PAGE) == CPU
    assert query(driver, PREFETCH_TYPE, memory, PAGE) == HOST
    assert query(driver, PREFETCH_TYPE, memory + PAGE, PAGE) == DEVICE
    addresses, sizes = (ctypes.c_uint64 * 2)(memory, memory + PAGE), (ctypes.c_size_t * 2)(PAGE, 3 * PAGE)
    places, indices = (Location * 1)(Location(HOST, 0)), (ctypes.c_size_t * 1)(0)
    driver.cuMemPrefetchBatchAsync(addresses, sizes, 2, places, indices, 1, 0, 2)
    assert query(driver, LAST_PREFETCH, memory) == CPU


def test_several_attributes_are_read_at_once(driver, memory):
    driver.cuMemAdvise(memory, 4 * PAGE, SET_READ_MOSTLY, 0)
    driver.cuMemAdvise(memory, 4 * PAGE, SET_PREFERRED, CPU)
    values = [ctypes.c_int(77), ctypes.c_int(77)]
    out = (ctypes.c_void_p * 2)(*map(ctypes.addressof, values))
    kinds, sizes = (ctypes.c_int * 2)(READ_MOSTLY, PREFERRED), (ctypes.c_size_t * 2)(4, 4)
    driver.cuMemRangeGetAttributes(out, sizes, kinds, 2, memory, 4 * PAGE)
    assert [v.value for v in values] == [1, CPU]


def test_queries_that_make_no_sense_are_refused(driver, memory):
    out, device = ctypes.byref((ctypes.c_int * 4)()), driver.out("cuMemAlloc_v2", PAGE)

    def code(*arguments):
        return driver.code("cuMemRangeGetAttribute", *arguments)

    assert code(out, 8, READ_MOSTLY, memory, PAGE) == INVALID_VALUE
    assert code(out, 6, ACCESSED_BY, memory, PAGE) == INVALID_VALUE
    assert code(out, 0, ACCESSED_BY, memory, PAGE) == INVALID_VALUE
    assert code(out, 4, 9, memory, PAGE) == INVALID_VALUE
    assert code(None, 4, READ_MOSTLY, memory, PAGE) == INVALID_VALUE
    assert code(out, 4, READ_MOSTLY, memory, 5 * PAGE) == INVALID_VALUE
    assert code(out, 4, READ_MOSTLY, memory, 0) == INVALID_VALUE
    assert code(out, 4, READ_MOSTLY, device, PAGE) == INVALID_VALUE  # not managed
    driver.cuMemFree_v2(device)


def test_advice_ends_with_the_memory(driver, context):
    seen = set()
    for _ in range(20):
        address = driver.out("cuMemAllocManaged", PAGE, 1)
        seen.add(query(driver, READ_MOSTLY, address, PAGE))
        driver.cuMemAdvise(address, PAGE, SET_READ_MOSTLY, 0)
        driver.cuMemFree_v2(address)
    assert seen == {0}
