"""The linker library, called as cuda-core calls it."""

import ctypes

import pytest

from anywarp import settings

pytestmark = pytest.mark.native

SUCCESS, UNRECOGNIZED_OPTION, MISSING_ARCH, INVALID_INPUT, PTX_COMPILE, UNRECOGNIZED_INPUT = 0, 1, 2, 3, 4, 8
LTO_NOT_ENABLED = 18
CUBIN, PTX, LTOIR, OBJECT, LIBRARY = 1, 2, 3, 5, 6
HEADER = ".version 7.0\n.target sm_50\n.address_size 64\n"
USER = HEADER + ".extern .func (.param .b32 r) twice(.param .b32 a);\n.visible .entry k()\n{\nret;\n}\n"
TWICE = """.visible .func (.param .b32 r) twice(.param .b32 a)
{
.reg .b32 %r<3>;
ld.param.b32 %r1, [a];
add.s32 %r2, %r1, %r1;
st.param.b32 [r], %r2;
ret;
}
"""


@pytest.fixture(scope="module", params=["libnvJitLink.so.12", "libnvJitLink.so.13"])
def library(request):
    return ctypes.CDLL(str(settings.LIBRARY_DIR.get() / request.param))


@pytest.fixture
def link(library):
    handle = ctypes.c_void_p()
    options = (ctypes.c_char_p * 1)(b"-arch=sm_80")
    assert library.nvJitLinkCreate(ctypes.byref(handle), 1, options) == SUCCESS
    yield handle
    assert library.nvJitLinkDestroy(ctypes.byref(handle)) == SUCCESS
    assert not handle.value


def add(library, link, text, kind=PTX, name=b"input"):
    data = text.encode() if isinstance(text, str) else text
    return library.nvJitLinkAddData(link, kind, data, ctypes.c_size_t(len(data)), name)


def text_of(library, link, size_name, name):
    size = ctypes.c_size_t()
    assert getattr(library, size_name)(link, ctypes.byref(size)) == SUCCESS
    buffer = ctypes.create_string_buffer(size.value)
    assert getattr(library, name)(link, buffer) == SUCCESS
    assert buffer.raw[-1:] == b"\0"
    return buffer.value.decode()


def errors(library, link):
    return text_of(library, link, "nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog")


def test_the_version_is_one_before_lto_for_everyone(library):
    major, minor = ctypes.c_uint(), ctypes.c_uint()
    assert library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor)) == SUCCESS
    assert (major.value, minor.value) == (12, 0)


def test_an_architecture_must_be_named(library):
    assert library.nvJitLinkCreate(ctypes.byref(ctypes.c_void_p()), 0, None) == MISSING_ARCH


def test_a_wrong_handle_is_refused(library):
    assert library.nvJitLinkComplete(ctypes.c_void_p(0x1234)) == INVALID_INPUT
    assert library.nvJitLinkDestroy(ctypes.byref(ctypes.c_void_p(0x1234))) == INVALID_INPUT


def test_two_modules_become_one_with_one_definition(library, link):
    assert add(library, link, USER + "\0") == SUCCESS
    assert add(library, link, HEADER + TWICE) == SUCCESS
    assert library.nvJitLinkComplete(link) == SUCCESS
    linked = text_of(library, link, "nvJitLinkGetLinkedCubinSize", "nvJitLinkGetLinkedCubin")
    assert linked.count(".version") == 1
    assert linked.count("add.s32") == 1 and ".entry k" in linked


def test_what_was_linked_can_be_linked_again(library, link):
    assert add(library, link, USER) == SUCCESS
    assert add(library, link, HEADER + TWICE, kind=CUBIN) == SUCCESS
    assert library.nvJitLinkComplete(link) == SUCCESS


def test_a_name_defined_twice_is_named(library, link):
    for _ in range(2):
        assert add(library, link, HEADER + TWICE) == SUCCESS
    assert library.nvJitLinkComplete(link) == PTX_COMPILE
    assert "twice" in errors(library, link)


@pytest.mark.parametrize(("data", "kind"), [(b"BC\xc0\xde" * 8, LTOIR), (b"\x7fELF" + bytes(60), CUBIN)])
def test_what_is_not_ptx_is_refused_by_name(library, link, data, kind):
    assert add(library, link, data, kind, b"mine.bin") == UNRECOGNIZED_INPUT
    assert "mine.bin" in errors(library, link)


def test_nothing_is_linked_before_it_is_complete(library, link):
    assert library.nvJitLinkGetLinkedCubinSize(link, ctypes.byref(ctypes.c_size_t())) == INVALID_INPUT


def test_there_is_no_intermediate_code_to_be_had(library, link):
    assert add(library, link, HEADER + TWICE) == SUCCESS
    assert library.nvJitLinkComplete(link) == SUCCESS
    assert library.nvJitLinkGetLinkedLTOIRSize(link, ctypes.byref(ctypes.c_size_t())) == LTO_NOT_ENABLED
    assert library.nvJitLinkGetLinkedLTOIR(link, ctypes.create_string_buffer(8)) == LTO_NOT_ENABLED


@pytest.mark.parametrize(
    ("option", "result"),
    [
        (b"-arch=foo", UNRECOGNIZED_OPTION),
        (b"-arch=", UNRECOGNIZED_OPTION),
        (b"-arch=sm_", UNRECOGNIZED_OPTION),
        (b"-arch=sm_8x", UNRECOGNIZED_OPTION),
        (b"-arch=compute_80", INVALID_INPUT),
        (b"-arch=sm_90a", SUCCESS),
        (b"-arch=sm_120f", SUCCESS),
    ],
)
def test_what_is_no_architecture_is_refused_and_the_log_says_so(library, option, result):
    """The results are those of NVIDIA's library 12.9.86; its linker exists after a mistake, too, for its log."""
    handle = ctypes.c_void_p()
    assert library.nvJitLinkCreate(ctypes.byref(handle), 1, (ctypes.c_char_p * 1)(option)) == result
    size = ctypes.c_size_t()
    assert library.nvJitLinkGetErrorLogSize(handle, ctypes.byref(size)) == SUCCESS
    log = ctypes.create_string_buffer(size.value)
    assert library.nvJitLinkGetErrorLog(handle, log) == SUCCESS
    assert (option in log.value) == (result != SUCCESS)
    assert library.nvJitLinkDestroy(ctypes.byref(handle)) == SUCCESS


def test_of_nothing_a_module_of_nothing_is_linked(library, link):
    """As NVIDIA's library 12.9.86 does."""
    assert library.nvJitLinkComplete(link) == SUCCESS
    size = ctypes.c_size_t()
    assert library.nvJitLinkGetLinkedCubinSize(link, ctypes.byref(size)) == SUCCESS
    text = ctypes.create_string_buffer(size.value)
    assert library.nvJitLinkGetLinkedCubin(link, text) == SUCCESS
    assert b".target sm_80" in text.value and b".entry" not in text.value


def archive(member):
    """A static library with one member, as ar writes it."""
    body = b"\x7fELF of a device"
    return (
        b"!<arch>\n"
        + f"{member}/".ljust(16).encode()
        + b"0".ljust(32)
        + str(len(body)).ljust(10).encode()
        + b"`\n"
        + body
    )


def test_nvidias_device_runtime_is_taken_and_left_and_other_libraries_refused(library, link):
    assert add(library, link, archive("cuda_device_runtime.o"), LIBRARY) == SUCCESS
    assert add(library, link, archive("mine.o"), LIBRARY) == UNRECOGNIZED_INPUT
    assert add(library, link, archive("cuda_device_runtime.o"), OBJECT) == UNRECOGNIZED_INPUT
    assert add(library, link, USER.replace(".extern .func (.param .b32 r) twice(.param .b32 a);\n", "")) == SUCCESS
    assert library.nvJitLinkComplete(link) == SUCCESS
