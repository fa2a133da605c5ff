"""A library that carries NVIDIA's runtime is told from one that does not, and one without symbols from one with them."""

import subprocess

import pytest

from anywarp.ptx import elf
from anywarp.ptx.carried import carried
from anywarp.ptx.inspect import inspect_file

SOURCE = """
const char* const words[] = {"CUDA driver version is insufficient for CUDA runtime version"};
const char* message() { return words[0]; }
int cudaMalloc() { return 0; }
"""


@pytest.mark.parametrize(
    ("source", "options", "wanted"),
    [
        (SOURCE, (), "static"),
        (SOURCE, ("-s", "-fvisibility=hidden"), "static, stripped"),
        ("int f() { return 0; }", (), ""),
        (SOURCE.replace("insufficient", "fine"), (), ""),
    ],
)
def test_a_static_runtime_is_recognised(tmp_path, source, options, wanted):
    library = tmp_path / "library.so"
    (tmp_path / "a.c").write_text(source)
    subprocess.run(["gcc", "-shared", "-fPIC", *options, "-o", str(library), str(tmp_path / "a.c")], check=True)
    assert carried(elf.read(library.read_bytes())) == wanted
    assert [part.runtime for part in inspect_file(library)] == ([wanted] if wanted else [])
