"""cuDNN's multi-head attention with its weights inside, against its definition in float64; gradients against differences of that."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.cudnn_tensors import TYPES, Dnn, decoded, encoded, ints, near
from spread import properties

pytestmark = pytest.mark.native

TIME, BATCH, BEAM, VECTOR = range(4)
ORDERS = [(TIME, BATCH, BEAM), (TIME, BEAM, BATCH), (BATCH, TIME, BEAM), (BATCH, BEAM, TIME), (BEAM, TIME, BATCH), (BEAM, BATCH, TIME)]  # fmt: skip
BAD, NOT_SUPPORTED, NULL, SHAPE, SMALL = 2000, 3000, 2002, 2008, 2006


@pytest.fixture(scope="module", autouse=True)
def dnn(library):
    global DNN  # properties take no fixtures
    DNN = Dnn(library("cudnn", "libcudnn.so.9"))
    return DNN


class Sequences:
    """Numbers by [batch, beam, step, element] as sequence data of any order of axes; what lies behind a sequence's end is NaN unless given."""

    def __init__(self, kind, values, lengths, order=ORDERS[0], fill=None):
        batch, beams, steps, width = self.shape = values.shape
        self.kind, self.order, self.lengths = kind, order, np.array(lengths).reshape(batch, beams)
        self.desc, sizes = DNN.make("SeqData"), {TIME: steps, BATCH: batch, BEAM: beams, VECTOR: width}
        given = self.lengths if order.index(BATCH) < order.index(BEAM) else self.lengths.T
        self.device_lengths = np.ascontiguousarray(given.reshape(-1), np.int32)
        filling = None if fill is None else encoded(kind, np.array([fill]))
        DNN.call("cudnnSetSeqDataDescriptor", self.desc, TYPES[kind][0], 4, ints([sizes[i] for i in range(4)]), ints([*order, VECTOR]), batch * beams,
                 ints(self.device_lengths), filling)  # fmt: skip
        self.set(values)

    def set(self, values):
        axes = {BATCH: 0, BEAM: 1, TIME: 2}
        self.memory = np.ascontiguousarray(encoded(self.kind, values.transpose(*(axes[a] for a in self.order), 3)))

    @property
    def values(self):
        axes = [self.order.index(a) for a in (BATCH, BEAM, TIME)]
        return decoded(self.kind, self.memory).transpose(*axes, 3)

    @property
    def args(self):
        return self.desc, self.memory

    def inside(self):
        return np.arange(self.shape[2])[None, None, :, None] < self.lengths[..., None, None]


def softmax(scores, seen):
    powers = np.where(seen, np.exp(scores - np.where(seen, scores, -np.inf).max(initial=-1e300, where=seen)), 0)
    return powers / powers.sum() if seen.any() else powers


class Layer:
    def __init__(self, p, dropout=None, post=None):
        self.p, self.kind = p, p["kind"]
        self.heads, self.scale = p["heads"], p["scale"]
        self.sizes, self.projections = p["sizes"], p["projections"]
        self.desc = DNN.make("Attn")
        code = TYPES[self.kind][0]
        self.arguments = [p["mode"], self.heads, self.scale, code, 1 if self.kind == "f64" else 0, 0, dropout, post, *self.sizes, *self.projections,
                          p["steps"][0] + p["spare"], p["steps"][1] + p["spare"], p["batch"] + p["spare"], p["beams"] + p["spare"]]  # fmt: skip
        DNN.call("cudnnSetAttnDescriptor", self.desc, *self.arguments)
        sizes = [ctypes.c_size_t() for _ in range(3)]
        DNN.call("cudnnGetMultiHeadAttnBuffers", DNN.handle, self.desc, *sizes)
        self.weight_bytes, work, self.reserve_bytes = (s.value for s in sizes)
        assert work == 0
        self.rng = np.random.default_rng(p["seed"])
        item = np.dtype(TYPES[self.kind][1]).itemsize
        self.weights = encoded(self.kind, self.rng.standard_normal(self.weight_bytes // item) / 2)
        self.reserve = np.zeros(self.reserve_bytes, np.uint8)
        projected = self.projections[2] or self.sizes[2]
        self.out = self.projections[3] or self.heads * projected

    def part(self, which, memory=None):
        """A view of weights as cudnnGetMultiHeadAttnWeights describes it, or None."""
        memory = self.weights if memory is None else memory
        desc, at = DNN.make("Tensor"), ctypes.c_void_p()
        DNN.call("cudnnGetMultiHeadAttnWeights", DNN.handle, self.desc, which, self.weight_bytes, memory, desc, at)
        if not at.value:
            return None
        kind, rank, dims, strides = ctypes.c_int(), ctypes.c_int(), (ctypes.c_int * 3)(), (ctypes.c_int * 3)()
        DNN.call("cudnnGetTensorNdDescriptor", desc, 3, kind, rank, dims, strides)
        assert (kind.value, rank.value) == (TYPES[self.kind][0], 3)
        first = (at.value - memory.ctypes.data) // memory.itemsize
        return np.lib.stride_tricks.as_strided(memory[first:], tuple(dims), [s * memory.itemsize for s in strides])

    def numbers(self, which):
        found = self.part(which)
        return None if found is None else decoded(self.kind, found)

    def forward(self, q, k, v, windows, lengths, residual=None, factors=None):
        """By the definition: the sum over heads of W_O (W_V V softmax(scale K^T W_K^T W_Q q)). Lengths are those of queries and of keys."""
        batch, beams, steps, _ = q.shape
        out = np.zeros((batch, beams, steps, self.out))
        w, b = [self.numbers(i) for i in range(4)], [self.numbers(4 + i) for i in range(4)]

        def project(which, x, head):
            if w[which] is None:
                return x
            return w[which][head] @ x + (0 if b[which] is None else b[which][head, :, 0])

        for at in np.ndindex(batch, beams, steps):
            i, beam, t = at
            if t >= lengths[0][i, beam]:
                continue
            kv = (i, beam) if self.p["mode"] & 1 else (i, 0)
            count = lengths[1][kv]
            seen = np.array([windows[0][t] <= j < windows[1][t] for j in range(count)], bool)
            parts = []
            for head in range(self.heads):
                query = project(0, q[at], head)
                scores = np.array([self.scale * project(1, k[(*kv, j)], head) @ query for j in range(count) if seen[j]])
                shares = softmax(scores, np.ones(scores.shape, bool))
                values = [project(2, v[(*kv, j)], head) for j in range(count) if seen[j]]
                parts.append(
                    sum(
                        (s * x for s, x in zip(shares, values, strict=True)),
                        np.zeros(self.out // self.heads if w[3] is None else w[3].shape[2]),
                    )
                )
            if w[3] is None:
                out[at] = np.concatenate(parts)
            else:
                out[at] = sum(w[3][h] @ part for h, part in enumerate(parts)) + (0 if b[3] is None else b[3][0, :, 0])
            if residual is not None:
                out[at] += residual[at]
        return out


@st.composite
def layers(draw, kinds=("f32", "f64", "f16", "bf16")):
    number = lambda low, high: draw(st.integers(low, high))  # noqa: E731
    mode, beams, batch = number(0, 3), number(1, 3), number(1, 3)
    common, projected = number(1, 5), draw(st.booleans())
    q_projects, k_projects = (draw(st.booleans()), draw(st.booleans())) if projected else (False, False)
    sizes = [number(1, 6) if q_projects else common, number(1, 6) if k_projects else common, number(1, 5)]
    projections = [common * q_projects, common * k_projects, number(0, 4), number(0, 4)]
    steps = number(1, 6), number(1, 6)
    low = [number(0, 3) for _ in range(steps[0])]
    return {
        "mode": mode, "heads": number(1, 3), "scale": draw(st.sampled_from([0.0, 0.5, 1.0, 1.5])), "kind": draw(st.sampled_from(list(kinds))),
        "sizes": sizes, "projections": projections, "steps": steps, "batch": batch, "beams": beams, "spare": number(0, 2),
        "lengths": [draw(st.lists(st.integers(0, s), min_size=batch * b, max_size=batch * b)) for s, b in zip(steps, (beams, beams if mode & 1 else 1), strict=True)],
        "windows": (low, [at + number(0, 6) for at in low]), "orders": [draw(st.sampled_from(ORDERS)) for _ in range(4)], "seed": number(0, 99),
        "residual": draw(st.booleans()), "fill": draw(st.sampled_from([None, 0.5, -3.0])),
    }  # fmt: skip


class Run:
    """A layer with its inputs."""

    def __init__(self, p, **dropouts):
        self.p, self.layer = p, Layer(p, **dropouts)
        rng, kv_beams = self.layer.rng, p["beams"] if p["mode"] & 1 else 1
        self.lengths = [
            np.array(n).reshape(p["batch"], b) for n, b in zip(p["lengths"], (p["beams"], kv_beams), strict=True)
        ]
        self.given = []
        for i in range(3):
            shape = p["batch"], (kv_beams if i else p["beams"]), p["steps"][i > 0], p["sizes"][i]
            lengths = self.lengths[i > 0]
            made = Sequences(p["kind"], rng.standard_normal(shape), lengths, p["orders"][i])
            made.set(np.where(made.inside(), made.values, np.nan))  # is not read
            self.given.append(made)
        self.residual = None
        if p["residual"] and p["sizes"][0] == self.layer.out:
            self.residual = rng.standard_normal(self.given[0].shape)
            self.residual = Sequences(p["kind"], self.residual, self.lengths[0], p["orders"][0])
        self.out_shape = p["batch"], p["beams"], p["steps"][0], self.layer.out

    def empty(self, fill=None):
        return Sequences(self.p["kind"], np.full(self.out_shape, 77.0), self.lengths[0], self.p["orders"][3], fill)

    def wanted(self):
        values = [np.nan_to_num(g.values) for g in self.given]
        rest = None if self.residual is None else self.residual.values
        return self.layer.forward(*values, self.p["windows"], self.lengths, rest)

    def arguments(self, out, current=-1, trains=False):
        layer, (q, k, v) = self.layer, self.given
        return [DNN.handle, layer.desc, current, *map(ints, self.p["windows"]), q.device_lengths, k.device_lengths, *q.args,
                None if self.residual is None else self.residual.memory, *k.args, *v.args, *out.args, layer.weight_bytes, layer.weights, 0, None,
                layer.reserve_bytes if trains else 0, layer.reserve if trains else None]  # fmt: skip

    def forward(self, current=-1, trains=False, fill=None):
        out = self.empty(fill)
        DNN.call("cudnnMultiHeadAttnForward", *self.arguments(out, current, trains))
        return out

    def backward(self, dout, gradients):
        layer, (q, k, v) = self.layer, self.given
        both = [x for made, given in zip(gradients, (q, k, v), strict=True) for x in (*made.args, given.memory)]
        DNN.call("cudnnMultiHeadAttnBackwardData", DNN.handle, layer.desc, *map(ints, self.p["windows"]), q.device_lengths, k.device_lengths, *dout.args, *both,
                 layer.weight_bytes, layer.weights, 0, None, layer.reserve_bytes, layer.reserve)  # fmt: skip

    def backward_weights(self, dout, dw, mode):
        layer = self.layer
        inputs = [x for given in self.given for x in given.args]
        DNN.call("cudnnMultiHeadAttnBackwardWeights", DNN.handle, layer.desc, mode, *inputs, *dout.args, layer.weight_bytes, layer.weights, dw, 0, None,
                 layer.reserve_bytes, layer.reserve)  # fmt: skip


@properties(60, 1500, layers())
def test_forward(p):
    run = Run(p)
    wanted, inside = run.wanted(), run.empty().inside()
    for trains in (False, True):
        out = run.forward(trains=trains, fill=p["fill"])
        near(np.where(inside, out.values, 0), wanted, p["kind"], 200, 16)
        assert (np.where(inside, p["fill"] or 0, out.values) == (p["fill"] or 0)).all()


@properties(30, 600, layers(kinds=("f32", "f64")))
def test_one_step_after_the_other(p):
    """By currIdx: only that step is written, and keys outside of its window need not be there yet."""
    run = Run(p)
    wanted = run.wanted()
    k, v = run.given[1:]
    kept = k.values.copy(), v.values.copy()
    for t in range(p["steps"][0]):
        seen = np.arange(p["steps"][1])[None, None, :, None]
        seen = (seen >= p["windows"][0][t]) & (seen < p["windows"][1][t])
        for made, values in zip((k, v), kept, strict=True):
            made.set(np.where(seen, values, np.nan))
        out = run.forward(current=t)
        others = np.delete(out.values, t, axis=2)
        assert (others == 77).all()
        near(out.values[:, :, t], wanted[:, :, t], p["kind"], 200, 16)


@properties(40, 800, layers(kinds=("f64",)))
def test_gradients(p):
    """Along random ways, which a wrong element would turn; weights are added to or set."""
    run = Run(p)
    layer, rng = run.layer, run.layer.rng
    run.forward(trains=True)
    dout = Sequences(p["kind"], rng.standard_normal(run.out_shape), run.lengths[0], p["orders"][3])
    slope = np.where(dout.inside(), dout.values, 0)
    dout.set(np.where(dout.inside(), dout.values, np.nan))
    made = [Sequences(p["kind"], np.full(g.shape, 77.0), g.lengths, g.order) for g in run.given]
    run.backward(dout, made)
    for gradient in made:
        assert (np.where(gradient.inside(), 0, gradient.values) == 0).all()
    dw = np.ones_like(layer.weights)
    run.backward_weights(dout, dw, 0)
    new = np.full_like(dw, np.nan)
    run.backward_weights(dout, new, 1)
    np.testing.assert_allclose(dw, new + 1, rtol=1e-12, atol=1e-12)
    values, kept = [np.nan_to_num(g.values) for g in run.given], layer.weights.copy()
    ways, weight_way = [rng.standard_normal(x.shape) for x in values], rng.standard_normal(kept.shape)
    ends = []
    for side in (1e-5, -1e-5):
        layer.weights[...] = kept + side * weight_way
        moved = [x + side * way for x, way in zip(values, ways, strict=True)]
        ends.append((layer.forward(*moved, p["windows"], run.lengths) * slope).sum())
    wanted = (ends[0] - ends[1]) / 2e-5
    found = sum((g.values * way).sum() for g, way in zip(made, ways, strict=True)) + (new * weight_way).sum()
    assert abs(found - wanted) < 1e-6 * (1 + abs(wanted)), (found, wanted)


PLAIN = {
    "mode": 2, "heads": 2, "scale": 0.5, "kind": "f64", "sizes": [4, 4, 3], "projections": [3, 3, 2, 4], "steps": (3, 5), "batch": 2, "beams": 2, "spare": 0,
    "lengths": [[3, 3, 2, 3], [5, 4]], "windows": ([0, 0, 0], [5, 5, 5]), "orders": [ORDERS[0]] * 4, "seed": 1, "residual": True, "fill": None,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
def test_gradients_of_other_types(kind):
    """Those of f64, which were compared with differences, at the same numbers."""
    found = []
    for each in (kind, "f64"):
        run = Run({**PLAIN, "kind": each})
        rng = np.random.default_rng(3)
        take = lambda shape, rng=rng: decoded(kind, encoded(kind, rng.standard_normal(shape)))  # noqa: E731
        run.layer.weights[...] = encoded(each, take(run.layer.weights.shape))
        for given in run.given:
            given.set(take(given.shape))
        run.forward(trains=True)
        dout = Sequences(each, take(run.out_shape), run.lengths[0])
        made = [Sequences(each, np.zeros(g.shape), g.lengths) for g in run.given]
        run.backward(dout, made)
        dw = np.zeros_like(run.layer.weights)
        run.backward_weights(dout, dw, 1)
        found.append([*(g.values for g in made), decoded(each, dw)])
    for narrow, full in zip(*found, strict=True):
        near(narrow, full, kind, 200)


@pytest.mark.parametrize("where", ["attention", "post"])
def test_dropout_is_kept_for_the_gradients(where):
    desc, states = DNN.make("Dropout"), np.zeros(64, np.uint8)
    DNN.call("cudnnSetDropoutDescriptor", desc, DNN.handle, 0.5, states, 64, 7)
    run = Run({**PLAIN, "residual": False}, **{"dropout" if where == "attention" else "post": desc})
    near(run.forward().values, run.wanted(), "f64", 200)  # not in inference
    dropped = run.forward(trains=True)
    assert abs(dropped.values - run.wanted()).max() > 1e-3
    rng = run.layer.rng
    dout = Sequences("f64", rng.standard_normal(run.out_shape), run.lengths[0])
    made = [Sequences("f64", np.zeros(g.shape), g.lengths) for g in run.given]
    run.backward(dout, made)
    dw = np.zeros_like(run.layer.weights)
    run.backward_weights(dout, dw, 1)
    values, weights, kept = [g.values for g in run.given], run.layer.weights.copy(), states.copy()
    ways, weight_way, ends = [rng.standard_normal(v.shape) for v in values], rng.standard_normal(dw.shape), []
    for side in (1e-5, -1e-5):
        states[...] = kept
        states[8:16].view(np.uint64)[0] -= 1  # the same factors again
        run.layer.weights[...] = weights + side * weight_way
        for given, value, way in zip(run.given, values, ways, strict=True):
            given.set(value + side * way)
        ends.append((np.where(dout.inside(), run.forward(trains=True).values * dout.values, 0)).sum())
    found = (
        sum(np.where(g.inside(), g.values * w, 0).sum() for g, w in zip(made, ways, strict=True))
        + (dw * weight_way).sum()
    )
    assert abs((ends[0] - ends[1]) / 2e-5 - found) < 1e-6 * (1 + abs(found))


def test_a_dropout_of_the_post_kind_leaves_the_residual():
    """It comes before the residual: with everything dropped the residual is left."""
    desc, states = DNN.make("Dropout"), np.zeros(64, np.uint8)
    DNN.call("cudnnSetDropoutDescriptor", desc, DNN.handle, 1.0, states, 64, 7)
    run = Run(PLAIN, post=desc)
    out = run.forward(trains=True)
    np.testing.assert_array_equal(np.where(out.inside(), out.values, 0), np.where(out.inside(), run.residual.values, 0))


def test_where_weights_lie_and_which_there_are():
    layer = Layer({**PLAIN, "projections": [3, 3, 0, 5], "heads": 3})
    shapes = [(3, 3, 4), (3, 3, 4), None, (3, 5, 3), (3, 3, 1), (3, 3, 1), None, (1, 5, 1)]
    assert [None if x is None else x.shape for x in map(layer.part, range(8))] == shapes
    assert layer.weights.size == 36 + 36 + 45 + 9 + 9 + 5
    for which in range(8):  # every number belongs to one part
        found = layer.part(which)
        if found is not None:
            found[...] = which + 1
    assert sorted(layer.weights.tolist()) == sorted(
        [1.0] * 36 + [2.0] * 36 + [4.0] * 45 + [5.0] * 9 + [6.0] * 9 + [8.0] * 5
    )
    desc, at = DNN.make("Tensor"), ctypes.c_void_p(1)
    DNN.call("cudnnGetMultiHeadAttnWeights", DNN.handle, layer.desc, 1, layer.weight_bytes, None, desc, at)
    assert at.value == 36 * 8  # without weights: how far from their beginning
    assert (
        DNN.status("cudnnGetMultiHeadAttnWeights", DNN.handle, layer.desc, 8, layer.weight_bytes, None, desc, at) == BAD
    )
    assert (
        DNN.status("cudnnGetMultiHeadAttnWeights", DNN.handle, layer.desc, 0, layer.weight_bytes - 1, None, desc, at)
        == SMALL
    )


def test_descriptors_tell_what_they_were_told():
    layer = Layer({**PLAIN, "spare": 2})
    kinds = [
        ctypes.c_uint,
        ctypes.c_int,
        ctypes.c_double,
        *[ctypes.c_int] * 3,
        *[ctypes.c_void_p] * 2,
        *[ctypes.c_int] * 11,
    ]
    told = [kind() for kind in kinds]
    DNN.call("cudnnGetAttnDescriptor", layer.desc, *told)
    assert [x.value for x in told] == layer.arguments
    made = Sequences("f16", np.zeros((2, 3, 4, 5)), [[1, 2, 3], [4, 0, 1]], ORDERS[4], fill=0.25)
    kind, rank, dims, axes, count, lengths, fill = (
        ctypes.c_int(),
        ctypes.c_int(),
        (ctypes.c_int * 4)(),
        (ctypes.c_int * 4)(),
        ctypes.c_size_t(),
        (ctypes.c_int * 6)(),
        np.zeros(1, np.float16),
    )
    DNN.call("cudnnGetSeqDataDescriptor", made.desc, kind, rank, 4, dims, axes, count, 6, lengths, fill)
    assert (kind.value, rank.value, list(dims), list(axes), count.value, fill[0]) == (
        2,
        4,
        [4, 2, 3, 5],
        [2, 0, 1, 3],
        6,
        0.25,
    )
    assert list(lengths) == [1, 4, 2, 0, 3, 1]


def test_what_does_not_go_together_is_refused():
    layer = Layer(PLAIN)
    for place, value, status in [(0, 4, BAD), (1, 0, BAD), (2, -1.0, BAD), (3, 3, NOT_SUPPORTED), (4, 0, BAD), (5, 9, BAD), (8, 0, BAD), (11, 2, BAD), (14, -1, BAD), (15, 0, BAD), (18, 0, BAD)]:  # fmt: skip
        changed = layer.arguments.copy()
        changed[place] = value
        assert DNN.status("cudnnSetAttnDescriptor", layer.desc, *changed) == status, place
    DNN.call("cudnnSetAttnDescriptor", layer.desc, *layer.arguments)
    desc = DNN.make("SeqData")
    good = [0, 4, ints([4, 2, 1, 3]), ints([0, 1, 2, 3]), 2, ints([4, 1]), None]
    DNN.call("cudnnSetSeqDataDescriptor", desc, *good)
    for place, value, status in [(0, 3, NOT_SUPPORTED), (1, 3, BAD), (2, ints([4, 2, 0, 3]), BAD), (3, ints([0, 1, 1, 3]), BAD), (3, ints([3, 1, 2, 0]), BAD), (4, 3, BAD),
                                 (5, ints([5, 1]), BAD), (5, None, NULL), (2, None, NULL)]:  # fmt: skip
        changed = good.copy()
        changed[place] = value
        assert DNN.status("cudnnSetSeqDataDescriptor", desc, *changed) == status, place
    run = Run(PLAIN)
    out = run.empty()
    good = run.arguments(out, trains=True)
    other = Sequences("f64", np.zeros((2, 2, 3, 5)), run.lengths[0])
    longer = Sequences("f64", np.zeros((2, 2, 4, 4)), [[4, 4], [4, 4]])
    for place, value, status in [(1, None, NULL), (2, 3, BAD), (2, 0, BAD), (3, None, NULL), (5, None, NULL), (7, other.desc, SHAPE), (7, longer.desc, SHAPE), (8, None, NULL),
                                 (14, other.desc, SHAPE), (16, run.layer.weight_bytes - 1, SMALL), (17, None, NULL), (20, run.layer.reserve_bytes - 1, SMALL),
                                 (21, None, NULL)]:  # fmt: skip
        changed = good.copy()
        changed[place] = value
        assert DNN.status("cudnnMultiHeadAttnForward", *changed) == status, place
    DNN.call("cudnnMultiHeadAttnForward", *good)
