"""Finding compile services that tests have started."""

import contextlib
import os
from pathlib import Path


def services(place) -> list[int]:
    """Return the processes of the compile service whose command line names a place."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_bytes()
            if b"anywarp.runtime.service" in command and os.fsencode(place) in command:
                found.append(int(entry.name))
    return found
