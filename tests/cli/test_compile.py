"""`anywarp compile`: every stage of a kernel, from PTX and from binaries, and what is refused."""

import json
from pathlib import Path

import pytest

from anywarp.cli.main import call
from anywarp.compiler import pipeline
from anywarp.compiler.simd.target import make_target
from anywarp.devices.cpu import target
from fakes.gpu_images import elf
from fakes.images import fatbin

KERNELS = Path(__file__).resolve().parents[2] / "benchmarks" / "kernels"
VECADD = KERNELS / "vecadd.ptx"
BOUNDS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<2>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 4;
add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3; mov.u32 %r1, 7; setp.gt.s32 %p1, %r2, 0;
@!%p1 bra J; ld.global.u32 %r1, [%d4+-4]; J: st.global.u32 [%d5], %r1;
ret;
}
"""
REFUSED = b".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry bad()\n{\n\tmultimem.hokus;\n\tret;\n}\n"


def shown(capsys, *arguments) -> str:
    assert call(["compile", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_each_stage_is_shown_in_its_own_language(capsys):
    assert "ld.global.f32" in shown(capsys, "--emit", "tree", VECADD)
    assert "= load space=global" in shown(capsys, "--emit", "ir", VECADD)
    assert "define i32 @aw_kernel(" in shown(capsys, "--emit", "llvm", VECADD)
    assert "aw_kernel:" in shown(capsys, "--emit", "asm", VECADD)


def test_an_object_is_written_where_it_shall_go(capsys, tmp_path):
    assert call(["compile", "--emit", "object", "-o", str(tmp_path / "out.o"), str(VECADD)]) == 0
    assert (tmp_path / "out.o").read_bytes()[:4] == b"\x7fELF"
    assert call(["compile", "--emit", "object", "-o", str(tmp_path / "no" / "out.o"), str(VECADD)]) == 2
    assert "error[L001]" in capsys.readouterr().err


def test_passes_are_shown_in_their_order(capsys):
    stages = [line[2:] for line in shown(capsys, "--passes", VECADD).splitlines() if line.startswith("; ")]
    assert stages == ["lowering", *(one.__name__ for one in pipeline.PASSES), "suit"]


def test_what_the_target_makes_of_the_kernel_is_the_last_pass_shown(capsys, tmp_path, monkeypatch):
    """A load behind a test of bounds loses its branch there, and what is shown is the kernel that is emitted."""
    monkeypatch.setattr(
        target, "host_target", lambda *_: make_target("x86_64-unknown-linux-gnu", "haswell", "+avx2,+fma,+f16c")
    )
    file = tmp_path / "bounds.ptx"
    file.write_text(BOUNDS)
    parts = shown(capsys, "--block", "64", "--passes", "--emit", "ir", file).split("\n; ")
    names = [part.partition("\n")[0] for part in parts]
    assert names[-2:] == ["suit", "ir"]
    assert [" branch " in part for part in parts[-3:]] == [True, False, False]


def test_a_pass_that_breaks_a_kernel_is_the_last_one_shown(capsys, monkeypatch):
    def lose_a_value(kernel, specialisation):
        kernel.blocks[0].ops.pop(0)

    monkeypatch.setattr(pipeline, "PASSES", (*pipeline.PASSES[:2], lose_a_value, *pipeline.PASSES[2:]))
    assert call(["compile", "--passes", str(VECADD)]) == 2
    told = capsys.readouterr()
    assert told.out.rpartition("; ")[2].startswith("lose_a_value")
    assert "after lose_a_value" in told.err


def test_reasons_are_given_in_words_and_as_data(capsys):
    assert "vector: lanes lie side by side (4 bytes each)" in shown(capsys, "--explain", VECADD)
    data = json.loads(shown(capsys, "--explain", "--format", "json", VECADD))
    assert data["kernel"] == "vecadd"
    assert {f["kind"] for part in data["stages"][0]["content"]["parts"] for f in part["findings"]} >= {
        "global load, vector"
    }


def test_kernels_are_found_in_binaries_and_chosen_by_pattern(capsys, tmp_path):
    both = fatbin((1, 80, VECADD.read_bytes())) + fatbin((1, 80, (KERNELS / "saxpy.ptx").read_bytes()))
    (tmp_path / "two.fatbin").write_bytes(both)
    assert [line.split()[0] for line in shown(capsys, tmp_path / "two.fatbin").splitlines()] == ["vecadd", "saxpy"]
    assert shown(capsys, "--kernel", "sax*", tmp_path / "two.fatbin").startswith("saxpy  block 256 x 1 x 1")
    assert call(["compile", "--emit", "ir", str(tmp_path / "two.fatbin")]) == 2
    assert "vecadd saxpy" in capsys.readouterr().err
    assert call(["compile", "--kernel", "none", str(tmp_path / "two.fatbin")]) == 2
    assert "error[L003]" in capsys.readouterr().err


@pytest.mark.parametrize("section", [".nv_fatbin", "__nv_relfatbin"])
def test_kernels_of_a_library_are_found_also_where_its_device_code_is_linked(capsys, tmp_path, section):
    (tmp_path / "lib.so").write_bytes(elf({section: fatbin((1, 80, VECADD.read_bytes()))}))
    assert shown(capsys, tmp_path / "lib.so").startswith("vecadd  block")


def test_the_block_shape_and_options_are_those_asked_for(capsys):
    rows = json.loads(shown(capsys, "--block", "16x4", "--options", "gang=32", "--format", "json", VECADD))
    assert (rows["kernels"][0]["block"], rows["kernels"][0]["lanes"]) == ([16, 4, 1], 32)
    assert call(["compile", "--options", "gang=33", str(VECADD)]) == 2


def test_a_refusal_is_a_finding(capsys, tmp_path):
    (tmp_path / "bad.ptx").write_bytes(REFUSED)
    assert call(["compile", str(tmp_path / "bad.ptx")]) == 1
    told = capsys.readouterr()
    assert "refused" in told.out and "multimem" in told.err
    assert call(["compile", "--format", "json", str(tmp_path / "bad.ptx")]) == 1
    assert "multimem" in json.loads(capsys.readouterr().out)["kernels"][0]["problem"]["message"]


@pytest.mark.parametrize("device", ["gfx942", "hokus"])
def test_a_device_that_is_not_there_is_told_with_those_that_are(device, capsys):
    assert call(["compile", "--device", device, str(VECADD)]) == 2
    told = capsys.readouterr().err
    assert "error[D001]" in told and "cpu" in told


@pytest.mark.parametrize("arch, wave", [("gfx942", 64), ("gfx1100", 32)])
def test_code_for_amd_gpus_is_shown(capsys, tmp_path, arch, wave):
    """What a kernel takes of the GPU, the reasons, its machine code, and a code object of AMD's."""
    device = ("--device", f"hip:{arch}")
    line = shown(capsys, *device, VECADD)
    assert f"{arch}: " in line and "vector and" in line and "0 scratch" in line
    (told,) = json.loads(shown(capsys, *device, "--format", "json", VECADD))["kernels"]
    assert told["amd"]["wave"] == wave and told["amd"]["vgprs"] > 0
    assert "define amdgpu_kernel" in shown(capsys, *device, "--emit", "llvm", VECADD)
    assert "s_endpgm" in shown(capsys, *device, "--emit", "asm", VECADD)
    assert "linked by" in shown(capsys, *device, "--explain", VECADD)
    out = tmp_path / "vecadd.hsaco"
    shown(capsys, *device, "--emit", "object", "-o", out, VECADD)
    assert out.read_bytes()[:4] == b"\x7fELF" and out.read_bytes()[18:20] == b"\xe0\x00"


def test_an_architecture_that_is_not_known_is_told(capsys):
    assert call(["compile", "--device", "hip:gfx7", str(VECADD)]) == 2
    assert "D003" in capsys.readouterr().err
