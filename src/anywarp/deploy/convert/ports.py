"""Where NVIDIA's exporter listens and where AMD's does: the table `ports`."""

from __future__ import annotations

import re

from anywarp.catalogue.migration import by

_ROW = by("ports", "name")["dcgm-exporter"]
NVIDIAS, AMDS, REASON, SOURCE = (_ROW[column] for column in ("port", "target", "reason", "source"))
IN_TEXT = re.compile(rf"(?<!\d){NVIDIAS}(?!\d)")
IN_BYTES = re.compile(IN_TEXT.pattern.encode())
