"""How much of the target's time replays may take: seconds per minute, of which unused ones are kept for one minute."""

from __future__ import annotations

import time
from collections.abc import Callable


class Budget:
    """Seconds that may be spent. A request's whole time counts, although a server works on several at once: never less than it takes."""

    def __init__(self, seconds_per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with one minute's seconds."""
        self._rate, self._most, self._clock = seconds_per_minute / 60, seconds_per_minute, clock
        self._left, self._at = seconds_per_minute, clock()

    def reserve(self, seconds: float) -> bool:
        """Set seconds aside for a replay that will take about so many; False where they are not there."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < min(seconds, self._most):
            return False
        self._left -= seconds
        return True

    def settle(self, reserved: float, spent: float) -> None:
        """Put in place of what was set aside what was spent."""
        self._left += reserved - spent
