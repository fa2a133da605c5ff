"""Graphs: order, parameters kept and changed, capture, update, clones, user objects."""

import ctypes

import numpy as np
import pytest

from native import kernels
from native.test_launch import load
from native.test_memory import Copy3D

pytestmark = pytest.mark.native

INVALID_VALUE, ILLEGAL_STATE, UNMATCHED, UNJOINED, CAPTURED_EVENT, UPDATE_FAILURE = 1, 401, 903, 904, 907, 910
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class KernelParams(ctypes.Structure):
    _fields_ = [("function", ctypes.c_void_p), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("params", ctypes.c_void_p), ("extra", ctypes.c_void_p), ("kernel", ctypes.c_void_p), ("context", ctypes.c_void_p)]  # fmt: skip


class SetParams(ctypes.Structure):
    _fields_ = [("to", ctypes.c_uint64), ("pitch", ctypes.c_size_t), ("value", ctypes.c_uint), ("element", ctypes.c_uint),
                ("width", ctypes.c_size_t), ("height", ctypes.c_size_t)]  # fmt: skip


class HostParams(ctypes.Structure):
    _fields_ = [("function", ctypes.c_void_p), ("data", ctypes.c_void_p)]


class Adds:
    """A kernel node that adds 1 to `count` words at `address`."""

    def __init__(self, function, address, count=1):
        self.values = [ctypes.c_uint64(address), ctypes.c_uint32(count), ctypes.c_uint32(0)]
        self.pointers = (ctypes.c_void_p * 3)(*map(ctypes.addressof, self.values))
        self.params = KernelParams(function, (1, 1, 1), (1, 1, 1), 0, ctypes.addressof(self.pointers), None)


@pytest.fixture
def function(driver, context, handmade):
    return load(driver, handmade, kernels.SLEEPS)


@pytest.fixture
def words(driver, context):
    address = driver.out("cuMemAlloc_v2", 64)
    driver.cuMemsetD32_v2(address, 0, 16)
    return address


def read(driver, address, count=1):
    out = np.zeros(count, np.uint32)
    driver.cuMemcpyDtoH_v2(out.ctypes.data, address, out.nbytes)
    return out.tolist()


def deps(*nodes):
    return ((ctypes.c_void_p * len(nodes))(*nodes), len(nodes)) if nodes else (None, 0)


def add_set(driver, graph, address, value, *after):
    params = SetParams(address, 0, value, 4, 1, 1)
    return driver.out("cuGraphAddMemsetNode", graph, *deps(*after), ctypes.byref(params), None)


def launched(driver, graph):
    """Instantiate, launch on the default stream, and destroy."""
    exec_ = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    driver.cuGraphLaunch(exec_, 0)
    driver.cuGraphExecDestroy(exec_)
    driver.cuStreamSynchronize(0)


def test_nodes_run_in_the_order_of_their_edges(driver, function, words):
    """Set, add, then copy; made in the opposite order, so that only the edges say so."""
    graph = driver.out("cuGraphCreate", 0)
    box = Copy3D(srcType=2, srcDevice=words, dstType=2, dstDevice=words + 32, width=4, height=1, depth=1)
    copy = driver.out("cuGraphAddMemcpyNode", graph, None, 0, ctypes.byref(box), None)
    adds = Adds(function, words)
    add = driver.out("cuGraphAddKernelNode_v2", graph, None, 0, ctypes.byref(adds.params))
    put = add_set(driver, graph, words, 41)
    driver.cuGraphAddDependencies(graph, *(ctypes.byref(ctypes.c_void_p(n)) for n in (put, add)), 1)
    driver.cuGraphAddDependencies(graph, *(ctypes.byref(ctypes.c_void_p(n)) for n in (add, copy)), 1)
    back = [ctypes.byref(ctypes.c_void_p(n)) for n in (copy, put)]
    assert driver.code("cuGraphAddDependencies", graph, *back, 1) == INVALID_VALUE  # it would run in a circle
    adds.values[0].value = 0  # parameters were copied when the node was made
    launched(driver, graph)
    assert read(driver, words + 32) == [42]
    driver.cuGraphDestroy(graph)
    assert driver.code("cuGraphDestroy", graph) == INVALID_VALUE


def test_parameters_of_an_executable_graph_change_without_the_graph(driver, function, words):
    graph = driver.out("cuGraphCreate", 0)
    adds = Adds(function, words)
    node = driver.out("cuGraphAddKernelNode", graph, None, 0, ctypes.byref(adds.params))
    exec_ = driver.out("cuGraphInstantiate_v2", graph, None, None, 0)
    driver.cuGraphLaunch(exec_, 0)
    elsewhere = Adds(function, words + 4, 2)
    driver.cuGraphExecKernelNodeSetParams(exec_, node, ctypes.byref(elsewhere.params))
    driver.cuGraphLaunch(exec_, 0)
    driver.cuGraphLaunch(exec_, 0)
    assert read(driver, words, 3) == [1, 2, 2]
    given = KernelParams()
    driver.cuGraphKernelNodeGetParams(node, ctypes.byref(given))
    assert given.function == function and list(given.grid) == [1, 1, 1]
    first = ctypes.c_void_p.from_address(given.params).value
    assert ctypes.c_uint64.from_address(first).value == words
    launched(driver, graph)
    assert read(driver, words, 3) == [2, 2, 2]
    driver.cuGraphExecDestroy(exec_)
    assert driver.code("cuGraphLaunch", exec_, 0) == INVALID_VALUE


def test_copies_of_an_executable_graph_are_redirected(driver, context, words):
    driver.cuMemsetD32_v2(words, 5, 1)
    graph = driver.out("cuGraphCreate", 0)
    box = Copy3D(srcType=2, srcDevice=words, dstType=2, dstDevice=words + 4, srcPitch=4, srcHeight=1, dstPitch=4, dstHeight=1,
                 width=4, height=1, depth=1)  # fmt: skip
    node = driver.out("cuGraphAddMemcpyNode", graph, None, 0, ctypes.byref(box), context)
    exec_ = driver.out("cuGraphInstantiate_v2", graph, None, None, 0)
    box.dstDevice = words + 8
    driver.cuGraphExecMemcpyNodeSetParams(exec_, node, ctypes.byref(box), context)
    driver.cuGraphLaunch(exec_, 0)
    assert read(driver, words, 3) == [5, 0, 5]


def test_host_nodes_children_and_empty_nodes(driver, context, words):
    child = driver.out("cuGraphCreate", 0)
    add_set(driver, child, words, 7)
    graph = driver.out("cuGraphCreate", 0)
    first = driver.out("cuGraphAddChildGraphNode", graph, None, 0, child)
    add_set(driver, child, words, 9)  # the child was copied
    driver.cuGraphDestroy(child)
    empty = driver.out("cuGraphAddEmptyNode", graph, *deps(first))
    seen = []
    function = HOST_FUNCTION(lambda data: seen.append((data, ctypes.c_uint32.from_address(words).value)))
    host = HostParams(ctypes.cast(function, ctypes.c_void_p), 3)
    driver.out("cuGraphAddHostNode", graph, *deps(empty), ctypes.byref(host))
    launched(driver, graph)
    assert seen == [(3, 7)]


def test_the_structure_can_be_read(driver, context, words):
    graph = driver.out("cuGraphCreate", 0)
    a = add_set(driver, graph, words, 1)
    b = add_set(driver, graph, words, 2, a)
    count = ctypes.c_size_t()
    driver.cuGraphGetNodes(graph, None, ctypes.byref(count))
    assert count.value == 2
    nodes = (ctypes.c_void_p * 2)()
    driver.cuGraphGetRootNodes(graph, nodes, ctypes.byref(count))
    assert (count.value, nodes[0]) == (1, a)
    count.value = 2
    driver.cuGraphNodeGetDependentNodes(a, nodes, ctypes.byref(count))
    assert (count.value, nodes[0]) == (1, b)
    kind = ctypes.c_int()
    driver.cuGraphNodeGetType(b, ctypes.byref(kind))
    assert kind.value == 2
    clone = driver.out("cuGraphClone", graph)
    counterpart = driver.out("cuGraphNodeFindInClone", b, clone)
    assert counterpart not in (a, b)
    driver.cuGraphDestroyNode(a)
    driver.cuGraphGetNodes(graph, None, ctypes.byref(count))
    assert count.value == 1
    launched(driver, clone)
    assert read(driver, words) == [2]


def test_a_captured_stream_becomes_a_graph(driver, function, words):
    stream = driver.out("cuStreamCreate", 1)
    status = ctypes.c_int()
    driver.cuStreamBeginCapture_v2(stream, 0)
    driver.cuMemsetD32Async(words, 10, 1, stream)
    adds = Adds(function, words)
    driver.launch(function, 1, 1, adds.values, stream=stream)
    driver.cuStreamIsCapturing(stream, ctypes.byref(status))
    assert status.value == 1
    graph = ctypes.c_void_p()
    driver.cuStreamEndCapture(stream, ctypes.byref(graph))
    assert read(driver, words) == [0]  # nothing was done
    for _ in range(3):
        launched(driver, graph)
    assert read(driver, words) == [11]
    assert driver.code("cuStreamEndCapture", stream, ctypes.byref(graph)) == ILLEGAL_STATE


def test_a_capture_spreads_over_events_and_must_be_joined(driver, context, words):
    a, b = driver.out("cuStreamCreate", 1), driver.out("cuStreamCreate", 1)
    fork, join = driver.out("cuEventCreate", 2), driver.out("cuEventCreate", 2)
    graph = ctypes.c_void_p()
    for joined in (True, False):
        driver.cuStreamBeginCapture_v2(a, 0)
        driver.cuMemsetD32Async(words, 1, 1, a)
        driver.cuEventRecord(fork, a)
        driver.cuStreamWaitEvent(b, fork, 0)
        driver.cuMemsetD32Async(words + 4, 2, 1, b)
        driver.cuEventRecord(join, b)
        assert driver.code("cuEventQuery", join) == CAPTURED_EVENT
        assert driver.code("cuStreamEndCapture", b, ctypes.byref(graph)) == UNMATCHED
        if joined:
            driver.cuStreamWaitEvent(a, join, 0)
            driver.cuMemsetD32Async(words + 8, 3, 1, a)
            driver.cuStreamEndCapture(a, ctypes.byref(graph))
            launched(driver, graph)
            assert read(driver, words, 3) == [1, 2, 3]
        else:
            assert driver.code("cuStreamEndCapture", a, ctypes.byref(graph)) == UNJOINED


class UpdateResult(ctypes.Structure):
    _fields_ = [("result", ctypes.c_int), ("node", ctypes.c_void_p), ("source", ctypes.c_void_p)]


def test_an_executable_graph_is_updated_from_one_of_the_same_form(driver, context, words):
    graphs = []
    for value in (1, 2):
        graph = driver.out("cuGraphCreate", 0)
        add_set(driver, graph, words, value)
        graphs.append(graph)
    exec_ = driver.out("cuGraphInstantiateWithFlags", graphs[0], 0)
    info = UpdateResult()
    driver.cuGraphExecUpdate_v2(exec_, graphs[1], ctypes.byref(info))
    driver.cuGraphLaunch(exec_, 0)
    assert read(driver, words) == [2] and info.result == 0
    driver.out("cuGraphAddEmptyNode", graphs[1], None, 0)
    assert (
        driver.code("cuGraphExecUpdate_v2", exec_, graphs[1], ctypes.byref(info)) == UPDATE_FAILURE and info.result == 2
    )


def test_events_are_recorded_by_graphs(driver, function, words):
    graph, begin, end = driver.out("cuGraphCreate", 0), driver.out("cuEventCreate", 0), driver.out("cuEventCreate", 0)
    first = driver.out("cuGraphAddEventRecordNode", graph, None, 0, begin)
    adds = Adds(function, words)
    adds.values[2].value = 3000
    work = driver.out("cuGraphAddKernelNode_v2", graph, *deps(first), ctypes.byref(adds.params))
    driver.out("cuGraphAddEventRecordNode", graph, *deps(work), end)
    exec_ = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    driver.cuGraphLaunch(exec_, 0)
    driver.cuEventSynchronize(end)
    assert driver.out("cuEventElapsedTime", begin, end, kind=ctypes.c_float) >= 3


def test_user_objects_live_as_long_as_the_graphs_that_hold_them(driver, context):
    ended = []
    destroy = HOST_FUNCTION(lambda data: ended.append(data))
    held = driver.out("cuUserObjectCreate", 99, destroy, 1, 1)
    graph = driver.out("cuGraphCreate", 0)
    driver.cuGraphRetainUserObject(graph, held, 1, 1)  # the program's reference moves to the graph
    assert driver.code("cuUserObjectRelease", held, 1) == INVALID_VALUE
    exec_ = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    driver.cuGraphDestroy(graph)
    assert ended == []
    driver.cuGraphExecDestroy(exec_)
    assert ended == [99]


class NodeParams(ctypes.Structure):
    """CUgraphNodeParams: its parts overlap, so each is read at the union's address."""

    _fields_ = [("type", ctypes.c_int), ("reserved", ctypes.c_int * 3), ("content", ctypes.c_longlong * 29),
                ("last", ctypes.c_longlong)]  # fmt: skip

    def read(self, kind):
        return kind.from_address(ctypes.addressof(self) + NodeParams.content.offset)


def node_params(driver, node):
    params = NodeParams(77)
    driver.cuGraphNodeGetParams(node, ctypes.byref(params))
    assert list(params.reserved) == [0, 0, 0] and params.last == 0
    return params


def test_the_parameters_of_any_node_are_read_as_they_were_given(driver, function, words):
    graph, event = driver.out("cuGraphCreate", 0), driver.out("cuEventCreate", 0)
    adds = Adds(function, words + 8, 3)
    kernel = node_params(driver, driver.out("cuGraphAddKernelNode_v2", graph, None, 0, ctypes.byref(adds.params)))
    given = kernel.read(KernelParams)
    assert (kernel.type, given.function, list(given.grid), list(given.block)) == (0, function, [1, 1, 1], [1, 1, 1])
    pointers = (ctypes.c_void_p * 3).from_address(given.params)
    assert ctypes.c_uint64.from_address(pointers[0]).value == words + 8
    assert ctypes.c_uint32.from_address(pointers[1]).value == 3

    box = Copy3D(srcType=2, srcDevice=words, dstType=2, dstDevice=words + 32, width=4, height=1, depth=1)
    copy = node_params(driver, driver.out("cuGraphAddMemcpyNode", graph, None, 0, ctypes.byref(box), None))
    shape = Copy3D.from_buffer_copy(bytes(copy)[32 : 32 + ctypes.sizeof(Copy3D)])  # behind flags, reserved and context
    assert copy.type == 1
    assert (shape.srcDevice, shape.dstDevice, shape.width, shape.height, shape.depth) == (words, words + 32, 4, 1, 1)

    put = node_params(driver, add_set(driver, graph, words + 4, 41))
    given = put.read(SetParams)
    assert (put.type, given.to, given.value, given.element, given.width, given.height) == (2, words + 4, 41, 4, 1, 1)

    call = HOST_FUNCTION(lambda _: None)
    host = HostParams(ctypes.cast(call, ctypes.c_void_p), 3)
    host_node = node_params(driver, driver.out("cuGraphAddHostNode", graph, None, 0, ctypes.byref(host)))
    assert (host_node.type, host_node.read(HostParams).function, host_node.read(HostParams).data) == (
        3,
        host.function,
        3,
    )

    inner = driver.out("cuGraphCreate", 0)
    child = driver.out("cuGraphAddChildGraphNode", graph, None, 0, inner)
    owned = ctypes.c_void_p()
    driver.cuGraphChildGraphNodeGetGraph(child, ctypes.byref(owned))
    read_child = node_params(driver, child)
    ownership = ctypes.c_int.from_address(ctypes.addressof(read_child) + 24)
    assert (read_child.type, read_child.read(ctypes.c_uint64).value, ownership.value) == (4, owned.value, -1)

    for name, kind in (("cuGraphAddEventWaitNode", 6), ("cuGraphAddEventRecordNode", 7)):
        params = node_params(driver, driver.out(name, graph, None, 0, event))
        assert (params.type, params.read(ctypes.c_uint64).value) == (kind, event)
    assert node_params(driver, driver.out("cuGraphAddEmptyNode", graph, None, 0)).type == 5
    assert driver.code("cuGraphNodeGetParams", graph, ctypes.byref(NodeParams())) == INVALID_VALUE
    assert driver.code("cuGraphNodeGetParams", child, None) == INVALID_VALUE
    driver.cuGraphDestroy(inner)
    driver.cuGraphDestroy(graph)
    driver.cuEventDestroy_v2(event)


def test_a_child_graph_is_moved_with_its_nodes(driver, function, words):
    """As the ownership of a child graph's node is documented: handles stay good, and the child is its parent's."""
    graph, child, other = (driver.out("cuGraphCreate", 0) for _ in range(3))
    box = Copy3D(srcType=2, srcDevice=words, dstType=2, dstDevice=words + 32, width=4, height=1, depth=1)
    copy = driver.out("cuGraphAddMemcpyNode", child, None, 0, ctypes.byref(box), None)
    driver.cuMemsetD32_v2(words, 5, 1)
    driver.cuMemsetD32_v2(words + 4, 6, 1)

    def add(to, inner, ownership):
        params, node = NodeParams(4), ctypes.c_void_p()
        ctypes.c_uint64.from_address(ctypes.addressof(params) + 16).value = inner
        ctypes.c_int.from_address(ctypes.addressof(params) + 24).value = ownership
        return driver.code("cuGraphAddNode_v2", ctypes.byref(node), to, None, None, 0, ctypes.byref(params)), node.value

    assert add(graph, child, -1)[0] == add(graph, child, 2)[0] == INVALID_VALUE
    assert add(child, child, 1)[0] == INVALID_VALUE
    code, node = add(graph, child, 1)
    assert code == 0
    kept = ctypes.c_void_p()
    driver.cuGraphChildGraphNodeGetGraph(node, ctypes.byref(kept))
    assert kept.value == child
    assert driver.code("cuGraphDestroy", child) == INVALID_VALUE
    made = ctypes.c_void_p()
    assert driver.code("cuGraphInstantiateWithFlags", ctypes.byref(made), child, 0) == INVALID_VALUE
    assert [add(other, child, ownership)[0] for ownership in (0, 1)] == [INVALID_VALUE] * 2
    assert add(child, graph, 1)[0] == INVALID_VALUE  # which holds it

    exec_graph = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    driver.cuGraphLaunch(exec_graph, None)
    assert read(driver, words + 32, 2) == [5, 0]
    box.srcDevice, box.dstDevice = words + 4, words + 36
    context = driver.out("cuCtxGetCurrent")
    driver.cuGraphExecMemcpyNodeSetParams(exec_graph, copy, ctypes.byref(box), context)
    driver.cuGraphLaunch(exec_graph, None)
    assert read(driver, words + 32, 2) == [5, 6]
    driver.cuGraphExecDestroy(exec_graph)
    driver.cuGraphDestroy(graph)
    assert driver.code("cuGraphNodeGetType", copy, ctypes.byref(ctypes.c_int())) == INVALID_VALUE
    assert driver.code("cuGraphDestroy", child) == INVALID_VALUE
    driver.cuGraphDestroy(other)
