"""Named buffers, compiled functions of JAX and sessions of ONNX Runtime: recorded, compared, and run once more where they can be."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import anywarp.record
from anywarp.check.bundle import open_bundle
from anywarp.check.record import arrays, functions, running
from anywarp.check.record.plan import Plan
from anywarp.check.record.session import Session
from anywarp.check.replay import running as replaying
from anywarp.check.replay.comparing import verify
from anywarp.check.replay.sides import Sides

PROGRAM = Path(__file__).with_name("jax_program.py")


@contextmanager
def session(folder, **options):
    folder.mkdir(mode=0o700)
    found = Session(Plan(str(folder), **options))
    yield found
    found.finish()
    assert running.finished(folder) is not None


def compared(one, other, replayed=False):
    with open_bundle(one) as a, open_bundle(other) as b:
        return verify(Sides(a, b, replayed=replayed))


def rows(report):
    return {(layer.name, layer.call, layer.slot): layer.isolated or layer.propagated for layer in report.layers}


X = np.random.default_rng(3).normal(size=(64, 48)).astype(np.float32)


def buffers(folder, *values, **options):
    with session(folder, **options) as found:
        for value in values:
            functions.keep(found, "x", value, None)
    return folder


def test_buffers_of_one_name_are_calls_and_whole_numbers_are_exact(tmp_path):
    one = buffers(tmp_path / "a", X, np.arange(9))
    near = buffers(tmp_path / "b", X * np.float32(1 + 2**-20), np.arange(9))
    assert compared(one, near).grade == "pass"
    other = buffers(tmp_path / "c", X, np.arange(9) + 1)
    found = rows(compared(one, other))
    assert found["x", 0, "0"].grade == "pass" and found["x", 1, "0"].grade == "fail"
    assert compared(one, buffers(tmp_path / "d", X[::-1], np.arange(9))).grade == "fail"


def test_the_tolerance_of_a_buffer_grows_with_the_root_of_its_terms(tmp_path):
    for terms in (16, 1600):
        with session(tmp_path / str(terms)) as found:
            functions.keep(found, "x", X, terms)
    short, long = (
        compared(tmp_path / name, buffers(tmp_path / f"{name}b", X * np.float32(1.00001))) for name in ("16", "1600")
    )
    ratio = rows(short)["x", 0, "0"].relative / rows(long)["x", 0, "0"].relative
    assert ratio == pytest.approx(10)


def test_what_the_budget_has_no_room_for_is_compared_by_its_figures(tmp_path):
    one, other = buffers(tmp_path / "a", X, budget=1 << 30), buffers(tmp_path / "b", X, budget=100)
    found = rows(compared(one, other))["x", 0, "0"]
    assert found.grade == "pass" and found.estimated
    assert compared(one, buffers(tmp_path / "c", X + 1, mode="statistics")).grade == "fail"


def test_arrays_of_all_kinds_come_to_the_host_with_their_values():
    class Array:
        def __array__(self, dtype=None, copy=None):
            return X

    class Packed:
        def __dlpack__(self, **given):
            return X.__dlpack__(**given)

        def __dlpack_device__(self):
            return X.__dlpack_device__()

    for value in (X, Array(), Packed(), X.astype(">f4"), X.T.copy().T):
        host = arrays.to_host(value)
        assert (host.dtype, host.shape, host.content) == ("float32", X.shape, X.tobytes())
    assert arrays.to_host(1.5).content == np.float64(1.5).tobytes()
    for bad in (object(), "text", np.array(["a"]), [None]):
        with pytest.raises(TypeError):
            arrays.to_host(bad)


def interface(part):
    return {
        "shape": part.shape,
        "typestr": "<f4",
        "data": (part.ctypes.data, True),
        "strides": part.strides,
        "version": 3,
    }


def test_device_memory_is_copied_by_the_driver_with_its_strides(monkeypatch):
    """The driver is one that copies host memory: that of `cpu` does, too."""
    import ctypes

    calls = []

    class Driver:
        def cuCtxSynchronize(self):
            calls.append("synchronize")
            return 0

        def cuMemcpyDtoH_v2(self, to, start, count):
            calls.append("copy")
            ctypes.memmove(to.value, start.value, count.value)
            return 0

    monkeypatch.setattr(arrays.ctypes, "CDLL", lambda name: Driver())
    whole = np.arange(60, dtype=np.float32).reshape(6, 10)
    for part in (whole, whole[::-1, 1:9:2], whole.T, whole[2:2]):
        device = type("Device", (), {"__cuda_array_interface__": interface(part)})
        assert arrays.to_host(device()).content == part.tobytes()
    assert calls == ["synchronize", "copy"] * 3
    monkeypatch.setattr(Driver, "cuMemcpyDtoH_v2", lambda *given: 700)
    with pytest.raises(TypeError, match="700"):
        arrays.to_host(type("Device", (), {"__cuda_array_interface__": interface(whole)})())


def test_a_torch_tensor_of_bfloat16_keeps_its_dtype():
    torch = pytest.importorskip("torch", reason="this machine has no torch")
    host = arrays.to_host(torch.tensor([1.5, -2.0], dtype=torch.bfloat16))
    assert (host.dtype, host.content) == ("bfloat16", bytes.fromhex("c03f00c0"))


def test_buffer_does_nothing_where_nothing_is_recorded(monkeypatch):
    monkeypatch.delenv("ANYWARP_RECORD", raising=False)
    anywarp.record.buffer("", object())
    monkeypatch.setenv("ANYWARP_RECORD", "/nowhere")
    for name, terms in (("", None), ("two\nlines", None), ("x" * 201, None), ("x", 0)):
        with pytest.raises(ValueError):
            anywarp.record.buffer(name, X, terms=terms)


def test_a_program_names_its_buffers(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, anywarp.record as r\nimport numpy as np\nr.buffer('found', np.full(9, float(sys.argv[1])))\n"
    )

    def anywarp(*given):
        return subprocess.run(
            [sys.executable, "-m", "anywarp", *map(str, given)], capture_output=True, text=True, timeout=100
        )

    assert anywarp("record", "-o", tmp_path / "r", "--", sys.executable, program, 2).returncode == 0
    done = anywarp("verify", tmp_path / "r", "--format", "json", "--", sys.executable, program, 2)
    assert done.returncode == 0 and json.loads(done.stdout)["grade"] == "pass", done.stderr
    assert anywarp("verify", tmp_path / "r", "--", sys.executable, program, 3).returncode == 1


def jax_run(folder, *words, reference=None, **options):
    """Run the program in this process; with a reference on what that has recorded."""
    jax = pytest.importorskip("jax", reason="jax is not installed")
    import runpy

    from anywarp.check.record.jax import calls
    from anywarp.check.replay.jax import Again

    if reference is not None:
        with open_bundle(reference) as bundle:
            options = vars(replaying.plan(bundle, folder, (), replaying.Options(**options)))
            options.pop("output")
    with session(folder, **options) as found:
        restore = calls.install(jax, (calls.Recorder if reference is None else Again)(found))
        before, sys.argv = sys.argv, ["program", *words]
        try:
            runpy.run_path(str(PROGRAM))
        finally:
            sys.argv = before
            restore()
    return folder


@pytest.fixture(scope="module")
def jax_recording(tmp_path_factory):
    return jax_run(tmp_path_factory.mktemp("jax") / "there", precise=True)


def test_outermost_functions_of_jax_are_recorded_with_what_is_known_of_them(jax_recording):
    with open_bundle(jax_recording) as bundle:
        made = {e.name: e.operation for e in bundle.entries if e.role == "output" and e.run == "propagated"}
        assert list(made) == ["product", "step", "network"]
        assert made["product"]["kind"] == "product" and made["product"]["reduction"] == 96
        assert made["network"]["kind"] == "composite"
        given = {e.slot for e in bundle.entries if e.role == "input" and e.name == "step"}
        assert given == {"0", "1.b", "1.w", "2", "kwargs.layers"}
        wide = {e.name for e in bundle.entries if e.run == "precise"}
        assert wide == {"product", "network"}
        assert any("random" in note for note in bundle.texts("notes"))
        assert bundle.manifest["versions"]["jax"]


@pytest.mark.parametrize("broken, places", [("other data", []), ("product", ["product"]), ("network", ["network"])])
def test_functions_of_jax_are_run_on_the_recorded_inputs(jax_recording, tmp_path, broken, places):
    here = jax_run(tmp_path / "here", broken, reference=jax_recording)
    report = compared(jax_recording, here, replayed=True)
    assert report.grade == ("fail" if places else "pass"), report.reason
    assert {name for (name, *_), found in rows(report).items() if found.grade == "fail"} == set(places)


def test_a_product_of_jax_has_a_certain_bound_without_float64(tmp_path, monkeypatch):
    there = jax_run(tmp_path / "there")
    from anywarp.check.replay.jax import Again

    results = Again.results

    def off(self, at, out, found, run="propagated"):
        results(self, at, out * 1.001 if (at, run) == (("product", 1), "isolated") else out, found, run)

    monkeypatch.setattr(Again, "results", off)
    found = rows(compared(there, jax_run(tmp_path / "here", reference=there), replayed=True))
    right, wrong = (found["product", call, "0"] for call in (0, 1))
    assert right.grade == "pass" and right.bound == "sharp" and right.ceiling is not None and right.ceiling <= 1
    assert wrong.grade == "fail" and wrong.ceiling is not None and wrong.ceiling > 1


def test_recordings_of_jax_with_other_inputs_are_told_apart(jax_recording, tmp_path):
    from anywarp.diagnostics import AnywarpError

    assert compared(jax_recording, jax_run(tmp_path / "same")).grade == "pass"
    with pytest.raises(AnywarpError) as error:
        compared(jax_recording, jax_run(tmp_path / "other", "other data"))
    assert error.value.diagnostic.code == "V011"


def test_jitted_functions_stay_what_they_are():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    from anywarp.check.record.jax import calls

    class Ignored:
        def called(self, compiled, args, kwargs):
            return compiled._compiled(*args, **kwargs)

    restore = calls.install(jax, Ignored())
    try:

        class Layer:
            scale = 3.0

            @jax.jit
            def twice(self, x):
                """Say what it does."""
                return 2 * x

        @jax.jit(static_argnames="n")
        def power(x, n=2):
            return x**n

        jax.tree_util.register_pytree_node(Layer, lambda layer: ((), None), lambda aux, parts: Layer())
        assert Layer().twice(2.0) == 4 and Layer.twice.__doc__ == "Say what it does."
        assert power(3.0, n=3) == 27 and power.lower(3.0).compile()(3.0) == 9
        assert jax.grad(power)(3.0) == 6 and jax.vmap(power)(np.arange(3.0)).tolist() == [0, 1, 4]
        assert hasattr(power, "clear_cache") and not hasattr(power, "nothing")
    finally:
        restore()


def onnx_run(folder, model, feed, reference=None):
    import onnxruntime

    from anywarp.check.record.onnxruntime import Recorder, install
    from anywarp.check.replay.onnxruntime import Again

    options = {}
    if reference is not None:
        with open_bundle(reference) as bundle:
            options = vars(replaying.plan(bundle, folder, (), replaying.Options()))
            options.pop("output")
    with session(folder, **options) as found:
        restore = install(onnxruntime, (Recorder if reference is None else Again)(found))
        try:
            runner = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
            out = [runner.run(None, {"x": each})[0] for each in feed]
            assert runner.run(["y"], {"x": feed[0]}, None)[0].tobytes() == out[0].tobytes()
        finally:
            restore()
    return folder


def test_sessions_of_onnx_runtime_are_recorded_and_run_on_the_recorded_inputs(tmp_path):
    for each in ("onnx", "onnxruntime"):
        pytest.importorskip(each, reason="onnx or onnxruntime is not installed")
    from onnx import TensorProto, helper, numpy_helper

    def model(factor):
        weight = np.random.default_rng(5).normal(size=(48, 32)).astype(np.float32) * np.float32(factor)
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 48])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 32])],
            [numpy_helper.from_array(weight, "w")],
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        made.ir_version = 8
        return made.SerializeToString()

    there = onnx_run(tmp_path / "there", model(1), [X, X + 1])
    with open_bundle(there) as bundle:
        assert [(e.call, e.role, e.slot) for e in bundle.entries] == [
            (c, *what) for c in range(3) for what in (("input", "x"), ("output", "y"))
        ]
        assert bundle.manifest["device"]["type"] == "onnxruntime"
        assert bundle.manifest["models"]["onnx"]["inputs"]["x"].startswith("tensor(float)")
    again = onnx_run(tmp_path / "again", model(1), [X[:5] * 3], reference=there)
    report = compared(there, again, replayed=True)
    assert report.grade == "pass" and len(report.layers) == 2, "the program's own inputs are not used"
    broken = onnx_run(tmp_path / "broken", model(1.01), [X], reference=there)
    report = compared(there, broken, replayed=True)
    assert report.grade == "fail" and report.cause is not None and report.cause.name == "scale"
