"""The two runs that are held against each other, and a third that shows the noise of the first one's device."""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.check.bundle.recording import Recording


@dataclass
class Sides:
    """The recording, the values of this device, and, if there is one, another run of the recording's device."""

    reference: Recording
    observed: Recording
    null: Recording | None = None
    replayed: bool = True
    """Whether the observed side was given the recorded inputs; else it is a recording of its own."""
    other_weights: bool = False
    """Whether the two may have other parameters."""
