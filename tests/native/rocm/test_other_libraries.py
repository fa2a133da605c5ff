"""What is written by hand in cuFFT, cuRAND, cuSPARSE, cuSOLVER and NCCL."""

from __future__ import annotations

import struct

import pytest

from native.rocm.programs import recorder_in, run


@pytest.fixture(scope="module")
def rocm(tmp_path_factory):
    """Make the recording library of one stem, once."""
    made = {}

    def of(stem: str):
        if stem not in made:
            made[stem] = recorder_in(tmp_path_factory.mktemp(stem), stem)
        return made[stem]

    return of


def test_plans_are_numbers_that_are_used_again(rocm):
    run(
        "libcufft.so.11",
        rocm("cufft"),
        """
        plans = []
        for i in range(2000):
            plan = c_int(-1)
            rocm.reset(writes={0: struct.pack("Q", 0x7000_0000_0000 + 16 * i)})
            assert lib.cufftPlan1d(byref(plan), 64 + i, 41, 2) == 0
            plans.append(plan.value)
        assert plans == list(range(1, 2001))
        for i in (0, 1023, 1024, 1999):
            rocm.reset()
            assert lib.cufftExecC2C(plans[i], P(1), P(2), -1) == 0
            name, given = last()
            assert name == "hipfftExecC2C" and word(given[0]) == 0x7000_0000_0000 + 16 * i and word(given[3]) == -1
        rocm.reset()
        assert lib.cufftDestroy(plans[5]) == 0 and word(last()[1][0]) == 0x7000_0000_0050
        rocm.reset()
        assert lib.cufftDestroy(plans[5]) == 1 and lib.cufftExecC2C(plans[5], P(1), P(2), 1) == 1 and not rocm.calls()
        for wrong in (0, -1, 5000, 2**31 - 1):
            assert lib.cufftSetStream(wrong, None) == 1
        assert lib.cufftCreate(byref(plan)) == 0 and plan.value == plans[5]
        """,
    )


def test_cufft_says_what_hipfft_cannot_do(rocm):
    ran = run(
        "libcufft.so.12",
        rocm("cufft"),
        """
        plan, value = c_int(), c_longlong()
        rocm.reset(writes={0: struct.pack("Q", 0x7000)})
        assert lib.cufftCreate(byref(plan)) == 0
        rocm.reset()
        assert lib.cufftXtSetCallback(plan, None, 0, None) == 16
        assert lib.cufftXtSetWorkArea(plan, (P * 1)(0x4440)) == 0
        assert last()[0] == "hipfftSetWorkArea" and word(last()[1][1]) == 0x4440
        assert lib.cufftSetPlanPropertyInt64(plan, 1, c_longlong(5)) == 0
        assert lib.cufftGetPlanPropertyInt64(plan, 1, byref(value)) == 0 and value.value == 5
        assert lib.cufftResetPlanProperty(plan, 1) == 0
        assert lib.cufftGetPlanPropertyInt64(plan, 1, byref(value)) == 0 and value.value == 0
        assert lib.cufftSetPlanPropertyInt64(plan, 99, c_longlong(5)) == 4
        """,
    )
    assert "callback" in ran.words


@pytest.mark.parametrize(
    ("soname", "stem", "call", "expected"),
    [
        ("libcufft.so.11", "cufft", "cufftGetVersion(byref(v))", 11401),
        ("libcurand.so.10", "curand", "curandGetVersion(byref(v))", 10310),
        ("libcusparse.so.12", "cusparse", "cusparseGetVersion(H, byref(v))", 12510),
        ("libcusolver.so.11", "cusolver", "cusolverGetVersion(byref(v))", 11705),
    ],
)
def test_versions_are_those_of_cudas_libraries(soname, stem, call, expected, rocm):
    """VERSION of the headers in NVIDIA's wheels of CUDA 12.9: cuFFT 11.4.1, cuRAND 10.3.10, cuSPARSE 12.5.10, cuSOLVER 11.7.5."""
    run(soname, rocm(stem), f"v = c_int()\nassert lib.{call} == 0 and v.value == {expected}, v.value")


def test_direction_vectors_come_from_hiprand(rocm):
    run(
        "libcurand.so.10",
        rocm("curand"),
        """
        vectors = P()
        rocm.reset(writes={0: struct.pack("Q", 0x1230)})
        assert lib.curandGetDirectionVectors32(byref(vectors), 101) == 0 and vectors.value == 0x1230
        assert last()[0] == "hiprandGetDirectionVectors32" and word(last()[1][1]) == 101
        assert lib.curandGetDirectionVectors64(byref(vectors), 7) == 103
        """,
    )


def test_a_triangular_solve_gets_the_buffer_of_its_analysis(rocm):
    """HIPSPARSE_OPERATION_TRANSPOSE 1, HIP_R_64F 1, HIPSPARSE_SPSM_ALG_DEFAULT 0 (hipsparse.h)."""
    run(
        "libcusparse.so.12",
        rocm("cusparse"),
        """
        one = c_double(1)
        args = [H, 1, 0, byref(one), P(1), P(2), P(3), 1, 0, P(0xD0)]
        rocm.reset()
        assert lib.cusparseSpSM_solve(*args) == 3 and not rocm.calls()
        assert lib.cusparseSpSM_analysis(*args, P(0xBFF0)) == 0
        assert lib.cusparseSpSM_solve(*args) == 0
        name, given = last()
        assert name == "hipsparseSpSM_solve" and [word(x) for x in given[1:3] + given[7:]] == [1, 0, 1, 0, 0xD0, 0xBFF0]
        assert lib.cusparseSpSM_destroyDescr(P(0xD0)) == 0 and lib.cusparseSpSM_solve(*args) == 3
        lib.cusparseGetErrorName.restype = c_char_p
        assert lib.cusparseGetErrorName(9) == b"CUSPARSE_STATUS_ZERO_PIVOT"
        """,
    )


@pytest.mark.parametrize(
    ("kind", "real", "letter", "size", "of_real"),
    [(0, 0, "S", 4, 4), (1, 1, "D", 8, 8), (4, 0, "C", 8, 4), (5, 1, "Z", 16, 8)],
)
def test_singular_values_of_any_type_go_to_the_function_of_the_type(kind, real, letter, size, of_real, rocm):
    run(
        "libcusolver.so.11",
        rocm("cusolver"),
        f"""
        kind, real, size, of_real = {kind}, {real}, {size}, {of_real}
        m, n, elements = 6, 4, 1000
        device, host = c_size_t(), c_size_t(99)
        rocm.reset(writes={{3: struct.pack("i", elements)}})
        q = lambda x: c_int64(x)
        job = c_byte(65)
        code = lib.cusolverDnXgesvd_bufferSize(H, None, job, job, q(m), q(n), kind, P(1), q(7), real, P(2), kind, P(3), q(8),
                                               kind, P(4), q(9), kind, byref(device), byref(host))
        own = (elements * size + 255) // 256 * 256
        assert code == 0 and host.value == 0 and device.value == own + 4 * of_real, device.value
        assert last()[0] == "hipsolverDn{letter}gesvd_bufferSize" and [word(x) for x in last()[1][1:3]] == [m, n]
        def solve(bytes_given):
            return lib.cusolverDnXgesvd(H, None, job, c_byte(83), q(m), q(n), kind, P(1), q(7), real, P(2), kind, P(3), q(8), kind,
                                        P(4), q(9), kind, P(0x100000), c_size_t(bytes_given), None, c_size_t(0), P(0x111))
        rocm.reset(writes={{3: struct.pack("i", elements)}})
        assert solve(device.value - 1) == 3
        assert solve(device.value) == 0
        name, given = last()
        assert name == "hipsolverDn{letter}gesvd"
        assert [word(x) for x in given[1:]] == [65, 83, 6, 4, 1, 7, 2, 3, 8, 4, 9, 0x100000, own // size, 0x100000 + own, 0x111]
        assert lib.cusolverDnXgesvd_bufferSize(H, None, job, job, q(m), q(n), 2, P(1), q(7), real, P(2), 2, P(3), q(8),
                                               2, P(4), q(9), 2, byref(device), byref(host)) == 9
        """,
    )


def test_sparse_handles_remember_their_stream_and_tolerances_are_widened(rocm):
    run(
        "libcusolver.so.12",
        rocm("cusolver"),
        """
        at = P(1)
        assert lib.cusolverSpGetStream(H, byref(at)) == 0 and at.value is None
        assert lib.cusolverSpSetStream(H, P(0x7770)) == 0 and word(last()[1][1]) == 0x7770
        assert lib.cusolverSpGetStream(H, byref(at)) == 0 and at.value == 0x7770
        rocm.reset()
        assert lib.cusolverSpScsrlsvqr(H, 3, 4, P(1), P(2), P(3), P(4), P(5), c_float(0.125), 1, P(6), P(7)) == 0
        name, given = last()
        assert name == "hipsolverSpScsrlsvqr" and len(given[8]) == 8 and real(given[8]) == 0.125 and word(given[9]) == 1
        """,
    )


UNDEFINED = -(2**31)


def configuration(version: int, size: int, later: int = UNDEFINED, name: int = 0) -> bytes:
    """Return an ncclConfig_t of NCCL 2.31: blocking 0, cluster 2, 4 to 16 blocks, network 0x9990, splitShare 1, class 3."""
    return struct.pack(
        "QIIiiiiQiiQiiiiii10i", size, 0xCAFEBEEF, version, 0, 2, 4, 16, 0x9990, 1, 3, name,
        *([UNDEFINED] * 4), later, UNDEFINED, *([UNDEFINED] * 10),
    )  # fmt: skip


@pytest.mark.parametrize(("rccl", "size"), [(22105, 48), (22703, 72), (22803, 80)])
def test_configurations_of_nccl_become_those_of_the_rccl_at_hand(rccl, size, tmp_path):
    """The beginning of RCCL's structure is read back by a function in its place."""
    extra = f"""
    unsigned char fake_seen[128];
    int ncclGetVersion(int* v) {{ *v = {rccl}; return 0; }}
    int ncclCommSplit(void* c, int color, int key, void** out, const void* config) {{
      memset(fake_seen, 0xEE, sizeof fake_seen);
      if (config) memcpy(fake_seen, config, *(unsigned long*)config);
      *out = (void*)0xC0;
      return 7;
    }}
    """
    recorder = recorder_in(tmp_path, "nccl", without=frozenset({"ncclGetVersion", "ncclCommSplit"}), extra=extra)
    plain, more = configuration(23203, 120), configuration(23203, 120, later=5)
    ran = run(
        "libnccl.so.2",
        recorder,
        f"""
        seen = (c_ubyte * 128).in_dll(CDLL({str(recorder)!r}), "fake_seen")
        made = P()
        assert lib.ncclCommSplit(H, 3, 4, byref(made), {plain!r}) == 7 and made.value == 0xC0  # ncclInProgress
        theirs = bytes(seen)
        assert struct.unpack_from("QII", theirs) == ({size}, 0xCAFEBEEF, {rccl})
        assert theirs[16:{size}] == {plain!r}[16:{size}] and theirs[{size}:] == b"\\xee" * (128 - {size})
        assert lib.ncclCommSplit(H, 3, 4, byref(made), None) == 7 and seen[0] == 0xEE
        assert lib.ncclCommSplit(H, 3, 4, byref(made), b"\\0" * 120) == 4
        assert lib.ncclCommSplit(H, 3, 4, byref(made), {more!r}) == 7
        short = {plain!r}[:8 + 8 + 32].replace({plain!r}[:8], struct.pack("Q", 48), 1)
        assert lib.ncclCommSplit(H, 3, 4, byref(made), short) == 7
        """,
    )
    assert ("not all fields" in ran.words) == (size < 80)


def test_a_communicators_identity_is_passed_by_value(rocm):
    run(
        "libnccl.so.2",
        rocm("nccl"),
        """
        class Id(Structure):
            _fields_ = [("bytes", c_ubyte * 128)]
        identity = Id((c_ubyte * 128)(*range(128)))
        lib.ncclCommInitRankConfig.argtypes = [P, c_int, Id, c_int, P]
        lib.ncclCommInitRank.argtypes = [P, c_int, Id, c_int]
        made = P()
        for call in (lambda: lib.ncclCommInitRankConfig(byref(made), 8, identity, 5, None),
                     lambda: lib.ncclCommInitRank(byref(made), 8, identity, 5)):
            assert call() == 0
            given = last()[1]
            assert word(given[1]) == 8 and given[2] == bytes(range(128)) and word(given[3]) == 5
        lib.ncclGetErrorString.restype = c_char_p
        assert lib.ncclGetErrorString(0) == b"no error"
        """,
    )


def test_cudas_name_for_the_legacy_stream_is_the_null_stream(rocm):
    """CU_STREAM_LEGACY is 1, which HIP 6 does not know; 2 is the per-thread stream in both (hip_runtime_api.h)."""
    run(
        "libcusparse.so.12",
        rocm("cusparse"),
        """
        for given, theirs in ((0, 0), (1, 0), (2, 2), (0x5550, 0x5550)):
            assert lib.cusparseSetStream(H, P(given)) == 0 and word(last()[1][1]) == theirs
        """,
    )


COUNTING = """
// A driver that counts devices anew: the program's 0, 1, 2 are HIP's 5, 0, 3.
static const int numbers[] = {5, 0, 3};
int anywarp_hip_device(int device) { return device >= 0 && device < 3 ? numbers[device] : -1; }
int anywarp_cuda_device(int number) {
  for (int i = 0; i < 3; i++)
    if (numbers[i] == number) return i;
  return -1;
}
"""


def test_devices_are_counted_as_the_other_side_counts_them(tmp_path):
    """`CUDA_VISIBLE_DEVICES` counts anew for the program; RCCL and hipFFT know HIP's numbers."""
    from native.rocm.recorder import build

    extra = """
    int fake_list[4];
    int ncclCommInitAll(void** out, int n, const int* list) { memcpy(fake_list, list, 4 * n); return 0; }
    """
    recorder = recorder_in(tmp_path, "nccl", without=frozenset({"ncclCommInitAll"}), extra=extra)
    driver = build(tmp_path / "driver", "libcuda.so.1", COUNTING)
    run(
        "libnccl.so.2",
        recorder,
        f"""
        CDLL({str(driver)!r}, RTLD_GLOBAL)
        seen = (c_int * 4).in_dll(CDLL({str(recorder)!r}), "fake_list")
        made, number = (P * 4)(), c_int()
        assert lib.ncclCommInitAll(made, 2, (c_int * 2)(2, 0)) == 0 and list(seen)[:2] == [3, 5]
        assert lib.ncclCommInitAll(made, 3, None) == 0 and list(seen)[:3] == [5, 0, 3]
        assert lib.ncclCommInitAll(made, 1, (c_int * 1)(3)) == 4 and lib.ncclCommInitAll(made, -1, None) == 4
        rocm.reset(writes={{1: struct.pack("i", 3)}})
        assert lib.ncclCommCuDevice(H, byref(number)) == 0 and number.value == 2
        """,
    )
