"""TensorRT's interface with ONNX models: what the parser and the builder take, refuse and say. Needs ONNX and ONNX Runtime, no driver."""

import pytest

from anywarp.frameworks.tensorrt import needed

if needed.missing():
    pytest.skip("onnx or onnxruntime is not installed", allow_module_level=True)

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from anywarp.frameworks.tensorrt import interface as trt
from anywarp.frameworks.tensorrt import model as models
from anywarp.frameworks.tensorrt.computing import Tensor, compute

F = TensorProto.FLOAT


class Kept(trt.ILogger):
    """A program's own logger."""

    def __init__(self):
        super().__init__()
        self.said = []

    def log(self, severity, msg):
        self.said.append((severity.name, msg))


@pytest.fixture
def logger():
    return Kept()


def graph(nodes, inputs, outputs, weights=None, **more):
    def value(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    made = [numpy_helper.from_array(np.asarray(each), name) for name, each in (weights or {}).items()]
    body = helper.make_graph(nodes, "g", [value(*each) for each in inputs], [value(*each) for each in outputs], made)
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(name, 1) for name in more.get("domains", ()))]
    return helper.make_model(body, opset_imports=opsets, ir_version=8)


def relu(shape=("batch", 3), kind=F):
    return graph([helper.make_node("Relu", ["x"], ["y"], name="only")], [("x", kind, shape)], [("y", kind, shape)])


def parsed(model, logger):
    builder = trt.Builder(logger)
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    return builder, network, parser, parser.parse(model if isinstance(model, bytes) else model.SerializeToString())


def built(model, logger, change=lambda config: None, network_change=lambda network: None, **profile):
    builder, network, parser, fine = parsed(model, logger)
    assert fine, parser.get_error(0)
    network_change(network)
    config = builder.create_builder_config()
    if profile:
        shapes = builder.create_optimization_profile()
        for name, three in profile.items():
            shapes.set_shape(name, *three)
        config.add_optimization_profile(shapes)
    change(config)
    plan = builder.build_serialized_network(network, config)
    return plan and trt.Runtime(logger).deserialize_cuda_engine(plan)


def test_an_engine_tells_its_inputs_and_outputs_and_profiles(logger):
    engine = built(relu(), logger, x=((1, 3), (4, 3), (8, 3)))
    assert [engine.get_tensor_name(number) for number in range(engine.num_io_tensors)] == ["x", "y"] == list(engine)
    assert (
        engine.get_tensor_mode("x") is trt.TensorIOMode.INPUT and engine.get_tensor_mode("y") is trt.TensorIOMode.OUTPUT
    )
    assert engine.get_tensor_shape("y") == (-1, 3) and engine.get_tensor_dtype("x") is trt.float32
    assert engine.get_tensor_profile_shape("x", 0) == [(1, 3), (4, 3), (8, 3)]
    assert engine.get_binding_index("y") == 1 and engine[1] == "y" and engine["x"] == 0 and engine.binding_is_input(0)
    assert engine.get_tensor_mode("z") is trt.TensorIOMode.NONE and "no input or output 'z'" in logger.said[-1][1]


def test_a_context_knows_shapes_within_the_profile(logger):
    context = built(relu(), logger, x=((1, 3), (4, 3), (8, 3))).create_execution_context()
    assert context.infer_shapes() == ["x"] and context.get_tensor_shape("y") == (-1, 3)
    assert (
        context.set_input_shape("x", (8, 3)) and context.get_tensor_shape("y") == (8, 3) and not context.infer_shapes()
    )
    assert context.get_tensor_strides("y") == (3, 1) and context.get_max_output_size("y") == 96
    assert not context.set_input_shape("x", (9, 3)) and not context.set_input_shape("x", (1, 3, 1))
    assert [severity for severity, _ in logger.said] == ["ERROR", "ERROR"]


def test_shapes_follow_through_reshapes_and_large_weights(logger):
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Shape", ["m"], ["s"]), helper.make_node("Gather", ["s", "first"], ["n"]),
        helper.make_node("Concat", ["n", "rest"], ["to"], axis=0), helper.make_node("Reshape", ["m", "to"], ["y"]),
    ]  # fmt: skip
    weights = {"w": np.ones((3, 40), np.float32), "first": np.array([0]), "rest": np.array([5, 8])}
    model = graph(nodes, [("x", F, ["batch", 3])], [("y", F, None)], weights)
    assert models.Shapes(model).outputs({"x": (7, 3)}) == {"y": (7, 5, 8)}


@pytest.mark.parametrize(
    ("change", "profile", "said"),
    [
        (lambda config: None, {}, "no optimization profile"),
        (lambda config: None, {"z": ((1, 3), (1, 3), (1, 3))}, "says nothing of the input x"),
        (lambda config: None, {"x": ((1, 4), (1, 4), (1, 4))}, "which is (-1, 3)"),
        (lambda config: config.set_flag(trt.BuilderFlag.REFIT), {"x": ((1, 3),) * 3}, "BuilderFlag.REFIT"),
        (lambda config: config.set_flag(trt.BuilderFlag.INT8), {"x": ((1, 3),) * 3}, "BuilderFlag.INT8 without calibration"),
        (lambda config: setattr(config, "int8_calibrator", trt.IInt8EntropyCalibrator2()), {"x": ((1, 3),) * 3}, "calibration for INT8"),
        (lambda config: setattr(config, "default_device_type", trt.DeviceType.DLA), {"x": ((1, 3),) * 3}, "no DLA"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_none_and_said(logger, change, profile, said):
    assert built(relu(), logger, change, **profile) is None
    assert said in logger.said[-1][1] and logger.said[-1][0] == "ERROR"


def test_speed_and_allowances_change_nothing(logger):
    def change(config):
        config.set_flag(trt.BuilderFlag.FP16)
        config.max_workspace_size = 1 << 30
        config.builder_optimization_level = 5
        config.set_timing_cache(config.create_timing_cache(b""), ignore_mismatch=False)

    assert built(relu((2, 3)), logger, change) is not None and not logger.said


def test_an_input_may_be_given_a_fixed_shape(logger):
    def fix(network):
        network.get_input(0).shape = (4, 3)
        assert network.get_input(0).shape == (4, 3)

    engine = built(relu(), logger, network_change=fix)
    assert engine.get_tensor_shape("x") == (4, 3) and engine.create_execution_context().get_tensor_shape("y") == (4, 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda network: network.add_softmax(network.get_input(0)), "INetworkDefinition.add_softmax"),
        (lambda network: network.mark_output(network.get_output(0)), "INetworkDefinition.mark_output"),
        (lambda network: setattr(network.get_input(0), "dtype", trt.float16), "ITensor.dtype"),
    ],
)
def test_a_network_changed_by_hand_is_not_built(logger, change, said):
    assert built(relu((2, 3)), logger, network_change=change) is None
    assert all(said in message for _, message in logger.said) and len(logger.said) == 2


@pytest.mark.parametrize(
    ("model", "code", "said"),
    [
        (b"no model", "MODEL_DESERIALIZE_FAILED", "cannot be read"),
        (b"", "UNSUPPORTED_GRAPH", ""),
        (
            graph([helper.make_node("EfficientNMS_TRT", ["x"], ["y"], name="nms")], [("x", F, [1])], [("y", F, [1])]),
            "UNSUPPORTED_NODE", "In node 0 with name: nms and operator: EfficientNMS_TRT",
        ),
        (
            graph([helper.make_node("Own", ["x"], ["y"], domain="my.ops")], [("x", F, [1])], [("y", F, [1])], domains=["my.ops"]),
            "UNSUPPORTED_NODE", "my.ops::Own",
        ),
        (relu((2,), TensorProto.STRING), "UNSUPPORTED_GRAPH", "x has a type"),
        (graph([helper.make_node("Relu", ["absent"], ["y"])], [("x", F, [1])], [("y", F, [1])]), "INVALID_GRAPH", "absent"),
    ],
)  # fmt: skip
def test_what_cannot_be_parsed_is_false_with_an_error_that_says_where(logger, model, code, said):
    _, network, parser, fine = parsed(model, logger)
    if model == b"":  # protobuf reads it: a message without anything
        code, said = "INVALID_GRAPH", "not valid ONNX"
    assert not fine and parser.num_errors == 1 and network.num_layers == 0
    assert parser.get_error(0).code() is trt.ErrorCode[code] and said in str(parser.get_error(0))
    assert logger.said[0][1] == f"OnnxParser.parse: {parser.get_error(0)}"
    parser.clear_errors()
    assert parser.num_errors == 0 and parser.get_error(0) is None


def test_weights_in_another_file_are_found_beside_the_model_and_nowhere_else(logger, tmp_path):
    model = graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], [("x", F, [4])], [("y", F, [4])], {"w": np.ones(4, np.float32)}
    )
    path = tmp_path / "a model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights", size_threshold=0)
    network = trt.Builder(logger).create_network()
    assert trt.OnnxParser(network, logger).parse_from_file(str(path)) and network.num_inputs == 1
    assert not parsed(path.read_bytes(), logger)[3] and "lie in another file" in logger.said[-1][1]
    there = path.read_bytes().replace(b"weights", b"../etc/")
    path.write_bytes(there)
    assert not trt.OnnxParser(trt.Builder(logger).create_network(), logger).parse_from_file(str(path))
    assert not trt.OnnxParser(trt.Builder(logger).create_network(), logger).parse_from_file(str(tmp_path / "absent"))


def test_types_are_changed_where_the_interface_has_others(logger, monkeypatch):
    monkeypatch.setenv("ANYWARP_TENSORRT", "8.6.1")
    model = graph(
        [helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("Cast", ["y"], ["z"], to=TensorProto.DOUBLE)],
        [("x", TensorProto.INT64, [3])], [("y", TensorProto.INT64, [3]), ("z", TensorProto.DOUBLE, [3])],
    )  # fmt: skip
    engine = built(model, logger)
    assert [engine.get_tensor_dtype(name) for name in "xyz"] == [trt.int32, trt.int32, trt.float32]
    arrays = [np.array([1, -2, 3], np.int32), np.zeros(3, np.int32), np.zeros(3, np.float32)]
    tensors = [Tensor(port, (3,), array.ctypes.data) for port, array in zip(engine.ports, arrays)]
    compute(engine.session, tensors)
    assert arrays[1].tolist() == [2, -4, 6] == arrays[2].tolist()


def test_an_engine_with_weights_elsewhere_is_refused(logger):
    from anywarp.frameworks.tensorrt import plan

    model = graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], [("x", F, [4])], [("y", F, [4])], {"w": np.ones(4, np.float32)}
    )
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    data = plan.dump(plan.Plan(model.SerializeToString()))
    assert trt.Runtime(logger).deserialize_cuda_engine(data) is None and "lie in another file" in logger.said[-1][1]


def test_refitting_and_plugins_are_refused(logger):
    engine = built(relu((2, 3)), logger)
    assert (
        not engine.refittable
        and not trt.init_libnvinfer_plugins(logger, "")
        and not trt.get_plugin_registry().plugin_creator_list
    )
    with pytest.raises(TypeError, match="not refittable"):
        trt.Refitter(engine, logger)
