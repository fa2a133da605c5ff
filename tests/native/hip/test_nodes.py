"""Nodes of graphs made by hand, streams with priorities and pools over HIP: what CUDA's structures say arrives, and comes back."""

import struct

import pytest

from native.hip.rig import run

pytestmark = pytest.mark.native

KERNEL = """
PTX = b'''.version 8.0
.target sm_80
.address_size 64
.visible .entry put(.param .u64 p, .param .u32 n) { ret; }
'''
context()
module = made("cuModuleLoadData", PTX)
put = made("cuModuleGetFunction", module, b"put")
class KernelNode(ctypes.Structure):
    _fields_ = [("function", c_void_p), ("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_uint),
                ("params", ctypes.POINTER(c_void_p)), ("extra", c_void_p), ("kernel", c_void_p), ("context", c_void_p)]
def pointers(*values):
    return (c_void_p * len(values))(*[ctypes.cast(byref(v), c_void_p) for v in values])
"""


def test_a_kernel_node_says_what_it_was_given_and_is_exchanged(tmp_path, private_places):
    answer = run(
        f"""{KERNEL}
graph = made("cuGraphCreate", 0)
first = [c_uint64(0x1122334455667788), c_uint(7)]
given = KernelNode(put, (3, 2, 1), (33, 1, 1), 16, pointers(*first))
node = made("cuGraphAddKernelNode_v2", graph, None, c_size_t(0), byref(given))
kind = c_int(-1)
call("cuGraphNodeGetType", node, byref(kind))
told = KernelNode()
call("cuGraphKernelNodeGetParams_v2", node, byref(told))
out["told"] = [told.function == put.value, list(told.grid), list(told.block), told.shared, kind.value,
               c_uint64.from_address(told.params[0]).value, c_uint.from_address(told.params[1]).value]
executable = made("cuGraphInstantiateWithFlags", graph, c_uint64(0))
stream = made("cuStreamCreate", 1)
call("cuGraphLaunch", executable, stream)
second = [c_uint64(5), c_uint(6)]
other = KernelNode(put, (9, 1, 1), (64, 1, 1), 0, pointers(*second))
call("cuGraphExecKernelNodeSetParams_v2", executable, node, byref(other))
call("cuGraphLaunch", executable, stream)
call("cuStreamSynchronize", stream)
wrong = KernelNode(put, (1, 1, 1), (2048, 1, 1), 0, pointers(*second))
out["wrong"] = cuda.cuGraphKernelNodeSetParams_v2(node, byref(wrong))
""",
        tmp_path,
    )
    assert answer.out == {"told": [True, [3, 2, 1], [33, 1, 1], 16, 0, 0x1122334455667788, 7], "wrong": 1}
    first, second = answer.launches()
    assert (first["grid"], first["block"], first["shared"]) == ([3, 2, 1], [33, 1, 1], 16)
    assert (second["grid"], second["block"], second["shared"]) == ([9, 1, 1], [64, 1, 1], 0)
    assert struct.unpack_from("<QI", bytes.fromhex(first["kernarg"])) == (0x1122334455667788, 7)
    assert struct.unpack_from("<QI", bytes.fromhex(second["kernarg"])) == (5, 6)
    assert not answer.faults()


def test_nodes_that_copy_and_set_do_and_say_what_they_were_given(tmp_path):
    answer = run(
        """
context()
class Set(ctypes.Structure):
    _fields_ = [("to", c_uint64), ("pitch", c_size_t), ("value", c_uint), ("element", c_uint), ("width", c_size_t),
                ("height", c_size_t)]
class Side(ctypes.Structure):
    _fields_ = [("x", c_size_t), ("y", c_size_t), ("z", c_size_t), ("lod", c_size_t), ("type", c_int), ("host", c_void_p),
                ("device", c_uint64), ("array", c_void_p), ("reserved", c_void_p), ("pitch", c_size_t), ("height", c_size_t)]
class Copy(ctypes.Structure):
    _fields_ = [("source", Side), ("target", Side), ("width", c_size_t), ("rows", c_size_t), ("depth", c_size_t)]
assert ctypes.sizeof(Copy) == 200
data, host = memory(256), create_string_buffer(64)
call("cuMemsetD8_v2", data, 0, c_size_t(256))
graph = made("cuGraphCreate", 0)
fill = Set(data.value + 8, 32, 0x1234, 2, 5, 3)
first = made("cuGraphAddMemsetNode", graph, None, c_size_t(0), byref(fill), None)
copy = Copy(Side(type=2, device=data.value, pitch=32, x=8, y=1), Side(type=1, host=ctypes.addressof(host), pitch=16), 10, 2, 1)
second = made("cuGraphAddMemcpyNode", graph, byref(first), c_size_t(1), byref(copy), None)
told, copied = Set(), Copy()
call("cuGraphMemsetNodeGetParams", first, byref(told))
call("cuGraphMemcpyNodeGetParams", second, byref(copied))
out["told"] = [told.to - data.value, told.pitch, told.value, told.element, told.width, told.height]
out["copied"] = [copied.source.x, copied.source.y, copied.target.pitch, copied.width, copied.rows, copied.source.type]
executable = made("cuGraphInstantiateWithFlags", graph, c_uint64(0))
call("cuGraphLaunch", executable, None)
call("cuCtxSynchronize")
out["seen"] = host.raw[:32].hex()
""",
        tmp_path,
    )
    assert answer.out["told"] == [8, 32, 0x1234, 2, 5, 3]
    assert answer.out["copied"] == [8, 1, 16, 10, 2, 2]
    assert answer.out["seen"] == ("3412" * 5 + "00" * 6) * 2
    assert not answer.faults()


def test_edges_with_data_are_refused_and_told_as_plain(tmp_path):
    answer = run(
        """
context()
graph = made("cuGraphCreate", 0)
a = made("cuGraphAddEmptyNode", graph, None, c_size_t(0))
b = made("cuGraphAddEmptyNode", graph, None, c_size_t(0))
port, plain, told = (c_ubyte * 8)(1), (c_ubyte * 8)(), (c_ubyte * 8)(*[7] * 8)
out["port"] = cuda.cuGraphAddDependencies_v2(graph, byref(a), byref(b), port, c_size_t(1))
out["plain"] = cuda.cuGraphAddDependencies_v2(graph, byref(a), byref(b), plain, c_size_t(1))
before, behind, count = c_void_p(), c_void_p(), c_size_t(1)
call("cuGraphGetEdges_v2", graph, byref(before), byref(behind), told, byref(count))
out["edge"] = [before.value == a.value, behind.value == b.value, list(told), count.value]
""",
        tmp_path,
    )
    assert answer.out == {"port": 801, "plain": 0, "edge": [True, True, [0] * 8, 1]}


@pytest.mark.parametrize(("wanted", "told"), [(0, 0), (-1, -1), (-3, -3), (-9, -5), (4, 0)])
def test_priorities_are_cudas_and_brought_into_the_range(wanted, told, tmp_path):
    answer = run(
        f"""
context()
least, greatest, priority = c_int(9), c_int(9), c_int(9)
call("cuCtxGetStreamPriorityRange", byref(least), byref(greatest))
stream = made("cuStreamCreateWithPriority", 1, {wanted})
call("cuStreamGetPriority", stream, byref(priority))
out["range"], out["priority"] = [least.value, greatest.value], priority.value
""",
        tmp_path,
    )
    assert answer.out == {"range": [0, -5], "priority": told}
    given = [each["priority"] for each in answer.of("hipStreamCreateWithPriority")]
    assert given == ([] if told == 0 else [-1])  # HIP's greatest


def test_devices_in_structures_are_renumbered(tmp_path):
    answer = run(
        """
context()
class Access(ctypes.Structure):
    _fields_ = [("type", c_int), ("id", c_int), ("flags", c_int)]
pool = made("cuDeviceGetDefaultMemPool", 0)
out["set"] = cuda.cuMemPoolSetAccess(pool, byref(Access(1, 0, 3)), c_size_t(1))
out["wrong"] = cuda.cuMemPoolSetAccess(pool, byref(Access(1, 1, 3)), c_size_t(1))
out["pool"] = cuda.cuDeviceGetDefaultMemPool(byref(c_void_p()), 1)
""",
        tmp_path,
        FAKE_HIP_DEVICES="gfx1100,gfx942",
        HIP_VISIBLE_DEVICES="0,1",  # so that HIP does not count by the other list itself
        CUDA_VISIBLE_DEVICES="1",
    )
    assert answer.out == {"set": 0, "wrong": 101, "pool": 101}
    assert [each["device"] for each in answer.of("hipDeviceGetDefaultMemPool")] == [1]


def test_what_a_context_still_has_goes_with_it(tmp_path):
    answer = run(
        """
call("cuInit", 0)
mine = made("cuCtxCreate_v2", 0, 0)
memory(100), made("cuStreamCreate", 0)
kept = memory(200)
call("cuMemFree_v2", kept)
call("cuCtxDestroy_v2", mine)
""",
        tmp_path,
    )
    assert len(answer.of("hipMalloc")) == len(answer.of("hipFree")) == 2
    assert len(answer.of("hipStreamDestroy")) == 1
    assert not answer.faults()
