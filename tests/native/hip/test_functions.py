"""Functions of libcuda that are written by hand over HIP: their effects, seen through the fake runtime, which executes copies."""

import pytest

from anywarp.catalogue import generate_hip
from native.hip.rig import run
from native.hip.test_forwarding import DATA
from native.hip.test_launching import PREPARE

pytestmark = pytest.mark.native

COPY = """
context()
class Copy2D(ctypes.Structure):
    _fields_ = [(n, t) for side in ("src", "dst") for n, t in (
        (side + "X", c_size_t), (side + "Y", c_size_t), (side + "Type", c_uint), (side + "Host", c_void_p),
        (side + "Device", c_uint64), (side + "Array", c_void_p), (side + "Pitch", c_size_t))] + [("width", c_size_t), ("height", c_size_t)]
class Copy3D(ctypes.Structure):
    _fields_ = [(n, t) for side in ("src", "dst") for n, t in (
        (side + "X", c_size_t), (side + "Y", c_size_t), (side + "Z", c_size_t), (side + "LOD", c_size_t), (side + "Type", c_uint),
        (side + "Host", c_void_p), (side + "Device", c_uint64), (side + "Array", c_void_p), (side + "Context", c_void_p),
        (side + "Pitch", c_size_t), (side + "Height", c_size_t))] + [("width", c_size_t), ("height", c_size_t), ("depth", c_size_t)]
def download(address, size):
    room = create_string_buffer(size)
    call("cuMemcpyDtoH_v2", room, address, c_size_t(size))
    return room.raw
"""


def test_no_function_falls_over_nothing(tmp_path):
    answers = generate_hip.load_answers(DATA / "rocm" / "cuda_hip.tsv")
    names = [answer.name for answer in answers.values() if answer.route != "absent"]
    answer = run(
        f"""
import signal
out["codes"] = {{}}
for name in {names!r}:
    child = os.fork()
    if not child:
        signal.alarm(10)
        context()
        os._exit(1 if getattr(cuda, name)(*[c_void_p(0)] * 14) else 0)
    out["codes"][name] = os.waitpid(child, 0)[1]
""",
        tmp_path,
    )
    assert len(answer.out["codes"]) > 450
    assert {name: status for name, status in answer.out["codes"].items() if status not in (0, 256)} == {}
    assert answer.out["codes"]["cuCtxSynchronize"] == 0
    assert answer.out["codes"]["cuMemAlloc_v2"] == 256


def test_rectangles_and_boxes_are_copied_where_they_say(tmp_path):
    answer = run(
        f"""{COPY}
source = bytes(i * 7 % 256 for i in range(16 * 9))
data = memory(4096)
call("cuMemsetD8_v2", data, c_ubyte(0xEE), c_size_t(4096))
host = create_string_buffer(source)
part = Copy2D(srcX=3, srcY=2, srcType=1, srcHost=ctypes.addressof(host), srcPitch=16,
              dstX=5, dstY=1, dstType=2, dstDevice=data, dstPitch=32, width=10, height=6)
call("cuMemcpy2D_v2", byref(part))
out["plane"] = download(data, 32 * 8).hex()
call("cuMemsetD8_v2", data, c_ubyte(0), c_size_t(4096))
box = Copy3D(srcX=1, srcY=1, srcZ=1, srcType=1, srcHost=ctypes.addressof(host), srcPitch=8, srcHeight=6,
             dstX=2, dstY=1, dstZ=2, dstType=2, dstDevice=data, dstPitch=16, dstHeight=5, width=5, height=3, depth=2)
call("cuMemcpy3D_v2", byref(box))
out["box"] = download(data, 16 * 5 * 5).hex()
""",
        tmp_path,
    )
    source = bytes(i * 7 % 256 for i in range(16 * 9))
    plane = bytearray(b"\xee" * 256)
    for y in range(6):
        plane[(y + 1) * 32 + 5 : (y + 1) * 32 + 15] = source[(y + 2) * 16 + 3 : (y + 2) * 16 + 13]
    assert bytes.fromhex(answer.out["plane"]) == plane
    box = bytearray(400)
    for z in range(2):
        for y in range(3):
            to, start = ((z + 2) * 5 + y + 1) * 16 + 2, ((z + 1) * 6 + y + 1) * 8 + 1
            box[to : to + 5] = source[start : start + 5]
    assert bytes.fromhex(answer.out["box"]) == box
    assert not answer.faults()


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("cuMemsetD8_v2", "c_ubyte(0xA1)", b"\xa1" * 12),
        ("cuMemsetD16_v2", "ctypes.c_ushort(0xB2C3)", b"\xc3\xb2" * 6),
        ("cuMemsetD32_v2", "c_uint(0xD4E5F607)", b"\x07\xf6\xe5\xd4" * 3),
    ],
)
def test_memory_is_filled_with_elements(name, value, wanted, tmp_path):
    answer = run(
        f"""{COPY}
data = memory(64)
call("cuMemsetD8_v2", data, c_ubyte(0), c_size_t(64))
call({name!r}, data, {value}, c_size_t({12 // (int(name.split("_")[0][9:]) // 8)}))
out["data"] = download(data, 16).hex()
""",
        tmp_path,
    )
    assert bytes.fromhex(answer.out["data"]) == wanted + bytes(4)


def test_pageable_memory_is_read_and_written_within_the_call(tmp_path):
    answer = run(
        f"""{COPY}
stream, data = made("cuStreamCreate", 1), memory(8)
host = create_string_buffer(b"first..")
call("cuMemcpyHtoDAsync_v2", data, host, c_size_t(8), stream)
host.value = b"later.."
call("cuStreamSynchronize", stream)
out["kept"] = download(data, 8).decode().rstrip(chr(0))
""",
        tmp_path,
    )
    assert answer.out["kept"] == "first.."


def test_an_event_holds_up_another_stream(tmp_path):
    answer = run(
        f"""{COPY}
one, two = made("cuStreamCreate", 1), made("cuStreamCreate", 1)
data, event = memory(4), made("cuEventCreate", 2)
host = c_void_p()
call("cuMemAllocHost_v2", byref(host), c_size_t(4))
call("cuMemsetD32Async", data, c_uint(7), c_size_t(1), one)
call("cuEventRecord", event, one)
call("cuStreamWaitEvent", two, event, 0)
call("cuMemcpyDtoHAsync_v2", host, data, c_size_t(4), two)
out["early"] = [cuda.cuEventQuery(event)]
call("cuStreamSynchronize", two)
out["late"] = [cuda.cuEventQuery(event), ctypes.string_at(host, 4).hex()]
""",
        tmp_path,
        FAKE_HIP_LATE_MS="10000",
    )
    assert answer.out == {"early": [600], "late": [0, "07000000"]}


def test_pools_count_and_reuse_in_stream_order(tmp_path):
    answer = run(
        """
context()
pool, stream = made("cuDeviceGetDefaultMemPool", 0), made("cuStreamCreate", 1)
def used():
    value = c_uint64()
    call("cuMemPoolGetAttribute", pool, 7, byref(value))
    return value.value
place = made("cuMemAllocAsync", c_size_t(5000), stream, kind=c_uint64)
out["used"] = [used()]
call("cuMemsetD8Async", place, c_ubyte(1), c_size_t(5000), stream)
call("cuMemFreeAsync", place, stream)
call("cuStreamSynchronize", stream)
out["used"].append(used())
""",
        tmp_path,
    )
    assert answer.out["used"][0] >= 5000
    assert answer.out["used"][1] == 0
    assert not answer.faults()


def test_a_thread_has_the_device_of_its_context(tmp_path):
    answer = run(
        """
first, second = context(0), context(1)
places = {}
def work(name, mine):
    call("cuCtxSetCurrent", mine)
    places[name] = memory(64)
    for _ in range(20):
        call("cuMemsetD8Async", places[name], c_ubyte(1), c_size_t(64), None)
    call("cuCtxSynchronize")
threads = [threading.Thread(target=work, args=pair) for pair in (("a", first), ("b", second))]
[t.start() for t in threads], [t.join() for t in threads]
def device_of(address):
    number = c_int()
    call("cuPointerGetAttribute", byref(number), 9, address)
    return number.value
out["devices"] = [device_of(places["a"]), device_of(places["b"])]
""",
        tmp_path,
        FAKE_HIP_DEVICES="gfx942,gfx1100",
    )
    assert answer.out["devices"] == [0, 1]
    assert not answer.faults()


def test_a_captured_graph_is_launched_with_its_edges(tmp_path, same_compiler):
    answer = run(
        f"""{PREPARE}
stream, graph = made("cuStreamCreate", 1), c_void_p()
host = c_void_p()
call("cuMemAllocHost_v2", byref(host), c_size_t(64))
call("cuStreamBeginCapture_v2", stream, 0)
call("cuMemsetD32Async", data, c_uint(9), c_size_t(16), stream)
out["launch"] = launch((3, 1, 1), (64, 1, 1), stream=stream)
call("cuMemcpyDtoHAsync_v2", host, data, c_size_t(64), stream)
call("cuStreamEndCapture", stream, byref(graph))
nodes, edges = c_size_t(), c_size_t()
call("cuGraphGetNodes", graph, None, byref(nodes))
call("cuGraphGetEdges", graph, None, None, byref(edges))
out["form"] = [nodes.value, edges.value]
executable = made("cuGraphInstantiateWithFlags", graph, c_uint64(0))
for _ in range(2):
    ctypes.memset(host, 0, 64)
    call("cuGraphLaunch", executable, stream)
    call("cuStreamSynchronize", stream)
    out.setdefault("seen", []).append(ctypes.string_at(host, 4).hex())
call("cuGraphExecDestroy", executable)
call("cuGraphDestroy", graph)
""",
        tmp_path,
    )
    assert answer.out == {"launch": 0, "form": [3, 2], "seen": ["09000000"] * 2}
    assert [each["grid"] for each in answer.launches()] == [[3, 1, 1]] * 2
    assert not answer.faults()


def test_cooperative_launches_and_copies_between_devices_are_captured(tmp_path, same_compiler):
    """HIP 6.0 runs both at once on a stream that is being captured, and so does the fake."""
    answer = run(
        f"""{PREPARE}
stream, graph = made("cuStreamCreate", 1), c_void_p()
other = made("cuDevicePrimaryCtxRetain", 1)
context()
far, far_values = memory(64), (c_uint * 16)(*range(16))
call("cuMemcpyHtoD_v2", far, far_values, c_size_t(64))
count, flag = c_uint(1000), ctypes.c_uint8(1)
pointers = (c_void_p * 3)(*[ctypes.addressof(v) for v in (data, count, flag)])
def cooperative(blocks):
    return cuda.cuLaunchCooperativeKernel(kernel, *map(c_uint, (blocks, 1, 1, 64, 1, 1, 0)), stream, pointers)
call("cuStreamBeginCapture_v2", stream, 0)
out["launch"] = cooperative(4)
call("cuMemcpyPeerAsync", data, other, far, other, c_size_t(64), stream)
out["large"] = cooperative(1000000)
call("cuStreamEndCapture", stream, byref(graph))
seen = (c_uint * 16)()
call("cuMemcpyDtoH_v2", seen, data, c_size_t(64))
out["untouched"] = list(seen) != list(range(16))
nodes, edges = c_size_t(), c_size_t()
call("cuGraphGetNodes", graph, None, byref(nodes))
call("cuGraphGetEdges", graph, None, None, byref(edges))
out["form"] = [nodes.value, edges.value]
handles, kinds, kind, value = (c_void_p * 3)(), [], c_int(), (c_ubyte * 64)()
call("cuGraphGetNodes", graph, handles, byref(nodes))
for handle in handles:
    call("cuGraphNodeGetType", c_void_p(handle), byref(kind))
    kinds.append(kind.value)
    if kind.value == 0:
        call("cuGraphKernelNodeGetAttribute", c_void_p(handle), 2, value)
        out["cooperative"] = value[0]
out["kinds"] = sorted(kinds)
executable = made("cuGraphInstantiateWithFlags", graph, c_uint64(0))
for _ in range(2):
    call("cuGraphLaunch", executable, stream)
    call("cuStreamSynchronize", stream)
call("cuMemcpyDtoH_v2", seen, data, c_size_t(64))
out["copied"] = list(seen) == list(range(16))
call("cuGraphExecDestroy", executable)
call("cuGraphDestroy", graph)
""",
        tmp_path,
        FAKE_HIP_DEVICES="gfx942,gfx942",
    )
    out = answer.out
    assert out["launch"] == 0 and out["large"] == 720  # CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    assert out["untouched"] and out["copied"]
    assert out["form"] == [3, 2] and out["kinds"] == [0, 1, 2] and out["cooperative"] == 1
    assert [each["grid"] for each in answer.launches()] == [[4, 1, 1]] * 2
    assert not answer.faults()


REFUSED = """
stream, inner = made("cuStreamCreate", 1), made("cuGraphCreate", 0)
executable = made("cuGraphInstantiateWithFlags", inner, c_uint64(0))
callback = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p)(lambda *_: None)
REFUSED = [
    lambda at: cuda.cuGraphLaunch(executable, at),
    lambda at: cuda.cuStreamAddCallback(at, callback, None, 0),
    lambda at: cuda.cuStreamWaitValue32_v2(at, data, c_uint(1), 1),
    lambda at: cuda.cuStreamWriteValue32_v2(at, data, c_uint(1), 0),
    lambda at: cuda.cuStreamWriteValue64_v2(at, data, c_uint64(1), 0),
    lambda at: cuda.cuMemPrefetchAsync(data, c_size_t(64), -1, at),
    lambda at: cuda.cuStreamSynchronize(at),
    lambda at: cuda.cuStreamQuery(at),
]

def state(at):
    status, again, graph = c_int(), c_int(), c_void_p()
    call("cuStreamIsCapturing", at, byref(status))
    call("cuStreamGetCaptureInfo_v2", at, byref(again), None, byref(graph), None, None)
    return [status.value, again.value]

def fill(at):
    return cuda.cuMemsetD32Async(data, c_uint(9), c_size_t(16), at)
"""


@pytest.mark.parametrize("mode", [0, 1, 2], ids=["global", "thread local", "relaxed"])
def test_what_hip_does_not_capture_is_refused_by_name_and_breaks_the_capture(tmp_path, same_compiler, mode):
    """CUDA programming guide, prohibited and unhandled operations: the capture is invalidated, and further use of it fails."""
    answer = run(
        f"""{PREPARE}{REFUSED}
for refused in REFUSED:
    graph = c_void_p(1)
    call("cuStreamBeginCapture_v2", stream, {mode})
    out.setdefault("codes", []).append([
        fill(stream), refused(stream), state(stream), fill(stream), refused(stream), launch((1, 1, 1), (64, 1, 1), stream=stream),
        cuda.cuStreamBeginCapture_v2(stream, 0), cuda.cuStreamEndCapture(stream, byref(graph)), graph.value,
        state(stream), fill(stream), cuda.cuStreamSynchronize(stream),
    ])
call("cuStreamBeginCapture_v2", stream, {mode})
fill(stream)
call("cuStreamEndCapture", stream, byref(graph))
nodes = c_size_t()
call("cuGraphGetNodes", graph, None, byref(nodes))
out["nodes"] = nodes.value
""",
        tmp_path,
    )
    assert answer.out["codes"] == [[0, 900, [2, 2], 901, 901, 901, 901, 901, None, [0, 0], 0, 0]] * 8
    assert answer.out["nodes"] == 1
    for name in (
        "cuGraphLaunch",
        "cuStreamAddCallback",
        "cuStreamWaitValue32",
        "cuStreamWriteValue64_v2",
        "cuMemPrefetchAsync",
    ):
        assert f"error[N013]: {name} cannot be captured" in answer.errors
    assert not answer.faults()


def test_a_call_on_a_stream_that_joined_breaks_the_capture_of_all(tmp_path, same_compiler):
    answer = run(
        f"""{PREPARE}{REFUSED}
other, joins, back, graph = made("cuStreamCreate", 1), made("cuEventCreate", 0), made("cuEventCreate", 0), c_void_p(1)
call("cuStreamBeginCapture_v2", stream, 2)
call("cuEventRecord", joins, stream)
call("cuStreamWaitEvent", other, joins, 0)
out["refused"] = [REFUSED[0](other), fill(stream), state(stream), state(other)]
out["ended"] = [cuda.cuStreamEndCapture(other, byref(graph)), cuda.cuStreamEndCapture(stream, byref(graph)), graph.value]
out["after"] = [state(stream), state(other), fill(stream), fill(other), cuda.cuStreamSynchronize(stream)]
""",
        tmp_path,
    )
    assert answer.out == {
        "refused": [900, 901, [2, 2], [2, 2]],
        "ended": [903, 901, None],  # CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
        "after": [[0, 0], [0, 0], 0, 0, 0],
    }
    assert not answer.faults()


def test_a_stream_whose_capture_hip_broke_works_again(tmp_path, same_compiler):
    answer = run(
        f"""{PREPARE}{REFUSED}
graph = c_void_p(1)
call("cuStreamBeginCapture_v2", stream, 0)
out["broken"] = [cuda.cuMemAlloc_v2(byref(c_uint64()), c_size_t(64)), state(stream), fill(stream)]
out["ended"] = [cuda.cuStreamEndCapture(stream, byref(graph)), graph.value]
out["after"] = [state(stream), fill(stream), cuda.cuStreamSynchronize(stream)]
""",
        tmp_path,
    )
    assert answer.out == {"broken": [900, [2, 2], 901], "ended": [901, None], "after": [[0, 0], 0, 0]}
    assert not answer.faults()


def test_streams_of_a_capture_that_was_not_joined_work_again(tmp_path, same_compiler):
    """cuStreamEndCapture: a stream that did not come back fails the capture, which ends all the same; HIP leaves it open."""
    answer = run(
        f"""{PREPARE}{REFUSED}
other, event, graph = made("cuStreamCreate", 1), made("cuEventCreate", 2), c_void_p(1)
call("cuStreamBeginCapture_v2", stream, 0)
out["forked"] = [
    fill(stream), cuda.cuEventRecord(event, stream), cuda.cuStreamWaitEvent(other, event, 0), fill(other), state(other),
]
out["ended"] = [cuda.cuStreamEndCapture(stream, byref(graph)), graph.value]
out["after"] = [[state(at), fill(at), cuda.cuStreamSynchronize(at)] for at in (stream, other)]
""",
        tmp_path,
    )
    assert answer.out == {
        "forked": [0, 0, 0, 0, [1, 1]],
        "ended": [904, None],
        "after": [[[0, 0], 0, 0]] * 2,
    }
    assert not answer.faults()


def test_a_graph_of_the_programs_outlives_a_capture_into_it(tmp_path, same_compiler):
    answer = run(
        f"""{PREPARE}{REFUSED}
graph, nodes = c_void_p(1), c_size_t()
call("cuStreamBeginCaptureToGraph", stream, inner, None, None, c_size_t(0), 2)
out["codes"] = [fill(stream), REFUSED[0](stream), cuda.cuStreamEndCapture(stream, byref(graph)), graph.value]
out["kept"] = cuda.cuGraphGetNodes(inner, None, byref(nodes))
""",
        tmp_path,
    )
    assert answer.out == {"codes": [0, 900, 901, None], "kept": 0}


@pytest.mark.parametrize("version", ["12", "13"])
def test_the_runtime_library_works_over_it(version, tmp_path):
    answer = run(
        f"""
cudart = ctypes.CDLL("libcudart.so.{version}")
def rt(name, *arguments):
    code = getattr(cudart, name)(*arguments)
    assert code == 0, (name, code)
place, stream, event = c_void_p(), c_void_p(), c_void_p()
rt("cudaMalloc", byref(place), c_size_t(64))
rt("cudaStreamCreateWithFlags", byref(stream), 1)
rt("cudaEventCreate", byref(event))
rt("cudaMemsetAsync", place, 0x5A, c_size_t(64), stream)
rt("cudaEventRecord", event, stream)
rt("cudaEventSynchronize", event)
room = create_string_buffer(64)
rt("cudaMemcpy", room, place, c_size_t(64), 2)
out["data"] = room.raw.hex()
out["wrong"] = [cudart.cudaMemcpy(room, place, c_size_t(65), 2), cudart.cudaGetLastError(), cudart.cudaGetLastError()]
number = c_int()
rt("cudaDeviceGetAttribute", byref(number), 10, 0)
out["warp"] = number.value
rt("cudaFree", place)
rt("cudaDeviceReset")
""",
        tmp_path,
    )
    assert answer.out["data"] == "5a" * 64
    assert answer.out["wrong"] == [1, 1, 0]
    assert answer.out["warp"] == 32
    assert not answer.faults()


def test_what_is_destroyed_is_destroyed_in_hip(tmp_path, same_compiler):
    answer = run(
        f"""{PREPARE}
stream, event = made("cuStreamCreate", 1), made("cuEventCreate", 0)
launch((1, 1, 1), (32, 1, 1), stream=stream)
call("cuEventRecord", event, stream)
graph = made("cuGraphCreate", 0)
call("cuGraphDestroy", graph)
call("cuStreamDestroy_v2", stream)
call("cuEventDestroy_v2", event)
call("cuModuleUnload", module)
call("cuMemFree_v2", data)
""",
        tmp_path,
        FAKE_HIP_LEAKS="1",
    )
    assert not answer.faults()
    leaks = [each["leak"].split()[0] for each in answer.records if "leak" in each]
    assert not {"event", "module", "graph"} & set(leaks)
    assert leaks.count("stream") <= 2  # the driver's own: for what kernels print, for the variables of modules
    assert [each for each in answer.records if "leaked_bytes" in each]
