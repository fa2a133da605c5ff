"""Options for NVRTC that name an architecture of NVIDIA's: HIP RTC compiles for the device that is current.

HIP RTC 6.4.3 takes the option's name for `--offload-arch`, and its process ends over `compute_80` (docs/translate-executed.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.migrate.translate.edits import Edit, Outcome, Problem
from anywarp.migrate.translate.unit import Unit

COMPILES = b"nvrtcCompileProgram"
_LITERAL = re.compile(rb'(?<!\w)"[^"\n]*"')
_OPTION = re.compile(rb'"(?:--gpu-architecture|-arch)(?:=(?!gfx)((?:compute|sm|lto)_\d+[af]?(?="))?|(?="))')


class RuntimeArchitecture:
    """Takes such an option out of sources that call the compiler; where its number is made elsewhere, a person is told."""

    name = "runtime-architecture"
    words = frozenset((COMPILES,))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda or not any(unit.occurrences(self.words)):
            return
        for place in _LITERAL.finditer(unit.code):
            text = unit.data[place.start() : place.end()]
            option = _OPTION.match(text)
            if option is None:
                continue
            if option[1]:
                reason = "HIP RTC compiles for the current device; -O3 is what NVRTC does anyway"
                yield Edit(place.start(), place.end(), b'"-O3"', self.name, reason)
            else:
                message = f"an option for NVRTC names an architecture of NVIDIA's: {text.decode('utf-8', 'replace')}"
                help = "leave it out: HIP RTC compiles for the current device, or for that of `--offload-arch=gfx942`"
                yield Problem(place.start(), place.end(), "M124", message, help)


RULES = (RuntimeArchitecture(),)
