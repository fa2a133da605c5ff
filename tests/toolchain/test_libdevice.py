"""libdevice.10.bc: what is in it, how other compilers may link it, and where it comes from."""

from __future__ import annotations

import subprocess
import sys

import llvmlite.binding as llvm
import pytest

from anywarp import settings
from anywarp.diagnostics import AnywarpError
from anywarp.toolchain import clang, cuda_home, libdevice
from toolchain import test_libdevice_integers, test_libdevice_math
from toolchain.libdevice_kernels import TABLE, library, ptx

pytestmark = pytest.mark.usefixtures("needs_clang")


@pytest.fixture(scope="module")
def module(needs_clang):
    found = llvm.parse_bitcode(library())
    found.verify()
    return found


def test_every_function_of_the_guide_is_there_with_its_types(module):
    types = {
        f.name: f.global_value_type for f in module.functions if not f.is_declaration and f.name.startswith("__nv_")
    }
    found = {}
    for name, type in types.items():
        result, *parameters = map(str, type.elements)
        found[name.removeprefix("__nv_")] = (result, tuple(parameters))
    assert found == {name: (s.result, s.parameters) for name, s in TABLE.items()}


def test_every_function_of_the_guide_has_a_test():
    assert set(TABLE) == test_libdevice_integers.COVERED | test_libdevice_math.COVERED


def test_nothing_in_it_is_in_the_way_of_who_links_it(module):
    text = str(module)
    assert module.triple == "nvptx64-nvidia-gpulibs"
    assert module.data_layout == "e-i64:64-v16:16-v32:32-n16:32:64"
    assert "llvm.module.flags" not in text and "target-cpu" not in text
    for function in module.functions:
        if function.is_declaration:
            assert function.name.startswith("llvm.") or function.name == "__nvvm_reflect"
            continue
        assert b"alwaysinline" in b" ".join(function.attributes), function.name
        assert function.name.startswith("__nv_") == (function.linkage is llvm.Linkage.external), function.name
    assert all(v.linkage in (llvm.Linkage.internal, llvm.Linkage.private) for v in module.global_variables)


def test_what_it_is_linked_into_has_no_calls_left():
    text = ptx(("lgamma",))
    assert "call" not in text and "__nvvm_reflect" not in text


def test_the_toolkit_has_it_at_the_place_that_compilers_look_in(monkeypatch):
    home = cuda_home.make_with_libdevice()
    file = home / "nvvm/libdevice/libdevice.10.bc"
    assert file.read_bytes() == library()
    assert file.resolve() == libdevice.find().resolve()
    # One that belongs to other sources is replaced.
    file.unlink()
    file.symlink_to("elsewhere")
    cuda_home.make_with_libdevice()
    assert file.read_bytes() == library()


def test_one_that_is_shipped_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv(settings.LIBRARY_DIR.name, str(tmp_path))
    (tmp_path / libdevice.NAME).write_bytes(b"BC")
    assert libdevice.find().read_bytes() == b"BC"


def test_without_a_compiler_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv(settings.CACHE_DIR.name, str(tmp_path))
    monkeypatch.setenv("ANYWARP_CLANG", "no-such-clang")
    with pytest.raises(AnywarpError) as caught:
        libdevice.find()
    assert caught.value.diagnostic.code == "T008"
    assert "no-such-clang" in caught.value.diagnostic.message and "anywarp[nvcc]" in caught.value.diagnostic.help


def test_a_release_makes_it_by_a_command_and_the_same_again(tmp_path):
    place = tmp_path / "lib" / libdevice.NAME
    done = subprocess.run([sys.executable, "-m", "anywarp.toolchain.libdevice", str(place)], check=False, timeout=120)
    assert done.returncode == 0
    assert place.read_bytes() == library()


def test_clang_links_it(tmp_path):
    source = tmp_path / "a.ll"
    source.write_text(
        'target triple = "nvptx64-nvidia-cuda"\ndeclare double @__nv_erfcinv(double)\n'
        "define double @f(double %x) {\n  %y = call double @__nv_erfcinv(double %x)\n  ret double %y\n}\n"
    )
    words = ["--target=nvptx64-nvidia-cuda", "-march=sm_80", "-O2", "-S", "-x", "ir", str(source)]
    words += ["-o", str(tmp_path / "a.ptx")]
    link = ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(libdevice.find())]
    done = subprocess.run([*clang.find().command, *words, *link], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "a.ptx").read_text()
    assert ".func" in text and "__nv_" not in text
