"""Random kernels are the same on the processor, in the interpreter and in numpy; another seed each time, printed."""

import secrets

import numpy as np
import pytest

from semantics import chains, fuzz


@pytest.mark.timeout(600)
@pytest.mark.parametrize("minutes", [0.05, pytest.param(5.0, marks=pytest.mark.long)])
def test_random_kernels_agree(minutes):
    done = fuzz.fuzz(100_000, minutes, secrets.randbelow(1 << 30))
    assert sum(done.values()) >= 10


def test_a_wrong_device_is_found(monkeypatch):
    """The fuzzer sees a device that leaves one register of one lane wrong."""
    honest = fuzz.interpreted

    def wrong(ptx, name, grid, block, args):
        honest(ptx, name, grid, block, args)
        args[1].reshape(-1)[7] ^= np.array(1, args[1].dtype)

    monkeypatch.setattr(fuzz, "interpreted", wrong)
    with pytest.raises(AssertionError):
        fuzz.batch("chain", 3, 2, shrink=False)


def test_rows_that_show_the_sign_or_payload_of_a_nan_take_no_part():
    """Both are free, so devices may differ in what such a row makes of them."""
    taking_part = {row.text for row in chains.exact_rows()}
    shown = {text for text in taking_part if "copysign" in text or ("xorsign" in text and ".NaN" not in text)}
    assert shown == set()
    assert not {text for text in taking_part if text.startswith("mov.b32 {r0}, {s0}; mov.u32")}
    assert {"add.rm.f32 {r0}, {s0}, {s1};", "mov.b32 {r0}, {s0};"} & taking_part and len(taking_part) > 3000
