"""One driver and one context for the tests of the native libraries."""

import os
from pathlib import Path

import pytest

from native.by_hand import Driver, Handmade


@pytest.fixture(scope="session")
def driver(private_places):
    loaded = Driver()
    loaded.cuInit(0)
    return loaded


@pytest.fixture(scope="session")
def handmade(private_places):
    return Handmade(Path(os.environ["ANYWARP_CACHE_DIR"]))


@pytest.fixture
def context(driver):
    """A created context of its own, current on this thread."""
    made = driver.out("cuCtxCreate_v2", 0, 0)
    yield made
    driver.code("cuCtxDestroy_v2", made)
