"""What LLVM has compiled in this test run is not compiled again: devices that differ in a plan often come to the same code for a kernel.

Loaded as a plugin by `tests/conftest.py`. Only the step from LLVM's text to an object is remembered, by all that it is given,
so that every kernel still goes through our own compiler in every plan.
"""

from functools import lru_cache

import pytest

from anywarp.compiler.simd import target

KEPT = 512
"""Objects: some tens of megabytes."""


@pytest.fixture(scope="session", autouse=True)
def compiled_once():
    """Remember what `compile_text` gave."""
    plain = target.compile_text
    target.compile_text = lru_cache(KEPT)(plain)
    yield
    target.compile_text = plain
