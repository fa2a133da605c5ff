"""cuTENSOR on the processor against numpy's einsum in longer arithmetic, over layouts, types, modes and operators."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from spread import properties

pytestmark = pytest.mark.native

TYPES = {"f32": (np.float32, 0), "f64": (np.float64, 1), "c64": (np.complex64, 4), "c128": (np.complex128, 5), "f16": (np.float16, 2), "bf16": (np.uint16, 14)}  # fmt: skip
IDENTITY, SQRT, ADD, MUL, MAX, MIN, RELU, CONJ, RCP = 1, 2, 3, 5, 6, 7, 8, 9, 10
INVALID, NOT_SUPPORTED, NOT_INITIALIZED = 7, 15, 1
SIZES = {"a": 3, "b": 4, "c": 5, "d": 2, "e": 33, "f": 1}
plain = st.sampled_from(["f32", "f64", "c64", "c128"])


def to_bfloat(values):
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bfloat(bits):
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


@pytest.fixture(scope="module")
def cutensor(library):
    return library("cutensor", "libcutensor.so.2")


@pytest.fixture(scope="module")
def handle(cutensor):
    made = cutensor.out("cutensorCreate")
    yield made
    cutensor("cutensorDestroy", made)


def compute(cutensor, kind, narrow=False):
    names = {"f64": "64F", "c128": "64F", "f16": "16F" if narrow else "32F", "bf16": "16BF" if narrow else "32F"}
    return ctypes.c_void_p.in_dll(cutensor.file, f"CUTENSOR_COMPUTE_DESC_{names.get(kind, '32F')}").value


class Tensor:
    """Random numbers, whose dimensions lie in memory in a random order, some with gaps."""

    def __init__(self, rng, kind, modes, gaps=0):
        self.kind, self.modes = kind, modes
        dtype, self.number = TYPES[kind]
        shape = [SIZES[mode] for mode in modes]
        order = rng.permutation(len(modes))
        self.strides, step = np.zeros(len(modes), np.int64), 1
        for axis in order:
            self.strides[axis] = step
            step *= shape[axis] + (gaps if axis == order[0] else 0)
        self.memory = np.full(max(step, 1), 7, dtype)
        self.view = np.lib.stride_tricks.as_strided(self.memory, shape, self.strides * self.memory.itemsize)
        values = rng.standard_normal(shape)
        if kind.startswith("c"):
            values = values + 1j * rng.standard_normal(shape)
        self.view[...] = to_bfloat(values) if kind == "bf16" else values

    @property
    def values(self):
        """Return the numbers in longer arithmetic."""
        if self.kind == "bf16":
            return from_bfloat(self.view).astype(np.longdouble)
        return self.view.astype(np.clongdouble if self.kind.startswith("c") else np.longdouble)

    def described(self, cutensor, handle):
        made = ctypes.c_void_p()
        extents = np.array([SIZES[mode] for mode in self.modes], np.int64)
        cutensor("cutensorCreateTensorDescriptor", handle, made, len(extents), extents, self.strides, self.number, 16)
        return made.value, np.array([ord(mode) for mode in self.modes], np.int32)


def operation(cutensor, handle, name, tensors, ops, *more):
    """Return a plan, and the destruction of all that it was made of."""
    described = [tensor.described(cutensor, handle) for tensor in tensors]
    arguments = [
        part for i, pair in enumerate(described) for part in (*pair, *((ops[i],) if i < len(ops) else ()))
    ]  # fmt: skip
    made, plan = ctypes.c_void_p(), ctypes.c_void_p()
    status = cutensor.status(f"cutensorCreate{name}", handle, made, *arguments, *more)
    if status:
        return status
    cutensor("cutensorCreatePlan", handle, plan, made.value, None, 0)
    for descriptor, _ in described:
        cutensor("cutensorDestroyTensorDescriptor", descriptor)
    cutensor("cutensorDestroyOperationDescriptor", made.value)
    return plan.value


def scalar(kind, value, number=None):
    narrow = {"f16": np.float32, "bf16": np.float32}
    return np.array([value], number or narrow.get(kind, TYPES[kind][0]))


def close(found: Tensor, wanted, terms, scale):
    eps = {"f64": 2.0**-52, "c128": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7}.get(found.kind, 2.0**-23)
    summed = 2.0**-23 if found.kind in ("f16", "bf16") else eps
    error = np.abs(found.values - wanted)
    assert (error <= eps * np.abs(wanted) * 2 + summed * 4 * (terms + 2) * scale).all(), error.max()


CONTRACTIONS = [
    "ab,bc->ac", "ba,cb->ca", "abe,ecd->abcd", "aeb,dec->bdca", "abc,dba->dc", "eab,ebc->eac", "abe,cbe->cae", "ab,ab->", "a,b->ba", "fab,bfe->ae",
    "e,e->", "abcd,dcef->bafe", "ab,->ab",
]  # fmt: skip


@properties(
    40, 400, st.sampled_from(CONTRACTIONS), plain, st.integers(0, 2), st.sampled_from([0, 1, -0.5]), st.integers(0, 3),
    st.booleans(), st.integers(0, 99),
)  # fmt: skip
def test_contractions(cutensor, handle, modes, kind, gaps, beta, conjugate, inside, seed):
    rng = np.random.default_rng(seed)
    inputs, result = modes.split("->")
    left, right = inputs.split(",")
    a, b = Tensor(rng, kind, left, gaps), Tensor(rng, kind, right)
    c = Tensor(rng, kind, result, gaps)
    d = c if inside else Tensor(rng, kind, result)
    ops = [CONJ if conjugate & 1 else IDENTITY, CONJ if conjugate & 2 else IDENTITY, IDENTITY]
    parts = [x.values.conj() if which == CONJ else x.values for x, which in zip((a, b), ops)]
    wanted = 2 * np.einsum(modes, *parts) + beta * c.values
    if beta == 0 and not inside:
        c.view[...] = np.nan
    plan = operation(cutensor, handle, "Contraction", [a, b, c, d], ops, compute(cutensor, kind))
    cutensor(
        "cutensorContract",
        handle,
        plan,
        scalar(kind, 2),
        a.memory,
        b.memory,
        scalar(kind, beta),
        c.memory,
        d.memory,
        None,
        0,
        None,
    )
    terms = np.prod([SIZES[mode] for mode in set(left) & set(right) - set(result)] or [1])
    close(d, wanted, terms, 2 * np.einsum(modes, *(np.abs(part) for part in parts)) + np.abs(wanted))
    cutensor("cutensorDestroyPlan", plan)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_contractions_of_16_bits_are_summed_in_more(cutensor, handle, kind):
    rng = np.random.default_rng(1)
    a, b, c = (Tensor(rng, kind, modes) for modes in ("aeb", "ebc", "ca"))
    wanted = np.einsum("aeb,ebc->ca", a.values, b.values) + c.values
    plan = operation(cutensor, handle, "Contraction", [a, b, c, c], [1, 1, 1], compute(cutensor, kind))
    cutensor(
        "cutensorContract",
        handle,
        plan,
        scalar(kind, 1),
        a.memory,
        b.memory,
        scalar(kind, 1),
        c.memory,
        c.memory,
        None,
        0,
        None,
    )
    close(c, wanted, 4 * 33, np.einsum("aeb,ebc->ca", np.abs(a.values), np.abs(b.values)))


@properties(
    25,
    250,
    st.sampled_from(["abc,bca", "ea,ae", "abcd,dbfca", "e,e", "b,abc", ","]),
    plain,
    st.integers(0, 2),
    st.integers(0, 99),
)
def test_permutations(cutensor, handle, modes, kind, gaps, seed):
    rng = np.random.default_rng(seed)
    before, after = modes.split(",")
    a, b = Tensor(rng, kind, before, gaps), Tensor(rng, kind, after, gaps)
    wanted = 3 * np.einsum(f"{before},{after}->{after}", a.values, np.ones(b.view.shape))
    plan = operation(cutensor, handle, "Permutation", [a, b], [IDENTITY], compute(cutensor, kind))
    rest = b.memory.copy()
    cutensor("cutensorPermute", handle, plan, scalar(kind, 3), a.memory, b.memory, None)
    close(b, wanted, 1, np.abs(wanted))
    np.lib.stride_tricks.as_strided(rest, b.view.shape, b.view.strides)[...] = b.view
    assert (rest == b.memory).all()  # what lies in gaps is as it was


OPERATORS = {
    SQRT: lambda x: np.sqrt(x), RELU: lambda x: np.maximum(x, 0), RCP: lambda x: 1 / x, 11: lambda x: 1 / (1 + np.exp(-x)), 12: np.tanh,
    22: np.exp, 23: np.log, 24: np.abs, 25: np.negative, 26: np.sin, 27: np.cos, 28: np.tan, 29: np.sinh, 30: np.cosh, 31: np.arcsin,
    32: np.arccos, 33: np.arctan, 34: np.arcsinh, 35: lambda x: np.arccosh(1 + x), 36: np.arctanh, 37: np.ceil, 38: np.floor,
    39: lambda x: x * np.tanh(np.log1p(np.exp(x))), 40: lambda x: x / (1 + np.exp(-x)), 41: lambda x: np.log1p(np.exp(x)),
    42: lambda x: x / (1 + np.abs(x)),
}  # fmt: skip


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
def test_operators(cutensor, handle, op, kind):
    rng = np.random.default_rng(op)
    a, b = Tensor(rng, kind, "eb"), Tensor(rng, kind, "be")
    values = np.abs(rng.uniform(0.1, 0.9, a.view.shape)) + (op == 35)
    a.view[...] = to_bfloat(values) if kind == "bf16" else values
    wanted = OPERATORS[op](a.values - (op == 35)).T
    plan = operation(cutensor, handle, "Permutation", [a, b], [op], compute(cutensor, kind))
    cutensor("cutensorPermute", handle, plan, scalar(kind, 1), a.memory, b.memory, None)
    close(b, wanted, 4, np.abs(wanted) + 1)


COMBINE = {ADD: np.add, MUL: np.multiply, MAX: np.maximum, MIN: np.minimum}


@properties(
    30,
    300,
    plain,
    st.sampled_from([ADD, MUL, MAX, MIN]),
    st.sampled_from([ADD, MUL, MAX, MIN]),
    st.integers(0, 2),
    st.integers(0, 99),
)
def test_elementwise_operations(cutensor, handle, kind, first, second, gaps, seed):
    rng = np.random.default_rng(seed)
    a, b, c, d = (Tensor(rng, kind, modes, gaps) for modes in ("ca", "eca", "ace", "ace"))
    if kind.startswith("c") and (first > MUL or second > MUL):
        assert operation(
            cutensor, handle, "ElementwiseTrinary", [a, b, c, d], [1, 1, 1], first, second, compute(cutensor, kind)
        ) == NOT_SUPPORTED  # fmt: skip
        return
    left = np.einsum("ca,eca->ace", 2 * a.values, np.ones(b.view.shape))
    middle, right = -b.values.transpose(2, 1, 0), 0.5 * c.values
    plan = operation(
        cutensor, handle, "ElementwiseTrinary", [a, b, c, d], [1, 1, 1], first, second, compute(cutensor, kind)
    )
    cutensor(
        "cutensorElementwiseTrinaryExecute", handle, plan, scalar(kind, 2), a.memory, scalar(kind, -1), b.memory, scalar(kind, 0.5), c.memory,
        d.memory, None,
    )  # fmt: skip
    wanted = COMBINE[second](COMBINE[first](left, middle), right)
    scale = np.abs(left) * (1 + np.abs(middle)) * (1 + np.abs(right)) + np.abs(middle) + np.abs(right)
    close(d, wanted, 3, scale)
    plan = operation(cutensor, handle, "ElementwiseBinary", [b, c, c], [1, 1], first, compute(cutensor, kind))
    wanted = COMBINE[first](-middle, 2 * right)
    cutensor(
        "cutensorElementwiseBinaryExecute",
        handle,
        plan,
        scalar(kind, 1),
        b.memory,
        scalar(kind, 1),
        c.memory,
        c.memory,
        None,
    )
    close(c, wanted, 3, scale + 1)


@properties(
    30, 300, plain, st.sampled_from(["abe,ab", "abe,eb", "abe,", "eab,e", "ea,ae", "e,", "acbe,bc"]),
    st.sampled_from([ADD, MUL, MAX, MIN]), st.sampled_from([0, -0.5]), st.integers(0, 2), st.integers(0, 99),
)  # fmt: skip
def test_reductions(cutensor, handle, kind, modes, op, beta, gaps, seed):
    if kind.startswith("c") and op > MUL:
        op = ADD
    rng = np.random.default_rng(seed)
    before, after = modes.split(",")
    a, c = Tensor(rng, kind, before, gaps), Tensor(rng, kind, after, gaps)
    if op == MUL:
        a.view[...] = np.exp(0.05 * a.view)
    axes = tuple(i for i, mode in enumerate(before) if mode not in after)
    kept = "".join(mode for mode in before if mode in after)
    whole = COMBINE[op].reduce(a.values, axis=axes) if axes else a.values
    wanted = 2 * np.einsum(f"{kept}->{after}", whole) + beta * c.values
    if beta == 0:
        c.view[...] = np.nan
    plan = operation(cutensor, handle, "Reduction", [a, c, c], [1, 1], op, compute(cutensor, kind))
    cutensor(
        "cutensorReduce", handle, plan, scalar(kind, 2), a.memory, scalar(kind, beta), c.memory, c.memory, None, 0, None
    )
    terms = a.view.size // max(whole.size, 1)
    close(c, wanted, terms, np.abs(wanted) + 3 * terms**0.5)


def test_a_sum_of_many_halves(cutensor, handle, monkeypatch):
    monkeypatch.setitem(SIZES, "z", 20000)
    rng = np.random.default_rng(2)
    a, c = Tensor(rng, "f16", "z"), Tensor(rng, "f16", "")
    a.view[...] = 0.75
    plan = operation(cutensor, handle, "Reduction", [a, c, c], [1, 1], ADD, compute(cutensor, "f16"))
    cutensor(
        "cutensorReduce", handle, plan, scalar("f16", 1), a.memory, scalar("f16", 0), c.memory, c.memory, None, 0, None
    )
    assert c.view == 15000


def test_attributes(cutensor, handle):
    rng = np.random.default_rng(3)
    a, b = Tensor(rng, "c64", "ab"), Tensor(rng, "c64", "ba")
    (x, modes_x), (y, modes_y) = a.described(cutensor, handle), b.described(cutensor, handle)
    made, number, count, bytes_ = ctypes.c_void_p(), ctypes.c_int(-1), ctypes.c_uint64(7), ctypes.c_float()
    cutensor("cutensorCreatePermutation", handle, made, x, modes_x, 1, y, modes_y, compute(cutensor, "c64"))
    cutensor("cutensorOperationDescriptorGetAttribute", handle, made.value, 1, number, 4)
    assert number.value == TYPES["c64"][1]
    assert cutensor.status("cutensorOperationDescriptorGetAttribute", handle, made.value, 1, number, 8) == INVALID
    cutensor("cutensorOperationDescriptorGetAttribute", handle, made.value, 3, bytes_, 4)
    assert bytes_.value == 2 * 12 * 8
    cutensor("cutensorOperationDescriptorSetAttribute", handle, made.value, 0, ctypes.c_int(5), 4)
    cutensor("cutensorOperationDescriptorGetAttribute", handle, made.value, 0, number, 4)
    assert number.value == 5
    preference, plan = ctypes.c_void_p(), ctypes.c_void_p()
    cutensor("cutensorCreatePlanPreference", handle, preference, -1, 0)
    cutensor("cutensorPlanPreferenceSetAttribute", handle, preference.value, 2, ctypes.c_int(9), 4)
    cutensor("cutensorPlanPreferenceGetAttribute", handle, preference.value, 2, number, 4)
    assert number.value == 9
    cutensor("cutensorEstimateWorkspaceSize", handle, made.value, preference.value, 2, count)
    assert count.value == 0
    cutensor("cutensorCreatePlan", handle, plan, made.value, preference.value, 0)
    cutensor("cutensorPlanGetAttribute", handle, plan.value, 0, count, 8)
    cutensor("cutensorDestroyPlan", plan.value)
    cutensor("cutensorDestroyPlanPreference", preference.value)


def test_what_is_not_computed_is_refused(cutensor, handle, capfd):
    rng = np.random.default_rng(4)
    a, b, c = (Tensor(rng, "f32", modes) for modes in ("abd", "bc", "ac"))
    assert (
        operation(cutensor, handle, "Contraction", [a, b, c, c], [1, 1, 1], compute(cutensor, "f32")) == NOT_SUPPORTED
    )
    assert "sums over modes of one input" in capfd.readouterr().err
    x = Tensor(rng, "c64", "ab")
    assert operation(cutensor, handle, "Permutation", [x, x], [RELU], compute(cutensor, "c64")) == NOT_SUPPORTED
    assert operation(cutensor, handle, "Permutation", [c, b], [1], compute(cutensor, "f32")) == INVALID
    made, sizes = ctypes.c_void_p(), np.array([0], np.int64)
    assert cutensor.status("cutensorCreateTensorDescriptor", handle, made, 1, sizes, None, 0, 16) == INVALID
    assert cutensor.status("cutensorCreateTensorDescriptor", None, made, 1, sizes, None, 0, 16) == NOT_INITIALIZED


def test_a_contraction_is_part_of_a_captured_graph(cutensor, handle):
    cuda, rng = cutensor._cuda, np.random.default_rng(5)
    stream, graph, executable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    a, b, c = (Tensor(rng, "f32", modes, 1) for modes in ("abe", "ebc", "ca"))
    before = c.values
    plan = operation(cutensor, handle, "Contraction", [a, b, c, c], [1, 1, 1], compute(cutensor, "f32"))
    assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
    cutensor(
        "cutensorContract",
        handle,
        plan,
        scalar("f32", 1),
        a.memory,
        b.memory,
        scalar("f32", 1),
        c.memory,
        c.memory,
        None,
        0,
        stream.value,
    )
    assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
    cutensor("cutensorDestroyPlan", plan)
    assert (c.values == before).all()
    assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)) == 0
    for times in (1, 2):
        assert cuda.cuGraphLaunch(executable, stream) == 0
        assert cuda.cuStreamSynchronize(stream) == 0
        close(c, times * np.einsum("abe,ebc->ca", a.values, b.values) + before, 132, 100)


TRINARY = ["ab,bc,cd->ad", "ae,eb,bc->ca", "abe,ec,cd->dab", "fab,fbc,fcd->afd", "ab,cb,db->acd", "e,e,e->", "ae,b,e->ba", "ab,bc,ca->"]  # fmt: skip


@properties(
    30, 400, st.sampled_from(TRINARY), plain, st.integers(0, 2), st.sampled_from([0, 1, -0.5]), st.integers(0, 7),
    st.booleans(), st.integers(0, 99),
)  # fmt: skip
def test_contractions_of_three(cutensor, handle, modes, kind, gaps, beta, conjugate, inside, seed):
    rng = np.random.default_rng(seed)
    inputs, result = modes.split("->")
    given = [Tensor(rng, kind, one, gaps) for one in inputs.split(",")]
    d = Tensor(rng, kind, result, gaps)
    e = d if inside else Tensor(rng, kind, result)
    ops = [CONJ if conjugate >> i & 1 else IDENTITY for i in range(3)] + [IDENTITY]
    parts = [x.values.conj() if which == CONJ else x.values for x, which in zip(given, ops, strict=False)]
    wanted = 2 * np.einsum(modes, *parts) + beta * d.values
    size = 2 * np.einsum(modes, *(np.abs(part) for part in parts)) + np.abs(wanted)
    if beta == 0 and not inside:
        d.view[...] = np.nan
    plan = operation(cutensor, handle, "ContractionTrinary", [*given, d, e], ops, compute(cutensor, kind))
    data = [x.memory for x in given]
    arguments = scalar(kind, 2), *data, scalar(kind, beta), d.memory, e.memory, None, 0, None
    cutensor("cutensorContractTrinary", handle, plan, *arguments)
    terms = np.prod([SIZES[mode] for mode in set("".join(inputs.split(","))) - set(result)] or [1])
    close(e, wanted, terms, size)
    cutensor("cutensorDestroyPlan", plan)


def test_what_contractions_of_three_refuse(cutensor, handle):
    rng = np.random.default_rng(4)
    a, b, c, alone, e = (Tensor(rng, "f32", modes) for modes in ("ab", "bc", "cd", "cdf", "ad"))
    number = compute(cutensor, "f32")
    ops = [IDENTITY] * 4
    assert operation(cutensor, handle, "ContractionTrinary", [a, b, alone, e, e], ops, number) == NOT_SUPPORTED
    ops = [RELU, *ops[1:]]
    assert operation(cutensor, handle, "ContractionTrinary", [a, b, c, e, e], ops, number) == NOT_SUPPORTED


SECTIONS = {"a": [2, 3], "b": [1, 4, 2], "c": [3], "d": [2, 2], "e": [5, 1, 1]}


class Blocks:
    """A tensor of which some blocks are there."""

    def __init__(self, rng, kind, modes, density, like=None):
        self.kind, self.modes = kind, modes
        self.sections = [SECTIONS[mode] for mode in modes]
        counts = [len(one) for one in self.sections]
        places = [at for at in np.ndindex(*counts) if rng.random() < density] if like is None else like.places
        self.places = [places[i] for i in rng.permutation(len(places))] if like is None else places
        self.values = np.zeros([sum(one) for one in self.sections], np.clongdouble if kind[0] == "c" else np.longdouble)
        self.memory, self.strides = [], []
        dtype, self.number = TYPES[kind]
        for at in self.places:
            shape = [one[i] for one, i in zip(self.sections, at, strict=True)]
            order = rng.permutation(len(shape))
            strides, step = np.zeros(len(shape), np.int64), 1
            for axis in order:
                strides[axis], step = step, step * shape[axis]
            values = rng.standard_normal(shape)
            if kind[0] == "c":
                values = values + 1j * rng.standard_normal(shape)
            memory = np.zeros(step, dtype)
            self._view(memory, shape, strides)[...] = values
            self.memory.append(memory), self.strides.append(strides)
        self.values[...] = self.dense()

    def _view(self, memory, shape, strides):
        return np.lib.stride_tricks.as_strided(memory, shape, strides * memory.itemsize)

    def dense(self):
        out = np.zeros_like(self.values)
        for at, memory, strides in zip(self.places, self.memory, self.strides, strict=True):
            ranges = [
                slice(sum(one[:i]), sum(one[: i + 1])) for one, i in zip(self.sections, at, strict=True)
            ]  # fmt: skip
            part = out[(*ranges, ...)]
            part[...] = self._view(memory, part.shape, strides)
        return out

    def there(self):
        out = np.zeros(self.values.shape, bool)
        for at in self.places:
            out[tuple(slice(sum(o[:i]), sum(o[: i + 1])) for o, i in zip(self.sections, at, strict=True))] = True
        return out

    def described(self, cutensor, handle):
        made = ctypes.c_void_p()
        counts = np.array([len(one) for one in self.sections], np.uint32)
        extents = np.array([x for one in self.sections for x in one], np.int64)
        places = np.array(self.places, np.int32).reshape(-1)
        strides = np.array(self.strides, np.int64).reshape(-1)
        arguments = len(counts), len(self.places), counts, extents, places, strides, self.number
        cutensor("cutensorCreateBlockSparseTensorDescriptor", handle, made, *arguments)
        return made.value, np.array([ord(mode) for mode in self.modes], np.int32)

    @property
    def pointers(self):
        return np.array([memory.ctypes.data for memory in self.memory] or [0], np.uint64)


@properties(
    25, 400, st.sampled_from(["ab,bc->ac", "abe,ebd->da", "bae,bed->dba", "ab,ba->", "ad,bc->abcd"]), plain,
    st.sampled_from([0, 1, -0.5]), st.sampled_from([0.3, 0.7, 1.0]), st.booleans(), st.integers(0, 99),
)  # fmt: skip
def test_contractions_of_blocks(cutensor, handle, modes, kind, beta, density, inside, seed):
    rng = np.random.default_rng(seed)
    inputs, result = modes.split("->")
    a, b = (Blocks(rng, kind, one, density) for one in inputs.split(","))
    c = Blocks(rng, kind, result, density)
    d = c if inside else Blocks(rng, kind, result, density, like=c)
    there = d.there()
    wanted = there * (2 * np.einsum(modes, a.values, b.values) + beta * c.values)
    size = there * 2 * np.einsum(modes, np.abs(a.values), np.abs(b.values)) + np.abs(wanted)
    if beta == 0 and not inside:
        for memory in c.memory:
            memory[...] = np.nan
    described = [part for i, one in enumerate((a, b, c, d)) for part in (*one.described(cutensor, handle), *((IDENTITY,) if i < 3 else ()))]  # fmt: skip
    made, plan = ctypes.c_void_p(), ctypes.c_void_p()
    cutensor("cutensorCreateBlockSparseContraction", handle, made, *described, compute(cutensor, kind))
    cutensor("cutensorCreatePlan", handle, plan, made.value, None, 0)
    for i in (0, 3, 6, 9):
        cutensor("cutensorDestroyBlockSparseTensorDescriptor", described[i])
    arguments = scalar(kind, 2), a.pointers, b.pointers, scalar(kind, beta), c.pointers, d.pointers, None, 0, None
    cutensor("cutensorBlockSparseContract", handle, plan.value, *arguments)
    eps = 2.0**-52 if kind in ("f64", "c128") else 2.0**-23
    assert (np.abs(d.dense() - wanted) <= eps * 200 * size + 1e-300).all()
    cutensor("cutensorDestroyPlan", plan.value), cutensor("cutensorDestroyOperationDescriptor", made.value)


def test_what_blocks_must_be(cutensor, handle):
    def status(sections, extents, places, count=1, kind=0):
        made = ctypes.c_void_p()
        arrays = (np.array(sections, np.uint32), np.array(extents, np.int64), np.array(places, np.int32))
        name = "cutensorCreateBlockSparseTensorDescriptor"
        return cutensor.status(name, handle, made, len(sections), count, *arrays, None, kind)

    assert status([2], [3, 4], [1]) == 0
    assert status([2], [3, 4], [2]) == INVALID
    assert status([2], [3, 0], [1]) == INVALID
    assert status([2], [3, 4], [1, 1], 2) == INVALID
    assert status([2], [3, 4], [1], kind=3) == NOT_SUPPORTED
    rng = np.random.default_rng(0)
    a, b, c = (Blocks(rng, "f32", modes, 1) for modes in ("ab", "bc", "ac"))
    other = Blocks(rng, "f32", "ac", 1)
    other.places = other.places[:1]
    other.strides = other.strides[:1]
    number, made = compute(cutensor, "f32"), ctypes.c_void_p()
    parts = [one.described(cutensor, handle) for one in (a, b, c, other)]
    arguments = *parts[0], IDENTITY, *parts[1], IDENTITY, *parts[2], IDENTITY, *parts[3]
    assert cutensor.status("cutensorCreateBlockSparseContraction", handle, made, *arguments, number) == INVALID


def test_a_file_of_plans(cutensor, handle, tmp_path):
    path, lines = str(tmp_path / "plans").encode(), ctypes.c_uint32(7)
    assert cutensor.status("cutensorHandleReadPlanCacheFromFile", handle, path, lines) == 21  # IO_ERROR
    cutensor("cutensorHandleWritePlanCacheToFile", handle, path)
    cutensor("cutensorHandleReadPlanCacheFromFile", handle, path, lines)
    assert lines.value == 0
    (tmp_path / "plans").write_bytes(b"of another library")
    assert cutensor.status("cutensorHandleReadPlanCacheFromFile", handle, path, lines) == INVALID
    assert cutensor.status("cutensorHandleWritePlanCacheToFile", handle, b"/no/such/place") == 21
