"""ONNX Runtime's CUDA provider against its CPU provider: a small convolutional network and a layer of a transformer."""

import numpy as np
import onnxruntime
from checked import check, end
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(0)


def model(nodes, shape, weights, out):
    made = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", [given], [helper.make_tensor_value_info("y", TensorProto.FLOAT, out)], made)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def run(bytes_, provider, x):
    session = onnxruntime.InferenceSession(bytes_, providers=[provider])
    assert session.get_providers()[0] == provider, session.get_providers()
    return session.run(None, {"x": x})[0]


def compare(name, nodes, shape, weights, out, bound):
    made, x = model(nodes, shape, weights, out), rng.standard_normal(shape).astype(np.float32)
    check(name, lambda: run(made, "CUDAExecutionProvider", x), run(made, "CPUExecutionProvider", x), bound)


node = helper.make_node
compare(
    "convolutions",
    [
        node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"]), node("Relu", ["n"], ["r"]),
        node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("GlobalAveragePool", ["p"], ["a"]), node("Flatten", ["a"], ["f"]),
        node("MatMul", ["f", "h"], ["l"]), node("Softmax", ["l"], ["y"]),
    ],
    [2, 3, 32, 32],
    {"w": rng.standard_normal((8, 3, 3, 3)), "s": np.ones(8), "b": np.zeros(8), "m": np.zeros(8), "v": np.ones(8), "h": rng.standard_normal((8, 10))},
    [2, 10],
    1e-4,
)  # fmt: skip
compare(
    "attention",
    [
        node("MatMul", ["x", "q"], ["1"]), node("MatMul", ["x", "k"], ["2"]), node("Transpose", ["2"], ["3"], perm=[0, 2, 1]), node("MatMul", ["1", "3"], ["4"]),
        node("Mul", ["4", "scale"], ["5"]), node("Softmax", ["5"], ["6"]), node("MatMul", ["6", "x"], ["7"]), node("Add", ["7", "x"], ["8"]),
        node("LayerNormalization", ["8", "g", "bias"], ["9"]), node("MatMul", ["9", "w"], ["a"]), node("Erf", ["a"], ["e"]), node("ReduceSum", ["e"], ["y"]),
    ],
    [2, 16, 32],
    {"q": rng.standard_normal((32, 32)) / 6, "k": rng.standard_normal((32, 32)) / 6, "scale": np.array(0.2), "g": np.ones(32), "bias": np.zeros(32), "w": rng.standard_normal((32, 32)) / 6},
    [1, 1, 1],
    1e-4,
)  # fmt: skip
end()
