"""Which devices the lists in the environment leave: each counts once, whoever brings HIP up first.

The rules are those of the CUDA C++ Programming Guide for CUDA_VISIBLE_DEVICES, and for HIP those of its page on isolating
GPUs and of ROCm/clr (`Device::init` in rocdevice.cpp). The fake's cards have the buses 3, 4, 5, ...
"""

import pytest

from native.hip.rig import run

pytestmark = pytest.mark.native

COUNT = """
def ours():
    code, count, text, buses = cuda.cuInit(0), c_int(), create_string_buffer(32), []
    if code:
        return code
    call("cuDeviceGetCount", byref(count))
    for device in range(count.value):
        call("cuDeviceGetPCIBusId", text, 32, device)
        buses.append(int(text.value.split(b":")[1], 16) - 3)
    return buses

def hips():
    count, text, buses = c_int(), create_string_buffer(32), []
    if fake.hipInit(0) or fake.hipGetDeviceCount(byref(count)):
        return []
    for device in range(count.value):
        assert fake.hipDeviceGetPCIBusId(text, 32, device) == 0
        buses.append(int(text.value.split(b":")[1], 16) - 3)
    return buses
"""
HIP_FIRST = COUNT + 'out["hip"] = hips(); out["cuda"] = ours()'
WE_FIRST = COUNT + 'out["cuda"] = ours(); out["hip"] = hips()'


def seen(code, folder, **variables):
    more = {"FAKE_HIP_DEVICES": ",".join(["gfx942"] * 4), "FAKE_HIP_VERSION": "70100000"}
    answer = run(code, folder, **more, **variables)
    return answer.out["cuda"], answer.out["hip"]


@pytest.mark.parametrize("code", [HIP_FIRST, WE_FIRST], ids=["hip first", "we first"])
@pytest.mark.parametrize(
    ("listed", "left"),
    [("1", [1]), ("3,1", [3, 1]), ("1,0", [1, 0]), ("2,9,0", [2]), ("0,1,2,3", [0, 1, 2, 3]), ("3,2,1,0", [3, 2, 1, 0]),
     ("2,9,2", [2]), ("2,9,0,0", [2])],  # what is named twice behind an invalid entry does not count
)  # fmt: skip
def test_cudas_list_counts_once_for_both(tmp_path, code, listed, left):
    assert seen(code, tmp_path, CUDA_VISIBLE_DEVICES=listed) == (left, left)


@pytest.mark.parametrize("code", [HIP_FIRST, WE_FIRST], ids=["hip first", "we first"])
def test_cudas_list_counts_what_hips_list_leaves(tmp_path, code):
    assert seen(code, tmp_path, HIP_VISIBLE_DEVICES="3,1,2", CUDA_VISIBLE_DEVICES="1,0") == ([1, 3], [3, 1, 2])


@pytest.mark.parametrize(
    ("listed", "hips", "left"),
    [
        ("GPU-fa4e000000000003", [2], [2]),  # HIP's way of writing it
        ("GPU-66613465-3030-3030-3030-303030303033", [], 100),  # CUDA's, unknown to HIP
        ("1, 0", [1], [1]),  # HIP takes no blanks
        ("2,2", [2], 100),  # one named twice: CUDA shows none
        ("-1", [], 100),
        ("", [], 100),
    ],
)
def test_where_hip_was_first_nothing_is_counted_again(tmp_path, listed, hips, left):
    assert seen(HIP_FIRST, tmp_path, CUDA_VISIBLE_DEVICES=listed) == (left, hips)


@pytest.mark.parametrize(
    ("listed", "left"),
    [
        ("GPU-fa4e000000000003", [2]),
        ("GPU-66613465-3030-3030-3030-303030303033", [2]),
        ("-1", 100),
        ("", 100),
    ],
)
def test_what_hip_reads_otherwise_is_counted_by_us_alone(tmp_path, listed, left):
    assert seen(WE_FIRST, tmp_path, CUDA_VISIBLE_DEVICES=listed) == (left, [0, 1, 2, 3])


def test_blanks_and_doubles_where_we_are_first(tmp_path):
    assert seen(WE_FIRST, tmp_path, CUDA_VISIBLE_DEVICES="1, 0") == ([1, 0], [1, 0])
    assert seen(WE_FIRST, tmp_path, CUDA_VISIBLE_DEVICES="2,2") == (100, [2])
    assert seen(WE_FIRST, tmp_path, CUDA_VISIBLE_DEVICES="2,0,0") == (100, [2, 0])


def test_a_list_set_after_hip_was_up_counts(tmp_path):
    late = COUNT + 'out["hip"] = hips(); os.environ["CUDA_VISIBLE_DEVICES"] = "2,0"; out["cuda"] = ours()'
    assert seen(late, tmp_path) == ([2, 0], [0, 1, 2, 3])


@pytest.mark.parametrize("listed", ["1", "GPU-fa4e000000000002", "", None])
def test_the_environment_is_as_before(tmp_path, listed):
    variables = {} if listed is None else {"CUDA_VISIBLE_DEVICES": listed}
    code = """
def held(name):
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = c_char_p
    found = getenv(name)
    return None if found is None else found.decode()
"""
    names = '[held(b"CUDA_VISIBLE_DEVICES"), held(b"HIP_VISIBLE_DEVICES")]'
    out = run(
        f'{code}\ncuda.cuInit(0)\nout["held"] = {names}', tmp_path, FAKE_HIP_DEVICES="gfx942,gfx942", **variables
    ).out
    assert out["held"] == [listed, None]
