"""The recorded arrays of functions that are run again."""

from __future__ import annotations

from pathlib import Path

from anywarp.check.bundle import Bundle, Entry, open_bundle
from anywarp.check.record.kept import Array, array
from anywarp.check.record.plan import Plan


class Given:
    """What a recording's functions were given, opened when the first is called."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._bundle: Bundle | None = None

    @property
    def bundle(self) -> Bundle:
        """The part of the recording that this process is held against; AnywarpError as `open_bundle`."""
        if self._bundle is None:
            whole = open_bundle(Path(self._plan.reference))
            self._bundle = whole.part(self._plan.part) if self._plan.part in whole.parts else whole
        return self._bundle

    def entry(self, name: str, call: int, slot: str) -> Entry | None:
        """Return what is known of an input, None where it was not recorded."""
        return self.bundle.found.get((name, call, 0, "input", slot))

    def values(self, entry: Entry) -> Array:
        """Return an input's values; 16- and 8-bit floats as float32, which holds them. AnywarpError: V002, V003."""
        return array(self.bundle, entry)
