"""The linker library, called as cuda-core calls it."""

import ctypes

import pytest

from anywarp import settings

pytestmark = pytest.mark.native

SUCCESS, MISSING_ARCH, INVALID_INPUT, PTX_COMPILE, UNRECOGNIZED_INPUT = 0, 2, 3, 4, 8
CUBIN, PTX, LTOIR = 1, 2, 3
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
