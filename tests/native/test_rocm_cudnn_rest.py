"""What cuDNN's descriptors were given they tell again, and the calls that other tests leave out reach MIOpen as they should."""

import re
from pathlib import Path

import pytest

from anywarp import settings
from anywarp.catalogue.derive_cudnn import served
from fakes.rocm import miopen
from fakes.rocm.table_fake import foreseen
from native.rocm_program import run
from native.test_rocm_cudnn import CONVOLUTION, OPEN, PERF, TENSORS

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(
        not (settings.LIBRARY_DIR.get() / "hip" / "libcudnn.so.9").exists(),
        reason="the libraries for hip are not built",
    ),
]

KINDS = "Tensor Filter Convolution Activation Pooling LRN OpTensor ReduceTensor Dropout RNN RNNData CTCLoss".split()
TOLD = """
def told(name, desc, *kinds):
    values = [each() if isinstance(each, type) else each for each in kinds]
    ok(getattr(L, name)(desc, *[v if isinstance(v, (ctypes.Array, int)) else byref(v) for v in values]))
    return [list(v) if isinstance(v, ctypes.Array) else v if isinstance(v, int) else v.value for v in values]
def three(): return (c_int * 3)()
"""


@pytest.fixture(scope="module")
def fakes(tmp_path_factory):
    return miopen.build_all(tmp_path_factory.mktemp("fakes"))


@pytest.fixture
def ask(fakes, tmp_path):
    return lambda code, major=9: run(f"MAJOR = {major}\n{OPEN}{TOLD}{code}", fakes, tmp_path)


def test_what_was_set_is_told(ask):
    out = ask("""
a = make("TensorDescriptor")
ok(L.cudnnSetTensor4dDescriptorEx(a, 0, 2, 3, 4, 5, 100, 1, 15, 3))
out["tensor"] = told("cudnnGetTensor4dDescriptor", a, *[c_int] * 9) + told("cudnnGetTensorSizeInBytes", a, c_size_t)
ok(L.cudnnSetTensorNdDescriptorEx(a, 1, 2, 3, ints(2, 3, 4)))
out["nhwc"] = told("cudnnGetTensorNdDescriptor", a, 3, c_int, c_int, three(), three())
w = make("FilterDescriptor")
ok(L.cudnnSetFilterNdDescriptor(w, 0, 1, 4, ints(8, 3, 2, 5)))
out["filter"] = told("cudnnGetFilter4dDescriptor", w, *[c_int] * 6) + told("cudnnGetFilterNdDescriptor", w, 3, c_int, c_int, c_int, three()) + told("cudnnGetFilterSizeInBytes", w, c_size_t)
conv = make("ConvolutionDescriptor")
ok(L.cudnnSetConvolutionNdDescriptor(conv, 3, ints(0, 1, 2), ints(1, 2, 3), ints(3, 2, 1), 1, 0))
ok(L.cudnnSetConvolutionGroupCount(conv, 4)), ok(L.cudnnSetConvolutionMathType(conv, 2)), ok(L.cudnnSetConvolutionReorderType(conv, 1))
out["conv"] = told("cudnnGetConvolutionNdDescriptor", conv, 3, c_int, three(), three(), three(), c_int, c_int) + [told("cudnnGetConvolution" + n, conv, c_int)[0] for n in ("GroupCount", "MathType", "ReorderType")]
ok(L.cudnnSetConvolution2dDescriptor(conv, 1, 2, 3, 4, 5, 6, 1, 0))
out["conv2"] = told("cudnnGetConvolution2dDescriptor", conv, *[c_int] * 8)
ok(L.cudnnSetConvolutionGroupCount(conv, 1)), ok(L.cudnnSetConvolution2dDescriptor(conv, 1, 2, 3, 4, 1, 1, 1, 0))
ok(L.cudnnSetTensorNdDescriptorEx(a, 0, 0, 4, ints(2, 3, 9, 9)))
dims = (c_int * 4)(); ok(L.cudnnGetConvolutionNdForwardOutputDim(conv, a, w, 4, dims)); out["dims"] = list(dims)
act = make("ActivationDescriptor")
ok(L.cudnnSetActivationDescriptor(act, 6, 1, c_double(0.5))), ok(L.cudnnSetActivationDescriptorSwishBeta(act, c_double(1.25)))
out["act"] = told("cudnnGetActivationDescriptor", act, c_int, c_int, c_double) + told("cudnnGetActivationDescriptorSwishBeta", act, c_double)
pool = make("PoolingDescriptor")
ok(L.cudnnSetPoolingNdDescriptor(pool, 1, 1, 3, ints(2, 3, 4), ints(0, 1, 1), ints(1, 2, 3)))
out["pool"] = told("cudnnGetPoolingNdDescriptor", pool, 3, c_int, c_int, c_int, three(), three(), three())
ok(L.cudnnSetPooling2dDescriptor(pool, 0, 0, 1, 2, 3, 4, 5, 6))
out["pool2"] = told("cudnnGetPooling2dDescriptor", pool, *[c_int] * 8)
dims = (c_int * 4)(); ok(L.cudnnGetPoolingNdForwardOutputDim(pool, a, 4, dims)); out["pooled"] = list(dims)
lrn = make("LRNDescriptor"); ok(L.cudnnSetLRNDescriptor(lrn, 7, c_double(0.5), c_double(0.25), c_double(2)))
out["lrn"] = told("cudnnGetLRNDescriptor", lrn, c_int, c_double, c_double, c_double)
op = make("OpTensorDescriptor"); ok(L.cudnnSetOpTensorDescriptor(op, 3, 0, 1)); out["op"] = told("cudnnGetOpTensorDescriptor", op, c_int, c_int, c_int)
red = make("ReduceTensorDescriptor"); ok(L.cudnnSetReduceTensorDescriptor(red, 3, 0, 1, 1, 0)); out["red"] = told("cudnnGetReduceTensorDescriptor", red, *[c_int] * 5)
rnn = make("RNNDescriptor"); ok(L.cudnnSetRNNDescriptor_v8(rnn, 0, 3, 2, 1, 0, 2, 0, 1, 6, 7, 7, 2, None, 1))
out["rnn"] = told("cudnnGetRNNDescriptor_v8", rnn, *[c_int] * 12, P, c_int)
seq, fill, got = make("RNNDataDescriptor"), c_float(-1.5), c_float()
ok(L.cudnnSetRNNDataDescriptor(seq, 0, 0, 9, 3, 5, ints(9, 4, 2), byref(fill)))
out["seq"] = told("cudnnGetRNNDataDescriptor", seq, *[c_int] * 5, 3, three(), c_float)
ctc = make("CTCLossDescriptor"); ok(L.cudnnSetCTCLossDescriptor_v8(ctc, 0, 1, 1, 12))
out["ctc"] = told("cudnnGetCTCLossDescriptor", ctc, c_int) + told("cudnnGetCTCLossDescriptorEx", ctc, c_int, c_int, c_int) + told("cudnnGetCTCLossDescriptor_v8", ctc, *[c_int] * 4)
ok(L.cudnnSetCTCLossDescriptor_v9(ctc, 0, 0, 1, 13)); out["ctc9"] = told("cudnnGetCTCLossDescriptor_v9", ctc, *[c_int] * 4)
out["property"] = [told("cudnnGetProperty", i, c_int)[0] for i in range(3)]
out["most"] = [told(f"cudnnGetConvolution{way}AlgorithmMaxCount", None, c_int)[0] for way in ("Forward", "BackwardData", "BackwardFilter")]
""").out
    assert out["tensor"] == [0, 2, 3, 4, 5, 100, 1, 15, 3, (100 + 2 + 45 + 12 + 1) * 4]
    assert out["nhwc"] == [3, 2, 3, [2, 3, 4], [12, 1, 3]]
    assert out["filter"] == [0, 1, 8, 3, 2, 5, 3, 0, 1, 4, [8, 3, 2], 8 * 3 * 2 * 5 * 4]
    assert out["conv"] == [3, 3, [0, 1, 2], [1, 2, 3], [3, 2, 1], 1, 0, 4, 2, 1]
    assert out["conv2"] == [1, 2, 3, 4, 5, 6, 1, 0]
    assert out["dims"] == [2, 8, 1 + (9 + 2 - 2) // 3, 1 + (9 + 4 - 5) // 4]
    assert out["act"] == [6, 1, 0.5, 1.25]
    assert out["pool"] == [3, 1, 1, 3, [2, 3, 4], [0, 1, 1], [1, 2, 3]]
    assert out["pool2"] == [0, 0, 1, 2, 3, 4, 5, 6]
    assert out["pooled"] == [2, 3, 1 + (9 + 6 - 1) // 5, 1 + (9 + 8 - 2) // 6]
    assert out["lrn"] == [7, 0.5, 0.25, 2.0]
    assert (out["op"], out["red"]) == ([3, 0, 1], [3, 0, 1, 1, 0])
    assert out["rnn"] == [0, 3, 2, 1, 0, 2, 0, 1, 6, 7, 7, 2, None, 1]
    assert out["seq"] == [0, 0, 9, 3, 5, 3, [9, 4, 2], -1.5]
    assert (out["ctc"], out["ctc9"]) == ([0, 0, 1, 1, 0, 1, 1, 12], [0, 0, 1, 13])
    assert (out["property"], out["most"]) == ([9, 28, 0], [8, 6, 7])


def test_the_other_ways_of_a_convolution(ask):
    answer = ask(
        CONVOLUTION
        + PERF
        + """
b, size = make("TensorDescriptor"), c_size_t()
ok(L.cudnnSetTensor4dDescriptor(b, 0, 2, 1, 8, 1, 1))
ok(L.cudnnGetConvolutionBackwardDataWorkspaceSize(handle, w, y, conv, x, 0, byref(size))); out["sizes"] = [size.value]
ok(L.cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, x, y, conv, w, 1, byref(size))); out["sizes"].append(size.value)
ok(L.cudnnConvolutionBackwardData(handle, byref(one), w, P(1), y, P(2), conv, 0, P(3), c_size_t(1 << 20), byref(zero), x, P(4)))
ok(L.cudnnConvolutionBackwardFilter(handle, byref(one), x, P(1), y, P(2), conv, 1, P(3), c_size_t(1 << 20), byref(zero), w, P(4)))
ok(L.cudnnConvolutionBackwardBias(handle, byref(half), y, P(1), byref(zero), b, P(2)))
ok(L.cudnnFindConvolutionBackwardDataAlgorithmEx(handle, w, P(1), y, P(2), conv, x, P(3), 2, byref(count), perf, P(4), c_size_t(9))); out["data"] = found()
ok(L.cudnnFindConvolutionBackwardFilterAlgorithmEx(handle, x, P(1), y, P(2), conv, w, P(3), 1, byref(count), perf, P(4), c_size_t(9))); out["filter"] = found()
ok(L.cudnnFindConvolutionForwardAlgorithm(handle, x, w, conv, y, 8, byref(count), perf))
ok(L.cudnnFindConvolutionBackwardDataAlgorithm(handle, w, y, conv, x, 8, byref(count), perf))
ok(L.cudnnFindConvolutionBackwardFilterAlgorithm(handle, x, y, conv, w, 8, byref(count), perf))
"""
    )
    assert answer.out["sizes"] == [8192, 1024]
    data, weights, bias = (
        answer.one(f"miopen{name}")
        for name in (
            "ConvolutionBackwardDataImmediate",
            "ConvolutionBackwardWeightsImmediate",
            "ConvolutionBackwardBias",
        )
    )
    assert [data[key] for key in ("w", "dy", "dx", "workSpace", "solution_id")] == [1, 2, 4, 3, 11]
    assert [weights[key] for key in ("x", "dy", "dw", "workSpace", "solution_id")] == [1, 2, 4, 3, 33]
    assert ([bias["dy"], bias["db"], bias["alpha"]], answer.one("miopenScaleTensor")["alpha"]) == ([1, 2, 1], 0.5)
    assert (answer.out["data"], answer.out["filter"]) == (
        [[1, 0, 0.125, 1024, 1, 0], [4, 0, 0.25, 0, 0, 0]],
        [[1, 0, 0.125, 1024, 1, 0]],
    )
    found, filters = (
        answer.of("miopenFindConvolutionBackwardDataAlgorithm"),
        answer.of("miopenFindConvolutionBackwardWeightsAlgorithm"),
    )
    assert [found[0][key] for key in ("w", "dy", "dx", "workSpace", "workSpaceSize")] == [1, 2, 3, 4, 9]
    assert [filters[0][key] for key in ("x", "dy", "dw", "workSpace", "workSpaceSize")] == [1, 2, 3, 4, 9]
    # Alone it takes memory of its own, as much as the greediest solution wants.
    assert all(
        call["workSpaceSize"] == 8192 and call["dx" if "dx" in call else "dw"] for call in (found[1], filters[1])
    )


def test_the_rest_of_the_layers(ask):
    answer = ask(
        TENSORS
        + """
size, p, relu = c_size_t(), tensor(1, 3, 1, 1), make("ActivationDescriptor")
ok(L.cudnnSetActivationDescriptor(relu, 1, 0, c_double(0)))
ok(L.cudnnTransformTensor(handle, byref(half), x, P(1), byref(one), y, P(2)))
op = make("OpTensorDescriptor"); ok(L.cudnnSetOpTensorDescriptor(op, 1, 0, 0))
ok(L.cudnnOpTensor(handle, op, byref(half), x, P(1), byref(one), b, P(2), byref(c_float(3)), y, P(3)))
ok(L.cudnnSoftmaxBackward(handle, 1, 0, byref(half), y, P(1), y, P(2), byref(one), x, P(3)))
lrn = make("LRNDescriptor"); ok(L.cudnnSetLRNDescriptor(lrn, 5, c_double(1), c_double(1), c_double(1)))
ok(L.cudnnLRNCrossChannelBackward(handle, lrn, 0, byref(one), y, P(1), y, P(2), x, P(3), byref(zero), x, P(4)))
ok(L.cudnnBatchNormalizationForwardInference(handle, 0, byref(one), byref(zero), x, P(1), y, P(2), p, P(3), P(4), P(5), P(6), c_double(0.5)))
ok(L.cudnnBatchNormalizationForwardTrainingEx(handle, 1, 2, byref(one), byref(zero), x, P(1), y, P(2), y, P(3), p, P(4), P(5), c_double(1), P(6), P(7), c_double(0.5), P(8), P(9), relu, None, size, None, size))
out["none"] = []
for name, descs in (("ForwardTrainingExWorkspaceSize", (x, y, y, p, relu)), ("BackwardExWorkspaceSize", (x, y, y, y, x, p, relu)), ("TrainingExReserveSpaceSize", (relu, x))):
    size.value = 1; ok(getattr(L, "cudnnGetBatchNormalization" + name)(handle, 1, 2, *descs, byref(size))); out["none"].append(size.value)
drop, rate, states, seed = make("DropoutDescriptor"), c_float(), P(), ctypes.c_ulonglong()
ok(L.cudnnDropoutGetStatesSize(handle, byref(size))); out["sizes"] = [size.value]
ok(L.cudnnDropoutGetReserveSpaceSize(x, byref(size))); out["sizes"].append(size.value)
ok(L.cudnnRestoreDropoutDescriptor(drop, handle, c_float(0.5), P(1), c_size_t(2), ctypes.c_ulonglong(3)))
ok(L.cudnnGetDropoutDescriptor(drop, handle, byref(rate), byref(states), byref(seed))); out["drop"] = [rate.value, states.value, seed.value]
ok(L.cudnnDropoutBackward(handle, drop, y, P(1), x, P(2), P(3), c_size_t(4)))
red = make("ReduceTensorDescriptor"); ok(L.cudnnSetReduceTensorDescriptor(red, 0, 0, 0, 1, 0))
ok(L.cudnnGetReductionIndicesSize(handle, red, x, b, byref(size))); out["sizes"].append(size.value)
ctc = make("CTCLossDescriptor"); ok(L.cudnnSetCTCLossDescriptor(ctc, 0))
probs = tensor(9, 2, 5)
ok(L.cudnnGetCTCLossWorkspaceSize(handle, probs, probs, ints(3, 1), ints(1, 1), ints(9, 9), 0, ctc, byref(size))); out["sizes"].append(size.value)
rnn, data, work, reserve = make("RNNDescriptor"), make("RNNDataDescriptor"), c_size_t(), c_size_t()
ok(L.cudnnSetRNNDescriptor_v8(rnn, 0, 2, 2, 0, 0, 0, 0, 0, 5, 7, 7, 1, drop, 0)), ok(L.cudnnSetRNNDataDescriptor(data, 0, 0, 9, 2, 5, ints(9, 4), None))
for mode in (0, 1): ok(L.cudnnGetRNNTempSpaceSizes(handle, rnn, mode, data, byref(work), byref(reserve))); out["sizes"] += [work.value, reserve.value]
stream, status = P(1), c_int(1)
ok(L.cudnnGetStream(handle, byref(stream))), ok(L.cudnnQueryRuntimeError(handle, byref(status), 0, None)); out["state"] = [stream.value, status.value]
mask, data_, call = c_int(), P(), P(); ok(L.cudnnSetCallback(7, P(5), None)), ok(L.cudnnGetCallback(byref(mask), byref(data_), byref(call))); out["callback"] = [mask.value, data_.value]
L.cudnnGetCudartVersion.restype = L.cudnnGetMaxDeviceVersion.restype = c_size_t
out["versions"] = [L.cudnnGetCudartVersion(), L.cudnnGetMaxDeviceVersion()]
out["checks"] = [getattr(L, f"cudnn{part}VersionCheck")() for part in ("Graph", "Ops", "Adv", "Cnn")]
"""
    )
    one = answer.one
    assert [one("miopenTransformTensor")[key] for key in ("alpha", "x", "beta", "y")] == [0.5, 1, 1, 2]
    assert [answer.of("miopenOpTensor")[0][key] for key in ("tensorOp", "alpha1", "A", "alpha2", "B", "beta", "C")] == [
        1,
        0.5,
        1,
        1,
        2,
        3,
        3,
    ]
    assert [
        one("miopenSoftmaxBackward_V2")[key] for key in ("alpha", "y", "dy", "beta", "dx", "algorithm", "mode")
    ] == [0.5, 1, 2, 1, 3, 1, 0]
    assert [one("miopenLRNBackward")[key] for key in ("y", "dy", "x", "dx")] == [1, 2, 3, 4]
    assert (
        one("miopenLRNForward")["do_backward"] == 1
        and one("miopenLRNForward")["workSpace"] == one("miopenLRNBackward")["workSpace"]
    )
    names = ("bn_mode", "x", "y", "bnScale", "bnBias", "estimatedMean", "estimatedVariance", "epsilon")
    assert [one("miopenBatchNormalizationForwardInference")[key] for key in names] == [0, 1, 2, 3, 4, 5, 6, 0.5]
    assert one("miopenBatchNormalizationForwardTraining")["y"] == 3
    assert [answer.of("miopenOpTensor")[1][key] for key in ("A", "B", "C")] == [3, 2, 3]
    assert [one("miopenActivationForward")[key] for key in ("x", "y")] == [3, 3]
    assert answer.out["none"] == [0, 0, 0] and answer.out["drop"] == [0.5, 1, 3]
    assert [one("miopenDropoutBackward")[key] for key in ("dy", "dx", "reserveSpace", "reserveSpaceSizeInBytes")] == [
        1,
        2,
        3,
        4,
    ]
    temporary = [foreseen("miopenGetRNNTempSpaceSizes", name) for name in ("workSpaceSize", "reserveSpaceSize")]
    assert answer.out["sizes"] == [
        foreseen("miopenDropoutGetStatesSize", "stateSizeInBytes"), foreseen("miopenDropoutGetReserveSpaceSize", "reserveSpaceSizeInBytes"),
        foreseen("miopenGetReductionIndicesSize", "sizeInBytes"), foreseen("miopenGetCTCLossWorkspaceSize", "workSpaceSize"),
        temporary[0], 0, *temporary,
    ]  # fmt: skip
    assert one("miopenSetRNNDescriptor_V2")["dropoutDesc"].startswith("Dropout#")
    assert (answer.out["state"], answer.out["callback"], answer.out["versions"], answer.out["checks"]) == (
        [None, 0],
        [7, 5],
        [12090, 92800],
        [0] * 4,
    )


@pytest.mark.parametrize("major", [8, 9])
def test_what_is_made_is_destroyed_with_its_counterpart(ask, major):
    answer = ask(
        CONVOLUTION
        + """
ok(L.cudnnConvolutionForward(handle, byref(one), x, P(1), w, P(2), conv, 1, P(3), c_size_t(1 << 20), byref(zero), y, P(4)))
for desc, kind in ((x, "Tensor"), (w, "Filter"), (y, "Tensor"), (conv, "Convolution")): ok(getattr(L, f"cudnnDestroy{kind}Descriptor")(desc))
ok(L.cudnnDestroy(handle))
"""
        + f"for kind in {KINDS!r}: ok(getattr(L, f'cudnnDestroy{{kind}}Descriptor')(make(f'{{kind}}Descriptor')))\n"
        + "if MAJOR == 8: out['checks'] = [getattr(L, f'cudnn{part}{way}VersionCheck')() for part in ('Ops', 'Adv', 'Cnn') for way in ('Infer', 'Train')]",
        major,
    )
    made = sum(name.startswith("miopenCreate") for name in answer.names())
    assert made == sum(name.startswith("miopenDestroy") for name in answer.names()) == 5
    assert answer.out.get("checks", [0] * 6) == [0] * 6 and "INVALID" not in str(answer.calls)


def test_every_function_that_is_served_is_called_by_a_test():
    here = Path(__file__).parent
    text = "".join((here / f"test_rocm_cudnn{part}.py").read_text(encoding="utf-8") for part in ("", "_graph", "_rest"))
    made = {f"cudnnCreate{kind}" for kind in re.findall(r'make\("(\w*)"\)', text)} | {
        f"cudnn{do}{kind}Descriptor" for do in ("Create", "Destroy") for kind in KINDS
    }
    made |= {
        f"cudnn{part}VersionCheck"
        for part in re.findall(r"\w+", "Graph Ops Adv Cnn OpsInfer OpsTrain AdvInfer AdvTrain CnnInfer CnnTrain")
    }
    made |= {f"cudnnGetConvolution{way}AlgorithmMaxCount" for way in ("Forward", "BackwardData", "BackwardFilter")}
    made |= {f"cudnnGetConvolution{name}" for name in ("GroupCount", "MathType", "ReorderType")}
    made |= {
        f"cudnnGetBatchNormalization{name}"
        for name in ("ForwardTrainingExWorkspaceSize", "BackwardExWorkspaceSize", "TrainingExReserveSpaceSize")
    }
    assert {name for name in served() if name not in text} - made == set()
