"""The headers of NVIDIA's libraries are what clang takes by themselves, one without another before it, in C and in C++."""

import subprocess

import pytest

from anywarp.catalogue import binding_headers, library_headers
from anywarp.toolchain import clang, compile_commands


@pytest.mark.parametrize("language, standard, suffix", [("c", "gnu11", "c"), ("c++", "c++17", "cpp")])
def test_every_header_stands_alone(language, standard, suffix, tmp_path):
    sources = []
    for header in (*library_headers.HEADERS, *binding_headers.HEADERS):
        source = tmp_path / f"{header.name.replace('.', '_')}.{suffix}"
        source.write_text(f'#include "{header.name}"\n')
        sources.append(str(source))
    found = clang.find()
    folders = [f"-I{folder}" for folder in compile_commands.FOLDERS]
    words = [*found.command, "-x", language, f"-std={standard}", "-fsyntax-only", "-Werror", *found.options, *folders]
    done = subprocess.run([*words, *sources], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
