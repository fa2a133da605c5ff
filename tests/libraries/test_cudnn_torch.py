"""cuDNN on the processor against PyTorch's CPU operators in float64, as a second opinion."""

import ctypes

import numpy as np
import pytest

from libraries.cudnn_graphs import Graph
from libraries.cudnn_tensors import Dnn, factor
from libraries.test_cudnn_recurrent import Network

pytestmark = [pytest.mark.native, pytest.mark.torch]

torch = pytest.importorskip("torch", reason="this machine has no torch")


@pytest.fixture(scope="module")
def dnn(library):
    return Dnn(library("cudnn", "libcudnn.so.9"))


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def close(found, wanted):
    wanted = wanted.detach().numpy() if hasattr(wanted, "detach") else wanted
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("space", [1, 2, 3])
def test_convolutions(dnn, space, groups):
    x, w = draw(2, 6, *[9, 8, 7][:space]), draw(12, 6 // groups, *[3, 2, 3][:space], seed=1)
    pads, strides, dilations = [2, 1, 0][:space], [2, 1, 2][:space], [1, 2, 1][:space]
    tx, tw = (torch.tensor(v, requires_grad=True) for v in (x, w))
    function = [torch.nn.functional.conv1d, torch.nn.functional.conv2d, torch.nn.functional.conv3d][space - 1]
    ty = function(tx, tw, None, strides, pads, dilations, groups)
    dy = draw(*ty.shape, seed=2)
    ty.backward(torch.tensor(dy))
    desc, one, zero = dnn.convolution(pads, strides, dilations, 1, groups, 1), factor("f64", 1), factor("f64", 0)
    X, W, DY = dnn.tensor("f64", x), dnn.tensor("f64", w, filter=True), dnn.tensor("f64", dy)
    y, dx, dw = dnn.zeros("f64", dy.shape), dnn.zeros("f64", x.shape), dnn.zeros("f64", w.shape, filter=True)
    dnn.call("cudnnConvolutionForward", dnn.handle, one, *X.args, *W.args, desc, 0, None, 0, zero, *y.args)
    dnn.call("cudnnConvolutionBackwardData", dnn.handle, one, *W.args, *DY.args, desc, 0, None, 0, zero, *dx.args)
    dnn.call("cudnnConvolutionBackwardFilter", dnn.handle, one, *X.args, *DY.args, desc, 0, None, 0, zero, *dw.args)
    close(y.values, ty)
    close(dx.values, tx.grad)
    close(dw.values, tw.grad)


@pytest.mark.parametrize("cell", ["LSTM", "GRU"])
def test_recurrent_networks_with_their_gradients(dnn, cell):
    net = Network(dnn, cell=cell, directions=2, layers=2, lengths=(4, 4, 4), kind="f64")
    module = getattr(torch.nn, cell)(net.inputs, net.hidden, 2, bidirectional=True, dtype=torch.float64)
    # cuDNN's order: matrices of all layers and directions, then their biases.
    names = [
        f"{kind}_{part}_l{layer}{way}"
        for kind in ("weight", "bias")
        for layer in range(2)
        for way in ("", "_reverse")
        for part in ("ih", "hh")
    ]
    flat = [getattr(module, name) for name in names]
    at = 0
    with torch.no_grad():
        for parameter in flat:
            parameter.copy_(torch.tensor(net.weights[at : at + parameter.numel()]).reshape(parameter.shape))
            at += parameter.numel()
    assert at == net.weights.size
    x, hx, cx = net.inputs_of_a_run()
    tx = torch.tensor(x, requires_grad=True)
    state = (torch.tensor(hx), torch.tensor(cx)) if cell == "LSTM" else torch.tensor(hx)
    ty, _ = module(tx, state)
    y, _, _, (reserve, size) = net.run(1, x, hx, cx)
    close(y, ty)
    dy, dx, dw = net.draw(y.shape), np.zeros_like(x), np.zeros_like(net.weights)
    ty.backward(torch.tensor(dy))
    shared = [net.weight_bytes, net.weights, 0, None, size, reserve]
    dnn.call("cudnnRNNBackwardData_v8", dnn.handle, net.desc, None, net.y_desc, y, dy, net.x_desc, dx, net.h_desc, hx,
             None, None, net.c_desc, cx, None, None, *shared)  # fmt: skip
    dnn.call("cudnnRNNBackwardWeights_v8", dnn.handle, net.desc, 0, None, net.x_desc, x, net.h_desc, hx, net.y_desc, y,
             net.weight_bytes, dw, 0, None, size, reserve)  # fmt: skip
    close(dx, tx.grad)
    close(dw, torch.cat([parameter.grad.ravel() for parameter in flat]))


def test_the_loss_of_temporal_classification(dnn):
    logits = draw(20, 3, 6)
    labels, counts, lengths = (np.array(v, np.int32) for v in ([1, 2, 2, 5, 3, 4, 4, 4], [4, 1, 3], [20, 11, 15]))
    tx = torch.tensor(logits, requires_grad=True)
    loss = torch.nn.functional.ctc_loss(
        tx.log_softmax(2), *(torch.tensor(v.astype(np.int64)) for v in (labels, lengths, counts)), reduction="none"
    )
    loss.sum().backward()
    probs, slopes, costs, desc = (
        dnn.tensor("f64", logits),
        dnn.zeros("f64", logits.shape),
        np.zeros(3),
        dnn.make("CTCLoss"),
    )
    dnn.call("cudnnSetCTCLossDescriptorEx", desc, 0, 1, 0)
    dnn.call("cudnnCTCLoss", dnn.handle, *probs.args, labels, counts, lengths, costs, *slopes.args, 0, desc, None, 0)
    close(costs, loss)
    close(slopes.values, tx.grad)


def test_attention(dnn):
    q, k, v = draw(2, 3, 7, 8), draw(2, 3, 9, 8, seed=1), draw(2, 3, 9, 8, seed=2)
    wanted = torch.nn.functional.scaled_dot_product_attention(*map(torch.tensor, (q, k, v)))
    graph = Graph(dnn, "f64")
    s = graph.matmul(graph.tensor(None, q), graph.tensor(None, np.swapaxes(k, 2, 3), order=(0, 1, 3, 2)), compute=1)
    s = graph.pointwise("MUL", s, graph.scalar(8**-0.5, "f64"))
    e = graph.pointwise("EXP", graph.pointwise("SUB", s, graph.reduction("MAX", s, (2, 3, 7, 1))))
    p = graph.pointwise("DIV", e, graph.reduction("ADD", e, (2, 3, 7, 1)))
    close(graph.run(graph.matmul(p, graph.tensor(None, v), graph.tensor(q.shape, out=True), compute=1)), wanted)
    graph.close()


@pytest.mark.parametrize("axes", [1, 2])
def test_batch_normalisation(dnn, axes):
    x, dy = draw(5, 4, *[6, 3][:axes]), draw(5, 4, *[6, 3][:axes], seed=1)
    x, dy = (v.reshape(5, 4, 6, -1) for v in (x, dy))
    tx, weight, bias = (torch.tensor(v, requires_grad=True) for v in (x, draw(4, seed=2), draw(4, seed=3)))
    mean, variance = torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)
    ty = torch.nn.functional.batch_norm(tx, mean, variance, weight, bias, True, 0.1, 1e-5)
    ty.backward(torch.tensor(dy))
    X, DY, y, dx = dnn.tensor("f64", x), dnn.tensor("f64", dy), dnn.zeros("f64", x.shape), dnn.zeros("f64", x.shape)
    few = dnn.descriptor("f64", (1, 4, 1, 1), (4, 1, 1, 1))
    scale, shift, m, v = (
        a.detach().numpy().copy()
        for a in (weight, bias, torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64))
    )
    saved, inverse, ds, db = (np.zeros(4) for _ in range(4))
    one, zero = factor("f64", 1), factor("f64", 0)
    dnn.call("cudnnBatchNormalizationForwardTraining", dnn.handle, 1, one, zero, *X.args, *y.args, few, scale, shift,
             0.1, m, v, 1e-5, saved, inverse)  # fmt: skip
    dnn.call("cudnnBatchNormalizationBackward", dnn.handle, 1, one, zero, one, zero, *X.args, *DY.args, *dx.args, few,
             scale, ds, db, 1e-5, saved, inverse)  # fmt: skip
    for found, wanted in (
        (y.values, ty),
        (m, mean),
        (v, variance),
        (dx.values, tx.grad),
        (ds, weight.grad),
        (db, bias.grad),
    ):
        close(found, wanted)
    assert ctypes.sizeof(one) == 8
