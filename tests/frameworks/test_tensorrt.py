"""TensorRT's interface without a model: shapes, types, serialized engines, and when `import tensorrt` is answered."""

import hashlib
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anywarp import settings
from anywarp.frameworks.tensorrt import adapter, needed, plan, version
from anywarp.frameworks.tensorrt.builder import IOptimizationProfile
from anywarp.frameworks.tensorrt.dims import Dims, Unknown, volume
from anywarp.frameworks.tensorrt.enums import DataType, Severity, nptype, of_onnx
from anywarp.frameworks.tensorrt.logger import Logger

PLAN = plan.Plan(b"a model", "net", [{"x": ((1, 3), (4, 3), (8, 3))}], wide=False)


def test_a_shape_is_a_sequence_that_can_be_changed():
    shape = Dims((-1, 3, 8))
    shape[0] = 4
    assert shape == (4, 3, 8) == tuple(shape) and shape[1:] == (3, 8) and str(shape) == "(4, 3, 8)"
    assert np.empty(shape).shape == (4, 3, 8) and volume(shape) == 96 and volume(()) == 1
    with pytest.raises(ValueError, match="at most 8"):
        Dims(range(9))
    with pytest.raises(ValueError):
        len(Unknown())


@pytest.mark.parametrize(
    ("kind", "wanted", "size"),
    [("FLOAT", np.float32, 4), ("HALF", np.float16, 2), ("INT64", np.int64, 8), ("BOOL", np.bool_, 1), ("UINT8", np.uint8, 1)],
)  # fmt: skip
def test_types_are_numpys(kind, wanted, size):
    assert nptype(DataType[kind]) is wanted and DataType[kind].itemsize == size


def test_types_that_numpy_does_not_have_are_refused():
    with pytest.raises(TypeError):
        nptype(DataType.BF16)


def test_int64_is_int32_at_the_interface_before_tensorrt_10_and_float64_always_float32():
    assert (of_onnx(7, wide=True), of_onnx(7, wide=False)) == (DataType.INT64, DataType.INT32)
    assert of_onnx(11, wide=True) is DataType.FLOAT and of_onnx(8, wide=True) is None


def test_a_flag_shifts_bits_and_equals_no_number_of_another_kind():
    assert 1 << Severity.WARNING == 4 and Severity.WARNING != DataType.INT8
    assert Severity.ERROR <= Severity.WARNING < Severity.INFO and not Severity.INFO <= Severity.ERROR


def test_a_logger_says_what_is_grave_enough(capsys):
    logger = Logger(Logger.WARNING)
    logger.log(Logger.INFO, "quiet")
    logger.log(Logger.ERROR, "loud")
    said = capsys.readouterr()
    assert said.err.endswith("[TRT] [E] loud\n") and said.out == ""


@pytest.mark.parametrize("shapes", [((1, 2), (1,), (1, 2)), ((2, 2), (1, 2), (3, 2))])
def test_a_profile_whose_shapes_do_not_grow_is_refused(shapes):
    with pytest.raises(ValueError, match="min, opt and max"):
        IOptimizationProfile().set_shape("x", *shapes)


def test_an_engine_is_read_as_it_was_written():
    assert plan.load(plan.dump(PLAN)) == PLAN


@given(st.data())
def test_a_changed_engine_is_refused(data):
    whole = plan.dump(PLAN)
    where = data.draw(st.integers(0, len(whole) - 1))
    changed = bytes([whole[where] ^ data.draw(st.integers(1, 255))])
    for broken in (whole[:where], whole[:where] + changed + whole[where + 1 :], whole + changed):
        with pytest.raises(plan.PlanError):
            plan.load(broken)


@pytest.mark.parametrize(
    "header",
    [b"", b"[]", b'{"name": 1}', b'{"name": "", "profiles": [{"x": [1]}], "wide": 1}', b"[" * 100_000, b"\xff"],
)
def test_a_header_of_the_wrong_form_is_refused_though_its_checksum_is_right(header):
    head = struct.pack("<16sIIQ32s", plan.MAGIC, plan.VERSION, len(header), 0, hashlib.sha256(header).digest())
    with pytest.raises(plan.PlanError):
        plan.load(head + header)


def test_an_engine_of_nvidias_is_named():
    with pytest.raises(plan.PlanError, match="NVIDIA"):
        plan.load(b"ptrt" + bytes(100))


@pytest.mark.parametrize(
    ("device", "missing", "installed", "wanted"),
    [("cpu", [], False, True), ("cpu", ["onnx"], False, False), ("cpu", ["onnx"], True, True), ("hip", [], True, False), ("cuda", [], False, False)],
)  # fmt: skip
def test_the_import_is_answered_where_something_computes_or_nvidias_package_would_fail(
    monkeypatch, device, missing, installed, wanted
):
    monkeypatch.setenv("ANYWARP_DEVICE", device)
    monkeypatch.setattr(needed, "missing", lambda: missing)
    monkeypatch.setattr(adapter, "installed", lambda: installed)
    assert (adapter.Finder().find_spec("tensorrt") is not None) == wanted
    assert adapter.Finder().find_spec("tensorrt_llm") is None


def test_a_package_that_is_installed_says_what_is_missing(monkeypatch):
    monkeypatch.setenv("ANYWARP_DEVICE", "cpu")
    monkeypatch.setattr(needed, "missing", lambda: ["onnxruntime"])
    monkeypatch.setattr(adapter, "installed", lambda: True)
    with pytest.raises(ImportError, match="pip install onnxruntime"):
        adapter.Finder().find_spec("tensorrt").loader.exec_module(None)


def test_nothing_is_loaded_before_the_import():
    code = "import sys, sitecustomize; print([name for name in sys.modules if name.startswith('anywarp')])"
    site = str(adapter.__file__).replace("frameworks/tensorrt/adapter.py", "runtime/site")
    ran = subprocess.run([sys.executable, "-S", "-c", code], env={"PYTHONPATH": site}, capture_output=True, text=True)
    assert ran.stdout == "[]\n", ran.stderr


def test_the_version_is_the_one_wanted_else_of_the_package_else_ours(monkeypatch):
    monkeypatch.setattr(version.metadata, "version", lambda name: {"tensorrt": "10.9.0"}[name])
    assert (version.version(), version.is_wide()) == ("10.9.0", True)
    monkeypatch.setenv("ANYWARP_TENSORRT", "8.6.1")
    assert (version.version(), version.is_wide()) == ("8.6.1", False)
    monkeypatch.setenv("ANYWARP_TENSORRT", "newest")
    with pytest.raises(settings.SettingError, match="ANYWARP_TENSORRT"):
        version.version()
