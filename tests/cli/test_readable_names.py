"""Names of C++ kernels for people."""

import pytest

from anywarp.cli import readable_names
from anywarp.cli.readable_names import readable


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z5apply5Imagei", "apply(Image, int)"),
        ("_Z3sumIfLi4EEvPT_i", "sum<float, 4>(float*, int)"),
        ("_ZN12_GLOBAL__N_13addEPf", "add(float*)"),
        ("vector_add", "vector_add"),
        ("_Zwrong", "_Zwrong"),
        ("_Z" + "1a" * 300, "_Z" + "1a" * 300),  # too long to be given to the demangler
        ("_Z5apply5Imagei\x1b[31m", "_Z5apply5Imagei\x1b[31m"),
    ],
)
def test_a_symbol_becomes_a_name(symbol, name):
    assert readable(symbol) == name


def test_without_a_cpp_library_symbols_stay(monkeypatch):
    monkeypatch.setattr(readable_names, "_demangler", lambda: None)
    assert readable("_Z5apply5Imagei") == "_Z5apply5Imagei"
