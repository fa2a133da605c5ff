"""TensorRT's Python interface as published programs use it: networks against numpy in float64 and against ONNX Runtime called directly."""

import ctypes
import os
import time

import numpy as np
import onnxruntime
import tensorrt as trt
import torch
from checked import check, end
from cuda.bindings import runtime as cudart
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(0)
node, F = helper.make_node, TensorProto.FLOAT


class Messages(trt.ILogger):
    def __init__(self):
        trt.ILogger.__init__(self)
        self.errors = []

    def log(self, severity, msg):
        if int(severity) <= int(trt.ILogger.ERROR):
            self.errors.append(msg)


logger = Messages()


def model(nodes, inputs, outputs, weights, opset=17):
    made = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()]
    given = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
    gives = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in outputs]
    graph = helper.make_graph(nodes, "g", given, gives, made)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


def engine_of(data, **profiles):
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    parser = trt.OnnxParser(network, logger)
    if not parser.parse(data):
        raise ValueError([str(parser.get_error(number)) for number in range(parser.num_errors)])
    config = builder.create_builder_config()
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)
    if builder.platform_has_fast_fp16:
        config.set_flag(trt.BuilderFlag.FP16)
    if profiles:
        profile = builder.create_optimization_profile()
        for name, shapes in profiles.items():
            profile.set_shape(name, *shapes)
        config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(network, config)
    with trt.Runtime(logger) as runtime:
        return runtime.deserialize_cuda_engine(plan)


def ok(result):
    assert result[0] == cudart.cudaError_t.cudaSuccess, result
    return result[1] if len(result) == 2 else result[1:]


def infer(engine, given, prepare=None):
    """Copy in, execute and copy out on one stream, with buffers of cudart's, as in common_runtime.py of many projects."""
    context = engine.create_execution_context()
    stream = ok(cudart.cudaStreamCreate())
    names = [engine.get_tensor_name(number) for number in range(engine.num_io_tensors)]
    for name in (name for name in names if engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT):
        assert context.set_input_shape(name, given[name].shape), logger.errors
    assert context.infer_shapes() == []
    host, device = {}, {}
    if prepare:
        prepare(stream)
    for name in names:
        kind = np.dtype(trt.nptype(engine.get_tensor_dtype(name)))
        shape = tuple(context.get_tensor_shape(name))
        device[name] = ok(cudart.cudaMalloc(max(1, trt.volume(shape) * kind.itemsize)))
        if name in given:
            host[name] = np.ascontiguousarray(given[name], kind)
            to = cudart.cudaMemcpyKind.cudaMemcpyHostToDevice
            ok(cudart.cudaMemcpyAsync(device[name], host[name].ctypes.data, host[name].nbytes, to, stream))
        else:
            host[name] = np.empty(shape, kind)
        assert context.set_tensor_address(name, device[name])
    assert context.execute_async_v3(stream_handle=int(stream)), logger.errors
    for name in names:
        if name not in given:
            back = cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost
            ok(cudart.cudaMemcpyAsync(host[name].ctypes.data, device[name], host[name].nbytes, back, stream))
    ok(cudart.cudaStreamSynchronize(stream))
    for address in device.values():
        ok(cudart.cudaFree(address))
    return {name: host[name] for name in names if name not in given}


def direct(data, given):
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    return session.run(None, given)


# A residual network: against numpy in float64, then a larger one against ONNX Runtime.


def convolve(x, w, pad):
    x = np.pad(np.float64(x), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, np.float64(w))


def residual(channels, size, blocks, classes=5):
    weights = {"first": rng.standard_normal((channels, 3, 3, 3)) / 5, "head": rng.standard_normal((channels, classes))}
    nodes = [node("Conv", ["x", "first"], ["b0"], pads=[1] * 4)]
    for number in range(blocks):
        weights |= {
            f"{part}{number}": rng.standard_normal((channels, channels, 3, 3)) / (3 * channels**0.5) for part in "uv"
        }
        nodes += [
            node("Conv", [f"b{number}", f"u{number}"], [f"c{number}"], pads=[1] * 4), node("Relu", [f"c{number}"], [f"r{number}"]),
            node("Conv", [f"r{number}", f"v{number}"], [f"d{number}"], pads=[1] * 4), node("Add", [f"d{number}", f"b{number}"], [f"b{number + 1}"]),
        ]  # fmt: skip
    nodes += [
        node("GlobalAveragePool", [f"b{blocks}"], ["p"]),
        node("Flatten", ["p"], ["f"]),
        node("MatMul", ["f", "head"], ["y"]),
    ]
    weights = {name: np.float32(value) for name, value in weights.items()}
    shapes = [("x", F, ["batch", 3, size, size])], [("y", F, ["batch", classes])]
    return model(nodes, *shapes, weights), weights


def residual_exactly(x, weights, blocks):
    b = convolve(x, weights["first"], 1)
    for number in range(blocks):
        b = b + convolve(np.maximum(convolve(b, weights[f"u{number}"], 1), 0), weights[f"v{number}"], 1)
    return b.mean((2, 3)) @ np.float64(weights["head"])


small, weights = residual(4, 8, 2)
engine = engine_of(small, x=((1, 3, 8, 8), (2, 3, 8, 8), (4, 3, 8, 8)))
for batch in (1, 2, 4):
    x = np.float32(rng.standard_normal((batch, 3, 8, 8)))
    # sums of up to 3 * 3 * 4 products, seven one after another: 2^-24 * 36 * 7
    check(
        f"residual network, batch {batch}",
        lambda x=x: infer(engine, {"x": x})["y"],
        residual_exactly(x, weights, 2),
        2e-5,
    )
large, _ = residual(32, 32, 6, 100)
x = np.float32(rng.standard_normal((3, 3, 32, 32)))
at = engine_of(large, x=((1, 3, 32, 32), (1, 3, 32, 32), (8, 3, 32, 32)))
check("larger one", lambda: infer(at, {"x": x})["y"], direct(large, {"x": x})[0], 1e-6)

# A block of a transformer with varying batch and length, int64 tokens.

width, heads, words = 16, 2, 30
w = {name: np.float32(rng.standard_normal((width, width)) / 4) for name in "qkvo"}
w |= {"table": np.float32(rng.standard_normal((words, width))), "scale": np.float32((width // heads) ** -0.5), "gain": np.float32(rng.standard_normal(width)), "bias": np.zeros(width, np.float32)}  # fmt: skip
w |= {"split": np.array([0, 0, heads, width // heads], np.int64), "join": np.array([0, 0, width], np.int64)}
nodes = [node("Gather", ["table", "tokens"], ["x"])]
for name in "qkv":
    nodes += [node("MatMul", ["x", name], [name + "1"]), node("Reshape", [name + "1", "split"], [name + "2"])]
    nodes += [node("Transpose", [name + "2"], [name + "3"], perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])]
nodes += [
    node("MatMul", ["q3", "k3"], ["s"]), node("Mul", ["s", "scale"], ["t"]), node("Softmax", ["t"], ["p"]), node("MatMul", ["p", "v3"], ["a"]),
    node("Transpose", ["a"], ["b"], perm=[0, 2, 1, 3]), node("Reshape", ["b", "join"], ["c"]), node("MatMul", ["c", "o"], ["d"]),
    node("Add", ["d", "x"], ["e"]), node("LayerNormalization", ["e", "gain", "bias"], ["y"]),
]  # fmt: skip
block = model(nodes, [("tokens", TensorProto.INT64, ["n", "length"])], [("y", F, ["n", "length", width])], w)


def block_exactly(tokens):
    v = {name: np.float64(value) for name, value in w.items()}
    x = v["table"][tokens]
    q, k, u = (np.moveaxis((x @ v[name]).reshape(*tokens.shape, heads, -1), 2, 1) for name in "qkv")
    s = q @ np.swapaxes(k, 2, 3) * v["scale"]
    p = np.exp(s - s.max(-1, keepdims=True))
    e = np.moveaxis(p / p.sum(-1, keepdims=True) @ u, 1, 2).reshape(*tokens.shape, width) @ v["o"] + x
    return (e - e.mean(-1, keepdims=True)) / np.sqrt(e.var(-1, keepdims=True) + 1e-5) * v["gain"]


transformer = engine_of(block, tokens=((1, 1), (2, 8), (4, 32)))
for shape in ((1, 1), (3, 17), (4, 32)):
    tokens = rng.integers(0, words, shape)
    check(f"transformer, {shape}", lambda t=tokens: infer(transformer, {"tokens": t})["y"], block_exactly(tokens), 1e-5)

# The order of a stream: a function of the host that takes its time writes what is read.

source = ok(cudart.cudaMalloc(4 * 3 * 8 * 8))
wanted = np.float32(rng.standard_normal((1, 3, 8, 8)))


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def write(_):
    time.sleep(0.3)
    ctypes.memmove(source, wanted.ctypes.data, wanted.nbytes)


def behind_a_busy_stream(captured=False):
    context = engine.create_execution_context()
    context.set_input_shape("x", wanted.shape)
    y = torch.zeros(1, 5, device="cuda")
    context.set_tensor_address("x", source)
    context.set_tensor_address("y", y.data_ptr())
    stream = ok(cudart.cudaStreamCreate())
    if captured:
        ok(cudart.cudaStreamBeginCapture(stream, cudart.cudaStreamCaptureMode.cudaStreamCaptureModeRelaxed))
    else:
        ok(cudart.cudaLaunchHostFunc(stream, cudart.cudaHostFn_t(ctypes.cast(write, ctypes.c_void_p).value), 0))
    assert context.execute_async_v3(int(stream)), logger.errors
    if captured:
        graph = ok(cudart.cudaStreamEndCapture(stream))
        assert not y.any()
        ok(cudart.cudaGraphLaunch(ok(cudart.cudaGraphInstantiate(graph, 0)), stream))
    ok(cudart.cudaStreamSynchronize(stream))
    return y.cpu()


check("behind a busy stream", behind_a_busy_stream, residual_exactly(wanted, weights, 2), 2e-5)
check("captured and launched", lambda: behind_a_busy_stream(True), residual_exactly(wanted, weights, 2), 2e-5)


def with_torch():
    given = torch.from_numpy(wanted).cuda()
    stream = torch.cuda.Stream()
    context = engine.create_execution_context()
    with torch.cuda.stream(stream):
        twice = given * 2
        assert context.set_input_shape("x", tuple(twice.shape))
        y = torch.empty(tuple(context.get_tensor_shape("y")), device="cuda")
        context.set_tensor_address("x", twice.data_ptr())
        context.set_tensor_address("y", y.data_ptr())
        assert context.execute_async_v3(stream.cuda_stream)
        y = y + 1
    stream.synchronize()
    return y.cpu()


check("between operators of torch", with_torch, residual_exactly(wanted * 2, weights, 2) + 1, 2e-5)


# The interface up to TensorRT 9.


def by_number():
    given = torch.from_numpy(np.repeat(wanted, 2, 0)).cuda()
    context = engine.create_execution_context()
    bindings = [0] * engine.num_bindings
    for name in engine:
        number = engine.get_binding_index(name)
        if engine.binding_is_input(name):
            assert context.set_binding_shape(number, tuple(given.shape))
            bindings[number] = given.data_ptr()
        else:
            y = torch.empty(tuple(context.get_binding_shape(number)), device="cuda")
            bindings[number] = y.data_ptr()
    assert context.all_binding_shapes_specified
    assert context.execute_async_v2(bindings=bindings, stream_handle=torch.cuda.current_stream().cuda_stream)
    torch.cuda.synchronize()
    first = y.cpu().clone()
    y.zero_()
    assert context.execute_v2(bindings)
    assert torch.equal(first, y.cpu())
    return first


check("by number", by_number, residual_exactly(np.repeat(wanted, 2, 0), weights, 2), 2e-5)


# An output whose size follows from values, and types that change at the interface.


class Allocator(trt.IOutputAllocator):
    def __init__(self):
        trt.IOutputAllocator.__init__(self)
        self.memory = self.shape = None

    def reallocate_output(self, name, memory, size, alignment):
        self.memory = torch.empty(size, dtype=torch.uint8, device="cuda")
        return self.memory.data_ptr()

    def notify_shape(self, name, shape):
        self.shape = tuple(shape)


def where():
    data = model([node("NonZero", ["x"], ["y"])], [("x", F, [3, 4])], [("y", TensorProto.INT64, [2, "found"])], {})
    engine, allocator = engine_of(data), Allocator()
    context = engine.create_execution_context()
    assert tuple(context.get_tensor_shape("y")) == (2, -1)
    x = torch.tensor([[0.0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 0]], device="cuda")
    context.set_tensor_address("x", x.data_ptr())
    assert context.set_output_allocator("y", allocator)
    assert context.execute_async_v3(0), logger.errors
    torch.cuda.synchronize()
    return allocator.memory.view(torch.int64).view(allocator.shape).cpu()


check("sizes that follow from values", where, [[0, 0, 2], [1, 3, 0]], 0)
doubles = model(
    [node("Cast", ["x"], ["d"], to=TensorProto.DOUBLE), node("Mul", ["d", "d"], ["y"])],
    [("x", F, [4])], [("y", TensorProto.DOUBLE, [4])], {},
)  # fmt: skip
check(
    "float64 comes out as float32",
    lambda: infer(engine_of(doubles), {"x": np.float32([1, 2, 3, 0.5])})["y"],
    [1, 4, 9, 0.25],
    0,
)


# What is missing or wrong is said.


def refused(*words):
    found = [message for message in logger.errors if all(word in message for word in words)]
    logger.errors.clear()
    return [len(found)]


def unset():
    context = engine.create_execution_context()
    assert not context.execute_async_v3(0)
    return refused("execute_async_v3", "the shape of the input x was not set")


def too_small():
    context = engine.create_execution_context()
    context.set_input_shape("x", (4, 3, 8, 8))
    short = ok(cudart.cudaMalloc(64))
    for name in engine:
        context.set_tensor_address(name, short)
    assert not context.execute_async_v3(0)
    return refused("64 bytes of memory lie at the address of x")


def cut_off():
    data = bytes(engine.serialize())
    for broken in (b"", data[:40], data[:-1], data[:-1] + b"?", b"ptrt" + bytes(200), os.urandom(500)):
        assert trt.Runtime(logger).deserialize_cuda_engine(broken) is None
    return refused("deserialize_cuda_engine")


check("a shape that was not set", unset, [1], 0)
check("memory that is too small", too_small, [1], 0)
check("engines that are none", cut_off, [6], 0)


def fault():
    """Read beyond a table: an error of the context, after which nothing else runs."""
    data = model(
        [node("Gather", ["table", "x"], ["y"])],
        [("x", TensorProto.INT64, [1])],
        [("y", F, [1])],
        {"table": np.float32([1, 2])},
    )
    context = engine_of(data).create_execution_context()
    x, y = (ok(cudart.cudaMalloc(8)) for _ in "xy")
    ok(cudart.cudaMemset(x, 1, 8))
    context.set_tensor_address("x", x)
    context.set_tensor_address("y", y)
    context.execute_async_v3(0)
    return [int(cudart.cudaDeviceSynchronize()[0])]


check("a fault", fault, [719], 0)
end()
