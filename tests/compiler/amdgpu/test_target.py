"""From PTX to a linked code object: for every architecture, with what the artifact says of it, and what is refused."""

from __future__ import annotations

import pytest

from anywarp.compiler.amdgpu import link, machine_code
from anywarp.compiler.amdgpu.architectures import ARCHITECTURES
from anywarp.compiler.amdgpu.code_object import kernel_metadata
from anywarp.compiler.amdgpu.hidden import argument_bytes
from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.artifact import pack, unpack
from anywarp.diagnostics import AnywarpError
from compiler.amdgpu.amd_code import artifact, given, llvm, module

needs_linker = pytest.mark.skipif(
    link.find_linker() is None, reason="no linker for AMD GPUs (the package ziglang, LLD or ROCm)"
)
VECADD = module(
    """mul.wide.u32 %rd3, %r2, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3; ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd5]; add.f32 %f1, %f1, %f2; st.global.f32 [%rd5], %f1;"""
)


def object_of(ptx, arch, **how):
    return machine_code.compile_text(llvm(ptx, arch, **how), arch, "", "k")


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_architecture_has_code(arch):
    found = kernel_metadata(object_of(VECADD, arch))
    assert (found.name, found.wave, found.argument_bytes) == ("k", ARCHITECTURES[arch].wave, argument_bytes(20))
    assert (found.scratch, found.vgpr_spills, found.sgpr_spills, found.lds) == (0, 0, 0, 0)
    assert found.max_threads == 64


@needs_linker
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201", "gfx9-4-generic"])
def test_code_objects_are_shared_objects_that_need_nothing(arch):
    made = artifact(VECADD, arch)
    assert made.object[:4] == b"\x7fELF"
    assert int.from_bytes(made.object[16:18], "little") == 3  # ET_DYN
    assert int.from_bytes(made.object[18:20], "little") == 224  # EM_AMDGPU
    assert made.symbol == "k"
    assert kernel_metadata(made.object).name == "k"
    assert (made.amd.arch, made.amd.wave, made.amd.max_threads) == (arch, ARCHITECTURES[arch].wave, 64)
    assert made.amd.warps_per_wave == ARCHITECTURES[arch].wave // 32
    assert unpack(pack(made)).amd == made.amd


@needs_linker
def test_the_switches_of_an_architecture_reach_the_code_object():
    def flags(identity):
        return int.from_bytes(artifact(VECADD, identity).object[48:52], "little")

    # EF_AMDGPU_FEATURE_XNACK_V4 and _SRAMECC_V4 (LLVM's AMDGPU usage page): unsupported 0, any 1, off 2, on 3.
    assert flags("gfx942") >> 8 & 0xF == 0b0101
    assert flags("gfx942:sramecc+:xnack-") >> 8 & 0xF == 0b1110


@pytest.mark.parametrize("identity", ["gfx1", "", "sm_80", "gfx942:fast+", "gfx942:xnack"])
def test_an_unknown_architecture_is_refused(identity):
    with pytest.raises(AnywarpError, match="D003"):
        make_target(identity)


def test_static_shared_memory_beyond_the_architecture_says_by_how_much():
    ptx = module(
        "mov.u32 %r3, big; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r2; bar.sync 0; ld.shared.u32 %r4, [%r3+4]; st.global.u32 [%rd1], %r4;",
        ".shared .align 4 .b8 big[65540];",
    )
    with pytest.raises(AnywarpError, match=r"C104.* 4 more than a block has on gfx942 \(65536\)"):
        artifact(ptx, "gfx942")
    assert kernel_metadata(object_of(ptx, "gfx950")).lds == 65540


@pytest.mark.parametrize(("arch", "bytes"), [("gfx942", 131056), ("gfx1030", 262112)])
def test_local_memory_beyond_a_waves_scratch_is_refused(arch, bytes):
    """LLVM would end the process (AMDGPU usage: a wave's scratch is a field of 13 bits in units of 1 KiB)."""
    body = "mov.u32 %r4, big; add.u32 %r4, %r4, %r2; st.local.u32 [%r4], %r2; ld.local.u32 %r5, [big+8]; st.global.u32 [%rd1], %r5;"
    with pytest.raises(AnywarpError, match=f"C106.* {bytes - (bytes - 8192)} more than"):
        artifact(module(f".local .align 16 .b8 big[{bytes}];" + body), arch)


def test_dynamic_shared_memory_is_not_the_compilers_business():
    ptx = module(
        "mov.u32 %r3, more; add.u32 %r3, %r3, 200000; st.shared.u32 [%r3], %r2;",
        ".extern .shared .align 16 .b8 more[];",
    )
    assert kernel_metadata(object_of(ptx, "gfx942")).lds == 0


def test_what_there_is_no_code_for_is_named():
    kernel, analysis, how = given(VECADD)
    kernel.blocks[0].ops[0].name = "transmogrify"
    with pytest.raises(AnywarpError, match=r"C017.*gfx1100.*operation transmogrify"):
        make_target("gfx1100").emitted(kernel, analysis, how)


@needs_linker
def test_kernels_keep_their_names_but_for_ours():
    assert artifact(VECADD.replace(" k(", " _Z1$k_x("), "gfx1100", "_Z1$k_x").symbol == "_Z1$k_x"
    assert artifact(VECADD.replace(" k(", " aw_hip_stop("), "gfx1100", "aw_hip_stop").symbol == "aw_hip_stop_"


def test_without_a_linker_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(link, "find_linker", lambda: None)
    with pytest.raises(AnywarpError, match="C103") as caught:
        artifact(VECADD, "gfx942")
    assert "ziglang" in caught.value.diagnostic.help


def test_a_linker_that_fails_is_told_with_its_words(monkeypatch, tmp_path):
    broken = tmp_path / "ld.lld"
    broken.write_text("#!/bin/sh\necho the sky fell >&2\nexit 1\n")
    broken.chmod(0o700)
    monkeypatch.setenv("ANYWARP_LLD", str(broken))
    with pytest.raises(AnywarpError, match=r"C105.*the sky fell"):
        artifact(VECADD, "gfx942")
    monkeypatch.setenv("ANYWARP_LLD", str(tmp_path / "nowhere"))
    with pytest.raises(AnywarpError, match="C105"):
        artifact(VECADD, "gfx942")


def test_metadata_of_damaged_files_is_an_error():
    code = object_of(VECADD, "gfx1100")
    note = code.index(b"AMDGPU\0")
    for damaged in (b"", b"\x7fELF", code[:64], code[: note + 20], code.replace(b"AMDGPU\0", b"amdgpu\0")):
        with pytest.raises(ValueError, match=r"damaged|not an ELF|without metadata"):
            kernel_metadata(damaged)


def test_code_objects_have_the_version_that_all_of_rocm_loads():
    """EI_ABIVERSION 3 is version 5, which ROCm 6 loads; generic architectures exist from version 6 on (AMDGPU usage, ELF header)."""
    assert object_of(VECADD, "gfx942")[8] == 3
    assert object_of(VECADD, "gfx9-4-generic")[8] == 4


class Comgr:
    """A comgr that writes down what it is asked, and links by appending a word."""

    def __init__(self, version, failing=""):
        self.version, self.failing, self.asked, self.names = version, failing, [], iter(range(100, 999))
        self.data = b""

    def __getattr__(self, name):
        return lambda *arguments: self.answer(name.removeprefix("amd_comgr_"), arguments)

    def answer(self, name, arguments):
        self.asked.append((name, *(a.value if hasattr(a, "value") else a for a in arguments)))
        if name == self.failing:
            return 1
        if name == "get_version":
            arguments[0]._obj.value = self.version
        elif name == "set_data":
            self.data = arguments[2]
        elif name.startswith("create_") or name == "action_data_get_data":
            arguments[-1]._obj.handle = next(self.names)
        elif name == "get_data":
            arguments[1]._obj.value = len(self.data) + 5
            if arguments[2] is not None:
                arguments[2].raw = self.data + b"+link"
        return 0


@pytest.mark.parametrize(("version", "action"), [(2, 9), (3, 7)])
def test_comgr_links_by_the_number_that_its_version_has_for_it(version, action):
    library = Comgr(version)
    assert link._link_by_comgr(library, b"object", "amdgcn-amd-amdhsa--gfx942") == b"object+link"
    asked = {name: rest for name, *rest in library.asked}
    assert asked["do_action"][0] == action
    assert asked["create_data"][0] == 7
    assert asked["action_data_get_data"][1] == 8
    made = [name for name, *_ in library.asked if name.startswith("create_") or name == "action_data_get_data"]
    freed = [name for name, *_ in library.asked if name.startswith(("destroy_", "release_"))]
    assert len(made) == len(freed) == 5


@pytest.mark.parametrize(("version", "failing"), [(2, "do_action"), (3, "action_info_set_isa_name"), (9, "")])
def test_a_comgr_that_cannot_is_told(version, failing):
    with pytest.raises(AnywarpError, match=f"C105.*{failing or 'version 9'}"):
        link._link_by_comgr(Comgr(version, failing), b"object", "amdgcn-amd-amdhsa--gfx942")


@needs_linker
def test_where_a_mode_would_leak_the_operation_is_a_function_of_its_own(monkeypatch):
    ptx = module(
        "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2]; add.rz.f32 %f3, %f1, %f2; mul.f32 %f3, %f3, %f1; st.global.f32 [%rd1], %f3;"
    )
    inline = artifact(ptx, "gfx1100")
    monkeypatch.setattr(machine_code, "only_directed", lambda assembly: False)
    apart = artifact(ptx, "gfx1100")
    assert b"aw.fadd.rz" not in inline.object
    assert b"aw.fadd.rz" in apart.object
