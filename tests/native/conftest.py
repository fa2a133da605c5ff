"""One driver and one context for the tests of the native libraries."""

import os
from pathlib import Path

import pytest

from anywarp.runtime.build_id import build_id
from native.by_hand import Driver, Handmade


@pytest.fixture(scope="session")
def same_compiler(private_places):
    """Give the library the identity of the compiler's present sources: in a checkout they may be newer than the build."""
    saved = os.environ.get("ANYWARP_BUILD_ID")
    os.environ["ANYWARP_BUILD_ID"] = build_id()
    yield
    os.environ.pop("ANYWARP_BUILD_ID") if saved is None else os.environ.__setitem__("ANYWARP_BUILD_ID", saved)


@pytest.fixture(scope="session")
def driver(same_compiler):
    loaded = Driver()
    loaded.cuInit(0)
    return loaded


@pytest.fixture(scope="session")
def handmade(same_compiler):
    return Handmade(Path(os.environ["ANYWARP_CACHE_DIR"]))


@pytest.fixture
def context(driver):
    """A created context of its own, current on this thread."""
    made = driver.out("cuCtxCreate_v2", 0, 0)
    yield made
    driver.code("cuCtxDestroy_v2", made)
