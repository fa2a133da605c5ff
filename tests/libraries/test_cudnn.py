"""cuDNN's handle, versions, descriptors and errors, of both versions of the library."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anywarp import settings
from libraries.cudnn_tensors import Dnn, factor, ints

pytestmark = pytest.mark.native

VERSIONS = {"8": ("libcudnn.so.8", 12, 8907), "9": ("libcudnn.so.9", 13, 92800)}


@pytest.fixture(params=VERSIONS)
def version(request, library):
    file, major, number = VERSIONS[request.param]
    return Dnn(library("cudnn", file, major)), number


def status(dnn, number, in_nine, in_eight):
    del dnn
    return in_nine if number > 90000 else in_eight


def test_versions_and_words(version):
    dnn, number = version
    file = dnn.call.file
    file.cudnnGetVersion.restype = ctypes.c_size_t
    file.cudnnGetErrorString.restype = ctypes.c_char_p
    assert file.cudnnGetVersion() == number
    parts, value = [], ctypes.c_int()
    for part in range(3):
        dnn.call("cudnnGetProperty", part, value)
        parts.append(value.value)
    assert parts == ([9, 28, 0] if number > 90000 else [8, 9, 7])
    assert file.cudnnGetErrorString(0) == b"CUDNN_STATUS_SUCCESS"
    assert file.cudnnGetErrorString(status(dnn, number, 3000, 9)) == b"CUDNN_STATUS_NOT_SUPPORTED"


def test_statuses_are_those_of_the_version(version):
    dnn, number = version
    assert dnn.status("cudnnCreate", None) == status(dnn, number, 2002, 3)
    tensor = dnn.make("Tensor")
    assert dnn.status("cudnnSetTensor4dDescriptor", tensor, 0, 0, 1, 0, 1, 1) == status(dnn, number, 2000, 3)
    assert dnn.status("cudnnSetTensor4dDescriptor", tensor, 2, 5, 1, 4, 1, 1) == status(
        dnn, number, 3000, 9
    )  # CUDNN_TENSOR_NCHW_VECT_C
    assert dnn.status("cudnnSetStream", tensor, None) == status(dnn, number, 2000, 3)  # no handle
    if number > 90000:
        assert dnn.call.file.cudnnGnnAggSimpleForward() == 3000  # not there


def test_last_error_says_why(library):
    dnn = Dnn(library("cudnn", "libcudnn.so.9"))
    dnn.status("cudnnSetTensor4dDescriptor", dnn.make("Tensor"), 0, 0, 1, 0, 1, 1)
    text = ctypes.create_string_buffer(100)
    dnn.call.file.cudnnGetLastErrorString(text, ctypes.c_size_t(100))
    assert text.value == b"a dimension is not positive"


@pytest.mark.parametrize(("order", "strides"), [(0, [60, 20, 5, 1]), (1, [60, 1, 15, 3])])
def test_tensors_tell_what_they_were_told(version, order, strides):
    dnn, _ = version
    tensor, filter = dnn.make("Tensor"), dnn.make("Filter")
    dnn.call("cudnnSetTensor4dDescriptor", tensor, order, 2, 2, 3, 4, 5)
    found = [ctypes.c_int() for _ in range(9)]
    dnn.call("cudnnGetTensor4dDescriptor", tensor, *found)
    assert [n.value for n in found] == [2, 2, 3, 4, 5, *strides]
    size, rank, dims, steps = ctypes.c_size_t(), ctypes.c_int(), (ctypes.c_int * 8)(), (ctypes.c_int * 8)()
    dnn.call("cudnnGetTensorSizeInBytes", tensor, size)
    assert size.value == 240
    dnn.call("cudnnGetTensorNdDescriptor", tensor, 3, ctypes.c_int(), rank, dims, steps)
    assert (rank.value, list(dims)[:4], list(steps)[:3]) == (4, [2, 3, 4, 0], strides[:3])
    dnn.call("cudnnSetFilterNdDescriptor", filter, 0, order, 5, ints([2, 3, 4, 5, 6]))
    kind, form = ctypes.c_int(), ctypes.c_int()
    dnn.call("cudnnGetFilterNdDescriptor", filter, 8, kind, form, rank, dims)
    assert (form.value, rank.value, list(dims)[:5]) == (order, 5, [2, 3, 4, 5, 6])


def test_other_descriptors_tell_what_they_were_told(version):
    dnn, _ = version
    conv, found = dnn.convolution([1, 2], [3, 4], [5, 6], 0, 7), [ctypes.c_int() for _ in range(8)]
    dnn.call("cudnnGetConvolution2dDescriptor", conv, *found)
    assert [n.value for n in found] == [1, 2, 3, 4, 5, 6, 0, 0]
    dnn.call("cudnnGetConvolutionGroupCount", conv, found[0])
    assert found[0].value == 7
    pooling = dnn.make("Pooling")
    dnn.call("cudnnSetPooling2dDescriptor", pooling, 1, 1, 4, 3, 2, 1, 5, 6)
    dnn.call("cudnnGetPooling2dDescriptor", pooling, *found)
    assert [n.value for n in found] == [1, 1, 4, 3, 2, 1, 5, 6]
    lrn, n, numbers = dnn.make("LRN"), ctypes.c_uint(), [ctypes.c_double() for _ in range(3)]
    dnn.call("cudnnSetLRNDescriptor", lrn, 7, 0.5, 0.25, 2.0)
    dnn.call("cudnnGetLRNDescriptor", lrn, n, *numbers)
    assert (n.value, [v.value for v in numbers]) == (7, [0.5, 0.25, 2.0])


def test_a_destroyed_descriptor_is_refused(version):
    dnn, number = version
    x = dnn.zeros("f32", (1, 1, 2, 2))
    wrong = dnn.make("Activation")
    assert dnn.status("cudnnScaleTensor", dnn.handle, wrong, x.memory, factor("f32", 2)) == status(dnn, number, 2000, 3)
    assert dnn.status("cudnnScaleTensor", dnn.handle, x.desc, None, factor("f32", 2)) == status(dnn, number, 2002, 3)
    assert dnn.status("cudnnScaleTensor", dnn.handle, dnn.make("Tensor"), x.memory, factor("f32", 2)) == status(
        dnn, number, 2000, 3
    )


def test_both_versions_compute(version):
    dnn, _ = version
    x = dnn.tensor("f16", np.arange(12.0).reshape(1, 3, 2, 2))
    dnn.call("cudnnScaleTensor", dnn.handle, *x.args, factor("f16", 0.5))
    np.testing.assert_array_equal(x.values, np.arange(12.0).reshape(1, 3, 2, 2) / 2)


SCRIPT = """
import sys
import numpy as np
from libraries.loading import Library
from libraries.cudnn_tensors import Dnn, factor

dnn = Dnn(Library("cudnn", "libcudnn.so.9"))
one, zero = factor("f32", 1), factor("f32", 0)
"""


def run(body, **environment):
    """Run more of SCRIPT in a process of its own; returns what it prints."""
    tests = Path(__file__).parents[1]
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT + body],
        env={**os.environ, "PYTHONPATH": f"{tests}:{tests.parent / 'src'}", **environment},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_a_wild_pointer_is_an_error_of_the_context(library):
    library("cudnn", "libcudnn.so.9")
    said = run("""
x = dnn.zeros("f32", (1, 3, 8, 8))
print(dnn.status("cudnnSoftmaxForward", dnn.handle, 0, 0, one, *x.args, zero, x.desc, 0x1000),
      dnn.call._cuda.cuCtxSynchronize())
""")
    assert said.split()[-1] == "700"


def test_bits_do_not_depend_on_the_number_of_threads(library):
    library("cudnn", "libcudnn.so.9")
    body = """
import hashlib
rng = np.random.default_rng(0)
order = [0, 2, 3, 1]
digest = hashlib.sha256()
for last in (None, order):
    x = dnn.tensor("f32", rng.standard_normal((3, 40, 30, 30)), order=last)
    w = dnn.tensor("f32", rng.standard_normal((96, 40, 3, 3)), order=last, filter=True)
    y, dx = dnn.zeros("f32", (3, 96, 30, 30), order=last), dnn.zeros("f32", x.shape, order=last)
    dw = dnn.zeros("f32", w.shape, order=last, filter=True)
    few, m, i = (dnn.zeros("f32", (1, 96, 1, 1)) for _ in range(3))
    conv = dnn.convolution([1, 1], [1, 1], [1, 1])
    dnn.call("cudnnConvolutionForward", dnn.handle, one, *x.args, *w.args, conv, 0, None, 0, zero, *y.args)
    dnn.call("cudnnConvolutionBackwardData", dnn.handle, one, *w.args, *y.args, conv, 0, None, 0, zero, *dx.args)
    dnn.call("cudnnConvolutionBackwardFilter", dnn.handle, one, *x.args, *y.args, conv, 0, None, 0, zero, *dw.args)
    dnn.call("cudnnBatchNormalizationForwardTraining", dnn.handle, 1, one, zero, *y.args, *y.args, *few.args,
             few.memory, 0.5, None, None, 1e-5, m.memory, i.memory)
    dnn.call("cudnnSoftmaxForward", dnn.handle, 0, 0, one, *x.args, zero, *x.args)
    for each in (x, y, dx, dw, m, i):
        digest.update(each.memory.tobytes())
print(digest.hexdigest())
"""
    assert len({run(body, ANYWARP_THREADS=count) for count in ("1", "2", "5")}) == 1


PARTS = {
    "8": "ops_infer ops_train cnn_infer cnn_train adv_infer adv_train",
    "9": "graph ops cnn adv ext heuristic engines_precompiled engines_runtime_compiled engines_tensor_ir",
}


@pytest.mark.parametrize(
    "file", [f"libcudnn_{part}.so.{version}" for version, parts in PARTS.items() for part in parts.split()]
)
def test_a_sub_library_leads_to_the_whole(library, file):
    library("cudnn", f"libcudnn.so.{file[-1]}", 13 if file[-1] == "9" else 12)
    if not (settings.LIBRARY_DIR.get() / file).exists():
        pytest.skip(f"{file} is not built")
    opened = ctypes.CDLL(str(settings.LIBRARY_DIR.get() / file))
    opened.cudnnGetVersion.restype = ctypes.c_size_t
    assert opened.cudnnGetVersion() == VERSIONS[file[-1]][2]
