"""Graph nodes of every kind beside kernels and copies: memory, batches of memory operations, semaphores, conditions; edge data."""

import ctypes
import os

import pytest

from native.by_hand import KernelByHand
from native.test_graphs import Adds, SetParams, add_set, deps, function, launched, read, words  # noqa: F401  (fixtures)
from native.test_launch import load
from native.test_memory import Copy3D

pytestmark = pytest.mark.native

INVALID_VALUE, LOSSY_QUERY, NOT_SUPPORTED = 1, 402, 801
u32, u64, ptr = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
IF, WHILE, SWITCH = 0, 1, 2


class PoolProps(ctypes.Structure):
    _fields_ = [("type", u32), ("handles", u32), ("place", u32), ("device", u32), ("rest", u64 * 9)]


class AllocParams(ctypes.Structure):
    _fields_ = [
        ("pool", PoolProps),
        ("access", ptr),
        ("count", ctypes.c_size_t),
        ("bytes", ctypes.c_size_t),
        ("address", u64),
    ]


class Operation(ctypes.Structure):
    _fields_ = [
        ("operation", u32),
        ("pad", u32),
        ("address", u64),
        ("value", u64),
        ("flags", u32),
        ("pad2", u32),
        ("alias", u64 * 2),
    ]


class Batch(ctypes.Structure):
    _fields_ = [("context", ptr), ("count", u32), ("operations", ptr), ("flags", u32)]


class Condition(ctypes.Structure):
    _fields_ = [("handle", u64), ("type", u32), ("size", u32), ("bodies", ctypes.POINTER(ptr)), ("context", ptr)]


class NodeParams(ctypes.Structure):
    class Of(ctypes.Union):
        _fields_ = [
            ("condition", Condition),
            ("alloc", AllocParams),
            ("batch", Batch),
            ("address", u64),
            ("all", ctypes.c_char * 232),
        ]

    _fields_ = [("type", u32), ("reserved", u32 * 3), ("of", Of), ("reserved2", u64)]


class EdgeData(ctypes.Structure):
    _fields_ = [
        ("from_port", ctypes.c_ubyte),
        ("to_port", ctypes.c_ubyte),
        ("type", ctypes.c_ubyte),
        ("rest", ctypes.c_ubyte * 5),
    ]


SETS_CONDITION = KernelByHand(
    "counts_down",
    """
KERNEL(counts_down) {
  auto counter = param<uint32_t*>(launch, 0);
  auto handle = param<uint64_t>(launch, 8);
  FOR_BLOCKS { *(volatile uint32_t*)handle = --*counter; }
  return AW_OK;
}
""",
    params=((0, 8), (8, 8)),
)


def _attribute(driver, number):
    value = u64()
    driver.cuDeviceGetGraphMemAttribute(0, number, ctypes.byref(value))
    return value.value


def add_alloc(driver, graph, size, *after):
    params = AllocParams(PoolProps(1, 0, 1, 0), None, 0, size, 0)
    node = driver.out("cuGraphAddMemAllocNode", graph, *deps(*after), ctypes.byref(params))
    return node, params.address


def last(driver, name, handle, kind=ptr):
    """Call a function whose last parameter, behind a handle, is an output; return it."""
    value = kind()
    getattr(driver, name)(handle, ctypes.byref(value))
    return value.value


def test_memory_of_a_graph_is_allocated_and_freed_at_each_launch(driver, function, words):  # noqa: F811
    graph = driver.out("cuGraphCreate", 0)
    used = _attribute(driver, 0)
    alloc, address = add_alloc(driver, graph, 10_000)
    put = add_set(driver, graph, address, 41, alloc)
    adds = Adds(function, address)
    add = driver.out("cuGraphAddKernelNode_v2", graph, *deps(put), ctypes.byref(adds.params))
    copy = kernels_copy(driver, graph, words, address, add)
    free = driver.out("cuGraphAddMemFreeNode", graph, *deps(copy), address)
    exec_ = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    for _ in range(3):
        driver.cuMemsetD32_v2(words, 0, 1)
        driver.cuGraphLaunch(exec_, 0)
        driver.cuStreamSynchronize(0)
        assert read(driver, words) == [42]
        assert _attribute(driver, 0) == used
    assert _attribute(driver, 2) >= 10_000  # its pages wait for the next launch
    assert _attribute(driver, 1) >= used + 10_000
    got = AllocParams()
    driver.cuGraphMemAllocNodeGetParams(alloc, ctypes.byref(got))
    assert (got.bytes, got.address) == (10_000, address)
    assert last(driver, "cuGraphMemFreeNodeGetParams", free, u64) == address
    assert driver.code("cuGraphClone", ctypes.byref(ptr()), graph) == NOT_SUPPORTED
    assert driver.code("cuGraphDestroyNode", free) == NOT_SUPPORTED
    driver.cuGraphExecDestroy(exec_)
    driver.cuDeviceGraphMemTrim(0)
    assert _attribute(driver, 2) == used
    driver.cuDeviceSetGraphMemAttribute(0, 1, ctypes.byref(u64(0)))
    assert _attribute(driver, 1) == _attribute(driver, 0)
    assert driver.code("cuDeviceSetGraphMemAttribute", 0, 0, ctypes.byref(u64(0))) == INVALID_VALUE
    driver.cuGraphDestroy(graph)


def kernels_copy(driver, graph, to, source, *after):
    box = Copy3D(srcType=2, srcDevice=source, dstType=2, dstDevice=to, width=4, height=1, depth=1)
    return driver.out("cuGraphAddMemcpyNode", graph, *deps(*after), ctypes.byref(box), None)


def test_memory_that_a_graph_leaves_behind_belongs_to_the_program(driver, context):
    graph = driver.out("cuGraphCreate", 0)
    alloc, address = add_alloc(driver, graph, 4096)
    add_set(driver, graph, address, 7, alloc)
    exec_ = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    driver.cuGraphLaunch(exec_, 0)
    assert read(driver, address) == [7]
    assert driver.code("cuGraphLaunch", exec_, 0) == INVALID_VALUE  # not freed yet
    driver.cuMemFreeAsync(address, 0)
    driver.cuGraphLaunch(exec_, 0)
    driver.cuStreamSynchronize(0)
    driver.cuMemFree_v2(address)
    assert driver.code("cuMemFree_v2", address) == INVALID_VALUE
    again = driver.out("cuGraphInstantiateWithFlags", graph, 1)  # AUTO_FREE_ON_LAUNCH
    driver.cuGraphLaunch(again, 0)
    driver.cuGraphLaunch(again, 0)
    assert read(driver, address) == [7]
    driver.cuMemFree_v2(address)


def test_allocations_in_a_captured_stream_become_nodes(driver, context, words):  # noqa: F811
    stream = driver.out("cuStreamCreate", 1)
    driver.cuStreamBeginCapture_v2(stream, 0)
    address = driver.out("cuMemAllocAsync", 256, stream)
    driver.cuMemsetD32Async(address, 99, 64, stream)
    driver.cuMemcpyDtoDAsync_v2(words, address + 252, 4, stream)
    driver.cuMemFreeAsync(address, stream)
    graph = last(driver, "cuStreamEndCapture", stream)
    count = ctypes.c_size_t(8)
    nodes = (ptr * 8)()
    driver.cuGraphGetNodes(graph, nodes, ctypes.byref(count))
    assert [last(driver, "cuGraphNodeGetType", n, u32) for n in nodes[: count.value]] == [10, 2, 1, 11]
    launched(driver, graph)
    assert read(driver, words) == [99]


def test_batches_of_memory_operations(driver, context, words):  # noqa: F811
    graph = driver.out("cuGraphCreate", 0)
    operations = (Operation * 3)(
        Operation(2, 0, words, 0xFFFFFFFF00000005), Operation(5, 0, words + 8, 2**40 + 1), Operation(1, 0, words, 5, 1)
    )
    batch = Batch(None, 3, ctypes.addressof(operations), 0)
    node = driver.out("cuGraphAddBatchMemOpNode", graph, None, 0, ctypes.byref(batch))
    exec_ = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    driver.cuGraphLaunch(exec_, 0)
    driver.cuStreamSynchronize(0)
    assert read(driver, words, 4) == [5, 0, 1, 256]
    got = Batch()
    driver.cuGraphBatchMemOpNodeGetParams(node, ctypes.byref(got))
    assert got.count == 3
    assert ctypes.string_at(got.operations, 144) == bytes(operations)
    operations[0].value = 6
    one = Batch(None, 1, ctypes.addressof(operations), 0)
    driver.cuGraphExecBatchMemOpNodeSetParams(exec_, node, ctypes.byref(one))
    driver.cuGraphLaunch(exec_, 0)
    driver.cuStreamSynchronize(0)
    assert read(driver, words) == [6]
    driver.cuGraphBatchMemOpNodeSetParams(node, ctypes.byref(one))
    driver.cuMemsetD32_v2(words, 0, 4)
    launched(driver, graph)
    assert read(driver, words, 4) == [6, 0, 0, 0]


def test_a_value_written_in_a_captured_stream(driver, context, words):  # noqa: F811
    stream = driver.out("cuStreamCreate", 1)
    driver.cuStreamBeginCapture_v2(stream, 0)
    driver.cuStreamWriteValue32_v2(stream, words, 17, 0)
    graph = last(driver, "cuStreamEndCapture", stream)
    assert read(driver, words) == [0]
    launched(driver, graph)
    assert read(driver, words) == [17]


def add_condition(driver, graph, handle, kind, size=1, after=()):
    params = NodeParams(13)
    params.of.condition = Condition(handle, kind, size, None, None)
    node = driver.out("cuGraphAddNode", graph, *deps(*after), ctypes.byref(params))
    return node, [params.of.condition.bodies[i] for i in range(size)]


def condition(driver, graph, initial, assign=1):
    return driver.out("cuGraphConditionalHandleCreate", graph, None, initial, assign, kind=u64)


@pytest.mark.parametrize("initial", [0, 1, 5])
def test_an_if_runs_its_body_or_the_other(driver, context, words, initial):  # noqa: F811
    graph = driver.out("cuGraphCreate", 0)
    _, (then, otherwise) = add_condition(driver, graph, condition(driver, graph, initial), IF, 2)
    add_set(driver, then, words, 1)
    add_set(driver, otherwise, words, 2)
    launched(driver, graph)
    assert read(driver, words) == [1 if initial else 2]


@pytest.mark.parametrize("initial", [0, 2, 3, 9])
def test_a_switch_runs_the_body_of_that_number_if_there_is_one(driver, context, words, initial):  # noqa: F811
    graph = driver.out("cuGraphCreate", 0)
    _, bodies = add_condition(driver, graph, condition(driver, graph, initial), SWITCH, 4)
    for i, body in enumerate(bodies):
        add_set(driver, body, words + 4 * i, 100 + i)
    launched(driver, graph)
    assert read(driver, words, 4) == [100 + i if i == initial else 0 for i in range(4)]


def test_a_while_runs_until_a_kernel_ends_it(driver, context, handmade, words, function):  # noqa: F811
    graph = driver.out("cuGraphCreate", 0)
    handle = condition(driver, graph, 1)
    put = add_set(driver, graph, words, 6)
    node, (body,) = add_condition(driver, graph, handle, WHILE, after=(put,))
    counts = load(driver, handmade, SETS_CONDITION)
    step = Adds(counts, words)
    step.values = [u64(words), u64(handle)]
    step.pointers = (ptr * 2)(*map(ctypes.addressof, step.values))
    step.params.params = ctypes.addressof(step.pointers)
    first = driver.out("cuGraphAddKernelNode_v2", body, None, 0, ctypes.byref(step.params))
    adds = Adds(function, words + 4)
    driver.out("cuGraphAddKernelNode_v2", body, *deps(first), ctypes.byref(adds.params))
    exec_ = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    for _ in range(2):  # the handle gets its first value at each launch
        driver.cuMemsetD32_v2(words, 0, 2)
        driver.cuGraphLaunch(exec_, 0)
        driver.cuStreamSynchronize(0)
        assert read(driver, words, 2) == [0, 6]
    got = NodeParams()
    driver.cuGraphNodeGetParams(node, ctypes.byref(got))
    assert (got.type, got.of.condition.type, got.of.condition.handle, got.of.condition.bodies[0]) == (
        13,
        WHILE,
        handle,
        body,
    )
    clone = driver.out("cuGraphClone", graph)
    driver.cuMemsetD32_v2(words, 0, 2)
    launched(driver, clone)
    assert read(driver, words, 2) == [0, 6]


def test_bodies_are_captured_into_and_refuse_what_is_no_handle(driver, context, words):  # noqa: F811
    graph = driver.out("cuGraphCreate", 0)
    params = NodeParams(13)
    params.of.condition = Condition(12345, IF, 1, None, None)
    assert driver.code("cuGraphAddNode", ctypes.byref(ptr()), graph, None, 0, ctypes.byref(params)) == INVALID_VALUE
    _, (body,) = add_condition(driver, graph, condition(driver, graph, 1), IF)
    stream = driver.out("cuStreamCreate", 1)
    driver.cuStreamBeginCaptureToGraph(stream, body, None, None, 0, 0)
    driver.cuMemsetD32Async(words, 23, 1, stream)
    assert last(driver, "cuStreamEndCapture", stream) == body
    assert driver.code("cuGraphDestroy", body) == INVALID_VALUE  # it is the node's
    launched(driver, graph)
    assert read(driver, words) == [23]


def semaphore(driver, kind, file):
    description = (u32 * 24)(kind, 0, file)
    return driver.out("cuImportExternalSemaphore", description)


def params_of(*values):
    words_ = (u64 * (18 * len(values)))()
    for i, value in enumerate(values):
        words_[18 * i] = value
    return words_


def handles(*all_):
    return (ptr * len(all_))(*all_)


def test_a_stream_waits_for_a_time_line(driver, context, words):  # noqa: F811
    file = os.memfd_create("timeline")
    os.ftruncate(file, 4096)
    other = os.dup(file)
    line = semaphore(driver, 9, file)
    stream = driver.out("cuStreamCreate", 1)
    driver.cuWaitExternalSemaphoresAsync(handles(line), params_of(5), 1, stream)
    driver.cuMemsetD32Async(words, 1, 1, stream)
    driver.cuSignalExternalSemaphoresAsync(handles(line), params_of(9), 1, stream)
    os.pwrite(other, (4).to_bytes(8, "little"), 0)
    assert driver.code("cuStreamQuery", stream) == 600
    os.pwrite(other, (5).to_bytes(8, "little"), 0)
    driver.cuStreamSynchronize(stream)
    assert read(driver, words) == [1]
    assert int.from_bytes(os.pread(other, 8, 0), "little") == 9
    driver.cuDestroyExternalSemaphore(line)
    assert driver.code("cuDestroyExternalSemaphore", line) == 400


def test_semaphore_nodes_signal_and_wait_at_each_launch(driver, context):
    file = os.eventfd(0, os.EFD_SEMAPHORE | os.EFD_NONBLOCK)
    other = os.dup(file)
    binary = semaphore(driver, 1, file)

    class SemaphoreParams(ctypes.Structure):
        _fields_ = [("semaphores", ptr), ("values", ptr), ("count", u32)]

    held, values = handles(binary), params_of(1)
    params = SemaphoreParams(ctypes.addressof(held), ctypes.addressof(values), 1)
    graph = driver.out("cuGraphCreate", 0)
    signal = driver.out("cuGraphAddExternalSemaphoresSignalNode", graph, None, 0, ctypes.byref(params))
    launched(driver, graph)
    launched(driver, graph)
    wait = driver.out("cuGraphAddExternalSemaphoresWaitNode", graph, *deps(signal), ctypes.byref(params))
    launched(driver, graph)  # raises and lowers
    assert [os.eventfd_read(other) for _ in range(2)] == [1, 1]
    with pytest.raises(BlockingIOError):
        os.eventfd_read(other)
    got = SemaphoreParams()
    driver.cuGraphExternalSemaphoresWaitNodeGetParams(wait, ctypes.byref(got))
    assert ctypes.cast(got.semaphores, ctypes.POINTER(ptr))[0] == binary
    driver.cuGraphExternalSemaphoresSignalNodeGetParams(signal, ctypes.byref(got))
    assert got.count == 1
    driver.cuGraphExternalSemaphoresSignalNodeSetParams(signal, ctypes.byref(params))
    driver.cuGraphExternalSemaphoresWaitNodeSetParams(wait, ctypes.byref(params))
    exec_ = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    driver.cuGraphExecExternalSemaphoresSignalNodeSetParams(exec_, signal, ctypes.byref(params))
    driver.cuGraphExecExternalSemaphoresWaitNodeSetParams(exec_, wait, ctypes.byref(params))
    driver.cuGraphLaunch(exec_, 0)
    driver.cuStreamSynchronize(0)
    driver.cuDestroyExternalSemaphore(binary)
    os.close(other)


def test_edges_keep_their_data_and_tell_it_to_those_who_ask(driver, context, words):  # noqa: F811
    graph = driver.out("cuGraphCreate", 0)
    first, second = add_set(driver, graph, words, 1), add_set(driver, graph, words + 4, 2)
    a, b, data = ptr(first), ptr(second), EdgeData(1, 0, 1)
    driver.cuGraphAddDependencies_v2(graph, ctypes.byref(a), ctypes.byref(b), ctypes.byref(data), 1)
    count = ctypes.c_size_t(1)
    from_, to, got = ptr(), ptr(), EdgeData()
    assert (
        driver.code("cuGraphGetEdges", graph, ctypes.byref(from_), ctypes.byref(to), ctypes.byref(count)) == LOSSY_QUERY
    )
    driver.cuGraphGetEdges_v2(graph, ctypes.byref(from_), ctypes.byref(to), ctypes.byref(got), ctypes.byref(count))
    assert (from_.value, to.value, bytes(got)) == (first, second, bytes(data))
    got = EdgeData()
    driver.cuGraphNodeGetDependentNodes_v2(first, ctypes.byref(to), ctypes.byref(got), ctypes.byref(count))
    assert bytes(got) == bytes(data)
    plain = EdgeData()
    assert (
        driver.code("cuGraphRemoveDependencies_v2", graph, ctypes.byref(a), ctypes.byref(b), ctypes.byref(plain), 1)
        == INVALID_VALUE
    )
    driver.cuGraphRemoveDependencies_v2(graph, ctypes.byref(a), ctypes.byref(b), ctypes.byref(data), 1)
    driver.cuGraphGetEdges(graph, None, None, ctypes.byref(count))
    assert count.value == 0


def test_attributes_of_kernel_nodes(driver, function, words):  # noqa: F811
    graph = driver.out("cuGraphCreate", 0)
    adds = Adds(function, words)
    a, b = (driver.out("cuGraphAddKernelNode_v2", graph, None, 0, ctypes.byref(adds.params)) for _ in range(2))
    value = (u32 * 16)(7)
    driver.cuGraphKernelNodeSetAttribute(a, 8, value)
    driver.cuGraphKernelNodeSetAttribute(a, 2, (u32 * 16)(1))
    driver.cuGraphKernelNodeCopyAttributes(b, a)
    for node in (a, b):
        got = (u32 * 16)()
        driver.cuGraphKernelNodeGetAttribute(node, 8, got)
        assert got[0] == 7
        driver.cuGraphKernelNodeGetAttribute(node, 2, got)
        assert got[0] == 1
    assert driver.code("cuGraphKernelNodeSetAttribute", a, 4, (u32 * 16)(2, 1, 1)) == NOT_SUPPORTED
    assert driver.code("cuGraphKernelNodeGetAttribute", a, 6, value) == INVALID_VALUE
    launched(driver, graph)
    assert read(driver, words) == [2]


def test_numbers_of_graphs_and_nodes(driver, context, words):  # noqa: F811
    one, two = driver.out("cuGraphCreate", 0), driver.out("cuGraphCreate", 0)
    nodes = [add_set(driver, graph, words, 1) for graph in (one, one, two)]
    exec_ = driver.out("cuGraphInstantiateWithFlags", one, 0)
    assert (
        len(
            {
                last(driver, "cuGraphGetId", one, u32),
                last(driver, "cuGraphGetId", two, u32),
                last(driver, "cuGraphExecGetId", exec_, u32),
            }
        )
        == 3
    )
    assert [last(driver, "cuGraphNodeGetLocalId", n, u32) for n in nodes] == [0, 1, 0]
    assert len({last(driver, "cuGraphNodeGetToolsId", n, u64) for n in nodes}) == 3
    assert [last(driver, "cuGraphNodeGetContainingGraph", n, ptr) for n in nodes] == [one, one, two]


def test_the_same_launch_again_sees_what_was_changed_between(driver, context, words):  # noqa: F811
    graph = driver.out("cuGraphCreate", 0)
    node = add_set(driver, graph, words, 5)
    exec_ = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    results = []
    for value in (5, 6, None, 8):
        if value is None:
            driver.cuGraphNodeSetEnabled(exec_, node, 0)
        elif value != 5:
            driver.cuGraphNodeSetEnabled(exec_, node, 1)
            driver.cuGraphExecMemsetNodeSetParams(exec_, node, ctypes.byref(SetParams(words, 0, value, 4, 1, 1)), None)
        driver.cuMemsetD32_v2(words, 0, 1)
        driver.cuGraphLaunch(exec_, 0)
        driver.cuStreamSynchronize(0)
        results += read(driver, words)
    assert results == [5, 6, 0, 8]


def test_a_graph_allocates_managed_memory_and_memory_of_no_bytes(driver, context):
    """Managed memory in graphs: CUmemPoolProps, CU_MEM_ALLOCATION_TYPE_MANAGED; no bytes: cuda.core counts on an address."""
    graph = driver.out("cuGraphCreate", 0)
    managed = AllocParams(PoolProps(2, 0, 0, 0), None, 0, 8192, 0)
    node = driver.out("cuGraphAddMemAllocNode", graph, *deps(), ctypes.byref(managed))
    nothing, address = add_alloc(driver, graph, 0)
    assert address and address != managed.address
    put = add_set(driver, graph, managed.address, 77, node)
    free = driver.out("cuGraphAddMemFreeNode", graph, *deps(nothing), address)
    exec_ = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    driver.cuGraphLaunch(exec_, 0)
    driver.cuStreamSynchronize(0)
    assert put and free
    assert ctypes.c_uint32.from_address(managed.address).value == 77  # the host reads managed memory as it is
    is_managed = ctypes.c_uint()
    driver.cuPointerGetAttribute(ctypes.byref(is_managed), 8, u64(managed.address))  # CU_POINTER_ATTRIBUTE_IS_MANAGED
    assert is_managed.value == 1
    driver.cuMemFree_v2(u64(managed.address))
    driver.cuGraphExecDestroy(exec_)
    driver.cuGraphDestroy(graph)
    for wrong in (PoolProps(3, 0, 1, 0), PoolProps(1, 0, 0, 0), PoolProps(2, 1, 0, 0)):
        params = AllocParams(wrong, None, 0, 64, 0)
        graph = driver.out("cuGraphCreate", 0)
        assert (
            driver.code("cuGraphAddMemAllocNode", ctypes.byref(ptr()), graph, *deps(), ctypes.byref(params))
            == INVALID_VALUE
        )
        driver.cuGraphDestroy(graph)


def test_memory_of_no_bytes_is_allocated_in_a_streams_order(driver, context):
    address = driver.out("cuMemAllocAsync", 0, 0)
    driver.cuMemFreeAsync(address, 0)
    driver.cuStreamSynchronize(0)
