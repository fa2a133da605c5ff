"""Graphs: nodes of every kind, their parameters and order, clones, user objects; what they do when they are launched."""

import ctypes
import os
import tempfile
from pathlib import Path

from native.cudart.library import Dim3, Extent, PitchedPtr, Pos, Runtime
from native.cudart.program import Program, pack

INVALID_VALUE, H2D, D2H, D2D, DEFAULT = 1, 1, 2, 3, 4
ptr, u32, u64, size_t = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ptr)


class KernelParams(ctypes.Structure):
    _fields_ = [("function", ptr), ("grid", Dim3), ("block", Dim3), ("shared", u32), ("arguments", ptr), ("extra", ptr)]


class Copy3D(ctypes.Structure):
    _fields_ = [
        ("from_array", ptr), ("from_pos", Pos), ("source", PitchedPtr), ("to_array", ptr), ("to_pos", Pos), ("target", PitchedPtr),
        ("extent", Extent), ("kind", ctypes.c_int),
    ]  # fmt: skip


class SetParams(ctypes.Structure):
    _fields_ = [("to", ptr), ("pitch", size_t), ("value", u32), ("element", u32), ("width", size_t), ("height", size_t)]


class HostParams(ctypes.Structure):
    _fields_ = [("function", ptr), ("data", ptr)]


class AllocParams(ctypes.Structure):
    _fields_ = [("pool", u32 * 22), ("access", ptr), ("count", size_t), ("bytes", size_t), ("address", ptr)]


class SemaphoreParams(ctypes.Structure):
    _fields_ = [("semaphores", ptr), ("values", ptr), ("count", u32)]


class NodeParams(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("pad", ctypes.c_int * 3), ("words", u64 * 29), ("end", u64)]


class EdgeData(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 8)]


def handle(rt: Runtime, name: str, *after: object) -> int:
    return rt.out(name, ptr, after=after)


def last(rt: Runtime, name: str, *arguments: object, kind: type = ptr) -> object:
    return rt.out(name, kind, *arguments)


def nodes(*all_: int) -> ctypes.Array:
    return (ptr * len(all_))(*all_)


class Bench:
    """A graph, some words of device memory, and a program with kernels."""

    def __init__(self, rt: Runtime) -> None:
        self.rt, self.program, self.kept = rt, Program(rt), []
        self.graph = handle(rt, "cudaGraphCreate", 0)
        self.words = handle(rt, "cudaMalloc", 256)
        rt.cudaMemset(self.words, 0, 256)

    def read(self, count: int, at: int = 0) -> list[int]:
        got = (u32 * count)()
        self.rt.cudaDeviceSynchronize()
        self.rt.cudaMemcpy(got, self.words + at, 4 * count, D2H)
        return list(got)

    def clear(self) -> None:
        self.rt.cudaMemset(self.words, 0, 256)

    def set_params(self, index: int, value: int, count: int = 1) -> SetParams:
        return SetParams(self.words + 4 * index, 0, value, 4, count, 1)

    def put(self, index: int, value: int, *after: int, count: int = 1, graph: int | None = None) -> int:
        params = self.set_params(index, value, count)
        return handle(
            self.rt, "cudaGraphAddMemsetNode", graph or self.graph, nodes(*after), len(after), ctypes.byref(params)
        )

    def work(self, to: int, source: int, count: int) -> KernelParams:
        """Parameters of the kernel that stores 3 * in[i] + i."""
        self.kept.append(pack(ptr(self.words + 4 * to), ptr(self.words + 4 * source), u32(count)))
        arguments = ctypes.addressof(self.kept[-1])
        return KernelParams(self.program.work, Dim3(1, 1, 1), Dim3(32, 1, 1), 0, arguments, None)

    def run(self, graph: int | None = None) -> None:
        exec_ = handle(self.rt, "cudaGraphInstantiateWithFlags", graph or self.graph, 0)
        self.rt.cudaGraphLaunch(exec_, None)
        self.rt.cudaStreamSynchronize(None)
        self.rt.cudaGraphExecDestroy(exec_)

    def close(self) -> None:
        self.rt.cudaGraphDestroy(self.graph)
        self.rt.cudaFree(self.words)
        self.program.close()


def check_kernel_nodes(rt: Runtime) -> None:
    bench = Bench(rt)
    put = bench.put(0, 7, count=4)
    params = bench.work(8, 0, 4)
    node = handle(rt, "cudaGraphAddKernelNode", bench.graph, nodes(put), 1, ctypes.byref(params))
    bench.run()
    assert bench.read(4, 32) == [21, 22, 23, 24]
    got = KernelParams()
    rt.cudaGraphKernelNodeGetParams(node, ctypes.byref(got))
    assert (got.function, got.grid.x, got.block.x) == (bench.program.work, 1, 32)
    fewer = bench.work(8, 0, 2)
    rt.cudaGraphKernelNodeSetParams(node, ctypes.byref(fewer))
    bench.clear()
    bench.run()
    assert bench.read(4, 32) == [21, 22, 0, 0]
    other = handle(rt, "cudaGraphAddKernelNode", bench.graph, None, 0, ctypes.byref(params))
    value = (u32 * 16)(3)
    rt.cudaGraphKernelNodeSetAttribute(node, 8, value)  # priority
    first, second = (other, node) if rt.major >= 13 else (node, other)  # version 12 names the source first
    rt.cudaGraphKernelNodeCopyAttributes(first, second)
    got_value = (u32 * 16)()
    rt.cudaGraphKernelNodeGetAttribute(other, 8, got_value)
    assert got_value[0] == 3
    wrong = KernelParams(ctypes.addressof(value), Dim3(1, 1, 1), Dim3(1, 1, 1), 0, None, None)
    assert rt.code.cudaGraphAddKernelNode(ctypes.byref(ptr()), bench.graph, None, 0, ctypes.byref(wrong)) != 0
    bench.close()


def check_copy_nodes(rt: Runtime) -> None:
    bench = Bench(rt)
    rt.cudaMemcpy(bench.words, (u32 * 6)(*range(10, 16)), 24, H2D)
    box = Copy3D(source=PitchedPtr(bench.words, 12, 12, 2), target=PitchedPtr(bench.words + 64, 8, 8, 2),
                 extent=Extent(8, 2, 1), kind=D2D)  # fmt: skip
    node = handle(rt, "cudaGraphAddMemcpyNode", bench.graph, None, 0, ctypes.byref(box))
    line = handle(rt, "cudaGraphAddMemcpyNode1D", bench.graph, None, 0, bench.words + 128, bench.words, 8, D2D)
    bench.run()
    assert bench.read(4, 64) == [10, 11, 13, 14]
    assert bench.read(2, 128) == [10, 11]
    got = Copy3D()
    rt.cudaGraphMemcpyNodeGetParams(node, ctypes.byref(got))
    assert (got.source.ptr, got.target.ptr, got.extent.width, got.extent.height) == (
        bench.words,
        bench.words + 64,
        8,
        2,
    )
    rt.cudaGraphMemcpyNodeSetParams(node, ctypes.byref(got))  # what was read says the same
    rt.cudaGraphMemcpyNodeSetParams1D(line, bench.words + 128, bench.words + 16, 8, DEFAULT)
    rt.cudaMemset(bench.words + 64, 0, 128)
    bench.run()
    assert bench.read(4, 64) == [10, 11, 13, 14]
    assert bench.read(2, 128) == [14, 15]
    bench.close()


def check_copies_of_symbols(rt: Runtime) -> None:
    bench = Bench(rt)
    table = bench.program.table
    rt.cudaMemcpy(bench.words, (u32 * 2)(21, 22), 8, H2D)
    to = handle(rt, "cudaGraphAddMemcpyNodeToSymbol", bench.graph, None, 0, table, bench.words, 8, 16, D2D)
    back = handle(
        rt, "cudaGraphAddMemcpyNodeFromSymbol", bench.graph, nodes(to), 1, bench.words + 64, table, 8, 16, D2D
    )
    bench.run()
    assert bench.read(2, 64) == [21, 22]
    rt.cudaGraphMemcpyNodeSetParamsToSymbol(to, table, bench.words, 8, 24, D2D)
    rt.cudaGraphMemcpyNodeSetParamsFromSymbol(back, bench.words + 64, table, 8, 20, D2D)
    bench.run()
    assert bench.read(2, 64) == [22, 21]
    exec_ = handle(rt, "cudaGraphInstantiateWithFlags", bench.graph, 0)
    rt.cudaGraphExecMemcpyNodeSetParamsToSymbol(exec_, to, table, bench.words + 4, 4, 0, D2D)
    rt.cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec_, back, bench.words + 64, table, 4, 0, D2D)
    rt.cudaGraphLaunch(exec_, None)
    assert bench.read(2, 64) == [22, 21]
    wrong = rt.code.cudaGraphMemcpyNodeSetParamsToSymbol(to, table, bench.words, 8, 60, D2D)
    assert wrong == INVALID_VALUE
    rt.cudaGraphExecDestroy(exec_)
    bench.close()


def check_set_and_host_nodes(rt: Runtime) -> None:
    bench, seen = Bench(rt), []
    note = HOST_FUNCTION(lambda data: seen.append(data))
    put = bench.put(3, 9)
    got = SetParams()
    rt.cudaGraphMemsetNodeGetParams(put, ctypes.byref(got))
    assert (got.to, got.value, got.element, got.width) == (bench.words + 12, 9, 4, 1)
    rt.cudaGraphMemsetNodeSetParams(put, ctypes.byref(bench.set_params(4, 8)))
    params = HostParams(ctypes.cast(note, ptr), 77)
    node = handle(rt, "cudaGraphAddHostNode", bench.graph, nodes(put), 1, ctypes.byref(params))
    read = HostParams()
    rt.cudaGraphHostNodeGetParams(node, ctypes.byref(read))
    assert (read.function, read.data) == (params.function, 77)
    rt.cudaGraphHostNodeSetParams(node, ctypes.byref(HostParams(params.function, 78)))
    bench.run()
    assert bench.read(5) == [0, 0, 0, 0, 8]
    assert seen == [78]
    bench.close()


def check_event_nodes(rt: Runtime) -> None:
    bench = Bench(rt)
    first, second = handle(rt, "cudaEventCreate"), handle(rt, "cudaEventCreate")
    put = bench.put(0, 5)
    record = handle(rt, "cudaGraphAddEventRecordNode", bench.graph, nodes(put), 1, first)
    wait = handle(rt, "cudaGraphAddEventWaitNode", bench.graph, nodes(record), 1, first)
    rt.cudaGraphEventRecordNodeSetEvent(record, second)
    rt.cudaGraphEventWaitNodeSetEvent(wait, second)
    assert last(rt, "cudaGraphEventRecordNodeGetEvent", record) == second
    assert last(rt, "cudaGraphEventWaitNodeGetEvent", wait) == second
    exec_ = handle(rt, "cudaGraphInstantiate", bench.graph, 0)
    rt.cudaGraphExecEventRecordNodeSetEvent(exec_, record, first)
    rt.cudaGraphExecEventWaitNodeSetEvent(exec_, wait, first)
    rt.cudaGraphLaunch(exec_, None)
    rt.cudaEventSynchronize(first)
    assert bench.read(1) == [5]
    rt.cudaGraphExecDestroy(exec_)
    bench.close()


def check_memory_nodes(rt: Runtime) -> None:
    bench = Bench(rt)
    params = AllocParams(bytes=1 << 16)
    params.pool[0], params.pool[2] = 1, 1  # pinned, on device 0
    alloc = handle(rt, "cudaGraphAddMemAllocNode", bench.graph, None, 0, ctypes.byref(params))
    put = SetParams(params.address, 0, 31, 4, 1, 1)
    fill = handle(rt, "cudaGraphAddMemsetNode", bench.graph, nodes(alloc), 1, ctypes.byref(put))
    copy = handle(rt, "cudaGraphAddMemcpyNode1D", bench.graph, nodes(fill), 1, bench.words, params.address, 4, D2D)
    free = handle(rt, "cudaGraphAddMemFreeNode", bench.graph, nodes(copy), 1, params.address)
    bench.run()
    assert bench.read(1) == [31]
    got = AllocParams()
    rt.cudaGraphMemAllocNodeGetParams(alloc, ctypes.byref(got))
    assert (got.bytes, got.address) == (1 << 16, params.address)
    assert last(rt, "cudaGraphMemFreeNodeGetParams", free) == params.address
    high = rt.out("cudaDeviceGetGraphMemAttribute", u64, 0, 1)
    assert high >= 1 << 16
    rt.cudaDeviceSetGraphMemAttribute(0, 1, ctypes.byref(u64(0)))
    assert rt.out("cudaDeviceGetGraphMemAttribute", u64, 0, 1) == rt.out("cudaDeviceGetGraphMemAttribute", u64, 0, 0)
    rt.cudaDeviceGraphMemTrim(0)
    assert rt.out("cudaDeviceGetGraphMemAttribute", u64, 0, 2) == 0
    bench.close()


def check_semaphore_nodes(rt: Runtime) -> None:
    bench = Bench(rt)
    file = os.eventfd(0, os.EFD_SEMAPHORE | os.EFD_NONBLOCK)
    other = os.dup(file)
    semaphore = handle(rt, "cudaImportExternalSemaphore", (u32 * 24)(1, 0, file))
    held, values = nodes(semaphore), (u64 * 18)(1)
    params = SemaphoreParams(ctypes.addressof(held), ctypes.addressof(values), 1)
    add = "cudaGraphAddExternalSemaphores{}Node"
    signal = handle(rt, add.format("Signal"), bench.graph, None, 0, ctypes.byref(params))
    bench.run()
    assert os.eventfd_read(other) == 1
    wait = handle(rt, add.format("Wait"), bench.graph, nodes(signal), 1, ctypes.byref(params))
    exec_ = handle(rt, "cudaGraphInstantiateWithFlags", bench.graph, 0)
    for kind, node in (("Signal", signal), ("Wait", wait)):
        got = SemaphoreParams()
        getattr(rt, f"cudaGraphExternalSemaphores{kind}NodeGetParams")(node, ctypes.byref(got))
        assert got.count == 1
        getattr(rt, f"cudaGraphExternalSemaphores{kind}NodeSetParams")(node, ctypes.byref(params))
        getattr(rt, f"cudaGraphExecExternalSemaphores{kind}NodeSetParams")(exec_, node, ctypes.byref(params))
    rt.cudaGraphLaunch(exec_, None)
    rt.cudaDeviceSynchronize()
    try:
        os.eventfd_read(other)
        raise AssertionError("the wait left the signal there")
    except BlockingIOError:
        pass
    rt.cudaGraphExecDestroy(exec_)
    rt.cudaDestroyExternalSemaphore(semaphore)
    os.close(other)
    bench.close()


def check_structure(rt: Runtime) -> None:
    bench = Bench(rt)
    a, b = bench.put(0, 1), bench.put(0, 2)
    empty = handle(rt, "cudaGraphAddEmptyNode", bench.graph, nodes(a), 1)
    data = (EdgeData * 1)()
    v2 = "" if rt.major >= 13 else "_v2"
    getattr(rt, f"cudaGraphAddDependencies{v2}")(bench.graph, nodes(empty), nodes(b), data, 1)
    bench.run()
    assert bench.read(1) == [2]
    count = size_t(8)
    got = (ptr * 8)()
    rt.cudaGraphGetNodes(bench.graph, got, ctypes.byref(count))
    assert list(got[: count.value]) == [a, b, empty]
    count.value = 8
    rt.cudaGraphGetRootNodes(bench.graph, got, ctypes.byref(count))
    assert list(got[: count.value]) == [a]
    versions = ("", "_v2") if rt.major < 13 else ("",)
    for version in versions:
        extra = ((EdgeData * 8)(),) if version or rt.major >= 13 else ()
        count.value, to = 8, (ptr * 8)()
        getattr(rt, f"cudaGraphGetEdges{version}")(bench.graph, got, to, *extra, ctypes.byref(count))
        assert sorted(zip(got[: count.value], to[: count.value], strict=True)) == sorted([(a, empty), (empty, b)])
        count.value = 8
        getattr(rt, f"cudaGraphNodeGetDependencies{version}")(b, got, *extra, ctypes.byref(count))
        assert list(got[: count.value]) == [empty]
        count.value = 8
        getattr(rt, f"cudaGraphNodeGetDependentNodes{version}")(a, got, *extra, ctypes.byref(count))
        assert list(got[: count.value]) == [empty]
        getattr(rt, f"cudaGraphRemoveDependencies{version}")(bench.graph, nodes(empty), nodes(b), *extra, 1)
        getattr(rt, f"cudaGraphAddDependencies{version}")(bench.graph, nodes(empty), nodes(b), *extra, 1)
    assert last(rt, "cudaGraphNodeGetType", empty, kind=u32) == 5
    with tempfile.TemporaryDirectory() as folder:
        rt.cudaGraphDebugDotPrint(bench.graph, f"{folder}/g.dot".encode(), 1)
        assert Path(folder, "g.dot").read_text().count("->") == 2
    rt.cudaGraphDestroyNode(b)
    bench.clear()
    bench.run()
    assert bench.read(1) == [1]
    if rt.major >= 13:
        other = handle(rt, "cudaGraphCreate", 0)
        assert last(rt, "cudaGraphGetId", bench.graph, kind=u32) != last(rt, "cudaGraphGetId", other, kind=u32)
        assert last(rt, "cudaGraphNodeGetContainingGraph", a) == bench.graph
        assert [last(rt, "cudaGraphNodeGetLocalId", n, kind=u32) for n in (a, empty)] == [0, 2]
        assert len({last(rt, "cudaGraphNodeGetToolsId", n, kind=u64) for n in (a, empty)}) == 2
        rt.cudaGraphDestroy(other)
    bench.close()


def check_clones_and_children(rt: Runtime) -> None:
    bench = Bench(rt)
    node = bench.put(0, 4)
    clone = handle(rt, "cudaGraphClone", bench.graph)
    counterpart = handle(rt, "cudaGraphNodeFindInClone", node, clone)
    rt.cudaGraphMemsetNodeSetParams(counterpart, ctypes.byref(bench.set_params(1, 6)))
    child = handle(rt, "cudaGraphAddChildGraphNode", bench.graph, nodes(node), 1, clone)
    inner = last(rt, "cudaGraphChildGraphNodeGetGraph", child)
    assert inner not in (clone, bench.graph)
    bench.run()
    assert bench.read(2) == [4, 6]
    exec_ = handle(rt, "cudaGraphInstantiateWithFlags", bench.graph, 0)
    rt.cudaGraphMemsetNodeSetParams(counterpart, ctypes.byref(bench.set_params(1, 7)))
    rt.cudaGraphExecChildGraphNodeSetParams(exec_, child, clone)
    rt.cudaGraphLaunch(exec_, None)
    assert bench.read(2) == [4, 7]
    rt.cudaGraphExecDestroy(exec_)
    rt.cudaGraphDestroy(clone)
    bench.close()


def check_nodes_by_their_kind(rt: Runtime) -> None:
    """cudaGraphAddNode: one function for all kinds; here sets, copies, kernels and a condition."""
    bench = Bench(rt)
    edges = (None,) if rt.major >= 13 else ()

    def add(params: NodeParams, *after: int, graph: int | None = None) -> int:
        return handle(
            rt, "cudaGraphAddNode", graph or bench.graph, nodes(*after), *edges, len(after), ctypes.byref(params)
        )

    def params_of(kind: int, content: ctypes.Structure, skip: int = 0) -> NodeParams:
        params = NodeParams(kind)
        ctypes.memmove(ctypes.addressof(params.words) + skip, ctypes.byref(content), ctypes.sizeof(content))
        return params

    put = params_of(2, bench.set_params(0, 11, 2))
    first = add(put)
    kernel = add(params_of(0, bench.work(8, 0, 2)), first)
    box = Copy3D(source=PitchedPtr(bench.words + 32, 8, 8, 1), target=PitchedPtr(bench.words + 64, 8, 8, 1), extent=Extent(8, 1, 1), kind=D2D)  # fmt: skip
    copy = add(params_of(1, box, 16), kernel)
    condition = rt.out("cudaGraphConditionalHandleCreate", u64, after=(bench.graph, 1, 1))
    branch = NodeParams(13)
    branch.words[0], branch.words[1] = condition, 1 << 32  # an if with one body
    if_node = add(branch, copy)
    body = ctypes.cast(branch.words[2], ctypes.POINTER(ptr))[0]
    bench.put(20, 44, graph=body)
    exec_ = handle(rt, "cudaGraphInstantiateWithFlags", bench.graph, 0)
    rt.cudaGraphLaunch(exec_, None)
    assert bench.read(2, 64) == [33, 34]
    assert bench.read(1, 80) == [44]
    changed = params_of(2, bench.set_params(0, 12, 2))
    rt.cudaGraphExecNodeSetParams(exec_, first, ctypes.byref(changed))
    rt.cudaGraphLaunch(exec_, None)
    assert bench.read(2, 64) == [36, 37]
    rt.cudaGraphNodeSetParams(first, ctypes.byref(changed))
    bench.clear()
    bench.run()
    assert bench.read(2, 64) == [36, 37]
    if rt.major >= 13:
        got = NodeParams()
        rt.cudaGraphNodeGetParams(kernel, ctypes.byref(got))
        assert (got.type, got.words[0]) == (0, bench.program.work)
        rt.cudaGraphNodeGetParams(copy, ctypes.byref(got))
        assert got.type == 1
        rt.cudaGraphNodeGetParams(if_node, ctypes.byref(got))
        assert got.words[0] == condition
        rt.out("cudaGraphConditionalHandleCreate_v2", u64, after=(bench.graph, None, 1, 1))
    else:
        handle(rt, "cudaGraphAddNode_v2", bench.graph, None, None, 0, ctypes.byref(changed))
    rt.cudaGraphExecDestroy(exec_)
    bench.close()


def check_user_objects(rt: Runtime) -> None:
    bench, gone = Bench(rt), []
    note = HOST_FUNCTION(lambda data: gone.append(data))
    object_ = handle(rt, "cudaUserObjectCreate", ptr(99), note, 1, 1)
    rt.cudaUserObjectRetain(object_, 1)
    rt.cudaUserObjectRelease(object_, 1)
    rt.cudaGraphRetainUserObject(bench.graph, object_, 2, 0)
    rt.cudaGraphReleaseUserObject(bench.graph, object_, 1)
    rt.cudaUserObjectRelease(object_, 1)
    assert gone == []
    rt.cudaGraphReleaseUserObject(bench.graph, object_, 1)
    rt.cudaDeviceSynchronize()
    assert gone == [99]
    bench.close()


def launches(rt: Runtime, bench: Bench) -> None:
    stream = handle(rt, "cudaStreamCreate")
    exec_ = ptr()
    params = (u64 * 4)(0, 0, 0, 0)
    rt.cudaGraphInstantiateWithParams(ctypes.byref(exec_), bench.graph, params)
    assert rt.out("cudaGraphExecGetFlags", u64, exec_) == 0
    for target in (None, stream):
        bench.clear()
        rt.cudaGraphUpload(exec_, target)
        rt.cudaGraphLaunch(exec_, target)
        rt.cudaStreamSynchronize(target)
        assert bench.read(1) == [3]
    rt.cudaGraphExecDestroy(exec_)
    rt.cudaStreamDestroy(stream)


def check_executable_graphs(rt: Runtime) -> None:
    bench, seen = Bench(rt), []
    node = bench.put(0, 3)
    launches(rt, bench)
    with rt.per_thread():
        launches(rt, bench)
    note = HOST_FUNCTION(lambda data: seen.append(data))
    host = HostParams(ctypes.cast(note, ptr), 1)
    told = handle(rt, "cudaGraphAddHostNode", bench.graph, None, 0, ctypes.byref(host))
    params = bench.work(8, 0, 4)
    kernel = handle(rt, "cudaGraphAddKernelNode", bench.graph, nodes(node), 1, ctypes.byref(params))
    line = handle(
        rt, "cudaGraphAddMemcpyNode1D", bench.graph, nodes(kernel), 1, bench.words + 64, bench.words + 32, 8, D2D
    )
    exec_ = handle(rt, "cudaGraphInstantiateWithFlags", bench.graph, 0)
    rt.cudaGraphExecMemsetNodeSetParams(exec_, node, ctypes.byref(bench.set_params(0, 5, 2)))
    rt.cudaGraphExecHostNodeSetParams(exec_, told, ctypes.byref(HostParams(host.function, 2)))
    rt.cudaGraphExecKernelNodeSetParams(exec_, kernel, ctypes.byref(bench.work(8, 0, 2)))
    rt.cudaGraphExecMemcpyNodeSetParams1D(exec_, line, bench.words + 128, bench.words + 32, 8, D2D)
    rt.cudaGraphLaunch(exec_, None)
    assert bench.read(4, 32) == [15, 16, 0, 0]
    assert (bench.read(2, 64), bench.read(2, 128)) == ([0, 0], [15, 16])
    assert seen == [2]
    box = Copy3D(source=PitchedPtr(bench.words + 32, 4, 4, 1), target=PitchedPtr(bench.words + 192, 4, 4, 1), extent=Extent(4, 1, 1), kind=D2D)  # fmt: skip
    rt.cudaGraphExecMemcpyNodeSetParams(exec_, line, ctypes.byref(box))
    rt.cudaGraphNodeSetEnabled(exec_, kernel, 0)
    assert last(rt, "cudaGraphNodeGetEnabled", exec_, kernel, kind=u32) == 0
    rt.cudaMemset(bench.words + 32, 0, 16)
    rt.cudaGraphLaunch(exec_, None)
    assert bench.read(2, 32) == [0, 0]
    info = (u64 * 3)()
    rt.cudaGraphExecUpdate(exec_, bench.graph, info)
    assert info[0] & 0xFFFFFFFF == 0
    other = handle(rt, "cudaGraphCreate", 0)
    assert rt.code.cudaGraphExecUpdate(exec_, other, info) == 910
    assert info[0] & 0xFFFFFFFF == 2  # the topology differs
    if rt.major >= 13:
        assert last(rt, "cudaGraphExecGetId", exec_, kind=u32) != last(rt, "cudaGraphGetId", bench.graph, kind=u32)
    rt.cudaGraphDestroy(other)
    rt.cudaGraphExecDestroy(exec_)
    bench.close()
