"""Graphs of cuDNN's backend interface, built as torch and ONNX Runtime build them, become calls of MIOpen with the right operands."""

import pytest

from anywarp import settings
from anywarp.catalogue.rocm import DATA
from fakes.rocm import miopen
from native.rocm_program import run
from native.test_rocm_cudnn import OPEN

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(
        not (settings.LIBRARY_DIR.get() / "hip" / "libcudnn.so.9").exists(),
        reason="the libraries for hip are not built",
    ),
]


def constants():
    """Return the constants of cuDNN 9 as Python text, short names."""
    lines = [
        line.split("\t")
        for line in (DATA / "cudnn_constants.tsv").read_text(encoding="utf-8").splitlines()
        if line[0] != "#"
    ]
    wanted = (
        "cudnnBackendAttributeName_t",
        "cudnnBackendAttributeType_t",
        "cudnnBackendDescriptorType_t",
        "cudnnPointwiseMode_t",
    )
    values = {row[1]: int(row[2] if row[3] in ("", "=") else row[3]) for row in lines if row[0] in wanted}
    return f"K = {values!r}\n"


GRAPH = """
A = {k.removeprefix("CUDNN_ATTR_"): v for k, v in K.items() if k.startswith("CUDNN_ATTR_")}
D = {k.removeprefix("CUDNN_BACKEND_").removesuffix("_DESCRIPTOR"): v for k, v in K.items() if k.startswith("CUDNN_BACKEND_")}
T = {k.removeprefix("CUDNN_TYPE_"): v for k, v in K.items() if k.startswith("CUDNN_TYPE_")}
C = {"INT64": c_int64, "DATA_TYPE": c_int, "BOOLEAN": ctypes.c_bool, "BACKEND_DESCRIPTOR": P, "HANDLE": P, "CONVOLUTION_MODE": c_int, "FLOAT": c_float,
     "DOUBLE": c_double, "POINTWISE_MODE": c_int, "HEUR_MODE": c_int, "VOID_PTR": P, "REDUCTION_OPERATOR_TYPE": c_int}
def create(kind):
    made = P()
    ok(L.cudnnBackendCreateDescriptor(D[kind], byref(made)))
    return made
def put(desc, name, kind, *values):
    array = (C[kind] * max(len(values), 1))(*[v.value if isinstance(v, P) else v for v in values])
    return L.cudnnBackendSetAttribute(desc, A[name], T[kind], c_int64(len(values)), array)
def final(kind, *attributes):
    made = create(kind)
    for each in attributes: ok(put(made, *each))
    ok(L.cudnnBackendFinalize(made))
    return made
def packed(dims):
    strides = [1]
    for d in reversed(dims[1:]): strides.insert(0, strides[0] * d)
    return strides
def tensor(uid, dims, type=2, virtual=False, strides=None, value=False):
    return final("TENSOR", ("TENSOR_UNIQUE_ID", "INT64", uid), ("TENSOR_DATA_TYPE", "DATA_TYPE", type), ("TENSOR_DIMENSIONS", "INT64", *dims),
                 ("TENSOR_STRIDES", "INT64", *(strides or packed(dims))), ("TENSOR_BYTE_ALIGNMENT", "INT64", 16),
                 ("TENSOR_IS_VIRTUAL", "BOOLEAN", virtual), ("TENSOR_IS_BY_VALUE", "BOOLEAN", value))
def convolution(pads, strides, dilations, after=None):
    return final("CONVOLUTION", ("CONVOLUTION_COMP_TYPE", "DATA_TYPE", 0), ("CONVOLUTION_CONV_MODE", "CONVOLUTION_MODE", 1), ("CONVOLUTION_SPATIAL_DIMS", "INT64", 2),
                 ("CONVOLUTION_PRE_PADDINGS", "INT64", *pads), ("CONVOLUTION_POST_PADDINGS", "INT64", *(after or pads)),
                 ("CONVOLUTION_FILTER_STRIDES", "INT64", *strides), ("CONVOLUTION_DILATIONS", "INT64", *dilations))
def conv_op(way, conv, alpha=1.0, beta=0.0, **ends):
    name = "OPERATION_CONVOLUTION_" + {"FORWARD": "FORWARD", "BACKWARD_DATA": "BWD_DATA", "BACKWARD_FILTER": "BWD_FILTER"}[way]
    return final("OPERATION_CONVOLUTION_" + way, (name + "_CONV_DESC", "BACKEND_DESCRIPTOR", conv), (name + "_ALPHA", "FLOAT", alpha), (name + "_BETA", "FLOAT", beta),
                 *((f"{name}_{end}", "BACKEND_DESCRIPTOR", each) for end, each in ends.items()))
def pointwise(mode, more=(), alpha2=None, **ends):
    what = final("POINTWISE", ("POINTWISE_MODE", "POINTWISE_MODE", K["CUDNN_POINTWISE_" + mode]), ("POINTWISE_MATH_PREC", "DATA_TYPE", 0), *more)
    return final("OPERATION_POINTWISE", ("OPERATION_POINTWISE_PW_DESCRIPTOR", "BACKEND_DESCRIPTOR", what),
                 *((f"OPERATION_POINTWISE_{end}", "BACKEND_DESCRIPTOR", each) for end, each in ends.items()),
                 *([("OPERATION_POINTWISE_ALPHA2", "FLOAT", alpha2)] if alpha2 is not None else []))
handle = make("")
def graph(*ops):
    return final("OPERATIONGRAPH", ("OPERATIONGRAPH_HANDLE", "HANDLE", handle), ("OPERATIONGRAPH_OPS", "BACKEND_DESCRIPTOR", *ops))
def get(desc, name, kind, room):
    array, count = (C[kind] * max(room, 1))(), c_int64()
    ok(L.cudnnBackendGetAttribute(desc, A[name], T[kind], c_int64(room), byref(count), array))
    return list(array[:min(room, count.value)]), count.value
def configs(graph):
    heuristic = final("ENGINEHEUR", ("ENGINEHEUR_OPERATION_GRAPH", "BACKEND_DESCRIPTOR", graph), ("ENGINEHEUR_MODE", "HEUR_MODE", 3))
    room = [create("ENGINECFG") for _ in range(4)]
    array, count = (P * 4)(*[r.value for r in room]), c_int64()
    ok(L.cudnnBackendGetAttribute(heuristic, A["ENGINEHEUR_RESULTS"], T["BACKEND_DESCRIPTOR"], c_int64(4), byref(count), array))
    return room[:count.value]
def plan(graph):
    made = final("EXECUTION_PLAN", ("EXECUTION_PLAN_HANDLE", "HANDLE", handle), ("EXECUTION_PLAN_ENGINE_CONFIG", "BACKEND_DESCRIPTOR", configs(graph)[0]))
    return made, get(made, "EXECUTION_PLAN_WORKSPACE_SIZE", "INT64", 1)[0][0]
def execute(plan, pointers, workspace=0x900000):
    pack = final("VARIANT_PACK", ("VARIANT_PACK_UNIQUE_IDS", "INT64", *pointers), ("VARIANT_PACK_DATA_POINTERS", "VOID_PTR", *pointers.values()),
                 ("VARIANT_PACK_WORKSPACE", "VOID_PTR", workspace))
    ok(L.cudnnBackendExecute(handle, plan, pack))
"""


@pytest.fixture(scope="module")
def fakes(tmp_path_factory):
    return miopen.build_all(tmp_path_factory.mktemp("fakes"))


@pytest.fixture
def ask(fakes, tmp_path):
    return lambda code, major=9, **more: run(
        f"MAJOR = {major}\n{OPEN}{constants()}{GRAPH}{code}", fakes, tmp_path, **more
    )


@pytest.mark.parametrize("major", [8, 9])
def test_a_convolution_as_torch_builds_it(ask, major):
    answer = ask(
        """
x, w, y = tensor(ord("x"), [2, 6, 9, 11], strides=[594, 1, 66, 6]), tensor(ord("w"), [8, 3, 3, 5]), tensor(ord("y"), [2, 8, 5, 11])
op = conv_op("FORWARD", convolution([1, 2], [2, 1], [1, 1]), X=x, W=w, Y=y)
made, out["workspace"] = plan(graph(op))
execute(made, {ord("x"): 0x1000, ord("y"): 0x4000, ord("w"): 0x2000})
""",
        major,
    )
    assert answer.out == {"workspace": 0}  # the fastest solution wants none
    tensors = {
        call["tensorDesc"]: (call["dimsA"], call["stridesA"], call["dataType"])
        for call in answer.of("miopenSetTensorDescriptor")
    }
    call = answer.one("miopenConvolutionForwardImmediate")
    assert tensors[call["xDesc"]] == ([2, 6, 9, 11], [594, 1, 66, 6], 0)
    assert tensors[call["wDesc"]] == ([8, 3, 3, 5], [45, 15, 5, 1], 0)
    assert tensors[call["yDesc"]] == ([2, 8, 5, 11], [440, 55, 11, 1], 0)
    assert (call["x"], call["w"], call["y"], call["solution_id"]) == (0x1000, 0x2000, 0x4000, 22)
    assert {call["groupCount"] for call in answer.of("miopenSetConvolutionGroupCount")} == {2}
    assert "INVALID" not in str(answer.calls)


def test_gradients_of_a_convolution(ask):
    answer = ask("""
conv = convolution([1, 1], [1, 1], [1, 1])
dy, w, dx = tensor(1, [2, 8, 9, 9]), tensor(2, [8, 6, 3, 3]), tensor(3, [2, 6, 9, 9])
made, space = plan(graph(conv_op("BACKWARD_DATA", conv, DY=dy, W=w, DX=dx)))
asked = c_size_t(1)
ok(L.cudnnGetExecutionPlanWorkspaceSize(handle, made, None, byref(asked)))
assert asked.value == space
execute(made, {1: 0x1000, 2: 0x2000, 3: 0x3000})
for each in (made, conv, dy): ok(L.cudnnBackendDestroyDescriptor(each))
conv, dy = convolution([1, 1], [1, 1], [1, 1]), tensor(1, [2, 8, 9, 9])
x, dw = tensor(4, [2, 6, 9, 9]), tensor(5, [8, 6, 3, 3])
execute(plan(graph(conv_op("BACKWARD_FILTER", conv, alpha=2.0, DY=dy, X=x, DW=dw)))[0], {1: 0x1000, 4: 0x4000, 5: 0x5000})
""")
    data, weights = (
        answer.one("miopenConvolutionBackwardDataImmediate"),
        answer.one("miopenConvolutionBackwardWeightsImmediate"),
    )
    assert [data[key] for key in ("dy", "w", "dx")] == [0x1000, 0x2000, 0x3000]
    assert [weights[key] for key in ("dy", "x", "dw")] == [0x1000, 0x4000, 0x5000]
    assert (answer.one("miopenScaleTensor")["alpha"], answer.one("miopenScaleTensor")["y"]) == (2, 0x5000)


def test_convolution_addend_bias_and_relu_fused_as_torch_builds_them(ask):
    """y = relu(conv(x) + 0.5 z + b): what lies between lies in the workspace, in the type of x."""
    answer = ask("""
x, w, y, z, b = (tensor(ord(name), dims) for name, dims in (("x", [2, 6, 9, 9]), ("w", [8, 6, 3, 3]), ("y", [2, 8, 9, 9]), ("z", [2, 8, 9, 9]), ("b", [1, 8, 1, 1])))
mid = [tensor(100 + i, [2, 8, 9, 9], type=0, virtual=True) for i in range(3)]
ops = [
    pointwise("RELU_FWD", XDESC=mid[2], YDESC=y),
    conv_op("FORWARD", convolution([1, 1], [1, 1], [1, 1]), X=x, W=w, Y=mid[0]),
    pointwise("ADD", XDESC=mid[0], BDESC=z, YDESC=mid[1], alpha2=0.5),
    pointwise("ADD", XDESC=mid[1], BDESC=b, YDESC=mid[2]),
]
made, out["workspace"] = plan(graph(*ops))
execute(made, {ord(name): 0x1000 * i for i, name in enumerate("xwyzb", 1)})
""")
    step = -(-2 * 8 * 9 * 9 * 2 // 256) * 256  # a half tensor, rounded up
    assert answer.out["workspace"] == 3 * step
    space = 0x900000
    names = [
        name
        for name in answer.names()
        if name in ("miopenConvolutionForwardImmediate", "miopenOpTensor", "miopenActivationForward")
    ]
    assert names == ["miopenConvolutionForwardImmediate", "miopenOpTensor", "miopenOpTensor", "miopenActivationForward"]
    conv, relu = answer.one("miopenConvolutionForwardImmediate"), answer.one("miopenActivationForward")
    assert (conv["x"], conv["w"], conv["y"]) == (0x1000, 0x2000, space)
    first, second = answer.of("miopenOpTensor")
    assert [first[key] for key in ("tensorOp", "alpha1", "A", "alpha2", "B", "beta", "C")] == [
        0,
        1,
        space,
        0.5,
        0x4000,
        0,
        space + step,
    ]
    assert [second[key] for key in ("alpha1", "A", "alpha2", "B", "C")] == [
        1,
        space + step,
        1,
        0x5000,
        space + 2 * step,
    ]
    assert [relu[key] for key in ("x", "y", "alpha", "beta")] == [space + 2 * step, 0x3000, 1, 0]
    assert answer.of("miopenSetActivationDescriptor")[-1]["mode"] == 3  # miopenActivationRELU


def test_an_addend_that_is_repeated_comes_second(ask):
    answer = ask("""
b, x, y = tensor(1, [1, 8, 1, 1]), tensor(2, [2, 8, 4, 4]), tensor(3, [2, 8, 4, 4])
execute(plan(graph(pointwise("SUB", XDESC=b, BDESC=x, YDESC=y)))[0], {1: 0x1000, 2: 0x2000, 3: 0x3000})
""")
    call = answer.one("miopenOpTensor")
    assert [call[key] for key in ("A", "alpha1", "B", "alpha2", "C")] == [0x2000, -1, 0x1000, 1, 0x3000]


def test_a_number_by_value_scales_or_is_added(ask):
    answer = ask("""
number = c_float(2.5)
s, x, y = tensor(1, [1, 1, 1, 1], type=0, value=True), tensor(2, [2, 8, 4, 4], type=0), tensor(3, [2, 8, 4, 4], type=0)
for mode in ("MUL", "SUB"):
    execute(plan(graph(pointwise(mode, XDESC=x, BDESC=s, YDESC=y)))[0], {1: ctypes.addressof(number), 2: 0x2000, 3: 0x3000})
""")
    assert (answer.one("miopenScaleTensor")["alpha"], answer.one("miopenActivationForward")["x"]) == (2.5, 0x2000)
    assert answer.one("miopenSetTensor")["alpha"] == -2.5
    call = answer.one("miopenOpTensor")
    assert [call[key] for key in ("alpha1", "A", "alpha2", "B", "C")] == [1, 0x2000, 1, 0x900000, 0x3000]


def test_what_goes_wrong_is_told_when_it_is_set_or_finalised(ask):
    answer = ask("""
raw = create("TENSOR")
out["missing"] = L.cudnnBackendFinalize(raw)
ok(L.cudnnBackendInitialize(raw))
out["type"] = put(raw, "TENSOR_UNIQUE_ID", "DOUBLE", 1.0)
out["owner"] = put(raw, "POINTWISE_MODE", "POINTWISE_MODE", 1)
out["unfinished"] = put(create("OPERATION_POINTWISE"), "OPERATION_POINTWISE_XDESC", "BACKEND_DESCRIPTOR", raw)
out["final"] = put(tensor(1, [1, 2, 3, 4]), "TENSOR_UNIQUE_ID", "INT64", 2)
out["foreign"] = L.cudnnBackendFinalize(handle)
""")
    # CUDNN_STATUS_BAD_PARAM, _ATTRIBUTE_TYPE, _DESCRIPTOR_TYPE, _NOT_FINALIZED
    assert answer.out == {
        "missing": 2000,
        "type": 2010,
        "owner": 2012,
        "unfinished": 2004,
        "final": 2000,
        "foreign": 2000,
    }


def test_a_graph_that_miopen_cannot_run_has_no_engine_and_is_named(ask):
    answer = ask("""
x, y = tensor(1, [2, 8, 4, 4]), tensor(2, [2, 8, 4, 4])
bad = graph(pointwise("ERF", XDESC=x, YDESC=y))
out["engines"] = len(configs(bad))
engine = create("ENGINE")
ok(put(engine, "ENGINE_OPERATION_GRAPH", "BACKEND_DESCRIPTOR", bad)), ok(put(engine, "ENGINE_GLOBAL_INDEX", "INT64", 0))
out["status"], out["words"] = L.cudnnBackendFinalize(engine), last()
w, z = tensor(3, [8, 8, 3, 3]), tensor(4, [2, 8, 4, 4])
out["uneven"] = len(configs(graph(conv_op("FORWARD", convolution([1, 1], [1, 1], [1, 1], [0, 1]), X=x, W=w, Y=z))))
""")
    assert (answer.out["engines"], answer.out["status"], answer.out["uneven"]) == (0, 3000, 0)
    assert "POINTWISE with mode 20" in answer.out["words"] and "POINTWISE with mode 20" in answer.errors


def test_products_of_matrices_are_turned_round_for_rocblas(ask):
    """c[2, 3, 5, 7] = a[2, 3, 5, 4] b[1, 1, 4, 7], b laid out by columns."""
    answer = ask("""
ok(L.cudnnSetStream(handle, P(0x57)))
a, b, c = tensor(1, [2, 3, 5, 4]), tensor(2, [1, 1, 4, 7], strides=[28, 28, 1, 4]), tensor(3, [2, 3, 5, 7])
what = final("MATMUL", ("MATMUL_COMP_TYPE", "DATA_TYPE", 0))
op = final("OPERATION_MATMUL", *((f"OPERATION_MATMUL_{end}", "BACKEND_DESCRIPTOR", each) for end, each in (("DESC", what), ("ADESC", a), ("BDESC", b), ("CDESC", c))))
execute(plan(graph(op))[0], {1: 0x1000, 2: 0x2000, 3: 0x3000})
gaps = tensor(4, [2, 3, 5, 4], strides=[240, 80, 16, 2])
bad = final("OPERATION_MATMUL", *((f"OPERATION_MATMUL_{end}", "BACKEND_DESCRIPTOR", each) for end, each in (("DESC", what), ("ADESC", gaps), ("BDESC", b), ("CDESC", c))))
out["gaps"] = len(configs(graph(bad)))
""")
    call = answer.one("gemm")
    # By columns: c^T[7, 5] = b^T[7, 4] a^T[4, 5]; b as it lies is b by columns, which is turned.
    assert [call[key] for key in ("transA", "transB", "m", "n", "k")] == [112, 111, 7, 5, 4]
    assert [call[key] for key in ("a", "lda", "stride_a", "b", "ldb", "stride_b", "d", "ldd", "batch_count")] == [
        0x2000,
        4,
        0,
        0x1000,
        4,
        20,
        0x3000,
        7,
        6,
    ]
    assert (call["a_type"], call["compute_type"], call["alpha"], call["beta"]) == (150, 151, 1, 0)
    assert answer.one("rocblas_set_stream")["stream"] == 0x57
    assert answer.out["gaps"] == 0


def test_gradients_of_activations_have_what_came_out_made_again(ask):
    answer = ask("""
x, dy, dx = (tensor(i, [2, 8, 4, 4]) for i in (1, 2, 3))
made, out["workspace"] = plan(graph(pointwise("TANH_BWD", XDESC=x, DYDESC=dy, DXDESC=dx)))
execute(made, {1: 0x1000, 2: 0x2000, 3: 0x3000})
""")
    forward, back = answer.one("miopenActivationForward"), answer.one("miopenActivationBackward")
    assert (forward["x"], forward["y"]) == (0x1000, 0x900000)
    assert [back[key] for key in ("y", "dy", "x", "dx")] == [0x900000, 0x2000, 0x1000, 0x3000]
    assert answer.out["workspace"] == 512
