"""Scanning binaries: GPU code, linked libraries, names opened at run time, and damage."""

import random
import struct
from pathlib import PurePath

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.migrate.scan import binary
from fakes.gpu_images import CUBIN, elf, fatbin, image
from fakes.images import ptx


def scan(data, name="libk.so"):
    return list(binary.scan(data, PurePath(name)))


def strings(*names):
    """Return a string table and the offset of each name."""
    table, offsets = b"\0", {}
    for name in names:
        offsets[name] = len(table)
        table += name.encode() + b"\0"
    return table, offsets


def shared_object(needed=(), imported=(), sections=None):
    """Return a shared object by the layout of the System V ABI: its needs and its imports in `.dynamic` and `.dynsym`."""
    table, at = strings(*needed, *imported)
    dynamic = b"".join(struct.pack("<qQ", 1, at[name]) for name in needed) + struct.pack("<qQ", 0, 0)
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", at[name], 0x12, 0, 0, 0, 0) for name in imported)
    data = bytearray(elf({".dynstr": table, ".dynamic": dynamic, ".dynsym": symbols, **(sections or {})}))
    shoff, shnum = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    content = {table: 3, dynamic: 6, symbols: 11}
    for index in range(shnum):  # the kinds and links that the builder of the tests leaves out
        place = shoff + 64 * index
        start, size = struct.unpack_from("<QQ", data, place + 24)
        kind = content.get(bytes(data[start : start + size]))
        if kind:
            struct.pack_into("<I", data, place + 4, kind)
        if kind in (6, 11):
            struct.pack_into("<I", data, place + 40, next(i for i in range(shnum) if _is(data, shoff + 64 * i, table)))
    return bytes(data)


def _is(data, place, content):
    start, size = struct.unpack_from("<QQ", data, place + 24)
    return bytes(data[start : start + size]) == content


def cubin(*kernels):
    return elf({f".text.{name}": b"\0" * 16 for name in kernels}, machine=190, flags=80)


def test_ptx_and_machine_code_are_told_apart():
    code = fatbin(image(ptx("a()", "b()"), arch=80), image(cubin("a", "b"), kind=CUBIN, arch=90))
    (use, *_) = scan(elf({".nv_fatbin": code}))
    assert use.subject == "binary.code"
    assert (use.detail("ptx"), use.detail("sass"), use.detail("kernels"), use.detail("sass_only")) == (
        "sm_80",
        "sm_90",
        "2",
        "",
    )


def test_kernels_without_ptx_are_counted():
    code = fatbin(image(ptx("a()"), arch=80), image(cubin("a", "b", "c"), kind=CUBIN, arch=80))
    (use, *_) = scan(elf({".nv_fatbin": code}))
    assert (use.detail("kernels"), use.detail("sass_only")) == ("3", "2")


def test_machine_code_only():
    (use, *_) = scan(elf({".nv_fatbin": fatbin(image(cubin("a"), kind=CUBIN, arch=90))}))
    assert (use.detail("sass"), use.detail("ptx")) == ("sm_90", "")


def test_instructions_that_we_lack_are_named():
    text = b".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { wgmma.fence.sync.aligned; ret; }\n.visible .entry l() { ret; }\n"
    (use,) = scan(text, "k.ptx")
    assert (use.subject, use.detail("lacking"), use.detail("kernels"), use.detail("missing")) == (
        "ptx.file",
        "1",
        "2",
        "wgmma.fence.sync.aligned",
    )


def test_linked_libraries_with_what_is_imported_from_each():
    imported = ("cudaMalloc", "cudaFree", "cublasSgemm_v2", "cublasLtMatmul", "malloc", "cuInit")
    uses = scan(shared_object(("libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12", "libc.so.6"), imported))
    found = {u.name: (u.detail("library"), u.detail("symbols"), u.detail("through")) for u in uses}
    assert found == {
        "libcudart.so.12": ("libcudart", "cudaFree cudaMalloc", ""),
        "libcublas.so.12": ("libcublas", "cublasSgemm_v2", ""),
        "libcublasLt.so.12": ("libcublasLt", "cublasLtMatmul", ""),
        "libcuda.so": ("libcuda", "cuInit", "another library"),
    }


def test_many_symbols_are_continued_and_none_is_cut():
    imported = tuple(f"cudnnFunctionNumber{i:03}" for i in range(200))
    (use,) = scan(shared_object(("libcudnn.so.9",), imported))
    lines = [value for key, value in use.details if key == "symbols"]
    assert max(map(len, lines)) <= 400
    assert " ".join(lines).split() == sorted(imported)


def test_how_the_runtime_is_linked():
    code = {".nv_fatbin": fatbin(image(ptx("a()")))}
    assert scan(shared_object(("libcudart.so.12",), (), code))[0].detail("runtime") == "shared"
    static = {**code, ".rodata": b"\0CUDA driver version is insufficient for CUDA runtime version\0"}
    assert scan(shared_object((), (), static))[0].detail("runtime") == "static, stripped"
    known = {**static, ".strtab": b"\0main\0cudaMalloc\0"}
    assert scan(shared_object((), (), known))[0].detail("runtime") == "static"
    bare = {".rodata": static[".rodata"] + b"libcuda.so.1\0"}
    assert [(u.subject, u.detail("runtime")) for u in scan(shared_object((), (), bare))] == [
        ("binary.runtime", "static, stripped"),
        ("binary.dlopen", ""),
    ]


def test_libraries_opened_by_name():
    uses = scan(elf({".rodata": b"x\0libcudnn.so.9\0libcuda.so.1\0hello libcublas.so\0"}))
    assert [(u.subject, u.name) for u in uses] == [
        ("binary.dlopen", "libcuda.so.1"),
        ("binary.dlopen", "libcudnn.so.9"),
    ]


def test_nvidia_s_own_libraries_are_one_line():
    (use,) = scan(elf({".nv_fatbin": fatbin(image(cubin("a"), kind=CUBIN))}), "libcublas.so.12")
    assert (use.subject, use.detail("library")) == ("binary.nvidia", "libcublas")


def test_other_libraries_say_nothing():
    assert scan(shared_object(("libc.so.6",), ("malloc",))) == []
    assert scan(b"\x7fELF\x01\x01" + bytes(100)) == []


def test_a_static_library_is_summed_up():
    member = elf({".nv_fatbin": fatbin(image(ptx("a()"), arch=80))})
    header = (
        b"k.o/".ljust(16)
        + b"0".ljust(12)
        + b"0".ljust(6) * 2
        + b"644".ljust(8)
        + str(len(member)).encode().ljust(10)
        + b"`\n"
    )
    (use,) = scan(b"!<arch>\n" + header + member, "libk.a")
    assert (use.subject, use.detail("ptx")) == ("binary.code", "sm_80")
    assert scan(b"!<arch>\n" + header + member[:50], "libk.a") == []


def test_damage_is_told_with_a_code():
    whole = shared_object(("libcudart.so.12",), ("cudaMalloc",), {".nv_fatbin": fatbin(image(ptx("a()")))})
    with pytest.raises(AnywarpError) as caught:
        scan(whole[:100] + b"\xff" * 30)
    assert caught.value.diagnostic.code == "M020"


def test_every_damaged_byte_is_a_finding_or_a_diagnostic():
    whole = shared_object(
        ("libcudart.so.12",), ("cudaMalloc", "cuInit"), {".nv_fatbin": fatbin(image(ptx("a()"), compress="zstd"))}
    )
    chance = random.Random(7)
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            scan(bytes(data[: chance.randint(8, len(data))]))
        except AnywarpError as error:
            assert error.diagnostic.code == "M020"


def test_wants_by_first_bytes():
    assert binary.wants(PurePath("x"), b"\x7fELF....")
    assert binary.wants(PurePath("x.txt"), b"//\n.version 7.0\n.target sm_70\n")
    assert not binary.wants(PurePath("x.py"), b"import torch\n")
