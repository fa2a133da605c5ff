"""cuDNN's functions reach MIOpen with what the program meant: every argument of every call is compared, at a MIOpen that writes down."""

import pytest

from anywarp import settings
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
