"""Random kernels are the same on the processor, in the interpreter and in numpy; another seed each time, printed."""

import os
import secrets

import numpy as np
import pytest

from semantics import fuzz


@pytest.mark.timeout(600)
def test_random_kernels_agree():
    """For a minute where time is there (CI), else for a few seconds."""
    done = fuzz.fuzz(10_000, 1.0 if os.environ.get("CI") else 0.1, secrets.randbelow(1 << 30))
    assert sum(done.values()) >= 10


def test_a_wrong_device_is_found(monkeypatch):
    """The fuzzer sees a device that leaves one register of one lane wrong."""
    honest = fuzz.interpreted

    def wrong(ptx, name, grid, block, args):
        honest(ptx, name, grid, block, args)
        args[1].reshape(-1)[7] ^= np.array(1, args[1].dtype)

    monkeypatch.setattr(fuzz, "interpreted", wrong)
    with pytest.raises(AssertionError):
        fuzz.batch("chain", 3, 2)
