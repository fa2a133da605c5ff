"""NVIDIA's libraries on the processor, in this process, as the build made them."""

import pytest

from anywarp import settings
from libraries.loading import Library


@pytest.fixture(scope="session")
def library(private_places):
    """`library(STEM, FILE)`: one of the libraries, loaded once."""
    loaded = {}

    def load(stem, file, major=13):
        if not (settings.LIBRARY_DIR.get() / file).exists():
            pytest.skip(f"{file} is not built")
        if file not in loaded:
            loaded[file] = Library(stem, file, major)
        return loaded[file]

    return load
