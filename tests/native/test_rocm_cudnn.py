"""cuDNN's functions reach MIOpen with what the program meant: every argument of every call is compared, at a MIOpen that writes down."""

import pytest

from anywarp import settings
from anywarp.catalogue.rocm import DATA
from fakes.rocm import miopen
from fakes.rocm.table_fake import foreseen
from native.rocm_program import run

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(
        not (settings.LIBRARY_DIR.get() / "hip" / "libcudnn.so.9").exists(),
        reason="the libraries for hip are not built",
    ),
]

OPEN = """
L = ctypes.CDLL(f"libcudnn.so.{MAJOR}")
L.cudnnGetErrorString.restype = ctypes.c_char_p
L.cudnnGetVersion.restype = c_size_t
def ok(status): assert status == 0, (L.cudnnGetErrorString(status), last())
def last():
    if MAJOR == 8: return ""
    text = ctypes.create_string_buffer(500)
    L.cudnnGetLastErrorString(text, c_size_t(500))
    return text.value.decode()
def make(kind):
    handle = P()
    ok(getattr(L, f"cudnnCreate{kind}")(byref(handle)))
    return handle
one, half, zero = c_float(1), c_float(0.5), c_float(0)
"""
CONVOLUTION = """
handle = make("")
ok(L.cudnnSetStream(handle, P(0x5717EA)))
x, w, y, conv = make("TensorDescriptor"), make("FilterDescriptor"), make("TensorDescriptor"), make("ConvolutionDescriptor")
ok(L.cudnnSetTensor4dDescriptor(x, 0, 2, 2, 6, 9, 11))            # HALF... CUDNN_TENSOR_NCHW, CUDNN_DATA_HALF
ok(L.cudnnSetFilter4dDescriptor(w, 2, 0, 8, 3, 3, 5))
ok(L.cudnnSetConvolution2dDescriptor(conv, 1, 2, 2, 1, 1, 1, 1, 0))  # CUDNN_CROSS_CORRELATION, compute float
ok(L.cudnnSetConvolutionGroupCount(conv, 2))
n, c, h, wide = c_int(), c_int(), c_int(), c_int()
ok(L.cudnnGetConvolution2dForwardOutputDim(conv, x, w, byref(n), byref(c), byref(h), byref(wide)))
ok(L.cudnnSetTensor4dDescriptor(y, 0, 2, n, c, h, wide))
out["shape"] = [n.value, c.value, h.value, wide.value]
"""


@pytest.fixture(scope="module")
def fakes(tmp_path_factory):
    return miopen.build_all(tmp_path_factory.mktemp("fakes"))


@pytest.fixture
def ask(fakes, tmp_path):
    def run_it(code, major=9, **more):
        return run(f"MAJOR = {major}\n{OPEN}{code}", fakes, tmp_path, **more)

    return run_it


@pytest.mark.parametrize("major", [8, 9])
def test_a_convolution_runs_by_the_fastest_solution_of_its_algorithm(ask, major):
    answer = ask(
        CONVOLUTION
        + """
size = c_size_t()
ok(L.cudnnGetConvolutionForwardWorkspaceSize(handle, x, w, conv, y, 1, byref(size)))
out["workspace"] = size.value
ok(L.cudnnConvolutionForward(handle, byref(one), x, P(0x1000), w, P(0x2000), conv, 1, P(0x3000), size, byref(zero), y, P(0x4000)))
""",
        major,
    )
    # By hand: (9 + 2 - 3) / 2 + 1 and (11 + 4 - 5) / 1 + 1.
    assert answer.out == {"shape": [2, 8, 5, 11], "workspace": 1024}
    tensors = {call["tensorDesc"]: call for call in answer.of("miopenSetTensorDescriptor")}
    half = 0  # miopenHalf
    by_shape = {tuple(call["dimsA"]): (name, call["dataType"], call["stridesA"]) for name, call in tensors.items()}
    x, w, y = by_shape[2, 6, 9, 11], by_shape[8, 3, 3, 5], by_shape[2, 8, 5, 11]
    assert (x[1:], w[1:], y[1:]) == ((half, [594, 99, 11, 1]), (half, [45, 15, 5, 1]), (half, [440, 55, 11, 1]))
    init = answer.one("miopenInitConvolutionNdDescriptor")
    assert (init["padA"], init["strideA"], init["dilationA"], init["c_mode"]) == ([1, 2], [2, 1], [1, 1], 0)
    assert answer.one("miopenSetConvolutionGroupCount")["groupCount"] == 2
    assert answer.one("miopenSetConvolutionFindMode")["findMode"] == 2  # fast
    assert answer.one("miopenSetStream")["streamID"] == 0x5717EA
    immediate = answer.one("miopenConvolutionForwardImmediate")
    expected = {
        "handle": "Handle#1",
        "wDesc": w[0],
        "w": 0x2000,
        "xDesc": x[0],
        "x": 0x1000,
        "yDesc": y[0],
        "y": 0x4000,
    }
    assert {key: immediate[key] for key in expected} == expected
    assert (immediate["workSpace"], immediate["workSpaceSize"], immediate["solution_id"]) == (0x3000, 1024, 33)
    assert "INVALID" not in str(answer.calls)
    assert foreseen("miopenConvolutionForwardGetSolution", "solutionCount") != 3  # what the fake would say unasked


def test_factors_that_miopen_does_not_take_are_applied_beside(ask):
    """y = 0.5 conv(x) + 2 y: into scratch memory of the stream, then added."""
    answer = ask(
        CONVOLUTION
        + """
ok(L.cudnnConvolutionForward(handle, byref(half), x, P(0x1000), w, P(0x2000), conv, 1, P(0x3000), c_size_t(1 << 20), byref(c_float(2)), y, P(0x4000)))
ok(L.cudnnConvolutionForward(handle, byref(half), x, P(0x1000), w, P(0x2000), conv, 1, P(0x3000), c_size_t(1 << 20), byref(zero), y, P(0x4000)))
"""
    )
    order = [
        name
        for name in answer.names()
        if name
        in (
            "hipMallocAsync",
            "miopenConvolutionForwardImmediate",
            "miopenOpTensor",
            "miopenScaleTensor",
            "hipFreeAsync",
        )
    ]
    first = ["hipMallocAsync", "miopenConvolutionForwardImmediate", "miopenOpTensor", "hipFreeAsync"]
    assert order == [*first, "miopenConvolutionForwardImmediate", "miopenScaleTensor"]
    assert answer.one("hipMallocAsync") == {"bytes": 2 * 8 * 5 * 11 * 2, "stream": 0x5717EA}
    added, scaled = answer.one("miopenOpTensor"), answer.one("miopenScaleTensor")
    beside = answer.of("miopenConvolutionForwardImmediate")[0]["y"]
    assert [added[key] for key in ("alpha1", "A", "alpha2", "B", "beta", "C")] == [0.5, beside, 2, 0x4000, 0, 0x4000]
    assert (scaled["y"], scaled["alpha"]) == (0x4000, 0.5)


PERF = """
class Perf(ctypes.Structure):
    _fields_ = [("algo", c_int), ("status", c_int), ("time", c_float), ("memory", c_size_t), ("determinism", c_int), ("math", c_int), ("reserved", c_int * 3)]
perf, count = (Perf * 8)(), c_int()
def found(): return [[p.algo, p.status, round(p.time, 3), p.memory, p.determinism, p.math] for p in perf[:count.value]]
"""


def test_algorithms_are_told_in_cudnn_s_terms(ask):
    answer = ask(
        CONVOLUTION
        + PERF
        + """
ok(L.cudnnSetConvolutionMathType(conv, 1))
ok(L.cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, conv, y, 8, byref(count), perf))
out["get"] = found()
ok(L.cudnnFindConvolutionForwardAlgorithmEx(handle, x, P(0x1000), w, P(0x2000), conv, y, P(0x4000), 8, byref(count), perf, P(0x3000), c_size_t(4096)))
out["find"] = found()
ok(L.cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, w, y, conv, x, 2, byref(count), perf))
out["data"] = found()
ok(L.cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, x, y, conv, w, 8, byref(count), perf))
out["filter"] = [p[0] for p in found()]
"""
    )
    # WINOGRAD, IMPLICIT_GEMM, GEMM: algorithm, status, milliseconds, bytes, deterministic, tensor cores
    assert answer.out["get"] == [[6, 0, 0.2, 0, 0, 1], [0, 0, 0.3, 1024, 1, 1], [2, 0, 0.5, 8192, 1, 1]]
    assert answer.out["find"] == [[0, 0, 0.125, 1024, 1, 1], [6, 0, 0.25, 0, 0, 1]]
    assert answer.out["data"] == [[4, 0, 0.2, 0, 0, 1], [1, 0, 0.3, 1024, 1, 1]]
    assert answer.out["filter"] == [4, 1, 3]
    find = answer.one("miopenFindConvolutionForwardAlgorithm")
    assert [
        find[key] for key in ("x", "w", "y", "requestAlgoCount", "workSpace", "workSpaceSize", "exhaustiveSearch")
    ] == [0x1000, 0x2000, 0x4000, 8, 0x3000, 4096, 0]
    data, weights = (
        answer.of("miopenConvolutionBackwardDataGetSolution")[0],
        answer.of("miopenConvolutionBackwardWeightsGetSolution")[0],
    )
    forward = answer.of("miopenConvolutionForwardGetSolution")[0]
    assert (data["dyDesc"], data["wDesc"], data["dxDesc"]) == (forward["yDesc"], forward["wDesc"], forward["xDesc"])
    assert (weights["dyDesc"], weights["xDesc"], weights["dwDesc"]) == (
        forward["yDesc"],
        forward["xDesc"],
        forward["wDesc"],
    )


@pytest.mark.parametrize(("algo", "solution"), [(0, 33), (1, 33), (2, 11), (6, 22), (7, 22)])
def test_the_solution_is_one_of_the_algorithm_asked_for(ask, algo, solution):
    code = f"ok(L.cudnnConvolutionForward(handle, byref(one), x, P(1), w, P(2), conv, {algo}, P(3), c_size_t(1 << 20), byref(zero), y, P(4)))"
    assert ask(CONVOLUTION + code).one("miopenConvolutionForwardImmediate")["solution_id"] == solution


@pytest.mark.parametrize(("major", "few", "none", "flipped"), [(8, 3, 9, 9), (9, 2006, 3000, 3000)])
def test_convolutions_that_cannot_be_done(ask, major, few, none, flipped):
    code = """
def conv_by(algo, space): return L.cudnnConvolutionForward(handle, byref(one), x, P(1), w, P(2), conv, algo, P(3), c_size_t(space), byref(zero), y, P(4))
out["few"], out["none"] = conv_by(2, 100), conv_by(3, 1 << 20)
ok(L.cudnnSetConvolution2dDescriptor(conv, 1, 2, 2, 1, 1, 1, 0, 0))
out["flipped"] = conv_by(1, 1 << 20)
"""
    answer = ask(CONVOLUTION + code, major)
    assert answer.out | {"shape": 0} == {"few": few, "none": none, "flipped": flipped, "shape": 0}
    assert "CUDNN_CONVOLUTION: MIOpen does not flip filters" in answer.errors


def test_bias_and_activation_come_after_the_convolution(ask):
    answer = ask(
        CONVOLUTION
        + """
bias, relu = make("TensorDescriptor"), make("ActivationDescriptor")
ok(L.cudnnSetTensor4dDescriptor(bias, 0, 2, 1, 8, 1, 1)), ok(L.cudnnSetActivationDescriptor(relu, 1, 0, c_double(0)))
ok(L.cudnnConvolutionBiasActivationForward(handle, byref(one), x, P(0x1000), w, P(0x2000), conv, 1, P(0x3000), c_size_t(1 << 20), byref(half), y, P(0x4000), bias, P(0x5000), relu, y, P(0x4000)))
"""
    )
    first, second = answer.of("miopenOpTensor")
    beside = answer.one("miopenConvolutionForwardImmediate")["y"]
    assert [first[key] for key in ("alpha1", "A", "alpha2", "B", "C")] == [1, beside, 0.5, 0x4000, 0x4000]
    assert [second[key] for key in ("alpha1", "A", "alpha2", "B", "C")] == [1, 0x4000, 1, 0x5000, 0x4000]
    assert [answer.one("miopenActivationForward")[key] for key in ("x", "y")] == [0x4000, 0x4000]


TENSORS = """
handle = make("")
def tensor(*dims, type=0):
    made = make("TensorDescriptor")
    strides = [1]
    for d in reversed(dims[1:]): strides.insert(0, strides[0] * d)
    ok(L.cudnnSetTensorNdDescriptor(made, type, len(dims), ints(*dims), ints(*strides)))
    return made
x, y, b = tensor(2, 3, 4, 5), tensor(2, 3, 4, 5), tensor(1, 3, 1, 1)
"""


def test_an_addend_is_repeated_and_what_beta_hides_is_not_read(ask):
    answer = ask(
        TENSORS
        + """
ok(L.cudnnAddTensor(handle, byref(half), b, P(0x1000), byref(c_float(3)), x, P(0x2000)))
ok(L.cudnnAddTensor(handle, byref(half), b, P(0x1000), byref(zero), x, P(0x2000)))
"""
    )
    first, second = answer.of("miopenOpTensor")
    assert [first[key] for key in ("tensorOp", "alpha1", "A", "alpha2", "B", "beta", "C")] == [
        0,
        3,
        0x2000,
        0.5,
        0x1000,
        0,
        0x2000,
    ]
    assert answer.names().index("miopenSetTensor") < len(answer.names()) - 1
    assert [answer.one("miopenSetTensor")["y"], second["alpha1"], second["alpha2"]] == [0x2000, 1, 0.5]


def test_double_factors_are_read_as_doubles_and_must_be_floats(ask):
    answer = ask(
        TENSORS
        + """
wide = tensor(2, 3, type=1)
ok(L.cudnnScaleTensor(handle, wide, P(0x1000), byref(c_double(0.25))))
out["status"] = L.cudnnScaleTensor(handle, wide, P(0x1000), byref(c_double(0.1)))
"""
    )
    assert (answer.one("miopenScaleTensor")["alpha"], answer.out["status"]) == (0.25, 3000)


@pytest.mark.parametrize(
    ("mode", "coefficient", "target", "alpha"),
    [(0, 0, 1, 1), (1, 0, 3, 1), (1, 6, 7, 6), (2, 0, 2, 1), (3, 2.5, 7, 2.5), (4, 0.75, 9, 0.75), (5, 0, 0, 1)],
)
def test_activations(ask, mode, coefficient, target, alpha):
    answer = ask(
        TENSORS
        + f"""
act = make("ActivationDescriptor")
ok(L.cudnnSetActivationDescriptor(act, {mode}, 1, c_double({coefficient})))
ok(L.cudnnActivationForward(handle, act, byref(one), x, P(0x1000), byref(zero), y, P(0x2000)))
ok(L.cudnnActivationBackward(handle, act, byref(one), y, P(0x2000), y, P(0x3000), x, P(0x1000), byref(zero), x, P(0x4000)))
"""
    )
    made = answer.of("miopenSetActivationDescriptor")[-1]
    assert [made[key] for key in ("mode", "activAlpha", "activBeta", "activGamma")] == [target, alpha, 1, 1]
    assert [answer.one("miopenActivationBackward")[key] for key in ("y", "dy", "x", "dx")] == [
        0x2000,
        0x3000,
        0x1000,
        0x4000,
    ]


def test_softmax_reduction_and_local_response(ask):
    answer = ask(
        TENSORS
        + """
ok(L.cudnnSoftmaxForward(handle, 2, 1, byref(half), x, P(0x1000), byref(one), y, P(0x2000)))
reduce, bytes_ = make("ReduceTensorDescriptor"), c_size_t()
ok(L.cudnnSetReduceTensorDescriptor(reduce, 5, 0, 1, 1, 0))
ok(L.cudnnGetReductionWorkspaceSize(handle, reduce, x, b, byref(bytes_)))
out["bytes"] = bytes_.value
ok(L.cudnnReduceTensor(handle, reduce, P(0x5000), c_size_t(12), P(0x6000), c_size_t(99), byref(half), x, P(0x1000), byref(one), b, P(0x2000)))
lrn = make("LRNDescriptor")
ok(L.cudnnSetLRNDescriptor(lrn, 7, c_double(1e-3), c_double(0.5), c_double(1.5)))
ok(L.cudnnLRNCrossChannelForward(handle, lrn, 0, byref(one), x, P(0x1000), byref(zero), y, P(0x2000)))
"""
    )
    soft, reduced, made, lrn = (
        answer.of(f"miopen{name}")[-1]
        for name in ("SoftmaxForward_V2", "ReduceTensor", "SetReduceTensorDescriptor", "SetLRNDescriptor")
    )
    assert [soft[key] for key in ("alpha", "beta", "algorithm", "mode", "x", "y")] == [0.5, 1, 2, 1, 0x1000, 0x2000]
    assert answer.out["bytes"] == foreseen("miopenGetReductionWorkspaceSize", "sizeInBytes")
    assert list(made.values())[1:] == [5, 1, 1, 1, 0]  # average, float, propagate, indices, of 32 bits
    assert [reduced[key] for key in ("indices", "indicesSizeInBytes", "workspace", "workspaceSizeInBytes", "A", "C", "alpha", "beta")] == [
        0x5000, 12, 0x6000, 99, 0x1000, 0x2000, 0.5, 1,
    ]  # fmt: skip
    assert [lrn[key] for key in ("mode", "lrnN", "lrnAlpha", "lrnBeta", "lrnK")] == [1, 7, 1e-3, 0.5, 1.5]


@pytest.mark.parametrize(("mode", "target"), [(0, 0), (1, 2), (2, 1), (3, 0)])
def test_pooling_goes_back_by_the_places_of_a_second_forward_pass(ask, mode, target):
    answer = ask(
        TENSORS
        + f"""
pool, n = make("PoolingDescriptor"), [c_int() for _ in range(4)]
ok(L.cudnnSetPooling2dDescriptor(pool, {mode}, 0, 2, 3, 0, 1, 2, 1))
ok(L.cudnnGetPooling2dForwardOutputDim(pool, x, *map(byref, n)))
out["dims"] = [v.value for v in n]
small = tensor(*out["dims"])
ok(L.cudnnPoolingForward(handle, pool, byref(one), x, P(0x1000), byref(zero), small, P(0x2000)))
ok(L.cudnnPoolingBackward(handle, pool, byref(one), small, P(0x2000), small, P(0x3000), x, P(0x1000), byref(zero), x, P(0x4000)))
"""
    )
    assert answer.out["dims"] == [2, 3, 2, 5]  # (4 - 2) / 2 + 1, (5 + 2 - 3) / 1 + 1
    made = answer.of("miopenSetNdPoolingDescriptor")[0]
    assert [made[key] for key in ("mode", "windowDimA", "padA", "stridesA")] == [target, [2, 3], [0, 1], [2, 1]]
    passes, back = answer.of("miopenPoolingForward"), answer.one("miopenPoolingBackward")
    assert [back[key] for key in ("y", "dy", "x", "dx")] == [0x2000, 0x3000, 0x1000, 0x4000]
    if target == 0:
        assert (passes[1]["do_backward"], passes[1]["workSpaceSize"]) == (
            1,
            foreseen("miopenPoolingGetWorkSpaceSizeV2", "workSpaceSize"),
        )
        assert (passes[1]["workSpace"], passes[1]["y"] != 0x2000) == (back["workSpace"], True)
    else:
        assert (len(passes), back["workSpace"]) == (1, 0)


def test_batch_normalization_and_its_way_back_through_relu(ask):
    answer = ask(
        TENSORS
        + """
p, relu = make("TensorDescriptor"), make("ActivationDescriptor")
ok(L.cudnnDeriveBNTensorDescriptor(p, x, 1)), ok(L.cudnnSetActivationDescriptor(relu, 1, 0, c_double(0)))
ok(L.cudnnBatchNormalizationForwardTraining(handle, 1, byref(one), byref(zero), x, P(1), y, P(2), p, P(3), P(4), c_double(0.125), P(5), P(6), c_double(1e-5), P(7), P(8)))
ok(L.cudnnBatchNormalizationBackwardEx(handle, 2, 1, byref(one), byref(zero), byref(one), byref(zero), x, P(0x10), y, P(0x20), y, P(0x30), None, None, x, P(0x40), p, P(0x50), P(0x51), P(0x60), P(0x70), c_double(1e-3), P(0x80), P(0x90), relu, None, c_size_t(0), None, c_size_t(0)))
"""
    )
    train, back, passed = (
        answer.one(f"miopen{name}")
        for name in ("BatchNormalizationForwardTraining", "BatchNormalizationBackward", "ActivationBackward")
    )
    names = (
        "bn_mode",
        "x",
        "y",
        "bnScale",
        "bnBias",
        "expAvgFactor",
        "resultRunningMean",
        "resultRunningVariance",
        "epsilon",
        "resultSaveMean",
        "resultSaveInvVariance",
    )
    assert [train[key] for key in names] == [1, 1, 2, 3, 4, 0.125, 5, 6, 1e-5, 7, 8]
    derived = next(
        call for call in answer.of("miopenSetTensorDescriptor") if call["tensorDesc"] == train["bnScaleBiasMeanVarDesc"]
    )
    assert (derived["dimsA"], derived["dataType"]) == ([1, 3, 1, 1], 1)
    assert [passed[key] for key in ("y", "dy", "x")] == [0x20, 0x30, 0x20]
    names = (
        "x",
        "dy",
        "dx",
        "bnScale",
        "resultBnScaleDiff",
        "resultBnBiasDiff",
        "epsilon",
        "savedMean",
        "savedInvVariance",
    )
    assert [back[key] for key in names] == [0x10, passed["dx"], 0x40, 0x50, 0x60, 0x70, 1e-3, 0x80, 0x90]


@pytest.mark.parametrize(
    ("cell", "gates"),
    # cuDNN's LSTM has the new memory third and the output last, MIOpen the other way; GRU reset and update change places.
    [(2, [0, 1, 3, 2, 4, 5, 7, 6]), (3, [1, 0, 2, 4, 3, 5]), (0, [0, 1])],
)
def test_weights_of_recurrent_networks_are_found_by_their_meaning(ask, cell, gates):
    answer = ask(
        f"""
handle, rnn, m, bias = make(""), make("RNNDescriptor"), make("TensorDescriptor"), make("TensorDescriptor")
ok(L.cudnnSetRNNDescriptor_v8(rnn, 0, {cell}, 2, 1, 0, 2, 0, 0, 6, 7, 7, 3, None, 0))
where, biased, size = P(), P(), c_size_t()
ok(L.cudnnGetRNNWeightSpaceSize(handle, rnn, byref(size)))
out["size"], out["places"] = size.value, []
for number in range({len(gates)}):
    ok(L.cudnnGetRNNWeightParams(handle, rnn, 4, size, P(0x100000), number, m, byref(where), bias, byref(biased)))
    out["places"].append([where.value - 0x100000, biased.value - 0x100000])
type, rank, dims, strides = c_int(), c_int(), (c_int * 8)(), (c_int * 8)()
ok(L.cudnnGetTensorNdDescriptor(m, 8, byref(type), byref(rank), dims, strides))
out["matrix"] = [type.value, list(dims[:rank.value])]
out["beyond"] = L.cudnnGetRNNWeightParams(handle, rnn, 6, size, P(0x100000), 0, m, byref(where), bias, byref(biased))
"""
    )
    halves = 2  # bytes; the fake's offsets are 1000 * layer + 10 * parameter, for biases 5 more
    assert answer.out["places"] == [[halves * (4000 + 10 * gate), halves * (4005 + 10 * gate)] for gate in gates]
    assert answer.out["matrix"] == [2, [1, 7, 5]] and answer.out["beyond"] == 2000
    assert answer.out["size"] == foreseen("miopenGetRNNParamsSize", "numBytes")
    made = answer.one("miopenSetRNNDescriptor")
    assert [
        made[key] for key in ("hsize", "nlayers", "inMode", "direction", "rnnMode", "biasMode", "algo", "dataType")
    ] == [7, 3, 0, 1, cell, 1, 0, 0]


def test_a_recurrent_network_runs(ask):
    answer = ask(
        TENSORS
        + """
rnn, data, result, h = make("RNNDescriptor"), make("RNNDataDescriptor"), make("RNNDataDescriptor"), tensor(1, 2, 7)
ok(L.cudnnSetRNNDescriptor_v8(rnn, 0, 2, 2, 0, 0, 0, 0, 0, 5, 7, 7, 1, None, 1))
ok(L.cudnnSetRNNDataDescriptor(data, 0, 2, 9, 2, 5, ints(9, 4), None)), ok(L.cudnnSetRNNDataDescriptor(result, 0, 1, 9, 2, 7, ints(9, 4), None))
ok(L.cudnnRNNForward(handle, rnn, 1, None, data, P(1), result, P(2), h, P(3), P(4), h, P(5), P(6), c_size_t(70), P(7), c_size_t(80), P(8), c_size_t(90), P(9)))
ok(L.cudnnRNNBackwardData_v8(handle, rnn, None, result, P(1), P(2), data, P(3), h, P(4), P(5), P(6), h, P(7), P(8), P(9), c_size_t(10), P(11), c_size_t(12), P(13), c_size_t(14), P(15)))
out["set"] = L.cudnnRNNBackwardWeights_v8(handle, rnn, 1, None, data, P(1), h, P(2), result, P(3), c_size_t(4), P(5), c_size_t(6), P(7), c_size_t(8), P(9))
ok(L.cudnnRNNBackwardWeights_v8(handle, rnn, 0, None, data, P(1), h, P(2), result, P(3), c_size_t(4), P(5), c_size_t(6), P(7), c_size_t(8), P(9)))
"""
    )
    layouts = {
        call["seqTensorDesc"]: [call[key] for key in ("layout", "maxSequenceLen", "batchSize", "vectorSize")]
        for call in answer.of("miopenSetRNNDataSeqTensorDescriptor")
    }
    forward = answer.one("miopenRNNForward")
    assert (layouts[forward["xDesc"]], layouts[forward["yDesc"]]) == ([3, 9, 2, 5], [1, 9, 2, 7])
    names = (
        "fwdMode",
        "x",
        "hx",
        "hy",
        "cx",
        "cy",
        "y",
        "w",
        "weightSpaceSize",
        "workSpace",
        "workSpaceNumBytes",
        "reserveSpace",
        "reserveSpaceNumBytes",
    )
    assert [forward[key] for key in names] == [0, 1, 3, 4, 5, 6, 2, 7, 70, 8, 80, 9, 90]
    back = answer.one("miopenRNNBackwardSeqData")
    names = (
        "y",
        "dy",
        "dx",
        "hx",
        "dhy",
        "dhx",
        "cx",
        "dcy",
        "dcx",
        "weightSpaceSize",
        "w",
        "workSpaceNumBytes",
        "workSpace",
        "reserveSpaceNumBytes",
        "reserveSpace",
    )
    assert [back[key] for key in names] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
    weights = answer.one("miopenRNNBackwardWeightsSeqTensor")
    names = (
        "x",
        "hx",
        "y",
        "weightSpaceSize",
        "dw",
        "workSpaceNumBytes",
        "workSpace",
        "reserveSpaceNumBytes",
        "reserveSpace",
    )
    assert [weights[key] for key in names] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert (answer.out["set"], answer.one("miopenSetRNNPaddingMode")["paddingMode"]) == (3000, 1)


def test_dropout_and_ctc_loss(ask):
    answer = ask(
        TENSORS
        + """
drop, ctc, p = make("DropoutDescriptor"), make("CTCLossDescriptor"), tensor(9, 2, 5)
ok(L.cudnnSetDropoutDescriptor(drop, handle, c_float(0.25), P(0x1000), c_size_t(64), ctypes.c_ulonglong(1 << 40)))
ok(L.cudnnDropoutForward(handle, drop, x, P(1), y, P(2), P(3), c_size_t(4)))
ok(L.cudnnSetCTCLossDescriptorEx(ctc, 0, 1, 0))
ok(L.cudnnCTCLoss(handle, p, P(1), ints(3, 1), ints(1, 1), ints(9, 9), P(2), p, P(3), 1, ctc, P(4), c_size_t(5)))
out["rate"] = L.cudnnSetDropoutDescriptor(drop, handle, c_float(1.5), P(0x1000), c_size_t(64), ctypes.c_ulonglong(1))
"""
    )
    made, ran, loss, described = (
        answer.one(f"miopen{name}")
        for name in ("SetDropoutDescriptor", "DropoutForward", "CTCLoss", "SetCTCLossDescriptor")
    )
    assert [made[key] for key in ("dropout", "states", "stateSizeInBytes", "seed", "rng_mode")] == [
        0.25,
        0x1000,
        64,
        1 << 40,
        0,
    ]
    assert [ran[key] for key in ("x", "y", "reserveSpace", "reserveSpaceSizeInBytes")] == [1, 2, 3, 4]
    assert [loss[key] for key in ("probs", "losses", "gradients", "algo", "workSpace", "workSpaceSize")] == [
        1,
        2,
        3,
        0,
        4,
        5,
    ]
    assert [described[key] for key in ("dataType", "blank_label_id", "apply_softmax_layer")] == [1, 0, 1]
    assert answer.out["rate"] == 2000


@pytest.mark.parametrize(("major", "column"), [(8, "12"), (9, "13")])
def test_every_function_of_the_original_is_there_and_says_when_it_is_not_served(ask, major, column):
    rows = [line.split("\t") for line in (DATA / "cudnn.tsv").read_text(encoding="utf-8").splitlines()[2:]]
    ours = [(row[0], row[5]) for row in rows if column in row[1].split()]
    parts = (
        ["graph", "ops", "cnn", "adv", "ext", "heuristic", "engines_precompiled"]
        if major == 9
        else ["ops_infer", "cnn_train", "adv_infer"]
    )
    answer = ask(
        f"""
rows = {ours!r}
out["missing"] = [name for name, _ in rows if not hasattr(L, name)]
out["codes"] = sorted({{getattr(L, name)() for name, route in rows if route == "absent"}})
out["parts"] = [hasattr(ctypes.CDLL(f"libcudnn_{{part}}.so.{{MAJOR}}"), "cudnnCreate") for part in {parts!r}]
out["version"] = L.cudnnGetVersion()
""",
        major,
    )
    assert len(ours) == {8: 268, 9: 243}[major]
    assert answer.out["missing"] == [] and answer.out["codes"] == [{8: 9, 9: 3000}[major]]
    assert all(answer.out["parts"]) and answer.out["version"] == {8: 8907, 9: 92800}[major]


@pytest.mark.parametrize(("major", "code"), [(8, 1), (9, 1001)])
def test_without_miopen_the_handle_is_not_made(tmp_path, major, code):
    empty = tmp_path / "empty"
    empty.mkdir()
    answer = run(
        f"MAJOR = {major}\n{OPEN}out['code'] = L.cudnnCreate(byref(P()))\nmake('TensorDescriptor')", empty, tmp_path
    )
    assert answer.out == {"code": code} and "error[N025]" in answer.errors and "miopen-hip" in answer.errors


@pytest.mark.parametrize(("major", "code"), [(8, 9), (9, 3000)])
def test_a_failure_of_miopen_is_one_of_cudnn_s_and_named(ask, major, code):
    answer = ask(
        TENSORS + "out['code'], out['words'] = L.cudnnScaleTensor(handle, x, P(1), byref(half)), last()",
        major,
        FAKE_ROCM_FAIL="miopenScaleTensor",
    )
    assert answer.out["code"] == code  # miopenStatusNotImplemented
    assert "miopenScaleTensor returned 6" in answer.out["words"] or major == 8


@pytest.mark.parametrize(("major", "codes"), [(8, [3, 3, 3]), (9, [2000, 2000, 2002])])
def test_handles_of_another_kind_are_refused(ask, major, codes):
    answer = ask(
        TENSORS
        + "act = make('ActivationDescriptor')\nout['codes'] = [L.cudnnScaleTensor(handle, act, P(1), byref(half)), L.cudnnScaleTensor(x, x, P(1), byref(half)), L.cudnnScaleTensor(handle, None, P(1), byref(half))]",
        major,
    )
    assert answer.out == {"codes": codes}
