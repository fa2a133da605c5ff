"""`anywarp doctor` on packages whose operators were built for another kind of torch, made up as their wheels are laid out."""

import struct
import subprocess
import sys

import pytest

from anywarp.frameworks.torch import companions, found


def library(path, *needs):
    """Write a small shared library that is linked to `needs`: a header, one .dynamic section and its strings."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in needs)
    offsets = [1 + sum(len(each) + 1 for each in needs[:i]) for i in range(len(needs))]
    dynamic = b"".join(struct.pack("<QQ", 1, offset) for offset in offsets) + struct.pack("<QQ", 0, 0)
    names = b"\0.dynamic\0.dynstr\0.shstrtab\0"
    begin = [64, 64 + len(dynamic), 64 + len(dynamic) + len(strings)]
    table = begin[2] + len(names)

    def section(name, kind, offset, size, link=0, entry=0):
        return struct.pack("<IIQQQQIIQQ", name, kind, 2, 0, offset, size, link, 0, 1, entry)

    sections = [
        bytes(64),
        section(1, 6, begin[0], len(dynamic), link=2, entry=16),
        section(10, 3, begin[1], len(strings)),
        section(18, 3, begin[2], len(names)),
    ]
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 4, 3)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + dynamic + strings + names + b"".join(sections))


def environment(folder, vision, *needs, cuda="None"):
    """Make a torch 2.13 and a torchvision in a folder."""
    (folder / "torch/lib").mkdir(parents=True)
    (folder / "torch/lib/libtorch_cpu.so").write_bytes(b"")
    (folder / "torch/__init__.py").write_text("raise ImportError('doctor does not import torch')\n")
    (folder / "torch/version.py").write_text(f"__version__ = '2.13.0+cpu'\ngit_version = 'abc'\ncuda = {cuda}\n")
    (folder / "torchvision").mkdir()
    (folder / "torchvision/__init__.py").write_text("raise ImportError('doctor does not import torchvision')\n")
    (folder / "torchvision/version.py").write_text(f"__version__ = '{vision}'\n")
    library(folder / "torchvision/_C_stable.so", *needs)
    return folder


def asked(folder):
    """Return what the facts are in a process that finds these packages first."""
    code = "from anywarp.frameworks.torch import companions\nfor f in companions.statuses(): print(f.status, f.name, f.text, '|', f.help)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{code}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert not done.stderr
    return [line for line in done.stdout.splitlines() if " torchvision " in line]


def test_a_wheel_for_cuda_beside_a_cpu_build_is_named_with_the_wheel_that_serves(tmp_path):
    [line] = asked(environment(tmp_path, "0.29.2+cu132", "libc10.so", "libtorch_cpu.so", "libtorch_cuda.so"))
    assert line.startswith("warning torchvision 0.29.2+cu132 was built for torch's CUDA build")
    assert "'torchvision==0.28.*'" in line.partition("|")[2]


def test_a_wheel_for_the_cpu_is_right(tmp_path):
    [line] = asked(environment(tmp_path, "0.28.0+cpu", "libc10.so", "libtorch_cpu.so"))
    assert line.startswith("ok torchvision 0.28.0+cpu")


def test_nothing_is_said_beside_a_cuda_build(tmp_path):
    assert asked(environment(tmp_path, "0.29.2+cu132", "libtorch_cuda.so", cuda="'13.2'")) == []


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02\x01\x01" + b"\xff" * 400])
def test_a_damaged_library_is_linked_to_nothing(tmp_path, content):
    (tmp_path / "x.so").write_bytes(content)
    assert companions.needed(tmp_path / "x.so") == frozenset()


def test_which_release_belongs_to_which_torch(tmp_path):
    # 0.29.2's metadata asks for torch>=2.14.0; torch 2.4 was released with torchvision 0.19.
    def torch(version):
        return found.Torch(tmp_path, version, "", "")

    assert companions.wheel_for("torchvision", torch("2.14.0")) == "torchvision==0.29.*"
    assert companions.wheel_for("torchvision", torch("2.4.1")) == "torchvision==0.19.*"
    assert companions.wheel_for("torchaudio", torch("2.9.0")) == "torchaudio==2.9.*"
    assert companions.wheel_for("torchaudio", torch("2.13.0")) == "torchaudio==2.11.*"
