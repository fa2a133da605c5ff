"""cuDNN's recurrent networks and CTC loss against their definitions in float64; gradients against differences of them."""

import ctypes
from itertools import groupby, product

import numpy as np
import pytest

from libraries.cudnn_reference import numeric_gradient, recurrent_cell
from libraries.cudnn_tensors import TYPES, Dnn, decoded, encoded, ints, near

pytestmark = pytest.mark.native

CELLS = {"RELU": (0, 1), "TANH": (1, 1), "LSTM": (2, 4), "GRU": (3, 3)}  # number, gates


@pytest.fixture(scope="module")
def dnn(library):
    return Dnn(library("cudnn", "libcudnn.so.9"))


class Network:
    """A network with weights drawn at random, and its definition in numpy."""

    def __init__(
        self,
        dnn,
        cell="LSTM",
        kind="f64",
        directions=1,
        layers=1,
        bias=2,
        skip=False,
        projection=0,
        layout=0,
        lengths=(4, 2, 3),
        inputs=3,
        hidden=5,
        rate=0.0,
        more=0,
    ):
        self.dnn, self.kind, self.cell, self.gates = dnn, kind, cell, CELLS[cell][1]
        self.directions, self.layers, self.bias, self.skip, self.layout = directions, layers, bias, skip, layout
        self.inputs, self.hidden, self.out, self.projects = (
            (hidden if skip else inputs),
            hidden,
            projection or hidden,
            bool(projection),
        )
        self.lengths, self.steps, self.batch = list(lengths), max(lengths), len(lengths)
        self.dropout = None
        if rate:
            self.dropout, self.states = dnn.make("Dropout"), np.zeros(64, np.uint8)
            dnn.call("cudnnSetDropoutDescriptor", self.dropout, dnn.handle, rate, self.states, 64, 7)
        self.desc = dnn.make("RNN")
        code = TYPES[kind][0]
        dnn.call("cudnnSetRNNDescriptor_v8", self.desc, 0, CELLS[cell][0], bias, directions - 1, int(skip), code, int(kind == "f64"), 0, self.inputs, hidden,
                 projection or hidden, layers, self.dropout, 1)  # fmt: skip
        size = ctypes.c_size_t()
        dnn.call("cudnnGetRNNWeightSpaceSize", dnn.handle, self.desc, size)
        self.weight_bytes = size.value
        self.weights = np.zeros(size.value // np.dtype(TYPES[kind][1]).itemsize, TYPES[kind][1])
        self.rng = np.random.default_rng(11)
        self.weights[...] = encoded(kind, self.rng.standard_normal(self.weights.size) / 2)
        self.state_shape = (layers * directions, self.batch, self.out)
        self.cell_shape = (layers * directions, self.batch, hidden)
        strides = lambda s: (s[1] * s[2], s[2], 1)  # noqa: E731
        self.h_desc, self.c_desc = (
            dnn.descriptor(kind, (*shape, *[1] * more), (*strides(shape), *[1] * more))
            for shape in (self.state_shape, self.cell_shape)
        )
        self.x_desc, self.y_desc = self.data(self.inputs), self.data(self.out * directions)

    def data(self, vector):
        desc = self.dnn.make("RNNData")
        self.dnn.call(
            "cudnnSetRNNDataDescriptor",
            desc,
            TYPES[self.kind][0],
            self.layout,
            self.steps,
            self.batch,
            vector,
            ints(self.lengths),
            None,
        )
        return desc

    def part(self, pseudo, number, memory=None):
        """(matrix, bias) as views of a weight space."""
        memory = self.weights if memory is None else memory
        matrix, bias = self.dnn.make("Tensor"), self.dnn.make("Tensor")
        at, bias_at = ctypes.c_void_p(), ctypes.c_void_p()
        self.dnn.call(
            "cudnnGetRNNWeightParams",
            self.dnn.handle,
            self.desc,
            pseudo,
            self.weight_bytes,
            memory,
            number,
            matrix,
            at,
            bias,
            bias_at,
        )

        def view(desc, address):
            if not address.value:
                return None
            dims, strides, rank = (ctypes.c_int * 3)(), (ctypes.c_int * 3)(), ctypes.c_int()
            self.dnn.call("cudnnGetTensorNdDescriptor", desc, 3, ctypes.c_int(), rank, dims, strides)
            first = (address.value - memory.ctypes.data) // memory.itemsize
            return memory[first : first + dims[1] * dims[2]].reshape(dims[1], dims[2])

        return view(matrix, at), view(bias, bias_at)

    def numbers(self, pseudo):
        """Weights of a layer and direction as float64: (input, state, projection, input bias, state bias)."""
        parts = [self.part(pseudo, i) for i in range(2 * self.gates)]
        stack = lambda views: None if views[0] is None else np.stack([decoded(self.kind, v) for v in views])  # noqa: E731
        inputs, states = parts[: self.gates], parts[self.gates :]
        projection = decoded(self.kind, self.part(pseudo, 2 * self.gates)[0]) if self.projects else None
        return (
            stack([m for m, _ in inputs]),
            stack([m for m, _ in states]),
            projection,
            stack([b for _, b in inputs]),
            stack([b for _, b in states]),
        )

    def forward(self, x, hx, cx):
        """By the definition; x by [step, sequence, element]. Returns y, hy, cy."""
        hy, cy = hx.copy(), cx.copy()
        for layer in range(self.layers):
            outputs = []
            for d in range(self.directions):
                slot = layer * self.directions + d
                w, r, p, bw, br = self.numbers(slot)
                y = np.zeros((self.steps, self.batch, self.out))
                for b in range(self.batch):
                    h, c = hx[slot, b], cx[slot, b]
                    steps = range(self.lengths[b])
                    for t in reversed(steps) if d else steps:
                        gates = np.stack([x[t, b]] * self.gates) if w is None else w @ x[t, b]
                        gates = gates + (0 if bw is None else bw[..., 0])
                        h, c = recurrent_cell(self.cell, gates, r @ h + (0 if br is None else br[..., 0]), h, c)
                        h = p @ h if self.projects else h
                        y[t, b] = h
                    hy[slot, b], cy[slot, b] = h, c
                outputs.append(y)
            x = np.concatenate(outputs, -1)
        return x, hy, cy

    def lay(self, values):
        """By [step, sequence, element] into the layout's memory."""
        if self.layout == 1:
            rows = [values[t, b] for t in range(self.steps) for b in range(self.batch) if t < self.lengths[b]]
            return encoded(self.kind, np.stack(rows))
        return encoded(self.kind, np.ascontiguousarray(values if self.layout == 0 else values.swapaxes(0, 1)))

    def read(self, memory, vector):
        out = np.zeros((self.steps, self.batch, vector))
        values = decoded(self.kind, memory)
        if self.layout == 1:
            rows = iter(values.reshape(-1, vector))
            for t in range(self.steps):
                for b in range(self.batch):
                    if t < self.lengths[b]:
                        out[t, b] = next(rows)
            return out
        return (
            values.reshape(self.steps, self.batch, vector)
            if self.layout == 0
            else values.reshape(self.batch, self.steps, vector).swapaxes(0, 1)
        )

    def spaces(self, mode):
        work, reserve = ctypes.c_size_t(), ctypes.c_size_t()
        self.dnn.call("cudnnGetRNNTempSpaceSizes", self.dnn.handle, self.desc, mode, self.x_desc, work, reserve)
        assert work.value == 0
        return np.zeros(max(1, reserve.value), np.uint8), reserve.value

    def draw(self, shape):
        return decoded(self.kind, encoded(self.kind, self.rng.standard_normal(shape)))

    def inputs_of_a_run(self):
        x = self.draw((self.steps, self.batch, self.inputs))
        for b, n in enumerate(self.lengths):
            x[n:, b] = np.nan  # is not read
        return x, self.draw(self.state_shape), self.draw(self.cell_shape)

    def run(self, mode, x, hx, cx):
        """Returns y, hy, cy, (reserve, its size)."""
        space = self.spaces(mode)
        y = np.full_like(self.lay(np.zeros((self.steps, self.batch, self.out * self.directions))), 0)
        hy, cy = (np.zeros(s, TYPES[self.kind][1]) for s in (self.state_shape, self.cell_shape))
        self.dnn.call("cudnnRNNForward", self.dnn.handle, self.desc, mode, None, self.x_desc, self.lay(x), self.y_desc, y, self.h_desc, encoded(self.kind, hx), hy,
                      self.c_desc, encoded(self.kind, cx), cy, self.weight_bytes, self.weights, 0, None, space[1], space[0])  # fmt: skip
        return self.read(y, self.out * self.directions), decoded(self.kind, hy), decoded(self.kind, cy), space


VARIANTS = [
    {"cell": cell, "directions": d, "layers": n, "layout": layout}
    for (cell, d, n), layout in zip(product(CELLS, (1, 2), (1, 2)), [0, 1, 2, 0] * 4, strict=True)
] + [
    {"bias": 0}, {"bias": 1, "cell": "GRU"}, {"bias": 3, "layers": 2}, {"skip": True, "cell": "TANH", "directions": 2, "layers": 2}, {"skip": True, "cell": "GRU"},
    {"projection": 2, "directions": 2, "layers": 2}, {"lengths": (1,)}, {"lengths": (3, 0, 2)},
]  # fmt: skip
NAMES = ["-".join(f"{v}" for v in variant.values()) for variant in VARIANTS]


def sorted_lengths(variant):
    if variant.get("layout") == 1:
        variant = {**variant, "lengths": (4, 3, 2)}
    return variant


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("variant", VARIANTS, ids=NAMES)
def test_forward(dnn, variant, kind):
    net = Network(dnn, kind=kind, **sorted_lengths(variant))
    x, hx, cx = net.inputs_of_a_run()
    wanted = net.forward(x, hx, cx)
    for mode in (0, 1):
        found = net.run(mode, x, hx, cx)
        for k in range(2 + (net.cell == "LSTM")):
            near(found[k], wanted[k], kind, 200, 8)


def test_states_may_have_more_dimensions_of_size_1(dnn):
    """PyTorch describes them in five."""
    net = Network(dnn, directions=2, layers=2, more=2)
    x, hx, cx = net.inputs_of_a_run()
    for found, wanted in zip(net.run(1, x, hx, cx), net.forward(x, hx, cx), strict=False):
        near(found, wanted, "f64", 200, 8)


@pytest.mark.parametrize("variant", VARIANTS, ids=NAMES)
def test_backward(dnn, variant):
    net = Network(dnn, kind="f64", **sorted_lengths(variant))
    if net.cell == "RELU":
        net.rng = np.random.default_rng(5)
    x, hx, cx = net.inputs_of_a_run()
    *_, (reserve, size) = net.run(1, x, hx, cx)
    dy, dhy, dcy = (
        net.draw((net.steps, net.batch, net.out * net.directions)),
        net.draw(net.state_shape),
        net.draw(net.cell_shape),
    )
    dx = np.zeros_like(net.lay(np.zeros(x.shape)))
    dhx, dcx = np.zeros(net.state_shape), np.zeros(net.cell_shape)
    lstm = net.cell == "LSTM"
    dnn.call("cudnnRNNBackwardData_v8", dnn.handle, net.desc, None, net.y_desc, net.lay(dy), net.lay(dy), net.x_desc, dx, net.h_desc, hx, dhy, dhx, net.c_desc, cx, dcy, dcx,
             net.weight_bytes, net.weights, 0, None, size, reserve)  # fmt: skip
    dw = np.ones_like(net.weights)
    for mode in (0, 1):  # add; set
        dnn.call("cudnnRNNBackwardWeights_v8", dnn.handle, net.desc, mode, None, net.x_desc, net.lay(x), net.h_desc, hx, net.y_desc, net.lay(dy), net.weight_bytes, dw, 0, None, size,
                 reserve)  # fmt: skip
        dw, added = (np.full_like(dw, np.nan), dw) if mode == 0 else (dw, added)  # noqa: F821
    np.testing.assert_allclose(added, dw + 1, rtol=1e-12, atol=1e-12)
    seen = np.stack([np.arange(net.steps) < n for n in net.lengths], 1)[..., None]

    def loss(x, hx, cx):
        y, hy, cy = net.forward(x, hx, cx)
        return (np.where(seen, y * dy, 0)).sum() + (hy * dhy).sum() + ((cy * dcy).sum() if lstm else 0)

    # Along random ways, which a wrong element would turn.
    for _ in range(2):
        ways = [net.rng.standard_normal(v.shape) for v in (x, hx, cx, net.weights)]
        kept, ends = net.weights.copy(), []
        for side in (1e-6, -1e-6):
            net.weights[...] = kept + side * ways[3]
            ends.append(loss(x + side * ways[0], hx + side * ways[1], cx + side * ways[2]))
        net.weights[...] = kept
        wanted = (ends[0] - ends[1]) / 2e-6
        found = (
            np.where(seen, net.read(dx, net.inputs) * ways[0], 0).sum()
            + (dhx * ways[1]).sum()
            + (dcx * ways[2]).sum() * lstm
            + (dw * ways[3]).sum()
        )
        assert abs(found - wanted) < 1e-6 * (1 + abs(wanted)), (found, wanted)


def test_dropout_between_layers_is_kept_for_the_gradients(dnn):
    net = Network(dnn, kind="f64", layers=2, rate=0.5, cell="TANH", lengths=(3, 3), hidden=16)
    x, hx, cx = net.inputs_of_a_run()
    plain, *_ = net.run(0, x, hx, cx)
    near(plain, net.forward(x, hx, cx)[0], "f64", 100)
    dropped, _, _, (reserve, size) = net.run(1, x, hx, cx)
    assert abs(dropped - plain).max() > 1e-3
    dy, dx = net.draw(plain.shape), np.zeros(x.shape)
    dnn.call("cudnnRNNBackwardData_v8", dnn.handle, net.desc, None, net.y_desc, net.lay(dropped), net.lay(dy), net.x_desc, dx, net.h_desc, hx, None, None, net.c_desc, None, None, None,
             net.weight_bytes, net.weights, 0, None, size, reserve)  # fmt: skip
    states = net.states.copy()
    way, ends = net.draw(x.shape), []
    for side in (1e-6, -1e-6):
        net.states[...] = states
        net.states[8:16].view(np.uint64)[0] -= 1  # the same factors again
        ends.append((net.run(1, x + side * way, hx, cx)[0] * dy).sum())
    assert abs((ends[0] - ends[1]) / 2e-6 - (dx * way).sum()) < 1e-6


def test_what_does_not_go_together_is_refused(dnn):
    desc = dnn.make("RNN")
    arguments = [0, 2, 2, 0, 0, 0, 0, 0, 3, 5, 5, 1, None, 0]
    dnn.call("cudnnSetRNNDescriptor_v8", desc, *arguments)
    for place, value in [(1, 4), (2, 4), (8, 0), (10, 6), (4, 1)]:
        changed = arguments.copy()
        changed[place] = value
        assert dnn.status("cudnnSetRNNDescriptor_v8", desc, *changed) == 2000
    packed = dnn.make("RNNData")
    assert dnn.status("cudnnSetRNNDataDescriptor", packed, 0, 1, 4, 2, 3, ints([2, 4]), None) == 2000  # not sorted
    net = Network(dnn, kind="f32")
    x, hx, cx = net.inputs_of_a_run()
    assert dnn.status("cudnnRNNForward", dnn.handle, net.desc, 0, None, net.x_desc, net.lay(x), net.y_desc, net.lay(x), net.h_desc, None, None, net.c_desc, None, None,
                      net.weight_bytes - 1, net.weights, 0, None, 0, None) == 2006  # fmt: skip


def collapse(path):
    return tuple(k for k, _ in groupby(path) if k)


def loss_of(logits, labels):
    """The sum over every path that collapses to the labels."""
    p = np.exp(logits - logits.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    total = sum(
        np.prod([p[t, k] for t, k in enumerate(path)])
        for path in product(range(p.shape[1]), repeat=len(p))
        if collapse(path) == labels
    )
    return -np.log(total) if total else np.inf


@pytest.mark.parametrize("given", ["logits", "probabilities"])
@pytest.mark.parametrize("interface", ["host", "device"])
def test_the_loss_of_temporal_classification(dnn, given, interface):
    steps, symbols = 5, 3
    labels, lengths = [(1, 2), (1, 1), (), (2,), (1, 1, 2)], [5, 4, 3, 1, 3]
    logits = np.random.default_rng(8).standard_normal((steps, len(labels), symbols))
    fed = logits if given == "logits" else np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    probs, slopes = dnn.tensor("f64", fed), dnn.tensor("f64", np.full(logits.shape, np.nan))
    desc, costs = dnn.make("CTCLoss"), np.zeros(len(labels))
    dnn.call("cudnnSetCTCLossDescriptor_v9", desc, 0, int(given == "logits"), 0, 4)
    flat, counts = (
        np.array([k for label in labels for k in label], np.int32),
        np.array([len(label) for label in labels], np.int32),
    )
    of = np.array(lengths, np.int32)
    if interface == "host":
        dnn.call("cudnnCTCLoss", dnn.handle, *probs.args, flat, counts, of, costs, *slopes.args, 0, desc, None, 0)
    else:
        dnn.call("cudnnCTCLoss_v8", dnn.handle, 0, desc, *probs.args, flat, counts, of, costs, *slopes.args, 0, None)
    for b, (label, n) in enumerate(zip(labels, lengths, strict=True)):
        mine = logits[:n, b].copy()
        wanted = loss_of(mine, label)
        assert costs[b] == wanted or abs(costs[b] - wanted) < 1e-12
        slope = numeric_gradient(lambda v, label=label: loss_of(v, label), mine) if np.isfinite(wanted) else 0
        assert abs(slopes.values[:n, b] - slope).max() < 1e-7
        assert (slopes.values[n:, b] == 0).all()
